# SPDX-License-Identifier: BSD-3-Clause
"""Of class weights and costs of mistakes the ratios count: their unit changes no tree, however large or small it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fasttree
from fasttree import (
    C45Classifier,
    CARTClassifier,
    ID3Classifier,
    TreeClassifier,
    pruning,
    select_depth,
)

UNITS = (5e-324, 1e-300, 1e-12, 1e-6, 0.1, 1, 3, 10, 1e12, 1e60, 1e308)
COST = np.array([[0, 1, 5], [2, 0, 1], [1, 3, 0]])
WEIGHTS = np.array([1.0, 5, 0.5])


def table(seed: int = 0, n_rows: int = 120) -> tuple[dict[str, np.ndarray], np.ndarray]:
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_rows)
    return {"a": random.normal(size=n_rows) + y, "b": random.normal(size=n_rows)}, y


# What cuts a tree, and what is between cutting nothing and everything of the table above.
METHODS: dict[str, tuple[type[TreeClassifier], dict[str, Any]]] = {
    "cart": (CARTClassifier, {}),
    "cart0": (CARTClassifier, {"pruning": pruning.CostComplexity(se=0)}),
    "gini": (CARTClassifier, {"pruning": pruning.CostComplexity(impurity="gini")}),
    "c45": (C45Classifier, {}),
    "collapse": (C45Classifier, {"pruning": None}),
    "c45 without raising": (C45Classifier, {"pruning": pruning.ErrorBased(raising=False)}),
    "reduced error": (TreeClassifier, {"pruning": "reduced_error"}),
    "bottom-up": (TreeClassifier, {"pruning": pruning.ReducedError(method="bottom_up")}),
    "cross-validated": (TreeClassifier, {"pruning": "cross_validated"}),
    "max_leaves": (TreeClassifier, {"max_leaves": 7}),
    "fractional": (TreeClassifier, {"missing": "fractional", "max_depth": 4}),
}


@pytest.mark.parametrize("method", METHODS)
def test_the_unit_changes_nothing(method: str) -> None:
    kind, parameters = METHODS[method]
    X, y = table()
    if method == "fractional":
        X = X | {"a": np.where(np.arange(120) % 5 == 0, np.nan, X["a"])}

    def shape(**priors: Any) -> tuple[Any, ...]:
        model = kind(**parameters, **priors).fit(X, y)
        tree = model.tree_
        shares = model.predict_proba(X)
        assert np.isfinite(shares).all()
        return (
            tree.attribute.tolist(),
            tree.threshold[tree.attribute >= 0].tolist(),
            tree.pred.tolist(),
        )

    plain = shape()
    for unit in UNITS:
        assert shape(misclassification_cost=(1 - np.eye(3)) * unit) == plain, unit
        assert shape(class_weight=dict.fromkeys(range(3), unit)) == plain, unit
    costly, weighted = (
        shape(misclassification_cost=COST),
        shape(class_weight=dict(enumerate(WEIGHTS))),
    )
    both = shape(misclassification_cost=COST, class_weight=dict(enumerate(WEIGHTS)))
    for unit in (2.0**-1000, 2.0**-40, 2.0**40, 2.0**1000):  # exact, so that ties are ties
        weights = dict(enumerate(WEIGHTS * unit))
        assert shape(misclassification_cost=COST * unit) == costly, unit
        assert shape(class_weight=weights) == weighted, unit
        assert shape(class_weight=weights, misclassification_cost=COST * unit) == both, unit


def test_the_unit_of_mistakes_does_not_change_the_depth() -> None:
    X, y = table()
    for weighted in (1 - np.eye(3), COST):
        depths = {
            select_depth(
                X, y, estimator=ID3Classifier(misclassification_cost=weighted * unit)
            ).depth
            for unit in UNITS[1:-1]
        }
        assert len(depths) == 1


def test_a_path_keeps_the_users_unit() -> None:
    X, y = table()
    plain = CARTClassifier().fit(X, y)
    for unit in (1e-13, 0.25, 8, 1e20):
        model = CARTClassifier(misclassification_cost=(1 - np.eye(3)) * unit).fit(X, y)
        ours, theirs = model.pruning_path_, plain.pruning_path_
        assert ours.alphas == pytest.approx(theirs.alphas * unit)
        assert ours.risk == pytest.approx(theirs.risk * unit)
        chosen, expected = model.pruning_choice_, plain.pruning_choice_
        assert chosen.rate == pytest.approx(expected.rate * unit)
        assert chosen.standard_error == pytest.approx(expected.standard_error * unit)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("cost", [None, COST])
@pytest.mark.parametrize("se", [0.0, 0.5, 1.0, 3.0])
def test_standard_error_is_that_of_the_rows(
    se: float, cost: np.ndarray | None, weights: np.ndarray | None
) -> None:
    X, y = table(1, 300)
    X_val, y_val = table(2, 90)
    model = CARTClassifier(
        pruning=pruning.CostComplexity(se=se),
        misclassification_cost=cost,
        class_weight=None if weights is None else dict(enumerate(weights)),
    ).fit(X, y, X_val=X_val, y_val=y_val)
    grown = CARTClassifier(**(model.get_params(deep=False) | {"pruning": None})).fit(X, y)
    choice = model.pruning_choice_
    counts = np.ones(3) if weights is None else weights
    per_mistake = 1 - np.eye(3) if cost is None else cost
    limits = []
    for place, alpha in enumerate(choice.alphas):
        pruned = pruning.prune_at(grown.tree_, model.pruning_path_, alpha)[0]
        grown_again = CARTClassifier(**grown.get_params()).fit(X, y)
        grown_again.tree_ = pruned
        each = counts[y_val] * per_mistake[y_val, grown_again.predict(X_val)]
        total = counts[y_val].sum()
        assert choice.errors[place] == pytest.approx(each.sum())
        assert choice.rate[place] == pytest.approx(each.sum() / total)
        error = each.std() / np.sqrt(90) * 90 / total
        assert choice.standard_error[place] == pytest.approx(error)
        limits.append(choice.rate[place] + se * error)
    lowest = np.flatnonzero(np.isclose(choice.rate, choice.rate.min()))[-1]
    assert choice.place == np.flatnonzero(choice.rate <= limits[lowest] + 1e-12)[-1]


def test_a_choice_by_costs_is_saved(tmp_path: Path) -> None:
    X, y = table()
    for parameters in ({}, {"misclassification_cost": COST}, {"class_weight": {0: 3}}):
        model = CARTClassifier(**parameters).fit(X, y)
        model.save(tmp_path / "model.fasttree")
        again = fasttree.load(tmp_path / "model.fasttree").pruning_choice_
        for name, column in model.pruning_choice_.columns().items():
            assert column.tolist() == again.columns()[name].tolist()


@pytest.mark.parametrize("missing", ["branch", "fractional"])
@pytest.mark.parametrize(
    "weights",
    [{0: 1e308, 1: 1e-308}, {0: 5e-324}, dict.fromkeys(range(3), 1e308), {0: 1e-320, 1: 1e308}],
)
def test_weights_that_are_far_apart(weights: dict[int, float], missing: str) -> None:
    X, y = table()
    X["a"][::4] = np.nan
    cost = [[0, 1, 1e308], [1e-308, 0, 1], [1, 3, 0]]
    for more in ({}, {"misclassification_cost": cost}):
        model = TreeClassifier(class_weight=weights, missing=missing, **more).fit(X, y)
        shares = model.predict_proba(X)
        assert (shares >= 0).all()
        assert shares.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("missing", ["branch", "fractional"])
@pytest.mark.parametrize(
    ("weights", "heavy"), [({0: 1e308, 1: 1e-308}, 0), ({0: 1e-320, 1: 1e308}, 1)]
)
def test_a_row_that_outweighs_all_the_others(
    weights: dict[int, float], heavy: int, missing: str
) -> None:
    X, y = table()
    X["a"][::4] = np.nan
    model = TreeClassifier(class_weight=weights, missing=missing, max_depth=1).fit(X, y)
    holds_it = model.tree_.counts[:, heavy] > 0
    assert holds_it.any()
    assert (model.tree_.pred[holds_it] == heavy).all()


def test_balance_of_heavy_rows() -> None:
    model = TreeClassifier(class_weight="balanced")
    model.fit({"a": [1.0, 2, 3, 4]}, list("pppq"), sample_weight=[1e308] * 4)
    assert model.tree_.schema.priors.class_weight.tolist() == [4 / 6, 4 / 2]


def test_balance_does_not_depend_on_the_order_of_rows() -> None:
    X, y = table()
    random = np.random.default_rng(0)
    weight = random.random(120)
    found = set()
    for _ in range(20):
        order = random.permutation(120)
        model = TreeClassifier(class_weight="balanced")
        model.fit({"a": X["a"][order]}, y[order], sample_weight=weight[order])
        found.add(tuple(model.tree_.schema.priors.class_weight.tolist()))
    assert len(found) == 1
    expected = weight.sum() / (3 * np.bincount(y, weights=weight))
    assert list(found.pop()) == pytest.approx(expected.tolist(), rel=1e-9)
