# SPDX-License-Identifier: BSD-3-Clause
"""What leads from a node to each of its children, in pieces that can be shortened to the width of a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rich.cells import cell_len

from fasttree.base.text import number_text
from fasttree.draw.remarks import BY_SURROGATES, OR_MISSING, late_mark, missing_took
from fasttree.draw.terminal_text import clean, cut
from fasttree.trees.tree import Tree
from fasttree.trees.view import Exportable, as_exportable

KNOWN, MISSING = "is known", "is missing"
LISTED = 5  # levels without training rows that are named
LEAST_NAME = 8  # cells that a name keeps when a line is short of room


@dataclass(frozen=True, slots=True)
class Branch:
    """``attribute sign values``; `others` counts levels that are not named, `missing`: also rows without a value did in
    training, or, `by_surrogates`, those of them that surrogates send there. `late` is the mark of the branch that such
    rows take though training had none."""

    child: int
    attribute: str
    sign: str
    values: tuple[str, ...] = ()
    others: int = 0
    missing: bool = False
    by_surrogates: bool = False
    late: str = ""

    def text(self, width: int, ellipsis: str = "…") -> str:
        """The test in at most so many cells: first levels go, then the ends of names."""
        tail = BY_SURROGATES if self.by_surrogates else OR_MISSING if self.missing else self.late
        most = min(len(self.values), width)  # each takes a cell at least
        texts = [f" {self._value_text(n)}{tail}" for n in range(most, 0, -1)]
        texts.append(f" {self._value_text(min(most, 1), short=True)}{tail}")
        fits = (text for text in texts if cell_len(self.attribute + text) <= width)
        text = next(fits, texts[-1])
        room = max(width - cell_len(text), min(LEAST_NAME, width))
        return cut(cut(self.attribute, room, ellipsis) + text, width, ellipsis)

    def _value_text(self, n: int, short: bool = False) -> str:
        hidden = len(self.values) - n + self.others
        if not self.values:
            return f"{self.sign} ({self.others} other categories)" if self.others else self.sign
        more = (f" +{hidden}" if short else f" and {hidden} more") if hidden else ""
        return f"{self.sign} {', '.join(self.values[:n])}{more}"


def branches_of(model: Exportable | Tree, node: int) -> list[Branch]:
    """The children of a node, in their order."""
    model = as_exportable(model)
    tree = model.tree
    attribute = tree.schema.attributes[tree.attribute[node]]
    name = clean(attribute.name)
    first = int(tree.first_child[node])
    missing = missing_took(tree, node)
    if attribute.categories is None:
        branches = _threshold(name, float(tree.threshold[node]), attribute.time, first)
    else:
        table = slice(int(tree.table_start[node]), int(tree.table_start[node + 1]))
        codes, branch = tree.table_codes[table], tree.table_branch[table]
        if attribute.ordered:
            branches = _ordered(name, attribute.categories, branch, first)
        else:
            n_children = int(tree.n_children[node])
            branches = _sets(name, attribute.categories, codes, branch, first, n_children, missing)
    if tree.missing_seen[node] and missing is None:  # they went where surrogates sent them
        return [replace(b, by_surrogates=True) for b in branches]
    if missing is None:
        late, mark = late_mark(model, node)
        return [replace(b, late=mark) if b.child - first == late else b for b in branches]
    return [
        replace(b, missing=True) if b.child - first == missing and b.sign != MISSING else b
        for b in branches
    ]


def _known_or_not(name: str, first: int) -> list[Branch]:
    return [Branch(first, name, KNOWN), Branch(first + 1, name, MISSING)]


def _threshold(name: str, threshold: float, time: str | None, first: int) -> list[Branch]:
    if threshold == math.inf:  # nothing but missing values on the right
        return _known_or_not(name, first)
    text = number_text(threshold, time)
    return [Branch(first, name, "<=", (text,)), Branch(first + 1, name, ">", (text,))]


def _ordered(name: str, levels: Sequence[Any], branch: np.ndarray, first: int) -> list[Branch]:
    right = np.flatnonzero(branch == 1)
    if not len(right):
        return _known_or_not(name, first)
    highest = clean(str(levels[right[0] - 1]))
    return [Branch(first, name, "<=", (highest,)), Branch(first + 1, name, ">", (highest,))]


def _sets(
    name: str,
    levels: Sequence[Any],
    codes: np.ndarray,
    branch: np.ndarray,
    first: int,
    n_children: int,
    missing: int | None,
) -> list[Branch]:
    """Sets of levels; a child that no level present leads to has the missing values or all the other levels."""
    order = np.argsort(branch, kind="stable")
    ends = np.searchsorted(branch[order], np.arange(n_children + 1))
    branches = []
    for b in range(n_children):
        members = codes[order[ends[b] : ends[b + 1]]]
        if len(members):
            values = tuple(clean(str(levels[code - 1])) for code in members.tolist())
            branches.append(Branch(first + b, name, "=", values))
        elif b == missing:
            branches.append(Branch(first + b, name, MISSING))
        else:
            branches.append(_others(name, levels, codes, first + b))
    if len(branches) == 2 and missing is not None and branches[missing].sign == MISSING:
        branches[1 - missing] = Branch(first + 1 - missing, name, KNOWN)
    return branches


def _others(name: str, levels: Sequence[Any], codes: np.ndarray, child: int) -> Branch:
    n_others = len(levels) - len(codes)
    if n_others > LISTED:
        return Branch(child, name, "=", others=n_others)
    present = set(codes.tolist())
    absent = (level for code, level in enumerate(levels, 1) if code not in present)
    return Branch(child, name, "=", tuple(clean(str(level)) for level in absent))
