/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The core's allocator. In the debug build (FT_FAILING_MEMORY, see setup.py) it counts what it hands out, and a test can
 * ask for one of the allocations to fail; otherwise it is the C library's own. A request for 0 bytes is one for a byte
 * everywhere, so that NULL always means that there is no memory.
 */
#ifndef FASTTREE_ALLOC_H
#define FASTTREE_ALLOC_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(FT_FAILING_MEMORY) && defined(__GNUC__)

#define FT_COUNTS_MEMORY 1
static int64_t ft_made = 0;         /* allocations since `ft_fail_at` */
static int64_t ft_failing = 0;      /* the number of the one that is to fail; 0: none */
static int64_t ft_held = 0;         /* blocks that were not freed */

static inline int ft_fails(void) {
    return __atomic_add_fetch(&ft_made, 1, __ATOMIC_SEQ_CST) == __atomic_load_n(&ft_failing, __ATOMIC_SEQ_CST);
}

static inline void *ft_note(void *block) {
    if (block != NULL) __atomic_add_fetch(&ft_held, 1, __ATOMIC_SEQ_CST);
    return block;
}

static inline void ft_fail_at(int64_t number) {
    __atomic_store_n(&ft_made, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&ft_failing, number, __ATOMIC_SEQ_CST);
}

static inline int64_t ft_count_made(void) { return __atomic_load_n(&ft_made, __ATOMIC_SEQ_CST); }
static inline int64_t ft_count_held(void) { return __atomic_load_n(&ft_held, __ATOMIC_SEQ_CST); }

#else

#define FT_COUNTS_MEMORY 0
static inline int ft_fails(void) { return 0; }
static inline void *ft_note(void *block) { return block; }
static inline void ft_fail_at(int64_t number) { (void)number; }
static inline int64_t ft_count_made(void) { return 0; }
static inline int64_t ft_count_held(void) { return 0; }

#endif

static inline void *ft_malloc(size_t n_bytes) {
    return ft_fails() ? NULL : ft_note(malloc(n_bytes > 0 ? n_bytes : 1));
}

static inline void *ft_calloc(size_t n, size_t n_bytes) {
    return ft_fails() ? NULL : ft_note(calloc(n > 0 ? n : 1, n_bytes));
}

static inline void *ft_realloc(void *block, size_t n_bytes) {
    void *other;
    if (ft_fails()) return NULL;
    other = realloc(block, n_bytes > 0 ? n_bytes : 1);
    return block == NULL ? ft_note(other) : other;
}

static inline void ft_free(void *block) {
#if FT_COUNTS_MEMORY
    if (block != NULL) __atomic_sub_fetch(&ft_held, 1, __ATOMIC_SEQ_CST);
#endif
    free(block);
}

#endif
