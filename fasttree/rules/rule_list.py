# SPDX-License-Identifier: BSD-3-Clause
"""RuleList: rules in an order, that classify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from fasttree.base.cached import cached_property
from fasttree.base.sums import sums, total
from fasttree.base.values import to_python
from fasttree.rules.conditions import WORD, ConditionTable, covered_rows, reader
from fasttree.rules.reading import ConditionReader
from fasttree.rules.rule import Condition, Rule, intersect
from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.schema import Schema
from fasttree.tables.training import MISSING_CODE, Table
from fasttree.trees.decide import snap_near_ties
from fasttree.trees.predict import refusal

if TYPE_CHECKING:
    from fasttree.rules.held_out import HeldOutRows

WORDS_AT_A_TIME = 2**21  # of rows x rules that are matched together
NO_RULE = -1


@dataclass(frozen=True, eq=False)
class RuleList(Sequence[Rule]):
    """Rules in order: the first one that applies to a row gives its class, or `default_class` if none applies.

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
    held_out: HeldOutRows | None = None  # what rows say that took no part in making the rules

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
        return [to_python(label) for label in self.schema.classes]

    @property
    def class_weights(self) -> dict[Any, float] | None:
        """What a row of each class counts for in the probabilities, if that is not 1."""
        weights = self.schema.priors.class_weight
        return None if weights is None else dict(zip(self.classes, weights.tolist(), strict=True))

    @property
    def default_class(self) -> Any:
        """The class of rows to which no rule applies."""
        return self.classes[self.default]

    @property
    def n_conditions(self) -> int:
        """The number of conditions of all rules, counting an interval as one."""
        first = np.repeat(self.start[:-1], np.diff(self.start))
        attribute = self.conditions.attribute[self.condition].astype(np.int64)
        return len(np.unique(first * len(self.schema.attributes) + attribute))

    @cached_property
    def _reader(self) -> ConditionReader:
        return ConditionReader(self.conditions, self.unknown, self.allow_missing)

    @cached_property
    def _by_level(self) -> Schema:
        return self.schema.by_level()

    def _rule(self, i: int) -> Rule:
        classes = self.classes
        merged: dict[str, Condition] = {}
        for at in range(self.start[i], self.start[i + 1]):
            condition = self._reader.read(int(self.condition[at]), bool(self.missing_seen[at]))
            other = merged.get(condition.attribute)
            merged[condition.attribute] = intersect(other, condition) if other else condition
        counts = dict(zip(classes, self.counts[i].tolist(), strict=True))
        return Rule(
            conditions=tuple(merged.values()),
            label=classes[self.label[i]],
            counts=counts,
            estimated_error=float(self.estimated_error[i]),
            coverage=total(self.counts[i]) / self.training_weight,
            class_weights=self.class_weights,
            held_out=None if self.held_out is None else self.held_out.rules[i],
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
            counts = sums(counts, keepdims=True) * priors.shares(counts)
        return laplace(counts)

    def explain(self, X: Any) -> Any:
        """Which rule decides a row and why: an `Explanation` to print. X is a table of one row, or a dict of values."""
        from fasttree.rules.explanation import explain

        return explain(self, X)

    def evaluate(self, X: Any, y: Any) -> RuleList:
        """The same rules with what rows say of them that took no part in making them: how many each rule covers, how
        many of these have another class, and the accuracy with its limits. They are in `held_out`, of each rule too,
        and in all that is printed. Every row counts once."""
        from fasttree.rules.held_out import judge

        return replace(self, held_out=judge(self, X, y))

    def _read(self, X: Any) -> Table:
        return read_table_for_schema(X, self.schema, self.reader_name, self.unknown)

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
                if missing.any() and table.columns is not None:
                    codes = table.columns[attribute].codes
                    if codes is not None:  # a level that training did not see is no hole
                        missing = codes[at:stop] == MISSING_CODE
                if missing.any():
                    raise refusal(name, at + int(np.argmax(missing)))
        met = self.conditions.met(read, stop - at)
        return covered_rows(met, self.start, self.condition)

    # -- other forms -----------------------------------------------------------------------------------------------

    def to_text(self, max_rules: int | None = None) -> str:
        """The rules as text, one per line if it fits."""
        from fasttree.rules.text import to_text

        return to_text(self, max_rules)

    def to_markdown(self, max_rules: int | None = None) -> str:
        """The rules as a Markdown table."""
        from fasttree.rules.markdown import to_markdown

        return to_markdown(self, max_rules)

    def to_json(self) -> str:
        """The rules as JSON, with every number in full."""
        from fasttree.rules.json import to_json

        return to_json(self)

    def to_python(self) -> str:
        """The rules as the source of a Python function, which needs nothing but Python."""
        from fasttree.rules.python import to_python

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
    return snap_near_ties(counts / sums(counts, keepdims=True))
