# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of predicted probabilities: ROC curves, with bands where there are several, and calibration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fasttree.base import sums
from fasttree.base.checks import check_integer
from fasttree.base.hints import check_choice
from fasttree.base.values import short_repr, to_python
from fasttree.plot.canvas import SOFT, STROKES, axes, literal, look, tidy
from fasttree.stats.curves import binned, roc_points, wilson_limits
from fasttree.stats.metrics import roc_auc
from fasttree.tables.target import read_target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BANDS = ("sd", "range")
MOST_CLASSES = 8  # as many colours as can be told apart
MOST_INSIDE = 10  # lines of a legend; a longer one stands beside the picture


class _Curve(NamedTuple):
    """One class against the rest: which rows are of it, and a number a row that is larger where that is probable."""

    of_class: Any
    is_event: np.ndarray
    score: np.ndarray


class _Line(NamedTuple):
    """A line of the picture and of its legend, or of the legend alone."""

    label: str
    style: dict[str, Any] = {"alpha": 0.0}  # noqa: RUF012  (read only)
    alarms: Any = ()
    found: Any = ()


def roc(
    y: Any, scores: Any, *, positive: Any = None, classes: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw the ROC curve of one or several models: true positive rate against false positive rate, over all thresholds.

    `scores` has one number per row, or the columns of `predict_proba`; a dict of such arrays draws curves for each
    name. Of two classes, the second in sorted order is the positive class; of more classes, each is drawn against the
    rest, at most the eight with the most rows, and the mean AUC is that of all classes. `positive`: the positive class.
    `classes`: the classes of the columns, if `y` does not contain all of them.
    """
    models = {name: _curves(y, own, positive, classes) for name, own in _by_name(scores).items()}
    lines = [
        line
        for k, (name, curves) in enumerate(models.items())
        for line in _lines(name, curves, k if len(models) > 1 else None)
    ]
    beside = len(lines) > MOST_INSIDE
    with _square(
        ax, "false positive rate", "true positive rate", room=3.0 if beside else 0.0
    ) as ax:
        for line in lines:
            ax.plot(line.alarms, line.found, label=line.label, **line.style)
        if beside:
            ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False, fontsize="small")
        else:
            size = "medium" if len(lines) <= 4 else "small"
            ax.legend(loc="lower right", frameon=False, fontsize=size)
    return ax


def _lines(name: str, curves: list[_Curve], model: int | None) -> Iterator[_Line]:
    """The curves of a model, which is one of several, or alone."""
    areas = [roc_auc(curve.is_event, curve.score) for curve in curves]
    begin = f"{name}, " if name else ""
    if curves[0].of_class is None:
        points = roc_points(curves[0].is_event, curves[0].score)
        yield _Line(f"{begin}AUC {areas[0]:.3f}", look(model or 0), *points)
        return
    yield _Line(f"{begin}mean AUC {sums.mean(np.array(areas)):.3f}")
    drawn = _most_frequent(curves)
    for place, at in enumerate(drawn):
        # Of several models the class is told by the colour, the model by the stroke.
        style = look(place)
        if model is not None:
            style["linestyle"] = STROKES[model % len(STROKES)]
        label = f"{literal(curves[at].of_class, 120.0)} against the rest, AUC {areas[at]:.3f}"
        yield _Line(label, style, *roc_points(curves[at].is_event, curves[at].score))
    rest = len(curves) - len(drawn)
    if rest:
        yield _Line(f"not shown: {rest:,} {'class' if rest == 1 else 'classes'} with fewer rows")


def roc_bands(curves: Iterable[Any], *, bands: str = "sd", ax: Axes | None = None) -> Axes:
    """Draw mean ROC curves over several splits, such as those of a group of a study: ``group.roc``.

    A curve has a `method`, false positive rates (`false_alarms`) and, for each split, true positive rates (`found`).
    `bands`: "sd" for one standard deviation to either side of the mean, "range" for the lowest to the highest value.
    """
    check_choice("bands", bands, BANDS)
    drawn = []
    for curve in curves:
        found = np.array(curve.found)
        mean = sums.mean(found, 0)
        if bands == "range":
            low, high = found.min(axis=0), found.max(axis=0)
        else:
            sd = sums.deviation(found, 1, 0) if len(found) > 1 else np.zeros(len(mean))
            low, high = np.clip(mean - sd, 0, 1), np.clip(mean + sd, 0, 1)
        drawn.append((curve.method, np.array(curve.false_alarms), mean, low, high))
    if not drawn:
        raise ValueError("curves must have at least one curve, got none")
    title = "one standard deviation" if bands == "sd" else "lowest to highest"
    with _square(ax, "false positive rate", "true positive rate") as ax:
        for k, (method, x, mean, low, high) in enumerate(drawn):
            style = look(k)
            ax.fill_between(x, low, high, color=style["color"], alpha=0.2, linewidth=0)
            # From the corner, which is not on the curve where events are found without a false alarm.
            ax.plot(np.append(0.0, x), np.append(0.0, mean), label=literal(method), **style)
        ax.legend(loc="lower right", frameon=False, title=f"means; bands: {title}")
    return ax


def calibration(
    y: Any,
    probability: Any,
    *,
    n_bins: int = 10,
    positive: Any = None,
    classes: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw observed against predicted probabilities, in bins of equally many rows, with 95 % limits (Wilson).

    The arguments are those of `roc`; with more than two classes, `positive` is required. Points on the diagonal are
    well calibrated; a curve flatter than the diagonal means overconfidence.
    """
    n_bins = check_integer("n_bins", n_bins, 1)
    drawn = []
    for name, own in _by_name(probability).items():
        curves = _curves(y, own, positive, classes)
        if len(curves) > 1:
            raise ValueError(
                f"y must have two classes, got {len(curves)}: choose one of them with positive="
            )
        _, is_event, share = curves[0]
        if share.min() < 0 or share.max() > 1:
            raise ValueError(
                f"probability must be between 0 and 1, got "
                f"{short_repr(share.min() if share.min() < 0 else share.max())}"
            )
        predicted, events, rows = binned(is_event, share, n_bins)
        limits = np.array([wilson_limits(e, n) for e, n in zip(events, rows, strict=True)]).T
        drawn.append((name, predicted, events / rows, np.abs(limits - events / rows)))
    with _square(ax, "predicted", "observed, with 95 % limits") as ax:
        for k, (name, predicted, observed, lengths) in enumerate(drawn):
            ax.errorbar(
                predicted,
                observed,
                lengths,
                label=name or None,
                marker="o",
                markersize=4,
                **look(k),
            )
        if any(name for name, *_ in drawn):
            ax.legend(loc="upper left", frameon=False)
    return ax


def _by_name(scores: Any) -> dict[str, Any]:
    if not isinstance(scores, Mapping):
        return {"": scores}
    if not scores:
        raise ValueError("scores must have at least one entry, got an empty dict")
    return {literal(name): own for name, own in scores.items()}


def _most_frequent(curves: list[_Curve]) -> list[int]:
    """The places of the classes with the most rows, in their order."""
    rows = np.array([np.count_nonzero(curve.is_event) for curve in curves])
    return sorted(np.argsort(-rows, kind="stable")[:MOST_CLASSES].tolist())


def _curves(y: Any, scores: Any, positive: Any, classes: Any) -> list[_Curve]:
    """The class that is to be found; of several classes without `positive` each that some rows have, and some not."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim not in (1, 2):
        raise ValueError(
            f"scores must have one number per row, or one column per class, got the shape {table.shape}"
        )
    codes, names = read_target(y, len(table)).among(classes)
    if table.ndim == 2 and table.shape[1] != len(names):
        raise ValueError(
            f"scores must have one number per row, or one column for each of the {len(names)} classes, "
            f"{short_repr(names)}, got "
            f"the shape {table.shape}: if y lacks some classes, pass all in the order of the columns as classes="
        )
    if positive is not None and to_python(positive) not in names:
        raise ValueError(
            f"positive must be a class of y, {short_repr(names)}, got {short_repr(positive)}"
        )
    if positive is None and (len(names) < 2 or (table.ndim == 1 and len(names) > 2)):
        raise ValueError(
            f"y must have two classes, but it has {len(names)}: {short_repr(names)}. "
            "Choose the positive class with positive=, or pass one column per class"
        )
    if not np.isfinite(table).all():
        row = int(np.flatnonzero(~np.isfinite(table.reshape(len(table), -1)).all(axis=1))[0])
        wrong = table[row] if table.ndim == 1 else table[row][~np.isfinite(table[row])][0]
        raise ValueError(f"scores must be finite, got {wrong} in row {row}: leave the row out")
    several = positive is None and len(names) > 2
    place = 1 if positive is None else names.index(to_python(positive))
    found = []
    for k in range(len(names)) if several else (place,):
        is_event = codes == k
        if is_event.any() and not is_event.all():
            score = table if table.ndim == 1 else table[:, k]
            found.append(_Curve(names[k] if several else None, is_event, score))
    if not found:
        raise ValueError(
            f"y must have at least two classes, but it has only {short_repr(names[codes[0]])}: there is no curve to "
            f"draw"
        )
    return found


@contextmanager
def _square(ax: Axes | None, x: str, y: str, room: float = 0.0) -> Iterator[Axes]:
    """Axes of two shares, and their diagonal; `room`: inches for a legend beside them."""
    with axes(ax, 4.6 + room, 4.6) as own:
        own.plot([0, 1], [0, 1], color=SOFT, linewidth=0.8, linestyle=":")
        own.set(xlabel=x, ylabel=y, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        yield tidy(own)
