# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: columns as Arrow and Python hold them, to codes and numbers.

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from fasttree.kernels.alloc cimport calloc, free, malloc
from fasttree.kernels.arrow cimport (
    BLOCK_ROWS, ArrowArray, ArrowArrayStream, ArrowSchema, CodePool, block_numbers, chunk_pool_codes, floating,
    known_of,
)
from fasttree.kernels.distinct cimport MOST_CODES, Distinct, number_values, numeric, open_distinct
from fasttree.kernels.strings cimport (
    DONE, ELSEWHERE, LARGE_OFFSETS, NOT_TEXT, NO_MEMORY, OFFSETS, OUTSIDE, VIEWS, Layout, Outcome, StringTable,
    chunk_codes, chunk_dictionary, close_strings, open_strings,
)


cdef class Stream:
    """The chunks of a column that came through Arrow's C interface."""

    cdef ArrowArrayStream* stream
    cdef ArrowArray array       # the chunk at hand
    cdef object _keep
    cdef readonly bytes format  # of its values, or of their places in a dictionary; b"": it did not say
    cdef readonly bytes labels  # the format of the dictionary's labels; b"": there is none

    def __cinit__(self):
        self.array.release = NULL

    def __init__(self, object capsule):
        cdef ArrowSchema schema
        self._keep = capsule
        self.stream = <ArrowArrayStream*>PyCapsule_GetPointer(capsule, "arrow_array_stream")
        self.format = b""
        self.labels = b""
        schema.release = NULL
        if self.stream.get_schema(self.stream, &schema) == 0 and schema.release != NULL:
            self.format = schema.format
            if schema.dictionary != NULL:
                self.labels = schema.dictionary.format
            schema.release(&schema)

    cdef bint next(self) except -1:
        """Go to the next chunk. False: there is none."""
        self.close()
        if self.stream.get_next(self.stream, &self.array) != 0:
            raise ValueError("an Arrow stream broke off")
        return self.array.release != NULL

    cdef void close(self) noexcept:
        if self.array.release != NULL:
            self.array.release(&self.array)
            self.array.release = NULL

    def __dealloc__(self):
        self.close()


cdef int64_t end_of_chunk(Stream stream, int64_t done, int64_t n_rows) except -1:
    if stream.array.length > n_rows - done:
        raise ValueError(f"an Arrow stream has more than the {n_rows} rows that were announced")
    return done + stream.array.length


cdef int check_whole(int64_t done, int64_t n_rows) except -1:
    if done < n_rows:
        raise ValueError(f"an Arrow stream ended after {done} of the {n_rows} rows that were announced")
    return 0


def text_codes(object capsule, int32_t[::1] codes):
    """Fill in the codes of a column of text that an Arrow stream holds, 0 where it is missing. Returns its texts, from
    code 1 on, in the order in which they appear; None if it is not plain text."""
    cdef Stream stream = Stream(capsule)
    cdef Layout layout = layout_of(stream.format)
    cdef StringTable strings
    cdef int64_t start = 0, stop
    cdef Outcome outcome
    if layout == NOT_TEXT or stream.labels:
        return None
    outcome = DONE if open_strings(&strings) else NO_MEMORY
    try:
        while outcome == DONE and stream.next():
            stop = end_of_chunk(stream, start, codes.shape[0])
            if stop == start:
                continue
            with nogil:
                codes_of_texts(layout, &stream.array, &strings, &codes[start], &outcome)
            start = stop
        check_outcome(outcome)
        check_whole(start, codes.shape[0])
        return texts_of(&strings)
    finally:
        close_strings(&strings)


cdef clones_void codes_of_texts(
    Layout layout, const ArrowArray* array, StringTable* strings, int32_t* codes, Outcome* outcome
) noexcept nogil:
    """`chunk_codes` with its first argument as a literal: the compiler writes each layout its own loop, and calls
    nothing for a row."""
    if layout == OFFSETS:
        outcome[0] = chunk_codes(OFFSETS, array, strings, codes)
    elif layout == LARGE_OFFSETS:
        outcome[0] = chunk_codes(LARGE_OFFSETS, array, strings, codes)
    else:
        outcome[0] = chunk_codes(VIEWS, array, strings, codes)


