# SPDX-License-Identifier: BSD-3-Clause
"""Tables with a target of numbers, for regression trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from fasttree.base.checks import check_integer, check_seed
from fasttree.datasets.as_frame import import_pandas
from fasttree.tables.training import Categorical

POINTS = (5.56, 5.70, 5.91, 6.40, 6.80, 7.05, 8.90, 8.70, 9.00, 9.05)

# Days that each adds to a stay. The shares are those of the patients, in percent.
WARDS = {
    "surgery": (35, 2.0),
    "medicine": (40, 1.0),
    "geriatrics": (15, 5.0),
    "day clinic": (10, 0.0),
}
SEVERITY = {"minor": (50, 0.0), "moderate": (35, 2.0), "major": (15, 6.0)}
MISSING_SHARE = 0.1


def ten_points(*, as_frame: bool = False) -> tuple[Any, Any]:
    """Ten points, x from 1 to 10 and a y that rises in two steps: the table that regression trees are taught with.

    >>> X, y = ten_points()
    >>> X["x"].tolist()[:3], y.tolist()[:3]
    ([1.0, 2.0, 3.0], [5.56, 5.7, 5.91])
    """
    X, y = {"x": np.arange(1.0, 11.0)}, np.array(POINTS)
    return _framed(X, y, "y") if as_frame else (X, y)


def make_hospital_stays(
    n_rows: int = 5000, *, random_state: int | None = 0, as_frame: bool = False
) -> tuple[Any, Any]:
    """Synthetic hospital stays and how many days each took, with categories, an ordered category and holes.

    Days depend on the ward, the severity, and, in geriatrics or from 75 years on, on whether it was an emergency; age
    adds a day for every 20 years above 40. What is left is chance of up to 3 days either way, which no attribute tells.
    `weight` has no effect. A tenth of the ages and of the weights are missing.

    >>> X, y = make_hospital_stays(200)
    >>> list(X), len(y)
    (['ward', 'severity', 'emergency', 'age', 'weight'], 200)
    >>> float(y.min()) >= 0.5
    True
    """
    n_rows = check_integer("n_rows", n_rows, 1)
    random = np.random.default_rng(check_seed(random_state))
    ward, of_ward = _drawn(random, n_rows, WARDS)
    severity, of_severity = _drawn(random, n_rows, SEVERITY)
    emergency = random.random(n_rows) < 0.3
    age = np.floor(18 + 75 * random.random(n_rows))
    weight = np.floor(45 + 60 * random.random(n_rows))
    frail = (ward == "geriatrics") | (age >= 75)
    days = 2 + of_ward + of_severity + np.where(emergency & frail, 4.0, 0.0)
    days += np.maximum(age - 40, 0) / 20
    # The sum of two uniform numbers: most stays are near what is expected.
    days += 3 * (random.random(n_rows) + random.random(n_rows) - 1)
    days = np.maximum(np.round(days * 2) / 2, 0.5)
    age[random.random(n_rows) < MISSING_SHARE] = np.nan
    weight[random.random(n_rows) < MISSING_SHARE] = np.nan
    X = {
        "ward": Categorical(ward, tuple(WARDS)),
        "severity": Categorical(severity, tuple(SEVERITY), ordered=True),
        "emergency": emergency,
        "age": age,
        "weight": weight,
    }
    return _framed(X, days, "days") if as_frame else (X, days)


def _drawn(
    random: np.random.Generator, n_rows: int, levels: dict[str, tuple[int, float]]
) -> tuple[np.ndarray, np.ndarray]:
    """A level for each row by the shares, and the days that it adds."""
    ends = np.cumsum([share for share, _ in levels.values()])
    place = np.searchsorted(ends, random.integers(0, 100, n_rows), side="right")
    names = np.array(list(levels), dtype=object)
    return names[place], np.array([days for _, days in levels.values()])[place]


def _framed(X: dict[str, Any], y: np.ndarray, name: str) -> tuple[Any, Any]:
    pandas = import_pandas()
    columns = {}
    for key, column in X.items():
        if isinstance(column, Categorical):
            codes = column.codes
            column = pandas.Categorical.from_codes(codes, column.categories, ordered=column.ordered)
        columns[key] = column
    return pandas.DataFrame(columns), pandas.Series(y, name=name)
