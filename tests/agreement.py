# SPDX-License-Identifier: BSD-3-Clause
"""An engine's tree as a list of reference nodes, and what it means that two trees are equal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from reference import TIE, Grower, Node, Split, score_of


def nodes_of(tree: Any) -> list[Node]:
    """The struct of arrays as the nodes that `reference.grow` returns (without their rows)."""
    nodes = []
    for place in range(len(tree.attribute)):
        node = Node(
            depth=int(tree.depth[place]),
            parent=int(tree.parent[place]),
            rows=[],
            counts=tree.counts[place].tolist(),
            proba=tree.proba[place].tolist(),
            pred=int(tree.pred[place]),
            multiplicity=int(tree.multiplicity[place]),
            heuristic=bool(tree.heuristic[place]),
        )
        if tree.attribute[place] >= 0:
            first, n_children = int(tree.first_child[place]), int(tree.n_children[place])
            node.children = list(range(first, first + n_children))
            entries = slice(int(tree.table_start[place]), int(tree.table_start[place + 1]))
            codes = tree.table_codes[entries].tolist()
            branches = tree.table_branch[entries].tolist()
            missing_branch = int(tree.missing_branch[place])
            empty = [c for c in node.children if not tree.counts[c].any()]
            node.split = Split(
                attribute=int(tree.attribute[place]),
                branch_counts=[tree.counts[child].tolist() for child in node.children],
                threshold=float(tree.threshold[place]),
                table={code - 1: branch for code, branch in zip(codes, branches, strict=True)},
                missing_branch=missing_branch if tree.missing_seen[place] else None,
                n_absent=sum(int(tree.multiplicity[child]) for child in empty),
                gain=float(tree.gain[place]),
            )
            node.missing_branch = missing_branch
            if node.split.table:
                node.default_branch = int(tree.default_branch[place])
        nodes.append(node)
    return nodes


def close(ours: Sequence[float], theirs: Sequence[float], tolerance: float) -> bool:
    return len(ours) == len(theirs) and all(
        abs(a - b) <= tolerance * max(1.0, abs(b)) for a, b in zip(ours, theirs, strict=True)
    )


def difference(tree: Any, expected: list[Node], *, tolerance: float = 0.0) -> str | None:
    """The first thing in which the engine's tree differs, or None. `tolerance` is for counts."""
    nodes = nodes_of(tree)
    for place, (ours, theirs) in enumerate(zip(nodes, expected, strict=False)):
        if not close(ours.counts, theirs.counts, tolerance):
            return f"node {place}: counts {ours.counts}, expected {theirs.counts}"
        if not close(ours.proba, theirs.proba, 1e-9):
            return f"node {place}: proba {ours.proba}, expected {theirs.proba}"
        for name in ("depth", "parent", "pred", "multiplicity", "children", "heuristic"):
            mine, other = getattr(ours, name), getattr(theirs, name)
            if mine != other:
                return f"node {place}: {name} {mine}, expected {other}"
        if ours.split is None or theirs.split is None:
            if ours.split is not theirs.split:
                return f"node {place}: {describe(ours)}, expected {describe(theirs)}"
            continue
        for name in ("attribute", "table", "missing_branch", "n_absent"):
            if getattr(ours.split, name) != getattr(theirs.split, name):
                return f"node {place}: {describe(ours)}, expected {describe(theirs)}"
        if not theirs.split.table and ours.split.threshold != theirs.split.threshold:
            return f"node {place}: {describe(ours)}, expected {describe(theirs)}"
        if not math.isclose(ours.split.gain, theirs.split.gain, rel_tol=1e-9, abs_tol=1e-9):
            return f"node {place}: gain {ours.split.gain}, expected {theirs.split.gain}"
        for name in ("missing_branch", "default_branch"):
            if getattr(ours, name) != getattr(theirs, name):
                return (
                    f"node {place}: {name} {getattr(ours, name)}, expected {getattr(theirs, name)}"
                )
    if len(nodes) != len(expected):
        return f"{len(nodes)} nodes, expected {len(expected)}"
    return None


def describe(node: Node) -> str:
    if node.split is None:
        return f"leaf {node.counts}"
    test = node.split.table or node.split.threshold
    missing = node.split.missing_branch
    return (
        f"split on {node.split.attribute} by {test}, missing to {missing} "
        f"(gain {node.split.gain}) {node.counts}"
    )


def assert_same_tree(tree: Any, expected: list[Node], *, tolerance: float = 0.0) -> None:
    found = difference(tree, expected, tolerance=tolerance)
    assert found is None, found


def assert_every_choice_is_best(tree: Any, grower: Grower) -> None:
    """Where ties may fall differently: every split scores as high as the best there is.

    Used where the order of equal candidates hangs on the last bit of a number that is no score: the
    class rates of values under fractional weights, the projections of the subset heuristic.
    """
    nodes = nodes_of(tree)
    nodes[0].rows = [row for row, weight in enumerate(grower.weights) if weight > 0]
    for place, node in enumerate(nodes):
        if not node.rows:
            assert node.split is None, f"node {place} without rows is split"
            continue
        assert close(node.counts, grower.count(node.rows), 1e-9), f"counts of node {place}"
        best, _ = grower.best_split(node.rows)
        stop = grower.must_be_leaf(node.counts, node.depth)
        if node.split is None:
            if grower.max_leaves is None:
                assert stop or best is None or not grower.is_worth_it(best), f"leaf {place}"
            continue
        assert not stop, f"node {place} must be a leaf"
        assert best is not None, f"node {place} has no admissible split"
        values = grower.attributes[node.split.attribute].values
        for row in node.rows:
            child = node.children[node.split.branch_of(values[row], node.default_branch)]
            nodes[child].rows.append(row)
        branches = [grower.count(nodes[child].rows) for child in node.children]
        node.split.branch_counts = branches
        assert grower.is_admissible(node.split), f"node {place}: a branch is too light"
        score = score_of(grower.criterion, node.counts, branches)
        assert score >= best.score - 10 * TIE, (
            f"node {place}: {describe(node)} scores {score}, but {best} scores {best.score}"
        )
