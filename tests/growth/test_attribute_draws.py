# SPDX-License-Identifier: BSD-3-Clause
"""Attributes drawn for each node: free of threads, of the order of rows, and of how the rows are held."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from growing import fit_in_blocks

from fasttree import TreeClassifier
from fasttree.growth.attribute_draws import AttributeDraw, child_keys

N_ATTRIBUTES = 7


def table(n_rows: int, n_values: int | None) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, N_ATTRIBUTES))
    y = (X[:, 0] + X[:, 3] * X[:, 5] + rng.normal(size=n_rows) > 0).astype(int)
    if n_values is not None:
        X = np.floor(X * n_values / 4)
    return X, y


def fit_drawn(
    monkeypatch: pytest.MonkeyPatch, model: Any, draw: AttributeDraw, *data: Any, n_blocks: int = 0
) -> Any:
    """`model.fit`, with attributes drawn for each node."""
    with monkeypatch.context() as patch:
        growth = type(model)._growth
        patch.setattr(type(model), "_growth", lambda self: replace(growth(self), draw=draw))
        if n_blocks:
            return fit_in_blocks(patch, model, n_blocks, *data)
        return model.fit(*data)


@pytest.mark.parametrize("n_drawn", [1, 3, 6])
def test_as_many_as_asked_for_and_each_as_often(n_drawn: int) -> None:
    draw = AttributeDraw(n_drawn, seed=3)
    keys = child_keys(np.repeat(draw.root_key(), 7000), np.arange(7000))
    drawn = draw.drawn(keys, N_ATTRIBUTES)
    assert (drawn.sum(axis=0) == n_drawn).all()
    expected = 7000 * n_drawn / N_ATTRIBUTES
    assert (np.abs(drawn.sum(axis=1) - expected) < 5 * np.sqrt(expected)).all()
    # Pairs too: no attribute brings another one with it.
    together = drawn.astype(int) @ drawn.T.astype(int)
    pairs = together[np.triu_indices(N_ATTRIBUTES, 1)]
    expected = 7000 * n_drawn * (n_drawn - 1) / (N_ATTRIBUTES * (N_ATTRIBUTES - 1))
    assert (np.abs(pairs - expected) <= 5 * np.sqrt(expected)).all()


def test_another_seed_is_another_draw() -> None:
    keys = child_keys(AttributeDraw(3, 0).root_key().repeat(100), np.arange(100))
    others = child_keys(AttributeDraw(3, 1).root_key().repeat(100), np.arange(100))
    draw = AttributeDraw(3, 0)
    assert (draw.drawn(keys, N_ATTRIBUTES) != draw.drawn(others, N_ATTRIBUTES)).any()


def node_keys(tree: Any, draw: AttributeDraw) -> np.ndarray:
    """The key of every node, from the root on."""
    keys = np.repeat(draw.root_key(), tree.node_count)
    for node in range(1, tree.node_count):
        parent = int(tree.parent[node])
        branch = np.array([node - tree.first_child[parent]])
        keys[node] = child_keys(keys[parent : parent + 1], branch)[0]
    return keys


@pytest.mark.parametrize("n_values", [None, 12])
def test_the_best_of_those_that_were_drawn(
    n_values: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every node's split is the one that a tree of its rows finds among the columns drawn."""
    X, y = table(400, n_values)
    draw = AttributeDraw(2, seed=11)
    model = TreeClassifier(ties="schema", min_samples_leaf=3)
    tree = fit_drawn(monkeypatch, model, draw, X, y).tree_
    drawn = draw.drawn(node_keys(tree, draw), N_ATTRIBUTES)
    path = model.decision_path(X).toarray().astype(bool)
    one_level = TreeClassifier(ties="schema", min_samples_leaf=3, max_depth=1)
    n_inner = 0
    for node in range(tree.node_count):
        rows, columns = path[:, node], np.flatnonzero(drawn[:, node])
        if len(set(y[rows])) < 2:
            continue
        wanted = one_level.fit(X[rows][:, columns], y[rows]).tree_
        if wanted.node_count == 1:
            assert tree.is_leaf()[node]
            continue
        n_inner += 1
        assert tree.attribute[node] == columns[wanted.attribute[0]]
        assert tree.threshold[node] == wanted.threshold[0]
    assert n_inner > 20


@pytest.mark.parametrize("max_bins", [None, 255])
@pytest.mark.parametrize("n_values", [None, 40])
def test_threads_order_and_blocks(
    max_bins: int | None, n_values: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = table(9000, n_values)
    draw = AttributeDraw(3, seed=5)
    order = np.random.default_rng(0).permutation(len(y))
    prints = set()
    for n_jobs in (1, 2, 4):
        model = TreeClassifier(max_bins=max_bins, n_jobs=n_jobs)
        prints.add(fit_drawn(monkeypatch, model, draw, X, y).tree_.fingerprint())
    model = TreeClassifier(max_bins=max_bins)
    prints.add(fit_drawn(monkeypatch, model, draw, X[order], y[order]).tree_.fingerprint())
    if max_bins is not None or n_values is not None:
        again = fit_drawn(monkeypatch, model, draw, X, y, n_blocks=4)
        prints.add(again.tree_.fingerprint())
    assert len(prints) == 1
    assert prints != {model.fit(X, y).tree_.fingerprint()}


def test_all_of_them_make_the_ordinary_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(2000, 30)
    model = TreeClassifier()
    wanted = model.fit(X, y).tree_.fingerprint()
    drawn = fit_drawn(monkeypatch, model, AttributeDraw(N_ATTRIBUTES, 1), X, y)
    assert drawn.tree_.fingerprint() == wanted
