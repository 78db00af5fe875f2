# SPDX-License-Identifier: BSD-3-Clause
"""Trees grown by message length or evidence: the shortest one, and averages over prunings."""

from __future__ import annotations

from fasttree.estimators.classifier import TreeClassifier
from fasttree.estimators.parameters import preset
from fasttree.estimators.training import Grown
from fasttree.growth.params import GrowthParams, check_growth
from fasttree.mml.averaging import average_prunings
from fasttree.mml.message import Alpha, TestOptions, prune_by_length
from fasttree.trees.tree import Tree

# A message tells the classes of the rows as they are, growth does not stop where a split does not pay, and what becomes
# of the grown tree is what the three are about.
MEANINGLESS = (
    "attribute_costs",
    "class_weight",
    "cost_function",
    "min_gain",
    "misclassification_cost",
    "pruning",
    "random_state",
    "significance",
    "significance_test",
    "stop_zero_gain",
)
HISTORICAL = {"categorical_split": "multiway", "missing": "fractional", "ties": "schema"}
_SHORTEST_MESSAGE = preset(
    TreeClassifier,
    criterion="message_length",
    **HISTORICAL,
    without=MEANINGLESS,
    extra={"alpha": 0.5, "lookahead": 0},
)


class ByLength(TreeClassifier):
    """What the three have in common. They lack the parameters of `TreeClassifier` that mean nothing to them."""

    alpha: Alpha
    attribute_costs = None
    cost_function = None
    class_weight = None
    misclassification_cost = None
    pruning = None
    random_state = None

    def _growth(self) -> GrowthParams:
        fixed = {"min_gain": 0.0, "stop_zero_gain": False}
        return check_growth(fixed | self.get_params(deep=False), by_length=True)


class SMMLClassifier(ByLength):
    """Strict minimum message length: the tree with the shortest message, for small yet accurate trees.

    The tree is grown by choosing the split with the shortest message at each node, whether or not it shortens the
    message, and is then pruned wherever a leaf does not make it longer. The probabilities of a leaf are (n_c + alpha) /
    (n + alpha * classes). This is the practical criterion, the shortest two-part message among the prunings of the
    grown tree; the strict one of the theory, a code that is shortest on average over all data, cannot be computed for
    trees.

    The parameters are those of `TreeClassifier`, except costs, class weights, `min_gain`, `stop_zero_gain`,
    `significance`, `significance_test`, `pruning` and `random_state`, and:

    alpha : float or "1/C", default=0.5
        The prior count of every class: 1 is Laplace's prior, 0.5 Jeffreys', "1/C" one divided by the number of classes
        (Perks').
    lookahead : {0, 1}, default=0
        0: the children of a split count as leaves. 1: each child counts as a leaf or as its own best split, whichever
        is shorter; this multiplies the time by the number of attributes.

    By default, `criterion` is "message_length" (the only alternative is "evidence"), `categorical_split` "multiway",
    `missing` "fractional" and `ties` "schema".
    """

    lookahead: int

    __init__ = _SHORTEST_MESSAGE

    def _finish(self, tree: Tree, choices: TestOptions | None) -> Grown:
        assert choices is not None
        pruned = prune_by_length(tree, choices, alpha=self.alpha)
        return pruned.tree, choices.of_subtree(tree, pruned.is_split)


class MMLClassifier(ByLength):
    """Minimum message length trees: grown like those of `SMMLClassifier` but not pruned. The class probabilities of a
    row are averages over all prunings, weighted by the probabilities that correspond to their message lengths.

    The trees are large, the probabilities smooth. The parameters are those of `SMMLClassifier`. By default,
    `criterion` is "message_length", `categorical_split` "multiway", `missing` "fractional" and `ties` "schema".
    """

    lookahead: int
    _averages = True

    __init__ = _SHORTEST_MESSAGE

    def _finish(self, tree: Tree, choices: TestOptions | None) -> Grown:
        return average_prunings(tree, choices, prior="wallace_patrick", alpha=self.alpha), choices


class BayesTreeClassifier(ByLength):
    """Bayesian trees: grown by the probability of the classes after a split, without the description length of the
    tree. Class probabilities are averages over all prunings, where every node is a leaf with prior probability 1/2.

    The parameters are those of `SMMLClassifier` except `lookahead`. By default, `criterion` is "evidence",
    `categorical_split` "multiway", `missing` "fractional" and `ties` "schema".
    """

    _averages = True

    __init__ = preset(
        TreeClassifier,
        criterion="evidence",
        **HISTORICAL,
        without=MEANINGLESS,
        extra={"alpha": 0.5},
    )

    def _finish(self, tree: Tree, choices: TestOptions | None) -> Grown:
        return average_prunings(tree, prior="half", alpha=self.alpha), choices
