# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: the search for surrogates, with the side that rows take as their class.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memset

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.criteria cimport INFINITY, MISCLASSIFICATION, Ruler, tolerance
from fasttree.kernels.partition cimport SHARED, Sides, branch_of, send
from fasttree.kernels.routing cimport find_code
from fasttree.kernels.thresholds cimport scan_codes
from fasttree.kernels.search cimport Best, Node, Rows, class_of, row_at, weight_of


cdef struct Stand:
    # What it takes to look at the side that rows take as their class.
    Ruler* ruler
    Rows rows
    bint gather
    uint64_t* spare
    int64_t* histogram
    uint32_t* code  # whose cells they are
    int64_t slack   # weights no further apart are equal


def agreements(
    Growth growth, Level level, const int64_t[::1] nodes, Py_ssize_t n0, Py_ssize_t n1, const int64_t[::1] attribute,
    const int64_t[::1] known, Measure measure, Py_ssize_t a0, Py_ssize_t a1, const uint32_t[::1] side,
    const int64_t[::1] weight, int64_t slack, uint64_t[::1] spare, int64_t[:, ::1] agree, int64_t[:, ::1] cut,
):
    """How well the best split of each attribute a0..a1 tells the side of the rows that know the attribute of a
    node's own split, for the splits n0..n1 of `nodes`.

    agree[a, i - n0]: the weight of the rows that it sends to their side, -1: there is no such split; cut[a, ...]:
    the threshold, for attributes that are split by one. `known` is the weight of the rows whose side is known,
    `side` that side by row, `weight` the weights of the rows or None; weights no further apart than `slack` are equal.
    Returns False without memory.
    """
    cdef Py_ssize_t a, i
    cdef Stand stand
    cdef bint fine = open_stand(growth, &stand, measure, side, weight, slack, spare)
    if fine:
        with nogil:
            for a in range(a0, a1):
                for i in range(n0, n1):
                    agree[a, i - n0] = -1
                    if a != attribute[i]:
                        find_agreement(growth, level, nodes[i], known[i], a, &stand, &agree[a, i - n0], &cut[a, i - n0])
    close_stand(&stand)
    return fine


cdef bint open_stand(
    Growth growth, Stand* stand, Measure measure, const uint32_t[::1] side, const int64_t[::1] weight,
    int64_t slack, uint64_t[::1] spare
) noexcept:
    cdef int64_t most = 0
    cdef Py_ssize_t a
    for a in range(growth.n_codes.shape[0]):
        if not growth.by_threshold(a) or growth.storage[a] < 0:
            most = max(most, growth.n_codes[a])
    stand.ruler = &measure.ruler
    stand.rows = growth.rows
    stand.rows.y = &side[0]
    stand.rows.weight = &weight[0] if weight is not None else NULL
    stand.gather = growth.gather
    stand.spare = &spare[0]
    stand.slack = slack
    stand.histogram = <int64_t*>malloc((2 * most + 2) * sizeof(int64_t))
    stand.code = <uint32_t*>malloc((most + 1) * sizeof(uint32_t))
    return stand.histogram != NULL and stand.code != NULL


cdef void close_stand(Stand* stand) noexcept:
    free(stand.histogram)
    free(stand.code)


