# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: the search for surrogates, with the side that rows take as their class.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memset

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.criteria cimport INFINITY, MISCLASSIFICATION, Criterion, tie_tolerance_of
from fasttree.kernels.partition cimport NO_BRANCH, BranchIds, branch_of, set_branch
from fasttree.kernels.routing cimport find_code
from fasttree.kernels.thresholds cimport scan_codes
from fasttree.kernels.search cimport BestSplit, NodeView, RowReader, class_of, row_at, weight_of


cdef struct SurrogateContext:
    # What it takes to look at the side that rows take as their class.
    Criterion* criterion
    RowReader rows
    bint gather
    uint64_t* list_scratch
    int64_t* histogram
    uint32_t* code  # whose cells they are
    int64_t weight_tolerance  # weights no further apart are equal


def agreements(
    Grower grower, Level level, const int64_t[::1] nodes, Py_ssize_t n0, Py_ssize_t n1, const int64_t[::1] attribute,
    const int64_t[::1] known, CriterionTables tables, Py_ssize_t a0, Py_ssize_t a1, const uint32_t[::1] side,
    const int64_t[::1] weight, int64_t weight_tolerance, uint64_t[::1] list_scratch, int64_t[:, ::1] agree,
    int64_t[:, ::1] cut,
):
    """How well the best split of each attribute a0..a1 tells the side of the rows with a known value of a
    node's own split, for the splits n0..n1 of `nodes`.

    agree[a, i - n0]: the weight of the rows that it sends to their side, -1: there is no such split; cut[a, ...]:
    the threshold, for attributes that are split by one. `known` is the weight of the rows whose side is known,
    `side` that side by row, `weight` the weights of the rows or None; weights no further apart than `weight_tolerance`
    are equal. Returns False without memory.
    """
    cdef Py_ssize_t a, i
    cdef SurrogateContext context
    cdef bint ok = open_context(grower, &context, tables, side, weight, weight_tolerance, list_scratch)
    if ok:
        with nogil:
            for a in range(a0, a1):
                for i in range(n0, n1):
                    agree[a, i - n0] = -1
                    if a != attribute[i]:
                        find_agreement(
                            grower, level, nodes[i], known[i], a, &context, &agree[a, i - n0], &cut[a, i - n0])
    close_context(&context)
    return ok


cdef bint open_context(
    Grower grower, SurrogateContext* context, CriterionTables tables, const uint32_t[::1] side,
    const int64_t[::1] weight,
    int64_t weight_tolerance, uint64_t[::1] list_scratch
) noexcept:
    cdef int64_t most = 0
    cdef Py_ssize_t a
    for a in range(grower.n_codes.shape[0]):
        if not grower.by_threshold(a) or grower.list_row[a] < 0:
            most = max(most, grower.n_codes[a])
    context.criterion = &tables.criterion
    context.rows = grower.rows
    context.rows.y = &side[0]
    context.rows.weight = &weight[0] if weight is not None else NULL
    context.rows.target = NULL    # what is asked for is the side, whatever the tree predicts
    context.gather = weight is not None or grower.rows.shift == 32
    context.list_scratch = &list_scratch[0]
    context.weight_tolerance = weight_tolerance
    context.histogram = <int64_t*>malloc((2 * most + 2) * sizeof(int64_t))
    context.code = <uint32_t*>malloc((most + 1) * sizeof(uint32_t))
    return context.histogram != NULL and context.code != NULL


cdef void close_context(SurrogateContext* context) noexcept:
    free(context.histogram)
    free(context.code)


