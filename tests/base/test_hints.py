# SPDX-License-Identifier: BSD-3-Clause
"""Names from elsewhere, and names that are almost right: each error says what to write instead."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

import fasttree
from fasttree import (
    C45Classifier,
    CARTClassifier,
    ID3Classifier,
    RuleClassifier,
    SMMLClassifier,
    TreeClassifier,
    compare_methods,
    pruning,
    rank_attributes,
    select_depth,
)
from fasttree.base.hints import check_choice, instead, meant
from fasttree.batch.score_batch import Options
from fasttree.files.errors import ArgumentError
from fasttree.stats import measures

X, Y = fasttree.datasets.play_tennis()
TREES = [TreeClassifier, ID3Classifier, C45Classifier, CARTClassifier]

# A name of another library, and the parameter that is to be written.
OF_TREES = {
    "max_leaf_nodes": "write max_leaves=",
    "ccp_alpha": r"write pruning=fasttree\.pruning\.CostComplexity\(\)",
    "cp": r"write pruning=fasttree\.pruning\.CostComplexity\(\)",
    "max_features": "every split considers all columns: leave it out",
    "min_impurity_decrease": "write min_gain=",
    "splitter": "leave it out",
    "cv": r"write pruning=fasttree\.pruning\.CostComplexity\(folds=",
    "seed": "write random_state=",
    "minsplit": "write min_samples_split=",
    "minbucket": "write min_samples_leaf=",
    "unpruned": "write pruning=None",
    "confidence": r"write pruning=fasttree\.pruning\.ErrorBased\(confidence=",
    "sample_weight": "pass it to fit",
    "max_dept": "did you mean 'max_depth'",
}


@pytest.mark.parametrize("name", OF_TREES)
@pytest.mark.parametrize("kind", TREES)
def test_parameters_of_other_libraries(kind: type, name: str) -> None:
    with pytest.raises(TypeError, match=f"{kind.__name__} has no parameter '{name}': ") as error:
        kind(**{name: 1})
    assert re.search(OF_TREES[name], str(error.value))
    with pytest.raises(ValueError, match=f"Invalid parameter '{name}' for estimator") as error:
        kind().set_params(**{name: 1})
    assert re.search(OF_TREES[name], str(error.value))


@pytest.mark.parametrize("name", OF_TREES)
@pytest.mark.parametrize("kind", TREES)
def test_a_remedy_names_parameters_that_exist(kind: type, name: str) -> None:
    for written in re.findall(r"write (\w+)=", instead(name, list(kind().get_params()))):
        kind(**{written: None})


def test_a_remedy_is_only_for_who_has_the_parameter() -> None:
    with pytest.raises(TypeError, match="SMMLClassifier has no parameter 'ccp_alpha': did you"):
        SMMLClassifier(ccp_alpha=0.1)
    with pytest.raises(TypeError, match=r"'cv': for cross-validated scores use fasttree"):
        SMMLClassifier(cv=5)
    with pytest.raises(TypeError, match=r"'max_leaf_nodes': write max_leaves="):
        SMMLClassifier(max_leaf_nodes=5)


@pytest.mark.parametrize("kind", [TreeClassifier, RuleClassifier])
def test_signatures_stay_as_they_are_written(kind: type) -> None:
    parameters = inspect.signature(kind).parameters
    assert list(parameters) == list(inspect.signature(kind.__init__).parameters)[1:]
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters.values())
    assert {name: p.default for name, p in parameters.items()} == kind().get_params()
    with pytest.raises(
        TypeError,
        match=f"{kind.__name__} accepts keyword arguments only, got the positional argument 'x'",
    ):
        kind("x")


def test_a_subclass_passes_names_on() -> None:
    class Mine(TreeClassifier):
        def __init__(self, *, more: int = 0, **others: Any) -> None:
            super().__init__(**others)
            self.more = more

    assert Mine(max_depth=2, more=1).max_depth == 2
    with pytest.raises(TypeError, match="Mine has no parameter 'max_leaf_nodes': write max_leaves"):
        Mine(max_leaf_nodes=3)


RULES = {
    "max_depth": r"write base=fasttree\.C45Classifier\(pruning=None, max_depth=",
    "pruning": r"write base=fasttree\.C45Classifier\(pruning=",
    "max_leaf_nodes": r"in base=fasttree\.C45Classifier\(.*\), write max_leaves=",
    "estimat": "did you mean 'estimate'",
    "confidence_factor": "write confidence=",
    "sample_weight": "pass it to fit",
}


@pytest.mark.parametrize("name", RULES)
def test_rules_send_to_their_tree(name: str) -> None:
    with pytest.raises(TypeError, match=f"RuleClassifier has no parameter '{name}': {RULES[name]}"):
        RuleClassifier(**{name: 1})
    with pytest.raises(ValueError, match=f"Invalid parameter '{name}' .*: {RULES[name]}"):
        RuleClassifier().set_params(**{name: 1})


FUNCTIONS: list[tuple[Callable[[], Any], str]] = [
    (lambda: compare_methods(X, Y, cv=5), "compare_methods has no parameter 'cv': write folds="),
    (lambda: compare_methods(X, Y, n_splits=5), "'n_splits': write folds="),
    (lambda: compare_methods(X, Y, models={}), "'models': write methods="),
    (lambda: compare_methods(X, Y, fold=5), "'fold': did you mean 'folds'"),
    (lambda: select_depth(X, Y, cv=5), "select_depth has no parameter 'cv': write folds="),
    (lambda: select_depth(X, Y, estimators=1), "'estimators': did you mean 'estimator'"),
    (lambda: rank_attributes(X, Y, criterium="gini"), "'criterium': did you mean 'criterion'"),
    (lambda: pruning.ErrorBased(confidenc=0.1), "ErrorBased has no parameter 'confidenc': did"),
    (lambda: pruning.CostComplexity(cv=5), "CostComplexity has no parameter 'cv': write folds="),
    (lambda: pruning.CostComplexity(ccp_alpha=0.1), "'ccp_alpha': alpha is chosen by se="),
    (lambda: pruning.CrossValidated(n_splits=3), "'n_splits': write folds="),
    (lambda: pruning.ReducedError(quux=3), "'quux': its parameters are 'stop', 'method'"),
    (
        lambda: pruning.LeafPenalty(x=3),
        "LeafPenalty has no parameter 'x': its parameters are 'zeta'",
    ),
    (lambda: pruning.Significance(alfa=0.1), "Significance has no parameter 'alfa': did you mean"),
    (lambda: pruning.MessageLength(alfa=0.1), "MessageLength has no parameter 'alfa': did you"),
]


@pytest.mark.parametrize(("call", "words"), FUNCTIONS)
def test_functions_and_ways_of_pruning(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        call()


def test_functions_look_as_they_are_written() -> None:
    for function in (compare_methods, select_depth, rank_attributes):
        parameters = inspect.signature(function).parameters
        assert next(iter(parameters)) == "X"
        assert not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
        assert function.__doc__
    assert list(inspect.signature(pruning.CostComplexity).parameters) == ["folds", "se", "impurity"]


VALUES: list[tuple[Callable[[], Any], str]] = [
    (lambda: TreeClassifier(criterion="ginni").fit(X, Y), "got 'ginni': did you mean 'gini'"),
    (lambda: TreeClassifier(criterion="information_gain").fit(X, Y), ": did you mean 'entropy'"),
    (lambda: TreeClassifier(criterion="log_loss").fit(X, Y), ": did you mean 'entropy'"),
    (lambda: TreeClassifier(criterion="Gain-Ratio").fit(X, Y), ": did you mean 'gain_ratio'"),
    (lambda: TreeClassifier(criterion="Gini").fit(X, Y), "got 'Gini': did you mean 'gini'"),
    (lambda: C45Classifier(criterion="information gain").fit(X, Y), ": did you mean 'entropy'"),
    (lambda: TreeClassifier(categorical_split="binary").fit(X, Y), ": did you mean 'subset'"),
    (lambda: TreeClassifier(missing="surogate").fit(X, Y), ": did you mean 'surrogate'"),
    (lambda: TreeClassifier(pruning="ccp").fit(X, Y), ": did you mean 'cost_complexity'"),
    (lambda: TreeClassifier(pruning="cost-complexity").fit(X, Y), "mean 'cost_complexity'"),
    (lambda: TreeClassifier(pruning="REP").fit(X, Y), ": did you mean 'reduced_error'"),
    (lambda: pruning.CostComplexity(impurity="ginni"), ": did you mean 'gini'"),
    (lambda: rank_attributes(X, Y, criterion="information_gain"), ": did you mean 'entropy'"),
    (lambda: compare_methods(X, Y, ["J48"]), ": did you mean 'C4.5'"),
    (lambda: compare_methods(X, Y, ["cart"]), ": did you mean 'CART'"),
    (lambda: measures.score_tables("SMI", [[[1, 2], [2, 1]]]), ": did you mean 'smi'"),
    (
        lambda: TreeClassifier(attribute_costs={"Wind": 2}, cost_function="nunes").fit(X, Y),
        ": did you mean 'nunez'",
    ),
    (lambda: ID3Classifier().fit(X, Y).export("JSON"), ": did you mean 'json'"),
]


@pytest.mark.parametrize(("call", "words"), VALUES)
def test_values(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        call()
    assert "\n" not in str(error.value)


def test_no_guess_for_what_is_far_from_all() -> None:
    assert meant("quux", ["gini", "entropy"]) == ""
    assert meant(3, ["gini", "entropy"]) == ""
    assert meant("information_gain", ["gini"]) == ""
    assert instead("quux", ["a", "b"]) == "its parameters are 'a', 'b'"


def test_a_word_that_is_not_allowed() -> None:
    assert check_choice("way", "up", ("up", "down")) == "up"
    words = "way must be one of 'up', 'down' or a number, got 'Down': did you mean 'down'?"
    with pytest.raises(ValueError, match=re.escape(words)):
        check_choice("way", "Down", ("up", "down"), " or a number")
    for value in (None, 1, ["up"], {}):
        with pytest.raises(KeyError, match="way must be one of 'up', 'down', got"):
            check_choice("way", value, ("up", "down"), error=KeyError)
    with pytest.raises(ArgumentError, match="got 'Lenient': did you mean 'lenient'"):
        Options(mode="Lenient")
    with pytest.raises(
        ValueError, match=r"method must be one of .*, got 'rep': did you mean 'reduced_error'"
    ):
        TreeClassifier().fit(X, Y).prune("rep")
