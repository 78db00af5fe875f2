# SPDX-License-Identifier: BSD-3-Clause
"""RegressionTree: a decision tree that predicts numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from fasttree import _core
from fasttree.base.wording import plural
from fasttree.trees.structure import TreeStructure
from fasttree.trees.tree import Tree


@dataclass(frozen=True, eq=False, kw_only=True)
class RegressionTree(TreeStructure):
    """A grown tree of numbers: beside its structure, the mean of the target at each node.

    The gain of a split is what it takes from the mean squared error of its node, as a share of the root's. Where rows
    lack the value of the test and surrogates decide, it is that of the other rows.
    """

    VALUES: ClassVar[tuple[str, ...]] = ("weighted_n_node_samples", "prediction", "error")

    weighted_n_node_samples: np.ndarray  # float64: the weight of the training rows
    prediction: np.ndarray  # float64: the mean of their target
    error: np.ndarray  # float64: their root mean squared error, which is the standard deviation

    @property
    def weight(self) -> np.ndarray:
        """The weight of each node, by which a row without a value is distributed fractionally over branches."""
        return self.weighted_n_node_samples

    @property
    def value(self) -> np.ndarray:
        """Predictions, [node, 1, 1]."""
        return self.prediction[:, np.newaxis, np.newaxis]

    @property
    def impurity(self) -> np.ndarray:
        """The mean squared error of each node; infinity or 0 where that is out of the range of float64."""
        with np.errstate(over="ignore", under="ignore"):
            return np.square(self.error)

    def relative_deviance(self) -> np.ndarray:
        """The weighted sum of squared errors of each node, as a share of the root's; zeros if the root has none."""
        root = self.error[0]
        if root == 0:
            return np.zeros(self.node_count)
        share = self.weighted_n_node_samples / self.weighted_n_node_samples[0]
        return np.asarray(share * np.square(self.error / root))

    def __repr__(self) -> str:
        return (
            f"RegressionTree({plural(self.n_leaves, 'leaf', 'leaves')}, depth {self.max_depth}, "
            f"{plural(len(self.schema.attributes), 'attribute')})"
        )


def as_one_class(tree: RegressionTree) -> Tree:
    """A tree of the same tests in which all rows have one class: for those who ask for ways alone."""
    n_nodes = tree.node_count
    return Tree(
        **{f.name: getattr(tree, f.name) for f in fields(TreeStructure)}
        | {"schema": replace(tree.schema, classes=np.zeros(1), tie_order=(0,))},
        counts=tree.weighted_n_node_samples[:, np.newaxis],
        proba=np.ones((n_nodes, 1)),
        pred=np.zeros(n_nodes, dtype=np.int32),
    )


def with_values(
    tree: TreeStructure,
    node: np.ndarray,
    y: np.ndarray,
    steps: np.ndarray | None,
    steps_per_unit: int,
) -> RegressionTree:
    """A tree with what it predicts. `node`: where each of the rows ends, of which `y` is the target, and `steps` the
    weight in whole steps of 1 / `steps_per_unit` (None: 1 each)."""
    _, exponent = np.frexp(np.abs(y).max(initial=0.0))
    total = np.empty(tree.node_count, dtype=np.int64)
    mean, squares = np.zeros((2, tree.node_count))
    scaled = np.ldexp(y, -exponent)
    if not _core.number_nodes(
        node, scaled, steps, tree.first_child, tree.n_children, total, mean, squares
    ):
        raise MemoryError("not enough memory for the predictions of the nodes")
    error = np.sqrt(squares / np.maximum(total, 1))
    arrays = {f.name: getattr(tree, f.name) for f in fields(TreeStructure)}
    return RegressionTree(
        **arrays,
        weighted_n_node_samples=total / steps_per_unit,
        prediction=np.ldexp(mean, exponent) + 0.0,
        error=np.ldexp(error, exponent),
    )
