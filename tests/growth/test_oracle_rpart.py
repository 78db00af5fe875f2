# SPDX-License-Identifier: BSD-3-Clause
"""CART against the full trees that rpart 4.1 (minsplit 2, minbucket 1, cp 0) prints, and its surrogates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from printed_rpart import parse_rpart, path_to, print_rpart, rpart_difference
from printed_trees import branches_of, read_sections, read_table
from textbook_tables import MAMMALS_10, PLAY_TENNIS, Table

from fasttree import CARTClassifier, Categorical
from fasttree.trees.tree import Tree

PRINTED = read_sections("rpart.txt")

# Nodes at which rows stay with rpart: both sides are equally heavy and no surrogate decides.
UNDECIDED = {
    "vote gini": frozenset({28}),
    "vote entropy": frozenset({28}),
    "breast_cancer entropy": frozenset({900}),
}


def texts(table: Table) -> tuple[dict[str, Any], Any]:
    """The table as R got it: names without signs, levels and classes in alphabetical order."""
    names = [name.replace(" ", "").replace("-", "") for name in table.names]
    columns = [np.array(column.values, dtype=object) for column in table.columns.values()]
    return dict(zip(names, columns, strict=True)), np.array(table.target.values, dtype=object)


def without_empty_rows(X: dict[str, Any], y: Any) -> tuple[dict[str, Any], Any]:
    """rpart leaves out a row in which every attribute is missing (there is one, in vote)."""
    missing = [np.isnan(c) if isinstance(c, np.ndarray) else c.codes < 0 for c in X.values()]
    rows = ~np.all(missing, axis=0)
    return {name: take(column, rows) for name, column in X.items()}, take(y, rows)


def take(column: Any, rows: np.ndarray) -> Any:
    if isinstance(column, np.ndarray):
        return column[rows]
    labels = np.array([*column.categories, None], dtype=object)[column.codes]  # code -1: None
    return Categorical(labels[rows], column.categories)


def read(name: str) -> tuple[dict[str, Any], Any]:
    if name == "play_tennis":
        return texts(PLAY_TENNIS)
    if name == "mammals":
        return texts(MAMMALS_10)
    return without_empty_rows(*read_table(name))


@pytest.mark.parametrize("heading", PRINTED)
def test_print_of_what_was_read(heading: str) -> None:
    printed = parse_rpart(PRINTED[heading])
    lines = [" ".join(line.split()) for line in PRINTED[heading].splitlines()]
    assert print_rpart(printed).splitlines() == lines


@pytest.mark.parametrize("heading", PRINTED)
def test_full_tree(heading: str) -> None:
    name, criterion = heading.split()
    X, y = read(name)
    tree = CARTClassifier(
        criterion=criterion,
        missing="surrogate",
        min_samples_split=2,
        min_samples_leaf=1,
        pruning=None,
    ).fit(X, y)
    undecided = UNDECIDED.get(heading, frozenset())
    assert rpart_difference(tree.tree_, parse_rpart(PRINTED[heading]), undecided) is None


# -- surrogates of stagec, as summary(rpart(...)) with its defaults gives them ---------------------


@pytest.fixture(scope="module")
def stagec() -> Tree:
    X, y = read_table("stagec")
    model = CARTClassifier(
        missing="surrogate", min_samples_split=20, min_samples_leaf=7, pruning=None
    )
    return model.fit(X, y).tree_


def surrogates_of(tree: Tree, node: int) -> list[tuple[str, Any, float, float]]:
    """Attribute, the part of its values that goes to branch 0 (``< 5.5``, ``> 66.5``, levels), agree and adj."""
    found = []
    for place in range(int(tree.surrogate_start[node]), int(tree.surrogate_start[node + 1])):
        attribute = tree.schema.attributes[tree.surrogate_attribute[place]]
        threshold = float(tree.surrogate_threshold[place])
        part: Any
        if attribute.categories is None:
            part = ("<" if tree.surrogate_low[place] == 0 else ">", threshold)
        else:
            entries = slice(*tree.surrogate_table_start[place : place + 2])
            codes = tree.surrogate_table_codes[entries].tolist()
            branches = tree.surrogate_table_branch[entries].tolist()
            part = [
                attribute.categories[code - 1]
                for code, branch in zip(codes, branches, strict=True)
                if branch == 0
            ]
        agree, adjusted = tree.surrogate_agreement[place], tree.surrogate_adjusted[place]
        found.append((attribute.name, part, float(agree), float(adjusted)))
    return found


def assert_surrogates(found: list[Any], expected: list[Any]) -> None:
    assert [surrogate[0] for surrogate in found] == [surrogate[0] for surrogate in expected]
    for (_, part, *rates), (_, expected_part, *expected_rates) in zip(found, expected, strict=True):
        if isinstance(part, tuple):
            assert part[0] == expected_part[0]
            assert part[1] == pytest.approx(expected_part[1], abs=1e-9)
        else:
            assert part == expected_part
        assert rates == pytest.approx(expected_rates, abs=0.0005 + 1e-9)


def test_surrogates_at_the_root(stagec: Tree) -> None:
    assert str(branches_of(stagec, 0)[0][0]) == "grade <= 2.5"
    assert stagec.gain[0] * 146 == pytest.approx(10.357590, abs=5e-6)
    assert_surrogates(
        surrogates_of(stagec, 0),
        [
            ("gleason", ("<", 5.5), 0.863, 0.672),
            ("ploidy", ["diploid"], 0.644, 0.148),
            ("g2", ("<", 9.945), 0.630, 0.115),
            ("age", (">", 66.5), 0.589, 0.016),
        ],
    )


def test_surrogates_where_the_split_has_holes(stagec: Tree) -> None:
    (node,) = np.flatnonzero((stagec.depth == 1) & (stagec.counts.sum(axis=1) == 85))
    assert str(branches_of(stagec, node)[0][0]) == "g2 <= 13.2"
    # Of the 79 rows that have g2; the six others go by ploidy.
    assert_surrogates(
        surrogates_of(stagec, node),
        [
            ("ploidy", ["diploid", "aneuploid"], 0.962, 0.914),
            ("age", (">", 68.5), 0.608, 0.114),
            ("gleason", ("<", 6.5), 0.582, 0.057),
        ],
    )
    first = int(stagec.first_child[node])
    assert stagec.counts[first : first + 2].sum(axis=1).tolist() == [40.0, 45.0]


# -- the comparison itself -------------------------------------------------------------------------

IRIS = PRINTED["iris gini"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("petallength< 2.45 50", "petallength< 2.55 50", "root: expected a branch petallength <="),
        ("petallength< 2.45 50", "petalwidth< 2.45 50", "root: expected a branch petalwidth <="),
        ("47   0", "46   0", "petallength <= 4.95: 1 rows stay at the node"),
        ("0.97916666667", "0.97916666669", "petallength <= 4.95: shares"),
        ("48   1 Iris-versicolor", "48   1 Iris-virginica", "expected 48 rows, 1 lost"),
    ],
)
def test_a_difference_is_found(old: str, new: str, message: str) -> None:
    assert old in IRIS
    X, y = read_table("iris")
    tree = CARTClassifier(pruning=None).fit(X, y).tree_
    found = rpart_difference(tree, parse_rpart(IRIS.replace(old, new)))
    assert found is not None
    assert message in found


def test_path_to_a_node() -> None:
    printed = parse_rpart(IRIS)
    assert path_to(1, printed) == "root"
    assert path_to(6, printed) == "root / petallength > 2.45 / petalwidth <= 1.75"
