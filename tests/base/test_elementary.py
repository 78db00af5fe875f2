# SPDX-License-Identifier: BSD-3-Clause
"""Elementary functions beside decimal arithmetic of sixty digits, and at the edges of float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from fasttree import _core
from fasttree.base import elementary as elementary

pytestmark = pytest.mark.numeric

DIGITS = 60
PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534"
)
TINY, HUGE = 5e-324, 1.7976931348623157e308


def expm1(x: Any) -> Any:
    """e^x - 1 of the core: only kernels use it."""
    array = np.atleast_1d(np.asarray(x, dtype=np.float64))
    out = np.empty_like(array)
    _core.of_each("expm1", array, out)
    return float(out[0]) if np.ndim(x) == 0 else out


def errors(
    function: Callable[..., float], exact: Callable[..., Decimal], arguments: Iterable[Any]
) -> float:
    """The largest error, in units in the last place of the result."""
    worst = 0.0
    with localcontext() as context:
        context.prec = DIGITS
        for given in arguments:
            many = given if isinstance(given, tuple) else (given,)
            true = exact(*map(Decimal, many))
            off = abs(Decimal(function(*many)) - true) / Decimal(math.ulp(float(true)))
            worst = max(worst, float(off))
    return worst


def spread(low: float, high: float, n: int = 400, seed: int = 0) -> list[float]:
    return (low + (high - low) * np.random.default_rng(seed).random(n)).tolist()


def magnitudes(low: int, high: int, n: int = 400, seed: int = 1) -> list[float]:
    """Numbers above 0 of all sizes from 2^low to 2^high."""
    rng = np.random.default_rng(seed)
    return np.ldexp(1 + rng.random(n), rng.integers(low, high, n).astype(int)).tolist()


def near(centre: float, n: int = 200) -> list[float]:
    return [centre + sign * x for x in magnitudes(-50, -3, n) for sign in (-1, 1)]


# -- digits ------------------------------------------------------------------------------------------------------------


def test_exp() -> None:
    given = [*spread(-708, 709), *spread(-1, 1), *near(0.0), *spread(-745, -708)]
    assert errors(elementary.exp, Decimal.exp, given) < 0.7


def test_expm1() -> None:
    given = [
        *spread(-50, 700),
        *spread(-1, 1),
        *near(0.0),
        *near(-1.0),
        *magnitudes(-1000, -60, 50),
    ]
    assert errors(expm1, lambda x: x.exp() - 1 if abs(x) > 1e-25 else x, given) < 0.8


def test_log() -> None:
    given = [*magnitudes(-1070, 1023), *spread(0.5, 2), *near(1.0), TINY, HUGE]
    assert errors(elementary.log, Decimal.ln, given) < 0.6


def test_log2() -> None:
    given = [*magnitudes(-1070, 1023), *spread(0.5, 2), *near(1.0), TINY, HUGE]
    with localcontext() as context:
        context.prec = DIGITS
        two = Decimal(2).ln()
    assert errors(elementary.log2, lambda x: x.ln() / two, given) < 0.6
    powers = np.ldexp(1.0, np.arange(-1074, 1024))
    np.testing.assert_array_equal(elementary.log2(powers), np.arange(-1074, 1024))


def test_log1p() -> None:
    given = [*spread(-0.999, 3), *near(0.0), *magnitudes(-1000, 1000, 200)]
    assert (
        errors(elementary.log1p, lambda x: (1 + x).ln() if x > 1e-25 or x < 0 else x, given) < 0.8
    )


def test_power() -> None:
    rng = np.random.default_rng(2)
    given = [*zip(magnitudes(-8, 8), (200 * rng.random(400) - 100).tolist(), strict=True)]
    given += zip(spread(0.9, 1.1), (8000 * rng.random(400) - 4000).tolist(), strict=True)
    assert errors(elementary.power, lambda x, y: (x.ln() * y).exp(), given) < 0.7
    whole = np.arange(-1074.0, 1024.0)
    np.testing.assert_array_equal(elementary.power(2.0, whole), np.ldexp(1.0, whole.astype(int)))
    for base in (3, 7, 10):
        assert elementary.power(float(base), 12.0) == base**12


@cache
def bernoulli(n: int) -> Fraction:
    if n == 0:
        return Fraction(1)
    return -sum(math.comb(n + 1, k) * bernoulli(k) for k in range(n)) / (n + 1)


def log_gamma(x: Decimal) -> Decimal:
    """Stirling's series from 60 on."""
    product = Decimal(1)
    while x < 60:
        product *= x
        x += 1
    found = (x - Decimal("0.5")) * x.ln() - x + (2 * PI).ln() / 2
    for k in range(1, 25):
        term = bernoulli(2 * k) / (2 * k * (2 * k - 1))
        found += Decimal(term.numerator) / Decimal(term.denominator) / x ** (2 * k - 1)
    return found - product.ln()


