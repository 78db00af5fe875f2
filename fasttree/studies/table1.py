# SPDX-License-Identifier: BSD-3-Clause
"""Table 1: how often the outcome is in each level of each attribute, with Pearson's chi-square test."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from fasttree.base.times import time_text
from fasttree.base.values import to_python
from fasttree.datasets import cesarean_table1
from fasttree.stats.significance import chi_square
from fasttree.studies.design import columns_of
from fasttree.studies.results import Table1Level, Table1Variable
from fasttree.tables.training import Column, Table

MISSING = "Missing"
MOST_LEVELS = 20  # of an attribute that is shown
N_RANGES = 4  # into which numbers are cut, at their quartiles


def table1(
    table: Table,
    is_event: np.ndarray,
    titles: dict[str, str] | None = None,
    notes: dict[str, str] | None = None,
    left_out: Iterable[str] = (),
) -> tuple[Table1Variable, ...]:
    """Of the attributes in `titles`, or of all that have few levels; numbers in four ranges. Rows to which an attribute
    of `left_out` does not apply, rather than that they lack its value, are not counted as missing."""
    found = []
    for column in columns_of(table):
        if titles is not None and column.name not in titles:
            continue
        codes, levels = _levels(column)
        if not levels or (len(levels) > MOST_LEVELS and titles is None):
            continue
        rows = np.bincount(codes, minlength=len(levels) + 1)
        if not rows[1:].any():
            continue
        events = np.bincount(codes, weights=is_event, minlength=len(levels) + 1)
        lines = [(level, int(rows[k]), int(events[k])) for k, level in enumerate(levels, 1)]
        if rows[0] and column.name not in left_out:
            lines.append(("", int(rows[0]), int(events[0])))
        title = column.name if titles is None else titles[column.name]
        found.append(_variable(column.name, title, (notes or {}).get(column.name, ""), lines))
    return tuple(found)


def printed_table1() -> tuple[Table1Variable, ...]:
    """The published study's, its P values found again from its counts."""
    lines: dict[str, list[tuple[str, int, int]]] = {}
    titles, printed = {}, {}
    for row in cesarean_table1():
        lines.setdefault(row.column, []).append((row.level, row.total, row.cesarean))
        titles[row.column], printed[row.column] = row.title, row.printed_p
    return tuple(_variable(c, titles[c], "", lines[c], printed[c]) for c in lines)


def _variable(
    name: str, title: str, note: str, lines: Sequence[tuple[str, int, int]], printed_p: str = ""
) -> Table1Variable:
    """The level "" is a missing value, which the test leaves out."""
    test = chi_square([[k, n - k] for level, n, k in lines if level and n])
    levels = tuple(
        Table1Level(level or MISSING, n, k, k / n if n else math.nan, not level)
        for level, n, k in lines
    )
    return Table1Variable(name, title, note, levels, test.statistic, test.df, test.p, printed_p)


def _levels(column: Column) -> tuple[np.ndarray, list[str]]:
    """Codes, 0 where missing, and the texts of the levels or ranges from code 1 on."""
    if column.codes is not None:
        return column.codes, [str(to_python(level)) for level in column.categories or ()]
    assert column.values is not None
    known = column.values[~np.isnan(column.values)]
    if not len(known):
        return np.zeros(len(column.values), dtype=int), []
    distinct = np.unique(known)
    if len(distinct) <= N_RANGES:
        codes = np.searchsorted(distinct, column.values)
        texts = [_text(value, column.time) for value in distinct.tolist()]
    else:
        # Upper ends that are values, so that every range holds some.
        ends = np.unique(
            np.quantile(known, np.arange(1, N_RANGES) / N_RANGES, method="inverted_cdf")
        )
        codes = np.searchsorted(ends, column.values)
        texts = [f"up to {_text(value, column.time)}" for value in ends.tolist()]
        if known.max() > ends[-1]:
            texts.append(f"above {_text(float(ends[-1]), column.time)}")
    return np.where(np.isnan(column.values), 0, codes + 1), texts


def _text(value: float, time: str | None) -> str:
    return f"{value:g}" if time is None else time_text(value, time)
