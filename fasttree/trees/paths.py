# SPDX-License-Identifier: BSD-3-Clause
"""The ways of rows down a tree: where each ends, with all its shares, which nodes it passes and what its tests cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.base import ragged
from fasttree.base.sums import sums, total
from fasttree.base.threads import ThreadTeam
from fasttree.tables.table import Table
from fasttree.trees.predict import (
    ROWS_PER_TASK,
    ReadPolicy,
    is_worth_threads,
    most_threads,
    refusal,
    routing_block,
)
from fasttree.trees.structure import TreeStructure
from fasttree.trees.traversal import paths_upwards

MAX_TESTED = 2**20  # rows x attributes that are noted at a time


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


def leaf_shares_of(
    tree: TreeStructure, table: Table, policy: ReadPolicy, team: ThreadTeam
) -> LeafShares:
    """Where each row of a table ends, with all its shares."""
    n_tasks = -(-table.n_rows // ROWS_PER_TASK)
    parts: list[Any] = [None] * n_tasks

    def work(worker: int, i: int) -> None:
        first = i * ROWS_PER_TASK
        block = routing_block(table, first, min(first + ROWS_PER_TASK, table.n_rows), policy)
        leaves = np.empty(len(block), dtype=np.int32)
        allow_missing = policy.allow_missing or table.matrix is None
        nan = tree.router.leaves(block, 0, len(block), allow_missing, leaves)
        if nan is not None:
            raise refusal(table.names[nan[1]], first + nan[0])
        row, node, share = _with_shares(tree, block, leaves)
        parts[i] = first + row, node, share

    team.run(work, n_tasks, is_worth_threads(tree, table))
    return LeafShares(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def leaf_shares_of_block(tree: TreeStructure, block: np.ndarray) -> LeafShares:
    """Where each row of a block for routing ends, with all its shares."""
    leaves = np.empty(len(block), dtype=np.int32)
    tree.router.leaves(block, 0, len(block), True, leaves)
    return LeafShares(*_with_shares(tree, block, leaves))


def _with_shares(
    tree: TreeStructure, block: np.ndarray, leaves: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, end and share of all the ends of the rows of a block, of which the router found these leaves."""
    is_leaf = tree.is_leaf()[leaves]
    row, unended = np.arange(len(block)), np.flatnonzero(~is_leaf)
    if not tree.shares_rows or not len(unended):
        return row, leaves, np.ones(len(block))
    start, spread_node, spread_share = _spread(tree, block, unended)
    n_ends = np.ones(len(block), dtype=np.int64)
    n_ends[unended] = np.diff(start)
    row, is_spread = np.repeat(row, n_ends), np.repeat(~is_leaf, n_ends)
    node, share = leaves[row], np.ones(len(row))
    node[is_spread], share[is_spread] = spread_node, spread_share
    return row, node, share


def _spread(
    tree: TreeStructure, block: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the ends of each of these rows of a block begin, the ends, and the row's share of each."""
    start = np.zeros(len(rows) + 1, dtype=np.int64)
    block = block[rows]  # a copy: both times the same values, also if the block is the user's
    rows = np.arange(len(rows))
    node, share = np.empty(0, dtype=np.int32), np.empty(0)
    for _ in range(2):  # first their number, then they themselves
        if not tree.router.ends(block, rows, tree.weight, start, node, share):
            raise MemoryError("not enough memory to follow several branches")
        if not len(node):
            start = np.cumsum(start)
            node, share = np.empty(start[-1], dtype=np.int32), np.empty(start[-1])
    return start, node, share


def costs_of_tests(
    tree: TreeStructure,
    table: Table,
    policy: ReadPolicy,
    cost: np.ndarray,
    n_jobs: int | None = None,
) -> np.ndarray:
    """What it costs to classify each row: the sum over all the attributes that are asked on its ways, also the one
    that a way ends at. `cost` has a price for each attribute."""
    with ThreadTeam(n_jobs, most_threads(tree, table), brief=True) as team:
        ends = leaf_shares_of(tree, table, policy, team)
    first = np.flatnonzero(np.diff(ends.row, prepend=-1))
    is_simple = tree.is_leaf()[ends.node[first]] & (np.diff(first, append=len(ends.row)) == 1)
    costs = tree.path_costs(cost)[ends.node[first]]
    others = np.flatnonzero(~is_simple)
    portion = max(1, MAX_TESTED // len(cost))
    for rows in np.split(others, range(portion, len(others), portion)):
        index_of = np.full(table.n_rows, -1, dtype=np.int64)
        index_of[rows] = np.arange(len(rows))
        is_end = index_of[ends.row] >= 0
        tested = _tested(tree, index_of[ends.row[is_end]], ends.node[is_end], len(rows))
        costs[rows] = sums(np.where(tested, cost, 0.0))
    return costs


def _tested(tree: TreeStructure, row: np.ndarray, node: np.ndarray, n_rows: int) -> np.ndarray:
    """Whether each row is asked for each attribute on the way to one of the nodes that it ends at."""
    tested = np.zeros((n_rows, len(tree.schema.attributes)), dtype=bool)
    for path, at in paths_upwards(tree, node):
        inner = tree.attribute[at] >= 0
        tested[row[path[inner]], tree.attribute[at[inner]]] = True
    return tested


def path_matrix(tree: TreeStructure, leaves: np.ndarray) -> Any:
    """[row, node]: 1 where the row passes the node; scipy.sparse.csr_matrix."""
    try:
        from scipy.sparse import csr_matrix
    except ImportError as error:
        raise ImportError("decision_path returns a scipy sparse matrix: install scipy") from error
    row_ends = ragged.offsets(tree.depth[leaves].astype(np.int64) + 1)
    nodes = np.empty(row_ends[-1], dtype=np.int32)
    last = row_ends[1:] - 1
    for step, (row, node) in enumerate(paths_upwards(tree, leaves)):
        nodes[last[row] - step] = node
    ones = np.ones(len(nodes), dtype=np.int64)
    return csr_matrix((ones, nodes, row_ends), shape=(len(leaves), tree.node_count))
