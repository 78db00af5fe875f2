# SPDX-License-Identifier: BSD-3-Clause
"""Averages over prunings: the printed numbers, and every pruning of small trees one by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import reference_mml
import textbook_tables as tables
from candidates import Attribute

from fasttree import Categorical, ID3Classifier, TreeClassifier
from fasttree.base.checks import ALPHAS
from fasttree.mml.averaging import PRIORS, average_prunings, pruning_weights
from fasttree.mml.message import message_length
from fasttree.mml.options import choices_of

pytestmark = pytest.mark.numeric

GOLDEN = 1e-9

# prior, alpha: ln of the evidence; weights of the root, Sunny, Overcast, Rain; P(Yes) of days 1, 3, 4 and 6
PLAY_TENNIS = {
    ("half", 1.0): (
        -8.2295735584762,
        [0.062441461130190584, 0.16666666666666652, 1.0, 0.16666666666666652],
        [0.2622541367467999, 0.8203246955978769, 0.7533562285357478, 0.32364189822041833],
    ),
    ("half", 0.5): (
        -7.453591435984203,
        [0.019675925925925864, 0.09090909090909086, 1.0, 0.09090909090909086],
        [0.16099537037037032, 0.8947530864197532, 0.8442515432098766, 0.21298225308641971],
    ),
    ("wallace_patrick", 1.0): (
        -11.263615616801115,
        [0.6487999162300528, 0.8275862068965517, 1.0, 0.8275862068965517],
        [0.542173871869526, 0.6981666841187391, 0.6200261071879872, 0.5867226509684232],
    ),
    ("wallace_patrick", 0.5): (
        -11.524339707190629,
        [0.5765124555160142, 0.7058823529411762, 1.0, 0.7058823529411762],
        [0.5052491103202846, 0.7462633451957296, 0.6484875444839858, 0.5602609727164887],
    ),
}


def with_tree(model: Any, tree: Any) -> Any:
    """The same model with another tree."""
    model.tree_ = tree
    return model


@pytest.mark.parametrize(("prior", "alpha"), list(PLAY_TENNIS))
def test_play_tennis(prior: str, alpha: float) -> None:
    log_evidence, printed, p_yes = PLAY_TENNIS[prior, alpha]
    table = tables.PLAY_TENNIS
    model = ID3Classifier().fit(table.X, table.y)
    choices = choices_of(model.tree_, table.X)
    weights = pruning_weights(model.tree_, choices, prior=prior, alpha=alpha)
    assert weights.log_evidence[0] == pytest.approx(log_evidence, abs=GOLDEN)
    assert weights.weight[:4].tolist() == pytest.approx(printed, abs=GOLDEN)
    tree = average_prunings(model.tree_, choices, prior=prior, alpha=alpha)
    shares = with_tree(model, tree).predict_proba(table.X)
    yes = list(model.classes_).index("Yes")
    assert shares[[0, 2, 3, 5], yes].tolist() == pytest.approx(p_yes, abs=GOLDEN)
    # The classes follow the averaged shares.
    expected = np.where(shares[:, yes] >= 0.5, "Yes", "No")
    assert model.predict(table.X).tolist() == expected.tolist()


# -- every pruning, one by one ---------------------------------------------------------------------


def small_table(seed: int, holes: float) -> tuple[dict[str, Any], list[int], list[Attribute]]:
    random = np.random.default_rng(seed)
    n = 40
    number = random.integers(0, 6, n).astype(float)
    words = np.array(list("abcd"), dtype=object)[random.integers(0, 3, n)]  # d is never there
    y = ((number > 2) ^ (words == "a")).astype(int) + (random.random(n) < 0.15)
    lost = random.random((2, n)) < holes
    number[lost[0]] = np.nan
    words[lost[1]] = None
    codes = [math.nan if w is None else float("abcd".index(w)) for w in words]
    X = {"n": number, "w": Categorical(words, list("abcd"))}
    return X, y.tolist(), [Attribute(number.tolist()), Attribute(codes, 4)]


def averaged_along(tree: Any, root: reference_mml.Node) -> list[list[float]]:
    """The tree's shares at the leaves of the naive tree, in its order."""
    shares = []

    def walk(node: reference_mml.Node, number: int) -> None:
        if not node.children:
            shares.append(tree.proba[number].tolist())
        codes = tree.table_codes[tree.table_start[number] : tree.table_start[number + 1]].tolist()
        for branch, child in enumerate(node.children):
            if codes and branch + 1 not in codes:
                place = int(tree.default_branch[number])
            else:
                place = codes.index(branch + 1) if codes else branch
            walk(child, int(tree.first_child[number]) + place)

    walk(root, 0)
    return shares


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_equals_the_sum_over_all_prunings(seed: int, holes: float, prior: str) -> None:
    X, y, attributes = small_table(seed, holes)
    tree = ID3Classifier(max_depth=2).fit(X, y).tree_
    choices = choices_of(tree, X)
    for alpha in (0.5, 1.0):
        naive = reference_mml.Problem(attributes, y, len(set(y)), alpha=alpha)
        root = reference_mml.follow(naive, tree)
        total, expected = naive.averages(root, prior)
        weights = pruning_weights(tree, choices, prior=prior, alpha=alpha)
        assert weights.log_evidence[0] == pytest.approx(total, abs=1e-6)
        average = average_prunings(tree, choices, prior=prior, alpha=alpha)
        shares = averaged_along(average, root)
        np.testing.assert_allclose(shares, expected, atol=1e-6)


