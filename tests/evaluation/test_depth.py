# SPDX-License-Identifier: BSD-3-Clause
"""Early stopping by cross-validated errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import textbook_tables as tables

import fasttree
from fasttree import C45Classifier, CARTClassifier, ID3Classifier, TreeClassifier, select_depth

TENNIS = tables.PLAY_TENNIS
EACH_DAY, EACH_WEEKDAY = np.arange(14), np.arange(14) % 7


@pytest.mark.parametrize(
    ("model", "by_day", "by_weekday"),
    [(ID3Classifier(), 3, 4), (C45Classifier(), 5, 6), (CARTClassifier(), 7, 9)],
)
def test_full_trees_on_play_tennis(model: TreeClassifier, by_day: int, by_weekday: int) -> None:
    for folds, errors in [(EACH_DAY, by_day), (EACH_WEEKDAY, by_weekday)]:
        choice = select_depth(TENNIS.X, TENNIS.y, estimator=model, folds=folds)
        assert choice.errors[0] == 5
        assert choice.errors[-1] == errors
        assert choice.weight == 14


def test_the_depth_before_the_error_worsens() -> None:
    choice = select_depth(TENNIS.X, TENNIS.y, estimator=ID3Classifier(), folds=EACH_DAY)
    assert choice.errors.tolist() == [5, 9, 3, 3]
    assert choice.depth == 0  # a step that does worse hides one that would do better
    assert str(choice).splitlines()[1] == "     0         5    0.3571    0.1281  <- selected"
    assert set(choice.columns()) == {"depth", "errors", "rate", "standard_error"}
    # Of equal depths the first; and a last one without a rise.
    X = np.repeat([[0.0, 0], [0, 1], [1, 0], [1, 1]], 30, axis=0)
    X += np.random.default_rng(0).random(X.shape) / 100
    y = (X[:, 0] > 0.5).astype(int)
    choice = select_depth(X, y)
    assert (choice.depth, choice.errors[1:].sum()) == (1, 0)
    assert select_depth(X, y, estimator=TreeClassifier(max_depth=0)).errors.tolist() == [
        choice.errors[0]
    ]


def table_with_holes(seed: int, holes: float = 0.1) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (150, 3)).astype(float)
    y = np.where(rng.random(150) < 0.3, rng.integers(0, 3, 150), X[:, 0] > X[:, 1])
    X[rng.random(X.shape) < holes] = math.nan
    return X, y


@pytest.mark.parametrize(
    "model",
    [
        TreeClassifier(),
        ID3Classifier(),
        C45Classifier(),
        C45Classifier(collapse=False),
        CARTClassifier(),
        TreeClassifier(significance=0.3),
        ID3Classifier(misclassification_cost=[[0, 2, 1], [1, 0, 1], [3, 1, 0]]),
    ],
    ids=repr,
)
def test_errors_are_those_of_trees_of_that_depth(model: TreeClassifier) -> None:
    X, y = table_with_holes(1)
    folds = np.arange(150) % 3
    choice = select_depth(X, y, estimator=model, folds=folds)
    columns = fasttree.Columns(X, y)
    cost = np.array(getattr(model, "misclassification_cost", None) or 1 - np.eye(3))
    for depth, errors in enumerate(choice.errors):
        expected = 0.0
        for fold in range(3):
            own = folds == fold
            limited = type(model)(**(model.get_params() | {"max_depth": depth, "pruning": None}))
            limited.fit(columns, sample_weight=np.where(own, 0, 1))
            expected += cost[y[own], limited.predict(X[own])].sum()
        assert errors == pytest.approx(expected), depth


def test_order_of_rows_and_threads() -> None:
    X, y = table_with_holes(2)
    order = np.random.default_rng(0).permutation(len(y))
    choices = [
        select_depth(X, y),
        select_depth(X[order], y[order]),
        select_depth(fasttree.Columns(X, y), estimator=TreeClassifier(n_jobs=2)),
        select_depth(X, y, sample_weight=np.ones(len(y))),
    ]
    for choice in choices[1:]:
        assert choice.errors.tolist() == choices[0].errors.tolist()


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"estimator": "tree"}, TypeError, "estimator must be a tree classifier of fasttree"),
        ({"estimator": TreeClassifier(max_leaves=5)}, ValueError, "estimator has max_leaves=5"),
        ({"folds": 1}, ValueError, "folds must be an integer of at least 2"),
        ({"folds": 99}, ValueError, "folds=99 is greater than the number of rows of the class"),
        ({"folds": [0] * 150}, ValueError, "assigns all rows to one fold"),
    ],
)
def test_bad_requests(parameters: dict[str, Any], error: type[Exception], message: str) -> None:
    X, y = table_with_holes(0)
    with pytest.raises(error, match=message):
        select_depth(X, y, **parameters)
    with pytest.raises(ValueError, match=r"has 1 row, too few .*: pass folds as a fold number"):
        select_depth([[1.0], [2.0], [3.0]], [0, 0, 1])


def test_trees_that_see_to_their_size_are_refused() -> None:
    X, y = fasttree.datasets.play_tennis()
    with pytest.raises(ValueError, match=r"SMMLClassifier.*size of its trees itself"):
        fasttree.select_depth(X, y, estimator=fasttree.SMMLClassifier())


def test_the_users_estimator_stays_as_it_is() -> None:
    for model in (TreeClassifier(criterion="message_length"), C45Classifier(), CARTClassifier()):
        model.fit(TENNIS.X, TENNIS.y)
        before = dict(vars(model))
        select_depth(TENNIS.X, TENNIS.y, estimator=model)
        assert all(vars(model)[name] is value for name, value in before.items())
        assert vars(model).keys() == before.keys()
