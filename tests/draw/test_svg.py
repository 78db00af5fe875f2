# SPDX-License-Identifier: BSD-3-Clause
"""Drawings of trees: what they show, that nothing lies on anything else, and that they are XML whatever the names."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

import fasttree
from fasttree import Categorical
from fasttree.datasets import make_cesarean_cohort, play_tennis
from fasttree.draw.layout import BOX_HEIGHT, MARGIN, NOTE_LINES, NOTE_PITCH, PALETTE, PITCH, layout
from fasttree.draw.text_widths import SMALL, WIDEST_LABEL, text_width, wrapped

SVG = "{http://www.w3.org/2000/svg}"


def small_tree() -> Any:
    return fasttree.SMMLClassifier().fit(*make_cesarean_cohort(8_000)[:2])


def random_tree(seed: int) -> Any:
    """Numbers, categories with long names, holes, three classes."""
    rng = np.random.default_rng(seed)
    n = 400
    levels = [f"{word} of a rather long description, number {k}" for k, word in enumerate("abcdef")]
    X = {
        "a number": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        "name of an attribute that goes on and on": Categorical.from_codes(
            rng.integers(-1, 6, n), levels
        ),
        "z": rng.integers(0, 4, n).astype(float),
    }
    y = rng.integers(0, 3, n)
    return fasttree.C45Classifier(pruning=None, min_samples_leaf=15).fit(X, y)


def rectangles(tree: Any) -> list[tuple[float, float, float, float]]:
    """Boxes, and about them the labels of branches: left, top, right, bottom."""
    drawing = layout(tree)
    found = [(b.x, b.y, b.x + b.width, b.y + BOX_HEIGHT) for b in drawing.boxes]
    for branch in drawing.branches:
        middle = drawing.boxes[branch.child].middle
        left = branch.turn + 6
        for k, line in enumerate(branch.label):
            top = middle - 5 - SMALL if k == 0 else middle + 2
            found.append((left, top, left + text_width(line, SMALL), top + SMALL))
    assert min(min(left, top) for left, top, _, _ in found) >= 0
    assert max(right for _, _, right, _ in found) <= drawing.width
    assert max(bottom for _, _, _, bottom in found) <= drawing.height
    return found


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_nothing_lies_on_anything_else(seed: int | None) -> None:
    tree = small_tree() if seed is None else random_tree(seed)
    found = rectangles(tree.tree_)
    assert len(found) >= 2 * tree.tree_.node_count - 1
    for (a0, b0, a1, b1), (c0, d0, c1, d1) in itertools.combinations(found, 2):
        assert a1 <= c0 or c1 <= a0 or b1 <= d0 or d1 <= b0


def test_boxes_hold_what_the_tree_holds() -> None:
    model = small_tree()
    tree = model.tree_
    drawing = layout(tree)
    assert [box.node for box in drawing.boxes] == list(range(tree.node_count))
    assert len(drawing.branches) == tree.node_count - 1
    for box in drawing.boxes:
        node = box.node
        assert box.is_leaf == (tree.attribute[node] == -1)
        total = tree.counts[node].sum()
        if total:
            assert box.shares == pytest.approx(tree.counts[node] / total)
            assert f"{100 * tree.counts[node, 1] / total:.1f} % yes" in box.evidence
            assert box.title == (
                tree.schema.classes[tree.pred[node]]
                if box.is_leaf
                else tree.schema.names[tree.attribute[node]]
            )
    for branch in drawing.branches:
        assert tree.parent[drawing.boxes[branch.child].node] == drawing.boxes[branch.parent].node
    middles = sorted(box.middle for box in drawing.boxes if box.is_leaf)
    assert np.diff(middles) == pytest.approx(PITCH)


def test_branches_carry_their_values() -> None:
    model = fasttree.ID3Classifier().fit(*play_tennis())
    drawing = layout(model.tree_)
    labels = {
        (drawing.boxes[b.parent].title, b.full): drawing.boxes[b.child].title
        for b in drawing.branches
    }
    assert labels == {
        ("Outlook", "Sunny; missing: 35.7%"): "Humidity",
        ("Outlook", "Overcast; missing: 28.6%"): "Yes",
        ("Outlook", "Rain; missing: 35.7%"): "Wind",
        ("Humidity", "High; missing: 60.0%"): "No",
        ("Humidity", "Normal; missing: 40.0%"): "Yes",
        ("Wind", "Strong; missing: 40.0%"): "No",
        ("Wind", "Weak; missing: 60.0%"): "Yes",
    }


def test_the_picture_is_xml_with_a_bar_of_classes_in_each_box() -> None:
    model = fasttree.ID3Classifier().fit(*play_tennis())
    root = ET.fromstring(model.export("svg", title="Tennis", target="PlayTennis"))
    assert root.tag == f"{SVG}svg"
    assert root.attrib["role"] == "img"
    assert root.find(f"{SVG}title").text == "Tennis"
    assert "5 leaves" in root.find(f"{SVG}desc").text
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts.count("Outlook") == 1
    assert "14 rows, 64.3 % Yes" in texts
    assert "PlayTennis:" in texts
    bars = [g for g in root.iter(f"{SVG}g") if g.find(f"{SVG}rect") is not None]
    of_root = [r for r in bars[0].iter(f"{SVG}rect") if r.attrib["class"] in ("c0", "c1")]
    widths = [float(bar.attrib["width"]) for bar in of_root]
    assert widths[1] / sum(widths) == pytest.approx(9 / 14, abs=0.01)
    assert "http" not in ET.tostring(root, encoding="unicode").replace(SVG[1:-1], "")


def test_notes_stand_beneath_the_tree() -> None:
    """The marks of the branches, and what they mean; nothing is drawn outside, however long the lists."""
    towns = [f"the town of {k} and all that is around it" for k in range(12)]
    X = {"town": [*towns, *["Bonn"] * 4, *["Ulm"] * 4], "x": np.arange(20.0)}
    y = [*"ny" * 6, *"nnnn", *"yyyy"]
    for unknown in ("missing", "error"):
        model = fasttree.TreeClassifier(min_category_count=3, max_depth=2, unknown=unknown)
        model.fit(X, y)
        root = ET.fromstring(model.export("svg"))
        said = "".join(root.find(f"{SVG}desc").itertext())
        assert '"(or missing)": no values were missing there in training. town = other: ' in said
        texts = [text.text for text in root.iter(f"{SVG}text")]
        assert '"(or missing)": no values were missing there in training.' in texts
        assert any(text.endswith("(or missing)") for text in texts)
        drawing = layout(model.exportable())
        assert len(drawing.notes) == 2
        lowest = max(box.y + BOX_HEIGHT for box in drawing.boxes)
        for note in drawing.notes:
            assert note.y - SMALL >= lowest
            assert len(note.lines) <= NOTE_LINES
            assert max(text_width(line, SMALL) for line in note.lines) + MARGIN <= drawing.width
            lowest = note.y + (len(note.lines) - 1) * NOTE_PITCH
        assert lowest <= drawing.height
    assert layout(model.tree_, 0).notes == ()


def test_hostile_names_are_text() -> None:
    evil = '<script>alert("x")</script>&\'"]]>\x00\x1b[31m\ud800'
    X = {evil: Categorical([evil, "b\u202ec"] * 20)}
    y = np.array([f"{evil}1", f"{evil}2"] * 20, dtype=object)
    picture = fasttree.TreeClassifier().fit(X, y).export("svg", title=evil, target=evil)
    root = ET.fromstring(picture.encode())
    assert "<script" not in picture
    assert {element.tag for element in root.iter()} <= {
        SVG + tag for tag in ("svg", "title", "desc", "style", "rect", "text", "g", "path")
    }


def test_a_leaf_alone_and_more_classes_than_colours() -> None:
    one = fasttree.TreeClassifier(max_depth=0).fit([[1.0], [2.0]], ["a", "b"])
    assert len(layout(one.tree_).boxes) == 1
    ET.fromstring(one.export("svg"))
    rng = np.random.default_rng(0)
    many = fasttree.TreeClassifier(max_depth=2).fit(rng.normal(size=(300, 2)), np.arange(300) % 12)
    root = ET.fromstring(many.export("svg"))
    used = {rect.attrib["class"] for rect in root.iter(f"{SVG}rect")} - {"b", "b l", "p"}
    assert used == {f"c{k}" for k in range(len(PALETTE))}
    assert "5 other classes" in [text.text for text in root.iter(f"{SVG}text")]


def test_large_and_deep_trees_are_cut_or_refused() -> None:
    x = np.arange(6_000.0)
    chain = fasttree.TreeClassifier(max_leaves=None).fit(x[:, np.newaxis], np.arange(6_000) % 2)
    with pytest.raises(ValueError, match=r"at most 1,500 can be drawn legibly.*max_depth=4"):
        chain.export("svg")
    drawing = layout(chain.tree_, 3)
    assert max(int(chain.tree_.depth[box.node]) for box in drawing.boxes) == 3
    assert any(box.title.endswith("…") for box in drawing.boxes)
    assert "first 3 levels" in chain.export("svg", max_depth=3)
    assert len(layout(chain.tree_, 0).boxes) == 1
    for wrong in (-1, 1.5, True, "3"):
        with pytest.raises(ValueError, match="max_depth must be None or an integer of at least 0"):
            layout(chain.tree_, wrong)


def test_long_labels_take_two_lines_and_no_more() -> None:
    assert wrapped("short") == ("short",)
    lines = wrapped("one two three four five six seven eight nine ten eleven twelve " * 3)
    assert len(lines) == 2
    assert lines[1].endswith("…")
    assert wrapped("x" * 500)[0].endswith("…")


def test_a_long_label_still_says_where_missing_values_go() -> None:
    levels = ", ".join(f"occupation {k}" for k in range(12))
    for text in (f"{{{levels}}} or missing", f"= {'x' * 80} or missing", "<= 1.5 or missing"):
        lines = wrapped(text)
        assert " ".join(lines).endswith(" or missing")
        assert all(text_width(line, SMALL) <= WIDEST_LABEL for line in lines)
    assert lines == ("<= 1.5 or missing",)
