# SPDX-License-Identifier: BSD-3-Clause
"""Message lengths: the printed numbers, and a naive message of the same rows, node by node."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference_mml
import textbook_tables as tables
from candidates import Attribute

import fasttree
from fasttree import Categorical, ID3Classifier, TreeClassifier
from fasttree.base.checks import ALPHAS
from fasttree.mml.message import (
    TestOptions,
    bits_of_classes,
    message_length,
    prune_by_length,
)
from fasttree.mml.options import choices_of, choices_of_rows

pytestmark = pytest.mark.numeric

GOLDEN = 1e-9
BESIDE = Path(__file__).resolve().parents[3] / "shared"
DATA = Path(os.environ.get("FASTTREE_SHARED", BESIDE)) / "data"


def problem(table: tables.Table, copies: float = 1, **parameters: Any) -> reference_mml.Problem:
    attributes = [Attribute(a.values, a.n_categories) for a in table.attributes]
    weights = [float(copies)] * len(table.class_codes)
    return reference_mml.Problem(
        attributes, table.class_codes, len(table.classes), weights, **parameters
    )


def id3(table: tables.Table, copies: float = 1) -> Any:
    weights = np.full(len(table.class_codes), float(copies))
    return ID3Classifier().fit(table.X, table.y, sample_weight=weights).tree_


# -- printed numbers -------------------------------------------------------------------------------


def test_code_of_nine_and_five() -> None:
    counts = np.array([[9.0, 5.0]])
    orders = math.log2(math.factorial(15) / (math.factorial(9) * math.factorial(5)))
    assert bits_of_classes(counts, 1.0)[0] == pytest.approx(14.874117, abs=5e-7)
    assert bits_of_classes(counts, 1.0)[0] == pytest.approx(orders, abs=1e-12)
    assert bits_of_classes(counts, 0.5)[0] == pytest.approx(15.420684, abs=5e-7)


# copies, alpha: one leaf, ID3's tree, its classes, leaves of the shortest pruning
PLAY_TENNIS = {
    (1, 1.0): (16.87411685444451, 22.8317030992143, 9.491853096329677, 1),
    (1, 0.5): (17.42068406241999, 21.396785794722625, 8.056935791837997, 1),
    (2, 1.0): (30.503587319072675, 26.768341038216867, 13.428491035332245, 5),
    (2, 0.5): (31.07107262626696, 23.72606145305452, 10.386211450169894, 5),
    (4, 1.0): (57.31370317791385, 31.168042283301773, 17.82819228041715, 5),
    (4, 0.5): (57.8922609436066, 26.139924522174148, 12.80007451928952, 5),
    (10, 1.0): (136.9477428296359, 37.390429473833954, 24.050579470949334, 5),
    (10, 0.5): (137.53315266006408, 29.39293508229523, 16.053085079410607, 5),
}


@pytest.mark.parametrize(("copies", "alpha"), list(PLAY_TENNIS))
def test_play_tennis(copies: int, alpha: float) -> None:
    as_leaf, bits, classes, n_leaves = PLAY_TENNIS[copies, alpha]
    tree = id3(tables.PLAY_TENNIS, copies)
    choices = choices_of(tree, tables.PLAY_TENNIS.X)
    length = message_length(tree, choices, alpha=alpha)
    assert length.as_leaf[0] == pytest.approx(as_leaf, abs=GOLDEN)
    assert length.bits == pytest.approx(bits, abs=GOLDEN)
    assert length.parts == pytest.approx(
        {
            "structure": 8.169925001442312,
            "tests": 5.169925001442312,
            "classes": classes,
            "alpha": 0.0,
        },
        abs=GOLDEN,
    )
    pruned = prune_by_length(tree, choices, alpha=alpha)
    assert pruned.bits == pytest.approx(min(as_leaf, bits), abs=GOLDEN)
    assert pruned.tree.n_leaves == n_leaves
    # No other tree at all has a shorter message, and growth by length finds it.
    naive = problem(tables.PLAY_TENNIS, copies, alpha=alpha)
    grown = naive.grow()
    assert naive.length(grown) == pytest.approx(bits, abs=GOLDEN)
    assert naive.length(naive.prune(grown)) == pytest.approx(pruned.bits, abs=GOLDEN)
    if copies in (1, 10):
        assert naive.optimum() == pytest.approx(pruned.bits, abs=GOLDEN)


def test_one_level_splits_of_play_tennis() -> None:
    naive = problem(tables.PLAY_TENNIS, alpha=1.0)
    root = naive.root()
    lengths = [naive.one_level(root, next(naive.tests(root, a))) for a in range(4)]
    printed = [18.305634287546717, 20.112989209604322, 18.35167543828141, 19.521600439723727]
    assert lengths == pytest.approx(printed, abs=GOLDEN)


XOR_OPTIMUM = 26.519776366443686


def reordered(table: tables.Table, names: str) -> tables.Table:
    return tables.Table({name: table.columns[name] for name in names}, table.target)


@pytest.mark.parametrize(
    ("names", "lookahead", "leaves", "size", "bits"),
    [
        ("abc", 0, 4, 7, XOR_OPTIMUM),
        ("abc", 1, 4, 7, XOR_OPTIMUM),
        ("cab", 0, 8, 15, 35.52932501298079),  # nothing tells the three apart, so c comes first
        ("cab", 1, 4, 7, XOR_OPTIMUM),
    ],
)
def test_xor(names: str, lookahead: int, leaves: int, size: int, bits: float) -> None:
    naive = problem(reordered(tables.XOR, names), 8, alpha=1.0, lookahead=lookahead)
    grown = naive.grow()
    pruned = naive.prune(grown)
    assert (grown.n_leaves, pruned.n_leaves, pruned.size, pruned.errors) == (
        leaves,
        leaves,
        size,
        0,
    )
    assert naive.length(grown) == pytest.approx(bits, abs=GOLDEN)
    assert naive.length(pruned) == pytest.approx(bits, abs=GOLDEN)


def test_xor_cannot_be_had_by_halves() -> None:
    naive = problem(tables.XOR, 8, alpha=1.0)
    assert naive.as_leaf(naive.root()) == pytest.approx(68.2759469507531, abs=GOLDEN)
    assert naive.optimum() == pytest.approx(XOR_OPTIMUM, abs=GOLDEN)
    tree = id3(tables.XOR, 8)
    length = message_length(tree, choices_of(tree, tables.XOR.X), alpha=1.0)
    assert length.bits == pytest.approx(XOR_OPTIMUM, abs=GOLDEN)
    root = TreeClassifier(max_depth=1, categorical_split="multiway").fit(
        tables.XOR.X, tables.XOR.y, sample_weight=np.full(8, 8.0)
    )
    one_level = message_length(root.tree_, choices_of(root.tree_, tables.XOR.X), alpha=1.0)
    assert one_level.as_leaf[0] == pytest.approx(68.2759469507531, abs=GOLDEN)
    assert one_level.bits > one_level.as_leaf[0]


@pytest.mark.parametrize(
    ("copies", "grown_bits", "bits", "leaves", "errors"),
    [
        (1, 12.978325957141633, 11.255166162500453, 1, 2),
        (4, 15.822293942284519, 15.822293942284519, 3, 0),
    ],
)
def test_mammals(copies: int, grown_bits: float, bits: float, leaves: int, errors: int) -> None:
    tree = id3(tables.MAMMALS_10, copies)
    choices = choices_of(tree, tables.MAMMALS_10.X)
    assert message_length(tree, choices).bits == pytest.approx(grown_bits, abs=GOLDEN)
    pruned = prune_by_length(tree, choices)
    assert pruned.bits == pytest.approx(bits, abs=GOLDEN)
    assert pruned.tree.n_leaves == leaves
    naive = problem(tables.MAMMALS_10, copies)
    grown = naive.grow()
    assert naive.length(grown) == pytest.approx(grown_bits, abs=GOLDEN)
    assert naive.optimum() == pytest.approx(bits, abs=GOLDEN)
    shortest = naive.prune(grown)
    assert (shortest.n_leaves, shortest.errors) == (leaves, errors)


# table, alpha: leaves and bits as grown, leaves, size, bits and errors of the shortest pruning, and its root
REAL = {
    ("contact_lenses", 0.5): (9, 33.76834103821689, 3, 5, 28.54856136405266, 3, "tear_prod_rate"),
    ("contact_lenses", 1.0): (9, 36.661425834300374, 3, 5, 30.614357580643585, 3, "tear_prod_rate"),
    ("breast_cancer", 0.5): (506, 551.2464299512194, 3, 4, 244.9171328816939, 80, "deg_malig"),
    ("breast_cancer", 1.0): (510, 574.90067236303, 3, 4, 243.67686952299138, 80, "deg_malig"),
    ("vote", 0.5): (55, 219.86592717262332, 5, 7, 104.55636918173704, 19, "physician_fee_freeze"),
    ("vote", 1.0): (53, 229.58880070144932, 5, 7, 107.1215994142757, 19, "physician_fee_freeze"),
}


def real_table(name: str) -> tables.Table:
    """A table of categories, the target last; a missing value is one more level."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(DATA / f"{name}.parquet")
    columns = {}
    for column in frame.columns:
        levels = [str(level) for level in frame[column].cat.categories]
        values = [levels[code] if code >= 0 else "?" for code in frame[column].cat.codes]
        columns[column] = tables.Labels(
            tuple(values), (*levels, "?") if "?" in values else (*levels,)
        )
    target = columns.pop(frame.columns[-1])
    return tables.Table(columns, target)


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no real tables in {DATA}")
@pytest.mark.parametrize(("name", "alpha"), list(REAL))
def test_real_tables(name: str, alpha: float) -> None:
    grown_leaves, grown_bits, leaves, size, bits, errors, root = REAL[name, alpha]
    table = real_table(name)
    naive = problem(table, alpha=alpha)
    grown = naive.grow()
    assert grown.n_leaves == grown_leaves
    assert naive.length(grown) == pytest.approx(grown_bits, abs=1e-8)
    pruned = naive.prune(grown)
    assert (pruned.n_leaves, pruned.size, pruned.errors) == (leaves, size, errors)
    assert naive.length(pruned) == pytest.approx(bits, abs=1e-8)
    assert pruned.test is not None
    assert table.names[pruned.test.attribute] == root


