# SPDX-License-Identifier: BSD-3-Clause
"""Shared state of the growth of one tree, wherever its rows are held: attributes, weights, criterion, limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fasttree._core import GROUPED, MULTIWAY, ORDERED, THRESHOLD
from fasttree.base.sums import sums
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.encoding.weights import IntegerWeights
from fasttree.growth.choosers.costs import AttributeCosts
from fasttree.growth.choosers.message_length import MessageLengthChooser
from fasttree.growth.criterion import make_criterion, size_limits, weight_tolerance_of
from fasttree.growth.params import CATEGORICAL_SPLITS, GrowthParams
from fasttree.growth.targets import ClassTarget, Target


class RowTotals(NamedTuple):
    """All the rows of weight above 0, before growth begins."""

    stats: np.ndarray  # int64: their statistic
    n_rows: int
    lightest: int | None = None  # steps of the lightest row, before class factors; None: not asked


class GrowthContext:
    """Shared state of one fit: what is known of the attributes and the weights, the criterion, limits on sizes."""

    def __init__(
        self,
        table: EncodedTable,
        params: GrowthParams,
        weights: IntegerWeights | None,
        totals: RowTotals,
        target: Target,
        costs: AttributeCosts | None = None,
    ) -> None:
        """Of the `table` only what it says of its columns is read, not the rows."""
        self.target = target
        self.params = params
        self.weights = None if weights is None or weights.is_mask else weights
        self.priors = table.schema.priors
        self.costs = costs
        self.shape = _shapes(table, params)
        self.is_all_numeric = bool((self.shape == THRESHOLD).all())
        self.is_multiway = self.shape == MULTIWAY
        self.is_grouped = self.shape == GROUPED
        self.names = table.schema.names
        self.n_codes = table.n_codes
        self.n_attributes = table.n_attributes
        self.n_stats = target.n_stats
        self.has_information = params.c45 or params.by_length  # beside the gain of a split
        self.is_fractional = is_fractional(table, params)
        self.n_rows = totals.n_rows
        self.root_stats = totals.stats
        total = int(target.weight(totals.stats[np.newaxis])[0])
        self.limits = size_limits(params, self.weights, total, totals.lightest)
        has_lists = bool((table.list_row >= 0).any())
        self.criterion = make_criterion(
            params, target, total, self.weights, has_lists, self.limits.leaf
        )
        self.length_chooser = (
            MessageLengthChooser(params, self.shape, table.n_codes) if params.by_length else None
        )

    @property
    def steps_per_unit(self) -> int:
        return 1 if self.weights is None else self.weights.steps_per_unit

    @property
    def weight_tolerance(self) -> int:
        """Steps by which weights may differ and be equal."""
        return 0 if self.weights is None else weight_tolerance_of(self.params, self.weights)

    @property
    def class_factor(self) -> np.ndarray | None:
        """By what the weights of each class were multiplied; None: all by 1."""
        return None if self.weights is None else self.weights.factor

    def limit_weights(self, counts: np.ndarray, total: np.ndarray) -> np.ndarray:
        """What the limits on sizes count of some nodes, from their class counts and their sums: weight before the
        class factors."""
        if self.weights is None or self.class_factor is None:
            return total
        return np.asarray(self.weights.plain(counts).sum(axis=1))

    def plain(self, counts: np.ndarray) -> np.ndarray:
        """Class counts without the class factors."""
        return counts if self.weights is None else self.weights.plain(counts)

    def pull(self, counts: np.ndarray) -> np.ndarray:
        """The weight by which a node draws rows that know nothing better: with class weights, without costs."""
        if not isinstance(self.target, ClassTarget):
            return self.target.weight(counts)
        return sums(self.priors.weighted(self.plain(counts)))

    @property
    def pull_in_words(self) -> np.ndarray | None:
        """By what the steps of each class are to be multiplied for their `pull`, in units of 2^-64 of the largest; None
        if all count the same."""
        if self.class_factor is None or self.priors.cost_matrix is None:
            return None
        pull = self.priors.weighted(1 / self.class_factor)
        return np.ldexp(pull / pull.max(), 63).astype(np.uint64)


def is_fractional(table: EncodedTable, params: GrowthParams) -> bool:
    """May rows be distributed over several branches?"""
    return params.missing == "fractional" and bool(table.has_missing.any())


def _shapes(table: EncodedTable, params: GrowthParams) -> np.ndarray:
    by_set = CATEGORICAL_SPLITS[params.categorical_split]
    return np.array(
        [
            THRESHOLD if a.categories is None else ORDERED if a.ordered else by_set
            for a in table.schema.attributes
        ],
        dtype=np.int32,
    )
