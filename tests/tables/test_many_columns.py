# SPDX-License-Identifier: BSD-3-Clause
"""Tables of very many columns: what is done grows with the columns, not with their square.

What is counted: how often a name is compared or hashed, and calls of functions (each item of a generator is one).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from counting import calls

import fasttree
from fasttree import TreeClassifier
from fasttree.batch import score_files
from fasttree.batch.models import scorer_of
from fasttree.batch.score_batch import Options, lay_out
from fasttree.export import EXPORTERS
from fasttree.files.tables import columns_named

FEW, MANY = 60, 240
ROWS = 12


class Name(str):
    """Text that counts how often it is asked what it is."""

    __slots__ = ()
    asked: ClassVar[int] = 0

    def __str__(self) -> str:
        return self

    def __eq__(self, other: object) -> bool:
        Name.asked += 1
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        Name.asked += 1
        return str.__ne__(self, other)

    def __hash__(self) -> int:
        Name.asked += 1
        return str.__hash__(self)


def table(n: int) -> tuple[dict[str, Any], list[str]]:
    """Numbers and text in turns."""
    rng = np.random.default_rng(0)
    words = np.array(["a", "b", "c"], dtype=object)
    columns = {
        Name(f"column {place}"): rng.normal(size=ROWS)
        if place % 2
        else words[rng.integers(0, 3, ROWS)]
        for place in range(n)
    }
    return columns, ["p", "q"] * (ROWS // 2)


def fit(X: Any, y: Any, **parameters: Any) -> TreeClassifier:
    return TreeClassifier(max_depth=2, **parameters).fit(X, y)


class Named:
    """As much of a table of Arrow as messages on its columns ask for."""

    def __init__(self, names: list[str]) -> None:
        self.column_names = names


Work = Callable[[Any, Any, TreeClassifier], Any]  # of a table, its classes and a model of both
BY_NAME: dict[str, Work] = {
    "fit": lambda X, y, model: fit(X, y),
    "fit pandas": lambda X, y, model: fit(pd.DataFrame(X), y),
    "categorical names": lambda X, y, model: fit(X, y, categorical_features=list(X)),
    "categorical levels": lambda X, y, model: fit(X, y, categorical_features=dict.fromkeys(X)),
    "costs": lambda X, y, model: fit(X, y, attribute_costs=dict.fromkeys(X, 2.0)),
    "predict": lambda X, y, model: model.predict(X),
    "predict reversed": lambda X, y, model: model.predict(dict(reversed(X.items()))),
    "files keep all": lambda X, y, model: lay_out(
        scorer_of(model), list(X), Options(columns="all"), "it"
    ),
    "files keep some": lambda X, y, model: lay_out(
        scorer_of(model), list(X), Options(columns=list(X)), "it"
    ),
    "options": lambda X, y, model: columns_named(Named(list(X)), list(X), "--drop", Path("x.csv")),
    "SQL": lambda X, y, model: model.export("sql", columns={name: name for name in X}),
}


@pytest.mark.parametrize("what", BY_NAME)
def test_names_are_looked_up_and_not_searched(what: str) -> None:
    asked = []
    for n in (FEW, MANY):
        columns, y = table(n)
        model = fit(columns, y)
        before = Name.asked
        BY_NAME[what](columns, y, model)
        asked.append(Name.asked - before)
    assert 0 < asked[1] <= asked[0] * MANY / FEW * 1.1


def as_table(kind: str, columns: dict[str, Any]) -> Any:
    plain = {str.__str__(name): values for name, values in columns.items()}
    if kind == "lists":
        return [list(row) for row in zip(*plain.values(), strict=True)]
    makers: dict[str, Callable[[Any], Any]] = {
        "dict": dict,
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "arrow": pa.table,
    }
    return makers[kind](plain)


KINDS = ("dict", "lists", "pandas", "polars", "arrow")
WORK: dict[str, Work] = {
    "fit": lambda X, y, model: fit(X, y),
    "predict": lambda X, y, model: model.predict(X),
    "rank": lambda X, y, model: fasttree.rank_attributes(X, y),
    "rank by tables": lambda X, y, model: fasttree.rank_attributes(X, y, criterion="adjusted_gini"),
    "rules": lambda X, y, model: model.rules().to_text(),
    "copy": lambda X, y, model: TreeClassifier(**model.get_params()).fit(X, y),
}


def work_of(what: Work, n: int, kind: str = "dict") -> int:
    columns, y = table(n)
    X = as_table(kind, columns)
    model = fit(X, y)
    what(X, y, model)  # what is imported and remembered
    return calls(lambda: what(X, y, model))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", WORK)
def test_work_grows_with_the_columns(what: str, kind: str) -> None:
    few, many = (work_of(WORK[what], n, kind) for n in (FEW, MANY))
    assert many <= few * MANY / FEW * 1.1


@pytest.mark.parametrize("format", EXPORTERS)
def test_work_of_exports_grows_with_the_columns(format: str) -> None:
    def export(X: Any, y: Any, model: Any) -> None:
        # Each column is asked for whatever the rows are: with levels, and with what is refused.
        model.export(format)

    few, many = (work_of(export, n) for n in (FEW, MANY))
    assert many <= few * MANY / FEW * 1.1


def test_save_and_load(tmp_path: Path) -> None:
    def there_and_back(X: Any, y: Any, model: Any) -> None:
        model.save(tmp_path / "model")
        fasttree.load(tmp_path / "model")

    few, many = (work_of(there_and_back, n) for n in (FEW, MANY))
    assert many <= few * MANY / FEW * 1.1


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_files(kind: str, tmp_path: Path) -> None:
    from batch_tables import write

    def score(X: Any, y: Any, model: Any) -> None:
        source = write(pa.table(X), tmp_path / f"in.{kind}")
        score_files(model, [source], tmp_path / f"out.{kind}", force=True, columns="all")

    few, many = (work_of(score, n) for n in (FEW, MANY))
    assert many <= few * MANY / FEW * 1.1


@pytest.mark.parametrize("kind", ["polars", "arrow"])
def test_columns_of_a_frame_are_taken_all_at_once(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One by one, each would make a list of all the names, out of sight."""
    import narwhals.stable.v2 as nw

    def refuse(*_: Any) -> Any:
        raise AssertionError("a column was taken by its place")

    columns, y = table(FEW)
    expected = fit(columns, y)
    monkeypatch.setattr(nw.DataFrame, "__getitem__", refuse)
    X = as_table(kind, columns)
    assert fit(X, y).tree_ == expected.tree_
    assert np.array_equal(expected.predict(X), expected.predict(columns))
