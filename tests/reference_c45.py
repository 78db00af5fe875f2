# SPDX-License-Identifier: BSD-3-Clause
"""C4.5 as its book and its release 8 have it, slow and obviously right.

A node is a list of weighted rows, and every attribute is judged by going through that list again for
every candidate. The definitions, for a node of weight n whose rows of weight n_K know an attribute:

* gain = n_K / n * (entropy of the known rows - mean entropy of their branches); split information =
  entropy of the branches' shares of n, the rows that do not know the attribute being one more outcome.
* Nominal: a branch for every value present at the node; at least two branches must weigh m.
  "grouped": see `group_values`.
* Numeric: both sides of a cut must weigh minSplit = m, or 0.1 n_K / C if that is more, but at most 25.
  T cuts do; of these the one of largest gain, less log2(T) / n. Not eligible without gain.
* Among the eligible attributes whose gain reaches the average less 1e-3 and whose split information
  exceeds 1e-3 the largest gain / split information wins. Nominal attributes with 0.3 N values or more
  do not count in the average, unless all the attributes of the table are such. criterion="entropy"
  takes the largest gain without all this.
* A threshold is the largest value in the whole training set that is not above the midpoint.
* A row that does not know the attribute goes down every branch that has rows, with its share.
* At last a node becomes a leaf if its leaves make as many errors as it would make, less 1e-3.
* A later candidate wins if it is better by more than 1e-10. compat="j48" makes that 1e-6, passes over
  cuts between values that are not more than 1e-5 apart, and looks for the threshold up to 1e-6 above
  the midpoint.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from candidates import (
    IMPURITY,
    TIE,
    Attribute,
    Split,
    effective_weights,
    entropy,
    gain_of,
    is_missing,
    midpoint,
    total_of,
)
from reference import SIZE, Node

Row = tuple[int, float]  # its number, and the weight with which it is here

EPSILON = 1e-3
MANY_VALUES = 0.3  # of the number of rows
MERGE = 1e-5  # what a merger of blocks must bring


@dataclass
class Test:
    """What an eligible attribute offers at a node."""

    __test__ = False  # no test in pytest's sense

    split: Split
    branches: list[list[Row]]
    gain: float  # of a threshold: after the price of choosing it
    split_info: float
    n_cuts: int = 0


def weight_of(rows: Sequence[Row]) -> float:
    return math.fsum(weight for _, weight in rows)


def group_values(
    tables: dict[int, list[float]],
    criterion: str,
    n: float,
    holds: Callable[[list[float]], bool] = any,
) -> list[list[int]]:
    """The values present at a node of weight n in groups, each of which gets a branch.

    At first a block for each value; those that hold nothing but the same class become one. Then the
    merger of two blocks that scores best is made, again and again, while that raises the score by more
    than 1e-5 and, for the gain ratio, leaves at least half of the gain. A merged block takes the place
    of its first part. (`tables` has the class counts of the values, in order.) `holds`: are these enough
    rows for a branch that counts? There must be two, so the only two are never merged; with fewer, such
    as are too small are merged at any score.
    """

    def score(blocks: list[list[int]]) -> tuple[float, float]:
        branches = [total_of([tables[value] for value in block]) for block in blocks]
        known = total_of(branches)
        gain = gain_of(criterion, known, branches) * sum(known) / n
        if criterion != "gain_ratio":
            return gain, gain
        weights = [sum(branch) for branch in branches]
        split_info = entropy([*weights, max(n - sum(weights), 0.0)])
        return (gain / split_info if gain > TIE and split_info >= 1e-12 else 0.0), gain

    groups: list[list[int]] = []
    pure_block: dict[int, list[int]] = {}
    for value, counts in tables.items():
        classes = [c for c, weight in enumerate(counts) if weight > 0]
        if len(classes) == 1 and classes[0] in pure_block:
            pure_block[classes[0]].append(value)
            continue
        groups.append([value])
        if len(classes) == 1:
            pure_block[classes[0]] = groups[-1]

    current, first_gain = score(groups)
    while len(groups) > 2:
        best, best_gain, merged = -math.inf, 0.0, groups
        held = [holds(total_of([tables[value] for value in group])) for group in groups]
        for i, j in combinations(range(len(groups)), 2):
            if held[i] + held[j] == sum(held) > 0:
                continue
            tried = [
                group + groups[j] if place == i else group
                for place, group in enumerate(groups)
                if place != j
            ]
            value, gain = score(tried)
            if value > best + TIE:
                best, best_gain, merged = value, gain, tried
        if merged is groups:
            break
        if sum(held) >= 2 and best <= current + MERGE:
            break
        if sum(held) >= 2 and criterion == "gain_ratio" and best_gain < first_gain / 2 - TIE:
            break
        current, groups = best, merged
    return groups


class FractionalGrower:
    """A table whose rows may be at several nodes with a share each; which test a node gets is for subclasses."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        y: Sequence[int],
        n_classes: int,
        *,
        weights: Sequence[float] | None = None,
        class_order: Sequence[int] | None = None,
        criterion: str = "gain_ratio",
        categorical_split: str = "multiway",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
    ) -> None:
        self.attributes = attributes
        self.y = y
        self.n_classes = n_classes
        self.weights = effective_weights(weights, len(y))
        self.class_order = class_order if class_order is not None else range(n_classes)
        self.criterion = criterion
        self.impurity = IMPURITY[criterion]
        self.categorical_split = categorical_split
        self.max_depth = max_depth
        # A leaf of one row and a split of two limit nothing, but shares must come to the lightest row.
        row = min(1.0, *(weight for weight in self.weights if weight > 0))
        self.min_samples_split = min_samples_split * (row if min_samples_split <= 2 else 1)
        self.min_samples_leaf = min_samples_leaf * (row if min_samples_leaf <= 1 else 1)
        self.tie = TIE

    # -- rows ------------------------------------------------------------------------------------

    def count(self, rows: Sequence[Row]) -> list[float]:
        return [weight_of([r for r in rows if self.y[r[0]] == c]) for c in range(self.n_classes)]

    def known(self, index: int, rows: Sequence[Row]) -> list[Row]:
        return [r for r in rows if not is_missing(self.attributes[index].values[r[0]])]

    def majority(self, counts: Sequence[float]) -> int:
        return next(c for c in self.class_order if counts[c] >= max(counts) - TIE)

    def holds(self, branch: Sequence[Row]) -> bool:
        """Is the branch as heavy as it must be?"""
        weight = weight_of(branch)
        return weight > 0 and weight >= self.min_samples_leaf - SIZE

    # -- scores ----------------------------------------------------------------------------------

    def gain(self, rows: Sequence[Row], branches: Sequence[Sequence[Row]]) -> float:
        """The impurity that is saved where the attribute is known, per unit of weight of the node."""
        known = [row for branch in branches for row in branch]

        def cost(part: Sequence[Row]) -> float:
            return weight_of(part) * self.impurity(self.count(part)) if part else 0.0

        return (cost(known) - sum(cost(branch) for branch in branches)) / weight_of(rows)

    def split_info(self, rows: Sequence[Row], branches: Sequence[Sequence[Row]]) -> float:
        weights = [weight_of(branch) for branch in branches]
        return entropy([*weights, max(weight_of(rows) - sum(weights), 0.0)])

    # -- nominal attributes ----------------------------------------------------------------------

    def by_value(self, index: int, rows: Sequence[Row]) -> dict[int, list[Row]]:
        """The known rows of every value present, in declared order."""
        values = self.attributes[index].values
        parts: dict[int, list[Row]] = {}
        for row in self.known(index, rows):
            parts.setdefault(int(values[row[0]]), []).append(row)
        return {value: parts[value] for value in sorted(parts)}

    def nominal(self, index: int, rows: Sequence[Row]) -> tuple[Split, list[list[Row]]] | None:
        """The split of a nominal attribute, if it may be made."""
        parts = self.by_value(index, rows)
        n_absent = self.attributes[index].n_categories - len(parts)
        groups = [[value] for value in parts]
        if self.categorical_split == "grouped" and parts:
            tables = {value: self.count(part) for value, part in parts.items()}
            weight, least = sum(self.count(rows)), self.min_samples_leaf
            groups = group_values(
                tables, self.criterion, weight, lambda counts: 0 < sum(counts) >= least - SIZE
            )
            n_absent = min(n_absent, 1)
        branches = [[row for value in group for row in parts[value]] for group in groups]
        if sum(self.holds(branch) for branch in branches) < 2:
            return None
        table = {value: branch for branch, group in enumerate(groups) for value in group}
        split = Split(index, [], table=dict(sorted(table.items())), n_absent=n_absent)
        return split, branches

    # -- growing ---------------------------------------------------------------------------------

    def choose(self, rows: Sequence[Row]) -> Test | None:
        raise NotImplementedError

    def leaf(self, rows: list[Row], depth: int, parent: int) -> Node:
        counts = self.count(rows)
        share = [c / sum(counts) for c in counts]
        return Node(depth, parent, rows, counts, share, self.majority(counts))

    def must_be_leaf(self, node: Node) -> bool:
        return (
            sum(c > 0 for c in node.counts) < 2
            or node.depth == self.max_depth
            or node.weight < self.min_samples_split - SIZE
        )

    def grow(self) -> list[Node]:
        nodes = [self.leaf([(r, w) for r, w in enumerate(self.weights) if w > 0], 0, -1)]
        number = 0
        while number < len(nodes):  # the list is its own queue: breadth-first
            node = nodes[number]
            if node.rows and not self.must_be_leaf(node):
                test = self.choose(node.rows)
                if test is not None:
                    self.expand(nodes, number, test)
            number += 1
        return nodes

    def expand(self, nodes: list[Node], number: int, test: Test) -> None:
        node, split = nodes[number], test.split
        split.branch_counts = [self.count(branch) for branch in test.branches]
        node.split = split
        values = self.attributes[split.attribute].values
        lost = [r for r in node.rows if is_missing(values[r[0]])]
        weights = [weight_of(branch) for branch in test.branches]
        for branch, weight in zip(test.branches, weights, strict=True):
            share = weight / sum(weights)
            node.children.append(len(nodes))
            mixed = branch + [(row, w * share) for row, w in lost]
            nodes.append(self.leaf(mixed, node.depth + 1, number))
        if split.n_absent:
            node.children.append(len(nodes))
            nothing = [0.0] * self.n_classes
            empty = Node(node.depth + 1, number, [], nothing, node.proba, node.pred)
            empty.multiplicity = split.n_absent
            nodes.append(empty)
            node.default_branch = len(test.branches)
        elif split.table:
            # Of shares that are equal as fractions, rounding must not choose.
            heaviest = (b for b, weight in enumerate(weights) if weight >= max(weights) - self.tie)
            node.default_branch = next(heaviest)


