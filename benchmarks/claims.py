# SPDX-License-Identifier: BSD-3-Clause
"""What a scenario demands: each claim turns measured entries into a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from benchmarks.results import Entry, Record, Verdict

OURS = "fasttree"
SKLEARN = "scikit-learn"
FASTEST_OTHER = "fastest other peer"


class Claim(Protocol):
    def judge(self, record: Record) -> Verdict: ...


@dataclass(frozen=True)
class Faster:
    """Their median time over ours, at least so much (None: told, not demanded)."""

    against: str
    at_least: float | None = None
    ours: str = OURS

    def judge(self, record: Record) -> Verdict:
        ours, theirs = record.entry(self.ours), self._rival(record)
        name = theirs.contestant if theirs else self.against
        if self.ours != OURS:
            name = f"{name} (ours: {self.ours.removeprefix(OURS).strip(', ')})"
        if ours is None or theirs is None:
            return Verdict(name, "x", target=self.at_least)
        ratio = theirs.median_seconds / ours.median_seconds
        return Verdict(name, "x", ours.median_seconds, theirs.median_seconds, ratio, self.at_least)

    def _rival(self, record: Record) -> Entry | None:
        if self.against != FASTEST_OTHER:
            return record.entry(self.against)
        others = [
            entry for entry in record.entries if not entry.contestant.startswith((OURS, SKLEARN))
        ]
        return min(others, key=lambda entry: entry.median_seconds, default=None)


@dataclass(frozen=True)
class MemoryAtMost:
    """Growth of the peak RSS over fit, in bytes a cell of X."""

    bytes_a_cell: float

    def judge(self, record: Record) -> Verdict:
        ours = record.entry(OURS)
        value = ours.bytes_a_cell if ours else None
        return Verdict("a bound", "bytes a cell", value=value, target=self.bytes_a_cell,
                       at_most=True)  # fmt: skip


@dataclass(frozen=True)
class DoublingAtMost:
    """Geometric mean of the factors by which the time grows each time that the rows double."""

    factor: float

    def judge(self, record: Record) -> Verdict:
        sizes = sorted(record.entries, key=lambda entry: entry.rows or 0)
        value = None
        if len(sizes) > 1:
            growth = sizes[-1].median_seconds / sizes[0].median_seconds
            value = growth ** (1 / (len(sizes) - 1))
        return Verdict("a bound", "x a doubling", value=value, target=self.factor, at_most=True)
