# SPDX-License-Identifier: BSD-3-Clause
"""What a branch says: the values that lead from a node to each of its children, what happens with missing ones, and
both in words. Text, drawings, the terminal and studies add no more than their own layout."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fasttree.base.quoting import readable
from fasttree.base.text import exact_number, number_text
from fasttree.trees.structure import TreeStructure
from fasttree.trees.view import Exportable, Surrogate, as_exportable

KNOWN, MISSING = "is known", "is missing"
LISTED = 5  # levels without training rows that are named

# Behind a branch. Training rows that lacked the value took it ...
OR_MISSING = " or missing"
BY_SURROGATES = (
    " or missing (surrogates)"  # ... or surrogates decided; they may have sent some to each
)
# Training had no such row at the node, later ones may come ...
OR_MISSING_LATER = " (or missing)"
OR_UNSEEN_LATER = (
    " (or unseen)"  # ... with a level that training did not see; missing values are refused
)
MARKS = (BY_SURROGATES, OR_MISSING_LATER, OR_UNSEEN_LATER, OR_MISSING)

WriteNumber = Callable[[float, "str | None"], str]  # what kind of time it is, if any


# -- missing values ----------------------------------------------------------------------------------------------------


def has_surrogates(tree: TreeStructure, node: int) -> bool:
    return bool(tree.surrogate_start[node] < tree.surrogate_start[node + 1])


def marks_of(model: Exportable, node: int, mark_surrogates: bool = True) -> dict[int, str]:
    """The marks of the children of a node that values take which are missing, or which training did not see."""
    tree, first = model.tree, int(model.tree.first_child[node])
    if has_surrogates(tree, node):
        children = range(first, first + int(tree.n_children[node]))
        is_marked = mark_surrogates and tree.missing_seen[node]
        return dict.fromkeys(children, BY_SURROGATES) if is_marked else {}
    mark = OR_MISSING if tree.missing_seen[node] else late_mark(model, node)
    return {first + int(tree.missing_branch[node]): mark}


def late_mark(model: Exportable, node: int) -> str:
    """The mark of the missing branch where training had no such rows; "" if it has none."""
    tree, attribute = model.tree, int(model.tree.attribute[node])
    is_said = bool(tree.missing_seen[node]) or has_surrogates(tree, node)
    if tree.missing_branch[node] < 0 or is_said or not model.may_lack[node]:
        return ""
    if model.allow_missing:
        return OR_MISSING_LATER
    comes = model.attributes[attribute].is_categorical and model.unknown == "missing"
    return OR_UNSEEN_LATER if comes and not model.unseen(attribute) else ""


def _missing_took(tree: TreeStructure, node: int) -> int | None:
    """The branch that all the training rows took which lacked the value at a node, if there were any."""
    if not tree.missing_seen[node] or has_surrogates(tree, node):
        return None
    return int(tree.missing_branch[node])


# -- values ------------------------------------------------------------------------------------------------------------


class Side(NamedTuple):
    """``sign values`` of the attribute that a node asks for. KNOWN and MISSING have no values."""

    child: int
    sign: str
    values: tuple[Any, ...] = ()  # levels, or the threshold
    is_rest: bool = False  # the levels are those that no training row at the node had
    mark: str = ""


def sides_of(model: Exportable, node: int, mark_surrogates: bool = True) -> list[Side]:
    """The children of a node, in their order."""
    marks = marks_of(model, node, mark_surrogates)
    sides = []
    for side in _values(model.tree, node):
        mark = marks.get(side.child, "")
        is_said = side.sign == MISSING and mark == OR_MISSING
        sides.append(side._replace(mark="" if is_said else mark))
    return sides


def _values(tree: TreeStructure, node: int) -> list[Side]:
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


def _sets(tree: TreeStructure, node: int, codes: np.ndarray, branch: np.ndarray) -> list[Side]:
    """Sets of levels; a child that no level present leads to has the missing values or all the other levels."""
    levels = tree.schema.attributes[tree.attribute[node]].categories or ()
    first, n_children = int(tree.first_child[node]), int(tree.n_children[node])
    missing = _missing_took(tree, node)
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


# -- words -------------------------------------------------------------------------------------------------------------


def branch_texts(
    model: Exportable | TreeStructure,
    node: int,
    most: int | None = None,
    *,
    write: WriteNumber = number_text,
    complete: bool = False,
    mark_surrogates: bool = True,
) -> list[tuple[int, str]]:
    """The children of a node with their tests, as they are printed. Levels without training rows may share a child, but
    each stands in its place.

    `most`: of a set of more levels only so many are named, and the others counted. If `complete`, levels that training
    had none of at the node say where they go, too.
    """
    model = as_exportable(model)
    tree, attribute = model.tree, model.attributes[model.tree.attribute[node]]
    name, levels = readable(attribute.name), attribute.categories or ()
    table = slice(tree.table_start[node], tree.table_start[node + 1])
    child_of = dict(
        zip(tree.table_codes[table].tolist(), tree.table_branch[table].tolist(), strict=True)
    )
    branches = set(child_of.values())
    if attribute.is_categorical and not attribute.ordered and len(branches) == len(child_of):
        has_all = len(child_of) == 2 or tree.default_branch[node] not in branches
        if tree.n_children[node] > 2 or (len(levels) == 2 and has_all):
            return _multiway_texts(model, node, child_of, marks_of(model, node, mark_surrogates))
    rest = int(tree.first_child[node] + tree.default_branch[node])
    lines = []
    for child, sign, values, is_rest, mark in sides_of(model, node, mark_surrogates):
        text = f"{name} {sign}"
        if attribute.categories is None and values:
            text += f" {write(values[0], attribute.time)}"
        elif attribute.ordered and values:
            text += f" {readable(values[0])}"
        elif is_rest and len(values) > LISTED:
            text += f" ({len(values)} other categories)"
        elif sign == "=":
            text += f" {{{listed(values, most)}}}"
            if complete and child == rest and not is_rest and len(child_of) < len(levels):
                text += " or another category"
        lines.append((child, text + mark))
    return lines


def _multiway_texts(
    model: Exportable, node: int, branch_of: dict[int, int], marks: dict[int, str]
) -> list[tuple[int, str]]:
    """A line a level, those without training rows at the node in their places, as long as there are few."""
    tree, attribute = model.tree, model.attributes[model.tree.attribute[node]]
    levels, name = attribute.categories or (), readable(attribute.name)
    first = int(tree.first_child[node])
    shared = first + int(tree.n_children[node]) - 1
    n_absent = len(levels) - len(branch_of)
    lines = []
    for code, level in enumerate(levels, start=1):
        if code in branch_of or n_absent <= LISTED:
            child = first + branch_of[code] if code in branch_of else shared
            lines.append((child, f"{name} = {readable(level)}{marks.get(child, '')}"))
    missing = _missing_took(tree, node)
    if missing is not None and missing not in branch_of.values():
        lines.append((first + missing, f"{name} {MISSING}"))
    if n_absent > LISTED:
        lines.append((shared, f"{name} = ({n_absent} other categories){marks.get(shared, '')}"))
    return lines


def full_branch_texts(model: Exportable | TreeStructure, node: int) -> list[tuple[int, str]]:
    """The same with all digits, and with what becomes of rows that training had none like."""
    model = as_exportable(model)
    lines = branch_texts(model, node, write=exact_number, complete=True, mark_surrogates=False)
    return [
        (child, "; ".join([text, *surrogate_texts(model, child, exact_number, agreement=False)]))
        for child, text in lines
    ]


def listed(levels: Sequence[Any], most: int | None = None) -> str:
    """The levels by name; of more than `most` the others are counted."""
    named = [readable(level) for level in levels[:most]]
    if len(levels) > len(named):
        named.append(f"and {len(levels) - len(named):,} more")
    return ", ".join(named)


def surrogate_texts(
    model: Exportable, node: int, write: WriteNumber, agreement: bool = True
) -> list[str]:
    """By which surrogates rows come to a node that do not know the attribute of its parent, in the order of asking;
    nothing if its parent has none."""
    tree = model.tree
    parent = int(tree.parent[node])
    if not has_surrogates(tree, parent):
        return []
    test, lines = model.test(parent), []
    branch = node - test.first_child
    unknown = f"{readable(model.names[test.attribute])} is missing"
    for place, surrogate in enumerate(test.surrogates, start=int(tree.surrogate_start[parent])):
        attribute = model.attributes[surrogate.attribute]
        line = f"if {unknown}: {surrogate_text(model, surrogate, branch, write)}"
        if agreement:
            line += (
                f", agreement {tree.surrogate_agreement[place]:.3f}, "
                f"adjusted {tree.surrogate_adjusted[place]:.3f}"
            )
        lines.append(line)
        unknown = f"{readable(attribute.name)} too"
        if len(surrogate.branch_of) < len(attribute.categories or ()):
            unknown += " or another category"  # of which it says nothing
    if branch == test.missing_branch:
        lines.append(f"if {unknown}: here")
    return lines


def surrogate_text(model: Exportable, surrogate: Surrogate, branch: int, write: WriteNumber) -> str:
    """What a surrogate asks of the rows that it sends to a branch."""
    attribute = model.attributes[surrogate.attribute]
    if not surrogate.branch_of:
        sign = "<=" if branch == surrogate.low else ">"
        return f"{readable(attribute.name)} {sign} {write(surrogate.threshold, attribute.time)}"
    levels = attribute.categories or ()
    here = [levels[code - 1] for code, to in surrogate.branch_of.items() if to == branch]
    return f"{readable(attribute.name)} = {{{listed(here)}}}"
