# SPDX-License-Identifier: BSD-3-Clause
"""How far a ratio of times can be told, and when that is enough to say "not slower"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# "Not slower" is met where the whole interval of our time over the other lies at or below this.
NOT_SLOWER = 1.03
FEWEST = 6  # of fewer values not even the smallest and the largest enclose 95 %

Interval = tuple[float, float]


def of_median(values: Sequence[float] | np.ndarray) -> Interval:
    """Bootstrap interval, 95 %, of the median."""
    values = np.asarray(values, dtype=float)
    draws = np.random.default_rng(0).choice(values, (10_000, len(values)))
    low, high = np.quantile(np.median(draws, axis=1), [0.025, 0.975])
    return float(low), float(high)


def verdict(ratios: Sequence[float]) -> str:
    """Of the ratios of single rounds, new over old."""
    if len(ratios) < FEWEST:
        return "undecided"
    low, high = of_median(ratios)
    if high <= NOT_SLOWER:
        return "not slower"
    return "slower" if low > NOT_SLOWER else "undecided"
