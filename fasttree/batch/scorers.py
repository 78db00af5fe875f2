# SPDX-License-Identifier: BSD-3-Clause
"""What a batch run asks of a model: classes, shares, leaves and rules of a table that has been read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from fasttree.estimators import RuleClassifier, TreeClassifier
from fasttree.export.names import readable_in_rule
from fasttree.export.rules_text import in_brackets, known_text, premise_text
from fasttree.frames import Table
from fasttree.params import check_unknown
from fasttree.rules import Condition, Rule, RuleList
from fasttree.rules.paths import rules_to
from fasttree.rules.reasons import UNSEEN, RowReasons, Values, shares_on_way
from fasttree.scalars import plain
from fasttree.schema import Schema
from fasttree.scoring import Policy, scores_of
from fasttree.tree import LEAF

CACHED_TEXTS = 16_384  # a tree may have more leaves than there is memory for their texts


@dataclass(frozen=True, slots=True)
class Scored:
    """Of each row: the number of its class, its shares of the classes, and the place where it ended."""

    classes: np.ndarray
    shares: np.ndarray | None
    leaves: np.ndarray


class Scorer(Protocol):
    """A model, as rows of a batch need it. Threads share it.

    `reasons`: why each row of a table got its class, as its place among some texts.
    """

    schema: Schema
    policy: Policy
    unknown: str

    def score(self, table: Table, with_shares: bool) -> Scored: ...
    def reasons(self, table: Table, scored: Scored) -> tuple[np.ndarray, list[str]]: ...
    def identity(self) -> str: ...


def scorer_of(model: Any) -> Scorer:
    if isinstance(model, RuleClassifier):
        model._check_fitted()
        return RuleScorer(model.rules_)
    if isinstance(model, RuleList):
        return RuleScorer(model)
    if isinstance(model, TreeClassifier):
        return TreeScorer(model)
    raise TypeError(
        f"model is a {type(model).__name__}: pass a fitted classifier of fasttree, or what fasttree.load returns"
    )


class TreeScorer:
    def __init__(self, model: TreeClassifier) -> None:
        model._check_fitted()
        self.tree = model.tree_
        self.schema = self.tree.schema
        self.policy = model._policy()
        self.unknown = check_unknown(model.unknown)
        self._texts: dict[object, str] = {}

    def score(self, table: Table, with_shares: bool) -> Scored:
        found = scores_of(self.tree, table, self.policy, 1, with_shares)
        return Scored(found.classes, found.shares, found.leaves)

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

    def _way(self, node: int) -> Rule:
        """The way to a node; a row that ends at an inner one does so for a level that training did not see."""
        rules, place_of = self._ways
        way = rules[int(place_of[node])]
        attribute = int(self.tree.attribute[node])
        if attribute == LEAF:
            return way
        asked = self.schema.attributes[attribute]
        levels = tuple(map(plain, asked.categories or ()))
        new = Condition(asked.name, levels=(), excluded=levels, unseen=self.unknown, is_unseen=True)
        return replace(way, conditions=(*way.conditions, new))

    def reasons(self, table: Table, scored: Scored) -> tuple[np.ndarray, list[str]]:
        in_full = not (self.tree.shares_rows or len(self.tree.surrogate_attribute))
        found = _Reasons(self, table, in_full, self._texts)
        for node, rows in _by_end(scored.leaves):
            way = self._way(node)
            if not self.tree.shares_rows:
                found.add(node, way, rows)
                continue
            for number, some in _by_end(scored.classes[rows]):
                label = plain(self.schema.classes[number])
                shares = shares_on_way(self.tree, node)
                found.add((node, number), replace(way, label=label), rows[some], shares)
        return found.place, found.texts

    def identity(self) -> str:
        said = (self.tree.fingerprint(), repr(self.schema), self.policy, self.unknown)
        return hashlib.sha256(repr(said).encode()).hexdigest()


class RuleScorer:
    def __init__(self, rules: RuleList) -> None:
        self.rules = rules
        self.schema = rules.schema
        self.unknown = rules.unknown
        self.policy = Policy(rules.allow_missing, rules.unknown == "majority")
        self._labels = np.append(rules.label, rules.default)  # number -1 finds the default
        self._texts: dict[object, str] = {}

    def score(self, table: Table, with_shares: bool) -> Scored:
        first = self.rules.match_table(table)
        return Scored(self._labels[first], self.rules.shares[first] if with_shares else None, first)

    def reasons(self, table: Table, scored: Scored) -> tuple[np.ndarray, list[str]]:
        found = _Reasons(self, table, self.rules.conditions.substitutes is None, self._texts)
        for number, rows in _by_end(scored.leaves):
            if number >= 0:
                found.add(number, self.rules[number], rows)
            else:
                found.put(rows, f"OTHERWISE {readable_in_rule(self.rules.default_class)}")
        return found.place, found.texts

    def identity(self) -> str:
        said = (self.rules.to_json(), repr(self.schema), self.policy, self.unknown)
        return hashlib.sha256(repr(said).encode()).hexdigest()


class _Reasons:
    """The texts of the rows of a table, and the place of each row's among them."""

    def __init__(
        self, scorer: Scorer, table: Table, in_full: bool, known: dict[object, str]
    ) -> None:
        """`in_full`: texts of whole rows say also what becomes of others. `known`: texts that were made before."""
        self.texts: list[str] = []
        self.place = np.empty(table.n_rows, dtype=np.int32)
        self._values = Values(table, scorer.schema, scorer.unknown)
        self._in_full = in_full
        self._known = known

    def put(self, rows: np.ndarray, text: str) -> None:
        self.place[rows] = len(self.texts)
        self.texts.append(text)

    def add(
        self, key: object, rule: Rule, rows: np.ndarray, shares: dict[str, float] | None = None
    ) -> None:
        """Rows to which a rule applies; `shares`: what goes its way, by the attribute that is missing."""
        reasons = RowReasons(rule, self._values.schema)

        def whole() -> str:
            known = in_brackets(list(map(known_text, rule.conditions)))
            return premise_text(rule) if self._in_full else " AND ".join(known) or "anything"

        self.put(rows, self._text(key, rule.label, whole))
        for some, said in reasons.groups(self._values, rows):
            if self._in_full and UNSEEN not in said[: len(rule.conditions)]:
                continue  # the rule says what becomes of missing values
            text = self._text((key, *said), rule.label, partial(reasons.premise, said, shares))
            self.put(some, text)

    def _text(self, key: object, label: object, premise: Callable[[], str]) -> str:
        text = self._known.get(key)
        if text is None:
            text = f"IF {premise()} THEN {readable_in_rule(label)}"
            if len(self._known) >= CACHED_TEXTS:
                self._known.clear()
            self._known[key] = text
        return text


def _by_end(ends: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of each end."""
    order = np.argsort(ends, kind="stable")
    first = np.flatnonzero(np.diff(ends[order], prepend=-2))
    for rows in np.split(order, first[1:]):
        if len(rows):
            yield int(ends[rows[0]]), rows
