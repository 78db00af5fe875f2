# SPDX-License-Identifier: BSD-3-Clause
"""What is said of branches in texts, where names of categories look like what is said."""

from __future__ import annotations

import numpy as np

from fasttree import TreeClassifier
from fasttree.draw.branches import branch_texts


def test_a_category_that_is_called_missing_has_its_mark() -> None:
    x = np.array(["is missing", "b", "c", None] * 10, dtype=object)
    model = TreeClassifier(categorical_split="multiway", missing="branch")
    tree = model.fit({"x": x}, [0, 1, 2, 0] * 10).tree_
    texts = [text for _, text in branch_texts(tree, 0)]
    assert texts == ["x = b", "x = c", "x = is missing or missing"]