# -- against the naive message, node by node -------------------------------------------------------


def random_table(seed: int, n: int, holes: float) -> tuple[dict[str, Any], list[int], Any]:
    """Two numbers with ties and two categories, three classes; and the same for the naive message."""
    random = np.random.default_rng(seed)
    numbers = random.integers(0, 9, size=(2, n)).astype(float)
    levels = np.array(list("abc"))
    words = levels[random.integers(0, 3, size=(2, n))].astype(object)
    y = (numbers[0] + 3 * (words[0] == "a") > 5).astype(int) + (random.random(n) < 0.2)
    lost = random.random((4, n)) < holes
    numbers[lost[:2]] = np.nan
    words[lost[2:]] = None
    X: dict[str, Any] = {f"n{i}": column for i, column in enumerate(numbers)}
    X |= {f"c{i}": Categorical(column, list("abc")) for i, column in enumerate(words)}
    codes = [[math.nan if w is None else float("abc".index(w)) for w in column] for column in words]
    attributes = [Attribute(c.tolist()) for c in numbers] + [Attribute(c, 3) for c in codes]
    return X, y.tolist(), attributes


def in_step(naive: reference_mml.Problem, root: reference_mml.Node, tree: Any) -> Any:
    """Pairs of a naive node and the numbers of the same node in the tree."""
    pairs = [(root, 0)]
    for node, number in pairs:  # grows as it is walked
        for branch, child in enumerate(node.children):
            codes = tree.table_codes[
                tree.table_start[number] : tree.table_start[number + 1]
            ].tolist()
            if codes and branch + 1 not in codes:
                continue  # a level without rows costs nothing
            place = codes.index(branch + 1) if codes else branch
            pairs.append((child, int(tree.first_child[number]) + place))
    return pairs


