# SPDX-License-Identifier: BSD-3-Clause
"""Could a table as uneven as this one come from an attribute that has nothing to do with the class?

`chi_square` and `g_statistic` answer by the limit for many rows. With few rows, any expected count below 5 among at
most 200 rows, `p_value` answers exactly: it goes through all the tables with the same margins, as Fisher's test does,
and adds up the probabilities of those at least as extreme.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fasttree.base.elementary import log
from fasttree.base.hints import check_choice
from fasttree.base.sums import sums, total
from fasttree.stats.contingency import (
    are_whole,
    counts_tables,
    degrees_of_freedom,
    margins,
    smallest_expected,
)
from fasttree.stats.counting import counts_table
from fasttree.stats.exact_tests import MOST_STEPS, Line, tail_probabilities_2x2, tail_probability
from fasttree.stats.special import chi_square_tails, log_factorial, row_shares, upper_gamma

Statistic = Literal["probability", "chi_square", "gain", "gini"]

# With more rows, or more of them expected in every cell, the limit for many rows is good enough.
MOST_ROWS = 200
LEAST_EXPECTED = 5.0
LEAST_IN_CELL = 1.0  # rows expected of a cell for which the limit is good enough if many are larger
_Array = NDArray[np.float64]


class IndependenceTest(NamedTuple):
    """The test of "attribute and class are independent": a small ``p`` is evidence against it."""

    statistic: float
    df: int
    p: float


def chi_square(table: Any, y: Any = None) -> IndependenceTest:
    """X^2 = sum (n_ij - e_ij)^2 / e_ij with e_ij = n_i n_j / n, without Yates' correction.

    df = (rows - 1)(columns - 1) over rows and columns that are not empty; df = 0 gives p = 1.

    >>> test = chi_square([[3, 4], [6, 1]])
    >>> round(test.statistic, 6), test.df, round(test.p, 6)
    (2.8, 1, 0.094264)
    """
    observed, expected = _observed_expected(table, y)
    deviation = observed - expected
    terms = np.divide(
        deviation * deviation, expected, out=np.zeros_like(expected), where=expected > 0
    )
    return _independence_test(total(terms), observed)


def g_statistic(table: Any, y: Any = None) -> IndependenceTest:
    """G = 2 sum n_ij ln(n_ij / e_ij), that is 2 n ln(2) times the information gain in bits.

    >>> test = g_statistic([[3, 4], [6, 1]])
    >>> round(test.statistic, 6), test.df, round(test.p, 6)
    (2.946842, 1, 0.086046)
    """
    observed, expected = _observed_expected(table, y)
    present = (observed > 0) & (expected > 0)
    ratio = np.divide(observed, expected, out=np.ones_like(observed), where=present)
    return _independence_test(max(0.0, 2 * total(observed * log(ratio))), observed)


def p_value(
    table: Any, y: Any = None, *, exact: bool | None = None, statistic: Statistic = "probability"
) -> float:
    """The probability of a table at least as extreme, if attribute and class are independent.

    ``exact=None`` is exact where it matters, that is, where any expected count is below 5 and there are at most 200
    rows; elsewhere, for fractional weights, and with ``exact=False``, it is the p of `chi_square`. ``exact=True``
    always uses the exact test.

    ``statistic`` defines what is extreme in the exact test: a table that is at most as probable ("probability", the
    test of Fisher, Freeman and Halton), or one with at least as large a "chi_square", information "gain" or reduction
    of "gini".

    With two classes or two values, all tables can be enumerated; from about 15 of the other on, the partial sums of the
    statistic are so many that close ones are merged, and p is accurate to half a percent. Three values with three
    classes are exact too. Where both numbers are greater and there are many rows (5 x 5 with 100), the tables are too
    many: the result is then the p of `chi_square`, or an error with ``exact=True``.

    >>> round(p_value([[2, 2], [0, 6]]), 6), round(p_value([[2, 2], [0, 6]], exact=False), 6)
    (0.133333, 0.052808)
    >>> round(p_value([[2, 3], [4, 0], [3, 2]], statistic="gain"), 6)
    0.250749
    """
    return float(p_values(counts_table(table, y)[np.newaxis], exact=exact, statistic=statistic)[0])


def p_values(
    tables: ArrayLike, *, exact: bool | None = None, statistic: Statistic = "probability"
) -> NDArray[np.float64]:
    """`p_value` of each of the tables [table, value, class]; rows and columns of zeros count as absent.

    >>> p_values([[[2, 2], [0, 6]], [[3, 4], [6, 1]]]).round(6).tolist()
    [0.133333, 0.265734]
    """
    cells = counts_tables(tables)
    check_choice("statistic", statistic, _TERMS)
    if not (exact is None or isinstance(exact, (bool, np.bool_))):
        raise ValueError(f"exact must be None, True or False, got {exact!r}")
    df = degrees_of_freedom(cells)
    p = chi_square_tails(_chi_squares(cells), df)
    if exact is None:
        chosen = _are_for_exact_test(cells)
    else:
        chosen = np.full(len(cells), bool(exact))
        fractional = chosen & ~are_whole(cells)
        if fractional.any():
            raise ValueError(
                f"exact=True requires whole numbers of rows, but table {int(fractional.argmax())} has fractional "
                "counts: use exact=None"
            )
    chosen &= df > 0
    if chosen.any():
        found = _exact_ps(cells[chosen], statistic)
        if exact and np.isnan(found).any():
            where = np.flatnonzero(chosen)[np.isnan(found).argmax()]
            raise ValueError(
                f"table {int(where)} is too large for an exact test (too many tables have the same margins): "
                "use exact=None"
            )
        p[chosen] = np.where(np.isnan(found), p[chosen], found)
    return p


def _are_for_exact_test(cells: _Array) -> NDArray[np.bool_]:
    few = (sums(cells, (1, 2)) <= MOST_ROWS) & (smallest_expected(cells) < LEAST_EXPECTED)
    chosen: NDArray[np.bool_] = few & are_whole(cells)
    return chosen


def sparse_p_values(tables: _Array) -> _Array:
    """`p_values` of tables [table, value, class] that may have many values of few rows each.

    Where they are not exact, values of so few rows that less than `LEAST_IN_CELL` of the rarest class are expected
    among them are put together, and before that classes so rare that this would befall most values. That looks at the
    margins alone, so the limit for many rows holds of what is left: of all the values it would not, and would find
    something in up to a quarter of the tables of noise.

    >>> table = np.array([[200.0, 0], [200, 9], *[[9, 1]] * 30])
    >>> together(table)[2:4].tolist(), len(together(table))
    ([[18.0, 2.0], [18.0, 2.0]], 17)
    """
    df = degrees_of_freedom(tables)
    p = chi_square_tails(_chi_squares(tables), df)
    found = np.full(len(tables), np.nan)
    few = _are_for_exact_test(tables) & (df > 0)
    if few.any():
        found[few] = _exact_ps(tables[few], "probability")
    sparse = np.isnan(found) & (df > 0) & (smallest_expected(tables) < LEAST_IN_CELL)
    for i in np.flatnonzero(sparse).tolist():
        merged = together(tables[i])[np.newaxis]
        p[i] = chi_square_tails(_chi_squares(merged), degrees_of_freedom(merged))[0]
    return np.where(np.isnan(found), p, found)


def together(table: _Array) -> _Array:
    """A table of which values and classes of few rows are put together: see `sparse_p_values`."""
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    columns = sums(table, 0)
    while len(columns) > 2 and columns.min() < LEAST_IN_CELL * len(table):
        rarest, next_one = np.argsort(columns, kind="stable")[:2].tolist()
        table = table.copy()
        table[:, next_one] += table[:, rarest]
        table = np.delete(table, rarest, axis=1)
        columns = sums(table, 0)
    rows = sums(table, 1)
    order = np.argsort(-rows, kind="stable")
    needed = LEAST_IN_CELL * total(rows) / float(columns.min())
    group, held = np.zeros(len(rows), dtype=np.int64), 0.0
    n_groups = 0
    for i in order.tolist():  # the largest first: only small ones share a group
        group[i] = n_groups
        held += float(rows[i])
        if held >= needed:
            n_groups, held = n_groups + 1, 0.0
    if held > 0 and n_groups > 0:
        group[group == n_groups] = n_groups - 1
    merged = np.zeros((max(n_groups, 1), table.shape[1]))
    np.add.at(merged, group, table)
    return merged


def _probability_term(n: _Array, of_row: float, of_column: float) -> _Array:
    return log_factorial(n)


def _chi_square_term(n: _Array, of_row: float, of_column: float) -> _Array:
    return n * n / (of_row * of_column)


def _gain_term(n: _Array, of_row: float, of_column: float) -> _Array:
    return n * log(np.maximum(n, 1.0))


def _gini_term(n: _Array, of_row: float, of_column: float) -> _Array:
    return n * n / of_row


# What a cell adds to the statistic, but for what the margins fix.
_TERMS: dict[str, Callable[[_Array, float, float], _Array]] = {
    "probability": _probability_term,
    "chi_square": _chi_square_term,
    "gain": _gain_term,
    "gini": _gini_term,
}


def _exact_ps(tables: _Array, statistic: str) -> _Array:
    """The exact p of each of the tables, none of them with a single value or class; NaN where that is too much."""
    p = np.empty(len(tables))
    rows, columns, _ = margins(tables)
    smallest = np.minimum(_second_largest(rows), _second_largest(columns))
    small = (
        ((rows > 0).sum(axis=1) == 2) & ((columns > 0).sum(axis=1) == 2) & (smallest < MOST_STEPS)
    )
    if small.any():
        i = np.argsort(rows[small] == 0, axis=1, kind="stable")[:, :2, np.newaxis]
        j = np.argsort(columns[small] == 0, axis=1, kind="stable")[:, np.newaxis, :2]
        which = np.arange(len(i))[:, np.newaxis, np.newaxis]
        p[small] = tail_probabilities_2x2(tables[small][which, i, j], _TERMS[statistic])
    if not small.all():
        # Nodes of a tree with few rows are alike: each table is tested once.
        distinct, index = np.unique(tables[~small], axis=0, return_inverse=True)
        found = np.array([_exact_p(table, statistic) for table in distinct])
        p[~small] = found[index.reshape(-1)]
    return p


def _second_largest(margin: _Array) -> _Array:
    return np.asarray(np.sort(margin, axis=1)[:, -2])


def _exact_p(table: _Array, statistic: str) -> float:
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    rows, columns = sums(table, 1), sums(table, 0)
    if np.minimum.outer(rows, columns).sum() > MOST_STEPS:
        return float("nan")
    term = _TERMS[statistic]
    terms = [
        [term(np.arange(min(a, b) + 1), a, b) for b in columns.tolist()] for a in rows.tolist()
    ]
    observed = math.fsum(
        float(terms[i][j][int(n)]) for i, row in enumerate(table) for j, n in enumerate(row)
    )
    if len(rows) < len(columns):
        terms = [list(line) for line in zip(*terms, strict=True)]
        rows, columns = columns, rows
    # The values with the fewest rows first: they have the fewest ways to begin; the last one has no choice.
    lines = [Line(int(rows[i]), terms[i]) for i in np.argsort(rows, kind="stable")]
    return tail_probability(lines, columns.astype(np.int64), observed)


def _chi_squares(tables: _Array) -> _Array:
    rows, columns, weight = margins(tables)
    shares = columns / np.where(weight > 0, weight, 1.0)[:, np.newaxis]
    expected = rows[:, :, np.newaxis] * shares[:, np.newaxis, :]
    off = tables - expected
    return sums(
        np.divide(off * off, expected, out=np.zeros_like(tables), where=expected > 0), (1, 2)
    )


def _observed_expected(table: Any, y: Any) -> tuple[_Array, _Array]:
    """The table without empty rows and columns, and what independence would put into it."""
    cells = counts_table(table, y)
    cells = cells[cells.any(axis=1)][:, cells.any(axis=0)]
    shares = row_shares(sums(cells, 1)[np.newaxis])[0]
    return cells, np.outer(shares, sums(cells, 0))


def _independence_test(statistic: float, observed: _Array) -> IndependenceTest:
    n_rows, n_columns = observed.shape
    df = max(0, n_rows - 1) * max(0, n_columns - 1)
    if df == 0:
        return IndependenceTest(0.0, 0, 1.0)
    return IndependenceTest(statistic, df, upper_gamma(df / 2, statistic / 2))
