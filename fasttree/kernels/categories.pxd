# SPDX-License-Identifier: BSD-3-Clause
"""The split search over categories: fill a bucket for each value present, put them in order, scan once.

Here are the buckets and the multiway split, which is one candidate. The best two sets of values are found in
subsets.pxd, several groups of them in groups.pxd.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.criteria cimport (
    GAIN_RATIO, INFINITY, MISCLASSIFICATION, Criterion, class_terms, is_incremental, klogk, limit_weight_of,
    loss_of_terms, plain_of, score_of, term_increment, weight_of_stats,
)
from fasttree.kernels.search cimport (
    BestSplit, NodeView, RowReader, Split, add_stats, branch_loss, class_of, is_large_enough, weight_of,
)

# ---- buckets --------------------------------------------------------------------------------------------

cdef struct CategoryStats:
    # The values present at a node, in code order, with their class counts.
    int64_t n
    uint32_t* code
    int64_t* weight
    int64_t* counts             # n x C
    double* key                 # work: sort keys; NULL if nobody will sort
    int64_t* order              # work; likewise


cdef inline CategoryStats* new_category_stats(int64_t capacity, int n_classes, bint sorts) noexcept nogil:
    cdef CategoryStats* s = <CategoryStats*>malloc(sizeof(CategoryStats))
    if s == NULL:
        return NULL
    s.n = 0
    s.code = <uint32_t*>malloc((capacity + 1) * sizeof(uint32_t))
    s.weight = <int64_t*>malloc((capacity + 1) * sizeof(int64_t))
    s.counts = <int64_t*>malloc((capacity + 1) * n_classes * sizeof(int64_t))
    s.key = <double*>malloc((capacity + 1) * sizeof(double)) if sorts else NULL
    s.order = <int64_t*>malloc((capacity + 1) * sizeof(int64_t)) if sorts else NULL
    if s.code == NULL or s.weight == NULL or s.counts == NULL or sorts and (s.key == NULL or s.order == NULL):
        free_category_stats(s)
        return NULL
    return s


cdef inline void free_category_stats(CategoryStats* s) noexcept nogil:
    if s != NULL:
        free(s.code)
        free(s.weight)
        free(s.counts)
        free(s.key)
        free(s.order)
        free(s)


cdef inline void stats_of_histogram(
    CategoryStats* s, const Criterion* r, const int64_t* histogram, int first_code, int n_codes
) noexcept nogil:
    cdef int code, n_classes = r.n_classes
    cdef int64_t weight
    s.n = 0
    for code in range(first_code, n_codes):
        weight = weight_of_stats(r.kind, r, histogram + code * n_classes)
        if weight == 0:
            continue
        s.code[s.n] = <uint32_t>code
        s.weight[s.n] = weight
        memcpy(s.counts + s.n * n_classes, histogram + code * n_classes, n_classes * sizeof(int64_t))
        s.n += 1


cdef inline int64_t count_runs(const uint64_t* entries, int64_t n_entries, int shift) noexcept nogil:
    cdef int64_t i, n = 1
    for i in range(1, n_entries):
        n += (entries[i] ^ entries[i - 1]) >> shift != 0
    return n


cdef inline void stats_of_runs(
    CategoryStats* s, const Criterion* r, const RowReader* rows, const uint64_t* entries, int64_t n_entries
) noexcept nogil:
    """A bucket for every run of equal rank."""
    cdef int n_classes = r.n_classes
    cdef int64_t i, last = -1
    cdef uint64_t entry, code
    s.n = 0
    for i in range(n_entries):
        entry = entries[i]
        code = entry >> rows.shift
        if <int64_t>code != last:
            last = <int64_t>code
            s.code[s.n] = <uint32_t>last
            s.weight[s.n] = 0
            memset(s.counts + s.n * n_classes, 0, n_classes * sizeof(int64_t))
            s.n += 1
        s.weight[s.n - 1] += weight_of(True, rows, entry)
        add_stats(r.kind, rows, entry, 1, s.counts + (s.n - 1) * n_classes)


# ---- multiway: a branch a value ------------------------------------------------------------------------

cdef inline void scan_multiway(
    int kind, const Criterion* r, const CategoryStats* s, const NodeView* node, bint joins, int64_t* scratch,
    BestSplit* best
) noexcept nogil:
    """One branch a value. Admissible if two branches are heavy enough.

    Rows with a missing value have a branch of their own, behind those of the values; or, if `joins`, that or
    the branch of the value with which they go best.
    """
    cdef int C = r.n_classes
    cdef int c
    cdef int64_t v, n_large = 0, split = 0
    cdef int64_t first = s.n
    cdef double loss = 0.0
    best.score = -INFINITY
    best.split = Split(s.n, <int32_t>s.n, -1)
    for v in range(s.n):
        loss += branch_loss(kind, r, node, s.counts + v * C, s.weight[v])
        n_large += is_large_enough(r, node, s.weight[v], limit_weight_of(r, s.counts + v * C, s.weight[v]))
        if kind == GAIN_RATIO or r.records_split:
            split -= klogk(r, s.weight[v])
    best.information = node.split_base + <double>split
    if node.n_missing == 0:
        if n_large >= 2 and s.n >= 2:
            best.score = score_of(kind, r, node.loss, loss, node.split_base + <double>split, node.total)
        return
    if joins and s.n >= 2:
        first = 0
    for v in range(first, s.n):
        for c in range(C):
            scratch[c] = s.counts[v * C + c] + node.missing[c]
        consider_missing_branch(
            kind, r, node, v,
            loss - branch_loss(kind, r, node, s.counts + v * C, s.weight[v])
            + branch_loss(kind, r, node, scratch, s.weight[v] + node.n_missing),
            split + klogk_if(kind, r, s.weight[v]) - klogk_if(kind, r, s.weight[v] + node.n_missing),
            n_large - is_large_enough(r, node, s.weight[v], limit_weight_of(r, s.counts + v * C, s.weight[v]))
            + is_large_enough(
                r, node, s.weight[v] + node.n_missing,
                limit_weight_of(r, scratch, s.weight[v] + node.n_missing)),
            s.n, best)
    consider_missing_branch(
        kind, r, node, s.n, loss + branch_loss(kind, r, node, node.missing, node.n_missing),
        split - klogk_if(kind, r, node.n_missing),
        n_large + is_large_enough(r, node, node.n_missing, limit_weight_of(r, node.missing, node.n_missing)), s.n, best)


cdef inline int64_t klogk_if(int kind, const Criterion* r, int64_t k) noexcept nogil:
    return klogk(r, k) if kind == GAIN_RATIO else 0


cdef inline void consider_missing_branch(
    int kind, const Criterion* r, const NodeView* node, int64_t branch, double loss, int64_t split, int64_t n_large,
    int64_t n_values, BestSplit* best,
) noexcept nogil:
    cdef double score
    if n_large < 2:
        return
    score = score_of(kind, r, node.loss, loss, node.split_base + <double>split, node.total)
    if score > best.score + node.tie_tolerance:
        best.score = score
        best.split = Split(n_values, <int32_t>(n_values + (branch == n_values)), <int32_t>branch)


cdef inline void multiway_of_runs(
    int kind, const Criterion* r, const RowReader* rows, const uint64_t* entries, int64_t n_entries,
    const NodeView* node,
    int64_t* scratch, BestSplit* best,
) noexcept nogil:
    """The multiway split of a sorted list, without a table of counts by category: O(rows) whatever the number of values
    and classes."""
    cdef int64_t i = 0, first, k, w, weight, limit_weight, n_large = 0, split = 0, values = 0, left_sum
    cdef double loss = 0.0, summed
    cdef uint32_t c
    cdef bint incremental = is_incremental(kind, r)
    cdef int64_t* counts = scratch
    memset(counts, 0, r.n_classes * sizeof(int64_t))
    while i < n_entries:
        first = i
        weight = 0
        limit_weight = 0
        left_sum = 0
        while i < n_entries and (entries[i] ^ entries[first]) >> rows.shift == 0:
            w = weight_of(True, rows, entries[i])
            c = class_of(True, rows, entries[i])
            if incremental:
                left_sum += term_increment(kind, r, counts[c], w)
            counts[c] += w
            if kind == MISCLASSIFICATION and counts[c] > left_sum:
                left_sum = counts[c]
            weight += w
            limit_weight += w if r.plain == NULL else plain_of(r, c, w)
            i += 1
        if incremental or kind == MISCLASSIFICATION:
            summed = <double>left_sum
        else:
            summed = class_terms(kind, r, counts)
        loss += loss_of_terms(kind, r, summed, weight)
        n_large += is_large_enough(r, node, weight, limit_weight)
        if kind == GAIN_RATIO or r.records_split:
            split -= klogk(r, weight)
        for k in range(first, i):
            counts[class_of(True, rows, entries[k])] = 0
        values += 1
    best.score = -INFINITY
    best.split = Split(values, <int32_t>values, -1)
    best.information = node.split_base + <double>split
    if values < 2 or n_large < 2:
        return
    best.score = score_of(kind, r, node.loss, loss, node.split_base + <double>split, node.total)
