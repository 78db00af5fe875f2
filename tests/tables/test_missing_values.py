# SPDX-License-Identifier: BSD-3-Clause
"""Missing values of every sort in every container."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reading import (
    BOOLS,
    COLOURS,
    EMPTY,
    FLAGS,
    LEVELS,
    NUMBERS,
    SIZES,
    WEIGHTS,
    WORDS,
    Stream,
    codes_like,
    facts,
    one,
    schema_of,
)

from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.training import (
    MISSING_CODE,
    UNKNOWN_CODE,
    Categorical,
    Table,
    missing_value_error,
    read_table,
)

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
        for each in (table, *(read_table_for_schema({"a": column}, schema) for schema in schemas))
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
        codes = [known.index(value) + 1 if value in known else UNKNOWN_CODE for value in values]
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
    assert facts(read_table({"a": column})) == [("a", [0, 0], ())]
    assert one(column, ["a"]).categories == ()
    assert one(column, {"a": ["x"]}).categories == ("x",)


@pytest.mark.parametrize("column", NO_NUMBERS, ids=name_of)
def test_a_column_of_numbers_without_a_value_stays_numeric(column: Any) -> None:
    for chosen in ("from_dtype", None):
        found = one(column, chosen)
        assert found.categories is None
        assert found.values.dtype.kind == "f"
        assert np.isnan(found.values).tolist() == [True, True]
    assert facts(read_table({"a": column}, ["a"])) == [("a", [0, 0], ())]


@pytest.mark.parametrize("column", NO_BOOLS, ids=name_of)
def test_a_column_of_bools_without_a_value_has_both_levels(column: Any) -> None:
    assert facts(read_table({"a": column})) == [("a", [0, 0], (False, True))]


@pytest.mark.parametrize("column", NO_LEVELS + NO_NUMBERS + NO_BOOLS, ids=name_of)
def test_a_column_without_a_value_fits_every_model(column: Any) -> None:
    found = one(column, None)
    assert np.isnan(found.values).tolist() == [True, True]
    for unknown in ("missing", "error"):
        for schema in (WORDS, LEVELS, BOOLS, EMPTY):
            table = read_table_for_schema({"a": column}, schema, unknown=unknown)
            assert facts(table) == [("a", [0, 0], schema.attributes[0].categories)]
        table = read_table_for_schema({"a": column, "b": column}, NUMBERS, unknown=unknown)
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
        ("colour", 0, 2, 3, 1, ("blue", "green", "red")),
        ("size", 3.0, 99.0, 2.0, 2.0),
        ("weight", 0.5, 2.5, 99.0, 0.0),
        ("flag", 2, 1, 1, 0, (False, True)),
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
        assert with_gaps_facts(read_table_for_schema(X, schema)) == expected
    unnamed = [(f"x{place}", *column[1:]) for place, column in enumerate(expected)]
    for X in (rows, np.array(rows, dtype=object)):
        assert with_gaps_facts(read_table(X)) == unnamed
        assert with_gaps_facts(read_table_for_schema(X, schema)) == expected


def test_floats_with_nan_are_not_copied() -> None:
    values = np.array([1.0, NAN, 3.0, NAN])[::2]
    for column in (values, pd.Series(values, copy=False), pl.Series(values), pa.array(values)):
        schema = schema_of(read_table({"a": column}))
        found = one(column).values
        assert np.shares_memory(found, one(column).values)
        assert found.tolist() == [1.0, 3.0]
        assert (read_table_for_schema({"a": column}, schema).columns or ())[0].values is not None


def test_a_matrix_that_is_split_into_columns_keeps_its_nan() -> None:
    X = np.array([[2.0, 2.0], [1.0, NAN], [NAN, 1.0]])
    table = read_table(X, [0])
    first, second = table.columns or ()
    assert (first.codes.tolist(), first.categories) == ([2, 1, 0], (1.0, 2.0))
    assert np.shares_memory(second.values, X)
    schema = schema_of(read_table(X[1:], [0]))
    first, second = read_table_for_schema(X, schema).columns or ()
    assert first.codes.tolist() == [UNKNOWN_CODE, 1, MISSING_CODE]
    assert np.shares_memory(second.values, X)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint64, np.float32, ">f8"])
def test_a_masked_matrix(dtype: Any) -> None:
    under_the_mask = 1 if dtype in (bool, np.int8) else 2**60
    data = np.array([[1, under_the_mask], [0, 1]]).astype(dtype)
    masked = np.ma.masked_array(data, mask=[[False, True], [False, False]])
    before = data.copy()
    for table in (
        read_table(masked),
        read_table_for_schema(masked, schema_of(read_table(data > 0))),
    ):
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
    assert facts(read_table(masked)) == [("x0", [1, 2], ("a", "c")), ("x1", [0, 1], ("d",))]


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
    with pytest.raises(ValueError, match=r"column 'a' contains the integer -?\d+: beyond 2\*\*53"):
        read_table({"a": column})


def test_a_large_number_in_a_masked_matrix() -> None:
    masked = np.ma.masked_array([[1, 2**53 + 1]], mask=[[True, False]])
    with pytest.raises(ValueError, match=r"column 'x1' contains the integer 9007199254740993"):
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
    with pytest.raises(TypeError, match=r"'a' contains \['x'\] of type list in row 2"):
        read_table({"a": [None, NAN, ["x"], 1]})
    zoned = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    with pytest.raises(
        ValueError, match=r"'a' contains .* in row 2, which has a time zone, .* in row 1"
    ):
        read_table({"a": [None, zoned.replace(tzinfo=None), zoned]})
    assert one([np.datetime64("NaT"), zoned]).time == "instant"
    with pytest.raises(ValueError, match="finer than a microsecond in row 1"):
        read_table({"a": np.array(["NaT", 1001], dtype="M8[ns]")})
    for first_of_them in (None, NAN):
        with pytest.raises(ValueError, match=r"column 'a' is categorical, .* such as 'x'"):
            read_table({"a": [first_of_them, "x"]}, None)
        with pytest.raises(
            ValueError, match=r"column 'a' contains 'x' in row 1, .* \['y'\]: add it"
        ):
            read_table({"a": [first_of_them, "x"]}, {"a": ["y"]})


def test_declared_numbers_with_missing_values() -> None:
    for column in ([2, None, 1], np.array([2.0, NAN, 1.0]), pd.Series([2, None, 1], dtype="Int64")):
        assert facts(read_table({"a": column}, ["a"])) == [("a", [2, 0, 1], (1, 2))]
        levels = {"a": [2, 3, 1]}
        assert facts(read_table({"a": column}, levels)) == [("a", [1, 0, 3], (2, 3, 1))]
    many = np.array([NAN, 2.0, NAN, NAN, 1.0, 2.0])
    assert one(many, ["a"]).codes.tolist() == [0, 2, 0, 0, 1, 2]


def test_bools_with_missing_values_where_numbers_are_asked_for() -> None:
    for column in ([True, None, False], pl.Series([True, None, False])):
        found = one(column, None)
        np.testing.assert_array_equal(found.values, [1.0, NAN, 0.0])
        table = read_table_for_schema({"a": column, "b": column}, NUMBERS)
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
            ("s", [1, 2, 0], ("b", "c")),
            ("d", [3, 0, 3], ("c", "b", "a")),
        ]
    nothing_left = read_table(frame).take(np.array([2]))
    assert facts(nothing_left)[1:] == [("s", [0], ()), ("d", [3], ("c", "b", "a"))]


def test_some_rows_of_what_a_model_reads_keep_its_codes() -> None:
    table = read_table_for_schema({"a": ["blue", None, "pink"]}, WORDS)
    assert facts(table.take(np.array([0, 2]))) == [("a", [2, UNKNOWN_CODE], ("red", "blue"))]


@pytest.mark.parametrize("library", [pl.Series, pa.array, pd.Series])
def test_missing_words_cost_little(library: Any) -> None:
    from timeit import repeat

    rng = np.random.default_rng(0)
    words = np.array([f"word {i}" for i in range(1000)], dtype=object)[rng.integers(0, 1000, 10**5)]
    with_missing = words.copy()
    with_missing[::10] = None
    complete, gaps = library(words.tolist()), library(with_missing.tolist())
    assert one(gaps).codes.tolist()[::10] == [0] * 10**4
    times = [min(repeat(lambda c=c: one(c), number=1, repeat=9)) for c in (complete, gaps)]
    assert times[1] <= 1.5 * times[0] + 1e-3


def test_a_missing_value_error_for_those_who_allow_none() -> None:
    assert str(missing_value_error("column 'a'", 3)) == (
        "column 'a' has a missing value (NaN or None) in row 3: impute it or drop the row."
    )
    assert str(missing_value_error("y", 0, "give it a label")).endswith("row 0: give it a label.")


def test_labels_without_a_common_order() -> None:
    with pytest.raises(
        ValueError, match=r"Categorical has values of types that .* int \(1\) and str \('a"
    ):
        Categorical([1, "a"])
