# SPDX-License-Identifier: BSD-3-Clause
"""The tree depends on the data and the parameters alone: same fingerprint, whatever the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import CRITERIA, Problem, medium, problems

import fasttree
from fasttree import TreeClassifier

pytestmark = pytest.mark.numeric

Data = tuple[np.ndarray, np.ndarray]


def fingerprint(X: Any, y: Any, sample_weight: Any = None, **parameters: Any) -> str:
    return TreeClassifier(**parameters).fit(X, y, sample_weight).tree_.fingerprint()


# -- order of the rows ---------------------------------------------------------------------------


@given(
    problems(weights=("none", "whole", "fractional")),
    st.randoms(use_true_random=False),
    st.sampled_from([None, 3, 255]),
)
def test_order_of_the_rows(problem: Problem, random: Any, max_bins: int | None) -> None:
    order = random.sample(range(len(problem.y)), len(problem.y))
    ours = problem.fit(max_bins=max_bins).tree_
    theirs = problem.take(order).fit(max_bins=max_bins).tree_
    assert ours.fingerprint() == theirs.fingerprint()


@pytest.mark.parametrize("weighting", ["none", "whole", "fractional"])
@pytest.mark.parametrize("max_bins", [None, 40])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_order_of_the_rows_of_a_larger_table(
    weighting: str, max_bins: int | None, n_classes: int
) -> None:
    problem = medium("entropy", "subset", n_classes, weighting, seed=3, n_rows=4000, levels=(5, 30))
    prints = set()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(4000).tolist()
        prints.add(problem.take(order).fit(max_bins=max_bins).tree_.fingerprint())
    assert len(prints) == 1


def test_order_of_the_rows_where_bins_come_from_a_sample() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300_000, 2))
    y = (X[:, 0] + rng.normal(size=300_000) > 0).astype(int)
    order = rng.permutation(300_000)
    parameters = {"max_bins": 64, "max_depth": 5}
    assert fingerprint(X, y, **parameters) == fingerprint(X[order], y[order], **parameters)


def test_order_of_the_rows_under_fractional_weights() -> None:
    # The mean of the weights, by which they are scaled, must not hang on the order either.
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y, weight = rng.random((1000, 1)), rng.integers(0, 2, 1000), rng.random(1000)
        order = rng.permutation(1000)
        ours = fingerprint(X, y, weight, max_depth=1)
        assert fingerprint(X[order], y[order], weight[order], max_depth=1) == ours, seed


def test_order_of_the_rows_under_fractional_weights_in_bins() -> None:
    # The weights of equal values, added up in another order, must not move the edge of a bin.
    X = np.array([3.0, 0.0, 3.0, 1.0, 0.0]).reshape(-1, 1)
    y = np.array([0, 0, 1, 1, 1])
    weight = np.array([0.1, 0.3, 0.3, 0.2, 0.3])
    order = [2, 4, 3, 1, 0]
    ours = fingerprint(X, y, weight, max_bins=2)
    assert fingerprint(X[order], y[order], weight[order], max_bins=2) == ours


# -- threads -------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_bins", [None, 255])
@pytest.mark.parametrize("weighted", [False, True])
def test_number_of_threads(big_table: Data, max_bins: int | None, weighted: bool) -> None:
    X, y = big_table
    weight = np.random.default_rng(0).random(len(y)) if weighted else None
    prints = {
        fingerprint(X, y, weight, n_jobs=n_jobs, max_bins=max_bins)
        for n_jobs in (None, 1, 2, 3, 4, -1)
    }
    assert len(prints) == 1


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("shape", ["subset", "multiway"])
def test_number_of_threads_on_mixed_columns(criterion: str, shape: str) -> None:
    problem = medium(criterion, shape, 3, "none", seed=4, n_rows=5000, levels=(3, 9, 40))
    prints = {problem.fit(n_jobs=n_jobs).tree_.fingerprint() for n_jobs in (1, 2, 4, -1)}
    assert len(prints) == 1


@pytest.mark.parametrize("missing", ["branch", "category", "fractional", "surrogate"])
@pytest.mark.parametrize("levels", [(3, 40), (3, 300), ()])
def test_number_of_threads_that_make_splits(
    missing: str, levels: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads share the splits of a level only if they have very many rows: here from the first row on."""
    problem = medium(
        "gini", "subset", 3, "whole", seed=8, n_rows=2500, levels=levels, holes=0.1, missing=missing
    )
    problem.parameters["min_samples_leaf"] = 5
    alone = problem.fit(n_jobs=1).tree_
    monkeypatch.setattr(fasttree.growth.split, "PARALLEL_ROWS", 0)
    assert {problem.fit(n_jobs=n).tree_.fingerprint() for n in (1, 2, 4)} == {alone.fingerprint()}
    assert alone.n_leaves > 100


