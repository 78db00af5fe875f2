# SPDX-License-Identifier: BSD-3-Clause
"""What there was to choose between at the nodes of a finished tree, found again from the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from fasttree.mml.message import MessageLength, TestOptions, message_length
from fasttree.tables.fitted import read_table_for_schema
from fasttree.trees.paths import leaf_shares_of_block
from fasttree.trees.predict import ReadPolicy, routing_block
from fasttree.trees.traversal import levels_upwards
from fasttree.trees.tree import Tree

CELLS = 2**22  # of nodes x attributes, in hand at a time


def choices_of(tree: Tree, X: Any, categorical_split: str | None = None) -> TestOptions:
    """Count the possible splits at every node, from the rows that the tree was grown from (without those of weight 0).

    An attribute is eligible if it can be tested: a categorical attribute with one branch per category as long as it was
    not tested on the path; any other as long as the rows of the node have at least two values of it. Where missing
    values have a branch of their own, missing is a value too. `categorical_split`: "multiway" or "subset" (or another
    name for groups); None infers it from the tree.
    """
    table = read_table_for_schema(X, tree.schema, "the tree")
    return choices_of_rows(
        tree, routing_block(table, 0, table.n_rows, ReadPolicy()), categorical_split
    )


def message_length_from_rows(
    tree: Tree, X: Any, *, alpha: Any = 0.5, cut_code: str = "uniform"
) -> MessageLength:
    """The message length of a tree and the classes of the rows that it was grown from."""
    return message_length(tree, choices_of(tree, X), alpha=alpha, cut_code=cut_code)


def choices_of_rows(
    tree: Tree, values: np.ndarray, categorical_split: str | None = None
) -> TestOptions:
    """Count the possible splits from rows in the form used for routing: numbers, category codes from 1 on, NaN for
    missing; see `choices_of`."""
    unordered = np.array([a.is_categorical and not a.ordered for a in tree.schema.attributes])
    if categorical_split is None:
        is_multiway = _is_multiway(tree, unordered)
    else:
        is_multiway = categorical_split == "multiway"
    by_branch = unordered & is_multiway  # attributes that get a branch for each value
    ends = leaf_shares_of_block(tree, values)
    row, leaf = ends.row, ends.node.astype(np.int64)
    tested = tree.path_costs(by_branch.astype(np.float64)).astype(np.int64)
    eligible = int(by_branch.sum()) - tested
    others = np.flatnonzero(~by_branch)
    width = max(1, CELLS // tree.node_count)
    for start in range(0, len(others), width):
        eligible += _n_varying(tree, values, row, leaf, others[start : start + width])
    return TestOptions(eligible, *_cuts(tree, values, row, leaf))


def _is_multiway(tree: Tree, unordered: np.ndarray) -> bool:
    """Has every code a branch of its own, where categories without an order are split?"""
    node = tree.table_node
    branches = node * (int(tree.n_children.max()) + 1) + tree.table_branch
    branches = branches[unordered[tree.attribute[node]]]
    return len(np.unique(branches)) == len(branches)


def _n_varying(
    tree: Tree, values: np.ndarray, row: np.ndarray, leaf: np.ndarray, attributes: np.ndarray
) -> np.ndarray:
    """How many of the attributes have two values among each node's rows."""
    order = np.argsort(leaf, kind="stable")
    filled, first = np.unique(leaf[order], return_index=True)
    ordered = values[row[order][:, np.newaxis], attributes].astype(np.float64)
    least = np.full((tree.node_count, len(attributes)), np.nan)
    most = least.copy()
    least[filled] = np.fmin.reduceat(ordered, first)
    most[filled] = np.fmax.reduceat(ordered, first)
    is_lost = np.zeros(least.shape, dtype=bool)
    if tree.missing_chosen().any():
        is_lost[filled] = np.logical_or.reduceat(np.isnan(ordered), first)
    for level in levels_upwards(tree):
        nodes, children, starts = level.splits, level.children, level.offsets
        least[nodes] = np.fmin.reduceat(least[children], starts)
        most[nodes] = np.fmax.reduceat(most[children], starts)
        is_lost[nodes] = np.logical_or.reduceat(is_lost[children], starts)
    return np.asarray(((least < most) | (is_lost & ~np.isnan(least))).sum(axis=1))


def _cuts(
    tree: Tree, values: np.ndarray, row: np.ndarray, leaf: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each split by order the cuts between its rows' values, and how many lie below the one that was made."""
    n_cuts, n_below = np.zeros((2, tree.node_count), dtype=np.int64)
    cut_at = _cut_at(tree)
    is_cut = ~np.isnan(cut_at)
    ranks = np.empty((values.shape[1], 0), dtype=np.int64)
    if is_cut.any():
        ranks, cut_at = _ranked(tree, values, cut_at, is_cut)
    n_values = int(ranks.max(initial=0)) + 1
    # From the leaves up: the rows whose leaf is deep enough stand in front.
    order = np.argsort(-tree.depth[leaf], kind="stable")
    row, node = row[order], leaf[order]
    n_there = np.searchsorted(-tree.depth[node], -np.arange(tree.max_depth + 1), side="right")
    for depth, level in reversed(list(enumerate(tree.nodes_by_depth()[:-1]))):
        node[: n_there[depth + 1]] = tree.parent[node[: n_there[depth + 1]]]
        in_cut = np.flatnonzero(is_cut[node[: n_there[depth]]])
        at = node[in_cut]
        rank = ranks[tree.attribute[at], row[in_cut]]
        known = rank >= 0
        values_at = np.sort(at[known] * n_values + rank[known])
        at, rank = np.divmod(values_at[np.diff(values_at, prepend=-1) > 0], n_values)
        n_nodes = level.stop - level.start
        n_cuts[level] = np.bincount(at - level.start, minlength=n_nodes)
        n_below[level] = np.bincount(at[rank < cut_at[at]] - level.start, minlength=n_nodes)
    # To set missing values apart is one more cut, behind all the others.
    n_cuts[is_cut] += tree.missing_chosen()[is_cut] - 1
    n_below[is_cut] -= 1
    return n_cuts, n_below


def _cut_at(tree: Tree) -> np.ndarray:
    """The largest value of the lower side; NaN where the split is not by order."""
    cut_at = np.asarray(tree.threshold, dtype=np.float64).copy()
    ordered = np.array([a.ordered for a in tree.schema.attributes], dtype=bool)
    node = tree.table_node
    entry = np.flatnonzero(ordered[tree.attribute[node]] & (tree.table_branch == 0))
    np.fmax.at(cut_at, node[entry], tree.table_codes[entry].astype(np.float64))
    return cut_at


def _ranked(
    tree: Tree, values: np.ndarray, cut_at: np.ndarray, is_cut: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The values of the attributes that are cut as ranks, [attribute, row], -1: missing; how many a cut is above."""
    ranks = np.full((values.shape[1], len(values)), -1, dtype=np.int64)
    cut_rank = np.zeros(tree.node_count, dtype=np.int64)
    for attribute in np.unique(tree.attribute[is_cut]):
        column = values[:, attribute].astype(np.float64)
        known = ~np.isnan(column)
        distinct, ranks[attribute, known] = np.unique(column[known], return_inverse=True)
        nodes = np.flatnonzero(is_cut & (tree.attribute == attribute))
        cut_rank[nodes] = np.searchsorted(distinct, cut_at[nodes], side="right")
    return ranks, cut_rank
