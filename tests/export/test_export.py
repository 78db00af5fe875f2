# SPDX-License-Identifier: BSD-3-Clause
"""The one table of export formats, and what `export` does with it."""

from __future__ import annotations

import math
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fasttree
from fasttree.base.text import number_text, weight_text
from fasttree.export import EXPORTERS, RULE_EXPORTERS

X = {"x": np.arange(6.0), "colour": np.array(["red", "blue"] * 3, dtype=object)}
Y = ["a", "b", "a", "a", "b", "b"]


@pytest.fixture
def tree() -> Any:
    return fasttree.TreeClassifier().fit(X, Y)


@pytest.mark.parametrize("format", EXPORTERS)
def test_every_format_is_returned_and_written(format: str, tree: Any, tmp_path: Path) -> None:
    path = tmp_path / f"model{EXPORTERS[format].ending}"
    content = tree.export(format, path)
    assert isinstance(content, str if EXPORTERS[format].is_text else bytes)
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert content == tree.export(format)
    assert EXPORTERS[format].help
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("format", RULE_EXPORTERS)
def test_rules_have_formats_too(format: str, tmp_path: Path) -> None:
    rules = fasttree.RuleClassifier().fit(X, Y)
    path = tmp_path / "rules"
    assert rules.export(format, path) == path.read_text() == rules.export(format)
    if format == "markdown":
        assert "| #" in rules.export(format, max_rules=0)


def test_text_says_how_to_read_it() -> None:
    model = fasttree.TreeClassifier(max_depth=1).fit([[1.0], [2.0], [3.0], [4.0]], list("nnyn"))
    assert model.to_text().splitlines() == [
        "x0 <= 2.5 (or missing): n (2)",
        "x0 > 2.5: n (2/1)",
        "",
        '"(or missing)": no values were missing there in training.',
    ]
    assert model.export("text").splitlines() == [
        "x0 <= 2.5 (or missing): n (2)",
        "x0 > 2.5: n (2/1)",
        "",
        "After a class: the weight of the training rows there and, after the slash, of those with another class.",
        '"(or missing)": no values were missing there in training.',
    ]


def test_a_short_text_says_where_values_go_that_training_lacked() -> None:
    """Below x > 1.5 nobody lacks x: such rows went to the left with three of the five."""
    X, y = {"x": np.array([1.0, 1, 1, 2, 3])}, list("nnnyz")
    left = ["x <= 1.5 (or missing): n (3)", "x > 1.5", "|   x <= 2.5: y (1)", "|   x > 2.5: z (1)"]
    model = fasttree.TreeClassifier().fit(X, y)
    note = '"(or missing)": no values were missing there in training.'
    assert model.to_text().splitlines() == [*left, "", note]
    note = '"(or missing)": the branch for missing values.'  # a tree knows no more
    assert str(model.tree_).splitlines() == [*left, "", note]
    assert model.export("text").splitlines()[:4] == left
    assert model.export("python").count("(or missing)") == 2  # the text, as a remark
    plain = [line.replace(" (or missing)", "") for line in left]
    assert fasttree.TreeClassifier(missing="error").fit(X, y).to_text().splitlines() == plain
    assert fasttree.TreeClassifier(missing="fractional").fit(X, y).to_text().splitlines() == plain
    surrogates = fasttree.CARTClassifier(pruning=None).fit({**X, "z": X["x"] * 2}, y).to_text()
    note = "Where no branch is marked, surrogates route missing values."
    assert surrogates.splitlines()[-1] == note


def test_where_missing_values_are_refused_levels_may_be_unseen() -> None:
    X, y = {"x": [1, 1, 2, 2], "c": list("abab")}, list("nyzz")
    model = fasttree.TreeClassifier(missing="error").fit(X, y)
    assert model.to_text().splitlines() == [
        "x <= 1.5",
        "|   c = a (or unseen): n (1)",
        "|   c = b: y (1)",
        "x > 1.5: z (2)",
        "",
        '"(or unseen)": the branch for categories not seen in training.',
    ]
    assert model.predict({"x": [1], "c": ["d"]}) == ["n"]
    refuses = fasttree.TreeClassifier(missing="error", unknown="error").fit(X, y)
    assert "unseen" not in refuses.to_text()


