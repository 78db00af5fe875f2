# SPDX-License-Identifier: BSD-3-Clause
"""RuleClassifier: golden rules, the slow reference, bad input, and parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import reference_rules as naive
from candidates import effective_weights
from hypothesis import given
from hypothesis import strategies as st
from rules.test_rules import parts_of
from strategies import Problem, medium, problems

import fasttree
from fasttree import C45Classifier, CARTClassifier, ID3Classifier, TreeClassifier
from fasttree.encoding.folds import hold_out, value_hashes
from fasttree.estimators.rule_classifier import RuleClassifier
from fasttree.pruning import ErrorBased, added_errors
from fasttree.rules import RuleList, rules_of
from fasttree.rules.conditions import ConditionTable, reader
from fasttree.rules.learning import learn_rules
from fasttree.rules.pruning import evidence, pessimistic_error, plain_error
from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.training import read_table, read_target

pytestmark = pytest.mark.numeric

NAN = math.nan


def said(rules: RuleList) -> list[str]:
    return [str(rule).split(" (")[0] for rule in rules]


# -- golden --------------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["improves", "not_worse"])
def test_play_tennis(when: str) -> None:
    X, y = fasttree.datasets.play_tennis()
    model = RuleClassifier(base=ID3Classifier(), when=when).fit(X, y)
    assert said(model.rules_) == [
        "IF Outlook = Overcast THEN Yes",
        "IF Humidity = Normal THEN Yes",
        "IF Outlook = Sunny AND Humidity = High THEN No",
        "IF Outlook = Rain AND Wind = Weak THEN Yes",
        "IF Outlook = Rain AND Wind = Strong THEN No",
    ]
    assert model.rules_.estimated_error == pytest.approx(
        [0.2928932188134524, 0.3381058800449939, 0.37003947505256346, 0.37003947505256346, 0.5]
    )
    assert [(rule.support, rule.errors) for rule in model.rules_][:2] == [(4, 0), (7, 1)]
    assert model.default_class_ == "Yes"


@pytest.mark.parametrize("when", ["improves", "not_worse"])
def test_mammals(when: str) -> None:
    X, y = fasttree.datasets.mammals("train10")
    model = RuleClassifier(base=ID3Classifier(), when=when).fit(X, y)
    assert said(model.rules_) == [
        "IF Four-Legged = no THEN no",
        "IF Body Temperature = cold-blooded THEN no",
        "IF Four-Legged = yes AND Body Temperature = warm-blooded THEN yes",
    ]
    assert model.rules_.estimated_error == pytest.approx([0.206299, 0.242142, 0.5], abs=1e-6)


def drawn_tree_of_mammals() -> RuleList:
    """Body Temperature, then Gives Birth, then Four-Legged: a tree that was drawn by hand."""
    schema = ID3Classifier().fit(*fasttree.datasets.mammals("train10")).tree_.schema
    warm, cold, birth, no_birth, four, not_four = range(6)
    rules = [(warm, birth, four), (warm, birth, not_four), (warm, no_birth), (cold,)]
    n = 6
    table = ConditionTable(
        schema,
        attribute=np.repeat(np.arange(3, dtype=np.int32), 2),
        low=np.full(n, np.nan),
        high=np.full(n, np.inf),
        start=np.arange(n + 1),
        codes=np.tile(np.array([1, 2], dtype=np.uint32), 3),
        missing=np.zeros(n, dtype=bool),
    )
    yes = schema.classes.tolist().index("yes")
    label = np.array([yes, 1 - yes, 1 - yes, 1 - yes], dtype=np.int32)
    return RuleList(
        conditions=table,
        start=np.append(0, np.cumsum([len(rule) for rule in rules])),
        condition=np.array([c for rule in rules for c in rule]),
        missing_seen=np.zeros(9, dtype=bool),
        label=label,
        counts=np.zeros((4, 2)),
        estimated_error=np.zeros(4),
        estimate="laplace",
        default=0,
        default_counts=np.zeros(2),
        uncovered=0.0,
        training_weight=10.0,
    )


@pytest.mark.parametrize(
    ("when", "first"),
    [
        (
            "improves",
            "IF Body Temperature = warm-blooded AND Gives Birth = yes AND Four-Legged = yes THEN yes",
        ),
        ("not_worse", "IF Body Temperature = warm-blooded AND Gives Birth = yes THEN yes"),
    ],
)
def test_the_drawn_tree_judged_by_the_test_animals(when: str, first: str) -> None:
    rules = drawn_tree_of_mammals()
    judged = []
    for part in ("train10", "test"):
        X, y = fasttree.datasets.mammals(part)
        table = read_table_for_schema(X, rules.schema)
        labels = np.asarray(y).tolist()
        codes = np.array([rules.schema.classes.tolist().index(label) for label in labels])
        judged.append(evidence(reader(table, "missing", 0, 10), codes, 2))
    left = learn_rules(rules, *judged, plain_error, "validation", when)
    assert dict(zip(said(left), left.estimated_error.tolist(), strict=True)) == pytest.approx(
        {
            first: 0.0,
            "IF Body Temperature = cold-blooded THEN no": 0.0,
            "IF Gives Birth = no THEN no": 1 / 6,
            "IF Four-Legged = no THEN no": 2 / 6,
        }
    )
    assert left.estimated_error.tolist() == sorted(left.estimated_error.tolist())


def test_errors_to_add() -> None:
    n = np.array([1, 2, 3, 6, 9, 4, 5, 14, 16, 100, 1000, 6.5, 10, 3, 0])
    e = np.array([0, 0, 0, 0, 0, 1, 2, 5, 1, 10, 50, 0.4, 9.8, 2.7, 0])
    expected = [0.75, 1, 1.110118425, 1.237796844, 1.284804154, 1.189388194, 1.239583292]
    expected += [1.794993148, 1.506893958, 2.814705318, 5.514415659, 1.288299131, 0.134, 0.201, 0]
    assert added_errors(n, e) == pytest.approx(expected, abs=1e-8)
    for confidence in (0.01, 0.1, 0.25, 0.5):
        slow = [naive.add_errors(a, b, confidence) for a, b in zip(n, e, strict=True)]
        assert added_errors(n, e, ErrorBased(confidence)) == pytest.approx(slow)


# -- the slow reference --------------------------------------------------------------------------


def compare(problem: Problem, model: RuleClassifier, judges: Problem | None = None) -> None:
    tree = model.tree_
    # Whole weights are copies; others were scaled to mean 1 where they count.
    training = (problem.rows, problem.y, effective_weights(problem.weights, len(problem.y)))
    judging = training
    if judges is not None:
        judging = (judges.rows, judges.y, [1.0] * len(judges.y))
    estimate = naive.plain
    if model.rules_.estimate == "pessimistic":
        estimate = naive.pessimistic(model.confidence)
    left, default = naive.learn(
        naive.rules_of(tree),
        training,
        judging,
        problem.n_classes,
        estimate,
        model.when,
        n_levels=() if model.simplify is None else [a.n_categories for a in problem.attributes],
    )
    rules = model.rules_
    assert len(rules) == len(left)
    for i, rule in enumerate(left):
        assert parts_of(rules, i) == list(rule.parts)
        assert rules.label[i] == rule.label
        assert rules.counts[i] == pytest.approx(list(rule.counts), abs=1e-9)
        assert rules.estimated_error[i] == pytest.approx(rule.error, abs=1e-9)
    assert rules.default == default
    assert model.rules_.match(problem.X).tolist() == [
        naive.first_match(left, row) for row in problem.rows
    ]
    lacking = [
        any(
            row[part.attribute] != row[part.attribute] and rule.covers(row) and weight > 0
            for row, weight in zip(problem.rows, training[2], strict=True)
        )
        for rule in left
        for part in rule.parts
    ]
    assert rules.missing_seen.tolist() == lacking


@given(
    problems(holes=True, weights=("none", "whole", "fractional"))
    | problems(weights=("none", "whole", "fractional")),
    st.sampled_from(["improves", "not_worse"]),
    st.sampled_from([0.1, 0.25, 0.5]),
)
def test_against_the_reference(problem: Problem, when: str, confidence: float) -> None:
    base = TreeClassifier(**problem.parameters)
    model = RuleClassifier(base=base, when=when, confidence=confidence)
    compare(problem, model.fit(problem.X, np.array(problem.y), problem.weights))


def test_weights_that_differ_by_rounding_do_not_order_rules() -> None:
    """Two rules of one error, whose rows' weights have the same sum: the order is that of the tree's leaves."""
    X = np.array([[0.0, 0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0, 0.0]]).T
    y, weights = np.array([0, 1, 1, 0, 0]), [2.765625, 1.609375, 2.734375, 1.9375, 2.40625]
    base = TreeClassifier(criterion="entropy", stop_zero_gain=True)
    rules = RuleClassifier(base=base, confidence=0.1).fit(X, y, weights).rules_
    assert rules.counts.sum(axis=1)[:2] == pytest.approx([4.34375 / 2.290625] * 2, abs=1e-9)
    assert rules.label.tolist() == [1, 0, 0]


@given(problems(holes=True, weights=("none",)), st.sampled_from(["improves", "not_worse"]))
def test_against_the_reference_with_rows_to_judge_by(problem: Problem, when: str) -> None:
    base = TreeClassifier(**problem.parameters)
    judges = problem.take(list(range(0, len(problem.y), 2)))
    model = RuleClassifier(base=base, estimate="validation", when=when)
    model.fit(problem.X, np.array(problem.y), X_val=judges.X, y_val=np.array(judges.y))
    compare(problem, model, judges)


@given(problems(holes=True, weights=("none", "whole"), parameters=False))
def test_against_the_reference_with_fractional_rows(problem: Problem) -> None:
    problem.parameters = {"missing": "fractional", "criterion": "gain_ratio"}
    model = RuleClassifier(base=TreeClassifier(**problem.parameters))
    compare(problem, model.fit(problem.X, np.array(problem.y), problem.weights))


@pytest.mark.parametrize("weighting", ["none", "whole", "fractional"])
def test_many_rules_against_the_reference(weighting: str) -> None:
    problem = medium("gini", "subset", 3, weighting, seed=4, n_rows=250, holes=0.1)
    problem.parameters["missing"] = "branch"
    model = RuleClassifier(base=TreeClassifier(**problem.parameters))
    compare(problem, model.fit(problem.X, np.array(problem.y), problem.weights))
    assert len(model.rules_) > 20


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = medium("entropy", "multiway", 3, "none", seed=6, n_rows=400, holes=0.1)
    problem.parameters["missing"] = "category"
    model = RuleClassifier(base=TreeClassifier(**problem.parameters))
    whole = model.fit(problem.X, np.array(problem.y)).rules_.to_json()
    monkeypatch.setattr("fasttree.rules.pruning.RULES_AT_A_TIME", 20)
    monkeypatch.setattr("fasttree.rules.pruning.MOST_WORDS", 1000)
    assert model.fit(problem.X, np.array(problem.y)).rules_.to_json() == whole


# -- what is learned -----------------------------------------------------------------------------


def test_copies_of_rows_are_weights() -> None:
    problem = medium("gini", "subset", 2, "whole", seed=8, n_rows=300)
    weights = np.array(problem.weights, dtype=int)
    copied = problem.take(np.repeat(np.arange(300), weights).tolist())
    model = RuleClassifier(base=TreeClassifier())
    one = model.fit(problem.X, np.array(problem.y), weights).rules_.to_json()
    assert model.fit(copied.X, np.array(copied.y)).rules_.to_json() == one


def test_the_order_of_rows_does_not_matter() -> None:
    problem = medium("gini", "subset", 2, "none", seed=9, n_rows=300, holes=0.1)
    order = np.random.default_rng(0).permutation(300).tolist()
    shuffled = problem.take(order)
    for estimate in ("pessimistic", "validation"):
        model = RuleClassifier(base=TreeClassifier(), estimate=estimate)
        one = model.fit(problem.X, np.array(problem.y)).rules_.to_json()
        assert model.fit(shuffled.X, np.array(shuffled.y)).rules_.to_json() == one


def test_rules_of_noise_are_shorter_and_better() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 8))
    y = (X[:, 0] > 0).astype(int) ^ (rng.random(2000) < 0.2)
    base = TreeClassifier()
    tree = base.fit(X[:1000], y[:1000])
    model = RuleClassifier(base=TreeClassifier()).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > tree.score(X[1000:], y[1000:]) + 0.03
    assert model.rules_.n_conditions < rules_of(tree.tree_).n_conditions


def test_probabilities_are_those_of_the_rows_that_a_rule_covers() -> None:
    X, y = fasttree.datasets.play_tennis()
    model = RuleClassifier(base=ID3Classifier()).fit(X, y)
    shares = model.predict_proba(X)
    assert shares[6].tolist() == pytest.approx([1 / 6, 5 / 6])  # Overcast: 4 Yes
    assert shares[4].tolist() == pytest.approx([2 / 9, 7 / 9])  # Humidity = Normal: 6 Yes, 1 No
    assert np.array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    assert np.allclose(np.exp(model.predict_log_proba(X)), shares)


def test_rows_that_no_rule_applies_to_get_the_class_of_such_training_rows() -> None:
    # With fractional rows a missing value meets no condition.
    X = {"marker": np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, NAN, NAN, NAN])}
    y = ["a", "a", "a", "b", "b", "b", "b", "a", "a"]
    model = RuleClassifier(base=C45Classifier(pruning=None)).fit(X, y)
    assert (model.default_class_, model.rules_.uncovered) == ("a", 3)
    assert model.predict({"marker": [NAN]}).tolist() == ["a"]
    assert model.predict_proba({"marker": [NAN]})[0].tolist() == pytest.approx([3 / 5, 2 / 5])
    assert model.rules_.to_text().endswith("OTHERWISE a (training rows without a rule: 3)")


def test_one_class_needs_no_rule() -> None:
    model = RuleClassifier().fit([[1.0], [2.0]], ["only", "only"])
    assert len(model.rules_) == 0
    assert model.predict([[5.0]]).tolist() == ["only"]
    assert model.to_text() == "OTHERWISE only (training rows without a rule: 2)"
    assert str(model.explain([[5.0]])).startswith("only, because no rule applies")
    assert model.rules_.to_python().endswith("    return 'only'\n")


def test_why_a_row_gets_its_class() -> None:
    X, y = fasttree.datasets.mammals("train10")
    model = RuleClassifier(base=ID3Classifier()).fit(X, y)
    why = model.explain(dict(zip(X, ["cold-blooded", "no", "no", "no"], strict=True)))
    assert why.agreeing == (1,)
    assert why.disagreeing == ()
    assert str(why).splitlines()[-2:] == [
        "It is the first rule.",
        "Rule 2 also applies and agrees.",
    ]


def test_the_default_base_is_c45() -> None:
    X, y = fasttree.datasets.play_tennis()
    model = RuleClassifier().fit(X, y)
    assert model.tree_ == C45Classifier(pruning=None).fit(X, y).tree_
    assert list(model.feature_names_in_) == list(X)
    assert model.n_features_in_ == 4
    assert model.classes_.tolist() == ["No", "Yes"]


# -- rows held out -------------------------------------------------------------------------------


def draw(X: Any, y: Any, fraction: float = 0.3, seed: int = 0) -> np.ndarray:
    table = read_table(X)
    codes = read_target(y, table.n_rows).codes
    return hold_out(value_hashes(table.values(), len(codes), seed), codes, fraction)


def test_a_draw_takes_its_share_of_each_class(
    numeric_table: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = numeric_table
    drawn = draw(X, y)
    for label in np.unique(y):
        assert drawn[y == label].sum() == int(0.3 * (y == label).sum())
    assert not np.array_equal(drawn, draw(X, y, seed=1))
    order = np.random.default_rng(0).permutation(len(y))
    assert np.array_equal(draw(X[order], y[order]), drawn[order])
    frame = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    assert np.array_equal(draw(frame, y), drawn)


def test_copies_are_drawn_like_rows_and_no_class_is_lost() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack(np.divmod(rng.permutation(400)[:60], 20)).astype(float)
    X[X == 2] = NAN
    copies = np.repeat(np.arange(60), rng.integers(1, 5, 60))
    X, y = X[copies], rng.integers(0, 2, 60)[copies]
    drawn = draw(X, y, 0.5)
    assert drawn.any()
    for label in (0, 1):
        assert not drawn[y == label].all()
    keys = [(*row, label) for row, label in zip(np.nan_to_num(X, nan=9).tolist(), y, strict=True)]
    divided = [
        len({bool(d) for d, k in zip(drawn, keys, strict=True) if k == key}) for key in set(keys)
    ]
    assert set(divided) == {1, 2}


def test_rows_that_only_look_alike_are_drawn_one_by_one() -> None:
    X = np.repeat([[0.0, NAN], [1.0, 0.0]], 50, axis=0)
    y = np.tile([0, 0, 0, 1, 1], 20)
    drawn = draw(X, y, 0.4)
    for value in (0, 1):
        for label in (0, 1):
            assert 0.1 < drawn[(X[:, 0] == value) & (y == label)].mean() < 0.7


@pytest.mark.parametrize("heavy", [1.0, 3.0, 0.7])
def test_rows_of_weight_0_are_not_drawn(heavy: float) -> None:
    """They are no rows: neither they nor the levels and classes that only they have change the draw of the others."""
    rng = np.random.default_rng(0)
    X = {"x": rng.normal(size=80), "c": rng.choice(list("bcd"), 80)}
    y = np.where((X["x"] > 0) ^ (rng.random(80) < 0.2), "yes", "no")
    weight = np.where(rng.random(80) < 0.5, heavy, 1.0)
    model = RuleClassifier(base=TreeClassifier(), estimate="validation")
    expected = model.fit(X, y, weight).to_text()
    ghosts = {"x": rng.normal(size=40), "c": rng.choice(list("acd"), 40)}
    haunted = {name: np.concatenate([ghosts[name], X[name]]) for name in X}
    labels = np.concatenate([rng.choice(["maybe", "no", "yes"], 40), y])
    weight = np.concatenate([np.zeros(40), weight])
    assert model.fit(haunted, labels, weight).to_text() == expected


def test_copies_that_are_drawn_together_are_a_weight() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    weight = rng.integers(0, 4, 60)
    model = RuleClassifier(base=TreeClassifier(), estimate="validation")
    expected = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).to_text()
    assert model.fit(X, y, weight).to_text() == expected


def test_too_few_rows_to_hold_any_out() -> None:
    with pytest.warns(UserWarning, match=r"validation_fraction=0.3 of 4 rows.*pessimistic"):
        model = RuleClassifier(estimate="validation").fit(
            [[1.0], [1.0], [2.0], [2.0]], [0, 0, 1, 1]
        )
    assert model.rules_.estimate == "pessimistic"


# -- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"confidence": 0.0}, "confidence must be above 0 and at most 0.5, got 0.0"),
        ({"confidence": 0.6}, "confidence.*got 0.6"),
        ({"confidence": "high"}, "confidence must be above 0 and at most 0.5, got 'high'"),
        ({"confidence": 10**400}, "confidence must be above 0 and at most 0.5, got 1000"),
        (
            {"estimate": "laplace"},
            "estimate must be one of 'pessimistic', 'validation', got 'laplace'",
        ),
        ({"when": "always"}, "when must be one of 'improves', 'not_worse', got 'always'"),
        ({"simplify": "best"}, "simplify must be one of 'subset' or None, got 'best'"),
        ({"simplify": 1}, "simplify must be one of 'subset' or None, got 1"),
        ({"validation_fraction": 1.0}, "validation_fraction must be above 0 and below 1, got 1.0"),
        (
            {"validation_fraction": 10**400},
            "validation_fraction must be above 0 and below 1, got 1000",
        ),
        ({"random_state": -1}, "random_state.*got -1"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RuleClassifier(**parameters).fit([[1.0], [2.0]], [0, 1])


def test_scores_are_those_of_any_classifier() -> None:
    model = RuleClassifier().fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    assert model.score([[1.0], [4.0]], [0, 0], sample_weight=[1e308, 1e308]) == 0.5
    with pytest.raises(
        ValueError, match="y contains labels like 'a', but the model was fitted on labels like 0"
    ):
        model.score([[1.0], [4.0]], ["a", "b"])


def test_bad_bases() -> None:
    with pytest.raises(TypeError, match=r"base must be a tree classifier.*got 'tree'"):
        RuleClassifier(base="tree").fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(TypeError, match=r"base must be"):
        RuleClassifier(base=TreeClassifier).fit([[1.0], [2.0]], [0, 1])


def test_classes_that_count_more_are_weights_of_rows() -> None:
    base = TreeClassifier(class_weight="balanced")
    with pytest.raises(ValueError, match=r"base has class_weight='balanced'.*sample_weight"):
        RuleClassifier(base=base).fit([[1.0], [2.0]], [0, 1])


def test_bad_rows_to_judge_by() -> None:
    X, y = {"a": np.arange(6.0), "b": np.arange(6.0)}, np.array([0, 0, 0, 1, 1, 1])
    model = RuleClassifier(estimate="validation")
    with pytest.raises(ValueError, match=r"X_val was passed without y_val"):
        model.fit(X, y, X_val=X)
    with pytest.raises(ValueError, match=r"y_val was passed without X_val"):
        model.fit(X, y, y_val=y)
    with pytest.raises(ValueError, match=r"(?s)feature names.*- c.*- b"):
        model.fit(X, y, X_val={"a": np.arange(2.0), "c": np.arange(2.0)}, y_val=[0, 1])
    with pytest.raises(ValueError, match=r"y_val contains the class 7 in row 1.*\[0, 1\]"):
        model.fit(X, y, X_val={"a": np.arange(2.0), "b": np.arange(2.0)}, y_val=[0, 7])
    with pytest.raises(ValueError, match=r"0 (rows|sample)"):
        model.fit(X, y, X_val={"a": np.arange(0.0), "b": np.arange(0.0)}, y_val=[])
    with pytest.raises(ValueError, match=r"X_val requires estimate=\"validation\""):
        RuleClassifier().fit(X, y, X_val=X, y_val=y)


def test_encoded_columns_are_refused() -> None:
    X, y = fasttree.datasets.play_tennis()
    with pytest.raises(TypeError, match=r"fasttree.Columns.*pass the table"):
        RuleClassifier().fit(fasttree.Columns(X, y))


def test_a_class_without_weight_is_no_class() -> None:
    X = [[1.0], [2.0], [3.0], [4.0]]
    model = RuleClassifier(base=TreeClassifier()).fit(X, [0, 0, 1, 2], [1, 1, 1, 0])
    assert model.classes_.tolist() == [0, 1]


# -- parameters ----------------------------------------------------------------------------------


def test_representation_and_parameters() -> None:
    assert repr(RuleClassifier()) == "RuleClassifier()"
    assert repr(RuleClassifier(base=CARTClassifier())) == "RuleClassifier(base=CARTClassifier())"
    assert RuleClassifier().get_params() == {
        "base": None,
        "estimate": "pessimistic",
        "confidence": 0.25,
        "when": "improves",
        "simplify": None,
        "validation_fraction": 0.3,
        "random_state": None,
        "verbose": 0,
    }


def test_estimates_of_nothing() -> None:
    nothing = np.zeros(1)
    assert plain_error(nothing, nothing).tolist() == [1.0]
    assert pessimistic_error(0.25)(nothing, nothing).tolist() == [1.0]
