# SPDX-License-Identifier: BSD-3-Clause
"""compare_methods, against fits by hand on the rows outside each fold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from child import run_child

from fasttree import (
    C45Classifier,
    CARTClassifier,
    Categorical,
    ID3Classifier,
    RuleClassifier,
    TreeClassifier,
    compare_methods,
    datasets,
)
from fasttree.evaluation.compare import METHODS
from fasttree.evaluation.differences import holm
from fasttree.evaluation.fold_results import take_rows
from fasttree.stats import metrics

ALL = {
    "tree": TreeClassifier(),
    "id3": ID3Classifier(),
    "c45": C45Classifier(),
    "j48": C45Classifier(compat="j48", categorical_split="grouped"),
    "cart": CARTClassifier(),
    "category": TreeClassifier(
        missing="category", unknown="majority", categorical_split="multiway"
    ),
}


def mixed_table(n_rows: int = 240, seed: int = 0) -> tuple[dict[str, Any], np.ndarray]:
    """Text with rare levels, declared levels, numbers with holes; three classes as text."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in rng.zipf(1.6, n_rows).clip(max=60)], dtype=object)
    words[rng.random(n_rows) < 0.1] = None
    sizes = rng.choice(["small", "large"], n_rows)
    number = np.round(rng.normal(size=n_rows), 2)
    number[rng.random(n_rows) < 0.15] = np.nan
    signal = np.nan_to_num(number) + (sizes == "large") + rng.normal(scale=0.5, size=n_rows)
    y = np.array(["a", "b", "c"])[np.digitize(signal, [0.0, 1.2])]
    sizes = Categorical(sizes, categories=["small", "medium", "large"])
    return {"word": words, "size": sizes, "number": number}, y


def as_text(X: dict[str, Any]) -> list[list[str]]:
    """The columns of the mixed table as text, so that holes are equal to each other."""
    sizes = X["size"]
    size = np.array(sizes.categories)[sizes.codes]
    return [[str(value) for value in column] for column in (X["word"], size, X["number"])]


def by_hand(X: Any, y: np.ndarray, model: Any, fold_of_row: np.ndarray, weight: Any = None) -> Any:
    """Per fold: accuracy, area, log loss, leaves and depth of a model that never saw the fold."""
    classes = sorted(set(y.tolist()))
    found = []
    for fold in range(fold_of_row.max() + 1):
        train, test = np.flatnonzero(fold_of_row != fold), np.flatnonzero(fold_of_row == fold)
        w, held = (None, None) if weight is None else (weight[train], weight[test])
        model.fit(take_rows(X, train), y[train], sample_weight=w)
        shares = np.zeros((len(test), len(classes)))
        shares[:, [classes.index(c) for c in model.classes_.tolist()]] = model.predict_proba(
            take_rows(X, test)
        )
        found.append(
            (
                metrics.accuracy(y[test], model.predict(take_rows(X, test)), sample_weight=held),
                metrics.roc_auc(y[test], shares, classes=classes, sample_weight=held),
                metrics.log_loss(y[test], shares, classes=classes, sample_weight=held),
                model.get_n_leaves(),
                model.get_depth(),
            )
        )
    return np.array(found)


MEASURES = ("accuracy", "auc", "log_loss", "leaves", "depth")


def measured(comparison: Any, name: str) -> np.ndarray:
    return np.column_stack([comparison.values(name, measure) for measure in MEASURES])


@pytest.mark.parametrize("name", list(ALL))
def test_a_model_never_sees_its_fold(name: str) -> None:
    X, y = mixed_table()
    comparison = compare_methods(X, y, {name: ALL[name]}, folds=5)
    expected = by_hand(X, y, ALL[name], comparison.folds)
    np.testing.assert_array_equal(measured(comparison, name), expected)


