# SPDX-License-Identifier: BSD-3-Clause
"""Labels of every dtype and library, weights, and the errors for those that cannot be."""

from __future__ import annotations

import datetime
import enum
import re
import sys
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fasttree.tables.training import Categorical, read_target, read_weights

WORDS = ["yes", "no", "maybe", "no"]


class Wrapped:
    """An object that numpy can read and that is nothing else."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype)


@pytest.mark.parametrize(
    "y",
    [
        WORDS,
        tuple(WORDS),
        np.array(WORDS),
        np.array(WORDS, dtype="U20"),
        np.array(WORDS, dtype=object),
        np.array(WORDS, dtype=np.dtypes.StringDType()),
        Wrapped(WORDS),
        pd.Series(WORDS),
        pd.Series(WORDS, dtype=object, index=[5, 5, 6, 7]),
        pd.Series(WORDS, dtype="string"),
        pd.Index(WORDS),
        pl.Series(WORDS),
        pl.Series(WORDS, dtype=pl.Categorical),
        pa.array(WORDS),
        pa.chunked_array([WORDS[:1], WORDS[1:]]),
    ],
    ids=lambda y: type(y).__module__ + "." + type(y).__name__,
)
def test_text(y: Any) -> None:
    target = read_target(y, 4)
    assert target.codes.dtype == np.int32
    assert target.codes.tolist() == [2, 1, 0, 1]
    assert target.classes.tolist() == ["maybe", "no", "yes"]
    assert target.tie_order.dtype == np.int32
    assert target.tie_order.tolist() == [0, 1, 2]


def test_classes_have_the_dtype_that_numpy_would_give_them() -> None:
    assert read_target(WORDS, 4).classes.dtype == "U5"
    assert read_target(np.array(WORDS, dtype="U20"), 4).classes.dtype == "U20"
    assert read_target(np.array(WORDS, dtype=object), 4).classes.dtype == object
    assert read_target(pd.Series(WORDS), 4).classes.dtype == object
    assert read_target(pl.Series(WORDS), 4).classes.dtype == object
    for dtype in "?bhilBHILfd":
        y = np.array([1, 0, 1], dtype=dtype)
        assert read_target(y, 3).classes.dtype == y.dtype


@pytest.mark.parametrize("dtype", "bhilfdBHIL")
def test_numbers_agree_with_numpy(dtype: str) -> None:
    rng = np.random.default_rng(3)
    for low, high in ((0, 3), (5, 6), (1, 120)):
        y = rng.integers(low, high, 200).astype(dtype)
        classes, codes = np.unique(y, return_inverse=True)
        for labels in (y, y.tolist(), pd.Series(y), pl.Series(y), y[::-1][::-1]):
            target = read_target(labels, 200)
            assert target.codes.dtype == np.int32
            assert np.array_equal(target.codes, codes)
            assert np.array_equal(target.classes, classes)


@pytest.mark.parametrize(
    "labels",
    [
        [-1, 1],
        [-(2**63), 2**63 - 1],
        [2**63 - 2, 2**63 - 1],
        [10**6, 10**6 + 1],
        [-1.0, 1e300],
        [-(2.0**53), 0.0],
        [0.0, 1.0],
    ],
)
def test_extreme_numbers(labels: list[Any]) -> None:
    target = read_target(np.array([labels[1], labels[0], labels[1]]), 3)
    assert target.codes.tolist() == [1, 0, 1]
    assert target.classes.tolist() == labels


def test_many_distinct_numbers() -> None:
    y = np.arange(0, 10**9, 10**6)
    target = read_target(y, len(y))
    assert np.array_equal(target.classes[target.codes], y)


@pytest.mark.parametrize(
    "y",
    [np.array([True, False]), [True, False], pd.Series([True, False]), pl.Series([True, False])],
)
def test_bools(y: Any) -> None:
    target = read_target(y, 2)
    assert target.codes.tolist() == [1, 0]
    assert target.classes.dtype == bool
    assert target.classes.tolist() == [False, True]


def test_numbers_as_objects() -> None:
    target = read_target(np.array([7, 3, 7], dtype=object), 3)
    assert target.codes.tolist() == [1, 0, 1]
    assert target.classes.dtype == np.int64


class Answer(str, enum.Enum):  # noqa: UP042  (its str is not its text)
    YES = "yes"
    NO = "no"


def test_members_of_an_enum_are_their_text() -> None:
    answers = [Answer.YES, Answer.NO, Answer.YES]
    for y in (answers, np.array(answers, dtype=object)):
        target = read_target(y, 3)
        assert list(map(repr, target.classes.tolist())) == ["'no'", "'yes'"]
        assert target.codes.tolist() == [1, 0, 1]


def test_texts_that_differ_in_zeros_at_their_end() -> None:
    """numpy's own text drops them."""
    target = read_target(["a\0", "a", "a\0\0"], 3)
    assert target.classes.tolist() == ["a", "a\0", "a\0\0"]
    assert target.codes.tolist() == [1, 0, 2]


