# SPDX-License-Identifier: BSD-3-Clause
"""The cesarean study: tree methods against logistic regression on two halves of a cohort, again and again.

After Sims and others, "Predicting cesarean delivery with decision tree models", American Journal of Obstetrics and
Gynecology 183 (2000): nulliparous and parous women apart; half of each group to build the models, the other half to
judge them by their AUCs. The study's own data are not public: `run()` without a table takes the synthetic cohort
of `fasttree.datasets.make_cesarean_cohort`, and says so.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from fasttree.base.checks import check_integer, check_n_jobs, is_whole
from fasttree.base.values import short_repr
from fasttree.datasets import cesarean_table1, make_cesarean_cohort
from fasttree.studies.groups import StudyTable, read_study_table, rows_with
from fasttree.studies.methods import check_methods
from fasttree.studies.protocol import study_group
from fasttree.studies.results import GroupResult, StudyResult
from fasttree.studies.table1 import printed_table1, table1

TITLE = "Predicting {}: decision trees and logistic regression"
SYNTHETIC = "The cohort is synthetic: it has the margins of the published Table 1, and no row stands for a real woman."
TARGET, BY = "cesarean", "parity"
FORMER = "previous_cesarean"
# The study identified "risk factor variables" in 1,095 cesareans of its test halves without saying which variables
# these are. Here they are the conditions of its Table III that a delivery either has or has not. Age, race and weight
# are no conditions; the kind of rupture is none; and a previous cesarean cannot be meant, since more parous cesareans
# have one (1,204 of 1,772) than have a risk factor (47.6 %).
RISK_FACTORS: dict[str, tuple[str, ...]] = {
    "diabetes": ("gestational", "insulin-dependent"),
    "hypertension": ("transient", "preeclampsia"),
    "preterm_delivery": ("yes",),
    "presentation": ("breech", "abnormal lie"),
    "fetal_growth": ("restricted", "macrosomia"),
    "heart_disease": ("yes",),
    "pulmonary_condition": ("yes",),
    "placenta_previa": ("yes",),
    "uterine_abnormality": ("yes",),
    "herpes": ("yes",),
    "preterm_labor": ("yes",),
    "abruptio_placentae": ("yes",),
    "chorioamnionitis": ("yes",),
    "fetal_distress": ("yes",),
    "cord_prolapse": ("yes",),
    "meconium": ("yes",),
}


def run(
    data: Any = None,
    target: Any = None,
    by: str | None = None,
    *,
    event: Any = None,
    seeds: int | Sequence[int] = 10,
    methods: Sequence[str] | str | None = None,
    risk_factors: Mapping[str, Sequence[str]] | None = None,
    n_rows: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    n_jobs: int | None = None,
) -> StudyResult:
    """Run the study and return its results.

    For each seed, each group of rows is split in half at random, with the same proportion of events in both halves.
    Every method is fitted to one half and predicts the probabilities of the other. Logistic regression selects its
    attributes at p < .05 and codes missing values as indicators; a second regression omits rows with missing values.

    Parameters
    ----------
    data : table, optional
        A data frame, Arrow table or dict of columns. Default: the synthetic cohort.
    target : str or column
        The column of `data` with the outcome, which has two classes.
    by : str, optional
        The column whose values define the groups. Default: all rows are one group.
    event : label, optional
        The class to predict. Default: the second of the sorted labels ("yes" of "no" and "yes").
    seeds : int or list of ints
        The number of splits, or the seeds of the splits.
    methods : list of names, optional
        Some of "ID3", "C4.5", "CART", "CART0", "Bayes", "MML", "SMML" and "Logistic". Default: all.
    risk_factors : dict from attribute to categories, optional
        The categories that count as a risk factor. Default: `RISK_FACTORS` for the synthetic cohort; for other data,
        risk factors are then not reported.
    n_rows : int, optional
        The number of rows of the synthetic cohort.
    progress : function
        Called with the number of completed splits and the total number.
    n_jobs : int or None
        Number of threads of each fit. Apart from the times, the result does not depend on it.
    """
    begin = time.perf_counter()
    chosen, seeds, n_jobs = check_methods(methods), _read_seeds(seeds), check_n_jobs(n_jobs)
    probability, synthetic = None, data is None
    if synthetic:
        if target is not None or by is not None:
            raise ValueError(
                "target and by are columns of data: pass data as well, or none of the three"
            )
        cohort = make_cesarean_cohort() if n_rows is None else make_cesarean_cohort(n_rows)
        data, probability = {**cohort.X, TARGET: cohort.y}, cohort.probability
        target, by = TARGET, BY
        risk_factors = RISK_FACTORS if risk_factors is None else risk_factors
    elif n_rows is not None:
        raise ValueError(
            "n_rows applies only to the synthetic cohort: leave it out if data is given"
        )
    table = read_study_table(data, target, by, event)
    definition = None
    if risk_factors is not None:
        definition = {name: tuple(map(str, levels)) for name, levels in risk_factors.items()}
    with _one_thread():
        groups = _groups(table, chosen, seeds, definition, probability, progress, n_jobs)
    named = target if isinstance(target, str) else "the outcome"
    return StudyResult(
        title=TITLE.format("cesarean delivery" if synthetic else named),
        synthetic=synthetic,
        target=named,
        event=table.event,
        by=by or "",
        n_rows=len(table.is_event),
        n_events=int(np.count_nonzero(table.is_event)),
        n_attributes=len(table.table.names) + (by is not None),
        seeds=seeds,
        methods=chosen,
        table1=_table1(table, synthetic),
        printed_table1=printed_table1() if synthetic else (),
        groups=groups,
        seconds=time.perf_counter() - begin,
        notes=((SYNTHETIC,) if synthetic else ()) + table.notes,
    )


def _one_thread() -> AbstractContextManager[object]:
    """One thread for linear algebra. The matrices of a regression are small: threads wait for each other longer than
    they compute, and on a busy machine ten times as long. Without threadpoolctl (of the extra "study") nothing is
    changed."""
    try:
        limits = importlib.import_module("threadpoolctl")
    except ImportError:
        return nullcontext()
    return limits.threadpool_limits(1, "blas")


def _read_seeds(seeds: Any) -> tuple[int, ...]:
    listed = range(check_integer("seeds", seeds, 1)) if is_whole(seeds) else seeds
    if isinstance(listed, (str, bytes, bool)) or not hasattr(listed, "__iter__"):
        raise TypeError(
            f"seeds must be a number of splits, or a list of seeds, got {short_repr(seeds)}"
        )
    found = tuple(listed)
    for seed in found:
        check_integer("each of seeds", seed, 0)
    if not found or len(set(found)) < len(found):
        raise ValueError(f"seeds must be one or more different integers, got {short_repr(seeds)}")
    return tuple(int(seed) for seed in found)


def _groups(
    table: StudyTable,
    methods: tuple[str, ...],
    seeds: tuple[int, ...],
    definition: dict[str, tuple[str, ...]] | None,
    probability: np.ndarray | None,
    progress: Callable[[int, int], None] | None,
    n_jobs: int | None,
) -> tuple[GroupResult, ...]:
    has_risk = None if definition is None else rows_with(table.table, definition)
    n_done, n_all = 0, len(table.groups) * len(seeds)

    def tick() -> None:
        nonlocal n_done
        n_done += 1
        if progress is not None:
            progress(n_done, n_all)

    return tuple(
        study_group(
            group,
            seeds,
            methods,
            definition=definition,
            has_risk=None if has_risk is None else has_risk[group.rows],
            probability=None if probability is None else probability[group.rows],
            n_jobs=n_jobs,
            tick=tick,
        )
        for group in table.groups
    )


def _table1(table: StudyTable, synthetic: bool) -> Any:
    if not synthetic:
        return table1(table.table, table.is_event)
    titles = {row.column: row.title for row in cesarean_table1()}
    notes = {FORMER: "parous women only"}
    return table1(table.table, table.is_event, titles, notes, left_out=(FORMER,))
