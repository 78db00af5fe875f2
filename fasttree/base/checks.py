# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the parameters that users give, and the values that several packages know them by."""

from __future__ import annotations

import math
import numbers
from typing import Any, TypeGuard

import numpy as np

from fasttree import _core
from fasttree.base.hints import check_choice
from fasttree.base.values import short_repr

UNKNOWN = ("missing", "majority", "error")
MAX_BINS: int = _core.MAX_BYTE_CODES
# Does a test know that the split was chosen among many?
SELECTED, NAIVE = "selected", "naive"
SIGNIFICANCE_TESTS = (SELECTED, NAIVE)
LEAST_ALPHA, MOST_ALPHA = 1e-6, 1e6
ONE_IN_ALL = "1/C"  # the prior of classes that together count 1
ALPHAS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)  # among which "opt" chooses


def prior_of_class(alpha: float | str, n_classes: int) -> float:
    """What every class counts before the first row is seen."""
    return 1.0 / n_classes if isinstance(alpha, str) else alpha


def check_alpha(alpha: Any, n_classes: int = 2) -> tuple[float, ...]:
    """The priors of a class to try for a number of classes."""
    if isinstance(alpha, str) and alpha == "opt":
        return ALPHAS
    if isinstance(alpha, str) and alpha == ONE_IN_ALL:
        return (prior_of_class(alpha, n_classes),)
    number = as_float(alpha)
    if not 0 < number < math.inf:
        raise ValueError(
            f'alpha must be a number > 0 or "opt" or "{ONE_IN_ALL}", got {short_repr(alpha)}'
        )
    return (number,)


def check_seed(value: Any) -> int:
    """The seed of draws that a `random_state` stands for; None is 0."""
    if value is None:
        return 0
    if not is_whole(value) or not 0 <= value < 2**64:
        raise ValueError(
            f"random_state must be None or an integer from 0 to 2**64 - 1, got {short_repr(value)}"
        )
    return int(value)


def check_unknown(value: Any) -> str:
    return check_choice("unknown", value, UNKNOWN)


def check_max_bins(value: Any) -> int | None:
    if value is None:
        return None
    if not is_whole(value) or not 2 <= value <= MAX_BINS:
        raise ValueError(
            f"max_bins must be None (exact) or an integer from 2 to {MAX_BINS}, got {short_repr(value)}"
        )
    return int(value)


def check_n_jobs(value: Any) -> int | None:
    if value is None:
        return None
    if not is_whole(value) or value == 0:
        raise ValueError(
            f"n_jobs must be None or an integer other than 0 (-1: all cores), got {short_repr(value)}"
        )
    return int(value)


def as_float(value: Any) -> float:
    """A real number, infinite where floats end; what is no number is NaN, which no limit admits."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number:
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def check_number(name: str, value: Any, least: float) -> float:
    number = as_float(value)
    if not least <= number < math.inf:
        raise ValueError(f"{name} must be a finite number >= {least:g}, got {short_repr(value)}")
    return number


def check_fraction(name: str, value: Any, others: str = "") -> float:
    """`others`: what else is legal, or what kind of number it is, in front of the limits."""
    number = as_float(value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must be {others}above 0 and below 1, got {short_repr(value)}")
    return number


def check_integer(name: str, value: Any, least: int, others: str = "") -> int:
    """`others`: what else is legal, in front of the message: "None or "."""
    if not is_whole(value) or value < least:
        raise ValueError(
            f"{name} must be {others}an integer of at least {least}, got {short_repr(value)}"
        )
    return int(value)


def is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def check_flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {short_repr(value)}")
    return bool(value)
