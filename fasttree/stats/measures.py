# SPDX-License-Identifier: BSD-3-Clause
"""The textbook formulas that say how good an attribute is, one function each.

A ``table`` is a 2-D array of counts or weights with one row for every value of the attribute and
one column for every class; or it is a column of the attribute, with that of the classes as ``y``
(``contingency_table`` makes a table of them). Logarithms are to base 2 (bits) unless ``base`` says
otherwise, x log x is 0 at x = 0, and nothing ever divides by zero.

Rows that do not know the attribute stay outside the table. Their number or weight goes into
``missing``: a gain or a reduction is computed on the known rows and multiplied by their share of
all rows, and the split information counts the unknown rows as one more branch.

Measures that allow for chance stand beside the plain ones: adjusted and standardised information and gini, entropy with
confidence intervals, and p values. The maximal information coefficient takes columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fasttree.base.sums import dot, exact_dot, exact_total, sums, total
from fasttree.stats.chance import (
    adjusted_for_ranking,
    adjusted_gini,
    adjusted_mutual_information,
    expected_mutual_information,
    score_tables,
    standardised_gini,
    standardised_mutual_information,
)
from fasttree.stats.confidence_entropy import confidence_entropy, confidence_gain
from fasttree.stats.counting import (
    Base,
    binary_table,
    class_counts,
    contingency_table,
    counts_table,
    counts_vector,
    nats_per_unit,
    numeric_column,
    same_length,
    weight_of_missing,
)
from fasttree.stats.discretise import Cut, Cuts, best_cut, candidate_cuts, discretise
from fasttree.stats.mic import class_mic, mic
from fasttree.stats.significance import IndependenceTest, chi_square, g_statistic, p_value, p_values
from fasttree.stats.special import row_entropy, row_shares

__all__ = [
    "Cut",
    "Cuts",
    "IndependenceTest",
    "adjusted_for_ranking",
    "adjusted_gini",
    "adjusted_mutual_information",
    "best_cut",
    "binary_table",
    "candidate_cuts",
    "chi_square",
    "class_counts",
    "class_mic",
    "conditional_entropy",
    "confidence_entropy",
    "confidence_gain",
    "contingency_table",
    "correlation",
    "covariance",
    "discretise",
    "entropy",
    "expected_mutual_information",
    "g_statistic",
    "gain_ratio",
    "gini",
    "gini_reduction",
    "gini_split",
    "information_gain",
    "mic",
    "misclassification",
    "misclassification_reduction",
    "mutual_information",
    "p_value",
    "p_values",
    "score_tables",
    "split_info",
    "standardised_gini",
    "standardised_mutual_information",
]

_LEAST_SPLIT_INFO = 1e-12  # below it an attribute has one branch but for rounding: its ratio is 0


def __dir__() -> list[str]:
    return __all__


def entropy(counts: ArrayLike, *, base: Base = 2) -> float:
    """H = - sum_c p_c log p_c, with p_c the share of class c in ``counts``.

    Between 0 (one class only) and log C (C classes, all equally frequent). For a column of labels:
    ``entropy(class_counts(labels))``.

    >>> round(entropy([9, 5]), 6)
    0.940286
    >>> entropy([7, 7]), entropy([14, 0])
    (1.0, 0.0)
    """
    nats = row_entropy(counts_vector(counts)[np.newaxis])[0]
    return float(nats / nats_per_unit(base))


def conditional_entropy(table: Any, y: Any = None, *, base: Base = 2) -> float:
    """H(class | A) = sum_v |S_v| / |S| * H(S_v): the entropy that remains when the attribute's value is known.

    >>> round(conditional_entropy([[2, 3], [4, 0], [3, 2]]), 6)
    0.693536
    """
    return _after_split(row_entropy, counts_table(table, y)) / nats_per_unit(base)


def information_gain(table: Any, y: Any = None, *, missing: float = 0.0, base: Base = 2) -> float:
    """Gain = H(class) - H(class | A), times the share of rows without a missing value.

    >>> round(information_gain([[2, 3], [4, 0], [3, 2]]), 6)
    0.24675
    >>> round(information_gain([[2, 3], [3, 0], [3, 2]], missing=1), 6)
    0.199041
    >>> information_gain(["a", "a", "b", "b"], ["no", "no", "yes", "yes"])
    1.0
    """
    return _reduction(row_entropy, table, y, missing) / nats_per_unit(base)


def split_info(table: Any, y: Any = None, *, missing: float = 0.0, base: Base = 2) -> float:
    """SplitInfo = - sum_v |S_v| / |S| log(|S_v| / |S|): the entropy of the branch sizes.

    Rows with a missing value count as one more branch.

    >>> round(split_info([[2, 3], [4, 0], [3, 2]]), 6)
    1.577406
    """
    branches = sums(counts_table(table, y), 1)
    return entropy(np.append(branches, weight_of_missing(missing)), base=base)


def gain_ratio(table: Any, y: Any = None, *, missing: float = 0.0) -> float:
    """GainRatio = Gain / SplitInfo; 0 where all rows take one branch (SplitInfo < 1e-12).

    >>> round(gain_ratio([[2, 3], [4, 0], [3, 2]]), 6)
    0.156428
    >>> gain_ratio([[9, 5], [0, 0]])
    0.0
    """
    table = counts_table(table, y)
    info = split_info(table, missing=missing)
    return information_gain(table, missing=missing) / info if info >= _LEAST_SPLIT_INFO else 0.0


def gini(counts: ArrayLike) -> float:
    """gini = 1 - sum_c p_c^2: the probability that two rows drawn at random have different classes.

    >>> round(gini([9, 5]), 6)
    0.459184
    """
    return float(_row_gini(counts_vector(counts)[np.newaxis])[0])


def gini_split(table: Any, y: Any = None) -> float:
    """gini_A = sum_v |S_v| / |S| * gini(S_v), over the attribute's values or a binary partition.

    >>> round(gini_split([[2, 2], [4, 2], [3, 1]]), 6)
    0.440476
    >>> round(gini_split(binary_table([[2, 2], [4, 2], [3, 1]], left=[0])), 6)
    0.442857
    """
    return _after_split(_row_gini, counts_table(table, y))


def gini_reduction(table: Any, y: Any = None, *, missing: float = 0.0) -> float:
    """gini(S) - gini_A, times the share of rows without a missing value.

    The table itself gives the multiway split, ``binary_table(table, left)`` a binary one.

    >>> round(gini_reduction([[2, 3], [4, 0], [3, 2]]), 6)
    0.116327
    >>> round(gini_reduction(binary_table([[2, 3], [4, 0], [3, 2]], left=[1])), 6)
    0.102041
    """
    return _reduction(_row_gini, table, y, missing)


def misclassification(counts: ArrayLike) -> float:
    """1 - max_c p_c: the error rate if every row is predicted to have the most frequent class.

    >>> round(misclassification([9, 5]), 6)
    0.357143
    """
    return float(_row_misclassification(counts_vector(counts)[np.newaxis])[0])


def misclassification_reduction(table: Any, y: Any = None, *, missing: float = 0.0) -> float:
    """Misclassification before the split minus the weighted mean after it, times the share of rows without a missing
    value.

    >>> round(misclassification_reduction([[2, 3], [4, 0], [3, 2]]), 6)
    0.071429
    """
    return _reduction(_row_misclassification, table, y, missing)


def mutual_information(x: Any, y: Any = None, *, base: Base = 2) -> float:
    """I = sum_ij p_ij log(p_ij / (p_i p_j)), of a table or of two columns of labels.

    It equals the information gain and is symmetric.

    >>> round(mutual_information([[2, 3], [4, 0], [3, 2]]), 6)
    0.24675
    >>> mutual_information(["a", "a", "b", "b"], ["no", "no", "yes", "yes"])
    1.0
    """
    return information_gain(x, y, base=base)


def covariance(x: ArrayLike, y: ArrayLike, *, ddof: int = 1) -> float:
    """cov = sum (x_i - mean x)(y_i - mean y) / (n - ddof); ``ddof=0`` for a whole population.

    >>> covariance([1, 2, 3, 4], [2, 4, 6, 8], ddof=0)
    2.5
    """
    (x_scaled, x_exponent), (y_scaled, y_exponent) = _scaled(x, y)
    n = len(x_scaled)
    if not 0 <= ddof < n:
        raise ValueError(f"ddof must be >= 0 and less than the number of rows, {n}, got {ddof!r}")
    found = float(_products(x_scaled, y_scaled) / (n * (n - ddof)))
    return float(np.ldexp(found, x_exponent + y_exponent))


def correlation(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's r = cov(x, y) / sqrt(var(x) var(y)), in [-1, 1]; 0 if a column is constant.

    It measures only linear dependence: for any other kind use ``mutual_information``.

    >>> round(correlation([1, 2, 3, 4], [1, 3, 2, 4]), 6)
    0.8
    >>> correlation([-1, 0, 1], [1, 0, 1])
    0.0
    """
    (x_scaled, _), (y_scaled, _) = _scaled(x, y)
    lengths = _products(x_scaled, x_scaled) * _products(y_scaled, y_scaled)
    if lengths <= 0:
        return 0.0
    together = _products(x_scaled, y_scaled)
    size = min(1.0, math.sqrt(together * together / lengths))
    return -size if together < 0 else size