def test_one_class_is_enough() -> None:
    for y in (np.ones(3), ["a"] * 3, np.zeros(3, dtype=bool)):
        target = read_target(y, 3)
        assert target.codes.tolist() == [0, 0, 0]
        assert len(target.classes) == 1
        assert target.tie_order.tolist() == [0]


@pytest.mark.parametrize(
    "y",
    [
        Categorical(["mid", "high", "low"], ["low", "mid", "high", "extreme"]),
        pd.Series(pd.Categorical(["mid", "high", "low"], ["low", "mid", "high", "extreme"])),
        pl.Series(["mid", "high", "low"], dtype=pl.Enum(["low", "mid", "high", "extreme"])),
        pa.DictionaryArray.from_arrays(np.array([1, 2, 0]), ["low", "mid", "high", "extreme"]),
    ],
)
def test_a_declared_order_wins_ties_and_classes_are_sorted_still(y: Any) -> None:
    target = read_target(y, 3)
    assert target.classes.tolist() == ["high", "low", "mid"]
    assert target.classes.dtype == object
    assert target.codes.tolist() == [2, 0, 1]
    assert target.classes[target.tie_order].tolist() == ["low", "mid", "high"]


def test_declared_numbers() -> None:
    target = read_target(Categorical([3, 1, 2], [2, 3, 1]), 3)
    assert target.classes.dtype == np.int64
    assert target.classes.tolist() == [1, 2, 3]
    assert target.tie_order.tolist() == [1, 2, 0]


def test_declared_tuples() -> None:
    target = read_target(Categorical([("b", 1), ("a", 2)]), 2)
    assert target.classes.shape == (2,)
    assert target.classes.tolist() == [("a", 2), ("b", 1)]


def test_large_whole_numbers_stay_apart() -> None:
    for y in ([2**60, 2**60 + 1], pl.Series([2**60, 2**60 + 1]), np.array([2**63, 2**63 + 1])):
        target = read_target(y, 2)
        assert target.classes.tolist() == list(y)
        assert target.codes.tolist() == [0, 1]
    wide = Categorical([2**60 + 1, 2**60 + 2, 2**63])
    assert read_target(wide, 3).classes.tolist() == [2**60 + 1, 2**60 + 2, 2**63]


def test_some_rows_are_a_target_as_if_the_others_were_not_there() -> None:
    y = Categorical(["b", "c", "a", "c"], ["c", "b", "a"])
    for rows in (np.array([1, 2, 3]), np.array([False, True, True, True])):
        target = read_target(y, 4).take(rows)
        assert target.classes.tolist() == ["a", "c"]
        assert target.codes.tolist() == [1, 0, 1]
        assert target.codes.dtype == np.int32
        assert target.classes[target.tie_order].tolist() == ["c", "a"]
        assert target.tie_order.dtype == np.int32


