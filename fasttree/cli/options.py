# SPDX-License-Identifier: BSD-3-Clause
"""The options that several commands have, as types of their parameters. A list goes by `lists`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from fasttree.base.wording import near
from fasttree.cli.errors import UsageError

MODEL = typer.Argument(
    help="Model file, made by `fasttree train`.", show_default=False, metavar="MODEL"
)

Model = Annotated[Path, MODEL]
Data = Annotated[
    Path,
    typer.Argument(
        help="Data file: CSV, TSV, Parquet, Feather or Arrow.", show_default=False, metavar="DATA"
    ),
]
Target = Annotated[
    str, typer.Option("--target", "-t", metavar="COL", help="Column with the classes.")
]
AnyTarget = Annotated[
    str,
    typer.Option("--target", "-t", metavar="COL", help="Column to predict: classes, or numbers."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A,B",
        help="Columns to leave out, such as names and identifiers (also repeatable).",
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A,B", help="Columns of numbers to treat as categories (also repeatable)."
    ),
]
MinCategoryCount = Annotated[
    float | None,
    typer.Option(
        metavar="N",
        help="Minimum number of rows of a category; rarer ones of a column are merged into one, "
        "'other' (as --set min_category_count=N).",
    ),
]
Weights = Annotated[
    str | None, typer.Option(metavar="COL", help="Column with the weight of each row.")
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column that identifies rows that belong together, such as those of a patient: they are kept in the same "
        "fold or held out together. It is not used as an attribute.",
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="Character that separates the values of a CSV file, such as ';' or '\\t' (a tab).",
    ),
]
Decimal = Annotated[
    str, typer.Option(metavar="CHAR", help="Decimal sign of a CSV file: a point or a comma.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for scripts.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write to a file instead of the terminal."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]


def settings(what: str) -> Any:
    """``--set``. `what`: whose parameters these are."""
    return typer.Option(
        "--set", metavar="NAME=VALUE", help=f"{what} (also A=1,B=2, or repeatable)."
    )


def completing(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """What a shell asks to complete one of these names, which are asked for only then."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def check_known(option: str, given: str, known: Collection[str], what: str) -> None:
    """Refuses a value that is none of the known ones."""
    if given not in known:
        raise UsageError(f"{option} {given!r} is not a known {what}: {near(given, known)}")
