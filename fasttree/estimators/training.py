# SPDX-License-Identifier: BSD-3-Clause
"""The trees that are grown from all or some of the rows of one fit, and where rows end in these trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fasttree import pruning
from fasttree.base import progress
from fasttree.base.ragged import begins, flat_indices
from fasttree.base.sums import total
from fasttree.base.threads import ThreadTeam
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.encoding.folds import (
    NOT_PRUNED,
    Folds,
    choose_folds,
    choose_number_folds,
    given_folds,
    hold_out,
    is_number_of_folds,
    strata_of,
    value_hashes,
    with_classes,
)
from fasttree.encoding.merging import as_read_by, merged
from fasttree.encoding.training_set import TrainingSet
from fasttree.encoding.weights import IntegerWeights
from fasttree.growth.choosers.costs import AttributeCosts
from fasttree.growth.grow import grow
from fasttree.growth.params import GrowthParams
from fasttree.mml.message import TestOptions
from fasttree.pruning.after_growth import within_limits
from fasttree.pruning.chosen_splits import ChosenSplits
from fasttree.pruning.held_out import losses_of_numbers
from fasttree.tables.training import Table
from fasttree.trees.paths import LeafShares, leaf_shares_of
from fasttree.trees.predict import ReadPolicy, routing_block
from fasttree.trees.regression_tree import RegressionTree, with_values
from fasttree.trees.structure import TreeStructure
from fasttree.trees.tree import Tree

OTHER_ROWS = "X, y and sample_weight are not the rows that this tree was grown from: pass the same ones as to fit"
VALIDATION_SHARE = 0.3  # of the rows, held out where validation rows are needed and none are given

# Tree or RegressionTree, with the choices that growth by length had at its nodes.
Grown = tuple[Any, TestOptions | None]


@dataclass(frozen=True, slots=True, eq=False)
class Trainer:
    """The rows of a fit, encoded once, and all that a tree of them depends on."""

    rows: TrainingSet
    table: Table | None  # the same rows as routing reads them; None: nobody will ask
    team: ThreadTeam
    params: GrowthParams
    costs: AttributeCosts | None
    finish: Callable[[Any, TestOptions | None], Grown]  # what is done to each grown tree
    seed: int
    groups: np.ndarray | None = None  # of each row: these are drawn as a whole

    def grow(
        self,
        left_out: np.ndarray | None = None,
        use_up: bool = False,
        candidate_scores: list[tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None,
    ) -> Grown:
        """A tree of all the rows, or without what is `left_out` of their weights. `use_up`: it is the last one;
        `candidate_scores` as in `fasttree.growth.grow.grow`."""
        rows = self.rows
        weights = rows.weights
        if left_out is not None:
            weights = rows.without(left_out, self.params.missing)
        used_up = use_up and rows.used_up
        least = self.params.min_category_count
        encoded = merged(rows.encoded, weights, least, in_place=used_up)
        if used_up and encoded is not rows.encoded:
            rows.encoded.release_sorted_entries()
        plain = (
            None if weights is None else weights.plain_rows(rows.encoded.y) / weights.steps_per_unit
        )
        chance = partial(self.chance, encoded=encoded, weight=plain)
        tree, choices = grow(
            encoded, self.params, self.team, weights, used_up, self.costs, candidate_scores
        )
        if encoded.numbers is not None:
            tree = self._with_numbers(tree, encoded.numbers, weights)
        factor = None if weights is None else weights.factor
        return self.finish(*within_limits(tree, choices, self.params, chance, factor))

    def _with_numbers(
        self, tree: TreeStructure, numbers: np.ndarray, weights: IntegerWeights | None
    ) -> RegressionTree:
        """A tree of numbers with what it predicts, from the rows where they end."""
        assert self.table is not None
        leaves = self.leaf_shares(tree, self.table).node
        if weights is None:
            return with_values(tree, leaves, numbers, None, 1)
        return with_values(tree, leaves, numbers, weights.quantised, weights.steps_per_unit)

    def chance(
        self, tree: Tree, encoded: EncodedTable, weight: np.ndarray | None
    ) -> Callable[[np.ndarray], np.ndarray]:
        """The p-values of nodes by the test that knows what there was to choose between. `encoded` and `weight` are the
        rows that the tree was grown from."""
        assert self.table is not None
        if weight is None:
            weight = np.ones(encoded.n_rows)
        table = as_read_by(self.table, tree.schema)
        return ChosenSplits(tree, encoded, table, weight, self.params, self.team).p_values

    def chance_of(self, tree: Tree) -> Callable[[np.ndarray], np.ndarray]:
        """`chance` of a tree of all the rows that is there already."""
        rows, least = self.rows, self.params.min_category_count
        encoded = merged(rows.encoded, rows.weights, least)
        return self.chance(tree, encoded, rows.plain_weights())

    def check_grown(self, tree: Tree | RegressionTree) -> None:
        """Are these the rows that a tree was grown from?"""
        encoded = self.rows.encoded
        if isinstance(tree, Tree):
            counted = tree.counts[0]
            own = np.bincount(encoded.y, self.rows.plain_weights(), minlength=len(counted))
        else:
            assert encoded.numbers is not None
            counted = np.array([tree.weight[0], tree.prediction[0]])
            weight = (
                np.ones(encoded.n_rows) if self.rows.weight is None else self.rows.plain_weights()
            )
            assert weight is not None
            own = np.array([total(weight), total(weight * encoded.numbers) / total(weight)])
        schema = merged(encoded, self.rows.weights, self.params.min_category_count).schema
        if schema != tree.schema or not np.allclose(own, counted, rtol=1e-9):
            raise ValueError(OTHER_ROWS)

    # -- parts of the rows -------------------------------------------------------------------------------------------

    def folds(self, folds: Any, otherwise: str | None = NOT_PRUNED) -> Folds | None:
        """Drawn folds, or those that the user gave; None: there are too few rows."""
        weight = self.rows.weight
        n_rows = self.rows.encoded.n_rows
        if is_number_of_folds(folds):
            rows = self._drawable()
            if self.rows.encoded.numbers is not None:
                drawn = choose_number_folds(
                    folds, rows.hashes, rows.codes, rows.weight, groups=rows.groups
                )
                return None if drawn is None else drawn.at(rows.numbers, n_rows)
            classes = self.rows.encoded.schema.classes
            drawn = choose_folds(
                folds, rows.hashes, rows.codes, classes, rows.weight, otherwise, rows.groups
            )
            return None if drawn is None else drawn.at(rows.numbers, n_rows)
        if self.groups is not None:
            raise ValueError(
                "groups was passed, but the pruning object has its own folds: pass one of them or a number of folds"
            )
        fold_of = given_folds(folds, self.rows.n_given)
        if self.rows.present is not None:
            fold_of = fold_of[self.rows.present]
        counted_folds = fold_of if weight is None else fold_of[weight > 0]
        if (counted_folds == counted_folds[0]).all():
            raise ValueError(
                "folds assigns all rows of weight above 0 to one fold: use at least 2 folds"
            )
        return Folds.whole(fold_of, weight)

    def trees_of(self, folds: Folds) -> Iterator[tuple[Any, np.ndarray]]:
        """For each fold the tree that was grown without it, and what each row weighs in it."""
        filled = folds.filled()
        for number, fold in enumerate(filled, start=1):
            left_out = folds.weights(fold)
            with progress.within(f"without fold {number} of {len(filled)}"):
                grown, _ = self.grow(left_out)
            yield grown, left_out

    def held_out(self) -> np.ndarray:
        """What of each row's weight is held out."""
        rows = self._drawable()
        held = np.zeros(self.rows.encoded.n_rows)
        held[rows.numbers] = hold_out(
            rows.hashes, rows.codes, VALIDATION_SHARE, rows.weight, rows.groups
        )
        return held

    def _drawable(self) -> _Drawable:
        """The rows that have a weight."""
        assert self.table is not None
        encoded, weight, groups = self.rows.encoded, self.rows.weight, self.groups
        table, codes, numbers = self.table, encoded.y, encoded.numbers
        present = np.arange(encoded.n_rows)
        if weight is not None and not weight.all():
            present = np.flatnonzero(weight)
            table, codes, weight = table.take(present), codes[present], weight[present]
            numbers = None if numbers is None else numbers[present]
            groups = None if groups is None else groups[present]
        hashes = value_hashes(table.values(), len(present), self.seed)
        if numbers is not None:
            hashes, codes = with_classes(hashes, numbers), strata_of(numbers, weight)
        return _Drawable(present, codes.astype(np.int64), hashes, weight, groups)

    # -- where rows end ----------------------------------------------------------------------------------------------

    def counts_of(self, tree: Tree, weight: np.ndarray) -> np.ndarray:
        """Where these parts of the rows' weights end in a tree, counted by class."""
        part, codes, weight = self.part(weight)
        return counts_at(tree, self.leaf_shares(tree, part), codes, weight)

    def held_of(self, tree: Any, held: np.ndarray, root: Any) -> Any:
        """What a tree makes of the parts of the rows' weights that it did not see, as `fasttree.pruning` takes it:
        class counts, or what it loses; `root` is the tree of all rows."""
        if isinstance(tree, Tree):
            return self.counts_of(tree, held)
        assert self.table is not None
        assert self.rows.encoded.numbers is not None
        rows = np.flatnonzero(held)
        leaves = self.leaf_shares(tree, self.table.take(rows)).node
        weight = self.rows.as_counted(held)[rows]
        return losses_of_numbers(tree, leaves, self.rows.encoded.numbers[rows], weight, root)

    def fold_rows(self, tree: Tree, folds: Folds) -> Iterator[pruning.FoldRows]:
        """For each fold where its rows end, in the tree that did not see them and in the `tree` of all."""
        for grown, held in self.trees_of(folds):
            part, codes, weight = self.part(held)
            in_grown, in_tree = self.leaf_shares(grown, part), self.leaf_shares(tree, part)
            first, second = _pairs(in_grown, in_tree, part.n_rows)
            row = in_grown.row[first]
            shares = in_grown.share[first] * in_tree.share[second]
            both = LeafShares(row, in_grown.node[first], shares)
            yield pruning.FoldRows(
                grown, both.node, in_tree.node[second], codes[row], both.weights(weight)
            )

    def leaf_shares(self, tree: TreeStructure, part: Table) -> LeafShares:
        """Where each row of a part ends in a tree."""
        return leaf_shares_of(tree, as_read_by(part, tree.schema), ReadPolicy(), self.team)

    def training_rows(self, tree: Tree) -> pruning.TrainingRows:
        """The rows for subtree raising, as the tree reads them."""
        assert self.table is not None
        codes, weights = self.rows.encoded.y.astype(np.int32), self.rows.plain_weights()
        table = as_read_by(self.table, tree.schema)
        if weights is not None and not weights.all():
            present = np.flatnonzero(weights)
            table, codes, weights = table.take(present), codes[present], weights[present]
        values = routing_block(table, 0, table.n_rows, ReadPolicy())
        if table.matrix is not None and np.may_share_memory(values, table.matrix):
            values = values.copy()  # rows go down several times, and it may be the user's
        return pruning.TrainingRows(values, codes, weights)

    def part(self, weight: np.ndarray) -> tuple[Table, np.ndarray, np.ndarray]:
        """The rows with parts of their weights: the rows, the numbers of their classes, and what they count for."""
        assert self.table is not None
        rows = np.flatnonzero(weight)
        counted = self.rows.as_counted(weight)[rows]
        return self.table.take(rows), self.rows.encoded.y[rows].astype(np.int64), counted


@dataclass(frozen=True, slots=True, eq=False)
class _Drawable:
    """Rows that folds are drawn of."""

    numbers: np.ndarray
    codes: np.ndarray
    hashes: np.ndarray
    weight: np.ndarray | None
    groups: np.ndarray | None


def as_it_is(tree: Tree, choices: TestOptions | None) -> Grown:
    """A grown tree that is left alone."""
    return tree, choices


def counts_at(
    tree: Tree, leaf_shares: LeafShares, codes: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """How much weight of each class ends at each node."""
    return pruning.held_out_counts(
        tree, leaf_shares.node, codes[leaf_shares.row], leaf_shares.weights(weight)
    )


def _pairs(first: LeafShares, second: LeafShares, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Each end of a row in one tree with each of its ends in another, as indices of both."""
    n_second = np.bincount(second.row, minlength=n_rows)
    times = n_second[first.row]
    index = np.repeat(np.arange(len(first.row)), times)
    return index, flat_indices(begins(n_second)[first.row], times)
