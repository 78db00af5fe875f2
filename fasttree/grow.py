# SPDX-License-Identifier: BSD-3-Clause
"""The level loop: evaluate, accept, describe, append, partition.

Python's work is O(depth): every step below handles all the nodes of a level at once.
"""

from __future__ import annotations

import numpy as np

from fasttree import _core
from fasttree._parallel import Team
from fasttree.encode import EncodedTable
from fasttree.evaluate import Children, Evaluator, Winners, ends
from fasttree.frontier import Level, first_largest, make_level
from fasttree.params import CATEGORICAL_SPLITS, GrowthParams
from fasttree.tree import LEAF, Tree
from fasttree.weights import GridWeights

NO_GAIN = 1e-10
MOST_COUNT_BYTES = 2**30


def grow(
    table: EncodedTable,
    params: GrowthParams,
    team: Team,
    weights: GridWeights | None = None,
    use_up: bool = False,
) -> Tree:
    """Grow the tree of an encoded table. `use_up`: its sorted lists may be destroyed, which saves a copy."""
    lists = _own_lists(table, weights, use_up)
    evaluator = Evaluator(table, lists, params, weights, team)
    per_unit = 1 if weights is None else weights.per_unit
    builder = _Builder(table, params, evaluator, per_unit)
    level = builder.root()
    while True:
        winners = evaluator.evaluate(level)
        accepted = _accept(winners, params)
        if not accepted.any():
            builder.append_leaves(level)
            break
        nodes = level.frontier[accepted]
        attribute = winners.attribute[accepted]
        children = evaluator.split(level, nodes, attribute, winners.cut[accepted])
        level = builder.append(level, nodes, attribute, children)
    tree = builder.finish()
    if params.max_leaves < tree.n_leaves:
        tree = tree.subtree(_core.best_first(
            tree.first_child, tree.n_children, tree.multiplicity, tree.gain * tree.counts.sum(axis=1), params.max_leaves,
        ))  # fmt: skip
    return tree


def _own_lists(table: EncodedTable, weights: GridWeights | None, use_up: bool) -> np.ndarray:
    """Sorted lists that growth may rearrange, without the rows of weight 0."""
    if weights is None or bool((weights.steps > 0).all()):
        if use_up:
            return table.lists
        lists = np.empty_like(table.lists)
        for attribute in np.flatnonzero(table.storage >= 0):
            lists[attribute] = table.lists[attribute]
        return lists
    present = weights.steps > 0
    lists = np.empty((table.n_attributes, int(present.sum())), dtype=np.uint64)
    for attribute in np.flatnonzero(table.storage >= 0):
        entries = table.lists[attribute]
        lists[attribute] = entries[present[(entries & np.uint64(0xFFFFFFFF)).astype(np.int64)]]
    return lists


def _accept(winners: Winners, params: GrowthParams) -> np.ndarray:
    """Which of the frontier's best splits are made."""
    accepted = (winners.attribute >= 0) & (winners.score >= params.min_gain)
    if params.stop_zero_gain:
        accepted &= winners.score > NO_GAIN
    return np.asarray(accepted)


