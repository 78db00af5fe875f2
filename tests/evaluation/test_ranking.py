# SPDX-License-Identifier: BSD-3-Clause
"""rank_attributes: the textbooks' tables of scores, and the root's choice of a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import textbook_tables as tables
from hypothesis import given
from strategies import Problem, problems

import fasttree
from fasttree.stats import measures

pytestmark = pytest.mark.numeric

TENNIS = {
    "entropy": [
        ("Outlook", 0.24674981977443922),
        ("Humidity", 0.1518355013623417),
        ("Wind", 0.04812703040826938),
        ("Temperature", 0.029222565658954758),
    ],
    "gain_ratio": [
        ("Outlook", 0.1564275624211752),
        ("Humidity", 0.1518355013623417),
        ("Wind", 0.048848615511520734),
        ("Temperature", 0.018772646222418744),
    ],
    "gini": [
        ("Outlook", 0.11632653061224485),
        ("Humidity", 0.09183673469387743),
        ("Wind", 0.030612244897959162),
        ("Temperature", 0.018707482993197244),
    ],
}

TENNIS_LESS_CHANCE = {
    "ami": [
        ("Outlook", 0.14422570498815565),
        ("Humidity", 0.1046650431463912),
        ("Wind", -0.013655363996545645),
        ("Temperature", -0.12535499380967458),
    ],
    "smi": [
        ("Humidity", 1.0501957888623539),
        ("Outlook", 0.9044106093894901),
        ("Wind", -0.13646052063505534),
        ("Temperature", -0.7905856680286149),
    ],
    "adjusted_gini": [
        ("Humidity", 0.13333333333333328),
        ("Outlook", 0.11757575757575746),
        ("Wind", -0.011111111111111118),
        ("Temperature", -0.13367003367003372),
    ],
    "standardised_gini": [
        ("Humidity", 1.1892374507581374),
        ("Outlook", 0.7113761489270629),
        ("Wind", -0.09940404433958305),
        ("Temperature", -0.8125270622935763),
    ],
    "ad": [
        ("Humidity", -0.04609498400889325),
        ("Outlook", -0.061959329860372225),
        ("Wind", -0.14980345496296557),
        ("Temperature", -0.2794865839758567),
    ],
    "confidence_entropy": [("Outlook", 0), ("Temperature", 0), ("Humidity", 0), ("Wind", 0)],
    "mic": TENNIS["entropy"],  # two classes: the most that can be known is one bit
}
TENNIS |= TENNIS_LESS_CHANCE


@pytest.mark.parametrize("criterion", TENNIS)
def test_play_tennis(criterion: str) -> None:
    table = tables.PLAY_TENNIS
    ranked = fasttree.rank_attributes(table.X, table.y, criterion=criterion)
    assert [name for name, _ in ranked] == [name for name, _ in TENNIS[criterion]]
    assert [s for _, s in ranked] == pytest.approx([s for _, s in TENNIS[criterion]], abs=1e-9)


def test_ties_keep_the_order_of_the_columns() -> None:
    table = tables.MAMMALS_10
    ranked = fasttree.rank_attributes(table.X, table.y)
    assert [name for name, _ in ranked] == [
        "Four-Legged",
        "Body Temperature",
        "Gives Birth",
        "Hibernates",
    ]


def test_constant_columns_come_last_without_a_score() -> None:
    X = {"same": np.ones(4), "other": np.array([1.0, 2.0, 3.0, 4.0])}
    ranked = fasttree.rank_attributes(X, [0, 0, 1, 1])
    assert ranked == [("other", 1.0), ("same", None)]


@given(problems(parameters=False))
def test_the_scores_are_those_of_the_reference(problem: Problem) -> None:
    parameters: dict[str, Any] = {"criterion": "gini", "categorical_split": "subset"}
    ranked = fasttree.rank_attributes(
        problem.X, np.array(problem.y), sample_weight=problem.weights, **parameters
    )
    named = dict(ranked)
    names = [f"x{i}" if problem.is_numeric else f"column {i}" for i in range(len(named))]
    rows = [r for r in range(len(problem.y)) if problem.weights is None or problem.weights[r] > 0]
    for attribute, name in zip(problem.attributes, names, strict=True):
        best, _ = Problem([attribute], problem.y, problem.weights).grower().best_split(rows)
        if best is None or problem.n_classes == 1:
            assert not named[name]
        else:
            assert named[name] == pytest.approx(best.score, abs=1e-9)


# --- measures of whole tables ---


def test_a_numeric_column_is_scored_at_its_cut_of_largest_gain() -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(400, 4)).round(1)
    X[:, 3] = random.normal(size=400)  # too many values for one byte
    X[random.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X).sum(axis=1) + random.normal(size=400) > 0
    weight = random.integers(0, 4, 400)
    for sample_weight in (None, weight):
        rows = np.repeat(np.arange(400), 1 if sample_weight is None else sample_weight)
        ranked = dict(fasttree.rank_attributes(X, y, criterion="smi", sample_weight=sample_weight))
        binned = dict(
            fasttree.rank_attributes(X[:, :3], y, criterion="smi", sample_weight=sample_weight, max_bins=255)
        )  # fmt: skip
        for attribute in range(4):
            column, classes = X[rows, attribute], y[rows]
            known = ~np.isnan(column)
            cut = measures.best_cut(column[known], classes[known])
            assert cut is not None
            table = measures.contingency_table(column[known] <= cut.threshold, classes[known])
            expected = measures.standardised_mutual_information(table, missing=(~known).sum())
            assert ranked[f"x{attribute}"] == pytest.approx(expected, rel=1e-9)
            if attribute < 3:
                assert binned[f"x{attribute}"] == pytest.approx(expected, rel=1e-9)


def test_mic_of_numeric_columns() -> None:
    X = {
        "temperature": [85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71],
        "humidity": [85, 90, 86, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 91],
    }
    ranked = fasttree.rank_attributes(X, list("NNYYYNYNYYYYYN"), criterion="mic")
    assert [name for name, _ in ranked] == ["humidity", "temperature"]
    assert [s for _, s in ranked] == pytest.approx([0.1518355013623417, 0.11340086418110318])


def test_ordered_categories_are_cut_between_neighbours() -> None:
    """By hand: the cut below medium leaves (6/8) x 2 (2/6)(4/6) of the Gini index of 0.5, that below large
    (3/8) x 2 (1/3)(2/3) + (5/8) x 2 (2/5)(3/5); the three levels apart leave (3/8)(4/9)."""
    levels = ["small", "medium", "large"]
    size = ["small", "medium", "large", "small", "medium", "large", "medium", "large"]
    y = ["no", "yes", "no", "no", "yes", "yes", "yes", "no"]
    declared = {"categorical_features": {"size": levels}, "criterion": "gini"}

    def score(X: Any, **options: Any) -> float | None:
        return fasttree.rank_attributes(X, y, **options)[0].score

    assert score({"size": size}, **declared) == pytest.approx(0.5 - 1 / 6)
    for ordered in (["size"], [0], [True]):
        assert score({"size": size}, **declared, ordered_features=ordered) == pytest.approx(1 / 6)
    itself = {"size": fasttree.Categorical(size, levels, ordered=True)}
    assert score(itself, criterion="gini") == pytest.approx(1 / 6)
    assert score(itself, criterion="gini", ordered_features=None) == pytest.approx(0.5 - 1 / 6)
    encoded = fasttree.Columns(
        {"size": size}, y, categorical_features={"size": levels}, ordered_features=["size"]
    )
    assert fasttree.rank_attributes(encoded, criterion="gini")[0].score == pytest.approx(1 / 6)
    with pytest.raises(
        ValueError, match='ordered_features must be "from_dtype" when X is a fasttree'
    ):
        fasttree.rank_attributes(encoded, ordered_features=["size"])


def test_many_categories_and_missing_ones() -> None:
    X = {
        "id": fasttree.Categorical([f"row {i}" for i in range(300)]),  # more than a byte holds
        "side": np.array([None, "left", "right"] * 100, dtype=object),
    }
    y = np.array([0, 0, 1] * 100)
    ranked = dict(fasttree.rank_attributes(X, y, criterion="ami"))
    assert ranked == pytest.approx({"id": 0.0, "side": 2 / 3}, abs=1e-9)
    assert dict(fasttree.rank_attributes(X, y, criterion="mic"))["side"] == pytest.approx(2 / 3)
    columns = fasttree.Columns(X, y)
    assert dict(fasttree.rank_attributes(columns, criterion="ami")) == pytest.approx(ranked)


@pytest.mark.parametrize("criterion", TENNIS_LESS_CHANCE)
def test_columns_without_a_split_have_no_score(criterion: str) -> None:
    X = {
        "same": np.ones(6),
        "one": np.array(["a"] * 6, dtype=object),
        "unknown": np.full(6, np.nan),
        "good": np.arange(6.0),
    }
    ranked = fasttree.rank_attributes(X, [0, 0, 0, 1, 1, 1], criterion=criterion)
    assert {name for name, score in ranked if score is None} == {"same", "one", "unknown"}
    assert ranked[0].name == "good"
    pure = fasttree.rank_attributes(X, [1] * 6, criterion=criterion)
    assert all(score is None for _, score in pure)
    large = fasttree.rank_attributes(X, [0, 0, 0, 1, 1, 1], criterion=criterion, min_samples_leaf=4)
    assert large[0].score is None


def test_costs_weigh_what_is_above_chance() -> None:
    table = tables.PLAY_TENNIS
    ranked = fasttree.rank_attributes(
        table.X, table.y, criterion="ami", attribute_costs={"Outlook": 2}, cost_function="gain_per_cost"
    )  # fmt: skip
    assert ranked[0] == ("Humidity", pytest.approx(0.1046650431463912))
    assert ranked[1] == ("Outlook", pytest.approx(0.14422570498815565 / 2))
    assert [score for _, score in ranked[2:]] == [0, 0]


def test_bad_criteria_are_named() -> None:
    table = tables.PLAY_TENNIS
    with pytest.raises(ValueError, match=r"criterion must be one of 'entropy', .*'mic', got 'mi'"):
        fasttree.rank_attributes(table.X, table.y, criterion="mi")
    with pytest.raises(ValueError, match=r"criterion must be one of .* got \['ami'\]"):
        fasttree.rank_attributes(table.X, table.y, criterion=["ami"])
    with pytest.raises(ValueError, match=r"requires categorical_split=.* got 'subset'"):
        fasttree.rank_attributes(table.X, table.y, criterion="ami", categorical_split="subset")
