# SPDX-License-Identifier: BSD-3-Clause
"""A table as raw columns with names: read, but not yet encoded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fasttree.base.times import Times
from fasttree.tables.byte_codes import ByteCodedNumbers
from fasttree.tables.factors import Factor, without_unused


@dataclass(frozen=True, slots=True)
class Column:
    """Numeric: `values`, NaN where missing (with `time` they are times), or `byte_coded`. Categorical: `codes`, of
    which `categories` has the one with code 1 first.

    A code may be MISSING_CODE; and UNKNOWN_CODE, for a category that is not in `categories`, in what a
    fitted model reads. Without a value at fit there are no categories: the tuple is empty.
    """

    name: str
    values: np.ndarray | None = None
    codes: np.ndarray | None = None  # int32, or uint8 in a table that was read for encoding
    categories: tuple[Any, ...] | None = None
    declared: bool = False  # True: a category stays, even if no row has it
    ordered: bool = False  # categorical, and the order of the categories means something
    meant: bool = False  # the user has named the column as one of categories
    time: str | None = None  # the kind of time (base/times.py) of the values; None: plain numbers
    byte_coded: ByteCodedNumbers | None = None  # only in a table that was read for encoding

    def numbers(self) -> np.ndarray | Times:
        """The values as a column of a table that is read as this one was."""
        assert self.values is not None
        return self.values if self.time is None else Times(self.time, self.values)

    def take(self, rows: np.ndarray) -> Column:
        if self.byte_coded is not None:
            return replace(self, byte_coded=self.byte_coded.take(rows))
        if self.values is not None:
            return replace(self, values=self.values[rows])
        assert self.codes is not None
        assert self.categories is not None
        codes = self.codes[rows].astype(np.int32, copy=False)
        kept = without_unused(Factor(codes, self.categories, self.declared))
        return replace(self, codes=kept.codes, categories=tuple(kept.labels))


@dataclass(frozen=True, slots=True)
class Table:
    """Either `matrix`, an all-numeric array as the user passed it, or `columns`.

    Numbers may be NaN, which is a missing value. Nobody has looked for them yet.
    """

    n_rows: int
    names: tuple[str, ...]
    named: bool  # True if the user gave names
    matrix: np.ndarray | None = None
    columns: tuple[Column, ...] | None = None
    # [column, row]: the memory of its columns' codes that have a byte each
    byte_codes: np.ndarray | None = None

    def values(self) -> list[np.ndarray]:
        """What draws of rows go by: the numbers of each attribute, or the indices of its categories, -1 where
        missing."""
        if self.matrix is not None:
            return list(self.matrix.T)
        columns = [
            c.values if c.codes is None else c.codes.astype(np.int32) - 1
            for c in self.columns or ()
        ]
        return [values for values in columns if values is not None]

    def take(self, rows: np.ndarray) -> Table:
        """These rows, by number or by mask, as if the others had never been there."""
        matrix = None if self.matrix is None else self.matrix[rows]
        columns = None if self.columns is None else tuple(c.take(rows) for c in self.columns)
        n_rows = int(np.count_nonzero(rows)) if rows.dtype == bool else len(rows)
        return Table(n_rows, self.names, self.named, matrix, columns)
