# SPDX-License-Identifier: BSD-3-Clause
"""Pruning by training errors plus a penalty for every leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fasttree.base.checks import check_number
from fasttree.base.hints import settings
from fasttree.base.sums import total
from fasttree.encoding.class_weights import at_stake
from fasttree.pruning.requirements import NOTHING
from fasttree.pruning.trace import Trace, cut_as_decided
from fasttree.trees.traversal import decide_bottom_up, errors_as_leaf
from fasttree.trees.tree import Tree


@settings
@dataclass(frozen=True, slots=True)
class LeafPenalty:
    """Pruning to the smallest generalisation error (errors + zeta * leaves) / rows.

    Parameters
    ----------
    zeta : float
        The penalty per leaf, in training errors. Equivalent to cost-complexity pruning at alpha = zeta / rows.
    """

    zeta: float = 0.5
    needs: ClassVar[str] = NOTHING

    def __post_init__(self) -> None:
        check_number("zeta", self.zeta, 0)


def generalisation_error(tree: Tree, zeta: float = 0.5) -> float:
    """(training errors + zeta * leaves) / rows."""
    LeafPenalty(zeta)
    errors = total(errors_as_leaf(tree, tree.counts)[tree.is_leaf()])
    return float((errors + zeta * tree.n_leaves) / tree.weight[0])


def leaf_penalty(tree: Tree, how: LeafPenalty | None = None) -> tuple[Tree, Trace]:
    """Return the pruning with the smallest generalisation error (in case of ties, the smallest tree) and its trace."""
    how = how or LeafPenalty()
    errors = errors_as_leaf(tree, tree.counts)
    as_leaf = errors + how.zeta
    ending = np.where(tree.is_leaf(), errors + how.zeta * tree.multiplicity, 0.0)
    tolerance = 1e-12 * at_stake(tree.schema.priors, tree.counts[0])
    decision = decide_bottom_up(tree, as_leaf, ending, tolerance)
    estimate = f"(errors + {how.zeta:g} per leaf) / rows"
    rows = float(tree.weight[0])
    return cut_as_decided(tree, decision, as_leaf, "leaf_penalty", estimate, rows)
