# SPDX-License-Identifier: BSD-3-Clause
"""How good predicted numbers are: R2 and the mean squared error."""

from __future__ import annotations

import math

import numpy as np

from fasttree.stats.metrics import weighted_mean


def mean_squared_error(
    y: np.ndarray, predicted: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """The weighted mean of the squared differences.

    >>> mean_squared_error(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    2.0
    """
    return weighted_mean(np.square(y - predicted), weight)


def root_mean_squared_error(
    y: np.ndarray, predicted: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """The square root of `mean_squared_error`, also where that is out of the range of float64.

    >>> root_mean_squared_error(np.array([1e300, 3e300]), np.array([2e300, 2e300]))
    1e+300
    """
    exponent, y, predicted = _near_one(y, predicted)
    return math.ldexp(math.sqrt(mean_squared_error(y, predicted, weight)), exponent)


def r2_score(y: np.ndarray, predicted: np.ndarray, weight: np.ndarray | None = None) -> float:
    """The share of the variance of y that the predictions explain. Of a y without variance it is 1 if all is predicted
    right, else 0.

    >>> r2_score(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0]))
    0.5
    """
    _, y, predicted = _near_one(y, predicted)
    error = mean_squared_error(y, predicted, weight)
    variance = weighted_mean(np.square(y - weighted_mean(y, weight)), weight)
    if variance == 0:
        return float(error == 0)
    return 1 - error / variance


def _near_one(y: np.ndarray, predicted: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    """Both over 2 to this power, so that their squares are in the range of float64."""
    _, exponent = np.frexp(max(np.abs(y).max(), np.abs(predicted).max()))
    return int(exponent), np.ldexp(y, -exponent), np.ldexp(predicted, -exponent)
