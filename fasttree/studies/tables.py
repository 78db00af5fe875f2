# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of a study as tables of text, for a terminal or a page."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from fasttree.evaluation.comparison import Spread
from fasttree.evaluation.differences import holm
from fasttree.studies.figures import SUREST
from fasttree.studies.methods import LOGISTIC
from fasttree.studies.results import (
    GroupResult,
    Interval,
    PairedDifference,
    StudyResult,
    Table1Variable,
)

NONE = "-"
CLIPPED = f"Probabilities are first clipped to {SUREST:g} to {1 - SUREST:g}, since 0 and 1 have infinite log odds."
MEASURES = (
    ("AUC", "auc", 3),
    ("SE", "auc_se", 3),
    ("loss", "log_loss", 3),
    ("err %", "error", 1),
    ("leaves", "leaves", 0),
    ("nodes", "nodes", 0),
    ("depth", "depth", 0),
    ("attrs", "attributes", 0),
    ("fit s", "fit_seconds", 2),
)
PERCENT = frozenset({"error"})
WITH_SD = frozenset({"auc"})  # so that the table fits into 80 columns


@dataclass(frozen=True, slots=True)
class TextTable:
    """The first `n_left` columns are words, the others numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_left: int = 1
    note: str = ""


def group_title(result: StudyResult, group: GroupResult) -> str:
    share = percent(group.n_events / group.n_rows)
    return f"{group.name}: {group.n_rows:,} rows, {group.n_events:,} {result.target} ({share})"


def method_table(result: StudyResult, group: GroupResult) -> TextTable:
    rows = []
    for summary in group.summaries:
        cells = []
        for _, name, places in MEASURES:
            scale = 100 if name in PERCENT else 1
            cells.append(spread_text(summary.spreads[name], places, scale, name in WITH_SD))
        rows.append((summary.method, *cells))
    note = (
        f"{means_of(group)}. SE: of one split's AUC, by DeLong. "
        "loss: log loss. attrs: attributes used."
    )
    if group.reference_auc is not None:
        note += f" True probabilities: AUC {spread_text(group.reference_auc, 3)}."
    header = ("method", *(title for title, _, _ in MEASURES))
    return TextTable(group_title(result, group), header, tuple(rows), note=note)


def differences_from(
    group: GroupResult, baseline: str, measure: str = "auc"
) -> list[tuple[str, PairedDifference, float]]:
    """Each other method, its paired difference from `baseline`, and the sign that turns it around."""
    return [
        (d.first, d, 1.0) if d.second == baseline else (d.second, d, -1.0)
        for d in group.differences
        if d.measure == measure and baseline in (d.first, d.second)
    ]


def difference_table(
    group: GroupResult, measure: str = "auc", baseline: str = LOGISTIC
) -> TextTable:
    compared = differences_from(group, baseline, measure)
    adjusted = holm([d.p_value for _, d, _ in compared])
    rows = []
    for (other, d, sign), p in zip(compared, adjusted, strict=True):
        rows.append(
            (
                other,
                number(sign * d.mean, 4, signed=True),
                number(d.corrected_se, 4),
                p_text(d.p_value),
                p_text(p),
                p_text(d.delong_p),
            )
        )
    header = ("method", "difference", "SE", "P", "P, Holm", "P, first split")
    note = (
        "P: corrected resampled t test over the splits, unadjusted and adjusted by Holm for the comparisons of this "
        "table; on the first split, DeLong's test, unadjusted."
    )
    return TextTable(f"Difference in AUC from {baseline}", header, tuple(rows), note=note)


def calibration_table(group: GroupResult) -> TextTable:
    rows = tuple(
        (c.method, spread_text(c.slope, 2), spread_text(c.intercept, 2)) for c in group.calibration
    )
    note = (
        f"{means_of(group)}. A slope of 1 and an intercept of 0 are ideal; a slope below 1 means overconfidence. "
        f"{CLIPPED} The slope of a method with many probabilities near 0 or 1, such as ID3, depends on these limits."
    )
    return TextTable("Calibration", ("method", "slope", "intercept"), rows, note=note)


def attribute_table(group: GroupResult, methods: Iterable[str] = ("SMML", LOGISTIC)) -> TextTable:
    """In how many of the splits each attribute was used, where any of the methods used it."""
    used = {name: group.attributes_used[name] for name in methods if name in group.attributes_used}
    names = sorted(
        {attribute for shares in used.values() for attribute in shares},
        key=lambda a: (-math.fsum(shares.get(a, 0.0) for shares in used.values()), a),
    )
    rows = tuple(
        (name, *(percent(shares[name], 0) if name in shares else NONE for shares in used.values()))
        for name in names
    )
    return TextTable("Attributes used, percentage of the splits", ("attribute", *used), rows)


def risk_table(group: GroupResult) -> TextTable | None:
    risk = group.risk
    if risk is None:
        return None
    rows = tuple(
        (
            one.method,
            spread_text(one.auc, 3),
            spread_text(one.sensitivity, 1, 100),
            spread_text(one.specificity, 1, 100),
        )
        for one in risk.without
    )
    note = (
        f"{interval_text(risk.events_with)} of all events have a risk factor; in a test half "
        f"{number(risk.events_with_in_test.mean, 0)} of {number(risk.events_in_test.mean, 0)}. "
        f"Predicted positive: a probability above the proportion of events in the training half. {means_of(group)}."
    )
    header = ("method", "AUC", "sensitivity %", "specificity %")
    return TextTable("Rows without a categorised risk factor", header, rows, note=note)


def table1_table(variables: Iterable[Table1Variable], title: str = "Table 1") -> TextTable:
    rows = []
    for variable in variables:
        rows.append((variable_title(variable), "", "", "", p_text(variable.p_value)))
        rows.extend(
            (f"  {level.level}", f"{level.rows:,}", f"{level.events:,}", percent(level.rate), "")
            for level in variable.levels
        )
    note = "P: Pearson's chi-square test without missing values, not adjusted for the number of variables."
    return TextTable(title, ("variable", "total", "events", "%", "P"), tuple(rows), note=note)


def variable_title(variable: Table1Variable) -> str:
    return variable.title + (f" ({variable.note})" if variable.note else "")


# -- texts of numbers --------------------------------------------------------------------------------------------------


def number(value: float, places: int, signed: bool = False) -> str:
    if math.isnan(value):
        return NONE
    value = round(value, places) or 0.0  # no "-0.000"
    return f"{value:{'+' if signed else ''},.{places}f}"


def percent(share: float, places: int = 1) -> str:
    return NONE if math.isnan(share) else f"{100 * share:.{places}f} %"


def means_of(group: GroupResult) -> str:
    """What `spread_text` writes: the sign ± is for standard errors alone, a standard deviation stands in brackets."""
    n_splits = len({fit.seed for fit in group.fits})
    if n_splits == 1:
        return "One split"
    return f"Means of {n_splits} splits, the standard deviation between splits in brackets"


def spread_text(spread: Spread, places: int, scale: float = 1, with_sd: bool = True) -> str:
    text = number(scale * spread.mean, places)
    if not with_sd or math.isnan(spread.sd) or text == NONE:
        return text
    return f"{text} ({number(scale * spread.sd, places)})"


def interval_text(interval: Interval, places: int = 1) -> str:
    low, high = (f"{100 * limit:.{places}f}" for limit in (interval.low, interval.high))
    return f"{percent(interval.rate, places)} ({low} to {high})"


def p_text(p: float) -> str:
    """As journals print it."""
    if math.isnan(p):
        return NONE
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")
