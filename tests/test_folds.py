# SPDX-License-Identifier: BSD-3-Clause
"""Draws over rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fasttree import CARTClassifier, TreeClassifier, compare_methods
from fasttree.folds import (
    MANY,
    SELDOM,
    choose_folds,
    deal,
    given_folds,
    hold_out,
    value_hashes,
    with_classes,
)

pytestmark = pytest.mark.numeric


def some_rows(n_rows: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 3)), rng.integers(0, 3, n_rows)


def hashed(X: np.ndarray, seed: int = 0) -> np.ndarray:
    return value_hashes(X.T, len(X), seed)


def test_equal_rows_hash_alike() -> None:
    X = np.array([[0.0, np.nan, 1.0], [-0.0, -np.nan, 1.0], [0.0, np.nan, 2.0], [0.0, 1.0, np.nan]])
    y = np.array([0, 0, 0, 0])
    hashes = with_classes(hashed(X), y)
    assert hashes[0] == hashes[1]
    assert len(set(hashes.tolist())) == 3
    assert (hashed(X.astype(np.float32)) == hashed(X)).all()
    assert with_classes(hashed(X), np.array([1, 0, 0, 0]))[0] != hashes[0]
    assert (hashed(X, seed=1) != hashed(X)).all()
    codes = X[:, 2:3].copy()
    codes[np.isnan(codes)] = 3
    assert (hashed(codes.astype(np.uint8)) == hashed(codes.astype(np.uint32))).all()


def test_hashes_are_numbers_that_stay() -> None:
    X, y = np.array([[1.5, 2.0], [3.0, 4.0]]), np.array([0, 1])
    found = with_classes(hashed(X, 42), y)
    assert found.tolist() == [12499239610388322187, 15840103435784911419]

    def mixed(state: int) -> int:  # splitmix64, in plain integers
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        state = (state ^ state >> 27) * 0x94D049BB133111EB % 2**64
        return state ^ state >> 31

    bits = np.array([1.5, 2.0]).view(np.uint64).tolist()
    assert found[0] == mixed(mixed(mixed(42 ^ bits[0]) ^ bits[1]))


def test_order_of_rows_is_nothing() -> None:
    X, y = some_rows()
    order = np.random.default_rng(1).permutation(len(y))
    folds = deal(hashed(X), y, 10)
    assert (deal(hashed(X[order]), y[order], 10) == folds[order]).all()


def test_folds_are_stratified() -> None:
    X, y = some_rows(503)
    folds = deal(hashed(X), y, 10)
    for c in range(3):
        sizes = np.bincount(folds[y == c], minlength=10)
        assert sizes.max() - sizes.min() <= 1
    sizes = np.bincount(folds, minlength=10)
    assert sizes.max() - sizes.min() <= 1


def test_copies_stay_together() -> None:
    X, y = some_rows(120)
    times = np.random.default_rng(3).integers(1, MANY, 120)
    X, y = np.repeat(X, times, axis=0), np.repeat(y, times)
    for folds in (deal(hashed(X), y, 5), hold_out(hashed(X), y, 0.3).astype(int)):
        for row in np.unique(X, axis=0):
            assert len(set(folds[(row == X).all(axis=1)].tolist())) == 1
    folds = deal(hashed(X), y, 5)
    for c in range(3):
        sizes = np.bincount(folds[y == c], minlength=5)
        assert sizes.max() - sizes.min() <= times.max()
    assert len(set(folds.tolist())) == 5


def slow_draws(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> list[tuple[Any, ...]]:
    """What is drawn as a whole, by the rule in plain words: class, weight, hash and the rows."""
    by_values: dict[tuple[float, ...], dict[int, list[int]]] = {}
    for row in range(len(y)):
        by_values.setdefault(tuple(X[row]), {}).setdefault(int(y[row]), []).append(row)
    several = [classes for classes in by_values.values() if sum(map(len, classes.values())) > 1]
    n_mixed = sum(len(classes) > 1 for classes in several)
    look_alike = n_mixed > 0 and n_mixed / len(several) >= 1 / SELDOM
    found = []
    for values, classes in by_values.items():
        for c, rows in classes.items():
            own = with_classes(hashed(np.array([values])), np.array([c]))
            if not look_alike and sum(map(len, classes.values())) < MANY:
                found.append((c, weights[rows].sum(), int(own[0]), rows))
                continue
            for place, row in enumerate(sorted(rows, key=lambda row: weights[row])):
                at_place = with_classes(own, np.array([place]))[0] if place else own[0]
                found.append((c, weights[row], int(at_place), [row]))
    return found


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([2, 6, 40]),
    st.sampled_from([0, 0.005, 0.3]),
    st.booleans(),
)
def test_draws_follow_the_rule(seed: int, n_values: int, noise: float, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (rng.integers(20, 300), 2)).astype(float)
    y = (X.sum(axis=1) % 3 == 0).astype(int)
    y[rng.random(len(X)) < noise] = 0
    weights = rng.integers(1, 4, len(X)).astype(float) if weighted else np.ones(len(X))
    draws = slow_draws(X, y, weights)
    parts = np.empty(len(X), dtype=int)
    for turn, draw in enumerate(sorted(draws, key=lambda draw: (draw[0], -draw[1], draw[2]))):
        parts[draw[3]] = turn % 3
    held = np.zeros(len(X), dtype=bool)
    reached = np.zeros(2)
    for c, weight, _, rows in sorted(draws, key=lambda draw: (draw[0], draw[2])):
        reached[c] += weight
        held[rows] = reached[c] <= 0.3 * weights[y == c].sum() + 1e-9
    given_weights = weights if weighted else None
    assert (deal(hashed(X), y, 3, given_weights) == parts).all()
    assert (hold_out(hashed(X), y, 0.3, given_weights) == held).all()


def few_kinds(n_rows: int = 3000, seed: int = 0) -> tuple[np.ndarray, np.ndarray, float]:
    """Rows of 20 kinds, each with its own share of a class, and the accuracy of who knows these shares."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 20, n_rows)
    X = ((rng.permutation(32)[kind][:, np.newaxis] >> np.arange(5)) & 1).astype(float)
    share = rng.uniform(0.05, 0.95, 20)
    y = (rng.random(n_rows) < share[kind]).astype(int)
    return X, y, float(np.maximum(share, 1 - share)[kind].mean())


