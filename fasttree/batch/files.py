# SPDX-License-Identifier: BSD-3-Clause
"""Scores files: each into one of its own, or all into one."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from fasttree._parallel import count_threads
from fasttree.atomic import atomic_file, check_replaceable
from fasttree.batch.csv_style import CsvStyle
from fasttree.batch.errors import ArgumentError, InputError, OutputError
from fasttree.batch.journal import Journal, job_of
from fasttree.batch.readers import Source, format_of, open_source
from fasttree.batch.report import FileReport, Report
from fasttree.batch.rows import Options, RowScorer, lay_out
from fasttree.batch.scorers import Scorer, scorer_of
from fasttree.batch.stream import stream
from fasttree.batch.writers import Writer
from fasttree.params import check_n_jobs

Progress = Callable[[str, float, int], Any]  # (input, share of the work that is done, rows written)


@dataclass(frozen=True, slots=True)
class Part:
    """One output and the inputs that go into it."""

    inputs: tuple[Path, ...]
    output: Path
    kind: str  # of the output


def score_files(
    model: Any,
    inputs: Sequence[str | Path],
    output: str | Path,
    *,
    proba: bool = False,
    leaf: bool = False,
    explain: bool = False,
    columns: Sequence[str] | str = (),
    mode: str = "normal",
    n_jobs: int | None = None,
    input_format: str | None = None,
    output_format: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    force: bool = False,
    resume: bool = False,
    on_progress: Progress = lambda name, share, n_rows: None,
) -> Report:
    """Score CSV, Parquet and Arrow files into files, in constant memory.

    `output` is a file into which all the rows go, or a folder (one that is there, or a name that ends in "/") that gets
    a file of the same name for each input. An output is there whole or not at all, whatever ends the process.

    `proba`, `leaf`, `explain`, `columns`, `mode` and `n_jobs` are those of `score_batches`; "lenient" also
    leaves out rows of a CSV file that have too few or too many values, and counts them. Formats go by the endings of
    the names unless they are given: "csv", "parquet" or "arrow". `delimiter` and `decimal` (a point or a comma) are
    those of CSV inputs. `force` replaces outputs that are there. `resume` keeps those that an earlier run has made of
    the same model, inputs and options, and makes the others. `on_progress` is told the input at hand, the share of the
    work that is done, and the rows written.

    Raises `InputError` for an input that cannot be read or does not fit the model, `OutputError` for an output that is
    there or cannot be written.
    """
    started = time.perf_counter()
    options = Options(proba, leaf, explain, columns, mode)
    style = CsvStyle(delimiter, decimal)
    paths = [Path(path) for path in inputs]
    parts, is_folder = _plan(paths, Path(output), str(output), input_format, output_format)
    run = _Run(scorer_of(model), options, n_jobs, input_format, style, on_progress, len(paths))
    folder = parts[0].output.parent
    with _writing(folder):
        if is_folder:
            folder.mkdir(parents=True, exist_ok=True)
        journal = Journal(folder) if is_folder or resume else None
    jobs = [run.job(part) for part in parts]
    wanted = [
        _is_wanted(part.output, job, journal, force, resume)
        for part, job in zip(parts, jobs, strict=True)
    ]
    for part, job, is_wanted in zip(parts, jobs, wanted, strict=True):
        if is_wanted:
            run.make(part, job, journal)
        else:
            run.keep(part)
    run.report.seconds = time.perf_counter() - started
    return run.report


# -- before the work -----------------------------------------------------------------------------------------------


def _plan(
    inputs: list[Path],
    output: Path,
    said: str,
    input_format: str | None,
    output_format: str | None,
) -> tuple[list[Part], bool]:
    """What goes where; and whether the output is a folder."""
    if not inputs:
        raise ArgumentError("there are no inputs: name at least one file")
    kinds = [format_of(path, input_format) for path in inputs]
    if not (output.is_dir() or said.endswith(("/", os.sep))):
        parts = [Part(tuple(inputs), output, format_of(output, output_format))]
    else:
        parts = [
            Part((path,), output / path.name, output_format or kind)
            for path, kind in zip(inputs, kinds, strict=True)
        ]
    first_of: dict[Path, Path] = {}
    for part in parts:
        path = part.inputs[0]
        other = first_of.setdefault(part.output, path)
        if other is not path:
            raise ArgumentError(
                f"{other} and {path} would both become {part.output}: score them into different folders"
            )
    for path in inputs:
        if not path.exists():
            raise InputError(f"{path} does not exist.")
    for part in parts:
        _check_target(part)
    return parts, parts[0].output != output


def _check_target(part: Part) -> None:
    output = part.output
    try:
        check_replaceable(output)
    except OSError as error:
        raise OutputError(f"{error.strerror or error}.") from None
    if output.exists() and any(output.samefile(path) for path in part.inputs):
        raise OutputError(f"{output} is also an input: write to another name.")


def _is_wanted(output: Path, job: str, journal: Journal | None, force: bool, resume: bool) -> bool:
    """Is an output to be made? Not if it is there, as it should be."""
    if not output.exists():
        return True
    if resume and journal is not None:
        if journal.is_made_by(output, job):
            return False
        if journal.knows(output):  # one of ours, of another model or of an input that has changed
            return True
    if force:
        return True
    why = ", and no earlier run has noted that it made it" if resume else ""
    raise OutputError(f"{output} exists{why}: write to another name, or replace it (--force).")


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """What goes wrong with the disk, in words that name the file."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(
            error.errno, f"{path} cannot be written: {error.strerror or error}"
        ) from None


