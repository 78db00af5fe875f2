# SPDX-License-Identifier: BSD-3-Clause
"""Growth: the textbooks' trees, and equality with the slow reference on anything."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import reference
import tables
from agreement import assert_every_choice_is_best, assert_same_tree, difference, nodes_of
from goldens import GOLDENS, Golden, as_subsets, nest
from hypothesis import given
from hypothesis import strategies as st
from reference import Attribute
from strategies import CRITERIA, Problem, medium, problems

import fasttree
from fasttree import CARTClassifier, ID3Classifier, TreeClassifier

BIG = 1.7976931348623157e308
TINY = 5e-324


def fit(x: Any, y: Any, **parameters: Any) -> TreeClassifier:
    """A tree on one numeric column."""
    return TreeClassifier(**parameters).fit(np.asarray(x, dtype=float).reshape(-1, 1), y)


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
    cart = CARTClassifier().fit(table.X, table.y)
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
    [(ID3Classifier(), [6, 8, 11]), (CARTClassifier(), [4, 5, 6, 8, 11, 12, 14])],
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
    assert CARTClassifier().fit(tables.XOR.X, tables.XOR.y).get_n_leaves() == 1


def test_min_gain_is_a_limit_on_the_score_itself() -> None:
    table = tables.PLAY_TENNIS
    for limit, leaves in ((0.2467, 5), (0.2468, 1)):
        assert ID3Classifier(min_gain=limit).fit(table.X, table.y).get_n_leaves() == leaves
    ratio = {"criterion": "gain_ratio", "categorical_split": "multiway"}
    for limit, leaves in ((0.156, 5), (0.157, 1)):
        model = TreeClassifier(min_gain=limit, **ratio).fit(table.X, table.y)
        assert model.get_n_leaves() == leaves


# -- thresholds and hostile numbers --------------------------------------------------------------


def test_thresholds_lie_midway_and_use_float64() -> None:
    tree = fit([1.0, 2.0, 4.0, 4.5], [0, 0, 1, 1]).tree_
    assert tree.threshold[0] == 3.0
    close = [1.0, 1.0 + 2**-40]  # the same number in float32
    model = fit(close, [0, 1])
    assert model.tree_.threshold[0] == 1.0 + 2**-41
    assert list(model.predict(np.reshape(close, (-1, 1)))) == [0, 1]


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.0, math.nextafter(1.0, 2.0)),
        (math.nextafter(1.0, 0.0), 1.0),
        (-1.0, math.nextafter(-1.0, 0.0)),
        (0.0, TINY),
        (TINY, 2 * TINY),
        (2 * TINY, 3 * TINY),
        (-TINY, 0.0),
        (-TINY, TINY),
        (-TINY, -0.0),
        (2.0**53, 2.0**53 + 2),
        (math.nextafter(BIG, 0.0), BIG),
        (-BIG, BIG),
        (BIG / 2, BIG),
        (-BIG, -BIG / 2),
        (BIG, math.inf),
        (-math.inf, -BIG),
        (-math.inf, math.inf),
        (-math.inf, 0.0),
        (0.0, math.inf),
        (3.0, math.inf),
    ],
)
@pytest.mark.parametrize("threshold", ["midpoint", "value"])
def test_a_cut_separates_what_it_separated(low: float, high: float, threshold: str) -> None:
    model = fit([low, high, low, high], ["a", "b", "a", "b"], threshold=threshold)
    (cut,) = model.tree_.threshold[:1]
    assert low <= cut < high
    expected = low if threshold == "value" else reference.midpoint(low, high)
    assert cut == expected
    assert math.copysign(1, cut) == 1 or cut != 0  # never -0.0
    assert list(model.predict(np.array([[low], [high]]))) == ["a", "b"]
    assert model.tree_.counts[1:].tolist() == [[2, 0], [0, 2]]


def test_negative_zero_is_zero() -> None:
    assert fit([-0.0, 0.0, -0.0], [0, 1, 1]).get_n_leaves() == 1
    model = fit([-1.0, -0.0, 0.0, 1.0], [0, 1, 1, 0])
    assert model.get_n_leaves() == 3
    assert list(model.predict(np.array([[0.0], [-0.0]]))) == [1, 1]


def test_infinite_values_are_numbers() -> None:
    x = [-math.inf, -math.inf, -1.0, 0.0, 1.0, math.inf, math.inf]
    y = [0, 0, 1, 0, 1, 0, 0]
    problem = Problem([Attribute(x)], y)
    model = problem.fit()
    assert_same_tree(model.tree_, problem.grower().grow())
    assert list(model.predict(problem.X)) == y


def test_integers_that_float64_would_round_are_refused() -> None:
    exact = np.array([2**53 - 2, 2**53 - 1, 2**53, -(2**53), 1 - 2**53]).reshape(-1, 1)
    model = TreeClassifier().fit(exact, np.arange(5))
    assert model.predict(exact).tolist() == [0, 1, 2, 3, 4]
    for dtype in ("int64", "uint64"):
        with pytest.raises(ValueError, match=r"x0.*2\*\*53"):
            TreeClassifier().fit(np.array([[2**53 + 1], [0]], dtype=dtype), [0, 1])


@given(problems(kinds=("numeric",)), st.integers(0, 2**32 - 1))
def test_a_strictly_monotone_transform_keeps_the_partition(problem: Problem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    moved = []
    for attribute in problem.attributes:
        levels = sorted(set(attribute.values))
        places = np.cumsum(rng.exponential(size=len(levels)) + 1e-3) * 10.0 ** rng.integers(-5, 6)
        where = dict(zip(levels, places.tolist(), strict=True))
        moved.append(Attribute([where[v] for v in attribute.values]))
    other = Problem(moved, problem.y, problem.weights, problem.parameters)
    ours, theirs = problem.fit(), other.fit()
    counted = np.array(problem.weights or [1.0] * len(problem.y)) > 0
    assert np.array_equal(ours.apply(problem.X[counted]), theirs.apply(other.X[counted]))
    for name in ("attribute", "first_child", "counts", "pred", "gain", "missing_branch"):
        assert np.array_equal(getattr(ours.tree_, name), getattr(theirs.tree_, name)), name


# -- bins ----------------------------------------------------------------------------------------


@given(problems())
def test_bins_lose_nothing_where_values_are_few(problem: Problem) -> None:
    assert problem.fit(max_bins=255).tree_.fingerprint() == problem.fit().tree_.fingerprint()


@pytest.mark.parametrize("n_values", [254, 255])
@pytest.mark.parametrize("threshold", ["midpoint", "value"])
def test_255_values_fit_into_255_bins(n_values: int, threshold: str) -> None:
    rng = np.random.default_rng(1)
    grid = np.sort(rng.normal(size=n_values))
    X = np.column_stack([rng.permutation(np.tile(grid, 4)) for _ in range(3)])
    y = rng.integers(0, 3, len(X))
    exact = TreeClassifier(threshold=threshold).fit(X, y)
    binned = TreeClassifier(threshold=threshold, max_bins=255).fit(X, y)
    assert np.array_equal(exact.tree_.threshold, binned.tree_.threshold, equal_nan=True)
    assert exact.tree_.fingerprint() == binned.tree_.fingerprint()


@pytest.mark.parametrize("max_bins", [2, 16, 255])
def test_lossy_bins(numeric_table: tuple[np.ndarray, np.ndarray], max_bins: int) -> None:
    X, y = numeric_table
    model = TreeClassifier(max_bins=max_bins, max_depth=6).fit(X, y)
    tree = model.tree_
    for attribute in range(X.shape[1]):
        cuts = np.unique(tree.threshold[tree.attribute == attribute])
        assert len(cuts) < max_bins
    arrived = np.zeros_like(tree.counts)
    np.add.at(arrived, (model.apply(X), y), 1)
    leaves = tree.attribute < 0
    assert np.array_equal(arrived[leaves], tree.counts[leaves])
    exact = TreeClassifier(max_depth=6).fit(X, y)
    loss = {2: 0.25, 16: 0.03, 255: 0.01}[max_bins]
    assert model.score(X, y) > exact.score(X, y) - loss


def test_bins_do_not_hang_on_infinite_values() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(size=2000), np.full(300, np.inf), np.full(300, -np.inf)])
    y = (np.abs(x) < 1).astype(int)
    model = fit(x, y, max_bins=32)
    assert model.score(x.reshape(-1, 1), y) > 0.97


# -- weights -------------------------------------------------------------------------------------


@given(problems(weights=("whole",)))
def test_whole_weights_are_copies(problem: Problem) -> None:
    assert problem.weights is not None
    copies = [r for r, w in enumerate(problem.weights) for _ in range(int(w))]
    copied = problem.take(copies)
    copied.weights = None
    assert problem.fit().tree_.fingerprint() == copied.fit().tree_.fingerprint()


@given(problems(weights=("whole", "fractional")), st.randoms(use_true_random=False))
def test_weight_zero_is_no_row(problem: Problem, random: Any) -> None:
    assert problem.weights is not None
    rows = list(range(len(problem.y)))
    ghosts = [random.choice(rows) for _ in range(5)]
    haunted = problem.take(rows + ghosts)
    assert haunted.weights is not None
    haunted.weights[len(rows) :] = [0.0] * 5
    # A ghost has its own label and its own place between the others.
    haunted.y[len(rows) :] = [random.choice(problem.y) for _ in ghosts]
    order = random.sample(range(len(haunted.y)), len(haunted.y))
    assert haunted.take(order).fit().tree_.fingerprint() == problem.fit().tree_.fingerprint()


def test_a_ghost_makes_no_threshold() -> None:
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    model = TreeClassifier().fit(X, [0, 0, 1, 1], sample_weight=[1, 1, 0, 1])
    assert model.tree_.threshold[0] == 5.5


@given(problems(weights=("fractional",)), st.sampled_from([0.25, 0.5, 2.0, 1024.0]))
def test_a_common_factor_of_weights_changes_nothing(problem: Problem, factor: float) -> None:
    assert problem.weights is not None
    scaled = Problem(problem.attributes, problem.y, list(problem.weights), problem.parameters)
    scaled.weights = [w * factor for w in problem.weights]
    if any(w != int(w) for w in scaled.weights) and any(w != int(w) for w in problem.weights):
        assert scaled.fit().tree_.fingerprint() == problem.fit().tree_.fingerprint()


def test_weights_of_very_different_size() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    weights = [1e-12, 1.0, 1.0, 1e12]
    model = TreeClassifier(min_samples_leaf=0, min_samples_split=0)
    model.fit(X, [0, 1, 0, 1], sample_weight=weights)
    assert np.isfinite(model.tree_.proba).all()
    assert model.predict_proba(X)[1:].tolist() == [[0, 1], [1, 0], [0, 1]]


def test_weights_that_sum_to_one() -> None:
    X = np.arange(6.0).reshape(-1, 1)
    y = [0, 1, 0, 1, 0, 1]
    plain = TreeClassifier(min_samples_leaf=2).fit(X, y)
    sixths = TreeClassifier(min_samples_leaf=2).fit(X, y, sample_weight=np.full(6, 1 / 6))
    assert np.array_equal(plain.tree_.threshold, sixths.tree_.threshold, equal_nan=True)
    assert sixths.tree_.counts[0] == pytest.approx([3, 3])


def test_class_ties_under_fractional_weights() -> None:
    # 2.8 + 1.4 + 0.5 = 2.6 + 2.1: rounding must not decide.
    weights = [2.8, 1.4, 0.5, 2.6, 2.1]
    X = np.zeros((5, 1))
    for y in ([1, 1, 1, 0, 0], [0, 0, 0, 1, 1]):
        assert TreeClassifier().fit(X, y, sample_weight=weights).predict(X)[0] == 0


def test_size_limits_under_fractional_weights() -> None:
    # Scaled to mean 1 each side weighs 4 exactly, though no single weight is a round number.
    weights = [0.9, 0.2, 0.9, 0.1, 0.2, 1.1, 0.4, 0.2]
    X = np.array([[0.0]] * 3 + [[1.0]] * 5)
    y = [0] * 3 + [1] * 5
    model = TreeClassifier(min_samples_leaf=4, min_samples_split=8)
    assert model.fit(X, y, sample_weight=weights).get_n_leaves() == 2


# -- the partition -------------------------------------------------------------------------------


@given(problems())
def test_routing_the_training_rows_gives_the_growth_partition(problem: Problem) -> None:
    model = problem.fit()
    tree = model.tree_
    leaves = model.apply(problem.X)
    assert (tree.attribute[leaves] < 0).all()
    arrived = np.zeros_like(tree.counts)
    weights = np.ones(len(problem.y)) if problem.weights is None else np.array(problem.weights)
    np.add.at(arrived, (leaves, np.array(problem.y)), weights)
    at_leaves = tree.attribute < 0
    assert np.array_equal(arrived[at_leaves], tree.counts[at_leaves])


@given(problems(weights=("none",)), st.data())
def test_any_row_goes_where_the_reference_sends_it(problem: Problem, data: st.DataObject) -> None:
    model, nodes = problem.fit(), problem.grower().grow()
    rows = []
    for attribute in problem.attributes:
        if attribute.n_categories is None:
            value = st.sampled_from(list(attribute.values)) | st.floats(allow_nan=False, width=32)
        else:
            value = st.integers(0, attribute.n_categories - 1)
        rows.append(data.draw(st.lists(value, min_size=8, max_size=8)))
    asked = Problem(
        [Attribute(v, a.n_categories) for v, a in zip(rows, problem.attributes, strict=True)],
        [0] * 8,
    )
    expected = reference.reference_apply(nodes, asked.rows)
    assert model.apply(asked.X).tolist() == expected
    probabilities = model.predict_proba(asked.X)
    assert np.allclose(probabilities, [nodes[leaf].proba for leaf in expected], atol=1e-12)


@pytest.mark.parametrize("shape", ["subset", "multiway"])
def test_unknown_and_absent_levels(shape: str) -> None:
    levels = ["a", "b", "c", "d"]
    values = np.array(["a"] * 3 + ["b"] * 5 + ["c"] * 2, dtype=object)
    X = {"letter": fasttree.Categorical(values, levels)}
    y = np.array([0] * 3 + [1] * 5 + [2] * 2)
    model = TreeClassifier(categorical_split=shape, max_depth=1).fit(X, y)
    heaviest = int(model.tree_.missing_branch[0])
    unknown = {"letter": np.array(["never seen"], dtype=object)}
    absent = {"letter": np.array(["d"], dtype=object)}
    first = int(model.tree_.first_child[0])
    assert model.apply(unknown)[0] == first + heaviest
    if shape == "multiway":
        assert model.get_n_leaves() == 4
        shared = first + int(model.tree_.default_branch[0])
        assert model.apply(absent)[0] == shared
        assert model.tree_.counts[shared].tolist() == [0, 0, 0]
        assert model.predict(absent)[0] == 1  # the majority of the root
        assert model.predict_proba(absent)[0] == pytest.approx([0.3, 0.5, 0.2])
    else:
        assert model.apply(absent)[0] == first + heaviest


# -- extreme shapes ------------------------------------------------------------------------------


def test_a_chain_of_5000_levels() -> None:
    # Alternating classes: cutting off one row at an end is always best, and the lower end wins.
    n = 5001
    X = np.arange(n, dtype=float).reshape(-1, 1)
    y = np.arange(n) % 2
    model = TreeClassifier().fit(X, y)
    tree = model.tree_
    assert model.get_depth() == n - 1
    assert model.get_n_leaves() == n
    cuts = tree.threshold[tree.attribute >= 0]
    assert np.array_equal(cuts, np.arange(n - 1) + 0.5)
    assert np.array_equal(model.predict(X), y)


def test_a_chain_equals_the_reference() -> None:
    problem = Problem([Attribute([float(v) for v in range(251)])], [v % 2 for v in range(251)])
    assert_same_tree(problem.fit().tree_, problem.grower().grow())


@pytest.mark.parametrize("criterion", CRITERIA)
def test_300_classes(criterion: str) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(300), 4)
    X = np.column_stack([y + rng.normal(scale=0.3, size=y.size), rng.normal(size=y.size)])
    X[:, 1] = np.round(X[:, 1])
    model = TreeClassifier(criterion=criterion).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.predict_proba(X[:5]).shape == (5, 300)
    small = slice(0, 240)
    problem = Problem(
        [Attribute(X[small, 0].tolist()), Attribute(X[small, 1].tolist())],
        y[small].tolist(),
        None,
        {"criterion": criterion, "max_depth": 4},
    )
    assert_same_tree(problem.fit().tree_, problem.grower().grow())


@pytest.mark.parametrize("n_levels", [255, 256, 257, 50_000, 70_000])
@pytest.mark.parametrize("shape", ["subset", "multiway"])
def test_very_many_categories(n_levels: int, shape: str) -> None:
    codes = np.arange(2 * n_levels) % n_levels
    y = (codes % 3 == 0).astype(int)
    labels = [f"{code:06d}" for code in range(n_levels)]
    column = fasttree.Categorical(np.array(labels, dtype=object)[codes], labels)
    model = TreeClassifier(categorical_split=shape).fit({"id": column}, y)
    tree = model.tree_
    assert np.array_equal(model.predict({"id": column}), y)
    if shape == "subset":
        assert len(tree.attribute) == 3
        side = np.zeros(n_levels, dtype=int)
        side[tree.table_codes.astype(int) - 1] = tree.table_branch
        assert np.array_equal(side, (np.arange(n_levels) % 3 != 0).astype(int))
    else:
        assert len(tree.attribute) == n_levels + 1
        assert model.get_n_leaves() == n_levels


def test_levels_that_are_declared_but_absent_cost_nothing() -> None:
    labels = list(range(100_000))
    column = fasttree.Categorical(np.array([5, 99_999, 5, 70_000]), labels)
    model = TreeClassifier(categorical_split="multiway").fit({"id": column}, [0, 1, 0, 1])
    tree = model.tree_
    assert len(tree.attribute) == 5
    assert tree.multiplicity.tolist() == [1, 1, 1, 1, 99_997]
    assert model.get_n_leaves() == 100_000


def test_one_row() -> None:
    model = TreeClassifier().fit([[1.0, 2.0]], ["only"])
    assert model.get_n_leaves() == 1
    assert model.get_depth() == 0
    assert model.predict([[5.0, 5.0]])[0] == "only"
    assert model.predict_proba([[5.0, 5.0]]).tolist() == [[1.0]]


def test_one_class_is_a_leaf() -> None:
    model = TreeClassifier().fit(np.arange(10.0).reshape(-1, 2), ["a"] * 5)
    assert model.get_n_leaves() == 1
    assert list(model.classes_) == ["a"]


def test_constant_columns_and_equal_rows() -> None:
    X = np.full((6, 3), 2.5)
    y = [0, 1, 1, 0, 1, 1]
    model = TreeClassifier().fit(X, y)
    assert model.get_n_leaves() == 1
    assert model.predict_proba(X)[0] == pytest.approx([1 / 3, 2 / 3])
    X[:, 1] = [1, 2, 2, 1, 2, 2]
    tree = TreeClassifier().fit(X, y).tree_
    assert tree.attribute.tolist() == [1, -1, -1]


def test_equal_columns_are_split_on_the_first() -> None:
    rng = np.random.default_rng(2)
    column = rng.normal(size=(200, 1))
    y = (column[:, 0] > 0.3).astype(int) ^ (rng.random(200) < 0.1)
    tree = TreeClassifier().fit(np.hstack([column] * 4), y).tree_
    assert set(tree.attribute.tolist()) == {-1, 0}


def test_many_columns() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3000))
    y = rng.integers(0, 3, 60)
    model = TreeClassifier().fit(X, y)
    assert model.score(X, y) == 1.0
    X[:, 2999] = y
    tree = TreeClassifier().fit(X, y == 0).tree_
    assert tree.gain[0] == pytest.approx(2 * (y == 0).mean() * (y != 0).mean())
