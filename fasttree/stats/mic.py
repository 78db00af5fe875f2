# SPDX-License-Identifier: BSD-3-Clause
"""The maximal information coefficient (Reshef et al. 2011): how much a grid over two columns can show at best.

Of all the grids with few enough cells, the information that a grid shows is divided by the most that one with as many
rows and columns could show; the coefficient is the largest such share, from 0 to 1. A tool for screening: it sees any
kind of dependence, but tells nothing about how many rows it rests on.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fasttree.base.elementary import log, power
from fasttree.base.sums import dot, sums, total
from fasttree.stats.counting import _codes, _weights, numeric_column, same_length
from fasttree.stats.special import row_entropy

EXPONENT = 0.6  # a grid has at most N^0.6 cells
_CLUMPS = 15.0
_MOST_STEPS = 1e9  # about two seconds of search
_MOST_STEPS_OF_CLASS = 1e8
_MOST_CELLS = 2**24  # of stretches times classes

_Array = NDArray[np.float64]
_Integers = NDArray[np.intp]


def mic(
    x: ArrayLike, y: ArrayLike, *, exponent: float = EXPONENT, clumps: float = _CLUMPS
) -> float:
    """The maximal information coefficient of two columns of numbers.

    The search is that of the paper. One axis is cut into rows with about equal numbers of points; along the other one,
    the best cuts are found exactly, between at most ``clumps`` times as many intervals as columns are allowed. Each
    axis takes both roles. A grid has at most max(4, N^exponent) cells.

    Where the search would take more than a billion steps, from about 9,000 rows on, ``clumps`` is reduced accordingly.

    >>> x = np.linspace(0, 1, 200)
    >>> mic(x, (x - 0.5) ** 2)
    1.0
    """
    columns = numeric_column(x, "x"), numeric_column(y, "y")
    same_length(*columns, names="x y")
    if len(columns[0]) == 0:
        raise ValueError("x is empty: give at least one row")
    if not isinstance(clumps, (int, float)) or not 0 < clumps < math.inf:
        raise ValueError(
            f"clumps must be a finite number > 0 (intervals per column of the grid), got {clumps!r}"
        )
    most_cells = max(4.0, power(float(len(columns[0])), _checked(exponent)))
    shapes = [(n_rows, int(most_cells / n_rows)) for n_rows in range(2, int(most_cells / 2) + 1)]
    steps = 2 * clumps * clumps * sum(n_columns**3 for _, n_columns in shapes)
    clumps = max(1.0, clumps * min(1.0, math.sqrt(_MOST_STEPS / steps)))
    axes = [_Axis(column) for column in columns]
    best = 0.0
    for cut, along in (axes, axes[::-1]):
        for n_rows, n_columns in shapes:
            row_of_value = equal_parts(cut.counts, n_rows)
            stretches = along.stretches(row_of_value[cut.of_row], max(1, int(clumps * n_columns)))
            best = max(best, _best_share(stretches, n_rows, n_columns))
    return best


def class_mic(
    values: ArrayLike, labels: Any, *, weights: ArrayLike | None = None, exponent: float = EXPONENT
) -> float:
    """The maximal information coefficient of a column of numbers with K classes.

    The classes are the rows of the grid; c columns are allowed with c K <= max(N^exponent, 2 K), where N is the number
    or the weight of the rows, and the best cuts for each c are found exactly. Where this would take more than 100
    million steps (a thousand intervals, a hundred cuts), neighbouring intervals are first merged into intervals of
    equal size.

    >>> round(class_mic([40, 48, 60, 72, 80, 90], ["no", "no", "yes", "yes", "yes", "no"]), 6)
    0.459148
    """
    exponent = _checked(exponent)
    numbers = numeric_column(values, "values")
    classes, _ = _codes(labels, "labels")
    same_length(numbers, classes)
    weight = _weights(weights, len(classes))
    if weight is None:
        weight = np.ones(len(classes))
    return class_mic_of_codes(np.unique(numbers, return_inverse=True)[1], classes, weight, exponent)


def class_mic_of_codes(
    value: _Integers, label: _Integers, weight: _Array, exponent: float = EXPONENT
) -> float:
    """`class_mic` from the numbers of each row's value, in ascending order, and class."""
    if not weight.all():
        present = weight > 0
        value, label, weight = value[present], label[present], weight[present]
    if len(value) == 0:
        return 0.0
    classes, label = np.unique(label, return_inverse=True)
    n_classes, axis = len(classes), _Axis(value, weight)
    n_columns = int(max(power(total(weight), exponent), 2.0 * n_classes) / n_classes)
    most = _MOST_CELLS // n_classes
    if n_columns > 2:
        searched = min(n_columns, len(axis.counts))
        within_steps = math.sqrt(_MOST_STEPS_OF_CLASS / max(searched, n_classes))
        most = min(most, int(within_steps))
    return _best_share(axis.stretches(label, max(most, n_columns)), n_classes, n_columns)


def table_mic(table: ArrayLike) -> float:
    """The share of the possible information that a table shows as it is: what MIC is for values without an order.

    >>> table_mic([[5, 0], [0, 5]])
    1.0
    """
    counts = np.asarray(table, dtype=np.float64)
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    if min(counts.shape) < 2:
        return 0.0
    return min(1.0, max(0.0, _full_information(counts) / log(float(min(counts.shape)))))