@pytest.mark.parametrize("weights", ["whole", "fractional"])
def test_weights_and_bins(weights: str) -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    weight = rng.integers(0, 4, 300) if weights == "whole" else rng.uniform(0.1, 2, 300)
    comparison = compare_methods(
        X, y, {"t": TreeClassifier()}, folds=4, sample_weight=weight, max_bins=16
    )
    if weights == "whole":  # rows of as many copies, which may be in several folds
        assert ((comparison.folds == -1) == (weight == 0)).all()
        by_fold = np.column_stack([comparison.fold_weights(fold) for fold in range(4)])
        assert (by_fold.sum(axis=1) == weight).all()
        row, fold = np.nonzero(by_fold)
        weight = by_fold[row, fold]
    else:
        row, fold = np.arange(300), comparison.folds
        assert (fold >= 0).all()
    expected = by_hand(X[row], y[row], TreeClassifier(max_bins=16), fold, weight)
    np.testing.assert_allclose(measured(comparison, "t"), expected, rtol=1e-12)


def test_a_class_that_a_fold_alone_has() -> None:
    X, y = mixed_table(120)
    y = y.astype(object)
    y[:3] = "only here"
    folds = np.arange(120) % 4
    folds[:3] = 2
    comparison = compare_methods(X, y, ALL, folds=folds)
    for name, model in ALL.items():
        expected = by_hand(X, y, model, folds)
        np.testing.assert_array_equal(measured(comparison, name), expected)
    lacking = next(r for r in comparison.per_fold if r.fold == 2)
    assert lacking.log_loss > 3 / 33 * 36


def test_repeatable_and_blind_to_the_order_of_rows() -> None:
    X, y = mixed_table()
    first, again = (compare_methods(X, y, folds=6, random_state=3) for _ in range(2))
    assert (first.folds == again.folds).all()
    order = np.random.default_rng(1).permutation(len(y))
    shuffled = compare_methods(take_rows(X, order), y[order], folds=6, random_state=3)
    # Copies may change places: which of them is in which fold makes no difference.
    rows = list(zip(*as_text(X), y.tolist(), strict=True))
    assert sorted(zip(rows, first.folds.tolist(), strict=True)) == sorted(
        zip([rows[row] for row in order], shuffled.folds.tolist(), strict=True)
    )
    for name in METHODS:
        np.testing.assert_array_equal(measured(first, name), measured(again, name))
        np.testing.assert_allclose(measured(first, name), measured(shuffled, name), rtol=1e-12)
    assert (compare_methods(X, y, folds=6).folds != first.folds).any()


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_change_nothing(n_jobs: int) -> None:
    X, y = mixed_table()
    one, more = compare_methods(X, y), compare_methods(X, y, n_jobs=n_jobs)
    for name in METHODS:
        np.testing.assert_array_equal(measured(one, name), measured(more, name))


def test_tables_of_all_libraries() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = mixed_table()
    arrays = {name: np.asarray(column) for name, column in X.items()}
    frame = pandas.DataFrame(arrays)
    rows = [list(row) for row in zip(*arrays.values(), strict=True)]
    expected = measured(compare_methods(arrays, y, ["CART"], folds=3), "CART")
    for table, labels in (
        (frame, pandas.Series(y)),
        (
            polars.DataFrame({k: v.tolist() for k, v in arrays.items()}, nan_to_null=True),
            polars.Series(y),
        ),
        (rows, y.tolist()),
        (polars.from_pandas(frame).to_arrow(), y),
    ):
        for methods in (["CART"], {"CART": CARTClassifier(max_bins=255)}):  # shared, and for itself
            found = compare_methods(table, labels, methods, folds=3)
            np.testing.assert_array_equal(measured(found, "CART"), expected)
    assert isinstance(compare_methods(frame, y).to_frame(), pandas.DataFrame)
    assert isinstance(compare_methods(polars.from_pandas(frame), y).to_frame(), polars.DataFrame)


