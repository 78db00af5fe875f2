# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of how large a tree should be: errors against leaves, and the path of cost-complexity pruning."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from fasttree.base.checks import check_integer
from fasttree.base.elementary import exp, log
from fasttree.base.wording import plural
from fasttree.plot.canvas import COLOURS, SOFT, axes, look, tidy
from fasttree.pruning import Path, cost_complexity_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 50  # leaves


def error_by_leaves(
    model: Any,
    X: Any,
    y: Any,
    X_val: Any,
    y_val: Any,
    *,
    most_trees: int = 80,
    ax: Axes | None = None,
) -> Axes:
    """Draw the error rate (of a regressor 1 - R2) on training and validation rows of the pruned trees, from the root
    alone to the whole tree.

    Fit `model` with ``pruning=None`` to see where a tree begins to overfit. The trees are those of cost-complexity
    pruning; if there are more than `most_trees`, a selection is drawn.
    """
    tree = _tree_of(model)
    most_trees = check_integer("most_trees", most_trees, 2)
    path = cost_complexity_path(tree)
    places = _some(path.leaves, most_trees)
    pruned = copy.copy(model)  # reads rows as the model does
    errors = []
    for place in places:
        pruned.tree_ = tree.subtree(path.dies_at > path.alphas[place])
        errors.append((1 - pruned.score(X, y), 1 - pruned.score(X_val, y_val)))
    leaves = path.leaves[places]
    best = int(np.argmin([other for _, other in errors]))
    with axes(ax, 5.5, 3.8) as ax:
        tidy(ax)
        for k, (name, rate) in enumerate(
            zip(("training rows", "validation rows"), np.array(errors).T, strict=True)
        ):
            ax.plot(leaves, rate, label=name, **look(k))
        ax.plot(
            leaves[best],
            errors[best][1],
            "o",
            color=COLOURS[1],
            label=f"lowest error: {plural(leaves[best], 'leaf', 'leaves')}",
        )
        _wide_scale(ax, leaves)
        ax.set(xlabel="leaves", ylabel=_error_name(model))
        ax.set_ylim(bottom=0)
        ax.legend(frameon=False)
    return ax


def pruning_path(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the candidate trees of cost-complexity pruning: their error rates with standard errors against the number
    of leaves, and the chosen tree. For a `Path`, only the training risk is drawn."""
    choice = getattr(model, "pruning_choice_", None)
    if not isinstance(model, Path) and choice is None:
        raise ValueError(
            "the model has no pruning_choice_: fit it with pruning='cost_complexity' (as CARTClassifier does), or pass "
            "a path of fasttree.pruning.cost_complexity_path"
        )
    with axes(ax, 5.5, 3.8) as ax:
        tidy(ax)
        if isinstance(model, Path):
            ax.plot(model.leaves, model.risk, marker="o", markersize=3, **look(0))
            ax.set(xlabel="leaves", ylabel=f"training risk ({model.impurity})")
        else:
            _draw_choice(ax, choice, _error_name(model))
        _wide_scale(ax, (model if choice is None else choice).leaves)
    return ax


def _error_name(model: Any) -> str:
    """What the errors of a model are: of a regressor 1 - R2."""
    return "error rate" if hasattr(model, "classes_") else "squared error / variance"


def _draw_choice(ax: Axes, choice: Any, name: str) -> None:
    rate, error, taken = choice.rate, choice.standard_error, choice.place
    style = look(1) | {"linestyle": "-", "linewidth": 1.2}
    ax.errorbar(
        choice.leaves,
        rate,
        error,
        marker="o",
        markersize=3,
        label=f"{name} ± one standard error",
        **style,
    )
    ax.plot(
        choice.leaves[taken],
        rate[taken],
        "D",
        color=COLOURS[0],
        markersize=8,
        label=f"chosen: {plural(choice.leaves[taken], 'leaf', 'leaves')}, alpha {choice.alpha:.3g}",
    )
    lowest = int(np.argmin(rate))
    ax.axhline(rate[lowest] + choice.se * error[lowest], color=SOFT, linewidth=0.9, linestyle="--")
    ax.set(xlabel="leaves", ylabel=f"{name}, held-out rows")
    ax.legend(frameon=False)


def _wide_scale(ax: Axes, leaves: np.ndarray) -> None:
    """Logarithmic where trees differ much in size, with numbers that are read without thinking."""
    if leaves.max() > WIDE:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:,.0f}")


def _tree_of(model: Any) -> Any:
    if not hasattr(model, "tree_"):
        raise ValueError(f"model must be a fitted tree, got {type(model).__name__}: call fit first")
    if getattr(model, "averaged", None):
        raise ValueError(
            f"{model.averaged} averages over all prunings of its tree, so there is no single tree of each size: use "
            "SMMLClassifier, or TreeClassifier(pruning=None)"
        )
    return model.tree_


def _some(leaves: np.ndarray, most: int) -> np.ndarray:
    """Places along the path, evenly on a logarithmic scale, the ends among them."""
    if len(leaves) <= most:
        return np.arange(len(leaves))
    wanted = exp(np.linspace(log(float(leaves[0])), log(float(leaves[-1])), most))
    return np.unique([int(np.argmin(np.abs(leaves - size))) for size in wanted])
