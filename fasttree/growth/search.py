# SPDX-License-Identifier: BSD-3-Clause
"""Best split of every frontier node: attributes shared out over the threads, winners chosen in one fixed order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fasttree import _core
from fasttree.base.ragged import ends
from fasttree.base.threads import CHUNKS_PER_THREAD, portions
from fasttree.growth.choosers import c45
from fasttree.growth.choosers.costs import NO_GAIN
from fasttree.growth.context import Ground
from fasttree.growth.level import Level, family_sums, part_of
from fasttree.growth.params import ORDERED, ROOT_GAIN, STOPPING, THRESHOLD, GrowthParams
from fasttree.growth.ties import best_first

PARALLEL_WORK = 30_000  # rows x attributes of a level below which threads cost more than they bring
MOST_SHARES = 4  # rows of a level in shares of all the rows, above which it is grown in parts
CHUNK_WORK = 5_000_000


# (level, nodes, score, cut) -> worth; scores, cuts and worth are [attribute, node]
Judge = Callable[[Level, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class Winners:
    """The best split of each frontier node."""

    attribute: np.ndarray  # int64, -1: no admissible split
    score: np.ndarray  # float64
    cut: np.ndarray  # int64
    heuristic: (
        np.ndarray
    )  # bool; of some attribute there may be a better split than was found, or any
    # Per node of the level what a message could ask for (of a closed node only whether there is anything); or None.
    eligible: np.ndarray | None = None
    # For who asks what the others were: of every attribute what its best split gains and is worth, [attribute, node].
    gain: np.ndarray | None = None
    worth: np.ndarray | None = None


class Batch(NamedTuple):
    """What is done in one go: rows of families are handed on, and frontier nodes among the children are scored."""

    family0: int
    family1: int
    node0: int
    node1: int
    moves: bool = True  # False: the children have their rows already


class Evaluator:
    """Hands the attributes of a level to the threads, and chooses among what they find."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.params = ground.params
        self.core = ground.core
        self.instances = ground.instances
        self.lengths = ground.lengths
        self.eligible = np.zeros(1, dtype=np.int32)
        self.judge: Judge | None = None  # of splits whose own score is not the last word
        self.keeps_all = False  # of the splits that were not the best what they are worth
        self.gain = np.empty((0, 0))  # then, of a batch, what the core found
        self.order = np.arange(ground.n_attributes)  # equal ones: the first of them wins
        self.root_gain = np.empty(0)
        if self.params.c45:
            total = int(ground.root_counts.sum())
            is_threshold = (ground.shape == THRESHOLD) | (ground.shape == ORDERED)
            n_values = ground.n_codes - 1
            # Two levels are a branch each, also where levels are put in groups.
            self.must_gain = ~(ground.is_multiway | (ground.is_grouped & (n_values <= 2)))
            size = ground.sizes(ground.root_counts[np.newaxis, :], np.array([total]))[0]
            many = n_values >= c45.least_of_many(size / ground.per_unit)
            self.has_many_values = ~is_threshold & many

    @property
    def is_relative(self) -> bool:
        """Are equal scores those that differ by a small share of themselves?"""
        return self.ground.costs is not None or self.lengths is not None

    def evaluate(self, level: Level) -> Winners:
        """Move the rows into their new nodes and find the best split of every frontier node."""
        n = len(level.frontier)
        winners = Winners(
            np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64), np.zeros(n, dtype=bool)
        )
        if self.keeps_all:
            gain, worth = np.empty((2, self.ground.n_attributes, n))
            winners = replace(winners, gain=gain, worth=worth)
        if self.lengths is not None:
            self.eligible = self._askable(level)
            winners = replace(winners, eligible=self.eligible)
        if self.ground.shares and self.ground.has_moved:
            self.instances.begin_level(int(level.n_rows[level.frontier].sum()))
        for batch in self._batches(level):
            self._evaluate_batch(level, batch, winners)
        self.instances.end_level(level)
        return winners

    def _batches(self, level: Level) -> Iterator[Batch]:
        """The level in batches of whole families; if one is too large for that, all are moved first."""
        # The first frontier node of each family.
        opened = level.frontier.searchsorted(level.families.first_child).tolist()
        n_families = len(opened) - 1
        if level.is_moved_whole:
            yield Batch(0, n_families, 0, 0)
            self.instances.end_moves()
            for node in range(0, opened[-1], self.ground.batch):
                stop = min(node + self.ground.batch, opened[-1])
                family0 = bisect_right(opened, node) - 1
                yield Batch(family0, bisect_left(opened, stop), node, stop, moves=False)
            return
        family = 0
        while opened[family] < opened[-1]:
            stop = bisect_right(opened, opened[family] + self.ground.batch) - 1
            stop = max(stop, family + 1)
            if opened[family] < opened[stop]:
                yield Batch(family, stop, opened[family], opened[stop])
            family = stop

    def _askable(self, level: Level) -> np.ndarray:
        """Whether a message could ask for anything at each of the closed nodes, before their rows drop out; 0 for the
        frontier."""
        assert self.lengths is not None
        eligible = np.zeros(level.n_nodes, dtype=np.int32)
        closed = np.ones(level.n_nodes, dtype=bool)
        closed[level.frontier] = False
        assert level.measured is not None
        eligible[closed] = self.lengths.n_unasked(level.measured)[closed]
        first = np.full(level.n_nodes, _core.CLEAR, dtype=np.int64)
        unclear = np.flatnonzero(closed & (eligible == 0) & (level.n_rows > 1))
        for attribute in self.lengths.others.tolist():
            if not len(unclear):
                break
            first[unclear] = _core.UNCLEAR
            _core.find_variety(self.core, level.core, attribute, first)
            varies = first[unclear] == _core.CLEAR
            eligible[unclear[varies]] = 1
            unclear = unclear[~varies]
        return eligible

    def _evaluate_batch(self, level: Level, batch: Batch, winners: Winners) -> None:
        score, cut, heuristic = self.scores(level, batch)
        part = slice(batch.node0, batch.node1)
        if not score.shape[1]:
            return
        if not self.ground.is_all_numeric:
            winners.heuristic[part] = heuristic.any(axis=0)
        worth = score
        if self.judge is not None:
            with self.instances.dealt():
                worth = score = self.judge(level, level.frontier[part], score, cut)
        if level.depth == 0 and self.params.ties == ROOT_GAIN:
            gain = self.root_gain if self.params.c45 else score[:, 0]
            self.order = best_first(gain, self.params.tie, self.is_relative)
        if self.ground.costs is not None:
            assert level.measured is not None
            measured = level.measured[level.frontier[part]].T
            worth = np.where(
                is_enough(score, self.params), self.ground.costs.worth(score, measured), -np.inf
            )
        if winners.worth is not None and winners.gain is not None:
            winners.gain[:, part] = self.gain
            winners.worth[:, part] = worth
        _core.choose_attributes(
            worth,
            self.order,
            self.params.tie,
            self.is_relative,
            score,
            cut,
            winners.attribute[part],
            winners.score[part],
            winners.cut[part],
        )

    def scores(self, level: Level, batch: Batch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Hand the rows of the batch's families on to their children, and score every attribute at its frontier nodes:
        the score of its best split (-inf: it has none), the cut, and whether there may be a better one, all three
        [attribute, node]."""
        family0, family1, node0, node1, moves = batch
        score = np.empty((self.ground.n_attributes, node1 - node0))
        cut = np.empty(score.shape, dtype=np.int64)
        heuristic = np.empty(score.shape, dtype=np.uint8)
        split = np.zeros_like(score) if self.params.c45 or self.params.by_length else None
        rows = int(level.n_rows[level.frontier[node0:node1]].sum())
        if node0 == node1:
            rows = int(level.families.parent_rows[family0:family1].sum())
        shared = rows * self.ground.n_attributes > PARALLEL_WORK
        n_chunks = 1
        if shared:  # several a thread, and none so long that Ctrl-C would have to wait
            wanted = max(
                CHUNKS_PER_THREAD * self.ground.team.size,
                rows * self.ground.n_attributes // CHUNK_WORK,
            )
            n_chunks = min(self.ground.n_attributes, wanted)
        edges = portions(self.ground.n_attributes, n_chunks)

        def work(worker: int, chunk: int) -> None:
            if not self.core.advance(
                level.core, family0, family1, moves, node0, edges[chunk], edges[chunk + 1],
                self.ground.spare[worker], score, cut, split, heuristic,
            ):  # fmt: skip
                raise MemoryError("no memory left for the split search")

        self.ground.team.run(work, n_chunks, shared)
        if self.keeps_all:
            self.gain = score.copy()
        if self.lengths is not None:
            assert split is not None
            assert level.measured is not None
            assert level.siblings is not None
            nodes = level.frontier[node0:node1]
            score, self.eligible[nodes] = self.lengths.worth(
                score, cut, split, level.measured[nodes], level.siblings[nodes]
            )
        elif split is not None:
            if level.depth == 0:
                self.root_gain = score[:, 0]
            score = c45.worth(score, split, self.must_gain, self.has_many_values, self.params)
        return score, cut, heuristic

    def parts(self, level: Level) -> list[Level]:
        """The level in parts that are to be grown one after another, if its rows have multiplied beyond the memory that
        they should take."""
        if not self.ground.shares:
            return [level]
        rows = family_sums(_of_frontier(level), level.families.first_child)
        if rows.sum() <= MOST_SHARES * self.ground.n_rows or (rows > 0).sum() < 2:
            return [level]
        paused = self.instances.pause()
        before = ends(rows)
        bounds = [0]
        # Whole families, as many as hold no more than all the rows once.
        while bounds[-1] < len(rows):
            most = before[bounds[-1]] + self.ground.n_rows
            stop = int(before.searchsorted(most, side="right")) - 1
            bounds.append(max(stop, bounds[-1] + 1))
        return [
            part_of(level, start, stop, self.ground.slots, paused)
            for start, stop in pairwise(bounds)
        ]

    def resume(self, level: Level) -> None:
        if level.paused is not None:
            self.instances.resume(level.paused)


def is_enough(score: np.ndarray, params: GrowthParams) -> np.ndarray:
    """Do splits of these scores gain what the user wants of a split?"""
    if params.by_chance and params.min_gain <= 0:  # a gain that allows for chance may be below 0
        enough = np.ones(score.shape, dtype=bool)
    else:
        enough = np.asarray(score >= params.min_gain - NO_GAIN)
    if params.stop_zero_gain or params.criterion in STOPPING:
        enough &= score > NO_GAIN
    return enough


def _of_frontier(level: Level) -> np.ndarray:
    """The rows of the nodes on the frontier, 0 for the others."""
    rows = np.zeros(level.n_nodes, dtype=np.int64)
    rows[level.frontier] = level.n_rows[level.frontier]
    return rows
