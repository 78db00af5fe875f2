# SPDX-License-Identifier: BSD-3-Clause
"""What grows below small nodes: all of it in one call of the core, while their rows are in the processor's cache.

A level costs Python the same whatever it holds, and the rows of a small node are passed on in memory once a level. So
the level loop ends at nodes of few rows. The trees are the same: the core finds their splits as it finds all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fasttree import _core
from fasttree._core import MOST_FEW_CELLS
from fasttree.base.ragged import batches, offsets
from fasttree.base.threads import CHUNKS_PER_THREAD, ThreadTeam
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.growth.candidates import gain_limits
from fasttree.growth.children import Children
from fasttree.growth.context import GrowthContext
from fasttree.growth.level import Level
from fasttree.growth.memory_rows import MemoryRows
from fasttree.growth.params import UNLIMITED
from fasttree.growth.row_buffers import MOST_NARROW_BRANCHES
from fasttree.growth.split import PARALLEL_WORK
from fasttree.growth.split_limit import SplitLimit
from fasttree.growth.targets import ClassTarget

# A node is small if its rows by all attributes fit into a processor's own cache, and if they are few.
MOST_ENTRIES, MOST_ROWS = 2**19, 2**14
# One thread grows a subtree: it has at most so small a share of all the rows, or so few that others may wait.
SHARES_PER_THREAD, ALONE_ROWS = 8, 2**11
# Where most histograms are short, the level loop is quicker in larger tables: it looks up the codes of the smaller
# children alone, and these lie far from each other.
MOST_ROWS_OF_SHORT_HISTOGRAMS = 2**19
MOST_ROWS_OF_FEW_LEAVES = (
    2**13
)  # likewise where only the best splits are wanted, which the level loop knows
MOST_SORTED = 64  # rows of a node up to which sorted lists are quicker than histograms
MOST_CELLS = 2**22  # class counts of the children of a batch of nodes
MOST_CHILDREN = 3  # for each row: every split has two with rows at least, and may have one without


class Subtrees(NamedTuple):
    """The splits at and below some nodes, in the order in which they were made."""

    nodes: np.ndarray  # the first ones, in their level
    parent: np.ndarray  # of each split: its place among these or, behind them, among the children
    attribute: np.ndarray
    children: Children
    # Where a better split may have been missed: places like those of parents.
    heuristic: np.ndarray


class SubtreeGrowth:
    """Grows the subtrees of one fit."""

    def __init__(
        self, context: GrowthContext, rows: MemoryRows, table: EncodedTable, team: ThreadTeam
    ) -> None:
        self._context = context
        self._rows = rows
        self._team = team
        most = min(MOST_ROWS, MOST_ENTRIES // context.n_attributes, context.n_rows)
        most = min(most, MOST_CELLS // (MOST_CHILDREN * context.n_stats))
        if team.size > 1:
            most = min(most, max(context.n_rows // (SHARES_PER_THREAD * team.size), ALONE_ROWS))
        self._most_rows = most
        self._n_binned = int((table.list_row < 0).sum())
        self._stop = np.zeros(1, dtype=np.uint8)
        self._memory: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}  # by worker
        params = context.params
        self._most_depth = min(params.max_depth, params.max_leaves - 1, UNLIMITED)
        self._least_gain, self._above = gain_limits(params)

    @staticmethod
    def serves(context: GrowthContext, table: EncodedTable) -> bool:
        """Do all rows of a fit go one way, to few branches, and is it worth while?"""
        params = context.params
        by_value = context.is_multiway | context.is_grouped
        is_short = (table.list_row < 0) & (table.n_codes * context.n_stats <= MOST_FEW_CELLS)
        most = context.n_rows
        if 2 * np.count_nonzero(is_short) > len(is_short):
            most = MOST_ROWS_OF_SHORT_HISTOGRAMS
        if SplitLimit.serves(context):
            most = min(most, MOST_ROWS_OF_FEW_LEAVES)
        return (
            context.n_rows <= most
            # Histograms there are of classes.
            and (isinstance(context.target, ClassTarget) or bool((table.list_row >= 0).all()))
            and not context.is_fractional
            and params.missing != "surrogate"
            and params.draw is None
            and int(context.n_codes[by_value].max(initial=2)) <= MOST_NARROW_BRANCHES
        )

    def small_nodes(self, level: Level) -> np.ndarray | None:
        """Which nodes of the frontier are small; None: none is."""
        is_small = level.n_rows[level.frontier] <= self._most_rows
        return is_small if is_small.any() else None

    def grow(self, level: Level, nodes: np.ndarray, order: np.ndarray) -> Iterator[Subtrees]:
        """Grow what is below some nodes, whose rows have come to them. `order`: of the attributes, for ties."""
        n_rows = level.n_rows[nodes]
        work = int(n_rows.sum()) * self._context.n_attributes
        threaded = work > PARALLEL_WORK and len(nodes) > 1
        most = MOST_CELLS // (MOST_CHILDREN * self._context.n_stats)
        if threaded:
            most = min(most, int(n_rows.sum()) // (CHUNKS_PER_THREAD * self._team.size))
        parts = list(batches(n_rows, max(most, 1)))
        found: dict[int, Subtrees] = {}

        def work_on(worker: int, part: int) -> None:
            try:
                found[first + part] = self._grow(worker, level, nodes[parts[first + part]], order)
            except BaseException:
                self._stop[0] = 1  # Ctrl-C strikes one thread alone
                raise

        # Some after the others, so that a tree which is too large is noticed.
        step = 2 * CHUNKS_PER_THREAD * self._team.size
        for first in range(0, len(parts), step):
            n_parts = min(step, len(parts) - first)
            try:
                self._team.run(work_on, n_parts, threaded)
            except BaseException:
                self._stop[0] = 1
                raise
            for part in range(first, first + n_parts):
                yield found.pop(part)

    def _grow(self, worker: int, level: Level, nodes: np.ndarray, order: np.ndarray) -> Subtrees:
        context = self._context
        branch, lists, codes = self._memory_of(worker)
        most = int(level.n_rows[nodes].sum())  # splits
        found: dict[str, np.ndarray] = {
            "parent": np.empty(most, dtype=np.int64),
            "attribute": np.empty(most, dtype=np.int64),
            "neighbours": np.empty((most, 2), dtype=np.int64),
            "missing_branch": np.empty(most, dtype=np.int32),
            "n_children": np.empty(most, dtype=np.int64),
            "n_filled": np.empty(most, dtype=np.int64),
            "n_table": np.empty(most, dtype=np.int64),
        }
        child_rows = np.empty(MOST_CHILDREN * most, dtype=np.int64)
        child_counts = np.empty((MOST_CHILDREN * most, context.n_stats), dtype=np.int64)
        heuristic = np.zeros(len(nodes) + MOST_CHILDREN * most, dtype=np.uint8)
        log = _core.SplitLog(
            **found, child_rows=child_rows, child_counts=child_counts, heuristic=heuristic
        )
        if not _core.grow_subtrees(
            self._rows.core, level.core, nodes, order, context.params.tie, self._least_gain, self._above,
            context.limits.split, self._most_depth - level.depth, context.class_factor, MOST_SORTED,
            branch, lists, codes, self._stop, log,
        ):  # fmt: skip
            raise MemoryError("not enough memory to grow what is below small nodes")
        found = {name: values[: log.n_splits].copy() for name, values in found.items()}
        tables = np.empty((2, log.n_entries), dtype=np.uint32)
        log.tables(*tables)
        children = Children(
            first_child=offsets(found["n_children"]),
            n_filled=found["n_filled"],
            n_rows=child_rows[: log.n_all_children].copy(),
            counts=child_counts[: log.n_all_children].copy(),
            table_start=offsets(found["n_table"]),
            table_codes=tables[0],
            table_branch=tables[1],
            neighbours=found["neighbours"],
            missing_branch=found["missing_branch"],
        )
        missed = heuristic[: len(nodes) + log.n_all_children].nonzero()[0]
        return Subtrees(nodes, found["parent"], found["attribute"], children, missed)

    def _memory_of(self, worker: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The branches of rows, lists and codes that a thread writes."""
        if worker not in self._memory:
            branch = self._rows.buffers.branch
            self._memory[worker] = (
                # Threads would take lines of the cache from each other if they wrote into one.
                np.empty_like(branch) if worker else branch,
                np.empty((self._n_binned + 2, self._most_rows), dtype=np.uint64),
                np.empty((self._n_binned, self._most_rows), dtype=np.uint8),
            )
        return self._memory[worker]
