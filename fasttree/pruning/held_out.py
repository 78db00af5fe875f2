# SPDX-License-Identifier: BSD-3-Clause
"""Rows that a tree was not grown from: counted where they end, and what its predictions lose on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.base.sums import sums_by_group, total
from fasttree.base.values import short_repr, to_python
from fasttree.encoding.class_weights import at_stake
from fasttree.tables.factors import places_among
from fasttree.trees.regression_tree import RegressionTree
from fasttree.trees.traversal import errors_as_leaf, paths_upwards
from fasttree.trees.tree import Tree

FARTHEST = 1e70  # standard deviations: the square of a squared error is to be a number


@dataclass(frozen=True, slots=True, eq=False)
class HeldLosses:
    """What is lost on held-out rows if nodes predict for them; arrays over the nodes."""

    passing: np.ndarray  # on all the rows that come to a node
    ending: np.ndarray  # on those that go no further
    # The same with the square of each row's loss.
    passing_squares: np.ndarray
    ending_squares: np.ndarray
    weight: float  # of the rows, with class weights
    n_rows: float
    stake: float  # the most that could be lost on them, to tell what rounding comes to
    unit: float = 1.0  # what the tree calls a loss of 1, in the unit of these


def losses_of_counts(tree: Tree, held: Any) -> HeldLosses:
    """The losses of a tree of classes, from the class counts of the rows where they end."""
    held = check_held(tree, held)
    priors, below = tree.schema.priors, tree.subtree_sums(held)
    return HeldLosses(
        errors_as_leaf(tree, below),
        errors_as_leaf(tree, held),
        errors_as_leaf(tree, below, priors.squared()),
        errors_as_leaf(tree, held, priors.squared()),
        total(priors.weighted(held)),
        total(held),
        at_stake(priors, held),
    )


def losses_of_numbers(
    tree: RegressionTree,
    leaves: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    root: RegressionTree,
) -> HeldLosses:
    """The losses of a tree of numbers on rows with the target `y`, each of which ends at one of the `leaves`: squared
    errors, as shares of the mean squared error of `root`, the tree of all rows."""
    # Of numbers near 1: differences of large ones leave the range of float64.
    _, exponent = np.frexp(max(np.abs(y).max(), np.abs(root.prediction).max()))
    y, prediction = np.ldexp(y, -exponent), np.ldexp(tree.prediction, -exponent)
    whole = float(np.ldexp(root.error[0], -exponent)) or 1.0
    farthest = int(np.abs(y - prediction[0]).argmax())
    if abs(y[farthest] - prediction[0]) / whole > FARTHEST:
        raise ValueError(
            f"y_val contains {short_repr(float(np.ldexp(y[farthest], exponent)))}, which is more than {FARTHEST:g} "
            "standard deviations of y away from its mean: check its unit, or leave the row out"
        )
    passing, passing_squares, ending, ending_squares = np.zeros((4, tree.node_count))
    stake = 0.0
    # Step by step up from the leaves: sums that are rounded once are the same in any order of the rows.
    for step, (path, node) in enumerate(paths_upwards(tree, leaves)):
        loss = np.square((y[path] - prediction[node]) / whole)
        of_nodes = sums_by_group(node, loss, tree.node_count, weight[path])
        squares = sums_by_group(node, np.square(loss), tree.node_count, weight[path])
        passing += of_nodes
        passing_squares += squares
        if step == 0:
            ending, ending_squares = of_nodes, squares
            stake = total(of_nodes)
    n_rows = total(weight)
    unit = (np.ldexp(tree.error[0], -exponent) / whole) ** 2
    return HeldLosses(
        passing, ending, passing_squares, ending_squares, n_rows, n_rows, stake, float(unit)
    )


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
