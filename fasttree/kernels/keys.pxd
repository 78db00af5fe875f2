# SPDX-License-Identifier: BSD-3-Clause
"""Raw values to codes, by way of keys.

A *key* is an integer of 64 bits that sorts like a number. A column is read once, into its keys; what follows from its
values, their order and ranks (and their bins, see `quantiles`), follows from these.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from fasttree.kernels.ordering cimport key_of_number, sort_rows

ctypedef fused real:
    float
    double


cdef enum:
    COLUMNS = 8                 # at a time: their doubles in a row fill a cache line
    ROWS = 256


cdef struct SortedColumn:
    # A column's rows by value.
    const uint64_t* keys        # by row
    uint64_t* items             # see `ordering`
    int64_t n
    int64_t n_missing           # those in front have no value
    bint exact                  # have different values different codes in the items?


cdef inline void make_keys(
    const real* source, int64_t row_stride, int64_t column_stride, int64_t n_rows, int64_t n_columns, uint64_t* keys
) noexcept nogil:
    """keys[column, row]; strides in bytes.

    Some rows of all the columns at a time: a row-major table is then read by whole cache lines.
    """
    cdef int64_t i, j, stop, start = 0
    cdef const char* value
    while start < n_rows:
        stop = start + ROWS if start + ROWS < n_rows else n_rows
        for j in range(n_columns):
            value = <const char*>source + start * row_stride + j * column_stride
            for i in range(start, stop):
                keys[j * n_rows + i] = key_of_number(<double>(<const real*>value)[0])
                value += row_stride
        start = stop


cdef inline void sort_column(SortedColumn* column, bint numbers, uint64_t* scratch) noexcept nogil:
    """Fill in the order of the rows, those without a value in front; `items` and `scratch` have room for all."""
    column.n_missing = sort_rows(column.keys, column.n, numbers, column.items, scratch, &column.exact)


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
