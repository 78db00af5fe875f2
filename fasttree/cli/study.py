# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree study``: whole studies, from a table to the numbers."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fasttree.base.wording import near
from fasttree.cli import lists, options
from fasttree.cli.columns import print_columns, read_columns
from fasttree.cli.errors import DataError, UsageError, blame
from fasttree.cli.help_text import help_text
from fasttree.cli.models import check_output, write_file
from fasttree.cli.terminal import counting, grid, stdout, waiting
from fasttree.cli.training_data import style_of
from fasttree.draw.terminal_text import clean

if TYPE_CHECKING:
    from rich.console import Console

    from fasttree.files.csv_style import CsvStyle
    from fasttree.studies.results import StudyResult
    from fasttree.studies.tables import TextTable
    from fasttree.tables.column_list import ColumnList

QUICK_SEEDS = 3
HELP = help_text(
    "Run a complete study: from a table to all the numbers of a report.",
    examples=("fasttree study cesarean --quick", "fasttree study cesarean --help"),
)
CESAREAN_HELP = help_text(
    "Compare tree methods with logistic regression on cesarean delivery, or on your own table.",
    """Each group of rows is repeatedly split in half: every method is trained on one half and evaluated by its AUC on
    the other. Without --data, the rows are a synthetic cohort with the margins of a published Table 1.""",
    examples=(
        "fasttree study cesarean --quick -o report.html",
        "fasttree study cesarean --seeds 10 --json study.json",
        "fasttree study cesarean --data births.csv -t cesarean --by parity",
    ),
)

app = typer.Typer(help=HELP)


@app.callback(invoke_without_command=True)
def _help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(help=CESAREAN_HELP)
def cesarean(
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your own table: CSV, TSV, Parquet, Feather or Arrow."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", metavar="COL", help="Column with the outcome, which has two classes."
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Column whose values are groups, studied separately."),
    ] = None,
    event: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="Outcome to predict (default: the second class)."),
    ] = None,
    drop: options.Drop = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = ".",
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="Number of splits.")] = 10,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods", "-m", metavar="A,B", help="Only these methods (also repeatable)."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help=f"{QUICK_SEEDS} splits instead of --seeds.")
    ] = False,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write all the numbers as JSON.")
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Also write a report: .html or .md (also A,B, or repeatable).",
        ),
    ] = None,
    force: options.Force = False,
) -> None:
    from fasttree.studies import cesarean as study
    from fasttree.studies.methods import METHODS, check_methods
    from fasttree.studies.report import check_ending

    named = None if methods is None else lists.listed(methods, "--methods")
    for name in named or ():
        if name.lower() not in map(str.lower, METHODS):
            raise UsageError(
                f"--methods names {name!r}, which is not a known method: {near(name, METHODS)}"
            )
    with blame(UsageError, "--methods: "):
        chosen = check_methods(named)
    reports = [Path(name) for name in lists.listed(output, "--output")]
    with blame(UsageError, "--output: "):
        for path in reports:
            check_ending(path)
    style = style_of(delimiter, decimal)
    for path in [*reports, *([json] if json is not None else [])]:
        check_output(path, force, [data])
    table = _table(data, target, by, drop or [], style)
    prefix = "" if data is None else f"{data}: "
    from fasttree.tables.doubts import speaking

    with blame(DataError, prefix):
        columns = _columns(data, table, target, by) if data or json else None
    if data is not None and columns:
        print_columns(columns)
    with counting("Studying") as progress, blame(DataError, prefix), speaking(None):
        result = study.run(
            table,
            target,
            by,
            event=event,
            seeds=QUICK_SEEDS if quick else seeds,
            methods=chosen,
            progress=progress,
        )
    written = _write(result, reports, json, columns)
    print_study(stdout(), result)
    for path in written:
        stdout().print(f"Wrote {path}", markup=False, soft_wrap=True)


