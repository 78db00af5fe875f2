# SPDX-License-Identifier: BSD-3-Clause
"""Rows to leaves, leaves to class shares or to numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasttree import _core
from fasttree.base.threads import ThreadTeam
from fasttree.base.values import column_label
from fasttree.tables.factors import MISSING_CODE, UNKNOWN_CODE, missing_value_error
from fasttree.tables.table import Table
from fasttree.trees import decide
from fasttree.trees.class_shares import settled
from fasttree.trees.regression_tree import RegressionTree
from fasttree.trees.structure import TreeStructure
from fasttree.trees.tree import Tree

ROWS_PER_TASK = 32_768
THREADED_STEPS = 1_000_000  # rows x depth: with fewer, starting threads takes longer than they save


@dataclass(frozen=True, slots=True)
class ReadPolicy:
    """How rows are read that lack something."""

    allow_missing: bool = True
    # An unknown category ends the way of a row; else it counts as missing.
    stops_at_unknown: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """All that is known of some rows."""

    leaves: np.ndarray
    classes: np.ndarray
    shares: np.ndarray | None
    spread: np.ndarray  # the rows that went down several branches


def leaves_of(
    tree: TreeStructure, table: Table, policy: ReadPolicy, n_jobs: int | None = None
) -> np.ndarray:
    """The leaf of each row, or the node at which its way ends; of several leaves the one with the largest share."""
    return _route(tree, _values(tree), table, policy, n_jobs)[0]


def numbers_of(
    tree: RegressionTree, table: Table, policy: ReadPolicy, n_jobs: int | None = None
) -> np.ndarray:
    """The number that is predicted for each row."""
    return tree.prediction[leaves_of(tree, table, policy, n_jobs)]


def shares_of(
    tree: Tree, table: Table, policy: ReadPolicy, n_jobs: int | None = None
) -> np.ndarray:
    """The class shares of each row's leaf."""
    shares = np.empty((table.n_rows, tree.proba.shape[1]))
    _route(tree, tree.proba, table, policy, n_jobs, shares)
    return shares


def classes_of(
    tree: Tree, table: Table, policy: ReadPolicy, n_jobs: int | None = None
) -> np.ndarray:
    """The class number of each row."""
    return scores_of(tree, table, policy, n_jobs).classes


def scores_of(
    tree: Tree,
    table: Table,
    policy: ReadPolicy,
    n_jobs: int | None = None,
    with_shares: bool = False,
) -> Scores:
    """Leaf and class of each row, and the class shares if they are wanted, for one way down the tree."""
    out = np.empty((table.n_rows, tree.proba.shape[1])) if with_shares else None
    leaves, spread, shares = _route(tree, tree.proba, table, policy, n_jobs, out)
    classes = tree.pred[leaves]
    if len(spread):
        classes[spread] = classes_of_shares(tree, shares)
    return Scores(leaves, classes, out, spread)


def classes_of_shares(tree: Tree, shares: np.ndarray) -> np.ndarray:
    """The class number for each row of class shares."""
    return decide.classes_of_shares(decide.raised(shares), tree.schema)


def _values(tree: TreeStructure) -> np.ndarray:
    """What is predicted at each node, [node, number]."""
    if isinstance(tree, Tree):
        return tree.proba
    assert isinstance(tree, RegressionTree)
    return tree.prediction[:, np.newaxis]


def _route(
    tree: TreeStructure,
    values: np.ndarray,
    table: Table,
    policy: ReadPolicy,
    n_jobs: int | None,
    out: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The leaf of each row; the rows that went down several branches; and their class shares.

    `out`, if given, is filled with the class shares of all the rows.
    """
    n_tasks = -(-table.n_rows // ROWS_PER_TASK)
    leaves = np.empty(table.n_rows, dtype=np.int32)
    router = tree.router
    is_leaf = tree.is_leaf() if tree.shares_rows else None  # None: every row goes one way
    nowhere = np.empty(0, dtype=np.int64), np.empty((0, values.shape[1]))
    spread: list[tuple[np.ndarray, np.ndarray]] = [nowhere] * n_tasks

    def work(worker: int, i: int) -> None:
        start, stop = i * ROWS_PER_TASK, min((i + 1) * ROWS_PER_TASK, table.n_rows)
        block = routing_block(table, start, stop, policy)
        # Blocks made of columns have been checked, and hold NaN for unknown categories too.
        allow_missing = policy.allow_missing or table.matrix is None
        nan = router.leaves(block, 0, stop - start, allow_missing, leaves[start:stop])
        if nan is not None:
            raise refusal(table.names[nan[1]], start + nan[0])
        if out is not None:
            _core.rows_at(values, leaves, start, stop, out)
        if is_leaf is None:
            return
        rows = np.flatnonzero(~is_leaf[leaves[start:stop]])
        shares = np.empty((len(rows), values.shape[1]))
        heaviest = np.empty(len(rows), dtype=np.int32)
        several = np.zeros(len(rows), dtype=np.uint8)
        if not router.spread(
            block, rows, tree.weight, values, decide.CLASS_TIE, heaviest, shares, several
        ):
            raise MemoryError("not enough memory to follow several branches")
        leaves[start + rows] = heaviest
        if out is not None:
            out[start + rows] = shares
        # A row with one end is like any other that ends at the node, also if that is no leaf.
        is_spread = several.astype(bool)
        rows, shares = rows[is_spread], decide.raised(settled(shares[is_spread]))
        if out is not None:
            out[start + rows] = shares
        spread[i] = (start + rows, shares)

    with ThreadTeam(n_jobs, most_threads(tree, table), brief=True) as team:
        team.run(work, n_tasks)
    if is_leaf is None:
        return leaves, *nowhere
    rows = np.concatenate([rows for rows, _ in spread])
    return leaves, rows, np.concatenate([shares for _, shares in spread])


def is_worth_threads(tree: TreeStructure, table: Table) -> bool:
    return table.n_rows * min(tree.max_depth, 32) > THREADED_STEPS


def most_threads(tree: TreeStructure, table: Table) -> int:
    # One task, as most predictions of single rows, never is worth a second thread.
    n_tasks = -(-table.n_rows // ROWS_PER_TASK)
    return n_tasks if n_tasks > 1 and is_worth_threads(tree, table) else 1


def routing_block(table: Table, start: int, stop: int, policy: ReadPolicy) -> np.ndarray:
    """Rows as numbers: the table's own memory if it can be read as it is, else a block of values and codes."""
    if table.matrix is not None:
        block = table.matrix[start:stop]
        if block.dtype in (np.float32, np.float64):
            return block
        return block.astype(np.float64)
    assert table.columns is not None
    block = np.empty((stop - start, len(table.columns)))
    for j, column in enumerate(table.columns):
        if column.codes is not None:
            codes = column.codes[start:stop]
            block[:, j] = codes
            missing = codes == MISSING_CODE
            block[missing, j] = np.nan
            if not policy.stops_at_unknown:
                block[codes == UNKNOWN_CODE, j] = np.nan
        else:
            assert column.values is not None
            block[:, j] = column.values[start:stop]
            missing = np.isnan(block[:, j])
        if not policy.allow_missing and missing.any():
            raise refusal(column.name, start + int(np.argmax(missing)))
    return block


def refusal(name: str, row: int) -> ValueError:
    remedy = 'impute it, or fit with missing="branch" or missing="category"'
    return missing_value_error(column_label(name), row, remedy)
