# SPDX-License-Identifier: BSD-3-Clause
"""simplify="subset": of each class's rules those that tell the class in the fewest bits."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules.test_rule_pruning import compare
from strategies import Problem, medium, problems

import fasttree
from fasttree import RuleClassifier, TreeClassifier
from fasttree.rules.conditions import ConditionTable, reader
from fasttree.rules.pruning import RowBits, evidence
from fasttree.rules.subsets import condition_bits, rule_bits, shortest_subset, sift

pytestmark = pytest.mark.numeric

INF, NAN = math.inf, math.nan


# -- the slow reference --------------------------------------------------------------------------


@given(
    problems(holes=True, weights=("none", "whole", "fractional"))
    | problems(weights=("none", "whole", "fractional")),
    st.sampled_from(["improves", "not_worse"]),
)
def test_against_the_reference(problem: Problem, when: str) -> None:
    model = RuleClassifier(
        base=TreeClassifier(**problem.parameters), when=when, simplify="subset", confidence=0.5
    )
    compare(problem, model.fit(problem.X, np.array(problem.y), problem.weights))


@pytest.mark.parametrize("weighting", ["none", "whole", "fractional"])
def test_many_rules_against_the_reference(weighting: str) -> None:
    """More rules of a class than are tried in every subset."""
    problem = medium("gini", "subset", 2, weighting, seed=4, n_rows=220, holes=0.1)
    problem.parameters["missing"] = "branch"
    model = RuleClassifier(base=TreeClassifier(**problem.parameters))
    every = model.fit(problem.X, np.array(problem.y), problem.weights).rules_
    assert np.bincount(every.label).max() > 10
    model.set_params(simplify="subset")
    compare(problem, model.fit(problem.X, np.array(problem.y), problem.weights))
    assert 0 < len(model.rules_) < len(every)


# -- the bits ------------------------------------------------------------------------------------


def told() -> tuple[ConditionTable, RowBits]:
    """Eight rows: a number with five values and a hole, four colours, and three sizes in their order."""
    X = {
        "number": np.array([1.0, 2, 3, 4, 5, 5, 5, NAN]),
        "colour": list("rgbyrgby"),
        "size": fasttree.Categorical(list("slmslmsl"), ["s", "m", "l"], ordered=True),
    }
    model = TreeClassifier().fit(X, np.arange(8) % 2)
    schema = model.tree_.schema
    table = ConditionTable(
        schema,
        attribute=np.array([0, 0, 1, 1, 1, 2], dtype=np.int32),
        low=np.array([NAN, 3.5, NAN, NAN, NAN, NAN]),
        high=np.array([3.5, INF, INF, INF, INF, INF]),
        start=np.array([0, 0, 0, 1, 3, 6, 7]),
        codes=np.array([1, 1, 2, 1, 2, 3, 1], dtype=np.uint32),
        missing=np.zeros(6, dtype=bool),
    )
    rows = evidence(reader(model._read(X), "missing", 0, 8), np.arange(8) % 2, 2)
    return table, rows


def test_bits_of_conditions_and_rules() -> None:
    table, rows = told()
    # One of 3 attributes, then: from above or below one of 4 places between 5 numbers; 1 to 3 colours, and which; a run
    # of sizes from one to another, of which there are 6.
    number, size = math.log2(3 * 2 * 4), math.log2(3 * 6)
    one, two, three = math.log2(3 * 3 * 4), math.log2(3 * 3 * 6), math.log2(3 * 3 * 4)
    bits = [number, number, one, two, three, size]
    assert condition_bits(table, rows) == pytest.approx(bits)
    named = rule_bits(table, np.array([0, 1, 4]), np.array([3, 0, 1, 5]), rows)
    # Three conditions may stand in 6 orders, which say nothing; and the names count half.
    assert named == pytest.approx([two / 2, (2 * number + size - math.log2(6)) / 2])


def test_a_class_by_hand() -> None:
    """Rule 0 covers 9 of the 10 rows of the class and no other, rule 1 all ten of it and one other."""
    classes = np.array([1] * 10 + [0] * 10)
    rows = evidence(lambda attribute: np.zeros(20), classes, 2)
    order = np.lexsort((np.ones(20), classes))

    def word(which: list[int]) -> np.ndarray:
        bits = np.zeros(rows.n_places, dtype=bool)
        places = np.flatnonzero(np.unpackbits(rows.is_row.view(np.uint8), bitorder="little"))
        bits[places] = np.isin(order, which)
        return np.packbits(bits, bitorder="little").view(np.uint64)

    covered = np.array([word(list(range(9))), word(list(range(11)))])
    # log2 C(9, 0) + log2 C(11, 1) against log2 C(11, 1) + log2 C(9, 0): equal, so the names decide, then the order.
    for bits, kept in (([3.0, 4.0], [0]), ([4.0, 3.0], [1]), ([3.0, 3.0], [0]), ([20.0, 20.0], [])):
        mask = shortest_subset(np.array(bits), covered, rows, 1)
        assert np.flatnonzero(mask).tolist() == kept
    # Both cover the one false positive that rule 1 has, or rule 0 alone none: class 1 comes after class 0.
    label = np.array([1, 0])
    other = np.array([covered[1], word(list(range(11, 20)))])
    assert sift(np.array([1.0, 1.0]), label, other, rows).tolist() == [1, 0]


def drawn(rng: np.random.Generator, n_rules: int) -> tuple[np.ndarray, np.ndarray, RowBits]:
    """Bits, covered rows and rows, made up."""
    n_rows = 150
    classes = rng.integers(0, 2, n_rows)
    steps = rng.integers(1, 4, n_rows)
    values = np.arange(n_rows, dtype=float)
    rows = evidence(lambda attribute: values.copy(), classes, 2, steps)
    share = rng.uniform(0.01, 0.3, n_rules)
    truth = rng.random((n_rules, rows.n_places)) < share[:, np.newaxis]
    covered = np.packbits(truth, axis=1, bitorder="little").view(np.uint64)
    return rng.uniform(0.5, 12, n_rules), covered, rows


def lengths_by_counting(
    bits: np.ndarray, covered: np.ndarray, rows: RowBits, subset: tuple[int, ...]
) -> float:
    """By one row after another: the formula as it is written."""
    is_row = np.unpackbits(rows.is_row.view(np.uint8), bitorder="little").astype(bool)
    truth = np.unpackbits(covered.view(np.uint8), axis=1, bitorder="little").astype(bool)
    weight = np.repeat(rows.weight, 64).astype(int)
    own = np.arange(len(is_row)) // 64 >= rows.class_start[1]
    met = truth[list(subset)].any(axis=0) if subset else np.zeros(len(is_row), dtype=bool)
    n, n_all = weight[is_row & met].sum(), weight[is_row].sum()
    false_positives = weight[is_row & met & ~own].sum()
    missed = weight[is_row & ~met & own].sum()
    exceptions = math.log2(math.comb(n, false_positives)) + math.log2(math.comb(n_all - n, missed))
    return exceptions + sum(bits[i] for i in subset)


@pytest.mark.parametrize("seed", range(8))
def test_of_few_rules_no_subset_is_shorter(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    bits, covered, rows = drawn(np.random.default_rng(seed), 7)
    found = tuple(np.flatnonzero(shortest_subset(bits, covered, rows, 1)).tolist())
    every = [s for k in range(8) for s in combinations(range(7), k)]
    lengths = [lengths_by_counting(bits, covered, rows, s) for s in every]
    assert lengths_by_counting(bits, covered, rows, found) == pytest.approx(min(lengths), abs=1e-6)
    monkeypatch.setattr("fasttree.rules.subsets.BLOCK_WORDS", 1)
    assert np.flatnonzero(shortest_subset(bits, covered, rows, 1)).tolist() == list(found)


@pytest.mark.parametrize("seed", range(8))
def test_of_many_rules_no_addition_or_drop_helps(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    bits, covered, rows = drawn(np.random.default_rng(seed), 30)
    found = set(np.flatnonzero(shortest_subset(bits, covered, rows, 1)).tolist())
    length = lengths_by_counting(bits, covered, rows, tuple(found))
    for other in [found ^ {rule} for rule in range(30)] + [set()]:
        assert lengths_by_counting(bits, covered, rows, tuple(other)) > length - 2e-6
    monkeypatch.setattr("fasttree.rules.subsets.BLOCK_WORDS", 1)
    assert set(np.flatnonzero(shortest_subset(bits, covered, rows, 1)).tolist()) == found


# -- what is learned -----------------------------------------------------------------------------


def noisy() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    return X, np.where(rng.random(2000) < 0.2, rng.integers(0, 3, 2000), y)


def test_lists_of_noisy_rows_are_short_and_as_good() -> None:
    X, y = noisy()
    base = TreeClassifier(ties="schema")
    every = RuleClassifier(base=base).fit(X[:1000], y[:1000])
    few = RuleClassifier(base=base, simplify="subset").fit(X[:1000], y[:1000])
    assert len(few.rules_) * 3 < len(every.rules_)
    assert few.score(X[1000:], y[1000:]) > every.score(X[1000:], y[1000:]) - 0.02
    # Class by class, each in one place of the list.
    assert np.count_nonzero(np.diff(few.rules_.label)) < 3


def test_the_order_of_rows_and_copies_do_not_matter() -> None:
    problem = medium("gini", "subset", 3, "whole", seed=9, n_rows=300, holes=0.1)
    order = np.random.default_rng(0).permutation(300).tolist()
    shuffled, copied = problem.take(order), problem.copies()
    model = RuleClassifier(base=TreeClassifier(), simplify="subset")
    one = model.fit(problem.X, np.array(problem.y), problem.weights).rules_.to_json()
    assert model.fit(shuffled.X, np.array(shuffled.y), shuffled.weights).rules_.to_json() == one
    assert model.fit(copied.X, np.array(copied.y)).rules_.to_json() == one


def test_the_default_is_the_class_of_most_rows_without_a_rule() -> None:
    X, y = noisy()
    rules = RuleClassifier(simplify="subset").fit(X, y).rules_
    without = y[rules.match(X) < 0]
    assert rules.uncovered == len(without)
    assert rules.default_class == np.bincount(without).argmax()
    assert rules.default_counts.tolist() == np.bincount(without, minlength=3).tolist()


def test_nothing_to_choose_from() -> None:
    model = RuleClassifier(simplify="subset").fit([[1.0], [2.0]], ["only", "only"])
    assert model.to_text() == "OTHERWISE only (training rows without a rule: 2)"


def test_in_a_file(tmp_path: Path) -> None:
    X, y = noisy()
    model = RuleClassifier(simplify="subset").fit(X, y)
    model.save(tmp_path / "model")
    loaded = fasttree.load(tmp_path / "model")
    assert loaded.get_params()["simplify"] == "subset"
    assert loaded.rules_.to_json() == model.rules_.to_json()
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
