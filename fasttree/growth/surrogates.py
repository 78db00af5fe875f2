# SPDX-License-Identifier: BSD-3-Clause
"""CART's surrogates: other attributes that send the rows of a node to the same sides as its own test.

The search is the one for splits once more, with the side of each row as its class. What a surrogate gets right is
counted among all the rows that know the node's own attribute.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasttree import _core
from fasttree._core import SUBSET, THRESHOLD
from fasttree.base.ragged import begins
from fasttree.base.threads import CHUNKS_PER_THREAD, ThreadTeam, portions
from fasttree.encoding.encoded_table import WIDE_SHIFT, EncodedTable, midpoint
from fasttree.encoding.weights import IntegerWeights
from fasttree.growth.level import Level
from fasttree.growth.params import TIE

MOST_SURROGATES = 5
MIN_SIDE_WEIGHT = 2  # the weight that a surrogate must send each way
RECORD_BYTES = 2**26  # of the (attribute, split) records of a batch


@dataclass(frozen=True, slots=True, eq=False)
class Surrogates:
    """The surrogates of some splits, best first; arrays are per surrogate if nothing else is said."""

    start: np.ndarray  # int64 per split, and the end
    attribute: np.ndarray  # int64
    cut: np.ndarray  # int64: the largest code on the lower side of the threshold
    neighbours: np.ndarray  # int64 [surrogate, 2]: what lies beside a threshold
    threshold: np.ndarray  # float64; NaN: a table
    low: np.ndarray  # int32: the branch of the lower values
    table_start: np.ndarray  # int64: where its codes begin
    n_codes: np.ndarray  # int64; 0: a threshold
    table_codes: np.ndarray  # uint32
    table_branch: np.ndarray  # uint32
    agreement: np.ndarray  # float64: the share of the rows that goes the right way
    adjusted: np.ndarray  # float64: ... of those that the larger side would get wrong

    def tables(self) -> tuple[np.ndarray, np.ndarray]:
        """Codes and branches of all the tables, without the room that was left."""
        capacity = np.diff(self.table_start, append=len(self.table_codes) - 1)
        place = np.arange(len(self.table_codes) - 1) - np.repeat(self.table_start, capacity)
        used = np.flatnonzero(place < np.repeat(self.n_codes, capacity))
        return self.table_codes[used], self.table_branch[used]


class SurrogateSearch:
    """Finds the surrogates of the splits of a level."""

    def __init__(
        self,
        table: EncodedTable,
        core: _core.Grower,
        shape: np.ndarray,
        weights: IntegerWeights | None,
        team: ThreadTeam,
        list_scratch: list[np.ndarray],
    ) -> None:
        self.table = table
        self.core = core
        self.shape = shape
        self.team = team
        self.list_scratch = list_scratch
        self.weight = None if weights is None else np.ascontiguousarray(weights.plain_rows(table.y))
        by_row = weights is not None or table.rank_shift == WIDE_SHIFT
        # Entries carry the class of a row if they can; its side then takes that place.
        self.side = np.empty(table.n_rows if by_row else 1, dtype=np.uint32)
        self.by_row = by_row
        steps_per_unit, self.weight_tolerance = (
            (1, 0) if weights is None else (weights.steps_per_unit, weights.weight_tolerance)
        )
        nothing = np.empty(0)
        self._values: dict[int, np.ndarray] = {}  # by attribute
        self.criterion = _core.CriterionTables(
            kind=_core.CRITERIA["misclassification"],
            n_classes=2,
            min_leaf=MIN_SIDE_WEIGHT * steps_per_unit - self.weight_tolerance,
            min_weight=0,
            plain=None,
            tie=TIE,
            records_split=False,
            by_ratio=False,
            side_share=0.0,
            side_most=0.0,
            exact_squares=True,
            steps_per_bit=1.0,
            klogk_steps_of=np.empty(0, dtype=np.int64),
            by_inverse=False,
            inverse=nothing,
            inverse_down=nothing,
        )

    def find(
        self,
        level: Level,
        nodes: np.ndarray,
        attribute: np.ndarray,
        sizes: np.ndarray,
        threaded: bool,
    ) -> Surrogates:
        """`sizes` [split, side]: the weight of the rows that have the value of the split."""
        if self.by_row:
            _core.note_sides(self.core, level.core, nodes, attribute, self.side)
        batch = max(1, RECORD_BYTES // (16 * self.table.n_attributes))
        parts = [
            self._best(
                level, nodes, attribute, sizes, start, min(start + batch, len(nodes)), threaded
            )
            for start in range(0, len(nodes), batch)
        ]
        split, chosen, cut, right = (np.concatenate(part) for part in zip(*parts, strict=True))
        total, larger = sizes.sum(axis=1)[split], sizes.max(axis=1)[split]
        # A table of levels lists those of the node's rows, one of ordered ones all there are.
        capacity = np.where(self.shape[chosen] == THRESHOLD, 0, self.table.n_codes[chosen] - 1)
        is_table = self.shape[chosen] == SUBSET
        capacity[is_table] = np.minimum(capacity, level.n_rows[nodes[split]])[is_table]
        table_start = begins(capacity)
        found = Surrogates(
            start=np.searchsorted(split, np.arange(len(nodes) + 1)),
            attribute=chosen,
            cut=cut,
            neighbours=np.full((len(split), 2), -1, dtype=np.int64),
            threshold=np.full(len(split), np.nan),
            low=np.zeros(len(split), dtype=np.int32),
            table_start=table_start,
            n_codes=np.zeros(len(split), dtype=np.int64),
            table_codes=np.empty(int(capacity.sum()) + 1, dtype=np.uint32),
            table_branch=np.empty(int(capacity.sum()) + 1, dtype=np.uint32),
            agreement=right / total,
            adjusted=(right - larger) / (total - larger),
        )
        self._describe(level, nodes[split], found, threaded)
        numeric = np.flatnonzero(found.n_codes == 0)
        if len(numeric):
            beside = self.table.values_around_cut(chosen[numeric], found.neighbours[numeric])
            found.threshold[numeric] = midpoint(*beside)
        return found

    def locate_cuts(self, found: Surrogates) -> None:
        """Count the values between both sides of a threshold as it does: rows may have them that lack the value of the
        split, and so had no say in it."""
        numeric = np.flatnonzero(found.n_codes == 0)
        for one in set(found.attribute[numeric].tolist()):
            if one not in self._values:
                self._values[one] = self.table.first_values(one)
            here = numeric[found.attribute[numeric] == one]
            found.cut[here] = np.searchsorted(
                self._values[one], found.threshold[here], side="right"
            )

    def _best(
        self,
        level: Level,
        nodes: np.ndarray,
        attribute: np.ndarray,
        sizes: np.ndarray,
        start: int,
        stop: int,
        threaded: bool,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(split, attribute, cut, weight sent the right way) of the surrogates of some splits, in order."""
        n_attributes = self.table.n_attributes
        right = np.empty((n_attributes, stop - start), dtype=np.int64)
        cut = np.zeros((n_attributes, stop - start), dtype=np.int64)
        known = sizes.sum(axis=1)
        n_chunks = min(n_attributes, CHUNKS_PER_THREAD * self.team.size) if threaded else 1
        edges = portions(n_attributes, n_chunks)

        def work(worker: int, chunk: int) -> None:
            if not _core.agreements(
                self.core, level.core, nodes, start, stop, attribute, known, self.criterion, edges[chunk],
                edges[chunk + 1], self.side, self.weight, self.weight_tolerance, self.list_scratch[worker], right, cut,
            ):  # fmt: skip
                raise MemoryError("not enough memory to search for surrogates")

        self.team.run(work, n_chunks, threaded)
        larger = sizes[start:stop].max(axis=1)
        order = _best_first(right, self.weight_tolerance)
        helps = np.take_along_axis(right, order, axis=0) > larger + self.weight_tolerance
        split, rank = np.nonzero(helps.T)
        chosen = order[rank, split]
        return split + start, chosen, cut[chosen, split], right[chosen, split]

    def _describe(self, level: Level, node: np.ndarray, found: Surrogates, threaded: bool) -> None:
        n = len(node)
        n_chunks = CHUNKS_PER_THREAD * self.team.size if threaded else 1
        edges = portions(n, n_chunks)

        def work(worker: int, chunk: int) -> None:
            if not _core.describe_surrogates(
                self.core, level.core, node, found.attribute, found.cut, edges[chunk], edges[chunk + 1],
                self.criterion, self.side, self.weight, self.weight_tolerance, self.list_scratch[worker],
                found.neighbours, found.low,
                found.table_start, found.table_codes, found.table_branch, found.n_codes,
            ):  # fmt: skip
                raise MemoryError("not enough memory for the surrogates")

        self.team.run(work, n_chunks, threaded)


def _best_first(right: np.ndarray, weight_tolerance: int) -> np.ndarray:
    """Which rows of `right` have the largest values of each column, best first; of equals, which are no further apart
    than `weight_tolerance`, the first."""
    left = right.copy()
    order = np.empty((min(MOST_SURROGATES, len(right)), right.shape[1]), dtype=np.int64)
    for one in order:
        one[:] = (left >= left.max(axis=0) - weight_tolerance).argmax(axis=0)
        np.put_along_axis(left, one[np.newaxis], np.iinfo(np.int64).min // 2, axis=0)
    return order
