# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a growing tree, written down level by level, and put together at the end."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np

from fasttree._memory import give_back
from fasttree.encode import EncodedTable, midpoint
from fasttree.evaluate import Evaluator, Winners
from fasttree.frontier import Level, ends, family_sums, first_largest, make_level, sizes
from fasttree.message_length import Choices
from fasttree.node_arrays import (
    breadth_first_numbers,
    changed,
    depths,
    in_portions,
    joined,
    without_rows,
)
from fasttree.params import CATEGORICAL_SPLITS, J48_TIE, GrowthParams
from fasttree.priors import cheapest, likeliest
from fasttree.splitting import Children, has_empty_branch
from fasttree.surrogates import Surrogates
from fasttree.tree import LEAF, NOTHING, Tree, constant
from fasttree.weights import GridWeights

MOST_COUNT_BYTES = 2**30

MOST_IN_HAND = 2**13  # nodes whose classes are worked out together at the end
# What is written down of a split, and what stands in its place at leaves.
LEAF_VALUES: dict[str, np.generic] = {
    "attribute": np.int32(LEAF),
    "threshold": np.float64(np.nan),
    "gain": np.float64(0.0),
    "n_children": np.int32(0),
    "n_table": np.int32(0),
    "default_branch": np.int32(-1),
    "missing_branch": np.int32(-1),
    "missing_seen": np.False_,
    "heuristic": np.False_,
    "n_surrogates": np.int32(0),
    "n_cuts": np.int32(0),
    "place": np.int32(0),
}
SHARED = np.int32(-1)  # the branch of missing values: all of them


