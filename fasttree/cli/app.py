# SPDX-License-Identifier: BSD-3-Clause
"""All the commands. A command's module imports what it works with when it runs, so that help comes at once."""

from __future__ import annotations

from typing import Annotated

import typer

from fasttree import __version__
from fasttree.cli import (
    compare,
    demo,
    evaluate,
    export,
    rank,
    rules,
    score,
    show,
    study,
    train,
    version,
)
from fasttree.cli.error_handling import Group
from fasttree.cli.help_text import help_text

HELP = help_text(
    "Decision trees from the command line: exact, fast, readable.",
    "Start with [bold]fasttree demo[/bold]. Every command has examples: [bold]fasttree train --help[/bold].",
    lists={
        "Exit codes": {
            "0": "success",
            "1": "failure",
            "2": "usage error",
            "3": "invalid data",
            "4": "invalid model file",
            "5": "the output already exists or cannot be written",
            "6": "some inputs could not be scored (--keep-going)",
            "130": "interrupted",
            "141": "the reader of stdout closed it",
        }
    },
)

app = typer.Typer(
    name="fasttree",
    cls=Group,
    help=HELP,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)

MAKE, READ, CHOOSE, HELPERS = (
    "Train and score",
    "Inspect and export",
    "Evaluate and compare",
    "Other",
)

app.command(help=train.HELP, rich_help_panel=MAKE)(train.train)
app.command(help=score.HELP, rich_help_panel=MAKE)(score.score)
app.command(help=show.HELP, rich_help_panel=READ)(show.show)
app.command(help=rules.HELP, rich_help_panel=READ)(rules.rules)
app.command(help=export.HELP, rich_help_panel=READ)(export.export)
app.command(help=evaluate.HELP, rich_help_panel=CHOOSE)(evaluate.evaluate)
app.command(help=rank.HELP, rich_help_panel=CHOOSE)(rank.rank)
app.command(help=compare.HELP, rich_help_panel=CHOOSE)(compare.compare)
app.add_typer(study.app, name="study", rich_help_panel=CHOOSE)
app.command(help=demo.HELP, rich_help_panel=HELPERS)(demo.demo)
app.command(help=version.HELP, rich_help_panel=HELPERS)(version.version)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"fasttree {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    # Taken out of the arguments before they are parsed, so that it may stand anywhere.
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error (allowed anywhere).")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
