# SPDX-License-Identifier: BSD-3-Clause
"""What a scenario demands: each claim turns measured entries into a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from benchmarks.intervals import NOT_SLOWER, of_median
from benchmarks.results import Entry, Record, Verdict

OURS = "fasttree"
SKLEARN = "scikit-learn"
PIPELINE = "scikit-learn pipeline"
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
        name = _named(theirs, self.against, self.ours)
        if ours is None or theirs is None:
            return Verdict(name, "x", target=self.at_least)
        ratio = theirs.median_seconds / ours.median_seconds
        return Verdict(name, "x", ours.median_seconds, theirs.median_seconds, ratio, self.at_least)

    def _rival(self, record: Record) -> Entry | None:
        if self.against != FASTEST_OTHER:
            return record.entry(self.against)
        return _fastest_other(record)


def _named(theirs: Entry | None, against: str, ours: str) -> str:
    name = theirs.contestant if theirs else against
    return name if ours == OURS else f"{name} (ours: {ours.removeprefix(OURS).strip(', ')})"


def _fastest_other(record: Record) -> Entry | None:
    others = [entry for entry in record.entries if not entry.contestant.startswith((OURS, SKLEARN))]
    return min(others, key=lambda entry: entry.median_seconds, default=None)


@dataclass(frozen=True)
class NotSlower:
    """The median, over the rounds, of our time over theirs, with its interval: see `intervals`."""

    than: str
    ours: str = OURS

    def judge(self, record: Record) -> Verdict:
        ours, theirs = record.entry(self.ours), record.entry(self.than)
        name = _named(theirs, self.than, self.ours)
        if ours is None or theirs is None or len(ours.seconds) != len(theirs.seconds):
            return Verdict(name, "x the time", target=NOT_SLOWER, at_most=True)
        ratios = np.array(ours.seconds) / np.array(theirs.seconds)
        return Verdict(
            name, "x the time", ours.median_seconds, theirs.median_seconds, float(np.median(ratios)),
            NOT_SLOWER, at_most=True, interval=of_median(ratios),
        )  # fmt: skip


@dataclass(frozen=True)
class TimesAtMost:
    """Our median time over that of another entry."""

    than: str
    factor: float
    ours: str = OURS

    def judge(self, record: Record) -> Verdict:
        theirs = _fastest_other(record) if self.than == FASTEST_OTHER else record.entry(self.than)
        ours = record.entry(self.ours)
        name = _named(theirs, self.than, self.ours)
        if ours is None or theirs is None:
            return Verdict(name, "x the time", target=self.factor, at_most=True)
        times = ours.median_seconds, theirs.median_seconds
        return Verdict(name, "x the time", *times, times[0] / times[1], self.factor, at_most=True)


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
class BytesARowAtMost:
    """The same in bytes a row of X."""

    bytes_a_row: float

    def judge(self, record: Record) -> Verdict:
        ours = record.entry(OURS)
        value = None
        if ours is not None and ours.bytes_in_all is not None and ours.rows:
            value = ours.bytes_in_all / ours.rows
        return Verdict("a bound", "bytes a row", value=value, target=self.bytes_a_row, at_most=True)


@dataclass(frozen=True)
class GigabytesAtMost:
    """The same in all. A fit that was stopped at its limit has taken that much at least."""

    gigabytes: float
    ours: str = OURS

    def judge(self, record: Record) -> Verdict:
        ours = record.entry(self.ours)
        value = ours.bytes_in_all / 1e9 if ours and ours.bytes_in_all is not None else None
        return Verdict("a bound", "GB", value=value, target=self.gigabytes, at_most=True)


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
