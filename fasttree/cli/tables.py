# SPDX-License-Identifier: BSD-3-Clause
"""Data files as Arrow tables: CSV, TSV, Parquet, Feather and Arrow. An error names the file, and the line of text.

In CSV and TSV an empty field and each of `NULL_SPELLINGS` is a missing value, as it is when rows are scored.
The type of a column is that of all its values: a column that is text somewhere is text. TRUE and FALSE are
text like other words.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

from fasttree.cli.errors import DataError, UsageError
from fasttree.cli.terminal import plural

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = (".parquet", ".pq")
ARROW = (".feather", ".arrow", ".ipc")
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")  # of CSV and TSV
READABLE = ".csv, .tsv (also .gz, .bz2, .zst), .parquet, .feather, .arrow"


def read_table(path: Path, as_text: Collection[str] = ()) -> Any:
    """The `pyarrow.Table` that a file holds. CSV columns `as_text` are not turned into numbers: 007 stays 007."""
    import pyarrow as pa

    kind = suffix(path)
    try:
        if kind in DELIMITERS:
            table = _read_csv(path, DELIMITERS[kind], as_text)
        elif kind in PARQUET:
            from pyarrow import parquet

            table = parquet.read_table(path)
        else:
            from pyarrow import feather

            table = feather.read_table(path, memory_map=True)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a directory: name a file") from None
    except PermissionError:
        raise DataError(f"{path}: no permission to read it") from None
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} cannot be read as {kind}: {_first_line(error)}") from error
    return _checked(path, table)


def suffix(path: Path) -> str:
    """What a file is by its name, without that it is compressed."""
    names = [part.lower() for part in path.suffixes]
    if len(names) > 1 and names[-1] in COMPRESSED and names[-2] in DELIMITERS:
        return names[-2]
    found = names[-1] if names else ""
    if found not in (*DELIMITERS, *PARQUET, *ARROW):
        ending = f"the ending {found!r} is unknown" if found else "it has no ending"
        raise UsageError(
            f"{path}: what kind of file is this? {ending[0].upper()}{ending[1:]}; "
            f"name it by what it holds: {READABLE}"
        )
    return found


def _checked(path: Path, table: Any) -> Any:
    names = table.column_names
    twice = (
        sorted({name for name in names if names.count(name) > 1})
        if len(set(names)) < len(names)
        else []
    )
    if twice:
        raise DataError(f"{path}: two columns are called {twice[0]!r}: give each a name of its own")
    if not table.num_rows:
        raise DataError(f"{path} has {plural(len(names), 'column')}, but no rows")
    return table


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__


# -- CSV -------------------------------------------------------------------------------------------


def _read_csv(path: Path, delimiter: str, as_text: Collection[str]) -> Any:
    import pyarrow as pa
    import pyarrow.csv

    from fasttree.batch.text import NULL_SPELLINGS

    if path.is_file() and path.stat().st_size == 0:
        raise DataError(f"{path} is empty: its first line should hold the names of the columns")
    convert = pa.csv.ConvertOptions(
        null_values=sorted(NULL_SPELLINGS),
        strings_can_be_null=True,
        true_values=[],
        false_values=[],
        column_types={name: pa.string() for name in as_text},
    )
    parse = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    try:
        table = pa.csv.read_csv(path, parse_options=parse, convert_options=convert)
    except pa.ArrowInvalid as error:
        raise DataError(_broken_row(path, delimiter) or f"{path}: {_first_line(error)}") from error
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_binary(column.type):
            raise DataError(_not_utf8(path, name))
    _check_quotes(path, delimiter)
    return table


def _broken_row(path: Path, delimiter: str) -> str | None:
    """The first row whose fields are more or fewer than the header's."""
    with _lines(path) as lines:
        reader = csv.reader(lines, delimiter=delimiter)
        header = next((row for row in reader if row), None)
        if header is None:
            return f"{path} is empty: its first line should hold the names of the columns"
        begins = reader.line_num + 1
        try:
            for row in reader:
                if row and len(row) != len(header):
                    return (
                        f"{path}, line {begins}: {plural(len(row), 'field')}, but the header has {len(header)}: "
                        "look for a separator or a quote too many or too few"
                    )
                begins = reader.line_num + 1
        except csv.Error as error:
            return f"{path}, line {begins}: {error}"
    return None


def _check_quotes(path: Path, delimiter: str) -> None:
    """Arrow takes a quote that is never closed for a long value at the end of the file."""
    with _bytes(path) as stream:
        n_quotes = sum(block.count(b'"') for block in iter(lambda: stream.read(2**20), b""))
    if n_quotes % 2 == 0:
        return
    begins = 1
    with _lines(path) as lines:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for _ in reader:
                begins = reader.line_num + 1
        except csv.Error as error:
            if "end of data" in str(error):
                raise DataError(
                    f"{path}, line {begins}: a quote is opened and never closed: close it, or double it"
                ) from None


def _not_utf8(path: Path, column: str) -> str:
    with _bytes(path) as stream:
        line = next((n for n, text in enumerate(stream, 1) if not _is_utf8(text)), 0)
    where = f", line {line}" if line else ""
    return (
        f"{path}{where}: column {column!r} holds bytes that are not UTF-8: save the file as UTF-8, "
        f"for example with `iconv -f latin1 -t utf-8`"
    )


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _bytes(path: Path) -> IO[bytes]:
    import pyarrow as pa

    stream: IO[bytes] = io.BufferedReader(pa.input_stream(path))  # also opens what is compressed
    return stream


def _lines(path: Path) -> IO[str]:
    return io.TextIOWrapper(_bytes(path), "utf-8-sig", errors="replace", newline="")


# -- the parts that a model is made from -------------------------------------------------------------


def columns_named(table: Any, names: Collection[str], option: str, path: Path) -> None:
    """Refuses names that the table does not have."""
    from fasttree.batch.text import other_separator
    from fasttree.cli.errors import near
    from fasttree.scalars import shown

    for name in names:
        if name not in table.column_names:
            remedy = near(name, table.column_names)
            if (other := other_separator(table.column_names)) and suffix(path) in DELIMITERS:
                usual = DELIMITERS[suffix(path)]
                remedy = (
                    f"it has one column, {shown(table.column_names[0])}. If {other!r} separates its values, "
                    f"save it with {usual!r} instead"
                )
            raise DataError(f"{path} has no column {name!r} ({option}): {remedy}")


def line_of(path: Path, row: int) -> str:
    """Where a row stands, as people count."""
    if suffix(path) in DELIMITERS:
        return f"row {row + 1} below the header"
    return f"row {row + 1}"
