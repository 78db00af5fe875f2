# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of several methods by cross-validation.

The public names of `fasttree.evaluation.compare`; nothing in the package imports this module.
"""

from __future__ import annotations

from fasttree.evaluation.compare import METHODS, compare_methods

__all__ = ["METHODS", "compare_methods"]


def __dir__() -> list[str]:
    return __all__