cdef void find_agreement(
    Growth growth, Level level, int64_t node, int64_t known, int64_t attribute, Stand* stand, int64_t* agree,
    int64_t* cut
) noexcept nogil:
    cdef Node about
    cdef Best best
    cdef int64_t[2] missing, counts
    cdef int64_t[4] work
    cdef int64_t n, n_missing, c, n_codes = 0, total = 0
    cdef bint swept = growth.storage[attribute] >= 0
    if known < 2 * stand.ruler.min_leaf:
        return
    counts[0] = counts[1] = missing[0] = missing[1] = 0
    n_missing = 0
    n = 0
    if swept and growth.by_threshold(attribute):
        n = list_sides(growth, level, node, attribute, stand, counts, &n_missing)
    else:
        n_codes = count_sides(growth, level, node, attribute, stand)
        for c in range(2, 2 * n_codes):
            counts[c & 1] += stand.histogram[c]
    total = counts[0] + counts[1]
    if total < 2 * stand.ruler.min_leaf:
        return
    if not growth.by_threshold(attribute):
        agree[0] = agree_by_level(n_codes, stand)
        return
    about.counts = counts
    about.total = total
    about.size = total
    about.cost = 0.0
    about.split_base = 0.0
    about.missing = missing
    about.n_missing = 0
    about.lightest = stand.ruler.min_leaf
    about.margin = tolerance(MISCLASSIFICATION, stand.ruler, 0.0, total)
    about.shared = NULL
    about.values = NULL
    clear(&about, &best)
    if swept:
        if (stand.spare[n_missing] ^ stand.spare[n - 1]) >> growth.rows.shift != 0:
            sweep_any(
                stand.ruler, stand.gather, &stand.rows, stand.spare + n_missing, n - n_missing, &about, False, work,
                &best)
    else:
        scan_codes(MISCLASSIFICATION, stand.ruler, stand.histogram, <int>n_codes, &about, False, work, &best)
    if best.score != -INFINITY:
        agree[0] = total + <int64_t>best.score
        cut[0] = best.cut


cdef int64_t list_sides(
    Growth growth, Level level, int64_t node, int64_t attribute, Stand* stand, int64_t* counts, int64_t* n_missing
) noexcept nogil:
    """The rows of a sorted list whose side is known, with that in the place of their class; counts[side] of those
    that know the attribute, and how many entries do not. Returns the number of entries."""
    cdef const uint64_t* entries = growth.rows_of(level, node, attribute)
    cdef uint64_t no_class = ~(<uint64_t>0xFF << 32)
    # Copies: for all that the compiler knows, what is written to `spare` might change the originals.
    cdef Sides sides = growth.sides
    cdef uint64_t* spare = stand.spare
    cdef bint gather = stand.gather
    cdef int shift = growth.rows.shift
    cdef int64_t i, n = 0
    cdef uint32_t branch
    cdef uint64_t entry
    for i in range(level.n_rows[node]):
        entry = entries[i]
        branch = branch_of(&sides, entry)
        if branch == SHARED:
            continue
        if not gather:
            entry = entry & no_class | <uint64_t>branch << 32
        spare[n] = entry
        n += 1
        if entry >> shift == 0:
            n_missing[0] += 1
        else:
            counts[branch] += weight_of(gather, &stand.rows, entry)
    return n


cdef int64_t count_sides(Growth growth, Level level, int64_t node, int64_t attribute, Stand* stand) noexcept nogil:
    """histogram[place, side] of the rows whose side is known, place 0 for missing values. Returns the number of places:
    one for every code, or for those that are there, ascending, where a sorted list tells (and codes may be many)."""
    cdef const uint64_t* entries = growth.rows_of(level, node, attribute)
    cdef const uint8_t* codes = growth.codes_of(attribute)
    cdef int64_t i, code, place = 0, n = 1 if codes == NULL else growth.n_codes[attribute]
    cdef uint32_t branch
    memset(stand.histogram, 0, 2 * n * sizeof(int64_t))
    for i in range(n):
        stand.code[i] = <uint32_t>i
    for i in range(level.n_rows[node]):
        branch = branch_of(&growth.sides, entries[i])
        if branch == SHARED:
            continue
        code = growth.code_of(entries[i], codes)
        if codes != NULL:
            place = code
        elif code != stand.code[place]:
            place = n
            n += 1
            stand.code[place] = <uint32_t>code
            stand.histogram[2 * place] = stand.histogram[2 * place + 1] = 0
        stand.histogram[2 * place + branch] += weight_of(stand.gather, &stand.rows, entries[i])
    return n


