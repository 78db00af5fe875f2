# SPDX-License-Identifier: BSD-3-Clause
"""Random small problems for hypothesis: mixed tables with ties, weights and every stopping rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from candidates import Attribute, is_missing
from hypothesis import strategies as st
from reference import Grower

CRITERIA = ("entropy", "gain_ratio", "gini", "misclassification")
POLICIES = ("branch", "category")
WEIGHTS = ("none", "whole", "fractional")


@dataclass
class Problem:
    """A table, a target, weights and the parameters of a fit."""

    attributes: list[Attribute]
    y: list[int]
    weights: list[float] | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    dtype: str = "float64"

    @property
    def n_classes(self) -> int:
        return max(self.y) + 1

    @property
    def is_numeric(self) -> bool:
        return all(a.n_categories is None for a in self.attributes)

    def levels(self, place: int) -> list[str]:
        """Labels whose alphabetical order is not the declared one."""
        n_categories = self.attributes[place].n_categories or 0
        return [f"level {(7919 * code + 3) % 100_003:06d}" for code in range(n_categories)]

    def column(self, place: int) -> Any:
        import fasttree

        attribute = self.attributes[place]
        if attribute.n_categories is None:
            return np.array(attribute.values, dtype=self.dtype)
        return fasttree.Categorical(self.words(place, attribute.values), self.levels(place))

    def words(self, place: int, codes: Sequence[float]) -> np.ndarray:
        """Labels for codes: NaN is a missing value, -1 a level that nobody has heard of."""
        levels = self.levels(place)
        words = np.empty(len(codes), dtype=object)
        for row, code in enumerate(codes):
            if not is_missing(code):
                words[row] = levels[int(code)] if code >= 0 else "never seen"
        return words

    @property
    def X(self) -> Any:
        if self.is_numeric:
            return np.array([a.values for a in self.attributes], dtype=self.dtype).T
        return {f"column {place}": self.column(place) for place in range(len(self.attributes))}

    def asked(self, rows: Sequence[Sequence[float]]) -> Any:
        """Rows of numbers and codes as a table for a fitted model, see `words`."""
        if self.is_numeric:
            return np.array(rows, dtype=self.dtype)
        return {
            f"column {place}": np.array(values, dtype=self.dtype)
            if attribute.n_categories is None
            else self.words(place, values)
            for place, (attribute, values) in enumerate(
                zip(self.attributes, zip(*rows, strict=True), strict=True)
            )
        }

    @property
    def rows(self) -> list[tuple[float, ...]]:
        return list(zip(*(a.values for a in self.attributes), strict=True))

    def take(self, rows: list[int]) -> Problem:
        """The problem with these rows (again), in this order; weights come along."""
        return Problem(
            [Attribute([a.values[r] for r in rows], a.n_categories) for a in self.attributes],
            [self.y[r] for r in rows],
            None if self.weights is None else [self.weights[r] for r in rows],
            self.parameters,
            self.dtype,
        )

    def copies(self) -> Problem:
        """The problem with as many rows as its whole weights say instead of weights."""
        assert self.weights is not None
        copied = self.take([r for r, weight in enumerate(self.weights) for _ in range(int(weight))])
        copied.weights = None
        return copied

    def grower(self) -> Grower:
        return Grower(
            self.attributes, self.y, self.n_classes, weights=self.weights, **self.parameters
        )

    def fit(self, **changes: Any) -> Any:
        import fasttree

        model = fasttree.TreeClassifier(**(self.parameters | changes))
        return model.fit(self.X, np.array(self.y), sample_weight=self.weights)


def numeric_values(n_rows: int) -> st.SearchStrategy[list[float]]:
    few = st.integers(-2, 3).map(float)
    some = st.integers(0, 30).map(lambda k: k / 4)
    any_finite = st.floats(allow_nan=False, width=32)
    return st.one_of(
        *(st.lists(v, min_size=n_rows, max_size=n_rows) for v in (few, some)),
        st.lists(any_finite, min_size=n_rows, max_size=n_rows),
    )


@st.composite
def numeric_attributes(draw: st.DrawFn, n_rows: int) -> Attribute:
    return Attribute(draw(numeric_values(n_rows)))


@st.composite
def categorical_attributes(draw: st.DrawFn, n_rows: int, max_categories: int = 7) -> Attribute:
    n_categories = draw(st.integers(1, max_categories))
    codes = st.lists(st.integers(0, n_categories - 1), min_size=n_rows, max_size=n_rows)
    return Attribute(draw(codes), n_categories)


@st.composite
def with_holes(draw: st.DrawFn, attribute: Attribute) -> Attribute:
    """The attribute with none of its values missing, or some, or most, or all."""
    n_rows = len(attribute.values)
    share = draw(st.sampled_from((0, 1, 3, 5, 9, 10)))
    tenths = draw(st.lists(st.integers(0, 9), min_size=n_rows, max_size=n_rows))
    values = [
        math.nan if tenth >= 10 - share else value
        for value, tenth in zip(attribute.values, tenths, strict=True)
    ]
    return Attribute(values, attribute.n_categories)


@st.composite
def parameter_sets(draw: st.DrawFn) -> dict[str, Any]:
    chosen: dict[str, Any] = {
        "criterion": draw(st.sampled_from(CRITERIA)),
        "categorical_split": draw(st.sampled_from(("subset", "multiway"))),
        "ties": draw(st.sampled_from(("schema", "root_gain"))),
    }
    optional = {
        "threshold": st.sampled_from(("midpoint", "value")),
        "max_depth": st.integers(1, 4),
        "max_leaves": st.integers(2, 9),
        "min_samples_split": st.integers(2, 9),
        "min_samples_leaf": st.integers(1, 4),
        # Gains of small tables are simple fractions: a limit beside them is never a draw.
        "min_gain": st.sampled_from((0.0123457, 0.0512347, 0.1123459)),
        "stop_zero_gain": st.just(True),
    }
    for name, values in optional.items():
        if draw(st.integers(0, 3)) == 0:
            chosen[name] = draw(values)
    return chosen


@st.composite
def problems(
    draw: st.DrawFn,
    *,
    max_rows: int = 32,
    max_classes: int = 4,
    kinds: tuple[str, ...] = ("numeric", "categorical"),
    weights: tuple[str, ...] = ("none", "whole"),
    parameters: bool = True,
    holes: bool = False,
) -> Problem:
    n_rows = draw(st.integers(1, max_rows))
    attributes = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(kinds))
        attributes.append(
            draw(
                numeric_attributes(n_rows) if kind == "numeric" else categorical_attributes(n_rows)
            )
        )
    if holes:
        attributes = [draw(with_holes(attribute)) for attribute in attributes]
    labels = st.integers(0, draw(st.integers(1, max_classes)) - 1)
    y = draw(st.lists(labels, min_size=n_rows, max_size=n_rows))
    kind = draw(st.sampled_from(weights))
    row_weights: list[float] | None = None
    if kind == "whole":
        row_weights = [
            float(w) for w in draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
        ]
        row_weights[0] = max(row_weights[0], 1.0)
    elif kind == "fractional":
        row_weights = [
            w / 64 for w in draw(st.lists(st.integers(1, 200), min_size=n_rows, max_size=n_rows))
        ]
    # Every class must have a row that counts: what becomes of one without is not asked here.
    if row_weights is not None:
        y = [label if w > 0 else y[0] for label, w in zip(y, row_weights, strict=True)]
    present = sorted(set(y))
    y = [present.index(label) for label in y]
    chosen = draw(parameter_sets()) if parameters else {}
    if holes:
        chosen["missing"] = draw(st.sampled_from(POLICIES))
    return Problem(attributes, y, row_weights, chosen)


def medium(
    criterion: str,
    shape: str,
    n_classes: int,
    weighting: str,
    seed: int,
    n_rows: int = 1200,
    levels: tuple[int, ...] = (2, 5, 11),
    holes: float = 0.0,
    **parameters: Any,
) -> Problem:
    """A table with columns on both sides of every size at which an engine may change its ways."""
    rng = np.random.default_rng(seed)
    columns = [Attribute(rng.permutation(n_rows) / 8.0)]
    for n_values in (3, 20, 254, 255, 256, 257, 300):
        columns.append(Attribute((rng.integers(0, n_values, n_rows) / 4.0).tolist()))
    for n_levels in levels:
        columns.append(Attribute(rng.integers(0, n_levels, n_rows).tolist(), n_levels + 1))
    first, second = np.array(columns[1].values), np.array(columns[4].values)
    smooth = np.argsort(np.argsort(first * 10 + second + rng.normal(scale=20, size=n_rows)))
    y = (smooth * n_classes // n_rows).tolist()
    if holes:
        # Missing values that tell something: the more, the larger the class.
        for place, column in enumerate(columns):
            chance = holes * (0.5 + np.array(y) / n_classes) if place % 2 else holes
            gone = rng.random(n_rows) < chance
            columns[place] = Attribute(
                np.where(gone, np.nan, column.values).tolist(), column.n_categories
            )
    weights = {
        "none": None,
        "whole": rng.integers(0, 4, n_rows).astype(float).tolist(),
        "fractional": (rng.integers(1, 99, n_rows) / 7.0).tolist(),
    }[weighting]
    parameters = {"criterion": criterion, "categorical_split": shape} | parameters
    problem = Problem([Attribute(list(a.values), a.n_categories) for a in columns], y, weights)
    problem.parameters = parameters
    return problem


@st.composite
def any_rows(draw: st.DrawFn, problem: Problem, n_rows: int) -> list[tuple[float, ...]]:
    """Rows that a model of the problem may be asked about: with values on and off its thresholds, holes, and levels
    that nobody has heard of."""
    columns = []
    for attribute in problem.attributes:
        if attribute.n_categories is None:
            value = st.sampled_from(attribute.values) | st.floats(width=32)
        else:
            value = st.integers(-1, attribute.n_categories - 1) | st.just(math.nan)
        columns.append(draw(st.lists(value, min_size=n_rows, max_size=n_rows)))
    return list(zip(*columns, strict=True))
