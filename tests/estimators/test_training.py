# SPDX-License-Identifier: BSD-3-Clause
"""Pruning through the estimators: what each method gets, and what comes of it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import textbook_tables as tables
from printed_j48 import j48_difference, parse_j48
from printed_trees import read_sections, read_table
from sklearn.base import clone

import fasttree
from fasttree import C45Classifier, CARTClassifier, ID3Classifier, TreeClassifier, pruning
from fasttree.base.threads import ThreadTeam
from fasttree.pruning import (
    CostComplexity,
    CrossValidated,
    ErrorBased,
    LeafPenalty,
    ReducedError,
    Significance,
)
from fasttree.pruning.naive_tests import p_values_of
from fasttree.trees.paths import leaf_shares_of
from fasttree.trees.predict import ReadPolicy

TENNIS, MAMMALS, MAMMALS_8 = tables.PLAY_TENNIS, tables.MAMMALS_10, tables.MAMMALS_8
PRINTED = read_sections("weka_j48.txt")
METHODS = [
    "reduced_error",
    "error_based",
    "cost_complexity",
    "cross_validated",
    "leaf_penalty",
    "significance",
]
POLICIES = ["branch", "category", "fractional", "surrogate"]


def noisy(n_rows: int = 400, seed: int = 0, holes: float = 0.0) -> tuple[dict[str, Any], Any]:
    """Numbers and categories with ties, some unknown, and labels of which a fifth are wrong."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n_rows), rng.integers(0, 30, n_rows) / 4
    c = rng.choice(list("pqrs"), n_rows)
    y = np.where((a > 0.2) ^ (b < 3) | (c == "q"), "yes", "no")
    y = np.where(rng.random(n_rows) < 0.2, rng.choice(["yes", "no", "maybe"], n_rows), y)
    a[rng.random(n_rows) < holes] = np.nan
    b[rng.random(n_rows) < holes] = np.nan
    levels = [
        None if gone else level for level, gone in zip(c, rng.random(n_rows) < holes, strict=True)
    ]
    return {"a": a, "b": b, "c": fasttree.Categorical(levels, list("pqrs"))}, y


def rows_of(X: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    codes = np.array(X["c"].codes)[rows].tolist()
    levels = ["pqrs"[code] if code >= 0 else None for code in codes]
    return {"a": X["a"][rows], "b": X["b"][rows], "c": fasttree.Categorical(levels, list("pqrs"))}


def with_policy(missing: str, **parameters: Any) -> TreeClassifier:
    split = "subset" if missing == "surrogate" else "multiway"
    return TreeClassifier(missing=missing, categorical_split=split, **parameters)


# -- golden --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "level", "leaves"),
    [(TENNIS, level, leaves) for level, leaves in [(0.01, 1), (0.05, 1), (0.1, 1), (0.2, 5)]]
    + [(MAMMALS, level, leaves) for level, leaves in [(0.01, 1), (0.05, 1), (0.1, 3), (0.2, 3)]],
)
def test_no_split_by_chance(table: tables.Table, level: float, leaves: int) -> None:
    test = Significance(level, exact=False, test="naive")
    assert ID3Classifier(significance=test).fit(table.X, table.y).get_n_leaves() == leaves


def test_no_split_by_chance_with_the_exact_test() -> None:
    # The roots have p = .3007 (chi-square says .1698) and .1333 (.0528).
    p = p_values_of(ID3Classifier().fit(TENNIS.X, TENNIS.y).tree_, np.array([0]))
    assert p == pytest.approx(0.3007, abs=5e-5)
    for table, level, leaves in [
        (TENNIS, 0.2, 1),
        (TENNIS, 0.35, 5),
        (MAMMALS, 0.1, 1),
        (MAMMALS, 0.2, 2),
    ]:
        number = ID3Classifier(significance=level, significance_test="naive")
        itself = ID3Classifier(significance=Significance(level, exact=None, test="naive"))
        for model in (number, itself):
            assert model.fit(table.X, table.y).get_n_leaves() == leaves
    whole = ID3Classifier().fit(MAMMALS.X, MAMMALS.y)
    assert whole.prune(Significance(0.2, test="naive")).get_n_leaves() == 3
    assert whole.prune(Significance(0.2, exact=True, test="naive")).get_n_leaves() == 2
    with pytest.raises(ValueError, match="exact must be True, False or None, got 'yes'"):
        Significance(exact="yes")


