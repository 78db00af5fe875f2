# SPDX-License-Identifier: BSD-3-Clause
"""Any table as named raw columns: what growth encodes, and what scoring routes.

What the user passes goes through these rooms:

    containers  opens what holds the table: an array, a list of rows, a dict of columns, a frame
    kinds       reads `categorical_features`: which columns were declared categorical
    values      reads one column of any library; arrays does so for numpy and Python's objects
    labels      holds text and other labels as codes
    frames      puts the columns together, at fit, and as a fitted model expects them
    targets     reads y and the weights

Other modules need no more of these than what is named here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.arrays import (
    LARGEST_WHOLE_NUMBER,
    PLAIN_DTYPES,
    column_label,
    too_large_error,
)
from fasttree.categorical import Categorical
from fasttree.containers import open_container
from fasttree.kinds import Kinds, read_kinds
from fasttree.labels import (
    Labels,
    compact,
    families_of,
    map_labels,
    missing_value_error,
    number_labels,
    shown,
    sort_labels,
)
from fasttree.schema import AttributeSchema, Schema
from fasttree.targets import Target, read_target, read_weights
from fasttree.values import read_column

__all__ = [
    "Categorical",
    "Column",
    "Table",
    "Target",
    "missing_value_error",
    "read_table",
    "read_table_like",
    "read_target",
    "read_weights",
]


@dataclass(frozen=True, slots=True)
class Column:
    """Numeric: `values`. Categorical: `codes` into `categories`, -1 for a level unknown there."""

    name: str
    values: np.ndarray | None = None
    codes: np.ndarray | None = None
    categories: tuple[Any, ...] | None = None
    declared: bool = False  # True: a level stays, even if no row has it

    def take(self, rows: np.ndarray) -> Column:
        if self.values is not None:
            return Column(self.name, values=self.values[rows])
        assert self.codes is not None
        assert self.categories is not None
        codes, categories = self.codes[rows], self.categories
        if not self.declared:
            kept, examples = compact(codes)
            categories = tuple(categories[code] for code in codes[examples].tolist())
            codes = kept
        return Column(self.name, codes=codes, categories=categories, declared=self.declared)


@dataclass(frozen=True, slots=True)
class Table:
    """Either `matrix`, an all-numeric array as the user passed it, or `columns`.

    Columns are free of NaN. A matrix may still hold some: who reads its values finds them.
    """

    n_rows: int
    names: tuple[str, ...]
    named: bool  # True if the user gave names
    matrix: np.ndarray | None = None
    columns: tuple[Column, ...] | None = None

    def take(self, rows: np.ndarray) -> Table:
        """Some rows, by number or by mask, as if the others had never been there."""
        matrix = None if self.matrix is None else self.matrix[rows]
        columns = None if self.columns is None else tuple(c.take(rows) for c in self.columns)
        n_rows = int(np.count_nonzero(rows)) if rows.dtype == bool else len(rows)
        return Table(n_rows, self.names, self.named, matrix, columns)


# -- at fit ----------------------------------------------------------------------------------------


def read_table(X: Any, categorical_features: Any = "from_dtype") -> Table:
    """The table that a model is to be fitted to."""
    container = open_container(X)
    kinds = read_kinds(categorical_features, container)
    n_rows, names, named = container.n_rows, container.names, container.named
    matrix, sources = container.matrix, container.columns
    if matrix is not None:
        if not kinds.declared:
            _check_whole_numbers(matrix, names)
            return Table(n_rows, names, named, matrix=matrix)
        _check_no_nan(matrix, names)
        kinds = Kinds(kinds.declared, by_dtype=False)  # a matrix of bools is one of numbers
        sources = _columns_of(matrix)
    columns = tuple(
        _fit_column(name, read_column(column_label(name), source), place, kinds)
        for place, (name, source) in enumerate(zip(names, sources, strict=True))
    )
    return Table(n_rows, names, named, columns=columns)


def _fit_column(name: str, values: np.ndarray | Labels, place: int, kinds: Kinds) -> Column:
    where = column_label(name)
    if isinstance(values, Labels):
        labels = values
        if place not in kinds.declared and not kinds.by_dtype:
            raise ValueError(
                f"{where} is categorical, with labels such as {shown(labels.example)}, but "
                "categorical_features does not name it: add it there, leave categorical_features "
                'at "from_dtype", or turn the column into numbers.'
            )
    else:
        _check_no_nan(values, (name,))
        if place not in kinds.declared and not (kinds.by_dtype and values.dtype.kind == "b"):
            _check_whole_numbers(values, (name,))
            return Column(name, values=values)
        labels = number_labels(values)
    levels = kinds.declared.get(place)
    if levels is not None:
        codes = _declared_codes(where, labels, levels)
        return Column(name, codes=codes, categories=levels, declared=True)
    labels = sort_labels(where, labels)
    codes = labels.codes.astype(np.int32, copy=False)
    categories = tuple(labels.labels)
    return Column(name, codes=codes, categories=categories, declared=labels.declared)


def _declared_codes(where: str, labels: Labels, levels: tuple[Any, ...]) -> np.ndarray:
    codes = map_labels(labels, {level: code for code, level in enumerate(levels)})
    unknown = codes < 0
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"{where} holds {shown(labels.labels[labels.codes[row]])} in row {row}, which is not "
            f"among its levels in categorical_features, {shown(list(levels))}: add it to them."
        )
    return codes


def _columns_of(matrix: np.ndarray) -> list[np.ndarray]:
    return [matrix[:, place] for place in range(matrix.shape[1])]


def _check_no_nan(values: np.ndarray, names: tuple[str, ...]) -> None:
    """One quick pass over a column or a matrix: the minimum hands a NaN on."""
    if values.dtype.kind != "f" or not np.isnan(values.min()):
        return
    row, place = np.argwhere(np.isnan(values.reshape(len(values), -1)))[0]
    raise missing_value_error(column_label(names[place]), int(row))


def _check_whole_numbers(values: np.ndarray, names: tuple[str, ...]) -> None:
    """Thresholds are float64: whole numbers that it would round are refused."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return
    low, high = values.min(), values.max()
    if high <= LARGEST_WHOLE_NUMBER and low >= -LARGEST_WHOLE_NUMBER:
        return
    value = high if high > LARGEST_WHOLE_NUMBER else low
    _, place = np.argwhere(values.reshape(len(values), -1) == value)[0]
    raise too_large_error(column_label(names[place]), value)


