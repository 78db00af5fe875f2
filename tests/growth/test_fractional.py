# SPDX-License-Identifier: BSD-3-Clause
"""Rows that lack a value go down every branch with a share: Quinlan's example, and a naive tree of weighted rows."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import textbook_tables as tables

import fasttree
from fasttree import Categorical, ID3Classifier, TreeClassifier, rank_attributes
from fasttree.growth import split

pytestmark = pytest.mark.numeric

Row = tuple[int, float]  # its number and its weight


# -- a slow tree, obviously right: one weighted list of rows a node --------------------------------


def entropy_cost(counts: dict[Any, float]) -> float:
    """Weight times entropy."""
    total = sum(counts.values())
    return -sum(n * math.log2(n / total) for n in counts.values() if n > 0)


def class_counts(rows: list[Row], y: list[Any]) -> dict[Any, float]:
    counts = dict.fromkeys(sorted(set(y)), 0.0)
    for row, weight in rows:
        counts[y[row]] += weight
    return counts


def weight_of(rows: list[Row]) -> float:
    return sum(weight for _, weight in rows)


def splits_of(column: list[Any], known: list[Row]) -> list[tuple[Any, list[list[Row]]]]:
    """Every candidate of an attribute among the rows that know it: its name and the rows of its branches."""
    values = sorted({column[row] for row, _ in known})
    if isinstance(values[0] if values else "", str):
        if len(values) < 2:
            return []
        return [("multiway", [[r for r in known if column[r[0]] == v] for v in values])]
    found = []
    for low, high in itertools.pairwise(values):
        sides = [
            [r for r in known if column[r[0]] <= low],
            [r for r in known if column[r[0]] > low],
        ]
        found.append(((low + high) / 2, sides))
    return found


def grow(X: list[list[Any]], y: list[Any], rows: list[Row], limits: dict[str, float]) -> Any:
    """(class counts) of a leaf, or (class counts, attribute, candidate, children)."""
    counts = class_counts(rows, y)
    n = weight_of(rows)
    if max(counts.values()) >= n - 1e-9 or n < limits["split"] - 1e-9:
        return (counts,)
    best, chosen = -math.inf, None
    for attribute, column in enumerate(X):
        known = [r for r in rows if column[r[0]] is not None]
        cost = entropy_cost(class_counts(known, y))
        for name, branches in splits_of(column, known):
            if sum(weight_of(b) >= limits["leaf"] - 1e-9 for b in branches) < 2:
                continue
            gain = (cost - sum(entropy_cost(class_counts(b, y)) for b in branches)) / n
            if gain > best + 1e-10:
                best, chosen = gain, (attribute, name, branches)
    if chosen is None:
        return (counts,)
    attribute, name, branches = chosen
    lost = [r for r in rows if X[attribute][r[0]] is None]
    known_weight = sum(map(weight_of, branches))
    children = []
    for branch in branches:
        share = weight_of(branch) / known_weight
        mixed = branch + [(row, weight * share) for row, weight in lost]
        children.append(grow(X, y, mixed, limits))
    return (counts, attribute, name, children)


def predict(node: Any, x: list[Any], levels: list[list[Any]]) -> dict[Any, float]:
    """Class shares of a row that may lack values; its levels were all seen at the node."""
    if len(node) == 1:
        total = sum(node[0].values())
        return {c: n / total for c, n in node[0].items()}
    _, attribute, name, children = node
    value = x[attribute]
    if value is not None:
        branch = levels[attribute].index(value) if name == "multiway" else int(value > name)
        return predict(children[branch], x, levels)
    weights = [sum(child[0].values()) for child in children]
    parts = [predict(child, x, levels) for child in children]
    shares = [w / sum(weights) for w in weights]
    return {c: sum(s * p[c] for s, p in zip(shares, parts, strict=True)) for c in parts[0]}


def same(node: Any, tree: Any, i: int = 0) -> None:
    assert tree.counts[i].tolist() == pytest.approx(list(node[0].values()), abs=1e-6)
    if len(node) == 1:
        assert tree.attribute[i] == -1
        return
    _, attribute, name, children = node
    assert tree.attribute[i] == attribute
    if name != "multiway":
        assert tree.threshold[i] == pytest.approx(name, abs=1e-12)
    for b, child in enumerate(children):
        same(child, tree, int(tree.first_child[i]) + b)


def holed(seed: int, n: int, share: float, n_values: int) -> tuple[list[list[Any]], list[int]]:
    """Three numeric columns without equal scores, holes in all of them, three classes."""
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(3, n)) * n_values) / n_values
    y = (X[0] + X[1] * X[2] > 0).astype(int) + (random.random(n) < 0.2)
    gone = random.random((3, n)) < share
    columns = [
        [None if lost else float(v) for v, lost in zip(c, g, strict=True)]
        for c, g in zip(X, gone, strict=True)
    ]
    return columns, y.tolist()


def as_array(columns: list[list[Any]]) -> np.ndarray:
    return np.array(columns, dtype=float).T


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("n", "share"), [(30, 0.1), (60, 0.3), (120, 0.5)])
def test_numeric_columns_with_holes(seed: int, n: int, share: float) -> None:
    columns, y = holed(seed, n, share, 1000)
    limits = {"split": 4.0, "leaf": 2.0}
    naive = grow(columns, y, [(row, 1.0) for row in range(n)], limits)
    X = as_array(columns)
    for max_bins in (None, 255):
        model = TreeClassifier(
            criterion="entropy",
            missing="fractional",
            ties="schema",
            min_samples_split=4,
            min_samples_leaf=2,
            max_bins=max_bins,
        ).fit(X, y)
        same(naive, model.tree_)
    expected = [list(predict(naive, [c[r] for c in columns], [[]] * 3).values()) for r in range(n)]
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-9)
    # A row lies where its largest share lies.
    whole = ~np.isnan(X).any(axis=1)
    shares = model.tree_.proba[model.apply(X)[whole]]
    np.testing.assert_allclose(shares, np.array(expected)[whole], atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_long_columns_are_swept(seed: int) -> None:
    """More than 255 values a column, beside a column of few."""
    columns, y = holed(seed, 400, 0.2, 10_000)
    columns[2] = [None if v is None else round(v) * 1.0 for v in columns[2]]
    assert len(set(columns[0])) > 256 > len(set(columns[2]))
    naive = grow(columns, y, [(row, 1.0) for row in range(400)], {"split": 40.0, "leaf": 10.0})
    model = TreeClassifier(
        criterion="entropy", missing="fractional", min_samples_split=40, min_samples_leaf=10
    ).fit(as_array(columns), y)
    same(naive, model.tree_)


@pytest.mark.parametrize("seed", range(8))
def test_levels_with_holes(seed: int) -> None:
    random = np.random.default_rng(seed)
    levels = ["a", "b", "c"]
    columns: list[list[Any]] = [
        [None if random.random() < 0.2 else str(random.choice(levels)) for _ in range(80)]
        for _ in range(4)
    ]
    y = [int((columns[0][r] == "a") ^ (columns[1][r] == "b")) for r in range(80)]
    naive = grow(columns, y, [(row, 1.0) for row in range(80)], {"split": 8.0, "leaf": 1.0})
    frame = {f"c{i}": Categorical(c, levels) for i, c in enumerate(columns)}
    model = ID3Classifier(min_samples_split=8).fit(frame, y)
    same_where_levels_are_all_there(naive, model.tree_)


def same_where_levels_are_all_there(node: Any, tree: Any, i: int = 0) -> None:
    assert tree.counts[i].tolist() == pytest.approx(list(node[0].values()), abs=1e-6)
    if len(node) == 1:
        assert tree.attribute[i] == -1
        return
    _, attribute, _, children = node
    assert tree.attribute[i] == attribute
    # Levels without rows share one more child, without weight.
    assert tree.n_children[i] - len(children) in (0, 1)
    for b, child in enumerate(children):
        same_where_levels_are_all_there(child, tree, int(tree.first_child[i]) + b)


# -- Quinlan's example: day 12 without its outlook -------------------------------------------------


def day_12_without_outlook() -> tuple[dict[str, Any], Any]:
    X, y = fasttree.datasets.play_tennis()
    outlook = [*np.asarray(X["Outlook"])]
    outlook[11] = None
    return X | {"Outlook": Categorical(outlook, X["Outlook"].categories)}, y


def test_gain_of_an_attribute_with_a_hole() -> None:
    X, y = day_12_without_outlook()
    assert dict(rank_attributes(X, y))["Outlook"] == pytest.approx(0.199041, abs=5e-7)
    ratio = dict(rank_attributes(X, y, criterion="gain_ratio"))
    assert ratio["Outlook"] == pytest.approx(0.110016, abs=5e-7)
    assert ratio["Humidity"] == pytest.approx(0.151836, abs=5e-7)


def test_shares_of_day_12() -> None:
    X, y = day_12_without_outlook()
    tree = TreeClassifier(
        criterion="gain_ratio", categorical_split="multiway", missing="fractional", max_depth=2
    ).fit(X, y)
    lines = tree.to_text().splitlines()
    assert lines[:4] == [
        "Humidity = High",
        "|   Outlook = Sunny: No (3.5/0.5)",
        "|   Outlook = Overcast: Yes (1.17)",
        "|   Outlook = Rain: Yes (2.33/1)",
    ]
    # Of high humidity 3, 1 and 2 days have a known outlook: day 12 (Yes) is shared out as 3/6, 1/6 and 2/6.
    shared = tree.tree_.counts[3:6]
    assert shared[:, 0] == pytest.approx([3, 0, 1], abs=1e-9)
    assert shared[:, 1] == pytest.approx([1 / 2, 7 / 6, 4 / 3], abs=1e-9)
    levels = {name: column.categories for name, column in X.items()}

    def query(outlook: str | None) -> dict[str, Any]:
        values = (outlook, "Hot", "High", "Strong")
        return {n: Categorical([v], levels[n]) for n, v in zip(levels, values, strict=True)}

    yes = list(tree.classes_).index("Yes")
    # 0.5 of 3.5, all of 1.1667 and 1.3333 of 2.3333, each by its weight: 3 of 7.
    assert tree.predict_proba(query(None))[0, yes] == pytest.approx(3 / 7, abs=1e-9)
    assert tree.predict(query(None))[0] == "No"
    assert tree.predict_proba(query("Sunny"))[0, yes] == pytest.approx(1 / 7, abs=1e-9)


def exact_shares(tree: Any, row: np.ndarray, node: int = 0) -> dict[int, Fraction]:
    """The leaves that a row without some values reaches, and its shares of them, without rounding."""
    attribute = tree.attribute[node]
    if attribute < 0:
        return {node: Fraction(1)}
    low, high = tree.first_child[node], tree.first_child[node] + 1
    if not np.isnan(row[attribute]):
        return exact_shares(tree, row, low if row[attribute] <= tree.threshold[node] else high)
    weights = [Fraction(int(tree.counts[child].sum())) for child in (low, high)]
    return {
        leaf: share * weight / sum(weights)
        for child, weight in zip((low, high), weights, strict=True)
        for leaf, share in exact_shares(tree, row, child).items()
    }


def test_of_equal_shares_the_first_leaf_counts() -> None:
    """Equal by fractions, though products such as 11/15 x 4/11 and 4/15 may be rounded apart."""
    n_apart = 0
    for seed in range(150):
        random = np.random.default_rng(seed)
        X = random.integers(0, 3, (random.integers(6, 30), 3)).astype(float)
        y = random.integers(0, 3, len(X))
        model = TreeClassifier(criterion="entropy", missing="fractional").fit(X, y)
        asked = np.where(random.random((20, 3)) < 0.7, np.nan, random.integers(0, 3, (20, 3)))
        for row, leaf in zip(asked, model.apply(asked).tolist(), strict=True):
            shares = exact_shares(model.tree_, row)
            largest = [end for end, share in shares.items() if share == max(shares.values())]
            assert leaf == min(largest)
            n_apart += len(largest) > 1
    assert n_apart > 200  # there was something to decide


def test_a_share_of_a_row_stops_at_an_unknown_level() -> None:
    """Half of a row without a goes to p, where b decides: 3 rows are u, one is v. The other half is q's."""
    X = {"a": list("ppppqqqq"), "b": list("uuuvuuuv")}
    y = [0, 0, 0, 1, 1, 1, 1, 1]
    asked = {"a": [None, None, "p", "never seen"], "b": ["never seen", None, "never seen", "u"]}
    model = ID3Classifier(unknown="majority").fit(X, y)
    assert model.tree_.attribute.tolist() == [0, 1, -1, -1, -1]
    shares = [[3 / 8, 5 / 8], [3 / 8, 5 / 8], [3 / 4, 1 / 4], [3 / 8, 5 / 8]]
    # Whole at p, three quarters and one of that half at the leaves below, or q's half, which is larger.
    assert model.apply(asked).tolist() == [1, 2, 1, 0]
    assert model.predict_proba(asked) == pytest.approx(np.array(shares))
    assert model.predict(asked).tolist() == [1, 1, 0, 1]
    module: dict[str, Any] = {}
    exec(model.export("python"), module)
    for row, expected in zip(zip(*asked.values(), strict=True), shares, strict=True):
        assert module["predict_proba"](list(row)) == pytest.approx(expected)
    model.set_params(unknown="missing")
    assert model.apply(asked).tolist() == [2, 2, 3, 2]


