# SPDX-License-Identifier: BSD-3-Clause
"""One column of any library: out come numbers, Times or Labels.

No data-frame library is imported here. narwhals is, when a column comes that is neither numpy's nor
Python's own, and it finds the library that the user has loaded. Dictionary columns go by their
codes, and text is read where it lies, through Arrow's C interface.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fasttree import _core
from fasttree._memory import give_back
from fasttree.arrays import (
    LARGEST_WHOLE_NUMBER,
    read_array,
    read_objects,
    too_large_error,
)
from fasttree.categorical import Categorical
from fasttree.labels import (
    MISSING_CODE,
    Labels,
    bool_labels,
    compact,
    no_labels,
    shown,
    without_missing,
)
from fasttree.times import DATETIME, DURATION, INSTANT, Times

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


def read_column(where: str, column: Any) -> np.ndarray | Labels | Times:
    """Numbers, Times or Labels of anything one-dimensional; `where` is how errors call it."""
    if isinstance(column, Times):
        return column
    if isinstance(column, np.ndarray):
        return read_array(where, column)
    if isinstance(column, Categorical):
        return column.as_labels()
    if isinstance(column, (list, tuple, range)):
        return read_objects(where, column)
    if isinstance(getattr(column, "dtype", None), np.dtype):  # pandas over numpy
        return read_array(where, np.asarray(column))
    return _read_series(where, column)


def _read_series(where: str, column: Any) -> np.ndarray | Labels | Times:
    import narwhals.stable.v2 as nw

    series = nw.from_native(column, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        if hasattr(column, "__arrow_c_array__") and "pyarrow" in sys.modules:
            return _read_series(where, sys.modules["pyarrow"].chunked_array([column]))
        if _is_pandas_array(column):
            return read_column(where, sys.modules["pandas"].Series(column))
        if hasattr(column, "__array__"):
            return read_array(where, np.asarray(column))
        raise TypeError(f"{where} is a {type(column).__name__}: pass a list, an array or a series.")
    dtype = series.dtype
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        is_text = dtype == nw.String
        labels = _text_labels(where, series) if is_text else _library_labels(series)
        if labels is None:
            return read_array(where, np.asarray(series.to_numpy(), dtype=object))
        return labels
    if dtype in (nw.List, nw.Array, nw.Struct, nw.Binary, nw.Time):
        raise TypeError(
            f"{where} has the type {dtype}, but every argument must be a string, a bool, a date "
            "or a number: unpack it into columns of its own or convert it."
        )
    n_missing = series.null_count()
    if n_missing and dtype == nw.Boolean:
        return bool_labels(series.cast(nw.Int8()).fill_null(MISSING_CODE).to_numpy())
    zone = dtype.time_zone if isinstance(dtype, nw.Datetime) else None
    if n_missing == len(series):
        nothing = np.full(len(series), np.nan)
        if dtype.is_temporal():
            kind = DURATION if dtype == nw.Duration else DATETIME if zone is None else INSTANT
            return Times(kind, nothing)
        return nothing if dtype.is_numeric() else no_labels(len(series))
    if dtype in (nw.Int128, nw.UInt128):
        _check_before_rounding(where, series)
    if n_missing:
        numbers = _numbers_with_holes(where, series)
        if numbers is not None:
            return numbers
    if n_missing and dtype in (nw.Int64, nw.UInt64):
        values = series.to_numpy()  # float64, with NaN for those that are missing
        if max(np.fmax.reduce(values), -np.fmin.reduce(values)) >= LARGEST_WHOLE_NUMBER:
            _check_before_rounding(where, series)
        return read_array(where, values)
    if dtype in (nw.Decimal, nw.Int128, nw.UInt128):
        series = series.cast(nw.Float64())
    elif zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        times = read_array(where, series.to_numpy())
        assert isinstance(times, Times)
        return Times(INSTANT, times.values)
    return read_array(where, series.to_numpy())


def _numbers_with_holes(where: str, series: nw.Series[Any]) -> np.ndarray | None:
    """The numbers of a column, if they lie in memory as Arrow's."""
    numbers = np.empty(len(series))
    exact = _read_arrow(series, _core.numbers_with_holes, numbers)
    if exact is None:
        return None
    if not exact:  # among those that are there? What lies under a hole may be anything
        _check_before_rounding(where, series)
    return numbers


