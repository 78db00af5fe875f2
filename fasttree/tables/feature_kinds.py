# SPDX-License-Identifier: BSD-3-Clause
"""What `categorical_features` and `ordered_features` say about the columns of a table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fasttree.base.values import column_label, short_repr, to_python
from fasttree.tables.containers import Container
from fasttree.tables.factors import check_levels

_CATEGORICAL, _ORDERED = "categorical_features", "ordered_features"


@dataclass(frozen=True, slots=True)
class FeatureKinds:
    """The columns declared categorical or ordered, and whether the others go by their dtype."""

    declared: Mapping[int, tuple[Any, ...] | None]  # with their categories, if those were given
    by_dtype: bool  # False: the others must be numeric
    ordered: frozenset[int] | None = None  # just these, all categorical; None: by their dtype

    def check_ordered(self, numeric: Collection[int], names: Sequence[str]) -> None:
        """Refuses a numeric column among those that were named as ordered."""
        for j in sorted(self.ordered or ()):
            if j in numeric:
                raise ValueError(
                    f"ordered_features lists {column_label(names[j])}, which is numeric and "
                    "therefore split in order anyway: leave it out, or list it in categorical_features too "
                    "if its numbers are categories."
                )


def read_kinds(
    categorical_features: Any, ordered_features: Any, container: Container
) -> FeatureKinds:
    kinds = _read_categorical(categorical_features, container)
    return replace(kinds, ordered=_read_ordered(ordered_features, container))


def _read_categorical(categorical_features: Any, container: Container) -> FeatureKinds:
    """A dict gives categories and leaves the other columns to their dtype; a list or mask is final."""
    if categorical_features is None:
        return FeatureKinds({}, by_dtype=False)
    if _is_from_dtype(_CATEGORICAL, categorical_features):
        return FeatureKinds({}, by_dtype=True)
    if isinstance(categorical_features, Mapping):
        columns = _columns(_CATEGORICAL, list(categorical_features), container)
        categories = (
            None if given is None else check_levels(column_label(container.names[j]), given)
            for j, given in zip(columns, categorical_features.values(), strict=True)
        )
        return FeatureKinds(dict(zip(columns, categories, strict=True)), by_dtype=True)
    chosen = _chosen(_CATEGORICAL, categorical_features, container)
    return FeatureKinds(dict.fromkeys(chosen), by_dtype=False)


def _read_ordered(ordered_features: Any, container: Container) -> frozenset[int] | None:
    """Columns whose categories are ordered; None: those whose type says so."""
    if ordered_features is None:
        return frozenset()
    if _is_from_dtype(_ORDERED, ordered_features):
        return None
    if isinstance(ordered_features, Mapping):
        raise TypeError(
            "ordered_features must be a list of columns or a mask, got a dict: give the categories in "
            "their order in categorical_features, and a list of the column names here."
        )
    return frozenset(_chosen(_ORDERED, ordered_features, container))


# In what follows `argument` is what error messages call the user's choice.


def _is_from_dtype(argument: str, choice: Any) -> bool:
    if not isinstance(choice, str):
        return False
    if choice != "from_dtype":
        raise ValueError(
            f"{_choices(argument)}, got {choice!r}: to name one column, write [{choice!r}]."
        )
    return True


def _choices(argument: str) -> str:
    mapping = ", a dict of categories" if argument == _CATEGORICAL else ""
    return (
        f'{argument} must be "from_dtype", None{mapping}, a boolean mask or a list of column names '
        "or indices"
    )


def _chosen(argument: str, choice: Any, container: Container) -> list[int]:
    """The columns of a list or a mask."""
    if not isinstance(choice, Iterable):
        raise TypeError(f"{_choices(argument)}, got {short_repr(choice)}.")
    items = [to_python(item) for item in choice]
    if not items or not all(isinstance(item, bool) for item in items):
        return _columns(argument, items, container)
    if len(items) != len(container.names):
        raise ValueError(
            f"{argument} is a mask of {len(items)} entries, but X has "
            f"{len(container.names)} columns: give one entry per column."
        )
    return [j for j, chosen in enumerate(items) if chosen]


def _columns(argument: str, keys: Sequence[Any], container: Container) -> list[int]:
    """The columns that names or numbers stand for, each once."""
    columns: dict[int, None] = {}
    index_of = {name: j for j, name in enumerate(container.names)}
    for key in map(to_python, keys):
        j = _column(argument, key, container, index_of)
        if j in columns:
            raise ValueError(
                f"{argument} lists {column_label(container.names[j])} twice: list each column once."
            )
        columns[j] = None
    return list(columns)


def _column(argument: str, key: Any, container: Container, index_of: Mapping[str, int]) -> int:
    names = container.names
    if isinstance(key, str):
        if not container.named:
            raise ValueError(
                f"{argument} lists {column_label(key)}, but X has no column names: "
                "use column indices."
            )
        if key not in index_of:
            raise ValueError(
                f"{argument} lists {column_label(key)}, but X has no such column: "
                f"its columns are {short_repr(list(names))}."
            )
        return index_of[key]
    if not isinstance(key, int) or isinstance(key, bool):
        raise TypeError(
            f"{argument} must contain column names or column indices, got "
            f"{short_repr(key)} of type {type(key).__name__}."
        )
    if not 0 <= key < len(names):
        raise ValueError(
            f"{argument} lists the column index {key}, but the columns of X are "
            f"0 to {len(names) - 1}."
        )
    return key
