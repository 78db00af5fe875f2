# SPDX-License-Identifier: BSD-3-Clause
"""A picture of which classes a model takes for which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fasttree.base.checks import check_integer
from fasttree.base.text import weight_text
from fasttree.base.values import short_repr, to_python
from fasttree.draw.text_widths import text_width
from fasttree.plot.canvas import axes, literal
from fasttree.stats.metrics import paired
from fasttree.tables.factors import places_among
from fasttree.tables.target import read_weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME_ROOM = 150.0  # pixels
MOST_WITH_SHARES = 12  # classes; with more of them a cell has its count alone
# The side of a cell in inches, and the letters of its count and of the names of classes in points.
LARGE, SMALL = (0.66, 9.0, 10.0), (0.42, 7.5, 8.0)
WIDTH = 0.72  # of a digit, for its height, with the space around the number
LIGHT, DARK = "white", "black"
PALE = 0.72  # shades from here on take light letters: the contrast is nowhere below 4.5


def confusion_matrix(
    y: Any,
    predicted: Any,
    *,
    classes: Any = None,
    sample_weight: Any = None,
    most: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw the confusion matrix: the number of rows of each actual class (row) predicted as each class (column).

    The shade of a cell, and the percentage below its count, show the proportion of the rows of the actual class, so
    that rare classes are as visible as frequent ones: the diagonal shows the recall of each class. `classes` sets their
    order and can include classes without rows; the default is the sorted classes of both arguments. If there are more
    than `most` classes, those with the fewest rows are combined into the last one. Weights count as copies of a row.
    """
    most = check_integer("most", most, 2)
    counts, names = _counts(y, predicted, classes, sample_weight)
    counts, names = _fewer(counts, names, most)
    n = len(names)
    rows = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, rows, out=np.zeros_like(counts), where=rows > 0)
    labels = [literal(name, NAME_ROOM) for name in names]
    cell, letters, ticks = LARGE if n <= MOST_WITH_SHARES else SMALL
    amounts = {tuple(at): _amount(counts[tuple(at)]) for at in np.argwhere(counts > 0).tolist()}
    letters = min(letters, 72 * cell / (WIDTH * max(map(len, amounts.values()))))
    longest = max(text_width(line, ticks) for label in labels for line in label.split("\n")) / 72
    upright = longest > cell
    size, beside = max(cell * n, 1.6), 0.6
    with axes(ax, size + beside + longest, size + beside + (longest if upright else 0.2)) as ax:
        ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
        for (line, column), text in amounts.items():
            if n <= MOST_WITH_SHARES:
                text += f"\n{100 * shares[line, column]:.1f} %"
            colour = LIGHT if shares[line, column] > PALE else DARK
            # The diagonal also by its letters: shades alone do not say where it is.
            weight = "bold" if line == column else "normal"
            ax.text(
                column, line, text, ha="center", va="center", color=colour, fontsize=letters, weight=weight
            )  # fmt: skip
        ax.set_xticks(range(n), labels, rotation=90 if upright else 0, fontsize=ticks)
        ax.set_yticks(range(n), labels, fontsize=ticks)
        ax.set(xlabel="predicted", ylabel="actual")
        # Lines between the cells, not through them.
        ax.set_xticks(np.arange(n + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(n + 1) - 0.5, minor=True)
        ax.grid(which="minor", color="#c4ccd4", linewidth=0.8)
        ax.tick_params(which="both", length=0)
        ax.spines[:].set_visible(False)
    return ax


def _counts(
    y: Any, predicted: Any, classes: Any, sample_weight: Any
) -> tuple[np.ndarray, list[Any]]:
    """Actual classes down, predicted ones across; and the classes."""
    labels, true, guess = paired(y, predicted)
    weight = read_weights(sample_weight, len(true))
    names = sorted(labels) if classes is None else [to_python(label) for label in classes]
    lacking = [label for label in labels if label not in names]
    if lacking:
        raise ValueError(
            f"classes must contain all classes of y and predicted, but {short_repr(lacking[0])} is missing: add it"
        )
    place = places_among(labels, names)
    n = len(names)
    cells = np.bincount(place[true] * n + place[guess], weight, minlength=n * n)
    return cells.reshape(n, n).astype(np.float64), names


def _fewer(counts: np.ndarray, names: list[Any], most: int) -> tuple[np.ndarray, list[Any]]:
    """The classes of the fewest rows as one, behind the others."""
    n = len(names)
    if n <= most:
        return counts, names
    rows = counts.sum(axis=1)
    kept = np.sort(np.argsort(-rows, kind="stable")[: most - 1])
    place = np.full(n, most - 1)
    place[kept] = np.arange(most - 1)
    joined = np.zeros((most, most))
    np.add.at(joined, (place[:, None], place[None, :]), counts)
    return joined, [*(names[k] for k in kept.tolist()), f"{n - most + 1:,}\nothers"]


def _amount(count: float) -> str:
    return f"{count:,.0f}" if count == round(count) else weight_text(count)
