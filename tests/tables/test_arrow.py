# SPDX-License-Identifier: BSD-3-Clause
"""Columns as they lie in Arrow's memory and in Python's lists, to codes and numbers."""

from __future__ import annotations

import mmap
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from child import run_child
from hypothesis import given
from hypothesis import strategies as st

import fasttree
from fasttree import TreeClassifier, _core
from fasttree.tables.factors import factorize
from fasttree.tables.training import read_table

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

# Every way in which a key is made of a text: up to 3 bytes, 7, 16, and beyond, some with equal ends.
LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 15, 16, 17, 23, 24, 25, 40)
NEAR = [letter * n for n in LENGTHS for letter in "ab"] + [
    "a" * i + "b" + "a" * (n - i - 1) for n in LENGTHS for i in range(n)
]
LAYOUTS = (pa.string(), pa.large_string(), pa.string_view())


def by_dict(values: list[Any]) -> tuple[list[int], list[Any]]:
    numbering: dict[Any, int] = {}
    codes = [0 if v is None else numbering.setdefault(v, len(numbering) + 1) for v in values]
    return codes, list(numbering)


def text_codes(column: Any) -> tuple[list[int], list[str] | None]:
    codes = np.full(len(column), -7, dtype=np.int32)
    labels = _core.text_codes(column.__arrow_c_stream__(), codes)
    return codes.tolist(), labels


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_texts_that_differ_in_one_letter_or_in_length(layout: Any) -> None:
    values = [*NEAR, None, *reversed(NEAR), "", None, "a\0", "a\0\0", "a"]
    assert text_codes(pa.chunked_array([pa.array(values, type=layout)])) == by_dict(values)


@given(
    values=st.lists(st.none() | st.text(max_size=30) | st.sampled_from(NEAR), max_size=60),
    layout=st.sampled_from(LAYOUTS),
    cuts=st.lists(st.integers(0, 60), max_size=4),
    head=st.integers(0, 9),
)
def test_any_text_in_any_chunks(
    values: list[str | None], layout: Any, cuts: list[int], head: int
) -> None:
    # A slice of an array begins in the middle of its buffers, and of a byte of its holes.
    whole = pa.array(["x"] * head + values, type=layout)[head:]
    edges = [0, *sorted(min(cut, len(values)) for cut in cuts), len(values)]
    chunks = [whole[a:b] for a, b in pairwise(edges)]
    assert text_codes(pa.chunked_array(chunks, type=layout)) == by_dict(values)
    assert text_codes(pl.Series(values, dtype=pl.String)) == by_dict(values)


@pytest.mark.skipif(not hasattr(mmap, "PROT_READ"), reason="pages cannot be locked here")
@pytest.mark.parametrize("layout", ["OFFSETS", "VIEWS", "LONG_VIEWS"])
def test_nothing_is_read_behind_the_memory_of_a_column(layout: str) -> None:
    """The last text ends where a page ends, and reading the next one would end the process."""
    run_child(f"layout = {layout!r}\n" + AT_THE_END_OF_A_PAGE)


AT_THE_END_OF_A_PAGE = """
import ctypes, mmap
import numpy as np
import pyarrow as pa
from fasttree import _core

PAGE = mmap.PAGESIZE
pages = mmap.mmap(-1, 2 * PAGE)
start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.mprotect(ctypes.c_void_p(start + PAGE), PAGE, 0) == 0

def at_the_end(content):
    pages[PAGE - len(content) : PAGE] = content
    return pa.foreign_buffer(start + PAGE - len(content), len(content))

for length in range(1, 13 if layout == "VIEWS" else 40):
    texts = ["b" * length, "a" * length, "a" * (length - 1), "a" * length]
    if layout == "OFFSETS":
        plain = pa.array(texts)
        buffers = [None, plain.buffers()[1], at_the_end("".join(texts).encode())]
        column = pa.Array.from_buffers(pa.string(), 4, buffers)
    else:
        plain = pa.array(texts, type=pa.string_view())
        buffers = list(plain.buffers())
        place = 1 if layout == "VIEWS" else 2
        if place < len(buffers):
            buffers[place] = at_the_end(buffers[place].to_pybytes())
        column = pa.Array.from_buffers(pa.string_view(), 4, buffers)
    codes = np.full(4, -7, dtype=np.int32)
    labels = _core.text_codes(pa.chunked_array([column]).__arrow_c_stream__(), codes)
    assert [labels[code - 1] for code in codes] == texts, (length, labels, codes)
    del column, buffers
print("well")
"""


