# SPDX-License-Identifier: BSD-3-Clause
"""How good predictions are.

The public place of what `fasttree.stats.metrics` holds; nothing in the package imports it.
"""

from __future__ import annotations

from fasttree.stats.metrics import (
    accuracy,
    brier_score,
    error_rate,
    hanley_mcneil,
    log_loss,
    roc_auc,
    roc_auc_covariance,
    roc_auc_se,
)

__all__ = [
    "accuracy",
    "brier_score",
    "error_rate",
    "hanley_mcneil",
    "log_loss",
    "roc_auc",
    "roc_auc_covariance",
    "roc_auc_se",
]


def __dir__() -> list[str]:
    return __all__
