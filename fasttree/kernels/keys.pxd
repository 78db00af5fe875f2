# SPDX-License-Identifier: BSD-3-Clause
"""Raw values to codes.

Sorting plain integers is several times faster than sorting an index by float keys. So value and row are packed into
one integer, the *key*: the bits of the value, made to sort like the value, with the row in place of the lowest bits.
Rows whose values agree in all the other bits may come out in the wrong order; `resolve_collisions` looks at their
values again.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.sorting cimport sort_by_key

ctypedef fused real:
    float
    double


cdef enum:
    COLUMNS = 8                 # at a time: their doubles in a row fill a cache line


cdef struct Keys:
    # A column's sorted keys.
    uint64_t* key
    int64_t n
    int64_t n_missing           # those in front are missing
    uint64_t low                # the bits that hold the row
    bint whole                  # no value gave up a bit: equal keys, equal values


cdef inline double value_of(const real* values, int64_t stride, int64_t row) noexcept nogil:
    return <double>(<const real*>(<const char*>values + row * stride))[0] + 0.0     # -0.0 is 0.0


cdef inline void make_keys(
    const real* source, int64_t row_stride, int64_t column_stride, int64_t n_rows, int64_t n_columns, int row_bits,
    uint64_t* keys, uint8_t* whole, int64_t* n_missing,
) noexcept nogil:
    """keys[column, row], and for each column whether no value lost a bit and how many are NaN. Strides in bytes.

    The key of a missing value is the row alone: smaller than that of any number.

    Several columns at a time: a row-major table is then read by whole cache lines.
    """
    cdef int64_t i, j
    cdef uint64_t bits
    cdef uint64_t[COLUMNS] lost
    cdef uint64_t low = (<uint64_t>1 << row_bits) - 1
    cdef double value
    cdef const char* row = <const char*>source
    for j in range(n_columns):
        lost[j] = 0
        n_missing[j] = 0
    for i in range(n_rows):
        for j in range(n_columns):
            value = value_of(<const real*>(row + j * column_stride), 0, 0)
            if value != value:
                n_missing[j] += 1
                keys[j * n_rows + i] = <uint64_t>i
                continue
            memcpy(&bits, &value, 8)
            lost[j] |= bits
            # Negative numbers sort backward: flip all their bits; others: only the sign.
            bits ^= <uint64_t>(<int64_t>bits >> 63) | (<uint64_t>1 << 63)
            keys[j * n_rows + i] = (bits & ~low) | <uint64_t>i
        row += row_stride
    for j in range(n_columns):
        whole[j] = lost[j] & low == 0


cdef inline bint same_value(
    const Keys* k, uint64_t a, uint64_t b, const real* values, int64_t stride
) noexcept nogil:
    """Have two keys the same value?"""
    if (a ^ b) & ~k.low:
        return False
    return k.whole or value_of(values, stride, a & k.low) == value_of(values, stride, b & k.low)


cdef inline int64_t resolve_collisions(Keys* k, const real* values, int64_t stride) noexcept nogil:
    """Put sorted keys into the exact order of their values. Returns the number of distinct values; -1: no memory."""
    cdef int64_t i = k.n_missing, stop, distinct = 0
    cdef bint ascending
    while i < k.n:
        stop = i + 1
        ascending = True
        while stop < k.n and (k.key[stop] ^ k.key[i]) & ~k.low == 0:
            if not k.whole:
                ascending &= (
                    value_of(values, stride, k.key[stop - 1] & k.low) <= value_of(values, stride, k.key[stop] & k.low))
            stop += 1
        if not ascending and not sort_run(k, i, stop, values, stride):
            return -1
        distinct += 1
        if not k.whole:
            for i in range(i + 1, stop):
                distinct += not same_value(k, k.key[i], k.key[i - 1], values, stride)
        i = stop
    return distinct


cdef inline bint sort_run(Keys* k, int64_t start, int64_t stop, const real* values, int64_t stride) noexcept nogil:
    """Sort keys that share all but their rows by their values, ties by row."""
    cdef int64_t i, n = stop - start
    cdef double* value = <double*>malloc(n * sizeof(double))
    cdef int64_t* order = <int64_t*>malloc(n * sizeof(int64_t))
    cdef uint64_t* sorted_keys = <uint64_t*>malloc(n * sizeof(uint64_t))
    cdef bint ok = value != NULL and order != NULL and sorted_keys != NULL
    if ok:
        for i in range(n):
            value[i] = value_of(values, stride, k.key[start + i] & k.low)
            order[i] = i
        sort_by_key(value, order, n)
        for i in range(n):
            sorted_keys[i] = k.key[start + order[i]]
        memcpy(k.key + start, sorted_keys, n * sizeof(uint64_t))
    free(value)
    free(order)
    free(sorted_keys)
    return ok


cdef inline int64_t bin_codes(
    const Keys* k, const real* values, int64_t stride, const int64_t* weight, int64_t total, int64_t n_bins,
    uint8_t* codes, double* bin_min, double* bin_max,
) noexcept nogil:
    """Codes from 1 on, 0 for missing; lower[code] and upper[code] are the smallest and largest value of a bin. Returns
    the last code.

    A bin ends behind the value with which the weight so far reaches the next of n_bins equal shares of `total`.
    """
    cdef int64_t i, row, last = 0, code = 0, share = 1, so_far = 0
    cdef bint ended
    for i in range(k.n_missing):
        codes[k.key[i]] = 0
        total -= weight[k.key[i]] if weight != NULL else 1      # shares are those of the rows that have a value
    for i in range(k.n_missing, k.n):
        row = <int64_t>(k.key[i] & k.low)
        if i == k.n_missing or not same_value(k, k.key[i], k.key[i - 1], values, stride):
            ended = i == k.n_missing
            while share < n_bins and so_far >= (total * share + n_bins - 1) // n_bins:
                share += 1
                ended = True
            if ended:
                if code > 0:
                    bin_max[code] = value_of(values, stride, last)
                code += 1
                bin_min[code] = value_of(values, stride, row)
        codes[row] = <uint8_t>code
        so_far += weight[row] if weight != NULL else 1
        last = row
    if code > 0:
        bin_max[code] = value_of(values, stride, last)
    return code


cdef inline uint64_t entry_of(uint64_t rank, int shift, const uint32_t* y, uint64_t row) noexcept nogil:
    """An entry of a sorted list: the rank above `shift`, the row in the low 32 bits, the class between them if there is
    room."""
    cdef uint64_t entry = rank << shift | row
    if shift > 32:
        entry |= <uint64_t>y[row] << 32
    return entry


cdef inline void rank_entries(
    const Keys* k, const real* values, int64_t stride, int shift, const uint32_t* y, uint64_t* entries
) noexcept nogil:
    """The sorted list of a column, which may take the place of the keys. Ranks begin at 1; 0 is for missing values."""
    cdef uint64_t key, before = 0, rank = 0
    cdef int64_t i
    for i in range(k.n):
        key = k.key[i]
        if i >= k.n_missing and (i == k.n_missing or not same_value(k, key, before, values, stride)):
            rank += 1
        before = key
        entries[i] = entry_of(rank, shift, y, key & k.low)
