# SPDX-License-Identifier: BSD-3-Clause
"""RuleList: rules in an order, that classify."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from fasttree.frames import Table, read_table_like
from fasttree.priors import evened
from fasttree.rules.conditions import WORD, ConditionTable, Substitutes, covered_rows, reader
from fasttree.rules.parts import Condition, Others, Rule, Substitute, both
from fasttree.scalars import plain
from fasttree.schema import AttributeSchema, Schema
from fasttree.scoring import refusal

WORDS_AT_A_TIME = 2**21  # of rows x rules that are matched together
NO_RULE = -1


@dataclass(frozen=True, eq=False)
class RuleList(Sequence[Rule]):
    """Rules in their order: the first that applies to a row gives its class, `default_class` if none does.

    Kept as arrays; a `Rule` is made when it is asked for. Rule i has the conditions ``condition[start[i]:start[i +
    1]]`` of the table.
    """

    conditions: ConditionTable
    start: np.ndarray  # int64, one more than rules
    condition: np.ndarray  # int64, number in the table
    missing_seen: np.ndarray  # bool, with `condition`: covered training rows lack the value
    label: np.ndarray  # int32 class number
    counts: np.ndarray  # float64 [rule, class]
    estimated_error: np.ndarray  # float64
    estimate: str  # how the error was estimated: "laplace", "pessimistic" or "validation"
    default: int  # class number
    # float64: the training rows that no rule covers, or all if there are none.
    default_counts: np.ndarray
    uncovered: float  # weight of the training rows that no rule covers
    training_weight: float
    shares_rows: bool = False  # counts hold shares of rows that lack a value
    unknown: str = "missing"
    allow_missing: bool = True
    reader_name: str = "the list of rules"  # who reads tables, for error messages

    # -- reading ---------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.label)

    @overload
    def __getitem__(self, place: int) -> Rule: ...
    @overload
    def __getitem__(self, place: slice) -> list[Rule]: ...
    def __getitem__(self, place: int | slice) -> Rule | list[Rule]:
        if isinstance(place, slice):
            return [self._rule(i) for i in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(f"there are {len(self)} rules, numbered from 0: got {place}")
        return self._rule(place % len(self))

    def __iter__(self) -> Iterator[Rule]:
        return (self._rule(i) for i in range(len(self)))

    @property
    def schema(self) -> Schema:
        return self.conditions.schema

    @property
    def classes(self) -> list[Any]:
        return [plain(label) for label in self.schema.classes]

    @property
    def class_weights(self) -> dict[Any, float] | None:
        """What a row of each class counts for in the probabilities, if that is not 1."""
        weights = self.schema.priors.class_weight
        return None if weights is None else dict(zip(self.classes, weights.tolist(), strict=True))

    @property
    def default_class(self) -> Any:
        """The class of rows that no rule applies to."""
        return self.classes[self.default]

    @property
    def n_conditions(self) -> int:
        """Conditions of all the rules together, an interval counting as one."""
        first = np.repeat(self.start[:-1], np.diff(self.start))
        attribute = self.conditions.attribute[self.condition].astype(np.int64)
        return len(np.unique(first * len(self.schema.attributes) + attribute))

    def _rule(self, i: int) -> Rule:
        classes = self.classes
        merged: dict[str, Condition] = {}
        for at in range(self.start[i], self.start[i + 1]):
            condition = condition_at(
                self.conditions,
                int(self.condition[at]),
                bool(self.missing_seen[at]),
                merges_unseen=self.unknown == "missing",
            )
            other = merged.get(condition.attribute)
            merged[condition.attribute] = both(other, condition) if other else condition
        counts = dict(zip(classes, self.counts[i].tolist(), strict=True))
        return Rule(
            conditions=tuple(merged.values()),
            label=classes[self.label[i]],
            counts=counts,
            estimated_error=float(self.estimated_error[i]),
            coverage=float(self.counts[i].sum() / self.training_weight),
            class_weights=self.class_weights,
        )

    # -- classifying -----------------------------------------------------------------------------------------------

    def match(self, X: Any) -> np.ndarray:
        """The number of the rule that decides each row, -1 where none applies."""
        return self.match_table(self._read(X))

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        first = self.match(X)
        return self.schema.classes[np.append(self.label, self.default)[first]]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Laplace's estimate of each class on the training rows of the rule that decides, of which each class counts
        as its class weight says."""
        return self.shares[self.match(X)]

    @cached_property
    def shares(self) -> np.ndarray:
        """By rule; the last row is the default's, where number -1 finds it."""
        counts, priors = np.vstack([self.counts, self.default_counts]), self.schema.priors
        if priors.class_weight is not None:  # other shares of as many rows
            counts = counts.sum(axis=1, keepdims=True) * priors.shares(counts)
        return laplace(counts)

    def explain(self, X: Any) -> Any:
        """Which rule decides a row and why: an `Explanation` to print. X is a table of one row, or a dict of values."""
        from fasttree.rules.explanation import explain

        return explain(self, X)

    def _read(self, X: Any) -> Table:
        return read_table_like(X, self.schema, self.reader_name, self.unknown)

    def match_table(self, table: Table) -> np.ndarray:
        """The same for a table that has been read."""
        first = np.full(table.n_rows, NO_RULE, dtype=np.int64)
        if not len(self):
            return first
        step = WORD * max(1, WORDS_AT_A_TIME // max(len(self), len(self.conditions)))
        for at in range(0, table.n_rows, step):
            stop = min(at + step, table.n_rows)
            new = self._covered(table, at, stop)
            new[1:] &= ~np.bitwise_or.accumulate(new, axis=0)[:-1]
            # A row is new in one rule at most, so there are no more words than rows to look into.
            rule, word = np.nonzero(new)
            truth = np.unpackbits(
                new[rule, word][:, np.newaxis].view(np.uint8), axis=1, bitorder="little"
            )
            found, bit = np.nonzero(truth)
            row = WORD * word[found] + bit
            inside = row < stop - at
            first[at + row[inside]] = rule[found][inside]
        return first

    def applies(self, table: Table, at: int, stop: int) -> np.ndarray:
        """Which rules apply to some rows of a table: 0 or 1 [rule, row]."""
        covered = self._covered(table, at, stop)
        return np.unpackbits(covered.view(np.uint8), axis=1, bitorder="little")[:, : stop - at]

    def _covered(self, table: Table, at: int, stop: int) -> np.ndarray:
        read = reader(table, self.unknown, at, stop)
        if not self.allow_missing:
            for attribute, name in enumerate(table.names):
                missing = np.isnan(read(attribute))
                if missing.any():
                    raise refusal(name, at + int(np.argmax(missing)))
        met = self.conditions.met(read, stop - at)
        return covered_rows(met, self.start, self.condition)

    # -- other forms -----------------------------------------------------------------------------------------------

    def to_text(self, max_rules: int | None = None) -> str:
        """The rules as people read them, one a line if it fits."""
        from fasttree.export.rules_text import to_text

        return to_text(self, max_rules)

    def to_markdown(self, max_rules: int | None = None) -> str:
        """The rules as a Markdown table."""
        from fasttree.export.rules_markdown import to_markdown

        return to_markdown(self, max_rules)

    def to_json(self) -> str:
        """The rules as JSON, with every number in full."""
        from fasttree.export.rules_json import to_json

        return to_json(self)

    def to_python(self) -> str:
        """The rules as the source of a Python function, which needs nothing but Python."""
        from fasttree.export.rules_python import to_python

        return to_python(self)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"RuleList({len(self)} rules, {self.n_conditions} conditions, else {self.default_class!r})"

    def _repr_markdown_(self) -> str:
        return self.to_markdown(max_rules=50)


def laplace(counts: np.ndarray) -> np.ndarray:
    """Laplace's estimate of the class shares, [..., class]."""
    counts = counts + 1
    return evened(counts / counts.sum(axis=-1, keepdims=True))


def condition_at(
    table: ConditionTable, i: int, missing_seen: bool, merges_unseen: bool = False
) -> Condition:
    """One condition of a table, to be read. `merges_unseen`: levels that training did not see count as those of few
    rows."""
    attribute = table.schema.attributes[table.attribute[i]]
    substitutes: tuple[Substitute, ...] = ()
    if table.substitutes is not None:
        given = table.substitutes
        groups = given.group[given.group_start[i] : given.group_start[i + 1]]
        substitutes = tuple(_substitute(given, int(group), merges_unseen) for group in groups)
    missing = bool(table.missing[i])
    if attribute.categories is None:
        low, high = float(table.low[i]), float(table.high[i])
        return Condition(
            attribute.name,
            None if math.isnan(low) else low,
            None if high == math.inf else high,
            missing=missing,
            missing_seen=missing_seen,
            substitutes=substitutes,
            time=attribute.time,
        )
    allowed = set(_codes(table, i))
    levels = [plain(level) for level in attribute.categories]
    return Condition(
        attribute.name,
        levels=tuple(level for code, level in enumerate(levels, 1) if code in allowed),
        excluded=tuple(level for code, level in enumerate(levels, 1) if code not in allowed),
        missing=missing,
        missing_seen=missing_seen,
        substitutes=substitutes,
        others=_others(attribute, merges_unseen),
    )


def _others(attribute: AttributeSchema, merges_unseen: bool) -> Others | None:
    if attribute.others is None:
        return None
    name = (attribute.categories or ())[-1]
    own, others = (tuple(map(plain, part)) for part in (attribute.own_levels, attribute.others))
    return Others(name, own, others, merges_unseen)


def _substitute(given: Substitutes, group: int, merges_unseen: bool) -> Substitute:
    conditions = []
    for at in range(given.alternative_start[group], given.alternative_start[group + 1]):
        number = int(given.alternative[at])
        condition = condition_at(given.conditions, number, False, merges_unseen)
        if condition.levels is not None:  # a level that the surrogate says nothing about is neither
            levels = given.conditions.schema.attributes[
                given.conditions.attribute[number]
            ].categories
            said = {plain((levels or ())[code - 1]) for code in _codes(given.answers, number)}
            excluded = tuple(level for level in condition.excluded if level in said)
            condition = replace(condition, excluded=excluded)
        conditions.append(condition)
    return Substitute(tuple(conditions), bool(given.otherwise[group]))


def _codes(table: ConditionTable, i: int) -> list[int]:
    codes: list[int] = table.codes[table.start[i] : table.start[i + 1]].tolist()
    return codes
