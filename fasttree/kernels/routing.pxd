# SPDX-License-Identifier: BSD-3-Clause
"""Which way does a row go? Rows to leaves, several rows at a time so that none waits for the memory of another."""

from libc.stdint cimport int32_t, int64_t, uint32_t

from fasttree.kernels.keys cimport real

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    /* NaN by its bits: comparing integers is what compilers do several at a time. */
    static inline int ft_any_nan(const void* cells, size_t size, int64_t n) {
        const char* at = (const char*)cells;
        uint32_t bad = 0, narrow;
        uint64_t bad_wide = 0, wide;
        int64_t i;
        if (size == 4) {
            for (i = 0; i < n; i++) {
                memcpy(&narrow, at + 4 * i, 4);
                bad |= (narrow & 0x7FFFFFFFu) + 0x007FFFFFu;
            }
            return (bad >> 31) != 0;
        }
        for (i = 0; i < n; i++) {
            memcpy(&wide, at + 8 * i, 8);
            bad_wide |= (wide & 0x7FFFFFFFFFFFFFFFull) + 0x000FFFFFFFFFFFFFull;
        }
        return (bad_wide >> 63) != 0;
    }
    """
    int ft_any_nan(const void* cells, size_t size, int64_t n) noexcept nogil


cdef enum:
    LANES = 16                  # rows in flight
    CHUNK = 256                 # rows checked for NaN, then routed while they are in the cache


cdef struct PackedNode:
    # One node. The children of a node are adjacent.
    double threshold            # threshold node: values <= threshold go to `next`, others to `next` + 1
    int32_t attribute           # < 0: a table decides, on attribute -1 - attribute
    int32_t next


cdef struct Tables:
    # The branch of each code present at a node, codes ascending (CSR), and that of all other codes.
    const int64_t* start
    const uint32_t* codes
    const uint32_t* branch
    const int32_t* default_branch
    const int32_t* missing_branch
    # Of each node the other tests that stand in for its own, best first (CSR); NULL: no node has any.
    const int64_t* substitutes
    const int32_t* substitute_attribute
    const double* substitute_threshold
    const int32_t* substitute_low               # the branch of values <= threshold
    const int64_t* substitute_table             # its codes and their branches (CSR); none: a threshold
    const uint32_t* substitute_codes
    const uint32_t* substitute_branch


cdef enum:
    UNKNOWN = -1                # the code of a level that ends the way of a row; missing is NaN in every column


cdef inline int64_t find_code(const uint32_t* codes, int64_t low, int64_t end, int64_t code) noexcept nogil:
    """The place of a code among ascending ones, or -1."""
    cdef int64_t high = end, middle
    while low < high:
        middle = (low + high) // 2
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low if low < end and codes[low] == code else -1


cdef inline int32_t table_branch(const Tables* t, int32_t node, int64_t code) noexcept nogil:
    cdef int64_t index = find_code(t.codes, t.start[node], t.start[node + 1], code)
    return <int32_t>t.branch[index] if index >= 0 else t.default_branch[node]


cdef inline int32_t branch_without(
    const Tables* t, int32_t node, const char* row, int64_t column_stride, const real* _
) noexcept nogil:
    """The branch of a row with a missing value of a node's test; -1: it goes down all of them."""
    cdef int64_t i, index
    cdef real value
    if t.substitutes != NULL:
        for i in range(t.substitutes[node], t.substitutes[node + 1]):
            value = (<const real*>(row + t.substitute_attribute[i] * column_stride))[0]
            if value != value:
                continue
            if t.substitute_table[i + 1] == t.substitute_table[i]:
                return t.substitute_low[i] ^ (value > t.substitute_threshold[i])
            index = find_code(t.substitute_codes, t.substitute_table[i], t.substitute_table[i + 1], <int64_t>value)
            if index >= 0:
                return <int32_t>t.substitute_branch[index]
    return t.missing_branch[node]


cdef inline int32_t next_node(
    bint has_tables, bint has_missing, const PackedNode* packed, const Tables* tables, int32_t node, const char* row,
    int64_t column_stride, const real* _,
) noexcept nogil:
    """THE routing rule: growth, scoring and the exporters agree on it. A leaf leads to itself."""
    cdef PackedNode packed_node = packed[node]
    cdef int64_t attribute = packed_node.attribute
    cdef int32_t branch
    cdef real value
    if has_tables and attribute < 0:
        attribute = -1 - attribute
    value = (<const real*>(row + attribute * column_stride))[0]
    if has_missing and value != value:
        if packed_node.next == node:       # a leaf
            return node
        branch = branch_without(tables, node, row, column_stride, _)
        return packed_node.next + branch if branch >= 0 else node
    if has_tables and packed_node.attribute < 0:
        if value == UNKNOWN:
            return node
        return packed_node.next + table_branch(tables, node, <int64_t>value)
    return packed_node.next + (value > packed_node.threshold)


