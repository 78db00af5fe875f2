# SPDX-License-Identifier: BSD-3-Clause
"""What leads from a node to each of its children, in pieces that can be shortened to the width of a terminal."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

from fasttree.base.text import number_text
from fasttree.draw.branches import LISTED, sides_of
from fasttree.draw.terminal_text import clean, cut
from fasttree.trees.structure import TreeStructure
from fasttree.trees.view import Exportable, as_exportable

LEAST_NAME = 8  # cells that a name keeps when a line is short of room


@dataclass(frozen=True, slots=True)
class Branch:
    """``attribute sign values``, and the mark for missing values; `others` counts levels that are not named."""

    child: int
    attribute: str
    sign: str
    values: tuple[str, ...] = ()
    others: int = 0
    mark: str = ""

    def text(self, width: int, ellipsis: str = "…") -> str:
        """The test in at most so many cells: first levels go, then the ends of names."""
        most = min(len(self.values), width)  # each takes a cell at least
        texts = [f" {self._value_text(n)}{self.mark}" for n in range(most, 0, -1)]
        texts.append(f" {self._value_text(min(most, 1), short=True)}{self.mark}")
        fits = (text for text in texts if cell_len(self.attribute + text) <= width)
        text = next(fits, texts[-1])
        room = max(width - cell_len(text), min(LEAST_NAME, width))
        return cut(cut(self.attribute, room, ellipsis) + text, width, ellipsis)

    def _value_text(self, n: int, short: bool = False) -> str:
        hidden = len(self.values) - n + self.others
        if not self.values:
            return f"{self.sign} ({self.others} other categories)" if self.others else self.sign
        more = (f" +{hidden}" if short else f" and {hidden} more") if hidden else ""
        return f"{self.sign} {', '.join(self.values[:n])}{more}"


def branches_of(model: Exportable | TreeStructure, node: int) -> list[Branch]:
    """The children of a node, in their order."""
    model = as_exportable(model)
    tree = model.tree
    attribute = tree.schema.attributes[tree.attribute[node]]
    name, branches = clean(attribute.name), []
    for child, sign, values, is_rest, mark in sides_of(model, node):
        named = () if is_rest and len(values) > LISTED else values
        if attribute.categories is None:
            texts = tuple(number_text(value, attribute.time) for value in named)
        else:
            texts = tuple(clean(str(level)) for level in named)
        branches.append(Branch(child, name, sign, texts, len(values) - len(named), mark))
    return branches
