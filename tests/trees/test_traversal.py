# SPDX-License-Identifier: BSD-3-Clause
"""Walks over a tree: what they visit, and in which order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import textbook_tables as tables

from fasttree import ID3Classifier, TreeClassifier
from fasttree.pruning.significance_pruning import split_p_values
from fasttree.trees.traversal import (
    all_siblings,
    ends_at_depths,
    paths_upwards,
    printed_order,
    sums_before,
)


@pytest.fixture(scope="module")
def tree() -> Any:
    """The root, its three children, then the two of the first and the two of the last of these."""
    return ID3Classifier().fit(tables.PLAY_TENNIS.X, tables.PLAY_TENNIS.y).tree_


def test_sums_over_paths(tree: Any) -> None:
    assert tree.path_sums(np.arange(8)).tolist() == [0, 1, 2, 3, 5, 6, 9, 10]


def test_what_is_printed_before_a_node(tree: Any) -> None:
    assert printed_order(tree).tolist() == [0, 1, 4, 5, 2, 3, 6, 7]
    assert sums_before(tree, np.arange(8)).tolist() == [0, 0, 10, 12, 1, 5, 15, 21]


def test_paths_end_at_the_root(tree: Any) -> None:
    steps = [
        (path.tolist(), node.tolist()) for path, node in paths_upwards(tree, np.array([5, -1, 2]))
    ]
    assert steps == [([0, 2], [5, 2]), ([0, 2], [1, 0]), ([0], [0])]


def test_ends_in_a_tree_of_fewer_levels(tree: Any) -> None:
    ends = [nodes.tolist() for nodes in ends_at_depths(tree, np.array([5, 2, 0]), 3)]
    assert ends == [[5, 2, 0], [5, 2, 0], [1, 2, 0], [0, 0, 0]]


def test_siblings(tree: Any) -> None:
    siblings = all_siblings(tree)
    assert siblings.splits.tolist() == [0, 1, 3]
    assert siblings.sums(np.arange(8)).tolist() == [6, 9, 13]


def test_a_tree_of_one_leaf() -> None:
    leaf = TreeClassifier().fit([[1.0]], [0]).tree_
    assert all_siblings(leaf).sums(leaf.counts).shape == (0, 1)
    assert printed_order(leaf).tolist() == [0]
    assert split_p_values(leaf).tolist() == [1]
