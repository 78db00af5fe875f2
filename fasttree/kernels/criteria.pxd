# SPDX-License-Identifier: BSD-3-Clause
"""What a split is worth. The only file that knows the criteria.

Everything here works on the *cost* of a side: its weight times its impurity, so that the gain of a split is
(cost of the node - cost of its sides) / weight of the node, and a better split is simply a cheaper one.

To add a criterion: give it a number, say what a class count contributes (`class_terms`, `term_increment`) and what a
side costs (`side_loss2`, `loss_of_terms`), and add its name to CRITERIA in growth/params.py. If its score is not "cost
saved", say so in `score_of` and `final_score`.
"""

from libc.stdint cimport int64_t

cdef extern from *:
    """
    #include <math.h>
    #include <stdint.h>
    #include <string.h>

    /* log2 from +, -, *, / alone: the C library's own differs in the last bit between CPUs, this one cannot. Quicker
       than ft_log2 of elementary.h, and a few units in the last place less exact: it makes fixed-point steps.
       m in [sqrt(1/2), sqrt(2)), log2 m = 2/ln 2 * atanh((m-1)/(m+1)); thirteen terms reach 2^-54. */
    static inline double ft_quick_log2(double x) {
        uint64_t bits; int64_t exponent; double m, t, s, p; int i;
        memcpy(&bits, &x, 8);
        exponent = (int64_t)(bits >> 52) - 1023;
        bits = (bits & 0xFFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL;
        memcpy(&m, &bits, 8);
        if (m > 1.4142135623730951) { m *= 0.5; exponent += 1; }
        t = (m - 1.0) / (m + 1.0);
        s = t * t;
        p = 0.0;
        for (i = 25; i >= 3; i -= 2) p = (p + 1.0 / i) * s;
        return (double)exponent + (t + t * p) * 2.8853900817779268;
    }

    /* log2 of the gamma function for x > 0, from the same operations: Stirling's series where it is exact enough. */
    static inline double ft_quick_log2_gamma(double x) {
        double below = 0.0, r, s, series; int i;
        if (x < 10.0) {
            double product = x;
            for (i = 1; i < 10; i++) product *= x + i;
            below = ft_quick_log2(product);
            x += 10.0;
        }
        r = 1.0 / x;
        s = r * r;
        series = r * (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s * (1.0 / 1188 - s * (
            691.0 / 360360))))));
        return (x - 0.5) * ft_quick_log2(x) + (series - x) * 1.4426950408889634 + 1.3257480647361595 - below;
    }
    """
    double ft_quick_log2(double x) noexcept nogil
    double ft_quick_log2_gamma(double x) noexcept nogil

cdef extern from "math.h" nogil:
    const double INFINITY
    long long llrint(double x)


cdef enum:
    ENTROPY = 0                 # information gain, in bits
    GAIN_RATIO = 1              # information gain / split information
    GINI = 2
    MISCLASSIFICATION = 3
    CODE_LENGTH = 4             # bits that an adaptive code takes to tell the classes
    SQUARED_ERROR = 5           # of numbers: the statistic of rows is their weight, and the weighted sum of targets


cdef struct Criterion:
    # What a fit needs to measure a split.
    int kind
    int n_classes               # numbers in the statistic of some rows: a weight for each class, or two
    int64_t min_leaf            # least size of (at least two of) the branches: weight before the class factors
    int64_t min_weight          # the same for the weight with them
    const double* plain         # 1 / what a class multiplies its weights by; NULL: all classes count alike
    bint records_split          # are split information and the number of thresholds wanted? (C4.5)
    bint by_ratio               # are groups of values formed by gain ratio?
    double side_share           # C4.5's least size of the sides of a threshold: this share of the rows a class, ...
    double side_most            # ... but not more than this
    double tie                  # a later candidate must score better by more than this
    bint exact_squares          # sums of squares of all weights fit 63 bits
    double steps_per_bit        # fixed-point steps per bit; of squared errors, the variance of the root
    const int64_t* klogk        # round(fine * k * log2(k)) for k < n_klogk
    int64_t n_klogk
    bint by_inverse             # are squares multiplied by 1 / weight, instead of divided by the weight?
    const double* inverse       # 1 / k for k < n_inverse
    const double* inverse_down  # the same backward: 1 / (n_inverse - 1 - k)
    int64_t n_inverse
    # The code of a side of weight n with the class weights n_c takes T(n) - sum of t(n_c), with
    # t(k) = log2 gamma(k + prior) / gamma(prior); T is the same with the prior of all the classes together.
    double steps_per_unit       # steps of weight that make 1
    double class_prior
    double class_base           # log2 gamma of it
    double total_prior
    double total_base
    const int64_t* class_code   # t(k) in steps for k < n_code; it may be negative
    const int64_t* total_code   # T(k)
    int64_t n_code


