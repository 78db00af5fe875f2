# SPDX-License-Identifier: BSD-3-Clause
"""exp, log, powers and the gamma function with the same digits on every processor.

numpy and the C library choose their versions of these by the processor, and the versions differ in the last bit. What a
model is made of comes from here: plain arithmetic in a fixed order (`elementary.h`), with errors below one unit in the
last place, of `erfc` below four; where `log_gamma` is nearly 0, below 1e-17.

Arrays give arrays of float64, numbers give floats.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from fasttree import _core

_Array = NDArray[Any]
_Result = NDArray[np.float64]


class _OfEach(Protocol):
    @overload
    def __call__(self, x: float) -> float: ...
    @overload
    def __call__(self, x: _Array) -> _Result: ...


class _OfPairs(Protocol):
    @overload
    def __call__(self, x: float, y: float) -> float: ...
    @overload
    def __call__(self, x: _Array, y: _Array | float) -> _Result: ...
    @overload
    def __call__(self, x: float, y: _Array) -> _Result: ...


def _of_each(function: Callable[[Any], None]) -> _OfEach:
    """The core's function of this name."""
    name = function.__name__

    @wraps(function)
    def computed(x: Any) -> Any:
        array = np.ascontiguousarray(x, dtype=np.float64)  # at least one number long
        out = np.empty(array.size)
        _core.of_each(name, array.reshape(-1), out)
        return float(out[0]) if np.ndim(x) == 0 else out.reshape(array.shape)

    return computed


def _of_pairs(function: Callable[[Any, Any], None]) -> _OfPairs:
    """The core's function of two numbers that has this name."""
    name = function.__name__

    @wraps(function)
    def computed(x: Any, y: Any) -> Any:
        arrays = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        first, second = (np.ascontiguousarray(array).reshape(-1) for array in arrays)
        out = np.empty(first.size)
        _core.of_pairs(name, first, second, out)
        return float(out[0]) if arrays[0].ndim == 0 else out.reshape(arrays[0].shape)

    return computed


@_of_each
def exp(x: Any) -> None:
    """e^x."""


@_of_each
def log(x: Any) -> None:
    """The natural logarithm; -inf of 0, NaN of less.

    >>> log(1.0), log(0.0)
    (0.0, -inf)
    """


@_of_each
def log2(x: Any) -> None:
    """The logarithm to base 2, exact of powers of two.

    >>> log2(np.array([8, 0.25])).tolist()
    [3.0, -2.0]
    """


@_of_each
def log1p(x: Any) -> None:
    """log(1 + x), also near 0."""


@_of_each
def log_gamma(x: Any) -> None:
    """log(Gamma(x)) of numbers > 0.

    >>> log_gamma(np.array([1.0, 4.0, 0.5])).round(6).tolist()
    [0.0, 1.791759, 0.572365]
    """


@_of_each
def gamma(x: Any) -> None:
    """Gamma(x) of a number > 0.

    >>> round(gamma(5.0), 9)
    24.0
    """


@_of_each
def erfc(x: Any) -> None:
    """1 less the error function, also where that is nearly 1: erfc(|z| / sqrt(2)) is P(|Z| > |z|) of a normal variable.

    >>> erfc(0.0)
    1.0
    """


@_of_pairs
def power(x: Any, y: Any) -> None:
    """x^y for x >= 0.

    >>> power(2.0, 10.0), power(4.0, 0.5)
    (1024.0, 2.0)
    """


@_of_pairs
def logaddexp(x: Any, y: Any) -> None:
    """log(e^x + e^y), also where the powers are no numbers."""


@_of_pairs
def logaddexp2(x: Any, y: Any) -> None:
    """log2(2^x + 2^y), likewise.

    >>> logaddexp2(3.0, 3.0)
    4.0
    """
