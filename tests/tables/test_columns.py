# SPDX-License-Identifier: BSD-3-Clause
"""One column of any library: numbers, times, or labels in an order."""

from __future__ import annotations

import datetime
import enum
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reading import HIGH, LOW, MID, WORDS, codes_like, facts, one

from fasttree.tables.training import Categorical, read_table

DAYS = ["2020-01-01", "1969-12-31", "2020-01-02", "2255-01-01"]


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
            ValueError, match=r"column 'a' contains the integer \d+: beyond 2\*\*53"
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
    assert facts(read_table({"a": column})) == [("a", [1, 0, 2], ("b", "a"))]


def test_pandas_arrays_without_a_series() -> None:
    for column in (pd.array([1, None, 3]), pd.Index([1, None, 3], dtype="Int64")):
        np.testing.assert_array_equal(one(column).values, [1, np.nan, 3])


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
    assert [found.categories[code - 1] for code in found.codes] == [MID, HIGH]


def test_the_order_of_a_polars_categorical_is_no_declared_one() -> None:
    pl.Series(["zebra", "ant"], dtype=pl.Categorical)  # other labels are in the pool first
    column = pl.Series(["zebra", "bee", "zebra"], dtype=pl.Categorical)
    assert facts(read_table({"a": column})) == [("a", [2, 1, 2], ("bee", "zebra"))]
    column = pl.Series(["zebra", None, "bee", None], dtype=pl.Categorical)
    assert facts(read_table({"a": column})) == [("a", [2, 0, 1, 0], ("bee", "zebra"))]


def test_arrow_dictionaries_of_several_chunks() -> None:
    one_part, other = (pa.array(part).dictionary_encode() for part in (["b", "a"], ["c", "a"]))
    assert facts(read_table({"a": pa.chunked_array([one_part, other])})) == [
        ("a", [1, 2, 3, 2], ("b", "a", "c"))
    ]


def test_arrow_dictionary_with_a_label_twice_and_an_unused_null() -> None:
    column = pa.DictionaryArray.from_arrays(np.array([0, 1, 3]), ["x", "x", None, "y"])
    assert facts(read_table({"a": column})) == [("a", [1, 1, 2], ("x", "y"))]


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
    assert codes_like(list(Colour), WORDS) == [1, 2]


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
        assert found.codes.tolist() == [1, 1, 2]
    assert list(map(repr, one([0.0], {"a": [-0.0]}).categories)) == ["0.0"]


def test_bool_columns_have_both_levels() -> None:
    assert one([True, True]).categories == (False, True)
    assert one(np.array([True]), ["a"]).categories == (False, True)
    assert one(np.array([True]), []).values.tolist() == [True]
