# SPDX-License-Identifier: BSD-3-Clause
"""Rows in blocks make the tree that rows in one place make, however they are cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from growing import fit_in_blocks

import fasttree

N_BLOCKS = (1, 3, 4, 17)
N_ROWS = 600


def example(n_classes: int, missing: bool, seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """Numbers and categories that say something of the class."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(N_ROWS, 2)).round(1)
    codes = rng.integers(0, 9, N_ROWS)
    few = rng.integers(0, 3, N_ROWS)
    y = (
        np.abs(numbers[:, 0] * 2 + codes + 3 * few).astype(int) + rng.integers(0, 2, N_ROWS)
    ) % n_classes
    names = np.array(list("abcdefghi"), dtype=object)[codes]
    sizes = np.array(["low", "mid", "top"], dtype=object)[few]
    if missing:
        numbers[rng.random(N_ROWS) < 0.2, 0] = np.nan
        names[rng.random(N_ROWS) < 0.1] = None
    table = {
        "x": numbers[:, 0],
        "z": numbers[:, 1],
        "name": names,
        "size": fasttree.Categorical(sizes, categories=["low", "mid", "top"], ordered=True),
        "constant": np.zeros(N_ROWS),
    }
    return table, y


def weights_of(kind: str, y: np.ndarray) -> np.ndarray | None:
    rng = np.random.default_rng(5)
    if kind == "none":
        return None
    if kind == "some":
        return (rng.random(len(y)) < 0.8).astype(float)
    if kind == "whole":
        return rng.integers(0, 4, len(y)).astype(float)
    return rng.random(len(y))


@pytest.mark.parametrize("n_classes", [2, 30])
@pytest.mark.parametrize("split", ["subset", "multiway", "grouped"])
@pytest.mark.parametrize("missing", ["branch", "category", "error"])
@pytest.mark.parametrize("weights", ["none", "some", "whole", "fractional"])
def test_the_tree_of_the_ordinary_fit(
    n_classes: int, split: str, missing: str, weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = example(n_classes, missing != "error", seed=n_classes)
    parameters = {"max_bins": 255, "categorical_split": split, "missing": missing}
    model = fasttree.TreeClassifier(**parameters, min_samples_leaf=2)
    sample_weight = weights_of(weights, y)
    wanted = model.fit(X, y, sample_weight).tree_.fingerprint()
    assert model.tree_.node_count > 20
    for n_blocks in N_BLOCKS:
        again = fit_in_blocks(monkeypatch, model, n_blocks, X, y, sample_weight)
        assert again.tree_.fingerprint() == wanted, n_blocks


@pytest.mark.parametrize(
    "model",
    [
        fasttree.ID3Classifier(missing="branch", max_bins=255),
        fasttree.C45Classifier(missing="branch", max_bins=255),
        fasttree.C45Classifier(missing="branch", max_bins=255, categorical_split="grouped"),
        fasttree.MMLClassifier(missing="branch", max_bins=255),
        fasttree.BayesTreeClassifier(missing="branch", max_bins=255),
        fasttree.TreeClassifier(criterion="ami", max_bins=255, max_depth=4),
        fasttree.TreeClassifier(criterion="misclassification", max_bins=255),
        fasttree.TreeClassifier(
            max_bins=255, attribute_costs={"x": 5.0, "name": 2.0}, class_weight="balanced"
        ),
        fasttree.TreeClassifier(max_bins=255, threshold="value", max_leaves=9, min_gain=0.001),
    ],
    ids=lambda model: f"{type(model).__name__}-{model.criterion}",
)
def test_every_kind_of_choice(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = example(3, True, seed=9)
    wanted = model.fit(X, y).tree_.fingerprint()
    for n_blocks in (1, 17):
        again = fit_in_blocks(monkeypatch, model, n_blocks, X, y)
        assert again.tree_.fingerprint() == wanted, n_blocks


def test_nodes_are_searched_some_after_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = example(2, True, seed=3)
    model = fasttree.TreeClassifier(max_bins=255)
    wanted = model.fit(X, y).tree_.fingerprint()
    monkeypatch.setattr("fasttree.growth.block_rows.HISTOGRAM_BYTES", 1)
    assert fit_in_blocks(monkeypatch, model, 3, X, y).tree_.fingerprint() == wanted


@pytest.mark.parametrize("missing", ["fractional", "surrogate"])
def test_what_blocks_cannot_do_is_refused(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = example(2, True, seed=3)
    model = fasttree.TreeClassifier(max_bins=255, missing=missing)
    with pytest.raises(ValueError, match=f'missing="{missing}" requires the rows of a node'):
        fit_in_blocks(monkeypatch, model, 3, X, y)


def test_columns_without_bins_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(N_ROWS, 2))
    y = (X[:, 1] > 0).astype(int)
    with pytest.raises(ValueError, match="'x0' has more than 255 values: use max_bins=255"):
        fit_in_blocks(monkeypatch, fasttree.TreeClassifier(), 3, X, y)
