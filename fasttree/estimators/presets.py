# SPDX-License-Identifier: BSD-3-Clause
"""The classic systems: `TreeClassifier` with their defaults, and what they do beside."""

from __future__ import annotations

from typing import Any

from fasttree.base.checks import check_flag
from fasttree.estimators.classifier import TreeClassifier
from fasttree.estimators.like_rpart import collapsed, with_sizes
from fasttree.estimators.parameters import preset
from fasttree.estimators.training import Grown
from fasttree.growth.params import GrowthParams, check_growth
from fasttree.mml.message import TestOptions
from fasttree.pruning import ErrorBased
from fasttree.pruning.collapse import collapse
from fasttree.trees.tree import Tree


class ID3Classifier(TreeClassifier):
    """ID3: information gain, one branch per category, no pruning. Numeric attributes are split by thresholds.

    All parameters are those of `TreeClassifier`. By default, `criterion` is "entropy", `categorical_split` "multiway",
    `missing` "fractional" and `ties` "schema".
    """

    __init__ = preset(
        TreeClassifier,
        criterion="entropy",
        categorical_split="multiway",
        missing="fractional",
        ties="schema",
    )


class CARTClassifier(TreeClassifier):
    """CART: gini, two-way splits, no splits without gain, surrogates for missing values. The tree is pruned by
    cost-complexity: the smallest tree within one standard error of the best one, by cross-validation with 10 folds.

    On a textbook table of a dozen rows, cross-validation hardly ever finds that a split pays: ``pruning=None`` gives
    the tree shown in the textbook. CART's other rule (0-SE, "CART0") is
    ``pruning=fasttree.pruning.CostComplexity(se=0)``.

    The parameters are those of `TreeClassifier` and:

    compat : None or "rpart", default=None
        "rpart": nodes and leaves have the sizes of R's rpart (`min_samples_split` is 20 and `min_samples_leaf` 7,
        unless they are set), and branches whose complexity is below its cp of .01 are taken back before pruning. With
        ``pruning=None`` the tree is the one that rpart prints.

    By default, `missing` is "surrogate", `stop_zero_gain` True, `ties` "schema" and `pruning` "cost_complexity".
    """

    compat: str | None

    __init__ = preset(
        TreeClassifier,
        missing="surrogate",
        stop_zero_gain=True,
        ties="schema",
        pruning="cost_complexity",
        extra={"compat": None},
    )

    def _growth(self) -> GrowthParams:
        return check_growth(with_sizes(type(self), self.get_params(deep=False)))

    def _finish(self, tree: Tree, choices: TestOptions | None) -> Grown:
        return collapsed(tree, self.compat), choices


class C45Classifier(TreeClassifier):
    """C4.5, release 8: gain ratio among the attributes with at least average gain, a penalty for the choice of a
    threshold, thresholds that are values of the table, between values more than 1e-5 apart, and rows with missing
    values distributed fractionally over the branches. A multiway split of a categorical attribute may have no gain, so
    that XOR is learned; a threshold must gain more than its penalty. The tree is collapsed, and pruned by pessimistic
    errors, with subtree raising. ``pruning=None`` gives C4.5's "unpruned" tree.

    The parameters are those of `TreeClassifier` and:

    collapse : bool, default=True
        Remove the splits that do not reduce the training errors, as C4.5 always does.
    compat : None or "j48", default=None
        "j48": reproduce the small differences of Weka's J48. Scores that differ by less than 1e-6 are equal, no split
        without gain is made (regardless of `stop_zero_gain`), and a threshold may be a value up to 1e-6 above the
        midpoint; "error_based" pruning uses the exact quantiles of the normal distribution.

    By default, `criterion` is "gain_ratio" (the only alternative is "entropy", the choice by gain alone, C4.5's
    ``-g``), `categorical_split` "multiway" ("grouped" merges categories similarly to C4.5's ``-s``), `missing`
    "fractional", `threshold` "value", `ties` "schema", `min_samples_split` 4, `min_samples_leaf` 2 (C4.5's ``-m`` sets
    it to m and the other to 2 m) and `pruning` "error_based" (C4.5's ``-c`` is
    ``pruning=fasttree.pruning.ErrorBased(confidence=...)``).

    Two branches of a categorical split must have the weight m. Each side of a threshold must have the weight m or, if
    this is more, a tenth of the number of rows per class, but a weight of 25 is always enough, even for a larger m.
    """

    collapse: bool
    compat: str | None

    __init__ = preset(
        TreeClassifier,
        criterion="gain_ratio",
        categorical_split="multiway",
        missing="fractional",
        threshold="value",
        min_samples_split=4,
        min_samples_leaf=2,
        ties="schema",
        pruning="error_based",
        extra={"collapse": True, "compat": None},
    )

    def _growth(self) -> GrowthParams:
        check_flag("collapse", self.collapse)
        return check_growth(self.get_params(deep=False), c45=True)

    def _pruner(self, said: Any, name: str = "pruning") -> Any:
        is_name = isinstance(said, str) and said == "error_based"
        of_j48 = is_name and self.compat == "j48"
        return ErrorBased(estimate="normal") if of_j48 else super()._pruner(said, name)

    def _finish(self, tree: Tree, choices: TestOptions | None) -> Grown:
        return collapse(tree) if self.collapse else tree, None
