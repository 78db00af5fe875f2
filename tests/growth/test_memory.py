# SPDX-License-Identifier: BSD-3-Clause
"""What saves memory on large tables changes nothing: the same trees with limits so low that they bite on small ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fasttree
from fasttree.growth import criterion, memory_rows, row_buffers


def many_levels(seed: int, n_rows: int = 3000, n_levels: int = 1000) -> tuple[dict[str, Any], Any]:
    draw = np.random.default_rng(seed)
    codes = draw.integers(n_levels, size=n_rows)
    X = {
        "level": np.array([f"level {code}" for code in codes], dtype=object),
        "x": draw.normal(size=n_rows),
        "z": np.round(draw.normal(size=n_rows), 2),
    }
    y = (draw.random(n_rows) < 0.7 * draw.random(n_levels)[codes] + 0.3 * (X["x"] > 0)).astype(int)
    return X, y


def lower_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_rows, "MOST_SHARES", 0)
    monkeypatch.setattr(memory_rows, "RECORD_BYTES", 300)
    monkeypatch.setattr(row_buffers, "MIN_RELEASED", 1)
    monkeypatch.setattr(criterion, "MOST_INVERSES", 9)
    monkeypatch.setattr(criterion, "FEW_INVERSES", 6)


@pytest.mark.parametrize("split", ["subset", "multiway", "grouped"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "message_length", "ami"])
def test_low_limits_grow_the_same_trees(
    split: str, criterion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fasttree.TreeClassifier(criterion=criterion, categorical_split=split)
    tables = [many_levels(seed) for seed in range(3)]
    trees = [model.fit(X, y).tree_ for X, y in tables]
    expected = [tree.fingerprint() for tree in trees]
    assert max(tree.node_count for tree in trees) > 100
    lower_limits(monkeypatch)
    assert [model.fit(X, y).tree_.fingerprint() for X, y in tables] == expected


def test_holes_and_weights_with_low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = many_levels(4)
    X["x"][::7] = np.nan
    X["level"][::5] = None
    weight = np.arange(len(y)) % 3
    for missing in ("branch", "category", "fractional"):
        model = fasttree.TreeClassifier(missing=missing, categorical_split="multiway")
        expected = model.fit(X, y, sample_weight=weight).tree_
        with monkeypatch.context() as limited:
            lower_limits(limited)
            assert model.fit(X, y, sample_weight=weight).tree_ == expected


@pytest.mark.parametrize("n_levels", [6, 40, 200, 300])
@pytest.mark.parametrize("missing", ["branch", "category", "fractional"])
def test_families_larger_than_a_batch(
    n_levels: int, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Histograms are handed down within a family, but not where it is scored in slices."""
    draw = np.random.default_rng(n_levels)
    n_rows = 3000
    level, kind = draw.integers(n_levels, size=n_rows), draw.integers(5, size=n_rows)
    X = {
        "level": [f"level {code}" for code in level],
        "kind": [f"kind {code}" for code in kind],
        "x": draw.integers(30, size=n_rows).astype(float),
        "z": draw.normal(size=n_rows),
    }
    y = draw.random(n_rows) < 0.5 * draw.random(n_levels)[level] + 0.1 * kind
    for holes in (False, True):
        if holes:
            X["x"][::9], X["kind"][::11] = np.nan, [None] * len(X["kind"][::11])
        model = fasttree.TreeClassifier(
            criterion="entropy", categorical_split="multiway", missing=missing, max_depth=4
        )
        expected = model.fit(X, y).tree_
        assert (np.diff(expected.depth) > 0).sum() >= 3
        for n_bytes in (200, 2000):
            with monkeypatch.context() as limited:
                limited.setattr(memory_rows, "RECORD_BYTES", n_bytes)
                assert model.fit(X, y).tree_ == expected


@pytest.mark.parametrize("n_bytes", [200, 2000])
def test_judged_splits_of_more_branches_than_a_byte_holds(
    n_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge tells rows branches, while those of other batches are still to be moved by theirs."""
    draw = np.random.default_rng(0)
    X = {
        "level": [f"level {code}" for code in draw.integers(600, size=6000)],
        "x": draw.normal(size=6000),
        "z": draw.normal(size=6000),
    }
    y = (X["x"] > 0) ^ (X["z"] > 0.3) ^ (draw.random(6000) < 0.1)
    model = fasttree.TreeClassifier(
        criterion="adjusted_gini", categorical_split="multiway", max_depth=5
    )
    expected = model.fit(X, y).tree_
    monkeypatch.setattr(memory_rows, "RECORD_BYTES", n_bytes)
    assert model.fit(X, y).tree_ == expected


def test_a_column_that_the_root_used_up_is_not_asked_again() -> None:
    """Each level has its branch, so the others alone decide below: as if each branch were a table of its own."""
    X, y = many_levels(5, n_rows=4000, n_levels=400)
    model = fasttree.TreeClassifier(criterion="entropy", categorical_split="multiway")
    tree = model.fit(X, y).tree_
    assert tree.schema.names[tree.attribute[0]] == "level"
    assert (tree.attribute[1:] != 0).all()
    for code in range(0, 400, 37):
        here = X["level"] == f"level {code}"
        alone = model.fit({name: values[here] for name, values in X.items()}, y[here]).tree_
        child = 1 + list(tree.schema.attributes[0].categories or ()).index(f"level {code}")
        n_below, nodes = 0, [child]
        while nodes:  # the size of the branch
            node = nodes.pop()
            n_below += 1
            nodes += range(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
        assert n_below == alone.node_count


def test_counted_columns_leave_their_rows_to_swept_ones() -> None:
    """Columns share the rows of the sorted lists, whatever stands between them."""
    draw = np.random.default_rng(0)
    swept, counted = draw.normal(size=(2, 500)), draw.integers(9, size=(3, 500)).astype(float)
    y = (swept[0] + counted[1] > 4) ^ (swept[1] > 0)
    mixed = {"a": counted[0], "b": swept[0], "c": counted[1], "d": counted[2], "e": swept[1]}
    for n_jobs in (1, 2):
        as_columns = fasttree.TreeClassifier(n_jobs=n_jobs).fit(mixed, y)
        matrix = np.column_stack(list(mixed.values()))
        as_matrix = fasttree.TreeClassifier().fit(matrix, y)
        for name in ("attribute", "threshold", "first_child", "counts"):
            theirs, ours = getattr(as_matrix.tree_, name), getattr(as_columns.tree_, name)
            assert np.array_equal(ours, theirs, equal_nan=True)
