# SPDX-License-Identifier: BSD-3-Clause
"""What growth asks of those who hold the rows, wherever they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from fasttree.growth.candidates import Candidates
from fasttree.growth.children import Children
from fasttree.growth.level import HistogramPool, Level


class RowStore(Protocol):
    """The rows of one fit, each of which knows its node."""

    histogram_pool: HistogramPool

    def search(self, level: Level, drawn: np.ndarray | None) -> Iterator[tuple[slice, Candidates]]:
        """Bring the rows to the nodes of a level, and find the best split of every attribute at its frontier, some
        nodes after the others. `drawn`[attribute, node] says which attributes are tried at which; None: all are."""

    def varies(self, level: Level, nodes: np.ndarray, attribute: int) -> np.ndarray:
        """Whether closed nodes of a level have two values of an attribute. (Message lengths ask for it, before
        `search`.)"""

    def describe(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, split: np.ndarray
    ) -> Children:
        """The children that splits would have. (Scores that allow for chance ask for it, within `search`.)"""

    def apply(
        self, level: Level, nodes: np.ndarray, attribute: np.ndarray, split: np.ndarray
    ) -> Children:
        """Make the splits of some nodes: their children, and the branch of every row."""

    def parts(self, level: Level) -> list[Level]:
        """A level in parts that are to be grown one after another, if that saves memory."""

    def resume(self, level: Level) -> None:
        """Back to where the rows stood before a part of a level is searched."""

    def release(self) -> None:
        """Growth is over."""
