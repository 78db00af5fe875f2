# SPDX-License-Identifier: BSD-3-Clause
"""What grows below small nodes in one go is what grows level by level, wherever the one takes over from the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from agreement import assert_same_tree
from hypothesis import given
from hypothesis import strategies as st
from strategies import Problem, medium, problems

import fasttree
from fasttree.growth import subtrees


@contextmanager
def small_up_to(n_rows: int, sorted_up_to: int = subtrees.MOST_SORTED) -> Iterator[None]:
    """Nodes of so many rows are small; 0: none is, and all grow level by level. Binned attributes of small nodes are
    counted, but for those of up to `sorted_up_to` rows."""
    most = subtrees.MOST_ROWS, subtrees.MOST_SORTED
    subtrees.MOST_ROWS, subtrees.MOST_SORTED = n_rows, sorted_up_to
    try:
        yield
    finally:
        subtrees.MOST_ROWS, subtrees.MOST_SORTED = most


def fingerprint(problem: Problem, n_rows: int, **changes: Any) -> str:
    with small_up_to(n_rows):
        return problem.fit(**changes).tree_.fingerprint()


@given(problems(kinds=("numeric",), max_rows=60, holes=True), st.integers(1, 60))
def test_any_table(problem: Problem, n_rows: int) -> None:
    with small_up_to(0):
        tree = problem.fit().tree_
    assert_same_tree(tree, problem.grower().grow())
    assert fingerprint(problem, n_rows) == tree.fingerprint()
    assert fingerprint(problem, 60) == tree.fingerprint()


@given(problems(kinds=("numeric",), max_rows=60, weights=("fractional",)), st.integers(1, 60))
def test_fractional_weights(problem: Problem, n_rows: int) -> None:
    expected = fingerprint(problem, 0)
    assert fingerprint(problem, n_rows) == expected
    balanced = fingerprint(problem, 0, class_weight="balanced")
    assert fingerprint(problem, n_rows, class_weight="balanced") == balanced


@pytest.mark.parametrize("max_bins", [None, 50])
@pytest.mark.parametrize("weighting", ["none", "whole", "fractional"])
@pytest.mark.parametrize(
    ("criterion", "n_classes"),
    [
        ("gini", 2),
        ("gini", 30),
        ("entropy", 2),
        ("entropy", 3),
        ("gain_ratio", 2),
        ("gain_ratio", 5),
        ("misclassification", 2),
        ("misclassification", 4),
    ],
)
def test_wherever_one_takes_over(
    criterion: str, n_classes: int, weighting: str, max_bins: int | None
) -> None:
    """Columns with codes and with ranks, and holes; the switch at the rows of each node, and one beside."""
    problem = medium(
        criterion, "subset", n_classes, weighting, seed=7, levels=(), holes=0.1, max_bins=max_bins
    )
    with small_up_to(0):
        tree = problem.fit().tree_
    sizes = np.unique(tree.counts.sum(axis=1).astype(int))[::-1]
    for size in {*sizes[:4].tolist(), *sizes[::40].tolist(), 33, 32, 2}:
        for n_rows in (size - 1, size, size + 1):
            assert fingerprint(problem, n_rows, n_jobs=1 + n_rows % 3) == tree.fingerprint()
            with small_up_to(1200, sorted_up_to=n_rows):
                assert problem.fit().tree_.fingerprint() == tree.fingerprint()


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 1},
        {"max_depth": 5},
        {"max_leaves": 7},
        {"min_samples_leaf": 9},
        {"min_samples_split": 40},
        {"min_weight_fraction_leaf": 0.02},
        {"min_gain": 0.01},
        {"stop_zero_gain": True},
        {"ties": "schema"},
        {"missing": "category"},
        {"threshold": "value"},
        {"class_weight": "balanced"},
        {"class_weight": {0: 0.3, 1: 7.1}},
        {"misclassification_cost": [[0, 1], [9, 0]]},
        {"pruning": "error_based"},
        {"significance": 0.05},
    ],
    ids=str,
)
def test_every_limit(parameters: dict[str, Any]) -> None:
    for weighting in ("none", "fractional"):
        problem = medium("gini", "subset", 2, weighting, seed=3, levels=(), holes=0.1, **parameters)
        expected = fingerprint(problem, 0)
        for n_rows in (10, 100, 700, 5000):
            assert fingerprint(problem, n_rows, n_jobs=2) == expected


@pytest.mark.parametrize(
    ("estimator", "parameters"),
    [
        (fasttree.TreeClassifier, {"missing": "fractional"}),
        (fasttree.TreeClassifier, {"missing": "surrogate"}),
        (fasttree.TreeClassifier, {"criterion": "confidence_entropy"}),
        (fasttree.TreeClassifier, {"attribute_costs": [1, 2, 3, 4, 5, 6, 7, 8]}),
        (fasttree.C45Classifier, {"pruning": None}),
        (fasttree.SMMLClassifier, {"lookahead": 1}),
        (fasttree.BayesTreeClassifier, {}),
    ],
    ids=str,
)
def test_what_other_splits_need_is_left_to_the_levels(
    estimator: type, parameters: dict[str, Any]
) -> None:
    problem = medium("entropy", "subset", 2, "none", seed=3, n_rows=300, levels=(), holes=0.1)
    trees = []
    for n_rows in (0, 300):
        with small_up_to(n_rows):
            model = estimator(**parameters).fit(problem.X, np.array(problem.y))
        trees.append(model.tree_.fingerprint())
    assert trees[0] == trees[1]


@pytest.mark.parametrize("max_bins", [None, 2, 30, 255])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighting", ["none", "whole", "heavy"])
def test_no_attribute_is_passed_over_that_might_win(
    n_classes: int, weighting: str, max_bins: int | None
) -> None:
    """Attributes that cannot beat the best so far are not searched. Here many nearly could: copies of each other
    with some values moved, and columns that tell nothing."""
    rng = np.random.default_rng([n_classes, len(weighting), max_bins or 0])
    for n in (40, 65, 130, 300, 900):
        for repeat in range(4):
            X = rng.normal(size=(n, 12))
            X[:, 1:4] = X[:, :1] + (rng.random((n, 3)) < 0.02 * repeat) * rng.normal(size=(n, 3))
            X[:, 5] = np.round(X[:, 4], 1)
            if repeat == 3:
                X[rng.random(X.shape) < 0.1] = np.nan
            noise = rng.normal(scale=(0.1, 1.0, 9.0)[repeat % 3], size=n)
            score = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 4]) + noise
            y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
            weight = None
            if weighting != "none":
                weight = rng.integers(1, 4, n) * (1.0 if weighting == "whole" else 2.0**25)
            trees = []
            for n_rows, sorted_up_to in ((0, 0), (n, 0), (n, 20), (n, 64), (n, n)):
                with small_up_to(n_rows, sorted_up_to):
                    model = fasttree.TreeClassifier(criterion="gini", max_bins=max_bins)
                    trees.append(model.fit(X, y, sample_weight=weight).tree_.fingerprint())
            assert len(set(trees)) == 1, (n, repeat)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_many_small_nodes_over_threads(n_jobs: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 6))
    X[:, 3] = rng.integers(0, 40, len(X))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=len(X)) > 0).astype(int)
    trees = []
    for n_rows in (0, 100, 3_000, 30_000):
        with small_up_to(n_rows):
            trees.append(fasttree.TreeClassifier(n_jobs=n_jobs).fit(X, y).tree_.fingerprint())
    assert len(set(trees)) == 1
    shuffled = rng.permutation(len(X))
    again = fasttree.TreeClassifier(n_jobs=n_jobs).fit(X[shuffled], y[shuffled])
    assert again.tree_.fingerprint() == trees[0]


def test_columns_beyond_the_cache_are_no_small_nodes() -> None:
    """The more columns, the fewer rows a small node has; with very many of them none is small."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(20, 3000)).astype(float)
    y = rng.integers(0, 2, 20)
    fitted = [fasttree.TreeClassifier().fit(X, y)]
    most = subtrees.MOST_ENTRIES
    try:
        subtrees.MOST_ENTRIES = 1000
        fitted.append(fasttree.TreeClassifier().fit(X, y))
    finally:
        subtrees.MOST_ENTRIES = most
    assert len({model.tree_.fingerprint() for model in fitted}) == 1