def _read_arrow(
    series: nw.Series[Any], read: Callable[[Any, np.ndarray], Any], out: np.ndarray
) -> Any:
    """What `read` of the core says of a column; None if the column does not come through Arrow's C interface."""
    native = series.to_native()
    if not hasattr(native, "__arrow_c_stream__"):
        return None
    try:
        return read(native.__arrow_c_stream__(), out)
    except ImportError:  # pandas without pyarrow
        return None


def _is_pandas_array(column: Any) -> bool:
    """What is inside a Series, such as a pandas.Categorical, and an index: numpy alone would lose its levels."""
    extensions = sys.modules.get("pandas.api.extensions")
    if extensions is None:
        return False
    return isinstance(column, (extensions.ExtensionArray, sys.modules["pandas"].Index))


def _check_before_rounding(where: str, series: nw.Series[Any]) -> None:
    """Whole numbers that are about to become float64, as those with missing ones among them do."""
    for value in (series.max(), series.min()):
        if abs(int(value)) > LARGEST_WHOLE_NUMBER:
            raise too_large_error(where, int(value))


def _text_labels(where: str, series: nw.Series[Any]) -> Labels | None:
    """Text by the core's own hash table, if it lies in memory as Arrow's."""
    codes = np.empty(len(series), dtype=np.int32)
    try:
        labels = _read_arrow(series, _core.text_codes, codes)
        give_back(128 * len(labels or ()))  # what the hash table had
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{where} holds text that is not UTF-8, {shown(error.object)}: decode it first."
        ) from None
    return None if labels is None else Labels(codes, labels)


def _library_labels(series: nw.Series[Any]) -> Labels | None:
    """Categories and dictionaries; None for a library whose encoding is not known here."""
    native, library = series.to_native(), series.implementation
    if library.is_pandas_like():
        if hasattr(native, "cat"):
            codes, labels = np.asarray(native.cat.codes), native.cat.categories.tolist()
            return Labels(codes, labels, declared=True, ordered=bool(native.cat.ordered))
        return _arrow_labels(series.to_arrow())
    elif library.is_polars():
        return _polars_labels(series)
    elif library.is_pyarrow():
        return _arrow_labels(native)
    return None


def _polars_labels(series: nw.Series[Any]) -> Labels:
    import narwhals.stable.v2 as nw

    physical = nw.from_native(series.to_native().to_physical(), series_only=True)
    has_missing = series.null_count() > 0
    if isinstance(series.dtype, nw.Enum):
        if has_missing:
            physical = physical.cast(nw.Int32()).fill_null(MISSING_CODE)
        return Labels(physical.to_numpy(), list(series.dtype.categories), declared=True)
    above = 0
    if has_missing:  # a code above all of polars' own
        above = int(physical.max() or 0) + 1
        physical = physical.fill_null(above)
    # A Categorical's codes come from a pool that it shares with other columns: the order there is
    # an accident, and which labels it has is read from rows that have them.
    codes, rows = compact(physical.to_numpy())
    if has_missing:
        rows = rows[:-1]
        codes[codes == len(rows)] = MISSING_CODE
    return Labels(codes, series[rows.tolist()].to_list())


def _arrow_labels(encoded: Any) -> Labels:
    chunks = encoded.unify_dictionaries().chunks if hasattr(encoded, "chunks") else [encoded]
    indices = [chunk.indices for chunk in chunks]
    parts = [
        (part.cast("int64").fill_null(MISSING_CODE) if part.null_count else part).to_numpy()
        for part in indices
    ]
    codes = parts[0] if len(parts) == 1 else np.concatenate(parts)
    codes, labels = _without_doubles(codes, chunks[0].dictionary.to_pylist())
    ordered = bool(encoded.type.ordered)
    return without_missing(Labels(codes, labels, declared=True, ordered=ordered))


def _without_doubles(codes: np.ndarray, dictionary: list[Any]) -> tuple[np.ndarray, list[Any]]:
    """A dictionary that somebody else made may hold a null, and the same label twice."""
    place_of: dict[Any, int] = {}
    for label in dictionary:
        if label is not None:
            place_of.setdefault(label, len(place_of))
    if len(place_of) < len(dictionary):
        places = [MISSING_CODE if label is None else place_of[label] for label in dictionary]
        codes = np.array([*places, MISSING_CODE], dtype=np.int32)[codes]
    return codes, list(place_of)