def test_log_gamma() -> None:
    apart = [x for x in spread(0, 30, 150) if abs(x - 1) > 0.1 and abs(x - 2) > 0.1]
    given = [*apart, *magnitudes(-60, 900, 100), *(k + 0.5 for k in range(20)), 1e-300]
    assert errors(elementary.log_gamma, log_gamma, given) < 1.0
    with localcontext() as context:
        context.prec = DIGITS
        for x in [*near(1.0, 60), *near(2.0, 60)]:  # where it is nearly 0
            assert abs(Decimal(elementary.log_gamma(x)) - log_gamma(Decimal(x))) < 4e-17
    assert elementary.log_gamma(np.array([1.0, 2.0])).tolist() == [0.0, 0.0]


def test_gamma() -> None:
    assert errors(elementary.gamma, lambda x: log_gamma(x).exp(), spread(0.1, 170, 150)) < 0.7
    assert [elementary.gamma(float(n + 1)) for n in range(19)] == [
        math.factorial(n) for n in range(19)
    ]


def erfc(x: Decimal) -> Decimal:
    """1 less the series of the error function, with as many digits more as cancel."""
    with localcontext() as context:
        context.prec = DIGITS + int(x * x)
        term = total = x
        k = 0
        while abs(term) > Decimal(10) ** -context.prec:
            k += 1
            term = -term * x * x / k
            total += term / (2 * k + 1)
        return 1 - 2 / PI.sqrt() * total


def test_erfc() -> None:
    given = [
        *spread(-3, 5.4, 200),
        *spread(0.45, 0.55, 60),
        *magnitudes(-30, -2, 40),
        5.9,
        6.0,
        6.1,
        6.2,
    ]
    with localcontext() as context:
        context.prec = 100  # more digits of pi than of the rest are not needed at 6.2
        assert errors(elementary.erfc, erfc, given) < 4
    # Beyond, the first terms of e^(-x^2) / (x sqrt(pi)) (1 - 1 / (2 x^2) + ...) alternate around it.
    for x in (8.0, 12.5, 20.0, 26.0):
        d, square = Decimal(x), Decimal(x) ** 2
        first = (-square).exp() / (d * PI.sqrt())
        found = Decimal(elementary.erfc(x))
        assert (
            first * (1 - 1 / (2 * square))
            < found
            < first * (1 - 1 / (2 * square) + 3 / (4 * square**2))
        )


def test_sums_of_powers() -> None:
    rng = np.random.default_rng(3)
    for a, d in zip(
        (100 * rng.random(200) - 50).tolist(), (80 * rng.random(200) - 40).tolist(), strict=True
    ):
        with localcontext() as context:
            context.prec = DIGITS
            nats = (Decimal(a).exp() + Decimal(a + d).exp()).ln()
            two = Decimal(2).ln()
            bits = ((Decimal(a) * two).exp() + (Decimal(a + d) * two).exp()).ln() / two
        assert elementary.logaddexp(a, a + d) == pytest.approx(float(nats), rel=3e-16, abs=1e-16)
        assert elementary.logaddexp2(a, a + d) == pytest.approx(float(bits), rel=3e-16, abs=1e-16)
    assert elementary.logaddexp2(700.0, 700.0) == 701.0


