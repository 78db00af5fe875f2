# SPDX-License-Identifier: BSD-3-Clause
"""TreeRegressor: the slow, obviously right tree, exact means of hostile targets, missing values, files and refusals."""

from __future__ import annotations

import math
import pickle
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.tree import DecisionTreeRegressor

import fasttree
from fasttree import CARTRegressor, DataWarning, TreeClassifier, TreeRegressor
from fasttree.encoding.folds import strata_of
from fasttree.pruning import CostComplexity
from fasttree.trees.tree import LEAF

pytestmark = pytest.mark.numeric

# -- the values of nodes ------------------------------------------------------------------------------------------


def exact_values(model: Any, X: Any, y: Any, weight: Any = None) -> list[tuple[Any, ...]]:
    """Weight, mean and deviance of every node by fractions, from the rows that come to it."""
    tree, leaves = model.tree_, model.apply(X)
    weights = [1] * len(y) if weight is None else [int(w) for w in weight]
    targets = [Fraction(float(v)) for v in y]
    found = []
    for node in range(tree.node_count):
        below = {node}
        for child in range(node + 1, tree.node_count):
            if int(tree.parent[child]) in below:
                below.add(child)
        rows = [i for i, leaf in enumerate(leaves.tolist()) if leaf in below]
        total = sum(weights[i] for i in rows)
        mean = sum((weights[i] * targets[i] for i in rows), Fraction(0)) / total
        deviance = sum((weights[i] * (targets[i] - mean) ** 2 for i in rows), Fraction(0))
        found.append((total, mean, deviance))
    return found


def root_of(value: Fraction) -> float:
    """The square root, of numbers beyond the range of float64 too."""
    if value == 0:
        return 0.0
    shift = 2 * ((value.numerator.bit_length() - value.denominator.bit_length()) // 2)
    return math.ldexp(math.sqrt(value / Fraction(2) ** shift), shift // 2)


HOSTILE = {
    "plain": lambda rng: rng.normal(size=120),
    "offset": lambda rng: 1e9 + rng.normal(size=120),
    "tiny": lambda rng: rng.normal(size=120) * 1e-200,
    "huge": lambda rng: rng.normal(size=120) * 1e200,
    "largest": lambda rng: rng.choice([-1.7e308, 1.7e308, 1e308], 120),
    "denormal": lambda rng: rng.integers(-50, 50, 120) * 5e-324,
    "many scales": lambda rng: rng.normal(size=120) * 10.0 ** rng.integers(-6, 7, 120),
    "whole": lambda rng: rng.integers(0, 5, 120).astype(float),
    "constant": lambda rng: np.full(120, 0.1),
    "thirds": lambda rng: rng.integers(0, 9, 120) / 3,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("weighted", [False, True])
def test_means_and_errors_are_exact(name: str, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    X, y = np.round(rng.normal(size=(120, 3)), 1), HOSTILE[name](rng)
    weight = rng.integers(1, 5, 120).astype(float) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = TreeRegressor(min_samples_leaf=4).fit(X, y, weight)
    tree = model.tree_
    for node, (total, mean, deviance) in enumerate(exact_values(model, X, y, weight)):
        assert tree.weighted_n_node_samples[node] == total
        assert tree.prediction[node] == float(mean)
        wanted = root_of(deviance / total)
        assert tree.error[node] == pytest.approx(wanted, rel=1e-12, abs=5e-324)
    assert model.predict(X).tolist() == tree.prediction[model.apply(X)].tolist()


def test_one_outlier() -> None:
    """Beside 1e300 the grid of the choice tells nothing else apart, which is said; the means are exact all the same."""
    X = np.arange(60.0)[:, np.newaxis]
    y = np.where(X[:, 0] == 59, 1e300, X[:, 0] % 7)
    with pytest.warns(DataWarning, match=r"only 2 are told apart in the choice of splits"):
        model = TreeRegressor(max_depth=3).fit(X, y)
    assert model.predict([[59.0]]).tolist() == [1e300]
    leaf = model.apply(X) == model.apply([[0.0]])[0]
    assert model.predict([[0.0]])[0] == float(sum(map(Fraction, y[leaf])) / int(leaf.sum()))


def test_a_grid_that_is_fine_enough_is_silent() -> None:
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TreeRegressor(max_depth=2).fit(rng.normal(size=(5000, 2)), 1e9 + rng.normal(size=5000))


# -- the tree itself ----------------------------------------------------------------------------------------------


def naive_gain(y: list[Fraction], parts: list[list[int]]) -> Fraction:
    def deviance(rows: list[int]) -> Fraction:
        mean = sum((y[i] for i in rows), Fraction(0)) / len(rows)
        return sum(((y[i] - mean) ** 2 for i in rows), Fraction(0))

    every = [i for rows in parts for i in rows]
    return deviance(every) - sum((deviance(rows) for rows in parts), Fraction(0))


@settings(max_examples=60)
@given(st.data())
def test_every_split_is_as_good_as_the_best(data: Any) -> None:
    """Numbers with holes, and categories: every threshold, with missing values on both sides, and every subset."""
    n = data.draw(st.integers(2, 14))
    numbers = st.sampled_from([0.0, 1.0, 2.0, 3.0, math.nan])
    x = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)))
    letters = data.draw(
        st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=n, max_size=n)
    )
    y = np.array(data.draw(st.lists(st.integers(-4, 4), min_size=n, max_size=n)), dtype=float)
    X = {"x": x, "z": np.array(letters, dtype=object)}
    if all(v is None for v in letters):
        X["z"][0] = "a"
    model = TreeRegressor().fit(X, y)
    tree, targets = model.tree_, [Fraction(v) for v in y.tolist()]
    rows_of = {0: list(range(n))}
    for node in range(tree.node_count):
        if tree.attribute[node] == LEAF:
            continue
        first = int(tree.first_child[node])
        leaves = model.apply(X)
        sides = {child: set(descendants(tree, child)) for child in (first, first + 1)}
        for child, below in sides.items():
            rows_of[child] = [i for i in rows_of[node] if int(leaves[i]) in below]
        own = naive_gain(targets, [rows_of[first], rows_of[first + 1]])
        best = max(naive_gain(targets, parts) for parts in all_splits(X, rows_of[node]))
        assert own == best
    for node in np.flatnonzero(tree.is_leaf()).tolist():
        same_target = len({y[i] for i in rows_of[node]}) == 1
        assert same_target or not list(all_splits(X, rows_of[node]))


