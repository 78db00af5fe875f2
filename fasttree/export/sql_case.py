# SPDX-License-Identifier: BSD-3-Clause
"""A tree as CASE expressions. NULL meets no comparison, so a row without a value falls through to ELSE.

Databases read only so many CASE within each other. A deep tree is cut into pieces: a first expression gives the number
of the node to which the first levels lead, the next one goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from fasttree.export.category_keys import codes_by_branch
from fasttree.export.sql_dialects import LARGEST, Dialect
from fasttree.trees.view import Exportable, Surrogate, Test

WIDE = 16  # ways that one CASE distinguishes when it looks for a node


def unknown_flag(attribute: int) -> str:
    """The column that is 1 where a row has a level that the model does not know."""
    return f"u{attribute}"


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
        lines = []
        if test.is_table and self._model.stops_at_unknown:
            lines.append(f"WHEN {unknown_flag(test.attribute)} = 1 THEN {here}")
        if test.surrogates:
            choice = self._choice(test)
            lines += [f"WHEN {choice} = {b} THEN {way}" for b, way in enumerate(ways[:-1])]
            return [*lines, f"ELSE {ways[-1]}"]
        for branch, condition in self._conditions(test):
            if branch != test.missing_branch:
                lines.append(f"WHEN {condition} THEN {ways[branch]}")
        return [*lines, f"ELSE {ways[test.missing_branch]}"]

    def _choice(self, test: Test) -> str:
        """The branch by the test or the first surrogate that has an answer."""
        tests: tuple[Test | Surrogate, ...] = (test, *test.surrogates)
        whens = [
            f"WHEN {condition} THEN {branch}"
            for asked in tests
            for branch, condition in self._conditions(asked)
        ]
        return f"CASE {' '.join(whens)} ELSE {test.missing_branch} END"

    def _conditions(self, test: Test | Surrogate) -> Iterator[tuple[int, str]]:
        """What is true of the known values of each branch."""
        column = self._columns[test.attribute]
        if not test.branch_of:
            low = test.low if isinstance(test, Surrogate) else 0
            time = self._model.attributes[test.attribute].time
            below, above = self._sides(column, test.threshold, time)
            yield low, below
            yield 1 - low, above
            return
        if isinstance(test, Test):
            by_branch = test.levels(len(self._model.levels(test.attribute)))
        else:
            by_branch = codes_by_branch(test.branch_of)
        for branch, codes in enumerate(by_branch):
            if codes:
                yield branch, self._is_among(test.attribute, codes)

    def _is_among(self, attribute: int, codes: list[int]) -> str:
        """What is true of the levels with these codes."""
        column, seen = self._columns[attribute], self._model.codes(attribute)
        unseen = self._model.unseen(attribute)
        if unseen in codes:  # all but the levels that count as such and have other codes
            others = [level for level, code in seen if code not in codes and code != unseen]
            return self._dialect.is_none_of(column, others)
        return self._dialect.is_among(column, [level for level, code in seen if code in codes])

    def _sides(self, column: str, threshold: float, time: str | None) -> tuple[str, str]:
        """What is true up to a threshold and beyond it. Infinity is written without a word for it: not every database
        has one."""
        if threshold == np.inf:
            return f"{column} IS NOT NULL", "1 = 0"
        if threshold == -np.inf:
            least = self._dialect.number(-LARGEST)
            return f"{column} < {least}", f"{column} >= {least}"
        d = self._dialect
        written = d.number(threshold) if time is None else d.time(threshold, time)
        return f"{column} <= {written}", f"{column} > {written}"

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
