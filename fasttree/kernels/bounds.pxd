# SPDX-License-Identifier: BSD-3-Clause
"""Can any cut of an attribute cost less than a limit, by gini between two classes? Told without a division, and often
without a look at the cuts themselves: most attributes of a node cannot be better than the best so far.

"No" is certain, for the limit is raised by more than rounding amounts to; after "perhaps" the cuts are scored as ever.
"""

from libc.stdint cimport int64_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #include "kernels/isa.h"

    #define FT_LANES 8
    #define FT_SPAN 16

    /* Do the sides (a, b) and (A - a, B - b) cost less than the limit? Half of what they cost is a b / (a + b) and the
       same of the other side; here all is multiplied by both weights. */
    #define FT_CHEAP(a, b) \\
        ((a) * (b) * (total - ((a) + (b))) + (A - (a)) * (B - (b)) * ((a) + (b)) \\
            < limit * ((a) + (b)) * (total - ((a) + (b))))

    /* The cuts of a histogram. A cell has the weight of a code above 32 bits, and that of class 1 below. */
    FT_APART static int ft_cells_may_cost_less(
        const uint64_t* cells, int n_codes, double total, double B, double limit
    ) {
        uint64_t run = 0, left[256];
        int64_t found = 0;
        double A = total - B;
        int k;
        for (k = 0; k < n_codes; k++) left[k] = run += cells[k];
        for (k = 0; k < n_codes; k++) {
            double n = (double)(int32_t)(left[k] >> 32), b = (double)(int32_t)left[k], a = n - b;
            found |= FT_CHEAP(a, b);
        }
        return found != 0;
    }

    /* The cuts behind n sorted entries of weight 1, by spans of them. A cut inside a span has on its left what stands
       before the span, and some of its rows. Costs are concave in what the sides hold, so none of these cuts costs less
       than the cheapest of four: none or all of the rows on the left, or those of one class alone. */
    FT_APART static int ft_entries_may_cost_less(
        const uint64_t* entries, int64_t n, double total, double B, double limit
    ) {
        double A = total - B, ones = 0.0;
        int64_t start, in_span[FT_LANES];
        int s, j;
        for (start = 0; start + FT_LANES * FT_SPAN <= n; start += FT_LANES * FT_SPAN) {
            double left[FT_LANES + 1];
            int64_t found[FT_LANES], any = 0;
            for (s = 0; s < FT_LANES; s++) {
                int64_t sum = 0;
                for (j = 0; j < FT_SPAN; j++) sum += (entries[start + s * FT_SPAN + j] >> 32) & 0xFF;
                in_span[s] = sum;
            }
            left[0] = ones;
            for (s = 0; s < FT_LANES; s++) left[s + 1] = left[s] + (double)in_span[s];
            for (s = 0; s < FT_LANES; s++) {
                double b0 = left[s], b1 = left[s + 1];
                double a0 = (double)(start + FT_SPAN * s) - b0, a1 = (double)(start + FT_SPAN * (s + 1)) - b1;
                found[s] = FT_CHEAP(a0, b0) | FT_CHEAP(a1, b1) | FT_CHEAP(a1, b0) | FT_CHEAP(a0, b1);
            }
            for (s = 0; s < FT_LANES; s++) any |= found[s];
            if (any) return 1;
            ones = left[FT_LANES];
        }
        while (start < n) {
            int64_t stop = start + FT_SPAN < n ? start + FT_SPAN : n;
            double sum = 0.0, a0 = (double)start - ones, a1, b1;
            for (j = (int)start; j < (int)stop; j++) sum += (double)((entries[j] >> 32) & 0xFF);
            b1 = ones + sum;
            a1 = (double)stop - b1;
            if (FT_CHEAP(a0, ones) | FT_CHEAP(a1, b1) | FT_CHEAP(a1, ones) | FT_CHEAP(a0, b1)) return 1;
            start = stop;
            ones = b1;
        }
        return 0;
    }
    """
    bint ft_cells_may_cost_less(
        const uint64_t* cells, int n_codes, double total, double total1, double limit) noexcept nogil
    bint ft_entries_may_cost_less(
        const uint64_t* entries, int64_t n, double total, double total1, double limit) noexcept nogil
