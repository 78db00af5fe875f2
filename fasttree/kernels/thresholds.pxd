# SPDX-License-Identifier: BSD-3-Clause
"""The split search over thresholds.

Exact numeric attribute: a bucket a row, presorted (`sweep`). Binned attribute: a bucket a code (`scan_codes`).
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from fasttree.kernels.criteria cimport (
    GAIN_RATIO, GINI, SQUARED_ERROR, Criterion, class_terms, is_incremental, klogk, limit_weight_of, plain_of, score_of,
    term_increment, weight_of_stats, whole_terms,
)
from fasttree.kernels.cuts cimport (
    BLOCK, CutBlock, score_cuts, score_cuts2, score_dense_cuts, score_unit_gini_cuts, score_weighted_cuts2,
)
from fasttree.kernels.search cimport (
    LEAST_GAP, BestSplit, NodeView, RowReader, any_better, branch_loss, choose, class_of, fill_cut,
    row_at, score_block, sides_large_enough, weight_of,
)


cdef inline void transfer(
    int kind, const Criterion* r, int64_t* left, int64_t* right, uint32_t c, int64_t w, int64_t* left_sum,
    int64_t* right_sum,
) noexcept nogil:
    """Carry weight `w` of class `c` from the right to the left side, and the sums of terms with it, in O(1)."""
    left_sum[0] += term_increment(kind, r, left[c], w)
    left[c] += w
    right[c] -= w
    right_sum[0] -= term_increment(kind, r, right[c], w)


cdef inline void open_sides(
    const Criterion* r, const NodeView* node, bint missing_left, int64_t* left, int64_t* right
) noexcept nogil:
    """Before the first cut: missing rows on their side, all others on the right."""
    cdef int c
    for c in range(r.n_classes):
        left[c] = node.missing[c] if missing_left else 0
        right[c] = node.counts[c] - left[c]


cdef inline void sweep(
    int kind, bint two, bint gather, const Criterion* r, const RowReader* rows, const uint64_t* entries,
    int64_t n_entries,
    const NodeView* node, bint missing_left, int64_t* scratch, BestSplit* best,
) noexcept nogil:
    """Improve `best` by the thresholds of rows that are sorted by rank and have a value.

    The rows of the node that do not know it go to one side; if that is the right one, the last cut has them alone
    there.
    `scratch` holds 2 C counts.
    """
    cdef CutBlock cuts
    cdef int64_t* left = scratch
    cdef int64_t* right = scratch + r.n_classes
    cdef int64_t start = 0, w, weight, limit_weight, limit_weight_left, ones, left_sum = 0, right_sum = 0
    cdef int64_t common = 0     # sum of the products of a class's weights in the node and on the left
    # A cut behind the last row separates nothing, unless it sets missing rows apart.
    cdef int64_t last = n_entries if node.n_missing > 0 and not missing_left else n_entries - 1
    cdef int64_t before         # weight left of the block, if every row weighs 1
    cdef int shift = rows.shift
    cdef int j, m
    cdef uint32_t c
    cdef uint64_t entry
    cdef double tie_tolerance = node.tie_tolerance
    cdef bint by_reciprocals, incremental = is_incremental(kind, r)
    open_sides(r, node, missing_left, left, right)
    weight = node.n_missing if missing_left else 0
    limit_weight = limit_weight_of(r, left, weight)
    ones = left[1] if two else 0
    # Rows of weight 1 under gini: the squares of the right side follow from those of the left, sum (N - l)^2 =
    # sum N^2 - 2 sum N l + sum l^2, so that no counts of it are kept.
    by_reciprocals = not two and not gather and incremental and kind == GINI and node.total < r.n_inverse
    if not two and incremental:
        left_sum = whole_terms(kind, r, left)
        right_sum = whole_terms(kind, r, right)
    if by_reciprocals:
        for j in range(r.n_classes):
            common += node.counts[j] * left[j]
        right_sum += 2 * common - left_sum
    before = weight
    while start < last:
        m = <int>(last - start) if last - start < BLOCK else BLOCK
        if two:
            for j in range(m):
                entry = entries[start + j]
                w = weight_of(gather, rows, entry)
                c = class_of(gather, rows, entry)
                ones += w * (rows.target[row_at(gather, rows, entry)] if kind == SQUARED_ERROR else c)
                cuts.left[j] = <double>ones
                if gather:
                    weight += w
                    cuts.weight[j] = <double>weight
                    if r.plain != NULL:
                        limit_weight += plain_of(r, c, w)
                        cuts.limit_weight[j] = <double>limit_weight
            if kind == SQUARED_ERROR:
                score_dense_cuts(&cuts, m, node.total, node.counts[1], node.mean)
            else:
                score_cuts2(
                    kind, not gather, r, &cuts, m, before, node.total, node.counts[1], node.loss, node.split_base)
        elif by_reciprocals:
            for j in range(m):
                c = class_of(False, rows, entries[start + j])
                left_sum += 2 * left[c] + 1
                common += node.counts[c]
                left[c] += 1
                cuts.left[j] = <double>left_sum
                cuts.right[j] = <double>(right_sum + left_sum - 2 * common)
            score_unit_gini_cuts(r, &cuts, m, before, node.total)
        else:
            for j in range(m):
                entry = entries[start + j]
                w = weight_of(gather, rows, entry)
                c = class_of(gather, rows, entry)
                weight += w
                cuts.weight[j] = <double>weight
                if gather and r.plain != NULL:
                    limit_weight += plain_of(r, c, w)
                    cuts.limit_weight[j] = <double>limit_weight
                if incremental:
                    transfer(kind, r, left, right, c, w, &left_sum, &right_sum)
                    cuts.left[j] = <double>left_sum
                    cuts.right[j] = <double>right_sum
                else:
                    left[c] += w
                    right[c] -= w
                    if separates(entries, n_entries, start + j, shift, node.values):
                        cuts.left[j] = class_terms(kind, r, left)
                        cuts.right[j] = class_terms(kind, r, right)
                    else:
                        cuts.left[j] = 0.0
                        cuts.right[j] = 0.0
            score_cuts(kind, r, &cuts, m, node.total, node.loss, node.split_base)
        # Most blocks hold nothing better; only in the others do we ask which places are cuts at all.
        if any_better(cuts.score, m, best.score + tie_tolerance):
            for j in range(m):
                if cuts.score[j] > best.score + tie_tolerance and separates(
                    entries, n_entries, start + j, shift, node.values
                ):
                    w = before + j + 1 if two and not gather or by_reciprocals else <int64_t>cuts.weight[j]
                    limit_weight_left = <int64_t>cuts.limit_weight[j] if gather and r.plain != NULL else w
                    if sides_large_enough(r, node, w, limit_weight_left):
                        best.score = cuts.score[j]
                        best.split.code = <int64_t>(entries[start + j] >> shift)
                        best.split.missing_branch = 0 if missing_left else 1
        start += m
        before += m


cdef inline void sweep_distributed(
    int kind, const Criterion* r, const RowReader* rows, const uint64_t* entries, int64_t n_entries,
    const NodeView* node,
    int64_t* scratch, BestSplit* best,
) noexcept nogil:
    """Improve `best` by the thresholds of sorted rows, as `sweep` does, where every cut changes the shares that both
    sides take of rows with a missing value, and so all the terms."""
    cdef int64_t* left = scratch
    cdef int64_t* right = scratch + r.n_classes
    cdef int64_t i, w, weight = 0, limit_weight = 0
    cdef uint32_t c
    cdef double score
    open_sides(r, node, False, left, right)
    for i in range(n_entries - 1):
        w = weight_of(True, rows, entries[i])
        c = class_of(True, rows, entries[i])
        left[c] += w
        right[c] -= w
        weight += w
        limit_weight += w if r.plain == NULL else plain_of(r, c, w)
        if not separates(entries, n_entries, i, rows.shift, node.values):
            continue
        if not sides_large_enough(r, node, weight, limit_weight):
            continue
        score = -branch_loss(kind, r, node, left, weight) - branch_loss(
            kind, r, node, right, node.total - weight)
        if score > best.score + node.tie_tolerance:
            best.score = score
            best.split.code = <int64_t>(entries[i] >> rows.shift)


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


cdef inline void scan_codes2(
    int kind, const Criterion* r, const int64_t* histogram, int n_codes, const NodeView* node, bint missing_left,
    BestSplit* best,
) noexcept nogil:
    """`scan_codes` between two classes, of weights as they are and values at any distance: which cuts are admissible is
    asked only where one is better."""
    cdef CutBlock cuts
    cdef int64_t codes[BLOCK]
    cdef int64_t weight = 0, ones = 0
    cdef int code, m = 0
    if missing_left:
        weight, ones = node.n_missing, node.missing[1]
    for code in range(1, n_codes):
        weight += histogram[2 * code] + histogram[2 * code + 1]
        ones += histogram[2 * code + 1]
        codes[m] = code
        cuts.weight[m] = <double>weight
        cuts.left[m] = <double>ones
        m += histogram[2 * code] + histogram[2 * code + 1] != 0
        if weight == node.total:        # no cut: nothing is right of it
            m -= m > 0 and codes[m - 1] == code
            break
        if m == BLOCK:
            choose_among(kind, r, &cuts, codes, m, node, missing_left, best)
            m = 0
    choose_among(kind, r, &cuts, codes, m, node, missing_left, best)


cdef inline void choose_among(
    int kind, const Criterion* r, CutBlock* cuts, const int64_t* codes, int m, const NodeView* node,
    bint missing_left, BestSplit* best
) noexcept nogil:
    """Improve `best` by those of some cuts between two classes that are admissible."""
    cdef int j
    cdef int64_t weight
    score_weighted_cuts2(kind, r, cuts, m, node.total, node.counts[1], node.loss, node.split_base)
    if not any_better(cuts.score, m, best.score + node.tie_tolerance):
        return
    for j in range(m):
        weight = <int64_t>cuts.weight[j]
        if cuts.score[j] > best.score + node.tie_tolerance and sides_large_enough(r, node, weight, weight):
            best.score = cuts.score[j]
            best.split.code = codes[j]
            best.split.missing_branch = 0 if missing_left else 1


cdef inline void scan_codes(
    int kind, const Criterion* r, const int64_t* histogram, int n_codes, const NodeView* node, bint missing_left,
    int64_t* scratch, BestSplit* best,
) noexcept nogil:
    """Improve `best` by the thresholds over codes 1..n_codes-1 of a histogram[code, class]."""
    cdef CutBlock cuts
    cdef int64_t codes[BLOCK]
    cdef int64_t weight, limit_weight, bucket
    cdef int code, c, n_classes = r.n_classes
    cdef int m = 0
    cdef bint two = n_classes == 2
    cdef int64_t* left = scratch
    cdef int64_t* right = scratch + n_classes
    cdef const int64_t* row
    if two and kind != SQUARED_ERROR and node.distributed == NULL and node.values == NULL and r.plain == NULL:
        if kind == GINI:
            scan_codes2(GINI, r, histogram, n_codes, node, missing_left, best)
        else:
            scan_codes2(kind, r, histogram, n_codes, node, missing_left, best)
        return
    open_sides(r, node, missing_left, left, right)
    weight = node.n_missing if missing_left else 0
    limit_weight = limit_weight_of(r, left, weight)
    for code in range(1, n_codes):
        row = histogram + code * n_classes
        bucket = weight_of_stats(kind, r, row)
        for c in range(n_classes):
            left[c] += row[c]
            right[c] -= row[c]
        if bucket == 0:
            continue
        weight += bucket
        limit_weight += limit_weight_of(r, row, bucket)
        if limit_weight > node.limit_weight - node.min_branch:
            break
        if not sides_large_enough(r, node, weight, limit_weight):
            continue
        if not ends_apart(histogram, n_codes, n_classes, code, node.values):
            continue
        codes[m] = code
        cuts.weight[m] = <double>weight
        fill_cut(kind, two, r, &cuts, m, node, left, right, weight)
        m += 1
        if m == BLOCK:
            choose_code(kind, two, r, &cuts, codes, m, node, missing_left, best)
            m = 0
    choose_code(kind, two, r, &cuts, codes, m, node, missing_left, best)


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
    int kind, bint two, const Criterion* r, CutBlock* cuts, const int64_t* codes, int m, const NodeView* node,
    bint missing_left, BestSplit* best
) noexcept nogil:
    cdef int64_t index
    score_block(kind, two, r, cuts, m, node)
    index = choose(cuts.score, m, node.tie_tolerance, &best.score)
    if index >= 0:
        best.split.code = codes[index]
        best.split.missing_branch = 0 if missing_left else 1


cdef inline void set_apart(
    int kind, const Criterion* r, const NodeView* node, int64_t largest, int64_t* scratch, BestSplit* best
) noexcept nogil:
    """Improve `best` by the cut that sets the missing rows apart: `largest` is the largest rank or code at the node."""
    cdef int64_t known = node.total - node.n_missing
    cdef double loss, split = 0.0, score
    open_sides(r, node, True, scratch, scratch + r.n_classes)
    if not sides_large_enough(r, node, node.n_missing, limit_weight_of(r, scratch, node.n_missing)):
        return
    loss = branch_loss(kind, r, node, scratch, node.n_missing) + branch_loss(
        kind, r, node, scratch + r.n_classes, known)
    if kind == GAIN_RATIO:
        split = node.split_base - <double>(klogk(r, known) + klogk(r, node.n_missing))
    score = score_of(kind, r, node.loss, loss, split, node.total)
    if score > best.score + node.tie_tolerance:
        best.score = score
        best.split.code = largest
        best.split.missing_branch = 1


cdef inline void weigh_threshold(
    const Criterion* r, const RowReader* rows, const uint64_t* entries, int64_t n_entries, const NodeView* node,
    BestSplit* best
) noexcept nogil:
    """Split information of the best threshold of a sorted list, and how many thresholds there were to choose from."""
    cdef int64_t i, w, weight = 0, limit_weight = 0, left = 0
    if best.split.missing_branch == 0:
        weight = node.n_missing
        limit_weight = limit_weight_of(r, node.missing, weight)
    best.n_cuts = 0
    for i in range(n_entries):
        w = weight_of(True, rows, entries[i])
        weight += w
        limit_weight += w if r.plain == NULL else plain_of(r, class_of(True, rows, entries[i]), w)
        if <int64_t>(entries[i] >> rows.shift) <= best.split.code:
            left = weight
        if (
            separates(entries, n_entries, i, rows.shift, node.values) and i + 1 < n_entries
            and sides_large_enough(r, node, weight, limit_weight)
        ):
            best.n_cuts += 1
    best.information = node.split_base - <double>(klogk(r, left) + klogk(r, node.total - left))


cdef inline void weigh_code(
    const Criterion* r, const int64_t* histogram, int n_codes, const NodeView* node, BestSplit* best
) noexcept nogil:
    """Split information of the best threshold over the codes of a histogram, and how many thresholds there were to
    choose from."""
    cdef int64_t bucket, weight = 0, limit_weight = 0, left = 0, last = 0
    cdef int code, c
    if best.split.missing_branch == 0:
        weight = node.n_missing
        limit_weight = limit_weight_of(r, node.missing, weight)
    best.n_cuts = 0
    for code in range(1, n_codes):
        bucket = 0
        for c in range(r.n_classes):
            bucket += histogram[code * r.n_classes + c]
        if bucket == 0:
            continue
        if last > 0 and sides_large_enough(r, node, weight, limit_weight) and (
            node.values == NULL or are_apart(node.values, last, code)
        ):
            best.n_cuts += 1
        last = code
        weight += bucket
        limit_weight += limit_weight_of(r, histogram + code * r.n_classes, bucket)
        if code <= best.split.code:
            left = weight
    best.information = node.split_base - <double>(klogk(r, left) + klogk(r, node.total - left))
