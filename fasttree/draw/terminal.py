# SPDX-License-Identifier: BSD-3-Clause
"""A tree drawn for a terminal: branches on the left; on the right class, rows, probability and a bar of the classes, or
mean, rows, standard deviation and a bar of the mean."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from fasttree.base.text import number_text
from fasttree.base.wording import plural
from fasttree.draw.answers import Drawn, deviation_text, relative_height
from fasttree.draw.remarks import short_notes
from fasttree.draw.terminal_bars import Look, bar_of, height_bar, ranks_of, style_of
from fasttree.draw.terminal_branches import Branch, branches_of
from fasttree.draw.terminal_text import clean, cut
from fasttree.trees.regression_tree import RegressionTree
from fasttree.trees.traversal import leaves_below
from fasttree.trees.tree import LEAF
from fasttree.trees.view import Exportable, as_exportable

MOST_LINES = 60  # without --depth or --all
MOST_CHILDREN = 12  # of a node, without --all: the heaviest
ENOUGH_TEST = 24  # cells for tests, beside a bar
LEAST_WIDTH = 40
NOTE_BESIDE = 28  # cells of a test that a note beside it must leave
OUTER = 6  # cells for the number of the outer guides


class Line(NamedTuple):
    node: int
    depth: int
    is_last: tuple[bool, ...]  # of the ancestors that a line has room for, and of itself
    branch: Branch | None
    hidden: int = 0  # leaves beneath that are not drawn
    folded: int = 0  # > 0: the line stands for so many children


class Layout(NamedTuple):
    """Cells of each column."""

    left: int
    step: int  # of the indentation
    label: int
    rows: int
    share: int
    bar: int


def draw(model: Exportable | Drawn, look: Look) -> Iterator[Text]:
    """The lines of the picture, none wider than the look's width (of at least LEAST_WIDTH)."""
    model = as_exportable(model)
    tree = model.tree
    depth = shown_depth(model, look)
    lines = list(_lines(model, depth, look))
    layout = _layout(tree, lines, look)
    ranks = None if model.predicts_numbers else ranks_of(tree)
    yield _header(layout, ranks is None)
    for line in lines:
        yield _row(tree, line, layout, look, ranks)
    asked = dict.fromkeys(int(tree.parent[line.node]) for line in lines if line.branch is not None)
    notes = short_notes(model, asked)
    if notes:
        yield Text()
    for note in notes:
        for text in _folded(clean(note), max(look.width, LEAST_WIDTH)):
            yield Text(text, style="italic")
    if depth < tree.max_depth:
        yield Text()
        note = f"{depth} of {tree.max_depth} levels; --depth {min(depth + 2, tree.max_depth)} or --all shows more"
        yield Text(cut(note, max(look.width, LEAST_WIDTH), look.ellipsis), style="italic")


def _folded(text: str, width: int) -> Iterator[str]:
    """Over several lines, broken between words if these are short enough."""
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if line and cell_len(joined) > width:
            yield line
            joined = word
        while cell_len(joined) > width:
            head = set_cell_size(joined, width).rstrip()
            yield head
            joined = joined[len(head) :]
        line = joined
    yield line


def shown_depth(model: Exportable | Drawn, look: Look) -> int:
    """As deep as was asked for, or as fits into MOST_LINES."""
    model = as_exportable(model)
    tree = model.tree
    if look.everything or look.depth is not None:
        return min(tree.max_depth if look.depth is None else look.depth, tree.max_depth)
    depth = min(1, tree.max_depth)
    while depth < tree.max_depth:
        lines = islice(_lines(model, depth + 1, look), MOST_LINES + 1)
        if sum(1 for _ in lines) > MOST_LINES:
            break
        depth += 1
    return depth


# -- what is shown -----------------------------------------------------------------------------------


def _lines(model: Exportable, depth: int, look: Look) -> Iterator[Line]:
    """Depth first, with a stack of our own."""
    tree = model.tree
    leaves = leaves_below(tree)
    stack = [Line(0, 0, (), None)]
    while stack:
        line = stack.pop()
        if line.folded:
            yield line
            continue
        node = line.node
        is_leaf = tree.attribute[node] == LEAF
        if is_leaf or line.depth >= depth:
            yield line if is_leaf else line._replace(hidden=int(leaves[node]))
            continue
        yield line
        children, n_folded = _children(model, node, look)
        above = line.is_last[-look.width :]
        last = len(children) - 1 + (n_folded > 0)
        below = [
            Line(branch.child, line.depth + 1, (*above, place == last), branch)
            for place, branch in enumerate(children)
        ]
        if n_folded:
            below.append(Line(node, line.depth + 1, (*above, True), None, folded=n_folded))
        stack.extend(reversed(below))


def _children(model: Exportable, node: int, look: Look) -> tuple[list[Branch], int]:
    """The children that are drawn, in their order, and how many are not."""
    branches = branches_of(model, node)
    if look.everything or len(branches) <= MOST_CHILDREN:
        return branches, 0
    weight = np.array([model.tree.weight[branch.child] for branch in branches])
    kept = np.sort(np.argsort(-weight, kind="stable")[: MOST_CHILDREN - 1])
    return [branches[place] for place in kept.tolist()], len(branches) - len(kept)


# -- how it is laid out ------------------------------------------------------------------------------


