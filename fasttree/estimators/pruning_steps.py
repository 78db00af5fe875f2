# SPDX-License-Identifier: BSD-3-Clause
"""The tree of a fit, grown and pruned: what each way of pruning needs of the training rows or of validation rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fasttree import pruning
from fasttree.base import progress
from fasttree.base.threads import ThreadTeam
from fasttree.encoding.folds import NOT_PRUNED
from fasttree.encoding.merging import as_read_by
from fasttree.estimators.training import VALIDATION_SHARE, Trainer, counts_at
from fasttree.mml.options import choices_of_rows
from fasttree.persistence.parts import FittedModel
from fasttree.pruning.held_out import losses_of_numbers
from fasttree.pruning.requirements import FOLDS, HELD_OUT, TRAINING_ROWS
from fasttree.tables.table import Table
from fasttree.trees.paths import leaf_shares_of
from fasttree.trees.predict import ReadPolicy
from fasttree.trees.regression_tree import RegressionTree
from fasttree.trees.tree import Tree


@dataclass(frozen=True, slots=True, eq=False)
class Validation:
    """Rows that no tree is grown from."""

    table: Table
    target: np.ndarray  # class numbers, or numbers
    policy: ReadPolicy


def reads_rows(pruner: Any) -> bool:
    """Will a pruning method look at training rows again, after growth?"""
    return pruner is not None and pruner.needs in (FOLDS, HELD_OUT, TRAINING_ROWS)


def grow_and_prune(trainer: Trainer, pruner: Any, validation: Validation | None) -> FittedModel:
    """A tree of the rows of `trainer`, pruned; `pruner` is None or a pruning object."""
    if pruner is None:
        tree, choices = trainer.grow(use_up=True)
        return FittedModel(tree, choices=choices)
    if pruner.needs == HELD_OUT and validation is None:
        held = trainer.held_out()
        if held.any():
            tree, _ = trainer.grow(held, use_up=True)
            return _by_held_out(tree, pruner, trainer.counts_of(tree, held))
        tree, _ = trainer.grow(use_up=True)
        if tree.node_count > 1:
            warnings.warn(
                f"a fraction of {VALIDATION_SHARE} of {trainer.rows.n_given} rows leaves no validation rows: "
                f"{NOT_PRUNED}",
                UserWarning,
                stacklevel=4,
            )
        return _unpruned(tree, pruner)
    tree, _ = trainer.grow(use_up=pruner.needs != FOLDS or validation is not None)
    return prune(tree, pruner, trainer, validation)


def prune(
    tree: Any, pruner: Any, trainer: Trainer | None = None, validation: Validation | None = None
) -> FittedModel:
    """A grown tree, smaller. What the method needs must be there: validation rows, or those of the tree itself."""
    progress.step(f"pruning {tree.n_leaves:,} leaves")
    if pruner.needs == HELD_OUT or (pruner.needs == FOLDS and validation is not None):
        assert validation is not None
        team = ThreadTeam(None, most=1) if trainer is None else trainer.team
        policy = validation.policy
        table = as_read_by(validation.table, tree.schema, policy.stops_at_unknown)
        leaf_shares = leaf_shares_of(tree, table, policy, team)
        weight = np.ones(validation.table.n_rows)
        if isinstance(tree, RegressionTree):
            losses = losses_of_numbers(tree, leaf_shares.node, validation.target, weight, tree)
            return _by_held_out(tree, pruner, losses)
        return _by_held_out(tree, pruner, counts_at(tree, leaf_shares, validation.target, weight))
    if pruner.needs == FOLDS:
        assert trainer is not None
        return _by_folds(tree, pruner, trainer)
    if pruner.needs == TRAINING_ROWS:
        assert trainer is not None
        if isinstance(pruner, pruning.Significance):
            p_of = trainer.chance_of(tree)
            return FittedModel(*pruning.significance(tree, pruner, p_of))
        rows = trainer.training_rows(tree)
        if isinstance(pruner, pruning.MessageLength):
            choices = choices_of_rows(tree, rows.table, trainer.params.categorical_split)
            return FittedModel(*pruning.by_message_length(tree, choices, pruner))
        return FittedModel(*pruning.error_based(tree, pruner, rows))
    return FittedModel(*_ALONE[type(pruner)](tree, pruner))


_ALONE: dict[type, Callable[[Tree, Any], tuple[Tree, pruning.Trace]]] = {
    pruning.ErrorBased: pruning.error_based,
    pruning.LeafPenalty: pruning.leaf_penalty,
    pruning.Significance: pruning.significance,
}


def _by_held_out(tree: Any, pruner: Any, held: Any) -> FittedModel:
    if isinstance(pruner, pruning.ReducedError):
        return FittedModel(*pruning.reduced_error(tree, held, pruner))
    path = pruning.cost_complexity_path(tree, pruner.impurity)
    choice = pruning.choose_by_held_out(tree, path, held, pruner.se)
    return FittedModel(*pruning.prune_at(tree, path, choice.alpha), path, choice)


def _by_folds(tree: Any, pruner: Any, trainer: Trainer) -> FittedModel:
    folds = None if tree.node_count == 1 else trainer.folds(pruner.folds)
    if folds is None:
        return _unpruned(tree, pruner)
    if isinstance(pruner, pruning.CrossValidated):
        return FittedModel(*pruning.cross_validated(tree, trainer.fold_rows(tree, folds)))
    path = pruning.cost_complexity_path(tree, pruner.impurity)
    trees = ((grown, trainer.held_of(grown, held, tree)) for grown, held in trainer.trees_of(folds))
    choice = pruning.choose_by_folds(path, trees, pruner.se)
    return FittedModel(*pruning.prune_at(tree, path, choice.alpha), path, choice)


def _unpruned(tree: Any, pruner: Any) -> FittedModel:
    """The tree as it is, and the trace of no step."""
    name = next(name for name, kind in pruning.METHODS.items() if isinstance(pruner, kind))
    whole, trace = pruning.snip(tree, ())
    path = None
    if isinstance(pruner, pruning.CostComplexity):
        path = pruning.cost_complexity_path(tree, pruner.impurity)
    return FittedModel(whole, replace(trace, method=name), path)
