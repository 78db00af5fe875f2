# SPDX-License-Identifier: BSD-3-Clause
"""What texts, drawings and the terminal say beneath a tree of values that are missing or that training hardly saw."""

from __future__ import annotations

from collections.abc import Iterable

from fasttree.base.quoting import readable
from fasttree.draw.branches import (
    OR_MISSING_LATER,
    OR_UNSEEN_LATER,
    has_surrogates,
    late_mark,
    listed,
)
from fasttree.tables.schema import AttributeSchema
from fasttree.trees.tree import LEAF
from fasttree.trees.view import Exportable

MOST_LEVELS = 8  # that a note names where it need not be complete


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
        marks.add(late_mark(model, node))
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
        few = listed(levels, most)
        return f"{name} = {other}: one of the categories with too few training rows, {{{few}}}."
    own = listed(attribute.own_levels, most)
    what = f"any category except {{{own}}}" if own else "any category"
    return f"{name} = {other}: {what} ({len(levels):,} in training, each with too few rows)."
