# SPDX-License-Identifier: BSD-3-Clause
"""A tree as CASE expressions. NULL meets no comparison, so a row without a value falls through to ELSE.

Databases read only so many CASE within each other. A deep tree is cut into pieces: a first expression gives the number
of the node to which the first levels lead, the next one goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from fasttree.export.model import Exportable, Surrogate, Test
from fasttree.export.sql_dialects import LARGEST, Dialect

WIDE = 16  # ways that one CASE distinguishes when it looks for a node


class Cases:
    """The CASE expressions of a tree; `columns` are its attributes as SQL."""

    def __init__(self, model: Exportable, dialect: Dialect, columns: tuple[str, ...]) -> None:
        self._model = model
        self._dialect = dialect
        self._columns = columns

    def roots(self) -> Iterator[list[int]]:
        """The nodes where the pieces of each stage begin, ascending."""
        depth = self._model.tree.depth
        inner = ~self._model.tree.is_leaf()
        for level in range(0, max(self._model.tree.max_depth, 1), self._dialect.deepest):
            yield np.flatnonzero((depth == level) & inner).tolist()

    def piece(self, root: int, end: Callable[[int], str], indent: str = "  ") -> str:
        """Where rows at the node `root` end, at most `deepest` levels below; `end` writes a node."""
        return self._below(root, end, indent, self._dialect.deepest)

    def _below(self, node: int, end: Callable[[int], str], indent: str, levels: int) -> str:
        # Recursion is safe: it goes as deep as a database reads.
        if self._model.is_leaf(node) or not levels:
            return end(node)
        test = self._model.test(node)
        deeper = indent + "  "
        ways = [self._below(child, end, deeper, levels - 1) for child in test.children]
        lines = self._lines(test, ways, end(node))
        return f"\n{indent}".join(["CASE", *lines]) + " END"

    def _lines(self, test: Test, ways: list[str], here: str) -> list[str]:
        """The lines of a CASE; `ways` are those of the branches, `here` is the node itself."""
        if test.surrogates:
            whens = [f"WHEN {branch} THEN {way}" for branch, way in enumerate(ways)]
            return [f"{' '.join(self._choice(test))} END", *whens, f"ELSE {here}"]
        stops = test.is_table and self._model.stops_at_unknown
        otherwise = here if stops else ways[test.missing_branch]
        lines = []
        if stops:
            lines.append(
                f"WHEN {self._columns[test.attribute]} IS NULL THEN {ways[test.missing_branch]}"
            )
        for branch, condition in self._conditions(test):
            if stops or branch != test.missing_branch:
                lines.append(f"WHEN {condition} THEN {ways[branch]}")
        return [*lines, f"ELSE {otherwise}"]

    def _choice(self, test: Test) -> Iterator[str]:
        """The branch by the test or the first surrogate that has an answer; -1: the way ends."""
        yield "CASE"
        for branch, condition in self._conditions(test):
            yield f"WHEN {condition} THEN {branch}"
        if test.is_table and self._model.stops_at_unknown:
            yield f"WHEN {self._columns[test.attribute]} IS NOT NULL THEN -1"
        for surrogate in test.surrogates:
            for branch, condition in self._conditions(surrogate):
                yield f"WHEN {condition} THEN {branch}"
        yield f"ELSE {test.missing_branch}"

    def _conditions(self, test: Test | Surrogate) -> Iterator[tuple[int, str]]:
        """What is true of the known values of each branch."""
        column = self._columns[test.attribute]
        if not test.branch_of:
            low = test.low if isinstance(test, Surrogate) else 0
            yield low, self._below_threshold(column, test.threshold)
            yield 1 - low, self._above_threshold(column, test.threshold)
            return
        levels = self._model.levels(test.attribute)
        if isinstance(test, Test):
            by_branch = dict(enumerate(test.levels(len(levels))))
        else:
            by_branch = {0: [], 1: []}
            for code, branch in test.branch_of.items():
                by_branch[branch].append(code)
        for branch, codes in by_branch.items():
            listed = [self._dialect.literal(levels[code - 1]) for code in codes]
            if len(listed) == 1:
                yield branch, f"{column} = {listed[0]}"
            elif listed:
                yield branch, f"{column} IN ({', '.join(listed)})"

    # Infinity is written without a word for it: not every database has one.

    def _below_threshold(self, column: str, threshold: float) -> str:
        if threshold == np.inf:
            return f"{column} IS NOT NULL"
        if threshold == -np.inf:
            return f"{column} < {self._dialect.number(-LARGEST)}"
        return f"{column} <= {self._dialect.number(threshold)}"

    def _above_threshold(self, column: str, threshold: float) -> str:
        if threshold == np.inf:
            return "1 = 0"
        if threshold == -np.inf:
            return f"{column} >= {self._dialect.number(-LARGEST)}"
        return f"{column} > {self._dialect.number(threshold)}"

    def stage(self, roots: list[int], node: str) -> str:
        """Where a row at the column `node` stands some levels below; elsewhere than at one of the roots it stays."""
        if len(roots) == 1:
            return f"CASE WHEN {node} = {roots[0]} THEN {self.piece(roots[0], str)} ELSE {node} END"
        size = -(-len(roots) // WIDE)
        parts = [roots[start : start + size] for start in range(0, len(roots), size)]
        found = [
            f"WHEN {node} < {after[0]} THEN {self.stage(part, node)}"
            for part, after in pairwise(parts)
        ]
        return "\n".join(["CASE", *found, f"ELSE {self.stage(parts[-1], node)} END"])
