# SPDX-License-Identifier: BSD-3-Clause
"""The probability that a random table with given margins has at least some statistic, by going through the tables.

Line by line: a state is what the columns have left to hand out, with the statistic so far and its probability. States
that agree in both are one. A state from which every way on leads to an extreme table is counted and dropped, one from
which none does is dropped: what is in between is little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasttree.base.elementary import exp, log
from fasttree.base.ragged import batches
from fasttree.base.sums import segment_sums, sums, total
from fasttree.stats.special import log_factorial

_Array = NDArray[np.float64]
_Integers = NDArray[np.int64]

_TIE = 1e-9  # of the statistic: sums that differ by less are equal, but for rounding
MOST_STEPS = 400_000  # (state, way to fill a line) pairs that are looked at for one line
# What they are brought down to where they are more; p moves by half a percent or less.
_COARSE_STEPS = 100_000
_HOPELESS = 20  # times as many before any state is dropped
_POINTS_AT_ONCE = 2**19
_COARSEST = 1e6
_NOT_DONE = float("nan")

Term = Callable[[_Array, Any, Any], _Array]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table: its total, and for each column what a cell of 0, 1, ... adds to the statistic."""

    total: int
    terms: list[_Array]


@dataclass(frozen=True, slots=True)
class _States:
    left: _Integers  # [state, column]: what the columns still have
    statistic: _Array
    weight: _Array  # probability, but for a factor that all tables share

    def take(self, chosen: NDArray[np.bool_] | _Integers) -> _States:
        return _States(self.left[chosen], self.statistic[chosen], self.weight[chosen])


def tail_probability(lines: list[Line], columns: _Integers, observed: float) -> float:
    """P(statistic >= observed); NaN if there are too many tables. Every cell's term is convex in its count."""
    if _is_hopeless([line.total for line in lines], columns):
        return _NOT_DONE
    shares = columns / columns.sum()
    tolerance = _TIE * (1 + abs(observed))
    highest, lowest = _reach(lines, columns)
    states = _States(columns[np.newaxis], np.zeros(1), np.ones(1))
    extreme = 0.0
    for i, line in enumerate(lines[:-1]):
        ways = _ways_to_fill(line.total, np.minimum(columns, line.total))
        if ways is None:
            return _NOT_DONE
        states = _merge(states, tolerance / 100, len(ways))
        if len(states.weight) * len(ways) > MOST_STEPS:
            return _NOT_DONE
        states = _fill(states, line, ways, shares)
        most = states.statistic + _of_columns(highest[i + 1], states.left)
        least = states.statistic + _of_columns(lowest[i + 1], states.left)
        certain = least >= observed - tolerance
        done = states.take(certain)
        extreme += total(done.weight * _multinomial(done.left, shares))
        states = states.take(~certain & (most >= observed - tolerance))
        if len(states.weight) == 0:
            break
    # The last line takes what is left, so that its bounds are the statistic itself and no state outlives it.
    return min(1.0, extreme / float(_multinomial(columns[np.newaxis], shares)[0]))


def tail_probabilities_2x2(tables: _Array, term: Term) -> _Array:
    """`tail_probability` of many tables [table, 2, 2] at once: one cell tells all the others."""
    a, b = sums(tables[:, 0]), sums(tables[:, :, 0])
    first = np.maximum(0.0, a + b - sums(tables, (1, 2)))
    n_points = (np.minimum(a, b) - first).astype(np.intp) + 1
    p = np.empty(len(tables))
    for part in batches(n_points, _POINTS_AT_ONCE):
        p[part] = _tails_2x2(tables[part], a[part], b[part], first[part], n_points[part], term)
    return p


def _tails_2x2(
    tables: _Array, a: _Array, b: _Array, first: _Array, n_points: NDArray[np.intp], term: Term
) -> _Array:
    table = np.repeat(np.arange(len(tables)), n_points)
    starts = np.cumsum(n_points) - n_points
    n = first[table] + np.arange(len(table)) - starts[table]
    whole = sums(tables, (1, 2))
    rows, columns = np.stack([a, whole - a]), np.stack([b, whole - b])
    others = whole - a - b
    statistic, log_share = np.zeros(len(n)), np.zeros(len(n))
    observed = np.zeros(len(tables))
    cells = {(0, 0): n, (0, 1): a[table] - n, (1, 0): b[table] - n, (1, 1): others[table] + n}
    for (i, j), cell in cells.items():
        statistic += term(cell, rows[i, table], columns[j, table])
        observed += term(tables[:, i, j], rows[i], columns[j])
        log_share -= log_factorial(cell)
    share = exp(log_share - np.maximum.reduceat(log_share, starts)[table])
    extreme = statistic >= (observed - _TIE * (1 + np.abs(observed)))[table]
    return segment_sums(share * extreme, starts) / segment_sums(share, starts)


def _is_hopeless(totals: list[int], columns: _Integers) -> bool:
    """Are there far too many ways to fill the first lines, times those to fill the next one?"""
    filled, steps_before = 0, 1.0
    for n in totals[:-1]:
        ways = _number_of_ways(n, columns)
        if ways > MOST_STEPS or steps_before * ways > _HOPELESS * MOST_STEPS:
            return True
        filled += n
        steps_before = _number_of_ways(filled, columns)
    return False


