# SPDX-License-Identifier: BSD-3-Clause
"""A report as one page of HTML: no scripts, nothing from a network, well-formed as XML too."""

from __future__ import annotations

from collections.abc import Iterator

from fasttree.draw.svg import xml_text
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
from fasttree.studies.report.style import STYLE
from fasttree.studies.tables import TextTable

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # a browser enforces it
FIGURES = {"chart": "one", "panels": "panels", "tree": "tree"}


def to_html(report: Report) -> str:
    title = xml_text(report.title)
    links = "".join(
        f'<li><a href="#{section.name}">{xml_text(section.title)}</a></li>'
        for section in report.sections
    )
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8"/>',
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
        f'<meta http-equiv="Content-Security-Policy" content="{xml_text(POLICY)}"/>',
        '<meta name="color-scheme" content="light dark"/>',
        f"<title>{title}</title>",
        '<link rel="icon" href="data:,"/>',
        f"<style>{STYLE}</style>",
        "</head>",
        "<body>",
        f'<header><h1>{title}</h1><p class="subtitle">{_text(report.subtitle)}</p>',
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>',
        "<main>",
    ]
    for section in report.sections:
        lines += _section(section, 2)
    lines += [
        "</main>",
        "<footer><p>Made with fasttree. This page needs no network access.</p></footer>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    """With per cent signs that stay beside their numbers."""
    return xml_text(text).replace(" %", "\u00a0%")


def _section(section: Section, level: int) -> Iterator[str]:
    yield f'<section id="{section.name}" aria-labelledby="{section.name}-heading">'
    yield f'<h{level} id="{section.name}-heading">{_text(section.title)}</h{level}>'
    yield from _blocks(section.blocks)
    for below in section.sections:
        yield from _section(below, level + 1)
    yield "</section>"


def _blocks(blocks: tuple[Block, ...]) -> Iterator[str]:
    """Charts that follow each other stand side by side where there is room."""
    pair: list[str] = []
    for block in blocks:
        if isinstance(block, Picture) and block.kind == "chart":
            pair.append(_picture(block))
            continue
        yield from _paired(pair)
        pair = []
        yield _block(block)
    yield from _paired(pair)


def _paired(figures: list[str]) -> Iterator[str]:
    if figures:
        yield f'<div class="pair">{"".join(figures)}</div>'


def _block(block: Block) -> str:
    match block:
        case Text(text, is_notice):
            kind = ' class="notice" role="note"' if is_notice else ""
            return f"<p{kind}>{_text(text)}</p>"
        case Points(points):
            return f"<ul>{''.join(_point(*point) for point in points)}</ul>"
        case Cards():
            return _cards(block)
        case TextTable():
            return _table(block)
        case Code(text):
            return f'<pre tabindex="0">{_text(text)}</pre>'
        case Picture():
            return _picture(block)
        case Folded(title, blocks):
            inside = "\n".join(_blocks(blocks))
            return f"<details><summary>{_text(title)}</summary>{inside}</details>"


def _point(lead: str, text: str) -> str:
    strong = f"<strong>{_text(lead)}</strong> " if lead else ""
    return f"<li>{strong}{_text(text)}</li>"


def _cards(block: Cards) -> str:
    cards = "".join(
        f'<div><dt>{_text(card.label)}</dt><dd class="value">{_text(card.value)}</dd>'
        f'<dd class="note">{_text(card.note)}</dd></div>'
        for card in block.cards
    )
    return f'<h3>{_text(block.title)}</h3><dl class="cards">{cards}</dl>'


def _table(table: TextTable) -> str:
    head = "".join(
        f'<th scope="col"{_left(place, table)}>{_text(cell)}</th>'
        for place, cell in enumerate(table.header)
    )
    body = "".join(_row(row, table) for row in table.rows)
    under = f'<p class="under">{_text(table.note)}</p>' if table.note else ""
    label = _text(table.title)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table><caption>{label}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{under}"
    )


def _row(row: tuple[str, ...], table: TextTable) -> str:
    """Levels of an attribute are indented beneath it."""
    is_sub = row[0].startswith("  ")
    is_lead = not is_sub and len(row) > 2 and not row[1]
    kind = ' class="left sub"' if is_sub else ' class="left"'
    cells = [f'<th scope="row"{kind}>{_text(row[0].strip())}</th>']
    cells += [
        f"<td{_left(place, table)}>{_text(cell)}</td>" for place, cell in enumerate(row[1:], 1)
    ]
    of_kind = ' class="lead"' if is_lead else ""
    return f"<tr{of_kind}>{''.join(cells)}</tr>"


def _left(place: int, table: TextTable) -> str:
    return ' class="left"' if place < table.n_left else ""


def _picture(picture: Picture) -> str:
    kind = FIGURES[picture.kind]
    scrolls = (
        f' tabindex="0" role="region" aria-label="{_text(picture.title)}"' if kind == "tree" else ""
    )
    instead = ""
    if picture.instead:
        inside = "\n".join(_blocks(picture.instead))
        what = "as text" if kind == "tree" else "in numbers"
        instead = f"<details><summary>The same {what}</summary>{inside}</details>"
    return (
        f'<figure><div class="{kind}"{scrolls}>{"".join(picture.drawings)}</div>'
        f"<figcaption><strong>{_text(picture.title)}.</strong> {_text(picture.caption)}</figcaption>"
        f"{instead}</figure>"
    )
