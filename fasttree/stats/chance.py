# SPDX-License-Identifier: BSD-3-Clause
"""Measures less what chance alone would give.

An attribute with many values, a few rows each, looks informative about any class. These measures ask how much better it
does than the same values and classes dealt out to the rows at random. Each takes a table of counts, one row a value
and one column a class, as the textbook measures do; 0 is what chance gives, and worse than chance is below 0.

`score_tables` scores many tables at once. Rows that do not know the attribute stay outside the table; their weight goes
into ``missing``, and the score is that of the known rows times their share of all rows.

With whole numbers of rows everything is exact, and stays quick however many they are: sums that have become smooth are
taken at fewer points, and from 1000 expected rows in every cell on by the two leading terms of their series. There an
expected information is known to 1e-6 of itself, at most 1e-10 bits, so that no score jumps where the method changes.
The quantile of `adjusted_for_ranking` alone is that of the limit for many rows at any size.

Dealing out at random needs rows that can be counted, so tables with other weights are scored by the limits for many
rows. At 14 rows these are too low by a tenth to a quarter (mean) and a quarter to a third (variance), where every cell
expects 5 rows by a twentieth and a seventh, where it expects 1000 by nothing to speak of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fasttree.base.checks import check_fraction
from fasttree.base.hints import check_choice
from fasttree.base.sums import sums
from fasttree.stats.chance_moments import information, information_moments
from fasttree.stats.confidence_entropy import Z, check_z, gains
from fasttree.stats.contingency import (
    are_whole,
    counts_tables,
    degrees_of_freedom,
    margins,
    weights_of_missing,
)
from fasttree.stats.counting import Base, counts_table, nats_per_unit
from fasttree.stats.special import chi_square_quantile, row_entropy, row_shares

UpperBound = Literal["class", "max", "arith"]

_BITS = 1.4426950408889634  # in a nat
_NO_ROOM = 1e-9  # a denominator below it: chance gives as much as there is
_Array = NDArray[np.float64]


def expected_mutual_information(table: Any, y: Any = None, *, base: Base = 2) -> float:
    """The mean mutual information over all assignments of the classes to the rows.

    >>> round(expected_mutual_information([[2, 3], [4, 0], [3, 2]]), 6)
    0.129867
    """
    cells = counts_table(table, y)[np.newaxis]
    mean, _ = information_moments(cells)
    return float(_per_row(mean, cells)[0] / nats_per_unit(base))


def adjusted_mutual_information(
    table: Any, y: Any = None, *, upper: UpperBound = "class", missing: float = 0.0
) -> float:
    """AMI = (I - E) / (U - E), with E the expected mutual information: 0 by chance, 1 at best.

    U is the upper bound of the information: the entropy of the classes (``upper="class"``), the larger of that and the
    entropy of the values ("max"), or their mean ("arith"). 0 where U - E is below 1e-9.

    >>> round(adjusted_mutual_information([[2, 3], [4, 0], [3, 2]]), 6)
    0.144226
    >>> round(adjusted_mutual_information([[2, 3], [4, 0], [3, 2]], upper="max"), 6)
    0.080746
    """
    return _one("ami", table, y, missing, upper=upper)


def standardised_mutual_information(table: Any, y: Any = None, *, missing: float = 0.0) -> float:
    """SMI = (I - E) / sqrt(V): by how many standard deviations the information exceeds chance.

    The variance V is exact, for any number of classes. 0 where all assignments of the classes give the same
    information.

    >>> round(standardised_mutual_information([[2, 3], [4, 0], [3, 2]]), 6)
    0.904411
    """
    return _one("smi", table, y, missing)


def adjusted_gini(table: Any, y: Any = None, *, missing: float = 0.0) -> float:
    """(D - E) / (gini - E), with D the reduction of gini and E = (r - 1) / (N - 1) gini its expectation by chance.

    r is the number of values that occur. 1 if the attribute separates the classes perfectly.

    >>> round(adjusted_gini([[3, 4], [6, 1]]), 6)
    0.133333
    """
    return _one("adjusted_gini", table, y, missing)


def standardised_gini(table: Any, y: Any = None, *, missing: float = 0.0) -> float:
    """By how many standard deviations the reduction of gini exceeds chance.

    >>> round(standardised_gini([[3, 4], [6, 1]]), 6)
    1.189237
    """
    return _one("standardised_gini", table, y, missing)


def adjusted_for_ranking(
    table: Any, y: Any = None, *, alpha: float = 0.05, missing: float = 0.0
) -> float:
    """AD(alpha) = I - q, in bits, where chance exceeds q with probability ``alpha``.

    q is a chi-square quantile over 2 N ln 2. Among uninformative attributes, one with many values is no more often the
    best than one with few; if no attribute is above 0, there is reason to stop.

    >>> round(adjusted_for_ranking([[2, 3], [4, 0], [3, 2]]), 6)
    -0.061959
    """
    return _one("ad", table, y, missing, alpha=alpha)


@dataclass(frozen=True, slots=True)
class _Options:
    upper: str = "class"
    alpha: float = 0.05
    z: float = Z


def score_tables(
    measure: str,
    tables: ArrayLike,
    *,
    missing: ArrayLike = 0.0,
    upper: UpperBound = "class",
    alpha: float = 0.05,
    z: float = Z,
) -> NDArray[np.float64]:
    """The score of each of the tables [table, value, class]; values and classes without rows count as absent.

    Measures: "ami", "smi", "adjusted_gini", "standardised_gini", "ad" and "confidence_entropy" (for which an absent
    class still counts as possible). ``missing`` is one weight for all tables, or one per table.

    >>> tables = [[[2, 3], [4, 0], [3, 2]], [[3, 4], [6, 1], [0, 0]]]
    >>> score_tables("smi", tables).round(6).tolist()
    [0.904411, 1.050196]
    """
    check_choice("measure", measure, MEASURES)
    check_choice("upper", upper, _UPPER)
    check_fraction("alpha", alpha, "a probability, ")
    cells = counts_tables(tables)
    unknown = weights_of_missing(missing, len(cells))
    total = sums(cells, (1, 2))
    scores = np.zeros(len(cells))
    filled = total > 0
    if filled.any():
        known_share = total / (total + unknown + ~filled)
        score = MEASURES[measure](cells[filled], _Options(upper, float(alpha), check_z(z)))
        scores[filled] = score * known_share[filled]
    return scores


def _one(measure: str, table: Any, y: Any, missing: float, **options: object) -> float:
    scores = score_tables(measure, counts_table(table, y)[np.newaxis], missing=missing, **options)  # type: ignore[arg-type]
    return float(scores[0])


def _ami(tables: _Array, options: _Options) -> _Array:
    mean, _ = information_moments(tables)
    mutual, by_chance = _per_row(information(tables), tables), _per_row(mean, tables)
    rows, columns, _ = margins(tables)
    most = _UPPER[options.upper](row_entropy(rows), row_entropy(columns))
    return _ratio(mutual - by_chance, most - by_chance, _NO_ROOM / _BITS)


def _smi(tables: _Array, options: _Options) -> _Array:
    mean, variance = information_moments(tables, variance=True)
    return _ratio(information(tables) - mean, np.sqrt(variance))


def _ad(tables: _Array, options: _Options) -> _Array:
    df = degrees_of_freedom(tables)
    exceeded = np.zeros(len(tables))
    for n in np.unique(df[df > 0]).tolist():
        exceeded[df == n] = chi_square_quantile(options.alpha, n) / 2
    return _per_row(information(tables) - exceeded, tables) * _BITS


def _adjusted_gini(tables: _Array, options: _Options) -> _Array:
    reduction, by_chance, before = _gini_reductions(tables)
    return _ratio(reduction - by_chance, before - by_chance, _NO_ROOM)


def _standardised_gini(tables: _Array, options: _Options) -> _Array:
    reduction, by_chance, _ = _gini_reductions(tables)
    total = sums(tables, (1, 2))
    return _ratio((reduction - by_chance) * total, np.sqrt(_gini_variance(tables)))


def _confidence(tables: _Array, options: _Options) -> _Array:
    return gains(tables, options.z)


MEASURES: dict[str, Callable[[_Array, _Options], _Array]] = {
    "ami": _ami,
    "smi": _smi,
    "adjusted_gini": _adjusted_gini,
    "standardised_gini": _standardised_gini,
    "ad": _ad,
    "confidence_entropy": _confidence,
}
_UPPER: dict[str, Callable[[_Array, _Array], _Array]] = {
    "class": lambda values, classes: classes,
    "max": np.maximum,
    "arith": lambda values, classes: (values + classes) / 2,
}


def _per_row(information_of_all: _Array, tables: _Array) -> _Array:
    total = sums(tables, (1, 2))
    return np.divide(information_of_all, total, out=np.zeros(len(tables)), where=total > 0)


def _ratio(above: _Array, below: _Array, least: float = 0.0) -> _Array:
    return np.divide(above, below, out=np.zeros(len(above)), where=below > least)


def _gini_reductions(tables: _Array) -> tuple[_Array, _Array, _Array]:
    """The reduction of gini, what chance reduces it by, and gini before."""
    rows, columns, total = margins(tables)
    shares = row_shares(columns)
    # With deviations from the expected counts nothing cancels: the sum of (n - e)^2 / a, over N.
    deviation = tables - rows[:, :, np.newaxis] * shares[:, np.newaxis, :]
    squares = sums(deviation * deviation)
    of_rows = np.divide(squares, rows, out=np.zeros_like(rows), where=rows > 0)
    reduction = sums(of_rows) / total
    before = sums(shares * (1 - shares))
    splits = np.maximum((rows > 0).sum(axis=1) - 1, 0)
    dealt = np.where(are_whole(tables), total - 1, total)
    return (
        reduction,
        before * np.divide(splits, dealt, out=np.zeros_like(total), where=splits > 0),
        before,
    )


def _gini_variance(tables: _Array) -> _Array:
    """The variance by chance of N times the reduction, exact for whole numbers."""
    _, columns, _ = margins(tables)
    shares = row_shares(columns)
    squares, cubes = sums(shares * shares), sums(shares * shares * shares)
    splits = np.maximum(tables.any(axis=2).sum(axis=1) - 1, 0)
    variance = 2 * splits * np.maximum(squares - 2 * cubes + squares * squares, 0.0)
    whole = are_whole(tables)
    variance[whole] = _exact_gini_variance(tables[whole])
    return np.asarray(variance)


def _exact_gini_variance(tables: _Array) -> _Array:
    """N times the reduction is, but for a constant, the sum of n_ij (n_ij - 1) / a_i.

    The mean of its square is known from the chances that two, three or four rows drawn at random have the same class.
    The terms of the order of N, which would cancel, are taken out by hand here.
    """
    rows, columns, total = margins(tables)
    present = rows > 0
    r = present.sum(axis=1)
    inverse = sums(np.divide(1, rows, out=np.zeros_like(rows), where=present))
    size = total[:, np.newaxis]
    others = size - columns
    n2, n3 = np.maximum(size - 1, 1), np.maximum(size - 2, 1)
    # The chances that two rows, and that three, are not of one class.
    two = sums(columns * others / (size * n2))
    three = sums(columns * others * (size + columns - 3) / (size * n2 * n3))
    free, spare = total - r, r - inverse
    fours = np.where(total < 4, 1.0, (total - 2) * (total - 3))  # no four rows among less
    leading = 4 * free * (total * (3.5 - r) + 1.5 * r - 6) + (6 * spare - 4 * free) * (
        4 * total - 6
    )
    square = np.where(total < 4, -free * free, leading / fours + 6 * spare)
    drawn = np.where(total < 4, 0.0, (free * (free - 4) + 6 * spare) / fours)
    single = 2 * spare - 2 * drawn
    terms = np.stack([square * two * two, -(2 * square + single) * two, (square + single) * three])
    variance = sums(terms, 0)
    variance[variance <= 1e-12 * sums(np.abs(terms), 0)] = 0.0
    return np.asarray(variance)
