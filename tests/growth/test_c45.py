# SPDX-License-Identifier: BSD-3-Clause
"""C4.5: the textbooks' numbers by the slow reference and by the engine, and the two against each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import textbook_tables as tables
from agreement import assert_same_tree
from candidates import Attribute
from hypothesis import given
from hypothesis import strategies as st
from reference import Node
from reference_c45 import C45Grower, Row, class_shares, leaf_shares
from strategies import Problem, medium, problems
from textbook_tables import Table

import fasttree
from fasttree import Categorical

pytestmark = pytest.mark.numeric

NAN = math.nan
LEVELS = ("never seen", "missing", "seen")


# -- the two sides of a comparison ---------------------------------------------------------------


def reference_of(problem: Problem) -> C45Grower:
    return C45Grower(
        problem.attributes,
        problem.y,
        problem.n_classes,
        weights=problem.weights,
        **problem.parameters,
    )


def fit(problem: Problem, **changes: Any) -> Any:
    model = fasttree.C45Classifier(**({"pruning": None} | problem.parameters | changes))
    return model.fit(problem.X, np.array(problem.y), sample_weight=problem.weights)


def assert_same(problem: Problem, **changes: Any) -> tuple[Any, list[Node]]:
    nodes = reference_of(problem).grow()
    model = fit(problem, **changes)
    assert_same_tree(model.tree_, nodes, tolerance=1e-6)
    return model, nodes


def assert_same_predictions(
    model: Any, nodes: list[Node], problem: Problem, rows: list[tuple[float, ...]]
) -> None:
    X = problem.asked(rows)
    expected = np.array([class_shares(nodes, row) for row in rows])
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-6)
    predicted, leaves = model.predict(X), model.apply(X)
    for place, row in enumerate(rows):
        # Where two classes or two leaves weigh the same, rounding may choose.
        best = np.flatnonzero(expected[place] >= expected[place].max() - 1e-9)
        assert predicted[place] in best
        shares = leaf_shares(nodes, row)
        assert shares.get(int(leaves[place]), 0.0) >= max(shares.values()) - 1e-9


def table_grower(table: Table, **parameters: Any) -> C45Grower:
    return C45Grower(
        table.attributes,
        table.class_codes,
        len(table.classes),
        class_order=table.class_order,
        **parameters,
    )


def all_rows(table: Table) -> list[Row]:
    return [(row, 1.0) for row in range(len(table.target.values))]


# -- numbers worked out elsewhere ----------------------------------------------------------------


def test_average_gain_of_the_textbook_table() -> None:
    grower = table_grower(tables.PLAY_TENNIS)
    tests = grower.tests(all_rows(tables.PLAY_TENNIS))
    assert grower.average_gain(tests) == pytest.approx(0.118984, abs=5e-7)
    assert [t.split_info for t in tests] == pytest.approx(
        [1.577406, 1.556657, 1.0, 0.985228], abs=5e-7
    )


@pytest.mark.parametrize(("m", "n_cuts", "gain"), [(2, 3, 0.194988), (1, 5, 0.072160)])
def test_choosing_a_threshold_costs(m: int, n_cuts: int, gain: float) -> None:
    table = tables.SIX_TEMPERATURES
    (test,) = table_grower(table, min_samples_leaf=m).tests(all_rows(table))
    assert test.n_cuts == n_cuts
    assert test.gain == pytest.approx(gain, abs=5e-7)
    assert test.split.threshold == 48  # a value of the table


@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("table", [tables.PLAY_TENNIS, tables.BUYS_COMPUTER, tables.MAMMALS_10])
def test_the_textbook_tables_give_the_textbook_trees(table: Table, m: int) -> None:
    limits = {"min_samples_leaf": m, "min_samples_split": 2 * m}
    nodes = table_grower(table, **limits).grow()
    expected = table.grow(criterion="entropy", categorical_split="multiway")
    assert [node.counts for node in nodes] == [node.counts for node in expected]
    model = fasttree.C45Classifier(pruning=None, **limits).fit(table.X, table.y)
    assert_same_tree(model.tree_, nodes)


def day_12_without_outlook() -> tuple[Table, list[Attribute], dict[str, Any]]:
    table = tables.PLAY_TENNIS
    codes = [*map(float, table.attributes[0].values)]
    codes[11] = NAN
    attributes = [Attribute(codes, 3), *table.attributes[1:]]
    outlook = [*np.asarray(table.columns["Outlook"].values, dtype=object)]
    outlook[11] = None
    X = table.X | {"Outlook": Categorical(outlook, table.columns["Outlook"].order)}
    return table, attributes, X


DAY_12 = """
Humidity = High
|   Outlook = Sunny: No (3.5/0.5)
|   Outlook = Overcast: Yes (1.17)
|   Outlook = Rain: Yes (2.33/1)
Humidity = Normal: Yes (7/1)
"""


def test_a_hole_in_the_textbook_table() -> None:
    table, attributes, X = day_12_without_outlook()
    grower = C45Grower(attributes, table.class_codes, 2, class_order=table.class_order)
    outlook = grower.tests(all_rows(table))[0]
    assert outlook.gain == pytest.approx(0.199041, abs=5e-7)
    assert outlook.split_info == pytest.approx(1.809200, abs=5e-7)
    assert outlook.gain / outlook.split_info == pytest.approx(0.110016, abs=5e-7)
    nodes = grower.grow()
    yes = table.classes.index("Yes")
    hot_high_strong = (NAN, 0, 0, 1)
    assert class_shares(nodes, hot_high_strong)[yes] == pytest.approx(3 / 7)
    assert class_shares(nodes, (0, 0, NAN, 1))[yes] == pytest.approx(0.5)

    model = fasttree.C45Classifier(pruning=None).fit(X, table.y)
    assert model.to_text().strip() == DAY_12.strip()
    assert_same_tree(model.tree_, nodes, tolerance=1e-6)

    def asked(*values: str | None) -> dict[str, Any]:
        return {
            name: Categorical([value], table.columns[name].order)
            for name, value in zip(table.names, values, strict=True)
        }

    shares = model.predict_proba(asked(None, "Hot", "High", "Strong"))[0]
    assert shares[yes] == pytest.approx(3 / 7)
    shares = model.predict_proba(asked("Sunny", "Hot", None, "Strong"))[0]
    assert shares[yes] == pytest.approx(0.5)


def test_leave_one_out() -> None:
    """Weka's J48 errs on the same days."""
    table = tables.PLAY_TENNIS
    wrong, wrong_by_engine = [], []
    for day in range(14):
        rest = table.rows([row for row in range(14) if row != day])
        nodes = table_grower(rest, compat="j48").grow()
        shares = class_shares(nodes, [a.values[day] for a in table.attributes])
        guess = next(c for c in table.class_order if shares[c] >= max(shares) - 1e-10)
        if guess != table.class_codes[day]:
            wrong.append(day + 1)
        model = fasttree.C45Classifier(compat="j48", pruning=None).fit(rest.X, rest.y)
        if model.predict(table.rows([day]).X)[0] != table.target.values[day]:
            wrong_by_engine.append(day + 1)
    assert wrong == [4, 6, 9, 11, 14]
    assert wrong_by_engine == wrong


