# SPDX-License-Identifier: BSD-3-Clause
"""Logistic regression: published figures, statsmodels, and selection against a slow one."""

from __future__ import annotations

import numpy as np
import pytest

from fasttree import Categorical
from fasttree.datasets import cesarean_table1
from fasttree.stats import metrics
from fasttree.studies.design import Design
from fasttree.studies.logistic import complete_rows, fit_logistic
from fasttree.studies.logit import fit_logit, likelihood_ratio_p, score_p, wald_p
from fasttree.tables.training import read_table

pytestmark = pytest.mark.numeric


def of_table1(column: str, *levels: str) -> tuple[np.ndarray, np.ndarray]:
    """The rows of some levels, the first is the reference: matrix and outcomes."""
    counts = {
        r.level: (r.cesarean, r.total - r.cesarean) for r in cesarean_table1() if r.column == column
    }
    code = np.concatenate([np.repeat(k, sum(counts[level])) for k, level in enumerate(levels)])
    y = np.concatenate([np.repeat([1.0, 0.0], counts[level]) for level in levels])
    return np.column_stack([np.ones(len(code)), *(code == k for k in range(1, len(levels)))]), y


@pytest.mark.parametrize(
    ("column", "levels", "intercept", "coefficient"),
    [
        ("previous_cesarean", ("no", "yes"), -2.757623, 2.732201),
        ("presentation", ("vertex", "breech"), -1.997509, 3.859227),
        ("diabetes", ("none", "insulin-dependent"), -1.632878, 1.589076),
    ],
)
def test_maximum_likelihood_from_table_1(
    column: str, levels: tuple[str, str], intercept: float, coefficient: float
) -> None:
    fit = fit_logit(*of_table1(column, *levels), ridge=0)
    assert fit.converged
    assert fit.coefficients == pytest.approx([intercept, coefficient], abs=5e-7)
    if column == "previous_cesarean":
        assert np.exp(fit.coefficients[1]) == pytest.approx(15.3667, abs=5e-5)
        assert fit.standard_errors[1] == pytest.approx(0.059267, abs=5e-7)


def test_roc_area_of_a_single_attribute_of_table_1() -> None:
    for column, levels, area in (
        ("previous_cesarean", ("no", "yes"), 0.7791),
        ("presentation", ("vertex", "breech", "abnormal lie"), 0.6632),
        ("hypertension", ("none", "transient", "preeclampsia"), 0.5320),
    ):
        matrix, y = of_table1(column, *levels)
        fit = fit_logit(matrix, y)
        assert metrics.roc_auc(y.astype(int), fit.probability) == pytest.approx(area, abs=5e-5)


def random_table(seed: int, n: int = 1_500) -> tuple[dict, np.ndarray]:
    """Three attributes that matter, one of them with values missing, and five that do not."""
    rng = np.random.default_rng(seed)
    colour = rng.integers(0, 3, n)
    age = rng.normal(30, 6, n)
    weight = rng.normal(size=n)
    log_odds = -1 + np.array([0.0, 0.8, -0.9])[colour] + 0.12 * (age - 30) - 0.7 * weight
    y = rng.random(n) < 1 / (1 + np.exp(-log_odds))
    shown = weight.copy()
    shown[rng.random(n) < 0.1] = np.nan
    X = {
        "colour": Categorical.from_codes(colour, ["red", "green", "blue"]),
        "age": age,
        "weight": shown,
    }
    for k in range(3):
        X[f"noise{k}"] = rng.normal(size=n)
    for k in range(2):
        X[f"level{k}"] = Categorical.from_codes(rng.integers(-1, 3, n), ["a", "b", "c"])
    return X, y


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_agrees_with_statsmodels(seed: int) -> None:
    api = pytest.importorskip("statsmodels.api")
    X, y = random_table(seed)
    table = read_table(X)
    matrix = Design.of(table, np.arange(len(y))).matrix(table, np.arange(len(y)))
    fit = fit_logit(matrix, y, ridge=0)
    theirs = api.Logit(y.astype(float), matrix).fit(disp=0)
    assert fit.coefficients == pytest.approx(theirs.params, abs=1e-7)
    assert fit.standard_errors == pytest.approx(theirs.bse, abs=1e-7)
    assert fit.log_likelihood == pytest.approx(theirs.llf)
    columns = np.array([1, 2])
    restriction = np.eye(matrix.shape[1])[columns]
    assert wald_p(fit, columns) == pytest.approx(
        float(theirs.wald_test(restriction, scalar=True).pvalue)
    )


