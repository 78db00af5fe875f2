# SPDX-License-Identifier: BSD-3-Clause
"""Attributes with costs: the published formulas, the textbook's tree, and errors."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
import textbook_tables as tables

import fasttree
from fasttree import Categorical, ID3Classifier, RuleClassifier, TreeClassifier, rank_attributes
from fasttree.growth.choosers import costs
from fasttree.trees.tree import Tree

pytestmark = pytest.mark.numeric

PRICES = {"Outlook": 1, "Temperature": 2, "Humidity": 5, "Wind": 1}
# In the order Outlook, Temperature, Humidity, Wind; computed outside this project.
WORTH = {
    "tan_schlimmer": [0.060885, 0.000427, 0.004611, 0.002316],
    "nunez": [0.093266, 0.006821, 0.018497, 0.016961],
    0.5: [0.131897, 0.011814, 0.045308, 0.023986],
    0.0: [0.186531, 0.020462, 0.110982, 0.033922],
}


@pytest.mark.parametrize("name", WORTH)
def test_worth_of_the_play_tennis_attributes(name: str | float) -> None:
    function = name if isinstance(name, str) else costs.nunez(name)
    table = tables.PLAY_TENNIS
    ranking = dict(
        rank_attributes(table.X, table.y, attribute_costs=PRICES, cost_function=function)
    )
    assert [ranking[a] for a in PRICES] == pytest.approx(WORTH[name], abs=5e-7)


@pytest.mark.parametrize("function", ["tan_schlimmer", "nunez"])
def test_an_expensive_outlook(function: str) -> None:
    table = tables.PLAY_TENNIS
    model = ID3Classifier(attribute_costs={"Outlook": 20}, cost_function=function)
    model.fit(table.X, table.y)
    assert model.to_text().splitlines() == [
        "Humidity = High",
        "|   Outlook = Sunny: No (3)",
        "|   Outlook = Overcast: Yes (2)",
        "|   Outlook = Rain",
        "|   |   Wind = Weak: Yes (1)",
        "|   |   Wind = Strong: No (1)",
        "Humidity = Normal",
        "|   Wind = Weak: Yes (4)",
        "|   Wind = Strong",
        "|   |   Temperature = Hot: Yes (0)",
        "|   |   Temperature = Mild: Yes (1)",
        "|   |   Temperature = Cool",
        "|   |   |   Outlook = Sunny: Yes (0)",
        "|   |   |   Outlook = Overcast: Yes (1)",
        "|   |   |   Outlook = Rain: No (1)",
    ]
    assert (model.get_n_leaves(), model.tree_.size) == (10, 16)
    assert model.mean_test_cost(table.X) == pytest.approx(14.714286, abs=5e-7)
    plain = ID3Classifier(attribute_costs={"Outlook": 20}, cost_function=costs.nunez(0.0))
    assert plain.fit(table.X, table.y).mean_test_cost(table.X) == pytest.approx(20.714286, abs=5e-7)


def test_a_function_of_the_users_own() -> None:
    table = tables.PLAY_TENNIS
    own = TreeClassifier(
        criterion="entropy",
        attribute_costs=PRICES,
        cost_function=lambda gain, cost: gain**2 / np.where(cost == 0, 1, cost),
    )
    named = TreeClassifier(criterion="entropy", attribute_costs=PRICES)
    assert own.fit(table.X, table.y).tree_ == named.fit(table.X, table.y).tree_


@pytest.mark.parametrize("seed", range(6))
def test_each_split_is_worth_most_where_it_stands(seed: int) -> None:
    """Every node again, by hand: plain scores of its rows, then the formula, free where measured above."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 8, (120, 4)) + random.normal(0, 0.2, (120, 4))
    y = ((X[:, 0] > 3) ^ (X[:, 1] + X[:, 2] > 8)) | (random.random(120) < 0.1)
    prices = random.uniform(0.5, 20, 4)
    model = TreeClassifier(
        criterion="entropy", attribute_costs=prices, cost_function="nunez", max_depth=5
    ).fit(X, y)
    tree = model.tree_
    passes = model.decision_path(X).toarray().astype(bool)
    n_checked = 0
    for node in np.flatnonzero(tree.attribute >= 0):
        above = []
        parent = tree.parent[node]
        while parent >= 0:
            above.append(tree.attribute[parent])
            parent = tree.parent[parent]
        rows = passes[:, node]
        gains = dict(rank_attributes(X[rows], y[rows]))
        worth = {
            a: (2 ** gains[f"x{a}"] - 1) / ((0 if a in above else prices[a]) + 1)
            for a in range(4)
            if gains[f"x{a}"] is not None
        }
        assert worth[tree.attribute[node]] == pytest.approx(max(worth.values()), rel=1e-9)
        n_checked += 1
    assert n_checked > 5


