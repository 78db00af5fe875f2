# SPDX-License-Identifier: BSD-3-Clause
"""One column of Python's objects: out come numbers, Times or a Factor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from typing import Any

import numpy as np

from fasttree.base.times import (
    DATETIME,
    DURATION,
    INSTANT,
    Times,
    array_microseconds,
    finer_error,
    kind_of,
)
from fasttree.base.values import is_missing, short_repr, value_kind, value_kinds
from fasttree.tables.factors import (
    Factor,
    bool_factor,
    complex_error,
    empty_factor,
    factorize,
    first_row,
    not_a_scalar_error,
)
from fasttree.tables.whole_numbers import LARGEST_WHOLE_NUMBER, beyond_float64_error, is_large


def read_objects(where: str, values: Sequence[Any]) -> np.ndarray | Factor | Times:
    """Objects all of which, but for the missing ones, are text, bools, numbers, dates, durations."""
    text = _text(values)
    if text is not None:
        return text
    kinds_by_type = _kinds_by_type(values)
    found = set(kinds_by_type.values()) - {"missing"}
    if len(found) > 1:  # by its type, a NaN among words is a number, and numpy's NaT a date
        doubtful = {kind for kind, name in kinds_by_type.items() if name not in ("text", "bool")}
        values = [
            None if type(value) in doubtful and is_missing(value) else value for value in values
        ]
        kinds_by_type = _kinds_by_type(values)
        found = set(kinds_by_type.values()) - {"missing"}
    if found == {"text"}:
        return factorize(values)
    if not found:
        return empty_factor(len(values))
    has_missing = "missing" in kinds_by_type.values()
    if has_missing:
        values = [None if kinds_by_type[type(value)] == "missing" else value for value in values]
    if found == {"bool"}:
        return _object_bools(values)
    if found == {"number"}:
        numbers = _object_numbers(where, values)
        return unless_empty(numbers) if has_missing else numbers
    if "complex" in found:
        raise complex_error(where)
    odd = found - {"text", "bool", "number", "date", "duration"}
    if odd:
        row = first_row(values, lambda value: kinds_by_type.get(type(value)) in odd)
        raise not_a_scalar_error(where, row, values[row])
    if len(found) > 1:
        raise _mixed_error(where, values)
    if found == {"duration"}:
        return Times(DURATION, _object_microseconds(where, values, "timedelta64[us]"))
    return _object_times(where, values)


def _text(values: Sequence[Any]) -> Factor | None:
    """A column of text, which most columns of objects are: to hash it is the fastest way to see that."""
    if not len(values) or not (isinstance(values[0], str) or is_missing(values[0])):
        return None
    try:
        labels = factorize(values)
    except TypeError:  # a value has no hash
        return None
    return labels if value_kinds(labels.labels).keys() == {"text"} else None


def _kinds_by_type(values: Sequence[Any]) -> dict[type, str]:
    return {kind: value_kind(kind) for kind in set(map(type, values))}


def unless_empty(column: np.ndarray | Factor | Times) -> np.ndarray | Factor | Times:
    """Words of which all are missing may come as NaN. Only floats alone are surely numbers."""
    numbers = column.values if isinstance(column, Times) else column
    if isinstance(numbers, np.ndarray) and np.isnan(numbers).all():
        return empty_factor(len(numbers))
    return column


def _mixed_error(where: str, values: Sequence[Any]) -> ValueError:
    first: dict[str, str] = {}  # an int8 and a float are of one kind, a bool is not
    for row, value in enumerate(values):
        name = value_kind(type(value))
        if value is not None and name not in first:
            first[name] = f"{type(value).__name__} ({short_repr(value)} in row {row})"
    return ValueError(
        f"{where} mixes types: {' and '.join(list(first.values())[:3])}. Convert it to one type: "
        "text for a categorical column, numbers for a numeric one."
    )


# In what follows None is the only missing value, but for the NaN among numbers.


def _object_bools(values: Sequence[Any]) -> np.ndarray | Factor:
    if any(value is None for value in values):
        return bool_factor(np.array([-1 if value is None else value for value in values]))
    return np.array(values, dtype=bool)


def _object_numbers(where: str, values: Sequence[Any]) -> np.ndarray | Factor:
    try:
        numbers = np.array(values)
        if numbers.dtype.kind in "iu":
            return numbers
        with np.errstate(over="ignore"):
            numbers = np.array(values, dtype=np.float64)
    except (OverflowError, ValueError):  # a huge whole number; a decimal's signaling NaN
        numbers = np.array([_nearest_float(value) for value in values])
    if not np.fmax.reduce(np.abs(numbers)) >= LARGEST_WHOLE_NUMBER:
        return numbers
    for row in np.flatnonzero(np.isinf(numbers)).tolist():
        if values[row] not in (math.inf, -math.inf):
            raise beyond_float64_error(where, values[row])
    if not any(map(is_large, values)):
        return numbers
    # As they are, for a categorical column; a numeric one decides for itself.
    exact = [
        int(value)
        if isinstance(value, (int, np.integer)) or is_large(value)
        else _nearest_float(value)
        for value in values
    ]
    return replace(factorize(exact), large=True)


def _nearest_float(value: Any) -> float:
    if value is None or is_missing(value):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _object_microseconds(where: str, values: Sequence[Any], dtype: str) -> np.ndarray:
    """Times of Python and numpy as microseconds. Each of numpy's has a unit of its own, which may be longer or finer;
    those of pandas may have nanoseconds beside what Python knows of."""
    rows_of: dict[Any, list[int]] = {}
    for row, value in enumerate(values):
        if value is None:
            continue
        if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
            raise finer_error(where, row)
        unit = value.dtype if isinstance(value, np.generic) else np.dtype(dtype)
        rows_of.setdefault(unit, []).append(row)
    numbers = np.full(len(values), np.nan)
    for unit, rows in rows_of.items():
        times = np.full(len(values), "NaT", dtype=unit)
        times[rows] = np.array([values[row] for row in rows], dtype=unit)
        numbers = np.where(np.isnan(numbers), array_microseconds(where, times), numbers)
    return numbers


def _object_times(where: str, values: Sequence[Any]) -> Times:
    zoned = [row for row, value in enumerate(values) if kind_of(value) == INSTANT]
    if not zoned:
        return Times(DATETIME, _object_microseconds(where, values, "datetime64[us]"))
    universal = [None] * len(values)
    for row in zoned:
        try:
            universal[row] = values[row].astimezone(UTC).replace(tzinfo=None)
        except OverflowError:
            raise ValueError(
                f"{where} contains {short_repr(values[row])} in row {row}, which in UTC is outside the years 1 to "
                "9999: use an earlier or later time, or set it to missing."
            ) from None
    for row, value in enumerate(values):
        if universal[row] is None and not is_missing(value):
            raise ValueError(
                f"{where} contains {short_repr(values[zoned[0]])} in row {zoned[0]}, which has a time zone, and "
                f"{short_repr(value)} in row {row}, which has none: use times with a zone in all rows or in none."
            )
    return Times(INSTANT, _object_microseconds(where, universal, "datetime64[us]"))
