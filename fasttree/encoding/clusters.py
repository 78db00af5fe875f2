# SPDX-License-Identifier: BSD-3-Clause
"""Groups of rows (the visits of a patient, the patients of a hospital) that go as a whole into one fold, or are held
out together.

A group is known by what its rows hold, so its name is nothing, and neither is the order of the rows.
"""

from __future__ import annotations

import numpy as np

from fasttree.base.sums import segment_sums, sums
from fasttree.encoding.draws import Folds, are_copies
from fasttree.encoding.row_hashes import with_classes


def assign_groups(
    hashes: np.ndarray,
    codes: np.ndarray,
    groups: np.ndarray,
    n_folds: int,
    weights: np.ndarray | None = None,
) -> Folds:
    """Each fold gets its share of every class, as nearly as whole groups allow. `groups`: a number for each row.

    The largest first, each group goes to the fold that has least of what it brings: where the sum over classes of the
    product of the group's share and the fold's share is smallest; of equal ones to the fold that weighs least, then to
    the first. Groups of equal numbers of rows of each class are drawn among each other by hash.
    """
    of_class, keys = _profiles(hashes, codes, groups, weights)
    size = sums(of_class)
    shares = of_class / np.maximum(sums(of_class, axis=0), np.finfo(float).tiny)
    in_turn = np.lexsort((keys, *of_class.T, -size))
    in_turn = in_turn[size[in_turn] > 0]
    profile = of_class[in_turn]
    begins = np.flatnonzero(np.append(True, (profile[1:] != profile[:-1]).any(axis=1)))
    filled, loads = np.zeros((n_folds, of_class.shape[1])), np.zeros(n_folds)
    fold_of_group = np.full(len(size), -1, dtype=np.int64)
    for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(in_turn)], strict=True):
        alike = in_turn[begin:end]
        share, load = shares[alike[0]], size[alike[0]]
        n_rounds, n_left = divmod(len(alike), n_folds)  # whole rounds change nothing between folds
        fold_of_group[alike] = np.arange(len(alike)) % n_folds
        filled += n_rounds * share
        loads += n_rounds * load
        brings = np.flatnonzero(share)
        for group in alike[len(alike) - n_left :].tolist():
            overlap = np.zeros(n_folds)
            for c in brings.tolist():  # one by one: the same digits on every processor
                overlap += filled[:, c] * share[c]
            fold = int(np.lexsort((loads, overlap))[0])
            fold_of_group[group] = fold
            filled[fold] += share
            loads[fold] += load
    return Folds.whole(fold_of_group[groups], weights)


def hold_groups(
    hashes: np.ndarray,
    codes: np.ndarray,
    groups: np.ndarray,
    share: float,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """The weight of each row that is held out: about this share of each class, in whole groups.

    In the order of their hashes, each group is taken, or put back, that so brings the shares nearer to the one that is
    asked for (by the sum of squares), until none does. Some of each class is left to train on.
    """
    of_class, keys = _profiles(hashes, codes, groups, weights)
    of_all = sums(of_class, axis=0)
    shares = of_class / np.maximum(of_all, np.finfo(float).tiny)
    held = [0.0] * len(of_all)
    is_held = [False] * len(keys)
    in_turn = np.argsort(keys, kind="stable")
    own_of = list(zip(in_turn.tolist(), shares[in_turn].tolist(), strict=True))
    moved = True
    while moved:
        moved = False
        for group, own in own_of:
            way = -1 if is_held[group] else 1
            brings = [c for c, part in enumerate(own) if part]
            change = 0.0
            for c in brings:
                change += own[c] * (2 * way * (held[c] - share) + own[c])
            fits = is_held[group] or all(held[c] + own[c] < 1 - 1e-9 for c in brings)
            if change < -1e-12 and fits:
                is_held[group] = not is_held[group]
                moved = True
                for c in brings:
                    held[c] += way * own[c]
    weight = np.ones(len(codes)) if weights is None else weights
    return np.where(np.array(is_held)[groups], weight, 0.0)


def n_groups_of_classes(codes: np.ndarray, groups: np.ndarray, n_classes: int) -> np.ndarray:
    """In how many groups each class is."""
    pairs = np.unique(groups * np.int64(n_classes) + codes)
    return np.bincount(pairs % n_classes, minlength=n_classes)


def _profiles(
    hashes: np.ndarray, codes: np.ndarray, groups: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The weight of each class in each group [group, class], and a hash of what the group holds."""
    shape = int(groups.max()) + 1, int(codes.max()) + 1
    cell = groups * np.int64(shape[1]) + codes
    in_order = np.argsort(cell, kind="stable")
    begins = np.flatnonzero(np.diff(cell[in_order], prepend=-1))
    weight = np.ones(len(codes)) if weights is None else weights
    of_class = np.zeros(shape[0] * shape[1])
    of_class[cell[in_order][begins]] = segment_sums(weight[in_order], begins)
    keys = with_classes(hashes, codes)
    # A sum has no order; a row of weight w adds as much as w rows.
    keys = keys * weight.astype(np.uint64) if are_copies(weight) else with_classes(keys, weight)
    of_group = np.zeros(shape[0], dtype=np.uint64)
    np.add.at(of_group, groups, keys)
    return of_class.reshape(shape), of_group