def test_costs_of_the_paths() -> None:
    # x0 is asked twice on the way to the deepest leaves, and paid once.
    X = np.array([[0.0, 0], [1, 0], [2, 0], [2, 1]])
    tree = TreeClassifier().fit(X, [0, 1, 0, 1]).tree_
    paid = tree.path_costs(np.array([5.0, 3.0]))
    for node in range(tree.node_count):
        asked, parent = set(), tree.parent[node]
        while parent >= 0:
            asked.add(int(tree.attribute[parent]))
            parent = tree.parent[parent]
        assert paid[node] == sum([5.0, 3.0][a] for a in asked)


def attributes_asked(tree: Tree, row: Sequence[Any], stops: bool, node: int = 0) -> set[int]:
    """By hand: what is asked about one row with shared holes. None is a hole, "new" a level that nobody knows."""
    if tree.is_leaf()[node]:
        return set()
    attribute = int(tree.attribute[node])
    value, first = row[attribute], int(tree.first_child[node])
    children = range(first, first + int(tree.n_children[node]))
    if value == "new" and stops:
        return {attribute}
    if value is None or value == "new":
        ways = [child for child in children if tree.counts[child].any()]
    elif isinstance(value, str):
        levels = tree.schema.attributes[attribute].categories
        code = 1 + levels.index(value)
        table = slice(tree.table_start[node], tree.table_start[node + 1])
        branch = dict(zip(tree.table_codes[table], tree.table_branch[table], strict=True))
        ways = [first + int(branch.get(code, tree.default_branch[node]))]
    else:
        ways = [first + int(value > tree.threshold[node])]
    return {attribute}.union(*(attributes_asked(tree, row, stops, way) for way in ways))


def table_with_holes(seed: int, levels: Sequence[str]) -> dict[str, list[Any]]:
    random = np.random.default_rng(seed)
    table: dict[str, list[Any]] = {}
    for name in "uv":
        codes = random.integers(0, len(levels) + 1, 150)
        table[name] = [[*levels, None][code] for code in codes]
    for name in "wx":
        table[name] = random.normal(size=150).round(1).tolist()
        for row in np.flatnonzero(random.random(150) < 0.2):
            table[name][row] = None
    return table


def columns_of(table: dict[str, list[Any]], levels: Sequence[str]) -> dict[str, Any]:
    columns: dict[str, Any] = {name: Categorical(table[name], levels) for name in "uv"}
    return columns | {name: np.array(table[name], dtype=float) for name in "wx"}


@pytest.mark.parametrize("unknown", ["missing", "majority"])
@pytest.mark.parametrize("missing", ["fractional", "branch"])
@pytest.mark.parametrize("seed", range(3))
def test_every_attribute_that_is_asked_is_paid(seed: int, missing: str, unknown: str) -> None:
    random = np.random.default_rng(seed)
    known, more = list("abc"), [*"abc", "new"]
    y = random.integers(0, 3, 150)
    prices = np.array([1.0, 10, 100, 1000])
    model = TreeClassifier(
        categorical_split="multiway",
        missing=missing,
        unknown=unknown,
        max_depth=3,
        attribute_costs=prices,
        cost_function=costs.nunez(0),
    ).fit(columns_of(table_with_holes(seed, known), known), y)
    asked = table_with_holes(seed + 10, more)
    X, tree = columns_of(asked, more), model.tree_
    paid = []
    for end, row in zip(model.apply(X).tolist(), zip(*asked.values(), strict=True), strict=True):
        if missing == "fractional":
            attributes = attributes_asked(tree, row, unknown == "majority")
        else:  # one way, whose end is known
            attributes = set()
            while end >= 0:
                attributes |= {int(tree.attribute[end])} - {-1}
                end = int(tree.parent[end])
        paid.append(sum(prices[list(attributes)]))
    assert model.mean_test_cost(X) == pytest.approx(np.mean(paid))
    weight = random.integers(0, 4, 150)
    expected = np.average(paid, weights=weight)
    assert model.mean_test_cost(X, sample_weight=weight) == pytest.approx(expected)
    assert len(set(paid)) > 2


