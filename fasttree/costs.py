# SPDX-License-Identifier: BSD-3-Clause
"""Functions that weigh the gain of a split against the cost of its attribute.

The public names of `fasttree.growth.choosers.costs`; nothing in the package imports this module.
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