_RowImpurity = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def _row_gini(table: NDArray[np.float64]) -> NDArray[np.float64]:
    shares = row_shares(table)
    return np.where(table.any(axis=1), np.maximum(1 - sums(shares * shares), 0.0), 0.0)


def _row_misclassification(table: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(table.any(axis=1), 1 - row_shares(table).max(axis=1), 0.0)


def _after_split(impurity: _RowImpurity, table: NDArray[np.float64]) -> float:
    """The branches' impurity, each branch weighted by its share of the rows."""
    return dot(row_shares(sums(table)[np.newaxis])[0], impurity(table))


def _reduction(impurity: _RowImpurity, table: Any, y: Any, missing: float) -> float:
    cells = counts_table(table, y)
    known, unknown = total(cells), weight_of_missing(missing)
    if known == 0:
        return 0.0
    before = float(impurity(sums(cells, 0)[np.newaxis])[0])
    return max(0.0, before - _after_split(impurity, cells)) * known / (known + unknown)


_Scaled = tuple[NDArray[np.float64], int]


def _scaled(x: ArrayLike, y: ArrayLike) -> tuple[_Scaled, _Scaled]:
    """Both columns as (column, e) with the values column * 2^e, so that no product overflows or vanishes."""
    columns = numeric_column(x, "x"), numeric_column(y, "y")
    same_length(*columns, names="x y")
    for name, column in zip("xy", columns, strict=True):
        if len(column) == 0:
            raise ValueError(f"{name} is empty: give at least one row")
        if np.isinf(column).any():
            raise ValueError(
                f"{name}[{int(np.isinf(column).argmax())}] is infinite: leave such rows out"
            )
    return _scaled_column(columns[0]), _scaled_column(columns[1])


def _scaled_column(column: NDArray[np.float64]) -> _Scaled:
    exponent = int(np.frexp(np.abs(column).max())[1])
    return np.ldexp(column, -exponent), exponent


def _products(x: NDArray[np.float64], y: NDArray[np.float64]) -> Fraction:
    """n times the sum of (x_i - mean x)(y_i - mean y), without rounding."""
    return len(x) * exact_dot(x, y) - exact_total(x) * exact_total(y)
