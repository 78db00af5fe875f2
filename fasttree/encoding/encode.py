# SPDX-License-Identifier: BSD-3-Clause
"""Raw columns -> codes and codebooks.

An attribute with at most 255 values is *counted*: one byte a row, code 0 for missing. One with more is *presorted*: a
list of its rows sorted by value. Exact or binned is a matter of encoding alone: with `max_bins` every numeric attribute
is counted, and one with no more values than bins has lost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fasttree import _core
from fasttree.base.checks import MAX_BINS
from fasttree.base.threads import ThreadTeam
from fasttree.base.values import column_label
from fasttree.encoding.weights import IntegerWeights
from fasttree.tables.byte_codes import ByteCodedNumbers
from fasttree.tables.schema import AttributeSchema, Schema
from fasttree.tables.training import Column, Table, Target

# An entry of a sorted list is rank | class | row (24 + 8 + 32 bits) or, where that is too narrow, rank | row (32 + 32).
PACKED_SHIFT = 40
WIDE_SHIFT = 32
ROW_BITS = np.uint64(2**WIDE_SHIFT - 1)
PACKED_RANKS = 2**24
PACKED_CLASSES = 2**8
MOST_ROWS = 2**32 - 1
MOST_CODES = 2**31 - 1
THREADED_CELLS = 200_000  # below, starting threads costs more than they bring
CELLS_OF_THREAD, ROWS_OF_THREAD = 25_000, 32_768  # with less, one more thread brings nothing
# Of the keys of some columns, made together so that a row-major table is read by cache lines.
BLOCK_BYTES = 2**24


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTable:
    """What growth reads: every attribute as codes or as a sorted list, and the way back to values."""

    schema: Schema
    tie_order: np.ndarray  # class numbers; the first wins a tie
    y: np.ndarray  # uint32 class number of each row
    list_row: np.ndarray  # int32 per attribute: its row of the sorted lists, -1: it is binned
    n_codes: np.ndarray  # int32 per attribute: 1 + largest code
    has_missing: np.ndarray  # uint8 per attribute: have some rows a missing value?
    sorted_entries: (
        np.ndarray
    )  # uint64 [attribute, row]: entries sorted by rank, of presorted attributes
    codes: np.ndarray  # uint8 [attribute, row], of binned attributes
    rank_shift: int
    bin_min: np.ndarray  # float64 [attribute, code]: smallest value of a binned numeric code
    bin_max: np.ndarray  # ... and the largest: the same unless bins lost something
    # Values of numeric attributes by row: the table itself, or its columns; None for categories, and numbers that were
    # read as codes.
    raw_values: np.ndarray | list[np.ndarray | None]

    @property
    def n_rows(self) -> int:
        return self.codes.shape[1]

    @property
    def n_attributes(self) -> int:
        return len(self.list_row)

    @property
    def n_classes(self) -> int:
        return len(self.schema.classes)

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
        for one in set(attribute[presorted].tolist()):
            column = self.raw_values[one]
            assert column is not None
            here = presorted[attribute[presorted] == one]
            below[here] = column[sides[here, 0]]
            above[here] = column[sides[here, 1]]
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
        values = self.values_of(attribute)
        values = np.sort(values[slice(None) if present is None else present].astype(np.float64))
        values = values[: np.searchsorted(values, np.nan)]  # missing values stand at the end
        return values[np.append(True, values[1:] != values[:-1])]

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


def encode(
    table: Table,
    target: Target,
    team: ThreadTeam,
    max_bins: int | None = None,
    weights: IntegerWeights | None = None,
) -> EncodedTable:
    """Encode a table. The result refers to the table's values: they must not change as long as it is used.

    `weights` place the quantiles of the bins.
    """
    n_rows, n_attributes = table.n_rows, len(table.names)
    if n_rows > MOST_ROWS:
        raise ValueError(
            f"X has {n_rows} rows, but at most {MOST_ROWS} are supported: train on a sample of them"
        )
    work = _Encoding(table, target, max_bins, weights)
    threaded = is_worth_threads(n_rows, n_attributes)
    if table.matrix is not None:
        width = int(np.clip(BLOCK_BYTES // (8 * n_rows), 1, _core.KEY_COLUMNS))
        blocks = [range(a, min(a + width, n_attributes)) for a in range(0, n_attributes, width)]
        work.keys = [np.empty((width, n_rows), dtype=np.uint64) for _ in range(team.size)]
        team.run(lambda worker, i: work.encode_block(worker, blocks[i]), len(blocks), threaded)
    else:
        # What may have to be sorted takes longest, and a thread that began it last would be waited for.
        columns = table.columns or ()
        order = sorted(range(n_attributes), key=lambda place: columns[place].values is None)
        team.run(lambda _, i: work.encode_column(order[i]), n_attributes, threaded)
    return work.finish()


class _Encoding:
    """The arrays of an `EncodedTable` while they are being filled, attribute by attribute."""

    def __init__(
        self,
        table: Table,
        target: Target,
        max_bins: int | None,
        weights: IntegerWeights | None,
    ) -> None:
        n, d = table.n_rows, len(table.names)
        self.table = table
        self.target = target
        self.max_bins = max_bins
        self.most = max_bins or MAX_BINS  # so many values get a code each
        self.steps = None if weights is None else weights.quantised
        self.total = n if weights is None else int(weights.quantised.sum())
        self.y = target.codes.view(np.uint32)
        packed = len(target.classes) <= PACKED_CLASSES and n < PACKED_RANKS
        self.shift = PACKED_SHIFT if packed else WIDE_SHIFT
        self.list_row = np.empty(d, dtype=np.int32)
        self.n_codes = np.zeros(d, dtype=np.int32)
        # Not touched, not paid for: an attribute uses a row of one of the two.
        has_lists = table.columns is not None or max_bins is None
        self.sorted_entries = np.empty((d if has_lists else 0, n), dtype=np.uint64)
        self.free = list(range(d))[::-1]  # rows of `sorted_entries`
        codes = table.byte_codes
        self.codes = np.empty((d, n), dtype=np.uint8) if codes is None else codes
        self.bin_min = np.zeros((d, MAX_BINS + 1))
        self.bin_max = np.zeros((d, MAX_BINS + 1))
        self.ranges = np.full((d, 2), np.nan)
        self.counted = [(0, 0)] * d
        self.raw_values: list[np.ndarray | None] = [None] * d
        self.keys: list[np.ndarray] = []  # of the columns of a matrix that a worker has in hand

    # -- numeric ---------------------------------------------------------------------------------------------------

    def encode_block(self, worker: int, attributes: range) -> None:
        """Some adjacent columns of a table in one piece."""
        assert self.table.matrix is not None
        values = self.table.matrix[:, attributes.start : attributes.stop]
        self.encode_numbers(attributes, values, self.keys[worker][: len(attributes)], attributes)

    def encode_column(self, attribute: int) -> None:
        assert self.table.columns is not None
        column = self.table.columns[attribute]
        if column.categories is not None:
            self.encode_categories(attribute, column, len(column.categories))
            return
        values = column.values
        if column.byte_coded is not None:
            if len(column.byte_coded.distinct) <= self.most:
                self.encode_byte_coded(attribute, column.byte_coded)
                return
            values = column.byte_coded.values()
        assert values is not None
        row = self.free.pop()  # the keys stand where the list will
        here = range(attribute, attribute + 1)
        self.raw_values[attribute] = self.encode_numbers(
            here, values[:, np.newaxis], self.sorted_entries[row : row + 1], range(row, row + 1)
        )[:, 0]
        if self.list_row[attribute] < 0:
            self.free.append(row)

    def encode_byte_coded(self, attribute: int, numbers: ByteCodedNumbers) -> None:
        """A column whose numbers were coded when it was read."""
        codes, bin_min = self.codes[attribute], self.bin_min[attribute]
        _core.sorted_codes(numbers.distinct, numbers.codes, codes, bin_min)
        self.note_codes(attribute, len(numbers.distinct), bin_min)

    def encode_numbers(
        self, attributes: range, values: np.ndarray, keys: np.ndarray, rows: range
    ) -> np.ndarray:
        """`values` holds a column for each of the attributes, `keys` has room for the keys; lists go to `rows`. Returns
        the values, as the lists refer to them."""
        if values.dtype == bool:
            values = values.view(np.uint8)
        here = slice(attributes.start, attributes.stop)
        n_values = np.empty(len(attributes), dtype=np.int64)
        _core.count_values(values, self.most, self.codes[here], self.bin_min[here], n_values)
        for attribute, n in zip(attributes, n_values.tolist(), strict=True):
            if n >= 0:
                self.note_codes(attribute, n, self.bin_min[attribute])
        if (n_values < 0).any():
            values = self.floats(values)
            self.sort_numbers(attributes, values, keys, rows, n_values < 0)
        return values

    def floats(self, values: np.ndarray) -> np.ndarray:
        if values.dtype in (np.float32, np.float64):
            return values
        return values.astype(np.float64, order="C")

    def note_codes(
        self, attribute: int, largest: int, bin_max: np.ndarray, n_values: int | None = None
    ) -> None:
        """The attribute has its codes, and the smallest value of each: what follows from them. `n_values`: if there
        are more values than codes."""
        self.list_row[attribute] = -1
        self.n_codes[attribute] = largest + 1
        self.bin_max[attribute] = bin_max
        self.note_counts(attribute, largest if n_values is None else n_values)
        if largest:
            self.ranges[attribute] = self.bin_min[attribute, 1], bin_max[largest]

    def note_counts(self, attribute: int, n_values: int, n_missing: int | None = None) -> None:
        """How many values there are, and rows without one; None: the codes tell."""
        if n_missing is None:
            codes = self.codes[attribute]
            n_missing = 0 if codes.min() else len(codes) - int(np.count_nonzero(codes))
        self.counted[attribute] = n_values, n_missing

    def sort_numbers(
        self,
        attributes: range,
        values: np.ndarray,
        keys: np.ndarray,
        rows: range,
        wanted: np.ndarray,
    ) -> None:
        """Columns of more values than fit codes: sorted lists, or quantile bins."""
        row_bits = max(1, (len(values) - 1).bit_length())
        whole = np.empty(len(attributes), dtype=np.uint8)
        n_missing = np.empty(len(attributes), dtype=np.int64)
        _core.keys_of(values, row_bits, keys, whole, n_missing)
        for j in np.flatnonzero(wanted):
            attribute, row, column = attributes[j], rows[j], values[:, j]
            keys[j].sort()
            ranked = _core.SortedColumn(keys[j], row_bits, whole[j], n_missing[j])
            n_values = ranked.resolve_collisions(column)
            if self.max_bins is not None:
                bin_max = np.zeros(MAX_BINS + 1)
                bin_min = self.bin_min[attribute]
                largest = ranked.codes(
                    column,
                    self.steps,
                    self.total,
                    self.max_bins,
                    self.codes[attribute],
                    bin_min,
                    bin_max,
                )
                ends = np.column_stack([bin_min, bin_max])[1 : largest + 1].reshape(-1)
                if not (ends[:-1] <= ends[1:]).all() or not (ends[1:-1:2] < ends[2::2]).all():
                    raise changed_error(self.table.names[attribute])
                self.note_codes(attribute, largest, bin_max, n_values)
                continue
            entries = self.sorted_entries[row]
            n_ranks, low, high = ranked.entries(column, self.shift, self.y, entries)
            if n_ranks != n_values or not low <= high:
                raise changed_error(self.table.names[attribute])
            self.ranges[attribute] = low, high
            self.list_row[attribute] = row
            self.n_codes[attribute] = min(n_values, MOST_CODES - 1) + 1
            self.note_counts(attribute, n_values, int(n_missing[j]))

    # -- categories ------------------------------------------------------------------------------------------------

    def encode_categories(self, attribute: int, column: Column, n_categories: int) -> None:
        byte_codes, codes = self.codes[attribute], column.codes
        self.n_codes[attribute] = n_categories + 1
        if n_categories > MAX_BINS:
            assert codes is not None
            row = self.free.pop()
            codes = np.ascontiguousarray(codes, dtype=np.int32)
            _core.category_entries(
                codes, n_categories, self.shift, self.y, self.sorted_entries[row]
            )
            self.list_row[attribute] = row
            n_missing = int(np.count_nonzero(codes < 0)) if codes.min() < 0 else 0
            self.note_counts(attribute, _n_present(column, codes, -1), n_missing)
            return
        if codes is not None:  # else they stand there since they were read
            np.add(codes, 1, out=byte_codes, casting="unsafe")
        self.list_row[attribute] = -1
        self.note_counts(attribute, _n_present(column, byte_codes, 0))

    def finish(self) -> EncodedTable:
        table, target = self.table, self.target
        if table.columns is not None:
            for row in self.free:
                _core.release_pages(self.sorted_entries[row])
        target.classes.flags.writeable = False  # estimators and trees share them
        self.ranges.flags.writeable = False
        counted = np.array(self.counted, dtype=np.int64).reshape(-1, 2)
        counted.flags.writeable = False
        if table.columns is None:
            attributes: Sequence[AttributeSchema] = [AttributeSchema(name) for name in table.names]
        else:
            attributes = [
                AttributeSchema(c.name, c.categories, c.ordered, c.time) for c in table.columns
            ]
        return EncodedTable(
            schema=Schema(
                tuple(attributes),
                target.classes,
                table.named,
                tuple(target.tie_order.tolist()),
                ranges=self.ranges,
                counted=counted,
            ),
            tie_order=target.tie_order,
            y=self.y,
            list_row=self.list_row,
            n_codes=self.n_codes,
            has_missing=(counted[:, 1] > 0).view(np.uint8),
            sorted_entries=self.sorted_entries,
            codes=self.codes,
            rank_shift=self.shift,
            bin_min=self.bin_min,
            bin_max=self.bin_max,
            raw_values=self.raw_values if table.matrix is None else table.matrix,
        )


def changed_error(name: str) -> RuntimeError:
    """A table is read where it lies, and rows were sorted by values that are not there any more."""
    return RuntimeError(
        f"{column_label(name)} of X was modified while the model was being fitted: modify X only after fit has "
        "returned, or pass a copy of X."
    )


def _n_present(column: Column, codes: np.ndarray, missing: int) -> int:
    """The levels that rows have: all, unless they were declared. `missing`: the code of rows without one."""
    if not column.declared:
        return len(column.categories or ())
    present = np.zeros(len(column.categories or ()) + 1, dtype=bool)  # the first: missing
    present[codes - missing if missing else codes] = True
    return int(np.count_nonzero(present[1:]))


def _rows(entries: np.ndarray) -> np.ndarray:
    """The rows that entries of a sorted list stand for."""
    return np.asarray((entries & ROW_BITS).astype(np.int64))


def midpoint(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Between two values, never equal to the upper one."""
    middle = np.empty(len(below))
    _core.midpoints(below, above, middle)
    return middle


def is_worth_threads(n_rows: int, n_attributes: int) -> bool:
    """Is there enough to do to start threads at all?"""
    return n_rows * n_attributes > THREADED_CELLS


def most_threads(n_rows: int, n_attributes: int) -> int:
    """For how many threads there is work in a fit: threads take attributes, and nodes when rows are partitioned. Each
    has memory of its own, and one that is never needed would have it too."""
    if not is_worth_threads(n_rows, n_attributes):
        return 1
    return min(
        max(n_attributes, n_rows // ROWS_OF_THREAD), n_rows * n_attributes // CELLS_OF_THREAD
    )
