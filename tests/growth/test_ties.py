# SPDX-License-Identifier: BSD-3-Clause
"""Which of several equally good attributes is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agreement import difference
from hypothesis import given
from hypothesis import strategies as st
from strategies import Problem, problems

import fasttree
from fasttree import TreeClassifier
from fasttree.growth.ties import best_first

ESTIMATORS = [
    fasttree.TreeClassifier,
    fasttree.ID3Classifier,
    fasttree.CARTClassifier,
    fasttree.C45Classifier,
    fasttree.SMMLClassifier,
    fasttree.MMLClassifier,
    fasttree.BayesTreeClassifier,
]
# At the root b tells more than a, and c most of all; where c is 0, a and b say the same.
COLUMNS = {
    "a": [0, 0, 1, 1, 0, 0, 1, 1],
    "b": [0, 0, 1, 1, 1, 1, 1, 1],
    "c": [0, 0, 0, 0, 1, 1, 1, 1],
}
CLASSES = [0, 0, 1, 1, 2, 2, 2, 2]


def second_question(**parameters: Any) -> str:
    tree = TreeClassifier(criterion="entropy", **parameters).fit(COLUMNS, CLASSES).tree_
    first, second = tree.attribute[tree.attribute >= 0].tolist()
    assert first == list(COLUMNS).index("c")
    return list(COLUMNS)[second]


def test_the_attribute_that_says_more_at_the_root_is_asked() -> None:
    assert second_question(ties="schema") == "a"
    assert second_question(ties="root_gain") == "b"


def test_classic_systems_take_the_first_column() -> None:
    assert second_question() == "b"
    for estimator in ESTIMATORS[1:]:
        assert estimator().ties == "schema"


def test_equal_ones_at_the_root_come_in_the_order_of_columns() -> None:
    X = dict.fromkeys(("z", "y", "x"), COLUMNS["b"])
    for ties in ("schema", "root_gain"):
        model = TreeClassifier(ties=ties).fit(X, [0, 0, 1, 1, 1, 1, 1, 1])
        assert model.tree_.attribute[0] == 0


def test_order_of_scores() -> None:
    scores = np.array([0.5, -np.inf, 0.7, 0.5 + 1e-12, -np.inf, 0.7 - 1e-12, 0.9])
    assert best_first(scores, 1e-10, relative=False).tolist() == [6, 2, 5, 0, 3, 1, 4]
    assert best_first(1e12 * scores, 1e-10, relative=True).tolist() == [6, 2, 5, 0, 3, 1, 4]
    assert best_first(-np.arange(3.0), 1e-10, relative=False).tolist() == [0, 1, 2]
    assert best_first(np.full(3, -np.inf), 1e-10, relative=True).tolist() == [0, 1, 2]
    assert best_first(np.empty(0), 1e-10, relative=False).tolist() == []


@given(problems(holes=True))
def test_equals_reference(problem: Problem) -> None:
    problem.parameters["ties"] = "root_gain"
    assert difference(problem.fit().tree_, problem.grower().grow()) is None


def shuffled(columns: dict[str, Any], order: list[int]) -> dict[str, Any]:
    names = list(columns)
    return {names[place]: columns[names[place]] for place in order}


def many_ties(seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """Few rows and many columns: in small nodes most splits are equally good."""
    draw = np.random.default_rng(seed)
    n = 120
    y = draw.integers(0, 3, n)
    X: dict[str, Any] = {}
    for place in range(6):
        X[f"number {place}"] = np.round(draw.normal(size=n) + y * draw.random(), 1)
        levels = (draw.integers(0, 4, n) + y * (draw.random(n) < 0.1 * place)) % 4
        X[f"level {place}"] = np.array(list("pqrs"), dtype=object)[levels]
    return X, y


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_the_order_of_columns_is_nothing(estimator: Any) -> None:
    X, y = many_ties(3)
    parameters = (
        {} if estimator.__name__ in ("CARTClassifier", "C45Classifier") else {"max_depth": 5}
    )
    if "pruning" in estimator().get_params() and estimator is not fasttree.TreeClassifier:
        parameters["pruning"] = None
    asked = set()
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X)).tolist()
        table = shuffled(X, order)
        model = estimator(ties="root_gain", **parameters).fit(table, y)
        tree, names = model.tree_, list(table)
        is_split = tree.attribute >= 0
        asked.add(
            (
                tuple(names[a] for a in tree.attribute[is_split]),
                tuple(tree.threshold[is_split & ~np.isnan(tree.threshold)]),
                tuple(tree.first_child),
                tuple(tree.pred),
            )
        )
    assert len(asked) == 1


def test_names_are_nothing() -> None:
    X, y = many_ties(5)
    other = {f"column {len(X) - place}": column for place, column in enumerate(X.values())}
    first, second = (TreeClassifier(ties="root_gain").fit(table, y).tree_ for table in (X, other))
    assert np.array_equal(first.attribute, second.attribute)
    assert np.array_equal(first.threshold, second.threshold, equal_nan=True)


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_the_order_is_a_stable_sort(n: int, seed: int) -> None:
    scores = np.random.default_rng(seed).integers(0, 4, n) / 8
    expected = sorted(range(n), key=lambda place: -scores[place])
    assert best_first(scores, 1e-10, relative=False).tolist() == expected


def test_what_it_may_be() -> None:
    with pytest.raises(ValueError, match="ties must be one of 'schema', 'root_gain', got 'names'"):
        TreeClassifier(ties="names").fit(COLUMNS, CLASSES)
