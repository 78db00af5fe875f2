# SPDX-License-Identifier: BSD-3-Clause
"""Log odds that are a sum over attributes, such that each category of each attribute has the rate asked for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from fasttree.base.elementary import exp, log
from fasttree.base.linear import solve
from fasttree.tables.training import Categorical

SMALLEST_RATE = 1e-3  # a category without cesareans would have a log odds of minus infinity
LARGEST_STEP, MOST_STEPS = 2.0, 100  # of Newton's method
PRECISION = 1e-10  # of the mean probabilities
NO_COLUMN = -1  # the reference category of a factor, and rows that it does not apply to


@dataclass(frozen=True, slots=True, eq=False)
class SurveyColumn:
    """A categorical attribute: `states[codes[row]]`, "" where missing, None where it does not apply (code -1)."""

    name: str
    states: tuple[str, ...]
    codes: np.ndarray
    rates: tuple[float, ...] | None  # of cesareans in each state, where Table 1 says

    def categorical(self, missing: np.ndarray | None = None) -> Categorical:
        labels = [state for state in self.states if state]
        code_of = np.array([labels.index(s) if s else -1 for s in self.states] + [-1])
        codes = code_of[self.codes]
        if missing is not None:
            codes[missing] = -1
        return Categorical.from_codes(codes, labels)


def calibrated(told: list[SurveyColumn], offset: np.ndarray, overall: float) -> list[Any]:
    """A constant, and what each state of each factor adds to the log odds, such that the mean probability over the rows
    of each state is its rate, and `overall` that of all.

    These are the equations of a logistic regression whose outcomes are the rates; Newton's method solves them. The
    most frequent state of a factor is the reference, whose rate follows from the others'.
    """
    wanted = [overall * len(offset)]
    column_of = []
    for factor in told:
        assert factor.rates is not None
        count = np.bincount(factor.codes[factor.codes >= 0], minlength=len(factor.states))
        columns = np.full(len(factor.states) + 1, NO_COLUMN)  # the last is that of code -1
        for state in range(len(count)):
            if state != count.argmax():
                columns[state] = len(wanted)
                rate = np.clip(factor.rates[state], SMALLEST_RATE, 1 - SMALLEST_RATE)
                wanted.append(float(rate * count[state]))
        column_of.append(columns)
    column_of_row = [columns[factor.codes] for columns, factor in zip(column_of, told, strict=True)]
    solved = np.append(_solve(column_of_row, np.array(wanted), offset), 0.0)
    return [solved[0], *(solved[columns] for columns in column_of)]


def _solve(column_of_row: list[np.ndarray], target: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """The coefficients for which the probabilities have these sums over the rows of each column. `column_of_row`: for
    each factor the column of each row; column 0 is that of all rows."""
    # Columns are only counted, so a count of pairs of columns does for a product of matrices.
    n = len(target) + 1
    in_columns = [
        np.zeros(len(offset), dtype=np.int64),
        *(np.where(p < 0, n - 1, p) for p in column_of_row),
    ]
    coefficients = np.zeros(n)  # the last belongs to no column, and stays 0
    overall = target[0] / len(offset)
    coefficients[0] = log(overall / (1 - overall))
    for _ in range(MOST_STEPS):
        log_odds = offset + sum(coefficients[column] for column in in_columns)
        p = 1 / (1 + exp(-log_odds))
        sums = sum(np.bincount(column, weights=p, minlength=n) for column in in_columns)
        gradient = target - np.asarray(sums)[:-1]
        if np.abs(gradient).max() < PRECISION * len(offset):
            return coefficients[:-1]
        curvature = np.zeros((n, n))
        for first, second in product(in_columns, repeat=2):
            pairs = np.bincount(first * n + second, weights=p * (1 - p), minlength=n * n)
            curvature += pairs.reshape(n, n)
        step = solve(curvature[:-1, :-1], gradient)
        coefficients[:-1] += step * min(1.0, LARGEST_STEP / np.abs(step).max())
    raise ArithmeticError("the margins of Table 1 could not be reproduced")
