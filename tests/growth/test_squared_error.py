# SPDX-License-Identifier: BSD-3-Clause
"""Growth by squared error: the partitions of scikit-learn's regression trees, and every subset."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.tree import DecisionTreeRegressor

from fasttree import TreeRegressor

Node = dict[str, Any]


def grow_numbers(
    X: Any, y: np.ndarray, weight: np.ndarray | None = None, **parameters: Any
) -> Node:
    """The tree of a numeric target: nested nodes with their attribute, what leads to each branch, weight and mean."""
    tree = TreeRegressor(**parameters).fit(X, y, weight).tree_
    nodes: list[Node] = [
        {"weight": float(w), "mean": float(m), "children": []}
        for w, m in zip(tree.weighted_n_node_samples, tree.prediction, strict=True)
    ]
    for i in np.flatnonzero(~tree.is_leaf()).tolist():
        node, table = nodes[i], slice(tree.table_start[i], tree.table_start[i + 1])
        node["attribute"] = int(tree.attribute[i])
        node["threshold"] = float(tree.threshold[i])
        pairs = zip(tree.table_codes[table], tree.table_branch[table], strict=True)
        node["table"] = {int(c): int(b) for c, b in pairs}
        node["missing_branch"] = int(tree.missing_branch[i])
        first = int(tree.first_child[i])
        node["children"] = nodes[first : first + int(tree.n_children[i])]
    return nodes[0]


def partition(node: Node, X: np.ndarray, rows: np.ndarray) -> list[tuple[int, ...]]:
    """The rows of every node of a tree of thresholds, from the root on, left before right."""
    found = [tuple(rows.tolist())]
    if node["children"]:
        goes_left = X[rows, node["attribute"]] <= node["threshold"]
        for child, part in zip(node["children"], (goes_left, ~goes_left), strict=True):
            found += partition(child, X, rows[part])
    return found


def sklearn_partition(tree: Any, X: np.ndarray) -> list[tuple[int, ...]]:
    path = tree.decision_path(X).toarray().astype(bool)
    return [tuple(np.flatnonzero(column).tolist()) for column in path.T]


def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
    else:
        X, y = make_friedman1(600, noise=1.0, random_state=4)
    return X.astype(np.float32).astype(float), y


@pytest.mark.parametrize("name", ["diabetes", "friedman"])
@pytest.mark.parametrize("max_bins", [None, 255])
@pytest.mark.parametrize("weights", ["none", "whole"])
@pytest.mark.parametrize("parameters", [{"max_depth": 4}, {"min_samples_leaf": 7}])
def test_partitions_of_scikit_learn(
    name: str, max_bins: int | None, weights: str, parameters: dict[str, int]
) -> None:
    X, y = data(name)
    if max_bins is not None:
        X = np.round(X, 2 if name == "diabetes" else 1)  # every value has a bin of its own
    weight = None
    fitted = parameters
    if weights == "whole":
        weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
        if "min_samples_leaf" in parameters:  # of weights with us, of rows with scikit-learn
            fitted = {"min_weight_fraction_leaf": 7 / weight.sum()}
    theirs = DecisionTreeRegressor(random_state=0, **fitted).fit(X, y, weight)
    ours = grow_numbers(X, y, weight, max_bins=max_bins, ties="schema", **parameters)
    ours_rows = partition(ours, X, np.arange(len(y)))
    their_rows = sklearn_partition(theirs, X)
    assert unique_best(theirs, X, y, weight, parameters.get("min_samples_leaf", 1))
    assert sorted(ours_rows) == sorted(their_rows)
    assert len(ours_rows) > 20


def unique_best(
    tree: Any, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None, least: int
) -> bool:
    """Is there but one best partition at every inner node?"""
    w = np.ones(len(y)) if weight is None else weight
    path = tree.decision_path(X).toarray().astype(bool)
    inner = np.flatnonzero(tree.tree_.children_left >= 0)
    return all(n_best(X[path[:, i]], y[path[:, i]], w[path[:, i]], least) == 1 for i in inner)


def n_best(X: np.ndarray, y: np.ndarray, w: np.ndarray, least: int) -> int:
    """How many different partitions save as much as the best one, but for rounding."""
    saved: dict[tuple[bool, ...], float] = {}
    y = y - np.average(y, weights=w)
    for column in X.T:
        order = np.argsort(column, kind="stable")
        left, right = np.cumsum((w * y)[order])[:-1], np.cumsum(w[order])[:-1]
        total, weight = (w * y).sum(), w.sum()
        gain = left**2 / right + (total - left) ** 2 / (weight - right)
        apart = column[order][1:] > column[order][:-1]
        allowed = apart & (right >= least) & (weight - right >= least)
        gain[~allowed] = -np.inf
        for i in np.flatnonzero(gain >= gain.max() * (1 - 1e-9)) if allowed.any() else []:
            goes_left = column <= column[order][i]
            key = tuple((goes_left == goes_left[0]).tolist())
            saved[key] = float(gain[i])
    best = max(saved.values())
    return sum(gain >= best * (1 - 1e-9) for gain in saved.values())


def exact_gain(y: list[Fraction], sides: list[bool]) -> Fraction:
    parts = [[v for v, s in zip(y, sides, strict=True) if s is side] for side in (True, False)]
    return sum((sum(p, Fraction(0)) ** 2 / len(p) for p in parts if p), Fraction(0))


@pytest.mark.parametrize("seed", range(8))
def test_the_best_subset_of_categories(seed: int) -> None:
    """Ordered by their means, prefixes contain the best of all subsets (Fisher); every subset is tried here."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, 40)
    y = (rng.integers(-5, 6, 40) + codes % 3).astype(float)
    table = {"x": np.array(list("abcdef"), dtype=object)[codes]}
    root = grow_numbers(table, y, max_depth=1)
    exact = [Fraction(v) for v in y]
    present = sorted(set(codes.tolist()))
    best = max(
        exact_gain(exact, [bool(mask >> present.index(c) & 1) for c in codes])
        for mask in range(1, 2 ** len(present) - 1)
    )
    ours = exact_gain(exact, [root["table"][present.index(c) + 1] == 0 for c in codes])
    assert ours == best


