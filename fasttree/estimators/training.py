# SPDX-License-Identifier: BSD-3-Clause
"""One fit: its rows, the trees that are grown from all or some of them, and what each way of pruning needs of these."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from fasttree import pruning
from fasttree.base import progress
from fasttree.base.checks import SELECTED
from fasttree.base.ragged import begins, flat_indices
from fasttree.base.threads import ThreadTeam
from fasttree.encoding.dataset import TrainingSet
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.encoding.folds import (
    NOT_PRUNED,
    Folds,
    choose_folds,
    given_folds,
    hold_out,
    is_number_of_folds,
    value_hashes,
)
from fasttree.encoding.merging import as_read_by, merged
from fasttree.growth.choosers.costs import AttributeCosts
from fasttree.growth.grow import grow
from fasttree.growth.params import GrowthParams
from fasttree.mml.message import TestOptions
from fasttree.mml.options import choices_of_rows
from fasttree.pruning.after_growth import within_limits
from fasttree.pruning.chosen_splits import ChosenSplits
from fasttree.pruning.requirements import FOLDS, HELD_OUT, TRAINING_ROWS
from fasttree.tables.training import Table
from fasttree.trees.predict import LeafShares, ReadPolicy, leaf_shares_of, routing_block
from fasttree.trees.tree import Tree

OTHER_ROWS = "X, y and sample_weight are not the rows that this tree was grown from: pass the same ones as to fit"
VALIDATION_SHARE = 0.3  # of the rows, held out where validation rows are needed and none are given


@dataclass(frozen=True, slots=True, eq=False)
class Validation:
    """Rows that no tree is grown from."""

    table: Table
    codes: np.ndarray  # class numbers
    policy: ReadPolicy


@dataclass(frozen=True, slots=True, eq=False)
class PruneResult:
    """A tree, and how it became as small as it is."""

    tree: Tree
    trace: pruning.Trace | None = None
    path: pruning.Path | None = None
    choice: pruning.Choice | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Trainer:
    """The rows of a fit, encoded once, and all that a tree of them depends on."""

    rows: TrainingSet
    table: Table | None  # the same rows as routing reads them; None: nobody will ask
    team: ThreadTeam
    params: GrowthParams
    costs: AttributeCosts | None
    finish: Callable[[Tree, TestOptions | None], Tree]  # what is done to each grown tree
    seed: int
    groups: np.ndarray | None = None  # of each row: these are drawn as a whole

    def grow(
        self,
        left_out: np.ndarray | None = None,
        use_up: bool = False,
        candidate_scores: list[tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None,
    ) -> Tree:
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
        grown = grow(
            encoded, self.params, self.team, weights, used_up, self.costs, candidate_scores
        )
        factor = None if weights is None else weights.factor
        return self.finish(*within_limits(*grown, self.params, chance, factor))

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

    def fit(self, pruner: Any, validation: Validation | None) -> PruneResult:
        """Grow a tree and prune it; `pruner` is None or a pruning object."""
        if pruner is None:
            return PruneResult(self.grow(use_up=True))
        if pruner.needs == HELD_OUT and validation is None:
            held = self._held_out()
            if held.any():
                tree = self.grow(held, use_up=True)
                return _by_held_out(tree, pruner, self.counts_of(tree, held))
            tree = self.grow(use_up=True)
            if tree.node_count > 1:
                warnings.warn(
                    f"a fraction of {VALIDATION_SHARE} of {self.rows.n_given} rows leaves no validation rows: "
                    f"{NOT_PRUNED}",
                    UserWarning,
                    stacklevel=3,
                )
            return _unpruned(tree, pruner)
        tree = self.grow(use_up=pruner.needs != FOLDS or validation is not None)
        return prune(tree, pruner, self, validation)

    def check_grown(self, tree: Tree) -> None:
        """Are these the rows that a tree was grown from?"""
        encoded, n_classes = self.rows.encoded, tree.counts.shape[1]
        own = np.bincount(encoded.y, self.rows.plain_weights(), minlength=n_classes)
        schema = merged(encoded, self.rows.weights, self.params.min_category_count).schema
        if schema != tree.schema or not np.allclose(own, tree.counts[0], rtol=1e-9):
            raise ValueError(OTHER_ROWS)

    # -- parts of the rows -------------------------------------------------------------------------------------------

    def folds(self, folds: Any, otherwise: str | None = NOT_PRUNED) -> Folds | None:
        """Drawn folds, or those that the user gave; None: there are too few rows."""
        weight = self.rows.weight
        n_rows = self.rows.encoded.n_rows
        if is_number_of_folds(folds):
            rows = self._drawable()
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

    def trees_of(self, folds: Folds) -> Iterator[tuple[Tree, np.ndarray]]:
        """For each fold the tree that was grown without it, and what each row weighs in it."""
        filled = folds.filled()
        for number, fold in enumerate(filled, start=1):
            left_out = folds.weights(fold)
            with progress.within(f"without fold {number} of {len(filled)}"):
                grown = self.grow(left_out)
            yield grown, left_out

    def _held_out(self) -> np.ndarray:
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
        codes, weight, groups = self.rows.encoded.y.astype(np.int64), self.rows.weight, self.groups
        if weight is None or weight.all():
            hashes = value_hashes(self.table.values(), len(codes), self.seed)
            return _Drawable(np.arange(len(codes)), codes, hashes, weight, groups)
        counted = np.flatnonzero(weight)
        values = (column[counted] for column in self.table.values())
        hashes = value_hashes(values, len(counted), self.seed)
        groups = None if groups is None else groups[counted]
        return _Drawable(counted, codes[counted], hashes, weight[counted], groups)

    # -- where rows end ----------------------------------------------------------------------------------------------

    def counts_of(self, tree: Tree, weight: np.ndarray) -> np.ndarray:
        """Where these parts of the rows' weights end in a tree, counted by class."""
        part, codes, weight = self.part(weight)
        return _counts(tree, self.leaf_shares(tree, part), codes, weight)

    def fold_rows(self, tree: Tree, folds: Folds) -> Iterator[pruning.FoldRows]:
        """For each fold where its rows end, in the tree that did not see them and in the `tree` of all."""
        for grown, held in self.trees_of(folds):
            part, codes, weight = self.part(held)
            there, here = (self.leaf_shares(one, part) for one in (grown, tree))
            first, second = _pairs(there, here, part.n_rows)
            row = there.row[first]
            both = LeafShares(row, there.node[first], there.share[first] * here.share[second])
            yield pruning.FoldRows(
                grown, both.node, here.node[second], codes[row], both.weights(weight)
            )

    def leaf_shares(self, tree: Tree, part: Table) -> LeafShares:
        """Where each of some rows ends in a tree."""
        return leaf_shares_of(tree, as_read_by(part, tree.schema), ReadPolicy(), self.team)

    def training_rows(self, tree: Tree) -> pruning.TrainingRows:
        """The rows for subtree raising, as the tree reads them."""
        assert self.table is not None
        codes, weights = self.rows.encoded.y.astype(np.int32), self.rows.plain_weights()
        table = as_read_by(self.table, tree.schema)
        if weights is not None and not weights.all():
            counted = np.flatnonzero(weights)
            table, codes, weights = table.take(counted), codes[counted], weights[counted]
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


