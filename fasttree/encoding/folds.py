# SPDX-License-Identifier: BSD-3-Clause
"""Folds and held-out parts: drawn, so that they do not depend on the order of the rows, or as the user gave them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from fasttree.base.checks import check_fraction, is_whole
from fasttree.base.sums import sums_by_group, total
from fasttree.base.values import short_repr, to_python
from fasttree.encoding.clusters import assign_groups, hold_groups, n_groups_of_classes
from fasttree.encoding.draws import Folds, are_copies, assign_copies, hold_copies
from fasttree.encoding.row_hashes import value_hashes, with_classes
from fasttree.tables.factors import rank_numbers

__all__ = [
    "Folds",
    "assign_stratified",
    "choose_folds",
    "choose_number_folds",
    "drawn_of_classes",
    "given_folds",
    "hold_out",
    "is_number_of_folds",
    "strata_of",
    "value_hashes",
    "with_classes",
]

DEFAULT_FOLDS = 10
STRATA = 10  # of a target of numbers
NOT_PRUNED = "the tree is not pruned. Choose another pruning, or pass validation rows"


def assign_stratified(
    hashes: np.ndarray,
    codes: np.ndarray,
    n_folds: int,
    weights: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> Folds:
    """Folds that have their share of every class each. `hashes` are those of values; `groups`, a number for each row,
    go as a whole, else rows are dealt one by one, and whole weights as so many copies. A row of weight 0 is in none."""
    if groups is None:
        return assign_copies(hashes, codes, n_folds, weights)
    return assign_groups(hashes, codes, groups, n_folds, weights)


def hold_out(
    hashes: np.ndarray,
    codes: np.ndarray,
    share: float,
    weights: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """What of the weight of each row is held out: this share of each class, or a little less (with groups about it).
    No class is held out altogether."""
    check_fraction("the fraction of rows to hold out", share)
    if groups is None:
        return hold_copies(hashes, codes, share, weights)
    return hold_groups(hashes, codes, groups, share, weights)


def choose_folds(
    folds: int | np.integer[Any] | None,
    hashes: np.ndarray,
    codes: np.ndarray,
    classes: np.ndarray,
    weights: np.ndarray | None = None,
    otherwise: str | None = NOT_PRUNED,
    groups: np.ndarray | None = None,
) -> Folds | None:
    """Drawn folds. None: too few rows for cross-validation.

    `folds` is a number that the user gave, or None for the default, which shrinks to the smallest class: to its rows,
    or to the groups that it is in. If that has less than 2, there is a warning of what is done `otherwise`; None: it is
    an error. The rows have weights above 0.
    """
    rows = drawn_of_classes(codes, len(classes), weights, groups)
    present = np.flatnonzero(rows > 0)
    rarest = present[rows[present].argmin()]
    fewest = int(rows[rarest])
    name = short_repr(to_python(classes[rarest]))
    if groups is not None and folds is not None:
        n_groups = len(np.unique(groups))
        if folds > n_groups:
            raise ValueError(
                f"folds={int(folds)} is greater than the number of groups, {n_groups}: use at most that many folds"
            )
    elif folds is not None and folds > fewest:
        raise ValueError(
            f"folds={int(folds)} is greater than the number of rows of the class {name}, {fewest}: "
            f"use at most that many folds, or leave the rows of this class out"
        )
    n_folds = min(DEFAULT_FOLDS, fewest) if folds is None else int(folds)
    if n_folds < 2:
        has = f"has {fewest} row{'' if fewest == 1 else 's'}"
        if groups is not None:
            has = "is in 1 group"
        message = f"the class {name} {has}, too few for cross-validation"
        if otherwise is None:
            raise ValueError(
                f"{message}: pass folds as a fold number for each row, or leave the rows of this class out"
            )
        warnings.warn(f"{message}: {otherwise}", UserWarning, stacklevel=2)
        return None
    return assign_stratified(hashes, codes, n_folds, weights, groups)


def choose_number_folds(
    folds: int | np.integer[Any] | None,
    hashes: np.ndarray,
    strata: np.ndarray,
    weights: np.ndarray | None = None,
    otherwise: str = NOT_PRUNED,
    groups: np.ndarray | None = None,
) -> Folds | None:
    """Drawn folds that have their share of each stratum, see `strata_of`; None: too few rows for cross-validation, of
    which there is a warning that says what is done `otherwise`. `hashes` are those of values and target."""
    kind = "rows" if groups is None else "groups"
    n_drawn = int(drawn_of_classes(np.zeros_like(strata), 1, weights, groups)[0])
    if folds is not None and folds > n_drawn:
        raise ValueError(
            f"folds={int(folds)} is greater than the number of {kind}, {n_drawn}: use at most that many folds"
        )
    n_folds = min(DEFAULT_FOLDS, n_drawn) if folds is None else int(folds)
    if n_folds < 2:
        has = f"{n_drawn} {kind.removesuffix('s')}"
        warnings.warn(
            f"there is only {has}, too few for cross-validation: {otherwise}",
            UserWarning,
            stacklevel=2,
        )
        return None
    return assign_stratified(hashes, strata, n_folds, weights, groups)


def strata_of(y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Which of STRATA parts of about equal weight each row is in, by its target; equal targets are in one."""
    codes, rows = rank_numbers(y)
    if weights is not None:
        weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))
    weight = sums_by_group(codes, np.ones(len(y)), len(rows) + 1, weights)
    middle = np.cumsum(weight) - weight / 2
    stratum = np.floor(middle * (STRATA / total(weight))).astype(np.int64)
    return np.minimum(stratum, STRATA - 1)[codes]


