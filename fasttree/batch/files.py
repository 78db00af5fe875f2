# SPDX-License-Identifier: BSD-3-Clause
"""Scores files: each into one of its own, or all into one."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fasttree.base.atomic import check_replaceable
from fasttree.batch.inputs import expand, is_standard
from fasttree.batch.journal import Journal
from fasttree.batch.models import scorer_of
from fasttree.batch.report import FileReport, Report
from fasttree.batch.run import Part, Progress, Run, writing
from fasttree.batch.score_batch import Options
from fasttree.files.csv_style import CsvStyle
from fasttree.files.errors import ArgumentError, InputError, OutputError
from fasttree.files.readers import format_of


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
    keep_going: bool = False,
    on_progress: Progress = lambda name, share, n_rows: None,
    report: Report | None = None,
) -> Report:
    """Score CSV, Parquet and Arrow files and write the predictions to files, in constant memory.

    `inputs` are files, folders (the data files in them, in the order of their names), patterns such as
    ``"in/**/*.csv"``, or "-", the standard input. `output` is a file for all the rows, a folder (an existing one, or a
    name that ends in "/") for one file of the same name per input, or "-", the standard output. An output file is
    either complete or not written at all, however the process ends.

    `proba`, `leaf`, `explain`, `columns`, `mode` and `n_jobs` are those of `score_batches`; "lenient" also skips and
    counts the rows of a CSV file that have too few or too many values. The formats are determined by the file
    extensions unless they are given: "csv" (the default for "-"), "parquet" or "arrow". `delimiter` and `decimal` ("."
    or ",") are those of CSV inputs. `force` overwrites existing outputs. `resume` keeps the outputs that an earlier run
    wrote for the same model, inputs and options, and writes the others. `on_progress` is called with the current
    input, the fraction of the work that is done, and the number of rows written.

    Raises `InputError` for an input that cannot be read or does not fit the model, and `OutputError` for an output that
    already exists or cannot be written. With `keep_going`, such an input is skipped with all its rows and listed in
    ``report.failed``. If a `report` is passed, it is filled during the run and is available even if the run fails.
    """
    started = time.perf_counter()
    report = Report() if report is None else report
    parts: list[Part] = []
    try:
        options = Options(proba, leaf, explain, columns, mode)
        style = CsvStyle(delimiter, decimal)
        paths = expand(inputs)
        parts, is_folder = _plan(
            paths, Path(output), str(output), input_format, output_format, keep_going, resume
        )
        run = Run(
            scorer_of(model),
            options,
            n_jobs,
            input_format,
            style,
            on_progress,
            len(paths),
            report,
            keep_going,
        )
        _score(run, parts, is_folder, force, resume)
    except BaseException as error:
        report.error = str(error) or type(error).__name__
        told = {(file.input, file.output) for file in report.files}
        for part in parts:
            for path in part.inputs:
                if (str(path), str(part.output)) not in told:
                    report.files.append(FileReport(str(path), str(part.output), None, "not scored"))
        raise
    finally:
        report.seconds = time.perf_counter() - started
    return report


def _score(run: Run, parts: list[Part], is_folder: bool, force: bool, resume: bool) -> None:
    folder = parts[0].output.parent
    with writing(str(folder)):
        if is_folder:
            folder.mkdir(parents=True, exist_ok=True)
        journal = Journal(folder) if is_folder or resume else None
    jobs = [run.job(part) if journal is not None else "" for part in parts]
    wanted = [
        _is_wanted(part.output, job, journal, force, resume)
        for part, job in zip(parts, jobs, strict=True)
    ]
    for part, job, is_wanted in zip(parts, jobs, wanted, strict=True):
        if is_wanted:
            run.make(part, job, journal)
        else:
            run.keep(part)


# -- before the work -----------------------------------------------------------------------------------------------


def _plan(
    inputs: list[Path],
    output: Path,
    said: str,
    input_format: str | None,
    output_format: str | None,
    keep_going: bool,
    resume: bool,
) -> tuple[list[Part], bool]:
    """What goes where; and whether the output is a folder."""
    if not inputs:
        raise ArgumentError("inputs is empty: give at least one file")
    kinds = [format_of(path, input_format) for path in inputs]
    if resume and (is_standard(output) or any(map(is_standard, inputs))):
        raise ArgumentError(
            "resume is not supported with the standard input or output: use files instead of '-', or leave resume out"
        )
    if is_standard(output) or not (output.is_dir() or said.endswith(("/", os.sep))):
        parts = [Part(tuple(inputs), output, format_of(output, output_format))]
    elif any(map(is_standard, inputs)):
        raise ArgumentError(
            f"the standard input has no name for an output file in {output}: use a file as the output"
        )
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
                f"{other} and {path} would both be written to {part.output}: use different output folders"
            )
    for path in inputs:
        if not (keep_going or is_standard(path) or path.exists()):
            raise InputError(f"{path} does not exist.")
    for part in parts:
        _check_target(part)
    return parts, parts[0].output != output


def _check_target(part: Part) -> None:
    output = part.output
    if is_standard(output):
        return
    try:
        check_replaceable(output)
    except OSError as error:
        raise OutputError(f"{error.strerror or error}.") from None
    if output.exists() and any(path.exists() and output.samefile(path) for path in part.inputs):
        raise OutputError(f"{output} is also an input: choose another name.")


def _is_wanted(output: Path, job: str, journal: Journal | None, force: bool, resume: bool) -> bool:
    """Is an output to be made? Not if it is there, as it should be."""
    if is_standard(output) or not output.exists():
        return True
    if resume and journal is not None:
        if journal.is_made_by(output, job):
            return False
        if journal.knows(output):  # one of ours, of another model or of an input that has changed
            return True
    if force:
        return True
    why = " and is not recorded as the output of an earlier run" if resume else ""
    raise OutputError(
        f"{output} already exists{why}: choose another name, or overwrite it (--force)."
    )
