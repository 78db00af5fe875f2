# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree train``: a data file becomes a model file."""

from __future__ import annotations

import shlex
import time
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fasttree.base.wording import plural
from fasttree.cli import options
from fasttree.cli.columns import print_columns, remedies
from fasttree.cli.errors import DataError, UsageError, blame
from fasttree.cli.help_text import help_text
from fasttree.cli.methods import (
    CAREFUL,
    DEFAULT,
    METHODS,
    REGRESSORS,
    check_method,
    complete_method,
    estimator_of,
    estimators_of,
    pruning_names,
    settings_of,
)
from fasttree.cli.models import check_output, save_model
from fasttree.cli.tasks import (
    CLASSIFICATION,
    REGRESSION,
    TASKS,
    Task,
    check_task,
    check_text,
    task_of,
    warn_of_guess,
)
from fasttree.cli.terminal import print_json, seconds, stdout, waiting
from fasttree.cli.training_data import Data, check_holdout, read_data, style_of

if TYPE_CHECKING:
    from fasttree.files.csv_style import CsvStyle

HELP = help_text(
    "Train a model on a data file and save it.",
    """[bold]Files.[/bold] The extension determines the format: .csv, .tsv (also .gz, .bz2, .zst), .parquet, .feather,
    .arrow. In CSV files, empty fields and words such as ?, NA, NaN, NULL and None are missing values; a column with
    any other text is a text column.""",
    examples=(
        "fasttree train patients.csv --target outcome -o patients.model",
        "fasttree train patients.csv -t outcome -m cart --holdout 0.3 -o cart.model",
        "fasttree train visits.parquet -t outcome -m c45 --set confidence=0.1 -o c45.model",
    ),
    lists={
        "Methods": {
            name: method.what + ("; also for numbers" if name in REGRESSORS else "")
            for name, method in METHODS.items()
        }
    },
)


def train(
    data: options.Data,
    target: options.AnyTarget,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL", help="File to save the model to.")
    ],
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help="Method, see above (default: tree, pruned by cross-validation: --prune cost_complexity).",
            autocompletion=complete_method,
        ),
    ] = None,
    prune: Annotated[
        str | None,
        typer.Option(
            metavar="WAY",
            help="Pruning method instead of the method's default: none, error_based, cost_complexity, reduced_error, "
            "cross_validated, leaf_penalty, significance or message_length.",
            autocompletion=options.completing(pruning_names),
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        options.settings("Parameter of the method or of its pruning, such as max_depth=5"),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="classification or regression (default: text, bools and categories are classes, and so are up to 30 "
            "distinct integers; other numbers are predicted as numbers).",
            autocompletion=options.completing(lambda: TASKS),
        ),
    ] = None,
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    min_category_count: options.MinCategoryCount = None,
    weights: options.Weights = None,
    group: options.Group = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = ".",
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rows to test the model on, with the same columns."),
    ] = None,
    holdout: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Fraction of the rows to test on, above 0 and below 1; the others are for training.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing model.")] = False,
    json: options.Json = False,
) -> None:
    is_left_open = method is None and prune is None
    method = check_method(DEFAULT if method is None else method)
    if is_left_open:
        prune = CAREFUL
    if test is not None and holdout is not None:
        raise UsageError("--test and --holdout: give only one of them")
    if holdout is not None:
        check_holdout(holdout)
    given = settings_of(settings, min_category_count)
    estimators = estimators_of(method, prune, given, check_task(task))
    style = style_of(delimiter, decimal)
    check_output(output, force, [data, test])
    rows = read_data(data, target, drop, categorical, weights, style=style, group=group)
    if task != CLASSIFICATION:
        check_text(rows.y, target)
    chosen = task_of(rows.y, task, method not in REGRESSORS)
    warn_of_guess(chosen)
    estimator = estimators.get(chosen.name) or estimator_of(method, prune, given, chosen.name)
    if isinstance(estimator, UsageError):
        raise estimator
    judges = None
    if test is not None:
        judges = read_data(
            test, target, drop, categorical, check_classes=False, style=style, ignored=group
        )
        _check_other_rows(rows, judges)
    elif holdout is not None:
        rows, judges = rows.split(holdout, chosen.name == REGRESSION)
    from fasttree.tables.doubts import speaking

    begin = time.perf_counter()
    with waiting(f"Training {METHODS[method].title}"), blame(DataError, rows.prefix):
        with speaking(remedies(data)):
            estimator.fit(rows.X, rows.y, sample_weight=rows.weights, groups=rows.groups)
        fit_seconds = time.perf_counter() - begin
    summary = _summary(estimator, method, chosen, rows, output, fit_seconds)
    if judges is not None:
        with blame(DataError, judges.prefix):
            summary["test"] = {"rows": judges.n_rows} | _success(estimator, judges)
    save_model(estimator, output)
    if json:
        print_json(summary | {"columns": [one.as_dict() for one in estimator.columns()]})
    else:
        _print(summary, estimator, test, style, is_left_open)


def _success(model: Any, rows: Data) -> dict[str, float]:
    """How well rows are predicted."""
    if hasattr(model, "classes_"):
        return {"accuracy": float(model.score(rows.X, rows.y, rows.weights))}
    from fasttree.stats.number_metrics import r2_score, root_mean_squared_error
    from fasttree.tables.training import read_numbers, read_weights

    y, weights = read_numbers(rows.y, rows.n_rows).values, read_weights(rows.weights, rows.n_rows)
    predicted = model.predict(rows.X)
    return {
        "r2": r2_score(y, predicted, weights),
        "rmse": root_mean_squared_error(y, predicted, weights),
    }


