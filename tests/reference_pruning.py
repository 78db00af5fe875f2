# SPDX-License-Identifier: BSD-3-Clause
"""Slow, obviously right pruning: nested nodes, every estimate made anew from rows or counts at every step.

Also trees drawn by hand: textbooks show some that no algorithm grows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fasttree.trees.tree import LEAF, Tree

Rows = list[tuple[int, float]]  # row numbers with weights


@dataclass
class Node:
    """A node with its children; `number` is that of the arrays, -1 for a node that was added."""

    number: int
    counts: list[float]
    pred: int
    multiplicity: int = 1
    attribute: int = LEAF
    threshold: float = math.nan
    branch_of: dict[int, int] = field(default_factory=dict)  # code -> place among the children
    default: int = -1
    missing: int = -1
    children: list[Node] = field(default_factory=list)

    @property
    def is_leaf(self) -> bool:
        return self.attribute == LEAF

    @property
    def weight(self) -> float:
        return sum(self.counts)

    def below(self) -> Iterator[Node]:
        """The node and all under it."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack += node.children

    def leaves(self) -> list[Node]:
        return [node for node in self.below() if node.is_leaf]

    def n_leaves(self) -> int:
        return sum(leaf.multiplicity for leaf in self.leaves())

    def make_leaf(self) -> None:
        self.attribute, self.children, self.branch_of = LEAF, [], {}


def nodes_of(tree: Tree) -> list[Node]:
    """The arrays as nodes; the first is the root."""
    nodes = [
        Node(i, tree.counts[i].tolist(), int(tree.pred[i]), int(tree.multiplicity[i]))
        for i in range(tree.node_count)
    ]
    for i, node in enumerate(nodes):
        if tree.attribute[i] == LEAF:
            continue
        node.attribute, node.threshold = int(tree.attribute[i]), float(tree.threshold[i])
        entries = slice(int(tree.table_start[i]), int(tree.table_start[i + 1]))
        node.branch_of = dict(
            zip(
                tree.table_codes[entries].tolist(), tree.table_branch[entries].tolist(), strict=True
            )
        )
        node.default, node.missing = int(tree.default_branch[i]), int(tree.missing_branch[i])
        first = int(tree.first_child[i])
        node.children = nodes[first : first + int(tree.n_children[i])]
    return nodes


def same_tree(tree: Tree, root: Node, tolerance: float = 1e-9) -> str | None:
    """The first thing in which the arrays differ from the nodes, or None."""
    pairs = [(nodes_of(tree)[0], root)]
    while pairs:
        ours, theirs = pairs.pop()
        what = f"node {ours.number} (grown as {theirs.number})"
        if not np.allclose(ours.counts, theirs.counts, rtol=tolerance, atol=tolerance):
            return f"{what}: counts {ours.counts}, expected {theirs.counts}"
        if ours.attribute != theirs.attribute or ours.multiplicity != theirs.multiplicity:
            return (
                f"{what}: test of {ours.attribute} x {ours.multiplicity}, "
                f"expected {theirs.attribute} x {theirs.multiplicity}"
            )
        if ours.is_leaf:
            continue
        if not ours.branch_of and ours.threshold != theirs.threshold:
            return f"{what}: threshold {ours.threshold}, expected {theirs.threshold}"
        if set(ours.branch_of) != set(theirs.branch_of):
            return f"{what}: values {sorted(ours.branch_of)}, expected {sorted(theirs.branch_of)}"
        if not ours.branch_of:
            pairs += zip(ours.children, theirs.children, strict=True)
            continue
        pairs += [
            (ours.children[ours.branch_of[code]], theirs.children[theirs.branch_of[code]])
            for code in ours.branch_of
        ]
        alive = [c for c in theirs.children if c.multiplicity]
        if len(ours.children) != len(alive):
            return f"{what}: {len(ours.children)} children, expected {len(alive)}"
        if theirs.children[theirs.default].multiplicity:
            pairs.append((ours.children[ours.default], theirs.children[theirs.default]))
    return None


# -- error-based pruning with raising ------------------------------------------------------------------------------


