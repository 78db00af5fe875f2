# SPDX-License-Identifier: BSD-3-Clause
"""How long a fresh interpreter takes to import a library: the time of the whole process, less that of an empty one."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import fasttree
from benchmarks.claims import OURS
from benchmarks.measure import interleaved
from benchmarks.results import Entry
from benchmarks.runs import Found, Jobs, Scenario, Settings

NOTHING = "an empty process"
PROGRAMS = {
    NOTHING: "pass",
    "numpy, joblib": "import numpy, joblib",
    "fasttree": "import fasttree",
    # Names load what they need on first use: with an estimator, and with everything.
    "fasttree, an estimator": "import fasttree; fasttree.TreeClassifier",
    "fasttree, every name": "import fasttree; [getattr(fasttree, name) for name in fasttree.__all__]",
    "scikit-learn": "import sklearn.tree",
}


@dataclass(frozen=True)
class ImportRace(Scenario):
    """Times processes that import and do nothing else, taking turns."""

    def run(self, settings: Settings) -> Found | None:
        names = (NOTHING, *self.contestants)
        jobs = {name: _process(PROGRAMS[name]) for name in names}
        settings.say("warming up")
        for job in jobs.values():  # the files are in memory, and compiled
            job()
        settings.say("timing")
        timings = interleaved(jobs, 2 if settings.quick else settings.repeats * 4)
        empty = timings[NOTHING].seconds
        # Round by round, so that a slow minute of the machine strikes both.
        entries = [
            Entry(
                name, [max(s - e, 0.0) for s, e in zip(timings[name].seconds, empty, strict=True)]
            )
            for name in self.contestants
        ]
        version = importlib.metadata.version("numpy")
        return Found(f"Python {sys.version.split()[0]}, numpy {version}", entries)

    def own_jobs(self, settings: Settings) -> Jobs | None:
        return {
            name: _process(PROGRAMS[name]) for name in self.contestants if name.startswith(OURS)
        }


def _process(program: str) -> Callable[[], None]:
    command = [sys.executable, "-c", program]
    # Where a program finds the package that this process has.
    home = Path(fasttree.__file__).parents[1]
    # An installed package is compiled; where that is forbidden, each process would compile all it imports.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def run() -> None:
        subprocess.run(command, cwd=home, env=environment, check=True)

    return run