def test_prices_of_leaves() -> None:
    tennis = ID3Classifier().fit(TENNIS.X, TENNIS.y)
    assert [tennis.prune(LeafPenalty(z)).get_n_leaves() for z in (0.5, 1, 2)] == [5, 5, 1]
    cart = CARTClassifier(pruning=LeafPenalty(0.5)).fit(TENNIS.X, TENNIS.y)
    assert cart.get_n_leaves() == 3
    assert pruning.generalisation_error(cart.tree_, 0.5) == pytest.approx(0.25)
    mammals = ID3Classifier(pruning="leaf_penalty").fit(MAMMALS.X, MAMMALS.y)
    assert mammals.get_n_leaves() == 3
    assert ID3Classifier(pruning=LeafPenalty(1)).fit(MAMMALS.X, MAMMALS.y).get_n_leaves() == 1


@pytest.mark.parametrize("se", [0.0, 1.0])
def test_cost_complexity_of_play_tennis_by_seven_folds(se: float) -> None:
    how = CostComplexity(folds=np.arange(14) % 7, se=se)
    fitted = CARTClassifier(pruning=how).fit(TENNIS.X, TENNIS.y)
    grown = CARTClassifier(pruning=None).fit(TENNIS.X, TENNIS.y)
    for model in (fitted, grown.prune(how, TENNIS.X, TENNIS.y)):
        assert model.pruning_path_.alphas == pytest.approx([0, 0.5 / 14, 1.5 / 14])
        assert model.pruning_path_.leaves.tolist() == [7, 3, 1]
        assert model.pruning_choice_.errors.tolist() == [9, 7, 5]
        assert model.pruning_choice_.rate[-1] == pytest.approx(0.357143, abs=5e-7)
        assert model.pruning_choice_.standard_error[-1] == pytest.approx(0.128060, abs=5e-7)
        assert model.get_n_leaves() == 1
        assert model.pruning_trace_.leaves_removed.sum() == 6
    assert grown.get_n_leaves() == 7
    assert not hasattr(grown, "pruning_trace_")


def test_paths() -> None:
    for table, alphas, leaves in [
        (TENNIS, [0, 0.08928571428571429], [5, 1]),
        (MAMMALS, [0, 0.1], [3, 1]),
        (MAMMALS_8, [0, 0.0625, 0.25], [4, 2, 1]),
    ]:
        model = ID3Classifier().fit(table.X, table.y)
        path = model.prune("cost_complexity", X_val=table.X, y_val=table.y).pruning_path_
        assert path.alphas == pytest.approx(alphas)
        assert path.leaves.tolist() == leaves


def wrong_days(model: TreeClassifier, folds: np.ndarray) -> list[int]:
    wrong = []
    for fold in np.unique(folds):
        rest, own = TENNIS.rows(np.flatnonzero(folds != fold)), np.flatnonzero(folds == fold)
        guesses = model.fit(rest.X, rest.y).predict(TENNIS.rows(own.tolist()).X)
        wrong += [
            int(day) + 1
            for day, guess in zip(own, guesses, strict=True)
            if guess != TENNIS.target.values[day]
        ]
    return sorted(wrong)


def test_pruned_c45_that_has_not_seen_the_day() -> None:
    for model in (C45Classifier(), C45Classifier(compat="j48")):
        assert wrong_days(model, np.arange(14)) == [3, 4, 6, 9, 11, 12, 14]
        assert wrong_days(model, np.arange(14) % 7) == [1, 3, 6, 8, 9, 11, 12, 14]


