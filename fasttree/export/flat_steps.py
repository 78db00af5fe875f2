# SPDX-License-Identifier: BSD-3-Clause
"""The tests of a tree as a flat list of steps: each says where a row goes next, and an end leads to itself.

Surrogates become steps of their own, so that a machine which runs the steps needs no rule but this one:

- the value is missing: ``missing``;
- else, the step has a table: the target beside the value's code, or ``other`` if the code is not there;
- else: ``low`` if value <= threshold, ``high`` if not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasttree.trees.structure import TreeStructure
from fasttree.trees.view import ALL_BRANCHES, Exportable


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Step i is node i of the tree; those from ``node_count`` on are surrogates."""

    attribute: np.ndarray  # int32; 0 at ends
    threshold: np.ndarray  # float64; finite or -inf, 0 where it says nothing
    low: np.ndarray  # int32 steps, as are the next three
    high: np.ndarray
    missing: np.ndarray  # the step itself: the row ends there, or is shared out over the children
    other: np.ndarray
    unknown: np.ndarray  # where a level leads that ends the way of a row
    table_start: np.ndarray  # int64, one more than steps
    table_codes: np.ndarray  # uint32, ascending in each table
    table_to: np.ndarray  # int32 steps
    longest: int  # steps that a row takes at most

    def __len__(self) -> int:
        return len(self.attribute)

    @property
    def has_table(self) -> np.ndarray:
        return np.diff(self.table_start) > 0


def steps_of(tree: TreeStructure) -> Steps:
    """The steps of a tree."""
    n_nodes, n_stand_ins = tree.node_count, len(tree.surrogate_attribute)
    itself = np.arange(n_nodes, dtype=np.int32)
    is_leaf = tree.is_leaf()
    of_node = np.repeat(itself, np.diff(tree.surrogate_start))
    stand_in = n_nodes + np.arange(n_stand_ins, dtype=np.int32)

    default = np.where(tree.missing_branch < 0, itself, tree.first_child + tree.missing_branch)
    first = np.append(tree.surrogate_start, 0)[:n_nodes].astype(np.int64)
    has_stand_in = np.diff(tree.surrogate_start) > 0
    missing = np.where(has_stand_in, n_nodes + first, default)
    is_last = np.append(of_node[1:] != of_node[:-1], True)[:n_stand_ins]
    then = np.where(is_last, default[of_node], stand_in + 1)  # where a stand-in says nothing

    low = np.where(is_leaf, itself, tree.first_child)
    child = tree.first_child[of_node]
    steps_low = np.append(low, child + tree.surrogate_low)
    steps_high = np.append(np.where(is_leaf, itself, low + 1), child + 1 - tree.surrogate_low)
    threshold = np.nan_to_num(
        np.append(tree.threshold, tree.surrogate_threshold), posinf=np.inf, neginf=-np.inf
    )
    no_high = threshold == np.inf  # every known value is below
    child_of_code = np.repeat(child, np.diff(tree.surrogate_table_start))
    table_to = np.append(
        tree.first_child[tree.table_node] + tree.table_branch.astype(np.int32),
        child_of_code + tree.surrogate_table_branch.astype(np.int32),
    )
    other = np.where(tree.default_branch < 0, itself, tree.first_child + tree.default_branch)
    return Steps(
        attribute=np.append(np.where(is_leaf, 0, tree.attribute), tree.surrogate_attribute).astype(
            np.int32
        ),
        threshold=np.where(no_high, 0.0, threshold),
        low=steps_low.astype(np.int32),
        high=np.where(no_high, steps_low, steps_high).astype(np.int32),
        missing=np.append(missing, then).astype(np.int32),
        other=np.append(other, then).astype(np.int32),
        unknown=np.append(itself, then).astype(np.int32),
        table_start=np.append(
            tree.table_start, tree.table_start[-1] + tree.surrogate_table_start[1:]
        ).astype(np.int64),
        table_codes=np.append(tree.table_codes, tree.surrogate_table_codes).astype(np.uint32),
        table_to=table_to.astype(np.int32),
        longest=int(tree.path_sums(np.where(is_leaf, 0, 1 + np.diff(tree.surrogate_start))).max()),
    )


def shares_rows_at(tree: TreeStructure) -> np.ndarray:
    """As a mask over nodes: does a row that lacks the value go down every branch?"""
    return ~tree.is_leaf() & (tree.missing_branch == ALL_BRANCHES)


def parts_of(model: Exportable) -> np.ndarray:
    """The share that each node gets of a row that its parent shares out; 0 elsewhere."""
    tree, part = model.tree, np.zeros(model.node_count)
    for node in np.flatnonzero(shares_rows_at(tree)).tolist():
        first = int(tree.first_child[node])
        part[first : first + int(tree.n_children[node])] = model.parts(node)
    return part


def distinct_rows(values: np.ndarray, used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that differ among the `used` ones, and the place of each row among them; 0 for the others."""
    rows = np.ascontiguousarray(values[used])
    as_bytes = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, place = np.unique(as_bytes, return_index=True, return_inverse=True)
    row_of = np.zeros(len(values), dtype=np.int64)
    row_of[used] = place
    return rows[first], row_of
