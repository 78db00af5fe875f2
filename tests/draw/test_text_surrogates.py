# SPDX-License-Identifier: BSD-3-Clause
"""A tree as text that says where rows go that do not know the attribute of a split."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from printed_trees import read_table

from fasttree import CARTClassifier, Categorical, TreeClassifier

# The figures are those of rpart 4.1.19: summary(rpart(...)) prints them with three decimals. Of the patients with a
# grade up to 2.5 that have a g2 none is aneuploid, so that ploidy says nothing of those there.
STAGEC = """\
grade <= 2.5
|   (if grade is missing: gleason <= 5.5, agreement 0.863, adjusted 0.672)
|   (if gleason too: ploidy = {diploid}, agreement 0.644, adjusted 0.148)
|   (if ploidy too: g2 <= 9.945, agreement 0.630, adjusted 0.115)
|   (if g2 too: age > 66.5, agreement 0.589, adjusted 0.016)
|   g2 <= 13.19: No (40/2)
|   |   (if g2 is missing: ploidy = {diploid}, agreement 0.983, adjusted 0.952)
|   |   (if ploidy too or another category: here)
|   g2 > 13.19: No (21/7)
|   |   (if g2 is missing: ploidy = {tetraploid}, agreement 0.983, adjusted 0.952)
grade > 2.5
|   (if grade is missing: gleason > 5.5, agreement 0.863, adjusted 0.672)
|   (if gleason too: ploidy = {tetraploid, aneuploid}, agreement 0.644, adjusted 0.148)
|   (if ploidy too: g2 > 9.945, agreement 0.630, adjusted 0.115)
|   (if g2 too: age <= 66.5, agreement 0.589, adjusted 0.016)
|   (if age too: here)
|   g2 <= 13.2: No (40/17)
|   |   (if g2 is missing: ploidy = {diploid, aneuploid}, agreement 0.962, adjusted 0.914)
|   |   (if ploidy too: age > 68.5, agreement 0.608, adjusted 0.114)
|   |   (if age too: gleason <= 6.5, agreement 0.582, adjusted 0.057)
|   g2 > 13.2: Prog (45/17)
|   |   (if g2 is missing: ploidy = {tetraploid}, agreement 0.962, adjusted 0.914)
|   |   (if ploidy too: age <= 68.5, agreement 0.608, adjusted 0.114)
|   |   (if age too: gleason > 6.5, agreement 0.582, adjusted 0.057)
|   |   (if gleason too: here)"""


@pytest.fixture(scope="module")
def stagec() -> Any:
    model = CARTClassifier(max_depth=2, min_samples_split=20, min_samples_leaf=7, pruning=None)
    return model.fit(*read_table("stagec"))


def test_the_surrogates_of_rpart(stagec: Any) -> None:
    assert stagec.to_text(surrogates=True) == STAGEC


def test_all_the_digits_of_a_threshold_if_asked_for(stagec: Any) -> None:
    """Halfway between 13.17 and 13.21 lies a float64 that takes more digits than they have."""
    exact = stagec.to_text(surrogates=True, exact=True)
    assert exact == STAGEC.replace("13.19", "13.190000000000001")


def test_they_are_left_out_unless_asked_for(stagec: Any) -> None:
    """But the text says where training rows lacked the value; g2 some on both sides of the grade, which all have."""
    X, _ = read_table("stagec")
    lacks_g2 = np.isnan(X["g2"])
    assert (lacks_g2 & (X["grade"] <= 2.5)).any()
    assert (lacks_g2 & (X["grade"] > 2.5)).any()
    plain = [line for line in STAGEC.splitlines() if "(if " not in line]
    said = [re.sub(r"(g2 \S+ [0-9.]+)", r"\1 or missing (surrogates)", line) for line in plain]
    note = "Where no branch is marked, surrogates route missing values."  # at the grade
    assert stagec.to_text().splitlines() == [*said, "", note]


def test_the_text_is_what_prediction_does(stagec: Any) -> None:
    """Rows that know nothing but one attribute take the branch whose line names their value."""
    unknown: dict[str, Any] = {name: np.array([np.nan]) for name in stagec.feature_names_in_}
    unknown["ploidy"] = [None]
    first = stagec.tree_.first_child[0]

    def side(**known: Any) -> int:
        leaf = stagec.apply(unknown | {name: [value] for name, value in known.items()})[0]
        return int(stagec.tree_.parent[leaf] - first)

    assert [side(gleason=5.5), side(gleason=5.6)] == [0, 1]
    assert [side(ploidy="diploid"), side(ploidy="aneuploid")] == [0, 1]
    assert [side(age=66.6), side(age=66.5)] == [0, 1]
    assert side() == 1


def test_a_split_without_surrogates_names_the_heavier_branch() -> None:
    X = {"size": np.array([1.0, 1, 8, 8, 9, 9]), "kind": ["a", "a", "b", "b", "b", "b"]}
    model = CARTClassifier(pruning=None).fit(X, [0, 0, 1, 1, 2, 2])
    assert model.to_text(surrogates=True).splitlines() == [
        "size <= 4.5: 0 (2)",
        "|   (if size is missing: kind = {a}, agreement 1.000, adjusted 1.000)",
        "size > 4.5",
        "|   (if size is missing: kind = {b}, agreement 1.000, adjusted 1.000)",
        "|   (if kind too: here)",
        "|   size <= 8.5 (or missing): 1 (2)",
        "|   size > 8.5: 2 (2)",
        "",
        '"(or missing)": the branch for missing values.',
    ]


def test_ordered_levels() -> None:
    levels = ["small", "medium", "large"]
    codes = np.arange(30) % 3
    size = [None if row < 3 else levels[code] for row, code in enumerate(codes)]
    X = {"weight": codes.astype(float), "size": Categorical(size, levels, ordered=True)}
    # The three rows without a size count as mistakes: 27 of 30, and 7 of the 10 of the lighter side.
    assert CARTClassifier(pruning=None).fit(X, codes > 1).to_text(surrogates=True).splitlines() == [
        "weight <= 1.5: False (20)",
        "|   (if weight is missing: size = {small, medium}, agreement 0.900, adjusted 0.700)",
        "|   (if size too: here)",
        "weight > 1.5: True (10)",
        "|   (if weight is missing: size = {large}, agreement 0.900, adjusted 0.700)",
    ]


@pytest.mark.parametrize("missing", ["branch", "category", "fractional", "error"])
def test_other_policies_have_none(missing: str) -> None:
    model = TreeClassifier(missing=missing).fit([[1.0], [2.0], [3.0]], [0, 1, 0])
    assert model.to_text(surrogates=True) == model.to_text()


def test_a_leaf() -> None:
    model = CARTClassifier(max_depth=0).fit([[1.0], [2.0]], [0, 0])
    assert model.to_text(surrogates=True) == model.to_text() == "all rows: 0 (2)"
