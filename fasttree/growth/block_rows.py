# SPDX-License-Identifier: BSD-3-Clause
"""Rows of binned columns in any number of blocks, whose histograms are added up: the tree does not depend on how the
rows are cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fasttree import _core
from fasttree._core import MULTIWAY, ORDERED, THRESHOLD
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.growth.candidates import CandidateBuffers, Candidates
from fasttree.growth.children import Children, uncounted_children
from fasttree.growth.context import GrowthContext, RowTotals
from fasttree.growth.level import HistogramPool, Level
from fasttree.growth.params import MISSING

HISTOGRAM_BYTES = 2**25  # of one attribute, at the nodes that are searched together
N_CODES = 256


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """Some rows of a table."""

    codes: np.ndarray  # uint8 [attribute, row]; 0: missing
    y: np.ndarray  # uint32: the class
    weight: np.ndarray | None = None  # int64, in steps

    def totals(self, n_classes: int) -> RowTotals:
        """The class counts, and the rows of weight above 0."""
        counts = np.zeros(n_classes, dtype=np.int64)
        _core.class_totals(self.y, self.weight, counts)
        n_rows = len(self.y) if self.weight is None else int(np.count_nonzero(self.weight))
        return RowTotals(counts, n_rows)


def totals_of_blocks(blocks: Sequence[RowBlock], n_classes: int) -> RowTotals:
    """The totals of all blocks together."""
    totals = [block.totals(n_classes) for block in blocks]
    stats = sum((t.stats for t in totals), np.zeros(n_classes, dtype=np.int64))
    return RowTotals(stats, sum(t.n_rows for t in totals))


class BlockRows:
    """A store of rows that lie in blocks."""

    def __init__(
        self, context: GrowthContext, table: EncodedTable, blocks: Sequence[RowBlock]
    ) -> None:
        """Of the `table` only what it says of its columns is read, not the rows."""
        if context.params.missing in ("fractional", "surrogate") and table.has_missing.any():
            raise ValueError(
                f'missing="{context.params.missing}" requires the rows of a node in one place: '
                'use missing="branch" or missing="category"'
            )
        if (table.list_row >= 0).any():
            attribute = context.names[int(np.argmax(table.list_row >= 0))]
            raise ValueError(f"attribute {attribute!r} has more than 255 values: use max_bins=255")
        self.context = context
        self.blocks = blocks
        self.histogram_pool = HistogramPool(0, context.n_rows, np.iinfo(np.int64).max)
        self._nodes = [_first_nodes(block) for block in blocks]  # by block and row; -1: none
        self._core = _core.Grower(
            context.criterion,
            np.empty((0, 0), dtype=np.uint8),
            table.list_row,
            context.shape,
            table.n_codes,
            table.has_missing,
            MISSING[context.params.missing],
            np.empty((0, 0), dtype=np.int64),
            np.zeros(table.n_attributes, dtype=np.int64),
            table.rank_shift,
            context.steps_per_unit,
        )

    def search(self, level: Level, drawn: np.ndarray | None) -> Iterator[tuple[slice, Candidates]]:
        """Find the best split of every attribute at the frontier of a level, some nodes after the others."""
        context = self.context
        most = max(1, HISTOGRAM_BYTES // (8 * N_CODES * context.n_stats))
        buffers = CandidateBuffers(context.n_attributes, context.has_information)
        for start in range(0, len(level.frontier), most):
            part = slice(start, min(start + most, len(level.frontier)))
            nodes = level.frontier[part]
            candidates = buffers.candidates(len(nodes))
            for attribute in range(context.n_attributes):
                index = np.arange(len(nodes))
                if drawn is not None:
                    index = np.flatnonzero(drawn[attribute, part])
                self._search_attribute(level, nodes, index, attribute, candidates)
            yield part, candidates

    def _search_attribute(
        self,
        level: Level,
        nodes: np.ndarray,
        index: np.ndarray,
        attribute: int,
        candidates: Candidates,
    ) -> None:
        """Find the best split of an attribute at nodes[index]."""
        information = candidates.information
        if not _core.search_histograms(
            self._core,
            level.core,
            nodes,
            index,
            attribute,
            self._histograms(level, nodes[index], attribute),
            candidates.gain[attribute],
            candidates.split[attribute],
            None if information is None else information[attribute],
            candidates.heuristic[attribute].view(np.uint8),
        ):
            raise MemoryError("not enough memory for the split search")

    def varies(self, level: Level, nodes: np.ndarray, attribute: int) -> np.ndarray:
        """Whether nodes of a level have two values of an attribute."""
        present = self._histograms(level, nodes, attribute).any(axis=2)
        return np.asarray(present.sum(axis=1) > 1)

    def describe(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, split: np.ndarray
    ) -> Children:
        """The children that splits would have."""
        children, _ = self._children(level, nodes, attribute, split)
        return children

    def apply(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, split: np.ndarray
    ) -> Children:
        """Make the splits of some nodes: their children, and the node of every row."""
        children, child_of = self._children(level, nodes, attribute, split)
        index_of_node = np.full(level.n_nodes + 1, -1)  # the last: of rows without a node
        index_of_node[nodes] = np.arange(len(nodes))
        for block, node in zip(self.blocks, self._nodes, strict=True):
            index = index_of_node[node]
            rows = np.flatnonzero(index >= 0)
            index = index[rows]
            node[:] = -1
            node[rows] = child_of[index, block.codes[attribute[index], rows]]
        return children

    def parts(self, level: Level) -> list[Level]:
        """A level is grown as one."""
        return [level]

    def resume(self, level: Level) -> None:
        """Rows know their nodes."""

    def release(self) -> None:
        """Growth is over."""
        self._nodes.clear()

    def _histograms(
        self, level: Level, nodes: np.ndarray, attribute: int, weighted: bool = True
    ) -> np.ndarray:
        """int64 [node, code, class] of an attribute at some nodes of a level, all blocks together; unless `weighted`,
        of rows."""
        index_of_node = np.full(level.n_nodes + 1, -1, dtype=np.int32)
        index_of_node[nodes] = np.arange(len(nodes))
        histograms = np.zeros((len(nodes), N_CODES, self.context.n_stats), dtype=np.int64)
        for block, node in zip(self.blocks, self._nodes, strict=True):
            weight = block.weight if weighted else None
            index = index_of_node[node]
            _core.add_to_histograms(block.codes[attribute], index, block.y, weight, histograms)
        return histograms

    def _children(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, split: np.ndarray
    ) -> tuple[Children, np.ndarray]:
        """The children of splits, and the child of every code at each of them."""
        children = uncounted_children(self.context, attribute, split)
        first_child = children.first_child
        if self.context.length_chooser is not None:
            children = replace(children, cuts=np.zeros((len(nodes), 2), dtype=np.int64))
        child_of = np.full((len(nodes), N_CODES), -1)
        for one in np.unique(attribute).tolist():
            splits = np.flatnonzero(attribute == one)
            weights = self._histograms(level, nodes[splits], one)
            rows = self._histograms(level, nodes[splits], one, weighted=False).sum(axis=2)
            for i, histogram, n_rows in zip(splits.tolist(), weights, rows, strict=True):
                branch = self._branches(level, nodes[i], i, split[i], histogram, one, children)
                present = np.flatnonzero(n_rows)
                child = first_child[i] + branch[present]
                np.add.at(children.counts, child, histogram[present])
                np.add.at(children.n_rows, child, n_rows[present])
                child_of[i, present] = child
        return children, child_of

    def _branches(
        self,
        level: Level,
        node: int,
        i: int,
        split: np.void,
        histogram: np.ndarray,
        attribute: int,
        children: Children,
    ) -> np.ndarray:
        """The branch of every code at a node; what says so is written down as split `i` of the children."""
        branch = np.zeros(N_CODES, dtype=np.int64)
        is_present = np.asarray(histogram.any(axis=1))
        known = np.flatnonzero(is_present[1:]) + 1
        table = slice(children.table_start[i], children.table_start[i + 1])
        codes, sides = children.table_codes[table], children.table_branch[table]
        missing_branch = np.array([split["missing_branch"]], dtype=np.int32)
        shape = self.context.shape[attribute]
        if shape in (THRESHOLD, ORDERED):
            below, above = known[known <= split["code"]], known[known > split["code"]]
            children.neighbours[i] = below[-1], above[0] if len(above) else -1
            branch[above] = 1
            if children.cuts is not None:
                children.cuts[i] = len(known) - 1 + is_present[0], len(below) - 1
            if shape == ORDERED:
                _core.sides_of_ordered(children.neighbours[i], codes, sides)
        else:
            if shape == MULTIWAY:
                codes[:], sides[:] = known, np.arange(len(known))
            elif not _core.sets_of_histogram(
                self._core, level.core, node, attribute, histogram, codes, sides, missing_branch
            ):
                raise MemoryError("not enough memory for the child nodes")
            branch[codes] = sides
        if is_present[0]:
            branch[0] = children.missing_branch[i] = missing_branch[0]
        return branch


def _first_nodes(block: RowBlock) -> np.ndarray:
    """The root for every row of weight above 0."""
    if block.weight is None:
        return np.zeros(len(block.y), dtype=np.int32)
    return np.where(block.weight > 0, 0, -1).astype(np.int32)
