# SPDX-License-Identifier: BSD-3-Clause
"""Growth: the textbooks' trees, and equality with the slow reference on anything."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import reference
import textbook_tables as tables
from agreement import assert_every_choice_is_best, assert_same_tree, difference, nodes_of
from goldens import GOLDENS, Golden, as_subsets, nest
from hypothesis import given
from hypothesis import strategies as st
from reference import Attribute
from strategies import CRITERIA, Problem, medium, problems

import fasttree
from fasttree import CARTClassifier, ID3Classifier, TreeClassifier

# -- the textbooks -----------------------------------------------------------------------------


@pytest.mark.parametrize("golden", GOLDENS, ids=str)
def test_golden_tree(golden: Golden) -> None:
    model = TreeClassifier(**golden.parameters).fit(golden.table.X, golden.table.y)
    nodes = nodes_of(model.tree_)
    assert nest(nodes, golden.table) == as_subsets(golden.tree)
    if golden.scores and golden.parameters["criterion"] != "gain_ratio":
        gains = [node.split.gain for node in nodes if node.split is not None]
        assert gains == pytest.approx(golden.scores, abs=1e-9)
    assert model.get_n_leaves() == golden.n_leaves
    wrong = model.predict(golden.table.X) != np.array(golden.table.target.values)
    assert wrong.sum() == golden.n_errors


@pytest.mark.parametrize("golden", GOLDENS, ids=str)
def test_golden_tree_equals_reference(golden: Golden) -> None:
    model = TreeClassifier(**golden.parameters).fit(golden.table.X, golden.table.y)
    assert_same_tree(model.tree_, golden.table.grow(**golden.parameters))


def test_presets_are_the_textbooks_methods() -> None:
    table = tables.PLAY_TENNIS
    id3 = ID3Classifier().fit(table.X, table.y)
    cart = CARTClassifier(pruning=None).fit(table.X, table.y)
    by_name = {golden.name: golden for golden in GOLDENS}
    assert nest(nodes_of(id3.tree_), table) == as_subsets(by_name["tennis-id3"].tree)
    assert nest(nodes_of(cart.tree_), table) == as_subsets(by_name["tennis-cart"].tree)


def test_renaming_changes_nothing() -> None:
    # buys_computer is PlayTennis with other words in another order of the rows.
    tennis = ID3Classifier().fit(tables.PLAY_TENNIS.X, tables.PLAY_TENNIS.y).tree_
    buys = ID3Classifier().fit(tables.BUYS_COMPUTER.X, tables.BUYS_COMPUTER.y).tree_
    for name in ("attribute", "first_child", "n_children", "counts", "pred", "gain", "depth"):
        assert np.array_equal(getattr(tennis, name), getattr(buys, name)), name


def test_mammals_of_the_test_table() -> None:
    model = ID3Classifier().fit(tables.MAMMALS_10.X, tables.MAMMALS_10.y)
    guesses = model.predict(tables.MAMMALS_TEST.X)
    truth = np.array(tables.MAMMALS_TEST.target.values)
    wrong = [n for n, bad in zip(tables.MAMMALS_TEST_NAMES, guesses != truth, strict=True) if bad]
    assert wrong == ["human", "dolphin"]


@pytest.mark.parametrize(
    ("model", "wrong_days"),
    [(ID3Classifier(), [6, 8, 11]), (CARTClassifier(pruning=None), [4, 5, 6, 8, 11, 12, 14])],
    ids=["id3", "cart"],
)
def test_leave_one_out_on_play_tennis(model: TreeClassifier, wrong_days: list[int]) -> None:
    table = tables.PLAY_TENNIS
    wrong = []
    for day in range(14):
        rest = table.rows([row for row in range(14) if row != day])
        guess = model.fit(rest.X, rest.y).predict(table.rows([day]).X)
        if guess[0] != table.target.values[day]:
            wrong.append(day + 1)
    assert wrong == wrong_days


def test_class_ties_go_to_the_declared_order() -> None:
    X = np.zeros((4, 1))
    values = np.array(["yes", "no", "yes", "no"], dtype=object)
    assert TreeClassifier().fit(X, values).predict(X)[0] == "no"  # sorted
    declared = fasttree.Categorical(values, ["yes", "no"])
    model = TreeClassifier().fit(X, declared)
    assert model.predict(X)[0] == "yes"
    assert list(model.classes_) == ["no", "yes"]


# -- equality with the reference -----------------------------------------------------------------


@given(problems())
def test_equals_reference(problem: Problem) -> None:
    assert_same_tree(problem.fit().tree_, problem.grower().grow())


@given(problems(kinds=("numeric",), max_rows=60))
def test_equals_reference_on_numbers(problem: Problem) -> None:
    assert_same_tree(problem.fit().tree_, problem.grower().grow())


@given(problems(kinds=("categorical",), max_rows=60))
def test_equals_reference_on_categories(problem: Problem) -> None:
    assert_same_tree(problem.fit().tree_, problem.grower().grow())


@given(problems(weights=("fractional",)))
def test_equals_reference_with_fractional_weights(problem: Problem) -> None:
    tree = problem.fit().tree_
    if difference(tree, problem.grower().grow(), tolerance=1e-9) is not None:
        assert_every_choice_is_best(tree, problem.grower())


@given(problems(), st.sampled_from([2, 4]))
def test_threads_change_nothing(problem: Problem, n_jobs: int) -> None:
    assert problem.fit(n_jobs=n_jobs).tree_.fingerprint() == problem.fit().tree_.fingerprint()


@pytest.mark.parametrize(
    ("criterion", "shape", "n_classes", "weighting"),
    [
        ("gini", "subset", 2, "none"),
        ("gini", "multiway", 5, "none"),
        ("entropy", "subset", 2, "whole"),
        ("entropy", "multiway", 3, "none"),
        ("gain_ratio", "multiway", 2, "none"),
        ("gain_ratio", "subset", 2, "whole"),
        ("misclassification", "subset", 2, "none"),
        ("misclassification", "multiway", 4, "whole"),
    ],
)
def test_equals_reference_on_a_larger_table(
    criterion: str, shape: str, n_classes: int, weighting: str
) -> None:
    problem = medium(criterion, shape, n_classes, weighting, seed=5, n_rows=700)
    assert_same_tree(problem.fit().tree_, problem.grower().grow())
    limits = {"max_depth": 7, "min_samples_split": 12, "min_samples_leaf": 5, "max_leaves": 23}
    problem.parameters |= limits
    assert_same_tree(problem.fit(n_jobs=2).tree_, problem.grower().grow())


@pytest.mark.parametrize("criterion", CRITERIA)
def test_fractional_weights_on_a_larger_table(criterion: str) -> None:
    problem = medium(criterion, "subset", 2, "fractional", seed=6, n_rows=500)
    assert_every_choice_is_best(problem.fit().tree_, problem.grower())


@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_subset_is_looked_at_with_more_than_two_classes(criterion: str) -> None:
    problem = medium(criterion, "subset", 3, "none", 8, n_rows=120, levels=(6, 8), max_depth=3)
    assert_same_tree(problem.fit().tree_, problem.grower().grow())


@pytest.mark.parametrize("n_levels", [12, 13])
def test_exhaustive_up_to_12_values_then_flagged(n_levels: int) -> None:
    rng = np.random.default_rng(n_levels)
    codes = np.tile(np.arange(n_levels), 30)
    y = (codes * 7 % 3 + rng.integers(0, 2, len(codes))) % 3
    problem = Problem([Attribute(codes.tolist(), n_levels)], y.tolist(), None, {"max_depth": 1})
    tree = problem.fit().tree_
    assert bool(tree.heuristic[0]) == (n_levels > 12)
    assert_same_tree(tree, problem.grower().grow())


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("others", [1, 2])
def test_many_levels_of_two_classes_among_others(criterion: str, others: int) -> None:
    """What is the best subset for two classes is the best for any two of several, and no heuristic: also where there
    are as many rows of one as of the other."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        codes = np.repeat(np.arange(16), 6)
        y = (rng.random(96) < rng.random(16)[codes]).astype(int)
        if seed % 2:
            y = np.tile(np.repeat([0, 1], 6), 8)  # half of the levels each
        two = Problem([Attribute(codes.tolist(), 16)], y.tolist(), None, {"criterion": criterion})
        alone = two.fit().tree_
        codes = np.append(codes, np.tile(np.arange(16), 20 * others))
        apart = [0.0] * 96 + np.repeat(np.arange(1.0, others + 1), 320).tolist()
        attributes = [Attribute(apart), Attribute(codes.tolist(), 16)]
        parameters = {"criterion": criterion}
        classes = [c + others for c in y.tolist()] + np.repeat(np.arange(others), 320).tolist()
        problem = Problem(attributes, classes, None, parameters)
        tree = problem.fit().tree_
        assert_every_choice_is_best(tree, problem.grower())
        below = np.flatnonzero(tree.counts[:, others:].sum(axis=1) == 96)[-1]
        assert tree.counts[below, :others].sum() == 0
        assert tree.attribute[below] == 1
        assert not tree.heuristic[below]
        assert tree.gain[below] == pytest.approx(alone.gain[0])


