# SPDX-License-Identifier: BSD-3-Clause
"""What C4.5 does in its own way: the choice among the attributes of a node, and what it takes back afterwards."""

from __future__ import annotations

import numpy as np

from fasttree.base.sums import sums, total
from fasttree.encoding.class_weights import at_stake
from fasttree.growth.params import GrowthParams
from fasttree.trees.tree import Tree

BELOW_AVERAGE = 1e-3  # an attribute may gain so much less than the average and still be chosen
LEAST_SPLIT_INFORMATION = 1e-3
LEAST_GAP = 1e-5  # between the values on both sides of a cut, at least
MANY_VALUES = 0.3  # of the rows: an attribute with so many levels says nothing about the average
LEAST_ERRORS = 1e-3  # that a subtree must save, of mistakes of mean cost
SIDE_SHARE = 0.1  # of the rows a class: least size of the sides of a threshold ...
SIDE_MOST = 25  # ... but not more than this, even if other branches must weigh more


def least_of_many(size: float) -> float:
    """The levels from which on an attribute of a table with rows of this weight has many, but for what the rounding of
    weights takes."""
    return MANY_VALUES * size * (1 - 1e-6)


def adjusted_score(
    gain: np.ndarray,
    split: np.ndarray,
    must_gain: np.ndarray,
    has_many_values: np.ndarray,
    params: GrowthParams,
) -> np.ndarray:
    """What the search maximises at each node, [attribute, node]; -inf: the attribute may not be chosen.

    `gain` is less the price of the choice of a threshold; one that it makes worthless is no candidate, and counts for
    nothing in the average. So it is with every attribute that `must_gain`. By ratio, only attributes of about average
    gain or more compete, or one that splits next to nothing off might win.
    """
    tie = params.tie
    # Release 8 takes what is best, even if that gains nothing (its search starts below 0); J48 does not.
    least = tie if params.compat else -tie
    eligible = np.isfinite(gain) & ~(must_gain[:, np.newaxis] & (gain <= tie))
    if params.criterion != "gain_ratio":
        return np.where(eligible & (gain > least), gain, -np.inf)
    counts = eligible if has_many_values.all() else eligible & ~has_many_values[:, np.newaxis]
    n = counts.sum(axis=0)
    average = np.where(n > 0, sums(np.where(counts, gain, 0.0), 0) / np.maximum(n, 1), np.inf)
    eligible &= (gain >= average - BELOW_AVERAGE) & (split > LEAST_SPLIT_INFORMATION)
    ratio = gain / np.where(eligible, split, 1.0)
    return np.where(eligible & (ratio > least), ratio, -np.inf)


def collapse(tree: Tree) -> Tree:
    """The tree without the splits that save no training errors (or what they cost)."""
    errors = tree.schema.priors.risk(tree.counts, tree.pred)
    below = tree.subtree_sums(
        np.where(tree.is_leaf(), errors, 0.0)
    )  # of the leaves under each node
    root = tree.counts[0]
    least = LEAST_ERRORS * at_stake(tree.schema.priors, root) / total(root)
    return tree.subtree(below < errors - least)
