# SPDX-License-Identifier: BSD-3-Clause
"""Surrogate splits: numbers worked out elsewhere, and the engine against the slow reference."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from agreement import assert_same_tree
from candidates import Attribute, is_missing
from hypothesis import given
from hypothesis import strategies as st
from printed_trees import read_table
from reference_surrogates import Surrogate, SurrogateGrower, reference_apply
from strategies import Problem, medium, parameter_sets, problems

from fasttree import C45Classifier, CARTClassifier, Categorical, Columns, TreeClassifier

pytestmark = pytest.mark.numeric

NAN = math.nan


# -- the two sides of a comparison ---------------------------------------------------------------


def reference_of(problem: Problem) -> list[Any]:
    grower = SurrogateGrower(
        problem.attributes,
        problem.y,
        problem.n_classes,
        weights=problem.weights,
        **problem.parameters,
    )
    return grower.grow()


def fit(problem: Problem, **changes: Any) -> Any:
    model = TreeClassifier(**(problem.parameters | {"missing": "surrogate"} | changes))
    return model.fit(problem.X, np.array(problem.y), sample_weight=problem.weights)


def surrogates_of(tree: Any, node: int) -> list[Surrogate]:
    found = []
    for place in range(int(tree.surrogate_start[node]), int(tree.surrogate_start[node + 1])):
        entries = slice(
            int(tree.surrogate_table_start[place]), int(tree.surrogate_table_start[place + 1])
        )
        codes = tree.surrogate_table_codes[entries].tolist()
        branches = tree.surrogate_table_branch[entries].tolist()
        found.append(
            Surrogate(
                attribute=int(tree.surrogate_attribute[place]),
                right=NAN,
                threshold=float(tree.surrogate_threshold[place]),
                low=int(tree.surrogate_low[place]),
                table={code - 1: branch for code, branch in zip(codes, branches, strict=True)},
                agreement=float(tree.surrogate_agreement[place]),
                adjusted=float(tree.surrogate_adjusted[place]),
            )
        )
    return found


def assert_same_surrogates(tree: Any, nodes: list[Any]) -> None:
    for number, node in enumerate(nodes):
        ours = surrogates_of(tree, number)
        theirs = node.surrogates if node.split is not None else []
        where = f"node {number}: {ours}, expected {theirs}"
        assert [s.attribute for s in ours] == [s.attribute for s in theirs], where
        for mine, other in zip(ours, theirs, strict=True):
            assert mine.table == other.table, where
            if other.table:
                assert math.isnan(mine.threshold), where
            else:
                assert (mine.threshold, mine.low) == (other.threshold, other.low), where
            assert mine.agreement == pytest.approx(other.agreement, abs=1e-9), where
            assert mine.adjusted == pytest.approx(other.adjusted, abs=1e-9), where


def assert_same(problem: Problem, **changes: Any) -> tuple[Any, list[Any]]:
    nodes = reference_of(problem)
    model = fit(problem, **changes)
    assert_same_tree(model.tree_, nodes)
    assert_same_surrogates(model.tree_, nodes)
    return model, nodes


def assert_same_ways(model: Any, nodes: list[Any], problem: Problem, rows: list[Any]) -> None:
    X = problem.asked(rows)
    leaves = reference_apply(nodes, rows)
    assert model.apply(X).tolist() == leaves
    assert model.predict(X).tolist() == [nodes[leaf].pred for leaf in leaves]
    shares = [nodes[leaf].proba for leaf in leaves]
    np.testing.assert_allclose(model.predict_proba(X), shares, atol=1e-9)


def numbers(*columns: list[float], y: list[int], **parameters: Any) -> Problem:
    return Problem([Attribute(column) for column in columns], y, None, parameters)


# -- numbers worked out elsewhere ----------------------------------------------------------------

# R's rpart 4.1.19 on its table stagec: attribute, threshold, agree, adj.
ROOT = [
    ("gleason", 5.5, 0.863, 0.672),
    ("ploidy", NAN, 0.644, 0.148),
    ("g2", 9.945, 0.630, 0.115),
    ("age", 66.5, 0.589, 0.016),
]
NODE_3 = [
    ("ploidy", NAN, 0.962, 0.914),
    ("age", 68.5, 0.608, 0.114),
    ("gleason", 6.5, 0.582, 0.057),
]


def test_surrogates_of_rpart() -> None:
    X, y = read_table("stagec")
    names = list(X)
    attributes = [
        Attribute([NAN if code < 0 else code for code in column.codes], len(column.categories))
        if isinstance(column, Categorical)
        else Attribute(column.tolist())
        for column in X.values()
    ]
    problem = Problem(attributes, y.codes.tolist())
    problem.parameters = {"max_depth": 2, "min_samples_split": 20, "min_samples_leaf": 7}
    problem.parameters["stop_zero_gain"] = True
    nodes = reference_of(problem)
    assert names[nodes[0].split.attribute] == "grade"
    assert nodes[0].split.threshold == 2.5
    assert nodes[0].split.gain * 146 == pytest.approx(10.357590, abs=2e-6)
    assert names[nodes[2].split.attribute] == "g2"
    assert nodes[2].split.threshold == pytest.approx(13.2)
    for node, expected in ((nodes[0], ROOT), (nodes[2], NODE_3)):
        found = node.surrogates
        assert [names[s.attribute] for s in found] == [name for name, *_ in expected]
        for surrogate, (_, threshold, agreement, adjusted) in zip(found, expected, strict=True):
            assert surrogate.threshold == pytest.approx(threshold, nan_ok=True)
            assert surrogate.agreement == pytest.approx(agreement, abs=5e-4)
            assert surrogate.adjusted == pytest.approx(adjusted, abs=5e-4)
    assert_same(problem)


def test_worked_by_hand() -> None:
    # The primary cuts ten rows 5 : 5, two more rows do not know it. The second column agrees in
    # eight of the ten and is missing in one; the third is right about the rows above 0, and so on.
    primary = [0.0] * 5 + [1.0] * 5 + [NAN, NAN]
    second = [9.0, 9, 9, 9, 2, 2, 2, 2, 2, NAN, 9.0, NAN]
    third = Attribute([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 0, 2], 4)
    y = [0] * 5 + [1] * 5 + [0, 1]
    problem = Problem([Attribute(primary), Attribute(second), third], y)
    problem.parameters = {"max_depth": 1}
    model, (root, left, right) = assert_same(problem)
    assert root.split.attribute == 0
    assert root.split.gain == pytest.approx(0.5 * 10 / 12)
    first, last = root.surrogates
    # Above 5.5 is left; wrong about row 4 and about row 9, which does not know the column.
    assert (first.attribute, first.threshold, first.low) == (1, 5.5, 1)
    assert (first.agreement, first.adjusted) == (0.8, pytest.approx(3 / 5))
    # Level 1 has two rows on either side.
    assert (last.table, last.agreement) == ({0: 0, 1: 0, 2: 1}, 0.8)
    # Row 10 follows the second column, row 11 the third.
    assert left.rows == [0, 1, 2, 3, 4, 10]
    assert right.rows == [5, 6, 7, 8, 9, 11]
    # Level 3 was never met: nothing is known, and both sides weigh the same.
    assert_same_ways(model, [root, left, right], problem, [(NAN, NAN, 3), (NAN, NAN, NAN)])
    assert model.apply(problem.asked([(NAN, NAN, 3)])).tolist() == [1]


def test_five_at_most_equal_ones_in_schema_order() -> None:
    column = [0.0, 0, 0, 1, 1, 1, 1, 1]
    mirrored = [-v for v in column]
    y = [0, 0, 0, 1, 1, 1, 1, 1]
    problem = numbers(column, *[mirrored] * 4, *[column] * 4, y=y)
    _, nodes = assert_same(problem)
    assert [s.attribute for s in nodes[0].surrogates] == [1, 2, 3, 4, 5]
    assert [s.low for s in nodes[0].surrogates] == [1, 1, 1, 1, 0]
    assert {(s.agreement, s.adjusted) for s in nodes[0].surrogates} == {(1.0, 1.0)}


def test_no_better_than_the_majority_is_no_surrogate() -> None:
    primary = [0.0] * 6 + [1.0] * 2
    other = [0.0, 1, 0, 1, 0, 1, 0, 1]
    problem = numbers(primary, other, y=[0] * 6 + [1] * 2)
    _, nodes = assert_same(problem)
    assert nodes[0].surrogates == []


def test_data_without_holes_has_surrogates_too() -> None:
    problem = numbers([0.0, 0, 1, 1], [5.0, 5, 7, 7], y=[0, 0, 1, 1])
    model, nodes = assert_same(problem)
    assert len(nodes[0].surrogates) == 1
    assert model.predict([[NAN, 4.0], [NAN, 8.0], [NAN, NAN]]).tolist() == [0, 1, 0]


def test_without_surrogates_the_heavier_side() -> None:
    problem = numbers([0.0, 0, 1, 1, 1, NAN, NAN, NAN], y=[0, 0, 1, 1, 1, 0, 0, 0])
    problem.parameters = {"max_depth": 1}
    model, nodes = assert_same(problem)
    # Heavier among the rows that know it: those without it do not decide.
    assert nodes[2].rows == [2, 3, 4, 5, 6, 7]
    assert model.apply(problem.X).tolist() == [1, 1, 2, 2, 2, 2, 2, 2]


@pytest.mark.parametrize(("threshold", "expected"), [("midpoint", 4.0), ("value", 3.0)])
def test_thresholds_of_surrogates_are_values_too(threshold: str, expected: float) -> None:
    """Rows that do not know the test have values between both sides of its stand-in: 4 is not above 4."""
    primary = [0.0] * 4 + [1.0] * 4 + [NAN] * 3
    other = [0.0] * 4 + [8.0] * 4 + [3.0, 6.0, expected]
    X = np.array([primary, other]).T
    model = TreeClassifier(missing="surrogate", max_depth=1, threshold=threshold)
    model.fit(X, [0] * 4 + [1] * 4 + [1, 0, 1])  # the test is right about all that know it
    assert model.tree_.surrogate_threshold.tolist() == [expected]
    assert model.apply(X).tolist() == [1] * 4 + [2] * 4 + [1, 2, 1]
    assert model.tree_.counts.tolist() == [[5.0, 6.0], [4.0, 2.0], [1.0, 4.0]]


def test_thresholds_of_surrogates_have_no_reach() -> None:
    """J48 puts a threshold on a value up to 1e-6 above the middle. It has no surrogates, and theirs may divide values
    that are closer than that: every training row goes where it went."""
    primary = [0.0] * 4 + [1.0] * 4 + [NAN] * 2
    other = [0.0] * 4 + [1e-7] * 5 + [0.0]
    X, y = np.array([primary, other]).T, [0] * 4 + [1] * 5 + [0]
    model = C45Classifier(missing="surrogate", categorical_split="subset", compat="j48")
    model.set_params(pruning=None).fit(X, y)
    assert model.tree_.surrogate_threshold.tolist() == [0.0]
    assert model.apply(X).tolist() == [1] * 4 + [2] * 5 + [1]
    assert model.tree_.counts[1:].tolist() == [[5.0, 0.0], [0.0, 5.0]]


def test_agreement_counts_rows_whatever_their_class_weighs() -> None:
    side = np.array([0.0] * 6 + [1.0] * 4)
    X = {"side": side, "other": np.array([0.0] * 7 + [1.0] * 3)}  # wrong about one row
    model = TreeClassifier(missing="surrogate", max_depth=1, class_weight={1: 3})
    tree = model.fit(X, side.astype(int)).tree_
    (found,) = surrogates_of(tree, 0)
    assert (found.agreement, found.adjusted) == (0.9, 0.75)


def test_it_is_what_cart_does() -> None:
    assert CARTClassifier().missing == "surrogate"
    X = {
        "size": np.array([1.0, 2, 8, 9, NAN]),
        "kind": Categorical(["a", "a", "b", "b", "b"], ["a", "b", "c"]),
    }
    model = CARTClassifier(pruning=None).fit(X, [0, 0, 1, 1, 1])
    assert model.predict(X).tolist() == [0, 0, 1, 1, 1]
    # All rows know the kind, so it is the test; three of them are b, and the size speaks for it.
    assert model.tree_.attribute[0] == 1
    asked = {"size": np.array([NAN, NAN, 1.5]), "kind": ["a", "never seen", None]}
    assert model.predict(asked).tolist() == [0, 1, 0]


# -- weights that are no whole numbers: what rounding alone keeps apart is equal -----------------

# Rows of a side, and what they weigh: nine rows of 0.1 are three of 0.3, whatever becomes of a tenth inside.
PLAIN, NINE, THREE, OTHERS = [0.5] * 10, [0.1] * 9, [0.3] * 3, [0.4] * 10


def sides(mirrored: bool) -> tuple[np.ndarray, list[float], list[str]]:
    """The side, the weight and the group of each row; on the other sides if `mirrored`."""
    groups = {"plain": PLAIN, "nine": NINE, "three": THREE, "others": OTHERS}
    left = {"plain", "three"} if mirrored else {"plain", "nine"}
    names = [name for name, weights in groups.items() for _ in weights]
    side = np.array([float(name not in left) for name in names])
    return side, [weight for weights in groups.values() for weight in weights], names


def root_surrogates(X: dict[str, Any], y: Any, weights: list[float]) -> list[Surrogate]:
    model = TreeClassifier(missing="surrogate", max_depth=1).fit(X, y, sample_weight=weights)
    assert model.tree_.attribute[0] == 0
    return surrogates_of(model.tree_, 0)


@pytest.mark.parametrize("right", [[0.3], [0.1] * 3])
@pytest.mark.parametrize("lost", [0.1, 0.2, 0.3, 0.5])
def test_sides_that_rounding_alone_keeps_apart_weigh_the_same(
    right: list[float], lost: float
) -> None:
    left = [0.1] * 3 if len(right) == 1 else [0.3]
    X = np.array([[1.0]] * len(left) + [[2.0]] * len(right) + [[NAN]])
    y = [0] * len(left) + [1] * len(right) + [1]
    model = CARTClassifier(pruning=None, max_depth=1)
    model.fit(X, y, sample_weight=[*left, *right, lost])
    assert model.apply(X).tolist() == [1] * len(left) + [2] * len(right) + [1]
    counts = model.tree_.counts[1:] / model.tree_.counts[0].sum() * (0.6 + lost)
    np.testing.assert_allclose(counts, [[0.3, lost], [0.0, 0.3]], atol=1e-9)


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_surrogate_saves_more_than_rounding(mirrored: bool) -> None:
    side, weights, names = sides(mirrored)
    # 5.9 of 10.8 are on the first side. It is right about the plain ones and half of the 1.8 in the middle, and does
    # not know the others: 5 + 0.9, no more than that side alone.
    place = {"plain": 0.0, "nine": 1.0, "three": 1.0, "others": NAN}
    X = {"side": side, "place": np.array([place[name] for name in names])}
    assert root_surrogates(X, side.astype(int), weights) == []


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_level_of_two_equal_parts_goes_to_the_first_branch(mirrored: bool) -> None:
    side, weights, names = sides(mirrored)
    level = {"plain": "a", "nine": "b", "three": "b", "others": "c"}
    X = {"side": side, "level": [level[name] for name in names]}
    (found,) = root_surrogates(X, side.astype(int), weights)
    assert found.table == {0: 0, 1: 0, 2: 1}
    assert found.agreement == pytest.approx(9.9 / 10.8)


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_level_of_two_equal_parts_weighs_on_the_first_side(mirrored: bool) -> None:
    """Alone, level a is too light for a side (1.8 rows); b, whose parts rounding alone keeps apart, joins it."""
    nine, three = float(mirrored), float(not mirrored)
    side = np.array([0.0] + [nine] * 9 + [three] * 3 + [1.0] * 10)
    weights = [0.5] + [0.1] * 9 + [0.3] * 3 + [0.42] * 10
    X = {"side": side, "level": list("a" + "b" * 12 + "c" * 10)}
    (found,) = root_surrogates(X, side.astype(int), weights)
    assert found.table == {0: 0, 1: 0, 2: 1}
    assert found.agreement == pytest.approx(5.6 / 6.5)


@pytest.mark.parametrize("mirrored", [False, True])
def test_equal_agreement_keeps_the_order_of_the_columns(mirrored: bool) -> None:
    side, weights, names = sides(mirrored)
    wrong = {
        group: np.array(
            [1 - s if name == group else s for name, s in zip(names, side, strict=True)]
        )
        for group in ("nine", "three")
    }
    for groups in (("nine", "three"), ("three", "nine")):
        X = {"side": side} | {group: wrong[group] for group in groups}
        found = root_surrogates(X, side.astype(int), weights)
        assert [s.attribute for s in found] == [1, 2]
        assert [s.agreement for s in found] == pytest.approx([9.9 / 10.8] * 2)


@pytest.mark.parametrize("other", [[1.0] * 6 + [2.0] * 6, ["a"] * 6 + ["b"] * 6])
def test_a_side_that_rounding_makes_lighter_than_two_is_none(other: list[Any]) -> None:
    """Each side of a surrogate weighs 2 or more. Scaled to mean 1, six rows of 0.1 among 3.6 are six thirds."""
    side = np.array([0.0] * 6 + [1.0] * 6)
    weights = [0.1] * 6 + [0.5] * 6
    (found,) = root_surrogates({"side": side, "other": other}, side.astype(int), weights)
    assert (found.agreement, found.adjusted) == (1.0, 1.0)
    lighter = [0.1 - 1e-6, *weights[1:11], 0.5 + 1e-6]
    assert root_surrogates({"side": side, "other": other}, side.astype(int), lighter) == []


# -- random tables -------------------------------------------------------------------------------


@st.composite
def surrogate_problems(draw: st.DrawFn, **kinds: Any) -> Problem:
    problem = draw(problems(parameters=False, **({"max_rows": 40, "holes": True} | kinds)))
    problem.parameters = draw(parameter_sets()) | {"categorical_split": "subset"}
    problem.parameters.pop("threshold", None)
    return problem


@given(surrogate_problems())
def test_equals_reference(problem: Problem) -> None:
    assert_same(problem)


@given(surrogate_problems(holes=False))
def test_equals_reference_without_holes(problem: Problem) -> None:
    problem.parameters.pop("missing", None)
    assert_same(problem)


@given(surrogate_problems(kinds=("numeric",), weights=("fractional",)))
def test_equals_reference_with_fractional_weights(problem: Problem) -> None:
    model, nodes = fit(problem), reference_of(problem)
    assert_same_tree(model.tree_, nodes, tolerance=1e-9)
    assert_same_surrogates(model.tree_, nodes)
    rows = [tuple(a.values[row] for a in problem.attributes) for row in range(len(problem.y))]
    assert model.apply(problem.X).tolist() == reference_apply(nodes, rows)


@given(surrogate_problems(kinds=("numeric",), max_rows=60))
def test_equals_reference_on_numbers(problem: Problem) -> None:
    assert_same(problem)


@given(surrogate_problems(kinds=("categorical",), max_rows=60))
def test_equals_reference_on_categories(problem: Problem) -> None:
    assert_same(problem)


@given(surrogate_problems(), st.data())
def test_rows_with_other_holes(problem: Problem, data: st.DataObject) -> None:
    model, nodes = assert_same(problem)
    assert_same_ways(model, nodes, problem, problem.rows)
    rows = []
    for row in problem.rows[:12]:
        lot = data.draw(st.lists(st.integers(-1, 9), min_size=len(row), max_size=len(row)))
        asked = []
        for value, drawn, attribute in zip(row, lot, problem.attributes, strict=True):
            n_levels = attribute.n_categories
            if drawn > 5 or is_missing(value):
                asked.append(NAN)
            elif n_levels is None:
                asked.append(value)
            else:  # perhaps a level that was never seen, at fit or at the node
                asked.append(min(drawn, n_levels - 1))
        rows.append(tuple(asked))
    assert_same_ways(model, nodes, problem, rows)


def related(seed: int, n_rows: int, holes: float) -> Problem:
    """Columns that tell of each other: noisy copies, upside down too, and levels made of them."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=n_rows)
    numeric = [sign * signal + rng.normal(scale=s, size=n_rows) for sign, s in ((1, 0.2), (-1, 1))]
    numeric += [rng.normal(size=n_rows), np.round(signal * 2) / 2]
    levels = [np.digitize(signal, [-1, 0, 1]), rng.integers(0, 4, n_rows)]
    columns = [*map(Attribute, map(np.ndarray.tolist, numeric))]
    columns += [Attribute(codes.tolist(), 5) for codes in levels]
    y = np.digitize(signal + rng.normal(scale=0.3, size=n_rows), [-0.5, 0.7]).tolist()
    holed = [
        Attribute(np.where(rng.random(n_rows) < holes, NAN, c.values).tolist(), c.n_categories)
        for c in columns
    ]
    return Problem(holed, y)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio", "misclassification"])
