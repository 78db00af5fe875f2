# SPDX-License-Identifier: BSD-3-Clause
"""What is doubtful in a table that a model is to be fitted to: columns that may have been taken for what they are not.

A column of text has been coded by now, so these are questions to its distinct labels and to how often each comes, never
to every cell.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from shlex import quote

import numpy as np

from fasttree.base.values import column_label, short_repr
from fasttree.tables.table import Column, Table

FEWEST_ROWS = 50  # with fewer, any column may look odd
ODD = 10  # one cell of so many that have a value, at most, is not as the others
FEW_ROWS = 10  # a category, on average: many categories have few rows each ...
MANY = 20  # ... if there are so many
SUGGESTED = 20  # as min_category_count

_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
_DATE = re.compile(
    r"\s*(?:(\d{1,2})([-/.])(\d{1,2})\2(?:\d{4}|\d{2})|(\d{1,2})[-/. ]{1,2}[A-Za-z]{3,9}[-/., ]{1,2}\d{4}"
    r"|\d{4}([-/.])\d{1,2}\5\d{1,2})"
    r"(?:(?:\s+|T)\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[AaPp][Mm]|Z|[+-]\d{2}:?\d{2})?)?\s*"
)
_IS_CODE = re.compile(r"\s*0\d").match  # a number is not written so, but a code is: 0123
_BEGINS = frozenset("0123456789+-., \t")


class DataWarning(UserWarning):
    """A column may have been given the wrong kind, or a table contains less information than it seems to."""


@dataclass(frozen=True, slots=True)
class Remedies:
    """How the caller can change what was doubtful, as a part of a sentence; `{}` stands for the column,
    as a word of a command line."""

    keep: str = "list it in categorical_features"
    empty: str = "set such values to missing (None)"
    to_dates: str = "convert the column to dates first, with pandas.to_datetime or the like"
    to_numbers: str = "convert the column to numbers first"
    leave_out: str = "leave the column out"
    merge: str = f"set min_category_count={SUGGESTED}"
    unpruned: str = "pruning=None"

    def of(self, name: str) -> Remedies:
        """For a column."""
        return Remedies(*(getattr(self, f.name).replace("{}", quote(name)) for f in fields(self)))


_IN_PYTHON = Remedies()
# None: nobody is to be warned, since this is a fit within another call.
_remedies: ContextVar[Remedies | None] = ContextVar("remedies", default=_IN_PYTHON)


@contextmanager
def speaking(remedies: Remedies | None) -> Iterator[None]:
    """Warnings within name these remedies; None: there are none."""
    token = _remedies.set(remedies)
    try:
        yield
    finally:
        _remedies.reset(token)


def warn_of_columns(table: Table) -> None:
    """A warning for each doubtful column."""
    remedies = _remedies.get()
    if remedies is None or table.columns is None or table.n_rows < FEWEST_ROWS:
        return
    for column in table.columns:
        text = _doubt(column, remedies.of(column.name))
        if text is not None:
            warn(text)


def warn(text: str) -> None:
    """At the line of the user's program that called this library."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, DataWarning, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module == "contextlib" or module.partition(".")[0] == "fasttree"


def remedies() -> Remedies | None:
    """The remedies that a warning may name now; None: it may not be given."""
    return _remedies.get()


def has_many(n_levels: int, n_rows: float) -> bool:
    """Has a column so many categories that most are of few rows?"""
    return n_levels >= MANY and n_levels * FEW_ROWS > n_rows


# -- a column --------------------------------------------------------------------------------------


def _doubt(column: Column, remedies: Remedies) -> str | None:
    labels = column.categories
    if not labels or column.declared or column.meant or not isinstance(labels[0], str):
        return None
    may_be_unique = _are_most(len(labels), FEWEST_ROWS)
    if not may_be_unique and not any(label[:1] in _BEGINS for label in labels):
        return None
    count = _counts(column, len(labels))
    total = int(count.sum())
    if total < FEWEST_ROWS:
        return None
    where = column_label(column.name)
    categories = f"{len(labels):,} {'category' if len(labels) == 1 else 'categories'}"
    for kind, pattern in (("number", _NUMBER), ("date", _DATE)):
        odd = _odd_ones(list(labels), count, total, pattern)
        if odd is None:
            continue
        if odd:
            n_odd = int(count[odd].sum())
            remedy = remedies.empty + (f" and {remedies.to_dates}" if kind == "date" else "")
            return (
                f"{where} was read as {categories} instead of {kind}s, because {n_odd:,} of its {total:,} "
                f"values {f'is not a {kind}' if n_odd == 1 else f'are not {kind}s'}, such as "
                f"{short_repr(labels[odd[0]])}: "
                f"{remedy}, or {remedies.keep} if its values are categories"
            )
        remedy = remedies.to_dates
        if kind == "number":
            remedy = remedies.to_numbers
            if any("," in label for label in labels):
                kind = "number with a decimal comma"
            elif len(labels) < MANY or any(map(_IS_CODE, labels)):
                break  # names of categories that happen to be numbers
        return (
            f"{where} contains text such as {short_repr(labels[0])}, which looks like a {kind}, and was read as "
            f"{categories}: {remedy}, or {remedies.keep} if its values are categories"
        )
    if _are_most(len(labels), total):
        return (
            f"{where} has {len(labels):,} distinct values in {total:,} rows, so it does not generalise to new rows: "
            f"{remedies.leave_out}, or {remedies.merge}"
        )
    return None


def _are_most(n: int, total: int) -> bool:
    return ODD * (total - n) <= total


def _counts(column: Column, n_labels: int) -> np.ndarray:
    """The rows of each label."""
    assert column.codes is not None
    return np.bincount(column.codes, minlength=n_labels + 1)[1:]


def odd_among_numbers(labels: list[str], count: np.ndarray) -> list[int] | None:
    """Which labels are no numbers, the most frequent first, if nearly all the others are; None if they are not."""
    return _odd_ones(labels, count, int(count.sum()), _NUMBER)


def _odd_ones(
    labels: list[str], count: np.ndarray, total: int, pattern: re.Pattern[str]
) -> list[int] | None:
    """The labels that do not match, the most frequent first; None as soon as they are too many."""
    n_odd, odd = 0, []
    for i in np.argsort(-count, kind="stable").tolist():
        label = labels[i]
        if label[:1] in _BEGINS and pattern.fullmatch(label) and _is_day(pattern, label):
            continue
        odd.append(i)
        n_odd += int(count[i])
        if not _are_most(total - n_odd, total):
            return None
    return odd


def _is_day(pattern: re.Pattern[str], label: str) -> bool:
    """Can a text that matches be a day and a month?"""
    if pattern is not _DATE:
        return True
    found = _DATE.fullmatch(label)
    assert found is not None
    day, month = found[1], found[3]
    if day is None:
        return True
    return max(int(day), int(month)) <= 31 and min(int(day), int(month)) <= 12
