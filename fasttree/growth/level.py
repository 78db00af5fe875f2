# SPDX-License-Identifier: BSD-3-Clause
"""One level of a growing tree as arrays, and the places its rows and histograms take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fasttree import _core
from fasttree.base.ragged import NONE, filled, sizes, starts
from fasttree.base.sums import segment_sums

KEEP_ROWS = 128  # a smaller node's histogram is not worth keeping for its children
POOL_BYTES = 2**24


class Families(NamedTuple):
    """The splits that the nodes of a level come from, and their parents' rows. The root is a family of its own."""

    first_child: np.ndarray  # int64, one more than families
    n_filled: np.ndarray  # int64: the children that training rows reach
    parent_start: np.ndarray  # int64: the parents' rows in the sorted lists
    parent_rows: np.ndarray  # int64
    parent_slot: np.ndarray  # int32: where the parents' histograms are kept, or -1


class Sums(NamedTuple):
    """What the rows of each node come to."""

    counts: np.ndarray  # int64 [node, class], in steps of weight
    total: np.ndarray  # int64
    size: np.ndarray  # int64: the same before the class factors
    cost: np.ndarray  # float64: weight times impurity


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """All the nodes of one depth, grouped in families: the children of one split, adjacent and in branch order.

    Those that may be split further are the *frontier*; their rows stand one node after another in every sorted
    list. The row list, from which histograms are made, holds the rows of all the nodes.
    """

    families: Families
    sums: Sums
    n_rows: np.ndarray  # int64
    list_start: np.ndarray  # int64: in the sorted lists; means something on the frontier alone
    row_start: np.ndarray  # int64: in the row list
    slot: np.ndarray  # int32: where the node's histogram is kept, or -1
    frontier: np.ndarray  # int64: numbers of the nodes on the frontier
    core: _core.Level
    depth: int = 0
    first_node: int = 0  # the number of the first node in the tree as it is built
    measured: np.ndarray | None = None  # [node, attribute]: asked on the way, if growth must know
    siblings: np.ndarray | None = None  # branches of the parent's split, 0 at the root; likewise
    is_moved_whole: bool = False  # a family is too large to be evaluated in one go
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
    families: Families,
    sums: Sums,
    n_rows: np.ndarray,
    is_open: np.ndarray,
    slots: Slots,
    *,
    depth: int,
    first_node: int,
    measured: np.ndarray | None = None,
    first_row: int = 0,
    paused: Any = None,
) -> Level:
    """Lay out the children of some families; `is_open` marks the frontier. Their rows stand from `first_row` on in the
    row list."""
    frontier = is_open.nonzero()[0]
    place = filled(len(n_rows), NONE)
    place[frontier] = np.arange(len(frontier), dtype=np.int32)
    list_start = starts(n_rows * is_open)
    first_child, _, parent_start, parent_rows, parent_slot = families
    most = slots.most_children
    is_moved_whole = len(n_rows) > most and int(sizes(first_child).max()) > most
    if is_moved_whole:  # histograms are handed down within a family
        parent_slot = np.full_like(parent_slot, -1)
    row_start = starts(n_rows) + first_row
    slot = slots.assign(first_child, parent_slot, n_rows, is_open)
    core = _core.Level(
        parent_start,
        parent_start + parent_rows,
        first_child,
        families.n_filled,
        parent_slot,
        n_rows,
        list_start,
        row_start,
        place,
        slot,
        *sums,
    )
    return Level(
        families, sums, n_rows, list_start, row_start, slot, frontier, core, depth, first_node, measured,
        is_moved_whole=is_moved_whole, paused=paused,
    )  # fmt: skip


def part_of(level: Level, family0: int, family1: int, slots: Slots, paused: Any) -> Level:
    """Some families of a level as a level of their own. Their parents' histograms are not kept."""
    all_families = level.families
    first, last = all_families.first_child[family0], all_families.first_child[family1]
    families, nodes = slice(family0, family1), slice(first, last)
    is_open = np.zeros(level.n_nodes, dtype=bool)
    is_open[level.frontier] = True
    part = make_level(
        Families(
            all_families.first_child[family0 : family1 + 1] - first,
            all_families.n_filled[families],
            all_families.parent_start[families],
            all_families.parent_rows[families],
            np.full(family1 - family0, -1, dtype=np.int32),
        ),
        Sums(*(values[nodes] for values in level.sums)),
        level.n_rows[nodes],
        is_open[nodes],
        slots,
        depth=level.depth,
        first_node=level.first_node + int(first),
        measured=None if level.measured is None else level.measured[nodes],
        first_row=int(level.row_start[first]),
        paused=paused,
    )
    siblings = None if level.siblings is None else level.siblings[nodes]
    return replace(part, siblings=siblings)


class Slots:
    """Which nodes keep their histograms, so that their largest child need not be counted.

    The largest child takes over its parent's slot: what its siblings take away from the parent's histogram leaves
    its own.
    """

    def __init__(self, cells: int, n_rows: int, most_children: int) -> None:
        """`cells` in the histograms of one node, all counted attributes together. Families of more than
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
            siblings = family_sums(n_rows, first_child) - n_rows[largest]
            inherits = (parent_slot >= 0) & is_open[largest] & (siblings <= n_rows[largest])
            slot[largest[inherits]] = parent_slot[inherits]
            free[parent_slot[inherits]] = False
        wanting = np.flatnonzero(is_open & (slot < 0) & (n_rows >= KEEP_ROWS))
        numbers = np.flatnonzero(free)[: len(wanting)]
        slot[wanting[: len(numbers)]] = numbers
        return slot


def note_measured(
    level: Level, nodes: np.ndarray, attribute: np.ndarray, family: np.ndarray
) -> np.ndarray | None:
    """The children of `nodes`, whose parents `family` numbers, know what those knew and the attribute split on."""
    if level.measured is None:
        return None
    measured = level.measured[nodes]
    measured[np.arange(len(nodes)), attribute] = True
    return measured[family]


def family_sums(values: np.ndarray, first_child: np.ndarray) -> np.ndarray:
    """Of each family the sum of the children's values."""
    if len(values) == 2 * (len(first_child) - 1):  # all binary
        return np.asarray(values[::2] + values[1::2])
    return segment_sums(values, first_child[:-1])


def first_largest(values: np.ndarray, first_child: np.ndarray, slack: int = 0) -> np.ndarray:
    """Of each family the first child with the largest value; what is closer than `slack` counts as equal."""
    first = first_child[:-1]
    if len(values) == 2 * len(first):  # all binary
        return np.asarray(first + (values[1::2] > values[::2] + slack))
    family = np.repeat(np.arange(len(first)), np.diff(first_child))
    is_largest = np.flatnonzero(values >= np.maximum.reduceat(values, first)[family] - slack)
    _, where = np.unique(family[is_largest], return_index=True)
    return is_largest[where]
