# SPDX-License-Identifier: BSD-3-Clause
"""Regressors in other forms: the Python module, the C source, the queries and the JSON are run beside the model, and
say the same number to the last bit."""

from __future__ import annotations

import ctypes
import json
import math
import shutil
import sqlite3
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from exporting import Rows, hostile_rows, refused_rows
from exporting_sql import arrow, column_names, definition, numbered
from exporting_tables import TABLES
from printed_trees import read_table

from fasttree import CARTRegressor, TreeRegressor

MODELS: dict[str, Any] = {
    "branch": lambda: TreeRegressor(max_depth=6),
    "multiway": lambda: TreeRegressor(
        missing="category", categorical_split="multiway", max_depth=4
    ),
    "surrogate": lambda: CARTRegressor(pruning=None, min_samples_leaf=2),
    "majority": lambda: TreeRegressor(unknown="majority", max_depth=6),
    "unseen refused": lambda: TreeRegressor(unknown="error", max_leaves=12),
    "merged": lambda: TreeRegressor(min_category_count=4, max_depth=6),
}
CASES = [f"{table}: {name}" for table in [*TABLES, "car90"] for name in MODELS]


@cache
def fitted(case: str) -> Any:
    table, name = case.split(": ")
    if table == "car90":
        X, y = read_table("car90")
        return MODELS[name]().fit(X, y)
    X, labels, _ = TABLES[table]()
    rng = np.random.default_rng(len(labels))
    y = rng.normal(size=len(labels)) * 10.0 ** rng.integers(-3, 4, len(labels))
    return MODELS[name]().fit(X, y)


def asked(case: str) -> tuple[Any, Rows, np.ndarray, list[float], list[int]]:
    """A model, rows for it, which of these it refuses, and numbers and leaves of the others."""
    model = fitted(case)
    rows = hostile_rows(model)
    refused = refused_rows(model, rows)
    table = rows.take(np.flatnonzero(~refused).tolist()).table(model)
    return model, rows, refused, model.predict(table).tolist(), model.apply(table).tolist()


@pytest.mark.parametrize("case", CASES)
def test_python(case: str) -> None:
    model, rows, refused, numbers, leaves = asked(case)
    module: dict[str, Any] = {}
    exec(compile(model.export("python"), "exported.py", "exec"), module)
    found = []
    for row, is_refused in zip(rows.dicts(), refused.tolist(), strict=True):
        if is_refused:
            with pytest.raises(ValueError, match=r"model rejects|not seen in training"):
                module["predict"](row)
        else:
            found.append((module["predict"](row), module["leaf"](list(row.values()))))
    assert found == list(zip(numbers, leaves, strict=True))
    assert "predict_proba" not in module


@pytest.mark.parametrize("case", CASES)
def test_json(case: str) -> None:
    """The nodes say what the tree has."""
    model, _, _, _, _ = asked(case)
    tree, told = model.tree_, json.loads(model.export("json"))
    assert (told["version"], told["target"]) == (3, "number")
    assert [node["prediction"] for node in told["nodes"]] == tree.prediction.tolist()
    assert [node["error"] for node in told["nodes"]] == tree.error.tolist()
    assert [node["weight"] for node in told["nodes"]] == tree.weight.tolist()
    for node, wanted in zip(told["nodes"], tree.attribute.tolist(), strict=True):
        assert node.get("attribute", -1) == wanted


needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")


@needs_compiler
def test_c(tmp_path: Path) -> None:
    """All models in one library, told apart by their prefixes."""
    models = {f"m{place}": fitted(case) for place, case in enumerate(CASES)}
    source, library = tmp_path / "trees.c", tmp_path / "trees.so"
    source.write_text("\n".join(m.export("c", prefix=prefix) for prefix, m in models.items()))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-shared", "-fPIC"]
    command = ["gcc", *flags, str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:5000]
    loaded = ctypes.CDLL(str(library))
    for case, prefix in zip(CASES, models, strict=True):
        check_c(case, loaded, prefix)


def check_c(case: str, library: ctypes.CDLL, prefix: str) -> None:
    model, rows, refused, numbers, leaves = asked(case)
    code, code_of_number = (getattr(library, f"{prefix}_{n}") for n in ("code", "code_of_number"))
    code.restype = code_of_number.restype = ctypes.c_double
    code.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    code_of_number.argtypes = [ctypes.c_int, ctypes.c_double]
    predict, leaf = (getattr(library, f"{prefix}_{name}") for name in ("predict", "leaf"))
    predict.restype, leaf.restype = ctypes.c_double, ctypes.c_int32
    predict.argtypes = leaf.argtypes = [ctypes.POINTER(ctypes.c_double)]

    def encoded(place: int, value: Any) -> float:
        if value is None:
            return math.nan
        if model.tree_.schema.attributes[place].categories is None:
            return float(value)
        if isinstance(value, str):
            return code(place, value.encode(), len(value.encode()))
        return code_of_number(place, float(value))

    found = []
    for row, is_refused in zip(zip(*rows.columns.values(), strict=True), refused, strict=True):
        values = np.array([encoded(place, value) for place, value in enumerate(row)])
        at = values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        if is_refused:
            assert math.isnan(predict(at))
            assert leaf(at) == -1
        else:
            found.append((predict(at), leaf(at)))
    assert found == list(zip(numbers, leaves, strict=True)), case


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_sql(case: str, dialect: str) -> None:
    model, rows, refused, numbers, leaves = asked(case)
    options = {
        "dialect": dialect,
        "table": "the data",
        "columns": column_names(model),
        "keep": ["row number"],
    }
    queries = [model.export("sql", **options), model.export("sql", leaf=True, **options)]
    if dialect == "sqlite":
        types = {"float": "REAL", "bool": "INTEGER", "int": "INTEGER", "text": "TEXT"}
        connection: Any = sqlite3.connect(":memory:")
        connection.execute(definition(model, types))
        places = ", ".join("?" * (1 + len(rows.columns)))
        connection.executemany(f'INSERT INTO "the data" VALUES ({places})', numbered(rows))
    else:
        types = {"float": "DOUBLE", "bool": "BOOLEAN", "int": "BIGINT", "text": "VARCHAR"}
        connection = duckdb.connect()
        connection.execute(definition(model, types))
        connection.register("given", arrow(model, rows))
        connection.execute('INSERT INTO "the data" SELECT * FROM given')
    try:
        plain, full = (sorted(connection.execute(query).fetchall()) for query in queries)
    finally:
        connection.close()
    accepted = np.flatnonzero(~refused).tolist()
    assert [plain[place][1] for place in accepted] == numbers
    assert [full[place][1:] for place in accepted] == list(zip(numbers, leaves, strict=True))
    for place in np.flatnonzero(refused).tolist():
        assert set(plain[place][1:]) == set(full[place][1:]) == {None}


def test_shares_of_classes_are_refused() -> None:
    model = TreeRegressor().fit([[0.0], [1.0]], [0.5, 1.5])
    with pytest.raises(ValueError, match="a regressor predicts numbers: leave it out"):
        model.export("sql", proba=True)
