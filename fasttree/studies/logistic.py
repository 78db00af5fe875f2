# SPDX-License-Identifier: BSD-3-Clause
"""Logistic regression with its attributes selected at p < .05, as a clinical study does it.

Backward elimination from the model with all attributes, an attribute with all its columns at a time; then whatever was
dropped comes back, once, if it would be significant after all. A level whose training rows all have one outcome has no
finite coefficient by maximum likelihood: a ridge of 1e-6 keeps it finite, and the likelihood ratio decides about its
attribute, since Wald's test does not hold there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasttree.studies.design import VALUE, Design, Term, columns_of, is_missing
from fasttree.studies.logit import (
    LogitFit,
    backward,
    fit_logit,
    likelihood_ratio_p,
    predict,
    score_p,
    wald_p,
)
from fasttree.tables.training import Table

ALPHA = 0.05
FAR = 12.0  # a coefficient beyond this is on its way to infinity


@dataclass(frozen=True, slots=True, eq=False)
class LogisticModel:
    """A logistic regression of the attributes that were selected."""

    design: Design
    terms: tuple[Term, ...]  # of the selected attributes
    fit: LogitFit
    matrix: np.ndarray  # of the training rows, the constant first
    is_event: np.ndarray
    p_values: dict[str, float]  # of each selected attribute
    separated: tuple[str, ...]  # labels of selected terms without a finite estimate
    n_fits: int

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(term.attribute for term in self.terms))

    def predict(self, table: Table, rows: np.ndarray) -> np.ndarray:
        """The probability of the event in some rows of the table that the training rows are from."""
        chosen = Design(self.terms, {}, (), (), ())
        return predict(chosen.matrix(table, rows), self.fit.coefficients)


def fit_logistic(
    table: Table, rows: np.ndarray, is_event: np.ndarray, alpha: float = ALPHA
) -> LogisticModel:
    """Select and fit by the training `rows` of a table; `is_event` says of each of these what happened."""
    design = Design.of(table, rows)
    return _Selection(design, design.matrix(table, rows), is_event.astype(float), alpha).run()


def complete_rows(table: Table) -> np.ndarray:
    """Which rows have a value of every attribute."""
    complete = np.ones(table.n_rows, dtype=bool)
    for column in columns_of(table):
        complete &= ~is_missing(column)
    return complete


class _Selection:
    """The models that were tried on the way to the last."""

    def __init__(self, design: Design, matrix: np.ndarray, y: np.ndarray, alpha: float) -> None:
        self.design, self.matrix, self.y, self.alpha = design, matrix, y, alpha
        self.blocks = design.blocks()
        self.one_sided = _one_sided(design, matrix, y)
        self.n_fits = 0

    def run(self) -> LogisticModel:
        chosen = list(self.blocks)
        fit = self._fit(chosen, None, [])
        returned: set[str] = set()
        while True:
            dropped = self._dropped(chosen, fit)
            if not dropped:
                dropped = self._unlikely(chosen, fit)
            if dropped:
                kept = [name for name in chosen if name not in dropped]
                fit, chosen = self._fit(kept, fit, chosen), kept
                continue
            back = self._wanted_back(chosen, fit, returned)
            if back is None:
                return self._model(chosen, fit)
            returned.add(back)
            more = [name for name in self.blocks if name in chosen or name == back]
            fit, chosen = self._fit(more, fit, chosen), more

    def _columns(self, chosen: list[str]) -> np.ndarray:
        own = [self.blocks[name] for name in chosen]
        return np.sort(np.concatenate([np.zeros(1, dtype=np.int64), *own]))

    def _places(self, chosen: list[str], names: list[str]) -> dict[str, np.ndarray]:
        """Where the columns of some attributes are in the matrix of the chosen ones."""
        columns = self._columns(chosen)
        return {name: np.searchsorted(columns, self.blocks[name]) for name in names}

    def _fit(self, chosen: list[str], before: LogitFit | None, was: list[str]) -> LogitFit:
        """From the coefficients of the model before, which is not far."""
        self.n_fits += 1
        columns = self._columns(chosen)
        start = None
        if before is not None:
            whole = np.zeros(self.matrix.shape[1])
            whole[self._columns(was)] = before.coefficients
            start = whole[columns]
        return fit_logit(self.matrix[:, columns], self.y, start=start)

    def _separated(self, chosen: list[str], fit: LogitFit) -> np.ndarray:
        """Which of the model's columns have no finite coefficient by maximum likelihood."""
        columns = self._columns(chosen)
        far = np.abs(fit.coefficients) > FAR
        far[0] = False
        return np.asarray(self.one_sided[columns] | far)

    def _in_doubt(self, chosen: list[str], fit: LogitFit) -> list[str]:
        separated = self._separated(chosen, fit)
        places = self._places(chosen, chosen)
        return [name for name in chosen if separated[places[name]].any()]

    def _dropped(self, chosen: list[str], fit: LogitFit) -> list[str]:
        in_doubt = frozenset(self._in_doubt(chosen, fit))
        return backward(fit, self._places(chosen, chosen), in_doubt, self.alpha)

    def _unlikely(self, chosen: list[str], fit: LogitFit) -> list[str]:
        """The one attribute in doubt that the likelihood ratio speaks most against, if it does."""
        worst, largest = None, self.alpha
        for name in self._in_doubt(chosen, fit):
            p = self._ratio_p(name, chosen, fit)
            if p >= largest:
                worst, largest = name, p
        return [] if worst is None else [worst]

    def _ratio_p(self, name: str, chosen: list[str], fit: LogitFit) -> float:
        others = [other for other in chosen if other != name]
        return likelihood_ratio_p(fit, self._fit(others, fit, chosen), len(self.blocks[name]))

    def _wanted_back(self, chosen: list[str], fit: LogitFit, returned: set[str]) -> str | None:
        outside = {n: c for n, c in self.blocks.items() if n not in chosen and n not in returned}
        found = score_p(fit, self._columns(chosen), self.matrix, self.y, outside)
        best = min(found, key=found.__getitem__, default=None)
        return best if best is not None and found[best] < self.alpha else None

    def _model(self, chosen: list[str], fit: LogitFit) -> LogisticModel:
        columns = self._columns(chosen)
        terms = tuple(self.design.terms[column - 1] for column in columns[1:].tolist())
        separated = self._separated(chosen, fit)
        places, in_doubt = self._places(chosen, chosen), self._in_doubt(chosen, fit)
        p_values = {
            name: self._ratio_p(name, chosen, fit)
            if name in in_doubt
            else wald_p(fit, places[name])
            for name in chosen
        }
        labels = tuple(t.label for t, far in zip(terms, separated[1:], strict=True) if far)
        return LogisticModel(
            self.design,
            terms,
            fit,
            self.matrix[:, columns],
            self.y,
            p_values,
            labels,
            self.n_fits,
        )


def _one_sided(design: Design, matrix: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which columns are indicators whose rows all have one outcome."""
    one_sided = np.zeros(matrix.shape[1], dtype=bool)
    for column, term in enumerate(design.terms, 1):
        if term.kind != VALUE:
            of_rows = y[matrix[:, column] > 0]
            one_sided[column] = of_rows.min() == of_rows.max()
    return one_sided
