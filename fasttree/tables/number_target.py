# SPDX-License-Identifier: BSD-3-Clause
"""A target of numbers, checked, as an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.base.times import Times, held
from fasttree.base.values import short_repr
from fasttree.tables.columns import read_column
from fasttree.tables.factors import MISSING_CODE, Factor, missing_value_error
from fasttree.tables.target import check_length, one_dimensional, refuse_times
from fasttree.tables.whole_numbers import check_whole_numbers, is_large, too_large_error

REMEDY = "a regressor needs numbers: use fasttree.TreeClassifier to predict classes, or convert y"


@dataclass(frozen=True, slots=True, eq=False)
class NumberTarget:
    """The number of each row. To the encoding it is a target of no classes."""

    values: np.ndarray  # float64, finite

    @property
    def codes(self) -> np.ndarray:
        return np.zeros(len(self.values), dtype=np.int32)

    @property
    def classes(self) -> np.ndarray:
        return np.empty(0)

    @property
    def tie_order(self) -> np.ndarray:
        return np.empty(0, dtype=np.int32)

    def take(self, rows: np.ndarray) -> NumberTarget:
        """These rows, by number or by mask."""
        return NumberTarget(self.values[rows])


def read_numbers(y: Any, n_rows: int) -> NumberTarget:
    """One finite float64 a row."""
    if y is None:
        raise ValueError("A regressor requires y to be passed, but the target y is None.")
    y = one_dimensional(y)
    refuse_times(str(getattr(y, "dtype", getattr(y, "type", ""))).lower(), REMEDY)
    values = read_column("y", y)
    if isinstance(values, Times):  # they came as objects
        raise ValueError(f"y contains {held(values.kind)}, but {REMEDY}.")
    if isinstance(values, Factor):
        check_length(len(values.codes), n_rows)
        raise _not_numbers(values)
    check_length(len(values), n_rows)
    check_whole_numbers(values, lambda _: "y")
    numbers = values.astype(
        np.float64
    )  # a copy: they are read several times, and may be the user's own
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        if np.isnan(numbers[row]):
            raise missing_value_error("y", row)
        raise ValueError(
            f"y contains {short_repr(values[row])} in row {row} (infinity, or a value too large for float64): leave "
            "the row out, or replace the value by a finite number"
        )
    return NumberTarget(numbers + 0.0)  # -0.0 is 0.0


def _not_numbers(values: Factor) -> ValueError:
    if values.large:
        return too_large_error("y", next(filter(is_large, values.labels)))
    missing = values.codes == MISSING_CODE
    row = int(np.argmin(missing))
    if missing[row]:
        return missing_value_error("y", 0)
    return ValueError(f"y contains {short_repr(values.value(row))} in row {row}, but {REMEDY}.")
