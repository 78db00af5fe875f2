# SPDX-License-Identifier: BSD-3-Clause
"""Any table as named raw columns: what growth encodes, and what prediction routes.

What the user passes goes through these modules:

    containers     opens what holds the table: an array, a list of rows, a dict of columns, a frame
    arrow          lets a loaded library read what only speaks Arrow's protocol
    feature_kinds  reads `categorical_features` and `ordered_features`: what the user said of columns
    columns        reads one column of any library; numpy_columns does so for numpy and Python's objects, arrow_arrays
                   for pyarrow
    factors        holds text and other labels as codes
    table          is what comes out: raw columns with names
    training       puts the columns together, at fit, and as a fitted model expects them
    fitted         holds the columns that come at predict against those of the fit
    target         reads y and the weights

Whole tables are read here; who has single columns (metrics, measures of attributes, files in batches) takes them to the
modules for columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fasttree import _core
from fasttree.base.times import Times
from fasttree.base.values import column_label, short_repr, value_kind, value_kinds
from fasttree.tables.byte_codes import ByteCodedNumbers
from fasttree.tables.categorical import Categorical
from fasttree.tables.columns import RawColumn, has_numbers, read_column, read_to_encode
from fasttree.tables.containers import Container, open_container
from fasttree.tables.factors import (
    MISSING_CODE,
    UNKNOWN_CODE,
    Factor,
    code_index,
    factorize,
    factorize_numbers,
    label_numbers,
    missing_value_error,
    recode,
    sort_byte_labels,
    sort_labels,
)
from fasttree.tables.feature_kinds import FeatureKinds, read_kinds
from fasttree.tables.fitted import like_labels, like_numbers
from fasttree.tables.numpy_columns import (
    PLAIN_DTYPES,
    check_whole_numbers,
    is_large,
    too_large_error,
)
from fasttree.tables.schema import AttributeSchema, Schema
from fasttree.tables.table import Column, Table
from fasttree.tables.target import Target, read_groups, read_target, read_weights

__all__ = [
    "MISSING_CODE",
    "UNKNOWN_CODE",
    "Categorical",
    "Column",
    "Table",
    "Target",
    "are_shuffled",
    "missing_value_error",
    "open_container",
    "read_groups",
    "read_table",
    "read_table_for_schema",
    "read_target",
    "read_weights",
]


# -- at fit ----------------------------------------------------------------------------------------


def read_table(
    X: Any,
    categorical_features: Any = "from_dtype",
    ordered_features: Any = "from_dtype",
    run: Callable[[Callable[[int, int], None], int], None] | None = None,
    to_encode: bool = False,
) -> Table:
    """The table that a model is to be fitted to. X may be open already; `run` is `ThreadTeam.run`, to read columns
    with. `to_encode`: nobody but `encode` asks for its numbers."""
    container = open_container(X)
    kinds = read_kinds(categorical_features, ordered_features, container)
    n_rows, names, named = container.n_rows, container.names, container.named
    matrix, sources = container.matrix, container.columns
    if matrix is not None:
        if not kinds.declared:
            kinds.check_ordered(range(len(names)), names)
            check_whole_numbers(matrix, lambda place: column_label(names[place]))
            return Table(n_rows, names, named, matrix=matrix)
        kinds = replace(kinds, by_dtype=False)  # a matrix of bools is one of numbers
        sources = _columns_of(matrix)
    columns: list[Any] = [None] * len(names)
    byte_codes = np.empty((len(names), n_rows), dtype=np.uint8) if to_encode else None

    # Text takes longest, and a thread that began some last would be waited for.
    order = sorted(range(len(names)), key=lambda place: has_numbers(sources[place]))

    def read(worker: int, task: int) -> None:
        place = order[task]
        try:
            where, source = column_label(names[place]), sources[place]
            codes_out = None if byte_codes is None else byte_codes[place]
            values = (
                read_column(where, source, n_rows)
                if codes_out is None
                else read_to_encode(where, source, n_rows, codes_out)
            )
            columns[place] = _fit_column(names[place], values, place, kinds, codes_out)
        except Exception as error:  # the first column in error is named, whatever the threads did
            columns[place] = error

    if run is None:
        for task in range(len(names)):
            read(0, task)
    else:
        run(read, len(names))
    for column in columns:
        if isinstance(column, Exception):
            raise column
    numeric = [place for place, column in enumerate(columns) if column.categories is None]
    kinds.check_ordered(numeric, names)
    return Table(n_rows, names, named, columns=tuple(columns), byte_codes=byte_codes)


def _fit_column(
    name: str,
    values: RawColumn | ByteCodedNumbers,
    place: int,
    kinds: FeatureKinds,
    byte_codes: np.ndarray | None,
) -> Column:
    where = column_label(name)
    if isinstance(values, ByteCodedNumbers):
        if place not in kinds.declared:
            return Column(name, byte_coded=values)
        values = values.values()
    if isinstance(values, Times):
        if place not in kinds.declared:
            return Column(name, values=values.values, time=values.kind)
        labels = factorize(values.objects(where))
    elif isinstance(values, Factor):
        labels = values
        if labels.large and place not in kinds.declared:
            raise too_large_error(where, next(filter(is_large, labels.labels)))
        if place not in kinds.declared and not kinds.by_dtype:
            numbers = label_numbers(labels)
            if numbers is not None:
                return Column(name, values=numbers)
            raise ValueError(
                f"{where} is categorical, with values such as {short_repr(labels.example)}, but "
                "is not listed in categorical_features: add it there, leave categorical_features "
                'at "from_dtype", or convert the column to numbers.'
            )
    else:
        if place not in kinds.declared and not (kinds.by_dtype and values.dtype.kind == "b"):
            check_whole_numbers(values, lambda _: where)
            return Column(name, values=values)
        labels = factorize_numbers(values)
    ordered = labels.ordered if kinds.ordered is None else place in kinds.ordered
    levels, meant = kinds.declared.get(place), place in kinds.declared
    if levels is not None:
        codes = _declared_codes(where, labels, levels)
        return Column(
            name, codes=codes, categories=levels, declared=True, ordered=ordered, meant=True
        )
    if byte_codes is not None and len(labels.labels) <= _core.MAX_BYTE_CODES:
        sorted_labels = sort_byte_labels(where, labels, byte_codes)
        return Column(
            name,
            byte_codes=byte_codes,
            categories=tuple(sorted_labels),
            declared=labels.declared,
            ordered=ordered,
            meant=meant,
        )
    labels = sort_labels(where, labels, in_place=True)  # undeclared, they were made for this
    codes = labels.codes
    if codes.dtype != np.int32 or labels.declared:  # these may be the user's own, and change
        codes = labels.codes.astype(np.int32)
    return Column(
        name,
        codes=codes,
        categories=tuple(labels.labels),
        declared=labels.declared,
        ordered=ordered,
        meant=meant,
    )


def _declared_codes(where: str, labels: Factor, levels: tuple[Any, ...]) -> np.ndarray:
    codes = recode(labels, code_index(levels))
    unknown = codes == UNKNOWN_CODE
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"{where} contains {short_repr(labels.labels[labels.codes[row]])} in row {row}, which is not one of "
            f"its categories in categorical_features, {short_repr(list(levels))}: add it to the list."
        )
    return codes


def _columns_of(matrix: np.ndarray) -> list[np.ndarray]:
    return [matrix[:, place] for place in range(matrix.shape[1])]


# -- at predict ------------------------------------------------------------------------------------


class _ReadPlan:
    """What every call of predict asks of the attributes, worked out once."""

    __slots__ = ("_levels", "all_plain", "attributes", "names")

    def __init__(self, attributes: tuple[AttributeSchema, ...]) -> None:
        self.attributes = attributes
        self.names = tuple(attribute.name for attribute in attributes)
        # Is a matrix of numbers such a table?
        self.all_plain = all(a.categories is None and a.time is None for a in attributes)
        self._levels: dict[int, tuple[dict[Any, int], dict[str, Any]]] = {}

    def levels(self, place: int) -> tuple[dict[Any, int], dict[str, Any]]:
        """The code of each level, and the families of the levels."""
        found = self._levels.get(place)
        if found is None:
            attribute = self.attributes[place]
            levels = attribute.seen_levels
            found = code_index(levels, attribute.seen_codes), value_kinds(levels)
            self._levels[place] = found
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
    A level that the model has not seen is an error if `unknown` is "error", else UNKNOWN_CODE; where levels of few rows
    count as one, it counts as one of these if `unknown` is "missing".
    """
    plan = _plan_for(schema)
    names = plan.names
    if type(X) is np.ndarray and X.ndim == 2 and plan.all_plain and X.dtype in PLAIN_DTYPES:
        n_rows, n_columns = X.shape
        if n_rows and n_columns == len(names):
            return Table(n_rows, names, schema.named, X)
    container = open_container(X)
    places = _places(container, names, schema.named, estimator_name)
    matrix = container.matrix
    if matrix is not None and plan.all_plain:  # a matrix has no names
        return Table(container.n_rows, names, schema.named, matrix=matrix)
    sources = container.columns if matrix is None else _columns_of(matrix)
    if places is not None:
        sources = [sources[place] for place in places]
    columns = tuple(
        _column_for_schema(
            name,
            read_column(column_label(name), source, container.n_rows),
            place,
            plan,
            unknown,
        )
        for place, (name, source) in enumerate(zip(names, sources, strict=True))
    )
    return Table(container.n_rows, names, schema.named, columns=columns)


