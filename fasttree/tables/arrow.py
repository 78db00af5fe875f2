# SPDX-License-Identifier: BSD-3-Clause
"""Arrow without pyarrow as a dependency.

Tables and columns of which nothing is known but that they speak Arrow's PyCapsule protocol are read by a library that
the user has loaded. Columns of pyarrow become numpy's arrays where they lie: pyarrow's own way to numpy imports pandas
wherever that is installed, which takes longer than most fits.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

# How values lie in memory, by the name of their type without its unit; a bool is a bit.
_LAYOUTS = {
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "halffloat": "float16",
    "float": "float32",
    "double": "float64",
    "bool": "bool",
    "timestamp": "datetime64",
    "date64": "datetime64",
    "duration": "timedelta64",
}
_HOLES: dict[str, Any] = {"f": np.nan, "M": np.datetime64("NaT"), "m": np.timedelta64("NaT")}


# -- what only speaks the protocol -----------------------------------------------------------------


def has_arrow_interface(holder: Any) -> bool:
    return hasattr(holder, "__arrow_c_stream__") or hasattr(holder, "__arrow_c_array__")


def arrow_table(X: Any) -> Any:
    """A table of pyarrow or polars."""
    library = _reader("X", X)
    try:
        if library.__name__ == "polars":
            return library.DataFrame(X)
        # pyarrow.table would do as well, but imports pandas
        if hasattr(X, "__arrow_c_stream__"):
            return library.RecordBatchReader.from_stream(X).read_all()
        return library.Table.from_batches([library.record_batch(X)])
    except Exception as error:  # each library has its own
        raise ValueError(
            f"X is a {type(X).__name__} with the Arrow interface, but {library.__name__} cannot read it as a table "
            f"({error}). If it is a column (expected 2D array, got 1D array instead), put it into a dict."
        ) from error


def arrow_column(where: str, column: Any) -> Any:
    """A column of pyarrow or polars."""
    library = _reader(where, column)
    try:
        if library.__name__ == "polars":
            return library.Series(column)
        if hasattr(column, "__arrow_c_stream__"):
            return library.chunked_array(column)
        return library.chunked_array([library.array(column)])
    except Exception as error:
        raise TypeError(
            f"{where} is a {type(column).__name__} with the Arrow interface, but {library.__name__} cannot read it "
            f"as a column ({error}): pass a list, an array or a series."
        ) from error


def _reader(where: str, holder: Any) -> Any:
    for library in ("pyarrow", "polars"):
        if sys.modules.get(library):  # None: somebody forbade to import it
            return sys.modules[library]
    if sys.modules.get("pandas"):  # it would read Arrow with pyarrow, if that is there
        try:
            return importlib.import_module("pyarrow")
        except ImportError:
            pass
    raise TypeError(
        f"{where} is a {type(holder).__name__} with the Arrow interface, but no library that reads Arrow is imported: "
        "import pyarrow or polars first (pip install pyarrow)."
    )


# -- pyarrow's columns as arrays -------------------------------------------------------------------


def to_numpy(series: nw.Series[Any]) -> np.ndarray:
    """A column of any library: NaN or NaT where a float or a time is missing. Others are to have no holes."""
    values = as_array(series.to_native())
    return np.asarray(series.to_numpy()) if values is None else values


def filled(series: nw.Series[Any], hole: int) -> np.ndarray:
    """A column of whole numbers of any library: `hole` where one is missing."""
    values = as_array(series.to_native(), hole)
    return np.asarray(series.fill_null(hole).to_numpy()) if values is None else values


def as_array(column: Any, hole: int | None = None) -> np.ndarray | None:
    """A plain or chunked array of pyarrow; `hole` stands for missing whole numbers. None: it is something else, numpy
    has no such type, or nothing to stand for a hole."""
    library = sys.modules.get("pyarrow")
    if library is None or not isinstance(column, (library.Array, library.ChunkedArray)):
        return None
    if str(column.type) == "date32[day]":
        column = column.cast("date64")  # numpy's have as many bytes
    name, _, unit = str(column.type).rstrip("]").partition("[")
    if name not in _LAYOUTS:
        return None
    dtype = np.dtype(_LAYOUTS[name] + (f"[{unit.split(',')[0]}]" if unit else ""))
    chunks = [chunk for chunk in getattr(column, "chunks", [column]) if len(chunk)]
    parts = [_values(chunk, dtype) for chunk in chunks]
    if column.null_count:
        filler: Any = hole if dtype.kind in "iu" else _HOLES.get(dtype.kind)
        if filler is None:
            return None
        parts = [
            np.where(_known(chunk), values, filler)
            for chunk, values in zip(chunks, parts, strict=True)
        ]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype), *parts])


def _values(chunk: Any, dtype: np.dtype) -> np.ndarray:
    data = chunk.buffers()[1]
    if dtype.kind == "b":
        return _bits(data, chunk.offset, len(chunk))
    return np.frombuffer(data, dtype, len(chunk), chunk.offset * dtype.itemsize)


def _known(chunk: Any) -> np.ndarray:
    known = chunk.buffers()[0]
    return (
        np.ones(len(chunk), dtype=bool) if known is None else _bits(known, chunk.offset, len(chunk))
    )


def _bits(buffer: Any, start: int, n: int) -> np.ndarray:
    whole = np.frombuffer(buffer, np.uint8, (start % 8 + n + 7) // 8, start // 8)
    return np.unpackbits(whole, bitorder="little")[start % 8 : start % 8 + n].astype(bool)
