# SPDX-License-Identifier: BSD-3-Clause
"""Growth by message length that looks one level ahead: a split is judged by what its children can come to.

Every attribute's best split is tried on a copy of the level's rows, all the nodes at a time: as many more levels to
evaluate as there are attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fasttree.base.ragged import lengths
from fasttree.growth.candidates import Candidates
from fasttree.growth.children import Children
from fasttree.growth.level import Level, mark_tested, sums_by_group
from fasttree.growth.memory_rows import MemoryRows
from fasttree.growth.search import SplitSearch

LayOut = Callable[[Level, np.ndarray, Children], Level]


class Lookahead:
    """Scores a split by what its children can come to, if they may be split once more."""

    is_relative = True

    def __init__(
        self, search: SplitSearch, rows: MemoryRows, trial_rows: MemoryRows, lay_out: LayOut
    ) -> None:
        """`search`: who asks; `rows`: where; `trial_rows`: a store that may be written over; `lay_out`: a level of
        children."""
        self.search = search
        self.rows = rows
        self.trial_rows = trial_rows
        self.trial = SplitSearch(search.context, trial_rows, list(search.choosers))
        self.lay_out = lay_out

    def adjust(self, level: Level, nodes: np.ndarray, candidates: Candidates) -> None:
        """The score is what is left of the lengths of one-level subtrees if their leaves may be split."""
        assert candidates.eligible is not None
        adjusted = candidates.score.copy()
        for attribute, score in enumerate(adjusted):
            found = np.flatnonzero(np.isfinite(score))
            if len(found):
                split, eligible = candidates.split[attribute, found], candidates.eligible[found]
                score[found] += self._saved(level, nodes[found], attribute, split, eligible)
        candidates.score = candidates.worth = adjusted

    def _saved(
        self,
        level: Level,
        nodes: np.ndarray,
        attribute: int,
        split: np.ndarray,
        eligible: np.ndarray,
    ) -> np.ndarray:
        """How many bits shorter a subtree gets by splitting its children where that is shorter than a leaf."""
        trial, context = self.trial, self.trial.context
        assert context.length_chooser is not None
        self.trial_rows.copy_from(self.rows)
        trial.order = self.search.order
        attributes = np.full(len(nodes), attribute)
        children = self.trial_rows.apply(level, nodes, attributes, split)
        group = np.repeat(np.arange(len(nodes)), lengths(children.first_child))
        assert children.n_branches is not None
        below = replace(
            self.lay_out(level, nodes, children),
            tested=mark_tested(level, nodes, attributes, group),
            siblings=children.n_branches[group],
        )
        data = below.stats.loss / (context.criterion.unit * context.steps_per_unit)
        is_leaf = context.length_chooser.leaf_bits(attributes, children.n_branches, eligible)[group]
        saved = np.zeros(below.n_nodes)
        best_splits = trial.search_level(below)
        found = best_splits.attribute >= 0
        again = below.frontier[found]
        saved[again] = np.maximum(data[again] + is_leaf[again] + best_splits.score[found], 0.0)
        return sums_by_group(saved, children.first_child)
