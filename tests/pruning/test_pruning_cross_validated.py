# SPDX-License-Identifier: BSD-3-Clause
"""Greedy removal by cross-validated errors."""

from __future__ import annotations

import numpy as np
import pytest
import textbook_tables as tables
from pruning_cases import ID3, block, grown, leaves_of
from reference_pruning import greedy_removal

import fasttree
from fasttree.encoding.folds import assign_stratified, value_hashes
from fasttree.pruning import CrossValidated, FoldRows, cross_validated
from fasttree.trees.tree import Tree


def path_down(tree: Tree, leaf: int) -> list[int]:
    path = [leaf]
    while tree.parent[path[0]] >= 0:
        path.insert(0, int(tree.parent[path[0]]))
    return path


def noisy_folds(
    seed: int, n_rows: int = 200, n_folds: int = 4, noise: float = 0.2
) -> tuple[Tree, list[FoldRows]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(1)
    y = ((X[:, 0] > 0) ^ (rng.random(n_rows) < noise)).astype(int)
    model = fasttree.TreeClassifier()
    tree = model.fit(X, y).tree_
    fold_of = assign_stratified(value_hashes(X.T, len(y)), y, n_folds).of_rows()
    folds = []
    for fold in range(n_folds):
        own = fold_of == fold
        other = model.fit(X[~own], y[~own]).tree_
        folds.append(FoldRows(other, leaves_of(other, X[own]), leaves_of(tree, X[own]), y[own]))
    return tree, folds


@pytest.mark.parametrize("seed", range(10))
def test_against_the_definition(seed: int) -> None:
    tree, folds = noisy_folds(seed, 120)
    as_leaf, ending = np.zeros((2, tree.node_count))
    for fold in folds:
        for leaf, there, code in zip(fold.leaves_of_all, fold.leaves, fold.codes, strict=True):
            labels = fold.tree.pred[path_down(fold.tree, there)]
            for depth, node in enumerate(path_down(tree, leaf)):
                as_leaf[node] += labels[min(depth, len(labels) - 1)] != code
            ending[leaf] += labels[-1] != code
    pruned, trace = cross_validated(tree, folds)
    assert trace.node.tolist() == greedy_removal(tree, as_leaf, ending, False)
    assert tree.n_leaves - trace.leaves_removed.sum() == pruned.n_leaves


def test_noise_goes_and_structure_stays() -> None:
    tree, folds = noisy_folds(1, n_rows=600)
    pruned, _ = cross_validated(tree, folds)
    assert tree.n_leaves > 60
    assert 2 <= pruned.n_leaves < tree.n_leaves / 2
    assert pruned.attribute[0] == 0
    clean, folds = noisy_folds(1, noise=0.0)
    assert cross_validated(clean, folds)[0].n_leaves == 2


def test_weights_count_like_copies() -> None:
    tree, folds = noisy_folds(2)
    rng = np.random.default_rng(0)
    weighted, copied = [], []
    for fold in folds:
        times = rng.integers(0, 4, len(fold.codes))
        weights = times.astype(float)
        weighted.append(FoldRows(fold.tree, fold.leaves, fold.leaves_of_all, fold.codes, weights))
        rows = [np.repeat(part, times) for part in (fold.leaves, fold.leaves_of_all, fold.codes)]
        copied.append(FoldRows(fold.tree, *rows))
    ours, theirs = cross_validated(tree, weighted), cross_validated(tree, copied)
    assert ours[0] == theirs[0]
    assert ours[1].node.tolist() == theirs[1].node.tolist()


def test_one_fold_is_too_few() -> None:
    table = tables.PLAY_TENNIS
    tree = grown(table, **ID3)
    leaves = leaves_of(tree, block(table))
    fold = FoldRows(tree, leaves, leaves, np.array(table.class_codes))
    with pytest.raises(ValueError, match="needs at least 2 folds, got 1"):
        cross_validated(tree, [fold])
    with pytest.raises(ValueError, match="folds must be an integer of at least 2"):
        CrossValidated(folds=True)
