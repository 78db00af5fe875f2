# SPDX-License-Identifier: BSD-3-Clause
"""Which values of an attribute lead from a node to each of its children, as texts and the terminal show them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fasttree.draw.remarks import missing_took
from fasttree.trees.tree import Tree

KNOWN, MISSING = "is known", "is missing"
LISTED = 5  # levels without training rows that are named


class Side(NamedTuple):
    """``sign values`` of the attribute that a node asks for. KNOWN and MISSING have no values."""

    child: int
    sign: str
    values: tuple[Any, ...] = ()  # levels, or the threshold
    is_rest: bool = False  # the levels are those that no training row at the node had


def sides_of(tree: Tree, node: int) -> list[Side]:
    """The children of a node, in their order."""
    attribute = tree.schema.attributes[tree.attribute[node]]
    first = int(tree.first_child[node])
    if attribute.categories is None:
        threshold = float(tree.threshold[node])
        # Beyond infinity there are missing values alone.
        return _cut(first, None if threshold == math.inf else threshold)
    table = slice(int(tree.table_start[node]), int(tree.table_start[node + 1]))
    codes, branch = tree.table_codes[table], tree.table_branch[table]
    if attribute.ordered:
        above = np.flatnonzero(branch == 1)
        return _cut(first, attribute.categories[above[0] - 1] if len(above) else None)
    return _sets(tree, node, codes, branch)


def _cut(first: int, highest: Any) -> list[Side]:
    """Values up to the highest of the first branch, and beyond it; None: known ones and missing ones."""
    if highest is None:
        return [Side(first, KNOWN), Side(first + 1, MISSING)]
    return [Side(first, "<=", (highest,)), Side(first + 1, ">", (highest,))]


def _sets(tree: Tree, node: int, codes: np.ndarray, branch: np.ndarray) -> list[Side]:
    """Sets of levels; a child that no level present leads to has the missing values or all the other levels."""
    levels = tree.schema.attributes[tree.attribute[node]].categories or ()
    first, n_children = int(tree.first_child[node]), int(tree.n_children[node])
    missing = missing_took(tree, node)
    order = np.argsort(branch, kind="stable")
    ends = np.searchsorted(branch[order], np.arange(n_children + 1))
    sides = []
    for b in range(n_children):
        members = codes[order[ends[b] : ends[b + 1]]].tolist()
        if members:
            sides.append(Side(first + b, "=", tuple(levels[code - 1] for code in members)))
        elif b == missing:
            sides.append(Side(first + b, MISSING))
        else:
            present = set(codes.tolist())
            absent = (level for code, level in enumerate(levels, 1) if code not in present)
            sides.append(Side(first + b, "=", tuple(absent), is_rest=True))
    if n_children == 2 and missing is not None and sides[missing].sign == MISSING:
        sides[1 - missing] = Side(first + 1 - missing, KNOWN)
    return sides
