# SPDX-License-Identifier: BSD-3-Clause
"""The order in which a tree is printed: depth first, the branches of a node in their order."""

from __future__ import annotations

import numpy as np

from fasttree.base.ragged import begins
from fasttree.trees.tree import Tree


def printed_order(tree: Tree) -> np.ndarray:
    """The line of each node if the tree is printed, the root's is 0."""
    size = tree.subtree_sums(np.ones(tree.node_count, dtype=np.int64))
    line = np.zeros(tree.node_count, dtype=np.int64)
    for level in tree.nodes_by_depth()[1:]:
        parent = tree.parent[level]
        before = begins(size[level])
        # Sizes of the elder siblings: what stands before a node on its level, less what stands before the eldest.
        line[level] = line[parent] + 1 + before - before[tree.first_child[parent] - level.start]
    return line


def printed_leaves(tree: Tree) -> np.ndarray:
    """The leaves that have training rows, as they are printed."""
    leaves = np.flatnonzero(tree.is_leaf() & (tree.counts.sum(axis=1) > 0))
    return leaves[np.argsort(printed_order(tree)[leaves])]
