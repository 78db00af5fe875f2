# SPDX-License-Identifier: BSD-3-Clause
"""Smaller trees with the same predictions, and cuts by hand."""

from __future__ import annotations

import numbers
from collections.abc import Iterable

import numpy as np

from fasttree.base.values import short_repr
from fasttree.pruning.trace import Trace, trace_of
from fasttree.trees.regression_tree import RegressionTree
from fasttree.trees.structure import AnyTree, TreeStructure
from fasttree.trees.traversal import errors_as_leaf, leaves_below, levels_upwards
from fasttree.trees.tree import Tree


def simplify(tree: AnyTree) -> tuple[AnyTree, Trace]:
    """Return the tree without the splits that do not change any prediction; class probabilities may change.

    A subtree is removed if all its nodes predict the same class, or number. Where rows are distributed fractionally
    over branches, a prediction is an average of several leaves: below such a split, the class probabilities must be
    equal as well.
    """
    if isinstance(tree, Tree):
        answer, shares = tree.pred, tree.proba
    else:
        assert isinstance(tree, RegressionTree)
        answer, shares = tree.prediction, tree.value[:, 0]
    same_class, same_shares = tree.is_leaf(), tree.is_leaf()
    for level in levels_upwards(tree):
        children = np.arange(level.children.start, level.children.stop)
        parent = tree.parent[children]
        alike = same_class[children] & (answer[children] == answer[parent])
        same_class[level.splits] = np.logical_and.reduceat(alike, level.offsets)
        alike &= same_shares[children] & (shares[children] == shares[parent]).all(axis=1)
        same_shares[level.splits] = np.logical_and.reduceat(alike, level.offsets)
    cut = np.where(below_shared_split(tree), same_shares, same_class) & ~tree.is_leaf()
    # Of nested cuts only the outermost is a step: the others come to the same.
    outermost = cut & ~np.where(tree.parent >= 0, cut[tree.parent], False)
    return _cut_at(tree, np.flatnonzero(outermost), "simplify")


def snip(tree: AnyTree, node_ids: Iterable[int]) -> tuple[AnyTree, Trace]:
    """Return the tree in which these nodes are leaves."""
    cut = np.zeros(tree.node_count, dtype=bool)
    is_leaf = tree.is_leaf()
    for node in node_ids:
        if not isinstance(node, numbers.Integral) or isinstance(node, bool):
            raise TypeError(f"node_ids must contain integers, got {short_repr(node)}")
        if not 0 <= node < tree.node_count:
            raise ValueError(
                f"node_ids contains {int(node)}, but the nodes of the tree are 0 to {tree.node_count - 1}"
            )
        if is_leaf[node]:
            raise ValueError(
                f"node_ids contains {int(node)}, which is already a leaf: pass inner nodes only"
            )
        cut[node] = True
    return _cut_at(tree, np.flatnonzero(cut & tree.kept_nodes(~cut)), "snip")


def below_shared_split(tree: TreeStructure) -> np.ndarray:
    """Which nodes are reached by shares of rows: some split above lets rows without a value down every branch."""
    return ~tree.kept_nodes((tree.missing_branch >= 0) | tree.is_leaf())


def _cut_at(tree: AnyTree, nodes: np.ndarray, method: str) -> tuple[AnyTree, Trace]:
    if isinstance(tree, Tree):
        errors, estimate = errors_as_leaf(tree, tree.counts), "training errors"
    else:
        assert isinstance(tree, RegressionTree)
        errors, estimate = tree.relative_deviance(), "squared errors, as a share of the root's"
    below = tree.subtree_sums(np.where(tree.is_leaf(), errors, 0.0))
    is_split = np.ones(tree.node_count, dtype=bool)
    is_split[nodes] = False
    removed = leaves_below(tree)[nodes] - 1
    trace = trace_of(tree, method, estimate, nodes, removed, below[nodes], errors[nodes])
    return tree.subtree(is_split), trace
