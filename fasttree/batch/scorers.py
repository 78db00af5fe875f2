# SPDX-License-Identifier: BSD-3-Clause
"""What a batch run asks of a model: classes, shares, leaves and rules of a table that has been read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from fasttree.estimators import RuleClassifier, TreeClassifier
from fasttree.export.names import readable_in_rule
from fasttree.export.rules_text import premise_text
from fasttree.frames import Table
from fasttree.params import check_unknown
from fasttree.rules import RuleList
from fasttree.rules.paths import rules_to
from fasttree.schema import Schema
from fasttree.scoring import Policy, scores_of

CACHED_TEXTS = 16_384  # a tree may have more leaves than there is memory for their texts


@dataclass(frozen=True, slots=True)
class Scored:
    """Of each row: the number of its class, its shares of the classes, and the place where it ended."""

    classes: np.ndarray
    shares: np.ndarray | None
    leaves: np.ndarray


class Scorer(Protocol):
    """A model, as rows of a batch need it. Threads share it."""

    schema: Schema
    policy: Policy
    unknown: str

    def score(self, table: Table, with_shares: bool) -> Scored: ...
    def texts(self, leaves: np.ndarray) -> list[str]: ...
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
        self._texts = _Texts()

    def score(self, table: Table, with_shares: bool) -> Scored:
        found = scores_of(self.tree, table, self.policy, 1, with_shares)
        return Scored(found.classes, found.shares, found.leaves)

    @cached_property
    def _ways(self) -> tuple[RuleList, np.ndarray]:
        """The way to each place where rows can end, and their numbers in that list."""
        ends = self.tree.is_leaf()
        if self.policy.stops_at_unknown:
            ends = np.ones(self.tree.node_count, dtype=bool)
        return rules_to(self.tree, np.flatnonzero(ends)), np.cumsum(ends) - 1

    def texts(self, leaves: np.ndarray) -> list[str]:
        rules, place_of = self._ways
        return self._texts.of(rules, place_of[leaves])

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
        self._texts = _Texts()

    def score(self, table: Table, with_shares: bool) -> Scored:
        first = self.rules.match_table(table)
        return Scored(self._labels[first], self.rules.shares[first] if with_shares else None, first)

    def texts(self, leaves: np.ndarray) -> list[str]:
        return self._texts.of(self.rules, leaves)

    def identity(self) -> str:
        said = (self.rules.to_json(), repr(self.schema), self.policy, self.unknown)
        return hashlib.sha256(repr(said).encode()).hexdigest()


class _Texts:
    """The texts of rules, those asked for lately kept."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def of(self, rules: RuleList, places: np.ndarray) -> list[str]:
        return [self._text(rules, place) for place in places.tolist()]

    def _text(self, rules: RuleList, place: int) -> str:
        text = self._known.get(place)
        if text is None:
            if place < 0:
                text = f"OTHERWISE {rules.default_class}"
            else:
                rule = rules[place]
                text = f"IF {premise_text(rule)} THEN {readable_in_rule(rule.label)}"
            if len(self._known) >= CACHED_TEXTS:
                self._known.clear()
            self._known[place] = text
        return text