def test_an_answer_that_ends_the_way_is_paid() -> None:
    table = tables.PLAY_TENNIS
    model = ID3Classifier(unknown="majority", attribute_costs={"Outlook": 20}).fit(table.X, table.y)
    row = {"Outlook": ["Sunny"], "Temperature": ["Hot"], "Humidity": ["Damp"], "Wind": ["Weak"]}
    assert model.mean_test_cost(row) == 1  # the root asks for the humidity, and nobody goes on


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([-1] + [1] * 13, "sample_weight contains -1.0 in row 0"),
        ([np.nan] + [1] * 13, "sample_weight contains nan in row 0"),
        ([1] * 13, "sample_weight has 13 entries, but X has 14 rows"),
        ([0] * 14, "sample_weight is zero in every row"),
    ],
)
def test_bad_weights_of_rows_that_are_asked(weight: list[float], words: str) -> None:
    table = tables.PLAY_TENNIS
    model = ID3Classifier(attribute_costs={"Outlook": 20}).fit(table.X, table.y)
    with pytest.raises(ValueError, match=words):
        model.mean_test_cost(table.X, sample_weight=weight)


def test_heavy_rows() -> None:
    table = tables.PLAY_TENNIS
    model = ID3Classifier(attribute_costs={"Outlook": 20}).fit(table.X, table.y)
    equal = model.mean_test_cost(table.X)
    for weight in (1e308, 1e-308):
        assert model.mean_test_cost(table.X, sample_weight=[weight] * 14) == pytest.approx(equal)
        assert model.score(table.X, table.y, sample_weight=[weight] * 14) == 1
        rules = RuleClassifier().fit(table.X, table.y)
        assert rules.score(table.X, table.y, sample_weight=[weight] * 14) == rules.score(
            table.X, table.y
        )


# -- what a gain is worth --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "worth"),
    [
        ("tan_schlimmer", lambda gain, cost: gain**2 / cost),
        ("gain_per_cost", lambda gain, cost: gain / cost),
    ],
)
def test_what_was_measured_counts_as_1(name: str, worth: Callable[[float, float], float]) -> None:
    """Below the root the attribute measured there competes at a cost of 1, whatever it cost and others cost."""
    n_measured = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        X = random.integers(0, 6, (60, 2)).astype(float)
        y = random.integers(0, 2, 60)
        prices = np.array([1.5, 1.5])
        model = TreeClassifier(
            criterion="entropy", attribute_costs=prices, cost_function=name, max_depth=2
        ).fit(X, y)
        tree = model.tree_
        for node in np.flatnonzero(tree.parent == 0):
            if tree.attribute[node] < 0:
                continue
            rows = model.decision_path(X).toarray()[:, node] > 0
            found = rank_attributes(X[rows], y[rows])
            gains = {int(column[1:]): gain for column, gain in found if gain is not None}
            tested = int(tree.attribute[0])
            expected = {
                a: worth(gain, 1.0 if a == tested else prices[a]) for a, gain in gains.items()
            }
            best = max(expected.values())
            assert expected[int(tree.attribute[node])] == pytest.approx(best)
            if len(gains) == 2:
                at_half = {a: worth(g, 0.5 if a == tested else prices[a]) for a, g in gains.items()}
                n_measured += max(at_half, key=at_half.__getitem__) != max(
                    expected, key=expected.__getitem__
                )
    assert n_measured > 3  # nodes where a cost of 0.5 would have chosen another


def dear_and_useless() -> tuple[dict[str, Categorical], list[int]]:
    useless = Categorical(list("abab") * 5, list("ab"))
    useful = Categorical(list("aabb") * 5, list("ab"))
    return {"useless": useless, "useful": useful}, [0, 0, 1, 1] * 5