def tests_by_rows(params: GrowthParams) -> bool:
    """Will growth look at training rows again, for its test?"""
    return params.significance is not None and params.significance_test == SELECTED


def reads_rows(pruner: Any) -> bool:
    """Will a pruning method look at training rows again, after growth?"""
    return pruner is not None and pruner.needs in (FOLDS, HELD_OUT, TRAINING_ROWS)


def prune(
    tree: Tree, pruner: Any, trainer: Trainer | None = None, validation: Validation | None = None
) -> PruneResult:
    """A grown tree, smaller. What the method needs must be there: validation rows, or those of the tree itself."""
    progress.step(f"pruning {tree.n_leaves:,} leaves")
    if pruner.needs == HELD_OUT or (pruner.needs == FOLDS and validation is not None):
        assert validation is not None
        with_team = ThreadTeam(None, most=1) if trainer is None else trainer.team
        policy = validation.policy
        table = as_read_by(validation.table, tree.schema, policy.stops_at_unknown)
        leaf_shares = leaf_shares_of(tree, table, policy, with_team)
        weight = np.ones(validation.table.n_rows)
        return _by_held_out(tree, pruner, _counts(tree, leaf_shares, validation.codes, weight))
    if pruner.needs == FOLDS:
        assert trainer is not None
        return _by_folds(tree, pruner, trainer)
    if pruner.needs == TRAINING_ROWS:
        assert trainer is not None
        if isinstance(pruner, pruning.Significance):
            p_of = trainer.chance_of(tree)
            return PruneResult(*pruning.significance(tree, pruner, p_of))
        rows = trainer.training_rows(tree)
        if isinstance(pruner, pruning.MessageLength):
            choices = choices_of_rows(tree, rows.table, trainer.params.categorical_split)
            return PruneResult(*pruning.by_message_length(tree, choices, pruner))
        return PruneResult(*pruning.error_based(tree, pruner, rows))
    return PruneResult(*_ALONE[type(pruner)](tree, pruner))


