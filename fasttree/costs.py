# SPDX-License-Identifier: BSD-3-Clause
"""Attributes that cost something to measure: what a gain is worth at a price."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.labels import shown

CostFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]

NO_GAIN = 1e-10


def tan_schlimmer(gain: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """gain² / cost (Tan and Schlimmer). A cost of 0, of an attribute already measured, counts as 1."""
    return np.asarray(gain**2 / np.where(cost == 0, 1.0, cost))


def gain_per_cost(gain: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """gain / cost. A cost of 0, of an attribute already measured, counts as 1."""
    return np.asarray(gain / np.where(cost == 0, 1.0, cost))


def nunez(w: float = 1.0) -> CostFunction:
    """(2^gain - 1) / (cost + 1)^w (Núñez); w from 0, costs do not matter, to 1."""
    if not 0.0 <= w <= 1.0:
        raise ValueError(f"w must be a number from 0 to 1, got {w!r}")

    def function(gain: np.ndarray, cost: np.ndarray) -> np.ndarray:
        return np.asarray((2.0**gain - 1.0) / (cost + 1.0) ** w)

    return function


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

    def worth(self, score: np.ndarray, measured: np.ndarray) -> np.ndarray:
        """What the search maximises instead of `score`, both [attribute, node]; -inf stays.

        An attribute that was measured on the way to a node, `measured`[attribute, node], costs nothing there.
        """
        possible = np.isfinite(score)
        gain = np.where(possible & (score > NO_GAIN), score, 0.0)
        cost = np.where(measured, 0.0, self.cost[:, np.newaxis])
        found = self.function(gain, cost)
        worth = _numbers(found)
        if worth is None:
            raise TypeError(
                "cost_function must return a number for every gain and cost that it gets (two arrays of "
                f"shape {gain.shape}), got {shown(found)}"
            )
        if worth.shape != gain.shape or np.isnan(worth).any():
            raise ValueError(
                "cost_function must return a number for every gain and cost that it gets (two arrays of "
                f"shape {gain.shape}), got shape {worth.shape}"
                + (" with NaN" if np.isnan(worth).any() else "")
            )
        return np.where(possible, worth, -np.inf)


def check_costs(costs: Any, function: Any, names: Sequence[str]) -> AttributeCosts | None:
    """Check `attribute_costs` and `cost_function` against the attributes of a table."""
    if costs is None:
        if function is not None:
            raise ValueError(
                "cost_function needs attribute_costs: pass a cost for each attribute, or leave both None"
            )
        return None
    if function is None:
        function = "tan_schlimmer"
    if isinstance(function, str):
        if function not in COST_FUNCTIONS:
            choices = ", ".join(map(repr, COST_FUNCTIONS))
            raise ValueError(
                f"cost_function must be one of {choices} or a function of gain and cost, got {function!r}"
            )
        function = COST_FUNCTIONS[function]
    elif not callable(function):
        raise TypeError(f"cost_function must be a name or a function, got {function!r}")
    prices = _prices(costs, names)
    for name, price in zip(names, prices, strict=True):
        if not np.isfinite(price) or price < 0:
            raise ValueError(
                f"attribute_costs: the cost of {name!r} must be 0 or more, got {price}"
            )
        if price == 0 and function in DIVIDE_BY_COST:
            raise ValueError(
                f"attribute_costs: the cost of {name!r} is 0, and this cost_function divides by it: "
                'give it a small cost, or use cost_function="nunez"'
            )
    return AttributeCosts(prices, function)


def _prices(costs: Any, names: Sequence[str]) -> np.ndarray:
    if isinstance(costs, Mapping):
        unknown = [name for name in costs if name not in names]
        if unknown:
            raise ValueError(
                f"attribute_costs names {unknown[0]!r}, which is not a column; the columns are "
                f"{', '.join(map(repr, names[:10]))}{', ...' if len(names) > 10 else ''}"
            )
        return np.array([_price(name, costs.get(name, 1.0)) for name in names])
    prices = _numbers(costs)
    if prices is None:
        raise TypeError(
            "attribute_costs must be a dict of names and numbers, or an array of a number for each attribute, "
            f"got {shown(costs)}"
        )
    if prices.shape != (len(names),):
        raise ValueError(
            f"attribute_costs must have a cost for each of the {len(names)} attributes, "
            f"got an array of shape {prices.shape}"
        )
    return prices


def _price(name: str, cost: Any) -> float:
    price = _numbers(cost)
    if price is None or price.ndim or cost is None:
        raise TypeError(
            f"attribute_costs: the cost of {name!r} must be a number, got {shown(cost)}"
        )
    return float(price)


def _numbers(found: Any) -> np.ndarray | None:
    """float64; None for text and anything else that holds no numbers."""
    try:
        array = np.asarray(found)
        return array.astype(np.float64) if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        return None
