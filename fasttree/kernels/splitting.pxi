# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: splits that were accepted, their children, and the branch of every row.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memset

from fasttree.kernels.alloc cimport calloc, free, malloc
from fasttree.kernels.categories cimport (
    PLACE_SHIFT, Buckets, buckets_of_histogram, buckets_of_runs, free_buckets, new_buckets,
)
from fasttree.kernels.criteria cimport Ruler, llrint
from fasttree.kernels.partition cimport SHARED, branch_of, deal_list, send
from fasttree.kernels.search cimport MISSING_LEFT, Best, Node, class_of, row_at, weight_of
from fasttree.kernels.wide cimport Wide, wide_difference, wide_part, wide_quotient, wide_sum


def split_nodes(
    Growth growth, Level level, const int64_t[::1] nodes, Py_ssize_t n0, Py_ssize_t n1, const int64_t[::1] attribute,
    const int64_t[::1] cut, const int64_t[::1] first_child, const int64_t[::1] table_start,
    int64_t[::1] child_rows, int64_t[:, ::1] child_counts, uint32_t[::1] table_codes,
    uint32_t[::1] table_branch, int64_t[:, ::1] neighbours, int32_t[::1] missing_branch, int64_t[::1] n_shared,
):
    """Describe the children of the winners and tell every row its branch.

    `nodes` are children of `level`. neighbours[i]: for a swept numeric attribute the rows with the largest value
    on the left and the smallest on the right (-1: only missing values there), for others their codes.
    missing_branch[i]: the branch of the rows that do not know the attribute, -1 if there is none; n_shared[i]: how
    many of them are to be shared out over the branches, and are not yet among the children's. False: no memory; what
    was written is of no use then, since rows of the last node do not know their branches.
    """
    cdef Py_ssize_t i
    cdef bint fine = True
    with nogil:
        for i in range(n0, n1):
            if growth.by_threshold(attribute[i]):
                missing_branch[i] = split_threshold(
                    growth, level, nodes[i], attribute[i], cut[i], &neighbours[i, 0])
                if growth.shape[attribute[i]] == ORDERED:
                    fill_ordered(
                        table_start[i + 1] - table_start[i], &neighbours[i, 0], 0, &table_codes[table_start[i]],
                        &table_branch[table_start[i]])
            else:
                fine = split_table(
                    growth, level, nodes[i], attribute[i], cut[i], table_start[i + 1] - table_start[i],
                    &table_codes[table_start[i]], &table_branch[table_start[i]], &missing_branch[i])
                if not fine:
                    break
            n_shared[i] = count_children(
                growth, level, nodes[i], attribute[i], first_child[i], child_rows, child_counts)
    return fine


