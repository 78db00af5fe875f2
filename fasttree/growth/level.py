# SPDX-License-Identifier: BSD-3-Clause
"""One level of a growing tree as arrays, and the places its rows and histograms take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fasttree import _core
from fasttree.base.ragged import NONE, begins, filled, lengths
from fasttree.base.sums import segment_sums

KEEP_ROWS = 128  # a smaller node's histogram is not worth keeping for its children
POOL_BYTES = 2**24


class SiblingGroups(NamedTuple):
    """The splits that the nodes of a level come from, and their parents' rows. The root is a sibling group of its
    own."""

    first_child: np.ndarray  # int64, one more than sibling groups
    n_filled: np.ndarray  # int64: the children that training rows reach
    parent_start: np.ndarray  # int64: the parents' rows in the sorted lists
    parent_rows: np.ndarray  # int64
    parent_slot: np.ndarray  # int32: where the parents' histograms are kept, or -1


class NodeStats(NamedTuple):
    """What the rows of each node come to."""

    counts: np.ndarray  # int64 [node, class], in steps of weight
    total: np.ndarray  # int64
    limit_weight: np.ndarray  # int64: the same before the class factors
    loss: np.ndarray  # float64: weight times impurity


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """All the nodes of one depth, grouped in sibling groups: the children of one split, adjacent and in branch order.

    Those that may be split further are the *frontier*; their rows stand one node after another in every sorted
    list. The row list, from which histograms are made, holds the rows of all the nodes.
    """

    sibling_groups: SiblingGroups
    stats: NodeStats
    n_rows: np.ndarray  # int64
    list_start: np.ndarray  # int64: in the sorted lists; means something on the frontier alone
    row_start: np.ndarray  # int64: in the row list
    slot: np.ndarray  # int32: where the node's histogram is kept, or -1
    frontier: np.ndarray  # int64: numbers of the nodes on the frontier
    core: _core.Level
    depth: int = 0
    first_node: int = 0  # the number of the first node in the tree as it is built
    tested: np.ndarray | None = None  # [node, attribute]: tested on the way, if growth must know
    keys: np.ndarray | None = (
        None  # uint64: what draws for the nodes go by, if attributes are drawn
    )
    # The least that a split above saves in all, if only the best are wanted.
    reach: np.ndarray | None = None
    siblings: np.ndarray | None = None  # branches of the parent's split, 0 at the root; likewise
    exact: np.ndarray | None = None  # uint64 [node, class, 2]: the counts in two words; likewise
    is_partitioned_whole: bool = False  # a sibling group is too large to be evaluated in one go
    paused: Any = None  # what the core must have again before this part of a level can be grown

    @property
    def n_nodes(self) -> int:
        return len(self.n_rows)

    @property
    def last_entry(self) -> int:
        """Where the rows of the frontier end in the sorted lists."""
        if not len(self.frontier):
            return 0
        last = self.frontier[-1]
        return int(self.list_start[last] + self.n_rows[last])


def make_level(
    sibling_groups: SiblingGroups,
    stats: NodeStats,
    n_rows: np.ndarray,
    is_open: np.ndarray,
    pool: HistogramPool,
    *,
    depth: int,
    first_node: int,
    tested: np.ndarray | None = None,
    exact: np.ndarray | None = None,
    first_row: int = 0,
    paused: Any = None,
) -> Level:
    """Lay out the children of some sibling groups; `is_open` marks the frontier. Their rows stand from `first_row` on
    in the row list."""
    frontier = is_open.nonzero()[0]
    place = filled(len(n_rows), NONE)
    place[frontier] = np.arange(len(frontier), dtype=np.int32)
    list_start = begins(n_rows * is_open)
    first_child, _, parent_start, parent_rows, parent_slot = sibling_groups
    most = pool.most_children
    is_partitioned_whole = len(n_rows) > most and int(lengths(first_child).max()) > most
    if is_partitioned_whole:  # histograms are handed down within a sibling group
        parent_slot = np.full_like(parent_slot, -1)
    row_start = begins(n_rows) + first_row
    slot = pool.assign(first_child, parent_slot, n_rows, is_open)
    core = _core.Level(
        parent_start,
        parent_start + parent_rows,
        first_child,
        sibling_groups.n_filled,
        parent_slot,
        n_rows,
        list_start,
        row_start,
        place,
        slot,
        *stats,
    )
    return Level(
        sibling_groups, stats, n_rows, list_start, row_start, slot, frontier, core, depth, first_node, tested,
        exact=exact, is_partitioned_whole=is_partitioned_whole, paused=paused,
    )  # fmt: skip


def part_of(level: Level, group0: int, group1: int, pool: HistogramPool, paused: Any) -> Level:
    """Some sibling groups of a level as a level of their own. Their parents' histograms are not kept."""
    all_groups = level.sibling_groups
    first, last = all_groups.first_child[group0], all_groups.first_child[group1]
    sibling_groups, nodes = slice(group0, group1), slice(first, last)
    is_open = np.zeros(level.n_nodes, dtype=bool)
    is_open[level.frontier] = True
    part = make_level(
        SiblingGroups(
            all_groups.first_child[group0 : group1 + 1] - first,
            all_groups.n_filled[sibling_groups],
            all_groups.parent_start[sibling_groups],
            all_groups.parent_rows[sibling_groups],
            np.full(group1 - group0, -1, dtype=np.int32),
        ),
        NodeStats(*(values[nodes] for values in level.stats)),
        level.n_rows[nodes],
        is_open[nodes],
        pool,
        depth=level.depth,
        first_node=level.first_node + int(first),
        tested=None if level.tested is None else level.tested[nodes],
        exact=None if level.exact is None else level.exact[nodes],
        first_row=int(level.row_start[first]),
        paused=paused,
    )
    siblings = None if level.siblings is None else level.siblings[nodes]
    keys = None if level.keys is None else level.keys[nodes]
    return replace(part, siblings=siblings, keys=keys)


