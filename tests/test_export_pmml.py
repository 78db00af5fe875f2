# SPDX-License-Identifier: BSD-3-Clause
"""The export as PMML, by an evaluator of our own and, where it is installed, by jpmml_evaluator in Java."""

from __future__ import annotations

import shutil
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from exporting import METHODS, Rows, answers, hostile_rows, model
from exporting_tables import TABLES, Given
from pmml_evaluator import Evaluator, InvalidRow

WICKED_XML = "wicked in XML"
MODELS = [
    (table, method) for table in [*TABLES, WICKED_XML] for method in METHODS if table != "wicked"
]


def without_control_characters() -> Given:
    """XML has none."""
    X, y, parameters = TABLES["wicked"]()
    clean = {
        name: np.array([v and v.replace("\x01", "") for v in column], dtype=object)
        if column.dtype == object
        else column
        for name, column in X.items()
    }
    return clean, y, parameters


@cache
def exported(table: str, method: str) -> tuple[Any, str, bool]:
    """A model and its export; if the model shares rows out, that for complete rows, and True."""
    with patch.dict(TABLES, {WICKED_XML: without_control_characters}):
        fitted = model(f"{table}: {method}")
    shares = fitted.tree_.shares_rows
    if shares:
        with pytest.raises(ValueError, match=r'format="onnx", "c" or "python"; or pass complete'):
            fitted.export("pmml")
    return fitted, fitted.export("pmml", complete=shares), shares


def expected_answers(fitted: Any, rows: Rows, only_complete: bool) -> Any:
    """What the model says, and which rows are refused."""
    if not only_complete:
        return answers(fitted, rows)
    unknown = "error" if fitted.unknown == "missing" else fitted.unknown
    kept = fitted.get_params()
    try:
        return answers(fitted.set_params(missing="error", unknown=unknown), rows)
    finally:
        fitted.set_params(**kept)


@pytest.mark.parametrize(("table", "method"), MODELS)
def test_the_same_answers(table: str, method: str) -> None:
    fitted, text, only_complete = exported(table, method)
    rows = hostile_rows(fitted)
    expected = expected_answers(fitted, rows, only_complete)
    evaluator = Evaluator(text)
    names = [name for name in evaluator.kinds if name != evaluator.target]
    labels = [evaluator.outputs[text_of(label)] for label in fitted.classes_.tolist()]
    found = iter(range(len(expected.classes)))
    for place, row in enumerate(rows.dicts()):
        given = {
            name: None if v is None or v != v else v
            for name, v in zip(names, row.values(), strict=True)
        }
        if expected.refused[place]:
            with pytest.raises(InvalidRow):
                evaluator.evaluate(given)
            continue
        at = next(found)
        label, shares = evaluator.evaluate(given)
        by_output = {evaluator.outputs[name]: share for name, share in shares.items()}
        assert label == expected.classes[at]
        assert [by_output[name] for name in labels] == expected.proba[at].tolist()


def text_of(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


@pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java")
@pytest.mark.parametrize(("table", "method"), MODELS)
def test_the_same_answers_in_java(table: str, method: str) -> None:
    jpmml = pytest.importorskip("jpmml_evaluator")
    pandas = pytest.importorskip("pandas")
    fitted, text, only_complete = exported(table, method)
    rows = hostile_rows(fitted)
    expected = expected_answers(fitted, rows, only_complete)
    evaluator = jpmml.make_evaluator(text)
    evaluator.verify()
    ours = Evaluator(text)
    given = pandas.DataFrame(
        {
            name: pandas.Series([None if v is None or v != v else v for v in values], dtype=object)
            for name, values in zip(ours.kinds, rows.columns.values(), strict=False)
        }
    )
    found = evaluator.evaluateAll(given)
    outputs = [ours.outputs[text_of(label)] for label in fitted.classes_.tolist()]
    errors = found.get("errors", pandas.Series([None] * len(rows)))
    refused = np.array([error is not None and error == error for error in errors.tolist()])
    # It looks only at the fields that are asked for on the way of a row.
    assert not (refused & ~expected.refused).any()
    if only_complete:
        expected = answers(fitted, rows)
    answered = ~refused & ~expected.refused
    kept, places = found[answered], np.flatnonzero(answered[~expected.refused])
    assert kept[ours.target].tolist() == [expected.classes[place] for place in places]
    if len(kept):
        shares = kept[outputs].to_numpy(dtype=np.float64)  # it divides them by their sum
        assert np.abs(shares - expected.proba[places]).max() <= 1e-15