# -- what must not matter --------------------------------------------------------------------------


def test_order_of_rows_threads_and_copies() -> None:
    columns, y = holed(3, 300, 0.3, 1000)
    X, labels = as_array(columns), np.array(y)
    limits: dict[str, Any] = {"missing": "fractional", "min_samples_split": 6}

    def fingerprint(X: np.ndarray, y: np.ndarray, **more: Any) -> str:
        weight = more.pop("sample_weight", None)
        model = TreeClassifier(**limits, **more).fit(X, y, sample_weight=weight)
        return model.tree_.fingerprint()

    expected = fingerprint(X, labels)
    assert fingerprint(X, labels, n_jobs=2) == expected
    assert fingerprint(np.asfortranarray(X), labels) == expected
    order = np.random.default_rng(1).permutation(300)
    assert fingerprint(X[order], labels[order]) == expected
    # Shares of two rows are rounded twice, those of a row of weight 2 once.
    copies = TreeClassifier(**limits).fit(np.repeat(X, 2, axis=0), np.repeat(labels, 2)).tree_
    weighted = TreeClassifier(**limits).fit(X, labels, sample_weight=np.full(300, 2.0)).tree_
    assert np.array_equal(copies.threshold, weighted.threshold, equal_nan=True)
    np.testing.assert_allclose(copies.counts, weighted.counts, atol=1e-6)
    columns_of = fasttree.Columns(X, labels)
    for _ in range(2):
        assert TreeClassifier(**limits).fit(columns_of).tree_.fingerprint() == expected


