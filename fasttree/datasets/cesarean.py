# SPDX-License-Identifier: BSD-3-Clause
"""A synthetic cohort of deliveries with the margins of a study's Table 1."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from fasttree.base.checks import check_integer, is_whole
from fasttree.base.elementary import exp
from fasttree.datasets import cesarean_attributes as attributes
from fasttree.datasets.as_frame import import_pandas
from fasttree.datasets.calibration import SurveyColumn, calibrated
from fasttree.tables.training import Categorical

N_ROWS = 22_157
FEWEST_ROWS = 100  # below, most conditions have no rows
PARITY = (("nulliparous", 10_197, 1_963), ("parous", 11_960, 1_772))  # with their cesareans
OVERALL = 3_735 / N_ROWS
CONDITIONS = attributes.CONDITIONS


class Cohort(NamedTuple):
    """A synthetic table, its outcome, and the probability of "yes" with which each outcome was drawn."""

    X: Any
    y: Any
    probability: np.ndarray


class Table1Row(NamedTuple):
    """A line of the study's Table 1. The level "" is a missing value."""

    column: str
    title: str
    level: str
    total: int
    cesarean: int
    printed_p: str


def make_cesarean_cohort(
    n_rows: int = N_ROWS,
    random_state: int | None = 0,
    *,
    as_frame: bool = False,
    interactions: bool = False,
) -> Cohort:
    """A synthetic cohort of deliveries. It is not the data of any study: no row describes a real woman.

    It has the margins of Table 1 of Sims and others, "Predicting cesarean delivery with decision tree models"
    (American Journal of Obstetrics and Gynecology 2000), 22,157 deliveries and 78 attributes: each category of an
    attribute has exactly the same number of rows as there, and the same expected rate of cesareans. Nothing else is
    known about the study's cohort, so the attributes are independent of each other, and the log odds of a cesarean are
    the sum of the contributions of the attributes of Table 1. The clinical conditions that the study mentions without
    figures have plausible frequencies; they and the other attributes have no effect on the outcome
    (`fasttree.datasets.cesarean_attributes`). Values are missing at random.

    `previous_cesarean` is missing for nulliparous women, to whom it does not apply.

    Parameters
    ----------
    n_rows : int
        At least 100. A number other than 22,157 scales all counts.
    random_state : int or None
        The seed; None is 0.
    as_frame : bool
        X and y as a pandas DataFrame and Series, else a dict of columns and a `Categorical`.
    interactions : bool
        Some pairs of categories, including conditions, increase or decrease the log odds. The margins and X do not
        change.

    >>> X, y, probability = make_cesarean_cohort(1000)
    >>> len(X), len(y), X["parity"].categories, y.categories
    (78, 1000, ('nulliparous', 'parous'), ('no', 'yes'))
    """
    n_rows = _check_rows(n_rows)
    seed = 0 if random_state is None else check_integer("random_state", random_state, 0, "None or ")
    values, others, draw = (np.random.default_rng([seed, stream]) for stream in range(3))
    drawn = _draw(n_rows, values)
    # In a small table the rarest categories have a row or two, from which no rate can be had.
    population = drawn if n_rows >= N_ROWS else _draw(N_ROWS, others)
    coefficients = calibrated(population.told, population.offset(interactions), OVERALL)
    log_odds = drawn.offset(interactions) + coefficients[0]
    for factor, added in zip(drawn.told, coefficients[1:], strict=True):
        log_odds += added[factor.codes]
    probability = 1 / (1 + exp(-log_odds))
    y = Categorical.from_codes(draw.random(n_rows) < probability, ("no", "yes"))
    X: dict[str, Any] = {factor.name: factor.categorical() for factor in drawn.told}
    for condition, factor in zip(CONDITIONS, drawn.conditions, strict=True):
        X[condition.name] = factor.categorical(_holes(condition.missing, n_rows, values))
    X |= _noise(n_rows, values)
    return _framed(X, y, probability) if as_frame else Cohort(X, y, probability)


def cesarean_table1() -> list[Table1Row]:
    """The study's Table 1 as printed.

    >>> row = cesarean_table1()[0]
    >>> row.title, row.level, row.total, row.cesarean
    ('African American race', 'no', 18592, 3221)
    """
    text = resources.files("fasttree.datasets").joinpath("cesarean_table1.csv").read_text("utf-8")
    _, *lines = csv.reader(text.splitlines())
    return [Table1Row(c, t, level, int(n), int(k), p) for c, t, level, n, k, p in lines]


def _check_rows(n_rows: Any) -> int:
    if not is_whole(n_rows):
        raise TypeError(f"n_rows must be an integer of at least {FEWEST_ROWS}, got {n_rows!r}")
    return check_integer("n_rows", n_rows, FEWEST_ROWS)


# -- attributes --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Draw:
    """The attributes that bear on the outcome, before values are lost."""

    told: list[SurveyColumn]  # by Table 1
    conditions: list[SurveyColumn]

    def offset(self, interactions: bool) -> np.ndarray:
        """What is added to the log odds beside what each attribute of Table 1 adds by itself."""
        if not interactions:
            return np.zeros(len(self.told[0].codes))
        return _interactions({factor.name: factor for factor in self.told + self.conditions})


