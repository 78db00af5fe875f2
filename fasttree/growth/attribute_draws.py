# SPDX-License-Identifier: BSD-3-Clause
"""Attributes that are drawn for each node. What is drawn depends on the seed and on the way to the node alone: not on
threads, on the order of rows, or on where they are held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasttree.encoding.row_hashes import value_hashes


@dataclass(frozen=True, slots=True)
class AttributeDraw:
    """How many attributes are drawn for each node of a tree."""

    n_drawn: int
    seed: int

    def root_key(self) -> np.ndarray:
        """The key of the root: one number."""
        return value_hashes((), 1, self.seed)

    def drawn(self, keys: np.ndarray, n_attributes: int) -> np.ndarray:
        """Whether each attribute is drawn at nodes with these keys, [attribute, node]."""
        if self.n_drawn >= n_attributes:
            return np.ones((n_attributes, len(keys)), dtype=bool)
        hashes = value_hashes(
            (np.tile(keys, n_attributes), np.arange(n_attributes).repeat(len(keys))),
            n_attributes * len(keys),
        ).reshape(n_attributes, len(keys))
        most = np.partition(hashes, self.n_drawn - 1, axis=0)[self.n_drawn - 1]
        return np.asarray(hashes <= most)


def child_keys(parent_keys: np.ndarray, branch: np.ndarray) -> np.ndarray:
    """The keys of children from their parents' and from their branches."""
    return value_hashes((parent_keys, branch), len(branch))
