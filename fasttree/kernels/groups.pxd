# SPDX-License-Identifier: BSD-3-Clause
"""The values at a node in several groups, a branch each, by greedy merging."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.categories cimport CategoryStats
from fasttree.kernels.criteria cimport GAIN_RATIO, INFINITY, Criterion, klogk, limit_weight_of, loss_unit, score_of
from fasttree.kernels.search cimport BestSplit, NodeView, Split, branch_loss, is_large_enough
from fasttree.kernels.sorting cimport sort_by_key
from fasttree.kernels.subsets cimport principal_keys

cdef enum:
    GROUP_LIMIT = 128           # with more blocks than this, neighbours along the principal direction are joined first


cdef extern from *:
    """
    #define FT_LEAST_IMPROVEMENT 1e-5
    """
    const double LEAST_IMPROVEMENT "FT_LEAST_IMPROVEMENT"   # of the score, for which two blocks are merged


cdef struct Blocks:
    # Groups of buckets.
    int64_t n
    int64_t* weight
    int64_t* counts             # n x C
    double* loss
    double* pair_loss           # [n0, n0]: cost of two blocks as one
    int64_t* pair_klogk         # ... and the k log k of their weight
    int64_t n0
    uint8_t* large              # is it large enough for a branch that counts?
    int64_t n_large


cdef inline bint scan_groups(
    int kind, bint by_ratio, const Criterion* r, CategoryStats* s, const NodeView* node, BestSplit* best,
    int64_t* group_of
) noexcept nogil:
    """A branch for each of some groups of values, found by merging: first the values pure in one class, then always the
    pair that is best for the score, as long as that improves and half of the gain remains. Two blocks of the least size
    of a branch must be left: the only two are not merged, and while there are fewer, blocks below that size are merged
    whether that improves the score or not. False: no memory.

    `group_of` gets the group of each bucket; groups are numbered by their first value.
    """
    cdef int C = r.n_classes
    cdef int64_t v, w
    cdef Blocks g
    cdef int64_t* owner = <int64_t*>malloc((s.n + 1) * sizeof(int64_t))     # the block that took in a block
    cdef bint ok
    best.score = -INFINITY
    best.split = Split(s.n - (s.n > 0 and s.code[0] == 0), 0, -1)
    g.weight = <int64_t*>malloc((s.n + 1) * sizeof(int64_t))
    g.counts = <int64_t*>malloc((s.n + 1) * C * sizeof(int64_t))
    g.loss = <double*>malloc((s.n + 1) * sizeof(double))
    g.large = <uint8_t*>malloc(s.n + 1)
    g.n_large = 0
    g.pair_loss = NULL
    g.pair_klogk = NULL
    ok = owner != NULL and g.weight != NULL and g.counts != NULL and g.loss != NULL and g.large != NULL
    if ok and not merge_pure(s, C, &g, group_of):
        ok = False
    if ok:
        if g.n > GROUP_LIMIT:
            best.heuristic = True
            ok = merge_neighbours(r, s, node, &g, group_of)
    if ok:
        g.n0 = g.n
        g.pair_loss = <double*>malloc(g.n * g.n * sizeof(double))
        g.pair_klogk = <int64_t*>malloc(g.n * g.n * sizeof(int64_t))
        ok = g.pair_loss != NULL and g.pair_klogk != NULL
    if ok:
        for v in range(g.n):
            owner[v] = v
        merge_pairs(kind, by_ratio, r, node, &g, owner, best)
        # Number the blocks that are left by their first bucket, and lead every bucket to its own.
        g.n = 0
        for v in range(g.n0):
            if owner[v] == v:
                owner[v] = -1 - g.n
                g.n += 1
        for v in range(s.n):
            w = group_of[v]
            while owner[w] >= 0:
                w = owner[w]
            group_of[v] = -1 - owner[w]
        best.split.n_branches = <int32_t>g.n
        if g.n_large < 2:
            best.score = -INFINITY
    free(owner)
    free(g.weight)
    free(g.counts)
    free(g.loss)
    free(g.large)
    free(g.pair_loss)
    free(g.pair_klogk)
    return ok


cdef inline bint merge_pure(const CategoryStats* s, int C, Blocks* g, int64_t* group_of) noexcept nogil:
    """A block for each bucket, but one for all those that hold nothing but one and the same class. False: no memory."""
    cdef int64_t v, block
    cdef int c, pure
    cdef int64_t* block_of = <int64_t*>malloc(C * sizeof(int64_t))      # what is pure in a class; -1: nothing yet
    if block_of == NULL:
        return False
    for c in range(C):
        block_of[c] = -1
    g.n = 0
    for v in range(s.n):
        pure = -1
        for c in range(C):
            if s.counts[v * C + c] == s.weight[v]:
                pure = c
        block = g.n
        if pure >= 0:
            if block_of[pure] < 0:
                block_of[pure] = block
            block = block_of[pure]
        if block == g.n:
            g.n += 1
            g.weight[block] = 0
            memset(g.counts + block * C, 0, C * sizeof(int64_t))
        group_of[v] = block
        add_to_block(g, block, s.counts + v * C, s.weight[v], C)
    free(block_of)
    return True


cdef inline void add_to_block(Blocks* g, int64_t block, const int64_t* counts, int64_t weight, int C) noexcept nogil:
    cdef int c
    g.weight[block] += weight
    for c in range(C):
        g.counts[block * C + c] += counts[c]


cdef inline bint merge_neighbours(
    const Criterion* r, CategoryStats* s, const NodeView* node, Blocks* g, int64_t* group_of
) noexcept nogil:
    """Too many blocks for a search over pairs: those that lie side by side along the principal direction of the class
    shares become GROUP_LIMIT blocks of about equal weight. Groups keep the order of their first values."""
    cdef int C = r.n_classes
    cdef int64_t v, i, group, before = 0, n = 0
    cdef int64_t* first = <int64_t*>malloc(g.n * sizeof(int64_t))
    if first == NULL or not principal_keys(s, r, node):
        free(first)
        return False
    for v in range(s.n):
        s.order[v] = v
    sort_by_key(s.key, s.order, s.n)
    for i in range(s.n):
        v = s.order[i]
        group_of[v] = before * GROUP_LIMIT // node.total
        before += s.weight[v]
    for i in range(GROUP_LIMIT):
        first[i] = -1
    for v in range(s.n):
        group = group_of[v]
        if first[group] < 0:
            first[group] = n
            g.weight[n] = 0
            memset(g.counts + n * C, 0, C * sizeof(int64_t))
            n += 1
        group_of[v] = first[group]
        add_to_block(g, group_of[v], s.counts + v * C, s.weight[v], C)
    g.n = n
    free(first)
    return True


cdef inline int64_t split_term(bint by_split, const Criterion* r, int64_t weight) noexcept nogil:
    """What a block contributes to split information, if anybody asks for that: the steps of a code are too fine for
    k log k."""
    return klogk(r, weight) if by_split else 0


cdef inline void weigh_pair(
    int kind, bint by_split, const Criterion* r, const NodeView* node, Blocks* g, int64_t i, int64_t j
) noexcept nogil:
    cdef int C = r.n_classes
    cdef int c
    cdef int64_t weight = g.weight[i] + g.weight[j]
    # The first block's counts serve as the sum for a moment.
    for c in range(C):
        g.counts[i * C + c] += g.counts[j * C + c]
    g.pair_loss[i * g.n0 + j] = branch_loss(kind, r, node, g.counts + i * C, weight)
    g.pair_klogk[i * g.n0 + j] = split_term(by_split, r, weight)
    for c in range(C):
        g.counts[i * C + c] -= g.counts[j * C + c]


cdef inline double group_score(
    int kind, bint by_ratio, const Criterion* r, const NodeView* node, double loss, double split
) noexcept nogil:
    """The gain or the ratio, in the same units for all the candidates of a node."""
    cdef double saved = node.loss - loss
    if by_ratio:
        return score_of(GAIN_RATIO, r, node.loss, loss, split, node.total)
    return saved / gain_unit(kind, r, node.total)


cdef inline double gain_unit(int kind, const Criterion* r, int64_t n) noexcept nogil:
    return loss_unit(kind, r) * <double>n


cdef inline void weigh_block(const Criterion* r, const NodeView* node, Blocks* g, int64_t i) noexcept nogil:
    g.large[i] = is_large_enough(r, node, g.weight[i], limit_weight_of(r, g.counts + i * r.n_classes, g.weight[i]))
    g.n_large += g.large[i]


cdef inline bint takes_all_large(const Blocks* g, int64_t i, int64_t j) noexcept nogil:
    """Would a merger leave no block of the least size beside?"""
    cdef int64_t taken = g.large[i] + g.large[j]
    return taken > 0 and taken == g.n_large


cdef inline void merge_pairs(
    int kind, bint by_ratio, const Criterion* r, const NodeView* node, Blocks* g, int64_t* owner, BestSplit* best
) noexcept nogil:
    cdef int C = r.n_classes
    cdef int64_t i, j, left, right, n = g.n0
    cdef bint by_split = by_ratio or kind == GAIN_RATIO or r.records_split
    cdef double loss = 0.0, split = node.split_base, new_loss, new_split, current, found, score, least
    for i in range(n):
        g.loss[i] = branch_loss(kind, r, node, g.counts + i * C, g.weight[i])
        loss += g.loss[i]
        split -= <double>split_term(by_split, r, g.weight[i])
        weigh_block(r, node, g, i)
    for i in range(n):
        for j in range(i + 1, n):
            weigh_pair(kind, by_split, r, node, g, i, j)
    current = group_score(kind, by_ratio, r, node, loss, split)
    least = (node.loss - loss) / 2.0
    while g.n > 2:
        found = -INFINITY
        left = right = -1
        for i in range(n):
            if owner[i] != i:
                continue
            for j in range(i + 1, n):
                if owner[j] != j or takes_all_large(g, i, j):
                    continue
                new_loss = loss - g.loss[i] - g.loss[j] + g.pair_loss[i * n + j]
                new_split = split + <double>(
                    split_term(by_split, r, g.weight[i]) + split_term(by_split, r, g.weight[j])
                    - g.pair_klogk[i * n + j])
                score = group_score(kind, by_ratio, r, node, new_loss, new_split)
                if score > found + 1e-10:
                    found = score
                    left = i
                    right = j
        if left < 0 or g.n_large >= 2 and found <= current + LEAST_IMPROVEMENT:
            break
        new_loss = loss - g.loss[left] - g.loss[right] + g.pair_loss[left * n + right]
        if by_ratio and g.n_large >= 2 and node.loss - new_loss < least:
            break
        current = found
        loss += g.pair_loss[left * n + right] - g.loss[left] - g.loss[right]
        split += <double>(
            split_term(by_split, r, g.weight[left]) + split_term(by_split, r, g.weight[right])
            - g.pair_klogk[left * n + right])
        owner[right] = left
        g.n -= 1
        g.n_large -= g.large[left] + g.large[right]
        add_to_block(g, left, g.counts + right * C, g.weight[right], C)
        weigh_block(r, node, g, left)
        g.loss[left] = branch_loss(kind, r, node, g.counts + left * C, g.weight[left])
        for i in range(n):
            if owner[i] == i and i != left:
                weigh_pair(kind, by_split, r, node, g, i if i < left else left, left if i < left else i)
    best.information = split
    if g.n >= 2:
        best.score = score_of(kind, r, node.loss, loss, split, node.total)
