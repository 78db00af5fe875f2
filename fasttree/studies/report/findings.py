# SPDX-License-Identifier: BSD-3-Clause
"""What a study found, in sentences: each is computed from the numbers, and says the opposite if they do."""

from __future__ import annotations

import math

from fasttree.base.wording import plural
from fasttree.studies.methods import LOGISTIC
from fasttree.studies.report.blocks import Card, Cards, Points
from fasttree.studies.report.charts import compared, limits_of
from fasttree.studies.report.words import Words, capital, listed, small_tree, titled
from fasttree.studies.results import GroupResult, StudyResult
from fasttree.studies.tables import CLIPPED, differences_from, interval_text, number, spread_text

SIGNIFICANT = 0.05
OVERCONFIDENT, TIMID = 0.8, 1.25  # slopes of calibration


def group_cards(result: StudyResult, group: GroupResult) -> Cards:
    """The few numbers that are read first."""
    cards = []
    small = small_tree(result, group)
    n = len(result.seeds)
    over = "one split" if n == 1 else f"mean (standard deviation) of {n} splits"
    if small is not None:
        spreads = group.summary(small).spreads
        cards.append(Card(f"{small} tree, AUC", spread_text(spreads["auc"], 3), over))
    if LOGISTIC in result.methods:
        area = group.summary(LOGISTIC).spreads["auc"]
        cards.append(Card("Logistic regression, AUC", spread_text(area, 3), over))
    if small is not None:
        leaves, used = number(spreads["leaves"].mean, 0), number(spreads["attributes"].mean, 0)
        note = f"on {used} attributes"
        if LOGISTIC in result.methods:
            asked = number(group.summary(LOGISTIC).spreads["attributes"].mean, 0)
            note += f"; the regression uses {asked}"
        cards.append(Card(f"Leaves of the {small} tree", leaves, note))
    return Cards(group.name, tuple(cards))


def findings(result: StudyResult, group: GroupResult) -> Points:
    points = [_best(result, group)]
    small = small_tree(result, group)
    if small is not None and LOGISTIC in result.methods:
        points.append(_small_against_regression(result, group, small))
    if small is not None:
        points += _sizes(result, group, small)
    points += _trust(result, group)
    points += _risk(result, group, small)
    return Points(tuple(points))


def _best(result: StudyResult, group: GroupResult) -> tuple[str, str]:
    areas = {name: group.summary(name).spreads["auc"].mean for name in result.methods}
    best = max(areas, key=areas.__getitem__)
    worst = min(areas, key=areas.__getitem__)
    text = f"{titled(best)} has the largest AUC, {number(areas[best], 3)}"
    if len(areas) > 1:
        text += f"; {titled(worst)} has the smallest, {number(areas[worst], 3)}"
    text = f"{capital(text)}."
    if group.reference_auc is not None:
        text += (
            f" The true probabilities of the synthetic outcomes have an AUC of "
            f"{number(group.reference_auc.mean, 3)}: on average, no method can do better."
        )
    return "Which is best?", text


def _small_against_regression(
    result: StudyResult, group: GroupResult, small: str
) -> tuple[str, str]:
    d, sign = next((d, s) for name, d, s in differences_from(group, LOGISTIC) if name == small)
    mean = sign * d.mean
    low, high = limits_of(mean, d, len(result.seeds))
    spreads, regression = group.summary(small).spreads, group.summary(LOGISTIC).spreads
    than = "less than" if mean < 0 else "more than"
    text = (
        f"The {small} tree has {plural(round(spreads['leaves'].mean), 'leaf', 'leaves')} on "
        f"{plural(round(spreads['attributes'].mean), 'attribute')}, and an AUC {number(abs(mean), 3)} {than} that "
        f"of logistic regression, which uses {plural(round(regression['attributes'].mean), 'attribute')}"
    )
    if math.isnan(low):
        p = d.delong_p
        text += f" (P {compared(p)} by DeLong's test on this one split)."
    else:
        p = d.p_value
        text += (
            f" (95 % limits {number(low, 3, True)} to {number(high, 3, True)}, P {compared(p)})."
        )
    if p < SIGNIFICANT:
        text += f" {_by_chance(p)} P is for this comparison alone, not adjusted for the others."
    else:
        text += " Chance alone can explain a difference of this size."
        if len(result.seeds) < 5:
            text += " The limits are wide because there are few splits."
    return "A small tree or a regression?", text


def _by_chance(p: float) -> str:
    """How often equally good methods would differ so."""
    if p < 0.001:
        often = "fewer than 1 in 1,000"
    else:
        often = f"about {1000 * p:.0f} in 1,000" if p < 0.01 else f"about {100 * p:.0f} in 100"
    return (
        "If both were equally good, chance alone would produce a difference of this size or more in "
        f"{often} such studies."
    )


def _sizes(result: StudyResult, group: GroupResult, small: str) -> list[tuple[str, str]]:
    nodes = {
        name: group.summary(name).spreads["nodes"].mean
        for name in result.methods
        if name not in (LOGISTIC, small)
    }
    if not nodes:
        return []
    own = group.summary(small).spreads["nodes"].mean
    largest = sorted(nodes, key=lambda name: -nodes[name])[:3]
    parts = [
        f"{name} has {number(nodes[name], 0)} nodes ({_times(nodes[name] / own)})"
        for name in largest
    ]
    text = f"The {small} tree has {number(own, 0)} nodes. {listed(parts)}."
    return [("How large are the others?", text)]


def _times(ratio: float) -> str:
    return f"{number(ratio, 0 if ratio >= 10 else 1)} times as many"


def _trust(result: StudyResult, group: GroupResult) -> list[tuple[str, str]]:
    slopes = {
        c.method: c.slope.mean
        for c in group.calibration
        if c.method in result.methods and not math.isnan(c.slope.mean)
    }

    def named(names: list[str]) -> str:
        return listed([f"{titled(name)} ({number(slopes[name], 2)})" for name in names])

    bold = [name for name, slope in slopes.items() if slope < OVERCONFIDENT]
    timid = [name for name, slope in slopes.items() if slope > TIMID]
    fair = [name for name in slopes if name not in bold and name not in timid]
    parts = []
    if fair:
        parts.append(
            f"The probabilities of {named(fair)} are well calibrated on new {Words.of(result).rows}"
        )
    if bold:
        parts.append(f"those of {named(bold)} are overconfident")
    if timid:
        parts.append(f"those of {named(timid)} are underconfident")
    if not parts:
        return []
    text = "; ".join(parts)
    return [
        (
            "Can the probabilities be trusted?",
            f"{capital(text)}. In brackets: the calibration slope, ideally 1. {CLIPPED}",
        )
    ]


def _risk(result: StudyResult, group: GroupResult, small: str | None) -> list[tuple[str, str]]:
    risk = group.risk
    if risk is None:
        return []
    words = Words.of(result)
    text = (
        f"{interval_text(risk.events_with)} of the {words.events} have a categorised risk factor."
    )
    one = next((w for w in risk.without if w.method == small), None)
    if one is not None and not math.isnan(one.auc.mean):
        area = one.auc.mean
        verdict = (
            "hardly better than guessing (0.5)"
            if area < 0.65
            else (
                "of some use (0.5 is guessing, 1 is perfect)"
                if area < 0.8
                else "well above guessing (0.5)"
            )
        )
        text += f" Among {words.rows} without one the {small} tree has an AUC of {number(area, 3)}, {verdict}."
    return [("And without a risk factor?", text)]