# -- one rule at a time --------------------------------------------------------------------------


def numbers(*columns: list[float], y: list[int], **parameters: Any) -> Problem:
    return Problem([Attribute(column) for column in columns], y, None, parameters)


def test_a_threshold_is_a_value_of_the_whole_table() -> None:
    # Where the node is split, 1 and 9 are neighbours; elsewhere 4 and 6 occur.
    groups = [0.0] * 8 + [1.0] * 4
    values = [1.0, 1, 1, 1, 9, 9, 9, 9, 4, 6, 4, 6]
    y = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    model, nodes = assert_same(numbers(groups, values, y=y))
    assert [n.split.threshold for n in nodes if n.split] == [0.0, 4.0]
    rows = numbers(groups, [5.0] * 12, y=y).X
    assert model.predict(rows)[0] == 1
    midpoints = numbers(groups, values, y=y, threshold="midpoint")
    assert [n.split.threshold for n in assert_same(midpoints)[1] if n.split] == [0.5, 5.0]


def test_rows_without_weight_give_no_thresholds() -> None:
    problem = numbers([1.0, 1, 1, 1, 4, 9, 9, 9, 9], y=[0, 0, 0, 0, 0, 1, 1, 1, 1])
    assert fit(problem).tree_.threshold[0] == 4.0
    problem.weights = [1.0, 1, 1, 1, 0, 1, 1, 1, 1]
    _, nodes = assert_same(problem)
    assert nodes[0].split.threshold == 1.0


@pytest.mark.parametrize("low", [[1.0] * 30, [-float(k) for k in range(300)]])
def test_columns_encoded_with_rows_of_no_weight(low: list[float]) -> None:
    X, y = np.array([*low, 4.0, *[9.0] * 30]).reshape(-1, 1), [0] * (len(low) + 1) + [1] * 30
    weight = [1.0] * len(low) + [0.0] + [1.0] * 30
    columns = fasttree.Columns(X, y)
    assert fasttree.C45Classifier(pruning=None).fit(columns).tree_.threshold[0] == 4.0
    model = fasttree.C45Classifier(pruning=None).fit(columns, sample_weight=weight)
    assert model.tree_.threshold[0] == low[0]  # the largest


@pytest.mark.parametrize("compat", [None, "j48"])
def test_values_too_close_for_a_cut(compat: str | None) -> None:
    values = [0.0] * 4 + [8e-6] * 2 + [1.0] * 4
    y = [0] * 4 + [1] * 6
    _, nodes = assert_same(numbers(values, y=y, compat=compat))
    assert nodes[0].split.threshold == 8e-6
    # Other columns of the same table have their own values.
    apart = [1.0] * 4 + [2.0] * 6
    _, nodes = assert_same(numbers(values, apart, values, y=y, compat=compat))
    assert (nodes[0].split.attribute, nodes[0].split.threshold) == (1, 1.0)


