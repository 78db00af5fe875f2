# SPDX-License-Identifier: BSD-3-Clause
"""The reference tree itself, against trees worked out elsewhere: it must be right to be of use."""

import math

import pytest
import reference
import textbook_tables as tables
from goldens import GOLDENS, Golden, as_subsets, nest
from reference import Attribute, entropy, gini, grow, n_leaves, reference_predict, score_of


@pytest.mark.parametrize("golden", GOLDENS, ids=str)
def test_grows_the_golden_tree(golden: Golden) -> None:
    nodes = golden.table.grow(**golden.parameters)
    assert nest(nodes, golden.table) == as_subsets(golden.tree)
    scores = [node.split.score for node in nodes if node.split is not None]
    assert not golden.scores or scores == pytest.approx(golden.scores, abs=1e-9)
    assert n_leaves(nodes) == golden.n_leaves
    rows = list(zip(*(a.values for a in golden.table.attributes), strict=True))
    guesses = reference_predict(nodes, rows)
    wrong = sum(a != b for a, b in zip(guesses, golden.table.class_codes, strict=True))
    assert wrong == golden.n_errors


def test_breadth_first_with_adjacent_children() -> None:
    nodes = tables.PLAY_TENNIS.grow(categorical_split="subset")
    assert [node.depth for node in nodes] == sorted(node.depth for node in nodes)
    children = [child for node in nodes for child in node.children]
    assert children == list(range(1, len(nodes)))


def test_shared_branch_of_absent_values() -> None:
    nodes = tables.NO_OVERCAST.grow(criterion="entropy", categorical_split="multiway")
    assert len(nodes) == 13
    empty = [node for node in nodes if not node.rows]
    assert [node.multiplicity for node in empty] == [1, 1]
    parent = nodes[empty[1].parent]
    assert parent.default_branch == 2
    assert empty[1].proba == parent.proba == [0.5, 0.5]
    assert empty[1].counts == [0.0, 0.0]


def test_mammals_on_the_test_table() -> None:
    table = tables.MAMMALS_TEST
    rows = list(zip(*(a.values for a in table.attributes), strict=True))
    nodes = tables.MAMMALS_10.grow(criterion="entropy", categorical_split="multiway")
    guesses = reference_predict(nodes, rows)
    wrong = [
        name
        for name, guess, truth in zip(
            tables.MAMMALS_TEST_NAMES, guesses, table.class_codes, strict=True
        )
        if guess != truth
    ]
    assert wrong == ["human", "dolphin"]


def test_scores_by_hand() -> None:
    assert entropy([9, 5]) == pytest.approx(0.940285958670631)
    assert gini([9, 5]) == pytest.approx(0.4591836734693877)
    assert score_of("misclassification", [9, 5], [[2, 3], [4, 0], [3, 2]]) == pytest.approx(1 / 14)
    outlook = [[2, 3], [4, 0], [3, 2]]
    assert score_of("entropy", [9, 5], outlook) == pytest.approx(0.24674981977443922)
    assert score_of("gain_ratio", [9, 5], outlook) == pytest.approx(0.1564275624211752)
    # A zero gain has ratio 0, and a branch without rows counts for nothing.
    assert score_of("gain_ratio", [2, 2], [[1, 1], [1, 1]]) == 0
    assert score_of("entropy", [9, 5], [*outlook, [0, 0]]) == score_of("entropy", [9, 5], outlook)


def test_thresholds_of_awkward_neighbours() -> None:
    big = 1.7976931348623157e308
    tiny = 5e-324
    assert reference.midpoint(40, 48) == 44
    assert reference.midpoint(big / 2, big) < big
    assert reference.midpoint(1.0, math.nextafter(1.0, 2)) == 1.0
    assert reference.midpoint(-math.inf, 3.0) == -math.inf
    assert reference.midpoint(3.0, math.inf) == 3.0
    assert reference.midpoint(-math.inf, math.inf) == -math.inf
    assert reference.midpoint(0.0, tiny) == 0.0
    assert reference.midpoint(tiny, 2 * tiny) == tiny


def test_two_class_prefixes_find_the_best_of_all_subsets() -> None:
    # 4 values, 2 classes: the ordered scan must reach the optimum over all 7 subsets.
    counts = {0: [5, 1], 1: [1, 4], 2: [3, 3], 3: [0, 2]}
    values = [v for v, (a, b) in counts.items() for _ in range(a + b)]
    y = [c for a, b in counts.values() for c, k in ((0, a), (1, b)) for _ in range(k)]
    for criterion in ("entropy", "gini"):
        winner = grow([Attribute(values, 4)], y, 2, criterion=criterion, max_depth=1)[0].split
        assert winner is not None
        best = max(
            score_of(
                criterion,
                [9, 10],
                [
                    [sum(counts[v][c] for v in side) for c in (0, 1)]
                    for side in (left, [v for v in counts if v not in left])
                ],
            )
            for mask in range(1, 15)
            for left in [[v for v in counts if mask >> v & 1]]
        )
        assert winner.score == pytest.approx(best)
        assert winner.table[0] == 0


def test_many_classes_many_values_is_flagged() -> None:
    values = [v for v in range(14) for _ in range(3)]
    y = [v % 3 for v in range(14) for _ in range(3)]
    nodes = grow([Attribute(values, 14)], y, 3)
    assert nodes[0].split is not None
    assert nodes[0].heuristic
    assert nodes[0].split.table[0] == 0
    assert all(max(node.proba) == 1 for node in nodes if node.split is None)


def test_best_first_keeps_the_best_expansions() -> None:
    x = [float(v) for v in range(8)]
    y = [0, 1, 0, 0, 0, 1, 1, 1]
    whole = grow([Attribute(x)], y, 2)
    assert n_leaves(whole) == 4
    for limit in (1, 2, 3, 4, 9):
        assert n_leaves(grow([Attribute(x)], y, 2, max_leaves=limit)) == min(limit, 4)
    three = grow([Attribute(x)], y, 2, max_leaves=3)
    assert [node.depth for node in three] == [0, 1, 1, 2, 2]


def test_a_multiway_expansion_that_does_not_fit_is_passed_over() -> None:
    nodes = tables.PLAY_TENNIS.grow(criterion="entropy", categorical_split="multiway", max_leaves=4)
    assert n_leaves(nodes) == 4
    assert n_leaves(tables.PLAY_TENNIS.grow(categorical_split="multiway", max_leaves=2)) == 1


def test_weights_are_copies() -> None:
    x = [1.0, 2.0, 3.0, 4.0]
    y = [0, 1, 1, 0]
    weighted = grow([Attribute(x)], y, 2, weights=[3, 1, 0, 2])
    copies = grow([Attribute([1.0] * 3 + [2.0] + [4.0] * 2)], [0] * 3 + [1] + [0] * 2, 2)
    assert [(n.counts, n.split and n.split.threshold) for n in weighted] == [
        (n.counts, n.split and n.split.threshold) for n in copies
    ]


def test_a_chain_of_1100_levels_needs_no_recursion() -> None:
    n = 1101
    nodes = grow([Attribute([float(v) for v in range(n)])], [v % 2 for v in range(n)], 2)
    assert max(node.depth for node in nodes) == n - 1
    assert len(nodes) == 2 * n - 1
