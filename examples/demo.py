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
    heading("Why it tests the outlook first")
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


def row(name: str, *cells: str) -> None:
    """One line of a table, shown before the next job starts."""
    print(f"{name:<22}" + "".join(f"{cell:>13}" for cell in cells), flush=True)


def speed(n_rows: int, n_columns: int, n_jobs: int, seconds: float) -> None:
    heading(f"{n_rows:,} rows x {n_columns} columns of float64, n_jobs={n_jobs}")
    X, y = synthetic(n_rows, n_columns, seed=1)
    X_new, y_new = synthetic(n_rows // 4, n_columns, seed=2)
    exact = fasttree.TreeClassifier(n_jobs=n_jobs)
    binned = fasttree.TreeClassifier(max_bins=255, n_jobs=n_jobs)
    row("full depth", "fit", "leaves", "depth", "accuracy")
    for name, model in (("exact", exact), ("255 bins", binned)):
        _, taken = timed(lambda model=model: model.fit(X, y))
        accuracy = float(np.mean(model.predict(X_new) == y_new))
        row(
            name,
            f"{taken:.2f} s",
            f"{model.get_n_leaves():,}",
            str(model.get_depth()),
            f"{accuracy:.4f}",
        )
    single = fasttree.TreeClassifier(n_jobs=1).fit(X, y)
    same = np.array_equal(single.predict(X_new), exact.predict(X_new))
    print(f"\nThe same predictions with one thread and with {n_jobs}: {'yes' if same else 'NO'}")
    beside_scikit_learn(X, y, n_jobs, seconds)


def beside_scikit_learn(X: np.ndarray, y: np.ndarray, n_jobs: int, seconds: float) -> None:
    """Fits of twice as many rows each time, as long as all of scikit-learn's take about so many seconds."""
    heading(f"Compared with scikit-learn, with a time limit of about {seconds:g} s")
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        print("scikit-learn is not installed: to compare with it, pip install scikit-learn.")
        return
    row("rows, full depth", "fasttree", "scikit-learn", "ratio")
    ours = fasttree.TreeClassifier(n_jobs=n_jobs)
    theirs = DecisionTreeClassifier(random_state=0)
    used = expected = 0.0
    for n_rows in (len(y) // 16, len(y) // 8, len(y) // 4, len(y) // 2, len(y)):
        if used + expected > seconds:
            print(
                f"{n_rows:,} rows would take scikit-learn about {expected:.1f} s: raise the limit with --seconds."
            )
            break
        times = [
            timed(lambda model=model, n_rows=n_rows: model.fit(X[:n_rows], y[:n_rows]))[1]
            for model in (ours, theirs)
        ]
        row(f"{n_rows:,}", *(f"{each:.2f} s" for each in times), f"{times[1] / times[0]:.1f} x")
        used += times[1]
        expected = (
            2.3 * times[1]
        )  # sorting takes a little more than twice as long for twice the rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=50, help="at least 5")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit for scikit-learn")
    arguments = parser.parse_args()
    textbook()
    speed(arguments.rows, arguments.columns, arguments.jobs, arguments.seconds)


if __name__ == "__main__":
    main()
