# SPDX-License-Identifier: BSD-3-Clause
"""Why rows end where they end, in words: what decided for a row that lacks a value that was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from fasttree.base.quoting import readable_in_rule
from fasttree.base.values import to_python
from fasttree.rules.conditions import reader
from fasttree.rules.rule import Condition, Rule, intersect
from fasttree.rules.text import in_brackets, known_text, substitute_text
from fasttree.tables.schema import Schema
from fasttree.tables.training import MISSING_CODE, UNKNOWN_CODE, Table
from fasttree.trees.tree import Tree

KNOWN, MISSING, UNSEEN = range(3)  # the state of a value
NOBODY = -1  # no surrogate has an answer

Decider = Condition | None


def lacking_text(condition: Condition, is_unseen: bool, deciders: Sequence[Decider]) -> str:
    """What is said of a row that meets a condition without the value, or with a level that training did not see.

    `deciders`: for each of the condition's substitutes the surrogate that decided; None: none had an answer.
    """
    text = _not_there(condition, is_unseen)
    if not condition.substitutes:
        return f"{text} (treated as missing)" if is_unseen else text
    merged: dict[object, Condition] = {}
    for place, decider in enumerate(deciders):
        if decider is not None and decider.levels is None:
            same = merged.get(decider.attribute)
            merged[decider.attribute] = intersect(same, decider) if same else decider
        elif decider is not None:
            merged[place] = decider
    texts = list(dict.fromkeys(substitute_text(one) for one in merged.values()))
    heavier = "heavier branch"
    if not texts:
        return f"{text} ({heavier})"
    if None in deciders:
        texts.append(f"the {heavier}")
    return f"{text} (decided by {' and '.join(texts)})"


def _not_there(condition: Condition, is_unseen: bool) -> str:
    return f"{readable_in_rule(condition.attribute)} is {'unseen' if is_unseen else 'missing'}"


class RowReasons:
    """The ways of rows by which a rule applies to them. Rows of one rule differ by what they lack, and by what decided
    then; `groups` finds those that are alike."""

    def __init__(self, rule: Rule, schema: Schema) -> None:
        self.conditions = rule.conditions
        place = {name: at for at, name in enumerate(schema.names)}
        self._attributes = [place[c.attribute] for c in rule.conditions]
        # For each condition and each of its substitutes the alternatives: attribute, and the codes that it answers.
        self._alternatives = [
            [
                [(place[a.attribute], _codes(a, schema)) for a in s.alternatives]
                for s in c.substitutes
            ]
            for c in rule.conditions
        ]

    def groups(self, values: Values, rows: np.ndarray) -> Iterator[tuple[np.ndarray, list[int]]]:
        """Rows that lack some value that was asked for, and what they have in common: the state of the value for each
        condition, then for each substitute the number of the alternative that decided."""
        if not self.conditions:
            return
        states = np.column_stack([values.states(a)[rows] for a in self._attributes])
        lacking = (states != KNOWN).any(axis=1)
        rows, states = rows[lacking], states[lacking]
        if not len(rows):
            return
        columns = list(states.T)
        for state, groups in zip(states.T, self._alternatives, strict=True):
            for alternatives in groups:
                decider = _deciders(values, rows, alternatives)
                columns.append(np.where(state == KNOWN, NOBODY, decider))
        kinds, kind = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
        for number, said in enumerate(kinds.tolist()):
            yield rows[kind.ravel() == number], said

    def premise(self, said: list[int], shares: Mapping[str, float] | None = None) -> str:
        """The way of the rows that have this in common; `shares`: how much goes that way of a row that lacks an
        attribute and goes several."""
        n, texts = len(self.conditions), []
        deciders = iter(said[n:])
        for condition, state in zip(self.conditions, said[:n], strict=True):
            chosen = [
                substitute.alternatives[number] if number >= 0 else None
                for substitute, number in zip(condition.substitutes, deciders, strict=False)
            ]
            if state == KNOWN or condition.is_unseen:
                texts.append(known_text(condition))
            elif shares is None:
                texts.append(lacking_text(condition, state == UNSEEN, chosen))
            else:
                share = f"{shares[condition.attribute]:.1%} as {known_text(condition)}"
                texts.append(f"{_not_there(condition, state == UNSEEN)} ({share})")
        return " AND ".join(in_brackets(texts)) or "anything"


class Values:
    """The values of a table's attributes, as rules read them; each attribute is read once."""

    def __init__(self, table: Table, schema: Schema, unknown: str) -> None:
        self.schema = schema
        self._table = table
        self._read = reader(table, unknown, 0, table.n_rows)
        self._values: dict[int, np.ndarray] = {}
        self._states: dict[int, np.ndarray] = {}

    def of(self, attribute: int) -> np.ndarray:
        if attribute not in self._values:
            self._values[attribute] = self._read(attribute)
        return self._values[attribute]

    def lacking(self, attributes: Iterable[int], states: tuple[int, ...]) -> np.ndarray:
        """The rows in which the value of one of the attributes has such a state, as a mask."""
        found = np.zeros(self._table.n_rows, dtype=bool)
        for attribute in attributes:
            found |= np.isin(self.states(attribute), states)
        return found

    def states(self, attribute: int) -> np.ndarray:
        """KNOWN, MISSING or UNSEEN."""
        if attribute not in self._states:
            columns = self._table.columns
            codes = None if columns is None else columns[attribute].codes
            if codes is None:
                states = np.where(np.isnan(self.of(attribute)), MISSING, KNOWN)
            else:
                states = np.where(codes == MISSING_CODE, MISSING, KNOWN)
                states[codes == UNKNOWN_CODE] = UNSEEN
            self._states[attribute] = states.astype(np.int8)
        return self._states[attribute]


def shares_on_way(tree: Tree, node: int) -> dict[str, float]:
    """How much of a row goes the way to a node that lacks an attribute and goes down every branch, by attribute."""
    shares: dict[str, float] = {}
    while node:
        parent = int(tree.parent[node])
        first = int(tree.first_child[parent])
        among = tree.weight[first : first + int(tree.n_children[parent])]
        name = tree.schema.names[tree.attribute[parent]]
        shares[name] = shares.get(name, 1.0) * float(tree.weight[node] / among.sum())
        node = parent
    return shares


def _deciders(
    values: Values, rows: np.ndarray, alternatives: list[tuple[int, np.ndarray | None]]
) -> np.ndarray:
    """For each row the first of the alternatives that has an answer, or NOBODY."""
    found = np.full(len(rows), NOBODY)
    for number, (attribute, codes) in reversed(list(enumerate(alternatives))):
        value = values.of(attribute)[rows]
        found[~np.isnan(value) if codes is None else np.isin(value, codes)] = number
    return found


def _codes(condition: Condition, schema: Schema) -> np.ndarray | None:
    """The codes of the levels that a surrogate has an answer for; None: it asks for a number."""
    if condition.levels is None:
        return None
    categories = schema.attributes[schema.names.index(condition.attribute)].categories or ()
    code = {level: 1.0 + at for at, level in enumerate(map(to_python, categories))}
    return np.array([code[level] for level in condition.levels + condition.excluded])
