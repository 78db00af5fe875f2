# SPDX-License-Identifier: BSD-3-Clause
"""Rows that a tree was not grown from, counted where they end."""

from __future__ import annotations

from typing import Any

import numpy as np

from fasttree.base.values import short_repr, to_python
from fasttree.tables.factors import places_among
from fasttree.trees.tree import Tree


def held_out_counts(
    tree: Tree, leaves: np.ndarray, codes: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return ``held[node, class]``: the weight of the rows whose path ends at each node.

    `leaves` contains the node of each row (as `apply` returns it), `codes` the number of its class, as in the tree's
    schema. A row that is distributed fractionally over several leaves may be given once for each, with a share of its
    weight.
    """
    n_classes = tree.counts.shape[1]
    if len(leaves) == 0:
        raise ValueError("the validation rows are empty: give at least one row")
    if len(codes) != len(leaves) or (weights is not None and len(weights) != len(leaves)):
        n_weights = "" if weights is None else f" and {len(weights)} weights"
        raise ValueError(
            f"the validation rows must have one node, one class and one weight each, got {len(leaves)} nodes, "
            f"{len(codes)} classes{n_weights}"
        )
    _check_range(leaves, tree.node_count, "node")
    _check_range(codes, n_classes, "class")
    cell = np.asarray(leaves, dtype=np.int64) * n_classes + codes
    held = np.bincount(cell, weights=weights, minlength=tree.node_count * n_classes)
    if weights is not None and not held.any():
        raise ValueError(
            "all validation rows have weight 0: give at least one row a weight above 0"
        )
    return held.reshape(tree.node_count, n_classes).astype(np.float64)


def codes_of_classes(labels: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the class numbers of validation rows among the `classes` of a model.

    `labels` are the classes of the validation rows, and `codes` the index of each row's class among them.
    """
    numbers = places_among(labels, classes)
    if (numbers < 0).any():
        unseen = to_python(labels[int(numbers.argmin())])
        raise ValueError(
            f"y_val contains the class {short_repr(unseen)}, which was not seen at fit: the classes are "
            f"{short_repr(list(map(to_python, classes)))}. Leave such rows out, or train with some of them"
        )
    return numbers[codes]


def check_held(tree: Tree, held: Any) -> np.ndarray:
    """`held` as floats, in the shape of the tree's class counts."""
    counts = np.asarray(held, dtype=np.float64)
    if counts.shape != tree.counts.shape:
        raise ValueError(
            f"the held-out counts must have the shape {tree.counts.shape} (nodes, classes), got {counts.shape}: "
            "compute them with held_out_counts for this tree"
        )
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError("the held-out counts must be finite numbers >= 0")
    if not counts.any():
        raise ValueError("the validation rows are empty: give at least one row")
    return counts


def _check_range(numbers: np.ndarray, n: int, what: str) -> None:
    least, most = int(np.min(numbers)), int(np.max(numbers))
    if least < 0 or most >= n:
        wrong = least if least < 0 else most
        raise ValueError(
            f"a validation row has the {what} number {wrong}, but the "
            f"{'nodes' if what == 'node' else 'classes'} of the tree are 0 to {n - 1}: use validation rows of this tree"
        )