def test_threshold_of_j48() -> None:
    # A value of the table that is just above the midpoint is the threshold.
    groups = [0.0] * 8 + [1.0] * 8
    other = [0.0] * 4 + [2.0] * 4 + [1.0 + 5e-7] * 4 + [1.0 + 5e-6] * 4
    y = [0] * 4 + [1] * 4 + [2] * 8
    _, nodes = assert_same(numbers(groups, other, y=y, compat="j48"))
    assert [n.split.threshold for n in nodes if n.split] == [0.0, 1.0 + 5e-7]
    _, nodes = assert_same(numbers(groups, other, y=y))
    assert [n.split.threshold for n in nodes if n.split] == [0.0, 0.0]


@pytest.mark.parametrize("columns", ["counted", "swept"])
@pytest.mark.parametrize("compat", [None, "j48"])
@pytest.mark.parametrize(
    ("gap", "threshold"), [(8e-6, 8e-6), (1e-5, 1e-5), (1.1e-5, 0.0), (5e-5, 0.0)]
)
def test_cuts_where_values_are_more_than_a_gap_apart(
    gap: float, threshold: float, compat: str | None, columns: str
) -> None:
    values, y = [0.0] * 4 + [gap] * 2 + [1.0] * 4, [0] * 4 + [1] * 6
    problem = beside(values, y, 300 if columns == "swept" else 3)
    problem.parameters["compat"] = compat
    model, _ = assert_same(problem)
    assert model.tree_.threshold[1] == threshold


@pytest.mark.parametrize("columns", ["counted", "swept"])
@pytest.mark.parametrize("compat", [None, "j48"])
@pytest.mark.parametrize(("gap", "n_leaves"), [(2e-6, 3), (2e-5, 2)])
def test_only_cuts_between_values_that_are_apart_are_paid_for(
    gap: float, n_leaves: int, compat: str | None, columns: str
) -> None:
    """Two heaps of twenty rows, 12 : 8 and 8 : 12. The cut between them gains 0.029, no other of the seven gains more,
    and log2(7) / 40 is 0.070. If the values of a heap are too close for a cut, this one alone is tried, for nothing."""
    values = [place + gap * k for place in (0.0, 1.0) for k in range(4) for _ in range(5)]
    y = [0, 0, 0, 1, 1] * 4 + [0, 0, 1, 1, 1] * 4
    problem = beside(values, y, 300 if columns == "swept" else 3)
    problem.parameters["compat"] = compat
    model, _ = assert_same(problem)
    assert model.get_n_leaves() == n_leaves
    if n_leaves == 3:
        assert model.tree_.threshold[1] == values[19]


def beside(values: list[float], y: list[int], n_others: int) -> Problem:
    """These rows, and others that the root sets apart, with values (so many different ones) of their own."""
    groups = Attribute([0] * len(y) + [1] * n_others, 2)
    column = Attribute(values + [100.0 + row for row in range(n_others)])
    limits = {"compat": "j48", "max_depth": 2, "collapse": False}
    return Problem([groups, column], y + [2] * n_others, None, limits)


def test_the_smaller_side_of_a_cut() -> None:
    """A tenth of the rows of a class on average, between m and 25."""
    grower = reference_of(numbers([0.0, 1.0], y=[0, 1]))
    assert [grower.min_split(n) for n in (10, 40, 60, 400, 500, 5000)] == [2, 2, 3, 20, 25, 25]
    for n_small in (2, 3):
        values = [0.0] * n_small + [1.0] * (60 - n_small)
        _, nodes = assert_same(numbers(values, y=[0] * n_small + [1] * (60 - n_small)))
        assert len(nodes) == (1 if n_small == 2 else 3)
    for n_small in (24, 25):
        values = [0.0] * n_small + [1.0] * (600 - n_small)
        _, nodes = assert_same(numbers(values, y=[0] * n_small + [1] * (600 - n_small)))
        assert len(nodes) == (1 if n_small == 24 else 3)


@pytest.mark.parametrize("columns", ["counted", "swept"])
@pytest.mark.parametrize(
    ("n_rows", "n_small", "n_nodes"), [(600, 29, 1), (600, 30, 3), (620, 24, 1), (620, 25, 3)]
)
def test_the_smaller_side_may_be_25_where_m_is_more(
    n_rows: int, n_small: int, n_nodes: int, columns: str
) -> None:
    """m = 30 holds as long as a tenth of the rows a class is no more than that: C4.5 and J48 say so literally."""
    values = [0.0] * n_small + [1.0] * (n_rows - n_small)
    if columns == "swept":
        values = [float(row) for row in range(n_rows)]
    y = [0] * n_small + [1] * (n_rows - n_small)
    m = {"min_samples_leaf": 30, "min_samples_split": 60, "max_depth": 1}
    model, nodes = assert_same(numbers(values, y=y, **m))
    if columns == "counted":
        assert len(nodes) == model.tree_.node_count == n_nodes
    else:  # the next best cut is the one that is just large enough
        least = 30 if n_rows == 600 else 25
        assert min(nodes[child].weight for child in nodes[0].children) == max(n_small, least)


