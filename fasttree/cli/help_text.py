# SPDX-License-Identifier: BSD-3-Clause
"""Help texts: paragraphs that flow, examples and lists that keep their lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def help_text(
    *paragraphs: str,
    examples: Sequence[str] = (),
    lists: Mapping[str, Mapping[str, str]] | None = None,
) -> str:
    """In rich's markup, where a line break is a line break. The first paragraph is the command in a line."""
    parts = [" ".join(paragraph.split()) for paragraph in paragraphs]
    if examples:
        parts.insert(1, _block("Examples", examples))
    for title, entries in (lists or {}).items():
        width = max(map(len, entries))
        lines = [f"[cyan]{name:<{width}}[/cyan]  {what}" for name, what in entries.items()]
        parts.append(_block(title, lines))
    return "\n\n".join(parts)


def _block(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"[bold]{title}[/bold]", *(f"  {line}" for line in lines)])
