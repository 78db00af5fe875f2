# SPDX-License-Identifier: BSD-3-Clause
"""A rule and its conditions, as people and programs read them one at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fasttree.base.times import microseconds
from fasttree.base.values import is_missing, to_python

if TYPE_CHECKING:
    from fasttree.rules.held_out import HeldOut


@dataclass(frozen=True, slots=True)
class Substitute:
    """What decides where a value is missing: the first alternative whose attribute has a value, else `otherwise`."""

    alternatives: tuple[Condition, ...]
    otherwise: bool

    def decider(self, row: Mapping[str, Any]) -> Condition | None:
        """The alternative that decides for a row. Categories that it does not cover are in none of its sets."""
        for condition in self.alternatives:
            value = row[condition.attribute]
            if not is_missing(value) and not condition.has_not_seen(value):
                return condition
        return None

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Does a row with a missing value meet the condition, according to this surrogate?"""
        decider = self.decider(row)
        return self.otherwise if decider is None else decider.holds(row)


@dataclass(frozen=True, slots=True)
class Others:
    """The rare categories of an attribute, which are merged into one that is called `name`."""

    name: str
    own: tuple[Any, ...]  # the other levels, which count as such
    levels: tuple[Any, ...]
    unseen: bool  # do all levels that training did not see count as one of them?

    def stands_for(self, level: Any) -> bool:
        return level in self.levels or (self.unseen and level not in self.own)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one attribute: ``low < value <= high`` for numbers, ``value in levels`` for categories.

    A missing value meets it if `missing` is true; with `substitutes` (surrogates), if all of them are met. A category
    not seen in training (in neither `levels` nor `excluded`) counts as missing, unless `unseen` says otherwise; before
    that, a category for which `others` stands is replaced by their common name.
    `missing_seen`: training rows with a missing value met the condition.
    """

    attribute: str
    low: float | None = None  # None: no bound
    high: float | None = None
    levels: tuple[Any, ...] | None = None  # None: numeric
    excluded: tuple[Any, ...] = ()  # the other levels
    missing: bool = False
    missing_seen: bool = False
    substitutes: tuple[Substitute, ...] = ()
    time: str | None = None  # the kind of time that the numbers are, in microseconds
    # What a level is that training did not see: "missing"; "majority" or "error": it meets no condition but this one,
    # if `is_unseen`.
    unseen: str = "missing"
    is_unseen: bool = False
    # Rows that lack a value are refused, so that `missing` is about levels that training did not see.
    refuses_missing: bool = False
    exact: bool = False  # its text leaves nothing out: shortened, it would look like another one
    # Then `levels` or `excluded` may hold their common name, which is no level itself.
    others: Others | None = None

    @property
    def categories(self) -> tuple[Any, ...] | None:
        """The categories that meet the condition, None for a numeric attribute: `levels`."""
        return self.levels

    @property
    def surrogates(self) -> tuple[Substitute, ...]:
        """What decides where the value is missing: `substitutes`."""
        return self.substitutes

    @property
    def is_known(self) -> bool:
        """Is the condition met by every value that is not missing?"""
        if self.levels is not None:
            return not self.excluded
        return self.low is None and self.high is None

    @property
    def is_missing(self) -> bool:
        """Is the condition met by missing values only?"""
        if self.substitutes or not self.missing:
            return False
        return not self.levels if self.levels is not None else self.low == math.inf

    def has_not_seen(self, value: Any) -> bool:
        """Is a value, which is not missing, a level that training did not see (and not one of the others)?"""
        return self.levels is not None and not self._is_among(
            to_python(value), self.levels + self.excluded
        )

    def lacks(self, row: Mapping[str, Any]) -> bool:
        """Is the value missing, or does it count as missing?"""
        value = row[self.attribute]
        return is_missing(value) or (self.unseen == "missing" and self.has_not_seen(value))

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Does a row, a mapping from attribute to value, meet the condition?"""
        value = row[self.attribute]
        if self.lacks(row):
            if not self.substitutes:
                return self.missing
            return all(substitute.holds(row) for substitute in self.substitutes)
        if self.levels is not None:
            return self._is_among(to_python(value), self.levels) or (
                self.is_unseen and self.has_not_seen(value)
            )
        number = microseconds(self.attribute, value, self.time)
        above = self.low is None or number > self.low
        return bool(above and (self.high is None or number <= self.high))

    def _is_among(self, level: Any, levels: tuple[Any, ...]) -> bool:
        """Is a level among some of the condition's, as it counts?"""
        if self.others is None:
            return level in levels
        if self.others.stands_for(level):
            return self.others.name in levels
        return level != self.others.name and level in levels

    def __str__(self) -> str:
        from fasttree.rules.text import condition_text

        return condition_text(self)


@dataclass(frozen=True, slots=True)
class Rule:
    """IF all conditions hold THEN `label`, with its figures for the training rows: `errors`, `proba` and the estimates
    are optimistic, since the rule was learned from these rows."""

    conditions: tuple[Condition, ...]
    label: Any
    counts: Mapping[Any, float]  # the weight of the training rows that it covers, by class
    estimated_error: float
    coverage: float  # the share of all training rows that it covers
    class_weights: Mapping[Any, float] | None = None  # None: each class counts for 1
    held_out: HeldOut | None = None  # what other rows say about it, see `RuleList.evaluate`

    @property
    def support(self) -> float:
        """The weight of the training rows that the rule covers."""
        return math.fsum(self.counts.values())

    @property
    def errors(self) -> float:
        """The weight of the covered training rows that have another class."""
        return max(0.0, self.support - self.counts[self.label])

    @property
    def estimated_accuracy(self) -> float:
        return 1 - self.estimated_error

    @property
    def proba(self) -> dict[Any, float]:
        """Laplace's estimate for each class: (its rows + 1) / (support + number of classes). With class weights, its
        rows are its share of the support by these weights."""
        counts, total = self.counts, self.support + len(self.counts)
        if self.class_weights is not None:
            weighted = {c: count * self.class_weights[c] for c, count in counts.items()}
            scale = self.support / math.fsum(weighted.values())
            counts = {c: scale * count for c, count in weighted.items()}
        return {label: (count + 1) / total for label, count in counts.items()}

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Does a row, a mapping from attribute to value, meet all the conditions?"""
        return all(condition.holds(row) for condition in self.conditions)

    def __str__(self) -> str:
        from fasttree.rules.text import rule_text

        return rule_text(self)


def intersect(one: Condition, other: Condition) -> Condition:
    """A lower and an upper bound of the same attribute as an interval."""
    refuses = any(not (c.missing or c.substitutes) for c in (one, other))
    return replace(
        one,
        low=max((c.low for c in (one, other) if c.low is not None), default=None),
        high=min((c.high for c in (one, other) if c.high is not None), default=None),
        missing=one.missing and other.missing,
        missing_seen=(one.missing_seen or other.missing_seen) and not refuses,
        substitutes=() if refuses else one.substitutes + other.substitutes,
        exact=one.exact or other.exact,
    )