def test_without_holes_it_is_the_ordinary_tree() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 4)), random.integers(0, 2, 200)
    plain, other = TreeClassifier().fit(X, y), TreeClassifier(missing="fractional").fit(X, y)
    assert plain.tree_.counts.tolist() == other.tree_.counts.tolist()
    assert np.array_equal(plain.tree_.threshold, other.tree_.threshold, equal_nan=True)
    assert (plain.predict(X) == other.predict(X)).all()


def test_everything_missing() -> None:
    X = np.array([[np.nan, 1.0], [np.nan, 2.0], [np.nan, 3.0]])
    model = TreeClassifier(missing="fractional").fit(X, [0, 1, 1])
    assert model.tree_.attribute[0] == 1
    assert model.predict_proba([[np.nan, np.nan]])[0] == pytest.approx([1 / 3, 2 / 3])
    nothing = TreeClassifier(missing="fractional").fit(X[:, :1], [0, 1, 1])
    assert nothing.get_n_leaves() == 1


def test_the_textbook_table_is_complete() -> None:
    table = tables.PLAY_TENNIS
    assert ID3Classifier().fit(table.X, table.y).get_n_leaves() == 5


def test_shares_beyond_all_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 20 rows would stand in each of 200 branches."""
    levels = [f"level {i % 200}" for i in range(1000)]
    for i in range(0, 1000, 50):
        levels[i] = None  # type: ignore[call-overload]
    X = {"id": levels, "x": np.arange(1000.0)}
    y = np.array([i % 200 % 3 for i in range(1000)])
    model = ID3Classifier(missing="fractional", max_depth=1)
    assert model.fit(X, y).tree_.n_children[0] == 196
    monkeypatch.setattr(split, "MOST_COPY_BYTES", 20 * 195 * 71)
    monkeypatch.setattr(split, "MOST_COPIES_OF_TABLE", 1)
    model.fit(X, y)
    monkeypatch.setattr(split, "MOST_COPY_BYTES", 20 * 195 * 66)
    with pytest.raises(
        MemoryError, match=r"column 'id' alone distributes 20 rows over 196 branches"
    ):
        model.fit(X, y)
    assert model.set_params(missing="branch").fit(X, y).get_n_leaves() > 100


LIGHT = {
    "b": ["heavy"] + ["light"] * 6,
    "a": ["p", "p", "q", "r", None, None, None],
    "d": np.array([0.0, 0, 0, 0, 1, 1, 1]),
}
LIGHT_CLASSES = ["far", "x", "y", "y", "x", "y", "y"]


@pytest.mark.parametrize("heavy", [1, 4, 2**20, 10**7, 2**33])
def test_thirds_of_rows_make_whole_ones_beside_any_weight(heavy: int) -> None:
    """Each level of `a` holds a row and three thirds: 2, as much as a split needs, 1 on each side. The heavier the rows
    are all together, the coarser is the rounding of a third."""
    model = ID3Classifier().fit(LIGHT, LIGHT_CLASSES, sample_weight=[heavy] + [1] * 6)
    text = model.to_text()
    light = text[text.index("b = light") :].splitlines()
    assert light == [
        "b = light",
        "|   a = p",
        "|   |   d <= 0.5: x (1)",
        "|   |   d > 0.5: y (1/0.33)",
        "|   a = q",
        "|   |   d <= 0.5: y (1)",
        "|   |   d > 0.5: y (1/0.33)",
        "|   a = r",
        "|   |   d <= 0.5: y (1)",
        "|   |   d > 0.5: y (1/0.33)",
    ]


@pytest.mark.parametrize(
    "class_weight", [{"x": 1.01, "far": math.e}, {"x": math.pi, "y": 499_321 / 500_679}]
)
def test_class_weights_leave_shares_their_digits(class_weight: dict[str, float]) -> None:
    weights = [2**20] + [1] * 6
    model = ID3Classifier(class_weight=class_weight)
    tree = model.fit(LIGHT, LIGHT_CLASSES, sample_weight=weights).tree_
    x, y = class_weight["x"], class_weight.get("y", 1.0)
    (node,) = np.flatnonzero((tree.depth == 1) & (tree.counts[:, 0] == 0))
    first = tree.first_child[node]
    share = np.array([x, y, y]) / (x + 2 * y)  # of the rows without a level
    expected = [[0, s, 2 * s] for s in share]
    expected[0][1] += 1
    expected[1][2] += 1
    expected[2][2] += 1
    assert tree.counts[first : first + 3] == pytest.approx(np.array(expected), abs=1e-4)


def test_shares_of_a_step_or_two() -> None:
    """Beside rows of 2**49 a step of weight is 1. Two thirds of a step go to each of three heavy branches: 1, 1, and
    then there is nothing left, also for the light branch, from which nothing may be taken. Shares that have a step are
    counted as what they are."""
    X = {"a": ["p", "q", "s", "t", "t", None], "d": np.array([0.0, 0, 0, 0, 1, 2])}
    weights = [2**49, 2**49, 2**49, 1, 1, 2]
    model = ID3Classifier().fit(X, list("bcebcb"), sample_weight=weights)
    tree, heavy = model.tree_, 2**49
    known = [[heavy, 0, 0], [0, heavy, 0], [0, 0, heavy], [1, 1, 0]]
    assert tree.attribute[0] == 0
    added = (tree.counts[1:5] - known)[:, 0]
    assert added.tolist() == pytest.approx([2 / 3, 2 / 3, 0, 0], abs=2**-4)  # the last bit of heavy
    assert tree.threshold[4] == 0.5
    light = int(tree.first_child[4])
    assert tree.counts[light : light + 2].tolist() == [[1, 0, 0], [0, 1, 0]]
