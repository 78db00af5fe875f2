# SPDX-License-Identifier: BSD-3-Clause
"""Draws over rows: folds and held-out parts that do not depend on the order of the rows.

A row is known by a hash of its values and its class, so copies of a row are always drawn together.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from fasttree.labels import plain, shown

DEFAULT_FOLDS = 10
NOT_PRUNED = "the tree is not pruned. Choose another pruning, or pass validation rows"
_BLOCK = 16_384  # rows whose hashes stay in the cache
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def row_hashes(columns: Iterable[np.ndarray], codes: np.ndarray, seed: int = 0) -> np.ndarray:
    """A 64-bit hash of each row's values and class.

    `columns` hold numbers or codes, one array an attribute. Numbers that are equal hash alike, and so do all NaNs.
    """
    hashes = np.full(len(codes), np.uint64(int(seed) % 2**64))
    for column in (*columns, codes):
        for start in range(0, len(codes), _BLOCK):
            block = hashes[start : start + _BLOCK]
            block ^= _bits(column[start : start + _BLOCK])
            _mix(block)
    return hashes


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


def deal(
    hashes: np.ndarray, codes: np.ndarray, n_parts: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """A part for each row, 0 to n_parts - 1: each part gets its share of every class, copies stay together.

    The groups of equal rows of a class, the heaviest first and then by hash, are dealt out in turn, so the parts of a
    class differ by its heaviest group at most.
    """
    weight = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    by_row = np.lexsort((hashes, codes))
    begins = np.ones(len(codes), dtype=bool)
    ordered_codes, ordered_hashes = codes[by_row], hashes[by_row]
    begins[1:] = (ordered_codes[1:] != ordered_codes[:-1]) | (
        ordered_hashes[1:] != ordered_hashes[:-1]
    )
    first = np.flatnonzero(begins)
    group_weight = np.add.reduceat(weight[by_row], first)
    by_group = np.lexsort((ordered_hashes[first], -group_weight, ordered_codes[first]))
    # Dealing goes on where the class before ended, or the first parts would get all that does not come out even.
    part_of_group = np.empty(len(first), dtype=np.int64)
    part_of_group[by_group] = np.arange(len(first)) % n_parts
    parts = np.empty(len(codes), dtype=np.int64)
    parts[by_row] = part_of_group[np.cumsum(begins) - 1]
    return parts


def choose_folds(
    folds: int | np.integer[Any] | None,
    hashes: np.ndarray,
    codes: np.ndarray,
    classes: np.ndarray,
    weights: np.ndarray | None = None,
    otherwise: str | None = NOT_PRUNED,
) -> np.ndarray | None:
    """The fold of each row, from 0 on. None: too few rows for cross-validation.

    `folds` is a number that the user gave, or None for the default, which shrinks to the smallest class. If that has
    less than 2 rows, there is a warning of what is done `otherwise`; None: it is an error.
    """
    rows = np.bincount(codes, weights=weights, minlength=len(classes))
    present = np.flatnonzero(rows > 0)
    rarest = present[rows[present].argmin()]
    fewest = int(rows[rarest] + 1e-9)
    if folds is not None and folds > fewest:
        raise ValueError(
            f"folds={int(folds)} is more than the class {shown(plain(classes[rarest]))} has rows, {fewest}: "
            f"use at most that many folds, or leave the rows of this class out"
        )
    n_folds = min(DEFAULT_FOLDS if folds is None else int(folds), fewest)
    if n_folds < 2:
        message = (
            f"the class {shown(plain(classes[rarest]))} has {fewest} row{'' if fewest == 1 else 's'}, too few for "
            "cross-validation"
        )
        if otherwise is None:
            raise ValueError(
                f"{message}: pass folds of your own, or leave the rows of this class out"
            )
        warnings.warn(f"{message}: {otherwise}", UserWarning, stacklevel=2)
        return None
    return deal(hashes, codes, n_folds, weights)


def hold_out(
    hashes: np.ndarray, codes: np.ndarray, share: float, weights: np.ndarray | None = None
) -> np.ndarray:
    """A mask of this share of the weight of each class, or a little less: copies of a row stay together. No class is
    held out altogether."""
    if not 0 < share < 1:
        raise ValueError(f"the share of rows to hold out must be between 0 and 1, got {share!r}")
    weight = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    by_row = np.lexsort((weight, hashes, codes))
    ordered = np.stack([codes[by_row].astype(np.uint64), hashes[by_row]])
    begins = np.append(True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0))
    group = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)
    class_of_group = codes[by_row][first]
    # The weight of the groups of a class up to each: those within the share are held out.
    reached = np.cumsum(np.add.reduceat(weight[by_row], first))
    before = np.append(0.0, reached[:-1])
    is_first = np.append(True, class_of_group[1:] != class_of_group[:-1])
    start = before[is_first]
    number = np.cumsum(is_first) - 1
    total = np.append(start[1:], reached[-1]) - start
    is_held = reached - start[number] <= share * total[number] * (1 + 1e-12)
    held = np.empty(len(codes), dtype=bool)
    held[by_row] = is_held[group]
    return held


def is_number_of_folds(folds: Any) -> bool:
    """Is it a number (or None, the default), not the folds themselves?"""
    return folds is None or (isinstance(folds, (int, np.integer)) and not isinstance(folds, bool))


def given_folds(folds: Any, n_rows: int) -> np.ndarray:
    """The fold of each row, from 0 on, of a fold number for each row, or (train, test) splits; -1: in none."""
    if isinstance(folds, (str, bytes)) or not isinstance(folds, Iterable):
        raise ValueError(
            f"folds must be an integer, a fold number for each row, or (train, test) splits, got {shown(folds)}"
        )
    entries = folds if isinstance(folds, np.ndarray) else list(folds)
    if len(entries) and isinstance(entries[0], tuple) and len(entries[0]) == 2:
        return _folds_of_splits(entries, n_rows)
    given = np.asarray(entries)
    if given.shape != (n_rows,):
        raise ValueError(
            f"folds must have a fold number for each of the {n_rows} rows, got the shape {given.shape}"
        )
    _, numbers = np.unique(given, return_inverse=True)
    if numbers.max(initial=0) < 1:
        raise ValueError("folds puts all rows into one fold: use at least 2")
    return numbers.astype(np.int64)


def _folds_of_splits(splits: Any, n_rows: int) -> np.ndarray:
    folds = np.full(n_rows, -1, dtype=np.int64)
    for number, (train, test) in enumerate(splits):
        rows = np.flatnonzero(test) if np.asarray(test).dtype == bool else np.asarray(test)
        kept = np.flatnonzero(train) if np.asarray(train).dtype == bool else np.asarray(train)
        if len(rows) and (rows.min() < 0 or rows.max() >= n_rows):
            raise ValueError(f"folds: split {number} tests a row that is not among the {n_rows}")
        if (folds[rows] >= 0).any():
            raise ValueError(f"folds: split {number} tests a row again: test each row once")
        folds[rows] = number
        if len(np.intersect1d(rows, kept)) or len(rows) + len(np.unique(kept)) != n_rows:
            raise ValueError(
                f"folds: split {number} must train on all the rows that it does not test, and on no others"
            )
    if folds.max(initial=-1) < 1:
        raise ValueError(f"folds has {len(splits)} split: use at least 2")
    return folds
