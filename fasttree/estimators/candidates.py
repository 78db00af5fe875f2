# SPDX-License-Identifier: BSD-3-Clause
"""What each node of a tree could choose between: of every attribute its best split, and by how much the best one won.

A tree keeps only the splits that were made. Growing it once more from the same rows, which comes to the same tree,
brings the others back, as the search saw them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fasttree.base.sums import total
from fasttree.base.wording import plural
from fasttree.estimators.training import OTHER_ROWS, Trainer, as_it_is
from fasttree.growth.params import UNLIMITED, GrowthParams
from fasttree.rules.paths import rules_to
from fasttree.trees.tree import LEAF, Tree

_PRINTED = 40  # nodes, and attributes of each; of more, the first ones

NO_SPLIT, NOT_ELIGIBLE = "no split", "not eligible"


class Candidate(NamedTuple):
    """An attribute at a node. `score` is the value that the search compares; None where the attribute has no split
    there, or is not eligible. `gain` is the gain of its best split, before the criterion transforms it."""

    name: str
    score: float | None
    gain: float | None
    is_chosen: bool


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of the nodes of a tree. Prints as a table; ``candidates[node]`` is the list of one node, the best
    first.

    ``score`` and ``gain`` are [node, attribute]: NaN at nodes that were not searched (pure nodes, nodes with too few
    rows, and nodes that moved up when a subtree was raised), -inf for an attribute that has no split there, or (only
    score) is not eligible. ``margin`` is the lead of the best attribute of a node over the runner-up, NaN where there
    is none.
    """

    tree: Tree
    criterion: str
    score: np.ndarray
    gain: np.ndarray

    @property
    def margin(self) -> np.ndarray:
        if self.score.shape[1] < 2:
            return np.full(len(self.score), np.nan)
        known = np.where(np.isnan(self.score), -np.inf, self.score)
        second, best = np.sort(known, axis=1)[:, -2:].T
        margin = np.full(len(best), np.nan)
        has_two = np.isfinite(second)
        margin[has_two] = best[has_two] - second[has_two]
        return margin

    def __len__(self) -> int:
        return len(self.score)

    def __iter__(self) -> Iterator[list[Candidate]]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, node: int) -> list[Candidate]:
        names, chosen = self.tree.schema.names, int(self.tree.attribute[node])
        return [
            Candidate(
                names[a], _known(self.score[node, a]), _known(self.gain[node, a]), a == chosen
            )
            for a in self._order(node)
        ]

    def _order(self, node: int) -> list[int]:
        """Best first, equal ones in the order of the columns; the chosen one before all that are worth the same, but
        for rounding. None at a node that was not searched."""
        score = self.score[node]
        if np.isnan(score).all():
            return []
        order: list[int] = np.lexsort((-self.gain[node], -score)).tolist()
        chosen = int(self.tree.attribute[node])
        if chosen != LEAF:
            order.remove(chosen)
            order.insert(0, chosen)
        return order

    def columns(self) -> dict[str, np.ndarray]:
        """Return one line per candidate of the nodes that were searched, as columns for a data frame."""
        pairs = [(node, a) for node in range(len(self)) for a in self._order(node)]
        node, attribute = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        names = np.array(self.tree.schema.names, dtype=object)
        return {
            "node": node,
            "attribute": names[attribute],
            "score": self.score[node, attribute],
            "gain": self.gain[node, attribute],
            "chosen": self.tree.attribute[node] == attribute,
            "margin": self.margin[node],
        }

    def __str__(self) -> str:
        is_split = ~self.tree.is_leaf()
        is_split[0] = True  # also why it is not
        nodes = np.flatnonzero(is_split & ~np.isnan(self.score).all(axis=1))
        shown = nodes[:_PRINTED]
        margin = self.margin
        with_gain = bool((self.gain != self.score)[shown][np.isfinite(self.gain[shown])].any())
        lines = []
        for node, path in zip(shown.tolist(), _paths(self.tree, shown), strict=True):
            weight = total(self.tree.counts[node])
            by = "" if np.isnan(margin[node]) else f"; margin {margin[node]:.6f}"
            lines.append(f"node {node}{path}: weight {weight:g}{by}")
            lines += self._lines(node, with_gain)
        if len(nodes) > len(shown):
            lines.append(f"... and {plural(len(nodes) - len(shown), 'more node')}")
        return "\n".join(lines) or "no node was searched for splits"

    def __repr__(self) -> str:
        return f"Candidates({len(self)} nodes, {self.score.shape[1]} attributes)"

    def _lines(self, node: int, with_gain: bool) -> list[str]:
        rows = [("", self.criterion, "gain" if with_gain else "", "")]
        all_of_them = self[node]
        for name, score, gain, is_chosen in all_of_them[:_PRINTED]:
            known = NO_SPLIT if gain is None else NOT_ELIGIBLE
            if score is not None:
                known = f"{score:.6f}"
            gained = f"{gain:.6f}" if with_gain and gain is not None else ""
            rows.append((name, known, gained, "<- chosen" if is_chosen else ""))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            f"  {name:<{widths[0]}}  {score:>{widths[1]}}  {gain:>{widths[2]}}{' ' * with_gain * 2}{mark}".rstrip()
            for name, score, gain, mark in rows
        ]
        n_more = len(all_of_them) - _PRINTED
        return [*lines, f"  ... and {n_more} more"] if n_more > 0 else lines


