# SPDX-License-Identifier: BSD-3-Clause
"""Greedy removal of the nodes that do not help in cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fasttree.base.hints import settings
from fasttree.pruning.greedy import remove_greedily
from fasttree.pruning.requirements import FOLDS, check_folds
from fasttree.pruning.trace import Trace
from fasttree.trees.traversal import ends_at_depths
from fasttree.trees.tree import Tree


@settings
@dataclass(frozen=True, slots=True)
class CrossValidated:
    """Greedy pruning by cross-validated errors.

    Parameters
    ----------
    folds : None, int, array of fold numbers, or (train, test) splits
        One tree is grown without each fold. None: 10, or as many as the smallest class has rows.

    Notes
    -----
    Every row is classified by a tree that was grown without it: the one for the row's fold. That tree gives
    the row a class at every depth, the label of the node that it passes there (below its leaf, the leaf's). A node of
    the tree to be pruned, at depth d, is then compared with its subtree on the rows that reach it: as a leaf it makes
    the errors of their classes at depth d, as a subtree those of their classes at the end of their paths. The nodes are
    removed as in greedy reduced-error pruning: always the one that reduces errors most, until a removal would increase
    them.
    """

    folds: Any = None
    needs: ClassVar[str] = FOLDS

    def __post_init__(self) -> None:
        check_folds(self.folds)


@dataclass(frozen=True, slots=True, eq=False)
class FoldRows:
    """The rows of one fold, and the tree that was grown without them."""

    tree: Tree
    leaves: np.ndarray  # where each row ends in that tree ...
    leaves_of_all: np.ndarray  # ... and in the tree to be pruned
    codes: np.ndarray  # class numbers
    weights: np.ndarray | None = None


def cross_validated(tree: Tree, folds: Iterable[FoldRows]) -> tuple[Tree, Trace]:
    """Return the pruned tree and its trace. Each training row of the tree must be in one fold."""
    as_leaf, ending = np.zeros((2, tree.node_count))
    n_folds = 0
    for fold in folds:
        _add_errors(tree, fold, as_leaf, ending)
        n_folds += 1
    if n_folds < 2:
        raise ValueError(f"cross-validation needs at least 2 folds, got {n_folds}")
    return remove_greedily(
        tree,
        as_leaf,
        ending,
        spend_savings=False,
        method="cross_validated",
        estimate="cross-validated errors",
    )


def _add_errors(tree: Tree, fold: FoldRows, as_leaf: np.ndarray, ending: np.ndarray) -> None:
    """Walk both trees upwards from where each row ends, side by side once they are at one depth."""
    costs = row_costs(tree)
    weights = np.ones(len(fold.codes)) if fold.weights is None else fold.weights
    node, fold_node = fold.leaves_of_all, fold.leaves
    wrong = weights * costs[fold.codes, fold.tree.pred[fold_node]]
    ending += np.bincount(node, weights=wrong, minlength=tree.node_count)
    deepest = int(tree.depth[node].max(initial=0))
    ways = ends_at_depths(tree, node, deepest), ends_at_depths(fold.tree, fold_node, deepest)
    for back, (node, fold_node) in enumerate(zip(*ways, strict=True)):
        at = np.flatnonzero(tree.depth[node] == deepest - back)
        wrong = weights[at] * costs[fold.codes[at], fold.tree.pred[fold_node[at]]]
        as_leaf += np.bincount(node[at], weights=wrong, minlength=tree.node_count)


def row_costs(tree: Tree) -> np.ndarray:
    """What a row of a class costs that gets another label, [true, predicted]."""
    n_classes = tree.counts.shape[1]
    one_each = np.eye(n_classes)
    label = [np.full(n_classes, predicted) for predicted in range(n_classes)]
    return np.column_stack([tree.schema.priors.risk(one_each, each) for each in label])
