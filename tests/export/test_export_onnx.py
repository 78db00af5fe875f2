# SPDX-License-Identifier: BSD-3-Clause
"""The export as ONNX, run in onnxruntime."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import numpy as np
import pytest
from exporting import MODELS, Rows, answers, hostile_rows, model

from fasttree import TreeClassifier

onnxruntime = pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")

MISSING = "<no value>"


def session(file: bytes) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def feed(running: Any, fitted: Any, rows: Rows) -> dict[str, np.ndarray]:
    """The rows as the inputs want them."""
    columns = [rows.columns[name] for name in fitted.tree_.schema.names]
    inputs = running.get_inputs()
    if len(inputs) == 1 and inputs[0].shape[1:] == [len(columns)]:
        return {inputs[0].name: np.column_stack([_doubles(column) for column in columns])}
    return {
        given.name: _texts(column) if given.type == "tensor(string)" else _doubles(column)
        for given, column in zip(inputs, columns, strict=True)
    }


def _doubles(column: list[Any]) -> np.ndarray:
    return np.array([math.nan if v is None else v for v in column], dtype=np.float64)


def _texts(column: list[Any]) -> np.ndarray:
    return np.array([MISSING if v is None else v for v in column], dtype=object)


def check(fitted: Any, rows: Rows, **options: Any) -> Any:
    """The same answers, to the last bit; refused is the whole table."""
    running = session(fitted.export("onnx", missing_text=MISSING, **options))
    expected = answers(fitted, rows)
    accepted = rows.take(expected.accepted)
    if len(accepted):
        label, proba = running.run(["label", "probabilities"], feed(running, fitted, accepted))
        assert label.tolist() == expected.classes
        assert np.array_equal(proba, expected.proba)
    for i in np.flatnonzero(expected.refused)[:20]:
        for output in ("label", "probabilities"):
            with pytest.raises(Exception, match=r"rows with missing values .* are refused"):
                running.run([output], feed(running, fitted, rows.take([i])))
    return running


@pytest.mark.parametrize("identity", MODELS)
def test_the_same_answers(identity: str) -> None:
    fitted = model(identity)
    check(fitted, hostile_rows(fitted))


def test_which_way_it_is_written() -> None:
    """A tree of thresholds is an ensemble, at which runtimes are fast; with other tests, or too deep, a loop."""
    x = np.arange(4000.0)[:, np.newaxis]
    stripes = TreeClassifier(criterion="misclassification").fit(x, np.arange(4000) % 2)
    assert stripes.get_depth() > 1500
    for fitted, kind in (
        (TreeClassifier().fit(x, (x[:, 0] > 7) * 1), "TreeEnsembleRegressor"),
        (stripes, "Loop"),
        (model("play_tennis: gini"), "Loop"),
    ):
        file = fitted.export("onnx")
        kinds = [node.op_type for node in onnx.load_from_string(file).graph.node]
        assert len({"TreeEnsembleRegressor", "Loop"} & set(kinds)) == 1
        assert kind in kinds
    running = session(stripes.export("onnx"))
    rows = np.append(x[::200], x[::200] + 0.5, axis=0)
    label, proba = running.run(None, {"X": rows})
    assert np.array_equal(label, stripes.predict(rows))
    assert np.array_equal(proba, stripes.predict_proba(rows))


def test_a_matrix_or_columns() -> None:
    rng = np.random.default_rng(0)
    X = {"label": rng.normal(size=50), "": rng.normal(size=50), "column_1": rng.normal(size=50)}
    fitted = TreeClassifier().fit(X, X["label"] + X[""] > X["column_1"])
    rows = hostile_rows(fitted)
    running = check(fitted, rows, matrix=False)
    assert [given.name for given in running.get_inputs()] == ["column_0", "column_1_", "column_1"]
    assert json.loads(running.get_modelmeta().custom_metadata_map["columns"]) == list(X)
    running = check(fitted, rows, matrix=True)
    assert [given.name for given in running.get_inputs()] == ["X"]
    with pytest.raises(ValueError, match="matrix must be True, False or None, got 'yes'"):
        fitted.export("onnx", matrix="yes")
    with pytest.raises(ValueError, match=r"matrix must be False.*'Outlook' is categorical"):
        model("play_tennis: gini").export("onnx", matrix=True)


def test_the_text_of_missing_values() -> None:
    X = {"x": np.array(["", "a", "b"] * 4, dtype=object)}
    fitted = TreeClassifier().fit(X, [0, 1, 2] * 4)
    with pytest.raises(ValueError, match="'' is a category of the column 'x': pass another"):
        fitted.export("onnx")
    with pytest.raises(TypeError, match="missing_text must be a string, got None"):
        fitted.export("onnx", missing_text=None)
    check(fitted, hostile_rows(fitted))


@pytest.mark.parametrize(
    "classes",
    [["a", "b"], [False, True], [2**40, -3], [2.0, -1.0], ["it's", "\u2603 \x01"]],
    ids=str,
)
def test_types_of_classes(classes: list[Any]) -> None:
    fitted = TreeClassifier().fit([[0.0], [1.0]] * 3, classes * 3)
    label, _ = session(fitted.export("onnx")).run(None, {"X": np.array([[0.0], [1.0]])})
    assert label.tolist() == classes
    assert type(label.tolist()[0]) is type(classes[0])


@pytest.mark.parametrize("classes", [["a", "b\0c"], np.array([1, 2**63], dtype=np.uint64)])
def test_classes_that_no_tensor_holds(classes: Any) -> None:
    fitted = TreeClassifier().fit([[0.0], [1.0]] * 3, np.array([*classes] * 3, dtype=object))
    with pytest.raises(ValueError, match=r"convert them to text.*, or use format=\"python\""):
        fitted.export("onnx")


def test_levels_that_no_runtime_reads() -> None:
    fitted = TreeClassifier().fit({"word": ["a\0", "a", "b", "b"]}, [0, 1, 1, 1])
    with pytest.raises(
        ValueError, match=r"column 'word' has the category 'a\\x00'.*format=\"python\""
    ):
        fitted.export("onnx")


def test_levels_of_two_kinds() -> None:
    X = {"x": np.array(["a", "b"] * 3, dtype=object)}
    fitted = TreeClassifier(categorical_features={"x": ["a", "b", 3]}).fit(X, [0, 1] * 3)
    for format, name in (("onnx", "ONNX"), ("pmml", "PMML")):
        with pytest.raises(
            ValueError, match=f"column 'x' has text categories, .*'a'.* 3, but a column in {name}"
        ):
            fitted.export(format)


def test_no_rows_and_one_row() -> None:
    for identity in ("iris: gini", "play_tennis: id3", "holes: c45", "holes: cart"):
        fitted = model(identity)
        running = session(fitted.export("onnx"))
        rows = hostile_rows(fitted)
        for places in ([], [0]):
            label, proba = running.run(None, feed(running, fitted, rows.take(places)))
            assert label.shape == (len(places),)
            assert proba.shape == (len(places), len(fitted.classes_))


def test_the_package_onnx_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'fasttree\[onnx\]'"):
        model("iris: gini").export("onnx")


@pytest.mark.parametrize("identity", ["wicked: cart", "holes: c45", "stagec: gini"])
def test_the_file_is_the_same_every_time(identity: str) -> None:
    fitted = model(identity)
    made = {fitted.export("onnx", missing_text=MISSING) for _ in range(2)}
    assert len(made) == 1
    onnx.checker.check_model(made.pop(), full_check=True)