def _column_for_schema(
    name: str,
    values: RawColumn,
    place: int,
    plan: _ReadPlan,
    unknown: str,
) -> Column:
    """A column without any value fits every attribute, whatever its dtype."""
    where, attribute = column_label(name), plan.attributes[place]
    categories = attribute.categories
    if categories is None:
        return Column(name, values=like_numbers(where, values, attribute), time=attribute.time)
    seen = attribute.seen_levels
    labels = like_labels(where, values, seen)
    codes_of_levels, then = plan.levels(place)
    now = value_kinds(labels.labels)
    if then and then.keys().isdisjoint(now) and (labels.codes >= 0).any():
        raise ValueError(
            f"{where} was categorical at fit, with values such as "
            f"{short_repr(seen[0])}, but now contains values such as {short_repr(labels.example)} "
            f"({value_kind(type(labels.example))} instead of {value_kind(type(seen[0]))}): pass values of the same "
            f"kind as at "
            "fit."
        )
    is_other = attribute.others is not None and unknown == "missing"
    unseen = len(categories) - 1 if is_other else UNKNOWN_CODE
    codes = recode(labels, codes_of_levels, unseen)
    if unknown == "error" and UNKNOWN_CODE in codes:
        row = int(np.argmax(codes == UNKNOWN_CODE))
        raise ValueError(
            f"{where} contains the category {short_repr(labels.labels[labels.codes[row]])} in row {row}, which was "
            'not seen at fit: correct it, or set unknown="missing" or unknown="majority".'
        )
    return Column(
        name, codes=codes, categories=categories, declared=True, ordered=attribute.ordered
    )


