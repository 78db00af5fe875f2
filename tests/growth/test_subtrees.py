# SPDX-License-Identifier: BSD-3-Clause
"""What grows below small nodes in one go is what grows level by level, wherever the one takes over from the other."""

from __future__ import annotations

import signal
import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest
from agreement import assert_same_tree
from hypothesis import given
from hypothesis import strategies as st
from strategies import Problem, medium, problems
from switches import small_up_to

import fasttree
from fasttree import _core
from fasttree.growth import subtrees


class Reached(Exception):
    pass


def reached(*arguments: Any) -> None:
    raise Reached


def fingerprint(problem: Problem, n_rows: int, **changes: Any) -> str:
    with small_up_to(n_rows):
        return problem.fit(**changes).tree_.fingerprint()


@given(problems(max_rows=60, holes=True), st.integers(1, 60), st.integers(0, 60))
def test_any_table(problem: Problem, n_rows: int, sorted_up_to: int) -> None:
    with small_up_to(0):
        tree = problem.fit().tree_
    assert_same_tree(tree, problem.grower().grow())
    assert fingerprint(problem, 60) == tree.fingerprint()
    with small_up_to(n_rows, sorted_up_to):
        assert problem.fit().tree_.fingerprint() == tree.fingerprint()


@given(problems(max_rows=60, kinds=("numeric",), holes=True), st.integers(1, 60))
def test_numbers(problem: Problem, n_rows: int) -> None:
    expected = fingerprint(problem, 0)
    assert fingerprint(problem, n_rows) == expected
    assert fingerprint(problem, 60) == expected


@given(problems(max_rows=60, weights=("fractional",)), st.integers(1, 60))
def test_fractional_weights(problem: Problem, n_rows: int) -> None:
    expected = fingerprint(problem, 0)
    assert fingerprint(problem, n_rows) == expected
    balanced = fingerprint(problem, 0, class_weight="balanced")
    assert fingerprint(problem, n_rows, class_weight="balanced") == balanced