cdef void find_agreement(
    Grower grower, Level level, int64_t node, int64_t known, int64_t attribute, SurrogateContext* context,
    int64_t* agree,
    int64_t* cut
) noexcept nogil:
    cdef NodeView view
    cdef BestSplit best
    cdef int64_t[2] missing, counts
    cdef int64_t[4] scratch
    cdef int64_t n, n_missing, c, n_codes = 0, total = 0
    cdef bint presorted = grower.list_row[attribute] >= 0
    if known < 2 * context.criterion.min_leaf:
        return
    counts[0] = counts[1] = missing[0] = missing[1] = 0
    n_missing = 0
    n = 0
    if presorted and grower.by_threshold(attribute):
        n = list_sides(grower, level, node, attribute, context, counts, &n_missing)
    else:
        n_codes = count_sides(grower, level, node, attribute, context)
        for c in range(2, 2 * n_codes):
            counts[c & 1] += context.histogram[c]
    total = counts[0] + counts[1]
    if total < 2 * context.criterion.min_leaf:
        return
    if not grower.by_threshold(attribute):
        agree[0] = agree_by_category(n_codes, context)
        return
    view.counts = counts
    view.total = total
    view.limit_weight = total
    view.loss = 0.0
    view.split_base = 0.0
    view.missing = missing
    view.n_missing = 0
    view.min_branch = context.criterion.min_leaf
    view.tie_tolerance = tie_tolerance_of(MISCLASSIFICATION, context.criterion, 0.0, total)
    view.distributed = NULL
    view.values = NULL
    clear_best(&view, &best)
    if presorted:
        if (context.list_scratch[n_missing] ^ context.list_scratch[n - 1]) >> grower.rows.shift != 0:
            sweep_any(
                context.criterion, context.gather, &context.rows, context.list_scratch + n_missing, n - n_missing,
                &view, False, scratch,
                &best)
    else:
        scan_codes(MISCLASSIFICATION, context.criterion, context.histogram, <int>n_codes, &view, False, scratch, &best)
    if best.score != -INFINITY:
        agree[0] = total + <int64_t>best.score
        cut[0] = best.split.code


cdef int64_t list_sides(
    Grower grower, Level level, int64_t node, int64_t attribute, SurrogateContext* context, int64_t* counts,
    int64_t* n_missing
) noexcept nogil:
    """The rows of a sorted list whose side is known, with that in the place of their class; counts[side] of those
    with a known value, and how many entries do not. Returns the number of entries."""
    cdef const uint64_t* entries = grower.rows_of(level, node, attribute)
    cdef uint64_t no_class = ~(<uint64_t>0xFF << 32)
    # Copies: for all that the compiler knows, what is written to `list_scratch` might change the originals.
    cdef BranchIds branch_ids = grower.branch_ids
    cdef uint64_t* list_scratch = context.list_scratch
    cdef bint gather = context.gather
    cdef int shift = grower.rows.shift
    cdef int64_t i, n = 0
    cdef uint32_t branch
    cdef uint64_t entry
    for i in range(level.n_rows[node]):
        entry = entries[i]
        branch = branch_of(&branch_ids, entry)
        if branch == NO_BRANCH:
            continue
        if not gather:
            entry = entry & no_class | <uint64_t>branch << 32
        list_scratch[n] = entry
        n += 1
        if entry >> shift == 0:
            n_missing[0] += 1
        else:
            counts[branch] += weight_of(gather, &context.rows, entry)
    return n


cdef int64_t count_sides(
    Grower grower, Level level, int64_t node, int64_t attribute, SurrogateContext* context
) noexcept nogil:
    """histogram[place, side] of the rows whose side is known, place 0 for missing values. Returns the number of places:
    one for every code, or for those that are there, ascending, where a sorted list tells (and codes may be many)."""
    cdef const uint64_t* entries = grower.rows_of(level, node, attribute)
    cdef const uint8_t* codes = grower.codes_of(attribute)
    cdef int64_t i, code, index = 0, n = 1 if codes == NULL else grower.n_codes[attribute]
    cdef uint32_t branch
    memset(context.histogram, 0, 2 * n * sizeof(int64_t))
    for i in range(n):
        context.code[i] = <uint32_t>i
    for i in range(level.n_rows[node]):
        branch = branch_of(&grower.branch_ids, entries[i])
        if branch == NO_BRANCH:
            continue
        code = grower.code_of(entries[i], codes)
        if codes != NULL:
            index = code
        elif code != context.code[index]:
            index = n
            n += 1
            context.code[index] = <uint32_t>code
            context.histogram[2 * index] = context.histogram[2 * index + 1] = 0
        context.histogram[2 * index + branch] += weight_of(context.gather, &context.rows, entries[i])
    return n


