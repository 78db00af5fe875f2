# SPDX-License-Identifier: BSD-3-Clause
"""How long one regression tree takes, beside other libraries in the same run.

    python -m benchmarks.regression              200,000 rows, 50 columns
    python -m benchmarks.regression --quick      small sizes: proves the benchmark, not speed

Squared errors, all columns numbers. The table has the median of the times, how many times as long the others took as
fasttree with two threads, and R2 on the training rows, by which one sees that they did the same work. Gradient boosting
grows one such tree in its first step.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from benchmarks import environment
from benchmarks.measure import interleaved

ROWS, COLUMNS, QUICK_ROWS = 200_000, 50, 2_000
REPEATS = 5
BINS = 255


class Work(NamedTuple):
    title: str
    max_depth: int | None = None
    binned: bool = False


WORKS = (
    Work("exact, full depth"),
    Work("exact, depth 8", max_depth=8),
    Work("255 bins, depth 8", max_depth=8, binned=True),
)


def data(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A fifth of the columns add up, one has waves, and the rest is noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, COLUMNS))
    y = X[:, :10] @ random.normal(size=10) + 3 * np.sin(3 * X[:, 10]) + random.normal(size=n_rows)
    return X, y


def models(work: Work) -> dict[str, Callable[[], Any]]:
    """Unfitted estimators, of the libraries that are installed."""
    found = {
        "fasttree": lambda: _own(work, 2),
        "fasttree, 1 thread": lambda: _own(work, 1),
        "scikit-learn": lambda: _sklearn(work),
    }
    if work.binned:
        found["scikit-learn hist"] = lambda: _sklearn_hist(work)
        others = {"LightGBM": ("lightgbm", _lightgbm), "XGBoost": ("xgboost", _xgboost)}
        for name, (package, make) in others.items():
            if importlib.util.find_spec(package) is not None:
                found[name] = lambda make=make: make(work)
    return found


def _own(work: Work, n_jobs: int) -> Any:
    from fasttree import TreeRegressor

    bins = BINS if work.binned else None
    return TreeRegressor(max_depth=work.max_depth, max_bins=bins, n_jobs=n_jobs)


def _sklearn(work: Work) -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_depth=work.max_depth, random_state=0)


def _sklearn_hist(work: Work) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=1,
        learning_rate=1.0,
        max_depth=work.max_depth,
        max_leaf_nodes=None,
        min_samples_leaf=1,
        max_bins=BINS,
        early_stopping=False,
    )


def _lightgbm(work: Work) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(
        n_estimators=1,
        learning_rate=1.0,
        max_depth=work.max_depth,
        num_leaves=2**work.max_depth if work.max_depth else 2**31 - 1,
        min_child_samples=1,
        min_child_weight=0.0,
        max_bin=BINS,
        n_jobs=2,
        verbose=-1,
    )


def _xgboost(work: Work) -> Any:
    from xgboost import XGBRegressor

    return XGBRegressor(
        n_estimators=1,
        learning_rate=1.0,
        max_depth=work.max_depth,
        reg_lambda=0.0,
        min_child_weight=0.0,
        tree_method="hist",
        max_bin=BINS,
        n_jobs=2,
    )


def lines(n_rows: int = ROWS, repeats: int = REPEATS) -> Iterator[str]:
    yield "| work | library | seconds | times as long as fasttree | R2 |"
    yield "|---|---|---:|---:|---:|"
    X, y = data(n_rows)
    for work in WORKS:
        makers = models(work)
        jobs = {name: lambda make=make: make().fit(X, y) for name, make in makers.items()}
        jobs["fasttree"]()  # what is loaded on first use
        timings = interleaved(jobs, repeats)
        own = median(timings["fasttree"].seconds)
        for name, timing in timings.items():
            seconds = median(timing.seconds)
            r2 = timing.last_result.score(X, y)
            yield f"| {work.title} | {name} | {seconds:.3f} | {seconds / own:.1f} | {r2:.4f} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args().quick
    here = environment.current("benchmarks.regression", 2)
    print(f"{here.machine}, {here.date}\n")
    for line in lines(QUICK_ROWS, 1) if quick else lines():
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
