# SPDX-License-Identifier: BSD-3-Clause
"""Files as streams of record batches, of which only the columns that are needed are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from fasttree.base.hints import check_choice
from fasttree.files.csv_file import CsvSource
from fasttree.files.csv_style import USUAL, CsvStyle, compression_of
from fasttree.files.errors import ArgumentError, InputError
from fasttree.files.text import is_text

ROWS_PER_BATCH = 65_536
BUFFER_BYTES = 2**20  # of each column that is read from a Parquet file
FORMATS = {
    "csv": (".csv", ".tsv", ".tab"),  # also compressed
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
}


class Source(Protocol):
    """A file that is open. Its names are known first; then `open` says which columns are wanted."""

    path: Path
    names: list[str]
    style: CsvStyle | None  # of a CSV file, which has text alone
    broken_rows: int
    broken_row_examples: list[str]

    def open(self, needed: Sequence[str], dictionaries: Sequence[str]) -> Any: ...
    def batches(self, lenient: bool, threads: bool) -> Iterator[Any]: ...
    def where(self, row: int) -> str: ...
    def done(self) -> float: ...
    def close(self) -> None: ...


def format_of(path: Path, said: str | None = None) -> str:
    """The format by the ending of the name, unless it was said."""
    if said is not None:
        return check_choice("format", said, FORMATS, error=ArgumentError)
    if path.name == "-":  # the standard input or output, unless told otherwise
        return "csv"
    name = path.name.lower()
    stem = name.removesuffix(path.suffix.lower()) if compression_of(path) else name
    for kind, endings in FORMATS.items():
        if (stem if kind == "csv" else name).endswith(endings):
            return kind
    known = ", ".join(ending for endings in FORMATS.values() for ending in endings)
    raise ArgumentError(
        f"{path}: the extension is not that of a known format ({known}): specify the format"
    )


def open_source(
    path: Path, said: str | None = None, style: CsvStyle = USUAL, place: Path | None = None
) -> Source:
    """`path` is what messages call it; `place`, if that is another, is where it can be read."""
    kind, place = format_of(path, said), place or path
    try:
        if place.is_dir():
            raise InputError(f"{path} is a directory: give the names of the files in it.")
        if not place.is_file():  # a pipe, say: files are looked into before they are read
            raise InputError(f"{path} is not a regular file.")
        if kind == "csv":
            return CsvSource(path, style, place)
        if place.stat().st_size == 0:
            raise InputError(f"{path} is empty: it has 0 bytes.")
        return ParquetSource(path, place) if kind == "parquet" else ArrowSource(path, place)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise _unreadable(path, error) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: a column name is not UTF-8: rename the column.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None


def _unreadable(path: Path, error: Exception) -> InputError:
    said = " ".join(str(error).split()).removesuffix(".")
    return InputError(f"{path} cannot be read: {said}.")


class _TypedSource:
    """What Parquet and Arrow files have in common: columns have types, and the number of rows is known."""

    style: CsvStyle | None = None

    def __init__(self, path: Path, place: Path) -> None:
        self.path, self.place = path, place
        self.broken_rows = 0
        self.broken_row_examples: list[str] = []
        self._read, self._all = 0, 1

    def where(self, row: int) -> str:
        return f"{self.path}, row {row}"

    def done(self) -> float:
        return min(1.0, self._read / max(1, self._all))

    def batches(self, lenient: bool, threads: bool) -> Iterator[Any]:
        try:
            for batch in self._batches(threads):
                yield batch
                self._read += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(self.path, error) from None

    def _batches(self, threads: bool) -> Iterator[Any]:
        raise NotImplementedError


class ParquetSource(_TypedSource):
    def __init__(self, path: Path, place: Path) -> None:
        super().__init__(path, place)
        self._file = pq.ParquetFile(place)
        self._all = self._file.metadata.num_rows
        self.names = list(self._file.schema_arrow.names)

    def open(self, needed: Sequence[str], dictionaries: Sequence[str]) -> Any:
        schema = self._file.schema_arrow
        text = [name for name in dictionaries if is_text(schema.field(name).type)]
        metadata = self._file.metadata
        self._file.close()
        # A buffer for each column instead of its whole chunk: row groups may be larger than memory.
        self._file = pq.ParquetFile(
            self.place,
            metadata=metadata,
            read_dictionary=text,
            buffer_size=BUFFER_BYTES,
            pre_buffer=False,
        )
        self._needed = list(needed)
        schema = self._file.schema_arrow
        return pa.schema([schema.field(name) for name in needed])

    def _batches(self, threads: bool) -> Iterator[Any]:
        batches = self._file.iter_batches(
            batch_size=ROWS_PER_BATCH, columns=self._needed, use_threads=threads
        )
        for batch in batches:
            yield batch.select(self._needed)

    def close(self) -> None:
        self._file.close()


class ArrowSource(_TypedSource):
    """Both formats of Arrow's: files, as of Feather, and streams."""

    def __init__(self, path: Path, place: Path) -> None:
        super().__init__(path, place)
        self._map = pa.memory_map(str(place))
        self._is_file = self._map.read(6) == b"ARROW1"
        self._reader = self._open_reader()
        self.names: list[str] = list(self._reader.schema.names)

    def _open_reader(self, fields: list[int] | None = None) -> Any:
        self._map.seek(0)
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        open_reader = pa.ipc.open_file if self._is_file else pa.ipc.open_stream
        return open_reader(self._map, options=options)

    def open(self, needed: Sequence[str], dictionaries: Sequence[str]) -> Any:
        place_of = {name: place for place, name in enumerate(self.names)}
        self._reader = self._open_reader([place_of[name] for name in needed])
        self._needed = list(needed)
        schema = self._reader.schema
        return pa.schema([schema.field(name) for name in needed])

    def _batches(self, threads: bool) -> Iterator[Any]:
        if self._is_file:
            n_batches = self._reader.num_record_batches
            for number in range(n_batches):
                yield self._checked(self._reader.get_batch(number))
        else:
            for batch in self._reader:
                yield self._checked(batch)

    def _checked(self, batch: Any) -> Any:
        """Arrow reads these files as they are: what is damaged would be read outside of its memory."""
        batch = batch.select(self._needed)
        batch.validate(full=True)
        return batch

    def done(self) -> float:
        return min(1.0, self._map.tell() / max(1, self._map.size()))

    def close(self) -> None:
        self._map.close()
