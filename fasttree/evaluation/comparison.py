# SPDX-License-Identifier: BSD-3-Clause
"""Comparison: what cross-validation found out about several methods, as tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from fasttree.base.hints import check_choice
from fasttree.base.printed_tables import aligned, data_frame, markdown
from fasttree.base.sums import deviation
from fasttree.base.sums import mean as mean_of
from fasttree.encoding.draws import Folds
from fasttree.evaluation.differences import Difference, Differences
from fasttree.stats.special import student_t_tails

TIE = 1e-12  # means that differ by less are equally good


@dataclass(frozen=True, slots=True)
class FoldResult:
    """One method on one fold. NaN: not defined there, or the method does not say."""

    method: str
    fold: int
    n_train: int
    n_test: int
    accuracy: float
    auc: float
    auc_se: float  # by DeLong, from the rows of this fold
    log_loss: float
    brier: float
    leaves: float
    nodes: float
    depth: float
    attributes: float  # how many the tree asks for
    fit_seconds: float
    repeat: int = 0  # of the cross-validation, if there are several


class _Measure(NamedTuple):
    title: str
    places: int
    scale: float = 1.0
    best: Callable[[Iterable[float]], float] | None = None  # None: neither more nor less is better


MEASURES: dict[str, _Measure] = {
    "accuracy": _Measure("accuracy", 4, best=max),
    "auc": _Measure("AUC", 4, best=max),
    "log_loss": _Measure("log loss", 4, best=min),
    "brier": _Measure("Brier", 4, best=min),
    "leaves": _Measure("leaves", 1),
    "nodes": _Measure("nodes", 1),
    "depth": _Measure("depth", 1),
    "attributes": _Measure("attributes", 1),
    "fit_seconds": _Measure("fit ms", 1, scale=1000.0),
}
SHOWN = ("accuracy", "auc", "log_loss", "leaves", "depth", "fit_seconds")


# What the spread of a table is, in its heading: the sign ± is for standard errors alone.
SPREADS = {
    "se": "± standard error (corrected)",
    "sd": "(standard deviation between folds)",
}


class Spread(NamedTuple):
    """The mean of a measure over folds, the standard deviation between folds, and the standard error of the mean.

    The standard error allows for the training rows that folds share (Nadeau and Bengio 2003): the variance between
    folds is multiplied by 1/k + test/train, instead of 1/k as for independent folds. Folds on which the measure is
    undefined are left out; `n_folds` is the number of the others.
    """

    mean: float
    sd: float
    se: float
    n_folds: int

    @classmethod
    def of(cls, values: np.ndarray, shares: np.ndarray) -> Spread:
        """Of a value a fold, some of them NaN. `shares`: the test rows of each fold for each of its training rows."""
        known = ~np.isnan(values)
        n = int(np.count_nonzero(known))
        if n == 0:
            return cls(math.nan, math.nan, math.nan, 0)
        sd = deviation(values[known], 1) if n > 1 else math.nan
        return cls(mean_of(values[known]), sd, sd * math.sqrt(1 / n + mean_of(shares[known])), n)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The results of `compare_methods`. Prints as a table; `*` marks the best mean of a column.

    Attributes
    ----------
    methods : tuple of names
    folds : array, the fold of each row of the table; -1: the row is in no fold, and every model is trained on it; -2:
        its weight is divided over several folds, see `fold_weights`. If cross-validation was repeated, one column per
        repeat.
    per_fold : list of `FoldResult`, method by method
    encode_seconds : float
        The time for reading and encoding the table, which the methods share. The time of a fit does not include it,
        except for estimators of other libraries and those that encode the table themselves.
    """

    methods: tuple[str, ...]
    folds: np.ndarray
    per_fold: list[FoldResult]
    encode_seconds: float
    library: str = ""  # that the user's table comes from
    draws: tuple[Folds, ...] = ()  # one a repeat

    @property
    def n_repeats(self) -> int:
        """How many times all rows were assigned to folds."""
        return max(1, len(self.draws))

    @property
    def n_folds(self) -> int:
        """The number of folds of one repeat."""
        return len(self.per_fold) // len(self.methods) // self.n_repeats

    def fold_weights(self, fold: int, repeat: int = 0) -> np.ndarray:
        """Return the weight of each row of the table in a fold: a row of integer weight w is drawn like w rows."""
        return self.draws[repeat].weights(fold)

    @property
    def described(self) -> str:
        """A description for headings: "10 folds of 150 rows"."""
        times = f"{self.n_repeats} times " if self.n_repeats > 1 else ""
        return f"{times}{self.n_folds} folds of {len(self.folds):,} rows"

    def values(self, method: str, measure: str = "accuracy") -> np.ndarray:
        """Return a measure of a method, fold by fold."""
        check_choice("method", method, self.methods)
        _measure(measure)
        return np.array([getattr(r, measure) for r in self.per_fold if r.method == method], float)

    def spread(self, method: str, measure: str = "accuracy") -> Spread:
        """Return the mean, standard deviation and standard error of a measure over folds."""
        return Spread.of(self.values(method, measure), self._shares(method))

    def _shares(self, method: str) -> np.ndarray:
        return np.array([r.n_test / r.n_train for r in self.per_fold if r.method == method])

    def best(self, measure: str = "accuracy") -> list[str]:
        """Return the methods with the best mean: several in case of ties, none if the measure has no best value."""
        best = _measure(measure).best
        means = {method: self.spread(method, measure).mean for method in self.methods}
        known = [mean for mean in means.values() if not math.isnan(mean)]
        if best is None or not known:
            return []
        limit = best(known)
        return [m for m, mean in means.items() if math.isclose(mean, limit, abs_tol=TIE)]

    def differences(self, measure: str = "accuracy", baseline: str | None = None) -> Differences:
        """Return paired differences of a measure: of each method from `baseline`, or of all pairs of methods."""
        if baseline is None:
            pairs = list(combinations(self.methods, 2))
        else:
            self.values(baseline, measure)  # or an error that lists the methods
            pairs = [(method, baseline) for method in self.methods if method != baseline]
        return Differences(self._difference(first, second, measure) for first, second in pairs)

    def _difference(self, first: str, second: str, measure: str) -> Difference:
        by_fold = self.values(first, measure) - self.values(second, measure)
        mean, sd, corrected, n = Spread.of(by_fold, self._shares(first))
        se = sd / math.sqrt(n) if n else math.nan
        if math.isnan(sd):
            t = p_value = math.nan
        elif corrected <= TIE:
            t = 0.0 if abs(mean) <= TIE else math.copysign(math.inf, mean)
            p_value = 1.0 if t == 0 else 0.0
        else:
            t = mean / corrected
            p_value = student_t_tails(t, n - 1)
        return Difference(first, second, mean, se, corrected, t, p_value, by_fold)

    # -- tables ------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def to_text(self, measures: Sequence[str] = SHOWN, *, spread: str = "se") -> str:
        """Return the means as an aligned table. `spread`: "se", ± the standard error of the mean, corrected for the
        training rows that folds share; or "sd", the standard deviation between folds, in brackets."""
        cells = self._cells(measures, spread, lambda text: text + "*", lambda text: text + " ")
        return f"{self._heading(spread)}; * best\n\n{aligned(cells, n_left=1)}"

    def to_markdown(self, measures: Sequence[str] = SHOWN, *, spread: str = "se") -> str:
        """Return the same as a Markdown table; the best means are bold."""
        rows = self._cells(measures, spread, lambda text: f"**{text}**", lambda text: text)
        return f"{markdown(rows)}\n\n{self._heading(spread)}; the best values are bold."

    def to_frame(self, backend: str | None = None, *, per_fold: bool = False) -> Any:
        """The table as a data frame: a row a method, or a row a method and fold.

        `backend` is "pandas", "polars" or "dict". None: that of X, else the library that is imported already, else a
        dict of columns.
        """
        columns = self._fold_columns() if per_fold else self._method_columns()
        return data_frame(columns, backend, self.library)

    def _fold_columns(self) -> dict[str, list[Any]]:
        rows = [asdict(result) for result in self.per_fold]
        return {field.name: [row[field.name] for row in rows] for field in fields(FoldResult)}

    def _method_columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {"method": list(self.methods)}
        for measure in MEASURES:
            found = [self.spread(method, measure) for method in self.methods]
            columns[measure] = [spread.mean for spread in found]
            columns[f"{measure}_sd"] = [spread.sd for spread in found]
            columns[f"{measure}_se"] = [spread.se for spread in found]
        return columns

    def _heading(self, spread: str) -> str:
        return f"{self.described}, mean {SPREADS[spread]}"

    def _cells(
        self,
        measures: Sequence[str],
        spread: str,
        mark: Callable[[str], str],
        plain: Callable[[str], str],
    ) -> list[list[str]]:
        check_choice("spread", spread, SPREADS)
        if isinstance(measures, str):
            measures = [measures]
        shown_as = [_measure(measure) for measure in measures]
        best = {measure: self.best(measure) for measure in measures}
        table = [["method", *(plain(measure.title) for measure in shown_as)]]
        for method in self.methods:
            row = [method]
            for name, measure in zip(measures, shown_as, strict=True):
                found = self.spread(method, name)
                text = _number(found, spread, measure)
                row.append(mark(text) if method in best[name] else plain(text))
            table.append(row)
        return table


def _measure(name: str) -> _Measure:
    return MEASURES[check_choice("measure", name, MEASURES)]


def _number(found: Spread, spread: str, measure: _Measure) -> str:
    if math.isnan(found.mean):
        return "-"
    mean, sd, se = (f"{x * measure.scale:.{measure.places}f}" for x in found[:3])
    if found.n_folds < 2:
        return mean
    return f"{mean} ± {se}" if spread == "se" else f"{mean} ({sd})"
