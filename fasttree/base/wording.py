# SPDX-License-Identifier: BSD-3-Clause
"""Words of messages: how many there are of a thing, and which name was meant. Needs no numpy: help comes at
once."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from fasttree.base.quoting import readable


def plural(n: float, word: str, words: str | None = None) -> str:
    number = f"{int(n):,}" if n == int(n) else f"{n:,.6g}"
    return f"{number} {word if n == 1 else words or word + 's'}"


def near(name: str, known: Iterable[str]) -> str:
    """``did you mean ...?`` for a name that is almost right, and what there is otherwise."""
    names = list(known)
    lower = {other.lower(): other for other in reversed(names)}
    found = [lower[match] for match in get_close_matches(name.lower(), list(lower), n=3)]
    if found:
        return f"did you mean {' or '.join(map(repr, found))}?"
    if len(names) == 1:
        return f"there is only {names[0]!r}"
    listed = ", ".join(map(readable, names[:30])) + (  # also an empty name can be seen
        f" and {len(names) - 30} more" if len(names) > 30 else ""
    )
    return f"there are {listed}"
