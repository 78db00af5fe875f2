# SPDX-License-Identifier: BSD-3-Clause
"""Arrays with an entry a node, from what was written down while the tree grew."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fasttree._memory import give_back
from fasttree.segments import places, starts
from fasttree.tree import constant


def joined(parts: list[np.ndarray]) -> np.ndarray:
    """The parts as one array; they are given up."""
    whole = np.concatenate(parts)
    parts.clear()
    give_back(whole.nbytes)
    return whole


def in_portions(parts: list[np.ndarray], most: int) -> Iterator[np.ndarray]:
    """The rows of all the parts in their order, at most so many at a time; the parts are given up."""
    parts.reverse()
    while parts:
        taken = [parts.pop()]
        n = len(taken[0])
        while parts and n + len(parts[-1]) <= most:
            taken.append(parts.pop())
            n += len(taken[-1])
        whole = np.concatenate(taken)
        for start in range(0, n, most):
            yield whole[start : start + most]


def without_rows(counts: list[np.ndarray]) -> np.ndarray:
    """The nodes that no rows reach, of parts of class counts."""
    lengths = np.array([len(part) for part in counts])
    found = [
        first + np.flatnonzero(~part.any(axis=1))
        for first, part in zip(starts(lengths), counts, strict=True)
    ]
    return np.concatenate(found)


def changed(
    n: int,
    value: np.generic,
    changes: list[tuple[np.ndarray, np.ndarray]],
    number: np.ndarray | None,
) -> np.ndarray:
    """One value for all, but for some."""
    found = constant(value, n)
    if changes:
        found = found.copy()
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
    families = np.zeros(n, dtype=np.int32)
    families[node] = n_children
    first_child = np.full(n, -1, dtype=np.int32)
    first_child[node] = starts(n_children) + 1
    number = np.empty(n, dtype=np.int32)
    level, before = np.zeros(1, dtype=np.int32), 0
    while len(level):
        number[level] = np.arange(before, before + len(level), dtype=np.int32)
        before += len(level)
        level = level[families[level] > 0]
        level = places(first_child[level], families[level]).astype(np.int32)
    return number
