# SPDX-License-Identifier: BSD-3-Clause
"""The table as a fitted model reads it; and what is imported to read one."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reading import BOOLS, EMPTY, LEVELS, NUMBERS, WORDS, codes_like, facts, one, schema_of

from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.schema import AttributeSchema, Schema
from fasttree.tables.training import UNKNOWN_CODE, Categorical, read_table

# -- predict ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("X", [np.zeros((2, 3)), [[1, 2, 3]], pd.DataFrame([[1, 2, 3]])])
def test_another_number_of_columns(X: Any) -> None:
    for schema in (NUMBERS, Schema(NUMBERS.attributes, NUMBERS.classes, named=False)):
        with pytest.raises(
            ValueError,
            match=r"^X has 3 features, but TreeClassifier is expecting 2 features as inp",
        ):
            read_table_for_schema(X, schema, "TreeClassifier")
    named = pd.DataFrame({"a": [1], "b": [1], "c": [1]})
    with pytest.raises(ValueError, match="X has 3 features, but the model is expecting 2 features"):
        read_table_for_schema(named, Schema(NUMBERS.attributes, NUMBERS.classes, named=False))


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
            read_table_for_schema(X, NUMBERS)
        assert str(caught.value) == head + message


def test_names_on_one_side_only_are_allowed() -> None:
    assert read_table_for_schema(np.zeros((1, 2)), NUMBERS).names == ("a", "b")
    unnamed = schema_of(read_table(np.zeros((1, 2))))
    table = read_table_for_schema(pd.DataFrame({"a": [1], "b": [2]}), unnamed)
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
        assert codes_like(values, WORDS) == [2, UNKNOWN_CODE, 1]


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
        table = read_table_for_schema({"a": column}, schema, unknown=unknown)
        assert (table.columns or ())[0].codes[row] == UNKNOWN_CODE
    with pytest.raises(ValueError, match="not seen at fit") as caught:
        read_table_for_schema({"a": column}, schema, unknown="error")
    for word in (
        f"column 'a' contains the category {value} in row {row}",
        'unknown="missing"',
        '"majority"',
    ):
        assert word in str(caught.value)
    with pytest.raises(ValueError, match="column 'a' contains the category 'green' in row 0"):
        read_table_for_schema([["green"]], WORDS, "TreeClassifier", "error")


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
    assert codes_like(values, LEVELS) == [3, 1, UNKNOWN_CODE]
    matrix = np.array([[10.0], [1.0], [3.0]])
    assert (read_table_for_schema(matrix, LEVELS).columns or ())[0].codes.tolist() == [3, 1, -1]


def test_bools_and_numbers_match_by_value() -> None:
    assert codes_like([1, 0, 2], BOOLS) == [2, 1, UNKNOWN_CODE]
    assert codes_like([True, False], LEVELS) == [1, UNKNOWN_CODE]
    assert codes_like(np.array([1.0, 0.0]), BOOLS) == [2, 1]
    flags = read_table_for_schema({"a": [True, False], "b": [1, 2]}, NUMBERS)
    assert facts(flags) == [("a", [True, False]), ("b", [1, 2])]


@pytest.mark.parametrize(
    ("column", "schema", "words"),
    [
        (["red"], NUMBERS, ["column 'a' was numeric at fit", "'red'", "pass numbers"]),
        (
            pd.Series([1], dtype="category"),
            NUMBERS,
            ["'a' was numeric at fit, but now contains categories such as 1", ".astype(float)"],
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
        read_table_for_schema(table, schema)
    for word in words:
        assert word in str(caught.value)


def test_words_after_a_missing_value_for_a_model_of_numbers() -> None:
    with pytest.raises(ValueError, match=r"column 'b' was numeric at fit, .* such as 'red'"):
        read_table_for_schema({"a": [1, None], "b": [None, "red"]}, NUMBERS)


def test_a_numeric_array_for_a_model_of_words() -> None:
    with pytest.raises(ValueError, match="column 'a' was categorical at fit"):
        read_table_for_schema(np.zeros((2, 1)), WORDS)


def test_no_rows_at_predict() -> None:
    for X in (np.zeros((0, 2)), pd.DataFrame({"a": [], "b": []})):
        with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 2\)\)"):
            read_table_for_schema(X, NUMBERS)
    with pytest.raises(ValueError, match="Reshape your data"):
        read_table_for_schema(np.zeros(2), NUMBERS)


def test_schemas_do_not_get_mixed_up() -> None:
    """The facts about a schema are kept between calls, for a few schemas at a time."""
    X = {"a": ["u", "v"]}
    for turn in range(50):
        levels = ("u", "v") if turn % 2 else ("v", "u")
        schema = Schema((AttributeSchema("a", levels),), np.array([0]), named=True)
        assert codes_like(X["a"], schema) == ([1, 2] if turn % 2 else [2, 1])


def test_many_levels() -> None:
    labels = np.array([f"level {i:05d}" for i in range(50_000)])
    rng = np.random.default_rng(0)
    expected = rng.permutation(len(labels))
    for column in (labels[expected], pl.Series(labels[expected]), pa.array(labels[expected])):
        found = one(column)
        assert tuple(found.categories) == tuple(labels.tolist())
        assert np.array_equal(found.codes, expected + 1)


# -- nothing is imported that the user has not imported ---------------------------------------------

IMPORTS = """
import sys
import numpy as np
from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.training import Categorical, read_table, read_target, read_weights
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
