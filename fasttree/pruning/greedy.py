# SPDX-License-Identifier: BSD-3-Clause
"""Greedy removal: the cut that saves most errors, again and again."""

from __future__ import annotations

import math

import numpy as np

from fasttree import _core
from fasttree.base.sums import total
from fasttree.pruning.trace import Trace, trace_of
from fasttree.trees.traversal import leaves_below
from fasttree.trees.tree import Tree

_STEPS = 2.0**50  # at most so many in all errors together


def remove_greedily(
    tree: Tree,
    as_leaf: np.ndarray,
    ending: np.ndarray,
    *,
    spend_savings: bool,
    method: str,
    estimate: str,
) -> tuple[Tree, Trace]:
    """Make that node a leaf which saves most errors; ties: the fewest leaves, the deepest, the smallest number.

    `as_leaf` has the errors of each node as a leaf, `ending` the errors of the rows that end at each node now. It stops
    before a cut that would add errors; with `spend_savings`, before the tree would make more than at the beginning.
    """
    # Errors become whole steps of a power of two: sums are then exact, so that equal gains are equal.
    largest = max(float(as_leaf.max()), total(ending), 1e-250)
    scale = math.ldexp(1.0, math.frexp(_STEPS / largest)[1] - 1)
    errors = np.rint(as_leaf * scale).astype(np.int64)
    gain = tree.subtree_sums(np.rint(ending * scale).astype(np.int64)) - errors
    leaves = leaves_below(tree)
    node = np.empty(tree.node_count, dtype=np.int32)
    gains, n_leaves = np.empty((2, tree.node_count), dtype=np.int64)
    n_steps = _core.greedy_removal(
        tree.first_child,
        tree.n_children,
        tree.parent,
        tree.depth,
        gain,
        leaves,
        spend_savings,
        node,
        gains,
        n_leaves,
    )
    node = node[:n_steps]
    is_split = np.ones(tree.node_count, dtype=bool)
    is_split[node] = False
    after = errors[node] / scale
    before = (errors[node] + gains[:n_steps]) / scale
    trace = trace_of(tree, method, estimate, node, n_leaves[:n_steps] - 1, before, after)
    return tree.subtree(is_split), trace
