# SPDX-License-Identifier: BSD-3-Clause
"""class_weight, misclassification_cost and min_weight_fraction_leaf against a slow tree with altered priors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from agreement import assert_same_tree
from candidates import TIE, Attribute, Split
from hypothesis import given
from hypothesis import strategies as st
from reference import SIZE, Grower, Node
from strategies import Problem, medium, problems

import fasttree
from fasttree import Categorical, ID3Classifier, TreeClassifier

NAN = math.nan
# Powers of two and whole numbers: products with weights are exact, so that ties stay ties.
WEIGHTS = (0.25, 0.5, 1, 1, 2, 3, 10)
NO_LIMITS = {"min_samples_leaf": 0, "min_samples_split": 0}
TREE = ("attribute", "first_child", "n_children", "table_codes", "table_branch", "pred", "parent")


class PriorGrower(Grower):
    """A reference tree in which rows count for their weight times what their class counts for.

    * factor of a class = class weight x sum of the costs of its mistakes. Scores see the factors.
    * The limits on sizes see weights without them, and `min_weight_fraction_leaf` weights with them;
      a branch is heavy enough if it is by both measures.
    * Shares have the class weights but not the costs; the label is the one of least expected cost.
    """

    def __init__(
        self,
        *arguments: Any,
        class_weight: Sequence[float] | None = None,
        cost: Sequence[Sequence[float]] | None = None,
        min_weight_fraction_leaf: float = 0.0,
        **parameters: Any,
    ) -> None:
        super().__init__(*arguments, **parameters)
        classes = range(self.n_classes)
        self.class_weight = class_weight or [1.0] * self.n_classes
        self.cost = cost or [[float(i != j) for j in classes] for i in classes]
        total_cost = [sum(row) for row in self.cost] if self.n_classes > 1 else [1.0]
        self.factor = [w * c for w, c in zip(self.class_weight, total_cost, strict=True)]
        y = self.candidates.y
        self.weights = [w * self.factor[y[row]] for row, w in enumerate(self.weights)]
        self.candidates.weights = self.weights
        self.least = min_weight_fraction_leaf * sum(self.weights)

    def plain(self, counts: Sequence[float]) -> list[float]:
        return [count / factor for count, factor in zip(counts, self.factor, strict=True)]

    def is_admissible(self, split: Split) -> bool:
        heavy = [
            sum(branch) > 0
            and sum(self.plain(branch)) >= self.min_samples_leaf - SIZE
            and sum(branch) >= self.least - SIZE * sum(self.weights)
            for branch in split.branch_counts
        ]
        return sum(heavy) >= 2

    def must_be_leaf(self, counts: Sequence[float], depth: int) -> bool:
        return (
            sum(c > 0 for c in counts) < 2
            or depth == self.max_depth
            or sum(self.plain(counts)) < self.min_samples_split - SIZE
        )

    def leaf(self, rows: list[int], depth: int, parent: int) -> Node:
        node = super().leaf(rows, depth, parent)
        weighed = [n * w for n, w in zip(self.plain(node.counts), self.class_weight, strict=True)]
        node.proba = [w / sum(weighed) for w in weighed]
        node.pred = self.cheapest(node.proba)
        return node

    def cheapest(self, proba: Sequence[float]) -> int:
        expected = [
            sum(p * row[label] for p, row in zip(proba, self.cost, strict=True))
            for label in range(self.n_classes)
        ]
        least = min(expected)
        return next(c for c in self.class_order if expected[c] <= least * (1 + TIE))

    def grow(self) -> list[Node]:
        nodes = super().grow()
        for node in nodes:
            node.counts = self.plain(node.counts)
        return nodes


def reference_of(problem: Problem, parameters: dict[str, Any], **priors: Any) -> list[Node]:
    return PriorGrower(
        problem.attributes,
        problem.y,
        problem.n_classes,
        weights=problem.weights,
        **parameters,
        **priors,
    ).grow()


def fit(problem: Problem, **parameters: Any) -> Any:
    model = TreeClassifier(**(problem.parameters | parameters))
    return model.fit(problem.X, np.array(problem.y), sample_weight=problem.weights)


def assert_same(problem: Problem, **priors: Any) -> Any:
    names = {"class_weight": "class_weight", "cost": "misclassification_cost"}
    given_to_model = {names.get(name, name): value for name, value in priors.items()}
    if priors.get("class_weight") is not None:
        given_to_model["class_weight"] = dict(enumerate(priors["class_weight"]))
    model = fit(problem, **given_to_model)
    nodes = reference_of(problem, problem.parameters, **priors)
    # The heaviest branch takes what training did not see; by which weight is not asked here.
    for place, node in enumerate(nodes[: len(model.tree_.attribute)]):
        if node.split is not None:
            if node.split.missing_branch is None:
                node.missing_branch = int(model.tree_.missing_branch[place])
            if node.split.table and not node.split.n_absent:
                node.default_branch = int(model.tree_.default_branch[place])
    assert_same_tree(model.tree_, nodes, tolerance=1e-9)
    return model


# -- class weights -------------------------------------------------------------------------------


@given(problems(holes=True), st.lists(st.sampled_from(WEIGHTS), min_size=4, max_size=4))
def test_class_weights_equal_reference(problem: Problem, weights: list[float]) -> None:
    assert_same(problem, class_weight=weights[: problem.n_classes])


@given(problems(kinds=("numeric",), max_rows=60), st.lists(st.sampled_from(WEIGHTS), min_size=4))
def test_class_weights_equal_reference_on_numbers(problem: Problem, weights: list[float]) -> None:
    assert_same(problem, class_weight=weights[: problem.n_classes])


@pytest.mark.parametrize("missing", ["branch", "fractional"])
@pytest.mark.parametrize(
    ("criterion", "shape", "n_classes", "weighting"),
    [
        ("gini", "subset", 2, "none"),
        ("gini", "multiway", 4, "whole"),
        ("entropy", "multiway", 3, "none"),
        ("gain_ratio", "subset", 2, "whole"),
        ("misclassification", "multiway", 3, "none"),
    ],
)
def test_class_weights_on_a_larger_table(
    criterion: str, shape: str, n_classes: int, weighting: str, missing: str
) -> None:
    """Columns on both sides of 255 values: the same tree as with the weights of the rows multiplied."""
    problem = medium(criterion, shape, n_classes, weighting, 5, 600, (2, 5), 0.2, missing=missing)
    factor = [2.0, 1.0, 5.0, 3.0][:n_classes]
    problem.parameters |= NO_LIMITS | {"max_depth": 5 if missing == "fractional" else None}
    assert_like_row_weights(problem, factor)
    if missing == "branch":
        problem.parameters |= {"min_samples_leaf": 4, "min_samples_split": 12}
        assert_same(problem, class_weight=factor)


def assert_like_row_weights(problem: Problem, factor: list[float]) -> None:
    ours = fit(problem, class_weight=dict(enumerate(factor)))
    raw = np.ones(len(problem.y)) if problem.weights is None else np.array(problem.weights)
    multiplied = Problem(problem.attributes, problem.y, None, problem.parameters)
    multiplied.weights = (raw * np.array(factor)[problem.y]).tolist()
    theirs = fit(multiplied)
    for name in TREE:
        assert np.array_equal(getattr(ours.tree_, name), getattr(theirs.tree_, name)), name
    assert np.array_equal(ours.tree_.threshold, theirs.tree_.threshold, equal_nan=True)
    np.testing.assert_allclose(ours.tree_.proba, theirs.tree_.proba, atol=1e-8)
    np.testing.assert_allclose(ours.tree_.gain, theirs.tree_.gain, atol=1e-8)
    np.testing.assert_allclose(ours.tree_.counts * np.array(factor), theirs.tree_.counts, atol=1e-6)
    trained = problem.asked([row for row, w in zip(problem.rows, raw, strict=True) if w > 0])
    np.testing.assert_allclose(
        ours.predict_proba(trained), theirs.predict_proba(trained), atol=1e-6
    )


@st.composite
def plain_problems(draw: st.DrawFn) -> Problem:
    """Without limits on sizes, which do not see class weights."""
    problem = draw(problems(holes=True))
    problem.parameters |= NO_LIMITS
    problem.parameters["missing"] = draw(st.sampled_from(["branch", "category", "fractional"]))
    return problem


@given(plain_problems(), st.lists(st.integers(1, 5), min_size=4, max_size=4))
def test_whole_class_weights_are_row_weights(problem: Problem, factor: list[int]) -> None:
    assert_like_row_weights(problem, [float(f) for f in factor[: problem.n_classes]])


@given(problems(holes=True), st.sampled_from([1, 0.25, 7, 0.1]))
def test_the_same_weight_for_all_classes_is_none(problem: Problem, weight: float) -> None:
    weights = dict.fromkeys(range(problem.n_classes), weight)
    assert fit(problem, class_weight=weights).tree_ == fit(problem).tree_


def test_a_tie_of_balanced_classes_goes_to_the_first() -> None:
    """Four classes of so many rows have no small whole numbers as ratios, and their shares differ by rounding."""
    rows = [200_273, 227_734, 267_087, 281_585]
    model = TreeClassifier(class_weight="balanced").fit(np.zeros((4, 1)), range(4), rows)
    assert model.tree_.counts[0].tolist() == rows
    assert np.ptp(model.tree_.proba[0]) == 0
    assert model.predict([[0.0]]).tolist() == [0]


def test_the_heavier_branch_has_class_weights_but_no_costs() -> None:
    """A value that is missing only later goes there."""
    X, y = {"x": [1.0] * 2 + [2.0] * 5}, ["ill"] * 2 + ["well"] * 5
    for parameters, branch in (
        ({}, 1),
        ({"class_weight": {"ill": 10}}, 0),
        ({"misclassification_cost": {"ill": {"well": 10}}}, 1),
    ):
        tree = TreeClassifier(**parameters).fit(X, y).tree_
        assert tree.missing_branch[0] == branch


def test_counts_are_those_of_rows() -> None:
    X, y = [[0.0], [0.0], [1.0], [1.0]], [0, 1, 1, 1]
    model = TreeClassifier(class_weight={0: 4}, max_depth=1).fit(X, y)
    assert model.tree_.counts.tolist() == [[1, 3], [1, 1], [0, 2]]
    assert model.tree_.proba[0] == pytest.approx([4 / 7, 3 / 7])
    assert model.predict_proba([[0.0]])[0] == pytest.approx([0.8, 0.2])
    assert model.tree_.pred.tolist() == [0, 0, 1]


def test_sizes_are_those_of_rows() -> None:
    X, y = [[0.0]] * 2 + [[1.0]] * 4, [0, 0, 1, 1, 1, 1]
    for weight in (0.01, 1, 100):
        heavy = {"class_weight": {0: weight}}
        assert TreeClassifier(min_samples_leaf=2, **heavy).fit(X, y).get_n_leaves() == 2
        assert TreeClassifier(min_samples_leaf=3, **heavy).fit(X, y).get_n_leaves() == 1
        assert TreeClassifier(min_samples_split=6, **heavy).fit(X, y).get_n_leaves() == 2
        assert TreeClassifier(min_samples_split=7, **heavy).fit(X, y).get_n_leaves() == 1


@pytest.mark.parametrize("counts", [(2, 6), (5, 1, 9), (3, 3), (4, 7, 1, 2)])
def test_balanced(counts: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(len(counts)), counts)
    X = rng.integers(0, 4, size=(len(y), 3)) + y[:, np.newaxis] * 0.5
    n, n_classes = sum(counts), len(counts)
    by_hand = {c: n / (n_classes * count) for c, count in enumerate(counts)}
    balanced = TreeClassifier(class_weight="balanced").fit(X, y)
    assert balanced.tree_ == TreeClassifier(class_weight=by_hand).fit(X, y).tree_
    assert balanced.tree_.proba[0] == pytest.approx([1 / n_classes] * n_classes)
    assert balanced.tree_.pred[0] == 0  # all are equal there
    # Only ratios count.
    whole = {c: math.lcm(*counts) // count for c, count in enumerate(counts)}
    assert balanced.tree_ == TreeClassifier(class_weight=whole).fit(X, y).tree_


def test_balanced_counts_weights() -> None:
    X, y, weight = [[0.0], [1.0], [2.0]], [0, 1, 1], [4.0, 1.0, 1.0]
    model = TreeClassifier(class_weight="balanced", max_depth=0).fit(X, y, sample_weight=weight)
    assert model.tree_.proba[0] == pytest.approx([0.5, 0.5])
    assert model.tree_.counts[0].tolist() == [4, 2]


def test_labels_of_text_and_classes_left_out() -> None:
    X, y = [[0.0], [0.0], [0.0], [1.0]], ["low", "high", "high", "none"]
    model = TreeClassifier(class_weight={"low": 3}).fit(X, y)
    assert model.predict([[0.0]])[0] == "low"
    assert model.predict_proba([[0.0]])[0] == pytest.approx([2 / 5, 3 / 5, 0])


@pytest.mark.parametrize("missing", ["branch", "fractional"])
@pytest.mark.parametrize(
    "priors", [{"class_weight": {0: 3}}, {"misclassification_cost": [[0, 2.5], [7, 0]]}]
)
def test_light_rows_keep_their_weight_beside_class_weights(priors: Any, missing: str) -> None:
    """Factors that are small numbers take few of the digits that a sum has; the rest is for the weights of rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 3)), rng.integers(0, 2, 2000)
    weight = np.exp(rng.normal(0, 2.5, 2000))  # from a ten-thousandth of their mean
    X[0, 0] = NAN
    model = TreeClassifier(missing=missing, max_depth=8, **NO_LIMITS, **priors)
    tree = model.fit(X, y, weight).tree_
    expected = np.zeros_like(tree.counts)
    np.add.at(expected, (model.apply(X[1:]), y[1:]), weight[1:] / weight.mean())
    known = tree.is_leaf() & ((tree.counts.sum(axis=1) - expected.sum(axis=1)) < 1e-6)
    assert known.sum() > 50
    assert expected[known].sum(axis=1).min() < 0.01
    np.testing.assert_allclose(tree.counts[known], expected[known], rtol=1e-6)


