# SPDX-License-Identifier: BSD-3-Clause
"""Figures of predicted probabilities: calibration, confidence limits, means over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from fasttree.base.elementary import erfc, log
from fasttree.evaluation.comparison import Spread
from fasttree.stats.curves import binned, bins_of, times_tested, wilson_limits
from fasttree.stats.special import student_t_tails
from fasttree.studies.logit import fit_logit
from fasttree.studies.results import CalibrationBin, Interval

SUREST = 0.001  # probabilities are moved into [this, 1 - this] before their log odds are taken


def calibration_line(is_event: np.ndarray, probability: np.ndarray) -> tuple[float, float]:
    """Slope and intercept of the logistic regression of what happened on the predicted log odds; NaN if these are all
    alike."""
    clipped = np.clip(probability, SUREST, 1 - SUREST)
    log_odds = log(clipped / (1 - clipped))
    if log_odds.max() - log_odds.min() < 1e-9:
        return math.nan, math.nan
    matrix = np.column_stack([np.ones(len(log_odds)), log_odds])
    intercept, slope = fit_logit(matrix, is_event, ridge=0.0).coefficients.tolist()
    return slope, intercept


def calibration_bins(
    is_event: np.ndarray, probability: np.ndarray, row: np.ndarray | None = None
) -> tuple[CalibrationBin, ...]:
    """About ten bins of equally many rows. `row`: which row it is, if rows were tested several times; the limits are as
    of rows that were tested once."""
    columns = [*binned(is_event, probability)]
    times = np.ones(len(columns[0]))
    if row is not None:
        times = times_tested(bins_of(probability), row)
    return tuple(
        CalibrationBin(predicted, wilson(events, rows, times))
        for predicted, events, rows, times in zip(
            *(c.tolist() for c in [*columns, times]), strict=True
        )
    )


def wilson(events: float, rows: float, times: float = 1.0) -> Interval:
    """A share with its limits by Wilson's score; of no rows nothing is known. `times`: how often each row was counted.

    >>> found = wilson(5, 10)
    >>> found.rate, round(found.low, 4), round(found.high, 4)
    (0.5, 0.2366, 0.7634)
    """
    if rows <= 0:
        return Interval(events, rows, math.nan, 0.0, 1.0)
    low, high = wilson_limits(events / times, rows / times)
    return Interval(events, rows, events / rows, low, high)


def spread(values: Iterable[float], share: float) -> Spread:
    """Mean, standard deviation and standard error of the values that are defined, one a split. `share`: the test rows
    of a split for each of its training rows."""
    by_split = np.array(list(values), dtype=np.float64)
    return Spread.of(by_split, np.full(len(by_split), share))


def normal_tails(z: float) -> float:
    """P(|Z| > |z|) of the standard normal distribution."""
    return erfc(abs(z) / math.sqrt(2))


def student_limit(df: int) -> float:
    """How far 95 % of Student's distribution reach on both sides.

    >>> round(student_limit(9), 6)
    2.262157
    """
    low, high = 0.0, 20.0  # with one degree of freedom it is 12.7
    for _ in range(60):
        middle = (low + high) / 2
        if student_t_tails(middle, df) > 0.05:
            low = middle
        else:
            high = middle
    return high
