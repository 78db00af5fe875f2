# SPDX-License-Identifier: BSD-3-Clause
"""What a model must remember of its table: names, kinds, category labels, classes and what these count for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fasttree.base.sums import sums


@dataclass(frozen=True, slots=True)
class AttributeSchema:
    """One attribute: its name and, if it is categorical, its categories in their order."""

    name: str
    categories: tuple[Any, ...] | None = None  # None: numeric
    ordered: bool = False  # categorical, and split between neighbouring categories only
    time: str | None = None  # its numbers are times: microseconds of this kind (base/times.py)
    # Categories of few rows that count as one: the last of `categories` is the name of them all, and none itself.
    others: tuple[Any, ...] | None = None

    @property
    def is_categorical(self) -> bool:
        return self.categories is not None

    @property
    def own_levels(self) -> tuple[Any, ...]:
        """The categories that count as such."""
        categories = self.categories or ()
        return categories if self.others is None else categories[:-1]

    @property
    def seen_levels(self) -> tuple[Any, ...]:
        """All the categories that the training rows had, those of few rows last."""
        return self.own_levels + (self.others or ())

    @property
    def seen_codes(self) -> list[int]:
        """The code of each of `seen_levels`."""
        n_own = len(self.own_levels)
        return [*range(1, n_own + 1), *[n_own + 1] * len(self.others or ())]


@dataclass(frozen=True, slots=True, eq=False)
class ClassPriors:
    """What the classes of a fit count for, as the user says it; None: nothing was said."""

    class_weight: np.ndarray | None = None
    cost_matrix: np.ndarray | None = None  # [true, predicted]

    def weighted(self, counts: np.ndarray) -> np.ndarray:
        """Class counts [..., class] with the class weights."""
        return counts if self.class_weight is None else counts * self.class_weight

    def risk(self, counts: np.ndarray, label: np.ndarray) -> np.ndarray:
        """What mistakes cost where rows with these class counts [node, class] all get the label: their weight, class
        weights included, times the cost of each."""
        counts = self.weighted(counts)
        if self.cost_matrix is None:
            return np.asarray(sums(counts) - counts[np.arange(len(counts)), label])
        risk = np.zeros(len(counts))
        # In one order: a matrix product has another on every processor.
        for true in range(len(self.cost_matrix)):
            risk += counts[:, true] * self.cost_matrix[true, label]
        return risk

    def squared(self) -> ClassPriors:
        """Their `risk` is the sum of the squares of what the rows' mistakes come to."""
        weight, cost_matrix = self.class_weight, self.cost_matrix
        return ClassPriors(
            None if weight is None else weight * weight,
            None if cost_matrix is None else cost_matrix * cost_matrix,
        )

    def shares(self, counts: np.ndarray) -> np.ndarray:
        """Class shares, with the class weights but without the costs; 0 where all counts are."""
        counts = self.weighted(counts)
        total = sums(counts, keepdims=True)
        return np.asarray(counts / np.where(total > 0, total, 1))


def _nothing() -> np.ndarray:
    return np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """The attributes in column order and the sorted class labels, of which there are none if numbers are predicted. Two
    that differ in the priors, the ranges or what was counted alone are equal."""

    attributes: tuple[AttributeSchema, ...]
    classes: np.ndarray
    named: bool  # True if the user's table had column names
    tie_order: tuple[int, ...] = ()  # class numbers, the first wins a tie; (): in their own order
    priors: ClassPriors = field(default_factory=ClassPriors)
    # float64 [attribute, 2]: the smallest and the largest number of each attribute in the training rows, NaN for a
    # categorical one and where no row had a number; without rows if nobody noted it.
    ranges: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))
    # int64 [attribute, 2]: the distinct values of each attribute in the training rows (-n: more than n; nobody counts
    # those of binned attributes to the end), and how many of these rows lack it; without rows if nobody counted them.
    counted: np.ndarray = field(default_factory=_nothing)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return (
            self.attributes == other.attributes
            and self.named == other.named
            and self.tie_order == other.tie_order
            and self.classes.dtype == other.classes.dtype
            and bool(np.array_equal(self.classes, other.classes))
        )

    __hash__ = None  # type: ignore[assignment]

    def by_level(self) -> Schema:
        """With every category that the training rows had as one of its own."""
        if all(a.others is None for a in self.attributes):
            return self
        attributes = [
            a if a.others is None else replace(a, categories=a.seen_levels, others=None)
            for a in self.attributes
        ]
        return replace(self, attributes=tuple(attributes))

    @property
    def predicts_numbers(self) -> bool:
        return len(self.classes) == 0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)