_ALONE: dict[type, Callable[[Tree, Any], tuple[Tree, pruning.Trace]]] = {
    pruning.ErrorBased: pruning.error_based,
    pruning.LeafPenalty: pruning.leaf_penalty,
    pruning.Significance: pruning.significance,
}


def _by_held_out(tree: Tree, pruner: Any, held: np.ndarray) -> PruneResult:
    if isinstance(pruner, pruning.ReducedError):
        return PruneResult(*pruning.reduced_error(tree, held, pruner))
    path = pruning.cost_complexity_path(tree, pruner.impurity)
    choice = pruning.choose_by_held_out(tree, path, held, pruner.se)
    return PruneResult(*pruning.prune_at(tree, path, choice.alpha), path, choice)


def _by_folds(tree: Tree, pruner: Any, trainer: Trainer) -> PruneResult:
    folds = None if tree.node_count == 1 else trainer.folds(pruner.folds)
    if folds is None:
        return _unpruned(tree, pruner)
    if isinstance(pruner, pruning.CrossValidated):
        return PruneResult(*pruning.cross_validated(tree, trainer.fold_rows(tree, folds)))
    path = pruning.cost_complexity_path(tree, pruner.impurity)
    trees = ((grown, trainer.counts_of(grown, held)) for grown, held in trainer.trees_of(folds))
    choice = pruning.choose_by_folds(path, trees, pruner.se)
    return PruneResult(*pruning.prune_at(tree, path, choice.alpha), path, choice)


def _unpruned(tree: Tree, pruner: Any) -> PruneResult:
    """The tree as it is, and the trace of no step."""
    name = next(name for name, kind in pruning.METHODS.items() if isinstance(pruner, kind))
    whole, trace = pruning.snip(tree, ())
    path = None
    if isinstance(pruner, pruning.CostComplexity):
        path = pruning.cost_complexity_path(tree, pruner.impurity)
    return PruneResult(whole, replace(trace, method=name), path)


def _counts(
    tree: Tree, leaf_shares: LeafShares, codes: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    return pruning.held_out_counts(
        tree, leaf_shares.node, codes[leaf_shares.row], leaf_shares.weights(weight)
    )


def _pairs(first: LeafShares, second: LeafShares, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Each end of a row in one tree with each of its ends in another, as places."""
    n_second = np.bincount(second.row, minlength=n_rows)
    times = n_second[first.row]
    place = np.repeat(np.arange(len(first.row)), times)
    return place, flat_indices(begins(n_second)[first.row], times)
