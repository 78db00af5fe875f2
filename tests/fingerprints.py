# SPDX-License-Identifier: BSD-3-Clause
"""Every estimator on tables of some size, as one short text each: equal texts are equal models, to the last bit.

``python fingerprints.py FILE`` writes all of them to a JSON file, so that another process can compare its own.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fasttree
from fasttree import (
    BayesTreeClassifier,
    C45Classifier,
    CARTClassifier,
    ID3Classifier,
    MMLClassifier,
    RuleClassifier,
    SMMLClassifier,
    TreeClassifier,
)
from fasttree.growth.params import BY_CHANCE
from fasttree.pruning import METHODS

N_ROWS = 1200
TABLES = ("numbers", "categories", "holes")
WEIGHTS = ("none", "whole", "fractional")
MODELS: dict[str, Callable[[], Any]] = {
    **{
        f"{criterion} tree": lambda criterion=criterion: TreeClassifier(criterion=criterion)
        for criterion in ("gini", "entropy", "gain_ratio", "misclassification")
    },
    **{
        f"{criterion} tree": lambda criterion=criterion: TreeClassifier(
            criterion=criterion, max_depth=4
        )
        for criterion in BY_CHANCE
    },
    "binned tree": lambda: TreeClassifier(max_bins=20, class_weight="balanced"),
    "tree of groups": lambda: TreeClassifier(
        criterion="gain_ratio", categorical_split="grouped", n_jobs=2
    ),
    **{
        f"{pruning} tree": lambda pruning=pruning: TreeClassifier(pruning=pruning, random_state=0)
        for pruning in METHODS
    },
    "ID3": ID3Classifier,
    "C4.5": C45Classifier,
    "CART": lambda: CARTClassifier(random_state=0),
    "SMML": SMMLClassifier,
    "MML": MMLClassifier,
    "Bayes": BayesTreeClassifier,
    "rules": lambda: RuleClassifier(base=C45Classifier(max_depth=5)),
}


class Table(NamedTuple):
    X: dict[str, np.ndarray]
    y: np.ndarray


def _codes(rng: np.random.Generator, n_levels: int) -> np.ndarray:
    return rng.integers(0, n_levels, N_ROWS)


@cache
def table(name: str) -> Table:
    """Drawn without a logarithm or sine, which are not the same to the last bit in every C library."""
    rng = np.random.default_rng(TABLES.index(name))
    X: dict[str, np.ndarray] = {f"x{place}": rng.random(N_ROWS) for place in range(4)}
    X["eighths"] = _codes(rng, 60) / 8
    score = (X["x0"] > 0.4) + 2.0 * (X["x1"] * X["x2"] > 0.2) + (X["eighths"] > 3)
    if name != "numbers":
        for n_levels in (3, 9, 30):
            codes = _codes(rng, n_levels)
            X[f"of {n_levels}"] = np.array([f"level {code}" for code in range(n_levels)])[codes]
            score += codes % 3 == 1
    if name == "holes":
        for column, values in list(X.items()):
            empty = rng.random(N_ROWS) < 0.1
            holed = values.astype(object) if values.dtype.kind == "U" else values.copy()
            holed[empty] = None if holed.dtype == object else np.nan
            X[column] = holed
    wrong = rng.random(N_ROWS) < 0.1
    return Table(X, np.where(wrong, _codes(rng, 3), np.minimum(score.astype(np.int64) // 2, 2)))


@cache
def weights(name: str) -> np.ndarray | None:
    rng = np.random.default_rng(10)
    return {"none": None, "whole": _codes(rng, 4) * 1.0, "fractional": rng.random(N_ROWS)}[name]


def cases() -> list[tuple[str, str, str]]:
    """(model, table, weights): the measures that allow for chance count rows, so they take no fractions."""
    return [
        (model, name, weight)
        for model in MODELS
        for name in TABLES
        for weight in WEIGHTS
        if not (model.removesuffix(" tree") in BY_CHANCE and weight == "fractional")
    ]


@cache
def fitted(model: str, name: str, weight: str) -> Any:
    X, y = table(name)
    return MODELS[model]().fit(X, y, sample_weight=weights(weight))


def fingerprint(model: str, name: str, weight: str) -> str:
    """The tree, or the rules, and what they say of every row."""
    found = fitted(model, name, weight)
    digest = hashlib.sha256(np.ascontiguousarray(found.predict_proba(table(name).X)).data)
    if isinstance(found, RuleClassifier):
        digest.update(found.rules_.to_text().encode())
    else:
        digest.update(found.tree_.fingerprint().encode())
    return digest.hexdigest()[:16]


def growth(name: str, weight: str) -> str:
    """What four trees asked and counted, without the digits of a measure: the same wherever it was written down."""
    digest = hashlib.sha256()
    for model in ("gini tree", "entropy tree", "gain_ratio tree", "misclassification tree"):
        X, y = table(name)
        clf = MODELS[model]().set_params(ties="schema")
        tree = clf.fit(X, y, sample_weight=weights(weight)).tree_
        for array, kind in ((tree.attribute, "<i8"), (tree.threshold, "<f8"), (tree.pred, "<i8")):
            digest.update(np.ascontiguousarray(array, dtype=kind).data)
    return digest.hexdigest()[:16]


def main() -> None:
    file = Path(sys.argv[1])
    found = {" / ".join(case): fingerprint(*case) for case in cases()}
    file.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(f"{len(found)} fingerprints of the core {fasttree._core.__file__}")


if __name__ == "__main__":
    main()
