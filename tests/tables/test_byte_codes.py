# SPDX-License-Identifier: BSD-3-Clause
"""Columns of few distinct numbers: coded without sorting, from arrays and from Arrow's memory alike. And columns of few
labels, which are bytes from the start."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fasttree
from fasttree import _core
from fasttree.tables.byte_codes import ByteCodedNumbers
from fasttree.tables.columns import read_column
from fasttree.tables.training import read_table

WHOLE = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
HOSTILE = [np.nan, 0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, 1.5, 1.5 + 2**-52, -1e308]


def coded(table: np.ndarray, most: int) -> list[tuple[list[int], list[float]] | None]:
    """For each column the codes of its rows and the numbers by code, by `count_values`."""
    n_columns = table.shape[1]
    codes = np.full((n_columns, len(table)), 77, dtype=np.uint8)
    ascending = np.zeros((n_columns, 256))
    n_values = np.full(n_columns, -7)
    _core.count_values(table, most, codes, ascending, n_values)
    return [
        None if n < 0 else (codes[j].tolist(), ascending[j, 1 : n + 1].tolist())
        for j, n in enumerate(n_values)
    ]


def by_sorting(column: np.ndarray, most: int) -> tuple[list[int], list[float]] | None:
    numbers = [float(value) for value in column]
    distinct = sorted({number + 0.0 for number in numbers if number == number})
    if len(distinct) > most:
        return None
    codes = [distinct.index(number) + 1 if number == number else 0 for number in numbers]
    return codes, distinct


@given(
    columns=st.lists(
        st.lists(st.sampled_from(HOSTILE) | st.floats(-4, 4), min_size=30, max_size=30),
        min_size=1,
        max_size=8,
    ),
    most=st.integers(2, 12),
    dtype=st.sampled_from(["float32", "float64"]),
    order=st.sampled_from("CF"),
)
def test_codes_of_arrays(columns: list[list[float]], most: int, dtype: str, order: Any) -> None:
    with np.errstate(over="ignore"):
        table = np.array(columns).T.astype(dtype, order=order)
    for view in (table, table[::-1], table[::3]):
        assert coded(view, most) == [by_sorting(column, most) for column in view.T]


@pytest.mark.parametrize("kind", WHOLE)
def test_codes_of_whole_numbers(kind: str) -> None:
    info = np.iinfo(kind)
    values = [7, 0, 1, 7, max(info.min, -(2**53)), min(info.max, 2**53)]
    table = np.array([values, values[::-1]], dtype=kind).T
    assert coded(table, 5) == [by_sorting(column, 5) for column in table.T]
    assert coded(table, 3) == [None, None]


@pytest.mark.parametrize("n_distinct", [255, 256])
def test_the_last_value_of_a_long_column_may_be_one_too_many(n_distinct: int) -> None:
    column = np.zeros(5_000)
    column[-n_distinct:] = np.arange(n_distinct)[::-1]
    few = np.arange(5_000) % 3 - 1.0
    table = np.column_stack([few, column, few])
    expected = [by_sorting(values, 255) for values in table.T]
    assert (expected[1] is None) == (n_distinct > 255)
    assert coded(table, 255) == expected


def test_numbers_whose_bits_meet_in_one_slot() -> None:
    """As many as fit, chosen so that the hash table has to look further for most of them."""
    bits = np.arange(1, 2**20, dtype=np.uint64) * np.uint64(2**32)
    slot = (bits * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(54)
    crowded = bits[slot == slot[0]][:255].view(np.float64)
    assert len(crowded) == 255
    column = np.concatenate([crowded[::-1], crowded, [np.nan]])[:, np.newaxis]
    assert coded(column, 255) == [by_sorting(column[:, 0], 255)]


def few_numbers(column: pa.ChunkedArray) -> tuple[list[int], list[float] | None]:
    codes = np.full(len(column), 77, dtype=np.uint8)
    distinct = _core.number_byte_codes(column.__arrow_c_stream__(), codes)
    return codes.tolist(), distinct


@pytest.mark.parametrize("kind", [*WHOLE, "float32", "float64"])
def test_codes_of_arrow_columns(kind: str) -> None:
    random = np.random.default_rng(len(kind))
    values = random.integers(0, 100, 3_000).astype(kind)
    hole = random.random(3_000) < 0.2
    values[hole] = random.integers(100, 120, int(hole.sum()))  # nobody may see these
    whole = pa.Array.from_buffers(
        pa.from_numpy_dtype(kind),
        3_000,
        [pa.py_buffer(np.packbits(~hole, bitorder="little")), pa.py_buffer(values)],
    )
    column = pa.chunked_array([whole[5:1_500], whole[:0], whole[1_501:]])
    known = [None if v is None else float(v) for v in column.to_pylist()]
    codes, distinct = few_numbers(column)
    assert distinct is not None
    assert distinct == list(dict.fromkeys(v for v in known if v is not None))
    assert [distinct[code - 1] if code else None for code in codes] == known


@pytest.mark.parametrize("kind", ["int64", "uint64"])
def test_what_lies_under_a_hole_may_be_too_large_for_a_number(kind: str) -> None:
    values = np.array([3, 2**63 - 1, 2**53 - 1, 2**62, 3], dtype=kind)
    known = np.array([True, False, True, False, True])

    def column() -> pa.ChunkedArray:
        bits = pa.py_buffer(np.packbits(known, bitorder="little"))
        return pa.chunked_array(
            [pa.Array.from_buffers(pa.from_numpy_dtype(kind), 5, [bits, pa.py_buffer(values)])]
        )

    assert few_numbers(column()) == ([1, 0, 2, 0, 1], [3.0, 2.0**53 - 1])
    values[2] = 2**53
    assert few_numbers(column())[1] is None
    values[:] = 2**63 - 1
    assert few_numbers(column())[1] is None


def test_what_does_not_come_as_codes() -> None:
    for values in (
        pa.array(range(256)),
        pa.array([1, None, 2**53 + 1]),
        pa.array(["a", None]),
        pa.array([1, 2, 1]).dictionary_encode(),
        pa.array([True, None]),
        pa.array([1, None]).cast(pa.timestamp("us")),
    ):
        assert few_numbers(pa.chunked_array([values]))[1] is None
    assert few_numbers(pa.chunked_array([pa.array(range(255))]))[1] == list(range(255))
    with pytest.raises(ValueError, match="ended after 2 of the 5 rows"):
        _core.number_byte_codes(
            pa.chunked_array([[1, None]]).__arrow_c_stream__(), np.zeros(5, dtype=np.uint8)
        )


def test_rows_of_few_numbers() -> None:
    few = ByteCodedNumbers(np.array([2, 0, 1, 3, 2], dtype=np.uint8), np.array([10.0, 5.0, 7.0]))
    np.testing.assert_array_equal(few.values(), [5.0, np.nan, 10.0, 7.0, 5.0])
    for rows in (np.array([3, 1, 3]), np.array([False, True, False, True, False]), np.array([1])):
        part = few.take(rows)
        np.testing.assert_array_equal(part.values(), few.values()[rows])
        assert len(part.distinct) == len(set(part.codes) - {0})


def holed(n_distinct: int, n_rows: int = 3_000) -> tuple[pa.Table, list[str]]:
    """Whole numbers and fractions with holes, of which about so many are distinct."""
    random = np.random.default_rng(n_distinct)
    few = np.append(np.arange(n_distinct), random.integers(0, n_distinct, n_rows - n_distinct))
    few = random.permutation(few)
    columns = {
        "whole": pa.array(few, mask=random.random(n_rows) < 0.1),
        "fraction": pa.array(few[::-1] / 8, mask=random.random(n_rows) < 0.1),
        "small": pa.array((few % 5).astype(np.int8), mask=random.random(n_rows) < 0.3),
    }
    y = np.where((few < n_distinct // 3) ^ (few % 5 > 2) ^ (random.random(n_rows) < 0.1), "a", "b")
    return pa.table(columns), y.tolist()


@pytest.mark.parametrize("n_distinct", [4, 255, 256, 400])
@pytest.mark.parametrize(
    "model",
    [
        fasttree.TreeClassifier(),
        fasttree.TreeClassifier(max_bins=20, min_samples_leaf=5),
        fasttree.TreeClassifier(missing="surrogate", max_depth=5),
        fasttree.C45Classifier(),
        fasttree.CARTClassifier(),
        fasttree.ID3Classifier(max_bins=7, max_depth=4),
    ],
    ids=["exact", "bins", "surrogates", "raised", "cross-validated", "few bins"],
)
def test_equal_trees_from_every_library(n_distinct: int, model: Any) -> None:
    """The pandas table has float columns with NaN, which are read in another way."""
    table, y = holed(n_distinct)
    frame = table.to_pandas()
    assert set(map(str, frame.dtypes)) == {"float64"}
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    for arguments in ({}, {"sample_weight": weight}):
        model.fit(frame, y, **arguments)
        prints, shares = model.tree_.fingerprint(), model.predict_proba(frame)
        text = model.to_text()
        for X in (table, pl.from_arrow(table), frame.convert_dtypes()):
            again = model.fit(X, y, **arguments)
            assert again.tree_.fingerprint() == prints
            np.testing.assert_array_equal(again.predict_proba(frame), shares)
            assert again.to_text() == text


def test_columns_share_what_was_read_as_codes() -> None:
    table, y = holed(100)
    for max_bins in (None, 20, 200):
        columns = fasttree.Columns(table, y, max_bins=max_bins)
        model = fasttree.C45Classifier(max_bins=max_bins).fit(table, y)
        again = fasttree.C45Classifier().fit(columns)
        assert again.tree_.fingerprint() == model.tree_.fingerprint()


def test_numbers_that_are_said_to_be_categories() -> None:
    table, y = holed(30)
    model = fasttree.TreeClassifier(categorical_features=["small", "whole"])
    from_arrow = model.fit(table, y).tree_.fingerprint()
    assert from_arrow == model.fit(table.to_pandas(), y).tree_.fingerprint()


def test_only_who_encodes_gets_codes() -> None:
    table, _ = holed(30)
    for column in read_table(table).columns or ():
        assert column.byte_coded is None
        assert isinstance(column.values, np.ndarray)
    for column in read_table(table, to_encode=True).columns or ():
        assert column.values is None
        assert isinstance(column.byte_coded, ByteCodedNumbers)
    assert isinstance(read_column("c", table.column("whole")), np.ndarray)


@pytest.mark.parametrize("kind", [*WHOLE, "bool", "float32"])
@pytest.mark.parametrize("max_bins", [None, 40])
def test_columns_of_few_and_of_many_numbers_beside_each_other(kind: str, max_bins: Any) -> None:
    """A matrix is coded by blocks of columns, of which some may have to be sorted."""
    random = np.random.default_rng(3)
    X = random.integers(0, 5, (2_000, 19)).astype(kind)
    if kind not in ("bool", "int8", "uint8"):
        X[:, [0, 3, 9, 18]] = random.integers(0, 1_000, (2_000, 4)).astype(kind)
    y = (X[:, 3] > X[:, 9]) ^ (X[:, 1] > 2)
    model = fasttree.TreeClassifier(max_bins=max_bins, max_depth=6)
    expected = model.fit(X.astype(np.float64), y).tree_.fingerprint()
    columns = {f"x{place}": X[:, place] for place in range(19)}
    for same in (X, np.asfortranarray(X), X.repeat(2, axis=1)[:, ::2]):
        assert model.fit(same, y).tree_.fingerprint() == expected
    if kind != "bool":  # as a column of its own it is a category
        assert model.fit(columns, y).tree_.fingerprint() == expected


# -- few labels ------------------------------------------------------------------------------------


def check_bytes(X: Any, **arguments: Any) -> list[bool]:
    """What is read to be encoded against what is read as it is. Returns which columns came as bytes."""
    plain = read_table(X, **arguments).columns or ()
    found = read_table(X, **arguments, to_encode=True)
    for place, (column, bytes_) in enumerate(zip(plain, found.columns or (), strict=True)):
        assert column.codes is not None
        assert bytes_.categories == column.categories
        assert (bytes_.declared, bytes_.ordered) == (column.declared, column.ordered)
        assert bytes_.codes is not None
        np.testing.assert_array_equal(bytes_.codes, column.codes)
        if bytes_.codes.dtype == np.int32:
            continue
        assert bytes_.codes.dtype == np.uint8
        assert found.byte_codes is not None
        assert np.shares_memory(bytes_.codes, found.byte_codes[place])
        some = np.arange(0, len(column.codes), 3)
        part, expected = bytes_.take(some), column.take(some)
        np.testing.assert_array_equal(part.codes, expected.codes)
        assert (part.categories, part.codes.dtype) == (expected.categories, np.int32)
    return [column.codes.dtype == np.uint8 for column in found.columns or ()]


def words(n_levels: int, n_rows: int) -> list[str | None]:
    random = np.random.default_rng(n_levels)
    codes = np.append(np.arange(n_levels), random.integers(0, n_levels, n_rows - n_levels))
    codes = random.permutation(codes)
    return [None if i % 11 == 5 and codes[i] % 3 else f"level {codes[i]}" for i in range(n_rows)]


@pytest.mark.parametrize("n_rows", [1_000, 140_000])
def test_bytes_of_text(n_rows: int) -> None:
    """Columns of few and of many labels by turns: a row of codes that serves one after another must not be one that a
    column still has."""
    levels = [3, 300, 255, 256, 1, 700, 2, 5]
    table = pa.table({f"{n} levels": words(n, n_rows) for n in levels})
    few = [n <= 255 for n in levels]
    assert check_bytes(table) == few
    assert check_bytes(pl.from_arrow(table)) == few
    assert check_bytes(table.to_pandas()) == few
    assert check_bytes(table.to_pandas().astype(object)) == few
    assert check_bytes(table.to_pydict()) == few


@pytest.mark.parametrize("n_levels", [2, 127, 128, 129, 254, 255, 256])
def test_bytes_of_categories(n_levels: int) -> None:
    """pandas holds the codes in as few bits as it can, -1 among them."""
    text = words(n_levels, 2_000)
    levels = [f"level {code}" for code in range(n_levels)][::-1]
    category = pd.Categorical(text, categories=levels, ordered=True)
    assert check_bytes(pd.DataFrame({"c": category})) == [n_levels <= 255]
    assert check_bytes(pl.DataFrame({"c": pl.Series(text, dtype=pl.Enum(levels))})) == [
        n_levels <= 255
    ]
    assert check_bytes({"c": fasttree.Categorical(text, levels)}) == [n_levels <= 255]
    assert check_bytes(pa.table({"c": pa.array(text).dictionary_encode()})) == [n_levels <= 255]
    given = {"c": text}
    assert check_bytes(given, categorical_features={"c": levels}) == [False]  # sorted elsewhere


def test_bytes_of_bools_and_of_labels_that_no_row_has() -> None:
    X = pd.DataFrame(
        {
            "flag": pd.array([True, None, True, True], dtype="boolean"),
            "spare": pd.Categorical(["b", "b", None, "b"], categories=["z", "b", "a"]),
            "nothing": pd.Series([None] * 4, dtype=object),
        }
    )
    assert check_bytes(X) == [True, True, True]


def test_the_users_codes_are_never_written_to() -> None:
    made = fasttree.Categorical(["x", "y", "x", None] * 500, ["y", "x"])
    before = made.codes.copy()
    X = {"made": made, "text": pa.array(["p", "q", None, "p"] * 500), "again": made}
    table = read_table(X, to_encode=True)
    np.testing.assert_array_equal(made.codes, before)
    first, _, last = table.columns or ()
    np.testing.assert_array_equal(first.codes, before + 1)
    np.testing.assert_array_equal(last.codes, before + 1)
