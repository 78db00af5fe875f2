# SPDX-License-Identifier: BSD-3-Clause
"""A slow, obviously right decision tree that the engine is compared with.

Plain Python on purpose: lists, floats and one loop over every candidate of every node. Nothing is
shared between nodes, nothing is updated in place, nothing is clever. The definitions:

* A split is chosen attribute by attribute. Within an attribute the candidates come in ascending
  order, and a candidate replaces the best one only if its score is larger by more than 1e-10; then
  the winners of the attributes meet in schema order under the same rule.
* Numeric: one candidate between two neighbouring values a < b present at the node. Its threshold
  is a/2 + b/2, or a where rounding puts that outside [a, b); with ``threshold="value"`` it is a
  itself, the largest value present at the node that goes left.
* Categorical, multiway: one candidate, a branch for every value present at the node and, if some
  values are absent, one shared branch without rows (the last one), whose multiplicity is the
  number of absent values. It is a leaf that answers like its parent.
* Categorical, subset: two branches; the left one holds the first present value. Two classes: the
  prefixes of the values ordered by the rate of class 0. More classes: every subset up to 12
  values present, and beyond that the prefixes of the order along the principal direction.
* The criterion's score is the drop of impurity; for gain ratio it is gain / split information,
  and 0 if the gain is at most 1e-10 or the split information below 1e-12.
* A node is a leaf if it is pure, at max_depth, lighter than min_samples_split, without a split two
  of whose branches weigh min_samples_leaf, or if its best score is below min_gain (or zero, with
  stop_zero_gain).
* max_leaves: the whole tree is grown, then expansions are kept best first by weight * gain, ties
  to the smaller breadth-first id; an expansion that would pass the limit is passed over.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

TIE = 1e-10  # scores closer than this are equal; so are class counts
SIZE = (
    1e-9  # a weight this close below a limit reaches it: fractional weights do not add up exactly
)
EXHAUSTIVE_VALUES = 12
POWER_STEPS = 50


@dataclass(frozen=True)
class Attribute:
    """A column: numbers, or codes 0..k-1 of k declared categories."""

    values: Sequence[float]
    n_categories: int | None = None  # None: numeric


@dataclass
class Split:
    """A candidate: which branch every present value takes, and what the branches hold."""

    attribute: int
    branch_counts: list[list[float]]
    threshold: float = math.nan
    table: dict[int, int] = field(default_factory=dict)  # category -> branch, present ones only
    n_absent: int = 0  # multiway: how many values share the branch without rows
    heuristic: bool = False
    gain: float = 0.0  # the impurity saved per unit of weight
    score: float = 0.0  # what the criterion makes of it: the same, or the gain ratio

    def branch_of(self, value: float, unseen: int = -1) -> int:
        if not self.table:
            return 0 if value <= self.threshold else 1
        return self.table.get(int(value), unseen)


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
    margin: float = math.inf  # best score minus the best score of any other candidate

    @property
    def weight(self) -> float:
        return sum(self.counts)


def effective_weights(weights: Sequence[float] | None, n_rows: int) -> list[float]:
    """Whole numbers are copies; others are scaled so that rows that count weigh 1 on average."""
    if weights is None:
        return [1.0] * n_rows
    weights = [float(w) for w in weights]
    if all(w == int(w) for w in weights):
        return weights
    mean = math.fsum(weights) / sum(w > 0 for w in weights)
    return [w / mean for w in weights]


# -- impurity and scores ---------------------------------------------------------------------


def entropy(counts: Sequence[float]) -> float:
    total = sum(counts)
    return -sum(c / total * math.log2(c / total) for c in counts if c > 0)


def gini(counts: Sequence[float]) -> float:
    total = sum(counts)
    return 1.0 - sum((c / total) ** 2 for c in counts)


def misclassification(counts: Sequence[float]) -> float:
    return 1.0 - max(counts) / sum(counts)


IMPURITY = {
    "entropy": entropy,
    "gain_ratio": entropy,
    "gini": gini,
    "misclassification": misclassification,
}


def gain_of(criterion: str, counts: Sequence[float], branches: list[list[float]]) -> float:
    """The drop of impurity by a split, never below 0."""
    impurity = IMPURITY[criterion]
    total = sum(counts)
    filled = [branch for branch in branches if sum(branch) > 0]
    after = sum(sum(branch) / total * impurity(branch) for branch in filled)
    return max(impurity(counts) - after, 0.0)


def score_of(criterion: str, counts: Sequence[float], branches: list[list[float]]) -> float:
    """What the criterion compares: the gain, or gain / split information."""
    gain = gain_of(criterion, counts, branches)
    if criterion != "gain_ratio":
        return gain
    split_info = entropy([sum(branch) for branch in branches])
    if gain <= TIE or split_info < 1e-12:
        return 0.0
    return gain / split_info


# -- candidates ------------------------------------------------------------------------------


def midpoint(low: float, high: float) -> float:
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def principal_order(tables: dict[int, list[float]]) -> list[int]:
    """Values by their projection on the direction in which their class shares differ most."""
    n_classes = len(next(iter(tables.values())))
    total = sum(sum(t) for t in tables.values())
    mean = [sum(t[c] for t in tables.values()) / total for c in range(n_classes)]
    weight = {v: sum(t) for v, t in tables.items()}
    share = {v: [x / weight[v] for x in t] for v, t in tables.items()}
    matrix = [
        [
            sum(weight[v] * (share[v][i] - mean[i]) * (share[v][j] - mean[j]) for v in tables)
            for j in range(n_classes)
        ]
        for i in range(n_classes)
    ]
    direction = [(1.0 if c == 0 else 0.0) - mean[c] for c in range(n_classes)]
    for _ in range(POWER_STEPS):
        image = [sum(row[j] * direction[j] for j in range(n_classes)) for row in matrix]
        length = math.sqrt(sum(x * x for x in image))
        if length == 0:
            break
        direction = [x / length for x in image]
    first = next((x for x in direction if x != 0), 1.0)
    if first < 0:
        direction = [-x for x in direction]
    place = {v: sum(s * d for s, d in zip(share[v], direction, strict=True)) for v in tables}
    return sorted(tables, key=lambda v: (place[v], v))


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
        categorical_split: str = "subset",
        threshold: str = "midpoint",
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_gain: float = 0.0,
        stop_zero_gain: bool = False,
    ) -> None:
        self.attributes = attributes
        self.y = y
        self.n_classes = n_classes
        self.weights = effective_weights(weights, len(y))
        self.class_order = class_order if class_order is not None else range(n_classes)
        self.criterion = criterion
        self.categorical_split = categorical_split
        self.threshold = threshold
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.stop_zero_gain = stop_zero_gain

    def count(self, rows: Sequence[int]) -> list[float]:
        counts = [0.0] * self.n_classes
        for row in rows:
            counts[self.y[row]] += self.weights[row]
        return counts

    def majority(self, counts: Sequence[float]) -> int:
        most = max(counts)
        return next(c for c in self.class_order if counts[c] >= most - TIE)

    # Candidates of one attribute, in canonical order.

    def numeric(self, index: int, rows: Sequence[int]) -> Iterator[Split]:
        values = self.attributes[index].values
        ordered = sorted(rows, key=lambda row: values[row])
        left = [0.0] * self.n_classes
        right = self.count(rows)
        for row, following in pairwise(ordered):
            left[self.y[row]] += self.weights[row]
            right[self.y[row]] -= self.weights[row]
            low, high = values[row], values[following]
            if low < high:
                low = low + 0.0  # -0.0 becomes 0.0
                cut = low if self.threshold == "value" else midpoint(low, high)
                yield Split(index, [list(left), list(right)], threshold=cut)

    def tables(self, index: int, rows: Sequence[int]) -> dict[int, list[float]]:
        """Class counts of the values present, in declared order."""
        by_value: dict[int, list[int]] = {}
        for row in rows:
            by_value.setdefault(int(self.attributes[index].values[row]), []).append(row)
        return {value: self.count(by_value[value]) for value in sorted(by_value)}

    def multiway(self, index: int, rows: Sequence[int]) -> Iterator[Split]:
        tables = self.tables(index, rows)
        if len(tables) < 2:
            return
        n_absent = self.attributes[index].n_categories - len(tables)
        branches = list(tables.values()) + ([[0.0] * self.n_classes] if n_absent else [])
        table = {value: branch for branch, value in enumerate(tables)}
        yield Split(index, branches, table=table, n_absent=n_absent)

    def subsets(self, index: int, rows: Sequence[int]) -> Iterator[Split]:
        tables = self.tables(index, rows)
        present = list(tables)
        heuristic = False
        if self.n_classes == 2:
            order = sorted(present, key=lambda v: (tables[v][0] / sum(tables[v]), v))
            sides = [order[:size] for size in range(1, len(order))]
        elif len(present) <= EXHAUSTIVE_VALUES:
            sides = [
                [present[0]] + [v for bit, v in enumerate(present[1:]) if mask >> bit & 1]
                for mask in range(2 ** (len(present) - 1) - 1)
            ]
        else:
            heuristic = True
            order = principal_order(tables)
            sides = [order[:size] for size in range(1, len(order))]
        for side in sides:
            holds_first = present[0] in side
            table = {v: 0 if (v in side) == holds_first else 1 for v in present}
            branches = [
                [
                    sum(tables[v][c] for v in present if table[v] == branch)
                    for c in range(self.n_classes)
                ]
                for branch in (0, 1)
            ]
            yield Split(index, branches, table=table, heuristic=heuristic)

    def candidates(self, index: int, rows: Sequence[int]) -> Iterator[Split]:
        if self.attributes[index].n_categories is None:
            return self.numeric(index, rows)
        if self.categorical_split == "multiway":
            return self.multiway(index, rows)
        return self.subsets(index, rows)

    # The choice.

    def is_admissible(self, split: Split) -> bool:
        weights = [sum(branch) for branch in split.branch_counts]
        return sum(w > 0 and w >= self.min_samples_leaf - SIZE for w in weights) >= 2

    def best_split(self, rows: Sequence[int]) -> tuple[Split | None, float]:
        """The winner and its margin over every other admissible candidate."""
        counts = self.count(rows)
        winner: Split | None = None
        scores = []
        for index in range(len(self.attributes)):
            best: Split | None = None
            for split in self.candidates(index, rows):
                if not self.is_admissible(split):
                    continue
                split.score = score_of(self.criterion, counts, split.branch_counts)
                scores.append(split.score)
                if best is None or split.score > best.score + TIE:
                    best = split
            if best is not None and (winner is None or best.score > winner.score + TIE):
                winner = best
        if winner is not None:
            winner.gain = gain_of(self.criterion, counts, winner.branch_counts)
        scores.sort()
        margin = scores[-1] - scores[-2] if len(scores) > 1 else math.inf
        return winner, margin

    def must_be_leaf(self, counts: Sequence[float], depth: int) -> bool:
        return (
            sum(c > 0 for c in counts) < 2
            or depth == self.max_depth
            or sum(counts) < self.min_samples_split - SIZE
        )

    def is_worth_it(self, split: Split) -> bool:
        return split.score >= self.min_gain and not (self.stop_zero_gain and split.score <= TIE)

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
        node.missing_branch = max(range(len(weights)), key=lambda b: (weights[b], -b))
        if split.n_absent:
            node.default_branch = len(weights) - 1
        elif split.table:
            node.default_branch = node.missing_branch


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
            node.split, node.children = None, []
            node.default_branch = node.missing_branch = -1
        trimmed.append(node)
    return trimmed


def grow(
    attributes: Sequence[Attribute], y: Sequence[int], n_classes: int, **parameters: object
) -> list[Node]:
    """The tree as a breadth-first list of nodes; the parameters are those of `Grower`."""
    return Grower(attributes, y, n_classes, **parameters).grow()  # type: ignore[arg-type]


def reference_apply(nodes: Sequence[Node], rows: Sequence[Sequence[float]]) -> list[int]:
    """The leaf of every row; a row holds numbers and codes, and -1 stands for an unknown level."""
    leaves = []
    for row in rows:
        number = 0
        while (split := nodes[number].split) is not None:
            node = nodes[number]
            value = row[split.attribute]
            if split.table and value < 0:
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
