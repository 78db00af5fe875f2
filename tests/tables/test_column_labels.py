# SPDX-License-Identifier: BSD-3-Clause
"""Which labels of columns are names, and what is matched by name."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fasttree
import fasttree.batch
from fasttree import TreeClassifier
from fasttree.tables.training import read_table

Y = [0, 0, 1, 1]
TUPLES = pd.MultiIndex.from_tuples([("blood", 2023), ("blood", 2024)])


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([1, 2], ("1", "2")),
        ([2023, 2024], ("2023", "2024")),
        ([1, 0], ("1", "0")),
        ([-1, 0], ("-1", "0")),
        ([False, True], ("False", "True")),
        ([0.5, 1.5], ("0.5", "1.5")),
        ([datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)], ("2024-01-01", "2024-01-02")),
        (TUPLES, ("('blood', 2023)", "('blood', 2024)")),
        ([pd.NA, None], ("<NA>", "None")),
    ],
    ids=str,
)
def test_labels_other_than_text_are_names(labels: Any, names: tuple[str, str]) -> None:
    X = pd.DataFrame(np.zeros((4, 2)), columns=pd.Index(labels, dtype=object))
    X.iloc[:, 0] = [1.0, 2.0, 3.0, 4.0]
    if isinstance(labels, pd.MultiIndex):
        X.columns = labels
    model = TreeClassifier().fit(X, Y)
    assert tuple(model.feature_names_in_) == names
    assert model.predict(X.iloc[:, ::-1]).tolist() == Y  # by name
    as_text = {name: X.iloc[:, place].to_numpy() for place, name in enumerate(names)}
    assert model.predict(pl.DataFrame(as_text)).tolist() == Y
    assert model.predict(X.to_numpy()).tolist() == Y  # by position


def test_whole_numbers_as_keys_of_a_dict() -> None:
    model = TreeClassifier().fit({2023: [1, 2, 3, 4], 2024: [9] * 4}, Y)
    assert model.predict({2024: [9, 9], 2023: [1, 4]}).tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- 2025\n.*now missing:\n- 2024"):
        model.predict({2023: [1], 2025: [9]})


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame([[1, 9], [2, 9]]),
        pd.DataFrame([[1, 9], [2, 9]], columns=np.array([0, 1], dtype=object)),
        {0: [1, 2], 1: [9, 9]},
        {np.int64(0): [1, 2], np.int8(1): [9, 9]},
    ],
    ids=lambda X: type(X).__name__,
)
def test_labels_that_only_count_are_no_names(X: Any) -> None:
    table = read_table(X)
    assert not table.named
    assert table.names == ("x0", "x1")
    model = TreeClassifier().fit(X, [0, 1])
    assert not hasattr(model, "feature_names_in_")
    # A model with names takes such a table as it takes an array.
    named = TreeClassifier().fit(pd.DataFrame({"a": [1, 2], "b": [9, 9]}), [0, 1])
    assert named.predict(X).tolist() == [0, 1]


def test_the_same_numbers_in_another_order() -> None:
    X = pd.DataFrame({0: [1, 2, 3, 4], 1: [9] * 4, 2: [7] * 4})
    model = TreeClassifier().fit(X, Y)
    assert model.predict(X).tolist() == Y
    for moved in (
        X[[1, 0, 2]],
        {2: [7], 0: [1], 1: [9]},
        pl.DataFrame({"2": [7], "1": [9], "0": [1]}),
    ):
        with pytest.raises(ValueError, match=r"columns of X are labelled \['[12]', .* by position"):
            model.predict(moved)
        with pytest.raises(
            fasttree.batch.InputError, match=r"are labelled \['[12]', .* by position"
        ):
            fasttree.score_batches(model, pl.DataFrame(_as_text(moved)).to_arrow(), [].append)
    assert model.predict(X[[1, 0, 2]].to_numpy()[:, [1, 0, 2]]).tolist() == Y
    assert model.predict(pl.DataFrame({"0": [4], "1": [9], "2": [7]})).tolist() == [1]
    # Where they stood in another order at fit, they are names.
    model.fit(X[[2, 1, 0]], Y)
    for again in (X, X[[1, 2, 0]], X[[2, 1, 0]], X[[2, 1, 0]].to_numpy()):
        assert model.predict(again).tolist() == Y


def _as_text(X: Any) -> dict[str, Any]:
    columns = X.to_dict() if isinstance(X, pl.DataFrame) else X
    return {str(label): list(columns[label]) for label in columns}


def test_the_names_that_a_tree_gives_to_columns_without() -> None:
    model = TreeClassifier().fit(np.array([[1, 9], [2, 9], [3, 9], [4, 9]]), Y)
    assert "x0 <= 2.5" in model.to_text()
    moved = pl.DataFrame({"x1": [9, 9], "x0": [1, 4]})
    assert model.predict(moved).tolist() == [0, 1]
    batches: list[Any] = []
    fasttree.score_batches(model, moved.to_arrow(), batches.append)
    assert batches[0].column("prediction").to_pylist() == [0, 1]


def test_labels_that_are_one_name() -> None:
    day = datetime.date(2020, 1, 1)
    with pytest.raises(
        ValueError,
        match=r"2 columns with the name '2020-01-01' \(Period\('2020-01-01', 'D'\) and datetime\.date",
    ):
        read_table({pd.Period("2020-01-01", "D"): [1, 2], day: [1, 2]})
    with pytest.raises(ValueError, match=r"2 columns with the name '7' \(.*7.* and .*7"):
        read_table(pd.DataFrame([[1, 2]], columns=[7, 7]))


def test_names_in_parameters() -> None:
    X = {2023: [1, 2, 1, 2], 2024: [1, 2, 3, 4]}
    model = TreeClassifier(categorical_features=["2023"]).fit(X, Y)
    assert [a.is_categorical for a in model.tree_.schema.attributes] == [True, False]
    with pytest.raises(ValueError, match="column index 2023, but the columns of X are 0 to 1"):
        TreeClassifier(categorical_features=[2023]).fit(X, Y)