@pytest.mark.parametrize("holes", [0.0, 0.25])
@pytest.mark.parametrize("cut_code", ["uniform", "dyadic"])
@pytest.mark.parametrize("seed", range(4))
def test_equals_the_naive_message(seed: int, cut_code: str, holes: float) -> None:
    X, y, attributes = random_table(seed, 60, holes)
    n_classes = len(set(y))
    tree = ID3Classifier(min_samples_split=6).fit(X, y).tree_
    choices = choices_of(tree, X)
    for alpha in (0.5, 1.0):
        naive = reference_mml.Problem(attributes, y, n_classes, alpha=alpha, cut_code=cut_code)
        root = reference_mml.follow(naive, tree)
        length = message_length(tree, choices, alpha=alpha, cut_code=cut_code)
        for node, i in in_step(naive, root, tree):
            assert choices.eligible[i] == len(naive.eligible(node))
            assert length.data[i] == pytest.approx(naive.data(node), abs=1e-6)
            assert length.as_leaf[i] == pytest.approx(naive.as_leaf(node), abs=1e-6)
            assert length.subtree[i] == pytest.approx(naive.length(node), abs=1e-6)
            if node.test is not None:
                bits = length.structure[i] + length.test[i]
                assert bits == pytest.approx(naive.as_test(node, node.test), abs=1e-9)
        pruned = prune_by_length(tree, choices, alpha=alpha, cut_code=cut_code)
        short = naive.prune(root)
        assert pruned.bits == pytest.approx(naive.length(short), abs=1e-6)
        assert pruned.tree.n_leaves == short.n_leaves
        # The pruned tree's own message is as long as was promised.
        own = message_length(
            pruned.tree,
            choices.of_subtree(tree, pruned.is_split),
            alpha=alpha,
            cut_code=cut_code,
        )
        assert own.bits == pytest.approx(pruned.bits, abs=1e-9)


