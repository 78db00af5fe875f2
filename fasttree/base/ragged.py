# SPDX-License-Identifier: BSD-3-Clause
"""Ragged lists: several lists one after another in one array, with where each begins and how long it is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

NONE = np.int32(-1)


def filled(n: int, value: np.generic) -> np.ndarray:
    """An array of n equal values; `numpy.full` takes three times as long for a few."""
    found = np.empty(n, dtype=value.dtype)
    found.fill(value)
    return found


def offsets(lengths: np.ndarray) -> np.ndarray:
    """0 and the running sums of the lengths: where each list begins, and where the last one ends."""
    result = np.zeros(len(lengths) + 1, dtype=np.int64)
    lengths.cumsum(out=result[1:])
    return result


def begins(lengths: np.ndarray) -> np.ndarray:
    """Where each of the lists begins."""
    return np.asarray(lengths.cumsum() - lengths)


def lengths(list_offsets: np.ndarray) -> np.ndarray:
    """The lengths of the lists, from their `offsets`."""
    return np.asarray(list_offsets[1:] - list_offsets[:-1])


def flat_indices(begin: np.ndarray, n_items: np.ndarray) -> np.ndarray:
    """begin[i], begin[i] + 1, ..., n_items[i] numbers, for one list after the other."""
    return np.repeat(begin - begins(n_items), n_items) + np.arange(n_items.sum())


def take_lists(
    list_offsets: np.ndarray, values: np.ndarray, which: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Some of the lists ``values[list_offsets[i]:list_offsets[i + 1]]``: their own offsets, and their values."""
    n_items = lengths(list_offsets)[which]
    return offsets(n_items), values[flat_indices(list_offsets[which], n_items)]


def batches(lengths: np.ndarray, most: int) -> Iterator[slice]:
    """The lists in runs of at most `most` items together; a longer list is a run of its own."""
    ends = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        before = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, before + most, side="right")), start + 1)
        yield slice(start, stop)
        start = stop