def descendants(tree: Any, node: int) -> list[int]:
    found = [node]
    for child in range(
        int(tree.first_child[node]), int(tree.first_child[node] + tree.n_children[node])
    ):
        found += descendants(tree, child)
    return found


def all_splits(X: dict[str, Any], rows: list[int]) -> Any:
    x = X["x"]
    holes = [i for i in rows if math.isnan(x[i])]
    known = [i for i in rows if not math.isnan(x[i])]
    for cut in sorted({x[i] for i in known}):
        low, high = [i for i in known if x[i] <= cut], [i for i in known if x[i] > cut]
        for parts in ([low + holes, high], [low, high + holes]):
            if all(parts):
                yield parts
    letters = sorted({str(X["z"][i]) for i in rows})  # "None" counts as a value of its own here
    for mask in range(1, 2 ** len(letters) - 1):
        inside = {letter for k, letter in enumerate(letters) if mask >> k & 1}
        parts = [
            [i for i in rows if str(X["z"][i]) in inside],
            [i for i in rows if str(X["z"][i]) not in inside],
        ]
        if all(parts):
            yield parts


@pytest.mark.parametrize("missing", ["branch", "category", "surrogate", "error"])
def test_threads_order_and_layout_change_nothing(missing: str) -> None:
    rng = np.random.default_rng(8)
    X = np.round(rng.normal(size=(3000, 4)), 2)
    y = X[:, 0] * 3 + (X[:, 1] > 0) + rng.normal(size=3000)
    if missing != "error":
        X[rng.random(X.shape) < 0.1] = np.nan
    weight = rng.integers(0, 4, 3000).astype(float)
    options = {"missing": missing, "min_samples_leaf": 3, "pruning": "cost_complexity"}
    wanted = TreeRegressor(**options).fit(X, y, weight)
    order = rng.permutation(3000)
    copies = np.repeat(np.arange(3000), weight.astype(int))
    for data in (
        (X[order], y[order], weight[order]),
        (np.asfortranarray(X), y, weight),
        (X[copies], y[copies]),
        (X, y.tolist(), weight),
    ):
        for n_jobs in (1, 4):
            other = TreeRegressor(**options, n_jobs=n_jobs).fit(*data)
            assert other.tree_.fingerprint() == wanted.tree_.fingerprint()
            assert np.array_equal(other.pruning_choice_.rate, wanted.pruning_choice_.rate)


