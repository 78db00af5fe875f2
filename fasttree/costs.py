# SPDX-License-Identifier: BSD-3-Clause
"""Attributes that cost something to measure.

The public place of what `fasttree.growth.choosers.costs` holds; nothing in the package imports it.
"""

from __future__ import annotations

from fasttree.growth.choosers.costs import (
    gain_per_cost,
    nunez,
    tan_schlimmer,
)

__all__ = [
    "gain_per_cost",
    "nunez",
    "tan_schlimmer",
]


def __dir__() -> list[str]:
    return __all__
