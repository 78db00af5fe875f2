# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: columns to keys, sorted lists and codes.

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy

from fasttree.kernels.alloc cimport calloc, free, malloc
from fasttree.kernels.distinct cimport MOST_CODES, Distinct, number_values, numeric, open_distinct, sort_codes
from fasttree.kernels.keys cimport (
    COLUMNS, SortedColumn, entry_of, make_keys, rank_entries, real, sort_column,
)
from fasttree.kernels.ordering cimport key_of_number, number_of_key
from fasttree.kernels.quantiles cimport quantile_bins

ctypedef fused number:
    int64_t
    uint64_t
    double


KEY_COLUMNS = COLUMNS   # how many columns `keys_of` and `count_values` take at most
MAX_BYTE_CODES = MOST_CODES  # values that have a code each, of a byte

cdef enum:
    COUNTED_ROWS = 1024     # of a column at a time: a row-major table is then read while it is in the cache


def count_values(
    const numeric[:, :] table, int64_t most, uint8_t[:, ::1] codes, double[:, ::1] ascending, int64_t[::1] n_values
):
    """Code some columns that have at most `most` distinct values: codes[column, row] in the order of the values, 0 for
    NaN, ascending[column, code] the values. n_values[column] is how many there are, -1 if too many."""
    cdef Py_ssize_t n_rows = table.shape[0], n_columns = table.shape[1], start = 0, j, n
    cdef Distinct[COLUMNS] distinct
    cdef uint8_t[COUNTED_ROWS] block    # a column of many values is found out before its codes take memory
    if n_columns > COLUMNS:
        raise ValueError("too many columns at once")
    with nogil:
        for j in range(n_columns):
            open_distinct(&distinct[j], most)
            n_values[j] = 0
        while start < n_rows:
            n = min(COUNTED_ROWS, n_rows - start)
            for j in range(n_columns):
                if n_values[j] < 0:
                    continue
                if number_values(&distinct[j], &table[start, j], table.strides[0], NULL, 0, n, &block[0]):
                    memcpy(&codes[j, start], &block[0], n)
                else:
                    n_values[j] = -1
            start += n
        for j in range(n_columns):
            if n_values[j] == 0:
                n_values[j] = distinct[j].n
                sort_codes(
                    &distinct[j].value[0], distinct[j].n, &codes[j, 0], n_rows, &codes[j, 0], &ascending[j, 0])


def sorted_codes(const double[::1] values, const uint8_t[::1] codes, uint8_t[::1] out, double[::1] ascending):
    """Codes of values[code - 1], 0 for missing, to codes in the order of the values, ascending[code]."""
    cdef double[MOST_CODES + 1] value
    cdef Py_ssize_t i
    with nogil:
        for i in range(values.shape[0]):
            value[i + 1] = values[i]
        sort_codes(&value[0], values.shape[0], &codes[0], codes.shape[0], &out[0], &ascending[0])


def midpoints(const double[:] below, const double[:] above, double[::1] out):
    """Between two values, never equal to the upper one; halves first, so that nothing overflows."""
    cdef Py_ssize_t i
    cdef double middle
    if not below.shape[0] == above.shape[0] == out.shape[0]:
        raise ValueError(f"{below.shape[0]} values with {above.shape[0]}, and room for {out.shape[0]}")
    for i in range(out.shape[0]):
        middle = below[i] / 2 + above[i] / 2    # NaN between infinities
        out[i] = middle if below[i] <= middle < above[i] else below[i]


cdef clones_void make_all_keys(const real[:, :] table, uint64_t[:, ::1] keys) noexcept nogil:
    make_keys(&table[0, 0], table.strides[0], table.strides[1], table.shape[0], table.shape[1], &keys[0, 0])


def keys_of(const real[:, :] table, uint64_t[:, ::1] keys):
    """keys[column, row] of some columns; see `make_keys`."""
    if table.shape[0] != keys.shape[1] or table.shape[1] != keys.shape[0]:
        raise ValueError("keys for another table")
    with nogil:
        make_all_keys(table, keys)


cdef clones_void sort_keys(SortedColumn* column, bint numbers, uint64_t* scratch) noexcept nogil:
    sort_column(column, numbers, scratch)


cdef clones_void fill_bins(
    const uint64_t* keys, int64_t n, const int64_t* weight, int64_t n_bins, uint16_t* cells, uint64_t* found,
    uint64_t* scratch, uint8_t* codes, double* bin_min, double* bin_max, int64_t* largest
) noexcept nogil:
    largest[0] = quantile_bins(keys, n, weight, n_bins, cells, found, scratch, codes, bin_min, bin_max)


