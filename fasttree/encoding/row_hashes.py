# SPDX-License-Identifier: BSD-3-Clause
"""A number for each row that its values alone decide: what draws over rows go by instead of the order of the rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

_BLOCK = 16_384  # rows whose hashes stay in the cache
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def value_hashes(columns: Iterable[np.ndarray], n_rows: int, seed: int = 0) -> np.ndarray:
    """A 64-bit hash of each row's values.

    `columns` hold numbers or codes, one array an attribute. Numbers that are equal hash alike, and so do all NaNs.
    """
    hashes = np.full(n_rows, np.uint64(int(seed) % 2**64))
    for column in columns:
        _add(hashes, column)
    return hashes


def with_classes(hashes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Hashes of values and class, of the hashes of values."""
    hashes = hashes.copy()
    _add(hashes, codes)
    return hashes


def _add(hashes: np.ndarray, column: np.ndarray) -> None:
    """Another column, in place."""
    for start in range(0, len(hashes), _BLOCK):
        block = hashes[start : start + _BLOCK]
        block ^= _bits(column[start : start + _BLOCK])
        _mix(block)


def _bits(values: np.ndarray) -> np.ndarray:
    """64 bits that are the same for equal values."""
    if values.dtype.kind in "biu":
        return values.astype(np.uint64)
    numbers = values.astype(np.float64) + 0.0  # a copy, and -0.0 is 0.0
    numbers[np.isnan(numbers)] = np.nan
    return numbers.view(np.uint64)


def _mix(hashes: np.ndarray) -> None:
    """One step of the splitmix64 generator, in place."""
    hashes += _GOLDEN
    hashes ^= hashes >> np.uint64(30)
    hashes *= _FIRST
    hashes ^= hashes >> np.uint64(27)
    hashes *= _SECOND
    hashes ^= hashes >> np.uint64(31)
