# SPDX-License-Identifier: BSD-3-Clause
"""The export as C: compiled with all warnings, and run."""

from __future__ import annotations

import ctypes
import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exporting import Rows, answers, hostile_rows, methods_of, model
from exporting_tables import TABLES

from fasttree import TreeClassifier

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
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
    command = [compiler, *FLAGS, "-O1", *flags, "-shared", "-fPIC", str(source), "-o", str(library)]
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
    methods = {f"m{i}": f"{table}: {method}" for i, method in enumerate(methods_of(table))}
    models = {prefix: model(identity) for prefix, identity in methods.items()}
    for prefix, compiled in compile_all(models, tmp_path, compiler, *STRICT).items():
        fitted = models[prefix]
        check(compiled, fitted, hostile_rows(fitted))
        assert compiled.column_names == list(fitted.tree_.schema.names)
        assert compiled.class_labels == [str(label) for label in fitted.classes_.tolist()]


@pytest.mark.parametrize("method", ["c45 unpruned", "costs", "subset, fractional"])
def test_compilers_may_not_round_otherwise(method: str, tmp_path: Path, compiler: str) -> None:
    """Flags under which a product and a sum would become one operation with one rounding."""
    fitted = model(f"holes: {method}")
    flags = ["-std=gnu99", "-O3", "-march=native", "-ffp-contract=fast"]
    check(one(fitted, tmp_path, compiler, *flags), fitted, hostile_rows(fitted))


def one(fitted: Any, directory: Path, compiler: str, *flags: str) -> Compiled:
    return compile_all({"tree": fitted}, directory, compiler, *flags)["tree"]


def test_a_large_tree(tmp_path: Path, compiler: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 5))
    fitted = TreeClassifier(max_leaves=10_000).fit(X, rng.integers(0, 3, 40_000))
    classes, proba, leaves = one(fitted, tmp_path, compiler).run(X[:2000])
    assert fitted.get_n_leaves() == 10_000
    assert classes == fitted.predict(X[:2000]).tolist()
    assert leaves == fitted.apply(X[:2000]).tolist()
    assert np.array_equal(proba, fitted.predict_proba(X[:2000]))


