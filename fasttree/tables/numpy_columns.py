# SPDX-License-Identifier: BSD-3-Clause
"""One column of numpy's or of Python's own: out come numbers or Labels."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC
from typing import Any

import numpy as np

from fasttree.base.times import DATETIME, DURATION, INSTANT, Times, kind_of
from fasttree.base.values import is_missing, short_repr, value_kind, value_kinds
from fasttree.tables.factors import (
    MISSING_CODE,
    Factor,
    bool_factor,
    complex_error,
    empty_factor,
    factorize,
    first_row,
    not_a_scalar_error,
)

# Beyond it float64, and so a threshold, no longer tells neighbours apart.
LARGEST_WHOLE_NUMBER = 2**53

# What the core reads as it is; every other number is converted once.
PLAIN_DTYPES = frozenset(np.dtype(code) for code in "?bhilqBHILQfd")

# numpy's units of time: how many microseconds one has, or how many of it make a microsecond
_MICROSECONDS = {
    "W": 604_800_000_000,
    "D": 86_400_000_000,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 1_000_000,
    "ms": 1_000,
    "us": 1,
}
_PER_MICROSECOND = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}


def too_large_error(where: str, value: Any) -> ValueError:
    return ValueError(
        f"{where} contains the integer {short_repr(value)}: beyond 2**53, the float64 thresholds of a tree "
        "cannot distinguish neighbouring integers. Declare the column categorical "
        "(as text, if it is an identifier) or rescale it."
    )


def beyond_float64_error(where: str, value: Any) -> ValueError:
    return ValueError(
        f"{where} contains {short_repr(value)}, which is outside the range of float64 (about 1.8e308): "
        "rescale the column, or pass it as text if it is an identifier."
    )


def check_whole_numbers(values: np.ndarray, where: Callable[[int], str]) -> None:
    """Thresholds are float64: whole numbers that it would round are refused. `where`: column j."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return
    if not _are_large(values):
        return
    value = values.max() if values.max() > LARGEST_WHOLE_NUMBER else values.min()
    _, place = np.argwhere(values.reshape(len(values), -1) == value)[0]
    raise too_large_error(where(int(place)), value)


def _are_large(values: np.ndarray) -> bool:
    return bool(values.max() > LARGEST_WHOLE_NUMBER or values.min() < -LARGEST_WHOLE_NUMBER)


# -- arrays ----------------------------------------------------------------------------------------


def plain_numbers(values: np.ndarray, where: Callable[[int], str]) -> np.ndarray:
    """Half and extended precision and foreign byte order as a dtype that the core reads. `where`: column j."""
    if values.dtype in PLAIN_DTYPES:
        return values
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            numbers = values.astype(np.float32 if values.dtype.itemsize <= 4 else np.float64)
        if values.dtype.itemsize > 8 and (beyond := np.isinf(numbers) & ~np.isinf(values)).any():
            _, place = np.argwhere(beyond.reshape(len(values), -1))[0]
            raise beyond_float64_error(where(int(place)), values[beyond][0])
        return numbers
    return values.astype(values.dtype.newbyteorder("="))


def masked_places(values: np.ndarray) -> np.ndarray | None:
    """Where a masked array hides its values, if it hides any. numpy.ma is never loaded for it."""
    masked_arrays = sys.modules.get("numpy.ma")
    if masked_arrays is None or not isinstance(values, masked_arrays.MaskedArray):
        return None
    mask: np.ndarray = masked_arrays.getmaskarray(values)
    return mask if mask.any() else None


def masked_numbers(
    values: np.ndarray, hidden: np.ndarray, where: Callable[[int], str]
) -> np.ndarray | None:
    """The numbers of a masked array with NaN in the hidden places, whatever lies under the mask.

    None if float64 would round some of them.
    """
    known = plain_numbers(np.where(hidden, values.dtype.type(0), np.asarray(values)), where)
    if known.dtype.kind in "iu" and _are_large(known):
        return None
    numbers = known.astype(np.float32 if known.dtype == np.float32 else np.float64, copy=False)
    numbers[hidden] = np.nan
    return numbers


def read_array(where: str, values: np.ndarray) -> np.ndarray | Factor | Times:
    if values.ndim != 1:
        raise ValueError(f"{where} has {values.ndim} dimensions, but a column must be 1-D.")
    hidden = masked_places(values)
    kind = values.dtype.kind
    if kind == "b" and hidden is not None:
        return bool_factor(np.where(hidden, MISSING_CODE, np.asarray(values)))
    if kind in "biuf":
        if hidden is None:
            return plain_numbers(np.asarray(values), lambda _: where)
        numbers = masked_numbers(values, hidden, lambda _: where)
        return read_objects(where, values.tolist()) if numbers is None else numbers
    if kind == "U":
        return factorize(values.tolist())  # a masked array gives None for what it hides
    if kind in "OT":
        return _unless_empty(read_objects(where, values.tolist()))
    if kind in "mM":
        times = _time_numbers(where, np.asarray(values), hidden)
        return Times(DATETIME if kind == "M" else DURATION, times)
    if kind == "c":
        raise complex_error(where)
    if kind == "S":
        raise TypeError(
            f"{where} contains bytes ({short_repr(values[0])}): decode it with .astype(str)."
        )
    raise TypeError(
        f"{where} has the dtype {values.dtype}, which is not supported: convert it to numbers or text."
    )


