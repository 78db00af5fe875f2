# SPDX-License-Identifier: BSD-3-Clause
"""Splits that were accepted: what children they have, and which rows go to which."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from fasttree import _core
from fasttree.base.ragged import NONE, ends, filled, sizes
from fasttree.base.threads import CHUNKS_PER_THREAD, portions
from fasttree.base.values import column_label
from fasttree.growth.context import Ground
from fasttree.growth.level import Level, first_largest
from fasttree.growth.params import ORDERED, PLACE_SHIFT, PRESENT, THRESHOLD
from fasttree.growth.rows_memory import MOST_NARROW_BRANCHES
from fasttree.growth.search import PARALLEL_WORK
from fasttree.growth.surrogates import Surrogates

# Rows of a level's splits below which one thread tells them their branches: the branches of neighbouring rows stand in
# one line of the cache, which threads would take from each other.
PARALLEL_ROWS = 250_000
MOST_COPY_BYTES = 2**32  # of the shares of rows that a level makes, or, if that is more, ...
MOST_COPIES_OF_TABLE = 16  # so many times the memory of the sorted lists


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
    # Where rows went that do not know the attribute, -1: there were none.
    missing_branch: np.ndarray
    known_counts: np.ndarray | None = None  # counts of the rows that know the attribute, if not all
    exact: np.ndarray | None = (
        None  # [child, class, 2]: the counts in two words, where rows are shared out
    )
    surrogates: Surrogates | None = None
    lacking: np.ndarray | None = (
        None  # per split, with surrogates: are there rows that do not know the attribute?
    )
    # Only for growth by length, per split: by threshold, how many cuts there were, and how many below it; its branches.
    cuts: np.ndarray | None = None
    n_branches: np.ndarray | None = None


class Described(NamedTuple):
    """Splits and what is known of their children before rows are shared out or sent on by surrogates."""

    level: Level
    nodes: np.ndarray
    attribute: np.ndarray
    children: Children
    # Per split: the rows that do not know its attribute and stand with no child so far.
    n_shared: np.ndarray
    edges: list[int]  # where the splits are divided among threads ...
    shared: bool  # ... if that is worth it


class Splitter:
    """Makes the splits of one fit."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.core = ground.core
        self.team = ground.team
        self.instances = ground.instances

    def split(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, cut: np.ndarray
    ) -> Children:
        """Describe the children of the winners at `nodes`, and send every row to its branch."""
        described = self.describe(level, nodes, attribute, cut)
        children = described.children
        if self.ground.shares:
            children = self._share(described)
        if self.ground.surrogates is not None:
            children = self._stand_in(described)
        if self.ground.lengths is not None:
            cuts = np.empty((len(nodes), 2), dtype=np.int64)
            _core.count_cuts(self.core, level.core, nodes, attribute, cut, cuts)
            n_branches = self.ground.lengths.n_branches(attribute, cut)
            children = replace(children, cuts=cuts, n_branches=n_branches)
        if self.ground.has_counted:
            self._hand_on(described._replace(children=children))
        self.ground.has_moved = True
        return children

    def describe(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, cut: np.ndarray
    ) -> Described:
        """The children of splits, with the rows that know the attribute. These are told their branches, but stay where
        they are."""
        if self.ground.is_all_numeric:
            first_child = np.arange(0, 2 * len(nodes) + 1, 2)
            table_start = np.zeros(len(nodes) + 1, dtype=np.int64)
        else:
            first_child, table_start = _branches(self.ground, attribute, cut)
        n_filled = sizes(first_child)
        most = MOST_NARROW_BRANCHES
        self.instances.begin_moves(first_child[-1] > most and int(n_filled.max()) > most)
        if not self.ground.is_all_numeric:
            n_filled = n_filled - has_empty_branch(self.ground, attribute, cut & PRESENT)
        children = Children(
            first_child=first_child,
            n_filled=n_filled,
            n_rows=np.zeros(first_child[-1], dtype=np.int64),
            counts=np.zeros((first_child[-1], self.ground.n_classes), dtype=np.int64),
            table_start=table_start,
            table_codes=np.empty(table_start[-1], dtype=np.uint32),
            table_branch=np.empty(table_start[-1], dtype=np.uint32),
            neighbours=np.zeros((len(nodes), 2), dtype=np.int64),
            missing_branch=filled(len(nodes), NONE),
        )
        n_shared = np.zeros(len(nodes), dtype=np.int64)
        n_rows = ends(level.n_rows[nodes])
        edges = [0, len(nodes)]
        shared = len(nodes) > 1 and int(n_rows[-1]) > PARALLEL_ROWS
        if shared:
            n_chunks = CHUNKS_PER_THREAD * self.team.size
            goals = portions(int(n_rows[-1]), n_chunks)
            edges[1:1] = np.searchsorted(n_rows, goals[1:-1]).tolist()

        def split(worker: int, chunk: int) -> None:
            if not _core.split_nodes(
                self.core, level.core, nodes, edges[chunk], edges[chunk + 1], attribute, cut, first_child, table_start,
                children.n_rows, children.counts, children.table_codes, children.table_branch,
                children.neighbours, children.missing_branch, n_shared,
            ):  # fmt: skip
                raise MemoryError("no memory left to describe the children")

        self.team.run(split, len(edges) - 1, shared)
        return Described(level, nodes, attribute, children, n_shared, edges, shared)

    def _share(self, described: Described) -> Children:
        """Share the rows out that do not know the attribute on which their node is split."""
        level, nodes, attribute, children, n_shared, edges, shared = described
        counts = children.counts.copy()
        exact = np.zeros((*counts.shape, 2), dtype=np.uint64)
        known = self.ground.pull(children.counts).astype(np.float64)
        copies = ends(n_shared * (children.n_filled - 1))
        self._check_copies(copies, attribute, n_shared, children.n_filled)
        first_copy = self.instances.make_room(int(copies[-1])) + copies[:-1]

        def share(worker: int, chunk: int) -> None:
            if not _core.share_rows(
                self.core, level.core, nodes, edges[chunk], edges[chunk + 1], attribute, children.first_child,
                children.n_filled, known, self.ground.pull_in_words, first_copy, children.n_rows, counts, exact,
            ):  # fmt: skip
                raise MemoryError("no memory left to share rows out")

        self.team.run(share, len(edges) - 1, shared)
        return replace(children, counts=counts, known_counts=children.counts, exact=exact)

    def _check_copies(
        self, copies: np.ndarray, attribute: np.ndarray, n_shared: np.ndarray, n_filled: np.ndarray
    ) -> None:
        """Refuse to share rows out where that would take an unreasonable part of any memory."""
        n_bytes = int(copies[-1]) * self.instances.bytes_of_copy
        most = max(MOST_COPY_BYTES, MOST_COPIES_OF_TABLE * self.instances.lists.nbytes)
        if n_bytes <= most:
            return
        worst = int(np.argmax(sizes(copies)))
        where = column_label(self.ground.names[attribute[worst]])
        raise MemoryError(
            f"sharing the rows without a value out over all branches takes {n_bytes / 2**30:.1f} GB (limit "
            f"{most / 2**30:.1f}): {where} alone parts {n_shared[worst]} of them among {n_filled[worst]} branches. "
            'Leave it out, or use missing="branch" or categorical_split="subset"'
        )

    def _stand_in(self, described: Described) -> Children:
        """Find the surrogates, and send the rows by them that do not know the attribute of their node's split."""
        level, nodes, attribute, children, n_shared, edges, shared = described
        assert self.ground.surrogates is not None
        side_sizes = self.ground.plain(children.counts).sum(axis=1).reshape(-1, 2)
        worth_threads = int(level.n_rows[nodes].sum()) * self.ground.n_attributes > PARALLEL_WORK
        found = self.ground.surrogates.find(level, nodes, attribute, side_sizes, worth_threads)
        if n_shared.any():
            self.ground.surrogates.place_cuts(found)
        counts = children.counts.copy()
        weight = self.ground.pull(children.counts)
        heaviest = first_largest(weight, children.first_child, self.ground.slack)
        heaviest -= children.first_child[:-1]

        def send(worker: int, chunk: int) -> None:
            _core.send_missing(
                self.core, level.core, nodes, edges[chunk], edges[chunk + 1], attribute, children.first_child, n_shared,
                found.start, found.attribute, found.cut, found.low, found.table_start, found.n_codes,
                found.table_codes, found.table_branch, heaviest, children.n_rows, counts,
            )  # fmt: skip

        self.team.run(send, len(edges) - 1, shared)
        return replace(
            children,
            counts=counts,
            known_counts=children.counts,
            surrogates=found,
            lacking=n_shared > 0,
        )

    def _hand_on(self, described: Described) -> None:
        """Write the row list of the next level, from which its histograms are made."""
        level, nodes, _, children, _, edges, shared = described
        row_start = ends(children.n_rows)
        self.instances.begin_rows(int(row_start[-1]))

        def hand_on(worker: int, chunk: int) -> None:
            if not _core.hand_on(
                self.core, level.core, nodes, edges[chunk], edges[chunk + 1], children.first_child, children.n_filled,
                row_start,
            ):  # fmt: skip
                raise MemoryError("no memory left to hand the rows on")

        self.team.run(hand_on, len(edges) - 1, shared)
        self.instances.end_rows()


def has_empty_branch(ground: Ground, attribute: np.ndarray, n_present: np.ndarray) -> np.ndarray:
    """Which splits have a branch for values without training rows at the node?"""
    by_value = ground.is_multiway[attribute] | ground.is_grouped[attribute]
    return np.asarray(by_value & (n_present < ground.n_codes[attribute] - 1))


def _branches(
    ground: Ground, attribute: np.ndarray, cut: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where the children of each split begin, and the entries of its table."""
    shape = ground.shape[attribute]
    n_present, above = cut & PRESENT, cut >> PLACE_SHIFT
    n_children = np.full(len(attribute), 2)
    # A branch for each value present, one for missing values if they join none of these.
    multiway = ground.is_multiway[attribute]
    n_children[multiway] = (n_present + (above > n_present))[multiway]
    grouped = ground.is_grouped[attribute]
    n_children[grouped] = above[grouped]
    n_children += has_empty_branch(ground, attribute, n_present)
    n_entries = np.where(shape == ORDERED, ground.n_codes[attribute] - 1, n_present)
    return ends(n_children), ends(np.where(shape == THRESHOLD, 0, n_entries))