@pytest.mark.parametrize(("missing", "n"), [("branch", 10_200), ("fractional", 2500)])
def test_a_deep_tree(missing: str, n: int, tmp_path: Path, compiler: str) -> None:
    x = np.arange(float(n))
    x[0] = math.nan
    rows = np.column_stack([x, -x])
    fitted = TreeClassifier(criterion="misclassification", missing=missing)
    fitted.fit(rows, np.arange(n) % 2)
    assert fitted.get_depth() > 0.9 * n
    some = rows[:: n // 20]
    classes, proba, leaves = one(fitted, tmp_path, compiler).run(some)
    assert classes == fitted.predict(some).tolist()
    assert leaves == fitted.apply(some).tolist()
    assert np.array_equal(proba, fitted.predict_proba(some))


def test_many_levels(tmp_path: Path, compiler: str) -> None:
    towns = np.array([f"town {i}" for i in range(100_000)], dtype=object)
    y = np.arange(100_000) * 7919 % 3
    fitted = TreeClassifier(
        categorical_split="multiway", missing="fractional", categorical_features=["town"]
    ).fit({"town": towns}, y)
    compiled = one(fitted, tmp_path, compiler, "-O0")
    rows = Rows({"town": [*towns[::999].tolist(), "elsewhere", None]})
    check(compiled, fitted, rows)


def test_levels_are_found_by_their_bytes(tmp_path: Path, compiler: str) -> None:
    levels = ["", "a", "a\0b", "a\0", "??/", "\\", '"', "$p ${p}", "é", "e\u0301", "x" * 5000, "\n"]
    column = np.array(levels * 2, dtype=object)
    classes = np.array(["??=", "$$", '"\\', "\n", "ü", "z" * 4200] * 4, dtype=object)
    X = {"*/ ??/ \\": column, "n": np.arange(24) % 3}
    fitted = TreeClassifier(categorical_features="from_dtype").fit(X, classes)
    compiled = one(fitted, tmp_path, compiler)
    assert compiled.column_names == list(X)
    assert compiled.class_labels == fitted.classes_.tolist()
    known = fitted.tree_.schema.attributes[0].categories
    for level in levels:
        data = level.encode()
        assert compiled.code(0, data, len(data)) == 1 + known.index(level)
        assert compiled.code(0, data + b"!", len(data) + 1) == -1
        assert compiled.code(1, data, len(data)) == compiled.code(2, data, len(data)) == -1
        assert compiled.code(-1, data, len(data)) == -1
    for number in (0.0, 1.0, math.inf):
        assert compiled.code_of_number(0, number) == -1
    assert math.isnan(compiled.code_of_number(0, math.nan))


def test_numbers_as_levels(tmp_path: Path, compiler: str) -> None:
    fitted = model("numbers as levels: gini")
    compiled = one(fitted, tmp_path, compiler)
    for place, attribute in enumerate(fitted.tree_.schema.attributes[:3]):
        for code, level in enumerate(attribute.categories, start=1):
            assert compiled.code_of_number(place, float(level)) == code
        for number in (0.3, -math.inf, math.inf, 1e18):
            assert compiled.code_of_number(place, number) == -1
    assert compiled.code_of_number(0, -0.0) == compiled.code_of_number(0, 0.0) > 0
    assert compiled.code_of_number(3, 1.0) == compiled.code_of_number(99, 1.0) == -1


@pytest.mark.parametrize(
    ("unknown", "expected"), [("missing", math.nan), ("majority", "unseen"), ("error", None)]
)
def test_codes_that_are_none(unknown: str, expected: Any, tmp_path: Path, compiler: str) -> None:
    """Whatever stands in a categorical column: it is one of the codes, or a level that was not seen."""
    X = {"x": np.array(["a", "b", "c", "b"] * 5, dtype=object)}
    fitted = TreeClassifier(unknown=unknown, categorical_split="multiway").fit(X, [0, 1, 2, 1] * 5)
    compiled = one(fitted, tmp_path, compiler)
    wrong = [0.0, -1.0, 4.0, 1.5, 1e300, -1e300, math.inf, -math.inf, 2.0**32 + 1, 5e-324]
    classes, proba, _ = compiled.run(np.array(wrong)[:, np.newaxis])
    if expected is None:
        assert classes == [-1] * len(wrong)
        assert np.isnan(proba).all()
        return
    cell = None if expected != "unseen" else expected
    row = {"x": np.array([cell], dtype=object)}
    assert classes == fitted.predict(row).tolist() * len(wrong)
    assert np.array_equal(proba, np.repeat(fitted.predict_proba(row), len(wrong), axis=0))


def test_bad_options() -> None:
    fitted = model("iris: gini")
    for prefix in ("", "1tree", "my tree", "a-b", "é", "_x", None, 5):
        with pytest.raises(ValueError, match=r"prefix must consist of letters"):
            fitted.export("c", prefix=prefix)
    assert "double int_code(" in fitted.export("c", prefix="int")


def test_whole_numbers_that_no_double_holds() -> None:
    X = {"x": np.array([2**60 + 1, 5] * 3)}
    fitted = TreeClassifier(categorical_features=["x"]).fit(X, [0, 1] * 3)
    for format in ("c", "onnx", "pmml"):
        with pytest.raises(
            ValueError, match=r"'x' has the category 1152921504606846977, .*\"python\""
        ):
            fitted.export(format)


def test_the_example_of_the_documentation(tmp_path: Path, compiler: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "exports-interchange.md"
    (example,) = re.findall(r"^```c$(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    X = {"age": [19.0, 40.0, 19.0, 40.0], "team": ["red", "red", "blue", "blue"]}
    for y in (["a", "b", "c", "d"], ["x", "x", "x", "x"]):
        fitted = TreeClassifier().fit(X, y)
        fitted.export("c", tmp_path / "tree.c", prefix="churn")
        (tmp_path / "main.c").write_text(example)
        program = tmp_path / "main"
        subprocess.run([compiler, *FLAGS, str(tmp_path / "main.c"), "-o", str(program)], check=True)
        done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
        given = {"age": [29.5], "team": ["red"]}
        assert done.stdout.strip() == fitted.predict(given)[0]
