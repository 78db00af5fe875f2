# SPDX-License-Identifier: BSD-3-Clause
"""What nodes could choose between: beside the slow reference, which looks at the rows of one node at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from agreement import nodes_of
from hypothesis import given
from reference import Grower, score_of
from reference_c45 import C45Grower
from strategies import Problem, problems

import fasttree
from fasttree import (
    C45Classifier,
    CARTClassifier,
    ID3Classifier,
    SMMLClassifier,
    TreeClassifier,
    pruning,
)
from fasttree.estimators.candidates import Candidates
from fasttree.growth import memory_rows
from fasttree.stats import measures

X, Y = fasttree.datasets.play_tennis()


def found(problem: Problem, model: Any) -> Candidates:
    candidates: Candidates = model.candidates(
        problem.X, np.array(problem.y), sample_weight=problem.weights
    )
    assert candidates.tree is model.tree_
    return candidates


def check(candidates: Candidates, node: int, expected: list[float | None]) -> None:
    """The scores of a node by attribute, and what follows from them."""
    for score, wanted in zip(candidates.score[node].tolist(), expected, strict=True):
        assert score == (
            -math.inf if wanted is None else pytest.approx(wanted, rel=1e-9, abs=1e-9)
        ), node
    best = sorted((s for s in expected if s is not None), reverse=True)
    margin = candidates.margin[node]
    if len(best) < 2:
        assert np.isnan(margin)
    else:
        assert margin == pytest.approx(best[0] - best[1], abs=1e-9)
    lines = candidates[node]
    assert sorted(line.name for line in lines) == sorted(candidates.tree.schema.names)
    chosen = int(candidates.tree.attribute[node])
    assert [line.is_chosen for line in lines] == [chosen >= 0] + [False] * (len(lines) - 1)
    known = [line.score for line in lines if line.score is not None]
    assert known == pytest.approx(best, abs=1e-9)
    if chosen >= 0:
        assert lines[0].name == candidates.tree.schema.names[chosen]


def rows_of(tree: Any, grower: Grower) -> list[list[int]]:
    nodes = nodes_of(tree)
    nodes[0].rows = [row for row, weight in enumerate(grower.weights) if weight > 0]
    for node in nodes:
        if node.split is not None:
            values = grower.attributes[node.split.attribute].values
            for row in node.rows:
                branch = node.split.branch_of(values[row], node.default_branch)
                nodes[node.children[branch]].rows.append(row)
    return [node.rows for node in nodes]


def best_scores(grower: Grower, rows: list[int]) -> list[float | None]:
    """The score of each attribute's best split, None where it has none."""
    counts = grower.count(rows)

    def evaluate(split: Any) -> None:
        split.score = score_of(grower.criterion, counts, split.branch_counts)

    best = [grower.best_of(index, rows, evaluate) for index in range(len(grower.attributes))]
    return [None if split is None else split.score for split in best]


def check_all(candidates: Candidates, grower: Grower) -> None:
    tree = candidates.tree
    for node, rows in enumerate(rows_of(tree, grower)):
        if not np.isnan(candidates.score[node]).all():
            check(candidates, node, best_scores(grower, rows))
            continue
        assert candidates[node] == []
        assert np.isnan(candidates.margin[node])
        assert (
            not rows
            or grower.must_be_leaf(tree.counts[node].tolist(), int(tree.depth[node]))
            or best_scores(grower, rows) == [None] * len(grower.attributes)
            or grower.max_leaves is not None
        )


# -- beside the reference --------------------------------------------------------------------------


@given(problems(holes=True))
def test_equals_reference(problem: Problem) -> None:
    check_all(found(problem, problem.fit()), problem.grower())


@given(problems(weights=("fractional",)))
def test_equals_reference_with_fractional_weights(problem: Problem) -> None:
    check_all(found(problem, problem.fit()), problem.grower())


@given(problems(parameters=False, holes=True))
def test_equals_reference_of_c45(problem: Problem) -> None:
    """With its rows in shares, and the attributes that may not be chosen since they gain less than the average."""
    names = {"criterion": "gain_ratio", "categorical_split": "multiway"}
    grower = C45Grower(
        problem.attributes,
        problem.y,
        problem.n_classes,
        weights=problem.weights,
        collapse=False,
        **names,
    )
    model = C45Classifier(collapse=False, pruning=None)
    model.fit(problem.X, np.array(problem.y), sample_weight=problem.weights)
    candidates, nodes = found(problem, model), grower.grow()
    assert len(candidates) == len(nodes)
    for place, node in enumerate(nodes):
        if np.isnan(candidates.score[place]).all():
            assert not node.rows or grower.must_be_leaf(node) or not grower.tests(node.rows)
            continue
        tests = {test.split.attribute: test for test in grower.tests(node.rows)}
        average = grower.average_gain(list(tests.values()))
        expected: list[float | None] = [None] * len(grower.attributes)
        for index, test in tests.items():
            assert candidates.gain[place, index] == pytest.approx(test.gain, abs=1e-8)
            if test.gain >= average - 1e-3 and test.split_info > 1e-3:
                expected[index] = test.gain / test.split_info
        check(candidates, place, expected)


