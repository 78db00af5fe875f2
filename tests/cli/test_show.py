# SPDX-License-Identifier: BSD-3-Clause
"""The tree in the terminal: never wider than that, and true in what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from commands import ok
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import fasttree
from fasttree.draw.branches import OR_MISSING, OR_MISSING_LATER, OR_UNSEEN_LATER
from fasttree.draw.terminal import LEAST_WIDTH, draw
from fasttree.draw.terminal_bars import Look, legend
from fasttree.draw.terminal_branches import Branch, branches_of
from fasttree.trees.tree import LEAF

TENNIS_80 = """\
ID3Classifier: 5 leaves, depth 2, 14 training rows
██ Yes   ░░ No

                         class  rows     p
all rows                 Yes      14   64%  ████████░░░░
├─ Outlook = Sunny       No        5   60%  █████░░░░░░░
│  ├─ Humidity = High    No        3  100%  ░░░░░░░░░░░░
│  └─ Humidity = Normal  Yes       2  100%  ████████████
├─ Outlook = Overcast    Yes       4  100%  ████████████
└─ Outlook = Rain        Yes       5   60%  ███████░░░░░
   ├─ Wind = Weak        Yes       3  100%  ████████████
   └─ Wind = Strong      No        2  100%  ░░░░░░░░░░░░
"""
TENNIS_PLAIN_DEPTH_1 = """\
ID3Classifier: 5 leaves, depth 2, 14 training rows
## Yes   == No

                                 class  rows
