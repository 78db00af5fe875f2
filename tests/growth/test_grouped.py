# SPDX-License-Identifier: BSD-3-Clause
"""Levels in groups: worked by hand, and the engine against a slow merger of blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import textbook_tables as tables
from agreement import assert_same_tree
from candidates import MISSING, TIE, Attribute, Candidates, Split, midpoint, total_of
from hypothesis import given
from hypothesis import strategies as st
from reference import SIZE, Grower, Node, reference_apply
from reference_c45 import C45Grower, FractionalGrower, Row, Test, group_values
from strategies import Problem, parameter_sets, problems

import fasttree
from fasttree import Categorical, TreeClassifier

NAN = math.nan


# -- the slow trees ------------------------------------------------------------------------------


class GroupedCandidates(Candidates):
    """One candidate for each categorical attribute; missing is one more value, before the first one."""

    min_samples_leaf = 1.0

    def is_by_subsets(self, index: int) -> bool:
        return False

    def subsets(self, index: int, rows: Sequence[int]) -> Iterator[Split]:
        by_value = self.tables(index, rows)
        if len(by_value) < 2:
            return
        weight, least = sum(self.count(rows)), self.min_samples_leaf
        groups = group_values(
            by_value, self.criterion, weight, lambda counts: 0 < sum(counts) >= least - SIZE
        )
        table = {value: branch for branch, group in enumerate(groups) for value in group}
        branches = [total_of([by_value[value] for value in group]) for group in groups]
        missing_branch = table.pop(MISSING, None)
        n_absent = min(self.attributes[index].n_categories - len(table), 1)
        nothing = [[0.0] * self.n_classes] * n_absent
        if len(groups) > 1:
            yield Split(
                index,
                branches + nothing,
                table=dict(sorted(table.items())),
                missing_branch=missing_branch,
                n_absent=n_absent,
            )


class GroupedGrower(Grower):
    def __init__(self, attributes: Any, y: Any, n_classes: int, **parameters: Any) -> None:
        super().__init__(attributes, y, n_classes, **parameters)
        candidates = GroupedCandidates(
            attributes,
            y,
            n_classes,
            missing=parameters.get("missing", "branch"),
            threshold=parameters.get("threshold", "midpoint"),
        )
        candidates.weights = self.weights
        candidates.criterion = self.criterion
        candidates.min_samples_leaf = self.min_samples_leaf
        self.candidates = candidates


class GroupedFractionalGrower(FractionalGrower):
    """Groups and thresholds chosen by the plain criterion, rows shared out."""

    def choose(self, rows: Sequence[Row]) -> Test | None:
        winner, best = None, -math.inf
        for index in range(len(self.attributes)):
            for split, branches in self.splits(index, rows):
                if sum(self.holds(branch) for branch in branches) < 2:
                    continue
                split.gain = max(self.gain(rows, branches), 0.0)
                score = split.gain
                if self.criterion == "gain_ratio":
                    info = self.split_info(rows, branches)
                    score = split.gain / info if split.gain > TIE and info >= 1e-12 else 0.0
                if score > best + TIE:
                    winner, best = Test(split, branches, split.gain, 0.0), score
        return winner

    def splits(self, index: int, rows: Sequence[Row]) -> list[tuple[Split, list[list[Row]]]]:
        if self.attributes[index].n_categories is not None:
            found = self.nominal(index, rows)
            return [] if found is None else [found]
        values = self.attributes[index].values
        known = self.known(index, rows)
        cuts = sorted({values[row] for row, _ in known})
        return [
            (
                Split(index, [], threshold=midpoint(low + 0.0, high)),
                [
                    [r for r in known if values[r[0]] <= low],
                    [r for r in known if values[r[0]] > low],
                ],
            )
            for low, high in pairwise(cuts)
        ]


def fit(problem: Problem, **changes: Any) -> Any:
    return problem.fit(categorical_split="grouped", **changes)


def reference_of(problem: Problem) -> list[Node]:
    grower = GroupedGrower(
        problem.attributes,
        problem.y,
        problem.n_classes,
        weights=problem.weights,
        **(problem.parameters | {"categorical_split": "subset"}),
    )
    return grower.grow()


def assert_same(problem: Problem) -> tuple[Any, list[Node]]:
    nodes = reference_of(problem)
    model = fit(problem)
    assert_same_tree(model.tree_, nodes)
    return model, nodes


# -- worked by hand ------------------------------------------------------------------------------


def test_levels_pure_in_the_same_class_share_a_branch() -> None:
    values = list("aabbccddee")
    y = [0, 0, 0, 1, 0, 0, 1, 1, 1, 1]  # a and c are pure, d and e are, b is not
    X = {"c": Categorical(values, list("abcdef"))}
    for criterion in ("gini", "entropy", "misclassification"):
        model = TreeClassifier(criterion=criterion, categorical_split="grouped").fit(X, y)
        tree = model.tree_
        assert tree.table_codes.tolist() == [1, 2, 3, 4, 5]
        assert tree.table_branch.tolist() == [0, 1, 0, 2, 2]
        assert tree.counts[1:4].tolist() == [[4, 0], [1, 1], [0, 4]]


def test_the_gain_ratio_merges_on() -> None:
    # Alone, the four levels give a gain of 0.19 over 2 bits; in two pairs of alike the same gain
    # costs 1 bit.
    counts = {0: [4.0, 1.0], 1: [4.0, 1.0], 2: [1.0, 4.0], 3: [1.0, 4.0]}
    assert group_values(counts, "gain_ratio", 20) == [[0, 1], [2, 3]]
    assert group_values(counts, "entropy", 20) == [[0], [1], [2], [3]]
    values = [v for v, pair in counts.items() for n in pair for _ in range(int(n))]
    y = [c for pair in counts.values() for c, n in enumerate(pair) for _ in range(int(n))]
    problem = Problem([Attribute(values, 4)], y, None, {"criterion": "gain_ratio", "max_depth": 1})
    _, nodes = assert_same(problem)
    assert nodes[0].split.table == {0: 0, 1: 0, 2: 1, 3: 1}


def test_half_of_the_gain_must_remain() -> None:
    # Gain 0.133 at first. 1 and 2 together raise the ratio to 0.103 and leave 0.101. The best ratio
    # then, 0.119, is that of the single row of level 0 against all others, whose gain is 0.008.
    counts = {0: [1.0, 0.0], 1: [10.0, 30.0], 2: [20.0, 20.0], 3: [30.0, 10.0]}
    assert group_values(counts, "gain_ratio", 121) == [[0], [1, 2], [3]]
    values = [v for v, pair in counts.items() for n in pair for _ in range(int(n))]
    y = [c for pair in counts.values() for c, n in enumerate(pair) for _ in range(int(n))]
    problem = Problem([Attribute(values, 4)], y, None, {"criterion": "gain_ratio", "max_depth": 1})
    _, nodes = assert_same(problem)
    assert nodes[0].split.table == {0: 0, 1: 1, 2: 1, 3: 2}


def branches_of(counts: dict[str, list[int]]) -> list[int]:
    """The branch of each level of a column, whose rows have these weights in each class."""
    levels = [level for level, weights in counts.items() for _ in weights]
    y = [c for weights in counts.values() for c, _ in enumerate(weights)]
    weights = [weight for weights in counts.values() for weight in weights]
    model = TreeClassifier(criterion="gain_ratio", categorical_split="grouped", max_depth=1)
    tree = model.fit({"c": Categorical(levels, list(counts))}, y, weights).tree_
    return tree.table_branch[: tree.table_start[1]].tolist()


@pytest.mark.parametrize(("strays", "expected"), [(80, [0, 0, 1]), (7, [0, 1, 2])])
def test_a_merger_must_bring_1e_5(strays: int, expected: list[int]) -> None:
    """A class a level, but for strays of the second class in the first: these two together have the ratio 1. Apart, all
    three have 1 less H(strays) / 3 of log2(3) bits, which are 3.1e-5 or 3.2e-6."""
    n = 10**7
    share = strays / n
    lost = -(share * math.log2(share) + (1 - share) * math.log2(1 - share)) / 3 / math.log2(3)
    assert lost == pytest.approx(3.1e-5 if strays == 80 else 3.2e-6, rel=0.02)
    counts = {"a": [n - strays, strays, 0], "b": [0, n, 0], "c": [0, 0, n]}
    assert branches_of(counts) == expected


@pytest.mark.parametrize(("k", "expected"), [(10**8, [0, 1, 1]), (10**10, [0, 0, 1])])
def test_a_later_merger_must_be_better_by_1e_10(k: int, expected: list[int]) -> None:
    """The middle level leans to the last one by one row: the ratio of this pair is better by 6.7e-10 or 6.7e-12."""
    counts = {"a": [6 * k, 2 * k], "b": [4 * k - 1, 4 * k + 1], "c": [2 * k, 6 * k]}

    def ratio(*groups: str) -> float:
        sums = [[sum(counts[level][c] for level in group) for c in (0, 1)] for group in groups]
        before = bits([sum(column) for column in zip(*sums, strict=True)])
        return (before - sum(map(bits, sums))) / bits([sum(group) for group in sums])

    assert ratio("a", "bc") - ratio("ab", "c") == pytest.approx(0.0669 / k, rel=0.01)
    assert branches_of(counts) == expected


def test_the_only_two_groups_of_the_least_size_are_not_merged() -> None:
    """r and p hold a row of each class, s and q one row. Together r and p would have the best ratio, 0.27 for 0.17, and
    be the only group of two rows. Mergers that leave two such groups bring less. C4.5's -s splits in four as well."""
    X, y = {"a": Categorical([*"srpqpr"], [*"srpq"])}, [*"nnyyny"]
    model = fasttree.C45Classifier(categorical_split="grouped", pruning=None, collapse=False)
    assert model.fit(X, y).tree_.counts[1:].tolist() == [[1, 0], [1, 1], [1, 1], [0, 1]]
    for size, n_leaves in ((1, 2), (2, 4)):
        free = TreeClassifier(
            criterion="gain_ratio", categorical_split="grouped", min_samples_leaf=size, max_depth=1
        )
        assert free.fit(X, y).get_n_leaves() == n_leaves


