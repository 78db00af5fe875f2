# SPDX-License-Identifier: BSD-3-Clause
"""The paths of a tree as rules: one for every leaf, its tests merged to the tightest conditions."""

from __future__ import annotations

import numpy as np

from fasttree.base import ragged
from fasttree.rules.conditions import ConditionTable, distinct
from fasttree.rules.rule_list import RuleList
from fasttree.rules.surrogates import substitutes_of
from fasttree.trees.traversal import paths_upwards, printed_leaves
from fasttree.trees.tree import Tree

RECORDS_AT_A_TIME = 2**22  # tests of paths that are held together; a tree may be 10,000 levels deep
CODE_BITS = 32


def rules_of(
    tree: Tree, *, unknown: str = "missing", allow_missing: bool = True, averaged: str | None = None
) -> RuleList:
    """One rule for each leaf, in the order in which the tree is printed; leaves without training rows have none.

    `unknown` and `allow_missing` say how tables are read, as in the model that the tree belongs to. `averaged` is the
    name of a model whose classes are averages over several trees: no list of rules says the same, so that is an error.
    """
    if averaged is not None:
        raise ValueError(
            f"{averaged} averages over many trees, which no list of rules can represent: fit a model with a "
            "single tree, such as SMMLClassifier or C45Classifier, and use its rules"
        )
    return rules_to(tree, printed_leaves(tree), unknown=unknown, allow_missing=allow_missing)


def rules_to(
    tree: Tree, nodes: np.ndarray, *, unknown: str = "missing", allow_missing: bool = True
) -> RuleList:
    """The way to each of some nodes as a rule."""
    paths, ends = _Paths(tree), nodes
    start, nodes = paths.conditions_of(ends)
    used, condition = np.unique(nodes, return_inverse=True)
    table, number = distinct(paths.table(used))
    has_substitutes = table.substitutes is not None
    counts = tree.counts[ends]
    label = tree.pred[ends]
    n_classes = counts.shape[1]
    weight = counts.sum(axis=1)
    right = counts[np.arange(len(ends)), label]
    return RuleList(
        conditions=table,
        start=start,
        condition=number[condition],
        missing_seen=(paths.missing_seen & (paths.missing | has_substitutes))[nodes],
        label=label,
        counts=counts,
        estimated_error=1 - (right + 1) / (weight + n_classes),
        estimate="laplace",
        default=int(tree.pred[0]),
        default_counts=tree.counts[0],
        uncovered=0.0,
        training_weight=float(tree.counts[0].sum()),
        shares_rows=tree.shares_rows and bool(np.any(counts % 1)),
        unknown=unknown,
        allow_missing=allow_missing,
    )


