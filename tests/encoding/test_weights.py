# SPDX-License-Identifier: BSD-3-Clause
"""Weights: whole ones are copies, 0 is no row, and rounding decides nothing."""

from __future__ import annotations

import copy
import itertools
import pickle
import tempfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import WEIGHTS, Problem, problems

import fasttree
from fasttree import TreeClassifier
from fasttree.encoding.weights import to_integer_weights
from fasttree.growth.params import CRITERIA
from fasttree.trees.class_shares import SHARE_STEPS, settled

pytestmark = pytest.mark.numeric


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


def test_numbers_of_every_sort_are_weights() -> None:
    X, y, plain = np.arange(6.0).reshape(-1, 1), [0, 0, 1, 1, 0, 1], [1, 2, 1, 3, 1, 1]
    expected = TreeClassifier().fit(X, y, sample_weight=plain).tree_
    for weights in (
        *(np.array(plain, dtype) for dtype in ("u1", "f2", "f4", ">f8", "g", object)),
        [Decimal(w) for w in plain],
        [Fraction(w) for w in plain],
        pd.Series(plain, dtype="Int64"),
        pd.Series(plain).astype("category"),
        pl.Series(plain),
        pa.chunked_array([plain[:2], plain[2:]]),
        np.ma.array(plain),
    ):
        assert TreeClassifier().fit(X, y, sample_weight=weights).tree_ == expected
    chosen = [True, False, True, True, False, True]
    expected = TreeClassifier().fit(X[chosen], np.array(y)[chosen]).tree_
    for mask in (chosen, np.array(chosen), np.array(chosen, dtype=object), pl.Series(chosen)):
        assert TreeClassifier().fit(X, y, sample_weight=mask).tree_ == expected


SPLITS = ("attribute", "threshold", "first_child", "table_codes", "table_branch", "default_branch")


def check_same_splits(one: Any, other: Any) -> None:
    for name in (*SPLITS, "missing_branch", "pred"):
        assert np.array_equal(
            getattr(one, name), getattr(other, name), equal_nan=name == "threshold"
        )
    assert np.allclose(one.proba, other.proba, rtol=0, atol=1e-9)


COMMON_FACTORS = [1e-300, 1e-9, 1 / 3, 0.1, 7.0, 1e12, 1e300]


@given(
    problems(weights=WEIGHTS, holes=True),
    st.sampled_from(COMMON_FACTORS),
    st.sampled_from([1.0, 0.1, 1 / 3, 0.7312345]),
)
def test_splits_and_shares_know_no_unit_of_weight(
    problem: Problem, factor: float, unit: float
) -> None:
    """Without limits on sizes, though a few of these weights are whole, and copies then, and others are not."""
    weights = np.array(problem.weights or [1.0] * len(problem.y)) * unit
    limits = ("min_samples_leaf", "min_samples_split")
    parameters = {name: v for name, v in problem.parameters.items() if name not in limits}
    X, y = problem.X, np.array(problem.y)
    for missing in ("branch", "category"):
        model = TreeClassifier(**(parameters | {"missing": missing}))
        plain = model.fit(X, y, sample_weight=weights).tree_
        check_same_splits(plain, model.fit(X, y, sample_weight=weights * factor).tree_)


@given(problems(weights=WEIGHTS, parameters=False), st.sampled_from(COMMON_FACTORS))
def test_id3_knows_no_unit_of_weight(problem: Problem, factor: float) -> None:
    weights = np.array(problem.weights or [1.0] * len(problem.y))
    X, y, model = problem.X, np.array(problem.y), fasttree.ID3Classifier()
    plain = model.fit(X, y, sample_weight=weights).tree_
    check_same_splits(plain, model.fit(X, y, sample_weight=weights * factor).tree_)


@given(
    problems(weights=("none",), parameters=False, holes=True), st.sampled_from([1e-9, 1 / 3, 0.1])
)
def test_shared_rows_of_equal_weight_are_rows_of_weight_1(problem: Problem, weight: float) -> None:
    X, y, model = problem.X, np.array(problem.y), fasttree.ID3Classifier()
    plain = model.fit(X, y).tree_
    check_same_splits(plain, model.fit(X, y, sample_weight=np.full(len(y), weight)).tree_)


@pytest.mark.parametrize("estimator", [fasttree.ID3Classifier, TreeClassifier])
@pytest.mark.parametrize("weights", [[1, 1, 1, 2], [0.5, 0.5, 0.5, 1], [3e-7, 1, 1e-9, 1e-9]])
def test_one_row_is_enough_for_a_leaf_whatever_it_weighs(estimator: Any, weights: Any) -> None:
    model = estimator().fit({"a": [0, 1, 2, 3]}, list("abab"), sample_weight=weights)
    assert model.get_n_leaves() == 4
    assert model.predict({"a": [0, 1, 2, 3]}).tolist() == list("abab")


