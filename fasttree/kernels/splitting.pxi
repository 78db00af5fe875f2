# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: splits that were accepted, their children, and the branch of every row.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memset

from fasttree.kernels.alloc cimport calloc, free, malloc
from fasttree.kernels.categories cimport (
    CategoryStats, free_category_stats, new_category_stats, stats_of_histogram, stats_of_runs,
)
from fasttree.kernels.criteria cimport SQUARED_ERROR, Criterion, llrint, weight_of_stats
from fasttree.kernels.partition cimport NO_BRANCH, branch_of, scatter_list, set_branch
from fasttree.kernels.search cimport BestSplit, NodeStats, NodeView, Split, add_stats, class_of, row_at, weight_of
from fasttree.kernels.wide cimport Wide, wide_difference, wide_part, wide_quotient, wide_sum


def split_nodes(
    Grower grower, Level level, const int64_t[::1] nodes, Py_ssize_t n0, Py_ssize_t n1, const int64_t[::1] attribute,
    const Split[::1] split, const int64_t[::1] first_child, const int64_t[::1] table_start,
    int64_t[::1] child_rows, int64_t[:, ::1] child_counts, uint32_t[::1] table_codes,
    uint32_t[::1] table_branch, int64_t[:, ::1] neighbours, int32_t[::1] missing_branch, int64_t[::1] n_unassigned,
    const uint64_t[:, :, ::1] node_exact, uint64_t[:, :, ::1] child_exact,
):
    """Describe the children of the best splits and set the branch of every row.

    `nodes` are children of `level`. neighbours[i]: for a presorted numeric attribute the rows with the largest value
    on the left and the smallest on the right (-1: only missing values there), for others their codes.
    missing_branch[i]: the branch of the rows with a missing value, -1 if there is none; n_unassigned[i]: how
    many of them are to be distributed fractionally over the branches, and are not yet among the children's.
    node_exact[node, class]: the counts of the level in two words, child_exact[child, class] := those of the children;
    both None if no rows are distributed fractionally. False: no memory; what was written is of no use then, since rows
    of the last node do not know their branches.
    """
    cdef Py_ssize_t i
    cdef NodeStats node_stats
    cdef bint ok = True
    with nogil:
        for i in range(n0, n1):
            if grower.by_threshold(attribute[i]):
                missing_branch[i] = split_threshold(
                    grower, grower.rows_of(level, nodes[i], attribute[i]), level.n_rows[nodes[i]], attribute[i],
                    grower.codes_of(attribute[i]), &split[i], &grower.branch_ids, &neighbours[i, 0])
                if grower.shape[attribute[i]] == ORDERED:
                    fill_ordered(
                        table_start[i + 1] - table_start[i], &neighbours[i, 0], 0, &table_codes[table_start[i]],
                        &table_branch[table_start[i]])
            else:
                node_stats = level.stats(nodes[i])
                ok = split_table(
                    grower, &node_stats, grower.rows_of(level, nodes[i], attribute[i]), level.n_rows[nodes[i]],
                    attribute[i], grower.codes_of(attribute[i]), &split[i], table_start[i + 1] - table_start[i],
                    &grower.branch_ids, &table_codes[table_start[i]], &table_branch[table_start[i]],
                    &missing_branch[i])
                if not ok:
                    break
            if child_exact is None:
                n_unassigned[i] = count_children(
                    grower, grower.rows_of(level, nodes[i], attribute[i]), level.n_rows[nodes[i]], &grower.branch_ids,
                    &child_rows[first_child[i]], &child_counts[first_child[i], 0])
            else:
                n_unassigned[i] = count_exactly(
                    grower, level, nodes[i], attribute[i], first_child[i], first_child[i + 1], node_exact, child_rows,
                    child_counts, child_exact)
    return ok