def _layout(tree: Drawn, lines: list[Line], look: Look) -> Layout:
    """The columns on the right give way where there is little room: first the probability, then the bar."""
    width = max(look.width, LEAST_WIDTH)
    nodes = [line.node for line in lines]
    if isinstance(tree, RegressionTree):
        answers = [number_text(mean) for mean in tree.prediction[nodes].tolist()]
        spread = [deviation_text(error) for error in tree.error[nodes].tolist()]
    else:
        answers, spread = [clean(str(label)) for label in tree.schema.classes], ["100%"]
    label = min(max(*map(cell_len, answers), len("class")), max(8, width // 6))
    weights = tree.weighted_n_node_samples[nodes].tolist()
    share_width = max(map(len, spread))
    rows = max(len("rows"), *(len(_rows_text(weight)) for weight in weights))
    with_share = (share_width, 12 if width < 110 else 24)
    choices = [(0, 6), (0, 0)] if width < 70 else [with_share, (0, 6), (0, 0)]
    for share, bar in choices:
        room = width - sum(cells + 2 for cells in (label, rows, share, bar) if cells)
        if room >= ENOUGH_TEST:
            break
    deepest = max(line.depth for line in lines)
    step = next((n for n in (3, 2, 1) if n * deepest <= room - _least_test(room)), 1)
    layout = Layout(room, step, label, rows, share, bar)
    parts = (_left_part(line, layout, look) for line in lines)
    return layout._replace(left=min(room, max(20, *(sum(map(cell_len, part)) for part in parts))))


def _least_test(left: int) -> int:
    """The cells that a test has, whatever its depth."""
    return max(10, left * 2 // 5)


def _left_part(line: Line, layout: Layout, look: Look) -> tuple[str, str, str]:
    """The guides, the test, and how many leaves are not drawn."""
    indent = _indent(line, layout, look)
    width = max(layout.left - len(indent), 1)
    if line.folded:
        more = f"and {plural(line.folded, 'more branch', 'more branches')}"
        return indent, cut(more, width, look.ellipsis), ""
    beneath = f" {look.ellipsis} {plural(line.hidden, 'leaf', 'leaves')}" if line.hidden else ""
    test = "all rows" if line.branch is None else line.branch.text(NOTE_BESIDE)
    if width - len(beneath) < cell_len(test):
        beneath = ""  # the test is worth more
    width -= len(beneath)
    test = "all rows" if line.branch is None else line.branch.text(width, look.ellipsis)
    return indent, cut(test, width, look.ellipsis), beneath


def _indent(line: Line, layout: Layout, look: Look) -> str:
    """The guides in front of a line. In a tree too deep for its width the outer ones give way to their number."""
    is_last = line.is_last
    if not is_last:
        return ""
    child, last, beside, beneath = look.guides(layout.step)
    head = ""
    room = layout.left - _least_test(layout.left)
    if line.depth * layout.step > room:
        kept = max(room - OUTER, 1)
        head = f"{line.depth - kept}{look.ellipsis}".ljust(OUTER)
        is_last = is_last[-kept:]
    guides = [beneath if gone else beside for gone in is_last[:-1]]
    return head + "".join(guides) + (last if is_last[-1] else child)


def _header(layout: Layout, of_numbers: bool) -> Text:
    answer, share = ("mean", "sd") if of_numbers else ("class", "p")
    text = Text(" " * layout.left, style="dim")
    text.append("  " + answer.ljust(layout.label) + "  " + "rows".rjust(layout.rows))
    if layout.share:
        text.append("  " + share.rjust(layout.share))
    text.rstrip()
    return text


def _row(tree: Drawn, line: Line, layout: Layout, look: Look, ranks: np.ndarray | None) -> Text:
    """`ranks`: of the classes; None: numbers are predicted."""
    indent, test, beneath = _left_part(line, layout, look)
    row = Text(no_wrap=True)
    row.append(indent, style="dim")
    row.append(test, style="italic dim" if line.folded else "")
    if line.folded:
        return row
    is_leaf = tree.attribute[line.node] == LEAF
    answer = _answer(tree, line.node, layout, look, ranks)
    label = cut(answer.label, layout.label, look.ellipsis)
    row.append(beneath, style="dim italic")
    row.append(" " * (layout.left - cell_len(indent + test + beneath) + 2))
    style = answer.style
    row.append(
        label + " " * (layout.label - cell_len(label)), style=f"bold {style}" if is_leaf else "dim"
    )
    row.append("  " + _rows_text(float(tree.weighted_n_node_samples[line.node])).rjust(layout.rows))
    if layout.share:
        row.append("  " + answer.share.rjust(layout.share), style="dim")
    if layout.bar:
        row.append("  ")
        row.append_text(answer.bar)
    return row


class _Answer(NamedTuple):
    """The columns on the right."""

    label: str
    style: str
    share: str
    bar: Text


def _answer(
    tree: Drawn, node: int, layout: Layout, look: Look, ranks: np.ndarray | None
) -> _Answer:
    if isinstance(tree, RegressionTree):
        mean, spread = number_text(float(tree.prediction[node])), float(tree.error[node])
        bar = height_bar(relative_height(tree, node), layout.bar, look)
        return _Answer(mean, "", deviation_text(spread), bar)
    assert ranks is not None
    predicted = int(tree.pred[node])
    return _Answer(
        clean(str(tree.schema.classes[predicted])),
        style_of(int(ranks[predicted]), look) if look.colour else "",
        f"{tree.proba[node, predicted]:.0%}",
        bar_of(tree.counts[node], ranks, layout.bar, look),
    )


def _rows_text(weight: float) -> str:
    near = round(weight)
    return f"{near:,}" if abs(weight - near) < 1e-6 * max(near, 1) else f"{weight:,.1f}"
