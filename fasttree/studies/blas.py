# SPDX-License-Identifier: BSD-3-Clause
"""One thread for linear algebra."""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager, nullcontext


def one_thread() -> AbstractContextManager[object]:
    """The matrices of a regression are small: threads wait for each other longer than they compute, and on a busy
    machine ten times as long. Without threadpoolctl (of the extra "study") nothing is changed."""
    try:
        limits = importlib.import_module("threadpoolctl")
    except ImportError:
        return nullcontext()
    return limits.threadpool_limits(1, "blas")