@dataclass
class Raiser:
    """C4.5's pruning with subtree raising: rows go down again for every estimate."""

    table: np.ndarray
    codes: Sequence[int]
    n_classes: int
    expected: Callable[[float, float], float]  # weight, errors -> errors to be expected
    grown_weight: dict[int, float]
    class_weight: Sequence[float]  # for sharing out alone: errors are counted without
    steps: list[tuple[int, str]] = field(default_factory=list)

    def count(self, rows: Rows) -> list[float]:
        counts = [0.0] * self.n_classes
        for row, weight in rows:
            counts[self.codes[row]] += weight
        return counts

    def errors(self, counts: list[float]) -> float:
        return self.expected(sum(counts), sum(counts) - max(counts))

    def branch(self, node: Node, row: int, grow_new: bool) -> int | None:
        """Which child; None: all of them."""
        value = self.table[row, node.attribute]
        if math.isnan(value):
            return node.missing if node.missing >= 0 else None
        if not node.branch_of:
            return 0 if value <= node.threshold else 1
        code = int(value)
        if code in node.branch_of:
            return node.branch_of[code]
        shared = node.children[node.default]
        if shared.is_leaf and not any(shared.counts) and shared.number >= 0 and grow_new:
            # A value that had no rows here: from now on it has a leaf of its own.
            node.children.append(Node(-1, [0.0] * self.n_classes, node.pred))
            node.branch_of[code] = len(node.children) - 1
            shared.multiplicity -= 1
            return node.branch_of[code]
        return node.default

    def split(self, node: Node, rows: Rows) -> list[Rows]:
        known: list[Rows] = [[] for _ in node.children]
        unknown = []
        for row, weight in rows:
            branch = self.branch(node, row, True)
            while len(known) < len(node.children):
                known.append([])
            if branch is None:
                unknown.append((row, weight))
            else:
                known[branch].append((row, weight))
        weights = [sum(w * self.class_weight[self.codes[row]] for row, w in part) for part in known]
        if not any(weights):
            weights = [self.grown_weight.get(child.number, 0.0) for child in node.children]
        total = sum(weights)
        return [
            part + ([(r, w * share / total) for r, w in unknown] if share > 0 else [])
            for part, share in zip(known, weights, strict=True)
        ]

    def estimate(self, node: Node, rows: Rows) -> float:
        """Expected errors of a subtree with these rows; the subtree stays what it is."""
        if node.is_leaf:
            return self.errors(self.count(rows))
        trial = copy_of(node)
        parts = self.split(trial, rows)
        return sum(self.estimate(c, part) for c, part in zip(trial.children, parts, strict=True))

    def recount(self, node: Node, rows: Rows) -> None:
        node.counts = self.count(rows)
        if not node.is_leaf:
            for child, part in zip(node.children, self.split(node, rows), strict=True):
                if part or any(child.counts):
                    self.recount(child, part)

    def as_tree(self, node: Node) -> float:
        return sum(self.errors(leaf.counts) for leaf in node.leaves())

    def prune(self, node: Node, rows: Rows) -> None:
        if node.is_leaf:
            return
        for child, part in zip(node.children, self.split(node, rows), strict=True):
            self.prune(child, part)
        as_leaf, as_tree = self.errors(node.counts), self.as_tree(node)
        most = max(child.weight for child in node.children)
        heavy = [b for b, child in enumerate(node.children) if child.weight >= most * (1 - 1e-9)]
        if any(child.number < 0 for child in node.children):  # those stand behind the others
            code_of = {branch: code for code, branch in node.branch_of.items()}
            heavy.sort(key=lambda b: code_of.get(b, 0))
        heaviest = heavy[-1]
        child = node.children[heaviest]
        as_child = self.estimate(child, rows)
        if as_leaf <= as_tree + 0.1 and as_leaf <= as_child + 0.1:
            self.steps.append((node.number, "leaf"))
            node.make_leaf()
        elif as_child <= as_tree + 0.1:
            self.steps.append((node.number, "raised"))
            raised = copy_of(child)
            node.number = raised.number
            node.attribute, node.threshold = raised.attribute, raised.threshold
            node.branch_of, node.default = raised.branch_of, raised.default
            node.missing, node.children = raised.missing, raised.children
            self.recount(node, rows)
            self.prune(node, rows)


def copy_of(node: Node) -> Node:
    return Node(
        node.number,
        list(node.counts),
        node.pred,
        node.multiplicity,
        node.attribute,
        node.threshold,
        dict(node.branch_of),
        node.default,
        node.missing,
        [copy_of(child) for child in node.children],
    )


# -- the others ------------------------------------------------------------------------------------------------------


