# SPDX-License-Identifier: BSD-3-Clause
"""By what best-first growth orders splits."""

from __future__ import annotations

import numpy as np

from fasttree.base.sums import sums
from fasttree.trees.structure import TreeStructure
from fasttree.trees.tree import Tree

STEPS_PER_UNIT = 2**30


def whole_gain(gain: np.ndarray, counts: np.ndarray, factor: np.ndarray | None) -> np.ndarray:
    """What splits save in all: the gain by the weight of their nodes, from the class counts of these; `factor`: what
    each class counts. Equal ones that were rounded differently are equal."""
    weighed = counts if factor is None else counts * (factor / factor.max())
    return np.rint(gain * sums(weighed) * STEPS_PER_UNIT)


def whole_gain_of(tree: TreeStructure, factor: np.ndarray | None) -> np.ndarray:
    """The same of all the splits of a tree."""
    if isinstance(tree, Tree):
        return whole_gain(tree.gain, tree.counts, factor)
    return np.rint(tree.gain * tree.weight * STEPS_PER_UNIT)
