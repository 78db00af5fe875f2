# SPDX-License-Identifier: BSD-3-Clause
"""Raw columns -> codes and codebooks.

Exact or binned is a matter of encoding alone: with `max_bins` every numeric attribute is binned, and one with no more
values than bins has lost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fasttree import _core
from fasttree.base.checks import MAX_BINS
from fasttree.base.threads import ThreadTeam
from fasttree.encoding.encoded_table import PACKED_SHIFT, WIDE_SHIFT, EncodedTable
from fasttree.encoding.weights import IntegerWeights
from fasttree.tables.byte_codes import ByteCodedNumbers
from fasttree.tables.factors import MISSING_CODE
from fasttree.tables.schema import AttributeSchema, ClassPriors, Schema
from fasttree.tables.training import Column, NumberTarget, Table, Target

PACKED_RANKS = 2**24
PACKED_CLASSES = 2**8
MOST_ROWS = 2**32 - 1
MOST_CODES = 2**31 - 1
THREADED_CELLS = 200_000  # below, starting threads costs more than they bring
CELLS_OF_THREAD, ROWS_OF_THREAD = 25_000, 32_768  # with less, one more thread brings nothing
# Of the keys of several columns, made together so that a row-major table is read by cache lines.
BLOCK_BYTES = 2**24


def encode(
    table: Table,
    target: Target | NumberTarget,
    team: ThreadTeam,
    max_bins: int | None = None,
    weights: IntegerWeights | None = None,
    priors: ClassPriors | None = None,
) -> EncodedTable:
    """Encode a table. The result refers to the table's values: they must not change as long as it is used.

    `weights` place the quantiles of the bins; `priors` go into the schema.
    """
    n_rows, n_attributes = table.n_rows, len(table.names)
    if n_rows > MOST_ROWS:
        raise ValueError(
            f"X has {n_rows} rows, but at most {MOST_ROWS} are supported: train on a sample of them"
        )
    work = _Encoding(table, target, max_bins, weights)
    threaded = is_worth_threads(n_rows, n_attributes)
    if table.matrix is not None:
        most = -(-n_attributes // team.size) if threaded else n_attributes
        width = int(np.clip(BLOCK_BYTES // (8 * n_rows), 1, min(_core.KEY_COLUMNS, most)))
        blocks = [range(a, min(a + width, n_attributes)) for a in range(0, n_attributes, width)]
        work.open(team, width)
        team.run(lambda worker, i: work.encode_block(worker, blocks[i]), len(blocks), threaded)
    else:
        # What may have to be sorted takes longest, and a thread that began it last would be waited for.
        columns = table.columns or ()
        order = sorted(range(n_attributes), key=lambda j: columns[j].values is None)
        work.open(team, 1)
        team.run(lambda worker, i: work.encode_column(worker, order[i]), n_attributes, threaded)
    return work.finish(priors or ClassPriors())


class _SortBuffers:
    """What a thread needs to sort columns; memory that is not touched is not taken."""

    def __init__(self, n_columns: int, n_rows: int) -> None:
        self.keys = np.empty((n_columns, n_rows), dtype=np.uint64)
        self.items = np.empty((2, n_rows), dtype=np.uint64)
        self.cells = np.empty(n_rows, dtype=np.uint16)


class _Encoding:
    """The arrays of an `EncodedTable` while they are being filled, attribute by attribute."""

    def __init__(
        self,
        table: Table,
        target: Target | NumberTarget,
        max_bins: int | None,
        weights: IntegerWeights | None,
    ) -> None:
        n, d = table.n_rows, len(table.names)
        self.table = table
        self.target = target
        self.max_bins = max_bins
        self.most = max_bins or MAX_BINS  # so many values get a code each
        self.steps = None if weights is None else weights.quantised
        self.y = target.codes.view(np.uint32)
        packed = len(target.classes) <= PACKED_CLASSES and n < PACKED_RANKS
        self.shift = PACKED_SHIFT if packed else WIDE_SHIFT
        self.list_row = np.empty(d, dtype=np.int32)
        self.n_codes = np.zeros(d, dtype=np.int32)
        # Memory that is not touched is not taken: an attribute uses a row of one of the two.
        has_lists = table.columns is not None or max_bins is None
        self.sorted_entries = np.empty((d if has_lists else 0, n), dtype=np.uint64)
        codes = table.byte_codes
        self.codes = np.empty((d, n), dtype=np.uint8) if codes is None else codes
        self.bin_min = np.zeros((d, MAX_BINS + 1))
        self.bin_max = np.zeros((d, MAX_BINS + 1))
        self.ranges = np.full((d, 2), np.nan)
        self.counted = [(0, 0)] * d
        self.raw_values: list[np.ndarray | None] = [None] * d
        self.buffers: list[_SortBuffers | None] = []  # by worker
        self.width = 1

    def open(self, team: ThreadTeam, width: int) -> None:
        """Each worker is about to encode `width` numeric columns at a time, or some categories."""
        self.buffers, self.width = [None] * team.size, width

    def buffers_of(self, worker: int) -> _SortBuffers:
        found = self.buffers[worker]
        if found is None:
            found = self.buffers[worker] = _SortBuffers(self.width, self.table.n_rows)
        return found

    # -- numeric ---------------------------------------------------------------------------------------------------

    def encode_block(self, worker: int, attributes: range) -> None:
        """Adjacent columns of a table in one piece."""
        assert self.table.matrix is not None
        values = self.table.matrix[:, attributes.start : attributes.stop]
        self.encode_numbers(worker, attributes, values)

    def encode_column(self, worker: int, attribute: int) -> None:
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
        attributes = range(attribute, attribute + 1)
        self.raw_values[attribute] = self.encode_numbers(worker, attributes, values[:, np.newaxis])[
            :, 0
        ]

    def encode_byte_coded(self, attribute: int, numbers: ByteCodedNumbers) -> None:
        """A column whose numbers were coded when it was read."""
        codes, bin_min = self.codes[attribute], self.bin_min[attribute]
        _core.sorted_codes(numbers.distinct, numbers.codes, codes, bin_min)
        self.note_codes(attribute, len(numbers.distinct), bin_min)

    def encode_numbers(self, worker: int, attributes: range, values: np.ndarray) -> np.ndarray:
        """`values` holds a column for each of the attributes. Returns the values, as the lists refer to them."""
        if values.dtype == bool:
            values = values.view(np.uint8)
        block = slice(attributes.start, attributes.stop)
        n_values = np.empty(len(attributes), dtype=np.int64)
        _core.count_values(values, self.most, self.codes[block], self.bin_min[block], n_values)
        for attribute, n in zip(attributes, n_values.tolist(), strict=True):
            if n >= 0:
                self.note_codes(attribute, n, self.bin_min[attribute])
        if (n_values < 0).any():
            values = self.floats(values)
            self.sort_numbers(self.buffers_of(worker), attributes, values, n_values < 0)
        return values

    def floats(self, values: np.ndarray) -> np.ndarray:
        if values.dtype in (np.float32, np.float64):
            return values
        return values.astype(np.float64, order="C")

    def note_codes(
        self, attribute: int, largest: int, bin_max: np.ndarray, n_values: int | None = None
    ) -> None:
        """The attribute has its codes, and the largest value of each: what follows from them. `n_values`: if they are
        not as many as the codes; -n: more than n."""
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
        self, buffers: _SortBuffers, attributes: range, values: np.ndarray, wanted: np.ndarray
    ) -> None:
        """Columns of more values than fit codes: sorted lists, or quantile bins."""
        keys, (first, second) = buffers.keys[: len(attributes)], buffers.items
        _core.keys_of(values, keys)
        for j in np.flatnonzero(wanted).tolist():
            attribute = attributes[j]
            if self.max_bins is not None:
                bin_max = np.zeros(MAX_BINS + 1)
                largest = _core.quantile_codes(
                    keys[j], buffers.cells, first, second, self.steps, self.max_bins,
                    self.codes[attribute], self.bin_min[attribute], bin_max,
                )  # fmt: skip
                self.note_codes(attribute, largest, bin_max, -self.max_bins)
                continue
            n_values, missing, low, high = _core.sorted_entries(
                keys[j], first, self.shift, self.y, self.sorted_entries[attribute]
            )
            self.ranges[attribute] = low, high
            self.list_row[attribute] = attribute
            self.n_codes[attribute] = min(n_values, MOST_CODES - 1) + 1
            self.note_counts(attribute, n_values, missing)

    # -- categories ------------------------------------------------------------------------------------------------

    def encode_categories(self, attribute: int, column: Column, n_categories: int) -> None:
        byte_codes, codes = self.codes[attribute], column.codes
        assert codes is not None
        self.n_codes[attribute] = n_categories + 1
        if n_categories > MAX_BINS:
            codes = np.ascontiguousarray(codes, dtype=np.int32)
            _core.category_entries(
                codes, n_categories, self.shift, self.y, self.sorted_entries[attribute]
            )
            self.list_row[attribute] = attribute
            n_missing = 0 if codes.all() else int(np.count_nonzero(codes == MISSING_CODE))
            self.note_counts(attribute, _n_present(column, codes), n_missing)
            return
        np.copyto(byte_codes, codes, casting="unsafe")  # nothing, if they were read into it
        self.list_row[attribute] = -1
        self.note_counts(attribute, _n_present(column, byte_codes))

    def finish(self, priors: ClassPriors) -> EncodedTable:
        table, target = self.table, self.target
        classes, tie_order = target.classes, target.tie_order
        classes.flags.writeable = False  # estimators and trees share them
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
                classes,
                table.named,
                tuple(tie_order.tolist()),
                priors,
                ranges=self.ranges,
                counted=counted,
            ),
            tie_order=tie_order,
            y=self.y,
            numbers=target.values if isinstance(target, NumberTarget) else None,
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


def _n_present(column: Column, codes: np.ndarray) -> int:
    """How many categories rows have: all, unless they were declared."""
    if not column.declared:
        return len(column.categories or ())
    present = np.zeros(len(column.categories or ()) + 1, dtype=bool)  # the first: missing
    present[codes] = True
    return int(np.count_nonzero(present[1:]))


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
