# SPDX-License-Identifier: BSD-3-Clause
"""What may be split: the best split of every attribute at some nodes, and those who judge between attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fasttree.growth.level import Level
from fasttree.growth.params import STOPPING, GrowthParams

# A split: rows of codes up to `code` take branch 0, or, by a table, `code` is the number of values present. The branch
# of missing values is -1 where there are none, or where the table says it.
SPLIT = np.dtype([("code", np.int64), ("n_branches", np.int32), ("missing_branch", np.int32)])

NO_GAIN = 1e-10  # gains up to this are 0, whatever rounding made of them


@dataclass(slots=True, eq=False)
class Candidates:
    """The best split of each attribute at some nodes; arrays are [attribute, node] if nothing else is said."""

    gain: np.ndarray  # float64: what the criterion finds; -inf: no admissible split
    split: np.ndarray  # SPLIT
    heuristic: np.ndarray  # bool: may there be a better one, or, where none was found, any?
    information: np.ndarray | None  # float64: split information of C4.5; values of a message
    score: np.ndarray  # float64: the gain as choosers see it, to which limits apply
    worth: np.ndarray  # float64: what the choice maximises
    eligible: np.ndarray | None = None  # int32 per node: attributes that a message could test


class CandidateBuffers:
    """Memory for the candidates of some nodes after the others, so that it is not asked of the system each time."""

    def __init__(self, n_attributes: int, has_information: bool) -> None:
        self._n_attributes = n_attributes
        self._has_information = has_information
        self._allocate(0)

    def _allocate(self, size: int) -> None:
        self._gain, self._split = np.empty(size), np.empty(size, dtype=SPLIT)
        self._heuristic = np.empty(size, dtype=bool)
        self._information = np.empty(size if self._has_information else 0)

    def candidates(self, n_nodes: int) -> Candidates:
        """As yet no attribute has an admissible split. Until the next call what is returned may be used."""
        shape, size = (self._n_attributes, n_nodes), self._n_attributes * n_nodes
        if size > len(self._gain):
            self._allocate(size)
        gain, heuristic = self._gain[:size].reshape(shape), self._heuristic[:size].reshape(shape)
        gain.fill(-np.inf)
        heuristic.fill(False)
        information = None
        if self._has_information:
            information = self._information[:size].reshape(shape)
            information.fill(0.0)
        split = self._split[:size].reshape(shape)
        return Candidates(gain, split, heuristic, information, score=gain, worth=gain)


class Chooser(Protocol):
    """Judges the candidates of nodes, where the gain is not the last word."""

    is_relative: bool  # are equal scores those that differ by a small share of themselves?

    def adjust(self, level: Level, nodes: np.ndarray, candidates: Candidates) -> None:
        """Replace `score`, `worth` or both of the candidates at some nodes of a level."""


def gain_limits(params: GrowthParams) -> tuple[float, float]:
    """What a split must gain at least, and more than what."""
    least = params.min_gain - NO_GAIN
    if params.by_chance and params.min_gain <= 0:  # a gain that allows for chance may be below 0
        least = -np.inf
    stops = params.stop_zero_gain or params.criterion in STOPPING
    return least, NO_GAIN if stops else -np.inf


def passes_gain_limits(score: np.ndarray, params: GrowthParams) -> np.ndarray:
    """Do splits of these scores gain what the user wants of a split?"""
    least, above = gain_limits(params)
    enough = np.asarray(score >= least)
    if above > -np.inf:
        enough &= score > above
    return enough
