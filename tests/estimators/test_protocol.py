# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's estimator protocol: parameters, clones, tags, routing; and what estimators look like."""

from __future__ import annotations

import copy
import pickle
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
import textbook_tables as tables
from child import run_child
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

import fasttree
from fasttree import (
    BayesTreeClassifier,
    C45Classifier,
    CARTClassifier,
    ID3Classifier,
    MMLClassifier,
    RuleClassifier,
    SMMLClassifier,
    TreeClassifier,
    pruning,
)

Data = tuple[np.ndarray, np.ndarray]
PRESETS = [TreeClassifier, ID3Classifier, C45Classifier, CARTClassifier]
BY_LENGTH = [SMMLClassifier, MMLClassifier, BayesTreeClassifier]
ALL = [*PRESETS, *BY_LENGTH, RuleClassifier]


# -- parameters ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_constructor_keeps_what_it_is_given(kind: type) -> None:
    """No copy, no check: those are for `fit`."""
    values = {name: object() for name in kind().get_params(deep=False)}
    model = kind(**values)
    assert all(getattr(model, name) is value for name, value in values.items())
    assert all(model.get_params(deep=False)[name] is value for name, value in values.items())
    assert set(vars(model)) == set(values)


def test_nested_parameters() -> None:
    base = TreeClassifier(max_depth=2)
    model = RuleClassifier(base=base, confidence=0.1)
    deep = model.get_params()
    assert {n: deep[f"base__{n}"] for n in base.get_params()} == base.get_params()
    assert deep["base"] is base
    assert not any("__" in name for name in model.get_params(deep=False))
    assert model.set_params(base__max_depth=5, confidence=0.2) is model
    assert (base.max_depth, model.confidence) == (5, 0.2)
    # A new base comes before changes of it, whatever their order.
    model.set_params(base__max_depth=7, base=ID3Classifier())
    assert isinstance(model.base, ID3Classifier)
    assert (model.base.max_depth, base.max_depth) == (7, 5)
    assert TreeClassifier().get_params() == TreeClassifier().get_params(deep=False)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"depth": 1}, ["Invalid parameter 'depth' for estimator RuleClassifier(", "'confidence'"]),
        ({"base__depth": 1}, ["Invalid parameter 'depth' for estimator TreeClassifier("]),
        ({"when__x": 1}, ["Invalid parameter 'when__x'", "when is 'improves', which has no param"]),
        (
            {"base": None, "base__max_depth": 1},
            ["'base__max_depth'", "base is None", "Set base itself"],
        ),
    ],
)
def test_unknown_names_change_nothing(params: dict[str, Any], words: list[str]) -> None:
    model = RuleClassifier(base=TreeClassifier(max_depth=2))
    before = model.get_params()
    with pytest.raises(ValueError, match="Invalid parameter") as error:
        model.set_params(confidence=0.1, **params)
    assert all(word in str(error.value) for word in words)
    assert model.get_params() == before


@pytest.mark.parametrize("kind", [C45Classifier, SMMLClassifier])
def test_constructor_names_what_it_does_not_know(kind: type) -> None:
    name = kind.__name__
    with pytest.raises(
        TypeError, match=f"{name} has no parameter 'max_dept': did you mean 'max_depth'"
    ):
        kind(max_depth=2, max_dept=3)
    with pytest.raises(
        TypeError,
        match=f"{name} has no parameter 'quux': its parameters are 'criterion', .*'n_jobs'",
    ):
        kind(quux=1)
    with pytest.raises(
        TypeError, match=f"{name} accepts keyword arguments only, got the positional argument 3"
    ):
        kind(3)


