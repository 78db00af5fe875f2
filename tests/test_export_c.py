# SPDX-License-Identifier: BSD-3-Clause
"""The export as C: compiled with all warnings, and run."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exporting import METHODS, Rows, answers, hostile_rows, model
from exporting_tables import TABLES

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"]
STRICT = ["-Wconversion", "-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wundef"]

needs_compiler = pytest.mark.skipif(not COMPILERS, reason="there is no C compiler")
pytestmark = needs_compiler


@pytest.fixture(params=COMPILERS or ["none"])
def compiler(request: Any) -> str:
    return request.param


class Compiled:
    """One exported tree in a shared library."""

    def __init__(self, library: ctypes.CDLL, prefix: str, n_classes: int, n_columns: int) -> None:
        self.n_classes = n_classes
        row = ctypes.POINTER(ctypes.c_double)
        for name, result, arguments in (
            ("code", ctypes.c_double, [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]),
            ("code_of_number", ctypes.c_double, [ctypes.c_int, ctypes.c_double]),
            ("leaf", ctypes.c_int32, [row]),
            ("predict", ctypes.c_int32, [row]),
            ("predict_proba", ctypes.c_int32, [row, row]),
        ):
            function = getattr(library, f"{prefix}_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        texts = {"class_labels": n_classes, "column_names": n_columns}
        for name, n in texts.items():
            array = (ctypes.c_char_p * n).in_dll(library, f"{prefix}_{name}")
            setattr(self, name, [text.decode() for text in array])

    def encode(self, fitted: Any, rows: Rows) -> np.ndarray:
        columns = []
        for place, attribute in enumerate(fitted.tree_.schema.attributes):
            code = self._number if attribute.categories is None else self._code
            columns.append([code(place, value) for value in rows.columns[attribute.name]])
        return np.array(columns).T.copy()

    def _number(self, place: int, value: Any) -> float:
        return math.nan if value is None else float(value)

    def _code(self, place: int, value: Any) -> float:
        if value is None:
            return math.nan
        if isinstance(value, str):
            data = value.encode()
            return self.code(place, data, len(data))
        return self.code_of_number(place, float(value))

    def run(self, table: np.ndarray) -> tuple[list[int], np.ndarray, list[int]]:
        classes, leaves = [], []
        proba = np.full((len(table), self.n_classes), -7.0)
        for row, shares in zip(table, proba, strict=True):
            at = row.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
            to = shares.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
            classes.append(self.predict(at))
            leaves.append(self.leaf(at))
            assert self.predict_proba(at, to) == classes[-1]
        return classes, proba, leaves


def compile_all(
    models: dict[str, Any], directory: Path, compiler: str, *flags: str
) -> dict[str, Compiled]:
    """All models in one library, told apart by their prefixes."""
    source, library = directory / "trees.c", directory / "trees.so"
    source.write_text("\n".join(m.export("c", prefix=prefix) for prefix, m in models.items()))
    command = [compiler, *FLAGS, *flags, "-O1", "-shared", "-fPIC", str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:5000]
    loaded = ctypes.CDLL(str(library))
    return {
        prefix: Compiled(loaded, prefix, len(m.classes_), m.n_features_in_)
        for prefix, m in models.items()
    }


def check(compiled: Compiled, fitted: Any, rows: Rows) -> None:
    """The same answers, to the last bit."""
    expected = answers(fitted, rows)
    classes, proba, leaves = compiled.run(compiled.encode(fitted, rows))
    labels = fitted.classes_.tolist()
    accepted = expected.accepted
    assert [labels[classes[i]] for i in accepted] == expected.classes
    assert np.array_equal(proba[accepted], expected.proba)
    assert [leaves[i] for i in accepted] == expected.leaves
    for i in np.flatnonzero(expected.refused):
        assert classes[i] == leaves[i] == -1
        assert np.isnan(proba[i]).all()


@pytest.mark.parametrize("table", TABLES)
def test_the_same_answers(table: str, tmp_path: Path, compiler: str) -> None:
    methods = {f"m{i}": f"{table}: {method}" for i, method in enumerate(METHODS)}
    models = {prefix: model(identity) for prefix, identity in methods.items()}
    for prefix, compiled in compile_all(models, tmp_path, compiler, *STRICT).items():
        fitted = models[prefix]
        check(compiled, fitted, hostile_rows(fitted))
        assert compiled.column_names == list(fitted.tree_.schema.names)
        assert compiled.class_labels == [str(label) for label in fitted.classes_.tolist()]