def test_an_attribute_without_gain_does_not_stand_in_the_way() -> None:
    X, y = dear_and_useless()

    def worth(gain: np.ndarray, cost: np.ndarray) -> np.ndarray:
        return gain - 0.3 * cost

    prices = {"useless": 0.1, "useful": 5}  # -0.03 against 1 - 1.5
    for stop in ({"stop_zero_gain": True}, {"min_gain": 0.5}, {"min_gain": 1e-9}):
        model = TreeClassifier(
            criterion="entropy", attribute_costs=prices, cost_function=worth, **stop
        ).fit(X, y)
        assert model.tree_.schema.names[model.tree_.attribute[0]] == "useful"
        assert model.get_n_leaves() == 2
    # Where a split without gain is welcome, the cheap one is made.
    anything = TreeClassifier(criterion="entropy", attribute_costs=prices, cost_function=worth)
    assert anything.set_params(stop_zero_gain=False).fit(X, y).tree_.attribute[0] == 0


def test_what_is_less_than_rounding_gains_nothing() -> None:
    priced = costs.AttributeCosts(np.array([2.0, 4.0, 1.0]), costs.gain_per_cost)
    score = np.array([[1e-11, 0.5], [2e-10, -0.5], [-np.inf, 0.25]])
    tested = np.array([[False, False], [False, True], [True, True]])
    worth = priced.adjusted_score(score, tested)
    assert worth.tolist() == [[0, 0.25], [5e-11, 0], [-np.inf, 0.25]]


def test_costs_without_influence() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(500, 5)), random.integers(0, 3, 500)
    plain = TreeClassifier(max_depth=6).fit(X, y)
    priced = TreeClassifier(
        max_depth=6, attribute_costs=[1, 2, 3, 4, 5], cost_function=costs.nunez(0.0)
    )
    assert plain.tree_.fingerprint() == priced.fit(X, y).tree_.fingerprint()


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        (
            {"attribute_costs": {"Rain": 2}},
            ValueError,
            "attribute_costs contains 'Rain'.*'Outlook'",
        ),
        ({"attribute_costs": [1, 2]}, ValueError, r"each of the 4 attributes.*shape \(2,\)"),
        (
            {"attribute_costs": {"Wind": -1}},
            ValueError,
            "the cost of 'Wind' must be a finite number >= 0, got -1",
        ),
        ({"attribute_costs": {"Wind": np.nan}}, ValueError, "the cost of 'Wind'.*nan"),
        (
            {"attribute_costs": {"Wind": 0}},
            ValueError,
            "cost of 'Wind' must be above 0, got 0.*nunez",
        ),
        *(
            (
                {"attribute_costs": {"Wind": value}},
                ValueError,
                f"cost of 'Wind' must be a.*got {shown}",
            )
            for value, shown in (
                (np.inf, "inf"),
                (10**400, "1000"),
                (-(10**400), "-1000"),
                ("3", "'3'"),
                ("x", "'x'"),
                (None, "None"),
                (1j, "1j"),
                ([1], r"\[1\]"),
                (True, "True"),
            )
        ),
        ({"attribute_costs": [1, 2, "3", 4]}, ValueError, "cost of 'Humidity' must be.*got '3'"),
        ({"attribute_costs": [1, [2], 3, 4]}, ValueError, r"cost of 'Temperature'.*got \[2\]"),
        ({"attribute_costs": [[1, 2, 3, 4]]}, ValueError, r"each of the 4.*shape \(1, 4\)"),
        (
            {"attribute_costs": pd.Series([2, 1, 1, 20], ["Wind", "Humidity", "Rain", "Outlook"])},
            TypeError,
            r"attribute_costs must be a dict.*got a Series: pass its to_dict\(\) or its to_numpy",
        ),
        (
            {"attribute_costs": pd.DataFrame({"Wind": [2], "Outlook": [20]})},
            TypeError,
            "attribute_costs must be a dict.*got a DataFrame",
        ),
        (
            {"attribute_costs": np.ma.masked_equal([1, 1, 7, 1], 7)},
            ValueError,
            "attribute_costs is masked at index 2: give every attribute a cost",
        ),
        ({"attribute_costs": 5}, TypeError, "attribute_costs must be a dict.*got 5"),
        ({"attribute_costs": "ab"}, TypeError, "attribute_costs must be a dict.*got 'ab'"),
        (
            {"attribute_costs": {"Wind": 0}, "cost_function": "gain_per_cost"},
            ValueError,
            "cost of 'Wind' must be above 0, got 0",
        ),
        (
            {"attribute_costs": {}, "cost_function": "cheap"},
            ValueError,
            "cost_function must be one of 'tan_schlimmer', 'nunez'.*'cheap'",
        ),
        ({"attribute_costs": {}, "cost_function": 3}, TypeError, "cost_function.*got 3"),
        ({"cost_function": "nunez"}, ValueError, "cost_function requires attribute_costs"),
        (
            {"attribute_costs": {}, "cost_function": lambda gain, cost: 1.0},
            ValueError,
            "cost_function must return one number below infinity for each gain",
        ),
        (
            {"attribute_costs": {"Wind": 0}, "cost_function": np.ma.divide},
            ValueError,
            "cost_function must return one number.*masked array: return -infinity",
        ),
        (
            {"attribute_costs": {}, "cost_function": lambda gain, cost: "cheap"},
            ValueError,
            "cost_function must return one number below infinity for each gain.*got 'cheap'",
        ),
        (
            {"attribute_costs": {}, "cost_function": lambda gain, cost: gain.astype(str)},
            TypeError,
            "cost_function must return one number below infinity for each gain.*array of floats",
        ),
        (
            {"attribute_costs": {}, "cost_function": lambda gain, cost: gain * np.nan},
            ValueError,
            "cost_function.*NaN",
        ),
        (
            {"attribute_costs": {}, "cost_function": lambda gain, cost: gain + np.inf},
            ValueError,
            "cost_function.*infinity: note that the cost is 0",
        ),
        (
            {"attribute_costs": {}, "cost_function": lambda gain, cost: gain + 1j},
            TypeError,
            "cost_function must return one number.*return an array of floats",
        ),
        (
            {"attribute_costs": {}, "cost_function": lambda gain, cost: gain.astype(str)},
            TypeError,
            "cost_function must return one number.*return an array of floats",
        ),
        (
            {"attribute_costs": {}, "cost_function": lambda gain, cost: [[1.0], [1.0, 2.0]]},
            ValueError,
            "cost_function must return one number.*got \\[\\[1.0",
        ),
    ],
)
def test_bad_costs(parameters: dict[str, Any], error: type[Exception], words: str) -> None:
    table = tables.PLAY_TENNIS
    with pytest.raises(error, match=words):
        ID3Classifier(**parameters).fit(table.X, table.y)


