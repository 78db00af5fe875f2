# SPDX-License-Identifier: BSD-3-Clause
"""Tables of extreme shape: very deep, very wide, very many classes or levels, next to nothing."""

from __future__ import annotations

import numpy as np
import pytest
from agreement import assert_same_tree
from reference import Attribute
from strategies import CRITERIA, Problem

import fasttree
from fasttree import TreeClassifier


def test_a_chain_of_5000_levels() -> None:
    # Alternating classes: cutting off one row at an end is always best, and the lower end wins.
    n = 5001
    X = np.arange(n, dtype=float).reshape(-1, 1)
    y = np.arange(n) % 2
    model = TreeClassifier().fit(X, y)
    tree = model.tree_
    assert model.get_depth() == n - 1
    assert model.get_n_leaves() == n
    cuts = tree.threshold[tree.attribute >= 0]
    assert np.array_equal(cuts, np.arange(n - 1) + 0.5)
    assert np.array_equal(model.predict(X), y)


def test_a_chain_equals_the_reference() -> None:
    problem = Problem([Attribute([float(v) for v in range(251)])], [v % 2 for v in range(251)])
    assert_same_tree(problem.fit().tree_, problem.grower().grow())


@pytest.mark.parametrize("criterion", CRITERIA)
def test_300_classes(criterion: str) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(300), 4)
    X = np.column_stack([y + rng.normal(scale=0.3, size=y.size), rng.normal(size=y.size)])
    X[:, 1] = np.round(X[:, 1])
    model = TreeClassifier(criterion=criterion).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.predict_proba(X[:5]).shape == (5, 300)
    small = slice(0, 240)
    problem = Problem(
        [Attribute(X[small, 0].tolist()), Attribute(X[small, 1].tolist())],
        y[small].tolist(),
        None,
        {"criterion": criterion, "max_depth": 4},
    )
    assert_same_tree(problem.fit().tree_, problem.grower().grow())


@pytest.mark.parametrize("n_levels", [255, 256, 257, 50_000, 70_000])
@pytest.mark.parametrize("shape", ["subset", "multiway"])
def test_very_many_categories(n_levels: int, shape: str) -> None:
    codes = np.arange(2 * n_levels) % n_levels
    y = (codes % 3 == 0).astype(int)
    labels = [f"{code:06d}" for code in range(n_levels)]
    column = fasttree.Categorical(np.array(labels, dtype=object)[codes], labels)
    model = TreeClassifier(categorical_split=shape).fit({"id": column}, y)
    tree = model.tree_
    assert np.array_equal(model.predict({"id": column}), y)
    if shape == "subset":
        assert len(tree.attribute) == 3
        side = np.zeros(n_levels, dtype=int)
        side[tree.table_codes.astype(int) - 1] = tree.table_branch
        assert np.array_equal(side, (np.arange(n_levels) % 3 != 0).astype(int))
    else:
        assert len(tree.attribute) == n_levels + 1
        assert model.get_n_leaves() == n_levels


def test_levels_that_are_declared_but_absent_cost_nothing() -> None:
    labels = list(range(100_000))
    column = fasttree.Categorical(np.array([5, 99_999, 5, 70_000]), labels)
    model = TreeClassifier(categorical_split="multiway").fit({"id": column}, [0, 1, 0, 1])
    tree = model.tree_
    assert len(tree.attribute) == 5
    assert tree.multiplicity.tolist() == [1, 1, 1, 1, 99_997]
    assert model.get_n_leaves() == 100_000


def test_one_row() -> None:
    model = TreeClassifier().fit([[1.0, 2.0]], ["only"])
    assert model.get_n_leaves() == 1
    assert model.get_depth() == 0
    assert model.predict([[5.0, 5.0]])[0] == "only"
    assert model.predict_proba([[5.0, 5.0]]).tolist() == [[1.0]]


def test_one_class_is_a_leaf() -> None:
    model = TreeClassifier().fit(np.arange(10.0).reshape(-1, 2), ["a"] * 5)
    assert model.get_n_leaves() == 1
    assert list(model.classes_) == ["a"]


def test_constant_columns_and_equal_rows() -> None:
    X = np.full((6, 3), 2.5)
    y = [0, 1, 1, 0, 1, 1]
    model = TreeClassifier().fit(X, y)
    assert model.get_n_leaves() == 1
    assert model.predict_proba(X)[0] == pytest.approx([1 / 3, 2 / 3])
    X[:, 1] = [1, 2, 2, 1, 2, 2]
    tree = TreeClassifier().fit(X, y).tree_
    assert tree.attribute.tolist() == [1, -1, -1]


def test_equal_columns_are_split_on_the_first() -> None:
    rng = np.random.default_rng(2)
    column = rng.normal(size=(200, 1))
    y = (column[:, 0] > 0.3).astype(int) ^ (rng.random(200) < 0.1)
    tree = TreeClassifier().fit(np.hstack([column] * 4), y).tree_
    assert set(tree.attribute.tolist()) == {-1, 0}


def test_many_columns() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3000))
    y = rng.integers(0, 3, 60)
    model = TreeClassifier().fit(X, y)
    assert model.score(X, y) == 1.0
    X[:, 2999] = y
    tree = TreeClassifier().fit(X, y == 0).tree_
    assert tree.gain[0] == pytest.approx(2 * (y == 0).mean() * (y != 0).mean())
