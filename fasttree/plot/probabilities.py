# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of predicted probabilities: ROC curves, with bands where there are several, and calibration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fasttree import _sums
from fasttree.curves import binned, roc_points, wilson_limits
from fasttree.metrics import roc_auc
from fasttree.plot.canvas import SOFT, axes, look, tidy
from fasttree.scalars import plain, shown
from fasttree.targets import read_target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BANDS = ("sd", "range")


def roc(y: Any, scores: Any, *, positive: Any = None, ax: Axes | None = None) -> Axes:
    """The ROC curve of one model or several: events found against false alarms, over all thresholds.

    `y` holds two classes. `scores` are a number a row or the two columns of `predict_proba`; a dict of such arrays
    draws a curve for each name. `positive`: the class that is to be found, else the second of the sorted ones.
    """
    ax = _share_axes(axes(ax, 4.6, 4.6), "false alarms", "found")
    named = scores if isinstance(scores, Mapping) else {"": scores}
    for k, (name, own) in enumerate(named.items()):
        is_event, score = _read(y, own, positive)
        alarms, found = roc_points(is_event, score)
        area = f"area {roc_auc(is_event, score):.3f}"
        ax.plot(alarms, found, label=f"{name}, {area}" if name else area, **look(k))
    ax.legend(loc="lower right", frameon=False)
    return ax


def roc_bands(curves: Iterable[Any], *, bands: str = "sd", ax: Axes | None = None) -> Axes:
    """Mean ROC curves over several splits, such as those of a study's group: ``group.roc``.

    A curve has a `method`, shares of `false_alarms`, and for each split the shares that it has `found`. `bands`: "sd",
    one standard deviation to either side of the mean; "range", from the lowest to the highest.
    """
    if bands not in BANDS:
        raise ValueError(f"bands must be 'sd' or 'range', got {shown(bands)}")
    ax = _share_axes(axes(ax, 4.6, 4.6), "false alarms", "found")
    for k, curve in enumerate(curves):
        found = np.array(curve.found)
        mean = _sums.mean(found, 0)
        if bands == "range":
            low, high = found.min(axis=0), found.max(axis=0)
        else:
            sd = _sums.deviation(found, 1, 0) if len(found) > 1 else np.zeros(len(mean))
            low, high = np.clip(mean - sd, 0, 1), np.clip(mean + sd, 0, 1)
        style = look(k)
        x = np.array(curve.false_alarms)
        ax.fill_between(x, low, high, color=style["color"], alpha=0.2, linewidth=0)
        # From the corner, which is not on the curve where events are found without a false alarm.
        ax.plot(np.append(0.0, x), np.append(0.0, mean), label=curve.method, **style)
    ax.legend(loc="lower right", frameon=False)
    return ax


def calibration(
    y: Any, probability: Any, *, n_bins: int = 10, positive: Any = None, ax: Axes | None = None
) -> Axes:
    """Observed against predicted shares, in bins of equally many rows, with 95 % limits (Wilson).

    The arguments are those of `roc`. Points on the diagonal are right; a curve flatter than it is too sure of itself.
    """
    if isinstance(n_bins, bool) or not isinstance(n_bins, (int, np.integer)) or n_bins < 1:
        raise ValueError(f"n_bins must be a whole number from 1 on, got {shown(n_bins)}")
    ax = _share_axes(axes(ax, 4.6, 4.6), "predicted", "observed")
    named = probability if isinstance(probability, Mapping) else {"": probability}
    for k, (name, own) in enumerate(named.items()):
        is_event, share = _read(y, own, positive)
        if share.min() < 0 or share.max() > 1:
            raise ValueError(
                f"probability must lie between 0 and 1, got {shown(share.min() if share.min() < 0 else share.max())}"
            )
        predicted, events, rows = binned(is_event, share, int(n_bins))
        observed = events / rows
        limits = np.array([wilson_limits(e, n) for e, n in zip(events, rows, strict=True)]).T
        lengths = np.abs(limits - observed)
        style = look(k)
        ax.errorbar(
            predicted, observed, lengths, label=name or None, marker="o", markersize=4, **style
        )
    if any(named):
        ax.legend(loc="upper left", frameon=False)
    return ax


def _share_axes(ax: Axes, x: str, y: str) -> Axes:
    ax.plot([0, 1], [0, 1], color=SOFT, linewidth=0.8, linestyle=":")
    ax.set(xlabel=x, ylabel=y, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    return tidy(ax)


def _read(y: Any, scores: Any, positive: Any) -> tuple[np.ndarray, np.ndarray]:
    """Which rows have the event, and a number a row that is larger where it is more probable."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim not in (1, 2) or (table.ndim == 2 and table.shape[1] != 2):
        raise ValueError(
            f"scores must be a number a row, or a column for each of two classes, got the shape {table.shape}"
        )
    target = read_target(y, len(table))
    classes = [plain(label) for label in target.classes]
    if len(classes) != 2:
        raise ValueError(
            f"y must hold two classes, but it has {len(classes)}: {shown(classes)}. "
            "Draw one class against the rest: y == that class"
        )
    if positive is not None and plain(positive) not in classes:
        raise ValueError(
            f"positive is {shown(positive)}, which is no class of y: it has {shown(classes)}"
        )
    place = 1 if positive is None else classes.index(plain(positive))
    score = table if table.ndim == 1 else table[:, place]
    if not np.isfinite(score).all():
        row = int(np.flatnonzero(~np.isfinite(score))[0])
        raise ValueError(f"scores are {score[row]} in row {row}: leave the row out")
    return target.codes == place, score
