# SPDX-License-Identifier: BSD-3-Clause
"""Memory for the core: the C library's, which the debug build can make fail (alloc.h)."""

from libc.stdint cimport int64_t

cdef extern from "kernels/alloc.h" nogil:
    void* malloc "ft_malloc" (size_t n_bytes)
    void* calloc "ft_calloc" (size_t n, size_t n_bytes)
    void* realloc "ft_realloc" (void* block, size_t n_bytes)
    void free "ft_free" (void* block)

    bint COUNTS_MEMORY "FT_COUNTS_MEMORY"
    void fail_at "ft_fail_at" (int64_t number)
    int64_t count_made "ft_count_made" ()
    int64_t count_held "ft_count_held" ()
