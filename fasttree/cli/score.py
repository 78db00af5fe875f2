# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree score``: a model and data files become files of predictions."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from fasttree.cli import exit_codes, lists, options
from fasttree.cli.errors import DataError, OutputError, UsageError
from fasttree.cli.help_text import help_text
from fasttree.cli.models import load_model
from fasttree.cli.score_report import empty_report, reporting, say_failed, summarise
from fasttree.cli.terminal import stderr
from fasttree.cli.training_data import style_of
from fasttree.draw.terminal_text import clean

if TYPE_CHECKING:
    from fasttree.files.csv_style import CsvStyle

HELP = help_text(
    "Score data files of any size in constant memory: a class, or a number, for every row.",
    """[bold]Files.[/bold] CSV, TSV (also .gz, .bz2, .zst), Parquet, Feather and Arrow, by file extension. INPUT may
    also be a folder (the data files in it, sorted), a quoted pattern such as 'in/**/*.csv', or - for stdin. OUTPUT is
    a file for all the rows, a folder (an existing one, or a name that ends in /) for one file of the same name per
    input, or - for stdout. An output file is either complete or not written at all, however the run ends.""",
    """[bold]Modes.[/bold] Columns are matched by name, and others are ignored. A value of the wrong type and a broken
    row of a CSV file are errors. --strict: unknown columns and unseen categories are errors, too. --lenient: values
    that cannot be read are treated as missing, and broken rows are skipped; both are counted.""",
    """[bold]Bad inputs.[/bold] The first one ends the run. --keep-going: bad inputs are skipped with all their rows
    and listed on stderr and in the report, the others are scored, and the exit code is 6 (3 if none could be
    scored).""",
    examples=[
        "fasttree score patients.model visits.parquet -o scored.parquet",
        "fasttree score patients.model visits.csv -o scored.csv --columns id,age --proba",
        "fasttree score patients.model in/ -o out/ --resume --keep-going --report report.json",
        "zcat visits.csv.gz | fasttree score patients.model - -o - | head",
    ],
)
LOG_SECONDS = 10.0  # between two lines where there is no terminal


def score(
    model: options.Model,
    inputs: Annotated[
        list[Path],
        typer.Argument(
            help="Data files, folders, patterns, or - for stdin.",
            show_default=False,
            metavar="INPUT...",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUTPUT", help="File, folder, or - for stdout.")
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="Input columns to keep in the output (also repeatable), or all."
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
        bool, typer.Option("--strict", help="Reject unknown columns and unseen categories.")
    ] = False,
    lenient: Annotated[
        bool,
        typer.Option(
            "--lenient", help="Treat values that cannot be read as missing, and skip broken rows."
        ),
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep the outputs that an earlier run completed.")
    ] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Skip bad inputs, and score the others.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing outputs.")] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Number of threads; -1: one for each core.")
    ] = -1,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Format of the inputs: csv (default for -), parquet or arrow."
        ),
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Format of the outputs: csv, parquet or arrow."),
    ] = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = ".",
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report as JSON, even if the run fails."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")
    ] = False,
) -> None:
    found = empty_report(report, [model, *_files(inputs), Path(output)])
    with reporting(report, found):
        if strict and lenient:
            raise UsageError("--strict and --lenient contradict each other: choose one")
        style = style_of(delimiter, decimal)
        if jobs == 0:
            raise UsageError(
                "--jobs must not be 0: give the number of threads, or -1 for one thread for each core"
            )
        _check_stdout(output, output_format, json)
        fitted = load_model(model)
        _check_output(model, output)
        from fasttree.batch import score_files

        with _explained(), _progress(quiet) as on_progress:
            score_files(
                fitted,
                inputs,
                output,
                proba=proba,
                leaf=leaf,
                explain=explain,
                columns=_columns(columns, inputs, format, style),
                mode="strict" if strict else "lenient" if lenient else "normal",
                n_jobs=jobs,
                input_format=format,
                output_format=output_format,
                delimiter=style.delimiter,
                decimal=style.decimal,
                force=force,
                resume=resume,
                keep_going=keep_going,
                on_progress=on_progress,
                report=found,
            )
    if json:
        typer.echo(found.to_json())
    elif not quiet:
        summarise(found)
    if found.failed:
        say_failed(found)
        raise typer.Exit(
            exit_codes.SOME_BAD if len(found.failed) < len(found.files) else exit_codes.BAD_DATA
        )


@contextmanager
def _explained() -> Iterator[None]:
    from fasttree.batch import ArgumentError, InputError
    from fasttree.batch import OutputError as CannotWrite

    try:
        yield
    except InputError as error:
        raise DataError(str(error)) from error
    except CannotWrite as error:
        raise OutputError(error.strerror or str(error)) from error
    except ArgumentError as error:
        raise UsageError(str(error)) from error


def _columns(
    given: list[str] | None, inputs: list[Path], format: str | None, style: CsvStyle
) -> list[str] | str:
    """The columns to be kept. A name with a comma is known by the first input that has names."""
    if not given:
        return []
    if "all" in given:
        if set(given) != {"all"}:
            raise UsageError("--columns all keeps every column: leave the other names out")
        return "all"
    if not any(map(lists.is_list, given)):
        return list(dict.fromkeys(given))
    from fasttree.batch import ArgumentError, InputError
    from fasttree.batch.inputs import is_standard, opened

    names: list[str] = []
    for path in _files(inputs):
        if not names and not is_standard(path):
            with suppress(ArgumentError, InputError), opened(path, format, style) as source:
                names = source.names
    return lists.columns(given, names, "--columns")


def _files(inputs: list[Path]) -> list[Path]:
    """What the inputs stand for; as they are if that cannot be said, which is an error of the run."""
    from fasttree.batch import ArgumentError, InputError
    from fasttree.batch.inputs import expand

    try:
        return expand(inputs)
    except (ArgumentError, InputError):
        return inputs


def _check_stdout(output: str, output_format: str | None, json: bool) -> None:
    if output != "-":
        return
    if json:
        raise UsageError("--json and -o - both go to stdout: write the report to a file (--report)")
    if output_format not in (None, "csv") and sys.stdout.isatty():
        raise UsageError(f"{output_format} is a binary format: write it to a file or a pipe")


def _check_output(model: Path, output: str) -> None:
    target = Path(output)
    if target.is_file() and target.samefile(model):
        raise OutputError(f"{output} is the model file: choose another name")


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str, float, int], None]]:
    """A bar on a terminal, else a line every few seconds."""
    console = stderr()
    if quiet:
        yield lambda name, share, n_rows: None
    elif console.is_terminal:
        from rich import progress

        columns = (
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[rows]} rows"),
        )
        with progress.Progress(*columns, console=console, transient=True) as bar:
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
            f"{clean(name)}: {share:.0%}, {n_rows:,} rows, {speed:,.0f} rows per second",
            file=sys.stderr,
            flush=True,
        )
