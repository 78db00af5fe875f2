# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree score``: a model and data files become files of predictions."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from fasttree.cli.data import DECIMAL, DELIMITER, style_of
from fasttree.cli.errors import DataError, OutputError, UsageError
from fasttree.cli.help_text import help_text
from fasttree.cli.models import MODEL, check_output, load_model, write_file
from fasttree.cli.terminal import clean, plural, stderr

if TYPE_CHECKING:
    from fasttree.batch import Report

HELP = help_text(
    "Score data files of any size: a class for every row, in constant memory.",
    """[bold]Files.[/bold] CSV, TSV (also .gz, .bz2, .zst), Parquet, Feather and Arrow, by their endings. OUTPUT is a
    file for all the rows, or a folder (there already, or a name that ends in /) for a file of the same name for each
    input. An output is there whole or not at all, whatever ends the run.""",
    """[bold]Modes.[/bold] Columns are found by name, and others are ignored. A value of another type and a broken row
    of a CSV file are errors. --strict: columns that the model does not know and levels that it has not seen are errors,
    too. --lenient: what cannot be read is a missing value, and broken rows are left out; both are counted.""",
    examples=[
        "fasttree score patients.model visits.parquet -o scored.parquet",
        "fasttree score patients.model visits.csv -o scored.csv --columns id,age --proba",
        "fasttree score patients.model in/*.parquet -o out/ --resume --report report.json",
    ],
)
LOG_SECONDS = 10.0  # between two lines where there is no terminal


def score(
    model: Annotated[Path, MODEL],
    inputs: Annotated[
        list[Path], typer.Argument(help="Data files.", show_default=False, metavar="INPUT...")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUTPUT", help="A file, or a folder.")
    ],
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B", help="Columns to keep in the output, or all.", show_default=False
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class.")
    ] = False,
    leaf: Annotated[bool, typer.Option("--leaf", help="Add the number of the leaf.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the rule that leads to the leaf.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse unknown columns and levels.")
    ] = False,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Take what cannot be read for missing.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep the outputs that an earlier run has finished.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace outputs that are there.")] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Threads; -1 is one for each core.")
    ] = -1,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Format of the inputs: csv, parquet or arrow.", show_default=False
        ),
    ] = None,
    output_format: Annotated[
        str | None, typer.Option(metavar="NAME", help="Format of the outputs.", show_default=False)
    ] = None,
    delimiter: Annotated[str | None, DELIMITER] = None,
    decimal: Annotated[str, DECIMAL] = ".",
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report as JSON.", show_default=False),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress and no summary.")
    ] = False,
) -> None:
    if strict and lenient:
        raise UsageError("--strict and --lenient contradict each other: choose one")
    style = style_of(delimiter, decimal)
    if jobs == 0:
        raise UsageError("--jobs must not be 0: -1 is one thread for each core")
    fitted = load_model(model)
    _check_files(model, inputs, output, report)
    from fasttree.batch import ArgumentError, InputError, score_files
    from fasttree.batch import OutputError as CannotWrite

    try:
        with _progress(quiet) as on_progress:
            found = score_files(
                fitted,
                inputs,
                output,
                proba=proba,
                leaf=leaf,
                explain=explain,
                columns="all" if columns == "all" else _names(columns),
                mode="strict" if strict else "lenient" if lenient else "normal",
                n_jobs=jobs,
                input_format=format,
                output_format=output_format,
                delimiter=style.delimiter,
                decimal=style.decimal,
                force=force,
                resume=resume,
                on_progress=on_progress,
            )
    except InputError as error:
        raise DataError(str(error)) from error
    except CannotWrite as error:
        raise OutputError(error.strerror or str(error)) from error
    except ArgumentError as error:
        raise UsageError(str(error)) from error
    if report is not None:
        write_file(report, found.to_json() + "\n")
    if json:
        typer.echo(found.to_json())
    elif not quiet:
        _summary(found)


def _names(said: str | None) -> list[str]:
    """Names with commas between them, as in a line of CSV."""
    return [] if said is None else next(csv.reader([said]), [])


def _check_files(model: Path, inputs: list[Path], output: str, report: Path | None) -> None:
    """Nothing is written over what is read."""
    target = Path(output)
    if target.is_file() and target.samefile(model):
        raise OutputError(f"{output} is the model: write to another name")
    if report is None:
        return
    check_output(report, force=True)
    for path in (model, *inputs, target):
        if report.absolute() == path.absolute():
            raise UsageError(
                f"--report {report} is also the model, an input or the output: choose another name"
            )


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str, float, int], None]]:
    """A bar on a terminal, else a line every few seconds."""
    console = stderr()
    if quiet:
        yield lambda name, share, n_rows: None
    elif console.is_terminal:
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        done = TextColumn("{task.fields[rows]} rows")
        parts = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            done,
        )
        with Progress(*parts, console=console, transient=True) as bar:
            task = bar.add_task("Scoring", total=1.0, rows="0")
            yield lambda name, share, n_rows: bar.update(
                task,
                completed=share,
                description=escape(clean(Path(name).name)),
                rows=f"{n_rows:,}",
            )
    else:
        yield _Log()


class _Log:
    def __init__(self) -> None:
        self._started = self._latest = time.monotonic()

    def __call__(self, name: str, share: float, n_rows: int) -> None:
        now = time.monotonic()
        if now - self._latest < LOG_SECONDS:
            return
        self._latest = now
        speed = n_rows / (now - self._started)
        print(
            f"{clean(name)}: {share:.0%}, {n_rows:,} rows, {speed:,.0f} a second",
            file=sys.stderr,
            flush=True,
        )


def _summary(report: Report) -> None:
    console = stderr()
    for file in report.files:
        if file.rows == 0:
            console.print(
                f"Warning: {clean(file.input)} has no rows.", markup=False, soft_wrap=True
            )
    n_kept = sum(file.status == "kept" for file in report.files)
    if n_kept:
        console.print(f"{plural(n_kept, 'input')} scored before, left as they were", soft_wrap=True)
    for line in str(report).splitlines():
        console.print(clean(line), markup=False, soft_wrap=True)
