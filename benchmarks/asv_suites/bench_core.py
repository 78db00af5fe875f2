# SPDX-License-Identifier: BSD-3-Clause
"""The stages of a fit, one at a time: encode, then grow what is encoded."""

from __future__ import annotations

import time
from statistics import median

import numpy as np

import fasttree
from benchmarks.data import classification

ROWS, COLUMNS = 20_000, 20


class Encode:
    params = ((None, 255), ("float64", "float32"), ("C", "F"))
    param_names = ("max_bins", "dtype", "order")

    def setup(self, max_bins: int | None, dtype: str, order: str) -> None:
        dataset = classification(ROWS, COLUMNS)
        self.X = np.asarray(dataset.X, dtype=dtype, order=order)
        self.y = dataset.y

    def time_columns(self, max_bins: int | None, dtype: str, order: str) -> None:
        fasttree.Columns(self.X, self.y, max_bins=max_bins)

    def peakmem_columns(self, max_bins: int | None, dtype: str, order: str) -> None:
        fasttree.Columns(self.X, self.y, max_bins=max_bins)


class Grow:
    params = ((None, 255), (1, 8, None), (1, 2))
    param_names = ("max_bins", "max_depth", "n_jobs")

    def setup(self, max_bins: int | None, max_depth: int | None, n_jobs: int) -> None:
        dataset = classification(ROWS, COLUMNS)
        self.columns = fasttree.Columns(dataset.X, dataset.y, max_bins=max_bins)
        self.model = fasttree.TreeClassifier(max_depth=max_depth, max_bins=max_bins, n_jobs=n_jobs)

    def time_grow(self, *parameters) -> None:
        self.model.fit(self.columns)

    def track_ns_a_cell(self, *parameters) -> float:
        """Nanoseconds a row, attribute and level: what the inner loops cost."""
        seconds = []
        for _ in range(5):
            start = time.perf_counter()
            self.model.fit(self.columns)
            seconds.append(time.perf_counter() - start)
        return median(seconds) * 1e9 / (ROWS * COLUMNS * self.model.get_depth())

    track_ns_a_cell.unit = "ns"


class Rank:
    def setup(self) -> None:
        self.dataset = classification(ROWS, COLUMNS)

    def time_rank_attributes(self) -> None:
        fasttree.rank_attributes(self.dataset.X, self.dataset.y)
