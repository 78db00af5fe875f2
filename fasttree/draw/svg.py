# SPDX-License-Identifier: BSD-3-Clause
"""A tree as a drawing for browsers and documents: SVG, light and dark, nothing but text and lines."""

from __future__ import annotations

import re
from html import escape

from fasttree.draw.layout import (
    BOX_HEIGHT,
    MARGIN,
    NOTE_PITCH,
    PADDING,
    PALETTE,
    SIZE,
    Box,
    Branch,
    Drawing,
    Note,
    layout,
)
from fasttree.draw.text_widths import SMALL, shortened, text_width
from fasttree.trees.structure import TreeStructure
from fasttree.trees.view import Exportable, as_exportable

BAR = 6.0  # height of the bar of classes
LEGEND = 24.0
SWATCH = 11.0
# For the eye in the dark; the same hues.
DARK_PALETTE = (
    "#8d99a6",
    "#f0843c",
    "#4aa8e0",
    "#2fc496",
    "#dcb040",
    "#c98ac4",
    "#86c5f0",
    "#c8966a",
)
_LIGHT = "--ft-ink:#1d2733;--ft-soft:#4f5b68;--ft-line:#8994a1;--ft-box:#ffffff;--ft-leaf:#f3f5f8;--ft-page:#ffffff"
_DARK = "--ft-ink:#e8edf2;--ft-soft:#b3bdc8;--ft-line:#77838f;--ft-box:#1b222a;--ft-leaf:#262f39;--ft-page:#12171d"


def _colours(palette: tuple[str, ...]) -> str:
    return ";".join(f"--ft-{k}:{colour}" for k, colour in enumerate(palette))


STYLE = f"""
.ft-tree{{{_LIGHT};{_colours(PALETTE)};font-family:system-ui,"Helvetica Neue",Arial,sans-serif}}
@media (prefers-color-scheme:dark){{.ft-tree{{{_DARK};{_colours(DARK_PALETTE)}}}}}
@media print{{.ft-tree{{{_LIGHT};{_colours(PALETTE)}}}}}
.ft-tree text{{fill:var(--ft-soft);font-size:{SMALL}px}}
.ft-tree text.t{{fill:var(--ft-ink);font-size:{SIZE}px;font-weight:600}}
.ft-tree path{{fill:none;stroke:var(--ft-line);stroke-width:1.3}}
.ft-tree .b{{fill:var(--ft-box);stroke:var(--ft-line)}}
.ft-tree .p{{fill:var(--ft-page)}}
.ft-tree .l{{fill:var(--ft-leaf)}}
""" + "".join(f".ft-tree .c{k}{{fill:var(--ft-{k})}}\n" for k in range(len(PALETTE)))

# XML has no place for control signs and halves of surrogate pairs, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(value: object) -> str:
    """Any text as XML and HTML may hold it, between tags or in quotes."""
    return escape(_FORBIDDEN.sub("\ufffd", str(value)), quote=True)


def export(
    model: Exportable,
    *,
    max_depth: int | None = None,
    title: str = "Decision tree",
    target: str = "",
) -> str:
    """A complete SVG document. `max_depth`: levels below the root that are drawn. `target`: the name of the target."""
    return draw(model, max_depth=max_depth, title=title, target=target)


def draw(
    model: Exportable | TreeStructure,
    *,
    max_depth: int | None = None,
    title: str = "Decision tree",
    target: str = "",
    name: str = "tree",
    standalone: bool = True,
) -> str:
    """The tree as an ``<svg>``. Not `standalone`: for a page that has `STYLE`; `name` is unique there."""
    model = as_exportable(model)
    drawing = layout(model, max_depth)
    legend, legend_width = _legend(drawing.classes, target)
    width, height = max(drawing.width, legend_width), drawing.height + LEGEND
    n_leaves = model.tree.n_leaves
    size = f"{title}: {n_leaves:,} {'leaf' if n_leaves == 1 else 'leaves'}."
    what = " ".join(filter(None, [size, drawing.note, *(note.full for note in drawing.notes)]))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ft-tree" role="img" '
        f'aria-labelledby="{name}-title {name}-desc" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">',
        f'<title id="{name}-title">{xml_text(title)}</title>',
        f'<desc id="{name}-desc">{xml_text(what)}</desc>',
    ]
    if standalone:
        lines.append(f'<style>{STYLE}</style><rect class="p" width="100%" height="100%"/>')
    lines += legend
    lines.append(f'<g transform="translate(0 {LEGEND:.0f})">')
    lines += [_branch(drawing, branch) for branch in drawing.branches]
    lines += [_box(box) for box in drawing.boxes]
    lines += [_note(note) for note in drawing.notes]
    lines += ["</g>", "</svg>"]
    return "\n".join(lines) + "\n"


