# SPDX-License-Identifier: BSD-3-Clause
"""The walks over a tree: levels from the bottom up, paths up to the root, the order in which it is printed, and the
decision "leaf or subtree". (Sums over subtrees and paths are methods of the tree.)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fasttree.base.ragged import begins
from fasttree.base.sums import segment_sums
from fasttree.tables.schema import ClassPriors
from fasttree.trees.structure import TreeStructure
from fasttree.trees.tree import Tree


@dataclass(frozen=True, slots=True)
class SiblingGroups:
    """Some splits, such as those of one level, and their children, adjacent and in the same order."""

    splits: np.ndarray
    children: slice
    offsets: np.ndarray  # where the children of each split begin

    def sums(self, values: np.ndarray) -> np.ndarray:
        """For each split the sum over its children."""
        return segment_sums(values[self.children], self.offsets)


def all_siblings(tree: TreeStructure) -> SiblingGroups:
    """All the splits, and all the nodes but the root: what does not depend on what was found below needs no levels."""
    splits = np.flatnonzero(~tree.is_leaf())
    return SiblingGroups(splits, slice(1, tree.node_count), tree.first_child[splits] - 1)


def levels_upwards(tree: TreeStructure) -> Iterator[SiblingGroups]:
    """The levels that have splits, the deepest first."""
    splits = np.flatnonzero(~tree.is_leaf())
    for nodes, children in reversed(list(pairwise(tree.nodes_by_depth()))):
        first, last = np.searchsorted(splits, (nodes.start, nodes.stop))
        inner = splits[first:last]
        yield SiblingGroups(inner, children, tree.first_child[inner] - children.start)


def paths_upwards(
    tree: TreeStructure, nodes: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The paths from some nodes up to the root, one step of all of them at a time: the numbers of the paths that are
    that long, and the node that each has come to, at first the node itself. A node of -1 has no path."""
    path, node = np.arange(len(nodes)), nodes
    while True:
        goes_on = node >= 0
        path, node = path[goes_on], node[goes_on]
        if not len(node):
            return
        yield path, node
        node = tree.parent[node]


def ends_at_depths(tree: TreeStructure, nodes: np.ndarray, deepest: int) -> Iterator[np.ndarray]:
    """Where paths that end at some nodes would end if the tree went no deeper than `deepest`, one less, ..., 0."""
    for depth in range(deepest, -1, -1):
        while (is_deeper := tree.depth[nodes] > depth).any():
            nodes = np.where(is_deeper, tree.parent[nodes], nodes)
        yield nodes


def sums_before(tree: TreeStructure, values: np.ndarray) -> np.ndarray:
    """For each node the sum of whole numbers over the nodes that are printed before it: depth first, the branches of a
    node in their order."""
    parent = tree.parent[1:]
    before = begins(tree.subtree_sums(values))  # siblings are adjacent
    steps = np.zeros_like(values)
    steps[1:] = values[parent] + before[1:] - before[tree.first_child[parent]]
    return tree.path_sums(steps)


def printed_order(tree: TreeStructure) -> np.ndarray:
    """The line of each node if the tree is printed, the root's is 0."""
    return sums_before(tree, np.ones(tree.node_count, dtype=np.int64))


def printed_leaves(tree: TreeStructure) -> np.ndarray:
    """The leaves that have training rows, as they are printed."""
    leaves = np.flatnonzero(tree.is_leaf() & (tree.weight > 0))
    return leaves[np.argsort(printed_order(tree)[leaves])]


def leaves_below(tree: TreeStructure) -> np.ndarray:
    """The leaves under each node, as people count them; a leaf has itself."""
    return tree.subtree_sums(np.where(tree.is_leaf(), tree.multiplicity, 0).astype(np.int64))


def errors_as_leaf(tree: Tree, counts: np.ndarray, priors: ClassPriors | None = None) -> np.ndarray:
    """What each node's label gets wrong of `counts[node, class]`, by the tree's priors or others."""
    return (priors or tree.schema.priors).risk(counts, tree.pred)


@dataclass(frozen=True, slots=True)
class Decision:
    """Which splits are cut, with what they were compared with; arrays over the nodes."""

    cut: np.ndarray
    before: np.ndarray  # the estimate of the subtree, after the cuts below
    best: np.ndarray  # the smaller one of that and the estimate as a leaf: of what is left
    leaves_removed: np.ndarray

    def nodes(self) -> np.ndarray:
        """The nodes cut, bottom-up."""
        return np.flatnonzero(self.cut)[::-1]


def decide_bottom_up(
    tree: TreeStructure,
    as_leaf: np.ndarray,
    ending: np.ndarray,
    tolerance: float = 0.0,
    relative: float = 0.0,
) -> Decision:
    """A node becomes a leaf if that is estimated no worse than its subtree, up to `tolerance`, and `relative` times the
    larger of the two.

    `ending`: the estimate of what ends at each node of the tree as it is: everything at leaves, at inner nodes the
    rows that go no further.
    """
    best = ending.copy()
    leaves = np.where(tree.is_leaf(), tree.multiplicity, 0).astype(np.int64)
    decision = Decision(
        np.zeros(tree.node_count, dtype=bool),
        np.zeros(tree.node_count, dtype=best.dtype),
        best,
        np.zeros(tree.node_count, dtype=np.int64),
    )
    for level in levels_upwards(tree):
        nodes = level.splits
        below = best[nodes] + level.sums(best)
        n_leaves = level.sums(leaves)
        slack = relative * np.maximum(np.abs(below), np.abs(as_leaf[nodes])) if relative else 0.0
        cut = as_leaf[nodes] <= below + (tolerance + slack)
        decision.cut[nodes] = cut
        decision.before[nodes] = below
        decision.leaves_removed[nodes] = n_leaves - 1
        best[nodes] = np.where(cut, as_leaf[nodes], below)
        leaves[nodes] = np.where(cut, 1, n_leaves)
    return decision
