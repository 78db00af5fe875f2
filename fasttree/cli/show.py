# SPDX-License-Identifier: BSD-3-Clause
"""``fasttree show``: the tree of a model in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fasttree.base.wording import plural
from fasttree.cli import options
from fasttree.cli.help_text import help_text
from fasttree.cli.models import load_model
from fasttree.cli.terminal import speaks_unicode, stdout

if TYPE_CHECKING:
    from rich.console import Console

HELP = help_text(
    "Draw the tree of a model, fitted to the width of the terminal.",
    """Each line shows the test that leads to a node, its class, its training rows, the probability of the class among
    these (optimistic: the tree was fitted to them), and a bar of the training rows by class. "or missing" marks the
    branch that training rows with a missing value took, "or missing (surrogates)" the one that surrogates sent them
    to, and "(or missing)" the one that such rows take although there were none in training. Notes below the tree
    explain the details. Of a large tree, the upper levels are drawn, about 60 lines; of a node with more than 12
    branches, those with the most rows. Of a regressor, the columns are the mean of the training rows, their number and
    their standard deviation.""",
    examples=(
        "fasttree show patients.model",
        "fasttree show patients.model --depth 3",
        "fasttree show patients.model --all --plain > tree.txt",
    ),
)


def show(
    model: options.Model,
    depth: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Draw N levels of the tree.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Draw every node.")] = False,
    plain: Annotated[
        bool, typer.Option("--plain", help="Use ASCII characters and no colour.")
    ] = False,
) -> None:
    fitted = load_model(model)
    print_tree(stdout(plain), fitted, depth, everything, plain)


def print_tree(
    console: Console,
    model: Any,
    depth: int | None = None,
    everything: bool = False,
    plain: bool = False,
) -> None:
    from fasttree.draw.terminal import draw
    from fasttree.draw.terminal_bars import Look, legend

    look = Look(
        width=console.width,
        unicode=speaks_unicode(console) and not plain,
        colour=console.is_terminal and not console.no_color and not plain,
        depth=depth,
        everything=everything,
    )
    tree = model.tree_
    rows = float(tree.weighted_n_node_samples[0])
    size = (
        plural(tree.n_leaves, "leaf", "leaves"),
        f"depth {tree.max_depth}",
        plural(round(rows, 6), "training row"),
    )
    console.print(type(model).__name__, style="bold", end="")
    console.print(f": {', '.join(size)}", soft_wrap=True)
    if hasattr(model, "rules_"):
        console.print(
            "Predictions come from the rules, not from this tree, which they were derived from: see `fasttree rules`."
        )
    elif getattr(model, "averaged", None):
        console.print("Its probabilities are averages over the prunings of this tree.")
    console.print(legend(tree, look))
    console.print()
    # Rules have rows of their own to refuse; of the tree that they come from its routing is shown.
    shown = tree if hasattr(model, "rules_") else model.exportable()
    for line in draw(shown, look):
        console.print(line, soft_wrap=True)
