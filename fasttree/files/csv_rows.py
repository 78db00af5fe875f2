# SPDX-License-Identifier: BSD-3-Clause
"""Where the rows of a CSV file begin and how long they are, however long that is: what a reader that gave up over a row
can be asked about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_PIECE = 2**16
_SAID = ("field larger than field limit", "straddling object straddles two block boundaries")


@dataclass(frozen=True, slots=True)
class LongRow:
    """The longest row of a file: the line in which it begins, its bytes, and whether a quote in it is left open at the
    end of the file."""

    line: int
    n_bytes: int
    is_open: bool

    def __str__(self) -> str:
        if self.is_open:
            return f"line {self.line}: a quote is opened here but never closed: correct it"
        return (
            f"line {self.line}: the row is {self.n_bytes:,} bytes long, which is too long to be read: look for a "
            "missing separator, quote or line end, or shorten its values"
        )


def longest_row(stream: Any) -> LongRow:
    """Of a file that is read in pieces, so that a row may be larger than memory. A line ends no row within quotes."""
    longest = LongRow(1, 0, False)
    line = begins = 1
    n_bytes = n_quotes = 0
    for piece in iter(lambda: stream.readline(_PIECE), b""):
        n_bytes += len(piece)
        n_quotes += piece.count(b'"')
        if not piece.endswith(b"\n"):
            continue
        line += 1
        if n_quotes % 2 == 0:
            if n_bytes > longest.n_bytes:
                longest = LongRow(begins, n_bytes, False)
            begins, n_bytes, n_quotes = line, 0, 0
    if n_quotes % 2:  # it has swallowed the rest, so whatever is said of other rows may be wrong
        return LongRow(begins, n_bytes, True)
    return LongRow(begins, n_bytes, False) if n_bytes > longest.n_bytes else longest


def is_too_long(error: Exception) -> bool:
    """Did Python's reader or Arrow's give up over the length of a value or of a row?"""
    return any(words in str(error) for words in _SAID)


def line_not_utf8(stream: Iterable[bytes]) -> int | None:
    """The first line that is not UTF-8, if any."""
    for number, line in enumerate(stream, 1):
        try:
            line.decode()
        except UnicodeDecodeError:
            return number
    return None
