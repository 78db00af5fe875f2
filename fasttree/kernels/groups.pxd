# SPDX-License-Identifier: BSD-3-Clause
"""The values at a node in several groups, a branch each, by greedy merging."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memset

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.categories cimport PLACE_SHIFT, Buckets
from fasttree.kernels.criteria cimport GAIN_RATIO, INFINITY, Ruler, cost_unit, klogk, score_of, size_of
from fasttree.kernels.search cimport Best, Node, branch_cost, is_heavy
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
    double* cost
    double* pair_cost           # [n0, n0]: cost of two blocks as one
    int64_t* pair_klogk         # ... and the k log k of their weight
    int64_t n0
    uint8_t* heavy              # is it large enough for a branch that counts?
    int64_t n_heavy


cdef inline bint scan_groups(
    int criterion, bint by_ratio, const Ruler* r, Buckets* b, const Node* node, Best* best, int64_t* group_of
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
    cdef int64_t* owner = <int64_t*>malloc((b.n + 1) * sizeof(int64_t))     # the block that took in a block
    cdef bint fine
    best.score = -INFINITY
    best.cut = b.n - (b.n > 0 and b.code[0] == 0)
    g.weight = <int64_t*>malloc((b.n + 1) * sizeof(int64_t))
    g.counts = <int64_t*>malloc((b.n + 1) * C * sizeof(int64_t))
    g.cost = <double*>malloc((b.n + 1) * sizeof(double))
    g.heavy = <uint8_t*>malloc(b.n + 1)
    g.n_heavy = 0
    g.pair_cost = NULL
    g.pair_klogk = NULL
    fine = owner != NULL and g.weight != NULL and g.counts != NULL and g.cost != NULL and g.heavy != NULL
    if fine and not merge_pure(b, C, &g, group_of):
        fine = False
    if fine:
        if g.n > GROUP_LIMIT:
            best.heuristic = True
            fine = merge_neighbours(r, b, node, &g, group_of)
    if fine:
        g.n0 = g.n
        g.pair_cost = <double*>malloc(g.n * g.n * sizeof(double))
        g.pair_klogk = <int64_t*>malloc(g.n * g.n * sizeof(int64_t))
        fine = g.pair_cost != NULL and g.pair_klogk != NULL
    if fine:
        for v in range(g.n):
            owner[v] = v
        merge_pairs(criterion, by_ratio, r, node, &g, owner, best)
        # Number the blocks that are left by their first bucket, and lead every bucket to its own.
        g.n = 0
        for v in range(g.n0):
            if owner[v] == v:
                owner[v] = -1 - g.n
                g.n += 1
        for v in range(b.n):
            w = group_of[v]
            while owner[w] >= 0:
                w = owner[w]
            group_of[v] = -1 - owner[w]
        best.cut |= g.n << PLACE_SHIFT
        if g.n_heavy < 2:
            best.score = -INFINITY
    free(owner)
    free(g.weight)
    free(g.counts)
    free(g.cost)
    free(g.heavy)
    free(g.pair_cost)
    free(g.pair_klogk)
    return fine


cdef inline bint merge_pure(const Buckets* b, int C, Blocks* g, int64_t* group_of) noexcept nogil:
    """A block for each bucket, but one for all those that hold nothing but one and the same class. False: no memory."""
    cdef int64_t v, block
    cdef int c, pure
    cdef int64_t* block_of = <int64_t*>malloc(C * sizeof(int64_t))      # what is pure in a class; -1: nothing yet
    if block_of == NULL:
        return False
    for c in range(C):
        block_of[c] = -1
    g.n = 0
    for v in range(b.n):
        pure = -1
        for c in range(C):
            if b.counts[v * C + c] == b.size[v]:
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
        add_to_block(g, block, b.counts + v * C, b.size[v], C)
    free(block_of)
    return True


cdef inline void add_to_block(Blocks* g, int64_t block, const int64_t* counts, int64_t weight, int C) noexcept nogil:
    cdef int c
    g.weight[block] += weight
    for c in range(C):
        g.counts[block * C + c] += counts[c]


cdef inline bint merge_neighbours(
    const Ruler* r, Buckets* b, const Node* node, Blocks* g, int64_t* group_of
) noexcept nogil:
    """Too many blocks for a search over pairs: those that lie side by side along the principal direction of the class
    shares become GROUP_LIMIT blocks of about equal weight. Groups keep the order of their first values."""
    cdef int C = r.n_classes
    cdef int64_t v, i, place, before = 0, n = 0
    cdef int64_t* first = <int64_t*>malloc(g.n * sizeof(int64_t))
    if first == NULL or not principal_keys(b, r, node):
        free(first)
        return False
    for v in range(b.n):
        b.order[v] = v
    sort_by_key(b.key, b.order, b.n)
    for i in range(b.n):
        v = b.order[i]
        group_of[v] = before * GROUP_LIMIT // node.total
        before += b.size[v]
    for i in range(GROUP_LIMIT):
        first[i] = -1
    for v in range(b.n):
        place = group_of[v]
        if first[place] < 0:
            first[place] = n
            g.weight[n] = 0
            memset(g.counts + n * C, 0, C * sizeof(int64_t))
            n += 1
        group_of[v] = first[place]
        add_to_block(g, group_of[v], b.counts + v * C, b.size[v], C)
    g.n = n
    free(first)
    return True


cdef inline int64_t split_term(bint by_split, const Ruler* r, int64_t weight) noexcept nogil:
    """What a block contributes to split information, if anybody asks for that: the steps of a code are too fine for
    k log k."""
    return klogk(r, weight) if by_split else 0


cdef inline void weigh_pair(
    int criterion, bint by_split, const Ruler* r, const Node* node, Blocks* g, int64_t i, int64_t j
) noexcept nogil:
    cdef int C = r.n_classes
    cdef int c
    cdef int64_t weight = g.weight[i] + g.weight[j]
    # The first block's counts serve as the sum for a moment.
    for c in range(C):
        g.counts[i * C + c] += g.counts[j * C + c]
    g.pair_cost[i * g.n0 + j] = branch_cost(criterion, r, node, g.counts + i * C, weight)
    g.pair_klogk[i * g.n0 + j] = split_term(by_split, r, weight)
    for c in range(C):
        g.counts[i * C + c] -= g.counts[j * C + c]


cdef inline double group_score(
    int criterion, bint by_ratio, const Ruler* r, const Node* node, double cost, double split
) noexcept nogil:
    """The gain or the ratio, in the same units for all the candidates of a node."""
    cdef double saved = node.cost - cost
    if by_ratio:
        return score_of(GAIN_RATIO, r, node.cost, cost, split, node.total)
    return saved / gain_unit(criterion, r, node.total)


cdef inline double gain_unit(int criterion, const Ruler* r, int64_t n) noexcept nogil:
    return cost_unit(criterion, r) * <double>n


cdef inline void weigh_block(const Ruler* r, const Node* node, Blocks* g, int64_t i) noexcept nogil:
    g.heavy[i] = is_heavy(r, node, g.weight[i], size_of(r, g.counts + i * r.n_classes, g.weight[i]))
    g.n_heavy += g.heavy[i]


cdef inline bint takes_all_heavy(const Blocks* g, int64_t i, int64_t j) noexcept nogil:
    """Would a merger leave no block of the least size beside?"""
    cdef int64_t taken = g.heavy[i] + g.heavy[j]
    return taken > 0 and taken == g.n_heavy


cdef inline void merge_pairs(
    int criterion, bint by_ratio, const Ruler* r, const Node* node, Blocks* g, int64_t* owner, Best* best
) noexcept nogil:
    cdef int C = r.n_classes
    cdef int64_t i, j, left, right, n = g.n0
    cdef bint by_split = by_ratio or criterion == GAIN_RATIO or r.records_split
    cdef double cost = 0.0, split = node.split_base, new_cost, new_split, current, found, score, least
    for i in range(n):
        g.cost[i] = branch_cost(criterion, r, node, g.counts + i * C, g.weight[i])
        cost += g.cost[i]
        split -= <double>split_term(by_split, r, g.weight[i])
        weigh_block(r, node, g, i)
    for i in range(n):
        for j in range(i + 1, n):
            weigh_pair(criterion, by_split, r, node, g, i, j)
    current = group_score(criterion, by_ratio, r, node, cost, split)
    least = (node.cost - cost) / 2.0
    while g.n > 2:
        found = -INFINITY
        left = right = -1
        for i in range(n):
            if owner[i] != i:
                continue
            for j in range(i + 1, n):
                if owner[j] != j or takes_all_heavy(g, i, j):
                    continue
                new_cost = cost - g.cost[i] - g.cost[j] + g.pair_cost[i * n + j]
                new_split = split + <double>(
                    split_term(by_split, r, g.weight[i]) + split_term(by_split, r, g.weight[j])
                    - g.pair_klogk[i * n + j])
                score = group_score(criterion, by_ratio, r, node, new_cost, new_split)
                if score > found + 1e-10:
                    found = score
                    left = i
                    right = j
        if left < 0 or g.n_heavy >= 2 and found <= current + LEAST_IMPROVEMENT:
            break
        new_cost = cost - g.cost[left] - g.cost[right] + g.pair_cost[left * n + right]
        if by_ratio and g.n_heavy >= 2 and node.cost - new_cost < least:
            break
        current = found
        cost += g.pair_cost[left * n + right] - g.cost[left] - g.cost[right]
        split += <double>(
            split_term(by_split, r, g.weight[left]) + split_term(by_split, r, g.weight[right])
            - g.pair_klogk[left * n + right])
        owner[right] = left
        g.n -= 1
        g.n_heavy -= g.heavy[left] + g.heavy[right]
        add_to_block(g, left, g.counts + right * C, g.weight[right], C)
        weigh_block(r, node, g, left)
        g.cost[left] = branch_cost(criterion, r, node, g.counts + left * C, g.weight[left])
        for i in range(n):
            if owner[i] == i and i != left:
                weigh_pair(criterion, by_split, r, node, g, i if i < left else left, left if i < left else i)
    best.split = split
    if g.n >= 2:
        best.score = score_of(criterion, r, node.cost, cost, split, node.total)
