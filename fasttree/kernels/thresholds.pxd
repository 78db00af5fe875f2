# SPDX-License-Identifier: BSD-3-Clause
"""The split search over thresholds.

Exact numeric attribute: a bucket a row, presorted (`sweep`). Counted attribute: a bucket a code (`scan_codes`).
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from fasttree.kernels.criteria cimport (
    BLOCK, GAIN_RATIO, Cuts, Ruler, is_incremental, klogk, plain_of, score_cuts, score_cuts2, score_of, side_cost,
    size_of, sum_terms, term_grows,
)
from fasttree.kernels.search cimport (
    LEAST_GAP, MISSING_LEFT, Best, Node, Rows, any_better, branch_cost, choose, class_of, fill_cut, fits, score_block,
    weight_of,
)


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
    const Ruler* r, const Node* node, bint missing_left, int64_t* left, int64_t* right
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
    cdef int64_t start = 0, w, weight, size, ones, left_sum = 0, right_sum = 0
    # A cut behind the last row separates nothing, unless it sets missing rows apart.
    cdef int64_t last = n_entries if node.n_missing > 0 and not missing_left else n_entries - 1
    cdef int64_t before         # weight left of the block, if every row weighs 1
    cdef int shift = rows.shift
    cdef int j, m
    cdef uint32_t c
    cdef uint64_t entry
    cdef double margin = node.margin
    cdef bint incremental = is_incremental(criterion, r)
    open_sides(r, node, missing_left, left, right)
    weight = node.n_missing if missing_left else 0
    size = size_of(r, left, weight)
    ones = left[1] if two else 0
    if not two and incremental:
        left_sum = <int64_t>sum_terms(criterion, r, left)
        right_sum = <int64_t>sum_terms(criterion, r, right)
    before = weight
    while start < last:
        m = <int>(last - start) if last - start < BLOCK else BLOCK
        if two:
            for j in range(m):
                entry = entries[start + j]
                w = weight_of(gather, rows, entry)
                c = class_of(gather, rows, entry)
                ones += w * c
                cuts.left[j] = <double>ones
                if gather:
                    weight += w
                    cuts.weight[j] = <double>weight
                    if r.plain != NULL:
                        size += plain_of(r, c, w)
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
                weight += w
                cuts.weight[j] = <double>weight
                if gather and r.plain != NULL:
                    size += plain_of(r, c, w)
                    cuts.size[j] = <double>size
                if incremental:
                    move(criterion, r, left, right, c, w, &left_sum, &right_sum)
                    cuts.left[j] = <double>left_sum
                    cuts.right[j] = <double>right_sum
                else:
                    left[c] += w
                    right[c] -= w
                    if separates(entries, n_entries, start + j, shift, node.values):
                        cuts.left[j] = sum_terms(criterion, r, left)
                        cuts.right[j] = sum_terms(criterion, r, right)
                    else:
                        cuts.left[j] = 0.0
                        cuts.right[j] = 0.0
            score_cuts(criterion, r, &cuts, m, node.total, node.cost, node.split_base)
        # Most blocks hold nothing better; only in the others do we ask which places are cuts at all.
        if any_better(cuts.score, m, best.score + margin):
            for j in range(m):
                if cuts.score[j] > best.score + margin and separates(
                    entries, n_entries, start + j, shift, node.values
                ):
                    w = <int64_t>cuts.weight[j] if gather or not two else before + j + 1
                    if fits(r, node, w, <int64_t>cuts.size[j] if gather and r.plain != NULL else w):
                        best.score = cuts.score[j]
                        best.cut = <int64_t>(entries[start + j] >> shift) | flag
        start += m
        before += m


cdef inline void sweep_shared(
    int criterion, const Ruler* r, const Rows* rows, const uint64_t* entries, int64_t n_entries, const Node* node,
    int64_t* work, Best* best,
) noexcept nogil:
    """The same where every cut changes the shares that both sides take of other rows, and so all the terms."""
    cdef int64_t* left = work
    cdef int64_t* right = work + r.n_classes
    cdef int64_t i, w, weight = 0, size = 0
    cdef uint32_t c
    cdef double score
    open_sides(r, node, False, left, right)
    for i in range(n_entries - 1):
        w = weight_of(True, rows, entries[i])
        c = class_of(True, rows, entries[i])
        left[c] += w
        right[c] -= w
        weight += w
        size += w if r.plain == NULL else plain_of(r, c, w)
        if not separates(entries, n_entries, i, rows.shift, node.values) or not fits(r, node, weight, size):
            continue
        score = -branch_cost(criterion, r, node, left, weight) - branch_cost(
            criterion, r, node, right, node.total - weight)
        if score > best.score + node.margin:
            best.score = score
            best.cut = <int64_t>(entries[i] >> rows.shift)


cdef inline bint separates(
    const uint64_t* entries, int64_t n_entries, int64_t i, int shift, const double* values
) noexcept nogil:
    """Does a cut behind entry i divide different values (or known from missing)?"""
    if i == n_entries - 1:
        return True
    return (entries[i + 1] ^ entries[i]) >> shift != 0 and (
        values == NULL or are_apart(values, entries[i] >> shift, entries[i + 1] >> shift)
    )


cdef inline bint are_apart(const double* values, int64_t below, int64_t above) noexcept nogil:
    return values[below] + LEAST_GAP < values[above]


cdef inline void scan_codes(
    int criterion, const Ruler* r, const int64_t* histogram, int n_codes, const Node* node, bint missing_left,
    int64_t* work, Best* best,
) noexcept nogil:
    """Improve `best` by the thresholds over codes 1..n_codes-1 of a histogram[code, class]."""
    cdef Cuts cuts
    cdef int64_t codes[BLOCK]
    cdef int64_t weight, size, bucket
    cdef int64_t flag = MISSING_LEFT if missing_left else 0
    cdef int code, c, n_classes = r.n_classes
    cdef int m = 0
    cdef bint two = n_classes == 2
    cdef int64_t* left = work
    cdef int64_t* right = work + n_classes
    cdef const int64_t* row
    open_sides(r, node, missing_left, left, right)
    weight = node.n_missing if missing_left else 0
    size = size_of(r, left, weight)
    for code in range(1, n_codes):
        row = histogram + code * n_classes
        bucket = 0
        for c in range(n_classes):
            bucket += row[c]
            left[c] += row[c]
            right[c] -= row[c]
        if bucket == 0:
            continue
        weight += bucket
        size += size_of(r, row, bucket)
        if size > node.size - node.lightest:
            break
        if not fits(r, node, weight, size) or not ends_apart(histogram, n_codes, n_classes, code, node.values):
            continue
        codes[m] = code | flag
        cuts.weight[m] = <double>weight
        fill_cut(criterion, two, r, &cuts, m, node, left, right, weight)
        m += 1
        if m == BLOCK:
            choose_code(criterion, two, r, &cuts, codes, m, node, best)
            m = 0
    choose_code(criterion, two, r, &cuts, codes, m, node, best)


cdef inline bint ends_apart(
    const int64_t* histogram, int n_codes, int n_classes, int code, const double* values
) noexcept nogil:
    """Is the next value present far enough from that of `code`?"""
    cdef int c, after
    if values == NULL:
        return True
    for after in range(code + 1, n_codes):
        for c in range(n_classes):
            if histogram[after * n_classes + c] > 0:
                return are_apart(values, code, after)
    return True


cdef inline void choose_code(
    int criterion, bint two, const Ruler* r, Cuts* cuts, const int64_t* codes, int m, const Node* node, Best* best
) noexcept nogil:
    cdef int64_t place
    score_block(criterion, two, r, cuts, m, node)
    place = choose(cuts.score, m, node.margin, &best.score)
    if place >= 0:
        best.cut = codes[place]


cdef inline void set_apart(
    int criterion, const Ruler* r, const Node* node, int64_t largest, int64_t* work, Best* best
) noexcept nogil:
    """Improve `best` by the cut that sets the missing rows apart: `largest` is the largest rank or code at the node."""
    cdef int64_t known = node.total - node.n_missing
    cdef double cost, split = 0.0, score
    open_sides(r, node, True, work, work + r.n_classes)
    if not fits(r, node, node.n_missing, size_of(r, work, node.n_missing)):
        return
    cost = side_cost(criterion, r, work, node.n_missing) + side_cost(criterion, r, work + r.n_classes, known)
    if criterion == GAIN_RATIO:
        split = node.split_base - <double>(klogk(r, known) + klogk(r, node.n_missing))
    score = score_of(criterion, r, node.cost, cost, split, node.total)
    if score > best.score + node.margin:
        best.score = score
        best.cut = largest


cdef inline void weigh_threshold(
    const Ruler* r, const Rows* rows, const uint64_t* entries, int64_t n_entries, const Node* node, Best* best
) noexcept nogil:
    """Split information of the best threshold of a sorted list, and how many thresholds there were to choose from."""
    cdef int64_t i, w, weight = 0, size = 0, left = 0, cut = best.cut & (MISSING_LEFT - 1)
    if best.cut & MISSING_LEFT:
        weight = node.n_missing
        size = size_of(r, node.missing, weight)
    best.n_cuts = 0
    for i in range(n_entries):
        w = weight_of(True, rows, entries[i])
        weight += w
        size += w if r.plain == NULL else plain_of(r, class_of(True, rows, entries[i]), w)
        if <int64_t>(entries[i] >> rows.shift) <= cut:
            left = weight
        if (
            separates(entries, n_entries, i, rows.shift, node.values) and i + 1 < n_entries
            and fits(r, node, weight, size)
        ):
            best.n_cuts += 1
    best.split = node.split_base - <double>(klogk(r, left) + klogk(r, node.total - left))


cdef inline void weigh_code(
    const Ruler* r, const int64_t* histogram, int n_codes, const Node* node, Best* best
) noexcept nogil:
    """The same of a histogram."""
    cdef int64_t bucket, weight = 0, size = 0, left = 0, cut = best.cut & (MISSING_LEFT - 1), last = 0
    cdef int code, c
    if best.cut & MISSING_LEFT:
        weight = node.n_missing
        size = size_of(r, node.missing, weight)
    best.n_cuts = 0
    for code in range(1, n_codes):
        bucket = 0
        for c in range(r.n_classes):
            bucket += histogram[code * r.n_classes + c]
        if bucket == 0:
            continue
        if last > 0 and fits(r, node, weight, size) and (
            node.values == NULL or are_apart(node.values, last, code)
        ):
            best.n_cuts += 1
        last = code
        weight += bucket
        size += size_of(r, histogram + code * r.n_classes, bucket)
        if code <= cut:
            left = weight
    best.split = node.split_base - <double>(klogk(r, left) + klogk(r, node.total - left))
