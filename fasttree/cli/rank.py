# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree rank``: which attributes tell the classes apart, and which a model needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.cells import cell_len
from rich.text import Text

from fasttree.cli import options
from fasttree.cli.columns import print_columns, read_columns
from fasttree.cli.errors import DataError, UsageError, blame
from fasttree.cli.help_text import help_text
from fasttree.cli.models import load_model
from fasttree.cli.tasks import check_classes
from fasttree.cli.terminal import print_json, speaks_unicode, stdout, waiting
from fasttree.cli.training_data import read_data, read_held_out, style_of
from fasttree.draw.terminal_text import clean, cut

if TYPE_CHECKING:
    from fasttree.files.csv_style import CsvStyle

HELP = help_text(
    "Rank the attributes by how well they separate the classes.",
    """The score of an attribute is that of its best split of all rows. [bold]Criteria.[/bold] entropy (information
    gain), gain_ratio, gini, misclassification, message_length, evidence; adjusted for chance: ami, smi, adjusted_gini,
    standardised_gini, ad, confidence_entropy; mic (maximal information coefficient).""",
    """[bold]With --model[/bold] the score is the permutation importance: how much worse the model performs on these
    rows if the values of the attribute are shuffled. Use rows that the model was not trained on. [bold]Metrics.[/bold]
    accuracy, auc, log_loss, brier.""",
    examples=(
        "fasttree rank patients.csv --target outcome",
        "fasttree rank patients.csv -t outcome --criterion ami --json",
        "fasttree rank new.csv -t outcome --model patients.model --metric log_loss",
    ),
)
LEAST_BAR, MOST_BAR = 8, 40


def criteria() -> list[str]:
    from fasttree.evaluation.ranking import OF_TABLES
    from fasttree.growth.params import CRITERIA

    return list(dict.fromkeys((*CRITERIA, *OF_TABLES)))


def metrics() -> list[str]:
    from fasttree.evaluation.importance_table import METRICS

    return list(METRICS)


def rank(
    data: options.Data,
    target: options.Target,
    criterion: Annotated[
        str | None,
        typer.Option(
            "--criterion",
            "-c",
            metavar="NAME",
            help="Criterion, see above (default: entropy).",
            autocompletion=options.completing(criteria),
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="Rank by permutation importance for this model, made by `fasttree train`.",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --model: metric, see above (default: accuracy).",
            autocompletion=options.completing(metrics),
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="With --model: number of shuffles per attribute (default: 10)."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="With --model: seed of the shuffles (default: 0).")
    ] = None,
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    weights: options.Weights = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = ".",
    json: options.Json = False,
) -> None:
    if model is not None:
        given = {"--criterion": criterion, "--drop": drop, "--categorical": categorical}
        _check_alone(given, "cannot be used with --model, which determines the columns")
        style = style_of(delimiter, decimal)
        _rank_by_model(data, target, weights, style, model, metric, repeats, seed, json)
        return
    _check_alone({"--metric": metric, "--repeats": repeats, "--seed": seed}, "needs --model")
    criterion = criterion or "entropy"
    options.check_known("--criterion", criterion, criteria(), "criterion")
    rows = read_data(data, target, drop, categorical, weights, style=style_of(delimiter, decimal))
    check_classes(rows.y, target, "rank")
    from fasttree import rank_attributes
    from fasttree.tables.doubts import speaking

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
    print_columns(columns)
    texts = ["no split" if score is None else f"{score:.6f}" for _, score in ranking]
    _print(list(ranking), texts, f"{criterion} of each attribute for {clean(target)}")


def _check_alone(given: dict[str, Any], why: str) -> None:
    for option, value in given.items():
        if value is not None and value != []:
            raise UsageError(f"{option} {why}: leave it out")


def _rank_by_model(
    data: Path,
    target: str,
    weights: str | None,
    style: CsvStyle,
    path: Path,
    metric: str | None,
    repeats: int | None,
    seed: int | None,
    json: bool,
) -> None:
    metric = metric or "accuracy"
    options.check_known("--metric", metric, metrics(), "metric")
    fitted = load_model(path)
    rows = read_held_out(data, target, fitted.tree_.schema, style, weights)
    from fasttree import permutation_importance

    with waiting("Shuffling"), blame(DataError, rows.prefix):
        found = permutation_importance(
            fitted,
            rows.X,
            rows.y,
            sample_weight=rows.weights,
            metric=metric,
            repeats=repeats or 10,
            random_state=seed,
        )
    best_first = found.best_first().tolist()
    if json:
        print_json(
            {
                "target": target,
                "metric": metric,
                "score": found.score,
                "rows": found.n_rows,
                "repeats": found.repeats.shape[1],
                "attributes": [
                    {"attribute": found.names[a], "score": found.means[a], "sd": found.sds[a]}
                    for a in best_first
                ],
            }
        )
        return
    _print(
        [(found.names[a], float(found.means[a])) for a in best_first],
        [found.text_of(a) for a in best_first],
        found.heading,
    )
    stdout().print(f"\n{found.spread()}", style="dim", markup=False)


def _print(ranking: list[tuple[str, float | None]], texts: list[str], heading: str) -> None:
    console = stdout()
    ranking = [(clean(name) or '""', score) for name, score in ranking]
    scores = [score for _, score in ranking if score is not None]
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
