# SPDX-License-Identifier: BSD-3-Clause
"""The split search over categories: fill a bucket for each value present, put them in order, scan once.

Multiway: one candidate. Subsets: the values sorted by class rate. Groups: greedy merging.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from fasttree._criteria cimport (
    BLOCK, CODE_LENGTH, GAIN_RATIO, INFINITY, MISCLASSIFICATION, Cuts, Ruler, cost_unit, is_incremental, klogk,
    plain_of, score_of, side_cost, size_of, sum_terms, summed_cost, term_grows,
)
from fasttree._scan cimport (
    Best, Node, Rows, branch_cost, choose, class_of, fill_cut, fits, is_heavy, score_block, weight_of,
)
from fasttree._sort cimport sort_by_key


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


# ---- the best binary subset -----------------------------------------------------------------------------

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
    int criterion, const Ruler* r, Buckets* b, const Node* node, int64_t* work, Best* best, uint8_t* goes_left,
    bint* heuristic,
) noexcept nogil:
    """Best binary partition of the values present, "missing" (code 0) being one of them. False: no memory.

    Two classes: some prefix of the order by the share of the first is optimal (Breiman). More: every subset that holds
    the first value, as long as there are at most 12; beyond that the prefixes of a principal direction, which may miss
    the best, unless two classes only have rows here. So may the order by shares if what counts is the length of a code:
    then every subset of at most 12 is tried too.
    `goes_left` (may be NULL) gets the side of each bucket; left is the side of the first bucket.
    """
    cdef int C = r.n_classes
    cdef int c, n_here = 0, first = 0
    cdef int64_t v
    best.score = -INFINITY
    best.cut = b.n - (b.n > 0 and b.code[0] == 0)
    heuristic[0] = False
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
    if n_here <= 2:
        for v in range(b.n):
            b.key[v] = <double>b.counts[v * C + first] / <double>b.size[v]
        heuristic[0] = criterion == CODE_LENGTH
    else:
        heuristic[0] = True
        if not principal_keys(b, r, node):
            return False
    sort_by_key(b.key, b.order, b.n)
    scan_prefixes(criterion, r, b, node, work, best, goes_left)
    return True


cdef inline void scan_prefixes(
    int criterion, const Ruler* r, Buckets* b, const Node* node, int64_t* work, Best* best, uint8_t* goes_left
) noexcept nogil:
    cdef int C = r.n_classes
    cdef int c, m = 0
    cdef int64_t i, v, weight = 0, size = 0, place, taken = 0, done = 0
    cdef bint two = C == 2
    cdef double margin = node.margin
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


cdef inline void scan_every_subset(
    int criterion, const Ruler* r, Buckets* b, const Node* node, int64_t* work, Best* best, uint8_t* goes_left
) noexcept nogil:
    """Masks ascending, bit 0 always set: counting up flips two bits a step on average, each an O(C) move."""
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
    if goes_left != NULL:
        for v in range(b.n):
            goes_left[v] = (winner >> v) & 1


# ---- groups of values -----------------------------------------------------------------------------------------------

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


cdef inline bint scan_groups(
    int criterion, bint by_ratio, const Ruler* r, Buckets* b, const Node* node, Best* best, int64_t* group_of,
    bint* heuristic,
) noexcept nogil:
    """A branch for each of some groups of values, found by merging: first the values pure in one class, then always the
    pair that is best for the score, as long as that improves and half of the gain remains. False: no memory.

    `group_of` gets the group of each bucket; groups are numbered by their first value.
    """
    cdef int C = r.n_classes
    cdef int64_t v, w, n_heavy = 0
    cdef Blocks g
    cdef int64_t* owner = <int64_t*>malloc((b.n + 1) * sizeof(int64_t))     # the block that took in a block
    cdef bint fine
    best.score = -INFINITY
    best.cut = b.n - (b.n > 0 and b.code[0] == 0)
    heuristic[0] = False
    g.weight = <int64_t*>malloc((b.n + 1) * sizeof(int64_t))
    g.counts = <int64_t*>malloc((b.n + 1) * C * sizeof(int64_t))
    g.cost = <double*>malloc((b.n + 1) * sizeof(double))
    g.pair_cost = NULL
    g.pair_klogk = NULL
    fine = owner != NULL and g.weight != NULL and g.counts != NULL and g.cost != NULL
    if fine:
        merge_pure(b, C, &g, group_of)
        if g.n > GROUP_LIMIT:
            heuristic[0] = True
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
                n_heavy += is_heavy(r, node, g.weight[v], size_of(r, g.counts + v * C, g.weight[v]))
                owner[v] = -1 - g.n
                g.n += 1
        for v in range(b.n):
            w = group_of[v]
            while owner[w] >= 0:
                w = owner[w]
            group_of[v] = -1 - owner[w]
        best.cut |= g.n << PLACE_SHIFT
        if n_heavy < 2:
            best.score = -INFINITY
    free(owner)
    free(g.weight)
    free(g.counts)
    free(g.cost)
    free(g.pair_cost)
    free(g.pair_klogk)
    return fine


cdef inline void merge_pure(const Buckets* b, int C, Blocks* g, int64_t* group_of) noexcept nogil:
    """A block for each bucket, but one for all those that hold nothing but one and the same class."""
    cdef int64_t v, block, i
    cdef int c, pure
    g.n = 0
    for v in range(b.n):
        pure = -1
        for c in range(C):
            if b.counts[v * C + c] == b.size[v]:
                pure = c
        block = g.n
        if pure >= 0:
            for i in range(g.n):
                if g.counts[i * C + pure] == g.weight[i]:
                    block = i
                    break
        if block == g.n:
            g.n += 1
            g.weight[block] = 0
            memset(g.counts + block * C, 0, C * sizeof(int64_t))
        group_of[v] = block
        add_to_block(g, block, b.counts + v * C, b.size[v], C)


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


cdef inline void weigh_pair(
    int criterion, const Ruler* r, const Node* node, Blocks* g, int64_t i, int64_t j
) noexcept nogil:
    cdef int C = r.n_classes
    cdef int c
    cdef int64_t weight = g.weight[i] + g.weight[j]
    # The first block's counts serve as the sum for a moment.
    for c in range(C):
        g.counts[i * C + c] += g.counts[j * C + c]
    g.pair_cost[i * g.n0 + j] = branch_cost(criterion, r, node, g.counts + i * C, weight)
    g.pair_klogk[i * g.n0 + j] = klogk(r, weight)
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


cdef inline void merge_pairs(
    int criterion, bint by_ratio, const Ruler* r, const Node* node, Blocks* g, int64_t* owner, Best* best
) noexcept nogil:
    cdef int C = r.n_classes
    cdef int64_t i, j, left, right, n = g.n0
    cdef double cost = 0.0, split = node.split_base, new_cost, new_split, current, found, score, least
    for i in range(n):
        g.cost[i] = branch_cost(criterion, r, node, g.counts + i * C, g.weight[i])
        cost += g.cost[i]
        split -= <double>klogk(r, g.weight[i])
    for i in range(n):
        for j in range(i + 1, n):
            weigh_pair(criterion, r, node, g, i, j)
    current = group_score(criterion, by_ratio, r, node, cost, split)
    least = (node.cost - cost) / 2.0
    while g.n > 2:
        found = -INFINITY
        left = right = -1
        for i in range(n):
            if owner[i] != i:
                continue
            for j in range(i + 1, n):
                if owner[j] != j:
                    continue
                new_cost = cost - g.cost[i] - g.cost[j] + g.pair_cost[i * n + j]
                new_split = split + <double>(
                    klogk(r, g.weight[i]) + klogk(r, g.weight[j]) - g.pair_klogk[i * n + j])
                score = group_score(criterion, by_ratio, r, node, new_cost, new_split)
                if score > found + 1e-10:
                    found = score
                    left = i
                    right = j
        if left < 0 or found <= current + LEAST_IMPROVEMENT:
            break
        new_cost = cost - g.cost[left] - g.cost[right] + g.pair_cost[left * n + right]
        if by_ratio and node.cost - new_cost < least:
            break
        current = found
        cost += g.pair_cost[left * n + right] - g.cost[left] - g.cost[right]
        split += <double>(
            klogk(r, g.weight[left]) + klogk(r, g.weight[right]) - g.pair_klogk[left * n + right])
        owner[right] = left
        g.n -= 1
        add_to_block(g, left, g.counts + right * C, g.weight[right], C)
        g.cost[left] = branch_cost(criterion, r, node, g.counts + left * C, g.weight[left])
        for i in range(n):
            if owner[i] == i and i != left:
                weigh_pair(criterion, r, node, g, i if i < left else left, left if i < left else i)
    best.split = split
    if g.n >= 2:
        best.score = score_of(criterion, r, node.cost, cost, split, node.total)
