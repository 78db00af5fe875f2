# SPDX-License-Identifier: BSD-3-Clause
"""A tree as indented text, one line a branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fasttree.base.quoting import readable
from fasttree.base.text import exact_number, number_text, weight_text
from fasttree.draw.remarks import (
    BY_SURROGATES,
    OR_MISSING,
    has_surrogates,
    late_mark,
    late_notes,
    missing_took,
    others_note,
    short_notes,
)
from fasttree.draw.sides import LISTED, MISSING, sides_of
from fasttree.trees.tree import LEAF, Tree
from fasttree.trees.view import Exportable, as_exportable

WriteNumber = Callable[[float, "str | None"], str]  # what kind of time it is, if any
LEGEND = "After a class: the weight of the training rows there and, after the slash, of those with another class."


def export(model: Exportable, *, complete: bool = True) -> str:
    """The text of `to_text`; if `complete`, it also says how to read it, and what becomes of rows that training had
    none like, and numbers have all their digits."""
    if not complete:
        return to_text(model)
    lines = _lines(model, surrogates=True, write=exact_number, complete=True)
    marks = (late_mark(model, node)[1] for node in _inner(model.tree))
    return "\n".join([*lines, "", LEGEND, *late_notes(model, marks), *notes(model)]) + "\n"


def _inner(tree: Tree) -> list[int]:
    return np.flatnonzero(tree.attribute != LEAF).tolist()


def notes(model: Exportable) -> list[str]:
    """How to read the text, in words."""
    notes = []
    if not model.allow_missing:
        notes.append("A row with a missing value in any column is rejected.")
    if model.shares_rows:
        notes.append(
            "A row with a missing value of a tested attribute is distributed fractionally over all branches of "
            "the test, in proportion to the training weight, and gets the mean of the class shares (not shown here)."
        )
    if any(a.is_categorical and not model.unseen(i) for i, a in enumerate(model.attributes)):
        but = (
            ", except where a line below says otherwise"
            if any(map(model.unseen, range(len(model.names))))
            else ""
        )
        notes.append(
            {
                "missing": f"A category not seen in training counts as missing{but}.",
                "majority": 'A category not seen in training gets the class at "(if ... is unknown: ...)".',
                "error": "A row with a category not seen in training is rejected.",
            }[model.unknown]
        )
    is_unseen = model.unknown == "missing"
    notes += [others_note(a, is_unseen) for a in model.attributes if a.others is not None]
    return notes


def to_text(model: Exportable | Tree, surrogates: bool = False, exact: bool = False) -> str:
    """One line a branch: ``attribute = level: class (weight/errors)``, subtrees indented by ``|   ``.

    Levels without training rows at their node, which share a leaf, end in ``(0)``. Where training rows lacked the
    value, the branch that they took ends in `` or missing``, or both branches in `` or missing (surrogates)``; the
    branch that others would take where training had none ends in `` (or missing)``. Notes below the tree explain that,
    and names of several levels. With `surrogates`, each branch says beneath its line which rows without the attribute
    take it. `exact`: thresholds have all their digits.
    """
    model = as_exportable(model)
    surrogates = surrogates and model.has_surrogates
    lines = _lines(model, surrogates, exact_number if exact else number_text, complete=False)
    notes = short_notes(model, _inner(model.tree), surrogates)
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _lines(model: Exportable, surrogates: bool, write: WriteNumber, complete: bool) -> list[str]:
    """If `complete`, also what becomes of levels that no branch names."""
    tree = model.tree
    if tree.attribute[0] == LEAF:
        return [f"all rows: {_label(tree, 0)}"]
    surrogates = surrogates and model.has_surrogates
    lines = _end(model, 0, "") if complete else []

    def below(node: int) -> list[tuple[int, str]]:
        return _branches(model, node, write, complete, mark_surrogates=not surrogates)

    stack = [(node, text, 0) for node, text in reversed(below(0))]
    while stack:
        node, text, depth = stack.pop()
        indent = "|   " * depth
        is_leaf = tree.attribute[node] == LEAF
        lines.append(f"{indent}{text}: {_label(tree, node)}" if is_leaf else f"{indent}{text}")
        if surrogates and has_surrogates(tree, int(tree.parent[node])):
            stand_ins = _stand_ins(tree, node, write)
            lines.extend(f"{indent}|   ({stand_in})" for stand_in in stand_ins)
        if complete and not is_leaf:
            lines += _end(model, node, f"{indent}|   ")
        if not is_leaf:
            stack.extend((child, line, depth + 1) for child, line in reversed(below(node)))
    return lines


def _end(model: Exportable, node: int, indent: str) -> list[str]:
    """The class of rows whose way ends at a node that is no leaf."""
    if not model.ends[node]:
        return []
    name = readable(model.names[model.tree.attribute[node]])
    label = readable(model.classes[model.decision[node]])
    return [f"{indent}(if {name} is unknown: {label})"]


def branch_texts(
    model: Exportable | Tree, node: int, most: int | None = None
) -> list[tuple[int, str]]:
    """The children of a node with their tests, as they are printed. Levels without training rows may share a child.

    `most`: of a set of more levels only so many are named, and the others counted.
    """
    model = as_exportable(model)
    return _branches(model, node, number_text, complete=False, mark_surrogates=True, most=most)


def full_branch_texts(model: Exportable | Tree, node: int) -> list[tuple[int, str]]:
    """The same with all digits, and with what becomes of rows that training had none like."""
    model, lines = as_exportable(model), []
    for child, text in _branches(model, node, exact_number, complete=True, mark_surrogates=False):
        if has_surrogates(model.tree, node):
            stand_ins = _stand_ins(model.tree, child, exact_number, agreement=False)
            text = "; ".join([text, *stand_ins])
        lines.append((child, text))
    return lines


def _branches(
    model: Exportable,
    node: int,
    write: WriteNumber,
    complete: bool,
    mark_surrogates: bool,
    most: int | None = None,
) -> list[tuple[int, str]]:
    """The children of a node with their tests. A level without rows of its own stands in its place.

    If `complete`, levels that training had none of at the node say where they go, too.
    """
    tree = model.tree
    lines = _seen_branches(tree, node, write, complete, most)
    if has_surrogates(tree, node):
        marks = mark_surrogates and tree.missing_seen[node]
        return [(child, f"{text}{BY_SURROGATES}" if marks else text) for child, text in lines]
    branch, mark = late_mark(model, node)
    taken = int(tree.first_child[node]) + branch if mark else LEAF
    return [(child, f"{text}{mark}" if child == taken else text) for child, text in lines]


def _seen_branches(
    tree: Tree, node: int, write: WriteNumber, complete: bool, most: int | None
) -> list[tuple[int, str]]:
    attribute = tree.schema.attributes[tree.attribute[node]]
    name, levels = readable(attribute.name), attribute.categories or ()
    table = slice(tree.table_start[node], tree.table_start[node + 1])
    codes, branches = tree.table_codes[table].tolist(), tree.table_branch[table].tolist()
    if attribute.is_categorical and not attribute.ordered and len(set(branches)) == len(branches):
        has_all = len(codes) == 2 or tree.default_branch[node] not in branches
        if tree.n_children[node] > 2 or (len(levels) == 2 and has_all):
            return _multiway_branches(tree, node, codes, branches)
    rest = int(tree.first_child[node] + tree.default_branch[node])
    lines = []
    for child, sign, values, is_rest in sides_of(tree, node):
        text = f"{name} {sign}"
        if attribute.categories is None and values:
            text += f" {write(values[0], attribute.time)}"
        elif attribute.ordered and values:
            text += f" {readable(values[0])}"
        elif is_rest and len(values) > LISTED:
            text += f" ({len(values)} other categories)"
        elif sign == "=":
            text += f" {_set_text(values, most)}"
            if complete and child == rest and not is_rest and len(codes) < len(levels):
                text += " or another category"
        lines.append((child, text))
    return _with_missing(tree, node, lines)


def _set_text(levels: Sequence[Any], most: int | None) -> str:
    names = list(map(readable, levels[:most]))
    if len(levels) > len(names):
        names.append(f"and {len(levels) - len(names):,} more")
    return f"{{{', '.join(names)}}}"


def _with_missing(tree: Tree, node: int, lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The branch that missing values chose says so."""
    missing = missing_took(tree, node)
    chosen = LEAF if missing is None else int(tree.first_child[node]) + missing
    return [
        (child, f"{text}{OR_MISSING}" if child == chosen and not text.endswith(MISSING) else text)
        for child, text in lines
    ]


