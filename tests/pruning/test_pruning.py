# SPDX-License-Identifier: BSD-3-Clause
"""Pruning on held-out rows, by penalties and tests, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import textbook_tables as tables
from pruning_cases import (
    CART,
    CROSSED,
    CROSSED_TREE,
    DRAWN_LEFT,
    DRAWN_RIGHT,
    ID3,
    block,
    crossed_rows,
    drawn,
    grown,
    held,
    leaves_of,
    random_tree,
)
from reference_pruning import chain, greedy_removal, nodes_of, prunings

import fasttree
from fasttree import pruning
from fasttree.pruning import (
    LeafPenalty,
    ReducedError,
    Significance,
    Trace,
    generalisation_error,
    held_out_counts,
    leaf_penalty,
    reduced_error,
    significance,
    simplify,
    snip,
    split_p_values,
)
from fasttree.stats.measures import chi_square
from fasttree.trees.traversal import decide_bottom_up, errors_as_leaf, leaves_below
from fasttree.trees.tree import Tree

pytestmark = pytest.mark.numeric

SEEDS = range(25)
TENNIS, MAMMALS, MAMMALS_8 = tables.PLAY_TENNIS, tables.MAMMALS_10, tables.MAMMALS_8


def check_trace(tree: Tree, pruned: Tree, trace: Trace) -> None:
    assert tree.n_leaves - trace.leaves_removed.sum() == pruned.n_leaves
    columns = trace.columns()
    assert {len(column) for column in columns.values()} == {len(trace)}
    assert str(trace).count("\n") == (
        len(trace) + 1 if 0 < len(trace) <= 40 else 0 if not len(trace) else 42
    )


def errors_on(tree: Tree, counts: np.ndarray) -> float:
    """Errors of rows that are counted where they end, in the tree itself."""
    return float(errors_as_leaf(tree, counts).sum())


# -- reduced error -------------------------------------------------------------------------------------------------


def test_drawn_trees_make_the_printed_errors() -> None:
    left, right = drawn(DRAWN_LEFT), drawn(DRAWN_RIGHT)
    assert [errors_on(t, held(t, MAMMALS)) for t in (left, right)] == [0, 2]
    assert [errors_on(t, held(t, tables.MAMMALS_TEST)) for t in (left, right)] == [3, 1]


@pytest.mark.parametrize("method", ["greedy", "bottom_up"])
def test_seed_tree_loses_four_legged(method: str) -> None:
    left = drawn(DRAWN_LEFT)
    pruned, trace = reduced_error(
        left, held(left, tables.MAMMALS_TEST), ReducedError(method=method)
    )
    assert pruned.to_text() == drawn(DRAWN_RIGHT).to_text()
    assert trace.attribute == ("Four-Legged",)
    assert (trace.before.tolist(), trace.after.tolist()) == ([2.0], [0.0])
    assert trace.leaves_removed.tolist() == [1]
    assert errors_on(pruned, held(pruned, tables.MAMMALS_TEST)) == 1
    assert "Four-Legged" in str(trace)


def test_grown_mammals_tree_stays() -> None:
    tree = grown(MAMMALS, **ID3)
    pruned, trace = reduced_error(tree, held(tree, tables.MAMMALS_TEST))
    assert pruned == tree
    assert str(trace) == "reduced_error: nothing was pruned"
    assert errors_on(pruned, held(pruned, tables.MAMMALS_TEST)) == 2


def test_greedy_is_not_the_optimum() -> None:
    tree = drawn(CROSSED_TREE, CROSSED)
    rows = crossed_rows("0 1 0 +", "0 1 0 +", "1 0 0 +", "1 0 1 -", "1 0 1 -")
    counts = held(tree, rows)
    assert errors_on(tree, counts) == 5
    greedy, trace = reduced_error(tree, counts, ReducedError(method="greedy"))
    assert (errors_on(greedy, held(greedy, rows)), greedy.n_leaves) == (2, 1)
    assert (trace.before[0], trace.after[0]) == (5, 2)
    best, trace = reduced_error(tree, counts, ReducedError(method="bottom_up"))
    assert (errors_on(best, held(best, rows)), best.n_leaves) == (1, 2)
    check_trace(tree, best, trace)


@pytest.mark.parametrize(("method", "nodes"), [("greedy", [1, 2]), ("bottom_up", [2, 1])])
def test_ties_go_to_the_smaller_subtree(method: str, nodes: list[int]) -> None:
    tree = drawn(CROSSED_TREE, CROSSED)
    rows = crossed_rows("0 1 0 +", "1 0 1 -")
    pruned, trace = reduced_error(tree, held(tree, rows), ReducedError(method=method))
    assert trace.node.tolist() == nodes
    assert (errors_on(pruned, held(pruned, rows)), pruned.n_leaves) == (0, 2)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("stop", ["harmful", "below_original"])
def test_greedy_against_the_reference(seed: int, stop: str) -> None:
    tree, counts = random_tree(seed, categorical_split="multiway")
    if seed % 3 == 0:
        counts *= 0.1  # sums that are not exact
    pruned, trace = reduced_error(tree, counts, ReducedError(stop=stop, method="greedy"))
    as_leaf = errors_as_leaf(tree, tree.sum_up(counts))
    ending = errors_as_leaf(tree, counts)
    expected = greedy_removal(tree, as_leaf, ending, stop == "below_original")
    assert trace.node.tolist() == expected
    check_trace(tree, pruned, trace)
    saved = (trace.before - trace.after).sum()
    assert saved >= -1e-9
    if stop == "harmful":
        assert (trace.before - trace.after >= -1e-9).all()


def test_the_default_is_optimal_and_a_rule_for_greedy_cuts_is_greedy() -> None:
    assert (
        ReducedError() == ReducedError(method="bottom_up") == pruning.read_method("reduced_error")
    )
    assert ReducedError(stop="below_original").method == "greedy"
    tree = drawn(CROSSED_TREE, CROSSED)
    rows = crossed_rows("0 1 0 +", "0 1 0 +", "1 0 0 +", "1 0 1 -", "1 0 1 -")
    pruned, _ = reduced_error(tree, held(tree, rows))
    assert (errors_on(pruned, held(pruned, rows)), pruned.n_leaves) == (1, 2)


@pytest.mark.parametrize("how", [ReducedError(), ReducedError(method="bottom_up")])
@pytest.mark.parametrize("seed", range(8))
def test_bottom_up_is_the_best_pruning(seed: int, how: ReducedError) -> None:
    tree, counts = random_tree(seed, n_rows=25, max_depth=4)
    as_leaf = errors_as_leaf(tree, tree.sum_up(counts))
    ending = errors_as_leaf(tree, counts)
    root = nodes_of(tree)[0]

    def cost(leaves: frozenset[int]) -> float:
        stuck = [n.number for n in root.below() if not n.is_leaf and n.number not in leaves]
        above = set()
        for leaf in leaves:
            while leaf >= 0:
                above.add(leaf)
                leaf = int(tree.parent[leaf])
        here = sum(as_leaf[leaf] for leaf in leaves)
        return here + sum(ending[node] for node in stuck if node in above)

    best = min((cost(leaves), sum(tree.multiplicity[list(leaves)])) for leaves in prunings(root))
    pruned, trace = reduced_error(tree, counts, how)
    found = ending.sum() - (trace.before - trace.after).sum()
    assert (found, pruned.n_leaves) == pytest.approx(best)


def test_rows_that_end_at_inner_nodes_are_counted() -> None:
    tree = drawn(DRAWN_LEFT)
    counts = np.zeros(tree.counts.shape)
    counts[0, 1] = 3  # the root says no: three errors whatever is cut
    pruned, trace = reduced_error(tree, counts)
    assert pruned.n_leaves == 1
    assert (trace.before == trace.after).all()


# -- leaf penalty --------------------------------------------------------------------------------------------------

PENALTIES = [  # table, what grows it, zeta, generalisation error of the tree and of the best pruning, its leaves
    ("tennis", ID3, 0.5, 0.17857142857142858, 0.17857142857142858, 5),
    ("tennis", ID3, 1.0, 0.35714285714285715, 0.35714285714285715, 5),
    ("tennis", ID3, 2.0, 0.7142857142857143, 0.5, 1),
    ("tennis", CART, 0.5, 0.25, 0.25, 3),
    ("tennis", CART, 1.0, 0.5, 0.35714285714285715, 3),
    ("tennis", CART, 2.0, 1.0, 0.5, 1),
    ("mammals", ID3, 0.5, 0.15, 0.15, 3),
    ("mammals", ID3, 1.0, 0.3, 0.3, 1),
    ("mammals", ID3, 2.0, 0.6, 0.4, 1),
    ("mammals", DRAWN_LEFT, 0.5, 0.2, 0.2, 4),
    ("mammals", DRAWN_LEFT, 1.0, 0.4, 0.3, 1),
    ("mammals", DRAWN_RIGHT, 0.5, 0.35, 0.25, 1),
    ("mammals", DRAWN_RIGHT, 1.0, 0.5, 0.3, 1),
    ("mammals8", ID3, 0.5, 0.375, 0.375, 2),
    ("mammals8", ID3, 1.0, 0.625, 0.5, 2),
    ("mammals8", ID3, 2.0, 1.125, 0.75, 1),
]


@pytest.mark.parametrize(("name", "how", "zeta", "before", "after", "n_leaves"), PENALTIES)
def test_leaf_penalty(name, how, zeta, before, after, n_leaves) -> None:
    table = {"tennis": TENNIS, "mammals": MAMMALS, "mammals8": MAMMALS_8}[name]
    tree = grown(table, **how) if "criterion" in how else drawn(how, table)
    assert generalisation_error(tree, zeta) == pytest.approx(before, abs=1e-12)
    pruned, trace = leaf_penalty(tree, LeafPenalty(zeta))
    assert generalisation_error(pruned, zeta) == pytest.approx(after, abs=1e-12)
    assert pruned.n_leaves == n_leaves
    check_trace(tree, pruned, trace)


def test_the_two_trees_of_the_textbook_swap_at_two_thirds() -> None:
    # 4 errors with 7 leaves, 6 errors with 4 leaves, 24 rows.
    def e_c(errors: float, leaves: int, zeta: float) -> float:
        return (errors + zeta * leaves) / 24

    assert e_c(4, 7, 0.5) == pytest.approx(0.3125)
    assert e_c(6, 4, 0.5) == pytest.approx(0.333333, abs=5e-7)
    assert e_c(4, 7, 1) == pytest.approx(0.458333, abs=5e-7)
    assert e_c(6, 4, 1) == pytest.approx(0.416667, abs=5e-7)
    assert e_c(4, 7, 2 / 3) == pytest.approx(e_c(6, 4, 2 / 3))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("zeta", [0.0, 0.3, 1.0, 2.5])
def test_leaf_penalty_is_cost_complexity(seed: int, zeta: float) -> None:
    tree, _ = random_tree(seed, categorical_split="multiway")
    pruned, _ = leaf_penalty(tree, LeafPenalty(zeta))
    path = pruning.cost_complexity_path(tree)
    other, _ = pruning.prune_at(tree, path, zeta / tree.counts[0].sum())
    assert pruned == other


# -- significance --------------------------------------------------------------------------------------------------


def test_p_values_are_those_of_the_measure() -> None:
    for tree, _ in (random_tree(seed, categorical_split="multiway") for seed in range(6)):
        p = split_p_values(tree)
        for node in range(tree.node_count):
            children = slice(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
            expected = 1.0 if tree.is_leaf()[node] else chi_square(tree.counts[children]).p
            assert p[node] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("alpha", "n_leaves"), [(0.01, 1), (0.045, 1), (0.05, 3), (0.2, 3)])
def test_significance_on_mammals(alpha: float, n_leaves: int) -> None:
    tree = grown(MAMMALS, **ID3)
    assert split_p_values(tree)[[0, 1]] == pytest.approx([0.052808, 0.045500], abs=5e-7)
    pruned, trace = significance(tree, Significance(alpha, test="naive"))
    # The lower split is significant at .05 (p = .0455) and holds the root (p = .0528) up.
    assert pruned.n_leaves == n_leaves
    check_trace(tree, pruned, trace)


@pytest.mark.parametrize("seed", SEEDS)
def test_lowest_splits_are_significant(seed: int) -> None:
    tree, _ = random_tree(seed, categorical_split="multiway")
    pruned, trace = significance(tree, Significance(0.1, test="naive"))
    check_trace(tree, pruned, trace)
    p, leaf = split_p_values(pruned), pruned.is_leaf()
    lowest = [
        node
        for node in np.flatnonzero(~leaf)
        if leaf[pruned.first_child[node] :][: pruned.n_children[node]].all()
    ]
    assert (p[lowest] < 0.1).all()
    assert (trace.before >= 0.1).all()


# -- simplify and snip ---------------------------------------------------------------------------------------------


def test_simplify_collapses_what_says_the_same() -> None:
    tree = drawn({"Gives Birth": {"yes": None, "no": {"Hibernates": {"yes": None, "no": None}}}})
    assert tree.pred.tolist() == [0, 0, 0, 0, 0]
    pruned, trace = simplify(tree)
    assert pruned.n_leaves == 1
    assert trace.node.tolist() == [0]
    assert simplify(grown(TENNIS, **ID3))[0].n_leaves == 5


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("missing", ["branch", "fractional"])
def test_simplify_keeps_every_prediction(seed: int, missing: str) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (80, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = (rng.random(80) < 0.25).astype(int) + (rng.random(80) < 0.1)
    model = fasttree.TreeClassifier(missing=missing, max_depth=int(rng.integers(1, 6))).fit(X, y)
    grid = np.array(np.meshgrid(*[[np.nan, 0, 1, 2, 3, 4]] * 3)).reshape(3, -1).T
    before = model.predict(grid)
    pruned, trace = simplify(model.tree_)
    check_trace(model.tree_, pruned, trace)
    assert trace.before == pytest.approx(trace.after)
    again = simplify(pruned)[0]
    assert again == pruned
    model.tree_ = pruned
    assert (model.predict(grid) == before).all()


def test_snip() -> None:
    tree = grown(TENNIS, **ID3)
    pruned, trace = snip(tree, [1])
    assert pruned.to_text().startswith("Outlook = Sunny (or missing): No (5/2)")
    check_trace(tree, pruned, trace)
    everything, trace = snip(tree, [3, 0, np.int64(1)])
    assert everything.n_leaves == 1
    assert trace.node.tolist() == [0]  # the others went with it
    assert snip(tree, [])[0] == tree


# -- shape ---------------------------------------------------------------------------------------------------------


def test_a_tree_of_one_leaf_stays() -> None:
    tree = grown(MAMMALS, max_depth=0)
    counts = held(tree, MAMMALS)
    for pruned, trace in (
        reduced_error(tree, counts),
        reduced_error(tree, counts, ReducedError(method="greedy")),
        leaf_penalty(tree),
        significance(tree, Significance(test="naive")),
        simplify(tree),
        snip(tree, []),
        pruning.prune_at(tree, pruning.cost_complexity_path(tree), 1.0),
        pruning.error_based(tree, pruning.ErrorBased(raising=False)),
    ):
        assert pruned == tree
        assert len(trace) == 0


def test_ten_thousand_levels() -> None:
    schema = fasttree.TreeClassifier().fit([[0.0], [1.0]], [0, 1]).tree_.schema
    tree = chain(schema, 10_000)
    assert leaves_below(tree)[0] == 10_001
    counts = tree.counts * tree.is_leaf()[:, np.newaxis]
    pruned, trace = reduced_error(tree, counts[::1] + (tree.is_leaf() * 1.0)[:, np.newaxis])
    check_trace(tree, pruned, trace)
    path = pruning.cost_complexity_path(tree)
    assert path.leaves[-1] == 1
    for pruned, trace in (
        leaf_penalty(tree),
        significance(tree, Significance(test="naive")),
        simplify(tree),
        snip(tree, [2]),
    ):
        check_trace(tree, pruned, trace)


def test_class_weights_and_costs_count() -> None:
    # A mistake on a mammal costs ten: the cut that is right by numbers is wrong by costs.
    cost = {"yes": {"no": 10}}
    model = fasttree.TreeClassifier(misclassification_cost=cost, **ID3).fit(MAMMALS.X, MAMMALS.y)
    tree = model.tree_
    counts = held(tree, MAMMALS)
    as_leaf = errors_as_leaf(tree, tree.sum_up(counts))
    assert as_leaf[0] == 8  # ten animals, all called mammals
    assert decide_bottom_up(tree, as_leaf, errors_as_leaf(tree, counts)).before[0] == 0


def test_names() -> None:
    assert pruning.read_method(None) is None
    for name, kind in pruning.METHODS.items():
        assert isinstance(pruning.read_method(name), kind)
    how = LeafPenalty(1)
    assert pruning.read_method(how) is how
    assert hash(how) == hash(LeafPenalty(1))
    with pytest.raises(ValueError, match="pruning must be one of 'reduced_error', 'error_based'"):
        pruning.read_method("reduce")


# -- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ReducedError(stop="never"),
            "stop must be one of 'harmful', 'below_original', got 'never'",
        ),
        (lambda: ReducedError(method="top"), "method must be one of 'greedy', 'bottom_up'"),
        (lambda: ReducedError("below_original", "bottom_up"), "requires method='greedy'"),
        (lambda: LeafPenalty(-1), "zeta must be a finite number >= 0, got -1"),
        (lambda: LeafPenalty(float("nan")), "zeta must be a finite number"),
        (lambda: Significance(0), "alpha must be a probability, above 0 and below 1, got 0"),
        (lambda: Significance("high"), "alpha must be a probability"),
        (lambda: pruning.CrossValidated(folds=1), "folds must be an integer of at least 2"),
    ],
)
def test_bad_parameters(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_bad_held_out_rows() -> None:
    tree = drawn(DRAWN_LEFT)
    leaves, codes = leaves_of(tree, block(MAMMALS)), np.array(MAMMALS.class_codes)
    with pytest.raises(ValueError, match="validation rows are empty: give at least one row"):
        held_out_counts(tree, leaves[:0], codes[:0])
    with pytest.raises(ValueError, match="got 10 nodes, 9 classes"):
        held_out_counts(tree, leaves, codes[:-1])
    with pytest.raises(ValueError, match="got 10 nodes, 10 classes and 3 weights"):
        held_out_counts(tree, leaves, codes, np.ones(3))
    with pytest.raises(
        ValueError, match="has the node number 99, but the nodes of the tree are 0 to 6"
    ):
        held_out_counts(tree, leaves + 99 * (codes > 0) - leaves * (codes > 0), codes)
    with pytest.raises(
        ValueError, match="has the class number 2, but the classes of the tree are 0 to 1"
    ):
        held_out_counts(tree, leaves, codes + 1)
    with pytest.raises(ValueError, match="all validation rows have weight 0"):
        held_out_counts(tree, leaves, codes, np.zeros(10))
    with pytest.raises(ValueError, match=r"must have the shape \(7, 2\) .*, got \(3, 2\)"):
        reduced_error(tree, np.ones((3, 2)))
    with pytest.raises(ValueError, match="validation rows are empty"):
        reduced_error(tree, np.zeros((7, 2)))
    with pytest.raises(ValueError, match="finite numbers >= 0"):
        reduced_error(tree, np.full((7, 2), -1.0))


def test_unseen_classes() -> None:
    classes = drawn(DRAWN_LEFT).schema.classes
    assert (
        pruning.codes_of_classes(np.array(["yes"]), np.zeros(3, dtype=int), classes).tolist()
        == [1] * 3
    )
    with pytest.raises(
        ValueError, match="y_val contains the class 'bird', which was not seen at fit"
    ):
        pruning.codes_of_classes(np.array(["bird", "no"]), np.array([1, 1]), classes)


def test_bad_snips() -> None:
    tree = grown(TENNIS, **ID3)
    with pytest.raises(ValueError, match="contains 99, but the nodes of the tree are 0 to 7"):
        snip(tree, [99])
    with pytest.raises(ValueError, match="contains -1"):
        snip(tree, [-1])
    with pytest.raises(ValueError, match="contains 2, which is already a leaf"):
        snip(tree, [2])
    with pytest.raises(TypeError, match=r"node_ids must contain integers, got 1\.5"):
        snip(tree, [1.5])


def test_leaf_penalty_prunes_what_rounding_alone_keeps_apart() -> None:
    """Three errors of weight 0.1 are worth a leaf at the price 0.3: a tie, and the smaller tree is taken."""
    X, y = [[0.0]] * 10 + [[1.0]] * 3, [0] * 10 + [1] * 3
    model = fasttree.TreeClassifier(class_weight={1: 0.1}).fit(X, y)
    assert model.prune(LeafPenalty(0.3)).get_n_leaves() == 1
    assert model.prune(LeafPenalty(0.2999)).get_n_leaves() == 2
