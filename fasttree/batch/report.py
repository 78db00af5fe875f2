# SPDX-License-Identifier: BSD-3-Clause
"""What a run has seen: how many rows, which classes, and what in them was unlike the training rows."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from fasttree.base.sums import total
from fasttree.base.wording import plural
from fasttree.files.errors import EXAMPLES


@dataclass
class Tally:
    """One column: the rows that lack a value or hold an odd one."""

    missing: int = 0  # after reading: with those that could not be read in lenient mode
    unreadable: int = 0
    unreadable_examples: list[str] = field(default_factory=list)
    unseen: int = 0  # levels that the training rows did not have
    unseen_examples: list[str] = field(default_factory=list)
    below: int = 0  # numbers under the smallest one of the training rows
    above: int = 0

    def add(self, other: Tally) -> None:
        self.missing += other.missing
        self.unreadable += other.unreadable
        self.unseen += other.unseen
        self.below += other.below
        self.above += other.above
        add_examples(self.unreadable_examples, other.unreadable_examples)
        add_examples(self.unseen_examples, other.unseen_examples)


def add_examples(known: list[str], more: list[str]) -> None:
    """At most EXAMPLES of them, none twice."""
    for example in more:
        if len(known) >= EXAMPLES:
            return
        if example not in known:
            known.append(example)


@dataclass
class PredictedNumbers:
    """The numbers that were predicted."""

    rows: int = 0
    lowest: float | None = None
    highest: float | None = None
    sum: float = 0.0

    def note(self, numbers: np.ndarray) -> None:
        if len(numbers):
            found = len(numbers), float(numbers.min()), float(numbers.max()), total(numbers)
            self.add(PredictedNumbers(*found))

    def add(self, other: PredictedNumbers) -> None:
        ends = [(self.lowest, self.highest), (other.lowest, other.highest)]
        self.rows += other.rows
        self.sum += other.sum
        self.lowest = min((low for low, _ in ends if low is not None), default=None)
        self.highest = max((high for _, high in ends if high is not None), default=None)

    def to_dict(self) -> dict[str, float | None]:
        mean = self.sum / self.rows if self.rows else None
        return {"lowest": self.lowest, "mean": mean, "highest": self.highest}

    def __str__(self) -> str:
        return ", ".join(f"{name} {value:.6g}" for name, value in self.to_dict().items())


@dataclass
class FileReport:
    input: str
    output: str
    rows: int | None  # None: none of them were scored by this run
    status: str  # "scored", "kept" (there already), "failed", or "not scored": the run ended before
    error: str | None = None  # why it failed


@dataclass
class Report:
    """The counts of one run. Print it, or write it with `to_json`."""

    rows: int = 0
    seconds: float = 0.0
    predictions: dict[str, int] = field(default_factory=dict)  # rows by predicted class
    predicted: PredictedNumbers = field(default_factory=PredictedNumbers)  # of a regressor
    columns: dict[str, Tally] = field(default_factory=dict)
    ignored_columns: list[str] = field(default_factory=list)
    # Lines of a CSV file with too few or too many values, left out in lenient mode.
    broken_rows: int = 0
    broken_row_examples: list[str] = field(default_factory=list)
    files: list[FileReport] = field(default_factory=list)
    error: str | None = None  # why the run ended before it was done

    @property
    def failed(self) -> list[FileReport]:
        """The inputs that could not be scored."""
        return [file for file in self.files if file.status == "failed"]

    def add(self, other: Report) -> None:
        self.rows += other.rows
        self.seconds += other.seconds
        self.broken_rows += other.broken_rows
        for label, rows in other.predictions.items():
            self.predictions[label] = self.predictions.get(label, 0) + rows
        self.predicted.add(other.predicted)
        for name, tally in other.columns.items():
            self.columns.setdefault(name, Tally()).add(tally)
        add_names = [name for name in other.ignored_columns if name not in self.ignored_columns]
        self.ignored_columns += add_names
        add_examples(self.broken_row_examples, other.broken_row_examples)
        self.files += other.files

    def to_dict(self) -> dict[str, Any]:
        """As plain dicts and lists; `error` and `predicted` are included only where there is one."""
        found = asdict(self) | {"predicted": self.predicted.to_dict()}
        if not self.predicted.rows:
            del found["predicted"]
        for part in (found, *found["files"]):
            if part["error"] is None:
                del part["error"]
        return found

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, default=str)

    def __str__(self) -> str:
        lines = [f"{plural(self.rows, 'row')} in {self.seconds:.1f} s"]
        shares = [f"{label}: {rows:,}" for label, rows in self.predictions.items()]
        if shares:
            lines.append("predicted " + ", ".join(shares))
        if self.predicted.rows:
            lines.append(f"predicted {self.predicted}")
        for name, tally in self.columns.items():
            odd = [
                f"{count:,} {what}"
                for count, what in (
                    (tally.unreadable, "unreadable"),
                    (tally.unseen, f"unseen ({', '.join(tally.unseen_examples[:3])})"),
                    (tally.below, "below the training range"),
                    (tally.above, "above the training range"),
                )
                if count
            ]
            if odd:
                lines.append(f"column {name!r}: {', '.join(odd)}")
        holes = {name: tally.missing for name, tally in self.columns.items() if tally.missing}
        if holes:
            most = max(holes, key=holes.__getitem__)
            where = f"{len(holes)} columns, most in" if len(holes) > 1 else "column"
            lines.append(f"missing values in {where} {most!r}: {holes[most]:,}")
        if self.broken_rows:
            lines.append(f"{plural(self.broken_rows, 'broken row')} skipped")
        return "\n".join(lines)
