# SPDX-License-Identifier: BSD-3-Clause
"""A slow, obviously right decision tree that the engine is compared with.

Plain Python on purpose: lists, floats and one loop over every candidate of every node. Nothing is
shared between nodes, nothing is updated in place, nothing is clever. The definitions:

* A split is chosen attribute by attribute. Within an attribute the candidates come in ascending
  order, and a candidate replaces the best one only if its score is larger by more than 1e-10; then
  the winners of the attributes meet in schema order under the same rule. (``ties="root_gain"``: in the
  order of their best scores at the root, the largest first; equal ones in schema order.)
* Numeric: one candidate between two neighbouring values a < b present at the node. Its threshold
  is a/2 + b/2, or a where rounding puts that outside [a, b); with ``threshold="value"`` it is
  the largest value of the whole table that is not above that.
* Categorical, multiway: one candidate, a branch for every value present at the node and, if some
  values are absent, one shared branch without rows (the last one), whose multiplicity is the
  number of absent values. It is a leaf that answers like its parent.
* Categorical, subset: two branches; the left one holds the first present value. Two classes: the
  prefixes of the values ordered by the rate of class 0; then, if a prefix that is too light on one
  side would have been better than the best of the others, every subset of up to 12 values. More
  classes: every subset up to 12 values present, and beyond that the prefixes of the order along the
  principal direction, or by the rate of the first class if only two are present. A node where a
  better subset may exist than those that were tried, of whatever attribute, is marked as heuristic,
  be it a leaf.
* A row whose value is missing stands on some side of every candidate. Numeric: all cuts with the
  missing rows on the left, all cuts with them on the right, at last all known values against them
  (set apart; threshold inf), which with ``missing="category"`` comes first. Multiway: they join the
  branch of each value in turn, at last a branch of their own after the others; with "category" that
  one alone. Subset: missing is one more value, before the first one. Rows that come later without a
  value follow the training rows; where there were none, the heaviest branch. Levels without rows
  at the node go to the heaviest side, but never to one that has missing values alone.
* The criterion's score is the drop of impurity; for gain ratio it is gain / split information,
  and 0 if the gain is at most 1e-10 or the split information below 1e-12.
* A node is a leaf if it is pure, at max_depth, lighter than min_samples_split, without a split two
  of whose branches weigh min_samples_leaf, or if its best score is below min_gain (or zero, with
  stop_zero_gain). A leaf of one row and a split of two rows limit nothing, whatever these weigh.
* max_leaves: the whole tree is grown, then expansions are kept best first by weight * gain, ties
  to the smaller breadth-first id; an expansion that would pass the limit is passed over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from candidates import (
    EXHAUSTIVE_VALUES,
    TIE,
    Attribute,
    Candidates,
    Split,
    entropy,
    gain_of,
    gini,
    is_missing,
    midpoint,
    score_of,
    total_of,
)

__all__ = [
    "TIE",
    "Attribute",
    "Grower",
    "Node",
    "Split",
    "entropy",
    "gini",
    "grow",
    "midpoint",
    "n_leaves",
    "reference_apply",
    "reference_predict",
    "score_of",
]

# A weight this close below a limit reaches it: fractional weights do not add up exactly.
SIZE = 1e-9


@dataclass
class Node:
    """One node; the list that `grow` returns is breadth-first, children of a node adjacent."""

    depth: int
    parent: int
    rows: list[int]
    counts: list[float]
    proba: list[float]
    pred: int
    multiplicity: int = 1
    split: Split | None = None
    children: list[int] = field(default_factory=list)
    default_branch: int = -1
    missing_branch: int = -1
    heuristic: bool = False  # there may be a better split, or any
    margin: float = math.inf  # best score minus the best score of any other candidate

    @property
    def missing_seen(self) -> bool:
        """Whether training rows at the node lacked the value."""
        return self.split is not None and self.split.missing_branch is not None

    @property
    def weight(self) -> float:
        return sum(self.counts)


class Grower:
    """The data and the parameters; `best_split` looks at one set of rows and nothing else."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        y: Sequence[int],
        n_classes: int,
        *,
        weights: Sequence[float] | None = None,
        class_order: Sequence[int] | None = None,
        criterion: str = "gini",
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_gain: float = 0.0,
        stop_zero_gain: bool = False,
        ties: str = "root_gain",
        **shapes: str,  # those of `Candidates`
    ) -> None:
        self.attributes = attributes
        self.candidates = Candidates(attributes, y, n_classes, weights=weights, **shapes)
        self.weights = self.candidates.weights
        self.count = self.candidates.count
        self.n_classes = n_classes
        self.class_order = class_order if class_order is not None else range(n_classes)
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_samples_split = min_samples_split if min_samples_split > 2 else 0
        self.min_samples_leaf = min_samples_leaf if min_samples_leaf > 1 else 0
        self.min_gain = min_gain
        self.stop_zero_gain = stop_zero_gain
        self.ties = ties

    @cached_property
    def order(self) -> list[int]:
        """The attributes as they are asked."""
        every = list(range(len(self.attributes)))
        if self.ties == "root_gain":
            bests = self.bests([row for row, weight in enumerate(self.weights) if weight > 0])
            scores = [-math.inf if best is None else best.score for best in bests]
            every.sort(key=lambda index: sum(score > scores[index] + TIE for score in scores))
        return every

    def majority(self, counts: Sequence[float]) -> int:
        most = max(counts)
        return next(c for c in self.class_order if counts[c] >= most - TIE)

    def is_admissible(self, split: Split) -> bool:
        weights = [sum(branch) for branch in split.branch_counts]
        return sum(w > 0 and w >= self.min_samples_leaf - SIZE for w in weights) >= 2

    def best_split(self, rows: Sequence[int]) -> tuple[Split | None, float]:
        """The winner and its margin over every other admissible candidate."""
        order = self.order
        scores: list[float] = []
        bests = self.bests(rows, scores.append)
        winner: Split | None = None
        for index in order:
            best = bests[index]
            if best is not None and (winner is None or best.score > winner.score + TIE):
                winner = best
        if winner is not None:
            winner.gain = gain_of(self.criterion, self.count(rows), winner.branch_counts)
        scores.sort()
        margin = scores[-1] - scores[-2] if len(scores) > 1 else math.inf
        return winner, margin

    def bests(
        self, rows: Sequence[int], note: Callable[[float], None] = lambda score: None
    ) -> list[Split | None]:
        """The best split of each attribute; `note` is told the score of every admissible one."""
        counts = self.count(rows)
        self.is_heuristic = False

        def evaluate(split: Split) -> None:
            split.score = score_of(self.criterion, counts, split.branch_counts)
            if self.is_admissible(split):
                note(split.score)

        return [self.best_of(index, rows, evaluate) for index in range(len(self.attributes))]

    def best_of(
        self, index: int, rows: Sequence[int], evaluate: Callable[[Split], None]
    ) -> Split | None:
        """The best split of one attribute, scored by `evaluate`; says whether there may be a better one."""
        best: Split | None = None
        refused = -math.inf
        for split in self.candidates.of(index, rows):
            evaluate(split)
            if not self.is_admissible(split):
                refused = max(refused, split.score)
            elif best is None or split.score > best.score + TIE:
                best = split
        if not self.candidates.is_by_subsets(index):
            return best
        tables = self.candidates.tables(index, rows)
        is_exact = len(self.candidates.classes_here(tables)) <= 2
        if is_exact and refused <= (-math.inf if best is None else best.score + TIE):
            return best
        if len(tables) > EXHAUSTIVE_VALUES:
            self.is_heuristic |= self.can_be_divided(list(tables.values()))
            return best
        for split in self.candidates.every_subset(index, rows):
            evaluate(split)
            if self.is_admissible(split) and (best is None or split.score > best.score + TIE):
                best = split
        return best

    def can_be_divided(self, tables: Sequence[list[float]]) -> bool:
        """Are there enough rows for two sides, and is no value so heavy that what it leaves is too light?"""
        everything = total_of(tables)
        halves = [[n / 2 for n in everything]] * 2
        others = [
            [total - n for total, n in zip(everything, table, strict=True)] for table in tables
        ]
        return all(
            self.is_admissible(Split(0, sides))
            for sides in [halves, *([everything, other] for other in others)]
        )

    def must_be_leaf(self, counts: Sequence[float], depth: int) -> bool:
        return (
            sum(c > 0 for c in counts) < 2
            or depth == self.max_depth
            or sum(counts) < self.min_samples_split - SIZE
        )

    def is_worth_it(self, split: Split) -> bool:
        return split.score >= self.min_gain - TIE and not (
            self.stop_zero_gain and split.score <= TIE
        )

    def leaf(self, rows: list[int], depth: int, parent: int) -> Node:
        counts = self.count(rows)
        total = sum(counts)
        share = [c / total for c in counts]
        return Node(depth, parent, rows, counts, share, self.majority(counts))

    def grow(self) -> list[Node]:
        nodes = [self.leaf([r for r, w in enumerate(self.weights) if w > 0], 0, -1)]
        number = 0
        while number < len(nodes):  # the list is its own queue: breadth-first, no recursion
            self.expand(nodes, number)
            number += 1
        return nodes if self.max_leaves is None else keep_best_first(nodes, self.max_leaves)

    def expand(self, nodes: list[Node], number: int) -> None:
        node = nodes[number]
        if not node.rows or self.must_be_leaf(node.counts, node.depth):
            return
        split, margin = self.best_split(node.rows)
        node.heuristic = self.is_heuristic
        if split is None or not self.is_worth_it(split):
            return
        node.split, node.margin = split, margin
        values = self.attributes[split.attribute].values
        parts: list[list[int]] = [[] for _ in split.branch_counts]
        for row in node.rows:
            parts[split.branch_of(values[row])].append(row)
        for part in parts:
            node.children.append(len(nodes))
            if part:
                nodes.append(self.leaf(part, node.depth + 1, number))
            else:
                empty = Node(
                    node.depth + 1, number, [], [0.0] * self.n_classes, node.proba, node.pred
                )
                empty.multiplicity = split.n_absent
                nodes.append(empty)
        weights = [sum(branch) for branch in split.branch_counts]
        heaviest = max(range(len(weights)), key=lambda b: (weights[b], -b))
        node.missing_branch = heaviest if split.missing_branch is None else split.missing_branch
        if split.n_absent:
            node.default_branch = len(weights) - 1
        elif split.table:
            sides = set(split.table.values())
            node.default_branch = sides.pop() if len(sides) == 1 else heaviest