def test_swept_numbers() -> None:
    random = np.random.default_rng(0)
    X = np.round(random.normal(size=(600, 3)), 3)
    X[random.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0] * X[:, 1]) > 0).astype(int)
    tree = ID3Classifier(min_samples_split=60).fit(X, y).tree_
    choices = choices_of(tree, X)
    naive = reference_mml.Problem([Attribute(c) for c in X.T.tolist()], y.tolist(), 2)
    root = reference_mml.follow(naive, tree)
    assert message_length(tree, choices).bits == pytest.approx(naive.length(root), abs=1e-5)


# -- where the missing values choose their branch --------------------------------------------------


def test_missing_set_apart_is_one_more_cut() -> None:
    X = np.array([[1.0], [2.0], [3.0], [np.nan], [np.nan]])
    tree = TreeClassifier(missing="branch").fit(X, [0, 0, 0, 1, 1]).tree_
    assert tree.threshold[0] == math.inf
    choices = choices_of(tree, X)
    assert (choices.n_cuts[0], choices.place[0]) == (3, 2)
    assert message_length(tree, choices).test[0] == pytest.approx(math.log2(3) + 1)
    low = TreeClassifier(missing="branch").fit(X, [0, 0, 1, 1, 1]).tree_
    choices = choices_of(low, X)
    assert (choices.n_cuts[0], choices.place[0]) == (3, 1)
    assert choices.eligible.tolist() == [1, 1, 1]  # missing and 3.0 can still be told apart


def test_missing_as_a_category_costs_what_a_level_costs() -> None:
    words = ["a", "b", None, "a", "b", None, "a", "c"]
    y = [0, 1, 2, 0, 1, 2, 0, 0]
    named = [w or "?" for w in words]
    bits = []
    for column, missing in ((words, "category"), (named, "error")):
        X = {"w": Categorical(column, ["a", "b", "c", "?"][: 3 + (missing == "error")])}
        for shape in ("multiway", "subset"):
            model = TreeClassifier(missing=missing, categorical_split=shape).fit(X, y)
            choices = choices_of(model.tree_, X, shape)
            bits.append(message_length(model.tree_, choices).bits)
    assert bits[:2] == pytest.approx(bits[2:], abs=1e-9)


# -- subsets ---------------------------------------------------------------------------------------


def test_a_subset_is_one_of_many() -> None:
    values = list("abcdef") * 4
    y = [int(v in "ace") for v in values]
    X = {"w": Categorical(values, list("abcdef")), "x": Categorical(["u", "v"] * 12, ["u", "v"])}
    tree = TreeClassifier().fit(X, y).tree_
    choices = choices_of(tree, X)
    assert choices.eligible.tolist() == [2, 1, 1]  # x says the same as w: no test is left of it
    assert choices.n_cuts.tolist() == [0, 0, 0]
    attribute = int(tree.attribute[0])
    expected = math.log2(2) + (math.log2(2**5 - 1) if attribute == 0 else 0)
    assert message_length(tree, choices).test[0] == pytest.approx(expected)


def test_subsets_of_many_levels() -> None:
    random = np.random.default_rng(3)
    codes = random.integers(0, 300, 3000)
    X = {"w": Categorical([f"v{c}" for c in codes], [f"v{c}" for c in range(300)])}
    tree = TreeClassifier(max_depth=1).fit(X, codes % 2).tree_
    n_present = int(tree.table_start[1])
    length = message_length(tree, choices_of(tree, X))
    assert length.test[0] == pytest.approx(math.log2(2 ** (n_present - 1) - 1), abs=1e-9)


@pytest.mark.parametrize(("n_values", "n_groups", "ways"), [(4, 3, 6), (6, 3, 90), (5, 2, 15)])
def test_groups_of_levels(n_values: int, n_groups: int, ways: int) -> None:
    from fasttree.mml.message import log2_partitions

    assert 2 ** log2_partitions(n_values, n_groups) == pytest.approx(ways)


