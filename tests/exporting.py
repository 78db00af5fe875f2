# SPDX-License-Identifier: BSD-3-Clause
"""What every exporter is tested with: models of all methods on many tables, and rows that mean harm.

`MODELS` has an id for each model, `model(id)` fits it once. `hostile_rows(model)` are rows that look for the gaps of an
export, `answers(model, rows)` what it has to say of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from exporting_tables import TABLES

import fasttree
from fasttree import (
    BayesTreeClassifier,
    C45Classifier,
    CARTClassifier,
    ID3Classifier,
    MMLClassifier,
    SMMLClassifier,
    TreeClassifier,
)
from fasttree.base.values import to_python

UNSEEN = "never seen: ☃'\"\n--"

METHODS: dict[str, Callable[[], Any]] = {
    "gini": TreeClassifier,
    "entropy, category": lambda: TreeClassifier(criterion="entropy", missing="category"),
    "multiway, majority": lambda: TreeClassifier(categorical_split="multiway", unknown="majority"),
    "refusing": lambda: TreeClassifier(missing="error", unknown="error"),
    "refusing missing values": lambda: TreeClassifier(missing="error"),
    "refusing unknown levels": lambda: TreeClassifier(unknown="error"),
    "id3": ID3Classifier,
    "id3, majority": lambda: ID3Classifier(unknown="majority"),
    "c45": C45Classifier,
    "c45 unpruned": lambda: C45Classifier(pruning=None, min_samples_leaf=1, min_samples_split=2),
    "j48": lambda: C45Classifier(compat="j48"),
    "grouped": lambda: C45Classifier(categorical_split="grouped", pruning=None),
    "cart": CARTClassifier,
    "cart unpruned": lambda: CARTClassifier(pruning=None),
    "cart, majority": lambda: CARTClassifier(pruning=None, unknown="majority"),
    "smml": SMMLClassifier,
    "mml": MMLClassifier,
    "bayes": lambda: BayesTreeClassifier(unknown="majority"),
    "balanced": lambda: ID3Classifier(class_weight="balanced"),
    "costs": lambda: TreeClassifier(missing="fractional", misclassification_cost="cyclic"),
    "subset, fractional": lambda: TreeClassifier(missing="fractional", criterion="entropy"),
    "leaf": lambda: TreeClassifier(max_depth=1, min_samples_split=10**6),
}

# Where levels of few rows count as one: of tables that have such, with so many rows.
FEW: dict[str, Callable[[], Any]] = {
    "few": TreeClassifier,
    "few, majority": lambda: TreeClassifier(categorical_split="multiway", unknown="majority"),
    "few, refusing": lambda: TreeClassifier(categorical_split="grouped", unknown="error"),
    "few, c45": lambda: C45Classifier(pruning=None),
    "few, cart": lambda: CARTClassifier(pruning=None),
}
FEW_ROWS = {"holes": 49, "wicked": 12, "numbers as levels": 48, "many levels": 9}


def methods_of(table: str) -> list[str]:
    return [*METHODS, *(FEW if table in FEW_ROWS else ())]


MODELS = [f"{table}: {method}" for table in TABLES for method in methods_of(table)]


@cache
def model(identity: str) -> Any:
    """A fitted model."""
    table, method = identity.split(": ", 1)
    X, y, parameters = TABLES[table]()
    made = (METHODS | FEW)[method]().set_params(**parameters)
    if method in FEW:
        made.set_params(min_category_count=FEW_ROWS[table])
    if getattr(made, "misclassification_cost", None) == "cyclic":
        n_classes = len(set(np.asarray(y).tolist()))
        cost = np.add.outer(np.arange(n_classes) * 1.5, np.arange(n_classes)) + 1.0
        np.fill_diagonal(cost, 0.0)
        made.set_params(misclassification_cost=cost)
    if made.missing == "error":
        X, y = _complete(X, y)
    return made.fit(X, y)


def _complete(X: Any, y: Any) -> tuple[Any, Any]:
    """The rows without holes; where there are none, all with the holes filled."""
    filled = {}
    for name, column in X.items():
        values = np.asarray(column)
        holes = np.array([_is_missing(v) for v in values.tolist()])
        known = values[~holes]
        values = values.copy()
        values[holes] = known[0]
        if isinstance(column, fasttree.Categorical):
            filled[name] = fasttree.Categorical(values, column.categories, ordered=column.ordered)
        else:
            filled[name] = values
    return filled, y


@dataclass(frozen=True)
class Rows:
    """Rows as plain Python values, a column each; None and NaN are missing."""

    columns: dict[str, list[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def take(self, places: Any) -> Rows:
        return Rows({name: [v[i] for i in places] for name, v in self.columns.items()})

    def dicts(self) -> list[dict[str, Any]]:
        return [
            dict(zip(self.columns, row, strict=True))
            for row in zip(*self.columns.values(), strict=True)
        ]

    def table(self, fitted: Any) -> dict[str, np.ndarray]:
        """As the model reads them."""
        table = {}
        for attribute in fitted.tree_.schema.attributes:
            values = self.columns[attribute.name]
            if attribute.categories is None:
                table[attribute.name] = np.array(
                    [math.nan if v is None else v for v in values], dtype=np.float64
                )
            else:
                column = np.empty(len(values), dtype=object)
                column[:] = values
                table[attribute.name] = column
        return table


@dataclass(frozen=True)
class Answers:
    """What the model says of the rows that it does not refuse."""

    refused: np.ndarray  # one a row, as a mask; the others are of the other rows alone
    classes: list[Any]  # plain Python values
    proba: np.ndarray
    leaves: list[int]

    @property
    def accepted(self) -> list[int]:
        return np.flatnonzero(~self.refused).tolist()


def refused_rows(fitted: Any, rows: Rows) -> np.ndarray:
    """Which rows the model refuses, as a mask."""
    refused = np.zeros(len(rows), dtype=bool)
    for attribute in fitted.tree_.schema.attributes:
        for i, value in enumerate(rows.columns[attribute.name]):
            missing = _is_missing(value)
            levels = attribute.seen_levels
            unknown = attribute.is_categorical and not missing and value not in levels
            refused[i] |= (missing and fitted.missing == "error") or (
                unknown and fitted.unknown == "error"
            )
    return refused


def answers(fitted: Any, rows: Rows) -> Answers:
    refused = refused_rows(fitted, rows)
    places = np.flatnonzero(~refused).tolist()
    if not places:
        return Answers(refused, [], np.empty((0, len(fitted.classes_))), [])
    table = rows.take(places).table(fitted)
    classes = [to_python(label) for label in fitted.predict(table).tolist()]
    return Answers(refused, classes, fitted.predict_proba(table), fitted.apply(table).tolist())


def hostile_rows(fitted: Any, seed: int = 0, most_thresholds: int = 60) -> Rows:
    """Rows on and beside every threshold, without values, with values that nobody has seen, ..."""
    rng = np.random.default_rng(seed)
    attributes = fitted.tree_.schema.attributes
    usual = {a.name: _usual_values(fitted, place) for place, a in enumerate(attributes)}
    rows: list[dict[str, Any]] = []

    def some(**changes: Any) -> None:
        row = {name: values[rng.integers(len(values))] for name, values in usual.items()}
        rows.append(row | changes)

    for _ in range(40):
        some()
    for place, attribute in enumerate(attributes):
        name = attribute.name
        for value in _odd_values(attribute):
            some(**{name: value})
        if attribute.categories is None:
            thresholds = _thresholds(fitted, place)
            if len(thresholds) > most_thresholds:
                thresholds = rng.choice(thresholds, most_thresholds, replace=False).tolist()
            for threshold in thresholds:
                for value in _neighbours(threshold):
                    some(**{name: value})
        else:
            for level in (*attribute.seen_levels[:30], *(attribute.others or ())[:30]):
                some(**{name: level})
    rows.append(dict.fromkeys(usual))
    for share in (0.2, 0.5, 0.8):
        for _ in range(30):
            gone = {name: None for name in usual if rng.random() < share}
            some(**gone)
    for _ in range(20):
        some(**{a.name: rng.choice(np.array([*_odd_values(a)], dtype=object)) for a in attributes})
    return Rows({name: [row[name] for row in rows] for name in usual})


def _usual_values(fitted: Any, place: int) -> list[Any]:
    attribute = fitted.tree_.schema.attributes[place]
    if attribute.categories is not None:
        return list(attribute.seen_levels) or [None]
    thresholds = _thresholds(fitted, place) or [0.0]
    spread = max(thresholds) - min(thresholds)
    if not math.isfinite(spread) or spread == 0:
        return [0.0, 1.0, *thresholds]
    return [*np.linspace(min(thresholds) - spread / 9, max(thresholds) + spread / 9, 23).tolist()]


def _thresholds(fitted: Any, place: int) -> list[float]:
    """Of tests and of surrogates."""
    tree = fitted.tree_
    found = np.concatenate(
        [
            tree.threshold[tree.attribute == place],
            tree.surrogate_threshold[tree.surrogate_attribute == place],
        ]
    )
    return np.unique(found[np.isfinite(found)]).tolist()


def _neighbours(threshold: float) -> list[float]:
    return [
        threshold,
        float(np.nextafter(threshold, -math.inf)),
        float(np.nextafter(threshold, math.inf)),
    ]


def _odd_values(attribute: Any) -> list[Any]:
    if attribute.categories is None:
        large, denormal = float(np.finfo(float).max), 5e-324
        odd = [None, math.nan, math.inf, 0.0, -0.0, large, denormal, 1e22, 0.1 + 0.2, 1 / 3]
        return odd + [-v for v in odd[2:]]
    if not attribute.categories:
        return [None]
    levels = attribute.seen_levels
    example = levels[0]
    if isinstance(example, str):  # also what those of few rows are called together
        name = attribute.categories[-1]
        return [None, UNSEEN, "", " ", name, *(level + " " for level in levels[:2])]
    if isinstance(example, bool):
        return [None]
    return [None, max(levels) + 12345]


def _is_missing(value: Any) -> bool:
    return value is None or value != value
