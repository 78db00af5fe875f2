# SPDX-License-Identifier: BSD-3-Clause
"""Inside scikit-learn's tools, each beside what it comes to when it is done by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from fasttree import (
    BayesTreeClassifier,
    C45Classifier,
    CARTClassifier,
    ID3Classifier,
    RuleClassifier,
    TreeClassifier,
    pruning,
)

Data = tuple[np.ndarray, np.ndarray]
FOLDS = StratifiedKFold(3)


@pytest.fixture(scope="module")
def rows(numeric_table: Data) -> Data:
    return numeric_table[0][:450], numeric_table[1][:450]


@pytest.fixture(scope="module")
def frame() -> tuple[pd.DataFrame, np.ndarray]:
    """Text, numbers and holes in both; three classes of text."""
    rng = np.random.default_rng(3)
    n = 400
    colour = rng.choice(["red", "green", "blue", "grey"], n).astype(object)
    size = rng.normal(size=n)
    weight = rng.normal(size=n)
    score = (colour == "red") + size + 0.3 * rng.normal(size=n)
    y = np.array(["low", "mid", "top"])[np.digitize(score, [-0.3, 0.7])]
    colour[rng.random(n) < 0.1] = None
    size[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame({"colour": colour, "size": size, "weight": weight}), y


def parts(X: Any, y: np.ndarray, model: Any) -> Any:
    """The model fitted without each fold, and the numbers of the fold's rows."""
    for train, test in FOLDS.split(np.zeros(len(y)), y):
        rows = X.iloc[train] if hasattr(X, "iloc") else X[train]
        held_out = X.iloc[test] if hasattr(X, "iloc") else X[test]
        yield clone(model).fit(rows, y[train]), held_out, test


