# SPDX-License-Identifier: BSD-3-Clause
"""Growth by measures that allow for chance, beside the ranking of attributes by the same measures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import textbook_tables as tables
from growth.test_by_length import random_table, take

from fasttree import TreeClassifier, rank_attributes

pytestmark = pytest.mark.numeric

MEASURES = ("ami", "smi", "adjusted_gini", "ad", "confidence_entropy")
# The root of PlayTennis; AD and the confident entropy see nothing there but chance.
ROOTS = ("Outlook", "Humidity", "Humidity", None, None)


def model(measure: str, **parameters: Any) -> TreeClassifier:
    return TreeClassifier(
        criterion=measure, categorical_split="multiway", missing="fractional", **parameters
    )


@pytest.mark.parametrize(("measure", "root"), list(zip(MEASURES, ROOTS, strict=True)))
def test_play_tennis(measure: str, root: str | None) -> None:
    table = tables.PLAY_TENNIS
    tree = model(measure).fit(table.X, table.y).tree_
    assert (None if tree.attribute[0] < 0 else table.names[tree.attribute[0]]) == root


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize("measure", MEASURES)
def test_the_root_is_the_first_of_the_ranking(measure: str, holes: float, weights: bool) -> None:
    for seed in range(4):
        for n, places in ((60, 1), (500, 4)):
            X, y, _ = random_table(seed, n, holes, places)
            y = y if measure != "adjusted_gini" else y > 0  # else gini and information differ
            weight = np.random.default_rng(seed).integers(1, 4, n) if weights else None
            ranking = rank_attributes(X, y, criterion=measure, sample_weight=weight)
            tree = model(measure, max_depth=1).fit(X, y, weight).tree_
            best = ranking[0]
            assert best.score is not None
            if measure in ("ad", "confidence_entropy") and best.score <= 1e-10:
                assert tree.node_count == 1
            elif measure != "adjusted_gini":
                assert list(X)[tree.attribute[0]] == best.name


@pytest.mark.parametrize("measure", MEASURES)
def test_every_node_is_split_as_a_root(measure: str) -> None:
    X, y, _ = random_table(4, 400, 0.0, 2)
    grown = model(measure, max_depth=3).fit(X, y)
    leaves = TreeClassifier.apply(grown, X)
    tree = grown.tree_
    for node in np.flatnonzero((tree.depth == 1) & ~tree.is_leaf()):
        below = [leaf for leaf in np.unique(leaves) if node in ancestors(tree, int(leaf))]
        rows = np.flatnonzero(np.isin(leaves, below))
        alone = model(measure, max_depth=1).fit(take(X, rows), y[rows]).tree_
        assert alone.attribute[0] == tree.attribute[node]
        assert alone.threshold[0] == pytest.approx(tree.threshold[node], nan_ok=True)


def ancestors(tree: Any, node: int) -> list[int]:
    found = []
    while node >= 0:
        found.append(node)
        node = int(tree.parent[node])
    return found


@pytest.mark.parametrize("missing", ["branch", "category", "fractional", "surrogate"])
@pytest.mark.parametrize("measure", MEASURES)
def test_threads_and_order_change_nothing(measure: str, missing: str) -> None:
    X, y, _ = random_table(6, 1500, 0.05, 4)
    grown = TreeClassifier(criterion=measure, missing=missing, min_samples_split=30)
    tree = grown.fit(X, y).tree_
    assert grown.set_params(n_jobs=2).fit(X, y).tree_ == tree
    shuffled = np.random.default_rng(1).permutation(len(y))
    assert grown.fit(take(X, shuffled), y[shuffled]).tree_ == tree


def test_noise_is_left_alone() -> None:
    random = np.random.default_rng(0)
    X, y = random.integers(0, 3, size=(400, 6)).astype(float), random.integers(0, 2, 400)
    leaves = [TreeClassifier(criterion=m).fit(X, y).get_n_leaves() for m in ("gini", "ad")]
    assert leaves[0] > 100
    assert leaves[1] < leaves[0] / 3
    assert TreeClassifier(criterion="confidence_entropy").fit(X, y).get_n_leaves() == 1


def test_stopping() -> None:
    a, b = np.meshgrid([0.0, 1.0], [0.0, 1.0])
    X = np.repeat(np.stack([a.ravel(), b.ravel()], axis=1), 5, axis=0)
    y = X[:, 0] != X[:, 1]
    assert TreeClassifier(criterion="ami").fit(X, y).get_n_leaves() == 4  # worse than chance first
    assert TreeClassifier(criterion="ami", stop_zero_gain=True).fit(X, y).get_n_leaves() == 1
    assert TreeClassifier(criterion="ami", min_gain=0.01).fit(X, y).get_n_leaves() == 1


def test_class_weights_do_not_make_rows() -> None:
    """Ten times the weight for every class is the same table."""
    X, y, _ = random_table(6, 300, 0.0, 2)
    one = TreeClassifier(criterion="smi", max_depth=3).fit(X, y).tree_
    ten = dict.fromkeys(np.unique(y), 10)
    weighted = TreeClassifier(criterion="smi", max_depth=3, class_weight=ten).fit(X, y).tree_
    assert weighted.attribute.tolist() == one.attribute.tolist()
    assert weighted.threshold == pytest.approx(one.threshold, nan_ok=True)
