# SPDX-License-Identifier: BSD-3-Clause
"""Every container gives the same table, and every bad table an error that says what to do."""

from __future__ import annotations

import datetime
import enum
import pickle
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fasttree.frames import (
    MISSING_CODE,
    UNKNOWN_CODE,
    Categorical,
    Table,
    missing_value_error,
    read_table,
    read_table_like,
)
from fasttree.schema import AttributeSchema, Schema

COLOURS = ["red", "green", "red", "blue"]
SIZES = [3, 1, 2, 2]
WEIGHTS = [0.5, 2.5, -1.0, 0.0]
FLAGS = [True, False, False, True]
DAYS = ["2020-01-01", "1969-12-31", "2020-01-02", "2255-01-01"]


def schema_of(table: Table) -> Schema:
    columns = table.columns or ()
    attributes = [AttributeSchema(c.name, c.categories, time=c.time) for c in columns]
    attributes = attributes or list(map(AttributeSchema, table.names))
    return Schema(tuple(attributes), np.array([0, 1]), table.named)


def facts(table: Table) -> list[tuple[Any, ...]]:
    """A table as plain values that == compares."""
    assert table.columns is not None
    found: list[tuple[Any, ...]] = []
    for column in table.columns:
        if column.categories is None:
            assert column.values is not None
            assert column.codes is None
            found.append((column.name, column.values.tolist()))
        else:
            assert column.codes is not None
            assert column.codes.dtype == np.int32
            assert column.values is None
            found.append((column.name, column.codes.tolist(), column.categories))
    return found


def one(column: Any, categorical_features: Any = "from_dtype") -> Any:
    """The only column of a table that has just that one."""
    table = read_table({"a": column}, categorical_features)
    assert table.columns is not None
    return table.columns[0]


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


class Stream:
    """Any object that speaks the Arrow PyCapsule interface, and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


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
    ("colour", [2, 1, 2, 0], ("blue", "green", "red")),
    ("size", [3, 1, 2, 2]),
    ("weight", [0.5, 2.5, -1.0, 0.0]),
    ("flag", [1, 0, 0, 1], (False, True)),
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
    assert facts(read_table_like(make(), schema)) == EXPECTED


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
    table = read_table_like(moved, schema)
    assert (table.n_rows, table.names, table.named) == (4, schema.names, True)
    assert facts(table) == EXPECTED
    # A model without names, or a table without names, goes by position.
    nameless = Schema(
        tuple(AttributeSchema(f"x{i}", a.categories) for i, a in enumerate(schema.attributes)),
        schema.classes,
        named=False,
    )
    assert facts(read_table_like(X, nameless))[0][1:] == EXPECTED[0][1:]
    assert facts(read_table(moved)) == [EXPECTED[place] for place in places]


def test_an_all_numeric_frame_in_another_order() -> None:
    frame = pd.DataFrame({name: np.arange(3.0) + place for place, name in enumerate("abc")})
    schema = schema_of(read_table(frame))
    for X in (frame, frame[["c", "a", "b"]], frame[["b", "a", "c"]].to_records(index=False)):
        assert facts(read_table_like(X, schema)) == facts(read_table(frame))
    matrix = frame[["c", "a", "b"]].to_numpy()
    table = read_table_like(matrix, schema)  # no names: by position
    assert table.matrix is matrix
    assert table.names == ("a", "b", "c")


def test_columns_in_any_order_are_not_copied() -> None:
    columns = {name: np.arange(3.0) for name in "abc"}
    schema = schema_of(read_table(columns))
    for names in ("abc", "cab"):
        found = read_table_like({name: columns[name] for name in names}, schema).columns or ()
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
        assert facts(read_table_like(X, schema)) == EXPECTED


def test_pandas_numbers_as_column_names_are_no_names() -> None:
    table = read_table(pd.DataFrame([[1, "a"], [2, "b"]]))
    assert not table.named
    assert table.names == ("x0", "x1")
    assert facts(read_table({0: [1, 2], 1: ["a", "b"]})) == facts(table)


def test_an_array_of_text_is_categorical_by_column() -> None:
    table = read_table(np.array([["a", "1"], ["b", "1"]]))
    assert facts(table) == [("x0", [0, 1], ("a", "b")), ("x1", [0, 0], ("1",))]


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
    assert read_table_like(X, schema_of(table)).matrix is X


def test_a_strided_view_and_a_memory_map_are_not_copied(tmp_path: Any) -> None:
    X = np.arange(24.0).reshape(4, 6)[::2, ::3]
    assert read_table(X).matrix is X
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    table = read_table(mapped)
    assert table.matrix is not None
    assert np.shares_memory(table.matrix, mapped)
    assert type(read_table_like(mapped, schema_of(table)).matrix) is np.ndarray


def test_odd_numbers_become_plain_ones() -> None:
    half = np.array([[1.5]], dtype=np.float16)
    foreign = np.array([[1.5]], dtype=">f8")
    extended = np.array([[1.5]], dtype=np.longdouble)
    for X, dtype in ((half, "float32"), (foreign, "float64"), (extended, "float64")):
        schema = schema_of(read_table(X))
        for table in (read_table(X), read_table_like(X, schema)):
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
    assert read_table_like(X, schema_of(read_table(X))).matrix is X
    assert one([np.inf, -np.inf]).values.tolist() == [np.inf, -np.inf]


def test_predict_on_a_matrix_does_not_open_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row at a time is how services predict: nothing may be asked of each of 2,000 columns."""
    schema = schema_of(read_table(np.zeros((1, 2000))))
    monkeypatch.setattr("fasttree.frames.open_container", None)
    X = np.zeros((1, 2000))
    assert read_table_like(X, schema).matrix is X


# -- columns ---------------------------------------------------------------------------------------


def test_numbers_as_objects() -> None:
    X = np.array([[1, 1.5, 2], [2, 1, Decimal("0.5")]], dtype=object)
    table = read_table(X)
    assert facts(table) == [("x0", [1, 2]), ("x1", [1.5, 1.0]), ("x2", [2.0, 0.5])]
    assert [column.values.dtype for column in table.columns or ()] == ["int64", "f8", "f8"]


def test_dates_are_microseconds_in_every_library() -> None:
    moments = np.array(DAYS, dtype="datetime64[us]")
    expected = moments.astype(np.int64).tolist()
    days = [datetime.date.fromisoformat(day) for day in DAYS]
    times = [datetime.datetime.fromisoformat(day) for day in DAYS]
    zoned = [moment.replace(tzinfo=datetime.UTC) for moment in times]
    naive: list[Any] = [
        moments,
        moments.astype("datetime64[ns]"),
        moments.astype("datetime64[D]"),
        moments.astype("datetime64[h]").astype(">M8[h]"),
        days,
        times,
        np.array(days, dtype=object),
        pd.Series(pd.to_datetime(DAYS)),
        pd.Series(days),
        pd.Series(times).astype("datetime64[s]"),
        pd.Series(days, dtype=pd.ArrowDtype(pa.date32())),
        pl.Series(days),
        pl.Series(times),
        pl.Series(times).cast(pl.Datetime("ns")),
        pa.array(days),
        pa.array(times),
    ]
    tokyo = datetime.timezone(datetime.timedelta(hours=9))
    with_a_zone: list[Any] = [
        zoned,
        [moment.astimezone(tokyo) for moment in zoned],
        pd.Series(zoned, dtype=object),
        pd.Series(pd.to_datetime(DAYS)).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        pd.Series(zoned, dtype=pd.ArrowDtype(pa.timestamp("us", "UTC"))),
        pl.Series(zoned).dt.convert_time_zone("Asia/Tokyo"),
        pa.array(zoned, type=pa.timestamp("ms", "Asia/Tokyo")),
    ]
    for kind, columns in (("datetime", naive), ("instant", with_a_zone)):
        for column in columns:
            assert one(column).values.tolist() == expected, repr(column)
            assert one(column).time == kind, repr(column)


