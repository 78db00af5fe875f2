# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree demo``: a tour that needs no file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fasttree.cli import options
from fasttree.cli.compare import has_sklearn, measure_own, measure_sklearn, print_speed
from fasttree.cli.help_text import help_text
from fasttree.cli.models import check_output, write_file
from fasttree.cli.show import print_tree
from fasttree.cli.terminal import print_text, stdout
from fasttree.cli.training_data import Data

if TYPE_CHECKING:
    from rich.console import Console

TARGET = "PlayTennis"
HELP = help_text(
    "Take a short tour that needs no file: tree, rules, accuracy, speed.",
    "The speed is compared with that of scikit-learn if it is installed.",
    examples=(
        "fasttree demo",
        "fasttree demo --csv tennis.csv   [dim]# the table of the tour, for trying the other commands[/dim]",
    ),
)


def demo(
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Only write the table of the tour to a CSV file."),
    ] = None,
    force: options.Force = False,
    rows: Annotated[
        int,
        typer.Option(
            min=1000, metavar="N", help="Number of rows in the speed test, at least 1000."
        ),
    ] = 100_000,
) -> None:
    from fasttree import datasets

    X, y = datasets.play_tennis()
    console = stdout()
    if csv is not None:
        check_output(csv, force)
        write_file(csv, _as_csv(X, y))
        console.print(f"Wrote {csv}: {len(y)} rows.", markup=False, soft_wrap=True)
        _next(console, str(csv))
        return
    from fasttree import ID3Classifier

    _title(console, "1. A tree", "ID3 on fourteen days: is tennis played?")
    model = ID3Classifier().fit(X, y)
    print_tree(console, model)
    _title(console, "2. The same tree as rules", "The first rule that applies decides.")
    print_text(model.rules().to_text())
    _accuracy(console, X, y)
    _speed(console, rows)
    _title(console, "5. Your own data", "")
    console.print("fasttree demo --csv tennis.csv", markup=False, soft_wrap=True)
    _next(console, "tennis.csv")


def _title(console: Console, title: str, subtitle: str) -> None:
    console.print(f"\n[bold]{title}[/bold]  [dim]{subtitle}[/dim]\n")


def _accuracy(console: Console, X: Any, y: Any) -> None:
    from fasttree import compare_methods
    from fasttree.cli.evaluate import differing, print_comparison
    from fasttree.cli.methods import METHODS, estimator_of

    _title(console, "3. Is it any good?", "Methods tested on days that they were not trained on.")
    names = ("id3", "c45", "smml", "mml", "bayes")
    methods = {METHODS[name].title: estimator_of(name) for name in names}
    found = compare_methods(X, y, methods)
    print_comparison(console, found, differing(found))
    console.print(
        "Fourteen days are few: look at the standard errors before you believe a difference.",
        style="dim",
    )


def _speed(console: Console, n_rows: int) -> None:
    from fasttree import TreeClassifier

    train, test = _large(n_rows).split(0.3)
    _title(
        console,
        "4. Speed",
        f"{n_rows:,} synthetic rows, 10 numeric attributes, exact trees, fully grown.",
    )
    results = [measure_own("tree", TreeClassifier(), train, test)]
    if has_sklearn():
        results.append(measure_sklearn(train, test))
    print_speed(console, results, train.n_rows, test.n_rows)
    if not has_sklearn():
        console.print(
            "scikit-learn is not installed: to compare with it, pip install scikit-learn."
        )


def _large(n_rows: int) -> Data:
    """Two classes that a few of the numbers decide, a tenth of them wrong."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 10)).astype(np.float32)  # both libraries can hold these exactly
    inside = (X[:, 0] * X[:, 1] + X[:, 2] > 0.2) ^ (rng.random(n_rows) < 0.1)
    table = pa.table({f"x{place}": X[:, place] for place in range(10)})
    target = pa.chunked_array([np.where(inside, "in", "out")])
    return Data(Path("made-up rows"), table, target, None, "class")


def _as_csv(X: Any, y: Any) -> str:
    columns = [*X.values(), y]
    lines = [",".join((*X, TARGET))]
    labels = [[column.categories[code] for code in column.codes.tolist()] for column in columns]
    lines += [",".join(row) for row in zip(*labels, strict=True)]
    return "\n".join(lines) + "\n"


def _next(console: Console, file: str) -> None:
    name = shlex.quote(file)
    for command in (
        f"fasttree train {name} --target {TARGET} --method id3 -o tennis.model",
        "fasttree show tennis.model",
        "fasttree export tennis.model --to sql",
        f"fasttree evaluate {name} --target {TARGET}",
        "fasttree --help",
    ):
        console.print(command, markup=False, soft_wrap=True)