cdef int check_outcome(Outcome outcome) except -1:
    if outcome == OUTSIDE:
        raise ValueError("a row has an index that is out of range for its dictionary")
    if outcome == ELSEWHERE:
        raise ValueError("a text begins or ends outside of the memory that has the texts")
    if outcome == NO_MEMORY:
        raise MemoryError("no memory left to number the labels of a column")
    return 0


cdef Layout layout_of(bytes format):
    return {b"u": OFFSETS, b"U": LARGE_OFFSETS, b"vu": VIEWS}.get(format, NOT_TEXT)


cdef list texts_of(const StringTable* strings):
    cdef int64_t i
    return [
        PyUnicode_DecodeUTF8(strings.text + strings.start[i], strings.start[i + 1] - strings.start[i], NULL)
        for i in range(strings.n)]


def dictionary_codes(object capsule, int32_t[::1] codes):
    """Fill in the codes of a column of places in a dictionary of text, 0 where it is missing. Returns the texts in the
    order of the dictionary, also those that no row has; None if it is something else."""
    cdef Stream stream = Stream(capsule)
    cdef Layout layout = layout_of(stream.labels)
    cdef StringTable strings
    cdef int32_t* code_at = NULL
    cdef int32_t* first_code = &codes[0] if codes.shape[0] > 0 else NULL
    cdef int64_t start = 0, stop
    cdef Outcome outcome = DONE
    cdef char kind = stream.format[0] if len(stream.format) == 1 else 0
    if layout == NOT_TEXT or kind not in b"cCsSiIlL":
        return None
    if not open_strings(&strings):
        outcome = NO_MEMORY
    try:
        while outcome == DONE and stream.next():
            stop = end_of_chunk(stream, start, codes.shape[0])
            free(code_at)
            code_at = <int32_t*>malloc((stream.array.dictionary.length + 1) * sizeof(int32_t))
            if code_at == NULL:
                outcome = NO_MEMORY
                break
            with nogil:
                outcome = codes_of_chunk(kind, layout, &stream.array, &strings, code_at, first_code + start)
            start = stop
        check_outcome(outcome)
        check_whole(start, codes.shape[0])
        return texts_of(&strings)
    finally:
        free(code_at)
        close_strings(&strings)


cdef Outcome codes_of_chunk(
    char kind, Layout layout, const ArrowArray* array, StringTable* strings, int32_t* code_at, int32_t* codes
) noexcept nogil:
    cdef const void* indices = array.buffers[1]
    if kind == c"c":
        return chunk_dictionary(layout, array, <const int8_t*>indices, strings, code_at, codes)
    if kind == c"C":
        return chunk_dictionary(layout, array, <const uint8_t*>indices, strings, code_at, codes)
    if kind == c"s":
        return chunk_dictionary(layout, array, <const int16_t*>indices, strings, code_at, codes)
    if kind == c"S":
        return chunk_dictionary(layout, array, <const uint16_t*>indices, strings, code_at, codes)
    if kind == c"i":
        return chunk_dictionary(layout, array, <const int32_t*>indices, strings, code_at, codes)
    if kind == c"I":
        return chunk_dictionary(layout, array, <const uint32_t*>indices, strings, code_at, codes)
    if kind == c"l":
        return chunk_dictionary(layout, array, <const int64_t*>indices, strings, code_at, codes)
    return chunk_dictionary(layout, array, <const uint64_t*>indices, strings, code_at, codes)


def pool_codes(object capsule, int32_t[::1] codes, int64_t most):
    """Fill in the codes of a column of places in somebody's pool, in the order in which they appear, 0 where they are
    missing. Returns a row that has each; None if they are other than unsigned numbers below `most`."""
    cdef Stream stream = Stream(capsule)
    cdef CodePool pool = CodePool(NULL, 0, most, NULL, 0, 0)
    cdef char kind = stream.format[0] if len(stream.format) == 1 and not stream.labels else 0
    cdef int64_t start = 0, stop, i
    cdef bint ok = True
    try:
        while ok and stream.next():
            stop = end_of_chunk(stream, start, codes.shape[0])
            if stop == start:
                continue
            with nogil:
                if kind == c"C":
                    ok = chunk_pool_codes(
                        &stream.array, <const uint8_t*>stream.array.buffers[1], &pool, start, &codes[start])
                elif kind == c"S":
                    ok = chunk_pool_codes(
                        &stream.array, <const uint16_t*>stream.array.buffers[1], &pool, start, &codes[start])
                elif kind == c"I":
                    ok = chunk_pool_codes(
                        &stream.array, <const uint32_t*>stream.array.buffers[1], &pool, start, &codes[start])
                else:
                    ok = False
            start = stop
        if not ok:
            return None
        check_whole(start, codes.shape[0])
        return [pool.row_of[i] for i in range(pool.n)]
    finally:
        free(pool.code_at)
        free(pool.row_of)


