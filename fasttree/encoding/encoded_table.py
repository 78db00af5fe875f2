# SPDX-License-Identifier: BSD-3-Clause
"""`EncodedTable`: what growth reads of a table, and the way back from codes to values.

An attribute with at most 255 values is *binned*: one byte a row, code 0 for missing. One with more is *presorted*: a
list of its rows sorted by value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fasttree import _core
from fasttree.base.values import column_label
from fasttree.tables.factors import rank_numbers
from fasttree.tables.schema import ClassPriors, Schema

# An entry of a sorted list is rank | class | row (24 + 8 + 32 bits) or, where that is too narrow, rank | row (32 + 32).
PACKED_SHIFT = 40
WIDE_SHIFT = 32
ROW_BITS = np.uint64(2**WIDE_SHIFT - 1)


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTable:
    """What growth reads: every attribute as codes or as a sorted list, and the way back to values."""

    schema: Schema
    tie_order: np.ndarray  # class numbers; the first wins a tie
    y: np.ndarray  # uint32 class number of each row; 0 if there are none
    list_row: np.ndarray  # int32 per attribute: its row of the sorted lists, -1: it is binned
    n_codes: np.ndarray  # int32 per attribute: 1 + largest code
    has_missing: np.ndarray  # uint8 per attribute: have some rows a missing value?
    sorted_entries: np.ndarray  # uint64 [attribute, row]: by rank, of presorted attributes
    codes: np.ndarray  # uint8 [attribute, row], of binned attributes
    rank_shift: int
    bin_min: np.ndarray  # float64 [attribute, code]: smallest value of a binned numeric code
    bin_max: np.ndarray  # ... and the largest: the same unless bins lost something
    # Values of numeric attributes by row: the table itself, or its columns; None for categories, and numbers that were
    # read as codes.
    raw_values: np.ndarray | list[np.ndarray | None]
    numbers: np.ndarray | None = None  # float64: the target of each row, if it is no class

    @property
    def n_rows(self) -> int:
        return self.codes.shape[1]

    @property
    def n_attributes(self) -> int:
        return len(self.list_row)

    @property
    def n_classes(self) -> int:
        return len(self.schema.classes)

    def with_priors(self, priors: ClassPriors) -> EncodedTable:
        """The same table for a fit in which classes count for something else."""
        return replace(self, schema=replace(self.schema, priors=priors))

    def release_sorted_entries(self) -> None:
        """Growth has used the sorted lists up, and needs their memory."""
        object.__setattr__(self, "sorted_entries", np.empty((0, 0), dtype=np.uint64))

    def first_missing(self, attribute: int) -> int:
        """The first row with a missing value of an attribute."""
        row = int(self.list_row[attribute])
        if row < 0:
            return int(np.argmin(self.codes[attribute]))
        return int(_rows(self.sorted_entries[row, 0]))  # the missing rows stand in front, in order

    def codes_of(self, attribute: int) -> np.ndarray:
        """The code of each row for a categorical attribute."""
        row = int(self.list_row[attribute])
        if row < 0:
            return self.codes[attribute]
        rows, sorted_codes = self.sorted_codes(attribute)
        codes = np.empty(self.n_rows, dtype=np.int64)
        codes[rows] = sorted_codes
        return codes

    def sorted_codes(self, attribute: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows in the order of their codes (ranks, of a presorted attribute), equal ones by row; and these
        codes."""
        row = int(self.list_row[attribute])
        if row < 0:
            codes = self.codes[attribute]
            rows = np.argsort(codes, kind="stable")
            return rows, codes[rows].astype(np.int64)
        entries = self.sorted_entries[row]
        return _rows(entries), (entries >> np.uint64(self.rank_shift)).astype(np.int64)

    def values_around_cut(
        self, attribute: np.ndarray, sides: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The values on both sides of a threshold of attribute[i]: `sides` has codes, or rows of a presorted
        attribute."""
        binned = self.list_row[attribute] < 0
        if binned.all():
            return self.bin_max[attribute, sides[:, 0]], self.bin_min[attribute, sides[:, 1]]
        below, above = np.empty((2, len(attribute)))
        below[binned] = self.bin_max[attribute[binned], sides[binned, 0]]
        above[binned] = self.bin_min[attribute[binned], sides[binned, 1]]
        presorted = np.flatnonzero(~binned)
        if isinstance(self.raw_values, np.ndarray):
            below[presorted] = self.raw_values[sides[presorted, 0], attribute[presorted]]
            above[presorted] = self.raw_values[sides[presorted, 1], attribute[presorted]]
            return self._in_order(attribute, sides, below, above)
        for a in set(attribute[presorted].tolist()):
            column = self.raw_values[a]
            assert column is not None
            at = presorted[attribute[presorted] == a]
            below[at] = column[sides[at, 0]]
            above[at] = column[sides[at, 1]]
        return self._in_order(attribute, sides, below, above)

    def _in_order(
        self, attribute: np.ndarray, sides: np.ndarray, below: np.ndarray, above: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Both, after a look at whether the user's table still has the values that its rows were sorted by."""
        in_order = below < above
        if in_order.all():
            return below, above
        out_of_order = ~in_order & (sides >= 0).all(axis=1)
        if out_of_order.any():
            raise changed_error(self.schema.names[attribute[np.argmax(out_of_order)]])
        return below, above

    def distinct(self, attribute: int, present: np.ndarray | None = None) -> np.ndarray:
        """The values of a numeric attribute, ascending; of bins the ends. `present`: a mask of the rows that count."""
        row = int(self.list_row[attribute])
        if row < 0:
            used: slice | np.ndarray = slice(1, self.n_codes[attribute])
            if present is not None:
                codes = np.unique(self.codes[attribute][present])
                used = codes[codes > 0]
            return np.unique([self.bin_min[attribute, used], self.bin_max[attribute, used]])
        values = self.values_of(attribute)[slice(None) if present is None else present]
        values = values.astype(np.float64)
        return values[rank_numbers(values)[1]]

    def values_of(self, attribute: int) -> np.ndarray:
        """The value of each row for a numeric attribute."""
        if isinstance(self.raw_values, np.ndarray):
            return self.raw_values[:, attribute]
        column = self.raw_values[attribute]
        if column is None:  # read as codes
            return np.append(np.nan, self.first_values(attribute))[self.codes_of(attribute)]
        return column

    def first_values(self, attribute: int) -> np.ndarray:
        """The value of each code of a numeric attribute from 1 on; of bins the smallest."""
        if self.list_row[attribute] < 0:
            return self.bin_min[attribute, 1 : self.n_codes[attribute]]
        values = self.distinct(attribute)
        if len(values) != self.n_codes[attribute] - 1:
            raise changed_error(self.schema.names[attribute])
        return values


def changed_error(name: str) -> RuntimeError:
    """A table is read where it lies, and rows were sorted by values that are not there any more."""
    return RuntimeError(
        f"{column_label(name)} of X was modified while the model was being fitted: modify X only after fit has "
        "returned, or pass a copy of X."
    )


def _rows(entries: np.ndarray) -> np.ndarray:
    """The rows that entries of a sorted list stand for."""
    return np.asarray((entries & ROW_BITS).astype(np.int64))


def midpoint(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Between two values, never equal to the upper one."""
    middle = np.empty(len(below))
    _core.midpoints(below, above, middle)
    return middle
