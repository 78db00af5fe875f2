# SPDX-License-Identifier: BSD-3-Clause
"""The ratios as bars, one group a scenario, readable on a white and on a dark page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.claims import OURS, Faster
from benchmarks.report import size
from benchmarks.results import Record
from benchmarks.runs import FitRace, PredictRace
from benchmarks.scenarios import SCENARIOS

# Middle tones, told apart also by people who are colour-blind; nothing is white or black.
COLOURS = {
    "scikit-learn": "#e69138",
    "scikit-learn hist": "#c9a26d",
    "snapml exact": "#3d85c6",
    "snapml hist": "#3d85c6",
    "XGBoost exact": "#2fa084",
    "XGBoost hist": "#2fa084",
    "LightGBM": "#b565a7",
}
INK = "#7a828c"
BAR = 0.8
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)


def draw(records: Mapping[str, Record], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    groups = _ratios(records)
    if not groups:
        return
    settings = {
        "svg.hashsalt": "fasttree",
        "font.size": 9,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }
    n_bars = sum(map(len, groups.values()))
    with plt.rc_context(settings):
        height = 0.2 * n_bars + 0.18 * len(groups) + 1.1
        figure, axes = plt.subplots(figsize=(8.5, height), layout="constrained")
        _bars(axes, groups, records)
        # No date inside: the same results give the same file.
        metadata = {"Date": None} if file.suffix == ".svg" else None
        figure.savefig(file, transparent=True, metadata=metadata, dpi=150)
        plt.close(figure)


def _ratios(records: Mapping[str, Record]) -> dict[str, dict[str, float]]:
    """For each race: how many times our time the others take, slowest first."""
    groups = {}
    for name, scenario in SCENARIOS.items():
        ours = records[name].entry(OURS) if name in records else None
        if ours is None or not isinstance(scenario, FitRace | PredictRace):
            continue
        ratios = {
            entry.contestant: entry.median_seconds / ours.median_seconds
            for entry in records[name].entries
            if entry.contestant in COLOURS
        }
        if ratios:
            groups[name] = dict(sorted(ratios.items(), key=lambda pair: -pair[1]))
    return groups


def _bars(axes, groups: dict[str, dict[str, float]], records: Mapping[str, Record]) -> None:
    y = 0.0
    centres, titles = [], []
    for name, ratios in groups.items():
        targets = _targets(name, records[name])
        centres.append(y + (len(ratios) - 1) / 2)
        titles.append(f"{SCENARIOS[name].title}\n{size(records[name])}")
        for contestant, ratio in ratios.items():
            _bar(axes, y, contestant, ratio, targets.get(contestant))
            y += 1
        y += 0.9
    axes.set_yticks(centres, titles)
    axes.set_ylim(y - 1, -1)
    _ratio_axis(axes, [ratio for ratios in groups.values() for ratio in ratios.values()])
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.grid(axis="x", color=INK, alpha=0.25, lw=0.6)
    axes.set_axisbelow(True)


def _bar(axes, y: float, contestant: str, ratio: float, target: float | None) -> None:
    # Drawn from 1: a bar to the left is somebody who is faster than we are.
    axes.barh(y, ratio - 1, left=1, height=BAR, color=COLOURS[contestant])
    if target:
        axes.plot([target] * 2, [y - 0.52, y + 0.52], color=INK, lw=1.8, solid_capstyle="butt")
    axes.annotate(
        f"{ratio:.3g}x  {contestant}",
        (max(ratio, target or 1, 1), y),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
    )


def _ratio_axis(axes, ratios: list[float]) -> None:
    low, high = min(0.5, min(ratios) * 0.8), max(5.0, max(ratios))
    axes.set_xscale("log")
    axes.set_xlim(low, high * 4)
    axes.set_xticks([tick for tick in TICKS if low <= tick <= high * 2])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    axes.minorticks_off()
    axes.axvline(1, color=INK, lw=1)
    axes.set_xlabel("time of the other library / time of fasttree, log scale; upright mark: target")


def _targets(name: str, record: Record) -> dict[str, float]:
    """For each contestant that a claim is about, the ratio that it demands."""
    return {
        claim.judge(record).against: claim.at_least
        for claim in SCENARIOS[name].claims
        if isinstance(claim, Faster) and claim.ours == OURS and claim.at_least
    }