def test_bins_of_their_own_change_nothing() -> None:
    rng = np.random.default_rng(1)
    X, y = np.round(rng.normal(size=(2000, 3)), 1), rng.normal(size=2000)
    exact, binned = TreeRegressor(max_depth=6), TreeRegressor(max_depth=6, max_bins=255)
    assert exact.fit(X, y).tree_.fingerprint() == binned.fit(X, y).tree_.fingerprint()


def test_scikit_learn_predicts_the_same() -> None:
    for X, y in (load_diabetes(return_X_y=True), make_friedman1(500, noise=1.0, random_state=2)):
        X = X.astype(np.float32).astype(float)
        theirs = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
        ours = TreeRegressor(max_depth=4).fit(X, y)
        assert np.abs(ours.predict(X) - theirs.predict(X)).max() <= 1e-12 * np.ptp(y)
        assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-12)
    # Of friedman1, where so far no other attribute divides the rows of a node in the same way.
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)


def test_max_leaves_keeps_the_splits_that_save_most() -> None:
    X, y = make_friedman1(300, noise=1.0, random_state=5)
    X = X.astype(np.float32).astype(float)
    theirs = DecisionTreeRegressor(max_leaf_nodes=9, random_state=0).fit(X, y)
    ours = TreeRegressor(max_leaves=9).fit(X, y)
    assert ours.get_n_leaves() == 9
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)


def test_min_gain_is_a_share_of_the_variance() -> None:
    X, y = make_friedman1(300, noise=1.0, random_state=5)
    tree = TreeRegressor(min_gain=0.02).fit(X, y * 1000).tree_
    inner = tree.attribute != LEAF
    assert inner.sum() > 3
    assert (tree.gain[inner] >= 0.02).all()
    assert tree == TreeRegressor(min_gain=0.02).fit(X, y * 1000 + 0.0).tree_


# -- missing values, files, pickles, drawings -----------------------------------------------------------------------


def patients() -> tuple[dict[str, Any], np.ndarray]:
    rng = np.random.default_rng(4)
    ward = rng.choice(["a", "b", "c"], 200).astype(object)
    age = np.round(rng.uniform(20, 80, 200))
    days = 3 + (ward == "b") * 4 + age / 20 + rng.normal(size=200)
    age[rng.random(200) < 0.1] = np.nan
    ward[rng.random(200) < 0.05] = None
    return {"ward": ward, "age": age}, days


@pytest.mark.parametrize("model", [TreeRegressor(max_depth=4), CARTRegressor()])
def test_a_saved_model_is_the_same(model: Any, tmp_path: Path) -> None:
    X, y = patients()
    model = clone(model).fit(X, y)
    model.save(tmp_path / "days.model")
    for loaded in (fasttree.load(tmp_path / "days.model"), pickle.loads(pickle.dumps(model))):
        assert type(loaded) is type(model)
        assert loaded.tree_ == model.tree_
        assert loaded.predict(X).tolist() == model.predict(X).tolist()
        assert loaded.get_params() == model.get_params()
        assert hasattr(loaded, "pruning_path_") == hasattr(model, "pruning_path_")


def test_text_says_what_the_tree_does() -> None:
    X = {"dose": [1.0, 2.0, 3.0, 4.0], "ward": ["a", "a", "b", "b"]}
    model = TreeRegressor(max_depth=1).fit(X, [1.5, 1.5, 4.0, 5.0])
    assert model.to_text().startswith(
        "dose <= 2.5 (or missing): 1.5 (2)\ndose > 2.5: 4.5 (2, sd 0.5)\n"
    )
    assert "the standard deviation of their target" in model.export("text")
    assert "mean 3" in model.export("dot")
    assert "2 rows, sd 0.5" in model.export("svg")
    assert "<small>" not in model._repr_html_().split("<details")[1]


