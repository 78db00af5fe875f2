# SPDX-License-Identifier: BSD-3-Clause
"""One group through the protocol: halved by each seed, every method fitted to one half and judged by the other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields
from itertools import combinations

import numpy as np

from fasttree.estimators import TreeClassifier
from fasttree.evaluation.comparison import Comparison, FoldResult
from fasttree.stats import metrics
from fasttree.stats.curves import GRID, roc_on_grid
from fasttree.studies.figures import (
    calibration_bins,
    calibration_line,
    normal_tails,
    spread,
)
from fasttree.studies.groups import Group
from fasttree.studies.logistic import LogisticModel
from fasttree.studies.methods import COMPLETE, LOGISTIC, Answer, Halves, answers
from fasttree.studies.model_summaries import logistic_report, readable_tree
from fasttree.studies.results import (
    Calibration,
    Fit,
    GroupResult,
    LogisticReport,
    PairedDifference,
    ReadableTree,
    RiskFactors,
    RocCurves,
    Summary,
)
from fasttree.studies.risk import RiskTally

COMPARED = ("auc", "log_loss", "error")
SUMMED_UP = (
    "auc",
    "auc_se",
    "log_loss",
    "error",
    "leaves",
    "nodes",
    "depth",
    "attributes",
    "fit_seconds",
    "auc_laplace",
    "log_loss_laplace",
    "n_test",
)
READABLE = ("SMML", "C4.5")
MOST_LEAVES = 250  # of a tree that is shown
NO_COMPLETE_CASES = (
    "There is no regression of complete cases: no values are missing, or too few rows are complete."
)


def study_group(
    group: Group,
    seeds: Sequence[int],
    methods: Sequence[str],
    *,
    definition: dict[str, tuple[str, ...]] | None,
    has_risk: np.ndarray | None,
    probability: np.ndarray | None,
    n_jobs: int | None,
    tick: Callable[[], None],
) -> GroupResult:
    """All that there is to say about a group. `has_risk` and `probability`, by row of the group, may be unknown."""
    log = _Log(group, methods, None if has_risk is None else RiskTally(group, has_risk))
    reference = []
    for seed in seeds:
        halves = Halves.of(group, seed)
        found = answers(halves, methods, n_jobs)
        log.add(halves, found)
        if seed == seeds[0]:
            log.read(halves, found)
        if probability is not None:
            is_event = group.is_event[halves.test]
            reference.append(metrics.roc_auc(is_event, probability[halves.test]))
        tick()
    risk = None
    if log.risk is not None and definition is not None:
        risk = log.risk.result(definition)
    return log.result(halves, risk, reference)


class _Log:
    """What the seeds bring, until they are all in."""

    def __init__(self, group: Group, methods: Sequence[str], risk: RiskTally | None) -> None:
        self.group, self.methods, self.risk = group, tuple(methods), risk
        self.fits: list[Fit] = []
        self.curves: dict[str, list[np.ndarray]] = {}
        self.pooled: dict[str, list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
        self.used: dict[str, list[tuple[str, ...]]] = {}
        self.trees: list[ReadableTree] = []
        self.logistic: list[LogisticReport] = []
        self.delong: dict[tuple[str, str], float] = {}
        self.notes: list[str] = []
        self.share = 1.0

    def add(self, halves: Halves, found: dict[str, Answer]) -> None:
        self.share = halves.share
        is_event = self.group.is_event[halves.test]
        for name, answer in found.items():
            own = is_event[answer.rows]
            self.fits.append(_judged(answer, own, halves.seed))
            self.curves.setdefault(name, []).append(roc_on_grid(own, answer.probability))
            self.pooled.setdefault(name, []).append(
                (own, answer.probability, halves.test[answer.rows])
            )
            self.used.setdefault(name, []).append(answer.attributes)
        if self.risk is not None:
            self.risk.add(halves, found)

    def read(self, halves: Halves, found: dict[str, Answer]) -> None:
        """What is shown of the first seed alone: its trees, its regressions, its paired tests."""
        for name in READABLE:
            if name not in found:
                continue
            n_leaves = found[name].model.get_n_leaves()
            if n_leaves <= MOST_LEAVES:
                self.trees.append(readable_tree(found[name], halves))
            else:
                self.notes.append(
                    f"The tree of {name} is not shown: it has {n_leaves:,} leaves, more than {MOST_LEAVES}"
                )
        self.logistic = [
            logistic_report(answer, halves)
            for answer in found.values()
            if isinstance(answer.model, LogisticModel)
        ]
        is_event = self.group.is_event[halves.test]
        scores = [found[name].probability for name in self.methods]
        areas, covariance = metrics.roc_auc_covariance(is_event, scores)
        for i, j in combinations(range(len(scores)), 2):
            variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
            difference = areas[i] - areas[j]
            sure = variance <= 1e-18
            z = 0.0 if sure else difference / math.sqrt(variance)
            p = float(difference == 0) if sure else normal_tails(z)
            self.delong[self.methods[i], self.methods[j]] = p

    def result(
        self, halves: Halves, risk: RiskFactors | None, reference: list[float]
    ) -> GroupResult:
        group = self.group
        notes = list(self.notes)
        if LOGISTIC in self.methods and COMPLETE not in self.curves:
            notes.append(NO_COMPLETE_CASES)
        return GroupResult(
            name=group.name,
            n_rows=len(group.rows),
            n_events=int(np.count_nonzero(group.is_event)),
            n_train=len(halves.train),
            n_test=len(halves.test),
            attributes=group.table.names,
            left_out=group.left_out,
            fits=tuple(self.fits),
            summaries=tuple(self._summary(name) for name in self.curves),
            differences=tuple(self._differences()),
            roc=tuple(_curves(name, curves) for name, curves in self.curves.items()),
            calibration=tuple(self._calibration(name) for name in self.pooled),
            attributes_used={name: _shares(used) for name, used in self.used.items()},
            trees=tuple(self.trees),
            logistic=tuple(self.logistic),
            risk=risk,
            reference_auc=spread(reference, halves.share) if reference else None,
            notes=tuple(notes),
        )

    def _of(self, name: str) -> list[Fit]:
        return [fit for fit in self.fits if fit.method == name]

    def _summary(self, name: str) -> Summary:
        fits = self._of(name)
        spreads = {m: spread((getattr(f, m) for f in fits), self.share) for m in SUMMED_UP}
        return Summary(name, spreads)

    def _calibration(self, name: str) -> Calibration:
        fits, pairs = self._of(name), self.pooled[name]
        is_event, probability, row = (np.concatenate(part) for part in zip(*pairs, strict=True))
        return Calibration(
            name,
            spread((fit.calibration_slope for fit in fits), self.share),
            spread((fit.calibration_intercept for fit in fits), self.share),
            calibration_bins(is_event, probability, row),
        )

    def _differences(self) -> list[PairedDifference]:
        """Of all pairs of methods that were judged by the same rows."""
        results = [_fold_result(fit) for name in self.methods for fit in self._of(name)]
        comparison = Comparison(self.methods, np.empty(0), results, 0.0)
        found = []
        for measure in COMPARED:
            sign = -1.0 if measure == "error" else 1.0
            asked = "accuracy" if measure == "error" else measure
            for d in comparison.differences(asked):
                delong = self.delong[d.first, d.second] if measure == "auc" else math.nan
                found.append(
                    PairedDifference(
                        measure,
                        d.first,
                        d.second,
                        sign * d.mean,
                        d.corrected_se,
                        sign * d.t,
                        d.p_value,
                        delong,
                    )
                )
        return found


def _judged(answer: Answer, is_event: np.ndarray, seed: int) -> Fit:
    tree = answer.model.tree_ if isinstance(answer.model, TreeClassifier) else None
    slope, intercept = calibration_line(is_event, answer.probability)
    laplace = answer.laplace
    return Fit(
        method=answer.method,
        seed=seed,
        n_train=answer.n_train,
        n_test=len(is_event),
        auc=metrics.roc_auc(is_event, answer.probability),
        auc_se=metrics.roc_auc_se(is_event, answer.probability),
        log_loss=metrics.log_loss(is_event, answer.probability),
        error=float(np.mean((answer.probability > 0.5) != is_event)),
        leaves=math.nan if tree is None else float(tree.n_leaves),
        nodes=math.nan if tree is None else float(tree.size),
        depth=math.nan if tree is None else float(tree.max_depth),
        attributes=len(answer.attributes),
        fit_seconds=answer.seconds,
        auc_laplace=math.nan if laplace is None else metrics.roc_auc(is_event, laplace),
        log_loss_laplace=math.nan if laplace is None else metrics.log_loss(is_event, laplace),
        calibration_slope=slope,
        calibration_intercept=intercept,
    )


def _fold_result(fit: Fit) -> FoldResult:
    """As the tests of a cross-validation read it."""
    shared = {f.name: getattr(fit, f.name) for f in fields(FoldResult) if hasattr(fit, f.name)}
    return FoldResult(**shared, fold=fit.seed, accuracy=1 - fit.error, brier=math.nan)


def _curves(name: str, curves: list[np.ndarray]) -> RocCurves:
    return RocCurves(name, tuple(GRID.tolist()), tuple(tuple(c.round(5).tolist()) for c in curves))


def _shares(used: list[tuple[str, ...]]) -> dict[str, float]:
    """Attributes and the share of the seeds in which they were used, the most frequent first."""
    count = Counter(name for names in used for name in names)
    ordered = sorted(count, key=lambda name: (-count[name], name))
    return {name: count[name] / len(used) for name in ordered}
