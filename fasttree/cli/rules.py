# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree rules``: a model as IF-THEN rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fasttree.cli.errors import UsageError, near
from fasttree.cli.help_text import help_text
from fasttree.cli.models import MODEL, check_output, load_model, write_file
from fasttree.cli.terminal import print_text

FORMATS = ("text", "markdown", "json", "python")
HELP = help_text(
    "Print a model as IF-THEN rules.",
    examples=(
        "fasttree rules patients.model",
        "fasttree rules patients.model --limit 5",
        "fasttree rules patients.model --format python -o classify.py",
    ),
)


def _complete(incomplete: str) -> list[str]:
    return [name for name in FORMATS if name.startswith(incomplete)]


def rules(
    model: Annotated[Path, MODEL],
    format: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="NAME",
            help="text, markdown, json or python.",
            autocompletion=_complete,
        ),
    ] = "text",
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Only the first N rules (text and markdown).",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write to a file instead of the terminal."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over a file that is there.")
    ] = False,
) -> None:
    if format not in FORMATS:
        raise UsageError(
            f"--format {format!r} is none of the formats of rules: {near(format, FORMATS)}"
        )
    if limit is not None and format not in ("text", "markdown"):
        raise UsageError(
            f"--limit goes with --format text and markdown: {format} has all the rules"
        )
    if output is not None:
        check_output(output, force, [model])
    found = rules_of(load_model(model))
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
    return model.rules_ if hasattr(model, "rules_") else model.rules()