# -- the work ------------------------------------------------------------------------------------------------------


class _Run:
    def __init__(
        self,
        scorer: Scorer,
        options: Options,
        n_jobs: int | None,
        input_format: str | None,
        style: CsvStyle,
        on_progress: Progress,
        n_inputs: int,
    ) -> None:
        self.scorer, self.options, self.n_jobs = scorer, options, check_n_jobs(n_jobs)
        self.input_format, self.style = input_format, style
        self.on_progress, self.n_inputs, self.n_done = on_progress, n_inputs, 0
        self.report = Report()
        self._identity = scorer.identity()

    def job(self, part: Part) -> str:
        settings = (self.options, self.input_format, self.style, part.kind)
        return job_of(self._identity, part.inputs, settings)

    def keep(self, part: Part) -> None:
        for path in part.inputs:
            self.report.files.append(FileReport(str(path), str(part.output), None, "kept"))
            self.n_done += 1
        self.on_progress(str(part.inputs[-1]), self.n_done / self.n_inputs, self.report.rows)

    def make(self, part: Part, job: str, journal: Journal | None) -> None:
        with _writing(part.output), atomic_file(part.output) as file:
            writer: Writer | None = None
            try:
                for path in part.inputs:
                    with contextlib.closing(
                        open_source(path, self.input_format, self.style)
                    ) as source:
                        writer = self._add(source, part, file, writer)
                    self.n_done += 1
                assert writer is not None
                writer.close()
            finally:
                if writer is not None:
                    with contextlib.suppress(Exception):  # the file is given up then
                        writer.close()
            if journal is not None:
                file.flush()
                journal.note(part.output, job, os.fstat(file.fileno()))

    def _add(self, source: Source, part: Part, file: IO[bytes], writer: Writer | None) -> Writer:
        """Score a file to the end of an output."""
        layout = lay_out(self.scorer, source.names, self.options, str(source.path))
        attributes = zip(self.scorer.schema.attributes, layout.attributes, strict=True)
        schema = source.open(layout.needed, [name for a, name in attributes if a.is_categorical])
        rows = RowScorer(self.scorer, schema, layout, self.options, source.style)
        if writer is None:
            writer = Writer(file, rows.output_schema, part.kind, part.output.name)
        writer.check(rows.output_schema, f"{source.path}", f"{part.inputs[0]}")
        path = str(source.path)
        report = Report(ignored_columns=list(layout.ignored))
        before = self.report.rows

        def on_rows(_: int) -> None:
            share = (self.n_done + source.done()) / self.n_inputs
            self.on_progress(path, share, before + report.rows)

        threads = count_threads(self.n_jobs) > 1
        batches = source.batches(self.options.lenient, threads)
        stream(rows, batches, writer.write, report, source.where, self.n_jobs, on_rows)
        report.broken_rows = source.broken_rows
        report.broken_row_examples = source.broken_row_examples
        report.files = [FileReport(path, str(part.output), report.rows, "scored")]
        self.report.add(report)
        return writer
