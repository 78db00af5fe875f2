# SPDX-License-Identifier: BSD-3-Clause
"""Thresholds: hostile numbers, monotone transforms, and bins that lose nothing or little."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import reference
from agreement import assert_same_tree
from hypothesis import given
from hypothesis import strategies as st
from reference import Attribute
from strategies import Problem, problems

from fasttree import TreeClassifier

pytestmark = pytest.mark.numeric

BIG = 1.7976931348623157e308
TINY = 5e-324


def fit(x: Any, y: Any, **parameters: Any) -> TreeClassifier:
    """A tree on one numeric column."""
    return TreeClassifier(**parameters).fit(np.asarray(x, dtype=float).reshape(-1, 1), y)


def test_thresholds_lie_midway_and_use_float64() -> None:
    tree = fit([1.0, 2.0, 4.0, 4.5], [0, 0, 1, 1]).tree_
    assert tree.threshold[0] == 3.0
    close = [1.0, 1.0 + 2**-40]  # the same number in float32
    model = fit(close, [0, 1])
    assert model.tree_.threshold[0] == 1.0 + 2**-41
    assert list(model.predict(np.reshape(close, (-1, 1)))) == [0, 1]


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.0, math.nextafter(1.0, 2.0)),
        (math.nextafter(1.0, 0.0), 1.0),
        (-1.0, math.nextafter(-1.0, 0.0)),
        (0.0, TINY),
        (TINY, 2 * TINY),
        (2 * TINY, 3 * TINY),
        (-TINY, 0.0),
        (-TINY, TINY),
        (-TINY, -0.0),
        (2.0**53, 2.0**53 + 2),
        (math.nextafter(BIG, 0.0), BIG),
        (-BIG, BIG),
        (BIG / 2, BIG),
        (-BIG, -BIG / 2),
        (BIG, math.inf),
        (-math.inf, -BIG),
        (-math.inf, math.inf),
        (-math.inf, 0.0),
        (0.0, math.inf),
        (3.0, math.inf),
    ],
)
@pytest.mark.parametrize("threshold", ["midpoint", "value"])
def test_a_cut_separates_what_it_separated(low: float, high: float, threshold: str) -> None:
    model = fit([low, high, low, high], ["a", "b", "a", "b"], threshold=threshold)
    (cut,) = model.tree_.threshold[:1]
    assert low <= cut < high
    expected = low if threshold == "value" else reference.midpoint(low, high)
    assert cut == expected
    assert math.copysign(1, cut) == 1 or cut != 0  # never -0.0
    assert list(model.predict(np.array([[low], [high]]))) == ["a", "b"]
    assert model.tree_.counts[1:].tolist() == [[2, 0], [0, 2]]


def test_negative_zero_is_zero() -> None:
    assert fit([-0.0, 0.0, -0.0], [0, 1, 1]).get_n_leaves() == 1
    model = fit([-1.0, -0.0, 0.0, 1.0], [0, 1, 1, 0])
    assert model.get_n_leaves() == 3
    assert list(model.predict(np.array([[0.0], [-0.0]]))) == [1, 1]


def test_infinite_values_are_numbers() -> None:
    x = [-math.inf, -math.inf, -1.0, 0.0, 1.0, math.inf, math.inf]
    y = [0, 0, 1, 0, 1, 0, 0]
    problem = Problem([Attribute(x)], y)
    model = problem.fit()
    assert_same_tree(model.tree_, problem.grower().grow())
    assert list(model.predict(problem.X)) == y


def test_integers_that_float64_would_round_are_refused() -> None:
    exact = np.array([2**53 - 2, 2**53 - 1, 2**53, -(2**53), 1 - 2**53]).reshape(-1, 1)
    model = TreeClassifier().fit(exact, np.arange(5))
    assert model.predict(exact).tolist() == [0, 1, 2, 3, 4]
    for dtype in ("int64", "uint64"):
        with pytest.raises(ValueError, match=r"x0.*2\*\*53"):
            TreeClassifier().fit(np.array([[2**53 + 1], [0]], dtype=dtype), [0, 1])


@given(problems(kinds=("numeric",)), st.integers(0, 2**32 - 1))
def test_a_strictly_monotone_transform_keeps_the_partition(problem: Problem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    moved = []
    for attribute in problem.attributes:
        levels = sorted(set(attribute.values))
        places = np.cumsum(rng.exponential(size=len(levels)) + 1e-3) * 10.0 ** rng.integers(-5, 6)
        where = dict(zip(levels, places.tolist(), strict=True))
        moved.append(Attribute([where[v] for v in attribute.values]))
    other = Problem(moved, problem.y, problem.weights, problem.parameters)
    ours, theirs = problem.fit(), other.fit()
    counted = np.array(problem.weights or [1.0] * len(problem.y)) > 0
    assert np.array_equal(ours.apply(problem.X[counted]), theirs.apply(other.X[counted]))
    for name in ("attribute", "first_child", "counts", "pred", "gain", "missing_branch"):
        assert np.array_equal(getattr(ours.tree_, name), getattr(theirs.tree_, name)), name


# -- bins ----------------------------------------------------------------------------------------


@given(problems())
def test_bins_lose_nothing_where_values_are_few(problem: Problem) -> None:
    assert problem.fit(max_bins=255).tree_.fingerprint() == problem.fit().tree_.fingerprint()


@pytest.mark.parametrize("n_values", [254, 255])
@pytest.mark.parametrize("threshold", ["midpoint", "value"])
def test_255_values_fit_into_255_bins(n_values: int, threshold: str) -> None:
    rng = np.random.default_rng(1)
    grid = np.sort(rng.normal(size=n_values))
    X = np.column_stack([rng.permutation(np.tile(grid, 4)) for _ in range(3)])
    y = rng.integers(0, 3, len(X))
    exact = TreeClassifier(threshold=threshold).fit(X, y)
    binned = TreeClassifier(threshold=threshold, max_bins=255).fit(X, y)
    assert np.array_equal(exact.tree_.threshold, binned.tree_.threshold, equal_nan=True)
    assert exact.tree_.fingerprint() == binned.tree_.fingerprint()


@pytest.mark.parametrize("max_bins", [2, 16, 255])
def test_lossy_bins(numeric_table: tuple[np.ndarray, np.ndarray], max_bins: int) -> None:
    X, y = numeric_table
    model = TreeClassifier(max_bins=max_bins, max_depth=6).fit(X, y)
    tree = model.tree_
    for attribute in range(X.shape[1]):
        cuts = np.unique(tree.threshold[tree.attribute == attribute])
        assert len(cuts) < max_bins
    arrived = np.zeros_like(tree.counts)
    np.add.at(arrived, (model.apply(X), y), 1)
    leaves = tree.attribute < 0
    assert np.array_equal(arrived[leaves], tree.counts[leaves])
    exact = TreeClassifier(max_depth=6).fit(X, y)
    loss = {2: 0.25, 16: 0.03, 255: 0.01}[max_bins]
    assert model.score(X, y) > exact.score(X, y) - loss


def test_bins_do_not_hang_on_infinite_values() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(size=2000), np.full(300, np.inf), np.full(300, -np.inf)])
    y = (np.abs(x) < 1).astype(int)
    model = fit(x, y, max_bins=32)
    assert model.score(x.reshape(-1, 1), y) > 0.97
