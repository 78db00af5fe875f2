# SPDX-License-Identifier: BSD-3-Clause
"""Best split of every frontier node: threads take attributes, and one is chosen for each node in one fixed order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fasttree import _core
from fasttree.base.ragged import offsets
from fasttree.base.threads import CHUNKS_PER_THREAD, portions
from fasttree.growth.candidates import SPLIT, Candidates, Chooser
from fasttree.growth.choosers.message_length import MessageLengthChooser
from fasttree.growth.context import GrowthContext
from fasttree.growth.level import Level, part_of, sums_by_group
from fasttree.growth.params import ROOT_GAIN
from fasttree.growth.ties import best_first

PARALLEL_WORK = 30_000  # rows x attributes of a level below which threads cost more than they bring
MOST_SHARES = 4  # rows of a level in shares of all the rows, above which it is grown in parts
CHUNK_WORK = 5_000_000


@dataclass(frozen=True, slots=True, eq=False)
class BestSplits:
    """The best split of each frontier node."""

    attribute: np.ndarray  # int64, -1: no admissible split
    score: np.ndarray  # float64
    split: np.ndarray  # SPLIT
    heuristic: np.ndarray  # bool: may some attribute have a better one, or any?
    # Per node of the level what a message could ask for (of a closed node only whether there is anything); or None.
    eligible: np.ndarray | None = None
    # For who asks what the others were: of every attribute what its best split gains and is worth, [attribute, node].
    gain: np.ndarray | None = None
    worth: np.ndarray | None = None


class NodeBatch(NamedTuple):
    """What is done in one go: rows of sibling groups are partitioned, and frontier nodes among the children are
    scored."""

    group0: int
    group1: int
    node0: int
    node1: int
    partitions: bool = True  # False: the children have their rows already


class SplitSearch:
    """Finds the best split of every node of a level: attributes are distributed over the threads, then one is chosen
    for each node."""

    def __init__(
        self, context: GrowthContext, choosers: Sequence[Chooser], keeps_all: bool = False
    ) -> None:
        """`choosers` judge the candidates one after the other. `keeps_all`: note what all of them are worth."""
        self.context = context
        self.params = context.params
        self.core = context.core
        self.row_buffers = context.row_buffers
        self.choosers = choosers
        self.is_relative = any(chooser.is_relative for chooser in choosers)
        self.keeps_all = keeps_all
        self.order = np.arange(context.n_attributes)  # equal ones: the first of them wins

    def search_level(self, level: Level) -> BestSplits:
        """Move the rows into their new nodes and find the best split of every frontier node."""
        n = len(level.frontier)
        best_splits = BestSplits(
            np.empty(n, np.int64), np.empty(n), np.empty(n, SPLIT), np.zeros(n, dtype=bool)
        )
        if self.keeps_all:
            gain, worth = np.empty((2, self.context.n_attributes, n))
            best_splits = replace(best_splits, gain=gain, worth=worth)
        if self.context.length_chooser is not None:
            eligible = self._testable(level, self.context.length_chooser)
            best_splits = replace(best_splits, eligible=eligible)
        if self.context.is_fractional and self.context.is_partitioned:
            self.row_buffers.begin_level(int(level.n_rows[level.frontier].sum()))
        for batch in self._node_batches(level):
            candidates = self.candidates(level, batch)
            if batch.node1 > batch.node0:
                self._choose(level, batch, candidates, best_splits)
        self.row_buffers.end_level(level)
        return best_splits

    def _node_batches(self, level: Level) -> Iterator[NodeBatch]:
        """The level in batches of whole sibling groups; if one is too large for that, all are moved first."""
        # The first frontier node of each sibling group.
        opened = level.frontier.searchsorted(level.sibling_groups.first_child).tolist()
        n_groups = len(opened) - 1
        if level.is_partitioned_whole:
            yield NodeBatch(0, n_groups, 0, 0)
            self.row_buffers.end_partition()
            for node in range(0, opened[-1], self.context.batch):
                stop = min(node + self.context.batch, opened[-1])
                group0 = bisect_right(opened, node) - 1
                yield NodeBatch(group0, bisect_left(opened, stop), node, stop, partitions=False)
            return
        group = 0
        while opened[group] < opened[-1]:
            stop = bisect_right(opened, opened[group] + self.context.batch) - 1
            stop = max(stop, group + 1)
            if opened[group] < opened[stop]:
                yield NodeBatch(group, stop, opened[group], opened[stop])
            group = stop

    def _testable(self, level: Level, chooser: MessageLengthChooser) -> np.ndarray:
        """Whether a message could ask for anything at each of the closed nodes, before their rows drop out; 0 for the
        frontier."""
        eligible = np.zeros(level.n_nodes, dtype=np.int32)
        closed = np.ones(level.n_nodes, dtype=bool)
        closed[level.frontier] = False
        assert level.tested is not None
        eligible[closed] = chooser.n_untested(level.tested)[closed]
        first = np.full(level.n_nodes, _core.CLEAR, dtype=np.int64)
        unclear = np.flatnonzero(closed & (eligible == 0) & (level.n_rows > 1))
        for attribute in chooser.others.tolist():
            if not len(unclear):
                break
            first[unclear] = _core.UNCLEAR
            _core.find_variety(self.core, level.core, attribute, first)
            varies = first[unclear] == _core.CLEAR
            eligible[unclear[varies]] = 1
            unclear = unclear[~varies]
        return eligible

    def _choose(
        self, level: Level, batch: NodeBatch, candidates: Candidates, best_splits: BestSplits
    ) -> None:
        """Choose the attribute of every node of a batch."""
        part = slice(batch.node0, batch.node1)
        nodes = level.frontier[part]
        if not self.context.is_all_numeric:
            best_splits.heuristic[part] = candidates.heuristic.any(axis=0)
        for chooser in self.choosers:
            chooser.adjust(level, nodes, candidates)
        if level.depth == 0 and self.params.ties == ROOT_GAIN:
            gain = candidates.gain if self.params.c45 else candidates.score
            self.order = best_first(gain[:, 0], self.params.tie, self.is_relative)
        if best_splits.eligible is not None:
            best_splits.eligible[nodes] = candidates.eligible
        if best_splits.gain is not None and best_splits.worth is not None:
            best_splits.gain[:, part] = candidates.gain
            best_splits.worth[:, part] = candidates.worth
        _core.choose_attributes(
            candidates.worth,
            self.order,
            self.params.tie,
            self.is_relative,
            candidates.score,
            candidates.split,
            best_splits.attribute[part],
            best_splits.score[part],
            best_splits.split[part],
        )

    def candidates(self, level: Level, batch: NodeBatch) -> Candidates:
        """Partition the rows of the batch's sibling groups among their children, and find the best split of every
        attribute at its frontier nodes."""
        group0, group1, node0, node1, partitions = batch
        gain = np.empty((self.context.n_attributes, node1 - node0))
        split = np.empty(gain.shape, dtype=SPLIT)
        heuristic = np.empty(gain.shape, dtype=bool)
        information = np.zeros_like(gain) if self.params.c45 or self.params.by_length else None
        rows = int(level.n_rows[level.frontier[node0:node1]].sum())
        if node0 == node1:
            rows = int(level.sibling_groups.parent_rows[group0:group1].sum())
        threaded = rows * self.context.n_attributes > PARALLEL_WORK
        n_chunks = 1
        if threaded:  # several a thread, and none so long that Ctrl-C would have to wait
            wanted = max(
                CHUNKS_PER_THREAD * self.context.team.size,
                rows * self.context.n_attributes // CHUNK_WORK,
            )
            n_chunks = min(self.context.n_attributes, wanted)
        edges = portions(self.context.n_attributes, n_chunks)

        def work(worker: int, chunk: int) -> None:
            if not self.core.partition_and_search(
                level.core, group0, group1, partitions, node0, edges[chunk], edges[chunk + 1],
                self.context.list_scratch[worker], gain, split, information, heuristic.view(np.uint8),
            ):  # fmt: skip
                raise MemoryError("not enough memory for the split search")

        self.context.team.run(work, n_chunks, threaded)
        return Candidates(gain, split, heuristic, information, score=gain, worth=gain)

    def parts(self, level: Level) -> list[Level]:
        """The level in parts that are to be grown one after another, if its rows have multiplied beyond the memory that
        they should take."""
        if not self.context.is_fractional:
            return [level]
        rows = sums_by_group(_of_frontier(level), level.sibling_groups.first_child)
        if rows.sum() <= MOST_SHARES * self.context.n_rows or (rows > 0).sum() < 2:
            return [level]
        paused = self.row_buffers.pause()
        before = offsets(rows)
        bounds = [0]
        # Whole sibling groups, as many as hold no more than all the rows once.
        while bounds[-1] < len(rows):
            most = before[bounds[-1]] + self.context.n_rows
            stop = int(before.searchsorted(most, side="right")) - 1
            bounds.append(max(stop, bounds[-1] + 1))
        return [
            part_of(level, start, stop, self.context.histogram_pool, paused)
            for start, stop in pairwise(bounds)
        ]

    def resume(self, level: Level) -> None:
        if level.paused is not None:
            self.row_buffers.resume(level.paused)


def _of_frontier(level: Level) -> np.ndarray:
    """The rows of the nodes on the frontier, 0 for the others."""
    rows = np.zeros(level.n_nodes, dtype=np.int64)
    rows[level.frontier] = level.n_rows[level.frontier]
    return rows
