# SPDX-License-Identifier: BSD-3-Clause
"""What permutation found out about the columns of a table, as a table; and the metrics by which it is found out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fasttree.base.printed_tables import aligned, data_frame, markdown
from fasttree.base.quoting import readable
from fasttree.base.sums import deviation, mean
from fasttree.stats import metrics


class Metric(NamedTuple):
    title: str
    of_rows: Callable[..., float]  # of class numbers, predicted ones or shares, and weights
    takes_shares: bool = True
    sign: int = 1  # -1: less is better


def _accuracy(codes: np.ndarray, predicted: np.ndarray, weight: np.ndarray | None) -> float:
    return metrics.weighted_mean(codes == predicted, weight)


def _by_shares(measure: Callable[..., float]) -> Callable[..., float]:
    def of_rows(codes: np.ndarray, shares: np.ndarray, weight: np.ndarray | None) -> float:
        return measure(codes, shares, classes=range(shares.shape[1]), sample_weight=weight)

    return of_rows


METRICS = {
    "accuracy": Metric("accuracy", _accuracy, takes_shares=False),
    "auc": Metric("AUC", _by_shares(metrics.roc_auc)),
    "log_loss": Metric("log loss", _by_shares(metrics.log_loss), sign=-1),
    "brier": Metric("Brier score", _by_shares(metrics.brier_score), sign=-1),
}


@dataclass(frozen=True, eq=False)
class Importances:
    """The results of `permutation_importance`. Prints as a table, the most important column first.

    Attributes
    ----------
    names : tuple of str, the columns (and groups of columns) in the order of the model's table
    repeats : array [column, repeat], how much worse the metric is after each shuffle; negative if it is better by
    chance
    means : array, the mean over the shuffles of each column
    sds : array, their standard deviation; NaN for a single shuffle
    metric : str
    score : float, the metric before shuffling
    n_rows : int, the number of rows of weight above 0
    """

    names: tuple[str, ...]
    repeats: np.ndarray
    metric: str
    score: float
    n_rows: int
    library: str = ""  # that the user's table comes from

    @property
    def means(self) -> np.ndarray:
        return mean(self.repeats, axis=1)

    @property
    def sds(self) -> np.ndarray:
        if self.repeats.shape[1] < 2:
            return np.full(len(self.names), np.nan)
        return deviation(self.repeats, 1, axis=1)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def to_text(self) -> str:
        """Return the means and standard deviations as an aligned table."""
        return f"{self.heading}; {self.spread()}\n\n{aligned(self._cells(), n_left=1)}"

    def to_markdown(self) -> str:
        """Return the same as a Markdown table."""
        return f"{markdown(self._cells())}\n\n{self.heading}; {self.spread()}."

    def to_frame(self, backend: str | None = None, *, per_repeat: bool = False) -> Any:
        """Return a data frame in the order of the columns: one row per column, or one row per column and repeat.

        `backend` is "pandas", "polars" or "dict". None: that of X, else the library that is imported already, else a
        dict of columns.
        """
        n_repeats = self.repeats.shape[1]
        columns: dict[str, list[Any]] = {
            "column": list(self.names),
            "mean": self.means.tolist(),
            "sd": self.sds.tolist(),
        }
        if per_repeat:
            columns = {
                "column": [name for name in self.names for _ in range(n_repeats)],
                "repeat": list(range(n_repeats)) * len(self.names),
                "importance": self.repeats.ravel().tolist(),
            }
        return data_frame(columns, backend, self.library)

    def best_first(self) -> np.ndarray:
        """The places of the columns, the most important one first; equals in the order of the table."""
        return np.argsort(-self.means.round(12), kind="stable")

    @property
    def heading(self) -> str:
        """What the means are."""
        metric = METRICS[self.metric]
        change = "falls" if metric.sign > 0 else "rises"
        return f"How far the {metric.title} {change} from {self.score:.4f} on {self.n_rows:,} rows"

    def spread(self) -> str:
        """What stands beside them."""
        n_repeats = self.repeats.shape[1]
        if n_repeats == 1:
            return "1 shuffle"
        return f"mean (standard deviation) of {n_repeats} shuffles"

    def text_of(self, place: int) -> str:
        """Mean and standard deviation of a column."""
        sd = self.sds[place]
        return f"{self.means[place]:.4f}" + ("" if np.isnan(sd) else f" ({sd:.4f})")

    def _cells(self) -> list[list[str]]:
        places = self.best_first().tolist()
        rows = [[readable(self.names[place]), self.text_of(place)] for place in places]
        return [["column", "importance"], *rows]
