# SPDX-License-Identifier: BSD-3-Clause
"""The tree that follows from what was written down of its nodes while it grew."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from fasttree.base.ragged import NONE, begins, filled, flat_indices, offsets
from fasttree.base.sums import sums
from fasttree.encoding.class_weights import to_ratios
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.encoding.weights import IntegerWeights
from fasttree.growth.context import GrowthContext
from fasttree.growth.node_arrays import (
    breadth_first_numbers,
    changed,
    depths,
    numbered,
)
from fasttree.growth.params import J48_TIE
from fasttree.growth.surrogates import Surrogates
from fasttree.mml.message import TestOptions
from fasttree.trees.class_shares import Pair
from fasttree.trees.decide import CLASS_TIE, LAST_BITS, in_order, majority_class, min_cost_class
from fasttree.trees.structure import LEAF, TreeStructure
from fasttree.trees.tree import Tree

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
    "n_surrogates": np.int32(0),
    "n_cuts": np.int32(0),
    "place": np.int32(0),
}


@dataclass
class GrowthLog:
    """What was written down: the class counts of all nodes, and what there is to say of those that were split."""

    n_nodes: int = 0  # so far, those of open levels included
    in_parts: bool = False  # levels were: then the nodes do not come breadth first
    counts: list[np.ndarray] = field(default_factory=list)
    exact: list[np.ndarray] = field(
        default_factory=list
    )  # in two words, where rows were distributed fractionally
    # One array for each time that nodes were split: which, and by the names of LEAF_VALUES what is said of them.
    nodes: list[np.ndarray] = field(default_factory=list)
    splits: defaultdict[str, list[np.ndarray]] = field(default_factory=lambda: defaultdict(list))
    tables: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    # Nodes without rows: for how many values.
    empty: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    # Nodes, and what a message could ask for there.
    eligible: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    # Nodes at which a heuristic looked for sets of levels: True.
    heuristic: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    surrogates: list[Surrogates] = field(default_factory=list)
    # Nodes, and of every attribute what its best split there gains and is worth; for who asks.
    candidate_scores: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)


class TreeAssembler:
    """Puts the parts together."""

    def __init__(
        self,
        log: GrowthLog,
        table: EncodedTable,
        context: GrowthContext,
        weights: IntegerWeights | None,
    ) -> None:
        self.log = log
        self.table = table
        self.context = context
        self.params = context.params
        self.weights = weights  # the ground has none where they only leave rows out

    def assemble(self) -> tuple[TreeStructure, TestOptions | None]:
        """The tree; of numbers only its structure, since what it predicts follows from the rows."""
        n_nodes = self.log.n_nodes
        node = np.concatenate([np.empty(0, dtype=np.int32), *self.log.nodes])
        number = None  # of the nodes as they were made, if it is another
        if self.log.in_parts:
            n_children = np.concatenate(self.log.splits["n_children"])
            number = breadth_first_numbers(n_nodes, node, n_children)
            node = number[node]
            self.log.candidate_scores = [
                (number[nodes], *values) for nodes, *values in self.log.candidate_scores
            ]
        arrays = self._assemble_tables(node)
        arrays |= self._links(node)
        kind = TreeStructure if self.table.numbers is not None else Tree
        if kind is Tree:
            arrays |= self._classes(arrays["parent"], number)
        multiplicity = changed(n_nodes, np.int32(1), self.log.empty, number)
        eligible = changed(n_nodes, np.int32(0), self.log.eligible, number)
        arrays["heuristic"] = changed(n_nodes, np.False_, self.log.heuristic, number)
        arrays |= {name: self._by_node(name, node) for name in LEAF_VALUES if name not in arrays}
        if self.params.threshold == "value":
            reach = J48_TIE if self.params.compat else 0.0
            self._snap_to_values(arrays["attribute"], arrays["threshold"], reach)
        choices = eligible, arrays.pop("n_cuts"), arrays.pop("place")
        del arrays["n_table"]
        arrays |= self._assemble_surrogates(arrays.pop("n_surrogates"))
        tree = kind(schema=self.table.schema, multiplicity=multiplicity, **arrays)
        if not self.params.by_length:
            return tree, None
        return tree, TestOptions(*(values.astype(np.int64) for values in choices))

    def _by_node(self, name: str, node: np.ndarray) -> np.ndarray:
        """One of LEAF_VALUES of all the nodes; `node`: those that were split, as they came."""
        leaf = LEAF_VALUES[name]
        values = filled(self.log.n_nodes, leaf)
        if name in self.log.splits:
            values[node] = np.concatenate(self.log.splits[name])
        return values

    def _links(self, node: np.ndarray) -> dict[str, np.ndarray]:
        """What follows from how many children the nodes have."""
        n_children = self._by_node("n_children", node)
        if self.log.in_parts:
            node = np.sort(node)
        group_sizes = n_children[node]
        first_child = filled(self.log.n_nodes, NONE)
        first_child[node] = begins(group_sizes) + 1
        parent = filled(self.log.n_nodes, NONE)
        parent[1:] = node.repeat(group_sizes)
        return {
            "n_children": n_children,
            "first_child": first_child,
            "parent": parent,
            "depth": depths(n_children),
        }

    def _assemble_tables(self, node: np.ndarray) -> dict[str, np.ndarray]:
        """The tables of all the nodes; `node`: those that were split, as they came."""
        nothing = np.empty(0, dtype=np.uint32)
        codes, branches = zip((nothing, nothing), *self.log.tables, strict=True)
        found = {"table_codes": np.concatenate(codes), "table_branch": np.concatenate(branches)}
        if self.log.in_parts and len(found["table_codes"]):
            lengths = np.concatenate(self.log.splits["n_table"])
            order = node.argsort()
            in_table = flat_indices(begins(lengths)[order], lengths[order])
            found = {name: values[in_table] for name, values in found.items()}
        n_table = self._by_node("n_table", node)
        return found | {"n_table": n_table, "table_start": offsets(n_table)}

    def _classes(self, parent: np.ndarray, number: np.ndarray | None) -> dict[str, np.ndarray]:
        """Class counts and what follows from them; nodes without rows have their parents' class and shares."""
        ratios = to_ratios(self.table.schema.priors.class_weight)
        steps = numbered(np.concatenate(self.log.counts), number).astype(np.int64)
        if self.context.is_fractional:
            exact = numbered(np.concatenate(self.log.exact), number)
            counts, weighed, shares = self._of_parts(exact, ratios)
        else:
            plain = self.context.plain(steps)
            counts = plain / self.context.steps_per_unit
            weighed = plain if ratios is None else plain * ratios
            total = sums(weighed, keepdims=True)
            if self.context.steps_per_unit != 1 or ratios is not None:
                raised = self._snap_near_ties(weighed, total)
                more = in_order(raised - weighed)  # or shares would add up to more than 1
                total = np.where(more > LAST_BITS * total, total + more, total)
                weighed = raised
            shares = weighed / np.where(total > 0, total, 1)
        pred = self._class_of(weighed, shares).astype(np.int32)
        if self.log.empty or self.context.is_fractional:
            empty = np.flatnonzero(~steps.any(axis=1))
            pred[empty], shares[empty] = pred[parent[empty]], shares[parent[empty]]
        return {"counts": counts, "proba": shares, "pred": pred}

    def _of_parts(
        self, words: np.ndarray, ratios: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of nodes that may hold shares of rows, with counts in two words: the class counts, what they weigh with
        class weights (those that are nearly equal are equal), and the class shares."""
        weighed = plain = Pair.of_words(words)
        if self.weights is not None and self.weights.factor is not None:
            weighed = plain = plain.over(self.weights.factor)
        if ratios is not None:
            weighed = plain.times(ratios)
        total = weighed.high.sum(axis=1, keepdims=True)
        is_raised = self._snap_near_ties(weighed.high, total) > weighed.high
        if is_raised.any():
            weighed = weighed.with_most(is_raised)
        shares = weighed.over(weighed.totals())
        return plain.high / self.context.steps_per_unit, weighed.high, shares.high

    def _class_of(self, weighed: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """The class of nodes: that of most weight, or, with costs, of the least expected cost."""
        order, cost = self.table.tie_order, self.table.schema.priors.cost_matrix
        if cost is None:
            return majority_class(weighed, order)
        return min_cost_class(shares, cost, order)

    def _snap_near_ties(self, weighed: np.ndarray, total: np.ndarray) -> np.ndarray:
        """What rounding keeps apart is equal, in the shares too: as `priors.evened` has it, and in light nodes what
        a few steps keep apart, but not where the node weighs hardly more."""
        most = weighed.max(axis=1, keepdims=True)
        few = np.minimum(self.context.weight_tolerance, total / 1024)
        return np.where(weighed >= most - np.maximum(few, CLASS_TIE * total), most, weighed)

    def _assemble_surrogates(self, n_surrogates: np.ndarray) -> dict[str, np.ndarray]:
        if not self.log.surrogates:
            return {}
        found = self.log.surrogates
        tables = [surrogates.tables() for surrogates in found]
        attribute = np.concatenate([s.attribute for s in found]).astype(np.int32)
        threshold = np.concatenate([s.threshold for s in found]) + 0.0
        if self.params.threshold == "value":
            # J48 has none, and theirs may lie between values that are closer than its reach.
            self._snap_to_values(attribute, threshold)
        return {
            "surrogate_start": offsets(n_surrogates),
            "surrogate_attribute": attribute,
            "surrogate_threshold": threshold,
            "surrogate_low": np.concatenate([s.low for s in found]),
            "surrogate_table_start": offsets(np.concatenate([s.n_codes for s in found])),
            "surrogate_table_codes": np.concatenate([codes for codes, _ in tables]),
            "surrogate_table_branch": np.concatenate([branch for _, branch in tables]),
            "surrogate_agreement": np.concatenate([s.agreement for s in found]),
            "surrogate_adjusted": np.concatenate([s.adjusted for s in found]),
        }

    def _snap_to_values(
        self, attribute: np.ndarray, threshold: np.ndarray, reach: float = 0.0
    ) -> None:
        """Put thresholds on the largest value of the whole table that is not above them, or by less than `reach`."""
        is_cut = np.isfinite(threshold)
        present = None if self.weights is None else self.weights.quantised > 0
        for one in set(attribute[is_cut].tolist()):
            here = np.flatnonzero(is_cut & (attribute == one))
            values = self.table.distinct(one, present)
            last = np.searchsorted(values, threshold[here], side="right")
            if reach:
                last = np.maximum(last, np.searchsorted(values, threshold[here] + reach))
            threshold[here] = values[last - 1] + 0.0