def test_ordered_levels_are_numbers() -> None:
    random = np.random.default_rng(0)
    place = random.integers(0, 7, 90)
    other = random.integers(0, 3, 90)
    y = (place > 2) ^ (random.random(90) < 0.2)
    levels = list("abcdefg")
    words = Categorical([levels[i] for i in place], levels)
    lengths = []
    for column, ordered in ((words, ["w"]), (place.astype(float), None)):
        X = {"w": column, "v": Categorical([levels[i] for i in other], levels)}
        more: dict[str, Any] = {} if ordered is None else {"ordered_features": ordered}
        model = TreeClassifier(categorical_split="multiway", max_depth=3, **more).fit(X, y)
        choices = choices_of(model.tree_, X)
        for cut_code in ("uniform", "dyadic"):
            lengths.append(message_length(model.tree_, choices, cut_code=cut_code).parts)
    assert lengths[:2] == lengths[2:]
    assert lengths[0] != lengths[1]


# -- the code of the cuts --------------------------------------------------------------------------


def test_halving_is_a_code() -> None:
    from fasttree.mml.message import _halving_bits

    for n in (1, 2, 3, 7, 8, 100):
        bits = _halving_bits(np.full(n, n), np.arange(n))
        assert bits.tolist() == [reference_mml.halving_bits(n, place) for place in range(n)]
        assert (2.0**-bits).sum() <= 1
    assert _halving_bits(np.full(7, 7), np.arange(7)).tolist() == [5, 3, 5, 1, 5, 3, 5]


# -- alpha -----------------------------------------------------------------------------------------


def test_the_best_alpha() -> None:
    tree = id3(tables.PLAY_TENNIS, 4)
    choices = choices_of(tree, tables.PLAY_TENNIS.X)
    lengths = [message_length(tree, choices, alpha=alpha).bits for alpha in ALPHAS]
    best = message_length(tree, choices, alpha="opt")
    assert best.bits == pytest.approx(min(lengths) + 3)
    assert best.alpha == ALPHAS[int(np.argmin(lengths))] == 0.1
    assert sum(best.parts.values()) == pytest.approx(best.bits)
    pruned = prune_by_length(tree, choices, alpha="opt")
    shortest = [prune_by_length(tree, choices, alpha=alpha).bits for alpha in ALPHAS]
    assert pruned.bits == pytest.approx(min(shortest) + 3)


def test_classes_that_together_count_one() -> None:
    X, y = {"a": [0, 0, 1, 1, 2, 2]}, ["p", "p", "q", "q", "r", "s"]
    tree = fasttree.ID3Classifier(categorical_split="multiway").fit(X, y).tree_
    choices = choices_of(tree, X)
    shared = message_length(tree, choices, alpha="1/C")
    assert shared.alpha == 0.25
    assert shared.bits == message_length(tree, choices, alpha=0.25).bits
    # The first of the rows of a class takes 2 bits, the second log2(2 / (1 + 1/4)), ...
    assert bits_of_classes(np.array([[2.0, 0, 0, 0]]), 0.25)[0] == pytest.approx(2 + math.log2(1.6))
    pruned = fasttree.pruning.by_message_length(
        tree, choices, fasttree.pruning.MessageLength(alpha="1/C")
    )[0]
    assert pruned == prune_by_length(tree, choices, alpha=0.25).tree


@pytest.mark.parametrize("alpha", [0, -1.0, math.nan, math.inf, "best", None, True, 10**400])
def test_bad_alpha(alpha: Any) -> None:
    tree = id3(tables.XOR)
    with pytest.raises(ValueError, match='alpha must be a number > 0 or "opt"'):
        message_length(tree, choices_of(tree, tables.XOR.X), alpha=alpha)


def test_bad_cut_code() -> None:
    tree = id3(tables.XOR)
    with pytest.raises(ValueError, match=r"cut_code must be one of 'uniform', 'dyadic', got 'log'"):
        message_length(tree, choices_of(tree, tables.XOR.X), cut_code="log")


# -- pruned trees ----------------------------------------------------------------------------------


def test_leaves_of_the_pruned_tree() -> None:
    tree = id3(tables.NO_OVERCAST, 10)
    pruned = prune_by_length(tree, choices_of(tree, tables.NO_OVERCAST.X)).tree
    counts = pruned.counts
    total = counts.sum(axis=1, keepdims=True)
    expected = (counts + 0.5) / (total + 1.0)
    empty = total[:, 0] == 0
    assert empty.any()
    expected[empty] = expected[pruned.parent[empty]]
    np.testing.assert_allclose(pruned.proba, expected, rtol=1e-14)