def test_durations_are_microseconds_in_every_library() -> None:
    hours = [datetime.timedelta(hours=1), datetime.timedelta(hours=-2)]
    for column in (hours, pd.Series(hours), pl.Series(hours), pa.array(hours), np.array(hours)):
        assert one(column).values.tolist() == [3.6e9, -7.2e9]
        assert one(column).time == "duration"
    assert one(np.array([1, 2], dtype="m8[25s]")).values.tolist() == [25e6, 50e6]


def test_months_count_from_their_first_day() -> None:
    months = np.array(["2020-02", "1969-12"], dtype="M8[M]")
    days = [datetime.date(2020, 2, 1), datetime.date(1969, 12, 1)]
    assert one(months).values.tolist() == one(days).values.tolist()


def test_decimals_and_wide_integers() -> None:
    assert one(pl.Series([1, 2], dtype=pl.Decimal(5, 2))).values.tolist() == [1.0, 2.0]
    assert one(pa.array([Decimal("1.5")])).values.tolist() == [1.5]
    if hasattr(pl, "Int128"):
        assert one(pl.Series([1, 2], dtype=pl.Int128)).values.tolist() == [1.0, 2.0]
        with pytest.raises(
            ValueError, match=r"column 'a' holds the whole number \d+: beyond 2\*\*53"
        ):
            one(pl.Series([2**100], dtype=pl.Int128))


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["b", None, "a"], ["b", "a"]),
        pd.CategoricalIndex(["b", None, "a"], ["b", "a"]),
    ],
)
def test_pandas_categories_without_a_series(column: Any) -> None:
    assert facts(read_table({"a": column})) == [("a", [0, -1, 1], ("b", "a"))]


def test_pandas_arrays_without_a_series() -> None:
    for column in (pd.array([1, None, 3]), pd.Index([1, None, 3], dtype="Int64")):
        np.testing.assert_array_equal(one(column).values, [1, np.nan, 3])


LOW, MID, HIGH = "low", "mid", "high"


@pytest.mark.parametrize(
    "column",
    [
        Categorical([MID, HIGH], [LOW, MID, HIGH]),
        pd.Series(pd.Categorical([MID, HIGH], categories=[LOW, MID, HIGH])),
        pd.Series(pd.Categorical([MID, HIGH], categories=[LOW, MID, HIGH], ordered=True)),
        pd.Series([MID, HIGH], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        pl.Series([MID, HIGH], dtype=pl.Enum([LOW, MID, HIGH])),
        pa.DictionaryArray.from_arrays(np.array([1, 2]), [LOW, MID, HIGH]),
    ],
)
def test_declared_order_is_kept(column: Any) -> None:
    found = one(column)
    declared = (LOW, MID, HIGH) if len(found.categories) == 3 else (MID, HIGH)
    assert found.categories == declared
    assert [found.categories[code] for code in found.codes] == [MID, HIGH]


def test_the_order_of_a_polars_categorical_is_no_declared_one() -> None:
    pl.Series(["zebra", "ant"], dtype=pl.Categorical)  # other labels are in the pool first
    column = pl.Series(["zebra", "bee", "zebra"], dtype=pl.Categorical)
    assert facts(read_table({"a": column})) == [("a", [1, 0, 1], ("bee", "zebra"))]
    column = pl.Series(["zebra", None, "bee", None], dtype=pl.Categorical)
    assert facts(read_table({"a": column})) == [("a", [1, -1, 0, -1], ("bee", "zebra"))]


def test_arrow_dictionaries_of_several_chunks() -> None:
    one_part, other = (pa.array(part).dictionary_encode() for part in (["b", "a"], ["c", "a"]))
    assert facts(read_table({"a": pa.chunked_array([one_part, other])})) == [
        ("a", [0, 1, 2, 1], ("b", "a", "c"))
    ]


def test_arrow_dictionary_with_a_label_twice_and_an_unused_null() -> None:
    column = pa.DictionaryArray.from_arrays(np.array([0, 1, 3]), ["x", "x", None, "y"])
    assert facts(read_table({"a": column})) == [("a", [0, 0, 1], ("x", "y"))]


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view()])
def test_every_arrow_string(kind: Any) -> None:
    assert one(pa.array(["b", "a"], kind)).categories == ("a", "b")


def test_labels_are_plain_python_values() -> None:
    for column in (np.array(["b"], dtype=object), [np.str_("b")], pd.Series(["b"])):
        assert type(one(column).categories[0]) is str
    for numbers in (np.array([2, 1]), np.array([2, 1], dtype=np.float32), [True, False]):
        assert type(one(numbers, ["a"]).categories[0]) in (int, float, bool)


class Colour(str, enum.Enum):  # noqa: UP042  (its str is not its text)
    RED = "red"
    BLUE = "blue"


class Grade(enum.IntEnum):
    LOW = 1
    HIGH = 2


def test_members_of_an_enum_are_their_text_or_number() -> None:
    for words in (list(Colour), np.array(list(Colour), dtype=object), Categorical(list(Colour))):
        assert sorted(map(repr, one(words).categories)) == ["'blue'", "'red'"]
    assert one(list(Grade)).values.tolist() == [1, 2]
    for levels in (["a"], {"a": list(Grade)}):
        assert list(map(repr, one(list(Grade), levels).categories)) == ["1", "2"]
    assert codes_like(list(Colour), WORDS) == [0, 1]


@pytest.mark.parametrize(
    "library",
    [
        list,
        np.array,
        lambda values: np.array(values, dtype=object),
        lambda values: pd.Series(values, dtype="category"),
        lambda values: pa.array(values).dictionary_encode(),
        Categorical,
    ],
    ids=["list", "numpy", "objects", "pandas", "Arrow", "Categorical"],
)
def test_the_level_zero_has_no_sign(library: Any) -> None:
    """Or its text would depend on which row comes first."""
    for values in ([-0.0, 0.0, 1.0], [0.0, -0.0, 1.0]):
        found = one(library(values), ["a"])
        assert list(map(repr, found.categories)) == ["0.0", "1.0"]
        assert found.codes.tolist() == [0, 0, 1]
    assert list(map(repr, one([0.0], {"a": [-0.0]}).categories)) == ["0.0"]


def test_bool_columns_have_both_levels() -> None:
    assert one([True, True]).categories == (False, True)
    assert one(np.array([True]), ["a"]).categories == (False, True)
    assert one(np.array([True]), []).values.tolist() == [True]


def test_some_rows_are_a_table_as_if_the_others_were_not_there() -> None:
    frame = as_pandas()
    frame["declared"] = pd.Categorical(["a", "b", "a", "b"], ["c", "b", "a"])
    matrix = np.arange(8.0).reshape(4, 2)
    for rows in (np.array([0, 2, 3]), np.array([True, False, True, True])):
        found, expected = read_table(frame).take(rows), read_table(frame.iloc[[0, 2, 3]])
        assert (found.n_rows, found.names, found.named) == (3, expected.names, True)
        assert facts(found) == facts(expected)
        assert facts(found)[0] == ("colour", [1, 1, 0], ("blue", "red"))
        assert facts(found)[-1] == ("declared", [2, 2, 1], ("c", "b", "a"))
        found = read_table(matrix).take(rows)
        assert found.n_rows == 3
        assert found.matrix.tolist() == matrix[[0, 2, 3]].tolist()


# -- categorical_features --------------------------------------------------------------------------


def mixed_table() -> dict[str, Any]:
    return {"n": [3, 1, 2], "m": [0.5, 1.5, 0.5], "b": [True, False, True]}


@pytest.mark.parametrize("chosen", [["m"], [1], np.array([1]), [False, True, False], ("m",)])
def test_a_list_or_mask_says_exactly_which_columns_are_categorical(chosen: Any) -> None:
    assert facts(read_table(mixed_table(), chosen)) == [
        ("n", [3, 1, 2]),
        ("m", [0, 1, 0], (0.5, 1.5)),
        ("b", [True, False, True]),
    ]