def numbers_with_holes(object capsule, double[::1] out, bint narrow):
    """Fill in the numbers of a column that an Arrow stream holds, NaN where they are missing; if `narrow` as float32,
    in the first half of the memory. False if a whole number is too large to be told from its neighbours; None if it is
    not of plain numbers."""
    cdef Stream stream = Stream(capsule)
    cdef int64_t start = 0, stop, at, end
    cdef char kind = kind_of_numbers(stream)
    cdef bint exact = True
    if kind == 0:
        return None
    while exact and stream.next():
        stop = end_of_chunk(stream, start, out.shape[0])
        at = 0
        with nogil:
            while exact and at < stream.array.length:
                end = min(at + BLOCK_ROWS, stream.array.length)
                if narrow:
                    numbers_of_block(kind, &stream.array, at, end, <float*>&out[0] + start + at, &exact)
                else:
                    numbers_of_block(kind, &stream.array, at, end, &out[start + at], &exact)
                at = end
        start = stop
    if exact:
        check_whole(start, out.shape[0])
    return exact


def number_byte_codes(object capsule, uint8_t[::1] codes):
    """Fill in the codes of a column of numbers that an Arrow stream holds, 0 where they are missing. Returns the
    numbers, code after code, in the order in which they appear; None if there are too many, if a whole one is too large
    to be told from its neighbours, or if it is not of plain numbers."""
    cdef Stream stream = Stream(capsule)
    cdef int64_t start = 0, stop
    cdef char kind = kind_of_numbers(stream)
    cdef Distinct distinct
    cdef bint ok = kind != 0
    open_distinct(&distinct, MOST_CODES)
    while ok and stream.next():
        stop = end_of_chunk(stream, start, codes.shape[0])
        if stop > start:
            with nogil:
                ok = codes_of_numbers(kind, &stream.array, &distinct, &codes[start])
        start = stop
    if not ok:
        return None
    check_whole(start, codes.shape[0])
    numbers = [distinct.value[code + 1] for code in range(distinct.n)]
    if kind not in b"fg" and any(abs(number) >= 2.0**53 for number in numbers):
        return None
    return numbers


cdef bint codes_of_numbers(char kind, const ArrowArray* array, Distinct* distinct, uint8_t* codes) noexcept nogil:
    """`number_chunk` for what Arrow calls the kind of number."""
    cdef const void* values = array.buffers[1]
    if kind == c"c":
        return number_chunk(array, <const int8_t*>values, distinct, codes)
    if kind == c"C":
        return number_chunk(array, <const uint8_t*>values, distinct, codes)
    if kind == c"s":
        return number_chunk(array, <const int16_t*>values, distinct, codes)
    if kind == c"S":
        return number_chunk(array, <const uint16_t*>values, distinct, codes)
    if kind == c"i":
        return number_chunk(array, <const int32_t*>values, distinct, codes)
    if kind == c"I":
        return number_chunk(array, <const uint32_t*>values, distinct, codes)
    if kind == c"l":
        return number_chunk(array, <const int64_t*>values, distinct, codes)
    if kind == c"L":
        return number_chunk(array, <const uint64_t*>values, distinct, codes)
    if kind == c"f":
        return number_chunk(array, <const float*>values, distinct, codes)
    return number_chunk(array, <const double*>values, distinct, codes)


cdef inline bint number_chunk(
    const ArrowArray* array, const numeric* values, Distinct* distinct, uint8_t* codes
) noexcept nogil:
    return number_values(
        distinct, values + array.offset, sizeof(numeric), known_of(array), array.offset, array.length, codes)


cdef char kind_of_numbers(Stream stream) except *:
    """What Arrow calls them; 0: it does not hold plain numbers."""
    if len(stream.format) != 1 or stream.format not in b"cCsSiIlLfg" or stream.labels:
        return 0
    return stream.format[0]