def test_ten_fits_are_one(big_table: Data) -> None:
    X, y = big_table
    assert len({fingerprint(X[:20_000], y[:20_000], n_jobs=4) for _ in range(10)}) == 1


# -- containers and number types -----------------------------------------------------------------


def test_layout_of_the_matrix(numeric_table: Data, tmp_path: Path) -> None:
    X, y = numeric_table
    expected = fingerprint(X, y)
    wide = np.zeros((len(X), 13))
    wide[:, ::2][:, : X.shape[1]] = X
    read_only = X.copy()
    read_only.flags.writeable = False
    np.save(tmp_path / "table.npy", X)
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")
    layouts = {
        "Fortran order": np.asfortranarray(X),
        "every second column": wide[:, ::2][:, : X.shape[1]],
        "every second row": np.repeat(X, 2, axis=0)[::2],
        "backwards": X[::-1].copy()[::-1],
        "other byte order": X.astype(">f8"),
        "read-only": read_only,
        "memory map": mapped,
        "list": X.tolist(),
    }
    for name, matrix in layouts.items():
        assert fingerprint(matrix, y) == expected, name
        assert fingerprint(matrix, y, max_bins=100) == fingerprint(X, y, max_bins=100), name


@pytest.mark.parametrize("max_bins", [None, 50])
def test_float32_and_float64(numeric_table: Data, max_bins: int | None) -> None:
    X, y = numeric_table
    narrow = X.astype(np.float32)
    assert (narrow == X).all()
    assert fingerprint(narrow, y, max_bins=max_bins) == fingerprint(X, y, max_bins=max_bins)


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16"]
)
def test_whole_numbers_of_any_type(dtype: str) -> None:
    rng = np.random.default_rng(8)
    X = rng.integers(0, 120, (800, 3))
    y = (X[:, 0] % 7 + X[:, 1] > 60).astype(int)
    assert fingerprint(X.astype(dtype), y) == fingerprint(X.astype(float), y)
    if not dtype.startswith("u"):
        X -= 60
        assert fingerprint(X.astype(dtype), y) == fingerprint(X.astype(float), y)


@pytest.mark.parametrize("n_rows", [1, 2, 7, 8, 9, 63, 255, 256, 257, 1000])
@pytest.mark.parametrize("max_depth", [2, None])
def test_predictions_in_any_layout_and_number(
    numeric_table: Data, n_rows: int, max_depth: int | None
) -> None:
    X, y = numeric_table
    model = TreeClassifier(max_depth=max_depth).fit(X, y)
    leaves, shares = model.apply(X)[:n_rows], model.predict_proba(X)[:n_rows]
    rows = X[:n_rows]
    wide = np.zeros((n_rows, 13))
    wide[:, 1:7] = rows
    layouts = {
        "C order": rows.copy(),
        "Fortran order": np.asfortranarray(rows),
        "part of a wider table": wide[:, 1:7],
        "every second row": np.repeat(rows, 2, axis=0)[::2],
        "float32": rows.astype(np.float32),
        "float32, Fortran order": np.asfortranarray(rows.astype(np.float32)),
        "list": rows.tolist(),
        "columns": {f"x{i}": rows[:, i] for i in range(6)},
    }
    for name, matrix in layouts.items():
        for n_jobs in (None, 2):
            model.n_jobs = n_jobs
            assert np.array_equal(model.apply(matrix), leaves), name
            assert np.array_equal(model.predict_proba(matrix), shares), name


