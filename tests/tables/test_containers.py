# SPDX-License-Identifier: BSD-3-Clause
"""Every container gives the same table, and a matrix of numbers is taken as it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reading import COLOURS, FLAGS, SIZES, WEIGHTS, Stream, facts, one, schema_of

from fasttree import Categorical, TreeClassifier
from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.schema import AttributeSchema, Schema
from fasttree.tables.training import read_table

# -- containers ------------------------------------------------------------------------------------


def as_dict_of_lists() -> Any:
    return {"colour": COLOURS, "size": SIZES, "weight": WEIGHTS, "flag": FLAGS}


def as_dict_of_arrays() -> Any:
    return {name: np.array(values) for name, values in as_dict_of_lists().items()}


def as_dict_of_series() -> Any:
    return {
        "colour": pd.Series(COLOURS),
        "size": pl.Series(SIZES),
        "weight": pa.array(WEIGHTS),
        "flag": tuple(FLAGS),
    }


def as_pandas() -> Any:
    return pd.DataFrame(as_dict_of_lists())


def as_pandas_objects() -> Any:
    return pd.DataFrame(as_dict_of_lists()).astype(object)


def as_pandas_nullable() -> Any:
    return pd.DataFrame(as_dict_of_lists()).convert_dtypes()


def as_pandas_arrow() -> Any:
    return pd.DataFrame(as_dict_of_lists()).convert_dtypes(dtype_backend="pyarrow")


def as_polars() -> Any:
    return pl.DataFrame(as_dict_of_lists())


def as_polars_categorical() -> Any:
    return as_polars().with_columns(pl.col("colour").cast(pl.Categorical))


def as_arrow() -> Any:
    return pa.table(as_dict_of_lists())


def as_arrow_batch() -> Any:
    return as_arrow().to_batches()[0]


def as_arrow_chunks() -> Any:
    return pa.concat_tables([as_arrow().slice(0, 1), as_arrow().slice(1)])


def as_arrow_stream() -> Any:
    return Stream(as_arrow())


def as_structured() -> Any:
    rows = list(zip(COLOURS, SIZES, WEIGHTS, FLAGS, strict=True))
    return np.array(rows, dtype=[("colour", "U5"), ("size", "i8"), ("weight", "f8"), ("flag", "?")])


NAMED = [
    as_dict_of_lists,
    as_dict_of_arrays,
    as_dict_of_series,
    as_pandas,
    as_pandas_objects,
    as_pandas_nullable,
    as_pandas_arrow,
    as_polars,
    as_polars_categorical,
    as_arrow,
    as_arrow_batch,
    as_arrow_chunks,
    as_arrow_stream,
    as_structured,
]
EXPECTED = [
    ("colour", [3, 2, 3, 1], ("blue", "green", "red")),
    ("size", [3, 1, 2, 2]),
    ("weight", [0.5, 2.5, -1.0, 0.0]),
    ("flag", [2, 1, 1, 2], (False, True)),
]


@pytest.mark.parametrize("make", NAMED)
def test_every_container_gives_the_same_table(make: Callable[[], Any]) -> None:
    table = read_table(make())
    assert (table.n_rows, table.named, table.matrix) == (4, True, None)
    assert table.names == ("colour", "size", "weight", "flag")
    assert facts(table) == EXPECTED


@pytest.mark.parametrize("make", NAMED)
def test_every_container_is_understood_by_a_model_fitted_on_another(
    make: Callable[[], Any],
) -> None:
    schema = schema_of(read_table(as_dict_of_lists()))
    assert facts(read_table_for_schema(make(), schema)) == EXPECTED


@pytest.mark.parametrize(
    ("X", "places"),
    [
        (as_dict_of_lists(), [3, 1, 0, 2]),
        (as_pandas(), [1, 0, 2, 3]),
        (as_polars(), [3, 2, 1, 0]),
        (as_arrow(), [1, 2, 3, 0]),
        (as_structured(), [2, 3, 0, 1]),
    ],
    ids=lambda value: type(value).__module__ + "." + type(value).__name__,
)
def test_a_model_finds_columns_by_name(X: Any, places: list[int]) -> None:
    names = [("colour", "size", "weight", "flag")[place] for place in places]
    if isinstance(X, dict):
        moved: Any = {name: X[name] for name in names}
    else:
        moved = X.select(names) if hasattr(X, "select") else X[names]
    schema = schema_of(read_table(X))
    table = read_table_for_schema(moved, schema)
    assert (table.n_rows, table.names, table.named) == (4, schema.names, True)
    assert facts(table) == EXPECTED
    # A model without names, or a table without names, goes by position.
    nameless = Schema(
        tuple(AttributeSchema(f"x{i}", a.categories) for i, a in enumerate(schema.attributes)),
        schema.classes,
        named=False,
    )
    assert facts(read_table_for_schema(X, nameless))[0][1:] == EXPECTED[0][1:]
    assert facts(read_table(moved)) == [EXPECTED[place] for place in places]


def test_an_all_numeric_frame_in_another_order() -> None:
    frame = pd.DataFrame({name: np.arange(3.0) + place for place, name in enumerate("abc")})
    schema = schema_of(read_table(frame))
    for X in (frame, frame[["c", "a", "b"]], frame[["b", "a", "c"]].to_records(index=False)):
        assert facts(read_table_for_schema(X, schema)) == facts(read_table(frame))
    matrix = frame[["c", "a", "b"]].to_numpy()
    table = read_table_for_schema(matrix, schema)  # no names: by position
    assert table.matrix is matrix
    assert table.names == ("a", "b", "c")


def test_columns_in_any_order_are_not_copied() -> None:
    columns = {name: np.arange(3.0) for name in "abc"}
    schema = schema_of(read_table(columns))
    for names in ("abc", "cab"):
        found = read_table_for_schema({name: columns[name] for name in names}, schema).columns or ()
        assert [column.name for column in found] == ["a", "b", "c"]
        assert all(column.values is columns[column.name] for column in found)


def test_rows_without_names() -> None:
    rows = list(zip(COLOURS, SIZES, WEIGHTS, FLAGS, strict=True))
    unnamed = [(f"x{place}", *column[1:]) for place, column in enumerate(EXPECTED)]
    for X in (rows, tuple(map(list, rows)), np.array(rows, dtype=object)):
        table = read_table(X)
        assert not table.named
        assert facts(table) == unnamed
        # A model with names takes rows without.
        schema = schema_of(read_table(as_dict_of_lists()))
        assert facts(read_table_for_schema(X, schema)) == EXPECTED


def test_pandas_numbers_as_column_names_are_no_names() -> None:
    table = read_table(pd.DataFrame([[1, "a"], [2, "b"]]))
    assert not table.named
    assert table.names == ("x0", "x1")
    assert facts(read_table({0: [1, 2], 1: ["a", "b"]})) == facts(table)


def test_an_array_of_text_is_categorical_by_column() -> None:
    table = read_table(np.array([["a", "1"], ["b", "1"]]))
    assert facts(table) == [("x0", [1, 2], ("a", "b")), ("x1", [1, 1], ("1",))]


def test_string_dtype_of_numpy() -> None:
    assert one(np.array(["b", "a"], dtype=np.dtypes.StringDType())).categories == ("a", "b")


def test_anything_with_an_array_inside() -> None:
    class Wrapped:
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
            return np.array([[1.0, 2.0], [3.0, 4.0]])

    table = read_table(Wrapped())
    assert table.matrix is not None
    assert table.matrix.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_frame_of_another_library_is_left_as_it_was() -> None:
    frame = as_pandas()
    read_table(frame, {"colour": ["red", "green", "blue"]})
    pd.testing.assert_frame_equal(frame, as_pandas())


def test_some_rows_are_a_table_as_if_the_others_were_not_there() -> None:
    frame = as_pandas()
    frame["declared"] = pd.Categorical(["a", "b", "a", "b"], ["c", "b", "a"])
    matrix = np.arange(8.0).reshape(4, 2)
    for rows in (np.array([0, 2, 3]), np.array([True, False, True, True])):
        found, expected = read_table(frame).take(rows), read_table(frame.iloc[[0, 2, 3]])
        assert (found.n_rows, found.names, found.named) == (3, expected.names, True)
        assert facts(found) == facts(expected)
        assert facts(found)[0] == ("colour", [2, 2, 1], ("blue", "red"))
        assert facts(found)[-1] == ("declared", [3, 3, 2], ("c", "b", "a"))
        found = read_table(matrix).take(rows)
        assert found.n_rows == 3
        assert found.matrix.tolist() == matrix[[0, 2, 3]].tolist()


def test_an_arrow_stream_without_a_library_that_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    X = as_arrow_stream()
    read_table(X)
    for library in ("pyarrow", "polars", "pandas"):
        monkeypatch.delitem(sys.modules, library)
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # forbids to import it
    with pytest.raises(
        TypeError, match=r"Stream with the Arrow interface.*import pyarrow or polars"
    ):
        read_table(X)


# -- the matrix, which costs nothing ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", "?bhilBHILfd")
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_numeric_array_is_taken_as_it_is(dtype: str, order: Any) -> None:
    X = np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype, order=order)
    X.flags.writeable = False
    table = read_table(X)
    assert table.matrix is X
    assert table.columns is None
    assert table.names == ("x0", "x1")
    assert read_table(X, None).matrix is X
    assert read_table_for_schema(X, schema_of(table)).matrix is X


def test_a_strided_view_and_a_memory_map_are_not_copied(tmp_path: Any) -> None:
    X = np.arange(24.0).reshape(4, 6)[::2, ::3]
    assert read_table(X).matrix is X
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    table = read_table(mapped)
    assert table.matrix is not None
    assert np.shares_memory(table.matrix, mapped)
    assert type(read_table_for_schema(mapped, schema_of(table)).matrix) is np.ndarray


def test_odd_numbers_become_plain_ones() -> None:
    half = np.array([[1.5]], dtype=np.float16)
    foreign = np.array([[1.5]], dtype=">f8")
    extended = np.array([[1.5]], dtype=np.longdouble)
    for X, dtype in ((half, "float32"), (foreign, "float64"), (extended, "float64")):
        schema = schema_of(read_table(X))
        for table in (read_table(X), read_table_for_schema(X, schema)):
            assert table.matrix is not None
            assert table.matrix.dtype == np.dtype(dtype)
            assert table.matrix.dtype.isnative
            assert table.matrix.tolist() == [[1.5]]
        assert one(X[:, 0]).values.dtype == np.dtype(dtype)


def test_numpy_matrix_and_rows_of_arrays() -> None:
    assert read_table(np.array([[1.0, 2.0]]).view(np.matrix)).matrix.tolist() == [[1.0, 2.0]]
    rows = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    assert read_table(rows).matrix.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert facts(read_table([np.array([1, 2]), [3.5, 4]])) == [("x0", [1, 3.5]), ("x1", [2, 4])]


def test_a_matrix_may_hold_nan_and_infinity_until_its_values_are_read() -> None:
    X = np.array([[np.nan, np.inf]])
    assert read_table(X).matrix is X
    assert read_table_for_schema(X, schema_of(read_table(X))).matrix is X
    assert one([np.inf, -np.inf]).values.tolist() == [np.inf, -np.inf]


def test_predict_on_a_matrix_does_not_open_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row at a time is how services predict: nothing may be asked of each of 2,000 columns."""
    schema = schema_of(read_table(np.zeros((1, 2000))))
    monkeypatch.setattr("fasttree.tables.fitted.open_container", None)
    X = np.zeros((1, 2000))
    assert read_table_for_schema(X, schema).matrix is X


