# SPDX-License-Identifier: BSD-3-Clause
"""Weights of 128 bits, 64 of them behind the point: what shares of rows come to but for 2^-64 of a step.

Growth counts whole steps, since sums of these are exact. A third of a row is no whole number of steps, so that the
class shares of two nodes may come apart that are equal by fractions; sums of these weights are as exact, and finer.
"""

from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #include <stdint.h>

    typedef struct { uint64_t high, low; } ft_wide;

    static inline ft_wide ft_product(uint64_t a, uint64_t b) {
        ft_wide product;
    #ifdef __SIZEOF_INT128__
        unsigned __int128 both = (unsigned __int128)a * b;
        product.high = (uint64_t)(both >> 64);
        product.low = (uint64_t)both;
    #else
        uint64_t a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
        uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (middle & 0xFFFFFFFFu);
        product.high = a1 * b1 + (middle >> 32) + (other >> 32);
        product.low = (other << 32) | (low & 0xFFFFFFFFu);
    #endif
        return product;
    }

    static inline ft_wide ft_wide_sum(ft_wide a, ft_wide b) {
        ft_wide sum;
        sum.low = a.low + b.low;
        sum.high = a.high + b.high + (sum.low < a.low);
        return sum;
    }

    static inline ft_wide ft_difference(ft_wide a, ft_wide b) {
        ft_wide difference;
        difference.low = a.low - b.low;
        difference.high = a.high - b.high - (a.low < b.low);
        return difference;
    }

    static inline ft_wide ft_shifted(ft_wide a, int bits) {     /* to the left, by 1 to 63 */
        ft_wide shifted;
        shifted.high = (a.high << bits) | (a.low >> (64 - bits));
        shifted.low = a.low << bits;
        return shifted;
    }

    /* a / b for a < b, as a fraction of 2^128, rounded down: long division by digits of 32 bits. Of nothing, all. */
    static inline ft_wide ft_quotient(ft_wide a, ft_wide b) {
        ft_wide quotient = {0, 0}, product, rest;
        uint64_t digit, above, middle;
        int bits, place;
        if (b.high == 0) {
            a.high = a.low, b.high = b.low;
            a.low = b.low = 0;
        }
        if (b.high == 0) {
            quotient.high = quotient.low = UINT64_MAX;
            return quotient;
        }
        for (bits = 32; bits; bits >>= 1)
            if (b.high >> (64 - bits) == 0)
                a = ft_shifted(a, bits), b = ft_shifted(b, bits);
        for (place = 0; place < 4; place++) {
            /* With the first bit of b set, the guess is right or up to two too large. */
            digit = a.high / (b.high >> 32);
            if (digit >> 32)
                digit = 0xFFFFFFFFu;
            product = ft_product(b.low, digit);
            middle = product.high;
            rest = ft_shifted(a, 32);
            above = a.high >> 32;
            above -= rest.low < product.low && rest.high-- == 0;
            rest.low -= product.low;
            product = ft_product(b.high, digit);
            above -= product.high;
            above -= rest.high < middle;
            rest.high -= middle;
            above -= rest.high < product.low;
            rest.high -= product.low;
            while (above >> 63) {
                a = rest;
                rest = ft_wide_sum(a, b);
                above += rest.high < a.high || (rest.high == a.high && rest.low < a.low);
                digit--;
            }
            a = rest;
            quotient = ft_shifted(quotient, 32);
            quotient.low |= digit;
        }
        return quotient;
    }

    /* A fraction of `a`; up to three too little in the last place. */
    static inline ft_wide ft_part(ft_wide a, ft_wide fraction) {
        ft_wide part = ft_product(a.high, fraction.high), carry = {0, 0};
        carry.low = ft_product(a.high, fraction.low).high;
        part = ft_wide_sum(part, carry);
        carry.low = ft_product(a.low, fraction.high).high;
        return ft_wide_sum(part, carry);
    }
    """
    ctypedef struct Wide "ft_wide":
        uint64_t high
        uint64_t low

    Wide wide_product "ft_product" (uint64_t a, uint64_t b) noexcept nogil
    Wide wide_sum "ft_wide_sum" (Wide a, Wide b) noexcept nogil
    Wide wide_difference "ft_difference" (Wide a, Wide b) noexcept nogil
    Wide wide_quotient "ft_quotient" (Wide a, Wide b) noexcept nogil
    Wide wide_part "ft_part" (Wide a, Wide fraction) noexcept nogil
