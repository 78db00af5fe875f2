# SPDX-License-Identifier: BSD-3-Clause
"""What the comparisons with other programs' printed trees share: their data, and a Tree's tests.

See printed_j48.py and printed_rpart.py for the two forms of print.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import fasttree
from fasttree.trees.tree import Tree

DATA = Path(__file__).parent / "data"
SLACK = 1e-6  # allowed beyond half a unit of the last printed digit


# -- data ------------------------------------------------------------------------------------------


def read_table(name: str) -> tuple[dict[str, Any], Any]:
    """X and y of data/<name>.csv, the target last.

    A heading ``size:small|large`` declares the levels of a categorical column in their order, one
    without levels is numeric. An empty cell is missing.
    """
    with open(DATA / f"{name}.csv", newline="") as file:
        headings, *rows = csv.reader(file)
    columns: dict[str, Any] = {}
    for heading, *cells in zip(headings, *rows, strict=True):
        column, colon, levels = heading.partition(":")
        if colon:
            values = np.array([cell or None for cell in cells], dtype=object)
            columns[column] = fasttree.Categorical(values, levels.split("|"))
        else:
            columns[column] = np.array([float(cell or "nan") for cell in cells])
    return columns, columns.pop(list(columns)[-1])


def read_sections(file_name: str) -> dict[str, str]:
    """The texts of a file of printed trees by their headings (``## heading``)."""
    sections = {}
    for section in (DATA / file_name).read_text().removeprefix("## ").split("\n## "):
        heading, _, text = section.partition("\n")
        sections[heading] = text.rstrip("\n")
    return sections


# -- the branches of a Tree ------------------------------------------------------------------------


@dataclass(frozen=True)
class Test:
    """``attribute <= 2.5``, ``attribute > 2.5`` or ``attribute = a,b``."""

    __test__ = False  # for pytest

    attribute: str
    relation: str
    values: tuple[str, ...] = ()
    threshold: float = float("nan")

    def differs(self, printed: Test, tolerance: float) -> bool:
        if (self.attribute, self.relation) != (printed.attribute, printed.relation):
            return True
        if self.relation == "=":
            return self.values != printed.values
        return not abs(self.threshold - printed.threshold) <= tolerance

    def __str__(self) -> str:
        if self.relation == "=":
            return f"{self.attribute} = {','.join(self.values)}"
        return f"{self.attribute} {self.relation} {self.threshold:.12g}"


def branches_of(tree: Tree, node: int) -> list[tuple[Test, int]]:
    """The tests at a node with their children; the levels of a branch in one test."""
    attribute = tree.schema.attributes[tree.attribute[node]]
    first = int(tree.first_child[node])
    if attribute.categories is None:
        threshold = float(tree.threshold[node])
        return [
            (Test(attribute.name, "<=", threshold=threshold), first),
            (Test(attribute.name, ">", threshold=threshold), first + 1),
        ]
    levels: list[list[str]] = [[] for _ in range(int(tree.n_children[node]))]
    for code, branch in table_of(tree, node).items():
        levels[branch].append(str(attribute.categories[code - 1]))
    return [(Test(attribute.name, "=", tuple(v)), first + b) for b, v in enumerate(levels)]


def multiway_branches_of(tree: Tree, node: int) -> list[tuple[Test, int]]:
    """A test for every declared level, also for those that share the child without rows."""
    attribute = tree.schema.attributes[tree.attribute[node]]
    if attribute.categories is None:
        return branches_of(tree, node)
    first, table = int(tree.first_child[node]), table_of(tree, node)
    absent = int(tree.default_branch[node])
    return [
        (Test(attribute.name, "=", (str(level),)), first + table.get(code, absent))
        for code, level in enumerate(attribute.categories, start=1)
    ]


def table_of(tree: Tree, node: int) -> dict[int, int]:
    """Branch by code."""
    entries = slice(tree.table_start[node], tree.table_start[node + 1])
    codes, branches = tree.table_codes[entries], tree.table_branch[entries]
    return dict(zip(codes.tolist(), branches.tolist(), strict=True))


def errors_of(tree: Tree) -> np.ndarray:
    """The weight at each node that its label gets wrong."""
    n_nodes = np.arange(tree.node_count)
    return np.asarray(tree.counts.sum(axis=1) - tree.counts[n_nodes, tree.pred])
