# SPDX-License-Identifier: BSD-3-Clause
"""A campaign: trees of tables whose names, levels, classes and numbers mean harm are exported, and what was written is
run beside the model."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import export.test_export_c as in_c
import export.test_export_python as in_python
import export.test_export_sql as in_sql
import numpy as np
import pytest
from exporting import METHODS, Rows, answers, hostile_rows

from fasttree.export import EXPORTERS

pytestmark = pytest.mark.campaign

# Each looks like the end of something, or like something else, in one of the languages.
WORDS = (
    "'", '"', '""', "''", "`", "\\", "\\\\", "\\n", "\n", "\r\n", "\t", "$x", "${P}", "$P$", "{0}", "%s", "%", "??/",
    "??)", "*/", "/*", "//", "--", "#", ";", "'; DROP TABLE data; --", "');--", '"""', "'''", "]]>", "<b>&amp;", "&",
    "<!--", "NULL", "null", "None", "nan", "NaN", "inf", "-inf", "true", "True", "select", "int", "class", "lambda",
    "__import__('os')", "import os", "=1+1", "0x1", "1e5", "007", "-0", " ", "  x", "x ", ",", "a,b", "(", "[", "é",
    "\u2028", "\u202e", "\ufeff", "\x7f", "☃", "\U0001f333", "ſ", "İ", "_", "row", "leaf", "prediction", "case",
)  # fmt: skip
NUMBERS = (
    0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 0.1, 0.1 + 0.2, 1 / 3, 1.0, 1.0 + 2**-52,
    1.0 - 2**-53, 2.0**53, 2.0**53 + 2, 1e22, 1e23, 123456.7890123, 2.0**62, 1e300, -1e300, 1.7976931348623157e308,
)  # fmt: skip


def text(rng: np.random.Generator) -> str:
    """One of the words, or some in a row."""
    return "".join(rng.choice(WORDS) for _ in range(rng.choice([1, 1, 1, 2, 3])))


def texts(rng: np.random.Generator, n: int) -> list[str]:
    """Distinct ones; SQL folds the case of names."""
    found: dict[str, str] = {}
    while len(found) < n:
        one = text(rng)
        found.setdefault(one.casefold(), one)
    return list(found.values())


def hostile_model(seed: int) -> tuple[str, Any]:
    """The method, and a model of some numbers and some text with holes."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(20, 60)), int(rng.integers(1, 5))
    n_classes = int(rng.integers(2, 5))
    X: dict[str, np.ndarray] = {}
    for name in texts(rng, n_columns):
        if rng.random() < 0.5:
            values = rng.choice(NUMBERS, n_rows)
            X[name] = np.where(rng.random(n_rows) < 0.1, np.nan, values)
        else:
            values = rng.choice(np.array(texts(rng, int(rng.integers(2, 9))), dtype=object), n_rows)
            values[rng.random(n_rows) < 0.1] = None
            X[name] = values
    classes = np.array(texts(rng, n_classes), dtype=object)
    y = classes[np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))]
    method = str(rng.choice([name for name in METHODS if "refusing" not in name]))
    made = METHODS[method]()
    if getattr(made, "misclassification_cost", None) == "cyclic":
        made.set_params(misclassification_cost=None)
    return method, made.fit(X, y.astype(str))


def seeds(length: int, n: int) -> range:
    return range(n * length)


def test_every_format_writes_it_or_says_why_not(length: int) -> None:
    for seed in seeds(length, 15):
        method, fitted = hostile_model(seed)
        for name in EXPORTERS:
            try:
                content = fitted.export(name)
            except ValueError as error:
                content = str(error)
            assert content, (seed, method, name)
            if name == "json":
                json.loads(content)


def test_python(length: int) -> None:
    for seed in seeds(length, 30):
        method, fitted = hostile_model(seed)
        rows = hostile_rows(fitted, seed, most_thresholds=8)
        said, module = answers(fitted, rows), in_python.run(fitted.export("python"))
        dicts = rows.dicts()
        assert [module["predict"](row) for row in dicts] == said.classes, (seed, method)
        proba = np.array([module["predict_proba"](row) for row in dicts])
        assert np.array_equal(proba, said.proba), (seed, method)
        assert [module["leaf"](row) for row in dicts] == said.leaves, (seed, method)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_sql(dialect: str, length: int) -> None:
    run = {"sqlite": in_sql.run_sqlite, "duckdb": in_sql.run_duckdb}[dialect]
    for seed in seeds(length, 6):
        _, fitted = hostile_model(seed)
        rows = hostile_rows(fitted, seed, most_thresholds=5)
        try:
            fitted.export("sql", dialect=dialect)
        except ValueError:  # a text that SQL cannot hold
            continue
        if {"row number", "prediction", "leaf"} & {name.casefold() for name in rows.columns}:
            continue  # the test's own
        in_sql.check(answers(fitted, rows), *run(fitted, rows))


@in_c.needs_compiler
def test_c(length: int, tmp_path: Path) -> None:
    """Many trees in a library, since a compiler takes long to start."""
    for part in range(length):
        folder = tmp_path / str(part)
        folder.mkdir()
        fitted = {f"m{seed}": hostile_model(seed)[1] for seed in range(12 * part, 12 * (part + 1))}
        compiled = in_c.compile_all(fitted, folder, in_c.COMPILERS[0])
        for name, model in fitted.items():
            rows = hostile_rows(model, part, most_thresholds=8)
            in_c.check(compiled[name], model, rows)
            assert compiled[name].column_names == list(model.tree_.schema.names)
            assert compiled[name].class_labels == model.classes_.tolist()


def test_rules_in_python(length: int) -> None:
    for seed in seeds(length, 20):
        _, fitted = hostile_model(seed)
        if fitted.averaged:
            continue
        rules = fitted.rules()
        module = in_python.run(rules.to_python())
        rows: Rows = hostile_rows(fitted, seed, most_thresholds=5)
        expected = rules.predict(rows.table(fitted)).tolist()
        assert [module["classify"](row) for row in rows.dicts()] == expected, seed


@pytest.mark.skipif(shutil.which("dot") is None, reason="there is no Graphviz")
def test_graphviz_reads_it(length: int) -> None:
    for seed in seeds(length, 4):
        drawn = hostile_model(seed)[1].export("dot")
        done = subprocess.run(
            ["dot", "-Tplain"], input=drawn.encode(), capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b""), seed


def test_drawings_are_xml(length: int) -> None:
    from xml.etree import ElementTree

    for seed in seeds(length, 15):
        _, fitted = hostile_model(seed)
        ElementTree.fromstring(fitted.export("svg", title=text(np.random.default_rng(seed))))
        try:
            ElementTree.fromstring(fitted.export("pmml").encode())
        except ValueError:
            continue
