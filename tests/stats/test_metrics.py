# SPDX-License-Identifier: BSD-3-Clause
"""Metrics, against scikit-learn and against their definitions pair by pair."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fasttree.stats import metrics
from fasttree.stats.special import student_t_tails

pytestmark = pytest.mark.numeric


def some_scores(seed: int, n_rows: int = 60, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Codes of classes, and class shares with many ties."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes).repeat(2), rng.integers(0, n_classes, n_rows))
    shares = rng.integers(1, 6, (len(y), n_classes)) + 2.0 * (y[:, None] == np.arange(n_classes))
    return y, shares / shares.sum(axis=1, keepdims=True)


def pairs(y: np.ndarray, score: np.ndarray) -> np.ndarray:
    """[positive, negative]: 1, 1/2 or 0, as the positive row scores more, the same or less."""
    above, below = score[y == 1][:, None], score[y == 0][None, :]
    return (above > below) + 0.5 * (above == below)


def delong(y: np.ndarray, score: np.ndarray) -> float:
    kernel = pairs(y, score)
    variance = kernel.mean(axis=1).var(ddof=1) / kernel.shape[0]
    return math.sqrt(variance + kernel.mean(axis=0).var(ddof=1) / kernel.shape[1])


@given(st.integers(0, 10_000))
def test_binary_area_is_that_of_all_pairs(seed: int) -> None:
    y, shares = some_scores(seed)
    score = shares[:, 1]
    assert metrics.roc_auc(y, score) == pytest.approx(pairs(y, score).mean(), abs=1e-12)
    assert metrics.roc_auc(y, shares) == metrics.roc_auc(y, score)
    assert metrics.roc_auc_se(y, score) == pytest.approx(delong(y, score), abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_as_scikit_learn(n_classes: int, weighted: bool) -> None:
    theirs = pytest.importorskip("sklearn.metrics")
    for seed in range(10):
        y, shares = some_scores(seed, n_classes=n_classes)
        weight = np.random.default_rng(seed).uniform(0, 3, len(y)) if weighted else None
        labels = np.array(["a", "b", "c", "d", "e"])[y]
        predicted = np.array(["a", "b", "c", "d", "e"])[shares.argmax(axis=1)]
        given = {"sample_weight": weight}
        assert metrics.accuracy(labels, predicted, **given) == pytest.approx(
            theirs.accuracy_score(labels, predicted, **given)
        )
        assert metrics.log_loss(labels, shares, **given) == pytest.approx(
            theirs.log_loss(labels, shares, **given)
        )
        if n_classes == 2:
            area = theirs.roc_auc_score(labels, shares[:, 1], **given)
            squares = theirs.brier_score_loss(labels, shares[:, 1], pos_label="b", **given)
        else:
            area = np.mean(
                [theirs.roc_auc_score(y == c, shares[:, c], **given) for c in range(n_classes)]
            )
            squares = np.average(((shares - np.eye(n_classes)[y]) ** 2).sum(axis=1), weights=weight)
        assert metrics.roc_auc(labels, shares, **given) == pytest.approx(area, abs=1e-12)
        assert metrics.brier_score(labels, shares, **given) == pytest.approx(squares, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_weight_is_a_number_of_copies(n_classes: int) -> None:
    y, shares = some_scores(1, n_classes=n_classes)
    times = np.random.default_rng(1).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), times)
    predicted = shares.argmax(axis=1)
    for function in (metrics.roc_auc, metrics.roc_auc_se, metrics.log_loss, metrics.brier_score):
        weighted = function(y, shares, sample_weight=times)
        assert weighted == pytest.approx(function(y[copies], shares[copies]), abs=1e-12)
    assert metrics.error_rate(y, predicted, sample_weight=times) == pytest.approx(
        metrics.error_rate(y[copies], predicted[copies])
    )


def test_weights_whose_sum_is_no_number() -> None:
    y, shares = [0, 1, 1, 0], [0.2, 0.6, 0.3, 0.1]
    predicted = [0, 1, 0, 0]
    for function, guess in (
        (metrics.accuracy, predicted),
        (metrics.log_loss, shares),
        (metrics.brier_score, shares),
    ):
        assert function(y, guess, sample_weight=[1e308] * 4) == pytest.approx(function(y, guess))
        # Beside such weights one of 1 is nothing.
        few = function(y[:3], guess[:3])
        assert function(y, guess, sample_weight=[1.7e308] * 3 + [1]) == pytest.approx(few)


def test_standard_errors_are_those_of_samples() -> None:
    rng = np.random.default_rng(0)
    areas, delongs, hanleys = [], [], []
    for _ in range(600):
        y = np.repeat([0, 1], [60, 40])
        score = rng.normal(size=100) + y
        areas.append(metrics.roc_auc(y, score))
        delongs.append(metrics.roc_auc_se(y, score))
        hanleys.append(metrics.roc_auc_se(y, score, method="hanley_mcneil"))
    assert np.mean(delongs) == pytest.approx(np.std(areas), rel=0.08)
    assert np.mean(hanleys) == pytest.approx(np.std(areas), rel=0.12)


def test_macro_standard_error_is_that_of_samples() -> None:
    rng = np.random.default_rng(0)
    areas, errors = [], []
    for _ in range(400):
        y = rng.integers(0, 3, 120)
        scores = rng.normal(size=(120, 3)) + 1.2 * np.eye(3)[y]
        areas.append(metrics.roc_auc(y, scores))
        errors.append(metrics.roc_auc_se(y, scores))
    assert np.mean(errors) == pytest.approx(np.std(areas), rel=0.12)


def test_hanley_and_mcneil_by_hand() -> None:
    a, m, n = 0.82, 981.0, 4117.0
    q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
    variance = (a * (1 - a) + (m - 1) * (q1 - a * a) + (n - 1) * (q2 - a * a)) / (m * n)
    assert metrics.hanley_mcneil(a, m, n) == pytest.approx(math.sqrt(variance))
    assert math.isnan(metrics.hanley_mcneil(0.8, 1, 50))
    with pytest.raises(ValueError, match="area must be a number from 0 to 1, got 82"):
        metrics.hanley_mcneil(82, 981, 4117)


def test_covariance_of_areas() -> None:
    y, shares = some_scores(3)
    first = shares[:, 1]
    second = np.random.default_rng(3).permutation(first)
    areas, v = metrics.roc_auc_covariance(y, [first, second, first])
    assert areas.tolist() == [metrics.roc_auc(y, s) for s in (first, second, first)]
    assert np.sqrt(np.diag(v)) == pytest.approx([delong(y, s) for s in (first, second, first)])
    assert v[0, 2] == pytest.approx(v[0, 0])
    a, b = pairs(y, first), pairs(y, second)
    naive = np.cov(a.mean(axis=1), b.mean(axis=1))[0, 1] / a.shape[0]
    naive += np.cov(a.mean(axis=0), b.mean(axis=0))[0, 1] / a.shape[1]
    assert v[0, 1] == pytest.approx(naive)
    with pytest.raises(ValueError, match="scores is empty"):
        metrics.roc_auc_covariance(y, [])


def test_what_cannot_be_told_is_nan() -> None:
    assert math.isnan(metrics.roc_auc([1, 1, 1], [0.1, 0.2, 0.3]))
    assert math.isnan(metrics.roc_auc_se([1, 1, 1], [0.1, 0.2, 0.3]))
    assert math.isnan(metrics.roc_auc([1, 1], [[0, 1], [1, 0]], classes=[0, 1]))
    assert metrics.roc_auc([0, 0, 1], [0.1, 0.2, 0.3]) == 1.0
    assert math.isnan(metrics.roc_auc_se([0, 0, 1], [0.1, 0.2, 0.3]))
    # A class without rows is left out of the mean.
    y, shares = some_scores(0, n_classes=3)
    wide = np.column_stack([shares, np.zeros(len(y))])
    assert metrics.roc_auc(y, wide, classes=range(4)) == metrics.roc_auc(y, shares)


def test_certain_and_wrong_costs_the_limit() -> None:
    assert metrics.log_loss([0, 1], [0.0, 0.0]) == pytest.approx(36.04 / 2, abs=0.01)
    assert metrics.log_loss([0, 1], [0.0, 0.0], smallest=0.01) == pytest.approx(
        -(math.log(0.01) + math.log(0.99)) / 2
    )
    assert metrics.log_loss(["x"], [1.0], classes=["w", "x"]) == pytest.approx(0)


@pytest.mark.parametrize("kind", ["list", "numpy", "pandas", "polars", "categorical"])
def test_any_y(kind: str) -> None:
    y, scores = ["no", "yes", "yes", "no"], [0.2, 0.9, 0.4, 0.4]
    if kind == "numpy":
        y = np.array(y, dtype=np.dtypes.StringDType())
    elif kind == "pandas":
        y = pytest.importorskip("pandas").Series(y)
    elif kind == "polars":
        y = pytest.importorskip("polars").Series(y)
    elif kind == "categorical":
        from fasttree import Categorical

        y = Categorical(y, categories=["yes", "no"])  # the second class is "yes" all the same
    assert metrics.roc_auc(y, scores) == 0.875
    assert metrics.accuracy(y, ["no", "yes", "no", "maybe"]) == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.roc_auc([0, 1], [0.5, np.nan]), "scores contains NaN in row 1"),
        (
            lambda: metrics.roc_auc([0, 1, 2], [0.5, 0.1, 0.2]),
            "y has 3 classes, but scores has one",
        ),
        (
            lambda: metrics.roc_auc([0, 1], np.zeros((2, 3))),
            "scores has 3 columns, but there are 2",
        ),
        (
            lambda: metrics.roc_auc([0, 1], np.zeros((2, 3, 1))),
            "one number per row, or one column per class",
        ),
        (lambda: metrics.roc_auc([0, 5], [0.1, 0.2], classes=[0, 1]), "the class 5, which is not"),
        (lambda: metrics.roc_auc([0, 1, 1], [0.1, 0.2]), "inconsistent numbers of samples"),
        (
            lambda: metrics.roc_auc_se([0, 1], [0, 1], method="x"),
            "method must be one of 'delong', 'hanley_mcneil', got 'x'",
        ),
        (
            lambda: metrics.roc_auc_se([0, 1, 2], np.eye(3), method="hanley_mcneil"),
            "requires two classes, but there are 3",
        ),
        (
            lambda: metrics.log_loss([0, 1], [0.2, 1.5]),
            "must be from 0 to 1, got 1.5 in row 1",
        ),
        (lambda: metrics.log_loss([1, 1], [0.2, 0.5]), "y has only one class"),
        (lambda: metrics.log_loss([0, 1], [0.2, 0.5], smallest=0), "smallest must be above 0"),
        (lambda: metrics.accuracy([0, 1], ["0", "1"]), "pass labels of the same kind"),
    ],
)
def test_bad_input(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_student_t_tails() -> None:
    stats = pytest.importorskip("scipy.stats")
    for df in (1, 2, 3, 4, 9, 29, 100):
        for t in (-3.0, -0.5, 0.0, 0.1, 1.0, 2.262, 8.0):
            assert student_t_tails(t, df) == pytest.approx(2 * stats.t.sf(abs(t), df), abs=1e-13)
    assert student_t_tails(math.inf, 5) == 0.0