def keep_best_first(nodes: list[Node], max_leaves: int) -> list[Node]:
    """The tree that best-first growth reaches, out of the fully grown one."""
    leaves, expanded, frontier = 1, set(), [0]
    while frontier := [number for number in frontier if nodes[number].split is not None]:
        value = {number: nodes[number].weight * nodes[number].split.gain for number in frontier}
        top = max(value.values())
        number = min(n for n in frontier if value[n] >= top - TIE * max(1.0, top))
        frontier.remove(number)
        grown = leaves - 1 + sum(nodes[child].multiplicity for child in nodes[number].children)
        if grown <= max_leaves:
            leaves = grown
            expanded.add(number)
            frontier += nodes[number].children
    # Leaving nodes out of a breadth-first list leaves it breadth-first.
    kept = [n for n, node in enumerate(nodes) if n == 0 or node.parent in expanded]
    place = {number: position for position, number in enumerate(kept)}
    trimmed = []
    for number in kept:
        node = nodes[number]
        node.parent = place.get(node.parent, -1)
        if number in expanded:
            node.children = [place[child] for child in node.children]
        else:
            node.heuristic &= node.split is None  # a split that was not made tells nothing
            node.split, node.children = None, []
            node.default_branch = node.missing_branch = -1
        trimmed.append(node)
    return trimmed


