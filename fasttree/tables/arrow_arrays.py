# SPDX-License-Identifier: BSD-3-Clause
"""Columns of pyarrow as numpy's arrays, read where they lie.

pyarrow's own way to numpy imports pandas wherever that is installed, which takes longer than most fits.
"""

from __future__ import annotations

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
        stand_in: Any = hole if dtype.kind in "iu" else _HOLES.get(dtype.kind)
        if stand_in is None:
            return None
        parts = [
            np.where(_known(chunk), values, stand_in)
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