@pytest.mark.parametrize("missing", ["branch", "fractional"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_fractional_weights_leave_room_for_any_class_weights(n_classes: int, missing: str) -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 300))
        y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n))
        X, weight = rng.normal(size=(len(y), 1)), rng.random(len(y)) + 0.01
        X[0, 0] = NAN
        total = np.bincount(y, weight)
        model = TreeClassifier(missing=missing, class_weight="balanced", max_depth=1)
        tree = model.fit(X, y, weight).tree_
        np.testing.assert_allclose(tree.counts[0], total / weight.mean(), rtol=1e-9)
        # A tie, and the first class wins it.
        assert np.ptp(tree.proba[0]) == 0
        np.testing.assert_allclose(tree.proba[0], 1 / n_classes, rtol=1e-12)
        assert tree.pred[0] == 0


@pytest.mark.parametrize("missing", ["branch", "fractional"])
def test_very_heavy_rows_beside_class_weights(missing: str) -> None:
    """Products of weights and factors are counted exactly, or rounded where no sum would be exact."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
    X[::7, 1] = NAN
    plain: dict[str, Any] = {"missing": missing, "max_depth": 3, **NO_LIMITS}
    for class_weight in (3, math.pi):
        model = TreeClassifier(class_weight={0: class_weight}, **plain)
        light = model.fit(X, y).tree_
        for weight in (1e6, 1e11, 4e12, 1e14):
            tree = model.fit(X, y, np.full(1000, weight)).tree_
            assert np.array_equal(tree.attribute, light.attribute)
            unit = 1 if weight > 2**42 else weight  # then weights are scaled like fractional ones
            np.testing.assert_allclose(tree.counts / unit, light.counts, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(tree.proba, light.proba, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("priors", [{"class_weight": "balanced"}, {"class_weight": {0: 0.351723}}])
def test_many_light_rows_keep_their_weight_beside_any_class_weights(priors: Any) -> None:
    """What is left of 2^52 steps for a row is shared by its weight and its class: none of both gets a few bits only."""
    rng = np.random.default_rng(0)
    n = 200_000
    X, y = rng.normal(size=(n, 1)), (rng.random(n) < 0.07).astype(int)
    weight = np.exp(rng.normal(0, 1.5, n))
    model = TreeClassifier(max_depth=10, **NO_LIMITS, **priors).fit(X, y, weight)
    expected = np.zeros_like(model.tree_.counts)
    np.add.at(expected, (model.apply(X), y), weight / weight.mean())
    leaf = model.tree_.is_leaf()
    np.testing.assert_allclose(model.tree_.counts[leaf], expected[leaf], rtol=1e-6, atol=1e-8)
    factor = [1 / np.sum(weight[y == c]) for c in (0, 1)]
    weighed = expected[leaf] * (factor if priors["class_weight"] == "balanced" else [0.351723, 1])
    shares = weighed / weighed.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.tree_.proba[leaf], shares, rtol=0, atol=1e-8)


# -- costs ---------------------------------------------------------------------------------------


@st.composite
def cost_matrices(draw: st.DrawFn) -> list[list[float]]:
    """For four classes; no class whose mistakes are all for nothing."""
    costs = draw(st.lists(st.integers(1, 9), min_size=16, max_size=16))
    free = draw(st.lists(st.booleans(), min_size=16, max_size=16))
    matrix = np.array(costs, dtype=float).reshape(4, 4)
    matrix[np.array(free).reshape(4, 4) & (np.arange(4) > 1)] = 0  # column 0 and 1 always cost
    np.fill_diagonal(matrix, 0)
    return matrix.tolist()


def first_classes(matrix: list[list[float]], n_classes: int) -> list[list[float]]:
    return [row[:n_classes] for row in matrix[:n_classes]]


@given(problems(holes=True), cost_matrices())
def test_costs_equal_reference(problem: Problem, matrix: list[list[float]]) -> None:
    assert_same(problem, cost=first_classes(matrix, problem.n_classes))


@given(
    problems(holes=True),
    cost_matrices(),
    st.lists(st.sampled_from(WEIGHTS), min_size=4, max_size=4),
)
def test_costs_and_class_weights_equal_reference(
    problem: Problem, matrix: list[list[float]], weights: list[float]
) -> None:
    assert_same(
        problem,
        cost=first_classes(matrix, problem.n_classes),
        class_weight=weights[: problem.n_classes],
    )


@given(problems(holes=True), st.sampled_from([1.0, 0.5, 30.0]))
def test_equal_costs_change_nothing(problem: Problem, cost: float) -> None:
    matrix = cost * (1 - np.eye(problem.n_classes))
    assert fit(problem, misclassification_cost=matrix).tree_ == fit(problem).tree_


@pytest.mark.parametrize("share", [0.1, 0.25, 0.3, 0.5, 0.7, 0.75])
@pytest.mark.parametrize(("miss", "alarm"), [(1, 1), (3, 1), (1, 3), (9, 1), (1, 2.5)])
def test_two_classes_have_one_limit(share: float, miss: float, alarm: float) -> None:
    """Class 1 is told from alarm / (miss + alarm) of its rows on; at the limit the first class."""
    n = 20
    y = [int(row < share * n) for row in range(n)]
    cost = [[0, alarm], [miss, 0]]
    model = TreeClassifier(misclassification_cost=cost).fit(np.zeros((n, 1)), y)
    limit = alarm / (miss + alarm)
    assert model.predict([[0.0]])[0] == int(share > limit + 1e-9)
    assert model.predict_proba([[0.0]])[0] == pytest.approx([1 - share, share])


def test_growth_with_altered_priors() -> None:
    """The drop of impurity at the root, worked out with the classes' weights times their costs."""
    X = [[0.0]] * 6 + [[1.0]] * 4
    y = [0, 0, 0, 0, 1, 1, 0, 1, 1, 1]
    model = TreeClassifier(misclassification_cost=[[0, 1], [4, 0]], max_depth=1).fit(X, y)
    # With 4 for each row of class 1: 5 : 20 is divided into 4 : 8 and 1 : 12.
    expected = 1 - 0.2**2 - 0.8**2
    for part, one, two in ((12 / 25, 1 / 3, 2 / 3), (13 / 25, 1 / 13, 12 / 13)):
        expected -= part * (1 - one**2 - two**2)
    assert model.tree_.gain[0] == pytest.approx(expected, abs=1e-12)
    assert model.tree_.counts.tolist() == [[5, 5], [4, 2], [1, 3]]
    assert model.tree_.pred.tolist() == [1, 1, 1]
    assert model.predict_proba(X)[0] == pytest.approx([2 / 3, 1 / 3])


