# SPDX-License-Identifier: BSD-3-Clause
"""Texts that fit a terminal: without signs that would steer it, and cut to its width."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size


def clean(text: str) -> str:
    """Names and labels from files, without signs that would steer the terminal."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def cut(text: str, width: int, ellipsis: str = "…") -> str:
    """The beginning of a text that is too wide; wide characters count as two."""
    if cell_len(text) <= width:
        return text
    room = max(width - cell_len(ellipsis), 0)
    return set_cell_size(text, room).rstrip() + ellipsis[: max(width, 0)]