def _draw(n_rows: int, rng: np.random.Generator) -> _Draw:
    return _Draw(_of_table1(n_rows, rng), _of_conditions(n_rows, rng))


def _of_table1(n_rows: int, rng: np.random.Generator) -> list[SurveyColumn]:
    names = [name for name, _, _ in PARITY]
    sizes = [total for _, total, _ in PARITY]
    parity = _factor("parity", names, sizes, tuple(k / n for _, n, k in PARITY), n_rows, rng)
    factors = [parity]
    lines: dict[str, list[Table1Row]] = {}
    for line in cesarean_table1():
        lines.setdefault(line.column, []).append(line)
    for name, rows in lines.items():
        states = [row.level for row in rows]
        totals = [row.total for row in rows]
        rates = tuple(row.cesarean / row.total for row in rows)
        if name != "previous_cesarean":
            factors.append(_factor(name, states, totals, rates, n_rows, rng))
            continue
        parous = np.flatnonzero(parity.codes == names.index("parous"))
        among = _factor(name, states, totals, rates, len(parous), rng)
        codes = np.full(n_rows, -1)
        codes[parous] = among.codes
        factors.append(SurveyColumn(name, among.states, codes, rates))
    return factors


def _of_conditions(n_rows: int, rng: np.random.Generator) -> list[SurveyColumn]:
    return [
        _factor(c.name, c.levels, (1 - c.share, c.share), None, n_rows, rng) for c in CONDITIONS
    ]


def _interactions(told: dict[str, SurveyColumn]) -> np.ndarray:
    """What pairs of categories add to the log odds, over and above each by itself."""

    def rows(name: str, state: str) -> np.ndarray:
        factor = told[name]
        return factor.codes == factor.states.index(state)

    nulliparous, artificial = rows("parity", "nulliparous"), rows("membrane_rupture", "artificial")
    return np.asarray(
        1.0 * (nulliparous & rows("fetal_distress", "yes"))
        + 0.7 * (nulliparous & rows("age", ">=35"))
        - 1.5 * (artificial & rows("previous_cesarean", "yes"))
        + 1.0 * (rows("fetal_growth", "macrosomia") & rows("diabetes", "insulin-dependent"))
    )


def _noise(n_rows: int, rng: np.random.Generator) -> dict[str, Any]:
    """Attributes that have nothing to do with the outcome."""
    X: dict[str, Any] = {}
    for choice in attributes.CHOICES:
        factor = _factor(choice.name, choice.levels, choice.shares, None, n_rows, rng)
        X[choice.name] = factor.categorical(_holes(choice.missing, n_rows, rng))
    for measurement in attributes.MEASUREMENTS:
        numbers = _normal(measurement, n_rows, rng)
        X[measurement.name] = _with_holes(numbers, measurement.missing, rng)
    for name, share in attributes.MARKS.items():
        factor = _factor(name, ("no", "yes"), (1 - share, share), None, n_rows, rng)
        missing = attributes.MARKS_MISSING.get(name, 0.0)
        X[name] = factor.categorical(_holes(missing, n_rows, rng))
    return X


def _factor(
    name: str,
    states: Iterable[str],
    sizes: Sequence[float],
    rates: tuple[float, ...] | None,
    n_rows: int,
    rng: np.random.Generator,
) -> SurveyColumn:
    states = tuple(states)
    codes = rng.permutation(np.repeat(np.arange(len(states)), _quotas(sizes, n_rows)))
    return SurveyColumn(name, states, codes, rates)


def _quotas(sizes: Sequence[float], n_rows: int) -> np.ndarray:
    """Whole numbers in these proportions that add up to the rows, by the largest remainders."""
    exact = np.asarray(sizes, dtype=np.float64) / math.fsum(sizes) * n_rows
    quotas = np.floor(exact + 1e-9).astype(np.int64)
    short = n_rows - int(quotas.sum())
    quotas[np.argsort(quotas - exact, kind="stable")[:short]] += 1
    return quotas


def _normal(
    measurement: attributes.Measurement, n_rows: int, rng: np.random.Generator
) -> np.ndarray:
    numbers = rng.normal(measurement.mean, measurement.sd, n_rows)
    steps = np.maximum(np.rint(numbers / measurement.step), 0)
    return np.round(steps * measurement.step, 6)


def _holes(share: float, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(n_rows)[: round(share * n_rows)]


def _with_holes(numbers: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    numbers = numbers.copy()
    numbers[_holes(share, len(numbers), rng)] = np.nan
    return numbers


def _framed(X: dict[str, Any], y: Categorical, probability: np.ndarray) -> Cohort:
    pandas = import_pandas()

    def column(values: Any) -> Any:
        if not isinstance(values, Categorical):
            return values
        return pandas.Categorical.from_codes(values.codes, categories=values.categories)

    frame = pandas.DataFrame({name: column(values) for name, values in X.items()})
    return Cohort(frame, pandas.Series(column(y), name="cesarean"), probability)
