# SPDX-License-Identifier: BSD-3-Clause
"""Splits that are made in memory: what children they have, and which rows go to which."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fasttree import _core
from fasttree.base.ragged import lengths, offsets
from fasttree.base.threads import CHUNKS_PER_THREAD, ThreadTeam, portions
from fasttree.base.values import column_label
from fasttree.growth.children import Children, uncounted_children
from fasttree.growth.context import GrowthContext
from fasttree.growth.level import Level, first_largest
from fasttree.growth.row_buffers import MOST_NARROW_BRANCHES, RowBuffers
from fasttree.growth.surrogates import SurrogateSearch
from fasttree.growth.targets import NumericTarget, Ranges

# Rows of a level's splits below which one thread tells them their branches: the branches of neighbouring rows stand in
# one line of the cache, which threads would take from each other.
PARALLEL_ROWS = 250_000
MOST_COPY_BYTES = 2**32  # of the shares of rows that a level makes, or, if that is more, ...
MOST_COPIES_OF_TABLE = 16  # so many times the memory of the sorted lists
PARALLEL_WORK = 30_000  # rows x attributes of a level below which threads cost more than they bring


class SplitDraft(NamedTuple):
    """Splits and their children before rows with a missing value are distributed or follow surrogates."""

    level: Level
    nodes: np.ndarray
    attribute: np.ndarray
    children: Children
    # Per split: the rows that do not know its attribute and stand with no child so far.
    n_unassigned: np.ndarray
    edges: list[int]  # where the splits are divided among threads ...
    threaded: bool  # ... if that is worth it


class Splitter:
    """Makes the splits of one fit."""

    def __init__(
        self,
        context: GrowthContext,
        core: _core.Grower,
        buffers: RowBuffers,
        team: ThreadTeam,
        surrogates: SurrogateSearch | None,
        has_binned: bool,
    ) -> None:
        self.context = context
        self.core = core
        self.buffers = buffers
        self.team = team
        self.surrogates = surrogates
        self.has_binned = has_binned

    def split(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, split: np.ndarray
    ) -> Children:
        """Describe the children of the splits made at `nodes`, and set the branch of every row."""
        draft = self.draft(level, nodes, attribute, split)
        children = draft.children
        if self.context.is_fractional:
            children = self._distribute(draft)
        if self.surrogates is not None:
            children = self._use_surrogates(draft)
        if self.context.length_chooser is not None:
            cuts = np.empty((len(nodes), 2), dtype=np.int64)
            _core.count_cuts(self.core, level.core, nodes, attribute, split, cuts)
            children = replace(children, cuts=cuts)
        if isinstance(self.context.target, NumericTarget):
            ranges = Ranges(*np.full((2, children.first_child[-1]), np.iinfo(np.int64).max))
            np.negative(ranges.highest, out=ranges.highest)
            _core.target_ranges(
                self.core, level.core, nodes, children.first_child, attribute, *ranges
            )
            children = replace(children, ranges=ranges)
        if self.has_binned:
            self._scatter_rows(draft._replace(children=children))
        return children

    def draft(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, split: np.ndarray
    ) -> SplitDraft:
        """The children of splits, with the rows with a known value. These are given their branches, but stay where
        they are."""
        children = uncounted_children(self.context, attribute, split)
        first_child, table_start = children.first_child, children.table_start
        most = MOST_NARROW_BRANCHES
        has_many = first_child[-1] > most and int(lengths(first_child).max()) > most
        self.buffers.begin_partition(has_many)
        if level.exact is not None:
            exact = np.zeros((*children.counts.shape, 2), dtype=np.uint64)
            children = replace(children, exact=exact)
        n_unassigned = np.zeros(len(nodes), dtype=np.int64)
        n_rows = offsets(level.n_rows[nodes])
        edges = [0, len(nodes)]
        threaded = len(nodes) > 1 and int(n_rows[-1]) > PARALLEL_ROWS
        if threaded:
            n_chunks = CHUNKS_PER_THREAD * self.team.size
            goals = portions(int(n_rows[-1]), n_chunks)
            edges[1:1] = np.searchsorted(n_rows, goals[1:-1]).tolist()

        def split_nodes(worker: int, chunk: int) -> None:
            if not _core.split_nodes(
                self.core, level.core, nodes, edges[chunk], edges[chunk + 1], attribute, split, first_child,
                table_start, children.n_rows, children.counts, children.table_codes, children.table_branch,
                children.neighbours, children.missing_branch, n_unassigned, level.exact, children.exact,
            ):  # fmt: skip
                raise MemoryError("not enough memory for the child nodes")

        self.team.run(split_nodes, len(edges) - 1, threaded)
        return SplitDraft(level, nodes, attribute, children, n_unassigned, edges, threaded)

    def _distribute(self, draft: SplitDraft) -> Children:
        """Distribute the rows fractionally that lack the value of their node's split."""
        level, nodes, attribute, children, n_unassigned, edges, threaded = draft
        assert children.exact is not None
        counts, exact = children.counts.copy(), children.exact
        known = self.context.pull(children.counts).astype(np.float64)
        copies = offsets(n_unassigned * (children.n_filled - 1))
        self._check_copies(copies, attribute, n_unassigned, children.n_filled)
        first_copy = self.buffers.add_instances(int(copies[-1])) + copies[:-1]

        def distribute(worker: int, chunk: int) -> None:
            if not _core.distribute_rows(
                self.core, level.core, nodes, edges[chunk], edges[chunk + 1], attribute, children.first_child,
                children.n_filled, n_unassigned, known, self.context.pull_in_words, first_copy, children.n_rows,
                counts, exact,
            ):  # fmt: skip
                raise MemoryError("not enough memory to distribute rows over branches")

        self.team.run(distribute, len(edges) - 1, threaded)
        return replace(children, counts=counts, known_counts=children.counts)

    def _check_copies(
        self,
        copies: np.ndarray,
        attribute: np.ndarray,
        n_unassigned: np.ndarray,
        n_filled: np.ndarray,
    ) -> None:
        """Refuse to share rows out where that would take an unreasonable part of any memory."""
        n_bytes = int(copies[-1]) * self.buffers.bytes_of_copy
        most = max(MOST_COPY_BYTES, MOST_COPIES_OF_TABLE * self.buffers.sorted_entries.nbytes)
        if n_bytes <= most:
            return
        worst = int(np.argmax(lengths(copies)))
        where = column_label(self.context.names[attribute[worst]])
        raise MemoryError(
            f"distributing rows with missing values over all branches would take {n_bytes / 2**30:.1f} GB (limit "
            f"{most / 2**30:.1f} GB): {where} alone distributes {n_unassigned[worst]} rows over {n_filled[worst]} "
            'branches. Leave it out, or use missing="branch" or categorical_split="subset"'
        )

    def _use_surrogates(self, draft: SplitDraft) -> Children:
        """Find the surrogates, and partition by them the rows that lack the value of their node's split."""
        level, nodes, attribute, children, n_unassigned, edges, threaded = draft
        assert self.surrogates is not None
        total = self.context.target.weight(children.counts)
        side_sizes = self.context.limit_weights(children.counts, total).reshape(-1, 2)
        worth_threads = int(level.n_rows[nodes].sum()) * self.context.n_attributes > PARALLEL_WORK
        found = self.surrogates.find(level, nodes, attribute, side_sizes, worth_threads)
        if n_unassigned.any():
            self.surrogates.locate_cuts(found)
        counts = children.counts.copy()
        weight = self.context.pull(children.counts)
        heaviest = first_largest(weight, children.first_child, self.context.weight_tolerance)
        heaviest -= children.first_child[:-1]

        def set_branches(worker: int, chunk: int) -> None:
            _core.set_missing_branches(
                self.core, level.core, nodes, edges[chunk], edges[chunk + 1], attribute, children.first_child,
                n_unassigned,
                found.start, found.attribute, found.cut, found.low, found.table_start, found.n_codes,
                found.table_codes, found.table_branch, heaviest, children.n_rows, counts,
            )  # fmt: skip

        self.team.run(set_branches, len(edges) - 1, threaded)
        return replace(
            children,
            counts=counts,
            known_counts=children.counts,
            surrogates=found,
            lacking=n_unassigned > 0,
        )

    def _scatter_rows(self, draft: SplitDraft) -> None:
        """Write the row list of the next level, from which its histograms are made."""
        level, nodes, _, children, _, edges, threaded = draft
        row_start = offsets(children.n_rows)
        self.buffers.begin_rows(int(row_start[-1]))

        def scatter_rows(worker: int, chunk: int) -> None:
            if not _core.scatter_rows(
                self.core, level.core, nodes, edges[chunk], edges[chunk + 1], children.first_child, children.n_filled,
                row_start,
            ):  # fmt: skip
                raise MemoryError("not enough memory to pass the rows to the child nodes")

        self.team.run(scatter_rows, len(edges) - 1, threaded)
        self.buffers.end_rows()
