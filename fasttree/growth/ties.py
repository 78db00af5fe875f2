# SPDX-License-Identifier: BSD-3-Clause
"""Which of several attributes is asked whose best splits are equally good: the first in an order."""

from __future__ import annotations

import math

import numpy as np


def best_first(score: np.ndarray, tie: float, relative: bool) -> np.ndarray:
    """The places of scores, the best first; equal ones in the order of their places.

    What is less than the one before by no more than `tie` (if `relative`, by that share of it) is equal to it. So
    rounding decides nothing.
    """
    values = score.tolist()
    found: list[int] = []
    equal: list[int] = []
    for place in sorted(range(len(values)), key=values.__getitem__, reverse=True):
        if equal and _is_worse(values[place], values[equal[-1]], tie, relative):
            found += sorted(equal)
            equal = []
        equal.append(place)
    return np.array(found + sorted(equal), dtype=np.int64)


def _is_worse(score: float, than: float, tie: float, relative: bool) -> bool:
    if score == -math.inf:  # no split: all of these are equal
        return than > score
    return score < than - (tie * max(abs(score), abs(than)) if relative else tie)
