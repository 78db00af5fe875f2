# SPDX-License-Identifier: BSD-3-Clause
"""CSV files as Arrow tables to train on.

An empty field and each of `NULL_SPELLINGS` is a missing value, as it is when rows are scored. The type of a column is
that of all its values: a column that is text somewhere is text. TRUE and FALSE are text like other words.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fasttree.files.errors import TableError, check_names

if TYPE_CHECKING:
    from fasttree.files.csv_style import CsvStyle

HEAD = 1000  # rows by which most text is seen to hold no numbers
_BEGINNINGS = tuple(
    "+-.,0123456789iInN"
)  # of numbers and times, by which most text is seen to be none
_WITH_COMMA = r"^\s*[+-]?(?:[0-9]+|[0-9]*,[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$"
_CLOCK = r"^\s*[0-9]{2}:[0-9]{2}(:[0-9]{2})?\s*$"
_LONG = r"^\s*[+-]?[0-9]{19,}\s*$"


def read_csv(path: Path, style: CsvStyle, as_text: Collection[str]) -> Any:
    import pyarrow as pa

    from fasttree.files.csv_file import CsvSource

    with closing(CsvSource(path, style, to_train=True)) as source:
        names = source.names
        check_names(names, str(path))
        source.open(names, [])
        columns, words = source.table().columns, set(as_text)
    for place, name in enumerate(names):  # one by one, so that the text of each is released
        if name not in words:
            columns[place] = _typed(columns[place], style.decimal, f"{path}: column {name!r}", name)
    return pa.table(columns, names=names)


def _typed(text: Any, decimal: str, where: str, name: str) -> Any:
    """A column of text as that of numbers or times that it is, if it is one of these throughout."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from fasttree.files.text import NULL_SPELLINGS, text_as

    if text.null_count == len(text):
        return pa.chunked_array([pa.nulls(len(text))])
    head = text.slice(0, HEAD).drop_null() or text.drop_null().slice(0, HEAD)
    first = head[0].as_py().strip()
    if first not in NULL_SPELLINGS and not first.startswith(_BEGINNINGS):
        return text

    def read_as(kind: Any, decimal: str = ".") -> Any:
        some = text_as(head, kind, decimal)
        return None if some is None else text_as(text, kind, decimal)

    numbers = read_as(pa.float64(), decimal)
    if numbers is not None:
        if (whole := read_as(pa.int64(), decimal)) is not None:
            return whole
        _check_large(text, numbers, where, name)
        return numbers
    kinds = [pa.date32(), *(pa.timestamp(u, z) for u in ("s", "ns") for z in (None, "UTC"))]
    for kind in kinds:
        if (times := read_as(kind)) is not None:
            return times
    if all(pc.all(pc.match_substring_regex(some, _CLOCK)).as_py() for some in (head, text)):
        days = pc.binary_join_element_wise("1970-01-01", pc.utf8_trim_whitespace(text), " ")
        with suppress(pa.ArrowInvalid):
            return days.cast(pa.timestamp("s")).cast(pa.time32("s"))
    return text


def _check_large(text: Any, numbers: Any, where: str, name: str) -> None:
    """Refuses whole numbers of more digits than an integer has, which floats would round, and what is beyond floats."""
    import pyarrow.compute as pc

    large = pc.greater_equal(pc.abs(numbers), 2.0**63)
    if not pc.any(large).as_py():
        return
    whole = text.filter(pc.match_substring_regex(text, _LONG))
    if len(whole):
        raise TableError(
            f"{where} contains the integer {whole[0]}, which is too large for a threshold to separate it from its "
            f"neighbours: declare the column categorical (--categorical {name!r}), or leave it out (--drop {name!r})"
        )
    beyond = text.filter(pc.and_(pc.is_inf(numbers), pc.match_substring_regex(text, "[0-9]")))
    if len(beyond):
        raise TableError(
            f"{where} contains {beyond[0]}, but numbers must be within about ±1.8e308: correct it"
        )


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
