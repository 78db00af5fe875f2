# SPDX-License-Identifier: BSD-3-Clause
"""CSV files as streams of batches in which every value is text.

What a value means is up to the model: nothing is guessed from the values of a block. Arrow reads the file; only to say
in which line something is wrong is it read again, slowly.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from fasttree.base.values import short_repr
from fasttree.files.csv_rows import LongRow, is_too_long, line_not_utf8, longest_row
from fasttree.files.csv_style import USUAL, CsvStyle, compression_of
from fasttree.files.errors import EXAMPLES, InputError

BLOCK_BYTES = 2**22


class CsvSource:
    """A CSV file: UTF-8, a line of names, values that may be quoted. Blank lines do not count."""

    def __init__(self, path: Path, style: CsvStyle = USUAL, place: Path | None = None) -> None:
        self.path, self.place = path, place or path  # what messages call it, and where it is read
        self.style: CsvStyle | None = style
        self.delimiter = style.delimiter_of(path)
        self.broken_rows = 0
        self.broken_row_examples: list[str] = []
        self.names: list[str] = []
        self.names = self._read_names()
        self._size = max(self.place.stat().st_size, 1)
        self._raw = open(self.place, "rb")  # noqa: SIM115 closed by close

    def close(self) -> None:
        self._raw.close()

    def done(self) -> float:
        """The share of the file that has been read."""
        return 1.0 if self._raw.closed else min(1.0, self._raw.tell() / self._size)

    def where(self, row: int) -> str:
        line = self._line(lambda number, _: number == row)
        return f"{self.path}, line {line}" if line else f"{self.path}, row {row}"

    def _read_names(self) -> list[str]:
        try:
            names = next((fields for _, _, fields in self._records()), None)
        except UnicodeDecodeError:
            raise self._not_utf8() from None
        except csv.Error as error:
            raise self._bad_names(error) from None
        if names is None:
            raise InputError(
                f"{self.path} is empty: a CSV file must start with a line of column names."
            )
        return names

    def open(self, needed: Sequence[str], dictionaries: Sequence[str]) -> Any:
        """The schema of what `batches` gives: the columns needed, some of them as dictionaries."""
        as_codes = pa.dictionary(pa.int32(), pa.string())
        with_codes = set(dictionaries)
        kinds = {name: as_codes if name in with_codes else pa.string() for name in needed}
        self._schema = pa.schema(list(kinds.items()))
        return self._schema

    def batches(self, lenient: bool, threads: bool) -> Iterator[Any]:
        def broken(row: Any) -> str:
            self.broken_rows += 1
            if len(self.broken_row_examples) < EXAMPLES:
                self.broken_row_examples.append(row.text)
            return "skip" if lenient else "error"

        packing = compression_of(self.path)
        raw = pa.CompressedInputStream(self._raw, packing) if packing else self._raw
        stream = _QuoteCounter(raw)
        try:
            yield from pyarrow.csv.open_csv(
                pa.PythonFile(stream, "r"),
                read_options=pyarrow.csv.ReadOptions(use_threads=threads, block_size=BLOCK_BYTES),
                parse_options=pyarrow.csv.ParseOptions(
                    delimiter=self.delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=len(self.names) > 1,  # else it is a missing value
                    invalid_row_handler=broken,
                ),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=self._schema,
                    include_columns=self._schema.names,
                    null_values=[],
                    strings_can_be_null=False,
                ),
            )
        except (pa.ArrowInvalid, OSError) as error:
            raise self._explained(error) from None
        if stream.quotes % 2:
            self._check_quotes()

    # -- what is wrong, and where ----------------------------------------------------------------------------------

    def _explained(self, error: Exception) -> InputError:
        if self.broken_rows:
            if self.broken_row_examples[0].count('"') % 2:
                self._check_quotes()
            width = len(self.names)
            line = self._line(lambda _, fields: len(fields) != width, whole=False)
            return InputError(
                f"{self._at(line)}: the row {short_repr(self.broken_row_examples[0])} does not have {width} values, "
                "one for each column: correct it, or skip such rows (--lenient)."
            )
        self._check_quotes()
        if "UTF8" in str(error):
            return self._not_utf8()
        with suppress(OSError):  # a compressed file that is cut short
            if is_too_long(error):
                return InputError(f"{self.path}, {self._longest_row()}.")
            if self._line_not_utf8():  # in a row that is broken, too, of which Arrow says only that
                return self._not_utf8()
        return InputError(f"{self.path} cannot be read as CSV: {error}.")

    def _bad_names(self, error: csv.Error) -> InputError:
        if not is_too_long(error):
            return InputError(f"{self.path} cannot be read as CSV: {error}.")
        row = self._longest_row()
        if row.is_open:
            return InputError(f"{self.path}, {row}.")
        return InputError(
            f"{self.path}: a name in its first line has more than {csv.field_size_limit():,} characters: "
            "a CSV file must start with a line of column names."
        )

    def _longest_row(self) -> LongRow:
        with self._open() as stream:
            return longest_row(stream)

    def _not_utf8(self) -> InputError:
        where = self._at(self._line_not_utf8())
        return InputError(f"{where}: the text is not UTF-8: convert the file to UTF-8.")

    def _at(self, line: int | None) -> str:
        return f"{self.path}, line {line}" if line else str(self.path)

    def _line_not_utf8(self) -> int | None:
        """The first line that is not UTF-8, if any."""
        with self._open() as stream:
            return line_not_utf8(stream)

    def _check_quotes(self) -> None:
        """A quote that is never closed swallows the rest of the file."""
        last = 0
        try:
            for _, end, _ in self._records(strict=True):
                last = end
        except (UnicodeDecodeError, OSError):
            return
        except csv.Error as error:
            if "unexpected end of data" in str(error):
                raise InputError(
                    f"{self.path}, line {last + 1}: a quote is opened here but never closed: correct it."
                ) from None
            if is_too_long(error):  # a long value, or what an open quote has swallowed
                row = self._longest_row()
                if row.is_open:
                    raise InputError(f"{self.path}, {row}.") from None

    def _line(self, wanted: Callable[[int, list[str]], bool], whole: bool = True) -> int | None:
        """The first line of the first row for which `wanted(number, fields)`; `whole`: broken rows have no number."""
        number = 0
        try:
            for line, _, fields in islice(self._records(), 1, None):
                if whole and len(fields) != len(self.names):
                    continue
                if wanted(number, fields):
                    return line
                number += 1
        except (csv.Error, UnicodeDecodeError, OSError):
            pass
        return None

    def _records(self, strict: bool = False) -> Iterator[tuple[int, int, list[str]]]:
        """The first and the last line of every row, the names among them, and its values."""
        with self._open() as stream, io.TextIOWrapper(stream, "utf-8-sig", newline="") as text:
            rows, last = csv.reader(text, delimiter=self.delimiter, strict=strict), 0
            for fields in rows:
                first, last = last + 1, rows.line_num
                if fields or len(self.names) == 1:
                    yield first, last, fields or [""]

    def _open(self) -> Any:
        return io.BufferedReader(pa.input_stream(self.place, compression=compression_of(self.path)))


class _QuoteCounter:
    """A file that counts the quotes in what is read from it, and whose last line has an end: without, Arrow does not
    take a line of names for one."""

    closed = False

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._last = b""
        self.quotes = 0

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._raw.read(size)
        piece = data
        while piece and len(data) < size:
            piece = self._raw.read(size - len(data))
            data += piece
        if not piece and (data or self._last)[-1:] not in (b"\n", b"\r", b""):
            data += b"\n"
        self._last = data[-1:]
        self.quotes += data.count(b'"')
        return data

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        pass  # whoever opened the file closes it
