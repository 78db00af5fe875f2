# SPDX-License-Identifier: BSD-3-Clause
"""The ways of rows that lack something: in training, in prediction, in any container."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from reference import Attribute
from strategies import POLICIES, Problem, any_rows, problems

import fasttree
from fasttree import ID3Classifier, TreeClassifier

NAN = math.nan


def words(*values: Any) -> np.ndarray:
    return np.array([*values], dtype=object)


# -- which way -----------------------------------------------------------------------------------


@given(problems(holes=True), st.sampled_from([None, 3]))
def test_routing_the_training_rows_gives_the_growth_partition(
    problem: Problem, max_bins: int | None
) -> None:
    model = problem.fit(max_bins=max_bins)
    tree = model.tree_
    leaves = model.apply(problem.X)
    arrived = np.zeros_like(tree.counts)
    weights = np.ones(len(problem.y)) if problem.weights is None else np.array(problem.weights)
    np.add.at(arrived, (leaves, np.array(problem.y)), weights)
    at_leaves = tree.attribute < 0
    assert at_leaves[leaves].all()
    assert np.array_equal(arrived[at_leaves], tree.counts[at_leaves])


@given(
    problems(weights=("none",)) | problems(weights=("none",), holes=True),
    st.sampled_from(["missing", "majority"]),
    st.data(),
)
def test_any_row_goes_where_the_reference_sends_it(
    problem: Problem, unknown: str, data: st.DataObject
) -> None:
    model, nodes = problem.fit(unknown=unknown), problem.grower().grow()
    rows = data.draw(any_rows(problem, 8))
    X = problem.asked(rows)
    expected = reference.reference_apply(nodes, rows, unknown)
    assert model.apply(X).tolist() == expected
    assert np.array_equal(model.predict_proba(X), model.tree_.proba[expected])
    assert np.array_equal(model.predict(X), model.classes_[model.tree_.pred[expected]])
    ends = model.decision_path(X).toarray()
    assert [int(np.flatnonzero(row)[-1]) for row in ends] == expected


def test_missing_where_training_saw_none_takes_the_heaviest_branch() -> None:
    x, y = [0, 0, 1, 1, 1], [0, 0, 1, 1, 1]
    for weights, branch in (None, 1), ([5, 5, 1, 1, 1], 0), ([3, 3, 2, 2, 2], 0):
        model = TreeClassifier().fit(np.reshape(x, (-1, 1)), y, sample_weight=weights)
        assert model.tree_.missing_branch[0] == branch
        assert not model.tree_.missing_seen[0]
        assert model.predict([[NAN]])[0] == branch
        marked = ["(or missing)" in line for line in model.to_text().splitlines()]
        assert marked == [branch == 0, branch == 1, False, True]  # a blank line, and the note


def test_unknown_levels() -> None:
    # Missing goes with blue. Under the red side, x decides.
    X = {
        "colour": words("red", "red", "red", "red", "blue", "blue", None),
        "x": np.array([1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]),
    }
    y = ["a", "a", "a", "b", "c", "c", "c"]
    asked = {"colour": words("green", None, "red"), "x": np.array([1.0, 1.0, 2.0])}
    for shape in ("subset", "multiway"):
        model = TreeClassifier(categorical_split=shape).fit(X, y)
        assert model.predict(asked).tolist() == ["c", "c", "b"]
        assert model.predict({"colour": words("green"), "x": np.array([NAN])})[0] == "c"
        model.set_params(unknown="majority")  # without another fit
        assert model.predict(asked).tolist() == ["a", "c", "b"]
        assert model.apply(asked)[0] == 0
        assert model.predict_proba(asked)[0] == pytest.approx([3 / 7, 1 / 7, 3 / 7])
        assert model.decision_path(asked).toarray()[0].tolist() == [1, *[0] * 4]
        model.set_params(unknown="error")
        with pytest.raises(ValueError, match=r"colour.*green.*row 0.*unknown="):
            model.predict(asked)
        assert model.predict({"colour": words(None), "x": np.array([NAN])})[0] == "c"


def test_an_unknown_level_is_no_missing_value_that_is_refused() -> None:
    X = {"colour": words("red", "red", "blue")}
    model = ID3Classifier(missing="error").fit(X, ["a", "a", "b"])
    assert model.predict({"colour": words("green")})[0] == "a"
    with pytest.raises(ValueError, match=r"colour.*missing.*row 1"):
        model.predict({"colour": words("green", None)})


def test_the_row_of_a_refused_value_is_counted_in_the_table() -> None:
    X, y = np.arange(6.0).reshape(-1, 1), [0, 1] * 3
    X[4] = NAN
    with pytest.raises(ValueError, match="row 4"):
        TreeClassifier(missing="error").fit(X, y, sample_weight=[0, 0, 1, 1, 1, 1])
    big = np.zeros((150_000, 2))
    model = TreeClassifier(missing="error").fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    big[140_000, 1] = NAN
    for table in (big, big.astype(np.float32), {"x0": big[:, 0], "x1": big[:, 1]}):
        for n_jobs in (None, 2):
            model.set_params(n_jobs=n_jobs)
            with pytest.raises(ValueError, match=r"x1.*row 140000"):
                model.predict(table)


def test_many_rows_in_parts() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150_000, 3))
    X[rng.random(X.shape) < 0.2] = NAN
    y = (np.nan_to_num(X[:, 0]) + np.isnan(X[:, 1]) > 0.5).astype(int)
    model = TreeClassifier(max_depth=8).fit(X, y)
    leaves = model.apply(X)
    assert np.array_equal(leaves[70_000:70_100], model.apply(X[70_000:70_100]))
    for n_jobs in (1, 2, 4):
        assert np.array_equal(model.set_params(n_jobs=n_jobs).apply(X), leaves)
    arrived = np.bincount(leaves, minlength=model.tree_.node_count)
    at_leaves = model.tree_.attribute < 0
    assert np.array_equal(arrived[at_leaves], model.tree_.counts.sum(axis=1)[at_leaves])


# -- numbers and containers ----------------------------------------------------------------------


def holed_numbers(n_rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Columns with few and many values, infinities, both zeros and holes; float32 can hold them."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n_rows, 5)).astype(np.float32).astype(float)
    X[:, 1] = np.round(X[:, 1])  # -0.0 too
    X[:, 2] = rng.choice([-np.inf, -1.0, -0.0, 0.0, 2.0, np.inf], n_rows)
    X[:, 3] = rng.integers(0, 4, n_rows)
    y = ((X[:, 0] > 0.3) + (X[:, 1] == 0) + (X[:, 2] > 0)).astype(int)
    X[rng.random(X.shape) < 0.25] = NAN
    return X, y


QUIET = ["7ff8000000000000", "fff8000000000000", "7ff8000000000001", "ffffffffffffffff"]
SIGNALLING = ["7ff0000000000001", "fff0000000000001", "7ff4000000000000"]


@pytest.mark.parametrize("max_bins", [None, 16])
@pytest.mark.parametrize("missing", POLICIES)
def test_every_nan_is_the_same(missing: str, max_bins: int | None) -> None:
    X, y = holed_numbers()
    model = TreeClassifier(missing=missing, max_bins=max_bins).fit(X, y)
    tree, leaves = model.tree_, model.apply(X)
    assert tree.missing_seen.any()
    patterns = np.array([int(p, 16) for p in QUIET + SIGNALLING], dtype=np.uint64)
    for seed in range(3):
        other = X.copy()
        holes = np.isnan(X)
        chosen = np.random.default_rng(seed).integers(0, len(patterns), holes.sum())
        other.view(np.uint64)[holes] = patterns[chosen]
        for table in (other, np.asfortranarray(other), {f"x{i}": other[:, i] for i in range(5)}):
            again = TreeClassifier(missing=missing, max_bins=max_bins).fit(table, y)
            assert again.tree_.fingerprint() == tree.fingerprint()
            assert np.array_equal(again.apply(table), leaves)


@pytest.mark.parametrize("max_bins", [None, 16])
def test_layout_of_the_matrix(max_bins: int | None) -> None:
    X, y = holed_numbers()
    model = TreeClassifier(max_bins=max_bins).fit(X, y)
    leaves = model.apply(X)
    layouts = {
        "Fortran order": np.asfortranarray(X),
        "every second row": np.repeat(X, 2, axis=0)[::2],
        "part of a wider table": np.hstack([X, X])[:, :5],
        "other byte order": X.astype(">f8"),
        "float32": X.astype(np.float32),
        "float32, Fortran order": np.asfortranarray(X.astype(np.float32)),
        "list": X.tolist(),
        "list with None": [[None if math.isnan(v) else v for v in row] for row in X.tolist()],
        "columns": {f"x{i}": X[:, i] for i in range(5)},
    }
    for name, table in layouts.items():
        other = TreeClassifier(max_bins=max_bins).fit(table, y)
        assert other.tree_.fingerprint() == model.tree_.fingerprint(), name
        assert np.array_equal(other.apply(table), leaves), name
        columns = fasttree.Columns(table, y, max_bins=max_bins)
        again = TreeClassifier().fit(columns)
        assert again.tree_.fingerprint() == model.tree_.fingerprint(), name


def test_infinite_values_beside_missing_ones() -> None:
    # Set apart has the threshold inf: +inf is known and stays with the known values.
    X = np.array([[-math.inf], [0.0], [math.inf], [NAN], [NAN]])
    model = TreeClassifier().fit(X, [0, 0, 0, 1, 1])
    assert model.to_text() == "x0 is known: 0 (3)\nx0 is missing: 1 (2)"
    assert model.predict(X).tolist() == [0, 0, 0, 1, 1]
    X = np.array([[-math.inf], [5.0], [math.inf], [math.inf], [NAN]])
    for y in ([0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [0, 1, 1, 1, 0], [0, 1, 2, 2, 3]):
        problem = Problem([Attribute(X[:, 0].tolist())], y)
        assert problem.fit().predict(X).tolist() == y


def test_data_frames() -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    X, y = holed_numbers()
    numbers = [None if math.isnan(v) else v for v in X[:, 0].tolist()]
    whole = [None if math.isnan(v) else int(v) for v in X[:, 3].tolist()]
    letters = [None if math.isnan(v) else "bad"[int(abs(v) * 9) % 3] for v in X[:, 4].tolist()]
    lists: dict[str, Any] = {"u": numbers, "n": whole, "letter": letters}
    plain = {"u": X[:, 0], "n": X[:, 3], "letter": words(*letters)}
    nullable = pandas.DataFrame(lists).astype({"n": "Int64", "letter": "string"})
    declared = pandas.DataFrame(plain)
    declared["letter"] = pandas.Categorical(letters, ["a", "b", "d"])
    frames = {
        "lists": lists,
        "pandas": pandas.DataFrame(plain),
        "pandas, nullable": nullable,
        "pandas, category": declared,
        "polars": polars.DataFrame(lists),
        "polars, NaN": polars.DataFrame({"u": X[:, 0], "n": X[:, 3], "letter": letters}),
        "arrow": pyarrow.table(lists),
        "arrow, dictionary": pyarrow.table(
            {
                "u": pyarrow.array(numbers),
                "n": pyarrow.array(whole),
                "letter": pyarrow.array(letters).dictionary_encode(),
            }
        ),
    }
    for missing in POLICIES:
        model = TreeClassifier(missing=missing).fit(plain, y)
        assert model.tree_.missing_seen.any()
        for name, frame in frames.items():
            other = TreeClassifier(missing=missing).fit(frame, y)
            if name != "arrow, dictionary":  # its levels come in the order of their first rows
                assert other.tree_.fingerprint() == model.tree_.fingerprint(), name
            assert np.array_equal(other.predict(frame), model.predict(plain)), name
            assert np.array_equal(model.apply(frame), model.apply(plain)), name