def grow(
    attributes: Sequence[Attribute], y: Sequence[int], n_classes: int, **parameters: object
) -> list[Node]:
    """The tree as a breadth-first list of nodes; the parameters are those of `Grower`."""
    return Grower(attributes, y, n_classes, **parameters).grow()  # type: ignore[arg-type]


def reference_apply(
    nodes: Sequence[Node], rows: Sequence[Sequence[float]], unknown: str = "missing"
) -> list[int]:
    """The node at which the way of every row ends.

    A row holds numbers and codes; NaN is a missing value, and -1 stands for a level never seen at
    fit, which counts as missing or (``unknown="majority"``) ends the way.
    """
    leaves = []
    for row in rows:
        number = 0
        while (split := nodes[number].split) is not None:
            node = nodes[number]
            value = row[split.attribute]
            is_unknown = bool(split.table) and value < 0
            if is_unknown and unknown == "majority":
                break
            if is_unknown or is_missing(value):
                branch = node.missing_branch
            else:
                branch = split.branch_of(value, unseen=node.default_branch)
            number = node.children[branch]
        leaves.append(number)
    return leaves


def reference_predict(nodes: Sequence[Node], rows: Sequence[Sequence[float]]) -> list[int]:
    """The class number of every row."""
    return [nodes[leaf].pred for leaf in reference_apply(nodes, rows)]


def n_leaves(nodes: Sequence[Node]) -> int:
    return sum(node.multiplicity for node in nodes if node.split is None)