def _number_of_ways(total: int, columns: _Integers) -> float:
    """How many there are to write `total` as a sum of one number for each column, up to its own."""
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for most in columns.tolist():
        ways = np.cumsum(ways)
        ways[most + 1 :] -= ways[: max(0, total - most)].copy()
    return float(ways[total])


def _ways_to_fill(total: int, most: _Integers) -> _Integers | None:
    """All [way, column] of non-negative numbers up to `most` with the sum `total`; None if they are too many."""
    ways = np.zeros((1, 0), dtype=np.int64)
    left = np.array([total])
    room_after = np.append(np.cumsum(most[::-1])[::-1][1:], 0)
    for column_most, room in zip(most.tolist(), room_after.tolist(), strict=True):
        first = np.maximum(0, left - room)
        count = np.maximum(np.minimum(column_most, left) - first + 1, 0)
        if count.sum() > MOST_STEPS:
            return None
        of_way = np.repeat(np.arange(len(left)), count)
        x = first[of_way] + np.arange(len(of_way)) - (np.cumsum(count) - count)[of_way]
        ways = np.append(ways[of_way], x[:, np.newaxis], axis=1)
        left = left[of_way] - x
    return ways


def _fill(states: _States, line: Line, ways: _Integers, shares: _Array) -> _States:
    """Every state followed by every way to fill a line that its columns allow."""
    adds = np.zeros(len(ways))
    for column, terms in enumerate(line.terms):
        adds += terms[ways[:, column]]
    weight = _multinomial(ways, shares)
    possible = np.ones((len(states.weight), len(ways)), dtype=np.bool_)
    for column in range(len(shares)):
        possible &= states.left[:, column][:, np.newaxis] >= ways[:, column]
    state, way = np.nonzero(possible)
    return _States(
        states.left[state] - ways[way],
        states.statistic[state] + adds[way],
        states.weight[state] * weight[way],
    )


def _multinomial(counts: _Integers, shares: _Array) -> _Array:
    """The probability of each row of counts when every unit falls into a column by the columns' shares."""
    numbers = counts.astype(np.float64)
    logs = log_factorial(sums(numbers)) - sums(log_factorial(numbers))
    return exp(logs + sums(numbers * log(shares)))


def _merge(states: _States, grain: float, n_ways: int) -> _States:
    """States that agree become one; where they are too many for `n_ways` each, also those that nearly agree."""
    n_left = states.left.max(axis=0, initial=0) + 1
    strides = np.append(np.cumprod(n_left[::-1].astype(np.float64))[::-1][1:], 1.0)
    if strides[0] * n_left[0] >= 2.0**62:
        return states
    key = states.left @ strides.astype(np.int64)
    most = MOST_STEPS
    while True:
        order = np.lexsort((states.statistic, key))
        states, key = states.take(order), key[order]
        # Neighbours on two sides of a line of the grid agree as well if they are close.
        apart = np.diff(np.floor(states.statistic / grain)) > 0
        apart &= np.diff(states.statistic) > grain / 2
        starts = np.flatnonzero(np.append(True, (np.diff(key) != 0) | apart))
        if len(starts) < len(key):
            weight = segment_sums(states.weight, starts)
            mean = segment_sums(states.weight * states.statistic, starts)
            mean = np.divide(mean, weight, out=states.statistic[starts], where=weight > 0)
            states, key = _States(states.left[starts], mean, weight), key[starts]
        if len(key) * n_ways <= most or grain > _COARSEST:
            return states
        most, grain = _COARSE_STEPS, 4 * grain


def _reach(lines: list[Line], columns: _Integers) -> tuple[list[list[_Array]], list[list[_Array]]]:
    """What the lines from the i-th on can add at most and at least: for each column, by what it has left.

    Two columns share each line's total, so that one tells all. More are bounded one by one.
    """
    if len(columns) == 2:
        single = [[_two_columns(line)] for line in lines]  # every count x of the first column
    else:
        single = [line.terms for line in lines]
    highest, lowest = ([[np.zeros(1)] * len(single[0])] for _ in range(2))
    for of_columns in single[::-1]:
        highest.append(
            [_best_sum(a, b, np.maximum) for a, b in zip(highest[-1], of_columns, strict=True)]
        )
        lowest.append(
            [_best_sum(a, b, np.minimum) for a, b in zip(lowest[-1], of_columns, strict=True)]
        )
    return highest[::-1], lowest[::-1]


def _two_columns(line: Line) -> _Array:
    first, second = line.terms
    x = np.arange(line.total + 1)
    possible = (x < len(first)) & (line.total - x < len(second))
    both = np.full(len(x), np.nan)
    both[possible] = first[x[possible]] + second[line.total - x[possible]]
    return both


def _best_sum(a: _Array, b: _Array, better: np.ufunc) -> _Array:
    """The best of a[i] + b[k - i] for each k."""
    if len(a) < len(b):
        a, b = b, a
    best = np.full(len(a) + len(b) - 1, np.nan)
    fmin_or_fmax = np.fmax if better is np.maximum else np.fmin
    for i, term in enumerate(b.tolist()):
        best[i : i + len(a)] = fmin_or_fmax(best[i : i + len(a)], a + term)
    return best


def _of_columns(bounds: list[_Array], left: _Integers) -> _Array:
    total = np.zeros(len(left))
    for column, bound in enumerate(bounds):
        total += bound[left[:, column]]
    return total
