# SPDX-License-Identifier: BSD-3-Clause
"""One column of any library: out come numbers, Times or a Factor.

No data-frame library is imported here. narwhals is, when a column comes that is neither numpy's nor
Python's own, and it finds the library that the user has loaded.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fasttree import _core
from fasttree.base.times import DATETIME, DURATION, INSTANT, Times
from fasttree.tables.arrow import arrow_column, filled, has_arrow_interface, to_numpy
from fasttree.tables.byte_codes import ByteCodedNumbers
from fasttree.tables.categorical import Categorical
from fasttree.tables.factors import Factor, bool_factor, empty_factor
from fasttree.tables.library_factors import library_factor, read_arrow, text_factor, type_error
from fasttree.tables.numpy_columns import read_array
from fasttree.tables.object_columns import read_objects
from fasttree.tables.whole_numbers import LARGEST_WHOLE_NUMBER

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


RawColumn = np.ndarray | Factor | Times


def has_numbers(column: Any) -> bool:
    """Does its type say so? Nobody looks at its values."""
    dtype: Any = getattr(column, "dtype", None)
    if hasattr(dtype, "is_numeric"):  # narwhals'
        return bool(dtype.is_numeric())
    return getattr(dtype, "kind", "O") in "biuf"


def read_column(where: str, column: Any, n_rows: int | None = None) -> RawColumn:
    """Numbers, Times or a Factor of anything one-dimensional; `where` is how errors call it; `n_rows`: as many as
    the table has."""
    found = _whole(where, column, n_rows, _read(where, column, n_rows, None))
    assert not isinstance(found, ByteCodedNumbers)
    return found


def read_to_encode(
    where: str, column: Any, n_rows: int, codes: np.ndarray
) -> RawColumn | ByteCodedNumbers:
    """A column as `read_column` reads it; but numbers that have to be moved come as `codes`, a byte a row, if few are
    distinct."""
    return _whole(where, column, n_rows, _read(where, column, n_rows, codes))


def _whole(
    where: str, column: Any, n_rows: int | None, found: RawColumn | ByteCodedNumbers
) -> RawColumn | ByteCodedNumbers:
    """Refuses what does not have a value for each row of the table, or as many as the column says that it has: whoever
    goes on reads as many as were announced. A code stands for one of the labels."""
    values = found.codes if isinstance(found, (Factor, ByteCodedNumbers)) else found
    wanted = len(values)
    if n_rows is not None:
        wanted = n_rows
    elif hasattr(column, "__len__"):
        wanted = len(column)
    _check_length(where, wanted, len(values))
    if not isinstance(found, Factor) or not found.declared:  # others' codes were made here
        return found
    if found.codes.max(initial=0) > len(found.labels):
        row = int(np.argmax(found.codes))
        raise ValueError(
            f"{where} is damaged: row {row} has the code {found.codes[row] - 1}, but there are "
            f"{len(found.labels)} labels."
        )
    return found


def _check_length(where: str, wanted: int, n_values: int) -> None:
    if n_values != wanted:
        raise ValueError(
            f"{where} has the length {wanted}, but contains {n_values} values: pass a list, an array or a series "
            "with one value per row."
        )


def _read(
    where: str, column: Any, n_rows: int | None, codes: np.ndarray | None
) -> RawColumn | ByteCodedNumbers:
    if isinstance(column, Times):
        return column
    if isinstance(column, np.ndarray):
        return read_array(where, column)
    if isinstance(column, Categorical):
        return column.as_factor()
    if isinstance(column, (list, tuple, range)):
        return read_objects(where, tuple(column))  # what it holds now, whatever its length says
    if isinstance(getattr(column, "dtype", None), np.dtype):  # pandas over numpy
        return read_array(where, np.asarray(column))
    return _read_series(where, column, n_rows, codes)


def _read_series(
    where: str, column: Any, n_rows: int | None, codes: np.ndarray | None
) -> RawColumn | ByteCodedNumbers:
    import narwhals.stable.v2 as nw

    series = nw.from_native(column, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        if has_arrow_interface(column):
            return _read_series(where, arrow_column(where, column), n_rows, codes)
        if _is_pandas_array(column):
            return _read(where, sys.modules["pandas"].Series(column), n_rows, codes)
        if hasattr(column, "__array__"):
            return read_array(where, np.asarray(column))
        raise TypeError(f"{where} is a {type(column).__name__}: pass a list, an array or a series.")
    dtype = series.dtype
    if n_rows is not None:
        _check_length(where, n_rows, len(series))
    if dtype == nw.Unknown and series.implementation.is_pandas_like():  # sparse columns, periods
        try:
            return read_array(where, np.asarray(series.to_native()))
        except NotImplementedError:  # types of Arrow that pandas only stores
            raise type_error(where, series.to_native().dtype) from None
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        is_text = dtype == nw.String
        labels = (text_factor if is_text else library_factor)(where, series)
        if labels is None:
            return read_array(where, np.asarray(series.to_numpy(), dtype=object))
        return labels
    if dtype in (nw.List, nw.Array, nw.Struct, nw.Binary, nw.Time):
        raise type_error(where, dtype)
    n_missing = series.null_count()
    if n_missing and dtype == nw.Boolean:
        return bool_factor(filled(series.cast(nw.Int8()), -1))
    zone = dtype.time_zone if isinstance(dtype, nw.Datetime) else None
    if n_missing == len(series):
        nothing = np.full(len(series), np.nan)
        if dtype.is_temporal():
            kind = DURATION if dtype == nw.Duration else DATETIME if zone is None else INSTANT
            return Times(kind, nothing)
        return nothing if dtype.is_numeric() else empty_factor(len(series))
    if n_missing or dtype in (nw.Decimal, nw.Int128, nw.UInt128):
        if codes is not None and dtype.is_numeric():
            distinct = read_arrow(where, series, _core.number_byte_codes, codes)
            if distinct is not None:  # they are few, and plain numbers
                return ByteCodedNumbers(codes, np.array(distinct, dtype=np.float64))
        numbers = _float64(where, series)
        if numbers is not None:
            return numbers
    if zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        times = read_array(where, to_numpy(series))
        assert isinstance(times, Times)
        return Times(INSTANT, times.values)
    try:
        return read_array(where, to_numpy(series))
    except NotImplementedError:  # Arrow's unions
        raise type_error(where, getattr(series.to_native(), "type", dtype)) from None


def _float64(where: str, series: nw.Series[Any]) -> RawColumn | None:
    """Numbers that numpy cannot hold as what they are, such as whole ones among holes; None for another type."""
    import narwhals.stable.v2 as nw

    numbers, dtype = np.empty(len(series)), series.dtype
    if dtype.is_integer():  # most have values that take half the memory
        read = partial(_core.numbers_with_holes, narrow=True)
        if read_arrow(where, series, read, numbers):
            return numbers.view(np.float32)[: len(numbers)]
    exact = read_arrow(where, series, partial(_core.numbers_with_holes, narrow=False), numbers)
    if exact is None:
        if dtype in (nw.Decimal, nw.Int128, nw.UInt128):
            numbers = to_numpy(series.cast(nw.Float64()))
        elif dtype.is_integer():
            numbers = series.to_numpy()
        else:
            return None
        exact = np.fmax.reduce(np.abs(numbers)) < LARGEST_WHOLE_NUMBER
    # Not exact: some may have been rounded; or what lies under a hole, which may be anything, is large.
    return numbers if exact else read_objects(where, series.to_list())


def _is_pandas_array(column: Any) -> bool:
    """What is inside a Series, such as a pandas.Categorical, and an index: numpy alone would lose its categories."""
    extensions = sys.modules.get("pandas.api.extensions")
    if extensions is None:
        return False
    return isinstance(column, (extensions.ExtensionArray, sys.modules["pandas"].Index))