def quantile_codes(
    const uint64_t[::1] keys, uint16_t[::1] cells, uint64_t[::1] found, uint64_t[::1] scratch,
    const int64_t[::1] weight, int64_t n_bins, uint8_t[::1] codes, double[::1] bin_min, double[::1] bin_max,
):
    """Quantile bins of a column, see `quantile_bins`; `cells`, `found` and `scratch` are room for as many rows.
    Returns the largest code."""
    cdef int64_t largest
    cdef const int64_t* w = &weight[0] if weight is not None else NULL
    if not keys.shape[0] == cells.shape[0] == found.shape[0] == scratch.shape[0] == codes.shape[0] or (
        weight is not None and weight.shape[0] != keys.shape[0]
    ):
        raise ValueError("room for another number of rows")
    if not 1 <= n_bins <= MOST_CODES < min(bin_min.shape[0], bin_max.shape[0]):
        raise ValueError(f"{n_bins} bins, and room for {bin_min.shape[0]} and {bin_max.shape[0]} ends")
    with nogil:
        fill_bins(
            &keys[0], keys.shape[0], w, n_bins, &cells[0], &found[0], &scratch[0], &codes[0], &bin_min[0], &bin_max[0],
            &largest)
    return largest


def sorted_entries(
    const uint64_t[::1] keys, uint64_t[::1] scratch, int shift, const uint32_t[::1] y, uint64_t[::1] entries
):
    """The sorted list of a column. Returns how many values there are, how many rows have none, and the lowest and the
    highest value, if there is one."""
    cdef int64_t n_values
    cdef SortedColumn column
    if not keys.shape[0] == scratch.shape[0] == entries.shape[0] == y.shape[0]:
        raise ValueError("room for another number of rows")
    column.keys = &keys[0]
    column.items = &entries[0]
    column.n = keys.shape[0]
    with nogil:
        sort_keys(&column, True, &scratch[0])
        n_values = rank_entries(&column, shift, &y[0], &entries[0])
    if n_values == 0:
        return 0, column.n_missing, None, None
    return (
        n_values, column.n_missing, number_of_key(keys[<uint32_t>entries[column.n_missing]]),
        number_of_key(keys[<uint32_t>entries[keys.shape[0] - 1]]))


def rank_numbers(const number[::1] values, int32_t[::1] codes, int64_t[::1] rows):
    """codes[row]: the number of its value, from 1 on in ascending order, 0 for NaN; rows[code - 1]: the first row that
    has the value. Returns how many values there are."""
    cdef int64_t i, row, n_values = 0, n = values.shape[0]
    cdef uint64_t* memory
    cdef SortedColumn column
    if not n == codes.shape[0] == rows.shape[0]:
        raise ValueError(f"{n} values, but room for {codes.shape[0]} codes and {rows.shape[0]} rows")
    if n == 0:
        return 0
    memory = <uint64_t*>malloc(3 * n * sizeof(uint64_t))
    if memory == NULL:
        raise MemoryError("no memory left to number the values of a column")
    with nogil:
        column.keys = memory
        column.items = memory + n
        column.n = n
        for i in range(n):
            if number is double:
                memory[i] = key_of_number(values[i])
            elif number is int64_t:
                memory[i] = <uint64_t>values[i] ^ (<uint64_t>1 << 63)
            else:
                memory[i] = values[i]
        sort_keys(&column, number is double, memory + 2 * n)
        if number is not double:
            column.n_missing = 0        # 0 is the key of a number
        for i in range(n):
            row = <uint32_t>column.items[i]
            if i < column.n_missing:
                codes[row] = 0
                continue
            if i == column.n_missing or memory[row] != memory[<uint32_t>column.items[i - 1]]:
                rows[n_values] = row
                n_values += 1
            codes[row] = <int32_t>n_values
    free(memory)
    return n_values


def renumber(const uint32_t[::1] codes, int64_t[::1] row_of, int32_t[::1] out):
    """Renumber codes 0, 1, ... in their own order. row_of[code], -1 at first, becomes a row that has the code."""
    cdef Py_ssize_t i
    cdef int32_t n = 0
    for i in range(codes.shape[0]):
        if codes[i] >= row_of.shape[0]:
            raise ValueError("a row has a code that is too large")
    cdef int32_t* code_of = <int32_t*>malloc(row_of.shape[0] * sizeof(int32_t))
    if code_of == NULL:
        raise MemoryError("no memory left to number the labels of a column")
    with nogil:
        for i in range(codes.shape[0]):
            row_of[codes[i]] = i
        for i in range(row_of.shape[0]):
            code_of[i] = n
            n += row_of[i] >= 0
        for i in range(codes.shape[0]):
            out[i] = code_of[codes[i]]
    free(code_of)


def category_entries(
    const int32_t[::1] codes, int64_t n_categories, int shift, const uint32_t[::1] y, uint64_t[::1] entries
):
    """The sorted list of a categorical column: rows by code, which is their rank, in order; one below 0 counts as
    missing."""
    cdef Py_ssize_t i
    cdef int64_t rank, before = 0, here
    cdef int64_t* position = <int64_t*>calloc(n_categories + 1, sizeof(int64_t))
    if position == NULL:
        raise MemoryError("no memory left to sort a column")
    with nogil:
        for i in range(codes.shape[0]):
            position[max(codes[i], 0)] += 1
        for rank in range(n_categories + 1):
            here = position[rank]
            position[rank] = before
            before += here
        for i in range(codes.shape[0]):
            rank = max(codes[i], 0)
            entries[position[rank]] = entry_of(<uint64_t>rank, shift, &y[0], <uint64_t>i)
            position[rank] += 1
    free(position)