# -- edges -------------------------------------------------------------------------------------------------------------

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("exp", [INF, -INF, NAN, 0.0, -0.0, 710.0, -746.0], [INF, 0, NAN, 1, 1, INF, 0]),
        ("exp", [TINY, -TINY, HUGE, -HUGE], [1, 1, INF, 0]),
        (
            "expm1",
            [INF, -INF, NAN, 710.0, -800.0, TINY, -TINY],
            [INF, -1, NAN, INF, -1, TINY, -TINY],
        ),
        ("log", [0.0, -0.0, -1.0, INF, -INF, NAN, 1.0], [-INF, -INF, NAN, INF, NAN, NAN, 0]),
        ("log2", [0.0, -1.0, INF, NAN, 1.0], [-INF, NAN, INF, NAN, 0]),
        ("log1p", [-1.0, -2.0, INF, NAN, TINY, -TINY], [-INF, NAN, INF, NAN, TINY, -TINY]),
        ("log_gamma", [0.0, -1.0, INF, NAN, HUGE], [INF, NAN, INF, NAN, INF]),
        ("erfc", [INF, -INF, NAN, 0.0, 28.0, -28.0], [0, 2, NAN, 1, 0, 2]),
    ],
)
def test_edges(name: str, given: list[float], expected: list[float]) -> None:
    function = expm1 if name == "expm1" else getattr(elementary, name)
    np.testing.assert_array_equal(function(np.array(given)), expected)


def test_the_last_numbers_before_an_edge() -> None:
    assert errors(elementary.exp, Decimal.exp, [709.782712893384]) < 1
    # log of the largest number is 709.78271289338397..., of half the smallest -745.13321910194116...
    assert elementary.exp(709.7827128933841) == INF
    assert elementary.exp(-745.1332191019411) == TINY
    assert elementary.exp(-745.1332191019412) == 0
    assert math.copysign(1, expm1(-0.0)) == math.copysign(1, elementary.log1p(-0.0)) == -1


def test_edges_of_powers() -> None:
    x = np.array([0.0, 0.0, 0.0, 2, 2, INF, INF, 1, NAN, 2, 2, -8, 0.5, 2])
    y = np.array([2, -1, 0, 1024, -1075, 2, -1, NAN, 0, INF, -INF, 2, HUGE, NAN])
    expected = [0, INF, 1, INF, 0, INF, 0, 1, 1, INF, 0, NAN, 0, NAN]
    np.testing.assert_array_equal(elementary.power(x, y), expected)


def test_edges_of_sums_of_powers() -> None:
    for function in (elementary.logaddexp, elementary.logaddexp2):
        found = function(
            np.array([-INF, INF, -INF, 1.0, INF]), np.array([-INF, -INF, 3.0, NAN, INF])
        )
        np.testing.assert_array_equal(found, [-INF, INF, 3, NAN, INF])


# -- shapes ------------------------------------------------------------------------------------------------------------


def test_shapes_and_types() -> None:
    assert isinstance(elementary.log(2), float)
    assert isinstance(elementary.power(2.0, 3.0), float)
    assert elementary.exp(np.zeros((2, 0, 3))).shape == (2, 0, 3)
    whole = np.arange(1, 7).reshape(2, 3)
    assert elementary.log(whole.T).tolist() == elementary.log(whole).T.tolist()
    assert elementary.power(whole, np.array([[1.0], [2.0]])).tolist() == [[1, 2, 3], [16, 25, 36]]
    assert elementary.logaddexp(0.0, np.array([0.0, -INF])).tolist() == [math.log(2), 0.0]
