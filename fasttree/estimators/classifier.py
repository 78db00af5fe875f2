# SPDX-License-Identifier: BSD-3-Clause
"""TreeClassifier: the tree with every choice open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from fasttree import pruning as ways
from fasttree.estimators.fit_input import trainer_of
from fasttree.estimators.fitted_classifier import FittedClassifier
from fasttree.estimators.parameters import own_parameters
from fasttree.estimators.tree_estimator import TreeEstimator
from fasttree.growth.params import GrowthParams, check_growth
from fasttree.persistence.parts import check_choices
from fasttree.pruning.requirements import HELD_OUT

if TYPE_CHECKING:
    from fasttree.estimators.candidates import Candidates


class TreeClassifier(TreeEstimator, FittedClassifier):
    """A decision tree with all options.

    Parameters
    ----------
    criterion : {"gini", "entropy", "gain_ratio", "misclassification", "message_length", "evidence", "ami", "smi",
            "adjusted_gini", "ad", "confidence_entropy"}, default="gini"
        The score of a split. "entropy" is information gain in bits. "message_length" chooses the split after which the
        message that encodes the tree and the classes is the shortest, and "evidence" the split after which the classes
        are the most probable (alpha is 1/2 in both). These two split as long as any split is possible, and leave it to
        pruning or averaging to decide which splits pay, see `MMLClassifier`, `SMMLClassifier` and
        `BayesTreeClassifier`. The others are measures of `fasttree.stats.chance` that are adjusted for chance: the
        split of an attribute is the one with the largest information gain (gini for "adjusted_gini"), and the measure
        of its branches decides between attributes. With "ad" and "confidence_entropy", a node is a leaf if no attribute
        scores above 0.
    categorical_split : {"subset", "multiway", "grouped"}, default="subset"
        Categorical attributes are split into two subsets of categories, into one branch per category, or into groups of
        categories that are merged as long as this increases the gain or the gain ratio (similar to C4.5's ``-s``).
    categorical_features : "from_dtype", list, mask, dict or None, default="from_dtype"
        Which columns are categorical. "from_dtype": columns of text, bools and categories. A list of names or indices,
        a boolean mask, or a dict from name or index to the categories in their order. None: no column.
    ordered_features : "from_dtype", list, mask or None, default="from_dtype"
        Which categorical columns have a meaningful order; they are split into lower and higher categories.
        "from_dtype": those whose dtype is ordered (pandas ``ordered=True``).
    min_category_count : number, default=1
        The minimum number of rows (weight) of a category. Rarer categories of a column are merged into one category
        "other" ("other (2)" if there is a category of that name), which is also used for categories that were not seen
        in training, unless `unknown` says otherwise. 1: no merging. Ordered categories, bools and numbers are never
        merged.
    missing : {"branch", "category", "fractional", "surrogate", "error"}, default="branch"
        How missing values (NaN, None, NA, null) are handled. "branch": at each split they go to the branch where they
        help most. "category": missing is a category of its own; for a numeric attribute, missing values are split off
        wherever no threshold is better. Where there were none in training, they follow the heaviest branch.
        "fractional": as in C4.5, a row is distributed fractionally over all branches, and scores are computed from the
        rows without a missing value. "surrogate": as in CART, another attribute that splits the rows similarly decides;
        this requires two-way splits. "error": missing values are rejected (but not categories that were not seen in
        training, see `unknown`).
    unknown : {"missing", "majority", "error"}, default="missing"
        How categories that were not seen in training are handled: like a missing value (or like "other", where
        `min_category_count` has made this category), by predicting the class of the node where the row is, or as an
        error.
    max_bins : int or None, default=None
        None considers every threshold. An integer from 2 to 255 first puts numeric columns into at most that many
        quantile bins.
    threshold : {"midpoint", "value"}, default="midpoint"
        A threshold is halfway between the two values that it separates, or (as in C4.5) the largest value in the whole
        table that does not exceed that midpoint.
    max_depth : int or None, default=None
        The maximum number of tests on a path. None: no limit.
    max_leaves : int or None, default=None
        The maximum number of leaves. The tree grows best first: the next split is always the one that reduces impurity
        most. None: no limit.
    min_samples_split : number, default=2
        A node of smaller weight is a leaf. A row has the weight 1, or its `sample_weight`. 2 or less: no limit,
        regardless of the weights.
    min_samples_leaf : number, default=1
        A split must have at least two branches of this weight (a binary split: both). 1 or less: no limit, regardless
        of the weights (but with ``missing="fractional"``, the rows that are distributed fractionally must give a branch
        at least the weight of the lightest row).
    min_weight_fraction_leaf : float, default=0.0
        The same as a fraction of the total weight, including class weights and misclassification costs.
    min_gain : float, default=0.0
        A node is a leaf if its best split scores less.
    stop_zero_gain : bool, default=False
        A node is a leaf if its best split has no gain. False allows the tree to learn XOR.
    significance : None, float or `fasttree.pruning.Significance`, default=None
        A node is a leaf unless its best split is significant, that is, unless the probability that chance alone yields
        an equally good split is below this value. An object also specifies the test.
    significance_test : {"selected", "naive"}, default="selected"
        "selected": the test allows for the selection of the split among all cuts, subsets and attributes that are
        possible at the node; on noise, the root is split with at most the probability `significance`. "naive": the test
        treats the split as if it had been the only one (chi-square, or an exact test where counts are small;
        ``Significance(0.1, exact=False, test="naive")`` always uses chi-square).
    ties : {"root_gain", "schema"}, default="root_gain"
        Which attribute is tested if the best splits of several attributes are equally good at a node. "root_gain": the
        one whose best split scores highest at the root (if these are equal too, the first column of the table), so that
        the tree does not depend on the order of the columns unless their scores at the root are equal. "schema": the
        first column.
    attribute_costs : dict, array or None, default=None
        The cost of testing each attribute; attributes missing from a dict cost 1. An attribute that was tested on the
        path to a node costs nothing there.
    cost_function : {"tan_schlimmer", "nunez", "gain_per_cost"}, function or None, default=None
        How the score of a split is weighed against its cost, see `fasttree.costs`. A function is called with two
        arrays, gains and costs, and returns the values to maximise. None is "tan_schlimmer" if there are costs.
    class_weight : dict, "balanced" or None, default=None
        The weight of the rows of each class; classes missing from a dict have the weight 1. "balanced": all classes
        have the same total weight. The size limits (`min_samples_*`) and ``tree_.counts`` do not include class weights.
    misclassification_cost : array, dict of dicts or None, default=None
        The cost of predicting one class, ``[..., predicted]``, for a row of another, ``[true, ...]``. The tree grows as
        if classes with higher misclassification costs were more frequent, and leaves predict the class of lowest
        expected cost; `predict_proba` does not take costs into account.
    pruning : None, str or object of `fasttree.pruning`, default=None
        How the grown tree is pruned: "error_based", "cost_complexity", "reduced_error", "cross_validated",
        "leaf_penalty", "significance" or "message_length", or an object such as
        ``fasttree.pruning.ErrorBased(confidence=0.1)``. "reduced_error" uses the validation rows passed to `fit`; if
        there are none, 30 % of each class are held out, and the tree is grown from the others. "cost_complexity" and
        "cross_validated" grow one more tree for each of 10 folds, or of as many folds as the smallest class has rows;
        if it has only one row, the tree is not pruned, with a warning.
    random_state : int or None, default=None
        The seed for drawing folds and held-out rows; None is 0. The draw depends on the values of the rows, not on
        their order. A row of integer weight w is drawn like w rows.
    verbose : int, default=0
        0: no output. 1: a fit that takes longer than two seconds reports its progress on stderr (folds, depth, rows,
        time). 2: every step is reported.
    n_jobs : int or None, default=None
        The number of threads, as in joblib: None is 1 (or the setting of ``joblib.parallel_config``), -1 all cores. The
        tree does not depend on it.

    Attributes
    ----------
    tree_ : fasttree.trees.tree.Tree
    classes_ : array of the class labels, sorted
    n_features_in_ : int
    feature_names_in_ : array of names, if the table had column names
    feature_importances_ : array, the share of each attribute in the total impurity reduction. It favours attributes
    with
        many values, even if they are noise; see `fasttree.permutation_importance`
    pruning_trace_ : fasttree.pruning.Trace, if the tree was pruned: what was removed, and why
    pruning_path_, pruning_choice_ : with cost-complexity pruning, all pruned trees and the errors by which one was
    selected

    Notes
    -----
    Infinite values are treated like other numbers.
    """

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
        """Grow the tree, and prune it if `pruning` is set.

        X is a table (numpy, list of rows, dict of columns, pandas, polars, Arrow) or `Columns`, then without y. A row
        of integer weight w counts as w copies, a row of weight 0 is ignored; if any weights are not integers, all are
        scaled to mean 1. Whatever depends on the amount of evidence (size limits, C4.5, pruning, significance tests,
        message lengths) therefore treats rows of weight 2 as more evidence than rows of weight 1; apart from that,
        splits and class probabilities do not change if all weights are multiplied by the same factor. `X_val` and
        `y_val` are validation rows, for "reduced_error" and "cost_complexity" pruning. `groups` is a column with the
        group of each row (the patient, for example): where pruning draws folds or held-out rows, the rows of a group
        stay together.
        """
        return self._fit(X, y, sample_weight, X_val, y_val, groups)

    def _growth(self) -> GrowthParams:
        return check_growth(self.get_params(deep=False))

    def _pruner(self, said: Any, name: str = "pruning") -> Any:
        return ways.read_method(said, name)

    def _object_for(self, name: str, value: Any, part: str) -> str:
        if name == "significance":
            return f" first: significance=fasttree.pruning.Significance({part}=...)"
        if name != "pruning":
            return ""
        if isinstance(value, str) and value in ways.METHODS:
            return f" first: pruning=fasttree.pruning.{ways.METHODS[value].__name__}()"
        having = [kind.__name__ for kind in ways.METHODS.values() if hasattr(kind, part)]
        return f" first: pruning=fasttree.pruning.{having[0]}()" if having else ""

    def _check_restored(self) -> None:
        super()._check_restored()
        if self._choices is not None:
            check_choices(self._choices, self.tree_)

    def candidates(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Candidates:
        """Return the candidate splits of each node: the score of every attribute's best split, and the margin of the
        best attribute over the runner-up. `X`, `y`, `sample_weight` and `groups` are those of `fit`: the tree is grown
        again.

        Print the result, index it by node, or call ``columns()``:

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
        pruner = self._pruner(self.pruning)
        holds_out = pruner is not None and pruner.needs == HELD_OUT
        with trainer_of(self, X, y, sample_weight, with_table=holds_out, groups=groups) as trainer:
            return candidates_of(trainer, self.tree_, is_raised, holds_out)
