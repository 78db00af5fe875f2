# SPDX-License-Identifier: BSD-3-Clause
"""Numerical functions under the measures: entropies of rows, the incomplete gamma function, tails of distributions."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fasttree.base.elementary import erfc, exp, gamma, log, log_gamma, power
from fasttree.base.sums import sums

_FEW_DEGREES = 60  # of freedom: up to here the tail is a short sum
_LARGE_SHAPE = 16.0  # from here on six terms of Stirling's series give the last bit of Gamma
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)


def row_shares(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every row divided by its total; an empty row stays 0."""
    total = sums(table, keepdims=True)
    shares = np.zeros_like(table)
    np.divide(table, total, out=shares, where=total > 0)
    return shares


def row_entropy(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entropy in nats of every row of a table of counts >= 0; 0 for an empty row.

    >>> row_entropy(np.array([[1.0, 1.0], [4.0, 0.0], [0.0, 0.0]])).round(6).tolist()
    [0.693147, 0.0, 0.0]
    """
    shares = row_shares(table)
    logs = log(np.where(shares > 0, shares, 1.0))  # x log x := 0 at 0
    return np.maximum(-sums(shares * logs), 0.0)


def upper_gamma(a: float, x: float) -> float:
    """Q(a, x) = Gamma(a, x) / Gamma(a), for a >= 1/2 and x >= 0, with a relative error below 1e-12.

    The chi-square distribution's tail is P(X > s) = Q(df / 2, s / 2).

    >>> round(upper_gamma(1.0, 2.0), 12) == round(math.exp(-2.0), 12)
    True
    """
    if x < 1e-300:
        return 1.0
    if math.isinf(x):
        return 0.0
    # Left of the hump 1 - Q has a quick series, and Q is never so small there that the subtraction
    # would lose digits. Right of the hump the continued fraction gives Q itself.
    if x < a + 1:
        return 1.0 - _density(a, x) * _lower_series(a, x)
    return _density(a, x) * _upper_fraction(a, x)


def _density(a: float, x: float) -> float:
    """x^a exp(-x) / Gamma(a)."""
    if a < _LARGE_SHAPE:
        # exp(-x) in two halves, or it would vanish before the power lifts it.
        half = exp(-x / 2)
        return half * (power(x, a) / gamma(a)) * half if half > 0 else 0.0
    # a log x - x - log Gamma(a) would be a small difference of huge numbers. Stirling's series s,
    # Gamma(a) = sqrt(2 pi / a) (a / e)^a e^s, leaves only -a (r - 1 - log r) - s with r = x / a.
    series = 0.0
    for coefficient in _STIRLING[::-1]:
        series = series / (a * a) + coefficient
    return math.sqrt(a / (2 * math.pi)) * exp(-a * _log_excess(x, a) - series / a)


def _log_excess(x: float, a: float) -> float:
    """r - 1 - log(r) for r = x / a, also near r = 1, where the terms nearly cancel."""
    d = (x - a) / a
    if abs(d) > 0.1:
        return d - log(x / a)
    # log(1 + d) = 2 (h + h^3 / 3 + h^5 / 5 + ...) with h = d / (2 + d), and d - 2 h = d h.
    h = d / (2 + d)
    tail, power = 0.0, h
    for k in range(3, 21, 2):  # h <= 1 / 19: the next term is below 1e-25 of the sum
        power *= h * h
        tail += power / k
    return d * h - 2 * tail


def _lower_series(a: float, x: float) -> float:
    """P(a, x) / density: 1/a + x / (a (a + 1)) + x^2 / (a (a + 1) (a + 2)) + ..."""
    term = total = 1 / a
    while term > 1e-17 * total:
        a += 1
        term *= x / a
        total += term
    return total


def _upper_fraction(a: float, x: float) -> float:
    """Q(a, x) / density: Legendre's continued fraction, by Lentz's method."""
    b = x + 1 - a
    c, d = math.inf, 1 / b
    fraction, change, k = d, 0.0, 0
    while abs(change - 1) > 4e-16:  # two units in the last place: rounding may never give 1 itself
        k += 1
        factor = k * (a - k)
        b += 2
        d = 1 / (b + factor * d)
        c = b + factor / c
        change = c * d
        fraction *= change
    return fraction


def chi_square_tails(statistic: NDArray[np.float64], df: NDArray[np.int64]) -> NDArray[np.float64]:
    """P(chi-square with df[i] degrees of freedom > statistic[i]), of many at once; 1 where df is 0.

    >>> chi_square_tails(np.array([2.8, 4.0, 9.0]), np.array([1, 2, 0])).round(6).tolist()
    [0.094264, 0.135335, 1.0]
    """
    tails = np.ones(len(df))
    for n in np.unique(df[df > 0]).tolist():
        with_n = df == n
        half = statistic[with_n] / 2
        if n > _FEW_DEGREES:
            tails[with_n] = [upper_gamma(n / 2, x) for x in half.tolist()]
            continue
        # Q(a + 1, x) = Q(a, x) + x^a exp(-x) / Gamma(a + 1): every term is positive, none cancels.
        if n % 2:
            root = np.sqrt(half)
            tail = erfc(root)
            term, a = exp(-half) * root / gamma(1.5), 1.5
        else:
            tail = exp(-half)
            term, a = tail * half, 2.0
        while a <= n / 2:
            tail += term
            term = term * half / a
            a += 1
        tails[with_n] = tail
    return tails


@lru_cache(maxsize=1024)
def chi_square_quantile(alpha: float, df: int) -> float:
    """The statistic that a chi-square variable with ``df`` degrees of freedom passes with probability ``alpha``.

    >>> round(chi_square_quantile(0.05, 1), 6), round(chi_square_quantile(0.05, 2), 6)
    (3.841459, 5.991465)
    """
    # The cube root of a chi-square variable is nearly normal, which tells where to begin to look.
    spread = 2 / (9 * df)
    root = max(0.0, 1 - spread + normal_quantile(alpha) * math.sqrt(spread))
    low, high = 0.0, max(2 * df * root * root * root, 1.0)
    while upper_gamma(df / 2, high / 2) > alpha:
        low, high = high, 2 * high
    while high - low > 1e-14 * high:
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        if upper_gamma(df / 2, middle / 2) > alpha:
            low = middle
        else:
            high = middle
    return low + (high - low) / 2


def log_factorial(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """log(n!) of an array of whole numbers.

    >>> log_factorial(np.array([0.0, 1.0, 5.0])).round(6).tolist()
    [0.0, 0.0, 4.787492]
    """
    if n.size == 0 or n.max() >= len(_LOG_FACTORIALS):
        return log_gamma(n + 1)
    logs: NDArray[np.float64] = _LOG_FACTORIALS[n.astype(np.intp)]
    return logs


_LOG_2 = log(2.0)
_LOG_FACTORIALS = log_gamma(np.arange(1.0, 4097.0))
_LOG_FACTORIALS[:2] = 0.0


def log2_choose(n: NDArray[np.float64], k: NDArray[np.float64]) -> NDArray[np.float64]:
    """log2 of the binomial coefficients n over k, 0 <= k <= n, which need not be whole numbers.

    >>> log2_choose(np.array([4.0, 4.0, 2.5]), np.array([2.0, 0.0, 1.0])).round(6).tolist()
    [2.584963, 0.0, 1.321928]
    """
    inside = log_gamma(k + 1) + log_gamma(n - k + 1)
    return np.asarray((log_gamma(n + 1) - inside) / _LOG_2)


def student_t_tails(t: float, df: int) -> float:
    """P(|T| > |t|) of Student's distribution with a whole number of degrees of freedom.

    >>> round(student_t_tails(2.262157, 9), 6), round(student_t_tails(1.0, 1), 6)
    (0.05, 0.5)
    """
    if math.isinf(t):
        return 0.0
    # Abramowitz and Stegun 26.7.3 and 26.7.4: the probability between -t and t is a short sum of powers of the cosine
    # of the angle whose tangent is this.
    tangent = abs(t) / math.sqrt(df)
    if tangent > 1:
        sine = 1 / math.sqrt(1 + 1 / (tangent * tangent))
        cosine = sine / tangent
    else:
        cosine = 1 / math.sqrt(1 + tangent * tangent)
        sine = tangent * cosine
    total, term = 0.0, cosine if df % 2 else 1.0
    for k in range(1 + df % 2, df, 2):
        total += term
        term *= cosine * cosine * k / (k + 1)
    inside = sine * total
    if df % 2:
        inside = 2 / math.pi * (_angle(sine, cosine) + inside)
    return min(1.0, max(0.0, 1.0 - inside))


def _angle(sine: float, cosine: float) -> float:
    """The angle from 0 to pi / 2 with this sine and cosine."""
    halvings = 4
    for _ in range(halvings):  # tan(a / 2) = sin a / (1 + cos a)
        tangent = sine / (1 + cosine)
        cosine = 1 / math.sqrt(1 + tangent * tangent)
        sine = tangent * cosine
    series = 0.0
    for k in range(21, -1, -2):  # the tangent is below 0.1: x - x^3 / 3 + x^5 / 5 - ...
        series = 1 / (k + 2) - tangent * tangent * series
    return 2**halvings * tangent * (1 - tangent * tangent * series)


def normal_quantile(alpha: float) -> float:
    """The number that a standard normal variable passes with probability ``alpha``, above 0 and below 1.

    >>> round(normal_quantile(0.025), 6), round(normal_quantile(0.975), 6)
    (1.959964, -1.959964)
    """
    if alpha >= 0.5:
        return 0.0 if alpha == 0.5 else -normal_quantile(1 - alpha)
    # Abramowitz and Stegun 26.2.22 is off by 0.003; each of Newton's steps for the logarithm of the tail, which is
    # nearly a parabola, leaves about the square of that.
    t = math.sqrt(-2 * log(alpha))
    z = max(0.0, t - (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + 0.04481 * t)))
    for _ in range(5):
        tail = erfc(z * math.sqrt(0.5)) / 2
        z += log(tail / alpha) * tail / (exp(-z * z / 2) / math.sqrt(2 * math.pi))
    return z
