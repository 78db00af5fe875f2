# SPDX-License-Identifier: BSD-3-Clause
"""Best split of every frontier node: attributes shared out over the threads, winners chosen in schema order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fasttree import _core
from fasttree._parallel import Team
from fasttree.costs import AttributeCosts
from fasttree.encode import EncodedTable
from fasttree.frontier import Level, Slots
from fasttree.instances import Instances
from fasttree.params import CATEGORICAL_SPLITS, CRITERIA, MISSING, THRESHOLD, GrowthParams
from fasttree.weights import GridWeights

RECORD_BYTES = 2**26  # of the (attribute, node) records of a batch
PARALLEL_WORK = 30_000  # rows x attributes of a level below which threads cost more than they bring
CHUNKS_PER_THREAD = 4
CHUNK_WORK = 5_000_000
MOST_NARROW_BRANCHES = 254
# The cut of a split by a table: the number of values present, and above it 1 + the branch of missing values.
PLACE_SHIFT = 32
PRESENT = 2**PLACE_SHIFT - 1


@dataclass(frozen=True, slots=True, eq=False)
class Winners:
    """The best split of each frontier node."""

    attribute: np.ndarray  # int64, -1: no admissible split
    score: np.ndarray  # float64
    cut: np.ndarray  # int64


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
    missing_branch: (
        np.ndarray
    )  # where rows went that do not know the attribute, -1: there were none
    heuristic: np.ndarray
    known_counts: np.ndarray | None = None  # counts without shared rows, if there are any


class Evaluator:
    """The core's arrays for one fit, and the threads that work on them."""

    def __init__(
        self,
        table: EncodedTable,
        lists: np.ndarray,
        params: GrowthParams,
        weights: GridWeights | None,
        team: Team,
        costs: AttributeCosts | None = None,
    ) -> None:
        self.team = team
        self.costs = costs
        # Per node of the open level: the attributes measured on the way to it. Kept for costs alone.
        self.measured = np.zeros((1, table.n_attributes), dtype=bool)
        self.has_moved = False  # from the root on
        self.shape = _shapes(table, params)
        self.is_all_numeric = bool((self.shape == THRESHOLD).all())
        self.n_codes = table.n_codes
        self.n_attributes = table.n_attributes
        self.n_classes = table.n_classes
        counted = np.flatnonzero(table.storage < 0)
        cell_start = np.zeros(table.n_attributes, dtype=np.int64)  # by row of `codes`
        cells = table.n_codes[counted].astype(np.int64) * self.n_classes
        cell_start[counted] = np.cumsum(cells) - cells
        steps = None if weights is None else weights.steps
        self.n_rows = table.n_rows if steps is None else int(np.count_nonzero(steps))
        self.shares = params.missing == "fractional" and bool(table.has_missing.any())
        # Shares of a row lie in several children: a sibling's histogram is not what the others leave of the parent's.
        self.slots = Slots(0 if self.shares else int(cells.sum()), self.n_rows)
        self.root_counts = np.zeros(self.n_classes, dtype=np.int64)
        _core.class_totals(table.y, steps, self.root_counts)
        total = int(self.root_counts.sum())
        has_lists = len(counted) < table.n_attributes
        self.measure = _measure(params, self.n_classes, total, weights, has_lists)
        multiway = self.shape == CATEGORICAL_SPLITS["multiway"]
        self.core = _core.Growth(
            self.measure,
            table.codes,
            table.storage,
            self.shape,
            table.n_codes,
            table.has_missing,
            MISSING[params.missing],
            np.empty((self.slots.capacity, int(cells.sum())), dtype=np.int64),
            cell_start,
            table.rank_shift,
        )
        self.has_counted = len(counted) > 0
        self.instances = Instances(
            table,
            lists,
            weights,
            self.core,
            self.shares,
            many_branches=int(self.n_codes[multiway].max(initial=2)) > MOST_NARROW_BRANCHES,
        )
        self._spare = [np.empty(self.n_rows, dtype=np.uint64) for _ in range(team.size)]
        self._batch = max(1, RECORD_BYTES // (16 * self.n_attributes))

    def evaluate(self, level: Level) -> Winners:
        """Move the rows into their new nodes and find the best split of every frontier node."""
        n = len(level.frontier)
        winners = Winners(np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64))
        if self.shares and self.has_moved:
            self.instances.begin_level(int(level.n_rows[level.frontier].sum()))
        # The first frontier node of each family, to cut the level into batches of whole families.
        opened = level.frontier.searchsorted(level.first_child)
        family = 0
        while opened[family] < n:
            stop = int(np.searchsorted(opened, opened[family] + self._batch, side="right")) - 1
            stop = max(stop, family + 1)
            self._evaluate_families(
                level, family, stop, int(opened[family]), int(opened[stop]), winners
            )
            family = stop
        self.instances.end_level()
        return winners

    def _evaluate_families(
        self, level: Level, family0: int, family1: int, node0: int, node1: int, winners: Winners
    ) -> None:
        if node0 == node1:
            return
        score, cut = self.scores(level, family0, family1, node0, node1)
        part = slice(node0, node1)
        worth = score
        if self.costs is not None:
            measured = self.measured[level.frontier[part]].T
            worth = self.costs.worth(score, measured)
        _core.choose_attributes(
            worth,
            self.costs is not None,
            score,
            cut,
            winners.attribute[part],
            winners.score[part],
            winners.cut[part],
        )

    def scores(
        self, level: Level, family0: int, family1: int, node0: int, node1: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Hand the rows of some families on to their children, the frontier nodes node0..node1, and score every
        attribute there: the score of its best split (-inf: it has none) and the cut, both [attribute, node]."""
        score = np.empty((self.n_attributes, node1 - node0))
        cut = np.empty((self.n_attributes, node1 - node0), dtype=np.int64)
        rows = int(level.n_rows[level.frontier[node0:node1]].sum())
        shared = rows * self.n_attributes > PARALLEL_WORK
        n_chunks = 1
        if shared:  # several a thread, and none so long that Ctrl-C would have to wait
            wanted = max(CHUNKS_PER_THREAD * self.team.size, rows * self.n_attributes // CHUNK_WORK)
            n_chunks = min(self.n_attributes, wanted)
        edges = [self.n_attributes * i // n_chunks for i in range(n_chunks + 1)]

        def work(worker: int, chunk: int) -> None:
            if not self.core.advance(
                level.core, family0, family1, node0, edges[chunk], edges[chunk + 1],
                self._spare[worker], score, cut,
            ):  # fmt: skip
                raise MemoryError("no memory left for the split search")

        self.team.run(work, n_chunks, shared)
        return score, cut

    def split(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, cut: np.ndarray
    ) -> Children:
        """Describe the children of the winners at `nodes`, and send every row to its branch."""
        if self.is_all_numeric:
            first_child = np.arange(0, 2 * len(nodes) + 1, 2)
            table_start = np.zeros(len(nodes) + 1, dtype=np.int64)
        else:
            first_child, table_start = self._branches(attribute, cut)
        n_filled = sizes(first_child)
        if not self.is_all_numeric:
            n_values = self.n_codes[attribute] - 1
            multiway = self.shape[attribute] == CATEGORICAL_SPLITS["multiway"]
            n_filled = n_filled - (multiway & ((cut & PRESENT) < n_values))
        children = Children(
            first_child=first_child,
            n_filled=n_filled,
            n_rows=np.zeros(first_child[-1], dtype=np.int64),
            counts=np.zeros((first_child[-1], self.n_classes), dtype=np.int64),
            table_start=table_start,
            table_codes=np.empty(table_start[-1], dtype=np.uint32),
            table_branch=np.empty(table_start[-1], dtype=np.uint32),
            neighbours=np.zeros((len(nodes), 2), dtype=np.int64),
            missing_branch=np.full(len(nodes), -1, dtype=np.int32),
            heuristic=np.zeros(len(nodes), dtype=np.uint8),
        )
        n_shared = np.zeros(len(nodes), dtype=np.int64)
        n_rows = ends(level.n_rows[nodes])
        edges = [0, len(nodes)]
        shared = len(nodes) > 1 and int(n_rows[-1]) > PARALLEL_WORK
        if shared:
            n_chunks = CHUNKS_PER_THREAD * self.team.size
            goals = [int(n_rows[-1]) * i // n_chunks for i in range(1, n_chunks)]
            edges[1:1] = np.searchsorted(n_rows, goals).tolist()

        def split(worker: int, chunk: int) -> None:
            if not self.core.split(
                level.core, nodes, edges[chunk], edges[chunk + 1], attribute, cut, first_child, table_start,
                children.n_rows, children.counts, children.table_codes, children.table_branch,
                children.neighbours, children.missing_branch, n_shared, children.heuristic,
            ):  # fmt: skip
                raise MemoryError("no memory left to describe the children")

        self.team.run(split, len(edges) - 1, shared)
        if self.shares:
            children = self._share(level, nodes, attribute, children, n_shared, edges, shared)
        if self.has_counted:
            self._hand_on(level, nodes, children, edges, shared)
        self.has_moved = True
        return children

    def _share(
        self,
        level: Level,
        nodes: np.ndarray,
        attribute: np.ndarray,
        children: Children,
        n_shared: np.ndarray,
        edges: list[int],
        shared: bool,
    ) -> Children:
        """Share the rows out that do not know the attribute on which their node is split."""
        counts = children.counts.copy()
        known = children.counts.sum(axis=1)
        copies = ends(n_shared * (children.n_filled - 1))
        first_copy = self.instances.make_room(int(copies[-1])) + copies[:-1]

        def share(worker: int, chunk: int) -> None:
            self.core.share(
                level.core, nodes, edges[chunk], edges[chunk + 1], attribute, children.first_child,
                children.n_filled, known, first_copy, children.n_rows, counts,
            )  # fmt: skip

        self.team.run(share, len(edges) - 1, shared)
        return replace(children, counts=counts, known_counts=children.counts)

    def _hand_on(
        self,
        level: Level,
        nodes: np.ndarray,
        children: Children,
        edges: list[int],
        shared: bool,
    ) -> None:
        """Write the row list of the next level, from which its histograms are made."""
        row_start = ends(children.n_rows)
        self.instances.begin_rows(int(row_start[-1]))

        def hand_on(worker: int, chunk: int) -> None:
            if not self.core.hand_on(
                level.core, nodes, edges[chunk], edges[chunk + 1], children.first_child, children.n_filled,
                row_start,
            ):  # fmt: skip
                raise MemoryError("no memory left to hand the rows on")

        self.team.run(hand_on, len(edges) - 1, shared)
        self.instances.end_rows()

    def note_measured(self, nodes: np.ndarray, attribute: np.ndarray, family: np.ndarray) -> None:
        """The children of `nodes`, whose parents `family` numbers, know what those knew and the attribute split on."""
        if self.costs is None:
            return
        measured = self.measured[nodes]
        measured[np.arange(len(nodes)), attribute] = True
        self.measured = measured[family]

    def _branches(self, attribute: np.ndarray, cut: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the children of each split begin, and the entries of its table."""
        shape = self.shape[attribute]
        n_present = cut & PRESENT
        # Multiway: a branch for each value present, one for missing values if they join none of these, and one that
        # all the absent values share.
        n_multiway = n_present + ((cut >> PLACE_SHIFT) > n_present)
        n_multiway += n_present < self.n_codes[attribute] - 1
        n_children = np.where(shape == CATEGORICAL_SPLITS["multiway"], n_multiway, 2)
        return ends(n_children), ends(np.where(shape == THRESHOLD, 0, n_present))


def ends(lengths: np.ndarray) -> np.ndarray:
    """0 and the running sums: where each of the segments begins, and the end."""
    result = np.zeros(len(lengths) + 1, dtype=np.int64)
    lengths.cumsum(out=result[1:])
    return result


def sizes(segment_ends: np.ndarray) -> np.ndarray:
    """The lengths of segments, from `ends`."""
    return np.asarray(segment_ends[1:] - segment_ends[:-1])


def _shapes(table: EncodedTable, params: GrowthParams) -> np.ndarray:
    categorical = np.array([a.is_categorical for a in table.schema.attributes])
    return np.where(categorical, CATEGORICAL_SPLITS[params.categorical_split], THRESHOLD).astype(
        np.int32
    )


def _measure(
    params: GrowthParams, n_classes: int, total: int, weights: GridWeights | None, has_lists: bool
) -> _core.Measure:
    criterion = CRITERIA[params.criterion]
    min_leaf = params.min_samples_leaf
    if weights is not None:
        min_leaf = min_leaf * weights.per_unit - weights.slack
    # A power of two such that total * log2(total) steps stay below 2^62.
    bits = total.bit_length()
    fine = 2.0 ** (62 - bits - bits.bit_length())
    entropic = criterion in (CRITERIA["entropy"], CRITERIA["gain_ratio"])
    n_table = total + 1 if weights is None else min(total, 2**20) + 1
    klogk = np.empty(n_table if entropic else 0, dtype=np.int64)
    _core.klogk_table(fine, len(klogk), klogk)
    # Reciprocals serve the sweep over rows that all weigh 1; without sorted lists only small nodes are swept.
    n_inverse = n_table if criterion == CRITERIA["gini"] and weights is None else 0
    if not has_lists:
        n_inverse = min(n_inverse, _core.SMALL_NODE + 1)
    with np.errstate(divide="ignore"):
        inverse = 1.0 / np.arange(n_inverse)
    return _core.Measure(
        criterion,
        n_classes,
        int(min(max(np.ceil(min_leaf), 1), total + 1)),
        total < 2**31,
        fine,
        klogk,
        inverse,
        np.ascontiguousarray(inverse[::-1]),
    )
