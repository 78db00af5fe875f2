/* SPDX-License-Identifier: BSD-3-Clause
 *
 * FT_CLONES before a function makes the compiler write it several times, for newer and older x86-64 processors; the loader
 * takes the right one. `flatten` pulls what the function calls into every copy. Needs GCC >= 12 and glibc's loader; nothing
 * elsewhere. -ffp-contract=off (setup.py) keeps the copies from rounding differently. FT_APART: the same for a function that
 * stays one, also where `flatten` would pull it in. FT_PREFETCH(at): memory that is read soon.
 *
 * FT_COPIES names the copies that there are. With -DFT_ONLY=1, 3 or 4 there is one alone, that for x86-64, x86-64-v3 or
 * x86-64-v4, on every processor: so that each can be tested on a machine for which the loader would take another.
 */
#ifndef FASTTREE_ISA_H
#define FASTTREE_ISA_H

#if !defined(FT_NO_CLONES) && defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) \
    && !defined(__clang__) && __GNUC__ >= 12 && !defined(__SANITIZE_THREAD__)
#if !defined(FT_ONLY)
#define FT_CLONES __attribute__((flatten, target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#define FT_COPIES "x86-64, x86-64-v3, x86-64-v4"
#elif FT_ONLY == 1
#define FT_CLONES __attribute__((flatten))
#define FT_COPIES "x86-64"
#elif FT_ONLY == 3
#define FT_CLONES __attribute__((flatten, target("arch=x86-64-v3")))
#define FT_COPIES "x86-64-v3"
#elif FT_ONLY == 4
#define FT_CLONES __attribute__((flatten, target("arch=x86-64-v4")))
#define FT_COPIES "x86-64-v4"
#else
#error "FT_ONLY must be 1, 3 or 4"
#endif
#elif defined(FT_ONLY)
#error "FT_ONLY chooses one of several copies; this compiler makes only one"
#else
#define FT_CLONES
#define FT_COPIES ""
#endif

#if defined(__GNUC__)
#define FT_APART __attribute__((noinline)) FT_CLONES
#else
#define FT_APART FT_CLONES
#endif

#if defined(__GNUC__)
#define FT_PREFETCH(at) __builtin_prefetch(at)
#else
#define FT_PREFETCH(at) ((void)0)
#endif

#endif
