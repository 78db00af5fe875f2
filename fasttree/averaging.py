# SPDX-License-Identifier: BSD-3-Clause
"""Averages over all prunings of a tree.

The public names of `fasttree.mml.averaging`; nothing in the package imports this module.
"""

from __future__ import annotations

from fasttree.mml.averaging import PruningWeights, average_prunings, pruning_weights

__all__ = ["PruningWeights", "average_prunings", "pruning_weights"]


def __dir__() -> list[str]:
    return __all__
