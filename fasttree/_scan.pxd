# SPDX-License-Identifier: BSD-3-Clause
"""The split search: fill buckets, put them in order, scan once.

Exact numeric attribute: a bucket a row, presorted (`sweep`). Counted attribute: a bucket a code (`scan_codes`).
Ordered subset: codes sorted by class rate. Multiway: one candidate. Every search returns a `Best`: the score that
the criterion maximises and the cut that reaches it; the first candidate wins ties.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from fasttree._criteria cimport (
    BLOCK, ENTROPY, GAIN_RATIO, GINI, INFINITY, MISCLASSIFICATION, Cuts, Ruler, is_incremental, klogk, score_cuts,
    score_cuts2, score_of, side_cost, sum_terms, summed_cost, term_grows, tolerance,
)
from fasttree._sort cimport sort_by_key


cdef struct Rows:
    # How to read an entry: rank above `shift`, the row in the low 32 bits, the class between them or in y.
    # Fractional rows: what stands there is the number of an instance, a row with a weight; several may share a row.
    int shift
    const uint32_t* y
    const int64_t* weight       # NULL: every row weighs 1
    const uint32_t* row_of      # NULL: an instance is a row


cdef struct Node:
    # What a scan must know of the node beside its rows.
    const int64_t* counts
    int64_t total
    double cost
    double split_base           # split information is this less the k log k of the branches
    const int64_t* missing      # class counts of the rows that do not know the attribute
    int64_t n_missing           # their weight


cdef extern from *:
    """
    static const int64_t FT_MISSING_LEFT = (int64_t)1 << 40;
    """
    const int64_t MISSING_LEFT "FT_MISSING_LEFT"   # in the cut of a threshold: rows that lack the value go left


cdef struct Best:
    double score                # -inf: no admissible split
    int64_t cut                 # threshold: codes or ranks <= cut go left; tables: number of values present
    double node_cost            # of the rows that were scored


cdef inline uint32_t class_of(bint gather, const Rows* rows, uint64_t entry) noexcept nogil:
    return rows.y[<uint32_t>entry] if gather else <uint32_t>((entry >> 32) & 0xFF)


cdef inline int64_t weight_of(bint gather, const Rows* rows, uint64_t entry) noexcept nogil:
    return rows.weight[<uint32_t>entry] if gather and rows.weight != NULL else 1


cdef inline bint any_better(const double* score, int m, double limit) noexcept nogil:
    cdef int j
    cdef int64_t better = 0
    for j in range(m):
        better |= <int64_t>(score[j] > limit)
    return better != 0


cdef inline uint32_t row_at(bint gather, const Rows* rows, uint64_t entry) noexcept nogil:
    return rows.row_of[<uint32_t>entry] if gather and rows.row_of != NULL else <uint32_t>entry


cdef inline int64_t choose(const double* score, int m, double margin, double* best) noexcept nogil:
    """The place of the last improvement of `best` among `m` scores in order, or -1."""
    cdef int j
    cdef int64_t place = -1
    if any_better(score, m, best[0] + margin):
        for j in range(m):
            if score[j] > best[0] + margin:
                best[0] = score[j]
                place = j
    return place


# ---- thresholds -----------------------------------------------------------------------------------------------------

cdef inline void move(
    int criterion, const Ruler* r, int64_t* left, int64_t* right, uint32_t c, int64_t w, int64_t* left_sum,
    int64_t* right_sum,
) noexcept nogil:
    """Carry weight `w` of class `c` from the right to the left side, and the sums of terms with it, in O(1)."""
    left_sum[0] += term_grows(criterion, r, left[c], w)
    left[c] += w
    right[c] -= w
    right_sum[0] -= term_grows(criterion, r, right[c], w)


cdef inline void open_sides(
    int criterion, const Ruler* r, const Node* node, bint missing_left, int64_t* left, int64_t* right
) noexcept nogil:
    """Before the first cut: missing rows on their side, all others on the right."""
    cdef int c
    for c in range(r.n_classes):
        left[c] = node.missing[c] if missing_left else 0
        right[c] = node.counts[c] - left[c]


cdef inline void sweep(
    int criterion, bint two, bint gather, const Ruler* r, const Rows* rows, const uint64_t* entries, int64_t n_entries,
    const Node* node, bint missing_left, int64_t* work, Best* best,
) noexcept nogil:
    """Improve `best` by the thresholds of rows that are sorted by rank and know the attribute.

    The rows of the node that do not know it go to one side; if that is the right one, the last cut has them alone
    there.
    `work` holds 2 C counts.
    """
    cdef Cuts cuts
    cdef int64_t* left = work
    cdef int64_t* right = work + r.n_classes
    cdef int64_t flag = MISSING_LEFT if missing_left else 0
    cdef int64_t start = 0, w, size, ones, left_sum = 0, right_sum = 0
    # A cut behind the last row separates nothing, unless it sets missing rows apart.
    cdef int64_t last = n_entries if node.n_missing > 0 and not missing_left else n_entries - 1
    cdef int64_t before         # weight left of the block, if every row weighs 1
    cdef int shift = rows.shift
    cdef int j, m
    cdef uint32_t c
    cdef uint64_t entry
    cdef double margin = tolerance(criterion, r, node.total)
    cdef double lightest = <double>r.min_leaf, heaviest = <double>(node.total - r.min_leaf)
    cdef double size_
    cdef bint incremental = is_incremental(criterion, r)
    open_sides(criterion, r, node, missing_left, left, right)
    size = node.n_missing if missing_left else 0
    ones = left[1] if two else 0
    if not two and incremental:
        left_sum = <int64_t>sum_terms(criterion, r, left)
        right_sum = <int64_t>sum_terms(criterion, r, right)
    before = size
    while start < last:
        m = <int>(last - start) if last - start < BLOCK else BLOCK
        if two:
            for j in range(m):
                entry = entries[start + j]
                w = weight_of(gather, rows, entry)
                ones += w * class_of(gather, rows, entry)
                cuts.left[j] = <double>ones
                if gather:
                    size += w
                    cuts.size[j] = <double>size
            score_cuts2(
                criterion, not gather, r, &cuts, m, before, node.total, node.counts[1], node.cost,
                node.split_base,
            )
        else:
            for j in range(m):
                entry = entries[start + j]
                w = weight_of(gather, rows, entry)
                c = class_of(gather, rows, entry)
                size += w
                cuts.size[j] = <double>size
                if incremental:
                    move(criterion, r, left, right, c, w, &left_sum, &right_sum)
                    cuts.left[j] = <double>left_sum
                    cuts.right[j] = <double>right_sum
                else:
                    left[c] += w
                    right[c] -= w
                    if separates(entries, n_entries, start + j, shift):
                        cuts.left[j] = sum_terms(criterion, r, left)
                        cuts.right[j] = sum_terms(criterion, r, right)
                    else:
                        cuts.left[j] = 0.0
                        cuts.right[j] = 0.0
            score_cuts(criterion, r, &cuts, m, node.total, node.cost, node.split_base)
        # Most blocks hold nothing better; only in the others do we ask which places are cuts at all.
        if any_better(cuts.score, m, best.score + margin):
            for j in range(m):
                if cuts.score[j] > best.score + margin and separates(entries, n_entries, start + j, shift):
                    size_ = cuts.size[j] if gather or not two else <double>(before + j + 1)
                    if size_ >= lightest and size_ <= heaviest:
                        best.score = cuts.score[j]
                        best.cut = <int64_t>(entries[start + j] >> shift) | flag
        start += m
        before += m


cdef inline bint separates(const uint64_t* entries, int64_t n_entries, int64_t i, int shift) noexcept nogil:
    """Does a cut behind entry i divide different values (or known from missing)?"""
    return i == n_entries - 1 or (entries[i + 1] ^ entries[i]) >> shift != 0


cdef inline void scan_codes(
    int criterion, const Ruler* r, const int64_t* histogram, int n_codes, const Node* node, bint missing_left,
    int64_t* work, Best* best,
) noexcept nogil:
    """Improve `best` by the thresholds over codes 1..n_codes-1 of a histogram[code, class]."""
    cdef Cuts cuts
    cdef int64_t codes[BLOCK]
    cdef int64_t size, bucket
    cdef int64_t flag = MISSING_LEFT if missing_left else 0
    cdef int code, c, n_classes = r.n_classes
    cdef int m = 0
    cdef bint two = n_classes == 2
    cdef int64_t* left = work
    cdef int64_t* right = work + n_classes
    cdef const int64_t* row
    open_sides(criterion, r, node, missing_left, left, right)
    size = node.n_missing if missing_left else 0
    for code in range(1, n_codes):
        row = histogram + code * n_classes
        bucket = 0
        for c in range(n_classes):
            bucket += row[c]
            left[c] += row[c]
            right[c] -= row[c]
        if bucket == 0:
            continue
        size += bucket
        if size > node.total - r.min_leaf:
            break
        if size < r.min_leaf:
            continue
        codes[m] = code | flag
        cuts.size[m] = <double>size
        if two:
            cuts.left[m] = <double>left[1]
        else:
            cuts.left[m] = sum_terms(criterion, r, left)
            cuts.right[m] = sum_terms(criterion, r, right)
        m += 1
        if m == BLOCK:
            choose_code(criterion, two, r, &cuts, codes, m, node, best)
            m = 0
    choose_code(criterion, two, r, &cuts, codes, m, node, best)


cdef inline void choose_code(
    int criterion, bint two, const Ruler* r, Cuts* cuts, const int64_t* codes, int m, const Node* node, Best* best
) noexcept nogil:
    cdef int64_t place
    score_block(criterion, two, r, cuts, m, node)
    place = choose(cuts.score, m, tolerance(criterion, r, node.total), &best.score)
    if place >= 0:
        best.cut = codes[place]


cdef inline void set_apart(
    int criterion, const Ruler* r, const Node* node, int64_t largest, int64_t* work, Best* best
) noexcept nogil:
    """Improve `best` by the cut that sets the missing rows apart: `largest` is the largest rank or code at the node."""
    cdef int64_t known = node.total - node.n_missing
    cdef double cost, split = 0.0, score
    if known < r.min_leaf or node.n_missing < r.min_leaf:
        return
    open_sides(criterion, r, node, True, work, work + r.n_classes)
    cost = side_cost(criterion, r, work, node.n_missing) + side_cost(criterion, r, work + r.n_classes, known)
    if criterion == GAIN_RATIO:
        split = node.split_base - <double>(klogk(r, known) + klogk(r, node.n_missing))
    score = score_of(criterion, r, node.cost, cost, split, node.total)
    if score > best.score + tolerance(criterion, r, node.total):
        best.score = score
        best.cut = largest


cdef inline void score_block(
    int criterion, bint two, const Ruler* r, Cuts* cuts, int m, const Node* node
) noexcept nogil:
    if two:
        score_cuts2(criterion, False, r, cuts, m, 0, node.total, node.counts[1], node.cost, node.split_base)
    else:
        score_cuts(criterion, r, cuts, m, node.total, node.cost, node.split_base)


# ---- categories: buckets --------------------------------------------------------------------------------------------

cdef struct Buckets:
    # The values present at a node, in code order, with their class counts.
    int64_t n
    int64_t* code
    int64_t* size
    int64_t* counts             # n x C
    double* key                 # work: sort keys
    int64_t* order              # work


cdef inline Buckets* new_buckets(int64_t capacity, int n_classes) noexcept nogil:
    cdef Buckets* b = <Buckets*>malloc(sizeof(Buckets))
    if b == NULL:
        return NULL
    b.n = 0
    b.code = <int64_t*>malloc((capacity + 1) * sizeof(int64_t))
    b.size = <int64_t*>malloc((capacity + 1) * sizeof(int64_t))
    b.counts = <int64_t*>malloc((capacity + 1) * n_classes * sizeof(int64_t))
    b.key = <double*>malloc((capacity + 1) * sizeof(double))
    b.order = <int64_t*>malloc((capacity + 1) * sizeof(int64_t))
    if b.code == NULL or b.size == NULL or b.counts == NULL or b.key == NULL or b.order == NULL:
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
        b.code[b.n] = code
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
            b.code[b.n] = last
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
    """One branch a value. Admissible if at r.min_leaf two branches are heavy enough.

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
        cost += side_cost(criterion, r, b.counts + v * C, b.size[v])
        heavy += b.size[v] >= r.min_leaf
        if criterion == GAIN_RATIO:
            split -= klogk(r, b.size[v])
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
            heavy - (b.size[v] >= r.min_leaf) + (b.size[v] + node.n_missing >= r.min_leaf), b.n, best)
    consider_place(
        criterion, r, node, b.n, cost + side_cost(criterion, r, node.missing, node.n_missing),
        split - klogk_if(criterion, r, node.n_missing), heavy + (node.n_missing >= r.min_leaf), b.n, best)


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
    if score > best.score + tolerance(criterion, r, node.total):
        best.score = score
        best.cut = n_values | (place + 1) << PLACE_SHIFT


