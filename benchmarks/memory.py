# SPDX-License-Identifier: BSD-3-Clause
"""How much memory a fit takes beyond X: the growth of a process's peak resident set over fit.

A child process measures, so that nothing else has raised the peak before. Linux can reset the peak
(clear_refs); elsewhere the peak before the fit is the baseline.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import re
import subprocess
import sys
from pathlib import Path

from benchmarks import data
from benchmarks.contestants import CONTESTANTS, Task

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")
RESET_PEAK = "5"


def of_fit(contestant: str, task: Task, n_rows: int, n_columns: int) -> float:
    """Bytes a cell of X, measured in a child process."""
    request = {
        "contestant": contestant,
        "task": task.__dict__,
        "n_rows": n_rows,
        "n_columns": n_columns,
    }
    child = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", json.dumps(request)],
        cwd=data.REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return float(child.stdout.split()[-1])


def _measure(contestant: str, task: dict, n_rows: int, n_columns: int) -> float:
    dataset = data.classification(n_rows, n_columns)
    model = CONTESTANTS[contestant].make(Task(**task))
    # Loads what the library loads on first use, and starts its threads.
    model.fit(dataset.X[:1000].copy(), dataset.y[:1000])
    gc.collect()
    before = _baseline()
    model.fit(dataset.X, dataset.y)
    return (_peak() - before) / dataset.X.size


def _baseline() -> int:
    # Memory that was freed but not given back would be used again and hide growth (glibc only).
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
    print(_measure(**json.loads(sys.argv[1])))
