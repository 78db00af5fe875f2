# SPDX-License-Identifier: BSD-3-Clause
"""Which class follows from class shares: the one with the largest share, or the cheapest where mistakes have costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fasttree.tables.schema import Schema

CLASS_TIE = 1e-10
LAST_BITS = 2.0**-48  # of class shares: what the rounding of doubles comes to


def raised(shares: np.ndarray) -> np.ndarray:
    """Class shares [..., class] in which those that rounding alone keeps below the largest equal it.

    So a tie is one for everybody: for `majority_class`, and for the argmax of the shares that users see.
    """
    largest = shares.max(axis=-1, keepdims=True)
    return np.where(shares >= largest - CLASS_TIE, largest, shares)


def snap_near_ties(shares: np.ndarray) -> np.ndarray:
    """Class shares in which near ties are ties, as `raised` makes them; those of a row add up to what they did, but for
    their last bits."""
    found = raised(shares)
    more = in_order(found - shares)
    return found / np.where(more > LAST_BITS, 1.0 + more, 1.0)


def in_order(values: np.ndarray) -> np.ndarray:
    """The sums of the rows [..., 1], from left to right: `sum` has another order on every processor."""
    return np.asarray(values.cumsum(axis=-1)[..., -1:])


def majority_class(shares: np.ndarray, tie_order: Sequence[int] | np.ndarray) -> np.ndarray:
    """The class with the largest of each row's shares, or counts; the first in `tie_order` of several. ``()``: in the
    order of the columns."""
    if not len(tie_order):
        return np.asarray(shares.argmax(axis=1))
    order = np.asarray(tie_order)
    return np.asarray(order[shares[:, order].argmax(axis=1)])


def classes_of_shares(shares: np.ndarray, schema: Schema) -> np.ndarray:
    """The class number for each row of class shares, `snap_near_ties` ones: the cheapest if mistakes have costs, else
    the likeliest."""
    if schema.priors.cost_matrix is None:
        return majority_class(shares, schema.tie_order)
    every = range(shares.shape[1])
    return min_cost_class(shares, schema.priors.cost_matrix, np.array(schema.tie_order or every))


def min_cost_class(shares: np.ndarray, cost: np.ndarray, tie_order: np.ndarray) -> np.ndarray:
    """The class of each row of `shares` that costs least on average; the first in `tie_order` of several."""
    expected = np.zeros(shares.shape)
    # In one order: a matrix product adds up in another on every processor.
    for true in range(len(cost)):
        expected += shares[:, true, np.newaxis] * cost[true]
    least = expected.min(axis=1, keepdims=True)
    best = expected <= least * (1 + CLASS_TIE)
    order = np.asarray(tie_order)
    return np.asarray(order[best[:, order].argmax(axis=1)])