@pytest.mark.parametrize("seed", range(6))
def test_selection_agrees_with_one_that_refits_at_every_step(seed: int) -> None:
    X, y = random_table(seed)
    table, rows = read_table(X), np.arange(len(y))
    model = fit_logistic(table, rows, y)
    design = Design.of(table, rows)
    matrix, blocks = design.matrix(table, rows), design.blocks()
    chosen = list(blocks)
    while True:
        columns = np.sort(np.concatenate([[0], *(blocks[name] for name in chosen)])).astype(int)
        fit = fit_logit(matrix[:, columns], y)
        tests = {name: wald_p(fit, np.searchsorted(columns, blocks[name])) for name in chosen}
        worst = max(tests, key=tests.__getitem__)
        if tests[worst] < 0.05:
            break
        chosen.remove(worst)
    assert {"colour", "age", "weight"} <= set(model.attributes)
    assert set(model.attributes) == set(chosen)
    assert model.p_values == pytest.approx(tests)
    assert model.fit.coefficients == pytest.approx(fit.coefficients, abs=1e-7)
    outside = {name: columns for name, columns in blocks.items() if name not in chosen}
    assert (
        min(score_p(fit, columns, matrix, y.astype(float), outside).values(), default=1.0) >= 0.05
    )


def test_rao_wald_and_likelihood_ratio_agree_with_many_rows() -> None:
    X, y = random_table(7, 40_000)
    table, rows = read_table({"age": X["age"], "level0": X["level0"]}), np.arange(40_000)
    matrix = Design.of(table, rows).matrix(table, rows)
    small, large = fit_logit(matrix[:, :2], y), fit_logit(matrix, y)
    ratio = likelihood_ratio_p(large, small, 3)
    assert wald_p(large, np.array([2, 3, 4])) == pytest.approx(ratio, abs=2e-3)
    blocks = {"level0": np.array([2, 3, 4])}
    rao = score_p(small, np.array([0, 1]), matrix, y.astype(float), blocks)
    assert rao["level0"] == pytest.approx(ratio, abs=2e-3)


def test_separated_outcomes_are_kept_finite_tested_and_named() -> None:
    rng = np.random.default_rng(0)
    n = 400
    y = rng.random(n) < 0.3
    breech = np.zeros(n, dtype=int)
    breech[np.flatnonzero(y)[:25]] = 1  # every breech is an event
    X = {
        "presentation": Categorical.from_codes(breech, ["vertex", "breech"]),
        "noise": rng.normal(size=n),
    }
    model = fit_logistic(read_table(X), np.arange(n), y)
    assert model.attributes == ("presentation",)
    assert model.separated == ("presentation = breech",)
    assert np.isfinite(model.fit.coefficients).all()
    assert model.p_values["presentation"] < 1e-6
    assert wald_p(model.fit, np.array([1])) > 0.9  # which is why it is not asked
    everywhere = {"twin": Categorical.from_codes(y.astype(int), ["no", "yes"])}
    perfect = fit_logistic(read_table(everywhere), np.arange(n), y)
    assert perfect.separated == ("twin = yes",)
    assert np.isfinite(perfect.predict(read_table(everywhere), np.arange(n))).all()


def test_rare_levels_count_as_the_reference_and_copies_are_dropped() -> None:
    rng = np.random.default_rng(1)
    n = 500
    codes = rng.integers(0, 2, n)
    codes[:4] = 2
    number = rng.normal(size=n)
    number[:3] = np.nan
    X = {
        "a": Categorical.from_codes(codes, ["x", "y", "rare"]),
        "copy": Categorical.from_codes(codes, ["x", "y", "rare"]),
        "number": number,
        "constant": np.ones(n),
    }
    design = Design.of(read_table(X), np.arange(n))
    assert [term.label.split(",")[0] for term in design.terms] == ["a = y", "number"]
    assert design.aliased == ("copy = y",)
    assert design.pooled == ("a = rare", "copy = rare")
    assert design.references == {"a": "x", "copy": "x"}


def test_complete_rows_are_those_with_every_value() -> None:
    X = {"a": [1.0, np.nan, 3.0], "b": Categorical(["x", "y", None])}
    assert complete_rows(read_table(X)).tolist() == [True, False, False]


def test_a_design_is_that_of_its_training_rows() -> None:
    X, y = random_table(3)
    table = read_table(X)
    half = np.arange(0, len(y), 2)
    design = Design.of(table, half)
    matrix = design.matrix(table, half)
    assert matrix[:, 0].tolist() == [1.0] * len(half)
    age = [t.label.startswith("age") for t in design.terms].index(True) + 1
    assert matrix[:, age].mean() == pytest.approx(0, abs=1e-12)
    assert matrix[:, age].std() == pytest.approx(1)
    model = fit_logistic(table, half, y[half])
    assert model.predict(table, half) == pytest.approx(model.fit.probability, abs=1e-12)