def test_other_estimators_get_the_rows_as_they_are() -> None:
    pandas = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    X, y = mixed_table()
    frame = pandas.DataFrame({"size": np.asarray(X["size"]), "number": np.nan_to_num(X["number"])})
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["size"]), remainder="passthrough"
    )
    methods = {
        "logit": make_pipeline(encode, LogisticRegression()),
        "sklearn": make_pipeline(encode, DecisionTreeClassifier(random_state=0)),
        "tree": TreeClassifier(),
        "rules": RuleClassifier(),
    }
    weight = np.ones(len(y))
    comparison = compare_methods(frame, y, methods, folds=4, sample_weight=weight)
    plain = compare_methods(frame, y, methods, folds=4)
    folds = comparison.folds
    assert not hasattr(methods["logit"], "n_features_in_")
    for name in methods:
        assert comparison.values(name).tolist() == plain.values(name).tolist()
    for fold in range(4):
        model = make_pipeline(encode, LogisticRegression()).fit(
            frame[folds != fold], y[folds != fold]
        )
        score = model.score(frame[folds == fold], y[folds == fold])
        assert comparison.values("logit")[fold] == pytest.approx(score)
    assert np.isnan(comparison.values("logit", "leaves")).all()
    assert comparison.values("sklearn", "nodes").min() > 2
    line = next(line for line in str(comparison).splitlines() if line.startswith("logit"))
    assert line.split()[-2:] != ["-", "-"]
    assert " - " in line
    assert not hasattr(methods["tree"], "tree_")


def test_declared_order_of_classes_reaches_every_estimator() -> None:
    X = {"x": np.zeros(8)}
    y = Categorical(list("abababab"), categories=["b", "a"])
    # One leaf, a tie: the class that was declared first.
    methods = {"shared": TreeClassifier(), "alone": TreeClassifier(categorical_features=[])}
    comparison = compare_methods(X, y, methods, folds=np.arange(8) // 2)
    labels = np.asarray(y)
    assert comparison.values("shared").tolist() == comparison.values("alone").tolist()
    assert comparison.values("shared").tolist() == [np.mean(labels[:2] == "b")] * 4


def test_fourteen_rows_and_one_class() -> None:
    X, y = datasets.play_tennis()
    comparison = compare_methods(X, y)
    assert comparison.n_folds == 5  # as many as there are days without tennis
    one = compare_methods(X, ["yes"] * 14)
    assert one.n_folds == 10
    assert one.spread("ID3").mean == 1.0
    assert math.isnan(one.spread("ID3", "auc").mean)
    assert one.spread("ID3", "auc").n_folds == 0
    assert one.best("auc") == []
    assert one.spread("ID3", "log_loss").mean == pytest.approx(0, abs=1e-12)
    assert math.isnan(one.differences("auc")[0].p_value)
    assert "nan" in repr(one.differences("auc"))


def test_copies_are_dealt_like_rows() -> None:
    X = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0)
    y = np.repeat([0, 1, 1], 4)
    assert compare_methods(X, y).n_folds == 4
    assert compare_methods(X[:4], y[:4]).n_folds == 4


def test_splits() -> None:
    X, y = mixed_table(90)
    rows = np.arange(90)
    splits = [(rows[rows % 3 != part], rows[rows % 3 == part]) for part in (0, 1)]
    comparison = compare_methods(X, y, ["ID3"], folds=iter(splits))
    assert comparison.n_folds == 2
    assert (comparison.folds == np.where(rows % 3 == 2, -1, rows % 3)).all()
    assert [r.n_train for r in comparison.per_fold] == [60, 60]


def test_p_values_adjusted_by_holm() -> None:
    """0.005 x 4, 0.01 x 3, 0.03 x 2, and the last not below the one before."""
    assert holm([0.01, 0.04, math.nan, 0.03, 0.005]) == pytest.approx(
        [0.03, 0.06, math.nan, 0.06, 0.02], nan_ok=True
    )
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_differences() -> None:
    stats = pytest.importorskip("scipy.stats")
    X, y = mixed_table()
    comparison = compare_methods(X, y, ALL, folds=5)
    d = comparison.differences("accuracy", baseline="id3")[0]
    a, b = comparison.values("tree"), comparison.values("id3")
    assert (d.first, d.second) == ("tree", "id3")
    assert d.by_fold.tolist() == (a - b).tolist()
    assert d.mean == pytest.approx((a - b).mean())
    assert d.se == pytest.approx(stats.sem(a - b))
    ratio = np.mean([r.n_test / r.n_train for r in comparison.per_fold[:5]])
    assert ratio == pytest.approx(1 / 4, rel=1e-3)
    assert d.corrected_se == pytest.approx(np.sqrt((1 / 5 + ratio) * (a - b).var(ddof=1)))
    assert d.p_value == pytest.approx(2 * stats.t.sf(abs(d.mean / d.corrected_se), 4))
    assert len(comparison.differences()) == 15
    assert len(comparison.differences("leaves", "cart")) == 5
    assert " p, Holm" not in repr(comparison.differences("auc", "id3")[:1])
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    several = comparison.differences("accuracy", "id3")
    adjusted = multitest.multipletests([d.p_value for d in several], method="holm")[1]
    lines = repr(several).splitlines()
    assert lines[0].endswith("p, Holm")
    assert [line.split()[-1] for line in lines[1:]] == [f"{p:.4f}" for p in adjusted]
    same = compare_methods(X, y, {"a": ID3Classifier(), "b": ID3Classifier()}, folds=3)
    assert same.differences()[0].p_value == 1.0
    assert same.best() == ["a", "b"]