def test_limits_above_one_row_count_weight() -> None:
    X, y, weights = {"a": [0, 1, 2, 3]}, list("abab"), [0.5, 0.5, 0.5, 1]  # 0.8, 0.8, 0.8, 1.6
    for limits, n_leaves in (
        ({"min_samples_leaf": 1.5}, 2),
        ({"min_samples_leaf": 1.7}, 1),
        ({"min_samples_split": 2.1}, 3),
        ({"min_samples_split": 2.5}, 2),
    ):
        model = TreeClassifier(**limits).fit(X, y, sample_weight=weights)
        assert model.get_n_leaves() == n_leaves, limits


def test_every_row_of_a_weight_is_a_row() -> None:
    """2^-60 of the others is less than a step of the grid."""
    X, y = {"a": [0, 1, 2]}, [0, 1, 0]
    for factor in (1.0, 1 / 3):
        model = TreeClassifier().fit(X, y, sample_weight=np.array([1.0, 2.0**-60, 1.0]) * factor)
        assert model.tree_.threshold[~model.tree_.is_leaf()].tolist() == [0.5, 1.5]


def test_trees_of_tables_full_of_holes_have_an_end() -> None:
    """A share of a row that is less than any row limits growth: else there would be millions of nodes."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(200, 10))
    X[draw.random(X.shape) < 0.6] = np.nan
    y = draw.integers(0, 2, 200)
    for weights in (None, np.full(200, 0.1), draw.uniform(0.5, 1.5, 200)):
        model = fasttree.ID3Classifier().fit(X, y, sample_weight=weights)
        assert model.tree_.node_count < 2000


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
        model = TreeClassifier().fit(X, y, sample_weight=weights)
        assert model.predict(X)[0] == 0
        first, second = model.predict_proba(X)[0]
        assert first == second == pytest.approx(0.5)


@pytest.mark.parametrize(("more", "label"), [(5e-11, 0), (5e-9, 1)])
def test_weights_of_classes_are_equal_within_1e_10(more: float, label: int) -> None:
    X = np.zeros((2, 1))
    model = TreeClassifier().fit(X, [0, 1], sample_weight=[1 - more / 2, 1 + more / 2])
    assert model.predict(X).tolist() == [label] * 2
    assert model.predict_proba(X).argmax(axis=1).tolist() == [label] * 2


def test_branches_that_rounding_alone_keeps_apart_weigh_the_same() -> None:
    """Nine rows of 0.1 and three of 0.3, beside a third branch: a row without a value goes to the first."""
    for first, second in (([0.1] * 9, [0.3] * 3), ([0.3] * 3, [0.1] * 9)):
        X = {"c": list("a" * len(first) + "b" * len(second) + "c")}
        y, weights = [0] * len(first) + [1] * len(second) + [2], [*first, *second, 0.7]
        model = TreeClassifier(categorical_split="multiway").fit(X, y, sample_weight=weights)
        assert model.tree_.missing_branch[0] == 0


def test_size_limits_under_fractional_weights() -> None:
    # Scaled to mean 1 each side weighs 4 exactly, though no single weight is a round number.
    weights = [0.9, 0.2, 0.9, 0.1, 0.2, 1.1, 0.4, 0.2]
    X = np.array([[0.0]] * 3 + [[1.0]] * 5)
    y = [0] * 3 + [1] * 5
    model = TreeClassifier(min_samples_leaf=4, min_samples_split=8)
    assert model.fit(X, y, sample_weight=weights).get_n_leaves() == 2


def test_size_limits_that_are_no_whole_numbers() -> None:
    for limit, n_leaves in ((1, 2), (1.5, 1)):
        model = TreeClassifier(min_samples_leaf=limit).fit([[0.0], [1.0], [1.0]], [0, 1, 1])
        assert model.get_n_leaves() == n_leaves


def test_the_grid_rounds_to_the_nearest_step() -> None:
    grid = to_integer_weights(
        np.array([0.3, 0.6, 2.1, 0.0])
    )  # 0.3, 0.6 and 2.1 of a mean of 1: 0 is no row
    assert grid.steps_per_unit == 2**40
    assert grid.quantised.tolist() == [round(w * 2**40) for w in (0.3, 0.6, 2.1, 0.0)]


# -- weights of very different sizes ---------------------------------------------------------------


def of_all_sizes(
    n: int, sizes: list[float]
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    draw = np.random.default_rng(n)
    X = {
        "number": draw.normal(size=n),
        "level": np.array([f"l{code}" for code in draw.integers(0, 30, n)], dtype=object),
    }
    for column in X.values():
        column[draw.random(n) < 0.1] = np.nan if column.dtype == float else None
    return X, draw.integers(0, 3, n), draw.choice(sizes, n)


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
@pytest.mark.parametrize(
    ("split", "missing"),
    [
        *itertools.product(("subset", "multiway", "grouped"), ("branch", "category", "fractional")),
        ("subset", "surrogate"),
    ],
)
def test_no_size_of_weights_is_too_much(criterion: str, split: str, missing: str) -> None:
    """The debug build ends at the first integer that overflows. Elsewhere the model must at least be a whole one."""
    for sizes in ([1e-3, 1.0, 1e308], [1e-308, 1.0], [1.0, 3.0, 2.0**51 / 300], [1.0, 2.0**60]):
        X, y, weight = of_all_sizes(120, sizes)
        model = TreeClassifier(
            criterion=criterion, categorical_split=split, missing=missing, max_depth=6
        )
        model.fit(X, y, sample_weight=weight)
        again = pickle.loads(pickle.dumps(model))
        assert np.isfinite(again.predict_proba(X)).all()


# -- weights that want to break a model --------------------------------------------------------------

PRESETS = [
    fasttree.TreeClassifier,
    fasttree.ID3Classifier,
    fasttree.C45Classifier,
    fasttree.CARTClassifier,
]
LEARNERS = [*PRESETS, fasttree.MMLClassifier, fasttree.BayesTreeClassifier, fasttree.RuleClassifier]


@st.composite
def hostile_fits(draw: st.DrawFn) -> tuple[Any, Any, list[int], list[float]]:
    """An estimator and a table whose weights lie close together and far apart, on any scale."""
    n = draw(st.integers(2, 12))
    y = draw(st.lists(st.integers(0, draw(st.integers(1, 3))), min_size=n, max_size=n))
    scale = 10.0 ** draw(st.sampled_from([-300, -20, -7, 0, 9, 100, 290]))
    near = st.sampled_from([0.0, 5e-4, 3e-7, 1e-9, 1e-11, 1e-13]).map(lambda off: 1 + off)
    far = st.integers(-13, 13).map(lambda exponent: 10.0**exponent)
    light = near.map(lambda w: 1e-7 * w)
    weight = st.one_of(near, light, far, st.integers(0, 5).map(float), st.floats(1e-9, 1.0))
    weights = [scale * w for w in draw(st.lists(weight, min_size=n, max_size=n))]
    # Every class has a row that counts: costs of others are refused.
    weights = [w or scale for w in weights] if draw(st.booleans()) else weights
    y = [c if w > 0 else y[0] for c, w in zip(y, weights, strict=True)]
    weights[0] = weights[0] or scale

    def column(values: list[Any]) -> list[Any]:
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    X = {
        "c": column(list("pqrs")),
        "x": column([1.0, 2.0, 3.0, float("nan")]),
        "d": column(["u", "v", None]),
    }
    estimator = draw(st.sampled_from(LEARNERS))
    parameters: dict[str, Any] = {}
    if estimator in PRESETS:
        powers = st.sampled_from([-200, -9, -3, 0, 1, 7]).map(lambda exponent: 10.0**exponent)
        parameters["class_weight"] = draw(
            st.none() | st.just("balanced") | st.fixed_dictionaries(dict.fromkeys(set(y), powers))
        )
        if draw(st.booleans()):
            costs = {c: {d: draw(powers) for d in set(y) - {c}} for c in set(y)}
            parameters["misclassification_cost"] = costs
    return estimator(**parameters), X, y, weights


@pytest.mark.filterwarnings("ignore:.*too few for cross-validation")
@given(hostile_fits())
def test_shares_add_up_to_1_and_models_come_back(fit: tuple[Any, Any, Any, Any]) -> None:
    estimator, X, y, weights = fit
    model = estimator.fit(X, y, sample_weight=weights)
    expected = model.predict_proba(X).tolist()
    shares = (
        model.rules_.shares if isinstance(model, fasttree.RuleClassifier) else model.tree_.proba
    )
    # With a prior, or of raised subtrees, shares that rows without values are part of stand on steps.
    on_steps = np.array_equal(shares, settled(shares)) or isinstance(
        estimator, fasttree.C45Classifier
    )
    for row in shares.tolist():
        weight_tolerance = len(row) / SHARE_STEPS / 2 if on_steps else 0
        assert abs(sum(map(Fraction, row)) - 1) <= 2**-47 + weight_tolerance
    assert np.sum(expected, axis=1) == pytest.approx(1, abs=1e-9)
    assert pickle.loads(pickle.dumps(model)).predict_proba(X).tolist() == expected
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.fasttree")
        model.save(path)
        assert fasttree.load(path).predict_proba(X).tolist() == expected


def test_shares_of_classes_that_are_nearly_equal() -> None:
    """Next to rows of weight 1 two rows of 1e-7 count as equal, though one weighs 1/2000 more."""
    model = fasttree.ID3Classifier().fit(
        {"c": list("ppqqrr")}, list("abaabb"), sample_weight=[1e-7, 1.0005e-7, 1, 1, 1, 1]
    )
    assert model.tree_.proba.tolist() == [[0.5, 0.5], [0.5, 0.5], [1, 0], [0, 1]]
    copied = copy.deepcopy(model)
    assert copied.tree_ == pickle.loads(pickle.dumps(model)).tree_ == model.tree_
