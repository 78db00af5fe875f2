# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of the quality of predictions.

The public names of `fasttree.stats.metrics`; nothing in the package imports this module.
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
