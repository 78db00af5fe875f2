# SPDX-License-Identifier: BSD-3-Clause
"""What `columns()` of a fitted model says its table was."""

from __future__ import annotations

import datetime
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fasttree
from fasttree import Categorical, Columns, RuleClassifier, TreeClassifier
from fasttree.tables.column_list import columns_of

OLD = Path(__file__).parents[1] / "data" / "models" / "0.1.0"


def table() -> tuple[dict[str, Any], list[str]]:
    n = 12
    day = datetime.date(2024, 2, 28)
    word = np.array(["b", "a", None, "c"] * 3, dtype=object)
    return {
        "number": [float(i % 5) - 1 if i else None for i in range(n)],
        "word": word,
        "size": Categorical(["S", "M"] * 6, ["S", "M", "L"], ordered=True),
        "flag": [True, True, None] * 4,
        "day": [day + datetime.timedelta(days=i % 4) for i in range(n)],
        "stay": np.arange(n).astype("m8[h]"),
        "nothing": [None] * n,
    }, list("xy" * 6)


EXPECTED = [  # by looking at the table
    ("number", "numeric", 5, 1, "-1"),
    ("word", "categorical", 3, 3, "a"),
    ("size", "ordered", 2, 0, "S"),
    ("flag", "categorical", 1, 4, False),
    ("day", "time", 4, 0, "2024-02-28"),
    ("stay", "duration", 12, 0, "0 days"),
    ("nothing", "categorical", 0, 12, None),
]


def said(columns: Any) -> list[tuple[Any, ...]]:
    return [(c.name, c.kind, c.distinct, c.missing, c.example) for c in columns]


@pytest.mark.parametrize(
    "kind", ["TreeClassifier", "C45Classifier", "MMLClassifier", "RuleClassifier"]
)
def test_by_name(kind: str, tmp_path: Path) -> None:
    X, y = table()
    model = getattr(fasttree, kind)().fit(X, y)
    columns = model.columns()
    assert [row[:4] for row in said(columns)] == [row[:4] for row in EXPECTED]
    assert [c.example for c in columns][:5] == [row[4] for row in EXPECTED][:5]
    assert columns[-1].example is None
    model.save(tmp_path / "m")
    assert said(fasttree.load(tmp_path / "m").columns()) == said(columns)
    assert said(columns_of(Columns(X, y).encoded.schema)) == said(columns)


def test_printed() -> None:
    X = {"age": [30, 41, None, 30], "town": np.array(["Ulm", "a b: c", "Ulm", None], dtype=object)}
    assert str(TreeClassifier().fit(X, list("xyxy")).columns()).splitlines() == [
        "column  kind         values  missing  example",
        "age     numeric           2        1  30",
        "town    categorical       2        1  Ulm",
    ]
    wide = {f"x{i}": np.arange(4) for i in range(50)}
    lines = TreeClassifier().fit(wide, list("xyxy")).columns().to_text(40).splitlines()
    assert len(lines) == 42
    assert lines[-1] == "... and 10 more (10 numeric)"


@pytest.mark.parametrize("max_bins", [None, 4])
@pytest.mark.parametrize("matrix", [True, False])
def test_bins_are_no_values(max_bins: int | None, matrix: bool) -> None:
    rng = np.random.default_rng(0)
    table = np.column_stack(
        [rng.normal(size=600), rng.integers(0, 3, 600), rng.integers(0, 400, 600)]
    )
    table[rng.random((600, 3)) < 0.1] = np.nan
    X = table if matrix else {f"x{i}": column for i, column in enumerate(table.T)}
    y = (np.nan_to_num(table[:, 0]) > 0).astype(int)
    for weight in (None, rng.integers(0, 2, 600)):
        rows = np.ones(600, bool) if weight is None else weight > 0
        found = TreeClassifier(max_bins=max_bins).fit(X, y, sample_weight=weight).columns()
        for column, values in zip(found, table[rows].T, strict=True):
            assert column.missing == np.isnan(values).sum()
            distinct = len(np.unique(values[~np.isnan(values)]))
            is_counted = max_bins is None or distinct <= max_bins
            assert column.distinct == (distinct if is_counted else None)
            assert column.more_than == (None if is_counted else max_bins)
            assert column.as_dict().get("more_than") == column.more_than
        assert (">4 " in str(found)) == (max_bins == 4)


def test_many_categories_and_those_of_few_rows() -> None:
    rng = np.random.default_rng(0)
    code = rng.integers(0, 400, 1200)
    words = np.array([f"w{i:03}" for i in code], dtype=object)
    words[::7] = None
    codes = Categorical.from_codes(
        np.where(np.arange(1200) % 7, code, -1), [f"w{i:03}" for i in range(500)]
    )
    X = {"word": words, "declared": codes, "x": code % 2}
    expected = len({word for word in words if word is not None})
    for least in (1, 3):
        model = TreeClassifier(min_category_count=least).fit(X, code % 2)
        for column in model.columns()[:2]:
            assert (column.distinct, column.missing) == (expected, len(words[::7]))
            assert (column.others > 0) == (least > 1)
        assert ("merged)" in str(model.columns())) == (least > 1)


def test_files_of_the_first_format_know_no_counts(tmp_path: Path) -> None:
    for file in sorted(OLD.glob("*.fasttree")):
        model = fasttree.load(file)
        assert getattr(model, "min_category_count", 1) == 1
        for column, attribute in zip(model.columns(), model.tree_.schema.attributes, strict=True):
            assert (column.distinct, column.missing) == (None, None)
            assert (column.kind == "numeric") == (attribute.categories is None)
        assert "?" in str(model.columns())
        shutil.copy(file, tmp_path / "old")
        model.save(tmp_path / "new")  # in the present format
        assert said(fasttree.load(tmp_path / "new").columns()) == said(model.columns())
        assert os.path.getsize(tmp_path / "new") > 0


def test_not_fitted_yet() -> None:
    with pytest.raises(ValueError, match="not fitted yet"):
        RuleClassifier().columns()


def test_as_json() -> None:
    X, y = table()
    found = json.loads(json.dumps([c.as_dict() for c in TreeClassifier().fit(X, y).columns()]))
    assert found[1] == {
        "name": "word",
        "kind": "categorical",
        "values": 3,
        "missing": 3,
        "example": "a",
    }
