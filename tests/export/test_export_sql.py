# SPDX-License-Identifier: BSD-3-Clause
"""Trees as SQL: the queries are run in SQLite, DuckDB and, where there is a server, PostgreSQL."""

from __future__ import annotations

import datetime
import json
import math
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from a_postgres import server
from exporting import MODELS, Answers, Rows, answers, hostile_rows, model
from exporting_sql import arrow, column_names, definition, numbered

import fasttree
from fasttree.export.sql_dialects import DIALECTS


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


# -- PostgreSQL ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def postgres() -> Iterator[Callable[[str], str]]:
    with server() as run:
        yield run


POSTGRES = {"float": "DOUBLE PRECISION", "bool": "BOOLEAN", "int": "BIGINT", "text": "TEXT"}


def postgres_literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"'{value!r}'::float8"
    return str(value) if isinstance(value, (bool, int)) else "'" + value.replace("'", "''") + "'"


def in_postgres(run: Callable[[str], str], fitted: Any, rows: Rows) -> list[list[Any]]:
    """The rows of both queries, as Python reads JSON."""
    listed = [f"({', '.join(map(postgres_literal, row))})" for row in numbered(rows)]
    said = 'BEGIN; DROP TABLE IF EXISTS "the data";' + definition(fitted, POSTGRES)
    said += ';INSERT INTO "the data" VALUES ' + ",\n".join(listed) + ";"
    for options in ({}, {"proba": True, "leaf": True}):
        text = query(fitted, "postgres", **options).rstrip().removesuffix(";")
        said += f"\nSELECT json_agg(row_to_json(q)) FROM (\n{text}\n) AS q;\nSELECT 'END';"
    parts = run(said + "COMMIT;").split("END\n")
    # Not every name of a column is one of its own.
    return [
        json.loads(part, object_pairs_hook=lambda pairs: tuple(v for _, v in pairs))
        for part in parts[:2]
    ]


@pytest.mark.parametrize("identity", MODELS)
def test_postgres_says_what_the_model_says(identity: str, postgres: Callable[[str], str]) -> None:
    fitted = model(identity)
    rows = hostile_rows(fitted, most_thresholds=10)
    check(answers(fitted, rows), *in_postgres(postgres, fitted, rows))


# -- ANSI ------------------------------------------------------------------------------------------


def test_the_standard_query_runs_elsewhere_too() -> None:
    """No database speaks the standard alone; where numbers are never NaN, DuckDB comes close."""
    for identity in ("stagec: cart, majority", "labor: id3", "play_tennis: id3, majority"):
        fitted = model(identity)
        rows = hostile_rows(fitted)
        for values in rows.columns.values():
            values[:] = [None if value != value else value for value in values]
        types = {"float": "DOUBLE", "bool": "BOOLEAN", "int": "BIGINT", "text": "VARCHAR"}
        with duckdb.connect() as connection:
            connection.execute(definition(fitted, types))
            connection.register("given", arrow(fitted, rows))
            connection.execute('INSERT INTO "the data" SELECT * FROM given')
            found = connection.execute(query(fitted, "ansi", leaf=True)).fetchall()
        said = answers(fitted, rows)
        assert [row[1] for row in sorted(found)] == said.classes
        assert [row[2] for row in sorted(found)] == said.leaves


# -- large trees -----------------------------------------------------------------------------------


def scored(fitted: Any, dialect: str, X: np.ndarray) -> list[Any]:
    names = fitted.tree_.schema.names
    text = fitted.export("sql", dialect=dialect, keep=["id"], leaf=True)
    ddl = f"CREATE TABLE data (id INTEGER, {', '.join(f'{name} DOUBLE' for name in names)})"
    columns = {"id": np.arange(len(X)), **{n: X[:, j] for j, n in enumerate(names)}}
    if dialect == "duckdb":
        with duckdb.connect() as connection:
            connection.execute(ddl)
            connection.register("given", pa.table(columns))
            connection.execute("INSERT INTO data SELECT * FROM given")
            return sorted(connection.execute(text).fetchall())
    lite = sqlite3.connect(":memory:")
    lite.execute(ddl)
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    lite.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(columns))})", values)
    try:
        return sorted(lite.execute(text).fetchall())
    finally:
        lite.close()


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_16_000_leaves_and_3_000_levels(dialect: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80_000, 6))
    large = fasttree.TreeClassifier().fit(X, X[:, 0] * X[:, 1] + rng.normal(size=len(X)) > 0)
    assert large.get_n_leaves() > 14_000
    chain = np.arange(3000.0).reshape(-1, 1)
    deep = fasttree.TreeClassifier().fit(chain, np.arange(3000) % 2)
    assert deep.get_depth() > 2900
    for fitted, asked in (large, X[:3000]), (deep, np.arange(-2, 3003, 0.5).reshape(-1, 1)):
        found = scored(fitted, dialect, asked)
        assert [row[1] for row in found] == fitted.predict(asked).tolist()
        assert [row[2] for row in found] == fitted.apply(asked).tolist()


