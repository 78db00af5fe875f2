# SPDX-License-Identifier: BSD-3-Clause
"""A report as Markdown. Drawings are told in numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fasttree.studies.report.blocks import (
    Block,
    Cards,
    Code,
    Folded,
    Picture,
    Points,
    Report,
    Section,
    Text,
)
from fasttree.studies.tables import TextTable

_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~$])")
_SPACES = re.compile(r"\s+")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def to_markdown(report: Report) -> str:
    lines = [f"# {plain(report.title)}", "", plain(report.subtitle), ""]
    for section in report.sections:
        lines += _section(section, 2)
    return "\n".join(lines).rstrip() + "\n"


def plain(text: str) -> str:
    """Any text on one line, none of it taken for markup."""
    return _SIGNS.sub(r"\\\1", _SPACES.sub(" ", _UNPRINTABLE.sub("\ufffd", text))).strip()


def _section(section: Section, level: int) -> Iterator[str]:
    yield f"{'#' * level} {plain(section.title)}"
    yield ""
    yield from _blocks(section.blocks)
    for below in section.sections:
        yield from _section(below, level + 1)


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        yield from _block(block)
        yield ""


def _block(block: Block) -> Iterator[str]:
    match block:
        case Text(text, is_notice):
            yield f"> {plain(text)}" if is_notice else plain(text)
        case Points(points):
            for lead, text in points:
                strong = f"**{plain(lead)}** " if lead else ""
                yield f"- {strong}{plain(text)}"
        case Cards(title, cards):
            yield f"**{plain(title)}**"
            yield ""
            for card in cards:
                yield f"- {plain(card.label)}: **{plain(card.value)}** ({plain(card.note)})"
        case TextTable():
            yield from _table(block)
        case Code(text):
            yield from _code(text)
        case Picture(title, _, caption, _, instead):
            if instead:
                yield f"**{plain(title)}.** {plain(caption)}"
                yield ""
                yield from _blocks(instead)
        case Folded(title, blocks):
            yield f"**{plain(title)}**"
            yield ""
            yield from _blocks(blocks)


def _table(table: TextTable) -> Iterator[str]:
    yield f"**{plain(table.title)}**"
    yield ""
    yield _row(map(plain, table.header))
    yield _row(":--" if place < table.n_left else "--:" for place in range(len(table.header)))
    for row in table.rows:
        first = f"&nbsp;&nbsp;{plain(row[0])}" if row[0].startswith("  ") else plain(row[0])
        yield _row([first, *map(plain, row[1:])])
    if table.note:
        yield ""
        yield plain(table.note)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> Iterator[str]:
    """Between fences longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield fence + "text"
    yield _UNPRINTABLE.sub("\ufffd", text)
    yield fence