def test_costs_as_dicts_of_labels() -> None:
    X, y = [[0.0]] * 5, ["ill", "well", "well", "well", "well"]
    model = TreeClassifier(misclassification_cost={"ill": {"well": 5}}).fit(X, y)
    assert model.classes_.tolist() == ["ill", "well"]
    assert model.predict(X)[0] == "ill"
    assert model.predict_proba(X)[0] == pytest.approx([0.2, 0.8])
    as_array = TreeClassifier(misclassification_cost=[[0, 5], [1, 0]]).fit(X, y)
    assert as_array.tree_ == model.tree_


def test_ties_of_costs_go_by_the_order_of_the_classes() -> None:
    X, cost = [[0.0]] * 4, [[0, 1], [3, 0]]
    assert TreeClassifier(misclassification_cost=cost).fit(X, [0, 0, 0, 1]).predict(X)[0] == 0
    y = Categorical(["a", "a", "a", "b"], ["b", "a"])
    assert TreeClassifier(misclassification_cost=cost).fit(X, y).predict(X)[0] == "b"


def test_ties_of_costs_in_rows_that_are_shared_out() -> None:
    """Half of the row is all "a", half is one in two: 0.75 x 1 for "b" is 0.25 x 3 for "a"."""
    X, labels = [[0.0], [0.0], [1.0], [1.0]], ["a", "a", "a", "b"]
    model = TreeClassifier(missing="fractional", misclassification_cost=[[0, 1], [3, 0]])
    for y, expected in ((labels, "a"), (Categorical(labels, ["b", "a"]), "b")):
        model.fit(X, y)
        assert model.predict_proba([[NAN]])[0].tolist() == [0.75, 0.25]
        assert model.predict([[NAN]])[0] == expected


