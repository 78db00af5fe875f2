# SPDX-License-Identifier: BSD-3-Clause
"""Rows to leaves, leaves to class shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree import _core
from fasttree._parallel import Team
from fasttree.frames import Table, missing_value_error
from fasttree.labels import MISSING_CODE, UNKNOWN_CODE
from fasttree.tree import Tree

ROWS_PER_TASK = 65_536


@dataclass(frozen=True, slots=True)
class Policy:
    """How rows are read that lack something."""

    allow_missing: bool = True
    stops_at_unknown: bool = (
        False  # an unknown level ends the way of a row; else it counts as missing
    )


def leaves_of(tree: Tree, table: Table, policy: Policy, n_jobs: int | None = None) -> np.ndarray:
    """The leaf of each row, or the node at which its way ends."""
    leaves = np.empty(table.n_rows, dtype=np.int32)
    _route(tree, table, policy, n_jobs, leaves, lambda start, stop: None)
    return leaves


def shares_of(tree: Tree, table: Table, policy: Policy, n_jobs: int | None = None) -> np.ndarray:
    """The class shares of each row's leaf."""
    leaves = np.empty(table.n_rows, dtype=np.int32)
    shares = np.empty((table.n_rows, tree.proba.shape[1]))
    _route(
        tree,
        table,
        policy,
        n_jobs,
        leaves,
        lambda start, stop: _core.rows_at(tree.proba, leaves, start, stop, shares),
    )
    return shares


def _route(
    tree: Tree,
    table: Table,
    policy: Policy,
    n_jobs: int | None,
    leaves: np.ndarray,
    then: Callable[[int, int], None],
) -> None:
    n_tasks = -(-table.n_rows // ROWS_PER_TASK)
    router = tree.router

    def work(worker: int, i: int) -> None:
        start, stop = i * ROWS_PER_TASK, min((i + 1) * ROWS_PER_TASK, table.n_rows)
        block = _rows(table, start, stop, policy)
        # Blocks made of columns have been checked, and hold NaN for unknown levels too.
        allow_missing = policy.allow_missing or table.matrix is None
        nan = router.leaves(block, 0, stop - start, allow_missing, leaves[start:stop])
        if nan is not None:
            raise refusal(table.names[nan[1]], start + nan[0])
        then(start, stop)

    if n_tasks == 1:
        work(0, 0)
        return
    with Team(n_jobs) as team:
        team.run(work, n_tasks)


def _rows(table: Table, start: int, stop: int, policy: Policy) -> np.ndarray:
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
                _core.UNKNOWN_LEVEL if policy.stops_at_unknown else np.nan
            )
        else:
            assert column.values is not None
            block[:, j] = column.values[start:stop]
            missing = np.isnan(block[:, j])
        if not policy.allow_missing and missing.any():
            raise refusal(column.name, start + int(np.argmax(missing)))
    return block


def refusal(name: str, row: int) -> ValueError:
    remedy = 'fill it in, or fit with missing="branch" or missing="category"'
    return missing_value_error(f"column {name!r}", row, remedy)


def path_matrix(tree: Tree, leaves: np.ndarray) -> Any:
    """[row, node]: 1 where the row passes the node; scipy.sparse.csr_matrix."""
    try:
        from scipy.sparse import csr_matrix
    except ImportError as error:
        raise ImportError(
            "decision_path returns a sparse matrix of scipy: install scipy"
        ) from error
    ends = np.append(0, np.cumsum(tree.depth[leaves].astype(np.int64) + 1))
    nodes = np.empty(ends[-1], dtype=np.int32)
    place, node = ends[1:] - 1, leaves
    while len(node):
        nodes[place] = node
        node = tree.parent[node]
        place, node = place[node >= 0] - 1, node[node >= 0]
    ones = np.ones(len(nodes), dtype=np.int64)
    return csr_matrix((ones, nodes, ends), shape=(len(leaves), tree.node_count))
