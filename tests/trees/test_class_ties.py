# SPDX-License-Identifier: BSD-3-Clause
"""The class of a row is the argmax of its probabilities, to the bit, wherever no cost matrix is set: whoever stacks,
calibrates or votes with `predict_proba` means the same classes as `predict`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import Problem, problems

from fasttree import (
    BayesTreeClassifier,
    C45Classifier,
    CARTClassifier,
    ID3Classifier,
    MMLClassifier,
    RuleClassifier,
    SMMLClassifier,
    TreeClassifier,
    pruning,
)
from fasttree.trees.decide import majority_class, snap_near_ties

pytestmark = pytest.mark.numeric

MODELS = [
    TreeClassifier(),
    TreeClassifier(categorical_split="grouped", missing="fractional", unknown="majority"),
    TreeClassifier(missing="category", class_weight="balanced"),
    TreeClassifier(class_weight="balanced", pruning="message_length"),
    ID3Classifier(unknown="majority"),
    C45Classifier(),
    C45Classifier(compat="j48"),
    C45Classifier(class_weight="balanced"),
    CARTClassifier(pruning=None),
    SMMLClassifier(),
    MMLClassifier(),
    BayesTreeClassifier(alpha=1.0),
    ID3Classifier(pruning=pruning.LeafPenalty()),
    RuleClassifier(),
    RuleClassifier(base=TreeClassifier(missing="fractional"), when="not_worse"),
]


def assert_argmax_is_class(model: Any, X: Any) -> None:
    shares = model.predict_proba(X)
    assert np.array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    assert np.allclose(shares.sum(axis=1), 1, rtol=0, atol=1e-9)


def with_holes_and_strangers(problem: Problem) -> Any:
    """The training rows; each again without its first value, without any, and with levels that nobody has heard of."""
    rows = [list(row) for row in problem.rows]
    blank = [np.nan] * len(problem.attributes)
    strange = [0.0 if a.n_categories is None else -1 for a in problem.attributes]
    asked = rows + [[np.nan, *row[1:]] for row in rows] + [blank, strange]
    return problem.asked(asked)


@pytest.mark.filterwarnings("ignore:.* the tree is not pruned")
@pytest.mark.parametrize("model", MODELS, ids=repr)
@given(problem=problems(holes=True, parameters=False, weights=("none", "whole", "fractional")))
def test_class_is_argmax(model: Any, problem: Problem) -> None:
    fitted = type(model)(**model.get_params(deep=False))
    fitted.fit(problem.X, np.array(problem.y), sample_weight=problem.weights)
    assert_argmax_is_class(fitted, with_holes_and_strangers(problem))


@given(
    problem=problems(holes=True, parameters=False), scale=st.sampled_from((1e-9, 0.1, 1 / 3, 7e5))
)
def test_class_is_argmax_with_weights_of_all_sizes(problem: Problem, scale: float) -> None:
    """Weights that no sum of binary fractions hits: rounding would tell apart what is equal."""
    weights = scale * (1 + np.arange(len(problem.y)) % 3)
    for model in (ID3Classifier(), C45Classifier(), SMMLClassifier(), RuleClassifier()):
        model.fit(problem.X, np.array(problem.y), sample_weight=weights)
        assert_argmax_is_class(model, with_holes_and_strangers(problem))


@given(problem=problems(parameters=False, weights=("none",)))
def test_costs_are_what_may_part_them(problem: Problem) -> None:
    """With costs, `predict` takes the cheapest class, and probabilities do not know of it."""
    assume(problem.n_classes > 1)
    cost = 1.0 - np.eye(problem.n_classes)
    cost[0, 1:] = 50.0
    model = TreeClassifier(misclassification_cost=cost, max_depth=1)
    model.fit(problem.X, np.array(problem.y))
    expected = model.predict_proba(problem.X) @ cost
    chosen = np.searchsorted(model.classes_, model.predict(problem.X))
    rows = np.arange(len(chosen))
    assert np.allclose(expected[rows, chosen], expected.min(axis=1))


def test_a_tie_made_of_thirds() -> None:
    """Three branches of weight 1 that share a row out: 1/3 + 1/3 of one class and 1/3 of others, again and again."""
    X = {"a": ["x", "y", "z", "x", "y", "z"], "b": ["p", "q", "p", "q", "p", "q"]}
    model = ID3Classifier().fit(X, [0, 1, 2, 1, 2, 0], sample_weight=[0.1, 0.2, 0.3, 0.2, 0.3, 0.1])
    asked = {"a": [None, None, None], "b": ["p", "q", None]}
    assert_argmax_is_class(model, asked)


def test_exact_tie_goes_to_the_first_class() -> None:
    X, y = [[1.0], [1.0]], ["b", "a"]
    for model in (
        TreeClassifier(),
        ID3Classifier(),
        SMMLClassifier(),
        MMLClassifier(),
        RuleClassifier(),
    ):
        model.fit(X, y)
        assert model.predict(X).tolist() == ["a", "a"], model
        assert model.predict_proba(X)[0].tolist() == [0.5, 0.5]


def test_exact_tie_goes_to_the_declared_order_of_y() -> None:
    """The one tie where `predict` is not the first argmax: the user has said which class comes first."""
    y = pd.Series(pd.Categorical(["low", "high"], categories=["low", "high"]))
    model = TreeClassifier().fit([[1.0], [1.0]], y)
    assert model.classes_.tolist() == ["high", "low"]
    assert model.predict_proba([[1.0]]).tolist() == [[0.5, 0.5]]
    assert model.predict([[1.0]]).tolist() == ["low"]


def test_shares_that_rounding_parts_are_equal() -> None:
    shares = np.array([[0.3, 0.7 / 2, 0.35 - 1e-16], [0.1 + 0.2, 0.3, 0.4], [0.5, 0.5 - 1e-9, 0.0]])
    level = snap_near_ties(shares)
    assert level[0, 1] == level[0, 2]
    # Only the largest, and only what is hardly different.
    assert np.array_equal(level[1:], shares[1:])
    assert np.array_equal(snap_near_ties(level), level)
    assert majority_class(level, ()).tolist() == [1, 2, 0]
    assert majority_class(level, (2, 1, 0)).tolist() == [2, 2, 0]


def test_a_way_that_stops_at_an_unknown_level_ends_as_at_a_leaf() -> None:
    """The class weights make both classes weigh the same, but for 5e-11: what the node says of it is the last word,
    whether or not other rows are shared out there."""
    X = {"a": list("baacbbac")}
    y, weights = [1, 1, 0, 0, 0, 1, 1, 1], [0.7, 0.4, 0.6, 0.5, 0.5, 0.7, 0.4, 0.3]
    for missing in ("fractional", "branch"):
        model = ID3Classifier(missing=missing, unknown="majority", class_weight="balanced")
        model.fit(X, y, sample_weight=weights)
        shares = model.predict_proba({"a": ["never seen"]})
        assert shares.tolist() == [model.tree_.proba[0].tolist()]
        assert model.predict({"a": ["never seen"]}).tolist() == [model.tree_.pred[0]]
        module: dict[str, Any] = {}
        exec(model.export("python"), module)
        assert module["predict_proba"](["never seen"]) == shares[0].tolist()
        assert module["predict"](["never seen"]) == model.tree_.pred[0]
