# SPDX-License-Identifier: BSD-3-Clause
"""What the estimators refuse, and that each error names the culprit, its value and the remedy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fasttree
from fasttree import CARTClassifier, ID3Classifier, TreeClassifier
from fasttree.growth.params import MISSING

GOOD_X = np.arange(20.0).reshape(10, 2)
GOOD_Y = np.arange(10) % 2


def with_value(value: Any, row: int = 3, column: int = 1) -> np.ndarray:
    X = GOOD_X.copy()
    X[row, column] = value
    return X


def weights_with(value: float) -> np.ndarray:
    weights = np.ones(10)
    weights[4] = value
    return weights


def words(*values: Any) -> np.ndarray:
    column = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        column[row] = value
    return column


# (what is wrong, X, y, sample_weight, parameters, error, what the message must say)
BAD_FITS: dict[str, tuple[Any, Any, Any, dict[str, Any], Any, str]] = {
    "X one-dimensional": (np.arange(10.0), GOOD_Y, None, {}, ValueError, r"1.*(2|reshape)"),
    "X three-dimensional": (GOOD_X.reshape(5, 2, 2), GOOD_Y[:5], None, {}, ValueError, "3.*2"),
    "X is text": ("a table", GOOD_Y, None, {}, (TypeError, ValueError), "X"),
    "X is a number": (3, GOOD_Y, None, {}, (TypeError, ValueError), "X"),
    "X is None": (None, GOOD_Y, None, {}, (TypeError, ValueError), "X"),
    "X has no rows": (np.empty((0, 3)), [], None, {}, ValueError, "0 (rows|sample)"),
    "X has no columns": (np.empty((10, 0)), GOOD_Y, None, {}, ValueError, r"0 (columns|feature)"),
    "X is an empty dict": ({}, GOOD_Y, None, {}, ValueError, r"0|no columns|empty"),
    "ragged rows": ([[1.0, 2.0], [3.0]], [0, 1], None, {}, ValueError, "row 1.*1.*2.*same length"),
    "columns of different length": (
        {"age": np.arange(3.0), "size": np.arange(4.0)},
        [0, 1, 0],
        None,
        {},
        ValueError,
        r"age.*3.*size.*4",
    ),
    "mixed types": (
        {"colour": words("red", 1)},
        [0, 1],
        None,
        {},
        (TypeError, ValueError),
        r"colour.*mix.*(red.*1|1.*red).*text",
    ),
    "mixed types in a frame": (
        pd.DataFrame({"size": [1, 2], "colour": words("red", 7)}),
        [0, 1],
        None,
        {},
        ValueError,
        r"column 'colour' mixes types: str \('red' in row 0\) and int \(7 in row 1\).*text for a categorical",
    ),
    "columns with one name in pandas": (
        pd.DataFrame([[1, 2, 3]], columns=["age", "size", "age"]),
        [0],
        None,
        {},
        ValueError,
        "X has 2 columns with the name 'age': column names must be unique",
    ),
    "columns with one name in Arrow": (
        pa.table([pa.array([1]), pa.array([2])], names=["age", "age"]),
        [0],
        None,
        {},
        ValueError,
        "X has 2 columns with the name 'age': column names must be unique",
    ),
    "dicts in a column": (
        {"blob": words({"a": 1}, {"a": 2})},
        [0, 1],
        None,
        {},
        TypeError,
        r"blob.*dict.*row 0.*(columns|text)",
    ),
    "lists in a column": (
        {"blob": words([1], [2, 3])},
        [0, 1],
        None,
        {},
        TypeError,
        r"blob.*list.*row 0",
    ),
    "complex numbers": (GOOD_X + 1j, GOOD_Y, None, {}, ValueError, "[Cc]omplex"),
    "bytes": ({"raw": np.array([b"a", b"b"])}, [0, 1], None, {}, TypeError, r"raw.*bytes.*decode"),
    "y too short": (GOOD_X, GOOD_Y[:9], None, {}, ValueError, r"10.*9"),
    "y too long": (GOOD_X, [0, 1] * 6, None, {}, ValueError, r"10.*12"),
    "y two-dimensional": (GOOD_X, np.zeros((10, 2)), None, {}, ValueError, r"y .*\(10, 2\)"),
    "y missing": (GOOD_X, None, None, {}, ValueError, "y"),
    "y continuous": (
        GOOD_X,
        np.linspace(0, 1, 10),
        None,
        {},
        ValueError,
        r"Unknown label type.*0\.1",
    ),
    "NaN in y": (GOOD_X, with_value(np.nan)[:, 1], None, {}, ValueError, r"y.*NaN.*row 3"),
    "None in y": (GOOD_X, words("a", None, *"abababab"), None, {}, ValueError, r"y.*row 1"),
    "no label at all": (GOOD_X, [None] * 10, None, {}, ValueError, r"y has a missing value.*row 0"),
    "NaN in every label": (GOOD_X, np.full(10, np.nan), None, {}, ValueError, r"y.*NaN.*row 0"),
    "null among words in y": (
        GOOD_X,
        pl.Series(["a", "b", None] + ["a"] * 7),
        None,
        {},
        ValueError,
        r"y has a missing value \(NaN or None\) in row 2: impute it or drop the row",
    ),
    "NA among numbers in y": (
        GOOD_X,
        pd.Series([1, 0, None] + [1] * 7, dtype="Int64"),
        None,
        {},
        ValueError,
        r"y has a missing value.*row 2: impute it or drop the row",
    ),
    "mixed y": (GOOD_X, words("a", 1, *"abababab"), None, {}, (TypeError, ValueError), "y.*mix"),
    "weights too short": (GOOD_X, GOOD_Y, np.ones(9), {}, ValueError, r"sample_weight.*9.*10"),
    "weights two-dimensional": (
        GOOD_X,
        GOOD_Y,
        np.ones((10, 2)),
        {},
        ValueError,
        r"sample_weight.*\(10, 2\)",
    ),
    "negative weight": (
        GOOD_X,
        GOOD_Y,
        weights_with(-0.5),
        {},
        ValueError,
        r"sample_weight.*-0\.5.*row 4",
    ),
    "NaN weight": (GOOD_X, GOOD_Y, weights_with(np.nan), {}, ValueError, "sample_weight.*nan.*4"),
    "infinite weight": (GOOD_X, GOOD_Y, weights_with(np.inf), {}, ValueError, "sample_weight.*inf"),
    "all weights zero": (GOOD_X, GOOD_Y, np.zeros(10), {}, ValueError, "sample_weight.*zero"),
    "text weights": (
        GOOD_X,
        GOOD_Y,
        ["heavy"] * 10,
        {},
        (TypeError, ValueError),
        "sample_weight.*heavy",
    ),
}

for _kind, _weights, _said in [
    ("numbers as text", ["1"] * 10, "got .'1'"),
    ("numbers as text in an array", np.full(10, "1"), "got array"),
    ("text among numbers", words(1, 2, "3", *range(7)), "got '3' in row 2"),
    ("text in pandas", pd.Series(["1"] * 10), "got '1' in row 0"),
    ("bytes", [b"1"] * 10, "got .b'1'"),
    ("complex numbers", np.ones(10) + 1j, "got array"),
    ("complex objects", words(1, 1j, *range(8)), "got 1j in row 1"),
    ("dates", np.full(10, "2024-02-29", dtype="datetime64[D]"), "got array"),
    ("durations", pd.Series(pd.to_timedelta([1] * 10)), "got"),
    ("records", np.array([(1.0,)] * 10, dtype=[("weight", "f8")]), "got array"),
    ("one text", "3", "got '3'"),
    ("a dict", {"weight": 1}, "got {'weight': 1}"),
    ("lists of several lengths", [[1], [1, 2], *range(8)], "got"),
]:
    BAD_FITS[f"weights: {_kind}"] = (
        GOOD_X,
        GOOD_Y,
        _weights,
        {},
        TypeError,
        f"sample_weight must contain one number per row, {_said}",
    )

for _kind, _weights, _said in [
    ("beyond float64", [1] * 9 + [10**400], "contains 10+... in row 9, which is outside the range"),
    (
        "below float64",
        [1] * 9 + [-(10**400)],
        "contains -10+... in row 9, which is outside the range",
    ),
    ("None", [1, None] * 5, "contains nan in row 1"),
    ("NA", words(1, 2, pd.NA, *range(7)), "contains nan in row 2"),
    ("null", pl.Series([1, 2, 3, None] + [1] * 6), "contains nan in row 3"),
    ("masked", np.ma.masked_equal([1, 1, 1, 1, 7, 1, 1, 1, 1, 1], 7), "masked in row 4"),
]:
    BAD_FITS[f"weights: {_kind}"] = (
        GOOD_X,
        GOOD_Y,
        _weights,
        {},
        ValueError,
        f"sample_weight (is )?{_said}",
    )

for _library, _empty in {
    "a dict": {"age": [], "size": np.array([])},
    "pandas": pd.DataFrame({"age": [], "size": []}),
    "polars": pl.DataFrame({"age": [], "size": []}),
    "Arrow": pa.table({"age": pa.array([], "f8"), "size": pa.array([], "f8")}),
}.items():
    BAD_FITS[f"no rows in {_library}"] = (
        _empty,
        [],
        None,
        {},
        ValueError,
        r"Found array with 0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 1",
    )

for _name, _value, _wanted in [
    ("criterion", "banana", "entropy.*gain_ratio.*gini.*misclassification"),
    ("criterion", None, "entropy"),
    ("categorical_split", "binary", "subset.*multiway"),
    ("threshold", "middle", "midpoint.*value"),
    ("missing", "ignore", "branch.*category.*error"),
    ("missing", None, "branch.*category.*error"),
    ("unknown", "guess", "missing.*majority.*error"),
    ("max_bins", 1, "2.*255"),
    ("max_bins", 0, "2.*255"),
    ("max_bins", 256, "2.*255"),
    ("max_bins", 16.0, "integer"),
    ("max_bins", True, "integer"),
    ("max_bins", "many", "integer"),
    ("max_depth", -1, "at least 0"),
    ("max_depth", 2.5, "integer"),
    ("max_depth", "deep", "integer"),
    ("max_leaves", 0, "at least 1"),
    ("max_leaves", 7.0, "integer"),
    ("min_samples_split", -1, "finite number >= 0"),
    ("min_samples_split", np.nan, "number"),
    ("min_samples_split", None, "number"),
    ("min_samples_leaf", -1, "finite number >= 0"),
    ("min_samples_leaf", np.inf, "number"),
    ("min_gain", -0.1, "finite number >= 0"),
    ("min_gain", np.nan, "number"),
    ("min_gain", "some", "number"),
    ("random_state", 2**64, r"from 0 to 2\*\*64 - 1"),
    ("stop_zero_gain", "no", "True or False"),
    ("n_jobs", 0, "-1"),
    ("n_jobs", 1.5, "integer"),
    ("n_jobs", "all", "integer"),
    ("categorical_features", "x0", r"list|\["),
    ("categorical_features", 5, "list"),
    ("categorical_features", [2], "0 to 1"),
    ("categorical_features", [-1], "0 to 1"),
    ("categorical_features", [0, 0], "twice"),
    ("categorical_features", [True], "1.*2 columns"),
    ("categorical_features", ["age"], "names.*indices"),
    ("categorical_features", {0: [1, 2]}, "0.0.*add"),
    ("ordered_features", "x0", r"list.*write \['x0'\]"),
    ("ordered_features", 5, "list"),
    ("ordered_features", [1], "'x1', which is numeric.*leave it out.*categorical_features"),
    ("ordered_features", [2], "0 to 1"),
    ("ordered_features", [True], "1.*2 columns"),
    ("ordered_features", ["age"], "names.*indices"),
    ("ordered_features", {0: [1, 2]}, "categorical_features"),
    (
        "attribute_costs",
        [1, 0],
        "the cost of 'x1' must be above 0, got 0.*divides by it.*small cost.*nunez",
    ),
    ("attribute_costs", [-2, 1], r"the cost of 'x0' must be a finite number >= 0, got -2"),
    ("attribute_costs", [1, 2, 3], r"each of the 2 attributes.*\(3,\)"),
    ("class_weight", {2: 5}, r"contains the class 2, which is not in y: its classes are \[0, 1\]"),
    ("class_weight", {0: 0}, "weight of 0 must be a finite number above 0, got 0"),
    ("class_weight", {1: -3}, "weight of 1 must be a finite number above 0, got -3"),
    ("class_weight", {1: np.nan}, "weight of 1.*nan"),
    ("class_weight", "fair", '"balanced"'),
    ("class_weight", [1, 2], '"balanced" or a dict'),
    (
        "misclassification_cost",
        [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
        r"shape \(2, 2\).*in the order 0, 1, got an array of shape \(3, 3\)",
    ),
    (
        "misclassification_cost",
        [[0, -1], [1, 0]],
        "the cost of predicting 1 for 0 must be a finite number >= 0, got -1",
    ),
    (
        "misclassification_cost",
        [[0, 1], [np.nan, 0]],
        "the cost of predicting 0 for 1 must be a finite number >= 0, got nan",
    ),
    (
        "misclassification_cost",
        [[2, 1], [1, 0]],
        r"the cost of predicting 0 for 0 must be 0 \(a correct prediction\), got 2",
    ),
    ("misclassification_cost", [[0, 1], [0, 0]], "all costs for the true class 1 are 0"),
    ("misclassification_cost", {2: {0: 1}}, "contains the class 2, which is not in y"),
    ("misclassification_cost", "high", "'high'"),
    (
        "misclassification_cost",
        np.ma.masked_equal([[0, 1], [7, 0]], 7),
        r"is masked at \(1, 0\): give a cost for every pair of classes",
    ),
]:
    _shown = re.escape(str(_value)) if isinstance(_value, (str, int, float)) else ""
    BAD_FITS[f"{_name}={_value!r}"] = (
        GOOD_X,
        GOOD_Y,
        None,
        {_name: _value},
        (TypeError, ValueError),
        rf"(?s)(?=.*{_name})(?=.*{_shown})(?=.*({_wanted}))",
    )


@pytest.mark.parametrize("case", BAD_FITS)
def test_bad_fit(case: str) -> None:
    X, y, weights, parameters, error, message = BAD_FITS[case]
    model = TreeClassifier(**parameters)
    with pytest.raises(error, match=message):
        model.fit(X, y, sample_weight=weights)
    assert not hasattr(model, "tree_")


@pytest.mark.parametrize("name", ["criterion", "max_bins", "min_gain", "random_state"])
def test_a_number_too_long_to_be_printed(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be .*got int with too many digits"):
        TreeClassifier(**{name: 10**5000}).fit(GOOD_X, GOOD_Y)


# Missing values, where they are not asked for: (what is wrong, X, y, the column, the row)
REMEDY = r'missing="branch"'
MISSING_VALUES: dict[str, tuple[Any, Any, str]] = {
    "NaN": (with_value(np.nan), GOOD_Y, "x1.*NaN.*row 3"),
    "NaN in float32": (with_value(np.nan).astype(np.float32), GOOD_Y, "x1.*NaN.*row 3"),
    "NaN in Fortran order": (np.asfortranarray(with_value(np.nan)), GOOD_Y, "x1.*NaN.*row 3"),
    "NaN in a list": (with_value(np.nan).tolist(), GOOD_Y, "x1.*NaN.*row 3"),
    "None in a list": ([[1.0, 2.0], [None, 3.0]], [0, 1], "x0.*row 1"),
    "NaN in a named column": (
        {"age": np.array([1.0, np.nan]), "size": np.array([1.0, 2.0])},
        [0, 1],
        "age.*NaN.*row 1",
    ),
    "None among text": ({"colour": words("red", None)}, [0, 1], "colour.*missing.*row 1"),
}


@pytest.mark.parametrize("case", MISSING_VALUES)
@pytest.mark.parametrize("max_bins", [None, 4])
@pytest.mark.parametrize(
    "model",
    [
        kind(missing="error", pruning=None)
        for kind in (ID3Classifier, CARTClassifier, TreeClassifier)
    ],
    ids=["id3", "cart", "tree"],
)
def test_missing_values_where_they_are_refused(
    case: str, max_bins: int | None, model: TreeClassifier
) -> None:
    X, y, place = MISSING_VALUES[case]
    model = type(model)(**(model.get_params() | {"max_bins": max_bins}))
    with pytest.raises(ValueError, match=f"{place}.*{REMEDY}"):
        model.fit(X, y)
    assert not hasattr(model, "tree_")
    with pytest.raises(ValueError, match=f"{place}.*{REMEDY}"):
        model.fit(fasttree.Columns(X, y, max_bins=max_bins))
    assert model.set_params(missing="branch").fit(X, y).score(X, y) > 0


def test_infinite_values_are_legal() -> None:
    X = with_value(np.inf)
    X[0, 0] = -np.inf
    assert TreeClassifier().fit(X, GOOD_Y).score(X, GOOD_Y) == 1.0


def test_parameters_are_checked_before_the_data_is_read() -> None:
    with pytest.raises(ValueError, match="criterion"):
        TreeClassifier(criterion="banana", missing="error").fit(with_value(np.nan), GOOD_Y)


def test_an_error_keeps_the_old_tree() -> None:
    model = TreeClassifier(missing="error").fit(GOOD_X, GOOD_Y)
    before = model.tree_
    with pytest.raises(ValueError, match="NaN"):
        model.fit(with_value(np.nan), GOOD_Y)
    assert model.tree_ is before
    assert model.score(GOOD_X, GOOD_Y) == 1.0


def test_columns_bring_their_own_y() -> None:
    columns = fasttree.Columns(GOOD_X, GOOD_Y)
    with pytest.raises((TypeError, ValueError), match="y"):
        TreeClassifier().fit(columns, GOOD_Y)
    assert TreeClassifier().fit(columns).score(GOOD_X, GOOD_Y) == 1.0


def test_columns_that_were_binned_otherwise() -> None:
    columns = fasttree.Columns(GOOD_X, GOOD_Y)
    with pytest.raises(ValueError, match="max_bins"):
        TreeClassifier(max_bins=3).fit(columns)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "apply", "decision_path"])
def test_not_fitted(method: str) -> None:
    with pytest.raises((ValueError, AttributeError), match=r"(?i)fit"):
        getattr(TreeClassifier(), method)(GOOD_X)


def named_model() -> TreeClassifier:
    X = {"age": GOOD_X[:, 0], "colour": np.array(["red", "blue"] * 5, dtype=object)}
    return TreeClassifier(missing="error", unknown="error").fit(X, GOOD_Y)


BAD_PREDICTIONS: dict[str, tuple[Any, Any, str]] = {
    "a column less": (GOOD_X[:, :1], ValueError, "1.*2"),
    "a column more": (np.zeros((4, 3)), ValueError, "3.*2"),
    "one-dimensional": (np.zeros(2), ValueError, "1.*2|reshape"),
    "no rows": (np.empty((0, 2)), ValueError, "0 (rows|sample)"),
    "NaN": (with_value(np.nan), ValueError, f"x1.*NaN.*row 3.*{REMEDY}"),
    "NaN in float32": (
        with_value(np.nan).astype(np.float32),
        ValueError,
        f"x1.*NaN.*row 3.*{REMEDY}",
    ),
    "NaN in columns": (
        {"x0": GOOD_X[:, 0], "x1": with_value(np.nan)[:, 1]},
        ValueError,
        f"x1.*NaN.*row 3.*{REMEDY}",
    ),
    "text": (words(["a", "b"], ["c", "d"]).tolist(), ValueError, "x0.*numeric.*'a'"),
}


@pytest.mark.parametrize("case", BAD_PREDICTIONS)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "apply", "decision_path"])
def test_bad_prediction(case: str, method: str) -> None:
    X, error, message = BAD_PREDICTIONS[case]
    model = TreeClassifier(missing="error").fit(GOOD_X, GOOD_Y)
    with pytest.raises(error, match=f"(?s){message}"):
        getattr(model, method)(X)


def test_bad_prediction_with_names() -> None:
    model = named_model()
    age, colour = np.array([1.0]), np.array(["red"], dtype=object)
    for X, message in (
        ({"age": age}, "missing.*colour"),
        ({"colour": colour}, "missing.*age"),
        ({"colour": colour, "hue": colour, "age": age}, "unseen.*hue"),
        ({"age": age, "hue": colour}, "unseen.*hue"),
        ({"age": colour, "colour": colour}, "age.*numeric.*red"),
        ({"age": age, "colour": age}, "colour.*categorical"),
        ({"age": np.array([np.nan]), "colour": colour}, f"age.*NaN.*row 0.*{REMEDY}"),
        ({"age": age, "colour": words(None)}, f"colour.*missing.*row 0.*{REMEDY}"),
        ({"age": age, "colour": words("green")}, "colour.*green.*row 0.*unknown="),
    ):
        with pytest.raises(ValueError, match=f"(?s){message}"):
            model.predict(X)


def test_columns_in_another_order_are_no_mistake() -> None:
    model = named_model()
    X = {"colour": np.array(["blue", "red"], dtype=object), "age": np.array([5.0, 8.0])}
    expected = model.predict({"age": X["age"], "colour": X["colour"]})
    assert np.array_equal(model.predict(X), expected)
    assert np.array_equal(model.predict(pd.DataFrame(X)), expected)


@pytest.mark.parametrize(
    "library",
    [dict, pd.DataFrame, pl.DataFrame, pa.table],
    ids=["dict", "pandas", "polars", "Arrow"],
)
def test_a_column_that_changes_its_kind(library: Any) -> None:
    numbers, colours = [1.5, 2.5, 3.5, 4.5], ["red", "blue", "red", "blue"]
    model = TreeClassifier().fit(library({"size": numbers, "colour": colours}), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="size") as caught:
        model.predict(library({"size": colours, "colour": colours}))
    assert str(caught.value) == (
        "column 'size' was numeric at fit, but now contains values such as 'red': "
        "pass numbers, as at fit."
    )
    with pytest.raises(ValueError, match="colour") as caught:
        model.predict(library({"size": numbers, "colour": numbers}))
    assert str(caught.value) == (
        "column 'colour' was categorical at fit, with values such as 'blue', but now contains values "
        "such as 1.5 (number instead of text): pass values of the same kind as at fit."
    )


@pytest.mark.parametrize("empty", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("method", ["predict", "predict_proba", "apply"])
def test_a_frame_without_rows_to_predict(method: str, empty: Any) -> None:
    with pytest.raises(ValueError, match=r"0 sample\(s\) \(shape=\(0, 2\)\)"):
        getattr(named_model(), method)(empty({"age": [], "colour": []}))


# -- columns without any value ---------------------------------------------------------------------

EMPTY_COLUMNS: dict[str, Any] = {
    "NaN": np.full(10, np.nan),
    "float32": np.full(10, np.nan, dtype=np.float32),
    "None": [None] * 10,
    "objects": words(*[None] * 10),
    "category": pd.Series([None] * 10, dtype="category"),
    "levels": fasttree.Categorical([None] * 10, ["a", "b", "c"]),
    "Int64": pd.Series([None] * 10, dtype="Int64"),
    "null": pa.nulls(10),
    "text": pl.Series([None] * 10, dtype=pl.String),
    "date": pl.Series([None] * 10, dtype=pl.Date),
    "flag": pl.Series([None] * 10, dtype=pl.Boolean),
}


@pytest.mark.parametrize("missing", [policy for policy in MISSING if policy != "error"])
@pytest.mark.parametrize("categorical_split", ["subset", "multiway"])
@pytest.mark.parametrize("max_bins", [None, 4])
def test_a_column_without_a_value_is_never_chosen(
    missing: str, categorical_split: str, max_bins: int | None
) -> None:
    if missing == "surrogate":
        categorical_split = "subset"  # the only one that it takes
    for column in EMPTY_COLUMNS.values():
        X = {"empty": column, "age": GOOD_X[:, 0]}
        for y in (GOOD_Y, (GOOD_X[:, 0] > 9).astype(int)):
            model = TreeClassifier(
                missing=missing, categorical_split=categorical_split, max_bins=max_bins
            ).fit(X, y)
            assert 0 not in model.tree_.attribute
            assert np.array_equal(
                model.predict(X), model.predict({"empty": [None] * 10, "age": GOOD_X[:, 0]})
            )
        assert model.score(X, y) == 1.0


@pytest.mark.parametrize("missing", [policy for policy in MISSING if policy != "error"])
def test_a_table_without_a_value_is_one_leaf(missing: str) -> None:
    y = [0, 1, 1] * 3 + [1]
    for criterion in ("gini", "entropy", "gain_ratio"):
        for X in (EMPTY_COLUMNS, np.full((10, 2), np.nan)):
            model = TreeClassifier(missing=missing, criterion=criterion).fit(X, y)
            assert model.get_n_leaves() == 1
            assert model.predict(X).tolist() == [1] * 10
            assert model.predict_proba(X)[0] == pytest.approx([0.3, 0.7])


def test_score_checks_lengths() -> None:
    model = TreeClassifier().fit(GOOD_X, GOOD_Y)
    with pytest.raises(ValueError, match=r"10.*9|9.*10"):
        model.score(GOOD_X, GOOD_Y[:9])


def test_score_wants_labels_of_the_same_kind() -> None:
    words = np.where(GOOD_Y, "b", "a")
    model = TreeClassifier().fit(GOOD_X, words)
    for y in (words, words.tolist(), words.astype(np.dtypes.StringDType()), pl.Series(words)):
        assert model.score(GOOD_X, y) == 1.0
        assert TreeClassifier().fit(GOOD_X, y).score(GOOD_X, words) == 1.0
    message = "y contains labels like 0, but the model was fitted on labels like 'a': pass labels"
    with pytest.raises(ValueError, match=message):
        model.score(GOOD_X, GOOD_Y)