def prunings(node: Node) -> list[frozenset[int]]:
    """Every pruning of a small tree, as the numbers of the nodes that are leaves."""
    own = [frozenset([node.number])]
    if node.is_leaf:
        return own
    parts = [prunings(child) for child in node.children]
    return own + [frozenset().union(*choice) for choice in itertools.product(*parts)]


def greedy_removal(
    tree: Tree, as_leaf: Sequence[float], ending: Sequence[float], spend: bool
) -> list[int]:
    """The nodes removed, in order; all gains are counted again at every step."""
    root = nodes_of(tree)[0]
    removed = []

    def errors(node: Node) -> float:
        if node.is_leaf:
            return ending[node.number] if node.number not in removed else as_leaf[node.number]
        return ending[node.number] + sum(errors(child) for child in node.children)

    allowed = errors(root)
    while True:
        inner = [node for node in root.below() if not node.is_leaf]
        if not inner:
            break
        gain = {n.number: round(errors(n) - as_leaf[n.number], 9) for n in inner}
        best = min(
            inner,
            key=lambda n: (-gain[n.number], n.n_leaves(), -tree.depth[n.number], n.number),
        )
        saved = gain[best.number]
        if (errors(root) - saved > allowed + 1e-9) if spend else saved < 0:
            break
        removed.append(best.number)
        best.make_leaf()
        best.multiplicity = 1
    return removed


def weakest_links(tree: Tree, risk: Sequence[float]) -> list[tuple[float, int, float]]:
    """(alpha, leaves, risk) of every tree of the path; all links are looked at in every step."""
    root = nodes_of(tree)[0]

    def below(node: Node) -> float:
        return sum(risk[leaf.number] for leaf in node.leaves())

    def strength(node: Node) -> float:
        return (risk[node.number] - below(node)) / (node.n_leaves() - 1)

    path: list[tuple[float, int, float]] = []
    alpha = 0.0
    while True:
        while True:
            weak = [n for n in root.below() if not n.is_leaf and strength(n) <= alpha + 1e-12]
            if not weak:
                break
            weak[-1].make_leaf()  # then the others are looked at again: the order does not matter
        path.append((alpha, root.n_leaves(), below(root)))
        if root.is_leaf:
            return path
        alpha = min(strength(n) for n in root.below() if not n.is_leaf)


# -- trees drawn by hand -----------------------------------------------------------------------------------------------


def draw(schema: Any, drawing: Any, table: np.ndarray, codes: Sequence[int]) -> Tree:
    """A multiway tree of categorical tests as drawn: {attribute: {value: subtree}}, None for a leaf.

    `table` has category codes (1 + the place among the levels); the rows give the nodes their counts and labels.
    """
    names = list(schema.names)
    n_classes = len(schema.classes)
    order = list(schema.tie_order or range(n_classes))
    queue: list[tuple[Any, list[int], int, int]] = [(drawing, list(range(len(codes))), -1, 0)]
    nodes: list[dict[str, Any]] = []
    tables: list[list[tuple[int, int]]] = []
    while len(nodes) < len(queue):
        place = len(nodes)
        what, rows, parent, depth = queue[place]
        counts = [float(sum(codes[r] == c for r in rows)) for c in range(n_classes)]
        pred = max(order, key=lambda c: (counts[c], -order.index(c)))
        proba = [c / max(len(rows), 1) for c in counts]
        if not rows:
            pred, proba = nodes[parent]["pred"], nodes[parent]["proba"]
        node: dict[str, Any] = {
            "attribute": LEAF, "first_child": -1, "n_children": 0, "default_branch": -1,
            "missing_branch": -1, "counts": counts, "proba": proba, "pred": pred, "depth": depth,
            "parent": parent,
        }  # fmt: skip
        entries: list[tuple[int, int]] = []
        if what is not None:
            ((name, branches),) = what.items()
            attribute = names.index(name)
            levels = list(schema.attributes[attribute].categories)
            node |= {"attribute": attribute, "first_child": len(queue), "n_children": len(branches)}
            weights = []
            for branch, (value, subtree) in enumerate(branches.items()):
                code = levels.index(value) + 1
                entries.append((code, branch))
                part = [r for r in rows if table[r, attribute] == code]
                weights.append(len(part))
                queue.append((subtree, part, place, depth + 1))
            heaviest = weights.index(max(weights))
            node |= {"default_branch": heaviest, "missing_branch": heaviest}
        nodes.append(node)
        tables.append(sorted(entries))

    def column(name: str, kind: Any) -> np.ndarray:
        return np.array([node[name] for node in nodes], dtype=kind)

    n = len(nodes)
    flat = [entry for entries in tables for entry in entries]
    return Tree(
        schema=schema,
        attribute=column("attribute", np.int32),
        threshold=np.full(n, np.nan),
        first_child=column("first_child", np.int32),
        n_children=column("n_children", np.int32),
        table_start=np.append(0, np.cumsum([len(t) for t in tables])).astype(np.int64),
        table_codes=np.array([code for code, _ in flat], dtype=np.uint32),
        table_branch=np.array([branch for _, branch in flat], dtype=np.uint32),
        default_branch=column("default_branch", np.int32),
        missing_branch=column("missing_branch", np.int32),
        missing_seen=np.zeros(n, dtype=bool),
        multiplicity=np.ones(n, dtype=np.int32),
        heuristic=np.zeros(n, dtype=bool),
        counts=column("counts", np.float64),
        proba=column("proba", np.float64),
        pred=column("pred", np.int32),
        gain=np.zeros(n),
        depth=column("depth", np.int32),
        parent=column("parent", np.int32),
    )


