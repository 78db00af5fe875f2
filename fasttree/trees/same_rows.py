# SPDX-License-Identifier: BSD-3-Clause
"""Are held-out rows those that a tree was trained on? A model keeps neither these rows nor where they came from, but
how many of each class ended at each leaf."""

from __future__ import annotations

from typing import Any

import numpy as np

from fasttree.base.threads import ThreadTeam
from fasttree.tables.doubts import FEWEST_ROWS
from fasttree.tables.factors import places_among
from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.target import read_target
from fasttree.trees.paths import leaf_shares_of
from fasttree.trees.predict import ReadPolicy
from fasttree.trees.tree import Tree

FEWEST_COUNTS = 4  # above 0: of fewer, those of other rows may be the same by chance
NOISE = 1e-6  # of a row: what rounding leaves of rows that are shared out


def look_like_training(tree: Tree, X: Any, y: Any, name: str) -> bool:
    """Do the rows end at the leaves of the tree as its training rows did, as many of each class at each leaf?

    Rows of training that had weights, or of which the tree has only seen a part, are not found out. `name`: of the
    estimator, for messages.
    """
    leaves = np.flatnonzero(tree.is_leaf())
    counts = tree.counts[leaves]
    if np.count_nonzero(counts) < FEWEST_COUNTS:
        return False
    table = read_table_for_schema(X, tree.schema, name, "missing")
    if table.n_rows < FEWEST_ROWS or abs(counts.sum() - table.n_rows) > NOISE:
        return False
    target = read_target(y, table.n_rows)
    number = places_among(target.classes, tree.schema.classes)
    if (number < 0).any():
        return False
    with ThreadTeam(1) as team:
        leaf_shares = leaf_shares_of(tree, table, ReadPolicy(), team)
    found = np.zeros(tree.counts.shape)
    np.add.at(found, (leaf_shares.node, number[target.codes][leaf_shares.row]), leaf_shares.share)
    return bool((abs(found[leaves] - counts) <= NOISE).all())
