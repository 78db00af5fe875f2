# SPDX-License-Identifier: BSD-3-Clause
"""rank_attributes: the textbooks' tables of scores, and the root's choice of a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tables
from hypothesis import given
from strategies import Problem, problems

import fasttree

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
