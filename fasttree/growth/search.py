# SPDX-License-Identifier: BSD-3-Clause
"""Best split of every frontier node: a store of rows finds those of the attributes, and one is chosen for each node in
one fixed order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fasttree import _core
from fasttree.growth.candidates import SPLIT, Candidates, Chooser
from fasttree.growth.context import GrowthContext
from fasttree.growth.level import Level
from fasttree.growth.params import ROOT_GAIN
from fasttree.growth.rows import RowStore
from fasttree.growth.ties import best_first


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


class SplitSearch:
    """Finds the best split of every node of a level."""

    def __init__(
        self,
        context: GrowthContext,
        rows: RowStore,
        choosers: Sequence[Chooser],
        keeps_all: bool = False,
    ) -> None:
        """`choosers` judge the candidates one after the other. `keeps_all`: note what all of them are worth."""
        self.context = context
        self.rows = rows
        self.choosers = choosers
        self.is_relative = any(chooser.is_relative for chooser in choosers)
        self.keeps_all = keeps_all
        self.order = np.arange(context.n_attributes)  # equal ones: the first of them wins

    def search_level(self, level: Level, left_out: np.ndarray | None = None) -> BestSplits:
        """Move the rows into their new nodes and find the best split of every frontier node, but for those that are
        `left_out`."""
        n = len(level.frontier)
        best_splits = BestSplits(
            np.empty(n, np.int64), np.empty(n), np.empty(n, SPLIT), np.zeros(n, dtype=bool)
        )
        if self.keeps_all:
            gain, worth = np.empty((2, self.context.n_attributes, n))
            best_splits = replace(best_splits, gain=gain, worth=worth)
        if self.context.length_chooser is not None:
            eligible = self.context.length_chooser.eligible_if_closed(level, self.rows.varies)
            best_splits = replace(best_splits, eligible=eligible)
        drawn = None
        if level.keys is not None and self.context.params.draw is not None:
            keys = level.keys[level.frontier]
            drawn = self.context.params.draw.drawn(keys, self.context.n_attributes)
        if left_out is not None:
            drawn = np.broadcast_to(~left_out, (self.context.n_attributes, n))
        for part, candidates in self.rows.search(level, drawn):
            self._choose(level, part, candidates, best_splits)
        return best_splits

    def _choose(
        self, level: Level, part: slice, candidates: Candidates, best_splits: BestSplits
    ) -> None:
        """Choose the attribute of every node of a part of the frontier."""
        params = self.context.params
        nodes = level.frontier[part]
        if not self.context.is_all_numeric:
            best_splits.heuristic[part] = candidates.heuristic.any(axis=0)
        for chooser in self.choosers:
            chooser.adjust(level, nodes, candidates)
        if level.depth == 0 and params.ties == ROOT_GAIN:
            gain = candidates.gain if params.c45 else candidates.score
            self.order = best_first(gain[:, 0], params.tie, self.is_relative)
        if best_splits.eligible is not None:
            best_splits.eligible[nodes] = candidates.eligible
        if best_splits.gain is not None and best_splits.worth is not None:
            best_splits.gain[:, part] = candidates.gain
            best_splits.worth[:, part] = candidates.worth
        _core.choose_attributes(
            candidates.worth,
            self.order,
            params.tie,
            self.is_relative,
            candidates.score,
            candidates.split,
            best_splits.attribute[part],
            best_splits.score[part],
            best_splits.split[part],
        )
