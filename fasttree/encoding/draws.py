# SPDX-License-Identifier: BSD-3-Clause
"""Rows dealt to folds, or held out, one by one.

A row is known by a hash of its values and its class. Rows that are equal in both are numbered, in any order, for there
is no difference between them, and the hash of the first, the second, ... copy says where it goes. A row whose weight is
a whole number w is w copies, which are dealt one by one like rows: its weight may be divided over several folds. If
some weight is not a whole number, every row goes as a whole.

Copies are not dealt in turn, as every fold would have the same share of each kind of rows: where classes differ by
chance alone, a model would be right about the held-out rows as it is about its own. Only of what comes very many times
(`MOST_OF_A_KIND`), the rest is shared out evenly, without drawing: chance would move it by a fraction of a percent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasttree.base.sums import segment_sums, total
from fasttree.encoding.row_hashes import with_classes

NOWHERE, DIVIDED = -1, -2  # for the fold of a row: it is in none, or divided over several
MOST_DRAWS = 2**22
# Copies of a kind that are drawn one by one: the first of these numbers that keeps all the draws below MOST_DRAWS.
MOST_OF_A_KIND = tuple(2**k for k in range(16, 3, -1))
MOST_COPIES = 2.0**52  # weights are scaled, and so no numbers of copies, if they come to more


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """Which weight of which row is in which fold: a list of pieces. A row without a piece is in no fold."""

    n_rows: int
    n_folds: int
    row: np.ndarray
    fold: np.ndarray
    weight: np.ndarray

    @classmethod
    def whole(cls, fold_of_row: np.ndarray, weights: np.ndarray | None = None) -> Folds:
        """Each row is in one fold with all its weight; in none if it has the number NOWHERE, or no weight."""
        is_in = fold_of_row >= 0
        if weights is not None:
            is_in = is_in & (weights > 0)
        row = np.flatnonzero(is_in)
        weight = np.ones(len(row)) if weights is None else weights[row].astype(np.float64)
        n_folds = int(fold_of_row.max(initial=-1)) + 1
        return cls(len(fold_of_row), n_folds, row, fold_of_row[row], weight)

    def at(self, rows: np.ndarray, n_rows: int) -> Folds:
        """These folds for a larger table, in which the rows have these numbers; its other rows are in no fold."""
        return Folds(n_rows, self.n_folds, rows[self.row], self.fold, self.weight)

    def weights(self, fold: int) -> np.ndarray:
        """What each row weighs in a fold."""
        is_in = self.fold == fold
        return np.bincount(self.row[is_in], self.weight[is_in], minlength=self.n_rows)

    def filled(self) -> list[int]:
        """The folds that hold any rows."""
        return np.flatnonzero(np.bincount(self.fold, minlength=self.n_folds)).tolist()

    def of_rows(self) -> np.ndarray:
        """The fold of each row, NOWHERE or DIVIDED."""
        found = np.full(self.n_rows, NOWHERE, dtype=np.int64)
        found[self.row] = self.fold
        found[self.row[found[self.row] != self.fold]] = DIVIDED
        return found


def are_copies(weights: np.ndarray) -> bool:
    """Are weights numbers of copies?"""
    return bool((weights == np.floor(weights)).all()) and total(weights) < MOST_COPIES


@dataclass(frozen=True, slots=True, eq=False)
class _Copies:
    """What is drawn one by one, and what is shared out evenly because there is so much of it."""

    n_rows: int
    row: np.ndarray  # of each draw ...
    code: np.ndarray
    key: np.ndarray
    weight: np.ndarray
    even_row: np.ndarray  # of each row with copies that are not drawn ...
    even_kind: np.ndarray
    first: np.ndarray  # these are numbered among those of their kind, from here ...
    last: np.ndarray  # ... to here, the last excluded
    n_even: np.ndarray  # how many of each kind there are
    kind_code: np.ndarray


def _copies(
    hashes: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, step: int
) -> _Copies:
    """`step`: what is shared out evenly is a multiple of this."""
    rows = np.arange(len(codes)) if weights is None else np.flatnonzero(weights)
    weight = np.ones(len(rows)) if weights is None else weights[rows].astype(np.float64)
    by = (codes[rows], hashes[rows])
    in_order = np.lexsort(by if weights is None else (weight, *by))
    rows, weight = rows[in_order], weight[in_order]
    hashes, codes = hashes[rows], codes[rows]
    is_first = np.append(True, (hashes[1:] != hashes[:-1]) | (codes[1:] != codes[:-1]))
    begin = np.flatnonzero(is_first)  # of each kind of rows
    kind = np.cumsum(is_first) - 1
    each = np.ones(len(rows), dtype=np.int64)  # copies of each row
    whole = are_copies(weight)
    if whole:
        each = weight.astype(np.int64)
    number = np.cumsum(each) - each  # of the first copy of each row ...
    number -= number[begin][kind]  # ... within its kind
    n_of_kind = np.add.reduceat(each, begin)
    n_drawn = _n_drawn(n_of_kind, step)
    drawn = np.clip(n_drawn[kind] - number, 0, each)
    index = np.repeat(np.arange(len(rows)), drawn)
    copy = np.arange(len(index)) - np.repeat(np.cumsum(n_drawn) - n_drawn, n_drawn)
    key = with_classes(hashes[begin], codes[begin])[kind[index]]
    key = np.where(copy > 0, with_classes(key, copy), key)
    even = np.flatnonzero(each > drawn)
    before = number[even] + drawn[even] - n_drawn[kind[even]]
    return _Copies(
        len(rows) if weights is None else len(weights),
        rows[index],
        codes[index],
        key,
        np.ones(len(index)) if whole else weight[index],
        rows[even],
        kind[even],
        before,
        before + each[even] - drawn[even],
        n_of_kind - n_drawn,
        codes[begin],
    )


def _n_drawn(n_of_kind: np.ndarray, step: int) -> np.ndarray:
    """How many copies of each kind are drawn one by one."""
    for most in MOST_OF_A_KIND:
        n_drawn = n_of_kind - np.maximum(0, (n_of_kind - most) // step) * step
        if n_drawn.sum() <= MOST_DRAWS:
            break
    return np.asarray(n_drawn)


def assign_copies(
    hashes: np.ndarray, codes: np.ndarray, n_folds: int, weights: np.ndarray | None = None
) -> Folds:
    """Each fold gets its share of every class. `hashes` are those of values."""
    copies = _copies(hashes, codes, weights, n_folds)
    # Rows of unequal weights: the heaviest first, so that what comes last makes up for little.
    in_turn = np.lexsort((copies.key, -copies.weight, copies.code))
    # Dealing goes on where the class before ended, or the first folds would get all that does not come out even.
    fold = np.empty(len(in_turn), dtype=np.int64)
    fold[in_turn] = np.arange(len(in_turn)) % n_folds
    row, weight = copies.row, copies.weight
    if len(copies.even_row):
        even = _in_turn(copies, n_folds)
        row, fold, weight = (
            np.concatenate(two) for two in zip((row, fold, weight), even, strict=True)
        )
    return Folds(copies.n_rows, n_folds, row, fold, weight)


def _in_turn(copies: _Copies, n_folds: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, folds and weights of the copies that are shared out evenly."""
    n = copies.last - copies.first
    alone, several = np.flatnonzero(n == 1), np.flatnonzero(n > 1)
    folds = np.arange(n_folds)

    def up_to(number: np.ndarray) -> np.ndarray:
        """How many of the first copies each fold has."""
        return (number[:, np.newaxis] - folds + n_folds - 1) // n_folds

    weight = up_to(copies.last[several]) - up_to(copies.first[several])
    index, fold = np.nonzero(weight)
    return (
        np.append(copies.even_row[alone], copies.even_row[several][index]),
        np.append(copies.first[alone] % n_folds, fold),
        np.append(np.ones(len(alone)), weight[index, fold].astype(np.float64)),
    )


