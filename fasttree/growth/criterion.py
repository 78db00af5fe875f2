# SPDX-License-Identifier: BSD-3-Clause
"""The criterion of a fit with its tables, and the limits on sizes in steps of weight."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fasttree import _core
from fasttree.base.checks import prior_of_class
from fasttree.base.elementary import log2
from fasttree.encoding.weights import IntegerWeights
from fasttree.growth.params import CRITERIA, GrowthParams
from fasttree.growth.targets import NumericTarget, Target

SIDE_SHARE = 0.1  # C4.5's, of the rows a class: least size of the sides of a threshold ...
SIDE_MOST = 25  # ... but not more than this, even if other branches must weigh more
MOST_INVERSES, FEW_INVERSES = 2**18, 2**15


def weight_tolerance_of(params: GrowthParams, weights: IntegerWeights) -> int:
    """J48 compares weights as loosely as scores."""
    return max(weights.weight_tolerance, int(params.tie * weights.steps_per_unit))


class SizeLimits(NamedTuple):
    """The least steps of weight, before class factors, of a branch, and of a node that may be split."""

    leaf: int
    split: float


def size_limits(
    params: GrowthParams, weights: IntegerWeights | None, total: int, lightest_row: int | None
) -> SizeLimits:
    """`total`: steps of all the rows. `lightest_row`: of the lightest row, if rows are distributed fractionally; else
    None.

    A leaf of one row and a split of two rows limit nothing, whatever rows weigh. Only shares of rows are limited: they
    have to come to what the lightest row weighs (or to 1, the weight of a copy and of the mean row), or each of them
    could be split off from all the others, and trees of tables with many holes would have no end.
    """
    leaf, split = params.min_samples_leaf, params.min_samples_split
    if weights is not None:
        row = 0 if lightest_row is None else min(lightest_row, weights.steps_per_unit)
        weight_tolerance = weight_tolerance_of(params, weights)
        leaf = leaf * (row if leaf <= 1 else weights.steps_per_unit) - weight_tolerance
        split = split * (row if split <= 2 else weights.steps_per_unit) - weight_tolerance
    steps = int(min(max(np.ceil(leaf), 1), total + 1))
    return SizeLimits(steps, max(split, 2 * steps))


def make_criterion(
    params: GrowthParams,
    target: Target,
    total: int,
    weights: IntegerWeights | None,
    has_lists: bool,
    min_leaf: int,
) -> _core.CriterionTables:
    """The criterion and its tables, for rows of the weight `total`. `has_lists`: nodes of any size are swept over;
    `min_leaf`: see `size_limits`."""
    n_stats = target.n_stats
    measure = CRITERIA.get(params.criterion, params.criterion)
    if params.c45:
        measure = "entropy"
    steps_per_unit = 1
    plain = None
    if weights is not None:
        steps_per_unit = weights.steps_per_unit
        plain = None if weights.factor is None else 1 / weights.factor
    # A power of two such that total * log2(total) steps stay below 2^62.
    bits = total.bit_length()
    steps_per_bit = math.ldexp(1.0, 62 - bits - bits.bit_length())
    alpha = prior_of_class(params.alpha, n_stats)
    if params.by_length:
        steps_per_bit = _steps_per_bit_of_codes(total / steps_per_unit, alpha, n_stats)
    if isinstance(target, NumericTarget):
        steps_per_bit = target.variance
    entropic = measure in ("entropy", "gain_ratio")
    n_table = total + 1 if weights is None else min(total, 2**20) + 1
    klogk = np.empty(n_table if entropic else 0, dtype=np.int64)
    _core.klogk_table(steps_per_bit, len(klogk), klogk)
    # Reciprocals serve the sweep over rows that all weigh 1; without sorted lists only small nodes are swept over.
    by_inverse = measure == "gini" and weights is None
    n_inverse = n_table if by_inverse else 0
    # Few nodes are that large, and a division takes little longer than a look-up.
    if n_inverse > MOST_INVERSES:
        n_inverse = FEW_INVERSES
    if not has_lists:
        by_inverse, n_inverse = False, min(n_inverse, _core.SMALL_NODE + 1)
    with np.errstate(divide="ignore"):
        inverse = 1.0 / np.arange(n_inverse)
    criterion = _core.CriterionTables(
        kind=_core.CRITERIA[measure],
        n_classes=n_stats,
        min_leaf=min_leaf,
        # At least a step: limits count weight before the class factors, which rounding may tell of a side without rows.
        min_weight=max(1, int(np.ceil(params.min_weight_fraction_leaf * total * (1 - 1e-12)))),
        plain=plain,
        tie=params.tie,
        records_split=params.c45,
        by_ratio=params.criterion == "gain_ratio",
        side_share=SIDE_SHARE if params.c45 else 0.0,
        side_most=float(SIDE_MOST * steps_per_unit),
        exact_squares=total < 2**31,
        steps_per_bit=steps_per_bit,
        klogk_steps_of=klogk,
        by_inverse=by_inverse,
        inverse=inverse,
        inverse_down=np.ascontiguousarray(inverse[::-1]),
    )
    if params.by_length:
        # Shares of rows are too fine for a table, and few heavy rows are not worth a long one.
        n_codes = n_table if steps_per_unit == 1 else 1
        if weights is not None:
            n_codes = min(n_codes, 2**12 + 8 * len(weights.quantised))
        codes = np.empty((2, n_codes), dtype=np.int64)
        for table, prior in zip(codes, (alpha, alpha * n_stats), strict=True):
            _core.code_table(steps_per_bit, prior, steps_per_unit, table)
        criterion.set_code(alpha, steps_per_unit, codes[0], codes[1])
    return criterion


def _steps_per_bit_of_codes(weight: float, alpha: float, n_classes: int) -> float:
    """Steps a bit, a power of two such that a sum of codes stays below 2^61."""
    prior = alpha * n_classes
    most_bits = weight * log2(weight + prior + 2) + 24 * n_classes + 64
    half, exponent = math.frexp(most_bits)
    return math.ldexp(1.0, 60 - (exponent - 1 if half == 0.5 else exponent))
