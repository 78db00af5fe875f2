# SPDX-License-Identifier: BSD-3-Clause
"""Arrow's C data interface: what a column of polars, pandas or pyarrow looks like in memory."""

from libc.math cimport NAN
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

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


ctypedef fused whole_number:
    int8_t
    uint8_t
    int16_t
    uint16_t
    int32_t
    uint32_t
    int64_t
    uint64_t


ctypedef fused number:
    int8_t
    uint8_t
    int16_t
    uint16_t
    int32_t
    uint32_t
    int64_t
    uint64_t
    double


cdef inline bint chunk_numbers(const ArrowArray* array, const number* values, double* out) noexcept nogil:
    """Numbers as float64, NaN where they are missing. False if a whole number may have been rounded."""
    cdef const uint8_t* known = known_of(array)
    cdef double largest = 0.0, smallest = 0.0, value
    cdef int64_t i
    values += array.offset
    for i in range(array.length):
        value = <double>values[i]
        largest = value if value > largest else largest
        smallest = value if value < smallest else smallest
        out[i] = value
    if known != NULL:
        for i in range(array.length):
            if not is_known(known, array.offset + i):
                out[i] = NAN
    return largest < 9007199254740992.0 and smallest > -9007199254740992.0