def test_many_labels() -> None:
    values = [
        f"a label that is longer than sixteen bytes, number {i % 40_000}" for i in range(90_000)
    ]
    assert text_codes(pl.Series(values)) == by_dict(values)


def test_what_is_not_text_is_left_to_others() -> None:
    for column in (
        pl.Series([1, 2]),
        pl.Series(["a", "b"], dtype=pl.Categorical),
        pa.chunked_array([pa.array(["a"]).dictionary_encode()]),
        pa.chunked_array([pa.array([b"a"])]),
    ):
        assert (
            _core.text_codes(column.__arrow_c_stream__(), np.zeros(len(column), np.int32)) is None
        )


def test_a_stream_longer_than_its_column() -> None:
    with pytest.raises(ValueError, match="more than the 1 rows"):
        _core.text_codes(pl.Series(["a", "b"]).__arrow_c_stream__(), np.zeros(1, np.int32))


def test_bytes_that_are_not_utf8() -> None:
    raw = pa.py_buffer(b"abc\xff")
    column = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(np.int32([0, 3, 4])), raw])
    with pytest.raises(ValueError, match=r"'c' contains text that is not UTF-8, b'\\xff'"):
        read_table(pa.table({"c": column}))


def damaged(kind: Any, offsets: Any, coded: bool) -> Any:
    """A column of text, or a dictionary of it, that gets its offsets afterwards: pyarrow looks at what it makes."""
    memory = np.arange(len(offsets), dtype=np.int64 if kind == pa.large_string() else np.int32)
    buffers = [None, pa.py_buffer(memory), pa.py_buffer(b"text" * 8)]
    column = pa.Array.from_buffers(kind, len(offsets) - 1, buffers)
    if coded:
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1]), column)
    memory[:] = offsets
    return column


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize(
    "offsets", [[0, 5, 2], [0, 2, 1, 9, 9], [0, -(10**9), 2], [-5, 2, 3], [0, -(2**31), 2]]
)
@pytest.mark.parametrize("coded", [False, True])
def test_text_that_ends_before_it_begins(kind: Any, offsets: list[int], coded: bool) -> None:
    with pytest.raises(ValueError, match="column 'c' is damaged: a text begins or ends"):
        read_table({"c": damaged(kind, offsets, coded)})


@pytest.mark.parametrize("view", [(20, 0, 0), (13, 0, 5), (13, 1, 0), (13, -1, 0), (13, 0, -1)])
def test_a_view_of_what_is_not_there(view: tuple[int, int, int]) -> None:
    size, place, start = view
    memory = np.array([size, 0, place, start], dtype=np.int32)
    buffers = [None, pa.py_buffer(memory), pa.py_buffer(b"text" * 4)]
    column = pa.Array.from_buffers(pa.string_view(), 1, buffers)
    with pytest.raises(ValueError, match="column 'c' is damaged: a text begins or ends"):
        read_table({"c": column})
    memory[:] = (13, 0, 0, 3)
    memory[1:2] = np.frombuffer(b"ttex", dtype=np.int32)
    assert read_table({"c": column}).columns[0].categories == ("ttexttexttext",)
    memory[0] = -3
    with pytest.raises(ValueError, match="column 'c' is damaged"):
        read_table({"c": column})


NUMBERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float64")


INDICES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def dictionary_codes(column: Any) -> tuple[list[int], list[str] | None]:
    codes = np.full(len(column), -7, dtype=np.int32)
    labels = _core.dictionary_codes(column.__arrow_c_stream__(), codes)
    return codes.tolist(), labels


