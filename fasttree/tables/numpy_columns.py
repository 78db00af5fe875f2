# SPDX-License-Identifier: BSD-3-Clause
"""One column of numpy: out come numbers, Times or a Factor."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from fasttree.base.times import DATETIME, DURATION, Times, array_microseconds
from fasttree.base.values import short_repr
from fasttree.tables.factors import Factor, bool_factor, complex_error, factorize
from fasttree.tables.object_columns import read_objects, unless_empty
from fasttree.tables.whole_numbers import are_large, beyond_float64_error

# What the core reads as it is; every other number is converted once.
PLAIN_DTYPES = frozenset(np.dtype(code) for code in "?bhilqBHILQfd")


def plain_numbers(values: np.ndarray, where: Callable[[int], str]) -> np.ndarray:
    """Half and extended precision and foreign byte order as a dtype that the core reads. `where`: column j."""
    if values.dtype in PLAIN_DTYPES:
        return values
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            numbers = values.astype(np.float32 if values.dtype.itemsize <= 4 else np.float64)
        if values.dtype.itemsize > 8 and (beyond := np.isinf(numbers) & ~np.isinf(values)).any():
            _, j = np.argwhere(beyond.reshape(len(values), -1))[0]
            raise beyond_float64_error(where(int(j)), values[beyond][0])
        return numbers
    return values.astype(values.dtype.newbyteorder("="))


def masked_places(values: np.ndarray) -> np.ndarray | None:
    """Where a masked array hides its values, if it hides any. numpy.ma is never loaded for it."""
    masked_arrays = sys.modules.get("numpy.ma")
    if masked_arrays is None or not isinstance(values, masked_arrays.MaskedArray):
        return None
    mask: np.ndarray = masked_arrays.getmaskarray(values)
    return mask if mask.any() else None


def masked_numbers(
    values: np.ndarray, hidden: np.ndarray, where: Callable[[int], str]
) -> np.ndarray | None:
    """The numbers of a masked array with NaN where they are hidden, whatever lies under the mask.

    None if float64 would round some of them.
    """
    known = plain_numbers(np.where(hidden, values.dtype.type(0), np.asarray(values)), where)
    if known.dtype.kind in "iu" and are_large(known):
        return None
    numbers = known.astype(np.float32 if known.dtype == np.float32 else np.float64, copy=False)
    numbers[hidden] = np.nan
    return numbers


def read_array(where: str, values: np.ndarray) -> np.ndarray | Factor | Times:
    if values.ndim != 1:
        raise ValueError(f"{where} has {values.ndim} dimensions, but a column must be 1-D.")
    hidden = masked_places(values)
    kind = values.dtype.kind
    if kind == "b" and hidden is not None:
        return bool_factor(np.where(hidden, -1, np.asarray(values)))
    if kind in "biuf":
        if hidden is None:
            return plain_numbers(np.asarray(values), lambda _: where)
        numbers = masked_numbers(values, hidden, lambda _: where)
        return read_objects(where, values.tolist()) if numbers is None else numbers
    if kind == "U":
        return factorize(values.tolist())  # a masked array gives None for what it hides
    if kind in "OT":
        return unless_empty(read_objects(where, values.tolist()))
    if kind in "mM":
        times = array_microseconds(where, np.asarray(values), hidden)
        return Times(DATETIME if kind == "M" else DURATION, times)
    if kind == "c":
        raise complex_error(where)
    if kind == "S":
        raise TypeError(
            f"{where} contains bytes ({short_repr(values[0])}): decode it with .astype(str)."
        )
    raise TypeError(
        f"{where} has the dtype {values.dtype}, which is not supported: convert it to numbers or text."
    )