cdef inline int64_t route(
    const PackedNode* packed, const Tables* tables, bint has_tables, const real* source, int64_t row_stride,
    int64_t column_stride, int64_t n_columns, int64_t row0, int64_t row1, bint allow_missing, int32_t* out,
) noexcept nogil:
    """out[row] := leaf. Strides in bytes. Returns the first place (row * n_columns + column) of a NaN that is not
    allowed, or -1."""
    cdef int64_t start = row0, stop, nan
    while start < row1:
        stop = start + CHUNK if start + CHUNK < row1 else row1
        nan = find_nan(source, row_stride, column_stride, n_columns, start, stop)
        if nan >= 0 and not allow_missing:
            return nan
        if nan >= 0:
            route_chunk(True, True, packed, tables, source, row_stride, column_stride, start, stop, out)
        elif has_tables:
            route_chunk(True, False, packed, tables, source, row_stride, column_stride, start, stop, out)
        else:
            route_chunk(False, False, packed, tables, source, row_stride, column_stride, start, stop, out)
        start = stop
    return -1


cdef inline void route_chunk(
    bint has_tables, bint has_missing, const PackedNode* packed, const Tables* tables, const real* source,
    int64_t row_stride, int64_t column_stride, int64_t start, int64_t stop, int32_t* out,
) noexcept nogil:
    cdef int32_t[LANES] node
    cdef int32_t moved, to
    cdef int64_t i = start
    cdef int lane, lanes
    cdef const char* row
    while i < stop:
        row = <const char*>source + i * row_stride
        lanes = LANES if i + LANES <= stop else 1
        for lane in range(lanes):
            node[lane] = 0
        moved = 1
        while moved:
            moved = 0
            if lanes == LANES:
                for lane in range(LANES):
                    to = next_node(
                        has_tables, has_missing, packed, tables, node[lane], row + lane * row_stride,
                        column_stride, source)
                    moved |= to ^ node[lane]
                    node[lane] = to
            else:
                to = next_node(
                    has_tables, has_missing, packed, tables, node[0], row, column_stride, source)
                moved = to ^ node[0]
                node[0] = to
        for lane in range(lanes):
            out[i + lane] = node[lane]
        i += lanes


cdef inline int64_t row_ends(
    const PackedNode* packed, const Tables* tables, const int32_t* n_children, bint has_tables, const real* row,
    int64_t column_stride, const double* total, int64_t* node, double* share, int32_t* end, double* end_share,
) noexcept nogil:
    """The nodes at which a row ends that may go down several branches, each by its weight, and its share of each.
    Returns how many. `node` and `share` are a stack: a branch not yet followed, and its share of the row."""
    cdef int64_t n = 1, n_ends = 0, child, at, to
    cdef double part, below
    node[0] = 0
    share[0] = 1.0
    while n:
        n -= 1
        at = node[n]
        part = share[n]
        while True:
            to = next_node(
                has_tables, True, packed, tables, <int32_t>at, <const char*>row, column_stride, row)
            if to == at:
                break
            at = to
        if is_missing_at(packed, n_children, at, <const char*>row, column_stride, row):
            below = 0.0
            for child in range(packed[at].next, packed[at].next + n_children[at]):
                below += total[child]
            for child in range(packed[at].next + n_children[at] - 1, packed[at].next - 1, -1):
                if total[child] > 0.0:
                    node[n] = child
                    share[n] = part * (total[child] / below)
                    n += 1
            continue
        end[n_ends] = <int32_t>at
        end_share[n_ends] = part
        n_ends += 1
    return n_ends


cdef inline int32_t mean_of_ends(
    const int32_t* end, const double* end_share, int64_t n_ends, double tie, const double* proba, int64_t n_classes,
    double* out,
) noexcept nogil:
    """out := the class shares of a row by its shares of its ends. Returns the end with the largest share; of those
    whose shares are not further apart than `tie`, the smallest number."""
    cdef int64_t i, c, at, heaviest = -1
    cdef double part, largest = 0.0
    for c in range(n_classes):
        out[c] = 0.0
    for i in range(n_ends):
        at = end[i]
        part = end_share[i]
        for c in range(n_classes):
            out[c] += part * proba[at * n_classes + c]
        if part > largest:
            largest = part
    for i in range(n_ends):
        if end_share[i] >= largest - tie and (heaviest < 0 or end[i] < heaviest):
            heaviest = end[i]
    return <int32_t>heaviest


cdef inline bint is_missing_at(
    const PackedNode* packed, const int32_t* n_children, int64_t node, const char* row, int64_t column_stride,
    const real* _
) noexcept nogil:
    cdef int64_t attribute = packed[node].attribute
    cdef real value
    if n_children[node] == 0:
        return False
    if attribute < 0:
        attribute = -1 - attribute
    value = (<const real*>(row + attribute * column_stride))[0]
    return value != value


cdef inline int64_t find_nan(
    const real* source, int64_t row_stride, int64_t column_stride, int64_t n_columns, int64_t start, int64_t stop
) noexcept nogil:
    cdef int64_t i, j
    cdef const char* row = <const char*>source + start * row_stride
    cdef const real* cells = <const real*>row
    cdef real value
    if column_stride == sizeof(real) and row_stride == n_columns * <int64_t>sizeof(real):
        # One run of numbers: most chunks hold no NaN, and that is seen several numbers at a time.
        if not ft_any_nan(cells, sizeof(real), (stop - start) * n_columns):
            return -1
    for i in range(start, stop):
        for j in range(n_columns):
            value = (<const real*>(row + j * column_stride))[0]
            if value != value:
                return i * n_columns + j
        row += row_stride
    return -1
