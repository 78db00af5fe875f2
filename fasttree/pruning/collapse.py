# SPDX-License-Identifier: BSD-3-Clause
"""What C4.5 takes back before it prunes: splits that save no training errors."""

from __future__ import annotations

import numpy as np

from fasttree.base.sums import total
from fasttree.encoding.class_weights import at_stake
from fasttree.trees.tree import Tree

LEAST_ERRORS = 1e-3  # that a subtree must save, of mistakes of mean cost


def collapse(tree: Tree) -> Tree:
    """The tree without the splits that save no training errors (or what they cost)."""
    errors = tree.schema.priors.risk(tree.counts, tree.pred)
    below = tree.subtree_sums(
        np.where(tree.is_leaf(), errors, 0.0)
    )  # of the leaves under each node
    root = tree.counts[0]
    least = LEAST_ERRORS * at_stake(tree.schema.priors, root) / total(root)
    return tree.subtree(below < errors - least)
