# SPDX-License-Identifier: BSD-3-Clause
"""Growth of few leaves leaves out what cannot be among the best splits, and the tree is that of growth without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from agreement import assert_same_tree
from hypothesis import given
from hypothesis import strategies as st
from strategies import Problem, problems
from switches import small_up_to

import fasttree
from fasttree.estimators import training
from fasttree.growth import split_limit
from fasttree.growth.split_limit import SplitLimit
from fasttree.pruning.after_growth import within_limits
from fasttree.trees.tree import Tree


@pytest.fixture(autouse=True, scope="module")
def _in_small_tables() -> Iterator[None]:
    """The limit serves wherever it may, and not only where it pays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split_limit, "LEAST_ROWS_OF_LEAF", 1)
        yield


def grown(
    monkeypatch: pytest.MonkeyPatch, X: Any, y: Any, weight: Any = None, **parameters: Any
) -> tuple[Tree, int]:
    """A tree, and how many nodes grew for it."""
    sizes = []

    def noted(tree: Tree, *arguments: Any) -> Any:
        sizes.append(tree.node_count)
        return within_limits(tree, *arguments)

    monkeypatch.setattr(training, "within_limits", noted)
    tree = fasttree.TreeClassifier(**parameters).fit(X, y, weight).tree_
    return tree, sizes[-1]


def whole(monkeypatch: pytest.MonkeyPatch, *arguments: Any, **parameters: Any) -> tuple[Tree, int]:
    """The same from all that grows without a limit."""
    with monkeypatch.context() as patch:
        patch.setattr(SplitLimit, "serves", staticmethod(lambda context: False))
        return grown(patch, *arguments, **parameters)


@given(problems(max_rows=60, holes=True), st.integers(2, 9), st.integers(0, 60))
def test_any_table(problem: Problem, max_leaves: int, n_rows: int) -> None:
    problem.parameters["max_leaves"] = max_leaves
    expected = problem.grower().grow()
    for small in (0, n_rows):
        with small_up_to(small):
            assert_same_tree(problem.fit().tree_, expected)


@given(problems(max_rows=60, weights=("whole", "fractional")), st.integers(2, 9))
def test_class_weights(problem: Problem, max_leaves: int) -> None:
    with pytest.MonkeyPatch.context() as patch, small_up_to(0):
        changes = {"max_leaves": max_leaves, "class_weight": "balanced"}
        found = problem.fit(**changes).tree_
        patch.setattr(SplitLimit, "serves", staticmethod(lambda context: False))
        assert problem.fit(**changes).tree_ == found


TABLES = ("numbers", "ties", "bins", "categories", "holes", "weights", "classes")


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("max_leaves", [2, 3, 10, 40, 300])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
def test_larger_tables(
    monkeypatch: pytest.MonkeyPatch, table: str, max_leaves: int, criterion: str
) -> None:
    rng = np.random.default_rng(max_leaves)
    n = 2_500
    numbers = rng.normal(size=(n, 5))
    y = (numbers[:, 0] * numbers[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)
    X, weight, parameters = numbers, None, {"criterion": criterion, "max_leaves": max_leaves}
    if table == "ties":
        X = np.round(numbers)
    elif table == "bins":
        parameters["max_bins"] = 30
    elif table == "categories":
        letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
        X = {"x": numbers[:, 0], "c": letters[rng.integers(0, 26, n)], "d": numbers[:, 1]}
    elif table == "holes":
        X = np.where(rng.random(numbers.shape) < 0.1, np.nan, numbers)
    elif table == "weights":
        weight = rng.random(n) * 3
    elif table == "classes":
        y = y + 2 * (numbers[:, 2] > 1)
    arguments = X, y, weight
    expected, all_nodes = whole(monkeypatch, *arguments, **parameters)
    for small in (0, 200, 2**14):
        with small_up_to(small):
            tree, n_nodes = grown(monkeypatch, *arguments, **parameters)
        assert tree == expected
        assert n_nodes <= all_nodes
    with small_up_to(0):
        _, n_nodes = grown(monkeypatch, *arguments, **parameters)
    if max_leaves == 10 and criterion != "gain_ratio":  # which makes long chains
        assert n_nodes < all_nodes / 2


def test_a_split_may_save_more_than_the_one_above(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exclusive or: the first split saves next to nothing, those below it all there is."""
    rng = np.random.default_rng(0)
    X = rng.random((4_000, 2))
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(int)
    with small_up_to(0):
        expected, _ = whole(monkeypatch, X, y, max_leaves=4)
        tree, _ = grown(monkeypatch, X, y, max_leaves=4)
    assert tree == expected


def test_where_splits_do_not_bring_one_leaf_each_all_grows() -> None:
    X = {"c": list("abcabcddab")}
    y = [0, 1, 0, 1, 1, 0, 1, 0, 0, 1]
    for parameters in ({"categorical_split": "multiway"}, {"significance": 0.9}):
        tree = fasttree.TreeClassifier(max_leaves=4, **parameters).fit(X, y).tree_
        assert tree.n_leaves <= 4


@pytest.mark.parametrize(("max_leaves", "is_limited"), [(39, True), (40, False), (10**30, False)])
def test_many_leaves_grow_as_if_there_were_no_limit(
    monkeypatch: pytest.MonkeyPatch, max_leaves: int, is_limited: bool
) -> None:
    monkeypatch.setattr(split_limit, "LEAST_ROWS_OF_LEAF", 64)
    calls = []
    add = SplitLimit.add

    def noted(self: SplitLimit, *arguments: Any) -> Any:
        calls.append(1)
        return add(self, *arguments)

    monkeypatch.setattr(SplitLimit, "add", noted)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(64 * 39 + 10, 3))
    y = rng.integers(0, 2, len(X))
    with small_up_to(0):
        fasttree.TreeClassifier(max_leaves=max_leaves).fit(X, y)
    assert bool(calls) == is_limited