def test_unknown_categories() -> None:
    X, y = patients()
    X["ward"] = np.where(X["ward"] == None, "a", X["ward"])  # noqa: E711
    new = {"ward": ["z"], "age": [50.0]}
    by_majority = TreeRegressor(unknown="majority").fit({"ward": X["ward"]}, y)
    assert by_majority.predict({"ward": ["z"]})[0] == by_majority.tree_.prediction[0]
    with pytest.raises(ValueError, match="'z'"):
        TreeRegressor(unknown="error").fit(X, y).predict(new)
    assert np.isfinite(TreeRegressor().fit(X, y).predict(new)).all()


# -- pruning --------------------------------------------------------------------------------------------------------


def test_pruned_by_validation_rows() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] > 0) * 2 + rng.normal(size=400)
    model = TreeRegressor(pruning=CostComplexity(se=0))
    model.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    choice = model.pruning_choice_
    grown = TreeRegressor().fit(X[:200], y[:200])
    for alpha, rate in zip(choice.alphas, choice.rate, strict=True):
        pruned, _ = fasttree.pruning.prune_at(grown.tree_, model.pruning_path_, alpha)
        of_rows = pruned.prediction[leaves_in(pruned, X[200:])]
        wanted = np.square(y[200:] - of_rows).mean() / grown.tree_.error[0] ** 2
        assert rate == pytest.approx(wanted, rel=1e-12)
    assert choice.errors[choice.place] == choice.errors.min()


def test_a_fitted_tree_is_pruned_as_fit_would() -> None:
    X, y = patients()
    options = {
        "missing": "surrogate",
        "min_samples_leaf": 5,
        "stop_zero_gain": True,
        "ties": "schema",
    }
    grown = TreeRegressor(**options).fit(X, y)
    pruned = grown.prune("cost_complexity", X, y)
    assert pruned.tree_ == CARTRegressor().fit(X, y).tree_
    assert grown.get_n_leaves() > pruned.get_n_leaves()
    assert (
        pruned.pruning_trace_.leaves_removed.sum() == grown.get_n_leaves() - pruned.get_n_leaves()
    )
    with pytest.raises(ValueError, match="not the rows that this tree was grown from"):
        grown.prune("cost_complexity", X, y + 1)
    with pytest.raises(
        ValueError, match=r"method must be \"cost_complexity\" or a .* got 'reduced_error'"
    ):
        grown.prune("reduced_error", X, y)


def leaves_in(tree: Any, X: np.ndarray) -> list[int]:
    found = []
    for row in X:
        node = 0
        while tree.attribute[node] != LEAF:
            node = int(tree.first_child[node]) + int(
                row[tree.attribute[node]] > tree.threshold[node]
            )
        found.append(node)
    return found


def test_noise_is_pruned_away() -> None:
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(300, 5)), rng.normal(size=300)
    with pytest.warns(DataWarning, match="too little information about the target"):
        assert CARTRegressor().fit(X, y).get_n_leaves() == 1
    signal = CARTRegressor().fit(X, y + 3 * (X[:, 0] > 0))
    assert 2 <= signal.get_n_leaves() <= 4
    assert signal.tree_.attribute[0] == 0


