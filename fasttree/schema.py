# SPDX-License-Identifier: BSD-3-Clause
"""What a model must remember of its table: names, kinds, category labels and classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class AttributeSchema:
    """One attribute: its name and, if it is categorical, its levels in their order."""

    name: str
    categories: tuple[Any, ...] | None = None  # None: numeric

    @property
    def is_categorical(self) -> bool:
        return self.categories is not None


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """The attributes in column order and the sorted class labels."""

    attributes: tuple[AttributeSchema, ...]
    classes: np.ndarray
    named: bool  # True if the user's table had column names
    tie_order: tuple[int, ...] = ()  # class numbers, the first wins a tie; (): in their own order

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return (
            self.attributes == other.attributes
            and self.named == other.named
            and self.tie_order == other.tie_order
            and self.classes.dtype == other.classes.dtype
            and bool(np.array_equal(self.classes, other.classes))
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)
