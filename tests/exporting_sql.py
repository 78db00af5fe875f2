# SPDX-License-Identifier: BSD-3-Clause
"""Tables of databases for the rows of a model."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from exporting import Rows

NAMES = {"": "no name", "A": "large A"}  # what databases do not take as the name of a column


def column_names(fitted: Any) -> dict[str, str]:
    return {name: NAMES[name] for name in fitted.tree_.schema.names if name in NAMES}


def kinds(fitted: Any, types: dict[str, str]) -> list[str]:
    """The SQL type of each column."""
    found = []
    for attribute in fitted.tree_.schema.attributes:
        levels = attribute.categories
        if levels is None or (levels and isinstance(levels[0], float)):
            found.append(types["float"])
        elif levels and isinstance(levels[0], bool):
            found.append(types["bool"])
        elif levels and isinstance(levels[0], int):
            found.append(types["int"])
        else:
            found.append(types["text"])
    return found


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def definition(fitted: Any, types: dict[str, str]) -> str:
    names = column_names(fitted)
    columns = [
        f"{quoted(names.get(name, name))} {kind}"
        for name, kind in zip(fitted.tree_.schema.names, kinds(fitted, types), strict=True)
    ]
    return f'CREATE TABLE "the data" ("row number" INTEGER, {", ".join(columns)})'


def numbered(rows: Rows) -> list[tuple[Any, ...]]:
    return [(i, *row) for i, row in enumerate(zip(*rows.columns.values(), strict=True))]


def arrow(fitted: Any, rows: Rows) -> pa.Table:
    types = {"float": pa.float64(), "bool": pa.bool_(), "int": pa.int64(), "text": pa.string()}
    columns = [pa.array(range(len(rows)), pa.int32())]
    for values, kind in zip(rows.columns.values(), kinds(fitted, types), strict=True):
        columns.append(pa.array(values, kind, from_pandas=False))
    return pa.table(columns, names=[str(place) for place in range(len(columns))])
