# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: what a message may choose between at the nodes of a level.

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memset

from fasttree.kernels.partition cimport NO_BRANCH, branch_of
from fasttree.kernels.search cimport Split, row_at

# What `find_variety` writes down of a node instead of a code.
cdef enum:
    NO_VALUE_YET = -1
    VARIES = -2                 # two values were found; or nobody asks

UNCLEAR, CLEAR = NO_VALUE_YET, VARIES


def count_cuts(
    Grower grower, Level level, const int64_t[::1] nodes, const int64_t[::1] attribute, const Split[::1] split,
    int64_t[:, ::1] cuts,
):
    """cuts[i] := the number of cuts between the values that a node split by threshold has, and how many of them lie
    below the one that is made; 0, 0 for other splits."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(nodes.shape[0]):
            cuts[i, 0] = cuts[i, 1] = 0
            if grower.by_threshold(attribute[i]):
                count_cuts_of(grower, level, nodes[i], attribute[i], split[i].code, &cuts[i, 0])


cdef void count_cuts_of(
    Grower grower, Level level, int64_t node, int64_t attribute, int64_t cut, int64_t* cuts
) noexcept nogil:
    cdef const uint64_t* entries = grower.rows_of(level, node, attribute)
    cdef const uint8_t* codes = grower.codes_of(attribute)
    cdef uint8_t[256] is_present
    cdef int64_t i, code, last = 0, n_known = 0, n_below = 0
    cdef bint has_missing = False
    if codes == NULL:
        for i in range(level.n_rows[node]):
            code = <int64_t>(entries[i] >> grower.rows.shift)
            has_missing |= code == 0
            if code != last:
                n_known += 1
                n_below += code <= cut
                last = code
    else:
        memset(is_present, 0, 256)
        for i in range(level.n_rows[node]):
            is_present[codes[row_at(True, &grower.rows, entries[i])]] = 1
        has_missing = is_present[0]
        for code in range(1, 256):
            n_known += is_present[code]
            if code <= cut:
                n_below += is_present[code]
    if grower.sets_aside:
        has_missing = False
    cuts[0] = n_known - 1 + has_missing
    cuts[1] = n_below - 1


def find_variety(Grower grower, Level level, int64_t attribute, int64_t[::1] first):
    """Whether closed children have two values of an attribute, before the lists are handed on without them.

    first[child]: UNCLEAR in those to be looked at, CLEAR in the others, and afterwards in those that have two values. A
    missing value is one, too, unless rows without a value take no part in a split.
    """
    cdef int64_t g, child, a, b
    with nogil:
        for g in range(level.first_child.shape[0] - 1):
            a, b = level.first_child[g], level.first_child[g + 1]
            for child in range(a, b):
                if first[child] == NO_VALUE_YET:
                    if grower.list_row[attribute] >= 0:
                        find_variety_in_list(
                            grower, &grower.sorted_entries[grower.list_row[attribute], level.start[g]],
                            level.stop[g] - level.start[g], a, b, level.n_filled[g], first)
                        break
                    find_variety_of_child(grower, level, child, &grower.codes[attribute, 0], first)


cdef void find_variety_in_list(
    Grower grower, const uint64_t* entries, int64_t n, int64_t a, int64_t b, int64_t n_filled, int64_t[::1] first
) noexcept nogil:
    cdef int64_t i, child, code
    cdef uint32_t branch = 0
    for i in range(n):
        code = <int64_t>(entries[i] >> grower.rows.shift)
        if b > a + 1:
            branch = branch_of(&grower.branch_ids, entries[i])
        if branch == NO_BRANCH:
            for child in range(a, a + n_filled):
                find_second(grower, code, &first[child])
        else:
            find_second(grower, code, &first[a + branch])


cdef void find_variety_of_child(
    Grower grower, Level level, int64_t child, const uint8_t* codes, int64_t[::1] first
) noexcept nogil:
    cdef int64_t i
    for i in range(level.row_start[child], level.row_start[child] + level.n_rows[child]):
        find_second(grower, codes[row_at(True, &grower.rows, grower.row_list[i])], &first[child])


cdef void find_second(Grower grower, int64_t code, int64_t* first) noexcept nogil:
    if code == 0 and grower.sets_aside or first[0] == VARIES:
        return
    if first[0] == NO_VALUE_YET:
        first[0] = code
    elif first[0] != code:
        first[0] = VARIES
