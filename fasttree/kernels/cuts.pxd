# SPDX-License-Identifier: BSD-3-Clause
"""Many cuts at once: what stands left of successive cuts of one node, and their scores, by vectors if possible."""

from libc.stdint cimport int64_t

from fasttree.kernels.criteria cimport (
    GAIN_RATIO, GINI, INFINITY, Criterion, klogk, loss_of_terms, score_of, side_loss2, squared_distance,
)

cdef extern from *:
    """
    #include "kernels/isa.h"

    /* `score_cuts2` of the gini index where there is no table of reciprocals. A function of its own: beside this the
       loop that has the table would be slower. */
    FT_APART static void ft_gini_cuts(
        const double* left, double* score, int m, double n0, double total, double total1
    ) {
        int j; double a0, b0, a1, b1;
        for (j = 0; j < m; j++) {
            b0 = left[j];
            a0 = (n0 + j) - b0;
            b1 = total1 - b0;
            a1 = (total - total1) - a0;
            score[j] = -2.0 * (a0 * b0 * (1.0 / (a0 + b0)) + a1 * b1 * (1.0 / (a1 + b1)));
        }
    }

    /* The same of cuts with any weights on their two sides; `inverted`: sides of less weight have had theirs inverted
       first, in a table. */
    FT_APART static void ft_weighted_gini_cuts(
        const double* weight, const double* left, double* score, int m, double total, double total1, double inverted
    ) {
        int j; double n0, n1, a0, b0, a1, b1, side0, side1;
        for (j = 0; j < m; j++) {
            n0 = weight[j];
            n1 = total - n0;
            b0 = left[j];
            a0 = n0 - b0;
            b1 = total1 - b0;
            a1 = (total - total1) - a0;
            side0 = n0 < inverted ? a0 * b0 * (1.0 / n0) : a0 * b0 / n0;
            side1 = n1 < inverted ? a1 * b1 * (1.0 / n1) : a1 * b1 / n1;
            score[j] = -(2.0 * side0 + 2.0 * side1);
        }
    }
    """
    void ft_gini_cuts(
        const double* left, double* score, int m, double n0, double total, double total1) noexcept nogil
    void ft_weighted_gini_cuts(
        const double* weight, const double* left, double* score, int m, double total, double total1, double inverted
    ) noexcept nogil
    bint unlikely(bint condition) noexcept nogil      # Cython's own


cdef enum:
    BLOCK = 128


cdef struct CutBlock:
    # Up to BLOCK successive cuts of one node; what stands left of each of them.
    double weight[BLOCK]
    double limit_weight[BLOCK]  # weight before the class factors; only if there are any
    double left[BLOCK]          # two classes: weight of class 1; more: sum of the terms of the left side
    double right[BLOCK]         # more than two classes: sum of the terms of the right side
    double score[BLOCK]


cdef inline void score_cuts2(
    int kind, bint unit, const Criterion* r, CutBlock* cuts, int m, int64_t before,
    int64_t total, int64_t total1, double node_loss, double split_base,
) noexcept nogil:
    """Score `m` cuts between two classes.

    `unit`: every row weighs 1 and every row is a cut, so the weight left of cut j is before + j + 1: the tables of
    reciprocals are read forward, and the compiler can do several cuts at a time.
    """
    cdef int j
    cdef int64_t n, b
    cdef double a0, b0, a1, b1, loss, split
    cdef const double* inverse_left
    cdef const double* inverse_right
    cdef double n0 = <double>(before + 1)
    cdef double total_ = <double>total, total1_ = <double>total1
    if unit and kind == GINI:
        if unlikely(total >= r.n_inverse):
            ft_gini_cuts(cuts.left, cuts.score, m, n0, total_, total1_)
            return
        inverse_left = r.inverse + before + 1
        inverse_right = r.inverse_down + (r.n_inverse - 1 - total + before + 1)
        for j in range(m):
            b0 = cuts.left[j]
            a0 = (n0 + <double>j) - b0
            b1 = total1_ - b0
            a1 = (total_ - total1_) - a0
            cuts.score[j] = -2.0 * (a0 * b0 * inverse_left[j] + a1 * b1 * inverse_right[j])
        return
    for j in range(m):
        n = before + j + 1 if unit else <int64_t>cuts.weight[j]
        b = <int64_t>cuts.left[j]
        loss = side_loss2(kind, r, n - b, b) + side_loss2(kind, r, total - total1 - n + b, total1 - b)
        split = 0.0
        if kind == GAIN_RATIO:
            split = split_base - <double>(klogk(r, n) + klogk(r, total - n))
        cuts.score[j] = score_of(kind, r, node_loss, loss, split, total)


cdef inline void score_weighted_cuts2(
    int kind, const Criterion* r, CutBlock* cuts, int m, int64_t total, int64_t total1, double node_loss,
    double split_base,
) noexcept nogil:
    """Score `m` cuts between two classes, with weight on both sides."""
    if kind == GINI:
        ft_weighted_gini_cuts(
            cuts.weight, cuts.left, cuts.score, m, <double>total, <double>total1,
            INFINITY if r.by_inverse else <double>r.n_inverse)
    else:
        score_cuts2(kind, False, r, cuts, m, 0, total, total1, node_loss, split_base)


cdef inline void score_dense_cuts(
    CutBlock* cuts, int m, int64_t total, int64_t total_targets, double mean
) noexcept nogil:
    """Score `m` cuts by what they save of squared errors; `left` has the sums of targets."""
    cdef int j
    cdef double total_ = <double>total, targets = <double>total_targets
    for j in range(m):
        cuts.score[j] = squared_distance(cuts.weight[j], cuts.left[j], mean) + squared_distance(
            total_ - cuts.weight[j], targets - cuts.left[j], mean)


cdef inline void score_unit_gini_cuts(
    const Criterion* r, CutBlock* cuts, int m, int64_t before, int64_t total
) noexcept nogil:
    """`score_cuts` by gini where every row weighs 1 and is a cut, see `score_cuts2`, of a node in reach of the
    reciprocals."""
    cdef int j
    cdef double n0 = <double>(before + 1), n1 = <double>(total - before - 1)
    cdef const double* inverse_left = r.inverse + before + 1
    cdef const double* inverse_right = r.inverse_down + (r.n_inverse - 1 - total + before + 1)
    for j in range(m):
        cuts.score[j] = -(
            ((n0 + <double>j) - cuts.left[j] * inverse_left[j])
            + ((n1 - <double>j) - cuts.right[j] * inverse_right[j]))


cdef inline void score_cuts(
    int kind, const Criterion* r, CutBlock* cuts, int m, int64_t total, double node_loss, double split_base
) noexcept nogil:
    """Score `m` cuts between any number of classes."""
    cdef int j
    cdef int64_t n
    cdef double loss, split
    for j in range(m):
        n = <int64_t>cuts.weight[j]
        loss = loss_of_terms(kind, r, cuts.left[j], n) + loss_of_terms(kind, r, cuts.right[j], total - n)
        split = 0.0
        if kind == GAIN_RATIO:
            split = split_base - <double>(klogk(r, n) + klogk(r, total - n))
        cuts.score[j] = score_of(kind, r, node_loss, loss, split, total)
