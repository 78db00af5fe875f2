# SPDX-License-Identifier: BSD-3-Clause
"""The best division of the values at a node into two sets: prefixes of an order of the values, or every subset."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.categories cimport CategoryStats
from fasttree.kernels.criteria cimport (
    CODE_LENGTH, GAIN_RATIO, INFINITY, SQUARED_ERROR, Criterion, klogk, limit_weight_of, score_of,
)
from fasttree.kernels.cuts cimport BLOCK, CutBlock
from fasttree.kernels.search cimport (
    BestSplit, NodeView, Split, branch_loss, choose, fill_cut, score_block, sides_large_enough,
)
from fasttree.kernels.sorting cimport sort_by_key

cdef enum:
    EXHAUSTIVE_LIMIT = 12       # present values up to which every subset is tried (more than two classes)
    POWER_STEPS = 50


cdef inline bint principal_keys(CategoryStats* s, const Criterion* r, const NodeView* node) noexcept nogil:
    """key := the values' class shares along the first principal direction of sum_v n_v (p_v - p)(p_v - p)'.

    Power iteration from e_1 - p, or from the first e_c - p that does not vanish (where all values have the same share
    of class c); the sign is that of the first nonzero component. Most values have rows of few classes only, so
    the shares are gathered without their zeros first. False: no memory.
    """
    cdef int C = r.n_classes
    cdef int c, start = 0, step = 0
    cdef int64_t v, i, n = 0
    cdef double total = <double>node.total, dot, mean, pull, norm, sign = 1.0
    for i in range(s.n * C):
        n += s.counts[i] != 0
    cdef double* x = <double*>malloc(3 * C * sizeof(double))
    cdef double* share = <double*>malloc(n * sizeof(double))
    cdef int* share_class = <int*>malloc(n * sizeof(int))
    cdef int64_t* first = <int64_t*>malloc((s.n + 1) * sizeof(int64_t))
    cdef bint ok = x != NULL and share != NULL and share_class != NULL and first != NULL
    if ok:
        i = 0
        for v in range(s.n):
            first[v] = i
            for c in range(C):
                if s.counts[v * C + c] != 0:
                    share[i] = <double>s.counts[v * C + c] / <double>s.weight[v]
                    share_class[i] = c
                    i += 1
        first[s.n] = i
        for c in range(C):
            x[C + c] = <double>node.counts[c] / total           # p
            x[c] = -x[C + c]
        x[0] += 1.0
        while step < POWER_STEPS:
            mean = 0.0
            for c in range(C):
                mean += x[C + c] * x[c]
                x[2 * C + c] = 0.0                              # the next x
            pull = 0.0
            for v in range(s.n):
                dot = 0.0
                for i in range(first[v], first[v + 1]):
                    dot += share[i] * x[share_class[i]]
                dot = (dot - mean) * <double>s.weight[v]
                pull += dot
                for i in range(first[v], first[v + 1]):
                    x[2 * C + share_class[i]] += dot * share[i]
            norm = 0.0
            for c in range(C):
                x[2 * C + c] -= pull * x[C + c]
                if x[2 * C + c] > norm:
                    norm = x[2 * C + c]
                elif -x[2 * C + c] > norm:
                    norm = -x[2 * C + c]
            if norm == 0.0:
                start += 1
                if start == C:
                    break
                for c in range(C):
                    x[c] = -x[C + c]
                x[start] += 1.0
                continue
            for c in range(C):
                x[c] = x[2 * C + c] / norm
            step += 1
        for c in range(C):
            if x[c] != 0.0:
                sign = 1.0 if x[c] > 0.0 else -1.0
                break
        for v in range(s.n):
            dot = 0.0
            for i in range(first[v], first[v + 1]):
                dot += share[i] * (sign * x[share_class[i]])
            s.key[v] = dot
    free(x)
    free(share)
    free(share_class)
    free(first)
    return ok


cdef inline bint scan_subset(
    int kind, const Criterion* r, CategoryStats* s, const NodeView* node, int64_t* scratch, BestSplit* best,
    uint8_t* goes_left
) noexcept nogil:
    """Best binary partition of the values present, "missing" (code 0) being one of them. False: no memory.

    Two classes: some prefix of the order by the share of the first is the best of all partitions. For each value let
    n be its weight and a that of the first class: the sides of a partition are sums of the vectors (n, a), and prefixes
    are the corners of what all such sums span. The gain is a convex function of such a sum (Breiman), and so its
    largest value is that of a corner. The gain ratio, too: where a convex function that is nowhere negative is divided
    by a concave one, the sums where the ratio is at most t form a convex set, for every t.

    Limits on sizes may forbid the best prefix. If it is better than the best one that is allowed, or none is, some
    other subset may be as good as that: then every one is tried, as long as there are at most 12 values.

    More classes: every subset that holds the first value, if there are at most 12; beyond that the prefixes of a
    principal direction, which may miss the best, unless two classes only have rows here. So may the order by shares if
    what counts is the length of a code: then every subset of at most 12 is tried too.

    `goes_left` (may be NULL) gets the side of each bucket; left is the side of the first bucket.
    """
    cdef int C = r.n_classes
    cdef int c, n_here = 0, first = 0
    cdef int64_t v
    cdef bint ordered           # is the best prefix the best of all subsets?
    cdef double refused
    best.score = -INFINITY
    best.split = Split(s.n - (s.n > 0 and s.code[0] == 0), 2, -1)
    if s.n < 2:
        return True
    if (C > 2 or kind == CODE_LENGTH) and s.n <= EXHAUSTIVE_LIMIT:
        scan_every_subset(kind, r, s, node, scratch, best, goes_left)
        return True
    for v in range(s.n):
        s.order[v] = v
    if kind == SQUARED_ERROR:       # by the means of their targets (Fisher)
        first = 1
    else:
        for c in range(C - 1, -1, -1):
            if node.counts[c] > 0:
                n_here += 1
                first = c
    ordered = n_here <= 2 and kind != CODE_LENGTH
    if n_here <= 2:
        for v in range(s.n):
            s.key[v] = <double>s.counts[v * C + first] / <double>s.weight[v]
    elif not principal_keys(s, r, node):
        return False
    sort_by_key(s.key, s.order, s.n)
    refused = scan_prefixes(kind, r, s, node, scratch, best, goes_left)
    if ordered and refused <= best.score + node.tie_tolerance:
        return True
    if s.n <= EXHAUSTIVE_LIMIT:
        scan_every_subset(kind, r, s, node, scratch, best, goes_left)
    else:
        best.heuristic = can_be_divided(r, s, node)
    return True


cdef inline bint can_be_divided(const Criterion* r, const CategoryStats* s, const NodeView* node) noexcept nogil:
    """May there be a partition that the limits on sizes allow? None, if what a single value leaves is too light."""
    cdef int64_t v
    if node.limit_weight < 2 * node.min_branch or node.total < 2 * r.min_weight:
        return False
    for v in range(s.n):
        if node.total - s.weight[v] < r.min_weight:
            return False
        if node.limit_weight - limit_weight_of(r, s.counts + v * r.n_classes, s.weight[v]) < node.min_branch:
            return False
    return True


cdef inline double scan_prefixes(
    int kind, const Criterion* r, CategoryStats* s, const NodeView* node, int64_t* scratch, BestSplit* best,
    uint8_t* goes_left
) noexcept nogil:
    """The best prefix of the order; returns the best score of those that the limits on sizes forbid."""
    cdef int C = r.n_classes
    cdef int c, m = 0
    cdef int64_t i, v, weight = 0, limit_weight = 0, index, taken = 0, done = 0
    cdef bint two = C == 2
    cdef double tie_tolerance = node.tie_tolerance, refused = -INFINITY
    cdef CutBlock cuts
    cdef int64_t* left = scratch
    cdef int64_t* right = scratch + C
    memset(left, 0, C * sizeof(int64_t))
    memcpy(right, node.counts, C * sizeof(int64_t))
    for i in range(s.n - 1):
        v = s.order[i]
        for c in range(C):
            left[c] += s.counts[v * C + c]
            right[c] -= s.counts[v * C + c]
        weight += s.weight[v]
        limit_weight += limit_weight_of(r, s.counts + v * C, s.weight[v])
        cuts.weight[m] = <double>weight
        cuts.limit_weight[m] = <double>limit_weight
        fill_cut(kind, two, r, &cuts, m, node, left, right, weight)
        m += 1
        if m == BLOCK or i == s.n - 2:
            score_block(kind, two, r, &cuts, m, node)
            for c in range(m):
                if not sides_large_enough(r, node, <int64_t>cuts.weight[c], <int64_t>cuts.limit_weight[c]):
                    refused = cuts.score[c] if cuts.score[c] > refused else refused
                    cuts.score[c] = -INFINITY
            index = choose(cuts.score, m, tie_tolerance, &best.score)
            if index >= 0:
                taken = done + index + 1
            done += m
            m = 0
    if goes_left != NULL:
        # Left is the side of the first value present (bucket 0), whichever end of the order it stands at.
        for i in range(s.n):
            goes_left[s.order[i]] = i < taken
        if not goes_left[0]:
            for v in range(s.n):
                goes_left[v] = not goes_left[v]
    return refused


cdef inline void scan_every_subset(
    int kind, const Criterion* r, CategoryStats* s, const NodeView* node, int64_t* scratch, BestSplit* best,
    uint8_t* goes_left
) noexcept nogil:
    """The first subset that is better than `best`, then than that one, and so on.

    Masks ascending, bit 0 always set: counting up flips two bits a step on average, each an O(C) move.
    """
    cdef int C = r.n_classes
    cdef int c
    cdef int64_t v, mask, winner = 0, weight = 0, flipped, sign, bit
    cdef double tie_tolerance = node.tie_tolerance
    cdef double loss, split, score
    cdef int64_t* left = scratch
    cdef int64_t* right = scratch + C
    memset(left, 0, C * sizeof(int64_t))
    memcpy(right, node.counts, C * sizeof(int64_t))
    mask = 0
    while True:
        flipped = mask ^ (mask + 1 if mask == 0 else mask + 2)
        mask ^= flipped
        if mask == (1 << s.n) - 1:
            break
        v = 0
        while flipped:
            bit = flipped & 1
            if bit:
                sign = 1 if mask & 1 << v else -1
                weight += sign * s.weight[v]
                for c in range(C):
                    left[c] += sign * s.counts[v * C + c]
                    right[c] -= sign * s.counts[v * C + c]
            flipped >>= 1
            v += 1
        if not sides_large_enough(r, node, weight, limit_weight_of(r, left, weight)):
            continue
        loss = branch_loss(kind, r, node, left, weight) + branch_loss(
            kind, r, node, right, node.total - weight)
        split = 0.0
        if kind == GAIN_RATIO:
            split = node.split_base - <double>(klogk(r, weight) + klogk(r, node.total - weight))
        score = score_of(kind, r, node.loss, loss, split, node.total)
        if score > best.score + tie_tolerance:
            best.score = score
            winner = mask
    if goes_left != NULL and winner != 0:
        for v in range(s.n):
            goes_left[v] = (winner >> v) & 1