class _Paths:
    """For each node the condition that its parent's test and the tests on the same attribute above it come to.

    Lower and upper bounds of an attribute are conditions of their own: tests merge with those of the same `kind`,
    attribute and direction.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        parent = np.maximum(tree.parent, 0)
        self.branch = tree.branch
        self.attribute = tree.attribute[parent]
        is_table = tree.is_table()[parent]
        upper = ~is_table & (self.branch == 0)
        lower = ~is_table & (self.branch == 1)
        self.kind = 2 * self.attribute.astype(np.int64) + lower
        self.kind[0] = -1
        self.low = np.where(lower, tree.threshold[parent], np.nan)  # NaN: no bound
        self.high = np.where(upper, tree.threshold[parent], np.inf)
        self.missing = tree.missing_branch[parent] == self.branch
        self.missing_seen = tree.missing_seen[parent]
        self.above = self._above()
        self.top = tree.depth.copy()
        self._merge()

    def _above(self) -> np.ndarray:
        """The nearest ancestor of the same kind, or -1."""
        above = np.full(self.tree.node_count, -1, dtype=np.int64)
        node = np.arange(1, self.tree.node_count)
        ancestor = self.tree.parent[node].astype(np.int64)
        while len(node):
            found = self.kind[ancestor] == self.kind[node]
            above[node[found]] = ancestor[found]
            onwards = ~found & (ancestor > 0)
            node, ancestor = node[onwards], self.tree.parent[ancestor[onwards]]
        return above

    def _merge(self) -> None:
        for level in self.tree.nodes_by_depth()[1:]:
            node = level.start + np.flatnonzero(self.above[level] >= 0)
            above = self.above[node]
            self.low[node] = np.fmax(self.low[node], self.low[above])
            self.high[node] = np.minimum(self.high[node], self.high[above])
            self.missing[node] &= self.missing[above]
            self.missing_seen[node] |= self.missing_seen[above]
            self.top[node] = self.top[above]

    def conditions_of(self, leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nodes whose conditions make up each leaf's rule: where each rule starts, and the nodes.

        A condition stands where its attribute was asked first, from the root.
        """
        depth = self.tree.depth[leaves].astype(np.int64)
        parts = (self._conditions_of(leaves[at]) for at in ragged.batches(depth, RECORDS_AT_A_TIME))
        sizes, nodes = map(np.concatenate, zip(*parts, strict=True))
        return ragged.offsets(sizes), nodes

    def _conditions_of(self, leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rule, node = map(np.concatenate, zip(*paths_upwards(self.tree, leaves), strict=True))
        rule, node = rule[node > 0], node[node > 0]
        # The deepest of a kind comes first, and it has all those above it in itself.
        n_kinds = 2 * len(self.tree.schema.attributes)
        _, deepest = np.unique(rule * n_kinds + self.kind[node], return_index=True)
        rule, node = rule[deepest], node[deepest]
        order = np.lexsort((self.top[node], rule))
        return np.bincount(rule, minlength=len(leaves)), node[order]

    def table(self, nodes: np.ndarray) -> ConditionTable:
        """The conditions of some nodes."""
        codes, start = self._levels(nodes)
        return ConditionTable(
            self.tree.schema,
            self.attribute[nodes].astype(np.int32),
            self.low[nodes],
            self.high[nodes],
            start,
            codes,
            self.missing[nodes],
            substitutes_of(self.tree, nodes, self.above, self.branch),
        )

    def _levels(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The codes of the levels that each node's condition allows, ascending, and where they start."""
        tree = self.tree
        is_table = tree.is_table()[np.maximum(tree.parent[nodes], 0)] & (nodes > 0)
        takes_rest = is_table & (tree.default_branch[tree.parent[nodes]] == self.branch[nodes])
        # Levels that the parent's table sends to the node, or all levels where it also takes those that are not listed.
        child = tree.first_child[tree.table_node] + tree.table_branch
        order = np.argsort(child, kind="stable")  # the levels of a child still ascend
        first = np.searchsorted(child[order], nodes)
        n_own = np.searchsorted(child[order], nodes, "right") - first
        n_levels = np.array([len(a.categories or ()) for a in tree.schema.attributes])
        size = np.where(takes_rest, n_levels[self.attribute[nodes]], n_own)
        entry = np.repeat(np.arange(len(nodes)), size)
        place = np.arange(len(entry)) - np.repeat(ragged.begins(size), size)
        own = ~takes_rest[entry]
        codes = place + 1
        codes[own] = tree.table_codes[order[(first[entry] + place)[own]]]
        test = nodes[entry]
        kept = np.arange(len(entry))
        while len(kept):  # every test of the merged condition must let a level through
            here = self._leads_to(test, codes[kept])
            codes[kept[~here]] = 0
            kept, test = kept[here], self.above[test[here]]
            kept, test = kept[test >= 0], test[test >= 0]
        entry, codes = entry[codes > 0], codes[codes > 0]
        start = ragged.offsets(np.bincount(entry, minlength=len(nodes)))
        return codes.astype(np.uint32), start

    def _leads_to(self, node: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Does the parent's test send the level to the node?"""
        tree = self.tree
        parent = tree.parent[node].astype(np.int64)
        keys = (tree.table_node << CODE_BITS) | tree.table_codes.astype(np.int64)
        key = (parent << CODE_BITS) | codes.astype(np.int64)
        found = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        branch = np.where(keys[found] == key, tree.table_branch[found], tree.default_branch[parent])
        return np.asarray(branch == self.branch[node])
