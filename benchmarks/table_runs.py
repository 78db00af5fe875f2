# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of scenario that take tables as they come: words, holes, many levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks import memory, tables
from benchmarks.claims import OURS
from benchmarks.contestants import Contestant, accuracy
from benchmarks.measure import interleaved
from benchmarks.memory import Limits
from benchmarks.results import Entry
from benchmarks.runs import Found, Jobs, Scenario, Settings, timed_entry
from benchmarks.tables import TextTable

QUICK_ROWS = 2_000
ROUNDS = 5  # for one that is asked for: forms of one table differ by little


@dataclass(frozen=True)
class FrameRace(Scenario):
    """Times fit(X, y) of a real table, each contestant's in its own form.

    The warm-up is a fit on 80 % of the rows, whose accuracy on the other 20 % is reported.
    """

    table: str
    # The table's rows are repeated up to here.
    n_rows: int | None = None

    def run(self, settings: Settings) -> Found | None:
        present = self._present()
        table = self._table(settings) if present else None
        if table is None:
            return None
        train, test = table.split()
        task = self._task(settings)
        held_out = {}
        for name, contestant in present.items():
            settings.say(f"warming up {name}")
            model = contestant.make(task).fit(*train.as_form(contestant.form))
            held_out[name] = accuracy(model, *test.as_form(contestant.form))
        table = self._repeated(table, settings)
        settings.say("timing")
        forms = {contestant.form: None for contestant in present.values()}
        frames = {form: table.as_form(form) for form in forms}
        timings = interleaved(self._jobs(present, frames, settings), settings.repeats * ROUNDS)
        entries = []
        for name, contestant in present.items():
            model = timings[name].last_result
            entry = timed_entry(name, timings[name], contestant, model)
            if self.n_rows is None:  # else the rows recur, and accuracies say nothing
                entry.train_accuracy = accuracy(model, *frames[contestant.form])
                entry.held_out_accuracy = held_out[name]
            entries.append(entry)
        return Found(table.description, entries)

    def own_jobs(self, settings: Settings) -> Jobs | None:
        table, own = self._table(settings), self._own()
        if table is None:
            return None
        table = self._repeated(table, settings)
        frames = {contestant.form: table.as_form(contestant.form) for contestant in own.values()}
        return self._jobs(own, frames, settings)

    def _table(self, settings: Settings) -> TextTable | None:
        table = tables.text_table(self.table)
        return table.repeated(QUICK_ROWS) if settings.quick and table else table

    def _repeated(self, table: TextTable, settings: Settings) -> TextTable:
        if self.n_rows is None:
            return table
        return table.repeated(self.n_rows // (100 if settings.quick else 1))

    def _jobs(
        self, contestants: dict[str, Contestant], frames: dict[str, Any], settings: Settings
    ) -> Jobs:
        task = self._task(settings)

        def fit(contestant: Contestant) -> Callable[[], Any]:
            return lambda: contestant.make(task).fit(*frames[contestant.form])

        return {name: fit(contestant) for name, contestant in contestants.items()}


@dataclass(frozen=True)
class EncodeRace(Scenario):
    """Times one column of text to codes; the contestants are ways to do that, not trees."""

    n_rows: int
    n_levels: int

    def run(self, settings: Settings) -> Found | None:
        jobs = self._jobs(settings)
        if jobs is None:
            return None
        for job in jobs.values():
            job()
        settings.say("timing")
        timings = interleaved(jobs, settings.repeats * 4)
        entries = [Entry(name, t.seconds, cores=t.cores) for name, t in timings.items()]
        return Found(f"{self._rows(settings):,} x 1 mixed, {self.n_levels:,} levels", entries)

    def own_jobs(self, settings: Settings) -> Jobs | None:
        jobs = self._jobs(settings)
        return jobs and {name: job for name, job in jobs.items() if name.startswith(OURS)}

    def _rows(self, settings: Settings) -> int:
        return self.n_rows // (100 if settings.quick else 1)

    def _jobs(self, settings: Settings) -> Jobs | None:
        if not all(map(find_spec, tables.LIBRARIES)):
            return None
        import pandas
        import polars
        import pyarrow

        try:
            from fasttree.tables.training import read_table
        except ImportError:  # an older build, beside which this one is measured
            read_table = import_module("fasttree.frames").read_table

        words = tables.words(self._rows(settings), self.n_levels).tolist()
        arrow = pyarrow.table({"text": pyarrow.array(words)})
        frame, series = polars.from_arrow(arrow), arrow.column("text").to_pandas()
        objects = pandas.Series(words, dtype=object)
        return {
            "fasttree, polars": lambda: read_table(frame),
            "fasttree, Arrow": lambda: read_table(arrow),
            "polars cast": lambda: frame["text"].cast(polars.Categorical),
            "pandas factorize": lambda: series.factorize(),
            "pandas factorize, objects": lambda: objects.factorize(),
        }


@dataclass(frozen=True)
class TableMemory(Scenario):
    """Growth of the peak resident set over one fit of a made table, in a process of its own."""

    source: str
    n_rows: int
    n_columns: int
    limits: Limits | None = None

    def run(self, settings: Settings) -> Found | None:
        if find_spec("pyarrow") is None:
            return None
        n_rows = self.n_rows // (100 if settings.quick else 1)
        entries = []
        for name in self._present():
            settings.say(f"measuring {name}")
            found = memory.of_fit(
                name, self._task(settings), n_rows, self.n_columns, self.source, self.limits
            )
            entry = Entry(name, rows=n_rows, bytes_in_all=found.n_bytes, stopped=found.stopped)
            entries.append(entry)
        return Found(f"{n_rows:,} x {self.n_columns} mixed, {self.source}", entries)
