# SPDX-License-Identifier: BSD-3-Clause
"""Numerical functions under the measures: entropies of rows, the incomplete gamma function."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_LARGE_SHAPE = 16.0  # from here on six terms of Stirling's series give the last bit of Gamma
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
        half = math.exp(
            -x / 2
        )  # exp(-x) in two halves, or it would vanish before the power lifts it
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