# -- what must hold of any tree --------------------------------------------------------------------


@pytest.mark.parametrize("prior", PRIORS)
def test_shares_and_weights_are_probabilities(
    prior: str, numeric_table: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = numeric_table
    tree = TreeClassifier().fit(X, y).tree_
    choices = choices_of(tree, X)
    weights = pruning_weights(tree, choices, prior=prior)
    assert ((weights.weight >= 0) & (weights.weight <= 1)).all()
    assert (weights.weight[tree.is_leaf()] == 1).all()
    average = average_prunings(tree, choices, prior=prior)
    np.testing.assert_allclose(average.proba.sum(axis=1), 1, atol=1e-12)
    assert (average.proba > 0).all()
    assert (average.pred == average.proba.argmax(axis=1)).all()
    # The rest of the tree stays what it was.
    for name in ("attribute", "threshold", "first_child", "counts", "gain"):
        assert np.array_equal(getattr(average, name), getattr(tree, name), equal_nan=True)


def test_the_sum_is_never_less_likely_than_the_best_pruning() -> None:
    table = tables.PLAY_TENNIS
    tree = ID3Classifier().fit(table.X, table.y).tree_
    choices = choices_of(tree, table.X)
    shortest = message_length(tree, choices).as_leaf[0]
    weights = pruning_weights(tree, choices, prior="wallace_patrick")
    assert weights.log_evidence[0] / -math.log(2) <= shortest


def test_a_lot_of_rows_underflow_nothing() -> None:
    table = tables.PLAY_TENNIS
    weight = np.full(14, 1e6)
    model = ID3Classifier().fit(table.X, table.y, sample_weight=weight)
    for prior in PRIORS:
        choices = choices_of(model.tree_, table.X)
        tree = average_prunings(model.tree_, choices, prior=prior)
        assert np.isfinite(tree.proba).all()
        assert tree.proba[tree.is_leaf()].max(axis=1).min() > 0.99999


def test_a_value_without_rows_answers_like_its_parent() -> None:
    table = tables.NO_OVERCAST
    tree = ID3Classifier().fit(table.X, table.y).tree_
    average = average_prunings(tree)
    empty = np.flatnonzero(tree.counts.sum(axis=1) == 0)
    assert len(empty) == 2
    np.testing.assert_allclose(average.proba[empty], average.proba[tree.parent[empty]], atol=1e-15)
    assert average.pred[empty].tolist() == average.pred[tree.parent[empty]].tolist()


def test_a_row_that_lacks_a_value_gets_the_average_of_the_branches() -> None:
    table = tables.PLAY_TENNIS
    model = ID3Classifier().fit(table.X, table.y)
    tree = average_prunings(model.tree_)
    with_tree(model, tree)
    row = {name: Categorical([None], table.columns[name].order) for name in table.names}
    leaves = np.flatnonzero(tree.is_leaf())
    weights = tree.counts[leaves].sum(axis=1) / 14
    expected = weights @ tree.proba[leaves]  # rounded to steps of 5.3e-12
    assert model.predict_proba(row)[0] == pytest.approx(expected, abs=2.7e-12)


def test_the_declared_order_of_classes_wins_ties() -> None:
    X = [[0.0], [1.0]]
    for order in (["no", "yes"], ["yes", "no"]):
        model = TreeClassifier(max_depth=1).fit(X, Categorical(["no", "yes"], order))
        tree = average_prunings(model.tree_)
        assert tree.proba[0].tolist() == [0.5, 0.5]
        assert model.classes_[tree.pred[0]] == order[0]


def test_the_best_alpha() -> None:
    table = tables.PLAY_TENNIS
    tree = ID3Classifier().fit(table.X, table.y).tree_
    evidence = [pruning_weights(tree, alpha=alpha).log_evidence[0] for alpha in ALPHAS]
    best = pruning_weights(tree, alpha="opt")
    assert best.alpha == ALPHAS[int(np.argmax(evidence))]
    assert best.log_evidence[0] == max(evidence)


def test_single_leaf_and_single_class() -> None:
    tree = TreeClassifier().fit([[1.0], [1.0]], [0, 1]).tree_
    assert average_prunings(tree).proba.tolist() == [[0.5, 0.5]]
    one = TreeClassifier().fit([[0.0], [1.0]], ["a", "a"]).tree_
    assert average_prunings(one, alpha="opt").proba.tolist() == [[1.0]]


def test_bad_input() -> None:
    tree = TreeClassifier().fit([[0.0], [1.0]], [0, 1]).tree_
    with pytest.raises(
        ValueError, match=r"prior must be one of 'half', 'wallace_patrick', got 'flat'"
    ):
        average_prunings(tree, prior="flat")
    with pytest.raises(ValueError, match="requires choices: compute them with"):
        average_prunings(tree, prior="wallace_patrick")
    with pytest.raises(ValueError, match="alpha must be a number > 0"):
        average_prunings(tree, alpha=0)
