# SPDX-License-Identifier: BSD-3-Clause
"""Averages over all the prunings of a tree.

The public place of what `fasttree.mml.averaging` holds; nothing in the package imports it.
"""

from __future__ import annotations

from fasttree.mml.averaging import (
    PruningWeights,
    average_prunings,
    pruning_weights,
)

__all__ = [
    "PruningWeights",
    "average_prunings",
    "pruning_weights",
]


def __dir__() -> list[str]:
    return __all__
