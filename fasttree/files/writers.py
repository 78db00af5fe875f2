# SPDX-License-Identifier: BSD-3-Clause
"""Streams of record batches as files."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from fasttree.files.csv_style import compression_of
from fasttree.files.errors import InputError, OutputError

GROUP_ROWS = 2**20
GROUP_BYTES = 2**26  # a row group of a Parquet file is held in memory until it is this large


class Writer:
    """Writes batches of one schema to a file that is open: `close` makes it a whole one, `give_up` leaves it so."""

    def __init__(
        self, file: IO[bytes], schema: Any, kind: str, name: str, is_stream: bool = False
    ) -> None:
        """`is_stream`: Arrow's format for streams, not that for files."""
        self._held: list[Any] = []
        self._file = _Target(file)
        packing = compression_of(Path(name)) if kind == "csv" else None
        self._packed = pa.CompressedOutputStream(self._file, packing) if packing else None
        target: Any = self._packed or self._file
        # A dictionary may change from batch to batch, which only Parquet takes.
        self._schema = schema if kind == "parquet" else _plain(schema)
        self._kind = kind
        make: dict[str, Callable[[], Any]] = {
            "parquet": lambda: pq.ParquetWriter(target, schema, compression="zstd"),
            "csv": lambda: pyarrow.csv.CSVWriter(target, self._schema),
            "arrow": lambda: (pa.ipc.new_stream if is_stream else pa.ipc.new_file)(
                target, self._schema
            ),
        }
        try:
            self._writer = make[kind]()
        except pa.ArrowException as error:
            raise OutputError(f"the output cannot be written as {kind}: {error}") from None

    def check(self, schema: Any, where: str, first: str) -> None:
        """Do these rows have the columns of those before?"""
        remedy = "use a folder as the output, with one file for each input"
        if schema.names != self._schema.names:
            raise InputError(
                f"{where} has different columns than {first}, {schema.names} instead of {self._schema.names}: {remedy}."
            )
        for one, other in zip(_plain(schema), _plain(self._schema), strict=True):
            if one.type != other.type:
                raise InputError(
                    f"{where}: column {one.name!r} has type {one.type}, but type {other.type} in {first}: {remedy}."
                )

    def write(self, batch: Any) -> None:
        if batch.schema != self._schema:
            batch = batch.cast(self._schema)
        if self._kind != "parquet":
            self._writer.write_batch(batch)
            return
        self._held.append(batch)
        n_rows = sum(held.num_rows for held in self._held)
        if n_rows >= GROUP_ROWS or sum(held.nbytes for held in self._held) >= GROUP_BYTES:
            self._write_group()

    def _write_group(self) -> None:
        if self._held:
            self._writer.write_table(pa.Table.from_batches(self._held, self._schema))
            self._held = []

    def close(self) -> None:
        self._write_group()
        self._writer.close()
        if self._packed is not None:
            self._packed.close()

    def give_up(self) -> None:
        """No more is written, by the libraries either: these would complete the file when they are closed, if need be
        by the garbage collector."""
        self._file.is_given_up = True
        self._held = []
        with contextlib.suppress(Exception):
            self.close()
        if self._kind == "parquet":
            self._writer.is_open = False


class Output:
    """A file that is written to from the first batches on; whatever fails in the block, its writer is put away."""

    def __init__(self, file: IO[bytes], kind: str, name: str, is_stream: bool) -> None:
        self.file, self.kind, self.name, self.is_stream = file, kind, name, is_stream
        self.writer: Writer | None = None
        self._first = ""

    def begin(self, schema: Any, where: str) -> None:
        """The rows of an input come now. They have the columns of those before, or are refused."""
        if self.writer is None:
            self.writer = Writer(self.file, schema, self.kind, self.name, self.is_stream)
            self._first = where
        self.writer.check(schema, where, self._first)

    def write(self, batch: Any) -> None:
        assert self.writer is not None
        self.writer.write(batch)

    def __enter__(self) -> Output:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if self.writer is None:
            return
        if kind is None:
            try:
                self.writer.close()
                return
            except BaseException:
                self.writer.give_up()
                raise
        self.writer.give_up()


class Held:
    """The rows of an input in a temporary file, until it is known that all of them can be scored."""

    def __init__(self, schema: Any, output: Path) -> None:
        """On the disk that the output is for, where there is room for them."""
        folder = output.resolve().parent if output.name != "-" else None
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 closed by the block
        self._writer = pa.ipc.new_stream(_Target(self._file), schema)

    def write(self, batch: Any) -> None:
        self._writer.write_batch(batch)

    def batches(self) -> Iterator[Any]:
        self._writer.close()
        self._file.seek(0)
        yield from pa.ipc.open_stream(self._file)

    def __enter__(self) -> Held:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class _Target:
    """A file as the libraries see it: they do not close it, and once it is given up they write nothing more."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._size = file, 0
        self.is_given_up = False

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        if not self.is_given_up:
            self._file.write(data)
        self._size += size
        return size

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        if not self.is_given_up:
            self._file.flush()

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.flush()


def _plain(schema: Any) -> Any:
    kinds = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in schema
    ]
    return pa.schema(kinds)
