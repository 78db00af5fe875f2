# SPDX-License-Identifier: BSD-3-Clause
"""Cost-complexity pruning: the nested trees that minimise risk + alpha * leaves, all of them at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fasttree import _core
from fasttree.base import sums
from fasttree.base.checks import as_float, check_number
from fasttree.base.hints import check_choice, settings
from fasttree.base.values import short_repr
from fasttree.encoding.class_weights import at_stake
from fasttree.pruning.requirements import FOLDS, check_folds
from fasttree.pruning.trace import Trace, trace_of
from fasttree.stats.special import row_entropy, row_shares
from fasttree.trees.regression_tree import RegressionTree
from fasttree.trees.structure import AnyTree, TreeStructure
from fasttree.trees.traversal import errors_as_leaf
from fasttree.trees.tree import Tree

IMPURITIES = ("error", "gini", "entropy")
NATS_PER_BIT = 0.6931471805599453  # log 2
TIE = 1e-12  # alphas that differ by less, in mistakes of mean cost a row, are one


@settings
@dataclass(frozen=True, slots=True)
class CostComplexity:
    """Cost-complexity pruning; alpha is selected by cross-validation or on validation rows.

    Parameters
    ----------
    folds : None, int, array of fold numbers, or (train, test) splits
        For the selection by cross-validation. None: 10, or as many as the smallest class has rows; a given number is
        used as it is.
    se : float
        The smallest tree is selected whose error is within this many standard errors of the lowest error: 1 is CART's
        rule, 0 selects the tree with the lowest error (CART0).
    impurity : {"error", "gini", "entropy"}
        The definition of risk: the share of training errors (of a regressor the mean squared error, which is the only
        choice), or the mean impurity of the leaves.
    """

    folds: Any = None
    se: float = 1.0
    impurity: str = "error"
    needs: ClassVar[str] = FOLDS

    def __post_init__(self) -> None:
        check_folds(self.folds)
        check_number("se", self.se, 0)
        check_choice("impurity", self.impurity, IMPURITIES)


@dataclass(frozen=True, eq=False)
class Path:
    """The pruned trees, from the largest one to the root alone.

    ``alphas[k]`` is the cost per leaf from which on the k-th tree is the best; that tree has ``leaves[k]`` leaves and
    the risk ``risk[k]``. A node is split in the tree at alpha if ``dies_at[node] > alpha``; leaves have -inf.
    """

    impurity: str
    alphas: np.ndarray
    leaves: np.ndarray
    risk: np.ndarray
    dies_at: np.ndarray
    # Node numbers of the links that broke, in order; other nodes went with one of these.
    link: np.ndarray
    link_leaves: np.ndarray  # leaves that went with each
    link_risk: np.ndarray  # and the risk before and after, [link, 2]

    def __len__(self) -> int:
        return len(self.alphas)

    def columns(self) -> dict[str, np.ndarray]:
        """The trees as columns, for a data frame."""
        return {"alpha": self.alphas, "leaves": self.leaves, "risk": self.risk}

    def __str__(self) -> str:
        lines = [f"{'alpha':>12}{'leaves':>8}{'risk':>12}"]
        lines += [
            f"{alpha:12.6g}{leaves:8d}{risk:12.6g}"
            for alpha, leaves, risk in zip(
                self.alphas.tolist(), self.leaves.tolist(), self.risk.tolist(), strict=True
            )
        ]
        return "\n".join(lines)

    def typical_alphas(self) -> np.ndarray:
        """Return an alpha inside each interval: the geometric mean of its ends, infinity for the last."""
        return np.append(np.sqrt(self.alphas[:-1] * self.alphas[1:]), np.inf)


def cost_complexity_path(tree: TreeStructure, impurity: str = "error") -> Path:
    """Return all the pruned trees; O(n log n) in the number of nodes.

    Of a tree of numbers, risk and alpha are shares of the root's mean squared error: rpart's "rel error" and "CP".
    """
    check_choice("impurity", impurity, IMPURITIES)
    risk, total = node_risks(tree, impurity)
    unit = 1.0
    if impurity == "error" and isinstance(tree, Tree):
        unit = at_stake(tree.schema.priors, tree.counts[0]) / total
    strength, saved, leaves = np.zeros((3, tree.node_count))
    _core.weakest_links(
        tree.first_child,
        tree.n_children,
        np.ascontiguousarray(tree.multiplicity),
        risk,
        strength,
        saved,
        leaves,
    )
    is_leaf = tree.is_leaf()
    dies_at = strength / total
    # Equal but for rounding, or for tiny gains: one step of the path.
    inner = np.flatnonzero(~is_leaf)
    values, index = np.unique(dies_at[inner], return_inverse=True)
    values = np.concatenate([[0.0], np.maximum(values, 0.0)])
    begins = np.diff(values, prepend=-np.inf) > TIE * unit
    alphas = values[begins]
    step = (np.cumsum(begins) - 1)[1:][index]
    dies_at[inner] = alphas[step]
    dies_at[is_leaf] = -np.inf

    gone = leaves[inner] > 0
    broken, broken_step = inner[gone], step[gone]
    order = np.lexsort((-broken, broken_step))  # the deepest first
    link = broken[order]
    n_leaves = tree.n_leaves - np.cumsum(
        np.bincount(broken_step, weights=leaves[broken], minlength=len(alphas))
    )
    added = np.bincount(broken_step, weights=saved[broken], minlength=len(alphas))
    return Path(
        impurity,
        alphas,
        np.rint(n_leaves).astype(np.int64),
        (sums.total(risk[is_leaf]) + np.cumsum(added)) / total,
        dies_at,
        link,
        np.rint(leaves[link]).astype(np.int64),
        np.column_stack([risk[link] - saved[link], risk[link]]) / total,
    )


def prune_at(tree: AnyTree, path: Path, alpha: float) -> tuple[AnyTree, Trace]:
    """Return the tree pruned at `alpha` per leaf, and the trace of the pruned branches."""
    if not as_float(alpha) >= 0:
        raise ValueError(f"alpha must be a number >= 0, got {short_repr(alpha)}")
    if len(path.dies_at) != tree.node_count:
        raise ValueError(
            f"the path belongs to a tree with {len(path.dies_at)} nodes, but this tree has {tree.node_count}: "
            "compute it with cost_complexity_path for this tree"
        )
    n_links = int(np.count_nonzero(path.dies_at[path.link] <= alpha))
    link = path.link[:n_links]
    trace = trace_of(
        tree,
        "cost_complexity",
        f"risk ({path.impurity})",
        link,
        path.link_leaves[:n_links],
        path.link_risk[:n_links, 0],
        path.link_risk[:n_links, 1],
    )
    return tree.subtree(path.dies_at > alpha), trace


def node_risks(tree: TreeStructure, impurity: str) -> tuple[np.ndarray, float]:
    """Weight times impurity of each node, and the weight of all rows; of a tree of numbers as shares of the root's."""
    if isinstance(tree, RegressionTree):
        if impurity != "error":
            raise ValueError(
                'impurity must be "error" for a tree of numbers, whose risk is the mean squared error, got '
                f"{impurity!r}"
            )
        return tree.relative_deviance(), 1.0
    assert isinstance(tree, Tree)
    counts = tree.schema.priors.weighted(tree.counts)
    total = tree.weight
    if impurity == "error":
        risk = errors_as_leaf(tree, tree.counts)
    elif impurity == "gini":
        risk = total - sums.sums(counts * row_shares(counts))
    else:
        risk = total * row_entropy(counts) / NATS_PER_BIT
    return np.ascontiguousarray(risk), float(total[0])