def test_groups_below_the_least_size_are_merged_at_any_score() -> None:
    """Gini never grows by a merger. Of three rows a level and five a branch none can be left alone: the two levels that
    lean to the same class lose least together, and as many rows are left for a second branch."""
    shares = {"a": [2, 1], "b": [1, 2], "c": [2, 1], "d": [1, 2]}
    levels = [level for level, counts in shares.items() for _ in range(sum(counts))]
    y = [c for counts in shares.values() for c, n in enumerate(counts) for _ in range(n)]
    X = {"c": Categorical(levels, [*"abcd"])}
    for size, branches in ((3, [0, 1, 2, 3]), (5, [0, 1, 0, 1]), (7, None)):
        model = TreeClassifier(categorical_split="grouped", min_samples_leaf=size).fit(X, y)
        if branches is None:
            assert model.get_n_leaves() == 1
        else:
            assert model.tree_.table_branch.tolist() == branches


def bits(counts: list[int]) -> float:
    return sum(-n * math.log2(n / sum(counts)) for n in counts)


def test_the_textbook_table() -> None:
    table = tables.PLAY_TENNIS
    X, y = table.X, table.y
    model = TreeClassifier(criterion="gain_ratio", categorical_split="grouped").fit(X, y)
    assert model.score(X, table.target.values) == 1.0
    for name in ("Sunny", "Overcast", "Rain"):
        assert name in model.to_text()


