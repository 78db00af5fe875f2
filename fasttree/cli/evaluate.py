# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree evaluate``: several methods on one data file, by cross-validation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fasttree.cli import lists, options
from fasttree.cli.columns import print_columns, read_columns
from fasttree.cli.errors import DataError, UsageError, blame
from fasttree.cli.help_text import help_text
from fasttree.cli.methods import (
    METHODS,
    check_method,
    complete_method,
    estimator_of,
    settings_of,
)
from fasttree.cli.tasks import check_classes
from fasttree.cli.terminal import counting, grid, print_json, speaks_unicode, stdout
from fasttree.cli.training_data import read_data, style_of

if TYPE_CHECKING:
    from rich.console import Console

    from fasttree.evaluation.comparison import Comparison

LEVEL = 0.05
HELP = help_text(
    "Compare methods by cross-validation on the same folds.",
    """The table shows means over the folds ± their standard error, corrected for the training rows that folds share. *
    marks the best mean of a column, v a method less accurate than the most accurate one (p < 0.05 in a t test over the
    folds with the same correction, not adjusted for the number of methods).""",
    examples=(
        "fasttree evaluate patients.csv --target outcome",
        "fasttree evaluate patients.csv -t outcome --methods c45,cart,smml --folds 5",
        "fasttree evaluate patients.csv -t outcome -m c45 -m rules --json",
    ),
)
MEASURES = ("accuracy", "auc", "log_loss", "brier", "leaves", "depth", "fit_seconds")


def evaluate(
    data: options.Data,
    target: options.Target,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            "-m",
            metavar="A,B",
            help=f"Methods (also repeatable; default: all, {','.join(METHODS)}).",
            autocompletion=complete_method,
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=2, help="Number of folds (default: 10, or the rows of the smallest class)."
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Number of repetitions with new folds.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random folds.")] = 0,
    settings: Annotated[list[str] | None, options.settings("Parameter of all the methods")] = None,
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    min_category_count: options.MinCategoryCount = None,
    weights: options.Weights = None,
    group: options.Group = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = ".",
    json: options.Json = False,
) -> None:
    names = _names(methods)
    given = settings_of(settings, min_category_count)
    estimators = {METHODS[name].title: estimator_of(name, settings=given) for name in names}
    style = style_of(delimiter, decimal)
    rows = read_data(data, target, drop, categorical, weights, style=style, group=group)
    check_classes(rows.y, target, "evaluate")
    from fasttree import compare_methods
    from fasttree.tables.doubts import speaking

    with blame(DataError, rows.prefix):
        columns = read_columns(data, rows.X, rows.y)
    with counting("Cross-validation") as progress, blame(DataError, rows.prefix), speaking(None):
        found = compare_methods(
            rows.X,
            rows.y,
            estimators,
            folds=folds,
            repeats=repeats,
            groups=rows.groups,
            random_state=seed,
            sample_weight=rows.weights,
            progress=progress,
        )
    worse = differing(found)
    if json:
        print_json(
            {"target": target, "rows": rows.n_rows, "folds": found.n_folds, "repeats": repeats}
            | _as_json(found, names, worse)
            | {"columns": [one.as_dict() for one in columns]}
        )
    else:
        print_columns(columns)
        print_comparison(stdout(), found, worse)


def _names(methods: list[str] | None) -> list[str]:
    given = lists.listed(methods or METHODS, "--methods")
    names = list(dict.fromkeys(check_method(name) for name in given))
    if not names:
        raise UsageError("--methods names no method: name at least one, such as --methods c45,cart")
    return names


def differing(found: Comparison) -> dict[str, float]:
    """The p value of the difference in accuracy from the most accurate method, where it is below LEVEL."""
    best = found.best("accuracy")[0]
    differences = found.differences("accuracy", baseline=best)
    return {d.first: d.p_value for d in differences if d.p_value < LEVEL}


def _as_json(found: Comparison, names: list[str], worse: dict[str, float]) -> dict[str, Any]:
    best = found.best("accuracy")[0]
    p_values = {d.first: d.p_value for d in found.differences("accuracy", baseline=best)}
    methods = []
    for name, title in zip(names, found.methods, strict=True):
        entry: dict[str, Any] = {"method": name}
        for measure in MEASURES:
            spread = found.spread(title, measure)
            entry |= {measure: spread.mean, f"{measure}_se": spread.se}
        entry |= {
            "error": 1 - entry["accuracy"],
            "best": title in found.best("accuracy"),
            "p_value": p_values.get(title),
            "differs": title in worse,
        }
        methods.append(entry)
    return {"methods": methods}


# -- the table ---------------------------------------------------------------------------------------


def print_comparison(console: Console, found: Comparison, worse: dict[str, float]) -> None:
    """With standard errors and four digits if there is room, else with less."""
    from rich.text import Text

    unicode = speaks_unicode(console)
    pm = "±" if unicode else "+-"
    for places, with_se, columns in (
        (4, True, ("accuracy", "error", "log_loss", "auc", "leaves", "fit_seconds")),
        (3, True, ("accuracy", "error", "log_loss", "auc", "leaves", "fit_seconds")),
        (3, True, ("accuracy", "log_loss", "auc", "leaves")),
        (3, False, ("accuracy", "log_loss", "auc", "leaves")),
    ):
        cells = _cells(found, worse, columns, places, pm if with_se else "")
        if _width(cells) <= console.width:
            break
    table = grid(cells[0])
    for row in cells[1:]:
        styles = [
            "bold green" if "*" in cell else "red" if "v" in cell[-2:] else "" for cell in row
        ]
        styles[0] = ""
        table.add_row(*(Text(cell, style=style) for cell, style in zip(row, styles, strict=True)))
    console.print(table)
    spread = f", mean {pm} standard error (corrected)" if with_se else ""
    console.print(f"\n{found.described}{spread}; * best", style="dim")
    if worse:
        best = found.best("accuracy")[0]
        several = len(found.methods) - 1
        adjusted = f", not adjusted for {several} comparisons" if several > 1 else ""
        console.print(f"v less accurate than {best}, p < {LEVEL}{adjusted}", style="dim")


def _cells(
    found: Comparison, worse: dict[str, float], columns: tuple[str, ...], places: int, pm: str
) -> list[list[str]]:
    titles = {
        "accuracy": "accuracy",
        "error": "error",
        "log_loss": "log loss",
        "auc": "AUC",
        "leaves": "leaves",
        "fit_seconds": "fit ms",
    }
    rows = [["method", *(titles[name] + (" " if name in MARKED else "") for name in columns)]]
    for method in found.methods:
        row = [method]
        for name in columns:
            spread = found.spread(method, "accuracy" if name == "error" else name)
            if math.isnan(spread.mean):
                row.append("-")
            elif name in ("leaves", "fit_seconds"):
                row.append(f"{spread.mean * (1000 if name == 'fit_seconds' else 1):,.1f}")
            elif name == "error":
                row.append(f"{1 - spread.mean:.{places}f}")
            else:
                se = f" {pm} {spread.se:.{places}f}" if pm and not math.isnan(spread.se) else ""
                mark = "*" if method in found.best(name) else " "
                mark = "v" if name == "accuracy" and method in worse else mark
                row.append(f"{spread.mean:.{places}f}{se}{mark}")
        rows.append(row)
    return rows


MARKED = ("accuracy", "log_loss", "auc")


def _width(cells: list[list[str]]) -> int:
    return sum(max(map(len, column)) + 2 for column in zip(*cells, strict=True)) - 2
