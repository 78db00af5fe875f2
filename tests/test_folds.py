# SPDX-License-Identifier: BSD-3-Clause
"""Draws over rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from fasttree.folds import choose_folds, deal, given_folds, hold_out, row_hashes


def some_rows(n_rows: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 3)), rng.integers(0, 3, n_rows)


def test_equal_rows_hash_alike() -> None:
    X = np.array([[0.0, np.nan, 1.0], [-0.0, -np.nan, 1.0], [0.0, np.nan, 2.0], [0.0, 1.0, np.nan]])
    y = np.array([0, 0, 0, 0])
    hashes = row_hashes(X.T, y)
    assert hashes[0] == hashes[1]
    assert len(set(hashes.tolist())) == 3
    assert (row_hashes(X.astype(np.float32).T, y) == hashes).all()
    assert row_hashes(X.T, np.array([1, 0, 0, 0]))[0] != hashes[0]
    assert (row_hashes(X.T, y, seed=1) != hashes).all()
    codes = X[:, 2:3].copy()
    codes[np.isnan(codes)] = 3
    assert (
        row_hashes([codes[:, 0].astype(np.uint8)], y)
        == row_hashes([codes[:, 0].astype(np.uint32)], y)
    ).all()


def test_hashes_are_numbers_that_stay() -> None:
    X, y = np.array([[1.5, 2.0], [3.0, 4.0]]), np.array([0, 1])
    assert row_hashes(X.T, y, seed=42).tolist() == [12499239610388322187, 15840103435784911419]

    def mixed(state: int) -> int:  # splitmix64, in plain integers
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        state = (state ^ state >> 27) * 0x94D049BB133111EB % 2**64
        return state ^ state >> 31

    bits = np.array([1.5, 2.0]).view(np.uint64).tolist()
    assert row_hashes(X[:1].T, y[:1], seed=42)[0] == mixed(mixed(mixed(42 ^ bits[0]) ^ bits[1]))


def test_order_of_rows_is_nothing() -> None:
    X, y = some_rows()
    order = np.random.default_rng(1).permutation(len(y))
    folds = deal(row_hashes(X.T, y), y, 10)
    assert (deal(row_hashes(X[order].T, y[order]), y[order], 10) == folds[order]).all()


def test_folds_are_stratified() -> None:
    X, y = some_rows(503)
    folds = deal(row_hashes(X.T, y), y, 10)
    for c in range(3):
        sizes = np.bincount(folds[y == c], minlength=10)
        assert sizes.max() - sizes.min() <= 1
    sizes = np.bincount(folds, minlength=10)
    assert sizes.max() - sizes.min() <= 1


def test_copies_stay_together() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (400, 2)).astype(float), rng.integers(0, 2, 400)
    folds = deal(row_hashes(X.T, y), y, 5)
    for row in np.unique(np.column_stack([X, y]), axis=0):
        same = (np.column_stack([X, y]) == row).all(axis=1)
        assert len(set(folds[same].tolist())) == 1
    for c in (0, 1):
        sizes = np.bincount(folds[y == c], minlength=5)
        heaviest = np.unique(X[y == c], axis=0, return_counts=True)[1].max()
        assert sizes.max() - sizes.min() <= heaviest
    assert len(set(folds.tolist())) == 5


def test_a_weight_is_a_number_of_copies() -> None:
    X, y = some_rows(100)
    times = np.random.default_rng(3).integers(1, 4, 100)
    hashes = row_hashes(X.T, y)
    by_weight = deal(hashes, y, 4, times.astype(float))
    by_copies = deal(np.repeat(hashes, times), np.repeat(y, times), 4)
    assert (np.repeat(by_weight, times) == by_copies).all()


def test_seeds_differ() -> None:
    X, y = some_rows()
    folds = [deal(row_hashes(X.T, y, seed), y, 10) for seed in (0, 1)]
    assert 0.05 < (folds[0] == folds[1]).mean() < 0.15


def test_default_shrinks_to_the_smallest_class() -> None:
    X, y = some_rows(60)
    y[:] = 0
    y[:4] = 1
    hashes, classes = row_hashes(X.T, y), np.array(["often", "rare"])
    folds = choose_folds(None, hashes, y, classes)
    assert folds is not None
    assert folds.max() == 3
    with pytest.raises(ValueError, match="folds=10 is more than the class 'rare' has rows, 4"):
        choose_folds(10, hashes, y, classes)
    y[1:4] = 0
    with pytest.warns(
        UserWarning,
        match="the class 'rare' has 1 row, too few for cross-validation: the tree is not pruned",
    ):
        assert choose_folds(None, row_hashes(X.T, y), y, classes) is None
    with pytest.raises(ValueError, match="too few for cross-validation: pass folds of your own"):
        choose_folds(None, row_hashes(X.T, y), y, classes, otherwise=None)
    weights = np.ones(60)
    weights[0] = 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        folds = choose_folds(None, hashes, y, classes, weights)
    assert folds is not None
    assert folds.max() == 1


def test_given_folds() -> None:
    assert given_folds([7, 7, 3, 3, 9, 9], 6).tolist() == [1, 1, 0, 0, 2, 2]
    splits = [
        (np.array([2, 3, 4, 5]), np.array([0, 1])),
        (np.array([0, 1, 4, 5]), np.array([2, 3])),
    ]
    assert given_folds(splits, 6).tolist() == [0, 0, 1, 1, -1, -1]
    masks = [(np.arange(6) >= 3, np.arange(6) < 3), (np.arange(6) < 3, np.arange(6) >= 3)]
    assert given_folds(iter(masks), 6).tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ([1, 2], "a fold number for each of the 6 rows, got the shape"),
        ([1] * 6, "puts all rows into one fold: use at least 2"),
        ("five", "folds must be an integer, a fold number for each row"),
        ([([0, 1, 2], [3, 4, 5])], "folds has 1 split: use at least 2"),
        (
            [([0, 1, 2], [3, 4]), ([3, 4], [0])],
            "split 0 must train on all the rows that it does not test",
        ),
        ([([0, 1, 2], [3, 4, 5]), ([0, 1, 2], [3, 4, 5])], "split 1 tests a row again"),
        (
            [([0, 1, 2], [3, 4, 6]), ([3, 4, 5], [0, 1, 2])],
            "split 0 tests a row that is not among the 6",
        ),
    ],
)
def test_bad_folds(folds, message) -> None:
    with pytest.raises(ValueError, match=message):
        given_folds(folds, 6)


@pytest.mark.parametrize("share", [0.1, 0.25, 1 / 3, 0.5, 0.8])
def test_hold_out(share: float) -> None:
    X, y = some_rows(600)
    held = hold_out(row_hashes(X.T, y), y, share)
    for c in range(3):
        assert held[y == c].mean() == pytest.approx(share, abs=0.01)
    with pytest.raises(ValueError, match="must be between 0 and 1, got 1"):
        hold_out(row_hashes(X.T, y), y, 1)
