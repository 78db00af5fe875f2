# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a growing tree, written down level by level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fasttree.base.ragged import lengths
from fasttree.encoding.encoded_table import EncodedTable, midpoint
from fasttree.encoding.weights import IntegerWeights
from fasttree.growth.assemble import LEAF_VALUES, GrowthLog
from fasttree.growth.attribute_draws import child_keys
from fasttree.growth.children import Children, has_empty_branch
from fasttree.growth.context import GrowthContext
from fasttree.growth.level import (
    HistogramPool,
    Level,
    NodeStats,
    SiblingGroups,
    first_largest,
    make_level,
    mark_tested,
    sums_by_group,
)
from fasttree.growth.params import GrowthParams
from fasttree.growth.search import BestSplits
from fasttree.growth.split_limit import SplitLimit
from fasttree.growth.subtrees import Subtrees
from fasttree.growth.targets import ClassTarget, Ranges

MOST_COUNT_BYTES = 2**30

ALL_BRANCHES = np.int32(-1)  # the branch of missing values: all of them


class Builder:
    """Opens levels, and writes down what becomes of them."""

    def __init__(
        self,
        table: EncodedTable,
        params: GrowthParams,
        context: GrowthContext,
        weights: IntegerWeights | None,
        histogram_pool: HistogramPool,
    ) -> None:
        self.histogram_pool = histogram_pool
        self.table = table
        self.params = params
        self.context = context
        self.steps_per_unit = context.steps_per_unit
        self.weight_tolerance = context.weight_tolerance
        self.has_missing = bool(table.has_missing.any())
        self.has_factors = weights is not None and weights.factor is not None
        is_small = isinstance(context.target, ClassTarget) and context.root_stats.sum() < 2**31
        self.count_type = np.int32 if is_small else np.int64
        self.log = GrowthLog()
        self.split_limit = SplitLimit(context) if SplitLimit.serves(context) else None
        # Of the open level. Nodes are numbered as they come: level by level, unless levels are grown in parts.
        self.first_node = 0

    def root(self) -> Level:
        counts = self.context.root_stats[np.newaxis, :]
        exact = None
        if self.context.is_fractional:
            exact = np.stack([counts, np.zeros_like(counts)], axis=-1).astype(np.uint64)
        self._begin_level(counts, exact)
        tested = None
        if self.context.costs is not None or self.params.by_length:
            tested = np.zeros((1, self.table.n_attributes), dtype=bool)
        nothing = np.zeros(1, dtype=np.int64)
        n_rows = np.array([self.context.n_rows], dtype=np.int64)
        no_slot = np.full(1, -1, dtype=np.int32)
        one = np.ones(1, dtype=np.int64)
        level = self._lay_out(
            SiblingGroups(np.array([0, 1]), one, nothing, n_rows, no_slot),
            self._node_stats(counts),
            n_rows,
            depth=0,
            tested=tested,
            exact=exact,
        )
        keys = None if self.params.draw is None else self.params.draw.root_key()
        reach = None if self.split_limit is None else np.full(1, np.inf)
        return replace(level, siblings=np.zeros(1, dtype=np.int64), keys=keys, reach=reach)

    def log_eligible(self, level: Level, best_splits: BestSplits) -> None:
        """How many attributes a message could test at the nodes of the open level."""
        if best_splits.eligible is not None:
            nodes = np.arange(level.first_node, level.first_node + level.n_nodes)
            self.log.eligible.append((nodes, best_splits.eligible))

    def log_heuristic(self, level: Level, best_splits: BestSplits) -> None:
        """The nodes of the open level at which a better split than the best one that was found may exist."""
        if not self.context.is_all_numeric and best_splits.heuristic.any():
            nodes = level.first_node + level.frontier[best_splits.heuristic]
            self.log.heuristic.append((nodes, np.ones(len(nodes), dtype=bool)))

    def log_candidates(self, level: Level, best_splits: BestSplits) -> None:
        """What the candidates of the open level gain and are worth, if somebody asked."""
        if best_splits.gain is not None and best_splits.worth is not None:
            nodes = level.first_node + level.frontier
            self.log.candidate_scores.append((nodes, best_splits.gain.T, best_splits.worth.T))

    def append(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, children: Children
    ) -> Level:
        """Write down the splits of the open level, and open that of their children."""
        stats = self._node_stats(children.counts)
        parent = level.first_node + nodes
        of_parent = level.stats.total[nodes], level.stats.loss[nodes]
        gain = self._log_splits(parent, *of_parent, attribute, children, stats)
        n_children = lengths(children.first_child)
        is_binary = len(stats.total) == 2 * len(nodes)
        group = np.arange(len(nodes)).repeat(2 if is_binary else n_children)
        self._begin_level(children.counts, children.exact)
        reach = is_wanted = None
        if self.split_limit is not None and level.reach is not None:
            of_nodes = level.reach[nodes], gain, level.stats.counts[nodes]
            reach = self.split_limit.add(*of_nodes)[group]
            is_wanted = self.split_limit.may_be_made(reach)
        next_level = self._lay_out(
            _sibling_groups_of(level, nodes, children, level.slot[nodes]),
            stats,
            children.n_rows,
            level.depth + 1,
            mark_tested(level, nodes, attribute, group),
            children.exact,
            children.ranges,
            is_wanted,
        )
        if reach is not None:
            next_level = replace(next_level, reach=reach)
        if level.keys is not None:
            branch = np.arange(len(group)) - children.first_child[group]
            next_level = replace(next_level, keys=child_keys(level.keys[nodes][group], branch))
        if children.n_branches is not None:
            next_level = replace(next_level, siblings=children.n_branches[group])
        return next_level

    def append_subtrees(self, level: Level, subtrees: Subtrees) -> None:
        """Write down all that grew below some nodes of the open level."""
        first, children = subtrees.nodes, subtrees.children
        stats = self._node_stats(children.counts)
        below = self.log.n_nodes + np.arange(len(stats.total))
        number = np.concatenate([level.first_node + first, below])
        if len(subtrees.heuristic):
            missed = number[subtrees.heuristic]
            self.log.heuristic.append((missed, np.ones(len(missed), dtype=bool)))
        if not len(subtrees.parent):
            return
        total = np.concatenate([level.stats.total[first], stats.total])
        loss = np.concatenate([level.stats.loss[first], stats.loss])
        parent = subtrees.parent
        self._log_splits(
            number[parent], total[parent], loss[parent], subtrees.attribute, children, stats
        )
        self._begin_level(children.counts, None)
        self.log.in_parts |= level.depth > 0

    def _log_splits(
        self,
        parent: np.ndarray,
        parent_total: np.ndarray,
        parent_loss: np.ndarray,
        attribute: np.ndarray,
        children: Children,
        stats: NodeStats,
    ) -> np.ndarray:
        """Write down what there is to say of the splits of the nodes `parent`; `stats` are those of the children.
        Returns the gains."""
        context = self.context
        first_child = children.first_child
        if children.known_counts is None or self.params.by_length:
            saved = parent_loss - sums_by_group(stats.loss, first_child)
        else:
            saved = self._saved_by_known(children.known_counts, first_child)
        weight = stats.total
        if children.surrogates is not None and children.known_counts is not None:
            weight = context.pull(children.known_counts)
        elif self.has_factors:
            weight = context.pull(children.counts)
        heaviest = first_largest(weight, first_child, self.weight_tolerance) - first_child[:-1]

        gain = np.maximum(saved / (context.criterion.unit * parent_total), 0.0)
        self.log.nodes.append(parent.astype(np.int32))
        found = {"attribute": attribute, "n_children": lengths(first_child), "gain": gain}
        found["threshold"] = self._thresholds(attribute, children)
        if children.cuts is not None:
            found["n_cuts"], found["place"] = children.cuts.T
        missing_branch = heaviest
        if self.params.missing == "fractional":
            missing_branch = np.full(len(parent), ALL_BRANCHES)
        elif children.surrogates is not None:
            found["n_surrogates"] = lengths(children.surrogates.start)
            self.log.surrogates.append(children.surrogates)
            if self.has_missing:
                assert children.lacking is not None
                found["missing_seen"] = children.lacking
        elif self.has_missing:
            found["missing_seen"] = children.missing_branch >= 0
            missing_branch = np.where(found["missing_seen"], children.missing_branch, heaviest)
        found["missing_branch"] = missing_branch
        if not context.is_all_numeric:
            found |= self._tables(attribute, children, heaviest)
        for name, values in found.items():
            self.log.splits[name].append(values.astype(LEAF_VALUES[name].dtype, copy=False))
        return np.asarray(gain)

    def lay_out_children(self, level: Level, nodes: np.ndarray, children: Children) -> Level:
        """The children of some nodes as a level, that is not written down."""
        no_slots = np.full(len(nodes), -1, dtype=np.int32)
        return self._lay_out(
            _sibling_groups_of(level, nodes, children, no_slots),
            self._node_stats(children.counts),
            children.n_rows,
            level.depth + 1,
        )

    def _node_stats(self, counts: np.ndarray) -> NodeStats:
        total = self.context.target.weight(counts)
        loss = np.empty(len(total))
        self.context.criterion.losses(counts, total, loss)
        return NodeStats(counts, total, self.context.limit_weights(counts, total), loss)

    def _saved_by_known(self, counts: np.ndarray, first_child: np.ndarray) -> np.ndarray:
        """The cost saved among the rows that have the value of the split."""
        together = np.add.reduceat(counts, first_child[:-1], axis=0)
        loss = sums_by_group(self._node_stats(counts).loss, first_child)
        return np.asarray(self._node_stats(together).loss - loss)

    def _tables(
        self, attribute: np.ndarray, children: Children, heaviest: np.ndarray
    ) -> dict[str, np.ndarray]:
        """What nodes that split by a table have beside: the table, and where levels go that it lacks."""
        n_present = lengths(children.table_start)
        n_children = lengths(children.first_child)
        if len(children.table_codes):
            narrow = np.uint8 if n_children.max() <= 2**8 else np.uint32
            self.log.tables.append((children.table_codes, children.table_branch.astype(narrow)))
        default_branch = np.where(n_present > 0, heaviest, -1)
        if self.has_missing and len(children.table_codes):
            # No level goes where missing values alone are.
            by_table = np.flatnonzero(n_present > 0)
            starts = children.table_start[by_table]
            side = np.minimum.reduceat(children.table_branch, starts)
            is_only = side == np.maximum.reduceat(children.table_branch, starts)
            default_branch[by_table[is_only]] = side[is_only]
        shares = has_empty_branch(self.context, attribute, n_present)
        default_branch[shares] = n_children[shares] - 1
        if shares.any():
            n_values = self.context.n_codes[attribute] - 1
            multiway = self.context.is_multiway[attribute]
            multiplicity = np.where(multiway, n_values - n_present, 1)[shares]
            empty = children.first_child[1:][shares] - 1
            self.log.empty.append((self.log.n_nodes + empty, multiplicity))
        return {
            "n_table": n_present,
            "default_branch": default_branch,
        }

    def _begin_level(self, counts: np.ndarray, exact: np.ndarray | None) -> None:
        self.first_node = self.log.n_nodes
        self.log.n_nodes += len(counts)
        self._check_size()
        self.log.counts.append(counts.astype(self.count_type))
        if exact is not None:
            self.log.exact.append(exact)

    def _lay_out(
        self,
        sibling_groups: SiblingGroups,
        stats: NodeStats,
        n_rows: np.ndarray,
        depth: int,
        tested: np.ndarray | None = None,
        exact: np.ndarray | None = None,
        ranges: Ranges | None = None,
        is_wanted: np.ndarray | None = None,
    ) -> Level:
        if self.context.weights is None:
            n_rows = stats.total  # the same numbers, of which large levels have very many
        if depth >= self.params.max_depth or depth >= self.params.max_leaves - 1:
            is_open = np.zeros(len(n_rows), dtype=bool)
        else:
            is_pure = self.context.target.is_pure(stats.counts, stats.total, ranges)
            is_open = ~is_pure & (stats.limit_weight >= self.context.limits.split)
            if is_wanted is not None:
                is_open &= is_wanted
        return make_level(
            sibling_groups,
            stats,
            n_rows,
            is_open,
            self.histogram_pool,
            depth=depth,
            first_node=self.first_node,
            tested=tested,
            exact=exact,
        )

    def _thresholds(self, attribute: np.ndarray, children: Children) -> np.ndarray:
        """Where the numeric splits cut; NaN for the others."""
        if self.context.is_all_numeric:
            below, above = self.table.values_around_cut(attribute, children.neighbours)
        else:
            below, above = np.full((2, len(attribute)), np.nan)
            numeric = np.flatnonzero(lengths(children.table_start) == 0)
            below[numeric], above[numeric] = self.table.values_around_cut(
                attribute[numeric], children.neighbours[numeric]
            )
        threshold = midpoint(below, above)
        if self.has_missing:
            apart = (children.neighbours[:, 1] < 0) & ~np.isnan(threshold)
            threshold[apart] = np.inf  # nothing but missing values on the right
        return threshold + 0.0  # -0.0 is 0.0

    def _check_size(self) -> None:
        n_bytes = 8 * self.log.n_nodes * self.table.n_classes
        if n_bytes > MOST_COUNT_BYTES:
            raise ValueError(
                f"the class counts of {self.log.n_nodes} nodes x {self.table.n_classes} classes would take "
                f"{n_bytes / 2**30:.1f} GB (limit 1 GB): increase min_samples_leaf or reduce max_depth"
            )


def _sibling_groups_of(
    level: Level, nodes: np.ndarray, children: Children, slot: np.ndarray
) -> SiblingGroups:
    """The sibling groups of the children of some nodes; `slot`: where the nodes' histograms are kept."""
    return SiblingGroups(
        children.first_child, children.n_filled, level.list_start[nodes], level.n_rows[nodes], slot
    )
