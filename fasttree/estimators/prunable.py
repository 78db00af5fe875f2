# SPDX-License-Identifier: BSD-3-Clause
"""Fitted trees that can be pruned once more."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

from fasttree.base.checks import check_unknown
from fasttree.estimators.fit_input import trainer_of
from fasttree.estimators.fitted_tree import FittedTree
from fasttree.estimators.pruning_steps import prune, reads_rows
from fasttree.estimators.validation import check_enough, check_validation, read_validation


class Prunable(FittedTree):
    """A tree with its pruned copies."""

    def _pruner(self, said: Any, name: str = "pruning") -> Any:
        raise NotImplementedError

    def prune(
        self,
        method: Any,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        groups: Any = None,
    ) -> Self:
        """Return a copy of this fitted estimator with a pruned tree; its ``pruning_trace_`` lists what was removed.

        `method` is a name or an object of `fasttree.pruning` (of a regressor "cost_complexity"). Some methods need more
        than the tree:

        - "reduced_error": validation rows, `X_val` and `y_val`;
        - "error_based" with raising, "cross_validated", "message_length", "significance" (except
          ``Significance(test="naive")``): the training rows, `X`, `y` and `sample_weight`, as for `fit`;
        - "cost_complexity": either of the two, to select alpha on validation rows or by folds of the training rows.

        `groups`: as for `fit`.
        """
        self._check_fitted()
        if self._averages:
            raise ValueError(
                f"{type(self).__name__} averages over all prunings of its tree and cannot be pruned: "
                "use SMMLClassifier for a single small tree"
            )
        pruner = self._pruner(method, "method")
        check_validation(pruner, X_val, y_val)
        check_enough(pruner, X, X_val)
        tree, schema = self.tree_, self.tree_.schema
        validation = read_validation(
            X_val, y_val, schema, check_unknown(self.unknown), self._policy()
        )
        if validation is not None or not reads_rows(pruner):
            pruned = prune(tree, pruner, None, validation)
        else:
            with trainer_of(self, X, y, sample_weight, with_table=True, groups=groups) as trainer:
                trainer.check_grown(tree)
                pruned = prune(tree, pruner, trainer)
        smaller = copy.copy(self)
        smaller.restore(replace(pruned, missing=self._missing_policy))
        return smaller
