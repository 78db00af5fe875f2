# SPDX-License-Identifier: BSD-3-Clause
"""Tree: a decision tree that predicts classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fasttree.base.cached import cached_property
from fasttree.base.sums import sums
from fasttree.base.wording import plural
from fasttree.trees.structure import LEAF, TreeStructure, of_higher_layer

__all__ = ["LEAF", "Tree"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Tree(TreeStructure):
    """A grown tree of classes: beside its structure, what it knows of the classes at each node."""

    VALUES: ClassVar[tuple[str, ...]] = ("counts", "proba", "pred")

    counts: np.ndarray  # float64 [node, class]
    proba: np.ndarray  # float64 [node, class]
    pred: np.ndarray  # int32 class number

    @property
    def label(self) -> np.ndarray:
        """The class number of each node: `pred`."""
        return self.pred

    @property
    def value(self) -> np.ndarray:
        """Class shares, [node, 1, class]."""
        return self.proba[:, np.newaxis, :]

    @property
    def weighted_n_node_samples(self) -> np.ndarray:
        return self.counts.sum(axis=1)

    @cached_property
    def weight(self) -> np.ndarray:
        """The weight of each node, class weights included: by it a row without a value is distributed fractionally over
        branches."""
        return sums(self.schema.priors.weighted(self.counts))

    def __repr__(self) -> str:
        n_attributes, n_classes = len(self.schema.attributes), len(self.schema.classes)
        return (
            f"Tree({plural(self.n_leaves, 'leaf', 'leaves')}, depth {self.max_depth}, "
            f"{plural(n_attributes, 'attribute')}, {plural(n_classes, 'class', 'classes')})"
        )

    def message_length(self, X: Any, *, alpha: Any = 0.5, cut_code: str = "uniform") -> Any:
        """How many bits tell this tree and the classes of its training rows X, see `fasttree.message_length`."""
        measured = of_higher_layer("fasttree.mml.options", "message_length_from_rows")
        return measured(self, X, alpha=alpha, cut_code=cut_code)
