# SPDX-License-Identifier: BSD-3-Clause
"""Tables and columns of which nothing is known but that they speak Arrow's PyCapsule protocol.

A library that the user has loaded reads them.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any


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
