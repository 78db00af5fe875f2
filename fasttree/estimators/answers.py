# SPDX-License-Identifier: BSD-3-Clause
"""What a model answers for the rows of a table that has been read as it reads tables: classes and shares, or numbers,
and leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fasttree.base.checks import check_unknown
from fasttree.estimators import RuleClassifier, TreeClassifier, TreeRegressor
from fasttree.rules import RuleList
from fasttree.tables.schema import Schema
from fasttree.tables.training import Table
from fasttree.trees.predict import ReadPolicy, leaves_of, scores_of


@dataclass(frozen=True, slots=True)
class Scored:
    """What a model says of each row: the number of its class (none, if it predicts numbers), the shares of the classes,
    the node or rule where it ended, and the number that is predicted."""

    classes: np.ndarray
    shares: np.ndarray | None
    leaves: np.ndarray
    numbers: np.ndarray | None = None


class Answers(Protocol):
    """A fitted model, whatever it is made of. Threads share it."""

    schema: Schema
    policy: ReadPolicy
    unknown: str

    def score(self, table: Table, with_shares: bool) -> Scored: ...


class _OfTree:
    def __init__(self, model: TreeClassifier | TreeRegressor) -> None:
        model._check_fitted()
        self.tree: Any = model.tree_
        self.schema: Schema = self.tree.schema
        self.policy = model._policy()
        self.unknown = check_unknown(model.unknown)


class TreeAnswers(_OfTree):
    def score(self, table: Table, with_shares: bool) -> Scored:
        found = scores_of(self.tree, table, self.policy, 1, with_shares)
        return Scored(found.classes, found.shares, found.leaves)


class NumberAnswers(_OfTree):
    def score(self, table: Table, with_shares: bool) -> Scored:
        leaves = leaves_of(self.tree, table, self.policy, 1)
        return Scored(np.empty(0, dtype=np.int32), None, leaves, self.tree.prediction[leaves])


class RuleAnswers:
    def __init__(self, rules: RuleList) -> None:
        self.rules = rules
        self.schema = rules.schema
        self.unknown = rules.unknown
        self.policy = ReadPolicy(rules.allow_missing, rules.unknown == "majority")
        self._labels = np.append(rules.label, rules.default)  # number -1 finds the default

    def score(self, table: Table, with_shares: bool) -> Scored:
        first = self.rules.match_table(table)
        return Scored(self._labels[first], self.rules.shares[first] if with_shares else None, first)


def tree_or_rules(model: Any) -> TreeClassifier | TreeRegressor | RuleList:
    """What a fitted model of fasttree answers by."""
    if isinstance(model, RuleClassifier):
        model._check_fitted()
        return model.rules_
    if isinstance(model, (TreeClassifier, TreeRegressor, RuleList)):
        return model
    raise TypeError(
        f"model is a {type(model).__name__}: pass a fitted estimator of fasttree, or one loaded with fasttree.load"
    )


def answers_of(model: Any) -> Answers:
    """Of a model that predicts classes."""
    found = tree_or_rules(model)
    if isinstance(found, TreeRegressor):
        raise TypeError(
            f"model is a {type(model).__name__}, which predicts numbers: pass a fitted classifier of fasttree"
        )
    return RuleAnswers(found) if isinstance(found, RuleList) else TreeAnswers(found)