@pytest.mark.parametrize("shape", ["numbers", "subset", "multiway", "grouped", "ordered"])
@pytest.mark.parametrize("weighting", ["none", "whole", "fractional"])
@pytest.mark.parametrize(
    ("criterion", "n_classes"),
    [
        ("gini", 2),
        ("gini", 12),
        ("entropy", 2),
        ("entropy", 3),
        ("gain_ratio", 2),
        ("gain_ratio", 5),
        ("misclassification", 2),
        ("misclassification", 4),
    ],
)
def test_wherever_one_takes_over(
    criterion: str, n_classes: int, weighting: str, shape: str
) -> None:
    """Columns with codes and with ranks, and holes; the switch at the rows of each node, and one beside."""
    if shape == "grouped" and criterion not in ("entropy", "gain_ratio"):
        pytest.skip("groups are formed by entropy")
    # With more than 254 branches all grow level by level.
    many = 250 if shape in ("multiway", "grouped") else 300
    levels = () if shape == "numbers" else (2, 5, 11, 60, many)
    changes: dict[str, Any] = {"missing": "category"} if n_classes % 2 else {}
    if weighting == "whole":
        changes["max_bins"] = 50
    problem = medium(
        criterion,
        shape if shape in ("multiway", "grouped") else "subset",
        n_classes,
        weighting,
        seed=7,
        n_rows=600,
        levels=levels,
        holes=0.1,
    )
    if shape == "ordered":
        changes["ordered_features"] = [f"column {8 + k}" for k in range(len(levels))]
    with small_up_to(0):
        tree = problem.fit(**changes).tree_
    with small_up_to(1200), pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "grow_subtrees", reached)
        with pytest.raises(Reached):
            problem.fit(**changes)
    sizes = np.unique(tree.counts.sum(axis=1).astype(int))[::-1]
    for size in {*sizes[:3].tolist(), *sizes[::60].tolist(), 33, 32, 2}:
        for n_rows in (size - 1, size, size + 1):
            again = fingerprint(problem, n_rows, n_jobs=1 + n_rows % 3, **changes)
            assert again == tree.fingerprint(), n_rows
        with small_up_to(1200, sorted_up_to=size):
            assert problem.fit(**changes).tree_.fingerprint() == tree.fingerprint(), size


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
        problem = medium("gini", "subset", 2, weighting, seed=3, holes=0.1, **parameters)
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


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio", "misclassification"])
@pytest.mark.parametrize("decades", [0, 3, 6, 9])
def test_weights_of_many_decades(criterion: str, decades: int) -> None:
    """Sums of terms that are beyond the whole numbers of a double: rounded alike, however a node is searched."""
    for seed in range(25):
        rng = np.random.default_rng([seed, decades])
        n, n_classes = int(rng.integers(20, 90)), int(rng.integers(2, 5))
        X = rng.integers(0, 6, (n, 4)).astype(float)
        X[:, 3] = rng.normal(size=n)
        y = np.append(rng.integers(0, n_classes, n - n_classes), np.arange(n_classes))
        weight = None if decades == 0 else 10.0 ** rng.uniform(-decades, decades, n)
        factors = (
            10.0 ** (np.arange(n_classes) * 5 - 3) if decades in (0, 3) else np.ones(n_classes)
        )
        model = fasttree.TreeClassifier(
            criterion=criterion, class_weight=dict(enumerate(factors.tolist())), n_jobs=1
        )
        trees = []
        for n_rows, sorted_up_to in ((0, 64), (40, 0), (40, 30), (5_000, 64)):
            with small_up_to(n_rows, sorted_up_to):
                trees.append(model.fit(X, y, weight).tree_)
        assert all(tree == trees[0] for tree in trees), seed
        model.candidates(X, y, weight)  # which grows level by level, and compares


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighting", ["none", "whole", "fractional"])
@pytest.mark.parametrize(
    ("n_attributes", "n_values"), [(3, 5), (40, 20), (200, 80), (300, 80), (420, 80)]
)
def test_short_histograms_are_kept_as_long_as_there_is_room(
    n_classes: int, weighting: str, n_attributes: int, n_values: int
) -> None:
    """For all nodes, for two, for one, for none: what is counted is the same. Some splits have many branches."""
    rng = np.random.default_rng(n_attributes)
    n = 900 if n_attributes > 100 else 4_000
    numbers = rng.integers(0, n_values, (n, n_attributes)).astype(float)
    numbers[rng.random(numbers.shape) < 0.05] = np.nan
    y = (np.nansum(numbers[:, :3], axis=1) + rng.integers(0, 2 * n_values, n)).astype(int)
    y = y * n_classes // (y.max() + 1)
    weight = {
        "none": None,
        "whole": rng.integers(1, 4, n).astype(float),
        "fractional": rng.random(n) + 0.1,
    }[weighting]
    X: dict[str, Any] = {f"x{j}": numbers[:, j] for j in range(n_attributes - 1)}
    X["kind"] = fasttree.Categorical(rng.choice(["a", "b", "c"], n), ["a", "b", "c"])
    for split in ("subset", "multiway"):
        trees = []
        for n_rows in (0, 100, 5_000):
            with small_up_to(n_rows):
                model = fasttree.TreeClassifier(categorical_split=split, n_jobs=1)
                trees.append(model.fit(X, y, weight).tree_)
        assert trees[0] == trees[1]
        assert trees[0] == trees[2]
        assert trees[0].node_count > 50


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


# -- what must not happen -----------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [0, 16_384])
@pytest.mark.parametrize("seed", [167, 3, 7, 11])
def test_no_side_is_without_rows_whatever_rounding_says(seed: int, n_rows: int) -> None:
    """Limits count weights before the class factors: of sums and of rows they may differ by a step."""
    rng = np.random.default_rng(seed)
    n = (10, 30, 200, 2000)[seed % 4]
    X = rng.choice(list("abc"), (n, 2))
    y, weight = rng.integers(0, 2, n), rng.random(n) ** 3
    model = fasttree.TreeClassifier(
        criterion="gini", class_weight={0: float(rng.random()), 1: 1.0}, ordered_features=[0, 1]
    )
    with small_up_to(n_rows):
        tree = model.fit(X, y, sample_weight=weight).tree_
    assert tree.counts.sum(axis=1).min() > 0


