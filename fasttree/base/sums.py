# SPDX-License-Identifier: BSD-3-Clause
"""Sums that are rounded once: the same in any order, and so on every processor.

numpy adds in blocks and BLAS in as many strands as a register holds; both change with the processor and the version.
Whole numbers need none of this, and stay what they are: their sums are exact.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fasttree import _core

_Array = NDArray[Any]
_Result = NDArray[np.float64]


def total(values: _Array) -> float:
    """The sum of all the numbers.

    >>> total(np.array([1e100, 1.0, -1e100]))
    1.0
    """
    if values.dtype.kind != "f":
        return float(values.sum())
    return float(sums(values.reshape(1, -1))[0])


def sums(values: _Array, axis: int | tuple[int, ...] = -1, keepdims: bool = False) -> _Array:
    """The sums along an axis, or over several, as `numpy.sum` has them.

    >>> sums(np.array([[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]])).tolist()
    [0.6, 6.0]
    """
    if values.dtype.kind != "f":
        return np.asarray(values.sum(axis=axis, keepdims=keepdims))
    axes = sorted(a % values.ndim for a in ([axis] if isinstance(axis, int) else axis))
    kept = [a for a in range(values.ndim) if a not in axes]
    shape = [values.shape[a] for a in kept]
    lines = np.ascontiguousarray(values.transpose(kept + axes), dtype=np.float64)
    out = np.empty(math.prod(shape))
    _core.sum_rows(lines.reshape(len(out), math.prod(values.shape[a] for a in axes)), out)
    if keepdims:
        shape = [1 if a in axes else n for a, n in enumerate(values.shape)]
    return out.reshape(shape)


def segment_sums(values: _Array, start: _Array) -> _Array:
    """The sums of the stretches of an array that begin at ascending indices; the last ends with the array. Of a table
    [row, column] those of each column.

    >>> segment_sums(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 3])).tolist()
    [6.0, 4.0]
    """
    if values.dtype.kind != "f":
        return np.asarray(np.add.reduceat(values, start, axis=0))
    ends = np.append(start, len(values)).astype(np.int64)
    shape = len(values), math.prod(values.shape[1:])
    columns = np.ascontiguousarray(values.reshape(shape).T, dtype=np.float64)
    out = np.empty((len(columns), len(start)))
    for column, found in zip(columns, out, strict=True):
        _core.sum_segments(column, ends, found)
    return np.ascontiguousarray(out.T).reshape(len(start), *values.shape[1:])


def sums_by_group(
    group: _Array, values: _Array, n_groups: int, weight: _Array | None = None
) -> _Result:
    """The sum of the values of each group, times their weights; `group` has the number of each value's.

    >>> sums_by_group(np.array([1, 0, 1]), np.array([0.5, 2.0, 0.25]), 3).tolist()
    [2.0, 0.75, 0.0]
    """
    out = np.empty(n_groups)
    weight = None if weight is None else _column(weight)
    if not _core.sum_groups(group.astype(np.int32, copy=False), _column(values), weight, out):
        raise MemoryError("not enough memory to add up numbers by group")
    return out


@overload
def mean(values: _Array) -> float: ...
@overload
def mean(values: _Array, axis: int) -> _Result: ...
def mean(values: _Array, axis: int | None = None) -> Any:
    """The mean of all the numbers, or along an axis."""
    if axis is None:
        return total(values) / values.size
    return sums(values, axis) / values.shape[axis]


@overload
def deviation(values: _Array, ddof: int = 0) -> float: ...
@overload
def deviation(values: _Array, ddof: int, axis: int) -> _Result: ...
def deviation(values: _Array, ddof: int = 0, axis: int | None = None) -> Any:
    """The standard deviation, with the sum of squares divided by n - ddof, of all the numbers or along an axis."""
    if axis is None:
        off = values - mean(values)
        return math.sqrt(total(off * off) / (values.size - ddof))
    off = values - np.expand_dims(mean(values, axis), axis)
    return np.sqrt(sums(off * off, axis) / (values.shape[axis] - ddof))


def dot(x: _Array, y: _Array) -> float:
    """The sum of the products of two columns: each product is rounded, and the sum once."""
    return float(_core.product_sum(_column(x), _column(y)))


def exact_total(x: _Array) -> Fraction:
    """The sum without rounding."""
    return exact_dot(x, np.ones(len(x)))


def exact_dot(x: _Array, y: _Array) -> Fraction:
    """The sum of the products without rounding, of finite numbers from 1e-130 to 1e130 (and 0)."""
    return sum(map(Fraction, _core.parts_of_product(_column(x), _column(y))), Fraction(0))


def _column(x: _Array) -> _Result:
    return np.ascontiguousarray(x, dtype=np.float64)
