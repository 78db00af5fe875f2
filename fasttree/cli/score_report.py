# SPDX-License-Identifier: BSD-3-Clause
"""What ``fasttree score`` tells of a run: on stderr, and in the file that ``--report`` names."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fasttree.base.wording import plural
from fasttree.cli.errors import OutputError, UsageError
from fasttree.cli.models import check_output, write_file
from fasttree.cli.terminal import print_marked, stderr
from fasttree.draw.terminal_text import clean

if TYPE_CHECKING:
    from fasttree.batch import Report


def empty_report(path: Path | None, others: Sequence[Path]) -> Report:
    """To be filled by the run. Its file is none of the others."""
    from fasttree.batch import Report

    if path is None:
        return Report()
    if path == Path("-"):
        raise UsageError("--report must be a file, got -: use --json to print the report to stdout")
    check_output(path, force=True)
    for other in others:
        if path.absolute() == other.absolute() or (
            path.exists() and other.exists() and path.samefile(other)
        ):
            raise UsageError(
                f"--report {path} is also the model, an input or the output: choose another name"
            )
    return Report()


@contextmanager
def reporting(path: Path | None, report: Report) -> Iterator[None]:
    """The report is written however the block ends: what is left of an earlier run would tell of other work."""
    try:
        yield
    except BaseException as error:
        report.error = str(error) or type(error).__name__
        try:
            _write(path, report)
        except OutputError as wrong:
            warnings.warn(f"the report of this run was not written: {wrong}", stacklevel=2)
        raise
    _write(path, report)


def _write(path: Path | None, report: Report) -> None:
    if path is not None:
        write_file(path, report.to_json() + "\n")


def summarise(report: Report) -> None:
    console = stderr()
    for file in report.files:
        if file.rows == 0:
            console.print(
                f"Warning: {clean(file.input)} has no rows.", markup=False, soft_wrap=True
            )
    n_kept = sum(file.status == "kept" for file in report.files)
    if n_kept:
        console.print(
            f"{plural(n_kept, 'input')} already scored by an earlier run, outputs kept",
            soft_wrap=True,
        )
    for line in str(report).splitlines():
        console.print(clean(line), markup=False, soft_wrap=True)


def say_failed(report: Report) -> None:
    """The inputs that were left out."""
    for file in report.failed:
        print_marked("Error", "red", clean(file.error or file.input))
    stderr().print(
        f"{len(report.failed):,} of {plural(len(report.files), 'input')} could not be scored",
        soft_wrap=True,
    )
