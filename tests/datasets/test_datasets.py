# SPDX-License-Identifier: BSD-3-Clause
"""The package's small tables against a second copy, written out by hand."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import textbook_tables as tables
from textbook_tables import Labels, Table

from fasttree import datasets

TABLES = {
    "play_tennis": (datasets.play_tennis, tables.PLAY_TENNIS),
    "buys_computer": (datasets.buys_computer, tables.BUYS_COMPUTER),
    "temperature": (datasets.temperature, tables.SIX_TEMPERATURES),
    "mammals": (datasets.mammals, tables.MAMMALS_10),
    "mammals, test": (lambda **k: datasets.mammals("test", **k), tables.MAMMALS_TEST),
    "mammals, 8 rows": (lambda **k: datasets.mammals("train8", **k), tables.MAMMALS_8),
    "mammals, 5 rows": (lambda **k: datasets.mammals("train5", **k), tables.MAMMALS_5),
}
every_table = pytest.mark.parametrize(("load", "expected"), TABLES.values(), ids=TABLES)


def assert_same(column: Any, expected: Any) -> None:
    if isinstance(expected, Labels):
        assert tuple(np.asarray(column)) == expected.values
        assert tuple(column.categories) == expected.order
        assert np.asarray(column.codes).tolist() == expected.codes
    else:
        assert column.dtype == np.float64
        assert column.tolist() == list(expected)


@every_table
def test_columns_values_and_orders(load: Any, expected: Table) -> None:
    X, y = load()
    assert tuple(X) == expected.names
    for name, column in expected.columns.items():
        assert_same(X[name], column)
    assert_same(y, expected.target)


@every_table
def test_as_frame(load: Any, expected: Table) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = load(as_frame=True)
    assert isinstance(X, pandas.DataFrame)
    assert tuple(X.columns) == expected.names
    for name, column in expected.columns.items():
        assert_same(X[name].array if isinstance(column, Labels) else X[name], column)
    assert isinstance(y, pandas.Series)
    assert_same(y.array, expected.target)
    assert y.index.equals(X.index)


@pytest.mark.parametrize("part", ["train10", "test", "train8", "train5"])
def test_names_of_the_animals_stay_out_of_the_attributes(part: Any) -> None:
    pytest.importorskip("pandas")
    names = datasets.mammal_names(part)
    X, y = datasets.mammals(part)
    frame, _ = datasets.mammals(part, as_frame=True)
    assert len(names) == len(y)
    assert "Name" not in X
    assert "Name" not in frame.columns
    assert frame.index.tolist() == names


def test_who_is_who() -> None:
    assert datasets.mammal_names()[2:4] == ["bat", "whale"]
    assert datasets.mammal_names("train8")[:5] == datasets.mammal_names("train5")
    assert datasets.mammal_names("test") == [
        name.replace("_", " ") for name in tables.MAMMALS_TEST_NAMES
    ]


def test_names_of_the_classes() -> None:
    pytest.importorskip("pandas")
    names = {name: load(as_frame=True)[1].name for name, (load, _) in TABLES.items()}
    assert names["play_tennis"] == "PlayTennis"
    assert names["buys_computer"] == "buys_computer"
    assert names["temperature"] == "PlayGolf"
    assert names["mammals"] == names["mammals, test"] == "Mammals"


def test_every_call_gives_a_new_table() -> None:
    X, _ = datasets.play_tennis()
    X.clear()
    assert len(datasets.play_tennis()[0]) == 4


def test_an_unknown_part_is_named() -> None:
    with pytest.raises(
        ValueError, match="part must be one of 'train10', 'test', 'train8', 'train5', got 10"
    ):
        datasets.mammals(10)


def test_pandas_is_only_imported_when_asked_for() -> None:
    script = (
        "import sys; from fasttree import datasets; datasets.play_tennis(); datasets.temperature();"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_without_pandas_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"as_frame=True requires pandas: .* as_frame=False"):
        datasets.play_tennis(as_frame=True)
