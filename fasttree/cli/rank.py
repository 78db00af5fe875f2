# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree rank``: which attributes tell the classes apart."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.cells import cell_len
from rich.text import Text

from fasttree.cli.columns import print_columns, read_columns
from fasttree.cli.data import (
    CATEGORICAL,
    DATA,
    DECIMAL,
    DELIMITER,
    DROP,
    JSON,
    TARGET,
    WEIGHTS,
    read_data,
    style_of,
)
from fasttree.cli.errors import DataError, UsageError, blame, near
from fasttree.cli.help_text import help_text
from fasttree.cli.terminal import clean, cut, print_json, speaks_unicode, stdout, waiting

HELP = help_text(
    "Rank the attributes by how well they tell the classes apart.",
    """The score is that of the best split of all the rows. [bold]Criteria.[/bold] entropy (information gain),
    gain_ratio, gini, misclassification, message_length, evidence;
    allowing for chance: ami, smi, adjusted_gini, standardised_gini, ad, confidence_entropy; mic (maximal information
    coefficient).""",
    examples=(
        "fasttree rank patients.csv --target outcome",
        "fasttree rank patients.csv -t outcome --criterion ami --json",
    ),
)
LEAST_BAR, MOST_BAR = 8, 40


def criteria() -> list[str]:
    from fasttree.params import CRITERIA
    from fasttree.ranking import OF_TABLES

    return list(dict.fromkeys((*CRITERIA, *OF_TABLES)))


def _complete(incomplete: str) -> list[str]:
    return [name for name in criteria() if name.startswith(incomplete)]


def rank(
    data: Annotated[Path, DATA],
    target: Annotated[str, TARGET],
    criterion: Annotated[
        str,
        typer.Option(
            "--criterion", "-c", metavar="NAME", help="See above.", autocompletion=_complete
        ),
    ] = "entropy",
    drop: Annotated[list[str] | None, DROP] = None,
    categorical: Annotated[list[str] | None, CATEGORICAL] = None,
    weights: Annotated[str | None, WEIGHTS] = None,
    delimiter: Annotated[str | None, DELIMITER] = None,
    decimal: Annotated[str, DECIMAL] = ".",
    json: Annotated[bool, JSON] = False,
) -> None:
    if criterion not in criteria():
        raise UsageError(
            f"--criterion {criterion!r} is none of them: {near(criterion, criteria())}"
        )
    rows = read_data(
        data, target, drop or (), categorical or (), weights, style=style_of(delimiter, decimal)
    )
    from fasttree import rank_attributes
    from fasttree.doubts import speaking

    with waiting("Scoring"), blame(DataError, rows.prefix):
        columns = read_columns(data, rows.X, rows.y, can_merge=False)
    with waiting("Scoring"), blame(DataError, rows.prefix), speaking(None):
        ranking = rank_attributes(rows.X, rows.y, criterion=criterion, sample_weight=rows.weights)
    if json:
        attributes = [{"attribute": name, "score": score} for name, score in ranking]
        print_json(
            {
                "target": target,
                "criterion": criterion,
                "rows": rows.n_rows,
                "attributes": attributes,
                "columns": [one.as_dict() for one in columns],
            }
        )
        return
    print_columns(stdout(), columns)
    stdout().print()
    _print(
        [(clean(name) or '""', score) for name, score in ranking],
        f"{criterion} of each attribute for {clean(target)}",
    )


def _print(ranking: list[tuple[str, float | None]], heading: str) -> None:
    console = stdout()
    scores = [score for _, score in ranking if score is not None]
    texts = ["no split" if score is None else f"{score:.6f}" for _, score in ranking]
    number = max(map(len, texts))
    name_width = min(
        max(cell_len(name) for name, _ in ranking), max(12, console.width - number - LEAST_BAR - 4)
    )
    bar = min(console.width - name_width - number - 4, MOST_BAR)
    longest = max((score for score in scores if score > 0), default=1.0)
    sign, ellipsis = ("█", "…") if speaks_unicode(console) else ("#", "...")
    console.print(cut(heading, console.width, ellipsis), style="bold", markup=False)
    for (name, score), text in zip(ranking, texts, strict=True):
        name = cut(name, name_width, ellipsis)
        line = Text(name + " " * (name_width - cell_len(name)) + "  ")
        line.append(text.rjust(number), style="dim" if score is None else "")
        if score is not None and score > 0 and bar >= LEAST_BAR:
            length = round(score / longest * bar)
            line.append("  " + sign * max(length, 1), style="dodger_blue1")
        console.print(line, soft_wrap=True)
