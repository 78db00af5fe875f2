# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn as an oracle.

Equality node for node may be demanded where the best split is unique: scikit-learn draws between
ties, and it reads float32. So the tables are representable in float32, the reference tells how
far each node's best split is ahead of every other one, and the comparison goes down both trees
as long as that margin is clear. Below a tie only the sizes and the accuracy are compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agreement import assert_same_tree
from reference import Node
from sklearn import datasets
from sklearn.tree import DecisionTreeClassifier
from strategies import Attribute, Problem

from fasttree import TreeClassifier

CLEAR = 1e-7  # scikit-learn compares impurities of float64 sums, without a tolerance
CRITERIA = ["gini", "entropy"]


def synthetic(n_rows: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = datasets.make_classification(
        n_samples=n_rows,
        n_features=8,
        n_informative=5,
        n_redundant=2,
        n_classes=n_classes,
        flip_y=0.1,
        random_state=seed,
    )
    return X.astype(np.float32).astype(np.float64), y


def real(name: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X.astype(np.float32).astype(np.float64), y


TABLES: dict[str, Any] = {
    "two classes": lambda: synthetic(1200, 2, 0),
    "five classes": lambda: synthetic(800, 5, 1),
    "wine": lambda: real("wine"),
    "breast_cancer": lambda: real("breast_cancer"),
}


def walk_together(nodes: list[Node], tree: Any) -> int:
    """Go down our nodes and scikit-learn's while splits are unique; gives the number of splits."""
    compared, pairs = 0, [(0, 0)]
    while pairs:
        ours, theirs = pairs.pop()
        node = nodes[ours]
        share = np.array(node.counts) / node.weight
        value = tree.value[theirs, 0] / tree.value[theirs, 0].sum()
        assert tree.weighted_n_node_samples[theirs] == pytest.approx(node.weight)
        assert value == pytest.approx(share)
        is_leaf = tree.children_left[theirs] < 0
        assert is_leaf == (node.split is None)
        if node.split is None or node.margin < CLEAR:
            continue
        assert tree.feature[theirs] == node.split.attribute
        assert tree.threshold[theirs] == node.split.threshold
        compared += 1
        pairs.append((node.children[0], tree.children_left[theirs]))
        pairs.append((node.children[1], tree.children_right[theirs]))
    return compared


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", TABLES)
def test_same_tree_where_splits_are_unique(name: str, criterion: str) -> None:
    X, y = TABLES[name]()
    problem = Problem([Attribute(column.tolist()) for column in X.T], y.tolist())
    problem.parameters = {"criterion": criterion}
    expected = problem.grower().grow()
    assert_same_tree(problem.fit().tree_, expected)
    theirs = DecisionTreeClassifier(criterion=criterion, random_state=0).fit(X, y)
    assert walk_together(expected, theirs.tree_) >= 3


@pytest.mark.parametrize("criterion", CRITERIA)
def test_same_tree_with_weights(criterion: str) -> None:
    X, y = synthetic(800, 3, 2)
    weights = np.random.default_rng(0).integers(1, 5, len(y)).astype(float)
    problem = Problem([Attribute(c.tolist()) for c in X.T], y.tolist(), weights.tolist())
    problem.parameters = {"criterion": criterion, "max_depth": 8}
    expected = problem.grower().grow()
    assert_same_tree(problem.fit().tree_, expected)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=8, random_state=0)
    assert walk_together(expected, theirs.fit(X, y, sample_weight=weights).tree_) > 10


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    "limits", [{"min_samples_leaf": 20}, {"min_samples_split": 60}, {"max_depth": 5}], ids=str
)
def test_same_limits(criterion: str, limits: dict[str, int]) -> None:
    X, y = synthetic(1000, 2, 3)
    problem = Problem([Attribute(c.tolist()) for c in X.T], y.tolist())
    problem.parameters = {"criterion": criterion} | limits
    expected = problem.grower().grow()
    assert_same_tree(problem.fit().tree_, expected)
    theirs = DecisionTreeClassifier(criterion=criterion, random_state=0, **limits).fit(X, y)
    assert walk_together(expected, theirs.tree_) > 10


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("max_leaves", [2, 5, 8])
def test_same_best_first_tree(criterion: str, max_leaves: int) -> None:
    X, y = synthetic(1500, 2, 4)
    problem = Problem([Attribute(column.tolist()) for column in X.T], y.tolist())
    problem.parameters = {"criterion": criterion, "max_leaves": max_leaves}
    expected = problem.grower().grow()
    ours = problem.fit()
    assert_same_tree(ours.tree_, expected)
    theirs = DecisionTreeClassifier(
        criterion=criterion, max_leaf_nodes=max_leaves, random_state=0
    ).fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves() == max_leaves
    assert walk_together(expected, theirs.tree_) == max_leaves - 1
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X))


@pytest.mark.parametrize("name", ["digits", "breast_cancer", "wine", "iris"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_as_large_and_as_good(name: str, criterion: str) -> None:
    X, y = real(name)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    ours = TreeClassifier(criterion=criterion).fit(X[train], y[train])
    theirs = [
        DecisionTreeClassifier(criterion=criterion, random_state=seed).fit(X[train], y[train])
        for seed in range(5)
    ]
    leaves = [tree.get_n_leaves() for tree in theirs]
    scores = [tree.score(X[test], y[test]) for tree in theirs]
    assert ours.score(X[train], y[train]) == 1.0
    assert 0.85 * min(leaves) <= ours.get_n_leaves() <= 1.15 * max(leaves)
    assert ours.score(X[test], y[test]) >= min(scores) - 0.04


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_root_splits_as_well(criterion: str) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 8, (150, 5)).astype(float)  # full of ties
        y = rng.integers(0, 3, 150)
        ours = TreeClassifier(criterion=criterion, max_depth=1).fit(X, y).tree_
        theirs = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y).tree_
        left, right = theirs.weighted_n_node_samples[1:3] / 150
        gain = theirs.impurity[0] - left * theirs.impurity[1] - right * theirs.impurity[2]
        assert ours.gain[0] == pytest.approx(gain, abs=1e-9)


def test_importances() -> None:
    X, y = synthetic(1500, 3, 5)
    ours = TreeClassifier(max_depth=4).fit(X, y).feature_importances_
    theirs = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y).feature_importances_
    assert ours == pytest.approx(theirs)
