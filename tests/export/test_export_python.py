# SPDX-License-Identifier: BSD-3-Clause
"""Trees as Python source: the module is run beside the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from exporting import MODELS, answers, hostile_rows, model

import fasttree


def run(source: Any) -> dict[str, Any]:
    module: dict[str, Any] = {}
    exec(compile(source, "exported.py", "exec"), module)
    return module


@pytest.mark.parametrize("identity", MODELS)
def test_the_module_says_what_the_model_says(identity: str) -> None:
    fitted = model(identity)
    rows = hostile_rows(fitted)
    said, module = answers(fitted, rows), run(fitted.export("python"))
    as_dicts = rows.dicts()
    for row, refused in zip(as_dicts, said.refused, strict=True):
        if refused:
            with pytest.raises(
                ValueError, match=r"which the model rejects|which was not seen in training"
            ):
                module["predict"](row)
    accepted = [as_dicts[place] for place in said.accepted]
    assert [module["predict"](row) for row in accepted] == said.classes
    proba = [module["predict_proba"](list(row.values())) for row in accepted]
    assert np.array_equal(proba or np.empty_like(said.proba), said.proba)  # to the bit
    assert [module["leaf"](row) for row in accepted] == said.leaves


def test_classes_keep_their_types() -> None:
    for labels in ([True, False], [1, 2], [-1.0, 5.0], ["1", "True"]):
        fitted = fasttree.TreeClassifier().fit([[0.0], [1.0]], labels)
        said = run(fitted.export("python"))["predict"]([1.0])
        assert said == labels[1]
        assert type(said) is type(labels[1])


def test_large_and_deep_trees_can_be_written() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40_000, 4))
    large = fasttree.TreeClassifier().fit(X, rng.random(len(X)) < 0.5)
    chain = np.arange(5000.0).reshape(-1, 1)
    deep = fasttree.TreeClassifier().fit(chain, np.arange(5000) % 2)
    for fitted, asked in (large, X[:500]), (deep, chain[::100] + 0.25):
        module = run(fitted.export("python"))
        assert [module["leaf"](row) for row in asked.tolist()] == fitted.apply(asked).tolist()


def test_what_is_no_row_is_refused() -> None:
    X = {"x": np.arange(4.0), "word": np.array(["a", "b", "a", "b"], dtype=object)}
    predict = run(fasttree.TreeClassifier().fit(X, [0, 1, 0, 1]).export("python"))["predict"]
    assert predict({"x": np.float32(1), "word": "b", "more": 1}) == 1
    with pytest.raises(KeyError, match="no value for 'word'"):
        predict({"x": 1.0})
    with pytest.raises(ValueError, match="1 values instead of 2"):
        predict([1.0])
    with pytest.raises(TypeError, match="'x' must be a number, got the text '1'"):
        predict(["1", "a"])
    with pytest.raises(TypeError, match="'word' has categories such as 'a', got 1"):
        predict([1.0, 1])