def test_none_or_an_empty_list_makes_every_column_numeric() -> None:
    for chosen in (None, [], [False, False, False]):
        table = read_table(mixed_table(), chosen)
        assert [column.categories for column in table.columns or ()] == [None] * 3


def test_a_dict_declares_levels_and_leaves_the_others_to_their_dtype() -> None:
    table = read_table(mixed_table() | {"s": ["a", "b", "a"]}, {"n": [3, 2, 1, 0], "m": None})
    assert facts(table) == [
        ("n", [0, 2, 1], (3, 2, 1, 0)),
        ("m", [0, 1, 0], (0.5, 1.5)),
        ("b", [1, 0, 1], (False, True)),
        ("s", [0, 1, 0], ("a", "b")),
    ]


def test_declared_levels_override_the_order_of_a_category() -> None:
    column = pd.Categorical(["x", "y"], categories=["x", "y"])
    assert facts(read_table(pd.DataFrame({"a": column}), {"a": ["y", "x"]})) == [
        ("a", [1, 0], ("y", "x"))
    ]


def test_a_matrix_with_declared_columns() -> None:
    X = np.array([[5.0, 1.0], [3.0, 2.0], [5.0, 1.0]])
    table = read_table(X, [0])
    assert facts(table) == [("x0", [1, 0, 1], (3.0, 5.0)), ("x1", [1.0, 2.0, 1.0])]
    assert np.shares_memory((table.columns or ())[1].values, X)
    assert facts(read_table(X, {0: [5, 3]}))[0] == ("x0", [0, 1, 0], (5, 3))
    assert facts(read_table(X > 2, [0]))[1] == ("x1", [False, False, False])


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        (np.array([300, -5, 300], dtype=np.int16), (-5, 300)),
        (np.array([2**64 - 1, 2**63, 2**64 - 1], dtype=np.uint64), (2**63, 2**64 - 1)),
        (np.array([2**63 + 1, 2**63, 2**63 + 1], dtype=np.uint64), (2**63, 2**63 + 1)),
        (np.array([2**62, -(2**63), 2**62]), (-(2**63), 2**62)),
        (np.array([-(2**63) + 1, -(2**63), -(2**63) + 1]), (-(2**63), -(2**63) + 1)),
        (np.array([-100, -128, -100], dtype=np.int8), (-128, -100)),
        (np.array([0.0, -np.inf, -0.0]), (-np.inf, 0.0)),
    ],
)
def test_numbers_of_any_size_as_categories(values: np.ndarray, levels: tuple[Any, ...]) -> None:
    column = one(values, ["a"])
    assert column.categories == levels
    assert column.codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("chosen", "error", "words"),
    [
        ("n", ValueError, ["from_dtype", "'n'", "write ['n']"]),
        (3, TypeError, ["from_dtype", "got 3"]),
        (["q"], ValueError, ["column 'q'", "no such column", "['n', 'm', 'b']"]),
        ([3], ValueError, ["column number 3", "0 to 2"]),
        ([-1], ValueError, ["column number -1", "0 to 2"]),
        ([1.5], TypeError, ["names or column numbers", "1.5 of type float"]),
        ([0, True], TypeError, ["True of type bool"]),
        (["n", 0], ValueError, ["column 'n' twice", "once"]),
        ([True, False], ValueError, ["mask of 2 entries", "3 columns"]),
        ({"q": [1]}, ValueError, ["column 'q'"]),
        ({"n": [1, 2]}, ValueError, ["column 'n' holds 3 in row 0", "[1, 2]", "add it"]),
        ({"n": []}, ValueError, ["column 'n' is empty", "at least one level"]),
        ({"n": [1, 2, 3, 1.0]}, ValueError, ["column 'n' contain 1.0 twice", "once"]),
        ({"n": [1, None]}, ValueError, ["column 'n'", "missing value (None)", "leave it out"]),
        ({"n": [1, [2]]}, TypeError, ["column 'n'", "[2] of type list", "hashable"]),
        ({"n": "123"}, TypeError, ["column 'n' must be a list", "'123'"]),
    ],
)
def test_bad_categorical_features(chosen: Any, error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        read_table(mixed_table(), chosen)
    for word in words:
        assert word in str(caught.value)


def test_a_name_for_a_table_without_names() -> None:
    with pytest.raises(ValueError, match="column 'x0', but X has no column names: use column num"):
        read_table(np.zeros((2, 2)), ["x0"])


@pytest.mark.parametrize("column", [["a", "b"], Categorical([2, 1]), pl.Series(["a", "b"])])
def test_labels_in_a_column_that_must_be_numeric(column: Any) -> None:
    for chosen in (None, ["other"]):
        with pytest.raises(ValueError, match=r"column 'a' is categorical, .* \"from_dtype\""):
            read_table({"a": column, "other": [1, 2]}, chosen)


# -- ordered_features ------------------------------------------------------------------------------


def ordered_columns() -> dict[str, Any]:
    levels, values = [LOW, MID, HIGH], [MID, HIGH, MID, LOW]
    codes = np.array([1, 2, 1, 0])
    arrow = {
        ordered: pa.DictionaryArray.from_arrays(codes, levels, ordered=ordered)
        for ordered in (True, False)
    }
    return {
        "pandas ordered": pd.Categorical(values, levels, ordered=True),
        "pandas": pd.Categorical(values, levels),
        "series ordered": pd.Series(pd.Categorical(values, levels, ordered=True)),
        "arrow ordered": arrow[True],
        "arrow": arrow[False],
        "chunks ordered": pa.chunked_array([arrow[True], arrow[True].slice(0, 0)]),
        "arrow in pandas ordered": pd.Series(pd.arrays.ArrowExtensionArray(arrow[True])),
        "ours ordered": Categorical(values, levels, ordered=True),
        "ours": Categorical(values, levels),
        "enum": pl.Series(values, dtype=pl.Enum(levels)),
        "text": values,
        "number": [1.0, 2.0, 1.0, 0.0],
        "flag": [True, False, True, True],
    }


def names_of_ordered(table: Table) -> list[str]:
    return [column.name for column in table.columns or () if column.ordered]


def test_order_from_the_dtype() -> None:
    table = read_table(ordered_columns())
    assert names_of_ordered(table) == [name for name in table.names if name.endswith("ordered")]
    for column in table.columns or ():
        assert column.categories in ((LOW, MID, HIGH), (HIGH, LOW, MID), (False, True), None)
        assert not column.ordered or column.categories == (LOW, MID, HIGH)
    frame = pd.DataFrame({"a": ordered_columns()["pandas ordered"]})
    for X in (frame, pa.Table.from_pandas(frame), Stream(pa.Table.from_pandas(frame))):
        assert names_of_ordered(read_table(X)) == ["a"]


def test_no_order() -> None:
    for chosen in (None, [], [False] * len(ordered_columns())):
        table = read_table(ordered_columns(), "from_dtype", chosen)
        assert names_of_ordered(table) == []
        assert facts(table) == facts(read_table(ordered_columns()))


def test_chosen_columns_are_ordered_and_no_others() -> None:
    names = list(ordered_columns())
    for chosen in (
        ["text", "enum"],
        ("enum", "text"),
        np.array([9, 10]),
        [n in ("enum", "text") for n in names],
    ):
        table = read_table(ordered_columns(), ordered_features=chosen)
        assert names_of_ordered(table) == ["enum", "text"]
    by_name = {column.name: column.categories for column in table.columns or ()}
    assert by_name["enum"] == (LOW, MID, HIGH)
    assert by_name["text"] == (HIGH, LOW, MID)  # sorted, where nobody declares an order


def test_a_dict_declares_the_order_that_counts() -> None:
    levels = {"text": [LOW, MID, HIGH], "number": [2, 1, 0], "pandas ordered": [HIGH, MID, LOW]}
    table = read_table(ordered_columns(), levels, ["text", "number"])
    columns = {column.name: column for column in table.columns or ()}
    assert names_of_ordered(table) == ["text", "number"]
    assert columns["text"].categories == (LOW, MID, HIGH)
    assert columns["number"].categories == (2, 1, 0)
    table = read_table(ordered_columns(), levels)  # levels alone do not make a column ordered
    columns = {column.name: column for column in table.columns or ()}
    assert not columns["text"].ordered
    assert columns["pandas ordered"].ordered
    assert columns["pandas ordered"].categories == (HIGH, MID, LOW)


def test_ordered_columns_of_a_matrix() -> None:
    X = np.array([[5.0, 1.0], [3.0, 2.0]])
    table = read_table(X, [0], [0])
    assert [(c.categories, c.ordered) for c in table.columns or ()] == [
        ((3, 5), True),
        (None, False),
    ]
    assert read_table(X, ordered_features=[]).matrix is X


def test_order_lives_on_in_some_rows_and_in_what_a_model_reads() -> None:
    table = read_table(
        {"a": Categorical(["y", "x", "y"], ["y", "x"], ordered=True), "b": ["u", "v", "u"]}
    )
    assert names_of_ordered(table.take(np.array([0, 2]))) == ["a"]
    ordered = AttributeSchema("a", ("y", "x"), ordered=True)
    schema = Schema((ordered, AttributeSchema("b", ("u", "v"))), np.array([0, 1]), named=True)
    X = {"a": Categorical(["x"]), "b": Categorical(["u"], ordered=True)}
    assert names_of_ordered(read_table_like(X, schema)) == ["a"]
    assert ordered != AttributeSchema("a", ("y", "x"))


def test_ordered_columns_with_missing_values() -> None:
    for column in (
        Categorical([None, "x", "y"], ["y", "x"], ordered=True),
        pd.Categorical([None, "x", "y"], ["y", "x"], ordered=True),
        pa.DictionaryArray.from_arrays(pa.array([None, 1, 0]), ["y", "x"], ordered=True),
        pa.DictionaryArray.from_arrays(np.array([1, 2, 0]), ["y", None, "x"], ordered=True),
    ):
        found = one(column)
        assert found.ordered
        assert found.categories == ("y", "x")
        assert sorted(found.codes.tolist()) == [-1, 0, 1]


@pytest.mark.parametrize(
    ("chosen", "error", "words"),
    [
        (
            ["n"],
            ValueError,
            ["ordered_features names column 'n', which is numeric", "leave it out"],
        ),
        (
            [True, False, False],
            ValueError,
            ["column 'n', which is numeric", "categorical_features"],
        ),
        ("b", ValueError, ["ordered_features must be", '"from_dtype"', "got 'b'", "write ['b']"]),
        (3, TypeError, ["ordered_features must be", "got 3"]),
        (["q"], ValueError, ["ordered_features names column 'q'", "no such", "['n', 'm', 'b']"]),
        ([3], ValueError, ["ordered_features names the column number 3", "0 to 2"]),
        ([1.5], TypeError, ["ordered_features must hold column names or column numbers, got 1.5"]),
        (["b", 2], ValueError, ["ordered_features names column 'b' twice"]),
        ([True], ValueError, ["ordered_features is a mask of 1 entries", "3 columns"]),
        ({"b": [1]}, TypeError, ["got a dict", "levels in order in categorical_features"]),
    ],
)
def test_bad_ordered_features(chosen: Any, error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        read_table(mixed_table(), "from_dtype", chosen)
    for word in words:
        assert word in str(caught.value)


def test_a_matrix_has_no_ordered_columns_of_its_own() -> None:
    with pytest.raises(ValueError, match="ordered_features names column 'x1', which is numeric"):
        read_table(np.zeros((2, 2)), ordered_features=[1])
    with pytest.raises(ValueError, match="ordered_features names column 'a', which is numeric"):
        read_table({"a": [True, False]}, None, ["a"])


# -- bad tables ------------------------------------------------------------------------------------


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
        bad([[1, 2], 7], ValueError, "row 1 of X is 7", "list of 2", identifier="number as a row"),
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
            "all text",
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
            "int8 (1 in row 0) and bool (True in row 3). Turn",
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
            "column 'a' holds {'foo': 'bar'} of type dict in row 0",
            "argument must be a string, a bool, a date or a number",
            "columns of its own",
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
            "column 'a' holds Period",
            "text",
            identifier="period",
        ),
        bad(pl.DataFrame({"a": [[1]]}), TypeError, "'a'", "List(Int64)", identifier="polars list"),
        bad(pa.table({"a": [b"x"]}), TypeError, "'a'", "Binary", identifier="Arrow binary"),
        bad(
            {"a": [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), datetime.date(2020, 1, 1)]},
            ValueError,
            "column 'a'",
            "row 0, a time with a zone",
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


# -- missing values --------------------------------------------------------------------------------

NAN = np.nan
DAY = datetime.date(2020, 1, 1)
MIDNIGHT = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
DAY_VALUE = 1577836800e6
HIDDEN = [False, True, False]

XY = ["y", None, "x"], ("x", "y")
YX = ["y", None, "x"], ("y", "x")
YXZ = ["y", None, "x"], ("y", "x", "z")
NUMBERED = [3.0, None, 1.0], (3.0, 1.0)
FLAGGED = [True, None, False], (False, True)

# A column of three rows, the second of which is missing, and what it becomes: numbers, or values
# and their levels.
MISSING: list[tuple[Any, Any]] = [
    ([1.5, NAN, 3], [1.5, NAN, 3]),
    ([1, None, 3], [1, NAN, 3]),
    ([1, pd.NA, 3.5], [1, NAN, 3.5]),
    ([1, pd.NaT, 3], [1, NAN, 3]),
    ([Decimal(1), Decimal("NaN"), 3], [1, NAN, 3]),
    ([np.int8(1), np.float32("nan"), np.uint64(3)], [1, NAN, 3]),
    (np.array([1, NAN, 3], dtype=np.float32), [1, NAN, 3]),
    (np.array([1, NAN, 3], dtype=np.float16), [1, NAN, 3]),
    (np.array([1, NAN, 3], dtype=">f8"), [1, NAN, 3]),
    (np.array([1, None, 3], dtype=object), [1, NAN, 3]),
    (np.ma.masked_array([1, 2**60, 3], mask=HIDDEN), [1, NAN, 3]),
    (np.ma.masked_array([1, 2, 3], mask=HIDDEN, dtype=np.uint8), [1, NAN, 3]),
    (np.ma.masked_array([1.5, 2, NAN], mask=HIDDEN, dtype=np.float32), [1.5, NAN, NAN]),
    (pd.Series([1.5, NAN, 3]), [1.5, NAN, 3]),
    (pd.Series([1, None, 3], dtype="Int64"), [1, NAN, 3]),
    (pd.Series([1, None, 3], dtype="UInt8"), [1, NAN, 3]),
    (pd.Series([1, None, 3], dtype="Float32"), [1, NAN, 3]),
    (pd.Series([1, pd.NA, 3], dtype=object), [1, NAN, 3]),
    (pd.Series([1, None, 3], dtype=pd.ArrowDtype(pa.int64())), [1, NAN, 3]),
    (pd.Series([1, None, 3], dtype=pd.ArrowDtype(pa.float32())), [1, NAN, 3]),
    (pl.Series([1, None, 3]), [1, NAN, 3]),
    (pl.Series([1, None, 3], dtype=pl.UInt8), [1, NAN, 3]),
    (pl.Series([1.5, None, NAN]), [1.5, NAN, NAN]),
    (pl.Series([1.5, NAN, 3], dtype=pl.Float32), [1.5, NAN, 3]),
    (pl.Series([1, None, 3], dtype=pl.Decimal(5, 2)), [1, NAN, 3]),
    (pa.array([1, None, 3]), [1, NAN, 3]),
    (pa.array([1.5, None, NAN]), [1.5, NAN, NAN]),
    (pa.array([1, None, 3], pa.float32()), [1, NAN, 3]),
    (pa.chunked_array([[1], [None, 3]]), [1, NAN, 3]),
    (pa.array([Decimal(1), None, Decimal(3)]), [1, NAN, 3]),
    # times
    (np.array([DAY, "NaT", DAY], dtype="M8[D]"), [DAY_VALUE, NAN, DAY_VALUE]),
    (np.array([DAY, "NaT", DAY], dtype="M8[ns]"), [DAY_VALUE, NAN, DAY_VALUE]),
    (np.array([DAY, "NaT", DAY], dtype="M8[M]"), [DAY_VALUE, NAN, DAY_VALUE]),
    (np.array([1, "NaT", 3], dtype="m8[s]"), [1e6, NAN, 3e6]),
    (np.ma.masked_array([1, 2, 3], HIDDEN, dtype="m8[ns]") * 1000, [1, NAN, 3]),
    ([DAY, None, DAY], [DAY_VALUE, NAN, DAY_VALUE]),
    ([DAY, NAN, np.datetime64(DAY)], [DAY_VALUE, NAN, DAY_VALUE]),
    ([np.datetime64(DAY), np.datetime64("NaT"), DAY], [DAY_VALUE, NAN, DAY_VALUE]),
    ([datetime.timedelta(1), pd.NaT, datetime.timedelta(2)], [86400e6, NAN, 2 * 86400e6]),
    (pd.Series(pd.to_datetime([DAY, None, DAY])), [DAY_VALUE, NAN, DAY_VALUE]),
    (pd.Series(pd.to_datetime([DAY, None, DAY], utc=True)), [DAY_VALUE, NAN, DAY_VALUE]),
    (pd.Series([DAY, None, DAY]), [DAY_VALUE, NAN, DAY_VALUE]),
    (pd.Series([DAY, None, DAY], dtype=pd.ArrowDtype(pa.date32())), [DAY_VALUE, NAN, DAY_VALUE]),
    (pl.Series([DAY, None, DAY]), [DAY_VALUE, NAN, DAY_VALUE]),
    (pa.array([DAY, None, DAY]), [DAY_VALUE, NAN, DAY_VALUE]),
    (
        pa.array([MIDNIGHT, None, MIDNIGHT], pa.timestamp("ns", "Asia/Tokyo")),
        [DAY_VALUE, NAN, DAY_VALUE],
    ),
    # words
    (["y", None, "x"], XY),
    (["y", NAN, "x"], XY),
    (["y", pd.NA, "x"], XY),
    (["y", np.datetime64("NaT"), "x"], XY),
    (np.array(["y", None, "x"], dtype=object), XY),
    (np.array(["y", NAN, "x"], dtype=np.dtypes.StringDType(na_object=NAN)), XY),
    (np.ma.masked_array(["y", "hidden", "x"], mask=HIDDEN), XY),
    (Categorical(["y", None, "x"]), XY),
    (Categorical(["y", NAN, "x"], ["y", "x", "z"]), YXZ),
    (pd.Series(["y", None, "x"]), XY),
    (pd.Series(["y", None, "x"], dtype=object), XY),
    (pd.Series(["y", NAN, "x"], dtype=object), XY),
    (pd.Series(["y", pd.NaT, "x"], dtype=object), XY),
    (pd.Series(["y", pd.NA, "x"], dtype="string"), XY),
    (pd.Series(["y", None, "x"], dtype=pd.ArrowDtype(pa.string())), XY),
    (pd.Series(["y", None, "x"], dtype="category"), XY),
    (pd.Series(pd.Categorical(["y", None, "x"], ["y", "x", "z"])), YXZ),
    (pl.Series(["y", None, "x"]), XY),
    (pl.Series(["y", None, "x"], dtype=pl.Categorical), XY),
    (pl.Series(["y", None, "x"], dtype=pl.Enum(["y", "x", "z"])), YXZ),
    (pa.array(["y", None, "x"]), XY),
    (pa.array(["y", None, "x"], pa.string_view()), XY),
    (pa.chunked_array([["y"], [None, "x"]]), XY),
    (pa.array(["y", None, "x"]).dictionary_encode(), YX),
    (pa.DictionaryArray.from_arrays(pa.array([0, None, 1], pa.uint8()), ["y", "x", "z"]), YXZ),
    (pa.DictionaryArray.from_arrays(np.array([0, 1, 2]), ["y", None, "x"]), YX),
    (pa.DictionaryArray.from_arrays(np.array([0, 1, 2]), [3.0, NAN, 1.0]), NUMBERED),
    # bools
    ([True, None, False], FLAGGED),
    ([True, NAN, np.False_], FLAGGED),
    (np.array([True, None, False], dtype=object), FLAGGED),
    (np.ma.masked_array([True, True, False], mask=HIDDEN), FLAGGED),
    (pd.Series([True, None, False], dtype="boolean"), FLAGGED),
    (pd.Series([True, None, False], dtype=object), FLAGGED),
    (pd.Series([True, None, False], dtype=pd.ArrowDtype(pa.bool_())), FLAGGED),
    (pl.Series([True, None, False]), FLAGGED),
    (pa.array([True, None, False]), FLAGGED),
]


def name_of(value: Any) -> str | None:
    if isinstance(value, (list, tuple)):
        return "list" if isinstance(value, list) else "levels"
    return f"{type(value).__module__.partition('.')[0]}-{getattr(value, 'dtype', '')}"


@pytest.mark.parametrize(("column", "expected"), MISSING, ids=name_of)
def test_missing_values_of_every_sort(column: Any, expected: Any) -> None:
    """At fit, and as a model reads them that has seen them, and one that has seen one row only."""
    table = read_table({"a": column})
    schemas = schema_of(table), schema_of(table.take(np.array([0])))
    fit, seen, seen_one = (
        (each.columns or ())[0]
        for each in (table, *(read_table_like({"a": column}, schema) for schema in schemas))
    )
    if isinstance(expected, list):
        for each in (fit, seen, seen_one):
            assert each.categories is None
            assert each.values is not None
            assert each.values.dtype in (np.float32, np.float64)
            assert each.values.dtype.isnative
            np.testing.assert_array_equal(each.values, np.array(expected))
        return
    values, levels = expected
    fewer_levels = schemas[1].attributes[0].categories
    for each, known in ((fit, levels), (seen, levels), (seen_one, fewer_levels)):
        codes = [known.index(value) if value in known else UNKNOWN_CODE for value in values]
        codes[1] = MISSING_CODE
        assert each.categories == known
        assert each.values is None
        assert each.codes is not None
        assert each.codes.dtype == np.int32
        assert each.codes.tolist() == codes


NO_LEVELS: list[Any] = [
    [None, None],
    [None, NAN],
    (pd.NA, pd.NaT),
    np.array([None, None]),
    np.array([NAN, NAN], dtype=object),
    np.ma.masked_array(["x", "y"], mask=True),
    Categorical([None, NAN]),
    pd.Series([None, None], dtype=object),
    pd.Series([NAN, NAN], dtype=object),
    pd.Series([None, None], dtype="string"),
    pd.Series([None, None], dtype="category"),
    pd.Series([None, None], dtype=pd.ArrowDtype(pa.null())),
    pl.Series([None, None]),
    pl.Series([None, None], dtype=pl.String),
    pl.Series([None, None], dtype=pl.Categorical),
    pa.array([None, None]),
    pa.array([None, None], pa.string()),
    pa.array([None, None], pa.string()).dictionary_encode(),
]
NO_NUMBERS: list[Any] = [
    [NAN, NAN],
    np.array([NAN, NAN], dtype=np.float32),
    np.array(["NaT", "NaT"], dtype="M8"),
    np.array(["NaT", "NaT"], dtype="m8[ns]"),
    np.ma.masked_array([1, 2], mask=True),
    pd.Series([NAN, NAN]),
    pd.Series([None, None], dtype="Int64"),
    pd.Series([None, None], dtype=pd.ArrowDtype(pa.date32())),
    pd.Series(pd.to_datetime([None, None])),
    pl.Series([None, None], dtype=pl.Int8),
    pl.Series([None, None], dtype=pl.Decimal(5, 2)),
    pl.Series([None, None], dtype=pl.Date),
    pa.array([None, None], pa.int64()),
    pa.array([None, None], pa.duration("s")),
]
NO_BOOLS: list[Any] = [
    np.ma.masked_array([True, True], mask=True),
    pd.Series([None, None], dtype="boolean"),
    pl.Series([None, None], dtype=pl.Boolean),
    pa.array([None, None], pa.bool_()),
]


@pytest.mark.parametrize("column", NO_LEVELS, ids=name_of)
def test_a_column_without_a_value_has_no_levels(column: Any) -> None:
    assert facts(read_table({"a": column})) == [("a", [-1, -1], ())]
    assert one(column, ["a"]).categories == ()
    assert one(column, {"a": ["x"]}).categories == ("x",)


@pytest.mark.parametrize("column", NO_NUMBERS, ids=name_of)
def test_a_column_of_numbers_without_a_value_stays_numeric(column: Any) -> None:
    for chosen in ("from_dtype", None):
        found = one(column, chosen)
        assert found.categories is None
        assert found.values.dtype.kind == "f"
        assert np.isnan(found.values).tolist() == [True, True]
    assert facts(read_table({"a": column}, ["a"])) == [("a", [-1, -1], ())]


@pytest.mark.parametrize("column", NO_BOOLS, ids=name_of)
def test_a_column_of_bools_without_a_value_has_both_levels(column: Any) -> None:
    assert facts(read_table({"a": column})) == [("a", [-1, -1], (False, True))]


@pytest.mark.parametrize("column", NO_LEVELS + NO_NUMBERS + NO_BOOLS, ids=name_of)
def test_a_column_without_a_value_fits_every_model(column: Any) -> None:
    found = one(column, None)
    assert np.isnan(found.values).tolist() == [True, True]
    for unknown in ("missing", "error"):
        for schema in (WORDS, LEVELS, BOOLS, EMPTY):
            table = read_table_like({"a": column}, schema, unknown=unknown)
            assert facts(table) == [("a", [-1, -1], schema.attributes[0].categories)]
        table = read_table_like({"a": column, "b": column}, NUMBERS, unknown=unknown)
        for each in table.columns or ():
            assert each.categories is None
            assert each.values is not None
            assert np.isnan(each.values).tolist() == [True, True]


def test_every_value_is_unknown_to_a_model_that_has_seen_none() -> None:
    for column in (["x", None], [1.5, NAN], [True, None]):
        assert codes_like(column, EMPTY) == [UNKNOWN_CODE, MISSING_CODE]


def with_gaps() -> dict[str, Any]:
    """The table of every container with a missing value in each column."""
    lists: dict[str, Any] = {"colour": COLOURS, "size": SIZES, "weight": WEIGHTS, "flag": FLAGS}
    return {
        name: [None if row == place else value for row, value in enumerate(values)]
        for place, (name, values) in enumerate(lists.items())
    }


def with_gaps_facts(table: Table) -> list[tuple[Any, ...]]:
    """Facts that == compares although there is a NaN among them."""
    found = facts(table)
    return [(name, *np.nan_to_num(values, nan=99).tolist(), *rest) for name, values, *rest in found]


def test_missing_values_of_every_container() -> None:
    columns = with_gaps()
    rows = list(zip(*columns.values(), strict=True))
    frame = pd.DataFrame(columns)
    expected = [
        ("colour", -1, 1, 2, 0, ("blue", "green", "red")),
        ("size", 3.0, 99.0, 2.0, 2.0),
        ("weight", 0.5, 2.5, 99.0, 0.0),
        ("flag", 1, 0, 0, -1, (False, True)),
    ]
    tables = [
        columns,
        {name: np.array(values, dtype=object) for name, values in columns.items()},
        frame,
        frame.astype(object),
        frame.convert_dtypes(),
        frame.convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame(columns),
        pa.table(columns),
        pa.table(columns).to_batches()[0],
        Stream(pa.table(columns)),
        np.array(rows, dtype=[(name, object) for name in columns]),
    ]
    schema = schema_of(read_table(columns))
    for X in tables:
        assert with_gaps_facts(read_table(X)) == expected
        assert with_gaps_facts(read_table_like(X, schema)) == expected
    unnamed = [(f"x{place}", *column[1:]) for place, column in enumerate(expected)]
    for X in (rows, np.array(rows, dtype=object)):
        assert with_gaps_facts(read_table(X)) == unnamed
        assert with_gaps_facts(read_table_like(X, schema)) == expected


def test_floats_with_nan_are_not_copied() -> None:
    values = np.array([1.0, NAN, 3.0, NAN])[::2]
    for column in (values, pd.Series(values, copy=False), pl.Series(values), pa.array(values)):
        schema = schema_of(read_table({"a": column}))
        found = one(column).values
        assert np.shares_memory(found, one(column).values)
        assert found.tolist() == [1.0, 3.0]
        assert (read_table_like({"a": column}, schema).columns or ())[0].values is not None


def test_a_matrix_that_is_split_into_columns_keeps_its_nan() -> None:
    X = np.array([[2.0, 2.0], [1.0, NAN], [NAN, 1.0]])
    table = read_table(X, [0])
    first, second = table.columns or ()
    assert (first.codes.tolist(), first.categories) == ([1, 0, -1], (1.0, 2.0))
    assert np.shares_memory(second.values, X)
    schema = schema_of(read_table(X[1:], [0]))
    first, second = read_table_like(X, schema).columns or ()
    assert first.codes.tolist() == [UNKNOWN_CODE, 0, MISSING_CODE]
    assert np.shares_memory(second.values, X)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint64, np.float32, ">f8"])
