# SPDX-License-Identifier: BSD-3-Clause
"""Which tree of a cost-complexity path: by validation rows, or by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.pruning.choices import check_at_least_zero
from fasttree.pruning.cost_complexity import Path, cost_complexity_path
from fasttree.pruning.held_out import check_held
from fasttree.pruning.levels import errors_as_leaf, levels_upwards, sum_up
from fasttree.tree import Tree


class HeldOutErrors:
    """The errors of several trees on rows that they were not grown from."""

    errors: np.ndarray  # of each tree
    weight: float  # of the rows that were classified

    @property
    def rate(self) -> np.ndarray:
        """Errors a row."""
        return np.asarray(self.errors / self.weight)

    @property
    def standard_error(self) -> np.ndarray:
        """Of each rate: sqrt(e (1 - e) / n)."""
        return np.asarray(np.sqrt(np.maximum(self.rate * (1 - self.rate), 0.0) / self.weight))


@dataclass(frozen=True, eq=False)
class Choice(HeldOutErrors):
    """The errors of every tree of the path, and the one that is taken."""

    alphas: np.ndarray  # at which the errors were counted
    leaves: np.ndarray
    errors: np.ndarray
    weight: float  # of the rows that were classified
    se: float
    place: int  # of the tree taken

    @property
    def alpha(self) -> float:
        """Prune at this alpha."""
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
        for place, (alpha, leaves, errors, rate, error) in enumerate(rows):
            mark = "  <- taken" if place == self.place else ""
            lines.append(f"{alpha:12.6g}{leaves:8d}{errors:10.6g}{rate:10.4f}{error:10.4f}{mark}")
        return "\n".join(lines)


def errors_along(tree: Tree, path: Path, held: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """The errors on held-out rows of the tree at each of the ascending `alphas`; one pass over the nodes."""
    passing = errors_as_leaf(tree, sum_up(tree, held))
    ending = errors_as_leaf(tree, held)
    # When a node becomes a leaf, its errors take the place of its children's, and of the rows that went no further.
    change = passing - ending
    for level in levels_upwards(tree):
        change[level.splits] -= level.sums(passing)
    inner = np.flatnonzero(~tree.is_leaf())
    first = np.searchsorted(alphas, path.dies_at[inner])  # the first alpha at which it is a leaf
    added = np.bincount(first, weights=change[inner], minlength=len(alphas) + 1)[: len(alphas)]
    return np.asarray(ending.sum() + np.cumsum(added))


def choose_by_held_out(tree: Tree, path: Path, held: Any, se: float = 0.0) -> Choice:
    """The tree with the fewest errors on held-out rows, of equals the smallest."""
    counts = check_held(tree, held)
    errors = errors_along(tree, path, counts, path.alphas)
    return _choose(path, path.alphas, errors, float(tree.schema.priors.weighted(counts).sum()), se)


def choose_by_folds(
    path: Path,
    folds: Iterable[tuple[Tree, np.ndarray]],
    se: float = 1.0,
) -> Choice:
    """Choose by cross-validation.

    `path` is that of the tree of all rows. Each fold is a pair: the tree grown without it, and where the rows of the
    fold end in that tree (`held_out_counts`). Every fold's tree is pruned at an alpha inside each interval of the path,
    and the errors are added up.
    """
    alphas = path.typical_alphas()
    errors = np.zeros(len(alphas))
    weight = 0.0
    for tree, held in folds:
        counts = check_held(tree, held)
        own_path = cost_complexity_path(tree, path.impurity)
        errors += errors_along(tree, own_path, counts, alphas)
        weight += float(tree.schema.priors.weighted(counts).sum())
    if weight == 0:
        raise ValueError("no folds were given: cross-validation needs at least 2")
    return _choose(path, alphas, errors, weight, se)


def _choose(path: Path, alphas: np.ndarray, errors: np.ndarray, weight: float, se: float) -> Choice:
    check_at_least_zero("se", se)
    noise = 1e-9 * max(1.0, weight)  # of sums of fractional weights
    rate = errors.min() / weight
    # The smallest of several lowest ones: its standard error is the same.
    allowed = errors.min() + se * weight * np.sqrt(max(rate * (1 - rate), 0.0) / weight)
    place = int(np.flatnonzero(errors <= allowed + noise)[-1])
    return Choice(alphas, path.leaves, errors, weight, float(se), place)
