# SPDX-License-Identifier: BSD-3-Clause
"""Quantile bins with exact edges, without sorting the column.

Rows are counted in cells of neighbouring values; those of the few cells in which a quantile lies are sorted, which
gives its exact value.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fasttree.kernels.distinct cimport MOST_CODES
from fasttree.kernels.ordering cimport (
    NO_KEY, Coding, choose_coding, code_of, key_range, number_of_key, sort_again,
)


cdef enum:
    CELL_BITS = 13
    FEW_ROWS = 4096             # for which fewer cells do
    FEW_CELL_BITS = 9
    CODED = 0xFFFF              # of a cell whose rows have their codes

cdef inline int64_t share_of(int64_t total, int64_t share, int64_t n_bins) noexcept nogil:
    """The least weight that makes so many of n_bins equal shares of `total`."""
    return (total * share + n_bins - 1) // n_bins


cdef inline void find_cells(
    const uint64_t* keys, int64_t n, const Coding* coding, bint linear, int cell_bits, uint16_t* cells
) noexcept nogil:
    """The cell of each row; behind all others that of rows without a value."""
    cdef int64_t i
    cdef int shift = coding.bits - cell_bits
    cdef uint64_t key, lowest = coding.lowest
    cdef uint16_t nowhere = <uint16_t>(1 << cell_bits)
    shift = shift if shift > 0 else 0
    for i in range(n):
        key = keys[i] if keys[i] != 0 else lowest
        cells[i] = <uint16_t>(code_of(coding, linear, key) >> shift) if keys[i] != 0 else nowhere


cdef inline int find_edges(
    const uint64_t* keys, const uint64_t* items, int64_t n, const uint16_t* cells, const int64_t* weight,
    const int64_t* weight_below, int64_t total, int64_t n_bins, uint64_t* edge, uint16_t* edge_cell, uint8_t* codes
) noexcept nogil:
    """The keys with which the weight reaches the next share, from sorted rows of the cells in which that happens; and
    the codes of these rows. Returns how many edges there are."""
    cdef int64_t i, row, so_far = 0, share = 1
    cdef int n_edges = 0
    for i in range(n):
        row = <uint32_t>items[i]
        if i == 0 or cells[row] != cells[<uint32_t>items[i - 1]]:
            so_far = weight_below[cells[row]]
        so_far += weight[row] if weight != NULL else 1
        codes[row] = <uint8_t>(n_edges + 1)
        if i + 1 < n and keys[<uint32_t>items[i + 1]] == keys[row]:
            continue
        if share < n_bins and so_far >= share_of(total, share, n_bins):
            edge[n_edges] = keys[row]
            edge_cell[n_edges] = cells[row]
            n_edges += 1
            while share < n_bins and so_far >= share_of(total, share, n_bins):
                share += 1
    return n_edges


cdef inline int64_t quantile_bins(
    const uint64_t* keys, int64_t n, const int64_t* weight, int64_t n_bins, uint16_t* cells, uint64_t* found,
    uint64_t* scratch, uint8_t* codes, double* bin_min, double* bin_max,
) noexcept nogil:
    """Codes from 1 on, 0 for missing; bin_min[code] and bin_max[code] are the smallest and largest value of a bin.
    Returns the last code.

    A bin ends behind the value with which the weight so far reaches the next of n_bins equal shares of that of all the
    rows that have a value. `cells`, `found` and `scratch` have room for n rows.
    """
    cdef int64_t[(1 << CELL_BITS) + 1] below    # first the weight of a cell, then that below it
    cdef uint16_t[(1 << CELL_BITS) + 1] start   # of a cell: first whether an edge is in it, then its code
    cdef uint64_t[MOST_CODES + 2] edge           # by code: the largest key of a bin
    cdef uint64_t[MOST_CODES + 2] least          # ... and the smallest
    cdef uint16_t[MOST_CODES + 2] edge_cell
    cdef Coding coding
    cdef int cell_bits = FEW_CELL_BITS if n <= FEW_ROWS else CELL_BITS
    cdef int n_cells = 1 << cell_bits, n_edges, cell, code, last
    cdef int64_t i, w, total = 0, so_far = 0, share = 1, n_found = 0
    cdef uint64_t key, lowest, highest
    key_range(keys, n, &lowest, &highest)
    if highest == 0:
        memset(codes, 0, n)
        return 0
    choose_coding(keys, n, lowest, highest, &coding)
    if coding.linear:
        find_cells(keys, n, &coding, True, cell_bits, cells)
    else:
        find_cells(keys, n, &coding, False, cell_bits, cells)
    memset(below, 0, (n_cells + 1) * sizeof(int64_t))
    for i in range(n):
        below[cells[i]] += weight[i] if weight != NULL else 1
    for cell in range(n_cells):
        total += below[cell]
    for cell in range(n_cells):
        w = below[cell]
        below[cell] = so_far
        so_far += w
        start[cell] = 0
        while share < n_bins and w > 0 and so_far >= share_of(total, share, n_bins):
            start[cell] = 1
            share += 1
    start[n_cells] = 0
    for i in range(n):
        found[n_found] = <uint64_t>i
        n_found += start[cells[i]]
    n_edges = 0
    if n_found > 0:
        sort_again(keys, found, n_found, scratch)
        n_edges = find_edges(
            keys, found, n_found, cells, weight, below, total, n_bins, &edge[1], &edge_cell[1], codes)
    last = n_edges + (n_edges == 0 or highest > edge[n_edges])
    code = 1
    for cell in range(n_cells):
        start[cell] = <uint16_t>(CODED if start[cell] else code)
        while code <= n_edges and edge_cell[code] == cell:
            code += 1
    for code in range(last + 1):
        least[code] = NO_KEY
    for i in range(n):
        key = keys[i]
        code = start[cells[i]]
        if code == CODED:
            code = codes[i]
        codes[i] = <uint8_t>code
        if key < least[code]:
            least[code] = key
    for code in range(1, last + 1):
        bin_min[code] = number_of_key(least[code])
        bin_max[code] = number_of_key(edge[code] if code <= n_edges else highest)
    return last
