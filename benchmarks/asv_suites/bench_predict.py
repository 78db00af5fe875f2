# SPDX-License-Identifier: BSD-3-Clause
"""Scoring: many rows at once, and the cost of asking about one."""

from __future__ import annotations

import numpy as np

import fasttree
from benchmarks.data import classification


class Predict:
    params = ((1, 1_000, 100_000), (8, None), (1, 2))
    param_names = ("rows", "max_depth", "n_jobs")

    def setup(self, rows: int, max_depth: int | None, n_jobs: int) -> None:
        dataset = classification(20_000, 20)
        self.model = fasttree.TreeClassifier(max_depth=max_depth, n_jobs=n_jobs)
        self.model.fit(dataset.X, dataset.y)
        self.X = np.resize(dataset.X, (rows, 20)).astype(np.float32)

    def time_predict(self, *parameters) -> None:
        self.model.predict(self.X)

    def time_predict_proba(self, *parameters) -> None:
        self.model.predict_proba(self.X)

    def time_apply(self, *parameters) -> None:
        self.model.apply(self.X)

    def peakmem_predict_proba(self, *parameters) -> None:
        self.model.predict_proba(self.X)


class DecisionPath:
    def setup(self) -> None:
        self.dataset = classification(20_000, 20)
        self.model = fasttree.TreeClassifier().fit(self.dataset.X, self.dataset.y)

    def time_decision_path(self) -> None:
        self.model.decision_path(self.dataset.X)
