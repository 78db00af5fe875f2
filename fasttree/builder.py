# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a growing tree, written down level by level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fasttree.encode import EncodedTable, midpoint
from fasttree.evaluate import Evaluator, Winners
from fasttree.finishing import LEAF_VALUES, Written
from fasttree.frontier import Level, family_sums, first_largest, make_level, sizes
from fasttree.params import CATEGORICAL_SPLITS, GrowthParams
from fasttree.splitting import Children, has_empty_branch
from fasttree.weights import GridWeights

MOST_COUNT_BYTES = 2**30

SHARED = np.int32(-1)  # the branch of missing values: all of them


class Builder:
    """Opens levels, and writes down what becomes of them."""

    def __init__(
        self,
        table: EncodedTable,
        params: GrowthParams,
        evaluator: Evaluator,
        weights: GridWeights | None,
    ) -> None:
        self.table = table
        self.params = params
        self.evaluator = evaluator
        self.per_unit = evaluator.per_unit
        self.slack = evaluator.slack
        self.min_split = max(
            params.min_samples_split * self.per_unit - self.slack, 2 * evaluator.measure.min_leaf
        )
        self.has_missing = bool(table.has_missing.any())
        self.has_factors = weights is not None and weights.factor is not None
        total = int(evaluator.root_counts.sum())
        self.count_type = np.int32 if total < 2**31 else np.int64
        self.written = Written()
        # Nodes are numbered as they come: level by level, unless levels are grown in parts. An entry a level or part.
        self.first_nodes: list[int] = []

    def root(self) -> Level:
        counts = self.evaluator.root_counts[np.newaxis, :]
        self._begin_level(counts)
        measured = None
        if self.evaluator.costs is not None or self.params.by_length:
            measured = np.zeros((1, self.table.n_attributes), dtype=bool)
        nothing = np.zeros(1, dtype=np.int64)
        n_rows = np.array([self.evaluator.n_rows], dtype=np.int64)
        no_slot = np.full(1, -1, dtype=np.int32)
        one = np.ones(1, dtype=np.int64)
        level = self._lay_out(
            np.array([0, 1]), one, nothing, n_rows, no_slot, n_rows, counts, 0, measured
        )
        return replace(level, siblings=np.zeros(1, dtype=np.int64))

    def note_eligible(self, level: Level, winners: Winners) -> None:
        """What a message could ask for at the nodes of the open level."""
        if winners.eligible is not None:
            nodes = np.arange(level.first_node, level.first_node + level.n_nodes)
            self.written.eligible.append((nodes, winners.eligible))

    def append(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, children: Children
    ) -> Level:
        """Write down the splits of the open level, and open that of their children."""
        evaluator = self.evaluator
        first_child = children.first_child
        counts = children.counts
        total = counts.sum(axis=1)
        size = evaluator.sizes(counts, total)
        cost = np.empty(len(total))
        evaluator.measure.costs(counts, total, cost)
        if children.known_counts is None or self.params.by_length:
            saved = level.cost[nodes] - family_sums(cost, first_child)
        else:
            saved = self._saved_by_known(children.known_counts, first_child)
        weight = total
        if children.surrogates is not None and children.known_counts is not None:
            weight = evaluator.pull(children.known_counts)
        elif self.has_factors:
            weight = evaluator.pull(counts)
        heaviest = first_largest(weight, first_child, self.slack) - first_child[:-1]

        parent = level.first_node + nodes
        n_children = sizes(first_child)
        gain = np.maximum(saved / (evaluator.measure.unit * level.total[nodes]), 0.0)
        self.written.nodes.append(parent.astype(np.int32))
        found = {"attribute": attribute, "n_children": n_children, "gain": gain}
        found["threshold"] = self._thresholds(attribute, children)
        if children.cuts is not None:
            found["n_cuts"], found["place"] = children.cuts.T
        missing_branch = heaviest
        if self.params.missing == "fractional":
            missing_branch = np.full(len(nodes), SHARED)
        elif children.surrogates is not None:
            found["n_surrogates"] = sizes(children.surrogates.start)
            self.written.surrogates.append(children.surrogates)
        elif self.has_missing:
            found["missing_seen"] = children.missing_branch >= 0
            missing_branch = np.where(found["missing_seen"], children.missing_branch, heaviest)
        found["missing_branch"] = missing_branch

        is_binary = len(total) == 2 * len(nodes)
        family = np.arange(len(nodes)).repeat(2 if is_binary else n_children)
        measured = evaluator.note_measured(level, nodes, attribute, family)
        if not evaluator.is_all_numeric:
            found |= self._tables(attribute, children, heaviest)
        for name, values in found.items():
            self.written.splits[name].append(values.astype(LEAF_VALUES[name].dtype))
        self._begin_level(counts)
        next_level = self._lay_out(
            first_child,
            children.n_filled,
            level.list_start[nodes],
            level.n_rows[nodes],
            level.slot[nodes],
            children.n_rows,
            counts,
            level.depth + 1,
            measured,
            total,
            size,
            cost,
            level.first_entry,
        )
        if children.n_branches is None:
            return next_level
        return replace(next_level, siblings=children.n_branches[family])

    def lay_out_children(self, level: Level, nodes: np.ndarray, children: Children) -> Level:
        """The children of some nodes as a level, that is not written down."""
        return self._lay_out(
            children.first_child,
            children.n_filled,
            level.list_start[nodes],
            level.n_rows[nodes],
            np.full(len(nodes), -1, dtype=np.int32),
            children.n_rows,
            children.counts,
            level.depth + 1,
            None,
            first_entry=level.first_entry,
        )

    def _saved_by_known(self, counts: np.ndarray, first_child: np.ndarray) -> np.ndarray:
        """The cost saved among the rows that know the attribute of the split."""
        together = np.add.reduceat(counts, first_child[:-1], axis=0)
        costs = []
        for table in (together, counts):
            cost = np.empty(len(table))
            self.evaluator.measure.costs(table, table.sum(axis=1), cost)
            costs.append(cost)
        return np.asarray(costs[0] - family_sums(costs[1], first_child))

    def _tables(
        self, attribute: np.ndarray, children: Children, heaviest: np.ndarray
    ) -> dict[str, np.ndarray]:
        """What nodes that split by a table have beside: the table, and where levels go that it lacks."""
        n_present = sizes(children.table_start)
        n_children = sizes(children.first_child)
        if len(children.table_codes):
            narrow = np.uint8 if n_children.max() <= 2**8 else np.uint32
            self.written.tables.append((children.table_codes, children.table_branch.astype(narrow)))
        default_branch = np.where(n_present > 0, heaviest, -1)
        if self.has_missing and len(children.table_codes):
            # No level goes where missing values alone are.
            by_table = np.flatnonzero(n_present > 0)
            starts = children.table_start[by_table]
            side = np.minimum.reduceat(children.table_branch, starts)
            is_only = side == np.maximum.reduceat(children.table_branch, starts)
            default_branch[by_table[is_only]] = side[is_only]
        shares = has_empty_branch(self.evaluator, attribute, n_present)
        default_branch[shares] = n_children[shares] - 1
        if shares.any():
            n_values = self.evaluator.n_codes[attribute] - 1
            multiway = self.evaluator.shape[attribute] == CATEGORICAL_SPLITS["multiway"]
            multiplicity = np.where(multiway, n_values - n_present, 1)[shares]
            empty = children.first_child[1:][shares] - 1
            self.written.empty.append((self.written.n_nodes + empty, multiplicity))
        return {
            "n_table": n_present,
            "default_branch": default_branch,
            "heuristic": children.heuristic,
        }

    def _begin_level(self, counts: np.ndarray) -> None:
        self.first_nodes.append(self.written.n_nodes)
        self.written.n_nodes += len(counts)
        self._check_size()
        self.written.counts.append(counts.astype(self.count_type))

    def _lay_out(
        self,
        first_child: np.ndarray,
        n_filled: np.ndarray,
        parent_start: np.ndarray,
        parent_rows: np.ndarray,
        parent_slot: np.ndarray,
        n_rows: np.ndarray,
        counts: np.ndarray,
        depth: int,
        measured: np.ndarray | None,
        total: np.ndarray | None = None,
        size: np.ndarray | None = None,
        cost: np.ndarray | None = None,
        first_entry: int = 0,
    ) -> Level:
        if total is None or size is None or cost is None:
            total = counts.sum(axis=1)
            size = self.evaluator.sizes(counts, total)
            cost = np.empty(len(total))
            self.evaluator.measure.costs(counts, total, cost)
        if depth >= self.params.max_depth or depth >= self.params.max_leaves - 1:
            is_open = np.zeros(len(total), dtype=bool)
        else:
            is_open = (counts.max(axis=1) < total) & (size >= self.min_split)
        return make_level(
            first_child, n_filled, parent_start, parent_rows, parent_slot, n_rows, counts, total, size, cost, is_open,
            self.evaluator.slots, depth, self.first_nodes[-1], measured, first_entry=first_entry,
        )  # fmt: skip

    def _thresholds(self, attribute: np.ndarray, children: Children) -> np.ndarray:
        """Where the numeric splits cut; NaN for the others."""
        if self.evaluator.is_all_numeric:
            below, above = self.table.values_beside(attribute, children.neighbours)
        else:
            below, above = np.full((2, len(attribute)), np.nan)
            numeric = np.flatnonzero(sizes(children.table_start) == 0)
            below[numeric], above[numeric] = self.table.values_beside(
                attribute[numeric], children.neighbours[numeric]
            )
        threshold = midpoint(below, above)
        if self.has_missing:
            apart = (children.neighbours[:, 1] < 0) & ~np.isnan(threshold)
            threshold[apart] = np.inf  # nothing but missing values on the right
        return threshold + 0.0  # -0.0 is 0.0

    def _check_size(self) -> None:
        n_bytes = 8 * self.written.n_nodes * self.table.n_classes
        if n_bytes > MOST_COUNT_BYTES:
            raise ValueError(
                f"the class counts of {self.written.n_nodes} nodes x {self.table.n_classes} classes would take "
                f"{n_bytes / 2**30:.1f} GB (limit 1 GB): raise min_samples_leaf or lower max_depth"
            )
