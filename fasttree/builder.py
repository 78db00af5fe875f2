# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a growing tree, written down level by level, and put together at the end."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

import numpy as np

from fasttree.encode import EncodedTable, midpoint
from fasttree.evaluate import Children, Evaluator, Winners, ends, sizes
from fasttree.frontier import Level, family_sums, first_largest, make_level
from fasttree.message_length import Choices
from fasttree.params import CATEGORICAL_SPLITS, J48_TIE, GrowthParams
from fasttree.priors import cheapest, likeliest
from fasttree.surrogates import Surrogates
from fasttree.tree import LEAF, Tree
from fasttree.weights import GridWeights

MOST_COUNT_BYTES = 2**30

# The integers that describe a node, one row of an array each.
ATTRIBUTE, FIRST_CHILD, N_CHILDREN, N_TABLE, DEFAULT_BRANCH, MISSING_BRANCH, HEURISTIC = range(7)
MISSING_SEEN, MULTIPLICITY, PARENT, PRED, DEPTH, N_SURROGATES = range(7, 13)
ELIGIBLE, N_CUTS, PLACE = range(13, 16)  # of trees grown by length alone
LEAF_INTS = np.array(
    [[LEAF], [-1], [0], [0], [-1], [-1], [0], [0], [1], [-1], [0], [0], [0], [0], [0], [0]],
    dtype=np.int32,
)
THRESHOLD_VALUE, GAIN = range(2)
SHARED = np.int32(-1)  # the branch of missing values: all of them
LEAF_REALS = np.array([[np.nan], [0.0]])


