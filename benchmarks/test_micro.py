# SPDX-License-Identifier: BSD-3-Clause
"""Micro-benchmarks of the core, of the stages of fit, of fit and predict, at several sizes.

pytest benchmarks/test_micro.py --benchmark-only, or with --benchmark-disable to see that they run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fasttree
from benchmarks import data
from fasttree import _core

pytest.importorskip("sklearn")

SIZES = ((100, 5), (2_000, 20), (20_000, 20))
BINS = (None, 255)


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def dataset(request: pytest.FixtureRequest) -> data.Dataset:
    return data.classification(*request.param)


@pytest.fixture(params=BINS, ids=lambda bins: f"{bins}-bins" if bins else "exact")
def max_bins(request: pytest.FixtureRequest) -> int | None:
    return request.param


def test_encode(benchmark: Any, dataset: data.Dataset, max_bins: int | None) -> None:
    benchmark.group = "encode"
    benchmark(fasttree.Columns, dataset.X, dataset.y, max_bins=max_bins)


@pytest.mark.parametrize("max_depth", [1, 8, None])
def test_grow(
    benchmark: Any, dataset: data.Dataset, max_bins: int | None, max_depth: int | None
) -> None:
    benchmark.group = "grow"
    columns = fasttree.Columns(dataset.X, dataset.y, max_bins=max_bins)
    model = fasttree.TreeClassifier(max_depth=max_depth, max_bins=max_bins)
    benchmark(model.fit, columns)
    assert model.get_depth() <= (max_depth or len(dataset.y))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_fit(benchmark: Any, dataset: data.Dataset, max_bins: int | None, n_jobs: int) -> None:
    benchmark.group = "fit"
    model = fasttree.TreeClassifier(max_bins=max_bins, n_jobs=n_jobs)
    benchmark(model.fit, dataset.X, dataset.y)
    assert model.score(dataset.X, dataset.y) > 0.95


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio", "misclassification"])
@pytest.mark.parametrize("n_classes", [2, 10])
def test_criterion(benchmark: Any, criterion: str, n_classes: int) -> None:
    benchmark.group = "criterion"
    dataset = data.classification(2_000, 20, n_classes)
    model = fasttree.TreeClassifier(criterion=criterion)
    benchmark(model.fit, dataset.X, dataset.y)


@pytest.mark.parametrize("categorical_split", ["subset", "multiway"])
@pytest.mark.parametrize("categories", [4, 100])
def test_categorical(benchmark: Any, categorical_split: str, categories: int) -> None:
    benchmark.group = "categorical"
    draw = np.random.default_rng(0)
    X = draw.integers(categories, size=(5_000, 10))
    y = (X[:, :3] % 2).sum(axis=1) % 2 ^ (draw.random(5_000) < 0.1)
    model = fasttree.TreeClassifier(
        categorical_split=categorical_split, categorical_features=list(range(10))
    )
    benchmark(model.fit, X, y)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "apply"])
@pytest.mark.parametrize("rows", [1, 1_000, 50_000])
def test_predict(benchmark: Any, method: str, rows: int) -> None:
    benchmark.group = f"predict {rows} rows"
    train = data.classification(2_000, 20)
    model = fasttree.TreeClassifier(n_jobs=1).fit(train.X, train.y)
    X = np.resize(train.X, (rows, 20)).astype(np.float32)
    assert len(benchmark(getattr(model, method), X)) == rows


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_core_keys(benchmark: Any, dtype: str, order: str) -> None:
    benchmark.group = "core: keys_of"
    table = np.asarray(data.classification(20_000, 20).X, dtype=dtype, order=order)
    table = table[:, : _core.KEY_COLUMNS]
    keys = np.empty(table.shape[::-1], dtype=np.uint64)
    benchmark(_core.keys_of, table, keys)
    np.testing.assert_array_equal(keys.argsort(kind="stable"), table.T.argsort(kind="stable"))


@pytest.mark.parametrize("dtype", ["int8", "int64", "float64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_core_counts_values(benchmark: Any, dtype: str, order: str) -> None:
    benchmark.group = "core: count_values"
    drawn = np.random.default_rng(0).integers(0, 100, (20_000, _core.KEY_COLUMNS))
    table = np.asarray(drawn, dtype=dtype, order=order)
    codes = np.empty(table.shape[::-1], dtype=np.uint8)
    ascending = np.zeros((len(codes), 256))
    n_values = np.empty(len(codes), dtype=np.int64)
    benchmark(_core.count_values, table, 255, codes, ascending, n_values)
    np.testing.assert_array_equal(ascending[0, codes[0]], table[:, 0])
    assert set(n_values) == {100}


def test_core_sorts_a_column(benchmark: Any) -> None:
    benchmark.group = "core: sort one column"
    values = np.ascontiguousarray(data.classification(20_000, 20).X[:, 0])
    keys, scratch, entries = np.empty((3, len(values)), dtype=np.uint64)
    y = np.zeros(len(values), dtype=np.uint32)

    def sort() -> int:
        _core.keys_of(values[:, np.newaxis], keys[np.newaxis])
        return _core.sorted_entries(keys, scratch, 32, y, entries)[0]

    assert benchmark(sort) == len(np.unique(values))


@pytest.mark.parametrize("max_depth", [8, None])
def test_core_routes(benchmark: Any, max_depth: int | None) -> None:
    benchmark.group = "core: Router.leaves"
    dataset = data.classification(20_000, 20)
    model = fasttree.TreeClassifier(max_depth=max_depth).fit(dataset.X, dataset.y)
    leaves = np.empty(len(dataset.y), dtype=np.int32)
    assert benchmark(model.tree_.router.leaves, dataset.X, 0, len(leaves), True, leaves) is None
    np.testing.assert_array_equal(leaves, model.apply(dataset.X))