@pytest.mark.parametrize(
    "name", [name.removesuffix(" -S") for name in PRINTED if name.endswith(" -S")]
)
def test_trees_that_weka_prunes(name: str) -> None:
    X, y = read_table(name)
    model = C45Classifier(compat="j48").fit(X, y)
    assert j48_difference(model.tree_, parse_j48(PRINTED[name])) is None
    labels = np.array([y.categories[code] for code in y.codes])
    assert (model.predict(X) != labels).sum() == parse_j48(PRINTED[name]).training_errors
    raising = C45Classifier(compat="j48", pruning=None).fit(X, y)
    assert raising.prune("error_based", X, y).tree_ == model.tree_
    plain = ErrorBased(estimate="normal", raising=False)
    model = C45Classifier(compat="j48", pruning=plain).fit(X, y)
    assert j48_difference(model.tree_, parse_j48(PRINTED[f"{name} -S"])) is None
    assert raising.prune(plain).tree_ == model.tree_


def test_drawn_mammals_by_the_table_of_test_animals() -> None:
    prices = {"Four-Legged": 99, "Hibernates": 999}
    model = ID3Classifier(attribute_costs=prices, cost_function="gain_per_cost")
    model.fit(MAMMALS.X, MAMMALS.y)
    test = tables.MAMMALS_TEST
    smaller = model.prune("reduced_error", X_val=test.X, y_val=test.y)
    assert (model.get_n_leaves(), smaller.get_n_leaves()) == (4, 3)
    assert smaller.score(test.X, test.y) == pytest.approx(0.9)
    assert smaller.pruning_trace_.attribute == ("Four-Legged",)
    model.set_params(pruning=ReducedError(stop="below_original"))
    again = model.fit(MAMMALS.X, MAMMALS.y, X_val=test.X, y_val=test.y)
    assert again.score(test.X, test.y) >= 0.7


# -- against slow and simple ways ----------------------------------------------------------------


def slow_counts(model: TreeClassifier, X: Any, codes: np.ndarray) -> np.ndarray:
    """Where rows end, by class; a row goes down several branches by their weights."""
    tree = model.tree_
    held = np.zeros(tree.counts.shape)
    rows = [
        np.array(X["a"]),
        np.array(X["b"]),
        np.array([code + 1 if code >= 0 else np.nan for code in X["c"].codes]),
    ]

    def down(node: int, row: int, weight: float) -> None:
        asked = tree.attribute[node]
        if asked < 0:
            held[node, codes[row]] += weight
            return
        first = int(tree.first_child[node])
        value = rows[asked][row]
        if np.isnan(value) and tree.missing_branch[node] < 0:
            children = range(first, first + int(tree.n_children[node]))
            for child in children:
                if tree.weight[child]:
                    down(
                        child, row, weight * tree.weight[child] / tree.weight[list(children)].sum()
                    )
            return
        if np.isnan(value):
            branch = int(tree.missing_branch[node])
        elif np.isnan(tree.threshold[node]):
            table = slice(tree.table_start[node], tree.table_start[node + 1])
            found = np.flatnonzero(tree.table_codes[table] == value)
            branch = int(
                tree.table_branch[table][found[0]] if len(found) else tree.default_branch[node]
            )
        else:
            branch = int(value > tree.threshold[node])
        down(first + branch, row, weight)

    for row in range(len(codes)):
        down(0, row, 1.0)
    return held


@pytest.mark.parametrize("missing", ["branch", "category", "fractional"])
def test_folds_are_fits_of_their_own(missing: str) -> None:
    X, y = noisy(holes=0.15)
    folds = np.arange(len(y)) % 4
    model = with_policy(missing, pruning=CostComplexity(folds=folds)).fit(X, y)
    grown = with_policy(missing).fit(X, y)
    columns = fasttree.Columns(X, y)
    codes = np.searchsorted(grown.classes_, y)

    def slow(fold: int) -> tuple[Any, np.ndarray]:
        own = folds == fold
        tree = with_policy(missing).fit(columns, sample_weight=np.where(own, 0, 1))
        return tree.tree_, slow_counts(tree, rows_of(X, np.flatnonzero(own)), codes[own])

    path = pruning.cost_complexity_path(grown.tree_)
    choice = pruning.choose_by_folds(path, map(slow, range(4)))
    assert model.pruning_choice_.errors == pytest.approx(choice.errors, abs=1e-9)
    assert model.tree_ == pruning.prune_at(grown.tree_, path, choice.alpha)[0]
    assert model.get_n_leaves() < grown.get_n_leaves()


