# SPDX-License-Identifier: BSD-3-Clause
"""What docs/architecture.md says of adding something, tried: a criterion in ten lines, an exporter in five."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from growing import fit_in_blocks

from fasttree import TreeClassifier, export
from fasttree.growth import grow
from fasttree.growth.candidates import Candidates
from fasttree.growth.level import Level
from fasttree.growth.rows import RowStore
from fasttree.trees.view import Exportable


@dataclass
class LargestPureChild:
    """A toy criterion: the attribute whose split makes the largest child of one class is the best."""

    rows: RowStore
    is_relative: bool = False

    def adjust(self, level: Level, nodes: np.ndarray, candidates: Candidates) -> None:
        for attribute, score in enumerate(candidates.score):
            found = np.flatnonzero(np.isfinite(score))
            children = self.rows.describe(
                level,
                nodes[found],
                np.full(len(found), attribute),
                candidates.split[attribute, found],
            )
            pure = np.where((children.counts > 0).sum(axis=1) == 1, children.counts.max(axis=1), 0)
            candidates.score[attribute, found] = np.maximum.reduceat(
                pure, children.first_child[:-1]
            )


def slowly(columns: np.ndarray, y: np.ndarray) -> tuple[int, float] | None:
    """The attribute of the toy criterion and its cut, each cut by the gini index; None: nothing separates."""
    best: tuple[int, int, float] | None = None
    for a, column in enumerate(columns.T):
        cuts = np.unique(column)[:-1]
        if not len(cuts):
            continue
        sides = [(y[column <= cut], y[column > cut]) for cut in cuts]
        impurity = [sum(2 * s.mean() * (1 - s.mean()) * len(s) for s in pair) for pair in sides]
        first = int(np.flatnonzero(np.array(impurity) <= min(impurity) + 1e-9)[0])
        pure = max(len(s) if len(set(s)) == 1 else 0 for s in sides[first])
        if best is None or pure > best[0]:
            best = (pure, a, cuts[first])
    return None if best is None else best[1:]


def check(tree: Any, X: np.ndarray, y: np.ndarray, node: int = 0) -> int:
    """Every node is split as the slow version splits it; returns how many inner nodes there are."""
    wanted = slowly(X, y) if len(set(y)) > 1 else None
    assert tree.is_leaf()[node] == (wanted is None)
    if wanted is None:
        return 0
    attribute, cut = wanted
    assert tree.attribute[node] == attribute
    goes_left = X[:, attribute] <= tree.threshold[node]
    assert (goes_left == (X[:, attribute] <= cut)).all()
    first = int(tree.first_child[node])
    return (
        1
        + check(tree, X[goes_left], y[goes_left], first)
        + check(tree, X[~goes_left], y[~goes_left], first + 1)
    )


@pytest.mark.parametrize("in_blocks", [False, True])
def test_a_criterion_of_ten_lines(in_blocks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    X = rng.integers(0, 6, size=(150, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] * rng.integers(0, 2, 150) > 5).astype(int)
    model = TreeClassifier(ties="schema")
    ordinary = model.fit(X, y).tree_
    monkeypatch.setattr(grow, "choosers_of", lambda context, rows: [LargestPureChild(rows)])
    if in_blocks:
        fit_in_blocks(monkeypatch, model, 3, X, y)
    else:
        model.fit(X, y)
    assert check(model.tree_, X, y) > 10
    assert model.tree_ != ordinary


def leaf_list(model: Exportable, *, separator: str = "\n") -> str:
    """A toy format: the class of every leaf."""
    leaves = np.flatnonzero(model.tree.is_leaf())
    return separator.join(str(model.tree.schema.classes[i]) for i in model.decision[leaves])


def test_an_exporter_of_five(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = export.Exporter(__name__, ".leaves", "the classes of the leaves", function="leaf_list")
    assert sys.modules[__name__].leaf_list is leaf_list
    monkeypatch.setitem(export.EXPORTERS, "leaves", ours)
    model = TreeClassifier().fit([[0.0], [1.0], [2.0]], ["a", "b", "a"])
    assert model.export("leaves", separator=" ").split() == ["a", "b", "a"]
    assert ours.options() == {"separator": "\n"}
