# SPDX-License-Identifier: BSD-3-Clause
"""Classes that count more than others: class weights, and what a mistake costs.

Growth multiplies the weight of each class by a factor, and so works with other prior probabilities than the data's: a
class counts for its weight times what its rows cost on average when they are taken for another class. Which class a
leaf then predicts is decided in `trees.decide`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fasttree.base.checks import as_float
from fasttree.base.sums import sums, total
from fasttree.base.values import short_repr, to_python
from fasttree.tables.numpy_columns import masked_places
from fasttree.tables.schema import ClassPriors

# Two doubles that stand for the same number differ by rounding alone; a number of few digits may be typed a bit off.
# (largest denominator, relative difference): in each pair two fractions are too far apart to be taken for each other.
_FRACTIONS = ((1000, Fraction(1, 10**12)), (2**24, Fraction(1, 10**15)))
_MOST_MULTIPLE = 2**52  # of all the denominators: float64 holds whole numbers up to here
# Of class weights and costs the ratios count. Beyond 2**(+-100) they are scaled, and a ratio beyond 2**300 counts as
# that: their products, sums and squares are numbers then.
_MOST_EXPONENT, _MOST_RATIO = 100, 300


# -- what the user says ----------------------------------------------------------------------------


def check_class_weight(
    class_weight: Any, classes: np.ndarray, class_totals: np.ndarray
) -> np.ndarray | None:
    """A factor for each class. `class_totals`: the weight of its rows, for "balanced"."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        present = np.asarray(class_totals) > 0  # a class may have lost its rows to weights of zero
        rows_of_class = np.where(present, class_totals, 1).astype(np.float64)
        balanced = total(rows_of_class[present]) / (np.count_nonzero(present) * rows_of_class)
        return np.where(present, balanced, 1.0)
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            'class_weight must be None, "balanced" or a dict {class: weight}, '
            f"got {short_repr(class_weight)}"
        )
    index_of = _indices(classes)
    weights = np.ones(len(classes))
    for label, weight in class_weight.items():
        index = _find(label, index_of, "class_weight")
        weights[index] = as_float(weight)
        if not 0 < weights[index] < math.inf:
            raise ValueError(
                f"class_weight: the weight of {short_repr(label)} must be a finite number above 0, "
                f"got {short_repr(weight)}"
            )
    return _tamed(weights)


def check_misclassification_cost(matrix: Any, classes: np.ndarray) -> np.ndarray | None:
    """`cost[true, predicted]` as floats; a dict of dicts may leave out mistakes that cost 1."""
    if matrix is None:
        return None
    names = [to_python(label) for label in classes]
    if isinstance(matrix, Mapping):
        cost = _cost_of_dicts(matrix, names)
    else:
        cost = _cost_of_array(matrix, names)
    for true, predicted in np.argwhere(~((cost >= 0) & (cost < np.inf))):  # a NaN is not >= 0
        raise ValueError(
            f"misclassification_cost: the cost of predicting {short_repr(names[predicted])} for "
            f"{short_repr(names[true])} "
            f"must be a finite number >= 0, got {cost[true, predicted]:g}"
        )
    for true in np.flatnonzero(cost.diagonal()):
        raise ValueError(
            f"misclassification_cost: the cost of predicting {short_repr(names[true])} for {short_repr(names[true])} "
            f"must be 0 (a correct prediction), got {cost[true, true]:g}: set the diagonal to 0"
        )
    if len(names) > 1:
        for true in np.flatnonzero(~cost.any(axis=1)):
            raise ValueError(
                f"misclassification_cost: all costs for the true class {short_repr(names[true])} are 0, so no tree "
                "would ever predict it: set at least one of them above 0"
            )
    return _tamed(cost)


def _cost_of_dicts(matrix: Mapping[Any, Any], names: list[Any]) -> np.ndarray:
    argument = "misclassification_cost"
    index_of = _indices(names)
    cost = 1.0 - np.eye(len(names))
    for label, row in matrix.items():
        true = _find(label, index_of, argument)
        if not isinstance(row, Mapping):
            raise TypeError(
                f"{argument}: the costs of the true class {short_repr(label)} must be a dict "
                f"{{predicted class: cost}}, got {short_repr(row)}"
            )
        for other, value in row.items():
            predicted = _find(other, index_of, argument)
            cost[true, predicted] = _cost(value, label, other)
    return cost


