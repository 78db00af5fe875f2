# SPDX-License-Identifier: BSD-3-Clause
"""Rows to leaves, leaves to class shares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree import _core
from fasttree.base import ragged
from fasttree.base.sums import sums, total
from fasttree.base.threads import ThreadTeam
from fasttree.base.values import column_label
from fasttree.encoding import class_weights
from fasttree.tables.factors import MISSING_CODE, UNKNOWN_CODE
from fasttree.tables.training import Table, missing_value_error
from fasttree.trees.class_shares import settled
from fasttree.trees.tree import Tree

ROWS_PER_TASK = 32_768
MAX_TESTED = 2**20  # rows x attributes that are noted at a time
THREADED_STEPS = 1_000_000  # rows x depth: with fewer, starting threads takes longer than they save


@dataclass(frozen=True, slots=True)
class ReadPolicy:
    """How rows are read that lack something."""

    allow_missing: bool = True
    # An unknown level ends the way of a row; else it counts as missing.
    stops_at_unknown: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """All that is known of some rows."""

    leaves: np.ndarray
    classes: np.ndarray
    shares: np.ndarray | None
    spread: np.ndarray  # the rows that went down several branches


@dataclass(frozen=True, slots=True, eq=False)
class LeafShares:
    """Where rows end: an entry for each row, or several with a share each, if it went down several branches."""

    row: np.ndarray  # ascending
    node: np.ndarray
    share: np.ndarray

    def weights(self, weight: np.ndarray) -> np.ndarray:
        """What the entries weigh if the rows weigh `weight`: in steps of a power of two, so that sums are exact in any
        order."""
        half, exponent = math.frexp(max(total(weight), 1.0))
        steps = math.ldexp(1.0, 51 - (exponent - 1 if half == 0.5 else exponent))
        return np.asarray(np.rint(weight[self.row] * self.share * steps) / steps)


def leaf_shares_of(tree: Tree, table: Table, policy: ReadPolicy, team: ThreadTeam) -> LeafShares:
    """Where each row of a table ends, with all its shares."""
    is_leaf, n_tasks = tree.is_leaf(), -(-table.n_rows // ROWS_PER_TASK)
    parts: list[Any] = [None] * n_tasks

    def work(worker: int, i: int) -> None:
        first = i * ROWS_PER_TASK
        block = routing_block(table, first, min(first + ROWS_PER_TASK, table.n_rows), policy)
        leaves = np.empty(len(block), dtype=np.int32)
        allow_missing = policy.allow_missing or table.matrix is None
        nan = tree.router.leaves(block, 0, len(block), allow_missing, leaves)
        if nan is not None:
            raise refusal(table.names[nan[1]], first + nan[0])
        row, node, share = np.arange(len(block)), leaves, np.ones(len(block))
        places = np.flatnonzero(~is_leaf[leaves])
        if tree.shares_rows and len(places):
            start, spread_node, spread_share = _spread(tree, block, places)
            n_ends = np.ones(len(block), dtype=np.int64)
            n_ends[places] = np.diff(start)
            row, is_spread = np.repeat(row, n_ends), np.repeat(~is_leaf[leaves], n_ends)
            node, share = leaves[row], np.ones(len(row))
            node[is_spread], share[is_spread] = spread_node, spread_share
        parts[i] = first + row, node, share

    team.run(work, n_tasks, _is_worth_threads(tree, table))
    return LeafShares(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _spread(
    tree: Tree, block: np.ndarray, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the ends of each of the rows `places` begin, the ends, and the row's share of each."""
    start = np.zeros(len(places) + 1, dtype=np.int64)
    block = block[
        places
    ]  # a copy: both times the same values, also if the block is the user's memory
    places = np.arange(len(places))
    node, share = np.empty(0, dtype=np.int32), np.empty(0)
    for _ in range(2):  # first their number, then they themselves
        if not tree.router.ends(block, places, tree.weight, start, node, share):
            raise MemoryError("not enough memory to follow several branches")
        if not len(node):
            start = np.cumsum(start)
            node, share = np.empty(start[-1], dtype=np.int32), np.empty(start[-1])
    return start, node, share