def test_ties_are_pruned() -> None:
    """A leaf that takes as many bits as the split below it stays a leaf."""
    tree = TreeClassifier(max_depth=1).fit([[0.0], [1.0]], [0, 1]).tree_
    # The leaf: 1 bit of structure, 1 and 2 for the two rows. The split: 1 for structure, 1 for each row, and the cut.
    for n_cuts, n_leaves in ((1, 2), (2, 1)):
        choices = TestOptions(np.array([1, 0, 0]), np.array([n_cuts, 0, 0]), np.zeros(3, dtype=int))
        length = message_length(tree, choices)
        assert length.as_leaf[0] == pytest.approx(4.0, abs=1e-12)
        assert length.bits == pytest.approx(2.0 + n_cuts, abs=1e-12)
        assert prune_by_length(tree, choices).tree.n_leaves == n_leaves


def test_single_leaf_and_single_class() -> None:
    tree = TreeClassifier().fit([[0.0], [1.0]], [1, 1]).tree_
    choices = choices_of(tree, [[0.0], [1.0]])
    length = message_length(tree, choices)
    assert length.bits == 1.0  # 1 of 2: it is a leaf; one class needs no bits
    assert prune_by_length(tree, choices).tree.n_leaves == 1
    constant = TreeClassifier().fit([[1.0], [1.0]], [0, 1]).tree_
    nothing_to_ask = message_length(constant, choices_of(constant, [[1.0], [1.0]]), alpha=1.0)
    assert nothing_to_ask.structure.tolist() == [0.0]
    assert nothing_to_ask.bits == pytest.approx(math.log2(6))


def test_a_very_deep_tree() -> None:
    n = 1500
    X = np.stack([np.arange(n, dtype=float), np.zeros(n)], axis=1)
    y = np.arange(n) % 2
    tree = TreeClassifier(criterion="misclassification").fit(X, y).tree_
    assert tree.max_depth > 200
    choices = choices_of(tree, X)
    length = message_length(tree, choices)
    assert length.parts["classes"] == pytest.approx(length.data[tree.is_leaf()].sum())
    assert length.bits == pytest.approx(sum(length.parts.values()))


def test_order_of_rows_and_blocks_of_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = random_table(5, 80, 0.2)
    tree = ID3Classifier().fit(X, y).tree_
    once = choices_of(tree, X)
    order = np.random.default_rng(0).permutation(80)
    shuffled = {
        name: column[order]
        if isinstance(column, np.ndarray)
        else Categorical([np.asarray(column)[i] for i in order], list("abc"))
        for name, column in X.items()
    }
    monkeypatch.setattr("fasttree.mml.options.CELLS", 1)
    again = choices_of(tree, shuffled)
    for name in ("eligible", "n_cuts", "place"):
        assert getattr(once, name).tolist() == getattr(again, name).tolist()


def test_rows_as_routing_reads_them() -> None:
    table = tables.PLAY_TENNIS
    tree = id3(table)
    codes = np.array([a.values for a in table.attributes], dtype=float).T + 1
    direct, through = choices_of_rows(tree, codes), choices_of(tree, table.X)
    assert direct.eligible.tolist() == through.eligible.tolist()


def test_shape_is_read_off_the_tree() -> None:
    X = {"w": Categorical(list("abcabc"), list("abcd")), "v": Categorical(["k"] * 6, ["k", "l"])}
    y = [0, 1, 2, 0, 1, 2]
    for shape, eligible in (("multiway", [2, 1, 1, 1, 1]), ("subset", None)):
        tree = TreeClassifier(categorical_split=shape).fit(X, y).tree_
        read, told = choices_of(tree, X), choices_of(tree, X, shape)
        assert read.eligible.tolist() == told.eligible.tolist()
        if eligible is not None:
            # v is constant, but nobody has asked for it.
            assert read.eligible.tolist() == eligible
        else:
            assert read.eligible[0] == 1


def test_any_tree_tells_its_length() -> None:
    X, y = fasttree.datasets.play_tennis()
    tree = fasttree.ID3Classifier().fit(X, y).tree_
    message = tree.message_length(X, alpha=1.0)
    assert message.bits == pytest.approx(22.831703, abs=5e-7)
    assert len(message.structure) == tree.node_count
