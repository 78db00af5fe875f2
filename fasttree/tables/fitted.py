# SPDX-License-Identifier: BSD-3-Clause
"""A column that comes to a fitted model: of the kind that it had at fit, or an error that says what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from fasttree.base.times import Times, held, kind_error, kind_of
from fasttree.base.values import short_repr, value_kinds
from fasttree.tables.factors import Factor, factorize, factorize_numbers, label_numbers
from fasttree.tables.schema import AttributeSchema


def like_numbers(
    where: str, values: np.ndarray | Factor | Times, attribute: AttributeSchema
) -> np.ndarray:
    """The numbers of a column that was numeric at fit; times are microseconds then, and none other than at fit."""
    kind = values.kind if isinstance(values, Times) else None
    if isinstance(values, Times):
        numbers = values.values
    elif isinstance(values, Factor):
        found = label_numbers(values)
        if found is None:
            held_then = held(attribute.time)
            said = "was numeric" if attribute.time is None else f"contained {held_then}"
            are_numbers = attribute.time is None and value_kinds(values.labels).keys() == {"number"}
            raise ValueError(
                f"{where} {said} at fit, but now contains {'categories' if are_numbers else 'values'} "
                f"such as {short_repr(values.example)}: pass {held_then}, as at fit"
                + (" (pandas: .astype(float))." if are_numbers else ".")
            )
        numbers = found
    else:
        numbers = values
    if kind != attribute.time and not np.isnan(numbers).all():
        raise kind_error(where, attribute.time, kind)
    return numbers


def like_labels(
    where: str, values: np.ndarray | Factor | Times, categories: tuple[Any, ...]
) -> Factor:
    """The labels of a column that was categorical at fit."""
    if isinstance(values, np.ndarray):
        return factorize_numbers(values)
    labels = factorize(values.objects(where)) if isinstance(values, Times) else values
    # A time with a zone equals none without: every level would be an unknown one.
    now = set(map(kind_of, labels.labels)) - {None}
    if now and categories and now.isdisjoint(map(kind_of, categories)):
        raise ValueError(
            f"{where} was categorical at fit, with values such as {short_repr(categories[0])}, but now contains "
            f"{held(now.pop())} such as {short_repr(labels.example)}: pass values of the same kind as at fit."
        )
    return labels
