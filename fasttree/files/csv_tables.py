# SPDX-License-Identifier: BSD-3-Clause
"""CSV files as Arrow tables, and what is wrong with one, with its line.

An empty field and each of `NULL_SPELLINGS` is a missing value, as it is when rows are scored. The type of a column is
that of all its values: a column that is text somewhere is text. TRUE and FALSE are text like other words.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Collection
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from fasttree.base.wording import plural
from fasttree.files.csv_rows import is_too_long, line_not_utf8, longest_row
from fasttree.files.errors import TableError, first_line

if TYPE_CHECKING:
    from fasttree.files.csv_style import CsvStyle

HEAD = 1000  # rows by which most text is seen to hold no numbers
_WITH_COMMA = r"^\s*[+-]?(?:[0-9]+|[0-9]*,[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$"
_LONG = r"^\s*[+-]?[0-9]{19,}\s*$"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_csv(path: Path, style: CsvStyle, as_text: Collection[str]) -> Any:
    import pyarrow as pa
    import pyarrow.csv

    from fasttree.files.text import NULL_SPELLINGS

    if path.is_file() and path.stat().st_size == 0:
        raise TableError(f"{path} is empty: its first line must contain the column names")
    convert = pa.csv.ConvertOptions(
        null_values=sorted(NULL_SPELLINGS),
        strings_can_be_null=True,
        true_values=[],
        false_values=[],
        column_types={name: pa.string() for name in as_text},
        decimal_point=style.decimal,
    )
    delimiter = style.delimiter_of(path)
    parse = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    try:
        table = pa.csv.read_csv(path, parse_options=parse, convert_options=convert)
        names = table.column_names
    except UnicodeDecodeError as error:  # in a name
        raise TableError(_not_utf8(path) or f"{path}: {error}") from error
    except pa.ArrowInvalid as error:
        wrong = _not_utf8(path) or _broken_row(path, delimiter) or _too_long(path, error)
        raise TableError(wrong or f"{path}: {first_line(error)}") from error
    for name, column in zip(names, table.columns, strict=True):
        if pa.types.is_binary(column.type):
            raise TableError(
                _not_utf8(path, name) or f"{path}: column {name!r} contains bytes that are not text"
            )
    _check_quotes(path, delimiter)
    _check_large(path, table, parse, convert)
    return table


def _check_large(path: Path, table: Any, parse: Any, convert: Any) -> None:
    """Whole numbers of more digits than an integer has come as rounded floats, and what is beyond these as infinite."""
    import pyarrow as pa
    import pyarrow.compute as pc

    large = {
        name: pa.string()
        for name, column in zip(table.column_names, table.columns, strict=True)
        if pa.types.is_floating(column.type)
        and pc.any(pc.greater_equal(pc.abs(column), 2.0**63)).as_py()
    }
    if not large:
        return
    convert.column_types, convert.include_columns = large, list(large)
    text = pa.csv.read_csv(path, parse_options=parse, convert_options=convert)
    for name in large:
        whole = pc.match_substring_regex(text[name], _LONG)
        if pc.any(whole).as_py():
            example = text[name].filter(whole)[0].as_py()
            raise TableError(
                f"{path}: column {name!r} contains the integer {example}, which is too large for a threshold to "
                f"separate it from its neighbours: declare the column categorical "
                f"(--categorical {name!r}), or leave it out (--drop {name!r})"
            )
        beyond = pc.and_(pc.is_inf(table[name]), pc.match_substring_regex(text[name], "[0-9]"))
        if pc.any(beyond).as_py():
            example = text[name].filter(beyond)[0].as_py()
            raise TableError(
                f"{path}: column {name!r} contains {example}, but numbers must be within about ±1.8e308: correct it"
            )


def _too_long(path: Path, error: Exception) -> str | None:
    """The longest row, if it is what is wrong."""
    with _bytes(path) as stream:
        row = longest_row(stream)
    # For Arrow, a line of names that is too long is none.
    if row.is_open or is_too_long(error) or "Empty CSV file" in str(error):
        return f"{path}, {row}"
    return None


def _broken_row(path: Path, delimiter: str) -> str | None:
    """The first row whose fields are more or fewer than the header's."""
    from fasttree.files.csv_style import other_delimiter

    with _lines(path) as lines:
        reader = csv.reader(lines, delimiter=delimiter)
        begins = 1
        try:
            header = next((row for row in reader if row), None)
            if header is None:
                return f"{path} is empty: its first line must contain the column names"
            header_end = begins = reader.line_num + 1
            for row in reader:
                if row and len(row) != len(header):
                    remedy = "look for an extra or a missing separator or quote"
                    return (
                        f"{path}, line {begins}: {plural(len(row), 'field')}, but the header has {len(header)}: "
                        f"{other_delimiter(header) or remedy}"
                    )
                begins = reader.line_num + 1
            if begins == header_end:
                return no_rows(path, len(header))
        except csv.Error as error:
            # Python's reader cannot read a value that may be none too long for Arrow.
            return None if is_too_long(error) else f"{path}, line {begins}: {error}"
    return None


def no_rows(path: Path, n_columns: int) -> str:
    return f"{path} has {plural(n_columns, 'column')}, but no rows: add at least one row"


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
                raise TableError(
                    f"{path}, line {begins}: a quote is opened but never closed: close it, or double it"
                ) from None
            if is_too_long(error):
                with _bytes(path) as stream:
                    row = longest_row(stream)
                if row.is_open:
                    raise TableError(f"{path}, {row}") from None


def _not_utf8(path: Path, column: str | None = None) -> str | None:
    """The first line that is not UTF-8, if any."""
    with _bytes(path) as stream:
        encoding = "utf-16" if stream.peek(2)[:2] in _UTF16 else "latin1"
        line = line_not_utf8(stream)
    if line is None:
        return None
    where = "it contains" if column is None else f"column {column!r} contains"
    return (
        f"{path}, line {line}: {where} bytes that are not UTF-8: save the file as UTF-8, "
        f"for example with `iconv -f {encoding} -t utf-8`"
    )


def _bytes(path: Path) -> io.BufferedReader:
    import pyarrow as pa

    return io.BufferedReader(pa.input_stream(path))  # also opens what is compressed


def _lines(path: Path) -> IO[str]:
    return io.TextIOWrapper(_bytes(path), "utf-8-sig", errors="replace", newline="")


def check_decimals(table: Any, named: Collection[str], style: CsvStyle | None, path: Path) -> None:
    """Refuses text that looks like numbers with a decimal comma, unless it was named as categories."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if style is not None and style.decimal == ",":
        return
    named = set(named)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in named or not pa.types.is_string(column.type):
            continue
        if not _may_be_numbers(column.slice(0, HEAD)) or not _may_be_numbers(column):
            continue
        commas = column.filter(pc.match_substring(column, ","))
        if len(commas):
            raise TableError(
                f"{path}: column {name!r} contains text such as {commas[0].as_py()!r}. If the comma is the decimal "
                f"sign, use --decimal ,; if the values are categories, use --categorical {name!r}"
            )


def _may_be_numbers(text: Any) -> bool:
    """Whole or with a comma, all that are there."""
    import pyarrow.compute as pc

    return pc.all(pc.match_substring_regex(text, _WITH_COMMA)).as_py() is not False