def test_a_branch_without_rows_says_what_its_parent_says() -> None:
    X = {"c": Categorical(["x", "x", "x", "y"], ["x", "y", "z"])}
    y = [0, 0, 0, 1]
    model = ID3Classifier(misclassification_cost=[[0, 1], [9, 0]]).fit(X, y)
    assert model.predict({"c": ["x", "y", "z"]}).tolist() == [0, 1, 1]
    assert model.predict_proba({"c": ["z"]})[0] == pytest.approx([0.75, 0.25])


def test_shares_of_a_row_are_mixed_before_costs_are_asked() -> None:
    # The known rows: 6 at 0 (1 of class 1), 4 at 1 (2 of class 1).
    X = [[0.0]] * 6 + [[1.0]] * 4
    y = [0] * 5 + [1] + [0] * 2 + [1] * 2
    model = TreeClassifier(
        missing="fractional", misclassification_cost=[[0, 1], [2.2, 0]], max_depth=1
    ).fit(X, y)
    assert model.tree_.counts.tolist() == [[7, 3], [5, 1], [2, 2]]
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]
    assert model.predict([[NAN]])[0] == 0  # 0.3 x 2.2 is less than 0.7
    dearer = TreeClassifier(
        missing="fractional", misclassification_cost=[[0, 1], [2.4, 0]], max_depth=1
    ).fit(X, y)
    assert dearer.predict([[NAN]])[0] == 1
    assert dearer.predict([[0.0]])[0] == 0


