# SPDX-License-Identifier: BSD-3-Clause
"""Rules of a tree: what they say, that they classify as the tree does, and their other forms."""

from __future__ import annotations

import json
import math
import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference_rules as naive
from hypothesis import given
from hypothesis import strategies as st
from strategies import Problem, any_rows, medium, problems

import fasttree
from fasttree import C45Classifier, CARTClassifier, ID3Classifier, TreeClassifier
from fasttree.rules import Condition, Rule, RuleList, Substitute, rules_of

NAN = math.nan


def tennis() -> tuple[ID3Classifier, RuleList]:
    model = ID3Classifier().fit(*fasttree.datasets.play_tennis())
    return model, rules_of(model.tree_)


def parts_of(rules: RuleList, i: int) -> list[naive.Part]:
    """The conditions of a rule as the reference has them."""
    table = rules.conditions
    parts = []
    for c in rules.condition[rules.start[i] : rules.start[i + 1]].tolist():
        attribute = int(table.attribute[c])
        codes = None
        if rules.schema.attributes[attribute].categories is not None:
            allowed = table.codes[table.start[c] : table.start[c + 1]]
            codes = frozenset((allowed.astype(int) - 1).tolist())
        parts.append(
            naive.Part(
                attribute,
                None if math.isnan(table.low[c]) else float(table.low[c]),
                float(table.high[c]),
                codes,
                bool(table.missing[c]),
            )
        )
    return parts


def as_dicts(
    problem: Problem, rows: list[tuple[float, ...]], never_seen: float = -1
) -> list[dict[str, Any]]:
    """Rows of numbers and codes as a person would write them; a level never seen may be written as missing."""
    written = []
    for row in rows:
        values: dict[str, Any] = {}
        for place, (value, attribute) in enumerate(zip(row, problem.attributes, strict=True)):
            name = f"x{place}" if problem.is_numeric else f"column {place}"
            if attribute.n_categories is None:
                values[name] = value
            else:
                values[name] = problem.words(place, [never_seen if value == -1 else value])[0]
        written.append(values)
    return written


def run_source(rules: RuleList) -> Any:
    names: dict[str, Any] = {}
    exec(rules.to_python(), names)
    return names["classify"]


# -- what they say -------------------------------------------------------------------------------


def test_one_rule_for_each_path_of_play_tennis() -> None:
    _, rules = tennis()
    assert [str(rule).split(" (")[0] for rule in rules] == [
        "IF Outlook = Sunny AND Humidity = High THEN No",
        "IF Outlook = Sunny AND Humidity = Normal THEN Yes",
        "IF Outlook = Overcast THEN Yes",
        "IF Outlook = Rain AND Wind = Weak THEN Yes",
        "IF Outlook = Rain AND Wind = Strong THEN No",
    ]
    assert [rule.support for rule in rules] == [3, 2, 4, 3, 2]
    assert all(rule.errors == 0 for rule in rules)
    assert rules[2].coverage == pytest.approx(4 / 14)
    assert rules[2].proba == pytest.approx({"No": 1 / 6, "Yes": 5 / 6})
    assert rules[2].estimated_accuracy == pytest.approx(5 / 6)
    assert rules.default_class == "Yes"


