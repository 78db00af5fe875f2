# SPDX-License-Identifier: BSD-3-Clause
"""Exact p values: worked examples, all tables one by one, scipy; and the chi-square distribution in bulk."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from random_tables import distribution

from fasttree.stats import measures
from fasttree.stats.significance import p_values, sparse_p_values, together
from fasttree.stats.special import chi_square_quantile, chi_square_tails, log_factorial, upper_gamma

pytestmark = pytest.mark.numeric

STATISTICS = ("probability", "chi_square", "gain", "gini")
# PlayTennis and the ten mammals.  p of: a table no more probable, chi-square, information gain, gini; the limit's
EXACT = {
    "Outlook": ([[2, 3], [4, 0], [3, 2]], 0.300699300699, 0.300699300699, 0.250749250749, 0.300699300699, 0.16977),
    "Temperature": ([[2, 2], [4, 2], [3, 1]], 1, 1, 1, 1, 0.75188),
    "Humidity": ([[3, 4], [6, 1]], 0.265734265734, 0.265734265734, 0.265734265734, 0.265734265734, 0.09426),
    "Wind": ([[6, 2], [3, 3]], 0.580419580420, 0.580419580420, 0.580419580420, 0.580419580420, 0.33400),
    "Date": ([[1, 0]] * 9 + [[0, 1]] * 5, 1, 1, 1, 1, 0.37384),
    "Body Temperature": ([[2, 3], [0, 5]], 0.444444444444, 0.444444444444, 0.444444444444, 0.444444444444, 0.11385),
    "Four-Legged": ([[2, 2], [0, 6]], 0.133333333333, 0.133333333333, 0.133333333333, 0.133333333333, 0.05281),
    "Hibernates": ([[1, 3], [1, 5]], 1, 1, 1, 1, 0.74689),
}  # fmt: skip


def near(expected: Any, tolerance: float = 1e-10) -> Any:
    return pytest.approx(expected, rel=0, abs=tolerance)


@pytest.mark.parametrize("name", EXACT)
def test_worked_examples(name: str) -> None:
    table, *exact, limit = EXACT[name]
    for statistic, expected in zip(STATISTICS, exact, strict=True):
        assert measures.p_value(table, statistic=statistic) == near(expected)  # few rows: exact
        assert measures.p_value(table, exact=True, statistic=statistic) == near(expected)
    assert measures.p_value(table, exact=False) == near(limit, 5e-6)
    assert measures.p_value(table, exact=False) == near(measures.chi_square(table).p, 1e-12)


def statistic_of(name: str, table: np.ndarray) -> Any:
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0)

    def value(other: np.ndarray) -> float:
        if name == "probability":
            return math.fsum(math.lgamma(n + 1) for n in other.ravel().tolist())
        if name == "gain":
            return measures.information_gain(other)
        if name == "gini":
            return measures.gini_reduction(other)
        expected = rows * columns / table.sum()
        return float(((other - expected) ** 2 / expected).sum())

    return value


SMALL = arrays(
    np.int64, st.tuples(st.integers(2, 4), st.integers(2, 4)), elements=st.integers(0, 3)
)
few = settings(max_examples=30, deadline=None)


@few
@given(SMALL, st.sampled_from(STATISTICS))
def test_p_is_the_sum_over_all_extreme_tables(table: np.ndarray, statistic: str) -> None:
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    assume(min(table.shape) >= 2 and table.sum() <= 13)
    value = statistic_of(statistic, table)
    observed = value(table)
    expected = math.fsum(p for other, p in distribution(table) if value(other) >= observed - 1e-9)
    assert measures.p_value(table, exact=True, statistic=statistic) == near(expected)
    assert measures.p_value(table.T, exact=True, statistic="probability") == near(
        measures.p_value(table, exact=True)
    )


@pytest.mark.parametrize("seed", range(8))
def test_fishers_test_agrees_with_scipy(seed: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(seed)
    table = random.multinomial(10 ** (1 + seed % 4), random.dirichlet(np.ones(4))).reshape(2, 2)
    expected = stats.fisher_exact(table)[1]
    assert measures.p_value(table, exact=True) == pytest.approx(expected, rel=1e-8)


def test_exact_where_it_matters() -> None:
    def is_exact(table: Any) -> bool:
        return measures.p_value(table) != measures.p_value(table, exact=False)

    assert is_exact([[5, 5], [5, 4]])
    assert not is_exact([[6, 4], [4, 6]])  # 5 rows expected in every cell
    assert is_exact([[4, 96], [2, 98]])
    assert not is_exact([[4, 97], [2, 98]])  # 201 rows
    assert not is_exact([[4.5, 96], [2, 90]])  # not rows
    assert measures.p_value([[4, 97], [2, 98]], exact=True) != measures.p_value([[4, 97], [2, 98]])


def test_many_tables_are_each_tested_as_alone() -> None:
    random = np.random.default_rng(3)
    tables = random.integers(0, 6, (60, 3, 3))
    tables[::2, 2] = 0
    tables[::4, :, 1] = 0
    tables[::7] *= 40
    together = measures.p_values(tables)
    alone = [measures.p_value(table) for table in tables]
    assert together == pytest.approx(alone, rel=1e-9)
    padded = np.zeros((60, 5, 4))
    padded[:, 1:4, :3] = tables
    assert measures.p_values(padded) == pytest.approx(together, rel=1e-9)


def test_tables_without_choice_prove_nothing() -> None:
    tables = [[[0, 0], [0, 0]], [[9, 0], [5, 0]], [[9, 5], [0, 0]], [[1, 0], [0, 0]]]
    for exact in (None, True, False):
        assert measures.p_values(tables, exact=exact).tolist() == [1] * 4
    assert measures.p_value([[3]]) == 1
    assert measures.p_values(np.zeros((0, 2, 2))).tolist() == []


def test_a_long_pure_split_has_a_tiny_exact_p() -> None:
    table = [[100, 0], [0, 100]]
    assert measures.p_value(table, exact=True) == pytest.approx(2 / math.comb(200, 100), rel=1e-9)
    three = [[50, 0, 0], [0, 50, 0], [0, 0, 50]]
    ways = math.factorial(150) // math.factorial(50) ** 3
    assert measures.p_value(three, exact=True) == pytest.approx(6 / ways, rel=1e-9)


def test_many_values_are_good_to_half_a_percent_and_many_classes_fall_back() -> None:
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(5)
    table = random.multinomial(120, random.dirichlet(np.ones(24) * 3)).reshape(12, 2)
    found = measures.p_value(table, exact=True, statistic="chi_square")
    rows, y = table.sum(axis=1), np.repeat([0, 1], table.sum(axis=0))
    drawn = random.multivariate_hypergeometric(rows, int((y == 0).sum()), size=40_000)
    expected = rows * (y == 0).mean()
    statistic = ((drawn - expected) ** 2 / expected).sum(axis=1)
    observed = ((table[:, 0] - expected) ** 2 / expected).sum()
    share = (statistic >= observed - 1e-9).mean()
    assert abs(found - share) < 4 * math.sqrt(share * (1 - share) / 40_000) + 0.005
    wide = random.integers(0, 3, (20, 20))
    assert measures.p_value(wide) == pytest.approx(stats.chi2_contingency(wide)[1], rel=1e-9)
    with pytest.raises(
        ValueError, match=r"table 0 is too large for an exact test .* use exact=None"
    ):
        measures.p_value(wide, exact=True)


def test_hostile_tables() -> None:
    billion = 10**9
    p = measures.p_values(
        [
            [[billion, 0], [0, billion]],
            [[billion, billion], [billion, billion]],
            [[1, 0], [0, billion]],
        ]
    )
    assert p == near([0, 1, 0], 1e-9)
    with pytest.raises(ValueError, match="table 0 is too large for an exact test"):
        measures.p_value([[billion, 1], [1, billion]], exact=True)
    assert measures.p_value([[1, 0], [0, billion]], exact=True) == pytest.approx(1 / (billion + 1))
    wide = np.random.default_rng(0).integers(0, 2, (1, 4, 10_000))
    assert 0 <= measures.p_values(wide)[0] <= 1
    classes = np.eye(150)[np.newaxis]
    assert 0 <= measures.p_values(classes)[0] <= 1
    many = np.random.default_rng(0).integers(0, 12, (20_000, 2, 2))
    assert ((measures.p_values(many) > 0) & (measures.p_values(many) <= 1)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: measures.p_value([1, 2]), r"table must be 2-D"),
        (lambda: measures.p_values([[1, 2]]), r"tables must be 3-D"),
        (
            lambda: measures.p_value([[1, -2]]),
            r"table\[0, 1\] must be a finite number >= 0, got -2.0",
        ),
        (lambda: measures.p_value([[1, 2]], exact="auto"), r"exact must be .* got 'auto'"),
        (lambda: measures.p_value([[1, 2]], statistic="x2"), r"statistic must be .* got 'x2'"),
        (
            lambda: measures.p_value([[1.5, 2], [2, 1]], exact=True),
            r"table 0 has fractional counts",
        ),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# --- the chi-square distribution ---


def test_tails_in_bulk_are_those_one_by_one() -> None:
    random = np.random.default_rng(0)
    df = random.integers(0, 130, 500)
    statistic = random.gamma(2, df / 2 + 1)
    expected = [
        upper_gamma(k / 2, x / 2) if k else 1.0
        for k, x in zip(df.tolist(), statistic.tolist(), strict=True)
    ]
    assert chi_square_tails(statistic, df) == pytest.approx(expected, rel=1e-11)
    assert chi_square_tails(np.array([0.0, 1e300, 0.0]), np.array([1, 2, 4])).tolist() == [1, 0, 1]


@pytest.mark.parametrize("df", [1, 2, 7, 100, 9999])
@pytest.mark.parametrize("alpha", [0.999, 0.5, 0.05, 1e-9])
def test_quantiles_undo_tails(df: int, alpha: float) -> None:
    quantile = chi_square_quantile(alpha, df)
    assert upper_gamma(df / 2, quantile / 2) == pytest.approx(alpha, rel=1e-9)


def test_log_factorials() -> None:
    n = np.array([0.0, 1.0, 2.0, 20.0, 4095.0, 4096.0, 1e6])
    expected = [math.lgamma(x + 1) for x in n.tolist()]
    assert log_factorial(n) == pytest.approx(expected, rel=1e-13)
    assert log_factorial(n[:4]) == pytest.approx(expected[:4], rel=1e-13, abs=1e-15)


# -- many values of few rows ---------------------------------------------------------------------------------------


def sparse_tables(shares: list[float], n_values: int, runs: int, uneven: bool) -> np.ndarray:
    """Tables of 400 rows of noise."""
    rng = np.random.default_rng(2)
    weight = 1 / np.arange(1.0, n_values + 1) if uneven else np.ones(n_values)
    value = rng.choice(n_values, (runs, 400), p=weight / weight.sum())
    code = rng.choice(len(shares), (runs, 400), p=shares)
    place = (np.arange(runs)[:, np.newaxis] * n_values + value) * len(shares) + code
    cells = np.bincount(place.ravel(), minlength=runs * n_values * len(shares))
    return cells.reshape(runs, n_values, len(shares)).astype(float)


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("n_values", [50, 150])
@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.9, 0.1], [0.97, 0.03], [0.6, 0.3, 0.07, 0.03]])
def test_sparse_tables_of_noise_are_significant_no_more_often_than_said(
    shares: list[float], n_values: int, uneven: bool
) -> None:
    p = sparse_p_values(sparse_tables(shares, n_values, 400, uneven))
    for level in (0.05, 0.2):
        assert (p < level).mean() <= level + 3 * math.sqrt(level * (1 - level) / 400)


def test_the_limit_for_many_rows_does_not_hold_of_sparse_tables() -> None:
    p = p_values(sparse_tables([0.97, 0.03], 150, 400, uneven=True))
    assert (p < 0.05).mean() > 0.15


def test_values_are_put_together_by_their_rows_alone() -> None:
    """Of 100 rows a fifth are of the rarer class: five rows of a value are needed. The largest stay by themselves, then
    two of four rows share a line, and the last joins them; of whatever class the rows are."""
    table = np.array([[4.0, 0], [40, 10], [4, 0], [28, 10], [3, 1]])
    assert together(table).tolist() == [[40, 10], [28, 10], [11, 1]]
    other = np.array([[0.0, 4], [34, 16], [4, 0], [38, 0], [4, 0]])
    assert together(other).sum(axis=1).tolist() == [50, 38, 12]
    assert (
        sparse_p_values(table[np.newaxis])[0] == p_values(table[np.newaxis])[0]
    )  # exact: few rows


def test_classes_that_hardly_occur_do_not_keep_values_apart() -> None:
    """Two rows of a third class, and forty values: with the class by itself, all values would be one."""
    table = np.tile([6.0, 4, 0], (40, 1))
    table[0, 2] = 2
    merged = together(table)
    assert merged.shape == (40, 2)
    assert merged[0].tolist() == [6, 6]