def test_the_textbook() -> None:
    candidates = ID3Classifier().fit(X, Y).candidates(X, Y)
    outlook = {name: measures.information_gain(column, Y) for name, column in X.items()}
    assert {line.name: line.score for line in candidates[0]} == pytest.approx(outlook)
    assert candidates.margin[0] == pytest.approx(outlook["Outlook"] - outlook["Humidity"])
    text = str(candidates)
    assert text.splitlines()[:6] == [
        "node 0: weight 14; margin 0.094914",
        "                entropy",
        "  Outlook      0.246750  <- chosen",
        "  Humidity     0.151836",
        "  Wind         0.048127",
        "  Temperature  0.029223",
    ]
    assert "node 1 (Outlook = Sunny): weight 5; margin 0.400000" in text
    assert "  Outlook      no split" in text
    assert repr(candidates) == "Candidates(8 nodes, 4 attributes)"


def test_a_frame_of_it() -> None:
    frame = pd.DataFrame(ID3Classifier().fit(X, Y).candidates(X, Y).columns())
    assert frame["node"].tolist() == [0] * 4 + [1] * 4 + [3] * 4
    assert frame.loc[frame["chosen"], "attribute"].tolist() == ["Outlook", "Humidity", "Wind"]
    assert (frame.groupby("node")["margin"].nunique() == 1).all()


# -- criteria with a word of their own -------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["ami", "smi", "adjusted_gini", "ad", "confidence_entropy"])
def test_measures_that_allow_for_chance(criterion: str) -> None:
    model = TreeClassifier(criterion=criterion, categorical_split="multiway").fit(X, Y)
    candidates = model.candidates(X, Y)
    ranking = fasttree.rank_attributes(X, Y, criterion=criterion)
    assert {line.name: line.score for line in candidates[0]} == pytest.approx(dict(ranking))
    gain = {line.name: line.gain for line in candidates[0]}
    reduction = (
        measures.gini_reduction if criterion == "adjusted_gini" else measures.information_gain
    )
    assert gain == pytest.approx({name: reduction(column, Y) for name, column in X.items()})


def test_costs() -> None:
    costs = {"Outlook": 30.0, "Humidity": 2.0, "Wind": 1.0, "Temperature": 1.0}
    model = ID3Classifier(attribute_costs=costs, cost_function="gain_per_cost").fit(X, Y)
    root = model.candidates(X, Y)[0]
    gains = {name: measures.information_gain(column, Y) for name, column in X.items()}
    assert {c.name: c.gain for c in root} == pytest.approx(gains)
    worth = {name: gain / costs[name] for name, gain in gains.items()}
    assert {c.name: c.score for c in root} == pytest.approx(worth)
    assert root[0].name == "Humidity"
    assert "entropy at its cost" in str(model.candidates(X, Y))


def test_message_length() -> None:
    model = SMMLClassifier().fit(X, Y)
    assert model.get_n_leaves() == 1
    candidates = model.candidates(X, Y)
    assert str(candidates).startswith("node 0: weight 14; margin ")
    assert "<-" not in str(candidates)
    assert [c.gain for c in candidates[0]] == [c.score for c in candidates[0]]


# -- trees that were cut back ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    data = np.round(rng.normal(size=(500, 4)), 1)
    return data, (data[:, 0] + data[:, 1] + rng.normal(size=500) > 0).astype(int)


@pytest.mark.parametrize(
    "changes",
    [
        {"max_leaves": 7},
        {"significance": 0.01},
        {"pruning": "cost_complexity"},
        {"pruning": pruning.ErrorBased(raising=False)},
        {"max_bins": 10},
    ],
)
def test_scores_are_those_of_growth(
    table: tuple[np.ndarray, np.ndarray], changes: dict[str, Any]
) -> None:
    data, y = table
    model = TreeClassifier(**changes).fit(data, y)
    whole = TreeClassifier(max_bins=changes.get("max_bins")).fit(data, y)
    assert model.tree_.node_count > 1
    candidates = model.candidates(data, y)
    all_of_them = whole.candidates(data, y)
    place = [0]
    for node in range(1, len(candidates)):  # both trees have their nodes in the same order
        parent = int(model.tree_.parent[node])
        place.append(
            int(whole.tree_.first_child[place[parent]] + node - model.tree_.first_child[parent])
        )
    assert np.array_equal(candidates.score, all_of_them.score[place], equal_nan=True)
    inner = ~model.tree_.is_leaf()
    assert not np.isnan(candidates.score[inner]).any()
    chosen = candidates.score[inner, model.tree_.attribute[inner]]
    assert np.allclose(chosen, candidates.score[inner].max(axis=1), atol=1e-10)


