# SPDX-License-Identifier: BSD-3-Clause
"""Heaps: sorting by a key without recursion and without a worst case."""

from libc.stdint cimport int64_t


cdef inline bint precedes(const double* key, int64_t a, int64_t b) noexcept nogil:
    """Smaller key first, ties to the smaller number."""
    return key[a] < key[b] or (key[a] == key[b] and a < b)


cdef inline void heap_up(const double* key, int64_t* heap, int64_t position, int64_t item) noexcept nogil:
    """Put `item` into a heap with the first item on top, at `position` or above."""
    while position > 0 and precedes(key, item, heap[(position - 1) // 2]):
        heap[position] = heap[(position - 1) // 2]
        position = (position - 1) // 2
    heap[position] = item


cdef inline void heap_down(
    const double* key, int64_t* heap, int64_t position, int64_t n, bint last_on_top
) noexcept nogil:
    """Let the item at `position` sink; the first item (or the last) comes to the top."""
    cdef int64_t child, item = heap[position]
    while 2 * position + 1 < n:
        child = 2 * position + 1
        if child + 1 < n and precedes(key, heap[child + 1], heap[child]) != last_on_top:
            child += 1
        if precedes(key, heap[child], item) == last_on_top:
            break
        heap[position] = heap[child]
        position = child
    heap[position] = item


cdef inline void sort_by_key(const double* key, int64_t* items, int64_t n) noexcept nogil:
    """Heap sort of `items` by key[item], ties by number."""
    cdef int64_t i, top
    for i in range(n // 2 - 1, -1, -1):
        heap_down(key, items, i, n, True)
    for i in range(n - 1, 0, -1):
        top = items[0]
        items[0] = items[i]
        items[i] = top
        heap_down(key, items, 0, i, True)
