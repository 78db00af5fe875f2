# SPDX-License-Identifier: BSD-3-Clause
"""From columns of labels to counts and tables, and the checks that every measure makes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fasttree.base.elementary import log
from fasttree.base.sums import sums, total
from fasttree.base.times import Times
from fasttree.tables.columns import read_column
from fasttree.tables.factors import (
    Factor,
    check_complete,
    factorize_numbers,
    missing_value_error,
    sort_labels,
)

Base = float | Literal["e"]

_OF_COLUMNS = "for two columns pass both, values and classes, or contingency_table(values, classes)"


def class_counts(labels: Any, weights: ArrayLike | None = None) -> NDArray[Any]:
    """The number (or the weight) of the rows of each class.

    Classes are in their declared order if ``labels`` has one (a ``Categorical``, a pandas category), else sorted.

    >>> class_counts(["yes", "no", "yes"])
    array([1, 2])
    """
    codes, n_classes = _codes(labels, "labels")
    return np.bincount(codes, weights=_weights(weights, len(codes)), minlength=n_classes)


def contingency_table(values: Any, labels: Any, weights: ArrayLike | None = None) -> NDArray[Any]:
    """The table that the measures use: one row per value of the attribute, one column per class.

    Rows and columns are in their declared order if there is one, else sorted. A declared value that no row has gives a
    row of zeros, which does not change any measure. Leave out the rows with a missing value; the measures accept their
    number as ``missing``.

    >>> contingency_table(["a", "a", "b", "b"], ["no", "yes", "yes", "yes"])
    array([[1, 1],
           [0, 2]])
    """
    rows, n_rows = _codes(values, "values")
    columns, n_columns = _codes(labels, "labels")
    same_length(rows, columns)
    cells = np.bincount(
        rows * n_columns + columns,
        weights=_weights(weights, len(rows)),
        minlength=n_rows * n_columns,
    )
    return cells.reshape(n_rows, n_columns)


def binary_table(table: ArrayLike, left: int | Iterable[int]) -> NDArray[np.float64]:
    """The two-row table of a binary split: the rows whose numbers are in ``left``, and all other rows.

    >>> binary_table([[2, 2], [4, 2], [3, 1]], left=[0, 2])
    array([[5., 3.],
           [4., 2.]])
    """
    cells = counts_table(table)
    rows = range(len(cells))
    chosen = list(left) if isinstance(left, Iterable) else [left]
    if not all(row in rows for row in chosen):
        raise ValueError(
            f"left must contain row numbers of the table, 0 to {len(cells) - 1}, got {left!r}"
        )
    goes_left = np.isin(rows, chosen)
    return np.stack([sums(cells[goes_left], 0), sums(cells[~goes_left], 0)])


def counts_vector(counts: ArrayLike) -> NDArray[np.float64]:
    """``counts`` as float64, or an error that says what to pass instead."""
    array = _numbers(counts, "counts", "count the rows of a label column with class_counts(labels)")
    if array.ndim != 1:
        raise ValueError(
            f"counts must be 1-D (one count per class), got shape {array.shape}: "
            "for a table of attribute values x classes use conditional_entropy or information_gain"
        )
    return array


def counts_table(table: Any, y: Any = None) -> NDArray[np.float64]:
    """``table`` as float64, or an error that says what to pass instead; with classes ``y`` the table of a column."""
    if y is not None:
        return contingency_table(table, y).astype(np.float64)
    array = _numbers(table, "table", _OF_COLUMNS)
    if array.ndim != 2:
        raise ValueError(
            f"table must be 2-D (attribute values x classes), got shape {array.shape}: {_OF_COLUMNS}"
        )
    return array


def weight_of_missing(missing: float) -> float:
    """The weight of the rows that do not know the attribute, checked."""
    try:
        weight = float(missing)
    except (TypeError, ValueError):
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise ValueError(
            "missing must be the number (or weight) of rows with a missing value, "
            f"a finite number >= 0, got {missing!r}"
        )
    return weight


def nats_per_unit(base: Base) -> float:
    """log(base): divides an entropy in nats into one in the units of ``base``."""
    if base == "e":
        return 1.0
    try:
        if 1 < base < math.inf:
            return log(float(base))
    except TypeError:
        pass
    raise ValueError(f'base must be 2 (bits), "e" (nats) or another number > 1, got {base!r}')


def numeric_column(values: Any, name: str) -> NDArray[np.float64]:
    """A 1-D column of numbers without NaN, as float64."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a column of numbers: {error}") from error
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got shape {array.shape}")
    if np.isnan(array).any():
        raise ValueError(f"{name}[{int(np.isnan(array).argmax())}] is NaN: leave such rows out")
    return array


def same_length(values: NDArray[Any], labels: NDArray[Any], names: str = "values labels") -> None:
    if len(values) != len(labels):
        first, second = names.split()
        raise ValueError(
            f"{first} has {len(values)} rows and {second} has {len(labels)}: "
            "both must describe the same rows"
        )


def _numbers(counts: ArrayLike, name: str, remedy: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must contain numbers ({error}): {remedy}") from error
    bad = ~(array >= 0) | np.isinf(array)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        cell = f"{name}[{', '.join(map(str, where))}]" if where else name
        raise ValueError(f"{cell} must be a finite number >= 0, got {array[where]}")
    if array.size == 0:
        raise ValueError(f"{name} is empty, shape {array.shape}: {remedy}")
    if np.isinf(total(array)):
        raise ValueError(f"the total of {name} overflows: divide the weights by {array.max():.0e}")
    return array


def _weights(weights: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    if weights is None:
        return None
    array = _numbers(weights, "weights", "give one weight per row, or None")
    if array.shape != (n_rows,):
        raise ValueError(f"weights must have shape ({n_rows},), one per row, got {array.shape}")
    return array


def _codes(column: Any, name: str) -> tuple[NDArray[Any], int]:
    """Every row's label as a number from 0 on, and how many there are."""
    found = read_column(name, column)
    if isinstance(found, Times):
        found = found.values
    codes = found.codes if isinstance(found, Factor) else found
    if len(codes) == 0:
        raise ValueError(f"{name} is empty: give at least one row")
    if isinstance(found, Factor):
        column = sort_labels(name, check_complete(name, found))
    elif np.isnan(found).any():
        raise missing_value_error(name, int(np.isnan(found).argmax()))
    else:
        column = factorize_numbers(found)
    return column.codes.astype(np.intp) - 1, len(column.labels)
