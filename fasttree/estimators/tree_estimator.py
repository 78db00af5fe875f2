# SPDX-License-Identifier: BSD-3-Clause
"""What TreeClassifier and TreeRegressor have in common: the fit itself, pruning once more, checks of parameters."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

from fasttree.base.checks import check_max_bins, check_n_jobs, check_seed, check_unknown
from fasttree.base.errors import require
from fasttree.base.progress import check_verbose
from fasttree.estimators.fit_input import trainer_of
from fasttree.estimators.fitted_tree import FittedTree
from fasttree.estimators.one_leaf import warn_of_one_leaf
from fasttree.estimators.pruning_steps import grow_and_prune, prune, reads_rows
from fasttree.estimators.training import Grown, Trainer
from fasttree.estimators.validation import (
    check_enough,
    check_fit,
    check_validation,
    read_validation,
)
from fasttree.growth.params import MISSING, GrowthParams
from fasttree.mml.message import TestOptions


class TreeEstimator(FittedTree):
    """An estimator that grows one tree."""

    missing: str
    max_bins: int | None
    pruning: Any
    random_state: int | None
    verbose: int

    # -- what kinds of trees say themselves -------------------------------------------------------------------------

    def _growth(self) -> GrowthParams:
        """The checked parameters. Presets with rules of their own override this to add them."""
        raise NotImplementedError

    def _pruner(self, said: Any, name: str = "pruning") -> Any:
        """The object that a parameter stands for, which presets may read in their own way."""
        raise NotImplementedError

    def _finish(self, tree: Any, choices: TestOptions | None) -> Grown:
        """The tree to keep of a grown one, which presets may change. `choices`: those that growth by length had."""
        return tree, choices

    def _warn_of_target(self, trainer: Trainer) -> None:
        """Warnings about the rows to learn from."""

    # -- learning --------------------------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any, groups: Any) -> Self:
        pruner = self._pruner(self.pruning)
        check_validation(pruner, X_val, y_val)
        with trainer_of(self, X, y, sample_weight, reads_rows(pruner), groups) as trainer:
            schema = trainer.rows.encoded.schema
            policy = self._policy_of(self.missing)
            validation = read_validation(X_val, y_val, schema, self.unknown, policy)
            self._warn_of_target(trainer)
            pruned = grow_and_prune(trainer, pruner, validation)
            n_rows = trainer.rows.encoded.n_rows
            warn_of_one_leaf(pruned, schema, n_rows, trainer.params)
        self.restore(replace(pruned, missing=self.missing))
        return self

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

    # -- checks ----------------------------------------------------------------------------------------------------

    def _check_settings(self) -> None:
        self._growth()
        self._pruner(self.pruning)
        check_unknown(self.unknown)
        check_max_bins(self.max_bins)
        check_seed(self.random_state)
        check_verbose(self.verbose)
        check_n_jobs(self.n_jobs)

    def _check_restored(self) -> None:
        check_fit(self, self.tree_)
        require(
            self._missing_policy in MISSING, "its policy for missing values is missing or unknown"
        )