def _columns(path: Path | None, table: Any, target: str | None, by: str | None) -> ColumnList:
    """What the attributes were taken for. No file: those of the synthetic cohort."""
    from fasttree import Columns
    from fasttree.datasets import make_cesarean_cohort
    from fasttree.studies.cesarean import BY
    from fasttree.tables.column_list import ColumnList, columns_of

    if path is None:
        X, y, _ = make_cesarean_cohort()
        return columns_of(Columns({name: X[name] for name in X if name != BY}, y).encoded.schema)
    X = table.select([name for name in table.column_names if name not in (target, by)])
    if not X.column_names:
        return ColumnList(())
    return read_columns(path, X, table[target], can_merge=False)


def _write(
    result: StudyResult, reports: list[Path], json: Path | None, columns: ColumnList | None
) -> list[Path]:
    from fasttree.studies.report import report

    for path in reports:
        write_file(path, report(result, path))
    if json is not None:
        found = result.to_dict() | {"columns": [one.as_dict() for one in columns or ()]}
        text = dumps(found, indent=1, ensure_ascii=False, allow_nan=False)
        write_file(json, text + "\n")
        return [*reports, json]
    return reports


def _table(
    path: Path | None, target: str | None, by: str | None, drop: list[str], style: CsvStyle
) -> Any:
    if path is None:
        named = [("--target", target), ("--by", by), ("--drop", drop)]
        for option, value in named:
            if value:
                raise UsageError(
                    f"{option} names a column of your own table: give the table with --data FILE"
                )
        return None
    from fasttree.files.csv_tables import check_decimals
    from fasttree.files.tables import CSV, columns_named, read_table, suffix

    if target is None:
        raise UsageError("--data needs --target COL, the column with the outcome")
    if by == target:
        raise UsageError(
            f"--by names {by!r}, which is the target: name another column, or leave --by out"
        )
    with waiting(f"Reading {path.name}"):
        table = read_table(path, lists.possible(drop), style)
    drop = lists.columns(drop, table.column_names, "--drop")
    columns_named(table, [target], "--target", path)
    columns_named(table, [by] if by else [], "--by", path)
    columns_named(table, drop, "--drop", path)
    table = table.drop_columns(drop) if drop else table
    if suffix(path) in CSV:
        check_decimals(table, [target, *([by] if by else [])], style, path)
    return table


# -- in the terminal ---------------------------------------------------------------------------------------------------


def print_study(console: Console, result: StudyResult) -> None:
    from fasttree.studies import tables
    from fasttree.studies.methods import LOGISTIC

    console.print(f"[bold]{result.title}[/bold]", soft_wrap=True)
    for note in result.notes:
        console.print(clean(note), markup=False, style="dim", soft_wrap=True)
    _print_table(console, tables.table1_table(result.table1))
    for group in result.groups:
        _print_table(console, tables.method_table(result, group))
        if any(d.measure == "auc" for d in group.differences) and LOGISTIC in result.methods:
            _print_table(console, tables.difference_table(group))
        _print_table(console, tables.calibration_table(group))
        risk = tables.risk_table(group)
        if risk is not None:
            _print_table(console, risk)
        _print_table(console, tables.attribute_table(group))
        _print_notes(console, group)
        for tree in group.trees[:1]:
            console.print(f"\n[bold]{tree.method}, first split[/bold]")
            console.print(clean_lines(tree.text), markup=False, soft_wrap=True)
    console.print(f"\n{result.seconds:.1f} s", style="dim")


def _print_notes(console: Console, group: Any) -> None:
    notes = [f"{name} was left out: {why}" for name, why in group.left_out.items()]
    notes += group.notes
    for report in group.logistic:
        notes += report.notes
    for note in dict.fromkeys(notes):
        console.print(clean(note), markup=False, style="dim", soft_wrap=True)


def clean_lines(text: str) -> str:
    return "\n".join(clean(line) for line in text.splitlines())


def _print_table(console: Console, table: TextTable) -> None:
    from rich.text import Text

    console.print()
    console.print(Text(clean(table.title), style="bold"))
    shown = grid(list(map(clean, table.header)), table.n_left, gap=1)
    for row in table.rows:
        shown.add_row(*(Text(clean(cell)) for cell in row))
    console.print(shown)
    if table.note:
        console.print(clean(table.note), markup=False, style="dim", soft_wrap=True)
