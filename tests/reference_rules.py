# SPDX-License-Identifier: BSD-3-Clause
"""Slow, obviously right rules that the engine's are compared with.

Plain Python on purpose: a rule is a list of parts, a row a tuple of numbers (codes from 0 for categories, NaN for
missing), and every estimate is a pass over all the rows. The definitions:

* A part is one bound of a numeric attribute, or a set of categories. Tests on the same attribute and side are merged to
  the tightest; a part stands where its attribute and side were asked first, from the root.
* A row that lacks the value meets a part if it would take every branch that the part was merged from.
* Without one part at a time, the estimate is made again; the part with the least estimate is dropped, the last of
  equals, if the estimate falls; with "not_worse" also if it stays, or if the plain error does not rise.
* Discarded: rules equal to an earlier one, without parts, without training rows, or whose class is not the most
  frequent of the training rows that they cover. Then sorted by estimate, more covered weight first among equals.
* Estimates and weights closer than 1e-10 are equal.
* To simplify, the subset of each class's rules is taken that tells the class in the fewest bits, see `length`. Then the
  class with the fewest false positives is put first, and the rows that its rules cover are taken away, and so on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

TIE = 1e-10
Row = Sequence[float]
Estimate = Callable[[float, float], float]


@dataclass(frozen=True)
class Part:
    attribute: int
    low: float | None = None
    high: float = math.inf
    codes: frozenset[int] | None = None  # None: numeric
    missing: bool = False

    @property
    def side(self) -> tuple[int, bool]:
        return self.attribute, self.low is not None

    def met(self, row: Row) -> bool:
        value = row[self.attribute]
        if value != value:
            return self.missing
        if self.codes is not None:
            return int(value) in self.codes
        return (self.low is None or self.low < value) and value <= self.high

    def merged(self, other: Part) -> Part:
        return Part(
            self.attribute,
            other.low if self.low is None or other.low is None else max(self.low, other.low),
            min(self.high, other.high),
            None if self.codes is None or other.codes is None else self.codes & other.codes,
            self.missing and other.missing,
        )


@dataclass(frozen=True)
class NaiveRule:
    parts: tuple[Part, ...]
    label: int
    counts: tuple[float, ...] = ()
    error: float = 0.0

    def covers(self, row: Row) -> bool:
        return all(part.met(row) for part in self.parts)


def part_of(tree: Any, node: int, branch: int) -> Part:
    """What the test of a node says about the rows that take a branch."""
    attribute = int(tree.attribute[node])
    missing = int(tree.missing_branch[node]) == branch
    start, stop = tree.table_start[node], tree.table_start[node + 1]
    if start == stop:
        threshold = float(tree.threshold[node])
        if branch == 0:
            return Part(attribute, high=threshold, missing=missing)
        return Part(attribute, low=threshold, missing=missing)
    branch_of = dict(zip(tree.table_codes[start:stop], tree.table_branch[start:stop], strict=True))
    levels = len(tree.schema.attributes[attribute].categories)
    codes = {
        code - 1
        for code in range(1, levels + 1)
        if branch_of.get(code, tree.default_branch[node]) == branch
    }
    return Part(attribute, codes=frozenset(codes), missing=missing)


def rules_of(tree: Any) -> list[NaiveRule]:
    """A rule for each leaf with training rows, as the tree is printed."""
    rules = []
    waiting: list[tuple[int, tuple[Part, ...]]] = [(0, ())]
    while waiting:
        node, parts = waiting.pop()
        if tree.attribute[node] < 0:
            if tree.counts[node].sum() > 0:
                counts = tuple(tree.counts[node].tolist())
                rules.append(NaiveRule(parts, int(tree.pred[node]), counts))
            continue
        for branch in reversed(range(int(tree.n_children[node]))):
            merged = {part.side: part for part in parts}
            new = part_of(tree, node, branch)
            merged[new.side] = merged[new.side].merged(new) if new.side in merged else new
            waiting.append((int(tree.first_child[node]) + branch, tuple(merged.values())))
    return rules


# -- pruning ---------------------------------------------------------------------------------------


def add_errors(n: float, e: float, confidence: float) -> float:
    if n <= 0:
        return 0.0
    none = n * (1 - confidence ** (1 / n))
    if e < 1e-6:
        return none
    if e < 0.9999:
        return none + e * (add_errors(n, 1.0, confidence) - none)
    if e + 0.5 >= n:
        return 0.67 * (n - e)
    table = [(0.0, 4.0), (0.001, 3.09), (0.005, 2.58), (0.01, 2.33), (0.05, 1.65), (0.1, 1.28)]
    table += [(0.2, 0.84), (0.4, 0.25), (1.0, 0.0)]
    at = next(i for i in range(1, len(table)) if confidence <= table[i][0])
    (p0, z0), (p1, z1) = table[at - 1], table[at]
    c = (z0 + (z1 - z0) * (confidence - p0) / (p1 - p0)) ** 2
    root = math.sqrt(c * ((e + 0.5) * (1 - (e + 0.5) / n) + c / 4))
    return n * (e + 0.5 + c / 2 + root) / (n + c) - e


def pessimistic(confidence: float) -> Estimate:
    return lambda n, e: (e + add_errors(n, e, confidence)) / n if n > 0 else 1.0


def plain(n: float, e: float) -> float:
    return e / n if n > 0 else 1.0


def tally(
    rule: NaiveRule, rows: Sequence[Row], y: Sequence[int], weights: Sequence[float]
) -> tuple[float, float]:
    """The weight that a rule covers, and the weight of its errors."""
    n = e = 0.0
    for row, label, weight in zip(rows, y, weights, strict=True):
        if rule.covers(row):
            n += weight
            e += weight * (label != rule.label)
    return n, e


def pruned(
    rule: NaiveRule,
    rows: Sequence[Row],
    y: Sequence[int],
    weights: Sequence[float],
    estimate: Estimate,
    when: str,
) -> NaiveRule:
    while True:
        now = tally(rule, rows, y, weights)
        error = estimate(*now)
        shorter = [
            replace(rule, parts=rule.parts[:i] + rule.parts[i + 1 :])
            for i in range(len(rule.parts))
        ]
        if not shorter:
            return replace(rule, error=error)
        tallies = [tally(one, rows, y, weights) for one in shorter]
        estimates = [estimate(*t) for t in tallies]
        least = min(estimates)
        best = max(i for i, value in enumerate(estimates) if value <= least + TIE)
        if when == "improves":
            drops = estimates[best] < error - TIE
        else:
            drops = estimates[best] <= error + TIE or plain(*tallies[best]) <= plain(*now) + TIE
        if not drops:
            return replace(rule, error=error)
        rule = shorter[best]


def majority(counts: Sequence[float], order: Sequence[int]) -> int:
    most = max(counts)
    return next(c for c in order if counts[c] >= most * (1 - TIE))


def learn(
    rules: Sequence[NaiveRule],
    training: tuple[Sequence[Row], Sequence[int], Sequence[float]],
    judges: tuple[Sequence[Row], Sequence[int], Sequence[float]],
    n_classes: int,
    estimate: Estimate,
    when: str = "improves",
    order: Sequence[int] = (),
    n_levels: Sequence[int | None] = (),
) -> tuple[list[NaiveRule], int]:
    """The rules that are left, sorted, and the default class. `n_levels`: they are simplified, and these are the levels
    of each attribute, None if it is numeric."""
    order = order or range(n_classes)
    left: list[NaiveRule] = []
    seen = set()
    for rule in rules:
        rule = pruned(rule, *judges, estimate, when)
        said = (rule.label, frozenset(rule.parts))
        if said in seen or not rule.parts:
            continue
        seen.add(said)
        counts = [0.0] * n_classes
        for row, label, weight in zip(*training, strict=True):
            if rule.covers(row):
                counts[label] += weight
        if sum(counts) > 0 and majority(counts, order) == rule.label:
            left.append(replace(rule, counts=tuple(counts)))
    left.sort(key=lambda rule: (round(rule.error / TIE), -round(sum(rule.counts) / TIE)))
    if n_levels:
        left = simplified(left, order, n_levels, training)
    total, uncovered = [0.0] * n_classes, [0.0] * n_classes
    for row, label, weight in zip(*training, strict=True):
        total[label] += weight
        uncovered[label] += weight * (not any(rule.covers(row) for rule in left))
    return left, majority(uncovered if sum(uncovered) else total, order)


# -- subsets ---------------------------------------------------------------------------------------

Rows = tuple[Sequence[Row], Sequence[int], Sequence[float]]
TIE_BITS = 1e-6


def log2_choose(n: float, k: float) -> float:
    if n == int(n) and k == int(k):
        return math.log2(math.comb(int(n), int(k)))
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2)


def part_bits(part: Part, n_levels: Sequence[int | None], training: Rows) -> float:
    levels = n_levels[part.attribute]
    bits = math.log2(len(n_levels))
    if levels is None:
        values = {
            row[part.attribute]
            for row, weight in zip(training[0], training[2], strict=True)
            if weight > 0 and row[part.attribute] == row[part.attribute]
        }
        return bits + 1 + math.log2(max(len(values) - 1, 1))
    assert part.codes is not None
    return bits + math.log2(max(levels - 1, 1)) + log2_choose(levels, len(part.codes))


def bits_of(rule: NaiveRule, n_levels: Sequence[int | None], training: Rows) -> float:
    told = sum(part_bits(part, n_levels, training) for part in rule.parts)
    return (told - math.log2(math.factorial(len(rule.parts)))) / 2


def length(
    rules: Sequence[NaiveRule], label: int, n_levels: Sequence[int | None], training: Rows
) -> Callable[[Sequence[int]], float]:
    """The bits that tell which training rows are of a class, by some of these rules and their exceptions."""
    bits = [bits_of(rule, n_levels, training) for rule in rules]
    covers = [[rule.covers(row) for rule in rules] for row in training[0]]

    def of(chosen: Sequence[int]) -> float:
        covered = false_positives = rest = missed = 0.0
        for by_rule, y, weight in zip(covers, training[1], training[2], strict=True):
            if any(by_rule[i] for i in chosen):
                covered += weight
                false_positives += weight * (y != label)
            else:
                rest += weight
                missed += weight * (y == label)
        exceptions = log2_choose(covered, false_positives) + log2_choose(rest, missed)
        return exceptions + sum(bits[i] for i in sorted(chosen))

    return of


def shortest(
    rules: Sequence[NaiveRule], label: int, n_levels: Sequence[int | None], training: Rows
) -> list[NaiveRule]:
    """The best of all subsets if there are ten rules at most; else adding and dropping one at a time."""
    of = length(rules, label, n_levels, training)

    def improved(chosen: frozenset[int]) -> tuple[frozenset[int], float]:
        now = of(list(chosen))
        while True:
            others = [chosen ^ {i} for i in range(len(rules))]
            lengths = [of(list(other)) for other in others]
            if min(lengths) >= now - TIE_BITS:
                return chosen, now
            best = next(i for i, one in enumerate(lengths) if one <= min(lengths) + TIE_BITS)
            chosen, now = others[best], lengths[best]

    if len(rules) <= 10:
        every = [s for k in range(len(rules) + 1) for s in combinations(range(len(rules)), k)]
        lengths = [of(subset) for subset in every]
        best = next(i for i, one in enumerate(lengths) if one <= min(lengths) + TIE_BITS)
        return [rules[i] for i in every[best]]
    (kept, one), (other_kept, other) = improved(frozenset()), improved(frozenset(range(len(rules))))
    return [rules[i] for i in sorted(other_kept if other < one - TIE_BITS else kept)]


def simplified(
    rules: Sequence[NaiveRule], order: Sequence[int], n_levels: Sequence[int | None], training: Rows
) -> list[NaiveRule]:
    """The subsets of all classes, the class with the fewest false positives among the rows that are left first."""
    subsets = {
        c: shortest([rule for rule in rules if rule.label == c], c, n_levels, training)
        for c in order
    }
    subsets = {c: subset for c, subset in subsets.items() if subset}
    left = list(zip(*training, strict=True))
    found: list[NaiveRule] = []
    while subsets:
        false_positives = {
            c: sum(w for row, y, w in left if y != c and any(r.covers(row) for r in subset))
            for c, subset in subsets.items()
        }
        first = min(false_positives, key=lambda c: round(false_positives[c] / TIE))
        found += subsets[first]
        left = [one for one in left if not any(r.covers(one[0]) for r in subsets[first])]
        del subsets[first]
    return found


def first_match(rules: Sequence[NaiveRule], row: Row) -> int:
    return next((i for i, rule in enumerate(rules) if rule.covers(row)), -1)