def test_a_short_text_says_what_a_name_of_several_levels_stands_for() -> None:
    towns = [f"t{i:02}" for i in range(12)]
    X = {"town": [*towns, *["Bonn"] * 4, *["Ulm"] * 4], "ward": list("abcdefghijklmnopqrst")}
    y = [*"ny" * 6, *"nnnn", *"yyyy"]
    model = fasttree.TreeClassifier(min_category_count=3, categorical_split="multiway").fit(X, y)
    note = "town = other: any category except {Bonn, Ulm} (12 in training, each with too few rows)."
    assert model.to_text().splitlines()[-1] == note
    assert "ward" not in model.to_text()  # of which all levels are the same to the tree
    listed = ", ".join(towns[:8])
    note = (
        f"town = other: one of the categories with too few training rows, {{{listed}, and 4 more}}."
    )
    model.set_params(unknown="error").fit(X, y)
    assert model.to_text().splitlines()[-1] == note
    assert ", ".join(towns) in model.export("text")


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (6.00011, "6"),
        (7 / 6, "1.17"),
        (0.5, "0.5"),
        (12275.306, "12275.31"),
        (1234567.0, "1234567"),
        (1234567.89, "1234567.89"),
        (1e15 + 0.5, "1000000000000000.5"),
        (0.0949, "0.095"),
        (0.004, "0.004"),
        (0.00001234, "1.2e-05"),
    ],
)
def test_weights_are_read_by_people(weight: float, text: str) -> None:
    assert weight_text(weight) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (math.inf, "inf"),
        (0.0, "0"),
        (-2.0, "-2"),
        (13.17 / 2 + 13.21 / 2, "13.19"),  # what halving leaves behind the digits is no digit
        (37.1 / 2 + 37.2 / 2, "37.15"),
        (1.23 / 2 + 1.24 / 2, "1.235"),
        (1234.565, "1234.565"),
        (123457.5, "123457.5"),  # not 123458, which lies above it
        (24.691358024691358, "24.6914"),
        (-24.691358024691358, "-24.6914"),
        (1.100000023841858, "1.1"),
        (123456.78901234567, "123456.8"),
        (99999.123456789, "99999.1"),
        (12345678901.5, "12345678901.5"),
        (1e15 + 0.5, "1e+15"),
        (2.0**53, "9.0072e+15"),
        (1.5e-7, "1.5e-07"),
        (1 / 3e7, "3.33333e-08"),
        (1.7976931348623157e308, "1.79769e+308"),
    ],
)
def test_numbers_are_read_by_people(value: float | None, text: str) -> None:
    assert number_text(value) == text


def test_a_text_has_all_the_digits_only_if_asked_for() -> None:
    """Halfway between 13.17 and 13.21 there is noise behind 13.19; sevenths have more digits than anyone reads."""
    model = fasttree.TreeClassifier().fit({"a": np.array([13.17, 13.21])}, ["n", "y"])
    assert model.to_text().startswith("a <= 13.19 (or missing): n (1)\na > 13.19: y (1)\n\n")
    assert "a <= 13.190000000000001 (or missing): n" in model.to_text(exact=True)
    assert "a <= 13.190000000000001 (or missing): n" in model.export("text")
    model = fasttree.TreeClassifier().fit({"a": np.array([1 / 7, 2 / 7])}, ["n", "y"])
    assert model.to_text().startswith("a <= 0.214286 (or missing): n (1)\na > 0.214286: y (1)\n\n")
    for text in (model.to_text(exact=True), model.export("text"), model.export("dot")):
        assert "<= 0.21428571428571427" in text
    assert "0.214286" in model.export("svg")


def test_many_rows_are_written_out_in_every_text() -> None:
    """The third row is shared out by halves; 1.23457e+06 rows are nothing to read."""
    x, y = np.array([[0.0], [1.0], [np.nan]]), ["no", "yes", "yes"]
    model = fasttree.TreeClassifier(missing="fractional")
    model.fit(x, y, sample_weight=[1_234_567, 1_234_567, 1])
    texts = [model.to_text(), model.export("dot")]
    texts += [model.rules().to_text(), model.rules().to_markdown()]
    for text in texts:
        assert "1234567.5" in text
        assert "e+" not in text
    assert "1,234,568 rows" in model.export("svg")


def test_a_file_is_replaced_as_a_whole(tree: Any, tmp_path: Path) -> None:
    path = tmp_path / "tree.txt"
    path.write_text("old")
    path.chmod(0o640)
    tree.export("text", path)
    assert path.read_text() == tree.export("text")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.unlink()
    path.mkdir()  # what cannot be replaced
    with pytest.raises(OSError, match=r"tree\.txt"):
        tree.export("text", path)
    assert os.listdir(tmp_path) == ["tree.txt"]


def test_what_is_asked_wrongly(tree: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"format must be one of 'text', .*got 'yaml'"):
        tree.export("yaml")
    with pytest.raises(ValueError, match=r"format must be one of .*got None"):
        tree.export(None)
    with pytest.raises(TypeError, match=r"'text' has no option 'dialect'.*options are 'complete'"):
        tree.export("text", dialect="ansi")
    with pytest.raises(
        FileNotFoundError, match=r"the directory .*nowhere.* does not exist: create it"
    ):
        tree.export("text", tmp_path / "nowhere" / "tree.txt")
    with pytest.raises(ValueError, match="not fitted"):
        fasttree.TreeClassifier().export("text")
    with pytest.raises(ValueError, match=r"format must be one of 'text', 'markdown'"):
        fasttree.RuleClassifier().fit(X, Y).export("sql")
    with pytest.raises(ValueError, match="unknown must be"):
        tree.set_params(unknown="nonsense").export("text")


@pytest.mark.parametrize("format", ["c", "onnx"])
@pytest.mark.parametrize(
    ("column", "y"), [(["\ud800", "b"], [0, 1]), ([1, 2], ["\ud800", "b"])], ids=["level", "class"]
)
def test_half_of_a_character(format: str, column: list[Any], y: list[Any]) -> None:
    """Python has such texts, and UTF-8 has not."""
    fitted = fasttree.TreeClassifier().fit({"x": column}, y)
    with pytest.raises(
        ValueError, match=rf"{format!r} cannot write an incomplete character .*'\\ud800': rename"
    ):
        fitted.export(format)
