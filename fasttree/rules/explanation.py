# SPDX-License-Identifier: BSD-3-Clause
"""Which rule decided a row, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.base.quoting import readable_in_rule
from fasttree.base.text import number_text
from fasttree.base.values import to_python
from fasttree.encoding.merging import as_read_by
from fasttree.rules.reasons import lacking_text
from fasttree.rules.rule import Rule
from fasttree.rules.rule_list import RuleList
from fasttree.rules.text import condition_text, evidence_text
from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.schema import Schema
from fasttree.tables.training import UNKNOWN_CODE, Table

LISTED = 8  # other rules that are named


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why the rules give a row its class. Print it."""

    row: Mapping[str, Any]
    label: Any
    proba: Mapping[Any, float]
    number: int | None  # the place of the rule in the list, from 0; None: no rule applied
    rule: Rule | None
    agreeing: tuple[int, ...]  # later rules that apply too, and say the same
    disagreeing: tuple[int, ...]  # later rules that apply too, and would say something else
    unseen: frozenset[str] = frozenset()  # attributes whose level training did not see

    def __str__(self) -> str:
        label = readable_in_rule(self.label)
        if self.rule is None:
            return f"{label}, because no rule applies ({self._share()})"
        assert self.number is not None
        lines = [f"{label}, by rule {self.number + 1} ({evidence_text(self.rule)}):"]
        for condition in self.rule.conditions:
            text = condition_text(condition)
            value = self.row[condition.attribute]
            if condition.lacks(self.row):
                deciders = [s.decider(self.row) for s in condition.substitutes]
                shown = lacking_text(condition, condition.attribute in self.unseen, deciders)
            else:
                name = readable_in_rule(condition.attribute)
                shown = f"{name} = {_shown(value, condition.time)}"
            lines.append(f"  {text}" if text == shown else f"  {text}: {shown}")
        lines.append(self._before())
        for others, verb in ((self.agreeing, "agree"), (self.disagreeing, "disagree")):
            if others:
                lines.append(f"{_numbers(others, verb)}")
        return "\n".join(lines)

    def _share(self) -> str:
        return f"share in the training rows {self.proba[self.label]:.2f}, optimistic"

    def _before(self) -> str:
        if self.number == 0:
            return "It is the first rule."
        if self.number == 1:
            return "Rule 1 comes before it and does not apply."
        return f"The {self.number} rules before it do not apply."


def explain(rules: RuleList, X: Any) -> Explanation:
    """Why a row gets its class. X is a table of one row, or a dict from attribute to value."""
    if isinstance(X, Mapping) and all(
        isinstance(value, str) or not hasattr(value, "__len__") for value in X.values()
    ):
        X = {
            name: np.array([value], dtype=None if _is_number(value) else object)
            for name, value in X.items()
        }
    schema = rules.schema
    by_level = read_table_for_schema(X, rules._by_level, rules.reader_name, rules.unknown)
    table = as_read_by(by_level, schema, stops_at_unknown=rules.unknown != "missing")
    if table.n_rows != 1:
        raise ValueError(
            f"explain needs exactly one row, got {table.n_rows}: pass a single row, such as X[:1]"
        )
    applying = np.flatnonzero(rules.applies(table, 0, 1)[:, 0]) if len(rules) else np.empty(0, int)
    number = int(applying[0]) if len(applying) else None
    label = rules.default if number is None else int(rules.label[number])
    same = rules.label[applying[1:]] == label
    return Explanation(
        row=_values(by_level, table, schema),
        unseen=_unseen(table),
        label=rules.classes[label],
        proba=dict(
            zip(rules.classes, rules.shares[-1 if number is None else number].tolist(), strict=True)
        ),
        number=number,
        rule=None if number is None else rules[number],
        agreeing=tuple(applying[1:][same].tolist()),
        disagreeing=tuple(applying[1:][~same].tolist()),
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _values(by_level: Table, table: Table, schema: Schema) -> dict[str, Any]:
    """The row as the rules see it: None where a value is missing or was never seen; what was never seen and counts as a
    level of few rows has their name."""
    row: dict[str, Any] = {}
    for place, attribute in enumerate(schema.attributes):
        if table.matrix is not None:
            value = float(table.matrix[0, place])
        else:
            assert table.columns is not None
            column = table.columns[place]
            if column.codes is not None:
                code, levels = int(column.codes[0]), attribute.categories or ()
                if code > 0 and by_level.columns is not None:
                    codes = by_level.columns[place].codes
                    if codes is not None and codes[0] > 0:
                        code, levels = int(codes[0]), attribute.seen_levels
                row[attribute.name] = to_python(levels[code - 1]) if code > 0 else None
                continue
            assert column.values is not None
            value = float(column.values[0])
        row[attribute.name] = None if np.isnan(value) else value
    return row


def _unseen(table: Table) -> frozenset[str]:
    return frozenset(
        column.name
        for column in table.columns or ()
        if column.codes is not None and column.codes[0] == UNKNOWN_CODE
    )


def _shown(value: Any, time: str | None) -> str:
    return number_text(value, time) if isinstance(value, float) else readable_in_rule(value)


def _numbers(rules: tuple[int, ...], verb: str) -> str:
    listed = [str(number + 1) for number in rules[:LISTED]]
    if len(rules) > LISTED:
        listed.append(f"{len(rules) - LISTED} others")
    if len(rules) == 1:
        return f"Rule {listed[0]} also applies and {verb}s."
    return f"Rules {', '.join(listed[:-1])} and {listed[-1]} also apply and {verb}."
