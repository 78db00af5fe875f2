# SPDX-License-Identifier: BSD-3-Clause
"""What a user passes to ``fit``, read, checked and encoded with the parameters of an estimator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fasttree.base import progress
from fasttree.base.checks import SELECTED, check_seed, check_unknown
from fasttree.encoding.training_set import training
from fasttree.estimators.training import Trainer
from fasttree.growth.choosers.costs import check_costs
from fasttree.tables.training import read_groups


@contextmanager
def trainer_of(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    with_table: bool,
    groups: Any = None,
) -> Iterator[Trainer]:
    """The rows of a fit, from which trees with the parameters of an estimator of trees are grown; `with_table`:
    routing will read them again."""
    params = model._growth()
    check_unknown(model.unknown)
    seed = check_seed(model.random_state)
    with (
        progress.reporting(model.verbose, type(model).__name__),
        training(
            X,
            y,
            sample_weight,
            model.categorical_features,
            model.max_bins,
            model.n_jobs,
            params.missing,
            ordered_features=model.ordered_features,
            class_weight=model.class_weight,
            misclassification_cost=model.misclassification_cost,
            of_numbers=model._estimator_type == "regressor",
        ) as (rows, team),
    ):
        costs = check_costs(model.attribute_costs, model.cost_function, rows.encoded.schema.names)
        reads_rows = params.significance is not None and params.significance_test == SELECTED
        # What a tree of numbers predicts follows from where its rows end.
        reads_rows |= rows.encoded.numbers is not None
        table = rows.table() if with_table or reads_rows else None
        group_of = read_groups(groups, rows.n_given)
        if group_of is not None and rows.present is not None:
            group_of = group_of[rows.present]
        yield Trainer(rows, table, team, params, costs, model._finish, seed, group_of)