def test_multiway_and_missing_values() -> None:
    x = np.array(["a", "a", "b", "b", "c", "c", None, None], dtype=object)
    for of_missing, weights in (([8.9, 9.5], [2, 2, 4]), ([9.1, 5.2], [2, 2, 2, 2])):
        y = np.array([1.0, 1.5, 5.0, 5.5, 9.0, 9.4, *of_missing])
        root = grow_numbers({"x": x}, y, categorical_split="multiway", max_depth=1)
        assert [child["weight"] for child in root["children"]] == weights
        assert root["missing_branch"] == len(weights) - 1
    known = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, np.nan, np.nan])
    root = grow_numbers({"x": known}, np.array([0, 0, 0, 9, 9, 9, 9.0, 9.0]), missing="branch")
    assert root["missing_branch"] == 1
    assert [child["mean"] for child in root["children"]] == [0.0, 9.0]
    root = grow_numbers({"x": known}, np.array([3, 3, 3, 3, 3, 3, 9.0, 9.0]), missing="category")
    assert [child["weight"] for child in root["children"]] == [6, 2]


def test_equal_targets_make_a_leaf_and_zero_gain_does_not() -> None:
    x = np.array([0.0, 0.0, 1.0, 1.0])
    z = np.array([0.0, 1.0, 0.0, 1.0])
    assert not grow_numbers({"x": x, "z": z}, np.full(4, 7.25))["children"]
    xor = grow_numbers({"x": x, "z": z}, np.array([1.0, 0.0, 0.0, 1.0]))
    assert [leaf["mean"] for child in xor["children"] for leaf in child["children"]] == [1, 0, 0, 1]


@pytest.mark.parametrize("shift", [0.0, 1e9])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_offset_and_scale_of_the_target(shift: float, scale: float) -> None:
    X, y = data("friedman")
    wanted = partition(grow_numbers(X, y, max_depth=5), X, np.arange(len(y)))
    moved = np.round(y * 2**20) / 2**20 + shift
    ours = grow_numbers(X, moved * scale, max_depth=5)
    assert partition(ours, X, np.arange(len(y))) == wanted


def test_order_of_rows_and_threads_change_nothing() -> None:
    rng = np.random.default_rng(2)
    X = np.round(rng.normal(size=(4000, 3)), 1)
    y = np.round(X[:, 0] * 3 + rng.normal(size=4000), 3)
    order = rng.permutation(4000)
    wanted = grow_numbers(X, y, min_samples_leaf=5, n_jobs=1)
    assert grow_numbers(X[order], y[order], min_samples_leaf=5, n_jobs=1) == wanted
    assert grow_numbers(X, y, min_samples_leaf=5, n_jobs=4) == wanted
    assert grow_numbers(X, y, min_samples_leaf=5, max_bins=255) == wanted