def _time_numbers(where: str, values: np.ndarray, hidden: np.ndarray | None = None) -> np.ndarray:
    """Times as microseconds (points in time: since 1970): one unit, so that a model takes any library's.

    Exact between the years 1684 and 2255, and rounded to 32 microseconds in the year 9999.
    """
    missing = np.isnat(values) if hidden is None else np.isnat(values) | hidden
    if missing.all():  # NaT alone may come without a unit
        return np.full(len(values), np.nan)
    unit, step = np.datetime_data(values.dtype)
    if values.dtype.kind == "M" and unit in ("Y", "M"):
        values, unit, step = values.astype("datetime64[D]"), "D", 1
    counts = values.astype(np.int64)
    counts[missing] = 0
    if unit in _MICROSECONDS:
        numbers = counts.astype(np.float64) * (_MICROSECONDS[unit] * step)
        numbers[missing] = np.nan
        return numbers
    if unit not in _PER_MICROSECOND:
        raise TypeError(
            f"{where} has durations in the unit {unit!r}, which has no fixed length: use days."
        )
    counts *= step
    whole = counts // _PER_MICROSECOND[unit]
    finer = whole * _PER_MICROSECOND[unit] != counts
    if finer.any():
        raise _finer_error(where, int(np.argmax(finer)))
    numbers = whole.astype(np.float64)
    numbers[missing] = np.nan
    return numbers


# -- Python's objects ------------------------------------------------------------------------------


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
    some_missing = "missing" in kinds_by_type.values()
    if some_missing:
        values = [None if kinds_by_type[type(value)] == "missing" else value for value in values]
    if found == {"bool"}:
        return _object_bools(values)
    if found == {"number"}:
        numbers = _object_numbers(where, values)
        return _unless_empty(numbers) if some_missing else numbers
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


def _unless_empty(column: np.ndarray | Factor | Times) -> np.ndarray | Factor | Times:
    """Words of which all are missing may come as NaN. Only floats alone are surely numbers."""
    numbers = column.values if isinstance(column, Times) else column
    if isinstance(numbers, np.ndarray) and np.isnan(numbers).all():
        return empty_factor(len(numbers))
    return column


def _mixed_error(where: str, values: Sequence[Any]) -> ValueError:
    first: dict[str, str] = {}  # an int8 and a float are of one family, a bool is not
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
        return bool_factor(np.array([MISSING_CODE if value is None else value for value in values]))
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


def is_large(value: Any) -> bool:
    """Is it a whole number, and none of a float type, that float64 may not tell from its neighbours?"""
    if value is None or isinstance(value, (float, np.floating)) or is_missing(value):
        return False
    return LARGEST_WHOLE_NUMBER < abs(value) < math.inf and int(value) == value


def _nearest_float(value: Any) -> float:
    if value is None or is_missing(value):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _finer_error(where: str, row: int) -> ValueError:
    return ValueError(
        f"{where} has a time with a resolution finer than a microsecond in row {row}: "
        "round it to microseconds, or convert it to numbers in the unit that you need."
    )


def _object_microseconds(where: str, values: Sequence[Any], dtype: str) -> np.ndarray:
    """Times of Python and numpy as microseconds. Each of numpy's has a unit of its own, which may be longer or finer;
    those of pandas may have nanoseconds beside what Python knows of."""
    rows_of: dict[Any, list[int]] = {}
    for row, value in enumerate(values):
        if value is None:
            continue
        if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
            raise _finer_error(where, row)
        unit = value.dtype if isinstance(value, np.generic) else np.dtype(dtype)
        rows_of.setdefault(unit, []).append(row)
    numbers = np.full(len(values), np.nan)
    for unit, rows in rows_of.items():
        times = np.full(len(values), "NaT", dtype=unit)
        times[rows] = np.array([values[row] for row in rows], dtype=unit)
        numbers = np.where(np.isnan(numbers), _time_numbers(where, times), numbers)
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
                f"9999: "
                "use an earlier or later time, or set it to missing."
            ) from None
    for row, value in enumerate(values):
        if universal[row] is None and not is_missing(value):
            raise ValueError(
                f"{where} contains {short_repr(values[zoned[0]])} in row {zoned[0]}, which has a time zone, and "
                f"{short_repr(value)} in row {row}, which has none: use times with a zone in all rows or in none."
            )
    return Times(INSTANT, _object_microseconds(where, universal, "datetime64[us]"))
