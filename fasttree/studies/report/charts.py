# SPDX-License-Identifier: BSD-3-Clause
"""The charts of a report as SVG: ROC curves with bands, calibration, differences. Lines differ in more than colour, and
each is labelled where it is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fasttree.base.sums import deviation, mean
from fasttree.draw.svg import xml_text
from fasttree.studies.figures import student_limit
from fasttree.studies.report.axes import Square, framed
from fasttree.studies.results import Calibration, GroupResult, PairedDifference, RocCurves
from fasttree.studies.tables import differences_from, number, p_text, spread_text

KINDS = ("first", "second")  # of the lines of a chart


def roc_chart(group: GroupResult, methods: Sequence[str], name: str) -> str:
    """The mean curves of one or two methods, with bands of one standard deviation."""
    square = Square(270, 46, 10, 14, 42, "false positive rate", "true positive rate")
    for kind, method in zip(KINDS, methods, strict=False):
        _curve(square, _curves(group, method), kind, with_band=True)
    # Labels in the empty corner, each with a line to its curve.
    for k, (kind, method) in enumerate(zip(KINDS, methods, strict=False)):
        curves = _curves(group, method)
        at = (30, 14)[k]
        x, y = curves.false_alarms[at], float(mean(np.array(curves.found), 0)[at])
        label_x, label_y = square.place(0.42, 0.34 - 0.2 * k)
        start = square.place(x, y)
        square.pieces.append(
            f'<path class="leader" d="M{start[0]:.1f} {start[1]:.1f}L{label_x - 5:.1f} {label_y - 4:.1f}"/>'
        )
        square.dot(x, y, kind)
        square.text(label_x, label_y, method, kind="strong")
        area = group.summary(method).spreads["auc"]
        square.text(label_x, label_y + 15, f"AUC {spread_text(area, 3)}")
    areas = "; ".join(
        f"{m}: AUC {spread_text(group.summary(m).spreads['auc'], 3)}" for m in methods
    )
    return square.svg(f"ROC curves, {group.name}", f"{areas}.", name)


def roc_panels(group: GroupResult, reference: str | None, name: str) -> tuple[str, ...]:
    """A small chart for each method; the dashed line is the reference."""
    drawings = []
    for k, curves in enumerate(group.roc):
        square = _panel()
        if reference is not None and curves.method != reference:
            own = _curves(group, reference)
            square.path(
                zip(own.false_alarms, mean(np.array(own.found), 0).tolist(), strict=True),
                "reference",
            )
        _curve(square, curves, "first", with_band=True)
        area = spread_text(group.summary(curves.method).spreads["auc"], 3)
        square.text(square.left, 13, curves.method, kind="strong")
        square.text(square.left, 28, f"AUC {area}")
        drawings.append(
            square.svg(f"ROC curve of {curves.method}, {group.name}", f"AUC {area}.", f"{name}-{k}")
        )
    return tuple(drawings)


def calibration_panels(group: GroupResult, name: str) -> tuple[str, ...]:
    """A small chart for each method: observed against predicted shares, with 95 % limits."""
    return tuple(
        _calibration_panel(group, calibration, f"{name}-{k}")
        for k, calibration in enumerate(group.calibration)
    )


def _calibration_panel(group: GroupResult, calibration: Calibration, name: str) -> str:
    square = _panel()
    for one in calibration.bins:
        low, high = one.observed.low, one.observed.high
        square.path([(one.predicted, low), (one.predicted, high)], "limits")
    square.path([(one.predicted, one.observed.rate) for one in calibration.bins], "first")
    for one in calibration.bins:
        square.dot(one.predicted, one.observed.rate, "first", 2.6)
    slope = spread_text(calibration.slope, 2)
    square.text(square.left, 13, calibration.method, kind="strong")
    square.text(square.left, 28, f"slope {slope}")
    return square.svg(
        f"Calibration of {calibration.method}, {group.name}",
        f"Slope {slope}, intercept {spread_text(calibration.intercept, 2)}.",
        name,
    )


def _panel() -> Square:
    return Square(128, 30, 36, 8, 20, "", "")


def _curves(group: GroupResult, method: str) -> RocCurves:
    return next(curves for curves in group.roc if curves.method == method)


def _curve(square: Square, curves: RocCurves, kind: str, with_band: bool) -> None:
    """From the corner, which is not on the grid where some events are found without a false alarm."""
    found = np.array(curves.found)
    middle, x = mean(found, 0), curves.false_alarms
    if with_band and len(found) > 1:
        sd = deviation(found, 1, 0)
        low, high = (np.clip(middle + sign * sd, 0, 1).tolist() for sign in (-1, 1))
        square.band(x, low, high, f"band {kind}")
    square.path([(0.0, 0.0), *zip(x, middle.tolist(), strict=True)], kind)


# -- differences -------------------------------------------------------------------------------------------------------


def limits_of(mean: float, difference: PairedDifference, n_splits: int) -> tuple[float, float]:
    """95 % limits; NaN with a single split."""
    if n_splits < 2 or math.isnan(difference.corrected_se):
        return math.nan, math.nan
    half = student_limit(n_splits - 1) * difference.corrected_se
    return mean - half, mean + half


WIDTH, ROW, EDGE = 340.0, 40.0, 12.0


def forest(group: GroupResult, baseline: str, n_splits: int, name: str) -> str:
    """A line a method: the mean difference of the AUCs with its 95 % limits."""
    found = []
    for method, d, sign in differences_from(group, baseline):
        mean = sign * d.mean
        found.append((method, mean, *limits_of(mean, d, n_splits), d.p_value))
    low, high = _range([mean for _, mean, *_ in found])

    def at(value: float) -> float:
        return EDGE + (value - low) / (high - low) * (WIDTH - 2 * EDGE)

    bottom = ROW * len(found) + 6
    pieces = [f'<path class="axis" d="M{at(0):.1f} 4V{bottom:.1f}"/>']
    for k, (method, mean, lower, upper, p) in enumerate(found):
        y = k * ROW + 18
        text = f"{number(mean, 3, signed=True)}"
        if not math.isnan(lower):
            text += f" ({number(lower, 3, signed=True)} to {number(upper, 3, signed=True)}), P {compared(p)}"
            ends = at(max(lower, low)), at(min(upper, high))
            pieces.append(f'<path class="limits" d="M{ends[0]:.1f} {y + 12}H{ends[1]:.1f}"/>')
            pieces += [
                f'<path class="arrow" d="M{at(end):.1f} {y + 12}l{7 * turn} -4v8Z"/>'
                for end, turn, beyond in ((low, 1, lower < low), (high, -1, upper > high))
                if beyond
            ]
        pieces.append(
            f'<text class="strong" x="{EDGE}" y="{y:.0f}">{xml_text(method)}</text>'
            f'<text x="{WIDTH - EDGE}" y="{y:.0f}" text-anchor="end">{xml_text(text)}</text>'
            f'<rect class="first" x="{at(mean) - 4:.1f}" y="{y + 8:.0f}" width="8" height="8"/>'
        )
    for tick in _ticks(low, high):
        anchor = "middle" if 16 < at(tick) < WIDTH - 16 else "start" if at(tick) < 40 else "end"
        label = "0" if tick == 0 else number(tick, 2, signed=True)
        pieces.append(
            f'<path class="axis" d="M{at(tick):.1f} {bottom:.1f}v5"/>'
            f'<text x="{at(tick):.1f}" y="{bottom + 18:.1f}" text-anchor="{anchor}">{label}</text>'
        )
    pieces.append(
        f'<text x="{WIDTH / 2}" y="{bottom + 36:.1f}" text-anchor="middle">'
        f"{xml_text(f'Difference in AUC from {baseline}')}</text>"
    )
    words = "; ".join(f"{method} {number(mean, 3, signed=True)}" for method, mean, *_ in found)
    title = f"Differences in AUC from {baseline}, {group.name}"
    return framed("".join(pieces), WIDTH, bottom + 44, title, f"{words}.", name)


def compared(p: float) -> str:
    """What follows the letter P."""
    text = p_text(p)
    return f"< {text[1:]}" if text.startswith("<") else f"= {text}"


def _range(means: list[float]) -> tuple[float, float]:
    """All the means and 0, with room for limits; limits beyond become arrows, so that a few splits do not make the
    chart unreadable."""
    low, high = min([*means, 0.0]), max([*means, 0.0])
    room = max(0.35 * (high - low), 0.01)
    return low - room, high + room


def _ticks(low: float, high: float) -> list[float]:
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if (high - low) / s <= 6)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