def distribute_rows(
    Grower grower, Level level, const int64_t[::1] nodes, Py_ssize_t n0, Py_ssize_t n1, const int64_t[::1] attribute,
    const int64_t[::1] first_child, const int64_t[::1] n_filled, const int64_t[::1] n_unassigned,
    const double[::1] known, const uint64_t[::1] pull, const int64_t[::1] first_copy, int64_t[::1] child_rows,
    int64_t[:, ::1] child_counts, uint64_t[:, :, ::1] child_exact,
):
    """Distribute the rows with a missing value fractionally over the branches that have rows, in proportion to their
    weights `known`. Copies take numbers from first_copy[node] on; the last branch takes what rounding leaves.

    child_exact[child, class]: the counts in two words. `pull`: by what class weights are multiplied to see how much a
    branch draws, in 2^-64; None: all by the same. Returns False without memory.
    """
    cdef Py_ssize_t i
    cdef int64_t most = 1
    for i in range(n0, n1):
        most = max(most, n_filled[i])
    cdef Wide* part = <Wide*>malloc(most * sizeof(Wide))
    if part == NULL:
        return False
    with nogil:
        for i in range(n0, n1):
            if n_unassigned[i] == 0:
                continue
            take_parts(
                grower.tables.criterion.n_classes, <Wide*>&child_exact[first_child[i], 0, 0], n_filled[i],
                &pull[0] if pull is not None else NULL, part)
            distribute_node(
                grower, level, nodes[i], attribute[i], first_child[i], n_filled[i], &known[first_child[i]], part,
                first_copy[i], child_rows, child_counts, child_exact)
    free(part)
    return True


def scatter_rows(
    Grower grower, Level level, const int64_t[::1] nodes, Py_ssize_t n0, Py_ssize_t n1, const int64_t[::1] first_child,
    const int64_t[::1] n_filled, const int64_t[::1] row_start,
):
    """Write the next row list: each child's rows from `row_start` on. Returns False without memory."""
    cdef Py_ssize_t i
    cdef int64_t most = 1
    for i in range(n0, n1):
        most = max(most, first_child[i + 1] - first_child[i])
    cdef int64_t* cursor = <int64_t*>malloc(most * sizeof(int64_t))
    cdef int32_t* all_grow = <int32_t*>calloc(most, sizeof(int32_t))
    if cursor == NULL or all_grow == NULL:
        free(cursor)
        free(all_grow)
        return False
    with nogil:
        for i in range(n0, n1):
            scatter_list(
                &grower.row_list[level.row_start[nodes[i]]], level.n_rows[nodes[i]], &grower.branch_ids,
                &grower.instances,
                first_child[i + 1] - first_child[i], n_filled[i], &row_start[first_child[i]], all_grow,
                &grower.next_row_list[0], cursor)
    free(cursor)
    free(all_grow)
    return True


cdef int32_t split_threshold(
    Grower grower, const uint64_t* entries, int64_t n, int64_t attribute, const uint8_t* codes, const Split* split,
    const BranchIds* branch_ids, int64_t* neighbours
) noexcept nogil:
    """Tell the rows of a node their sides of a threshold; returns that of rows with a missing value, -1 if there are
    none. `codes`: by row; NULL of entries that are sorted and carry theirs."""
    cdef bint as_row = grower.list_row[attribute] >= 0 and grower.shape[attribute] == THRESHOLD
    cdef int32_t result = -1
    cdef int64_t i, code
    cdef int64_t largest_left = 0, smallest_right = -1
    neighbours[0] = -1
    neighbours[1] = -1
    for i in range(n):
        code = grower.code_of(entries[i], codes)
        if code == 0:
            if grower.sets_aside:
                set_branch(branch_ids, entries[i], NO_BRANCH)
            else:
                set_branch(branch_ids, entries[i], <uint32_t>split.missing_branch)
                result = split.missing_branch
            continue
        set_branch(branch_ids, entries[i], code > split.code)
        if code > split.code:
            if smallest_right < 0 or code < smallest_right:
                smallest_right = code
                neighbours[1] = row_at(True, &grower.rows, entries[i]) if as_row else code
        elif code > largest_left:
            largest_left = code
            neighbours[0] = row_at(True, &grower.rows, entries[i]) if as_row else code
    return result


cdef void fill_ordered(
    int64_t n, const int64_t* neighbours, int32_t low, uint32_t* codes, uint32_t* branch
) noexcept nogil:
    """All the levels of an ordered attribute; those in between go with the nearer neighbour, the lower of two."""
    cdef int64_t code
    for code in range(1, n + 1):
        codes[code - 1] = <uint32_t>code
        branch[code - 1] = low ^ (neighbours[1] >= 0 and 2 * code > neighbours[0] + neighbours[1])


