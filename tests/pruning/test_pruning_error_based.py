# SPDX-License-Identifier: BSD-3-Clause
"""Error-based pruning, with and without subtree raising."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference_pruning
import textbook_tables as tables
from printed_j48 import j48_difference, parse_j48
from printed_trees import read_sections, read_table
from pruning_cases import ID3, block, drawn, grown, leaves_of, random_tree
from reading import without_marks

import fasttree
from fasttree.pruning import ErrorBased, TrainingRows, added_errors, error_based
from fasttree.trees.tree import Tree

pytestmark = pytest.mark.numeric

TENNIS, MAMMALS_5, MAMMALS_8 = tables.PLAY_TENNIS, tables.MAMMALS_5, tables.MAMMALS_8
ESTIMATES = ("table", "normal", "binomial")

# Weight, errors; the errors to be added by C4.5, by J48, and by the binomial limit.
ADDED = [
    (1, 0, 0.75, 0.75, 0.75),
    (2, 0, 1.0, 1.0, 1.0),
    (3, 0, 1.1101184251576903, 1.1101184251576903, 1.1101184251576903),
    (6, 0, 1.2377968440954012, 1.2377968440954012, 1.2377968440954012),
    (9, 0, 1.284804154322345, 1.284804154322345, 1.284804154322345),
    (14, 0, 1.319868700305306, 1.319868700305306, 1.319868700305306),
    (168, 0, 1.3805903824382701, 1.3805903824382701, 1.3805903824382701),
    (2, 1, 0.7962411317730083, 0.7914930432372691, 0.7320508075688774),
    (3, 2, 0.7995243319926031, 0.7948616588836956, 0.7256808892482094),
    (4, 1, 1.1893881943539255, 1.1719911166685133, 1.174713141676321),
    (5, 2, 1.2395832924182044, 1.2219722686202372, 1.2028191760517641),
    (6, 1, 1.3264854351998983, 1.3035065579682557, 1.3368769112043468),
    (9, 1, 1.421280213328377, 1.39411202521987, 1.4504250566376027),
    (14, 5, 1.7949931481166557, 1.7611198072729666, 1.769184042420136),
    (16, 1, 1.50689395838556, 1.4757145618372638, 1.5537714195489807),
    (100, 10, 2.814705318468766, 2.7496114511898675, 2.821059128988784),
    (1000, 50, 5.514415658810165, 5.378365843358949, 5.46053766584604),
    (6.5, 0.4, 1.288299131375493, 1.2787349712152012, None),
    (10, 9.8, 0.134, 0.2, None),
    (3, 2.7, 0.201, 0.3, None),
]


@pytest.mark.parametrize(("n", "e", *(f"by_{name}" for name in ESTIMATES)), ADDED)
def test_added_errors(n, e, by_table, by_normal, by_binomial) -> None:
    for estimate, expected in zip(ESTIMATES, (by_table, by_normal, by_binomial), strict=True):
        if expected is not None:
            found = added_errors(n, e, ErrorBased(estimate=estimate))
            assert float(found) == pytest.approx(expected, abs=5e-7 if n == 16 else 1e-9)


def test_quantiles() -> None:
    assert ErrorBased().z == pytest.approx(0.6925)
    assert ErrorBased(estimate="normal").z == pytest.approx(0.6744897501960817)
    assert ErrorBased(confidence=0.001).z == pytest.approx(3.09)
    assert ErrorBased(confidence=0.5, estimate="normal").z == 0


def test_binomial_limit_is_where_the_tail_is_the_confidence() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    n = np.append(rng.integers(1, 3000, 300), [1, 2, 2, 100_000, 1_000_000])
    e = np.append((n[:300] * rng.random(300) ** 2).astype(int), [0, 0, 1, 3, 400_000])
    for confidence in (0.001, 0.05, 0.25, 0.5):
        found = (e + added_errors(n, e, ErrorBased(confidence, "binomial"))) / n
        expected = stats.beta.ppf(1 - confidence, e + 1, n - e)
        assert found == pytest.approx(np.where(e < n, expected, 1.0), rel=1e-9)


def test_added_errors_of_arrays() -> None:
    found = added_errors(np.array([[6.0, 9.0], [0.0, 16.0]]), [0, 1])
    assert found.shape == (2, 2)
    assert found[1, 0] == 0  # no rows, no errors


# -- without raising -----------------------------------------------------------------------------------------------

PLAIN = ErrorBased(raising=False)


def test_nothing_of_play_tennis_is_pruned() -> None:
    tree = grown(TENNIS, **ID3)
    expected = tree.counts.sum(axis=1) - tree.counts.max(axis=1)
    expected = expected + added_errors(tree.counts.sum(axis=1), expected)
    below = reference_pruning.nodes_of(tree)
    as_tree = [sum(expected[leaf.number] for leaf in node.leaves()) for node in below]
    assert [as_tree[0], expected[0]] == pytest.approx([5.3918, 6.7950], abs=5e-5)
    for node in (1, 3):  # Sunny and Rain
        assert [as_tree[node], expected[node]] == pytest.approx([2.1101, 3.2396], abs=5e-5)
    for how in (PLAIN, ErrorBased()):
        pruned, trace = error_based(tree, how, rows_of(TENNIS))
        assert pruned == tree
        assert len(trace) == 0


def test_mammals() -> None:
    pruned, trace = error_based(grown(MAMMALS_5, **ID3), PLAIN)
    assert pruned.n_leaves == 1
    assert trace.before[-1] == pytest.approx(2.6101, abs=5e-5)
    assert trace.after[-1] == pytest.approx(2.2710, abs=5e-5)
    pruned, trace = error_based(grown(MAMMALS_8, **ID3), ErrorBased(), rows_of(MAMMALS_8))
    assert without_marks(pruned.to_text()).splitlines() == [
        "Body Temperature = warm-blooded: yes (6/2)",
        "Body Temperature = cold-blooded: no (2)",
    ]
    assert trace.attribute[-1] == "Four-Legged"
    assert [trace.before[-1], trace.after[-1]] == pytest.approx([3.8069, 3.3426], abs=5e-5)


def test_votes_of_the_book() -> None:
    # Leaves with 6, 9 and 1 rows and no error, against one leaf with one error on 16.
    rows = ["yes a"] * 6 + ["yes b"] * 9 + ["no c"]
    table = tables.read("y v", {"y": "yes no", "v": "a b c"}, "\n".join(rows))
    table = tables.Table({"v": table.target}, table.columns["y"])
    tree = drawn({"v": {"a": None, "b": None, "c": None}}, table)
    pruned, trace = error_based(tree, PLAIN)
    assert pruned.n_leaves == 1
    assert [trace.before[0], trace.after[0]] == pytest.approx([3.2726, 2.5069], abs=5e-5)
    _, trace = error_based(tree, ErrorBased(raising=False, estimate="binomial"))
    assert trace.after[0] == pytest.approx(2.5538, abs=5e-5)


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_plain_against_the_definition(seed: int, estimate: str) -> None:
    how = ErrorBased(confidence=[0.05, 0.25, 0.5][seed % 3], estimate=estimate, raising=False)
    tree, _ = random_tree(seed, categorical_split="multiway")
    pruned, trace = error_based(tree, how)
    nodes = reference_pruning.nodes_of(tree)

    def expected(node: reference_pruning.Node) -> float:
        errors = node.weight - max(node.counts)
        return errors + float(added_errors(node.weight, errors, how))

    for node in reversed(nodes):
        if not node.is_leaf and expected(node) <= sum(map(expected, node.leaves())) + 0.1:
            node.make_leaf()
    assert reference_pruning.same_tree(pruned, nodes[0]) is None
    assert tree.n_leaves - trace.leaves_removed.sum() == pruned.n_leaves


# -- with raising --------------------------------------------------------------------------------------------------


def rows_of(table: tables.Table) -> TrainingRows:
    return TrainingRows(block(table), np.array(table.class_codes))


def noisy_problem(
    seed: int, **parameters: Any
) -> tuple[fasttree.TreeClassifier, Any, np.ndarray, TrainingRows, ErrorBased]:
    """A tree that has much to prune, with or without missing values, categories and weights; its table and classes."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(8, 90))
    holes = rng.choice([0.0, 0.0, 0.1, 0.3])
    X: dict[str, Any] = {}
    columns = []
    for j in range(int(rng.integers(1, 5))):
        gone = rng.random(n_rows) < holes
        if rng.random() < 0.5:
            values = rng.integers(0, rng.integers(2, 12), n_rows).astype(float)
            columns.append(np.where(gone, np.nan, values))
            X[f"x{j}"] = columns[-1]
        else:
            levels = list("abcdef")[: int(rng.integers(2, 6))]
            codes = rng.integers(0, len(levels), n_rows)
            labels = [None if g else levels[c] for g, c in zip(gone, codes, strict=True)]
            columns.append(np.where(gone, np.nan, codes + 1.0))
            X[f"x{j}"] = fasttree.Categorical(labels, levels)
    table = np.column_stack(columns)
    y = (rng.random(n_rows) < 0.5).astype(int) + (rng.random(n_rows) < 0.2)
    weights = rng.integers(0, 4, n_rows).astype(float) if rng.random() < 0.3 else None
    model = fasttree.TreeClassifier(
        criterion="entropy",
        categorical_split=str(rng.choice(["multiway", "subset"])),
        missing=str(rng.choice(["fractional", "branch", "category"])),
    ).set_params(**parameters)
    tree = model.fit(X, y, weights).tree_
    how = ErrorBased(float(rng.choice([0.05, 0.25, 0.5])), str(rng.choice(ESTIMATES)))
    codes = np.searchsorted(tree.schema.classes, y)
    codes[codes == len(tree.schema.classes)] = 0  # of a class all of whose rows weigh nothing
    return model, X, y, TrainingRows(table, codes, weights), how


