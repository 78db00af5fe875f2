# SPDX-License-Identifier: BSD-3-Clause
"""Message lengths, growth by them and averages over prunings, slow and obviously right.

Plain Python: every node holds its rows with their weights, and asks them again for everything. The definitions:

* A row that does not know the tested attribute goes to every branch with known rows, by their shares. The receiver of
  the message knows the attribute values, and which are missing.
* A node is described by what it is. The root is a leaf with probability 1 / max(attributes, 2), any other node a test
  with probability 1 / (branches of its parent), and each of the eligible attributes is equally likely to be the one
  tested. A node without rows, or without an eligible attribute, is a leaf for nothing.
* Eligible: a category with a branch for each level until it was tested on the way (even if all the rows have the same
  level, but then it cannot be chosen); a number while the rows have two values of it.
* A threshold is one of the cuts between neighbouring values: all are equally likely ("uniform"), or it takes 2 d - 1
  bits if it is found by halving the cuts d times ("dyadic").
* Growth takes the test whose one-level subtree is the shortest, whether that is shorter than a leaf or not; a later
  test must be shorter by more than 1e-10 of its length. The children count as leaves, and pay for saying so unless they
  have no rows or the node has nothing eligible besides the category that is tested.
* Lookahead 1: each attribute's best test is taken, and its children count as the shorter of the leaf and their own best
  one-level subtree.
* Evidence: the test with the largest probability of the classes in its branches, divided by the number of its cuts.
* Growth ends at pure nodes, and where no attribute has two values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from candidates import Attribute, is_missing

TIE = 1e-10

Row = tuple[int, float]  # its number and its weight


def adaptive_bits(counts: Sequence[float], alpha: float) -> float:
    """Whole numbers of rows are told one after the other, a class at a time; fractions need the gamma function."""
    if all(n == int(n) for n in counts) and sum(counts) < 2000:
        bits, told = 0.0, 0
        for n in counts:
            for k in range(int(n)):
                bits -= math.log2((k + alpha) / (told + alpha * len(counts)))
                told += 1
        return bits
    log = math.lgamma(alpha * len(counts)) - math.lgamma(sum(counts) + alpha * len(counts))
    log += sum(math.lgamma(n + alpha) - math.lgamma(alpha) for n in counts)
    return -log / math.log(2)


def halving_bits(n_cuts: int, place: int) -> int:
    cuts, halvings = list(range(n_cuts)), 1
    while (middle := cuts[(len(cuts) - 1) // 2]) != place:
        cuts = [cut for cut in cuts if (cut < middle) == (place < middle) and cut != middle]
        halvings += 1
    return 2 * halvings - 1


@dataclass
class Split:
    """A way to split a node: the rows of each branch, missing ones shared out."""

    attribute: int
    branches: list[list[Row]]
    threshold: float = math.nan
    n_cuts: int = 0
    place: int = 0


@dataclass
class Node:
    rows: list[Row]
    counts: list[float]
    asked: frozenset[int] = frozenset()  # categories tested on the way
    siblings: int = 0  # branches of the parent; 0 at the root
    test: Split | None = None
    children: list[Node] = field(default_factory=list)

    @property
    def n_leaves(self) -> int:
        return sum(child.n_leaves for child in self.children) if self.children else 1

    @property
    def size(self) -> int:
        return 1 + sum(child.size for child in self.children)

    @property
    def errors(self) -> float:
        if self.children:
            return sum(child.errors for child in self.children)
        return sum(self.counts) - max(self.counts)


@dataclass
class Problem:
    """A table and the prices of everything."""

    attributes: Sequence[Attribute]
    y: Sequence[int]
    n_classes: int
    weights: Sequence[float] | None = None
    alpha: float = 0.5
    cut_code: str = "uniform"
    criterion: str = "message_length"
    lookahead: int = 0

    # -- nodes and tests -----------------------------------------------------------------------

    def root(self) -> Node:
        weights = self.weights or [1.0] * len(self.y)
        rows = [(row, weight) for row, weight in enumerate(weights) if weight > 0]
        return Node(rows, self.count(rows))

    def count(self, rows: list[Row]) -> list[float]:
        counts = [0.0] * self.n_classes
        for row, weight in rows:
            counts[self.y[row]] += weight
        return counts

    def known(self, node: Node, attribute: int) -> list[float]:
        """The values that the node's rows have, ascending."""
        values = self.attributes[attribute].values
        return sorted({values[row] for row, _ in node.rows if not is_missing(values[row])})

    def eligible(self, node: Node) -> list[int]:
        found = []
        for number, attribute in enumerate(self.attributes):
            if attribute.n_categories is None:
                may = len(self.known(node, number)) > 1
            else:
                may = number not in node.asked
            found += [number] * may
        return found

    def tests(self, node: Node, attribute: int) -> Iterator[Split]:
        known = self.known(node, attribute)
        if len(known) < 2:
            return
        n_categories = self.attributes[attribute].n_categories
        if n_categories is not None:
            yield Split(attribute, self.share(node, attribute, int, n_categories))
            return
        for place in range(len(known) - 1):
            low, high = known[place], known[place + 1]
            branches = self.share(node, attribute, lambda v, low=low: int(v > low), 2)
            yield Split(attribute, branches, low / 2 + high / 2, len(known) - 1, place)

    def share(self, node: Node, attribute: int, branch_of: Any, n_branches: int) -> list[list[Row]]:
        values = self.attributes[attribute].values
        branches: list[list[Row]] = [[] for _ in range(n_branches)]
        lost = []
        for row, weight in node.rows:
            if is_missing(values[row]):
                lost.append((row, weight))
            else:
                branches[branch_of(values[row])].append((row, weight))
        weights = [sum(weight for _, weight in branch) for branch in branches]
        for branch, known in zip(branches, weights, strict=True):
            if known > 0:
                branch += [(row, weight * known / sum(weights)) for row, weight in lost]
        return branches

    def children(self, node: Node, test: Split) -> list[Node]:
        is_category = self.attributes[test.attribute].n_categories is not None
        asked = node.asked | {test.attribute} if is_category else node.asked
        n = len(test.branches)
        return [Node(rows, self.count(rows), asked, n) for rows in test.branches]

    # -- prices, in bits -----------------------------------------------------------------------

    def p_test(self, node: Node) -> float:
        return 1 / node.siblings if node.siblings else 1 - 1 / max(len(self.attributes), 2)

    def data(self, node: Node) -> float:
        return adaptive_bits(node.counts, self.alpha)

    def leaf_structure(self, node: Node) -> float:
        is_free = not node.rows or not self.eligible(node)
        return 0.0 if is_free else -math.log2(1 - self.p_test(node))

    def as_leaf(self, node: Node) -> float:
        return self.leaf_structure(node) + self.data(node)

    def test_bits(self, node: Node, test: Split) -> float:
        bits = math.log2(len(self.eligible(node)))
        if test.n_cuts == 0:
            return bits
        if self.cut_code == "dyadic":
            return bits + halving_bits(test.n_cuts, test.place)
        return bits + math.log2(test.n_cuts)

    def as_test(self, node: Node, test: Split) -> float:
        return -math.log2(self.p_test(node)) + self.test_bits(node, test)

    def length(self, node: Node) -> float:
        """The message of a subtree."""
        if node.test is None:
            return self.as_leaf(node)
        return self.as_test(node, node.test) + sum(map(self.length, node.children))

    # -- growth --------------------------------------------------------------------------------

    def one_level(self, node: Node, test: Split, lookahead: int = 0) -> float:
        """What growth compares: a length, or for evidence minus its logarithm."""
        children = self.children(node, test)
        if self.criterion == "evidence":
            cuts = math.log2(test.n_cuts) if test.n_cuts else 0.0
            return cuts + sum(self.data(child) for child in children)
        is_category = self.attributes[test.attribute].n_categories is not None
        is_free = len(self.eligible(node)) == 1 and is_category
        bits = self.as_test(node, test)
        for child in children:
            leaf = self.data(child)
            if child.rows and not is_free:
                leaf -= math.log2(1 - 1 / child.siblings)
            if lookahead:
                best = self.best_test(child, lookahead - 1)
                leaf = min([leaf] if best is None else [leaf, best[0]])
            bits += leaf
        return bits

    def best_test(self, node: Node, lookahead: int) -> tuple[float, Split] | None:
        best = None
        for attribute in range(len(self.attributes)):
            own = None
            if self.attributes[attribute].n_categories is not None and attribute in node.asked:
                continue
            for test in self.tests(node, attribute):
                own = shorter(own, (self.one_level(node, test), test))
            if own is not None and lookahead:
                own = self.one_level(node, own[1], lookahead), own[1]
            if own is not None:
                best = shorter(best, own)
        return best

    def grow(self, node: Node | None = None) -> Node:
        node = self.root() if node is None else node
        if sum(n > 0 for n in node.counts) > 1:
            best = self.best_test(node, self.lookahead)
            if best is not None:
                node.test = best[1]
                node.children = [self.grow(child) for child in self.children(node, best[1])]
        return node

    def prune(self, node: Node) -> Node:
        """The shortest pruning; of equal ones the smallest."""
        if node.test is None:
            return node
        short = Node(node.rows, node.counts, node.asked, node.siblings, node.test)
        short.children = [self.prune(child) for child in node.children]
        leaf, length = self.as_leaf(node), self.length(short)
        if leaf <= length + TIE * max(abs(leaf), abs(length)):
            return Node(node.rows, node.counts, node.asked, node.siblings)
        return short

    def optimum(self, node: Node | None = None) -> float:
        """The shortest message of any tree at all: every test of every node is tried."""
        node = self.root() if node is None else node
        best = self.as_leaf(node)
        for attribute in self.eligible(node):
            for test in self.tests(node, attribute):
                children = self.children(node, test)
                length = self.as_test(node, test) + sum(map(self.optimum, children))
                best = min(best, length)
        return best

    # -- averaging -----------------------------------------------------------------------------

    def prunings(self, node: Node, prior: str) -> Iterator[tuple[float, list[Node]]]:
        """Every pruning of a subtree: the logarithm of its prior times its evidence, and its leaves."""
        evidence = -math.log(2) * self.data(node)
        if prior == "wallace_patrick":
            end = -math.log(2) * self.leaf_structure(node)
            on = -math.log(2) * self.as_test(node, node.test) if node.test else -math.inf
        else:
            end = on = math.log(0.5) if node.test else 0.0
        yield end + evidence, [node]
        if node.test is None:
            return
        parts: list[tuple[float, list[Node]]] = [(on, [])]
        for child in node.children:
            of_child = list(self.prunings(child, prior))
            parts = [(p + q, a + b) for p, a in parts for q, b in of_child]
        yield from parts

    def averages(self, root: Node, prior: str) -> tuple[float, list[list[float]]]:
        """ln of the summed evidence, and the averaged class shares of every grown leaf, in order of depth first."""
        prunings = list(self.prunings(root, prior))
        most = max(p for p, _ in prunings)
        total = most + math.log(sum(math.exp(p - most) for p, _ in prunings))
        shares = []
        for path in paths(root):
            average = [0.0] * self.n_classes
            for p, leaves in prunings:
                # A leaf without rows answers like its parent.
                places = [
                    place for place, node in enumerate(path) if any(node is x for x in leaves)
                ]
                place = places[0]
                node = path[place] if path[place].rows else path[place - 1]
                n = sum(node.counts) + self.alpha * self.n_classes
                for c in range(self.n_classes):
                    average[c] += math.exp(p - total) * (node.counts[c] + self.alpha) / n
            shares.append(average)
        return total, shares


