# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted tree of classes answers beside: classes and shares of rows, rules, costs of tests, its message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fasttree.base.checks import check_n_jobs
from fasttree.estimators.fitted_tree import FittedTree
from fasttree.estimators.protocol import ClassifierMixin
from fasttree.growth.choosers.costs import check_costs
from fasttree.mml.message import Alpha, MessageLength, TestOptions, message_length
from fasttree.mml.options import choices_of
from fasttree.stats.metrics import weighted_mean
from fasttree.tables.training import read_weights
from fasttree.trees.paths import costs_of_tests
from fasttree.trees.predict import classes_of, shares_of

if TYPE_CHECKING:
    from fasttree.rules import RuleList


class FittedClassifier(ClassifierMixin, FittedTree):
    """The methods that need only the fitted tree of classes, and how it is to read missing and unknown values."""

    _choices: TestOptions | None = None

    categorical_split: str

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted class of each row."""
        classes = self._ask(classes_of, X)
        return self.classes_[classes]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities of each row, in the order of ``classes_``: the class shares in its leaf."""
        return self._ask(shares_of, X)

    def mean_test_cost(self, X: Any, sample_weight: Any = None) -> float:
        """Return the mean cost of the tests needed to classify these rows: each row pays once for every attribute
        tested on its path, or on any of its paths if it is distributed fractionally."""
        self._check_fitted()
        costs = check_costs(self.attribute_costs, self.cost_function, self.tree_.schema.names)
        if costs is None:
            raise ValueError("mean_test_cost requires attribute_costs: set them on the estimator")
        table = self._read(X)
        weight = read_weights(sample_weight, table.n_rows)
        n_jobs = check_n_jobs(self.n_jobs)
        paid = costs_of_tests(self.tree_, table, self._policy(), costs.cost, n_jobs)
        return weighted_mean(paid, weight)

    def rules(self) -> RuleList:
        """Return the paths of the tree as IF-THEN rules, see `fasttree.rules`."""
        from fasttree.rules import rules_of  # heavy, and few ask for it

        self._check_fitted()
        return rules_of(
            self.tree_,
            unknown=self.unknown,
            allow_missing=self._policy().allow_missing,
            averaged=self.averaged,
        )

    @property
    def averaged(self) -> str | None:
        """The name of the model if it averages over many trees, so that `tree_` alone does not describe it."""
        return type(self).__name__ if self._averages else None

    def message_length(
        self, X: Any = None, *, alpha: Alpha | None = None, cut_code: str = "uniform"
    ) -> MessageLength:
        """Return how many bits encode this tree and, given the tree, the classes of the training rows; see
        `fasttree.message_length`.

        X: the training rows, without those of weight 0. They are not needed if the tree was grown by message length or
        evidence. `alpha`: the prior count of each class; by default as in growth, or 1/2.
        """
        self._check_fitted()
        choices = self._choices
        if X is not None:
            choices = choices_of(self.tree_, X, self.categorical_split)
        elif choices is None:
            raise ValueError(
                "message_length requires the training rows, to find the possible splits at each node: pass X"
            )
        prior: Alpha = getattr(self, "alpha", 0.5) if alpha is None else alpha
        return message_length(self.tree_, choices, alpha=prior, cut_code=cut_code)
