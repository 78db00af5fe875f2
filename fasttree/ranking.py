# SPDX-License-Identifier: BSD-3-Clause
"""Every attribute's score at the root, best first: the table that textbooks work out by hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fasttree.columns import training
from fasttree.costs import check_costs
from fasttree.grow import score_root
from fasttree.params import check_growth


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


def rank_attributes(
    X: Any,
    y: Any = None,
    *,
    criterion: str = "entropy",
    categorical_split: str = "multiway",
    categorical_features: Any = "from_dtype",
    max_bins: int | None = None,
    min_samples_leaf: float = 1,
    attribute_costs: Any = None,
    cost_function: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> Ranking:
    """Score every attribute by its best split of all the rows.

    X is a table or `Columns` (then without y). The parameters are those of `TreeClassifier`. Equal scores keep the
    order of the columns.

    >>> import fasttree
    >>> X, y = fasttree.datasets.play_tennis()
    >>> fasttree.rank_attributes(X, y)
    Outlook      0.246750
    Humidity     0.151836
    Wind         0.048127
    Temperature  0.029223
    """
    params = check_growth(
        {
            "criterion": criterion,
            "categorical_split": categorical_split,
            "missing": "fractional",
            "threshold": "midpoint",
            "max_depth": None,
            "max_leaves": None,
            "min_samples_split": 0,
            "min_samples_leaf": min_samples_leaf,
            "min_gain": 0.0,
            "stop_zero_gain": False,
        }
    )
    with training(X, y, sample_weight, categorical_features, max_bins, n_jobs, "fractional") as (
        rows,
        team,
    ):
        costs = check_costs(attribute_costs, cost_function, rows.encoded.schema.names)
        scores = score_root(rows.encoded, params, team, rows.weights, rows.used_up, costs)
    names = rows.encoded.schema.names
    best_first = np.argsort(-scores, kind="stable")
    return Ranking(
        RankedAttribute(names[a], float(scores[a]) if np.isfinite(scores[a]) else None)
        for a in best_first
    )
