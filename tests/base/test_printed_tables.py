# SPDX-License-Identifier: BSD-3-Clause
"""Tables of results as text, Markdown and data frames."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

from fasttree import ID3Classifier, compare_methods, datasets
from fasttree.base.printed_tables import aligned, data_frame, markdown

ROWS = [["name", "mean"], ["a", "0.5"], ["long one", "-12.5"]]


def test_text() -> None:
    assert aligned(ROWS, n_left=1).splitlines() == [
        "name       mean",
        "a           0.5",
        "long one  -12.5",
    ]


def test_text_with_numbers_in_front() -> None:
    rows = [["node", "name"], ["0", "a"], ["12", "b"]]
    assert aligned(rows, left=(1,)).splitlines() == ["node  name", "   0  a", "  12  b"]


def test_markdown() -> None:
    assert markdown(ROWS).splitlines()[:3] == ["| name | mean |", "| --- | ---: |", "| a | 0.5 |"]


def test_a_bar_in_a_name_does_not_end_its_cell() -> None:
    comparison = compare_methods(*datasets.play_tennis(), {"a|b": ID3Classifier(max_depth=1)})
    assert "\n| a\\|b | " in comparison.to_markdown(["leaves"])


def test_data_frames() -> None:
    columns = {"name": ["a", "b"], "mean": [1.0, 2.0]}
    assert data_frame(columns, "dict", "pandas") is columns
    assert isinstance(data_frame(columns, None, "polars"), pl.DataFrame)
    assert isinstance(data_frame(columns, None, "pandas"), pd.DataFrame)
    assert isinstance(data_frame(columns, "pandas", "polars"), pd.DataFrame)
    with pytest.raises(
        ValueError, match="backend must be one of 'pandas', 'polars', 'dict', got 'R'"
    ):
        data_frame(columns, "R", "pandas")
