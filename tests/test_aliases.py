# SPDX-License-Identifier: BSD-3-Clause
"""Names that stand for others: each says the same as the name that it stands for."""

from __future__ import annotations

import numpy as np
import pytest

import fasttree
from fasttree import message_length, pruning


def test_a_dataset_has_the_name_columns_too() -> None:
    assert fasttree.Columns is fasttree.Dataset
    assert {"Columns", "Dataset"} <= set(fasttree.__all__)


def test_a_dataset_says_its_name_by_either() -> None:
    X, y = fasttree.datasets.play_tennis()
    said = "Dataset(14 rows, 4 attributes, 2 classes, exact)"
    assert repr(fasttree.Dataset(X, y)) == repr(fasttree.Columns(X, y)) == said
    binned = fasttree.Dataset(X, y, max_bins=8)
    assert repr(binned) == "Dataset(14 rows, 4 attributes, 2 classes, at most 8 bins)"


def test_classes_with_two_names() -> None:
    assert pruning.PathChoice is pruning.Choice
    assert message_length.Choices.__name__ == "TestOptions"


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("pred", "label"),
        ("multiplicity", "n_absent_values"),
        ("heuristic", "is_heuristic_subset"),
    ],
)
def test_arrays_of_a_tree_with_two_names(name: str, alias: str) -> None:
    tree = fasttree.ID3Classifier().fit(*fasttree.datasets.play_tennis()).tree_
    assert getattr(tree, alias) is getattr(tree, name)


def test_sums_over_subtrees_by_both_names() -> None:
    tree = fasttree.ID3Classifier().fit(*fasttree.datasets.play_tennis()).tree_
    ones = np.ones(tree.node_count)
    assert np.array_equal(tree.sum_up(ones), tree.subtree_sums(ones))


def test_conditions_with_two_names() -> None:
    rules = fasttree.RuleClassifier().fit(*fasttree.datasets.play_tennis()).rules_
    conditions = [condition for rule in rules for condition in rule.conditions]
    assert conditions
    for condition in conditions:
        assert condition.categories is condition.levels
        assert condition.surrogates is condition.substitutes