@pytest.mark.parametrize("holes", [0.0, 0.1, 0.4])
def test_columns_that_stand_in_for_each_other(criterion: str, holes: float) -> None:
    n_surrogates = 0
    for seed in range(3):
        problem = related(seed, 90, holes)
        problem.parameters = {"criterion": criterion}
        model, nodes = assert_same(problem)
        n_surrogates += sum(len(node.surrogates) for node in nodes)
        other = related(seed + 100, 90, 0.5)
        assert_same_ways(model, nodes, problem, other.rows)
    assert n_surrogates > 0


@pytest.mark.parametrize(
    ("criterion", "n_classes", "weighting", "levels"),
    [
        ("gini", 2, "none", (2, 5, 30)),
        ("entropy", 3, "whole", (2, 5)),
        ("gini", 2, "whole", (4, 400, 500)),
    ],
)
def test_columns_of_every_length(
    criterion: str, n_classes: int, weighting: str, levels: tuple[int, ...]
) -> None:
    """Columns on both sides of 255 values, which are kept in two ways."""
    problem = medium(
        criterion, "subset", n_classes, weighting, 5, n_rows=330, levels=levels, holes=0.2
    )
    problem.parameters |= {"max_depth": 4, "min_samples_leaf": 3}
    assert_same(problem)


