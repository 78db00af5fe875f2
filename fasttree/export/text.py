# SPDX-License-Identifier: BSD-3-Clause
"""A tree as indented text, one line a branch."""

from __future__ import annotations

from fasttree.tree import LEAF, Tree

LISTED = 5  # absent levels that are printed one by one


def to_text(tree: Tree) -> str:
    """One line a branch: ``attribute = level: class (weight/errors)``, subtrees indented by ``|   ``.

    Levels without training rows at their node, which share a leaf, end in ``(0)``.
    """
    if tree.attribute[0] == LEAF:
        return f": {_label(tree, 0)}"
    lines = []
    stack = [(node, text, 0) for node, text in reversed(_branches(tree, 0))]
    while stack:
        node, text, depth = stack.pop()
        indent = "|   " * depth
        if tree.attribute[node] == LEAF:
            lines.append(f"{indent}{text}: {_label(tree, node)}")
        else:
            lines.append(f"{indent}{text}")
            stack.extend(
                (child, line, depth + 1) for child, line in reversed(_branches(tree, node))
            )
    return "\n".join(lines)


def _branches(tree: Tree, node: int) -> list[tuple[int, str]]:
    """The children of a node with their tests. A level without rows of its own stands in its place."""
    attribute = tree.schema.attributes[tree.attribute[node]]
    first = int(tree.first_child[node])
    name = attribute.name
    if attribute.categories is None:
        threshold = format_number(float(tree.threshold[node]))
        return [(first, f"{name} <= {threshold}"), (first + 1, f"{name} > {threshold}")]
    table = slice(tree.table_start[node], tree.table_start[node + 1])
    codes = tree.table_codes[table].tolist()
    branches = tree.table_branch[table].tolist()
    levels = attribute.categories
    if branches != list(range(len(codes))) or (
        len(codes) < len(levels) and tree.n_children[node] == 2
    ):
        sides: list[list[str]] = [[], []]
        for code, branch in zip(codes, branches, strict=True):
            sides[branch].append(str(levels[code - 1]))
        return [(first + b, f"{name} = {{{', '.join(side)}}}") for b, side in enumerate(sides)]
    child_of = dict(zip(codes, branches, strict=True))
    n_absent = len(levels) - len(codes)
    lines = [
        (first + child_of.get(code, len(codes)), f"{name} = {level}")
        for code, level in enumerate(levels, start=1)
        if code in child_of or n_absent <= LISTED
    ]
    if n_absent > LISTED:
        lines.append((first + len(codes), f"{name} = ({n_absent} other levels)"))
    return lines


def _label(tree: Tree, node: int) -> str:
    total = float(tree.counts[node].sum())
    errors = total - float(tree.counts[node, tree.pred[node]])
    label = f"{tree.schema.classes[tree.pred[node]]} ({format_number(total)}"
    return label + (f"/{format_number(errors)})" if errors > 0 else ")")


def format_number(value: float) -> str:
    """Whole numbers without a point, others with the digits they need."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
