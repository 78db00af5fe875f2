# SPDX-License-Identifier: BSD-3-Clause
"""Categorical: a column that brings the order of its categories along, without a data-frame library."""

from __future__ import annotations

from typing import Any

import numpy as np

from fasttree.base.values import short_repr
from fasttree.tables.factors import (
    UNKNOWN_CODE,
    Factor,
    check_levels,
    code_index,
    codes_of_indices,
    factorize,
    first_row,
    not_a_scalar_error,
    recode,
    sort_labels,
)


class Categorical:
    """A categorical column with its categories in a declared order.

    >>> sizes = Categorical(["small", "large", "small"], categories=["small", "medium", "large"])
    >>> sizes.codes
    array([0, 2, 0], dtype=int32)
    >>> sizes.categories
    ('small', 'medium', 'large')

    Without `categories`, the categories are the sorted distinct values. A category may have no
    rows. Missing values (None or NaN) have the code -1.

    `ordered=True` declares that the order is meaningful, as for sizes: a tree then splits the
    categories like numbers, into lower and higher ones.
    """

    __slots__ = ("categories", "codes", "ordered")

    codes: np.ndarray
    categories: tuple[Any, ...]
    ordered: bool

    def __init__(self, values: Any, categories: Any = None, *, ordered: bool = False) -> None:
        where = "Categorical"
        if not isinstance(ordered, (bool, np.bool_)):
            raise TypeError(
                f"Categorical: ordered must be True or False, got {short_repr(ordered)}."
            )
        self.ordered = bool(ordered)
        items = _as_list(values)
        try:
            found = factorize(items)
        except TypeError:
            row = first_row(items, _unhashable)
            raise not_a_scalar_error(where, row, items[row]) from None
        if categories is None:
            by_value = sort_labels(where, found)
            self.codes, self.categories = by_value.codes - 1, tuple(by_value.labels)
            return
        self.categories = check_levels(where, categories)
        codes = recode(found, code_index(self.categories))
        unknown = codes == UNKNOWN_CODE
        if unknown.any():
            row = int(np.argmax(unknown))
            raise ValueError(
                f"Categorical: the value {short_repr(items[row])} in row {row} is not one of the "
                f"categories {short_repr(list(self.categories))}: add it to the list."
            )
        self.codes = codes - 1

    @classmethod
    def from_codes(cls, codes: Any, categories: Any, *, ordered: bool = False) -> Categorical:
        """Make a column from codes: the index of each value's category, or -1 for a missing value.

        >>> Categorical.from_codes([0, 1, -1], ["small", "large"])
        Categorical(['small', 'large', None], categories=['small', 'large'])
        """
        made = cls((), categories, ordered=ordered)
        made.codes = np.asarray(codes, dtype=np.int32)
        if made.codes.ndim != 1:
            raise ValueError(
                f"Categorical: the codes must be 1-D, got {made.codes.ndim} dimensions."
            )
        wrong = (made.codes < -1) | (made.codes >= len(made.categories))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"Categorical: the code {made.codes[row]} in row {row} must be the index of one of the "
                f"{len(made.categories)} categories (from 0), or -1 for a missing value."
            )
        return made

    def as_factor(self) -> Factor:
        codes = codes_of_indices(self.codes)
        return Factor(codes, self.categories, declared=True, ordered=self.ordered)

    def __len__(self) -> int:
        return len(self.codes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError(
                "the values of a Categorical are computed from its codes: copy must not be False."
            )
        labels = np.empty(len(self.categories) + 1, dtype=object)
        labels[:-1] = self.categories  # the last is None, for missing values
        values: np.ndarray = labels[self.codes]
        return values if dtype is None else values.astype(dtype)

    def __repr__(self) -> str:
        values = short_repr(np.asarray(self).tolist())
        ordered = ", ordered=True" if self.ordered else ""
        return f"Categorical({values}, categories={short_repr(list(self.categories))}{ordered})"


def _as_list(values: Any) -> list[Any]:
    if isinstance(values, (str, bytes)):
        raise TypeError(
            f"Categorical: the values must be a list or an array, got {short_repr(values)}."
        )
    if getattr(values, "ndim", 1) != 1:
        raise ValueError(f"Categorical: the values must be 1-D, got {values.ndim} dimensions.")
    for method in ("tolist", "to_list", "to_pylist"):  # numpy and pandas, polars, Arrow
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(np.asarray(values)) if hasattr(values, "__array__") else list(values)


def _unhashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return True
    return False