# -- what makes no difference --------------------------------------------------------------------


@given(surrogate_problems())
def test_bins_lose_nothing_where_values_are_few(problem: Problem) -> None:
    assert fit(problem, max_bins=255).tree_.fingerprint() == fit(problem).tree_.fingerprint()


@given(surrogate_problems(), st.randoms(use_true_random=False), st.sampled_from([None, 5]))
def test_order_of_the_rows_and_threads(problem: Problem, random: Any, max_bins: int | None) -> None:
    order = random.sample(range(len(problem.y)), len(problem.y))
    theirs = fit(problem.take(order), n_jobs=2, max_bins=max_bins).tree_
    assert fit(problem, max_bins=max_bins).tree_.fingerprint() == theirs.fingerprint()


@given(surrogate_problems(weights=("whole",)))
def test_whole_weights_are_copies(problem: Problem) -> None:
    assert fit(problem).tree_.fingerprint() == fit(problem.copies()).tree_.fingerprint()


@given(surrogate_problems())
def test_a_cut_back_tree_keeps_its_surrogates(problem: Problem) -> None:
    problem.parameters |= {"max_depth": None, "max_leaves": None}
    tree = fit(problem).tree_
    for depth in range(tree.max_depth + 1):
        shallow = fit(problem, max_depth=depth).tree_
        assert tree.subtree(tree.depth < depth).fingerprint() == shallow.fingerprint()


def test_very_many_levels_take_what_is_there() -> None:
    """Nodes hold few of 20,000 levels; room for all of them at every split of a level would be 26 MB more here."""
    rng = np.random.default_rng(0)
    n_rows, n_levels = 40_000, 20_000
    codes = rng.integers(0, n_levels, n_rows)
    X = {"level": [f"L{code}" for code in codes]} | {f"x{i}": rng.random(n_rows) for i in range(2)}
    y = (codes % 2) ^ (rng.random(n_rows) < 0.3)
    columns = Columns(X, y)
    tracemalloc.start()
    tree = TreeClassifier(missing="surrogate", min_samples_leaf=20).fit(columns).tree_
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    by_level = tree.surrogate_attribute == 0
    assert by_level.sum() > 100
    assert np.diff(tree.surrogate_table_start)[by_level].min() >= 2
    assert peak < 10e6