cdef int64_t agree_by_category(int64_t n_cells, const SurrogateContext* context) noexcept nogil:
    """Every level goes where most of its rows are, the first side at a tie."""
    cdef int64_t index, left, right, agree = 0
    cdef int64_t[2] side_weight
    cdef int side
    side_weight[0] = side_weight[1] = 0
    for index in range(1, n_cells):
        left = context.histogram[2 * index]
        right = context.histogram[2 * index + 1]
        side = right > left + context.weight_tolerance
        side_weight[side] += left + right
        agree += right if side else left
    if side_weight[0] < context.criterion.min_leaf or side_weight[1] < context.criterion.min_leaf:
        return -1
    return agree


def describe_surrogates(
    Grower grower, Level level, const int64_t[::1] node, const int64_t[::1] attribute, const int64_t[::1] cut,
    Py_ssize_t s0, Py_ssize_t s1, CriterionTables tables, const uint32_t[::1] side, const int64_t[::1] weight,
    int64_t weight_tolerance,
    uint64_t[::1] list_scratch, int64_t[:, ::1] neighbours, int32_t[::1] low, const int64_t[::1] table_start,
    uint32_t[::1] table_codes, uint32_t[::1] table_branch, int64_t[::1] n_codes,
):
    """Write down the surrogates s0..s1: for a threshold what lies beside it (rows or codes, as in `split`) and the
    branch of the lower values; for a table, which has room from table_start on, n_codes codes and their branches.
    """
    cdef Py_ssize_t s
    cdef SurrogateContext context
    cdef bint ok = open_context(grower, &context, tables, side, weight, weight_tolerance, list_scratch)
    if ok:
        with nogil:
            for s in range(s0, s1):
                if grower.by_threshold(attribute[s]):
                    describe_threshold(
                        grower, level, node[s], attribute[s], cut[s], &context, &neighbours[s, 0], &low[s])
                    n_codes[s] = 0
                    if grower.shape[attribute[s]] == ORDERED:
                        n_codes[s] = grower.n_codes[attribute[s]] - 1
                        fill_ordered(
                            n_codes[s], &neighbours[s, 0], low[s], &table_codes[table_start[s]],
                            &table_branch[table_start[s]])
                else:
                    n_codes[s] = fill_categories(
                        count_sides(grower, level, node[s], attribute[s], &context), &context,
                        &table_codes[table_start[s]], &table_branch[table_start[s]])
    close_context(&context)
    return ok


cdef void describe_threshold(
    Grower grower, Level level, int64_t node, int64_t attribute, int64_t cut, SurrogateContext* context,
    int64_t* neighbours,
    int32_t* low
) noexcept nogil:
    cdef const uint64_t* entries = grower.rows_of(level, node, attribute)
    cdef const uint8_t* codes = grower.codes_of(attribute)
    cdef bint as_row = codes == NULL and grower.shape[attribute] == THRESHOLD
    cdef int64_t i, code, largest_left = 0, smallest_right = -1, lower_left = 0, w
    cdef uint32_t branch
    for i in range(level.n_rows[node]):
        branch = branch_of(&grower.branch_ids, entries[i])
        code = grower.code_of(entries[i], codes)
        if branch == NO_BRANCH or code == 0:
            continue
        w = weight_of(context.gather, &context.rows, entries[i])
        if code > cut:
            if smallest_right < 0 or code < smallest_right:
                smallest_right = code
                neighbours[1] = row_at(True, &grower.rows, entries[i]) if as_row else code
        else:
            lower_left += w if branch == 0 else -w
            if code > largest_left:
                largest_left = code
                neighbours[0] = row_at(True, &grower.rows, entries[i]) if as_row else code
    low[0] = lower_left < 0


