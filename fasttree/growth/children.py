# SPDX-License-Identifier: BSD-3-Clause
"""What splits lead to: children, tables, and the branches of missing values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasttree._core import ORDERED, THRESHOLD
from fasttree.base.ragged import NONE, filled, lengths, offsets
from fasttree.growth.context import GrowthContext
from fasttree.growth.surrogates import Surrogates
from fasttree.growth.targets import Ranges


@dataclass(frozen=True, slots=True, eq=False)
class Children:
    """What the accepted splits lead to; node arrays are per split, child arrays per child."""

    first_child: np.ndarray
    n_filled: np.ndarray  # per split: the children that training rows reach
    n_rows: np.ndarray
    counts: np.ndarray
    table_start: np.ndarray
    table_codes: np.ndarray
    table_branch: np.ndarray
    neighbours: np.ndarray  # what lies on both sides of a threshold
    # Where rows with a missing value went, -1: there were none.
    missing_branch: np.ndarray
    ranges: Ranges | None = None  # of numeric targets
    known_counts: np.ndarray | None = None  # counts of the rows with a known value, if not all
    exact: np.ndarray | None = (
        None  # [child, class, 2]: the counts in two words, where rows are distributed fractionally
    )
    surrogates: Surrogates | None = None
    lacking: np.ndarray | None = (
        None  # per split, with surrogates: are there rows with a missing value?
    )
    # Only for growth by length, per split: by threshold, how many cuts there were, and how many below it; its branches.
    cuts: np.ndarray | None = None
    n_branches: np.ndarray | None = None


def has_empty_branch(
    context: GrowthContext, attribute: np.ndarray, n_present: np.ndarray
) -> np.ndarray:
    """Which splits have a branch for values without training rows at the node?"""
    by_value = context.is_multiway[attribute] | context.is_grouped[attribute]
    return np.asarray(by_value & (n_present < context.n_codes[attribute] - 1))


def uncounted_children(
    context: GrowthContext, attribute: np.ndarray, split: np.ndarray
) -> Children:
    """The children of splits and their tables, before anything is known of their rows."""
    if context.is_all_numeric:
        first_child = np.arange(0, 2 * len(attribute) + 1, 2)
        table_start = np.zeros(len(attribute) + 1, dtype=np.int64)
        n_filled = lengths(first_child)
    else:
        shape, n_present = context.shape[attribute], split["code"]
        empty = has_empty_branch(context, attribute, n_present)
        first_child = offsets(split["n_branches"] + empty)
        n_entries = np.where(shape == ORDERED, context.n_codes[attribute] - 1, n_present)
        table_start = offsets(np.where(shape == THRESHOLD, 0, n_entries))
        n_filled = lengths(first_child) - empty
    n_children = int(first_child[-1])
    n_branches = None
    if context.length_chooser is not None:
        n_branches = context.length_chooser.n_branches(attribute, split)
    return Children(
        first_child=first_child,
        n_filled=n_filled,
        n_rows=np.zeros(n_children, dtype=np.int64),
        counts=np.zeros((n_children, context.n_stats), dtype=np.int64),
        table_start=table_start,
        table_codes=np.empty(table_start[-1], dtype=np.uint32),
        table_branch=np.empty(table_start[-1], dtype=np.uint32),
        neighbours=np.zeros((len(attribute), 2), dtype=np.int64),
        missing_branch=filled(len(attribute), NONE),
        n_branches=n_branches,
    )
