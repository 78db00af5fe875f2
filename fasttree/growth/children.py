# SPDX-License-Identifier: BSD-3-Clause
"""What splits lead to: children, tables, and the branches of missing values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasttree._core import ORDERED, THRESHOLD
from fasttree.base.ragged import offsets
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


def branch_layout(
    context: GrowthContext, attribute: np.ndarray, split: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where the children of each split begin, and the entries of its table."""
    shape = context.shape[attribute]
    n_present = split["code"]
    n_children = split["n_branches"] + has_empty_branch(context, attribute, n_present)
    n_entries = np.where(shape == ORDERED, context.n_codes[attribute] - 1, n_present)
    return offsets(n_children), offsets(np.where(shape == THRESHOLD, 0, n_entries))
