# SPDX-License-Identifier: BSD-3-Clause
"""Objects of which nothing is known but that they speak Arrow's PyCapsule protocol."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fasttree import TreeClassifier
from fasttree.tables.training import read_table, read_target, read_weights

pa = pytest.importorskip("pyarrow")
pytest.importorskip("polars")

TABLE = pa.table({"size": [1, 2, None, 4], "word": ["x", None, "y", "x"]})
BATCH = TABLE.to_batches()[0]


class Stream:
    def __init__(self, holder: Any) -> None:
        self.holder = holder

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.holder.__arrow_c_stream__(requested_schema)


class Array:
    def __init__(self, holder: Any) -> None:
        self.holder = holder

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.holder.__arrow_c_array__(requested_schema)


class LongStream(Stream):
    def __len__(self) -> int:
        return len(self.holder)


class LongArray(Array):
    def __len__(self) -> int:
        return len(self.holder)


@pytest.fixture(params=["pyarrow", "polars"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The only library that is loaded."""
    for library in {"pyarrow", "polars", "pandas"} - {request.param}:
        monkeypatch.delitem(sys.modules, library, raising=False)
    return str(request.param)


def check(X: Any) -> None:
    size, word = read_table(X).columns or ()
    assert (size.name, word.name) == ("size", "word")
    assert size.values is not None
    assert word.codes is not None
    np.testing.assert_array_equal(size.values, [1, 2, np.nan, 4])
    assert word.codes.tolist() == [1, 0, 2, 1]
    assert word.categories == ("x", "y")


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize(
    "make", [lambda: Stream(TABLE), lambda: Stream(BATCH), lambda: Array(BATCH)]
)
def test_tables(make: Callable[[], Any]) -> None:
    check(make())


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("speak", [Stream, Array, LongStream, LongArray])
def test_columns(speak: type[Any]) -> None:
    def column(name: str) -> Any:
        chunks = TABLE.column(name)
        return speak(chunks if issubclass(speak, Stream) else chunks.chunk(0))

    check({"size": column("size"), "word": column("word")})
    y = read_target(
        speak(
            pa.chunked_array([["a", "b"]]) if issubclass(speak, Stream) else pa.array(["a", "b"])
        ),
        2,
    )
    assert y.classes.tolist() == ["a", "b"]
    weights = pa.chunked_array([[0.5], [2.0]])
    found = read_weights(speak(weights if issubclass(speak, Stream) else pa.array([0.5, 2.0])), 2)
    assert found is not None
    assert found.tolist() == [0.5, 2.0]


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("column", [Stream(TABLE.column("size")), Array(pa.array([1, 2]))])
def test_a_column_is_no_table(column: Any) -> None:
    with pytest.raises(
        ValueError,
        match=r"X is a (Stream|Array) with the Arrow interface, .*got 1D array instead.* dict",
    ):
        read_table(column)


def test_columns_of_different_length() -> None:
    with pytest.raises(ValueError, match="column 'a' has 4 rows, but column 'b' has 2"):
        read_table({"a": Stream(TABLE.column("size")), "b": [1, 2]})


def test_a_library_that_cannot_read_a_column() -> None:
    class Broken:
        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            raise RuntimeError("out of ink")

    with pytest.raises(TypeError, match=r"column 'a' is a Broken .*\(out of ink\): pass a list"):
        read_table({"a": Broken()})
    with pytest.raises(ValueError, match=r"X is a Broken with the Arrow interface, .*out of ink"):
        read_table(Broken())


@pytest.mark.parametrize("make", [Stream, Array])
def test_without_a_library_that_reads_arrow(
    make: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for library in ("pyarrow", "polars", "pandas"):
        monkeypatch.delitem(sys.modules, library, raising=False)
    remedy = (
        r"no library that reads Arrow is imported: import pyarrow or polars .*pip install pyarrow"
    )
    with pytest.raises(
        TypeError, match=rf"^X is a {make.__name__} with the Arrow interface, but {remedy}"
    ):
        read_table(make(BATCH))
    with pytest.raises(TypeError, match=rf"^column 'a' is a {make.__name__} .*{remedy}"):
        read_table({"a": make(pa.array([1, 2]))})


def test_pandas_alone_reads_with_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    for library in ("pyarrow", "polars"):
        monkeypatch.delitem(sys.modules, library)

    def load(name: str) -> Any:
        monkeypatch.setitem(sys.modules, name, pa)
        return pa

    monkeypatch.setattr("fasttree.tables.arrow.importlib", SimpleNamespace(import_module=load))
    check(Array(BATCH))


def test_a_model_from_fit_to_prediction() -> None:
    model = TreeClassifier().fit(Array(BATCH), [0, 0, 1, 1])
    asked = {"word": Array(pa.array(["y", "x"])), "size": Stream(pa.chunked_array([[3, 1]]))}
    assert model.predict(asked).tolist() == model.predict([[3, "y"], [1, "x"]]).tolist()