cdef inline void multiway_of_runs(
    int criterion, const Ruler* r, const Rows* rows, const uint64_t* entries, int64_t n_entries, const Node* node,
    int64_t* work, Best* best,
) noexcept nogil:
    """The same without a table: O(rows) whatever the number of values and classes."""
    cdef int64_t i = 0, first, k, w, size, heavy = 0, split = 0, values = 0, left_sum
    cdef double cost = 0.0, summed
    cdef uint32_t c
    cdef bint incremental = is_incremental(criterion, r)
    cdef int64_t* counts = work
    memset(counts, 0, r.n_classes * sizeof(int64_t))
    while i < n_entries:
        first = i
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
            size += w
            i += 1
        if incremental or criterion == MISCLASSIFICATION:
            summed = <double>left_sum
        else:
            summed = sum_terms(criterion, r, counts)
        cost += summed_cost(criterion, r, summed, size)
        heavy += size >= r.min_leaf
        if criterion == GAIN_RATIO:
            split -= klogk(r, size)
        for k in range(first, i):
            counts[class_of(True, rows, entries[k])] = 0
        values += 1
    best.score = -INFINITY
    best.cut = values
    if values < 2 or heavy < 2:
        return
    best.score = score_of(criterion, r, node.cost, cost, node.split_base + <double>split, node.total)


