# SPDX-License-Identifier: BSD-3-Clause
"""The rows of a CSV file one by one, with the lines in which they stand: slow, for the names of the columns and to say
what is wrong and where, once Arrow has given up."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from fasttree.base.wording import plural
from fasttree.files.csv_style import compression_of, other_delimiter
from fasttree.files.errors import TableError, first_line

_ROW = r"\bRow #\d+: "  # which only one of Arrow's readers says
_PIECE = 2**16
_SAID = (
    "field larger than field limit",
    "straddling object straddles two block boundaries",
    "Empty CSV file",  # for Arrow, a line of names that is too long is none
)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class CsvRows:
    """`path` is what messages call the file, `place` where it is read."""

    path: Path
    place: Path
    delimiter: str

    def records(self, strict: bool = False) -> Iterator[tuple[int, int, list[str]]]:
        """The first and the last line of every row, the names among them, and its values; a blank line is a row
        without values. Bytes that are not UTF-8 become surrogates."""
        with (
            self._bytes() as stream,
            io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="") as text,
        ):
            rows, last = csv.reader(text, delimiter=self.delimiter, strict=strict), 0
            for fields in rows:
                first, last = last + 1, rows.line_num
                yield first, last, fields

    def header(self) -> tuple[int, list[str]]:
        """The line in which the names of the columns begin, and the names."""
        try:
            found = next(((line, fields) for line, _, fields in self.records() if fields), None)
        except csv.Error:
            row = self._longest()
            wrong = (
                f", {row}"
                if row.is_open
                else f": a name in its first line has more than {csv.field_size_limit():,} characters: its first line "
                "must contain the column names"
            )
            raise TableError(f"{self.path}{wrong}") from None
        if found is None:
            raise TableError(f"{self.path} is empty: its first line must contain the column names")
        if not all(map(_is_text, found[1])):
            raise TableError(self._not_utf8())
        return found

    def explained(self, error: Exception, may_be_ragged: bool, remedy: str) -> TableError:
        """What is wrong with the file, of which Arrow only says that it cannot read it. `remedy`: what can be done
        about rows that are too long or too short, beside mending them."""
        wrong = None
        with suppress(OSError):  # a compressed file that is cut short
            wrong = (
                self._not_utf8() or self._wrong_row(may_be_ragged, remedy) or self._too_long(error)
            )
        return TableError(wrong or f"{self.path}: {re.sub(_ROW, '', first_line(error))}")

    def open_quote(self) -> tuple[int, str] | None:
        """Where a quote is opened and never closed: it swallows the rest of the file."""
        last = 0
        try:
            for _, end, _ in self.records(strict=True):
                last = end
        except csv.Error as error:
            if "unexpected end of data" in str(error):
                row = LongRow(last + 1, 0, True)
            elif not is_too_long(error) or not (row := self._longest()).is_open:
                return None
            return row.line, f"{self.path}, {row}"
        return None

    def _wrong_row(self, may_be_ragged: bool, remedy: str) -> str | None:
        """The first row of which a quote is left open, or whose values are more or fewer than the names."""
        quote = self.open_quote()
        ragged = None if may_be_ragged else self._ragged(remedy)
        found = [wrong for wrong in (quote, ragged) if wrong is not None]
        return min(found, key=lambda wrong: wrong[0])[1] if found else None

    def _ragged(self, remedy: str) -> tuple[int, str] | None:
        header: list[str] = []
        try:
            for line, _, fields in self.records():
                header = header or fields
                if fields and len(fields) != len(header):
                    said = other_delimiter(header) or (
                        "look for an extra or a missing separator or quote" + remedy
                    )
                    counts = f"{plural(len(fields), 'field')}, but the header has {len(header)}"
                    return line, f"{self.path}, line {line}: {counts}: {said}"
        except csv.Error:  # a value that is too long for Python's reader
            pass
        return None

    def _not_utf8(self) -> str | None:
        with self._bytes() as stream:
            encoding = "utf-16" if stream.peek(2)[:2] in _UTF16 else "latin1"
            line = line_not_utf8(stream)
        if line is None:
            return None
        return (
            f"{self.path}, line {line}: {self._what_is_not_utf8()} contains bytes that are not UTF-8: save the file "
            f"as UTF-8, for example with `iconv -f {encoding} -t utf-8`"
        )

    def _what_is_not_utf8(self) -> str:
        header: list[str] = []
        with suppress(csv.Error):
            for _, _, fields in self.records():
                header = header or fields
                odd = [place for place, value in enumerate(fields) if not _is_text(value)]
                if odd and fields is not header and len(fields) == len(header):
                    return f"column {header[odd[0]]!r}"
                if odd:
                    break
        return "it"

    def _too_long(self, error: Exception) -> str | None:
        """The longest row, if it is what is wrong."""
        row = self._longest()
        return f"{self.path}, {row}" if row.is_open or is_too_long(error) else None

    def _longest(self) -> LongRow:
        with self._bytes() as stream:
            return longest_row(stream)

    def _bytes(self) -> io.BufferedReader:
        return io.BufferedReader(pa.input_stream(self.place, compression=compression_of(self.path)))


@dataclass(frozen=True, slots=True)
class LongRow:
    """The longest row of a file: the line in which it begins, its bytes, and whether a quote in it is left open at the
    end of the file."""

    line: int
    n_bytes: int
    is_open: bool

    def __str__(self) -> str:
        if self.is_open:
            return (
                f"line {self.line}: a quote is opened here but never closed: close it, or double it"
            )
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


def _is_text(value: str) -> bool:
    """Were its bytes UTF-8?"""
    return value.isascii() or not any("\udc80" <= sign <= "\udcff" for sign in value)