def test_rows_that_were_held_out_to_prune(table: tuple[np.ndarray, np.ndarray]) -> None:
    data, y = table
    model = TreeClassifier(pruning="reduced_error").fit(data, y)
    candidates = model.candidates(data, y)
    assert model.tree_.counts[0].sum() < len(y)
    inner = ~model.tree_.is_leaf()
    chosen = candidates.score[inner, model.tree_.attribute[inner]]
    assert np.allclose(chosen, model.tree_.gain[inner], atol=1e-9)
    assert np.allclose(chosen, candidates.score[inner].max(axis=1), atol=1e-9)
    by_group = TreeClassifier(pruning="reduced_error").fit(
        data, y, groups=(group := np.arange(len(y)) // 9)
    )
    candidates = by_group.candidates(data, y, groups=group)
    inner = ~by_group.tree_.is_leaf()
    chosen = candidates.score[inner, by_group.tree_.attribute[inner]]
    assert np.allclose(chosen, by_group.tree_.gain[inner], atol=1e-9)
    given = TreeClassifier(pruning="reduced_error").fit(data, y, X_val=data[:99], y_val=y[:99])
    assert given.candidates(data, y)[0][0].is_chosen
    for rows in (slice(0, 400), slice(0, 120)):
        with pytest.raises(ValueError, match="rows"):
            model.candidates(data[rows], y[rows])


def test_a_raised_subtree_was_not_chosen_where_it_is(
    table: tuple[np.ndarray, np.ndarray],
) -> None:
    data, y = table
    model = C45Classifier(pruning=pruning.ErrorBased(0.4)).fit(data, y)
    assert "raised" in model.pruning_trace_.action
    candidates = model.candidates(data, y)
    inner = np.flatnonzero(~model.tree_.is_leaf())
    told = [node for node in inner if candidates[node]]
    assert 0 < len(told) < len(inner)
    assert all(candidates[node][0].is_chosen for node in told)


def test_long_tables_are_printed_in_part(table: tuple[np.ndarray, np.ndarray]) -> None:
    model = TreeClassifier().fit(*table)
    n_inner = int((~model.tree_.is_leaf()).sum())
    lines = str(model.candidates(*table)).splitlines()
    assert lines[-1] == f"... and {n_inner - 40} more nodes"
    assert sum(line.startswith("node ") for line in lines) == 40


def test_many_columns_are_printed_in_part() -> None:
    data, y = np.random.default_rng(0).random((30, 100)), [0, 1] * 15
    lines = str(TreeClassifier(max_depth=1).fit(data, y).candidates(data, y)).splitlines()
    assert len(lines) == 43
    assert lines[-1] == "  ... and 60 more"


# -- the same whatever happens ---------------------------------------------------------------------


def test_threads_order_and_portions(
    table: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = np.where(np.random.default_rng(1).random(table[0].shape) < 0.1, np.nan, table[0])
    continuous = data + np.random.default_rng(2).normal(size=data.shape)
    for X_, missing in ((data, "fractional"), (continuous, "branch")):
        model = TreeClassifier(missing=missing).fit(X_, table[1])
        score = model.candidates(X_, table[1]).score
        order = np.random.default_rng(3).permutation(len(X_))
        again = model.set_params(n_jobs=2).candidates(X_[order], table[1][order])
        assert np.allclose(again.score, score, equal_nan=True, rtol=1e-12)
        with monkeypatch.context() as patch:
            patch.setattr(memory_rows, "MOST_SHARES", 0)
            parts = model.candidates(X_, table[1])
        assert np.allclose(parts.score, score, equal_nan=True, rtol=1e-12)


# -- what cannot be told ---------------------------------------------------------------------------


def test_other_rows_are_refused(table: tuple[np.ndarray, np.ndarray]) -> None:
    model = CARTClassifier().fit(*table)
    with pytest.raises(ValueError, match="are not the rows that this tree was grown from"):
        model.candidates(table[0][1:], table[1][1:])
    with pytest.raises(ValueError, match="not fitted yet"):
        CARTClassifier().candidates(*table)


def test_other_parameters_are_refused(table: tuple[np.ndarray, np.ndarray]) -> None:
    model = TreeClassifier(min_samples_leaf=20).fit(*table)
    for changes in ({"min_samples_leaf": 100}, {"min_samples_leaf": 1}):
        with pytest.raises(ValueError, match=r"node \d+ has a different split .* set them as they"):
            model.set_params(**changes).candidates(*table)


def test_nothing_to_choose() -> None:
    model = TreeClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert str(model.candidates([[1.0], [2.0]], ["a", "a"])) == "no node was searched for splits"
    one = TreeClassifier().fit([[1.0], [2.0]], ["a", "b"]).candidates([[1.0], [2.0]], ["a", "b"])
    assert np.isnan(one.margin).all()
    assert str(one).splitlines()[0] == "node 0: weight 2"
