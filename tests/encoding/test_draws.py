# SPDX-License-Identifier: BSD-3-Clause
"""Rows dealt to folds, and held out, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawing import few_kinds, hashed, slow_deal, slow_hold, some_rows
from hypothesis import given
from hypothesis import strategies as st

from fasttree.encoding import draws
from fasttree.encoding.draws import DIVIDED, NOWHERE, Folds, assign_copies, hold_copies

pytestmark = pytest.mark.numeric


def by_fold(folds: Folds) -> np.ndarray:
    """The weight of each row in each fold."""
    return np.column_stack([folds.weights(fold) for fold in range(folds.n_folds)])


def of_kinds(X: np.ndarray, y: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Sums over rows that are equal, in their order."""
    kinds, kind = np.unique(np.column_stack([X, y]), axis=0, return_inverse=True)
    found = np.zeros((len(kinds), *table.shape[1:]))
    np.add.at(found, kind.reshape(-1), table)
    return found


def test_order_of_rows_is_nothing() -> None:
    X, y = some_rows()
    order = np.random.default_rng(1).permutation(len(y))
    folds = assign_copies(hashed(X), y, 10).of_rows()
    assert (assign_copies(hashed(X[order]), y[order], 10).of_rows() == folds[order]).all()


@pytest.mark.parametrize("weights", ["none", "whole", "fractional"])
def test_order_of_equal_rows_is_nothing(weights: str) -> None:
    X, y, _ = few_kinds()
    rng = np.random.default_rng(1)
    order = rng.permutation(len(y))
    weight = {
        "none": np.ones(len(y)),
        "whole": rng.integers(0, 4, len(y)).astype(float),
        "fractional": rng.integers(1, 4, len(y)) / 2,
    }[weights]
    for draw in (
        lambda X, y, w: by_fold(assign_copies(hashed(X), y, 10, w)),
        lambda X, y, w: hold_copies(hashed(X), y, 0.3, w),
    ):
        once = of_kinds(X, y, draw(X, y, weight))
        again = of_kinds(X[order], y[order], draw(X[order], y[order], weight[order]))
        assert np.array_equal(once, again)


def test_folds_are_stratified() -> None:
    X, y = some_rows(503)
    folds = assign_copies(hashed(X), y, 10).of_rows()
    for c in range(3):
        sizes = np.bincount(folds[y == c], minlength=10)
        assert sizes.max() - sizes.min() <= 1
    sizes = np.bincount(folds, minlength=10)
    assert sizes.max() - sizes.min() <= 1


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([2, 6, 40]),
    st.sampled_from(["none", "whole", "fractional"]),
)
def test_draws_follow_the_rule(seed: int, n_values: int, weights: str) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (rng.integers(20, 300), 2)).astype(float)
    y = (X.sum(axis=1) % 3 == 0).astype(int)
    y[rng.random(len(X)) < 0.1] = 0
    weight = np.ones(len(X))
    if weights != "none":
        weight = rng.integers(0, 4, len(X)) * (1.0 if weights == "whole" else 0.75)
    given_weights = None if weights == "none" else weight
    dealt = by_fold(assign_copies(hashed(X), y, 3, given_weights))
    held = hold_copies(hashed(X), y, 0.3, given_weights)
    assert np.array_equal(dealt, slow_deal(X, y, 3, weight))
    assert np.array_equal(held, slow_hold(X, y, 0.3, weight))


@pytest.mark.parametrize("most", [None, 4])
@pytest.mark.parametrize("n_folds", [2, 7])
def test_a_weight_is_a_number_of_copies(
    most: int | None, n_folds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if most is not None:  # the rest is shared out evenly
        monkeypatch.setattr(draws, "MOST_OF_A_KIND", (most,))
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 4, (100, 2)).astype(float), rng.integers(0, 2, 100)
    times = rng.integers(0, 30, 100)
    rows = np.repeat(np.arange(100), times)
    weighted = assign_copies(hashed(X), y, n_folds, times.astype(float))
    written_out = assign_copies(hashed(X[rows]), y[rows], n_folds)
    dealt = by_fold(weighted)
    assert (dealt.sum(axis=1) == times).all()
    assert np.array_equal(
        of_kinds(X, y, dealt)[of_kinds(X, y, times) > 0],
        of_kinds(X[rows], y[rows], by_fold(written_out)),
    )
    for c in (0, 1):
        sizes = dealt[y == c].sum(axis=0)
        assert sizes.max() - sizes.min() <= 1
    assert ((weighted.of_rows() == NOWHERE) == (times == 0)).all()
    assert ((weighted.of_rows() == DIVIDED) == ((dealt > 0).sum(axis=1) > 1)).all()
    for share in (0.1, 0.3, 0.8):
        held = hold_copies(hashed(X), y, share, times.astype(float))
        copied = hold_copies(hashed(X[rows]), y[rows], share)
        assert np.array_equal(
            of_kinds(X, y, held)[of_kinds(X, y, times) > 0], of_kinds(X[rows], y[rows], copied)
        )
        assert (held <= times).all()
        for c in (0, 1):
            assert held[y == c].sum() == np.floor(share * times[y == c].sum() + 1e-9)


