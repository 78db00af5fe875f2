# SPDX-License-Identifier: BSD-3-Clause
"""What `categorical_features` says about the columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fasttree.arrays import column_label
from fasttree.containers import Container
from fasttree.labels import check_levels, plain, shown

_CHOICES = (
    'categorical_features must be "from_dtype", None, a list of column names or numbers, '
    "a boolean mask or a dict of levels"
)


@dataclass(frozen=True, slots=True)
class Kinds:
    """The columns declared categorical, and whether the others go by their dtype."""

    declared: Mapping[int, tuple[Any, ...] | None]  # with their levels, if those were given
    by_dtype: bool  # False: the others must be numeric


def read_kinds(categorical_features: Any, container: Container) -> Kinds:
    """A dict gives levels and leaves the other columns to their dtype; a list or mask is final."""
    if categorical_features is None:
        return Kinds({}, by_dtype=False)
    if isinstance(categorical_features, str):
        if categorical_features == "from_dtype":
            return Kinds({}, by_dtype=True)
        raise ValueError(
            f"{_CHOICES}, got {categorical_features!r}: "
            f"to name one column, write [{categorical_features!r}]."
        )
    if isinstance(categorical_features, Mapping):
        places = _places(list(categorical_features), container)
        levels = (
            None if levels is None else check_levels(column_label(container.names[place]), levels)
            for place, levels in zip(places, categorical_features.values(), strict=True)
        )
        return Kinds(dict(zip(places, levels, strict=True)), by_dtype=True)
    if not isinstance(categorical_features, Iterable):
        raise TypeError(f"{_CHOICES}, got {shown(categorical_features)}.")
    items = [plain(item) for item in categorical_features]
    if not items or not all(isinstance(item, bool) for item in items):
        return Kinds(dict.fromkeys(_places(items, container)), by_dtype=False)
    if len(items) != len(container.names):
        raise ValueError(
            f"categorical_features is a mask of {len(items)} entries, but X has "
            f"{len(container.names)} columns: give one entry a column."
        )
    return Kinds({place: None for place, chosen in enumerate(items) if chosen}, by_dtype=False)


def _places(keys: Sequence[Any], container: Container) -> list[int]:
    """The columns that names or numbers stand for, each once."""
    places: list[int] = []
    for key in map(plain, keys):
        place = _place(key, container)
        if place in places:
            raise ValueError(
                f"categorical_features names {column_label(container.names[place])} twice: "
                "name each column once."
            )
        places.append(place)
    return places


def _place(key: Any, container: Container) -> int:
    names = container.names
    if isinstance(key, str):
        if not container.named:
            raise ValueError(
                f"categorical_features names {column_label(key)}, but X has no column names: "
                "use column numbers."
            )
        if key not in names:
            raise ValueError(
                f"categorical_features names {column_label(key)}, but X has no such column: "
                f"its columns are {shown(list(names))}."
            )
        return names.index(key)
    if not isinstance(key, int) or isinstance(key, bool):
        raise TypeError(
            "categorical_features must hold column names or column numbers, got "
            f"{shown(key)} of type {type(key).__name__}."
        )
    if not 0 <= key < len(names):
        raise ValueError(
            f"categorical_features names the column number {key}, but the columns of X are "
            f"0 to {len(names) - 1}."
        )
    return key
