# SPDX-License-Identifier: BSD-3-Clause
"""No memory: one allocation of the core fails, each in turn. A MemoryError follows, or the same result as ever; nothing
leaks, and nothing is written where it should not be.

Only the debug build (`make debug-test`) can make an allocation fail: the other runs skip all but the first test.
"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from switches import small_up_to

import fasttree
from fasttree import _core

can_fail = _core.fail_allocation(0)
needs_debug_build = pytest.mark.skipif(
    not can_fail, reason="only the debug build can make an allocation fail: make debug-test"
)

Work = Callable[[], Any]


def a_table(n: int = 300, holes: bool = False) -> tuple[dict[str, Any], np.ndarray]:
    """Columns of every way to hold them: sorted lists and codes of numbers, and of few and many levels."""
    draw = np.random.default_rng(5)
    many = draw.integers(0, 280, n)
    few = draw.integers(0, 9, n)
    real = draw.normal(size=n)
    step = draw.integers(0, 20, n).astype(float)
    levels = draw.integers(0, 5, n)
    y = ((real > 0.3).astype(int) + (few % 3 == 0) + (many % 2) * (step > 8)).clip(0, 2)
    y = np.where(draw.random(n) < 0.15, draw.integers(0, 3, n), y)
    X: dict[str, Any] = {
        "real": real,
        "step": step,
        "few": np.array([f"level {code}" for code in few], dtype=object),
        "many": np.array([f"one of many levels: {code}" for code in many], dtype=object),
        "ordered": np.array([("none", "little", "some", "much", "all")[c] for c in levels], object),
    }
    if holes:
        for place, column in enumerate(X.values()):
            hidden = draw.random(n) < 0.1 + 0.05 * place
            column[hidden] = np.nan if column.dtype == float else None
    return X, y


def grown(
    X: Any, y: Any, make: type = fasttree.TreeClassifier, sample_weight: Any = None, **how: Any
) -> str:
    how = {"max_depth": 4, "ordered_features": ["ordered"], **how}
    model = make(**how).fit(X, y, sample_weight=sample_weight)
    return str(model.tree_.fingerprint())


def by_levels(work: Work) -> Any:
    with small_up_to(0):
        return work()


def counted(work: Work) -> Any:
    with small_up_to(10_000, sorted_up_to=10):
        return work()


def each_allocation_fails(work: Work) -> None:
    expected = work()  # what is loaded on first use
    _core.fail_allocation(0)
    assert repr(work()) == repr(expected)
    gc.collect()
    n_allocations, held = _core.count_allocations()
    assert n_allocations > 0
    for number in range(1, n_allocations + 1):
        _core.fail_allocation(number)
        try:
            result = work()
        except MemoryError:
            pass
        else:
            assert repr(result) == repr(expected), number
        finally:
            _core.fail_allocation(0)
        if _core.count_allocations()[1] != held:  # a cycle of Python's objects may hold some
            gc.collect()
        assert _core.count_allocations()[1] == held, number


def growing() -> dict[str, Work]:
    X, y = a_table()
    gaps, _ = a_table(holes=True)
    numbers = {name: X[name] for name in ("real", "step")}
    two = (y > 0).astype(int)
    weights = np.random.default_rng(2).random(len(y)) + 0.5
    work: dict[str, Work] = {
        "thresholds": partial(grown, numbers, y, ordered_features="from_dtype"),
        "thresholds, binned": partial(
            grown, numbers, y, max_bins=16, ordered_features="from_dtype"
        ),
        "two classes": partial(grown, X, two),
        "weights": partial(grown, X, y, sample_weight=weights),
        "class weights": partial(grown, X, y, class_weight="balanced"),
        "costs of attributes": partial(
            grown, X, y, attribute_costs={"many": 4.0}, cost_function="gain_per_cost"
        ),
        "costs of mistakes": partial(grown, X, two, misclassification_cost=[[0, 1], [5, 0]]),
        "threads": partial(grown, X, y, n_jobs=2),
        "by chance": partial(grown, X, y, criterion="ami"),
        "C4.5": partial(grown, gaps, y, fasttree.C45Classifier, max_depth=3),
        "MML": partial(grown, X, y, fasttree.MMLClassifier, max_depth=2),
        "rules": lambda: fasttree.RuleClassifier().fit(X, two).predict_proba(X).tolist(),
    }
    for split in ("subset", "multiway", "grouped"):
        for criterion in ("gini", "gain_ratio", "evidence"):
            work[f"{split}, {criterion}"] = partial(
                grown, X, y, categorical_split=split, criterion=criterion
            )
        for missing in ("branch", "category", "fractional"):
            work[f"{split}, missing: {missing}"] = partial(
                grown, gaps, y, categorical_split=split, missing=missing, max_depth=3
            )
    for name in (
        "thresholds",
        "thresholds, binned",
        "weights",
        "subset, gini",
        "multiway, gini",
        "grouped, gini",
    ):
        work[f"{name}, level by level"] = partial(by_levels, work[name])
        work[f"{name}, counted"] = partial(counted, work[name])
    work["surrogates"] = partial(grown, gaps, y, missing="surrogate", max_depth=3)
    work["surrogates, two classes"] = partial(grown, gaps, two, missing="surrogate", max_depth=3)
    for name, how in {
        "reduced error": "reduced_error",
        "error-based, raising": "error_based",
        "error-based": fasttree.pruning.ErrorBased(raising=False),
        "leaf penalty": "leaf_penalty",
        "cost-complexity": fasttree.pruning.CostComplexity(folds=2),
        "significance": "significance",
        "cross-validated": fasttree.pruning.CrossValidated(folds=2),
    }.items():
        work[f"pruned: {name}"] = partial(grown, X, y, pruning=how, max_depth=3)
    work["raising, fractional"] = partial(
        grown, gaps, y, missing="fractional", pruning="error_based", max_depth=3
    )
    work["most worthy leaves"] = partial(by_levels, partial(grown, X, y, max_leaves=4))
    return work


def using() -> dict[str, Work]:
    X, y = a_table()
    gaps, _ = a_table(holes=True)
    tree = fasttree.TreeClassifier(max_depth=4).fit(X, y)
    shares = fasttree.ID3Classifier(max_depth=3).fit(gaps, y)
    stand_ins = fasttree.TreeClassifier(missing="surrogate", max_depth=3).fit(gaps, y)

    def afresh(model: Any) -> Any:
        """Without what it has kept since its last call."""
        return pickle.loads(pickle.dumps(model))

    return {
        "predict": lambda: afresh(tree).predict_proba(X).tolist(),
        "apply": lambda: afresh(tree).apply(X).tolist(),
        "predict, shares": lambda: afresh(shares).predict_proba(gaps).tolist(),
        "predict, surrogates": lambda: afresh(stand_ins).predict_proba(gaps).tolist(),
        "prune": lambda: afresh(tree).prune("error_based", X, y).tree_.fingerprint(),
        "rank": lambda: repr(fasttree.rank_attributes(X, y)),
        "whole numbers": lambda: fasttree.TreeClassifier().fit(np.arange(300)[:, None], y).classes_,
    }


def reading() -> dict[str, Work]:
    """Columns that come through Arrow's interface."""
    pa = pytest.importorskip("pyarrow")
    gaps, y = a_table(holes=True)
    text = {name: pa.array(gaps[name], pa.string()) for name in ("few", "many")}
    tables = {
        "text": text,
        "large text": {name: column.cast(pa.large_string()) for name, column in text.items()},
        "dictionaries": {name: column.dictionary_encode() for name, column in text.items()},
        "numbers": {
            "step": pa.array(gaps["step"], from_pandas=True),
            "n": pa.array([1, None] * 150),
        },
    }
    how = {"ordered_features": "from_dtype"}
    return {name: partial(grown, pa.table(table), y, **how) for name, table in tables.items()}


def test_an_ordinary_build_says_that_nothing_will_fail() -> None:
    assert _core.fail_allocation(1) is can_fail
    assert _core.fail_allocation(0) is can_fail
    if not can_fail:
        assert _core.count_allocations() == (0, 0)


@needs_debug_build
@pytest.mark.parametrize("name", growing())
def test_growth_without_memory(name: str) -> None:
    each_allocation_fails(growing()[name])


@needs_debug_build
@pytest.mark.parametrize("name", using())
def test_models_without_memory(name: str) -> None:
    each_allocation_fails(using()[name])


@needs_debug_build
@pytest.mark.parametrize("name", ["text", "large text", "dictionaries", "numbers"])
def test_reading_without_memory(name: str) -> None:
    each_allocation_fails(reading()[name])
