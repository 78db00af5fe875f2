# SPDX-License-Identifier: BSD-3-Clause
"""Linear algebra for small dense systems, with the same digits on every processor: every sum has one order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fasttree import _core

_Array = NDArray[Any]
_Result = NDArray[np.float64]

# Of a column's diagonal cell: less beside the columns before it is nothing but rounding.
MADE_UP = 1e-13


def product(a: _Array, b: _Array) -> _Result:
    """The product of two matrices, or of a matrix and a column.

    >>> product(np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([1.0, 1.0])).tolist()
    [3.0, 3.0]
    """
    right = _matrix(b if b.ndim == 2 else b[:, np.newaxis])
    out = np.empty((len(a), right.shape[1]))
    _core.matrix_product(_matrix(a), right, out)
    return out if b.ndim == 2 else out[:, 0]


def products_of_columns(matrix: _Array, weight: _Array | None = None) -> _Result:
    """X' W X: of every two columns the sum of the products of their cells, each times the weight of its row."""
    out = np.empty((matrix.shape[1], matrix.shape[1]))
    own = np.ones(len(matrix)) if weight is None else np.ascontiguousarray(weight, np.float64)
    _core.weighted_products(_matrix(matrix), own, out)
    return out


def sums_of_columns(matrix: _Array, weight: _Array) -> _Result:
    """X' w: the sum of each column, each row times its weight."""
    return product(np.asarray(weight, dtype=np.float64)[np.newaxis], matrix)[0]


def solve(matrix: _Array, right: _Array) -> _Result:
    """The solution x of A x = b with a symmetric A that is not indefinite; b may be a column or several.

    Where columns of A are made up by those before them, the unknowns of these are 0.

    >>> solve(np.array([[4.0, 2.0], [2.0, 3.0]]), np.array([8.0, 8.0])).tolist()
    [1.0, 2.0]
    """
    found = np.array(right if right.ndim == 2 else right[:, np.newaxis], np.float64, order="C")
    _core.solve_symmetric(np.array(matrix, np.float64, order="C"), found, MADE_UP)
    return found if right.ndim == 2 else found[:, 0]


def _matrix(a: _Array) -> _Result:
    return np.ascontiguousarray(a, dtype=np.float64)
