# SPDX-License-Identifier: BSD-3-Clause
"""Splits in two sets of levels: as good as the best of all the subsets that the limits on sizes allow, or marked."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from candidates import IMPURITY, effective_weights, score_of
from hypothesis import given
from hypothesis import strategies as st

import fasttree
from fasttree import Categorical, TreeClassifier

Table = dict[int, list[float]]  # class weights by level


def tabulated(codes: list[int], y: list[int], weights: list[float]) -> Table:
    found: Table = {}
    for code, label, weight in zip(codes, y, weights, strict=True):
        if weight > 0:
            found.setdefault(code, [0.0] * (max(y) + 1))[label] += weight
    return found


def least_leaf(parameters: dict[str, Any]) -> float:
    """Up to 1 is no limit, however light rows are."""
    least = parameters["min_samples_leaf"]
    return least if least > 1 else 0.0


def best_score(table: Table, criterion: str, least: float, least_share: float) -> float:
    """Over all the ways to divide the levels in two sets that are both heavy enough; -inf: there is none."""
    first, *others = sorted(table)
    counts = np.sum(list(table.values()), axis=0)
    limit = max(least, least_share * counts.sum()) - 1e-9
    best = -math.inf
    for size in range(len(others)):
        for more in itertools.combinations(others, size):
            left = np.sum([table[level] for level in (first, *more)], axis=0)
            if min(left.sum(), (counts - left).sum()) >= limit:
                sides = [left.tolist(), (counts - left).tolist()]
                best = max(best, score_of(criterion, counts.tolist(), sides))
    return best


def score_at_root(tree: Any, criterion: str) -> float:
    if tree.attribute[0] < 0:
        return -math.inf
    return score_of(criterion, tree.counts[0].tolist(), tree.counts[1:3].tolist())


@st.composite
def limited(draw: st.DrawFn, most_levels: int, fewest_levels: int = 1) -> dict[str, Any]:
    n_levels = draw(st.integers(fewest_levels, most_levels))
    n_classes = draw(st.integers(2, 4))
    n = draw(st.integers(2, 30))
    codes = [*range(n_levels), *draw(st.lists(st.integers(0, n_levels - 1), max_size=n))]
    y = draw(st.lists(st.integers(0, n_classes - 1), min_size=len(codes), max_size=len(codes)))
    kind = draw(st.sampled_from(["none", "whole", "other"]))
    weight = (
        st.integers(1, 6).map(float) if kind == "whole" else st.integers(1, 400).map(sixteenths)
    )
    many = st.lists(weight, min_size=len(codes), max_size=len(codes))
    limits: dict[str, Any] = {"min_samples_leaf": draw(st.sampled_from([1, 2, 3, 5, 8]))}
    if draw(st.booleans()):
        limits["min_weight_fraction_leaf"] = draw(st.sampled_from([0.1, 0.25, 0.4, 0.5]))
    return {
        "codes": codes,
        "y": np.unique(y, return_inverse=True)[1].tolist(),
        "weights": None if kind == "none" else draw(many),
        "parameters": {"criterion": draw(st.sampled_from(sorted(IMPURITY))), **limits},
    }


def sixteenths(k: int) -> float:
    return k / 16


def fitted(case: dict[str, Any], **more: Any) -> tuple[Any, float]:
    """The tree of one split, and the best score that a split may have."""
    codes, y, parameters = case["codes"], case["y"], case["parameters"]
    levels = [f"level {code:02d}" for code in range(max(codes) + 1)]
    X = {"c": Categorical([levels[code] for code in codes], levels), **more}
    model = TreeClassifier(max_depth=1, **parameters).fit(X, y, sample_weight=case["weights"])
    table = tabulated(codes, y, effective_weights(case["weights"], len(y)))
    best = best_score(
        table,
        parameters["criterion"],
        least_leaf(parameters),
        parameters.get("min_weight_fraction_leaf", 0.0),
    )
    return model.tree_, best


def is_done(case: dict[str, Any]) -> bool:
    """No split is looked for in a node of one class, or in one that is too light for two branches."""
    weights = effective_weights(case["weights"], len(case["y"]))
    return len(set(case["y"])) < 2 or sum(weights) < 2 * least_leaf(case["parameters"]) - 1e-9


@given(limited(9))
def test_the_best_subset_that_the_limits_allow(case: dict[str, Any]) -> None:
    tree, best = fitted(case)
    assert not tree.heuristic.any()
    if not is_done(case):
        assert score_at_root(tree, case["parameters"]["criterion"]) == pytest.approx(best, abs=1e-8)


def test_light_rows_are_branches_without_a_limit() -> None:
    case = {
        "codes": [0, 1, 2, 2],
        "y": [0, 1, 0, 1],
        "weights": [1 / 16, 1 / 8, 1 / 8, 1 / 16],
        "parameters": {"criterion": "entropy", "min_samples_leaf": 1},
    }
    tree, best = fitted(case)
    assert tree.attribute[0] == 0
    assert score_at_root(tree, "entropy") == pytest.approx(best, abs=1e-12)


@given(limited(14, fewest_levels=13))
def test_more_than_12_levels_are_divided_as_well_as_can_be_or_marked(case: dict[str, Any]) -> None:
    tree, best = fitted(case)
    found = score_at_root(tree, case["parameters"]["criterion"])
    assert is_done(case) or found >= best - 1e-8 or tree.heuristic[0]


@pytest.mark.parametrize("criterion", sorted(IMPURITY))
def test_without_a_limit_two_classes_need_no_mark(criterion: str) -> None:
    """The prefixes of the order by shares hold the best of all the subsets, for the gain ratio as for the others."""
    random = np.random.default_rng(5)
    for _ in range(15):
        n_levels = int(random.integers(10, 15))
        codes = [*range(n_levels), *random.integers(0, n_levels, 40).tolist()]
        case = {
            "codes": codes,
            "y": [0, 1, *random.integers(0, 2, len(codes) - 2).tolist()],
            "weights": random.integers(1, 9, len(codes)).astype(float).tolist(),
            "parameters": {"criterion": criterion, "min_samples_leaf": 1},
        }
        tree, best = fitted(case)
        assert not tree.heuristic.any()
        assert score_at_root(tree, criterion) == pytest.approx(best, abs=1e-9)


def test_a_split_that_is_no_cut_of_the_order() -> None:
    """By hand: without b neither side has a weight of 2, unless a and c stand together."""
    model = TreeClassifier(min_samples_leaf=2)
    tree = model.fit({"x": list("acb")}, list("qpp"), sample_weight=[1, 1, 4]).tree_
    assert tree.counts.tolist() == [[5, 1], [1, 1], [4, 0]]
    assert tree.table_branch.tolist() == [0, 1, 0]
    tree = model.fit({"x": list("bcab")}, list("qpqq")).tree_
    assert tree.counts.tolist() == [[1, 3], [1, 1], [0, 2]]
    assert not tree.heuristic.any()


# Levels 0 to 12 have a row each, of both classes in turn, and level 13 has four of the second class. The order by
# shares is 1, 3, .. 11, 13, 0, 2, .. 12, and the weights left of its cuts 1 .. 6, 10 .. 16, of 17.
FOURTEEN = [*range(14), 13, 13, 13]


@pytest.mark.parametrize(("least", "is_split", "is_marked"), [(7, True, False), (8, False, True)])
def test_a_leaf_where_a_split_may_have_been_missed_is_marked(
    least: int, is_split: bool, is_marked: bool
) -> None:
    """Ten and seven rows are the two classes. No cut leaves eight on both sides, though 13 and four others do."""
    case: dict[str, Any] = {"codes": FOURTEEN, "y": [code % 2 for code in FOURTEEN]}
    case |= {"weights": None, "parameters": {"criterion": "gini", "min_samples_leaf": least}}
    tree, best = fitted(case)
    assert best > -math.inf
    assert (tree.attribute[0] >= 0) == is_split
    assert tree.heuristic.tolist() == [is_marked] + [False] * (2 * is_split)


def test_marks_of_leaves_stay_with_the_model(tmp_path: Path) -> None:
    X = {
        "c": [f"level {code:02d}" for code in FOURTEEN] + ["level 13"] * 9,
        "x": [0] * 17 + [1] * 9,
    }
    model = TreeClassifier(criterion="misclassification", min_samples_leaf=8)
    model.fit(X, [code % 2 for code in FOURTEEN] + [0] * 9)
    tree = model.tree_
    assert tree.attribute.tolist() == [1, -1, -1]
    assert tree.heuristic.tolist() == [True, True, False]  # at the root, too, more was possible
    model.save(tmp_path / "model")
    for other in (fasttree.load(tmp_path / "model").tree_, pickle.loads(pickle.dumps(tree))):
        assert other.heuristic.tolist() == tree.heuristic.tolist()
        assert other == tree
    nodes = json.loads(model.export("json"))["nodes"]
    assert [node.get("heuristic", False) for node in nodes] == tree.heuristic.tolist()
    assert tree.subtree(np.array([True, False, False])).heuristic.tolist() == [True, True, False]
    assert tree.subtree(np.zeros(3, dtype=bool)).heuristic.tolist() == [False]


def test_no_mark_where_no_subset_is_allowed() -> None:
    """What the heavy level leaves is too light for a branch, however it is divided."""
    levels = [f"level {i:02d}" for i in range(15)]
    X, y, weights = {"c": levels}, [*"pq" * 7, "p"], [1.0] * 14 + [50.0]
    tree = TreeClassifier(min_samples_leaf=15).fit(X, y, sample_weight=weights).tree_
    assert tree.attribute.tolist() == [-1]
    assert not tree.heuristic.any()


def test_a_node_is_marked_whichever_attribute_won() -> None:
    """Three classes and 20 levels: not every subset was tried, so another split might have been better than the cut."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 200)
    X = {"x": y.astype(float), "c": [f"level {code}" for code in np.tile(np.arange(20), 10)]}
    tree = TreeClassifier().fit(X, y).tree_
    assert tree.attribute[0] == 0
    assert tree.heuristic[0]
