# SPDX-License-Identifier: BSD-3-Clause
"""Which splits a tree of at most so many leaves can make: the others need not grow.

The *reach* of a split is the least that it or a split above it saves. Best-first growth always makes the split that
saves most of those that are open; so it makes every split of greater reach before one of smaller reach, since of the
former, or of what is above it, one is always open and saves more. If as many splits as leaves allow have a greater
reach, nothing is left for this one. Equal reaches are told apart by the order of nodes, which stays what it is when
nodes are left out.

Growth goes on level by level, and leaves out what lies below such a split. Which of the splits it has made are kept,
`fasttree.pruning.after_growth` decides.
"""

from __future__ import annotations

import numpy as np

from fasttree.growth.context import GrowthContext
from fasttree.growth.targets import ClassTarget
from fasttree.trees.whole_gain import whole_gain

# Where a leaf has fewer rows on average nearly all grows anyway, and small nodes are better grown in one go.
LEAST_ROWS_OF_LEAF = 64


class SplitLimit:
    """The splits of greatest reach so far, of a tree with a limited number of leaves."""

    def __init__(self, context: GrowthContext) -> None:
        self._context = context
        self._most = context.params.max_leaves - 1  # each split has two branches
        self._greatest = np.empty(0)  # reaches

    @staticmethod
    def serves(context: GrowthContext) -> bool:
        """Are there to be few leaves, does every split bring one more, and may every split be kept?"""
        params = context.params
        return (
            isinstance(context.target, ClassTarget)
            and params.max_leaves * LEAST_ROWS_OF_LEAF <= context.n_rows
            and params.significance is None
            and not params.by_length
            and not context.is_fractional
            and not (context.is_multiway | context.is_grouped).any()
        )

    def add(self, above: np.ndarray, gain: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Take splits in, and return their reaches. `above`: the least that a split above saves, `steps`: the class
        counts of their nodes."""
        counts = self._context.plain(steps) / self._context.steps_per_unit
        reach = np.minimum(above, whole_gain(gain, counts, self._context.class_factor))
        known = np.concatenate([self._greatest, reach])
        if len(known) > self._most:
            known = np.partition(known, -self._most)[-self._most :]
        self._greatest = known
        return reach

    def may_be_made(self, reach: np.ndarray) -> np.ndarray:
        """Whether splits of such a reach are among the first of all that were added."""
        if len(self._greatest) < self._most:
            return np.ones(len(reach), dtype=bool)
        return np.asarray(reach >= self._greatest.min())