def _places(
    container: Container, names: tuple[str, ...], named: bool, estimator_name: str
) -> list[int] | None:
    """Where in X the model's attributes are; None: in their order."""
    labels = container.names if container.named else ()
    if container.numbered:
        labels = _counted(container.names)
    if labels and ((named and container.named) or set(labels) == set(names)):
        return None if labels == names else _places_by_name(labels, names)
    if len(container.names) != len(names):
        raise ValueError(
            f"X has {len(container.names)} features, but {estimator_name} is expecting "
            f"{len(names)} features as input."
        )
    if are_shuffled(labels):
        raise ValueError(
            f"the columns of X are labelled {short_repr(list(labels))}, but {estimator_name} was fitted on columns "
            f"without "
            "names and matches them by position: put them in the order 0, 1, ..., or pass an array."
        )
    return None


def are_shuffled(labels: Sequence[str]) -> bool:
    """Are they 0, 1, ... in another order? Who goes by position would take each column for another."""
    counted = _counted(labels)
    return tuple(labels) != counted and set(labels) == set(counted)


def _counted(columns: Sequence[Any]) -> tuple[str, ...]:
    return tuple(map(str, range(len(columns))))


def _places_by_name(names: tuple[str, ...], expected: tuple[str, ...]) -> list[int]:
    """Where among `names` each expected one is. Errors are in the words of scikit-learn, which its users know."""
    place_of = {name: place for place, name in enumerate(names)}
    unseen, missing = sorted(place_of.keys() - expected), sorted(set(expected) - place_of.keys())
    if not unseen and not missing:
        return [place_of[name] for name in expected]
    message = "The feature names should match those that were passed during fit.\n"
    if unseen:
        message += "Feature names unseen at fit time:\n" + _listed(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _listed(missing)
    raise ValueError(message)


def _listed(names: list[str]) -> str:
    return "".join(f"- {name}\n" for name in names[:5]) + ("- ...\n" if len(names) > 5 else "")
