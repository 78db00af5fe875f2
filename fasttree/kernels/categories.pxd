# SPDX-License-Identifier: BSD-3-Clause
"""The split search over categories: fill a bucket for each value present, put them in order, scan once.

Here are the buckets and the multiway split, which is one candidate. The best two sets of values are found in
subsets.pxd, several groups of them in groups.pxd.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.criteria cimport (
    GAIN_RATIO, INFINITY, MISCLASSIFICATION, Ruler, is_incremental, klogk, plain_of, score_of, side_cost, size_of,
    sum_terms, summed_cost, term_grows,
)
from fasttree.kernels.search cimport Best, Node, Rows, branch_cost, class_of, is_heavy, weight_of

# ---- buckets --------------------------------------------------------------------------------------------

cdef struct Buckets:
    # The values present at a node, in code order, with their class counts.
    int64_t n
    uint32_t* code
    int64_t* size
    int64_t* counts             # n x C
    double* key                 # work: sort keys; NULL if nobody will sort
    int64_t* order              # work; likewise


cdef inline Buckets* new_buckets(int64_t capacity, int n_classes, bint sorts) noexcept nogil:
    cdef Buckets* b = <Buckets*>malloc(sizeof(Buckets))
    if b == NULL:
        return NULL
    b.n = 0
    b.code = <uint32_t*>malloc((capacity + 1) * sizeof(uint32_t))
    b.size = <int64_t*>malloc((capacity + 1) * sizeof(int64_t))
    b.counts = <int64_t*>malloc((capacity + 1) * n_classes * sizeof(int64_t))
    b.key = <double*>malloc((capacity + 1) * sizeof(double)) if sorts else NULL
    b.order = <int64_t*>malloc((capacity + 1) * sizeof(int64_t)) if sorts else NULL
    if b.code == NULL or b.size == NULL or b.counts == NULL or sorts and (b.key == NULL or b.order == NULL):
        free_buckets(b)
        return NULL
    return b


cdef inline void free_buckets(Buckets* b) noexcept nogil:
    if b != NULL:
        free(b.code)
        free(b.size)
        free(b.counts)
        free(b.key)
        free(b.order)
        free(b)


cdef inline void buckets_of_histogram(
    Buckets* b, const int64_t* histogram, int first_code, int n_codes, int n_classes
) noexcept nogil:
    cdef int code, c
    cdef int64_t size
    b.n = 0
    for code in range(first_code, n_codes):
        size = 0
        for c in range(n_classes):
            size += histogram[code * n_classes + c]
        if size == 0:
            continue
        b.code[b.n] = <uint32_t>code
        b.size[b.n] = size
        memcpy(b.counts + b.n * n_classes, histogram + code * n_classes, n_classes * sizeof(int64_t))
        b.n += 1


cdef inline int64_t count_runs(const uint64_t* entries, int64_t n_entries, int shift) noexcept nogil:
    cdef int64_t i, n = 1
    for i in range(1, n_entries):
        n += (entries[i] ^ entries[i - 1]) >> shift != 0
    return n


cdef inline void buckets_of_runs(
    Buckets* b, const Rows* rows, const uint64_t* entries, int64_t n_entries, int n_classes
) noexcept nogil:
    """A bucket for every run of equal rank."""
    cdef int64_t i, w, last = -1
    cdef uint64_t entry, code
    b.n = 0
    for i in range(n_entries):
        entry = entries[i]
        code = entry >> rows.shift
        if <int64_t>code != last:
            last = <int64_t>code
            b.code[b.n] = <uint32_t>last
            b.size[b.n] = 0
            memset(b.counts + b.n * n_classes, 0, n_classes * sizeof(int64_t))
            b.n += 1
        w = weight_of(True, rows, entry)
        b.size[b.n - 1] += w
        b.counts[(b.n - 1) * n_classes + class_of(True, rows, entry)] += w


# ---- multiway: a branch a value ------------------------------------------------------------------------

cdef enum:
    PLACE_SHIFT = 32            # in the cut of a multiway split: 1 + the branch that missing rows take


cdef inline void scan_multiway(
    int criterion, const Ruler* r, const Buckets* b, const Node* node, bint joins, int64_t* work, Best* best
) noexcept nogil:
    """One branch a value. Admissible if two branches are heavy enough.

    Rows that do not know the attribute have a branch of their own, behind those of the values; or, if `joins`, that or
    the branch of the value with which they go best.
    """
    cdef int C = r.n_classes
    cdef int c
    cdef int64_t v, heavy = 0, split = 0
    cdef int64_t first = b.n
    cdef double cost = 0.0
    best.score = -INFINITY
    best.cut = b.n
    for v in range(b.n):
        cost += branch_cost(criterion, r, node, b.counts + v * C, b.size[v])
        heavy += is_heavy(r, node, b.size[v], size_of(r, b.counts + v * C, b.size[v]))
        if criterion == GAIN_RATIO or r.records_split:
            split -= klogk(r, b.size[v])
    best.split = node.split_base + <double>split
    if node.n_missing == 0:
        if heavy >= 2 and b.n >= 2:
            best.score = score_of(criterion, r, node.cost, cost, node.split_base + <double>split, node.total)
        return
    if joins and b.n >= 2:
        first = 0
    for v in range(first, b.n):
        for c in range(C):
            work[c] = b.counts[v * C + c] + node.missing[c]
        consider_place(
            criterion, r, node, v,
            cost - side_cost(criterion, r, b.counts + v * C, b.size[v])
            + side_cost(criterion, r, work, b.size[v] + node.n_missing),
            split + klogk_if(criterion, r, b.size[v]) - klogk_if(criterion, r, b.size[v] + node.n_missing),
            heavy - is_heavy(r, node, b.size[v], size_of(r, b.counts + v * C, b.size[v]))
            + is_heavy(r, node, b.size[v] + node.n_missing, size_of(r, work, b.size[v] + node.n_missing)), b.n, best)
    consider_place(
        criterion, r, node, b.n, cost + side_cost(criterion, r, node.missing, node.n_missing),
        split - klogk_if(criterion, r, node.n_missing),
        heavy + is_heavy(r, node, node.n_missing, size_of(r, node.missing, node.n_missing)), b.n, best)


cdef inline int64_t klogk_if(int criterion, const Ruler* r, int64_t k) noexcept nogil:
    return klogk(r, k) if criterion == GAIN_RATIO else 0


cdef inline void consider_place(
    int criterion, const Ruler* r, const Node* node, int64_t place, double cost, int64_t split, int64_t heavy,
    int64_t n_values, Best* best,
) noexcept nogil:
    cdef double score
    if heavy < 2:
        return
    score = score_of(criterion, r, node.cost, cost, node.split_base + <double>split, node.total)
    if score > best.score + node.margin:
        best.score = score
        best.cut = n_values | (place + 1) << PLACE_SHIFT


cdef inline void multiway_of_runs(
    int criterion, const Ruler* r, const Rows* rows, const uint64_t* entries, int64_t n_entries, const Node* node,
    int64_t* work, Best* best,
) noexcept nogil:
    """The same without a table: O(rows) whatever the number of values and classes."""
    cdef int64_t i = 0, first, k, w, weight, size, heavy = 0, split = 0, values = 0, left_sum
    cdef double cost = 0.0, summed
    cdef uint32_t c
    cdef bint incremental = is_incremental(criterion, r)
    cdef int64_t* counts = work
    memset(counts, 0, r.n_classes * sizeof(int64_t))
    while i < n_entries:
        first = i
        weight = 0
        size = 0
        left_sum = 0
        while i < n_entries and (entries[i] ^ entries[first]) >> rows.shift == 0:
            w = weight_of(True, rows, entries[i])
            c = class_of(True, rows, entries[i])
            if incremental:
                left_sum += term_grows(criterion, r, counts[c], w)
            counts[c] += w
            if criterion == MISCLASSIFICATION and counts[c] > left_sum:
                left_sum = counts[c]
            weight += w
            size += w if r.plain == NULL else plain_of(r, c, w)
            i += 1
        if incremental or criterion == MISCLASSIFICATION:
            summed = <double>left_sum
        else:
            summed = sum_terms(criterion, r, counts)
        cost += summed_cost(criterion, r, summed, weight)
        heavy += is_heavy(r, node, weight, size)
        if criterion == GAIN_RATIO or r.records_split:
            split -= klogk(r, weight)
        for k in range(first, i):
            counts[class_of(True, rows, entries[k])] = 0
        values += 1
    best.score = -INFINITY
    best.cut = values
    best.split = node.split_base + <double>split
    if values < 2 or heavy < 2:
        return
    best.score = score_of(criterion, r, node.cost, cost, node.split_base + <double>split, node.total)