def test_thresholds_on_one_attribute_become_an_interval() -> None:
    X = {"age": np.arange(12.0), "dose": np.array([0.0, 1.0] * 6)}
    y = [0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    rules = rules_of(TreeClassifier().fit(X, y).tree_)
    assert [str(rule.conditions[0]) for rule in rules] == [
        "age <= 2.5",
        "2.5 < age <= 6.5 (or missing)",  # the heavier side of the cut at 6.5, then of that at 2.5
        "age > 6.5",
    ]
    assert [len(rule.conditions) for rule in rules] == [1, 1, 1]
    assert rules.n_conditions == 3
    assert len(rules.condition) == 4  # an interval is two bounds, either of which pruning may drop


def test_sets_of_levels_are_intersected() -> None:
    colours = ["red", "green", "blue", "black"] * 5
    y = ["b", "a", "a", "c"] * 5
    rules = rules_of(TreeClassifier().fit({"colour": colours}, y).tree_)
    said = {rule.label: set(rule.conditions[0].levels or ()) for rule in rules}
    assert said == {"a": {"blue", "green"}, "b": {"red"}, "c": {"black"}}
    assert all(len(rule.conditions) == 1 for rule in rules)


def test_a_single_leaf_is_a_rule_without_conditions() -> None:
    rules = rules_of(TreeClassifier().fit([[1.0], [2.0]], [5, 5]).tree_)
    assert len(rules) == 1
    assert rules[0].conditions == ()
    assert str(rules[0]) == "IF anything THEN 5 (training rows: 2, no errors, optimistic)"
    assert rules.predict([[7.0], [8.0]]).tolist() == [5, 5]


def test_a_leaf_without_training_rows_has_no_rule() -> None:
    X = {"size": fasttree.Categorical(["s", "m", "s", "m"], ["s", "m", "l"])}
    model = ID3Classifier().fit(X, [0, 1, 0, 1])
    rules = rules_of(model.tree_)
    assert model.get_n_leaves() == 3
    assert [str(rule.conditions[0]) for rule in rules] == ["size = s", "size = m"]
    assert rules.match({"size": ["l"]}).tolist() == [-1]


def test_a_list_of_rules_is_a_sequence() -> None:
    _, rules = tennis()
    assert len(rules) == 5
    assert rules[-1] == rules[4]
    assert rules[1:3] == [rules[1], rules[2]]
    assert list(rules)[3] == rules[3]
    with pytest.raises(IndexError, match=r"5 rules.*got 5"):
        rules[5]
    assert repr(rules) == "RuleList(5 rules, 9 conditions, else 'Yes')"
    copy = pickle.loads(pickle.dumps(rules))
    assert copy.to_json() == rules.to_json()


def test_averages_have_no_rules() -> None:
    model, _ = tennis()
    with pytest.raises(ValueError, match=r"BayesTreeClassifier averages.*SMMLClassifier"):
        rules_of(model.tree_, averaged="BayesTreeClassifier")


@given(problems(holes=True) | problems())
def test_rules_are_those_of_the_reference(problem: Problem) -> None:
    tree = problem.fit().tree_
    rules, expected = rules_of(tree), naive.rules_of(tree)
    assert len(rules) == len(expected)
    for i, rule in enumerate(expected):
        assert parts_of(rules, i) == list(rule.parts)
        assert rules.label[i] == rule.label
        assert rules.counts[i].tolist() == list(rule.counts)


# -- they classify as the tree -------------------------------------------------------------------


@given(
    problems() | problems(holes=True),
    st.sampled_from(["missing", "majority"]),
    st.data(),
)
def test_rules_say_what_the_tree_says(problem: Problem, unknown: str, data: st.DataObject) -> None:
    model = problem.fit(unknown=unknown)
    rules = rules_of(model.tree_, unknown=unknown)
    rows = data.draw(any_rows(problem, 8))
    X = problem.asked(rows)
    leaves = model.apply(X)
    tree = model.tree_
    has_rule = (tree.attribute[leaves] < 0) & (tree.counts[leaves].sum(axis=1) > 0)
    first = rules.match(X)
    assert np.array_equal(first >= 0, has_rule)
    assert np.array_equal(rules.predict(X)[has_rule], model.predict(X)[has_rule])
    assert set(rules.predict(X)[~has_rule].tolist()) <= {rules.default_class}
    # One at a time they say the same.
    # A condition knows its levels, but not which others there are.
    written = as_dicts(problem, rows, never_seen=NAN)
    if unknown == "missing":
        for row, number in zip(written, first.tolist(), strict=True):
            assert [i for i, rule in enumerate(rules) if rule.holds(row)] == [number] * (
                number >= 0
            )


@pytest.mark.parametrize("shape", ["subset", "multiway"])
@pytest.mark.parametrize("missing", ["branch", "category"])
def test_many_rules_say_what_the_tree_says(shape: str, missing: str) -> None:
    problem = medium("entropy", shape, 3, "none", seed=5, holes=0.2, missing=missing)
    model = problem.fit()
    rules = rules_of(model.tree_)
    assert len(rules) > 100
    assert np.array_equal(rules.predict(problem.X), model.predict(problem.X))
    assert (rules.match(problem.X) >= 0).all()
    share = rules.predict_proba(problem.X)
    assert np.allclose(share.sum(axis=1), 1)


def test_blocks_of_rows_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = medium("gini", "subset", 2, "none", seed=3, holes=0.1, missing="branch")
    rules = rules_of(problem.fit().tree_)
    whole = rules.match(problem.X)
    monkeypatch.setattr("fasttree.rules.rule_list.WORDS_AT_A_TIME", 1)
    monkeypatch.setattr("fasttree.rules.conditions.BLOCK_CELLS", 100)
    monkeypatch.setattr("fasttree.rules.conditions.BLOCK_WORDS", 3)
    assert np.array_equal(rules.match(problem.X), whole)
    monkeypatch.setattr("fasttree.rules.paths.RECORDS_AT_A_TIME", 10)
    assert rules_of(problem.fit().tree_).to_json() == rules.to_json()


def test_a_deep_tree() -> None:
    X, y = np.arange(600.0)[:, np.newaxis], np.arange(600) % 2
    model = TreeClassifier(criterion="misclassification").fit(X, y)
    rules = rules_of(model.tree_)
    assert len(rules) == 600
    assert np.array_equal(rules.predict(X), y)
    assert all(len(rule.conditions) == 1 for rule in rules)


# -- missing values ------------------------------------------------------------------------------


def test_the_text_says_or_missing_where_training_rows_lacked_the_value() -> None:
    X = {"marker": np.array([1.0, 2.0, 3.0, 4.0, NAN, NAN])}
    rules = rules_of(TreeClassifier().fit(X, ["well", "well", "ill", "ill", "ill", "ill"]).tree_)
    assert [str(rule.conditions[0]) for rule in rules] == [
        "marker <= 2.5",
        "marker > 2.5 or missing",
    ]
    assert rules.predict({"marker": [NAN]}).tolist() == ["ill"]
    rules = rules_of(TreeClassifier().fit(X, ["well"] * 4 + ["ill"] * 2).tree_)
    assert [str(rule.conditions[0]) for rule in rules] == ["marker is known", "marker is missing"]


def test_missing_values_that_training_did_not_see_follow_the_heaviest_branch() -> None:
    X = {"marker": np.array([1.0, 2.0, 3.0, 4.0, 5.0])}
    rules = rules_of(TreeClassifier().fit(X, [0, 0, 1, 1, 1]).tree_)
    assert [str(rule.conditions[0]) for rule in rules] == [
        "marker <= 2.5",
        "marker > 2.5 (or missing)",
    ]
    assert [rule.conditions[0].missing for rule in rules] == [False, True]
    assert rules.predict({"marker": [NAN]}).tolist() == [1]


def test_with_fractional_rows_a_missing_value_meets_no_condition() -> None:
    X = {"marker": np.array([1.0, 2.0, 3.0, 4.0, NAN])}
    model = ID3Classifier().fit(X, [0, 0, 0, 1, 1])
    rules = rules_of(model.tree_)
    assert not any(c.missing for rule in rules for c in rule.conditions)
    assert rules.match({"marker": [NAN, 4.0]}).tolist() == [-1, len(rules) - 1]
    assert "A row with a missing value meets no condition on that attribute." in rules.to_text()


def test_where_values_must_not_be_missing_they_are_refused() -> None:
    X = {"marker": np.array([1.0, 2.0, 3.0, 4.0])}
    model = TreeClassifier(missing="error").fit(X, [0, 0, 1, 1])
    rules = rules_of(model.tree_, allow_missing=False)
    with pytest.raises(ValueError, match=r"marker.*row 1"):
        rules.predict({"marker": np.array([1.0, NAN])})


def test_levels_never_seen() -> None:
    X = {"colour": ["red", "red", "blue", None]}
    model = TreeClassifier().fit(X, [0, 0, 1, 1])
    asked = {"colour": ["green"]}
    assert (
        rules_of(model.tree_).match(asked).tolist()
        == rules_of(model.tree_).match({"colour": [None]}).tolist()
    )
    assert rules_of(model.tree_, unknown="majority").match(asked).tolist() == [-1]
    with pytest.raises(ValueError, match=r"colour.*green"):
        rules_of(model.tree_, unknown="error").match(asked)


@given(problems(holes=True, weights=("none",), parameters=False), st.data())
def test_surrogates_decide_in_rules_too(problem: Problem, data: st.DataObject) -> None:
    model = CARTClassifier(pruning=None).fit(problem.X, np.array(problem.y))
    rules = rules_of(model.tree_)
    columns = []
    for attribute in problem.attributes:
        known = [value for value in attribute.values if value == value]
        value = st.sampled_from([*known, NAN]) | st.just(NAN)
        columns.append(data.draw(st.lists(value, min_size=16, max_size=16)))
    rows = list(zip(*columns, strict=True))
    X = problem.asked(rows)
    assert np.array_equal(rules.predict(X), model.predict(X))
    first = rules.match(X).tolist()
    classify = run_source(rules)
    for row, number in zip(as_dicts(problem, rows), first, strict=True):
        assert [i for i, rule in enumerate(rules) if rule.holds(row)] == [number]
        assert classify(row) == rules[number].label


# -- conditions in words -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Condition("age", high=35.0), "age <= 35"),
        (Condition("age", high=-math.inf), "age <= -inf"),
        (Condition("age", low=35.0), "age > 35"),
        (Condition("age", 20.0, 35.5), "20 < age <= 35.5"),
        (Condition("age", low=0.1 + 0.2), "age > 0.3"),
        (Condition("age", low=1234567.8), "age > 1234567.8"),
        (Condition("age", low=1e20), "age > 1e+20"),
        (Condition("age", low=35.0, missing=True), "age > 35 (or missing)"),
        (Condition("age", low=35.0, missing=True, missing_seen=True), "age > 35 or missing"),
        (Condition("age", low=math.inf, missing=True), "age is missing"),
        (Condition("age"), "age is known"),
        (Condition("sex", levels=("f",), excluded=("m",)), "sex = f"),
        (Condition("part", levels=("a", "b"), excluded=("c",)), "part in {a, b}"),
        (Condition("part", levels=tuple("abcdef"), excluded=("g",)), "part != g"),
        (Condition("part", levels=tuple("abcdef"), excluded=("g", "h")), "part not in {g, h}"),
        (
            Condition("part", levels=tuple("abcdefghij"), excluded=tuple("klmnopqrst")),
            "part in {a, b, c, d, e, f, g, h, and 2 more}",
        ),
        (Condition("sex", levels=("f", "m")), "sex is known"),
        (Condition("sex", levels=(), excluded=("f", "m"), missing=True), "sex is missing"),
    ],
)
def test_conditions_in_words(condition: Condition, text: str) -> None:
    assert str(condition) == text