def test_prints() -> None:
    X, y = datasets.play_tennis()
    comparison = compare_methods(X, y, ["ID3", "C4.5"])
    lines = comparison.to_text(["accuracy", "leaves"]).splitlines()
    assert lines[0] == "5 folds of 14 rows, mean ± standard error (corrected); * best"
    assert lines[2].split() == ["method", "accuracy", "leaves"]
    assert len(lines) == 5
    best = next(line for line in lines if line.startswith(comparison.best()[0]))
    assert "*" in best
    markdown = comparison.to_markdown(["accuracy", "auc"])
    assert markdown.count("**") == 4
    assert "standard error" in markdown
    assert comparison._repr_markdown_() == comparison.to_markdown()
    assert "fit ms" in repr(comparison)
    assert comparison.to_text("accuracy").count("±") == 3
    assert comparison.to_text("auc").splitlines()[2].split() == ["method", "AUC"]


def test_plus_and_minus_are_standard_errors_and_nothing_else() -> None:
    X, y = mixed_table(120)
    comparison = compare_methods(X, y, ["CART"], folds=4)
    values = comparison.values("CART")
    mean, sd = values.mean(), values.std(ddof=1)
    ratio = np.mean([r.n_test / r.n_train for r in comparison.per_fold])
    se = sd * np.sqrt(1 / 4 + ratio)  # Nadeau and Bengio
    found = comparison.spread("CART")
    assert found == pytest.approx((mean, sd, se, 4))
    assert comparison.to_frame("dict")["accuracy_se"] == pytest.approx([se])
    assert se > 1.1 * sd / 2
    for text in (comparison.to_text("accuracy"), comparison.to_markdown("accuracy")):
        assert "mean ± standard error (corrected)" in text
        assert f"{mean:.4f} ± {se:.4f}" in text
    for text in (
        comparison.to_text("accuracy", spread="sd"),
        comparison.to_markdown("accuracy", spread="sd"),
    ):
        assert "±" not in text
        assert "mean (standard deviation between folds)" in text
        assert f"{mean:.4f} ({sd:.4f})" in text


def test_all_methods_are_judged_by_default() -> None:
    X, y = datasets.play_tennis()
    expected = ["tree", "ID3", "C4.5", "CART", "CART0", "Bayes", "MML", "SMML", "rules"]
    assert sorted(compare_methods(X, y, folds=2).methods) == sorted(expected)
    assert list(METHODS) == expected
    for name, kind in (("tree", TreeClassifier), ("rules", RuleClassifier)):
        own = compare_methods(X, y, {name: kind()}, folds=2)
        named = compare_methods(X, y, [name], folds=2)
        np.testing.assert_array_equal(measured(named, name), measured(own, name))


def test_frames() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = datasets.play_tennis()
    comparison = compare_methods(X, y)
    columns = comparison.to_frame("dict")
    assert columns["method"] == list(METHODS)
    assert columns["accuracy"] == [comparison.spread(name).mean for name in METHODS]
    assert columns["auc_se"] == [comparison.spread(name, "auc").se for name in METHODS]
    frame = comparison.to_frame("polars", per_fold=True)
    assert isinstance(frame, polars.DataFrame)
    assert len(frame) == len(comparison.per_fold) == comparison.n_folds * len(METHODS)
    assert isinstance(comparison.to_frame("pandas"), pandas.DataFrame)
    with pytest.raises(
        ValueError, match="backend must be one of 'pandas', 'polars', 'dict', got 'arrow'"
    ):
        comparison.to_frame("arrow")


