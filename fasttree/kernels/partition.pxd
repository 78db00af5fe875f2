# SPDX-License-Identifier: BSD-3-Clause
"""Rows to children: stable partition of lists, and histograms from rows."""

from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy, memmove, memset

from fasttree.kernels.wide cimport Wide


cdef struct BranchIds:
    # The branch that each row takes at its node, by number. One byte a row unless a node has more branches.
    uint8_t* narrow
    uint32_t* wide              # NULL unless used


cdef struct Instances:
    # A row, or a share of one, by number (see Rows).
    uint32_t* y
    int64_t* weight
    uint32_t* row_of
    # of a row that is distributed fractionally: the number of its share on the second branch
    uint32_t* first_copy
    Wide* exact                 # the weight, and what is too fine for a step


cdef enum:
    SMALL = 32                  # up to so many rows a binned attribute is sorted instead of tabulated
    HALVED_CELLS = 128
    NO_BRANCH = 0xFFFFFFFF      # no branch: the row is distributed fractionally over those that have rows
    NARROW_NO_BRANCH = 0xFF


cdef inline uint32_t branch_of(const BranchIds* branch_ids, uint64_t entry) noexcept nogil:
    cdef uint32_t branch
    if branch_ids.wide != NULL:
        return branch_ids.wide[<uint32_t>entry]
    branch = branch_ids.narrow[<uint32_t>entry]
    return branch if branch != NARROW_NO_BRANCH else <uint32_t>NO_BRANCH


cdef inline void set_branch(const BranchIds* branch_ids, uint64_t entry, uint32_t branch) noexcept nogil:
    if branch_ids.wide != NULL:
        branch_ids.wide[<uint32_t>entry] = branch
    else:
        branch_ids.narrow[<uint32_t>entry] = <uint8_t>branch


cdef inline void split_in_two(
    const uint64_t* source, int64_t n, const BranchIds* branch_ids, uint64_t* left, uint64_t* right
) noexcept nogil:
    """Both outputs keep the order. `left` may be `source` or lie before it; each output has room for n entries.

    No branch: every entry is written to both, and only the cursor of its side moves on.
    """
    cdef int64_t i, n_left = 0, goes_right
    cdef uint64_t entry
    for i in range(n):
        entry = source[i]
        goes_right = branch_ids.narrow[<uint32_t>entry]
        left[n_left] = entry
        right[i - n_left] = entry
        n_left += 1 - goes_right


cdef inline void partition_list(
    uint64_t* entries, int64_t start, int64_t stop, const BranchIds* branch_ids, int64_t n_children,
    const int64_t* child_rows,
    const int64_t* child_start, const int32_t* frontier, uint64_t* list_scratch, int64_t* cursor,
) noexcept nogil:
    """Replace the rows start..stop of a sibling group by those of its growing children, each from `child_start` on.

    Children without a place on the frontier drop out. Every child starts at or before its old place, and sibling groups
    come in order, so nothing unread is ever overwritten.
    """
    cdef int64_t k, offset
    if n_children == 1:
        if frontier[0] >= 0 and child_start[0] != start:
            memmove(entries + child_start[0], entries + start, (stop - start) * sizeof(uint64_t))
        return
    if n_children == 2 and branch_ids.wide == NULL:
        if frontier[0] >= 0:
            split_in_two(entries + start, stop - start, branch_ids, entries + child_start[0], list_scratch)
            if frontier[1] >= 0:
                memcpy(entries + child_start[1], list_scratch, child_rows[1] * sizeof(uint64_t))
        elif frontier[1] >= 0:
            split_in_two(entries + start, stop - start, branch_ids, list_scratch, entries + child_start[1])
        return
    offset = 0
    for k in range(n_children):
        offset += frontier[k] >= 0
    if offset == 0:
        return
    gather_children(entries + start, stop - start, branch_ids, n_children, child_rows, list_scratch, cursor)
    offset = 0
    for k in range(n_children):
        if frontier[k] >= 0:
            memcpy(entries + child_start[k], list_scratch + offset, child_rows[k] * sizeof(uint64_t))
        offset += child_rows[k]


cdef inline void gather_children(
    const uint64_t* entries, int64_t n, const BranchIds* branch_ids, int64_t n_children, const int64_t* child_rows,
    uint64_t* target, int64_t* cursor,
) noexcept nogil:
    """The rows of the children, one child after another, in order."""
    cdef int64_t k, i, offset = 0
    cdef uint32_t branch
    for k in range(n_children):
        cursor[k] = offset
        offset += child_rows[k]
    for i in range(n):
        branch = branch_of(branch_ids, entries[i])
        target[cursor[branch]] = entries[i]
        cursor[branch] += 1