def test_every_part_has_some_of_every_kind() -> None:
    X, y, _ = few_kinds()
    folds, held = deal(hashed(X), y, 10), hold_out(hashed(X), y, 0.3)
    for row in np.unique(np.column_stack([X, y]), axis=0):
        same = (np.column_stack([X, y]) == row).all(axis=1)
        n = np.count_nonzero(same)
        for part, expected in [*((folds == i, 0.1) for i in range(10)), (held, 0.3)]:
            # As many as chance allows: no more, and not as even as if kinds were dealt one after the other.
            spread = np.sqrt(n * expected * (1 - expected))
            assert abs(np.count_nonzero(part & same) - n * expected) <= 5 * spread + 1
    for c in (0, 1):
        sizes = np.bincount(folds[y == c])
        assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("weighted", [False, True])
def test_order_of_copies_is_nothing(weighted: bool) -> None:
    X, y, _ = few_kinds()
    rng = np.random.default_rng(1)
    order = rng.permutation(len(y))
    weights = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    orders = [(X, y, weights), (X[order], y[order], None if weights is None else weights[order])]
    for draw in (
        lambda X, y, w: deal(hashed(X), y, 10, w),
        lambda X, y, w: hold_out(hashed(X), y, 0.3, w),
    ):
        drawn = [
            np.column_stack([X, y, np.ones(len(y)) if w is None else w, draw(X, y, w)])
            for X, y, w in orders
        ]
        once, again = (np.unique(rows, axis=0, return_counts=True) for rows in drawn)
        assert np.array_equal(once[0], again[0])
        assert np.array_equal(once[1], again[1])
    for pruning in ("cost_complexity", "cross_validated", "reduced_error"):
        one, other = (TreeClassifier(pruning=pruning).fit(X, y, w).tree_ for X, y, w in orders)
        assert one.fingerprint() == other.fingerprint()


