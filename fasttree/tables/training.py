# SPDX-License-Identifier: BSD-3-Clause
"""A table to train from: any table as named raw columns, which `encoding` then encodes.

What the user passes goes through these modules:

    containers     opens what holds the table: an array, a list of rows, a dict of columns, a frame
    arrow          lets a loaded library read what only speaks Arrow's protocol, and reads pyarrow's memory
    feature_kinds  reads `categorical_features` and `ordered_features`: what the user said of columns
    columns        reads one column of any library, with numpy_columns for arrays, object_columns for Python's objects
                   and library_factors for text and categories of data-frame libraries
    whole_numbers  refuses integers that float64 would round
    factors        holds text and other labels as codes
    table          is what comes out: raw columns with names
    training       puts the columns together at fit
    fitted         puts them together as a fitted model expects them
    target         reads y and the weights; number_target reads a y of numbers

Single columns (of metrics, measures of attributes, files in batches) are read by the modules for columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fasttree import _core
from fasttree.base.times import Times
from fasttree.base.values import column_label, short_repr
from fasttree.tables.byte_codes import ByteCodedNumbers
from fasttree.tables.categorical import Categorical
from fasttree.tables.columns import RawColumn, has_numbers, read_column, read_to_encode
from fasttree.tables.containers import columns_of, open_container
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
    sort_labels,
)
from fasttree.tables.feature_kinds import FeatureKinds, read_kinds
from fasttree.tables.number_target import NumberTarget, read_numbers
from fasttree.tables.table import Column, Table
from fasttree.tables.target import Target, read_groups, read_target, read_weights
from fasttree.tables.whole_numbers import check_whole_numbers, is_large, too_large_error

__all__ = [
    "MISSING_CODE",
    "UNKNOWN_CODE",
    "Categorical",
    "Column",
    "NumberTarget",
    "Table",
    "Target",
    "missing_value_error",
    "open_container",
    "read_groups",
    "read_numbers",
    "read_table",
    "read_target",
    "read_weights",
]


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
            check_whole_numbers(matrix, lambda j: column_label(names[j]))
            return Table(n_rows, names, named, matrix=matrix)
        kinds = replace(kinds, by_dtype=False)  # a matrix of bools is one of numbers
        sources = columns_of(matrix)
    columns: list[Any] = [None] * len(names)
    byte_codes = np.empty((len(names), n_rows), dtype=np.uint8) if to_encode else None

    # Text takes longest, and a thread that began such a column last would be waited for.
    order = sorted(range(len(names)), key=lambda j: has_numbers(sources[j]))

    def read(worker: int, task: int) -> None:
        j = order[task]
        try:
            where, source = column_label(names[j]), sources[j]
            codes_out = None if byte_codes is None else byte_codes[j]
            values = (
                read_column(where, source, n_rows)
                if codes_out is None
                else read_to_encode(where, source, n_rows, codes_out)
            )
            columns[j] = _fit_column(names[j], values, j, kinds, codes_out)
        except Exception as error:  # the first column in error is named, whatever the threads did
            columns[j] = error

    if run is None:
        for task in range(len(names)):
            read(0, task)
    else:
        run(read, len(names))
    for column in columns:
        if isinstance(column, Exception):
            raise column
    numeric = [j for j, column in enumerate(columns) if column.categories is None]
    kinds.check_ordered(numeric, names)
    return Table(n_rows, names, named, columns=tuple(columns), byte_codes=byte_codes)


def _fit_column(
    name: str,
    values: RawColumn | ByteCodedNumbers,
    j: int,
    kinds: FeatureKinds,
    byte_codes: np.ndarray | None,
) -> Column:
    where = column_label(name)
    if isinstance(values, ByteCodedNumbers):
        if j not in kinds.declared:
            return Column(name, byte_coded=values)
        values = values.values()
    if isinstance(values, Times):
        if j not in kinds.declared:
            return Column(name, values=values.values, time=values.kind)
        labels = factorize(values.objects(where))
    elif isinstance(values, Factor):
        labels = values
        if labels.large and j not in kinds.declared:
            raise too_large_error(where, next(filter(is_large, labels.labels)))
        if j not in kinds.declared and not kinds.by_dtype:
            numbers = label_numbers(labels)
            if numbers is not None:
                return Column(name, values=numbers)
            raise ValueError(
                f"{where} is categorical, with values such as {short_repr(labels.example)}, but "
                "is not listed in categorical_features: add it there, leave categorical_features "
                'at "from_dtype", or convert the column to numbers.'
            )
    else:
        if j not in kinds.declared and not (kinds.by_dtype and values.dtype.kind == "b"):
            check_whole_numbers(values, lambda _: where)
            return Column(name, values=values)
        labels = factorize_numbers(values)
    ordered = labels.ordered if kinds.ordered is None else j in kinds.ordered
    categories, meant = kinds.declared.get(j), j in kinds.declared
    column = Column(name, declared=labels.declared, ordered=ordered, meant=meant)
    if categories is not None:
        codes = _declared_codes(where, labels, categories)
        return replace(column, codes=codes, categories=categories, declared=True)
    in_bytes = byte_codes is not None and len(labels.labels) <= _core.MAX_BYTE_CODES
    labels = sort_labels(where, labels, byte_codes if in_bytes else labels.codes)
    return replace(column, codes=labels.codes, categories=tuple(labels.labels))


def _declared_codes(where: str, labels: Factor, categories: tuple[Any, ...]) -> np.ndarray:
    codes = recode(labels, code_index(categories))
    unknown = codes == UNKNOWN_CODE
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"{where} contains {short_repr(labels.value(row))} in row {row}, which is not one of "
            f"its categories in categorical_features, {short_repr(list(categories))}: add it to the list."
        )
    return codes
