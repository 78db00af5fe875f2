# SPDX-License-Identifier: BSD-3-Clause
"""What a comparison found: plain records that go to JSON and back, and verdicts on the targets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any


@dataclass
class Entry:
    """One contestant in one scenario."""

    contestant: str
    seconds: list[float] = field(default_factory=list)
    cores: float | None = None
    train_accuracy: float | None = None
    held_out_accuracy: float | None = None
    leaves: int | None = None
    depth: int | None = None
    rows: int | None = None
    bytes_a_cell: float | None = None
    bytes_in_all: float | None = None
    # Why a fit was not finished.
    stopped: str | None = None

    @property
    def median_seconds(self) -> float:
        return median(self.seconds)


@dataclass
class Record:
    """One scenario, and where it was measured."""

    scenario: str
    data: str
    quick: bool
    environment: dict[str, Any]
    entries: list[Entry]

    def entry(self, contestant: str) -> Entry | None:
        return next((e for e in self.entries if e.contestant == contestant), None)


@dataclass(frozen=True)
class Verdict:
    """`value` against `target`; None where nothing was measured or nothing is demanded."""

    against: str
    unit: str
    ours: float | None = None
    theirs: float | None = None
    value: float | None = None
    target: float | None = None
    at_most: bool = False
    # 95 % of what the value may be, where that decides: all of it has to meet the target.
    interval: tuple[float, float] | None = None

    @property
    def met(self) -> bool | None:
        if self.value is None or self.target is None:
            return None
        if self.interval is not None:
            return (
                self.interval[1] <= self.target if self.at_most else self.interval[0] >= self.target
            )
        return self.value <= self.target if self.at_most else self.value >= self.target


def save(file: Path, records: Mapping[str, Record]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([asdict(r) for r in records.values()], indent=1) + "\n")


def load(file: Path) -> dict[str, Record]:
    """The records by scenario; nothing if there is no such file."""
    if not file.exists():
        return {}
    records = (
        Record(**{**raw, "entries": [Entry(**entry) for entry in raw["entries"]]})
        for raw in json.loads(file.read_text())
    )
    return {record.scenario: record for record in records}
