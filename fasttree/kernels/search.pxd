# SPDX-License-Identifier: BSD-3-Clause
"""What every split search needs: the rows of a node, what is asked of a split, and how cuts are scored in blocks.

Every search returns a `BestSplit`: the score that the criterion maximises and the split that reaches it; the first
candidate wins ties. The searches stand in thresholds.pxd, categories.pxd, subsets.pxd and groups.pxd.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from fasttree.kernels.criteria cimport (
    SQUARED_ERROR, Criterion, class_steps, class_terms, llrint, side_loss, squared_distance, total_steps,
)
from fasttree.kernels.cuts cimport CutBlock, score_cuts, score_cuts2, score_dense_cuts


cdef struct RowReader:
    # How to read an entry: rank above `shift`, the row in the low 32 bits, the class between them or in y.
    # Fractional rows: what stands there is the number of an instance, a row with a weight; several may share a row.
    int shift
    const uint32_t* y           # NULL: the class stands in the entries
    const int64_t* weight       # NULL: every row weighs 1
    const uint32_t* row_of      # NULL: an instance is a row
    const int64_t* target       # by row, if these are numbers; else NULL


cdef struct NodeStats:
    # What the rows of a node come to.
    const int64_t* counts
    int64_t total
    int64_t limit_weight        # weight before the class factors
    double loss


cdef struct NodeView:
    # What a scan must know of the node beside its rows.
    const int64_t* counts
    int64_t total
    int64_t limit_weight        # weight before the class factors
    double loss                 # of squared errors none: what sides save is told against the mean
    double mean                 # of the targets, if these are numbers
    double split_base           # split information is this less the k log k of the branches
    const int64_t* missing      # class counts of the rows with a missing value
    int64_t n_missing           # their weight
    int64_t min_branch          # least size of a branch
    double tie_tolerance        # by how much a later candidate must beat the best
    const double* values        # by code, if cuts must lie between values that are far enough apart; else NULL
    const int64_t* distributed  # class counts of rows of which every branch takes a share that its code tells; or NULL
    int64_t n_distributed       # their weight


cdef extern from *:
    const double LEAST_GAP "1e-5"                  # C4.5's, between values that a cut may divide


cdef packed struct Split:
    # How one attribute divides a node; which value of a table takes which branch stands in its table.
    int64_t code                # threshold: codes or ranks up to it take branch 0; table: number of values present
    int32_t n_branches
    int32_t missing_branch      # of rows with a missing value; -1: there is none, or the table says which


cdef struct BestSplit:
    double score                # -inf: no admissible split
    Split split
    double node_loss            # of the rows that were scored
    double information          # split information in fixed-point steps; only where it is asked for
    int64_t n_cuts              # the thresholds that were admissible; only where they are asked for
    int64_t n_values            # the node's values of the attribute, and ...
    double choice_bits          # ... the bits to tell this split from others of the attribute; only for code lengths
    bint heuristic              # may there be a better split than this, or, if this is none, any?


cdef inline uint32_t class_of(bint gather, const RowReader* rows, uint64_t entry) noexcept nogil:
    if gather and rows.y != NULL:
        return rows.y[<uint32_t>entry]
    return <uint32_t>((entry >> 32) & 0xFF)


cdef inline int64_t weight_of(bint gather, const RowReader* rows, uint64_t entry) noexcept nogil:
    return rows.weight[<uint32_t>entry] if gather and rows.weight != NULL else 1


cdef inline uint32_t row_at(bint gather, const RowReader* rows, uint64_t entry) noexcept nogil:
    return rows.row_of[<uint32_t>entry] if gather and rows.row_of != NULL else <uint32_t>entry


cdef inline void add_stats(
    int kind, const RowReader* rows, uint64_t entry, int64_t sign, int64_t* stats
) noexcept nogil:
    """stats += sign times those of one row."""
    cdef int64_t w = sign * weight_of(True, rows, entry)
    if kind == SQUARED_ERROR:
        stats[0] += w
        stats[1] += w * rows.target[row_at(True, rows, entry)]
    else:
        stats[class_of(True, rows, entry)] += w


cdef inline bint sides_large_enough(
    const Criterion* r, const NodeView* node, int64_t weight, int64_t limit_weight
) noexcept nogil:
    """Are both sides of a split large enough, if one of them has this weight and size?"""
    return (
        limit_weight >= node.min_branch and node.limit_weight - limit_weight >= node.min_branch
        and weight >= r.min_weight and node.total - weight >= r.min_weight
    )


cdef inline bint is_large_enough(
    const Criterion* r, const NodeView* node, int64_t weight, int64_t limit_weight
) noexcept nogil:
    """Is a branch of a split into many large enough to count?"""
    return limit_weight >= node.min_branch and weight >= r.min_weight


cdef inline bint any_better(const double* score, int m, double limit) noexcept nogil:
    cdef int j
    cdef int64_t better = 0
    for j in range(m):
        better |= <int64_t>(score[j] > limit)
    return better != 0


cdef inline int64_t choose(const double* score, int m, double tie_tolerance, double* best) noexcept nogil:
    """The place of the last improvement of `best` among `m` scores in order, or -1."""
    cdef int j
    cdef int64_t index = -1
    if any_better(score, m, best[0] + tie_tolerance):
        for j in range(m):
            if score[j] > best[0] + tie_tolerance:
                best[0] = score[j]
                index = j
    return index


cdef inline double branch_loss(
    int kind, const Criterion* r, const NodeView* node, const int64_t* counts, int64_t n
) noexcept nogil:
    """Cost of a branch, of its share of the rows too with a missing value."""
    cdef double share
    cdef int64_t steps
    cdef int c
    if kind == SQUARED_ERROR:
        return -squared_distance(<double>n, <double>counts[1], node.mean) if n > 0 else 0.0
    if node.distributed == NULL:
        return side_loss(kind, r, counts, n)
    if n == 0:
        return 0.0
    share = <double>n / <double>node.total
    steps = total_steps(kind, r, n + llrint(share * <double>node.n_distributed))
    for c in range(r.n_classes):
        steps -= class_steps(kind, r, counts[c] + llrint(share * <double>node.distributed[c]))
    return <double>steps


cdef inline void fill_cut(
    int kind, bint two, const Criterion* r, CutBlock* cuts, int m, const NodeView* node, const int64_t* left,
    const int64_t* right, int64_t weight,
) noexcept nogil:
    """What `score_block` must know of a cut with `weight` on the left."""
    if node.distributed != NULL:
        cuts.left[m] = branch_loss(kind, r, node, left, weight)
        cuts.right[m] = branch_loss(kind, r, node, right, node.total - weight)
    elif two:
        cuts.left[m] = <double>left[1]
    else:
        cuts.left[m] = class_terms(kind, r, left)
        cuts.right[m] = class_terms(kind, r, right)


cdef inline void score_block(
    int kind, bint two, const Criterion* r, CutBlock* cuts, int m, const NodeView* node
) noexcept nogil:
    cdef int j
    if node.distributed != NULL:
        for j in range(m):
            cuts.score[j] = -(cuts.left[j] + cuts.right[j])
    elif kind == SQUARED_ERROR:
        score_dense_cuts(cuts, m, node.total, node.counts[1], node.mean)
    elif two:
        score_cuts2(kind, False, r, cuts, m, 0, node.total, node.counts[1], node.loss, node.split_base)
    else:
        score_cuts(kind, r, cuts, m, node.total, node.loss, node.split_base)
