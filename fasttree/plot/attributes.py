# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of what attributes are worth, and of the measures that say so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fasttree.base.checks import check_integer
from fasttree.base.values import short_repr
from fasttree.draw.text_widths import text_width
from fasttree.plot.canvas import COLOURS, axes, literal, look, tidy
from fasttree.stats.measures import entropy, gini, misclassification
from fasttree.trees.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#1d2733"
METRICS = {"accuracy": "accuracy", "auc": "AUC", "log_loss": "log loss", "brier": "Brier score"}
FAVOURS = "Gain favours attributes with many values."


def ranking(ranked: Iterable[Any], *, most: int = 20, ax: Axes | None = None) -> Axes:
    """Draw the scores of `fasttree.rank_attributes` as bars, the best at the top; `most` is the maximum number."""
    most = check_integer("most", most, 1)
    scored = [(str(name), float(score)) for name, score in ranked if score is not None]
    if not scored:
        raise ValueError("ranked has no attribute with a score: no attribute can be split")
    names, scores = zip(*scored, strict=True)
    return _bars(names, scores, [0.0] * len(names), "score", most, ax)


def importances(importances: Any, *, most: int = 20, ax: Axes | None = None) -> Axes:
    """Draw the importance of each attribute as bars, the largest at the top; `most` is the maximum number.

    `importances` is a fitted model, whose `feature_importances_` are drawn, or a record with `names`, `means` and
    optionally `sds`, such as a permutation importance; the `sds` are drawn as whiskers of one standard deviation to
    either side. Gain favours attributes with many values, in which good splits are more easily found by chance, and the
    label says so; permutation importance on held-out rows does not have this bias.
    """
    most = check_integer("most", most, 1)
    if hasattr(importances, "names") and hasattr(importances, "means"):
        names, means, sds, label = _of_record(importances)
    else:
        names, means = _of_model(importances)
        sds, label = np.zeros(len(names)), f"share of the total gain\n{FAVOURS}"
    if not names:
        raise ValueError("importances has no attributes to draw")
    order = np.argsort(-means, kind="stable")
    ordered = [names[k] for k in order]
    return _bars(ordered, means[order].tolist(), sds[order].tolist(), label, most, ax)


def _of_record(record: Any) -> tuple[list[str], np.ndarray, np.ndarray, str]:
    names = [str(name) for name in record.names]
    means = _numbers("means", record.means, len(names))
    sds = np.zeros(len(names))
    if getattr(record, "sds", None) is not None:
        # Of a single repeat there is no standard deviation: NaN.
        sds = _numbers("sds", np.nan_to_num(np.asarray(record.sds, np.float64)), len(names))
    if sds.min(initial=0.0) < 0:
        raise ValueError(f"sds of importances must be at least 0, got {sds.min():g}")
    metric = getattr(record, "metric", None)
    label = "importance"
    if metric in METRICS:
        label += f": how much worse the {METRICS[metric]} gets"
    return names, means, sds, label + ("\nwhiskers: one standard deviation" if sds.any() else "")


def _of_model(model: Any) -> tuple[list[str], np.ndarray]:
    values = getattr(model, "feature_importances_", None)
    if values is None:
        raise ValueError(
            "importances must be a fitted model with feature_importances_, or a record with names and means, got "
            f"{short_repr(type(model).__name__)}: call fit first"
        )
    means = np.asarray(values, dtype=np.float64)
    tree = getattr(model, "tree_", None)
    if isinstance(tree, Tree):
        return list(tree.schema.names), means
    names = getattr(model, "feature_names_in_", [f"x{k}" for k in range(len(means))])
    return [str(name) for name in names], means


def _numbers(name: str, values: Any, n: int) -> np.ndarray:
    found = np.asarray(values, dtype=np.float64)
    if found.shape != (n,):
        raise ValueError(
            f"{name} of importances must have one value for each of the {n} names, got the shape {found.shape}"
        )
    if not np.isfinite(found).all():
        raise ValueError(
            f"{name} of importances must be finite numbers, got {found[~np.isfinite(found)][0]}"
        )
    return found


def _bars(
    names: Sequence[str],
    values: Sequence[float],
    sds: Sequence[float],
    label: str,
    most: int,
    ax: Axes | None,
) -> Axes:
    """One bar each from the top down, its number at its end."""
    left_out = len(names) - most
    names, values, sds = names[:most], values[:most], sds[:most]
    if left_out > 0:
        label += f"\nnot shown: {left_out:,} {'other' if left_out == 1 else 'others'}"
    labels = [literal(name) for name in names]
    longest = max(text_width(name, 12) for name in labels) / 72
    with axes(ax, 4.2 + longest, 0.7 + 0.28 * len(names) + 0.2 * len(label.splitlines())) as ax:
        tidy(ax)
        places = np.arange(len(names))
        ax.barh(places, values, height=0.65, color=COLOURS[1])
        if any(sds):
            ax.errorbar(values, places, xerr=sds, fmt="none", ecolor=INK, capsize=3, linewidth=1.2)
        ax.set_yticks(places, labels)
        ax.invert_yaxis()
        ax.set_xlabel(label)
        if min(values) < 0:
            ax.axvline(0, color=INK, linewidth=0.8)
        for place, value, beyond in zip(places, values, sds, strict=True):
            ax.annotate(
                f"{value:.3f}",
                (max(value + beyond, 0.0), place),
                (4, 0),
                textcoords="offset points",
                va="center",
            )
        ax.margins(x=0.14)
    return ax


def impurity_curves(ax: Axes | None = None) -> Axes:
    """Draw entropy (in bits), the Gini index and the misclassification rate of a node with two classes."""
    share = np.linspace(0, 1, 201)
    counts = np.column_stack([share, 1 - share])
    with axes(ax, 5.0, 3.6) as ax:
        tidy(ax)
        for k, (name, measure) in enumerate(
            {"entropy": entropy, "gini": gini, "misclassification": misclassification}.items()
        ):
            ax.plot(share, [measure(row) for row in counts], label=name, **look(k))
        ax.set(xlabel="proportion of one class", ylabel="impurity", xlim=(0, 1), ylim=(0, 1.02))
        ax.legend(frameon=False, loc="lower center", fontsize="small")
    return ax
