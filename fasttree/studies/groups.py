# SPDX-License-Identifier: BSD-3-Clause
"""A table of anybody's as the groups of a study: read, checked, and cut in halves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fasttree.base.times import time_text
from fasttree.base.values import short_repr, to_python
from fasttree.base.wording import plural
from fasttree.encoding.folds import assign_stratified, value_hashes
from fasttree.studies.design import columns_of, is_missing
from fasttree.tables.doubts import warn_of_columns
from fasttree.tables.training import Column, Table, Target, open_container, read_table, read_target

FEWEST_ROWS = 50
FEWEST_OF_A_CLASS = 10
MOST_GROUPS = 12
WHOLE = "all rows"


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The rows of a group with the attributes that say something about them."""

    name: str
    rows: np.ndarray  # numbers in the whole table
    table: Table
    target: Target
    is_event: np.ndarray
    left_out: dict[str, str]  # attribute -> why

    def halves(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows to train on and those to test on: half of each class. The draw goes by the values of the
        rows, not by their order."""
        hashes = value_hashes(self.table.values(), self.table.n_rows, seed)
        part = assign_stratified(hashes, self.target.codes, 2).of_rows()
        return np.flatnonzero(part == 0), np.flatnonzero(part == 1)


@dataclass(frozen=True, slots=True, eq=False)
class StudyTable:
    """All the rows, and their groups."""

    table: Table
    is_event: np.ndarray
    event: str
    groups: tuple[Group, ...]
    notes: tuple[str, ...]


def read_study_table(data: Any, target: Any, by: str | None, event: Any) -> StudyTable:
    """`target` is the name of a column, or the outcomes themselves."""
    container = open_container(data)
    if container.matrix is not None:
        raise TypeError(
            "data must be a table with named columns, such as a dict of columns or a data frame, got an array"
        )
    columns = dict(zip(container.names, container.columns, strict=True))
    outcomes = target
    if target is None:
        raise ValueError(
            f"target must be the column with the outcome, one of {_listed(container.names)}, got None"
        )
    if isinstance(target, str):
        outcomes = _take("target", target, columns)
    read = read_target(outcomes, container.n_rows)
    is_event, labels = _event(read, event, target)
    parts, notes = _parts(by, columns, container.n_rows)
    if not columns:
        raise ValueError(
            "data has no columns besides the outcome and the groups: add at least one attribute"
        )
    table = read_table(columns)
    warn_of_columns(table)
    groups = tuple(_group(name, rows, table, is_event, labels) for name, rows in parts)
    return StudyTable(table, is_event, labels[1], groups, notes)


def _take(role: str, name: str, columns: dict[str, Any]) -> Any:
    if name not in columns:
        raise ValueError(
            f"{role} must be a column of data, {_listed(columns)}, got {short_repr(name)}"
        )
    return columns.pop(name)


def _listed(names: Any) -> str:
    names = list(map(repr, names))
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def _event(target: Target, event: Any, name: Any) -> tuple[np.ndarray, tuple[str, str]]:
    """Which rows have the event, and the labels of the others and of the event: of two classes the second, if nothing
    is said."""
    classes = [to_python(label) for label in target.classes]
    called = f"the target {name!r}" if isinstance(name, str) else "the target"
    if len(classes) != 2:
        raise ValueError(
            f"{called} must have two classes, but it has {len(classes)}: {short_repr(classes)}. "
            "Leave rows out, or merge classes"
        )
    texts = [str(label) for label in classes]
    if event is None:
        return target.codes == 1, (texts[0], texts[1])
    if str(to_python(event)) not in texts:
        raise ValueError(
            f"event must be a class of {called}, {short_repr(classes)}, got {short_repr(event)}"
        )
    place = texts.index(str(to_python(event)))
    return target.codes == place, (texts[1 - place], texts[place])


def _parts(
    by: str | None, columns: dict[str, Any], n_rows: int
) -> tuple[list[tuple[str, np.ndarray]], tuple[str, ...]]:
    if by is None:
        return [(WHOLE, np.arange(n_rows))], ()
    column = columns_of(read_table({by: _take("by", by, columns)}))[0]
    missing = is_missing(column)
    codes, names = _coded(by, column)
    notes = []
    if missing.any():
        notes.append(
            f"Left out because {by} is missing: {plural(int(np.count_nonzero(missing)), 'row')}"
        )
    parts = [(name, np.flatnonzero(codes == code)) for code, name in enumerate(names, 1)]
    return [(name, rows) for name, rows in parts if len(rows)], tuple(notes)


def _coded(by: str, column: Column) -> tuple[np.ndarray, list[str]]:
    if column.codes is not None:
        codes, labels = column.codes, list(column.categories or ())
    else:
        assert column.values is not None
        known = ~np.isnan(column.values)
        distinct, place = np.unique(column.values[known], return_inverse=True)
        codes = np.zeros(len(column.values), dtype=int)
        codes[known] = place + 1
        labels = [_number_label(value, column.time) for value in distinct.tolist()]
    if not codes.any():
        raise ValueError(
            f"by must be a column with values, but {by!r} has none: name another column, or leave by out"
        )
    if len(labels) > MOST_GROUPS:
        raise ValueError(
            f"by must be a column with at most {MOST_GROUPS} distinct values, one for each group, but {by!r} has "
            f"{len(labels)}: name another column, or leave by out"
        )
    return codes, [str(to_python(label)) for label in labels]


def _number_label(value: float, time: str | None) -> Any:
    if time is not None:
        return time_text(value, time)
    return int(value) if value == int(value) else value


def _group(
    name: str, rows: np.ndarray, table: Table, is_event: np.ndarray, labels: tuple[str, str]
) -> Group:
    n_events = int(np.count_nonzero(is_event[rows]))
    called = f"the group {name!r}" if name != WHOLE else "the table"
    if len(rows) < FEWEST_ROWS:
        raise ValueError(
            f"{called} has {len(rows)} rows, but a study needs at least {FEWEST_ROWS} to train on one half and "
            "test on the other: leave the group out, or merge it with another"
        )
    if n_events in (0, len(rows)):
        raise ValueError(
            f"{called} has only one outcome ({'all' if n_events else 'no'} rows are {labels[1]!r}), so there is "
            "nothing to predict: leave the group out, or merge it with another"
        )
    fewest = min(n_events, len(rows) - n_events)
    if fewest < FEWEST_OF_A_CLASS:
        raise ValueError(
            f"{called} has {fewest} rows of the rarer outcome, but a study needs at least {FEWEST_OF_A_CLASS}: leave "
            "the group out, or merge it with another"
        )
    kept, left_out = _usable(table, rows)
    if not kept:
        raise ValueError(
            f"{called} has no attribute with at least two different values: {', '.join(left_out)} cannot predict "
            "the outcome"
        )
    own = Table(len(rows), tuple(c.name for c in kept), True, columns=tuple(kept))
    # Class 1 is the event, for everything that comes after.
    codes = is_event[rows].astype(np.int32)
    two = Target(codes, np.array(labels, dtype=object), np.arange(2, dtype=np.int32))
    return Group(name, rows, own, two, is_event[rows], left_out)


def _usable(table: Table, rows: np.ndarray) -> tuple[list[Column], dict[str, str]]:
    kept: list[Column] = []
    left_out: dict[str, str] = {}
    for column in columns_of(table):
        own = column.take(rows)
        known = own.values if own.codes is None else own.codes
        assert known is not None
        known = known[~is_missing(own)]
        if not len(known):
            left_out[column.name] = "all values are missing in this group"
        elif known.min() == known.max() and len(known) == len(rows):
            left_out[column.name] = "all rows of this group have the same value"
        else:
            kept.append(own)
    return kept, left_out


def rows_with(table: Table, definition: dict[str, tuple[str, ...]]) -> np.ndarray:
    """The rows that have one of the levels of some attribute."""
    found = np.zeros(table.n_rows, dtype=bool)
    for column in _named(table, definition):
        if column.categories is None:
            raise ValueError(
                f"risk_factors lists categories of {column.name!r}, which is numeric: make it categorical, or "
                "leave it out"
            )
        texts = [str(to_python(level)) for level in column.categories]
        assert column.codes is not None
        for level in definition[column.name]:
            if level not in texts:
                raise ValueError(
                    f"risk_factors lists {level!r}, which is not a category of {column.name!r}: it has "
                    f"{short_repr(texts)}"
                )
            found |= column.codes == texts.index(level) + 1
    return found


def _named(table: Table, definition: dict[str, tuple[str, ...]]) -> Iterator[Column]:
    by_name = {column.name: column for column in columns_of(table)}
    for name in definition:
        if name not in by_name:
            raise ValueError(
                f"risk_factors lists {name!r}, which is not an attribute of data: it has {_listed(by_name)}"
            )
        yield by_name[name]
