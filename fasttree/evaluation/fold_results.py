# SPDX-License-Identifier: BSD-3-Clause
"""One method on one fold: fitted to the rows outside, judged by the rows inside."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.base.sums import total
from fasttree.base.values import to_python
from fasttree.encoding.dataset import Dataset
from fasttree.encoding.draws import Folds, are_copies
from fasttree.estimators import TreeClassifier
from fasttree.estimators.protocol import Estimator
from fasttree.evaluation.comparison import FoldResult
from fasttree.stats import metrics
from fasttree.tables.categorical import Categorical
from fasttree.tables.doubts import speaking
from fasttree.tables.training import Column, Table, Target


@dataclass(frozen=True, slots=True)
class Rows:
    """The user's rows, as given and as read."""

    X: Any
    y: Any
    table: Table
    target: Target
    weight: np.ndarray | None
    groups: np.ndarray | None = None

    def split(self, folds: Folds, fold: int, max_bins: int | None, n_jobs: int | None) -> Split:
        weight = np.ones(self.table.n_rows) if self.weight is None else self.weight
        held = folds.weights(fold)
        kept = weight - held
        train, test = np.flatnonzero(kept), np.flatnonzero(held)
        if not len(train):
            raise ValueError(
                f"fold {fold} contains all rows of weight above 0, which leaves no training rows: use other folds"
            )
        # Encoded fold by fold, since codes of all rows would tell a model which levels and classes there are.
        columns = Dataset.of_table(
            self.table.take(train),
            self.target.take(train),
            max_bins=max_bins,
            n_jobs=n_jobs,
            weight=None if self.weight is None else kept[train],
        )
        held_out = columns_of_rows(self.table, test)
        return Split(fold, columns, held_out, train, test, kept[train], held[test], self)

    def labels(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.target.classes[self.target.codes[rows]])


@dataclass(frozen=True, slots=True)
class Split:
    """What the methods of a fold share."""

    fold: int
    columns: Dataset  # of the training rows
    held_out: Any  # the same columns of the rows of the fold, for estimators of fasttree
    train: np.ndarray
    test: np.ndarray  # a row whose weight is divided is in both
    train_weight: np.ndarray
    test_weight: np.ndarray
    rows: Rows


def columns_of_rows(table: Table, rows: np.ndarray) -> Any:
    """Rows of a table in a form that estimators of fasttree read fast: labels need not be looked up one by one. Columns
    have all the levels of the table, also those without a row here."""
    if table.matrix is not None:
        return table.matrix[rows]
    assert table.columns is not None
    keys = table.names if table.named else range(len(table.names))
    return {key: _values_of(column, rows) for key, column in zip(keys, table.columns, strict=True)}


def _values_of(column: Column, rows: np.ndarray) -> Any:
    if column.values is not None:
        return column.take(rows).numbers()
    assert column.codes is not None
    if not column.categories:
        return np.full(len(rows), np.nan)
    return Categorical.from_codes(column.codes[rows] - 1, column.categories)


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """Some rows of a table of the user's, as a table of the same kind."""
    if isinstance(X, np.ndarray):
        return X[rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, Mapping):
        return {name: take_rows(column, rows) for name, column in X.items()}
    if isinstance(X, Categorical):
        return Categorical.from_codes(X.codes[rows], X.categories, ordered=X.ordered)
    if isinstance(X, (list, tuple)):
        return [X[row] for row in rows.tolist()]
    if hasattr(X, "take"):
        return X.take(rows)
    return X[rows]


def judge(name: str, method: Any, split: Split, takes_columns: bool, repeat: int = 0) -> FoldResult:
    """Fit a copy of the method to the training rows of a split, and say how it does on the others."""
    model, rows = copy.deepcopy(method), split.rows
    weight: np.ndarray | None = split.train_weight
    held_weight: np.ndarray | None = split.test_weight
    if rows.weight is None:
        weight = held_weight = None
    own = {}
    if rows.groups is not None and isinstance(model, Estimator):  # for its pruning
        own["groups"] = rows.groups[split.train]
    if takes_columns:
        data: tuple[Any, ...] = (split.columns,)
        held_out = split.held_out
    else:
        # fasttree reads any y, and the order of classes that it may declare; others are given plain labels.
        is_own = isinstance(model, Estimator)
        labels = take_rows(rows.y, split.train) if is_own else rows.labels(split.train)
        data = (take_rows(rows.X, split.train), labels)
        held_out = take_rows(rows.X, split.test)
    begin = time.perf_counter()
    with speaking(None):  # of a part of the rows, which the user has not given
        if weight is None:
            model.fit(*data, **own)
        elif hasattr(model, "steps"):  # a Pipeline passes weights on to the step that is named
            model.fit(*data, **{f"{model.steps[-1][0]}__sample_weight": weight})
        else:
            model.fit(*data, sample_weight=weight, **own)
    seconds = time.perf_counter() - begin
    known, true = rows.target.classes, rows.labels(split.test)
    proba = _with_all_classes(np.asarray(model.predict_proba(held_out)), model.classes_, known)
    # The target's class numbers stand for the labels, which may be of any sort.
    truth = {
        "y": rows.target.codes[split.test],
        "classes": range(len(known)),
        "sample_weight": held_weight,
    }
    predicted = np.asarray(model.predict(held_out))
    leaves, nodes, depth, attributes = _size(model)
    return FoldResult(
        method=name,
        fold=split.fold,
        n_train=_n_rows(split.train_weight),
        n_test=_n_rows(split.test_weight),
        accuracy=metrics.accuracy(true, predicted, sample_weight=held_weight),
        auc=metrics.roc_auc(scores=proba, **truth),
        auc_se=metrics.roc_auc_se(scores=proba, **truth),
        log_loss=metrics.log_loss(probabilities=proba, **truth),
        brier=metrics.brier_score(probabilities=proba, **truth),
        leaves=leaves,
        nodes=nodes,
        depth=depth,
        attributes=attributes,
        fit_seconds=seconds,
        repeat=repeat,
    )


def _n_rows(weight: np.ndarray) -> int:
    """How many rows these are; whole weights are copies."""
    return int(total(weight)) if are_copies(weight) else len(weight)


def _with_all_classes(proba: np.ndarray, of_model: Any, known: np.ndarray) -> np.ndarray:
    """A column for each class of y; 0 for those that the model has never seen."""
    column_of = {to_python(label): column for column, label in enumerate(known)}
    table = np.zeros((len(proba), len(known)))
    table[:, [column_of[to_python(label)] for label in of_model]] = proba
    return table


def _size(model: Any) -> tuple[float, float, float, float]:
    """Leaves, nodes, depth and the number of attributes asked for; NaN for what a model does not say."""
    model = model.steps[-1][1] if hasattr(model, "steps") else model
    leaves = float(model.get_n_leaves()) if hasattr(model, "get_n_leaves") else np.nan
    depth = float(model.get_depth()) if hasattr(model, "get_depth") else np.nan
    nodes, attribute = np.nan, None
    tree: Any = getattr(model, "tree_", None)
    if isinstance(model, TreeClassifier):
        nodes, attribute = float(tree.size), tree.attribute
    elif hasattr(tree, "feature") and hasattr(tree, "node_count"):  # scikit-learn's
        nodes, attribute = float(tree.node_count), tree.feature
    n_attributes = np.nan if attribute is None else float(len(np.unique(attribute[attribute >= 0])))
    return leaves, nodes, depth, n_attributes
