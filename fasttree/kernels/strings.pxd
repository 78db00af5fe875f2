# SPDX-License-Identifier: BSD-3-Clause
"""Text to codes: a hash table over the bytes that an Arrow array holds.

The key of a text is two numbers and its length. Up to 16 bytes these are the text itself, filled up
with zeros, and so equal keys are equal texts; of a longer one they are hashes, and the bytes are
compared too. Short texts are read without asking how short: lengths that vary from row to row are
what a processor cannot foresee.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcmp, memcpy, memset

from fasttree.kernels.alloc cimport calloc, free, malloc, realloc
from fasttree.kernels.arrow cimport ArrowArray, is_known, known_of, whole_number


cdef enum Layout:
    NOT_TEXT
    OFFSETS                     # one buffer of text, 32-bit offsets into it
    LARGE_OFFSETS               # the same with 64 bits
    VIEWS                       # 16 bytes a row, with the text itself if that has up to 12


cdef enum:
    INLINE = 12
    WHOLE = 16                  # so long a text is its own key


cdef struct Slot:
    uint64_t first
    uint64_t last
    int32_t length
    int32_t code                # 0: free


cdef struct StringTable:
    Slot* slots
    int64_t mask                # the number of slots - 1; at most half of them are taken
    int64_t n                   # distinct texts
    char* text                  # these, one behind the other
    int64_t* start              # where each begins; n + 1 of them
    int64_t text_capacity
    int64_t start_capacity
    uint8_t[2 * WHOLE] keep     # from place 16 - n on it lets n bytes through, and none after these


cdef inline bint open_strings(StringTable* strings) noexcept nogil:
    memset(strings.keep, 0xFF, WHOLE)
    memset(strings.keep + WHOLE, 0, WHOLE)
    strings.n = 0
    strings.mask = 255
    strings.text_capacity = 4096
    strings.start_capacity = 256
    strings.slots = <Slot*>calloc(strings.mask + 1, sizeof(Slot))
    strings.text = <char*>malloc(strings.text_capacity)
    strings.start = <int64_t*>malloc(strings.start_capacity * sizeof(int64_t))
    if strings.slots == NULL or strings.text == NULL or strings.start == NULL:
        return False
    strings.start[0] = 0
    return True


cdef inline void close_strings(StringTable* strings) noexcept nogil:
    free(strings.slots)
    free(strings.text)
    free(strings.start)


cdef inline uint64_t read8(const char* at) noexcept nogil:
    cdef uint64_t word
    memcpy(&word, at, 8)
    return word


cdef inline uint64_t folded(uint64_t a) noexcept nogil:
    """A product carries upwards only, so the upper half is folded into the lower."""
    cdef uint64_t product = a * <uint64_t>0xD6E8FEB86659FD93
    return product ^ (product >> 32)


cdef inline uint64_t mixed(uint64_t a, uint64_t b) noexcept nogil:
    """A hash of two numbers: every bit of them reaches the lowest ones."""
    cdef uint64_t h = folded(a ^ <uint64_t>0x9E3779B97F4A7C15) ^ b
    return folded(h ^ (h >> 29))


cdef inline void key_of(
    const StringTable* strings, const char* text, int64_t length, const char* end, uint64_t* first, uint64_t* last
) noexcept nogil:
    cdef int64_t at
    cdef uint64_t[2] whole
    cdef uint64_t[2] keep
    if length > WHOLE:
        first[0] = read8(text + length - 8)
        last[0] = 0
        for at in range(0, length - 8, 8):
            first[0] = folded(first[0] ^ read8(text + at))
            last[0] = last[0] * 31 + read8(text + at)
        return
    if end - text >= WHOLE:
        memcpy(whole, text, WHOLE)
        memcpy(keep, strings.keep + WHOLE - length, WHOLE)
        first[0] = whole[0] & keep[0]
        last[0] = whole[1] & keep[1]
    else:
        memset(whole, 0, WHOLE)
        if length > 0:
            memcpy(whole, text, length)
        first[0] = whole[0]
        last[0] = whole[1]


cdef inline int32_t code_of(StringTable* strings, const char* text, int64_t length, const char* end) noexcept nogil:
    """The number of a text, from 1 on; 0: no memory left. What lies between it and the `end` may be read."""
    cdef uint64_t first, last
    cdef int64_t index
    cdef Slot* slot
    key_of(strings, text, length, end, &first, &last)
    index = mixed(first, last + length) & strings.mask
    while True:
        slot = &strings.slots[index]
        if slot.code == 0:
            return add_string(strings, slot, text, length, first, last)
        if slot.first == first and slot.last == last and slot.length == length:
            if length <= WHOLE or memcmp(strings.text + strings.start[slot.code - 1], text, length) == 0:
                return slot.code
        index = (index + 1) & strings.mask


cdef inline int32_t add_string(
    StringTable* strings, Slot* slot, const char* text, int64_t length, uint64_t first, uint64_t last
) noexcept nogil:
    cdef int64_t end = strings.start[strings.n] + length
    cdef int32_t code = <int32_t>strings.n + 1
    cdef void* longer
    if end > strings.text_capacity:
        longer = realloc(strings.text, 2 * end)
        if longer == NULL:
            return 0
        strings.text = <char*>longer
        strings.text_capacity = 2 * end
    if strings.n + 2 > strings.start_capacity:
        longer = realloc(strings.start, 2 * strings.start_capacity * sizeof(int64_t))
        if longer == NULL:
            return 0
        strings.start = <int64_t*>longer
        strings.start_capacity *= 2
    if length:
        memcpy(strings.text + end - length, text, length)
    slot[0] = Slot(first, last, <int32_t>length, code)
    strings.n += 1
    strings.start[strings.n] = end
    if 2 * strings.n > strings.mask and not widen(strings):
        return 0
    return code


cdef inline bint widen(StringTable* strings) noexcept nogil:
    """Four times as many slots."""
    cdef int64_t i, index, mask = 4 * strings.mask + 3
    cdef Slot* slots = <Slot*>calloc(mask + 1, sizeof(Slot))
    cdef Slot* old
    if slots == NULL:
        return False
    for i in range(strings.mask + 1):
        old = &strings.slots[i]
        if old.code == 0:
            continue
        index = mixed(old.first, old.last + old.length) & mask
        while slots[index].code:
            index = (index + 1) & mask
        slots[index] = old[0]
    free(strings.slots)
    strings.slots = slots
    strings.mask = mask
    return True


cdef inline const char* end_of_texts(Layout layout, const ArrowArray* array) noexcept nogil:
    """Where the memory ends that has the texts, but for the long ones of views."""
    cdef int64_t stop = array.offset + array.length
    if array.length == 0:       # there need not be any memory
        return NULL
    if layout == OFFSETS:
        return <const char*>array.buffers[2] + (<const int32_t*>array.buffers[1])[stop]
    if layout == LARGE_OFFSETS:
        return <const char*>array.buffers[2] + (<const int64_t*>array.buffers[1])[stop]
    return <const char*>array.buffers[1] + 16 * stop


cdef inline bint text_at(
    Layout layout, const ArrowArray* array, int64_t i, const char** text, int64_t* length, const char** end
) noexcept nogil:
    """Text i. `end` is that of the memory where it lies, if it is not in the one of `end_of_texts`. False: a view that
    lies elsewhere. Offsets are known to be `in_order`."""
    cdef const void** buffers = array.buffers
    cdef const char* view
    cdef int32_t[4] part
    cdef int64_t size
    if layout == OFFSETS:
        length[0] = (<const int32_t*>buffers[1])[i + 1] - (<const int32_t*>buffers[1])[i]
        text[0] = <const char*>buffers[2] + (<const int32_t*>buffers[1])[i]
        return True
    if layout == LARGE_OFFSETS:
        length[0] = (<const int64_t*>buffers[1])[i + 1] - (<const int64_t*>buffers[1])[i]
        text[0] = <const char*>buffers[2] + (<const int64_t*>buffers[1])[i]
        return True
    view = <const char*>buffers[1] + 16 * i
    memcpy(part, view, 16)
    length[0] = part[0]
    text[0] = view + 4
    if part[0] <= INLINE:
        return part[0] >= 0
    if not 0 <= part[2] < array.n_buffers - 3:
        return False
    view = <const char*>buffers[2 + part[2]]
    size = (<const int64_t*>buffers[array.n_buffers - 1])[part[2]]
    text[0] = view + part[3]
    end[0] = view + size
    return part[3] >= 0 and part[3] <= size - part[0]


ctypedef fused offset:
    int32_t
    int64_t


cdef inline bint ascend(const offset* offsets, int64_t n) noexcept nogil:
    """0 <= offsets[0] <= offsets[1] ... <= offsets[n]"""
    cdef int64_t i
    cdef offset signs = offsets[0]
    for i in range(n):
        signs |= offsets[i + 1] | (offsets[i + 1] - offsets[i])
    return signs >= 0


cdef inline bint in_order(Layout layout, const ArrowArray* array) noexcept nogil:
    """No text has an end before its start, as in a file that is damaged. Views are looked at one by one."""
    if layout == VIEWS or array.length == 0:
        return True
    if layout == OFFSETS:
        return ascend(<const int32_t*>array.buffers[1] + array.offset, array.length)
    return ascend(<const int64_t*>array.buffers[1] + array.offset, array.length)


cdef enum Outcome:
    DONE
    NO_MEMORY
    OUTSIDE                     # a row names a place that its dictionary does not have
    ELSEWHERE                   # a text lies outside of the memory that has the texts


cdef inline Outcome chunk_codes(
    Layout layout, const ArrowArray* array, StringTable* strings, int32_t* codes
) noexcept nogil:
    """The code of each row, 0 where it is missing."""
    cdef const uint8_t* known = known_of(array)
    cdef const char* text = NULL
    cdef const char* last = end_of_texts(layout, array)
    cdef const char* end
    cdef int64_t i, at, length = 0
    if not in_order(layout, array):
        return ELSEWHERE
    for i in range(array.length):
        at = array.offset + i
        if not is_known(known, at):
            codes[i] = 0
            continue
        end = last
        if not text_at(layout, array, at, &text, &length, &end):
            return ELSEWHERE
        codes[i] = code_of(strings, text, length, end)
        if codes[i] == 0:
            return NO_MEMORY
    return DONE


cdef inline Outcome number_entry(
    Layout layout, const ArrowArray* dictionary, StringTable* strings, int64_t i, int32_t* code_at
) noexcept nogil:
    """The code of an entry of a dictionary, 0 of a missing one."""
    cdef int64_t length = 0
    cdef const char* text = NULL
    cdef const char* end = end_of_texts(layout, dictionary)
    code_at[i] = 0
    if is_known(known_of(dictionary), dictionary.offset + i):
        if not text_at(layout, dictionary, dictionary.offset + i, &text, &length, &end):
            return ELSEWHERE
        code_at[i] = code_of(strings, text, length, end)
        if code_at[i] == 0:
            return NO_MEMORY
    return DONE


cdef inline Outcome chunk_dictionary(
    Layout layout, const ArrowArray* array, const whole_number* values, StringTable* strings, int32_t* code_at,
    int32_t* codes,
) noexcept nogil:
    """The code of each row of a chunk that names places in its dictionary, which may lack a text or have it twice.
    `code_at` has room for a code an entry."""
    cdef const uint8_t* known = known_of(array)
    cdef int64_t i, index, n = array.dictionary.length
    cdef Outcome outcome
    if not in_order(layout, array.dictionary):
        return ELSEWHERE
    for i in range(n):
        outcome = number_entry(layout, array.dictionary, strings, i, code_at)
        if outcome != DONE:
            return outcome
    values += array.offset
    for i in range(array.length):
        if not is_known(known, array.offset + i):
            codes[i] = 0
            continue
        index = <int64_t>values[i]
        if not 0 <= index < n:
            return OUTSIDE
        codes[i] = code_at[index]
    return DONE
