# SPDX-License-Identifier: BSD-3-Clause
"""Shared state of the growth of one tree: the rows and their weights, the criterion, and the core's arrays."""

from __future__ import annotations

import numpy as np

from fasttree import _core
from fasttree._core import GROUPED, MULTIWAY, ORDERED, THRESHOLD
from fasttree.base.ragged import begins
from fasttree.base.sums import sums
from fasttree.base.threads import ThreadTeam
from fasttree.encoding.encode import is_worth_threads
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.encoding.weights import IntegerWeights
from fasttree.growth.choosers.costs import AttributeCosts
from fasttree.growth.choosers.message_length import MessageLengthChooser
from fasttree.growth.criterion import make_criterion, size_limits, weight_tolerance_of
from fasttree.growth.level import HistogramPool
from fasttree.growth.params import CATEGORICAL_SPLITS, MISSING, GrowthParams
from fasttree.growth.rows_memory import MOST_NARROW_BRANCHES, RowBuffers
from fasttree.growth.surrogates import SurrogateSearch

RECORD_BYTES = 2**22  # of the (attribute, node) records of a batch


class GrowthContext:
    """Shared state of one fit: rows and weights, criterion, histogram pool, scratch, and the arrays of the core."""

    def __init__(
        self,
        table: EncodedTable,
        sorted_entries: np.ndarray,
        params: GrowthParams,
        weights: IntegerWeights | None,
        team: ThreadTeam,
        costs: AttributeCosts | None = None,
    ) -> None:
        self.team = team
        self.params = params
        steps = None if weights is None else weights.quantised
        if weights is not None and weights.is_mask:
            weights = None  # the lists lack the rows that do not count; the others need no weights
        self.weights = weights
        self.priors = table.schema.priors
        self.costs = costs
        self.is_partitioned = False  # the rows, from the root on
        self.shape = _shapes(table, params)
        self.length_chooser = (
            MessageLengthChooser(params, self.shape, table.n_codes) if params.by_length else None
        )
        self.is_all_numeric = bool((self.shape == THRESHOLD).all())
        self.names = table.schema.names
        self.n_codes = table.n_codes
        self.list_row = table.list_row
        self.has_missing = table.has_missing
        self.n_attributes = table.n_attributes
        self.n_classes = table.n_classes
        binned = np.flatnonzero(table.list_row < 0)
        cell_start = np.zeros(table.n_attributes, dtype=np.int64)
        cells = table.n_codes[binned].astype(np.int64) * self.n_classes
        cell_start[binned] = begins(cells)
        self.n_rows = table.n_rows if steps is None else int(np.count_nonzero(steps))
        self.is_fractional = params.missing == "fractional" and bool(table.has_missing.any())
        # Nodes that are scored in one go: of each attribute a score, a cut and a split.
        self.batch = max(1, RECORD_BYTES // (24 * self.n_attributes))
        # With fractional rows too: their shares sum to their weight, so that siblings leave the largest child its own.
        self.histogram_pool = HistogramPool(int(cells.sum()), self.n_rows, self.batch)
        self.root_counts = np.zeros(self.n_classes, dtype=np.int64)
        _core.class_totals(table.y, steps, self.root_counts)
        total = int(self.root_counts.sum())
        has_lists = len(binned) < table.n_attributes
        lightest_row = None
        if self.is_fractional and weights is not None:
            plain = weights.plain_rows(table.y)
            lightest_row = int(plain[weights.quantised > 0].min())
        self.limits = size_limits(params, weights, total, lightest_row)
        self.criterion = make_criterion(
            params, self.n_classes, total, weights, has_lists, self.limits.leaf
        )
        self.is_multiway = self.shape == MULTIWAY
        self.is_grouped = self.shape == GROUPED
        by_value = self.is_multiway | self.is_grouped
        self.core = _core.Grower(
            self.criterion,
            table.codes,
            table.list_row,
            self.shape,
            table.n_codes,
            table.has_missing,
            MISSING[params.missing],
            np.empty((self.histogram_pool.capacity, int(cells.sum())), dtype=np.int64),
            cell_start,
            table.rank_shift,
            self.steps_per_unit,
        )
        if params.c45:
            self.core.set_values(*_close_values(table, team))
        self.has_binned = len(binned) > 0
        self.row_buffers = RowBuffers(
            table,
            sorted_entries,
            steps,
            self.weights is not None,
            self.core,
            self.is_fractional,
            keeps_branches=params.by_chance,
            many_branches=int(self.n_codes[by_value].max(initial=2)) > MOST_NARROW_BRANCHES,
        )
        self.list_scratch = [np.empty(self.n_rows, dtype=np.uint64) for _ in range(team.size)]
        self.surrogates = None
        if params.missing == "surrogate":
            self.surrogates = SurrogateSearch(
                table, self.core, self.shape, weights, team, self.list_scratch
            )

    @property
    def steps_per_unit(self) -> int:
        return 1 if self.weights is None else self.weights.steps_per_unit

    @property
    def weight_tolerance(self) -> int:
        """Steps by which weights may differ and be equal."""
        return 0 if self.weights is None else weight_tolerance_of(self.params, self.weights)

    def limit_weights(self, counts: np.ndarray, total: np.ndarray) -> np.ndarray:
        """What the limits on sizes count of some nodes, from their class counts and their sums: weight before the
        class factors."""
        if self.weights is None or self.weights.factor is None:
            return total
        return np.asarray(self.weights.plain(counts).sum(axis=1))

    def plain(self, counts: np.ndarray) -> np.ndarray:
        """Class counts without the class factors."""
        return counts if self.weights is None else self.weights.plain(counts)

    def pull(self, counts: np.ndarray) -> np.ndarray:
        """The weight by which a node draws rows that know nothing better: with class weights, without costs."""
        return sums(self.priors.weighted(self.plain(counts)))

    @property
    def pull_in_words(self) -> np.ndarray | None:
        """By what the steps of each class are to be multiplied for their `pull`, in units of 2^-64 of the largest; None
        if all count the same."""
        if self.weights is None or self.weights.factor is None or self.priors.cost_matrix is None:
            return None
        pull = self.priors.weighted(1 / self.weights.factor)
        return np.ldexp(pull / pull.max(), 63).astype(np.uint64)

    def release(self) -> None:
        """Growth is over."""
        self.row_buffers.release()
        self.list_scratch.clear()


def _shapes(table: EncodedTable, params: GrowthParams) -> np.ndarray:
    by_set = CATEGORICAL_SPLITS[params.categorical_split]
    return np.array(
        [
            THRESHOLD if a.categories is None else ORDERED if a.ordered else by_set
            for a in table.schema.attributes
        ],
        dtype=np.int32,
    )


def _close_values(table: EncodedTable, team: ThreadTeam) -> tuple[np.ndarray, np.ndarray]:
    """The value of each code of those numeric attributes that have values too close for a cut, one attribute after
    another, and where each begins; -1 for all others."""
    numeric = [i for i, a in enumerate(table.schema.attributes) if not a.is_categorical]
    values = [np.empty(0)] * table.n_attributes

    def find(worker: int, i: int) -> None:
        found = table.first_values(numeric[i])
        if not (found[:-1] + _core.LEAST_GAP < found[1:]).all():
            values[numeric[i]] = np.append(-np.inf, found)

    team.run(find, len(numeric), is_worth_threads(table.n_rows, len(numeric)))
    n_values = np.array([len(found) for found in values])
    return np.concatenate(values), np.where(n_values > 0, begins(n_values), -1)