cdef int64_t agree_by_level(int64_t n_places, const Stand* stand) noexcept nogil:
    """Every level goes where most of its rows are, the first side at a tie."""
    cdef int64_t place, left, right, agree = 0
    cdef int64_t[2] size
    cdef int side
    size[0] = size[1] = 0
    for place in range(1, n_places):
        left = stand.histogram[2 * place]
        right = stand.histogram[2 * place + 1]
        side = right > left + stand.slack
        size[side] += left + right
        agree += right if side else left
    return agree if size[0] >= stand.ruler.min_leaf and size[1] >= stand.ruler.min_leaf else -1


def describe_surrogates(
    Growth growth, Level level, const int64_t[::1] node, const int64_t[::1] attribute, const int64_t[::1] cut,
    Py_ssize_t s0, Py_ssize_t s1, Measure measure, const uint32_t[::1] side, const int64_t[::1] weight, int64_t slack,
    uint64_t[::1] spare, int64_t[:, ::1] neighbours, int32_t[::1] low, const int64_t[::1] table_start,
    uint32_t[::1] table_codes, uint32_t[::1] table_branch, int64_t[::1] n_codes,
):
    """Write down the surrogates s0..s1: for a threshold what lies beside it (rows or codes, as in `split`) and the
    branch of the lower values; for a table, which has room from table_start on, n_codes codes and their branches.
    """
    cdef Py_ssize_t s
    cdef Stand stand
    cdef bint fine = open_stand(growth, &stand, measure, side, weight, slack, spare)
    if fine:
        with nogil:
            for s in range(s0, s1):
                if growth.by_threshold(attribute[s]):
                    describe_threshold(growth, level, node[s], attribute[s], cut[s], &stand, &neighbours[s, 0], &low[s])
                    n_codes[s] = 0
                    if growth.shape[attribute[s]] == ORDERED:
                        n_codes[s] = growth.n_codes[attribute[s]] - 1
                        fill_ordered(
                            n_codes[s], &neighbours[s, 0], low[s], &table_codes[table_start[s]],
                            &table_branch[table_start[s]])
                else:
                    n_codes[s] = fill_levels(
                        count_sides(growth, level, node[s], attribute[s], &stand), &stand,
                        &table_codes[table_start[s]], &table_branch[table_start[s]])
    close_stand(&stand)
    return fine


cdef void describe_threshold(
    Growth growth, Level level, int64_t node, int64_t attribute, int64_t cut, Stand* stand, int64_t* neighbours,
    int32_t* low
) noexcept nogil:
    cdef const uint64_t* entries = growth.rows_of(level, node, attribute)
    cdef const uint8_t* codes = growth.codes_of(attribute)
    cdef bint as_row = codes == NULL and growth.shape[attribute] == THRESHOLD
    cdef int64_t i, code, largest_left = 0, smallest_right = -1, lower_left = 0, w
    cdef uint32_t branch
    for i in range(level.n_rows[node]):
        branch = branch_of(&growth.sides, entries[i])
        code = growth.code_of(entries[i], codes)
        if branch == SHARED or code == 0:
            continue
        w = weight_of(stand.gather, &stand.rows, entries[i])
        if code > cut:
            if smallest_right < 0 or code < smallest_right:
                smallest_right = code
                neighbours[1] = row_at(True, &growth.rows, entries[i]) if as_row else code
        else:
            lower_left += w if branch == 0 else -w
            if code > largest_left:
                largest_left = code
                neighbours[0] = row_at(True, &growth.rows, entries[i]) if as_row else code
    low[0] = lower_left < 0


cdef int64_t fill_levels(
    int64_t n_places, const Stand* stand, uint32_t* codes, uint32_t* branch
) noexcept nogil:
    cdef int64_t place, n = 0
    for place in range(1, n_places):
        if stand.histogram[2 * place] + stand.histogram[2 * place + 1] > 0:
            codes[n] = stand.code[place]
            branch[n] = stand.histogram[2 * place + 1] > stand.histogram[2 * place] + stand.slack
            n += 1
    return n