def shorter(best: tuple[float, Split] | None, other: tuple[float, Split]) -> tuple[float, Split]:
    """The shorter one; the first if they are equal but for rounding."""
    if best is None or other[0] < best[0] - TIE * max(abs(best[0]), abs(other[0])):
        return other
    return best


def paths(root: Node) -> Iterator[list[Node]]:
    """From the root to each leaf."""
    if not root.children:
        yield [root]
    for child in root.children:
        for path in paths(child):
            yield [root, *path]


def follow(problem: Problem, tree: Any) -> Node:
    """The nodes of a `Tree` of thresholds and of branches for each level, with their rows and tests."""

    def build(node: Node, number: int) -> Node:
        attribute = int(tree.attribute[number])
        if attribute < 0:
            return node
        tests = list(problem.tests(node, attribute))
        if tests[0].n_cuts:
            known = problem.known(node, attribute)
            place = sum(v <= tree.threshold[number] for v in known) - 1
            node.test = tests[place]
        else:
            node.test = tests[0]
        first = int(tree.first_child[number])
        codes = tree.table_codes[tree.table_start[number] : tree.table_start[number + 1]].tolist()
        for branch, child in enumerate(problem.children(node, node.test)):
            if not codes:
                node.children.append(build(child, first + branch))
            elif branch + 1 in codes:
                node.children.append(build(child, first + codes.index(branch + 1)))
            else:
                node.children.append(child)
        return node

    return build(problem.root(), 0)
