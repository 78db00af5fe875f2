# SPDX-License-Identifier: BSD-3-Clause
"""Fits one tree, for a profiler to watch.

    python -m benchmarks.profile_fit --rows 20000 --max-depth 8
    valgrind --tool=callgrind python -m benchmarks.profile_fit --rows 20000
    perf record --call-graph dwarf python -m benchmarks.profile_fit --repeats 20

The data are made in another process the first time, and cached.
"""

from __future__ import annotations

import argparse
import time

from benchmarks import data


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.profile_fit",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--rows", type=int, default=50_000)
    add("--columns", type=int, default=20)
    add("--classes", type=int, default=2)
    add("--criterion", default="gini")
    add("--max-depth", type=int)
    add("--max-bins", type=int)
    add("--n-jobs", type=int, default=1)
    add("--repeats", type=int, default=1, help="fits, one after another")
    add("--encoded", action="store_true", help="encode once, before the fits")
    add("--predict", action="store_true", help="also time predict_proba on the same rows")
    options = parser.parse_args()

    import fasttree

    dataset = data.classification(options.rows, options.columns, options.classes)
    model = fasttree.TreeClassifier(
        criterion=options.criterion,
        max_depth=options.max_depth,
        max_bins=options.max_bins,
        n_jobs=options.n_jobs,
    )
    inputs = (dataset.X, dataset.y)
    if options.encoded:
        inputs = (fasttree.Columns(*inputs, max_bins=options.max_bins, n_jobs=options.n_jobs),)
    for _ in range(options.repeats):
        start = time.perf_counter()
        model.fit(*inputs)
        print(f"fit {time.perf_counter() - start:.4f} s, {model.get_n_leaves()} leaves")
        if options.predict:
            start = time.perf_counter()
            model.predict_proba(dataset.X)
            print(f"predict_proba {time.perf_counter() - start:.4f} s")


if __name__ == "__main__":
    main()
