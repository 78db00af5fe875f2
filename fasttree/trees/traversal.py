# SPDX-License-Identifier: BSD-3-Clause
"""The levels of a tree from the bottom up, and the decision "leaf or subtree"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fasttree.base.sums import segment_sums
from fasttree.tables.schema import ClassPriors
from fasttree.trees.tree import Tree


@dataclass(frozen=True, slots=True)
class Level:
    """The splits of one level, and all the nodes of the next one: their children, adjacent and in the same order."""

    splits: np.ndarray
    children: slice
    offsets: np.ndarray  # where the children of each split begin

    def sums(self, values: np.ndarray) -> np.ndarray:
        """For each split the sum over its children."""
        return segment_sums(values[self.children], self.offsets)


def levels_upwards(tree: Tree) -> Iterator[Level]:
    """The levels that have splits, the deepest first."""
    splits = np.flatnonzero(~tree.is_leaf())
    for nodes, children in reversed(list(pairwise(tree.nodes_by_depth()))):
        first, last = np.searchsorted(splits, (nodes.start, nodes.stop))
        inner = splits[first:last]
        yield Level(inner, children, tree.first_child[inner] - children.start)


def leaves_below(tree: Tree) -> np.ndarray:
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
    leaves_removed: np.ndarray

    def nodes(self) -> np.ndarray:
        """The nodes cut, bottom-up."""
        return np.flatnonzero(self.cut)[::-1]


def decide_bottom_up(
    tree: Tree, as_leaf: np.ndarray, ending: np.ndarray, tolerance: float = 0.0
) -> Decision:
    """A node becomes a leaf if that is estimated no worse than its subtree, up to `tolerance`.

    `ending`: the estimate of what ends at each node of the tree as it is: everything at leaves, at inner nodes the
    rows that go no further.
    """
    best = ending.copy()
    leaves = np.where(tree.is_leaf(), tree.multiplicity, 0).astype(np.int64)
    decision = Decision(
        np.zeros(tree.node_count, dtype=bool),
        np.zeros(tree.node_count, dtype=best.dtype),
        np.zeros(tree.node_count, dtype=np.int64),
    )
    for level in levels_upwards(tree):
        nodes = level.splits
        below = best[nodes] + level.sums(best)
        n_leaves = level.sums(leaves)
        cut = as_leaf[nodes] <= below + tolerance
        decision.cut[nodes] = cut
        decision.before[nodes] = below
        decision.leaves_removed[nodes] = n_leaves - 1
        best[nodes] = np.where(cut, as_leaf[nodes], below)
        leaves[nodes] = np.where(cut, 1, n_leaves)
    return decision
