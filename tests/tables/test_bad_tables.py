# SPDX-License-Identifier: BSD-3-Clause
"""Every bad table is an error that says what to do."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reading import one

from fasttree.tables.training import read_table


class Sparse(dict[tuple[int, int], float]):
    """What a scipy matrix looks like from outside. One of its formats is a dict."""

    shape = (2, 2)

    def tocsr(self) -> Sparse:
        return self

    def toarray(self) -> np.ndarray:
        return np.eye(2)


def bad(X: Any, error: type[Exception], *words: str, identifier: str) -> Any:
    return pytest.param(X, error, words, id=identifier)


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        bad(
            np.zeros((0, 3)),
            ValueError,
            "Found array with 0 sample(s) (shape=(0, 3)) while a minimum of 1 is required.",
            identifier="no rows",
        ),
        bad(
            np.zeros((12, 0)),
            ValueError,
            "Found array with 0 feature(s) (shape=(12, 0)) while a minimum of 1 is required.",
            identifier="no columns",
        ),
        bad([], ValueError, "0 sample(s)", identifier="no list rows"),
        bad([[], []], ValueError, "0 feature(s) (shape=(2, 0))", identifier="no list columns"),
        bad({}, ValueError, "0 sample(s)", identifier="empty dict"),
        bad({"a": []}, ValueError, "0 sample(s) (shape=(0, 1))", identifier="empty column"),
        bad(pd.DataFrame({"a": []}), ValueError, "0 sample(s)", identifier="empty pandas"),
        bad(pd.DataFrame(index=[0]), ValueError, "0 feature(s)", identifier="pandas no columns"),
        bad(pl.DataFrame({"a": []}), ValueError, "0 sample(s)", identifier="empty polars"),
        bad(
            np.zeros(3),
            ValueError,
            "Expected 2D array, got 1D array instead",
            "Reshape your data",
            "reshape(-1, 1)",
            "reshape(1, -1)",
            identifier="one-dimensional",
        ),
        bad([1, 2], ValueError, "got 1D array", "Reshape your data", identifier="flat list"),
        bad(["ab", "cd"], ValueError, "got 1D array", identifier="flat list of text"),
        bad(
            pd.Series([1, 2], index=[7, 8]),
            ValueError,
            "got 1D array",
            "Series of 2 values",
            "to_frame()",
            identifier="pandas series",
        ),
        bad(pl.Series([1]), ValueError, "got 1D array", "to_frame()", identifier="polars series"),
        bad(pa.array([1, 2]), ValueError, "got 1D array", identifier="arrow array"),
        bad(np.array(5.0), ValueError, "scalar", "5.0", "Reshape your data", identifier="scalar"),
        bad(
            np.zeros((2, 3, 4)),
            ValueError,
            "dim 3",
            "(2, 3, 4)",
            "Reshape your data",
            identifier="three-dimensional",
        ),
        bad([[[1], [2]]], ValueError, "dim 3", "[1]", "Reshape", identifier="nested lists"),
        bad(
            [np.zeros((2, 2)), np.zeros((2, 2))], ValueError, "dim 3", identifier="list of matrices"
        ),
        bad(
            [[1, 2], [3, 4], [5]],
            ValueError,
            "row 2 of X has 1 values",
            "row 0 has 2",
            identifier="ragged",
        ),
        bad(
            [[1, 2], 7], ValueError, "row 1 of X is 7", "row 0 has 2", identifier="number as a row"
        ),
        bad([{"a": 1}], TypeError, "list of dicts", "dict of columns", identifier="records"),
        bad(
            {"a": [1, 2], "b": [1, 2, 3]},
            ValueError,
            "column 'a' has 2 rows",
            "column 'b' has 3",
            identifier="unequal columns",
        ),
        bad({"a": 5}, TypeError, "column 'a' is 5 of type int", "list", identifier="no column"),
        bad({"a": "xy"}, TypeError, "column 'a' is 'xy' of type str", identifier="text column"),
        bad({"a": np.zeros((2, 2))}, ValueError, "column 'a' has 2 dim", identifier="wide column"),
        bad({"a": {1, 2}}, TypeError, "column 'a' is a set", "list", identifier="set as column"),
        bad(
            pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
            ValueError,
            "2 columns with the name 'a'",
            identifier="duplicate pandas names",
        ),
        bad(
            pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
            ValueError,
            "2 columns with the name 'a'",
            identifier="duplicate Arrow names",
        ),
        bad(
            pd.DataFrame([[1, 2]], columns=["a", 1]),
            TypeError,
            "Feature names are only supported if all input features have string names",
            "1 of type int",
            "'1'",
            identifier="mixed names",
        ),
        bad(Sparse(), TypeError, "Sparse data", "X.toarray()", identifier="sparse"),
        bad(pl.LazyFrame({"a": [1]}), TypeError, "LazyFrame", "collect()", identifier="lazy"),
        bad(None, TypeError, "NoneType", "2-D array", identifier="None"),
        bad("table.csv", TypeError, "X is a str", "data frame", identifier="text"),
        bad(3.5, TypeError, "X is a float", identifier="number"),
        bad({1, 2}, TypeError, "X is a set", identifier="set"),
        bad(np.array([[1j]]), ValueError, "Complex data not supported", identifier="complex"),
        bad(
            {"a": [1j]}, ValueError, "Complex data not supported", "'a'", identifier="complex list"
        ),
        bad(
            pd.DataFrame({"a": [1j]}),
            ValueError,
            "Complex data not supported",
            "'a'",
            identifier="complex pandas",
        ),
        bad({"a": np.array([b"x"])}, TypeError, "'a'", "b'x'", "astype(str)", identifier="bytes"),
        bad({"a": np.zeros(1, "V8")}, TypeError, "'a'", "|V8", "convert", identifier="void"),
        bad(
            np.zeros((2, 2), [("a", "f8")]), ValueError, "2 dim", "ravel()", identifier="structured"
        ),
        bad(
            {"a": ["x", 1, 2.5]},
            ValueError,
            "column 'a' mixes types",
            "str ('x' in row 0)",
            "int (1 in row 1)",
            "text for a categorical column",
            identifier="mixed",
        ),
        bad(
            np.array([[0, "x"], [1, "y"], [2, 5]], dtype=object),
            ValueError,
            "column 'x1' mixes types",
            "str ('x' in row 0)",
            "int (5 in row 2)",
            identifier="mixed array",
        ),
        bad(
            pd.DataFrame({"a": ["x", 5]}, dtype=object),
            ValueError,
            "column 'a' mixes types",
            "int (5 in row 1)",
            identifier="mixed pandas",
        ),
        bad({"a": [True, 2]}, ValueError, "bool (True", "int (2", identifier="bool and int"),
        bad(
            {"a": [np.int8(1), np.float32(2.5), 3, True]},
            ValueError,
            "int8 (1 in row 0) and bool (True in row 3). Convert",
            identifier="a bool among numbers of several types",
        ),
        bad(
            {"a": [datetime.date(2020, 1, 1), 1.5]},
            ValueError,
            "mixes types: date",
            "float (1.5",
            identifier="date and number",
        ),
        bad(
            {"a": [{"foo": "bar"}, 1]},
            TypeError,
            "column 'a' contains {'foo': 'bar'} of type dict in row 0",
            "argument must be a string, a bool, a date or a number",
            "into separate columns",
            identifier="dict in a cell",
        ),
        bad(
            pd.DataFrame({"a": ["x", ["y"]]}),
            TypeError,
            "['y'] of type list in row 1",
            identifier="list in a cell",
        ),
        bad(
            pd.DataFrame({"a": pd.period_range("2020", periods=2, freq="M")}),
            TypeError,
            "column 'a' contains Period",
            "text",
            identifier="period",
        ),
        bad(pl.DataFrame({"a": [[1]]}), TypeError, "'a'", "List(Int64)", identifier="polars list"),
        bad(pa.table({"a": [b"x"]}), TypeError, "'a'", "Binary", identifier="Arrow binary"),
        bad(
            {"a": [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), datetime.date(2020, 1, 1)]},
            ValueError,
            "column 'a'",
            "row 0, which has a time zone",
            "row 1, which has none",
            identifier="times with a zone and without",
        ),
        bad(
            {"a": np.array([1], dtype="m8[Y]")},
            TypeError,
            "'a'",
            "days",
            identifier="years as time",
        ),
        bad(
            {"a": np.array([1000, 1001], dtype="M8[ns]")},
            ValueError,
            "column 'a'",
            "finer than a microsecond in row 1",
            "round",
            identifier="nanoseconds",
        ),
        bad(
            np.array([[0, 2**53 + 1]]),
            ValueError,
            "column 'x1'",
            str(2**53 + 1),
            "2**53",
            "categorical",
            "rescale",
            identifier="large int matrix",
        ),
        bad({"a": np.array([-(2**60)])}, ValueError, "'a'", str(-(2**60)), identifier="large int"),
        bad(
            {"a": np.array([2**63], dtype=np.uint64)},
            ValueError,
            "'a'",
            str(2**63),
            identifier="large uint",
        ),
        bad({"a": [2**70, 1]}, ValueError, "'a'", "2**53", identifier="huge object int"),
        bad({"a": [10**400, 1.5]}, ValueError, "'a'", "float64", identifier="int beyond float"),
        bad({"a": [2**53 + 1, 0.5]}, ValueError, str(2**53 + 1), identifier="large among floats"),
    ],
)
def test_bad_tables(X: Any, error: type[Exception], words: tuple[str, ...]) -> None:
    with pytest.raises(error) as caught:
        read_table(X)
    for word in words:
        assert word in str(caught.value)


def test_large_numbers_are_legal_where_thresholds_do_not_see_them() -> None:
    limit = np.array([2**53, -(2**53)])
    assert one(limit).values.tolist() == limit.tolist()
    assert one([2**53 + 1, 2**53], ["a"]).categories == (2**53, 2**53 + 1)
    assert one([1e300, 5]).values.tolist() == [1e300, 5.0]