cdef inline void scatter_list(
    const uint64_t* source, int64_t n, const BranchIds* branch_ids, const Instances* instances, int64_t n_children,
    int64_t n_filled, const int64_t* child_start, const int32_t* frontier, uint64_t* target, int64_t* cursor,
) noexcept nogil:
    """The rows of a sibling group to another list, each child's from `child_start` on, in order; shared rows to every
    branch.

    Children without a place on the frontier drop out, and shares that rounding left without weight.
    """
    cdef int64_t k, i
    cdef uint32_t branch, number
    cdef uint64_t entry
    for k in range(n_children):
        cursor[k] = child_start[k]
    for i in range(n):
        entry = source[i]
        branch = branch_of(branch_ids, entry)
        if branch != NO_BRANCH:
            if frontier[branch] >= 0:
                target[cursor[branch]] = entry
                cursor[branch] += 1
            continue
        for k in range(n_filled):
            number = <uint32_t>entry
            if k > 0:
                number = instances.first_copy[<uint32_t>entry] + <uint32_t>(k - 1)
            if frontier[k] >= 0 and instances.weight[number] > 0:
                target[cursor[k]] = (entry & ~<uint64_t>0xFFFFFFFF) | number
                cursor[k] += 1


cdef inline void add_row(
    int64_t sign, const uint64_t* rows, const int64_t* weight, int64_t i, const uint8_t* codes, int64_t n_classes,
    int64_t* histogram,
) noexcept nogil:
    histogram[codes[<uint32_t>rows[i]] * n_classes + <int64_t>(rows[i] >> 32)] += (
        sign * weight[i] if weight != NULL else sign)


cdef inline void add_rows(
    int64_t sign, const uint64_t* rows, const int64_t* weight, int64_t n, const uint8_t* codes, int64_t n_codes,
    int64_t n_classes, int64_t* histogram,
) noexcept nogil:
    """histogram[code, class] += sign * weight, over the rows of a node: row in the low half, class above it; a weight
    of NULL is 1.

    Where cells are few, rows that follow each other often share one, and would wait for it: every other row has cells
    of its own.
    """
    cdef int64_t[HALVED_CELLS] odd
    cdef int64_t i, n_cells = n_codes * n_classes
    if n_cells > HALVED_CELLS or n < n_cells:
        for i in range(n):
            add_row(sign, rows, weight, i, codes, n_classes, histogram)
        return
    memset(odd, 0, n_cells * sizeof(int64_t))
    for i in range(0, n - 1, 2):
        add_row(sign, rows, weight, i, codes, n_classes, histogram)
        add_row(sign, rows, weight, i + 1, codes, n_classes, odd)
    if n & 1:
        add_row(sign, rows, weight, n - 1, codes, n_classes, histogram)
    for i in range(n_cells):
        histogram[i] += odd[i]


cdef inline void code_entries(
    int shift, const uint64_t* entries, const uint64_t* rows, int64_t n, const uint8_t* codes, uint64_t* out
) noexcept nogil:
    """The rows of a small node as a sorted list, so that the sweep serves for them too."""
    if 2 * n <= SMALL:
        order_by_code(SMALL // 2, shift, entries, rows, n, codes, out)
    else:
        order_by_code(SMALL, shift, entries, rows, n, codes, out)


cdef inline void order_by_code(
    int width, int shift, const uint64_t* entries, const uint64_t* rows, int64_t n, const uint8_t* codes, uint64_t* out
) noexcept nogil:
    """Each row's place is the number of those before it: as many comparisons as can be, but a vector at a time, and
    without a branch."""
    cdef int16_t[SMALL] key         # code, then the number of the row in the node
    cdef int16_t[SMALL] place
    cdef uint64_t low = ((<uint64_t>1) << shift) - 1
    cdef int16_t other
    cdef int64_t i, j
    for i in range(width):
        key[i] = 0
        place[i] = 0
    for i in range(n):
        key[i] = <int16_t>(codes[<uint32_t>rows[i]] * SMALL + i)
    for j in range(n):
        other = key[j]
        for i in range(width):
            place[i] += other < key[i]
    for i in range(n):
        out[place[i]] = (entries[i] & low) | (<uint64_t>(key[i] // SMALL) << shift)