def test_a_way_of_pruning_has_parameters() -> None:
    way = pruning.ErrorBased(confidence=0.1)
    model = C45Classifier(pruning=way)
    deep = model.get_params()
    assert deep["pruning"] is way
    assert deep["pruning__confidence"] == 0.1
    assert {name for name in deep if name.startswith("pruning__")} == {
        "pruning__confidence",
        "pruning__estimate",
        "pruning__raising",
    }
    assert "pruning__confidence" not in model.get_params(deep=False)
    assert model.set_params(pruning__confidence=0.4) is model
    assert model.pruning == pruning.ErrorBased(confidence=0.4)
    assert way.confidence == 0.1  # somebody else may have it
    both = clone(model).set_params(pruning=pruning.CostComplexity(), pruning__se=0)
    assert both.pruning == pruning.CostComplexity(se=0)
    assert model.pruning == pruning.ErrorBased(confidence=0.4)
    test = TreeClassifier(significance=pruning.Significance(0.1)).set_params(
        significance__alpha=0.2
    )
    assert test.significance == pruning.Significance(0.2)
    rules = RuleClassifier(base=clone(model)).set_params(base__pruning__confidence=0.3)
    assert rules.base.pruning.confidence == 0.3
    with pytest.raises(ValueError, match=r"'confidense' for ErrorBased\(.* mean 'confidence'"):
        model.set_params(pruning__confidense=0.1)
    with pytest.raises(ValueError, match="confidence must be"):
        model.set_params(pruning__confidence=7)
    assert model.pruning == pruning.ErrorBased(confidence=0.4)


@pytest.mark.parametrize(
    ("model", "params", "words"),
    [
        (
            C45Classifier(),
            {"pruning__confidence": 0.1},
            r"pruning is 'error_based', .* Set pruning itself first: "
            r"pruning=fasttree\.pruning\.ErrorBased\(\)",
        ),
        (
            TreeClassifier(),
            {"pruning__confidence": 0.1},
            r"pruning is None, .* first: pruning=fasttree\.pruning\.ErrorBased\(\)",
        ),
        (
            TreeClassifier(),
            {"pruning__se": 0},
            r"pruning is None, .* first: pruning=fasttree\.pruning\.CostComplexity\(\)",
        ),
        (TreeClassifier(), {"pruning__quux": 0}, r"pruning is None, .* Set pruning itself\."),
        (
            TreeClassifier(significance=0.1),
            {"significance__alpha": 0.2},
            r"first: significance=fasttree\.pruning\.Significance\(alpha=",
        ),
    ],
)
def test_a_name_of_a_way_has_no_parameters(model: Any, params: Any, words: str) -> None:
    before = model.get_params()
    with pytest.raises(ValueError, match=words):
        model.set_params(**params)
    assert model.get_params() == before


CLONED = [
    *(kind() for kind in ALL),
    TreeClassifier(pruning=pruning.CostComplexity(se=0), significance=pruning.Significance(0.1)),
    TreeClassifier(pruning=pruning.ErrorBased(confidence=0.1), attribute_costs={"a": 2.0}),
    TreeClassifier(
        class_weight={0: 1.0, 1: 3.0}, misclassification_cost=np.array([[0, 1], [5, 0]])
    ),
    TreeClassifier(categorical_features={"a": ["low", "high"]}, cost_function=max),
    SMMLClassifier(alpha=1.0, lookahead=1),
    RuleClassifier(base=C45Classifier(pruning=None, categorical_features=["a"])),
]