def _known(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _paths(tree: Tree, nodes: np.ndarray) -> list[str]:
    """How rows come to each of these nodes, in brackets; nothing for the root."""
    below = nodes[nodes > 0]
    rules = rules_to(tree, below) if len(below) else ()
    found = [f" ({' and '.join(map(str, rule.conditions))})" for rule in rules]
    return [""] * (len(nodes) - len(below)) + found


def candidates_of(trainer: Trainer, tree: Tree, is_raised: bool, holds_out: bool) -> Candidates:
    """The candidates of a tree that was grown from the rows of `trainer`, and maybe pruned; `is_raised`: subtrees
    replaced others; `holds_out`: if the tree has not seen all the rows, the others were held out to prune it."""
    left_out = None
    if holds_out and _n_rows(tree) < (1 - 1e-6) * _weight(trainer):
        left_out = trainer.held_out()
    else:
        trainer.check_grown(tree)
    candidate_scores: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    params = trainer.params
    grown, _ = replace(trainer, params=_without_cuts(params), finish=as_it_is).grow(
        left_out, use_up=True, candidate_scores=candidate_scores
    )
    if grown.schema != tree.schema:
        raise ValueError(OTHER_ROWS)
    gain, score = np.full((2, grown.node_count, len(grown.schema.attributes)), np.nan)
    for nodes, gained, adjusted_there in candidate_scores:
        gain[nodes], score[nodes] = adjusted_there if params.by_length else gained, adjusted_there
    of_grown = _nodes_in(tree, grown)
    lost = np.flatnonzero((of_grown < 0) & ~tree.is_leaf())
    if len(lost) and (not is_raised or of_grown[0] < 0):
        raise ValueError(
            f"node {lost[0]} has a different split than a tree grown from these rows with the parameters of this "
            "estimator: set them as they were at fit (a tree with a subtree raised to the root is not supported)"
        )
    score, gain = score[of_grown], gain[of_grown]
    score[of_grown < 0] = gain[of_grown < 0] = np.nan
    at_cost = "" if trainer.costs is None else " at its cost"
    return Candidates(tree, params.criterion + at_cost, score, gain)


def _n_rows(tree: Tree) -> float:
    return total(tree.counts[0])


def _weight(trainer: Trainer) -> float:
    weights = trainer.rows.plain_weights()
    return float(trainer.rows.encoded.n_rows) if weights is None else total(weights)


def _without_cuts(params: GrowthParams) -> GrowthParams:
    """What grows the nodes that are there before any of them is taken back."""
    most = min(params.max_depth, params.max_leaves - 1)
    return replace(params, significance=None, max_leaves=UNLIMITED, max_depth=most)


def _nodes_in(tree: Tree, grown: Tree) -> np.ndarray:
    """The node of the grown tree that each node of a pruned one was; -1 for those below a split that moved."""
    of_grown = np.full(tree.node_count, -1, dtype=np.int64)
    of_grown[0], branch = 0, tree.branch
    for level in tree.nodes_by_depth():
        nodes = np.arange(tree.node_count)[level]
        if level.start > 0:
            parent = tree.parent[level]
            child = grown.first_child[of_grown[parent]] + branch[level]
            of_grown[level] = np.where(of_grown[parent] < 0, -1, child)
        own = of_grown[level]
        is_same = (own >= 0) & _is_close(tree.counts[level], grown.counts[own])
        is_same &= tree.is_leaf()[level] | (
            (tree.attribute[level] == grown.attribute[own])
            & (tree.n_children[level] == grown.n_children[own])
            & _is_equal(tree.threshold[level], grown.threshold[own])
        )
        of_grown[nodes[~is_same]] = -1
    return of_grown


def _is_close(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.isclose(a, b, rtol=1e-9).all(axis=1))


def _is_equal(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray((a == b) | (np.isnan(a) & np.isnan(b)))
