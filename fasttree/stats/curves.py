# SPDX-License-Identifier: BSD-3-Clause
"""Curves of predicted probabilities, as arrays: ROC curves, bins of calibration, limits of shares."""

from __future__ import annotations

import math

import numpy as np

GRID = np.linspace(0.0, 1.0, 101)  # shares of false alarms
Z = 1.959963984540054  # two-sided 95 %
N_BINS = 10


def roc_points(is_event: np.ndarray, probability: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The shares of false alarms and of the events found above each threshold, from none to all."""
    order = np.argsort(-probability, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(probability[order])), len(order) - 1)
    found = np.append(0.0, np.cumsum(is_event[order])[ends])
    alarms = np.append(0.0, np.cumsum(~is_event[order])[ends])
    return alarms / alarms[-1], found / found[-1]


def roc_on_grid(is_event: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """The share of events among the rows above each threshold, at the grid's shares of false alarms; straight lines
    between thresholds, so that the area below is the AUC but for the grid."""
    return _upper_interpolation(GRID, *roc_points(is_event, probability))


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


def binned(
    is_event: np.ndarray, probability: np.ndarray, n_bins: int = N_BINS
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean probability, events and rows of about `n_bins` bins of equally many rows; equal probabilities stay together,
    so that a small tree has fewer."""
    bin_of_row = bins_of(probability, n_bins)
    rows = np.bincount(bin_of_row).astype(float)
    events = np.bincount(bin_of_row, weights=is_event)
    return np.bincount(bin_of_row, weights=probability) / rows, events, rows


def bins_of(probability: np.ndarray, n_bins: int = N_BINS) -> np.ndarray:
    """The bin of each row, by ascending probability; none is empty."""
    edges = np.unique(np.quantile(probability, np.arange(1, n_bins) / n_bins))
    bin_of_row = np.searchsorted(edges, probability, side="left")
    return np.unique(bin_of_row, return_inverse=True)[1]


def times_tested(place: np.ndarray, row: np.ndarray) -> np.ndarray:
    """How many times the row of an entry is in the same bin, on average over the entries of each bin.

    So many times more entries are there than rows that tell something new: where row i of a bin comes c_i times, the
    variance of its mean is that of (sum c_i)^2 / (sum c_i^2) rows, by (sum c_i^2) / (sum c_i) less than the entries.

    >>> times_tested(np.array([0, 0, 0, 1, 1]), np.array([7, 7, 8, 7, 9])).tolist()
    [1.6666666666666667, 1.0]
    """
    n_rows = int(row.max()) + 1
    pairs, times = np.unique(place * n_rows + row, return_counts=True)
    squares = np.bincount(pairs // n_rows, weights=times * times)
    return squares / np.bincount(pairs // n_rows, weights=times)


def wilson_limits(events: float, rows: float) -> tuple[float, float]:
    """The 95 % confidence limits of a share by Wilson's score.

    >>> low, high = wilson_limits(5, 10)
    >>> round(low, 4), round(high, 4)
    (0.2366, 0.7634)
    """
    share, square = events / rows, Z * Z
    centre = (share + square / (2 * rows)) / (1 + square / rows)
    spread = math.sqrt(share * (1 - share) / rows + square / (4 * rows * rows))
    half = Z / (1 + square / rows) * spread
    # At 0 and 1 a limit is the share itself, but for rounding.
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))
