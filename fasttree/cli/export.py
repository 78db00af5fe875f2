# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree export``: a model in the form that another program reads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fasttree.base.wording import near
from fasttree.cli import lists, options
from fasttree.cli.errors import UsageError, blame
from fasttree.cli.help_text import help_text
from fasttree.cli.models import check_output, load_model, write_file
from fasttree.cli.terminal import print_json, print_text, stdout

if TYPE_CHECKING:
    from fasttree.export import Exporter

HINTS = {
    lists.VALUE: "",
    lists.LIST: "   a list: A,B",
    lists.PAIRS: "   a mapping: A=X,B=Y",
}
HELP = help_text(
    "Export a model for another program: SQL, C, Python, ONNX ...",
    examples=(
        "fasttree export --list",
        "fasttree export patients.model --to sql --set dialect=duckdb",
        "fasttree export patients.model --to c -o patients.c",
    ),
)


def _complete(incomplete: str) -> list[tuple[str, str]]:
    from fasttree.export import EXPORTERS

    return [(name, e.help) for name, e in EXPORTERS.items() if name.startswith(incomplete)]


def export(
    model: Annotated[Path | None, options.MODEL] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="Format, see --list.", autocompletion=_complete),
    ] = None,
    output: options.Output = None,
    settings: Annotated[
        list[str] | None, options.settings("Option of the format, see --list")
    ] = None,
    listing: Annotated[
        bool, typer.Option("--list", help="List the formats and their options.")
    ] = False,
    force: options.Force = False,
    json: Annotated[bool, typer.Option("--json", help="With --list: as JSON.")] = False,
) -> None:
    from fasttree.export import EXPORTERS

    if listing:
        _print_formats(json)
        return
    if model is None:
        raise UsageError(
            "export needs a model: fasttree export MODEL --to FORMAT, or fasttree export --list"
        )
    if to is None:
        raise UsageError(f"export needs a format, --to FORMAT: {near('', EXPORTERS)}")
    options.check_known("--to", to, EXPORTERS, "format")
    if output is not None:
        check_output(output, force, [model])
    elif not EXPORTERS[to].is_text and sys.stdout.isatty():
        raise UsageError(f"{to} is a binary format: write it to a file with -o FILE")
    given = lists.read_settings(settings, EXPORTERS[to].kinds() if settings else {})
    fitted = load_model(model)
    _check_names(given, to, fitted)
    with blame(UsageError, f"--to {to}: "):
        content = fitted.export(to, **given)
    if output is not None:
        write_file(output, content)
    elif isinstance(content, bytes):
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
    else:
        print_text(content)


def _print_formats(json: bool) -> None:
    from fasttree.export import EXPORTERS

    formats: dict[str, Any] = {
        name: {"ending": e.ending, "help": e.help, "options": _options(e)}
        for name, e in EXPORTERS.items()
    }
    if json:
        print_json(formats)
        return
    console = stdout()
    width = max(map(len, formats))
    for name, about in formats.items():
        console.print(f"{name:<{width}}", style="bold", end="  ")
        console.print(about["help"], markup=False, soft_wrap=True)
        if about["options"] is None:
            console.print(f"{'':{width}}  (needs a library that is not installed)", style="dim")
        kinds = EXPORTERS[name].kinds() if about["options"] else {}
        for option, default in (about["options"] or {}).items():
            console.print(
                f"{'':{width}}  --set {option}={_shown(default)}{HINTS[kinds[option]]}",
                style="dim",
                markup=False,
                soft_wrap=True,
            )


def _check_names(given: dict[str, Any], to: str, model: Any) -> None:
    from fasttree.export import EXPORTERS, RULE_EXPORTERS

    exporters = RULE_EXPORTERS if hasattr(model, "rules_") else EXPORTERS
    known = exporters[to].options() if given and to in exporters else given
    for name in given:
        if name not in known:
            remedy = near(name, known) if known else "it has no options"
            raise UsageError(f"--to {to} has no option {name!r} (--set): {remedy}")


def _options(exporter: Exporter) -> dict[str, Any] | None:
    """None: what the format needs is not installed."""
    try:
        return exporter.options()
    except ImportError:
        return None


def _shown(default: Any) -> str:
    return str(default).lower() if default is None or isinstance(default, bool) else str(default)
