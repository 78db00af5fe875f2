# SPDX-License-Identifier: BSD-3-Clause
"""All that a report says about one group of rows."""

from __future__ import annotations

import dataclasses
import math

from fasttree.studies import tables
from fasttree.studies.logistic import ALPHA
from fasttree.studies.methods import LOGISTIC
from fasttree.studies.report.blocks import Block, Folded, Picture, Points, Section, Text
from fasttree.studies.report.charts import calibration_panels, forest, roc_chart, roc_panels
from fasttree.studies.report.trees import tree_section
from fasttree.studies.report.words import Words, capital, listed, small_tree
from fasttree.studies.results import Coefficient, GroupResult, LogisticReport, StudyResult
from fasttree.studies.tables import NONE, TextTable, number, p_text, percent

LONGER = {
    "method": "Method",
    "SE": "SE of one split",
    "loss": "Log loss",
    "err %": "Errors, %",
    "leaves": "Leaves",
    "nodes": "Nodes",
    "depth": "Depth",
    "attrs": "Attributes",
    "fit s": "Fit, seconds",
    "difference": "Difference",
    "slope": "Slope",
    "intercept": "Intercept",
    "sensitivity %": "Sensitivity, %",
    "specificity %": "Specificity, %",
    "attribute": "Attribute",
    "P, Holm": "P, adjusted (Holm)",
    "P, first split": "P on the first split",
}
SHOWN_ALARMS = (5, 10, 20, 30, 50)  # percent, on the grid of the curves


def group_section(result: StudyResult, group: GroupResult, place: int) -> Section:
    name = f"group{place}"
    parts = [
        _methods(result, group, name),
        _calibration(group, name),
        _risk(result, group, name),
        *(
            tree_section(result, group, tree, f"{name}-tree{k}")
            for k, tree in enumerate(group.trees)
        ),
        _attributes(result, group, name),
    ]
    notes = [f"{attribute} was left out: {why}." for attribute, why in group.left_out.items()]
    notes += group.notes
    intro: list[Block] = [
        Text(
            f"{group.n_rows:,} {Words.of(result).rows}, {group.n_events:,} {Words.of(result).with_event} "
            f"({percent(group.n_events / group.n_rows)}). In each split, {group.n_train:,} for training and "
            f"{group.n_test:,} for testing; {len(group.attributes)} attributes."
        )
    ]
    if notes:
        intro.append(Folded("Notes on this group", (Points(tuple(("", note) for note in notes)),)))
    return Section(group.name, name, tuple(intro), tuple(p for p in parts if p is not None))


def _longer(table: TextTable, title: str = "") -> TextTable:
    """With headings for a page, where there is room."""
    header = tuple(LONGER.get(cell, cell) for cell in table.header)
    return dataclasses.replace(table, header=header, title=title or table.title)


def _methods(result: StudyResult, group: GroupResult, name: str) -> Section:
    words = Words.of(result)
    table = tables.method_table(result, group)
    note = table.note.replace("loss: log loss. attrs: attributes used.", "").strip()
    blocks: list[Block] = [
        Text(
            f"The AUC, the area under the ROC curve, is the probability that of two {words.rows}, one with "
            f"{words.event} "
            "and one without, the one with it gets the higher predicted probability: 0.5 is guessing, 1 is perfect."
        ),
        dataclasses.replace(_longer(table, f"The methods, {group.name}"), note=note),
    ]
    small = small_tree(result, group)
    shown = [method for method in (small, LOGISTIC) if method in result.methods and method]
    reference = LOGISTIC if LOGISTIC in result.methods else None
    n = len(result.seeds)
    over = tables.means_of(group)
    if n > 1:
        over += "; the bands extend one standard deviation to either side"
    blocks.append(
        Picture(
            f"ROC curves, {group.name}",
            (roc_chart(group, shown, f"{name}-roc"),),
            f"{over}. The diagonal is guessing.",
            instead=(_curve_table(group),),
        )
    )
    if reference is not None and len(result.methods) > 1:
        blocks.append(
            Picture(
                f"Differences from logistic regression, {group.name}",
                (forest(group, LOGISTIC, n, f"{name}-forest"),),
                "AUC of each method minus that of logistic regression on the same splits, with 95 % limits by the "
                "corrected resampled t test, which accounts for rows shared between splits, not adjusted for the "
                "number of methods. An arrow marks limits beyond the chart.",
                instead=(_longer(tables.difference_table(group)),),
            )
        )
    dashed = f" The dashed line is {LOGISTIC}." if reference else ""
    blocks.append(
        Picture(
            f"ROC curve of each method, {group.name}",
            roc_panels(group, reference, f"{name}-rocs"),
            f"{over}.{dashed}",
            "panels",
        )
    )
    return Section("How well do the methods do?", f"{name}-methods", tuple(blocks))


