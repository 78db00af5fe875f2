# SPDX-License-Identifier: BSD-3-Clause
"""How much memory a fit takes beyond X: the growth of a process's peak resident set over fit.

A child process measures, so that nothing else has raised the peak before. Linux can reset the peak
(clear_refs); elsewhere the peak before the fit is the baseline.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import data, tables
from benchmarks.contestants import CONTESTANTS, Task

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")
RESET_PEAK = "5"


SOURCES = {
    "classification": data.classification,
    "many levels": tables.many_levels,
    "holed": tables.holed,
}


@dataclass(frozen=True)
class Limits:
    """A fit that passes one of them is stopped, and what it took so far is reported."""

    gigabytes: float  # of address space
    seconds: int


@dataclass(frozen=True)
class Growth:
    """Bytes that a fit took, and why it was stopped, if it was."""

    n_bytes: float
    stopped: str | None = None


def of_fit(
    contestant: str,
    task: Task,
    n_rows: int,
    n_columns: int,
    source: str = "classification",
    limits: Limits | None = None,
) -> Growth:
    """Measured in a child process; `source` is a key of SOURCES."""
    request = {
        "contestant": contestant,
        "task": asdict(task),
        "n_rows": n_rows,
        "n_columns": n_columns,
        "source": source,
        "limits": limits and asdict(limits),
    }
    child = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", json.dumps(request)],
        cwd=data.REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        # The child stops itself, but only between two calls of compiled code.
        timeout=limits and 5 * limits.seconds,
    )
    return Growth(**json.loads(child.stdout.splitlines()[-1]))


def _measure(
    contestant: str,
    task: dict[str, Any],
    n_rows: int,
    n_columns: int,
    source: str,
    limits: dict[str, Any] | None,
) -> Growth:
    dataset = SOURCES[source](n_rows, n_columns)
    model = CONTESTANTS[contestant].make(Task(**task))
    # Loads what the library loads on first use; joblib, which only fits of many rows ask for threads.
    importlib.import_module("joblib")
    model.fit(dataset.X[:1000], dataset.y[:1000])
    gc.collect()
    before = _baseline()
    stopped = None
    with _limited(limits and Limits(**limits)):
        try:
            model.fit(dataset.X, dataset.y)
        except MemoryError:
            stopped = "no memory left"
        except TimeoutError as error:
            stopped = str(error)
    return Growth(_peak() - before, stopped)


@contextlib.contextmanager
def _limited(limits: Limits | None) -> Iterator[None]:
    if limits is None:
        yield
        return
    import resource

    def stop(*_: object) -> None:
        raise TimeoutError(f"not finished after {limits.seconds} seconds")

    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (int(limits.gigabytes * 1e9), before[1]))
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(limits.seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, before)


def _baseline() -> int:
    # Memory that was freed but not given back would be used again and hide growth.
    if "pyarrow" in sys.modules:  # it has an allocator of its own
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
    if CLEAR_REFS.exists() and STATUS.exists():
        CLEAR_REFS.write_text(RESET_PEAK)
    return _peak()


def _peak() -> int:
    if STATUS.exists():
        found = re.search(r"VmHWM:\s+(\d+) kB", STATUS.read_text())
        if found:
            return int(found[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    print(json.dumps(asdict(_measure(**json.loads(sys.argv[1])))))
