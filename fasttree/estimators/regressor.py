# SPDX-License-Identifier: BSD-3-Clause
"""TreeRegressor and CARTRegressor: trees that predict numbers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from fasttree.base.values import short_repr
from fasttree.estimators.like_rpart import collapsed, with_sizes
from fasttree.estimators.parameters import own_parameters, preset
from fasttree.estimators.protocol import RegressorMixin
from fasttree.estimators.training import Grown, Trainer
from fasttree.estimators.tree_estimator import TreeEstimator
from fasttree.growth.params import GrowthParams, check_growth
from fasttree.growth.targets import NumericTarget
from fasttree.mml.message import TestOptions
from fasttree.pruning import Choice, CostComplexity, Path, Trace
from fasttree.tables.doubts import remedies, warn
from fasttree.tables.factors import rank_numbers
from fasttree.trees.predict import numbers_of
from fasttree.trees.structure import TreeStructure

TOLD_APART = 0.99  # of the distinct targets; with fewer, there is a warning


class TreeRegressor(RegressorMixin, TreeEstimator):
    """A regression tree with all options: it predicts the mean of the training rows in a leaf.

    Parameters
    ----------
    criterion : {"squared_error"}, default="squared_error"
        The score of a split: by how much it reduces the squared errors, as a share of the variance of all rows.
    categorical_split : {"subset", "multiway"}, default="subset"
        Categorical attributes are split into two subsets of categories (the best of all: the categories are ordered by
        their means) or into one branch per category.
    categorical_features : "from_dtype", list, mask, dict or None, default="from_dtype"
        Which columns are categorical. "from_dtype": columns of text, bools and categories. A list of names or indices,
        a boolean mask, or a dict from name or index to the categories in their order. None: no column.
    ordered_features : "from_dtype", list, mask or None, default="from_dtype"
        Which categorical columns have a meaningful order; they are split into lower and higher categories.
        "from_dtype": those whose dtype is ordered (pandas ``ordered=True``).
    min_category_count : number, default=1
        The minimum number of rows (weight) of a category. Rarer categories of a column are merged into one category
        "other", which is also used for categories that were not seen in training, unless `unknown` says otherwise. 1:
        no merging.
    missing : {"branch", "category", "surrogate", "error"}, default="branch"
        How missing values (NaN, None, NA, null) are handled. "branch": at each split they go to the branch where they
        help most. "category": missing is a category of its own; for a numeric attribute, missing values are split off
        wherever no threshold is better. Where there were none in training, they follow the heaviest branch.
        "surrogate": as in CART, another attribute that splits the rows similarly decides; this requires two-way splits.
        "error": missing values are rejected.
    unknown : {"missing", "majority", "error"}, default="missing"
        How categories that were not seen in training are handled: like a missing value (or like "other", where
        `min_category_count` has made this category), by predicting the mean of the node where the row is, or as an
        error.
    max_bins : int or None, default=None
        None considers every threshold. An integer from 2 to 255 first puts numeric columns into at most that many
        quantile bins.
    threshold : {"midpoint", "value"}, default="midpoint"
        A threshold is halfway between the two values that it separates, or the largest value in the whole table that
        does not exceed that midpoint.
    max_depth : int or None, default=None
        The maximum number of tests on a path. None: no limit.
    max_leaves : int or None, default=None
        The maximum number of leaves. The tree grows best first: the next split is always the one that reduces the
        squared errors most. None: no limit.
    min_samples_split : number, default=2
        A node of smaller weight is a leaf. A row has the weight 1, or its `sample_weight`. 2 or less: no limit,
        regardless of the weights.
    min_samples_leaf : number, default=1
        A split must have at least two branches of this weight (a binary split: both). 1 or less: no limit, regardless
        of the weights.
    min_weight_fraction_leaf : float, default=0.0
        The same as a fraction of the total weight.
    min_gain : float, default=0.0
        A node is a leaf if its best split reduces its mean squared error by less than this share of the variance of all
        rows.
    stop_zero_gain : bool, default=False
        A node is a leaf if its best split has no gain. False allows the tree to learn XOR.
    ties : {"root_gain", "schema"}, default="root_gain"
        Which attribute is tested if the best splits of several attributes are equally good at a node. "root_gain": the
        one whose best split scores highest at the root (if these are equal too, the first column of the table).
        "schema": the first column.
    pruning : None, "cost_complexity" or `fasttree.pruning.CostComplexity`, default=None
        How the grown tree is pruned. Cost-complexity pruning selects alpha on the validation rows passed to `fit`, or
        by cross-validation with 10 folds, or as many as there are rows.
    random_state : int or None, default=None
        The seed for drawing folds; None is 0. The draw depends on the values of the rows, not on their order. A row of
        integer weight w is drawn like w rows.
    verbose : int, default=0
        0: no output. 1: a fit that takes longer than two seconds reports its progress on stderr (folds, depth, rows,
        time). 2: every step is reported.
    n_jobs : int or None, default=None
        The number of threads, as in joblib: None is 1 (or the setting of ``joblib.parallel_config``), -1 all cores. The
        tree does not depend on it.

    Attributes
    ----------
    tree_ : fasttree.trees.regression_tree.RegressionTree
    n_features_in_ : int
    feature_names_in_ : array of names, if the table had column names
    feature_importances_ : array, the share of each attribute in the reduction of the squared errors
    pruning_trace_ : fasttree.pruning.Trace, if the tree was pruned: what was removed, and why
    pruning_path_, pruning_choice_ : with cost-complexity pruning, all pruned trees and the errors by which one was
    selected, as shares of the variance of all rows (rpart's CP, "rel error", "xerror" and "xstd")

    Notes
    -----
    Infinite values of attributes are treated like other numbers; the target must be finite.

    Splits are chosen on a grid: of n targets that are not further apart than 2^42 times their smallest difference, the
    best split is exact for up to a million rows. Predictions are the means of the targets themselves, rounded once.
    """

    pruning_trace_: Trace
    pruning_path_: Path
    pruning_choice_: Choice

    # What classifiers have beside.
    attribute_costs = None
    cost_function = None
    class_weight = None
    misclassification_cost = None

    @own_parameters
    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        categorical_split: str = "subset",
        categorical_features: Any = "from_dtype",
        ordered_features: Any = "from_dtype",
        min_category_count: float = 1,
        missing: str = "branch",
        unknown: str = "missing",
        max_bins: int | None = None,
        threshold: str = "midpoint",
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_gain: float = 0.0,
        stop_zero_gain: bool = False,
        ties: str = "root_gain",
        pruning: Any = None,
        random_state: int | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.categorical_split = categorical_split
        self.categorical_features = categorical_features
        self.ordered_features = ordered_features
        self.min_category_count = min_category_count
        self.missing = missing
        self.unknown = unknown
        self.max_bins = max_bins
        self.threshold = threshold
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_gain = min_gain
        self.stop_zero_gain = stop_zero_gain
        self.ties = ties
        self.pruning = pruning
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        groups: Any = None,
    ) -> Self:
        """Grow the tree, and prune it if `pruning` is set.

        X is a table (numpy, list of rows, dict of columns, pandas, polars, Arrow), y a finite number for each row. A
        row of integer weight w counts as w copies, a row of weight 0 is ignored; if any weights are not integers, all
        are scaled to mean 1. `X_val` and `y_val` are validation rows, for "cost_complexity" pruning. `groups` is a
        column with the group of each row (the patient, for example): where pruning draws folds, the rows of a group
        stay together.
        """
        return self._fit(X, y, sample_weight, X_val, y_val, groups)

    def predict(self, X: Any) -> np.ndarray:
        """Return the number predicted for each row: the mean of the training rows in its leaf."""
        return self._ask(numbers_of, X)

    def _warn_of_target(self, trainer: Trainer) -> None:
        """A warning if splits are chosen without telling many targets apart."""
        numbers, weights = trainer.rows.encoded.numbers, trainer.rows.weights
        assert numbers is not None
        if remedies() is None:
            return
        steps = None if weights is None else weights.quantised
        n_values = len(rank_numbers(numbers)[1])
        n_steps = len(rank_numbers(NumericTarget(numbers, steps).quantised)[1])
        if n_steps < TOLD_APART * n_values:
            warn(
                f"y has {n_values:,} distinct values from {numbers.min():g} to {numbers.max():g}, of which only "
                f"{n_steps:,} are told apart in the choice of splits, because their range is too wide for their "
                "differences: transform y (such as by its logarithm), or leave extreme rows out"
            )

    def _growth(self) -> GrowthParams:
        return check_growth(self.get_params(deep=False), of_numbers=True)

    def _pruner(self, said: Any, name: str = "pruning") -> CostComplexity | None:
        pruner = CostComplexity() if isinstance(said, str) and said == "cost_complexity" else said
        if isinstance(pruner, CostComplexity) and pruner.impurity == "error":
            return pruner
        if pruner is None and name == "pruning":
            return None
        if isinstance(pruner, CostComplexity):
            raise ValueError(
                f'impurity must be "error" in a regressor, where it means squared errors, got {pruner.impurity!r}'
            )
        raise ValueError(
            f'{name} must be {"None, " if name == "pruning" else ""}"cost_complexity" or a '
            f"fasttree.pruning.CostComplexity in a regressor, got {short_repr(said)}"
        )

    def _object_for(self, name: str, value: Any, part: str) -> str:
        return " first: pruning=fasttree.pruning.CostComplexity()" if name == "pruning" else ""


class CARTRegressor(TreeRegressor):
    """CART for numbers: two-way splits, at least 5 rows in a leaf, no splits without gain, surrogates for missing
    values. The tree is pruned by cost-complexity: the smallest tree within one standard error of the best one, by
    cross-validation with 10 folds.

    The parameters are those of `TreeRegressor` and:

    compat : None or "rpart", default=None
        "rpart": nodes and leaves have the sizes of R's rpart (`min_samples_split` is 20 and `min_samples_leaf` 7,
        unless they are set), and branches whose complexity is below its cp of .01 are taken back before pruning. With
        ``pruning=None`` the tree is the one that rpart prints.

    By default, `missing` is "surrogate", `min_samples_leaf` 5, `stop_zero_gain` True, `ties` "schema" and `pruning`
    "cost_complexity".
    """

    compat: str | None

    __init__ = preset(
        TreeRegressor,
        missing="surrogate",
        min_samples_leaf=5,
        stop_zero_gain=True,
        ties="schema",
        pruning="cost_complexity",
        extra={"compat": None},
    )

    def _growth(self) -> GrowthParams:
        parameters = with_sizes(type(self), self.get_params(deep=False))
        return check_growth(parameters, of_numbers=True)

    def _finish(self, tree: TreeStructure, choices: TestOptions | None) -> Grown:
        return collapsed(tree, self.compat), choices
