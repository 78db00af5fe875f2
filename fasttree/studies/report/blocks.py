# SPDX-License-Identifier: BSD-3-Clause
"""What a report is made of, whatever it is printed as."""

from __future__ import annotations

from dataclasses import dataclass

from fasttree.studies.tables import TextTable


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    is_notice: bool = False


@dataclass(frozen=True, slots=True)
class Points:
    """A list; each point may begin with words that stand out."""

    points: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Card:
    """A number that is read first."""

    label: str
    value: str
    note: str


@dataclass(frozen=True, slots=True)
class Cards:
    title: str
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Code:
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """One or several drawings with a caption. `kind`: "chart", "panels" (small, side by side) or "tree" (as large as it
    is). `instead`: the same in numbers, for those who cannot see it and where nothing can be drawn."""

    title: str
    drawings: tuple[str, ...]
    caption: str
    kind: str = "chart"
    instead: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Folded:
    """What few will read."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    name: str  # to link to
    blocks: tuple[Block, ...]
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    title: str
    subtitle: str
    sections: tuple[Section, ...]


Block = Text | Points | Cards | TextTable | Code | Picture | Folded
