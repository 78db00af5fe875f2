# SPDX-License-Identifier: BSD-3-Clause
"""Many contingency tables at once, [table, value, class]: the checks, and what all measures need of them.

Rows and columns of zeros are values and classes that a table lacks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fasttree.base.sums import sums

_Array = NDArray[np.float64]


def counts_tables(tables: ArrayLike) -> _Array:
    """``tables`` as float64, or an error that says what to pass instead."""
    try:
        array = np.asarray(tables, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"tables must contain numbers and all have the same shape ({error}): pad them with rows of zeros"
        ) from error
    if array.ndim != 3:
        raise ValueError(
            f"tables must be 3-D (tables x attribute values x classes), got shape {array.shape}: "
            "for a single table pass [table]"
        )
    if 0 in array.shape[1:]:
        raise ValueError(
            f"tables must have at least one value and one class, got shape {array.shape}"
        )
    bad = ~(array >= 0) | np.isinf(array)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"tables{list(where)} must be a finite number >= 0, got {array[where]}")
    totals = sums(array, (1, 2))
    if np.isinf(totals).any():
        raise ValueError(
            f"the total of tables[{int(np.isinf(totals).argmax())}] overflows: "
            f"divide the weights by {array.max():.0e}"
        )
    return array


def weights_of_missing(missing: ArrayLike, n_tables: int) -> _Array:
    """The weight of the rows that each of the tables lacks, checked."""
    try:
        weights = np.asarray(missing, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.array(np.nan)
    if weights.shape not in ((), (n_tables,)) or not (
        (weights >= 0).all() and np.isfinite(weights).all()
    ):
        raise ValueError(
            "missing must be the number (or weight) of rows with a missing value, a finite number >= 0 "
            f"(or {n_tables} of them, one per table), got {missing!r}"
        )
    return np.asarray(np.broadcast_to(weights, (n_tables,)))


def margins(tables: _Array) -> tuple[_Array, _Array, _Array]:
    """The weight of each value, of each class, and of each table."""
    return sums(tables, 2), sums(tables, 1), sums(tables, (1, 2))


def are_whole(tables: _Array) -> NDArray[np.bool_]:
    """Which of the tables count rows, and do not weigh them?"""
    return np.asarray((tables == np.floor(tables)).all(axis=(1, 2)))


def degrees_of_freedom(tables: _Array) -> NDArray[np.int64]:
    """(rows - 1)(columns - 1) without the empty ones."""
    n_rows = (tables.max(axis=2) > 0).sum(axis=1)
    n_columns = (tables.max(axis=1) > 0).sum(axis=1)
    return np.asarray(np.maximum(n_rows - 1, 0) * np.maximum(n_columns - 1, 0), dtype=np.int64)


def smallest_expected(tables: _Array) -> _Array:
    """The smallest count that independence would put into a cell; inf in a table without rows."""
    rows, columns, total = margins(tables)
    least_row = np.where(rows > 0, rows, np.inf).min(axis=1)
    least_column = np.where(columns > 0, columns, np.inf).min(axis=1)
    return np.asarray(least_row * (least_column / np.where(total > 0, total, 1.0)))
