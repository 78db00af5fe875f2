# SPDX-License-Identifier: BSD-3-Clause
"""Folds and held-out parts, drawn or given: what comes of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from drawing import few_kinds, hashed, some_rows

import fasttree
from fasttree import (
    CARTClassifier,
    Categorical,
    RuleClassifier,
    TreeClassifier,
    compare_methods,
    select_depth,
)
from fasttree.encoding.folds import choose_folds, given_folds, hold_out
from fasttree.pruning import CostComplexity, ReducedError

pytestmark = pytest.mark.numeric


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


def test_default_shrinks_to_the_smallest_class() -> None:
    X, y = some_rows(60)
    y[:] = 0
    y[:4] = 1
    hashes, classes = hashed(X), np.array(["often", "rare"])
    folds = choose_folds(None, hashes, y, classes)
    assert folds is not None
    assert folds.n_folds == 4
    with pytest.raises(
        ValueError, match="folds=10 is greater than the number of rows of the class 'rare', 4"
    ):
        choose_folds(10, hashes, y, classes)
    y[1:4] = 0
    with pytest.warns(
        UserWarning,
        match="the class 'rare' has 1 row, too few for cross-validation: the tree is not pruned",
    ):
        assert choose_folds(None, hashed(X), y, classes) is None
    with pytest.raises(
        ValueError, match="too few for cross-validation: pass folds as a fold number"
    ):
        choose_folds(None, hashed(X), y, classes, otherwise=None)
    weights = np.ones(60)
    weights[0] = 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        folds = choose_folds(None, hashes, y, classes, weights)
    assert folds is not None
    assert folds.n_folds == 2


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
        ([1, 2], "one fold number for each of the 6 rows, got an array of shape"),
        ([1] * 6, "assigns all rows to one fold: use at least 2"),
        ("five", "folds must be an integer, a fold number for each row"),
        (
            [([0, 1, 2], [3, 4, 5])],
            r"folds contains too few \(train, test\) splits, 1: use at least 2",
        ),
        (
            [([0, 1, 2], [3, 4]), ([3, 4], [0])],
            "split 0 must train on exactly the rows that it does not test",
        ),
        (
            [([0, 1, 2], [3, 4, 5]), ([0, 1, 2], [3, 4, 5])],
            "split 1 tests a row that an earlier split tests",
        ),
        (
            [([0, 1, 2], [3, 4, 6]), ([3, 4, 5], [0, 1, 2])],
            "split 0 tests a row that does not exist: row numbers must be 0 to 5",
        ),
    ],
)
def test_bad_folds(folds, message) -> None:
    with pytest.raises(ValueError, match=message):
        given_folds(folds, 6)


def test_shares_to_hold_out() -> None:
    X, y = some_rows(60)
    with pytest.raises(ValueError, match="must be above 0 and below 1, got 1"):
        hold_out(hashed(X), y, 1)


# -- copies -----------------------------------------------------------------------------------------


def text_bits(noise: float, seed: int) -> tuple[dict[str, list[str]], np.ndarray]:
    """Six columns of two words, 400 rows, a random class for each of the 64 cells."""
    rng = np.random.default_rng(seed)
    bits, classes = rng.integers(0, 2, (400, 6)), rng.integers(0, 2, 64)
    y = classes[bits @ (1 << np.arange(6))] ^ (rng.random(400) < noise)
    return {f"q{i}": [("no", "yes")[bit] for bit in bits[:, i]] for i in range(6)}, y.astype(int)


def row_wise(X: Any, y: np.ndarray, seed: int) -> float:
    """By plain folds of shuffled rows."""
    order = np.random.default_rng(seed).permutation(len(y))
    return compare_methods(X, y, ["ID3"], folds=np.arange(len(y))[order] % 10).spread("ID3").mean


def test_a_table_of_few_distinct_rows_is_judged_as_by_shuffled_rows() -> None:
    for noise, least, most in [(0.0, 0.99, 1.0), (0.05, 0.9, 0.96)]:
        drawn, shuffled = [], []
        for seed in range(4):
            X, y = text_bits(noise, seed)
            drawn.append(compare_methods(X, y, ["ID3"]).spread("ID3").mean)
            shuffled.append(np.mean([row_wise(X, y, 10 * seed + k) for k in range(4)]))
            assert least <= drawn[-1] <= most
        assert np.mean(drawn) == pytest.approx(np.mean(shuffled), abs=0.01)


@pytest.mark.parametrize("pruning", ["cost_complexity", "cross_validated", "reduced_error", None])
def test_weights_are_copies_in_every_draw(pruning: str | None) -> None:
    rng = np.random.default_rng(4)
    X = np.round(rng.normal(size=(250, 3)), 1)
    y = np.where(rng.random(250) < 0.2, rng.integers(0, 3, 250), np.digitize(X[:, 0], [-0.5, 0.6]))
    times = rng.integers(0, 6, 250)
    rows = np.repeat(np.arange(250), times)
    model = TreeClassifier(pruning=pruning, class_weight={0: 3, 1: 1, 2: 0.5})
    weighted = model.fit(X, y, sample_weight=times).tree_.fingerprint()
    assert model.fit(X[rows], y[rows]).tree_.fingerprint() == weighted
    by_weight = compare_methods(X, y, {"t": model}, sample_weight=times, folds=4)
    by_copies = compare_methods(X[rows], y[rows], {"t": model}, folds=4)
    for measure in ("accuracy", "leaves", "depth", "auc", "brier"):
        found = by_weight.values("t", measure), by_copies.values("t", measure)
        np.testing.assert_allclose(*found, rtol=1e-12)
    sizes = [[(r.n_train, r.n_test) for r in found.per_fold] for found in (by_weight, by_copies)]
    assert sizes[0] == sizes[1]
    depth = [
        select_depth(X, y, sample_weight=times, folds=5).errors,
        select_depth(X[rows], y[rows], folds=5).errors,
    ]
    np.testing.assert_allclose(*depth, rtol=1e-12)


def test_rules_are_drawn_likewise() -> None:
    rng = np.random.default_rng(4)
    X, y = np.round(rng.normal(size=(200, 3)), 1), rng.integers(0, 2, 200)
    y[X[:, 0] > 0] = 1
    times = rng.integers(0, 4, 200)
    rows = np.repeat(np.arange(200), times)
    model = RuleClassifier(estimate="validation")
    weighted = model.fit(X, y, sample_weight=times).to_text()
    assert model.fit(X[rows], y[rows]).to_text() == weighted


def test_a_table_of_counts_is_a_table_of_rows() -> None:
    X, y, _ = few_kinds()
    kinds, counts = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of_counts = CARTClassifier().fit(kinds[:, :-1], kinds[:, -1], sample_weight=counts)
    of_rows = CARTClassifier().fit(X, y.astype(float))
    assert of_counts.tree_.fingerprint() == of_rows.tree_.fingerprint()
    assert of_rows.get_n_leaves() > 1


# -- groups -----------------------------------------------------------------------------------------


def test_copies_that_go_as_a_group_tell_no_method_what_it_is_asked() -> None:
    X, y = some_rows(300)
    y = np.random.default_rng(5).permutation(y)  # nothing to be learned
    X, y, row = np.repeat(X, 3, axis=0), np.repeat(y, 3), np.repeat(np.arange(300), 3)
    assert compare_methods(X, y, ["ID3"]).spread("ID3").mean > 0.8
    found = compare_methods(X, y, ["ID3"], groups=row)
    assert found.spread("ID3").mean == pytest.approx(1 / 3, abs=0.08)
    assert (found.folds[::3] == found.folds[1::3]).all()
    for pruning in ("cost_complexity", ReducedError(method="greedy")):
        model = TreeClassifier(pruning=pruning)
        assert model.fit(X, y).get_n_leaves() > 100
        assert model.fit(X, y, groups=row).get_n_leaves() < 20
        again = TreeClassifier().fit(X, y).prune("cost_complexity", X, y, groups=row)
        assert again.get_n_leaves() < 20
    assert select_depth(X, y, groups=row).depth < select_depth(X, y).depth
    rules = RuleClassifier(estimate="validation")
    held, _ = rules._drawn(X, y, None, TreeClassifier(), row)
    assert held.any()
    assert (held.reshape(-1, 3) == held[::3, np.newaxis]).all()


def test_the_order_and_the_names_of_groups_are_nothing() -> None:
    X, y = some_rows(240)
    group = np.random.default_rng(2).integers(0, 40, 240)
    order = np.random.default_rng(1).permutation(240)
    names = np.array([f"patient {(7 * g) % 41}" for g in group], dtype=object)
    for pruning in ("cost_complexity", "cross_validated", "reduced_error"):
        model = TreeClassifier(pruning=pruning)
        found = {
            model.fit(X, y, groups=group).tree_.fingerprint(),
            model.fit(X, y, groups=names.tolist()).tree_.fingerprint(),
            model.fit(X[order], y[order], groups=group[order]).tree_.fingerprint(),
            model.fit(fasttree.Columns(X, y), groups=Categorical(names)).tree_.fingerprint(),
        }
        assert len(found) == 1
        # A row of weight 0 has no part in it, nor has its group.
        weight = (group != 3).astype(float)
        kept = weight > 0
        weighted = model.fit(X, y, weight, groups=group).tree_.fingerprint()
        assert weighted == model.fit(X[kept], y[kept], groups=group[kept]).tree_.fingerprint()
    by_weight = compare_methods(X, y, ["CART"], groups=group, sample_weight=np.full(240, 2))
    by_copies = compare_methods(
        np.tile(X, (2, 1)), np.tile(y, 2), ["CART"], groups=np.tile(group, 2)
    )
    np.testing.assert_allclose(by_weight.values("CART"), by_copies.values("CART"), rtol=1e-12)


@pytest.mark.parametrize(
    ("groups", "folds", "message"),
    [
        ([1, 2], None, "groups has 2 entries, but X has 60 rows: give the group of each row"),
        (["a"] * 7 + [None] * 53, None, "groups has a missing value .* in row 7: give the row a"),
        ([1.0] * 9 + [np.nan] * 51, None, "groups has a missing value .* in row 9: give the row a"),
        (np.zeros((60, 2)), None, "groups must be a single column with the group of each row"),
        ("abc", None, "groups must be a single column with the group of each row"),
        (np.arange(60) % 4, 5, "folds=5 is greater than the number of groups, 4: use at most"),
        (
            np.arange(60) % 4,
            np.arange(60) % 2,
            "groups was passed, but .*: pass (only )?one of them",
        ),
    ],
)
def test_bad_groups(groups: Any, folds: Any, message: str) -> None:
    X, y = some_rows(60)
    pruned = TreeClassifier(pruning=CostComplexity(folds=folds))
    for fit in (
        lambda: compare_methods(X, y, ["ID3"], groups=groups, folds=folds),
        lambda: select_depth(X, y, groups=groups, folds=folds),
        lambda: pruned.fit(X, y, groups=groups),
    ):
        with pytest.raises(ValueError, match=message):
            fit()


def test_a_class_of_one_group() -> None:
    X, y = some_rows(60)
    group = np.arange(60) % 6
    y[:] = (group == 2) + 0
    message = "the class '?1'? is in 1 group, too few for cross-validation"
    with pytest.warns(UserWarning, match=f"{message}: the tree is not pruned"):
        CARTClassifier().fit(X, y, groups=group)
    with pytest.raises(ValueError, match=message):
        compare_methods(X, y, ["ID3"], groups=group)
    assert compare_methods(X, y, ["ID3"], groups=group, folds=3).n_folds == 3  # as was asked for


# -- again and again --------------------------------------------------------------------------------


def test_repeats() -> None:
    X, y = some_rows(120)
    once = compare_methods(X, y, ["ID3", "CART"], folds=4)
    found = compare_methods(X, y, ["ID3", "CART"], folds=4, repeats=3)
    assert (found.n_folds, found.n_repeats, found.folds.shape) == (4, 3, (120, 3))
    assert (found.folds[:, 0] == once.folds).all()
    assert 0.15 < (found.folds[:, 1] == found.folds[:, 2]).mean() < 0.35
    assert found.values("ID3")[:4].tolist() == once.values("ID3").tolist()
    assert [(r.repeat, r.fold) for r in found.per_fold[:12]] == [
        (repeat, fold) for repeat in range(3) for fold in range(4)
    ]
    for repeat in range(3):
        again = compare_methods(X, y, ["ID3"], folds=found.folds[:, repeat])
        of_repeat = found.values("ID3")[4 * repeat : 4 * repeat + 4]
        assert of_repeat.tolist() == again.values("ID3").tolist()
        assert (found.fold_weights(2, repeat) == (found.folds[:, repeat] == 2)).all()
    # Bouckaert and Frank (2004): 1 / (r k) + test / train, with r k - 1 degrees of freedom.
    d = found.differences("accuracy")[0]
    by_fold = found.values("ID3") - found.values("CART")
    ratio = np.mean([r.n_test / r.n_train for r in found.per_fold[:12]])
    assert d.corrected_se == pytest.approx(np.sqrt((1 / 12 + ratio) * by_fold.var(ddof=1)))
    stats = pytest.importorskip("scipy.stats")
    assert d.p_value == pytest.approx(2 * stats.t.sf(abs(d.mean / d.corrected_se), 11))
    assert str(found).startswith("3 times 4 folds of 120 rows, mean")
    assert set(found.to_frame("dict", per_fold=True)["repeat"]) == {0, 1, 2}
    for repeats in (0, 1.5, True, "2"):
        with pytest.raises(ValueError, match="repeats must be an integer of at least 1"):
            compare_methods(X, y, ["ID3"], repeats=repeats)
    with pytest.raises(ValueError, match="repeats was passed, but folds assigns the rows"):
        compare_methods(X, y, ["ID3"], repeats=2, folds=np.arange(120) % 3)