def test_a_model_with_nunez_is_pickled_and_shown() -> None:
    table = tables.PLAY_TENNIS
    model = ID3Classifier(attribute_costs={"Outlook": 20}, cost_function=costs.nunez(0))
    assert repr(model).endswith("cost_function=nunez(0.0))")
    again = pickle.loads(pickle.dumps(model.fit(table.X, table.y)))
    assert again.get_params() == model.get_params()
    assert again.cost_function != costs.nunez(0.5)
    assert again.mean_test_cost(table.X) == model.mean_test_cost(table.X)
    assert again.fit(table.X, table.y).tree_ == model.tree_


def test_nunez_exponent_and_missing_costs() -> None:
    for w, shown in (
        (1.5, r"1\.5"),
        (1.0000001, r"1\.0000001"),
        (-1e-9, "-1e-09"),
        ("1", "'1'"),
        (None, "None"),
        (np.nan, "nan"),
        (True, "True"),
        (10**400, "1000"),
    ):
        with pytest.raises(ValueError, match=f"w must be a number from 0 to 1, got {shown}"):
            fasttree.costs.nunez(w)  # type: ignore[arg-type]
    table = tables.PLAY_TENNIS
    with pytest.raises(ValueError, match="mean_test_cost requires attribute_costs"):
        ID3Classifier().fit(table.X, table.y).mean_test_cost(table.X)
    free = ID3Classifier(attribute_costs={"Wind": 0}, cost_function="nunez")
    assert free.fit(table.X, table.y).mean_test_cost(table.X) >= 0
