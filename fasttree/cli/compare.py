# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree compare``: beside scikit-learn's tree, on the user's own data and the same rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fasttree.base.wording import plural
from fasttree.cli import options
from fasttree.cli.columns import print_columns, remedies
from fasttree.cli.errors import CommandError, DataError, blame
from fasttree.cli.help_text import help_text
from fasttree.cli.methods import (
    METHODS,
    check_method,
    complete_method,
    estimator_of,
    settings_of,
)
from fasttree.cli.tasks import check_classes
from fasttree.cli.terminal import grid, print_json, seconds, stdout, waiting
from fasttree.cli.training_data import Data, check_holdout, read_data, style_of

if TYPE_CHECKING:
    from rich.console import Console

RUNS = 3  # the best counts: everything else on the machine only adds to a time
ENOUGH = 1.0  # seconds: what takes longer runs once
HELP = help_text(
    "Compare fasttree with scikit-learn's tree on your data.",
    """Both are trained on the same rows and tested on the others. scikit-learn's tree accepts numbers only, so its
    text columns are one-hot encoded (OneHotEncoder), and the encoding counts towards its time. Times are the best of 3
    runs, or of one run if it takes more than a second.""",
    examples=(
        "fasttree compare patients.csv --target outcome",
        "fasttree compare patients.csv -t outcome --method c45 --holdout 0.5 --json",
    ),
)


def compare(
    data: options.Data,
    target: options.Target,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help="Method, as for train.",
            autocompletion=complete_method,
        ),
    ] = "tree",
    settings: Annotated[
        list[str] | None, options.settings("Parameter of fasttree's method")
    ] = None,
    holdout: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Fraction of the rows to test on, above 0 and below 1."),
    ] = 0.3,
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    min_category_count: options.MinCategoryCount = None,
    group: options.Group = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = ".",
    json: options.Json = False,
) -> None:
    method = check_method(method)
    check_holdout(holdout)
    if not has_sklearn():
        raise CommandError("compare needs scikit-learn: pip install scikit-learn")
    estimator = estimator_of(method, settings=settings_of(settings, min_category_count))
    style = style_of(delimiter, decimal)
    rows = read_data(data, target, drop, categorical, style=style, group=group)
    check_classes(rows.y, target, "compare")
    train, test = rows.split(holdout)
    with blame(DataError, train.prefix):
        results = [measure_own(METHODS[method].title, estimator, train, test)]
    results.append(measure_sklearn(train, test))
    if json:
        print_json(
            {
                "target": target,
                "train_rows": train.n_rows,
                "test_rows": test.n_rows,
                "models": results,
                "columns": [one.as_dict() for one in estimator.columns()],
            }
        )
    else:
        print_columns(estimator.columns())
        print_speed(stdout(), results, train.n_rows, test.n_rows)


def has_sklearn() -> bool:
    return find_spec("sklearn") is not None


def measure_own(title: str, estimator: Any, train: Data, test: Data) -> dict[str, Any]:
    from fasttree.tables.doubts import speaking

    words = [remedies(train.path)]  # for the first fit: the others would warn of the same

    def fit() -> None:
        with speaking(words.pop() if words else None):
            estimator.fit(train.X, train.y, groups=train.groups)

    with waiting("fasttree"):
        result = _measure(f"fasttree {title}", fit, lambda: estimator.predict(test.X))
    tree = estimator.tree_
    return result | {
        "accuracy": float(estimator.score(test.X, test.y)),
        "leaves": tree.n_leaves,
        "depth": tree.max_depth,
    }


def measure_sklearn(train: Data, test: Data) -> dict[str, Any]:
    import numpy as np

    from fasttree.cli.sklearn_tree import SklearnTree, as_arrays, labels

    with waiting("scikit-learn"):
        model = SklearnTree()
        X, X_test, y = as_arrays(train), as_arrays(test), labels(train)
        model.check(X, train)
        result = _measure("scikit-learn", lambda: model.fit(X, y), lambda: model.predict(X_test))
    return result | {
        "accuracy": float(np.mean(model.predict(X_test) == labels(test))),
        "leaves": int(model.tree.get_n_leaves()),
        "depth": int(model.tree.get_depth()),
    }


def _measure(name: str, fit: Callable[[], Any], predict: Callable[[], Any]) -> dict[str, Any]:
    return {"model": name, "fit_seconds": _best_time(fit), "predict_seconds": _best_time(predict)}


def _best_time(run: Callable[[], Any]) -> float:
    times: list[float] = []
    while len(times) < RUNS and sum(times) < ENOUGH:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def print_speed(console: Console, results: list[dict[str, Any]], n_train: int, n_test: int) -> None:
    table = grid(("", "fit", "predict", "accuracy", "leaves", "depth"))
    for result in results:
        table.add_row(
            result["model"],
            seconds(result["fit_seconds"]),
            seconds(result["predict_seconds"]),
            f"{result['accuracy']:.2%}",
            f"{result['leaves']:,}",
            f"{result['depth']:,}",
        )
    console.print(table)
    console.print(
        f"\nTrained on {n_train:,} rows, tested on {plural(n_test, 'other')}.",
        style="dim",
    )
    if len(results) == 2:
        ours, theirs = results
        ratios = [theirs[t] / ours[t] for t in ("fit_seconds", "predict_seconds")]
        fit, predict = (f"{ratio:.1f}" for ratio in ratios)
        console.print(
            f"scikit-learn takes {fit} times as long to fit and {predict} times as long to predict."
        )
