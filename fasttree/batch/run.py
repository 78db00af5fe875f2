# SPDX-License-Identifier: BSD-3-Clause
"""One run over files: each input is scored to the end of its output."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from fasttree.base.atomic import atomic_file
from fasttree.base.checks import check_n_jobs
from fasttree.base.threads import count_threads
from fasttree.batch.inputs import is_standard, opened
from fasttree.batch.journal import Journal, job_of
from fasttree.batch.models import Scorer
from fasttree.batch.report import FileReport, Report
from fasttree.batch.score_batch import Options, RowScorer, lay_out
from fasttree.batch.stream import stream
from fasttree.files.csv_style import CsvStyle
from fasttree.files.errors import InputError, OutputError
from fasttree.files.readers import Source
from fasttree.files.writers import Held, Output

Progress = Callable[[str, float, int], Any]  # (input, share of the work that is done, rows written)


@dataclass(frozen=True, slots=True)
class Part:
    """One output and the inputs that go into it."""

    inputs: tuple[Path, ...]
    output: Path
    kind: str  # of the output

    @property
    def name(self) -> str:
        """Of the output, in messages."""
        return "the standard output" if is_standard(self.output) else str(self.output)


@dataclass(slots=True)
class Run:
    """What all the outputs of a run share, and how far it is."""

    scorer: Scorer
    options: Options
    n_jobs: int | None
    input_format: str | None
    style: CsvStyle
    on_progress: Progress
    n_inputs: int
    report: Report
    keep_going: bool
    n_done: int = 0  # inputs
    identity: str = field(init=False)  # of the model

    def __post_init__(self) -> None:
        self.n_jobs = check_n_jobs(self.n_jobs)
        self.identity = self.scorer.identity()

    def job(self, part: Part) -> str:
        settings = (self.options, self.input_format, self.style, part.kind)
        return job_of(self.identity, part.inputs, settings)

    def keep(self, part: Part) -> None:
        for path in part.inputs:
            self.report.files.append(FileReport(str(path), str(part.output), None, "kept"))
            self.n_done += 1
        self.on_progress(str(part.inputs[-1]), self.n_done / self.n_inputs, self.report.rows)

    def make(self, part: Part, job: str, journal: Journal | None) -> None:
        """Score the inputs of an output. What has been scored counts once the output is there."""
        found = Report()
        try:
            with writing(part.name), _opened(part.output) as file:
                with Output(file, part.kind, part.output.name, is_standard(part.output)) as output:
                    for path in part.inputs:
                        self._try(path, part, output, found)
                    if len(found.failed) == len(part.inputs):
                        raise _NothingScored
                if journal is not None:
                    file.flush()
                    made_of = f"{job} in part" if found.failed else job  # made again by a later run
                    journal.note(part.output, made_of, os.fstat(file.fileno()))
        except _NothingScored:
            pass
        except BaseException:
            found = Report(files=found.failed)  # the output is not whole, so nothing counts
            raise
        finally:
            self.report.add(found)

    def _try(self, path: Path, part: Part, output: Output, found: Report) -> None:
        try:
            with opened(path, self.input_format, self.style) as source:
                seen = self._score(source, part, output, found.rows)
        except InputError as error:
            found.files.append(
                FileReport(str(path), str(part.output), None, "failed", error=str(error))
            )
            if not self.keep_going:
                raise
        else:
            seen.files = [FileReport(str(path), str(part.output), seen.rows, "scored")]
            found.add(seen)
        self.n_done += 1

    def _score(self, source: Source, part: Part, output: Output, n_before: int) -> Report:
        """Score an input to the end of an output; all of its rows or, if there are others that stay, none."""
        layout = lay_out(self.scorer, source.names, self.options, str(source.path))
        attributes = zip(self.scorer.schema.attributes, layout.attributes, strict=True)
        schema = source.open(layout.needed, [name for a, name in attributes if a.is_categorical])
        rows = RowScorer(self.scorer, schema, layout, self.options, source.style)
        path = str(source.path)
        report = Report(ignored_columns=list(layout.ignored))
        n_before += self.report.rows

        def on_rows(_: int) -> None:
            share = (self.n_done + source.done()) / self.n_inputs
            self.on_progress(path, share, n_before + report.rows)

        threads = count_threads(self.n_jobs) > 1
        batches = source.batches(self.options.lenient, threads)
        is_alone = len(part.inputs) == 1 and not is_standard(part.output)
        with contextlib.ExitStack() as stack:
            held = None
            if self.keep_going and not is_alone:
                held = stack.enter_context(Held(rows.output_schema, part.output))
            else:
                output.begin(rows.output_schema, path)
            write = output.write if held is None else held.write
            stream(rows, batches, write, report, source.where, self.n_jobs, on_rows)
            if held is not None:
                output.begin(rows.output_schema, path)
                for batch in held.batches():
                    output.write(batch)
        report.broken_rows = source.broken_rows
        report.broken_row_examples = source.broken_row_examples
        return report


class _NothingScored(Exception):
    """An output would be without any input: what stood under its name stays."""


@contextlib.contextmanager
def _opened(output: Path) -> Iterator[IO[bytes]]:
    if not is_standard(output):
        with atomic_file(output) as file:
            yield file
        return
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


@contextlib.contextmanager
def writing(name: str) -> Iterator[None]:
    """What goes wrong with the disk, in words that name the file."""
    try:
        yield
    except (OutputError, BrokenPipeError):  # the latter is for who reads the standard output
        raise
    except OSError as error:
        raise OutputError(
            error.errno, f"{name} cannot be written: {error.strerror or error}"
        ) from None
