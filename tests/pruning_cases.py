# SPDX-License-Identifier: BSD-3-Clause
"""Trees and rows that the tests of pruning share."""

from __future__ import annotations

from typing import Any

import numpy as np
import reference_pruning
import textbook_tables as tables
from textbook_tables import Labels, Table

import fasttree
from fasttree.pruning import held_out_counts
from fasttree.trees.tree import Tree

ID3 = {"criterion": "entropy", "categorical_split": "multiway"}
CART = {
    "criterion": "gini",
    "categorical_split": "subset",
    "stop_zero_gain": True,
    "ties": "schema",
}

# What textbooks draw for the ten mammals; no algorithm grows these.
DRAWN_LEFT: Any = {
    "Body Temperature": {
        "warm-blooded": {
            "Gives Birth": {"yes": {"Four-Legged": {"yes": None, "no": None}}, "no": None}
        },
        "cold-blooded": None,
    }
}
DRAWN_RIGHT: Any = {
    "Body Temperature": {
        "warm-blooded": {"Gives Birth": {"yes": None, "no": None}},
        "cold-blooded": None,
    }
}


def grown(table: Table, **parameters: Any) -> Tree:
    return fasttree.TreeClassifier(**parameters).fit(table.X, table.y).tree_


def block(table: Table) -> np.ndarray:
    """The rows as routing reads them."""
    columns = [
        np.array(c.codes) + 1.0 if isinstance(c, Labels) else np.array(c, dtype=float)
        for c in table.columns.values()
    ]
    return np.column_stack(columns)


def drawn(drawing: Any, table: Table = tables.MAMMALS_10) -> Tree:
    schema = grown(table, max_depth=0).schema
    return reference_pruning.draw(schema, drawing, block(table), table.class_codes)


def leaves_of(tree: Tree, rows: np.ndarray) -> np.ndarray:
    leaves = np.empty(len(rows), dtype=np.int32)
    tree.router.leaves(np.ascontiguousarray(rows), 0, len(rows), True, leaves)
    return leaves


def held(tree: Tree, table: Table) -> np.ndarray:
    return held_out_counts(tree, leaves_of(tree, block(table)), np.array(table.class_codes))


def random_tree(seed: int, n_rows: int = 150, **parameters: Any) -> tuple[Tree, np.ndarray]:
    """A tree of noisy rows, and class counts of held-out rows at its nodes."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 4))
    X = {f"x{j}": rng.integers(0, 9, n_rows).astype(float) for j in range(3)}
    X["c"] = fasttree.Categorical(rng.choice(list("abcd"), n_rows).tolist(), list("abcde"))
    y = np.where(rng.random(n_rows) < 0.4, rng.integers(0, n_classes, n_rows), X["x0"] > 4)
    tree = fasttree.TreeClassifier(**({"criterion": "entropy"} | parameters)).fit(X, y).tree_
    counts = rng.integers(0, 3, tree.counts.shape) * (rng.random(tree.counts.shape) < 0.6)
    ends = np.where(tree.is_leaf()[:, np.newaxis], counts, counts * (rng.random() < 0.3))
    ends[tree.node_count - 1, 0] += 1  # never nothing at all
    return tree, ends.astype(float)


PREFIXES = (
    # a {b: +, -; c: -, +}: b has more +, c more -, and the root more +
    "0 0 0 +\n" * 3 + "0 1 0 -\n" + "1 0 0 -\n" * 2 + "1 0 1 +\n"
)
CROSSED = tables.read("a b c y", {"a": "0 1", "b": "0 1", "c": "0 1", "y": "+ -"}, PREFIXES)
CROSSED_TREE: Any = {"a": {"0": {"b": {"0": None, "1": None}}, "1": {"c": {"0": None, "1": None}}}}


def crossed_rows(*rows: str) -> Table:
    return tables.read("a b c y", {"a": "0 1", "b": "0 1", "c": "0 1", "y": "+ -"}, "\n".join(rows))