class _Builder:
    """The nodes of the tree so far, a list of arrays a level."""

    def __init__(
        self, table: EncodedTable, params: GrowthParams, evaluator: Evaluator, per_unit: int
    ) -> None:
        self.table = table
        self.params = params
        self.evaluator = evaluator
        self.per_unit = per_unit
        self.min_split = max(
            params.min_samples_split * per_unit, 2 * evaluator.measure.min_leaf
        )
        self.depth = 0
        self.n_nodes = 1  # of the levels so far and of the one that is open
        self.levels: list[dict[str, np.ndarray]] = []
        self.tables: list[tuple[np.ndarray, np.ndarray]] = []
        # Of the level that is open: what its nodes got from their parents.
        self.parent = np.array([-1], dtype=np.int32)
        self.multiplicity = np.ones(1, dtype=np.int32)
        self.pred = np.zeros(1, dtype=np.int32)
        self.proba = np.zeros((1, table.n_classes))

    def root(self) -> Level:
        counts = self.evaluator.root_counts[np.newaxis, :]
        self._label(counts, counts.sum(axis=1))
        nothing = np.zeros(1, dtype=np.int64)
        n_rows = np.array([self.evaluator.n_rows], dtype=np.int64)
        return self._open(
            np.array([0, 1]), nothing, n_rows, np.full(1, -1, dtype=np.int32), n_rows, counts
        )

    def append(self, level: Level, nodes: np.ndarray, attribute: np.ndarray, children: Children) -> Level:
        """Write the level down, its splits included; open the level of their children."""
        evaluator = self.evaluator
        first_child = children.first_child
        total = children.counts.sum(axis=1)
        cost = np.empty(len(total))
        evaluator.measure.costs(children.counts, total, cost)
        saved = level.cost[nodes] - np.add.reduceat(cost, first_child[:-1])
        gain = np.maximum(saved / (evaluator.measure.unit * level.total[nodes]), 0.0)
        heaviest = first_largest(total, first_child) - first_child[:-1]

        split = self._leaves(level)
        split["attribute"][nodes] = attribute
        split["threshold"][nodes] = self._thresholds(attribute, children)
        split["first_child"][nodes] = self.n_nodes + first_child[:-1]
        split["n_children"][nodes] = np.diff(first_child)
        split["n_table"][nodes] = np.diff(children.table_start)
        split["missing_branch"][nodes] = heaviest
        split["heuristic"][nodes] = children.heuristic
        split["gain"][nodes] = gain
        self.levels.append(split)
        self.tables.append((children.table_codes, children.table_branch))

        multiplicity = np.ones(len(total), dtype=np.int32)
        default_branch = np.where(children.is_table, heaviest, -1)
        n_present = np.diff(children.table_start)
        n_values = evaluator.n_codes[attribute] - 1
        absent = evaluator.shape[attribute] == CATEGORICAL_SPLITS["multiway"]
        absent &= n_present < n_values
        multiplicity[first_child[1:][absent] - 1] = (n_values - n_present)[absent]
        default_branch[absent] = n_present[absent]
        split["default_branch"][nodes] = default_branch

        family = np.repeat(np.arange(len(nodes)), np.diff(first_child))
        self.parent = (self.n_nodes - level.size + nodes).astype(np.int32)[family]
        self.multiplicity = multiplicity
        self.pred, self.proba = self.pred[nodes][family], self.proba[nodes][family]
        self._label(children.counts, total)
        self.depth += 1
        self.n_nodes += len(total)
        self._check_size()
        return self._open(
            first_child,
            level.list_start[nodes],
            level.n_rows[nodes],
            level.slot[nodes],
            children.n_rows,
            children.counts,
            total,
            cost,
        )

    def append_leaves(self, level: Level) -> None:
        self.levels.append(self._leaves(level))

    def _leaves(self, level: Level) -> dict[str, np.ndarray]:
        n = level.size
        return {
            "attribute": np.full(n, LEAF, dtype=np.int32),
            "threshold": np.full(n, np.nan),
            "first_child": np.full(n, -1, dtype=np.int32),
            "n_children": np.zeros(n, dtype=np.int32),
            "n_table": np.zeros(n, dtype=np.int64),
            "default_branch": np.full(n, -1, dtype=np.int32),
            "missing_branch": np.full(n, -1, dtype=np.int32),
            "heuristic": np.zeros(n, dtype=bool),
            "gain": np.zeros(n),
            "counts": level.counts,
            "multiplicity": self.multiplicity,
            "parent": self.parent,
            "pred": self.pred,
            "proba": self.proba,
            "depth": np.full(n, self.depth, dtype=np.int32),
        }

    def _label(self, counts: np.ndarray, total: np.ndarray) -> None:
        """Class and shares of the open level; a node without rows keeps its parent's."""
        known = total > 0
        order = self.table.tie_order
        best = order[np.argmax(counts[:, order], axis=1)]
        if known.all():
            self.pred = best.astype(np.int32)
            self.proba = counts / total[:, np.newaxis]
            return
        self.pred = np.where(known, best, self.pred).astype(np.int32)
        shares = counts / np.maximum(total, 1)[:, np.newaxis]
        self.proba = np.where(known[:, np.newaxis], shares, self.proba)

    def _open(
        self,
        first_child: np.ndarray,
        parent_start: np.ndarray,
        parent_rows: np.ndarray,
        parent_slot: np.ndarray,
        n_rows: np.ndarray,
        counts: np.ndarray,
        total: np.ndarray | None = None,
        cost: np.ndarray | None = None,
    ) -> Level:
        if total is None or cost is None:
            total = counts.sum(axis=1)
            cost = np.empty(len(total))
            self.evaluator.measure.costs(counts, total, cost)
        if self.depth >= self.params.max_depth or self.depth >= self.params.max_leaves - 1:
            is_open = np.zeros(len(total), dtype=bool)
        else:
            is_open = (counts.max(axis=1) < total) & (total >= self.min_split)
        return make_level(
            first_child, parent_start, parent_rows, parent_slot, n_rows, counts, total, cost, is_open,
            self.evaluator.slots,
        )  # fmt: skip

    def _thresholds(self, attribute: np.ndarray, children: Children) -> np.ndarray:
        threshold = np.full(len(attribute), np.nan)
        numeric = ~children.is_table
        if not numeric.any():
            return threshold
        attribute, sides = attribute[numeric], children.neighbours[numeric]
        below, above = np.empty(len(attribute)), np.empty(len(attribute))
        swept = self.table.storage[attribute] >= 0
        below[swept] = self.table.values_at(attribute[swept], sides[swept, 0])
        above[swept] = self.table.values_at(attribute[swept], sides[swept, 1])
        counted = ~swept
        below[counted] = self.table.upper[attribute[counted], sides[counted, 0]]
        above[counted] = self.table.lower[attribute[counted], sides[counted, 1]]
        threshold[numeric] = below if self.params.threshold == "value" else midpoint(below, above)
        threshold += 0.0  # -0.0 is 0.0
        return threshold

    def _check_size(self) -> None:
        n_bytes = 8 * self.n_nodes * self.table.n_classes
        if n_bytes > MOST_COUNT_BYTES:
            raise ValueError(
                f"the class counts of {self.n_nodes} nodes x {self.table.n_classes} classes would take "
                f"{n_bytes / 2**30:.1f} GB (limit 1 GB): raise min_samples_leaf or lower max_depth"
            )

    def finish(self) -> Tree:
        arrays = {
            name: np.concatenate([level[name] for level in self.levels]) for name in self.levels[0]
        }
        arrays["table_start"] = ends(arrays.pop("n_table"))
        arrays["counts"] = arrays["counts"] / self.per_unit
        codes = [codes for codes, _ in self.tables]
        branches = [branches for _, branches in self.tables]
        empty = np.empty(0, dtype=np.uint32)
        return Tree(
            schema=self.table.schema,
            table_codes=np.concatenate([empty, *codes]),
            table_branch=np.concatenate([empty, *branches]),
            **arrays,
        )


def midpoint(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Between two values, never equal to the upper one; halves first, so that nothing overflows."""
    with np.errstate(invalid="ignore"):
        middle = below / 2 + above / 2
    return np.where((middle >= below) & (middle < above), middle, below)


