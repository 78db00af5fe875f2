# SPDX-License-Identifier: BSD-3-Clause
"""Pictures for notebooks and papers, with matplotlib (``pip install 'fasttree[plot]'``).

Every function takes ``ax=None``, draws on these Axes or on a new figure, and returns the Axes. If drawing fails, an
error is raised and no empty figure is left behind.
"""

from __future__ import annotations

from fasttree.plot.attributes import importances, impurity_curves, ranking
from fasttree.plot.confusion import confusion_matrix
from fasttree.plot.probabilities import calibration, roc, roc_bands
from fasttree.plot.sizes import error_by_leaves, pruning_path
from fasttree.plot.trees import tree

__all__ = [
    "calibration",
    "confusion_matrix",
    "error_by_leaves",
    "importances",
    "impurity_curves",
    "pruning_path",
    "ranking",
    "roc",
    "roc_bands",
    "tree",
]


def __dir__() -> list[str]:
    return __all__