@pytest.mark.parametrize(
    "y",
    [
        np.array([[1], [0]]),
        np.array([[1], [0]]).view(np.matrix),
        np.ma.array([[1], [0]], mask=[[False], [False]]),
        [[1], [0]],
        [np.array([1]), np.array([0])],
        pd.DataFrame({"y": [1, 0]}),
        pl.DataFrame({"y": [1, 0]}),
        pa.table({"y": [1, 0]}),
    ],
)
def test_a_column_vector_is_taken_with_a_warning(y: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "sklearn.exceptions", raising=False)
    with pytest.warns(UserWarning, match="A column-vector y was passed when a 1d array was exp"):
        target = read_target(y, 2)
    assert target.codes.tolist() == [1, 0]


def test_a_column_vector_keeps_its_holes() -> None:
    y = np.ma.array([[1], [2], [3]], mask=[[0], [1], [0]])
    with (
        pytest.warns(UserWarning, match="A column-vector y"),
        pytest.raises(ValueError, match=r"y has a missing value .* in row 1"),
    ):
        read_target(y, 3)


def test_the_warning_is_scikit_learns_own_if_that_is_loaded() -> None:
    exceptions = pytest.importorskip("sklearn.exceptions")
    with pytest.warns(exceptions.DataConversionWarning, match="column-vector"):
        read_target(np.array([["a"], ["b"]]), 2)


