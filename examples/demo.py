# SPDX-License-Identifier: BSD-3-Clause
"""A short tour: a textbook tree, its ranking of the attributes, and speed on a larger table."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import fasttree


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def textbook() -> None:
    X, y = fasttree.datasets.play_tennis()
    heading("Play tennis? The ID3 tree of the textbooks")
    print(fasttree.ID3Classifier().fit(X, y).to_text())
    heading("Why it asks for the outlook first")
    print(fasttree.rank_attributes(X, y, criterion="entropy"))


def synthetic(n_rows: int, n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Numeric columns, five of which matter, and labels of which one in twenty is wrong."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, n_columns))
    score = X[:, 0] + 2 * np.sin(2 * X[:, 1]) + np.abs(X[:, 2]) * X[:, 3] + X[:, 4]
    wrong = random.random(n_rows) < 0.05
    return X, ((score > 0) ^ wrong).astype(np.int64)


def timed(job: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = job()
    return result, time.perf_counter() - start


def speed(n_rows: int, n_columns: int, n_jobs: int) -> None:
    heading(f"{n_rows:,} rows x {n_columns} columns of float64, n_jobs={n_jobs}")
    X, y = synthetic(n_rows, n_columns, seed=1)
    X_new, y_new = synthetic(n_rows // 4, n_columns, seed=2)
    models: dict[str, Any] = {
        "fasttree, exact": fasttree.TreeClassifier(n_jobs=n_jobs),
        "fasttree, 255 bins": fasttree.TreeClassifier(max_bins=255, n_jobs=n_jobs),
    }
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        print("(install scikit-learn to see it beside)")
    else:
        models["scikit-learn, exact"] = DecisionTreeClassifier(random_state=0)

    print(f"{'full depth':<22}{'fit':>10}{'leaves':>10}{'depth':>8}{'accuracy':>11}")
    for name, model in models.items():
        _, seconds = timed(lambda model=model: model.fit(X, y))
        accuracy = float(np.mean(model.predict(X_new) == y_new))
        print(
            f"{name:<22}{seconds:>8.2f} s{model.get_n_leaves():>10,}"
            f"{model.get_depth():>8}{accuracy:>11.4f}"
        )

    single = fasttree.TreeClassifier(n_jobs=1).fit(X, y)
    same = np.array_equal(single.predict(X_new), models["fasttree, exact"].predict(X_new))
    print(f"\nThe same predictions with one thread and with {n_jobs}: {'yes' if same else 'NO'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=50, help="at least 5")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    textbook()
    speed(arguments.rows, arguments.columns, arguments.jobs)


if __name__ == "__main__":
    main()