all rows                         Yes      14  ####==
|- Outlook = Sunny ... 2 leaves  No        5  ##====
|- Outlook = Overcast            Yes       4  ######
`- Outlook = Rain ... 2 leaves   Yes       5  ####==

1 of 2 levels; --depth 2 or --all shows more
"""


def tennis() -> Any:
    return fasttree.ID3Classifier().fit(*fasttree.datasets.play_tennis())


def wide_table(n: int = 1500) -> tuple[dict[str, Any], np.ndarray]:
    """Long names, many levels, signs of two cells, signs that would steer a terminal, holes."""
    rng = np.random.default_rng(3)
    number = rng.normal(size=n)
    number[rng.random(n) < 0.1] = np.nan
    city = np.array([f"city {i}" for i in range(60)] + ["東京都" * 9, "\x1b[31mred\x07"])
    X = {
        "a name that is far too long for any terminal that is narrow": number,
        "city": city[rng.integers(0, len(city), n)],
        "高さ": rng.integers(0, 50, n).astype(float),
    }
    signal = np.nan_to_num(number) + X["高さ"] / 50 + (X["city"] < "city 3") * 0.5
    y = np.digitize(signal + rng.normal(scale=0.7, size=n), [-0.5, 0.5, 1.5])
    return X, np.array(["low", "medium", "high", "a class with a very long name"])[y]


MODELS = {
    "500 leaves": fasttree.TreeClassifier(max_leaves=500),
    "multiway": fasttree.ID3Classifier(max_depth=4),
    "grouped": fasttree.C45Classifier(categorical_split="grouped"),
    "missing as a category": fasttree.TreeClassifier(missing="category", max_depth=6),
    "surrogates": fasttree.CARTClassifier(),
    "average": fasttree.MMLClassifier(),
}


@pytest.fixture(scope="module")
def trees() -> dict[str, Any]:
    X, y = wide_table()
    trees = {name: model.fit(X, y).tree_ for name, model in MODELS.items()}
    trees["tennis"] = tennis().tree_
    trees["leaf"] = fasttree.TreeClassifier(max_depth=0).fit([[0.0], [1.0]], [0, 1]).tree_
    return trees


def drawn(tree: Any, **look: Any) -> list[str]:
    return [line.plain for line in draw(tree, Look(**look))]


def picture(tree: Any, **look: Any) -> list[str]:
    """Without what stands beneath."""
    lines = drawn(tree, **look)
    return lines[: lines.index("")] if "" in lines else lines


# -- by eye ----------------------------------------------------------------------------------------


def test_pictures_looked_at_by_people(tmp_path: Path) -> None:
    tennis().save(tmp_path / "m")
    assert ok("show", tmp_path / "m").out == TENNIS_80
    plain = ok("show", tmp_path / "m", "--plain", "--depth", 1, width=60).out
    assert plain == TENNIS_PLAIN_DEPTH_1


# -- by what must always hold ----------------------------------------------------------------------


@pytest.mark.parametrize("name", [*MODELS, "tennis", "leaf"])
@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("unicode", [False, True])
def test_no_line_is_wider_than_the_terminal(
    trees: dict[str, Any], name: str, width: int, everything: bool, unicode: bool
) -> None:
    look = Look(width=width, unicode=unicode, everything=everything)
    lines = [line.plain for line in draw(trees[name], look)]
    assert max(map(cell_len, lines)) <= width
    assert all(line.isprintable() for line in lines)
    if not unicode and name == "tennis":
        assert all(line.isascii() for line in lines)
    bars = {cell_len(re.split(r"[█░▓▒#=+-]{3}", line)[0]) for line in lines[1:] if "%" in line}
    assert len(bars) <= 1 or name != "tennis"


@pytest.mark.parametrize("name", list(MODELS))
def test_everything_has_a_line_for_each_node(trees: dict[str, Any], name: str) -> None:
    tree = trees[name]
    lines = picture(tree, width=120, everything=True)
    assert len(lines) == 1 + tree.node_count
    rows = [line.split("%")[0].split()[-2] for line in lines[1:]]
    weights = sorted(float(text.replace(",", "")) for text in rows)
    np.testing.assert_allclose(weights, np.sort(tree.counts.sum(axis=1)), atol=0.051)


@pytest.mark.parametrize("name", list(MODELS))
def test_large_trees_are_cut_to_a_screen(trees: dict[str, Any], name: str) -> None:
    tree = trees[name]
    lines = drawn(tree, width=80)
    assert len(lines) <= 63
    is_cut = tree.node_count > 60 or tree.n_children.max() > 12
    assert (len(lines) < 1 + tree.node_count) == is_cut


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_depth(trees: dict[str, Any], depth: int) -> None:
    tree = trees["500 leaves"]
    lines = drawn(tree, width=180, depth=depth)
    n_nodes = np.count_nonzero(tree.depth <= depth)
    notes = ["", '"(or missing)": no values were missing there in training.'] if depth > 1 else []
    assert lines[1 + n_nodes : -2] == notes
    assert lines[-1].startswith(f"{depth} of {tree.max_depth} levels; --depth {depth + 2}")
    hidden = [int(n) for line in lines for n in re.findall(r"… (\d+) lea", line)]
    shown = np.count_nonzero(tree.is_leaf() & (tree.depth <= depth))
    assert sum(hidden) + shown == tree.n_leaves


def test_a_chain_of_ten_thousand_levels() -> None:
    n = 10_001
    tree = fasttree.TreeClassifier().fit(np.arange(float(n))[:, None], np.arange(n) % 2).tree_
    assert tree.max_depth == n - 1
    lines = picture(tree, width=80, everything=True)
    assert len(lines) == 1 + tree.node_count
    assert max(map(cell_len, lines)) <= 80


def test_missing_values_are_seen() -> None:
    x = np.array([1.0, 2, 3, np.nan, np.nan, 10, 11, 12] * 5)
    tree = fasttree.TreeClassifier().fit(x[:, None], [0, 0, 0, 1, 1, 1, 1, 1] * 5).tree_
    assert any("> 6.5 or missing" in line for line in drawn(tree, width=80))
    alone = fasttree.TreeClassifier().fit(x[:, None], [0, 0, 0, 1, 1, 0, 0, 0] * 5).tree_
    text = "\n".join(drawn(alone, width=80))
    assert "is known" in text
    assert "is missing" in text


def test_marks_and_what_they_mean(tmp_path: Path) -> None:
    """Missing values go to the heavier side though training had none; "other" is a name of several levels."""
    X = {"age": np.arange(9.0), "town": [*"aaa", *"bbb", *"cde"]}
    model = fasttree.TreeClassifier(min_category_count=2, max_depth=2)
    model.fit(X, list("nnnyyynyn")).save(tmp_path / "m")
    lines = ok("show", tmp_path / "m", width=60).out.splitlines()
    assert [line.split("  n  ")[0].split("  y  ")[0].rstrip() for line in lines[5:9]] == [
        "├─ town = a, other (or missing)",
        "│  ├─ age <= 6.5 (or missing)",
        "│  └─ age > 6.5",
        "└─ town = b",
    ]
    assert lines[9:] == [
        "",
        '"(or missing)": no values were missing there in training.',
        "town = other: any category except {a, b} (3 in training,",
        "each with too few rows).",
    ]
    assert ok("show", tmp_path / "m", "--depth", 0, width=60).out.count("missing") == 0
    fasttree.RuleClassifier(base=model).fit(X, list("nnnyyynyn")).save(tmp_path / "r")
    assert "(or missing)" in ok("show", tmp_path / "r").out


def test_of_many_branches_the_heaviest_are_drawn() -> None:
    rng = np.random.default_rng(0)
    levels = np.array([f"v{i:03}" for i in range(100)])
    x = np.concatenate([levels, levels[10:21]])
    y = rng.integers(0, 2, len(x))
    tree = fasttree.ID3Classifier(categorical_features=["x"]).fit({"x": x}, y).tree_
    lines = drawn(tree, width=80)
    assert [line.split()[3] for line in lines[2:13]] == [f"v{i:03}" for i in range(10, 21)]
    assert lines[13].endswith("and 89 more branches")
    assert len(drawn(tree, width=80, everything=True)) == 1 + tree.node_count


def test_the_branches_are_those_of_the_exported_text() -> None:
    """to_text says the same in full, where it names the levels one by one."""
    (number, city, height), y = map(list, wide_table()[0].values()), wide_table()[1]
    X = {"number": number, "city": [re.sub(r"\W", "_", name) for name in city], "height": height}
    late = 0
    for name in ("500 leaves", "missing as a category", "surrogates"):
        tree = MODELS[name].fit(X, y).tree_
        text = set(re.findall(r"^[| ]*(.*?)(?:: .*)?$", tree.to_text(), re.M))
        for node in np.flatnonzero(tree.attribute != LEAF).tolist():
            for branch in branches_of(tree, node):
                if branch.sign == "=":
                    names = ", ".join(branch.values)
                    expected = {f"{branch.attribute} = {{{names}}}{branch.mark}"}
                    expected.add(f"{branch.attribute} = {names}{branch.mark}")
                    assert expected & text
                    late += branch.mark in (OR_MISSING_LATER, OR_UNSEEN_LATER)
                elif branch.sign in ("is known", "is missing"):
                    assert f"{branch.attribute} {branch.sign}" in text
    assert late > 10


def test_children_without_rows() -> None:
    x = fasttree.Categorical(["a", "b", "a", "b"], ["a", "b", "c", "d"])
    tree = fasttree.ID3Classifier().fit({"x": x}, [0, 1, 0, 1]).tree_
    assert [branch.text(40) for branch in branches_of(tree, 0)] == ["x = a", "x = b", "x = c, d"]
    row = drawn(tree, width=80)[-1].rstrip()
    assert row.split()[-2:] == ["0", "50%"]  # no bar: there is nothing to draw


@given(
    st.text(min_size=1, max_size=30),
    st.lists(st.text(min_size=1, max_size=12), max_size=40),
    st.booleans(),
    st.integers(1, 100),
)
def test_a_test_fits_any_room(name: str, levels: list[str], missing: bool, width: int) -> None:
    branch = Branch(1, name, "=", tuple(levels), others=3, mark=OR_MISSING if missing else "")
    assert cell_len(branch.text(width)) <= width


@pytest.mark.parametrize(
    ("width", "text"),
    [
        (80, "ward = north, south, east, west, centre"),
        (38, "ward = north, south, east and 2 more"),
        (26, "ward = north and 4 more"),
        (16, "ward = north +4"),
        (12, "wa… = nort…"),
    ],
)
def test_long_lists_of_levels_say_how_many_more(width: int, text: str) -> None:
    branch = Branch(1, "ward", "=", ("north", "south", "east", "west", "centre"))
    if width > 12:
        assert branch.text(width) == text
    assert cell_len(branch.text(width)) <= width


# -- signs and colours -----------------------------------------------------------------------------


def test_bars_are_the_shares_of_the_classes(trees: dict[str, Any]) -> None:
    tree = trees["500 leaves"]
    order = np.argsort(-tree.counts[0], kind="stable")
    lines = picture(tree, width=120, depth=2, colour=False)[1:]
    by_rows = {f"{int(w):,}": node for node, w in enumerate(tree.counts.sum(axis=1).tolist())}
    for line in lines:
        bar = re.search(r"[█░▓▒]+$", line)
        assert bar is not None
        assert len(bar[0]) == 24
        node = by_rows[line.split("%")[0].split()[-2]]
        share = tree.counts[node] / tree.counts[node].sum()
        found = np.array([bar[0].count(sign) for sign in "█░▓▒"]) / 24
        np.testing.assert_allclose(found, share[order], atol=1.5 / 24)


def test_colours_only_on_a_terminal(tmp_path: Path) -> None:
    tennis().save(tmp_path / "m")
    assert "\x1b" not in ok("show", tmp_path / "m").out
    look = Look(width=80)
    styles = {str(span.style) for line in draw(tennis().tree_, look) for span in line.spans}
    assert {"dodger_blue1", "dark_orange"} <= styles
    assert "dodger_blue1" not in str(
        [line.spans for line in draw(tennis().tree_, Look(80, colour=False))]
    )


def test_many_classes() -> None:
    y = np.repeat(np.arange(30), np.arange(30, 0, -1))
    tree = fasttree.TreeClassifier(max_depth=3).fit(np.arange(float(len(y)))[:, None], y).tree_
    text = legend(tree, Look(80)).plain
    assert "██ 0 " in text
    assert text.endswith("23 other classes")
    assert max(map(cell_len, drawn(tree, width=LEAST_WIDTH))) <= LEAST_WIDTH


def test_rules_and_averages_say_so(tmp_path: Path) -> None:
    X, y = fasttree.datasets.play_tennis()
    fasttree.RuleClassifier().fit(X, y).save(tmp_path / "r")
    assert "Predictions come from the rules" in ok("show", tmp_path / "r").out
    fasttree.MMLClassifier().fit(X, y).save(tmp_path / "m")
    assert "averages over the prunings" in ok("show", tmp_path / "m").out


def test_dates_and_truths_are_drawn() -> None:
    table = pa.table({"flag": [True, False, True, False], "n": [1, 2, 3, 4]})
    tree = fasttree.TreeClassifier().fit(table, ["a", "b", "a", "b"]).tree_
    assert any("flag = False" in line for line in drawn(tree, width=80))
