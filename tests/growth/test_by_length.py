# SPDX-License-Identifier: BSD-3-Clause
"""Growth by message length and by evidence, and the estimators that do so: the printed numbers, and a naive grower."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference_mml
import textbook_tables as tables
from candidates import Attribute
from mml.test_message_length import DATA, GOLDEN, REAL, XOR_OPTIMUM, real_table, reordered

from fasttree import (
    BayesTreeClassifier,
    Categorical,
    Columns,
    MMLClassifier,
    RuleClassifier,
    SMMLClassifier,
    TreeClassifier,
    rank_attributes,
)
from fasttree.mml.averaging import average_prunings
from fasttree.mml.options import choices_of

pytestmark = pytest.mark.numeric

ANY_SIZE = {"min_samples_split": 0, "min_samples_leaf": 0}


def copies(table: tables.Table, n: int) -> np.ndarray:
    return np.full(len(table.class_codes), float(n))


# -- printed numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "n", "grown_bits", "bits", "leaves"),
    [
        ("PLAY_TENNIS", 1, 21.396785794722625, 17.42068406241999, 1),
        ("PLAY_TENNIS", 2, 23.72606145305452, 23.72606145305452, 5),
        ("PLAY_TENNIS", 10, 29.39293508229523, 29.39293508229523, 5),
        ("MAMMALS_10", 1, 12.978325957141633, 11.255166162500453, 1),
        ("MAMMALS_10", 4, 15.822293942284519, 15.822293942284519, 3),
    ],
)
def test_shortest_messages(table: str, n: int, grown_bits: float, bits: float, leaves: int) -> None:
    data: tables.Table = getattr(tables, table)
    grown = MMLClassifier().fit(data.X, data.y, copies(data, n))
    assert grown.message_length().bits == pytest.approx(grown_bits, abs=GOLDEN)
    short = SMMLClassifier().fit(data.X, data.y, copies(data, n))
    assert short.message_length().bits == pytest.approx(bits, abs=GOLDEN)
    assert short.message_length(data.X).bits == pytest.approx(bits, abs=GOLDEN)
    assert short.get_n_leaves() == leaves


@pytest.mark.parametrize(
    ("names", "lookahead", "leaves", "bits"),
    [
        ("abc", 0, 4, XOR_OPTIMUM),
        ("abc", 1, 4, XOR_OPTIMUM),
        ("cab", 0, 8, 35.52932501298079),
        ("cab", 1, 4, XOR_OPTIMUM),
    ],
)
def test_xor(names: str, lookahead: int, leaves: int, bits: float) -> None:
    table = reordered(tables.XOR, names)
    model = SMMLClassifier(alpha=1.0, lookahead=lookahead).fit(table.X, table.y, np.full(8, 8.0))
    assert model.get_n_leaves() == leaves
    assert model.message_length().bits == pytest.approx(bits, abs=GOLDEN)
    assert model.score(table.X, table.y) == 1.0


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no real tables in {DATA}")
@pytest.mark.parametrize(("name", "alpha"), list(REAL))
def test_real_tables(name: str, alpha: float) -> None:
    grown_leaves, grown_bits, leaves, size, bits, errors, root = REAL[name, alpha]
    table = real_table(name)
    columns = Columns(table.X, table.y)
    grown = MMLClassifier(alpha=alpha).fit(columns)
    assert grown.get_n_leaves() == grown_leaves
    assert grown.message_length().bits == pytest.approx(grown_bits, abs=1e-8)
    short = SMMLClassifier(alpha=alpha).fit(columns)
    tree = short.tree_
    assert (tree.n_leaves, tree.size) == (leaves, size)
    assert short.message_length().bits == pytest.approx(bits, abs=1e-8)
    assert table.names[tree.attribute[0]] == root
    is_wrong = short.predict(table.X) != np.array(table.y)
    assert is_wrong.sum() == errors


# P(Yes) of the days D1, D3, D4, D6 by the tree that ID3 grows; growth by length grows the same
W_P = {
    1.0: (0.542174, 0.698167, 0.620026, 0.586723),
    0.5: (0.505249, 0.746263, 0.648488, 0.560261),
}


@pytest.mark.parametrize("alpha", list(W_P))
def test_mml_of_play_tennis(alpha: float) -> None:
    table = tables.PLAY_TENNIS
    model = MMLClassifier(alpha=alpha).fit(table.X, table.y)
    yes = model.predict_proba(table.X)[[0, 2, 3, 5], list(model.classes_).index("Yes")]
    assert yes == pytest.approx(W_P[alpha], abs=5e-7)


def test_averages_decide_the_class() -> None:
    table = tables.PLAY_TENNIS
    for model in (MMLClassifier(), BayesTreeClassifier(alpha=1.0)):
        model.fit(table.X, table.y)
        shares = model.predict_proba(table.X)
        assert shares.sum(axis=1) == pytest.approx(np.ones(14))
        best = model.classes_[shares.argmax(axis=1)]
        assert model.predict(table.X).tolist() == best.tolist()


# -- against the naive grower ----------------------------------------------------------------------


def random_table(seed: int, n: int, holes: float, places: int) -> tuple[dict[str, Any], Any, Any]:
    """Two numbers and two categories, and the same for the naive grower. `places` of the numbers: with many, they have
    more values than a histogram has room for."""
    random = np.random.default_rng(seed)
    numbers = np.round(random.normal(size=(2, n)), places)
    codes = random.integers(0, 3, size=(2, n)).astype(float)
    y = (numbers[0] * numbers[1] + (codes[0] == 1) > 0.5).astype(int) + (random.random(n) < 0.2)
    lost = random.random((4, n)) < holes
    numbers[lost[:2]] = np.nan
    codes[lost[2:]] = np.nan
    X: dict[str, Any] = {f"n{i}": column for i, column in enumerate(numbers)}
    for i, column in enumerate(codes):
        words = [None if math.isnan(c) else "abc"[int(c)] for c in column]
        X[f"c{i}"] = Categorical(words, list("abc"))
    attributes = [Attribute(c.tolist()) for c in numbers]
    attributes += [Attribute(c.tolist(), 3) for c in codes]
    return X, y, attributes


def assert_same(naive: reference_mml.Node, tree: Any) -> None:
    pairs = [(naive, 0)]
    for node, i in pairs:  # grows as it is walked
        assert tree.counts[i] == pytest.approx(node.counts, abs=1e-6)
        assert (node.test is None) == (tree.attribute[i] < 0)
        if node.test is None:
            continue
        assert node.test.attribute == tree.attribute[i]
        if node.test.n_cuts:
            assert node.test.threshold == tree.threshold[i]
        codes = tree.table_codes[tree.table_start[i] : tree.table_start[i + 1]].tolist()
        for branch, child in enumerate(node.children):
            if codes and branch + 1 not in codes:
                assert not child.rows
                continue
            place = codes.index(branch + 1) if codes else branch
            pairs.append((child, int(tree.first_child[i]) + place))


def assert_same_choices(model: Any, X: Any) -> None:
    """What growth noted is what the training rows say; of a leaf it only matters whether anything can be asked."""
    tree, noted = model.tree_, model._choices
    found = choices_of(tree, X, model.categorical_split)
    is_split = ~tree.is_leaf()
    assert noted.eligible[is_split].tolist() == found.eligible[is_split].tolist()
    has_rows = tree.counts.any(axis=1)
    assert ((noted.eligible == 0) == (found.eligible == 0))[has_rows].all()
    assert noted.n_cuts[is_split].tolist() == found.n_cuts[is_split].tolist()
    assert noted.place[is_split].tolist() == found.place[is_split].tolist()


@pytest.mark.parametrize("holes", [0.0, 0.25])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("seed", range(4))
def test_grows_as_the_naive_grower(seed: int, weights: str, holes: float) -> None:
    X, y, attributes = random_table(seed, 40 + seed, holes, 1)
    random = np.random.default_rng(seed)
    weight = None
    if weights != "none":
        weight = random.integers(1, 4, len(y)).astype(float)
        weight = weight if weights == "whole" else random.random(len(y)) + 0.1
        weight = weight if weights == "whole" else weight / weight.mean()
    as_list = None if weight is None else weight.tolist()
    for criterion, lookahead in (("message_length", 0), ("message_length", 1), ("evidence", 0)):
        for alpha in (0.5, 1.0):
            naive = reference_mml.Problem(
                attributes, y.tolist(), 3, as_list, alpha, criterion=criterion, lookahead=lookahead
            )
            model = MMLClassifier(
                criterion=criterion, alpha=alpha, lookahead=lookahead, **ANY_SIZE
            ).fit(X, y, weight)
            assert_same(naive.grow(), model.tree_)
            assert_same_choices(model, X)


@pytest.mark.parametrize("holes", [0.0, 0.1])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_values(n_classes: int, holes: float) -> None:
    X, y, attributes = random_table(7, 300, holes, 4)
    y = np.minimum(y, n_classes - 1)
    for criterion in ("message_length", "evidence"):
        naive = reference_mml.Problem(attributes, y.tolist(), n_classes, criterion=criterion)
        root = naive.root()
        best = naive.best_test(root, 0)
        assert best is not None
        root.test = best[1]
        root.children = naive.children(root, best[1])
        model = MMLClassifier(criterion=criterion, max_depth=1, **ANY_SIZE).fit(X, y)
        assert_same(root, model.tree_)
        assert_same_choices(MMLClassifier(criterion=criterion).fit(X, y), X)


@pytest.mark.parametrize("missing", ["branch", "category", "fractional", "surrogate"])
@pytest.mark.parametrize("shape", ["subset", "multiway", "grouped"])
def test_notes_of_every_kind_of_split(shape: str, missing: str) -> None:
    if missing == "surrogate" and shape != "subset":
        pytest.skip("surrogates go with splits in two")
    for seed in range(3):
        X, y, _ = random_table(seed, 200, 0.15, 1 + 3 * (seed == 2))
        codes = np.random.default_rng(seed).integers(0, 9 + 300 * (seed == 1), 200)
        X["w"] = Categorical([f"v{c}" for c in codes])
        model = TreeClassifier(
            criterion="message_length", categorical_split=shape, missing=missing
        ).fit(X, y)
        assert_same_choices(model, X)


def test_every_subset_is_tried() -> None:
    """The order by class rates may miss the shortest code."""
    random = np.random.default_rng(1)
    for _ in range(20):
        counts = random.integers(0, 5, size=(5, 2))
        values = np.repeat(np.arange(10) // 2, counts.ravel())
        y = np.repeat(np.arange(10) % 2, counts.ravel())
        X = {"w": Categorical([f"v{v}" for v in values])}
        model = TreeClassifier(criterion="message_length", max_depth=1).fit(X, y)
        if model.tree_.node_count == 1:
            continue
        found = np.array([reference_mml.adaptive_bits(c, 0.5) for c in model.tree_.counts[1:]])
        bits = []
        for subset in range(1, 31):
            left = np.array([subset >> v & 1 for v in range(5)], dtype=bool)
            sides = [counts[left].sum(axis=0), counts[~left].sum(axis=0)]
            if all(side.any() for side in sides):
                bits.append(sum(reference_mml.adaptive_bits(side, 0.5) for side in sides))
        assert found.sum() == pytest.approx(min(bits), abs=1e-9)


# -- nothing else matters --------------------------------------------------------------------------


def take(X: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    return {
        name: Categorical(np.asarray(c)[rows].tolist(), list("abc"))
        if isinstance(c, Categorical)
        else c[rows]
        for name, c in X.items()
    }


@pytest.mark.parametrize("holes", [0.0, 0.02])
@pytest.mark.parametrize("criterion", ["message_length", "evidence"])
def test_copies_threads_and_order_change_nothing(criterion: str, holes: float) -> None:
    X, y, _ = random_table(3, 3000, holes, 4)
    model = TreeClassifier(
        criterion=criterion, categorical_split="multiway", missing="fractional", min_samples_split=8
    )
    one = model.fit(X, y).tree_
    assert model.set_params(n_jobs=2).fit(X, y).tree_ == one
    shuffled = np.random.default_rng(1).permutation(len(y))
    assert model.fit(take(X, shuffled), y[shuffled]).tree_ == one
    if holes:  # shares of two rows are not rounded as those of one that weighs as much
        return
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    copied = np.repeat(np.arange(len(y)), weight)
    weighted = model.fit(X, y, weight.astype(float)).tree_
    assert model.fit(take(X, copied), y[copied]).tree_ == weighted


def test_levels_grown_in_parts_keep_their_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    from fasttree.growth import memory_rows

    X, y, _ = random_table(5, 400, 0.3, 1)
    model = MMLClassifier(min_samples_split=10)
    whole, noted = model.fit(X, y).tree_, model._choices
    monkeypatch.setattr(memory_rows, "MOST_SHARES", 0)
    assert model.fit(X, y).tree_ == whole
    assert noted is not None
    assert model._choices is not None
    for name in ("eligible", "n_cuts", "place"):
        assert getattr(model._choices, name).tolist() == getattr(noted, name).tolist()
    ahead = MMLClassifier(min_samples_split=60, lookahead=1)
    in_parts = ahead.fit(X, y).tree_
    monkeypatch.undo()
    assert ahead.fit(X, y).tree_ == in_parts


def test_limits() -> None:
    X, y, _ = random_table(2, 400, 0.0, 2)
    model = MMLClassifier(max_leaves=9).fit(X, y)
    assert model.get_n_leaves() <= 9
    assert_same_choices(model, X)
    assert MMLClassifier(max_depth=2, lookahead=1).fit(X, y).get_depth() == 2
    small = SMMLClassifier(min_samples_leaf=30).fit(X, y).tree_
    assert small.counts[small.is_leaf()].sum(axis=1).max() >= 30


def test_gain_is_what_a_split_saves() -> None:
    X, y, _ = random_table(2, 300, 0.0, 2)
    model = TreeClassifier(criterion="evidence", max_depth=3).fit(X, y)
    tree, length = model.tree_, model.message_length()
    for node in np.flatnonzero(~tree.is_leaf()):
        below = slice(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
        saved = length.data[node] - length.data[below].sum()
        assert tree.gain[node] * tree.counts[node].sum() == pytest.approx(max(saved, 0), abs=1e-6)


# -- the estimators --------------------------------------------------------------------------------


def test_pruned_leaves_are_smoothed() -> None:
    X, y, _ = random_table(0, 500, 0.1, 1)
    model = SMMLClassifier(alpha=1.0).fit(X, y)
    tree = model.tree_
    leaves = tree.is_leaf() & tree.counts.any(axis=1)
    smoothed = (tree.counts + 1) / (tree.counts.sum(axis=1) + 3)[:, np.newaxis]
    assert tree.proba[leaves] == pytest.approx(smoothed[leaves])
    assert model.message_length().bits <= MMLClassifier(alpha=1.0).fit(X, y).message_length().bits


def test_averages_are_those_of_the_grown_tree() -> None:
    X, y, _ = random_table(1, 500, 0.1, 1)
    grown = TreeClassifier(
        criterion="evidence", categorical_split="multiway", missing="fractional"
    ).fit(X, y)
    bayes = BayesTreeClassifier().fit(X, y)
    assert np.array_equal(bayes.tree_.proba, average_prunings(grown.tree_).proba)
    mml = MMLClassifier(criterion="evidence").fit(X, y)
    choices = choices_of(grown.tree_, X)
    expected = average_prunings(grown.tree_, choices, prior="wallace_patrick")
    assert mml.tree_.proba == pytest.approx(expected.proba, abs=1e-12)


@pytest.mark.parametrize("kind", [MMLClassifier, BayesTreeClassifier])
def test_no_rules_of_averages(kind: Any) -> None:
    X, y, _ = random_table(0, 60, 0.0, 1)
    model = kind().fit(X, y)
    with pytest.raises(ValueError, match=f"{kind.__name__} averages .* SMMLClassifier"):
        model.rules()
    with pytest.raises(ValueError, match=f"{kind.__name__} averages"):
        RuleClassifier(base=kind()).fit(X, y)
    with pytest.raises(ValueError, match=f"{kind.__name__} averages .* cannot be pruned"):
        model.prune("leaf_penalty")
    short = SMMLClassifier().fit(X, y)
    assert len(short.rules()) >= 1
    with pytest.raises(ValueError, match="pass X"):  # other choices than those of growth
        short.prune("leaf_penalty").message_length()


def test_message_length_of_other_trees_needs_the_rows() -> None:
    table = tables.PLAY_TENNIS
    model = TreeClassifier(criterion="entropy", categorical_split="multiway")
    model.fit(table.X, table.y)
    with pytest.raises(ValueError, match="pass X"):
        model.message_length()
    assert model.message_length(table.X, alpha=1.0).bits == pytest.approx(22.8317030992143)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"class_weight": "balanced"}, "does not support class_weight, .* pass sample_weight"),
        ({"misclassification_cost": [[0, 1], [1, 0]]}, "does not support misclassification_cost"),
        ({"attribute_costs": [1, 2, 3, 4]}, "does not support attribute_costs"),
        ({"min_gain": 0.1}, "does not support min_gain"),
        ({"stop_zero_gain": True}, "does not support stop_zero_gain"),
    ],
)
def test_what_a_message_cannot_mean(parameters: dict[str, Any], message: str) -> None:
    table = tables.PLAY_TENNIS
    for criterion in ("message_length", "evidence"):
        with pytest.raises(ValueError, match=message):
            TreeClassifier(criterion=criterion, **parameters).fit(table.X, table.y)
    with pytest.raises(TypeError):
        SMMLClassifier(**parameters)


@pytest.mark.parametrize("estimator", [SMMLClassifier, MMLClassifier, BayesTreeClassifier])
@pytest.mark.parametrize("weights", [None, "fractional"])
@pytest.mark.parametrize("n_classes", [1, 2, 4, 5])
def test_classes_that_together_count_one(estimator: Any, weights: Any, n_classes: int) -> None:
    draw = np.random.default_rng(n_classes)
    y = draw.integers(0, n_classes, 150)
    X = {"a": np.round(y + draw.normal(size=150), 1), "b": draw.integers(0, 3, 150).astype(str)}
    weight = None if weights is None else draw.uniform(0.5, 2, 150)
    shared, said = (
        estimator(alpha=alpha).fit(X, y, sample_weight=weight) for alpha in ("1/C", 1 / n_classes)
    )
    assert shared.tree_ == said.tree_
    kept = np.ones(150, dtype=bool) if weight is None else weight > 0
    lengths = [
        model.message_length({name: column[kept] for name, column in X.items()}).bits
        for model in (shared, said)
    ]
    assert lengths[0] == lengths[1]


@pytest.mark.parametrize(
    "alpha", [0, -1.0, 1e9, math.nan, "opt", "1/c", None, True, 10**400, -(10**400)]
)
def test_bad_alpha(alpha: Any) -> None:
    with pytest.raises(ValueError, match="alpha must be a number from 1e-06 to 1e"):
        SMMLClassifier(alpha=alpha).fit([[0.0], [1.0]], [0, 1])


def test_bad_choices() -> None:
    X, y = [[0.0], [1.0]], [0, 1]
    for lookahead in (2, -1, True, 0.5, None):
        with pytest.raises(ValueError, match="lookahead must be 0 or 1"):
            MMLClassifier(lookahead=lookahead).fit(X, y)
    with pytest.raises(ValueError, match="'message_length', 'evidence', got 'gini'"):
        MMLClassifier(criterion="gini").fit(X, y)
    with pytest.raises(ValueError, match='with criterion="evidence", set lookahead=0'):
        MMLClassifier(criterion="evidence", lookahead=1).fit(X, y)


def test_ranking() -> None:
    table = tables.PLAY_TENNIS
    ranking = rank_attributes(table.X, table.y, criterion="message_length")
    naive = reference_mml.Problem(
        [Attribute(a.values, a.n_categories) for a in table.attributes], table.class_codes, 2
    )
    root = naive.root()
    lengths = {
        name: -naive.one_level(root, next(naive.tests(root, a)))
        for a, name in enumerate(table.names)
    }
    assert dict(ranking) == pytest.approx(lengths)
    with pytest.raises(ValueError, match="does not support attribute_costs"):
        rank_attributes(table.X, table.y, criterion="evidence", attribute_costs=[1, 2, 3, 4])


def test_what_is_called_smml_is_said_to_be_the_practical_criterion() -> None:
    page = Path(__file__).parents[2] / "docs" / "message-length.md"
    texts = [SMMLClassifier.__doc__ or ""]
    if page.exists():  # not beside an installed package
        texts.append(page.read_text("utf-8"))
    for text in texts:
        assert "the practical criterion" in " ".join(text.split())