class Builder:
    """The nodes of the tree so far: the class counts of all, and what there is to say of those that were split."""

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
        total = int(evaluator.root_counts.sum())
        self.count_type = np.int32 if total < 2**31 else np.int64
        self.n_nodes = 0  # so far, those of open levels included
        # Nodes are numbered as they come: level by level, unless levels are grown in parts. An entry a level or part.
        self.first_nodes: list[int] = []
        self.in_parts = False
        self.counts: list[np.ndarray] = []
        # One array for each time that nodes were split: which, and by the names of LEAF_VALUES what is said of them.
        self.nodes: list[np.ndarray] = []
        self.splits: defaultdict[str, list[np.ndarray]] = defaultdict(list)
        self.tables: list[tuple[np.ndarray, np.ndarray]] = []
        self.empty: list[
            tuple[np.ndarray, np.ndarray]
        ] = []  # nodes without rows: for how many values
        self.eligible: list[
            tuple[np.ndarray, np.ndarray]
        ] = []  # nodes, and what a message could ask for there
        self.surrogates: list[Surrogates] = []

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
            self.eligible.append((nodes, winners.eligible))

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
        self.nodes.append(parent.astype(np.int32))
        found = {"attribute": attribute, "n_children": n_children, "gain": gain}
        found["threshold"] = self._thresholds(attribute, children)
        if children.cuts is not None:
            found["n_cuts"], found["place"] = children.cuts.T
        missing_branch = heaviest
        if self.params.missing == "fractional":
            missing_branch = np.full(len(nodes), SHARED)
        elif children.surrogates is not None:
            found["n_surrogates"] = sizes(children.surrogates.start)
            self.surrogates.append(children.surrogates)
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
            self.splits[name].append(values.astype(LEAF_VALUES[name].dtype))
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
            self.tables.append((children.table_codes, children.table_branch.astype(narrow)))
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
            self.empty.append((self.n_nodes + empty, multiplicity))
        return {
            "n_table": n_present,
            "default_branch": default_branch,
            "heuristic": children.heuristic,
        }

    def _begin_level(self, counts: np.ndarray) -> None:
        self.first_nodes.append(self.n_nodes)
        self.n_nodes += len(counts)
        self._check_size()
        self.counts.append(counts.astype(self.count_type))

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
        """The parts are put together, and given up, array by array, since large trees fill the memory: what takes most
        room on the way comes first."""
        n_nodes = self.n_nodes
        node = joined([np.empty(0, dtype=np.int32), *self.nodes])
        self.nodes.clear()
        number = None  # of the nodes as they were made, if it is another
        if self.in_parts:
            n_children = np.concatenate(self.splits["n_children"])
            number = breadth_first_numbers(n_nodes, node, n_children)
            node = number[node]
        arrays = self._finish_tables(node)
        arrays |= self._families(node)
        give_back(64 * n_nodes)
        arrays |= self._classes(arrays["parent"], number)
        give_back(64 * n_nodes)
        multiplicity = changed(n_nodes, 1, self.empty, number)
        eligible = changed(n_nodes, 0, self.eligible, number)
        del number
        arrays |= {name: self._by_node(name, node) for name in LEAF_VALUES if name not in arrays}
        if self.params.threshold == "value":
            self._relocate(arrays["attribute"], arrays["threshold"])
        choices = eligible, arrays.pop("n_cuts"), arrays.pop("place")
        del arrays["n_table"]
        arrays |= self._finish_surrogates(arrays.pop("n_surrogates"))
        give_back(64 * n_nodes)
        schema = self.table.schema.unpacked()
        tree = Tree(schema=schema, multiplicity=multiplicity, **arrays)
        if not self.params.by_length:
            return tree, None
        return tree, Choices(*(values.astype(np.int64) for values in choices))

    def _by_node(self, name: str, node: np.ndarray) -> np.ndarray:
        """One of LEAF_VALUES of all the nodes; `node`: those that were split, as they came."""
        leaf = LEAF_VALUES[name]
        if name not in self.splits:
            return constant(leaf, self.n_nodes)
        values = np.full(self.n_nodes, leaf)
        values[node] = joined(self.splits.pop(name))
        give_back(16 * self.n_nodes)
        return values

    def _families(self, node: np.ndarray) -> dict[str, np.ndarray]:
        """What follows from how many children the nodes have."""
        n_children = self._by_node("n_children", node)
        if self.in_parts:
            node = np.sort(node)
        families = n_children[node]
        first_child = np.full(self.n_nodes, -1, dtype=np.int32)
        first_child[node] = families.cumsum() - families + 1
        parent = np.full(self.n_nodes, -1, dtype=np.int32)
        parent[1:] = node.repeat(families)
        return {
            "n_children": n_children,
            "first_child": first_child,
            "parent": parent,
            "depth": depths(n_children),
        }

    def _finish_tables(self, node: np.ndarray) -> dict[str, np.ndarray]:
        """The tables of all the nodes; `node`: those that were split, as they came."""
        tables, self.tables = self.tables, []
        codes = [np.empty(0, dtype=np.uint32)]
        branches = codes.copy()
        while tables:
            for parts, part in zip((codes, branches), tables.pop(0), strict=True):
                parts.append(part)
        found = {"table_codes": joined(codes), "table_branch": joined(branches)}
        if self.in_parts and len(found["table_codes"]):
            lengths = np.concatenate(self.splits["n_table"])
            order = node.argsort()
            start, lengths = ends(lengths)[order], lengths[order]
            within = np.arange(lengths.sum()) - np.repeat(ends(lengths)[:-1], lengths)
            in_table = np.repeat(start, lengths) + within
            found = {name: values[in_table] for name, values in found.items()}
        n_table = self._by_node("n_table", node)
        return found | {"n_table": n_table, "table_start": ends(n_table)}

    def _classes(self, parent: np.ndarray, number: np.ndarray | None) -> dict[str, np.ndarray]:
        """Class counts and what follows from them; nodes without rows have their parents' class and shares."""
        order, cost = self.table.tie_order, self.priors.cost
        shape = len(parent), self.table.n_classes
        counts = np.empty(shape)
        pred = np.empty(len(parent), dtype=np.int32)
        empty = np.empty(0, dtype=np.int64)
        if self.empty or self.evaluator.shares:
            empty = without_rows(self.counts)
        has_plain_shares = self.weights is None and cost is None and not (self.slack or len(empty))
        proba = NOTHING if has_plain_shares else np.empty(shape)
        first = 0
        for steps in in_portions(self.counts, MOST_IN_HAND):
            here: Any = slice(first, first + len(steps))
            first = here.stop
            known = steps.astype(np.int64)
            if number is not None:
                here = number[here]
            plain = self.evaluator.plain(known)
            counts[here] = plain / self.per_unit
            if cost is not None:
                proba[here] = self.priors.shares(plain)
                pred[here] = cheapest(proba[here], cost, order)
                continue
            total = known.sum(axis=1)[:, np.newaxis]
            if self.slack:  # what rounding keeps apart is equal, in the shares too
                most = known.max(axis=1, keepdims=True)
                # ... but not in a node that weighs hardly more than rounding takes.
                known = np.where(known >= most - np.minimum(self.slack, total // 1024), most, known)
            pred[here] = likeliest(known, order)
            if not has_plain_shares:
                proba[here] = known / np.maximum(total, 1)
        if len(empty):
            empty = empty if number is None else number[empty]
            pred[empty], proba[empty] = pred[parent[empty]], proba[parent[empty]]
        return {"counts": counts, "proba": proba, "pred": pred}

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
