# SPDX-License-Identifier: BSD-3-Clause
"""The rows of one fit in memory: sorted lists, byte codes and histograms, searched and partitioned by the core."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fasttree import _core
from fasttree.base.ragged import begins, offsets
from fasttree.base.threads import CHUNKS_PER_THREAD, ThreadTeam, portions
from fasttree.encoding.encode import is_worth_threads
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.encoding.weights import IntegerWeights
from fasttree.growth.candidates import CandidateBuffers, Candidates
from fasttree.growth.children import Children
from fasttree.growth.context import GrowthContext, RowTotals, is_fractional
from fasttree.growth.level import HistogramPool, Level, part_of, sums_by_group
from fasttree.growth.params import MISSING, GrowthParams
from fasttree.growth.row_buffers import MOST_NARROW_BRANCHES, RowBuffers
from fasttree.growth.split import PARALLEL_WORK, Splitter
from fasttree.growth.surrogates import SurrogateSearch
from fasttree.growth.targets import NumericTarget, Target

RECORD_BYTES = 2**22  # of the (attribute, node) records of a batch
MOST_SHARES = 4  # rows of a level in shares of all the rows, above which it is grown in parts
CHUNK_WORK = 5_000_000


class NodeBatch(NamedTuple):
    """What is done in one go: rows of sibling groups are partitioned, and frontier nodes among the children are
    scored."""

    group0: int
    group1: int
    node0: int
    node1: int
    partitions: bool = True  # False: the children have their rows already


def totals_of(
    table: EncodedTable, weights: IntegerWeights | None, params: GrowthParams, target: Target
) -> RowTotals:
    """The totals of all the rows of a table."""
    steps = None if weights is None else weights.quantised
    if isinstance(target, NumericTarget):
        stats = target.totals(steps)
    else:
        stats = np.zeros(target.n_stats, dtype=np.int64)
        _core.class_totals(table.y, steps, stats)
    if weights is None:
        return RowTotals(stats, table.n_rows)
    counting = weights.quantised > 0
    lightest = None
    if is_fractional(table, params) and not weights.is_mask:
        lightest = int(weights.plain_rows(table.y)[counting].min())
    return RowTotals(stats, int(np.count_nonzero(counting)), lightest)


class MemoryRows:
    """A store of rows that lie in memory."""

    def __init__(
        self,
        context: GrowthContext,
        table: EncodedTable,
        sorted_entries: np.ndarray,
        weights: IntegerWeights | None,
        team: ThreadTeam,
    ) -> None:
        """`sorted_entries`: lists of the rows of weight above 0, which are rearranged."""
        self.context = context
        self.team = team
        binned = np.flatnonzero(table.list_row < 0)
        cells = table.n_codes[binned].astype(np.int64) * context.n_stats
        cell_start = np.zeros(table.n_attributes, dtype=np.int64)
        cell_start[binned] = begins(cells)
        # Nodes that are scored in one go: of each attribute a score, a split and its information.
        self._batch = max(1, RECORD_BYTES // (32 * context.n_attributes))
        # With fractional rows too: their shares sum to their weight, so that siblings leave the largest child its own.
        # Of attributes that are drawn, a node does not have all the histograms that its children could inherit.
        n_cells = int(cells.sum()) if context.params.draw is None else 0
        self.histogram_pool = HistogramPool(n_cells, context.n_rows, self._batch)
        self.core = _core.Grower(
            context.criterion,
            table.codes,
            table.list_row,
            context.shape,
            table.n_codes,
            table.has_missing,
            MISSING[context.params.missing],
            np.empty((self.histogram_pool.capacity, n_cells), dtype=np.int64),
            cell_start,
            table.rank_shift,
            context.steps_per_unit,
        )
        if isinstance(context.target, NumericTarget):
            self.core.set_targets(context.target.quantised)
        if context.params.c45:
            self.core.set_values(*_close_values(table, team))
        by_value = context.is_multiway | context.is_grouped
        self.buffers = RowBuffers(
            table,
            sorted_entries,
            None if weights is None else weights.quantised,
            context.weights is not None,
            self.core,
            context.is_fractional,
            keeps_branches=context.params.by_chance,
            many_branches=int(table.n_codes[by_value].max(initial=2)) > MOST_NARROW_BRANCHES,
        )
        self._candidate_buffers = CandidateBuffers(context.n_attributes, context.has_information)
        self._is_partitioned = False  # the rows, from the root on
        self._list_scratch = [np.empty(context.n_rows, dtype=np.uint64) for _ in range(team.size)]
        surrogates = None
        if context.params.missing == "surrogate":
            surrogates = SurrogateSearch(
                table, self.core, context.shape, context.weights, team, self._list_scratch
            )
        self._splitter = Splitter(
            context, self.core, self.buffers, team, surrogates, has_binned=len(binned) > 0
        )

    def search(self, level: Level, drawn: np.ndarray | None) -> Iterator[tuple[slice, Candidates]]:
        """Partition the rows among the nodes of a level, and find the best split of every attribute at those of its
        frontier, some nodes after the others."""
        if self.context.is_fractional and self._is_partitioned:
            self.buffers.begin_level(int(level.n_rows[level.frontier].sum()))
        for batch in self._node_batches(level):
            candidates = self._candidates(level, batch, drawn)
            if batch.node1 > batch.node0:
                yield slice(batch.node0, batch.node1), candidates
        self.buffers.end_level(level)

    def _node_batches(self, level: Level) -> Iterator[NodeBatch]:
        """The level in batches of whole sibling groups; if one is too large for that, all are moved first."""
        # The first frontier node of each sibling group.
        opened = level.frontier.searchsorted(level.sibling_groups.first_child).tolist()
        n_groups = len(opened) - 1
        if level.is_partitioned_whole:
            yield NodeBatch(0, n_groups, 0, 0)
            self.buffers.end_partition()
            for node in range(0, opened[-1], self._batch):
                stop = min(node + self._batch, opened[-1])
                group0 = bisect_right(opened, node) - 1
                yield NodeBatch(group0, bisect_left(opened, stop), node, stop, partitions=False)
            return
        group = 0
        while opened[group] < opened[-1]:
            stop = bisect_right(opened, opened[group] + self._batch) - 1
            stop = max(stop, group + 1)
            if opened[group] < opened[stop]:
                yield NodeBatch(group, stop, opened[group], opened[stop])
            group = stop

    def _candidates(self, level: Level, batch: NodeBatch, drawn: np.ndarray | None) -> Candidates:
        """Partition the rows of the batch's sibling groups among their children, and find the best split of every
        attribute at its frontier nodes."""
        group0, group1, node0, node1, partitions = batch
        n_attributes = self.context.n_attributes
        candidates = self._candidate_buffers.candidates(node1 - node0)
        heuristic = candidates.heuristic.view(np.uint8)
        drawn = None if drawn is None else drawn[:, node0:node1].view(np.uint8)
        rows = int(level.n_rows[level.frontier[node0:node1]].sum())
        if node0 == node1:
            rows = int(level.sibling_groups.parent_rows[group0:group1].sum())
        threaded = rows * n_attributes > PARALLEL_WORK
        n_chunks = 1
        if threaded:  # several a thread, and none so long that Ctrl-C would have to wait
            wanted = max(
                CHUNKS_PER_THREAD * self.team.size,
                rows * n_attributes // CHUNK_WORK,
            )
            n_chunks = min(n_attributes, wanted)
        edges = portions(n_attributes, n_chunks)

        if node1 > node0 and self.core.looks_up:
            self._read_rows(level, group0, group1, threaded)

        def work(worker: int, chunk: int) -> None:
            if not self.core.partition_and_search(
                level.core, group0, group1, partitions, node0, edges[chunk], edges[chunk + 1],
                drawn, self._list_scratch[worker], candidates.gain, candidates.split, candidates.information,
                heuristic,
            ):  # fmt: skip
                raise MemoryError("not enough memory for the split search")

        self.team.run(work, n_chunks, threaded)
        return candidates

    def _read_rows(self, level: Level, group0: int, group1: int, threaded: bool) -> None:
        """What binned attributes need of the rows of some sibling groups, and would look up one after another."""
        if not self.buffers.has_row_list:
            return
        self.buffers.open_listed()
        first, last = level.sibling_groups.first_child[[group0, group1]].tolist()
        start = int(level.row_start[first])
        stop = int(level.row_start[last - 1] + level.n_rows[last - 1])
        n_chunks = CHUNKS_PER_THREAD * self.team.size if threaded else 1
        edges = [start + edge for edge in portions(stop - start, n_chunks)]
        self.team.run(
            lambda _, chunk: self.core.read_rows(edges[chunk], edges[chunk + 1]), n_chunks, threaded
        )

    def varies(self, level: Level, nodes: np.ndarray, attribute: int) -> np.ndarray:
        """Whether closed nodes have two values of an attribute, before their rows drop out."""
        first = np.full(level.n_nodes, _core.CLEAR, dtype=np.int64)
        first[nodes] = _core.UNCLEAR
        _core.find_variety(self.core, level.core, attribute, first)
        return np.asarray(first[nodes] == _core.CLEAR)

    def describe(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, split: np.ndarray
    ) -> Children:
        """The children of splits that are not made, from the rows with a known value."""
        with self.buffers.scattered():
            return self._splitter.draft(level, nodes, attribute, split).children

    def apply(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, split: np.ndarray
    ) -> Children:
        """Describe the children of the splits made at `nodes`, and set the branch of every row."""
        self._is_partitioned = True
        return self._splitter.split(level, nodes, attribute, split)

    def parts(self, level: Level) -> list[Level]:
        """The level in parts that are to be grown one after another, if its rows have multiplied beyond the memory that
        they should take."""
        if not self.context.is_fractional:
            return [level]
        rows = sums_by_group(_of_frontier(level), level.sibling_groups.first_child)
        if rows.sum() <= MOST_SHARES * self.context.n_rows or (rows > 0).sum() < 2:
            return [level]
        paused = self.buffers.pause()
        before = offsets(rows)
        bounds = [0]
        # Whole sibling groups, as many as hold no more than all the rows once.
        while bounds[-1] < len(rows):
            most = before[bounds[-1]] + self.context.n_rows
            stop = int(before.searchsorted(most, side="right")) - 1
            bounds.append(max(stop, bounds[-1] + 1))
        return [
            part_of(level, start, stop, self.histogram_pool, paused)
            for start, stop in pairwise(bounds)
        ]

    def resume(self, level: Level) -> None:
        if level.paused is not None:
            self.buffers.resume(level.paused)

    def copy_from(self, other: MemoryRows) -> None:
        """Take over the rows of another store of the same fit, to move them about without consequences."""
        self.buffers.copy_from(other.buffers)

    def release(self) -> None:
        """Growth is over."""
        self.buffers.release()
        self._list_scratch.clear()


def _of_frontier(level: Level) -> np.ndarray:
    """The rows of the nodes on the frontier, 0 for the others."""
    rows = np.zeros(level.n_nodes, dtype=np.int64)
    rows[level.frontier] = level.n_rows[level.frontier]
    return rows


def _close_values(table: EncodedTable, team: ThreadTeam) -> tuple[np.ndarray, np.ndarray]:
    """The value of each code of those numeric attributes that have values too close for a cut, one attribute after
    another, and where each begins; -1 for all others."""
    numeric = [i for i, a in enumerate(table.schema.attributes) if not a.is_categorical]
    values = [np.empty(0)] * table.n_attributes

    def find(worker: int, i: int) -> None:
        found = table.first_values(numeric[i])
        if not (found[:-1] + _core.LEAST_GAP < found[1:]).all():
            values[numeric[i]] = np.append(-np.inf, found)

    team.run(find, len(numeric), is_worth_threads(table.n_rows, len(numeric)))
    n_values = np.array([len(found) for found in values])
    return np.concatenate(values), np.where(n_values > 0, begins(n_values), -1)
