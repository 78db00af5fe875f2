# SPDX-License-Identifier: BSD-3-Clause
"""Pruning: one module per method. Functions take a `Tree` and return a smaller one, with a trace of the steps.

Nothing here reads tables or grows trees: callers pass class counts of held-out rows, folds or rows.
"""

from __future__ import annotations

from typing import Any

from fasttree.base.hints import check_choice
from fasttree.pruning.cost_complexity_pruning import (
    CostComplexity,
    Path,
    cost_complexity_path,
    prune_at,
)
from fasttree.pruning.cross_validated_pruning import CrossValidated, FoldRows, cross_validated
from fasttree.pruning.error_based_pruning import ErrorBased, added_errors, error_based
from fasttree.pruning.held_out import codes_of_classes, held_out_counts
from fasttree.pruning.leaf_penalty_pruning import LeafPenalty, generalisation_error, leaf_penalty
from fasttree.pruning.message_length_pruning import MessageLength, by_message_length
from fasttree.pruning.reduced_error_pruning import ReducedError, reduced_error
from fasttree.pruning.select_alpha import (
    Choice,
    PathChoice,
    choose_by_folds,
    choose_by_held_out,
    errors_along,
)
from fasttree.pruning.significance_pruning import Significance, significance, split_p_values
from fasttree.pruning.simplification import simplify, snip
from fasttree.pruning.subtree_raising import TrainingRows
from fasttree.pruning.trace import Trace

__all__ = [
    "METHODS",
    "Choice",
    "CostComplexity",
    "CrossValidated",
    "ErrorBased",
    "FoldRows",
    "LeafPenalty",
    "MessageLength",
    "Path",
    "PathChoice",
    "ReducedError",
    "Significance",
    "Trace",
    "TrainingRows",
    "added_errors",
    "by_message_length",
    "choose_by_folds",
    "choose_by_held_out",
    "codes_of_classes",
    "cost_complexity_path",
    "cross_validated",
    "error_based",
    "errors_along",
    "generalisation_error",
    "held_out_counts",
    "leaf_penalty",
    "prune_at",
    "read_method",
    "reduced_error",
    "significance",
    "simplify",
    "snip",
    "split_p_values",
]

# The names that stand for the methods with their defaults.
METHODS: dict[str, type[Any]] = {
    "reduced_error": ReducedError,
    "error_based": ErrorBased,
    "leaf_penalty": LeafPenalty,
    "cost_complexity": CostComplexity,
    "significance": Significance,
    "cross_validated": CrossValidated,
    "message_length": MessageLength,
}


def __dir__() -> list[str]:
    return __all__


def read_method(pruning: Any, name: str = "pruning") -> Any:
    """Return a pruning object for a name, an object or None. `name`: of the parameter; only `pruning` may be None."""
    may_be_none = name == "pruning"
    if isinstance(pruning, tuple(METHODS.values())) or (pruning is None and may_be_none):
        return pruning
    others = (
        ", or an object like fasttree.pruning.ErrorBased(confidence=0.1)"
        + ", or None" * may_be_none
    )
    return METHODS[check_choice(name, pruning, METHODS, others)]()