cdef bint split_table(
    Grower grower, const NodeStats* node_stats, const uint64_t* entries, int64_t n, int64_t attribute,
    const uint8_t* codes, const Split* split, int64_t n_present, const BranchIds* branch_ids, uint32_t* table_codes,
    uint32_t* table_branch, int32_t* missing_branch,
) noexcept nogil:
    """Write down the table of a split by levels, and tell every row its branch. `codes`: by row; NULL of entries that
    are sorted and carry theirs. False: no memory."""
    cdef int64_t i, index = -1, code, last = -1
    cdef uint32_t[256] branch_of_code
    cdef uint32_t branch = 0
    missing_branch[0] = -1
    if grower.shape[attribute] == MULTIWAY:
        list_values(grower, entries, n, codes, split, table_codes, table_branch, missing_branch)
    elif not form_sets(
        grower, node_stats, entries, n, attribute, codes, n_present, table_codes, table_branch, missing_branch
    ):
        return False
    if codes != NULL:
        for i in range(n_present):
            branch_of_code[table_codes[i]] = table_branch[i]
    for i in range(n):
        code = grower.code_of(entries[i], codes)
        if code == 0:
            branch = NO_BRANCH if grower.sets_aside else <uint32_t>missing_branch[0]
        elif codes != NULL:
            branch = branch_of_code[code]
        elif code != last:
            index += 1
            last = code
            branch = table_branch[index]
        set_branch(branch_ids, entries[i], branch)
    return True


cdef void list_values(
    Grower grower, const uint64_t* entries, int64_t n, const uint8_t* codes, const Split* split, uint32_t* table_codes,
    uint32_t* table_branch, int32_t* missing_branch,
) noexcept nogil:
    """A branch for every value present."""
    cdef uint8_t[256] is_present
    cdef int64_t i, code, last = -1, n_candidates = n
    cdef uint32_t index = 0
    if codes != NULL:
        memset(is_present, 0, 256)
        for i in range(n):
            is_present[grower.code_of(entries[i], codes)] = True
        n_candidates = 256
    for i in range(n_candidates):
        code = i if codes != NULL else grower.code_of(entries[i], codes)
        if code == last or codes != NULL and not is_present[code]:
            continue
        last = code
        if code > 0:
            table_codes[index] = <uint32_t>code
            table_branch[index] = index
            index += 1
        elif not grower.sets_aside:
            missing_branch[0] = split.missing_branch


cdef bint form_sets(
    Grower grower, const NodeStats* node_stats, const uint64_t* entries, int64_t n, int64_t attribute,
    const uint8_t* codes, int64_t n_present, uint32_t* table_codes, uint32_t* table_branch, int32_t* missing_branch,
) noexcept nogil:
    """The search for subsets or groups again, now for which value is in which. False: no memory."""
    cdef int64_t* histogram
    cdef int64_t i
    cdef bint ok
    if codes == NULL:
        return search_sets_again(
            grower, node_stats, entries, n, attribute, NULL, n_present, table_codes, table_branch, missing_branch)
    histogram = <int64_t*>calloc(256 * grower.tables.criterion.n_classes, sizeof(int64_t))
    if histogram == NULL:
        return False
    for i in range(n):
        add_stats(
            grower.tables.criterion.kind, &grower.rows, entries[i], 1,
            histogram + grower.code_of(entries[i], codes) * grower.tables.criterion.n_classes)
    ok = search_sets_again(
        grower, node_stats, NULL, n, attribute, histogram, n_present, table_codes, table_branch, missing_branch)
    free(histogram)
    return ok


