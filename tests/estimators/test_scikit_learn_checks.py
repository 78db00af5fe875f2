# SPDX-License-Identifier: BSD-3-Clause
"""Every check that scikit-learn has, on every estimator and on its variants. None is expected to fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from fasttree import (
    BayesTreeClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    MMLClassifier,
    RuleClassifier,
    SMMLClassifier,
    TreeClassifier,
    TreeRegressor,
    pruning,
)

ESTIMATORS = [
    TreeClassifier(),
    ID3Classifier(),
    C45Classifier(),
    CARTClassifier(),
    SMMLClassifier(),
    MMLClassifier(),
    BayesTreeClassifier(),
    RuleClassifier(),
    # What becomes of missing values and of levels.
    TreeClassifier(missing="category", categorical_split="multiway"),
    TreeClassifier(missing="fractional", categorical_split="grouped", unknown="majority"),
    TreeClassifier(missing="surrogate", criterion="gain_ratio"),
    TreeClassifier(threshold="value", min_weight_fraction_leaf=0.01),
    # Growth.
    TreeClassifier(max_bins=8, min_samples_leaf=2),
    TreeClassifier(max_leaves=9, n_jobs=2),
    TreeClassifier(class_weight="balanced", criterion="entropy"),
    TreeClassifier(criterion="ami"),
    ID3Classifier(pruning=pruning.CrossValidated(), significance=0.5),
    C45Classifier(compat="j48", pruning=pruning.ErrorBased(raising=False)),
    MMLClassifier(lookahead=1),
    *(TreeClassifier(pruning=name) for name in pruning.METHODS),
    RuleClassifier(base=TreeClassifier(), when="not_worse"),
    TreeRegressor(),
    CARTRegressor(),
    TreeRegressor(missing="category", categorical_split="multiway", max_leaves=9, n_jobs=2),
    TreeRegressor(max_bins=8, pruning="cost_complexity", unknown="majority"),
    CARTRegressor(compat="rpart", pruning=None),
    CARTClassifier(compat="rpart"),
]


@pytest.fixture(autouse=True)
def array_api(monkeypatch: pytest.MonkeyPatch) -> None:
    """One check skips itself without it."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


# Some checks have a class of one row, or of so few that none can be held out.
@pytest.mark.filterwarnings("ignore:.* the tree is not pruned")
@parametrize_with_checks(ESTIMATORS)
def test_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_a_table_that_must_be_complete() -> None:
    """All the checks but one, which demands that infinity be refused like NaN. Here infinity is a number."""
    strict = TreeClassifier(missing="error")
    assert not strict.__sklearn_tags__().input_tags.allow_nan
    results = check_estimator(strict, on_skip=None, on_fail=None)
    assert len(results) > 50
    failed = [
        result["check_name"]
        for result in results
        # One of scikit-learn 1.6 trips over its own table: it takes a mean from whole numbers in place.
        if result["status"] != "passed" and type(result["exception"]).__name__ != "UFuncTypeError"
    ]
    assert failed == ["check_estimators_nan_inf"]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_that_one_check_asks_for(value: float) -> None:
    X, y = np.arange(8.0).reshape(4, 2), [0, 0, 1, 1]
    strict = TreeClassifier(missing="error").fit(X, y)
    X[2, 1] = value
    if np.isinf(value):
        assert strict.predict(X).tolist() == y  # the first column decides
        assert strict.fit(X, y).predict(X).tolist() == y
        return
    for call in (strict.fit, strict.score, lambda X, y: strict.predict_proba(X)):
        with pytest.raises(ValueError, match=r"missing value \(NaN or None\) in row 2"):
            call(X, y)
