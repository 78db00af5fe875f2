# SPDX-License-Identifier: BSD-3-Clause
"""Raw values to codes, by way of keys.

A *key* is an integer of 64 bits that sorts like a number. A column is read once, into its keys; what follows from its
values, their order and ranks (and their bins, see `quantiles`), follows from these.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fasttree.kernels.ordering cimport Coding, key_of_number, sort_rows

ctypedef fused real:
    float
    double


cdef enum:
    COLUMNS = 8                 # at a time: their doubles in a row fill a cache line


cdef struct SortedColumn:
    # A column's rows by value.
    const uint64_t* keys        # by row
    uint64_t* items             # see `ordering`
    int64_t n
    int64_t n_missing           # those in front have no value
    bint exact                  # have different values different codes in the items?


cdef inline void make_keys(
    const real* source, int64_t row_stride, int64_t column_stride, int64_t n_rows, int64_t n_columns,
    uint64_t* keys, int64_t* n_missing,
) noexcept nogil:
    """keys[column, row], and for each column how many are NaN. Strides in bytes.

    Several columns at a time: a row-major table is then read by whole cache lines.
    """
    cdef int64_t i, j
    cdef uint64_t key
    cdef const char* row = <const char*>source
    for j in range(n_columns):
        n_missing[j] = 0
    for i in range(n_rows):
        for j in range(n_columns):
            key = key_of_number(<double>(<const real*>(row + j * column_stride))[0])
            n_missing[j] += key == 0
            keys[j * n_rows + i] = key
        row += row_stride


cdef inline void sort_column(SortedColumn* column, uint64_t* first, uint64_t* second) noexcept nogil:
    """Fill in the order of the rows, those without a value in front. `items` become `first` or `second`."""
    cdef int64_t i, missing = 0, present = column.n_missing, n = column.n - column.n_missing
    cdef Coding coding
    cdef uint64_t* found
    if column.n_missing == 0:
        column.items = sort_rows(column.keys, NULL, n, first, second, &coding)
        column.exact = coding.exact
        return
    column.items = first
    column.exact = True
    for i in range(column.n):
        if column.keys[i] == 0:
            first[missing] = <uint64_t>i
            missing += 1
        else:
            first[present] = <uint64_t>i
            present += 1
    if n > 0:
        found = sort_rows(column.keys, first + missing, n, first + missing, second + missing, &coding)
        column.exact = coding.exact
        if found != first + missing:
            memcpy(second, first, missing * sizeof(uint64_t))
            column.items = second


cdef inline bint share_value(const SortedColumn* column, uint64_t a, uint64_t b) noexcept nogil:
    """Have the rows of two items the same value?"""
    if a >> 32 != b >> 32 or column.exact:
        return a >> 32 == b >> 32
    return column.keys[<uint32_t>a] == column.keys[<uint32_t>b]


cdef inline uint64_t entry_of(uint64_t rank, int shift, const uint32_t* y, uint64_t row) noexcept nogil:
    """An entry of a sorted list: the rank above `shift`, the row in the low 32 bits, the class between them if there is
    room."""
    cdef uint64_t entry = rank << shift | row
    if shift > 32:
        entry |= <uint64_t>y[row] << 32
    return entry


cdef inline int64_t rank_entries(
    const SortedColumn* column, int shift, const uint32_t* y, uint64_t* entries
) noexcept nogil:
    """The sorted list of a column, which may take the place of the items; returns how many values there are. Ranks
    begin at 1; 0 is for missing values."""
    cdef int64_t i, rank = 0
    cdef uint64_t item, before = 0
    for i in range(column.n):
        item = column.items[i]
        if i >= column.n_missing:
            rank += i == column.n_missing or not share_value(column, item, before)
        before = item
        entries[i] = entry_of(<uint64_t>rank, shift, y, <uint32_t>item)
    return rank
