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
from fasttree.growth.level import Level, mark_tested, sums_by_group
from fasttree.growth.search import SplitSearch
from fasttree.growth.split import Children, Splitter

LayOut = Callable[[Level, np.ndarray, Children], Level]


class Lookahead:
    """Scores a split by what its children can come to: a chooser of a `SplitSearch`."""

    def __init__(self, search: SplitSearch, trial: SplitSearch, lay_out: LayOut) -> None:
        """`trial`: another evaluator of the same fit, whose rows may be moved about; `lay_out`: a level of children."""
        self.search = search
        self.trial = trial
        self.lay_out = lay_out

    def adjusted_score(
        self, level: Level, nodes: np.ndarray, score: np.ndarray, cut: np.ndarray
    ) -> np.ndarray:
        """What is left of the lengths of one-level subtrees, [attribute, node], if children may be split once more."""
        adjusted = score.copy()
        for attribute in range(len(score)):
            here = np.flatnonzero(np.isfinite(score[attribute]))
            if len(here):
                adjusted[attribute, here] += self._saved(
                    level, nodes[here], attribute, cut[attribute, here]
                )
        return adjusted

    def _saved(
        self, level: Level, nodes: np.ndarray, attribute: int, cut: np.ndarray
    ) -> np.ndarray:
        """How many bits shorter a subtree gets by splitting its children where that is shorter than a leaf."""
        trial, context = self.trial, self.trial.context
        assert trial.length_chooser is not None
        trial.row_buffers.copy_from(self.search.row_buffers)
        trial.order = self.search.order
        attributes = np.full(len(nodes), attribute)
        children = Splitter(context).split(level, nodes, attributes, cut)
        group = np.repeat(np.arange(len(nodes)), lengths(children.first_child))
        assert children.n_branches is not None
        below = replace(
            self.lay_out(level, nodes, children),
            tested=mark_tested(level, nodes, attributes, group),
            siblings=children.n_branches[group],
        )
        data = below.stats.loss / (context.criterion.unit * context.steps_per_unit)
        eligible = self.search.eligible[nodes]
        is_leaf = trial.length_chooser.leaf_bits(attributes, children.n_branches, eligible)[group]
        saved = np.zeros(below.n_nodes)
        best_splits = trial.search_level(below)
        found = best_splits.attribute >= 0
        split = below.frontier[found]
        saved[split] = np.maximum(data[split] + is_leaf[split] + best_splits.score[found], 0.0)
        return sums_by_group(saved, children.first_child)
