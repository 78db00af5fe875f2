# SPDX-License-Identifier: BSD-3-Clause
"""Columns of few distinct numbers.

Such a column needs no sorting of its rows: each number gets a code when it appears, found again by a hash table that
fits the nearest cache, and at the end the codes are put into the order of their numbers.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fasttree.kernels.sorting cimport sort_by_key

ctypedef fused numeric:
    int8_t
    uint8_t
    int16_t
    uint16_t
    int32_t
    uint32_t
    int64_t
    uint64_t
    float
    double


cdef enum:
    MOST_CODES = 255            # so that a code, or 0 for missing, is a byte
    SLOT_BITS = 10              # four times as many slots as codes
    SLOTS = 1 << SLOT_BITS

cdef extern from *:
    """
    #define FT_FREE_SLOT UINT64_MAX                         /* the bits of a NaN that is never entered */
    #define FT_MISSING_BITS UINT64_C(0x7ff8000000000000)    /* every NaN is entered as this one */
    """
    const uint64_t FREE_SLOT "FT_FREE_SLOT"
    const uint64_t MISSING_BITS "FT_MISSING_BITS"


cdef struct Distinct:
    # The numbers that have appeared.
    uint64_t[SLOTS] bits
    uint8_t[SLOTS] code
    double[MOST_CODES + 1] value    # by code, from 1 on
    int64_t n
    int64_t most                    # more numbers than this are too many


cdef inline int64_t first_slot(uint64_t bits) noexcept nogil:
    return <int64_t>((bits * <uint64_t>0x9E3779B97F4A7C15) >> (64 - SLOT_BITS))


cdef inline void open_distinct(Distinct* distinct, int64_t most) noexcept nogil:
    cdef int64_t slot
    for slot in range(SLOTS):
        distinct.bits[slot] = FREE_SLOT
    slot = first_slot(MISSING_BITS)
    distinct.bits[slot] = MISSING_BITS
    distinct.code[slot] = 0
    distinct.n = 0
    distinct.most = most


cdef inline bint number_values(
    Distinct* distinct, const numeric* values, int64_t stride, const uint8_t* known, int64_t first, int64_t n,
    uint8_t* codes
) noexcept nogil:
    """codes[i] := the code of a value, 0 if it is missing; the stride is in bytes. The value has its bit at first + i
    of `known`, if that is not NULL. False: there are too many values."""
    cdef int64_t i, slot
    cdef uint64_t bits, missing
    cdef double value
    for i in range(n):
        value = <double>(<const numeric*>(<const char*>values + i * stride))[0] + 0.0    # -0.0 is 0.0
        memcpy(&bits, &value, 8)
        missing = value != value
        if known != NULL:
            missing |= ~(known[(first + i) >> 3] >> ((first + i) & 7)) & 1
        bits ^= (bits ^ MISSING_BITS) & (0 - missing)       # a branch would be foreseen badly
        slot = first_slot(bits)
        while distinct.bits[slot] != bits:
            if distinct.bits[slot] == FREE_SLOT:
                if distinct.n >= distinct.most:
                    return False
                distinct.n += 1
                distinct.bits[slot] = bits
                distinct.code[slot] = <uint8_t>distinct.n
                distinct.value[distinct.n] = value
                break
            slot = (slot + 1) & (SLOTS - 1)
        codes[i] = distinct.code[slot]
    return True


cdef inline void sort_codes(
    const double* value, int64_t n_values, const uint8_t* codes, int64_t n, uint8_t* out, double* ascending
) noexcept nogil:
    """Number the values again in ascending order: out[i] := the new code of codes[i], and ascending[code] its value.
    `out` may be `codes`."""
    cdef int64_t i
    cdef int64_t[MOST_CODES + 1] order
    cdef uint8_t[MOST_CODES + 1] rank_of
    order[0] = 0                # gcc does not see that of no values none is read
    for i in range(n_values):
        order[i] = i + 1
    sort_by_key(value, &order[0], n_values)
    rank_of[0] = 0
    for i in range(n_values):
        rank_of[order[i]] = <uint8_t>(i + 1)
        ascending[i + 1] = value[order[i]]
    for i in range(n):
        out[i] = rank_of[codes[i]]