def share_rows(
    Growth growth, Level level, const int64_t[::1] nodes, Py_ssize_t n0, Py_ssize_t n1, const int64_t[::1] attribute,
    const int64_t[::1] first_child, const int64_t[::1] n_filled, const double[::1] known, const uint64_t[::1] pull,
    const int64_t[::1] first_copy, int64_t[::1] child_rows, int64_t[:, ::1] child_counts,
    uint64_t[:, :, ::1] child_exact,
):
    """Share the rows that do not know the attribute out over the branches that have rows, in proportion to their
    weights `known`. Copies take numbers from first_copy[node] on; the last branch takes what rounding leaves.

    child_exact[child, class] := the counts in two words. `pull`: by what class weights are multiplied to see how much a
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
            count_exactly(growth, level, nodes[i], attribute[i], first_child[i], child_exact)
            take_parts(
                growth.measure.ruler.n_classes, <Wide*>&child_exact[first_child[i], 0, 0], n_filled[i],
                &pull[0] if pull is not None else NULL, part)
            share_node(
                growth, level, nodes[i], attribute[i], first_child[i], n_filled[i], &known[first_child[i]], part,
                first_copy[i], child_rows, child_counts, child_exact)
    free(part)
    return True


def hand_on(
    Growth growth, Level level, const int64_t[::1] nodes, Py_ssize_t n0, Py_ssize_t n1, const int64_t[::1] first_child,
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
            deal_list(
                &growth.row_list[level.row_start[nodes[i]]], level.n_rows[nodes[i]], &growth.sides, &growth.instances,
                first_child[i + 1] - first_child[i], n_filled[i], &row_start[first_child[i]], all_grow,
                &growth.next_row_list[0], cursor)
    free(cursor)
    free(all_grow)
    return True


cdef int32_t split_threshold(
    Growth growth, Level level, int64_t node, int64_t attribute, int64_t cut, int64_t* neighbours
) noexcept nogil:
    cdef const uint64_t* entries = growth.rows_of(level, node, attribute)
    cdef const uint8_t* codes = growth.codes_of(attribute)
    cdef bint as_row = codes == NULL and growth.shape[attribute] == THRESHOLD
    cdef uint32_t missing_branch = 0 if cut & MISSING_LEFT else 1
    cdef int32_t result = -1
    cdef int64_t n = level.n_rows[node], i, code
    cdef int64_t largest_left = 0, smallest_right = -1
    cut &= MISSING_LEFT - 1
    neighbours[0] = -1
    neighbours[1] = -1
    for i in range(n):
        code = growth.code_of(entries[i], codes)
        if code == 0:
            if growth.sets_aside:
                send(&growth.sides, entries[i], SHARED)
            else:
                send(&growth.sides, entries[i], missing_branch)
                result = <int32_t>missing_branch
            continue
        send(&growth.sides, entries[i], code > cut)
        if code > cut:
            if smallest_right < 0 or code < smallest_right:
                smallest_right = code
                neighbours[1] = row_at(True, &growth.rows, entries[i]) if as_row else code
        elif code > largest_left:
            largest_left = code
            neighbours[0] = row_at(True, &growth.rows, entries[i]) if as_row else code
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
    Growth growth, Level level, int64_t node, int64_t attribute, int64_t cut, int64_t n_present,
    uint32_t* table_codes, uint32_t* table_branch, int32_t* missing_branch,
) noexcept nogil:
    """Write down the table of a split by levels, and tell every row its branch."""
    cdef const uint64_t* entries = growth.rows_of(level, node, attribute)
    cdef const uint8_t* codes = growth.codes_of(attribute)
    cdef int64_t n = level.n_rows[node], i, place = -1, code, last = -1
    cdef uint32_t[256] branch_of_code
    cdef uint32_t branch = 0
    missing_branch[0] = -1
    if growth.shape[attribute] == MULTIWAY:
        list_values(growth, entries, n, codes, cut, table_codes, table_branch, missing_branch)
    elif not form_sets(
        growth, level, node, attribute, entries, codes, n_present, table_codes, table_branch, missing_branch
    ):
        return False
    if codes != NULL:
        for i in range(n_present):
            branch_of_code[table_codes[i]] = table_branch[i]
    for i in range(n):
        code = growth.code_of(entries[i], codes)
        if code == 0:
            branch = SHARED if growth.sets_aside else <uint32_t>missing_branch[0]
        elif codes != NULL:
            branch = branch_of_code[code]
        elif code != last:
            place += 1
            last = code
            branch = table_branch[place]
        send(&growth.sides, entries[i], branch)
    return True


cdef void list_values(
    Growth growth, const uint64_t* entries, int64_t n, const uint8_t* codes, int64_t cut, uint32_t* table_codes,
    uint32_t* table_branch, int32_t* missing_branch,
) noexcept nogil:
    """A branch for every value present."""
    cdef uint8_t[256] is_present
    cdef int64_t i, code, last = -1, n_candidates = n
    cdef uint32_t place = 0
    if codes != NULL:
        memset(is_present, 0, 256)
        for i in range(n):
            is_present[growth.code_of(entries[i], codes)] = True
        n_candidates = 256
    for i in range(n_candidates):
        code = i if codes != NULL else growth.code_of(entries[i], codes)
        if code == last or codes != NULL and not is_present[code]:
            continue
        last = code
        if code > 0:
            table_codes[place] = <uint32_t>code
            table_branch[place] = place
            place += 1
        elif not growth.sets_aside:
            missing_branch[0] = <int32_t>((cut >> PLACE_SHIFT) - 1)


cdef bint form_sets(
    Growth growth, Level level, int64_t node, int64_t attribute, const uint64_t* entries, const uint8_t* codes,
    int64_t n_present, uint32_t* table_codes, uint32_t* table_branch, int32_t* missing_branch,
) noexcept nogil:
    """The search for subsets or groups again, now for which value is in which. False: no memory."""
    cdef const Ruler* ruler = &growth.measure.ruler
    cdef Node about
    cdef Best best
    cdef bint fine, shares = growth.sets_aside
    cdef bint grouped = growth.shape[attribute] == GROUPED
    cdef int64_t n = level.n_rows[node], i, n_missing = 0, place = 0
    cdef uint32_t branch
    cdef int64_t* work = <int64_t*>malloc((4 * ruler.n_classes + 2) * sizeof(int64_t))
    cdef int64_t* histogram = <int64_t*>calloc(256 * ruler.n_classes if codes != NULL else 1, sizeof(int64_t))
    cdef uint8_t* goes_left = <uint8_t*>malloc(n_present + 2)
    cdef int64_t* group_of = <int64_t*>malloc((n_present + 2 if grouped else 1) * sizeof(int64_t))
    cdef Buckets* b = new_buckets(n_present + 1, ruler.n_classes, True)
    fine = work != NULL and histogram != NULL and goes_left != NULL and group_of != NULL and b != NULL
    if fine:
        growth.describe_node(level, node, attribute, work, &about)
        if codes == NULL:
            if shares:
                n_missing = growth.count_missing(entries, n, work + 2 * ruler.n_classes, &about)
            buckets_of_runs(b, &growth.rows, entries + n_missing, n - n_missing, ruler.n_classes)
        else:
            growth.add(1, entries, n, codes, histogram)
            buckets_of_histogram(b, histogram, shares, 256, ruler.n_classes)
            if shares:
                about.missing = histogram
                for i in range(ruler.n_classes):
                    about.n_missing += histogram[i]
        if shares and about.n_missing > 0:
            growth.set_missing_aside(&about, work + 3 * ruler.n_classes)
        fine = growth.scan_sets(attribute, b, &about, work, &best, goes_left, group_of)
        for i in range(b.n if fine else 0):
            branch = <uint32_t>group_of[i] if grouped else 1 - goes_left[i]
            if b.code[i] == 0:
                missing_branch[0] = <int32_t>branch
                continue
            table_codes[place] = b.code[i]
            table_branch[place] = branch
            place += 1
    free(work)
    free(histogram)
    free(goes_left)
    free(group_of)
    free_buckets(b)
    return fine


cdef int64_t count_children(
    Growth growth, Level level, int64_t node, int64_t attribute, int64_t first, int64_t[::1] child_rows,
    int64_t[:, ::1] child_counts,
) noexcept nogil:
    """Rows and class counts of the children; returns how many rows are still to be shared out."""
    cdef const uint64_t* entries = growth.rows_of(level, node, attribute)
    cdef int64_t n = level.n_rows[node], i, child, n_shared = 0
    cdef uint32_t branch
    for i in range(n):
        branch = branch_of(&growth.sides, entries[i])
        if branch == SHARED:
            n_shared += 1
            continue
        child = first + branch
        child_rows[child] += 1
        child_counts[child, class_of(growth.gather, &growth.rows, entries[i])] += weight_of(
            growth.gather, &growth.rows, entries[i])
    return n_shared


cdef extern from "kernels/isa.h" nogil:
    void prefetch "FT_PREFETCH" (const void* at) noexcept

cdef enum:
    PREFETCHED = 24  # rows ahead


cdef void count_exactly(
    Growth growth, Level level, int64_t node, int64_t attribute, int64_t first, uint64_t[:, :, ::1] child_exact
) noexcept nogil:
    """The class counts of the rows that know their branch."""
    cdef const uint64_t* entries = growth.rows_of(level, node, attribute)
    cdef int64_t i, n = level.n_rows[node]
    cdef uint32_t branch
    cdef Wide* count
    for i in range(n):
        prefetch(&growth.instances.exact[<uint32_t>entries[min(i + PREFETCHED, n - 1)]])
        branch = branch_of(&growth.sides, entries[i])
        if branch != SHARED:
            count = <Wide*>&child_exact[first + branch, class_of(growth.gather, &growth.rows, entries[i]), 0]
            count[0] = wide_sum(count[0], growth.instances.exact[<uint32_t>entries[i]])


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


cdef void share_node(
    Growth growth, Level level, int64_t node, int64_t attribute, int64_t first, int64_t n_filled, const double* known,
    const Wide* parts, int64_t copy, int64_t[::1] child_rows, int64_t[:, ::1] child_counts,
    uint64_t[:, :, ::1] child_exact,
) noexcept nogil:
    cdef const uint64_t* entries = growth.rows_of(level, node, attribute)
    cdef int64_t i, b, weight, left, part
    cdef double total = 0.0
    cdef Wide exact, exact_left
    cdef uint32_t instance, number
    for b in range(n_filled):
        total += known[b]
    for i in range(level.n_rows[node]):
        if branch_of(&growth.sides, entries[i]) != SHARED:
            continue
        instance = <uint32_t>entries[i]
        weight = growth.instances.weight[instance]
        left = weight
        exact = growth.instances.exact[instance]
        exact_left = exact
        growth.instances.first_copy[instance] = <uint32_t>copy
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
                growth.instances.y[number] = growth.instances.y[instance]
                growth.instances.row_of[number] = growth.instances.row_of[instance]
            growth.instances.weight[number] = part
            growth.instances.exact[number] = exact_left
            if b < n_filled - 1:
                growth.instances.exact[number] = wide_part(exact, parts[b])
                exact_left = wide_difference(exact_left, growth.instances.exact[number])
            if part > 0:
                add_exactly(&growth.instances, number, first + b, child_exact)
            child_counts[first + b, growth.instances.y[instance]] += part
            child_rows[first + b] += part > 0
