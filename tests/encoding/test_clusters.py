# SPDX-License-Identifier: BSD-3-Clause
"""Groups of rows that go as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import hashed, some_rows
from hypothesis import given
from hypothesis import strategies as st

from fasttree.encoding.clusters import assign_groups, hold_groups

pytestmark = pytest.mark.numeric


def clustered(n_groups: int, seed: int, sizes: int = 8) -> tuple[np.ndarray, ...]:
    """Groups of several sizes, each with a mix of classes of its own."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), rng.integers(1, sizes + 1, n_groups))
    share = rng.beta(0.4, 0.8, n_groups)[group]
    y = (rng.random(len(group)) < share).astype(int) + (rng.random(len(group)) < 0.1)
    return rng.normal(size=(len(group), 2)), y, rng.permutation(n_groups)[group]


def table(y: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Rows by part and class."""
    found = np.zeros((part.max() + 1, y.max() + 1))
    np.add.at(found, (part, y), 1)
    return found


def slow_deal(y: np.ndarray, group: np.ndarray, n_folds: int) -> np.ndarray:
    """The sizes of the folds [fold, class], by the rule in plain words."""
    profiles = sorted(map(tuple, table(y, group).tolist()), key=lambda p: (-sum(p), p[::-1]))
    of_class = np.bincount(y)
    folds = [[0.0] * len(of_class) for _ in range(n_folds)]
    for profile in profiles:
        # A whole round of equal groups leaves the differences between folds as they were, so the rule may be followed
        # one by one.
        def overlap(fold: int, profile: tuple[float, ...] = profile) -> float:
            pairs = zip(folds[fold], profile, of_class.tolist(), strict=True)
            return sum(has / n * (brings / n) for has, brings, n in pairs)

        best = min(range(n_folds), key=lambda f: (round(overlap(f), 12), sum(folds[f]), f))
        folds[best] = [a + b for a, b in zip(folds[best], profile, strict=True)]
    return np.array(folds)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_groups_go_whole_and_folds_are_balanced(seed: int, n_folds: int) -> None:
    X, y, group = clustered(60, seed)
    fold = assign_groups(hashed(X), y, group, n_folds).of_rows()
    assert all(len(set(fold[group == g].tolist())) == 1 for g in range(60))
    assert set(fold.tolist()) == set(range(n_folds))
    sizes, slow = table(y, fold), slow_deal(y, group, n_folds)
    # As even as by the rule followed one by one, or nearly so, for equal groups are dealt round by round: but for a row
    # of each class.
    of_one_row = float((2 / sizes.sum(axis=0) ** 2).sum())
    assert unevenness(sizes) <= unevenness(slow) + 0.02 + of_one_row


def unevenness(sizes: np.ndarray) -> float:
    """How far the shares of the folds are from equal, [fold, class]."""
    return float(((sizes / sizes.sum(axis=0) - 1 / len(sizes)) ** 2).sum())


@pytest.mark.parametrize("n_folds", [2, 3, 6])
def test_folds_of_groups_are_much_more_even_than_by_chance(n_folds: int) -> None:
    """On most tables: one group after the other goes where it fits best, and the last ones may fit nowhere."""
    ratios = []
    for seed in range(100):
        X, y, group = clustered(60, seed)
        fold = assign_groups(hashed(X), y, group, n_folds).of_rows()
        rng = np.random.default_rng(seed)
        by_chance = [unevenness(table(y, rng.permutation(60)[group] % n_folds)) for _ in range(20)]
        ratios.append(unevenness(table(y, fold)) / np.median(by_chance))
    assert np.median(ratios) < 0.2
    assert np.quantile(ratios, 0.9) < 0.5


def test_groups_that_are_all_alike_are_dealt_round_by_round() -> None:
    X, _ = some_rows(84)
    y, group = np.arange(84) % 2, np.arange(84) // 4
    fold = assign_groups(hashed(X), y, group, 5).of_rows()
    assert sorted(np.bincount(fold).tolist()) == [16, 16, 16, 16, 20]
    other = assign_groups(hashed(X, seed=1), y, group, 5).of_rows()
    assert (fold != other).any()


def test_pure_groups() -> None:
    X, _ = some_rows(40)
    y = np.repeat([0, 1], 20)
    fold = assign_groups(hashed(X), y, np.arange(40) // 4, 2).of_rows()
    assert set(fold[:20].tolist()) == set(fold[20:].tolist()) == {0, 1}
    held = hold_groups(hashed(X), y, np.arange(40) // 4, 0.4)
    assert held[:20].sum() == held[20:].sum() == 8


@given(st.integers(0, 2**32 - 1), st.sampled_from(["whole", "fractional"]))
def test_order_and_weights(seed: int, weights: str) -> None:
    X, y, group = clustered(30, seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    times = rng.integers(1, 4, len(y))
    weight = times.astype(float) if weights == "whole" else times / 3
    hashes = hashed(X)
    fold = assign_groups(hashes, y, group, 3, weight).of_rows()
    held = hold_groups(hashes, y, group, 0.3, weight)
    names = rng.permutation(30)[group]
    for rows, groups in [(order, group), (np.arange(len(y)), names)]:
        arguments = hashes[rows], y[rows], groups[rows]
        again = assign_groups(*arguments, 3, weight[rows]).of_rows()
        assert np.array_equal(again, fold[rows])
        assert np.array_equal(hold_groups(*arguments, 0.3, weight[rows]), held[rows])
    if weights == "whole":
        copies = np.repeat(np.arange(len(y)), times)
        arguments = hashes[copies], y[copies], group[copies]
        assert np.array_equal(assign_groups(*arguments, 3).of_rows(), fold[copies])
        assert np.array_equal(hold_groups(*arguments, 0.3) > 0, held[copies] > 0)


@pytest.mark.parametrize("share", [0.2, 0.3, 0.5])
def test_hold_out(share: float) -> None:
    for seed in range(5):
        X, y, group = clustered(120, seed)
        held = hold_groups(hashed(X), y, group, share)
        assert all(len(set(held[group == g].tolist())) == 1 for g in range(120))
        for c in range(3):
            assert held[y == c].mean() == pytest.approx(share, abs=0.05)


def test_no_class_is_held_out_altogether() -> None:
    X, y, group = clustered(20, 3)
    y[:] = group == 7
    for share in (0.1, 0.5, 0.9):
        assert not hold_groups(hashed(X), y, group, share)[y == 1].any()