class C45Grower(FractionalGrower):
    """`choose` looks at the rows of one node and at nothing else."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        y: Sequence[int],
        n_classes: int,
        *,
        threshold: str = "value",
        collapse: bool = True,
        compat: str | None = None,
        stop_zero_gain: bool = False,
        min_samples_split: float = 4,
        min_samples_leaf: float = 2,
        **rest: object,
    ) -> None:
        super().__init__(
            attributes,
            y,
            n_classes,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            **rest,  # type: ignore[arg-type]
        )
        self.threshold = threshold
        self.collapses = collapse
        self.is_j48 = compat == "j48"
        if self.is_j48:
            self.tie = 1e-6
        self.needs_gain = self.is_j48 or stop_zero_gain

    # -- one attribute ---------------------------------------------------------------------------

    def test_of(self, index: int, rows: Sequence[Row]) -> Test | None:
        """What the attribute offers, None if it is not eligible."""
        if self.attributes[index].n_categories is None:
            return self.best_cut(index, rows)
        found = self.nominal(index, rows)
        if found is None:
            return None
        split, branches = found
        split.gain = max(self.gain(rows, branches), 0.0)
        if self.is_merged(index) and split.gain <= self.tie:
            return None
        return Test(split, branches, split.gain, self.split_info(rows, branches))

    def is_merged(self, index: int) -> bool:
        """Are levels put in groups, a search that must find a gain? Not if there are two."""
        n_categories = self.attributes[index].n_categories or 0
        return self.categorical_split == "grouped" and n_categories > 2

    def min_split(self, n_known: float) -> float:
        share = 0.1 * n_known / self.n_classes
        return self.min_samples_leaf if share <= self.min_samples_leaf else min(share, 25.0)

    def best_cut(self, index: int, rows: Sequence[Row]) -> Test | None:
        values = self.attributes[index].values
        known = self.known(index, rows)
        least = self.min_split(weight_of(known))
        best: tuple[float, float, float, list[list[Row]]] | None = None
        n_cuts = 0
        for low, high in pairwise(sorted({values[row] for row, _ in known})):
            if not high > low + 1e-5:
                continue
            sides = [
                [r for r in known if values[r[0]] <= low],
                [r for r in known if values[r[0]] > low],
            ]
            if min(map(weight_of, sides)) < least - SIZE:
                continue
            n_cuts += 1
            gain = self.gain(rows, sides)
            if best is None or gain > best[0] + self.tie:
                best = (gain, low, high, sides)
        if best is None:
            return None
        plain, low, high, sides = best
        gain = plain - math.log2(n_cuts) / weight_of(rows)
        if gain <= self.tie:
            return None
        split = Split(index, [], threshold=self.relocated(index, low, high), gain=plain)
        return Test(split, sides, gain, self.split_info(rows, sides), n_cuts)

    def relocated(self, index: int, low: float, high: float) -> float:
        middle = midpoint(low + 0.0, high)
        if self.threshold == "midpoint":
            return middle
        limit = middle + 1e-6 if self.is_j48 else middle
        column = zip(self.attributes[index].values, self.weights, strict=True)
        return max(value for value, weight in column if weight > 0 and value <= limit) + 0.0

    # -- the attributes against each other -------------------------------------------------------

    def tests(self, rows: Sequence[Row]) -> list[Test]:
        """Those of the eligible attributes, in schema order."""
        found = [self.test_of(index, rows) for index in range(len(self.attributes))]
        return [test for test in found if test is not None]

    def has_many_values(self, index: int) -> bool:
        n_categories = self.attributes[index].n_categories
        # Equal but for rounding is enough.
        return n_categories is not None and n_categories >= MANY_VALUES * sum(self.weights) - 1e-6

    def average_gain(self, tests: Sequence[Test]) -> float:
        all_many = all(self.has_many_values(index) for index in range(len(self.attributes)))
        counted = [t.gain for t in tests if all_many or not self.has_many_values(t.split.attribute)]
        return sum(counted) / len(counted) if counted else math.inf

    def choose(self, rows: Sequence[Row]) -> Test | None:
        tests = self.tests(rows)
        average = self.average_gain(tests)
        winner, best = None, 0.0 if self.needs_gain else -EPSILON  # from where release 8 starts
        for test in tests:
            score = test.gain
            if self.criterion == "gain_ratio":
                if test.gain < average - EPSILON or test.split_info <= EPSILON:
                    continue
                score = test.gain / test.split_info
            if score > best + self.tie:
                winner, best = test, score
        return winner

    # -- collapsing ------------------------------------------------------------------------------

    def grow(self) -> list[Node]:
        nodes = super().grow()
        return collapsed(nodes) if self.collapses else nodes


def errors(node: Node) -> float:
    return node.weight - node.counts[node.pred]


def leaf_errors(nodes: Sequence[Node], number: int) -> float:
    """Training errors of the leaves below a node."""
    node = nodes[number]
    if node.split is None:
        return errors(node)
    return sum(leaf_errors(nodes, child) for child in node.children)


def collapsed(nodes: Sequence[Node]) -> list[Node]:
    """The tree without the splits that save no errors; every node is judged by the tree as it was grown."""
    kept = [0]
    for number in kept:  # grows as it is read: breadth-first again
        if leaf_errors(nodes, number) < errors(nodes[number]) - EPSILON:
            kept += nodes[number].children
    place = {number: position for position, number in enumerate(kept)}
    result = []
    for number in kept:
        node = replace(nodes[number], parent=place.get(nodes[number].parent, -1))
        node.children = [place[child] for child in node.children if child in place]
        if not node.children:
            node.split, node.default_branch = None, -1
        result.append(node)
    return result


# -- prediction ----------------------------------------------------------------------------------


def leaf_shares(nodes: Sequence[Node], x: Sequence[float], number: int = 0) -> dict[int, float]:
    """With which share a row reaches which leaf. NaN is a missing value, -1 a level never seen."""
    node = nodes[number]
    if node.split is None:
        return {number: 1.0}
    value = x[node.split.attribute]
    if not is_missing(value) and not (node.split.table and value < 0):
        branch = node.split.branch_of(value, unseen=node.default_branch)
        return leaf_shares(nodes, x, node.children[branch])
    total = sum(nodes[child].weight for child in node.children)
    shares: dict[int, float] = {}
    for child in node.children:
        if nodes[child].weight > 0:
            for leaf, share in leaf_shares(nodes, x, child).items():
                shares[leaf] = share * nodes[child].weight / total
    return shares


def class_shares(nodes: Sequence[Node], x: Sequence[float]) -> list[float]:
    shares = leaf_shares(nodes, x)
    return [
        sum(share * nodes[leaf].proba[c] for leaf, share in shares.items())
        for c in range(len(nodes[0].proba))
    ]
