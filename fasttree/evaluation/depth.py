# SPDX-License-Identifier: BSD-3-Clause
"""How deep a tree should grow, by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fasttree.base.hints import knowing_its_parameters
from fasttree.base.progress import reported
from fasttree.base.sums import segment_sums, total
from fasttree.base.values import short_repr
from fasttree.encoding.class_weights import at_stake
from fasttree.encoding.merging import as_read_by
from fasttree.estimators.classifier import TreeClassifier
from fasttree.estimators.fit_input import trainer_of
from fasttree.estimators.message_length import ByLength
from fasttree.estimators.training import Trainer, as_it_is
from fasttree.pruning.cross_validated_pruning import row_costs
from fasttree.pruning.requirements import check_folds
from fasttree.pruning.select_alpha import HeldOutErrors
from fasttree.tables.training import Table
from fasttree.trees.paths import LeafShares, leaf_shares_of
from fasttree.trees.predict import ReadPolicy, classes_of_shares
from fasttree.trees.traversal import ends_at_depths
from fasttree.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class DepthChoice(HeldOutErrors):
    """The cross-validated errors of the trees of depth 0, 1, 2, ..., and the selected depth."""

    errors: np.ndarray
    weight: float
    squares: np.ndarray
    n_rows: float
    depth: int

    def columns(self) -> dict[str, np.ndarray]:
        """The depths as columns, for a data frame."""
        return {
            "depth": np.arange(len(self.errors)),
            "errors": self.errors,
            "rate": self.rate,
            "standard_error": self.standard_error,
        }

    def __str__(self) -> str:
        lines = [f"{'depth':>6}{'errors':>10}{'rate':>10}{'std.err.':>10}"]
        rows = zip(*(column.tolist() for column in self.columns().values()), strict=True)
        for depth, errors, rate, error in rows:
            mark = "  <- selected" if depth == self.depth else ""
            lines.append(f"{depth:6d}{errors:10.6g}{rate:10.4f}{error:10.4f}{mark}")
        return "\n".join(lines)


@knowing_its_parameters
@reported
def select_depth(
    X: Any,
    y: Any = None,
    *,
    estimator: TreeClassifier | None = None,
    folds: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    verbose: int = 0,
) -> DepthChoice:
    """Increase the depth of a tree as long as its cross-validated error does not increase.

    The selected depth is the last one before the error first increases; among the depths with equal error that lead up
    to it, the first. The table is encoded once, one tree is grown without each fold, and a single pass of its rows
    through that tree gives the errors of all depths.

    Parameters
    ----------
    X, y, sample_weight
        As for ``fit`` of any estimator; `X` may be `Columns`.
    estimator : estimator or None
        An unfitted tree classifier whose parameters are used; None is ``TreeClassifier()``. Its `max_depth` is the last
        depth that is tried; its trees are not pruned.
    folds : None, int, array of fold numbers, or (train, test) splits
        None: 10, or as many as the smallest class has rows (with groups: as many as the groups in which it occurs).
    groups : column
        The group of each row (the patient, for example): if folds are drawn, the rows of a group are in one fold.
    verbose : int
        1: a call that takes longer than two seconds reports its progress on stderr. 2: every step is reported.

    >>> import fasttree
    >>> X, y = fasttree.datasets.play_tennis()
    >>> print(fasttree.select_depth(X, y, estimator=fasttree.ID3Classifier(), folds=range(14)))
     depth    errors      rate  std.err.
         0         5    0.3571    0.1281  <- selected
         1         9    0.6429    0.1281
         2         3    0.2143    0.1097
         3         3    0.2143    0.1097
    """
    model = TreeClassifier() if estimator is None else estimator
    if not isinstance(model, TreeClassifier):
        raise TypeError(
            f"estimator must be a tree classifier of fasttree or None, got {short_repr(estimator)}: "
            "pass, for example, fasttree.TreeClassifier(...)"
        )
    if isinstance(model, ByLength):
        raise ValueError(
            f"estimator is a {type(model).__name__}, which selects the size of its trees itself: pass a "
            "TreeClassifier or one of the other presets"
        )
    if model.max_leaves is not None:
        raise ValueError(
            f"estimator has max_leaves={short_repr(model.max_leaves)}, which is not supported, since the best leaves "
            f"change "
            "with the depth: leave it out, and limit the depth with max_depth"
        )
    check_folds(folds)
    with trainer_of(model, X, y, sample_weight, with_table=True, groups=groups) as trainer:
        drawn = trainer.folds(folds, otherwise=None)
        assert drawn is not None
        found, weight, n_rows, stake = [], 0.0, 0.0, 0.0
        for grown, held_out in replace(trainer, finish=as_it_is).trees_of(drawn):
            part, codes, weights = trainer.part(held_out)
            part = as_read_by(part, grown.schema)
            cost, priors = row_costs(grown), grown.schema.priors
            held = np.bincount(codes, weights, minlength=len(cost))
            mistakes = [cost[codes, labels] for labels in _labels_by_depth(grown, part, trainer)]
            found.append(
                [[total(weights * m) for m in mistakes], [total(weights * m * m) for m in mistakes]]
            )
            weight += total(priors.weighted(held))
            n_rows += total(held)
            stake += at_stake(priors, held)
    sums = np.zeros((2, max(len(errors) for errors, _ in found)))
    for of_fold in found:  # a tree that is less deep stays what it is
        missing = sums.shape[1] - len(of_fold[0])
        sums += np.pad(of_fold, ((0, 0), (0, missing)), mode="edge")
    errors, squares = sums
    return DepthChoice(errors, weight, squares, n_rows, _stop(errors, 1e-9 * stake))


def _labels_by_depth(tree: Tree, part: Table, trainer: Trainer) -> Iterator[np.ndarray]:
    """The class numbers that rows would get if the tree ended at depth 0, 1, 2, ..."""
    # What is done to a grown tree depends on where it ends.
    if trainer.finish(tree, None)[0] is not tree:
        for depth in range(tree.max_depth + 1):
            cut, _ = trainer.finish(tree.subtree(tree.depth < depth), None)
            yield _labels(cut, leaf_shares_of(cut, part, ReadPolicy(), trainer.team))
        return
    leaf_shares = leaf_shares_of(tree, part, ReadPolicy(), trainer.team)
    ends = ends_at_depths(tree, leaf_shares.node, tree.max_depth)
    labels = [_labels(tree, replace(leaf_shares, node=node)) for node in ends]
    yield from reversed(labels)


def _labels(tree: Tree, leaf_shares: LeafShares) -> np.ndarray:
    """The class number of each row; of one that ends at several nodes by the mean of their shares."""
    begins = np.flatnonzero(np.diff(leaf_shares.row, prepend=-1))
    labels = tree.pred[leaf_shares.node[begins]]
    n_ends = np.diff(np.append(begins, len(leaf_shares.row)))
    spread = np.flatnonzero(n_ends > 1)
    if len(spread):
        shares = tree.proba[leaf_shares.node] * leaf_shares.share[:, np.newaxis]
        labels[spread] = classes_of_shares(tree, segment_sums(shares, begins)[spread])
    return labels


def _stop(errors: np.ndarray, tolerance: float) -> int:
    """The depth before errors first rise; of those just before with the same errors, the first."""
    rises = np.flatnonzero(np.diff(errors) > tolerance)
    last = int(rises[0]) if len(rises) else len(errors) - 1
    while last and errors[last - 1] <= errors[last] + tolerance:
        last -= 1
    return last
