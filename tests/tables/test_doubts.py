# SPDX-License-Identifier: BSD-3-Clause
"""Warnings of columns that may have been taken for what they are not, and of trees of one leaf."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import fasttree
from fasttree import (
    C45Classifier,
    CARTClassifier,
    Columns,
    DataWarning,
    RuleClassifier,
    TreeClassifier,
)
from fasttree.tables import doubts

N = 900


def labels(n: int = N) -> np.ndarray:
    return np.arange(n) % 2


def words(values: Any) -> np.ndarray:
    column = np.empty(len(values), dtype=object)
    column[:] = list(values)
    return column


def said(run: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    assert all(w.category is DataWarning for w in caught)
    assert all(w.filename == __file__ for w in caught), "it is the user's line"
    texts = [str(w.message) for w in caught]
    assert not any("\n" in text for text in texts)
    return texts


def fit_to(column: Any, n: int = N, **parameters: Any) -> Callable[[], Any]:
    """Beside a column that tells the classes apart, so that the tree is not one leaf."""
    X = {"c": column, "x": labels(n).astype(float)}
    return lambda: TreeClassifier(**parameters).fit(X, labels(n))


def ages(n: int = N, n_odd: int = 1) -> np.ndarray:
    return words(["unknown"] * n_odd + [str(18 + i % 72) for i in range(n - n_odd)])


DAYS = [f"{1 + i % 28:02}/{1 + i % 12:02}/2021" for i in range(N)]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (
            ages(),
            "column 'c' was read as 73 categories instead of numbers, because 1 of its 900 values is not a number, "
            "such as 'unknown': set such values to missing (None), or list it in categorical_features if its values "
            "are categories",
        ),
        (
            words(DAYS),
            "column 'c' contains text such as '01/01/2021', which looks like a date, and was read as 84 categories: "
            "convert the column to dates first, with pandas.to_datetime or the like, or list it in "
            "categorical_features if its values are categories",
        ),
        (
            words(["not known"] * 3 + DAYS[3:]),
            "column 'c' was read as 85 categories instead of dates, because 3 of its 900 values are not dates, such as "
            "'not known': set such values to missing (None) and convert the column to dates first, with "
            "pandas.to_datetime or the like, or list it in categorical_features if its values are categories",
        ),
        (
            words([f"{i % 30},{i % 7}" for i in range(N)]),
            "column 'c' contains text such as '0,0', which looks like a number with a decimal comma, and was read as "
            "210 categories: convert the column to numbers first, or list it in categorical_features if its values "
            "are categories",
        ),
        (
            ages(n_odd=0),
            "column 'c' contains text such as '18', which looks like a number, and was read as 72 categories: "
            "convert the column to numbers first, or list it in categorical_features if its values are categories",
        ),
        (
            words([f"patient {i}" for i in range(N)]),
            "column 'c' has 900 distinct values in 900 rows, so it does not generalise to new rows: leave the column "
            "out, or set min_category_count=20",
        ),
    ],
)
def test_what_is_said(column: Any, expected: str) -> None:
    assert said(fit_to(column)) == [expected]


@pytest.mark.parametrize(
    "day", ["11/01/2021", "11.1.2021", "31-12-99", "2021/12/31", "11 Jan 2021", "3-Mar-2024", "01/11/2021 12:30",
            "11.01.2021 12:30:05", "1/11/2021 3:30 PM", "2021-01-11", "2021-01-11T12:30:00Z"],
)  # fmt: skip
def test_dates(day: str) -> None:
    assert len(said(fit_to(words([day] * N)))) == 1


@pytest.mark.parametrize(
    "word",
    [
        "1.2.3",
        "127.0.0.1",
        "45/45/2021",
        "A11",
        "0x1F",
        "12 mg",
        "1-2",
        "9/10",
        "3.4.5.6",
        "-",
        "",
        ".",
        "e5",
    ],
)
def test_what_is_neither(word: str) -> None:
    assert said(fit_to(words([word] * 450 + ["something else"] * 450))) == []
    assert said(fit_to(words([word] * 900))) == []


@pytest.mark.parametrize("number", ["1", "-2.5", "+3", ".5", "1e5", "2.", " 7 ", "1,5", "-1.5E-3"])
def test_numbers(number: str) -> None:
    assert len(said(fit_to(words([number] * 899 + ["none of them"])))) == 1


def test_numbers_that_are_names() -> None:
    """Few categories, and codes with leading zeros."""
    assert not said(fit_to(words([str(i % 19) for i in range(N)])))
    assert len(said(fit_to(words([str(i % 20) for i in range(N)])))) == 1
    assert not said(fit_to(words([f"{i % 40:03}" for i in range(N)])))


def test_nine_cells_of_ten() -> None:
    """Of the cells that have a value; by how many there are, not by how many are different."""
    for n_odd, expected in ((0, 1), (1, 1), (90, 1), (91, 0), (450, 0)):
        assert len(said(fit_to(ages(n_odd=n_odd)))) == expected, n_odd
    with_holes = words([*ages(450, 45), *[None] * 450])
    assert len(said(fit_to(with_holes))) == 1
    assert len(said(fit_to(words([*ages(450, 46), *[None] * 450])))) == 0
    often = words(["0"] * 810 + [f"word {i}" for i in range(90)])
    assert len(said(fit_to(often))) == 1
    assert len(said(fit_to(words(["0"] * 809 + [f"word {i}" for i in range(91)])))) == 0
    names = words([f"n{i}" for i in range(810)] + ["n0"] * 90)
    assert len(said(fit_to(names))) == 1
    assert len(said(fit_to(words([f"n{i}" for i in range(809)] + ["n0"] * 91)))) == 0


def test_not_below_fifty_rows() -> None:
    for n, expected in ((49, 0), (50, 1)):
        for column in (ages(n), words(DAYS[:n]), words([f"n{i}" for i in range(n)])):
            assert len(said(fit_to(column, n))) == expected
        constant = {"x": np.zeros(n)}
        assert len(said(lambda: TreeClassifier().fit(constant, labels(n)))) == expected  # noqa: B023
    holes = words([*ages(49), *[None] * 100])
    assert said(fit_to(holes, 149)) == []
    weight = np.where(np.arange(N) < 49, 1, 0)
    X = {"c": ages(), "x": labels().astype(float)}
    assert said(lambda: TreeClassifier().fit(X, labels(), sample_weight=weight)) == []


def test_what_the_user_has_said_is_not_doubted() -> None:
    for column in (ages(), words(DAYS), words([f"n{i}" for i in range(N)])):
        frame = pandas.DataFrame({"c": column})
        levels = sorted(set(column.tolist()))
        assert said(fit_to(column, categorical_features=["c"])) == []
        assert said(fit_to(column, categorical_features={"c": None})) == []
        assert said(fit_to(column, categorical_features={"c": levels})) == []
        assert said(fit_to(frame["c"].astype("category"))) == []
        assert said(fit_to(fasttree.Categorical(column))) == []
        assert said(fit_to(pa.array(column.tolist()).dictionary_encode())) == []
        for library in (frame["c"], polars.Series(column.tolist()), pa.array(column.tolist())):
            assert len(said(fit_to(library))) == 1


def test_once_a_call() -> None:
    X = {"c": ages(), "x": labels().astype(float)}
    y = labels()
    rng = np.random.default_rng(0)
    noise = {"c": ages(), "x": rng.normal(size=N)}
    for run in (
        lambda: CARTClassifier().fit(X, y),  # which grows trees of folds
        lambda: RuleClassifier().fit(X, y),
        lambda: RuleClassifier(estimate="validation").fit(X, y),
        lambda: C45Classifier(pruning="cross_validated").fit(X, y),
        lambda: fasttree.select_depth(X, y),
        lambda: fasttree.compare_methods(X, y, ["CART", "C4.5"], folds=3),
        lambda: fasttree.compare_methods(noise, y, {"a": C45Classifier()}, folds=3),  # leaves
        lambda: fasttree.rank_attributes(X, y),
        lambda: Columns(X, y),
    ):
        found = said(run)
        assert len(found) == 1, found
        assert "was read as 73 categories" in found[0]
    encoded = []
    assert len(said(lambda: encoded.append(Columns(X, y)))) == 1
    assert said(lambda: TreeClassifier().fit(encoded[0])) == []
    model = TreeClassifier().set_params(min_category_count=2)
    assert len(said(lambda: model.fit(X, y))) == 1
    assert said(lambda: model.predict(X)) == []
    assert len(said(lambda: model.fit(X, y))) == 1


def test_each_thread_is_told() -> None:
    found: list[int] = []
    with doubts.speaking(None):
        assert said(fit_to(ages())) == []
        thread = threading.Thread(target=lambda: found.append(len(said(fit_to(ages())))))
        thread.start()
        thread.join()
    assert found == [1]
    assert len(said(fit_to(ages()))) == 1


# -- one leaf --------------------------------------------------------------------------------------


def noise(n: int = N) -> dict[str, Any]:
    """As many of each class with each number."""
    return {"x": np.arange(n) // 2 % 3.0}


def towns(n: int = N) -> np.ndarray:
    return words([f"town {i}" for i in np.random.default_rng(1).integers(0, 300, n)])


@pytest.mark.parametrize(
    ("model", "X", "y", "reason"),
    [
        (
            TreeClassifier(),
            noise(),
            np.zeros(N, int),
            "all rows have the class 0, so there is nothing to distinguish",
        ),
        (
            TreeClassifier(),
            {"x": np.ones(N)},
            labels(),
            "every column is constant: pass columns with at least two distinct values",
        ),
        (
            TreeClassifier(min_samples_leaf=500),
            noise(),
            labels(),
            "min_samples_leaf=500 does not allow any split of 900 rows",
        ),
        (
            TreeClassifier(min_samples_split=901),
            noise(),
            labels(),
            "min_samples_split=901 does not allow any split of 900 rows",
        ),
        (
            TreeClassifier(min_gain=0.4),
            noise(),
            labels(),
            "no split meets min_gain: relax",
        ),
        (
            C45Classifier(),
            noise(),
            labels(),
            "the columns have too little information about the classes",
        ),
        (
            TreeClassifier(pruning=fasttree.pruning.LeafPenalty(50)),
            noise(),
            labels(),
            "pruning removed all splits, since the columns have too little information about the classes: use "
            "pruning=None",
        ),
        (
            CARTClassifier(),
            noise() | {"town": towns()},
            labels(),
            r"column 'town' has \d+ categories in 900 rows, which hides the information in the other columns: leave "
            r"the column out, or set min_category_count=20",
        ),
    ],
)
def test_a_tree_of_one_leaf(model: Any, X: Any, y: Any, reason: str) -> None:
    found = said(lambda: model.fit(X, y))
    assert len(found) == 1
    assert re.match(f"the tree is one leaf: .*{reason}", found[0]), found


def test_one_leaf_that_was_asked_for() -> None:
    for parameters in ({"max_depth": 0}, {"max_leaves": 1}):
        assert said(lambda: TreeClassifier(**parameters).fit(noise(), labels())) == []  # noqa: B023


def test_the_cost_is_that_of_labels_not_of_cells() -> None:
    """Of many names only a tenth is looked at, of words without a digit none."""
    asked = 0

    class Counting:
        def fullmatch(self, text: str) -> Any:
            nonlocal asked
            asked += 1
            return doubts._NUMBER.fullmatch(text)

    column = fasttree.tables.training.read_table(
        {"c": words([f"{i} m" for i in range(5000)] * 4)}
    ).columns[0]
    count = doubts._counts(column, 5000)
    assert doubts._odd_ones(list(column.categories), count, 20_000, Counting()) is None
    assert asked <= 501