@pytest.mark.parametrize("missing", ["branch", "category", "fractional"])
def test_labels_cost_least_in_every_policy(missing: str) -> None:
    problem = medium("gini", "multiway", 3, "none", 2, 500, (2, 5), 0.3, missing=missing)
    cost = np.array([[0, 1, 4], [2, 0, 1], [7, 3, 0]])
    model = fit(problem, misclassification_cost=cost, min_samples_leaf=5)
    shares = model.predict_proba(problem.X)
    expected = shares @ cost
    chosen = expected[np.arange(len(shares)), model.predict(problem.X)]
    np.testing.assert_allclose(chosen, expected.min(axis=1), atol=1e-9)


@given(problems(holes=True), cost_matrices(), st.randoms(use_true_random=False))
def test_order_of_the_rows_and_threads(problem: Problem, matrix: Any, random: Any) -> None:
    order = random.sample(range(len(problem.y)), len(problem.y))
    priors = {
        "misclassification_cost": first_classes(matrix, problem.n_classes),
        "class_weight": "balanced",
    }
    theirs = fit(problem.take(order), n_jobs=2, **priors).tree_
    assert fit(problem, **priors).tree_.fingerprint() == theirs.fingerprint()


# -- the least share of the weight ---------------------------------------------------------------


@given(problems(holes=True), st.sampled_from([0.04, 0.1, 0.2, 0.25, 0.5]))
def test_fraction_equals_reference(problem: Problem, fraction: float) -> None:
    assert_same(problem, min_weight_fraction_leaf=fraction)


