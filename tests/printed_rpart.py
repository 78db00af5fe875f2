# SPDX-License-Identifier: BSD-3-Clause
"""Trees as R's rpart prints them: read, written again, and compared with a Tree.

rpart numbers the children of node k with 2k and 2k + 1 and decides by its own rule which side comes
first, so sides are matched by their tests. Two habits of rpart have no counterpart here:

* With cp = 0 it takes back every split below which nothing more is classified correctly. The same
  splits of ours are left out of the comparison (`useful_splits`).
* Where no surrogate decides and both sides of the split are equally heavy, a row stays at the node;
  ours follows the first branch. Such nodes must be named (`undecided`). Their children are compared up
  to those rows; what lies below the child that got them grew from other rows, and is left out.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from printed_trees import SLACK, Test, branches_of, errors_of

from fasttree.trees.tree import LEAF, Tree


@dataclass(frozen=True)
class RpartNode:
    """One printed line."""

    number: int
    test: Test | None  # None: the root
    n: int
    loss: int
    label: str
    shares: tuple[str, ...]  # as printed
    is_leaf: bool


_LINE = re.compile(
    r"\s*(?P<number>\d+)\) (?:root|(?P<attribute>\w+)(?P<relation>< |>=|=)(?P<value>\S+))"
    r" (?P<n>\d+) +(?P<loss>\d+) (?P<label>\S+) \((?P<shares>[\d. ]+)\)(?P<leaf> \*)?\s*"
)
_RELATIONS = {"< ": "<=", ">=": ">", "=": "="}  # cuts lie between values, so that "=" is nothing


def parse_rpart(text: str) -> dict[int, RpartNode]:
    """The printed nodes by number, in the order of the lines."""
    nodes = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        assert match, f"not a line of rpart: {line!r}"
        test = None
        if match["relation"] == "=":
            test = Test(match["attribute"], "=", tuple(match["value"].split(",")))
        elif match["relation"]:
            relation = _RELATIONS[match["relation"]]
            test = Test(match["attribute"], relation, threshold=float(match["value"]))
        number = int(match["number"])
        nodes[number] = RpartNode(
            number=number,
            test=test,
            n=int(match["n"]),
            loss=int(match["loss"]),
            label=match["label"],
            shares=tuple(match["shares"].split()),
            is_leaf=match["leaf"] is not None,
        )
    return nodes


def print_rpart(nodes: dict[int, RpartNode]) -> str:
    """The lines with single spaces: rpart pads its columns."""
    signs = {relation: sign for sign, relation in _RELATIONS.items()}
    lines = []
    for node in nodes.values():
        test = "root"
        if node.test is not None:
            levels = ",".join(node.test.values)
            value = levels or f"{node.test.threshold:.4g}"
            test = f"{node.test.attribute}{signs[node.test.relation]}{value}"
        star = " *" if node.is_leaf else ""
        shares = " ".join(node.shares)
        lines.append(f"{node.number}) {test} {node.n} {node.loss} {node.label} ({shares}){star}")
    return "\n".join(lines)


def useful_splits(tree: Tree) -> np.ndarray:
    """Which nodes stay split if splits below which no error is saved are taken back."""
    errors = errors_of(tree)
    below = errors.copy()  # errors of the leaves below each node
    split = np.zeros(tree.node_count, dtype=bool)
    for node in range(tree.node_count - 1, -1, -1):
        if tree.attribute[node] == LEAF:
            continue
        first = int(tree.first_child[node])
        below[node] = below[first : first + int(tree.n_children[node])].sum()
        split[node] = below[node] < errors[node] - SLACK
    return split


def rpart_difference(
    tree: Tree, printed: dict[int, RpartNode], undecided: frozenset[int] = frozenset()
) -> str | None:
    """The first node in which the binary tree differs from the printed one, or None.

    `undecided`: the numbers of rpart's nodes at which rows stay.
    """
    split = useful_splits(tree)
    pairs = [(1, 0)]
    while pairs:
        number, node = pairs.pop()
        theirs = printed[number]
        where = path_to(number, printed)
        found = _node_difference(tree, node, theirs, theirs.n)
        if found:
            return f"{where}: {found}"
        if theirs.is_leaf or not split[node]:
            if theirs.is_leaf and not split[node]:
                continue
            return f"{where}: {'we split' if theirs.is_leaf else 'we do not split'}"
        children = [printed[2 * number], printed[2 * number + 1]]
        staying = theirs.n - sum(child.n for child in children)
        if (staying > 0) != (number in undecided):
            return f"{where}: {staying} rows stay at the node"
        sides = branches_of(tree, node)
        for child in children:
            match = [place for test, place in sides if _same_test(test, child.test)]
            if not match:
                ours = " | ".join(str(test) for test, _ in sides)
                return f"{where}: expected a branch {child.test}, we have {ours}"
            # The rows that stay with rpart went to our first branch.
            extra = staying if match[0] == tree.first_child[node] else 0
            if extra:
                if tree.counts[match[0]].sum() != child.n + extra:
                    return f"{where}, {child.test}: expected {child.n} rows and {extra} undecided"
            else:
                pairs.append((child.number, match[0]))
    return None


def _node_difference(tree: Tree, node: int, theirs: RpartNode, n: int) -> str | None:
    counts = tree.counts[node]
    label = str(tree.schema.classes[tree.pred[node]])
    loss = counts.sum() - counts[tree.pred[node]]
    if (counts.sum(), loss, label) != (n, theirs.loss, theirs.label):
        expected = f"{n} rows, {theirs.loss} lost, {theirs.label}"
        return f"{counts.sum():g} rows, {loss:g} lost, {label}; expected {expected}"
    # rpart prints the classes in their declared order.
    order = tree.schema.tie_order or range(len(counts))
    for share, text in zip(counts[list(order)] / n, theirs.shares, strict=True):
        if abs(share - float(text)) > 0.5 * 10.0 ** -len(text.partition(".")[2]) + 1e-15:
            return f"shares {counts / n}, expected {theirs.shares}"
    return None


def _same_test(ours: Test, printed: Test | None) -> bool:
    """rpart prints four significant digits of a threshold, and levels in their declared order."""
    assert printed is not None
    unit = 0.0
    if printed.relation != "=" and printed.threshold:
        unit = 10.0 ** (math.floor(math.log10(abs(printed.threshold))) - 3)
    return not ours.differs(printed, 0.5 * unit + SLACK)


def path_to(number: int, printed: dict[int, RpartNode]) -> str:
    """The tests from the root to a node, for messages."""
    tests: list[str] = []
    while number > 1:
        tests.insert(0, str(printed[number].test))
        number //= 2
    return " / ".join(["root", *tests])
