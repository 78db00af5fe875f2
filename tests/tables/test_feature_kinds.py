# SPDX-License-Identifier: BSD-3-Clause
"""What `categorical_features` and `ordered_features` say about the columns of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reading import HIGH, LOW, MID, Stream, facts, one

from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.schema import AttributeSchema, Schema
from fasttree.tables.training import Categorical, Table, read_table

# -- categorical_features --------------------------------------------------------------------------


def mixed_table() -> dict[str, Any]:
    return {"n": [3, 1, 2], "m": [0.5, 1.5, 0.5], "b": [True, False, True]}


@pytest.mark.parametrize("chosen", [["m"], [1], np.array([1]), [False, True, False], ("m",)])
def test_a_list_or_mask_says_exactly_which_columns_are_categorical(chosen: Any) -> None:
    assert facts(read_table(mixed_table(), chosen)) == [
        ("n", [3, 1, 2]),
        ("m", [1, 2, 1], (0.5, 1.5)),
        ("b", [True, False, True]),
    ]


def test_none_or_an_empty_list_makes_every_column_numeric() -> None:
    for chosen in (None, [], [False, False, False]):
        table = read_table(mixed_table(), chosen)
        assert [column.categories for column in table.columns or ()] == [None] * 3


def test_a_dict_declares_levels_and_leaves_the_others_to_their_dtype() -> None:
    table = read_table(mixed_table() | {"s": ["a", "b", "a"]}, {"n": [3, 2, 1, 0], "m": None})
    assert facts(table) == [
        ("n", [1, 3, 2], (3, 2, 1, 0)),
        ("m", [1, 2, 1], (0.5, 1.5)),
        ("b", [2, 1, 2], (False, True)),
        ("s", [1, 2, 1], ("a", "b")),
    ]


def test_declared_levels_override_the_order_of_a_category() -> None:
    column = pd.Categorical(["x", "y"], categories=["x", "y"])
    assert facts(read_table(pd.DataFrame({"a": column}), {"a": ["y", "x"]})) == [
        ("a", [2, 1], ("y", "x"))
    ]


def test_a_matrix_with_declared_columns() -> None:
    X = np.array([[5.0, 1.0], [3.0, 2.0], [5.0, 1.0]])
    table = read_table(X, [0])
    assert facts(table) == [("x0", [2, 1, 2], (3.0, 5.0)), ("x1", [1.0, 2.0, 1.0])]
    assert np.shares_memory((table.columns or ())[1].values, X)
    assert facts(read_table(X, {0: [5, 3]}))[0] == ("x0", [1, 2, 1], (5, 3))
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
    assert column.codes.tolist() == [2, 1, 2]


@pytest.mark.parametrize(
    ("chosen", "error", "words"),
    [
        ("n", ValueError, ["from_dtype", "'n'", "write ['n']"]),
        (3, TypeError, ["from_dtype", "got 3"]),
        (["q"], ValueError, ["column 'q'", "no such column", "['n', 'm', 'b']"]),
        ([3], ValueError, ["column index 3", "0 to 2"]),
        ([-1], ValueError, ["column index -1", "0 to 2"]),
        ([1.5], TypeError, ["names or column indices", "1.5 of type float"]),
        ([0, True], TypeError, ["True of type bool"]),
        (["n", 0], ValueError, ["column 'n' twice", "once"]),
        ([True, False], ValueError, ["mask of 2 entries", "3 columns"]),
        ({"q": [1]}, ValueError, ["column 'q'"]),
        ({"n": [1, 2]}, ValueError, ["column 'n' contains 3 in row 0", "[1, 2]", "add it"]),
        ({"n": []}, ValueError, ["column 'n' is empty", "at least one category"]),
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
    with pytest.raises(ValueError, match="column 'x0', but X has no column names: use column ind"):
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
    assert names_of_ordered(read_table_for_schema(X, schema)) == ["a"]
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
        assert sorted(found.codes.tolist()) == [0, 1, 2]


@pytest.mark.parametrize(
    ("chosen", "error", "words"),
    [
        (
            ["n"],
            ValueError,
            ["ordered_features lists column 'n', which is numeric", "leave it out"],
        ),
        (
            [True, False, False],
            ValueError,
            ["column 'n', which is numeric", "categorical_features"],
        ),
        ("b", ValueError, ["ordered_features must be", '"from_dtype"', "got 'b'", "write ['b']"]),
        (3, TypeError, ["ordered_features must be", "got 3"]),
        (["q"], ValueError, ["ordered_features lists column 'q'", "no such", "['n', 'm', 'b']"]),
        ([3], ValueError, ["ordered_features lists the column index 3", "0 to 2"]),
        (
            [1.5],
            TypeError,
            ["ordered_features must contain column names or column indices, got 1.5"],
        ),
        (["b", 2], ValueError, ["ordered_features lists column 'b' twice"]),
        ([True], ValueError, ["ordered_features is a mask of 1 entries", "3 columns"]),
        (
            {"b": [1]},
            TypeError,
            ["got a dict", "categories in their order in categorical_features"],
        ),
    ],
)
def test_bad_ordered_features(chosen: Any, error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        read_table(mixed_table(), "from_dtype", chosen)
    for word in words:
        assert word in str(caught.value)


def test_a_matrix_has_no_ordered_columns_of_its_own() -> None:
    with pytest.raises(ValueError, match="ordered_features lists column 'x1', which is numeric"):
        read_table(np.zeros((2, 2)), ordered_features=[1])
    with pytest.raises(ValueError, match="ordered_features lists column 'a', which is numeric"):
        read_table({"a": [True, False]}, None, ["a"])