@pytest.mark.parametrize(("n_classes", "n_rows"), [(3, 90), (7, 210), (7, 490), (11, 330)])
def test_the_smaller_side_is_reached_by_equality(n_classes: int, n_rows: int) -> None:
    """A tenth of 210 / 7 is 3, though not in binary fractions."""
    least = n_rows // (10 * n_classes)
    y = [0] * least + [1 + row % (n_classes - 1) for row in range(n_rows - least)]
    for holes in (0, 1):  # rows that do not know the attribute count for nothing here
        values = [0.0] * least + [1.0] * (n_rows - least) + [NAN] * holes
        _, nodes = assert_same(numbers(values, y=y + [1] * holes))
        assert nodes[0].split is not None
        too_few = [1.0, *values[1:]]
        _, nodes = assert_same(numbers(too_few, y=y + [1] * holes))
        assert nodes[0].split is None


@pytest.mark.parametrize("columns", ["counted", "swept"])
@pytest.mark.parametrize("holes", [0, 40])
def test_the_smaller_side_is_a_share_of_the_rows_that_know(holes: int, columns: str) -> None:
    """A tenth of 99 for each of three classes is 3.3: three rows are too few, and four enough; of 139 it were 4.6."""
    for n_small, n_leaves in ((3, 2), (4, 3)):
        values = [0.0] * n_small + [1.0] * (99 - n_small) + [NAN] * holes
        y = [0] * n_small + [1] * (99 - n_small + holes)
        problem = beside(values, y, 300 if columns == "swept" else 3)
        problem.parameters["compat"] = None
        model, _ = assert_same(problem)
        assert model.get_n_leaves() == n_leaves


def test_gain_that_a_threshold_does_not_pay_for() -> None:
    # The best of seven cuts gains 0.2, and log2(7) / 8 is 0.35.
    problem = numbers([float(v) for v in range(8)], y=[0, 1, 0, 1, 1, 0, 1, 1])
    problem.parameters = {"min_samples_leaf": 1, "min_samples_split": 2}
    _, nodes = assert_same(problem)
    assert len(nodes) == 1


def test_gain_ratio_is_asked_only_above_the_average_gain() -> None:
    # The first attribute sets two rows of thirty apart: a high ratio for a small gain.
    first = [0] * 2 + [1] * 28
    second = [0] * 15 + [1] * 15
    y = [0] * 2 + [0] * 11 + [1] * 2 + [1] * 13 + [0] * 2
    problem = Problem([Attribute(first, 2), Attribute(second, 2)], y, None, {"max_depth": 1})
    grower = reference_of(problem)
    tests = grower.tests([(r, 1.0) for r in range(30)])
    assert tests[0].gain < grower.average_gain(tests) - 1e-3
    _, nodes = assert_same(problem)
    assert nodes[0].split.attribute == 1


def many_valued(n_rows: int) -> Attribute:
    """Three values to ten rows."""
    n_values = 3 * n_rows // 10
    return Attribute([row % n_values for row in range(n_rows)], n_values)


@pytest.mark.parametrize("n_levels", [2, 20, 300])  # a histogram, a small node, a sorted list
@pytest.mark.parametrize("shape", ["multiway", "grouped"])
def test_missing_values_are_an_outcome_of_splits_by_level(shape: str, n_levels: int) -> None:
    """Four of twelve rows do not know the first attribute: it gains 2/3 and tells log2(3), which is 0.421 and not 1.
    The second gains 5/6 of 1.483, which is 0.562 (two groups gain 0.655 of 0.980). The third tells nothing, and keeps
    the average low."""
    y = [0] * 6 + [1] * 6
    first = Attribute([0] * 4 + [NAN] * 4 + [1] * 4, n_levels)
    second = Attribute([0] * 5 + [2, 2] + [1] * 5, 3)
    third = Attribute([0, 1] * 6, 2)
    parameters = {"max_depth": 1, "categorical_split": shape}
    problem = Problem([first, second, third], y, None, parameters)
    tests = reference_of(problem).tests([(row, 1.0) for row in range(12)])
    assert ratio(tests[0]) == pytest.approx(2 / 3 / math.log2(3))
    assert ratio(tests[1]) == pytest.approx(0.562 if shape == "multiway" else 0.668, abs=5e-4)
    model, _ = assert_same(problem)
    assert model.tree_.attribute[0] == 1


def test_attributes_of_many_values_do_not_count_in_the_average() -> None:
    n_rows = 20
    y = [row % 6 % 2 for row in range(n_rows)]
    weak = Attribute([int(row < 9) for row in range(n_rows)], 2)
    problem = Problem([many_valued(n_rows), weak], y, None, {"max_depth": 1, "collapse": False})
    grower = reference_of(problem)
    rows = [(row, 1.0) for row in range(n_rows)]
    tests = grower.tests(rows)
    assert grower.average_gain(tests) == tests[1].gain
    assert_same(problem)
    # Where there are no others, they do; where no other is eligible, nothing is split.
    problem.attributes = [many_valued(n_rows)]
    assert len(assert_same(problem)[1]) > 1
    problem.attributes = [many_valued(n_rows), Attribute([0] * n_rows, 2)]
    assert len(assert_same(problem)[1]) == 1
    problem.attributes = [many_valued(n_rows), Attribute([1.0] * n_rows)]
    assert len(assert_same(problem)[1]) == 1


