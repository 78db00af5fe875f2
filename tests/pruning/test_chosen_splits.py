# SPDX-License-Identifier: BSD-3-Clause
"""Tests of splits that were chosen among many: their level on noise, their power, and what they count."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fasttree
from fasttree import ID3Classifier, TreeClassifier
from fasttree.pruning import Significance
from fasttree.stats.selected import Cuts, cut_statistic, cuts_p_values
from fasttree.stats.significance import p_value

N = 200
RUNS = 60
Draw = Callable[[np.random.Generator], tuple[Any, Any]]


def levels(rng: np.random.Generator, n_levels: int) -> list[str]:
    return [f"v{code}" for code in rng.integers(0, n_levels, N)]


def numbers(rng: np.random.Generator) -> tuple[Any, Any]:
    return rng.normal(size=(N, 5)), rng.integers(0, 2, N)


def unequal(rng: np.random.Generator) -> tuple[Any, Any]:
    return rng.normal(size=(N, 5)), (rng.random(N) < 0.1).astype(int)


def five_classes(rng: np.random.Generator) -> tuple[Any, Any]:
    return rng.normal(size=(N, 5)), rng.integers(0, 5, N)


def ties(rng: np.random.Generator) -> tuple[Any, Any]:
    return rng.integers(0, 6, (N, 5)).astype(float), rng.integers(0, 2, N)


def holes(rng: np.random.Generator) -> tuple[Any, Any]:
    X = rng.normal(size=(N, 5))
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, rng.integers(0, 2, N)


def categories(rng: np.random.Generator) -> tuple[Any, Any]:
    return {f"c{i}": levels(rng, 6) for i in range(5)}, rng.integers(0, 2, N)


def mixed(rng: np.random.Generator) -> tuple[Any, Any]:
    X: dict[str, Any] = {f"x{i}": rng.normal(size=N) for i in range(3)}
    return X | {f"c{i}": levels(rng, 6) for i in range(2)}, rng.integers(0, 2, N)


def sparse(rng: np.random.Generator) -> tuple[Any, Any]:
    """Many categories, most of few rows, and a rare class."""
    share = 1 / np.arange(1, 151)
    code = rng.choice(150, 400, p=share / share.sum())
    return {"c": [f"v{one}" for one in code]}, (rng.random(400) < 0.03).astype(int)


def share_split(draw: Draw, runs: int, **parameters: Any) -> float:
    split = 0
    for seed in range(runs):
        model = TreeClassifier(max_depth=1, **parameters).fit(*draw(np.random.default_rng(seed)))
        split += model.tree_.node_count > 1
    return split / runs


NOISE = [
    (numbers, {}),
    (unequal, {}),
    (five_classes, {}),
    (ties, {}),
    (categories, {}),
    (categories, {"categorical_split": "multiway"}),
    (mixed, {}),
    (sparse, {}),
    (sparse, {"categorical_split": "multiway"}),
    *((holes, {"missing": missing}) for missing in ("branch", "category", "fractional")),
    (holes, {"missing": "surrogate"}),
]


@pytest.mark.campaign
@pytest.mark.parametrize("level", [0.05, 0.2])
@pytest.mark.parametrize(("draw", "parameters"), NOISE)
def test_noise_is_split_no_more_often_than_said(
    draw: Draw, parameters: dict[str, Any], level: float, length: int
) -> None:
    runs = RUNS * length
    allowed = level + 3 * math.sqrt(level * (1 - level) / runs)
    assert share_split(draw, runs, significance=level, **parameters) <= allowed


def test_the_naive_test_splits_noise() -> None:
    naive = {"significance": 0.05, "significance_test": "naive"}
    assert share_split(numbers, 30, **naive) > 0.8


def test_a_shift_of_half_a_standard_deviation_is_found() -> None:
    # A t-test of that one attribute at .05 / 5 would find it in about 82 of 100 tables of 200 rows.
    def shifted(rng: np.random.Generator) -> tuple[Any, Any]:
        X, y = numbers(rng)
        X[:, 2] += 0.5 * y
        return X, y

    assert share_split(shifted, RUNS, significance=0.05) > 0.55
    assert share_split(shifted, RUNS, significance=0.2) > 0.7


def test_categories_of_few_rows_that_differ_are_found() -> None:
    """Every tenth of 150 wards, of some 13 rows each, has 17 ill of 100 instead of 3."""

    def wards(rng: np.random.Generator) -> tuple[Any, Any]:
        code, chance = rng.integers(0, 150, 2000), rng.random(2000)
        ill = chance < np.where(code % 10 == 0, 0.17, 0.03)
        return {"ward": [f"w{one}" for one in code]}, ill.astype(int)

    assert share_split(wards, 20, significance=0.05) > 0.5


def test_noise_is_pruned() -> None:
    left = 0
    for seed in range(30):
        X, y = numbers(np.random.default_rng(seed))
        left += TreeClassifier(max_depth=1, pruning="significance").fit(X, y).get_n_leaves() > 1
    assert left <= 30 * 0.05 + 3 * math.sqrt(30 * 0.05 * 0.95)


# -- what is counted -----------------------------------------------------------------------------------------------


def level_at(p: float, X: Any, y: Any, weight: Any = None, **parameters: Any) -> None:
    """The root is split at a level just above p, and not at p."""
    for level, leaves in ((p * 1.0001, 2), (p * 0.9999, 1)):
        model = TreeClassifier(max_depth=1, significance=level, **parameters)
        assert (model.fit(X, y, weight).get_n_leaves() >= 2) == (leaves == 2)


X = np.array([[1.0], [2], [3], [4], [5], [6], [6], [8]])
Y = np.array([0, 0, 0, 1, 0, 1, 1, 1])
PLACES = np.array([1, 2, 3, 4, 5, 7])


def p_of(n: int, n_class: int, places: np.ndarray, place: int, before: int) -> float:
    cuts = Cuts(n, n_class, places, cut_statistic(n, n_class, place, before))
    return float(cuts_p_values([cuts])[0])


def test_one_attribute_is_the_test_of_its_cuts() -> None:
    level_at(p_of(8, 4, PLACES, 3, 0), X, Y)


def test_each_attribute_that_varies_counts() -> None:
    p = p_of(8, 4, PLACES, 3, 0)
    noise, constant = np.array([1.0, 0, 1, 0, 1, 0, 1, 0])[:, np.newaxis], np.ones((8, 1))
    level_at(2 * p, np.hstack([X, noise, constant]), Y)


def test_cuts_that_leave_too_few_rows_do_not_count() -> None:
    level_at(p_of(8, 4, np.array([3, 4, 5]), 3, 0), X, Y, min_samples_leaf=3)


def test_whole_weights_are_copies() -> None:
    twice = np.repeat(X, 2, axis=0)
    p = p_of(16, 8, 2 * PLACES, 6, 0)
    level_at(p, twice, np.repeat(Y, 2))
    level_at(p, X, Y, np.full(8, 2))


def test_rows_without_a_value_stand_before_or_behind_all_numbers() -> None:
    holes = np.append(X, [[np.nan], [np.nan]], axis=0)
    y = np.append(Y, [0, 0])
    # The best cut has the missing rows on the left, 5 rows of class 0.
    before, behind = np.append(2, 2 + PLACES), PLACES
    p = p_of(10, 4, before, 5, 0) + p_of(10, 4, behind, 5, 0)
    level_at(p, holes, y)
    level_at(p_of(8, 4, PLACES, 3, 0), holes, y, missing="surrogate")


def test_categories_are_tested_whole() -> None:
    codes = list("aaaabbbbccccdddd")
    y = [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1]
    table = [[4, 0], [3, 1], [1, 3], [0, 4]]
    for split in ("subset", "multiway"):
        level_at(p_value(table), {"a": codes}, y, categorical_split=split)


def test_ordered_categories_are_cut() -> None:
    data: dict[str, Any] = {
        "a": fasttree.Categorical([str(int(x)) for x in X[:, 0]], list("1234568"))
    }
    level_at(p_of(8, 4, PLACES, 3, 0), data, Y, ordered_features=["a"])


def test_each_of_three_classes_is_told_from_the_others() -> None:
    y = np.array([0, 0, 0, 2, 1, 1, 2, 1])
    cases = [(3, 3), (3, 0), (2, 0)]  # rows of the class, those before the cut behind three rows
    p = 3 * min(p_of(8, n, PLACES, 3, before) for n, before in cases)
    level_at(min(p, 0.9999), X, y)


def test_rows_of_weight_nothing_are_none() -> None:
    weight = np.append(np.ones(8), 0)
    level_at(p_of(8, 4, PLACES, 3, 0), np.append(X, [[2.5]], axis=0), np.append(Y, 1), weight)


# -- parameters ----------------------------------------------------------------------------------------------------


def test_pruning_a_grown_tree_is_pruning_in_fit() -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(300, 4))
    y = ((table[:, 0] > 0) ^ (rng.random(300) < 0.2)).astype(int)
    grown = TreeClassifier().fit(table, y)
    pruned = grown.prune("significance", table, y)
    assert pruned.tree_ == TreeClassifier(pruning="significance").fit(table, y).tree_
    naive = grown.prune(Significance(test="naive"))
    assert 2 <= pruned.get_n_leaves() < naive.get_n_leaves() < grown.get_n_leaves()
    grown_so = TreeClassifier(significance=0.05).fit(table, y)
    assert 2 <= grown_so.get_n_leaves() <= pruned.get_n_leaves()


def test_the_order_of_rows_is_nothing() -> None:
    rng = np.random.default_rng(4)
    table, y = mixed(rng)
    order = rng.permutation(N)
    other = {name: np.asarray(column)[order] for name, column in table.items()}
    first = TreeClassifier(significance=0.5, n_jobs=1).fit(table, y)
    assert first.tree_ == TreeClassifier(significance=0.5, n_jobs=2).fit(other, y[order]).tree_


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(ValueError, match="significance_test must be one of 'selected', 'naive'"):
        TreeClassifier(significance_test="exact").fit(X, Y)
    with pytest.raises(
        ValueError, match='significance_test="naive" requires significance to be a number'
    ):
        TreeClassifier(significance=Significance(), significance_test="naive").fit(X, Y)
    with pytest.raises(ValueError, match="test must be one of 'selected', 'naive', got 'x'"):
        Significance(test="x")
    with pytest.raises(ValueError, match='exact=True requires test="naive"'):
        Significance(exact=True)
    with pytest.raises(ValueError, match='test="selected" requires the training rows'):
        fasttree.pruning.significance(TreeClassifier().fit(X, Y).tree_)


def test_models_with_a_test_are_saved(tmp_path: Path) -> None:
    for test in (0.3, Significance(0.3), Significance(0.3, test="naive")):
        model = ID3Classifier(significance=test, pruning=Significance(0.2)).fit(X, Y)
        model.save(tmp_path / "model.fasttree")
        assert repr(fasttree.load(tmp_path / "model.fasttree")) == repr(model)