def test_a_masked_matrix(dtype: Any) -> None:
    under_the_mask = 1 if dtype in (bool, np.int8) else 2**60
    data = np.array([[1, under_the_mask], [0, 1]]).astype(dtype)
    masked = np.ma.masked_array(data, mask=[[False, True], [False, False]])
    before = data.copy()
    for table in (read_table(masked), read_table_like(masked, schema_of(read_table(data > 0)))):
        assert table.matrix is not None
        assert type(table.matrix) is np.ndarray
        assert table.matrix.dtype == (np.float32 if dtype is np.float32 else np.float64)
        np.testing.assert_array_equal(table.matrix, [[1, NAN], [0, 1]])
    assert np.array_equal(data, before)
    rows = list(masked)
    assert np.isnan((read_table([rows[1], rows[0]], None).columns or ())[1].values[1])
    assert type(read_table(np.ma.masked_array(data > 0)).matrix) is np.ndarray


def test_a_masked_matrix_of_text() -> None:
    masked = np.ma.masked_array([["a", "b"], ["c", "d"]], mask=[[False, True], [False, False]])
    assert facts(read_table(masked)) == [("x0", [0, 1], ("a", "c")), ("x1", [-1, 0], ("d",))]


@pytest.mark.parametrize(
    "column",
    [
        [2**53 + 1, None],
        [NAN, 2**53 + 1],
        [None, -(2**53) - 1],
        np.ma.masked_array([2**53 + 1, 1], mask=[False, True]),
        pd.Series([None, 2**53 + 1], dtype="Int64"),
        pd.Series([-(2**53) - 1, None], dtype="Int64"),
        pd.Series([2**53 + 1, None], dtype=pd.ArrowDtype(pa.uint64())),
        pl.Series([None, 2**53 + 1]),
        pl.Series([2**63 + 1, None], dtype=pl.UInt64),
        pl.Series([-(2**63), None]),
        pa.array([None, 2**53 + 1]),
    ],
    ids=name_of,
)
def test_large_numbers_among_missing_values(column: Any) -> None:
    with pytest.raises(
        ValueError, match=r"column 'a' holds the whole number -?\d+: beyond 2\*\*53"
    ):
        read_table({"a": column})


