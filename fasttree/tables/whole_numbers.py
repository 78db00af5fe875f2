# SPDX-License-Identifier: BSD-3-Clause
"""Integers beyond 2**53, where float64, and so a threshold, no longer tells neighbours apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fasttree.base.values import is_missing, short_repr

LARGEST_WHOLE_NUMBER = 2**53


def too_large_error(where: str, value: Any) -> ValueError:
    return ValueError(
        f"{where} contains the integer {short_repr(value)}: beyond 2**53, the float64 thresholds of a tree "
        "cannot distinguish neighbouring integers. Declare the column categorical "
        "(as text, if it is an identifier) or rescale it."
    )


def beyond_float64_error(where: str, value: Any) -> ValueError:
    return ValueError(
        f"{where} contains {short_repr(value)}, which is outside the range of float64 (about 1.8e308): "
        "rescale the column, or pass it as text if it is an identifier."
    )


def check_whole_numbers(values: np.ndarray, where: Callable[[int], str]) -> None:
    """Thresholds are float64: whole numbers that it would round are refused. `where`: column j."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not are_large(values):
        return
    value = values.max() if values.max() > LARGEST_WHOLE_NUMBER else values.min()
    _, j = np.argwhere(values.reshape(len(values), -1) == value)[0]
    raise too_large_error(where(int(j)), value)


def are_large(values: np.ndarray) -> bool:
    return bool(values.max() > LARGEST_WHOLE_NUMBER or values.min() < -LARGEST_WHOLE_NUMBER)


def is_large(value: Any) -> bool:
    """Is it a whole number, and none of a float type, that float64 may not tell from its neighbours?"""
    if value is None or isinstance(value, (float, np.floating)) or is_missing(value):
        return False
    return LARGEST_WHOLE_NUMBER < abs(value) < math.inf and int(value) == value
