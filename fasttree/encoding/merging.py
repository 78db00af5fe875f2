# SPDX-License-Identifier: BSD-3-Clause
"""Categories of few rows become one, which is called "other": for growth there is just one category more.

Which they are is counted for each tree, on the rows that it grows from. A table that was read for one schema is read
for that of a tree by `as_read_by`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fasttree import _core
from fasttree.base.checks import MAX_BINS
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.encoding.weights import IntegerWeights
from fasttree.tables.factors import MISSING_CODE, UNKNOWN_CODE, code_index
from fasttree.tables.schema import AttributeSchema, Schema
from fasttree.tables.table import Column, Table

NAME = "other"


def merged(
    table: EncodedTable, weights: IntegerWeights | None, least: float, in_place: bool = False
) -> EncodedTable:
    """The table with all categories of less weight than `least` as one in each column that has some.

    `in_place`: its codes and sorted lists may be written over. Categories that are ordered stay, since only neighbours
    could become one, and so do the two of a column of bools.
    """
    if least <= 1:
        return table
    rows = None if weights is None else weights.plain_rows(table.y)
    limit = least if weights is None else least * weights.steps_per_unit - weights.weight_tolerance
    attributes = list(table.schema.attributes)
    codes_of = {}
    for j, attribute in enumerate(attributes):
        if attribute.categories is None or attribute.ordered:
            continue
        categories = attribute.categories
        if all(isinstance(category, bool) for category in categories):
            continue
        codes = table.codes_of(j)
        weight = np.bincount(codes, rows, minlength=len(categories) + 1)[1:]
        is_few = weight < limit
        if not weight[is_few].any():  # there is nothing to be learned of them
            continue
        new_code = np.zeros(len(categories) + 1, dtype=np.int32)
        own = np.flatnonzero(~is_few)
        new_code[1 + own] = np.arange(1, len(own) + 1)
        new_code[1 + np.flatnonzero(is_few)] = len(own) + 1
        codes_of[j] = new_code[codes]
        attributes[j] = _merged_attribute(attribute, is_few)
    if not codes_of:
        return table
    return _with_codes(table, attributes, codes_of, in_place)


def _merged_attribute(attribute: AttributeSchema, is_few: np.ndarray) -> AttributeSchema:
    categories = tuple(attribute.categories or ())
    own = tuple(c for c, few in zip(categories, is_few.tolist(), strict=True) if not few)
    others = tuple(c for c, few in zip(categories, is_few.tolist(), strict=True) if few)
    return replace(attribute, categories=(*own, _name(categories)), others=others)


def _name(categories: Sequence[Any]) -> str:
    """What no category is called, so that nothing is mistaken for another."""
    taken, name, number = set(categories), NAME, 2
    while name in taken:
        name, number = f"{NAME} ({number})", number + 1
    return name


def _with_codes(
    table: EncodedTable,
    attributes: list[AttributeSchema],
    codes_of: dict[int, np.ndarray],
    in_place: bool,
) -> EncodedTable:
    """The table with other codes of some attributes, 0 where missing."""
    codes = table.codes if in_place else table.codes.copy()
    list_row, n_codes = table.list_row.copy(), table.n_codes.copy()
    sorted_entries = table.sorted_entries
    presorted = [j for j in codes_of if len(attributes[j].categories or ()) > MAX_BINS]
    if presorted and not in_place:
        sorted_entries = np.empty_like(sorted_entries)
        for row in list_row[list_row >= 0]:
            sorted_entries[row] = table.sorted_entries[row]
    for j, found in codes_of.items():
        n_categories = len(attributes[j].categories or ())
        n_codes[j] = n_categories + 1
        if j in presorted:
            _core.category_entries(
                found, n_categories, table.rank_shift, table.y, sorted_entries[list_row[j]]
            )
        else:
            codes[j] = found
            list_row[j] = -1
    return replace(
        table,
        schema=replace(table.schema, attributes=tuple(attributes)),
        codes=codes,
        list_row=list_row,
        n_codes=n_codes,
        sorted_entries=sorted_entries,
    )


def as_read_by(table: Table, schema: Schema, stops_at_unknown: bool = False) -> Table:
    """A table with the codes that a tree's schema has. `stops_at_unknown`: a category that nobody knows stays one;
    else it counts as one of few rows."""
    if table.columns is None or all(a.others is None for a in schema.attributes):
        return table
    pairs = zip(table.columns, schema.attributes, strict=True)
    columns = tuple(_read_by(column, attribute, stops_at_unknown) for column, attribute in pairs)
    return replace(table, columns=columns)


def _read_by(column: Column, attribute: AttributeSchema, stops_at_unknown: bool) -> Column:
    if attribute.others is None or column.categories == attribute.categories:
        return column
    assert column.codes is not None
    assert column.categories is not None
    code_of = code_index(attribute.seen_levels, attribute.seen_codes)
    unseen = UNKNOWN_CODE if stops_at_unknown else len(attribute.own_levels) + 1
    found = [code_of.get(category, unseen) for category in code_index(column.categories)]
    new_code = np.array([MISSING_CODE, *found, unseen], dtype=np.int32)  # -1 finds the last
    return replace(column, codes=new_code[column.codes], categories=attribute.categories)