@pytest.mark.parametrize("compat", [None, "j48"])
def test_many_values_are_reached_but_for_rounding(compat: str | None) -> None:
    """Three levels and ten rows, whatever these weigh: weights have the mean 1."""
    random = np.random.default_rng(0)
    three, four = Attribute([0] * 10, 3), Attribute([0] * 7 + [1] + [0] * 2, 4)
    limits = {"min_samples_leaf": 0, "min_samples_split": 0, "collapse": False, "compat": compat}
    leaves = set()
    some = [[1 / 64] * 9 + [2 / 64], *(random.random((100, 10)) + 0.1).tolist()]
    for weights in some:
        problem = Problem([three, four], [0] * 9 + [1], weights, limits)
        leaves.add(fit(problem).get_n_leaves())
        assert_same(problem)
    assert len(leaves) == 1


def test_a_tree_that_saves_no_errors_collapses() -> None:
    # All four leaves say 0, so that the splits explain something and save nothing.
    values = [0.0] * 10 + [1.0] * 10
    y = [0] * 6 + [1] * 4 + [0] * 10
    problem = numbers(values, y=y, collapse=False)
    assert len(assert_same(problem)[1]) == 3
    problem.parameters = {}
    assert len(assert_same(problem)[1]) == 1


@pytest.mark.parametrize(("weight", "n_leaves"), [(0.0005, 1), (0.0009, 1), (0.0011, 2), (0.01, 2)])
def test_a_split_must_save_a_thousandth_of_an_error(weight: float, n_leaves: int) -> None:
    codes, y = [0] * 9 + [1], [0] * 9 + [1]
    limits = {"criterion": "entropy", "min_samples_leaf": 0, "min_samples_split": 0}
    # Nine rows and this one come to ten, so that it weighs what it is to weigh.
    weights = [(10 - weight) / 9] * 9 + [weight]
    problem = Problem([Attribute(codes, 2)], y, weights, limits)
    model, _ = assert_same(problem)
    assert model.get_n_leaves() == n_leaves
    problem.parameters = limits | {"collapse": False}
    assert assert_same(problem)[0].get_n_leaves() == 2


@pytest.mark.parametrize(("n_rows", "n_leaves"), [(1000, 2), (5000, 2), (15_000, 2), (16_000, 1)])
def test_a_split_must_tell_a_thousandth_of_a_bit(n_rows: int, n_leaves: int) -> None:
    """One row of n by itself tells (log2(n) + log2(e)) / n bits, which are a thousandth for n = 15,326 or so."""
    told = (math.log2(n_rows) + math.log2(math.e)) / n_rows
    assert (told > 1e-3) == (n_leaves == 2)
    codes = np.arange(n_rows) == 0
    X = {"c": Categorical(np.where(codes, "rare", "common"), ["common", "rare"])}
    model = fasttree.C45Classifier(min_samples_leaf=1, min_samples_split=2, pruning=None)
    assert model.fit(X, codes).get_n_leaves() == n_leaves


@pytest.mark.parametrize("criterion", ["gain_ratio", "entropy"])
@pytest.mark.parametrize(("k", "least"), [(400_000, 1e-7), (40_000, 1e-6)])
def test_j48_compares_scores_loosely(k: int, least: float, criterion: str) -> None:
    """Two attributes that differ in one row of millions: the later one is better by less than 1e-6; and by more."""
    first, later, y = [0, 0, 1, 1, 1], [0, 0, 1, 0, 1], [0, 1, 0, 0, 1]
    weights = [6.0 * k, 2 * k, k - 1, 1, 3 * k]
    limits = {"criterion": criterion, "max_depth": 1, "collapse": False}
    problem = Problem([Attribute(first, 2), Attribute(later, 2)], y, weights, limits)
    tests = reference_of(problem).tests(list(enumerate(weights)))
    for better in (tests[1].gain - tests[0].gain, ratio(tests[1]) - ratio(tests[0])):
        assert least < better < 5 * least
    is_seen = least >= 1e-6
    for compat, attribute in ((None, 1), ("j48", int(is_seen))):
        problem.parameters = limits | {"compat": compat}
        model, _ = assert_same(problem)
        assert model.tree_.attribute[0] == attribute
    # As cuts of one attribute: the row lies between both.
    values = [0.0, 0, 2, 1, 2]
    problem = Problem([Attribute(values)], y, weights, limits)
    for compat, threshold in ((None, 1.0), ("j48", float(is_seen))):
        problem.parameters = limits | {"compat": compat}
        model, _ = assert_same(problem)
        assert model.tree_.threshold[0] == threshold


