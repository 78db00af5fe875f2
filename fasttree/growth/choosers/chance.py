# SPDX-License-Identifier: BSD-3-Clause
"""Growth by measures that allow for chance: information gain (or gini) finds the best split of each attribute, and the
measure of its table of branches and classes decides between the attributes."""

from __future__ import annotations

import numpy as np

from fasttree.base.ragged import lengths
from fasttree.growth.candidates import Candidates
from fasttree.growth.context import GrowthContext
from fasttree.growth.level import Level, sums_by_group
from fasttree.growth.rows import RowStore
from fasttree.stats.chance import score_tables

MOST_CELLS = 2**21  # of tables that are scored together


class ChanceAdjustedChooser:
    """Scores a split by the table of its branches and classes, with an allowance for chance."""

    is_relative = False

    def __init__(self, context: GrowthContext, rows: RowStore) -> None:
        self.context = context
        self.rows = rows

    def adjust(self, level: Level, nodes: np.ndarray, candidates: Candidates) -> None:
        """The score is the measure of the splits that there are."""
        adjusted = np.full(candidates.score.shape, -np.inf)
        for attribute, score in enumerate(candidates.score):
            found = np.flatnonzero(np.isfinite(score))
            if len(found):
                attributes = np.full(len(found), attribute)
                split = candidates.split[attribute, found]
                adjusted[attribute, found] = self._scores(level, nodes[found], attributes, split)
        candidates.score = candidates.worth = adjusted

    def _scores(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, split: np.ndarray
    ) -> np.ndarray:
        context = self.context
        children = self.rows.describe(level, nodes, attribute, split)
        # As many rows as there are, however much more the classes of some count.
        unit = level.stats.total[nodes] / (level.stats.limit_weight[nodes] / context.steps_per_unit)
        n_children = lengths(children.first_child)
        counts = children.counts / np.repeat(unit, n_children)[:, np.newaxis]
        known = sums_by_group(children.counts.sum(axis=1), children.first_child)
        missing = (level.stats.total[nodes] - known) / unit
        score = np.empty(len(nodes))
        order = np.argsort(n_children, kind="stable")  # tables of about the same height together
        start = 0
        while start < len(order):
            height = int(n_children[order[start]])
            stop = int(np.searchsorted(n_children[order], 2 * height, side="right"))
            stop = min(stop, start + max(1, MOST_CELLS // (2 * height * counts.shape[1])))
            some = order[start:stop]
            tables = np.zeros((len(some), int(n_children[some].max()), counts.shape[1]))
            place = np.arange(tables.shape[1])
            is_there = place < n_children[some][:, np.newaxis]
            rows = children.first_child[some][:, np.newaxis] + place
            tables[is_there] = counts[rows[is_there]]
            score[some] = score_tables(context.params.criterion, tables, missing=missing[some])
            start = stop
        return score