def test_labels_of_any_type(numeric_table: Data) -> None:
    X, y = numeric_table
    expected = TreeClassifier(max_depth=5).fit(X, y)
    words = np.array(["ant", "bee", "cat"])
    kinds = {
        "int8": y.astype(np.int8),
        "float": y.astype(float),
        "text": words[y],
        "object": words.astype(object)[y],
        "list": words[y].tolist(),
        "negative": y - 5,
    }
    for name, labels in kinds.items():
        model = TreeClassifier(max_depth=5).fit(X, labels)
        assert np.array_equal(model.apply(X), expected.apply(X)), name
        assert np.array_equal(model.tree_.counts, expected.tree_.counts), name
        assert np.array_equal(model.classes_, np.unique(labels)), name
        assert (model.predict(X) == np.asarray(labels)).mean() == expected.score(X, y), name
    assert TreeClassifier().fit(X, y == 1).predict(X).dtype == bool


def test_data_frames(numeric_table: Data) -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    X, y = numeric_table
    X, y = X[:600], y[:600]
    letters = np.array(["b", "a", "d"], dtype=object)[(X[:, 4] % 3).astype(int)]
    columns = {"u": X[:, 0], "v": X[:, 3], "letter": letters}
    expected = fingerprint(columns, y)
    assert fingerprint(pandas.DataFrame(columns), y) == expected
    assert fingerprint(polars.DataFrame(columns), y) == expected
    assert fingerprint(pyarrow.table(columns), y) == expected
    declared = pandas.DataFrame(columns)
    declared["letter"] = pandas.Categorical(letters, ["a", "b", "d"])
    assert fingerprint(declared, y) == expected


# -- encode once ---------------------------------------------------------------------------------


@given(problems(weights=("none",)), st.sampled_from([None, 16]))
def test_columns_are_the_table(problem: Problem, max_bins: int | None) -> None:
    columns = fasttree.Columns(problem.X, np.array(problem.y), max_bins=max_bins)
    expected = problem.fit(max_bins=max_bins).tree_.fingerprint()
    for _ in range(2):
        model = TreeClassifier(**(problem.parameters | {"max_bins": max_bins}))
        assert model.fit(columns).tree_.fingerprint() == expected


@pytest.mark.parametrize("whole", [True, False])
def test_columns_with_weights(numeric_table: Data, whole: bool) -> None:
    X, y = numeric_table
    rng = np.random.default_rng(6)
    weight = rng.integers(0, 3, len(y)) * (1.0 if whole else 0.3)  # some are 0: as good as no row
    columns = fasttree.Columns(X, y)
    for parameters in ({"min_samples_leaf": 5}, {"max_leaves": 20}, {}):
        model = TreeClassifier(**parameters).fit(columns, sample_weight=weight)
        assert model.tree_.fingerprint() == fingerprint(X, y, weight, **parameters)


def test_columns_are_not_used_up(numeric_table: Data) -> None:
    X, y = numeric_table
    columns = fasttree.Columns(X, y)
    for parameters in (
        {"max_depth": 3},
        {"criterion": "entropy"},
        {"criterion": "gain_ratio", "max_leaves": 9},
        {"min_samples_leaf": 20, "n_jobs": 2},
        {},
    ):
        ours = TreeClassifier(**parameters).fit(columns).tree_.fingerprint()
        assert ours == fingerprint(X, y, **parameters)


def test_fitting_leaves_the_data_alone(numeric_table: Data) -> None:
    X, y = numeric_table
    before, labels = X.copy(), y.copy()
    TreeClassifier().fit(X, y, sample_weight=np.ones(len(y)))
    TreeClassifier(max_bins=9).fit(X, y).predict_proba(X)
    assert np.array_equal(X, before)
    assert np.array_equal(y, labels)
