# SPDX-License-Identifier: BSD-3-Clause
"""The estimators: their parameters and what they predict."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import textbook_tables as tables
from hypothesis import given
from strategies import Problem, problems

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
from fasttree.base.checks import UNKNOWN
from fasttree.growth.choosers.costs import COST_FUNCTIONS
from fasttree.growth.params import CATEGORICAL_SPLITS, CRITERIA, MISSING, THRESHOLDS
from fasttree.pruning import METHODS

Data = tuple[np.ndarray, np.ndarray]
ESTIMATORS = [
    TreeClassifier,
    ID3Classifier,
    C45Classifier,
    CARTClassifier,
    SMMLClassifier,
    MMLClassifier,
    BayesTreeClassifier,
]

DEFAULTS = {
    "criterion": "gini",
    "categorical_split": "subset",
    "categorical_features": "from_dtype",
    "ordered_features": "from_dtype",
    "min_category_count": 1,
    "missing": "branch",
    "unknown": "missing",
    "max_bins": None,
    "threshold": "midpoint",
    "max_depth": None,
    "max_leaves": None,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "min_weight_fraction_leaf": 0.0,
    "min_gain": 0.0,
    "stop_zero_gain": False,
    "significance": None,
    "significance_test": "selected",
    "ties": "root_gain",
    "attribute_costs": None,
    "cost_function": None,
    "class_weight": None,
    "misclassification_cost": None,
    "pruning": None,
    "random_state": None,
    "verbose": 0,
    "n_jobs": None,
}


# -- parameters ----------------------------------------------------------------------------------


def test_parameters_and_their_defaults() -> None:
    assert TreeClassifier().get_params() == DEFAULTS
    id3 = DEFAULTS | {
        "criterion": "entropy",
        "categorical_split": "multiway",
        "missing": "fractional",
        "ties": "schema",
    }
    assert ID3Classifier().get_params() == id3
    cart = DEFAULTS | {
        "stop_zero_gain": True,
        "missing": "surrogate",
        "ties": "schema",
        "pruning": "cost_complexity",
        "compat": None,
    }
    assert CARTClassifier().get_params() == cart
    c45 = DEFAULTS | {
        "criterion": "gain_ratio",
        "categorical_split": "multiway",
        "missing": "fractional",
        "threshold": "value",
        "min_samples_split": 4,
        "min_samples_leaf": 2,
        "ties": "schema",
        "pruning": "error_based",
        "collapse": True,
        "compat": None,
    }
    assert C45Classifier().get_params() == c45
    meaningless = (
        "attribute_costs",
        "class_weight",
        "cost_function",
        "min_gain",
        "misclassification_cost",
        "pruning",
        "random_state",
        "significance",
        "significance_test",
    )
    smml = {k: v for k, v in id3.items() if k not in (*meaningless, "stop_zero_gain")}
    smml |= {"criterion": "message_length", "alpha": 0.5, "lookahead": 0}
    assert SMMLClassifier().get_params() == smml
    assert MMLClassifier().get_params() == smml
    del smml["lookahead"]
    assert BayesTreeClassifier().get_params() == smml | {"criterion": "evidence"}
    assert list(inspect.signature(C45Classifier).parameters)[-1] == "n_jobs"
    with pytest.raises(TypeError):
        TreeClassifier("entropy")  # keywords only


@pytest.mark.parametrize("estimator", [*ESTIMATORS, RuleClassifier])
def test_docstrings_name_the_parameters_with_their_defaults(estimator: Any) -> None:
    own, shared = inspect.getdoc(estimator) or "", inspect.getdoc(TreeClassifier) or ""
    described = dict(re.findall(r"^(\w+) : .*?default=(\S+)$", shared, re.M | re.S))
    listed = dict(re.findall(r"^(\w+) : .*default=(\S+)$", own, re.M)) | {
        "alpha": "0.5",
        "lookahead": "0",
    }
    for name, parameter in inspect.signature(estimator).parameters.items():
        default = (
            json.dumps(parameter.default)
            if isinstance(parameter.default, str)
            else repr(parameter.default)
        )
        if name in listed:
            assert listed[name] == default
        elif described[name] != default:
            assert re.search(rf"`{name}`\s+(is\s+)?{re.escape(default)}(?=\W)", own), name


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("criterion", CRITERIA),
        ("categorical_split", CATEGORICAL_SPLITS),
        ("missing", MISSING),
        ("unknown", UNKNOWN),
        ("threshold", THRESHOLDS),
        ("cost_function", COST_FUNCTIONS),
        ("pruning", METHODS),
    ],
)
def test_the_docstring_names_all_choices(name: str, choices: Iterable[str]) -> None:
    paragraphs = re.split(r"^(?=\w+ : )", inspect.getdoc(TreeClassifier) or "", flags=re.M)
    text = next(paragraph for paragraph in paragraphs if paragraph.startswith(f"{name} :"))
    assert [choice for choice in choices if f'"{choice}"' not in text] == []


# -- results -------------------------------------------------------------------------------------


def test_attributes_after_fit() -> None:
    table = tables.PLAY_TENNIS
    model = ID3Classifier().fit(table.X, table.y)
    assert model.n_features_in_ == 4
    assert list(model.feature_names_in_) == list(table.names)
    assert list(model.classes_) == ["No", "Yes"]
    assert model.get_depth() == 2
    assert model.get_n_leaves() == 5
    assert model.fit(table.X, table.y) is model


def test_no_names_no_feature_names() -> None:
    model = TreeClassifier().fit([[1.0], [2.0]], [0, 1])
    assert not hasattr(model, "feature_names_in_")


@given(problems(weights=("none", "whole")))
def test_predictions_hang_together(problem: Problem) -> None:
    model = problem.fit()
    X, tree = problem.X, model.tree_
    leaves = model.apply(X)
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (len(problem.y), len(model.classes_))
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(probabilities, tree.proba[leaves])
    assert np.array_equal(model.predict(X), model.classes_[tree.pred[leaves]])
    hits = model.predict(X) == np.array(problem.y)
    assert model.score(X, np.array(problem.y)) == pytest.approx(hits.mean())
    if problem.weights is not None:
        weighted = model.score(X, np.array(problem.y), sample_weight=problem.weights)
        assert weighted == pytest.approx(np.average(hits, weights=problem.weights))


@given(problems(weights=("none",)))
def test_decision_path_leads_from_root_to_leaf(problem: Problem) -> None:
    model = problem.fit()
    tree = model.tree_
    path = model.decision_path(problem.X)
    visited = np.asarray(path.toarray() if hasattr(path, "toarray") else path).astype(bool)
    assert visited.shape == (len(problem.y), len(tree.attribute))
    for row, leaf in enumerate(model.apply(problem.X)):
        expected = []
        while leaf >= 0:
            expected.append(leaf)
            leaf = tree.parent[leaf]
        assert np.flatnonzero(visited[row]).tolist() == sorted(expected)


def test_feature_importances(numeric_table: Data) -> None:
    X, y = numeric_table
    model = TreeClassifier(max_depth=6).fit(X, y)
    tree = model.tree_
    inner = tree.attribute >= 0
    drops = tree.counts[inner].sum(axis=1) * tree.gain[inner]
    expected = np.bincount(tree.attribute[inner], drops, minlength=6)
    assert model.feature_importances_ == pytest.approx(expected / expected.sum())
    assert model.feature_importances_[5] == 0
    leaf = TreeClassifier(max_depth=0).fit(X, y)
    assert leaf.feature_importances_.tolist() == [0] * 6


def test_refit_forgets() -> None:
    table = tables.PLAY_TENNIS
    model = TreeClassifier().fit(table.X, table.y)
    model.fit(np.arange(6.0).reshape(-1, 1), [0, 1] * 3)
    assert model.n_features_in_ == 1
    assert not hasattr(model, "feature_names_in_")
    assert list(model.classes_) == [0, 1]


def test_columns_by_name_come_in_any_container(numeric_table: Data) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = numeric_table
    names = [f"c{i}" for i in range(6)]
    model = TreeClassifier(max_depth=4).fit(pandas.DataFrame(X, columns=names), y)
    as_dict = {name: X[:, i] for i, name in enumerate(names)}
    assert np.array_equal(model.predict(as_dict), model.predict(pandas.DataFrame(as_dict)))


def test_categorical_features() -> None:
    X = np.array([[0.0, 3.0], [1.0, 1.0], [2.0, 2.0], [0.0, 3.0], [1.0, 1.0], [2.0, 2.0]])
    y = [0, 1, 0, 0, 1, 0]
    for chosen in ([0], np.array([0]), [True, False], np.array([True, False]), {0: [2, 1, 0]}):
        tree = TreeClassifier(categorical_features=chosen).fit(X, y).tree_
        assert tree.schema.attributes[0].is_categorical
        assert not tree.schema.attributes[1].is_categorical
        assert len(tree.attribute) == 3
    assert tree.schema.attributes[0].categories == (2, 1, 0)
    named = {"a": X[:, 0], "b": X[:, 1]}
    tree = TreeClassifier(categorical_features=["b"]).fit(named, y).tree_
    assert [a.is_categorical for a in tree.schema.attributes] == [False, True]
    model = TreeClassifier(categorical_features=[0]).fit(X, y)
    assert np.array_equal(model.predict(X), y)
