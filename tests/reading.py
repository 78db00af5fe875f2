# SPDX-License-Identifier: BSD-3-Clause
"""What a table was read as, and small tables and schemas to read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.schema import AttributeSchema, Schema
from fasttree.tables.training import Table, read_table

COLOURS = ["red", "green", "red", "blue"]
SIZES = [3, 1, 2, 2]
WEIGHTS = [0.5, 2.5, -1.0, 0.0]
FLAGS = [True, False, False, True]
LOW, MID, HIGH = "low", "mid", "high"


def schema_of(table: Table) -> Schema:
    columns = table.columns or ()
    attributes = [AttributeSchema(c.name, c.categories, time=c.time) for c in columns]
    attributes = attributes or list(map(AttributeSchema, table.names))
    return Schema(tuple(attributes), np.array([0, 1]), table.named)


def without_marks(text: str) -> str:
    """The text of a tree without what it says of values that training had none of: neither marks nor notes."""
    return text.split("\n\n")[0].replace(" (or missing)", "").replace(" (or unseen)", "")


def facts(table: Table) -> list[tuple[Any, ...]]:
    """A table as plain values that == compares."""
    assert table.columns is not None
    found: list[tuple[Any, ...]] = []
    for column in table.columns:
        if column.categories is None:
            assert column.values is not None
            assert column.codes is None
            found.append((column.name, column.values.tolist()))
        else:
            assert column.codes is not None
            assert column.codes.dtype == np.int32
            assert column.values is None
            found.append((column.name, column.codes.tolist(), column.categories))
    return found


def one(column: Any, categorical_features: Any = "from_dtype") -> Any:
    """The only column of a table that has just that one."""
    table = read_table({"a": column}, categorical_features)
    assert table.columns is not None
    return table.columns[0]


class Stream:
    """Any object that speaks the Arrow PyCapsule interface, and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


NUMBERS = Schema((AttributeSchema("a"), AttributeSchema("b")), np.array([0, 1]), named=True)
WORDS = Schema((AttributeSchema("a", ("red", "blue")),), np.array([0, 1]), named=True)
LEVELS = Schema((AttributeSchema("a", (1, 2, 10)),), np.array([0, 1]), named=True)
BOOLS = Schema((AttributeSchema("a", (False, True)),), np.array([0, 1]), named=True)
EMPTY = Schema((AttributeSchema("a", ()),), np.array([0, 1]), named=True)


def codes_like(column: Any, schema: Schema) -> list[int]:
    table = read_table_for_schema({"a": column}, schema)
    assert table.columns is not None
    assert table.columns[0].categories is schema.attributes[0].categories
    codes = table.columns[0].codes
    assert codes is not None
    assert codes.dtype == np.int32
    return codes.tolist()
