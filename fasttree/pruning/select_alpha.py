# SPDX-License-Identifier: BSD-3-Clause
"""Which tree of a cost-complexity path: by validation rows, or by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fasttree.base.checks import check_number
from fasttree.base.sums import total
from fasttree.pruning.cost_complexity_pruning import Path, cost_complexity_path
from fasttree.pruning.held_out import HeldLosses, losses_of_counts
from fasttree.tables.schema import ClassPriors
from fasttree.trees.structure import TreeStructure
from fasttree.trees.traversal import all_siblings, errors_as_leaf
from fasttree.trees.tree import Tree


class HeldOutErrors:
    """The errors of several trees on rows that they were not grown from."""

    errors: np.ndarray  # of each tree: what its mistakes come to, with class weights and costs
    weight: float  # of the rows that were classified, with class weights
    # The sums of the squares of what the mistakes come to; the errors, if that is 1 each.
    squares: np.ndarray
    n_rows: float  # how many rows were classified

    @property
    def rate(self) -> np.ndarray:
        """Errors per row."""
        return np.asarray(self.errors / self.weight)

    @property
    def standard_error(self) -> np.ndarray:
        """The standard error of each rate, as of a mean over rows: sqrt(e (1 - e) / n) where each error costs 1."""
        variance = np.maximum(
            self.squares / self.n_rows - np.square(self.errors / self.n_rows), 0.0
        )
        return np.asarray(np.sqrt(variance / self.n_rows) * self.n_rows / self.weight)


@dataclass(frozen=True, eq=False)
class Choice(HeldOutErrors):
    """The errors of every tree on the path, and the one that was selected."""

    alphas: np.ndarray  # at which the errors were counted
    leaves: np.ndarray
    errors: np.ndarray
    weight: float
    squares: np.ndarray
    n_rows: float
    se: float
    place: int  # of the tree taken

    @property
    def alpha(self) -> float:
        """The alpha of the selected tree."""
        return float(self.alphas[self.place])

    def columns(self) -> dict[str, np.ndarray]:
        """The trees as columns, for a data frame."""
        return {
            "alpha": self.alphas,
            "leaves": self.leaves,
            "errors": self.errors,
            "rate": self.rate,
            "standard_error": self.standard_error,
        }

    def __str__(self) -> str:
        lines = [f"{'alpha':>12}{'leaves':>8}{'errors':>10}{'rate':>10}{'std.err.':>10}"]
        rows = zip(*(column.tolist() for column in self.columns().values()), strict=True)
        for i, (alpha, leaves, errors, rate, error) in enumerate(rows):
            mark = "  <- selected" if i == self.place else ""
            lines.append(f"{alpha:12.6g}{leaves:8d}{errors:10.6g}{rate:10.4f}{error:10.4f}{mark}")
        return "\n".join(lines)


PathChoice = Choice


def errors_along(
    tree: Tree, path: Path, held: np.ndarray, alphas: np.ndarray, priors: ClassPriors | None = None
) -> np.ndarray:
    """Return the errors on held-out rows of the tree at each of the ascending `alphas`; one pass over the nodes.
    `priors`: class weights and costs of the errors, if not those of the tree."""
    passing = errors_as_leaf(tree, tree.subtree_sums(held), priors)
    return losses_along(tree, path.dies_at, passing, errors_as_leaf(tree, held, priors), alphas)


def losses_along(
    tree: TreeStructure,
    dies_at: np.ndarray,
    passing: np.ndarray,
    ending: np.ndarray,
    alphas: np.ndarray,
) -> np.ndarray:
    """What the tree at each of the ascending `alphas` loses; `dies_at`: from which alpha on a node is a leaf."""
    # When a node becomes a leaf, its errors take the place of its children's, and of the rows that went no further.
    change = passing - ending
    siblings = all_siblings(tree)
    inner = siblings.splits
    first = np.searchsorted(alphas, dies_at[inner])  # the first alpha at which it is a leaf
    change = change[inner] - siblings.sums(passing)
    added = np.bincount(first, weights=change, minlength=len(alphas) + 1)[: len(alphas)]
    return np.asarray(total(ending) + np.cumsum(added))


def choose_by_held_out(tree: TreeStructure, path: Path, held: Any, se: float = 0.0) -> Choice:
    """Select the tree with the fewest errors on held-out rows; in case of ties, the smallest one. `held`: the class
    counts of the rows where they end, or their `HeldLosses`."""
    sums = _Sums(path.alphas)
    sums.add(tree, path, held)
    return sums.choice(path, se)


def choose_by_folds(
    path: Path, folds: Iterable[tuple[TreeStructure, Any]], se: float = 1.0
) -> Choice:
    """Select a tree of the path by cross-validation.

    `path` is that of the tree of all rows. Each fold is a pair: the tree grown without it, and the counts of its
    rows at the nodes of that tree (`held_out_counts`), or what it loses on them (`HeldLosses`). Every fold's tree
    is pruned at an alpha inside each interval of the path, and the errors are summed.
    """
    of_folds = _Sums(path.typical_alphas())
    for tree, held in folds:
        of_folds.add(tree, cost_complexity_path(tree, path.impurity), held)
    if of_folds.n_rows == 0:
        raise ValueError("folds is empty: cross-validation needs at least 2 folds")
    return of_folds.choice(path, se)


class _Sums:
    """What is added up over the trees that rows were held out from."""

    def __init__(self, alphas: np.ndarray) -> None:
        self.alphas = alphas
        self.errors, self.squares = np.zeros((2, len(alphas)))
        self.weight = self.n_rows = self.stake = 0.0

    def add(self, tree: TreeStructure, path: Path, held: Any) -> None:
        if not isinstance(held, HeldLosses):
            assert isinstance(tree, Tree)
            held = losses_of_counts(tree, held)
        dies_at = path.dies_at * held.unit if held.unit > 0 else path.dies_at
        self.errors += losses_along(tree, dies_at, held.passing, held.ending, self.alphas)
        squares = held.passing_squares, held.ending_squares
        self.squares += losses_along(tree, dies_at, *squares, self.alphas)
        self.weight += held.weight
        self.n_rows += held.n_rows
        self.stake += held.stake

    def choice(self, path: Path, se: float) -> Choice:
        check_number("se", se, 0)
        found = Choice(
            self.alphas,
            path.leaves,
            self.errors,
            self.weight,
            self.squares,
            self.n_rows,
            float(se),
            place=0,
        )
        tolerance = 1e-9 * self.stake  # of sums of fractional weights
        lowest = np.flatnonzero(self.errors <= self.errors.min() + tolerance)[-1]
        allowed = self.errors.min() + se * found.standard_error[lowest] * self.weight
        return replace(found, place=int(np.flatnonzero(self.errors <= allowed + tolerance)[-1]))
