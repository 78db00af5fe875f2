# SPDX-License-Identifier: BSD-3-Clause
"""Splits on very many categories: what is shown of them is short, says how many are not, and costs no more than their
number."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from counting import calls

from fasttree import TreeClassifier
from fasttree.draw.layout import layout
from fasttree.draw.terminal import draw
from fasttree.draw.terminal_bars import Look
from fasttree.draw.text_widths import WIDEST_LABEL, text_width

FEW, MANY = 150, 600


def grown(n: int, name: str = "level {}", **parameters: Any) -> TreeClassifier:
    """A split of n categories into two halves, and below it one on a number."""
    categories = np.array([name.format(k) for k in range(n)] * 2, dtype=object)
    size = np.arange(2 * n) % 7.0
    y = np.where((np.arange(2 * n) % n < n // 2) ^ (size > 5), "p", "q")
    return TreeClassifier(max_depth=2, **parameters).fit({"x": categories, "size": size}, y)


SHOWN: dict[str, Callable[[TreeClassifier], Any]] = {
    "svg": lambda model: model.export("svg"),
    "dot": lambda model: model.export("dot"),
    "text": lambda model: model.to_text(),
    "str": lambda model: str(model.tree_),
    "html": lambda model: model._repr_html_(),
    "terminal": lambda model: list(draw(model.tree_, Look(80))),
    "whole terminal": lambda model: list(draw(model.tree_, Look(80, everything=True))),
    "rules": lambda model: model.rules().to_text(),
    "Markdown": lambda model: model.rules().to_markdown(),
    "drawing": lambda model: layout(model.tree_),  # also matplotlib's
}


@pytest.mark.parametrize("what", SHOWN)
def test_work_grows_with_the_categories(what: str) -> None:
    work = []
    for n in (FEW, MANY):
        model = grown(n)
        SHOWN[what](model)  # what is imported and remembered
        work.append(calls(lambda model=model: SHOWN[what](model)))
    assert work[1] <= work[0] * MANY / FEW * 1.1


def test_a_label_counts_what_it_does_not_name() -> None:
    model = grown(1000)
    drawing = layout(model.tree_)
    labels = {branch.label: branch.full for branch in drawing.branches if branch.parent == 0}
    assert len(labels) == 2
    for lines, full in labels.items():
        short = " ".join(lines)
        found = re.fullmatch(
            r"\{(level \d+(?:, level \d+)*), and (\d+) more\}(?: \(or missing\))?", short
        )
        assert found is not None, short
        named = found[1].split(", ")
        assert len(named) >= 2
        assert full.startswith("{" + ", ".join(named))
        assert len(named) + int(found[2]) == len(full.split(", "))
        assert short.endswith("(or missing)") == full.endswith("(or missing)")
        assert all(text_width(line, 11.5) <= WIDEST_LABEL for line in lines)
    shown = model.export("svg")
    for full in labels.values():
        assert f"<title>{full}</title>" in shown  # where the mouse rests, all of it


@pytest.mark.parametrize("name", ["a rather long name of a level, number {}", "{:0>200}"])
def test_long_names_of_categories(name: str) -> None:
    for branch in layout(grown(50, name).tree_).branches:
        assert len(branch.label) <= 2
        assert all(text_width(line, 11.5) <= WIDEST_LABEL for line in branch.label)


def test_few_categories_are_all_named() -> None:
    drawing = layout(grown(6, "{}").tree_)
    labels = sorted(" ".join(b.label) for b in drawing.branches if b.parent == 0)
    assert labels == ["{0, 1, 2} (or missing)", "{3, 4, 5}"]


def test_missing_values_are_not_cut_off() -> None:
    categories = np.array([f"level {k}" for k in range(100)] * 2 + [None] * 20, dtype=object)
    y = ["p" if k % 100 < 50 else "q" for k in range(200)] + ["q"] * 20
    model = TreeClassifier(max_depth=1).fit({"x": categories}, y)
    taken = int(model.tree_.missing_branch[0])
    for place, branch in enumerate(layout(model.tree_).branches):
        end = " more} or missing" if place == taken else " more}"
        assert " ".join(branch.label).endswith(end)


def test_memory_of_rules_grows_with_the_branches() -> None:
    """A split with a branch for each category has as many rules, of one level each."""
    peaks = []
    for n in (1000, 4000):
        model = grown(n, categorical_split="multiway")
        tracemalloc.start()
        rules = model.rules()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(rules.conditions.codes) == n
    assert peaks[1] <= peaks[0] * 4 * 1.2