def raised_by_reference(
    tree: Tree, rows: TrainingRows, how: ErrorBased
) -> tuple[reference_pruning.Node, list[tuple[int, str]]]:
    root = reference_pruning.nodes_of(tree)[0]
    class_weight = tree.schema.priors.class_weight
    raiser = reference_pruning.Raiser(
        rows.table,
        rows.codes.tolist(),
        tree.counts.shape[1],
        lambda n, e: e + float(added_errors(n, e, how)),
        dict(enumerate(tree.weight.tolist())),
        np.ones(tree.counts.shape[1]) if class_weight is None else class_weight,
    )
    weights = np.ones(len(rows.codes)) if rows.weights is None else rows.weights
    raiser.prune(root, [(row, w) for row, w in enumerate(weights.tolist()) if w > 0])
    return root, raiser.steps


@pytest.mark.parametrize("seed", range(150))
def test_raising_against_the_reference(seed: int) -> None:
    model, _, _, rows, how = noisy_problem(seed)
    check_raising(model.tree_, rows, how)


def check_raising(tree: Tree, rows: TrainingRows, how: ErrorBased) -> None:
    pruned, trace = error_based(tree, how, rows)
    root, steps = raised_by_reference(tree, rows, how)
    assert sorted(zip(trace.node.tolist(), trace.action, strict=True)) == sorted(steps)
    difference = reference_pruning.same_tree(pruned, root, tolerance=1e-6)
    assert difference is None
    assert tree.n_leaves - trace.leaves_removed.sum() == pruned.n_leaves
    check_arrays(pruned, rows)


