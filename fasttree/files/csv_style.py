# SPDX-License-Identifier: BSD-3-Clause
"""How a CSV file is written: what separates its values, its decimal sign, and how it is compressed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fasttree.base.hints import check_choice
from fasttree.base.values import short_repr
from fasttree.files.errors import ArgumentError

_TAB = ("\\t", "tab")  # as a shell hands on what people write
_TABBED = (".tsv", ".tab")
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
_DECIMALS = (".", ",")


@dataclass(frozen=True, slots=True)
class CsvStyle:
    """`delimiter`: one character; None goes by the ending of a file's name. `decimal`: a point or a comma."""

    delimiter: str | None = None
    decimal: str = "."

    def __post_init__(self) -> None:
        if self.delimiter in _TAB:
            object.__setattr__(self, "delimiter", "\t")
        if self.delimiter is not None and not _can_separate(self.delimiter):
            raise ArgumentError(
                "delimiter must be a single ASCII character other than a quote or the end of a line, such as ';' or "
                f"'\\t', got {self.delimiter!r}"
            )
        check_choice("decimal", self.decimal, _DECIMALS, error=ArgumentError)

    @property
    def options(self) -> list[str]:
        """What has to be said of it on the command line."""
        options = []
        if self.delimiter is not None:
            sign = self.delimiter.replace("\t", _TAB[0])
            options += ["--delimiter", shlex.quote(sign)]
        if self.decimal != ".":
            options += ["--decimal", self.decimal]
        return options

    def delimiter_of(self, path: Path) -> str:
        named = path.with_suffix("") if compression_of(path) else path
        return self.delimiter or ("\t" if named.suffix.lower() in _TABBED else ",")


USUAL = CsvStyle()


def _can_separate(sign: str) -> bool:
    return len(sign) == 1 and sign.isascii() and sign not in '"\r\n\0'


def compression_of(path: Path) -> str | None:
    return _COMPRESSIONS.get(path.suffix.lower())


def other_delimiter(names: Sequence[str]) -> str | None:
    """The remedy for a table of one column, if its name looks like those of several."""
    sign = next((sign for sign in ";\t|," if len(names) == 1 and sign in names[0]), None)
    if sign is None:
        return None
    return f"it has only one column, {short_repr(names[0])}. If {sign!r} separates its values, use --delimiter {sign!r}"
