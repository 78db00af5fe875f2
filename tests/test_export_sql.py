# SPDX-License-Identifier: BSD-3-Clause
"""Trees as SQL: the queries are run in SQLite, DuckDB and, where there is a server, PostgreSQL."""

from __future__ import annotations

import sqlite3
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from exporting import MODELS, Answers, Rows, answers, hostile_rows, model

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


def query(fitted: Any, dialect: str, **options: Any) -> str:
    return fitted.export(
        "sql",
        dialect=dialect,
        table="the data",
        columns=column_names(fitted),
        keep=["row number"],
        **options,
    )


def check(said: Answers, found: list[tuple[Any, ...]], full: list[tuple[Any, ...]]) -> None:
    """`found`: (row, class) of each row; `full` with probabilities and leaf, too."""
    assert len(found) == len(full) == len(said.refused)
    found, full = sorted(found, key=lambda r: r[0]), sorted(full, key=lambda r: r[0])
    for place in np.flatnonzero(said.refused).tolist():
        assert set(found[place][1:]) == set(full[place][1:]) == {None}
    assert [found[place][1] for place in said.accepted] == said.classes
    assert [full[place][1] for place in said.accepted] == said.classes
    assert [full[place][-1] for place in said.accepted] == said.leaves
    proba = np.array([full[place][2:-1] for place in said.accepted], dtype=float)
    assert np.array_equal(proba.reshape(said.proba.shape), said.proba)  # to the bit


def run_sqlite(fitted: Any, rows: Rows) -> tuple[list[Any], list[Any]]:
    types = {"float": "REAL", "bool": "INTEGER", "int": "INTEGER", "text": "TEXT COLLATE NOCASE"}
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(definition(fitted, types))
        places = ", ".join("?" * (1 + len(rows.columns)))
        connection.executemany(f'INSERT INTO "the data" VALUES ({places})', numbered(rows))
        found = connection.execute(query(fitted, "sqlite")).fetchall()
        return found, connection.execute(query(fitted, "sqlite", proba=True, leaf=True)).fetchall()
    finally:
        connection.close()


def run_duckdb(fitted: Any, rows: Rows) -> tuple[list[Any], list[Any]]:
    types = {"float": "DOUBLE", "bool": "BOOLEAN", "int": "BIGINT", "text": "VARCHAR"}
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute(definition(fitted, types))
        given = arrow(fitted, rows)
        connection.register("given", given)
        connection.execute('INSERT INTO "the data" SELECT * FROM given')
        found = connection.execute(query(fitted, "duckdb")).fetchall()
        return found, connection.execute(query(fitted, "duckdb", proba=True, leaf=True)).fetchall()


def arrow(fitted: Any, rows: Rows) -> pa.Table:
    types = {"float": pa.float64(), "bool": pa.bool_(), "int": pa.int64(), "text": pa.string()}
    columns = [pa.array(range(len(rows)), pa.int32())]
    for values, kind in zip(rows.columns.values(), kinds(fitted, types), strict=True):
        columns.append(pa.array(values, kind, from_pandas=False))
    return pa.table(columns, names=[str(place) for place in range(len(columns))])


@pytest.mark.parametrize("identity", MODELS)
def test_sqlite_says_what_the_model_says(identity: str) -> None:
    fitted = model(identity)
    rows = hostile_rows(fitted)
    check(answers(fitted, rows), *run_sqlite(fitted, rows))


@pytest.mark.parametrize("identity", MODELS)
def test_duckdb_says_what_the_model_says(identity: str) -> None:
    fitted = model(identity)
    rows = hostile_rows(fitted, most_thresholds=20)
    check(answers(fitted, rows), *run_duckdb(fitted, rows))
