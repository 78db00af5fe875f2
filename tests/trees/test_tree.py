# SPDX-License-Identifier: BSD-3-Clause
"""The Tree: what its arrays promise, how it prints, when two of them are equal."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
from typing import Any

import numpy as np
import pytest
import textbook_tables as tables
from child import run_child
from goldens import GOLDENS, Golden
from hypothesis import given
from reading import without_marks
from strategies import WEIGHTS, Problem, problems

import fasttree
from fasttree import CARTClassifier, ID3Classifier, TreeClassifier

DTYPES = {
    "attribute": np.int32,
    "threshold": np.float64,
    "first_child": np.int32,
    "n_children": np.int32,
    "table_start": np.int64,
    "table_codes": np.uint32,
    "table_branch": np.uint32,
    "default_branch": np.int32,
    "missing_branch": np.int32,
    "missing_seen": np.bool_,
    "multiplicity": np.int32,
    "heuristic": np.bool_,
    "counts": np.float64,
    "proba": np.float64,
    "pred": np.int32,
    "gain": np.float64,
    "depth": np.int32,
    "parent": np.int32,
}


def check_invariants(tree: Any, n_attributes: int) -> None:
    """Everything that any grown tree keeps, whatever the data."""
    n = len(tree.attribute)
    for name, dtype in DTYPES.items():
        array = getattr(tree, name)
        assert array.dtype == dtype, name
        if name == "table_start":
            assert len(array) == n + 1
        elif name not in ("table_codes", "table_branch"):
            assert len(array) == n, name
    leaf = tree.attribute < 0
    inner = ~leaf
    assert ((tree.attribute >= -1) & (tree.attribute < n_attributes)).all()
    # Breadth-first, children adjacent, everything reached exactly once.
    assert (np.diff(tree.depth) >= 0).all()
    assert tree.depth[0] == 0
    assert tree.parent[0] == -1
    children = [
        child
        for first, count in zip(tree.first_child[inner], tree.n_children[inner], strict=True)
        for child in range(first, first + count)
    ]
    assert children == list(range(1, n))
    assert (tree.n_children[leaf] == 0).all()
    assert (tree.n_children[inner] >= 2).all()
    assert np.array_equal(tree.parent[1:], np.repeat(np.flatnonzero(inner), tree.n_children[inner]))
    assert np.array_equal(tree.depth[1:], tree.depth[tree.parent[1:]] + 1)
    # What is known of a node.
    sums = np.zeros_like(tree.counts)
    np.add.at(sums, tree.parent[1:], tree.counts[1:])
    assert np.allclose(sums[inner], tree.counts[inner], rtol=1e-12)
    assert np.allclose(tree.proba.sum(axis=1), 1)
    filled = tree.counts.sum(axis=1) > 0
    total = tree.counts[filled].sum(axis=1, keepdims=True)
    assert np.allclose(tree.proba[filled], tree.counts[filled] / total)
    best = tree.counts[filled, tree.pred[filled]]
    assert (best >= tree.counts[filled].max(axis=1) - 1e-10).all()
    assert np.array_equal(tree.proba[~filled], tree.proba[tree.parent[~filled]])
    assert np.array_equal(tree.pred[~filled], tree.pred[tree.parent[~filled]])
    assert (tree.multiplicity >= 1).all()
    assert (tree.multiplicity[filled] == 1).all()
    assert (tree.gain[inner] >= 0).all()
    # What is known of a split.
    has_table = np.diff(tree.table_start) > 0
    assert not (has_table & leaf).any()
    assert np.array_equal(~np.isnan(tree.threshold), inner & ~has_table)
    assert (tree.n_children[inner & ~has_table] == 2).all()
    for node in np.flatnonzero(has_table):
        entries = slice(tree.table_start[node], tree.table_start[node + 1])
        codes, branches = tree.table_codes[entries], tree.table_branch[entries]
        assert codes[0] >= 1
        assert (np.diff(codes.astype(np.int64)) > 0).all()
        missing_is_left = tree.missing_seen[node] and tree.missing_branch[node] == 0
        assert branches[0] == 0 or missing_is_left
        assert (branches < tree.n_children[node]).all()
    assert not tree.missing_seen[leaf].any()
    assert np.array_equal(tree.missing_branch == -1, leaf)
    for node in np.flatnonzero(inner):
        first = tree.first_child[node]
        weights = tree.counts[first : first + tree.n_children[node]].sum(axis=1)
        if not tree.missing_seen[node]:
            assert np.isclose(weights[tree.missing_branch[node]], weights.max(), rtol=1e-12)
        assert 0 <= tree.default_branch[node] < tree.n_children[node] or not has_table[node]


@given(problems(weights=WEIGHTS) | problems(weights=WEIGHTS, holes=True))
def test_invariants(problem: Problem) -> None:
    model = problem.fit()
    tree = model.tree_
    check_invariants(tree, len(problem.attributes))
    leaf = tree.attribute < 0
    assert model.get_n_leaves() == tree.multiplicity[leaf].sum()
    assert model.get_depth() == tree.depth.max()


def play_tennis() -> Any:
    return ID3Classifier().fit(tables.PLAY_TENNIS.X, tables.PLAY_TENNIS.y)


def test_schema() -> None:
    schema = play_tennis().tree_.schema
    assert schema.names == ("Outlook", "Temperature", "Humidity", "Wind")
    assert schema.attributes[0].categories == ("Sunny", "Overcast", "Rain")
    assert list(schema.classes) == ["No", "Yes"]
    assert schema.named


def test_frozen() -> None:
    tree = play_tennis().tree_
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.attribute = tree.attribute
    for name in DTYPES:
        array = getattr(tree, name)
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_pickle_and_copy() -> None:
    model = play_tennis()
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.tree_ == model.tree_
        assert other.tree_.fingerprint() == model.tree_.fingerprint()
        assert np.array_equal(other.predict(tables.PLAY_TENNIS.X), tables.PLAY_TENNIS.target.values)


# -- equality and fingerprint --------------------------------------------------------------------


def test_sums_over_subtrees() -> None:
    table = tables.PLAY_TENNIS
    tree = ID3Classifier().fit(table.X, table.y).tree_
    # The root, its three children, then the two of the first and the two of the last of these.
    assert tree.nodes_by_depth() == [slice(0, 1), slice(1, 4), slice(4, 8)]
    assert tree.sum_up(np.arange(8)).tolist() == [28, 10, 2, 16, 4, 5, 6, 7]
    pairs = np.column_stack([np.ones(8), np.zeros(8)])
    assert tree.sum_up(pairs)[:4].tolist() == [[8, 0], [3, 0], [1, 0], [3, 0]]
    leaf = TreeClassifier().fit([[1.0]], [0]).tree_
    assert leaf.nodes_by_depth() == [slice(0, 1)]
    assert leaf.sum_up(np.array([3])).tolist() == [3]


def test_equality() -> None:
    tree = play_tennis().tree_
    assert tree == play_tennis().tree_
    assert (
        tree != CARTClassifier(pruning=None).fit(tables.PLAY_TENNIS.X, tables.PLAY_TENNIS.y).tree_
    )
    assert tree != "tree"


def test_equality_sees_every_array() -> None:
    tree = TreeClassifier().fit(tables.PLAY_TENNIS.X, tables.PLAY_TENNIS.y).tree_
    for name in DTYPES:
        array = getattr(tree, name).copy()
        array.flat[0] = not array.flat[0] if array.dtype == bool else array.flat[0] + 1
        if name == "threshold":
            array.flat[0] = 17.0
        other = dataclasses.replace(tree, **{name: array})
        assert other != tree, name
        assert other.fingerprint() != tree.fingerprint(), name


def test_equality_knows_names_and_classes() -> None:
    # The fingerprint is one of the arrays alone.
    X = np.arange(8.0).reshape(-1, 2)
    base = TreeClassifier().fit({"a": X[:, 0], "b": X[:, 1]}, [0, 0, 1, 1]).tree_
    renamed = TreeClassifier().fit({"a": X[:, 0], "c": X[:, 1]}, [0, 0, 1, 1]).tree_
    relabelled = TreeClassifier().fit({"a": X[:, 0], "b": X[:, 1]}, ["p", "p", "q", "q"]).tree_
    assert len({t.fingerprint() for t in (base, renamed, relabelled)}) == 1
    assert base != renamed
    assert base != relabelled


def test_fingerprint_is_the_same_in_another_process() -> None:
    code = """
        import numpy as np, fasttree
        X = {"a": np.arange(50.0), "b": np.array(["u", "v"] * 25, dtype=object)}
        model = fasttree.TreeClassifier().fit(X, np.arange(50) * 7 % 3)
        print(model.tree_.fingerprint())
    """
    prints = {
        run_child(code, environment=os.environ | {"PYTHONHASHSEED": seed}) for seed in ("1", "2")
    }
    assert len(prints) == 1
    assert isinstance(play_tennis().tree_.fingerprint(), str)


# -- text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("golden", [g for g in GOLDENS if g.text], ids=str)
def test_text_of_the_textbooks(golden: Golden) -> None:
    model = TreeClassifier(**golden.parameters).fit(golden.table.X, golden.table.y)
    assert without_marks(model.to_text()) == golden.text.rstrip("\n")


def test_what_a_tree_prints() -> None:
    table = tables.PLAY_TENNIS
    tree = ID3Classifier().fit(table.X, table.y).tree_
    assert repr(tree) == "Tree(5 leaves, depth 2, 4 attributes, 2 classes)"
    assert str(tree) == tree.to_text()


def test_text_of_a_leaf() -> None:
    model = ID3Classifier(max_depth=0).fit(tables.PLAY_TENNIS.X, tables.PLAY_TENNIS.y)
    assert "Yes (14/5)" in model.to_text()


def test_text_of_thresholds() -> None:
    model = TreeClassifier().fit(
        {"Temperature": np.array(tables.SIX_TEMPERATURES.columns["Temperature"])},
        tables.SIX_TEMPERATURES.y,
    )
    assert without_marks(model.to_text()).splitlines() == [
        "Temperature <= 54: No (2)",
        "Temperature > 54",
        "|   Temperature <= 85: Yes (3)",
        "|   Temperature > 85: No (1)",
    ]


def test_text_of_subsets() -> None:
    model = CARTClassifier(pruning=None).fit(tables.PLAY_TENNIS.X, tables.PLAY_TENNIS.y)
    assert without_marks(model.to_text()).splitlines() == [
        "Outlook = {Sunny, Rain}",
        "|   Humidity = High",
        "|   |   Outlook = {Sunny}: No (3)",
        "|   |   Outlook = {Rain}",
        "|   |   |   Wind = Weak: Yes (1)",
        "|   |   |   Wind = Strong: No (1)",
        "|   Humidity = Normal",
        "|   |   Wind = Weak: Yes (3)",
        "|   |   Wind = Strong",
        "|   |   |   Outlook = {Sunny}: Yes (1)",
        "|   |   |   Outlook = {Rain}: No (1)",
        "Outlook = {Overcast}: Yes (4)",
    ]


def test_text_names_absent_values() -> None:
    lines = ID3Classifier().fit(tables.NO_OVERCAST.X, tables.NO_OVERCAST.y).to_text().splitlines()
    assert sum("Overcast" in line for line in lines) == 2
    assert [line.split(": ")[1] for line in lines if "Overcast" in line] == ["No (0)", "Yes (0)"]


def test_text_keeps_thresholds_apart() -> None:
    # Values that differ in the last digit only: the printed cuts must still tell them apart.
    x = np.array([0.1, np.nextafter(0.1, 1), 0.3, 1e300, 2e300]).reshape(-1, 1)
    text = without_marks(TreeClassifier().fit(x, [0, 1, 0, 1, 0]).to_text())
    cuts = {float(line.split("<= ")[1].split(":")[0]) for line in text.splitlines() if "<=" in line}
    tree = TreeClassifier().fit(x, [0, 1, 0, 1, 0]).tree_
    assert cuts == set(tree.threshold[tree.attribute >= 0].tolist())


def test_text_of_an_infinite_threshold() -> None:
    X = np.array([[-np.inf], [0.0], [np.inf]])
    lines = without_marks(TreeClassifier().fit(X, [0, 1, 0]).to_text()).splitlines()
    assert lines[0] == "x0 <= -inf: 0 (1)"
    assert lines[-2:] == ["|   x0 <= 0: 1 (1)", "|   x0 > 0: 0 (1)"]


def test_text_of_fractional_weights_is_not_noise() -> None:
    # Weights are kept on a fine grid; nobody wants to read its last digits.
    weights = [0.9, 0.2, 0.7, 0.3, 0.1]
    text = TreeClassifier(max_depth=0).fit(np.zeros((5, 1)), [0, 1, 0, 1, 1], weights).to_text()
    assert all(len(number) < 12 for number in text.split("(")[1].rstrip(")").split("/")), text


def test_text_of_a_deep_tree_needs_no_recursion() -> None:
    n = 1500
    X = np.arange(n, dtype=float).reshape(-1, 1)
    text = TreeClassifier().fit(X, np.arange(n) % 2).to_text()
    assert len(without_marks(text).splitlines()) == 2 * (n - 1)


# -- scikit-learn's names ------------------------------------------------------------------------


def test_scikit_learn_names_on_a_binary_tree(numeric_table: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = numeric_table
    tree = TreeClassifier(max_depth=4).fit(X, y).tree_
    leaf = tree.attribute < 0
    assert tree.node_count == len(tree.attribute)
    assert tree.max_depth == 4
    assert tree.n_leaves == leaf.sum()
    assert np.array_equal(tree.children_left[~leaf], tree.first_child[~leaf])
    assert np.array_equal(tree.children_right[~leaf], tree.first_child[~leaf] + 1)
    assert (tree.children_left[leaf] == -1).all()
    assert (tree.children_right[leaf] == -1).all()
    assert np.array_equal(tree.feature[~leaf], tree.attribute[~leaf])
    assert (tree.feature[leaf] == -2).all()
    assert np.array_equal(tree.weighted_n_node_samples, tree.counts.sum(axis=1))
    assert tree.value.shape == (tree.node_count, 1, 3)
    assert np.allclose(tree.value[:, 0, :], tree.proba)


def test_scikit_learn_names_refuse_a_multiway_tree() -> None:
    tree = play_tennis().tree_
    with pytest.raises((ValueError, AttributeError), match="binary"):
        _ = tree.children_left


def test_public_names() -> None:
    for name in ("TreeClassifier", "ID3Classifier", "CARTClassifier", "Columns", "Categorical"):
        assert name in dir(fasttree)


@pytest.mark.parametrize("name", ["costs", "datasets", "measures", "metrics", "plot", "pruning"])
def test_completion_shows_what_is_public(name: str) -> None:
    if name == "plot":
        pytest.importorskip("matplotlib")
    module = getattr(fasttree, name)
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, public) for public in module.__all__)
    assert not {"np", "Any", "annotations"} & set(dir(module))
