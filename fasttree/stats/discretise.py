# SPDX-License-Identifier: BSD-3-Clause
"""Cutting a continuous attribute where the cuts say most about the class."""

from __future__ import annotations

import heapq
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fasttree.base.elementary import log, log1p, power
from fasttree.base.sums import sums, total
from fasttree.stats.counting import Base, contingency_table, nats_per_unit, numeric_column
from fasttree.stats.special import row_entropy

# Less is rounding; a later cut must also gain that much more to replace the best.
_ZERO_GAIN = 1e-10


class Cut(NamedTuple):
    """A test ``value <= threshold`` and its information gain."""

    threshold: float
    gain: float


class Cuts(NamedTuple):
    """All the tests ``value <= threshold`` on an attribute, in ascending order, and their gains."""

    thresholds: NDArray[np.float64]
    gains: NDArray[np.float64]


def candidate_cuts(
    values: ArrayLike, labels: Any, *, weights: ArrayLike | None = None, base: Base = 2
) -> Cuts:
    """The midpoints between neighbouring distinct values, with their information gains.

    v distinct values have v - 1 candidates.

    >>> cuts = candidate_cuts([40, 48, 60, 72, 80, 90], ["no", "no", "yes", "yes", "yes", "no"])
    >>> cuts.thresholds.tolist()
    [44.0, 54.0, 66.0, 76.0, 85.0]
    >>> cuts.gains.round(6).tolist()
    [0.190875, 0.459148, 0.081704, 0.0, 0.190875]
    """
    column = _SortedColumn(values, labels, weights)
    gains = column.gains(0, len(column.distinct))
    return Cuts(column.thresholds, gains / nats_per_unit(base))


def best_cut(
    values: ArrayLike, labels: Any, *, weights: ArrayLike | None = None, base: Base = 2
) -> Cut | None:
    """The candidate with the largest gain (in case of ties, the smallest one); None if there is no candidate.

    >>> cut = best_cut([40, 48, 60, 72, 80, 90], ["no", "no", "yes", "yes", "yes", "no"])
    >>> cut.threshold, round(cut.gain, 6)
    (54.0, 0.459148)
    """
    cuts = candidate_cuts(values, labels, weights=weights, base=base)
    if len(cuts.gains) == 0:
        return None
    best = _first_best(cuts.gains)
    return Cut(float(cuts.thresholds[best]), float(cuts.gains[best]))


def discretise(
    values: ArrayLike,
    labels: Any,
    *,
    weights: ArrayLike | None = None,
    mdl: bool = True,
    max_cuts: int | None = None,
    min_gain: float = 0.0,
) -> NDArray[np.float64]:
    """Cut recursively, always next where this saves the most bits; returns the thresholds, sorted.

    An interval is cut at its best threshold as long as that has a positive gain of at least ``min_gain`` bits per row
    of the interval, there are fewer than ``max_cuts`` cuts, and, with ``mdl=True``, the cut pays for its own
    description. That is Fayyad and Irani's minimum description length criterion, with n rows and k classes in the
    interval, k1 and k2 classes in its two parts:

        gain > (log2(n - 1) + log2(3^k - 2) - k H + k1 H1 + k2 H2) / n

    ``numpy.searchsorted(thresholds, values)`` gives the number of each value's interval.

    >>> temperature = [40, 48, 60, 72, 80, 90]
    >>> play = ["no", "no", "yes", "yes", "yes", "no"]
    >>> discretise(temperature, play, mdl=False)
    array([54., 85.])
    >>> discretise(temperature, play, mdl=False, max_cuts=1)
    array([54.])
    >>> discretise(temperature, play)  # six rows are too few to pay for a cut
    array([], dtype=float64)
    """
    if max_cuts is not None and max_cuts < 0:
        raise ValueError(f"max_cuts must be None or an integer >= 0, got {max_cuts!r}")
    if not min_gain >= 0:
        raise ValueError(f"min_gain must be a number >= 0 (bits), got {min_gain!r}")
    column = _SortedColumn(values, labels, weights)
    least_gain = max(min_gain * nats_per_unit(2), _ZERO_GAIN)
    made: list[float] = []
    pieces: list[tuple[float, int, int, int]] = []  # minus the saving, first, cut position, end

    def offer(first: int, end: int) -> None:
        gains = column.gains(first, end)
        if len(gains) == 0:
            return
        best = _first_best(gains)
        cut, gain = first + 1 + best, float(gains[best])
        if gain >= least_gain and (not mdl or gain > column.description_length(first, cut, end)):
            heapq.heappush(pieces, (-gain * column.weight(first, end), first, cut, end))

    offer(0, len(column.distinct))
    while pieces and (max_cuts is None or len(made) < max_cuts):
        _, first, cut, end = heapq.heappop(pieces)
        made.append(float(column.thresholds[cut - 1]))
        offer(first, cut)
        offer(cut, end)
    return np.array(sorted(made), dtype=np.float64)


