# SPDX-License-Identifier: BSD-3-Clause
"""The candidates among which the reference tree chooses, and what they score.

Every candidate comes with the class counts of its branches over all the rows of the node, in the
order in which equal scores are decided. A missing value is NaN in attributes of either kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

TIE = 1e-10  # scores closer than this are equal; so are class counts
EXHAUSTIVE_VALUES = 12
POWER_STEPS = 50
MISSING = -1  # stands for missing among the codes of a categorical attribute, before the first one


def is_missing(value: float) -> bool:
    return value != value


@dataclass(frozen=True)
class Attribute:
    """A column: numbers, or codes 0..k-1 of k declared categories; NaN where missing."""

    values: Sequence[float]
    n_categories: int | None = None  # None: numeric


@dataclass
class Split:
    """A candidate: which branch every value at the node takes, and what the branches hold."""

    attribute: int
    branch_counts: list[list[float]]
    threshold: float = math.nan
    table: dict[int, int] = field(default_factory=dict)  # category -> branch, present ones only
    missing_branch: int | None = None  # None: every row of the node knows the attribute
    n_absent: int = 0  # multiway: how many values share the branch without rows
    gain: float = 0.0  # the impurity saved per unit of weight
    score: float = 0.0  # what the criterion makes of it: the same, or the gain ratio

    def branch_of(self, value: float, unseen: int = -1) -> int:
        if is_missing(value):
            assert self.missing_branch is not None, "no missing values were seen here"
            return self.missing_branch
        if not self.table:
            return 0 if value <= self.threshold else 1
        return self.table.get(int(value), unseen)


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


def total_of(tables: Sequence[Sequence[float]]) -> list[float]:
    return [sum(column) for column in zip(*tables, strict=True)]


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

    def image(x: list[float]) -> list[float]:
        return [sum(row[j] * x[j] for j in range(n_classes)) for row in matrix]

    starts = [[(c == start) - mean[c] for c in range(n_classes)] for start in range(n_classes)]
    # From a class whose share is the same for all values no direction comes.
    direction = next((x for x in starts if max(map(abs, image(x))) > 1e-12 * total), starts[0])
    for _ in range(POWER_STEPS):
        direction = image(direction)
        length = math.sqrt(sum(x * x for x in direction)) or 1.0
        direction = [x / length for x in direction]
    first = next((x for x in direction if x != 0), 1.0)
    if first < 0:
        direction = [-x for x in direction]
    place = {v: sum(s * d for s, d in zip(share[v], direction, strict=True)) for v in tables}
    return sorted(tables, key=lambda v: (place[v], v))


class Candidates:
    """A table with its classes and weights, and every way to split a set of its rows."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        y: Sequence[int],
        n_classes: int,
        *,
        weights: Sequence[float] | None = None,
        categorical_split: str = "subset",
        threshold: str = "midpoint",
        missing: str = "branch",
    ) -> None:
        self.attributes = attributes
        self.y = y
        self.n_classes = n_classes
        self.weights = effective_weights(weights, len(y))
        self.categorical_split = categorical_split
        self.threshold = threshold
        self.missing = missing

    def of(self, index: int, rows: Sequence[int]) -> Iterator[Split]:
        """The candidates of one attribute, in canonical order."""
        if self.attributes[index].n_categories is None:
            return self.numeric(index, rows)
        if self.categorical_split == "multiway":
            return self.multiway(index, rows)
        return self.subsets(index, rows)

    def count(self, rows: Sequence[int]) -> list[float]:
        counts = [0.0] * self.n_classes
        for row in rows:
            counts[self.y[row]] += self.weights[row]
        return counts

    # Numeric attributes.

    def numeric(self, index: int, rows: Sequence[int]) -> Iterator[Split]:
        values = self.attributes[index].values
        known = [row for row in rows if not is_missing(values[row])]
        missing = [row for row in rows if is_missing(values[row])]
        if not missing:
            yield from self.cuts(index, known)
            return
        if not known:
            return
        sides = [self.count(known), self.count(missing)]
        apart = Split(index, sides, threshold=math.inf, missing_branch=1)
        if self.missing == "category":
            yield apart
        yield from self.cuts(index, known, missing, missing_branch=0)
        yield from self.cuts(index, known, missing, missing_branch=1)
        if self.missing == "branch":
            yield apart

    def whole_column(self, index: int) -> list[float]:
        """The values of an attribute in all the rows that count."""
        values = self.attributes[index].values
        rows = [row for row, weight in enumerate(self.weights) if weight > 0]
        return [values[row] for row in rows if not is_missing(values[row])]

    def cuts(
        self,
        index: int,
        known: Sequence[int],
        missing: Sequence[int] = (),
        missing_branch: int | None = None,
    ) -> Iterator[Split]:
        """A cut between any two neighbouring values, ascending; missing values on one side."""
        values = self.attributes[index].values
        ordered = sorted(known, key=lambda row: values[row])
        left, right = [0.0] * self.n_classes, self.count(known)
        unknown = self.count(missing)
        for row, following in pairwise(ordered):
            left[self.y[row]] += self.weights[row]
            right[self.y[row]] -= self.weights[row]
            low, high = values[row], values[following]
            if low < high:
                low = low + 0.0  # -0.0 becomes 0.0
                cut = midpoint(low, high)
                if self.threshold == "value":
                    cut = max(v for v in self.whole_column(index) if v <= cut) + 0.0
                sides = [list(left), list(right)]
                if missing_branch is not None:
                    sides[missing_branch] = total_of([sides[missing_branch], unknown])
                yield Split(index, sides, threshold=cut, missing_branch=missing_branch)

    # Categorical attributes.

    def tables(self, index: int, rows: Sequence[int]) -> dict[int, list[float]]:
        """Class counts of the values present, in declared order; missing comes first."""
        by_value: dict[int, list[int]] = {}
        for row in rows:
            value = self.attributes[index].values[row]
            by_value.setdefault(MISSING if is_missing(value) else int(value), []).append(row)
        return {value: self.count(by_value[value]) for value in sorted(by_value)}

    def multiway(self, index: int, rows: Sequence[int]) -> Iterator[Split]:
        tables = self.tables(index, rows)
        unknown = tables.pop(MISSING, None)
        known = list(tables.values())
        table = {value: branch for branch, value in enumerate(tables)}
        n_absent = self.attributes[index].n_categories - len(tables)
        shared = [[0.0] * self.n_classes] if n_absent else []

        def split(branches: list[list[float]], missing_branch: int | None) -> Split:
            return Split(
                index,
                branches + shared,
                table=table,
                n_absent=n_absent,
                missing_branch=missing_branch,
            )

        if unknown is None:
            if len(known) >= 2:
                yield split(known, None)
            return
        if self.missing == "branch" and len(known) >= 2:
            for branch in range(len(known)):
                joined = [*known[:branch], total_of([known[branch], unknown]), *known[branch + 1 :]]
                yield split(joined, branch)
        if known:
            yield split([*known, unknown], len(known))

    def subsets(self, index: int, rows: Sequence[int]) -> Iterator[Split]:
        tables = self.tables(index, rows)  # missing is one more value here
        present = list(tables)
        here = self.classes_here(tables)
        if self.n_classes > 2 and len(present) <= EXHAUSTIVE_VALUES:
            sides = every_side(present)
        elif len(here) <= 2:
            order = sorted(present, key=lambda v: (tables[v][here[0]] / sum(tables[v]), v))
            sides = [order[:size] for size in range(1, len(order))]
        else:
            order = principal_order(tables)
            sides = [order[:size] for size in range(1, len(order))]
        yield from self.divided(index, tables, sides)

    def classes_here(self, tables: dict[int, list[float]]) -> list[int]:
        return [c for c, weight in enumerate(total_of(list(tables.values()))) if weight > 0]

    def divided(
        self, index: int, tables: dict[int, list[float]], sides: Sequence[Sequence[int]]
    ) -> Iterator[Split]:
        present = list(tables)
        for side in sides:
            holds_first = present[0] in side
            table = {v: 0 if (v in side) == holds_first else 1 for v in present}
            branches = [
                total_of([tables[v] for v in present if table[v] == branch]) for branch in (0, 1)
            ]
            yield Split(
                index,
                branches,
                missing_branch=table.pop(MISSING, None),
                table=table,
            )

    def is_by_subsets(self, index: int) -> bool:
        return (
            self.attributes[index].n_categories is not None and self.categorical_split == "subset"
        )

    def every_subset(self, index: int, rows: Sequence[int]) -> Iterator[Split]:
        tables = self.tables(index, rows)
        yield from self.divided(index, tables, every_side(list(tables)))


def every_side(present: Sequence[int]) -> list[list[int]]:
    """Every set of values that holds the first one, but for that of all."""
    return [
        [present[0]] + [v for bit, v in enumerate(present[1:]) if mask >> bit & 1]
        for mask in range(2 ** (len(present) - 1) - 1)
    ]