cdef int64_t fill_categories(
    int64_t n_cells, const SurrogateContext* context, uint32_t* codes, uint32_t* branch
) noexcept nogil:
    cdef int64_t index, n = 0
    for index in range(1, n_cells):
        if context.histogram[2 * index] + context.histogram[2 * index + 1] > 0:
            codes[n] = context.code[index]
            branch[n] = context.histogram[2 * index + 1] > context.histogram[2 * index] + context.weight_tolerance
            n += 1
    return n


def set_missing_branches(
    Grower grower, Level level, const int64_t[::1] nodes, Py_ssize_t n0, Py_ssize_t n1, const int64_t[::1] attribute,
    const int64_t[::1] first_child, const int64_t[::1] n_unassigned, const int64_t[::1] surrogates,
    const int64_t[::1] surrogate, const int64_t[::1] cut, const int32_t[::1] low, const int64_t[::1] table_start,
    const int64_t[::1] n_codes, const uint32_t[::1] table_codes,
    const uint32_t[::1] table_branch, const int64_t[::1] heaviest, int64_t[::1] child_rows,
    int64_t[:, ::1] child_counts,
):
    """Set the branch of rows without one by the first surrogate whose value they have, else to the heaviest branch.
    surrogates[i]..surrogates[i + 1] are those of split i."""
    cdef Py_ssize_t i, s
    cdef int64_t left
    with nogil:
        for i in range(n0, n1):
            left = n_unassigned[i]
            for s in range(surrogates[i], surrogates[i + 1]):
                if left == 0:
                    break
                if n_codes[s] == 0:
                    left -= set_branches_by(
                        grower, level, nodes[i], surrogate[s], cut[s], low[s], NULL, NULL, 0, first_child[i],
                        child_rows, child_counts)
                else:
                    left -= set_branches_by(
                        grower, level, nodes[i], surrogate[s], 0, 0, &table_codes[table_start[s]],
                        &table_branch[table_start[s]], n_codes[s], first_child[i], child_rows, child_counts)
            if left > 0:    # whatever the attribute, all the rows stand in its list
                set_branches_by(
                    grower, level, nodes[i], attribute[i], -1, <int32_t>(1 - heaviest[i]), NULL, NULL, 0,
                    first_child[i], child_rows, child_counts)


cdef int64_t set_branches_by(
    Grower grower, Level level, int64_t node, int64_t attribute, int64_t cut, int32_t low, const uint32_t* table_codes,
    const uint32_t* table_branch, int64_t n_codes, int64_t first, int64_t[::1] child_rows,
    int64_t[:, ::1] child_counts,
) noexcept nogil:
    """Set the branch of those rows without one that have a value of the attribute (cut -1: of all, to the upper
    branch). Returns how many there were."""
    cdef const uint64_t* entries = grower.rows_of(level, node, attribute)
    cdef const uint8_t* codes = grower.codes_of(attribute)
    cdef int64_t i, code, index, n_set = 0
    cdef uint32_t branch
    for i in range(level.n_rows[node]):
        if branch_of(&grower.branch_ids, entries[i]) != NO_BRANCH:
            continue
        code = grower.code_of(entries[i], codes)
        if code == 0 and cut >= 0:
            continue
        if table_codes == NULL:
            branch = low ^ (code > cut)
        else:
            index = find_code(table_codes, 0, n_codes, code)
            if index < 0:
                continue
            branch = table_branch[index]
        set_branch(&grower.branch_ids, entries[i], branch)
        child_rows[first + branch] += 1
        add_to_child(grower, entries[i], &child_counts[first + branch, 0])
        n_set += 1
    return n_set


def note_sides(Grower grower, Level level, const int64_t[::1] nodes, const int64_t[::1] attribute, uint32_t[::1] side):
    """side[row] := the branch that it takes, where the surrogates must look it up by row."""
    cdef Py_ssize_t i, j
    cdef const uint64_t* entries
    with nogil:
        for i in range(nodes.shape[0]):
            entries = grower.rows_of(level, nodes[i], attribute[i])
            for j in range(level.n_rows[nodes[i]]):
                side[<uint32_t>entries[j]] = branch_of(&grower.branch_ids, entries[j])
