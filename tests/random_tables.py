# SPDX-License-Identifier: BSD-3-Clause
"""All the tables with given margins, one by one: what the fast sums over them are compared with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np


def fillings(total: int, most: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All the ways to write `total` as a sum of numbers up to `most`."""
    if len(most) == 1:
        if total <= most[0]:
            yield (total,)
        return
    for first in range(min(total, most[0]) + 1):
        for rest in fillings(total - first, most[1:]):
            yield (first, *rest)


def all_tables(rows: tuple[int, ...], columns: tuple[int, ...]) -> Iterator[np.ndarray]:
    if len(rows) == 1:
        yield np.array([columns])
        return
    for line in fillings(rows[0], columns):
        left = tuple(b - x for b, x in zip(columns, line, strict=True))
        for others in all_tables(rows[1:], left):
            yield np.vstack([[line], others])


def distribution(table: np.ndarray) -> list[tuple[np.ndarray, float]]:
    """Every table with the margins of `table`, and its probability when classes are dealt out at random."""
    table = np.asarray(table)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    rows = tuple(table.sum(axis=1).tolist())
    columns = tuple(table.sum(axis=0).tolist())
    ways_of_margins = math.prod(map(math.factorial, rows + columns))
    return [
        (
            other,
            ways_of_margins
            / (
                math.factorial(sum(rows))
                * math.prod(math.factorial(n) for n in other.ravel().tolist())
            ),
        )
        for other in all_tables(rows, columns)
    ]


def moments(table: np.ndarray, measure: Callable[[np.ndarray], float]) -> tuple[float, float]:
    """Mean and variance of a measure over all the tables."""
    pairs = [(measure(other), p) for other, p in distribution(table)]
    mean = math.fsum(value * p for value, p in pairs)
    return mean, math.fsum((value - mean) ** 2 * p for value, p in pairs)


def row_by_row(table: np.ndarray, term: Callable[[int, int], float]) -> tuple[float, float]:
    """Mean and variance of sum_i term(n_i0, a_i) of a table with two classes, by dynamic programming over its rows.

    The state is how many rows of the first class are used up; it carries weight, first and second moment.
    """
    rows, first = np.sum(table, axis=1).tolist(), int(np.sum(table, axis=0)[0])
    sums = {0: (1.0, 0.0, 0.0)}
    for a in rows:
        after: dict[int, tuple[float, float, float]] = {}
        for used, (weight, one, two) in sums.items():
            for n in range(min(a, first - used) + 1):
                ways, f = math.comb(a, n), term(n, a)
                w, m, s = after.get(used + n, (0.0, 0.0, 0.0))
                after[used + n] = (
                    w + ways * weight,
                    m + ways * (one + f * weight),
                    s + ways * (two + 2 * f * one + f * f * weight),
                )
        sums = after
    weight, one, two = sums[first]
    return one / weight, two / weight - (one / weight) ** 2