cdef inline int64_t klogk_steps(double steps_per_bit, int64_t k) noexcept nogil:
    # Fixed point: sums of integers come out the same in any order.
    return <int64_t>llrint(steps_per_bit * (<double>k * ft_quick_log2(<double>k))) if k > 1 else 0


cdef inline int64_t klogk(const Criterion* r, int64_t k) noexcept nogil:
    return r.klogk[k] if k < r.n_klogk else klogk_steps(r.steps_per_bit, k)


cdef inline int64_t code_steps(double steps_per_bit, double weight, double prior, double base) noexcept nogil:
    return <int64_t>llrint(steps_per_bit * (ft_quick_log2_gamma(weight + prior) - base))


cdef inline int64_t class_steps(int kind, const Criterion* r, int64_t k) noexcept nogil:
    """What a class of weight k contributes to the bits of a side."""
    if kind == CODE_LENGTH:
        if k < r.n_code:
            return r.class_code[k]
        return code_steps(r.steps_per_bit, <double>k / r.steps_per_unit, r.class_prior, r.class_base)
    return klogk(r, k)


cdef inline int64_t total_steps(int kind, const Criterion* r, int64_t k) noexcept nogil:
    """What the contributions of the classes of a side of weight k are taken from."""
    if kind == CODE_LENGTH:
        if k < r.n_code:
            return r.total_code[k]
        return code_steps(r.steps_per_bit, <double>k / r.steps_per_unit, r.total_prior, r.total_base)
    return klogk(r, k)


cdef inline double square_share(const Criterion* r, double squares, int64_t n) noexcept nogil:
    if n < r.n_inverse:
        return squares * r.inverse[n]
    return squares * (1.0 / <double>n) if r.by_inverse else squares / <double>n


cdef inline int64_t weight_of_stats(int kind, const Criterion* r, const int64_t* stats) noexcept nogil:
    """The weight of some rows, from their statistic."""
    cdef int64_t weight = 0
    cdef int c
    if kind == SQUARED_ERROR:
        return stats[0]
    for c in range(r.n_classes):
        weight += stats[c]
    return weight


cdef inline double squared_distance(double weight, double targets, double mean) noexcept nogil:
    """By how much the mean of some rows differs from another mean: squared, times their weight."""
    cdef double distance = targets / weight - mean
    return weight * (distance * distance)


# ---- one side of a split --------------------------------------------------------------------------------------------

cdef inline double side_loss2(int kind, const Criterion* r, int64_t a, int64_t b) noexcept nogil:
    """Cost of a side with weights `a` and `b` of the two classes."""
    cdef int64_t n = a + b
    if n == 0:
        return 0.0
    if kind == GINI:
        return 2.0 * square_share(r, <double>a * <double>b, n)
    if kind == MISCLASSIFICATION:
        return <double>(a if a < b else b)
    return <double>(total_steps(kind, r, n) - class_steps(kind, r, a) - class_steps(kind, r, b))


cdef inline double loss_of_terms(int kind, const Criterion* r, double summed, int64_t n) noexcept nogil:
    """Cost of a side of weight `n` whose terms sum to `summed`."""
    if n == 0:
        return 0.0
    if kind == GINI:
        return <double>n - square_share(r, summed, n)
    if kind == MISCLASSIFICATION:
        return <double>n - summed
    return <double>total_steps(kind, r, n) - summed


cdef inline int64_t whole_terms(int kind, const Criterion* r, const int64_t* counts) noexcept nogil:
    """`class_terms` as an integer, without rounding, where that can be kept up to date row by row."""
    cdef int c
    cdef int64_t terms = 0
    for c in range(r.n_classes):
        terms += counts[c] * counts[c] if kind == GINI else class_steps(kind, r, counts[c])
    return terms


cdef inline double class_terms(int kind, const Criterion* r, const int64_t* counts) noexcept nogil:
    """The terms of all classes: squares, k log k, the largest count, or what their code saves."""
    cdef int c
    cdef int64_t most = 0
    cdef double squares = 0.0
    if kind == GINI:                # which may be too large for integers
        for c in range(r.n_classes):
            squares += <double>counts[c] * <double>counts[c]
        return squares
    if kind == MISCLASSIFICATION:
        for c in range(r.n_classes):
            if counts[c] > most:
                most = counts[c]
        return <double>most
    return <double>whole_terms(kind, r, counts)