def _summary(
    model: Any, method: str, task: Task, rows: Data, output: Path, fit_seconds: float
) -> dict[str, Any]:
    tree = model.tree_
    summary: dict[str, Any] = {
        "model": str(output),
        "method": method,
        "estimator": repr(model),
        "target": rows.target,
        "task": task.name,
        "task_reason": task.why,
        "classes": [str(label) for label in getattr(model, "classes_", ())],
        "rows": rows.n_rows,
        "attributes": len(rows.X.column_names),
        "leaves": tree.n_leaves,
        "depth": tree.max_depth,
        "pruning": None,
    }
    trace = getattr(model, "pruning_trace_", None)
    if trace is not None:
        removed = int(trace.leaves_removed.sum())
        summary["pruning"] = {"method": trace.method, "leaves_removed": removed}
    if hasattr(model, "rules_"):
        summary["rules"] = len(model.rules_)
    summary |= {f"training_{name}": value for name, value in _success(model, rows).items()}
    return summary | {"fit_seconds": fit_seconds, "test": None}


def _told(success: Mapping[str, Any], rows: str) -> tuple[str, str]:
    """What was measured on some rows: its name, and the figures."""
    if f"{rows}_accuracy" in success:
        return f"{rows} accuracy", f"{success[f'{rows}_accuracy']:.2%}"
    r2, rmse = success[f"{rows}_r2"], success[f"{rows}_rmse"]
    return f"{rows} R2", f"{round(r2, 4) + 0.0:.4f} (root mean squared error {rmse:.4g})"


def _kinds(model: Any) -> str:
    """What the columns were taken for: a date that is text to the machine is seen here."""
    found = Counter(
        "categorical" if a.is_categorical else "times" if a.time else "numeric"
        for a in model.tree_.schema.attributes
    )
    return ", ".join(f"{found[k]:,} {k}" for k in ("numeric", "times", "categorical") if found[k])


def _check_other_rows(rows: Data, judges: Data) -> None:
    """Warns of rows to judge by that are those of training, be it in another file."""
    from fasttree.tables.doubts import FEWEST_ROWS, DataWarning

    is_same = rows.path.samefile(judges.path) or (
        rows.X.equals(judges.X) and rows.y.equals(judges.y)
    )
    if is_same and rows.n_rows >= FEWEST_ROWS:
        warnings.warn(
            f"--test {judges.path} contains the training rows, so the test accuracy says nothing about new rows: "
            "use other rows, or hold some out (--holdout 0.3)",
            DataWarning,
            stacklevel=2,
        )


def _print(
    summary: dict[str, Any],
    model: Any,
    shown_file: Path | None,
    style: CsvStyle,
    is_left_open: bool,
) -> None:
    console, kinds = stdout(), _kinds(model)

    def line(name: str, text: str) -> None:
        console.print(f"{name:<18}", style="dim", end="")
        console.print(text, markup=False, soft_wrap=True)

    of_numbers = summary["task"] == REGRESSION
    title = METHODS[summary["method"]].title
    console.print(f"{title} model{', regression' if of_numbers else ''}", style="bold")
    line(
        "trained on",
        f"{plural(summary['rows'], 'row')}, {plural(summary['attributes'], 'attribute')} ({kinds})",
    )
    what = plural(len(summary["classes"]), "class", "classes")
    if of_numbers:
        what = f"predicted as a number, since {summary['task_reason']}"
    line("target", f"{summary['target']} ({what})")
    if "rules" in summary:
        line("rules", f"{summary['rules']:,}")
    line("leaves", f"{summary['leaves']:,}")
    line("depth", f"{summary['depth']:,}")
    if summary["pruning"]:
        removed = summary["pruning"]["leaves_removed"]
        what = f"{plural(removed, 'leaf', 'leaves')} removed" if removed else "nothing removed"
        line("pruned by", f"{summary['pruning']['method']}: {what}")
    if is_left_open:
        line("", "without --method, cross-validation chooses the size (no pruning: --prune none)")
    line(*_told(summary, "training"))
    if summary["test"]:
        where = (
            f"of {plural(summary['test']['rows'], 'row')} in {shown_file}"
            if shown_file
            else (f"of {plural(summary['test']['rows'], 'row')} held out")
        )
        name, told = _told({f"test_{key}": value for key, value in summary["test"].items()}, "test")
        line(name, f"{told} {where}")
    line("time", seconds(summary["fit_seconds"]))
    line("saved", summary["model"])
    console.print()
    print_columns(model.columns())
    file = shlex.quote(summary["model"])
    as_here = " ".join([*style.options, ""])
    console.print("Next:", style="bold")
    for command, what in (
        (f"fasttree show {file}", "the tree"),
        (f"fasttree rules {file}", "its rules"),
        (
            f"fasttree score {file} {as_here}NEW.csv -o SCORED.csv",
            "predict new rows" if of_numbers else "classify new rows",
        ),
    ):
        if of_numbers and "fasttree rules" in command:
            continue
        console.print(f"  {command}", markup=False, soft_wrap=True, end="")
        console.print(f"   # {what}", style="dim", markup=False, soft_wrap=True)
