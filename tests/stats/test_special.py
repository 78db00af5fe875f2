# SPDX-License-Identifier: BSD-3-Clause
"""The incomplete gamma function against arithmetic with eighty digits."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest

from fasttree.base.elementary import log_gamma
from fasttree.stats.special import normal_quantile, row_entropy, student_t_tails, upper_gamma

pytestmark = pytest.mark.numeric

PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803"
)


def exact_tail(df: int, statistic: float) -> float:
    """P(chi-square > statistic) = 1 - x^a exp(-x) / Gamma(a) * sum_k x^k / (a ... (a + k))."""
    with localcontext(prec=80):
        a, x = Decimal(df) / 2, Decimal(statistic) / 2
        gamma, k = (Decimal(1), Decimal(1)) if df % 2 == 0 else (PI.sqrt(), Decimal("0.5"))
        while k < a:
            gamma, k = gamma * k, k + 1
        term = total = 1 / a
        while term > total * Decimal("1e-78"):
            k += 1
            term *= x / k
            total += term
        return float(1 - total * (a * x.ln() - x).exp() / gamma)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 9, 30, 31, 32, 33, 100, 999])
@pytest.mark.parametrize("ratio", [0.01, 0.5, 0.89, 0.91, 1.0, 1.02, 1.09, 1.11, 1.5, 2.0])
def test_the_tail_has_twelve_digits(df: int, ratio: float) -> None:
    statistic = (df + 2) * ratio  # the two expansions meet at df + 2
    exact = exact_tail(df, statistic)
    if exact > 1e-60:  # the oracle subtracts from 1
        assert upper_gamma(df / 2, statistic / 2) == pytest.approx(exact, rel=1e-12, abs=0)


@pytest.mark.parametrize("x", [0.5, 5.0, 50.0, 500.0, 700.0])
def test_closed_forms_far_out(x: float) -> None:
    assert upper_gamma(1.0, x) == pytest.approx(math.exp(-x), rel=1e-12, abs=0)
    assert upper_gamma(0.5, x) == pytest.approx(math.erfc(math.sqrt(x)), rel=1e-12, abs=0)
    assert upper_gamma(2.0, x) == pytest.approx(math.exp(-x) * (1 + x), rel=1e-12, abs=0)


@pytest.mark.parametrize("a", [0.5, 1.0, 15.5, 16.0, 1e3, 1e7])
def test_the_ends(a: float) -> None:
    assert upper_gamma(a, 0.0) == 1.0
    assert upper_gamma(a, 1e-305) == 1.0
    assert upper_gamma(a, 1e-18) == pytest.approx(1.0, abs=1e-8)
    assert upper_gamma(a, 1e300) == 0.0
    assert upper_gamma(a, math.inf) == 0.0


def test_a_great_many_degrees_of_freedom() -> None:
    # The median of a gamma distribution is a - 1/3 + O(1/a).
    a = 5e6
    assert upper_gamma(a, a - 1 / 3) == pytest.approx(0.5, abs=1e-9)


def test_it_falls_from_one_to_zero() -> None:
    for a in (0.5, 3.0, 16.5, 400.0):
        tails = [upper_gamma(a, x) for x in np.linspace(0, 4 * a + 20, 300)]
        assert all(0 <= lower <= upper <= 1 for upper, lower in pairwise(tails))


def test_entropy_of_extreme_rows() -> None:
    rows = np.array([[1e300, 1e300], [5e-324, 5e-324], [1e300, 1e-300], [0.0, 0.0]])
    assert row_entropy(rows) == pytest.approx([math.log(2), math.log(2), 0, 0])


def test_log_gamma_beside_the_standard_library() -> None:
    random = np.random.default_rng(0)
    x = np.concatenate(
        [
            np.arange(1, 4001) / 2,
            random.uniform(0.01, 30, 2000),
            10 ** random.uniform(-6, 12, 2000),
            1 + 10 ** random.uniform(-12, 0, 500),  # near its two zeros
            2 - 10 ** random.uniform(-12, 0, 500),
        ]
    )
    expected = [math.lgamma(v) for v in x.tolist()]
    np.testing.assert_allclose(log_gamma(x), expected, rtol=1e-13, atol=1.5e-14)
    assert log_gamma(np.ones((2, 3))).shape == (2, 3)
    assert log_gamma(np.empty(0)).shape == (0,)


def test_normal_quantiles_beside_the_standard_library() -> None:
    alphas = [0.5, 0.4, 0.25, 0.025, 1e-3, 1e-10, 1e-100, 1e-300]
    for alpha in [*alphas, *np.random.default_rng(1).uniform(0, 0.5, 200).tolist()]:
        expected = -NormalDist().inv_cdf(alpha)
        assert normal_quantile(alpha) == pytest.approx(expected, rel=1e-13, abs=1e-15)
        if alpha > 1e-3:
            assert normal_quantile(1 - alpha) == pytest.approx(-expected, rel=1e-12, abs=1e-15)
    assert normal_quantile(0.5) == 0.0


def test_tails_of_students_distribution_in_closed_form() -> None:
    # One degree of freedom is Cauchy's distribution; two and three have closed forms, too.
    for t in (0.0, 1e-9, 0.3, 1.0, 2.5, 40.0, 1e5):
        angle = math.atan(t / math.sqrt(3))
        closed = (
            1 - 2 / math.pi * math.atan(t),
            1 - t / math.sqrt(2 + t * t),
            1 - 2 / math.pi * (angle + math.sin(angle) * math.cos(angle)),
        )
        for df, expected in enumerate(closed, 1):
            assert student_t_tails(t, df) == pytest.approx(expected, abs=5e-16)
            assert student_t_tails(-t, df) == student_t_tails(t, df)
    assert student_t_tails(1e300, 3) == 0
