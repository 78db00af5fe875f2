# SPDX-License-Identifier: BSD-3-Clause
"""About how wide texts are in a drawing, and what of them there is room for. Sizes are in pixels of an SVG."""

from __future__ import annotations

import unicodedata

from fasttree.draw.branches import MARKS

SMALL = 11.5  # of counts and branches
WIDEST_LABEL = 150.0
LINES = 2  # of the label of a branch
BOLDER = 1.2
_NARROW, _WIDE = frozenset("ijltfrI|!.,:;'()[] "), frozenset("mwMW@%…")


def text_width(text: str, size: float) -> float:
    """About the width in pixels, rather too much, of a text in a common sans serif."""
    return size * sum(map(_character_width, text))


def _character_width(character: str) -> float:
    if character in _NARROW:
        return 0.36
    if character in _WIDE or unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.72 if character.isupper() else 0.6


def shortened(text: str, room: float, size: float) -> str:
    """As much of the text as there is room for."""
    if text_width(text, size) <= room:
        return text
    used, kept = size, ""  # the ellipsis
    for character in text:
        used += size * _character_width(character)
        if used > room:
            break
        kept += character
    return f"{kept.rstrip()}…"


def wrapped(text: str) -> tuple[str, ...]:
    """On two lines, broken between words; what does not fit then is cut off, but not where missing values go."""
    end = next((end for end in MARKS if text.endswith(end)), "")
    lines = list(lines_of(text, WIDEST_LABEL, LINES, end))
    if end and not lines[-1].endswith(end):  # broken within it
        return shortened(text.removesuffix(end), WIDEST_LABEL, SMALL), end.strip()
    return tuple(lines)


def lines_of(text: str, room: float, most: int, end: str = "") -> tuple[str, ...]:
    """The text on lines of limited width, broken between words; what does not fit then is cut off, but not its end."""
    lines: list[str] = []
    words, at = text.split(" "), 0
    while at < len(words) and len(lines) < most - 1:
        line, at = words[at], at + 1
        while at < len(words) and text_width(f"{line} {words[at]}", SMALL) <= room:
            line, at = f"{line} {words[at]}", at + 1
        lines.append(line)
    if at < len(words):  # measured once: it may be very long
        lines.append(" ".join(words[at:]))
    if lines[-1].endswith(end):
        left = room - text_width(end, SMALL)
        lines[-1] = shortened(lines[-1].removesuffix(end), left, SMALL) + end
    return tuple(shortened(line, room, SMALL) for line in lines)
