# SPDX-License-Identifier: BSD-3-Clause
"""TreeClassifier: the tree with every choice open."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from fasttree import pruning as ways
from fasttree.base.checks import check_max_bins, check_n_jobs, check_seed, check_unknown
from fasttree.base.errors import require
from fasttree.base.progress import check_verbose, reporting
from fasttree.encoding.dataset import training
from fasttree.estimators.fitted_tree import FittedTree
from fasttree.estimators.one_leaf import warn_of_one_leaf
from fasttree.estimators.parameters import own_parameters
from fasttree.estimators.training import PruneResult, Trainer, prune, reads_rows, tests_by_rows
from fasttree.estimators.validation import (
    check_enough,
    check_fit,
    check_validation,
    read_validation,
)
from fasttree.growth.choosers.costs import check_costs
from fasttree.growth.params import MISSING, GrowthParams, check_growth
from fasttree.mml.message import TestOptions
from fasttree.persistence.parts import check_choices
from fasttree.pruning.requirements import HELD_OUT
from fasttree.tables.schema import Schema
from fasttree.tables.training import read_groups
from fasttree.trees.tree import Tree

if TYPE_CHECKING:
    from fasttree.estimators.candidates import Candidates


class TreeClassifier(FittedTree):
    """A decision tree with every choice open.

    Parameters
    ----------
    criterion : {"gini", "entropy", "gain_ratio", "misclassification", "message_length", "evidence", "ami", "smi",
            "adjusted_gini", "ad", "confidence_entropy"}, default="gini"
        What a split is worth. "entropy" is information gain in bits. "message_length": the split after which the
        message that tells the tree and the classes is the shortest, and "evidence": that after which the classes are
        the most probable (alpha is 1/2 in both). They split as long as anything can be split, and leave it to pruning
        or averaging what pays, see `MMLClassifier`, `SMMLClassifier` and `BayesTreeClassifier`. The others are measures
        of `fasttree.stats.chance` that allow for chance: the split of an attribute is the one with the largest
        information gain (gini for "adjusted_gini"), and the measure of its branches decides between attributes. With
        "ad" and "confidence_entropy" a node is a leaf if no attribute is above 0.
    categorical_split : {"subset", "multiway", "grouped"}, default="subset"
        Categorical attributes are split into two sets of levels, into a branch for each level, or into groups of
        levels that are merged as long as the gain or the gain ratio grows by it (much as by C4.5's ``-s``).
    categorical_features : "from_dtype", list, mask, dict or None, default="from_dtype"
        Which columns are categorical. "from_dtype": text, bool and category columns. A list of names or indices, a
        boolean mask; or a dict from name or index to the levels in their order. None: no column is.
    ordered_features : "from_dtype", list, mask or None, default="from_dtype"
        Which categorical columns have levels whose order means something; a split of them divides lower from higher
        levels. "from_dtype": those that say so themselves (pandas ``ordered=True``).
    min_category_count : number, default=1
        Rows (weight) that a category needs to count as one. Those of a column that have less are one category "other"
        ("other (2)" if a category is called so), and so is, unless `unknown` says otherwise, one that was never seen in
        training. 1: each counts as one. Categories with an order, bools and numbers stay as they are.
    missing : {"branch", "category", "fractional", "surrogate", "error"}, default="branch"
        What becomes of missing values (NaN, None, NA, null). "branch": at each split they go to the side where they
        help most. "category": missing is a value like others; a numeric attribute sets it apart wherever no threshold
        is better. Where training saw none, they follow the heaviest branch. "fractional": C4.5's way, a row goes down
        every branch with a share of its weight, and scores are those of the rows that have the value. "surrogate":
        CART's way, another attribute that splits the rows alike says where they go; needs two-way splits. "error":
        they are refused (but not a level that was never seen in training, see `unknown`).
    unknown : {"missing", "majority", "error"}, default="missing"
        What becomes of a level that was never seen in training: it counts as missing (as "other", where
        `min_category_count` made one of categories), the row stops there and gets that node's class, or it is refused.
    max_bins : int or None, default=None
        None searches every threshold. A number from 2 to 255 puts numeric columns into so many quantile bins first.
    threshold : {"midpoint", "value"}, default="midpoint"
        A threshold lies halfway between the two values that it separates, or (C4.5) on the largest value of the whole
        table that is not above that.
    max_depth : int or None, default=None
        Most tests on a path. None: no limit.
    max_leaves : int or None, default=None
        Most leaves. The tree is what grows best first: always by the split that saves most impurity.
    min_samples_split : number, default=2
        A node of less weight is a leaf. A row weighs 1, or its `sample_weight`. 2 or less: no limit, whatever rows
        weigh.
    min_samples_leaf : number, default=1
        A split must have at least two branches of this weight (a binary split: both). 1 or less: no limit, whatever
        rows weigh (but what a branch has of shared rows, with ``missing="fractional"``, must weigh as much as the
        lightest row).
    min_weight_fraction_leaf : float, default=0.0
        The same as a share of all the weight, class weights and costs of mistakes included.
    min_gain : float, default=0.0
        A node is a leaf if its best split scores less.
    stop_zero_gain : bool, default=False
        A node is a leaf if its best split gains nothing. False lets XOR be learned.
    significance : None, float or `fasttree.pruning.Significance`, default=None
        A node is a leaf unless its best split is significant: unless chance alone would bring as good a one with a
        smaller probability than this. An object says itself which test it is.
    significance_test : {"selected", "naive"}, default="selected"
        "selected": as good a one among all the cuts, sets and attributes that the node could choose between; on noise a
        root is split with at most the probability `significance`. "naive": as if there had been this split alone
        (chi-square, exact where counts are small; ``Significance(0.1, exact=False, test="naive")`` is chi-square
        always).
    ties : {"root_gain", "schema"}, default="root_gain"
        Which attribute is asked if the best splits of several are equally good at a node. "root_gain": the one whose
        best split scores most at the root (of equal ones the first column of the table), so that the tree does not
        depend on the order of columns of which one tells more than another. "schema": the first column.
    attribute_costs : dict, array or None, default=None
        What it costs to measure each attribute; names that a dict leaves out cost 1. An attribute that was measured
        on the way to a node costs nothing there.
    cost_function : {"tan_schlimmer", "nunez", "gain_per_cost"}, function or None, default=None
        How the score of a split is weighed against its cost, see `fasttree.costs`. A function gets two arrays, gains
        and costs, and returns what is to be maximised. None stands for "tan_schlimmer" if there are costs.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class count for; classes that a dict leaves out count 1. "balanced": every class as much
        as another. Sizes (`min_samples_*`) and ``tree_.counts`` stay without it.
    misclassification_cost : array, dict of dicts or None, default=None
        What it costs to take a row of one class, ``[true, ...]``, for one of another, ``[..., predicted]``. The tree
        grows as if classes were the more frequent the more their mistakes cost, and leaves predict the class that is
        cheapest there; `predict_proba` does not know of costs.
    pruning : None, str or object of `fasttree.pruning`, default=None
        How the grown tree is cut back: "error_based", "cost_complexity", "reduced_error", "cross_validated",
        "leaf_penalty", "significance" or "message_length", or an object such as
        ``fasttree.pruning.ErrorBased(confidence=0.1)``. "reduced_error" prunes by the validation rows passed to `fit`;
        if there are none, 30 % of each class are held out, and the tree is grown from the others. "cost_complexity" and
        "cross_validated" grow a tree more for each of 10 folds, or of as many as the smallest class has rows; if that
        has one, the tree is not pruned, with a warning.
    random_state : int or None, default=None
        The seed of the draw of folds and held-out rows; None is 0. The draw goes by the values of the rows: their order
        is nothing. A row of whole weight w is drawn as w rows.
    verbose : int, default=0
        1: a fit that takes longer than two seconds says on stderr what it is doing (folds, levels, rows, time). 2: each
        step is told. 0: nothing is.
    n_jobs : int or None, default=None
        Threads, as joblib counts them: None is 1 (or what ``joblib.parallel_config`` says), -1 all cores. The tree
        does not depend on it.

    Attributes
    ----------
    tree_ : fasttree.trees.tree.Tree
    classes_ : array of the class labels, sorted
    n_features_in_ : int
    feature_names_in_ : array of names, if the table had them
    feature_importances_ : array, the share of the saved impurity that each attribute brought. It favours attributes of
        many values, even where they are noise; see `fasttree.permutation_importance`
    pruning_trace_ : fasttree.pruning.Trace, if the tree was pruned: what was cut, and why
    pruning_path_, pruning_choice_ : with cost-complexity, all the pruned trees and the errors by which one was chosen

    Notes
    -----
    Infinite values are numbers like others.
    """

    n_features_in_: int
    feature_names_in_: np.ndarray
    pruning_trace_: ways.Trace
    pruning_path_: ways.Path
    pruning_choice_: ways.Choice

    @own_parameters
    def __init__(
        self,
        *,
        criterion: str = "gini",
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
        significance: Any = None,
        significance_test: str = "selected",
        ties: str = "root_gain",
        attribute_costs: Any = None,
        cost_function: Any = None,
        class_weight: Any = None,
        misclassification_cost: Any = None,
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
        self.significance = significance
        self.significance_test = significance_test
        self.ties = ties
        self.attribute_costs = attribute_costs
        self.cost_function = cost_function
        self.class_weight = class_weight
        self.misclassification_cost = misclassification_cost
        self.pruning = pruning
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    # -- learning --------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        groups: Any = None,
    ) -> Self:
        """Grow the tree, and prune it if `pruning` says so.

        X is a table (numpy, list of rows, dict of columns, pandas, polars, Arrow) or `Columns`, then without y. A
        row of whole weight w counts as w copies, weight 0 as no row; other weights are scaled to mean 1. So what asks
        how much evidence there is (limits on sizes, C4.5, pruning, tests of significance, message lengths) sees more in
        rows of weight 2 than in rows of weight 1; splits and shares are otherwise the same for any common factor.
        `X_val` and `y_val` are validation rows, for "reduced_error" and "cost_complexity" pruning. `groups` is a column
        with the group of each row (the patient, say): where pruning draws folds or held-out rows, a group goes as a
        whole.
        """
        pruner = self._pruning()
        check_validation(pruner, X_val, y_val)
        with self._trainer(X, y, sample_weight, reads_rows(pruner), groups) as trainer:
            schema = trainer.rows.encoded.schema
            policy = self._policy_of(self.missing)
            validation = read_validation(X_val, y_val, schema, self.unknown, policy)
            pruned = trainer.fit(pruner, validation)
            n_rows = trainer.rows.encoded.n_rows
            warn_of_one_leaf(pruned, schema, n_rows, trainer.params)
        if pruner is not None:
            self._choices = None  # those of the grown tree, or of a fold's
        self._missing_policy = self.missing
        self._describe(schema)
        self._remember(pruned)
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
        """A copy of this fitted estimator with a smaller tree, and what was cut as its ``pruning_trace_``.

        `method` is a name or an object of `fasttree.pruning`. Some methods need more than the tree:

        - "reduced_error": validation rows, `X_val` and `y_val`;
        - "error_based" with raising, "cross_validated", "message_length", "significance" (but for
          ``Significance(test="naive")``): the training rows, `X`, `y` and `sample_weight`, as for `fit`;
        - "cost_complexity": one of both, to choose by validation rows or by folds of the training rows.

        `groups`: as for `fit`.
        """
        self._check_fitted()
        if self._averages:
            raise ValueError(
                f"{type(self).__name__} averages over all the prunings of its tree, so there is nothing to prune: "
                "use SMMLClassifier for a single small tree"
            )
        pruner = ways.read_method(method)
        if pruner is None:
            raise ValueError(
                f"method must say how to prune: one of {', '.join(map(repr, ways.METHODS))}, or an object"
            )
        pruner = self._as_meant(pruner, method)
        check_validation(pruner, X_val, y_val)
        check_enough(pruner, X, X_val)
        tree, schema = self.tree_, self.tree_.schema
        validation = read_validation(
            X_val, y_val, schema, check_unknown(self.unknown), self._policy()
        )
        if validation is not None or not reads_rows(pruner):
            pruned = prune(tree, pruner, None, validation)
        else:
            with self._trainer(X, y, sample_weight, with_table=True, groups=groups) as trainer:
                trainer.check_grown(tree)
                pruned = prune(tree, pruner, trainer)
        smaller = copy.copy(self)
        smaller._choices = None
        smaller._remember(pruned)
        return smaller

    @contextmanager
    def _trainer(
        self, X: Any, y: Any, sample_weight: Any, with_table: bool, groups: Any = None
    ) -> Iterator[Trainer]:
        """Read, check and encode what trees are grown from."""
        params = self._growth()
        check_unknown(self.unknown)
        seed = check_seed(self.random_state)
        with (
            reporting(self.verbose, type(self).__name__),
            training(
                X,
                y,
                sample_weight,
                self.categorical_features,
                self.max_bins,
                self.n_jobs,
                params.missing,
                ordered_features=self.ordered_features,
                class_weight=self.class_weight,
                misclassification_cost=self.misclassification_cost,
            ) as (rows, team),
        ):
            costs = check_costs(self.attribute_costs, self.cost_function, rows.encoded.schema.names)
            table = rows.table() if with_table or tests_by_rows(params) else None
            group_of = read_groups(groups, rows.n_given)
            if group_of is not None and rows.present is not None:
                group_of = group_of[rows.present]
            yield Trainer(rows, table, team, params, costs, self._finish, seed, group_of)

    def _growth(self) -> GrowthParams:
        """The checked parameters; presets with rules of their own add them here ..."""
        return check_growth(self.get_params(deep=False))

    def _finish(self, tree: Tree, choices: TestOptions | None) -> Tree:
        """... change the grown tree here (`choices`: those that growth by length had) ..."""
        self._choices = choices
        return tree

    def _as_meant(self, pruner: Any, said: Any) -> Any:
        """... and the pruning that a name stands for here."""
        return pruner

    def _object_for(self, name: str, value: Any, part: str) -> str:
        if name == "significance":
            return f" first: significance=fasttree.pruning.Significance({part}=...)"
        if name != "pruning":
            return ""
        if isinstance(value, str) and value in ways.METHODS:
            return f" first: pruning=fasttree.pruning.{ways.METHODS[value].__name__}()"
        having = [kind.__name__ for kind in ways.METHODS.values() if hasattr(kind, part)]
        return f" first: pruning=fasttree.pruning.{having[0]}()" if having else ""

    def _pruning(self) -> Any:
        return self._as_meant(ways.read_method(self.pruning), self.pruning)

    def _describe(self, schema: Schema) -> None:
        self.classes_ = schema.classes
        self.n_features_in_ = len(schema.attributes)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _remember(self, pruned: PruneResult) -> None:
        self.tree_ = pruned.tree
        for name in ("trace", "path", "choice"):
            found = getattr(pruned, name)
            self.__dict__.pop(f"pruning_{name}_", None)
            if found is not None:
                setattr(self, f"pruning_{name}_", found)

    def _check_settings(self) -> None:
        self._growth()
        self._pruning()
        check_unknown(self.unknown)
        check_max_bins(self.max_bins)
        check_seed(self.random_state)
        check_verbose(self.verbose)
        check_n_jobs(self.n_jobs)

    def _check_restored(self) -> None:
        check_fit(self, self.tree_)
        require(self._missing_policy in MISSING, "it does not say what becomes of missing values")
        if self._choices is not None:
            check_choices(self._choices, self.tree_)

    def candidates(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Candidates:
        """What each node could choose between: the score of every attribute's best split, and by how much the best one
        leads the second. `X`, `y`, `sample_weight` and `groups` are those of `fit`: the tree is grown once more.

        Print it, ask for the list of one node, or for ``columns()``:

        >>> import fasttree
        >>> X, y = fasttree.datasets.play_tennis()
        >>> print(fasttree.ID3Classifier(max_depth=1).fit(X, y).candidates(X, y))
        node 0: weight 14; margin 0.094914
                        entropy
          Outlook      0.246750  <- chosen
          Humidity     0.151836
          Wind         0.048127
          Temperature  0.029223
        """
        from fasttree.estimators.candidates import candidates_of  # few ask for it

        self._check_fitted()
        trace = getattr(self, "pruning_trace_", None)
        is_raised = trace is not None and "raised" in trace.action
        pruner = self._pruning()
        holds_out = pruner is not None and pruner.needs == HELD_OUT
        with self._trainer(X, y, sample_weight, with_table=holds_out, groups=groups) as trainer:
            return candidates_of(trainer, self.tree_, is_raised, holds_out)
