# SPDX-License-Identifier: BSD-3-Clause
"""A tree drawn with matplotlib, in the same layout as the SVG export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fasttree.export.layout import (
    BOX_HEIGHT,
    MARGIN,
    NOTE_PITCH,
    PADDING,
    PALETTE,
    SIZE,
    SMALL,
    Box,
    Branch,
    Drawing,
    layout,
)
from fasttree.plot.canvas import axes, matplotlib
from fasttree.scalars import shown
from fasttree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PIXELS = 96.0  # an inch
INK, SOFT, LINE = "#1d2733", "#4f5b68", "#8994a1"


def tree(model: Any, *, max_depth: int | None = None, ax: Axes | None = None) -> Axes:
    """The tree of a fitted model: what each node asks, its rows, and a bar of its classes. `max_depth`: only so many
    levels below the root. A new figure is as large as the tree needs; on given Axes the letters shrink with it."""
    grown = getattr(model, "tree_", model)
    if not isinstance(grown, Tree):
        raise ValueError(
            f"model must be a fitted tree, got {shown(type(model).__name__)}: call fit first"
        )
    whole = hasattr(model, "_exportable") and hasattr(model, "tree_")
    drawing = layout(model._exportable() if whole else grown, max_depth)
    ax = axes(ax, drawing.width / PIXELS, drawing.height / PIXELS)
    ax.set(xlim=(0, drawing.width), ylim=(drawing.height, 0), aspect="equal")
    ax.set_axis_off()
    pen = _Pen(ax, drawing)
    for branch in drawing.branches:
        pen.branch(drawing, branch)
    for box in drawing.boxes:
        pen.box(box)
    for note in drawing.notes:
        for k, line in enumerate(note.lines):
            pen.text(MARGIN, note.y + k * NOTE_PITCH, line, SMALL * 0.94, SOFT)
    pen.legend(drawing.classes)
    return ax


class _Pen:
    """Draws in the pixels of a layout."""

    def __init__(self, ax: Axes, drawing: Drawing) -> None:
        self.ax = ax
        self.patches = matplotlib("patches")
        figure = ax.get_figure()
        assert figure is not None
        room = ax.get_window_extent()
        scale = min(room.width / drawing.width, room.height / drawing.height)
        self.point = scale * 72 / figure.dpi  # in each pixel of the layout

    def text(self, x: float, y: float, text: str, size: float, colour: str, **how: Any) -> None:
        self.ax.text(x, y, text, fontsize=size * self.point, color=colour, parse_math=False, **how)

    def branch(self, drawing: Drawing, branch: Branch) -> None:
        start, end = drawing.boxes[branch.parent], drawing.boxes[branch.child]
        x = [start.x + start.width, branch.turn, branch.turn, end.x]
        y = [start.middle, start.middle, end.middle, end.middle]
        self.ax.plot(x, y, color=LINE, linewidth=1.1 * self.point, zorder=1)
        for k, line in enumerate(branch.label):
            below = -4 if k == 0 else SMALL + 1
            self.text(branch.turn + 6, end.middle + below, line, SMALL * 0.94, SOFT)

    def box(self, box: Box) -> None:
        face = "#f3f5f8" if box.is_leaf else "white"
        rounded = self.patches.FancyBboxPatch(
            (box.x, box.y), box.width, BOX_HEIGHT, facecolor=face, edgecolor=LINE, zorder=2,
            boxstyle=f"round,pad=0,rounding_size={2 if box.is_leaf else 8}", linewidth=self.point,
        )  # fmt: skip
        self.ax.add_patch(rounded)
        left, room = box.x + PADDING, box.width - 2 * PADDING
        self.text(left, box.y + 15, box.title, SIZE * 0.94, INK, weight="bold")
        self.text(left, box.y + 28, box.evidence, SMALL * 0.94, SOFT)
        begin = 0.0
        for k, share in enumerate(box.shares):
            bar = self.patches.Rectangle(
                (left + begin * room, box.y + BOX_HEIGHT - 10), share * room, 6, linewidth=0,
                facecolor=PALETTE[min(k, len(PALETTE) - 1)], zorder=3,
            )  # fmt: skip
            self.ax.add_patch(bar)
            begin += share

    def legend(self, classes: tuple[str, ...]) -> None:
        names = list(classes)
        if len(names) > len(PALETTE):
            rest = len(names) - len(PALETTE) + 1
            names = [*names[: len(PALETTE) - 1], f"{rest} other classes"]
        handles = [
            self.patches.Patch(facecolor=PALETTE[k], label=name.replace("$", r"\$"))
            for k, name in enumerate(names)
        ]
        self.ax.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(handles), frameon=False,
            fontsize=SMALL * self.point,
        )  # fmt: skip