@given(
    problems(holes=True),
    st.sampled_from([0.04, 0.1, 0.2]),
    st.lists(st.sampled_from(WEIGHTS), min_size=4, max_size=4),
)
def test_fraction_with_class_weights_equals_reference(
    problem: Problem, fraction: float, weights: list[float]
) -> None:
    assert_same(
        problem, min_weight_fraction_leaf=fraction, class_weight=weights[: problem.n_classes]
    )


def test_the_fraction_is_reached_by_equality() -> None:
    for n_small, n_rows in ((1, 10), (3, 10), (7, 70), (3, 30), (7, 100)):  # 0.07 * 100 > 7
        X = [[float(row < n_small)] for row in range(n_rows)]
        y = [int(row < n_small) for row in range(n_rows)]
        share = n_small / n_rows
        for fraction, n_leaves in ((share, 2), (share + 1e-6, 1), (share - 1e-6, 2)):
            model = TreeClassifier(min_weight_fraction_leaf=fraction).fit(X, y)
            assert model.get_n_leaves() == n_leaves


def test_the_fraction_counts_class_weights() -> None:
    X, y = [[1.0]] + [[0.0]] * 9, [1] + [0] * 9
    limit = {"min_weight_fraction_leaf": 0.25}
    assert TreeClassifier(**limit).fit(X, y).get_n_leaves() == 1
    assert TreeClassifier(class_weight={1: 3}, **limit).fit(X, y).get_n_leaves() == 2
    assert TreeClassifier(class_weight={1: 2.9}, **limit).fit(X, y).get_n_leaves() == 1
    weighted = TreeClassifier(**limit).fit(X, y, sample_weight=[3] + [1] * 9)
    assert weighted.get_n_leaves() == 2