def test_rows_that_go_several_ways() -> None:
    X, y = noisy(holes=0.3)
    model = with_policy("fractional").fit(X, y)
    table = model._read(X)
    with ThreadTeam(None) as team:
        ends = leaf_shares_of(model.tree_, table, ReadPolicy(), team)
    assert (np.diff(ends.row) >= 0).all()
    assert np.bincount(ends.row, ends.share) == pytest.approx(np.ones(len(y)))
    shares = np.zeros((len(y), 3))
    np.add.at(shares, ends.row, ends.share[:, np.newaxis] * model.tree_.proba[ends.node])
    assert shares == pytest.approx(model.predict_proba(X))
    codes = np.searchsorted(model.classes_, y)
    held = pruning.held_out_counts(
        model.tree_, ends.node, codes[ends.row], ends.weights(np.ones(len(y)))
    )
    assert held == pytest.approx(slow_counts(model, X, codes))
    smaller = model.prune("reduced_error", X_val=X, y_val=y)
    assert smaller.tree_ == pruning.reduced_error(model.tree_, held)[0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("missing", POLICIES)
def test_every_method_with_every_policy(method: str, missing: str) -> None:
    X, y = noisy(holes=0.1)
    grown = with_policy(missing).fit(X, y)
    model = with_policy(missing, pruning=method, n_jobs=2).fit(X, y)
    removed = int(model.pruning_trace_.leaves_removed.sum())
    assert removed > 0
    if method != "reduced_error":  # there, the tree grows from a part of the rows
        assert model.get_n_leaves() == grown.get_n_leaves() - removed
        assert model.tree_ == grown.prune(method, X, y).tree_
    # The order of the rows is nothing, and neither is who encoded them.
    order = np.random.default_rng(1).permutation(len(y))
    again = with_policy(missing, pruning=method).fit(rows_of(X, order), y[order])
    assert again.tree_.fingerprint() == model.tree_.fingerprint()
    columns = fasttree.Columns(X, y)
    assert with_policy(missing, pruning=method).fit(columns).tree_ == model.tree_


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("missing", ["branch", "fractional"])
def test_a_weight_is_a_number_of_copies(method: str, missing: str) -> None:
    X, y = noisy(200, holes=0.1)
    times = np.random.default_rng(3).integers(0, 3, len(y))
    by_weight = with_policy(missing, pruning=method).fit(X, y, sample_weight=times)
    rows = np.repeat(np.arange(len(y)), times)
    by_copies = with_policy(missing, pruning=method).fit(rows_of(X, rows), y[rows])
    for name in ("attribute", "threshold", "counts", "pred"):
        a, b = getattr(by_weight.tree_, name), getattr(by_copies.tree_, name)
        assert np.array_equal(a, b, equal_nan=name == "threshold") or np.allclose(a, b), name
    columns = fasttree.Columns(X, y)
    by_columns = with_policy(missing, pruning=method).fit(columns, sample_weight=times)
    assert np.array_equal(by_columns.tree_.counts, by_weight.tree_.counts)


def test_weights_of_any_size() -> None:
    X, y = noisy()
    weight = np.random.default_rng(0).random(len(y)) / len(y)
    for method in METHODS:
        model = TreeClassifier(pruning=method, class_weight={"yes": 2}).fit(X, y, weight)
        assert 1 <= model.get_n_leaves() < TreeClassifier().fit(X, y, weight).get_n_leaves()


def test_seeds_draw_otherwise() -> None:
    X, y = noisy()
    trees = [
        TreeClassifier(pruning="reduced_error", random_state=seed).fit(X, y).tree_
        for seed in (None, 0, 1)
    ]
    assert trees[0] == trees[1]
    assert trees[0] != trees[2]
    # 30 % of each class, rounded down, are held out.
    n = np.array([(y == label).sum() for label in ("maybe", "no", "yes")])
    assert trees[0].counts[0].tolist() == (n - np.floor(0.3 * n)).tolist()


@pytest.mark.parametrize("missing", POLICIES)
def test_stopping_at_splits_by_chance_is_cutting_from_the_top(missing: str) -> None:
    X, y = noisy(holes=0.1)
    grown = with_policy(missing).fit(X, y)
    naive = {"significance": 0.01, "significance_test": "naive"}
    model = with_policy(missing, **naive).fit(X, y)
    tree = grown.tree_
    kept = np.zeros(tree.node_count, dtype=bool)
    for node in np.flatnonzero(~tree.is_leaf()).tolist():
        above = node == 0 or kept[tree.parent[node]]
        children = slice(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
        kept[node] = above and fasttree.stats.significance.p_value(tree.counts[children]) < 0.01
    assert model.tree_ == tree.subtree(kept)
    assert 1 < model.get_n_leaves() < grown.get_n_leaves()
    few = with_policy(missing, **naive, max_leaves=4).fit(X, y)
    assert few.get_n_leaves() <= 4
    assert few.tree_.max_depth <= model.tree_.max_depth


# -- the estimators ------------------------------------------------------------------------------


def test_a_copy_is_pruned() -> None:
    X, y = noisy()
    model = TreeClassifier(max_depth=6).fit(X, y)
    before = model.tree_
    smaller = model.prune("leaf_penalty").prune(ErrorBased(raising=False))
    assert model.tree_ is before
    assert type(smaller) is TreeClassifier
    assert smaller.get_params() == model.get_params()
    assert smaller.pruning_trace_.method == "error_based"
    assert smaller.predict(X).shape == y.shape
    assert not hasattr(model, "pruning_trace_")


def test_refit_forgets_the_pruning() -> None:
    X, y = noisy()
    model = CARTClassifier().fit(X, y)
    assert {"pruning_trace_", "pruning_path_", "pruning_choice_"} <= set(vars(model))
    model.set_params(pruning="leaf_penalty").fit(X, y)
    assert model.pruning_trace_.method == "leaf_penalty"
    assert not hasattr(model, "pruning_choice_")
    model.set_params(pruning=None).fit(X, y)
    assert not hasattr(model, "pruning_trace_")


def test_pruning_objects_are_parameters() -> None:
    how = CostComplexity(folds=5, se=0)
    model = CARTClassifier(pruning=how)
    assert repr(model) == (
        "CARTClassifier(pruning=CostComplexity(folds=5, se=0, impurity='error'))"
    )
    assert clone(model).pruning == how
    assert pickle.loads(pickle.dumps(model)).pruning == how
    assert repr(CARTClassifier()) == "CARTClassifier()"
    assert repr(CARTClassifier(pruning=None)) == "CARTClassifier(pruning=None)"
    X, y = noisy()
    assert clone(model).fit(X, y).tree_ == model.fit(X, y).tree_
    folds = CostComplexity(folds=np.arange(len(y)) % 3)
    assert clone(CARTClassifier(pruning=folds)).fit(X, y).pruning_choice_.weight == len(y)


def test_few_rows() -> None:
    X = [[1.0], [2.0], [3.0], [4.0]]
    with pytest.warns(UserWarning, match="class 1 has 1 row, .* the tree is not pruned"):
        model = CARTClassifier().fit(X, [0, 0, 0, 1])
    assert model.get_n_leaves() == 2
    assert len(model.pruning_trace_) == 0
    assert model.pruning_trace_.method == "cost_complexity"
    assert not hasattr(model, "pruning_choice_")
    with pytest.warns(
        UserWarning, match=r"0\.3 of 4 rows leaves no validation rows: .* not pruned"
    ):
        model = TreeClassifier(pruning="reduced_error").fit(X, [0, 0, 1, 1])
    assert model.get_n_leaves() == 2
    # A single leaf needs no folds.
    assert CARTClassifier().fit([[1.0], [1.0]], [0, 1]).get_n_leaves() == 1
    for method in METHODS:
        assert TreeClassifier(pruning=method).fit(X, [1] * 4).get_n_leaves() == 1
    # The default shrinks to the five days without play.
    assert CARTClassifier().fit(TENNIS.X, TENNIS.y).get_n_leaves() == 1


def test_validation_rows_choose() -> None:
    X, y = noisy(600)
    train, rest = np.arange(400), np.arange(400, 600)
    X_val, y_val = rows_of(X, rest), y[rest]
    model = CARTClassifier().fit(rows_of(X, train), y[train], X_val=X_val, y_val=y_val)
    grown = CARTClassifier(pruning=None).fit(rows_of(X, train), y[train])
    assert model.tree_ == grown.prune("cost_complexity", X_val=X_val, y_val=y_val).tree_
    assert model.pruning_choice_.weight == 200
    best = grown.prune(CostComplexity(se=0), X_val=X_val, y_val=y_val)
    wrong = (best.predict(X_val) != y_val).sum()
    assert wrong == best.pruning_choice_.errors.min()


def test_costs_and_unknown_levels() -> None:
    X, y = noisy(holes=0.05)
    cost = {
        "yes": {"no": 5, "maybe": 1},
        "no": {"yes": 1, "maybe": 1},
        "maybe": {"yes": 1, "no": 1},
    }
    for method in METHODS:
        model = TreeClassifier(pruning=method, misclassification_cost=cost, unknown="majority")
        model.fit(X, y)
        assert (
            1
            <= model.get_n_leaves()
            < TreeClassifier(misclassification_cost=cost).fit(X, y).get_n_leaves()
        )
    other = dict(X, c=fasttree.Categorical(["new"] * len(y), ["new"]))
    smaller = model.prune("reduced_error", X_val=other, y_val=y)
    assert smaller.get_n_leaves() <= model.get_n_leaves()


# -- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"pruning": "shorten"},
            "pruning must be one of 'reduced_error', .* or None, got 'shorten'",
        ),
        ({"pruning": 3}, "pruning must be one of"),
        ({"significance": 0}, "significance must be None .* above 0 and below 1, got 0"),
        ({"significance": 1.5}, "significance must be None .* got 1.5"),
        ({"significance": "low"}, "significance must be"),
        ({"random_state": -1}, "random_state must be None or an integer from 0 to .*, got -1"),
        ({"random_state": 0.5}, "random_state must be None or an integer"),
        (
            {"pruning": CostComplexity(folds=200)},
            "folds=200 is greater than the number of rows of the class 'maybe', ",
        ),
        ({"pruning": CrossValidated(folds=[1, 2])}, "one fold number for each of the 400 rows"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    X, y = noisy()
    with pytest.raises(ValueError, match=message):
        TreeClassifier(**parameters).fit(X, y)


def test_folds_of_rows_without_weight() -> None:
    X, y = noisy()
    half = np.arange(400) < 200
    with pytest.raises(ValueError, match="all rows of weight above 0 to one fold"):
        TreeClassifier(pruning=CostComplexity(folds=half)).fit(X, y, half.astype(float))
    with pytest.raises(ValueError, match="all rows of weight above 0 to one fold"):
        TreeClassifier(pruning=CostComplexity(folds=half)).fit(
            fasttree.Columns(X, y), sample_weight=half.astype(float)
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: ({"a": X["a"], "b": X["b"]}, y), "(?s)validation rows .* now missing"),
        (lambda X, y: (dict(X, d=X["a"]), y), "(?s)validation rows .* unseen at fit"),
        (lambda X, y: (X, np.full(len(y), "never")), "y_val contains the class 'never'"),
        (lambda X, y: (X, y[:-1]), "validation rows"),
        (lambda X, y: (rows_of(X, np.arange(0)), y[:0]), "validation rows"),
        (lambda X, y: (X, None), "X_val was passed without y_val"),
        (lambda X, y: (None, y), "y_val was passed without X_val"),
    ],
)
def test_bad_validation_rows(change: Any, message: str) -> None:
    X, y = noisy()
    X_val, y_val = change(*noisy(50, seed=1))
    for model in (
        TreeClassifier(pruning="reduced_error"),
        CARTClassifier(missing="branch", categorical_split="multiway"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, X_val=X_val, y_val=y_val)
    with pytest.raises(ValueError, match=message):
        TreeClassifier().fit(X, y).prune("reduced_error", X_val=X_val, y_val=y_val)


def test_validation_rows_with_holes_where_they_are_refused() -> None:
    X, y = noisy()
    X_val, y_val = noisy(50, seed=1, holes=0.2)
    with pytest.raises(ValueError, match="missing value"):
        TreeClassifier(missing="error", pruning="reduced_error").fit(X, y, None, X_val, y_val)


def test_nobody_asked_for_validation_rows() -> None:
    X, y = noisy()
    with pytest.raises(ValueError, match="X_val is used only for pruning, but pruning is None"):
        TreeClassifier().fit(X, y, X_val=X, y_val=y)
    for method in ("error_based", "leaf_penalty", "significance", "cross_validated"):
        with pytest.raises(ValueError, match="does not use validation rows"):
            TreeClassifier(pruning=method).fit(X, y, X_val=X, y_val=y)


def test_pruning_without_what_it_needs() -> None:
    X, y = noisy()
    model = TreeClassifier().fit(X, y)
    for method, message in [
        ("reduced_error", "ReducedError requires validation rows: pass X_val"),
        ("error_based", "pass the X and y of fit, or use ErrorBased"),
        ("cost_complexity", "pass the X and y of fit, or validation rows"),
        (
            "cross_validated",
            "CrossValidated requires the training rows, .*: pass the X and y of fit$",
        ),
        ("significance", 'pass the X and y of fit, or use Significance.test="naive"'),
    ]:
        with pytest.raises(ValueError, match=message):
            model.prune(method)
    with pytest.raises(ValueError, match="method must be one of 'reduced_error'"):
        model.prune(None)
    with pytest.raises(ValueError, match=r"method must be one of .* got 'short'"):
        model.prune("short")
    with pytest.raises(ValueError, match="not the rows that this tree was grown from"):
        model.prune("error_based", rows_of(X, np.arange(300)), y[:300])
    with pytest.raises(ValueError, match="not the rows that this tree was grown from"):
        model.prune("cost_complexity", {"a": X["a"], "b": X["b"]}, y)
    with pytest.raises(ValueError, match="not fitted"):
        TreeClassifier().prune("leaf_penalty")
    with pytest.raises(ValueError, match=r"confidence must be above 0 and at most 0\.5"):
        model.prune(ErrorBased(confidence=0.6))


@pytest.mark.parametrize(("times", "leaves", "bits"), [(1, 1, 17.420684), (2, 5, 23.726061)])
def test_pruning_by_message_length(times: int, leaves: int, bits: float) -> None:
    """PlayTennis once is told shortest by no tree at all, twice by ID3's."""
    X, y = fasttree.datasets.play_tennis()
    weight = np.full(14, times)
    model = ID3Classifier(pruning="message_length").fit(X, y, sample_weight=weight)
    assert model.get_n_leaves() == leaves
    later = ID3Classifier().fit(X, y, sample_weight=weight)
    later = later.prune("message_length", X, y, sample_weight=weight)
    assert later.tree_.fingerprint() == model.tree_.fingerprint()
    assert len(later.pruning_trace_) == (3 if leaves == 1 else 0)
    if leaves == 1:
        assert later.pruning_trace_.after[-1] == pytest.approx(bits, abs=5e-7)
    with pytest.raises(ValueError, match="alpha"):
        fasttree.pruning.MessageLength(alpha=0)
