# SPDX-License-Identifier: BSD-3-Clause
"""Every attribute's score at the root, best first: the table that textbooks work out by hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fasttree.base.elementary import log
from fasttree.base.hints import check_choice, knowing_its_parameters
from fasttree.encoding.encoded_table import EncodedTable
from fasttree.encoding.training_set import TrainingSet, training
from fasttree.growth.choosers.costs import check_costs
from fasttree.growth.grow import score_root
from fasttree.growth.params import CRITERIA, check_growth
from fasttree.stats.chance import score_tables
from fasttree.stats.mic import class_mic_of_codes, table_mic

# Measures of whole tables of counts: of the attribute as it stands, or of the two sides of its best cut.
OF_TABLES = ("ami", "smi", "adjusted_gini", "standardised_gini", "ad", "confidence_entropy", "mic")
_MOST_CELLS = 2**26
_TIE = 1e-10


class RankedAttribute(NamedTuple):
    """An attribute and the score of its best split; None if no split of it is possible."""

    name: str
    score: float | None


class Ranking(list[RankedAttribute]):
    """Ranked attributes, best first. Prints as a table."""

    def __repr__(self) -> str:
        width = max((len(name) for name, _ in self), default=0)
        return "\n".join(
            f"{name:<{width}}  {'no split' if score is None else format(score, '.6f')}"
            for name, score in self
        )


@knowing_its_parameters
def rank_attributes(
    X: Any,
    y: Any = None,
    *,
    criterion: str = "entropy",
    categorical_split: str = "multiway",
    categorical_features: Any = "from_dtype",
    ordered_features: Any = "from_dtype",
    max_bins: int | None = None,
    min_samples_leaf: float = 1,
    attribute_costs: Any = None,
    cost_function: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> Ranking:
    """Score every attribute by its best split of all rows.

    X is a table or `Columns` (then without y). The parameters are those of `TreeClassifier`. Attributes with equal
    scores are in the order of the columns.

    In addition to the criteria for growth, these measures are adjusted for chance: "ami", "smi", "adjusted_gini",
    "standardised_gini", "ad" (alpha 0.05) and "confidence_entropy"; 0 is no better than chance. They score a
    categorical attribute by the table of all its values, and a numeric or ordered one by the two sides of the cut with
    the largest information gain (they do not adjust for the choice of the cut). "mic" is the maximal information
    coefficient: of a numeric or ordered attribute over the best grid, of a categorical one over all its values.

    >>> import fasttree
    >>> X, y = fasttree.datasets.play_tennis()
    >>> fasttree.rank_attributes(X, y)
    Outlook      0.246750
    Humidity     0.151836
    Wind         0.048127
    Temperature  0.029223
    """
    of_tables = isinstance(criterion, str) and criterion in OF_TABLES
    if not of_tables and criterion not in tuple(CRITERIA):
        check_choice("criterion", criterion, dict.fromkeys((*CRITERIA, *OF_TABLES)))
    if of_tables and categorical_split != "multiway":
        raise ValueError(
            f'criterion={criterion!r} requires categorical_split="multiway" (it scores the table of all values), '
            f"got {categorical_split!r}"
        )
    params = check_growth(
        {
            "criterion": "entropy" if of_tables else criterion,
            "categorical_split": categorical_split,
            "missing": "fractional",
            "threshold": "midpoint",
            "max_depth": None,
            "max_leaves": None,
            "min_samples_split": 0,
            "min_samples_leaf": min_samples_leaf,
            "min_weight_fraction_leaf": 0.0,
            "min_gain": 0.0,
            "stop_zero_gain": False,
            "attribute_costs": attribute_costs,
        }
    )
    with training(
        X,
        y,
        sample_weight,
        categorical_features,
        max_bins,
        n_jobs,
        "fractional",
        ordered_features=ordered_features,
    ) as (rows, team):
        costs = check_costs(attribute_costs, cost_function, rows.encoded.schema.names)
        if of_tables:
            scores = _score_tables(rows, criterion, params.min_samples_leaf)
            if costs is not None:
                scores = costs.adjusted_score(
                    scores[:, np.newaxis], np.zeros((len(scores), 1), dtype=bool)
                )[:, 0]
        else:
            scores = score_root(rows.encoded, params, team, rows.weights, rows.used_up, costs)
    names = rows.encoded.schema.names
    best_first = np.argsort(-scores, kind="stable")
    return Ranking(
        RankedAttribute(names[a], float(scores[a]) if np.isfinite(scores[a]) else None)
        for a in best_first
    )


def _score_tables(rows: TrainingSet, measure: str, min_leaf: float) -> np.ndarray:
    """The measure of each attribute, -inf where it has no split."""
    encoded = rows.encoded
    weight = np.ones(encoded.n_rows)
    if rows.weights is not None:
        weight = rows.weights.quantised / rows.weights.steps_per_unit
        min_leaf -= 1e-10 * encoded.n_rows if rows.weights.steps_per_unit > 1 else 0.0
        min_leaf = min_leaf if min_leaf > 1 else 0.0
    scores = np.full(encoded.n_attributes, -np.inf)
    if np.count_nonzero(np.bincount(encoded.y, weight)) < 2:
        return scores
    for attribute in range(encoded.n_attributes):
        column = _sorted_column(encoded, attribute, weight)
        by_value = encoded.schema.attributes[attribute].categories is not None
        if by_value and not encoded.schema.attributes[attribute].ordered:
            table = column.table()
            if np.count_nonzero(table.sum(axis=1) >= max(min_leaf, _TIE)) < 2:
                continue
            score = table_mic(table) if measure == "mic" else None
        else:
            best = column.best_cut(min_leaf)
            if best is None:
                continue
            table = best
            score = column.mic() if measure == "mic" else None
        if score is None:
            scores[attribute] = score_tables(measure, [table], missing=column.missing)[0]
        else:
            scores[attribute] = score * table.sum() / (table.sum() + column.missing)
    return scores


class _SortedColumn(NamedTuple):
    """The rows that know an attribute, in the order of its values."""

    name: str
    code: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    n_classes: int
    missing: float  # weight of the others

    def table(self) -> np.ndarray:
        """Counts [value, class]."""
        value = np.unique(self.code, return_inverse=True)[1]
        n_values = int(value.max(initial=-1)) + 1
        if n_values * self.n_classes > _MOST_CELLS:
            raise ValueError(
                f"column {self.name!r} has {n_values} values and y has {self.n_classes} classes, but a table may have "
                f"at most {_MOST_CELLS} cells: leave the column out, or use another criterion"
            )
        cells = np.bincount(
            value * self.n_classes + self.y, self.weight, minlength=n_values * self.n_classes
        )
        return cells.reshape(n_values, self.n_classes)

    def mic(self) -> float:
        return class_mic_of_codes(self.code, self.y, self.weight)

    def best_cut(self, min_leaf: float) -> np.ndarray | None:
        """The table of the two sides of the cut with the largest information gain; the first of equals."""
        total = self.weight.sum()
        cuts = np.flatnonzero(np.diff(self.code) > 0)
        left = np.cumsum(self.weight)[cuts]
        possible = (left >= min_leaf) & (total - left >= min_leaf)
        cuts, left = cuts[possible], left[possible]
        if not len(cuts):
            return None
        # What one more row on the left changes: its class there, and its class on the right.
        order = np.argsort(self.y, kind="stable")
        of_class = np.bincount(self.y, self.weight, minlength=self.n_classes)
        through = np.cumsum(self.weight[order])
        before_class = (np.cumsum(of_class) - of_class)[self.y[order]]
        after = np.empty(len(order))
        after[order] = np.maximum(through - before_class, 0.0)
        before = np.maximum(after - self.weight, 0.0)
        whole = of_class[self.y]
        change = _n_log_n(after) - _n_log_n(before)
        change += _n_log_n(whole - after) - _n_log_n(whole - before)
        saved = np.cumsum(change)[cuts] - _n_log_n(left) - _n_log_n(total - left)
        best = int(cuts[np.argmax(saved >= saved.max() - _TIE * total)])
        sides = (np.arange(len(self.code)) > best) * self.n_classes + self.y
        cells = np.bincount(sides, self.weight, minlength=2 * self.n_classes)
        return cells.reshape(2, self.n_classes)


def _sorted_column(encoded: EncodedTable, attribute: int, weight: np.ndarray) -> _SortedColumn:
    row, code = encoded.sorted_codes(attribute)
    known = (code > 0) & (weight[row] > 0)
    missing = float(weight[row[code == 0]].sum())
    row, code = row[known], code[known]
    name = str(encoded.schema.attributes[attribute].name)
    return _SortedColumn(
        name, code, encoded.y[row].astype(np.int64), weight[row], encoded.n_classes, missing
    )


def _n_log_n(n: np.ndarray) -> np.ndarray:
    n = np.maximum(n, 0.0)
    return np.asarray(n * log(np.where(n > 0, n, 1.0)))
