# SPDX-License-Identifier: BSD-3-Clause
"""CART as rpart has it: its sizes of nodes, and the least complexity of a branch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fasttree.base.hints import check_choice
from fasttree.estimators.parameters import defaults_of
from fasttree.pruning import cost_complexity_path, prune_at
from fasttree.trees.structure import AnyTree

CP = 0.01  # of the root's risk; branches that save less for each leaf are taken back
SIZES = {"min_samples_split": 20, "min_samples_leaf": 7}


def with_sizes(kind: type, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an estimator for growth: those sizes that have their defaults are rpart's, if it is asked
    for."""
    found = dict(parameters)
    compat = found.pop("compat")
    if compat is None:
        return found
    check_choice("compat", compat, ("rpart",), " or None")
    defaults = defaults_of(kind)
    return found | {name: size for name, size in SIZES.items() if found[name] == defaults[name]}


def collapsed(tree: AnyTree, compat: str | None) -> AnyTree:
    """The tree without the branches that are not complex enough for rpart, if it is asked for."""
    if compat is None or tree.node_count == 1:
        return tree
    path = cost_complexity_path(tree)
    return prune_at(tree, path, CP * float(path.risk[-1]))[0]