# -- cross-validation ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [C45Classifier(), CARTClassifier(), BayesTreeClassifier(), RuleClassifier()], ids=repr
)
def test_cross_validation(model: Any, frame: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = frame
    scores, shares = [], np.empty((len(y), 3))
    for fitted, held_out, test in parts(X, y, model):
        scores.append(np.mean(fitted.predict(held_out) == y[test]))
        shares[test] = fitted.predict_proba(held_out)
    assert cross_val_score(model, X, y, cv=FOLDS).tolist() == pytest.approx(scores)
    assert min(scores) > 0.6
    found = cross_val_predict(model, X, y, cv=FOLDS, method="predict_proba")
    assert np.array_equal(found, shares)


def test_learning_curve(rows: Data) -> None:
    X, y = rows
    sizes, train_scores, test_scores = learning_curve(
        TreeClassifier(), X, y, cv=FOLDS, train_sizes=[30, 100, 300]
    )
    for fold, (train, test) in enumerate(FOLDS.split(X, y)):
        for place, size in enumerate(sizes):
            part = train[:size]
            model = TreeClassifier().fit(X[part], y[part])
            assert train_scores[place, fold] == model.score(X[part], y[part]) == 1.0
            assert test_scores[place, fold] == model.score(X[test], y[test])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_grid_search_over_pruning_objects(rows: Data, n_jobs: int) -> None:
    X, y = rows
    grid = {
        "pruning": [None, "leaf_penalty", pruning.ErrorBased(0.1), pruning.CostComplexity(folds=3)],
        "criterion": ["gini", "entropy"],
    }
    search = GridSearchCV(TreeClassifier(), grid, cv=FOLDS, n_jobs=n_jobs).fit(X, y)
    means = search.cv_results_["mean_test_score"]
    for params, mean in zip(search.cv_results_["params"], means, strict=True):
        model = TreeClassifier(**params)
        expected = [m.score(held_out, y[test]) for m, held_out, test in parts(X, y, model)]
        assert mean == pytest.approx(np.mean(expected)), params
    assert len(set(means)) > 3
    assert search.best_score_ == means.max()
    refitted = TreeClassifier(**search.best_params_).fit(X, y)
    assert search.best_estimator_.tree_ == refitted.tree_


def test_grid_search_over_nested_parameters(frame: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = frame
    piped = Pipeline([("rules", RuleClassifier(base=TreeClassifier()))])
    grid = {"rules__base__max_depth": [1, 3], "rules__when": ["improves", "not_worse"]}
    search = GridSearchCV(piped, grid, cv=FOLDS, n_jobs=2).fit(X, y)
    means = search.cv_results_["mean_test_score"]
    for params, mean in zip(search.cv_results_["params"], means, strict=True):
        base = TreeClassifier(max_depth=params["rules__base__max_depth"])
        model = RuleClassifier(base=base, when=params["rules__when"])
        expected = [m.score(held_out, y[test]) for m, held_out, test in parts(X, y, model)]
        assert mean == pytest.approx(np.mean(expected)), params
    assert len(set(means)) > 1
    assert piped["rules"].base.max_depth is None


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_grid_search_over_a_way_of_pruning(rows: Data, n_jobs: int | None) -> None:
    X, y = rows
    way = pruning.ErrorBased()
    model = C45Classifier(pruning=way)
    confidences = [0.001, 0.1, 0.5]
    grid = {"pruning__confidence": confidences}
    search = GridSearchCV(model, grid, cv=FOLDS, n_jobs=n_jobs).fit(X, y)
    means = search.cv_results_["mean_test_score"]
    for confidence, mean in zip(confidences, means, strict=True):
        pruned = C45Classifier(pruning=pruning.ErrorBased(confidence))
        expected = [m.score(held_out, y[test]) for m, held_out, test in parts(X, y, pruned)]
        assert mean == pytest.approx(np.mean(expected))
    assert len(set(means)) > 1
    assert model.pruning is way
    assert way == pruning.ErrorBased()
    piped = make_pipeline(C45Classifier(pruning=pruning.ErrorBased()))
    again = GridSearchCV(piped, {"c45classifier__pruning__confidence": confidences}, cv=FOLDS)
    assert np.array_equal(again.fit(X, y).cv_results_["mean_test_score"], means)
    with pytest.raises(ValueError, match=r"first: pruning=fasttree\.pruning\.ErrorBased\(\)"):
        GridSearchCV(C45Classifier(), grid, cv=FOLDS).fit(X, y)


# -- ensembles -------------------------------------------------------------------------------------


def test_calibration(rows: Data) -> None:
    X, y = rows[0], rows[1] > 0
    model = TreeClassifier(max_depth=4)
    found = CalibratedClassifierCV(model, cv=FOLDS, method="sigmoid").fit(X, y).predict_proba(X)
    mine = CalibratedClassifierCV(TreeAsFunction(), cv=FOLDS, method="sigmoid")
    assert np.array_equal(found, mine.fit(X, y).predict_proba(X))
    by_folds = [clone(model).fit(X[a], y[a]) for a, _ in FOLDS.split(X, y)]
    mean = np.mean([m.predict_proba(X)[:, 1] for m in by_folds], axis=0)
    assert np.corrcoef(found[:, 1], mean)[0, 1] > 0.97
    assert not np.allclose(found[:, 1], mean, atol=0.01)


class TreeAsFunction(DecisionTreeClassifier):
    """scikit-learn's own kind of estimator around the same tree."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TreeAsFunction:
        self.own_ = TreeClassifier(max_depth=4).fit(X, y, sample_weight)
        self.classes_ = self.own_.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return self.own_.predict_proba(X)

    def predict(self, X: Any) -> np.ndarray:
        return self.own_.predict(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "own_")


@pytest.mark.parametrize("features", [1.0, 0.5])
def test_bagging(rows: Data, features: float) -> None:
    X, y = rows
    bag = BaggingClassifier(C45Classifier(), 7, max_features=features, random_state=0).fit(X, y)
    shares = np.zeros((len(y), 3))
    for sample, columns in zip(bag.estimators_samples_, bag.estimators_features_, strict=True):
        # A row that was drawn twice is there twice: a weight of 2 is a copy.
        model = C45Classifier().fit(X[sample][:, columns], y[sample])
        shares += model.predict_proba(X[:, columns])
    assert np.allclose(bag.predict_proba(X), shares / 7, rtol=0, atol=1e-12)
    assert bag.score(X, y) > 0.85


@pytest.mark.parametrize("depth", [1, 3])
def test_boosting(rows: Data, depth: int) -> None:
    """SAMME by hand. Its weights sum to 1, and are no whole numbers."""
    X, y = rows
    boosted = AdaBoostClassifier(TreeClassifier(max_depth=depth), n_estimators=10, random_state=0)
    boosted.fit(X, y)
    weight = np.full(len(y), 1 / len(y))
    votes = np.zeros((len(y), 3))
    for number in range(10):
        model = TreeClassifier(max_depth=depth).fit(X, y, sample_weight=weight)
        wrong = model.predict(X) != y
        error = np.average(wrong, weights=weight)
        say = np.log((1 - error) / error) + np.log(2)
        assert boosted.estimator_errors_[number] == pytest.approx(error, abs=1e-12)
        # Its weights are the same but for rounding, and so are the counts.
        boosted_tree, tree = boosted.estimators_[number].tree_, model.tree_
        assert np.array_equal(boosted_tree.attribute, tree.attribute)
        assert np.array_equal(boosted_tree.threshold, tree.threshold, equal_nan=True)
        assert np.allclose(boosted_tree.counts, tree.counts, rtol=0, atol=1e-9)
        votes[np.arange(len(y)), model.predict(X)] += say
        weight *= np.exp(say * wrong)
        weight /= weight.sum()
    assert np.array_equal(boosted.predict(X), votes.argmax(axis=1))
    assert boosted.score(X, y) > model.score(X, y)


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_voting(frame: tuple[pd.DataFrame, np.ndarray], voting: str) -> None:
    X, y = frame
    models = [
        ("c45", C45Classifier()),
        ("bayes", BayesTreeClassifier()),
        ("rules", RuleClassifier()),
    ]
    vote = VotingClassifier(models, voting=voting).fit(X, y)
    fitted = [clone(model).fit(X, y) for _, model in models]
    classes = np.unique(y)
    if voting == "soft":
        shares = np.mean([model.predict_proba(X) for model in fitted], axis=0)
        assert np.allclose(vote.predict_proba(X), shares, rtol=0, atol=1e-12)
        expected = classes[shares.argmax(axis=1)]
    else:
        said = np.array([model.predict(X) for model in fitted])
        counts = np.array([(said == label).sum(axis=0) for label in classes])
        expected = classes[counts.argmax(axis=0)]
    assert np.array_equal(vote.predict(X), expected)


def test_stacking(rows: Data) -> None:
    X, y = rows
    models = [("tree", TreeClassifier(max_depth=3)), ("id3", ID3Classifier(max_depth=5))]
    stack = StackingClassifier(models, GaussianNB(), cv=FOLDS).fit(X, y)
    columns = [cross_val_predict(m, X, y, cv=FOLDS, method="predict_proba") for _, m in models]
    last = GaussianNB().fit(np.hstack(columns), y)
    asked = np.hstack([clone(m).fit(X, y).predict_proba(X) for _, m in models])
    assert np.allclose(stack.predict_proba(X), last.predict_proba(asked), rtol=0, atol=1e-9)


def test_one_against_the_rest(rows: Data) -> None:
    X, y = rows
    several = OneVsRestClassifier(TreeClassifier(max_depth=4)).fit(X, y)
    shares = np.column_stack(
        [TreeClassifier(max_depth=4).fit(X, y == c).predict_proba(X)[:, 1] for c in range(3)]
    )
    assert np.array_equal(several.predict(X), shares.argmax(axis=1))


# -- looking into models ---------------------------------------------------------------------------


def test_permutation_importance(frame: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = frame
    model = C45Classifier().fit(X, y)
    found = permutation_importance(model, X, y, n_repeats=3, random_state=0)
    used = {model.tree_.schema.names[a] for a in model.tree_.attribute if a >= 0}
    for place, name in enumerate(X.columns):
        assert (found.importances_mean[place] > 0.01) == (name in used)
    rng, base = np.random.default_rng(0), model.score(X, y)
    falls = []
    for _ in range(30):
        mixed = X.assign(size=rng.permutation(X["size"].to_numpy()))
        falls.append(base - model.score(mixed, y))
    assert found.importances_mean[1] == pytest.approx(np.mean(falls), abs=0.05)


def test_partial_dependence(rows: Data) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from sklearn.inspection import PartialDependenceDisplay

    X, y = rows[0], (rows[1] > 0).astype(int)
    model = TreeClassifier(max_depth=4).fit(X, y)
    found = partial_dependence(model, X, [0], grid_resolution=9, kind="average")
    for value, mean in zip(found["grid_values"][0], found["average"][0], strict=True):
        moved = X.copy()
        moved[:, 0] = value
        assert mean == pytest.approx(model.predict_proba(moved)[:, 1].mean())
    drawn = PartialDependenceDisplay.from_estimator(model, X, [0], grid_resolution=9)
    assert np.allclose(drawn.lines_[0, 0].get_ydata(), found["average"][0])
    matplotlib.pyplot.close("all")


def test_select_from_model(rows: Data) -> None:
    X, y = rows
    selected = SelectFromModel(TreeClassifier(max_depth=5), threshold="mean").fit(X, y)
    importances = TreeClassifier(max_depth=5).fit(X, y).feature_importances_
    kept = importances >= importances.mean()
    assert 0 < kept.sum() < 6
    assert np.array_equal(selected.get_support(), kept)
    assert np.array_equal(selected.transform(X), X[:, kept])


# -- tables ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize("kind", [TreeClassifier, C45Classifier, RuleClassifier])
def test_columns_from_transformers(
    frame: tuple[pd.DataFrame, np.ndarray], output: str, kind: type
) -> None:
    """Names and text come through, so the tree is that of the scaled frame."""
    X, y = frame
    columns = ColumnTransformer(
        [("scaled", StandardScaler(), ["size", "weight"])],
        remainder=FunctionTransformer(feature_names_out="one-to-one"),
        verbose_feature_names_out=False,
    ).set_output(transform=output)
    model = make_pipeline(columns, kind()).fit(X, y)
    assert isinstance(columns.transform(X), pd.DataFrame if output == "pandas" else pl.DataFrame)
    assert list(model[-1].feature_names_in_) == ["size", "weight", "colour"]
    assert model[-1].n_features_in_ == 3
    scaled = {name: (X[name] - X[name].mean()) / X[name].std(ddof=0) for name in ("size", "weight")}
    by_hand = {name: column.to_numpy() for name, column in scaled.items()}
    expected = kind().fit(by_hand | {"colour": X["colour"].to_list()}, y)
    assert [a.is_categorical for a in expected.tree_.schema.attributes] == [False, False, True]
    assert np.array_equal(model.predict(X), expected.predict(columns.transform(X)))
    assert (model.predict(X) == y).mean() > 0.75
    swapped = columns.transform(X)[["colour", "size", "weight"]]
    assert np.array_equal(model[-1].predict(swapped), model.predict(X))  # by name


def test_feature_union(rows: Data) -> None:
    X, y = rows
    union = FeatureUnion([("plain", "passthrough"), ("scaled", StandardScaler())])
    model = make_pipeline(union, TreeClassifier(max_depth=5)).fit(X, y)
    both = np.hstack([X, StandardScaler().fit_transform(X)])
    expected = TreeClassifier(max_depth=5).fit(both, y)
    assert model[-1].tree_ == expected.tree_
    assert np.array_equal(model.predict_proba(X), expected.predict_proba(both))
