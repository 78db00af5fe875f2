# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree rules``: a model as IF-THEN rules."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fasttree.cli import options
from fasttree.cli.errors import DataError, UsageError, blame
from fasttree.cli.help_text import help_text
from fasttree.cli.models import check_output, load_model, write_file
from fasttree.cli.terminal import print_text
from fasttree.cli.training_data import read_held_out, style_of

if TYPE_CHECKING:
    from fasttree.files.csv_style import CsvStyle
    from fasttree.rules import RuleList

FORMATS = ("text", "markdown", "json", "python")
HELP = help_text(
    "Print a model as IF-THEN rules.",
    """The figures for the training rows are optimistic, since the rules were learned from them. --test evaluates the
    rules on other rows: how many each covers, the errors among these, and the accuracy with its confidence limits.""",
    examples=(
        "fasttree rules patients.model",
        "fasttree rules patients.model --limit 5",
        "fasttree rules patients.model --test new.csv --target outcome",
        "fasttree rules patients.model --format python -o classify.py",
    ),
)


def rules(
    model: options.Model,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="NAME",
            help="Format: text, markdown, json or python.",
            autocompletion=options.completing(lambda: FORMATS),
        ),
    ] = "text",
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Only the first N rules (text and markdown)."),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Held-out rows to evaluate the rules on, with --target."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", metavar="COL", help="With --test: the column with the classes."
        ),
    ] = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = ".",
    output: options.Output = None,
    force: options.Force = False,
) -> None:
    options.check_known("--format", format, FORMATS, "format")
    if limit is not None and format not in ("text", "markdown"):
        raise UsageError(
            f"--limit needs --format text or markdown, got {format}, which has all the rules: leave --limit out"
        )
    if (test is None) != (target is None):
        given, absent = ("--target", "--test FILE") if test is None else ("--test", "--target COL")
        raise UsageError(
            f"{given} needs {absent}: held-out rows, and the column with their classes"
        )
    style = style_of(delimiter, decimal)
    if output is not None:
        check_output(output, force, [model, test])
    fitted = load_model(model)
    found = rules_of(fitted)
    if test is not None and target is not None:
        found = _judged(fitted, found, test, target, style)
    text = {
        "text": lambda: found.to_text(limit),
        "markdown": lambda: found.to_markdown(limit),
        "json": found.to_json,
        "python": found.to_python,
    }[format]()
    if output is None:
        print_text(text)
    else:
        write_file(output, text if text.endswith("\n") else text + "\n")


def rules_of(model: Any) -> Any:
    """The rules that a model has, or those that its tree is."""
    if not hasattr(model, "classes_"):
        raise UsageError(
            f"the model is a {type(model).__name__}, but only classifiers have rules: see its tree, fasttree show"
        )
    return model.rules_ if hasattr(model, "rules_") else model.rules()


def _judged(model: Any, rules: RuleList, path: Path, target: str, style: CsvStyle) -> RuleList:
    """With what the rows of a file say; it may have further columns."""
    held_out = read_held_out(path, target, rules.schema, style)
    with blame(DataError, held_out.prefix):
        judged = rules.evaluate(held_out.X, held_out.y)
        _check_other_rows(model, held_out.X, held_out.y, path)
    return judged


def _check_other_rows(model: Any, X: Any, y: Any, path: Path) -> None:
    """Warns of rows to judge by that are those of training, as far as the model can tell."""
    from fasttree.tables.doubts import DataWarning
    from fasttree.trees.same_rows import look_like_training

    if look_like_training(model.tree_, X, y, type(model).__name__):
        warnings.warn(
            f"--test {path} has as many rows of each class at each leaf of the tree as the training rows of the model, "
            "so it seems to contain these: the limits then say nothing about new rows; use other rows",
            DataWarning,
            stacklevel=2,
        )