cdef bint search_sets_again(
    Grower grower, const NodeStats* node_stats, const uint64_t* entries, int64_t n, int64_t attribute,
    const int64_t* histogram, int64_t n_present, uint32_t* table_codes, uint32_t* table_branch,
    int32_t* missing_branch,
) noexcept nogil:
    """The sets of the best split of a node, from its n sorted entries or from a histogram of 256 codes."""
    cdef const Criterion* criterion = &grower.tables.criterion
    cdef NodeView view
    cdef BestSplit best
    cdef bint ok, shares = grower.sets_aside
    cdef bint grouped = grower.shape[attribute] == GROUPED
    cdef int64_t i, n_missing = 0, index = 0
    cdef uint32_t branch
    cdef int64_t* scratch = <int64_t*>malloc((4 * criterion.n_classes + 2) * sizeof(int64_t))
    cdef uint8_t* goes_left = <uint8_t*>malloc(n_present + 2)
    cdef int64_t* group_of = <int64_t*>malloc((n_present + 2 if grouped else 1) * sizeof(int64_t))
    cdef CategoryStats* stats = new_category_stats(n_present + 1, criterion.n_classes, True)
    ok = scratch != NULL and goes_left != NULL and group_of != NULL and stats != NULL
    if ok:
        grower.describe_node(node_stats, attribute, scratch, &view)
        if histogram == NULL:
            if shares:
                n_missing = grower.count_missing(entries, n, scratch + 2 * criterion.n_classes, &view)
            stats_of_runs(stats, criterion, &grower.rows, entries + n_missing, n - n_missing)
        else:
            stats_of_histogram(stats, criterion, histogram, shares, 256)
            if shares:
                view.missing = histogram
                view.n_missing = weight_of_stats(criterion.kind, criterion, histogram)
        if shares and view.n_missing > 0:
            grower.set_missing_aside(&view, scratch + 3 * criterion.n_classes)
        ok = grower.scan_sets(attribute, stats, &view, scratch, &best, goes_left, group_of)
        for i in range(stats.n if ok else 0):
            branch = <uint32_t>group_of[i] if grouped else 1 - goes_left[i]
            if stats.code[i] == 0:
                missing_branch[0] = <int32_t>branch
                continue
            table_codes[index] = stats.code[i]
            table_branch[index] = branch
            index += 1
    free(scratch)
    free(goes_left)
    free(group_of)
    free_category_stats(stats)
    return ok


cdef int64_t count_children(
    Grower grower, const uint64_t* entries, int64_t n, const BranchIds* branch_ids, int64_t* child_rows,
    int64_t* child_counts,
) noexcept nogil:
    """Rows and class counts of a node's children; returns how many rows are still to be distributed fractionally."""
    cdef int64_t i, n_unassigned = 0, n_stats = grower.tables.criterion.n_classes
    cdef uint32_t branch
    for i in range(n):
        branch = branch_of(branch_ids, entries[i])
        if branch == NO_BRANCH:
            n_unassigned += 1
            continue
        child_rows[branch] += 1
        add_to_child(grower, entries[i], child_counts + branch * n_stats)
    return n_unassigned


cdef inline void add_to_child(Grower grower, uint64_t entry, int64_t* stats) noexcept nogil:
    """A row joins the statistic of a child."""
    if grower.rows.target != NULL:
        add_stats(SQUARED_ERROR, &grower.rows, entry, 1, stats)
    else:
        stats[class_of(grower.gather, &grower.rows, entry)] += weight_of(grower.gather, &grower.rows, entry)


cdef extern from "kernels/isa.h" nogil:
    void prefetch "FT_PREFETCH" (const void* at) noexcept

cdef enum:
    BLOCK = 64  # rows whose memory is asked for at once


cdef int64_t count_exactly(
    Grower grower, Level level, int64_t node, int64_t attribute, int64_t first, int64_t end,
    const uint64_t[:, :, ::1] node_exact, int64_t[::1] child_rows, int64_t[:, ::1] child_counts,
    uint64_t[:, :, ::1] child_exact,
) noexcept nogil:
    """`count_children` with the counts in two words beside. The rows of the largest child are not looked at: its counts
    are what the other rows leave of the node's."""
    cdef const uint64_t* entries = grower.rows_of(level, node, attribute)
    cdef int64_t n = level.n_rows[node], i, k, child, n_found, n_unassigned = 0, largest = first, weight
    cdef uint32_t branch, label
    cdef uint64_t[BLOCK] found
    cdef Wide exact
    cdef Wide* count
    for i in range(n):
        branch = branch_of(&grower.branch_ids, entries[i])
        if branch == NO_BRANCH:
            n_unassigned += 1
        else:
            child_rows[first + branch] += 1
    for child in range(first + 1, end):
        if child_rows[child] > child_rows[largest]:
            largest = child
    for label in range(<uint32_t>level.counts.shape[1]):
        child_counts[largest, label] = level.counts[node, label]
        child_exact[largest, label, 0] = node_exact[node, label, 0]
        child_exact[largest, label, 1] = node_exact[node, label, 1]
    i = 0
    while i < n:
        n_found = find_rows(&grower.branch_ids, entries, n, <uint32_t>(largest - first), False, found, &i)
        for k in range(n_found):
            prefetch(&grower.instances.weight[<uint32_t>found[k]])
            prefetch(&grower.instances.exact[<uint32_t>found[k]])
        for k in range(n_found):
            branch = branch_of(&grower.branch_ids, found[k])
            label = class_of(grower.gather, &grower.rows, found[k])
            weight = grower.instances.weight[<uint32_t>found[k]]
            exact = grower.instances.exact[<uint32_t>found[k]]
            child_counts[largest, label] -= weight
            count = <Wide*>&child_exact[largest, label, 0]
            count[0] = wide_difference(count[0], exact)
            if branch != NO_BRANCH:
                child_counts[first + branch, label] += weight
                count = <Wide*>&child_exact[first + branch, label, 0]
                count[0] = wide_sum(count[0], exact)
    return n_unassigned