def send_missing(
    Growth growth, Level level, const int64_t[::1] nodes, Py_ssize_t n0, Py_ssize_t n1, const int64_t[::1] attribute,
    const int64_t[::1] first_child, const int64_t[::1] n_shared, const int64_t[::1] surrogates,
    const int64_t[::1] surrogate, const int64_t[::1] cut, const int32_t[::1] low, const int64_t[::1] table_start,
    const int64_t[::1] n_codes, const uint32_t[::1] table_codes,
    const uint32_t[::1] table_branch, const int64_t[::1] heaviest, int64_t[::1] child_rows,
    int64_t[:, ::1] child_counts,
):
    """Send the rows without a side where the first surrogate that they know says, else to the heaviest branch.
    surrogates[i]..surrogates[i + 1] are those of split i."""
    cdef Py_ssize_t i, s
    cdef int64_t left
    with nogil:
        for i in range(n0, n1):
            left = n_shared[i]
            for s in range(surrogates[i], surrogates[i + 1]):
                if left == 0:
                    break
                if n_codes[s] == 0:
                    left -= send_by(
                        growth, level, nodes[i], surrogate[s], cut[s], low[s], NULL, NULL, 0, first_child[i],
                        child_rows, child_counts)
                else:
                    left -= send_by(
                        growth, level, nodes[i], surrogate[s], 0, 0, &table_codes[table_start[s]],
                        &table_branch[table_start[s]], n_codes[s], first_child[i], child_rows, child_counts)
            if left > 0:    # whatever the attribute, all the rows stand in its list
                send_by(
                    growth, level, nodes[i], attribute[i], -1, <int32_t>(1 - heaviest[i]), NULL, NULL, 0,
                    first_child[i], child_rows, child_counts)


cdef int64_t send_by(
    Growth growth, Level level, int64_t node, int64_t attribute, int64_t cut, int32_t low, const uint32_t* table_codes,
    const uint32_t* table_branch, int64_t n_codes, int64_t first, int64_t[::1] child_rows,
    int64_t[:, ::1] child_counts,
) noexcept nogil:
    """Send the rows without a side that know the attribute (cut -1: all of them, to the upper branch). Returns how
    many there were."""
    cdef const uint64_t* entries = growth.rows_of(level, node, attribute)
    cdef const uint8_t* codes = growth.codes_of(attribute)
    cdef int64_t i, code, place, n_sent = 0
    cdef uint32_t branch
    for i in range(level.n_rows[node]):
        if branch_of(&growth.sides, entries[i]) != SHARED:
            continue
        code = growth.code_of(entries[i], codes)
        if code == 0 and cut >= 0:
            continue
        if table_codes == NULL:
            branch = low ^ (code > cut)
        else:
            place = find_code(table_codes, 0, n_codes, code)
            if place < 0:
                continue
            branch = table_branch[place]
        send(&growth.sides, entries[i], branch)
        child_rows[first + branch] += 1
        child_counts[first + branch, class_of(growth.gather, &growth.rows, entries[i])] += weight_of(
            growth.gather, &growth.rows, entries[i])
        n_sent += 1
    return n_sent


def note_sides(Growth growth, Level level, const int64_t[::1] nodes, const int64_t[::1] attribute, uint32_t[::1] side):
    """side[row] := the branch that it takes, where the surrogates must look it up by row."""
    cdef Py_ssize_t i, j
    cdef const uint64_t* entries
    with nogil:
        for i in range(nodes.shape[0]):
            entries = growth.rows_of(level, nodes[i], attribute[i])
            for j in range(level.n_rows[nodes[i]]):
                side[<uint32_t>entries[j]] = branch_of(&growth.sides, entries[j])
