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
from fasttree.tables.whole_numbers import is_large

MOST_WHOLE = 2**53
OF_TIMES = (
    "a regressor needs numbers: convert durations, for example with y.dt.total_seconds() / 86400"
)
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


def read_numbers(y: Any, n_rows: int, name: str = "y") -> NumberTarget:
    """One finite float64 a row. `name`: what the user calls it."""
    if y is None:
        raise ValueError("A regressor requires y to be passed, but the target y is None.")
    y = one_dimensional(y)
    refuse_times(str(getattr(y, "dtype", getattr(y, "type", ""))).lower(), OF_TIMES)
    values = read_column(name, y)
    if isinstance(values, Times):  # they came as objects
        raise ValueError(f"{name} contains {held(values.kind)}, but {OF_TIMES}.")
    if isinstance(values, Factor):
        check_length(len(values.codes), n_rows)
        raise _not_numbers(values, name)
    check_length(len(values), n_rows)
    if values.dtype.kind in "iu" and len(values):
        _check_size(values, name)
    numbers = values.astype(
        np.float64
    )  # a copy: they are read several times, and may be the user's own
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        if np.isnan(numbers[row]):
            raise missing_value_error(name, row)
        raise ValueError(
            f"{name} contains {short_repr(values[row])} in row {row} (infinity, or a value too large for float64): "
            "leave the row out, or replace the value by a finite number"
        )
    return NumberTarget(numbers + 0.0)  # -0.0 is 0.0


def _check_size(values: np.ndarray, name: str) -> None:
    beyond = (values > MOST_WHOLE) | (values < -MOST_WHOLE)
    if beyond.any():
        raise _too_large(name, values[int(np.argmax(beyond))])


def _too_large(name: str, value: Any) -> ValueError:
    return ValueError(
        f"{name} contains the integer {short_repr(value)}: beyond 2**53 float64 rounds integers, so that different "
        "ones may become equal: subtract an offset or divide them, or pass floats if that does not matter"
    )


def _not_numbers(values: Factor, name: str) -> ValueError:
    if values.large:
        return _too_large(name, next(filter(is_large, values.labels)))
    missing = values.codes == MISSING_CODE
    row = int(np.argmin(missing))
    if missing[row]:
        return missing_value_error(name, 0)
    return ValueError(
        f"{name} contains {short_repr(values.value(row))} in row {row}, but {REMEDY}."
    )