def costs_of_tests(
    tree: Tree, table: Table, policy: ReadPolicy, cost: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """What it costs to classify each row: the sum over all the attributes that are asked on its ways, also the one
    that a way ends at. `cost` has a price for each attribute."""
    with ThreadTeam(n_jobs, _most_threads(tree, table), brief=True) as team:
        ends = leaf_shares_of(tree, table, policy, team)
    first = np.flatnonzero(np.diff(ends.row, prepend=-1))
    is_simple = tree.is_leaf()[ends.node[first]] & (np.diff(first, append=len(ends.row)) == 1)
    costs = tree.path_costs(cost)[ends.node[first]]
    others = np.flatnonzero(~is_simple)
    portion = max(1, MAX_TESTED // len(cost))
    for rows in np.split(others, range(portion, len(others), portion)):
        place = np.full(table.n_rows, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        here = place[ends.row] >= 0
        tested = _tested(tree, place[ends.row[here]], ends.node[here], len(rows))
        costs[rows] = sums(np.where(tested, cost, 0.0))
    return costs


def _tested(tree: Tree, row: np.ndarray, node: np.ndarray, n_rows: int) -> np.ndarray:
    """Whether each row is asked for each attribute on the way to one of the nodes that it ends at."""
    tested = np.zeros((n_rows, len(tree.schema.attributes)), dtype=bool)
    while len(node):
        inner = tree.attribute[node] >= 0
        tested[row[inner], tree.attribute[node[inner]]] = True
        node = tree.parent[node]
        row, node = row[node >= 0], node[node >= 0]
    return tested


def leaves_of(
    tree: Tree, table: Table, policy: ReadPolicy, n_jobs: int | None = None
) -> np.ndarray:
    """The leaf of each row, or the node at which its way ends; of several leaves the one with the largest share."""
    return _route(tree, table, policy, n_jobs)[0]


def shares_of(
    tree: Tree, table: Table, policy: ReadPolicy, n_jobs: int | None = None
) -> np.ndarray:
    """The class shares of each row's leaf."""
    shares = np.empty((table.n_rows, tree.proba.shape[1]))
    _route(tree, table, policy, n_jobs, shares)
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
    leaves, spread, shares = _route(tree, table, policy, n_jobs, out)
    classes = tree.pred[leaves]
    if len(spread):
        classes[spread] = classes_of_shares(tree, shares)
    return Scores(leaves, classes, out, spread)


def classes_of_shares(tree: Tree, shares: np.ndarray) -> np.ndarray:
    """The class number for each row of class shares."""
    return class_weights.classes_of_shares(class_weights.raised(shares), tree.schema)


def _route(
    tree: Tree,
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
    shares_rows = tree.shares_rows
    total = tree.weight if shares_rows else None
    is_leaf = tree.is_leaf()
    spread: list[tuple[np.ndarray, np.ndarray]] = [
        (np.empty(0, dtype=np.int64), np.empty((0, tree.proba.shape[1])))
    ] * n_tasks

    def work(worker: int, i: int) -> None:
        start, stop = i * ROWS_PER_TASK, min((i + 1) * ROWS_PER_TASK, table.n_rows)
        block = routing_block(table, start, stop, policy)
        # Blocks made of columns have been checked, and hold NaN for unknown levels too.
        allow_missing = policy.allow_missing or table.matrix is None
        nan = router.leaves(block, 0, stop - start, allow_missing, leaves[start:stop])
        if nan is not None:
            raise refusal(table.names[nan[1]], start + nan[0])
        if out is not None:
            _core.rows_at(tree.proba, leaves, start, stop, out)
        if total is None:
            return
        places = np.flatnonzero(~is_leaf[leaves[start:stop]])
        shares = np.empty((len(places), tree.proba.shape[1]))
        heaviest = np.empty(len(places), dtype=np.int32)
        several = np.zeros(len(places), dtype=np.uint8)
        if not router.spread(
            block, places, total, tree.proba, class_weights.CLASS_TIE, heaviest, shares, several
        ):
            raise MemoryError("not enough memory to follow several branches")
        leaves[start + places] = heaviest
        if out is not None:
            out[start + places] = shares
        # A row with one end is like any other there, also if that is no leaf.
        is_spread = several.astype(bool)
        places, shares = places[is_spread], class_weights.raised(settled(shares[is_spread]))
        if out is not None:
            out[start + places] = shares
        spread[i] = (start + places, shares)

    with ThreadTeam(n_jobs, _most_threads(tree, table), brief=True) as team:
        team.run(work, n_tasks)
    places = np.concatenate([places for places, _ in spread])
    return leaves, places, np.concatenate([shares for _, shares in spread])


def _is_worth_threads(tree: Tree, table: Table) -> bool:
    return table.n_rows * min(tree.max_depth, 32) > THREADED_STEPS


def _most_threads(tree: Tree, table: Table) -> int:
    # One task, as most predictions of single rows, never is worth a second thread.
    n_tasks = -(-table.n_rows // ROWS_PER_TASK)
    return n_tasks if n_tasks > 1 and _is_worth_threads(tree, table) else 1


def routing_block(table: Table, start: int, stop: int, policy: ReadPolicy) -> np.ndarray:
    """Some rows as numbers: the table's own memory if it can be read as it is, else a block of values and codes."""
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
            np.add(codes, 1, out=block[:, j])
            missing = codes == MISSING_CODE
            block[missing, j] = np.nan
            block[codes == UNKNOWN_CODE, j] = (
                _core.UNKNOWN_CATEGORY if policy.stops_at_unknown else np.nan
            )
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


def path_matrix(tree: Tree, leaves: np.ndarray) -> Any:
    """[row, node]: 1 where the row passes the node; scipy.sparse.csr_matrix."""
    try:
        from scipy.sparse import csr_matrix
    except ImportError as error:
        raise ImportError("decision_path returns a scipy sparse matrix: install scipy") from error
    row_ends = ragged.offsets(tree.depth[leaves].astype(np.int64) + 1)
    nodes = np.empty(row_ends[-1], dtype=np.int32)
    place, node = row_ends[1:] - 1, leaves
    while len(node):
        nodes[place] = node
        node = tree.parent[node]
        place, node = place[node >= 0] - 1, node[node >= 0]
    ones = np.ones(len(nodes), dtype=np.int64)
    return csr_matrix((ones, nodes, row_ends), shape=(len(leaves), tree.node_count))
