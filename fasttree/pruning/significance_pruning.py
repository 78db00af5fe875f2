# SPDX-License-Identifier: BSD-3-Clause
"""Pruning of splits that chance alone would bring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from fasttree.base.checks import SELECTED, SIGNIFICANCE_TESTS, check_fraction
from fasttree.base.hints import check_choice, settings
from fasttree.base.sums import segment_sums, sums
from fasttree.base.values import short_repr
from fasttree.pruning.naive_tests import p_values_of
from fasttree.pruning.requirements import NOTHING, TRAINING_ROWS
from fasttree.pruning.trace import Trace, trace_of
from fasttree.stats.special import chi_square_tails
from fasttree.trees.traversal import all_siblings, levels_upwards
from fasttree.trees.tree import Tree


@settings
@dataclass(frozen=True, slots=True)
class Significance:
    """Pruning by a test of each split, from the bottom up.

    Parameters
    ----------
    alpha : float
        A split with only leaves below it is removed if its p-value is alpha or more.
    exact : bool or None
        With ``test="naive"``, use an exact test instead of chi-square: always (True), never (False), or where counts
        are small (None). The other test is exact where counts are small anyway.
    test : {"selected", "naive"}
        "selected": the probability that chance yields an equally good split among all splits that are possible at the
        node, see `fasttree.pruning.chosen_splits`; this requires the training rows. "naive": the chi-square test of
        branches by classes, as if the split had been the only one, which finds most splits of noise significant.
    """

    alpha: float = 0.05
    exact: bool | None = False
    test: str = SELECTED

    def __post_init__(self) -> None:
        check_fraction("alpha", self.alpha, "a probability, ")
        if not (self.exact is None or isinstance(self.exact, (bool, np.bool_))):
            raise ValueError(f"exact must be True, False or None, got {short_repr(self.exact)}")
        check_choice("test", self.test, SIGNIFICANCE_TESTS)
        if self.test == SELECTED and self.exact is not False:
            raise ValueError(
                f'exact={short_repr(self.exact)} requires test="naive" (test="selected" is exact where counts are '
                'small): leave exact out, or pass test="naive"'
            )

    @property
    def needs(self) -> str:
        return TRAINING_ROWS if self.test == SELECTED else NOTHING


def significance(
    tree: Tree,
    how: Significance | None = None,
    p_of: Callable[[np.ndarray], np.ndarray] | None = None,
) -> tuple[Tree, Trace]:
    """Return the tree in which each lowest split is significant, and its trace, with p-values as the estimates. `p_of`
    gives the p-values of nodes; ``test="selected"`` requires it, since the tree alone does not determine them."""
    how = how or Significance()
    if how.test != SELECTED:
        p_of = split_p_values(tree).__getitem__
        if how.exact is not False:
            p_of = partial(p_values_of, tree, exact=how.exact)
    elif p_of is None:
        raise ValueError(
            'test="selected" requires the training rows: prune a fitted model with X and y, or use '
            'Significance(test="naive")'
        )
    p = np.ones(tree.node_count)
    kept = np.zeros(tree.node_count, dtype=bool)
    for level in levels_upwards(tree):
        nodes = level.splits
        holds = level.sums(kept.astype(np.int64)) > 0
        lowest = nodes[~holds]
        p[lowest] = p_of(lowest)
        kept[nodes] = holds | (p[nodes] < how.alpha)
    cut = np.flatnonzero(~kept & ~tree.is_leaf())[::-1]
    # All the children of a cut node are leaves.
    now = np.where(tree.is_leaf(), tree.multiplicity, 1)
    siblings = all_siblings(tree)
    removed = np.zeros(tree.node_count, dtype=np.int64)
    removed[siblings.splits] = siblings.sums(now) - 1
    trace = trace_of(
        tree,
        "significance",
        f"before: p-value of the split, after: the limit {how.alpha:g}",
        cut,
        removed[cut],
        p[cut],
        np.full(len(cut), how.alpha),
    )
    return tree.subtree(kept), trace


def split_p_values(tree: Tree) -> np.ndarray:
    """Return the p-value of each split: the probability that chance alone separates its branches as much; 1 at leaves.

    Pearson's chi-square of branches by classes, without Yates' correction.
    """
    totals = sums(tree.counts)
    statistic = np.zeros(tree.node_count)
    df = np.zeros(tree.node_count, dtype=np.int64)
    siblings = all_siblings(tree)
    cells, rows = tree.counts[siblings.children], totals[siblings.children]
    columns = siblings.sums(tree.counts)  # with shares of rows, more exact than the parent's own
    split = np.repeat(np.arange(len(columns)), tree.n_children[siblings.splits])
    whole = np.maximum(sums(columns), 1e-300)
    expected = rows[:, np.newaxis] * columns[split] / whole[split, np.newaxis]
    off = cells - expected
    terms = np.divide(off * off, expected, out=np.zeros_like(cells), where=expected > 0)
    statistic[siblings.splits] = segment_sums(sums(terms), siblings.offsets)
    n_rows = siblings.sums((totals > 0).astype(np.int64))
    df[siblings.splits] = (n_rows - 1) * ((columns > 0).sum(axis=1) - 1)
    return chi_square_tails(statistic, np.maximum(df, 0))