def test_a_large_number_in_a_masked_matrix() -> None:
    masked = np.ma.masked_array([[1, 2**53 + 1]], mask=[[True, False]])
    with pytest.raises(ValueError, match=r"column 'x1' holds the whole number 9007199254740993"):
        read_table(masked)


def test_the_largest_numbers_among_missing_values() -> None:
    for column in (
        [None, 2**53],
        pl.Series([None, 2**53]),
        pd.Series([None, 2**53], dtype="Int64"),
    ):
        assert one(column).values.tolist()[1] == 2**53


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([None, "x", 1], ["mixes types", "str ('x' in row 1)", "int (1 in row 2)"]),
        ([NAN, True, "x"], ["bool (True in row 1)", "str ('x' in row 2)"]),
        ([pd.NA, "x", 1.5, NAN], ["str ('x' in row 1)", "float (1.5 in row 2)"]),
        (pd.Series([None, "x", 1]), ["str ('x' in row 1)", "int (1 in row 2)"]),
    ],
)
def test_mixed_types_are_told_without_the_missing_values(column: Any, words: list[str]) -> None:
    with pytest.raises(ValueError, match="column 'a' mixes types") as caught:
        read_table({"a": column})
    for word in words:
        assert word in str(caught.value)
    assert "None" not in str(caught.value)