@given(
    dictionary=st.lists(st.none() | st.sampled_from(NEAR[:9]), min_size=1, max_size=9),
    places=st.lists(st.none() | st.integers(0, 8), max_size=60),
    kind=st.sampled_from(INDICES),
    layout=st.sampled_from(LAYOUTS),
    cut=st.integers(0, 60),
    head=st.integers(0, 9),
)
def test_any_dictionary(
    dictionary: list[str | None],
    places: list[int | None],
    kind: str,
    layout: Any,
    cut: int,
    head: int,
) -> None:
    """Dictionaries may hold a null, a text twice, and texts that no row has; chunks may have dictionaries of their own,
    and begin in the middle of their buffers."""
    places = [None if place is None else place % len(dictionary) for place in places]

    def chunk(part: list[int | None], texts: list[str | None]) -> Any:
        indices = pa.array([0] * head + part, type=kind)
        return pa.DictionaryArray.from_arrays(indices, pa.array(texts, type=layout))[head:]

    turned = dictionary[::-1]
    last = len(dictionary) - 1
    parts = [places[:cut], [None if p is None else last - p for p in places[cut:]]]
    column = pa.chunked_array([chunk(parts[0], dictionary), chunk(parts[1], turned)])
    values = [None if place is None else dictionary[place] for place in places]
    _, labels = by_dict(dictionary)
    number = {label: code for code, label in enumerate(labels, 1)}
    expected = [0 if value is None else number[value] for value in values]
    assert dictionary_codes(column) == (expected, labels)


@pytest.mark.parametrize("place", [2, 7, -1, 10**9])
@pytest.mark.parametrize("labels", [["a", "b"], [1, 2]])
def test_a_place_outside_the_dictionary(place: int, labels: list[Any]) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, place]), pa.array(labels), safe=False)
    with pytest.raises(
        ValueError, match="column 'c' is damaged: a row has an index that is out of range"
    ):
        read_table(pa.table({"c": column}))


@pytest.mark.parametrize("texts", [("a", "b"), (1, 2)])
def test_chunks_with_dictionaries_of_their_own(texts: tuple[Any, Any]) -> None:
    first, second = texts
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array([first, None])),
        pa.DictionaryArray.from_arrays(pa.array([1, 0, 2]), pa.array([second, first, second])),
    ]
    (column,) = read_table(pa.table({"c": pa.chunked_array(chunks)})).columns or ()
    assert column.categories == texts
    assert column.codes.tolist() == [1, 0, 0, 1, 2, 2]


def test_a_stream_that_ends_early() -> None:
    text = pa.chunked_array([["a", "b"]])
    for read, column in (
        (lambda s, out: _core.text_codes(s, out), text),
        (lambda s, out: _core.dictionary_codes(s, out), text.dictionary_encode()),
        (lambda s, out: _core.pool_codes(s, out, 9), pa.chunked_array([np.uint8([1, 2])])),
    ):
        with pytest.raises(ValueError, match="ended after 2 of the 5 rows"):
            read(column.__arrow_c_stream__(), np.zeros(5, dtype=np.int32))
    numbers = pa.chunked_array([[1, None]])
    with pytest.raises(ValueError, match="ended after 2 of the 5 rows"):
        _core.numbers_with_holes(numbers.__arrow_c_stream__(), np.zeros(5), False)


def test_what_is_no_dictionary_of_text_is_left_to_others() -> None:
    for column in (
        pa.chunked_array([pa.array(["a"])]),
        pa.chunked_array([pa.array([1, 2]).dictionary_encode()]),
        pa.chunked_array([pa.array([1.5])]),
    ):
        assert dictionary_codes(column)[1] is None


@given(
    places=st.lists(st.none() | st.integers(0, 200), max_size=80),
    kind=st.sampled_from(["uint8", "uint16", "uint32"]),
    cut=st.integers(0, 80),
    head=st.integers(0, 9),
)
def test_places_in_a_pool(places: list[int | None], kind: str, cut: int, head: int) -> None:
    whole = pa.array([201] * head + places, type=kind)[head:]
    column = pa.chunked_array([whole[:cut], whole[cut:]])
    codes = np.full(len(places), -7, dtype=np.int32)
    rows = _core.pool_codes(column.__arrow_c_stream__(), codes, 201)
    expected, distinct = by_dict(places)
    assert codes.tolist() == expected
    assert rows == [places.index(place) for place in distinct]


def test_pools_that_are_too_large_and_other_numbers() -> None:
    codes = np.zeros(3, dtype=np.int32)
    for column in (
        pa.array([1, 9, 3], type="uint32"),  # 9 is not below the limit
        pa.array([1, 2, 3], type="int32"),
        pa.array(["a", "b", "c"]),
        pa.array(["a", "b", "c"]).dictionary_encode(),
    ):
        stream = pa.chunked_array([column]).__arrow_c_stream__()
        assert _core.pool_codes(stream, codes, 9) is None