@pytest.mark.parametrize("pruning", ["cost_complexity", "cross_validated", "reduced_error"])
def test_few_kinds_of_rows_are_pruned_by_what_is_true_of_them(pruning: str) -> None:
    X, y, best = few_kinds()
    model = TreeClassifier(pruning=pruning).fit(X, y)
    assert model.score(X, y) == pytest.approx(best, abs=0.03)
    # Two attributes that only say something together: nothing but copies tells that.
    X = np.repeat([[0.0, 0], [0, 1], [1, 0], [1, 1]], 100, axis=0)
    y = (X[:, 0] != X[:, 1]).astype(int)
    full = TreeClassifier(stop_zero_gain=False, pruning=pruning).fit(X, y)
    assert full.score(X, y) == 1.0


def test_few_kinds_of_rows_are_judged_by_what_is_true_of_them() -> None:
    X, y, best = few_kinds()
    accuracy = compare_methods(X, y, ["ID3", "CART", "SMML"])
    for name in accuracy.methods:
        found = accuracy.spread(name)
        assert found.mean == pytest.approx(best, abs=0.03)
        assert found.sd == pytest.approx(np.sqrt(best * (1 - best) / 300), rel=0.6)


@pytest.mark.parametrize("n_bits", [6, 8, 9, 10])
def test_kinds_of_one_or_two_or_five_or_thirty_rows(n_bits: int) -> None:
    rng = np.random.default_rng(n_bits)
    X, y = rng.integers(0, 2, (2000, n_bits)), rng.integers(0, 2, 2000)  # nothing to be learned
    found = compare_methods(X, y, ["ID3"], folds=5)
    assert found.spread("ID3").mean == pytest.approx(0.5, abs=0.04)


def test_copies_tell_no_method_what_it_is_asked() -> None:
    X, y = some_rows(300)
    y = np.random.default_rng(5).permutation(y)  # nothing to be learned
    for times in (1, 3, MANY - 1):
        found = compare_methods(np.repeat(X, times, axis=0), np.repeat(y, times), ["ID3"])
        assert found.spread("ID3").mean == pytest.approx(1 / 3, abs=0.08)
        pruned = CARTClassifier().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        assert pruned.get_n_leaves() < 10


def test_counts_as_weights_are_warned_of() -> None:
    X, y, _ = few_kinds()
    kinds, counts = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    with pytest.warns(UserWarning, match="sample_weight seems to hold counts.*repeat each row"):
        CARTClassifier().fit(kinds[:, :-1], kinds[:, -1], sample_weight=counts)
    # Rows that weigh much are no counts, if there are others like them.
    CARTClassifier().fit(X, y, sample_weight=np.full(len(y), 100))
    X, y = some_rows()
    CARTClassifier().fit(X, y, sample_weight=np.full(len(y), 100))


def test_a_weight_is_a_number_of_copies() -> None:
    X, y = some_rows(100)
    times = np.random.default_rng(3).integers(1, 4, 100)
    hashes = hashed(X)
    by_weight = deal(hashes, y, 4, times.astype(float))
    by_copies = deal(np.repeat(hashes, times), np.repeat(y, times), 4)
    assert (np.repeat(by_weight, times) == by_copies).all()


def test_seeds_differ() -> None:
    X, y = some_rows()
    folds = [deal(hashed(X, seed), y, 10) for seed in (0, 1)]
    assert 0.05 < (folds[0] == folds[1]).mean() < 0.15


def test_default_shrinks_to_the_smallest_class() -> None:
    X, y = some_rows(60)
    y[:] = 0
    y[:4] = 1
    hashes, classes = hashed(X), np.array(["often", "rare"])
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
        assert choose_folds(None, hashed(X), y, classes) is None
    with pytest.raises(ValueError, match="too few for cross-validation: pass folds of your own"):
        choose_folds(None, hashed(X), y, classes, otherwise=None)
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
    held = hold_out(hashed(X), y, share)
    for c in range(3):
        assert held[y == c].mean() == pytest.approx(share, abs=0.01)
    with pytest.raises(ValueError, match="must be between 0 and 1, got 1"):
        hold_out(hashed(X), y, 1)
