# SPDX-License-Identifier: BSD-3-Clause
"""CSV files as text, read by Arrow for training and for scoring alike: UTF-8 with or without a byte order mark, a line
of names, values that may be quoted, as many in each row as there are names.

Blank lines do not count. Only where there is one column is each below the names a missing value.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from fasttree.files.csv_rows import CsvRows
from fasttree.files.csv_style import USUAL, CsvStyle, compression_of
from fasttree.files.errors import EXAMPLES, TableError
from fasttree.files.text import NULL_SPELLINGS

BLOCK_BYTES = 2**22


class CsvSource:
    """A CSV file as a stream of batches in which every value is text: what it means is up to the model, and nothing is
    guessed from the values of a block. `path` is what messages call the file, `place` where it is read; `to_train`: no
    model knows a word that stands for a missing value, and rows cannot be skipped."""

    def __init__(
        self,
        path: Path,
        style: CsvStyle = USUAL,
        place: Path | None = None,
        to_train: bool = False,
    ) -> None:
        self.path, self.place, self._to_train = path, place or path, to_train
        self.style: CsvStyle | None = style
        self.broken_rows = 0
        self.broken_row_examples: list[str] = []
        self._rows = CsvRows(path, self.place, style.delimiter_of(path))
        line, self.names = self._rows.header()
        self._before_names = line - 1 if len(self.names) == 1 else 0
        self._size = max(self.place.stat().st_size, 1)
        self._raw = open(self.place, "rb")  # noqa: SIM115 closed by close

    def close(self) -> None:
        self._raw.close()

    def done(self) -> float:
        """The share of the file that has been read."""
        return 1.0 if self._raw.closed else min(1.0, self._raw.tell() / self._size)

    def where(self, row: int) -> str:
        line = self._line_of(row)
        return f"{self.path}, line {line}" if line else f"{self.path}, row {row}"

    def _line_of(self, row: int) -> int | None:
        """The line of a row of the table, unless Python's reader does not get so far."""
        number = -1
        with suppress(csv.Error, OSError):
            for line, _, fields in self._rows.records():
                is_row = len(fields) == len(self.names) or (len(self.names) == 1 and not fields)
                number += is_row and line > self._before_names
                if number > row:
                    return line
        return None

    def open(self, needed: Sequence[str], dictionaries: Sequence[str]) -> Any:
        """The schema of what `batches` gives: the columns needed, some of them as dictionaries."""
        as_codes = pa.dictionary(pa.int32(), pa.string())
        with_codes = set(dictionaries)
        kinds = {name: as_codes if name in with_codes else pa.string() for name in needed}
        self._schema = pa.schema(list(kinds.items()))
        return self._schema

    def batches(self, lenient: bool, threads: bool) -> Iterator[Any]:
        with self._given(lenient, threads) as given:
            yield from pa.csv.open_csv(**given)

    def table(self) -> Any:
        """All of the file: rows are looked for by several threads, as they are not in a stream."""
        with self._given(lenient=False, threads=True) as given:
            return pa.csv.read_csv(**given)

    @contextmanager
    def _given(self, lenient: bool, threads: bool) -> Iterator[dict[str, Any]]:
        """What Arrow's readers are given. What is wrong with the file is said in words that name the line."""

        def broken(row: Any) -> str:
            self.broken_rows += 1
            if len(self.broken_row_examples) < EXAMPLES:
                self.broken_row_examples.append(row.text)
            return "skip"

        packing = compression_of(self.path)
        stream = _Whole(pa.CompressedInputStream(self._raw, packing) if packing else self._raw)
        given = {
            "input_file": pa.PythonFile(stream, "r"),
            "read_options": pa.csv.ReadOptions(
                use_threads=threads, block_size=BLOCK_BYTES, skip_rows=self._before_names
            ),
            "parse_options": pa.csv.ParseOptions(
                delimiter=self._rows.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(self.names) > 1,
                invalid_row_handler=broken if lenient else None,
            ),
            "convert_options": pa.csv.ConvertOptions(
                column_types=self._schema,
                include_columns=self._schema.names,
                null_values=sorted(NULL_SPELLINGS) if self._to_train else [],
                strings_can_be_null=self._to_train,
            ),
        }
        try:
            yield given
        except (pa.ArrowException, OSError) as error:
            remedy = "" if self._to_train else ", or skip such rows (--lenient)"
            raise self._rows.explained(error, lenient, remedy) from error
        if stream.n_quotes % 2 and (quote := self._rows.open_quote()):
            raise TableError(quote[1])


class _Whole:
    """A file that counts the quotes in what is read from it, and whose last line has an end: without, Arrow does not
    take a line of names for one."""

    closed = False

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._last = b""
        self.n_quotes = 0

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._raw.read(size)
        piece = data
        while piece and len(data) < size:
            piece = self._raw.read(size - len(data))
            data += piece
        if not piece and (data or self._last)[-1:] not in (b"\n", b"\r", b""):
            data += b"\n"
        self._last = data[-1:]
        self.n_quotes += data.count(b'"')
        return data

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        pass  # whoever opened the file closes it
