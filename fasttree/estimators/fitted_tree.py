# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted tree answers, whatever it predicts: the leaves of rows, its size, and itself in other forms."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fasttree.base.checks import check_n_jobs, check_unknown
from fasttree.draw.text import to_text
from fasttree.encoding.dataset import Dataset
from fasttree.estimators.protocol import Estimator
from fasttree.export import EXPORTERS, export
from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.training import Table
from fasttree.trees.paths import path_matrix
from fasttree.trees.predict import ReadPolicy, leaves_of
from fasttree.trees.view import Exportable, tells_missing

if TYPE_CHECKING:
    pass


class FittedTree(Estimator):
    """The methods that need only the fitted tree, and how it is to read missing and unknown values."""

    _averages = False
    _missing_policy: str  # that of the fit

    attribute_costs: Any
    cost_function: Any
    unknown: str
    n_jobs: Any

    # -- scoring ---------------------------------------------------------------------------------------------------

    def apply(self, X: Any) -> np.ndarray:
        """Return the number of the leaf that each row reaches."""
        return self._ask(leaves_of, X)

    def _ask(self, function: Callable[..., np.ndarray], X: Any) -> np.ndarray:
        """What a function of `trees.predict` says of the rows."""
        self._check_fitted()
        return function(self.tree_, self._read(X), self._policy(), check_n_jobs(self.n_jobs))

    def _read(self, X: Any) -> Table:
        if isinstance(X, Dataset):
            raise TypeError(
                "X is a fasttree.Columns, which is supported only by fit: pass the table itself"
            )
        unknown = check_unknown(self.unknown)
        return read_table_for_schema(X, self.tree_.schema, type(self).__name__, unknown)

    def _policy(self) -> ReadPolicy:
        return self._policy_of(self._missing_policy)

    def _policy_of(self, missing: str) -> ReadPolicy:
        return ReadPolicy(
            allow_missing=missing != "error", stops_at_unknown=self.unknown == "majority"
        )

    def decision_path(self, X: Any) -> Any:
        """Return the nodes on each row's path to the leaf that `apply` returns: a sparse 0/1 matrix [row, node] of
        scipy.
        """
        leaves = self.apply(X)
        return path_matrix(self.tree_, leaves)

    # -- the tree --------------------------------------------------------------------------------------------------

    def get_depth(self) -> int:
        """Return the depth of the tree: the number of tests on the longest path."""
        self._check_fitted()
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves; a category without training rows at its node counts as a leaf."""
        self._check_fitted()
        return self.tree_.n_leaves

    def to_text(self, surrogates: bool = False, exact: bool = False) -> str:
        """Return the tree as indented text, one line per branch, with the weight and the errors of each leaf.

        `surrogates`: below each branch, also list which rows with a missing value take it (with
        ``missing="surrogate"``). `exact`: print thresholds with all digits instead of at most six.
        """
        return to_text(self.exportable(), surrogates, exact)

    def export(
        self, format: str, path: str | os.PathLike[str] | None = None, **options: Any
    ) -> str | bytes:
        """Return the fitted model in another format that makes the same predictions, see ``fasttree.export.EXPORTERS``.

        `format`: "text", "dot", "json", "sql", "python", ... The result is also written to `path`, if given. `options`
        are those of the format.
        """
        self._check_fitted()
        check_unknown(self.unknown)
        return export(self.exportable(), EXPORTERS, format, path, options)

    def exportable(self) -> Exportable:
        """Return the fitted tree with what becomes of missing and unknown values, as exporters and drawings take it."""
        self._check_fitted()
        return Exportable(
            self.tree_,
            unknown=self.unknown,
            allow_missing=self._missing_policy != "error",
            tells_missing=tells_missing(self.tree_, self._missing_policy),
            name=type(self).__name__,
            averaged=self._averages,
        )

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each attribute in the impurity reduction on the training rows: the shares sum to 1, or are all 0
        if the tree is a single leaf. Attributes with many values are favoured, since the best of many cuts reduces
        impurity even on noise: `fasttree.permutation_importance` uses other rows."""
        self._check_fitted()
        return self.tree_.importances()
