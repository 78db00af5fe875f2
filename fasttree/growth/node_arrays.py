# SPDX-License-Identifier: BSD-3-Clause
"""Arrays with an entry a node, from what was written down while the tree grew."""

from __future__ import annotations

import numpy as np

from fasttree.base.ragged import begins, filled, flat_indices


def numbered(values: np.ndarray, number: np.ndarray | None) -> np.ndarray:
    """What was written down of each node in the order of the nodes; `number`: of the nodes as they were made."""
    if number is None:
        return values
    ordered = np.empty_like(values)
    ordered[number] = values
    return ordered


def changed(
    n: int,
    value: np.generic,
    changes: list[tuple[np.ndarray, np.ndarray]],
    number: np.ndarray | None,
) -> np.ndarray:
    """One value for all, but for some."""
    found = filled(n, value)
    for nodes, values in changes:
        found[nodes if number is None else number[nodes]] = values
    return found


def depths(n_children: np.ndarray) -> np.ndarray:
    """The level of each node, in breadth-first order."""
    n_below = n_children.cumsum()
    lengths, stop = [1], 1
    while stop < len(n_children):
        after = 1 + int(n_below[stop - 1])  # the children of all the nodes so far
        lengths.append(after - stop)
        stop = after
    return np.arange(len(lengths), dtype=np.int32).repeat(lengths)


def breadth_first_numbers(n: int, node: np.ndarray, n_children: np.ndarray) -> np.ndarray:
    """The numbers of all the nodes level by level, from left to right. Of each `node` that was split there come the
    children, one node after another in the order of `node`."""
    n_children_of = np.zeros(n, dtype=np.int32)
    n_children_of[node] = n_children
    first_child = np.full(n, -1, dtype=np.int32)
    first_child[node] = begins(n_children) + 1
    number = np.empty(n, dtype=np.int32)
    level, before = np.zeros(1, dtype=np.int32), 0
    while len(level):
        number[level] = np.arange(before, before + len(level), dtype=np.int32)
        before += len(level)
        level = level[n_children_of[level] > 0]
        level = flat_indices(first_child[level], n_children_of[level]).astype(np.int32)
    return number