def hold_copies(
    hashes: np.ndarray, codes: np.ndarray, share: float, weights: np.ndarray | None = None
) -> np.ndarray:
    """The weight of each row that is held out: this share of each class, or a little less. `hashes` are those of
    values."""
    copies = _copies(hashes, codes, weights, 1)
    allowed = share * (1 + 1e-12)
    of_kind = np.floor(allowed * copies.n_even)  # the first so many
    even = np.bincount(copies.kind_code, copies.n_even)
    held_even = np.bincount(copies.kind_code, of_kind, minlength=len(even))
    in_turn = np.lexsort((copies.key, copies.code))
    code = copies.code[in_turn]
    begin = np.flatnonzero(np.append(True, code[1:] != code[:-1]))
    reached = np.cumsum(copies.weight[in_turn])
    n_before = np.diff(begin, append=len(code))
    before = np.repeat(np.append(0.0, reached[:-1])[begin], n_before)
    of_class = segment_sums(copies.weight[in_turn], begin) + even[code[begin]]
    is_held = reached - before + held_even[code] <= allowed * np.repeat(of_class, n_before)
    drawn = in_turn[is_held]
    held = np.bincount(copies.row[drawn], copies.weight[drawn], minlength=copies.n_rows)
    most = of_kind[copies.even_kind]
    surplus = np.minimum(copies.last, most) - np.minimum(copies.first, most)
    return held + np.bincount(copies.even_row, surplus, minlength=copies.n_rows)
