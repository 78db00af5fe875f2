# SPDX-License-Identifier: BSD-3-Clause
"""Logistic regression on a matrix: Newton's method, and the tests of a block of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fasttree.base.elementary import exp, log, logaddexp
from fasttree.base.linear import product, products_of_columns, solve, sums_of_columns
from fasttree.base.sums import dot, mean, total
from fasttree.stats.special import upper_gamma

RIDGE = 1e-6
PRECISION, MOST_STEPS = 1e-8, 50
LARGEST_STEP = 5.0  # of a coefficient, so that probabilities do not run to 0 and 1 at once
HALVINGS = 30


@dataclass(frozen=True, slots=True, eq=False)
class LogitFit:
    """The coefficients that make the classes most probable, less half the ridge times the sum of their squares.

    Column 0 of the matrix is the constant, which has no ridge.
    """

    coefficients: np.ndarray
    covariance: np.ndarray
    probability: np.ndarray  # of each row
    log_likelihood: float  # without the ridge
    n_steps: int
    converged: bool

    @property
    def standard_errors(self) -> np.ndarray:
        return np.sqrt(np.diag(self.covariance))


def fit_logit(
    matrix: np.ndarray,
    is_event: np.ndarray,
    *,
    ridge: float = RIDGE,
    start: np.ndarray | None = None,
) -> LogitFit:
    """Newton's method until no coefficient changes by 1e-8 or more. `ridge` = 0 is pure maximum likelihood.

    >>> table = np.array([[1.0, 0.0]] * 9 + [[1.0, 1.0]] * 9)
    >>> is_event = np.array([1, 0, 0] * 3 + [1, 1, 0] * 3)
    >>> fit_logit(table, is_event, ridge=0).coefficients.round(6).tolist()  # log(1/2), log(4)
    [-0.693147, 1.386294]
    """
    y = np.asarray(is_event, dtype=np.float64)
    n_columns = matrix.shape[1]
    penalty = np.full(n_columns, float(ridge))
    penalty[0] = 0.0
    beta = np.zeros(n_columns)
    if start is None:
        share = min(max(mean(y), 1e-6), 1 - 1e-6)
        beta[0] = log(share / (1 - share))
    else:
        beta += start
    eta = product(matrix, beta)
    worth = _log_likelihood(eta, y) - dot(penalty, beta * beta) / 2
    converged, n_steps = False, 0
    while not converged and n_steps < MOST_STEPS:
        n_steps += 1
        p = _logistic(eta)
        gradient = sums_of_columns(matrix, y - p) - penalty * beta
        step = solve(_information(matrix, p) + np.diag(penalty), gradient)
        step *= min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), LARGEST_STEP))
        converged = bool(np.abs(step).max() < PRECISION)
        for _ in range(HALVINGS):
            moved = eta + product(matrix, step)
            there = beta + step
            worth_there = _log_likelihood(moved, y) - dot(penalty, there * there) / 2
            if worth_there >= worth - 1e-12 * abs(worth):
                break
            step = step / 2
        beta, eta, worth = beta + step, moved, worth_there
    p = _logistic(eta)
    covariance = solve(_information(matrix, p) + np.diag(penalty), np.eye(n_columns))
    return LogitFit(beta, covariance, p, _log_likelihood(eta, y), n_steps, converged)


def predict(matrix: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """The probability of each row."""
    return _logistic(product(matrix, coefficients))


def backward(
    fit: LogitFit, blocks: Mapping[str, np.ndarray], kept: frozenset[str], alpha: float
) -> list[str]:
    """The blocks of columns that backward elimination drops, in order, by Wald's test at level `alpha`.

    What the coefficients become without a block follows from their covariance, near the maximum (Lawless and Singhal
    1978), so all the steps need only one fit. Blocks in `kept` are not tested.
    """
    beta, covariance = fit.coefficients.copy(), fit.covariance.copy()
    there = {name: columns for name, columns in blocks.items() if name not in kept}
    dropped = []
    while there:
        tests = {name: _wald(beta, covariance, columns) for name, columns in there.items()}
        worst = max(tests, key=tests.__getitem__)
        if tests[worst] < alpha:
            break
        columns = there.pop(worst)
        weight = solve(covariance[np.ix_(columns, columns)], covariance[columns]).T
        beta -= product(weight, beta[columns])
        covariance -= product(weight, covariance[columns])
        dropped.append(worst)
    return dropped


def wald_p(fit: LogitFit, columns: np.ndarray) -> float:
    """Wald's test that the coefficients of some columns are all 0."""
    return _wald(fit.coefficients, fit.covariance, columns)


def likelihood_ratio_p(larger: LogitFit, smaller: LogitFit, df: int) -> float:
    """The test of a model against a larger one; it holds where Wald's does not, with separated classes."""
    twice = 2 * (larger.log_likelihood - smaller.log_likelihood)
    return upper_gamma(df / 2, max(twice, 0.0) / 2)


def score_p(
    fit: LogitFit,
    in_model: np.ndarray,
    matrix: np.ndarray,
    is_event: np.ndarray,
    blocks: Mapping[str, np.ndarray],
) -> dict[str, float]:
    """Rao's test of each block of columns of the matrix that is not in the model: would it add anything?"""
    p = fit.probability
    scores = sums_of_columns(matrix, is_event - p)
    information = _information(matrix, p)
    found = {}
    for name, columns in blocks.items():
        cross = information[np.ix_(columns, in_model)]
        told = product(product(cross, fit.covariance), cross.T)
        own = information[np.ix_(columns, columns)] - told
        statistic = dot(scores[columns], solve(own, scores[columns]))
        found[name] = upper_gamma(len(columns) / 2, max(statistic, 0.0) / 2)
    return found


def _wald(beta: np.ndarray, covariance: np.ndarray, columns: np.ndarray) -> float:
    own = beta[columns]
    statistic = dot(own, solve(covariance[np.ix_(columns, columns)], own))
    return upper_gamma(len(columns) / 2, max(statistic, 0.0) / 2)


def _information(matrix: np.ndarray, p: np.ndarray) -> np.ndarray:
    return products_of_columns(matrix, p * (1 - p))


def _logistic(eta: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + exp(-np.clip(eta, -700, 700))))


def _log_likelihood(eta: np.ndarray, y: np.ndarray) -> float:
    return dot(y, eta) - total(logaddexp(0.0, eta))
