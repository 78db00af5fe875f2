# SPDX-License-Identifier: BSD-3-Clause
"""How many bits a message takes that tells the classes of the training rows by means of a tree.

The receiver knows the attribute values of every row. The message walks through the tree: at each node it says whether
the node is a leaf (structure) and, if not, which test is made (test); at a leaf it tells the classes of the rows by an
adaptive code (data). The shortest message is the best compromise between a small tree and pure leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from fasttree.base.checks import check_alpha
from fasttree.base.elementary import log1p, log2, log_gamma, logaddexp2
from fasttree.base.hints import check_choice
from fasttree.base.sums import sums, total
from fasttree.trees.class_shares import has_parts, settled
from fasttree.trees.decide import classes_of_shares, snap_near_ties
from fasttree.trees.traversal import decide_bottom_up
from fasttree.trees.tree import Tree

Alpha = float | Literal["opt", "1/C"]

CUT_CODES = ("uniform", "dyadic")
TIE = 1e-10  # lengths that differ by less, relatively, are equal
NATS_PER_BIT = 0.6931471805599453  # log 2


@dataclass(frozen=True, slots=True, eq=False)
class TestOptions:
    """The number of possible splits at each node of a tree; see `fasttree.choices.choices_of`."""

    __test__ = False  # for pytest

    # Attributes that a test could ask for; of a leaf it only matters if it is 0.
    eligible: np.ndarray
    n_cuts: np.ndarray  # cuts between the values of the attribute that is split by order, else 0
    place: np.ndarray  # how many of them lie below the one that was made

    def of_subtree(self, tree: Tree, is_split: np.ndarray) -> TestOptions:
        """The choices of the nodes that ``tree.subtree(is_split)`` keeps."""
        kept = tree.kept_nodes(is_split)
        return TestOptions(self.eligible[kept], self.n_cuts[kept], self.place[kept])


Choices = TestOptions  # its first name


@dataclass(frozen=True, slots=True, eq=False)
class MessageLength:
    """The message length of a tree in bits, node by node."""

    structure: np.ndarray  # to say that the node is a leaf, or that it is not, whichever it is
    test: np.ndarray  # to say which test is made; 0 at leaves
    data: np.ndarray  # to tell the classes of the node's rows, if the node were a leaf
    as_leaf: np.ndarray  # to say that it is one, and to tell the classes
    subtree: np.ndarray  # everything from the node downwards
    alpha: float
    alpha_bits: float  # to say which alpha is used, if that was a choice
    is_leaf: np.ndarray

    @property
    def bits(self) -> float:
        """The length of the whole message."""
        return float(self.subtree[0]) + self.alpha_bits

    @property
    def parts(self) -> dict[str, float]:
        """The total lengths of the structure, the tests and the classes, and of the choice of alpha."""
        return {
            "structure": total(self.structure),
            "tests": total(self.test),
            "classes": total(self.data[self.is_leaf]),
            "alpha": self.alpha_bits,
        }


@dataclass(frozen=True, slots=True, eq=False)
class LengthPruning:
    """A tree pruned to its shortest message, and the message lengths that justify it."""

    tree: Tree
    bits: float
    alpha: float
    is_split: np.ndarray  # of the nodes of the tree before: splits that pay for themselves
    as_leaf: np.ndarray  # ... bits if it were a leaf
    shortest: np.ndarray  # ... bits of the best that the subtree can be pruned to


def message_length(
    tree: Tree, choices: TestOptions, *, alpha: Alpha = 0.5, cut_code: str = "uniform"
) -> MessageLength:
    """Return the message length of a tree.

    `alpha` is the prior count of every class: 1 is Laplace's prior, 0.5 Jeffreys', "1/C" one divided by the number of
    classes (Perks'); "opt" selects the best of eight values, which adds 3 bits. `cut_code`: "uniform" treats all cuts
    of an attribute as equally likely, "dyadic" uses 2 d - 1 bits for a cut found by halving d times, so that cuts in
    the middle are cheap.
    """
    is_leaf = tree.is_leaf()
    alphas = check_alpha(alpha, tree.counts.shape[1])
    data = [bits_of_classes(tree.counts, a) for a in alphas]
    best = _first_least([total(bits[is_leaf]) for bits in data])
    leaf_structure, split_structure = bits_of_structure(tree, choices)
    test = bits_of_tests(tree, choices, cut_code)
    as_leaf = leaf_structure + data[best]
    subtree = tree.subtree_sums(np.where(is_leaf, as_leaf, split_structure + test))
    return MessageLength(
        structure=np.where(is_leaf, leaf_structure, split_structure),
        test=test,
        data=data[best],
        as_leaf=as_leaf,
        subtree=subtree,
        alpha=alphas[best],
        alpha_bits=log2(len(alphas)),
        is_leaf=is_leaf,
    )


def prune_by_length(
    tree: Tree, choices: TestOptions, *, alpha: Alpha = 0.5, cut_code: str = "uniform"
) -> LengthPruning:
    """Return the pruning of the tree with the shortest message; in case of ties, the smallest tree.

    The probabilities of a leaf are (n_c + alpha) / (n + alpha * classes); a leaf without rows has those of its parent.
    """
    leaf_structure, split_structure = bits_of_structure(tree, choices)
    as_split = split_structure + bits_of_tests(tree, choices, cut_code)
    alphas = check_alpha(alpha, tree.counts.shape[1])
    lengths = [leaf_structure + bits_of_classes(tree.counts, a) for a in alphas]
    pruned = [
        decide_bottom_up(tree, as_leaf, np.where(tree.is_leaf(), as_leaf, as_split), relative=TIE)
        for as_leaf in lengths
    ]
    best = _first_least([float(decision.best[0]) for decision in pruned])
    shortest, is_split = pruned[best].best, ~pruned[best].cut & ~tree.is_leaf()
    smoothed = with_shares(tree, smoothed_shares(tree, alphas[best]))
    return LengthPruning(
        tree=smoothed.subtree(is_split),
        bits=float(shortest[0]) + log2(len(alphas)),
        alpha=alphas[best],
        is_split=is_split,
        as_leaf=lengths[best],
        shortest=shortest,
    )


# -- the parts of a message ----------------------------------------------------------------------------------------


def bits_of_classes(counts: np.ndarray, alpha: float) -> np.ndarray:
    """The length of the adaptive code of the classes at each node, [node, class] -> [node].

    A row of a class seen k times among the j rows before it takes -log2 of (k + alpha) / (j + alpha * classes). The sum
    does not depend on the order of the rows, and its expression in gamma functions also allows fractional rows.
    """
    n_classes = counts.shape[1]
    seen = sums(log_gamma(counts + alpha)) - n_classes * log_gamma(alpha)
    rows = log_gamma(sums(counts) + n_classes * alpha) - log_gamma(n_classes * alpha)
    return np.maximum(rows - seen, 0.0) / NATS_PER_BIT


def bits_of_structure(tree: Tree, choices: TestOptions) -> tuple[np.ndarray, np.ndarray]:
    """The number of bits that encode, for each node, whether it is a leaf.

    The root is a leaf with probability 1 / attributes, any other node has a test with probability 1 / (branches of its
    parent). A node without rows, or without an eligible attribute, can only be a leaf.
    """
    # Of absent values everyone has its branch.
    arity = np.bincount(tree.parent[1:], weights=tree.multiplicity[1:], minlength=tree.node_count)
    is_test = 1.0 / np.maximum(arity[tree.parent], 2.0)
    is_test[0] = 1.0 - 1.0 / max(len(tree.schema.attributes), 2)
    must_be_leaf = (choices.eligible == 0) | ~tree.counts.any(axis=1)
    return np.where(must_be_leaf, 0.0, -log2(1.0 - is_test)), -log2(is_test)


def bits_of_tests(tree: Tree, choices: TestOptions, cut_code: str) -> np.ndarray:
    """The number of bits that encode the test of each node: one of the eligible attributes, and one of its possible
    splits.
    """
    check_choice("cut_code", cut_code, CUT_CODES)
    split = np.flatnonzero(~tree.is_leaf())
    by_order = choices.n_cuts[split] > 0
    bits = np.zeros(tree.node_count)
    bits[split] = log2(np.maximum(choices.eligible[split], 1))
    cut = split[by_order]
    if cut_code == "uniform":
        bits[cut] += log2(choices.n_cuts[cut])
    else:
        bits[cut] += _halving_bits(choices.n_cuts[cut], choices.place[cut])
    # Missing values that chose their side: one bit says which. Setting them apart is one of the cuts.
    bits[cut] += tree.missing_chosen()[cut]
    grouped = split[~by_order]
    bits[grouped] += _grouping_bits(tree)[grouped]
    return bits


def _halving_bits(n_cuts: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """2 d - 1 for a cut that is the d-th middle when the cuts are halved again and again."""
    low, high = np.zeros_like(n_cuts), n_cuts - 1
    halvings = np.ones(len(n_cuts))
    for _ in range(int(n_cuts.max(initial=1)).bit_length()):
        middle = (low + high) // 2
        halvings += middle != cut
        low = np.where(cut > middle, middle + 1, low)
        high = np.where(cut < middle, middle - 1, high)
    return 2.0 * halvings - 1.0


def _grouping_bits(tree: Tree) -> np.ndarray:
    """log2 of the number of ways to put the values present at a node into as many groups as its table makes.

    For two groups of p values that is 2^(p - 1) - 1, for a branch each it is 1. Where missing values have chosen their
    branch, missing is one more value.
    """
    n_values = np.diff(tree.table_start)
    is_chosen = tree.missing_chosen()
    seen = np.flatnonzero(is_chosen)
    branch = np.concatenate([tree.table_branch, tree.missing_branch[seen]]).astype(np.int64)
    width = int(tree.n_children.max()) + 1
    groups = np.unique(np.concatenate([tree.table_node, seen]) * width + branch)
    n_groups = np.bincount(groups // width, minlength=tree.node_count)
    n_values = n_values + is_chosen
    bits = np.zeros(tree.node_count)
    pair = (n_groups == 2) & (n_values > 2)
    bits[pair] = n_values[pair] - 1.0 + log1p(-np.ldexp(1.0, 1 - n_values[pair])) / NATS_PER_BIT
    for i in np.flatnonzero((n_groups > 2) & (n_groups < n_values)):  # few trees have any
        bits[i] = log2_partitions(int(n_values[i]), int(n_groups[i]))
    return bits


@lru_cache
def log2_partitions(n_values: int, n_groups: int) -> float:
    """log2 of the ways to put n values into k groups, none empty: S(n, k) = S(n - 1, k - 1) + k S(n - 1, k)."""
    bits = np.full(n_groups + 1, -np.inf)
    bits[0] = 0.0
    log_k = log2(np.maximum(np.arange(n_groups + 1), 1))
    for _ in range(n_values):
        bits[1:] = logaddexp2(bits[:-1], bits[1:] + log_k[1:])
        bits[0] = -np.inf
    return float(bits[-1])


# -- class shares --------------------------------------------------------------------------------------------------


def smoothed_shares(tree: Tree, alpha: float) -> np.ndarray:
    """(n_c + alpha) / (n + alpha * classes) at every node; a node without rows has its parent's shares."""
    shares = tree.schema.priors.shares(tree.counts + alpha)
    empty = np.flatnonzero(~tree.counts.any(axis=1))
    shares[empty] = shares[tree.parent[empty]]
    return shares


def with_shares(tree: Tree, shares: np.ndarray) -> Tree:
    """The tree with other class shares at its nodes, and the classes that follow from them."""
    proba = snap_near_ties(shares)
    if has_parts(tree.counts):
        proba = settled(proba)
    pred = classes_of_shares(proba, tree.schema).astype(np.int32)
    return replace(tree, proba=proba, pred=pred)


def _first_least(lengths: list[float]) -> int:
    """The first of the lengths that are least but for rounding."""
    least = min(lengths)
    return next(i for i, bits in enumerate(lengths) if bits <= least + TIE * abs(least))