@pytest.mark.parametrize(
    ("more", "compat", "label"), [(5e-7, None, 1), (5e-7, "j48", 0), (5e-6, "j48", 1)]
)
def test_j48_compares_the_weights_of_classes_loosely(
    more: float, compat: str | None, label: int
) -> None:
    X = np.zeros((2, 1))
    model = fasttree.C45Classifier(compat=compat, pruning=None)
    model.fit(X, [0, 1], sample_weight=[1 - more / 2, 1 + more / 2])
    assert model.predict(X).tolist() == [label] * 2
    assert model.predict_proba(X).argmax(axis=1).tolist() == [label] * 2


def ratio(test: Any) -> float:
    return float(test.gain / test.split_info)


@pytest.mark.parametrize("ghosts", [0, 300])  # a histogram, a sorted list
def test_missing_values_that_join_a_side_count_there(ghosts: int) -> None:
    """Four rows without a value and two of 1 against six of 2: 0.655 of one bit. (Two against ten were 1.007.) The
    second attribute tells the classes, and the third nothing: it keeps the average low."""
    y = [0] * 6 + [0, 1, 1, 1, 1, 1] + [0] * ghosts
    X = {
        "number": np.array([NAN] * 4 + [1.0] * 2 + [2.0] * 6 + [9.0 + k for k in range(ghosts)]),
        "class": ["a"] * 7 + ["b"] * 5 + ["a"] * ghosts,
        "nothing": (["p", "q"] * 6 + ["p"] * ghosts),
    }
    weights = [1] * 12 + [0] * ghosts
    model = fasttree.C45Classifier(missing="branch", pruning=None, max_depth=1)
    columns = fasttree.Columns(X, y)
    assert model.fit(columns, sample_weight=weights).tree_.attribute[0] == 1
    del X["class"]
    tree = model.fit(fasttree.Columns(X, y), sample_weight=weights).tree_
    assert tree.counts[1:].tolist() == [[6, 0], [1, 5]]


@pytest.mark.parametrize("factor", [0.25, 3, 10])
def test_the_price_of_a_threshold_is_paid_by_rows(factor: float) -> None:
    """log2(cuts) / rows, where class weights do not multiply the rows; and C4.5 splits if something is left."""
    n_decided = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        n_rows = int(random.integers(8, 20))
        values, y = random.permutation(n_rows).astype(float), random.integers(0, 2, n_rows)
        weights = np.where(y == 1, factor, 1.0)

        def bits(part: np.ndarray, y: np.ndarray = y, weights: np.ndarray = weights) -> float:
            counts = np.bincount(y[part], weights=weights[part], minlength=2)
            return float(-sum(c * math.log2(c / counts.sum()) for c in counts if c > 0))

        cuts = [values <= cut for cut in range(1, n_rows - 2)]  # two rows a side
        saved = bits(values >= 0) - min(bits(cut) + bits(~cut) for cut in cuts)
        gain = saved / weights.sum()
        left = gain - math.log2(len(cuts)) / n_rows
        model = fasttree.C45Classifier(
            class_weight={1: factor}, max_depth=1, collapse=False, pruning=None
        )
        if len(set(y.tolist())) == 2:
            split = model.fit({"v": values}, y).get_n_leaves() == 2
            assert split == (left > 1e-10)
            by_weights = gain - math.log2(len(cuts)) / weights.sum()
            n_decided += (by_weights > 0) != (left > 0)
    assert n_decided > 3