class _SortedColumn:
    """The distinct values of a column in order, with running class counts.

    A piece of the column is a half-open range [first, end) of distinct values. Gains are in nats.
    """

    def __init__(self, values: ArrayLike, labels: Any, weights: ArrayLike | None) -> None:
        numbers = numeric_column(values, "values")
        counts = contingency_table(numbers, labels, weights)
        # A value whose rows all weigh nothing is not there.
        present = counts.any(axis=1)
        self.distinct = np.unique(numbers)[present]
        self.thresholds = _midpoints(self.distinct)
        self._before = np.zeros((len(self.distinct) + 1, counts.shape[1]))
        np.cumsum(counts[present], axis=0, out=self._before[1:])

    def weight(self, first: int, end: int) -> float:
        return total(self._counts(first, end))

    def gains(self, first: int, end: int) -> NDArray[np.float64]:
        """The gain of every cut inside the piece; the first leaves one value on its left."""
        whole = self._counts(first, end)
        left = self._before[first + 1 : end] - self._before[first]
        right = _at_least_zero(whole - left)
        left_share = sums(left) / total(whole)
        after = left_share * row_entropy(left) + (1 - left_share) * row_entropy(right)
        before = row_entropy(whole[np.newaxis])[0]
        return _at_least_zero(before - after)

    def description_length(self, first: int, cut: int, end: int) -> float:
        """What the cut costs by Fayyad and Irani's rule, in nats a row of the piece."""
        parts = np.stack(
            [self._counts(first, end), self._counts(first, cut), self._counts(cut, end)]
        )
        n = total(parts[0])
        if n <= 1:  # weights only: there is no half a row to describe
            return math.inf
        # Sums of fractional weights leave rounding where a class is absent.
        k, k1, k2 = (int(n_classes) for n_classes in (parts > 1e-12 * n).sum(axis=1))
        h, h1, h2 = row_entropy(parts)
        delta = _log_of_ways(k) - (k * h - k1 * h1 - k2 * h2)
        return float((log(n - 1) + delta) / n)

    def _counts(self, first: int, end: int) -> NDArray[np.float64]:
        return _at_least_zero(self._before[end] - self._before[first])


def _log_of_ways(k: int) -> float:
    """log(3^k - 2)."""
    if k <= 30:
        return log(float(3**k - 2))
    return k * log(3.0) + log1p(-2 * power(3.0, -k))


def _at_least_zero(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Without the rounding that lets the difference of two equal sums end just below 0."""
    clamped: NDArray[np.float64] = np.maximum(differences, 0.0)
    return clamped


def _midpoints(distinct: NDArray[np.float64]) -> NDArray[np.float64]:
    """a/2 + b/2 for neighbours a < b, or a where rounding or infinity put it outside [a, b)."""
    a, b = distinct[:-1], distinct[1:]
    with np.errstate(invalid="ignore"):
        middle = a / 2 + b / 2
        return np.where((a <= middle) & (middle < b), middle, a)


def _first_best(gains: NDArray[np.float64]) -> int:
    best, best_gain = 0, -math.inf
    for position, gain in enumerate(gains.tolist()):
        if gain > best_gain + _ZERO_GAIN:
            best, best_gain = position, gain
    return best