class HistogramPool:
    """Which nodes keep their histograms, so that their largest child need not be counted.

    The largest child takes over its parent's slot: what its siblings take away from the parent's histogram leaves
    its own.
    """

    def __init__(self, cells: int, n_rows: int, most_children: int) -> None:
        """`cells` in the histograms of one node, all binned attributes together. Sibling groups of more than
        `most_children` hand nothing down."""
        self.most_children = most_children
        worth_it = cells > 0 and n_rows >= 4 * KEEP_ROWS
        self.capacity = min(POOL_BYTES // (8 * cells), n_rows // KEEP_ROWS) if worth_it else 0

    def assign(
        self,
        first_child: np.ndarray,
        parent_slot: np.ndarray,
        n_rows: np.ndarray,
        is_open: np.ndarray,
    ) -> np.ndarray:
        slot = filled(len(n_rows), NONE)
        if not self.capacity:
            return slot
        has_heirs = bool((parent_slot >= 0).any())
        if not has_heirs and n_rows.max(initial=0) < KEEP_ROWS:
            return slot
        free = np.ones(self.capacity, dtype=bool)
        if has_heirs:
            largest = first_largest(n_rows, first_child)
            siblings = sums_by_group(n_rows, first_child) - n_rows[largest]
            inherits = (parent_slot >= 0) & is_open[largest] & (siblings <= n_rows[largest])
            slot[largest[inherits]] = parent_slot[inherits]
            free[parent_slot[inherits]] = False
        wanting = np.flatnonzero(is_open & (slot < 0) & (n_rows >= KEEP_ROWS))
        numbers = np.flatnonzero(free)[: len(wanting)]
        slot[wanting[: len(numbers)]] = numbers
        return slot


def mark_tested(
    level: Level, nodes: np.ndarray, attribute: np.ndarray, group: np.ndarray
) -> np.ndarray | None:
    """The children of `nodes`, whose parents `group` numbers, know what those knew and the attribute split on."""
    if level.tested is None:
        return None
    tested = level.tested[nodes]
    tested[np.arange(len(nodes)), attribute] = True
    return tested[group]


def sums_by_group(values: np.ndarray, first_child: np.ndarray) -> np.ndarray:
    """Of each sibling group the sum of the children's values."""
    if len(values) == 2 * (len(first_child) - 1):  # all binary
        return np.asarray(values[::2] + values[1::2])
    return segment_sums(values, first_child[:-1])


def first_largest(values: np.ndarray, first_child: np.ndarray, tolerance: int = 0) -> np.ndarray:
    """Of each sibling group the first child with the largest value; what is closer than `tolerance` counts as equal."""
    first = first_child[:-1]
    if len(values) == 2 * len(first):  # all binary
        return np.asarray(first + (values[1::2] > values[::2] + tolerance))
    group = np.repeat(np.arange(len(first)), np.diff(first_child))
    is_largest = np.flatnonzero(values >= np.maximum.reduceat(values, first)[group] - tolerance)
    return is_largest[np.diff(group[is_largest], prepend=-1) > 0]
