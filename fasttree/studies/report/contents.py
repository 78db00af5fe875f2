# SPDX-License-Identifier: BSD-3-Clause
"""What a report says, in which order."""

from __future__ import annotations

import dataclasses

from fasttree.studies.methods import LOGISTIC
from fasttree.studies.report.blocks import Block, Folded, Points, Report, Section, Text
from fasttree.studies.report.findings import findings, group_cards
from fasttree.studies.report.group_sections import group_section
from fasttree.studies.report.words import Words, capital, explained, in_words, listed
from fasttree.studies.results import StudyResult
from fasttree.studies.tables import (
    CLIPPED,
    TextTable,
    p_text,
    percent,
    table1_table,
    variable_title,
)
from fasttree.version import __version__

SOURCE = (
    "Sims CJ, Meyn L, Caruana R, Rao RB, Mitchell T, Krohn M. Predicting cesarean delivery with decision tree models. "
    "American Journal of Obstetrics and Gynecology 2000;183:1198-206."
)


def contents(result: StudyResult) -> Report:
    result = _with_titles(result)
    words = Words.of(result)
    share = percent(result.n_events / result.n_rows)
    n = len(result.seeds)
    splits = "one split" if n == 1 else f"{n} splits"
    groups = [group_section(result, group, k) for k, group in enumerate(result.groups)]
    return Report(
        result.title,
        f"{result.n_rows:,} {words.rows}, {result.n_events:,} {words.with_event} ({share}), "
        f"{result.n_attributes} attributes, {splits}",
        (_summary(result), _table1(result), *groups, _method_notes(result), _limits(result)),
    )


def _with_titles(result: StudyResult) -> StudyResult:
    """Groups by names that need no context: a group may be called "yes"."""
    if result.synthetic:
        names = [capital(group.name) for group in result.groups]
    else:
        names = [f"{result.by} = {g.name}" if result.by else capital(g.name) for g in result.groups]
    groups = zip(result.groups, names, strict=True)
    renamed = tuple(dataclasses.replace(group, name=name) for group, name in groups)
    return dataclasses.replace(result, groups=renamed)


def _summary(result: StudyResult) -> Section:
    words = Words.of(result)
    trees = [method for method in result.methods if method != LOGISTIC]
    compared = []
    if trees:
        compared.append(
            trees[0] if len(trees) == 1 else f"{in_words(len(trees))} decision tree methods"
        )
    if LOGISTIC in result.methods:
        compared.append("logistic regression")
    known = "what is known of a woman and her pregnancy"
    intro = (
        f"Can {words.event} be predicted from {known if result.synthetic else 'the other columns of the table'}? "
        f"{capital(listed(compared))} {'were' if len(result.methods) > 1 else 'was'} given the same half of "
        f"{f'each group by {result.by}' if result.by else 'the rows'} to learn from, and tested on the other half, "
        "which they had not seen"
    )
    if len(result.seeds) > 1:
        intro += f"; this was repeated {in_words(len(result.seeds))} times, with different halves each time"
    blocks: list[Block] = [Text(note, is_notice=True) for note in result.notes]
    blocks.append(Text(f"{intro}."))
    for group in result.groups:
        blocks += [group_cards(result, group), findings(result, group)]
    return Section("In short", "summary", tuple(blocks))


# -- Table 1 -----------------------------------------------------------------------------------------------------------


def _table1(result: StudyResult) -> Section:
    words = Words.of(result)
    if result.printed_table1:
        table = _beside_the_published(result)
        text = (
            "Each category has as many deliveries as published; the cesareans are drawn with the published rates, so "
            "they differ from these as one sample differs from another."
        )
    else:
        table = table1_table(result.table1)
        text = f"The attributes, with the proportion of {words.events} for each value. Numbers are grouped into ranges."
    title = f"Table 1. {capital(words.target)} by attribute"
    titled = TextTable(title, table.header, table.rows, table.n_left, table.note)
    body: tuple[Block, ...] = (Text(text), titled)
    if len(result.table1) > 15:
        body = (
            Text(text),
            Folded(f"Table 1 with {len(result.table1)} attributes", (titled,)),
        )
    return Section(f"The {words.rows}", "table1", body)


