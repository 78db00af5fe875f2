# SPDX-License-Identifier: BSD-3-Clause
"""Attributes with costs: the published formulas, the textbook's tree, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tables

import fasttree
from fasttree import ID3Classifier, TreeClassifier, costs, rank_attributes

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
        ({"attribute_costs": {"Rain": 2}}, ValueError, "attribute_costs names 'Rain'.*'Outlook'"),
        ({"attribute_costs": [1, 2]}, ValueError, r"each of the 4 attributes.*shape \(2,\)"),
        ({"attribute_costs": {"Wind": -1}}, ValueError, "the cost of 'Wind' must be 0 or more"),
        ({"attribute_costs": {"Wind": np.nan}}, ValueError, "the cost of 'Wind'.*nan"),
        ({"attribute_costs": {"Wind": 0}}, ValueError, "cost of 'Wind' is 0.*nunez"),
        ({"attribute_costs": {"Wind": "x"}}, TypeError, "cost of 'Wind' must be a number, got 'x'"),
        ({"attribute_costs": {"Wind": "5"}}, TypeError, "cost of 'Wind' must be a number, got '5'"),
        ({"attribute_costs": {"Wind": None}}, TypeError, "'Wind' must be a number, got None"),
        ({"attribute_costs": {"Wind": [1]}}, TypeError, r"'Wind' must be a number, got \[1\]"),
        ({"attribute_costs": [1, 2, 3, "x"]}, TypeError, "attribute_costs must be a dict .*'x'"),
        ({"attribute_costs": "cheap"}, TypeError, "attribute_costs must be a dict .*'cheap'"),
        (
            {"attribute_costs": {"Wind": 0}, "cost_function": "gain_per_cost"},
            ValueError,
            "cost of 'Wind' is 0",
        ),
        (
            {"attribute_costs": {}, "cost_function": "cheap"},
            ValueError,
            "cost_function must be one of 'tan_schlimmer', 'nunez'.*'cheap'",
        ),
        ({"attribute_costs": {}, "cost_function": 3}, TypeError, "cost_function.*got 3"),
        ({"cost_function": "nunez"}, ValueError, "cost_function needs attribute_costs"),
        (
            {"attribute_costs": {}, "cost_function": lambda gain, cost: 1.0},
            ValueError,
            "cost_function must return a number for every gain",
        ),
        (
            {"attribute_costs": {}, "cost_function": lambda gain, cost: "cheap"},
            TypeError,
            "cost_function must return a number for every gain.*got 'cheap'",
        ),
        (
            {"attribute_costs": {}, "cost_function": lambda gain, cost: gain.astype(str)},
            TypeError,
            "cost_function must return a number for every gain.*got array",
        ),
        (
            {"attribute_costs": {}, "cost_function": lambda gain, cost: gain * np.nan},
            ValueError,
            "cost_function.*NaN",
        ),
    ],
)
def test_bad_costs(parameters: dict[str, Any], error: type[Exception], words: str) -> None:
    table = tables.PLAY_TENNIS
    with pytest.raises(error, match=words):
        ID3Classifier(**parameters).fit(table.X, table.y)


def test_nunez_exponent_and_missing_costs() -> None:
    with pytest.raises(ValueError, match=r"w must be a number from 0 to 1, got 1\.5"):
        fasttree.costs.nunez(1.5)
    table = tables.PLAY_TENNIS
    with pytest.raises(ValueError, match="mean_test_cost needs attribute_costs"):
        ID3Classifier().fit(table.X, table.y).mean_test_cost(table.X)
    free = ID3Classifier(attribute_costs={"Wind": 0}, cost_function="nunez")
    assert free.fit(table.X, table.y).mean_test_cost(table.X) >= 0
