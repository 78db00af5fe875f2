# SPDX-License-Identifier: BSD-3-Clause
"""Rows and columns of rare types: they work, or the error says which it was, what it held, and what to do."""

from __future__ import annotations

import datetime
import warnings
from collections import OrderedDict
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fasttree import TreeClassifier
from fasttree.tables.training import read_table

TIMES = [datetime.time(23, 50), datetime.time(0, 10)]
narwhals = pytest.importorskip("narwhals")

FRAME = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
SERIES = [row for _, row in FRAME.iterrows()]
UNION = pa.UnionArray.from_sparse(
    pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]
)
NESTED = {
    "lists": pa.array([[1], [2]]),
    "structs": pa.array([{"k": 1}, {"k": 2}]),
}


def values(column: Any) -> list[Any]:
    found = (read_table({"a": column}).columns or ())[0].values
    assert found is not None
    return [None if value != value else value for value in found.tolist()]


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (SERIES, TypeError, "X is a list of Series objects: pass a data frame.* pandas.DataFrame"),
        (tuple(SERIES), TypeError, "list of Series objects"),
        ([{1, 2}, {3, 4}], TypeError, r"row 0 of X is \{1, 2\}, but a set is unordered: .* list"),
        ([frozenset("ab")], TypeError, "row 0 of X is frozenset.* unordered"),
        ([OrderedDict(a=1).keys()], TypeError, "row 0 of X is .* unordered"),
        ([[1, 2], {3, 4}], ValueError, r"row 1 of X is \{3, 4\}, but row 0 .* a list or a tuple"),
        ([[1], np.array(5)], ValueError, r"row 1 of X is array\(5\), but row 0 has 1 value"),
        ([np.array(5), np.array(6)], ValueError, "got 1D array"),
        ({"a": np.array(5)}, TypeError, r"column 'a' is array\(5\) of type ndarray: .* a list"),
        ({"b": [1], "a": np.float64(5)}, TypeError, r"column 'a' is 5\.0 of type float64"),
    ],
)
def test_rows_and_columns_that_are_none(X: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        read_table(X)


def test_pandas_sparse_columns() -> None:
    holed = pd.arrays.SparseArray([1.0, np.nan, 2.0])
    assert values(pd.Series(holed)) == [1, None, 2]
    assert values(holed) == [1, None, 2]
    assert values(pd.Series(pd.arrays.SparseArray([0, 5, 0]))) == [0, 5, 0]
    flags = (read_table({"a": pd.Series(pd.arrays.SparseArray([True, False]))}).columns or ())[0]
    assert flags.categories == (False, True)
    words = pd.Series(pd.arrays.SparseArray(np.array(["x", None, "y"], dtype=object)))
    assert (read_table(pd.DataFrame({"a": words})).columns or ())[0].categories == ("x", "y")


@pytest.mark.parametrize("missing", [[], [pd.NaT]])
def test_pandas_periods_and_intervals(missing: list[Any]) -> None:
    for held, word, remedy in (
        (pd.Period("2020-01", "M"), "Period", "convert it to a time"),
        (pd.Interval(0, 1), "Interval", "convert it to numbers or text"),
    ):
        with pytest.raises(
            TypeError, match=rf"^column 'a' contains {word}\(.* in row 0, .* {remedy}"
        ):
            read_table(pd.DataFrame({"a": pd.Series([held, *missing])}))


@pytest.mark.parametrize("column", [UNION, pa.chunked_array([UNION])])
def test_arrow_unions(column: Any) -> None:
    with pytest.raises(TypeError, match=r"^column 'a' has the type sparse_union.*: unpack it"):
        read_table(pa.table({"a": column}))


def test_arrow_types_that_pandas_only_stores() -> None:
    for held in (
        pa.RunEndEncodedArray.from_arrays([1, 2], ["x", "y"]),
        pa.array([b"x", b"y"], pa.binary_view()),
    ):
        column = pd.Series(pd.arrays.ArrowExtensionArray(held))
        with pytest.raises(
            TypeError, match=r"^column 'a' has the type (run_end|binary_view).*: unpack it"
        ):
            read_table({"a": column})


@pytest.mark.parametrize("held", NESTED.values(), ids=NESTED)
def test_arrow_dictionaries_of_what_is_no_label(held: Any) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1]), held)
    for X in (pa.table({"a": column}), {"a": pd.Series(column, dtype=pd.ArrowDtype(column.type))}):
        with pytest.raises(TypeError, match=r"^column 'a' has the type .*: unpack it"):
            read_table(X)


def test_a_decimal_that_signals_is_missing() -> None:
    signal = Decimal("sNaN")
    assert values([signal, Decimal(1), 2.5]) == [None, 1.0, 2.5]
    assert values([signal, Decimal(1), None]) == [None, 1.0, None]
    for words in (
        [signal, "x", "y"],
        ["x", signal, "y"],
        np.array(["x", "y", signal], dtype=object),
    ):
        column = (read_table({"a": words}).columns or ())[0]
        assert column.categories == ("x", "y")
        assert column.codes is not None
        assert sorted(column.codes.tolist()) == [0, 1, 2]


def test_narwhals_frames_and_series() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for native in (FRAME, pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}), pa.table(FRAME)):
            for of in (narwhals, narwhals.stable.v1, narwhals.stable.v2):
                X = of.from_native(native)
                model = TreeClassifier().fit(X, [0, 1])
                assert list(model.feature_names_in_) == ["a", "b"]
                assert model.predict(X.select("b", "a")).tolist() == [0, 1]
                assert model.predict({"a": X["a"], "b": X["b"]}).tolist() == [0, 1]
    with pytest.raises(TypeError, match="LazyFrame, not a table in memory"):
        read_table(narwhals.from_native(pl.LazyFrame({"a": [1]})))
    with pytest.raises(ValueError, match="got 1D array"):
        read_table(narwhals.from_native(pl.Series([1]), series_only=True))


@pytest.mark.parametrize(
    "X",
    [
        {"a": TIMES},
        pd.DataFrame({"a": TIMES}),
        pl.DataFrame({"a": TIMES}),
        pa.table({"a": TIMES}),
    ],
    ids=["dict", "pandas", "polars", "arrow"],
)
def test_a_time_of_day_becomes_a_number(X: Any) -> None:
    """As text it would have no order."""
    with pytest.raises(
        TypeError, match=r"'a' .* convert it to a number, such as minutes since noon"
    ):
        TreeClassifier().fit(X, ["p", "q"])


def test_a_period_becomes_a_time() -> None:
    months = pd.DataFrame({"a": pd.period_range("2024", periods=2, freq="M")})
    with pytest.raises(
        TypeError, match=r"of type Period .* convert it to a time \(\.dt\.to_timestamp"
    ):
        TreeClassifier().fit(months, ["p", "q"])
    months["a"] = months["a"].dt.to_timestamp()
    assert "a <= 2024-01-16" in TreeClassifier().fit(months, ["p", "q"]).to_text()