def test_levels_that_the_node_does_not_have() -> None:
    X = {"c": Categorical(list("aaabbb"), list("abc"))}
    model = TreeClassifier(categorical_split="grouped").fit(X, [0, 0, 0, 1, 1, 1])
    # They share a branch without rows, which answers like the node.
    assert model.tree_.n_children[0] == 3
    assert model.get_n_leaves() == 3
    assert model.predict_proba({"c": ["c"]})[0] == pytest.approx([0.5, 0.5])


# -- against the slow trees ----------------------------------------------------------------------


@st.composite
def grouped_problems(draw: st.DrawFn, **kinds: Any) -> Problem:
    problem = draw(problems(parameters=False, **({"max_rows": 40} | kinds)))
    drawn = draw(parameter_sets())
    drawn.pop("categorical_split")
    if draw(st.booleans()):
        drawn["criterion"] = "gain_ratio"
    problem.parameters |= drawn
    return problem


@given(grouped_problems())
def test_equals_reference(problem: Problem) -> None:
    assert_same(problem)


@given(grouped_problems(kinds=("categorical",), max_rows=60))
def test_equals_reference_on_categories(problem: Problem) -> None:
    assert_same(problem)


@given(grouped_problems(holes=True))
def test_equals_reference_with_holes(problem: Problem) -> None:
    model, nodes = assert_same(problem)
    leaves = reference_apply(nodes, problem.rows)
    assert model.apply(problem.X).tolist() == leaves


