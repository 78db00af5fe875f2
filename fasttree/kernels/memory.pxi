# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: memory that was freed, back to the system; and what tests ask of the allocator.

from libc.stdint cimport int64_t, uint64_t

from fasttree.kernels.alloc cimport COUNTS_MEMORY, count_held, count_made, fail_at

cdef extern from *:
    """
    #if defined(__GLIBC__)
    #include <malloc.h>
    static inline void ft_trim_heap(void) { malloc_trim(0); }
    #else
    static inline void ft_trim_heap(void) { }
    #endif
    #if defined(__linux__)
    #include <stdint.h>
    #include <sys/mman.h>
    /* Whole pages alone: the others hold something else, too. */
    static inline void ft_drop_pages(void* start, int64_t n_bytes) {
        uintptr_t first = ((uintptr_t)start + 4095) & ~(uintptr_t)4095;
        uintptr_t last = ((uintptr_t)start + (uintptr_t)n_bytes) & ~(uintptr_t)4095;
        if (first < last) madvise((void*)first, last - first, MADV_DONTNEED);
    }
    #else
    static inline void ft_drop_pages(void* start, int64_t n_bytes) { (void)start; (void)n_bytes; }
    #endif
    """
    void ft_trim_heap() nogil
    void ft_drop_pages(void* start, int64_t n_bytes) nogil


def trim_heap():
    """What the C library keeps of freed memory, back to the system, where it can."""
    with nogil:
        ft_trim_heap()


def release_pages(uint64_t[::1] entries):
    """Release the memory of entries that are not needed any more to the system. What stands there is undefined."""
    if entries.shape[0] > 0:
        with nogil:
            ft_drop_pages(&entries[0], entries.shape[0] * sizeof(uint64_t))


def fail_allocation(int64_t number):
    """Let the allocation of this number, counted from now on, find no memory; 0: none. Only the debug build can do
    that: False, and nothing fails, in another."""
    fail_at(number)
    return COUNTS_MEMORY


def count_allocations():
    """How many allocations there were since `fail_allocation`, and how many blocks are not freed; 0 and 0 in a build
    that does not count."""
    return count_made(), count_held()
