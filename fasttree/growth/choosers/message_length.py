# SPDX-License-Identifier: BSD-3-Clause
"""Growth by message length or by evidence: which attribute's split makes the shortest message.

The core says how many bits the best split of each attribute takes to tell the classes, and to tell that split from the
others of the attribute. A message also says that the node is a test and no leaf, which attribute it asks for, and that
the children are leaves (they count as such). What is compared is the negative length.
"""

from __future__ import annotations

import numpy as np

from fasttree.base.elementary import log2
from fasttree.growth.params import BRANCH_SHIFT, CATEGORICAL_SPLITS, PRESENT, GrowthParams
from fasttree.mml.message import log2_partitions

LEAVES_OF_TWO = 2.0  # bits to say of both children of a split in two that they are leaves


class MessageLengthChooser:
    """The choice among the attributes of a node."""

    def __init__(self, params: GrowthParams, shape: np.ndarray, n_codes: np.ndarray) -> None:
        self.is_evidence = params.criterion == "evidence"
        self.n_attributes = len(shape)
        self.n_categories = n_codes.astype(np.int64) - 1
        # Until they were asked for, these may be, whatever the rows; any other attribute while its values differ.
        self.by_branch = shape == CATEGORICAL_SPLITS["multiway"]
        self.grouped = shape == CATEGORICAL_SPLITS["grouped"]
        self.others = np.flatnonzero(~self.by_branch)
        self.tables = np.flatnonzero(self.by_branch | self.grouped)

    def n_untested(self, tested: np.ndarray) -> np.ndarray:
        """How many attributes with a branch for each level were not yet asked for, of `tested`[node, attribute]."""
        return np.asarray((~tested[:, self.by_branch]).sum(axis=1))

    def n_branches(self, attribute: np.ndarray, cut: np.ndarray) -> np.ndarray:
        """The branches of splits as a message counts them: a level without rows has its own too."""
        present, above = cut & PRESENT, cut >> BRANCH_SHIFT
        n_categories = self.n_categories[attribute]
        by_branch = n_categories + (above > present)  # missing values may have one as well
        groups = above + (present < n_categories)
        many = np.where(self.by_branch[attribute], by_branch, groups)
        is_table = self.by_branch[attribute] | self.grouped[attribute]
        return np.asarray(np.where(is_table, many, 2))

    def adjusted_score(
        self,
        score: np.ndarray,
        cut: np.ndarray,
        n_values: np.ndarray,
        tested: np.ndarray,
        siblings: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Minus the length of the one-level subtree of each [attribute, node], and each node's eligible attributes.

        `score` and `n_values` are the core's, [attribute, node]; `tested` [node, attribute] are those asked for on
        the way to the node, `siblings` the branches of the parent's split, 0 for the root.
        """
        eligible = (n_values[self.others] > 1).sum(axis=0)
        adjusted = score
        if len(self.tables):
            eligible += self.n_untested(tested)
            adjusted = np.where(self.by_branch[:, np.newaxis] & tested.T, -np.inf, score)
            adjusted[self.grouped] -= _bits_of_groups(
                adjusted[self.grouped], n_values[self.grouped], cut[self.grouped]
            )
            adjusted[self.by_branch] -= _bits_of_joining(cut[self.by_branch])
        if self.is_evidence:
            return adjusted, eligible
        is_test = np.where(
            siblings > 0,
            1 / np.maximum(siblings, 2),
            1 - 1 / max(self.n_attributes, 2),
        )
        bits = log2(np.maximum(eligible, 1)) - log2(is_test)
        adjusted = adjusted - (bits + LEAVES_OF_TWO)
        if len(self.tables):
            adjusted[self.tables] += LEAVES_OF_TWO - self._bits_of_leaves(
                cut[self.tables], eligible
            )
        return adjusted, eligible

    def leaf_bits(
        self, attribute: np.ndarray, n_branches: np.ndarray, eligible: np.ndarray
    ) -> np.ndarray:
        """What it takes to say of a child with rows that it is a leaf; nothing if nothing is left to ask for."""
        is_free = self.by_branch[attribute] & (eligible == 1)
        return np.where(is_free, 0.0, -log2(1 - 1 / np.maximum(n_branches, 2)))

    def _bits_of_leaves(self, cut: np.ndarray, eligible: np.ndarray) -> np.ndarray:
        """What it takes to say of all the children of the `tables` that they are leaves; those without rows are leaves
        for sure."""
        present, above = cut & PRESENT, cut >> BRANCH_SHIFT
        by_branch = self.by_branch[self.tables][:, np.newaxis]
        filled = np.where(by_branch, present + (above > present), above)
        attribute = np.broadcast_to(self.tables[:, np.newaxis], cut.shape)
        return filled * self.leaf_bits(attribute, self.n_branches(attribute, cut), eligible)


def _bits_of_joining(cut: np.ndarray) -> np.ndarray:
    """log2 of the ways to put p levels and "missing" into p branches, where missing values have joined a level."""
    present, above = cut & PRESENT, cut >> BRANCH_SHIFT
    joined = (above > 0) & (above <= present)
    return log2(np.where(joined, present * (present + 1) / 2, 1.0))


def _bits_of_groups(score: np.ndarray, n_values: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """log2 of the ways to put the values into as many groups as the splits make."""
    bits = np.zeros(score.shape)
    possible = np.isfinite(score)
    pairs = np.stack([n_values[possible].astype(np.int64), cut[possible] >> BRANCH_SHIFT], axis=1)
    distinct, which = np.unique(pairs, axis=0, return_inverse=True)
    ways = np.array([log2_partitions(int(n), int(k)) for n, k in distinct])
    bits[possible] = ways[which] if len(distinct) else 0.0
    return bits
