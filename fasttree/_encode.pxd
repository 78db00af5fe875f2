# SPDX-License-Identifier: BSD-3-Clause
"""Raw values to codes: columns out of a row-major table, ranks, bins."""

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t

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


cdef inline int64_t code_few(
    const double* values, const int64_t* order, int64_t n, int64_t limit, uint8_t* codes, double* book
) noexcept nogil:
    """codes[row] := 1 + rank, if there are at most `limit` distinct values; else -1 as soon as that is plain.

    `order` sorts `values`; book[code] gets the value. Returns the number of distinct values.
    """
    cdef int64_t i, rank = 0
    cdef double value, last = 0.0
    for i in range(n):
        value = values[order[i]]
        if i == 0 or value != last:
            if rank == limit:
                return -1
            rank += 1
            last = value
            book[rank] = value + 0.0        # -0.0 is 0.0
        codes[order[i]] = <uint8_t>rank
    return rank


cdef inline int64_t rank_values(
    const double* values, const int64_t* order, int64_t n, int shift, const uint32_t* y, uint64_t* entries
) noexcept nogil:
    """entries[i] := rank | class | row of the i-th smallest value; returns the largest rank. Rank 0 is for missing."""
    cdef int64_t i, row, rank = 0
    cdef double value, last = 0.0
    cdef uint64_t entry
    for i in range(n):
        row = order[i]
        value = values[row]
        if i == 0 or value != last:
            rank += 1
            last = value
        entry = (<uint64_t>rank << shift) | <uint64_t>row
        if shift == 40:
            entry |= <uint64_t>y[row] << 32
        entries[i] = entry
    return rank


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
