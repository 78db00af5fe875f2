# SPDX-License-Identifier: BSD-3-Clause
"""Row weights as integers: sums of integers are exact in any order."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fasttree.base.sums import total

MOST_STEPS = 2**52
MOST_BITS = 40  # behind the point, of a weight
# Class factors that are rounded to whole numbers: with so many steps the largest keeps its first six digits.
FEWEST_STEPS = 2**20


@dataclass(frozen=True, slots=True)
class IntegerWeights:
    """`steps[row] / steps_per_unit` is the weight of a row.

    With class factors the steps are those of the weight times the factor of the row's class: what growth counts.
    Divided by the factor they are the plain weight again, exactly where weights and factors are whole numbers; sizes
    are plain weights.
    """

    quantised: np.ndarray  # int64
    steps_per_unit: int
    factor: np.ndarray | None = None  # float64 per class

    @property
    def is_mask(self) -> bool:
        """Do they only say which rows count, those one each?"""
        return self.steps_per_unit == 1 and self.factor is None and int(self.quantised.max()) <= 1

    @property
    def weight_tolerance(self) -> int:
        """Steps that rounding may have cost: sums that are closer than 1e-10 count as equal, or closer than what the
        rounding of some hundred rows comes to. (Whole weights are not rounded, so coarse steps are meant.)"""
        return max(int(1e-10 * self.steps_per_unit), min(32, self.steps_per_unit >> 14))

    def plain(self, counts: np.ndarray) -> np.ndarray:
        """Class counts [..., class] without the factors."""
        return counts if self.factor is None else _in_steps(counts / self.factor)

    def plain_rows(self, y: np.ndarray) -> np.ndarray:
        """The steps of each row without the factors; `y` has the classes."""
        return self.quantised if self.factor is None else _in_steps(self.quantised / self.factor[y])

    def divisible(self) -> IntegerWeights:
        """The same weights in steps of which a share of a row can be made; whole ones are in steps of 1 before."""
        if self.steps_per_unit > 1:
            return self
        bits = min(MOST_BITS, _whole_log2(MOST_STEPS / (2 * int(self.quantised.sum()))))
        steps_per_unit = 2 ** max(0, bits)
        return IntegerWeights(self.quantised * steps_per_unit, steps_per_unit)

    def times(self, ratios: np.ndarray, y: np.ndarray) -> IntegerWeights:
        """Weights of these rows, each multiplied by what its class, in `y`, counts for. The ratios are whole numbers,
        or the largest is 1.

        Whole weights are multiplied by whole numbers, so that copies stay copies, unless these would be very coarse.
        Other products are rounded once, as finely as 2^52 steps for all the rows allow.
        """
        totals = np.bincount(y, self.quantised, minlength=len(ratios))
        together = total(totals * ratios)
        factor = np.ldexp(ratios, _whole_log2(MOST_STEPS / 4 / together))
        if self.steps_per_unit == 1:
            whole = None
            if together < MOST_STEPS and bool(np.all(ratios == np.floor(ratios))):
                whole = ratios
            elif factor.max() >= FEWEST_STEPS:
                whole = np.maximum(np.rint(factor), 1.0)
            if whole is not None:
                return IntegerWeights(self.quantised * whole.astype(np.int64)[y], 1, whole)
        # Rows of a class that hardly counts keep half of the digits, for the class counts.
        n_rows = np.count_nonzero(self.quantised)
        least = np.sqrt(MOST_STEPS / 4 / n_rows) * n_rows / totals.sum()
        factor = np.maximum(factor, least)
        return IntegerWeights(
            _rows_in_steps(self.quantised * factor[y]), self.steps_per_unit, factor
        )


def _whole_log2(x: float) -> int:
    """log2 without its fraction."""
    half, exponent = math.frexp(x)  # x = half * 2^exponent, half from 1/2 on and below 1
    return exponent - 1 if x >= 1 or half == 0.5 else exponent


def _in_steps(weight: np.ndarray) -> np.ndarray:
    return np.rint(weight).astype(np.int64)


def _rows_in_steps(weight: np.ndarray) -> np.ndarray:
    """A row that has a weight keeps one, however light it is beside the others: it is a row."""
    return np.maximum(_in_steps(weight), weight > 0)


def to_integer_weights(weight: np.ndarray) -> IntegerWeights:
    """Round weights to a grid of powers of two.

    Whole numbers stay what they are: copies. Others are first scaled to mean 1 (boosting's weights sum to 1, and
    the limits on the size of a node speak of rows), then rounded so that their sum stays below 2^52 steps, but never
    to 0. Rows of weight 0 count as no rows.
    """
    exponent = int(np.frexp(weight.max())[1])
    if abs(exponent) > 900:  # the sum of such weights might not be a number, or lack digits
        weight = np.ldexp(weight, -exponent)
    whole = total(weight)
    if whole < MOST_STEPS and bool(np.all(weight == np.floor(weight))):
        return IntegerWeights(weight.astype(np.int64), 1)
    n_rows = int(np.count_nonzero(weight))
    # Rounding may add half a step a row.
    exponent = min(MOST_BITS, _whole_log2(MOST_STEPS / (2 * n_rows)))
    steps_per_unit = 2**exponent
    return IntegerWeights(
        _rows_in_steps(weight / (whole / n_rows) * steps_per_unit), steps_per_unit
    )
