# SPDX-License-Identifier: BSD-3-Clause
"""What was cut, in which order, and the estimate before and after."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fasttree.base.printed_tables import aligned
from fasttree.trees.structure import LEAF, TreeStructure
from fasttree.trees.traversal import Decision
from fasttree.trees.tree import Tree

LEAF_MADE = "leaf"
CHILD_RAISED = "raised"
_PRINTED = 40  # steps; a longer trace is printed in part


@dataclass(frozen=True, eq=False)
class Trace:
    """The steps of a pruning, in order; arrays of equal length.

    Node numbers are those of the tree before pruning. The number of leaves after pruning is the number before, minus
    the sum of `leaves_removed`.
    """

    method: str
    estimate: str  # what `before` and `after` are
    node: np.ndarray
    attribute: tuple[str, ...]  # of the test that went
    leaves_removed: np.ndarray
    before: np.ndarray  # the estimate of the node with what was below it at that moment ...
    after: np.ndarray  # ... and without
    action: tuple[str, ...] = field(default=())  # "leaf" or "raised"

    def __post_init__(self) -> None:
        if not self.action:
            object.__setattr__(self, "action", (LEAF_MADE,) * len(self.node))
        for array in (self.node, self.leaves_removed, self.before, self.after):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.node)

    def columns(self) -> dict[str, Any]:
        """The steps as columns, for a data frame."""
        return {
            "node": self.node,
            "attribute": np.array(self.attribute, dtype=object),
            "action": np.array(self.action, dtype=object),
            "leaves_removed": self.leaves_removed,
            "before": self.before,
            "after": self.after,
        }

    def __str__(self) -> str:
        if not len(self):
            return f"{self.method}: nothing was pruned"
        steps = "1 step" if len(self) == 1 else f"{len(self)} steps"
        n = int(self.leaves_removed.sum())
        fewer = "1 leaf fewer" if n == 1 else f"{n} leaves fewer"
        title = f"{self.method}: {steps}, {fewer}; {self.estimate}"
        shown = slice(0, len(self) if len(self) <= _PRINTED else _PRINTED)
        rows = [("node", "attribute", "becomes", "leaves removed", "before", "after")]
        rows += [
            (str(node), name, action, str(leaves), f"{before:.6g}", f"{after:.6g}")
            for node, name, action, leaves, before, after in zip(
                self.node[shown].tolist(),
                self.attribute[shown],
                self.action[shown],
                self.leaves_removed[shown].tolist(),
                self.before[shown].tolist(),
                self.after[shown].tolist(),
                strict=True,
            )
        ]
        lines = [title, aligned(rows, left=(1, 2))]
        if len(self) > _PRINTED:
            lines.append(f"... and {len(self) - _PRINTED} more")
        return "\n".join(lines)


def trace_of(
    tree: TreeStructure,
    method: str,
    estimate: str,
    node: np.ndarray,
    leaves_removed: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    action: tuple[str, ...] = (),
) -> Trace:
    """The trace of steps on a tree, which knows the names of its tests."""
    names = tree.schema.names
    asked = (names[a] if a != LEAF else "" for a in tree.attribute[node].tolist())
    return Trace(
        method,
        estimate,
        np.array(node, dtype=np.int64),
        tuple(asked),
        np.array(leaves_removed, dtype=np.int64),
        np.array(before, dtype=np.float64),
        np.array(after, dtype=np.float64),
        action,
    )


def cut_as_decided(
    tree: Tree,
    decision: Decision,
    as_leaf: np.ndarray,
    method: str,
    estimate: str,
    unit: float = 1.0,
) -> tuple[Tree, Trace]:
    """The tree without the splits that were to be cut, and the trace; estimates are printed in `unit`."""
    node = decision.nodes()
    removed, before = decision.leaves_removed[node], decision.before[node]
    trace = trace_of(tree, method, estimate, node, removed, before / unit, as_leaf[node] / unit)
    return tree.subtree(~decision.cut), trace