def test_the_smaller_side_is_reached_but_for_rounding() -> None:
    """A twentieth of the weight on one side: 0.1 of it for each of two classes, whatever the weights are."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        light, heavy = random.random(7) + 0.1, random.random(133) + 0.1
        heavy *= 19 * light.sum() / heavy.sum()
        values = [0.0] * 7 + [1.0] * 133
        problem = numbers(values, y=[0] * 7 + [1] * 133)
        problem.weights = [*light.tolist(), *heavy.tolist()]
        model, _ = assert_same(problem)
        assert model.get_n_leaves() == 2
        problem.weights[0] -= 1e-5
        assert assert_same(problem)[0].get_n_leaves() == 1


def xor_problem(kind: str, **parameters: Any) -> Problem:
    """The exclusive or of two attributes: neither alone gains anything. With three levels, the last occurs nowhere."""
    n_levels = {"number": None, "two levels": 2, "three levels": 3}[kind]
    a, b = Attribute([0, 0, 1, 1] * 4, n_levels), Attribute([0, 1, 0, 1] * 4, n_levels)
    return Problem([a, b], [0, 1, 1, 0] * 4, None, parameters)


@pytest.mark.parametrize("criterion", ["gain_ratio", "entropy"])
@pytest.mark.parametrize(
    ("kind", "split", "learns"),
    [
        ("two levels", "multiway", True),
        ("three levels", "multiway", True),
        ("two levels", "grouped", True),  # a branch for each: nothing is put in groups
        ("three levels", "grouped", False),  # a search, which has to find a gain
        ("number", "multiway", False),  # as the search for a threshold has to
    ],
)
def test_branches_without_gain(kind: str, split: str, learns: bool, criterion: str) -> None:
    """Release 8 takes the best test even if it gains nothing; C4.5 release 8 prints four leaves and no error."""
    limits = {"criterion": criterion, "categorical_split": split}
    model, _ = assert_same(xor_problem(kind, **limits))
    assert (model.get_n_leaves() >= 4) == learns
    X, y = xor_problem(kind).X, np.array(xor_problem(kind).y)
    assert (model.predict(X) == y).all() == learns
    for refusal in ({"compat": "j48"}, {"stop_zero_gain": True}, {"min_gain": 1e-3}):
        refused = fit(xor_problem(kind, **limits), **refusal)
        assert refused.get_n_leaves() == 1


def test_the_average_of_gains_of_nothing_is_nothing() -> None:
    """Three attributes without gain: all are of average gain, and the first of them is taken. Pruning keeps the four
    leaves: of 4 rows without error each, they have 4 * 4 * (1 - 0.25 ** (1 / 4)) = 4.7 at most, one leaf has 8."""
    xor = xor_problem("two levels")
    xor.attributes.append(Attribute([0, 0, 0, 0, 1, 1, 1, 1] * 2, 2))
    model, nodes = assert_same(xor)
    assert nodes[0].split.attribute == 0
    assert model.get_n_leaves() == 4
    X = {name: ["01"[int(v)] for v in xor.attributes[i].values] for i, name in enumerate("abc")}
    pruned = fasttree.C45Classifier().fit(X, xor.y)
    assert (pruned.get_n_leaves(), pruned.score(X, xor.y)) == (4, 1.0)


def test_a_gain_is_better_than_none() -> None:
    """A number that gains goes before a level that does not, which goes before a number that does not pay."""
    a, b = Attribute([0, 1] * 8, 2), Attribute([0.0] * 8 + [1.0] * 8)
    gains = Problem([a, b], [0] * 6 + [1] * 2 + [1] * 8, None, {"max_depth": 1, "collapse": False})
    assert assert_same(gains)[1][0].split.attribute == 1
    nothing = Problem([b, a], [0, 0, 1, 1] * 4, None, {"max_depth": 1, "collapse": False})
    assert assert_same(nothing)[1][0].split.attribute == 1


@pytest.mark.parametrize(("compat", "n_leaves"), [(None, 2), ("j48", 1)])
@pytest.mark.parametrize("criterion", ["gain_ratio", "entropy"])
def test_j48_sees_nothing_below_a_millionth(
    compat: str | None, n_leaves: int, criterion: str
) -> None:
    """1000 : 1000 beside 1001 : 999 gain 1.8e-7 bits of 1."""
    a = [0] * 2000 + [1] * 2000
    y = [0] * 1000 + [1] * 1000 + [0] * 1001 + [1] * 999
    limits = {"compat": compat, "collapse": False, "criterion": criterion}
    problem = Problem([Attribute(a, 2)], y, None, limits)
    model, _ = assert_same(problem)
    assert model.tree_.n_leaves == n_leaves


def test_everything_missing() -> None:
    problem = numbers([NAN] * 6, [1.0, 1, 1, 2, 2, 2], y=[0, 0, 0, 1, 1, 1])
    model, nodes = assert_same(problem)
    assert nodes[0].split.attribute == 1
    assert_same_predictions(model, nodes, problem, [(NAN, NAN), (0.0, 1.5)])


def test_shares_that_are_equal_as_fractions_are_a_tie() -> None:
    """One row has a = 0 and four have a = 1, so the others go there with a fifth. Below, b = 0 has this row and one
    fifth, b = 1 has six fifths, which are more by 2e-16 as doubles; of two equal ones the first is the heavier."""
    a = Attribute([0.0] + [1.0] * 4 + [NAN] * 7, 2)
    b = Attribute([0.0] + [NAN] * 4 + [0.0] + [1.0] * 6, 2)
    y = [1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    assert math.fsum([0.2] * 6) > 1 + 0.2
    limits = {"min_samples_leaf": 1, "min_samples_split": 2, "collapse": False}
    model, nodes = assert_same(Problem([a, b], y, None, limits))
    first = next(n for n in nodes if n.depth == 1)
    assert (nodes[0].split.attribute, first.split.attribute) == (0, 1)
    assert model.tree_.default_branch[1] == 0
    assert model.tree_.weight[model.tree_.first_child[1] :][:2].tolist() == [1.2, 1.2]


def test_a_parameter_that_is_none_of_the_choices() -> None:
    X, y = tables.PLAY_TENNIS.X, tables.PLAY_TENNIS.y
    with pytest.raises(ValueError, match="compat"):
        fasttree.C45Classifier(compat="weka").fit(X, y)
    with pytest.raises(ValueError, match="collapse"):
        fasttree.C45Classifier(collapse="yes").fit(X, y)


# -- random tables -------------------------------------------------------------------------------


@st.composite
def c45_parameters(draw: st.DrawFn) -> dict[str, Any]:
    m = draw(st.sampled_from((1, 2, 2, 3)))
    chosen: dict[str, Any] = {"min_samples_leaf": m, "min_samples_split": 2 * m}
    optional = {
        "criterion": st.just("entropy"),
        "compat": st.just("j48"),
        "stop_zero_gain": st.just(True),
        "collapse": st.just(False),
        "threshold": st.just("midpoint"),
        "max_depth": st.integers(1, 3),
        "min_samples_split": st.integers(2, 9),
    }
    for name, values in optional.items():
        if draw(st.integers(0, 2)) == 0:
            chosen[name] = draw(values)
    return chosen


@st.composite
def c45_problems(draw: st.DrawFn, **kinds: Any) -> Problem:
    problem = draw(problems(parameters=False, **({"max_rows": 48} | kinds)))
    problem.parameters = draw(c45_parameters())
    return problem


@given(c45_problems(holes=False))
def test_equals_reference(problem: Problem) -> None:
    assert_same(problem)


@given(c45_problems(holes=True))
def test_equals_reference_with_holes(problem: Problem) -> None:
    assert_same(problem)


@given(c45_problems(holes=True, kinds=("numeric",), max_rows=60))
def test_equals_reference_on_numbers(problem: Problem) -> None:
    assert_same(problem)


@given(c45_problems(holes=True, kinds=("categorical",), max_rows=60))
def test_equals_reference_on_categories(problem: Problem) -> None:
    assert_same(problem)


@given(c45_problems(holes=True, weights=("fractional",)))
def test_equals_reference_with_fractional_weights(problem: Problem) -> None:
    assert_same(problem)


@given(c45_problems(holes=True), st.data())
def test_predictions_with_other_holes(problem: Problem, data: st.DataObject) -> None:
    model, nodes = assert_same(problem)
    rows = []
    for row in problem.rows[:12]:
        lot = data.draw(st.lists(st.sampled_from(LEVELS), min_size=len(row), max_size=len(row)))
        asked = []
        for value, what, attribute in zip(row, lot, problem.attributes, strict=True):
            never_seen = what == "never seen" and attribute.n_categories is not None
            asked.append(-1 if never_seen else NAN if what == "missing" else value)
        rows.append(tuple(asked))
    assert_same_predictions(model, nodes, problem, problem.rows + rows)


def without_ties(seed: int, n_rows: int, n_classes: int, holes: float) -> Problem:
    """Four columns of numbers that are all different and two of levels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4, n_rows))
    levels = rng.integers(0, 5, size=(2, n_rows))
    signal = X[0] + X[1] * X[2] + 0.7 * (levels[0] - 2) + rng.normal(scale=0.4, size=n_rows)
    y = np.argsort(np.argsort(signal)) * n_classes // n_rows
    columns = [*map(Attribute, X.tolist()), *(Attribute(c, 6) for c in levels.tolist())]
    holed = [
        Attribute(
            np.where(rng.random(n_rows) < holes, NAN, column.values).tolist(), column.n_categories
        )
        for column in columns
    ]
    return Problem(holed, y.tolist())