def drawn_of_classes(
    codes: np.ndarray, n_classes: int, weights: np.ndarray | None, groups: np.ndarray | None
) -> np.ndarray:
    """How much of each class there is to draw."""
    if groups is not None:
        return n_groups_of_classes(codes, groups, n_classes)
    copies = weights if weights is not None and are_copies(weights) else None
    return np.bincount(codes, copies, minlength=n_classes)


def is_number_of_folds(folds: Any) -> bool:
    """Is it a number (or None, the default), not the folds themselves?"""
    return folds is None or is_whole(folds)


def given_folds(folds: Any, n_rows: int) -> np.ndarray:
    """The fold of each row, from 0 on, of a fold number for each row, or (train, test) splits; -1: in none."""
    if isinstance(folds, (str, bytes)) or not isinstance(folds, Iterable):
        raise ValueError(
            f"folds must be an integer, a fold number for each row, or (train, test) splits, got {short_repr(folds)}"
        )
    entries = folds if isinstance(folds, np.ndarray) else list(folds)
    if len(entries) and isinstance(entries[0], tuple) and len(entries[0]) == 2:
        return _folds_of_splits(entries, n_rows)
    given = np.asarray(entries)
    if given.shape != (n_rows,):
        raise ValueError(
            f"folds must have one fold number for each of the {n_rows} rows, got an array of shape {given.shape}"
        )
    _, numbers = np.unique(given, return_inverse=True)
    if numbers.max(initial=0) < 1:
        raise ValueError("folds assigns all rows to one fold: use at least 2 folds")
    return numbers.astype(np.int64)


def _folds_of_splits(splits: Any, n_rows: int) -> np.ndarray:
    folds = np.full(n_rows, -1, dtype=np.int64)
    for number, (train, test) in enumerate(splits):
        rows = np.flatnonzero(test) if np.asarray(test).dtype == bool else np.asarray(test)
        kept = np.flatnonzero(train) if np.asarray(train).dtype == bool else np.asarray(train)
        if len(rows) and (rows.min() < 0 or rows.max() >= n_rows):
            raise ValueError(
                f"folds: split {number} tests a row that does not exist: row numbers must be 0 to {n_rows - 1}"
            )
        if (folds[rows] >= 0).any():
            raise ValueError(
                f"folds: split {number} tests a row that an earlier split tests: each row must be tested at most once"
            )
        folds[rows] = number
        if len(np.intersect1d(rows, kept)) or len(rows) + len(np.unique(kept)) != n_rows:
            raise ValueError(
                f"folds: split {number} must train on exactly the rows that it does not test"
            )
    if folds.max(initial=-1) < 1:
        raise ValueError(
            f"folds contains too few (train, test) splits, {len(splits)}: use at least 2"
        )
    return folds