def _curve_table(group: GroupResult) -> TextTable:
    rows = []
    for curves in group.roc:
        found = [
            math.fsum(line[at] for line in curves.found) / len(curves.found) for at in SHOWN_ALARMS
        ]
        rows.append((curves.method, *(number(100 * share, 1) for share in found)))
    header = ("Method", *(f"{at} %" for at in SHOWN_ALARMS))
    return TextTable("True positive rate, %, at a false positive rate", header, tuple(rows))


def _calibration(group: GroupResult, name: str) -> Section:
    return Section(
        "Can the probabilities be trusted?",
        f"{name}-calibration",
        (
            Text(
                "Where a method predicts 30 %, do 30 of 100 have the event? Points on the diagonal are well "
                "calibrated. A curve that is flatter than the diagonal comes from an overconfident method."
            ),
            Picture(
                f"Calibration of each method, {group.name}",
                calibration_panels(group, f"{name}-calibration-chart"),
                "Horizontal: predicted probability; vertical: observed proportion, in up to ten bins of equally "
                "many test rows of all splits, with 95 % limits, for which each row counts once, however often it was "
                f"tested. Slopes: {tables.means_of(group)}.",
                "panels",
                (_longer(tables.calibration_table(group)),),
            ),
        ),
    )


def _risk(result: StudyResult, group: GroupResult, name: str) -> Section | None:
    risk, table = group.risk, tables.risk_table(group)
    if risk is None or table is None:
        return None
    words = Words.of(result)
    definition = tuple(
        (attribute, ", ".join(levels)) for attribute, levels in risk.definition.items()
    )
    return Section(
        "Risk factors",
        f"{name}-risk",
        (
            Text(
                f"{risk.rows_with:,} {words.rows} of {group.n_rows:,} have a categorised risk factor, and "
                f"{risk.events_with.events:,.0f} of the {risk.events:,} {words.with_event}. How well do the methods "
                "perform on those without one?"
            ),
            _longer(
                table, f"{capital(words.rows)} without a categorised risk factor, {group.name}"
            ),
            Folded(
                "What counts as a risk factor",
                (Points(tuple((f"{attribute}:", levels) for attribute, levels in definition)),),
            ),
        ),
    )


def _attributes(result: StudyResult, group: GroupResult, name: str) -> Section:
    shown = [m for m in (small_tree(result, group), LOGISTIC) if m in result.methods and m]
    table = _longer(
        tables.attribute_table(group, shown),
        f"Attributes used, percentage of the splits, {group.name}",
    )
    blocks: list[Block] = [table]
    for report in group.logistic:
        title = f"The regression of the first split (exploratory, after selection); missing values: {report.missing}"
        blocks.append(Folded(title, tuple(_regression(report))))
    return Section("Which attributes matter?", f"{name}-attributes", tuple(blocks))


def _regression(report: LogisticReport) -> list[Block]:
    by = {"statsmodels": "statsmodels", "fasttree": "fasttree's own Newton method"}[
        report.fitted_by
    ]
    text = (
        f"{len(report.selected)} of {report.candidates} attributes were selected from {report.n_train:,} training "
        f"rows; coefficients and tests by {by}."
    )
    rows = tuple(_coefficient(c) for c in report.coefficients)
    references = listed([f"{a} = {level}" for a, level in report.references.items()] or ["none"])
    note = (
        f"Reference categories: {references}. Numbers: per standard deviation. The attributes were selected by P "
        f"below {ALPHA:g} on the same rows, so odds ratios tend to be too far from 1, limits too narrow and P values "
        "too small. They are not adjusted for the number of terms."
    )
    header = ("Term", "Odds ratio", "95 % limits", "P")
    title = "Odds ratios: exploratory, after selection"
    blocks: list[Block] = [Text(text), TextTable(title, header, rows, note=note)]
    if report.notes:
        blocks.append(Points(tuple(("", f"{capital(note)}.") for note in report.notes)))
    return blocks


def _coefficient(c: Coefficient) -> tuple[str, ...]:
    if c.separated:
        return c.label, "separated", NONE, NONE
    limits = NONE if math.isnan(c.low) else f"{c.low:.3g} to {c.high:.3g}"
    return c.label, f"{c.odds_ratio:.3g}", limits, p_text(c.p_value)