def _branch(drawing: Drawing, branch: Branch) -> str:
    start, end = drawing.boxes[branch.parent], drawing.boxes[branch.child]
    line = f"M{start.x + start.width:.1f} {start.middle:.1f}H{branch.turn:.1f}V{end.middle:.1f}H{end.x:.1f}"
    # One line of the label above the branch, the other below it.
    texts = "".join(
        f'<text x="{branch.turn + 6:.1f}" y="{end.middle + (-5 if k == 0 else SMALL + 2):.1f}">{xml_text(text)}</text>'
        for k, text in enumerate(branch.label)
    )
    return f'<g><title>{xml_text(branch.full)}</title><path d="{line}"/>{texts}</g>'


def _box(box: Box) -> str:
    kind = "b l" if box.is_leaf else "b"
    left = box.x + PADDING
    parts = [
        f"<g><title>{xml_text(box.full)}</title>",
        f'<rect class="{kind}" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{BOX_HEIGHT:.0f}" '
        f'rx="{3 if box.is_leaf else 9}"/>',
        f'<text class="t" x="{left:.1f}" y="{box.y + 15:.1f}">{xml_text(box.title)}</text>',
        f'<text x="{left:.1f}" y="{box.y + 28:.1f}">{xml_text(box.evidence)}</text>',
    ]
    room = box.width - 2 * PADDING
    for k, share, width in _bars(box.shares, room):
        parts.append(
            f'<rect class="c{k}" x="{left + share:.1f}" y="{box.y + BOX_HEIGHT - BAR - 4:.1f}" '
            f'width="{width:.1f}" height="{BAR:.0f}"/>'
        )
    return "".join([*parts, "</g>"])


def _note(note: Note) -> str:
    texts = "".join(
        f'<text x="{MARGIN:.1f}" y="{note.y + k * NOTE_PITCH:.1f}">{xml_text(line)}</text>'
        for k, line in enumerate(note.lines)
    )
    return f"<g><title>{xml_text(note.full)}</title>{texts}</g>"


def _bars(shares: tuple[float, ...], room: float) -> list[tuple[int, float, float]]:
    """Colour, beginning and width of the part of each class; classes beyond the colours share the last."""
    bars, begin = [], 0.0
    for k, share in enumerate(shares):
        if share > 0:
            bars.append((min(k, len(PALETTE) - 1), begin * room, share * room))
        begin += share
    return bars


def _legend(classes: tuple[str, ...], target: str) -> tuple[list[str], float]:
    names = list(classes)
    if len(names) > len(PALETTE):
        names = [*names[: len(PALETTE) - 1], f"{len(names) - len(PALETTE) + 1} other classes"]
    lines, x = [], 8.0
    if target:
        text = f"{shortened(target, 200, SMALL)}:"
        lines.append(f'<text x="{x:.1f}" y="14.5">{xml_text(text)}</text>')
        x += text_width(text, SMALL) + 8
    for k, name in enumerate(names):
        text = shortened(name, 160, SMALL)
        lines.append(
            f'<rect class="c{k}" x="{x:.1f}" y="5" width="{SWATCH:.0f}" height="{SWATCH:.0f}"/>'
            f'<text x="{x + SWATCH + 5:.1f}" y="14.5">{xml_text(text)}</text>'
        )
        x += SWATCH + 5 + text_width(text, SMALL) + 16
    return lines, x