def test_long_rules_are_broken_where_people_would_break_them() -> None:
    problem = medium("entropy", "subset", 2, "none", seed=1, holes=0.2, missing="branch")
    rules = rules_of(problem.fit().tree_)
    text = rules.to_text(max_rules=20)
    assert all(len(line) <= 100 or line.count(" AND ") == 1 for line in text.splitlines())
    assert f"... and {len(rules) - 20} more rules" in text
    assert "(" in text
    assert " or missing) AND " in text


# -- probabilities -------------------------------------------------------------------------------


def weighted_by_hand(counts: list[float], weights: list[float]) -> list[float]:
    """Laplace's estimate of as many rows, of which each class has its share by weight."""
    rows, whole = sum(counts), sum(c * w for c, w in zip(counts, weights, strict=True))
    return [
        (rows * c * w / whole + 1) / (rows + len(counts))
        for c, w in zip(counts, weights, strict=True)
    ]


@pytest.mark.parametrize("missing", ["branch", "surrogate", "fractional"])
def test_class_weights_are_in_the_probabilities(missing: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = {"a": rng.normal(size=400), "b": rng.choice(["p", "q", "r"], 400)}
    X["a"][rng.random(400) < 0.1] = NAN
    y = np.where(rng.random(400) < 0.1 + 0.1 * (X["b"] == "q"), "ill", "well")
    weights = [7.5, 0.5]
    model = TreeClassifier(
        class_weight=dict(zip(["ill", "well"], weights, strict=True)),
        missing=missing,
        min_samples_leaf=40,
    ).fit(X, y)
    rules = model.rules()
    assert len({rule.label for rule in rules}) == 2
    assert any(rule.counts[rule.label] < rule.support / 2 for rule in rules)
    for i, rule in enumerate(rules):
        by_hand = weighted_by_hand(list(rule.counts.values()), weights)
        assert list(rule.proba.values()) == pytest.approx(by_hand, rel=1e-12)
        assert rules.shares[i] == pytest.approx(by_hand, rel=1e-12)
        assert max(rule.proba, key=rule.proba.get) == rule.label
        assert rule.estimated_accuracy == pytest.approx(
            (rule.counts[rule.label] + 1) / (rule.support + 2)
        )
    total = [np.count_nonzero(y == label) for label in ("ill", "well")]
    assert rules.shares[-1] == pytest.approx(weighted_by_hand(total, weights))
    # Laplace's two rows apart, these are the probabilities of the tree.
    whole = np.flatnonzero(~np.isnan(X["a"]))
    rows = {name: column[whole] for name, column in X.items()}
    share, place = rules.predict_proba(rows), rules.match(rows)
    support = np.array([rule.support for rule in rules])[place][:, np.newaxis]
    np.testing.assert_allclose(
        share, (support * model.predict_proba(rows) + 1) / (support + 2), rtol=1e-9
    )
    assert (rules.predict(rows) == model.classes_[share.argmax(axis=1)]).all()
    why = rules.explain({"a": 0.0, "b": "q"})
    assert why.proba == pytest.approx(why.rule.proba)
    assert json.loads(rules.to_json())["class_weights"] == weights
    # The scale of class weights is nothing, and a file keeps them.
    tenth = TreeClassifier(class_weight={"ill": 0.75, "well": 0.05}, missing=missing)
    tenth = tenth.set_params(min_samples_leaf=40).fit(X, y)
    np.testing.assert_allclose(tenth.rules().predict_proba(X), rules.predict_proba(X), rtol=1e-12)
    model.save(tmp_path / "weighted.fasttree")
    loaded = fasttree.load(tmp_path / "weighted.fasttree").rules()
    assert loaded.predict_proba(X).tobytes() == rules.predict_proba(X).tobytes()
    assert list(loaded) == list(rules)


def test_without_class_weights_nothing_is_weighted() -> None:
    X, y = fasttree.datasets.play_tennis()
    plain = ID3Classifier(max_depth=1).fit(X, y).rules()
    evenly = ID3Classifier(max_depth=1, class_weight={"No": 1, "Yes": 1}).fit(X, y).rules()
    assert plain.class_weights is None
    assert "class_weights" not in plain.to_json()
    assert [rule.proba for rule in plain] == [rule.proba for rule in evenly]
    assert plain[0].proba == {"No": 4 / 7, "Yes": 3 / 7}


# -- other forms ---------------------------------------------------------------------------------


@given(problems() | problems(holes=True), st.data())
def test_the_python_source_says_the_same(problem: Problem, data: st.DataObject) -> None:
    rules = rules_of(problem.fit().tree_)
    classify = run_source(rules)
    rows = data.draw(any_rows(problem, 4))
    said = [classify(row) for row in as_dicts(problem, rows)]
    assert said == rules.predict(problem.asked(rows)).tolist()


def test_python_source_to_look_at() -> None:
    _, rules = tennis()
    source = rules.to_python()
    assert (
        "    if outlook == 'Sunny' and humidity == 'High':\n"
        "        return 'No'  # training rows: 3, no errors, optimistic\n" in source
    )
    X, _ = fasttree.datasets.play_tennis()
    days = zip(*(np.asarray(column) for column in X.values()), strict=True)
    said = [run_source(rules)(dict(zip(X, day, strict=True))) for day in days]
    assert said == rules.predict(X).tolist()


def test_python_source_with_awkward_names() -> None:
    names = ["row", "class", "a b", "a-b", "1st", "größe", ""]
    rng = np.random.default_rng(0)
    X = {name: rng.integers(0, 3, 200).astype(float) for name in names}
    y = np.array(sum(X.values()), dtype=int) % 3
    rules = rules_of(TreeClassifier().fit(X, y).tree_)
    classify = run_source(rules)
    rows = [{name: X[name][i] for name in names} for i in range(200)]
    assert [classify(row) for row in rows] == rules.predict(X).tolist()


def test_json_has_everything() -> None:
    X = {"marker": np.array([1.0, 2.0, 3.1, 4.0, NAN, NAN]), "sex": ["f", "m", "f", "f", "f", "f"]}
    model = TreeClassifier().fit(X, ["well", "ill", "ill", "ill", "well", "well"])
    document = json.loads(rules_of(model.tree_).to_json())
    assert document["classes"] == ["ill", "well"]
    assert document["attributes"] == ["marker", "sex"]
    assert document["otherwise"] == {"class": "ill", "rows": 0.0}
    conditions = [c for rule in document["rules"] for c in rule["if"]]
    assert {"attribute": "marker", "above": 1.5, "if_missing": False} in conditions
    assert {rule["then"] for rule in document["rules"]} == {"ill", "well"}
    assert sum(rule["rows"] for rule in document["rules"]) == 6


def test_markdown() -> None:
    _, rules = tennis()
    assert rules.to_markdown().splitlines()[:3] == [
        "| # | if | then | training rows | errors (optimistic) |",
        "|---:|---|---|---:|---:|",
        "| 1 | Outlook = Sunny **and** Humidity = High | **No** | 3 | 0 |",
    ]
    X = {"_a|b*": np.array([1.0, 2.0])}
    rules = rules_of(TreeClassifier().fit(X, ["x_1", "<y>"]).tree_)
    assert "| 1 | \\_a\\|b\\* <= 1.5 (or missing) | **x_1** | 1 | 0 |" in rules.to_markdown()
    assert "**\\<y>**" in rules.to_markdown()
    assert "1 more rule is not shown" in rules.to_markdown(max_rules=1)


class Reading:
    """A rule's text, read again: what is in quotes is put aside before anything is looked for."""

    def __init__(self, text: str) -> None:
        self.quoted: list[str] = []
        self.text = re.sub(r'(?<![^ {(])"(?:[^"\\]|\\.)*"', self._put_aside, text)

    def _put_aside(self, found: re.Match[str]) -> str:
        self.quoted.append(json.loads(found[0]))
        return f"\0{len(self.quoted) - 1}\0"

    def name(self, text: str) -> str:
        return self.quoted[int(text.strip("\0"))] if text.startswith("\0") else text

    def condition(self, text: str) -> tuple[Any, ...]:
        text, missing = re.subn(r"^\(?(.*) or missing\)?$", r"\1", text)
        if between := re.fullmatch(r"(\S+) < (.*) <= (\S+)", text):
            return self.name(between[2]), "between", (between[1], between[3]), bool(missing)
        for word in (" is ", " <= ", " > ", " != ", " = ", " not in {", " in {"):
            name, found, rest = text.partition(word)
            if found:
                values = rest.removesuffix("}").split(", ") if word[-1] == "{" else [rest]
                return (
                    self.name(name),
                    word.strip(" {"),
                    tuple(map(self.name, values)),
                    bool(missing),
                )
        raise AssertionError(text)

    def rule(self) -> tuple[list[tuple[Any, ...]], str]:
        premise, _, conclusion = self.text.removeprefix("IF ").partition(" THEN ")
        label, _, _ = re.split(r" \((?=training rows: )", conclusion, maxsplit=1)[0].partition("\n")
        return [self.condition(text) for text in premise.split(" AND ")], self.name(label)


def said(condition: Condition) -> tuple[Any, ...]:
    """What a reading must find."""
    missing = condition.missing_seen
    if condition.levels is None:
        low, high = condition.low, condition.high
        if low is None or high is None:
            found = ("<=", (f"{high:g}",)) if low is None else (">", (f"{low:g}",))
        else:
            found = ("between", (f"{low:g}", f"{high:g}"))
        return (condition.attribute, *found, missing)
    if not condition.levels:
        return condition.attribute, "is", ("missing",), False
    if not condition.excluded:
        return condition.attribute, "is", ("known",), missing
    word = "=" if len(condition.levels) == 1 else "in"
    return condition.attribute, word, tuple(map(str, condition.levels)), missing


HOSTILE = [
    *("", " ", "a\nb", "a\r\nb", "\x00", "\x1b[31mred", "\u202egnp", "\u2028", "\ud800", "tab\tx"),
    *(
        '"',
        'say "x"',
        '5"',
        'a,"b"',
        '("',
        "\\n",
        "|",
        "a | b",
        "`*_x_*`",
        "[x](http://y)",
        "<b>",
        "&lt;",
        "~~x~~",
    ),
    *(
        "IF",
        "AND b = 1",
        "x AND y",
        "a THEN b",
        "OTHERWISE no",
        "x or missing",
        "missing",
        "anything",
    ),
    *(
        "is",
        "y is known",
        "x = a",
        "a <= 3",
        "< 20",
        "> 4",
        "1 < x",
        "in",
        "not in",
        "x not",
        "not",
    ),
    *("{a, b}", "a, b", "and 3 more", "(x", "x)", "yes (3 rows", "yes (no errors", "age (years)"),
    *("yes (training rows: 3", "yes (training rows"),
    *("x (if missing: y > 1)", "x (or missing)", "a: b", "a:", "0 ", "x !"),
]
names = st.sampled_from(HOSTILE) | st.text(max_size=6)


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    name, missing_seen = draw(names), draw(st.booleans())
    if draw(st.booleans()):
        low, high = draw(st.sampled_from([(1.5, None), (None, 20.0), (-3.0, 0.25)]))
        return Condition(name, low, high, missing=missing_seen, missing_seen=missing_seen)
    levels = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    n = draw(st.integers(0, min(3, len(levels))))
    missing_seen |= n == 0  # else no value would do
    return Condition(
        name,
        levels=tuple(levels[:n]),
        excluded=tuple(levels[n:]),
        missing=missing_seen,
        missing_seen=missing_seen,
    )


@given(st.lists(conditions(), min_size=1, max_size=3), names)
def test_a_rule_is_one_line_and_says_one_thing_whatever_names_hold(
    premise: list[Condition], label: str
) -> None:
    rule = Rule(tuple(premise), label, {label: 3.0, "other": 1.0}, 0.25, 0.5)
    text = str(rule)
    assert text.isprintable()
    assert Reading(text).rule() == ([said(condition) for condition in premise], label)


def hostile_rules() -> RuleList:
    """A rule for each name, of a level and a class that are called so."""
    words = np.array(HOSTILE * 2, dtype=object)
    X = {"a | b\n": words, "x AND y\x1b": np.arange(2.0 * len(HOSTILE))}
    return rules_of(ID3Classifier().fit(X, words).tree_)


def test_hostile_names_in_all_forms() -> None:
    rules = hostile_rules()
    lines = re.sub(r"\n +THEN ", " THEN ", rules.to_text()).splitlines()  # long rules are broken
    assert len(lines) == len(rules) + 1
    markdown = rules.to_markdown().splitlines()
    assert len(markdown) == len(rules) + 5
    for line in markdown[: len(rules) + 3]:
        assert line.isprintable()
        edges = re.findall(r"(?<!\\)(?:\\\\)*\|", line)
        assert len(edges) == 6  # of as many cells as there are columns
    for i, rule in enumerate(rules):
        assert Reading(lines[i].split(". ", 1)[1]).rule()[1] == rule.label
        # Markdown shows what stands in the text: the signs that it takes for its own are marked.
        cells = re.split(r"(?<!\\)(?:\\\\)* \| ", markdown[i + 2])
        assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", cells[1]) == str(rule.conditions[0])
    why = rules.explain({"a | b\n": "a\nb", "x AND y\x1b": 0.0})
    assert str(why).splitlines()[:2] == [
        f'"a\\nb", by rule {why.number + 1} (training rows: 2, no errors, optimistic):',
        '  "a | b\\n" = "a\\nb"',
    ]
    assert run_source(rules)({"a | b\n": "a\nb", "x AND y\x1b": 0.0}) == "a\nb"


# -- why -----------------------------------------------------------------------------------------


def test_which_rule_and_why() -> None:
    _, rules = tennis()
    row = {"Outlook": "Rain", "Temperature": "Hot", "Humidity": "High", "Wind": "Weak"}
    why = rules.explain(row)
    assert (why.label, why.number) == ("Yes", 3)
    assert why.rule == rules[3]
    assert str(why).splitlines() == [
        "Yes, by rule 4 (training rows: 3, no errors, optimistic):",
        "  Outlook = Rain",
        "  Wind = Weak",
        "The 3 rules before it do not apply.",
    ]
    why = rules.explain({**row, "Outlook": None})
    assert (why.label, why.number, why.rule) == ("Yes", None, None)
    assert str(why).startswith("Yes, because no rule applies")


def test_a_row_may_come_as_a_table() -> None:
    X = np.array([[1.0, 20.0], [2.0, 30.0], [3.0, 40.0]])
    rules = rules_of(TreeClassifier().fit(X, [0, 0, 1]).tree_)
    assert str(rules.explain(X[2:])).splitlines()[1] == "  x0 > 2.5: x0 = 3"
    assert rules.explain([[NAN, 1.0]]).row["x0"] is None
    with pytest.raises(ValueError, match="one row, got 3"):
        rules.explain(X)


# -- rules of other trees ------------------------------------------------------------------------


def test_rules_of_c45_take_whole_rows_only() -> None:
    problem = medium("gain_ratio", "multiway", 2, "none", seed=2, holes=0.1)
    model = C45Classifier(pruning=None).fit(problem.X, np.array(problem.y))
    rules = rules_of(model.tree_)
    complete = ~np.isnan(np.array([a.values for a in problem.attributes])).any(axis=0)
    first = rules.match(problem.X)
    assert (first[complete] >= 0).all()
    assert np.array_equal(rules.predict(problem.X)[complete], model.predict(problem.X)[complete])


def test_surrogates_in_words() -> None:
    weight = Condition("weight", low=80.0)
    condition = Condition(
        "age", low=35.0, missing_seen=True, substitutes=(Substitute((weight,), otherwise=True),)
    )
    assert str(condition) == "age > 35 (if missing: weight > 80, else yes)"
    never = replace(condition, substitutes=(Substitute((weight,), otherwise=False),))
    assert str(never) == "age > 35 (if missing: weight > 80)"
    height = Condition("height", low=180.0)
    several = replace(condition, substitutes=(Substitute((weight, height), otherwise=True),))
    assert str(several) == "age > 35 (if missing: weight > 80, else ...)"
    in_full = "age > 35 (if missing: weight > 80, else height > 180, else yes)"
    assert str(replace(several, exact=True)) == in_full
    assert condition.holds({"age": None, "weight": 90.0})
    assert not condition.holds({"age": None, "weight": 70.0})
    assert condition.holds({"age": None, "weight": NAN})
    assert not condition.holds({"age": 30.0, "weight": 90.0})


# -- held-out rows ---------------------------------------------------------------------------------------


def wilson_by_hand(right: int, n: int) -> tuple[float, float]:
    """Both solutions p of |right/n - p| = z sqrt(p (1 - p) / n)."""
    z2 = 1.959963984540054**2
    a, b, c = 1 + z2 / n, -(2 * right / n + z2 / n), (right / n) ** 2
    root = math.sqrt(b * b - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def printed_numbers(text: str) -> tuple[int, int, float, float, float] | None:
    """Behind "held-out rows:"; None if there are none."""
    if text.startswith("none"):
        return None
    found = re.match(
        r"(\S+), (no|\S+) errors?, accuracy (\S+), 95 % limits (\S+) to (\d\.\d+)", text
    )
    assert found
    return (
        int(found[1].replace(",", "")),
        0 if found[2] == "no" else int(found[2].replace(",", "")),
        *(float(found[k]) for k in (3, 4, 5)),
    )


@pytest.mark.parametrize("estimate", [None, "pessimistic", "validation"])
@pytest.mark.parametrize("missing", ["fractional", "branch", "surrogate"])
def test_what_is_printed_of_held_out_rows_is_counted_among_them(
    estimate: str | None, missing: str
) -> None:
    """Row by row, with the rules as objects. The labels of the training rows are all but noise."""
    rng = np.random.default_rng(5)
    n = 500
    X: dict[str, Any] = {
        "dose": np.where(rng.random(n) < 0.1, NAN, rng.normal(size=n).round(1)),
        "ward": rng.choice(["a", "b", "c"], n).astype(object),
        "age": rng.integers(20, 80, n).astype(float),
    }
    y = np.where((X["age"] > 50) ^ (rng.random(n) < 0.4), "ill", "well")
    y[-1] = "dead"  # a class that training does not see
    train, test = np.arange(n) < 200, np.arange(n) >= 300
    own = {name: column[train] for name, column in X.items()}
    other = {name: column[test] for name, column in X.items()}
    middle = {name: column[200:300] for name, column in X.items()}
    base = TreeClassifier(missing=missing)
    if estimate is None:
        rules = base.fit(own, y[train]).rules()
    else:
        model = fasttree.RuleClassifier(base=base, estimate=estimate)
        given = {} if estimate == "pessimistic" else {"X_val": middle, "y_val": y[200:300]}
        rules = model.fit(own, y[train], **given).rules_
    assert "held-out" not in rules.to_text() + rules.to_markdown() + rules.to_json()
    judged = rules.evaluate(other, y[test])
    assert [str(a).split(";")[0].rstrip(")") for a in judged] == [str(a).rstrip(")") for a in rules]
    assert rules.held_out is None
    rows = [{name: column[i] for name, column in other.items()} for i in range(int(test.sum()))]
    expected = []
    for rule in judged:
        covered = [c for row, c in zip(rows, y[test], strict=True) if rule.holds(row)]
        expected.append((len(covered), sum(c != rule.label for c in covered)))
    place = rules.match(other)
    rest = y[test][place == -1]
    expected.append((len(rest), int((rest != rules.default_class).sum())))
    expected.append((len(rows), int((rules.predict(other) != y[test]).sum())))
    found = [printed_numbers(text) for text in judged.to_text().split("held-out rows: ")[1:]]
    assert len(found) == len(rules) + 2
    in_json = json.loads(judged.to_json())
    written = [*in_json["rules"], in_json["otherwise"], in_json]
    lines = judged.to_markdown().splitlines()[2:]
    table = [[cell.strip() for cell in line.split("|")[-5:-1]] for line in lines]
    for (n_rows, errors), printed, kept, cells in zip(
        expected, found, written, [*table[: len(rules) + 1], None], strict=True
    ):
        kept = kept["held_out"]
        assert (kept["rows"], kept["errors"]) == (n_rows, errors)
        if not n_rows:
            assert printed is None
            assert kept["accuracy"] is kept["low"] is kept["high"] is None
            continue
        low, high = wilson_by_hand(n_rows - errors, n_rows)
        numbers = (1 - errors / n_rows, low, high)
        assert printed is not None
        assert printed[:2] == (n_rows, errors)
        assert printed[2:] == pytest.approx(numbers, abs=0.0051)
        assert (kept["accuracy"], kept["low"], kept["high"]) == pytest.approx(numbers, abs=1e-9)
        if cells is not None:
            assert [int(cells[0]), int(cells[1])] == [n_rows, errors]
            assert float(cells[2]) == pytest.approx(numbers[0], abs=0.0051)
            assert cells[3] == f"{printed[3]:.2f} to {printed[4]:.2f}"


def test_training_rows_are_called_so_and_have_no_limits() -> None:
    _, rules = tennis()
    for text in (rules.to_text(), rules.to_markdown(), rules.to_python(), str(rules[0])):
        assert "training rows" in text
        assert "optimistic" in text
        assert "accuracy" not in text
        assert "limits" not in text
    day = {"Outlook": "Sunny", "Temperature": "Hot", "Humidity": "High", "Wind": "Weak"}
    why = str(rules.explain(day))
    assert "(training rows: 3, no errors, optimistic)" in why
    pruned = fasttree.RuleClassifier(base=ID3Classifier()).fit(*fasttree.datasets.play_tennis())
    assert "accuracy" not in pruned.to_text() + str(pruned.rules_.to_markdown())


def test_held_out_rows_that_do_not_fit() -> None:
    _, rules = tennis()
    X, y = fasttree.datasets.play_tennis()
    with pytest.raises(ValueError, match="13"):
        rules.evaluate(X, list(y.categories) * 6 + [y.categories[0]])
    with pytest.raises(ValueError, match="Wind"):
        rules.evaluate({name: column for name, column in X.items() if name != "Wind"}, y)
