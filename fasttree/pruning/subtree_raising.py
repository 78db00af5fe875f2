# SPDX-License-Identifier: BSD-3-Clause
"""Subtree raising: the arrays of the tree that comes out when nodes give way to their heaviest children."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fasttree import _core
from fasttree.base.ragged import begins, flat_indices, offsets
from fasttree.base.sums import sums
from fasttree.pruning.trace import CHILD_RAISED, LEAF_MADE, Trace, trace_of
from fasttree.trees.class_shares import has_parts, settled
from fasttree.trees.decide import classes_of_shares, snap_near_ties
from fasttree.trees.traversal import paths_upwards
from fasttree.trees.tree import LEAF, Tree
from fasttree.trees.validate import add_up

_NO_VALUE = 2**30


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """The rows that a tree was grown from, as a table that can be routed.

    `table[row, attribute]` contains numbers, or category codes (1 + the index of the category); missing is NaN. `codes`
    are class numbers, `weights` those that `Tree.counts` sums (None: 1 each).
    """

    table: np.ndarray
    codes: np.ndarray
    weights: np.ndarray | None = None


def prune_with_raising(
    tree: Tree, rows: TrainingRows, estimate: int, confidence: float, z: float
) -> tuple[Tree, Trace]:
    """Error-based pruning with raising; the parameters are checked."""
    _check_rows(tree, rows)
    empty_child = _empty_children(tree)
    code = _codes_of_children(tree)
    slots, steps = _core.prune_with_raising(
        tree.router,
        rows.table if rows.table.dtype in (np.float32, np.float64) else rows.table.astype(float),
        np.ascontiguousarray(rows.codes, dtype=np.int32),
        None if rows.weights is None else np.ascontiguousarray(rows.weights, dtype=np.float64),
        tree.first_child,
        tree.n_children,
        empty_child,
        code,
        np.ascontiguousarray(tree.multiplicity),
        tree.counts,
        tree.weight,
        tree.schema.priors.class_weight,
        estimate,
        confidence,
        z,
    )
    types = (np.int32, np.bool_, np.int32, np.int32, np.int32, np.int32, np.float64, np.bool_)
    arrays: list[np.ndarray] = [
        np.frombuffer(part, kind) for part, kind in zip(slots, types, strict=True)
    ]
    arrays[6] = arrays[6].reshape(len(arrays[0]), -1)  # counts
    pruned = _with_missing_seen(_Slots(tree, empty_child, *arrays).tree(), rows)
    inner = np.flatnonzero(~pruned.is_leaf())
    if len(inner) and not add_up(pruned.counts, inner, pruned.first_child[inner]).all():
        raise ValueError(
            "the rows do not follow the same paths as the training rows of the tree: pass the X of fit, and do not "
            "modify it in between"
        )
    types_of_steps = (np.int32, np.int32, np.int32, np.float64, np.float64)
    node, kind, removed, before, after = (
        np.frombuffer(part, kind) for part, kind in zip(steps, types_of_steps, strict=True)
    )
    actions = tuple(CHILD_RAISED if k else LEAF_MADE for k in kind.tolist())
    trace = trace_of(tree, "error_based", "expected errors", node, removed, before, after, actions)
    return pruned, trace


def _check_rows(tree: Tree, rows: TrainingRows) -> None:
    n_rows, n_attributes = rows.table.shape
    if n_attributes != len(tree.schema.attributes):
        raise ValueError(
            f"the training rows have {n_attributes} columns, but the tree was grown from "
            f"{len(tree.schema.attributes)}: pass the table that was passed to fit"
        )
    n_weights = n_rows if rows.weights is None else len(rows.weights)
    if n_rows == 0 or len(rows.codes) != n_rows or n_weights != n_rows:
        raise ValueError(
            f"there must be at least one training row, and one class and one weight per row, "
            f"got {n_rows} rows, {len(rows.codes)} classes and {n_weights} weights"
        )
    least, most = int(np.min(rows.codes)), int(np.max(rows.codes))
    n_classes = tree.counts.shape[1]
    if least < 0 or most >= n_classes:
        raise ValueError(
            f"the training rows have class numbers from {least} to {most}, but those of the tree are 0 to "
            f"{n_classes - 1}: number the classes as in tree.schema.classes"
        )


def _with_missing_seen(tree: Tree, rows: TrainingRows) -> Tree:
    """The tree, with the rows in mind that came to a test when it was raised: some may lack its value."""
    lacks = np.isnan(rows.table)
    if tree.shares_rows or not lacks.any():
        return tree
    node = np.empty(len(rows.table), dtype=np.int32)
    tree.router.leaves(rows.table, 0, len(node), True, node)
    seen = tree.missing_seen.copy()
    for row, above in paths_upwards(tree, tree.parent[node]):
        seen[above[lacks[row, tree.attribute[above]]]] = True
    return tree if np.array_equal(seen, tree.missing_seen) else replace(tree, missing_seen=seen)


def _empty_children(tree: Tree) -> np.ndarray:
    """The child that stands for the values without training rows at each node; -1: none."""
    default = tree.first_child + tree.default_branch
    has_default = tree.default_branch >= 0
    is_empty = ~tree.counts.any(axis=1) & tree.is_leaf()
    stands = has_default & is_empty[np.where(has_default, default, 0)]
    return np.where(stands, default, -1).astype(np.int32)


def _codes_of_children(tree: Tree) -> np.ndarray:
    """What orders siblings: the first value that leads to each, else its branch, after all values."""
    code = np.zeros(tree.node_count, dtype=np.int32)
    code[1:] = _NO_VALUE + tree.branch[1:]
    node = tree.table_node
    # Backwards, so that of several values the first one stays.
    code[(tree.first_child[node] + tree.table_branch)[::-1]] = tree.table_codes[::-1]
    return code


@dataclass(frozen=True, slots=True, eq=False)
class _Slots:
    """The nodes of the pruned tree as raising.pxd leaves them; the first have the numbers of the grown nodes."""

    grown: Tree
    empty_child: np.ndarray
    test: np.ndarray  # the node whose test stands here
    is_leaf: np.ndarray
    first_added: np.ndarray  # children for values that had no rows at the node when it was grown
    next_added: np.ndarray
    code: np.ndarray
    leaves: np.ndarray
    counts: np.ndarray
    changed: np.ndarray  # other rows than in growth

    def tree(self) -> Tree:
        """The slots that are left, breadth-first, as a tree."""
        slot, parent, depth = self._in_order()
        number = np.full(len(self.test), -1, dtype=np.int64)
        number[slot] = np.arange(len(slot))
        is_leaf = self.is_leaf[slot]
        n_children = np.bincount(parent[1:], minlength=len(slot))
        first_child = np.where(is_leaf, -1, begins(n_children) + 1)
        start, codes, branch = self._tables(slot, parent, number, first_child)
        missing, default = self._spare_branches(slot, parent, number, first_child)
        pred, proba = self._labels(slot, parent)

        def of_test(values: np.ndarray, at_leaves: float | bool) -> np.ndarray:
            return np.where(
                is_leaf, values.dtype.type(at_leaves), values[self.test[slot] * ~is_leaf]
            )

        grown = self.grown
        return Tree(
            schema=grown.schema,
            attribute=of_test(grown.attribute, LEAF),
            threshold=of_test(grown.threshold, np.nan),
            first_child=first_child.astype(np.int32),
            n_children=n_children.astype(np.int32),
            table_start=start,
            table_codes=codes,
            table_branch=branch,
            default_branch=default,
            missing_branch=missing,
            missing_seen=of_test(grown.missing_seen, False),
            multiplicity=np.where(is_leaf, self.leaves[slot], 1).astype(np.int32),
            heuristic=of_test(grown.heuristic, False) | self._has_missed_split(slot),
            counts=self.counts[slot],
            proba=proba,
            pred=pred,
            gain=of_test(grown.gain, 0.0),
            depth=depth,
            parent=parent.astype(np.int32),
            # They send rows to one of two branches, whose numbers stay what they were.
            **grown.surrogates_of(np.where(is_leaf, -1, self.test[slot])),
        )

    def _in_order(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The slots that are left, breadth-first; the number of each one's parent, and its depth."""
        levels = [(np.zeros(1, dtype=np.int64), np.full(1, -1, dtype=np.int64))]
        n_above = 0
        while True:
            level = levels[-1][0]
            inner = np.flatnonzero(~self.is_leaf[level])
            if not len(inner):
                break
            child, group = self._children(level[inner])
            levels.append((child, n_above + inner[group]))
            n_above += len(level)
        depth = np.repeat(
            np.arange(len(levels), dtype=np.int32), [len(level) for level, _ in levels]
        )
        slots, parents = (np.concatenate(column) for column in zip(*levels, strict=True))
        return slots, parents, depth

    def _children(self, slot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The children of these slots, in order, and the index of each one's parent among them."""
        node = self.test[slot]
        n = self.grown.n_children[node]
        group = np.repeat(np.arange(len(slot)), n)
        child = flat_indices(self.grown.first_child[node], n)
        present = self.leaves[child] > 0
        children, groups = [child[present]], [group[present]]
        added = np.column_stack([self.first_added[slot], np.arange(len(slot))])
        has_added = added[:, 0] >= 0
        while len(added := added[added[:, 0] >= 0]):
            children.append(added[:, 0])
            groups.append(added[:, 1])
            added = np.column_stack([self.next_added[added[:, 0]], added[:, 1]])
        child, group = np.concatenate(children), np.concatenate(groups)
        by_value = np.where(has_added[group], self.code[child], 0)
        order = np.lexsort((by_value, group))
        return child[order], group[order]

    def _tables(
        self, slot: np.ndarray, parent: np.ndarray, number: np.ndarray, first_child: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The tables of the tests, with the values that were added."""
        grown = self.grown
        split = np.flatnonzero(first_child >= 0)
        node = self.test[slot[split]]
        n = np.diff(grown.table_start)[node]
        owner = np.repeat(split, n)
        entry = flat_indices(grown.table_start[node], n)
        child = grown.first_child[np.repeat(node, n)] + grown.table_branch[entry]
        added = np.flatnonzero(slot >= grown.node_count)
        owners = np.concatenate([owner, parent[added]])
        codes = np.concatenate([grown.table_codes[entry], self.code[slot[added]].astype(np.uint32)])
        children = np.concatenate([child, slot[added]])
        order = np.lexsort((codes, owners))
        start = offsets(np.bincount(owners, minlength=len(slot)))
        branch = number[children] - first_child[owners]
        return start, codes[order], branch[order].astype(np.uint32)

    def _spare_branches(
        self, slot: np.ndarray, parent: np.ndarray, number: np.ndarray, first_child: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where missing values go, and values without an entry: as in growth, for the rows went that way again."""
        grown = self.grown
        is_leaf = first_child < 0
        node = np.where(is_leaf, 0, self.test[slot])
        spare = []
        for branch in (grown.missing_branch[node], grown.default_branch[node]):
            child = number[grown.first_child[node] + np.maximum(branch, 0)]
            # The child for values without rows is gone if all of them have come.
            weight = sums(grown.schema.priors.weighted(self.counts[slot]))
            heaviest = _heaviest_branch(weight, parent, first_child)
            taken = np.where(child < 0, heaviest, child - first_child)
            spare.append(np.where(is_leaf | (branch < 0), -1, taken).astype(np.int32))
        return spare[0], spare[1]

    def _has_missed_split(self, slot: np.ndarray) -> np.ndarray:
        """The leaves that are those of growth, where it may have missed a split."""
        known = np.where(self.changed[slot], 0, slot)
        stays = self.is_leaf[slot] & ~self.changed[slot] & self.grown.is_leaf()[known]
        return np.asarray(stays & self.grown.heuristic[known])

    def _labels(self, slot: np.ndarray, parent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Class and shares: those of growth, made anew where other rows came, the parent's where there are none."""
        grown = self.grown
        counts, changed = self.counts[slot], self.changed[slot]
        known = np.where(changed, 0, slot)
        pred, proba = grown.pred[known], grown.proba[known]
        shares = snap_near_ties(grown.schema.priors.shares(counts[changed]))
        if has_parts(grown.counts):
            shares = settled(shares)
        proba[changed] = shares
        pred[changed] = classes_of_shares(shares, grown.schema)
        empty = np.flatnonzero(~counts.any(axis=1) & (parent >= 0))
        pred[empty], proba[empty] = pred[parent[empty]], proba[parent[empty]]
        return pred, proba


def _heaviest_branch(weight: np.ndarray, parent: np.ndarray, first_child: np.ndarray) -> np.ndarray:
    """The branch of the heaviest child of each node, the first of equals; -1 at leaves."""
    heaviest = np.full(len(weight), -1, dtype=np.int64)
    order = np.lexsort((-np.arange(1, len(weight)), weight[1:])) + 1  # the best child comes last
    heaviest[parent[order]] = order - first_child[parent[order]]
    return heaviest
