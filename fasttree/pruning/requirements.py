# SPDX-License-Identifier: BSD-3-Clause
"""What pruning objects have in common: what they need beside the tree, and how their parameters are checked."""

from __future__ import annotations

import math
import numbers
from typing import Any

from fasttree.base.checks import as_float
from fasttree.base.values import short_repr

# What a method must be given beside the tree.
NOTHING = "nothing"
HELD_OUT = "held-out rows"
TRAINING_ROWS = "training rows"
FOLDS = "folds"


def check_at_least_zero(name: str, value: Any) -> None:
    if not 0 <= as_float(value) < math.inf:
        raise ValueError(f"{name} must be a finite number >= 0, got {short_repr(value)}")


def check_folds(folds: Any) -> None:
    """None (the default, which may shrink), a number of folds, or anything that has one entry a row or a fold."""
    if folds is None:
        return
    if isinstance(folds, bool) or (isinstance(folds, numbers.Real) and not _is_count(folds)):
        raise ValueError(
            f"folds must be an integer of at least 2, a fold number for each row, or (train, test) splits, "
            f"got {short_repr(folds)}"
        )


def _is_count(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and int(value) >= 2
