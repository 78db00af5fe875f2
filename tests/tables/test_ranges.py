# SPDX-License-Identifier: BSD-3-Clause
"""The schema of a tree knows the smallest and the largest number of each attribute."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fasttree
from fasttree.tables.schema_checks import check_schema


@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 2000),
    holes=st.sampled_from([0.0, 0.3, 0.99]),
    max_bins=st.sampled_from([None, 2, 16, 255]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_ranges_are_those_of_the_numbers(
    seed: int, n_rows: int, holes: float, max_bins: int | None, dtype: type
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).astype(dtype)
    X[:, 1] = rng.integers(0, 5, n_rows)
    X[rng.random(X.shape) < holes] = np.nan
    X[:, 2] = np.nan
    X[rng.integers(n_rows), 3] = -np.inf
    model = fasttree.TreeClassifier(max_depth=2, max_bins=max_bins).fit(X, np.arange(n_rows) % 2)
    expected = []
    for column in X.T:
        known = [float(value) for value in column if value == value]
        expected.append([min(known), max(known)] if known else [np.nan, np.nan])
    assert np.array_equal(model.tree_.schema.ranges, expected, equal_nan=True)


def test_a_categorical_attribute_has_none() -> None:
    table = {"colour": ["red", "blue", "red"], "size": [3, 1, 2]}
    schema = fasttree.TreeClassifier().fit(table, [0, 1, 1]).tree_.schema
    assert np.isnan(schema.ranges[0]).all()
    assert schema.ranges[1].tolist() == [1, 3]


def test_rows_of_weight_0_count_for_nothing() -> None:
    model = fasttree.TreeClassifier().fit([[1.0], [2.0], [9.0]], [0, 1, 1], sample_weight=[1, 1, 0])
    assert model.tree_.schema.ranges.tolist() == [[1, 2]]


def test_ranges_go_through_a_file(tmp_path: Path) -> None:
    table = {
        "plain": [0.1, 3.0, 1.0],
        "infinite": [-np.inf, np.inf, 0.0],
        "empty": [np.nan, np.nan, np.nan],
        "text": ["a", "b", "a"],
    }
    model = fasttree.TreeClassifier().fit(table, [0, 1, 1])
    model.save(tmp_path / "m.model")
    ranges = fasttree.load(tmp_path / "m.model").tree_.schema.ranges
    expected = [[0.1, 3.0], [-np.inf, np.inf], [np.nan, np.nan], [np.nan, np.nan]]
    assert np.array_equal(ranges, expected, equal_nan=True)


@pytest.mark.parametrize(
    ("ranges", "match"),
    [
        (None, "not two numbers per column"),
        (np.zeros((1, 2)), "not two numbers per column"),
        (np.array([[2.0, 1.0], [np.nan] * 2]), "'x' has the invalid range 2.0 to 1.0"),
        (np.array([[np.nan, 1.0], [np.nan] * 2]), "'x' has the invalid range nan to 1.0"),
        (np.array([[1.0, 2.0], [1.0, 2.0]]), "'c' has the invalid range 1.0 to 2.0"),
    ],
)
def test_ranges_of_a_pickle_are_checked(ranges: Any, match: str) -> None:
    model = fasttree.TreeClassifier().fit({"x": [1.0, 2.0], "c": ["a", "b"]}, [0, 1])
    check_schema(model.tree_.schema)
    with pytest.raises(fasttree.ModelFileError, match=match):
        check_schema(replace(model.tree_.schema, ranges=ranges))


def test_ranges_are_read_only_and_no_part_of_equality() -> None:
    few = fasttree.TreeClassifier().fit([[1.0], [2.0]], [0, 1]).tree_
    more = (
        fasttree.TreeClassifier(max_depth=1).fit([[0.0], [1.0], [2.0], [5.0]], [0, 0, 1, 1]).tree_
    )
    assert few.schema == more.schema
    with pytest.raises(ValueError, match="read-only"):
        few.schema.ranges[0, 0] = 0
