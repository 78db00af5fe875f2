# SPDX-License-Identifier: BSD-3-Clause
"""Rows to their ends in ONNX, a step of all rows a turn; a row that is shared out becomes several ways.

`table` is a value of doubles [row, column], with codes (1, 2, ...) in categorical columns, NaN for what is missing and
STOPS for a level that ends the way of a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasttree.export.flat_steps import Steps, parts_of, shares_rows_at
from fasttree.export.onnx_graph import ML, Graph
from fasttree.trees.traversal import printed_order
from fasttree.trees.view import Exportable

STOPS = -1.0
MOST_LEAVES = 2**24  # whole numbers that a float holds


def ends_by_ensemble(graph: Graph, model: Exportable, column: np.ndarray, table: str) -> str:
    """For trees of thresholds alone: ONNX has an operator for them. It returns the number of the leaf, as a float."""
    tree = model.tree
    is_leaf, nodes = tree.is_leaf(), np.arange(tree.node_count)
    leaves, first = nodes[is_leaf], np.where(is_leaf, 0, tree.first_child)
    value = graph.op(
        "TreeEnsembleRegressor",
        table,
        domain=ML,
        n_targets=1,
        nodes_treeids=[0] * len(nodes),
        nodes_nodeids=nodes.tolist(),
        nodes_featureids=np.where(is_leaf, 0, column[tree.attribute]).tolist(),
        nodes_modes=np.where(is_leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_values_as_tensor=graph.tensor(np.where(is_leaf, 0.0, tree.threshold)),
        nodes_truenodeids=first.tolist(),
        nodes_falsenodeids=np.where(is_leaf, 0, first + 1).tolist(),
        nodes_missing_value_tracks_true=(tree.missing_branch == 0).astype(int).tolist(),
        target_treeids=[0] * len(leaves),
        target_nodeids=leaves.tolist(),
        target_ids=[0] * len(leaves),
        target_weights_as_tensor=graph.tensor(np.arange(len(leaves), dtype=np.float64)),
    )
    place = graph.whole(graph.op("Reshape", value, np.array([-1])))
    return graph.pick(leaves, place)


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """One step of many ways at once."""

    steps: Steps
    column: np.ndarray  # of the table, for each attribute
    table: str
    stride: int  # above every code
    stops_at_unknown: bool

    def next(self, graph: Graph, at: str, row: str | None) -> tuple[str, str]:
        """Where ways at steps `at` go next, and whether they lack the value. `row`: of each way; None: each row has
        one."""
        steps, where = self.steps, graph.pick
        table = self.table if row is None else graph.op("Gather", self.table, row)
        one = graph.constant(np.array([1]))
        asked = graph.op("Unsqueeze", where(self.column[steps.attribute], at), one)
        value = graph.op("Squeeze", graph.op("GatherElements", table, asked, axis=1), one)
        lacks = graph.op("IsNaN", value)
        above = graph.op("Greater", value, where(steps.threshold, at))
        to = graph.op("Where", above, where(_whole(steps.high), at), where(_whole(steps.low), at))
        if len(steps.table_codes):
            to = graph.op(
                "Where", where(steps.has_table, at), self._by_table(graph, at, value, lacks), to
            )
        return graph.op("Where", lacks, where(_whole(steps.missing), at), to), lacks

    def _by_table(self, graph: Graph, at: str, value: str, lacks: str) -> str:
        """One look-up serves the tables of all steps: its keys are step and code in one number."""
        steps = self.steps
        of_step = np.repeat(np.arange(len(steps)), np.diff(steps.table_start))
        keys = of_step * self.stride + steps.table_codes.astype(np.int64)
        zero = graph.constant(np.float64(0))
        # 0 is in no table.
        code = graph.whole(graph.op("Max", zero, graph.op("Where", lacks, zero, value)))
        key = graph.op("Add", graph.op("Mul", at, np.int64(self.stride)), code)
        found = graph.look_up(key, keys, _whole(steps.table_to), -1)
        is_there = graph.op("GreaterOrEqual", found, np.int64(0))
        to = graph.op("Where", is_there, found, graph.pick(_whole(steps.other), at))
        if not self.stops_at_unknown:
            return to
        stops = graph.op("Equal", value, np.float64(STOPS))
        return graph.op("Where", stops, graph.pick(_whole(steps.unknown), at), to)


def ends_by_steps(graph: Graph, walk: Walk, start: str) -> str:
    """The end of each row; `start` has its first step."""
    body = graph.body()
    at = body.new_name()
    to, _ = walk.next(body, at, None)
    moved = body.op("Not", body.op("Equal", at, to))
    goes_on = body.op("Greater", body.count(moved), np.int64(0))
    int64 = graph.onnx.TensorProto.INT64
    return graph.loop(body, walk.steps.longest, [start], [(at, int64)], goes_on, [to])[0]


@dataclass(frozen=True, slots=True)
class Ends:
    """Where rows end, with shares: values of equal length, in the order in which the core adds them up."""

    row: str
    at: str
    part: str
    is_shared: str  # one a row: did it go down several branches?


def shared_ends(graph: Graph, model: Exportable, walk: Walk, start: str) -> Ends:
    """All ends of all rows. A turn moves every way that has not ended on by a step, or shares it out."""
    types, tree = graph.onnx.TensorProto, model.tree
    n_rows, zero = graph.size(start), graph.constant(np.int64(0))
    rows = graph.op("Range", zero, graph.op("Squeeze", n_rows), np.int64(1))
    nothing, no_part = graph.constant(np.empty(0, dtype=np.int64)), graph.constant(np.empty(0))
    before = [
        rows,
        start,
        graph.full(n_rows, 1.0),
        nothing,
        nothing,
        no_part,
        graph.full(n_rows, False),
    ]

    body = graph.body()
    row, at, part, end_row, end_at, end_part, is_shared = (body.new_name() for _ in before)
    to, lacks = walk.next(body, at, row)
    stays = body.op("Equal", at, to)
    may_share = np.append(
        shares_rows_at(tree), np.zeros(len(walk.steps) - tree.node_count, dtype=bool)
    )
    shares = body.op("And", body.op("And", stays, body.pick(may_share, at)), lacks)
    ends, moves = body.op("And", stays, body.op("Not", shares)), body.op("Not", stays)

    def those(values: str, mask: str) -> str:
        return body.op("Compress", values, mask, axis=0)

    shared_row, child, child_part = _children(
        body, model, those(row, shares), those(at, shares), those(part, shares)
    )
    after = [
        body.op("Concat", those(row, moves), shared_row, axis=0),
        body.op("Concat", those(to, moves), child, axis=0),
        body.op("Concat", those(part, moves), child_part, axis=0),
        body.op("Concat", end_row, those(row, ends), axis=0),
        body.op("Concat", end_at, those(at, ends), axis=0),
        body.op("Concat", end_part, those(part, ends), axis=0),
        body.op("ScatterElements", is_shared, shared_row, body.full(body.size(shared_row), True)),
    ]
    left = body.op("Squeeze", body.size(after[0]))
    kinds = [types.INT64, types.INT64, types.DOUBLE] * 2 + [types.BOOL]
    inside = list(zip((row, at, part, end_row, end_at, end_part, is_shared), kinds, strict=True))
    goes_on = body.op("Greater", left, np.int64(0))
    # A turn to share a row out, and one to see that an end is one.
    most = 2 * walk.steps.longest + 1
    *_, end_row, end_at, end_part, is_shared = graph.loop(
        body, most, before, inside, goes_on, after
    )

    key = graph.op("Mul", end_row, np.int64(model.node_count))
    key = graph.op("Add", key, graph.pick(printed_order(tree), end_at))
    _, order = graph.ops("TopK", 2, key, graph.size(key), largest=0)
    row, at, part = (graph.op("Gather", values, order) for values in (end_row, end_at, end_part))
    return Ends(row, at, part, is_shared)


def _children(
    graph: Graph, model: Exportable, row: str, at: str, part: str
) -> tuple[str, str, str]:
    """Every way at a node `at` goes on at all of its children that get a part of it."""
    tree, share = model.tree, parts_of(model)
    one = graph.constant(np.array([1]))
    n_children = graph.pick(_whole(tree.n_children), at)
    first = graph.op("CumSum", n_children, np.int64(0), exclusive=1)
    total = graph.op("ReduceSum", n_children, keepdims=1)
    # Number the ways: 1 where one begins, and the running sum.
    begins = graph.op(
        "ScatterElements", graph.full(total, 0), first, graph.op("Expand", one, graph.size(at))
    )
    way = graph.op("Sub", graph.op("CumSum", begins, np.int64(0)), one)
    places = graph.op(
        "Range",
        np.int64(0),
        graph.op("Squeeze", total),
        np.int64(1),
    )
    branch = graph.op("Sub", places, graph.op("Gather", first, way))
    child = graph.op(
        "Add", graph.op("Gather", graph.pick(_whole(tree.first_child), at), way), branch
    )
    gets = graph.pick(share > 0, child)
    child_part = graph.op("Mul", graph.op("Gather", part, way), graph.pick(share, child))
    values = graph.op("Gather", row, way), child, child_part
    kept = [graph.op("Compress", value, gets, axis=0) for value in values]
    return kept[0], kept[1], kept[2]


def _whole(steps: np.ndarray) -> np.ndarray:
    return steps.astype(np.int64)