@pytest.mark.parametrize("n_rows", [0, 16_384])
def test_the_same_among_counted_numbers(n_rows: int) -> None:
    rng = np.random.default_rng(6)
    X = rng.integers(0, 60, (2000, 1))
    X[X == 30] = 29
    X = X.astype(float)
    y, weight = rng.integers(0, 2, len(X)), rng.random(len(X)) + 0.5
    X[:2], y[:2], weight[:2] = 30, [0, 1], rng.random(2) * 1e5 + 1e5
    model = fasttree.TreeClassifier(
        criterion="gini", class_weight={0: float(rng.random()), 1: 1.0}, max_bins=255
    )
    with small_up_to(n_rows):
        tree = model.fit(X, y, sample_weight=weight).tree_
    assert tree.counts.sum(axis=1).min() > 0
    assert tree.n_leaves <= len(np.unique(X))


def test_many_classes_take_no_memory_that_the_tree_does_not() -> None:
    n = 5000
    X = np.arange(n)[:, None] % 77.0
    y = np.arange(n)
    fasttree.TreeClassifier(max_depth=1).fit(X, y)
    tracemalloc.start()
    fasttree.TreeClassifier(max_depth=2).fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2**27  # a class count for each row and class would take 2**28


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_signals_are_heard_in_the_middle() -> None:
    """A tree as deep as half its rows: what takes long in one call of the core."""
    n = 10_000
    X = np.repeat(np.arange(n)[:, None], 8, axis=1).astype(float)
    heard = []
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        fasttree.TreeClassifier(criterion="entropy", max_bins=None, n_jobs=1).fit(
            X, np.arange(n) % 2
        )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    # If it were heard at the ends alone, a handful of times.
    assert len(heard) > 8


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_signal_stops_all_threads(n_jobs: int) -> None:
    """What was begun is left undone, and the next fit is what it should be."""

    class Struck(Exception):
        pass

    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_000, 6))
    y = rng.integers(0, 2, len(X))
    expected = fasttree.TreeClassifier(n_jobs=1).fit(X, y).tree_.fingerprint()
    grow, calls = _core.grow_subtrees, []

    def struck(*arguments: Any) -> bool:
        calls.append(1)
        if len(calls) == 2:
            raise Struck
        return bool(grow(*arguments))

    with small_up_to(1_000), pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "grow_subtrees", struck)
        with pytest.raises(Struck):
            fasttree.TreeClassifier(n_jobs=n_jobs).fit(X, y)
    with small_up_to(1_000):
        again = fasttree.TreeClassifier(n_jobs=n_jobs).fit(X, y)
    assert again.tree_.fingerprint() == expected


def test_limits_beyond_all_numbers() -> None:
    X = np.arange(40.0)[:, None]
    y = np.arange(40) % 3
    model = fasttree.TreeClassifier(max_depth=10**30, max_leaves=10**30)
    assert (
        model.fit(X, y).tree_.fingerprint()
        == fasttree.TreeClassifier().fit(X, y).tree_.fingerprint()
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"min_samples_leaf": 5},
        {"missing": "category", "max_depth": 7},
        {"min_gain": 1e-3, "ties": "schema"},
        {"categorical_split": "multiway", "threshold": "value"},
    ],
    ids=str,
)
@pytest.mark.parametrize("whole_weights", [False, True])
def test_a_target_of_numbers(parameters: dict[str, Any], whole_weights: bool) -> None:
    """Where every column has a sorted list: numbers with holes and with equal targets, and hundreds of categories."""
    rng = np.random.default_rng(len(parameters))
    X: dict[str, Any] = {f"x{i}": rng.normal(size=900) for i in range(3)}
    X["x1"][rng.random(900) < 0.2] = np.nan
    X["c"] = np.array([f"k{number}" for number in rng.integers(0, 400, 900)], dtype=object)
    y = np.round(X["x0"] * 2 + rng.normal(size=900))
    weight = rng.integers(0, 4, 900).astype(float) if whole_weights else None
    trees = []
    for n_rows in (0, 1, 7, 100, 900):
        with small_up_to(n_rows):
            trees.append(fasttree.TreeRegressor(**parameters).fit(X, y, weight).tree_)
    assert all(tree == trees[0] for tree in trees)
    assert trees[0].node_count > 50
    assert fasttree.TreeRegressor(n_jobs=4, **parameters).fit(X, y, weight).tree_ == trees[0]
