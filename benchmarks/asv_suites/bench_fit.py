# SPDX-License-Identifier: BSD-3-Clause
"""fit as a user calls it: time, peak memory, and that speed did not change the tree."""

from __future__ import annotations

import numpy as np

import fasttree
from benchmarks.data import Dataset, classification


class _Fit:
    """What is watched, whatever the data: subclasses give the data and the model in setup."""

    dataset: Dataset
    model: fasttree.TreeClassifier

    def _grow(self) -> fasttree.TreeClassifier:
        return self.model.fit(self.dataset.X, self.dataset.y)

    def time_fit(self, *parameters) -> None:
        self._grow()

    def peakmem_fit(self, *parameters) -> None:
        self._grow()

    def track_n_leaves(self, *parameters) -> int:
        return self._grow().get_n_leaves()

    def track_score(self, *parameters) -> float:
        return float(self._grow().score(self.dataset.X, self.dataset.y))

    def track_fingerprint(self, *parameters) -> int:
        """The start of the tree's hash as a number: any other tree gives another number."""
        return int(self._grow().tree_.fingerprint()[:8], 16)


class Numeric(_Fit):
    params = ((1_000, 20_000), (None, 8), (None, 255), (1, 2))
    param_names = ("rows", "max_depth", "max_bins", "n_jobs")

    def setup(self, rows: int, max_depth: int | None, max_bins: int | None, n_jobs: int) -> None:
        self.dataset = classification(rows, 20)
        self.model = fasttree.TreeClassifier(max_depth=max_depth, max_bins=max_bins, n_jobs=n_jobs)


class Criteria(_Fit):
    params = (("gini", "entropy", "gain_ratio", "misclassification"), (2, 26))
    param_names = ("criterion", "classes")

    def setup(self, criterion: str, classes: int) -> None:
        self.dataset = classification(5_000, 20, classes)
        self.model = fasttree.TreeClassifier(criterion=criterion)


class Categorical(_Fit):
    params = (("subset", "multiway"), (4, 12, 200), (2, 5))
    param_names = ("categorical_split", "categories", "classes")

    def setup(self, categorical_split: str, categories: int, classes: int) -> None:
        draw = np.random.default_rng(0)
        X = draw.integers(categories, size=(20_000, 10))
        effects = draw.normal(size=(10, categories, classes))
        scores = sum(effects[j, X[:, j]] for j in range(10))
        y = np.argmax(scores + draw.gumbel(size=scores.shape), axis=1)
        self.dataset = Dataset("categorical", X, y)
        self.model = fasttree.TreeClassifier(
            categorical_split=categorical_split, categorical_features=list(range(10))
        )


class Weighted(_Fit):
    def setup(self) -> None:
        self.dataset = classification(20_000, 20)
        self.model = fasttree.TreeClassifier()
        self.weights = np.random.default_rng(0).uniform(0.5, 2.0, size=20_000)

    def _grow(self) -> fasttree.TreeClassifier:
        return self.model.fit(self.dataset.X, self.dataset.y, sample_weight=self.weights)
