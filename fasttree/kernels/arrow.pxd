# SPDX-License-Identifier: BSD-3-Clause
"""Arrow's C data interface: what a column of polars, pandas or pyarrow looks like in memory."""

from libc.math cimport NAN
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fasttree.kernels.alloc cimport realloc
from fasttree.kernels.distinct cimport numeric

cdef extern from *:
    """
    #include <stdint.h>

    /* The structs of Arrow's C data interface, as its documentation lays them out. */
    #ifndef ARROW_C_DATA_INTERFACE
    #define ARROW_C_DATA_INTERFACE
    struct ArrowSchema {
        const char* format;
        const char* name;
        const char* metadata;
        int64_t flags;
        int64_t n_children;
        struct ArrowSchema** children;
        struct ArrowSchema* dictionary;
        void (*release)(struct ArrowSchema*);
        void* private_data;
    };
    struct ArrowArray {
        int64_t length;
        int64_t null_count;
        int64_t offset;
        int64_t n_buffers;
        int64_t n_children;
        const void** buffers;
        struct ArrowArray** children;
        struct ArrowArray* dictionary;
        void (*release)(struct ArrowArray*);
        void* private_data;
    };
    #endif
    #ifndef ARROW_C_STREAM_INTERFACE
    #define ARROW_C_STREAM_INTERFACE
    struct ArrowArrayStream {
        int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema*);
        int (*get_next)(struct ArrowArrayStream*, struct ArrowArray*);
        const char* (*get_last_error)(struct ArrowArrayStream*);
        void (*release)(struct ArrowArrayStream*);
        void* private_data;
    };
    #endif
    """
    ctypedef struct ArrowSchema "struct ArrowSchema":
        const char* format
        ArrowSchema* dictionary
        void (*release)(ArrowSchema*) noexcept

    ctypedef struct ArrowArray "struct ArrowArray":
        int64_t length
        int64_t null_count
        int64_t offset
        int64_t n_buffers
        const void** buffers
        ArrowArray* dictionary
        void (*release)(ArrowArray*) noexcept

    ctypedef struct ArrowArrayStream "struct ArrowArrayStream":
        int (*get_schema)(ArrowArrayStream*, ArrowSchema*) noexcept
        int (*get_next)(ArrowArrayStream*, ArrowArray*) noexcept


cdef inline const uint8_t* known_of(const ArrowArray* array) noexcept nogil:
    """A bit for each row, set where it has a value; NULL: every row has one."""
    return <const uint8_t*>array.buffers[0] if array.null_count != 0 else NULL


cdef inline bint is_known(const uint8_t* known, int64_t at) noexcept nogil:
    return known == NULL or (known[at >> 3] >> (at & 7)) & 1


ctypedef fused floating:
    float
    double


ctypedef fused whole_number:
    int8_t
    uint8_t
    int16_t
    uint16_t
    int32_t
    uint32_t
    int64_t
    uint64_t


cdef enum:
    BLOCK_ROWS = 256           # at a time: they stay in the nearest cache


cdef inline bint block_numbers(
    const ArrowArray* array, const numeric* values, int64_t start, int64_t stop, floating* out
) noexcept nogil:
    """out[0:] := some of an array's numbers as floating ones, NaN where they are missing. False: a whole number may
    have been rounded, and `out` has no NaN yet."""
    cdef const uint8_t* known = known_of(array)
    cdef uint64_t bits = 0
    cdef int64_t i, n = stop - start
    cdef uint8_t absent
    cdef int bit, n_absent
    cdef int[8] positions
    cdef int most_bits = 53
    if floating is float:
        most_bits = 24
    start += array.offset
    values += start
    for i in range(n):
        out[i] = <floating>values[i]
    if numeric is not double and numeric is not float:
        for i in range(n):          # a negative number has the bits of the one below it
            bits |= <uint64_t>values[i] ^ (<uint64_t>0 - <uint64_t>(values[i] < 0))
        if bits >> most_bits != 0:
            return False
    if known != NULL:
        i = 0
        while i < n:
            if (start + i) & 7 != 0 or n - i < 8:
                if not is_known(known, start + i):
                    out[i] = <floating>NAN
                i += 1
                continue
            absent = ~known[(start + i) >> 3]
            if absent:          # which of eight cannot be foreseen: they are listed without a branch
                n_absent = 0
                for bit in range(8):
                    positions[n_absent] = bit
                    n_absent += (absent >> bit) & 1
                for bit in range(n_absent):
                    out[i + positions[bit]] = <floating>NAN
            i += 8
    return True


cdef struct CodePool:
    # Whole numbers that were met, numbered from 1 on in the order in which they appeared.
    int32_t* code_at            # by number; 0: not met
    int64_t capacity
    int64_t most                # numbers from here on are too large for this
    int64_t* row_of             # by code - 1: the row that had it first
    int64_t row_capacity
    int64_t n


cdef inline bint extend_pool(CodePool* pool, int64_t number) noexcept nogil:
    """Room for a number, and for one more code. False: it is too large, or there is no memory."""
    cdef int64_t capacity = pool.capacity
    cdef void* longer
    if number >= pool.most:
        return False
    if number >= capacity:
        capacity = 2 * number + 64
        longer = realloc(pool.code_at, capacity * sizeof(int32_t))
        if longer == NULL:
            return False
        pool.code_at = <int32_t*>longer
        memset(pool.code_at + pool.capacity, 0, (capacity - pool.capacity) * sizeof(int32_t))
        pool.capacity = capacity
    if pool.n >= pool.row_capacity:
        longer = realloc(pool.row_of, (2 * pool.n + 64) * sizeof(int64_t))
        if longer == NULL:
            return False
        pool.row_of = <int64_t*>longer
        pool.row_capacity = 2 * pool.n + 64
    return True


cdef inline bint chunk_pool_codes(
    const ArrowArray* array, const whole_number* values, CodePool* pool, int64_t first_row, int32_t* codes
) noexcept nogil:
    """The code of each row's number, 0 where it is missing. False: see `extend_pool`."""
    cdef const uint8_t* known = known_of(array)
    cdef int64_t i, number
    values += array.offset
    for i in range(array.length):
        if not is_known(known, array.offset + i):
            codes[i] = 0
            continue
        number = <int64_t>values[i]
        if number >= pool.capacity or pool.code_at[number] == 0:
            if not extend_pool(pool, number):
                return False
            pool.row_of[pool.n] = first_row + i
            pool.n += 1
            pool.code_at[number] = <int32_t>pool.n
        codes[i] = pool.code_at[number]
    return True
