# SPDX-License-Identifier: BSD-3-Clause
"""A table as a fitted model reads it: columns of the kinds that they had at fit, or an error that says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fasttree.base.times import Times, held, kind_error, kind_of
from fasttree.base.values import column_label, short_repr, value_kind, value_kinds
from fasttree.tables.columns import RawColumn, read_column
from fasttree.tables.containers import Container, columns_of, open_container
from fasttree.tables.factors import (
    UNKNOWN_CODE,
    Factor,
    code_index,
    factorize,
    factorize_numbers,
    label_numbers,
    recode,
)
from fasttree.tables.numpy_columns import PLAIN_DTYPES
from fasttree.tables.schema import AttributeSchema, Schema
from fasttree.tables.table import Column, Table


class _ReadPlan:
    """What every call of predict asks of the attributes, worked out once."""

    __slots__ = ("_categories", "all_plain", "attributes", "names")

    def __init__(self, attributes: tuple[AttributeSchema, ...]) -> None:
        self.attributes = attributes
        self.names = tuple(attribute.name for attribute in attributes)
        # Is a matrix of numbers such a table?
        self.all_plain = all(a.categories is None and a.time is None for a in attributes)
        self._categories: dict[int, tuple[dict[Any, int], dict[str, Any]]] = {}

    def categories(self, j: int) -> tuple[dict[Any, int], dict[str, Any]]:
        """The code of each category, and the kinds of value that the categories are."""
        found = self._categories.get(j)
        if found is None:
            attribute = self.attributes[j]
            seen = attribute.seen_levels
            found = code_index(seen, attribute.seen_codes), value_kinds(seen)
            self._categories[j] = found
        return found


# By the identity of the attributes, which an entry keeps alive. One process serves few schemas.
_recent: dict[int, _ReadPlan] = {}


def _plan_for(schema: Schema) -> _ReadPlan:
    found = _recent.get(id(schema.attributes))
    if found is None:
        if len(_recent) >= 16:
            _recent.clear()
        found = _recent[id(schema.attributes)] = _ReadPlan(schema.attributes)
    return found


def read_table_for_schema(
    X: Any, schema: Schema, estimator_name: str = "the model", unknown: str = "missing"
) -> Table:
    """The table as a fitted model reads it: its columns in its order, and labels as its codes.

    Columns are found by name where both sides have names or the labels are the model's, else by position.
    A category that the model has not seen is an error if `unknown` is "error", else UNKNOWN_CODE; where categories of
    few rows count as one, it counts as one of these if `unknown` is "missing".
    """
    plan = _plan_for(schema)
    names = plan.names
    if type(X) is np.ndarray and X.ndim == 2 and plan.all_plain and X.dtype in PLAIN_DTYPES:
        n_rows, n_columns = X.shape
        if n_rows and n_columns == len(names):
            return Table(n_rows, names, schema.named, X)
    container = open_container(X)
    positions = _positions(container, names, schema.named, estimator_name)
    matrix = container.matrix
    if matrix is not None and plan.all_plain:  # a matrix has no names
        return Table(container.n_rows, names, schema.named, matrix=matrix)
    sources = container.columns if matrix is None else columns_of(matrix)
    if positions is not None:
        sources = [sources[j] for j in positions]
    columns = tuple(
        _column_for_schema(
            name, read_column(column_label(name), source, container.n_rows), j, plan, unknown
        )
        for j, (name, source) in enumerate(zip(names, sources, strict=True))
    )
    return Table(container.n_rows, names, schema.named, columns=columns)


def _column_for_schema(
    name: str, values: RawColumn, j: int, plan: _ReadPlan, unknown: str
) -> Column:
    """A column without any value fits every attribute, whatever its dtype."""
    where, attribute = column_label(name), plan.attributes[j]
    categories = attribute.categories
    if categories is None:
        return Column(name, values=like_numbers(where, values, attribute), time=attribute.time)
    seen = attribute.seen_levels
    labels = like_labels(where, values, seen)
    code_of, then = plan.categories(j)
    now = value_kinds(labels.labels)
    if then and then.keys().isdisjoint(now) and labels.codes.any():
        raise ValueError(
            f"{where} was categorical at fit, with values such as "
            f"{short_repr(seen[0])}, but now contains values such as {short_repr(labels.example)} "
            f"({value_kind(type(labels.example))} instead of {value_kind(type(seen[0]))}): pass values of the same "
            "kind as at fit."
        )
    is_other = attribute.others is not None and unknown == "missing"
    unseen = len(categories) if is_other else UNKNOWN_CODE
    codes = recode(labels, code_of, unseen)
    if unknown == "error" and UNKNOWN_CODE in codes:
        row = int(np.argmax(codes == UNKNOWN_CODE))
        raise ValueError(
            f"{where} contains the category {short_repr(labels.value(row))} in row {row}, which was "
            'not seen at fit: correct it, or set unknown="missing" or unknown="majority".'
        )
    return Column(
        name, codes=codes, categories=categories, declared=True, ordered=attribute.ordered
    )


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
    # A time with a zone equals none without: every category would be an unknown one.
    now = set(map(kind_of, labels.labels)) - {None}
    if now and categories and now.isdisjoint(map(kind_of, categories)):
        raise ValueError(
            f"{where} was categorical at fit, with values such as {short_repr(categories[0])}, but now contains "
            f"{held(now.pop())} such as {short_repr(labels.example)}: pass values of the same kind as at fit."
        )
    return labels


def _positions(
    container: Container, names: tuple[str, ...], named: bool, estimator_name: str
) -> list[int] | None:
    """Where in X the model's attributes are; None: in their order."""
    labels = container.names if container.named else ()
    if container.numbered:
        labels = _default_labels(len(container.names))
    if labels and ((named and container.named) or set(labels) == set(names)):
        return None if labels == names else _positions_by_name(labels, names)
    if len(container.names) != len(names):
        raise ValueError(
            f"X has {len(container.names)} features, but {estimator_name} is expecting "
            f"{len(names)} features as input."
        )
    if are_shuffled(labels):
        raise ValueError(
            f"the columns of X are labelled {short_repr(list(labels))}, but {estimator_name} was fitted on columns "
            "without names and matches them by position: put them in the order 0, 1, ..., or pass an array."
        )
    return None


def are_shuffled(labels: Sequence[str]) -> bool:
    """Are they 0, 1, ... in another order? Who goes by position would take each column for another."""
    default = _default_labels(len(labels))
    return tuple(labels) != default and set(labels) == set(default)


def _default_labels(n_columns: int) -> tuple[str, ...]:
    return tuple(map(str, range(n_columns)))


def _positions_by_name(names: tuple[str, ...], expected: tuple[str, ...]) -> list[int]:
    """Where among `names` each expected one is. Errors are in the words of scikit-learn, which its users know."""
    position_of = {name: j for j, name in enumerate(names)}
    unseen = sorted(position_of.keys() - expected)
    missing = sorted(set(expected) - position_of.keys())
    if not unseen and not missing:
        return [position_of[name] for name in expected]
    message = "The feature names should match those that were passed during fit.\n"
    if unseen:
        message += "Feature names unseen at fit time:\n" + _listed(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _listed(missing)
    raise ValueError(message)


def _listed(names: list[str]) -> str:
    return "".join(f"- {name}\n" for name in names[:5]) + ("- ...\n" if len(names) > 5 else "")