@pytest.mark.parametrize("holes", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("compat", [None, "j48"])
def test_tables_without_ties(compat: str | None, n_classes: int, holes: float) -> None:
    for seed in range(3):
        problem = without_ties(seed, 110, n_classes, holes)
        problem.parameters = {"compat": compat}
        model, nodes = assert_same(problem)
        assert len(nodes) > 5
        assert_same_predictions(model, nodes, problem, problem.rows)


@pytest.mark.parametrize(
    ("weighting", "criterion", "holes"),
    [("none", "gain_ratio", 0.2), ("whole", "gain_ratio", 0.3), ("none", "entropy", 0.1)],
)
def test_columns_of_every_length(weighting: str, criterion: str, holes: float) -> None:
    """Columns on both sides of 255 values, which are kept in two ways."""
    problem = medium(criterion, "multiway", 3, weighting, 5, n_rows=420, holes=holes)
    problem.parameters = {"criterion": criterion, "min_samples_split": 12, "min_samples_leaf": 5}
    assert_same(problem)


# -- what makes no difference --------------------------------------------------------------------


@given(c45_problems(holes=True))
def test_bins_lose_nothing_where_values_are_few(problem: Problem) -> None:
    assert fit(problem, max_bins=255).tree_.fingerprint() == fit(problem).tree_.fingerprint()


@given(c45_problems(holes=True), st.randoms(use_true_random=False))
def test_order_of_the_rows_and_threads(problem: Problem, random: Any) -> None:
    order = random.sample(range(len(problem.y)), len(problem.y))
    theirs = fit(problem.take(order), n_jobs=2).tree_
    assert fit(problem).tree_.fingerprint() == theirs.fingerprint()


@given(c45_problems(holes=False, weights=("whole",)))
def test_whole_weights_are_copies(problem: Problem) -> None:
    assert fit(problem).tree_.fingerprint() == fit(problem.copies()).tree_.fingerprint()
