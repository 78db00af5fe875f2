# SPDX-License-Identifier: BSD-3-Clause
"""Where a measurement was made: machine, versions, date, command."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "fasttree", "numpy", "joblib", "pandas", "polars", "pyarrow", "scikit-learn", "snapml", "xgboost",
    "lightgbm",
)  # fmt: skip


# Cores that others may keep busy before the figures are called doubtful.
QUIET = 0.1


@dataclass(frozen=True)
class Environment:
    machine: str
    cores: int | None
    threads: int
    memory_gb: float | None
    system: str
    versions: dict[str, str]
    date: str
    command: str
    # Cores that other processes kept busy meanwhile: near 0, or the figures are worth little.
    disturbance: float | None = None

    def as_dict(self) -> dict:
        return asdict(self)


def current(module: str, threads: int) -> Environment:
    """`module` is the benchmark as `python -m` knows it, `threads` what everybody may use."""
    return Environment(
        machine=_processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        threads=threads,
        memory_gb=_memory_gb(),
        system=f"{platform.system()} {platform.machine()}",
        versions={"Python": platform.python_version(), **_versions()},
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        command=f"python -m {module} {shlex.join(sys.argv[1:])}".strip(),
    )


class Disturbance:
    """What other processes and virtual machines took of this machine's cores since it was made."""

    def __init__(self) -> None:
        self._start = self._clocks()

    def cores(self) -> float | None:
        """Average number of cores; None where the system does not tell."""
        now = self._clocks()
        if self._start is None or now is None:
            return None
        wall, everybody, own = (b - a for a, b in zip(self._start, now, strict=True))
        return round(max(0.0, everybody - own) / wall, 2) if wall else None

    @staticmethod
    def _clocks() -> tuple[float, float, float] | None:
        """Seconds on the clock, of everybody's work, of our own and our children's work."""
        statistics = Path("/proc/stat")
        if not statistics.exists():
            return None
        user, nice, system, _idle, _wait, irq, softirq, steal = map(
            int, statistics.read_text().split(maxsplit=9)[1:9]
        )
        ticks = user + nice + system + irq + softirq + steal
        own = sum(os.times()[:4])
        return time.perf_counter(), ticks / os.sysconf("SC_CLK_TCK"), own


def disturbed(cores: float | None) -> bool:
    return cores is not None and cores > QUIET


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        fields = dict(
            (part.strip() for part in line.split(":", 1))
            for line in information.read_text().splitlines()
            if ":" in line
        )
        if fields.get("model name"):
            return fields["model name"]
    return platform.processor() or platform.machine()


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, OSError, ValueError):
        return None
