# SPDX-License-Identifier: BSD-3-Clause
"""Very many levels are packed while a tree grows: nobody sees it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fasttree
from fasttree import packed
from fasttree.packed import PackedTexts


@given(st.lists(st.text(max_size=9), max_size=40), st.integers(1, 9))
def test_a_packed_list_reads_like_a_tuple(texts: list[str], block: int) -> None:
    expected = tuple(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "MANY", block)
        found = PackedTexts(texts)
        assert len(found) == len(texts)
        assert tuple(found) == expected
        assert [found[place] for place in range(-len(texts), len(texts))] == texts * 2
        assert found[1:-1] == expected[1:-1]
        assert found.unpacked() == expected
        assert found.unpacked() is found.unpacked()
        for outside in (len(texts), -len(texts) - 1):
            with pytest.raises(IndexError):
                found[outside]


def table(n_rows: int = 900) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    draw = np.random.default_rng(3)
    level, kind = draw.integers(120, size=n_rows), draw.integers(4, size=n_rows)
    X = {
        "level": [f"level {code}" if code else None for code in level],
        "kind": [f"kind {code}" for code in kind],
        "number": draw.integers(7, size=n_rows),
        "x": draw.normal(size=n_rows),
    }
    y = np.where(draw.random(n_rows) < 0.6 * draw.random(120)[level] + 0.1 * kind, "yes", "no")
    return X, y, draw.integers(3, size=n_rows)


MODELS: list[Any] = [
    fasttree.TreeClassifier(),
    fasttree.TreeClassifier(categorical_features=["level", "kind", "number"], n_jobs=2),
    fasttree.TreeClassifier(categorical_split="multiway", missing="fractional", max_depth=3),
    fasttree.TreeClassifier(categorical_split="grouped", max_depth=3),
    fasttree.TreeClassifier(missing="surrogate", max_depth=4),
    fasttree.C45Classifier(),
    fasttree.CARTClassifier(class_weight="balanced"),
    fasttree.SMMLClassifier(),
    fasttree.RuleClassifier(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_packing_changes_nothing(
    model: Any, is_weighted: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    X, y, weight = table()
    sample_weight = weight if is_weighted else None
    found = []
    for many in (10**9, 2):
        monkeypatch.setattr(packed, "MANY", many)
        fitted = model.fit(X, y, sample_weight=sample_weight)
        asked = {name: [*values[:50], values[0]] for name, values in X.items()}
        asked["level"] = [*asked["level"][:-1], "never seen"]
        fitted.save(tmp_path / f"{many}.model")
        found.append(
            (fitted.predict_proba(asked).tolist(), (tmp_path / f"{many}.model").read_bytes())
        )
    assert found[0] == found[1]


def test_what_comes_after_growth_sees_tuples(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = table()
    expected = fasttree.TreeClassifier().fit(X, y)
    ranking = fasttree.rank_attributes(X, y)
    compared = fasttree.compare_methods(
        X, y, {"tree": fasttree.TreeClassifier(max_depth=3)}, folds=3
    )
    monkeypatch.setattr(packed, "MANY", 2)
    columns = fasttree.Columns(X, y)
    assert isinstance(columns.encoded.schema.attributes[0].categories, PackedTexts)
    for fitted in (fasttree.TreeClassifier().fit(columns), fasttree.TreeClassifier().fit(X, y)):
        schema = fitted.tree_.schema
        assert schema == expected.tree_.schema
        assert all(type(a.categories) in (tuple, type(None)) for a in schema.attributes)
        assert fitted.tree_.fingerprint() == expected.tree_.fingerprint()
        pruned = fitted.prune("cost_complexity", X, y)
        assert pruned.tree_ == expected.prune("cost_complexity", X, y).tree_
    assert str(fasttree.rank_attributes(columns)) == str(ranking)
    again = fasttree.compare_methods(X, y, {"tree": fasttree.TreeClassifier(max_depth=3)}, folds=3)
    assert again.values("tree").tolist() == compared.values("tree").tolist()
    bad = {**X, "level": [1.0] * len(y)}
    with pytest.raises(
        ValueError, match="'level' was categorical at fit, with labels such as 'level"
    ):
        fitted.predict(bad)
