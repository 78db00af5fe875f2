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

    /* The 128 bits of a product, from those of its halves: not every compiler has numbers of that size. */
    static inline ft_wide ft_product(uint64_t a, uint64_t b) {
        uint64_t a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
        uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (middle & 0xFFFFFFFFu);
        ft_wide product;
        product.high = a1 * b1 + (middle >> 32) + (other >> 32);
        product.low = (other << 32) | (low & 0xFFFFFFFFu);
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

    /* a / b for a < b < 2^127, as a fraction of 2^128, rounded down. */
    static inline ft_wide ft_quotient(ft_wide a, ft_wide b) {
        ft_wide quotient = {0, 0};
        int bit;
        for (bit = 0; bit < 128; bit++) {
            a.high = (a.high << 1) | (a.low >> 63);
            a.low <<= 1;
            quotient.high = (quotient.high << 1) | (quotient.low >> 63);
            quotient.low <<= 1;
            if (a.high > b.high || (a.high == b.high && a.low >= b.low)) {
                a = ft_difference(a, b);
                quotient.low |= 1;
            }
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
