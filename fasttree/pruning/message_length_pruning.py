# SPDX-License-Identifier: BSD-3-Clause
"""Pruning to the shortest message: the bits of the tree and of the classes of its rows by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fasttree.base.checks import check_alpha
from fasttree.base.hints import check_choice, settings
from fasttree.mml.message import (
    CUT_CODES,
    Alpha,
    TestOptions,
    bits_of_structure,
    bits_of_tests,
    prune_by_length,
)
from fasttree.pruning.requirements import TRAINING_ROWS
from fasttree.pruning.trace import Trace, trace_of
from fasttree.trees.traversal import decide_bottom_up
from fasttree.trees.tree import Tree


@settings
@dataclass(frozen=True, slots=True)
class MessageLength:
    """Pruning wherever a leaf does not make the message longer (Wallace and Patrick), see `fasttree.message_length`.

    Parameters
    ----------
    alpha : float, "1/C" or "opt"
        The prior count of every class; the probabilities of leaves include it too.
    cut_code : {"uniform", "dyadic"}
        How thresholds are encoded.
    """

    alpha: Alpha = 0.5
    cut_code: str = "uniform"
    needs: ClassVar[str] = TRAINING_ROWS

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_choice("cut_code", self.cut_code, CUT_CODES)


def by_message_length(
    tree: Tree, choices: TestOptions, how: MessageLength | None = None
) -> tuple[Tree, Trace]:
    """Return the pruning with the shortest message, and its trace. `choices`: the possible splits at each node."""
    how = how or MessageLength()
    pruned = prune_by_length(tree, choices, alpha=how.alpha, cut_code=how.cut_code)
    as_leaf = pruned.as_leaf
    _, structure = bits_of_structure(tree, choices)
    as_split = structure + bits_of_tests(tree, choices, how.cut_code)
    found = decide_bottom_up(tree, as_leaf, np.where(tree.is_leaf(), as_leaf, as_split))
    nodes = np.flatnonzero(~pruned.is_split & ~tree.is_leaf())[::-1]
    trace = trace_of(
        tree,
        "message_length",
        "bits",
        nodes,
        found.leaves_removed[nodes],
        found.before[nodes],
        as_leaf[nodes],
    )
    return pruned.tree, trace