cdef clones_void numbers_of_block(
    char kind, const ArrowArray* array, int64_t start, int64_t stop, floating* out, bint* exact
) noexcept nogil:
    """`block_numbers` for what Arrow calls the kind of number."""
    cdef const void* values = array.buffers[1]
    if kind == c"c":
        exact[0] = block_numbers(array, <const int8_t*>values, start, stop, out)
    elif kind == c"C":
        exact[0] = block_numbers(array, <const uint8_t*>values, start, stop, out)
    elif kind == c"s":
        exact[0] = block_numbers(array, <const int16_t*>values, start, stop, out)
    elif kind == c"S":
        exact[0] = block_numbers(array, <const uint16_t*>values, start, stop, out)
    elif kind == c"i":
        exact[0] = block_numbers(array, <const int32_t*>values, start, stop, out)
    elif kind == c"I":
        exact[0] = block_numbers(array, <const uint32_t*>values, start, stop, out)
    elif kind == c"l":
        exact[0] = block_numbers(array, <const int64_t*>values, start, stop, out)
    elif kind == c"L":
        exact[0] = block_numbers(array, <const uint64_t*>values, start, stop, out)
    elif kind == c"f":
        exact[0] = block_numbers(array, <const float*>values, start, stop, out)
    else:
        exact[0] = block_numbers(array, <const double*>values, start, stop, out)


ctypedef fused code:
    uint8_t
    int32_t


cdef extern from "Python.h":
    PyObject** PySequence_Fast_ITEMS(object items)  # of a list or a tuple


cdef enum:
    POINTERS = 8192             # slots of a table of objects that were met; at most half of them are taken
    RECODED = 1024              # codes that are looked up after one check


def object_codes(object values, int32_t[::1] codes):
    """Fill in the codes of some values, from 1 on; returns the distinct ones in the order in which they appear.

    Most columns hold a few objects many times, so an object is looked up by where it lies first. A TypeError says that
    a value cannot be hashed. A list must be one that nobody else has: not even a value that is compared may take
    objects away or add some. Of anything else a tuple is made.
    """
    cdef object items = values if type(values) is list else tuple(values)
    cdef PyObject** objects = PySequence_Fast_ITEMS(items)
    if len(items) != codes.shape[0]:
        raise ValueError(f"{len(items)} values, but room for the codes of {codes.shape[0]}")
    cdef const PyObject** met = <const PyObject**>calloc(POINTERS, sizeof(PyObject*))
    cdef int32_t* code_at = <int32_t*>calloc(POINTERS, sizeof(int32_t))
    cdef dict code_of_value = {}
    cdef const PyObject* value
    cdef int64_t i, index, n_met = 0
    try:
        if met == NULL or code_at == NULL:
            raise MemoryError("no memory left to number the labels of a column")
        for i in range(codes.shape[0]):
            value = objects[i]
            index = (<uint64_t>value * <uint64_t>0x9E3779B97F4A7C15) >> 51
            while met[index] != NULL and met[index] != value:
                index = (index + 1) & (POINTERS - 1)
            if met[index] == NULL:
                codes[i] = code_of_value.setdefault(<object>value, len(code_of_value) + 1)
                if n_met < POINTERS // 2:
                    met[index] = value
                    code_at[index] = codes[i]
                    n_met += 1
            else:
                codes[i] = code_at[index]
        return list(code_of_value)
    finally:
        free(met)
        free(code_at)


def take_codes(const int32_t[::1] codes, const code[::1] table, code[::1] out):
    """out[row] := table[codes[row]]; the first place is that of missing values."""
    cdef uint32_t[RECODED] codes_read     # what was checked is what is looked up, also if somebody writes to the codes
    cdef uint32_t at, beyond = 0, last = <uint32_t>table.shape[0] - 1
    cdef Py_ssize_t start = 0, i, n
    check_codes(codes.shape[0] == out.shape[0] and table.shape[0] > 0)
    with nogil:
        while start < codes.shape[0] and beyond >> 31 == 0:
            n = min(codes.shape[0] - start, <Py_ssize_t>RECODED)
            for i in range(n):
                at = codes_read[i] = <uint32_t>codes[start + i]
                beyond |= at | (last - at)      # its sign: of a code that is negative or too large
            for i in range(n if beyond >> 31 == 0 else 0):
                out[start + i] = table[codes_read[i]]
            start += n
    check_codes(beyond >> 31 == 0)


cdef int check_codes(bint ok) except -1:
    if not ok:
        raise ValueError("a row has a code that stands for no label")
    return 0
