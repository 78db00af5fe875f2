# SPDX-License-Identifier: BSD-3-Clause
"""By what best-first growth orders splits."""

from __future__ import annotations

import numpy as np

from fasttree.base.sums import sums


def whole_gain(gain: np.ndarray, counts: np.ndarray, factor: np.ndarray | None) -> np.ndarray:
    """What splits save in all: the gain by the weight of their nodes, from the class counts of these; `factor`: what
    each class counts. Equal ones that were rounded differently are equal."""
    weighed = counts if factor is None else counts * (factor / factor.max())
    return np.rint(gain * sums(weighed) * 2**30)
