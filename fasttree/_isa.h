/* SPDX-License-Identifier: BSD-3-Clause
 *
 * FT_CLONES before a function makes the compiler write it several times, for newer and older x86-64 processors; the loader
 * takes the right one. `flatten` pulls what the function calls into every copy. Needs GCC >= 12 and glibc's loader; nothing
 * elsewhere. -ffp-contract=off (setup.py) keeps the copies from rounding differently. FT_APART: the same for a function that
 * stays one, also where `flatten` would pull it in.
 */
#ifndef FASTTREE_ISA_H
#define FASTTREE_ISA_H

#if !defined(FT_NO_CLONES) && defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) \
    && !defined(__clang__) && __GNUC__ >= 12 && !defined(__SANITIZE_THREAD__)
#define FT_CLONES __attribute__((flatten, target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define FT_CLONES
#endif

#if defined(__GNUC__)
#define FT_APART __attribute__((noinline)) FT_CLONES
#else
#define FT_APART FT_CLONES
#endif

#endif
