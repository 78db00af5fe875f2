# SPDX-License-Identifier: BSD-3-Clause
"""The classes or means of a tree in a terminal: the bar of each node, and the legend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.text import Text

from fasttree.base.wording import plural
from fasttree.draw.answers import Drawn, scale_text
from fasttree.draw.terminal_text import clean, cut
from fasttree.trees.regression_tree import RegressionTree
from fasttree.trees.tree import Tree

# Apart for most eyes with a colour weakness, on light and dark ground; further classes share the last.
COLOURS = ("dodger_blue1", "dark_orange", "green3", "magenta", "turquoise2", "yellow3", "red1")
OTHERS = "grey62"
SHADES = "█░▓▒"  # where there is no colour
LETTERS = "#=+-"


@dataclass(frozen=True, slots=True)
class Look:
    """How it may be drawn."""

    width: int
    unicode: bool = True
    colour: bool = True
    depth: int | None = None  # None: as deep as fits into MOST_LINES
    everything: bool = False

    @property
    def ellipsis(self) -> str:
        return "…" if self.unicode else "..."

    def guides(self, step: int) -> list[str]:
        """Child, last child, beside a child, beneath the last; in so many cells a level."""
        signs = ("├─ ", "└─ ", "│  ", "   ") if self.unicode else ("|- ", "`- ", "|  ", "   ")
        return [sign if step == 3 else sign[0] + " " * (step - 1) for sign in signs]


def legend(tree: Drawn, look: Look) -> Text:
    """The classes with the sign of each in the bars, or what their length means."""
    text = Text()
    if isinstance(tree, RegressionTree):
        text.append(sign_of(0, look) * 2, style=style_of(0, look))
        text.append(f" {scale_text(tree)}")
        return text
    rank = ranks_of(tree)
    shown = np.argsort(rank)[: len(COLOURS)].tolist()
    for place, c in enumerate(shown):
        text.append("   " if place else "")
        text.append(sign_of(place, look) * 2, style=style_of(place, look))
        text.append(" " + cut(clean(str(tree.schema.classes[c])), 24, look.ellipsis))
    if len(rank) > len(shown):
        text.append("   ")
        text.append(sign_of(len(shown), look) * 2, style=style_of(len(shown), look))
        text.append(f" {plural(len(rank) - len(shown), 'other class', 'other classes')}")
    return text


def ranks_of(tree: Tree) -> np.ndarray:
    """The place of each class, the most frequent first."""
    ranks = np.empty(len(tree.schema.classes), dtype=np.int64)
    ranks[np.argsort(-tree.counts[0], kind="stable")] = np.arange(len(ranks))
    return ranks


def style_of(place: int, look: Look) -> str:
    if not look.colour:
        return ""
    return COLOURS[place] if place < len(COLOURS) else OTHERS


def sign_of(place: int, look: Look) -> str:
    if look.colour and look.unicode:
        return "█"
    signs = SHADES if look.unicode else LETTERS
    return signs[min(place, len(signs) - 1)]


def height_bar(height: float, width: int, look: Look) -> Text:
    """A bar of this part of the width, of at least one cell."""
    n_cells = max(1, round(height * width)) if width else 0
    return Text(sign_of(0, look) * n_cells, style=style_of(0, look))


def bar_of(counts: np.ndarray, ranks: np.ndarray, width: int, look: Look) -> Text:
    """The shares of the classes by length, the most frequent class of the tree on the left; empty without rows."""
    total = float(counts.sum())
    text = Text()
    if total <= 0:
        return text
    ordered = counts[np.argsort(ranks)]
    n_named = len(COLOURS)
    parts = np.append(ordered[:n_named], ordered[n_named:].sum())
    # A class that is there gets a cell if there is room; the ends are rounded, so that the cells add up.
    cells = np.diff(np.rint(np.cumsum(parts) / total * width), prepend=0).astype(int)
    for place in np.flatnonzero((parts > 1e-9 * total) & (cells == 0)).tolist():
        largest = int(np.argmax(cells))
        if cells[largest] > 2:
            cells[largest] -= 1
            cells[place] = 1
    for place, n in enumerate(cells.tolist()):
        text.append(sign_of(place, look) * n, style=style_of(place, look))
    return text
