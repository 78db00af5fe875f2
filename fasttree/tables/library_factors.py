# SPDX-License-Identifier: BSD-3-Clause
"""Text, categories and dictionaries of data-frame libraries as factors.

Dictionary columns go by their codes, and text is read where it lies, through Arrow's C interface.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fasttree import _core
from fasttree.base.values import short_repr, to_python
from fasttree.tables.arrow import as_array, filled
from fasttree.tables.factors import (
    MISSING_CODE,
    Factor,
    codes_of_indices,
    kind_remedy,
    without_missing,
)

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


def text_factor(
    where: str,
    series: nw.Series[Any],
    read: Callable[[Any, np.ndarray], list[str] | None] = _core.text_codes,
) -> Factor | None:
    """Text by the core's own hash table, if it lies in memory as Arrow's."""
    codes = np.empty(len(series), dtype=np.int32)
    labels = read_arrow(where, series, read, codes)
    return None if labels is None else Factor(codes, labels)


def library_factor(where: str, series: nw.Series[Any]) -> Factor | None:
    """Categories and dictionaries; None for a library whose encoding is not known here."""
    import narwhals.stable.v2 as nw

    native, library = series.to_native(), series.implementation
    if library.is_pandas_like() and hasattr(native, "cat"):
        codes = codes_of_indices(np.asarray(native.cat.codes))
        labels = list(map(to_python, native.cat.categories.tolist()))
        if bytes in set(map(type, labels)):
            raise type_error(where, "bytes")
        return Factor(codes, labels, declared=True, ordered=bool(native.cat.ordered))
    if library.is_polars():
        is_enum = isinstance(series.dtype, nw.Enum)
        return _enum_factor(native) if is_enum else _pool_factor(where, series)
    if library.is_pyarrow() or library.is_pandas_like():
        found = text_factor(where, series, _core.dictionary_codes)
        if found is None:
            return _dictionary_factor(where, native if library.is_pyarrow() else series.to_arrow())
        kind = native.type if library.is_pyarrow() else native.dtype.pyarrow_dtype
        return replace(found, declared=True, ordered=bool(kind.ordered))
    return None


def _enum_factor(native: Any) -> Factor:
    """A polars Enum by its numbers. As a dictionary it comes through Arrow's interface in the newest polars only."""
    import narwhals.stable.v2 as nw

    physical = nw.from_native(native.to_physical(), series_only=True)
    codes = codes_of_indices(filled(physical.cast(nw.Int32()), -1))
    return Factor(codes, native.dtype.categories.to_list(), declared=True)


def _pool_factor(where: str, series: nw.Series[Any]) -> Factor | None:
    """The codes of a polars Categorical come from a pool that it shares with other columns: the order there is an
    accident, and which labels it has is read from rows that have them."""
    import narwhals.stable.v2 as nw

    native, codes = series.to_native(), np.empty(len(series), dtype=np.int32)
    physical = native.to_physical()
    if hasattr(physical, "__arrow_c_stream__"):
        rows = _core.pool_codes(physical.__arrow_c_stream__(), codes, 2 * len(series) + 65_536)
        if rows is not None:
            return Factor(codes, native[rows].to_list())
    return text_factor(where, series.cast(nw.String()))  # see `_enum_factor`


def _dictionary_factor(where: str, encoded: Any) -> Factor:
    """Dictionaries of other labels than text. Each chunk has its own, which may hold a null, and a label twice."""
    code_of: dict[Any, int] = {}
    parts = []
    for chunk in getattr(encoded, "chunks", [encoded]):
        labels = list(map(to_python, chunk.dictionary.to_pylist()))
        if bytes in set(map(type, labels)):
            raise type_error(where, encoded.type)
        try:
            new_codes = [
                MISSING_CODE if label is None else code_of.setdefault(label, len(code_of) + 1)
                for label in labels
            ]
        except TypeError:  # lists and structs have no hash
            raise type_error(where, encoded.type) from None
        indices, n = chunk.indices.cast("int64"), len(labels)
        rows = as_array(indices, n)  # a hole is the index after the last
        assert rows is not None
        if np.count_nonzero((rows >= 0) & (rows < n)) != len(rows) - indices.null_count:
            raise ValueError(
                f"{where} is damaged: a row has an index that is out of range for its dictionary."
            )
        parts.append(np.array([*new_codes, MISSING_CODE], dtype=np.int32)[rows])
    ordered = bool(encoded.type.ordered)
    codes = np.concatenate([np.empty(0, dtype=np.int32), *parts])
    return without_missing(Factor(codes, list(code_of), declared=True, ordered=ordered))


def read_arrow(
    where: str, series: nw.Series[Any], read: Callable[[Any, np.ndarray], Any], out: np.ndarray
) -> Any:
    """What `read` of the core says of a column; None if the column does not come through Arrow's C interface."""
    native = series.to_native()
    if not hasattr(native, "__arrow_c_stream__"):
        return None
    try:
        return read(native.__arrow_c_stream__(), out)
    except ImportError:  # pandas without pyarrow
        return None
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{where} contains text that is not UTF-8, {short_repr(error.object)}: decode it first."
        ) from None
    except ValueError as error:  # whoever made the column made a mistake
        raise ValueError(f"{where} is damaged: {error}.") from None


def type_error(where: str, dtype: Any) -> TypeError:
    return TypeError(
        f"{where} has the type {dtype}, but every argument must be a string, a bool, a date "
        f"or a number: {kind_remedy(str(dtype))}."
    )