# ---- categories: the best binary subset -----------------------------------------------------------------------------

cdef enum:
    EXHAUSTIVE_LIMIT = 12       # present values up to which every subset is tried (more than two classes)
    POWER_STEPS = 50


cdef inline bint principal_keys(Buckets* b, const Ruler* r, const Node* node) noexcept nogil:
    """key := the values' class shares along the first principal direction of sum_v n_v (p_v - p)(p_v - p)'.

    Power iteration from e_1 - p; the sign is that of the first nonzero component. Most values have rows of few classes
    only, so the shares are gathered without their zeros first. False: no memory.
    """
    cdef int C = r.n_classes
    cdef int c, _step
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
        for _step in range(POWER_STEPS):
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
                break
            for c in range(C):
                x[c] = x[2 * C + c] / norm
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

    Two classes: some prefix of the order by P(class 0) is optimal (Breiman). More: every subset that holds the first
    value, as long as there are at most 12; beyond that the prefixes of a principal direction, which may miss the best.
    `goes_left` (may be NULL) gets the side of each bucket; left is the side of the first bucket.
    """
    cdef int C = r.n_classes
    cdef int64_t v
    best.score = -INFINITY
    best.cut = b.n - (b.n > 0 and b.code[0] == 0)
    heuristic[0] = False
    if b.n < 2:
        return True
    if C > 2 and b.n <= EXHAUSTIVE_LIMIT:
        scan_every_subset(criterion, r, b, node, work, best, goes_left)
        return True
    for v in range(b.n):
        b.order[v] = v
    if C <= 2:
        for v in range(b.n):
            b.key[v] = <double>b.counts[v * C] / <double>b.size[v]
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
    cdef int64_t i, v, size = 0, place, taken = 0, done = 0
    cdef bint two = C == 2
    cdef double margin = tolerance(criterion, r, node.total)
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
        size += b.size[v]
        cuts.size[m] = <double>size
        if two:
            cuts.left[m] = <double>left[1]
        else:
            cuts.left[m] = sum_terms(criterion, r, left)
            cuts.right[m] = sum_terms(criterion, r, right)
        m += 1
        if m == BLOCK or i == b.n - 2:
            score_block(criterion, two, r, &cuts, m, node)
            for c in range(m):
                if cuts.size[c] < <double>r.min_leaf or cuts.size[c] > <double>(node.total - r.min_leaf):
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
    cdef double margin = tolerance(criterion, r, node.total)
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
        if size < r.min_leaf or node.total - size < r.min_leaf:
            continue
        cost = side_cost(criterion, r, left, size) + side_cost(criterion, r, right, node.total - size)
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
