# SPDX-License-Identifier: BSD-3-Clause
"""Categorical: a column with the order of its levels."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fasttree.tables.training import Categorical


def test_categorical() -> None:
    sizes = Categorical(["small", "large", "small"], categories=["small", "medium", "large"])
    assert sizes.codes.tolist() == [0, 2, 0]
    assert sizes.codes.dtype == np.int32
    assert sizes.categories == ("small", "medium", "large")
    assert len(sizes) == 3
    assert np.asarray(sizes).tolist() == ["small", "large", "small"]
    assert np.asarray(sizes).dtype == object
    assert np.asarray(sizes, dtype=str).dtype.kind == "U"
    assert repr(sizes) == (
        "Categorical(['small', 'large', 'small'], categories=['small', 'medium', 'large'])"
    )
    again = pickle.loads(pickle.dumps(sizes))
    assert np.array_equal(again.codes, sizes.codes)
    assert again.categories == sizes.categories
    with pytest.raises(ValueError, match="copy"):
        np.asarray(sizes, copy=False)


@pytest.mark.parametrize(
    "values",
    [
        ["b", "a", "b"],
        ("b", "a", "b"),
        np.array(["b", "a", "b"]),
        pd.Series(["b", "a", "b"]),
        pl.Series(["b", "a", "b"]),
        pa.array(["b", "a", "b"]),
        Categorical(["b", "a", "b"], ["b", "a"]),
        (letter for letter in "bab"),
    ],
)
def test_categorical_of_anything(values: Any) -> None:
    found = Categorical(values)
    assert found.categories == ("a", "b")
    assert found.codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize("missing", [None, np.nan, float("nan"), pd.NA, pd.NaT])
def test_categorical_with_missing_values(missing: Any) -> None:
    sizes = Categorical(["small", missing, "large"], categories=["small", "medium", "large"])
    assert sizes.codes.tolist() == [0, -1, 2]
    assert np.asarray(sizes).tolist() == ["small", None, "large"]
    assert repr(Categorical(["a", missing])) == "Categorical(['a', None], categories=['a'])"
    numbers = Categorical([2.0, missing, 1.0, missing])
    assert numbers.codes.tolist() == [1, -1, 0, -1]
    assert numbers.categories == (1.0, 2.0)
    np.testing.assert_array_equal(np.asarray(numbers, dtype=float), [2.0, np.nan, 1.0, np.nan])
    assert Categorical([missing]).categories == ()
    assert np.asarray(Categorical([missing])).tolist() == [None]
    again = Categorical(sizes)
    assert again.codes.tolist() == [1, -1, 0]


def test_ordered_categorical() -> None:
    sizes = Categorical(["small", "large"], ["small", "large"], ordered=True)
    assert sizes.ordered
    assert not Categorical(["small"]).ordered
    assert repr(sizes).endswith("categories=['small', 'large'], ordered=True)")
    assert pickle.loads(pickle.dumps(sizes)).ordered
    with pytest.raises(TypeError, match="Categorical: ordered must be True or False, got 'yes'"):
        Categorical(["small"], ordered="yes")  # type: ignore[arg-type]


def test_categorical_of_series_with_missing_values() -> None:
    words = ["b", None, "a"]
    for values in (pd.Series(words), pl.Series(words), pa.array(words), np.array(words, object)):
        found = Categorical(values)
        assert found.categories == ("a", "b")
        assert found.codes.tolist() == [1, -1, 0]
    hidden = np.ma.masked_array([3, 2, 1], mask=[False, True, False])
    assert Categorical(hidden).codes.tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("values", "categories", "error", "words"),
    [
        (["a", "q"], ["a"], ValueError, ["'q' in row 1", "['a']", "add it"]),
        ([None, "a", "q"], ["a"], ValueError, ["'q' in row 2"]),
        (["a", "b"], ["a", None], ValueError, ["missing value (None)", "leave it out"]),
        (["a", []], None, TypeError, ["[] of type list in row 1"]),
        (["a"], ["a", "b", "a"], ValueError, ["'a' twice"]),
        (["a"], [], ValueError, ["empty"]),
        ("abc", None, TypeError, ["'abc'", "list"]),
        (np.zeros((2, 2)), None, ValueError, ["2 dimensions"]),
    ],
)
def test_bad_categorical(values: Any, categories: Any, error: Any, words: list[str]) -> None:
    with pytest.raises(error) as caught:
        Categorical(values, categories)
    for word in words:
        assert word in str(caught.value)