def _cost_of_array(matrix: Any, names: list[Any]) -> np.ndarray:
    wanted = _shape_of_costs(names)
    if hasattr(matrix, "columns"):  # its labels might be in another order
        raise TypeError(
            f"misclassification_cost must be {wanted}, got a {type(matrix).__name__}: pass an array, "
            "or a dict of dicts {true: {predicted: cost}}"
        )
    hidden = masked_places(matrix)
    if hidden is not None:
        raise ValueError(
            f"misclassification_cost is masked at {tuple(np.argwhere(hidden)[0].tolist())}: "
            "give a cost for every pair of classes"
        )
    try:
        found = np.asarray(matrix)
    except ValueError:  # rows of several lengths
        raise ValueError(
            f"misclassification_cost must be {wanted}, got {short_repr(matrix)}"
        ) from None
    if found.ndim == 0:
        raise ValueError(f"misclassification_cost must be {wanted}, got {short_repr(matrix)}")
    if found.shape != (len(names), len(names)):
        raise ValueError(
            f"misclassification_cost must be {wanted}, got an array of shape {found.shape}"
        )
    if found.dtype.kind in "biuf":
        return found.astype(np.float64)
    rows = np.asarray(matrix, dtype=object).tolist()
    return np.array(
        [
            [_cost(value, true, other) for other, value in zip(names, row, strict=True)]
            for true, row in zip(names, rows, strict=True)
        ]
    )


def _cost(value: Any, true: Any, predicted: Any) -> float:
    cost = as_float(value)
    if math.isnan(cost) and not isinstance(value, float):
        raise TypeError(
            f"misclassification_cost: the cost of predicting {short_repr(predicted)} for {short_repr(true)} must be a "
            f"number "
            f">= 0, got {short_repr(value)}"
        )
    return cost


def _shape_of_costs(names: list[Any]) -> str:
    order = ", ".join(short_repr(name) for name in names[:10]) + (
        ", ..." if len(names) > 10 else ""
    )
    return (
        f"an array of shape ({len(names)}, {len(names)}), with a row for each true class and a column for each "
        f"predicted class, in the order {order}"
    )


def _tamed(values: np.ndarray) -> np.ndarray:
    """Numbers of which the ratios count, such that growth and pruning can calculate with them."""
    counts = values > 0
    exponent = int(np.frexp(values.max(initial=0.0))[1])
    if abs(exponent) > _MOST_EXPONENT:
        values = np.ldexp(values, -exponent)
    least = np.ldexp(values.max(initial=0.0), -_MOST_RATIO)
    return np.where(counts, np.maximum(values, least), 0.0)


def _indices(classes: Any) -> dict[Any, int]:
    return {to_python(label): index for index, label in enumerate(classes)}


def _find(label: Any, index_of: Mapping[Any, int], argument: str) -> int:
    index = index_of.get(to_python(label))
    if index is None:
        raise ValueError(
            f"{argument} contains the class {short_repr(label)}, which is not in y: "
            f"its classes are {short_repr(list(index_of))}"
        )
    return index


# -- what growth makes of it -----------------------------------------------------------------------


def factors(class_weight: np.ndarray | None, cost: np.ndarray | None) -> np.ndarray | None:
    """What each class counts for: its weight times the mean cost of the mistakes that can be made with it.

    The mean instead of the sum: where every mistake costs 1, it makes no difference.
    """
    if cost is None or len(cost) < 2:
        return class_weight
    mean_cost: np.ndarray = sums(cost / (len(cost) - 1))
    return mean_cost if class_weight is None else class_weight * mean_cost


def at_stake(priors: ClassPriors, counts: np.ndarray) -> float:
    """What mistakes with all of the rows would come to, each at the mean cost of its class: the measure of what is
    little, whatever unit the user's costs and class weights have."""
    factor = factors(priors.class_weight, priors.cost_matrix)
    return total(counts if factor is None else counts * factor)


def to_ratios(factors: np.ndarray | None) -> np.ndarray | None:
    """Numbers in the ratios of the factors, the same for every unit: whole ones if the ratios are fractions of modest
    integers, else at most 1. None if all classes count the same."""
    if factors is None:
        return None
    whole = _whole_ratios(factors)
    if whole is None:
        return np.asarray(factors / factors.max())
    shared = math.gcd(*whole)
    return None if len(set(whole)) == 1 else np.array([ratio / shared for ratio in whole])


def _whole_ratios(factors: np.ndarray) -> list[int] | None:
    largest = float(factors.max())
    ratios: list[Fraction] = []
    multiple = 1  # of all the denominators, and so what stands for the largest factor
    for factor in factors.tolist():
        ratio = _fraction(Fraction(factor) / Fraction(largest))
        if ratio is None:
            return None
        ratios.append(ratio)
        multiple = math.lcm(multiple, ratio.denominator)
        if multiple >= _MOST_MULTIPLE:
            return None
    return [int(ratio * multiple) for ratio in ratios]


def _fraction(ratio: Fraction) -> Fraction | None:
    """The fraction of modest integers that a ratio stands for, if it does."""
    for largest_denominator, tolerance in _FRACTIONS:
        nearest = ratio.limit_denominator(largest_denominator)
        if abs(nearest - ratio) <= tolerance * ratio:
            return nearest
    return None