def test_numbers_are_read_to_the_last_bit() -> None:
    rng = np.random.default_rng(2)
    numbers = rng.random(20_000).tolist()  # one decimal in a thousand is misread, if it is plain
    numbers += np.ldexp(rng.random(5000) - 0.5, rng.integers(-1070, 1023, 5000)).tolist()
    numbers += [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1]
    lite = sqlite3.connect(":memory:")
    for start in range(0, len(numbers), 1000):
        some = numbers[start : start + 1000]
        listed = ", ".join(map(DIALECTS["sqlite"].number, some))
        assert list(lite.execute(f"SELECT {listed}").fetchone()) == some
    lite.close()
    with duckdb.connect() as connection:
        listed = ", ".join(map(DIALECTS["duckdb"].number, numbers[-6000:]))
        assert connection.execute(f"SELECT UNNEST([{listed}])").fetchall() == [
            (value,) for value in numbers[-6000:]
        ]
    assert DIALECTS["sqlite"].number(2.45) == "2.45"  # as people read it, where that is safe


# -- what is asked wrongly -------------------------------------------------------------------------


def test_what_sql_cannot_say_is_refused() -> None:
    X = {"A": np.arange(4.0), "a": np.arange(4.0)[::-1], "": np.zeros(4)}
    fitted = fasttree.TreeClassifier().fit(X, ["x", "x", "y", "y"])
    with pytest.raises(ValueError, match=r"dialect must be one of .*'sqlite', got 'mysql'"):
        fitted.export("sql", dialect="mysql")
    with pytest.raises(ValueError, match=r"'A' and 'a' as the same.*columns="):
        fitted.export("sql", dialect="sqlite")
    with pytest.raises(
        ValueError, match=r"columns contains 'b', which is not an attribute of the model"
    ):
        fitted.export("sql", columns={"b": "c"})
    with pytest.raises(ValueError, match=r"empty name.*columns="):
        fitted.export("sql", dialect="postgres")
    with pytest.raises(TypeError, match=r"keep must be a list of column names, got 'id'"):
        fitted.export("sql", keep="id")
    with pytest.raises(TypeError, match=r"proba must be True or False, got 1"):
        fitted.export("sql", proba=1)
    for label, words in (("a\0b", "null"), ("\ud800", "incomplete")):
        odd = fasttree.TreeClassifier().fit(np.arange(4.0).reshape(-1, 1), ["x", label] * 2)
        with pytest.raises(ValueError, match=rf"SQL cannot represent .*{words}.*python"):
            odd.export("sql")
    day = {"day": fasttree.Categorical([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)] * 2)}
    dated = fasttree.TreeClassifier().fit(day, [0, 1] * 2)
    with pytest.raises(ValueError, match=r"datetime\.date.*of type date.*python"):
        dated.export("sql")
    infinite = {"x": fasttree.Categorical([math.inf, 1.0] * 2)}
    endless = fasttree.TreeClassifier().fit(infinite, [0, 1] * 2)
    with pytest.raises(ValueError, match=r"no infinity.*dialect"):
        endless.export("sql")
    assert "Infinity" in endless.export("sql", dialect="duckdb")


def test_text_among_numbers_is_refused_by_sqlite() -> None:
    fitted = fasttree.TreeClassifier().fit({"x": np.arange(4.0)}, [0, 0, 1, 1])
    lite = sqlite3.connect(":memory:")
    lite.execute("CREATE TABLE data (x)")
    lite.executemany("INSERT INTO data VALUES (?)", [(1,), (2.5,), ("3",), (b"3",)])
    found = lite.execute(fitted.export("sql", dialect="sqlite")).fetchall()
    assert [row[1] for row in found] == [0, 1, None, None]
    lite.close()


def test_columns_tables_and_schemas_have_their_names() -> None:
    fitted = fasttree.TreeClassifier().fit({"node": np.arange(4.0)}, ["a b", "a b", "A", "A"])
    text = fitted.export(
        "sql", dialect="duckdb", table=("main", 'my "data"'), columns={"node": "value"}, proba=True
    )
    with duckdb.connect() as connection:
        connection.execute('CREATE TABLE "my ""data""" AS SELECT 0.0::REAL AS value')
        found = connection.execute(text)
        assert [name for name, *_ in found.description] == [
            "value", "prediction", "proba_0", "proba_1",
        ]  # fmt: skip
        assert found.fetchall() == [(0.0, "a b", 0.0, 1.0)]
