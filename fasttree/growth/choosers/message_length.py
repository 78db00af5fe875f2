# SPDX-License-Identifier: BSD-3-Clause
"""Growth by message length or by evidence: which attribute's split makes the shortest message.

The core says how many bits the best split of each attribute takes to tell the classes, and to tell that split from the
others of the attribute. A message also says that the node is a test and no leaf, which attribute it asks for, and that
the children are leaves (they count as such). What is compared is the negative length.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fasttree._core import GROUPED, MULTIWAY
from fasttree.base.elementary import log2
from fasttree.growth.candidates import Candidates
from fasttree.growth.level import Level
from fasttree.growth.params import GrowthParams
from fasttree.mml.message import log2_partitions

LEAVES_OF_TWO = 2.0  # bits to say of both children of a split in two that they are leaves


class MessageLengthChooser:
    """The choice among the attributes of a node."""

    is_relative = True

    def __init__(self, params: GrowthParams, shape: np.ndarray, n_codes: np.ndarray) -> None:
        self.is_evidence = params.criterion == "evidence"
        self.n_attributes = len(shape)
        self.n_categories = n_codes.astype(np.int64) - 1
        # Until they were asked for, these may be, whatever the rows; any other attribute while its values differ.
        self.by_branch = shape == MULTIWAY
        self.grouped = shape == GROUPED
        self.others = np.flatnonzero(~self.by_branch)
        self.tables = np.flatnonzero(self.by_branch | self.grouped)

    def n_untested(self, tested: np.ndarray) -> np.ndarray:
        """How many attributes with a branch for each level were not yet asked for, of `tested`[node, attribute]."""
        return np.asarray((~tested[:, self.by_branch]).sum(axis=1))

    def eligible_if_closed(
        self, level: Level, varies: Callable[[Level, np.ndarray, int], np.ndarray]
    ) -> np.ndarray:
        """Whether a message could ask for anything at each of the closed nodes; 0 for the frontier. `varies` says of
        some nodes whether they have two values of an attribute."""
        eligible = np.zeros(level.n_nodes, dtype=np.int32)
        closed = np.ones(level.n_nodes, dtype=bool)
        closed[level.frontier] = False
        assert level.tested is not None
        eligible[closed] = self.n_untested(level.tested)[closed]
        unclear = np.flatnonzero(closed & (eligible == 0) & (level.n_rows > 1))
        for attribute in self.others.tolist():
            if not len(unclear):
                break
            found = varies(level, unclear, attribute)
            eligible[unclear[found]] = 1
            unclear = unclear[~found]
        return eligible

    def n_branches(self, attribute: np.ndarray, split: np.ndarray) -> np.ndarray:
        """The branches of splits as a message counts them: a level without rows has its own too."""
        present, n_branches = split["code"], split["n_branches"].astype(np.int64)
        n_categories = self.n_categories[attribute]
        by_branch = n_categories + (n_branches > present)  # missing values may have one as well
        groups = n_branches + (present < n_categories)
        many = np.where(self.by_branch[attribute], by_branch, groups)
        is_table = self.by_branch[attribute] | self.grouped[attribute]
        return np.asarray(np.where(is_table, many, 2))

    def adjust(self, level: Level, nodes: np.ndarray, candidates: Candidates) -> None:
        """The score is minus the length of the one-level subtree; each node gets its number of eligible attributes."""
        assert candidates.information is not None
        assert level.tested is not None
        assert level.siblings is not None
        score, split, n_values = candidates.score, candidates.split, candidates.information
        tested, siblings = level.tested[nodes], level.siblings[nodes]
        eligible = (n_values[self.others] > 1).sum(axis=0)
        adjusted = score
        if len(self.tables):
            eligible += self.n_untested(tested)
            adjusted = np.where(self.by_branch[:, np.newaxis] & tested.T, -np.inf, score)
            adjusted[self.grouped] -= _bits_of_groups(
                adjusted[self.grouped], n_values[self.grouped], split[self.grouped]
            )
            adjusted[self.by_branch] -= _bits_of_joining(split[self.by_branch])
        candidates.eligible = eligible
        candidates.score = candidates.worth = adjusted
        if self.is_evidence:
            return
        is_test = np.where(
            siblings > 0,
            1 / np.maximum(siblings, 2),
            1 - 1 / max(self.n_attributes, 2),
        )
        bits = log2(np.maximum(eligible, 1)) - log2(is_test)
        adjusted = adjusted - (bits + LEAVES_OF_TWO)
        if len(self.tables):
            adjusted[self.tables] += LEAVES_OF_TWO - self._bits_of_leaves(
                split[self.tables], eligible
            )
        candidates.score = candidates.worth = adjusted

    def leaf_bits(
        self, attribute: np.ndarray, n_branches: np.ndarray, eligible: np.ndarray
    ) -> np.ndarray:
        """What it takes to say of a child with rows that it is a leaf; nothing if nothing is left to ask for."""
        is_free = self.by_branch[attribute] & (eligible == 1)
        return np.where(is_free, 0.0, -log2(1 - 1 / np.maximum(n_branches, 2)))

    def _bits_of_leaves(self, split: np.ndarray, eligible: np.ndarray) -> np.ndarray:
        """What it takes to say of all the children of the `tables` that they are leaves; those without rows are leaves
        for sure."""
        attribute = np.broadcast_to(self.tables[:, np.newaxis], split.shape)
        n_branches = self.n_branches(attribute, split)
        return np.asarray(split["n_branches"] * self.leaf_bits(attribute, n_branches, eligible))


def _bits_of_joining(split: np.ndarray) -> np.ndarray:
    """log2 of the ways to put p levels and "missing" into p branches, where missing values have joined a level."""
    present, missing_branch = split["code"], split["missing_branch"]
    joined = (missing_branch >= 0) & (missing_branch < present)
    return log2(np.where(joined, present * (present + 1) / 2, 1.0))


def _bits_of_groups(score: np.ndarray, n_values: np.ndarray, split: np.ndarray) -> np.ndarray:
    """log2 of the ways to put the values into as many groups as the splits make."""
    bits = np.zeros(score.shape)
    possible = np.isfinite(score)
    pairs = np.stack([n_values[possible].astype(np.int64), split["n_branches"][possible]], axis=1)
    distinct, which = np.unique(pairs, axis=0, return_inverse=True)
    ways = np.array([log2_partitions(int(n), int(k)) for n, k in distinct])
    bits[possible] = ways[which] if len(distinct) else 0.0
    return bits
