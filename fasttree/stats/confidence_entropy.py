# SPDX-License-Identifier: BSD-3-Clause
"""Entropy that does not trust few rows: the largest one that confidence intervals of the class shares allow.

After Serrurier and Prade: a node of four rows of one class has the entropy 0, but hardly proves that there are no
others. A split must now make up for the smaller nodes' wider intervals, and one that does not has no gain: growth
with this measure stops by itself.

With the counts in descending order, the share of the classes from the j-th on has the upper bound U_j of Agresti and
Coull, made non-increasing, and U_1 = 1. The flattest distribution whose tails stay below the bounds has for tails the
greatest convex function below the points (j, U_j) and (C + 1, 0).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fasttree.base.sums import sums, total
from fasttree.stats.contingency import margins
from fasttree.stats.counting import (
    Base,
    counts_table,
    counts_vector,
    nats_per_unit,
    weight_of_missing,
)
from fasttree.stats.special import row_entropy

Z = 1.959964  # bounds that 2.5 % of samples pass
_NATS = 0.6931471805599453  # in a bit

_Array = NDArray[np.float64]


def confidence_entropy(counts: ArrayLike, *, z: float = Z, base: Base = 2) -> float:
    """The largest entropy that is consistent with the class counts, with z standard errors for each bound.

    log C without rows; every class counts, even one with 0 rows.

    >>> round(confidence_entropy([90, 50]), 6), round(confidence_entropy([900, 500]), 6)
    (0.989394, 0.959861)
    >>> confidence_entropy([4, 0])
    1.0
    """
    cells = counts_vector(counts)[np.newaxis]
    return float(_entropies(cells, check_z(z))[0] / nats_per_unit(base))


def confidence_gain(
    table: Any, y: Any = None, *, z: float = Z, missing: float = 0.0, base: Base = 2
) -> float:
    """The reduction of `confidence_entropy` by a split, times the share of rows without a missing value; may be
    negative.

    >>> outlook = [[2, 3], [4, 0], [3, 2]]
    >>> confidence_gain(outlook)
    0.0
    >>> round(confidence_gain(outlook, z=0.67449), 6)
    0.125163
    """
    cells = counts_table(table, y)
    known, unknown = total(cells), weight_of_missing(missing)
    if known == 0:
        return 0.0
    bits = float(gains(cells[np.newaxis], check_z(z))[0])
    return bits * _NATS / nats_per_unit(base) * known / (known + unknown)


def gains(tables: _Array, z: float) -> _Array:
    """The gain in bits of each of the tables [table, value, class], all with rows."""
    rows, columns, weight = margins(tables)
    before = _entropies(columns, z)
    after = np.zeros(rows.shape)
    present = rows > 0
    after[present] = _entropies(tables[present], z)
    gain = before - sums(rows * after) / weight
    gain[np.abs(gain) < 1e-12] = 0.0  # where the bounds allow everything only rounding is left
    return np.asarray(gain / _NATS)


def check_z(z: float) -> float:
    if not isinstance(z, (int, float)) or not 0 <= z < math.inf:
        raise ValueError(
            "z must be a finite number >= 0, the number of standard errors from a share to its upper bound "
            f"(1.96: exceeded in 2.5 % of samples), got {z!r}"
        )
    return float(z)


def _entropies(counts: _Array, z: float) -> _Array:
    """In nats, of each row of counts."""
    descending = -np.sort(-counts, axis=1)
    tails = descending[:, ::-1].cumsum(axis=1)[:, ::-1]
    size = sums(counts, 1, keepdims=True) + z * z
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (tails + z * z / 2) / size
        bounds = centre + z * np.sqrt(np.maximum(centre * (1 - centre), 0.0) / size)
    bounds = np.minimum(1.0, np.where(size > 0, bounds, 1.0))
    bounds[:, 0] = 1.0
    bounds = np.minimum.accumulate(bounds, axis=1)
    return row_entropy(_flattest(np.append(bounds, np.zeros((len(counts), 1)), axis=1)))


def _flattest(bounds: _Array) -> _Array:
    """The decrements of the greatest convex function below the points (0, bounds[:, 0]), (1, bounds[:, 1]), ..."""
    n_rows, n_points = bounds.shape
    decrements = np.empty((n_rows, n_points - 1))
    points = np.arange(n_points)
    corner = np.zeros(n_rows, dtype=np.intp)
    unfinished = np.arange(n_rows)
    while len(unfinished):
        # From each corner the steepest line down to a later point leads to the next corner.
        start = corner[unfinished]
        distance = points - start[:, np.newaxis]
        drop = bounds[unfinished, start][:, np.newaxis] - bounds[unfinished]
        slope = np.where(distance > 0, drop / np.maximum(distance, 1), -np.inf)
        steepest = slope.max(axis=1)
        last = n_points - 1 - slope[:, ::-1].argmax(axis=1)  # of the points on the line
        between = (points[:-1] >= start[:, np.newaxis]) & (points[:-1] < last[:, np.newaxis])
        rows, columns = np.nonzero(between)
        decrements[unfinished[rows], columns] = steepest[rows]
        corner[unfinished] = last
        unfinished = unfinished[last < n_points - 1]
    return decrements