def test_no_library_is_imported_for_it() -> None:
    run_child(
        """
        import sys, fasttree
        X, y = fasttree.datasets.play_tennis()
        frame = fasttree.compare_methods(X, y).to_frame()
        assert type(frame) is dict
        assert not {"pandas", "polars", "sklearn", "scipy"} & set(sys.modules)
        """
    )


def test_progress() -> None:
    X, y = datasets.play_tennis()
    calls: list[tuple[int, int]] = []
    compare_methods(X, y, ["ID3", "CART"], folds=2, progress=lambda *done: calls.append(done))
    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


class Failing(TreeClassifier):
    def fit(self, *data: Any, **more: Any) -> Any:
        raise RuntimeError("out of luck")


def test_who_failed_is_said() -> None:
    X, y = datasets.play_tennis()
    with pytest.raises(RuntimeError, match="out of luck") as caught:
        compare_methods(X, y, {"good": ID3Classifier(), "bad": Failing()})
    assert caught.value.__notes__ == ["compare_methods: raised by the method 'bad' on fold 0"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"folds": 6},
            ValueError,
            "folds=6 is greater than the number of rows of the class 'No', 5",
        ),
        ({"folds": 1}, ValueError, "folds must be an integer of at least 2, got 1"),
        ({"folds": True}, ValueError, "folds must be an integer, a fold number for each row"),
        ({"folds": 2.5}, ValueError, "folds must be an integer, a fold number for each row"),
        ({"folds": [0, 1]}, ValueError, "one fold number for each of the 14 rows"),
        ({"folds": [3] * 14}, ValueError, "assigns all rows to one fold"),
        ({"random_state": -1}, ValueError, "random_state must be None or an integer from 0 to"),
        ({"random_state": "x"}, ValueError, "random_state must be None or an integer from 0 to"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be None or an integer other than 0"),
        ({"max_bins": 1}, ValueError, "max_bins"),
        (
            {"methods": ["ID4"]},
            ValueError,
            "contains 'ID4', but the library's methods are 'tree', 'ID3'",
        ),
        ({"methods": []}, ValueError, "methods is empty"),
        ({"methods": [ID3Classifier()]}, TypeError, "is not a name: pass a dict {name"),
        ({"methods": 7}, TypeError, "methods must be None, a list of names or a dict"),
        ({"methods": {"x": ID3Classifier}}, TypeError, "'x' must be an estimator with fit"),
        ({"methods": {"x": 3}}, TypeError, "'x' must be an estimator with fit"),
        (
            {"methods": {3: ID3Classifier()}},
            TypeError,
            "the names in methods must be non-empty strings, got 3",
        ),
        ({"sample_weight": [1.0]}, ValueError, "sample_weight has 1 entries, but X has 14 rows"),
        (
            {"folds": [0] * 7 + [1] * 7, "sample_weight": [1.0] * 7 + [0.0] * 7},
            ValueError,
            "fold 0 contains all rows of weight above 0",
        ),
        (
            {"sample_weight": [1.0, 0.0, 1.0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0.0]},
            ValueError,
            "the class 'No' has 1 row, but cross-validation requires at least 2 rows of each class",
        ),
    ],
)
def test_bad_input(given: dict[str, Any], error: type[Exception], message: str) -> None:
    X, y = datasets.play_tennis()
    with pytest.raises(error, match=message):
        compare_methods(X, y, **given)


def test_bad_questions() -> None:
    X, y = datasets.play_tennis()
    comparison = compare_methods(X, y, ["ID3"])
    with pytest.raises(
        ValueError, match="method must be one of 'ID3', got 'ID4': did you mean 'ID3'"
    ):
        comparison.values("ID4")
    with pytest.raises(ValueError, match="measure must be one of 'accuracy', 'auc'"):
        comparison.spread("ID3", "f1")
    with pytest.raises(ValueError, match="spread must be one of 'se', 'sd', got 'range'"):
        comparison.to_text(spread="range")
    with pytest.raises(ValueError, match="method must be one of"):
        comparison.differences(baseline="ID4")
