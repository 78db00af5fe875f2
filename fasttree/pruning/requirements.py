# SPDX-License-Identifier: BSD-3-Clause
"""What pruning objects have in common: what they need beside the tree, and how their parameters are checked."""

from __future__ import annotations

import numbers
from typing import Any

from fasttree.base.checks import is_whole
from fasttree.base.values import short_repr

# What a method must be given beside the tree.
NOTHING = "nothing"
HELD_OUT = "held-out rows"
TRAINING_ROWS = "training rows"
FOLDS = "folds"


def check_folds(folds: Any) -> None:
    """None (the default, which may shrink), a number of folds, or anything that has one entry a row or a fold."""
    if folds is None:
        return
    if isinstance(folds, numbers.Real) and not (is_whole(folds) and folds >= 2):
        raise ValueError(
            f"folds must be an integer of at least 2, a fold number for each row, or (train, test) splits, "
            f"got {short_repr(folds)}"
        )
