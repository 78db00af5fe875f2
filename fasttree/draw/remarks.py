# SPDX-License-Identifier: BSD-3-Clause
"""What texts, drawings and the terminal say of values that are missing or that training hardly saw: the marks of
branches, and the notes beneath a tree."""

from __future__ import annotations

from collections.abc import Iterable

from fasttree.base.quoting import readable
from fasttree.tables.schema import AttributeSchema
from fasttree.trees.tree import LEAF, Tree
from fasttree.trees.view import Exportable

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
MOST_LEVELS = 8  # that a note names where it need not be complete


def has_surrogates(tree: Tree, node: int) -> bool:
    return bool(tree.surrogate_start[node] < tree.surrogate_start[node + 1])


def missing_took(tree: Tree, node: int) -> int | None:
    """The branch that all the training rows took which lacked the value at a node, if there were any."""
    if not tree.missing_seen[node] or has_surrogates(tree, node):
        return None
    return int(tree.missing_branch[node])


def late_mark(model: Exportable, node: int) -> tuple[int, str]:
    """Where values go that training had none of at a node: the branch, and its mark; (-1, "") if none is marked."""
    tree = model.tree
    branch = int(tree.missing_branch[node])
    is_said = bool(tree.missing_seen[node]) or has_surrogates(tree, node)
    if branch < 0 or is_said or not model.may_lack[node]:
        return -1, ""
    if model.allow_missing:
        return branch, OR_MISSING_LATER
    attribute = int(tree.attribute[node])
    comes = model.attributes[attribute].is_categorical and model.unknown == "missing"
    return (branch, OR_UNSEEN_LATER) if comes and not model.unseen(attribute) else (-1, "")


# -- the notes beneath a tree ------------------------------------------------------------------------------------------


def late_notes(model: Exportable, marks: Iterable[str]) -> list[str]:
    """What these marks mean."""
    marks = set(marks)
    notes = []
    if OR_MISSING_LATER in marks and model.tells_missing:
        notes.append('"(or missing)": no values were missing there in training.')
    elif OR_MISSING_LATER in marks:
        notes.append('"(or missing)": the branch for missing values.')
    if OR_UNSEEN_LATER in marks:
        notes.append('"(or unseen)": the branch for categories not seen in training.')
    return notes


def short_notes(
    model: Exportable, nodes: Iterable[int], surrogates_told: bool = False
) -> tuple[str, ...]:
    """What a reader has to know of the tests of some nodes, beside their marks."""
    tree, marks = model.tree, set()
    asked: set[int] = set()
    is_silent = False
    for node in nodes:
        if tree.attribute[node] == LEAF:
            continue
        asked.add(int(tree.attribute[node]))
        marks.add(late_mark(model, node)[1])
        if has_surrogates(tree, node):
            is_silent |= not tree.missing_seen[node]
            if surrogates_told:
                places = slice(tree.surrogate_start[node], tree.surrogate_start[node + 1])
                asked |= set(tree.surrogate_attribute[places].tolist())
    notes = late_notes(model, marks)
    if is_silent and not surrogates_told:
        notes.append("Where no branch is marked, surrogates route missing values.")
    merged = (a for place in sorted(asked) if (a := model.attributes[place]).others is not None)
    is_unseen = model.unknown == "missing"
    notes += [others_note(attribute, is_unseen, MOST_LEVELS) for attribute in merged]
    return tuple(notes)


def others_note(attribute: AttributeSchema, with_unseen: bool, most: int | None = None) -> str:
    """What the levels of few rows of an attribute are. `most`: of more levels only so many are named."""
    name, levels = readable(attribute.name), attribute.others or ()
    other = readable((attribute.categories or ())[-1])
    if not with_unseen:
        listed = _listed(levels, most)
        return f"{name} = {other}: one of the categories with too few training rows, {{{listed}}}."
    own = _listed(attribute.own_levels, most)
    what = f"any category except {{{own}}}" if own else "any category"
    return f"{name} = {other}: {what} ({len(levels):,} in training, each with too few rows)."


def _listed(levels: tuple[object, ...], most: int | None) -> str:
    named = [readable(level) for level in levels[:most]]
    if len(levels) > len(named):
        named.append(f"and {len(levels) - len(named):,} more")
    return ", ".join(named)