cdef inline int64_t term_increment(int kind, const Criterion* r, int64_t k, int64_t w) noexcept nogil:
    """By how much the term of a class rises when its count goes from `k` to `k + w` (not for a maximum)."""
    if kind == GINI:
        return w * (2 * k + w)
    return class_steps(kind, r, k + w) - class_steps(kind, r, k)


cdef inline bint is_incremental(int kind, const Criterion* r) noexcept nogil:
    """Can the terms be kept up to date in integers, row by row?"""
    if kind == GINI:
        return r.exact_squares
    return kind != MISCLASSIFICATION


cdef inline double side_loss(int kind, const Criterion* r, const int64_t* counts, int64_t n) noexcept nogil:
    if kind == SQUARED_ERROR:       # less the sum of squares, which is the same for all the sides of a node
        return -squared_distance(<double>n, <double>counts[1], 0.0) if n > 0 else 0.0
    if r.n_classes == 2:
        return side_loss2(kind, r, counts[0], counts[1])
    return loss_of_terms(kind, r, class_terms(kind, r, counts), n)


# ---- a whole split --------------------------------------------------------------------------------------------------

cdef inline double loss_unit(int kind, const Criterion* r) noexcept nogil:
    """Costs count in this unit for each step of weight: bits come in fixed-point steps."""
    if kind == CODE_LENGTH:
        return r.steps_per_bit / r.steps_per_unit
    return r.steps_per_bit if kind <= GAIN_RATIO or kind == SQUARED_ERROR else 1.0


cdef inline double rounding_tolerance(int kind, const Criterion* r) noexcept nogil:
    """By how much costs may be off: fixed-point numbers are rounded, a few of them a side."""
    return 2.0 * r.n_classes + 4.0 if kind <= GAIN_RATIO or kind == CODE_LENGTH else 0.0


cdef inline double no_gain(int kind, const Criterion* r, int64_t n) noexcept nogil:
    """Costs that are closer than this are equal: 1e-10 of gain."""
    return gain_as_loss(kind, r, 1e-10, n)


cdef inline double gain_as_loss(int kind, const Criterion* r, double gain, int64_t n) noexcept nogil:
    """A difference in gain as one in cost, at least that of rounding."""
    cdef double loss = gain * loss_unit(kind, r) * <double>n
    return loss if loss > rounding_tolerance(kind, r) else rounding_tolerance(kind, r)


cdef inline double score_of(
    int kind, const Criterion* r, double node_loss, double loss, double split_steps, int64_t n
) noexcept nogil:
    """What the search maximises, for sides that cost `loss` together."""
    if kind != GAIN_RATIO:
        return -loss
    cdef double saved = node_loss - loss
    if saved <= no_gain(kind, r, n) or split_steps < 1e-12 * r.steps_per_bit * <double>n:
        return 0.0
    return saved / split_steps


cdef inline double tie_tolerance_of(int kind, const Criterion* r, double node_loss, int64_t n) noexcept nogil:
    """By how much a later candidate must beat the best, at a node of weight `n`."""
    if kind == CODE_LENGTH:
        return r.tie * node_loss + rounding_tolerance(kind, r)
    return r.tie if kind == GAIN_RATIO else gain_as_loss(kind, r, r.tie, n)


cdef inline double final_score(int kind, const Criterion* r, double node_loss, double score, int64_t n) noexcept nogil:
    """The score that people know: gain per unit of weight (bits for the entropies), or the ratio; the negative length
    of the code."""
    if kind == GAIN_RATIO:
        return score
    if kind == CODE_LENGTH:
        return score / r.steps_per_bit
    cdef double saved = node_loss + score
    return saved / (loss_unit(kind, r) * <double>n) if saved > rounding_tolerance(kind, r) else 0.0


cdef inline int64_t limit_weight_of(const Criterion* r, const int64_t* counts, int64_t weight) noexcept nogil:
    """What the limits on sizes count: weight before the class factors."""
    cdef int64_t limit_weight = 0
    cdef int c
    if r.plain == NULL:
        return weight
    for c in range(r.n_classes):
        limit_weight += plain_of(r, c, counts[c])
    return limit_weight


cdef inline int64_t plain_of(const Criterion* r, int c, int64_t weight) noexcept nogil:
    """The weight of rows of one class before its factor."""
    return <int64_t>(<double>weight * r.plain[c] + 0.5)
