# SPDX-License-Identifier: BSD-3-Clause
"""Trees as Weka's J48 prints them: read, written again, and compared with a Tree.

A printed tree is a flat list of its lines; their depths say who is whose child.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from printed_trees import SLACK, Test, errors_of, multiway_branches_of

from fasttree.trees.tree import LEAF, Tree


@dataclass(frozen=True)
class J48Line:
    """One printed line: a branch, and the leaf that it leads to. Inner nodes print no leaf."""

    depth: int
    test: Test
    is_leaf: bool
    label: str = ""
    weight: float = 0.0
    errors: float | None = None  # None: not printed, Weka found none


@dataclass(frozen=True)
class J48Tree:
    lines: list[J48Line]
    n_leaves: int
    size: int
    training_errors: int


_J48_LINE = re.compile(
    r"(?P<bars>(?:\|   )*)(?P<attribute>\S+) (?P<relation>=|<=|>) (?P<value>[^:]+)"
    r"(?P<leaf>: (?P<label>.+) \((?P<weight>[\d.]+)(?:/(?P<errors>[\d.]+))?\))?"
)


def parse_j48(text: str) -> J48Tree:
    body, _, summary = text.partition("\n\n")
    lines = []
    for line in body.splitlines():
        match = _J48_LINE.fullmatch(line)
        assert match, f"not a line of J48: {line!r}"
        if match["relation"] == "=":
            test = Test(match["attribute"], "=", (match["value"],))
        else:
            test = Test(match["attribute"], match["relation"], threshold=float(match["value"]))
        lines.append(
            J48Line(
                depth=len(match["bars"]) // 4,
                test=test,
                is_leaf=match["leaf"] is not None,
                label=match["label"] or "",
                weight=float(match["weight"] or 0),
                errors=None if match["errors"] is None else float(match["errors"]),
            )
        )
    return J48Tree(lines, *(int(number) for number in re.findall(r": (\d+)", summary)))


def print_j48(tree: J48Tree) -> str:
    lines = []
    for line in tree.lines:
        text = f"{'|   ' * line.depth}{line.test}"
        if line.is_leaf:
            errors = "" if line.errors is None else f"/{line.errors}"
            text += f": {line.label} ({line.weight}{errors})"
        lines.append(text)
    return "\n".join(lines) + (
        f"\n\nNumber of Leaves: {tree.n_leaves}\nSize of the tree: {tree.size}"
        f"\nIncorrectly classified: {tree.training_errors}"
    )


def j48_lines_of(tree: Tree) -> list[J48Line]:
    """A multiway tree as J48 would print it, but with a label and all the digits on every line."""
    errors = errors_of(tree)
    lines = []
    stack = [(0, test, child) for test, child in reversed(multiway_branches_of(tree, 0))]
    while stack:
        depth, test, node = stack.pop()
        is_leaf = bool(tree.attribute[node] == LEAF)
        label = str(tree.schema.classes[tree.pred[node]])
        weight = float(tree.counts[node].sum())
        lines.append(J48Line(depth, test, is_leaf, label, weight, float(errors[node])))
        if not is_leaf:
            branches = multiway_branches_of(tree, node)
            stack += [(depth + 1, test, child) for test, child in reversed(branches)]
    return lines


def j48_difference(tree: Tree, printed: J48Tree, *, top_only: bool = False) -> str | None:
    """The first line in which the tree differs from the printed one, with the path to it; or None.

    With `top_only` the printed tree may end earlier: our nodes below its leaves do not count.
    """
    ours = j48_lines_of(tree)
    place, path = 0, []  # of ours; the tests above the line
    for line in printed.lines:
        path = [*path[: line.depth], str(line.test)]
        where = " / ".join(path)
        if place == len(ours):
            return f"{where}: missing, our tree has ended"
        mine = ours[place]
        if mine.depth != line.depth or mine.test.differs(line.test, 0.5e-6 + SLACK):
            return f"{where}: we have {mine.test} at depth {mine.depth}"
        place += 1
        if not line.is_leaf:
            if mine.is_leaf:
                return f"{where}: should be split, but is a leaf: {_leaf(mine)}"
            continue
        if not mine.is_leaf and not top_only:
            return f"{where}: should be a leaf, but is split: {ours[place].test}"
        while place < len(ours) and ours[place].depth > line.depth:
            place += 1
        if (
            mine.label != line.label
            or not rounds_to(mine.weight, line.weight)
            or not rounds_to(mine.errors, line.errors)
        ):
            expected = f"{line.label} ({line.weight}/{line.errors or 0.0})"
            return f"{where}: {_leaf(mine)}, expected {expected}"
    if place < len(ours):
        return f"more lines than Weka, from {ours[place].test} at depth {ours[place].depth}"
    if not top_only and (tree.n_leaves, tree.size) != (printed.n_leaves, printed.size):
        return (
            f"{tree.n_leaves} leaves, size {tree.size}; "
            f"expected {printed.n_leaves} and {printed.size}"
        )
    return None


def rounds_to(value: float, printed: float | None) -> bool:
    """Is `printed` what Weka prints for it: two decimals, or nothing for at most 1e-6?"""
    if printed is None:
        return abs(value) <= SLACK
    return abs(value - printed) <= 0.005 + SLACK


def _leaf(line: J48Line) -> str:
    return f"{line.label} ({line.weight:.6f}/{line.errors:.6f})"
