# SPDX-License-Identifier: BSD-3-Clause
"""Averaging over all the prunings of a tree, each weighed by its probability, in one walk up and one down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasttree.base.checks import check_alpha
from fasttree.base.elementary import exp, logaddexp
from fasttree.base.hints import check_choice
from fasttree.mml.message import (
    NATS_PER_BIT,
    TIE,
    Alpha,
    TestOptions,
    bits_of_classes,
    bits_of_structure,
    bits_of_tests,
    smoothed_shares,
    with_shares,
)
from fasttree.trees.traversal import levels_upwards
from fasttree.trees.tree import Tree

PRIORS = ("half", "wallace_patrick")


@dataclass(frozen=True, slots=True, eq=False)
class PruningWeights:
    """The probabilities of the prunings of a tree, node by node."""

    # ln of the probability of the node's classes, over all prunings of its subtree.
    log_evidence: np.ndarray
    # Probability that the node is a leaf, given that none above it is; 1 at leaves.
    weight: np.ndarray
    alpha: float


def pruning_weights(
    tree: Tree,
    choices: TestOptions | None = None,
    *,
    prior: str = "half",
    alpha: Alpha = 0.5,
    cut_code: str = "uniform",
) -> PruningWeights:
    """Return the posterior probability of each node that the tree ends there.

    `prior`: "half", every node is a leaf with probability 1/2 (Bayesian trees); "wallace_patrick", the probabilities
    that correspond to the message lengths, which requires `choices`. `alpha`: see
    `fasttree.message_length.message_length`; "opt" selects the one with the largest evidence.
    """
    check_choice("prior", prior, PRIORS)
    if prior == "half":
        inner = np.where(tree.is_leaf(), 0.0, -NATS_PER_BIT)
        log_leaf, log_split = inner, inner
    else:
        if choices is None:
            raise ValueError(
                'prior="wallace_patrick" requires choices: compute them with fasttree.choices.choices_of(tree, X)'
            )
        leaf_structure, split_structure = bits_of_structure(tree, choices)
        log_leaf = -NATS_PER_BIT * leaf_structure
        log_split = -NATS_PER_BIT * (split_structure + bits_of_tests(tree, choices, cut_code))
    found = None
    for number in check_alpha(alpha, tree.counts.shape[1]):
        log_end = log_leaf - NATS_PER_BIT * bits_of_classes(tree.counts, number)
        log_evidence = _sum_over_prunings(tree, log_end, log_split)
        if found is None or log_evidence[0] > found.log_evidence[0] * (1 - TIE):  # it is below 0
            weight = exp(np.minimum(log_end - log_evidence, 0.0))
            found = PruningWeights(log_evidence, weight, number)
    assert found is not None
    return found


def average_prunings(
    tree: Tree,
    choices: TestOptions | None = None,
    *,
    prior: str = "half",
    alpha: Alpha = 0.5,
    cut_code: str = "uniform",
) -> Tree:
    """Return the same tree with predictions averaged over its prunings.

    The class probabilities of a node are averages over the nodes on its path, each weighted with the probability that
    the tree ends there: w(root) q(root) + (1 - w(root)) (w(child) q(child) + (1 - w(child)) ...), where q are the class
    shares smoothed by `alpha`. A prediction therefore needs one leaf only. The parameters are those of
    `pruning_weights`.
    """
    weights = pruning_weights(tree, choices, prior=prior, alpha=alpha, cut_code=cut_code)
    proba = _path_average(tree, weights.weight, smoothed_shares(tree, weights.alpha))
    return with_shares(tree, proba)


def _sum_over_prunings(tree: Tree, log_end: np.ndarray, log_split: np.ndarray) -> np.ndarray:
    """ln S: S(node) = P(end) * evidence as a leaf + P(split) * product of the children's S."""
    log_sum = log_end.copy()
    for level in levels_upwards(tree):
        nodes = level.splits
        goes_on = log_split[nodes] + level.sums(log_sum)
        log_sum[nodes] = logaddexp(log_end[nodes], goes_on)
    return log_sum


def _path_average(tree: Tree, weight: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The average of the shares on the way to each node, as if the tree ended there at the latest."""
    average = shares.copy()
    left = np.ones(tree.node_count)  # probability that no node above is a leaf
    settled = np.zeros_like(shares)  # what the nodes above contribute
    for level in tree.nodes_by_depth()[1:]:
        parent = tree.parent[level]
        ends_above = left[parent] * weight[parent]
        settled[level] = settled[parent] + ends_above[:, np.newaxis] * shares[parent]
        left[level] = left[parent] - ends_above
        average[level] = settled[level] + left[level, np.newaxis] * shares[level]
    return average