def test_a_polars_category_among_very_many_others() -> None:
    """Columns that share a pool: one of few rows may have numbers beyond any table."""
    pool = pl.Categories("many others")
    others = pl.Series([f"other {i}" for i in range(70_000)], dtype=pl.Categorical(pool))
    few = pl.Series(["z", None, "a", "z"], dtype=pl.Categorical(pool))
    assert int(few.to_physical().max()) >= len(others)
    column = read_table(pl.DataFrame({"c": few})).columns[0]
    assert column.categories == ("a", "z")
    assert column.codes.tolist() == [2, 0, 1, 2]


def test_polars_categories_do_not_come_as_dictionaries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Since polars of 1.x breaks off when it is asked for these."""
    stream = pl.Series.__arrow_c_stream__

    def without_dictionaries(series: pl.Series, requested_schema: Any = None) -> Any:
        assert series.dtype not in (pl.Categorical, pl.Enum)
        return stream(series, requested_schema)

    monkeypatch.setattr(pl.Series, "__arrow_c_stream__", without_dictionaries)
    sizes, words = pl.Enum(["small", "medium", "large"]), ["large", None, "small", "large"]
    parts = [pl.Series(words[:1], dtype=sizes), pl.Series(["medium", *words[1:]], dtype=sizes)]
    apart = pl.concat([parts[0], parts[1][1:]], rechunk=False)
    for series in (pl.Series(words, dtype=sizes), apart):
        (column,) = read_table(pl.DataFrame({"c": series})).columns or ()
        assert (column.categories, column.declared) == (("small", "medium", "large"), True)
        assert column.codes.tolist() == [3, 0, 1, 3]
    (empty,) = read_table(pl.DataFrame({"c": pl.Series([None, None], dtype=sizes)})).columns or ()
    assert empty.codes.tolist() == [0, 0]
    (column,) = read_table(pl.DataFrame({"c": words}, schema={"c": pl.Categorical})).columns or ()
    assert column.categories == ("large", "small")
    assert column.codes.tolist() == [1, 0, 2, 1]
    test_a_polars_category_among_very_many_others()


def test_many_columns_of_several_types() -> None:
    draw = np.random.default_rng(0)
    n_rows, n_columns = 20_000, 32
    columns: dict[str, Any] = {}
    for place in range(n_columns):
        values = draw.integers(-5, 300, size=n_rows)
        holes = draw.random(n_rows) < 0.1 * (place % 3)
        kinds = (pa.int64(), pa.float64(), pa.string(), pa.dictionary(pa.int32(), pa.string()))
        kind = kinds[place % 4]
        text = [None if hole else str(value) for value, hole in zip(values, holes, strict=True)]
        columns[f"c{place}"] = pa.array(text).cast(kind)
    table = pa.table(columns)
    for X in (table, pl.from_arrow(table), table.to_pandas()):
        for column, wanted in zip(read_table(X).columns, table.columns, strict=True):
            expected = wanted.to_pylist()
            if column.categories is None:
                numbers = [
                    None if np.isnan(value) else value for value in column.values.astype(float)
                ]
                assert numbers == expected
            else:
                levels = [None, *column.categories]
                assert [levels[code] for code in column.codes] == expected


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_with_holes(kind: str) -> None:
    info: Any = np.iinfo(kind) if kind != "float64" else np.finfo(kind)
    extremes = [info.min, info.max] if info.bits < 64 or kind == "float64" else [2**53 - 1, 0]
    values = [None, 3, *extremes, None, 0, None]
    whole = pa.array([7, None, *values], type=getattr(pa, kind)())
    column = pa.chunked_array([whole[2:5], whole[5:5], whole[5:]])
    out = np.zeros(len(column))
    expected = np.array([np.nan if v is None else v for v in values], float)
    assert _core.numbers_with_holes(column.__arrow_c_stream__(), out, False)
    np.testing.assert_array_equal(out, expected)
    fits = _core.numbers_with_holes(column.__arrow_c_stream__(), out, True)
    if kind == "float64":
        return  # nobody asks
    assert fits == (info.bits <= 16)
    if fits:
        np.testing.assert_array_equal(out.view(np.float32)[: len(out)], expected)


@pytest.mark.parametrize("row", [1, 8191, 8192, 20_000])
@pytest.mark.parametrize("sign", [1, -1])
def test_float32_holds_whole_numbers_up_to_a_limit(row: int, sign: int) -> None:
    values: list[int | None] = [None, *range(20_000)]
    for limit, dtype in ((2**24, np.float32), (2**53, np.float64)):
        values[row] = sign * (limit - 1)
        for frame in (pa.table({"n": values}), pl.DataFrame({"n": [*values, None]})):
            (column,) = read_table(frame).columns or ()
            assert column.values.dtype == dtype
            assert column.values[row] == values[row]
            assert np.array_equal(
                column.values[: len(values)], np.array(values, float), equal_nan=True
            )
        values[row] = sign * limit * 2
        wide = read_table(pa.table({"n": values})) if dtype == np.float32 else None
        if wide is not None:
            assert wide.columns[0].values[row] == values[row]


def test_a_whole_number_beyond_float64() -> None:
    table = {"n": [1, None, 2**53 + 1]}
    for frame in (pa.table(table), pl.DataFrame(table)):
        with pytest.raises(ValueError, match="'n' contains the integer 9007199254740993"):
            read_table(frame)


def test_what_lies_under_a_hole_does_not_matter() -> None:
    buffers = [pa.py_buffer(b"\x05"), pa.py_buffer(np.int64([1, 2**62, 3]))]
    column = pa.Array.from_buffers(pa.int64(), 3, buffers)
    (read,) = read_table(pa.table({"n": column})).columns or ()
    np.testing.assert_array_equal(read.values, [1.0, np.nan, 3.0])


@given(st.lists(st.integers(-3, 3) | st.text(max_size=2) | st.booleans() | st.none(), max_size=50))
def test_objects_are_numbered_as_a_dict_does(values: list[Any]) -> None:
    codes = np.empty(len(values), dtype=np.int32)
    numbering = {value: code for code, value in enumerate(dict.fromkeys(values), 1)}
    assert _core.object_codes(values, codes) == list(numbering)
    assert codes.tolist() == [numbering[value] for value in values]


def test_more_objects_than_are_remembered() -> None:
    words = [f"word {i}" for i in range(20_000)]
    values = [words[i * i % 20_000] for i in range(60_000)] + [str(word) + "" for word in words]
    labels = factorize(values)
    assert [labels.labels[code - 1] for code in labels.codes] == values
    assert labels.codes.tolist() == by_dict(values)[0]


def test_an_object_without_a_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        _core.object_codes(["a", ["b"]], np.empty(2, dtype=np.int32))


def test_one_tree_from_every_library() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    words = np.array(["ä", "b" * 20, "c", None], dtype=object)[rng.integers(0, 4, 300)]
    numbers = np.where(rng.random(300) < 0.2, np.nan, rng.integers(0, 9, 300))
    y = rng.integers(0, 2, 300)
    table = pa.table(
        {
            "w": pa.array(words, type=pa.string()),
            "n": pa.array(numbers, pa.int64(), from_pandas=True),
        }
    )
    objects = pd.DataFrame({"w": pd.Series(words, dtype=object), "n": numbers})
    forms = (table, table.to_pandas(), pl.from_arrow(table), objects)
    trees = [TreeClassifier().fit(form, y).tree_ for form in forms]
    assert all(tree == trees[0] for tree in trees)


def test_a_stream_can_be_read_once() -> None:
    """And that is enough for every estimator, also those that need the rows again."""
    rng = np.random.default_rng(1)
    table = pa.table({"w": rng.choice(["a", "b", "c"], 120), "n": rng.integers(0, 9, 120)})
    y = np.where(table["n"].to_numpy() > 4, "high", "low")
    y[:5] = "low"

    def stream() -> Any:
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=50))

    for model in (
        fasttree.CARTClassifier(),
        fasttree.C45Classifier(),
        TreeClassifier(pruning="reduced_error"),
        fasttree.RuleClassifier(),
        fasttree.RuleClassifier(estimate="validation"),
    ):
        expected = model.fit(table, y).predict_proba(table)
        np.testing.assert_array_equal(model.fit(stream(), y).predict_proba(stream()), expected)
