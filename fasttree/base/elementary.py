# SPDX-License-Identifier: BSD-3-Clause
"""exp, log, powers and the gamma function with the same digits on every processor.

numpy and the C library choose their versions of these by the processor, and the versions differ in the last bit. What a
model is made of comes from here: plain arithmetic in a fixed order (`elementary.h`), with errors below one unit in the
last place, of `erfc` below four; where `log_gamma` is nearly 0, below 1e-17.

Arrays give arrays of float64, numbers give floats.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fasttree import _core

_Array = NDArray[Any]
_Result = NDArray[np.float64]


@overload
def exp(x: float) -> float: ...
@overload
def exp(x: _Array) -> _Result: ...
def exp(x: Any) -> Any:
    """e^x."""
    return _of_each("exp", x)


@overload
def expm1(x: float) -> float: ...
@overload
def expm1(x: _Array) -> _Result: ...
def expm1(x: Any) -> Any:
    """e^x - 1, also near 0."""
    return _of_each("expm1", x)


@overload
def log(x: float) -> float: ...
@overload
def log(x: _Array) -> _Result: ...
def log(x: Any) -> Any:
    """The natural logarithm; -inf of 0, NaN of less.

    >>> log(1.0), log(0.0)
    (0.0, -inf)
    """
    return _of_each("log", x)


@overload
def log2(x: float) -> float: ...
@overload
def log2(x: _Array) -> _Result: ...
def log2(x: Any) -> Any:
    """The logarithm to base 2, exact of powers of two.

    >>> log2(np.array([8, 0.25])).tolist()
    [3.0, -2.0]
    """
    return _of_each("log2", x)


@overload
def log1p(x: float) -> float: ...
@overload
def log1p(x: _Array) -> _Result: ...
def log1p(x: Any) -> Any:
    """log(1 + x), also near 0."""
    return _of_each("log1p", x)


@overload
def log_gamma(x: float) -> float: ...
@overload
def log_gamma(x: _Array) -> _Result: ...
def log_gamma(x: Any) -> Any:
    """log(Gamma(x)) of numbers > 0.

    >>> log_gamma(np.array([1.0, 4.0, 0.5])).round(6).tolist()
    [0.0, 1.791759, 0.572365]
    """
    return _of_each("log_gamma", x)


def gamma(x: float) -> float:
    """Gamma(x) of a number > 0.

    >>> round(gamma(5.0), 9)
    24.0
    """
    return float(_of_each("gamma", x))


@overload
def erfc(x: float) -> float: ...
@overload
def erfc(x: _Array) -> _Result: ...
def erfc(x: Any) -> Any:
    """1 less the error function, also where that is nearly 1: erfc(|z| / sqrt(2)) is P(|Z| > |z|) of a normal variable.

    >>> erfc(0.0)
    1.0
    """
    return _of_each("erfc", x)


@overload
def power(x: float, y: float) -> float: ...
@overload
def power(x: _Array, y: _Array | float) -> _Result: ...
@overload
def power(x: float, y: _Array) -> _Result: ...
def power(x: Any, y: Any) -> Any:
    """x^y for x >= 0.

    >>> power(2.0, 10.0), power(4.0, 0.5)
    (1024.0, 2.0)
    """
    return _of_pairs("power", x, y)


@overload
def logaddexp(x: float, y: float) -> float: ...
@overload
def logaddexp(x: _Array, y: _Array | float) -> _Result: ...
@overload
def logaddexp(x: float, y: _Array) -> _Result: ...
def logaddexp(x: Any, y: Any) -> Any:
    """log(e^x + e^y), also where the powers are no numbers."""
    return _of_pairs("logaddexp", x, y)


@overload
def logaddexp2(x: float, y: float) -> float: ...
@overload
def logaddexp2(x: _Array, y: _Array | float) -> _Result: ...
@overload
def logaddexp2(x: float, y: _Array) -> _Result: ...
def logaddexp2(x: Any, y: Any) -> Any:
    """log2(2^x + 2^y), likewise.

    >>> logaddexp2(3.0, 3.0)
    4.0
    """
    return _of_pairs("logaddexp2", x, y)


def _of_each(name: str, x: Any) -> Any:
    array = np.ascontiguousarray(x, dtype=np.float64)  # at least one number long
    out = np.empty(array.size)
    _core.of_each(name, array.reshape(-1), out)
    return float(out[0]) if np.ndim(x) == 0 else out.reshape(array.shape)


def _of_pairs(name: str, x: Any, y: Any) -> Any:
    arrays = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
    one, other = (np.ascontiguousarray(array).reshape(-1) for array in arrays)
    out = np.empty(one.size)
    _core.of_pairs(name, one, other, out)
    return float(out[0]) if arrays[0].ndim == 0 else out.reshape(arrays[0].shape)