def test_few_rows_are_not_pruned_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="there is only 1 group, too few for cross-validation"):
        model = CARTRegressor(min_samples_leaf=1).fit([[0.0], [1.0]], [1.0, 2.0], groups=[1, 1])
    assert model.get_n_leaves() == 2


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            ["a", "b"],
            r"y contains 'a' in row 0, but a regressor needs numbers: use fasttree.TreeClassifier",
        ),
        ([1.0, math.nan], r"y .*row 1"),
        ([None, 1.0], r"y .*row 0"),
        ([1.0, math.inf], r"y contains inf in row 1 \(infinity.*finite number"),
        ([1.0], "inconsistent numbers of samples: X has 2 rows, but y has 1"),
        (np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]"), "dates or times"),
        ([2**63 + 2**10 + 1, 1], "y "),
        (None, "requires y to be passed, but the target y is None"),
        ([[1.0, 2.0], [3.0, 4.0]], r"y should be a 1d array"),
    ],
)
def test_bad_targets(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TreeRegressor().fit([[0.0], [1.0]], y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "gini"}, "criterion must be \"squared_error\" in a regressor, got 'gini'"),
        ({"missing": "fractional"}, "missing must be .*surrogate.* got 'fractional'"),
        ({"categorical_split": "grouped"}, "categorical_split must be .*multiway.* got 'grouped'"),
        (
            {"pruning": "error_based"},
            "pruning must be None, \"cost_complexity\" or .* got 'error_based'",
        ),
        ({"pruning": CostComplexity(impurity="gini")}, 'impurity must be "error" in a regressor'),
        ({"missing": "surrogate", "categorical_split": "multiway"}, "two-way splits"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TreeRegressor(**parameters).fit([[0.0], [1.0]], [0.0, 1.0])


def test_copies_grow_the_same_tree_bit_by_bit() -> None:
    """Targets whose products with weights are rounded."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        X, y = rng.integers(0, 4, (12, 2)) / 1.0, np.round(rng.normal(size=12), 1)
        weight = rng.integers(1, 8, 12)
        rows = np.repeat(np.arange(12), weight)
        assert (
            TreeRegressor().fit(X, y, weight).tree_ == TreeRegressor().fit(X[rows], y[rows]).tree_
        )


def test_strata_do_not_depend_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        y = rng.integers(0, 3, 9) / 1.0
        weight = rng.integers(1, 10, 9) * rng.choice([0.1, 1e306, 1e-306])
        order = rng.permutation(9)
        strata = strata_of(y, weight)
        assert strata_of(y[order], weight[order]).tolist() == strata[order].tolist()
        assert strata.min() >= 0
        assert strata.max() < 10


def test_targets_at_the_ends_of_the_range_are_pruned() -> None:
    X = np.arange(12.0)[:, np.newaxis]
    y = np.array([1e308, -1e308, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])
    near = np.ldexp(y, -900)
    with pytest.warns(DataWarning, match="only 3 are told apart"):
        far, ordinary = (CARTRegressor(min_samples_leaf=1).fit(X, t) for t in (y, near))
    assert far.pruning_choice_.rate.tolist() == ordinary.pruning_choice_.rate.tolist()
    assert far.predict(X).tolist() == np.ldexp(ordinary.predict(X), 900).tolist()
    with pytest.raises(ValueError, match=r"y_val contains .*e\+8\d.* check its unit"):
        CARTRegressor().fit(X, X[:, 0], X_val=X, y_val=y * 1e-220)
    model = CARTRegressor(min_samples_leaf=1).fit(X, X[:, 0], X_val=X, y_val=X[:, 0] * 1e60)
    assert np.isfinite(model.pruning_choice_.errors).all()


def test_one_value_is_a_leaf() -> None:
    with pytest.warns(DataWarning, match="all rows have the target 3.5"):
        model = TreeRegressor().fit(np.arange(60.0)[:, np.newaxis], np.full(60, 3.5))
    assert model.get_n_leaves() == 1
    assert model.predict([[7.0]]).tolist() == [3.5]
    assert model.score([[1.0]], [3.5]) == 1.0


def test_a_classifier_that_is_given_numbers_names_the_regressor() -> None:
    with pytest.raises(ValueError, match=r"use fasttree\.TreeRegressor to predict numbers"):
        TreeClassifier().fit([[0.0], [1.0]], [0.5, 1.5])


def test_a_dataset_of_classes_is_refused() -> None:
    data = fasttree.Dataset([[0.0], [1.0]], [0, 1])
    with pytest.raises(TypeError, match="contains classes, but a regressor needs numbers"):
        TreeRegressor().fit(data)


def test_formats_for_classifiers_are_refused() -> None:
    model = TreeRegressor().fit([[0.0], [1.0]], [0.5, 1.5])
    for name in ("onnx", "pmml", "treelite"):
        with pytest.raises(ValueError, match="for classifiers only: export a regressor as 'text'"):
            model.export(name)
