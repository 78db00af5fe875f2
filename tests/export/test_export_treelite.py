# SPDX-License-Identifier: BSD-3-Clause
"""The export as a checkpoint of treelite, run by its own reference implementation."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest
from exporting import MODELS, Rows, answers, hostile_rows, model

from fasttree import TreeClassifier

treelite = pytest.importorskip("treelite")


def encode(attributes: dict[str, Any], fitted: Any, rows: Rows) -> np.ndarray:
    """As the attributes of the file say it: levels by their places."""
    columns = []
    n_columns = len(attributes["columns"])
    for name, levels, others, known in zip(
        attributes["columns"],
        attributes["levels"],
        attributes.get("others", [None] * n_columns),
        fitted.tree_.schema.attributes,
        strict=True,
    ):
        values = rows.columns[name]
        if known.is_categorical:
            unseen = math.nan if attributes["unseen_is_missing"] else len(levels)
            own = levels if others is None else levels[:-1]
            places = {level: place for place, level in enumerate(own)}
            places |= {level: len(own) for level in others or ()}
            if others is not None and fitted.unknown == "missing":
                unseen = len(own)
            values = [None if v is None else places.get(v, unseen) for v in values]
        columns.append([math.nan if v is None else v for v in values])
    return np.array(columns, dtype=np.float64).T.copy()


@pytest.mark.parametrize("identity", MODELS)
def test_the_same_answers(identity: str) -> None:
    fitted = model(identity)
    tree = fitted.tree_
    if tree.shares_rows or len(tree.surrogate_attribute):
        with pytest.raises(
            ValueError, match=r"which treelite does not support: use format=\"onnx\""
        ):
            fitted.export("treelite")
        return
    loaded = treelite.Model.deserialize_bytes(fitted.export("treelite"))
    attributes = loaded.attributes
    rows = hostile_rows(fitted)
    expected = answers(fitted, rows)
    data = encode(attributes, fitted, rows)
    proba = treelite.gtil.predict(loaded, data, nthread=1)[:, 0]
    nodes = treelite.gtil.predict_leaf(loaded, data, nthread=1).ravel().astype(int)
    classes = np.array(attributes["class_of_node"])[nodes]
    assert attributes["classes"] == fitted.classes_.tolist()
    assert np.array_equal(proba[expected.accepted], expected.proba)
    assert [attributes["classes"][c] for c in classes[expected.accepted]] == expected.classes
    if expected.refused.any():
        assert set(classes[expected.refused]) == {-1}
        assert np.isnan(proba[expected.refused]).all()


def test_many_branches() -> None:
    """A split into a thousand branches becomes a small tree, not a chain."""
    towns = np.array([f"town {i}" for i in range(1000)], dtype=object)
    for unknown in ("missing", "majority", "error"):
        fitted = TreeClassifier(
            categorical_split="multiway", unknown=unknown, categorical_features=["town"]
        ).fit({"town": towns}, np.arange(1000) % 7)
        loaded = treelite.Model.deserialize_bytes(fitted.export("treelite"))
        assert loaded.get_tree_depth().tolist() in ([10], [11])
        rows = Rows({"town": [*towns.tolist(), None, "elsewhere"]})
        expected = answers(fitted, rows)
        proba = treelite.gtil.predict(loaded, encode(loaded.attributes, fitted, rows))[:, 0]
        assert np.array_equal(proba[expected.accepted], expected.proba)


def test_a_deep_tree() -> None:
    x = np.arange(3000.0)[:, np.newaxis]
    fitted = TreeClassifier(criterion="misclassification").fit(x, np.arange(3000) % 2)
    loaded = treelite.Model.deserialize_bytes(fitted.export("treelite"))
    assert fitted.get_depth() > 2500
    assert np.array_equal(treelite.gtil.predict(loaded, x)[:, 0], fitted.predict_proba(x))


def test_what_treelite_cannot_say() -> None:
    for identity, why in (
        ("holes: c45", r"fractionally over branches, .*\"onnx\" or \"c\""),
        ("stagec: cart", r"rows with a missing value by surrogates.*\"onnx\", \"c\" or \"pmml\""),
    ):
        with pytest.raises(ValueError, match=why):
            model(identity).export("treelite")


def test_the_package_treelite_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "treelite", None)
    with pytest.raises(ImportError, match=r"pip install 'fasttree\[treelite\]'"):
        model("iris: gini").export("treelite")
