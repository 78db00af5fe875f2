# SPDX-License-Identifier: BSD-3-Clause
"""Numerical functions under the measures: entropies of rows, the gamma function and its incomplete form."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

_FEW_DEGREES = 60  # of freedom: up to here the tail is a short sum
_LARGE_SHAPE = 16.0  # from here on six terms of Stirling's series give the last bit of Gamma
_STIRLING_FROM = 10  # log(Gamma) is a larger number, and needs the series less exact
_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)


def row_shares(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every row divided by its total; an empty row stays 0."""
    total = table.sum(axis=1, keepdims=True)
    shares = np.zeros_like(table)
    np.divide(table, total, out=shares, where=total > 0)
    return shares


def row_entropy(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entropy in nats of every row of a table of counts >= 0; 0 for an empty row.

    >>> row_entropy(np.array([[1.0, 1.0], [4.0, 0.0], [0.0, 0.0]])).round(6).tolist()
    [0.693147, 0.0, 0.0]
    """
    shares = row_shares(table)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)  # x log x := 0 at 0
    entropies: NDArray[np.float64] = np.maximum(-(shares * logs).sum(axis=1), 0.0)
    return entropies


def log_gamma(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """log(Gamma(x)) of an array of numbers > 0, with an error below 1e-13 relative or 1e-14, whichever is more.

    >>> log_gamma(np.array([1.0, 4.0, 0.5])).round(6).tolist()
    [0.0, 1.791759, 0.572365]
    """
    x = np.asarray(x, dtype=np.float64)
    is_small = x < _STIRLING_FROM
    shifted = np.where(is_small, x + _STIRLING_FROM, x)
    reciprocal = 1 / shifted
    square = reciprocal * reciprocal
    series = np.full_like(shifted, _STIRLING[-1])
    for coefficient in _STIRLING[-2::-1]:
        series = series * square + coefficient
    # (s - 1/2) log s - s + log(2 pi) / 2 + series, with smaller numbers to cancel.
    result = (shifted - 0.5) * (np.log(shifted) - 1) + (
        _HALF_LOG_TWO_PI - 0.5 + series * reciprocal
    )
    small = x[is_small]
    product = small.copy()  # Gamma(x + k) = Gamma(x) * x * (x + 1) * ... * (x + k - 1)
    for k in range(1, _STIRLING_FROM):
        product *= small + k
    result[is_small] -= np.log(product)
    return np.asarray(result)


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
        half = math.exp(-x / 2)
        return half * (x**a / math.gamma(a)) * half if half > 0 else 0.0
    # a log x - x - log Gamma(a) would be a small difference of huge numbers. Stirling's series s,
    # Gamma(a) = sqrt(2 pi / a) (a / e)^a e^s, leaves only -a (r - 1 - log r) - s with r = x / a.
    series = sum(c / a ** (2 * k + 1) for k, c in enumerate(_STIRLING))
    return math.sqrt(a / (2 * math.pi)) * math.exp(-a * _log_excess(x, a) - series)


def _log_excess(x: float, a: float) -> float:
    """r - 1 - log(r) for r = x / a, also near r = 1, where the terms nearly cancel."""
    d = (x - a) / a
    if abs(d) > 0.1:
        return d - math.log(x / a)
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
    for one in np.unique(df[df > 0]).tolist():
        here = df == one
        half = statistic[here] / 2
        if one > _FEW_DEGREES:
            tails[here] = [upper_gamma(one / 2, x) for x in half.tolist()]
            continue
        # Q(a + 1, x) = Q(a, x) + x^a exp(-x) / Gamma(a + 1): every term is positive, none cancels.
        if one % 2:
            root = np.sqrt(half)
            tail = np.array([math.erfc(x) for x in root.tolist()])
            term, a = np.exp(-half) * root / math.gamma(1.5), 1.5
        else:
            tail = np.exp(-half)
            term, a = tail * half, 2.0
        while a <= one / 2:
            tail += term
            term = term * half / a
            a += 1
        tails[here] = tail
    return tails


@lru_cache(maxsize=1024)
def chi_square_quantile(alpha: float, df: int) -> float:
    """The statistic that a chi-square variable with ``df`` degrees of freedom passes with probability ``alpha``.

    >>> round(chi_square_quantile(0.05, 1), 6), round(chi_square_quantile(0.05, 2), 6)
    (3.841459, 5.991465)
    """
    # The cube root of a chi-square variable is nearly normal, which tells where to begin to look.
    spread = 2 / (9 * df)
    guess = df * max(0.0, 1 - spread + NormalDist().inv_cdf(1 - alpha) * math.sqrt(spread)) ** 3
    low, high = 0.0, max(2 * guess, 1.0)
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


_LOG_FACTORIALS = log_gamma(np.arange(1.0, 4097.0))
_LOG_FACTORIALS[:2] = 0.0


def student_t_tails(t: float, df: int) -> float:
    """P(|T| > |t|) of Student's distribution with a whole number of degrees of freedom.

    >>> round(student_t_tails(2.262157, 9), 6), round(student_t_tails(1.0, 1), 6)
    (0.05, 0.5)
    """
    if math.isinf(t):
        return 0.0
    # Abramowitz and Stegun 26.7.3 and 26.7.4: the probability between -t and t is a short sum of powers of a cosine.
    angle = math.atan2(abs(t), math.sqrt(df))
    cosine, sine = math.cos(angle), math.sin(angle)
    total, term = 0.0, cosine if df % 2 else 1.0
    for k in range(1 + df % 2, df, 2):
        total += term
        term *= cosine * cosine * k / (k + 1)
    inside = sine * total
    if df % 2:
        inside = 2 / math.pi * (angle + inside)
    return min(1.0, max(0.0, 1.0 - inside))
