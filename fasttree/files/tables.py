# SPDX-License-Identifier: BSD-3-Clause
"""Data files as Arrow tables: CSV, TSV, Parquet, Feather and Arrow. An error names the file."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fasttree.base.wording import near, plural
from fasttree.files.csv_tables import read_csv
from fasttree.files.errors import FileKindError, TableError, check_names, first_line

if TYPE_CHECKING:
    from fasttree.files.csv_style import CsvStyle

CSV = (".csv", ".tsv", ".tab")
PARQUET = (".parquet", ".pq")
ARROW = (".feather", ".arrow", ".ipc")
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")  # of CSV and TSV
READABLE = ".csv, .tsv (also .gz, .bz2, .zst), .parquet, .feather, .arrow"


def read_table(path: Path, as_text: Collection[str] = (), style: CsvStyle | None = None) -> Any:
    """The `pyarrow.Table` that a file holds. CSV columns `as_text` are not turned into numbers: 007 stays 007."""
    import pyarrow as pa

    from fasttree.files.csv_style import USUAL

    kind = suffix(path)
    if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe, say: read more than once
        raise TableError(f"{path} is not a regular file")
    try:
        if kind in CSV:
            table = read_csv(path, style or USUAL, as_text)
        elif kind in PARQUET:
            from pyarrow import parquet

            table = parquet.read_table(path)
        else:
            from pyarrow import feather

            table = feather.read_table(path, memory_map=True)
            table.validate(
                full=True
            )  # as it is in the file: what is damaged would be read outside of its memory
        names = table.column_names
    except FileNotFoundError:
        raise TableError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise TableError(f"{path} is a directory: give the name of a file") from None
    except PermissionError:
        raise TableError(f"{path}: no permission to read it") from None
    except UnicodeDecodeError:
        raise TableError(f"{path}: a column name is not UTF-8: rename the column") from None
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path} cannot be read as {kind}: {first_line(error)}") from error
    return _checked(path, table, names)


def suffix(path: Path) -> str:
    """What a file is by its name, without that it is compressed."""
    names = [part.lower() for part in path.suffixes]
    if len(names) > 1 and names[-1] in COMPRESSED and names[-2] in CSV:
        return names[-2]
    found = names[-1] if names else ""
    if found not in (*CSV, *PARQUET, *ARROW):
        ending = (
            f"the extension {found!r} is not supported" if found else "the name has no extension"
        )
        raise FileKindError(
            f"{path}: the file format is unknown. {ending[0].upper()}{ending[1:]}: "
            f"rename the file with the extension of its format: {READABLE}"
        )
    return found


def _checked(path: Path, table: Any, names: list[str]) -> Any:
    check_names(names, str(path))
    if not table.num_rows:
        columns = plural(len(names), "column")
        raise TableError(f"{path} has {columns}, but no rows: add at least one row")
    return table


# -- the parts that a model is made from -------------------------------------------------------------


def columns_named(table: Any, names: Collection[str], option: str, path: Path) -> None:
    """Refuses names that the table does not have."""
    from fasttree.files.csv_style import other_delimiter

    columns = table.column_names
    known = set(columns)
    for name in names:
        if name not in known:
            remedy = near(name, columns)
            if suffix(path) in CSV:
                remedy = other_delimiter(columns) or remedy
            raise TableError(f"{path} has no column {name!r} ({option}): {remedy}")


def line_of(path: Path, row: int) -> str:
    """Where a row stands, as people count."""
    if suffix(path) in CSV:
        return f"row {row + 1} below the header"
    return f"row {row + 1}"
