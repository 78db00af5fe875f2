# SPDX-License-Identifier: BSD-3-Clause
"""Class weights and misclassification costs: what is refused, and numbers that are exactly the ratios asked for."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fasttree import Columns, TreeClassifier
from fasttree.encoding.class_weights import (
    at_stake,
    check_class_weight,
    check_misclassification_cost,
    factors,
    to_ratios,
)
from fasttree.encoding.weights import IntegerWeights, to_integer_weights
from fasttree.tables.schema import ClassPriors
from fasttree.trees.decide import min_cost_class
from fasttree.trees.tree import Tree

pytestmark = pytest.mark.numeric

WORDS = np.array(["ill", "unclear", "well"], dtype=object)
TOTALS = np.array([2, 4, 4])


def weights_of(class_weight: Any, classes: np.ndarray = WORDS, totals: Any = TOTALS) -> list[float]:
    found = check_class_weight(class_weight, classes, np.asarray(totals))
    assert found is not None
    assert found.dtype == np.float64
    return found.tolist()


def ratios_of(values: Any) -> list[float] | None:
    found = to_ratios(np.array(values, dtype=np.float64))
    if found is None:
        return None
    assert found.dtype == np.float64
    return found.tolist()


# -- class_weight ----------------------------------------------------------------------------------


def test_no_class_weight() -> None:
    assert check_class_weight(None, WORDS, TOTALS) is None


def test_classes_that_are_not_named_weigh_1() -> None:
    assert weights_of({"ill": 5}) == [5, 1, 1]
    assert weights_of({"well": 0.5, "ill": np.float32(2)}) == [2, 1, 0.5]
    assert weights_of({}) == [1, 1, 1]


@pytest.mark.parametrize(
    "classes",
    [
        np.array([1, 2]),
        np.array([1.0, 2.0]),
        np.array(["1", "2"]),
        np.array(["1", "2"], dtype=object),
    ],
)
def test_classes_of_every_dtype(classes: np.ndarray) -> None:
    for second in (classes[1], classes.tolist()[1]):
        assert weights_of({second: 3}, classes, [1, 1]) == [1, 3]


def test_numbers_are_found_by_value() -> None:
    assert weights_of({1.0: 3}, np.array([0, 1]), [1, 1]) == [1, 3]
    assert weights_of({True: 3}, np.array([False, True]), [1, 1]) == [1, 3]


def test_balanced() -> None:
    assert weights_of("balanced") == [10 / 6, 10 / 12, 10 / 12]
    assert weights_of("balanced", WORDS[:2], [9, 5]) == [14 / 18, 14 / 10]
    assert weights_of("balanced", WORDS[:2], [0.5, 1.5]) == [2.0, 2 / 3]


def test_a_class_without_weight_is_left_out_of_the_balance() -> None:
    assert weights_of("balanced", WORDS, [2, 0, 6]) == [2.0, 1.0, 8 / 12]


@pytest.mark.parametrize(
    ("class_weight", "words"),
    [
        ({"sick": 2}, ["class_weight contains the class 'sick'", "not in y", "'ill', 'unclear'"]),
        ({1: 2}, ["contains the class 1"]),
        ({"ill": 0}, ["class_weight: the weight of 'ill'", "finite number above 0, got 0"]),
        ({"ill": -1.5}, ["the weight of 'ill'", "got -1.5"]),
        ({"well": np.nan}, ["the weight of 'well'", "got nan"]),
        ({"well": np.inf}, ["the weight of 'well'", "got inf"]),
        ({"well": 10**400}, ["the weight of 'well'", "finite number above 0, got 1000"]),
        ({"well": Fraction(1, 10**400)}, ["the weight of 'well'", "above 0, got Fraction"]),
        ({"well": "2"}, ["the weight of 'well'", "got '2'"]),
        ({"well": True}, ["the weight of 'well'", "got True"]),
        ({"well": "heavy"}, ["the weight of 'well'", "got 'heavy'"]),
        ({"well": None}, ["the weight of 'well'", "got None"]),
        ("heavy", ['None, "balanced" or a dict', "got 'heavy'"]),
        ([1, 2, 3], ['class_weight must be None, "balanced" or a dict', "got [1, 2, 3]"]),
        (2.0, ["class_weight must be", "got 2.0"]),
    ],
)
def test_bad_class_weights(class_weight: Any, words: list[str]) -> None:
    with pytest.raises(ValueError, match="class_weight") as caught:
        check_class_weight(class_weight, WORDS, TOTALS)
    for word in words:
        assert word in str(caught.value)


# -- misclassification_cost ------------------------------------------------------------------------

COST = [[0, 2, 5], [1, 0, 1], [0.5, 0, 0]]


def test_no_cost() -> None:
    assert check_misclassification_cost(None, WORDS) is None


def test_costs_as_an_array_or_as_dicts() -> None:
    as_dicts = {
        "ill": {"unclear": 2, "well": 5},
        "unclear": {},  # a mistake that is left out costs 1
        "well": {"ill": 0.5, "unclear": 0, "well": 0},
    }
    for matrix in (COST, tuple(COST), np.array(COST), np.array(COST, dtype=object), as_dicts):
        found = check_misclassification_cost(matrix, WORDS)
        assert found is not None
        assert found.dtype == np.float64
        assert found.tolist() == COST
    found = check_misclassification_cost({"well": {"ill": 3}}, WORDS)
    assert found is not None
    assert found.tolist() == [[0, 1, 1], [1, 0, 1], [3, 1, 0]]


def test_the_users_matrix_stays_the_users() -> None:
    matrix = np.array(COST)
    found = check_misclassification_cost(matrix, WORDS)
    assert found is not None
    assert not np.shares_memory(found, matrix)


def test_one_class_cannot_be_mistaken() -> None:
    found = check_misclassification_cost([[0]], np.array(["only"]))
    assert found is not None
    assert found.tolist() == [[0]]
    assert factors(None, found) is None


class Frame(list[list[float]]):
    """What a data frame looks like from outside."""

    columns = ("well", "unclear", "ill")


ORDER = "in the order 'ill', 'unclear', 'well'"


@pytest.mark.parametrize(
    ("matrix", "error", "words"),
    [
        ([[0, 1], [1, 0]], ValueError, ["shape (3, 3)", ORDER, "got an array of shape (2, 2)"]),
        ([0, 1, 2], ValueError, ["shape (3, 3)", "got an array of shape (3,)"]),
        (5, ValueError, ["shape (3, 3)", "got 5"]),
        ([[0, 1], [1]], ValueError, ["shape (3, 3)", ORDER, "got [[0, 1], [1]]"]),
        ("high", ValueError, ["shape (3, 3)", "got 'high'"]),
        (
            [["a"] * 3] * 3,
            TypeError,
            ["the cost of predicting 'ill' for 'ill' must be a number >= 0, got 'a'"],
        ),
        (
            [[0, "1", 1], [1, 0, 1], [1, 1, 0]],  # no number, though it looks like one
            TypeError,
            ["the cost of predicting 'unclear' for 'ill' must be a number >= 0, got '1'"],
        ),
        (
            [[0, 1j, 1], [1, 0, 1], [1, 1, 0]],
            TypeError,
            ["predicting 'unclear' for 'ill'", "got 1j"],
        ),
        (
            [[0, 10**400, 1], [1, 0, 1], [1, 1, 0]],
            ValueError,
            ["the cost of predicting 'unclear' for 'ill' must be a finite number >= 0, got inf"],
        ),
        (
            {"ill": {"well": 10**400}},
            ValueError,
            ["predicting 'well' for 'ill' must be a finite number >= 0, got inf"],
        ),
        (Frame(COST), TypeError, [ORDER, "got a Frame", "{true: {predicted: cost}}"]),
        (
            [[0, -2, 1], [1, 0, 1], [1, 1, 0]],
            ValueError,
            ["the cost of predicting 'unclear' for 'ill' must be a finite number >= 0, got -2"],
        ),
        (
            [[0, 1, 1], [1, 0, 1], [1, np.nan, 0]],
            ValueError,
            ["the cost of predicting 'unclear' for 'well' must be a finite number >= 0, got nan"],
        ),
        (
            [[0, 1, np.inf], [1, 0, 1], [1, 1, 0]],
            ValueError,
            ["the cost of predicting 'well' for 'ill' must be a finite number >= 0, got inf"],
        ),
        (
            [[0, 1, 1], [1, 3, 1], [1, 1, 0]],
            ValueError,
            [
                "the cost of predicting 'unclear' for 'unclear' must be 0 (a correct prediction), got 3",
                "set the diagonal to 0",
            ],
        ),
        (
            [[0, 1, 1], [0, 0, 0], [1, 1, 0]],
            ValueError,
            [
                "all costs for the true class 'unclear' are 0",
                "no tree would ever predict it",
                "above 0",
            ],
        ),
        ({"sick": {}}, ValueError, ["contains the class 'sick'", "not in y", "['ill', 'unclear'"]),
        ({"ill": {"sick": 2}}, ValueError, ["contains the class 'sick'"]),
        ({"ill": 3}, TypeError, ["the costs of the true class 'ill' must be a dict", "got 3"]),
        ({"ill": {"well": "high"}}, TypeError, ["predicting 'well' for 'ill'", "got 'high'"]),
        (
            {"ill": {"well": -1}},
            ValueError,
            ["the cost of predicting 'well' for 'ill' must be a finite number >= 0, got -1"],
        ),
        ({"ill": {"ill": 1}}, ValueError, ["predicting 'ill' for 'ill' must be 0"]),
        (
            {"ill": {"well": 0, "unclear": 0}},
            ValueError,
            ["all costs for the true class 'ill' are 0"],
        ),
    ],
)
def test_bad_costs(matrix: Any, error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error, match="misclassification_cost") as caught:
        check_misclassification_cost(matrix, WORDS)
    for word in words:
        assert word in str(caught.value)


# -- factors ---------------------------------------------------------------------------------------


def test_factors() -> None:
    assert factors(None, None) is None
    weight, cost = np.array([2.0, 1.0]), np.array([[0.0, 3.0], [1.0, 0.0]])
    assert factors(weight, None) is weight
    for found, expected in (
        (factors(None, cost), [3, 1]),
        (factors(weight, cost), [6, 1]),
        (factors(None, np.array(COST)), [3.5, 1, 0.25]),
    ):
        assert found is not None
        assert found.tolist() == expected


def test_what_is_at_stake() -> None:
    counts, weight, cost = (
        np.array([4.0, 8.0]),
        np.array([2.0, 1.0]),
        np.array([[0, 3.0], [0.5, 0]]),
    )
    for class_weight, costs, expected in (
        (None, None, 12),
        (weight, None, 16),
        (None, cost, 4 * 3 + 8 * 0.5),
        (weight, cost, 4 * 6 + 8 * 0.5),
    ):
        assert at_stake(ClassPriors(class_weight, costs), counts) == expected


@pytest.mark.parametrize("n_classes", [2, 3, 7, 50])
def test_mistakes_that_all_cost_1_change_nothing(n_classes: int) -> None:
    found = factors(None, 1.0 - np.eye(n_classes))
    assert found == pytest.approx(np.ones(n_classes))
    assert to_ratios(found) is None


@pytest.mark.parametrize("extreme", [1e300, 1e308, 1e-300, 5e-324])
def test_numbers_at_the_ends_of_what_floats_hold(extreme: float) -> None:
    weight = check_class_weight({"ill": extreme}, WORDS[:2], TOTALS[:2])
    cost = check_misclassification_cost([[0, extreme], [1, 0]], WORDS[:2])
    found = factors(weight, cost)
    assert found is not None
    assert (np.isfinite(found) & (found > 0)).all()
    assert (found[0] > found[1]) == (extreme > 1)
    assert np.isfinite(found**2 * 2.0**52).all()


def test_extreme_numbers_keep_their_ratios() -> None:
    for extreme in (1e300, 1e308, 1e-300):
        two = {"ill": extreme, "unclear": extreme / 4}
        weight = check_class_weight(two, WORDS[:2], TOTALS[:2])
        assert weight is not None
        assert weight[0] == 4 * weight[1]


# -- to_ratios -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 3], [1, 3]),
        ([0.5, 1], [1, 2]),
        ([14 / 18, 14 / 10], [5, 9]),  # balanced, 9 and 5 rows
        ([0.1, 0.3], [1, 3]),
        ([0.1 + 0.2, 0.1], [3, 1]),
        ([1 / 3, 1, 1 / 7], [7, 21, 3]),
        ([1.1, 2.2, 3.3], [1, 2, 3]),
        ([1000, 1e-4], [10**7, 1]),
        ([2.0**-30, 1], [2.0**-30, 1]),  # no fraction of modest integers
        ([3 * 2.0**-40, 2.0**-40], [3, 1]),
        ([1e-200, 3e-200], [1, 3]),
        ([2 * np.pi, np.pi, 3], [1, 0.5, 3 / (2 * np.pi)]),
        ([2, 2 + 1e-13], None),
        ([7, 7, 7], None),
        ([1], None),
    ],
)
def test_exact_ratios(values: list[float], expected: list[float] | None) -> None:
    assert ratios_of(values) == expected


def test_no_factors_no_ratios() -> None:
    assert to_ratios(None) is None


def test_ratios_of_too_many_digits_are_no_whole_numbers() -> None:
    """Their smallest common multiple is beyond 2^52."""
    primes = [499, 503, 509, 521, 523, 541, 547]
    found = ratios_of([1 / prime for prime in primes])
    assert found == pytest.approx([499 / prime for prime in primes])


@given(st.integers(1, 2**22), st.integers(1, 2**22))
def test_balanced_weights_of_two_classes_are_the_other_ones_rows(first: int, second: int) -> None:
    weights = weights_of("balanced", WORDS[:2], [first, second])
    shared = gcd(first, second)
    exact = [second // shared, first // shared]
    assert ratios_of(weights) == (None if first == second else exact)


@given(st.lists(st.fractions(Fraction(1, 50), 50, max_denominator=50), min_size=2, max_size=4))
def test_ratios_of_fractions_are_exact(ratios: list[Fraction]) -> None:
    found = ratios_of([float(ratio) for ratio in ratios])
    if found is None:
        assert len(set(ratios)) == 1
        return
    whole = [int(one) for one in found]
    assert whole == found
    assert [Fraction(one, whole[0]) for one in whole] == [r / ratios[0] for r in ratios]
    assert gcd(*whole) == 1


# -- weights times factors -------------------------------------------------------------------------


def times(weights: Any, values: Any, y: Any, fine: bool = False) -> IntegerWeights:
    """Whatever the numbers: no sum is beyond 2^52 steps, and plain weights come out again."""
    y = np.asarray(y)
    grid = to_integer_weights(np.array(weights, dtype=np.float64))
    grid = grid.divisible() if fine else grid
    ratios = to_ratios(np.array(values, dtype=np.float64))
    assert ratios is not None
    found = grid.times(ratios, y)
    assert found.quantised.dtype == np.int64
    assert found.steps_per_unit == grid.steps_per_unit
    assert int(found.quantised.sum()) < 2**52
    assert found.factor is not None
    assert (found.quantised[grid.quantised > 0] > 0).all()
    apart = np.abs(found.plain_rows(y) - grid.quantised)
    assert (apart <= 1 / found.factor[y]).all()
    return found


def test_copies_stay_copies() -> None:
    for values in ([2, 3], [np.pi, 1]):
        found = times([1, 1, 5, 2], values, [0, 1, 0, 1])
        assert found.factor is not None
        one, other = found.factor.astype(np.int64).tolist()
        assert found.quantised.tolist() == [one, other, 5 * one, 2 * other]
        assert found.plain_rows(np.array([0, 1, 0, 1])).tolist() == [1, 1, 5, 2]
        assert found.plain(np.array([[6 * one, 3 * other]])).tolist() == [[6, 3]]
        assert one / other == pytest.approx(values[0] / values[1], rel=1e-13)


@given(
    st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=6),
    st.sampled_from((1, 0.1, 1e-7, 3e6, 7e9, 3e11)),
    st.integers(1, 50),
    st.booleans(),
)
def test_products_are_as_fine_as_their_sum_allows(
    values: list[float], scale: float, n_copies: int, fine: bool
) -> None:
    n_classes = len(values)
    y = np.arange(4 * n_classes * n_copies) % n_classes
    weights = scale * (1.0 + np.arange(len(y)) % 3)
    if to_ratios(np.array(values)) is None:
        return
    found = times(weights, values, y, fine)
    wanted = weights * np.array(values)[y]
    # The largest of whole factors has 2^20 steps at least.
    close = 1e-6 * max(values) / min(values) if found.steps_per_unit == 1 else 1e-9
    np.testing.assert_allclose(
        found.quantised / found.quantised.sum(), wanted / wanted.sum(), rtol=close, atol=1e-14
    )


@pytest.mark.parametrize("values", [[1, 3], [np.pi, 3]])
@pytest.mark.parametrize("weight", [1.0, 3e6, 7e9, 3e11, 2e14])
def test_ratios_hold_whatever_rows_weigh(values: list[float], weight: float) -> None:
    """Also where the whole numbers would be too large for 2^52 steps, or so small that they were coarse."""
    y = np.array([0, 1, 0, 1, 0, 1, 0, 1])
    weights = weight * np.array([1, 1, 3, 3, 5, 5, 2, 2])
    found = times(weights, values, y)
    assert found.quantised[1] / found.quantised[0] == pytest.approx(values[1] / values[0], rel=1e-6)
    if weight <= 3e6:
        assert (found.quantised == found.quantised[:2][y] * (weights / weight).astype(int)).all()


def test_classes_that_hardly_count_keep_their_rows() -> None:
    """Of fractional weights and of very heavy ones: half of the digits that a row has."""
    y = np.arange(1000) % 2
    for weights in (0.3 * (1 + y), 1e12 * (1 + np.arange(1000) % 3)):
        found = times(weights, [1, 1e-30], y)
        assert found.quantised[1::2].min() > 2**18
        plain = found.plain(np.array([found.quantised[::2].sum(), found.quantised[1::2].sum()]))
        own = np.array([weights[::2].sum(), weights[1::2].sum()])
        np.testing.assert_allclose(plain / plain.sum(), own / own.sum(), rtol=1e-5)
    whole = times(np.ones(1000), [1.0, 2.0**-300], y)
    assert whole.quantised[1] == 1


# -- cheapest --------------------------------------------------------------------------------------


def label_of(shares: list[float], cost: Any, tie_order: Any = (0, 1, 2)) -> int:
    found = min_cost_class(
        np.array([shares]), np.array(cost, dtype=np.float64), np.array(tie_order)
    )
    assert found.shape == (1,)
    return int(found[0])


def test_equal_costs_give_the_most_frequent_class() -> None:
    equal = 1 - np.eye(3)
    assert [label_of(shares, equal) for shares in ([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])] == [0, 2]


def test_a_rare_class_wins_where_missing_it_is_dear() -> None:
    # 2 ill of 10: "well" costs 0.2 * 5 = 1.0 a row, "ill" 0.8 * 1.
    cost = [[0, 5], [1, 0]]
    assert label_of([0.2, 0.8], cost, (0, 1)) == 0
    assert label_of([0.1, 0.9], cost, (0, 1)) == 1


def test_a_class_without_rows_may_be_the_cheapest() -> None:
    cost = [[0, 1, 10], [1, 0, 1], [10, 1, 0]]  # the middle one is never far off
    assert label_of([0.5, 0.0, 0.5], cost) == 1
    assert label_of([0.0, 0.0, 1.0], cost) == 2


def test_ties_go_to_the_first_in_their_order() -> None:
    equal = 1 - np.eye(3)
    shares = [0.4, 0.2, 0.4 + 1e-12]
    for order, winner in (((0, 1, 2), 0), ((2, 1, 0), 2), ((1, 2, 0), 2)):
        assert label_of(shares, equal, order) == winner
    assert label_of([0.4, 0.2, 0.4 + 1e-8], equal) == 2


def test_relative_ties() -> None:
    for scale in (1e-100, 1.0, 1e100):
        cost = scale * (1 - np.eye(3))
        assert label_of([0.4, 0.2, 0.4 + 1e-12], cost) == 0
        assert label_of([0.4, 0.2, 0.4 + 1e-8], cost) == 2


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=1, max_size=4),
            st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=n, max_size=n),
            st.permutations(range(n)),
        )
    )
)
def test_the_cheapest_by_exact_arithmetic(case: tuple[Any, Any, Any]) -> None:
    counts, cost, order = case
    shares = [[Fraction(k, max(1, sum(row))) for k in row] for row in counts]
    expected = [
        min(order, key=lambda j: sum(p * cost[i][j] for i, p in enumerate(row))) for row in shares
    ]
    found = min_cost_class(
        np.array(shares, dtype=np.float64), np.array(cost, dtype=np.float64), np.array(order)
    )
    assert found.tolist() == expected


# -- through the estimators ------------------------------------------------------------------------

# Two of ten are ill, and the tree is a single leaf: its class is a matter of weights and costs alone.
TEN = np.zeros((10, 1))
ILL_OR_WELL = ["ill", "ill"] + ["well"] * 8


def leaf_of(**parameters: Any) -> tuple[str, list[float]]:
    """The class of that leaf and the shares of "ill" and "well"."""
    model = TreeClassifier(**parameters).fit(TEN, ILL_OR_WELL)
    assert model.tree_.counts.tolist() == [[2, 8]]  # plain rows, whatever they count for
    return str(model.predict(TEN[:1])[0]), model.predict_proba(TEN[:1])[0].round(12).tolist()


def test_a_leaf_by_hand() -> None:
    assert leaf_of() == ("well", [0.2, 0.8])
    assert leaf_of(class_weight={"ill": 5}) == ("ill", [round(10 / 18, 12), round(8 / 18, 12)])
    assert leaf_of(class_weight={"ill": 4, "well": 1})[0] == "ill"  # 8 : 8, the first class wins
    assert leaf_of(class_weight="balanced") == ("ill", [0.5, 0.5])
    # "well" costs 0.2 x 5 = 1 a row, "ill" 0.8 x 1; the shares stay what they are.
    assert leaf_of(misclassification_cost=[[0, 5], [1, 0]]) == ("ill", [0.2, 0.8])
    assert leaf_of(misclassification_cost={"ill": {"well": 5}}) == ("ill", [0.2, 0.8])
    assert leaf_of(misclassification_cost={"ill": {"well": 3}}) == ("well", [0.2, 0.8])
    # 4/12 x 1.5 = 0.5 for "well" and 8/12 for "ill"; at 3 it is the other way round.
    both = {"class_weight": {"ill": 2}}
    assert leaf_of(misclassification_cost=[[0, 1.5], [1, 0]], **both)[0] == "well"
    assert leaf_of(misclassification_cost=[[0, 3], [1, 0]], **both)[0] == "ill"


def noisy(n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(400, 4)).round(1)
    score = X[:, 0] + X[:, 1] * X[:, 2] + random.normal(0, 0.7, 400)
    return X, np.digitize(score, np.linspace(0.3, 2, n_classes - 1))


def same_splits(one: Tree, other: Tree) -> bool:
    return np.array_equal(one.attribute, other.attribute) and np.array_equal(
        one.threshold, other.threshold, equal_nan=True
    )


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
@pytest.mark.parametrize("max_bins", [None, 16])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_weight_is_the_weight_of_its_rows(
    criterion: str, max_bins: int | None, n_classes: int
) -> None:
    X, y = noisy(n_classes)
    columns = Columns(X, y, max_bins=max_bins)  # bins go by the weights of rows, not of classes
    plain = {"criterion": criterion, "max_depth": 5}
    weights = [1, 3, 2][:n_classes]
    class_weight = {label: weight for label, weight in enumerate(weights) if weight != 1}
    tree = TreeClassifier(class_weight=class_weight, **plain).fit(columns).tree_
    copies = np.array(weights)[y]
    expected = TreeClassifier(**plain).fit(columns, sample_weight=copies).tree_
    assert same_splits(tree, expected)
    assert np.array_equal(tree.pred, expected.pred)
    assert np.allclose(tree.proba, expected.proba, rtol=1e-12)
    assert np.allclose(tree.gain, expected.gain, rtol=1e-9)
    assert np.array_equal(tree.counts * weights, expected.counts)
    assert not same_splits(tree, TreeClassifier(**plain).fit(columns).tree_)


def test_weights_that_do_not_matter_change_nothing() -> None:
    X, y = noisy(2)
    tree = TreeClassifier().fit(X, y).tree_
    for parameters in (
        {"class_weight": {}},
        {"class_weight": {0: 1}},
        {"class_weight": {0: 0.7, 1: 0.7}},
        {"misclassification_cost": [[0, 1], [1, 0]]},
        {"misclassification_cost": [[0, 1e-3], [1e-3, 0]]},
        {"class_weight": {1: 4}, "misclassification_cost": [[0, 4], [1, 0]]},
    ):
        found = TreeClassifier(**parameters).fit(X, y).tree_
        assert same_splits(found, tree), parameters
        assert np.array_equal(found.counts, tree.counts)


def test_balanced_trees() -> None:
    X, y = noisy(2)
    n_first, n_second = np.bincount(y).tolist()
    assert n_first != n_second
    tree = TreeClassifier(class_weight="balanced", max_depth=4).fit(X, y).tree_
    copies = np.where(y == 0, n_second, n_first)
    assert same_splits(tree, TreeClassifier(max_depth=4).fit(X, y, sample_weight=copies).tree_)
    assert tree.proba[0] == pytest.approx([0.5, 0.5])
    # Rows count by their weight in the balance, too.
    doubled = TreeClassifier(class_weight="balanced", max_depth=4).fit(X, y, np.where(y == 0, 6, 2))
    assert same_splits(doubled.tree_, tree)


@pytest.mark.parametrize("missing", ["branch", "fractional"])
def test_growth_by_costs_is_growth_by_altered_priors(missing: str) -> None:
    X, y = noisy(3)
    X[::7, 1] = np.nan
    cost = np.array([[0, 1, 3], [2, 0, 2], [6, 1, 0]])
    plain = {"missing": missing, "max_depth": 4}
    model = TreeClassifier(misclassification_cost=cost, **plain).fit(X, y)
    copies = cost.sum(axis=1)[y]  # 4, 4, 7
    expected = TreeClassifier(**plain).fit(X, y, sample_weight=copies).tree_
    assert same_splits(model.tree_, expected)
    tree = model.tree_
    shares = tree.counts / tree.counts.sum(axis=1, keepdims=True)
    assert np.allclose(tree.proba, shares)  # the costs are in the labels alone
    assert np.array_equal(tree.pred, (shares @ cost).argmin(axis=1))


def test_sizes_are_those_of_the_plain_rows() -> None:
    X, y = noisy(2)
    for parameters in ({"min_samples_leaf": 30}, {"min_samples_split": 100}):
        tree = TreeClassifier(class_weight={0: 50, 1: 0.01}, **parameters).fit(X, y).tree_
        sizes = tree.counts.sum(axis=1)
        leaf = tree.attribute < 0
        assert sizes[~leaf].min() >= parameters.get("min_samples_split", 2)
        assert sizes[1:].min() >= parameters.get("min_samples_leaf", 1)


def test_weights_and_costs_of_encoded_columns() -> None:
    X, y = noisy(3)
    parameters: dict[str, Any] = {
        "class_weight": "balanced",
        "misclassification_cost": {2: {0: 7}},
        "max_depth": 4,
    }
    tree = TreeClassifier(**parameters).fit(X, y).tree_
    assert TreeClassifier(**parameters).fit(Columns(X, y)).tree_ == tree
    # A class that loses all its rows is still a class of the columns.
    without = (y != 1).astype(float)
    assert TreeClassifier(**parameters).fit(Columns(X, y), sample_weight=without).score(X, y) > 0.3


def test_one_class_alone() -> None:
    for parameters in (
        {"class_weight": {5: 3}},
        {"class_weight": "balanced"},
        {"misclassification_cost": [[0]]},
    ):
        model = TreeClassifier(**parameters).fit([[1.0], [2.0]], [5, 5])
        assert model.predict([[7.0]]).tolist() == [5]
