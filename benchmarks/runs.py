# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of scenario, and how each is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks import data, memory
from benchmarks.claims import OURS, Claim
from benchmarks.contestants import CONTESTANTS, Contestant, Task, accuracy
from benchmarks.data import Dataset
from benchmarks.measure import Timing, interleaved
from benchmarks.results import Entry

Jobs = dict[str, Callable[[], Any]]
CALLS = 200  # of predict_proba with one row, in one timing


@dataclass(frozen=True)
class Settings:
    threads: int = 2
    repeats: int = 5
    quick: bool = False
    say: Callable[[str], None] = field(default=lambda text: None)


@dataclass(frozen=True)
class Found:
    """What a run found: a description of the data, and an entry for each contestant."""

    data: str
    entries: list[Entry]


@dataclass(frozen=True)
class Scenario:
    """A row of the comparison."""

    name: str
    title: str
    contestants: tuple[str, ...]
    task: Task
    claims: tuple[Claim, ...]

    def run(self, settings: Settings) -> Found | None:
        """None if the data, or all the libraries, are not there."""
        raise NotImplementedError

    def own_jobs(self, settings: Settings) -> Jobs | None:
        """What is timed of this library alone, by contestant: {} if nothing is, None if the data are not there."""
        return {}

    def _present(self) -> dict[str, Contestant]:
        chosen = {name: CONTESTANTS[name] for name in self.contestants}
        return {name: contestant for name, contestant in chosen.items() if contestant.installed}

    def _own(self) -> dict[str, Contestant]:
        return {name: found for name, found in self._present().items() if name.startswith(OURS)}

    def _task(self, settings: Settings) -> Task:
        return replace(self.task, threads=settings.threads)


@dataclass(frozen=True)
class FitRace(Scenario):
    """Times fit(X, y), encoding and conversion included.

    The warm-up is a fit on 80 % of the rows, whose accuracy on the other 20 % is reported.
    """

    # Takes `quick` and gives the data; None if they are absent.
    load: Callable[[bool], Dataset | None]
    # A fit of a millisecond: one thread, many repeats, and no pauses between them.
    tiny: bool = False

    def run(self, settings: Settings) -> Found | None:
        task = self._task(settings)
        present = self._present()
        dataset = self.load(settings.quick) if present else None
        if dataset is None:
            return None
        train, test = dataset.split()
        held_out = {}
        for name, contestant in present.items():
            settings.say(f"warming up {name}")
            model = contestant.make(task).fit(train.X, train.y)
            held_out[name] = accuracy(model, test.X, test.y)
        del train
        settings.say("timing")
        timings = interleaved(
            _fits(present, task, dataset),
            settings.repeats * (40 if self.tiny else 1),
            settle=not self.tiny,
        )
        entries = []
        for name, contestant in present.items():
            model = timings[name].last_result
            entry = timed_entry(name, timings[name], contestant, model)
            entry.train_accuracy = accuracy(model, dataset.X, dataset.y)
            entry.held_out_accuracy = held_out[name]
            entries.append(entry)
        return Found(_describe(dataset), entries)

    def own_jobs(self, settings: Settings) -> Jobs | None:
        dataset = self.load(settings.quick)
        return dataset and _fits(self._own(), self._task(settings), dataset)

    def _task(self, settings: Settings) -> Task:
        return self.task if self.tiny else super()._task(settings)


