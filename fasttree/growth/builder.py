# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a growing tree, written down level by level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fasttree.base.ragged import sizes
from fasttree.encoding.encode import EncodedTable, midpoint
from fasttree.encoding.weights import GridWeights
from fasttree.growth.assemble import LEAF_VALUES, Written
from fasttree.growth.context import Ground
from fasttree.growth.level import (
    Families,
    Level,
    Sums,
    family_sums,
    first_largest,
    make_level,
    note_measured,
)
from fasttree.growth.params import GrowthParams
from fasttree.growth.search import Winners
from fasttree.growth.split import Children, has_empty_branch

MOST_COUNT_BYTES = 2**30

SHARED = np.int32(-1)  # the branch of missing values: all of them


class Builder:
    """Opens levels, and writes down what becomes of them."""

    def __init__(
        self,
        table: EncodedTable,
        params: GrowthParams,
        ground: Ground,
        weights: GridWeights | None,
    ) -> None:
        self.table = table
        self.params = params
        self.ground = ground
        self.per_unit = ground.per_unit
        self.slack = ground.slack
        self.has_missing = bool(table.has_missing.any())
        self.has_factors = weights is not None and weights.factor is not None
        total = int(ground.root_counts.sum())
        self.count_type = np.int32 if total < 2**31 else np.int64
        self.written = Written()
        # Of the open level. Nodes are numbered as they come: level by level, unless levels are grown in parts.
        self.first_node = 0

    def root(self) -> Level:
        counts = self.ground.root_counts[np.newaxis, :]
        exact = None
        if self.ground.shares:
            exact = np.stack([counts, np.zeros_like(counts)], axis=-1).astype(np.uint64)
        self._begin_level(counts, exact)
        measured = None
        if self.ground.costs is not None or self.params.by_length:
            measured = np.zeros((1, self.table.n_attributes), dtype=bool)
        nothing = np.zeros(1, dtype=np.int64)
        n_rows = np.array([self.ground.n_rows], dtype=np.int64)
        no_slot = np.full(1, -1, dtype=np.int32)
        one = np.ones(1, dtype=np.int64)
        level = self._lay_out(
            Families(np.array([0, 1]), one, nothing, n_rows, no_slot),
            self._sums(counts),
            n_rows,
            depth=0,
            measured=measured,
        )
        return replace(level, siblings=np.zeros(1, dtype=np.int64))

    def note_eligible(self, level: Level, winners: Winners) -> None:
        """What a message could ask for at the nodes of the open level."""
        if winners.eligible is not None:
            nodes = np.arange(level.first_node, level.first_node + level.n_nodes)
            self.written.eligible.append((nodes, winners.eligible))

    def note_heuristic(self, level: Level, winners: Winners) -> None:
        """The nodes of the open level at which a better split than the best one that was found may exist."""
        if not self.ground.is_all_numeric and winners.heuristic.any():
            nodes = level.first_node + level.frontier[winners.heuristic]
            self.written.heuristic.append((nodes, np.ones(len(nodes), dtype=bool)))

    def note_worth(self, level: Level, winners: Winners) -> None:
        """What the candidates of the open level gain and are worth, if somebody asked."""
        if winners.gain is not None and winners.worth is not None:
            nodes = level.first_node + level.frontier
            self.written.worth.append((nodes, winners.gain.T, winners.worth.T))

    def append(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, children: Children
    ) -> Level:
        """Write down the splits of the open level, and open that of their children."""
        sums = self._sums(children.counts)
        self._write_down(level, nodes, attribute, children, sums)
        n_children = sizes(children.first_child)
        is_binary = len(sums.total) == 2 * len(nodes)
        family = np.arange(len(nodes)).repeat(2 if is_binary else n_children)
        self._begin_level(children.counts, children.exact)
        next_level = self._lay_out(
            _families_of(level, nodes, children, level.slot[nodes]),
            sums,
            children.n_rows,
            level.depth + 1,
            note_measured(level, nodes, attribute, family),
        )
        if children.n_branches is None:
            return next_level
        return replace(next_level, siblings=children.n_branches[family])

    def _write_down(
        self,
        level: Level,
        nodes: np.ndarray,
        attribute: np.ndarray,
        children: Children,
        sums: Sums,
    ) -> None:
        """What there is to say of splits; `sums` are those of the children."""
        ground = self.ground
        first_child = children.first_child
        if children.known_counts is None or self.params.by_length:
            saved = level.sums.cost[nodes] - family_sums(sums.cost, first_child)
        else:
            saved = self._saved_by_known(children.known_counts, first_child)
        weight = sums.total
        if children.surrogates is not None and children.known_counts is not None:
            weight = ground.pull(children.known_counts)
        elif self.has_factors:
            weight = ground.pull(children.counts)
        heaviest = first_largest(weight, first_child, self.slack) - first_child[:-1]

        parent = level.first_node + nodes
        gain = np.maximum(saved / (ground.measure.unit * level.sums.total[nodes]), 0.0)
        self.written.nodes.append(parent.astype(np.int32))
        found = {"attribute": attribute, "n_children": sizes(first_child), "gain": gain}
        found["threshold"] = self._thresholds(attribute, children)
        if children.cuts is not None:
            found["n_cuts"], found["place"] = children.cuts.T
        missing_branch = heaviest
        if self.params.missing == "fractional":
            missing_branch = np.full(len(nodes), SHARED)
        elif children.surrogates is not None:
            found["n_surrogates"] = sizes(children.surrogates.start)
            self.written.surrogates.append(children.surrogates)
            if self.has_missing:
                assert children.lacking is not None
                found["missing_seen"] = children.lacking
        elif self.has_missing:
            found["missing_seen"] = children.missing_branch >= 0
            missing_branch = np.where(found["missing_seen"], children.missing_branch, heaviest)
        found["missing_branch"] = missing_branch
        if not ground.is_all_numeric:
            found |= self._tables(attribute, children, heaviest)
        for name, values in found.items():
            self.written.splits[name].append(values.astype(LEAF_VALUES[name].dtype, copy=False))

    def lay_out_children(self, level: Level, nodes: np.ndarray, children: Children) -> Level:
        """The children of some nodes as a level, that is not written down."""
        no_slots = np.full(len(nodes), -1, dtype=np.int32)
        return self._lay_out(
            _families_of(level, nodes, children, no_slots),
            self._sums(children.counts),
            children.n_rows,
            level.depth + 1,
        )

    def _sums(self, counts: np.ndarray) -> Sums:
        total = counts.sum(axis=1)
        cost = np.empty(len(total))
        self.ground.measure.costs(counts, total, cost)
        return Sums(counts, total, self.ground.sizes(counts, total), cost)

    def _saved_by_known(self, counts: np.ndarray, first_child: np.ndarray) -> np.ndarray:
        """The cost saved among the rows that know the attribute of the split."""
        together = np.add.reduceat(counts, first_child[:-1], axis=0)
        cost = family_sums(self._sums(counts).cost, first_child)
        return np.asarray(self._sums(together).cost - cost)

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
        shares = has_empty_branch(self.ground, attribute, n_present)
        default_branch[shares] = n_children[shares] - 1
        if shares.any():
            n_values = self.ground.n_codes[attribute] - 1
            multiway = self.ground.is_multiway[attribute]
            multiplicity = np.where(multiway, n_values - n_present, 1)[shares]
            empty = children.first_child[1:][shares] - 1
            self.written.empty.append((self.written.n_nodes + empty, multiplicity))
        return {
            "n_table": n_present,
            "default_branch": default_branch,
        }

    def _begin_level(self, counts: np.ndarray, exact: np.ndarray | None) -> None:
        self.first_node = self.written.n_nodes
        self.written.n_nodes += len(counts)
        self._check_size()
        self.written.counts.append(counts.astype(self.count_type))
        if exact is not None:
            self.written.exact.append(exact)

    def _lay_out(
        self,
        families: Families,
        sums: Sums,
        n_rows: np.ndarray,
        depth: int,
        measured: np.ndarray | None = None,
    ) -> Level:
        if self.ground.weights is None:
            n_rows = sums.total  # the same numbers, of which large levels have very many
        if depth >= self.params.max_depth or depth >= self.params.max_leaves - 1:
            is_open = np.zeros(len(n_rows), dtype=bool)
        else:
            is_open = (sums.counts.max(axis=1) < sums.total) & (
                sums.size >= self.ground.least.split
            )
        return make_level(
            families,
            sums,
            n_rows,
            is_open,
            self.ground.slots,
            depth=depth,
            first_node=self.first_node,
            measured=measured,
        )

    def _thresholds(self, attribute: np.ndarray, children: Children) -> np.ndarray:
        """Where the numeric splits cut; NaN for the others."""
        if self.ground.is_all_numeric:
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


def _families_of(level: Level, nodes: np.ndarray, children: Children, slot: np.ndarray) -> Families:
    """The families of the children of some nodes; `slot`: where the nodes' histograms are kept."""
    return Families(
        children.first_child, children.n_filled, level.list_start[nodes], level.n_rows[nodes], slot
    )