# -- columns that are not as long as they say ------------------------------------------------------


class Liar(list[Any]):
    """A list that says that it is of another length."""

    says: int = 0

    def __len__(self) -> int:
        return self.says


def liar(values: Any, says: int) -> Liar:
    made = Liar(values)
    made.says = says
    return made


class Array:
    """An array inside, and a length of its own."""

    def __init__(self, values: Any, says: int, dtype: Any = None) -> None:
        self.values, self.says, self.dtype = values, says, dtype

    def __len__(self) -> int:
        return self.says

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.values, dtype=dtype)


class LyingArray(np.ndarray):
    says = 0

    def __len__(self) -> int:
        return self.says


def lying_array(values: Any, says: int) -> Any:
    made = np.array(values).view(LyingArray)
    made.says = says
    return made


class Capsule:
    """Speaks Arrow, and has a length of its own."""

    def __init__(self, values: Any, says: int) -> None:
        self.values, self.says = pa.chunked_array([values]), says

    def __len__(self) -> int:
        return self.says

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.values.__arrow_c_stream__(requested_schema)


LIARS: dict[str, Callable[[int], Any]] = {
    "list of words": lambda n: liar(["a", "b", "a"], n),
    "list of numbers": lambda n: liar([1.0, 2.0, 3.0], n),
    "list of bools": lambda n: liar([True, None, False], n),
    "array": lambda n: Array(np.arange(3.0), n),
    "array of numpy's dtype": lambda n: Array(np.arange(3.0), n, np.dtype(float)),
    "array of words": lambda n: Array(np.array(["a", "b", "a"]), n),
    "array of objects": lambda n: Array(np.array(["a", None, "a"], dtype=object), n),
    "array of times": lambda n: Array(np.array(["2020-01-01"] * 3, dtype="datetime64[D]"), n),
    "subclass of numpy's": lambda n: lying_array([1.0, 2.0, 3.0], n),
    "Arrow's numbers": lambda n: Capsule(pa.array([1.0, 2.0, 3.0]), n),
    "Arrow's numbers with holes": lambda n: Capsule(pa.array([1, None, 3]), n),
    "Arrow's text": lambda n: Capsule(pa.array(["a", None, "b"]), n),
    "Arrow's dictionary": lambda n: Capsule(pa.array(["a", None]).dictionary_encode(), n),
}


