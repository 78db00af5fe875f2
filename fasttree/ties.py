# SPDX-License-Identifier: BSD-3-Clause
"""Which of several attributes is asked whose best splits are equally good: the first in an order."""

from __future__ import annotations

import numpy as np


def best_first(score: np.ndarray, tie: float, relative: bool) -> np.ndarray:
    """The places of scores, the best first; equal ones in the order of their places.

    What is less than the one before by no more than `tie` (if `relative`, by that share of it) is equal to it. So
    rounding decides nothing.
    """
    order = np.argsort(-score, kind="stable")
    ranked = score[order]
    n_possible = np.count_nonzero(ranked > -np.inf)  # the others, that have no split, are all equal
    is_worse = np.zeros(len(ranked), dtype=bool)
    is_worse[n_possible : n_possible + 1] = True
    possible = ranked[:n_possible]
    before, after = possible[:-1], possible[1:]
    margin = tie * np.maximum(np.abs(before), np.abs(after)) if relative else tie
    is_worse[1:n_possible] = after < before - margin
    return order[np.lexsort((order, np.cumsum(is_worse)))]
