# SPDX-License-Identifier: BSD-3-Clause
"""Text, drawing and JSON are read by programs that know nothing else, and give the answers of the model."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exporting import MODELS, answers, hostile_rows, model
from tree_readers import DotTree, JsonTree, TextTree, as_written, evened

import fasttree
from fasttree.trees.tree import Tree


def known_levels(fitted: Any) -> dict[str, set[str]]:
    return {a.name: set(map(str, a.categories or ())) for a in fitted.tree_.schema.attributes}


@pytest.mark.parametrize("identity", MODELS)
def test_json_says_what_the_model_says(identity: str) -> None:
    fitted = model(identity)
    rows = hostile_rows(fitted)
    said, reader = answers(fitted, rows), JsonTree(fitted.export("json"))
    found = [reader.predict(list(row.values())) for row in rows.dicts()]
    assert [answer is None for answer in found] == said.refused.tolist()
    accepted = [found[place] for place in said.accepted]
    assert [answer[0] for answer in accepted] == said.classes
    proba = np.array([answer[1] for answer in accepted]).reshape(said.proba.shape)
    assert np.array_equal(proba, said.proba)  # to the bit
    assert [answer[2] for answer in accepted] == said.leaves


MISSING_APART = [
    # (columns, classes): missing values have a side to themselves, and not every level has rows there
    ({"x": [0] * 6 + [1] * 4, "c": ["p", "p", *[None] * 4, "q", "r", "q", "r"]}, "aabbbbcccc"),
    ({"c": [True, True, None, None, None]}, "aabbb"),
    ({"c": [None, False, False]}, "abb"),
    ({"x": [0] * 5 + [1] * 2, "c": ["p", "q", None, None, None, "r", "r"]}, "aabbbcc"),
]


@pytest.mark.parametrize("table", MISSING_APART)
@pytest.mark.parametrize("split", ["subset", "multiway", "grouped"])
@pytest.mark.parametrize("missing", ["branch", "category"])
def test_levels_without_rows_beside_missing_values_alone(
    table: tuple[dict[str, list[Any]], str], split: str, missing: str
) -> None:
    columns, y = table
    X = {name: np.array(values, dtype=object) for name, values in columns.items()}
    X = {name: v.astype(float) if name == "x" else v for name, v in X.items()}
    fitted = fasttree.TreeClassifier(categorical_split=split, missing=missing).fit(X, list(y))
    levels = list(dict.fromkeys(columns["c"]))
    rows = [{"x": float(x), "c": level} for x in (0, 1) for level in levels]
    asked = {
        name: np.array([row[name] for row in rows], dtype=float if name == "x" else object)
        for name in columns
    }
    written = as_written([{n: row[n] for n in columns} for row in rows], fitted.tree_.schema, "")
    reader = TextTree(fitted.export("text"), {})
    found = [reader.predict(row, known_levels(fitted)) for row in written]
    assert found == fitted.predict(asked).tolist()


@pytest.mark.parametrize("identity", MODELS)
def test_the_text_says_what_the_model_says(identity: str) -> None:
    fitted = model(identity)
    schema = fitted.tree_.schema
    ordered = {a.name: list(map(str, a.categories)) for a in schema.attributes if a.ordered}
    reader = TextTree(fitted.export("text"), ordered)
    rows, known = hostile_rows(fitted), known_levels(fitted)
    said = answers(fitted, rows)
    assert ("rejected" in reader.notes) == bool(
        fitted.missing == "error" or (fitted.unknown == "error" and any(known.values()))
    )
    asked = as_written(rows.take(said.accepted).dicts(), schema, fitted.unknown)
    if fitted.tree_.shares_rows:  # of rows that go down several branches the text tells no class
        assert "distributed fractionally over all branches of the test" in reader.notes
        whole = [place for place, row in enumerate(asked) if None not in row.values()]
    else:
        whole = list(range(len(asked)))
    found = [reader.predict(asked[place], known) for place in whole]
    assert found == [str(fitted.classes_[fitted.tree_.pred[said.leaves[p]]]) for p in whole]
    assert found == [str(said.classes[p]) for p in whole]


@pytest.mark.parametrize("identity", MODELS)
def test_the_drawing_says_what_the_model_says(identity: str) -> None:
    fitted = model(identity)
    reader = DotTree(fitted.export("dot"))
    rows, known = hostile_rows(fitted), known_levels(fitted)
    said = answers(fitted, rows)
    asked = as_written(rows.take(said.accepted).dicts(), fitted.tree_.schema, fitted.unknown)
    for attribute in fitted.tree_.schema.attributes:
        if attribute.others is not None:  # then "any other category" is any
            known[attribute.name] |= {row[attribute.name] for row in asked}
    for row, label, proba, leaf in zip(asked, said.classes, said.proba, said.leaves, strict=True):
        written, ends = reader.predict(row, known)
        if len(ends) == 1 and ends[0][1] == 1.0 and not fitted.tree_.shares_rows:
            assert written == str(label)
        sums = np.zeros(len(proba))
        for node, share in ends:
            sums += share * np.array(reader.nodes[node]["proba"])
        assert np.array_equal(sums if len(ends) == 1 else evened(sums), proba)
        most = max(share for _, share in ends) - 1e-10
        assert min(node for node, share in ends if share >= most) == leaf


@pytest.mark.parametrize("identity", [m for m in MODELS if m.startswith(("wicked", "stagec"))])
def test_graphviz_draws_it(identity: str, tmp_path: Path) -> None:
    program = shutil.which("dot")
    if program is None:
        pytest.skip("Graphviz is not installed here")
    fitted = model(identity)
    if fitted.tree_.node_count > 300:
        fitted = fasttree.TreeClassifier(max_depth=3).fit(*_data(identity))
    path = tmp_path / "tree.dot"
    fitted.export("dot", path)
    done = subprocess.run([program, "-Tsvg", str(path)], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert not done.stderr.strip(), done.stderr
    assert done.stdout.count('class="node"') == fitted.tree_.node_count
    assert done.stdout.count('class="edge"') == fitted.tree_.node_count - 1


def _data(identity: str) -> tuple[Any, Any]:
    from exporting_tables import TABLES

    X, y, _ = TABLES[identity.split(": ")[0]]()
    return X, y


@pytest.mark.parametrize("identity", MODELS)
def test_json_holds_the_whole_tree(identity: str) -> None:
    """The arrays are made from it again."""
    tree = model(identity).tree_
    document = json.loads(model(identity).export("json"))
    assert model(identity).export("json") == model(identity).export("json")
    nodes = document["nodes"]
    arrays: dict[str, Any] = {
        "attribute": [node.get("attribute", -1) for node in nodes],
        "threshold": [float(node.get("threshold", "nan")) for node in nodes],
        "first_child": [node.get("children", [-1])[0] for node in nodes],
        "n_children": [len(node.get("children", [])) for node in nodes],
        "table_start": _starts(len(node.get("levels", [])) for node in nodes),
        "table_codes": [level + 1 for node in nodes for level in node.get("levels", [])],
        "table_branch": [branch for node in nodes for branch in node.get("branches", [])],
        "default_branch": [node.get("default", -1) for node in nodes],
        "missing_branch": [
            -1 if node.get("missing") is None else node["missing"] for node in nodes
        ],
        "multiplicity": [node["multiplicity"] for node in nodes],
        "missing_seen": [node.get("missing_seen", False) for node in nodes],
        "heuristic": [node.get("heuristic", False) for node in nodes],
        "counts": [node["counts"] for node in nodes],
        "proba": [node["proba"] for node in nodes],
        "pred": [node["class"] for node in nodes],
        "gain": [node.get("gain", 0.0) for node in nodes],
        "depth": [node["depth"] for node in nodes],
        "parent": [-1 if node["parent"] is None else node["parent"] for node in nodes],
    }
    tests = [node.get("surrogates", []) for node in nodes]
    flat = [test for of_node in tests for test in of_node]
    arrays |= {
        "surrogate_start": _starts(map(len, tests)),
        "surrogate_attribute": [test["attribute"] for test in flat],
        "surrogate_threshold": [float(test.get("threshold", "nan")) for test in flat],
        "surrogate_low": [test["low"] for test in flat],
        "surrogate_table_start": _starts(len(test.get("levels", [])) for test in flat),
        "surrogate_table_codes": [v + 1 for test in flat for v in test.get("levels", [])],
        "surrogate_table_branch": [b for test in flat for b in test.get("branches", [])],
        "surrogate_agreement": [float(test["agreement"]) for test in flat],
        "surrogate_adjusted": [float(test["adjusted"]) for test in flat],
    }
    made = Tree(
        tree.schema,
        **{name: np.array(v, dtype=getattr(tree, name).dtype) for name, v in arrays.items()},
    )
    assert made == tree


def _starts(lengths: Any) -> list[int]:
    return [0, *np.cumsum(list(lengths)).tolist()]


def test_labels_without_a_json_form_are_refused() -> None:
    import datetime

    days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)] * 2
    fitted = fasttree.TreeClassifier().fit({"day": fasttree.Categorical(days)}, [0, 1] * 2)
    with pytest.raises(ValueError, match=r"JSON cannot represent the label.*date\(2020.*python"):
        fitted.export("json")
    module: dict[str, Any] = {}
    exec(fitted.export("python"), module)
    assert [module["predict"]([day]) for day in days] == [0, 1, 0, 1]