def test_other_errors_tell_the_row_among_missing_values() -> None:
    with pytest.raises(TypeError, match=r"'a' holds \['x'\] of type list in row 2"):
        read_table({"a": [None, NAN, ["x"], 1]})
    zoned = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    with pytest.raises(ValueError, match=r"'a' holds .* in row 2, a time with a zone, .* in row 1"):
        read_table({"a": [None, zoned.replace(tzinfo=None), zoned]})
    assert one([np.datetime64("NaT"), zoned]).time == "instant"
    with pytest.raises(ValueError, match="finer than a microsecond in row 1"):
        read_table({"a": np.array(["NaT", 1001], dtype="M8[ns]")})
    for first_of_them in (None, NAN):
        with pytest.raises(ValueError, match=r"column 'a' is categorical, .* such as 'x'"):
            read_table({"a": [first_of_them, "x"]}, None)
        with pytest.raises(ValueError, match=r"column 'a' holds 'x' in row 1, .* \['y'\]: add it"):
            read_table({"a": [first_of_them, "x"]}, {"a": ["y"]})


def test_declared_numbers_with_missing_values() -> None:
    for column in ([2, None, 1], np.array([2.0, NAN, 1.0]), pd.Series([2, None, 1], dtype="Int64")):
        assert facts(read_table({"a": column}, ["a"])) == [("a", [1, -1, 0], (1, 2))]
        levels = {"a": [2, 3, 1]}
        assert facts(read_table({"a": column}, levels)) == [("a", [0, -1, 2], (2, 3, 1))]
    many = np.array([NAN, 2.0, NAN, NAN, 1.0, 2.0])
    assert one(many, ["a"]).codes.tolist() == [-1, 1, -1, -1, 0, 1]


