# SPDX-License-Identifier: BSD-3-Clause
"""How long the core takes to put a column into order, beside numpy's argsort of the same numbers.

    python -m benchmarks.sorting

Nanoseconds a key, one thread, the least of several runs. The core's time is from the column to its
sorted list, ranks included; 255 bins: to the codes of the bins. numpy's is that of its default
argsort, whose speed hangs on the processor: NPY_DISABLE_CPU_FEATURES shows it without AVX-512.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks import environment
from fasttree import _core

SIZES = (20_000, 200_000, 1_000_000)
RUNS = 7


def columns(n: int) -> Iterator[tuple[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    normal = rng.normal(size=n)
    yield "normal", normal
    yield "uniform", rng.random(n)
    yield "few distinct", rng.integers(0, 100, n).astype(np.float64)
    yield "10,000 distinct", rng.integers(0, 10_000, n) / 7
    yield "sorted", np.sort(normal)
    yield "reversed", np.sort(normal)[::-1].copy()
    yield "one outlier", np.where(np.arange(n) == n // 2, 1e300, normal)
    yield "lognormal", np.exp(3 * normal)


class Column:
    """A column with the memory that the core needs to sort it."""

    def __init__(self, values: np.ndarray) -> None:
        n = len(values)
        self.values = values
        self.keys, self.first, self.second, self.entries = np.empty((4, n), dtype=np.uint64)
        self.cells = np.empty(n, dtype=np.uint16)
        self.codes = np.empty(n, dtype=np.uint8)
        self.y = np.zeros(n, dtype=np.uint32)
        self.ends = np.zeros((2, 256))

    def sort(self) -> None:
        _core.keys_of(self.values[:, np.newaxis], self.keys[np.newaxis])
        _core.sorted_entries(self.keys, self.first, 32, self.y, self.entries)

    def bin(self) -> None:
        _core.keys_of(self.values[:, np.newaxis], self.keys[np.newaxis])
        _core.quantile_codes(
            self.keys, self.cells, self.first, self.second, None, 255, self.codes, *self.ends
        )

    def argsort(self) -> None:
        np.argsort(self.values)


def seconds(call: Callable[[], None]) -> float:
    found = []
    for _ in range(RUNS):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)


def lines(sizes: tuple[int, ...] = SIZES) -> Iterator[str]:
    yield "| keys | column | type | sorted list | 255 bins | numpy argsort | argsort / sorted list |"
    yield "|---:|---|---|---:|---:|---:|---:|"
    for n in sizes:
        for name, values in columns(n):
            for dtype in (np.float64, np.float32):
                if name == "one outlier" and dtype is np.float32:
                    values = np.where(values == 1e300, 1e30, values)
                column = Column(values.astype(dtype))
                took = [
                    seconds(call) / n * 1e9 for call in (column.sort, column.bin, column.argsort)
                ]
                numbers = " | ".join(f"{ns:.1f}" for ns in took)
                yield f"| {n:,} | {name} | {dtype.__name__} | {numbers} | {took[2] / took[0]:.1f} |"


def main() -> int:
    here = environment.current("benchmarks.sorting", 1)
    print(f"{here.machine}, numpy {here.versions['numpy']}, {here.date}\n")
    for line in lines():
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
