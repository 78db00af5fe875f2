# SPDX-License-Identifier: BSD-3-Clause
"""Where pictures are drawn: matplotlib's Axes, given or new, and the looks that all pictures share."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fasttree.base.values import short_repr
from fasttree.draw.text_widths import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HINT = "plots need matplotlib, which is not installed: pip install 'fasttree[plot]'"
# Told apart by the colour-blind (Okabe and Ito), and with them the strokes, for prints without colour.
COLOURS = ("#d55e00", "#0072b2", "#009e73", "#9b4f96", "#b8860b", "#56b4e9", "#5b6672", "#8c5a2b")
STROKES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)), (0, (9, 2)), (0, (1, 1)))
SOFT = "#8994a1"


def matplotlib(part: str) -> Any:
    """A module of matplotlib, or an error that says how to get it."""
    try:
        return importlib.import_module(f"matplotlib.{part}")
    except ImportError as error:
        raise ImportError(HINT) from error


@contextmanager
def axes(ax: Axes | None, width: float = 5.0, height: float = 4.0) -> Iterator[Axes]:
    """The Axes that were given, or those of a new figure (in inches), which goes again if the drawing fails."""
    if ax is not None:
        if not hasattr(ax, "get_window_extent") or not hasattr(ax, "set_xlim"):
            raise TypeError(f"ax must be matplotlib Axes or None, got {short_repr(ax)}")
        yield ax
        return
    pyplot = matplotlib("pyplot")
    figure = pyplot.figure(figsize=(width, height), layout="constrained")
    try:
        yield figure.subplots()
    except BaseException:
        pyplot.close(figure)
        raise


def literal(text: Any, room: float = 260.0) -> str:
    """A name as it is shown, in at most so many pixels. A dollar sign begins no formula."""
    return shortened(str(text), room, 12).replace("$", r"\$")


def look(k: int) -> dict[str, Any]:
    """Colour and stroke of the k-th line."""
    return {
        "color": COLOURS[k % len(COLOURS)],
        "linestyle": STROKES[k % len(STROKES)],
        "linewidth": 1.8,
    }


def tidy(ax: Axes) -> Axes:
    """Without the frame where it says nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax
