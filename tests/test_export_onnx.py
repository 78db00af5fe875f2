# SPDX-License-Identifier: BSD-3-Clause
"""The export as ONNX, run in onnxruntime."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from exporting import METHODS, Rows, answers, hostile_rows, model
from exporting_tables import TABLES

import fasttree
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
            with pytest.raises(Exception, match="rows with missing values .* are refused"):
                running.run([output], feed(running, fitted, rows.take([i])))
    return running


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("table", TABLES)
def test_the_same_answers(table: str, method: str) -> None:
    fitted = model(f"{table}: {method}")
    check(fitted, hostile_rows(fitted))