def _multiway_branches(
    tree: Tree, node: int, codes: list[int], branches: list[int]
) -> list[tuple[int, str]]:
    """A line a level, those without training rows at the node in their places, as long as there are few."""
    attribute = tree.schema.attributes[tree.attribute[node]]
    levels, name = attribute.categories or (), readable(attribute.name)
    first = int(tree.first_child[node])
    child_of = dict(zip(codes, branches, strict=True))
    shared = int(tree.n_children[node]) - 1
    n_absent = len(levels) - len(codes)
    lines = [
        (first + child_of.get(code, shared), f"{name} = {readable(level)}")
        for code, level in enumerate(levels, start=1)
        if code in child_of or n_absent <= LISTED
    ]
    lines = _with_missing(tree, node, lines)
    missing = missing_took(tree, node)
    if missing is not None and missing not in branches:
        lines.append((first + missing, f"{name} {MISSING}"))
    if n_absent > LISTED:
        lines.append((first + shared, f"{name} = ({n_absent} other categories)"))
    return lines


def _stand_ins(tree: Tree, node: int, write: WriteNumber, agreement: bool = True) -> list[str]:
    """By which surrogates rows come to a node that do not know the attribute of its parent, in the order of asking."""
    parent = int(tree.parent[node])
    branch = node - int(tree.first_child[parent])
    unknown = f"{readable(tree.schema.attributes[tree.attribute[parent]].name)} is missing"
    lines = []
    for place in range(int(tree.surrogate_start[parent]), int(tree.surrogate_start[parent + 1])):
        line = f"if {unknown}: {_surrogate_test(tree, place, branch, write)}"
        if agreement:
            line += (
                f", agreement {tree.surrogate_agreement[place]:.3f}, "
                f"adjusted {tree.surrogate_adjusted[place]:.3f}"
            )
        lines.append(line)
        stand_in = tree.schema.attributes[tree.surrogate_attribute[place]]
        unknown = f"{readable(stand_in.name)} too"
        n_levels = int(np.diff(tree.surrogate_table_start[place : place + 2])[0])
        if n_levels < len(stand_in.categories or ()):
            unknown += " or another category"  # of which it says nothing
    if branch == tree.missing_branch[parent]:
        lines.append(f"if {unknown}: here")
    return lines


def _surrogate_test(tree: Tree, place: int, branch: int, write: WriteNumber) -> str:
    """What a surrogate asks of the rows that it sends to a branch."""
    attribute = tree.schema.attributes[tree.surrogate_attribute[place]]
    table = slice(tree.surrogate_table_start[place], tree.surrogate_table_start[place + 1])
    if table.start == table.stop:
        sign = "<=" if branch == tree.surrogate_low[place] else ">"
        threshold = write(float(tree.surrogate_threshold[place]), attribute.time)
        return f"{readable(attribute.name)} {sign} {threshold}"
    here = tree.surrogate_table_codes[table][tree.surrogate_table_branch[table] == branch]
    levels = attribute.categories or ()
    listed = ", ".join(readable(levels[code - 1]) for code in here)
    return f"{readable(attribute.name)} = {{{listed}}}"


def _label(tree: Tree, node: int) -> str:
    total = float(tree.counts[node].sum())
    errors = total - float(tree.counts[node, tree.pred[node]])
    label = f"{readable(tree.schema.classes[tree.pred[node]])} ({weight_text(total)}"
    # Fractional weights stand on a grid; its noise is no error.
    return label + (f"/{weight_text(errors)})" if errors > 1e-9 * total else ")")
