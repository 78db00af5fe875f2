# SPDX-License-Identifier: BSD-3-Clause
"""CART with surrogate splits, slow and obviously right.

* A split is chosen among the rows that know its attribute, the primary; its gain counts by their share
  of the node's weight.
* A surrogate is a binary split of another attribute that tells the primary's side. Among the n (weight)
  rows that know the primary it is right about some; a row that does not know the surrogate is one more
  that it is wrong about. agree = right / n. Numeric: the threshold and the direction that are right most
  often, the first in ascending order among equals; categorical: every level goes to the side where most
  of its rows are, left if there are as many on both. It must send a weight of 2 to each side.
* maj = the weight of the heavier side; adj = (right - maj) / (n - maj) must be above 0. The best five by
  agree are kept, equal ones in schema order.
* A row that does not know the primary follows the first surrogate that it knows; a level that none of
  the rows had by which the surrogate was made is not known. If it knows none, the heavier side, left
  where both weigh the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

from candidates import TIE, Split, entropy, gain_of, is_missing, midpoint
from reference import Grower, Node

MOST_SURROGATES = 5
LIGHTEST_SIDE = 2.0


@dataclass
class Surrogate:
    attribute: int
    right: float  # weight of the rows that it sends to the primary's side
    threshold: float = math.nan
    low: int = -1  # the branch of values up to the threshold
    table: dict[int, int] = field(default_factory=dict)  # level -> branch
    agreement: float = 0.0
    adjusted: float = 0.0

    def branch_of(self, value: float) -> int | None:
        if is_missing(value):
            return None
        if self.table:
            return self.table.get(int(value))
        return self.low if value <= self.threshold else 1 - self.low


@dataclass
class SurrogateNode(Node):
    surrogates: list[Surrogate] = field(default_factory=list)

    def branch_of(self, row: Sequence[float]) -> int:
        """The way of a row: NaN is a missing value, -1 a level never seen."""
        assert self.split is not None
        value = row[self.split.attribute]
        if not is_missing(value) and not (self.split.table and value < 0):
            return self.split.branch_of(value, unseen=self.default_branch)
        for surrogate in self.surrogates:
            branch = surrogate.branch_of(row[surrogate.attribute])
            if branch is not None:
                return branch
        return self.missing_branch


class SurrogateGrower(Grower):
    """Parameters as those of `Grower`; categorical attributes are split into two."""

    def leaf(self, rows: list[int], depth: int, parent: int) -> Node:
        node = super().leaf(rows, depth, parent)
        return SurrogateNode(depth, parent, rows, node.counts, node.proba, node.pred)

    # -- the primary -----------------------------------------------------------------------------

    def knowing(self, index: int, rows: Sequence[int]) -> list[int]:
        values = self.attributes[index].values
        return [row for row in rows if not is_missing(values[row])]

    def best_split(self, rows: Sequence[int]) -> tuple[Split | None, float]:
        winner: Split | None = None
        order = self.order
        bests = self.bests(rows)
        for index in order:
            best = bests[index]
            if best is not None and (winner is None or best.score > winner.score + TIE):
                winner = best
        return winner, math.inf

    def bests(self, rows: Sequence[int], note: Any = None) -> list[Split | None]:
        self.is_heuristic = False
        found: list[Split | None] = []
        for index in range(len(self.attributes)):
            known = self.knowing(index, rows)
            evaluate = partial(self.evaluate, known=known, rows=rows)
            found.append(self.best_of(index, known, evaluate) if known else None)
        return found

    def evaluate(self, split: Split, known: Sequence[int], rows: Sequence[int]) -> None:
        n, counts = sum(self.count(rows)), self.count(known)
        split.gain = gain_of(self.criterion, counts, split.branch_counts) * sum(counts) / n
        split.score = split.gain
        if self.criterion == "gain_ratio":
            weights = [sum(branch) for branch in split.branch_counts]
            split_info = entropy([*weights, n - sum(weights)])
            enough = split.gain > TIE and split_info >= 1e-12
            split.score = split.gain / split_info if enough else 0.0

    # -- the surrogates --------------------------------------------------------------------------

    def surrogates(self, split: Split, rows: Sequence[int]) -> list[Surrogate]:
        """Best first."""
        values = self.attributes[split.attribute].values
        side = {row: split.branch_of(values[row]) for row in self.knowing(split.attribute, rows)}
        sides = [self.weight([row for row in side if side[row] == b]) for b in (0, 1)]
        n, majority = sum(sides), max(sides)
        slack = TIE * n
        found = []
        for index in range(len(self.attributes)):
            if index != split.attribute:
                found += self.surrogate(index, side, slack)
        best: list[Surrogate] = []
        found = [surrogate for surrogate in found if surrogate.right > majority + slack]
        while found and len(best) < MOST_SURROGATES:
            most = max(surrogate.right for surrogate in found)
            best.append(next(s for s in found if s.right >= most - slack))
            found.remove(best[-1])
        for surrogate in best:
            surrogate.agreement = surrogate.right / n
            surrogate.adjusted = (surrogate.right - majority) / (n - majority)
        return best

    def weight(self, rows: Sequence[int]) -> float:
        return sum(self.weights[row] for row in rows)

    def surrogate(self, index: int, side: dict[int, int], slack: float) -> list[Surrogate]:
        """The best one of an attribute, if it has any; `side` has the rows that know the primary."""
        values = self.attributes[index].values
        known = self.knowing(index, list(side))
        present = sorted({values[row] for row in known})
        if self.attributes[index].n_categories is not None:
            table, right = {}, 0.0
            for level in map(int, present):
                sides = [
                    self.weight([row for row in known if values[row] == level and side[row] == b])
                    for b in (0, 1)
                ]
                table[level] = 0 if sides[0] >= sides[1] - slack else 1
                right += max(sides)
            sent = [
                self.weight([row for row in known if table[int(values[row])] == b]) for b in (0, 1)
            ]
            enough = min(sent) >= LIGHTEST_SIDE - slack
            return [Surrogate(index, right, table=table)] if enough else []
        best: Surrogate | None = None
        for below, above in pairwise(present):
            lower = self.weight([row for row in known if values[row] <= below])
            if min(lower, self.weight(known) - lower) < LIGHTEST_SIDE - slack:
                continue
            for low in (0, 1):
                right = self.weight(
                    [row for row in known if (values[row] <= below) == (side[row] == low)]
                )
                if best is None or right > best.right + slack:
                    best = Surrogate(index, right, midpoint(below + 0.0, above), low)
        return [best] if best is not None else []

    # -- the rows --------------------------------------------------------------------------------

    def expand(self, nodes: list[Node], number: int) -> None:
        node: Any = nodes[number]
        if self.must_be_leaf(node.counts, node.depth):
            return
        split, _ = self.best_split(node.rows)
        if split is None or not self.is_worth_it(split):
            return
        node.split = split
        node.surrogates = self.surrogates(split, node.rows)
        weights = [sum(branch) for branch in split.branch_counts]
        node.missing_branch = 0 if weights[0] >= weights[1] - TIE * sum(weights) else 1
        node.default_branch = node.missing_branch if split.table else -1
        if len(self.knowing(split.attribute, node.rows)) < len(node.rows):
            split.missing_branch = node.missing_branch  # of those that know no surrogate either
        parts: list[list[int]] = [[], []]
        for row in node.rows:
            parts[node.branch_of([a.values[row] for a in self.attributes])].append(row)
        for part in parts:
            node.children.append(len(nodes))
            nodes.append(self.leaf(part, node.depth + 1, number))


def reference_apply(nodes: Sequence[Any], rows: Sequence[Sequence[float]]) -> list[int]:
    """The leaf of every row."""
    leaves = []
    for row in rows:
        number = 0
        while nodes[number].split is not None:
            number = nodes[number].children[nodes[number].branch_of(row)]
        leaves.append(number)
    return leaves
