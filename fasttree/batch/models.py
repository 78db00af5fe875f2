# SPDX-License-Identifier: BSD-3-Clause
"""What a batch run asks of a model: its answers for a table that has been read, and the reasons for them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from fasttree.base.cached import cached_property
from fasttree.base.quoting import readable_in_rule
from fasttree.base.values import to_python
from fasttree.estimators import TreeClassifier, TreeRegressor
from fasttree.estimators.answers import (
    Answers,
    NumberAnswers,
    RuleAnswers,
    Scored,
    TreeAnswers,
    tree_or_rules,
)
from fasttree.rules import Condition, Rule, RuleList
from fasttree.rules.paths import rules_to
from fasttree.rules.reasons import MISSING, UNSEEN, RowReasons, Values, shares_on_way
from fasttree.rules.text import in_brackets, known_text, premise_text
from fasttree.tables.training import Table
from fasttree.trees.predict import ReadPolicy
from fasttree.trees.regression_tree import as_one_class
from fasttree.trees.tree import LEAF, Tree

Found = TypeVar("Found")
CACHED_TEXTS = 16_384  # a tree may have more leaves than there is memory for their texts


class Scorer(Answers, Protocol):
    """A model, as rows of a batch need it. Threads share it.

    `reasons`: why each row of a table got its class, as its place among some texts.
    """

    def reasons(self, table: Table, scored: Scored) -> tuple[np.ndarray, list[str]]: ...
    def identity(self) -> str: ...


def scorer_of(model: Any) -> Scorer:
    found = tree_or_rules(model)
    if isinstance(found, TreeRegressor):
        return NumberScorer(found)
    return RuleScorer(found) if isinstance(found, RuleList) else TreeScorer(found)


class TreeScorer(TreeAnswers):
    def __init__(self, model: TreeClassifier) -> None:
        super().__init__(model)
        self._why = TreeReasons(self.tree, self.policy, self.unknown)

    def reasons(self, table: Table, scored: Scored) -> tuple[np.ndarray, list[str]]:
        return self._why.reasons(table, scored)

    def identity(self) -> str:
        return _digest((self.tree.fingerprint(), repr(self.schema), self.policy, self.unknown))


class NumberScorer(NumberAnswers):
    def __init__(self, model: TreeRegressor) -> None:
        super().__init__(model)
        ways = as_one_class(self.tree)
        self._why = TreeReasons(ways, self.policy, self.unknown, self.tree.prediction)

    def reasons(self, table: Table, scored: Scored) -> tuple[np.ndarray, list[str]]:
        return self._why.reasons(table, scored)

    def identity(self) -> str:
        return _digest((self.tree.fingerprint(), repr(self.schema), self.policy, self.unknown))


class TreeReasons:
    """Why rows end where they do in a tree. `numbers`: what its nodes predict, if that is not their class."""

    def __init__(
        self, tree: Tree, policy: ReadPolicy, unknown: str, numbers: np.ndarray | None = None
    ) -> None:
        self.tree, self.schema, self.policy, self.unknown = tree, tree.schema, policy, unknown
        self.numbers = numbers
        self.kept = _Kept()
        self.asked = np.unique(tree.attribute[tree.attribute != LEAF]).tolist()
        # Do reasons of whole rows say also what becomes of others?
        self.in_full = not (tree.shares_rows or len(tree.surrogate_attribute))

    @cached_property
    def _ways(self) -> tuple[RuleList, np.ndarray]:
        """The way to each place where rows can end, and their numbers in that list."""
        ends = self.tree.is_leaf()
        if self.policy.stops_at_unknown:
            ends = np.ones(self.tree.node_count, dtype=bool)
        ways = rules_to(
            self.tree,
            np.flatnonzero(ends),
            unknown=self.unknown,
            allow_missing=self.policy.allow_missing,
        )
        return ways, np.cumsum(ends) - 1

    def _way(self, node: int, label: int | None = None) -> _Way:
        """The way to a node; a row that ends at an inner one does so for a level that training did not see. `label`:
        the class that it got, if rows go several ways."""
        rules, place_of = self._ways
        way = rules[int(place_of[node])]
        shares = None
        if self.numbers is not None:
            way = replace(way, label=float(self.numbers[node]))
        if label is not None:
            way = replace(way, label=to_python(self.schema.classes[label]))
            shares = shares_on_way(self.tree, node)
        attribute = int(self.tree.attribute[node])
        if attribute == LEAF:
            return way, shares
        asked = self.schema.attributes[attribute]
        levels = tuple(map(to_python, asked.categories or ()))
        new = Condition(asked.name, levels=(), excluded=levels, unseen=self.unknown, is_unseen=True)
        return replace(way, conditions=(*way.conditions, new)), shares

    def reasons(self, table: Table, scored: Scored) -> tuple[np.ndarray, list[str]]:
        found = _Reasons(self, table)
        for node, rows in _by_end(scored.leaves):
            if not self.tree.shares_rows:
                found.add(node, rows, partial(self._way, node))
                continue
            for number, alike in _by_end(scored.classes[rows]):
                found.add((node, number), rows[alike], partial(self._way, node, number))
        return found.place, found.texts


class RuleScorer(RuleAnswers):
    def __init__(self, rules: RuleList) -> None:
        super().__init__(rules)
        self.kept = _Kept()
        self.asked = np.unique(rules.conditions.attribute).tolist()
        self.in_full = rules.conditions.substitutes is None

    def reasons(self, table: Table, scored: Scored) -> tuple[np.ndarray, list[str]]:
        found = _Reasons(self, table)
        for number, rows in _by_end(scored.leaves):
            if number >= 0:
                found.add(number, rows, partial(self._way, number))
            else:
                found.put(rows, f"OTHERWISE {readable_in_rule(self.rules.default_class)}")
        return found.place, found.texts

    def _way(self, number: int) -> _Way:
        return self.rules[number], None

    def identity(self) -> str:
        return _digest((self.rules.to_json(), repr(self.schema), self.policy, self.unknown))


def _digest(identity: object) -> str:
    return hashlib.sha256(repr(identity).encode()).hexdigest()


# A rule, and what goes that way, by the attribute that is missing.
_Way = tuple[Rule, Mapping[str, float] | None]


def _kept(known: dict[object, Found], key: object, make: Callable[[], Found]) -> Found:
    """What was made for an earlier batch, or else is made now."""
    found = known.get(key)
    if found is None:
        found = make()
        if len(known) >= CACHED_TEXTS:
            known.clear()
        known[key] = found
    return found


class _Kept:
    """What was made for earlier batches, by the end of rows."""

    def __init__(self) -> None:
        self.texts: dict[object, str] = {}
        self.ways: dict[object, tuple[RowReasons, _Way]] = {}


class _Reasons:
    """The texts of the rows of a table, and the place of each row's among them."""

    def __init__(self, scorer: TreeReasons | RuleScorer, table: Table) -> None:
        self.texts: list[str] = []
        self.place = np.empty(table.n_rows, dtype=np.int32)
        self._kept, self._in_full = scorer.kept, scorer.in_full
        self._values = Values(table, scorer.schema, scorer.unknown)
        # A rule in full says what becomes of missing values, but not that a level is one.
        states = (UNSEEN,) if scorer.in_full else (MISSING, UNSEEN)
        self._lacking = self._values.lacking(scorer.asked, states)

    def put(self, rows: np.ndarray, text: str) -> None:
        self.place[rows] = len(self.texts)
        self.texts.append(text)

    def add(self, key: object, rows: np.ndarray, way: Callable[[], _Way]) -> None:
        """Rows of one end, and the way there."""

        def whole() -> str:
            rule, _ = way()
            known = in_brackets(list(map(known_text, rule.conditions)))
            premise = premise_text(rule) if self._in_full else " AND ".join(known) or "anything"
            return f"IF {premise} THEN {readable_in_rule(rule.label)}"

        def reasons_of_way() -> tuple[RowReasons, _Way]:
            found = way()
            return RowReasons(found[0], self._values.schema), found

        self.put(rows, _kept(self._kept.texts, key, whole))
        rows = rows[self._lacking[rows]]
        if not len(rows):
            return
        reasons, (rule, shares) = _kept(self._kept.ways, key, reasons_of_way)
        for alike, premises in reasons.groups(self._values, rows):
            if self._in_full and UNSEEN not in premises[: len(rule.conditions)]:
                continue  # it lacks what was not asked for on its way
            make = partial(_reason, reasons, premises, rule, shares)
            self.put(alike, _kept(self._kept.texts, (key, *premises), make))


def _reason(reasons: RowReasons, premises: list[int], rule: Rule, shares: Any) -> str:
    return f"IF {reasons.premise(premises, shares)} THEN {readable_in_rule(rule.label)}"


def _by_end(ends: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of each end."""
    order = np.argsort(ends, kind="stable")
    first = np.flatnonzero(np.diff(ends[order], prepend=-2))
    for rows in np.split(order, first[1:]):
        if len(rows):
            yield int(ends[rows[0]]), rows
