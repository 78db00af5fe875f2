# SPDX-License-Identifier: BSD-3-Clause
"""The export as PMML, by an evaluator of our own and, where it is installed, by jpmml_evaluator in Java."""

from __future__ import annotations

import shutil
from functools import cache
from importlib.util import find_spec
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from exporting import FEW_ROWS, Rows, answers, hostile_rows, methods_of, model
from exporting_tables import TABLES, Given
from pmml_evaluator import Evaluator, InvalidRow

from fasttree import TreeClassifier

WICKED_XML = "wicked in XML"
MODELS = [
    (table, method)
    for table in [*TABLES, WICKED_XML]
    for method in methods_of("wicked" if table == WICKED_XML else table)
    if table != "wicked"
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
    few_rows = {WICKED_XML: FEW_ROWS["wicked"]}
    with (
        patch.dict(TABLES, {WICKED_XML: without_control_characters}),
        patch.dict(FEW_ROWS, few_rows),
    ):
        fitted = model(f"{table}: {method}")
    shares = fitted.tree_.shares_rows
    if shares:
        with pytest.raises(ValueError, match=r'format="onnx", "c" or "python", or pass complete'):
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


# The licence of this evaluator is not for everybody, so it is used where it is, and is no dependency.
JAVA = MODELS if shutil.which("java") and find_spec("jpmml_evaluator") else []


@pytest.mark.parametrize(("table", "method"), JAVA)
def test_the_same_answers_in_java(table: str, method: str) -> None:
    import jpmml_evaluator as jpmml

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


def parsed(fitted: Any) -> tuple[Any, dict[str, str]]:
    """The evaluator, and the types of its fields."""
    evaluator = Evaluator(fitted.export("pmml"))
    return evaluator, evaluator.kinds


def test_what_xml_cannot_say() -> None:
    words = np.array(["a", "b\x0b"] * 3, dtype=object)
    for X, y in (
        ({"x": words}, [0, 1] * 3),
        ({"n\x00": np.arange(6.0)}, [0, 1] * 3),
        ({"n": np.arange(6.0)}, ["a", "\ufffe"] * 3),
    ):
        fitted = TreeClassifier().fit(X, y)
        with pytest.raises(ValueError, match=r"XML cannot represent: rename it, or use format="):
            fitted.export("pmml")


def test_rows_that_are_shared_out_are_refused() -> None:
    fitted = model("holes: c45")
    with pytest.raises(
        ValueError, match=r"fractionally over branches, and PMML .* pass complete=True"
    ):
        fitted.export("pmml")
    text = fitted.export("pmml", complete=True)
    assert 'missingValueTreatment="returnInvalid"' in text
    assert 'invalidValueTreatment="returnInvalid"' in text


def test_types_of_fields() -> None:
    for kind, labels in (
        ("string", ["a", "b"]),
        ("boolean", [False, True]),
        ("integer", [1, -2]),
        ("double", [2.0, 3e9]),
        ("double", [2**40, 1]),  # evaluators hold 32 bits
    ):
        fitted = TreeClassifier().fit({"x": [0.0, 1.0]}, np.array(labels))
        evaluator, kinds = parsed(fitted)
        assert kinds == {"x": "double", "class": kind}
        assert [evaluator.evaluate({"x": x})[0] for x in (0.0, 1.0)] == labels
    _, kinds = parsed(model("numbers as levels: gini"))
    assert list(kinds.values())[:4] == ["double", "double", "boolean", "double"]


def test_names_that_are_taken() -> None:
    names = ["class", "", "column_1", "probability(a)"]
    fitted = TreeClassifier().fit({name: np.arange(4.0) for name in names}, ["a", "a", "b", "b"])
    evaluator, kinds = parsed(fitted)
    assert list(kinds) == ["class", "column_1_", "column_1", "probability(a)", "class_"]
    assert evaluator.outputs == {"a": "probability(a)_", "b": "probability(b)"}


def test_surrogates_are_those_of_pmml() -> None:
    """As long as they have an answer for every level; else their predicates are written out."""
    for method, written_out in (("cart unpruned", False), ("cart, majority", True)):
        text = model(f"holes: {method}").export("pmml")
        assert 'booleanOperator="surrogate"' in text
        assert ('operator="isMissing"' in text) == written_out


def test_a_deep_tree() -> None:
    x = np.arange(3000.0)
    fitted = TreeClassifier(criterion="misclassification").fit({"x": x}, np.arange(3000) % 2)
    assert fitted.get_depth() > 1000
    evaluator = Evaluator(fitted.export("pmml"))
    rows = np.append(x[::100], x[::100] + 0.5)
    found = [evaluator.evaluate({"x": float(value)})[0] for value in rows]
    assert found == fitted.predict({"x": rows}).tolist()