cdef inline int64_t find_rows(
    const BranchIds* branch_ids, const uint64_t* entries, int64_t n, uint32_t branch, bint takes_it, uint64_t* found,
    int64_t* i
) noexcept nogil:
    """The next rows of a branch, or of the others, from the i-th of n on, as many as `found` has room for; returns how
    many. `i` goes on to where the search ended."""
    cdef int64_t n_found = 0, at = i[0]
    while at < n and n_found < BLOCK:
        found[n_found] = entries[at]
        n_found += (branch_of(branch_ids, entries[at]) == branch) == takes_it
        at += 1
    i[0] = at
    return n_found


cdef inline void add_exactly(
    const Instances* instances, uint32_t number, int64_t child, uint64_t[:, :, ::1] child_exact
) noexcept nogil:
    cdef Wide* count = <Wide*>&child_exact[child, instances.y[number], 0]
    count[0] = wide_sum(count[0], instances.exact[number])


cdef void take_parts(
    int n_classes, const Wide* counts, int64_t n, const uint64_t* pull, Wide* part
) noexcept nogil:
    """part[b] := how much of all that branches draw their counts do, as a fraction of 2^128; not of the last one."""
    cdef int64_t b
    cdef int c
    cdef Wide total = Wide(0, 0), fraction
    for b in range(n):
        part[b] = Wide(0, 0)
        for c in range(n_classes):
            fraction = counts[b * n_classes + c]
            if pull != NULL:
                fraction = wide_part(fraction, Wide(pull[c], 0))
            part[b] = wide_sum(part[b], fraction)
        total = wide_sum(total, part[b])
    for b in range(n - 1):
        part[b] = wide_quotient(part[b], total)


cdef void distribute_node(
    Grower grower, Level level, int64_t node, int64_t attribute, int64_t first, int64_t n_filled, const double* known,
    const Wide* parts, int64_t copy, int64_t[::1] child_rows, int64_t[:, ::1] child_counts,
    uint64_t[:, :, ::1] child_exact,
) noexcept nogil:
    cdef const uint64_t* entries = grower.rows_of(level, node, attribute)
    cdef int64_t i = 0, k, b, n_found, weight, left, part
    cdef double total = 0.0
    cdef Wide exact, exact_left
    cdef uint32_t instance, number
    cdef uint64_t[BLOCK] found
    for b in range(n_filled):
        total += known[b]
    while i < level.n_rows[node]:
        n_found = find_rows(&grower.branch_ids, entries, level.n_rows[node], NO_BRANCH, True, found, &i)
        for k in range(n_found):
            prefetch(&grower.instances.weight[<uint32_t>found[k]])
            prefetch(&grower.instances.exact[<uint32_t>found[k]])
            prefetch(&grower.instances.first_copy[<uint32_t>found[k]])
            prefetch(&grower.instances.row_of[<uint32_t>found[k]])
        for k in range(n_found):
            instance = <uint32_t>found[k]
            weight = grower.instances.weight[instance]
            left = weight
            exact = grower.instances.exact[instance]
            exact_left = exact
            grower.instances.first_copy[instance] = <uint32_t>copy
            for b in range(n_filled):
                part = left
                if b < n_filled - 1:
                    part = <int64_t>llrint(<double>weight * (known[b] / total))
                    part = part if part < left else left
                left -= part
                number = instance
                if b > 0:
                    number = <uint32_t>copy
                    copy += 1
                    grower.instances.y[number] = grower.instances.y[instance]
                    grower.instances.row_of[number] = grower.instances.row_of[instance]
                grower.instances.weight[number] = part
                grower.instances.exact[number] = exact_left
                if b < n_filled - 1:
                    grower.instances.exact[number] = wide_part(exact, parts[b])
                    exact_left = wide_difference(exact_left, grower.instances.exact[number])
                if part > 0:
                    add_exactly(&grower.instances, number, first + b, child_exact)
                child_counts[first + b, grower.instances.y[instance]] += part
                child_rows[first + b] += part > 0
