# SPDX-License-Identifier: BSD-3-Clause
"""Reduced-error pruning: cut what does not help on rows that were held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fasttree.base.hints import check_choice, settings
from fasttree.encoding.class_weights import at_stake
from fasttree.pruning.greedy import remove_greedily
from fasttree.pruning.held_out import check_held
from fasttree.pruning.requirements import HELD_OUT
from fasttree.pruning.trace import Trace, cut_as_decided
from fasttree.trees.traversal import decide_bottom_up, errors_as_leaf
from fasttree.trees.tree import Tree

STOPS = ("harmful", "below_original")
METHODS = ("greedy", "bottom_up")
ESTIMATE = "errors of held-out rows"


@settings
@dataclass(frozen=True, slots=True)
class ReducedError:
    """Reduced-error pruning.

    Parameters
    ----------
    stop : {"harmful", "below_original"}
        "harmful": prune as long as the next step does not increase the errors. "below_original": prune as long as the
        tree does not make more errors than the unpruned tree, so that the errors saved by early steps pay for smaller
        trees.
    method : {"bottom_up", "greedy"}, default="bottom_up" (with stop="below_original": "greedy")
        "bottom_up": visit every node once, the deepest first; this finds the pruning with the fewest held-out errors
        and, in case of ties, the smallest tree. "greedy": always the step that reduces errors most, as described in
        textbooks, which may end with more errors.
    """

    stop: str = "harmful"
    method: str | None = None
    needs: ClassVar[str] = HELD_OUT

    def __post_init__(self) -> None:
        check_choice("stop", self.stop, STOPS)
        if self.method is None:
            own = "bottom_up" if self.stop == "harmful" else "greedy"
            object.__setattr__(self, "method", own)
        check_choice("method", self.method, METHODS)
        if self.method == "bottom_up" and self.stop != "harmful":
            raise ValueError(
                f"stop={self.stop!r} requires method='greedy': bottom-up pruning visits every node exactly once"
            )


def reduced_error(tree: Tree, held: Any, how: ReducedError | None = None) -> tuple[Tree, Trace]:
    """Return the pruned tree and its trace. `held[node, class]`: counts of held-out rows, see `held_out_counts`."""
    how = how or ReducedError()
    counts = check_held(tree, held)
    as_leaf = errors_as_leaf(tree, tree.subtree_sums(counts))
    ending = errors_as_leaf(tree, counts)
    if how.method == "greedy":
        return remove_greedily(
            tree,
            as_leaf,
            ending,
            spend_savings=how.stop == "below_original",
            method="reduced_error",
            estimate=ESTIMATE,
        )
    tolerance = 1e-12 * at_stake(tree.schema.priors, counts)  # of sums of fractional weights
    decision = decide_bottom_up(tree, as_leaf, ending, tolerance)
    return cut_as_decided(tree, decision, as_leaf, "reduced_error", ESTIMATE)
