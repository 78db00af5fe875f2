# SPDX-License-Identifier: BSD-3-Clause
"""Several methods compared by cross-validation.

The public place of what `fasttree.evaluation.compare` holds; nothing in the package imports it.
"""

from __future__ import annotations

from fasttree.evaluation.compare import (
    METHODS,
    compare_methods,
)

__all__ = [
    "METHODS",
    "compare_methods",
]


def __dir__() -> list[str]:
    return __all__
