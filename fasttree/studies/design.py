# SPDX-License-Identifier: BSD-3-Clause
"""A table as the matrix of a regression: indicators of levels, standardised numbers, indicators of missing values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasttree.base.linear import products_of_columns
from fasttree.base.sums import deviation, mean
from fasttree.base.values import to_python
from fasttree.tables.training import MISSING_CODE, Column, Table

FEWEST_ROWS = 5  # a level with fewer training rows has no coefficient of its own
MOST_LEVELS = 60  # of an attribute; more are not worth a coefficient each
ALIAS = 1e-9  # of a column's length: less beside the columns before it is nothing
VALUE, MISSING = "value", "missing"


@dataclass(frozen=True, slots=True)
class Term:
    """One column of the matrix: a number (per standard deviation), a level, or that the value is missing."""

    attribute: str
    place: int  # of the attribute in the table
    level: str
    kind: str  # VALUE, MISSING or "level"
    code: int = -1
    mean: float = 0.0
    sd: float = 1.0

    @property
    def label(self) -> str:
        if self.kind == VALUE:
            return f"{self.attribute}, per {self.sd:.4g}"
        return f"{self.attribute} {'missing' if self.kind == MISSING else f'= {self.level}'}"


@dataclass(frozen=True, slots=True)
class Design:
    """The columns of a regression, beside the constant, as training rows determine them."""

    terms: tuple[Term, ...]
    references: dict[
        str, str
    ]  # the level of each categorical attribute that others are compared with
    pooled: tuple[str, ...]  # levels with too few rows, that count as the reference
    aliased: tuple[str, ...]  # columns that others make up
    too_many_levels: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, rows: np.ndarray) -> Design:
        """By the training `rows` of the table. The reference is the first level with enough rows."""
        terms: list[Term] = []
        references: dict[str, str] = {}
        pooled: list[str] = []
        too_many: list[str] = []
        for place, column in enumerate(columns_of(table)):
            if column.values is not None:
                terms += _of_numbers(column, place, rows)
                continue
            found, reference, few = _of_levels(column, place, rows)
            if len(found) > MOST_LEVELS:
                too_many.append(column.name)
                continue
            terms += found
            pooled += few
            if reference is not None:
                references[column.name] = reference
        whole = cls(tuple(terms), references, tuple(pooled), (), tuple(too_many))
        own = _independent(whole.matrix(table, rows))[1:]
        kept = tuple(term for term, is_own in zip(terms, own, strict=True) if is_own)
        aliased = tuple(t.label for t, is_own in zip(terms, own, strict=True) if not is_own)
        return cls(kept, references, tuple(pooled), aliased, tuple(too_many))

    def blocks(self) -> dict[str, np.ndarray]:
        """The columns of the matrix of each attribute."""
        found: dict[str, list[int]] = {}
        for column, term in enumerate(self.terms, 1):
            found.setdefault(term.attribute, []).append(column)
        return {name: np.array(columns) for name, columns in found.items()}

    def matrix(self, table: Table, rows: np.ndarray) -> np.ndarray:
        """The constant, then a column for each term."""
        columns = columns_of(table)
        matrix = np.ones((len(rows), 1 + len(self.terms)))
        for place, term in enumerate(self.terms, 1):
            column = columns[term.place]
            if column.codes is not None:
                codes = column.codes[rows]
                matrix[:, place] = codes == (MISSING_CODE if term.kind == MISSING else term.code)
                continue
            assert column.values is not None
            values = column.values[rows]
            missing = np.isnan(values)
            if term.kind == MISSING:
                matrix[:, place] = missing
            else:
                matrix[:, place] = np.where(missing, 0.0, (values - term.mean) / term.sd)
        return matrix


def columns_of(table: Table) -> list[Column]:
    if table.columns is not None:
        return list(table.columns)
    assert table.matrix is not None
    matrix = table.matrix
    return [Column(n, values=matrix[:, k].astype(float)) for k, n in enumerate(table.names)]


def is_missing(column: Column) -> np.ndarray:
    if column.codes is not None:
        return np.asarray(column.codes == MISSING_CODE)
    assert column.values is not None
    return np.isnan(column.values)


def _of_numbers(column: Column, place: int, rows: np.ndarray) -> list[Term]:
    assert column.values is not None
    values = column.values[rows]
    missing = ~np.isfinite(values)
    known = values[~missing]
    terms = []
    if len(known) and known.min() < known.max():
        terms.append(Term(column.name, place, VALUE, VALUE, mean=mean(known), sd=deviation(known)))
    if FEWEST_ROWS <= np.count_nonzero(missing) < len(rows):
        terms.append(Term(column.name, place, MISSING, MISSING))
    return terms


def _of_levels(
    column: Column, place: int, rows: np.ndarray
) -> tuple[list[Term], str | None, list[str]]:
    assert column.codes is not None
    assert column.categories is not None
    codes = column.codes[rows]
    count = np.bincount(codes, minlength=len(column.categories) + 1)
    n_missing = int(count[MISSING_CODE])
    terms, pooled = [], []
    reference: str | None = None
    for code, level in enumerate(column.categories, 1):
        name = str(to_python(level))
        if 0 < count[code] < FEWEST_ROWS:
            pooled.append(f"{column.name} = {name}")
        elif count[code] and reference is None:
            reference = name
        elif count[code]:
            terms.append(Term(column.name, place, name, "level", code))
    if FEWEST_ROWS <= n_missing < len(rows):
        terms.append(Term(column.name, place, MISSING, MISSING))
    elif 0 < n_missing < FEWEST_ROWS:
        pooled.append(f"{column.name} missing")
    return terms, reference, pooled


def _independent(matrix: np.ndarray) -> np.ndarray:
    """Which columns are no sums of multiples of those before them: Gram and Schmidt on the products of the columns."""
    products = products_of_columns(matrix)
    length = np.diag(products).copy()
    own = np.zeros(len(products), dtype=bool)
    for k in range(len(products)):
        own[k] = products[k, k] > ALIAS * length[k]
        if own[k]:
            row = products[k] / products[k, k]
            products -= np.outer(products[:, k], row)
    return own
