# SPDX-License-Identifier: BSD-3-Clause
"""The surrogates of a tree, as conditions that decide where a value is missing."""

from __future__ import annotations

import numpy as np

from fasttree.base.ragged import offsets, take_lists
from fasttree.rules.conditions import ConditionTable, Substitutes, distinct
from fasttree.trees.tree import Tree


def substitutes_of(
    tree: Tree, nodes: np.ndarray, above: np.ndarray, branch: np.ndarray
) -> Substitutes | None:
    """The surrogates of the tests that each node's condition was merged from.

    `above` has the next of these tests for each node, or -1; `branch` which branch of its parent a node is.
    """
    if not len(tree.surrogate_attribute):
        return None
    entry = [np.arange(len(nodes))]
    chain = [nodes]
    while len(chain[-1]):
        next_above = above[chain[-1]]
        entry.append(entry[-1][next_above >= 0])
        chain.append(next_above[next_above >= 0])
    all_entries, all_nodes = np.concatenate(entry), np.concatenate(chain)
    order = np.argsort(all_entries, kind="stable")
    group_start = offsets(np.bincount(all_entries, minlength=len(nodes)))
    tests, group = np.unique(all_nodes[order], return_inverse=True)
    # One alternative for each surrogate of the test's node, as it looks from the test's branch.
    parent = tree.parent[tests]
    alternative_start, surrogate = take_lists(
        tree.surrogate_start, np.arange(len(tree.surrogate_attribute)), parent
    )
    towards = np.repeat(branch[tests], np.diff(alternative_start))
    conditions, answers = _surrogates(tree, surrogate, towards)
    conditions, answers, alternative = _distinct_pairs(conditions, answers)
    return Substitutes(
        group_start,
        group,
        tree.missing_branch[parent] == branch[tests],
        alternative_start,
        alternative,
        conditions,
        answers,
    )


def _surrogates(
    tree: Tree, surrogate: np.ndarray, branch: np.ndarray
) -> tuple[ConditionTable, ConditionTable]:
    """Conditions that surrogates send a row to a branch, and those that they send it anywhere."""
    threshold = tree.surrogate_threshold[surrogate]
    by_table = np.isnan(threshold)
    is_low = tree.surrogate_low[surrogate] == branch
    table_start, codes = take_lists(
        tree.surrogate_table_start, tree.surrogate_table_codes, surrogate
    )
    _, leads_to = take_lists(tree.surrogate_table_start, tree.surrogate_table_branch, surrogate)
    entry = np.repeat(np.arange(len(surrogate)), np.diff(table_start))
    here = leads_to == branch[entry]
    start = offsets(np.bincount(entry[here], minlength=len(surrogate)))
    attribute = tree.surrogate_attribute[surrogate].astype(np.int32)
    never = np.zeros(len(surrogate), dtype=bool)
    endless = np.full(len(surrogate), np.inf)
    unbounded = np.full(len(surrogate), np.nan)
    conditions = ConditionTable(
        tree.schema,
        attribute,
        np.where(is_low, np.nan, threshold),
        np.where(~by_table & is_low, threshold, np.inf),
        start,
        codes[here],
        never,
    )
    answers = ConditionTable(tree.schema, attribute, unbounded, endless, table_start, codes, never)
    return conditions, answers


def _distinct_pairs(
    conditions: ConditionTable, answers: ConditionTable
) -> tuple[ConditionTable, ConditionTable, np.ndarray]:
    """The distinct pairs, and the number of each pair among them."""
    _, one = distinct(conditions)
    _, other = distinct(answers)
    pairs = one * (other.max(initial=0) + 1) + other
    _, first, number = np.unique(pairs, return_index=True, return_inverse=True)
    return conditions.take(first), answers.take(first), number
