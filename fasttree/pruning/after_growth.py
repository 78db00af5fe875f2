# SPDX-License-Identifier: BSD-3-Clause
"""Limits of growth that need the grown tree: splits that are not significant, and more leaves than there may be."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fasttree import _core
from fasttree.base import progress
from fasttree.base.checks import SELECTED
from fasttree.mml.message import TestOptions
from fasttree.pruning.naive_tests import p_values_of, significant_splits
from fasttree.trees.structure import AnyTree, TreeStructure
from fasttree.trees.tree import Tree
from fasttree.trees.whole_gain import whole_gain_of

if TYPE_CHECKING:
    from fasttree.growth.params import GrowthParams


def within_limits(
    tree: AnyTree,
    choices: TestOptions | None,
    params: GrowthParams,
    chance: Callable[[Tree], Callable[[np.ndarray], np.ndarray]],
    factor: np.ndarray | None,
) -> tuple[AnyTree, TestOptions | None]:
    """The tree that growth would have made, had it kept to `significance` and `max_leaves`, and the choices at its
    nodes. `chance`: of the grown tree what tells the p-values of nodes, for a test that reads the rows again; `factor`:
    what each class counts."""
    if params.significance is not None and isinstance(tree, Tree):
        progress.step(f"testing the splits of {tree.node_count:,} nodes")
        if params.significance_test == SELECTED:
            p_of = chance(tree)
        else:
            p_of = partial(p_values_of, tree, exact=params.exact_p)
        is_split = significant_splits(tree, params.significance, p_of)
        tree, choices = _cut_back(tree, choices, is_split)
    if tree.n_leaves > params.max_leaves:
        is_split = _best_first(tree, params.max_leaves, factor)
        tree, choices = _cut_back(tree, choices, is_split)
    return tree, choices


def _cut_back(
    tree: AnyTree, choices: TestOptions | None, is_split: np.ndarray
) -> tuple[AnyTree, TestOptions | None]:
    """The tree with some of its splits only, and the choices at the nodes that are left."""
    if choices is not None:
        assert isinstance(tree, Tree)
        choices = choices.of_subtree(tree, is_split)
    return tree.subtree(is_split), choices


def _best_first(tree: TreeStructure, max_leaves: int, factor: np.ndarray | None) -> np.ndarray:
    """The splits of best-first growth: nodes do not depend on each other, so it grows a part of the tree."""
    is_split = _core.best_first(
        tree.first_child,
        tree.n_children,
        np.ascontiguousarray(tree.multiplicity),
        whole_gain_of(tree, factor),
        max_leaves,
    )
    return np.frombuffer(is_split, dtype=bool)
