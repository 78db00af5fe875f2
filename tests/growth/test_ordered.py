# SPDX-License-Identifier: BSD-3-Clause
"""Categories whose order counts: split by threshold, like the same column as numbers 0, 1, 2, ..."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from candidates import Attribute, is_missing
from hypothesis import given
from hypothesis import strategies as st
from reading import without_marks
from strategies import Problem, medium, parameter_sets, problems

import fasttree
from fasttree import Categorical, TreeClassifier

NAN = math.nan
SIZES = ["small", "medium", "large", "huge"]
SAME = (
    *("attribute", "first_child", "n_children", "depth", "parent", "multiplicity"),
    *("counts", "proba", "pred", "gain", "missing_branch", "missing_seen"),
)
POLICIES = ("branch", "category", "fractional", "surrogate")


@dataclass
class Twins:
    """A problem in which some categorical columns are ordered, and the same with numbers in their place."""

    problem: Problem
    ordered: list[int]

    @property
    def as_numbers(self) -> Problem:
        attributes = [
            Attribute(list(map(float, a.values))) if place in self.ordered else a
            for place, a in enumerate(self.problem.attributes)
        ]
        return Problem(
            attributes, self.problem.y, self.problem.weights, self.problem.parameters, "float64"
        )

    def fit(self, estimator: Any = TreeClassifier, **changes: Any) -> tuple[Any, Any]:
        names = [f"column {place}" for place in self.ordered]
        parameters = self.problem.parameters | changes
        models = []
        for problem, more in ((self.problem, {"ordered_features": names}), (self.as_numbers, {})):
            # Always a dict of columns, so that names fit.
            X = {f"column {p}": problem.column(p) for p in range(len(problem.attributes))}
            model = estimator(**parameters, **more)
            models.append(model.fit(X, np.array(problem.y), sample_weight=problem.weights))
        return models[0], models[1]

    def asked(self, rows: list[tuple[float, ...]]) -> tuple[Any, Any]:
        """Rows for the one and the other model; a level that was never seen (-1) is a missing number."""
        columns = list(zip(*rows, strict=True))
        ours, theirs = {}, {}
        for place, attribute in enumerate(self.problem.attributes):
            name, values = f"column {place}", columns[place]
            if attribute.n_categories is None:
                ours[name] = theirs[name] = np.array(values, dtype=float)
                continue
            ours[name] = self.problem.words(place, values)
            theirs[name] = ours[name]
            if place in self.ordered:
                theirs[name] = np.array([NAN if v < 0 else v for v in values], dtype=float)
        return ours, theirs


def assert_same_trees(twins: Twins, ours: Any, theirs: Any) -> None:
    tree, other = ours.tree_, theirs.tree_
    for name in SAME:
        assert np.array_equal(getattr(tree, name), getattr(other, name), equal_nan=False), name
    for node in np.flatnonzero(other.attribute >= 0):
        place = int(other.attribute[node])
        if place not in twins.ordered:
            assert np.array_equal(tree.threshold[node], other.threshold[node], equal_nan=True)
            continue
        attribute = twins.problem.attributes[place]
        entries = slice(int(tree.table_start[node]), int(tree.table_start[node + 1]))
        assert math.isnan(tree.threshold[node])
        assert tree.table_codes[entries].tolist() == [*range(1, attribute.n_categories + 1)]
        weights = twins.problem.weights or [1.0] * len(attribute.values)
        column = zip(attribute.values, weights, strict=True)
        trained = {int(value) for value, weight in column if weight > 0 and not is_missing(value)}
        for code, branch in enumerate(tree.table_branch[entries].tolist()):
            if code in trained or ours.threshold == "midpoint":
                assert branch == int(code > other.threshold[node]), f"level {code} at node {node}"


def assert_same_ways(twins: Twins, ours: Any, theirs: Any, rows: list[tuple[float, ...]]) -> None:
    X, numbers = twins.asked(rows)
    assert ours.apply(X).tolist() == theirs.apply(numbers).tolist()
    assert ours.predict(X).tolist() == theirs.predict(numbers).tolist()
    assert np.array_equal(ours.predict_proba(X), theirs.predict_proba(numbers))


# -- against numbers -----------------------------------------------------------------------------


@st.composite
def twins(draw: st.DrawFn, **kinds: Any) -> Twins:
    problem = draw(problems(parameters=False, **({"max_rows": 40, "holes": True} | kinds)))
    problem.parameters = draw(parameter_sets()) | {"missing": draw(st.sampled_from(POLICIES))}
    if problem.parameters["missing"] == "surrogate":
        problem.parameters["categorical_split"] = "subset"
    categorical = [p for p, a in enumerate(problem.attributes) if a.n_categories is not None]
    ordered = [place for place in categorical if draw(st.integers(0, 3)) > 0]
    return Twins(problem, ordered)


@given(twins())
def test_equals_numbers(pair: Twins) -> None:
    pair.problem.parameters.pop("threshold", None)
    ours, theirs = pair.fit()
    assert_same_trees(pair, ours, theirs)


@given(twins(kinds=("categorical",), max_rows=60))
def test_equals_numbers_without_other_columns(pair: Twins) -> None:
    ours, theirs = pair.fit()
    assert_same_trees(pair, ours, theirs)


@given(twins(), st.data())
def test_rows_with_other_holes_and_levels(pair: Twins, data: st.DataObject) -> None:
    pair.problem.parameters.pop("threshold", None)
    ours, theirs = pair.fit()
    rows = []
    for row in pair.problem.rows[:12]:
        lot = data.draw(st.lists(st.integers(-1, 9), min_size=len(row), max_size=len(row)))
        asked = []
        for value, drawn, attribute in zip(row, lot, pair.problem.attributes, strict=True):
            if attribute.n_categories is None:
                asked.append(NAN if drawn > 6 else value)
            else:  # a level, perhaps one never seen, or nothing
                asked.append(NAN if drawn > 6 else min(drawn, attribute.n_categories - 1))
        rows.append(tuple(asked))
    assert_same_ways(pair, ours, theirs, pair.problem.rows + rows)


@given(twins(), st.sampled_from([None, "j48"]), st.sampled_from([1, 2]))
def test_c45(pair: Twins, compat: str | None, m: int) -> None:
    pair.problem.parameters = {
        "compat": compat,
        "min_samples_leaf": m,
        "min_samples_split": 2 * m,
        "pruning": None,
    }
    ours, theirs = pair.fit(fasttree.C45Classifier)
    assert_same_trees(pair, ours, theirs)


@given(twins(), st.integers(2, 5))
def test_class_weights(pair: Twins, weight: int) -> None:
    pair.problem.parameters.pop("threshold", None)
    ours, theirs = pair.fit(class_weight={0: weight}, min_weight_fraction_leaf=0.05)
    assert_same_trees(pair, ours, theirs)


@pytest.mark.parametrize("missing", ["branch", "category", "fractional"])
@pytest.mark.parametrize("criterion", ["gini", "gain_ratio"])
def test_any_number_of_levels(criterion: str, missing: str) -> None:
    """On both sides of 255 levels, which are kept in two ways."""
    levels = (2, 254, 255, 256, 400)
    problem = medium(
        criterion, "subset", 3, "whole", 5, 900, levels, 0.2, missing=missing, max_depth=8
    )
    pair = Twins(problem, list(range(8, 8 + len(levels))))
    pair.problem.attributes = [problem.attributes[0], *problem.attributes[8:]]
    pair.ordered = [1, 2, 3, 4, 5]
    ours, theirs = pair.fit()
    assert_same_trees(pair, ours, theirs)
    assert_same_ways(pair, ours, theirs, pair.problem.rows)
    assert (ours.tree_.attribute > 0).any()


# -- which columns are ordered -------------------------------------------------------------------


def answers(model: Any, X: Any) -> list[str]:
    return model.predict(X).tolist()


def table() -> tuple[list[str], list[int]]:
    return ["small", "medium", "large", "huge"] * 3, [0, 0, 1, 1] * 3


def first_split(model: Any) -> list[int]:
    tree = model.tree_
    return tree.table_branch[: tree.table_start[1]].tolist()


def test_an_ordered_column_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    values, _ = table()
    # Small and huge against the others: one split of sets, two of order.
    y = [0, 1, 1, 0] * 3
    ordered = pandas.Categorical(values, SIZES, ordered=True)
    for column, is_ordered in ((ordered, True), (ordered.as_unordered(), False)):
        frame = pandas.DataFrame({"size": column})
        model = TreeClassifier().fit(frame, y)
        assert model.tree_.schema.attributes[0].ordered == is_ordered
        assert model.get_n_leaves() == (3 if is_ordered else 2)
        assert answers(model, frame) == y
        told = TreeClassifier(ordered_features=["size"]).fit(frame, y)
        assert told.get_n_leaves() == 3
        unordered = TreeClassifier(ordered_features=None).fit(frame, y)
        assert unordered.get_n_leaves() == 2


def test_our_own_ordered_column() -> None:
    values, y = table()
    X = {"size": Categorical(values, SIZES, ordered=True)}
    model = TreeClassifier(categorical_split="multiway").fit(X, y)
    assert model.get_n_leaves() == 2
    assert first_split(model) == [0, 0, 1, 1]
    assert answers(model, {"size": values}) == y  # the order is the model's


def test_order_declared_by_the_parameter() -> None:
    values, y = table()
    X = np.array(values, dtype=object)[:, np.newaxis]
    model = TreeClassifier(categorical_features={0: SIZES}, ordered_features=[0]).fit(X, y)
    assert first_split(model) == [0, 0, 1, 1]
    assert model.get_n_leaves() == 2


def test_text_shows_levels() -> None:
    values, y = table()
    X = {"size": Categorical(values, SIZES, ordered=True)}
    lines = without_marks(TreeClassifier().fit(X, y).to_text()).splitlines()
    assert len(lines) == 2
    assert "medium" in lines[0] or ("small" in lines[0] and "large" not in lines[0])
    assert all(line.startswith("size") for line in lines)
    assert not any("1.5" in line for line in lines)


# -- levels that are not there -------------------------------------------------------------------


def test_a_level_without_rows_goes_by_its_place() -> None:
    X = {"size": Categorical(["small", "huge"] * 3, [*SIZES, "giant"], ordered=True)}
    model = TreeClassifier().fit(X, [0, 1] * 3)
    # 0 and 3 are cut at 1.5.
    asked = {"size": ["small", "medium", "large", "huge", "giant"]}
    assert answers(model, asked) == [0, 0, 1, 1, 1]


def test_a_level_never_seen_has_no_place() -> None:
    values, y = table()
    X = {"size": Categorical([*values, None], SIZES, ordered=True)}
    y = [*y, 1]
    missing = TreeClassifier().fit(X, y)
    assert answers(missing, {"size": ["tiny"]}) == answers(missing, {"size": [None]}) == [1]
    majority = TreeClassifier(unknown="majority").fit(X, y)
    assert answers(majority, {"size": ["tiny"]}) == [1]
    assert majority.apply({"size": ["tiny"]}).tolist() == [0]
    strict = TreeClassifier(unknown="error").fit(X, y)
    with pytest.raises(ValueError, match="tiny"):
        strict.predict({"size": ["tiny"]})


def test_missing_values_apart_from_all_levels() -> None:
    X = {"size": Categorical(["small", "huge", None, None], SIZES, ordered=True)}
    model = TreeClassifier(missing="category").fit(X, [0, 0, 1, 1])
    assert answers(model, {"size": ["small", "large", None]}) == [0, 0, 1]
    assert first_split(model) == [0, 0, 0, 0]
    assert model.tree_.missing_branch[0] == 1


def test_bins_are_for_numbers() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 40, 300)
    levels = [f"level {k:02d}" for k in range(40)]
    X = {"c": Categorical([levels[k] for k in codes], levels, ordered=True)}
    y = (codes % 7 < 3).astype(int)
    exact = TreeClassifier().fit(X, y)
    assert exact.score(X, y) == 1.0
    assert TreeClassifier(max_bins=4).fit(X, y).tree_ == exact.tree_
