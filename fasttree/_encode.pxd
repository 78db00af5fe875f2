# SPDX-License-Identifier: BSD-3-Clause
"""Raw values to codes: columns out of a row-major table, ranks, bins."""

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from fasttree._sort cimport sort_by_key

ctypedef fused real:
    float
    double


cdef inline int64_t copy_columns(
    const real* source, int64_t row_stride, int64_t column_stride, int64_t n_rows, int64_t n_columns, double* out
) noexcept nogil:
    """out[column, row] := source[row, column], strides in bytes. Returns the first place (row * n_columns + column)
    of a NaN, or -1.

    Several columns at a time: a row-major table is then read by whole cache lines.
    """
    cdef int64_t i, j, nan = -1
    cdef double value
    cdef const char* row = <const char*>source
    for i in range(n_rows):
        for j in range(n_columns):
            value = (<const real*>(row + j * column_stride))[0]
            out[j * n_rows + i] = value
            if value != value and nan < 0:
                nan = i * n_columns + j
        row += row_stride
    return nan


# ---- exact ranks ----------------------------------------------------------------------------------------------------
#
# Sorting plain integers is several times faster than sorting an index by float keys. So value and row are packed into one
# integer: the bits of the value, made to sort like the value, with the row in place of the lowest bits. Rows whose values
# agree in all the other bits (a run) may come out in the wrong order; `settle` looks at their values again.

cdef inline bint make_keys(const double* values, int64_t n, int row_bits, uint64_t* keys) noexcept nogil:
    """Returns True if no value had to give up a bit."""
    cdef int64_t i
    cdef uint64_t bits, lost = 0
    cdef uint64_t low = (<uint64_t>1 << row_bits) - 1
    cdef double value
    for i in range(n):
        value = values[i] + 0.0             # -0.0 is 0.0
        memcpy(&bits, &value, 8)
        lost |= bits
        # Negative numbers sort backward: flip all their bits; others: only the sign.
        bits ^= <uint64_t>(<int64_t>bits >> 63) | (<uint64_t>1 << 63)
        keys[i] = (bits & ~low) | <uint64_t>i
    return lost & low == 0


cdef inline bint same_value(
    uint64_t a, uint64_t b, const double* values, uint64_t low, bint whole
) noexcept nogil:
    return (a ^ b) & ~low == 0 and (whole or values[a & low] == values[b & low])


cdef inline int64_t settle(uint64_t* keys, int64_t n, const double* values, int row_bits, bint whole) noexcept nogil:
    """Sort every run by its values; returns the number of distinct values, or -1 without memory."""
    cdef uint64_t low = (<uint64_t>1 << row_bits) - 1
    cdef int64_t i = 0, k, stop, distinct = 0
    cdef uint64_t prefix
    cdef int64_t* rows
    cdef bint ascending
    while i < n:
        prefix = keys[i] & ~low
        stop = i + 1
        ascending = True
        while stop < n and keys[stop] & ~low == prefix:
            if not whole and values[keys[stop] & low] < values[keys[stop - 1] & low]:
                ascending = False
            stop += 1
        if not ascending:
            rows = <int64_t*>malloc((stop - i) * sizeof(int64_t))
            if rows == NULL:
                return -1
            for k in range(i, stop):
                rows[k - i] = <int64_t>(keys[k] & low)
            sort_by_key(values, rows, stop - i)
            for k in range(i, stop):
                keys[k] = prefix | <uint64_t>rows[k - i]
            free(rows)
        distinct += 1
        if not whole:
            for k in range(i + 1, stop):
                distinct += values[keys[k] & low] != values[keys[k - 1] & low]
        i = stop
    return distinct


cdef inline void rank_codes(
    const uint64_t* keys, int64_t n, const double* values, int row_bits, bint whole, uint8_t* codes, double* book
) noexcept nogil:
    cdef uint64_t low = (<uint64_t>1 << row_bits) - 1
    cdef int64_t i, rank = 0
    for i in range(n):
        if i == 0 or not same_value(keys[i], keys[i - 1], values, low, whole):
            rank += 1
            book[rank] = values[keys[i] & low] + 0.0
        codes[keys[i] & low] = <uint8_t>rank


cdef inline void rank_entries(
    const uint64_t* keys, int64_t n, const double* values, int row_bits, bint whole, int shift, const uint32_t* y,
    uint64_t* entries,
) noexcept nogil:
    cdef uint64_t low = (<uint64_t>1 << row_bits) - 1
    cdef uint64_t row, rank = 0, c = 0
    cdef int64_t i
    for i in range(n):
        row = keys[i] & low
        if i == 0 or not same_value(keys[i], keys[i - 1], values, low, whole):
            rank += 1
        if shift > 32:
            c = <uint64_t>y[row] << 32
        entries[i] = rank << shift | c | row


# ---- bins -----------------------------------------------------------------------------------------------------------

cdef inline int64_t count_distinct(const double* ascending, int64_t n, int64_t limit) noexcept nogil:
    """The number of distinct values, or limit + 1 if there are more."""
    cdef int64_t i, distinct = 1
    for i in range(1, n):
        if ascending[i] != ascending[i - 1]:
            distinct += 1
            if distinct > limit:
                break
    return distinct


cdef enum:
    TILE = 2048                 # rows whose cache lines stay in the second-level cache


cdef inline void code_bins(
    const real* source, int64_t row_stride, int64_t column_stride, int64_t n_rows, int64_t n_columns,
    const double* upper, uint8_t* codes, int64_t codes_stride,
) noexcept nogil:
    """codes[column, row] := 1 + the number of edges below the value. `upper` has 256 edges a column, padded with +inf.

    A binary search of eight steps without a branch: rows do not wait for each other.
    """
    cdef int64_t start = 0, stop, i, j, place
    cdef double value
    cdef const double* edge
    cdef const char* at
    cdef uint8_t* out
    while start < n_rows:
        stop = start + TILE if start + TILE < n_rows else n_rows
        for j in range(n_columns):
            edge = upper + 256 * j
            out = codes + codes_stride * j
            at = <const char*>source + start * row_stride + j * column_stride
            for i in range(start, stop):
                value = (<const real*>at)[0]
                at += row_stride
                place = (edge[127] < value) << 7
                place += (edge[place + 63] < value) << 6
                place += (edge[place + 31] < value) << 5
                place += (edge[place + 15] < value) << 4
                place += (edge[place + 7] < value) << 3
                place += (edge[place + 3] < value) << 2
                place += (edge[place + 1] < value) << 1
                place += edge[place] < value
                out[i] = <uint8_t>(place + 1)
        start = stop