@pytest.mark.parametrize("model", CLONED, ids=repr)
@pytest.mark.parametrize("copied", [clone, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_clones_have_equal_parameters(model: Any, copied: Any) -> None:
    other = copied(model)
    assert other is not model
    assert type(other) is type(model)
    assert repr(other) == repr(model)
    assert other.get_params().keys() == model.get_params().keys()
    if getattr(model, "base", None) is not None:
        assert other.base is not model.base


def test_clone_of_a_fitted_estimator_is_not_fitted() -> None:
    model = ID3Classifier(max_depth=1).fit(tables.PLAY_TENNIS.X, tables.PLAY_TENNIS.y)
    other = clone(model)
    assert vars(other).keys() == model.get_params().keys()
    assert other.max_depth == 1
    again = other.fit(tables.PLAY_TENNIS.X, tables.PLAY_TENNIS.y)
    assert again.tree_ == model.tree_


# -- what scikit-learn asks ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_tags(kind: type) -> None:
    tags = get_tags(kind())
    assert is_classifier(kind())
    assert tags.target_tags.required
    assert tags.input_tags.categorical
    assert tags.input_tags.allow_nan
    assert not tags.input_tags.sparse
    assert tags.classifier_tags.multi_class
    assert not tags.non_deterministic
    if "missing" in kind().get_params():
        assert not get_tags(kind(missing="error")).input_tags.allow_nan
    else:
        assert not get_tags(kind(base=TreeClassifier(missing="error"))).input_tags.allow_nan


@pytest.mark.parametrize("kind", ALL)
def test_is_fitted(kind: type) -> None:
    model = kind()
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    asked = ["predict", "predict_proba", "predict_log_proba"]
    for method in asked:  # scikit-learn's own class
        with pytest.raises(NotFittedError, match=f"This {kind.__name__} instance is not fitted"):
            getattr(model, method)([[1.0]])
    check_is_fitted(model.fit([[1.0], [2.0]] * 2, [0, 1] * 2))


def test_not_fitted_without_scikit_learn() -> None:
    run_child("""
        import sys
        import fasttree
        try:
            fasttree.RuleClassifier().predict([[1.0]])
        except (ValueError, AttributeError) as error:
            assert "instance is not fitted yet" in str(error)
            assert isinstance(error, ValueError) and isinstance(error, AttributeError)
        else:
            raise SystemExit("no error")
        assert "sklearn" not in sys.modules
    """)


LIGHT = """
import sys
import {imports}

def check(when):
    heavy = {{"sklearn", "pandas", "polars", "pyarrow", "scipy", "matplotlib", "typer", "rich", "onnx", "duckdb"}}
    loaded = heavy & set(sys.modules)
    assert not loaded, (when, loaded)

check("import")
{code}
check("use")
"""


@pytest.mark.parametrize(
    ("imports", "code"),
    [
        ("fasttree", "assert 'numpy' not in sys.modules, 'all loads on first use'"),
        ("fasttree", "for name in fasttree.__all__: getattr(fasttree, name); check(name)"),
        (
            "fasttree, numpy",
            "X, y = numpy.arange(8.0).reshape(-1, 1), [0, 1] * 4\n"
            "for name in dir(fasttree):\n"
            "    if name.endswith('Classifier'):\n"
            "        changes = {'pruning': None} if name.startswith('CART') else {}\n"
            "        model = getattr(fasttree, name)(**changes).fit(X, y)\n"
            "        model.predict(X), model.predict_proba(X), model.score(X, y)\n"
            "        repr(model), model._repr_html_(), model.to_text(), model.set_params(), check(name)\n"
            "        fasttree.TreeClassifier(n_jobs=2).fit({'a': ['x', 'y'] * 4}, y).predict({'a': ['x']})",
        ),
    ],
)
def test_no_other_library_is_loaded(imports: str, code: str) -> None:
    run_child(LIGHT.format(imports=imports, code=code))


# -- metadata routing ------------------------------------------------------------------------------


def test_routing_must_be_on() -> None:
    with pytest.raises(RuntimeError, match="only available when metadata routing is enabled"):
        TreeClassifier().set_fit_request(sample_weight=True)
    run_child("""
        import sys
        import fasttree
        try:
            fasttree.TreeClassifier().set_score_request(sample_weight=True)
        except RuntimeError as error:
            assert "enable_metadata_routing=True" in str(error)
        else:
            raise SystemExit("no error")
        assert "sklearn" not in sys.modules
    """)


@pytest.mark.parametrize("kind", ALL)
def test_requests(kind: type) -> None:
    with config_context(enable_metadata_routing=True):
        model = kind()
        nothing = {"sample_weight": None, "X_val": None, "y_val": None, "groups": None}
        assert model.get_metadata_routing().fit.requests == nothing
        assert model.get_metadata_routing().score.requests == {"sample_weight": None}
        assert model.set_fit_request(sample_weight=True, X_val="X_test") is model
        model.set_fit_request(y_val=False).set_score_request(sample_weight="weight_of_test")
        for same in (model, clone(model), pickle.loads(pickle.dumps(model))):
            routing = same.get_metadata_routing()
            expected = nothing | {"sample_weight": True, "X_val": "X_test", "y_val": False}
            assert routing.fit.requests == expected
            assert routing.score.requests == {"sample_weight": "weight_of_test"}
        assert kind().get_metadata_routing().fit.requests == nothing
        with pytest.raises(TypeError, match="banana"):
            model.set_fit_request(banana=True)
        with pytest.raises(ValueError, match="alias"):
            model.set_fit_request(sample_weight="not a name")


def test_weights_reach_fit_and_score(numeric_table: Data) -> None:
    X, y = numeric_table[0][:300], numeric_table[1][:300]
    weight = np.random.default_rng(0).integers(0, 4, 300).astype(float)
    folds = KFold(3)
    with config_context(enable_metadata_routing=True):
        asks = TreeClassifier(max_depth=4).set_fit_request(sample_weight=True)
        asks.set_score_request(sample_weight=True)
        found = cross_validate(asks, X, y, cv=folds, params={"sample_weight": weight})
        piped = make_pipeline(StandardScaler(), asks)
        steps = {"standardscaler__with_mean": [True]}
        piped.named_steps["standardscaler"].set_fit_request(sample_weight=False)
        accuracy = get_scorer("accuracy").set_score_request(sample_weight=True)
        search = GridSearchCV(piped, steps, cv=folds, scoring=accuracy)
        search.fit(X, y, sample_weight=weight)
        with pytest.raises(
            ValueError, match=r"not explicitly set as requested or not.*TreeClassifier"
        ):
            cross_validate(
                TreeClassifier(), X, y, params={"sample_weight": weight}, error_score="raise"
            )
    expected = []
    for train, test in folds.split(X):
        model = TreeClassifier(max_depth=4).fit(X[train], y[train], weight[train])
        expected.append(np.average(model.predict(X[test]) == y[test], weights=weight[test]))
    assert found["test_score"] == pytest.approx(expected)
    assert search.best_score_ == pytest.approx(np.mean(expected))


def test_validation_rows_reach_fit(numeric_table: Data) -> None:
    """As they are; and through the steps of a pipeline where `transform_input` says so."""
    X, y = numeric_table[0][:400], numeric_table[1][:400]
    X_val, y_val = numeric_table[0][400:600], numeric_table[1][400:600]
    pruned = TreeClassifier(pruning="reduced_error")
    with config_context(enable_metadata_routing=True):
        asks = clone(pruned).set_fit_request(X_val=True, y_val=True)
        rows = {"X_val": X_val, "y_val": y_val}
        found = cross_validate(asks, X, y, cv=KFold(2), params=rows, return_estimator=True)
        steps = [("scale", StandardScaler()), ("tree", asks)]
        piped = Pipeline(steps, transform_input=["X_val"]).fit(X, y, X_val=X_val, y_val=y_val)
    for (train, _), model in zip(KFold(2).split(X), found["estimator"], strict=True):
        expected = clone(pruned).fit(X[train], y[train], X_val=X_val, y_val=y_val)
        assert model.tree_ == expected.tree_
    scaler = StandardScaler().fit(X)
    scaled = scaler.transform(X), y, None, scaler.transform(X_val), y_val
    assert piped[-1].tree_ == clone(pruned).fit(*scaled).tree_


def test_groups_reach_fit() -> None:
    """Those of the training rows, for the folds that pruning draws."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 4)
    X, y = rng.normal(size=(60, 3))[patient], rng.integers(0, 2, 60)[patient]
    folds = GroupKFold(3)
    with config_context(enable_metadata_routing=True):
        asks = CARTClassifier().set_fit_request(groups=True)
        how = {"cv": folds, "params": {"groups": patient}}
        found = cross_validate(asks, X, y, return_estimator=True, **how)
        search = GridSearchCV(asks, {"max_depth": [3, None]}, cv=folds)
        search.fit(X, y, groups=patient)
        leaves = [model.get_n_leaves() for model in found["estimator"]]
        expected = CARTClassifier(**search.best_params_).fit(X, y, groups=patient)
        assert search.best_estimator_.tree_ == expected.tree_
    by_hand = [
        [
            CARTClassifier().fit(X[rows], y[rows], groups=g).get_n_leaves()
            for g in (patient[rows], None)
        ]
        for rows, _ in folds.split(X, y, patient)
    ]
    assert leaves == [with_groups for with_groups, _ in by_hand]
    assert sum(leaves) < sum(without for _, without in by_hand)


# -- what an estimator looks like ------------------------------------------------------------------


def test_text_is_the_call() -> None:
    assert repr(TreeClassifier()) == "TreeClassifier()"
    assert repr(TreeClassifier(max_depth=3)) == "TreeClassifier(max_depth=3)"
    # A preset's defaults are not changes.
    assert repr(C45Classifier(pruning=None)) == "C45Classifier(pruning=None)"
    assert repr(TreeClassifier(criterion="gini", min_samples_split=2)) == "TreeClassifier()"
    assert repr(TreeClassifier(stop_zero_gain=1)) == "TreeClassifier(stop_zero_gain=1)"


def test_long_text_is_broken_into_lines() -> None:
    inner = TreeClassifier(criterion="entropy", categorical_split="multiway", missing="category",
                           max_depth=4, min_samples_leaf=10)  # fmt: skip
    model = RuleClassifier(base=inner, when="not_worse")
    expected = """\
RuleClassifier(base=TreeClassifier(criterion='entropy', categorical_split='multiway',
                                   missing='category', max_depth=4, min_samples_leaf=10),
               when='not_worse')"""
    assert repr(model) == expected
    assert repr(eval(repr(model))) == expected
    prices = {f"attribute {i}": i for i in range(10_000)}
    text = repr(TreeClassifier(attribute_costs=prices, misclassification_cost=np.eye(2) * 1.0))
    assert len(text.splitlines()) < 15
    assert max(map(len, text.splitlines())) <= 88
    assert text.splitlines()[-1].endswith("[0., 1.]]))")


class Reader(HTMLParser):
    """The text of a piece of HTML; every element must be closed, and nothing may be fetched or run."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        assert not self.open
        assert not any(word in html for word in ("http", "//", "src=", "@import", "url("))

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag not in ("script", "link", "img", "iframe")
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def test_html_of_a_tree() -> None:
    model = ID3Classifier(max_depth=5)
    text = Reader(model._repr_html_()).text
    assert text == "ID3Classifiernot fittedmax_depth5"
    model.fit(tables.PLAY_TENNIS.X, tables.PLAY_TENNIS.y)
    text = Reader(model._repr_html_()).text
    assert model.to_text() in text
    for fact in ("attributes4", "classesNo, Yes", "weight of rows14", "leaves5", "depth2"):
        assert fact in text
    assert "to_text()" not in text
    assert "averages" in Reader(MMLClassifier().fit([[1.0], [2.0]], [0, 1])._repr_html_()).text
    assert "all parameters at their defaults" in Reader(TreeClassifier()._repr_html_()).text
    bundle = model._repr_mimebundle_(include=None, exclude=None)
    assert bundle == {"text/plain": repr(model), "text/html": model._repr_html_()}


def test_html_of_rules() -> None:
    X, y = fasttree.datasets.play_tennis()
    model = RuleClassifier(base=ID3Classifier()).fit(X, y)
    text = Reader(model._repr_html_()).text
    assert model.to_text() in text
    assert f"rules{len(model.rules_)}" in text


def test_html_escapes_names() -> None:
    name = "<b>&'"
    X = {name: ["<i>", '"', "</pre>", "x"] * 3}
    model = TreeClassifier(categorical_split="multiway", attribute_costs={name: 2.0})
    text = Reader(model.fit(X, ["<p>", "&amp;", "</div>", "é"] * 3)._repr_html_()).text
    assert model.to_text() in text
    assert "classes&amp;, </div>, <p>, é" in text


@pytest.mark.parametrize("shape", ["deep", "wide", "large"])
def test_html_of_large_trees_is_their_top(shape: str) -> None:
    n = 3_000 if shape == "deep" else 20_000  # levels of the one, leaves of the others
    X: Any = np.arange(n, dtype=float).reshape(-1, 1)
    y = np.arange(n) % 2
    if shape == "wide":
        X = {"id": fasttree.Categorical([f"level {i}" for i in range(n)])}
    elif shape == "large":
        X, y = np.random.default_rng(0).normal(size=(n, 3)), y
    model = TreeClassifier(categorical_split="multiway").fit(X, y)
    html = model._repr_html_()
    assert len(html) < 12_000
    text = Reader(html).text
    assert "Only the top of the tree is shown; to_text() shows all of it." in text
    assert f"leaves{model.tree_.n_leaves:,}" in text
    drawn = text[text.index("tree") :]
    if shape != "wide":  # the splits nearest to the root, with the numbers of the whole
        top = TreeClassifier(max_depth=2).fit(X, y).to_text().splitlines()
        assert all(line.partition(":")[0] in drawn for line in top)


def test_inside_scikit_learns_diagram() -> None:
    rules = RuleClassifier(base=TreeClassifier(max_depth=3))
    html = make_pipeline(StandardScaler(), rules)._repr_html_()
    assert "RuleClassifier" in html
    assert "max_depth=3" in html
