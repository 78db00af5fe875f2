# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of what an attribute is worth, and of the measures that say so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fasttree.export.layout import shortened
from fasttree.measures import entropy, gini, misclassification
from fasttree.plot.canvas import COLOURS, axes, look, tidy
from fasttree.scalars import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME_ROOM = 260.0  # pixels


def ranking(ranked: Iterable[Any], *, most: int = 20, ax: Axes | None = None) -> Axes:
    """Bars of the scores that `fasttree.rank_attributes` gives, the best at the top; at most so many."""
    if isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 1:
        raise ValueError(f"most must be a whole number from 1 on, got {shown(most)}")
    scored = [(str(name), score) for name, score in ranked if score is not None][:most]
    if not scored:
        raise ValueError("the ranking has no attribute with a score: no split of any is possible")
    ax = tidy(axes(ax, 5.5, 0.9 + 0.28 * len(scored)))
    places = np.arange(len(scored))
    ax.barh(places, [score for _, score in scored], height=0.65, color=COLOURS[1])
    ax.set_yticks(places, [_literal(shortened(name, NAME_ROOM, 12)) for name, _ in scored])
    ax.invert_yaxis()
    ax.set_xlabel("score")
    for place, (_, score) in zip(places, scored, strict=True):
        ax.annotate(
            f"{score:.3f}",
            (max(score, 0.0), place),
            (4, 0),
            textcoords="offset points",
            va="center",
        )
    ax.margins(x=0.12)
    return ax


def _literal(text: str) -> str:
    """A dollar sign begins no formula."""
    return text.replace("$", r"\$")


def impurity_curves(ax: Axes | None = None) -> Axes:
    """Entropy (in bits), the Gini index and the share of errors of a node with two classes."""
    ax = tidy(axes(ax, 5.0, 3.6))
    share = np.linspace(0, 1, 201)
    counts = np.column_stack([share, 1 - share])
    for k, (name, measure) in enumerate(
        {"entropy": entropy, "gini": gini, "misclassification": misclassification}.items()
    ):
        ax.plot(share, [measure(row) for row in counts], label=name, **look(k))
    ax.set(xlabel="share of one class", ylabel="impurity", xlim=(0, 1), ylim=(0, 1.02))
    ax.legend(frameon=False, loc="lower center", fontsize="small")
    return ax
