# SPDX-License-Identifier: BSD-3-Clause
"""A matrix of fitted models whose fingerprints, texts, rules and exports are on record in tests/data/recorded.

A change of the inside must leave all of it alone. A change of results, or of wording, shows in the diff of the record:

    python tests/recorded_models.py            what differs from the record
    python tests/recorded_models.py --write    make it anew

The tables are made of whole numbers, so that they are the same wherever numpy runs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import fasttree
from fasttree import datasets, pruning

RECORD = Path(__file__).resolve().parent / "data" / "recorded"
FORMATS = ("text", "dot", "svg", "json", "sql", "python", "c", "pmml")
RULE_FORMATS = ("text", "markdown", "json", "python")
# Of these the texts are on record whole, so that a diff can be read.
READABLE = ("mammals", "tennis", "temperature", "holes/missing=")
LONGEST_READABLE = 6_000  # characters


@dataclass(frozen=True)
class Table:
    X: Any
    y: Any
    whole: np.ndarray
    fractional: np.ndarray
    ordered: list[str]


def noise(rng: np.random.Generator, n: int) -> np.ndarray:
    """Something like a normal distribution, in 256ths."""
    return (rng.integers(-256, 257, size=(n, 6)).sum(axis=1)) / 256.0


@cache
def made(kind: str, n_classes: int = 2, n: int = 240) -> Table:
    rng = np.random.default_rng(97 * n_classes + n)
    age, dose, lab = noise(rng, n), np.round(noise(rng, n) * 4) / 4, noise(rng, n)
    town = rng.integers(0, 9, n)
    grade = rng.integers(0, 4, n)
    score = age + dose * (grade - 1.5) + (town % 3 - 1) + noise(rng, n) / 2
    y = np.clip(np.floor((score + 3) * n_classes / 6), 0, n_classes - 1).astype(int)
    towns = np.array([f"town {chr(97 + t)}" for t in town], dtype=object)
    grades = np.array(["low", "mild", "high", "top"], dtype=object)[grade]
    numbers = {"age": age, "dose": dose, "lab": lab}
    if kind == "holes":
        for column in numbers.values():
            column[rng.integers(0, 8, n) == 0] = np.nan
        towns[rng.integers(0, 8, n) == 0] = None
    X: dict[str, Any] = dict(numbers)
    if kind != "numbers":
        X["town"] = towns
        X["grade"] = fasttree.Categorical(grades, ["low", "mild", "high", "top"])
    whole, fractional = rng.integers(0, 4, n).astype(float), rng.integers(1, 2000, n) / 1024.0
    return Table(
        X, np.array(["no", "maybe", "yes", "sure", "other"])[y], whole, fractional, ["grade"]
    )


@cache
def built_in(name: str) -> Table:
    X, y = {
        "tennis": datasets.play_tennis,
        "computer": datasets.buys_computer,
        "mammals": datasets.mammals,
        "temperature": datasets.temperature,
    }[name]()[:2]
    n = len(y)
    return Table(X, y, 1.0 + np.arange(n) % 3, 0.5 + (np.arange(n) % 5) / 4.0, [])


ESTIMATORS = {
    "tree": fasttree.TreeClassifier,
    "id3": fasttree.ID3Classifier,
    "c45": fasttree.C45Classifier,
    "cart": fasttree.CARTClassifier,
    "smml": fasttree.SMMLClassifier,
    "mml": fasttree.MMLClassifier,
    "bayes": fasttree.BayesTreeClassifier,
    "rules": fasttree.RuleClassifier,
}
REGRESSORS: dict[str, Callable[[], Any]] = {
    "tree": fasttree.TreeRegressor,
    "cart": fasttree.CARTRegressor,
    "cart rpart": lambda: fasttree.CARTRegressor(compat="rpart", pruning=None),
    "bins": lambda: fasttree.TreeRegressor(max_bins=8, pruning="cost_complexity"),
    "multiway": lambda: fasttree.TreeRegressor(
        categorical_split="multiway", missing="category", min_samples_leaf=3
    ),
    "leaves": lambda: fasttree.TreeRegressor(
        max_leaves=9, missing="surrogate", threshold="value", unknown="majority"
    ),
}
CRITERIA = (
    "gini", "entropy", "gain_ratio", "misclassification", "message_length", "evidence", "ami", "smi",
    "adjusted_gini", "ad", "confidence_entropy",
)  # fmt: skip
METHODS: dict[str, Any] = {
    "reduced_error": pruning.ReducedError(method="greedy"),
    "error_based": pruning.ErrorBased(),
    "error_based normal": pruning.ErrorBased(estimate="normal"),
    "error_based binomial": pruning.ErrorBased(estimate="binomial", raising=False),
    "cost_complexity": pruning.CostComplexity(),
    "cost_complexity 0": pruning.CostComplexity(se=0),
    "leaf_penalty": pruning.LeafPenalty(),
    "message_length": pruning.MessageLength(),
    "significance": pruning.Significance(),
    "cross_validated": pruning.CrossValidated(folds=4),
}
MISTAKES = {
    "no": {"maybe": 1, "yes": 3},
    "maybe": {"no": 2, "yes": 1},
    "yes": {"no": 9, "maybe": 1},
}
Cell = tuple[str, Callable[[], Any], Table, "np.ndarray | None"]


def cells() -> Iterator[Cell]:
    """Name, estimator, table and weights of every cell."""
    tables = {
        "numbers": made("numbers"),
        "mixed": made("mixed"),
        "holes": made("holes"),
        "holes5": made("holes", 5, 400),
    }
    weights = ("none", "whole", "fractional")

    def cell(name: str, make: Callable[[], Any], table: Table, weight: str = "none") -> Cell:
        row_weights = None if weight == "none" else getattr(table, weight)
        return (name if weight == "none" else f"{name}/{weight}", make, table, row_weights)

    for where, table in tables.items():
        for name, kind in ESTIMATORS.items():
            for weight in weights:
                yield cell(f"{where}/{name}", kind, table, weight)
        for criterion in CRITERIA:
            for split in ("subset", "multiway", "grouped"):
                parameters = {"criterion": criterion, "categorical_split": split, "max_depth": 5}
                name = f"{where}/{criterion}/{split}"
                yield cell(name, lambda p=parameters: fasttree.TreeClassifier(**p), table)
        for method, how in METHODS.items():
            for weight in ("none", "whole"):
                make = lambda how=how: fasttree.TreeClassifier(pruning=how)  # noqa: E731
                yield cell(f"{where}/pruning={method}", make, table, weight)
    for missing in ("branch", "category", "fractional", "surrogate"):
        for split in ("subset", "multiway", "grouped"):
            if missing == "surrogate" and split != "subset":
                continue
            for weight in weights:
                for more in ({}, {"max_bins": 8}, {"ordered_features": ["grade"]}):
                    parameters = {
                        "missing": missing,
                        "categorical_split": split,
                        "min_samples_leaf": 3,
                        **more,
                    }
                    said = "".join(f",{key}" for key in more)
                    name = f"holes/missing={missing}/{split}{said}"
                    yield cell(
                        name,
                        lambda p=parameters: fasttree.TreeClassifier(**p),
                        tables["holes"],
                        weight,
                    )
    others: dict[str, dict[str, Any]] = {
        "leaves": {"max_leaves": 7},
        "gain": {"min_gain": 0.02, "min_samples_split": 12},
        "significant": {"significance": 0.1, "significance_test": "naive"},
        "balanced": {"class_weight": "balanced", "min_samples_leaf": 4},
        "mistakes": {"misclassification_cost": MISTAKES},
        "prices": {"attribute_costs": {"lab": 9, "age": 2}, "cost_function": "nunez"},
        "value": {"threshold": "value", "max_bins": 20},
        "majority": {"unknown": "majority"},
    }  # fmt: skip
    three = made("holes", 3, 300)
    for said, parameters in others.items():
        for weight in weights:
            yield cell(f"three/{said}", lambda p=parameters: tree_with(p), three, weight)
    for where in ("tennis", "computer", "mammals", "temperature"):
        for name, kind in ESTIMATORS.items():
            for weight in ("none", "whole"):
                yield cell(f"{where}/{name}", kind, built_in(where), weight)
        unpruned = {
            "tree": {},
            "cart": {"pruning": None},
            "c45": {"pruning": None, "min_samples_leaf": 1, "min_samples_split": 2},
        }
        for name, parameters in unpruned.items():
            make = lambda kind=ESTIMATORS[name], p=parameters: kind(**p)  # noqa: E731
            yield cell(f"{where}/{name} full", make, built_in(where))

    for where in ("numbers", "mixed", "holes"):
        amounts = with_amounts(tables[where])
        for name, regressor in REGRESSORS.items():
            for weight in weights:
                yield cell(f"{where}/regressor {name}", regressor, amounts, weight)


def with_amounts(table: Table) -> Table:
    """With a target of numbers."""
    of_class = np.unique(table.y, return_inverse=True)[1]
    return replace(table, y=2.5 * of_class + np.nan_to_num(table.X["lab"]))


def tree_with(parameters: dict[str, Any]) -> Any:
    """A tree; of a parameter that is not there, the record has the only meaning that there is."""
    known = fasttree.TreeClassifier().get_params()
    return fasttree.TreeClassifier(**{key: p for key, p in parameters.items() if key in known})


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def said_of(name: str, model: Any) -> tuple[dict[str, str], dict[str, str]]:
    """What is on record of a model: hashes, and texts that are on record whole."""
    hashes: dict[str, str] = {}
    texts: dict[str, str] = {}
    is_list = hasattr(model, "rules_")
    if not is_list:
        hashes["tree"] = model.tree_.fingerprint()[:16]
        for format in FORMATS:
            try:
                hashes[format] = digest(model.export(format))
            except ValueError as refusal:  # some formats cannot say everything, and say so
                hashes[format] = f"refused: {str(refusal)[:80]}"
        texts["text"] = model.to_text()
    if isinstance(model, fasttree.MMLClassifier | fasttree.BayesTreeClassifier):
        return hashes, texts if is_readable(name, texts) else {}  # averages have no rules
    if isinstance(model, fasttree.TreeRegressor):
        return hashes, {}
    rules = model.rules_ if is_list else model.rules()
    for format in RULE_FORMATS:
        hashes[f"rules {format}"] = digest(getattr(rules, f"to_{format}")())
    texts["rules"] = rules.to_text()
    return hashes, texts if is_readable(name, texts) else {}


def is_readable(name: str, texts: dict[str, str]) -> bool:
    return name.startswith(READABLE) and all(len(t) <= LONGEST_READABLE for t in texts.values())


def fitted(cell: Cell) -> Any:
    _, make, table, weights = cell
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make().fit(table.X, table.y, sample_weight=weights)


def found() -> tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]]:
    hashes, texts = {}, {}
    for cell in cells():
        assert cell[0] not in hashes, cell[0]
        hashes[cell[0]], whole = said_of(cell[0], fitted(cell))
        if whole:
            texts[cell[0]] = whole
    return hashes, texts


def on_record() -> dict[str, dict[str, str]]:
    return json.loads((RECORD / "hashes.json").read_text("utf-8"))


def one_hash(hashes: dict[str, dict[str, str]]) -> str:
    """One number for the fingerprints of all the trees: what every platform has to find."""
    return digest(json.dumps([[name, of["tree"]] for name, of in hashes.items() if "tree" in of]))


def as_page(texts: dict[str, dict[str, str]]) -> str:
    parts = [
        f"### {name}: {kind}\n{text}\n" for name, of in texts.items() for kind, text in of.items()
    ]
    return "\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="make the record anew")
    write = parser.parse_args().write
    hashes, texts = found()
    if write:
        RECORD.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(of)}" for name, of in hashes.items())
        (RECORD / "hashes.json").write_text("{\n" + lines + "\n}\n", "utf-8")
        (RECORD / "texts.txt").write_text(as_page(texts), "utf-8")
        print(f"{len(hashes)} models on record")
        return 0
    record = on_record()
    differing = [
        f"{name}: {', '.join(key for key in of if record.get(name, {}).get(key) != of[key])}"
        for name, of in hashes.items()
        if record.get(name) != of
    ]
    print("\n".join(differing) or f"all {len(hashes)} models as recorded")
    print(f"all fingerprints: {one_hash(hashes)}, on record: {one_hash(record)}")
    return bool(differing or record.keys() - hashes.keys())


if __name__ == "__main__":
    sys.exit(main())
