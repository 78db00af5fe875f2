# SPDX-License-Identifier: BSD-3-Clause
"""The methods of a study, each fitted to one half of a group and asked about the other."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.base.values import short_repr
from fasttree.encoding.dataset import Dataset
from fasttree.estimators import TreeClassifier
from fasttree.evaluation.compare import METHODS as ALL_METHODS
from fasttree.evaluation.fold_results import columns_of_rows
from fasttree.studies.groups import FEWEST_OF_A_CLASS, Group
from fasttree.studies.logistic import LogisticModel, complete_rows, fit_logistic
from fasttree.tables.doubts import speaking
from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.training import Table
from fasttree.trees.predict import ReadPolicy, shares_of

LOGISTIC, COMPLETE = "Logistic", "Logistic complete"
TREE_METHODS = {name: make for name, make in ALL_METHODS.items() if name not in ("tree", "rules")}
METHODS = (*TREE_METHODS, LOGISTIC)
# Whose trees are certain wherever a leaf has one class only, so that Laplace's estimate is worth a look.
COUNTING = ("ID3", "C4.5", "CART", "CART0")


@dataclass(frozen=True, eq=False)
class Halves:
    """What the methods share: the two halves of a group, and the training half encoded."""

    group: Group
    seed: int
    train: np.ndarray
    test: np.ndarray

    @classmethod
    def of(cls, group: Group, seed: int) -> Halves:
        return cls(group, seed, *group.halves(seed))

    @property
    def share(self) -> float:
        """The rows to be judged by for each one to learn from, which are about the same for all seeds."""
        return len(self.test) / len(self.train)

    def held_out(self) -> dict[str, Any]:
        """The test half as any fitted tree reads it; a level that the training half lacks is unknown to that."""
        columns: dict[str, Any] = columns_of_rows(self.group.table, self.test)
        return columns

    def columns(self, n_jobs: int | None) -> Dataset:
        return Dataset.of_table(
            self.group.table.take(self.train), self.group.target.take(self.train), n_jobs=n_jobs
        )


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The probabilities that a fitted method gives to rows of the test half."""

    method: str
    rows: np.ndarray  # which of the test half: all, but for complete cases
    n_train: int
    probability: np.ndarray
    laplace: np.ndarray | None
    attributes: tuple[str, ...]
    seconds: float
    model: Any  # TreeClassifier or LogisticModel


def check_methods(methods: Sequence[str] | str | None) -> tuple[str, ...]:
    """The names of methods, each once, in the order of a table."""
    if methods is None:
        return METHODS
    names = [methods] if isinstance(methods, str) else list(methods)
    known = {name.lower(): name for name in METHODS}
    unknown = [name for name in names if str(name).lower() not in known]
    if unknown:
        raise ValueError(
            f"methods must be some of {', '.join(map(repr, METHODS))}, got {short_repr(unknown[0])}"
        )
    if not names:
        raise ValueError("methods must have at least one name, got none: pass None for all methods")
    chosen = {known[str(name).lower()] for name in names}
    return tuple(name for name in METHODS if name in chosen)


def answers(halves: Halves, methods: Sequence[str], n_jobs: int | None) -> dict[str, Answer]:
    """Every method, fitted to the training half. Logistic regression comes a second time with complete cases, where
    some values are missing and enough rows have them all."""
    found: dict[str, Answer] = {}
    trees = [name for name in methods if name in TREE_METHODS]
    with speaking(None):  # of a half of a group
        columns = halves.columns(n_jobs) if trees else None
    for name in methods:
        found[name] = (
            logistic_answer(halves)
            if name == LOGISTIC
            else _tree_answer(name, halves, columns, n_jobs)
        )
    if LOGISTIC in methods:
        complete = _complete_answer(halves)
        if complete is not None:
            found[COMPLETE] = complete
    return found


def _tree_answer(name: str, halves: Halves, columns: Dataset | None, n_jobs: int | None) -> Answer:
    model: TreeClassifier = TREE_METHODS[name]().set_params(n_jobs=n_jobs)
    begin = time.perf_counter()
    with speaking(None):
        model.fit(columns)
    seconds = time.perf_counter() - begin
    tree = model.tree_
    table = read_table_for_schema(halves.held_out(), tree.schema)
    laplace = None
    if name in COUNTING:
        counts = tree.counts + 1
        smooth = dataclasses.replace(tree, proba=counts / counts.sum(axis=1, keepdims=True))
        laplace = shares_of(smooth, table, ReadPolicy(), n_jobs)[:, 1]
    used = np.unique(tree.attribute[tree.attribute >= 0]).tolist()
    return Answer(
        name,
        np.arange(len(halves.test)),
        len(halves.train),
        shares_of(tree, table, ReadPolicy(), n_jobs)[:, 1],
        laplace,
        tuple(tree.schema.attributes[place].name for place in used),
        seconds,
        model,
    )


def logistic_answer(halves: Halves) -> Answer:
    table, is_event = halves.group.table, halves.group.is_event
    begin = time.perf_counter()
    model = fit_logistic(table, halves.train, is_event[halves.train])
    seconds = time.perf_counter() - begin
    probability = model.predict(table, halves.test)
    rows = np.arange(len(halves.test))
    return _of_logistic(LOGISTIC, model, rows, probability, seconds)


def _complete_answer(halves: Halves) -> Answer | None:
    """Trained on the rows that have all values, and tested on those that have the values it asks for."""
    table, is_event = halves.group.table, halves.group.is_event
    complete = complete_rows(table)
    train = halves.train[complete[halves.train]]
    n_events = int(np.count_nonzero(is_event[train]))
    if complete.all() or min(n_events, len(train) - n_events) < FEWEST_OF_A_CLASS:
        return None
    begin = time.perf_counter()
    model = fit_logistic(table, train, is_event[train])
    seconds = time.perf_counter() - begin
    rows = np.flatnonzero(_known(table, model)[halves.test])
    is_test_event = is_event[halves.test[rows]]
    if min(np.count_nonzero(is_test_event), np.count_nonzero(~is_test_event)) < 2:
        return None
    probability = model.predict(table, halves.test[rows])
    return _of_logistic(COMPLETE, model, rows, probability, seconds)


def _known(table: Table, model: LogisticModel) -> np.ndarray:
    asked = set(model.attributes)
    assert table.columns is not None
    columns = tuple(column for column in table.columns if column.name in asked)
    return complete_rows(Table(table.n_rows, tuple(c.name for c in columns), True, None, columns))


def _of_logistic(
    name: str, model: LogisticModel, rows: np.ndarray, probability: np.ndarray, seconds: float
) -> Answer:
    n_train = len(model.is_event)
    return Answer(name, rows, n_train, probability, None, model.attributes, seconds, model)
