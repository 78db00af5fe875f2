# SPDX-License-Identifier: BSD-3-Clause
"""The rows of one fit as instances: rows with a weight, several of which may be shares of one row.

Without missing values to share out an instance is a row for good.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from fasttree import _core
from fasttree.encoding.encoded_table import WIDE_SHIFT, EncodedTable
from fasttree.growth.level import Level

MOST_NARROW_BRANCHES = (
    254  # that fit into a byte, which also says that a row is distributed fractionally
)
MIN_RELEASED = 2**15  # entries of a list that are worth releasing


@dataclass(frozen=True, slots=True, eq=False)
class Paused:
    """What the parts of a level need again that are grown after others."""

    sorted_entries: np.ndarray
    row_list: np.ndarray
    n: int


class RowBuffers:
    """Class, weight, row and branch by number of instance, and the lists that name instances."""

    def __init__(
        self,
        table: EncodedTable,
        sorted_entries: np.ndarray,
        steps: np.ndarray | None,
        is_weighted: bool,
        core: _core.Grower,
        is_fractional: bool,
        keeps_branches: bool,
        many_branches: bool,
    ) -> None:
        """`steps`: weights, 0 for rows that do not count; unless it `is_weighted`, that is all they say.
        `is_fractional`: rows may be distributed fractionally; `keeps_branches`: splits are described before all rows of
        a level have moved, to be judged; `many_branches`: a byte may not do for the branch of a row."""
        self.core = core
        self.is_fractional = is_fractional
        self.n = table.n_rows
        self.sorted_entries = sorted_entries
        has_class = table.rank_shift > WIDE_SHIFT and not is_weighted  # in its entries
        self.y = None if has_class else table.y
        self.weight = steps if is_weighted else None
        self.row_of = np.arange(table.n_rows, dtype=np.uint32) if is_fractional else None
        self.first_copy = np.empty(table.n_rows, dtype=np.uint32) if is_fractional else None
        self.exact = np.zeros((table.n_rows, 2), dtype=np.uint64) if is_fractional else None
        self.keeps_branches = is_fractional or keeps_branches
        is_wide = self.keeps_branches and many_branches
        self.branch = np.empty(table.n_rows, dtype=np.uint32 if is_wide else np.uint8)
        if is_fractional and self.weight is not None:
            self.y, self.weight = table.y.copy(), self.weight.copy()
            assert self.exact is not None
            self.exact[:, 0] = self.weight
        self.row_list = np.empty(0, dtype=np.uint64)
        self.next_row_list = self.row_list
        self._n_listed = 0
        if (table.list_row < 0).any():
            n_present = table.n_rows if steps is None else int(np.count_nonzero(steps))
            self.row_list = np.empty(n_present, dtype=np.uint64)
            _core.write_rows(table.y, steps, table.rank_shift, self.row_list)
            self.next_row_list = np.empty(0 if is_fractional else n_present, dtype=np.uint64)
        self._in_use = table.list_row[table.list_row >= 0]
        # Of each list; what follows belongs to other levels, or has no memory any more.
        self.n_entries = sorted_entries.shape[1]
        self._source: np.ndarray | None = None  # where the rows of a level are dealt out from
        self._spare: np.ndarray | None = None  # lists of a level that is done, to be written over
        self._is_kept = False  # the lists are still wanted after the next level has been dealt out
        core.set_sorted_entries(sorted_entries, sorted_entries)
        core.set_row_lists(self.row_list, self.next_row_list)
        self._publish()

    def begin_partition(self, wide: bool) -> None:
        """Every row is about to be given its branch; a byte does for that unless the branches are many."""
        if self.keeps_branches:  # those told earlier may still be wanted
            return
        if wide != (self.branch.dtype == np.uint32):
            self.branch = np.empty(len(self.branch), dtype=np.uint32 if wide else np.uint8)
            self._publish()

    def end_partition(self) -> None:
        """The rows are in their new nodes."""
        self.begin_partition(wide=False)

    def _publish(self) -> None:
        is_wide = self.branch.dtype == np.uint32
        self.core.set_instances(
            self.y,
            self.weight,
            self.row_of,
            self.first_copy,
            None if is_wide else self.branch,
            self.branch if is_wide else None,
            self.exact,
        )

    def copy_from(self, other: RowBuffers) -> None:
        """Take over the rows of a level, to move them about without consequences."""
        self.n = other.n
        self.sorted_entries = other.sorted_entries.copy()
        self.row_list = other.row_list.copy()
        self.next_row_list = np.empty_like(other.next_row_list)
        self._spare, self._is_kept = None, False
        if self.is_fractional:
            assert other.y is not None
            assert other.weight is not None
            assert other.row_of is not None
            assert other.exact is not None
            self.exact = other.exact.copy()
            self.y, self.weight = other.y.copy(), other.weight.copy()
            self.row_of = other.row_of.copy()
            self.first_copy = np.empty_like(other.first_copy)
            self.branch = np.empty_like(other.branch)
        self.core.set_sorted_entries(self.sorted_entries, self.sorted_entries)
        self.core.set_row_lists(self.row_list, self.next_row_list)
        self._publish()

    @property
    def has_row_list(self) -> bool:
        return len(self.row_list) > 0

    def open_listed(self) -> None:
        """Room for what is looked up of the entries of the row list."""
        if self._n_listed < len(self.row_list):
            n = self._n_listed = len(self.row_list)
            self.core.set_listed(np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.int64))

    @property
    def bytes_of_copy(self) -> int:
        """What one more instance takes, here and in the lists of the next level."""
        own = 4 + 8 + 4 + 4 + 16  # class, weight, row, first copy, exact weight
        of_row_list = 3 * 8 if self.has_row_list else 0  # with what is looked up of it
        return own + self.branch.itemsize + 8 * len(self._in_use) + of_row_list

    def add_instances(self, n_copies: int) -> int:
        """Room for more instances; returns the number of the first."""
        first = self.n
        self.n += n_copies
        if self.n >= 2**32:
            raise MemoryError(
                f"distributing rows with missing values over the branches would make {self.n} fractional rows "
                f"(limit {2**32}): "
                'limit max_depth or increase min_samples_leaf, or use missing="branch"'
            )
        assert self.y is not None
        if self.n > len(self.y):
            capacity = max(self.n, min(2 * len(self.y), 2**32))
            self.y = _longer(self.y, capacity)
            self.branch = _longer(self.branch, capacity)
            assert self.weight is not None
            assert self.row_of is not None
            assert self.first_copy is not None
            assert self.exact is not None
            self.exact = _longer(self.exact, capacity)
            self.weight = _longer(self.weight, capacity)
            self.row_of = _longer(self.row_of, capacity)
            self.first_copy = _longer(self.first_copy, capacity)
            self._publish()
        return first

    def begin_level(self, n_entries: int) -> None:
        """Room for the rows of the frontier, if they may be more than those of the level before."""
        if not self.is_fractional:
            self.core.set_sorted_entries(self.sorted_entries, self.sorted_entries)
            return
        source, target = self.sorted_entries, self._spare
        if target is None or target.shape[1] < n_entries:
            target = np.empty((len(source), n_entries + n_entries // 4), dtype=np.uint64)
        self.core.set_sorted_entries(source, target)
        self._source = source
        self.sorted_entries, self._spare = target, None if self._is_kept else source
        self._is_kept = False

    def end_level(self, level: Level) -> None:
        """The rows of the frontier stand in the lists; what stood behind them is done with."""
        self._source = None
        self.core.set_sorted_entries(self.sorted_entries, self.sorted_entries)
        if self.n_entries > MIN_RELEASED and not self.is_fractional:
            last = level.last_entry
            if self.n_entries - last > MIN_RELEASED:
                for row in self._in_use:
                    _core.release_pages(self.sorted_entries[row, last : self.n_entries])
                self.n_entries = last

    @contextmanager
    def scattered(self) -> Iterator[None]:
        """In the middle of a level: look at the rows as they have been dealt out so far."""
        self.core.set_sorted_entries(self.sorted_entries, self.sorted_entries)
        yield
        if self._source is not None:
            self.core.set_sorted_entries(self._source, self.sorted_entries)

    def pause(self) -> Paused:
        """What stands in the lists now must stay until all the parts of the level have been dealt out from it."""
        self._is_kept = True
        return Paused(self.sorted_entries, self.row_list, self.n)

    def resume(self, paused: Paused) -> None:
        """Back to the lists before a part of the level is dealt out. Instances made since then are done with."""
        if self.sorted_entries is not paused.sorted_entries:
            self._spare = self.sorted_entries
        self.sorted_entries, self.row_list, self.n = (
            paused.sorted_entries,
            paused.row_list,
            paused.n,
        )
        self._is_kept = True
        self.core.set_sorted_entries(self.sorted_entries, self.sorted_entries)
        self.core.set_row_lists(self.row_list, self.row_list)

    def release(self) -> None:
        """Growth is over."""
        nothing = np.empty((0, 0), dtype=np.uint64)
        self.sorted_entries, self._spare = nothing, None
        self.core.set_sorted_entries(nothing, nothing)
        self.branch = self.branch[:1].copy()
        self._publish()

    def begin_rows(self, n_entries: int) -> None:
        if self.is_fractional:
            self.next_row_list = np.empty(n_entries, dtype=np.uint64)
            self.core.set_row_lists(self.row_list, self.next_row_list)

    def end_rows(self) -> None:
        self.row_list, self.next_row_list = self.next_row_list, self.row_list
        self.core.set_row_lists(self.row_list, self.next_row_list)


def _longer(array: np.ndarray, length: int) -> np.ndarray:
    longer = np.empty((length, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
