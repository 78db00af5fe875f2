# SPDX-License-Identifier: BSD-3-Clause
"""Numbers in texts for people: weights of rows, and values of attributes."""

from __future__ import annotations

import math

from fasttree.base.times import time_text

SHORT, DIGITS = 10, 6
_NOISE = 2.0**-50  # relative: what halving and adding may leave behind the digits of a number


def weight_text(weight: float) -> str:
    """Rows, of which there may be fractions. Two decimals tell a reader enough, but a small share is not nothing."""
    if 0 < weight < 0.095:
        return f"{weight:.2g}"
    return f"{weight:.2f}".rstrip("0").rstrip(".")


def exact_number(value: float, time: str | None = None) -> str:
    """Whole numbers without a point, others with all the digits they need; a number of this kind of time as a time."""
    if time is not None:
        return time_text(value, time)
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(value)


def number_text(value: float | None, time: str | None = None) -> str:
    """A number of few digits as it is, without the noise behind them (13.19, not 13.190000000000001); a longer one with
    six digits, but at least one behind the point: rounded to a whole number it might be a value of the table that is on
    the other side. All of a time."""
    if value is None or not math.isfinite(value):
        return str(value)
    if time is not None:
        return time_text(value, time)
    is_small = abs(value) < 1e15
    if value == int(value) and is_small:
        return str(int(value))
    text = f"{value:.{SHORT}g}"
    if abs(float(text) - value) <= _NOISE * abs(value):
        return text
    has_many = abs(value) >= 10 ** (DIGITS - 1)  # in front of the point
    return f"{value:.1f}" if has_many and is_small else f"{value:.{DIGITS}g}"