# -- at predict ------------------------------------------------------------------------------------


class _Expected:
    """What every call of predict asks of the attributes, worked out once."""

    __slots__ = ("_levels", "all_numeric", "attributes", "names")

    def __init__(self, attributes: tuple[AttributeSchema, ...]) -> None:
        self.attributes = attributes
        self.names = tuple(attribute.name for attribute in attributes)
        self.all_numeric = not any(attribute.is_categorical for attribute in attributes)
        self._levels: dict[int, tuple[dict[Any, int], dict[str, Any]]] = {}

    def levels(self, place: int) -> tuple[dict[Any, int], dict[str, Any]]:
        """The code of each level, and the families of the levels."""
        found = self._levels.get(place)
        if found is None:
            categories = self.attributes[place].categories or ()
            codes = {level: code for code, level in enumerate(categories)}
            found = self._levels[place] = codes, families_of(categories)
        return found


# By the identity of the attributes, which an entry keeps alive. One process serves few schemas.
_recent: dict[int, _Expected] = {}


def _expected(schema: Schema) -> _Expected:
    found = _recent.get(id(schema.attributes))
    if found is None:
        if len(_recent) >= 16:
            _recent.clear()
        found = _recent[id(schema.attributes)] = _Expected(schema.attributes)
    return found


def read_table_like(X: Any, schema: Schema, estimator_name: str = "the model") -> Table:
    """The table as a fitted model reads it: the same columns, and labels as the model's codes."""
    expected = _expected(schema)
    names = expected.names
    if type(X) is np.ndarray and X.ndim == 2 and expected.all_numeric and X.dtype in PLAIN_DTYPES:
        n_rows, n_columns = X.shape
        if n_rows and n_columns == len(names):
            return Table(n_rows, names, schema.named, X)
    container = open_container(X)
    if container.named and schema.named:
        _check_names(container.names, names)
    elif len(container.names) != len(names):
        raise ValueError(
            f"X has {len(container.names)} features, but {estimator_name} is expecting "
            f"{len(names)} features as input."
        )
    matrix = container.matrix
    if matrix is not None and expected.all_numeric:
        return Table(container.n_rows, names, schema.named, matrix=matrix)
    if matrix is not None:
        _check_no_nan(matrix, names)
    sources = container.columns if matrix is None else _columns_of(matrix)
    columns = tuple(
        _like_column(name, read_column(column_label(name), source), place, expected)
        for place, (name, source) in enumerate(zip(names, sources, strict=True))
    )
    return Table(container.n_rows, names, schema.named, columns=columns)


def _like_column(name: str, values: np.ndarray | Labels, place: int, expected: _Expected) -> Column:
    categories = expected.attributes[place].categories
    if not isinstance(values, Labels):
        _check_no_nan(values, (name,))
    if categories is None:
        if isinstance(values, Labels):
            raise ValueError(
                f"{column_label(name)} was numeric at fit, but now holds labels such as "
                f"{shown(values.example)}: pass numbers, as at fit."
            )
        return Column(name, values=values)
    labels = values if isinstance(values, Labels) else number_labels(values)
    codes_of_levels, then = expected.levels(place)
    now = families_of(labels.labels)
    if then.keys().isdisjoint(now):
        raise ValueError(
            f"{column_label(name)} was categorical at fit, with labels such as "
            f"{shown(categories[0])}, but now holds values such as {shown(labels.example)} "
            f"({next(iter(now))} instead of {next(iter(then))}): pass labels as at fit."
        )
    return Column(name, codes=map_labels(labels, codes_of_levels), categories=categories)


def _check_names(names: tuple[str, ...], expected: tuple[str, ...]) -> None:
    """In the words of scikit-learn, which its users know."""
    if names == expected:
        return
    unseen, missing = sorted(set(names) - set(expected)), sorted(set(expected) - set(names))
    message = "The feature names should match those that were passed during fit.\n"
    if unseen:
        message += "Feature names unseen at fit time:\n" + _listed(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _listed(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise ValueError(message)


def _listed(names: list[str]) -> str:
    return "".join(f"- {name}\n" for name in names[:5]) + ("- ...\n" if len(names) > 5 else "")
