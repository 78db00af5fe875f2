# SPDX-License-Identifier: BSD-3-Clause
"""Streams of record batches as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from fasttree.batch.csv_style import compression_of
from fasttree.batch.errors import InputError, OutputError

GROUP_ROWS = 2**20
GROUP_BYTES = 2**26  # a row group of a Parquet file is held in memory until it is this large


class Writer:
    """Writes batches of one schema to a file that is open. Without `close` the file is no whole one."""

    def __init__(self, file: IO[bytes], schema: Any, kind: str, name: str) -> None:
        self._held: list[Any] = []
        packing = compression_of(Path(name)) if kind == "csv" else None
        self._packed = pa.CompressedOutputStream(_Unclosed(file), packing) if packing else None
        target: Any = self._packed or file
        # A dictionary may change from batch to batch, which only Parquet takes.
        self._schema = schema if kind == "parquet" else _plain(schema)
        self._kind = kind
        make: dict[str, Callable[[], Any]] = {
            "parquet": lambda: pq.ParquetWriter(target, schema, compression="zstd"),
            "csv": lambda: pyarrow.csv.CSVWriter(target, self._schema),
            "arrow": lambda: pa.ipc.new_file(target, self._schema),
        }
        try:
            self._writer = make[kind]()
        except pa.ArrowException as error:
            raise OutputError(f"the output cannot be written as {kind}: {error}") from None

    def check(self, schema: Any, where: str, first: str) -> None:
        """Do these rows have the columns of those before?"""
        remedy = "score the files into a folder, each into one of its own"
        if schema.names != self._schema.names:
            raise InputError(
                f"{where} has other columns than {first}, {schema.names} instead of {self._schema.names}: {remedy}."
            )
        for one, other in zip(_plain(schema), _plain(self._schema), strict=True):
            if one.type != other.type:
                raise InputError(
                    f"{where}: column {one.name!r} has the type {one.type}, but {other.type} in {first}: {remedy}."
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


class _Unclosed:
    """A file that whoever writes to it does not close."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self.write, self.flush = file.write, file.flush

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        self.flush()


def _plain(schema: Any) -> Any:
    kinds = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in schema
    ]
    return pa.schema(kinds)
