# SPDX-License-Identifier: BSD-3-Clause
"""The classic systems: `TreeClassifier` with their defaults, and what they do beside."""

from __future__ import annotations

from typing import Any

from fasttree.base.checks import check_flag
from fasttree.estimators.classifier import TreeClassifier
from fasttree.estimators.parameters import preset
from fasttree.growth.choosers.c45 import collapse
from fasttree.growth.params import GrowthParams, check_growth
from fasttree.mml.message import TestOptions
from fasttree.pruning import ErrorBased
from fasttree.trees.tree import Tree


class ID3Classifier(TreeClassifier):
    """ID3: information gain, a branch for each level, no pruning. Numeric attributes are split by threshold.

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
    """CART: gini, two-way splits, none without gain, surrogates for missing values. The tree is pruned by
    cost-complexity: the smallest one within a standard error of the best in cross-validation with 10 folds.

    On a textbook's table of a dozen rows, cross-validation finds hardly ever that a split pays: ``pruning=None`` gives
    the tree that the textbook draws. CART's other rule (0-SE, "CART0") is
    ``pruning=fasttree.pruning.CostComplexity(se=0)``.

    All parameters are those of `TreeClassifier`. By default, `missing` is "surrogate", `stop_zero_gain` True, `ties`
    "schema" and `pruning` "cost_complexity".
    """

    __init__ = preset(
        TreeClassifier,
        missing="surrogate",
        stop_zero_gain=True,
        ties="schema",
        pruning="cost_complexity",
    )


class C45Classifier(TreeClassifier):
    """C4.5, release 8: gain ratio among the attributes of average gain or more, a price for the choice of a threshold,
    thresholds that are values of the table, between values more than 1e-5 apart, rows without a value shared out over
    the branches. A category with a branch for each level may split a node without gain, so that XOR is learned; a
    threshold must gain more than its price. The tree is collapsed, and pruned by pessimistic errors, with subtree
    raising. ``pruning=None`` gives C4.5's "unpruned" tree.

    The parameters are those of `TreeClassifier` and:

    collapse : bool, default=True
        Take back the splits that save no training errors, as C4.5 always does.
    compat : None or "j48", default=None
        "j48": the small differences of Weka's J48. Scores closer than 1e-6 are equal, no split without gain is made
        (whatever `stop_zero_gain` says), and a threshold may be a value up to 1e-6 above the middle; "error_based"
        pruning has the exact quantiles of the normal distribution.

    By default, `criterion` is "gain_ratio" (the only other is "entropy", the choice by gain alone, C4.5's ``-g``),
    `categorical_split` "multiway" ("grouped" merges levels much as C4.5's ``-s``), `missing` "fractional", `threshold`
    "value", `ties` "schema", `min_samples_split` 4, `min_samples_leaf` 2 (C4.5's ``-m`` sets it to m and the other to
    2 m) and `pruning` "error_based" (C4.5's ``-c`` is ``pruning=fasttree.pruning.ErrorBased(confidence=...)``).

    Two branches of a category must weigh m, each side of a threshold m or, where this is more, a tenth of the rows a
    class; then 25 are enough, even for a larger m.
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

    def _as_meant(self, pruner: Any, said: Any) -> Any:
        is_name = isinstance(said, str) and said == "error_based"
        return ErrorBased(estimate="normal") if is_name and self.compat == "j48" else pruner

    def _finish(self, tree: Tree, choices: TestOptions | None) -> Tree:
        self._choices = None
        return collapse(tree) if self.collapse else tree
