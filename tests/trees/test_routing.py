# SPDX-License-Identifier: BSD-3-Clause
"""Routing: one meaning of "which way does a row go" in growth, apply and predict."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from reference import Attribute
from strategies import Problem, problems

import fasttree
from fasttree import TreeClassifier


@given(problems())
def test_routing_the_training_rows_gives_the_growth_partition(problem: Problem) -> None:
    model = problem.fit()
    tree = model.tree_
    leaves = model.apply(problem.X)
    assert (tree.attribute[leaves] < 0).all()
    arrived = np.zeros_like(tree.counts)
    weights = np.ones(len(problem.y)) if problem.weights is None else np.array(problem.weights)
    np.add.at(arrived, (leaves, np.array(problem.y)), weights)
    at_leaves = tree.attribute < 0
    assert np.array_equal(arrived[at_leaves], tree.counts[at_leaves])


@given(problems(weights=("none",)), st.data())
def test_any_row_goes_where_the_reference_sends_it(problem: Problem, data: st.DataObject) -> None:
    model, nodes = problem.fit(), problem.grower().grow()
    rows = []
    for attribute in problem.attributes:
        if attribute.n_categories is None:
            value = st.sampled_from(list(attribute.values)) | st.floats(allow_nan=False, width=32)
        else:
            value = st.integers(0, attribute.n_categories - 1)
        rows.append(data.draw(st.lists(value, min_size=8, max_size=8)))
    asked = Problem(
        [Attribute(v, a.n_categories) for v, a in zip(rows, problem.attributes, strict=True)],
        [0] * 8,
    )
    expected = reference.reference_apply(nodes, asked.rows)
    assert model.apply(asked.X).tolist() == expected
    probabilities = model.predict_proba(asked.X)
    assert np.allclose(probabilities, [nodes[leaf].proba for leaf in expected], atol=1e-12)


@pytest.mark.parametrize("shape", ["subset", "multiway"])
def test_unknown_and_absent_levels(shape: str) -> None:
    levels = ["a", "b", "c", "d"]
    values = np.array(["a"] * 3 + ["b"] * 5 + ["c"] * 2, dtype=object)
    X = {"letter": fasttree.Categorical(values, levels)}
    y = np.array([0] * 3 + [1] * 5 + [2] * 2)
    model = TreeClassifier(categorical_split=shape, max_depth=1).fit(X, y)
    heaviest = int(model.tree_.missing_branch[0])
    unknown = {"letter": np.array(["never seen"], dtype=object)}
    absent = {"letter": np.array(["d"], dtype=object)}
    first = int(model.tree_.first_child[0])
    assert model.apply(unknown)[0] == first + heaviest
    if shape == "multiway":
        assert model.get_n_leaves() == 4
        shared = first + int(model.tree_.default_branch[0])
        assert model.apply(absent)[0] == shared
        assert model.tree_.counts[shared].tolist() == [0, 0, 0]
        assert model.predict(absent)[0] == 1  # the majority of the root
        assert model.predict_proba(absent)[0] == pytest.approx([0.3, 0.5, 0.2])
    else:
        assert model.apply(absent)[0] == first + heaviest
