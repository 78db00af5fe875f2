# SPDX-License-Identifier: BSD-3-Clause
"""Opens what holds a table: an array, a list of rows, a dict of columns, a data frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.base.values import column_label, short_repr
from fasttree.tables.arrow import arrow_column, arrow_table, has_arrow_interface
from fasttree.tables.factors import complex_error
from fasttree.tables.numpy_columns import PLAIN_DTYPES, masked_numbers, masked_places, plain_numbers


@dataclass(frozen=True, slots=True)
class Container:
    """A table whose values nobody has read: one numeric matrix, or columns of any sort."""

    n_rows: int
    names: tuple[str, ...]
    named: bool  # True if the user gave names
    matrix: np.ndarray | None = None
    columns: Sequence[Any] = ()
    numbered: bool = False  # True: a frame whose columns are labelled 0, 1, ..., which are no names


def open_container(X: Any) -> Container:
    """A table that is open stays so: a stream can be read only once."""
    if isinstance(X, Container):
        return X
    if isinstance(X, np.ndarray):
        return _open_array(X)
    if hasattr(X, "tocsr") and hasattr(X, "toarray"):  # before dicts: one of scipy's formats is one
        raise TypeError(
            "Sparse data was passed for X, but dense data is required: pass X.toarray()."
        )
    if isinstance(X, Mapping):
        return _open_dict(X)
    if isinstance(X, (list, tuple)):
        return _open_rows(X)
    frame = None if X is None or isinstance(X, (str, bytes)) else _open_frame(X)
    if frame is not None:
        return frame
    if hasattr(X, "__array__"):
        return _open_array(np.asarray(X))
    if hasattr(X, "collect"):
        raise TypeError(f"X is a {type(X).__name__}, not a table in memory: call .collect() first.")
    raise TypeError(
        f"X is a {type(X).__name__}, not a table in memory: pass a 2-D array, a list of rows, "
        "a dict of columns or a data frame."
    )


# -- what every table must pass --------------------------------------------------------------------


def check_shape(n_rows: int, n_columns: int) -> None:
    for count, things in ((n_rows, "sample(s)"), (n_columns, "feature(s)")):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {things} (shape=({n_rows}, {n_columns})) "
                "while a minimum of 1 is required."
            )


def _with_names(n_rows: int, keys: Sequence[Any], columns: Sequence[Any]) -> Container:
    """Keys are names, but for 0, 1, ...: these are what pandas and others give columns without names."""
    check_shape(n_rows, len(keys))
    others = [key for key in keys if not isinstance(key, str)]
    if others and len(others) < len(keys):
        raise TypeError(
            "Feature names are only supported if all input features have string names, but X has "
            f"the column name {short_repr(others[0])} of type {type(others[0]).__name__} as well as "
            f"strings: rename it, for example to {str(others[0])!r}."
        )
    if others and _are_default(keys):
        return Container(n_rows, _numbered(len(keys)), False, columns=columns, numbered=True)
    _check_unique(keys)
    return Container(n_rows, tuple(map(str, keys)), True, columns=columns)


def _are_default(keys: Sequence[Any]) -> bool:
    return all(
        isinstance(key, (int, np.integer)) and not isinstance(key, bool) and key == j
        for j, key in enumerate(keys)
    )


def _check_unique(keys: Sequence[Any]) -> None:
    for name, count in Counter(map(str, keys)).most_common(1):
        if count > 1:
            alike = [key for key in keys if str(key) == name]
            origin = "" if isinstance(alike[0], str) else f" ({' and '.join(map(repr, alike[:2]))})"
            raise ValueError(
                f"X has {count} columns with the name {name!r}{origin}: column names must be unique."
            )


def _numbered(n_columns: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(n_columns))


def _one_dimensional_error(X: Any) -> ValueError:
    return ValueError(
        f"Expected 2D array, got 1D array instead: X is a {type(X).__name__} of {len(X)} values. "
        "Reshape your data either using X.reshape(-1, 1) (or X.to_frame() for a series) if it is a "
        "single column, or X.reshape(1, -1) if it is a single row."
    )


# -- numpy's and Python's own ----------------------------------------------------------------------


def _open_array(X: np.ndarray) -> Container:
    if X.dtype.names is not None:
        if X.ndim != 1:
            raise ValueError(f"X is a structured array of {X.ndim} dimensions: pass X.ravel().")
        return _with_names(len(X), X.dtype.names, [X[name] for name in X.dtype.names])
    if X.ndim == 0:
        raise ValueError(
            f"Expected 2D array, got scalar array instead: X is {short_repr(X[()])}. "
            "Reshape your data using X.reshape(1, 1)."
        )
    if X.ndim == 1:
        raise _one_dimensional_error(X)
    if X.ndim > 2:
        raise ValueError(
            f"Found array with dim {X.ndim}, while dim <= 2 is required: X has the shape "
            f"{X.shape}. Reshape your data, for example using X.reshape(len(X), -1)."
        )
    n_rows, n_columns = X.shape
    check_shape(n_rows, n_columns)
    names = _numbered(n_columns)
    if X.dtype.kind == "c":
        raise complex_error("X")
    hidden = masked_places(X)
    if hidden is None:
        X = np.asarray(X)  # a memory map or a numpy.matrix as what it is underneath
    if X.dtype.kind in "biuf":

        def where(j: int) -> str:
            return column_label(names[j])

        matrix = plain_numbers(X, where) if hidden is None else masked_numbers(X, hidden, where)
        if matrix is not None:
            return Container(n_rows, names, False, matrix=matrix)
    return Container(n_rows, names, False, columns=columns_of(X))


def columns_of(matrix: np.ndarray) -> list[np.ndarray]:
    return [matrix[:, j] for j in range(matrix.shape[1])]


def _open_dict(X: Mapping[Any, Any]) -> Container:
    keys = list(X.keys())
    columns = [
        column
        if hasattr(column, "__len__") or not has_arrow_interface(column)
        else arrow_column(column_label(key), column)
        for key, column in X.items()
    ]
    for key, column in zip(keys, columns, strict=True):
        if isinstance(column, (str, bytes, Mapping)) or not _has_length(column):
            raise TypeError(
                f"{column_label(key)} is {short_repr(column)} of type {type(column).__name__}: "
                "in a dict of columns, each must be a list, an array or a series."
            )
        if len(column) != len(columns[0]):
            raise ValueError(
                f"the columns of X differ in length: {column_label(keys[0])} has "
                f"{len(columns[0])} rows, but {column_label(key)} has {len(column)}."
            )
    return _with_names(len(columns[0]) if columns else 0, keys, columns)


def _open_rows(X: Sequence[Any]) -> Container:
    rows = list(X)
    if not rows:
        check_shape(0, 0)
    if isinstance(rows[0], Mapping):
        raise TypeError("X is a list of dicts: pass a dict of columns, or a data frame of them.")
    if hasattr(rows[0], "iloc"):  # their labels would be lost
        raise TypeError(
            f"X is a list of {type(rows[0]).__name__} objects: pass a data frame of them, such as "
            "pandas.DataFrame(X)."
        )
    if isinstance(rows[0], Set):
        raise TypeError(
            f"row 0 of X is {short_repr(rows[0])}, but a {type(rows[0]).__name__} is unordered: "
            "every row must be a list or a tuple."
        )
    if not _is_row(rows[0]):
        raise _one_dimensional_error(rows)
    width = len(rows[0])
    for number, row in enumerate(rows):
        if not _is_row(row):
            raise ValueError(
                f"row {number} of X is {short_repr(row)}, but row 0 has {width} values: "
                "every row must be a list or a tuple."
            )
        if len(row) != width:
            raise ValueError(
                f"row {number} of X has {len(row)} values, but row 0 has {width}: "
                "every row must have the same length."
            )
    if isinstance(rows[0], np.ndarray):
        # A masked array is left to itself: numpy.stack would show what it hides.
        dtypes = {row.dtype if type(row) is np.ndarray else None for row in rows}
        if len(dtypes) == 1 and dtypes <= PLAIN_DTYPES:
            return _open_array(np.stack(rows))
    check_shape(len(rows), width)
    for number, row in enumerate(rows):
        if type(row) not in (list, tuple):  # these alone are surely as long as they say
            rows[number] = row = list(row)
            if len(row) != width:
                raise ValueError(
                    f"row {number} of X has the length {width}, but contains {len(row)} values: pass a plain list."
                )
    if isinstance(rows[0][0], (list, tuple)):
        raise ValueError(
            f"Found array with dim 3, while dim <= 2 is required: row 0 of X contains "
            f"{short_repr(rows[0][0])}. Reshape your data: a row must be a list of single values."
        )
    return Container(len(rows), _numbered(width), False, columns=list(zip(*rows, strict=True)))


def _is_row(row: Any) -> bool:
    """Sets, among others, have no order."""
    ordered = hasattr(row, "__getitem__") and not isinstance(row, (str, bytes, Mapping))
    return ordered and _has_length(row)


def _has_length(values: Any) -> bool:
    return hasattr(values, "__len__") and getattr(values, "ndim", 1) != 0


# -- data-frame libraries --------------------------------------------------------------------------


def _open_frame(X: Any) -> Container | None:
    """Whatever narwhals knows or Arrow describes; None for an object that is no data frame."""
    import narwhals.stable.v2 as nw

    X = nw.to_native(X, pass_through=True)
    if nw.dependencies.is_pandas_like_dataframe(X):
        # pandas' own way to the columns allows names that narwhals does not, and is faster.
        return _with_names(len(X), list(X.columns), [column for _, column in X.items()])
    if hasattr(X, "column_names"):  # Arrow lets a name come twice, narwhals does not say where
        _check_unique(X.column_names)
    frame = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.Series):
        raise _one_dimensional_error(X)
    if isinstance(frame, nw.DataFrame):
        keys = list(frame.columns)
        # A column of Arrow or polars by its position looks at all the names, all of them together do so once.
        return _with_names(len(frame), keys, list(frame.iter_columns()))
    return _open_frame(arrow_table(X)) if has_arrow_interface(X) else None