@pytest.mark.parametrize("seed", range(100))
def test_raising_shares_rows_out_as_growth_does(seed: int, tmp_path: Path) -> None:
    """By the weight of the classes: what is at a node goes on to its children, and the model can be read again."""
    model, X, y, rows, how = noisy_problem(seed, class_weight={0: 4, 1: 0.5}, missing="fractional")
    check_raising(model.tree_, rows, how)
    pruned = model.prune(how, X, y, rows.weights)
    tree = pruned.tree_
    for node in np.flatnonzero(~tree.is_leaf()):
        family = slice(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
        assert tree.counts[family].sum(axis=0) == pytest.approx(tree.counts[node], abs=1e-8)
    pruned.save(tmp_path / "pruned.fasttree")
    assert fasttree.load(tmp_path / "pruned.fasttree").tree_ == tree


@pytest.mark.parametrize("seed", [293, 709])  # where two branches are the heaviest by either weight
def test_levels_that_raising_left_no_leaf_go_where_the_weight_of_classes_is(seed: int) -> None:
    """Every level of the attribute has come to a node since then; what nobody has seen follows most of the rows."""
    parameters = {"class_weight": {0: 4, 1: 0.5}, "categorical_split": "multiway"}
    model, X, y, rows, how = noisy_problem(seed, missing="fractional", **parameters)
    tree = model.prune(how, X, y, rows.weights).tree_
    n_checked = 0
    for node in np.flatnonzero(tree.default_branch >= 0):
        family = slice(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
        branch = tree.default_branch[node]
        if tree.counts[family][branch].any():
            assert branch == tree.weight[family].argmax()
            n_checked += branch != tree.counts[family].sum(axis=1).argmax()
    assert n_checked


def check_arrays(tree: Tree, rows: TrainingRows) -> None:
    """Breadth-first, children adjacent, and routing the rows gives the counts again."""
    inner = np.flatnonzero(~tree.is_leaf())
    children = [
        child
        for node in inner
        for child in range(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
    ]
    assert children == list(range(1, tree.node_count))
    assert (tree.parent[children] == np.repeat(inner, tree.n_children[inner])).all()
    assert (tree.depth[1:] == tree.depth[tree.parent[1:]] + 1).all()
    assert (tree.counts[np.arange(tree.node_count), tree.pred] > 0).sum() >= len(inner)
    if not tree.shares_rows or not np.isnan(rows.table).any():
        counts = np.zeros(tree.counts.shape)
        weights = 1.0 if rows.weights is None else rows.weights
        np.add.at(counts, (leaves_of(tree, rows.table), rows.codes), weights)
        leaf = tree.is_leaf()
        assert counts[leaf] == pytest.approx(tree.counts[leaf])


def test_values_without_rows_get_leaves_of_their_own() -> None:
    # Under x = a only the values p and q of v are left; raised to the root it meets r as well.
    schema = {"x": "a b", "v": "p q r s", "y": "+ -"}
    rows = ["a p +"] * 6 + ["a q -"] * 6 + ["b r +", "b r +", "b q -"]
    table = tables.read("x v y", schema, "\n".join(rows))
    model = fasttree.TreeClassifier(categorical_split="multiway", criterion="entropy")
    sub = model.fit(table.rows(range(12)).X, table.rows(range(12)).y).tree_
    assert without_marks(sub.to_text()).splitlines()[-1] == "v = s: + (0)"
    tree = model.fit(table.X, table.y).tree_
    if tree.schema.names[tree.attribute[0]] == "v":
        X = {"x": table.X["x"], "v": table.X["v"]}
        tree = grow_on_x_first(X, table)
    pruned, trace = error_based(tree, ErrorBased(), rows_of(table))
    assert trace.action == ("raised",)
    assert without_marks(pruned.to_text()).splitlines() == [
        "v = p: + (6)",
        "v = q: - (7)",
        "v = r: + (2)",
        "v = s: + (0)",
    ]
    assert pruned.n_leaves == 4
    assert pruned.multiplicity.tolist() == [1, 1, 1, 1, 1]
    check_arrays(pruned, rows_of(table))


def grow_on_x_first(X: Any, table: tables.Table) -> Tree:
    """x at the root by a price on v; below x = a, v has a child for its values without rows."""
    model = fasttree.TreeClassifier(
        categorical_split="multiway",
        criterion="entropy",
        attribute_costs={"x": 1e-3, "v": 1e3},
        cost_function="gain_per_cost",
    )
    tree = model.fit(X, table.y).tree_
    assert tree.schema.names[tree.attribute[0]] == "x"
    return tree


PRINTED = read_sections("weka_j48.txt")
NAMES = [name.removesuffix(" -S") for name in PRINTED if name.endswith(" -S")]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("raising", [True, False])
def test_same_trees_as_weka(name: str, raising: bool) -> None:
    from fasttree.tables.fitted import read_table_for_schema
    from fasttree.trees.predict import ReadPolicy, routing_block

    X, y = read_table(name)
    tree = fasttree.C45Classifier(compat="j48", pruning=None).fit(X, y).tree_
    table = read_table_for_schema(X, tree.schema, "the test")
    labels = np.array([y.categories[code] for code in y.codes])
    rows = TrainingRows(
        routing_block(table, 0, table.n_rows, ReadPolicy()),
        np.searchsorted(tree.schema.classes, labels),
    )
    pruned, _ = error_based(tree, ErrorBased(estimate="normal", raising=raising), rows)
    printed = parse_j48(PRINTED[name if raising else f"{name} -S"])
    assert j48_difference(pruned, printed) is None
    assert (pruned.n_leaves, pruned.size) == (printed.n_leaves, printed.size)


# -- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"confidence": 0}, "confidence must be above 0 and at most 0.5, got 0"),
        ({"confidence": 0.6}, "confidence must be above 0 and at most 0.5, got 0.6"),
        ({"confidence": float("nan")}, "confidence must be above 0"),
        ({"confidence": "low"}, "confidence must be above 0"),
        (
            {"estimate": "exact"},
            "estimate must be one of 'table', 'normal', 'binomial', got 'exact'",
        ),
        ({"raising": 1}, "raising must be True or False, got 1"),
    ],
)
def test_bad_parameters(parameters, message) -> None:
    with pytest.raises(ValueError, match=message):
        ErrorBased(**parameters)


def test_raising_needs_the_training_rows() -> None:
    tree, rows = grown(TENNIS, **ID3), rows_of(TENNIS)
    with pytest.raises(ValueError, match=r"pass them as rows=, or use ErrorBased\(raising=False\)"):
        error_based(tree)
    with pytest.raises(ValueError, match="have 3 columns, but the tree was grown from 4"):
        error_based(tree, rows=TrainingRows(rows.table[:, :3], rows.codes))
    with pytest.raises(ValueError, match="got 14 rows, 13 classes and 14 weights"):
        error_based(tree, rows=TrainingRows(rows.table, rows.codes[1:]))
    with pytest.raises(
        ValueError, match="class numbers from 0 to 2, but those of the tree are 0 to 1"
    ):
        error_based(tree, rows=TrainingRows(rows.table, np.arange(14) % 3))
    with pytest.raises(ValueError, match="got 0 rows"):
        error_based(tree, rows=TrainingRows(rows.table[:0], rows.codes[:0]))


def test_rows_that_take_other_ways_than_those_of_training_are_refused() -> None:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(300, 4))
    y = ((X[:, 0] > 0) ^ (draw.random(300) < 0.2)).astype(int)
    model = fasttree.TreeClassifier().fit(X, y)
    with pytest.raises(
        ValueError, match="the rows do not follow the same paths as the training rows of the tree"
    ):
        model.prune("error_based", X[::-1], y)
