# SPDX-License-Identifier: BSD-3-Clause
"""Class shares where rows are shared out: what is equal by fractions is equal.

The weights of such nodes come from growth in two words (`wide.pxd`). Here they become pairs of doubles, `high + low`,
of which `high` is the number as one double says it; a share is worked out with some hundred bits and rounded once. So
nodes of equal shares have the same doubles.

A prediction may be a sum over several nodes. What rounding it leaves, a few 2^-53, must not tell two rows apart: it
goes to the nearest multiple of 1 / SHARE_STEPS. Shares that follow from rounded counts do so, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fasttree.encoding.weights import MOST_BITS

# 2^14 * 27 * 25 * 7 * 11 * 13 * 17: a fraction whose denominator divides it stays the double that it is, and none of a
# few thousand's denominator lies near the middle between two steps, where rounding errors would decide.
SHARE_STEPS = 188_194_406_400.0
SPLITTER = 2.0**27 + 1


def settled(shares: np.ndarray) -> np.ndarray:
    """The nearest multiples of 1 / SHARE_STEPS, at most 2.7e-12 away; of two the even one."""
    return np.asarray(np.rint(shares * SHARE_STEPS) / SHARE_STEPS)


def has_parts(counts: np.ndarray) -> bool:
    """Do class counts hold shares of rows that no grid of weights could hold? Those of whole rows are multiples of its
    steps."""
    steps = np.ldexp(counts, MOST_BITS)
    return bool((steps != np.rint(steps)).any())


class Pair(NamedTuple):
    """Numbers `high + low`, where `low` is what rounding to `high` left."""

    high: np.ndarray
    low: np.ndarray

    @staticmethod
    def of_words(words: np.ndarray) -> Pair:
        """The pairs of words [..., 2]: the whole part and 2^64 times what is behind the point."""
        whole, middle = words[..., 0].astype(np.float64), words[..., 1] >> np.uint64(32)
        least = words[..., 1] & np.uint64(0xFFFF_FFFF)
        high, low = _sum(whole, np.ldexp(middle.astype(np.float64), -32))
        return _sum(high, low + np.ldexp(least.astype(np.float64), -64))

    def times(self, factor: np.ndarray) -> Pair:
        high, low = _product(self.high, factor)
        return _sum(high, low + self.low * factor)

    def over(self, divisor: Pair | np.ndarray) -> Pair:
        """0 / 0 is 0."""
        by, rest_by = divisor if isinstance(divisor, Pair) else (divisor, np.zeros(1))
        by = np.where(by > 0, by, 1.0)
        quotient = self.high / by
        high, low = _product(quotient, by)
        rest = ((self.high - high) - low) + (self.low - quotient * rest_by)
        return _sum(quotient, rest / by)

    def with_most(self, is_raised: np.ndarray) -> Pair:
        """In each row the numbers that are marked become its largest."""
        most = self.high.argmax(axis=1)[:, np.newaxis]
        high, low = (np.take_along_axis(part, most, axis=1) for part in self)
        return Pair(np.where(is_raised, high, self.high), np.where(is_raised, low, self.low))

    def totals(self) -> Pair:
        """The sums of the rows, [row, 1], from left to right."""
        total = Pair(self.high[:, :1], self.low[:, :1])
        for c in range(1, self.high.shape[1]):
            high, low = _sum(total.high, self.high[:, c : c + 1])
            total = _sum(high, low + (total.low + self.low[:, c : c + 1]))
        return total


def _sum(a: np.ndarray, b: np.ndarray) -> Pair:
    high = a + b
    part = high - a
    return Pair(high, (a - (high - part)) + (b - part))


def _product(a: np.ndarray, b: np.ndarray) -> Pair:
    high = a * b
    (a1, a0), (b1, b0) = _halves(a), _halves(b)
    return Pair(high, ((a1 * b1 - high) + a1 * b0 + a0 * b1) + a0 * b0)


def _halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The upper and the lower 26 bits: their products are exact."""
    scaled = a * SPLITTER
    upper = scaled - (scaled - a)
    return upper, a - upper
