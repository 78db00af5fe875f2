# SPDX-License-Identifier: BSD-3-Clause
"""Figures of predicted probabilities: ROC curve on a grid, calibration, confidence limits, means over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from fasttree._special import student_t_tails
from fasttree.comparison import Spread
from fasttree.studies.newton import fit_logit
from fasttree.studies.results import CalibrationBin, Interval

GRID = np.linspace(0.0, 1.0, 101)  # shares of false alarms
Z = 1.959963984540054  # two-sided 95 %
N_BINS = 10
SUREST = 0.001  # probabilities are moved into [this, 1 - this] before their log odds are taken


def roc_on_grid(is_event: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """The share of events among the rows above each threshold, at the grid's shares of false alarms; straight lines
    between thresholds, so that the area below is the ROC area but for the grid."""
    order = np.argsort(-probability, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(probability[order])), len(order) - 1)
    found = np.append(0.0, np.cumsum(is_event[order])[ends])
    alarms = np.append(0.0, np.cumsum(~is_event[order])[ends])
    return _upper_interpolation(GRID, alarms / alarms[-1], found / found[-1])


def _upper_interpolation(grid: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Linear interpolation; where x stands still while y rises, the top of the rise. At 0 that is the share found
    without a false alarm."""
    last = np.append(x[1:] != x[:-1], True)
    first = np.append(True, x[1:] != x[:-1])
    # Between two distinct x the line runs from the last point of the one to the first of the other.
    xs, tops, bottoms = x[last], y[last], y[first]
    right = np.clip(np.searchsorted(xs, grid, side="left"), 0, len(xs) - 1)
    left = np.maximum(right - 1, 0)
    width = np.where(xs[right] > xs[left], xs[right] - xs[left], 1.0)
    between = tops[left] + (bottoms[right] - tops[left]) * (grid - xs[left]) / width
    return np.asarray(np.where(xs[right] == grid, tops[right], between))


def calibration_line(is_event: np.ndarray, probability: np.ndarray) -> tuple[float, float]:
    """Slope and intercept of the logistic regression of what happened on the predicted log odds; NaN if these are all
    alike."""
    clipped = np.clip(probability, SUREST, 1 - SUREST)
    log_odds = np.log(clipped / (1 - clipped))
    if log_odds.max() - log_odds.min() < 1e-9:
        return math.nan, math.nan
    matrix = np.column_stack([np.ones(len(log_odds)), log_odds])
    intercept, slope = fit_logit(matrix, is_event, ridge=0.0).coefficients.tolist()
    return slope, intercept


def calibration_bins(is_event: np.ndarray, probability: np.ndarray) -> tuple[CalibrationBin, ...]:
    """About ten bins of equally many rows; equal probabilities stay together, so that a small tree has fewer."""
    edges = np.unique(np.quantile(probability, np.arange(1, N_BINS) / N_BINS))
    place = np.searchsorted(edges, probability, side="left")
    count = np.bincount(place, minlength=len(edges) + 1)
    events = np.bincount(place, weights=is_event, minlength=len(count))
    total = np.bincount(place, weights=probability, minlength=len(count))
    return tuple(
        CalibrationBin(float(total[k] / count[k]), wilson(float(events[k]), float(count[k])))
        for k in np.flatnonzero(count).tolist()
    )


def wilson(events: float, rows: float) -> Interval:
    """A share with its limits by Wilson's score; of no rows nothing is known.

    >>> found = wilson(5, 10)
    >>> found.rate, round(found.low, 4), round(found.high, 4)
    (0.5, 0.2366, 0.7634)
    """
    if rows <= 0:
        return Interval(events, rows, math.nan, 0.0, 1.0)
    share = events / rows
    centre = (share + Z**2 / (2 * rows)) / (1 + Z**2 / rows)
    half = Z / (1 + Z**2 / rows) * math.sqrt(share * (1 - share) / rows + Z**2 / (4 * rows**2))
    # At 0 and 1 a limit is the share itself, but for rounding.
    return Interval(
        events,
        rows,
        share,
        max(0.0, min(share, centre - half)),
        min(1.0, max(share, centre + half)),
    )


def spread(values: Iterable[float]) -> Spread:
    """Mean, standard deviation and standard error of the values that are defined."""
    known = np.array([value for value in values if not math.isnan(value)])
    if not len(known):
        return Spread(math.nan, math.nan, math.nan, 0)
    sd = float(known.std(ddof=1)) if len(known) > 1 else math.nan
    return Spread(float(known.mean()), sd, sd / math.sqrt(len(known)), len(known))


def normal_tails(z: float) -> float:
    """P(|Z| > |z|) of the standard normal distribution."""
    return math.erfc(abs(z) / math.sqrt(2))


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
