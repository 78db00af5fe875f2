# SPDX-License-Identifier: BSD-3-Clause
"""What users pass to prune and to score by: is it what the method needs, validation rows as a model reads them, and how
many rows it gets right. And what a fitted estimator remembers: does it fit its tree?"""

from __future__ import annotations

from typing import Any

import numpy as np

from fasttree.base.errors import require
from fasttree.estimators.pruning_steps import Validation
from fasttree.pruning import CrossValidated, MessageLength, Significance, codes_of_classes
from fasttree.pruning.requirements import FOLDS, HELD_OUT, TRAINING_ROWS
from fasttree.stats.metrics import weighted_mean
from fasttree.stats.number_metrics import r2_score
from fasttree.tables.factors import check_same_kind
from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.schema import Schema
from fasttree.tables.training import read_numbers, read_target, read_weights
from fasttree.trees.predict import ReadPolicy
from fasttree.trees.regression_tree import RegressionTree
from fasttree.trees.tree import Tree


def check_given_whole(X_val: Any, y_val: Any) -> None:
    if (X_val is None) != (y_val is None):
        given, absent = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
        raise ValueError(f"{given} was passed without {absent}: pass both or neither")


def check_validation(pruner: Any, X_val: Any, y_val: Any) -> None:
    """Are validation rows given whole, and is there a use for them?"""
    check_given_whole(X_val, y_val)
    if X_val is None:
        return
    if pruner is None:
        raise ValueError(
            'X_val is used only for pruning, but pruning is None: set, for example, pruning="cost_complexity", or do '
            "not pass X_val and y_val"
        )
    if pruner.needs not in (HELD_OUT, FOLDS) or isinstance(pruner, CrossValidated):
        raise ValueError(
            f"X_val was passed, but {type(pruner).__name__} does not use validation rows: use "
            '"reduced_error" or "cost_complexity", or do not pass X_val and y_val'
        )


def check_enough(pruner: Any, X: Any, X_val: Any) -> None:
    """Is there what the pruning of a grown tree needs?"""
    name = type(pruner).__name__
    if pruner.needs == HELD_OUT and X_val is None:
        raise ValueError(f"{name} requires validation rows: pass X_val and y_val")
    if isinstance(pruner, MessageLength) and X is None:
        raise ValueError(
            f"{name} requires the training rows, to find the possible splits at each node: pass the X and y of fit"
        )
    if isinstance(pruner, Significance) and pruner.needs == TRAINING_ROWS and X is None:
        raise ValueError(
            f'{name}(test="selected") requires the training rows, to find the possible splits at each node: pass the X '
            f'and y of fit, or use {name}(test="naive"), which ignores that the splits were selected'
        )
    if pruner.needs == TRAINING_ROWS and X is None:
        raise ValueError(
            f"{name} with raising=True requires the training rows: pass the X and y of fit, or use "
            f"{name}(raising=False)"
        )
    if pruner.needs == FOLDS and X is None and X_val is None:
        other = (
            "" if isinstance(pruner, CrossValidated) else ", or validation rows as X_val and y_val"
        )
        raise ValueError(
            f"{name} requires the training rows, to grow a tree without each fold: pass the X and y of fit{other}"
        )


def read_validation(
    X_val: Any, y_val: Any, schema: Schema, unknown: str, policy: ReadPolicy
) -> Validation | None:
    if X_val is None:
        return None
    try:
        table = read_table_for_schema(X_val, schema, "the model", unknown)
        if schema.predicts_numbers:
            return Validation(table, read_numbers(y_val, table.n_rows, "y_val").values, policy)
        target = read_target(y_val, table.n_rows)
    except (TypeError, ValueError) as error:
        raise type(error)(f"validation rows X_val and y_val: {error}") from None
    codes = codes_of_classes(target.classes, target.codes, schema.classes)
    return Validation(table, codes, policy)


def accuracy(classes: np.ndarray, predicted: np.ndarray, y: Any, sample_weight: Any) -> float:
    """The share of rows that are classified rightly."""
    target = read_target(y, len(predicted))
    check_same_kind(target.classes, classes, "the model was fitted on")
    right = predicted == target.classes[target.codes]
    return weighted_mean(right, read_weights(sample_weight, len(predicted)))


def r2_of(predicted: np.ndarray, y: Any, sample_weight: Any) -> float:
    """R2 of predictions."""
    target = read_numbers(y, len(predicted))
    return r2_score(target.values, predicted, read_weights(sample_weight, len(predicted)))


def check_fit(model: Any, tree: Any) -> None:
    """Refuses an estimator, read from a file or a pickle, whose attributes are not those of its tree."""
    kind = RegressionTree if model._estimator_type == "regressor" else Tree
    require(isinstance(tree, kind), f"its tree is not a {kind.__name__} object")
    schema = tree.schema
    if kind is Tree:
        classes = model.classes_
        require(
            isinstance(classes, np.ndarray)
            and classes.dtype == schema.classes.dtype
            and np.array_equal(classes, schema.classes),
            "its classes differ from those of its tree",
        )
    require(
        model.n_features_in_ == len(schema.attributes)
        and tuple(getattr(model, "feature_names_in_", ()))
        == (schema.names if schema.named else ()),
        "its columns differ from those of its tree",
    )
