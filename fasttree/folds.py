# SPDX-License-Identifier: BSD-3-Clause
"""Draws over rows: folds and held-out parts that do not depend on the order of the rows.

A row is known by a hash of its values, and of its class. Copies, rows of the same values and class, are drawn together
if they may be one case that was written down several times: tested on one and trained on another, a model would be
asked what it has been told. But in a table of few attributes with few values rows are cases of their own that happen to
look alike. Together, they would leave nothing of their kind to train on, so they are drawn one by one: all rows, if of
the values that come more than once one in `SELDOM` or more come with several classes, as no case would that was written
down twice; and rows whose values come `MANY` times. The first of several copies, the second, ... have hashes of their
own; which row is which makes no difference, for there is none between them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree._sums import segment_sums
from fasttree.scalars import plain, shown

DEFAULT_FOLDS = 10
MANY = 10  # so many rows of the same values are no one case written down again and again
SELDOM = 20  # one in so many may be an error
NOT_PRUNED = "the tree is not pruned. Choose another pruning, or pass validation rows"
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


@dataclass(frozen=True, slots=True, eq=False)
class _Draws:
    """What is drawn as a whole: rows, and groups of copies. Rows are meant in the order `by_row`, a group's stand
    together."""

    by_row: np.ndarray
    first: np.ndarray  # the first row of each
    codes: np.ndarray  # its class
    hashes: np.ndarray
    weights: np.ndarray

    def to_rows(self, drawn: np.ndarray) -> np.ndarray:
        """What was drawn for each row, in the order in which the rows were given."""
        found = np.empty(len(self.by_row), dtype=drawn.dtype)
        found[self.by_row] = np.repeat(drawn, np.diff(self.first, append=len(self.by_row)))
        return found


def _draws(hashes: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> _Draws:
    weight = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    by_row = np.lexsort((codes, hashes) if weights is None else (weight, codes, hashes))
    hashes, codes, weight = hashes[by_row], codes[by_row], weight[by_row]
    new_values = np.append(True, hashes[1:] != hashes[:-1])
    new_copies = np.append(True, codes[1:] != codes[:-1]) | new_values
    values, copies = np.cumsum(new_values) - 1, np.cumsum(new_copies) - 1  # of each row, by number
    n_rows, has_classes = np.bincount(values), np.bincount(values[new_copies]) > 1
    n_mixed = np.count_nonzero(has_classes)
    all_one_by_one = n_mixed > 0 and SELDOM * n_mixed >= np.count_nonzero(n_rows > 1)
    one_by_one = all_one_by_one | (n_rows >= MANY)[values]
    is_alone = (np.bincount(copies) == 1)[copies]
    _check_counts(weight, has_classes[values] & is_alone)
    first = np.flatnonzero(new_copies | one_by_one)
    number = first - np.flatnonzero(new_copies)[copies[first]]  # among its copies
    drawn = with_classes(hashes[first], codes[first])
    return _Draws(
        by_row,
        first,
        codes[first],
        np.where(number > 0, with_classes(drawn, number), drawn),
        segment_sums(weight, first),
    )


def _check_counts(weight: np.ndarray, may_count: np.ndarray) -> None:
    """A table of counts, one row for all of a class with equal values, cannot be drawn from: a row is not divided."""
    are_whole = bool((weight == np.floor(weight)).all())
    if are_whole and weight[may_count & (weight >= MANY)].sum() > weight.sum() / 2:
        warnings.warn(
            f"sample_weight seems to hold counts: most of it is in single rows of weight {MANY} or more, with the "
            "same values in several classes. A row is not divided, so whatever rows are held out, training has seen "
            "none like them: repeat each row as often as it counts (numpy.repeat), and pass no sample_weight",
            UserWarning,
            stacklevel=3,
        )


def deal(
    hashes: np.ndarray, codes: np.ndarray, n_parts: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """A part for each row, 0 to n_parts - 1: each part gets its share of every class. `hashes` are those of values.

    What is drawn of a class, the heaviest groups first and then by hash, is dealt out in turn, so the parts of a class
    differ by its heaviest group that stays together at most.
    """
    draws = _draws(hashes, codes, weights)
    in_turn = np.lexsort((draws.hashes, -draws.weights, draws.codes))
    # Dealing goes on where the class before ended, or the first parts would get all that does not come out even.
    part = np.empty(len(in_turn), dtype=np.int64)
    part[in_turn] = np.arange(len(in_turn)) % n_parts
    return draws.to_rows(part)


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
    """A mask of this share of the weight of each class, or a little less. No class is held out altogether. `hashes`
    are those of values."""
    if not 0 < share < 1:
        raise ValueError(f"the share of rows to hold out must be between 0 and 1, got {share!r}")
    draws = _draws(hashes, codes, weights)
    in_turn = np.lexsort((draws.hashes, draws.codes))
    class_in_turn = draws.codes[in_turn]
    # The weight of a class up to each draw: those within the share are held out.
    reached = np.cumsum(draws.weights[in_turn])
    before = np.append(0.0, reached[:-1])
    is_first = np.append(True, class_in_turn[1:] != class_in_turn[:-1])
    start = before[is_first]
    number = np.cumsum(is_first) - 1
    total = np.append(start[1:], reached[-1]) - start
    held = np.empty(len(in_turn), dtype=bool)
    held[in_turn] = reached - start[number] <= share * total[number] * (1 + 1e-12)
    return draws.to_rows(held)


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