def test_a_class_with_one_share_everywhere_gives_no_direction() -> None:
    """The first class has a third of each level's rows, and tells nothing of the other two, which levels part."""
    codes = np.repeat(np.arange(14), 6)
    y = np.tile([0, 0, 1, 1, 1, 1, 0, 0, 2, 2, 2, 2], 7)
    problem = Problem([Attribute(codes.tolist(), 14)], y.tolist(), None, {"max_depth": 1})
    tree = problem.fit().tree_
    assert_same_tree(tree, problem.grower().grow())
    assert tree.heuristic[0]
    assert tree.counts[1:].tolist() == [[14, 28, 0], [14, 0, 28]]


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_hundreds_of_levels(criterion: str, n_classes: int) -> None:
    problem = medium(criterion, "subset", n_classes, "none", 9, n_rows=600, levels=(40, 300))
    tree = problem.fit().tree_
    if n_classes == 2:
        assert not tree.heuristic.any()
        assert_same_tree(tree, problem.grower().grow())
    else:
        assert tree.heuristic[tree.attribute >= 8].any()
        assert_every_choice_is_best(tree, problem.grower())


@pytest.mark.parametrize("shape", ["subset", "multiway"])
def test_unknown_and_absent_levels_among_hundreds(shape: str) -> None:
    rng = np.random.default_rng(12)
    n_levels, n_rows = 300, 900
    codes = [(rng.random(n_rows) ** 2 * n_levels).astype(int) for _ in range(2)]
    y = ((codes[0] % 7 + codes[1] % 5) > 5).astype(int)
    X = {str(i): fasttree.Categorical(c, list(range(n_levels))) for i, c in enumerate(codes)}
    model = TreeClassifier(categorical_split=shape).fit(X, y)
    nodes = nodes_of(model.tree_)
    asked = [rng.integers(-20, n_levels, 500) for _ in range(2)]  # below 0: never declared
    answers = model.apply({str(i): a for i, a in enumerate(asked)})
    rows = [[max(a, -1) for a in row] for row in zip(*(a.tolist() for a in asked), strict=True)]
    assert answers.tolist() == reference.reference_apply(nodes, rows)


