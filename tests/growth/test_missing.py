# SPDX-License-Identifier: BSD-3-Clause
"""Growth with missing values: equal to the reference, and to itself whatever does not matter.

The splits that are worked out by hand are in test_missing_goldens.py, the ways of rows in
test_missing_routing.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from agreement import assert_every_choice_is_best, assert_same_tree, difference
from candidates import is_missing
from hypothesis import given
from hypothesis import strategies as st
from reference import Attribute
from strategies import CRITERIA, POLICIES, WEIGHTS, Problem, medium, problems

from fasttree import TreeClassifier

NAN = math.nan


def holed(values: Any, seed: int, share: float = 0.3) -> list[float]:
    """The values, some of them missing."""
    gone = np.random.default_rng(seed).random(len(values)) < share
    return np.where(gone, NAN, values).tolist()


# -- equality with the reference -----------------------------------------------------------------


@given(problems(holes=True))
def test_equals_reference(problem: Problem) -> None:
    assert_same_tree(problem.fit().tree_, problem.grower().grow())


@given(problems(kinds=("numeric",), max_rows=60, holes=True))
def test_equals_reference_on_numbers(problem: Problem) -> None:
    assert_same_tree(problem.fit().tree_, problem.grower().grow())


@given(problems(kinds=("categorical",), max_rows=60, holes=True))
def test_equals_reference_on_categories(problem: Problem) -> None:
    assert_same_tree(problem.fit().tree_, problem.grower().grow())


@given(problems(weights=("fractional",), holes=True))
def test_equals_reference_with_fractional_weights(problem: Problem) -> None:
    tree = problem.fit().tree_
    if difference(tree, problem.grower().grow(), tolerance=1e-9) is not None:
        assert_every_choice_is_best(tree, problem.grower())


@pytest.mark.parametrize("missing", POLICIES)
@pytest.mark.parametrize(
    ("criterion", "shape", "n_classes", "weighting"),
    [
        ("gini", "subset", 2, "none"),
        ("gini", "multiway", 5, "whole"),
        ("entropy", "subset", 2, "whole"),
        ("entropy", "multiway", 3, "none"),
        ("gain_ratio", "multiway", 2, "none"),
        ("gain_ratio", "subset", 2, "whole"),
        ("misclassification", "multiway", 4, "whole"),
    ],
)
def test_equals_reference_on_a_larger_table(
    criterion: str, shape: str, n_classes: int, weighting: str, missing: str
) -> None:
    # Grown to the end, so that nodes of every size below 500 rows come by, counted and swept.
    problem = medium(
        criterion, shape, n_classes, weighting, 5, n_rows=500, holes=0.25, missing=missing
    )
    assert_same_tree(problem.fit().tree_, problem.grower().grow())
    limits = {"max_depth": 7, "min_samples_split": 12, "min_samples_leaf": 5, "max_leaves": 23}
    problem.parameters |= limits
    assert_same_tree(problem.fit(n_jobs=2).tree_, problem.grower().grow())


@pytest.mark.parametrize("missing", POLICIES)
@pytest.mark.parametrize("n_rows", [5, 31, 32, 33, 34, 65, 129, 300])
def test_roots_of_every_size(n_rows: int, missing: str) -> None:
    rng = np.random.default_rng(n_rows)
    columns = [
        rng.integers(0, 3, n_rows),
        rng.integers(0, 20, n_rows) / 4,
        rng.permutation(n_rows),
        rng.normal(size=n_rows),
    ]
    y = ((columns[0] + columns[2] * 3 // n_rows + rng.integers(0, 2, n_rows)) % 3).tolist()
    y[:3] = [0, 1, 2]
    attributes = [Attribute(holed(c, seed)) for seed, c in enumerate(columns)]
    for criterion in CRITERIA:
        parameters = {"criterion": criterion, "missing": missing, "max_depth": 3}
        problem = Problem(attributes, y, None, parameters)
        assert_same_tree(problem.fit().tree_, problem.grower().grow())
        mixed = Problem([*attributes, Attribute([0] * n_rows, 1)], y, None, parameters)
        assert_same_tree(mixed.fit().tree_, mixed.grower().grow())


@pytest.mark.parametrize("criterion", CRITERIA)
def test_fractional_weights_on_a_larger_table(criterion: str) -> None:
    problem = medium(criterion, "subset", 2, "fractional", 6, n_rows=400, holes=0.3)
    assert_every_choice_is_best(problem.fit().tree_, problem.grower())


@pytest.mark.parametrize("missing", POLICIES)
def test_300_classes(missing: str) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(300), 2)
    x = [y + rng.normal(scale=0.3, size=y.size), np.round(rng.normal(size=y.size) * 3)]
    problem = Problem([Attribute(holed(c, s, 0.2)) for s, c in enumerate(x)], y.tolist())
    problem.parameters = {"missing": missing, "max_depth": 2}
    assert_same_tree(problem.fit().tree_, problem.grower().grow())


@pytest.mark.parametrize("missing", POLICIES)
@pytest.mark.parametrize("shape", ["subset", "multiway"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_hundreds_of_levels(shape: str, n_classes: int, missing: str) -> None:
    problem = medium(
        "gini", shape, n_classes, "none", 9, 500, (40, 300), holes=0.2, missing=missing, max_depth=4
    )
    problem.attributes = problem.attributes[-2:]
    tree = problem.fit().tree_
    assert tree.missing_seen.any()
    if n_classes == 2 or shape == "multiway":
        assert_same_tree(tree, problem.grower().grow())
    else:
        assert tree.heuristic.any()
        assert_every_choice_is_best(tree, problem.grower())


@pytest.mark.parametrize("n_levels", [11, 12])
def test_missing_counts_among_the_12_values_of_an_exhaustive_search(n_levels: int) -> None:
    rng = np.random.default_rng(n_levels)
    codes = np.tile(np.append(np.arange(n_levels), NAN), 20)
    y = (np.nan_to_num(codes, nan=5.0).astype(int) * 7 % 3 + rng.integers(0, 2, len(codes))) % 3
    problem = Problem([Attribute(codes.tolist(), n_levels)], y.tolist(), None, {"max_depth": 1})
    tree = problem.fit().tree_
    assert bool(tree.heuristic[0]) == (n_levels == 12)
    assert_same_tree(tree, problem.grower().grow())


# -- next to nothing is known --------------------------------------------------------------------


@pytest.mark.parametrize("missing", POLICIES)
@pytest.mark.parametrize("shape", ["subset", "multiway"])
@pytest.mark.parametrize("max_bins", [None, 8])
def test_columns_without_a_value(shape: str, missing: str, max_bins: int | None) -> None:
    parameters = {"missing": missing, "categorical_split": shape, "max_bins": max_bins}
    nothing, y = [NAN] * 6, [0, 1, 1, 0, 1, 1]
    for kind in (None, 3):
        problem = Problem([Attribute(nothing, kind)], y, None, parameters)
        model = problem.fit()
        assert model.get_n_leaves() == 1
        assert model.predict_proba(problem.X)[5] == pytest.approx([1 / 3, 2 / 3])
    attributes = [Attribute(nothing), Attribute([1, 2, 2, 1, 2, 2]), Attribute(nothing, 2)]
    problem = Problem(attributes, y, None, parameters)
    model = problem.fit()
    assert model.tree_.attribute.tolist() == [1, -1, -1]
    assert model.predict(problem.X).tolist() == y


@pytest.mark.parametrize("missing", POLICIES)
@pytest.mark.parametrize("kind", [None, 3])
@pytest.mark.parametrize("shape", ["subset", "multiway"])
def test_one_row_knows(kind: int | None, shape: str, missing: str) -> None:
    values = [NAN] * 6
    values[2] = 1
    problem = Problem([Attribute(values, kind)], [0, 0, 1, 0, 0, 0])
    problem.parameters = {"missing": missing, "categorical_split": shape}
    model = problem.fit()
    assert_same_tree(model.tree_, problem.grower().grow())
    assert model.score(problem.X, problem.y) == 1.0
    if kind is None:
        assert model.tree_.threshold[0] == math.inf
        assert model.tree_.missing_branch[0] == 1


# -- what makes no difference --------------------------------------------------------------------


@given(problems(weights=WEIGHTS), st.sampled_from([None, 5]))
def test_data_without_holes_has_no_policy(problem: Problem, max_bins: int | None) -> None:
    prints = {
        problem.fit(max_bins=max_bins, missing=missing).tree_.fingerprint()
        for missing in (*POLICIES, "error")
    }
    assert len(prints) == 1


@given(problems(holes=True))
def test_bins_lose_nothing_where_values_are_few(problem: Problem) -> None:
    assert problem.fit(max_bins=255).tree_.fingerprint() == problem.fit().tree_.fingerprint()


@given(
    problems(weights=WEIGHTS, holes=True),
    st.randoms(use_true_random=False),
    st.sampled_from([None, 3, 255]),
    st.sampled_from([2, 4]),
)
def test_order_of_the_rows_and_threads(
    problem: Problem, random: Any, max_bins: int | None, n_jobs: int
) -> None:
    order = random.sample(range(len(problem.y)), len(problem.y))
    ours = problem.fit(max_bins=max_bins).tree_
    theirs = problem.take(order).fit(max_bins=max_bins, n_jobs=n_jobs).tree_
    assert ours.fingerprint() == theirs.fingerprint()


@pytest.mark.parametrize("max_bins", [None, 40])
@pytest.mark.parametrize("missing", POLICIES)
def test_order_and_threads_on_a_larger_table(missing: str, max_bins: int | None) -> None:
    problem = medium(
        "entropy", "multiway", 3, "whole", 3, 4000, (5, 30), holes=0.3, missing=missing
    )
    order = np.random.default_rng(1).permutation(4000).tolist()
    ours = problem.fit(max_bins=max_bins)
    theirs = problem.take(order).fit(max_bins=max_bins, n_jobs=4)
    assert ours.tree_.fingerprint() == theirs.tree_.fingerprint()
    assert np.array_equal(ours.apply(problem.X)[order], theirs.apply(problem.take(order).X))


@given(problems(weights=("whole",), holes=True))
def test_whole_weights_are_copies(problem: Problem) -> None:
    assert problem.fit().tree_.fingerprint() == problem.copies().fit().tree_.fingerprint()


def test_a_weight_of_zero_is_no_missing_value() -> None:
    X, y = np.array([[1.0], [2.0], [NAN], [3.0]]), [0, 0, 1, 1]
    model = TreeClassifier(missing="error").fit(X, y, sample_weight=[1, 1, 0, 1])
    assert model.tree_.threshold[0] == 2.5
    assert not TreeClassifier().fit(X, y, sample_weight=[1, 1, 0, 1]).tree_.missing_seen.any()


# -- a missing category is a category ------------------------------------------------------------


def with_missing_as_level(problem: Problem, first: bool) -> Problem:
    """The problem in which missing is one more level of every categorical attribute."""
    attributes = []
    for a in problem.attributes:
        level = 0 if first else a.n_categories
        codes = [level if is_missing(c) else int(c) + first for c in a.values]
        attributes.append(Attribute(codes, a.n_categories + 1))
    return Problem(attributes, problem.y, problem.weights, problem.parameters)


@given(problems(kinds=("categorical",), holes=True), st.sampled_from(POLICIES))
def test_a_missing_category_is_the_first_level_of_a_subset(problem: Problem, missing: str) -> None:
    problem.parameters |= {"categorical_split": "subset", "missing": missing}
    ours, theirs = problem.fit(), with_missing_as_level(problem, first=True).fit()
    for name in ("attribute", "first_child", "counts", "pred", "gain", "heuristic"):
        assert np.array_equal(getattr(ours.tree_, name), getattr(theirs.tree_, name)), name


@given(problems(kinds=("categorical",), holes=True))
def test_a_missing_category_is_the_last_level_of_a_multiway_split(problem: Problem) -> None:
    problem.parameters |= {"categorical_split": "multiway", "missing": "category"}
    problem.parameters |= {"max_depth": 1, "max_leaves": None}
    # A declared level without rows is told to its branch; a missing value that no row has is not.
    problem.attributes = [a for a in problem.attributes if any(is_missing(v) for v in a.values)]
    if problem.weights is not None:
        problem.weights = [weight + 1 for weight in problem.weights]
    if problem.attributes:
        ours, theirs = problem.fit(), with_missing_as_level(problem, first=False).fit()
        for name in ("attribute", "first_child", "counts", "multiplicity", "pred", "gain"):
            assert np.array_equal(getattr(ours.tree_, name), getattr(theirs.tree_, name)), name


@pytest.mark.parametrize("missing", ["branch", "category"])
def test_split_information_counts_a_branch_of_missing_rows(missing: str) -> None:
    """Alone against the one level, missing rows tell all of the classes for one bit: ratio 1. The other attribute gains
    0.549 bits for 0.954, which would win if the branch of missing rows were not told (2 bits)."""
    X = {"hole": ["u"] * 4 + [None] * 4, "other": list("xxxxxzzz")}
    model = TreeClassifier(criterion="gain_ratio", categorical_split="multiway", missing=missing)
    tree = model.fit(X, [1, 1, 1, 1, 0, 0, 0, 0]).tree_
    assert tree.attribute[0] == 0
    assert tree.n_leaves == 2