def blank(n: int) -> dict[str, np.ndarray]:
    """The arrays of n leaves without rows, as far as a binary tree of thresholds does not need others."""
    return {
        "table_start": np.zeros(n + 1, dtype=np.int64),
        "table_codes": np.empty(0, dtype=np.uint32),
        "table_branch": np.empty(0, dtype=np.uint32),
        "default_branch": np.full(n, -1, dtype=np.int32),
        "missing_seen": np.zeros(n, dtype=bool),
        "multiplicity": np.ones(n, dtype=np.int32),
        "heuristic": np.zeros(n, dtype=bool),
        "gain": np.zeros(n),
    }


def chain(schema: Any, n_levels: int, seed: int = 0) -> Tree:
    """A tree as deep as it has splits: every left child is a leaf."""
    n = 2 * n_levels + 1
    rng = np.random.default_rng(seed)
    node = np.arange(n)
    is_split = (node % 2 == 0) & (node < n - 1)
    counts = np.zeros((n, 2))
    ends = ~is_split
    counts[ends, rng.integers(0, 2, ends.sum())] = rng.integers(1, 9, ends.sum())
    for above in range(n - 3, -1, -2):
        counts[above] = counts[above + 1] + counts[above + 2]
    return Tree(
        schema=schema,
        attribute=np.where(is_split, 0, LEAF).astype(np.int32),
        threshold=np.where(is_split, node / 2.0, np.nan),
        first_child=np.where(is_split, node + 1, -1).astype(np.int32),
        n_children=np.where(is_split, 2, 0).astype(np.int32),
        missing_branch=np.where(is_split, 0, -1).astype(np.int32),
        counts=counts,
        proba=counts / counts.sum(axis=1, keepdims=True),
        pred=counts.argmax(axis=1).astype(np.int32),
        depth=((node + 1) // 2).astype(np.int32),
        parent=np.where(node > 0, (node - 1) // 2 * 2, -1).astype(np.int32),
        **blank(n),
    )


def from_sklearn(schema: Any, theirs: Any) -> Tree:
    """scikit-learn's tree of a classifier, breadth-first."""
    order, parent, depth = [0], [-1], [0]
    for place, node in enumerate(order):  # the list is its own queue
        if theirs.children_left[node] >= 0:
            order += [int(theirs.children_left[node]), int(theirs.children_right[node])]
            parent += [place, place]
            depth += [depth[place] + 1] * 2
    n = len(order)
    is_split = theirs.children_left[order] >= 0
    counts = theirs.value[order, 0] * theirs.weighted_n_node_samples[order][:, np.newaxis]
    first = np.full(n, -1)
    children = np.flatnonzero(np.array(parent) >= 0)[::2]
    first[np.array(parent)[children]] = children
    return Tree(
        schema=schema,
        attribute=np.where(is_split, theirs.feature[order], LEAF).astype(np.int32),
        threshold=np.where(is_split, theirs.threshold[order], np.nan),
        first_child=first.astype(np.int32),
        n_children=np.where(is_split, 2, 0).astype(np.int32),
        missing_branch=np.where(is_split, 0, -1).astype(np.int32),
        counts=np.rint(counts),
        proba=theirs.value[order, 0],
        pred=counts.argmax(axis=1).astype(np.int32),
        depth=np.array(depth, dtype=np.int32),
        parent=np.array(parent, dtype=np.int32),
        **blank(n),
    )
