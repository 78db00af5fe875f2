# SPDX-License-Identifier: BSD-3-Clause
"""Small models of every kind, that mutants are made of."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import fasttree
from fasttree.base.times import Times
from fasttree.pruning import CostComplexity


def table(n_rows: int = 90, seed: int = 0) -> tuple[dict[str, Any], np.ndarray]:
    """Numbers, text, ordered levels and a bool, with missing values, and three classes."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n_rows)
    weight = size + rng.normal(scale=0.5, size=n_rows)
    colour = np.array(["red", "grün", 'a,"b"\'', "нет"], dtype=object)[rng.integers(0, 4, n_rows)]
    grade = np.array(["low", "mid", "high"], dtype=object)[np.digitize(size, (-0.5, 0.5))]
    y = np.where(colour == "red", "yes", np.where(size + rng.normal(size=n_rows) > 0, "no", "Ω"))
    for column in (colour, grade):
        column[rng.random(n_rows) < 0.1] = None
    size[rng.random(n_rows) < 0.1] = np.nan
    columns = {
        "size": size,
        "weight": weight,
        "colour": colour,
        "grade": fasttree.Categorical(grade, ["low", "mid", "high"], ordered=True),
        "flag": rng.random(n_rows) < 0.5,
    }
    return columns, y


def models(n_rows: int = 90) -> list[Any]:
    """Fitted, in an order that stays."""
    X, y = table(n_rows)
    numbers = np.random.default_rng(1).normal(size=(60, 3))
    codes = (numbers[:, 0] > 0).astype(int) + (numbers[:, 1] > 0)
    amounts = np.where(y == "yes", 3.5, np.nan_to_num(X["size"])) + X["weight"] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # folds that shrink
        return [
            fasttree.TreeClassifier().fit(numbers, codes),
            fasttree.TreeClassifier(max_depth=0).fit(numbers, codes),
            fasttree.TreeClassifier(class_weight="balanced").fit(X, y),
            fasttree.TreeClassifier(
                misclassification_cost=1.0 - np.eye(3), missing="category", unknown="majority"
            ).fit(X, y),
            fasttree.TreeClassifier(categorical_split="grouped", missing="fractional").fit(X, y),
            fasttree.ID3Classifier().fit(X, y),
            fasttree.C45Classifier(attribute_costs={"size": 3.0}).fit(X, y),
            fasttree.CARTClassifier(pruning=None).fit(X, y),
            fasttree.CARTClassifier(pruning=CostComplexity(folds=3, se=0.0)).fit(X, y),
            fasttree.SMMLClassifier().fit(X, y),
            fasttree.MMLClassifier().fit(X, y),
            fasttree.BayesTreeClassifier().fit(numbers, codes),
            fasttree.RuleClassifier().fit(X, y),
            fasttree.RuleClassifier(base=fasttree.CARTClassifier(pruning=None)).fit(X, y),
            fasttree.TreeClassifier().fit(_times(n_rows), y),
            fasttree.TreeClassifier(min_category_count=n_rows // 4).fit(X, y),
            fasttree.RuleClassifier(
                base=fasttree.CARTClassifier(
                    pruning=None, min_category_count=n_rows // 4, unknown="majority"
                )
            ).fit(X, y),
            fasttree.TreeRegressor().fit(numbers, numbers[:, 0] + np.floor(numbers[:, 1])),
            fasttree.TreeRegressor(
                missing="category", unknown="majority", min_category_count=n_rows // 4
            ).fit(X, amounts),
            fasttree.CARTRegressor(pruning=CostComplexity(folds=3, se=0.0)).fit(X, amounts),
        ]


def _times(n_rows: int) -> dict[str, np.ndarray]:
    counts = np.random.default_rng(2).integers(0, 10**15, (2, n_rows))
    return {"day": counts[0].astype("M8[us]"), "stay": counts[1].astype("m8[us]")}


def rows_for(schema: Any) -> Any:
    """Rows with all that may come: missing, infinite, on and beside nothing in particular, unknown levels."""
    numbers = [float("nan"), float("inf"), float("-inf"), -0.0, 0.3, -1.7, 1e300, 5e-324]
    if all(
        attribute.categories is None and attribute.time is None for attribute in schema.attributes
    ):
        columns = [numbers[place:] + numbers[:place] for place in range(len(schema.attributes))]
        return np.array(columns).T
    columns = {}
    for place, attribute in enumerate(schema.attributes):
        if attribute.categories is None:
            values: list[Any] = numbers[place % 8 :] + numbers[: place % 8]
            column = np.array(values)
            columns[attribute.name] = (
                column if attribute.time is None else Times(attribute.time, column)
            )
            continue
        # A column of several types is refused, so the levels are those of the first one's type.
        kind = type(next(iter(attribute.seen_levels), None))
        levels = [level for level in attribute.seen_levels if type(level) is kind][:5]
        if kind is str:
            levels.append("never seen")
        elif kind is tuple:  # a level that only a library's column of categories can hold
            levels = []
        values = (([None, *levels]) * 8)[:8]
        columns[attribute.name] = np.array([*values, None], dtype=object)[:-1]
    return columns