class Builder:
    """The nodes of the tree so far, a few arrays a level."""

    def __init__(
        self,
        table: EncodedTable,
        params: GrowthParams,
        evaluator: Evaluator,
        weights: GridWeights | None,
    ) -> None:
        self.table = table
        self.params = params
        self.priors = table.schema.priors
        self.evaluator = evaluator
        self.weights = weights
        self.per_unit = evaluator.per_unit
        self.slack = evaluator.slack
        self.min_split = max(
            params.min_samples_split * self.per_unit - self.slack, 2 * evaluator.measure.min_leaf
        )
        self.has_missing = bool(table.has_missing.any())
        self.has_factors = weights is not None and weights.factor is not None
        self.leaf_ints = LEAF_INTS if params.by_length else LEAF_INTS[:ELIGIBLE]
        self.n_nodes = 0  # so far, those of open levels included
        # Nodes are numbered as they come: level by level, unless levels are grown in parts. An array a level or part.
        self.first_nodes: list[int] = []
        self.in_parts = False
        self.ints: list[np.ndarray] = []
        self.reals: list[np.ndarray] = []
        self.counts: list[np.ndarray] = []
        self.probas: list[np.ndarray] = []
        self.tables: list[tuple[np.ndarray, np.ndarray]] = []
        self.table_nodes: list[np.ndarray] = []  # whose tables these are
        self.surrogates: list[Surrogates] = []

    def root(self) -> Level:
        counts = self.evaluator.root_counts[np.newaxis, :]
        self._begin_level(counts, counts.sum(axis=1), 0)
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
            segment = bisect_right(self.first_nodes, level.first_node) - 1
            first = level.first_node - self.first_nodes[segment]
            self.ints[segment][ELIGIBLE, first : first + level.n_nodes] = winners.eligible

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

        segment = bisect_right(self.first_nodes, level.first_node) - 1
        parent = level.first_node + nodes
        nodes_of_level, nodes = nodes, parent - self.first_nodes[segment]
        ints, reals = self.ints[segment], self.reals[segment]
        ints[ATTRIBUTE, nodes] = attribute
        ints[FIRST_CHILD, nodes] = self.n_nodes + first_child[:-1]
        ints[N_CHILDREN, nodes] = sizes(first_child)
        if children.cuts is not None:
            ints[N_CUTS, nodes], ints[PLACE, nodes] = children.cuts.T
        missing_branch = heaviest
        if self.params.missing == "fractional":
            missing_branch = SHARED
        elif children.surrogates is not None:
            self._append_surrogates(ints, nodes, children.surrogates)
        elif self.has_missing:
            seen = children.missing_branch >= 0
            ints[MISSING_SEEN, nodes] = seen
            missing_branch = np.where(seen, children.missing_branch, heaviest)
        ints[MISSING_BRANCH, nodes] = missing_branch
        reals[THRESHOLD_VALUE, nodes] = self._thresholds(attribute, children)
        reals[GAIN, nodes] = np.maximum(
            saved / (evaluator.measure.unit * level.total[nodes_of_level]), 0.0
        )

        is_binary = len(total) == 2 * len(nodes)
        family = np.arange(len(nodes)).repeat(2 if is_binary else sizes(first_child))
        measured = evaluator.note_measured(level, nodes_of_level, attribute, family)
        inherited = None
        if not total.all():
            inherited = (ints[PRED, nodes][family], self.probas[segment][nodes][family])
        self._begin_level(counts, total, level.depth + 1, inherited)
        self.ints[-1][PARENT] = parent[family]
        if len(children.table_codes):
            self._append_tables(ints, nodes, attribute, children, heaviest)
            self.table_nodes.append(parent)
        next_level = self._lay_out(
            first_child,
            children.n_filled,
            level.list_start[nodes_of_level],
            level.n_rows[nodes_of_level],
            level.slot[nodes_of_level],
            children.n_rows,
            counts,
            level.depth + 1,
            measured,
            total,
            size,
            cost,
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
        )

    def _append_surrogates(
        self, ints: np.ndarray, nodes: np.ndarray, surrogates: Surrogates
    ) -> None:
        ints[N_SURROGATES, nodes] = sizes(surrogates.start)
        self.surrogates.append(surrogates)

    def _saved_by_known(self, counts: np.ndarray, first_child: np.ndarray) -> np.ndarray:
        """The cost saved among the rows that know the attribute of the split."""
        together = np.add.reduceat(counts, first_child[:-1], axis=0)
        costs = []
        for table in (together, counts):
            cost = np.empty(len(table))
            self.evaluator.measure.costs(table, table.sum(axis=1), cost)
            costs.append(cost)
        return np.asarray(costs[0] - family_sums(costs[1], first_child))

    def _append_tables(
        self,
        ints: np.ndarray,
        nodes: np.ndarray,
        attribute: np.ndarray,
        children: Children,
        heaviest: np.ndarray,
    ) -> None:
        """What nodes that split by a table have beside: the table, and where levels go that it lacks."""
        self.tables.append((children.table_codes, children.table_branch))
        n_present = sizes(children.table_start)
        is_table = n_present > 0
        n_values = self.evaluator.n_codes[attribute] - 1
        default_branch = np.where(is_table, heaviest, -1)
        shares = self.evaluator.has_empty_branch(attribute, n_present)
        default_branch[shares] = ints[N_CHILDREN, nodes][shares] - 1
        ints[N_TABLE, nodes] = n_present
        ints[DEFAULT_BRANCH, nodes] = default_branch
        ints[HEURISTIC, nodes] = children.heuristic
        empty = children.first_child[1:][shares] - 1
        multiway = self.evaluator.shape[attribute] == CATEGORICAL_SPLITS["multiway"]
        self.ints[-1][MULTIPLICITY, empty] = np.where(multiway, n_values - n_present, 1)[shares]

    def _begin_level(
        self,
        counts: np.ndarray,
        total: np.ndarray,
        depth: int,
        inherited: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        """The nodes of a level as leaves; those without rows keep their parents' class and shares."""
        n = len(total)
        self.first_nodes.append(self.n_nodes)
        self.n_nodes += n
        self._check_size()
        order = self.table.tie_order
        if self.priors.cost is None:
            level = counts
            if self.slack:  # what rounding keeps apart is equal, in the shares too
                most = counts.max(axis=1, keepdims=True)
                # ... but not in a node that weighs hardly more than rounding takes.
                slack = np.minimum(self.slack, total // 1024)[:, np.newaxis]
                level = np.where(counts >= most - slack, most, counts)
            pred = likeliest(level, order)
            proba = level / np.maximum(total, 1)[:, np.newaxis]
        else:
            proba = self.priors.shares(self.evaluator.plain(counts))
            pred = cheapest(proba, self.priors.cost, order)
        if inherited is not None:
            empty = total == 0
            pred[empty], proba[empty] = inherited[0][empty], inherited[1][empty]
        ints = np.empty((len(self.leaf_ints), n), dtype=np.int32)
        ints[:] = self.leaf_ints
        ints[PRED] = pred
        ints[DEPTH] = depth
        reals = np.empty((len(LEAF_REALS), n))
        reals[:] = LEAF_REALS
        self.ints.append(ints)
        self.reals.append(reals)
        self.counts.append(counts)
        self.probas.append(proba)

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
            self.evaluator.slots, depth, self.first_nodes[-1], measured,
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

    def _relocate(self, attribute: np.ndarray, threshold: np.ndarray) -> None:
        """Put thresholds on the largest value of the whole table that is not above them."""
        reach = J48_TIE if self.params.compat else 0.0
        is_cut = np.isfinite(threshold)
        present = None if self.weights is None else self.weights.steps > 0
        for one in np.unique(attribute[is_cut]):
            here = np.flatnonzero(is_cut & (attribute == one))
            values = self.table.distinct(one, present)
            last = np.searchsorted(values, threshold[here], side="right")
            if reach:
                last = np.maximum(last, np.searchsorted(values, threshold[here] + reach))
            threshold[here] = values[last - 1] + 0.0

    def _check_size(self) -> None:
        n_bytes = 8 * self.n_nodes * self.table.n_classes
        if n_bytes > MOST_COUNT_BYTES:
            raise ValueError(
                f"the class counts of {self.n_nodes} nodes x {self.table.n_classes} classes would take "
                f"{n_bytes / 2**30:.1f} GB (limit 1 GB): raise min_samples_leaf or lower max_depth"
            )

    def finish(self) -> tuple[Tree, Choices | None]:
        ints, reals = _joined(self.ints, axis=1), _joined(self.reals, axis=1)
        counts, proba = _joined(self.counts), _joined(self.probas)
        nothing = np.empty(0, dtype=np.uint32)
        table_codes = np.concatenate([nothing, *(codes for codes, _ in self.tables)])
        table_branch = np.concatenate([nothing, *(branch for _, branch in self.tables)])
        if self.in_parts:  # the nodes are not level by level
            in_table = self._in_order(ints)
            table_codes, table_branch = table_codes[in_table], table_branch[in_table]
            order = breadth_first(ints[FIRST_CHILD], ints[N_CHILDREN])
            ints, reals = ints.take(order, axis=1), reals.take(order, axis=1)
            counts, proba = counts[order], proba[order]
            number = np.empty(len(order), dtype=np.int32)
            number[order] = np.arange(len(order), dtype=np.int32)
            for row in (FIRST_CHILD, PARENT):
                ints[row] = np.where(ints[row] < 0, -1, number[ints[row]])
        if self.params.threshold == "value":
            self._relocate(ints[ATTRIBUTE], reals[THRESHOLD_VALUE])
        tree = Tree(
            schema=self.table.schema,
            attribute=ints[ATTRIBUTE],
            threshold=reals[THRESHOLD_VALUE],
            first_child=ints[FIRST_CHILD],
            n_children=ints[N_CHILDREN],
            table_start=ends(ints[N_TABLE]),
            table_codes=table_codes,
            table_branch=table_branch,
            default_branch=ints[DEFAULT_BRANCH],
            missing_branch=ints[MISSING_BRANCH],
            missing_seen=ints[MISSING_SEEN].astype(bool),
            multiplicity=ints[MULTIPLICITY],
            heuristic=ints[HEURISTIC].astype(bool),
            counts=self.evaluator.plain(counts) / self.per_unit,
            proba=proba,
            pred=ints[PRED],
            gain=reals[GAIN],
            depth=ints[DEPTH],
            parent=ints[PARENT],
            **self._finish_surrogates(ints[N_SURROGATES]),
        )
        if not self.params.by_length:
            return tree, None
        return tree, Choices(*ints[[ELIGIBLE, N_CUTS, PLACE]].astype(np.int64))

    def _in_order(self, ints: np.ndarray) -> np.ndarray:
        """The entries of the tables as breadth-first order wants them."""
        if not self.tables:
            return np.empty(0, dtype=np.int64)
        n_entries = ints[N_TABLE].astype(np.int64)
        as_made = np.concatenate(self.table_nodes)
        start = np.zeros(len(n_entries), dtype=np.int64)
        start[as_made] = ends(n_entries[as_made])[:-1]
        order = breadth_first(ints[FIRST_CHILD], ints[N_CHILDREN])
        lengths = n_entries[order]
        within = np.arange(lengths.sum()) - np.repeat(ends(lengths)[:-1], lengths)
        return np.asarray(np.repeat(start[order], lengths) + within)

    def _finish_surrogates(self, n_surrogates: np.ndarray) -> dict[str, np.ndarray]:
        if not self.surrogates:
            return {}
        found = self.surrogates
        tables = [surrogates.tables() for surrogates in found]
        attribute = np.concatenate([s.attribute for s in found]).astype(np.int32)
        threshold = np.concatenate([s.threshold for s in found]) + 0.0
        if self.params.threshold == "value":
            self._relocate(attribute, threshold)
        return {
            "surrogate_start": ends(n_surrogates),
            "surrogate_attribute": attribute,
            "surrogate_threshold": threshold,
            "surrogate_low": np.concatenate([s.low for s in found]),
            "surrogate_table_start": ends(np.concatenate([s.n_codes for s in found])),
            "surrogate_table_codes": np.concatenate([codes for codes, _ in tables]),
            "surrogate_table_branch": np.concatenate([branch for _, branch in tables]),
            "surrogate_agreement": np.concatenate([s.agreement for s in found]),
            "surrogate_adjusted": np.concatenate([s.adjusted for s in found]),
        }


def _joined(parts: list[np.ndarray], axis: int = 0) -> np.ndarray:
    """The parts as one array; they are given up at once, since large trees fill the memory."""
    whole = np.concatenate(parts, axis=axis)
    parts.clear()
    return whole


def breadth_first(first_child: np.ndarray, n_children: np.ndarray) -> np.ndarray:
    """The nodes of a tree level by level, from left to right."""
    levels = [np.zeros(1, dtype=np.int64)]
    while len(levels[-1]):
        parents = levels[-1][n_children[levels[-1]] > 0]
        families = n_children[parents].astype(np.int64)
        within = np.arange(families.sum()) - np.repeat(ends(families)[:-1], families)
        levels.append(np.repeat(first_child[parents].astype(np.int64), families) + within)
    return np.concatenate(levels)
