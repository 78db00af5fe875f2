# SPDX-License-Identifier: BSD-3-Clause
"""A test during growth: no split that chance would bring as well."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fasttree.base.ragged import flat_indices
from fasttree.stats.significance import p_values
from fasttree.trees.tree import Tree


def significant_splits(
    tree: Tree, level: float, p_of: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """The splits that growth would have made, had it stopped at each node whose chosen split is not significant; `p_of`
    has the p-values of nodes.

    A node does not depend on what becomes of others, so growing first and then leaving out, from the root down, is the
    same. Only the splits that are still there are tested: exact tests are dear.
    """
    is_split = np.zeros(tree.node_count, dtype=bool)
    alive = np.zeros(1, dtype=np.int64)
    while len(alive := alive[tree.first_child[alive] >= 0]):
        alive = alive[p_of(alive) < level]
        is_split[alive] = True
        alive = flat_indices(tree.first_child[alive], tree.n_children[alive].astype(np.int64))
    return is_split


def p_values_of(tree: Tree, nodes: np.ndarray, exact: bool | None = None) -> np.ndarray:
    """The p-values of the splits of nodes: how often chance alone would tell the branches apart as much, as if nobody
    had chosen the split, see `fasttree.stats.significance.p_values`."""
    p = np.empty(len(nodes))
    n_children = tree.n_children[nodes]
    for n in np.unique(n_children).tolist():
        with_n = np.flatnonzero(n_children == n)
        children = tree.first_child[nodes[with_n], np.newaxis] + np.arange(n)
        p[with_n] = p_values(tree.counts[children], exact=exact)
    return p
