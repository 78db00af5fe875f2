# SPDX-License-Identifier: BSD-3-Clause
"""The best division of the values at a node into two sets: prefixes of an order of the values, or every subset."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.categories cimport Buckets
from fasttree.kernels.criteria cimport BLOCK, CODE_LENGTH, GAIN_RATIO, INFINITY, Cuts, Ruler, klogk, score_of, size_of
from fasttree.kernels.search cimport Best, Node, branch_cost, choose, fill_cut, fits, score_block
from fasttree.kernels.sorting cimport sort_by_key

cdef enum:
    EXHAUSTIVE_LIMIT = 12       # present values up to which every subset is tried (more than two classes)
    POWER_STEPS = 50


cdef inline bint principal_keys(Buckets* b, const Ruler* r, const Node* node) noexcept nogil:
    """key := the values' class shares along the first principal direction of sum_v n_v (p_v - p)(p_v - p)'.

    Power iteration from e_1 - p, or from the first e_c - p that does not vanish (where all values have the same share
    of class c); the sign is that of the first nonzero component. Most values have rows of few classes only, so
    the shares are gathered without their zeros first. False: no memory.
    """
    cdef int C = r.n_classes
    cdef int c, start = 0, step = 0
    cdef int64_t v, i, n = 0
    cdef double total = <double>node.total, dot, mean, pull, norm, sign = 1.0
    for i in range(b.n * C):
        n += b.counts[i] != 0
    cdef double* x = <double*>malloc(3 * C * sizeof(double))
    cdef double* share = <double*>malloc(n * sizeof(double))
    cdef int* share_class = <int*>malloc(n * sizeof(int))
    cdef int64_t* first = <int64_t*>malloc((b.n + 1) * sizeof(int64_t))
    cdef bint fine = x != NULL and share != NULL and share_class != NULL and first != NULL
    if fine:
        i = 0
        for v in range(b.n):
            first[v] = i
            for c in range(C):
                if b.counts[v * C + c] != 0:
                    share[i] = <double>b.counts[v * C + c] / <double>b.size[v]
                    share_class[i] = c
                    i += 1
        first[b.n] = i
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
            for v in range(b.n):
                dot = 0.0
                for i in range(first[v], first[v + 1]):
                    dot += share[i] * x[share_class[i]]
                dot = (dot - mean) * <double>b.size[v]
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
        for v in range(b.n):
            dot = 0.0
            for i in range(first[v], first[v + 1]):
                dot += share[i] * (sign * x[share_class[i]])
            b.key[v] = dot
    free(x)
    free(share)
    free(share_class)
    free(first)
    return fine


cdef inline bint scan_subset(
    int criterion, const Ruler* r, Buckets* b, const Node* node, int64_t* work, Best* best, uint8_t* goes_left
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
    best.cut = b.n - (b.n > 0 and b.code[0] == 0)
    if b.n < 2:
        return True
    if (C > 2 or criterion == CODE_LENGTH) and b.n <= EXHAUSTIVE_LIMIT:
        scan_every_subset(criterion, r, b, node, work, best, goes_left)
        return True
    for v in range(b.n):
        b.order[v] = v
    for c in range(C - 1, -1, -1):
        if node.counts[c] > 0:
            n_here += 1
            first = c
    ordered = n_here <= 2 and criterion != CODE_LENGTH
    if n_here <= 2:
        for v in range(b.n):
            b.key[v] = <double>b.counts[v * C + first] / <double>b.size[v]
    elif not principal_keys(b, r, node):
        return False
    sort_by_key(b.key, b.order, b.n)
    refused = scan_prefixes(criterion, r, b, node, work, best, goes_left)
    if ordered and refused <= best.score + node.margin:
        return True
    if b.n <= EXHAUSTIVE_LIMIT:
        scan_every_subset(criterion, r, b, node, work, best, goes_left)
    else:
        best.heuristic = can_be_divided(r, b, node)
    return True


cdef inline bint can_be_divided(const Ruler* r, const Buckets* b, const Node* node) noexcept nogil:
    """May there be a partition that the limits on sizes allow? None, if what a single value leaves is too light."""
    cdef int64_t v
    if node.size < 2 * node.lightest or node.total < 2 * r.min_weight:
        return False
    for v in range(b.n):
        if node.total - b.size[v] < r.min_weight:
            return False
        if node.size - size_of(r, b.counts + v * r.n_classes, b.size[v]) < node.lightest:
            return False
    return True


cdef inline double scan_prefixes(
    int criterion, const Ruler* r, Buckets* b, const Node* node, int64_t* work, Best* best, uint8_t* goes_left
) noexcept nogil:
    """The best prefix of the order; returns the best score of those that the limits on sizes forbid."""
    cdef int C = r.n_classes
    cdef int c, m = 0
    cdef int64_t i, v, weight = 0, size = 0, place, taken = 0, done = 0
    cdef bint two = C == 2
    cdef double margin = node.margin, refused = -INFINITY
    cdef Cuts cuts
    cdef int64_t* left = work
    cdef int64_t* right = work + C
    memset(left, 0, C * sizeof(int64_t))
    memcpy(right, node.counts, C * sizeof(int64_t))
    for i in range(b.n - 1):
        v = b.order[i]
        for c in range(C):
            left[c] += b.counts[v * C + c]
            right[c] -= b.counts[v * C + c]
        weight += b.size[v]
        size += size_of(r, b.counts + v * C, b.size[v])
        cuts.weight[m] = <double>weight
        cuts.size[m] = <double>size
        fill_cut(criterion, two, r, &cuts, m, node, left, right, weight)
        m += 1
        if m == BLOCK or i == b.n - 2:
            score_block(criterion, two, r, &cuts, m, node)
            for c in range(m):
                if not fits(r, node, <int64_t>cuts.weight[c], <int64_t>cuts.size[c]):
                    refused = cuts.score[c] if cuts.score[c] > refused else refused
                    cuts.score[c] = -INFINITY
            place = choose(cuts.score, m, margin, &best.score)
            if place >= 0:
                taken = done + place + 1
            done += m
            m = 0
    if goes_left != NULL:
        # Left is the side of the first value present (bucket 0), whichever end of the order it stands at.
        for i in range(b.n):
            goes_left[b.order[i]] = i < taken
        if not goes_left[0]:
            for v in range(b.n):
                goes_left[v] = not goes_left[v]
    return refused


cdef inline void scan_every_subset(
    int criterion, const Ruler* r, Buckets* b, const Node* node, int64_t* work, Best* best, uint8_t* goes_left
) noexcept nogil:
    """The first subset that is better than `best`, then than that one, and so on.

    Masks ascending, bit 0 always set: counting up flips two bits a step on average, each an O(C) move.
    """
    cdef int C = r.n_classes
    cdef int c
    cdef int64_t v, mask, winner = 0, size = 0, flipped, sign, bit
    cdef double margin = node.margin
    cdef double cost, split, score
    cdef int64_t* left = work
    cdef int64_t* right = work + C
    memset(left, 0, C * sizeof(int64_t))
    memcpy(right, node.counts, C * sizeof(int64_t))
    mask = 0
    while True:
        flipped = mask ^ (mask + 1 if mask == 0 else mask + 2)
        mask ^= flipped
        if mask == (1 << b.n) - 1:
            break
        v = 0
        while flipped:
            bit = flipped & 1
            if bit:
                sign = 1 if mask & 1 << v else -1
                size += sign * b.size[v]
                for c in range(C):
                    left[c] += sign * b.counts[v * C + c]
                    right[c] -= sign * b.counts[v * C + c]
            flipped >>= 1
            v += 1
        if not fits(r, node, size, size_of(r, left, size)):
            continue
        cost = branch_cost(criterion, r, node, left, size) + branch_cost(
            criterion, r, node, right, node.total - size)
        split = 0.0
        if criterion == GAIN_RATIO:
            split = node.split_base - <double>(klogk(r, size) + klogk(r, node.total - size))
        score = score_of(criterion, r, node.cost, cost, split, node.total)
        if score > best.score + margin:
            best.score = score
            winner = mask
    if goes_left != NULL and winner != 0:
        for v in range(b.n):
            goes_left[v] = (winner >> v) & 1