def test_two_branches_of_several_must_hold_the_fraction() -> None:
    codes = ["a"] * 4 + ["b"] * 4 + ["c", "d"]
    X = {"c": Categorical(codes, ["a", "b", "c", "d"])}
    y = [0] * 4 + [1] * 4 + [0, 1]
    for fraction, n_leaves in ((0.4, 4), (0.41, 1)):
        model = ID3Classifier(min_weight_fraction_leaf=fraction).fit(X, y)
        assert model.get_n_leaves() == n_leaves


# -- C4.5 with class weights ---------------------------------------------------------------------


def test_c45_collapses_by_weighted_errors() -> None:
    """Levels only, so that no rule asks for the number of rows: like weights of the rows."""
    rng = np.random.default_rng(5)
    n_splits = 0
    for _ in range(20):
        codes = rng.integers(0, 3, size=(3, 90))
        y = ((codes[0] == 1) & (codes[1] > 0)) ^ (rng.random(90) < 0.15)
        attributes = [Attribute(column.tolist(), 3) for column in codes]
        problem = Problem(attributes, y.astype(int).tolist())
        limits = {"min_samples_leaf": 0, "min_samples_split": 0}
        ours = fasttree.C45Classifier(class_weight={1: 4}, pruning=None, **limits).fit(problem.X, y)
        weights = np.where(y, 4.0, 1.0)
        theirs = fasttree.C45Classifier(pruning=None, **limits).fit(
            problem.X, y, sample_weight=weights
        )
        for name in TREE:
            assert np.array_equal(getattr(ours.tree_, name), getattr(theirs.tree_, name)), name
        n_splits += int((ours.tree_.attribute >= 0).sum())
    assert n_splits > 20


def test_columns_encoded_once_serve_any_class_weight() -> None:
    attributes = [Attribute([0.0, 1, 2, 3, 4, 5]), Attribute([0, 0, 1, 1, 2, 2], 3)]
    problem = Problem(attributes, [0, 0, 1, 0, 1, 1])
    columns = fasttree.Columns(problem.X, np.array(problem.y))
    for weights in (None, {0: 3}, "balanced", {0: 1, 1: 8}):
        model = TreeClassifier(class_weight=weights)
        once = model.fit(columns).tree_.fingerprint()
        assert once == fit(problem, class_weight=weights).tree_.fingerprint()