# -- rules of stopping ---------------------------------------------------------------------------


@given(problems(parameters=False), st.integers(1, 12))
def test_max_leaves_is_the_best_first_tree(problem: Problem, limit: int) -> None:
    problem.parameters = {"max_leaves": max(2, limit), "categorical_split": "multiway"}
    model = problem.fit()
    assert model.get_n_leaves() <= max(2, limit)
    assert_same_tree(model.tree_, problem.grower().grow())


def test_equal_expansions_are_taken_breadth_first() -> None:
    # Four blocks that are worth the same: with 6 leaves the first two are opened.
    x = [float(v) for v in range(16)]
    y = [0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 6, 7]
    problem = Problem([Attribute(x)], y, None, {"max_leaves": 6})
    assert_same_tree(problem.fit().tree_, problem.grower().grow())


def test_expansions_that_differ_by_rounding_are_equal() -> None:
    # Two nodes save 0.7548875... bits of weight each, by different sums: the left one comes first.
    x = [0.25, 0.0, 0.0, 0.0, 0.25, 0.25, 0.25, 0.5, 0.75, 0.5, 0.75, 1.0]
    y = [0, 0, 0, 0, 0, 1, 2, 0, 0, 1, 2, 0]
    problem = Problem([Attribute(x)], y, None, {"criterion": "entropy", "max_leaves": 4})
    assert_same_tree(problem.fit().tree_, problem.grower().grow())


@given(problems(), st.integers(2, 8), st.integers(1, 5))
def test_size_limits_hold(problem: Problem, split_size: int, leaf_size: int) -> None:
    problem.parameters |= {"min_samples_split": split_size, "min_samples_leaf": leaf_size}
    problem.parameters.pop("max_leaves", None)
    for node in nodes_of(problem.fit().tree_):
        if node.split is not None:
            assert node.weight >= split_size
            weights = sorted(sum(branch) for branch in node.split.branch_counts)
            assert weights[-2] >= leaf_size
            if problem.parameters["categorical_split"] == "subset" or not node.split.table:
                assert weights[0] >= leaf_size


