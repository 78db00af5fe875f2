# SPDX-License-Identifier: BSD-3-Clause
"""C4.5's own choice among the attributes of a node."""

from __future__ import annotations

import numpy as np

from fasttree._core import ORDERED, THRESHOLD
from fasttree.base.sums import sums
from fasttree.growth.candidates import Candidates
from fasttree.growth.context import GrowthContext
from fasttree.growth.level import Level

BELOW_AVERAGE = 1e-3  # an attribute may gain so much less than the average and still be chosen
LEAST_SPLIT_INFORMATION = 1e-3
MANY_VALUES = 0.3  # of the rows: an attribute with so many levels says nothing about the average


class C45Chooser:
    """Chooses by gain or gain ratio as C4.5 does.

    A gain is less the price of the choice of a threshold; one that it makes worthless is no candidate, and counts for
    nothing in the average. So it is with every attribute that must gain. By ratio, only attributes of about average
    gain or more compete, or one that splits next to nothing off might win.
    """

    is_relative = False

    def __init__(self, context: GrowthContext) -> None:
        self.params = context.params
        by_threshold = (context.shape == THRESHOLD) | (context.shape == ORDERED)
        n_values = context.n_codes - 1
        # Two categories are a branch each, also where categories are put in groups.
        self.must_gain = ~(context.is_multiway | (context.is_grouped & (n_values <= 2)))
        weight = context.limit_weights(
            context.root_stats[np.newaxis, :], context.root_stats.sum(keepdims=True)
        )[0]
        # But for what the rounding of weights takes.
        many = MANY_VALUES * weight / context.steps_per_unit * (1 - 1e-6)
        self.has_many_values = ~by_threshold & (n_values >= many)

    def adjust(self, level: Level, nodes: np.ndarray, candidates: Candidates) -> None:
        """The score is the gain or the gain ratio, -inf if the attribute may not be chosen."""
        assert candidates.information is not None
        gain, information, tie = candidates.score, candidates.information, self.params.tie
        # Release 8 takes what is best, even if that gains nothing (its search starts below 0); J48 does not.
        least = tie if self.params.compat else -tie
        eligible = np.isfinite(gain) & ~(self.must_gain[:, np.newaxis] & (gain <= tie))
        if self.params.criterion == "gain_ratio":
            counts = eligible
            if not self.has_many_values.all():
                counts = eligible & ~self.has_many_values[:, np.newaxis]
            n = counts.sum(axis=0)
            sum_of_gains = sums(np.where(counts, gain, 0.0), 0)
            average = np.where(n > 0, sum_of_gains / np.maximum(n, 1), np.inf)
            eligible &= (gain >= average - BELOW_AVERAGE) & (information > LEAST_SPLIT_INFORMATION)
            gain = gain / np.where(eligible, information, 1.0)
        candidates.score = candidates.worth = np.where(eligible & (gain > least), gain, -np.inf)