def test_bools_with_missing_values_where_numbers_are_asked_for() -> None:
    for column in ([True, None, False], pl.Series([True, None, False])):
        found = one(column, None)
        np.testing.assert_array_equal(found.values, [1.0, NAN, 0.0])
        table = read_table_like({"a": column, "b": column}, NUMBERS)
        for each in table.columns or ():
            np.testing.assert_array_equal(each.values, [1.0, NAN, 0.0])
        assert one(column, ["a"]).categories == (False, True)


def test_some_rows_of_a_table_with_missing_values() -> None:
    frame = pd.DataFrame({"n": [1.0, None, 3.0, 4.0], "s": ["b", "c", None, "a"]})
    frame["d"] = pd.Categorical(["a", None, "a", "b"], ["c", "b", "a"])
    for rows in (np.array([0, 1, 2]), np.array([True, True, True, False])):
        found = read_table(frame).take(rows)
        assert with_gaps_facts(found) == with_gaps_facts(read_table(frame.iloc[:3]))
        assert facts(found)[1:] == [
            ("s", [0, 1, -1], ("b", "c")),
            ("d", [2, -1, 2], ("c", "b", "a")),
        ]
    nothing_left = read_table(frame).take(np.array([2]))
    assert facts(nothing_left)[1:] == [("s", [-1], ()), ("d", [2], ("c", "b", "a"))]


def test_some_rows_of_what_a_model_reads_keep_its_codes() -> None:
    table = read_table_like({"a": ["blue", None, "pink"]}, WORDS)
    assert facts(table.take(np.array([0, 2]))) == [("a", [1, UNKNOWN_CODE], ("red", "blue"))]


@pytest.mark.parametrize("library", [pl.Series, pa.array, pd.Series])
def test_missing_words_cost_little(library: Any) -> None:
    from timeit import repeat

    rng = np.random.default_rng(0)
    words = np.array([f"word {i}" for i in range(1000)], dtype=object)[rng.integers(0, 1000, 10**5)]
    with_missing = words.copy()
    with_missing[::10] = None
    complete, gaps = library(words.tolist()), library(with_missing.tolist())
    assert one(gaps).codes.tolist()[::10] == [-1] * 10**4
    times = [min(repeat(lambda c=c: one(c), number=1, repeat=9)) for c in (complete, gaps)]
    assert times[1] <= 1.5 * times[0] + 1e-3


def test_a_missing_value_error_for_those_who_allow_none() -> None:
    assert str(missing_value_error("column 'a'", 3)) == (
        "column 'a' has a missing value (NaN or None) in row 3: fill it in or drop the row."
    )
    assert str(missing_value_error("y", 0, "give it a label")).endswith("row 0: give it a label.")


def test_labels_without_a_common_order() -> None:
    with pytest.raises(ValueError, match=r"Categorical has labels that .* int \(1\) and str \('a"):
        Categorical([1, "a"])


# -- predict ---------------------------------------------------------------------------------------

NUMBERS = Schema((AttributeSchema("a"), AttributeSchema("b")), np.array([0, 1]), named=True)
WORDS = Schema((AttributeSchema("a", ("red", "blue")),), np.array([0, 1]), named=True)
LEVELS = Schema((AttributeSchema("a", (1, 2, 10)),), np.array([0, 1]), named=True)
BOOLS = Schema((AttributeSchema("a", (False, True)),), np.array([0, 1]), named=True)
EMPTY = Schema((AttributeSchema("a", ()),), np.array([0, 1]), named=True)


def codes_like(column: Any, schema: Schema) -> list[int]:
    table = read_table_like({"a": column}, schema)
    assert table.columns is not None
    assert table.columns[0].categories is schema.attributes[0].categories
    codes = table.columns[0].codes
    assert codes is not None
    assert codes.dtype == np.int32
    return codes.tolist()


@pytest.mark.parametrize("X", [np.zeros((2, 3)), [[1, 2, 3]], pd.DataFrame([[1, 2, 3]])])
def test_another_number_of_columns(X: Any) -> None:
    for schema in (NUMBERS, Schema(NUMBERS.attributes, NUMBERS.classes, named=False)):
        with pytest.raises(
            ValueError,
            match=r"^X has 3 features, but TreeClassifier is expecting 2 features as inp",
        ):
            read_table_like(X, schema, "TreeClassifier")
    named = pd.DataFrame({"a": [1], "b": [1], "c": [1]})
    with pytest.raises(ValueError, match="X has 3 features, but the model is expecting 2 features"):
        read_table_like(named, Schema(NUMBERS.attributes, NUMBERS.classes, named=False))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ["a", "c"],
            "Feature names unseen at fit time:\n- c\n"
            "Feature names seen at fit time, yet now missing:\n- b\n",
        ),
        (["a"], "Feature names seen at fit time, yet now missing:\n- b\n"),
        (["a", "b", "c"], "Feature names unseen at fit time:\n- c\n"),
        (
            ["a", "b", *"tuvwxyz"],
            "Feature names unseen at fit time:\n- t\n- u\n- v\n- w\n- x\n- ...\n",
        ),
    ],
)
def test_other_names(names: list[str], message: str) -> None:
    head = "The feature names should match those that were passed during fit.\n"
    for X in (pd.DataFrame([[0] * len(names)], columns=names), {name: [0] for name in names}):
        with pytest.raises(ValueError, match="feature names") as caught:
            read_table_like(X, NUMBERS)
        assert str(caught.value) == head + message


