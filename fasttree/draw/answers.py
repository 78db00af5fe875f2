# SPDX-License-Identifier: BSD-3-Clause
"""What texts and drawings say of the answer of a node: its class or its number, and on how many rows it rests."""

from __future__ import annotations

from fasttree.base.quoting import readable
from fasttree.base.text import number_text, weight_text
from fasttree.draw.branches import WriteNumber
from fasttree.trees.regression_tree import RegressionTree
from fasttree.trees.tree import Tree

Drawn = Tree | RegressionTree

OF_CLASSES = "After a class: the weight of the training rows there and, after the slash, of those with another class."
OF_NUMBERS = (
    "After a prediction: the weight of the training rows there, and the standard deviation of their target, which is "
    "smaller than that of new rows."
)


def answer_text(tree: Drawn, node: int, write: WriteNumber = number_text) -> str:
    """What a node predicts."""
    if isinstance(tree, RegressionTree):
        return write(float(tree.prediction[node]), None)
    return readable(tree.schema.classes[tree.pred[node]])


def evidence_text(tree: Drawn, node: int) -> str:
    """The weight of the training rows of a node, and how far they are from its answer."""
    total = float(tree.weighted_n_node_samples[node])
    if isinstance(tree, RegressionTree):
        error = float(tree.error[node])
        return weight_text(total) + (f", sd {deviation_text(error)}" if error > 0 else "")
    errors = total - float(tree.counts[node, tree.pred[node]])
    # Fractional weights stand on a grid; its noise is no error.
    return weight_text(total) + (f"/{weight_text(errors)}" if errors > 1e-9 * total else "")


def deviation_text(value: float) -> str:
    """A standard deviation, of which three digits are enough."""
    return f"{value:.3g}"


def rows_text(weight: float) -> str:
    """So many rows, for a drawing."""
    rows = f"{weight:,.0f}" if weight >= 100 else weight_text(weight)
    return f"{rows} row" if rows == "1" else f"{rows} rows"


def relative_height(tree: RegressionTree, node: int) -> float:
    """Where the prediction of a node is between the lowest and the highest of all nodes: from 0 to 1."""
    low, high = float(tree.prediction.min()), float(tree.prediction.max())
    return (float(tree.prediction[node]) - low) / (high - low) if high > low else 1.0


def scale_text(tree: RegressionTree) -> str:
    """What the bar of such a height means."""
    low, high = float(tree.prediction.min()), float(tree.prediction.max())
    if low == high:
        return f"mean {low:.4g}"
    return f"mean: {low:.4g} (no bar) to {high:.4g} (full)"
