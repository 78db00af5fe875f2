# SPDX-License-Identifier: BSD-3-Clause
"""Class shares where rows are shared out, against the same tree counted in fractions: a row that does not know the test
goes to every branch with rows, with the share of its weight that these have of the known weight."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fasttree import C45Classifier, Categorical, ID3Classifier, MMLClassifier, TreeClassifier
from fasttree.trees.class_shares import SHARE_STEPS, Pair, has_parts, settled

STEP = Fraction(1, int(SHARE_STEPS))
Rows = list[tuple[int, Fraction]]  # numbers and weights


# -- the tree in fractions -------------------------------------------------------------------------


class Counted:
    """A grown tree, and the weights of its nodes without rounding."""

    def __init__(self, tree: Any, codes: np.ndarray, y: list[int], weights: list[int]) -> None:
        """`codes`: numbers, or levels as 1, 2, ..; NaN where missing."""
        self.tree = tree
        self.codes, self.y = codes, y
        self.counts: dict[int, list[Fraction]] = {}
        self.n_classes = tree.counts.shape[1]
        ways = [(0, [(row, Fraction(weight)) for row, weight in enumerate(weights)])]
        while ways:
            node, rows = ways.pop()
            self.counts[node] = self.count(rows)
            if tree.attribute[node] >= 0:
                ways += self.branches(node, rows)

    def count(self, rows: Rows) -> list[Fraction]:
        counts = [Fraction(0)] * self.n_classes
        for row, weight in rows:
            counts[self.y[row]] += weight
        return counts

    def branches(self, node: int, rows: Rows) -> list[tuple[int, Rows]]:
        tree, values = self.tree, self.codes[:, self.tree.attribute[node]]
        first = int(tree.first_child[node])
        parts: list[Rows] = [[] for _ in range(tree.n_children[node])]
        lost = [(row, weight) for row, weight in rows if np.isnan(values[row])]
        for row, weight in rows:
            if not np.isnan(values[row]):
                parts[self.branch(node, values[row])].append((row, weight))
        known = [sum((weight for _, weight in part), Fraction(0)) for part in parts]
        for part, weight in zip(parts, known, strict=True):
            if weight:
                part += [(row, w * weight / sum(known)) for row, w in lost]
        return [(first + b, part) for b, part in enumerate(parts)]

    def branch(self, node: int, value: float) -> int:
        tree = self.tree
        start, stop = tree.table_start[node], tree.table_start[node + 1]
        if start == stop:
            return int(value > tree.threshold[node])
        table = dict(zip(tree.table_codes[start:stop], tree.table_branch[start:stop], strict=True))
        return int(table.get(int(value), tree.default_branch[node]))

    def shares(self, node: int) -> list[Fraction]:
        counts = self.counts[node]
        return (
            [n / sum(counts) for n in counts]
            if any(counts)
            else self.shares(self.tree.parent[node])
        )

    def predict(self, row: np.ndarray, node: int = 0) -> list[Fraction]:
        tree, attribute = self.tree, self.tree.attribute[node]
        if attribute < 0:
            return self.shares(node)
        first, value = int(tree.first_child[node]), row[attribute]
        if not np.isnan(value):
            return self.predict(row, first + self.branch(node, value))
        children = range(first, first + tree.n_children[node])
        weight = {child: sum(self.counts[child]) for child in children}
        found = [Fraction(0)] * self.n_classes
        for child in children:
            if weight[child]:
                for c, share in enumerate(self.predict(row, child)):
                    found[c] += share * weight[child] / sum(weight.values())
        return found


def table(seed: int) -> tuple[np.ndarray, list[int], list[int]]:
    """Few values and classes, many holes: so that many shares are equal."""
    random = np.random.default_rng(seed)
    n, width = int(random.integers(6, 40)), int(random.integers(2, 5))
    codes = random.integers(1, 4, (n, width)).astype(float)
    y = (codes[:, 0] + random.integers(0, 2, n)) % (2 + seed % 2)
    codes[random.random((n, width)) < random.choice([0.1, 0.3, 0.5])] = np.nan
    weights = random.integers(1, 4, n) if seed % 3 == 0 else np.ones(n, dtype=int)
    return codes, np.unique(y, return_inverse=True)[1].tolist(), weights.tolist()


def as_levels(codes: np.ndarray) -> dict[str, Any]:
    names = np.array([None, "a", "b", "c"], dtype=object)
    levels = np.nan_to_num(codes).astype(int)
    return {f"x{j}": Categorical(names[levels[:, j]], list("abc")) for j in range(codes.shape[1])}


MODELS: list[tuple[Any, bool]] = [
    (ID3Classifier(max_depth=5), True),
    (C45Classifier(pruning=None, min_samples_leaf=1, max_depth=5), True),
    (TreeClassifier(missing="fractional", max_depth=4), True),
    (TreeClassifier(missing="fractional", criterion="entropy", max_depth=5), False),
]


def cases(n_seeds: int) -> Any:
    for seed, (model, by_level) in itertools.product(range(n_seeds), MODELS):
        codes, y, weights = table(seed)
        if len(set(y)) < 2:
            continue
        read = as_levels if by_level else np.asarray
        fitted = model.fit(read(codes), y, sample_weight=weights)
        yield fitted, read, Counted(fitted.tree_, codes, y, weights), np.random.default_rng(seed)


# -- what is equal is equal ------------------------------------------------------------------------


def test_shares_of_nodes_are_those_of_fractions() -> None:
    """Rounded once: so equal ones are equal doubles, and others are not, as far as doubles can tell them apart."""
    n_shared = 0
    equal: set[Fraction] = set()
    for model, _, counted, _ in cases(60):
        tree = model.tree_
        for node in range(tree.node_count):
            shares, counts = counted.shares(node), counted.counts[node]
            assert tree.proba[node].tolist() == [float(share) for share in shares]
            assert tree.counts[node].tolist() == [float(count) for count in counts]
            n_shared += any(count.denominator > 1 for count in counts)
            equal.update(shares)
    assert n_shared > len(equal) > 1000


def test_predictions_are_equal_if_they_are_by_fractions() -> None:
    """Of rows that go down several branches; those that end at one leaf have its shares."""
    n_rows = n_numbers = 0
    for model, read, counted, random in cases(60):
        asked = random.integers(1, 4, (60, counted.codes.shape[1])).astype(float)
        asked[random.random(asked.shape) < 0.4] = np.nan
        found: dict[Fraction, set[float]] = defaultdict(set)
        for row, shares in zip(asked, model.predict_proba(read(asked)).tolist(), strict=True):
            exact = counted.predict(row)
            if shares == [float(share) for share in exact]:
                continue
            n_rows += 1
            for said, share in zip(shares, exact, strict=True):
                found[share].add(said)
                assert abs(Fraction(said) - share) <= STEP / 2 + Fraction(2) ** -50
        assert all(len(numbers) == 1 for numbers in found.values())
        for low, high in itertools.pairwise(sorted(found)):
            assert high - low <= STEP or found[low] != found[high]
        n_numbers += len(found)
    assert min(n_rows, n_numbers) > 1000


def test_three_quarters_wherever_the_row_goes() -> None:
    """Two rows of three, of class 1, are u: of the row without a value, of class 0, 2/3 are there, and 1/3 is at v."""
    model = ID3Classifier().fit({"a": ["u", "v", "u", None]}, [1, 1, 1, 0])
    assert model.tree_.counts.tolist() == [[1, 3], [2 / 3, 2], [1 / 3, 1]]
    assert model.tree_.proba.tolist() == [[0.25, 0.75]] * 3
    shares = model.predict_proba({"a": ["u", "v", None]})[:, 1]
    assert shares.tolist() == [0.75] * 3


def test_simple_fractions_are_what_they_are() -> None:
    """Sums over leaves give the double next to a fraction of a small denominator, as a single leaf does."""
    for model, read, counted, random in cases(30):
        asked = random.integers(1, 4, (40, counted.codes.shape[1])).astype(float)
        asked[random.random(asked.shape) < 0.4] = np.nan
        for row, shares in zip(asked, model.predict_proba(read(asked)).tolist(), strict=True):
            for share, found in zip(counted.predict(row), shares, strict=True):
                if SHARE_STEPS % share.denominator == 0:
                    assert found == float(share)


def test_thirds_of_thirds_in_a_million_rows() -> None:
    """A step of so many rows is 2**-31 of one; the shares of the few in question are exact all the same."""
    n = 1_000_000
    X = {
        "big": ["big"] * n + ["small"] * 4,
        "a": ["u"] * n + ["u", "v", "u", None],
    }
    model = ID3Classifier().fit(X, [0] * n + [1, 1, 1, 0])
    tree = model.tree_
    leaves = tree.counts[tree.attribute < 0]
    small = leaves[leaves[:, 1] > 0]
    assert len(small) == 2
    assert tree.proba[tree.attribute < 0][leaves[:, 1] > 0].tolist() == [[0.25, 0.75]] * 2


@pytest.mark.parametrize("cost", [None, {0: {1: 2.5}}])
def test_class_weights_and_costs(cost: Any) -> None:
    """Rows of class 1 count twice, everywhere: 4 at u, 2 at v, and the row of class 0 is shared out as before."""
    model = ID3Classifier(class_weight={1: 2}, misclassification_cost=cost)
    model.fit({"a": ["u", "v", "u", None]}, [1, 1, 1, 0])
    assert model.tree_.proba.tolist() == [[1 / 7, 6 / 7]] * 3


def test_shares_with_the_prior_of_a_message_are_rounded_to_steps() -> None:
    n_trees = 0
    for seed in range(40):
        codes, y, weights = table(seed)
        if len(set(y)) > 1:
            tree = MMLClassifier().fit(as_levels(codes), y, sample_weight=weights).tree_
            assert not has_parts(tree.counts) or np.array_equal(tree.proba, settled(tree.proba))
            n_trees += has_parts(tree.counts)
    assert n_trees > 5


def test_shares_of_raised_subtrees_are_rounded_to_steps() -> None:
    random = np.random.default_rng(45)
    codes = random.integers(1, 4, (300, 5)).astype(float)
    y = ((codes[:, 0] == 1) & (codes[:, 1] > 1)) ^ (random.random(300) < 0.15)
    codes[random.random(codes.shape) < 0.15] = np.nan
    grown = C45Classifier(pruning=None).fit(codes, y).tree_
    raised = C45Classifier().fit(codes, y).tree_
    anew = raised.proba[~np.isin(raised.proba, grown.proba)]  # a subtree was
    assert len(anew) > 0
    assert np.array_equal(anew, settled(anew))


def test_trees_without_shared_rows_are_what_they_were() -> None:
    """5 / 37 is no multiple of a step, and stays the double next to it."""
    model = ID3Classifier().fit({"a": ["u"] * 37 + ["v"]}, [1] * 5 + [0] * 33)
    assert model.tree_.proba[1, 1] == 5 / 37


# -- arithmetic ------------------------------------------------------------------------------------

words = st.tuples(st.integers(0, 2**52), st.integers(0, 2**64 - 1))


def value(pair: Pair) -> Fraction:
    return Fraction(pair.high.item()) + Fraction(pair.low.item())


@given(words, words, st.floats(1e-30, 1e30))
def test_pairs_of_doubles(a: tuple[int, int], b: tuple[int, int], factor: float) -> None:
    first, second = (Pair.of_words(np.array([[w]], dtype=np.uint64)) for w in (a, b))
    exact = [Fraction(high) + Fraction(low, 2**64) for high, low in (a, b)]
    tiny = Fraction(2) ** -98

    def near(found: Pair, expected: Fraction) -> bool:
        return abs(value(found) - expected) <= tiny * abs(expected) + Fraction(2) ** -116

    assert near(first, exact[0])
    assert near(first.times(np.array([factor])), exact[0] * Fraction(factor))
    both = Pair(np.hstack([first.high, second.high]), np.hstack([first.low, second.low]))
    assert near(both.totals(), sum(exact))
    if value(second):
        quotient = value(first.over(second))
        expected = value(first) / value(second)
        assert abs(quotient - expected) <= Fraction(2) ** -98 * expected


def test_nothing_of_nothing_is_nothing() -> None:
    nothing = Pair.of_words(np.zeros((1, 2, 2), dtype=np.uint64))
    assert nothing.over(nothing.totals()).high.tolist() == [[0, 0]]


@pytest.mark.parametrize("k", [*range(1, 19), 21, 22, 24, 25, 27, 28, 64, 100, 91])
def test_settled_fractions(k: int) -> None:
    shares = np.arange(k + 1) / k
    assert np.array_equal(settled(shares), shares)
    assert np.array_equal(settled(np.nextafter(shares, 0)), shares)
    assert np.array_equal(settled(np.nextafter(shares, 2)), shares)


def test_which_counts_hold_shares_of_rows() -> None:
    assert not has_parts(np.array([0.0, 3.0, 2.0**52, 1 + 2.0**-40, 0.5]))
    assert has_parts(np.array([1.0, 2 / 3]))
