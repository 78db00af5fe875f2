# SPDX-License-Identifier: BSD-3-Clause
"""Attributes that cost something to measure: what a gain is worth at a price."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.base.checks import as_float, check_number
from fasttree.base.elementary import power
from fasttree.base.hints import check_choice
from fasttree.base.values import short_repr
from fasttree.growth.candidates import NO_GAIN, Candidates, passes_gain_limits
from fasttree.growth.level import Level
from fasttree.growth.params import GrowthParams
from fasttree.tables.numpy_columns import masked_places

__all__ = [
    "gain_per_cost",
    "nunez",
    "tan_schlimmer",
]

CostFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]


def __dir__() -> list[str]:
    return __all__


def tan_schlimmer(gain: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """gain² / cost (Tan and Schlimmer). A cost of 0, that of an attribute already tested, counts as 1."""
    return np.asarray(gain * gain / np.where(cost == 0, 1.0, cost))


def gain_per_cost(gain: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """gain / cost. A cost of 0, that of an attribute already tested, counts as 1."""
    return np.asarray(gain / np.where(cost == 0, 1.0, cost))


@dataclass(frozen=True, slots=True, repr=False)
class Nunez:
    """What `nunez` makes: an object and no inner function, so that a model can be pickled and saved with it."""

    w: float

    def __call__(self, gain: np.ndarray, cost: np.ndarray) -> np.ndarray:
        return np.asarray((power(2.0, gain) - 1.0) / power(cost + 1.0, self.w))

    def __repr__(self) -> str:
        return f"nunez({self.w!r})"


def nunez(w: float = 1.0) -> Nunez:
    """(2^gain - 1) / (cost + 1)^w (Núñez); w from 0 (costs are ignored) to 1."""
    exponent = as_float(w)
    if not 0.0 <= exponent <= 1.0:
        raise ValueError(f"w must be a number from 0 to 1, got {short_repr(w)}")
    return Nunez(exponent)


COST_FUNCTIONS: dict[str, CostFunction] = {
    "tan_schlimmer": tan_schlimmer,
    "nunez": nunez(),
    "gain_per_cost": gain_per_cost,
}
DIVIDE_BY_COST = (tan_schlimmer, gain_per_cost)


@dataclass(frozen=True, slots=True, eq=False)
class AttributeCosts:
    """The price of each attribute, and the function that weighs it against the gain."""

    cost: np.ndarray  # float64 per attribute
    function: CostFunction

    def adjusted_score(self, score: np.ndarray, tested: np.ndarray) -> np.ndarray:
        """What the search maximises instead of `score`, both [attribute, node]; -inf stays.

        An attribute that was measured on the way to a node, `tested`[attribute, node], costs nothing there.
        """
        possible = np.isfinite(score)
        gain = np.where(possible & (score > NO_GAIN), score, 0.0)
        cost = np.where(tested, 0.0, self.cost[:, np.newaxis])
        adjusted = _check_adjusted(self.function(gain, cost), gain.shape)
        return np.where(possible, adjusted, -np.inf)


class CostChooser:
    """Weighs the gain of a split against the price of its attribute."""

    is_relative = True

    def __init__(self, costs: AttributeCosts, params: GrowthParams) -> None:
        self.costs = costs
        self.params = params

    def adjust(self, level: Level, nodes: np.ndarray, candidates: Candidates) -> None:
        """Splits that gain enough are worth what the cost function says, the others nothing."""
        assert level.tested is not None
        candidates.worth = np.where(
            passes_gain_limits(candidates.score, self.params),
            self.costs.adjusted_score(candidates.score, level.tested[nodes].T),
            -np.inf,
        )


def check_costs(costs: Any, function: Any, names: Sequence[str]) -> AttributeCosts | None:
    """Check `attribute_costs` and `cost_function` against the attributes of a table."""
    if costs is None:
        if function is not None:
            raise ValueError(
                "cost_function requires attribute_costs: pass a cost for each attribute, or leave both None"
            )
        return None
    if function is None:
        function = "tan_schlimmer"
    if isinstance(function, str):
        others = " or a function of gain and cost"
        check_choice("cost_function", function, COST_FUNCTIONS, others)
        function = COST_FUNCTIONS[function]
    elif not callable(function):
        raise TypeError(f"cost_function must be None, a name or a function, got {function!r}")
    prices = _prices(costs, names)
    if function in DIVIDE_BY_COST and not prices.all():
        free = names[int(np.argmin(prices))]
        raise ValueError(
            f"attribute_costs: the cost of {free!r} must be above 0, got 0 (this cost_function divides by it): "
            'give it a small cost, or use cost_function="nunez"'
        )
    return AttributeCosts(prices, function)


def _prices(costs: Any, names: Sequence[str]) -> np.ndarray:
    if isinstance(costs, Mapping):
        known = set(names)
        unknown = [name for name in costs if name not in known]
        if unknown:
            raise ValueError(
                f"attribute_costs contains {short_repr(unknown[0])}, which is not a column; the columns are "
                f"{', '.join(map(repr, names[:10]))}{', ...' if len(names) > 10 else ''}"
            )
        values = [costs.get(name, 1.0) for name in names]
    elif hasattr(costs, "to_dict"):  # its labels might be in another order
        raise TypeError(
            "attribute_costs must be a dict {attribute: cost}, or an array with a cost for each of the "
            f"{len(names)} attributes, got a {type(costs).__name__}: pass its to_dict() or its to_numpy()"
        )
    else:
        hidden = masked_places(costs)
        if hidden is not None:
            raise ValueError(
                f"attribute_costs is masked at index {int(np.argmax(hidden))}: give every attribute a cost"
            )
        array = np.asarray(costs, dtype=object)
        if array.ndim == 0:
            raise TypeError(
                "attribute_costs must be a dict {attribute: cost}, or an array with a cost for each of the "
                f"{len(names)} attributes, got {short_repr(costs)}"
            )
        if array.shape != (len(names),):
            raise ValueError(
                f"attribute_costs must have a cost for each of the {len(names)} attributes, "
                f"got an array of shape {array.shape}"
            )
        values = array.tolist()
    costs_by_name = zip(names, values, strict=True)
    cost_of = "attribute_costs: the cost of"
    return np.array([check_number(f"{cost_of} {n!r}", v, 0) for n, v in costs_by_name], float)


def _check_adjusted(returned: Any, shape: tuple[int, ...]) -> np.ndarray:
    """What a cost function returned, as numbers. Infinity is none, for nothing could be worth more; -infinity is a way
    to say: never this one."""
    wanted = (
        "cost_function must return one number below infinity for each gain and cost "
        f"(its arguments are two arrays of shape {shape})"
    )
    try:
        adjusted = np.asarray(returned)
    except ValueError:  # rows of several lengths
        raise ValueError(f"{wanted}, got {short_repr(returned)}") from None
    if masked_places(returned) is not None:
        raise ValueError(
            f"{wanted}, got a masked array: return -infinity for splits to be excluded"
        )
    if adjusted.shape != shape:
        got = f"an array of shape {adjusted.shape}" if adjusted.ndim else short_repr(returned)
        raise ValueError(f"{wanted}, got {got}")
    if adjusted.dtype.kind not in "biuf":
        raise TypeError(f"{wanted}, got {short_repr(adjusted.flat[0])}: return an array of floats")
    if not (adjusted < np.inf).all():  # a NaN is not < inf
        raise ValueError(
            f"{wanted}, got NaN or infinity: note that the cost is 0 where an attribute was tested "
            "already, that a gain may be 0 and a cost very small"
        )
    return adjusted.astype(np.float64, copy=False)