@pytest.mark.parametrize("n", [2, 4, 2000, 200_000])
@pytest.mark.parametrize("kind", LIARS)
def test_a_column_that_is_not_as_long_as_it_says(kind: str, n: int) -> None:
    column = LIARS[kind](n)
    if n == 2 and kind == "Arrow's dictionary":
        column = LIARS[kind](3)
    y = np.arange(len(column)) % 2
    for X in ({"c": column}, {"first": np.arange(float(len(column))), "c": column}):
        with pytest.raises(
            ValueError, match=r"column 'c' has the length \d+, but contains \d+ values"
        ):
            TreeClassifier().fit(X, y)
    model = TreeClassifier().fit({"c": [1.0, 2.0]}, [0, 1])
    with pytest.raises(ValueError, match="column 'c' has the length"):
        model.predict({"c": column})


@pytest.mark.parametrize("n", [2, 2000])
@pytest.mark.parametrize("kind", LIARS)
def test_classes_and_weights_that_are_not_as_many_as_they_say(kind: str, n: int) -> None:
    X = np.arange(float(n))[:, np.newaxis]
    with pytest.raises((ValueError, TypeError), match=r"\by\b"):
        TreeClassifier().fit(X, LIARS[kind](n))
    with pytest.raises((ValueError, TypeError), match="sample_weight"):
        TreeClassifier().fit(X, np.arange(n) % 2, sample_weight=LIARS[kind](n))


def test_rows_that_are_not_as_long_as_they_say() -> None:
    with pytest.raises(ValueError, match="row 1 of X has the length 2, but contains 3 values"):
        TreeClassifier().fit([[1, 2], liar([1, 2, 3], 2)], [0, 1])
    with pytest.raises(ValueError, match="row 0 of X has the length 2, but contains 0 values"):
        TreeClassifier().fit([liar([], 2), [1, 2]], [0, 1])
    # The list of the rows is what it holds.
    with pytest.raises(ValueError, match="X has 2 rows, but y has 9 labels"):
        TreeClassifier().fit(liar([[1, 2], [2, 1]], 9), [0] * 9)


def test_codes_that_stand_for_no_label() -> None:
    column = Categorical(["a", "b", "a"])
    column.codes[1] = 1000
    with pytest.raises(ValueError, match="column 'c' is damaged: row 1 has the code 1000"):
        TreeClassifier().fit({"c": column}, [0, 1, 0])