def test_zero_gain_is_split_unless_told_otherwise() -> None:
    assert ID3Classifier().fit(tables.XOR.X, tables.XOR.y).get_n_leaves() == 4
    stopped = ID3Classifier(stop_zero_gain=True).fit(tables.XOR.X, tables.XOR.y)
    assert stopped.get_n_leaves() == 1
    assert CARTClassifier(pruning=None).fit(tables.XOR.X, tables.XOR.y).get_n_leaves() == 1


def test_min_gain_is_a_limit_on_the_score_itself() -> None:
    table = tables.PLAY_TENNIS
    for limit, leaves in ((0.2467, 5), (0.2468, 1)):
        assert ID3Classifier(min_gain=limit).fit(table.X, table.y).get_n_leaves() == leaves
    ratio = {"criterion": "gain_ratio", "categorical_split": "multiway"}
    for limit, leaves in ((0.156, 5), (0.157, 1)):
        model = TreeClassifier(min_gain=limit, **ratio).fit(table.X, table.y)
        assert model.get_n_leaves() == leaves


# -- ties ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "is_better"), [(10**8, True), (10**10, False)])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio", "misclassification"])
def test_a_later_candidate_must_be_better_by_1e_10(criterion: str, k: int, is_better: bool) -> None:
    """Two splits that differ in one row of 12 k. For gini the later one gains 1 / 12 k more: 8e-10 or 8e-12."""
    weights, y = [6 * k, 2 * k, k - 1, 1, 3 * k], [0, 1, 0, 0, 1]
    parameters = {"criterion": criterion, "max_depth": 1}
    first, later = np.array([0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 1])
    for shape in (float, str):  # thresholds and sets
        model = TreeClassifier(**parameters).fit(
            {"first": first.astype(shape), "later": later.astype(shape)}, y, weights
        )
        assert model.tree_.attribute[0] == int(is_better)
    # As cuts of one attribute: the row lies between both.
    values = [0.0, 0, 2, 1, 2]
    for ghosts in (0, 300):  # a histogram, a sorted list
        X = np.array([*values, *range(10, 10 + ghosts)]).reshape(-1, 1)
        columns = fasttree.Columns(X, y + [0] * ghosts)
        model = TreeClassifier(**parameters)
        model.fit(columns, sample_weight=weights + [0] * ghosts)
        assert model.tree_.threshold[0] == (1.5 if is_better else 0.5)


@pytest.mark.parametrize(("more", "n_leaves"), [(80, 2), (8, 1)])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
def test_a_gain_of_1e_10_is_none(criterion: str, more: int, n_leaves: int) -> None:
    """A million of each class beside `more` of the one and less of the other: a gain of 8e-10 or 8e-12 for gini."""
    k = 10**6
    y, weights = [0, 1, 0, 1], [k, k, k + more, k - more]
    model = TreeClassifier(criterion=criterion, max_depth=1, stop_zero_gain=True)
    for values in ([0.0, 0, 1, 1], ["a", "a", "b", "b"]):
        assert model.fit({"v": values}, y, weights).get_n_leaves() == n_leaves
    for ghosts in (0, 300):  # a histogram, a sorted list
        X = np.array([0.0, 0, 1, 1, *range(10, 10 + ghosts)]).reshape(-1, 1)
        columns = fasttree.Columns(X, y + [0] * ghosts)
        model.fit(columns, sample_weight=weights + [0] * ghosts)
        assert model.get_n_leaves() == n_leaves


@pytest.mark.parametrize("right", [(3, 1), (1, 7), (5, 4)])
def test_min_gain_is_reached_by_equality(right: tuple[int, int]) -> None:
    """Whatever side of the exact gain rounding takes the computed one to."""
    for left in [(a, b) for a in range(7) for b in range(7) if a * right[1] != b * right[0]]:
        counts = [left, right]
        n = sum(left) + sum(right)
        gini = [1 - Fraction(a * a + b * b, (a + b) ** 2) for a, b in counts]
        ones = Fraction(left[1] + right[1], n)
        gain = 2 * ones * (1 - ones) - sum(
            Fraction(sum(c), n) * g for c, g in zip(counts, gini, strict=True)
        )
        x = [[0.0]] * sum(left) + [[1.0]] * sum(right)
        y = [0] * left[0] + [1] * left[1] + [0] * right[0] + [1] * right[1]
        for weight in (None, np.full(n, 0.7)):
            model = TreeClassifier(min_gain=float(gain)).fit(x, y, sample_weight=weight)
            assert model.get_n_leaves() == 2, (left, right)
            model = TreeClassifier(min_gain=float(gain) + 1e-9).fit(x, y, sample_weight=weight)
            assert model.get_n_leaves() == 1