class _Axis:
    """A column, sorted."""

    def __init__(self, column: NDArray[Any], weight: _Array | None = None) -> None:
        _, of_row, n_rows = np.unique(column, return_inverse=True, return_counts=True)
        self.of_row: _Integers = of_row
        self.weight = weight
        self.counts = np.bincount(of_row, weight).astype(np.float64)
        self._order = np.argsort(of_row, kind="stable")
        self._starts = np.cumsum(n_rows) - n_rows

    def stretches(self, group: _Integers, most: int) -> _Array:
        """The points of each group in stretches of values that no best cut divides, joined if they are too many."""
        sorted_groups = group[self._order]
        first = np.minimum.reduceat(sorted_groups, self._starts)
        is_pure = first == np.maximum.reduceat(sorted_groups, self._starts)
        stretch = _stretch_of_value(is_pure, first)
        if stretch[-1] >= most:
            stretch = equal_parts(
                np.bincount(stretch, weights=self.counts).astype(np.float64), most
            )[stretch]
        n_groups = int(sorted_groups.max()) + 1
        shape = int(stretch[-1]) + 1, n_groups
        cell = stretch[self.of_row] * n_groups + group
        cells = np.bincount(cell, self.weight, minlength=shape[0] * n_groups)
        return cells.reshape(shape).astype(np.float64)


def _stretch_of_value(is_pure: NDArray[np.bool_], group: _Integers) -> _Integers:
    """Neighbouring values with points of one and the same group only are one stretch."""
    same = is_pure[1:] & is_pure[:-1] & (group[1:] == group[:-1])
    return np.append(0, np.cumsum(~same))


def equal_parts(counts: _Array, n_parts: int) -> _Integers:
    """The part, from 0 on, of each of the values, which stay whole: each part as near as can be to an equal share.

    The share is that of what is left, and the next value joins if it brings the part nearer to it.
    """
    ends = np.cumsum(counts)
    whole = float(ends[-1])
    part = np.zeros(len(counts), dtype=np.intp)
    first, done, number = 0, 0.0, 0
    while first < len(counts):
        goal = done + (whole - done) / max(1, n_parts - number)
        stop = int(np.searchsorted(ends, goal))  # the first value that reaches the goal
        if stop >= len(counts) - 1 and number >= n_parts - 1:
            stop = len(counts)
        else:
            stop = min(stop, len(counts) - 1)
            before = float(ends[stop - 1]) if stop else 0.0
            if stop == first or abs(float(ends[stop]) - goal) < abs(before - goal):
                stop += 1
        part[first:stop] = number
        first, done, number = stop, float(ends[stop - 1]), number + 1
    return part


def _best_share(stretches: _Array, n_rows: int, most_columns: int) -> float:
    """The largest information over log min(rows, columns), over 2 .. most_columns columns.

    From as many columns as rows on the divisor stays and the information does not fall: the last number will do.
    """
    n_columns = min(most_columns, len(stretches))
    if n_columns < 2 or stretches.shape[1] < 2:
        return 0.0
    before = float(row_entropy(sums(stretches, 0)[np.newaxis])[0])
    weight = total(stretches)
    best = 0.0
    if most_columns >= len(stretches):  # all of them: nothing to search for
        best = _full_information(stretches) / log(float(min(n_rows, most_columns)))
        n_columns = min(n_columns, n_rows - 1)
    for n, saved in enumerate(_best_cuts(stretches, n_columns), start=2):
        if n < n_rows or n == n_columns:
            best = max(best, (before + saved / weight) / log(float(min(n_rows, n))))
    return min(1.0, max(0.0, best))


def _full_information(counts: _Array) -> float:
    before = float(row_entropy(sums(counts, 0)[np.newaxis])[0])
    weights = sums(counts, 1)
    return before - dot(weights, row_entropy(counts)) / total(weights)


def _best_cuts(stretches: _Array, most: int) -> list[float]:
    """For 2 .. most columns: minus the rows' conditional entropy times N, with the best cuts between the stretches.

    The best n columns of the first j stretches are the best n - 1 of the first i, and one column of the rest.
    """
    if most < 2:
        return []
    n = len(stretches)
    running = np.concatenate([np.zeros((1, stretches.shape[1])), np.cumsum(stretches, axis=0)])
    best = _minus_entropy(running)  # one column of the first j stretches
    last = _minus_entropy(np.maximum(running[-1] - running, 0.0))  # one column of the others
    found = []
    column = _one_column(running) if most > 2 else np.zeros((0, 0))
    for n_columns in range(2, most + 1):
        found.append(float((best + last)[n_columns - 1 : n].max()))
        if n_columns < most:
            best = (best[:, np.newaxis] + column).max(axis=0)
    return found


def _one_column(running: _Array) -> _Array:
    """[i, j]: one column of the stretches from i to j; -inf where there are none."""
    n = len(running)
    column = np.full((n, n), -np.inf)
    for i in range(n - 1):
        column[i, i + 1 :] = _minus_entropy(np.maximum(running[i + 1 :] - running[i], 0.0))
    return column


def _minus_entropy(counts: _Array) -> _Array:
    """sum n log n - N log N of each row."""
    weights = sums(counts, 1)
    apart = sums(counts * log(np.where(counts > 0, counts, 1.0)), 1)
    return apart - weights * log(np.where(weights > 0, weights, 1.0))


def _checked(exponent: float) -> float:
    if not isinstance(exponent, (int, float)) or not 0 < exponent <= 1:
        raise ValueError(
            f"exponent must be above 0 and at most 1 (a grid has N^exponent cells), got {exponent!r}"
        )
    return float(exponent)
