# SPDX-License-Identifier: BSD-3-Clause
"""Growth by message length that looks one level ahead: a split is judged by what its children can come to.

Every attribute's best split is tried on a copy of the level's rows, all the nodes at a time: as many more levels to
evaluate as there are attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fasttree.base.ragged import sizes
from fasttree.growth.level import Level, family_sums, note_measured
from fasttree.growth.search import Evaluator
from fasttree.growth.split import Children, Splitter

LayOut = Callable[[Level, np.ndarray, Children], Level]


class Lookahead:
    """The judge of an `Evaluator`'s splits."""

    def __init__(self, evaluator: Evaluator, trial: Evaluator, lay_out: LayOut) -> None:
        """`trial`: another evaluator of the same fit, whose rows may be moved about; `lay_out`: a level of children."""
        self.evaluator = evaluator
        self.trial = trial
        self.lay_out = lay_out

    def worth(
        self, level: Level, nodes: np.ndarray, score: np.ndarray, cut: np.ndarray
    ) -> np.ndarray:
        """What is left of the lengths of one-level subtrees, [attribute, node], if children may be split once more."""
        worth = score.copy()
        for attribute in range(len(score)):
            here = np.flatnonzero(np.isfinite(score[attribute]))
            if len(here):
                worth[attribute, here] += self._saved(
                    level, nodes[here], attribute, cut[attribute, here]
                )
        return worth

    def _saved(
        self, level: Level, nodes: np.ndarray, attribute: int, cut: np.ndarray
    ) -> np.ndarray:
        """How many bits shorter a subtree gets by splitting its children where that is shorter than a leaf."""
        trial, ground = self.trial, self.trial.ground
        assert trial.lengths is not None
        trial.instances.copy_from(self.evaluator.instances)
        trial.order = self.evaluator.order
        attributes = np.full(len(nodes), attribute)
        children = Splitter(ground).split(level, nodes, attributes, cut)
        family = np.repeat(np.arange(len(nodes)), sizes(children.first_child))
        assert children.n_branches is not None
        below = replace(
            self.lay_out(level, nodes, children),
            measured=note_measured(level, nodes, attributes, family),
            siblings=children.n_branches[family],
        )
        data = below.sums.cost / (ground.measure.unit * ground.per_unit)
        eligible = self.evaluator.eligible[nodes]
        is_leaf = trial.lengths.leaf_bits(attributes, children.n_branches, eligible)[family]
        saved = np.zeros(below.n_nodes)
        winners = trial.evaluate(below)
        found = winners.attribute >= 0
        split = below.frontier[found]
        saved[split] = np.maximum(data[split] + is_leaf[split] + winners.score[found], 0.0)
        return family_sums(saved, children.first_child)
