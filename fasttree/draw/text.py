# SPDX-License-Identifier: BSD-3-Clause
"""A tree as indented text, one line a branch."""

from __future__ import annotations

import numpy as np

from fasttree.base.quoting import readable
from fasttree.base.text import exact_number, number_text
from fasttree.draw.answers import OF_CLASSES, OF_NUMBERS, Drawn, answer_text, evidence_text
from fasttree.draw.branches import WriteNumber, branch_texts, late_mark, surrogate_texts
from fasttree.draw.remarks import late_notes, others_note, short_notes
from fasttree.trees.structure import LEAF, TreeStructure
from fasttree.trees.view import Exportable, as_exportable


def export(model: Exportable, *, complete: bool = True) -> str:
    """The text of `to_text`; if `complete`, it also says how to read it, and what becomes of rows that training had
    none like, and numbers have all their digits."""
    if not complete:
        return to_text(model)
    lines = _lines(model, surrogates=True, write=exact_number, complete=True)
    marks = (late_mark(model, node) for node in _inner(model.tree))
    legend = OF_NUMBERS if model.predicts_numbers else OF_CLASSES
    return "\n".join([*lines, "", legend, *late_notes(model, marks), *notes(model)]) + "\n"


def _inner(tree: TreeStructure) -> list[int]:
    return np.flatnonzero(tree.attribute != LEAF).tolist()


def notes(model: Exportable) -> list[str]:
    """How to read the text, in words."""
    answer = "prediction" if model.predicts_numbers else "class"
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
                "majority": f'A category not seen in training gets the {answer} at "(if ... is unknown: ...)".',
                "error": "A row with a category not seen in training is rejected.",
            }[model.unknown]
        )
    is_unseen = model.unknown == "missing"
    notes += [others_note(a, is_unseen) for a in model.attributes if a.others is not None]
    return notes


def to_text(
    model: Exportable | TreeStructure, surrogates: bool = False, exact: bool = False
) -> str:
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
        return [f"all rows: {_label(tree, 0, write)}"]
    surrogates = surrogates and model.has_surrogates
    lines = _end(model, 0, "", write) if complete else []

    def below(node: int) -> list[tuple[int, str]]:
        return branch_texts(
            model, node, write=write, complete=complete, mark_surrogates=not surrogates
        )

    stack = [(node, text, 0) for node, text in reversed(below(0))]
    while stack:
        node, text, depth = stack.pop()
        indent = "|   " * depth
        is_leaf = tree.attribute[node] == LEAF
        lines.append(
            f"{indent}{text}: {_label(tree, node, write)}" if is_leaf else f"{indent}{text}"
        )
        if surrogates:
            lines += [f"{indent}|   ({text})" for text in surrogate_texts(model, node, write)]
        if complete and not is_leaf:
            lines += _end(model, node, f"{indent}|   ", write)
        if not is_leaf:
            stack.extend((child, line, depth + 1) for child, line in reversed(below(node)))
    return lines


def _end(model: Exportable, node: int, indent: str, write: WriteNumber) -> list[str]:
    """The answer for rows whose way ends at a node that is no leaf."""
    if not model.ends[node]:
        return []
    name = readable(model.names[model.tree.attribute[node]])
    return [f"{indent}(if {name} is unknown: {answer_text(model.tree, node, write)})"]


def _label(tree: Drawn, node: int, write: WriteNumber) -> str:
    return f"{answer_text(tree, node, write)} ({evidence_text(tree, node)})"