@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        (None, ValueError, ["requires y to be passed, but the target y is None"]),
        ([0, 1], ValueError, ["X has 3 rows", "y has 2 labels", "inconsistent numbers of samp"]),
        (["a"] * 4, ValueError, ["X has 3 rows", "y has 4 labels"]),
        ([], ValueError, ["X has 3 rows", "y has 0 labels"]),
        (np.zeros((3, 2)), ValueError, ["y should be a 1d array", "(3, 2)", "each column"]),
        ([[0, 1], [1, 0], [1, 1]], ValueError, ["y should be a 1d array", "(3, 2)"]),
        ([[0], [1, 2], [0]], ValueError, ["1d array", "[0] in row 0", "[1, 2] in row 1"]),
        (pd.DataFrame({"a": [1, 2, 3], "b": 1}), ValueError, ["1d array", "(3, 2)"]),
        (
            [0.0, 1.0, 0.37],
            ValueError,
            ["Unknown label type: continuous", "0.37 in row 2", "discretise", "as text"],
        ),
        ([0.0, 1.0, np.inf], ValueError, ["Unknown label type: continuous", "inf in row 2"]),
        (
            [0.0, np.nan, 0.5],
            ValueError,
            ["y has a missing value (NaN or None) in row 1", "impute"],
        ),
        (["a", None, "b"], ValueError, ["y has a missing value", "row 1: impute it or drop"]),
        (["a", "b", np.nan], ValueError, ["y has a missing value", "row 2"]),
        ([1, None, 2], ValueError, ["y has a missing value", "row 1"]),
        ([None] * 3, ValueError, ["y has a missing value", "row 0"]),
        ([True, False, None], ValueError, ["y has a missing value", "row 2"]),
        (np.ma.masked_array([1, 2, 3], [0, 1, 0]), ValueError, ["y has a missing value", "row 1"]),
        (Categorical(["a", "b", None]), ValueError, ["y has a missing value", "row 2"]),
        (pd.Series(["a", None, "b"], dtype="category"), ValueError, ["missing value", "row 1"]),
        (pl.Series(["a", "b", None]), ValueError, ["y has a missing value", "row 2"]),
        (pl.Series([None] * 3), ValueError, ["y has a missing value", "row 0"]),
        (pa.array(["a", None, "b"]).dictionary_encode(), ValueError, ["missing value", "row 1"]),
        (pd.Series(["a", "b", None]), ValueError, ["y has a missing value", "row 2"]),
        (pd.Series([1, 2, None], dtype="Int64"), ValueError, ["y has a missing value", "row 2"]),
        (pl.Series([1, None, 2]), ValueError, ["y has a missing value", "row 1"]),
        (pa.array([True, None, False]), ValueError, ["y has a missing value", "row 1"]),
        (["a", 1, "b"], ValueError, ["y mixes types", "str ('a' in row 0)", "int (1 in row 1)"]),
        ([True, 1, 2], ValueError, ["y mixes types", "bool (True", "int (1"]),
        ([{}, {}, {}], TypeError, ["y contains {} of type dict in row 0"]),
        ([np.array(1)] * 3, TypeError, ["y contains array(1) of type ndarray in row 0"]),
        (np.array([1j, 2, 3]), ValueError, ["Complex data not supported", "y"]),
        (np.array([b"a"] * 3), TypeError, ["y contains bytes", "astype(str)"]),
        (np.array(["2020"] * 3, "M8[D]"), ValueError, ["Unknown label type", "dates", "as text"]),
        (pl.Series([datetime.date(2020, 1, 1)] * 3), ValueError, ["Unknown label type", "date"]),
        (pa.array([datetime.datetime(2020, 1, 1)] * 3), ValueError, ["Unknown label", "timestamp"]),
        ([datetime.date(2020, 1, 1)] * 3, ValueError, ["Unknown label type", "date", "as text"]),
        ([datetime.timedelta(1), None] * 2, ValueError, ["Unknown label type", "as text"]),
        ([np.datetime64("2020")] * 3, ValueError, ["Unknown label type", "date", "as text"]),
        (
            pd.Series([pd.Timestamp("2020")] * 3, dtype=object),
            ValueError,
            ["Unknown label type", "as text"],
        ),
        (np.array([datetime.date(2020, 1, 1)] * 3, dtype=object), ValueError, ["Unknown", "date"]),
        (Categorical([datetime.date(2020, 1, 1)] * 3), ValueError, ["Unknown label type", "date("]),
        (
            pd.Series(pd.to_datetime(["2020-01-01"] * 3)).astype("category"),
            ValueError,
            ["Unknown label type", "2020", "as text"],
        ),
        ([pd.NaT, "a", "b"], ValueError, ["y has a missing value", "row 0"]),
        ([np.datetime64("NaT"), "a", "b"], ValueError, ["y has a missing value", "row 0"]),
        ([10**30, 1, 2], ValueError, ["y contains the integer 1000", "64-bit", "or text"]),
        (
            [10**400, 1, 2],
            ValueError,
            ["y contains 1000", "outside the range of float64", "as text"],
        ),
        ([2**60, None, 1], ValueError, ["y has a missing value", "row 1"]),
        (pl.Series([2**60, None, 1]), ValueError, ["y has a missing value", "row 1"]),
        ("abc", TypeError, ["y is a str", "list"]),
        (5, TypeError, ["y is a int"]),
    ],
)
def test_bad_targets(y: Any, error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        read_target(y, 3)
    for word in words:
        assert word in str(caught.value)


def test_speed_on_numbers_is_no_worse_than_numpys() -> None:
    from timeit import repeat

    y = np.random.default_rng(0).integers(0, 5, 200_000)
    ours = min(repeat(lambda: read_target(y, len(y)), number=1, repeat=10))
    numpys = min(repeat(lambda: np.unique(y, return_inverse=True), number=1, repeat=10))
    assert ours <= 1.2 * numpys


# -- weights ---------------------------------------------------------------------------------------


def test_weights() -> None:
    assert read_weights(None, 3) is None
    weights = np.array([1.0, 0.0, 2.5])
    read = read_weights(weights, 3)
    assert read is not None
    assert np.array_equal(read, weights)
    assert not np.shares_memory(
        read, weights
    )  # what the user does to them does not matter any more
    for given in (
        weights.tolist(),
        Wrapped(weights),
        pd.Series(weights),
        pl.Series(weights),
        pa.array(weights),
        weights.astype(np.float32),
        np.repeat(weights, 2)[::2],
    ):
        found = read_weights(given, 3)
        assert found is not None
        assert found.dtype == np.float64
        assert found.flags.c_contiguous
        assert found.tolist() == [1.0, 0.0, 2.5]


def test_weights_of_128_bits() -> None:
    found = read_weights(pl.Series([1, 0, 3], dtype=pl.Int128), 3)
    assert found is not None
    assert found.tolist() == [1.0, 0.0, 3.0]
    with pytest.raises(ValueError, match="sample_weight contains nan in row 1"):
        read_weights(pl.Series([1, None, 3], dtype=pl.Int128), 3)


def test_a_masked_array_that_hides_no_weight() -> None:
    found = read_weights(np.ma.array([1.0, 2.0], mask=False), 2)
    assert type(found) is np.ndarray
    assert found.tolist() == [1.0, 2.0]


def test_one_number_is_the_weight_of_every_row() -> None:
    for given in (2, 2.0, np.float32(2)):
        found = read_weights(given, 3)
        assert found is not None
        assert found.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        ([1, 2], ValueError, ["2 entries", "3 rows"]),
        (np.ones((3, 2)), ValueError, ["1d array", "(3, 2)"]),
        ([1, np.nan, 1], ValueError, ["nan in row 1", "finite"]),
        ([1, 1, np.inf], ValueError, ["inf in row 2", "finite"]),
        ([1, -np.inf, np.inf], ValueError, ["-inf in row 1"]),
        ([1, 1, -0.5], ValueError, ["-0.5 in row 2", ">= 0"]),
        (-1, ValueError, ["-1.0 in row 0"]),
        ([0, 0, 0], ValueError, ["zero", "at least one non-zero"]),
        (0, ValueError, ["zero"]),
        (["a", "b", "c"], TypeError, ["one number per row", "'a'"]),
        ([1, None, "x"], TypeError, ["one number per row"]),
        ("123", TypeError, ["one number per row", "'123'"]),
        (["1", "2", "3"], TypeError, ["one number per row", "['1', '2', '3']"]),
        (pd.Series(["1", "2", "3"], dtype=object), TypeError, ["one number per row"]),
        (np.array(["2020"] * 3, "M8[D]"), TypeError, ["one number per row", "2020-01-01"]),
        (np.array([1, 2, 3], "m8[D]"), TypeError, ["one number per row", "timedelta"]),
        ([10**400, 1, 1], ValueError, ["outside the range of float64", "finite"]),
        (pd.Series([1.0, None, 1.0]), ValueError, ["nan in row 1"]),
        (
            np.ma.array([1.0, 1.0, 99.0], mask=[0, 0, 1]),
            ValueError,
            ["masked in row 2", "0 to ignore"],
        ),
    ],
)
def test_bad_weights(weights: Any, error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error, match="sample_weight") as caught:
        read_weights(weights, 3)
    for word in words:
        assert word in str(caught.value)
    if weights is not None and "zero" in words:
        assert re.match("(.*weight.*zero.*)|(.*zero.*weight.*)", str(caught.value))


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_large_class_numbers_take_no_memory(dtype: Any) -> None:
    y = np.array([500_000_000, 500_000_001] * 50, dtype=dtype)
    tracemalloc.start()
    target = read_target(y, 100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20
    assert target.codes.tolist() == [0, 1] * 50
    assert target.classes.tolist() == [500_000_000, 500_000_001]


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("low", [-128, -3, 0, 2, 100])
def test_class_numbers_begin_anywhere(dtype: Any, low: int) -> None:
    info = np.iinfo(dtype)
    for first in (low, info.min, info.max - 20):
        y = np.array([5, 0, 20, 5, 7, 0], dtype=object) + int(first)
        target = read_target(y.astype(dtype), 6)
        assert target.classes.tolist() == sorted(set(y.tolist()))
        assert target.classes[target.codes].tolist() == y.tolist()