def _beside_the_published(result: StudyResult) -> TextTable:
    rows: list[tuple[str, ...]] = []
    for own, printed in zip(result.table1, result.printed_table1, strict=True):
        rows.append(
            (variable_title(own), "", "", "", "", p_text(own.p_value), p_text(printed.p_value))
        )
        published = {level.level: level.rate for level in printed.levels}
        for level in own.levels:
            rows.append(
                (
                    f"  {level.level}",
                    f"{level.rows:,}",
                    f"{level.events:,}",
                    percent(level.rate),
                    percent(published[level.level]),
                    "",
                    "",
                )
            )
    note = (
        "P: Pearson's chi-square test without missing values, not adjusted for the number of attributes; the "
        "published P values are recomputed from the published counts."
    )
    header = ("Attribute", "Total", "Cesareans", "%", "% published", "P", "P published")
    return TextTable("", header, tuple(rows), note=note)


# -- how it was done ---------------------------------------------------------------------------------------------------


def _method_notes(result: StudyResult) -> Section:
    seeds = ", ".join(map(str, result.seeds))
    protocol = [
        ("Splits.", f"With the seeds {seeds}. Both halves have the same proportion of events. The random split "
         "depends on the values of the rows, not on their order."),
        ("No tuning.", "Every method has its default parameters and makes all its choices within the training half."),
        ("Missing values.", "Each tree treats them as its method does: those of C4.5 and by message length distribute "
         "a row with a missing value fractionally over all branches."),
        ("Standard errors.", "For the AUC of one split: DeLong. Between methods: the corrected resampled t test of "
         "Nadeau and Bengio, and DeLong's paired test on the first split."),
        ("Several comparisons.", "P values of differences from the regression are given unadjusted and adjusted by "
         "Holm for the methods of a group; all other P values and the limits are not adjusted."),
        ("Calibration.", "The slope and the intercept of a logistic regression of the outcome on the predicted log "
         f"odds. {CLIPPED}"),
        ("Confidence limits", "of proportions are Wilson's and based on test rows: the figures of a tree for its own "
         "training rows are optimistic, so they have no limits."),
        ("Trees, rules and coefficients", "are those of the first split."),
        ("Software.", f"fasttree {__version__}; {result.seconds:.0f} seconds."),
    ]  # fmt: skip
    return Section(
        "How it was done",
        "methods",
        (
            Points(tuple(protocol)),
            Text("The methods:"),
            Points(tuple((f"{m}:", f"{what}.") for m, what in explained(result))),
        ),
    )


def _limits(result: StudyResult) -> Section:
    points = [
        (
            "Not for clinical care.",
            "Nothing in this report is a recommendation for the care of patients.",
        ),
        ("One table.", "Results for these rows may not apply elsewhere or at another time."),
    ]
    if result.synthetic:
        points = [
            ("No real women.", "The cohort has the margins of a published Table 1 and nothing else of that study: its "
             "attributes are independent of each other, and only those of Table 1 affect the outcome. Which "
             "other conditions matter cannot be learned from it, and its figures are not those of the "
             "published study."),
            *points[:1],
        ]  # fmt: skip
    if len(result.seeds) < 10:
        points.append(
            (
                "Few splits.",
                f"This report is based on {len(result.seeds)}; ten or more give more stable figures.",
            )
        )
    cite = (
        f"The protocol follows: {SOURCE} If you use these figures, cite that study for the protocol, name "
        f"fasttree {__version__}"
    )
    cite += (
        ", and say that the cohort is synthetic."
        if result.synthetic
        else ", and say which table they come from."
    )
    return Section("Limits, and how to cite", "limits", (Points(tuple(points)), Text(cite)))
