# SPDX-License-Identifier: BSD-3-Clause
"""Rows in the order of their keys, as fast on every processor.

Each row gets an *item*: its *code* in the high half, its number in the low half. Codes never fall where keys rise.
Items are sorted by their codes digit by digit, from the lowest to the highest, which keeps rows of equal codes in
order; the few that agree in all the digits are sorted by their keys afterwards. Which code is taken depends on the
keys, the order does not.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset


cdef enum:
    FEW = 24                # items that are sorted by insertion
    MOST_DIGITS = 4
    WIDE_DIGIT = 11         # bits; rows that are few get narrow digits, whose tables are smaller
    NARROW_DIGIT = 8
    NARROW_ROWS = 4096
    LINEAR_DIGITS = 2       # of a linear code, which spreads the rows better
    LINEAR_BITS = 31        # what an int32 holds
    CODE_BITS = 32
    SAMPLE_BITS = 11
    SAMPLE = 1 << SAMPLE_BITS   # keys by which a code is chosen
    UNEVEN = 12             # the most that squares of the counts of sampled codes may be of the sample


cdef struct Coding:
    # How keys become codes.
    bint linear             # in proportion to the number; else it is the key's highest bits that differ
    uint64_t lowest         # the smallest key
    int shift
    double offset
    double scale
    int bits                # of a code
    bint exact              # have different keys different codes?


cdef inline uint64_t key_of_number(double value) noexcept nogil:
    """Sorts like the number, -0.0 like 0.0. NaN has the key 0, and nothing else has."""
    cdef uint64_t bits
    value = value + 0.0
    if value != value:
        return 0
    memcpy(&bits, &value, 8)
    # Negative numbers sort backward: flip all their bits; others: only the sign.
    return bits ^ (<uint64_t>(<int64_t>bits >> 63) | (<uint64_t>1 << 63))


cdef inline double number_of_key(uint64_t key) noexcept nogil:
    cdef double value
    key ^= <uint64_t>(<int64_t>~key >> 63) | (<uint64_t>1 << 63)
    memcpy(&value, &key, 8)
    return value


cdef inline int n_bits(uint64_t value) noexcept nogil:
    """How many bits a number takes."""
    cdef int n = 0, step = 32
    while step:
        if value >> (n + step):
            n += step
        step >>= 1
    return n + (value > 0)


cdef inline uint32_t code_of(const Coding* coding, bint linear, uint64_t key) noexcept nogil:
    if linear:
        return <uint32_t><int32_t>((number_of_key(key) - coding.offset) * coding.scale)
    return <uint32_t>((key - coding.lowest) >> coding.shift)


cdef inline uint64_t key_at(const uint64_t* keys, const uint64_t* items, int64_t i) noexcept nogil:
    """The key of the i-th of some rows, or, if `items` is NULL, of row i."""
    return keys[i] if items == NULL else keys[<uint32_t>items[i]]


cdef inline uint64_t item_of(
    const Coding* coding, bint linear, const uint64_t* keys, const uint64_t* items, int64_t i
) noexcept nogil:
    cdef uint64_t row = <uint64_t>i if items == NULL else <uint32_t>items[i]
    return <uint64_t>code_of(coding, linear, keys[row]) << 32 | row


cdef inline void choose_coding(
    const uint64_t* keys, const uint64_t* items, int64_t n, uint64_t lowest, uint64_t highest, Coding* coding
) noexcept nogil:
    """A linear code, if one of bits would not be exact, and the linear one tells enough of the rows apart."""
    cdef int64_t i, squares = 0, n_sampled = n if n < SAMPLE else SAMPLE
    cdef int32_t[SAMPLE] count
    cdef uint64_t key
    cdef double span = number_of_key(highest) - number_of_key(lowest)
    coding.lowest = lowest
    coding.bits = n_bits(highest - lowest)
    coding.shift = coding.bits - CODE_BITS if coding.bits > CODE_BITS else 0
    coding.bits -= coding.shift
    coding.exact = coding.shift == 0
    coding.linear = False
    if coding.exact or not 1e-290 < span < 1e290:
        return
    coding.offset = number_of_key(lowest)
    coding.scale = <double>(<int64_t>((1 << LINEAR_BITS) - 1)) / span
    memset(count, 0, sizeof(count))
    for i in range(n_sampled):
        key = key_at(keys, items, i * n // n_sampled)
        if key >= lowest:       # else it is none
            count[code_of(coding, True, key) >> (LINEAR_BITS - SAMPLE_BITS)] += 1
    for i in range(SAMPLE):
        squares += <int64_t>count[i] * count[i]
    if squares <= UNEVEN * n_sampled:
        coding.linear = True
        coding.bits = LINEAR_BITS


cdef inline void insert_items(const uint64_t* keys, bint exact, uint64_t* items, int64_t n) noexcept nogil:
    """Insertion sort by code, then by key; rows of equal keys stay as they are."""
    cdef int64_t i, j
    cdef uint64_t item, key
    for i in range(1, n):
        item = items[i]
        j = i
        while j > 0 and items[j - 1] >> 32 > item >> 32:
            items[j] = items[j - 1]
            j -= 1
        if not exact and j > 0 and items[j - 1] >> 32 == item >> 32:
            key = keys[<uint32_t>item]
            while j > 0 and items[j - 1] >> 32 == item >> 32 and keys[<uint32_t>items[j - 1]] > key:
                items[j] = items[j - 1]
                j -= 1
        items[j] = item


cdef inline void scatter_keys(
    const Coding* coding, bint linear, const uint64_t* keys, const uint64_t* items, int64_t n, int low, int digit,
    int n_digits, uint32_t* positions, uint64_t* target
) noexcept nogil:
    """Count the digits of all codes from bit `low` on, the cells of a digit being where its items belong; and sort the
    items by the lowest."""
    cdef int64_t i
    cdef int d
    cdef uint32_t code, here, total, mask = (1 << digit) - 1
    cdef uint32_t* position
    cdef uint64_t item
    memset(positions, 0, <size_t>n_digits * sizeof(uint32_t) << digit)
    if n_digits == 2:
        for i in range(n):
            code = code_of(coding, linear, key_at(keys, items, i)) >> low
            positions[code & mask] += 1
            (positions + (1 << digit))[(code >> digit) & mask] += 1
    elif n_digits == 3:
        for i in range(n):
            code = code_of(coding, linear, key_at(keys, items, i)) >> low
            positions[code & mask] += 1
            (positions + (1 << digit))[(code >> digit) & mask] += 1
            (positions + (2 << digit))[(code >> 2 * digit) & mask] += 1
    else:
        for i in range(n):
            code = code_of(coding, linear, key_at(keys, items, i)) >> low
            for d in range(n_digits):
                (positions + (d << digit))[(code >> d * digit) & mask] += 1
    for d in range(n_digits):
        position = positions + (d << digit)
        total = 0
        for i in range(1 << digit):
            here = position[i]
            position[i] = total
            total += here
    for i in range(n):
        item = item_of(coding, linear, keys, items, i)
        here = <uint32_t>(item >> (32 + low)) & mask
        target[positions[here]] = item
        positions[here] += 1


cdef inline void scatter_items(
    const uint64_t* source, int64_t n, int low, int digit, uint32_t* position, uint64_t* target
) noexcept nogil:
    """Sort items by the digit from bit `low` on."""
    cdef int64_t i
    cdef uint32_t here, mask = (1 << digit) - 1
    for i in range(n):
        here = <uint32_t>(source[i] >> (32 + low)) & mask
        target[position[here]] = source[i]
        position[here] += 1


cdef inline uint64_t* sort_rows(
    const uint64_t* keys, const uint64_t* items, int64_t n, uint64_t* first, uint64_t* second, Coding* coding
) noexcept nogil:
    """The items of some rows, sorted by key, rows of equal keys as they come, and the coding of these items. Returns
    `first` or `second`, each with room for n: where they are.

    `items`: rows in their low halves, may be `first`; NULL: rows 0, 1, ... The keys are those of numbers.
    """
    cdef uint32_t[MOST_DIGITS << WIDE_DIGIT] positions
    cdef int64_t i, start, stop
    cdef uint64_t key, lowest, highest, before
    cdef bint ascending = True
    cdef int digit, n_digits, d, low = 0
    cdef uint64_t* source
    cdef uint64_t* target
    cdef uint64_t* found
    cdef Coding finer
    lowest = highest = before = key_at(keys, items, 0)
    for i in range(n):
        key = key_at(keys, items, i)
        ascending &= key >= before
        before = key
        lowest = key if key < lowest else lowest
        highest = key if key > highest else highest
    choose_coding(keys, items, n, lowest, highest, coding)
    if ascending or n <= FEW:
        for i in range(n):
            first[i] = item_of(coding, coding.linear, keys, items, i)
        if not ascending:
            insert_items(keys, coding.exact, first, n)
        return first
    digit = NARROW_DIGIT if n <= NARROW_ROWS else WIDE_DIGIT
    n_digits = (coding.bits + digit - 1) // digit
    if coding.linear:
        n_digits = LINEAR_DIGITS
        low = coding.bits - n_digits * digit
        scatter_keys(coding, True, keys, items, n, low, digit, n_digits, positions, second)
    elif items == NULL:
        scatter_keys(coding, False, keys, NULL, n, low, digit, n_digits, positions, second)
    else:
        scatter_keys(coding, False, keys, items, n, low, digit, n_digits, positions, second)
    source = second
    target = first
    for d in range(1, n_digits):
        scatter_items(source, n, low + d * digit, digit, positions + (d << digit), target)
        found = source
        source = target
        target = found
    if coding.exact:
        return source
    # Runs of items that agree in all the digits.
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and source[stop] >> (32 + low) == source[start] >> (32 + low):
            stop += 1
        if 1 < stop - start <= FEW:
            insert_items(keys, False, source + start, stop - start)
        elif stop - start > FEW:
            found = sort_rows(keys, source + start, stop - start, source + start, target + start, &finer)
            for i in range(stop - start):
                source[start + i] = item_of(coding, coding.linear, keys, found, i)
        start = stop
    return source
