# SPDX-License-Identifier: BSD-3-Clause
"""What is predicted, as growth sees it: numbers that add up over rows, and what follows from them.

The statistic of some rows is a few integers: the weight in each class, or, of a numeric target, the weight and the
weighted sum of targets. They add up exactly in any order.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np

from fasttree import _core
from fasttree.base.sums import sums_by_group, total
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.encoding.weights import IntegerWeights

MOST_SUM = 2.0**61  # of the magnitudes of targets times weights, in steps
MOST_BITS = 52  # of a target in steps


class Ranges(NamedTuple):
    """The smallest and the largest target of some nodes."""

    lowest: np.ndarray
    highest: np.ndarray


class Target(Protocol):
    """What is predicted."""

    n_stats: int  # integers in a statistic

    def weight(self, stats: np.ndarray) -> np.ndarray:
        """The weight of nodes, from their statistics [node, number]."""

    def is_pure(self, stats: np.ndarray, weight: np.ndarray, ranges: Ranges | None) -> np.ndarray:
        """Whether all rows of a node have the same target."""


class ClassTarget:
    """Classes: a statistic is the weight of each."""

    def __init__(self, n_classes: int) -> None:
        self.n_stats = n_classes

    def weight(self, stats: np.ndarray) -> np.ndarray:
        return np.asarray(stats.sum(axis=1))

    def is_pure(self, stats: np.ndarray, weight: np.ndarray, ranges: Ranges | None) -> np.ndarray:
        return np.asarray(stats.max(axis=1) == weight)


class NumericTarget:
    """Numbers, less their mean, in steps of a power of two: a statistic is a weight and a weighted sum. The tree is
    chosen by these; what it predicts follows from the numbers themselves (`trees/regression_tree`)."""

    n_stats = 2

    def __init__(self, y: np.ndarray, weight: np.ndarray | None) -> None:
        """`weight` in steps, None: 1 each; rows of weight 0 have no say."""
        y = np.ldexp(
            y, -np.frexp(np.abs(y).max(initial=0.0))[1]
        )  # so that no square leaves the range
        weights = np.ones(len(y)) if weight is None else weight.astype(np.float64)
        self.centre = _weighted(y, weights) / total(weights)
        centred = np.where(weights > 0, y - self.centre, 0.0)
        most = float(np.abs(centred).max(initial=0.0))
        bits = 0
        if most > 0:
            by_sum = math.frexp(MOST_SUM / _weighted(np.abs(centred), weights))[1] - 1
            bits = min(by_sum, MOST_BITS - math.frexp(most)[1])
        self.steps_per_unit = math.ldexp(1.0, bits)
        self.quantised = np.rint(np.ldexp(centred, bits)).astype(np.int64)
        squares = self.quantised.astype(np.float64) ** 2
        self.variance = _weighted(squares, weights) / total(weights) or 1.0  # of all, in steps

    def totals(self, weight: np.ndarray | None) -> np.ndarray:
        """The statistic of all the rows; `weight` in steps, None: 1 each."""
        stats = np.zeros(self.n_stats, dtype=np.int64)
        _core.target_totals(self.quantised, weight, stats)
        return stats

    def weight(self, stats: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(stats[:, 0])

    def is_pure(self, stats: np.ndarray, weight: np.ndarray, ranges: Ranges | None) -> np.ndarray:
        if ranges is None:  # of the root
            return np.full(len(stats), bool((self.quantised == self.quantised[0]).all()))
        return np.asarray(ranges.lowest >= ranges.highest)


def _weighted(values: np.ndarray, weights: np.ndarray) -> float:
    """The weighted sum, rounded once: as often as that of copies."""
    everyone = np.zeros(len(values), dtype=np.int32)
    return float(sums_by_group(everyone, values, 1, weights)[0])


def target_of(table: EncodedTable, weights: IntegerWeights | None) -> Target:
    """The target of a table's rows."""
    if table.numbers is None:
        return ClassTarget(table.n_classes)
    return NumericTarget(table.numbers, None if weights is None else weights.quantised)
