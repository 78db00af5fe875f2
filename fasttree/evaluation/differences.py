# SPDX-License-Identifier: BSD-3-Clause
"""Differences between methods over the same folds, with P-values for several comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fasttree.base.printed_tables import aligned


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of a measure, `first` minus `second`, fold by fold.

    `se` treats the folds as independent, although they share most of their training rows, so it is too small.
    `corrected_se` allows for that, like the standard error of a `Spread`. `t` and `p_value` (two-sided, k - 1 degrees
    of freedom) use the correction. If cross-validation was repeated r times, k is replaced by r k (Bouckaert and Frank
    2004).
    """

    first: str
    second: str
    mean: float
    se: float
    corrected_se: float
    t: float
    p_value: float
    by_fold: np.ndarray


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for multiple comparisons (Holm 1979): the smallest of n is multiplied by n, the next by n - 1,
    ..., and none is below one before it. NaN is not a comparison, and is returned as NaN.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    adjusted = list(p_values)
    known = sorted(
        (k for k, p in enumerate(p_values) if not math.isnan(p)), key=p_values.__getitem__
    )
    largest = 0.0
    for n_before, k in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - n_before) * p_values[k]))
        adjusted[k] = largest
    return adjusted


class Differences(list[Difference]):
    """Differences between methods. Prints as a table; if there are several, with P-values adjusted for multiple
    comparisons (Holm) as well."""

    def __repr__(self) -> str:
        rows = [["first", "second", "difference", "se", "corrected", "t", "p"]]
        for d in self:
            numbers = [f"{d.mean:+.4f}", f"{d.se:.4f}", f"{d.corrected_se:.4f}", f"{d.t:.2f}"]
            rows.append([d.first, d.second, *numbers, f"{d.p_value:.4f}"])
        if len(self) > 1:
            adjusted = holm([d.p_value for d in self])
            last = ["p, Holm", *(f"{p:.4f}" for p in adjusted)]
            rows = [[*row, cell] for row, cell in zip(rows, last, strict=True)]
        return aligned(rows, n_left=2)
