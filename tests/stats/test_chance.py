# SPDX-License-Identifier: BSD-3-Clause
"""Measures less what chance gives: worked examples, all tables one by one, other libraries, and hostile tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from random_tables import moments, row_by_row

from fasttree.stats import measures
from fasttree.stats.chance import MEASURES, _gini_reductions, _gini_variance
from fasttree.stats.chance_moments import information, information_moments

pytestmark = pytest.mark.numeric

DATE = [[1, 0]] * 9 + [[0, 1]] * 5
# From an independent brute force over all permutations.
# table  information by chance: mean, variance  ami: class, max, arith  smi  ad
INFORMATION = """
2 3, 4 0, 3 2  0.1298665024 0.0167022032 0.1442257050 0.0807461867 0.1035300510 0.9044106094 -0.0619593299
2 2, 4 2, 3 1  0.1307072941 0.0164779627 -0.1253549938 -0.0711699360 -0.0907926225 -0.7905856680 -0.2794865840
3 4, 6 1  0.059665302376 0.007702656044 0.104665043146 0.098018502582 0.101232793861 1.050195788862 -0.046094984009
6 2, 3 3  0.0601456665 0.0077570452 -0.0136553640 -0.0129919617 -0.0133154050 -0.1364605206 -0.1498034550
2 3, 0 5  0.105090132293 0.013804919882 0.212961382620 0.146788710357 0.173789123733 1.118033988750 -0.040649881860
2 2, 0 6  0.103855753264 0.012802942980 0.352826565658 0.251497680835 0.293667062061 1.927283846245 0.044825415368
1 3, 1 5  0.1038557533 0.0128029430 -0.1560535145 -0.1112362300 -0.1298875470 -0.8524284932 -0.2696992874
"""
# table  reduction of gini by chance: mean, variance  adjusted  standardised
GINI = """
2 3, 4 0, 3 2  0.070643642072 0.004123903681 0.117575757576 0.711376148927
2 2, 4 2, 3 1  0.070643642072 0.004085676602 -0.133670033670 -0.812527062294
3 4, 6 1  0.035321821036 0.002258338208 0.133333333333 1.189237450758
6 2, 3 3  0.035321821036 0.002244685680 -0.011111111111 -0.099404044338
2 3, 0 5  0.035555555556 0.001580246914 0.156250000000 1.118033988750
2 2, 0 6  0.035555555556 0.001609876543 0.296875000000 2.104625347363
1 3, 1 5  0.035555555556 0.001609876543 -0.113281250000 -0.803080724651
"""


def read(text: str) -> list[Any]:
    cases = []
    for line in text.strip().splitlines():
        table, numbers = line.split("  ", maxsplit=1)
        cells = [[int(count) for count in row.split()] for row in table.split(",")]
        cases.append(pytest.param(cells, [float(number) for number in numbers.split()], id=table))
    return cases


def near(expected: Any, tolerance: float = 1e-9) -> Any:
    return pytest.approx(expected, rel=0, abs=tolerance)


def batch(table: Any) -> np.ndarray:
    return np.asarray(table, dtype=np.float64)[np.newaxis]


def chance_of_information(table: Any) -> tuple[float, float]:
    """Mean and variance of the mutual information in bits."""
    mean, variance = information_moments(batch(table), variance=True)
    per_row = 1 / (np.sum(table) * math.log(2))
    return float(mean[0] * per_row), float(variance[0] * per_row**2)


def variance_of_gini(table: Any) -> float:
    return float(_gini_variance(batch(table))[0] / np.sum(table) ** 2)


@pytest.mark.parametrize(("table", "expected"), read(INFORMATION))
def test_worked_examples(table: list[list[int]], expected: list[float]) -> None:
    found = [
        *chance_of_information(table),
        measures.adjusted_mutual_information(table),
        measures.adjusted_mutual_information(table, upper="max"),
        measures.adjusted_mutual_information(table, upper="arith"),
        measures.standardised_mutual_information(table),
        measures.adjusted_for_ranking(table),
    ]
    assert found == near(expected)
    assert measures.expected_mutual_information(table) == near(expected[0])
    scores = [measures.score_tables(name, [table])[0] for name in ("ami", "smi", "ad")]
    assert scores == [found[2], found[5], found[6]]


@pytest.mark.parametrize(("table", "expected"), read(GINI))
def test_worked_examples_of_gini(table: list[list[int]], expected: list[float]) -> None:
    by_chance = _gini_reductions(batch(table))[1]
    found = [float(by_chance[0]), variance_of_gini(table)]
    found += [measures.adjusted_gini(table), measures.standardised_gini(table)]
    assert found == near(expected)


def test_an_identifier_is_worth_nothing() -> None:
    assert measures.information_gain(DATE) == near(0.940285958670631)
    assert measures.expected_mutual_information(DATE) == near(0.940285958670631)
    for upper in ("class", "max", "arith"):
        assert measures.adjusted_mutual_information(DATE, upper=upper) == near(0)
    assert measures.standardised_mutual_information(DATE) == 0
    assert measures.adjusted_gini(DATE) == near(0)
    assert measures.standardised_gini(DATE) == 0
    assert measures.adjusted_for_ranking(DATE) == near(-0.21191380506096447)


def test_an_identifier_of_many_rows_is_worth_nothing() -> None:
    table = np.zeros((1, 100_000, 3))
    table[0, np.arange(100_000), np.arange(100_000) % 3] = 1
    assert measures.score_tables("smi", table) == 0
    assert measures.score_tables("ami", table) == near(0)
    assert measures.score_tables("adjusted_gini", table) == near(0)
    assert measures.score_tables("standardised_gini", table) == 0


SMALL = arrays(
    np.int64, st.tuples(st.integers(2, 4), st.integers(2, 3)), elements=st.integers(0, 3)
)
few = settings(max_examples=20, deadline=None)


@few
@given(SMALL)
def test_chance_is_the_mean_over_all_tables(table: np.ndarray) -> None:
    assume(0 < table.sum() <= 12)
    mean, variance = chance_of_information(table)
    assert (mean, variance) == near(moments(table, measures.information_gain), 1e-12)
    expected_drop, gini_variance = moments(table, measures.gini_reduction)
    assert variance_of_gini(table) == near(gini_variance, 1e-13)
    gini = measures.gini(table.sum(axis=0))
    score = measures.adjusted_gini(table)
    if gini - expected_drop > 1e-9:
        drop = measures.gini_reduction(table)
        assert score == near((drop - expected_drop) / (gini - expected_drop))
    else:
        assert score == 0


@pytest.mark.parametrize("seed", range(6))
def test_two_classes_row_by_row(seed: int) -> None:
    random = np.random.default_rng(seed)
    n_rows = int(random.integers(2, 9))
    table = random.multinomial(90, random.dirichlet(np.ones(2 * n_rows))).reshape(n_rows, 2)
    size, first = int(table.sum()), int(table[:, 0].sum())

    def bits(n: int, a: int) -> float:
        cells = [(n, first), (a - n, size - first)]
        return sum(x / size * math.log2(size * x / (a * b)) for x, b in cells if x)

    assert chance_of_information(table) == pytest.approx(row_by_row(table, bits), rel=1e-7)

    def square(n: int, a: int) -> float:
        return (n * n + (a - n) ** 2) / a / size if a else 0.0

    _, variance = row_by_row(table, square)
    assert variance_of_gini(table) == pytest.approx(variance, rel=1e-9)


@pytest.mark.parametrize("size", [10, 300, 5000, 300_000])
@pytest.mark.parametrize("shape", [(2, 2), (5, 3), (40, 4)])
def test_scikit_learn_agrees(size: int, shape: tuple[int, int]) -> None:
    cluster = pytest.importorskip("sklearn.metrics.cluster")
    random = np.random.default_rng(size)
    shares = random.dirichlet(np.ones(shape[0] * shape[1]))
    table = random.multinomial(size, shares).reshape(shape)
    values = np.repeat(np.arange(shape[0]), table.sum(axis=1))
    labels = np.concatenate([np.repeat(np.arange(shape[1]), row) for row in table])
    sparse = cluster.contingency_matrix(values, labels, sparse=True)
    expected = cluster.expected_mutual_information(sparse, size)
    found = measures.expected_mutual_information(table, base="e")
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-11)
    for upper, name in (("max", "max"), ("arith", "arithmetic")):
        theirs = cluster.adjusted_mutual_info_score(labels, values, average_method=name)
        assert measures.adjusted_mutual_information(table, upper=upper) == near(theirs)


def test_nothing_jumps_where_the_method_changes() -> None:
    # From 1000 expected rows in every cell on the series takes over.
    for shape in ((2, 2), (5, 3)):
        even = np.full((1, *shape), 1000.0)
        below = even.copy()
        below[0, 0, 0] -= 1
        (mean, before), (variance, spread) = (
            [
                float(part[0])
                for table in (even, below)
                for part in [information_moments(table, True)[k]]
            ]
            for k in (0, 1)
        )
        assert mean == pytest.approx(before, rel=3e-6)
        assert variance == pytest.approx(spread, rel=5e-6)
        bits = 1 / (even.sum() * math.log(2))
        assert abs(mean - before) * bits < 1e-9


def test_the_limits_for_many_rows() -> None:
    # Information times 2 N is a chi-square variable in the limit, and so is a table of weights.
    table = np.full((1, 4, 3), 10_000.0)
    mean, variance = information_moments(table, variance=True)
    assert mean[0] == pytest.approx(3, rel=1e-3)
    assert variance[0] == pytest.approx(3, rel=1e-3)
    assert [float(part[0]) for part in information_moments(table + 0.5, True)] == [3, 3]
    whole, weighed = (
        measures.score_tables("standardised_gini", [[[5100, 4900], [4800, 5200 + extra]]])[0]
        for extra in (0, 1e-9)
    )
    assert weighed == pytest.approx(whole, rel=1e-3)


@pytest.mark.parametrize("measure", MEASURES)
def test_tables_without_choice_score_nothing(measure: str) -> None:
    tables = [
        [[0, 0], [0, 0]],
        [[9, 0], [5, 0]],
        [[9, 5], [0, 0]],
        [[1, 0], [0, 0]],
        [[0.5, 0], [0.25, 0]],
    ]
    scores = measures.score_tables(measure, tables)
    if measure == "confidence_entropy":
        scores[[1, 4]] = 0  # a class of which no row was seen could still turn up
    assert scores.tolist() == [0] * 5


@pytest.mark.parametrize("measure", MEASURES)
def test_many_tables_are_each_scored_as_alone(measure: str) -> None:
    random = np.random.default_rng(7)
    tables = random.integers(0, 30, (40, 4, 3)) * random.integers(0, 2, (40, 4, 1))
    tables[::5] = tables[::5] * 1000
    missing = random.integers(0, 9, 40)
    together = measures.score_tables(measure, tables, missing=missing)
    alone = [
        measures.score_tables(measure, [table], missing=weight)[0]
        for table, weight in zip(tables, missing, strict=True)
    ]
    assert together == pytest.approx(alone, rel=1e-9, abs=1e-12)
    padded = np.zeros((40, 6, 3))
    padded[:, 1:5] = tables
    assert measures.score_tables(measure, padded, missing=missing) == pytest.approx(
        together, rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_missing_rows_shrink_the_score(measure: str) -> None:
    table = [[[2, 3], [4, 0], [3, 2]]]
    plain = measures.score_tables(measure, table)
    assert measures.score_tables(measure, table, missing=14) == near(plain / 2)
    assert np.isfinite(measures.score_tables(measure, [[[0, 0], [0, 0]]], missing=3)).all()


@pytest.mark.parametrize("measure", MEASURES)
def test_hostile_tables(measure: str) -> None:
    billion = 10**9
    tables = [
        [[billion, 0], [0, billion]],
        [[billion, billion], [billion, billion]],
        [[1, 0], [0, billion]],
        [[1, 0], [billion, billion]],
        [[3, billion], [billion, 1]],
    ]
    scores = measures.score_tables(measure, tables)
    assert np.isfinite(scores).all()
    assert scores[0] > 0.99
    assert abs(scores[1]) < 1.5
    weights = measures.score_tables(
        measure, [[[0.1, 0.2], [0.3, 0.05]], [[1e-300, 0], [0, 1e-300]]]
    )
    assert np.isfinite(weights[0])
    wide = np.random.default_rng(0).integers(0, 3, (1, 5, 10_000))
    assert np.isfinite(measures.score_tables(measure, wide)).all()
    long = np.random.default_rng(0).integers(0, 3, (1, 20_000, 3))
    assert np.isfinite(measures.score_tables(measure, long)).all()
    million = np.random.default_rng(0).multinomial(10**6, np.ones(1300) / 1300).reshape(1, 50, 26)
    assert np.isfinite(measures.score_tables(measure, million)).all()


def test_exact_with_a_rare_class_among_a_billion() -> None:
    # The one row of the rare class is in the first value with probability 1/4.
    n = 10**9
    table = np.array([[1, n // 4 - 1], [0, 3 * n // 4]])
    other = np.array([[0, n // 4], [1, 3 * n // 4 - 1]])
    here, there = (float(information(batch(t))[0]) for t in (table, other))
    mean, variance = (float(part[0]) for part in information_moments(batch(table), True))
    assert mean == pytest.approx(here / 4 + there * 3 / 4, rel=1e-4)
    assert variance == pytest.approx(3 / 16 * (here - there) ** 2, rel=1e-4)


COUNTS = arrays(
    np.int64, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=st.integers(0, 200)
)


@few
@given(COUNTS, st.randoms(use_true_random=False))
def test_the_order_of_values_and_classes_is_nothing(table: np.ndarray, random: Any) -> None:
    rows, columns = list(range(table.shape[0])), list(range(table.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    for measure in MEASURES:
        first, second = (
            measures.score_tables(measure, [table])[0],
            measures.score_tables(measure, [table[rows][:, columns]])[0],
        )
        assert second == pytest.approx(first, rel=1e-6, abs=1e-9)


@few
@given(COUNTS)
def test_information_by_chance_is_symmetric_and_within_bounds(table: np.ndarray) -> None:
    assume(table.sum() > 0)
    expected = measures.expected_mutual_information(table)
    assert expected == near(measures.expected_mutual_information(table.T))
    most = min(measures.entropy(table.sum(axis=k)) for k in (0, 1))
    assert -1e-12 <= expected <= most + 1e-9
    assert measures.adjusted_mutual_information(table) <= 1 + 1e-9
    assert measures.adjusted_gini(table) <= 1 + 1e-9
    assert measures.standardised_mutual_information(table) == pytest.approx(
        measures.standardised_mutual_information(table.T), rel=1e-6, abs=1e-9
    )


# --- entropy with confidence intervals ---


def test_confidence_entropy() -> None:
    worked = {
        (9, 5): 1.0,
        (2, 3): 1.0,
        (4, 0): 1.0,
        (1, 0): 1.0,
        (6, 2): 1.0,
        (90, 50): 0.9893936187351173,
        (50, 30, 20): 1.5689669018832366,
        (5, 3, 0): 1.584962500721156,
        (1, 0, 0): 1.584962500721156,
    }
    for counts, expected in worked.items():
        assert measures.confidence_entropy(counts) == near(expected)
    assert measures.confidence_entropy([0, 0, 0, 0]) == near(2)
    assert measures.confidence_entropy([0, 0, 0, 0], z=0) == near(2)
    assert measures.confidence_entropy([90, 50], z=0) == near(measures.entropy([90, 50]))
    assert measures.confidence_entropy([1, 1], base="e") == near(math.log(2))


def test_confidence_gain_of_play_tennis() -> None:
    tables = {
        "Outlook": ([[2, 3], [4, 0], [3, 2]], 0.12516318138195692),
        "Temperature": ([[2, 2], [4, 2], [3, 1]], -0.0016107845469042203),
        "Humidity": ([[3, 4], [6, 1]], 0.08131135607430895),
        "Wind": ([[6, 2], [3, 3]], 0.02197933871724489),
    }
    for table, expected in tables.values():
        assert measures.confidence_gain(table) == 0
        assert measures.confidence_gain(table, z=0.6744897501960817) == near(expected)
        score = measures.score_tables("confidence_entropy", [table], z=0.6744897501960817)
        assert score[0] == near(expected)
        assert measures.confidence_gain(table, z=0.6744897501960817, missing=14) == near(
            expected / 2
        )


@few
@given(arrays(np.int64, st.integers(2, 5), elements=st.integers(0, 50)), st.floats(0.1, 3))
def test_no_allowed_distribution_has_more_entropy(counts: np.ndarray, z: float) -> None:
    most = measures.confidence_entropy(counts, z=z)
    assert measures.entropy(counts) - 1e-9 <= most <= math.log2(len(counts)) + 1e-12
    assert measures.confidence_entropy(counts * 100, z=z) <= most + 1e-9
    n = counts.sum() + z * z
    tails = np.cumsum(np.sort(counts))[::-1]
    centre = (tails + z * z / 2) / n
    bounds = np.minimum(1, centre + z * np.sqrt(centre * (1 - centre) / n))
    random = np.random.default_rng(0)
    for shares in random.dirichlet(np.ones(len(counts)), 200):
        ordered = np.sort(shares)[::-1]
        if (np.cumsum(ordered[::-1])[::-1][1:] <= np.minimum.accumulate(bounds)[1:]).all():
            assert measures.entropy(ordered) <= most + 1e-9


TABLE = [[2, 3], [4, 0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: measures.score_tables("mi", [TABLE]),
            r"measure must be one of 'ami', .* got 'mi'",
        ),
        (lambda: measures.score_tables(["ami"], [TABLE]), r"measure must be one of"),
        (lambda: measures.score_tables("ami", TABLE), r"tables must be 3-D .* \(2, 2\)"),
        (
            lambda: measures.score_tables("ami", [[[1, -1]]]),
            r"tables\[0, 0, 1\] must be a finite number >= 0, got -1.0",
        ),
        (
            lambda: measures.score_tables("ami", [[[1, math.nan]]]),
            r"tables\[0, 0, 1\] must be a finite number >= 0, got nan",
        ),
        (
            lambda: measures.score_tables("ami", [[[1, 2]], [[1]]]),
            r"tables must contain .* same shape",
        ),
        (
            lambda: measures.score_tables("ami", np.ones((2, 0, 2))),
            r"at least one value and one class",
        ),
        (
            lambda: measures.score_tables("ami", [[[1e308, 1e308]]]),
            r"total of tables\[0\] overflows",
        ),
        (lambda: measures.score_tables("ami", [TABLE], missing=-1), r"missing must be .* got -1"),
        (lambda: measures.score_tables("ami", [TABLE], missing=[1, 2]), r"missing must be .* 1 of"),
        (lambda: measures.score_tables("ami", [TABLE], upper="min"), r"upper must be .* got 'min'"),
        (lambda: measures.score_tables("ad", [TABLE], alpha=0), r"alpha must be .* got 0"),
        (lambda: measures.adjusted_for_ranking(TABLE, alpha=1.5), r"alpha must be .* got 1.5"),
        (lambda: measures.adjusted_mutual_information([1, 2]), r"table must be 2-D"),
        (lambda: measures.adjusted_gini(TABLE, missing="some"), r"missing must be .* got 'some'"),
        (lambda: measures.confidence_entropy([1, 2], z=-1), r"z must be .* got -1"),
        (lambda: measures.confidence_gain(TABLE, z=math.inf), r"z must be .* got inf"),
        (lambda: measures.confidence_entropy(TABLE), r"counts must be 1-D"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_no_tables_no_scores() -> None:
    for measure in MEASURES:
        assert measures.score_tables(measure, np.zeros((0, 2, 2))).tolist() == []
