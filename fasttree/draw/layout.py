# SPDX-License-Identifier: BSD-3-Clause
"""Where the boxes of a drawn tree stand: the root at the left, a column a level, every leaf in a line of its own.

Lines never meet, since what is below a node has a strip of the drawing to itself. Sizes are in pixels of an SVG.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasttree.base.checks import check_integer
from fasttree.base.quoting import readable
from fasttree.base.text import exact_number, number_text
from fasttree.draw.answers import Drawn, deviation_text, relative_height, rows_text, scale_text
from fasttree.draw.branches import branch_texts, full_branch_texts
from fasttree.draw.remarks import short_notes
from fasttree.draw.text_widths import BOLDER, SMALL, lines_of, shortened, text_width, wrapped
from fasttree.trees.regression_tree import RegressionTree
from fasttree.trees.traversal import printed_order
from fasttree.trees.tree import LEAF
from fasttree.trees.view import ALL_BRANCHES, Exportable, as_exportable

MOST_BOXES = 1500
SIZE = 13.0  # of the text
PITCH = 52.0  # from leaf to leaf
BOX_HEIGHT = 42.0
MARGIN = 8.0
PADDING = 9.0  # within a box
ELBOW = 14.0  # from a box to the line that its branches leave
WIDEST_BOX, NARROWEST_BOX = 210.0, 84.0
MOST_NAMED = 8  # levels in a label that is too short for all of a set
NOTE_PITCH = 17.0  # from line to line of the notes
NARROWEST_NOTE = 340.0
NOTE_LINES = 3
# Of the classes, in their order, then of all the others; told apart also by the colour-blind (after Okabe and Ito).
PALETTE = (
    "#76828f",
    "#d55e00",
    "#0072b2",
    "#008f68",
    "#b8860b",
    "#9b4f96",
    "#3a9bdc",
    "#8c5a2b",
)


@dataclass(frozen=True, slots=True)
class Box:
    """A node. `title` is what it asks for, or its answer; `shares` are those of the classes, nothing without rows, or
    how high its number is."""

    node: int
    x: float
    y: float
    width: float
    title: str
    evidence: str
    shares: tuple[float, ...]
    is_leaf: bool
    full: str  # all of it in words, nothing shortened

    @property
    def middle(self) -> float:
        return self.y + BOX_HEIGHT / 2


@dataclass(frozen=True, slots=True)
class Branch:
    """The line from a box to one of those below; it turns at `turn`. The label stands beside its last part."""

    parent: int  # places among the boxes
    child: int
    turn: float
    label: tuple[str, ...]
    full: str  # nothing shortened


@dataclass(frozen=True, slots=True)
class Note:
    """Lines beneath the tree that explain it; the first stands on `y`, the others NOTE_PITCH apart."""

    y: float
    lines: tuple[str, ...]
    full: str  # nothing shortened


@dataclass(frozen=True, slots=True)
class Drawing:
    width: float
    height: float
    boxes: tuple[Box, ...]
    branches: tuple[Branch, ...]
    classes: tuple[str, ...]
    note: str  # what the drawing leaves out
    notes: tuple[Note, ...]


def layout(model: Exportable | Drawn, max_depth: int | None = None) -> Drawing:
    """The whole tree, or its first `max_depth` levels below the root."""
    model = as_exportable(model)
    tree = model.tree
    shown = _shown(tree, max_depth)
    place = {node: k for k, node in enumerate(shown)}
    labels: dict[int, tuple[str, ...]] = {}
    full_labels: dict[int, str] = {}
    asked = [n for n in shown if tree.attribute[n] != LEAF and int(tree.first_child[n]) in place]
    for node in asked:
        labels |= _labels(model, node)
        full_labels |= _full_labels(model, node)
    texts = [_texts(tree, node, place) for node in shown]
    lefts, widths = _columns(tree, shown, labels, texts)
    middles = _middles(tree, shown, place)
    boxes, branches = [], []
    for k, node in enumerate(shown):
        depth = int(tree.depth[node])
        title, evidence, full = texts[k]
        room = widths[depth] - 2 * PADDING
        boxes.append(
            Box(
                node,
                lefts[depth],
                middles[k] - BOX_HEIGHT / 2,
                widths[depth],
                shortened(title, room, SIZE * BOLDER),
                shortened(evidence, room, SMALL),
                _shares(tree, node),
                tree.attribute[node] == LEAF,
                full,
            )
        )
        if node:
            parent = place[int(tree.parent[node])]
            turn = lefts[depth - 1] + widths[depth - 1] + ELBOW
            branches.append(Branch(parent, k, turn, labels[node], full_labels[node]))
    deepest = int(tree.depth[shown[-1]])
    width = lefts[deepest] + widths[deepest] + MARGIN
    height = max(middles) + BOX_HEIGHT / 2 + MARGIN
    notes, width, height = _notes(short_notes(model, asked), width, height)
    classes = tuple(map(str, tree.schema.classes.tolist()))
    if isinstance(tree, RegressionTree):
        classes = (scale_text(tree),)
    note = "" if len(shown) == tree.node_count else f"The first {max_depth} levels of the tree."
    return Drawing(width, height, tuple(boxes), tuple(branches), classes, note, notes)


def _shown(tree: Drawn, max_depth: int | None) -> list[int]:
    shown = range(tree.node_count)
    if max_depth is not None:
        check_integer("max_depth", max_depth, 0, "None or ")
        shown = range(int(np.searchsorted(tree.depth, max_depth, side="right")))
    if len(shown) > MOST_BOXES:
        raise ValueError(
            f"the drawing would have {len(shown):,} boxes, but at most {MOST_BOXES:,} can be drawn legibly: "
            "prune the tree, or draw its first levels, for example with max_depth=4"
        )
    return list(shown)


# -- texts -------------------------------------------------------------------------------------------------------------


def _labels(model: Exportable, node: int) -> dict[int, tuple[str, ...]]:
    """What leads to each child, in lines of limited width; the name of the attribute stands in the box."""
    whole = _without_name(model.tree, node, branch_texts(model, node))
    lines = {child: wrapped(text) for child, text in whole.items()}
    # Of a set that is cut off, as many levels as leave room to say how many others there are.
    cut_off = [child for child, text in whole.items() if " ".join(lines[child]) != text]
    for most in range(MOST_NAMED, 0, -1) if cut_off else ():
        folded = _without_name(model.tree, node, branch_texts(model, node, most))
        for child in cut_off:
            lines[child] = wrapped(folded[child])
        cut_off = [child for child in cut_off if " ".join(lines[child]) != folded[child]]
    return lines


def _full_labels(model: Exportable, node: int) -> dict[int, str]:
    """The whole of it, with the share that each child gets of a row without the value, if it is shared out."""
    labels = _without_name(model.tree, node, full_branch_texts(model, node))
    if model.tree.missing_branch[node] == ALL_BRANCHES:
        first = int(model.tree.first_child[node])
        for branch, part in enumerate(model.parts(node)):
            if part > 0:
                labels[first + branch] += f"; missing: {part:.1%}"
    return labels


def _without_name(tree: Drawn, node: int, lines: list[tuple[int, str]]) -> dict[int, str]:
    name = readable(tree.schema.attributes[tree.attribute[node]].name)
    texts: dict[int, list[str]] = {}
    for child, text in lines:
        texts.setdefault(child, []).append(text.removeprefix(f"{name} ").removeprefix("= "))
    return {child: " or ".join(parts) for child, parts in texts.items()}


def _texts(tree: Drawn, node: int, place: dict[int, int]) -> tuple[str, str, str]:
    """The two lines of a box, and all of it in words."""
    total = float(tree.weighted_n_node_samples[node])
    if isinstance(tree, RegressionTree):
        label = number_text(float(tree.prediction[node]))
    else:
        label = str(tree.schema.classes[tree.pred[node]])
    title, below = label, ""
    if tree.attribute[node] != LEAF:
        title = tree.schema.attributes[tree.attribute[node]].name
        if int(tree.first_child[node]) not in place:
            below = ", more below"
            title = f"{title} …"
    if total <= 0:
        return title, "no rows", f"{title}: no training rows, {label}"
    rows = rows_text(total)
    if isinstance(tree, RegressionTree):
        mean, spread = float(tree.prediction[node]), deviation_text(float(tree.error[node]))
        is_leaf = tree.attribute[node] == LEAF
        said = f"{rows}, sd {spread}" if is_leaf else f"{rows}, mean {mean:.4g}"
        return title, said, f"{title}: {rows}, mean {exact_number(mean)}, sd {spread}{below}"
    counts = tree.counts[node]
    # Of two classes the second is the one that people ask for.
    shown = 1 if len(counts) == 2 else int(np.argmax(counts))
    share = f"{100 * counts[shown] / total:.1f} % {tree.schema.classes[shown]}"
    return title, f"{rows}, {share}", f"{title}: {rows}, {share}; {label}{below}"


def _shares(tree: Drawn, node: int) -> tuple[float, ...]:
    if isinstance(tree, RegressionTree):
        return (relative_height(tree, node),)
    counts = tree.counts[node]
    total = counts.sum()
    return tuple((counts / total).tolist()) if total > 0 else ()


def _notes(
    texts: tuple[str, ...], width: float, height: float
) -> tuple[tuple[Note, ...], float, float]:
    """The notes below a drawing, and its size with them."""
    if not texts:
        return (), width, height
    width = max(width, min(NARROWEST_NOTE, max(text_width(t, SMALL) for t in texts) + 2 * MARGIN))
    notes = []
    for text in texts:
        lines = lines_of(text, width - 2 * MARGIN, NOTE_LINES)
        notes.append(Note(height + SMALL, lines, text))
        height += NOTE_PITCH * len(lines)
    return tuple(notes), width, height + MARGIN


# -- places ------------------------------------------------------------------------------------------------------------


def _columns(
    tree: Drawn,
    shown: list[int],
    labels: dict[int, tuple[str, ...]],
    texts: list[tuple[str, str, str]],
) -> tuple[list[float], list[float]]:
    """Left edge and width of the boxes of each level."""
    n_levels = int(tree.depth[shown[-1]]) + 1
    boxes, gaps = [NARROWEST_BOX] * n_levels, [0.0] * n_levels
    for node, (title, evidence, _) in zip(shown, texts, strict=True):
        depth = int(tree.depth[node])
        width = max(text_width(title, SIZE * BOLDER), text_width(evidence, SMALL)) + 2 * PADDING
        boxes[depth] = min(max(boxes[depth], width), WIDEST_BOX)
        if node:
            wide = max(text_width(line, SMALL) for line in labels[node])
            gaps[depth] = max(gaps[depth], wide + ELBOW + 16)
    lefts = [MARGIN]
    for depth in range(1, n_levels):
        lefts.append(lefts[-1] + boxes[depth - 1] + gaps[depth])
    return lefts, boxes


def _middles(tree: Drawn, shown: list[int], place: dict[int, int]) -> list[float]:
    """Leaves below each other in the order of the branches; a node halfway between its first and its last child."""
    middles = [0.0] * len(shown)
    ends = [n for n in shown if tree.attribute[n] == LEAF or int(tree.first_child[n]) not in place]
    for line, node in enumerate(sorted(ends, key=printed_order(tree).__getitem__)):
        middles[place[node]] = MARGIN + BOX_HEIGHT / 2 + line * PITCH
    for k in range(len(shown) - 1, -1, -1):  # children come after their parents
        first, n = int(tree.first_child[shown[k]]), int(tree.n_children[shown[k]])
        if first in place:
            middles[k] = (middles[place[first]] + middles[place[first + n - 1]]) / 2
    return middles
