# SPDX-License-Identifier: BSD-3-Clause
"""A tree drawn with matplotlib, in the same layout as the SVG export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fasttree.base.values import short_repr
from fasttree.draw.layout import (
    BOX_HEIGHT,
    MARGIN,
    NOTE_PITCH,
    PADDING,
    PALETTE,
    PITCH,
    SIZE,
    Box,
    Branch,
    Drawing,
    layout,
)
from fasttree.draw.text_widths import SMALL, shortened, text_width
from fasttree.plot.canvas import axes, literal, matplotlib
from fasttree.trees.regression_tree import RegressionTree
from fasttree.trees.structure import TreeStructure
from fasttree.trees.tree import LEAF, Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PIXELS = 96.0  # an inch
LETTERS = 0.86  # of the layout's sizes: matplotlib's own font is a wide one
FITTING = 24.0  # inches of a picture whose size nobody has chosen
LARGEST = 100.0  # inches of any picture
LINE_HEIGHT = 24.0
SWATCH = 50.0  # of a class in the legend, with the space around it
CLASS_ROOM = 160.0
INK, SOFT, LINE = "#1d2733", "#4f5b68", "#8994a1"


def tree(model: Any, *, max_depth: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the tree of a fitted model: for each node its test, its rows, and a bar of its classes.

    A new figure is as large as the tree needs, up to 24 inches; of a larger tree, as many levels are drawn as fit, and
    a line at the bottom says what is not shown. `max_depth`: the number of levels below the root, whatever their size;
    beyond 100 inches, the font shrinks, as it does on given Axes.
    """
    grown = getattr(model, "tree_", model)
    if not isinstance(grown, (Tree, RegressionTree)):
        raise ValueError(
            f"model must be a fitted tree, got {short_repr(type(model).__name__)}: call fit first"
        )
    drawn = model.exportable() if hasattr(model, "exportable") else grown
    drawing = _what_fits(grown, drawn) if max_depth is None else layout(drawn, max_depth)
    note = _not_shown(grown, drawing)
    names = _legend(drawing.classes)
    of_legend = sum(text_width(name, SMALL) + SWATCH for name in names)
    width = max(drawing.width, of_legend, text_width(note, SMALL)) + MARGIN
    height = drawing.height + (LINE_HEIGHT if note else 0.0)
    tall = height + LINE_HEIGHT  # the legend is above
    scale = max(PIXELS, max(width, tall) / LARGEST)
    with axes(ax, width / scale, tall / scale) as ax:
        ax.set(xlim=(0, width), ylim=(height, -LINE_HEIGHT), aspect="equal")
        ax.set_axis_off()
        pen = _Pen(ax, width, tall)
        for branch in drawing.branches:
            pen.branch(drawing, branch)
        for box in drawing.boxes:
            pen.box(box)
        for text in drawing.notes:
            for k, line in enumerate(text.lines):
                pen.text(MARGIN, text.y + k * NOTE_PITCH, line, SMALL * 0.94, SOFT)
        if note:
            pen.text(MARGIN, height - MARGIN, note, SMALL, SOFT)
        pen.legend(names, 4 - LINE_HEIGHT)
    return ax


def _legend(classes: tuple[str, ...]) -> list[str]:
    names = [shortened(name, CLASS_ROOM, SMALL) for name in classes[: len(PALETTE)]]
    if len(classes) > len(PALETTE):
        names[-1] = f"{len(classes) - len(PALETTE) + 1} other classes"
    return names


def _what_fits(tree: TreeStructure, drawn: Any) -> Drawing:
    """As many levels as there is room for."""
    n_levels = int(tree.depth[-1]) + 1
    nodes = np.bincount(tree.depth, minlength=n_levels)
    leaves = np.bincount(tree.depth[tree.attribute == LEAF], minlength=n_levels)
    # The lines of a drawing down to each level: its nodes, and the leaves above.
    lines = nodes + np.cumsum(leaves) - leaves
    too_tall = np.flatnonzero(lines * PITCH + 2 * MARGIN > FITTING * PIXELS)
    depth = max(0, int(too_tall[0]) - 1) if len(too_tall) else n_levels - 1
    drawing = layout(drawn, depth)
    while depth and drawing.width > FITTING * PIXELS:
        depth -= 1
        drawing = layout(drawn, depth)
    return drawing


def _not_shown(tree: TreeStructure, drawing: Drawing) -> str:
    left_out = tree.node_count - len(drawing.boxes)
    if not left_out:
        return ""
    nodes = "node is" if left_out == 1 else "nodes are"
    levels = int(tree.depth[-1])
    shown_levels = int(tree.depth[drawing.boxes[-1].node])
    return f"{left_out:,} {nodes} not shown: {shown_levels} of {levels} levels below the root."


class _Pen:
    """Draws in the pixels of a layout."""

    def __init__(self, ax: Axes, width: float, height: float) -> None:
        self.ax = ax
        self.patches = matplotlib("patches")
        figure = ax.get_figure()
        assert figure is not None
        figure.canvas.figure.draw_without_rendering()  # so that the Axes are where they stay
        room = ax.get_window_extent()
        scale = min(room.width / width, room.height / height)
        self.point = LETTERS * scale * 72 / figure.dpi  # in each pixel of the layout

    def text(self, x: float, y: float, text: str, size: float, colour: str, **how: Any) -> None:
        self.ax.text(x, y, text, fontsize=size * self.point, color=colour, parse_math=False, **how)

    def branch(self, drawing: Drawing, branch: Branch) -> None:
        start, end = drawing.boxes[branch.parent], drawing.boxes[branch.child]
        x = [start.x + start.width, branch.turn, branch.turn, end.x]
        y = [start.middle, start.middle, end.middle, end.middle]
        self.ax.plot(x, y, color=LINE, linewidth=1.1 * self.point, zorder=1)
        for k, line in enumerate(branch.label):
            below = -4 if k == 0 else SMALL + 1
            self.text(branch.turn + 6, end.middle + below, line, SMALL, SOFT)

    def box(self, box: Box) -> None:
        face = "#f3f5f8" if box.is_leaf else "white"
        rounded = self.patches.FancyBboxPatch(
            (box.x, box.y), box.width, BOX_HEIGHT, facecolor=face, edgecolor=LINE, zorder=2,
            boxstyle=f"round,pad=0,rounding_size={2 if box.is_leaf else 8}", linewidth=self.point,
        )  # fmt: skip
        self.ax.add_patch(rounded)
        left, room = box.x + PADDING, box.width - 2 * PADDING
        self.text(left, box.y + 15, box.title, SIZE, INK, weight="bold")
        self.text(left, box.y + 28, box.evidence, SMALL, SOFT)
        begin = 0.0
        for k, share in enumerate(box.shares):
            bar = self.patches.Rectangle(
                (left + begin * room, box.y + BOX_HEIGHT - 10), share * room, 6, linewidth=0,
                facecolor=PALETTE[min(k, len(PALETTE) - 1)], zorder=3,
            )  # fmt: skip
            self.ax.add_patch(bar)
            begin += share

    def legend(self, names: list[str], y: float) -> None:
        handles = [
            self.patches.Patch(facecolor=PALETTE[k], label=literal(name))
            for k, name in enumerate(names)
        ]
        self.ax.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(MARGIN, y), bbox_transform=self.ax.transData,
            ncols=len(handles), frameon=False, fontsize=SMALL * self.point, borderpad=0, borderaxespad=0,
        )  # fmt: skip