def test_names_on_one_side_only_are_allowed() -> None:
    assert read_table_like(np.zeros((1, 2)), NUMBERS).names == ("a", "b")
    unnamed = schema_of(read_table(np.zeros((1, 2))))
    table = read_table_like(pd.DataFrame({"a": [1], "b": [2]}), unnamed)
    assert table.names == ("x0", "x1")
    assert not table.named


def test_labels_unknown_to_the_model() -> None:
    column = ["blue", "green", "red"]
    for values in (
        column,
        np.array(column),
        Categorical(column),
        pd.Series(column),
        pd.Series(column, dtype="category"),
        pl.Series(column),
        pl.Series(column, dtype=pl.Enum(["pink", *column])),
        pa.array(column).dictionary_encode(),
    ):
        assert codes_like(values, WORDS) == [1, UNKNOWN_CODE, 0]


@pytest.mark.parametrize(
    ("column", "schema", "value", "row"),
    [
        (["red", None, "green"], WORDS, "'green'", 2),
        (pl.Series(["red", None, "green"]), WORDS, "'green'", 2),
        (pd.Series(["green", "pink"], dtype="category"), WORDS, "'green'", 0),
        (np.array([np.nan, 1.0, 7.0]), LEVELS, "7.0", 2),
        ([None, "x"], EMPTY, "'x'", 1),
    ],
)
def test_labels_unknown_to_the_model_as_an_error(
    column: Any, schema: Schema, value: str, row: int
) -> None:
    for unknown in ("missing", "majority"):
        table = read_table_like({"a": column}, schema, unknown=unknown)
        assert (table.columns or ())[0].codes[row] == UNKNOWN_CODE
    with pytest.raises(ValueError, match="not seen at fit") as caught:
        read_table_like({"a": column}, schema, unknown="error")
    for word in (f"column 'a' holds {value} in row {row}", 'unknown="missing"', '"majority"'):
        assert word in str(caught.value)
    with pytest.raises(ValueError, match="column 'a' holds 'green' in row 0"):
        read_table_like([["green"]], WORDS, "TreeClassifier", "error")


@pytest.mark.parametrize(
    "values",
    [
        [10, 1, 3],
        [10.0, 1.0, 1.5],
        np.array([10, 1, 3], dtype=np.uint8),
        pd.Series([10, 1, 3], dtype="category"),
        pd.Series([10, 1, 3], dtype="Int64"),
        pl.Series([10.0, 1.0, 3.0], dtype=pl.Float32),
    ],
)
def test_numeric_levels_match_by_value(values: Any) -> None:
    assert codes_like(values, LEVELS) == [2, 0, UNKNOWN_CODE]
    matrix = np.array([[10.0], [1.0], [3.0]])
    assert (read_table_like(matrix, LEVELS).columns or ())[0].codes.tolist() == [2, 0, -2]


def test_bools_and_numbers_match_by_value() -> None:
    assert codes_like([1, 0, 2], BOOLS) == [1, 0, UNKNOWN_CODE]
    assert codes_like([True, False], LEVELS) == [0, UNKNOWN_CODE]
    assert codes_like(np.array([1.0, 0.0]), BOOLS) == [1, 0]
    flags = read_table_like({"a": [True, False], "b": [1, 2]}, NUMBERS)
    assert facts(flags) == [("a", [True, False]), ("b", [1, 2])]


@pytest.mark.parametrize(
    ("column", "schema", "words"),
    [
        (["red"], NUMBERS, ["column 'a' was numeric at fit", "'red'", "pass numbers"]),
        (
            pd.Series([1], dtype="category"),
            NUMBERS,
            ["'a' was numeric at fit, but now holds categories such as 1", ".astype(float)"],
        ),
        ([1], WORDS, ["column 'a' was categorical at fit", "'red'", "such as 1", "number"]),
        (np.array([1.5]), WORDS, ["column 'a' was categorical at fit", "1.5", "instead of text"]),
        ([True], WORDS, ["column 'a' was categorical at fit", "True (bool instead of text)"]),
        (["x"], BOOLS, ["column 'a' was categorical at fit", "'x' (text instead of bool)"]),
        (["1"], LEVELS, ["column 'a' was categorical at fit", "such as 1", "'1'", "text instead"]),
        ([None, 1.5], WORDS, ["column 'a' was categorical at fit", "such as 1.5 (number"]),
        (pd.Series([1], dtype="category"), WORDS, ["column 'a' was categorical at fit"]),
    ],
)
def test_another_kind_of_column(column: Any, schema: Schema, words: list[str]) -> None:
    table = {"a": column, "b": [0]} if schema is NUMBERS else {"a": column}
    with pytest.raises(ValueError, match="column 'a'") as caught:
        read_table_like(table, schema)
    for word in words:
        assert word in str(caught.value)


def test_words_after_a_missing_value_for_a_model_of_numbers() -> None:
    with pytest.raises(ValueError, match=r"column 'b' was numeric at fit, .* such as 'red'"):
        read_table_like({"a": [1, None], "b": [None, "red"]}, NUMBERS)


def test_a_numeric_array_for_a_model_of_words() -> None:
    with pytest.raises(ValueError, match="column 'a' was categorical at fit"):
        read_table_like(np.zeros((2, 1)), WORDS)


def test_no_rows_at_predict() -> None:
    for X in (np.zeros((0, 2)), pd.DataFrame({"a": [], "b": []})):
        with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 2\)\)"):
            read_table_like(X, NUMBERS)
    with pytest.raises(ValueError, match="Reshape your data"):
        read_table_like(np.zeros(2), NUMBERS)


def test_schemas_do_not_get_mixed_up() -> None:
    """The facts about a schema are kept between calls, for a few schemas at a time."""
    X = {"a": ["u", "v"]}
    for turn in range(50):
        levels = ("u", "v") if turn % 2 else ("v", "u")
        schema = Schema((AttributeSchema("a", levels),), np.array([0]), named=True)
        assert codes_like(X["a"], schema) == ([0, 1] if turn % 2 else [1, 0])


def test_many_levels() -> None:
    labels = np.array([f"level {i:05d}" for i in range(50_000)])
    rng = np.random.default_rng(0)
    expected = rng.permutation(len(labels))
    for column in (labels[expected], pl.Series(labels[expected]), pa.array(labels[expected])):
        found = one(column)
        assert tuple(found.categories) == tuple(labels.tolist())
        assert np.array_equal(found.codes, expected)


# -- Categorical -----------------------------------------------------------------------------------


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
    assert sizes.codes.tolist() == [0, MISSING_CODE, 2]
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


# -- nothing is imported that the user has not imported ---------------------------------------------

IMPORTS = """
import sys
import numpy as np
from fasttree.frames import Categorical, read_table, read_table_like, read_target, read_weights
{prepare}
read_table({table})
others = {{"narwhals", "pandas", "polars", "pyarrow", "sklearn", "scipy"}}
print(sorted(others & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("prepare", "table", "loaded"),
    [
        ("read_target(['a', 'b'], 2); read_weights([1, 2], 2)", "[['a', 1.5]]", "[]"),
        ("", "{'a': np.array([1, 2]), 'b': Categorical(['x', 'y'])}", "[]"),
        ("import polars", "polars.DataFrame({'a': ['x']})", "['narwhals', 'polars']"),
    ],
)
def test_nothing_is_imported_behind_the_users_back(prepare: str, table: str, loaded: str) -> None:
    code = IMPORTS.format(prepare=prepare, table=table)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == loaded, done.stderr


def test_an_arrow_stream_without_a_library_that_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    X = as_arrow_stream()
    read_table(X)
    for library in ("pyarrow", "polars", "pandas"):
        monkeypatch.delitem(sys.modules, library)
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # forbids to import it
    with pytest.raises(TypeError, match=r"Stream that speaks Arrow.*import pyarrow or polars"):
        read_table(X)