def many_levels(seed: int, n_rows: int, n_levels: int, n_classes: int) -> Problem:
    """Levels whose rates are spread, so that there is much to merge."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, n_levels, size=(3, n_rows))
    lean = rng.permutation(n_levels) / n_levels
    y = (lean[columns[0]] + lean[columns[1]] + rng.random(n_rows)) * n_classes / 3
    attributes = [Attribute(c.tolist(), n_levels + 1) for c in columns]
    return Problem(attributes, np.minimum(y.astype(int), n_classes - 1).tolist())


@pytest.mark.parametrize("criterion", ["gain_ratio", "entropy", "gini", "misclassification"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_many_levels(criterion: str, n_classes: int) -> None:
    for seed in range(3):
        problem = many_levels(seed, 300, 14, n_classes)
        problem.parameters = {"criterion": criterion, "max_depth": 3, "min_samples_leaf": 3}
        assert_same(problem)


@given(grouped_problems(holes=True))
def test_fractional_rows(problem: Problem) -> None:
    names = ("criterion", "max_depth", "min_samples_split", "min_samples_leaf")
    kept = {name: problem.parameters[name] for name in names if name in problem.parameters}
    problem.parameters = kept | {"missing": "fractional"}
    grower = GroupedFractionalGrower(
        problem.attributes,
        problem.y,
        problem.n_classes,
        weights=problem.weights,
        categorical_split="grouped",
        **kept,
    )
    assert_same_tree(fit(problem, ties="schema").tree_, grower.grow(), tolerance=1e-6)


@given(
    problems(parameters=False, holes=True, max_rows=48),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([None, "j48"]),
    st.sampled_from(["gain_ratio", "gain_ratio", "entropy"]),
)
def test_c45(problem: Problem, m: int, compat: str | None, criterion: str) -> None:
    parameters: dict[str, Any] = {
        "categorical_split": "grouped",
        "criterion": criterion,
        "compat": compat,
        "min_samples_leaf": m,
        "min_samples_split": 2 * m,
    }
    grower = C45Grower(
        problem.attributes, problem.y, problem.n_classes, weights=problem.weights, **parameters
    )
    model = fasttree.C45Classifier(pruning=None, **parameters)
    model.fit(problem.X, np.array(problem.y), sample_weight=problem.weights)
    assert_same_tree(model.tree_, grower.grow(), tolerance=1e-6)


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_c45_on_many_levels(holes: float) -> None:
    for seed in range(4):
        problem = many_levels(seed, 200, 12, 3)
        gone = np.random.default_rng(seed).random((3, 200)) < holes
        attributes = [
            Attribute(np.where(g, NAN, a.values).tolist(), a.n_categories)
            for g, a in zip(gone, problem.attributes, strict=True)
        ]
        grower = C45Grower(attributes, problem.y, 3, categorical_split="grouped")
        holed = Problem(attributes, problem.y)
        model = fasttree.C45Classifier(categorical_split="grouped", pruning=None).fit(
            holed.X, holed.y
        )
        nodes = grower.grow()
        assert len(nodes) > 3
        assert_same_tree(model.tree_, nodes, tolerance=1e-6)


# -- what makes no difference --------------------------------------------------------------------


@given(grouped_problems(holes=True), st.randoms(use_true_random=False))
def test_order_of_the_rows_and_threads(problem: Problem, random: Any) -> None:
    order = random.sample(range(len(problem.y)), len(problem.y))
    theirs = fit(problem.take(order), n_jobs=2).tree_
    assert fit(problem).tree_.fingerprint() == theirs.fingerprint()


@pytest.mark.parametrize("n_levels", [200, 300, 700])
def test_more_levels_than_pairs_can_be_tried(n_levels: int) -> None:
    """Beyond some number of blocks the mergers are found another way, and the node says so."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, n_levels, 8000)
    y = (rng.random(8000) < codes % 10 / 10).astype(int)
    problem = Problem([Attribute(codes.tolist(), n_levels)], y.tolist())
    problem.parameters = {"criterion": "gain_ratio", "max_depth": 1}
    tree = fit(problem).tree_
    assert bool(tree.heuristic[0])
    assert 2 <= tree.n_children[0] <= n_levels
    assert tree.counts[1:].sum(axis=0).tolist() == tree.counts[0].tolist()
    assert tree.fingerprint() == fit(problem, n_jobs=2).tree_.fingerprint()


def test_very_many_levels_that_are_pure_behind_as_many_that_are_not() -> None:
    """A pure level finds the others of its class at once, however many groups there are: a search among them would be
    10^11 steps here, minutes in which nobody would notice an interrupt."""
    k = 350_000
    codes = np.repeat(np.arange(2 * k), 2)
    y = np.concatenate([np.tile([0, 1], k), np.ones(2 * k, dtype=int)])
    X = {"c": Categorical.from_codes(codes, [str(level) for level in range(2 * k)])}
    model = TreeClassifier(criterion="gain_ratio", categorical_split="grouped", max_depth=1)
    tree = model.fit(X, y).tree_
    assert tree.counts[1:].tolist() == [[k, k], [0, 2 * k]]
    assert tree.table_branch[: 2 * k].tolist() == [0] * k + [1] * k
