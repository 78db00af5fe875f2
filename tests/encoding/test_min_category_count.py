# SPDX-License-Identifier: BSD-3-Clause
"""Categories of few rows that count as one: the tree is that of a table where they were made one by hand.

What exporters make of them is tested with all other models of theirs, see `FEW` in exporting.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reading import without_marks

import fasttree
from fasttree import (
    BayesTreeClassifier,
    C45Classifier,
    CARTClassifier,
    Columns,
    ID3Classifier,
    MMLClassifier,
    RuleClassifier,
    SMMLClassifier,
    TreeClassifier,
)
from fasttree.batch import score_files

LEAST = 9
N = 500


def table(seed: int = 0, n: int = N) -> tuple[dict[str, Any], np.ndarray]:
    """Towns of which a few are frequent; names come before "other" in the order of letters."""
    rng = np.random.default_rng(seed)
    towns = np.array([f"k{i:02d}" for i in range(60)], dtype=object)
    share = 1 / np.arange(1, 61)
    code = rng.choice(60, n, p=share / share.sum())
    town = towns[code]
    x = rng.normal(size=n).round(2)
    y = np.where((code < 4) ^ (x > 0.3) ^ (rng.random(n) < 0.15), "yes", "no")
    x[rng.random(n) < 0.1] = np.nan
    town[rng.random(n) < 0.1] = None
    return {"town": town, "x": x, "z": rng.normal(size=n).round(1)}, y


def few_of(town: np.ndarray, weight: Any = None, least: float = LEAST) -> set[str]:
    """The towns that have less weight, counted one row after another."""
    total: dict[str, float] = {}
    for row, name in enumerate(town):
        if name is not None:
            total[name] = total.get(name, 0.0) + (1.0 if weight is None else float(weight[row]))
    return {name for name, count in total.items() if count < least}


def by_hand(town: np.ndarray, few: set[str], known: set[str] | None = None) -> np.ndarray:
    """`known`: towns of training; any other is one of few rows, too."""
    return np.array(
        [
            "other" if t in few or (known is not None and t is not None and t not in known) else t
            for t in town
        ],
        dtype=object,
    )


MODELS: list[Any] = [
    TreeClassifier(),
    TreeClassifier(categorical_split="multiway", missing="fractional"),
    TreeClassifier(categorical_split="grouped", criterion="entropy"),
    TreeClassifier(missing="category", max_leaves=9),
    TreeClassifier(criterion="ami"),
    TreeClassifier(class_weight="balanced"),
    ID3Classifier(),
    C45Classifier(),
    CARTClassifier(pruning=None),
    SMMLClassifier(),
    MMLClassifier(),
    BayesTreeClassifier(),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_as_if_they_had_been_one_in_the_table(model: Any) -> None:
    X, y = table()
    few = few_of(X["town"])
    assert 30 < len(few) < 59
    fitted = type(model)(**model.get_params()).set_params(min_category_count=LEAST).fit(X, y)
    plain = type(model)(**model.get_params()).fit(X | {"town": by_hand(X["town"], few)}, y)
    assert fitted.tree_.fingerprint() == plain.tree_.fingerprint()
    text, other = fitted.to_text(), plain.to_text()
    assert text.split("\n\n")[0] == other.split("\n\n")[0]
    assert text.startswith(other)
    note = text.removeprefix(other).strip()
    asks = "town = " in text or "town is" in text
    assert note.startswith("town = other: any category except {k00, k01, ") == asks
    new, _ = table(seed=1)
    new["town"][:40] = [f"never seen {i}" for i in range(40)]
    known = set(X["town"].tolist()) - few
    asked = new | {"town": by_hand(new["town"], few, known)}
    assert np.array_equal(fitted.predict_proba(new), plain.predict_proba(asked))
    assert np.array_equal(fitted.apply(new), plain.apply(asked))


def test_one_is_the_textbook() -> None:
    X, y = table()
    for model in (TreeClassifier, C45Classifier, RuleClassifier):
        fitted = model().fit(X, y)
        assert all(a.others is None for a in fitted.tree_.schema.attributes)
    one = TreeClassifier(min_category_count=1).fit(X, y)
    assert one.tree_.fingerprint() == TreeClassifier().fit(X, y).tree_.fingerprint()


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_rows(seed: int) -> None:
    X, y = table(seed)
    weight = np.random.default_rng(seed).integers(0, 4, N)
    copies = {name: np.repeat(column, weight) for name, column in X.items()}
    model = TreeClassifier(min_category_count=12)
    fitted = model.fit(X, y, sample_weight=weight).tree_
    assert fitted == TreeClassifier(min_category_count=12).fit(copies, np.repeat(y, weight)).tree_
    assert set(fitted.schema.attributes[0].others) == few_of(X["town"], weight, 12) - few_of(
        X["town"], weight, 1e-9
    )


def test_class_weights_do_not_count() -> None:
    X, y = table()
    for parameters in (
        {"class_weight": {"yes": 100.0}},
        {"misclassification_cost": [[0, 7], [1, 0]]},
    ):
        model = TreeClassifier(min_category_count=LEAST, **parameters).fit(X, y)
        assert set(model.tree_.schema.attributes[0].others) == few_of(X["town"])


def test_a_table_that_was_encoded_once() -> None:
    X, y = table()
    columns = Columns(X, y)
    for least in (1, 5, LEAST, 40):
        for model in (TreeClassifier, C45Classifier, CARTClassifier, MMLClassifier):
            direct = model(min_category_count=least).fit(X, y)
            shared = model(min_category_count=least).fit(columns)
            assert shared.tree_ == direct.tree_
    assert np.array_equal(Columns(X, y).encoded.codes_of(0), columns.encoded.codes_of(0))


@pytest.mark.parametrize("least", [2, 3])
def test_more_categories_than_a_byte_has(least: int) -> None:
    """Before, and after the few have become one, or after only."""
    rng = np.random.default_rng(3)
    n = 3000
    town = np.array([f"k{i:04d}" for i in rng.integers(0, 900, n)], dtype=object)
    y = np.array([int(t[1:]) % 3 for t in town]) ^ (rng.random(n) < 0.1)
    X = {"town": town, "x": rng.normal(size=n)}
    few = few_of(town, least=least)
    columns = Columns(X, y)
    plain = {**X, "town": by_hand(town, few)}
    for split in ("subset", "multiway"):
        one = TreeClassifier(min_category_count=least, categorical_split=split)
        expected = TreeClassifier(categorical_split=split).fit(plain, y).tree_.fingerprint()
        assert one.fit(X, y).tree_.fingerprint() == expected
        assert one.fit(columns).tree_.fingerprint() == expected
        weight = np.ones(n, dtype=int)
        assert one.fit(columns, sample_weight=weight).tree_.fingerprint() == expected


def test_each_fold_counts_its_own_rows() -> None:
    """The trees of folds are those of fits on these rows alone, and rows that were left out are read as new ones."""
    X, y = table()
    fold = np.arange(N) % 5
    model = TreeClassifier(min_category_count=LEAST, min_samples_leaf=4)
    found = fasttree.select_depth(X, y, estimator=model, folds=fold)
    errors = np.zeros(len(found.errors))
    few = set()
    for one in range(5):
        train, test = fold != one, fold == one
        some = {name: column[train] for name, column in X.items()}
        rest = {name: column[test] for name, column in X.items()}
        few.add(frozenset(few_of(some["town"])))
        deepest = None
        for depth in range(len(errors)):
            tree = TreeClassifier(min_category_count=LEAST, min_samples_leaf=4, max_depth=depth)
            deepest = tree.fit(some, y[train])
            errors[depth] += np.sum(deepest.predict(rest) != y[test])
    assert len(few) == 5
    assert found.errors.tolist() == errors.tolist()


@pytest.mark.parametrize("pruning", ["cost_complexity", "cross_validated", "reduced_error"])
def test_pruning_by_rows_that_were_left_out(pruning: str) -> None:
    """What was held out is read by the tree that did not see it; the same from a table that was encoded once."""
    X, y = table()
    model = TreeClassifier(min_category_count=LEAST, pruning=pruning)
    fitted = model.fit(X, y)
    assert (
        1
        < fitted.get_n_leaves()
        < TreeClassifier(min_category_count=LEAST).fit(X, y).get_n_leaves()
    )
    assert TreeClassifier(**model.get_params()).fit(Columns(X, y)).tree_ == fitted.tree_
    if pruning == "reduced_error":
        new, labels = table(seed=5)
        new["town"][:50] = "never seen"
        given = TreeClassifier(**model.get_params()).fit(X, y, X_val=new, y_val=labels)
        grown = TreeClassifier(min_category_count=LEAST).fit(X, y)
        assert given.tree_ == grown.prune(pruning, X_val=new, y_val=labels).tree_
    else:
        grown = TreeClassifier(min_category_count=LEAST).fit(X, y)
        assert grown.prune(pruning, X, y).tree_ == fitted.tree_


def test_raising_sends_the_rows_down_again() -> None:
    X, y = table()
    few = few_of(X["town"])
    plain = C45Classifier().fit(X | {"town": by_hand(X["town"], few)}, y)
    assert plain.pruning_trace_ is not None
    fitted = C45Classifier(min_category_count=LEAST, pruning=None).fit(X, y)
    assert fitted.prune("error_based", X, y).to_text().startswith(plain.to_text())


# -- what else becomes of them ----------------------------------------------------------------------


def test_a_category_that_is_called_so() -> None:
    town = np.array(["other"] * 30 + ["other (2)"] * 30 + ["a"] * 2 + ["b"] * 3, dtype=object)
    y = np.array([0] * 30 + [1] * 30 + [2] * 5)
    model = TreeClassifier(min_category_count=4, categorical_split="multiway").fit(
        {"town": town}, y
    )
    assert model.to_text().splitlines() == [
        "town = other (or missing): 0 (30)",
        "town = other (2): 1 (30)",
        "town = other (3): 2 (5)",
        "",
        '"(or missing)": no values were missing there in training.',
        "town = other (3): any category except {other, other (2)} (2 in training, each with too few rows).",
    ]
    asked = np.array(["other", "other (2)", "other (3)", "a", "new", None], dtype=object)
    assert model.predict({"town": asked})[:5].tolist() == [0, 1, 2, 2, 2]
    exact = TreeClassifier(min_category_count=4, unknown="error").fit({"town": town}, y)
    with pytest.raises(ValueError, match=r"'other \(3\)'.*was not seen at fit"):
        exact.predict({"town": asked[2:3]})
    rules = model.rules()
    row = {"town": "other (3)"}
    assert [rule.label for rule in rules if rule.holds(row)] == [2]
    assert [r.label for r in exact.rules() if r.holds(row)] == []


@pytest.mark.parametrize("unknown", ["missing", "majority", "error"])
@pytest.mark.parametrize(
    "base", [TreeClassifier(), CARTClassifier(pruning=None), C45Classifier()], ids=repr
)
def test_rules_hold_for_the_rows_that_they_decide(unknown: str, base: Any) -> None:
    X, y = table()
    base = type(base)(**base.get_params()).set_params(min_category_count=LEAST, unknown=unknown)
    model = RuleClassifier(base=base).fit(X, y)
    new, _ = table(seed=1)
    if unknown != "error":
        new["town"][:40] = "never seen"
    else:
        new["town"] = np.where(pandas.isna(new["town"]), None, X["town"])
    few = few_of(X["town"])
    known = set(X["town"].tolist()) - few if unknown == "missing" else None
    plain = RuleClassifier(base=type(base)(**base.get_params()).set_params(min_category_count=1))
    plain.fit(X | {"town": by_hand(X["town"], few)}, y)
    expected = plain.predict(new | {"town": by_hand(new["town"], few, known)})
    assert model.predict(new).tolist() == expected.tolist()
    module: dict[str, Any] = {}
    exec(model.rules_.to_python(), module)
    rows = [dict(zip(new, row, strict=True)) for row in zip(*new.values(), strict=True)]
    assert [module["classify"](row) for row in rows] == expected.tolist()
    by_rules = [
        next((rule.label for rule in model.rules_ if rule.holds(row)), model.rules_.default_class)
        for row in rows
    ]
    assert by_rules == expected.tolist()
    asked = {condition.attribute for rule in model.rules_ for condition in rule.conditions}
    others = model.tree_.schema.attributes[0].others
    for text in (model.to_text(), model.rules_.to_markdown()):
        assert ("town = other: " in text) == ("town" in asked)
        if "town" in asked and unknown != "missing":  # these can be listed
            assert f"{{{', '.join(others)}}}" in text
    document = json.loads(model.rules_.to_json())
    assert document["others"]["town"]["levels"] == list(others)


def test_every_container_and_batches(tmp_path: Path) -> None:
    X, y = table()
    model = TreeClassifier(min_category_count=LEAST).fit(X, y)
    new, _ = table(seed=1)
    new["town"][:40] = "never seen"
    expected = model.predict_proba(new)
    frame = pandas.DataFrame(new)
    arrow = pa.Table.from_pandas(frame)
    for container in (
        frame,
        frame.astype({"town": "category"}),
        polars.from_arrow(arrow),
        arrow,
        arrow.set_column(0, "town", arrow["town"].dictionary_encode()),
    ):
        assert np.array_equal(model.predict_proba(container), expected)
    pq.write_table(arrow, tmp_path / "new.parquet")
    frame.to_csv(tmp_path / "new.csv", index=False)
    for name in ("new.parquet", "new.csv"):
        out = tmp_path / "out.parquet"
        report = score_files(model, [tmp_path / name], out, force=True, proba=True)
        scored = pq.read_table(out)
        found = np.column_stack([scored[c] for c in scored.column_names if c.startswith("proba")])
        assert np.array_equal(found, expected)
        unseen = [town is not None and town not in X["town"] for town in new["town"]]
        assert report.columns["town"].unseen == sum(unseen) >= 40


def test_what_stays() -> None:
    """Categories with an order, bools, numbers, and columns without any category of few rows."""
    rng = np.random.default_rng(0)
    n = 200
    X = {
        "grade": fasttree.Categorical(
            rng.choice(["low", "mid", "top"], n, p=[0.5, 0.49, 0.01]),
            ["low", "mid", "top"],
            ordered=True,
        ),
        "flag": np.arange(n) < 2,
        "number": rng.integers(0, 150, n),
        "often": rng.choice(np.array(["a", "b"], dtype=object), n),
    }
    y = rng.integers(0, 2, n)
    model = TreeClassifier(min_category_count=20).fit(X, y)
    assert [a.others for a in model.tree_.schema.attributes] == [None] * 4
    assert model.tree_ == TreeClassifier().fit(X, y).tree_


def test_declared_levels_and_numbers_of_categories() -> None:
    codes = np.array([3] * 30 + [7] * 30 + [11, 12, 13] * 3)
    y = np.array([0] * 30 + [1] * 30 + [2] * 9)
    for features in (["code"], {"code": [13, 12, 11, 7, 3, 99]}):
        model = ID3Classifier(min_category_count=5, categorical_features=features)
        model.fit({"code": codes}, y)
        assert model.predict({"code": [3, 7, 11, 12, 13, 99, 5]}).tolist() == [0, 1, 2, 2, 2, 2, 2]
        others = {11, 12, 13} | ({99} if isinstance(features, dict) else set())
        assert set(model.tree_.schema.attributes[0].others) == others
        with pytest.raises(ValueError, match="was categorical at fit, with values such as"):
            model.predict({"code": np.array(["a"], dtype=object)})


def test_all_categories_of_few_rows_are_one() -> None:
    X = {"id": np.array([f"n{i}" for i in range(40)], dtype=object), "x": np.arange(40.0)}
    model = TreeClassifier(min_category_count=2).fit(X, np.arange(40) > 17)
    assert without_marks(model.to_text()) == "x <= 17.5: False (18)\nx > 17.5: True (22)"
    assert model.tree_.schema.attributes[0].categories == ("other",)
    assert model.predict({"id": ["new"], "x": [30.0]}).tolist() == [True]


@pytest.mark.parametrize("value", [0, 0.5, -1, float("nan"), float("inf"), "3", None, True])
def test_illegal_values(value: Any) -> None:
    X, y = table(n=60)
    for model in (TreeClassifier, C45Classifier, MMLClassifier):
        with pytest.raises(
            ValueError, match=r"min_category_count must be a finite number >= 1, got"
        ):
            model(min_category_count=value).fit(X, y)


def test_a_town_too_many() -> None:
    """A column of many values hides all others from C4.5 and CART, until its categories of few rows are one."""
    rng = np.random.default_rng(0)
    n = 1000
    x = rng.normal(size=(n, 3))
    y = (x[:, 0] + x[:, 1] + rng.normal(scale=0.5, size=n) > 0) * 1
    X = {f"x{i}": x[:, i] for i in range(3)}
    X["town"] = np.array([f"town {i}" for i in rng.integers(0, 300, n)], dtype=object)
    without = {name: column for name, column in X.items() if name != "town"}
    assert C45Classifier().fit(X, y).get_n_leaves() <= 2
    fitted = C45Classifier(min_category_count=20).fit(X, y)
    assert fitted.get_n_leaves() == C45Classifier().fit(without, y).get_n_leaves() > 3
    fitted = CARTClassifier(min_category_count=20).fit(X, y)
    assert 3 not in fitted.tree_.attribute
    assert fitted.get_n_leaves() > CARTClassifier().fit(X, y).get_n_leaves()
