# SPDX-License-Identifier: BSD-3-Clause
"""The data sets of all benchmarks, made once and cached as .npy files.

The cache is in $FASTTREE_BENCHMARK_CACHE, else the user's cache folder, else a temporary one.
Optional real data are read from $FASTTREE_SHARED, else from `shared` beside the repository.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[1]
SMALL = ("iris", "wine", "breast_cancer")
HELD_OUT_SHARE = 0.2


@dataclass(frozen=True)
class Dataset:
    name: str
    X: np.ndarray
    y: np.ndarray

    @property
    def n_classes(self) -> int:
        return len(np.unique(self.y))

    def head(self, n_rows: int) -> Dataset:
        return Dataset(self.name, self.X[:n_rows], self.y[:n_rows])

    def split(self) -> tuple[Dataset, Dataset]:
        """A fixed random 80 % of the rows, and the other 20 %."""
        order = np.random.default_rng(0).permutation(len(self.y))
        cut = round(len(order) * (1 - HELD_OUT_SHARE))
        train, test = (
            Dataset(self.name, self.X[rows], self.y[rows]) for rows in (order[:cut], order[cut:])
        )
        return train, test


@cache
def cache_directory() -> Path:
    chosen = os.environ.get("FASTTREE_BENCHMARK_CACHE")
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    candidates = [Path(chosen)] if chosen else [user_cache, Path(tempfile.gettempdir())]
    for candidate in candidates:
        directory = candidate / "fasttree-benchmarks"
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(directory, os.W_OK):
            return directory
    raise OSError(
        f"cannot write the benchmark data to {' or '.join(map(str, candidates))}: "
        "set FASTTREE_BENCHMARK_CACHE to a directory that can be written"
    )


def classification(
    n_rows: int, n_columns: int, n_classes: int = 2, dtype: type = np.float64
) -> Dataset:
    """scikit-learn's make_classification, half of the columns informative, 5 % of labels noise."""
    # Another release of scikit-learn may draw other numbers: it gets files of its own.
    name = f"classification-{n_rows}x{n_columns}-{n_classes}"
    stem = cache_directory() / f"{name}-sklearn{version('scikit-learn')}"
    x_file, y_file = Path(f"{stem}-X.npy"), Path(f"{stem}-y.npy")
    if not (x_file.exists() and y_file.exists()):
        # In a child: the memory and the imports of making them are not in the benchmark's process.
        sizes = map(str, (n_rows, n_columns, n_classes))
        command = [sys.executable, "-m", "benchmarks.data", *sizes, str(x_file), str(y_file)]
        subprocess.run(command, cwd=REPOSITORY, check=True)
    return Dataset(name, np.load(x_file).astype(dtype, copy=False), np.load(y_file))


def _make(n_rows: int, n_columns: int, n_classes: int, x_file: Path, y_file: Path) -> None:
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n_samples=n_rows,
        n_features=n_columns,
        n_informative=n_columns // 2,
        n_redundant=n_columns // 5,
        n_classes=n_classes,
        flip_y=0.05,
        random_state=0,
    )
    _save(x_file, np.ascontiguousarray(X, dtype=np.float64))
    _save(y_file, y)


def _save(file: Path, array: np.ndarray) -> None:
    # Renaming is atomic: a second benchmark that starts meanwhile never reads half a file.
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".tmp", delete=False) as part:
        np.save(part, array)
    os.replace(part.name, file)


def small(name: str) -> Dataset:
    """One of scikit-learn's tiny data sets: iris, wine or breast_cancer."""
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    return Dataset(name, np.ascontiguousarray(bunch.data, dtype=np.float64), bunch.target)


def shared_file(name: str) -> Path:
    shared = Path(os.environ.get("FASTTREE_SHARED") or REPOSITORY.parent / "shared")
    return shared / "data" / f"{name}.parquet"


def births_file() -> Path:
    return shared_file("natality_dev")


def births() -> Dataset | None:
    """57,811 births, cesarean or not; categories as codes, missing as -1.

    None: no such file, or nothing that reads it.
    """
    if not births_file().exists() or find_spec("pyarrow") is None:
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(births_file()).combine_chunks()
    columns = [table.column(name).combine_chunks() for name in table.column_names]
    # A dictionary's codes follow its declared order, so that thresholds on codes make sense.
    numbers = [
        (column.indices if pa.types.is_dictionary(column.type) else column).fill_null(-1)
        for column in columns
    ]
    *features, target = (np.asarray(column, dtype=np.float64) for column in numbers)
    return Dataset("births", np.column_stack(features), target.astype(np.int64))


if __name__ == "__main__":
    _make(*map(int, sys.argv[1:4]), *map(Path, sys.argv[4:]))
