# SPDX-License-Identifier: BSD-3-Clause
"""Cost-complexity pruning: the path, and the choice of a tree on it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import textbook_tables as tables
from pruning_cases import CART, ID3, block, grown, held, leaves_of, random_tree
from reference_pruning import chain, from_sklearn, weakest_links

import fasttree
from fasttree.pruning import (
    CostComplexity,
    choose_by_folds,
    choose_by_held_out,
    cost_complexity_path,
    errors_along,
    held_out_counts,
    prune_at,
)
from fasttree.pruning.cost_complexity_pruning import node_risks
from fasttree.trees.traversal import errors_as_leaf

pytestmark = pytest.mark.numeric

TENNIS, MAMMALS, MAMMALS_8 = tables.PLAY_TENNIS, tables.MAMMALS_10, tables.MAMMALS_8

PATHS: list[tuple[tables.Table, Any, str, list[tuple[float, int, float]]]] = [
    (TENNIS, ID3, "error", [(0, 5, 0), (0.08928571428571429, 1, 0.35714285714285715)]),
    (TENNIS, ID3, "gini", [(0, 5, 0), (0.11479591836734693, 1, 0.4591836734693877)]),
    (
        TENNIS,
        CART,
        "error",
        [
            (0, 7, 0),
            (0.03571428571428571, 3, 0.14285714285714285),
            (0.10714285714285715, 1, 0.35714285714285715),
        ],
    ),
    (
        TENNIS,
        CART,
        "gini",
        [
            (0, 7, 0),
            (0.05714285714285711, 3, 0.22857142857142845),
            (0.11530612244897963, 1, 0.4591836734693877),
        ],
    ),
    (MAMMALS, ID3, "error", [(0, 3, 0), (0.1, 1, 0.2)]),
    (MAMMALS, ID3, "gini", [(0, 3, 0), (0.16, 1, 0.32)]),
    (MAMMALS_8, ID3, "error", [(0, 4, 0.125), (0.0625, 2, 0.25), (0.25, 1, 0.5)]),
    (
        MAMMALS_8,
        ID3,
        "gini",
        [
            (0, 4, 0.16666666666666666),
            (0.08333333333333333, 2, 0.3333333333333333),
            (0.16666666666666669, 1, 0.5),
        ],
    ),
]


@pytest.mark.parametrize(("table", "how", "impurity", "expected"), PATHS)
def test_paths_of_the_textbook_tables(table, how, impurity, expected) -> None:
    path = cost_complexity_path(grown(table, **how), impurity)
    found = list(zip(path.alphas, path.leaves, path.risk, strict=True))
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-12)
    assert str(path).count("\n") == len(path)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("impurity", ["error", "gini", "entropy"])
def test_path_against_the_reference(seed: int, impurity: str) -> None:
    tree, _ = random_tree(seed, categorical_split="multiway" if seed % 2 else "subset")
    path = cost_complexity_path(tree, impurity)
    risk, total = node_risks(tree, impurity)
    expected = weakest_links(tree, (risk / total).tolist())
    assert path.leaves.tolist() == [leaves for _, leaves, _ in expected]
    assert path.alphas == pytest.approx([alpha for alpha, _, _ in expected], abs=1e-12)
    assert path.risk == pytest.approx([r for _, _, r in expected], abs=1e-12)
    assert (np.diff(path.alphas) > 1e-12).all()
    for alpha, leaves in zip(path.alphas, path.leaves, strict=True):
        pruned, trace = prune_at(tree, path, alpha)
        assert pruned.n_leaves == leaves
        assert tree.n_leaves - trace.leaves_removed.sum() == leaves
        own = cost_complexity_path(pruned, impurity)
        assert own.alphas[own.alphas > alpha + 1e-12] == pytest.approx(
            path.alphas[path.alphas > alpha], abs=1e-12
        )


def test_trees_are_nested_and_the_best_at_their_price() -> None:
    tree, _ = random_tree(3, n_rows=400)
    path = cost_complexity_path(tree)
    for alpha in np.linspace(0, path.alphas[-1] * 1.1, 40):
        cost = path.risk + alpha * path.leaves
        pruned, _ = prune_at(tree, path, alpha)
        best = np.flatnonzero(cost <= cost.min() + 1e-12)[-1]
        assert pruned.n_leaves == path.leaves[best]


def test_same_path_as_scikit_learn() -> None:
    trees = pytest.importorskip("sklearn.tree")
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 5)).round(1)
    y = (X[:, 0] + rng.normal(size=3000) > 0).astype(int) + (rng.random(3000) < 0.1)
    theirs = trees.DecisionTreeClassifier(random_state=0).fit(X, y)
    schema = fasttree.TreeClassifier(max_depth=1).fit(X, y).tree_.schema
    tree = from_sklearn(schema, theirs.tree_)
    assert (leaves_of(tree, X) >= 0).all()
    path = cost_complexity_path(tree, "gini")
    steps = theirs.cost_complexity_pruning_path(X, y)
    last = np.append(np.diff(steps.ccp_alphas) > 1e-12, True)
    # They list tied links one by one.
    assert path.alphas == pytest.approx(steps.ccp_alphas[last], rel=1e-9, abs=1e-12)
    assert path.risk == pytest.approx(steps.impurities[last], rel=1e-9)


@pytest.mark.timeout(120)  # a quadratic search takes far longer
def test_a_chain_of_20_000_levels() -> None:
    schema = fasttree.TreeClassifier().fit([[0.0], [1.0]], [0, 1]).tree_.schema
    tree = chain(schema, 20_000)
    path = cost_complexity_path(tree, "gini")
    assert path.leaves[-1] == 1


# -- the choice ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_errors_along_the_path(seed: int) -> None:
    tree, counts = random_tree(seed, categorical_split="multiway")
    path = cost_complexity_path(tree)
    alphas = np.append(path.typical_alphas(), path.alphas)
    alphas.sort()
    found = errors_along(tree, path, counts, alphas)
    for alpha, errors in zip(alphas, found, strict=True):
        dead = path.dies_at <= alpha
        ends = np.zeros(tree.counts.shape)
        for node in range(tree.node_count):
            above = [node]
            while above[-1]:
                above.append(int(tree.parent[above[-1]]))
            cut = [n for n in above if dead[n] and not tree.is_leaf()[n]]
            ends[cut[-1] if cut else node] += counts[node]
        assert errors == pytest.approx(errors_as_leaf(tree, ends).sum())


def test_choice_by_validation_rows() -> None:
    tree = grown(MAMMALS_8, **ID3)
    path = cost_complexity_path(tree)
    choice = choose_by_held_out(tree, path, held(tree, MAMMALS_8))
    assert choice.errors.tolist() == [1, 2, 4]
    assert (choice.place, choice.alpha) == (0, 0)
    # One standard error of 1/8 is .117: one error more is within it, three are not.
    assert choose_by_held_out(tree, path, held(tree, MAMMALS_8), se=1).place == 0
    assert choose_by_held_out(tree, path, held(tree, MAMMALS_8), se=1.1).place == 1
    nothing = np.zeros(tree.counts.shape)
    nothing[2, 0] = 1.0  # a cold-blooded animal, right in each tree but the root alone
    assert choose_by_held_out(tree, path, nothing).errors.tolist() == [0, 0, 1]
    assert choose_by_held_out(tree, path, nothing).place == 1  # of equals the smaller


def tennis_folds() -> list[tuple[Any, np.ndarray]]:
    folds = []
    for fold in range(7):
        own = [row for row in range(14) if row % 7 == fold]
        tree = grown(TENNIS.rows([row for row in range(14) if row % 7 != fold]), **CART)
        leaves = leaves_of(tree, block(TENNIS.rows(own)))
        codes = np.array([["No", "Yes"].index(TENNIS.target.values[row]) for row in own])
        folds.append((tree, held_out_counts(tree, leaves, codes)))
    return folds


@pytest.mark.parametrize("se", [0.0, 1.0])
def test_cross_validation_on_play_tennis(se: float) -> None:
    tree = grown(TENNIS, **CART)
    path = cost_complexity_path(tree)
    choice = choose_by_folds(path, tennis_folds(), se)
    assert choice.alphas == pytest.approx([0, 0.06185895741317419, math.inf])
    assert choice.errors.tolist() == [9, 7, 5]
    assert choice.rate == pytest.approx([0.642857, 0.5, 0.357143], abs=5e-7)
    assert choice.standard_error == pytest.approx([0.128060, 0.133631, 0.128060], abs=5e-7)
    assert choice.leaves[choice.place] == 1
    assert prune_at(tree, path, choice.alpha)[0].n_leaves == 1
    assert "<- selected" in str(choice)
    assert {len(column) for column in choice.columns().values()} == {3}


def test_one_standard_error() -> None:
    tree, counts = random_tree(8, n_rows=300)
    path = cost_complexity_path(tree)
    lowest, smaller = (choose_by_folds(path, [(tree, counts)] * 2, se) for se in (0, 1))
    limit = lowest.errors.min() + lowest.standard_error[lowest.place] * lowest.weight
    assert smaller.errors[smaller.place] <= limit
    assert (smaller.errors[smaller.place + 1 :] > limit).all()
    assert smaller.place >= lowest.place


# -- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"folds": 1}, "folds must be an integer of at least 2, .* got 1"),
        ({"folds": 2.5}, "folds must be an integer of at least 2, .* got 2.5"),
        ({"se": -1}, "se must be a finite number >= 0, got -1"),
        ({"se": None}, "se must be a finite number"),
        (
            {"impurity": "variance"},
            "impurity must be one of 'error', 'gini', 'entropy', got 'variance'",
        ),
    ],
)
def test_bad_parameters(parameters, message) -> None:
    with pytest.raises(ValueError, match=message):
        CostComplexity(**parameters)


def test_bad_requests() -> None:
    tree, other = grown(TENNIS, **ID3), grown(MAMMALS, **ID3)
    path = cost_complexity_path(tree)
    with pytest.raises(ValueError, match=r"alpha must be a number >= 0, got -0\.1"):
        prune_at(tree, path, -0.1)
    with pytest.raises(ValueError, match="alpha must be a number >= 0, got nan"):
        prune_at(tree, path, math.nan)
    with pytest.raises(ValueError, match="belongs to a tree with 8 nodes, but this tree has 5"):
        prune_at(other, path, 0.1)
    with pytest.raises(ValueError, match="folds is empty: cross-validation needs at least 2 folds"):
        choose_by_folds(path, [])
    with pytest.raises(ValueError, match="impurity must be one of"):
        cost_complexity_path(tree, "twoing")