@dataclass(frozen=True)
class PredictRace(Scenario):
    """Times predict_proba on many float32 rows by one tree that was grown on some of them."""

    n_rows: int
    n_columns: int
    n_train: int
    one_row: bool = False  # ... or on one row, many times

    def run(self, settings: Settings) -> Found | None:
        dataset, train = self._data(settings)
        models = self._models(self._present(), train, settings)
        jobs = self._jobs(models, dataset)
        for job in jobs.values():
            job()
        settings.say("timing")
        timings = interleaved(jobs, settings.repeats * 4)
        entries = []
        for name, model in models.items():
            timing = timings[name]
            if self.one_row:
                timing = timing.divided(CALLS)
            entry = timed_entry(name, timing, CONTESTANTS[name], model)
            entry.train_accuracy = accuracy(model, train.X, train.y)
            rest = slice(len(train.y), None)
            entry.held_out_accuracy = accuracy(model, dataset.X[rest], dataset.y[rest])
            entries.append(entry)
        described = "one row" if self.one_row else _describe(dataset)
        return Found(f"{described}, grown on {len(train.y):,} of them", entries)

    def own_jobs(self, settings: Settings) -> Jobs | None:
        dataset, train = self._data(settings)
        return self._jobs(self._models(self._own(), train, settings), dataset)

    def _data(self, settings: Settings) -> tuple[Dataset, Dataset]:
        """All the rows, and those to grow from."""
        shrink = 100 if settings.quick else 1
        dataset = data.classification(self.n_rows // shrink, self.n_columns, dtype=np.float32)
        return dataset, dataset.head(self.n_train // shrink)

    def _models(
        self, contestants: dict[str, Contestant], train: Dataset, settings: Settings
    ) -> dict[str, Any]:
        models = {}
        for name, contestant in contestants.items():
            settings.say(f"growing the tree of {name}")
            models[name] = contestant.make(self._task(settings)).fit(train.X, train.y)
        return models

    def _jobs(self, models: dict[str, Any], dataset: Dataset) -> Jobs:
        def predict(model: Any) -> Callable[[], Any]:
            if not self.one_row:
                return lambda: model.predict_proba(dataset.X)
            row = dataset.X[:1]
            return lambda: [model.predict_proba(row) for _ in range(CALLS)]

        return {name: predict(model) for name, model in models.items()}


@dataclass(frozen=True)
class Memory(Scenario):
    """Growth of the peak resident set over one fit, each contestant in a process of its own."""

    n_rows: int
    n_columns: int

    def run(self, settings: Settings) -> Found | None:
        n_rows = self.n_rows // (100 if settings.quick else 1)
        # Made here once, so that no child's memory remembers how the data came to be.
        description = _describe(data.classification(n_rows, self.n_columns))
        entries = []
        for name in self._present():
            settings.say(f"measuring {name}")
            found = memory.of_fit(name, self._task(settings), n_rows, self.n_columns)
            entries.append(Entry(name, bytes_a_cell=found.n_bytes / (n_rows * self.n_columns)))
        return Found(description, entries)


@dataclass(frozen=True)
class Growth(Scenario):
    """The time of one contestant's fit as the number of rows doubles."""

    sizes: tuple[int, ...]
    n_columns: int

    def run(self, settings: Settings) -> Found | None:
        sizes = self._sizes(settings)
        present = self._present()
        if not present:
            return None
        (contestant,) = present.values()
        jobs = self.own_jobs(settings)
        settings.say("warming up")
        for job in jobs.values():
            job()
        settings.say("timing")
        timings = interleaved(jobs, settings.repeats)
        entries = []
        for (name, timing), n_rows in zip(timings.items(), sizes, strict=True):
            entry = timed_entry(name, timing, contestant, timing.last_result)
            entry.rows = n_rows
            entries.append(entry)
        return Found(f"{min(sizes):,} to {max(sizes):,} x {self.n_columns} float64", entries)

    def own_jobs(self, settings: Settings) -> Jobs:
        (contestant,) = self._own().items()
        jobs: Jobs = {}
        for n_rows in self._sizes(settings):
            dataset = data.classification(n_rows, self.n_columns)
            (jobs[f"{n_rows:,} rows"],) = _fits(
                dict([contestant]), self._task(settings), dataset
            ).values()
        return jobs

    def _sizes(self, settings: Settings) -> list[int]:
        return [n // (100 if settings.quick else 1) for n in self.sizes]


def _fits(contestants: dict[str, Contestant], task: Task, dataset: Dataset) -> Jobs:
    def fit(contestant: Contestant) -> Callable[[], Any]:
        return lambda: contestant.make(task).fit(dataset.X, dataset.y)

    return {name: fit(contestant) for name, contestant in contestants.items()}


def timed_entry(name: str, timing: Timing, contestant: Contestant, model: Any) -> Entry:
    shape = contestant.shape(model)
    return Entry(name, timing.seconds, cores=timing.cores, leaves=shape.leaves, depth=shape.depth)


def _describe(dataset: Dataset) -> str:
    rows, columns = dataset.X.shape
    return f"{rows:,} x {columns} {dataset.X.dtype}, {dataset.n_classes} classes"
