# SPDX-License-Identifier: BSD-3-Clause
"""Rows in the order of their keys, as fast on every processor.

Each row gets an *item*: its *code* in the high half, its number in the low half. Codes never fall where keys rise.
Items are sorted by their codes: many are parted by the highest digit, so that what follows stays in the cache; not so
many are sorted by two digits, from the lower to the higher, which keeps rows of equal codes in order. The few that
agree in these are sorted by what is left of their codes, and by their keys in the end. Which code is taken depends on
the keys, the order does not.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset


cdef extern from *:
    """
    #define FT_NO_KEY UINT64_MAX    /* greater than that of any number */
    """
    const uint64_t NO_KEY "FT_NO_KEY"


cdef enum:
    FEW = 20                # items that are sorted by insertion
    MANY = 1 << 15          # more are parted first
    PART_BITS = 11          # of about as many items each
    LEAST_PARTS_BITS = 8
    DIGIT_BITS = 11         # the most of a digit
    ITEM_BLOCK = 512
    LINEAR_BITS = 31        # what an int32 holds
    LINEAR_MOST = (1 << 31) - 1
    CODE_BITS = 32
    SAMPLE_BITS = 10
    SAMPLE = 1 << SAMPLE_BITS   # keys by which a code is chosen, at most; ...
    SAMPLED = 8                 # ... one in so many
    LEAST_TRIMMED = 1024    # rows for which a linear code without the outermost is tried
    FEW_SAMPLED = 128
    OUTERMOST = 12          # of these on each side
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


cdef inline double linear_code(const Coding* coding, double value) noexcept nogil:
    value = (value - coding.offset) * coding.scale
    value = value if value > 0.0 else 0.0
    return value if value < <double>LINEAR_MOST else <double>LINEAR_MOST


cdef inline uint32_t code_of(const Coding* coding, bint linear, uint64_t key) noexcept nogil:
    if linear:
        return <uint32_t><int32_t>linear_code(coding, number_of_key(key))
    return <uint32_t>((key - coding.lowest) >> coding.shift)


cdef inline double power_of_two(int exponent) noexcept nogil:
    cdef uint64_t bits = <uint64_t>(exponent + 1023) << 52
    cdef double value
    memcpy(&value, &bits, 8)
    return value


cdef inline bint is_spread(
    const uint64_t* keys, int64_t n, double low, double high, Coding* coding
) noexcept nogil:
    """Would a linear code between two numbers, which is made of the coding, tell enough of the keys apart?"""
    cdef int32_t[SAMPLE] count
    cdef uint64_t[SAMPLE] last
    cdef uint64_t key, bits
    cdef int64_t i, cell, squares = 0, size = n // SAMPLED if n // SAMPLED < SAMPLE else SAMPLE
    cdef int64_t step = n // (size + 1)
    cdef double span = high - low
    if not 1e-290 < span < 1e290:
        return False
    # A power of two, so that whole numbers have codes of their own.
    memcpy(&bits, &span, 8)
    coding.offset = low
    coding.scale = power_of_two(LINEAR_BITS - 1 - (<int>(bits >> 52) - 1023))
    memset(count, 0, sizeof(count))
    for i in range(size):
        key = keys[i * step]
        cell = code_of(coding, True, key) >> (LINEAR_BITS - SAMPLE_BITS)
        if key >= coding.lowest and (count[cell] == 0 or last[cell] != key):
            squares += 2 * count[cell] + 1
            count[cell] += 1
            last[cell] = key
    return squares <= UNEVEN * size


cdef inline void code_by_bits(uint64_t lowest, uint64_t highest, Coding* coding) noexcept nogil:
    """Make the code the highest bits in which keys differ."""
    cdef int bits = n_bits(highest - lowest)
    coding.linear = False
    coding.scale = 1.0
    coding.lowest = lowest
    coding.shift = bits - CODE_BITS if bits > CODE_BITS else 0
    coding.bits = bits - coding.shift


cdef inline void choose_coding(
    const uint64_t* keys, int64_t n, uint64_t lowest, uint64_t highest, Coding* coding
) noexcept nogil:
    """A linear code between the least and the greatest number, or else without the outermost, if that tells enough of
    the rows apart; else one of bits. Rows whose keys are lower than the lowest do not count."""
    cdef uint64_t[FEW_SAMPLED] ascending
    cdef uint64_t key
    cdef int64_t i, j, size = 0
    code_by_bits(lowest, highest, coding)
    coding.linear = is_spread(keys, n, number_of_key(lowest), number_of_key(highest), coding)
    if not coding.linear and n >= LEAST_TRIMMED:
        for i in range(FEW_SAMPLED):
            key = keys[i * (n // FEW_SAMPLED)]
            if key < lowest:
                continue
            j = size
            while j > 0 and ascending[j - 1] > key:
                ascending[j] = ascending[j - 1]
                j -= 1
            ascending[j] = key
            size += 1
        if size > 2 * OUTERMOST:
            coding.linear = is_spread(
                keys, n, number_of_key(ascending[OUTERMOST]), number_of_key(ascending[size - 1 - OUTERMOST]), coding)
    if coding.linear:
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


cdef inline void count_digit(
    const uint64_t* items, int64_t n, int low, int digit, uint32_t* count
) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        count[(items[i] >> low) & ((1 << digit) - 1)] += 1


cdef inline void begin_cells(uint32_t* count, int digit) noexcept nogil:
    """From how many there are in each cell to where it begins."""
    cdef int i
    cdef uint32_t here, total = 0
    for i in range(1 << digit):
        here = count[i]
        count[i] = total
        total += here


cdef inline void scatter(
    const uint64_t* source, int64_t n, int low, int digit, uint32_t* position, uint64_t* target
) noexcept nogil:
    """Sort items by the digit from bit `low` on."""
    cdef int64_t i
    cdef uint64_t item
    cdef uint32_t cell
    for i in range(n):
        item = source[i]
        cell = (item >> low) & ((1 << digit) - 1)
        target[position[cell]] = item
        position[cell] += 1


cdef inline void sort_items(
    const uint64_t* keys, const Coding* coding, int bits, uint64_t* items, int64_t n, uint64_t* scratch
) noexcept nogil:
    """Sort items whose codes agree in all but the lowest `bits`, by key, equal ones as they come."""
    cdef uint32_t[2 << DIGIT_BITS] position
    cdef int64_t i, start, stop
    cdef int low, digit
    if n <= FEW:
        insert_items(keys, coding.exact, items, n)
        return
    i = 1
    while i < n and (items[i] ^ items[0]) >> 32 == 0:
        i += 1
    if i == n:
        if not coding.exact:
            sort_again(keys, items, n, scratch)
        return
    if n > MANY:
        digit = n_bits(n) - PART_BITS
        digit = digit if digit > LEAST_PARTS_BITS else LEAST_PARTS_BITS
        digit = digit if digit < DIGIT_BITS else DIGIT_BITS
        digit = digit if digit < bits else bits
        low = 32 + bits - digit
        memset(position, 0, sizeof(uint32_t) << digit)
        count_digit(items, n, low, digit, position)
        if position[(items[0] >> low) & ((1 << digit) - 1)] == n:
            sort_items(keys, coding, bits - digit, items, n, scratch)
            return
        begin_cells(position, digit)
        scatter(items, n, low, digit, position, scratch)
        start = 0
        for i in range(1 << digit):
            stop = position[i]
            if stop - start > 1:
                sort_items(keys, coding, bits - digit, scratch + start, stop - start, items + start)
            start = stop
        memcpy(items, scratch, n * sizeof(uint64_t))
        return
    digit = (n_bits(n) + 5) >> 1
    digit = digit if 2 * digit < bits else (bits + 1) >> 1
    low = bits - 2 * digit if bits > 2 * digit else 0
    memset(position, 0, sizeof(uint32_t) << (digit + 1))
    for i in range(n):
        position[(items[i] >> (32 + low)) & ((1 << digit) - 1)] += 1
        (position + (1 << digit))[(items[i] >> (32 + low + digit)) & ((1 << digit) - 1)] += 1
    begin_cells(position, digit)
    begin_cells(position + (1 << digit), digit)
    scatter(items, n, 32 + low, digit, position, scratch)
    scatter(scratch, n, 32 + low + digit, digit, position + (1 << digit), items)
    if coding.exact and low == 0:
        return
    start = 0
    for i in range(1, n + 1):
        if i < n and (items[i] ^ items[i - 1]) >> (32 + low) == 0:
            continue
        if i - start > 1:
            sort_items(keys, coding, low, items + start, i - start, scratch + start)
        start = i


cdef inline void sort_again(
    const uint64_t* keys, uint64_t* items, int64_t n, uint64_t* scratch
) noexcept nogil:
    """Sort items of one code, by the bits in which their keys differ; the second time all of these fit a code."""
    cdef Coding finer
    cdef int64_t i
    cdef uint64_t key, lowest, highest, code = items[0] >> 32 << 32
    lowest = highest = keys[<uint32_t>items[0]]
    for i in range(n):
        key = keys[<uint32_t>items[i]]
        lowest = key if key < lowest else lowest
        highest = key if key > highest else highest
    if lowest == highest:
        return
    code_by_bits(lowest, highest, &finer)
    finer.exact = finer.shift == 0
    for i in range(n):
        items[i] = <uint64_t>code_of(&finer, False, keys[<uint32_t>items[i]]) << 32 | <uint32_t>items[i]
    sort_items(keys, &finer, finer.bits, items, n, scratch)
    for i in range(n):
        items[i] = code | <uint32_t>items[i]


cdef inline void write_items(
    const uint64_t* keys, int64_t n, Coding* coding, bint linear, uint64_t* items
) noexcept nogil:
    """The items of all rows, and whether their codes are exact."""
    cdef double[ITEM_BLOCK] value, code
    cdef int64_t i, m, start = 0, inexact = 0
    cdef uint64_t key, lost = 0, lowest = coding.lowest
    cdef double offset = coding.offset, width = 1.0 / coding.scale
    while start < n:
        m = n - start if n - start < ITEM_BLOCK else ITEM_BLOCK
        if not linear:
            for i in range(start, start + m):
                key = (keys[i] if keys[i] > lowest else lowest) - lowest
                lost |= key
                items[i] = key >> coding.shift << 32 | <uint64_t>i
        else:
            for i in range(m):
                key = keys[start + i] if keys[start + i] > lowest else lowest
                value[i] = number_of_key(key)
                code[i] = linear_code(coding, value[i])
            for i in range(m):
                items[start + i] = <uint64_t><uint32_t><int32_t>code[i] << 32 | <uint64_t>(start + i)
            for i in range(m):      # if codes lead back to the numbers, no two of these share one
                inexact |= <int64_t>(<double><int32_t>code[i] * width + offset != value[i])
        start += m
    coding.exact = inexact == 0 if linear else lost & ((<uint64_t>1 << coding.shift) - 1) == 0


cdef inline int64_t key_range(const uint64_t* keys, int64_t n, uint64_t* lowest, uint64_t* highest) noexcept nogil:
    """The least and the greatest key other than 0, and how many are 0."""
    cdef int64_t i, zeros = 0
    cdef uint64_t key, low = NO_KEY, high = 0
    for i in range(n):
        key = keys[i]
        zeros += key == 0
        high = key if key > high else high
        low = key - 1 if key - 1 < low else low     # of 0 the greatest of all
    lowest[0] = low + 1
    highest[0] = high
    return zeros


cdef inline int64_t sort_rows(
    const uint64_t* keys, int64_t n, bint numbers, uint64_t* items, uint64_t* scratch, bint* exact
) noexcept nogil:
    """The items of rows 0, 1, ... sorted by key, rows of equal keys as they come; those of key 0 in front. Returns how
    many these are. `numbers`: are keys those of numbers (`key_of_number`)? `exact`: have different keys, other than 0,
    different codes? `scratch` has room for n."""
    cdef Coding coding
    cdef int64_t i = 1, zero = 0, known, n_zeros
    cdef uint64_t lowest, highest
    cdef uint64_t* target
    n_zeros = known = key_range(keys, n, &lowest, &highest)
    exact[0] = True
    if highest == 0:
        for i in range(n):
            items[i] = <uint64_t>i
        return n
    if numbers:
        choose_coding(keys, n, lowest, highest, &coding)
    else:
        code_by_bits(lowest, highest, &coding)
    target = items if n_zeros == 0 else scratch
    if coding.linear:
        write_items(keys, n, &coding, True, target)
    else:
        write_items(keys, n, &coding, False, target)
    exact[0] = coding.exact
    if n_zeros == 0:
        while i < n and keys[i - 1] <= keys[i]:
            i += 1
        if i == n:
            return 0
    else:
        for i in range(n):
            if keys[i] == 0:
                items[zero] = <uint64_t>i
                zero += 1
            else:
                items[known] = scratch[i]
                known += 1
    sort_items(keys, &coding, coding.bits, items + n_zeros, n - n_zeros, scratch)
    return n_zeros
