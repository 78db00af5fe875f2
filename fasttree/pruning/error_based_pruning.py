# SPDX-License-Identifier: BSD-3-Clause
"""Error-based pruning, C4.5's: a leaf makes as many errors as its training rows leave open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fasttree import _core
from fasttree.base.checks import as_float, check_flag
from fasttree.base.hints import check_choice, settings
from fasttree.base.sums import sums
from fasttree.base.values import short_repr
from fasttree.pruning.requirements import NOTHING, TRAINING_ROWS
from fasttree.pruning.subtree_raising import TrainingRows, prune_with_raising
from fasttree.pruning.trace import Trace, cut_as_decided
from fasttree.stats.special import normal_quantile
from fasttree.trees.traversal import decide_bottom_up
from fasttree.trees.tree import Tree

ESTIMATES = {"table": 0, "normal": 1, "binomial": 2}  # their numbers in pruning.pxd
SLACK = 0.1  # a leaf may be expected to make so many errors more than a subtree
ESTIMATE = "expected errors"

# The upper tail of the normal distribution, coarsely: C4.5 interpolates between these.
_TAIL = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0)
_DEVIATION = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)


@settings
@dataclass(frozen=True, slots=True)
class ErrorBased:
    """Error-based (pessimistic) pruning.

    Parameters
    ----------
    confidence : float
        The expected errors are the upper end of a confidence interval; smaller values prune more.
    estimate : {"table", "normal", "binomial"}
        How that upper end is computed: "table" by C4.5's interpolated quantiles, "normal" by the exact ones (as in
        J48), "binomial" by the exact limit for a binomial share.
    raising : bool
        A node may also be replaced by its heaviest child, to which its rows are then sent. Without raising, no training
        rows are needed.
    """

    confidence: float = 0.25
    estimate: str = "table"
    raising: bool = True

    @property
    def needs(self) -> str:
        return TRAINING_ROWS if self.raising else NOTHING

    def __post_init__(self) -> None:
        if not 0 < as_float(self.confidence) <= 0.5:
            raise ValueError(
                f"confidence must be above 0 and at most 0.5, got {short_repr(self.confidence)}: "
                "the default of C4.5 is 0.25, and smaller values prune more"
            )
        check_choice("estimate", self.estimate, ESTIMATES)
        check_flag("raising", self.raising)

    @property
    def z(self) -> float:
        """The number of standard deviations up to the limit."""
        if self.estimate == "table":
            above = int(np.searchsorted(_TAIL, self.confidence, side="right"))
            left, right = _TAIL[above - 1], _TAIL[above]
            slope = (_DEVIATION[above] - _DEVIATION[above - 1]) / (right - left)
            return slope * (float(self.confidence) - left) + _DEVIATION[above - 1]
        return normal_quantile(float(self.confidence))


def added_errors(n: ArrayLike, e: ArrayLike, how: ErrorBased | None = None) -> np.ndarray:
    """The number of errors that a leaf of weight n is expected to make beyond its e training errors.

    >>> added_errors([6, 9, 1, 16], [0, 0, 0, 1]).round(4).tolist()
    [1.2378, 1.2848, 0.75, 1.5069]
    """
    how = how or ErrorBased()
    weight, errors = np.broadcast_arrays(np.asarray(n, dtype=float), np.asarray(e, dtype=float))
    out = np.empty(weight.size)
    _core.added_errors_of(
        np.ascontiguousarray(weight).ravel(),
        np.ascontiguousarray(errors).ravel(),
        ESTIMATES[how.estimate],
        float(how.confidence),
        how.z,
        out,
    )
    return out.reshape(weight.shape)


def error_based(
    tree: Tree, how: ErrorBased | None = None, rows: TrainingRows | None = None
) -> tuple[Tree, Trace]:
    """Return the pruned tree and its trace of removed and raised nodes. `rows`, the training rows, are needed for
    raising.
    """
    how = how or ErrorBased()
    if how.raising:
        if rows is None:
            raise ValueError(
                "raising=True requires the training rows: pass them as rows=, or use ErrorBased(raising=False)"
            )
        return prune_with_raising(tree, rows, ESTIMATES[how.estimate], float(how.confidence), how.z)
    weight = sums(tree.counts)
    errors = weight - tree.counts.max(axis=1)
    expected = errors + added_errors(weight, errors, how)
    ending = np.where(tree.is_leaf(), expected, 0.0)
    decision = decide_bottom_up(tree, expected, ending, tolerance=SLACK)
    return cut_as_decided(tree, decision, expected, "error_based", ESTIMATE)