def test_heavy_rows_are_not_written_out() -> None:
    X, y = some_rows(60)
    weights = np.full(60, 1e9)
    weights[::2] += 7
    folds = assign_copies(hashed(X), y, 10, weights)
    assert len(folds.row) < 2 * draws.MOST_DRAWS
    dealt = by_fold(folds)
    assert (dealt.sum(axis=1) == weights).all()
    assert np.abs(dealt - weights[:, np.newaxis] / 10).max() < 1e-4 * 1e9
    for c in range(3):
        sizes = dealt[y == c].sum(axis=0)
        assert sizes.max() - sizes.min() <= 1
        held = hold_copies(hashed(X), y, 0.3, weights)[y == c].sum()
        assert held == np.floor(0.3 * weights[y == c].sum() + 1e-3)


def test_fractional_weights_go_whole() -> None:
    X, y = some_rows(200)
    weights = np.random.default_rng(0).uniform(0.1, 3, 200)
    folds = assign_copies(hashed(X), y, 5, weights)
    assert (folds.of_rows() >= 0).all()
    assert np.array_equal(by_fold(folds).sum(axis=1), weights)
    for c in range(3):
        sizes = by_fold(folds)[y == c].sum(axis=0)
        assert sizes.max() - sizes.min() <= weights.max()
    held = hold_copies(hashed(X), y, 0.3, weights)
    assert set(np.flatnonzero(held)) == set(np.flatnonzero(held == weights))
    # A common factor changes nothing, as long as it makes no copies.
    halves = assign_copies(hashed(X), y, 5, weights / 2)
    assert np.array_equal(halves.of_rows(), folds.of_rows())


def test_every_part_has_some_of_every_kind() -> None:
    X, y, _ = few_kinds()
    folds = assign_copies(hashed(X), y, 10).of_rows()
    held = hold_copies(hashed(X), y, 0.3) > 0
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


def accuracy_of_majorities(cell: np.ndarray, y: np.ndarray, fold: np.ndarray) -> float:
    """By cross-validation, of who says of each cell what most of its training rows are."""
    right = 0
    for test in (fold == f for f in range(fold.max() + 1)):
        ones = np.bincount(cell[~test], 2 * y[~test] - 1, minlength=cell.max() + 1)
        right += np.count_nonzero((ones > 0)[cell[test]] == y[test])
    return right / len(y)


@pytest.mark.parametrize(("n_folds", "noise"), [(2, 0.3), (5, 0.5), (10, 0.5)])
def test_no_more_is_learned_than_by_folds_of_shuffled_rows(n_folds: int, noise: float) -> None:
    drawn, shuffled = [], []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        cell = rng.integers(0, 32, 400)
        y = (rng.integers(0, 2, 32)[cell] ^ (rng.random(400) < noise)).astype(int)
        folds = assign_copies(hashed(cell[:, np.newaxis], seed), y, n_folds).of_rows()
        drawn.append(accuracy_of_majorities(cell, y, folds))
        shuffled.append(accuracy_of_majorities(cell, y, rng.permutation(np.arange(400) % n_folds)))
    difference = np.array(drawn) - shuffled
    # Dealt in turn, kind by kind, accuracies would be .07, .09 and .07 too high.
    assert abs(difference.mean()) < 0.005 + 3 * difference.std() / np.sqrt(80)


def test_seeds_differ() -> None:
    X, y = some_rows()
    folds = [assign_copies(hashed(X, seed), y, 10).of_rows() for seed in (0, 1)]
    assert 0.05 < (folds[0] == folds[1]).mean() < 0.15


@pytest.mark.parametrize("share", [0.1, 0.25, 1 / 3, 0.5, 0.8])
def test_hold_out(share: float) -> None:
    X, y = some_rows(600)
    held = hold_copies(hashed(X), y, share)
    for c in range(3):
        assert held[y == c].mean() == pytest.approx(share, abs=0.01)


def test_folds_as_pieces() -> None:
    given: Any = Folds.whole(np.array([1, NOWHERE, 0, 1]), np.array([2.0, 3.0, 0.5, 0.0]))
    assert by_fold(given).tolist() == [[0, 2], [0, 0], [0.5, 0], [0, 0]]
    assert given.filled() == [0, 1]
    assert given.at(np.array([5, 4, 3, 2]), 6).of_rows().tolist() == [-1, -1, -1, 0, -1, 1]
