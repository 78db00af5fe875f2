# SPDX-License-Identifier: BSD-3-Clause
"""The process of one build in `two_builds`: it prepares a scenario, and times what it is asked for.

It says first which fasttree it has and what the jobs take; then every line that it reads is a job
and a number of calls, answered by the seconds that they took.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import fasttree
from benchmarks.runs import Settings
from benchmarks.scenarios import SCENARIOS


def main(scenario: str, threads: str, quick: str) -> None:
    # Answers have a channel of their own: what a library prints goes where errors go.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def answer(content: Any) -> None:
        answers.write(json.dumps(content) + "\n")

    # An editable installation would lend its own modules to an older build that lacks them.
    sys.meta_path[:] = [f for f in sys.meta_path if "__editable__" not in f"{f.__class__}{f!r}"]
    settings = Settings(threads=int(threads), quick=quick == "quick")
    jobs = SCENARIOS[scenario].own_jobs(settings)
    for job in (jobs or {}).values():
        job()
    answer(
        {
            "file": fasttree.__file__,
            "core": getattr(sys.modules.get("fasttree._core"), "__file__", None) if jobs else None,
            "version": fasttree.__version__,
            "jobs": jobs and {name: seconds(job, 1) for name, job in jobs.items()},
        }
    )
    for line in sys.stdin:
        name, calls = json.loads(line)
        answer(seconds((jobs or {})[name], calls))


def seconds(job: Callable[[], Any], calls: int) -> float:
    gc.collect()
    start = time.perf_counter()
    for _ in range(calls):
        job()
    return time.perf_counter() - start


if __name__ == "__main__":
    main(*sys.argv[1:])
