# SPDX-License-Identifier: BSD-3-Clause
"""Events that carry a categorised risk factor, and those that do not: can the methods tell the latter?"""

from __future__ import annotations

import math

import numpy as np

from fasttree.stats import metrics
from fasttree.studies.figures import spread, wilson
from fasttree.studies.groups import Group
from fasttree.studies.methods import Answer, Halves
from fasttree.studies.results import RiskFactors, WithoutRiskFactor


class RiskTally:
    """Counted seed by seed. `has_risk`: which rows of the group carry a risk factor."""

    def __init__(self, group: Group, has_risk: np.ndarray) -> None:
        self.group, self.has_risk = group, has_risk
        self.share = 1.0
        self.events: list[float] = []
        self.with_risk: list[float] = []
        self.without: dict[str, list[tuple[float, float, float]]] = {}

    def add(self, halves: Halves, found: dict[str, Answer]) -> None:
        is_event, has_risk = self.group.is_event[halves.test], self.has_risk[halves.test]
        self.events.append(float(np.count_nonzero(is_event)))
        self.with_risk.append(float(np.count_nonzero(is_event & has_risk)))
        self.share = halves.share
        average = float(self.group.is_event[halves.train].mean())
        for name, answer in found.items():
            kept = ~has_risk[answer.rows]
            own, p = is_event[answer.rows][kept], answer.probability[kept]
            self.without.setdefault(name, []).append(_figures(own, p, average))

    def result(self, definition: dict[str, tuple[str, ...]]) -> RiskFactors:
        is_event = self.group.is_event
        n_events = int(np.count_nonzero(is_event))
        without = []
        for name, figures in self.without.items():
            auc, sensitivity, specificity = (
                spread(part, self.share) for part in zip(*figures, strict=True)
            )
            without.append(WithoutRiskFactor(name, auc, sensitivity, specificity))
        return RiskFactors(
            definition,
            int(np.count_nonzero(self.has_risk)),
            n_events,
            wilson(float(np.count_nonzero(is_event & self.has_risk)), float(n_events)),
            spread(self.events, self.share),
            spread(self.with_risk, self.share),
            tuple(without),
        )


def _figures(
    is_event: np.ndarray, probability: np.ndarray, threshold: float
) -> tuple[float, float, float]:
    """AUC, and the shares of the events and of the others that are told rightly."""
    alarm = probability > threshold
    events = int(np.count_nonzero(is_event))
    others = len(is_event) - events
    auc = metrics.roc_auc(is_event, probability) if events and others else math.nan
    found = float(np.count_nonzero(alarm & is_event) / events) if events else math.nan
    calm = float(np.count_nonzero(~alarm & ~is_event) / others) if others else math.nan
    return auc, found, calm
