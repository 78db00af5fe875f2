# SPDX-License-Identifier: BSD-3-Clause
"""The tree that follows from what was written down of its nodes while it grew."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from fasttree.base.ragged import NONE, ends, filled, places, starts
from fasttree.base.sums import sums
from fasttree.encoding.class_weights import (
    CLASS_TIE,
    LAST_BITS,
    cheapest,
    in_order,
    likeliest,
    to_ratios,
)
from fasttree.encoding.encode import EncodedTable
from fasttree.encoding.weights import GridWeights
from fasttree.growth.context import Ground
from fasttree.growth.node_arrays import (
    breadth_first_numbers,
    changed,
    depths,
    numbered,
)
from fasttree.growth.params import J48_TIE
from fasttree.growth.surrogates import Surrogates
from fasttree.mml.message import Choices
from fasttree.trees.class_shares import Pair
from fasttree.trees.tree import LEAF, Tree

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
class Written:
    """What was written down: the class counts of all nodes, and what there is to say of those that were split."""

    n_nodes: int = 0  # so far, those of open levels included
    in_parts: bool = False  # levels were: then the nodes do not come breadth first
    counts: list[np.ndarray] = field(default_factory=list)
    exact: list[np.ndarray] = field(
        default_factory=list
    )  # in two words, where rows were shared out
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
    worth: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)


class Finisher:
    """Puts the parts together."""

    def __init__(
        self,
        written: Written,
        table: EncodedTable,
        ground: Ground,
        weights: GridWeights | None,
    ) -> None:
        self.written = written
        self.table = table
        self.ground = ground
        self.params = ground.params
        self.weights = weights  # the ground has none where they only leave rows out

    def finish(self) -> tuple[Tree, Choices | None]:
        n_nodes = self.written.n_nodes
        node = np.concatenate([np.empty(0, dtype=np.int32), *self.written.nodes])
        number = None  # of the nodes as they were made, if it is another
        if self.written.in_parts:
            n_children = np.concatenate(self.written.splits["n_children"])
            number = breadth_first_numbers(n_nodes, node, n_children)
            node = number[node]
            self.written.worth = [(number[nodes], *values) for nodes, *values in self.written.worth]
        arrays = self._finish_tables(node)
        arrays |= self._families(node)
        arrays |= self._classes(arrays["parent"], number)
        multiplicity = changed(n_nodes, np.int32(1), self.written.empty, number)
        eligible = changed(n_nodes, np.int32(0), self.written.eligible, number)
        arrays["heuristic"] = changed(n_nodes, np.False_, self.written.heuristic, number)
        arrays |= {name: self._by_node(name, node) for name in LEAF_VALUES if name not in arrays}
        if self.params.threshold == "value":
            reach = J48_TIE if self.params.compat else 0.0
            self._relocate(arrays["attribute"], arrays["threshold"], reach)
        choices = eligible, arrays.pop("n_cuts"), arrays.pop("place")
        del arrays["n_table"]
        arrays |= self._finish_surrogates(arrays.pop("n_surrogates"))
        tree = Tree(schema=self.table.schema, multiplicity=multiplicity, **arrays)
        if not self.params.by_length:
            return tree, None
        return tree, Choices(*(values.astype(np.int64) for values in choices))

    def _by_node(self, name: str, node: np.ndarray) -> np.ndarray:
        """One of LEAF_VALUES of all the nodes; `node`: those that were split, as they came."""
        leaf = LEAF_VALUES[name]
        values = filled(self.written.n_nodes, leaf)
        if name in self.written.splits:
            values[node] = np.concatenate(self.written.splits[name])
        return values

    def _families(self, node: np.ndarray) -> dict[str, np.ndarray]:
        """What follows from how many children the nodes have."""
        n_children = self._by_node("n_children", node)
        if self.written.in_parts:
            node = np.sort(node)
        families = n_children[node]
        first_child = filled(self.written.n_nodes, NONE)
        first_child[node] = starts(families) + 1
        parent = filled(self.written.n_nodes, NONE)
        parent[1:] = node.repeat(families)
        return {
            "n_children": n_children,
            "first_child": first_child,
            "parent": parent,
            "depth": depths(n_children),
        }

    def _finish_tables(self, node: np.ndarray) -> dict[str, np.ndarray]:
        """The tables of all the nodes; `node`: those that were split, as they came."""
        nothing = np.empty(0, dtype=np.uint32)
        codes, branches = zip((nothing, nothing), *self.written.tables, strict=True)
        found = {"table_codes": np.concatenate(codes), "table_branch": np.concatenate(branches)}
        if self.written.in_parts and len(found["table_codes"]):
            lengths = np.concatenate(self.written.splits["n_table"])
            order = node.argsort()
            in_table = places(starts(lengths)[order], lengths[order])
            found = {name: values[in_table] for name, values in found.items()}
        n_table = self._by_node("n_table", node)
        return found | {"n_table": n_table, "table_start": ends(n_table)}

    def _classes(self, parent: np.ndarray, number: np.ndarray | None) -> dict[str, np.ndarray]:
        """Class counts and what follows from them; nodes without rows have their parents' class and shares."""
        ratios = to_ratios(self.table.schema.priors.class_weight)
        steps = numbered(np.concatenate(self.written.counts), number).astype(np.int64)
        if self.ground.shares:
            exact = numbered(np.concatenate(self.written.exact), number)
            counts, weighed, shares = self._of_parts(exact, ratios)
        else:
            plain = self.ground.plain(steps)
            counts = plain / self.ground.per_unit
            weighed = plain if ratios is None else plain * ratios
            total = sums(weighed, keepdims=True)
            if self.ground.per_unit != 1 or ratios is not None:
                raised = self._evened(weighed, total)
                more = in_order(raised - weighed)  # or shares would add up to more than 1
                total = np.where(more > LAST_BITS * total, total + more, total)
                weighed = raised
            shares = weighed / np.where(total > 0, total, 1)
        pred = self._class_of(weighed, shares).astype(np.int32)
        if self.written.empty or self.ground.shares:
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
        is_raised = self._evened(weighed.high, total) > weighed.high
        if is_raised.any():
            weighed = weighed.with_most(is_raised)
        shares = weighed.over(weighed.totals())
        return plain.high / self.ground.per_unit, weighed.high, shares.high

    def _class_of(self, weighed: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """The class of nodes: that of most weight, or, with costs, of the least expected cost."""
        order, cost = self.table.tie_order, self.table.schema.priors.cost
        if cost is None:
            return likeliest(weighed, order)
        return cheapest(shares, cost, order)

    def _evened(self, weighed: np.ndarray, total: np.ndarray) -> np.ndarray:
        """What rounding keeps apart is equal, in the shares too: as `priors.evened` has it, and in light nodes what
        a few steps keep apart, but not where the node weighs hardly more."""
        most = weighed.max(axis=1, keepdims=True)
        few = np.minimum(self.ground.slack, total / 1024)
        return np.where(weighed >= most - np.maximum(few, CLASS_TIE * total), most, weighed)

    def _finish_surrogates(self, n_surrogates: np.ndarray) -> dict[str, np.ndarray]:
        if not self.written.surrogates:
            return {}
        found = self.written.surrogates
        tables = [surrogates.tables() for surrogates in found]
        attribute = np.concatenate([s.attribute for s in found]).astype(np.int32)
        threshold = np.concatenate([s.threshold for s in found]) + 0.0
        if self.params.threshold == "value":
            # J48 has none, and theirs may lie between values that are closer than its reach.
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

    def _relocate(self, attribute: np.ndarray, threshold: np.ndarray, reach: float = 0.0) -> None:
        """Put thresholds on the largest value of the whole table that is not above them, or by less than `reach`."""
        is_cut = np.isfinite(threshold)
        present = None if self.weights is None else self.weights.steps > 0
        for one in np.unique(attribute[is_cut]):
            here = np.flatnonzero(is_cut & (attribute == one))
            values = self.table.distinct(one, present)
            last = np.searchsorted(values, threshold[here], side="right")
            if reach:
                last = np.maximum(last, np.searchsorted(values, threshold[here] + reach))
            threshold[here] = values[last - 1] + 0.0
