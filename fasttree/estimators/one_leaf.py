# SPDX-License-Identifier: BSD-3-Clause
"""A fitted tree that is one leaf: a warning with the likely reason."""

from __future__ import annotations

import numpy as np

from fasttree.base.values import column_label, short_repr, to_python
from fasttree.growth.params import GrowthParams
from fasttree.persistence.parts import FittedModel
from fasttree.tables.doubts import FEWEST_ROWS, Remedies, has_many, remedies, warn
from fasttree.tables.schema import Schema
from fasttree.trees.regression_tree import RegressionTree
from fasttree.trees.structure import TreeStructure
from fasttree.trees.tree import Tree


def warn_of_one_leaf(
    pruned: FittedModel, schema: Schema, n_rows: int, params: GrowthParams
) -> None:
    """`schema`: of the rows, before categories of few rows became one."""
    tree, given = pruned.tree, remedies()
    if tree.node_count > 1 or given is None or n_rows < FEWEST_ROWS:
        return
    if params.max_depth == 0 or params.max_leaves == 1:  # it was asked for
        return
    warn(f"the tree is one leaf: {_reason(pruned, schema, n_rows, params, given)}")


def _reason(
    pruned: FittedModel, schema: Schema, n_rows: int, params: GrowthParams, given: Remedies
) -> str:
    tree = pruned.tree
    weight = float(tree.weighted_n_node_samples[0])
    what = "the classes" if isinstance(tree, Tree) else "the target"
    same = _what_all_rows_have(tree)
    if same is not None:
        return f"all rows have {same}, so there is nothing to distinguish: check that y is the right column"
    for name in ("min_samples_split", "min_samples_leaf"):
        least = getattr(params, name) * (2 if name == "min_samples_leaf" else 1)
        if least > weight:
            return f"{name}={getattr(params, name):g} does not allow any split of {weight:g} rows: reduce it"
    distinct = schema.counted[:, 0]
    if len(distinct) and np.abs(distinct).max() < 2:
        return "every column is constant: pass columns with at least two distinct values"
    many = _largest(schema, n_rows, params)
    if many is not None:
        categories, remedy = schema.attributes[many].categories or (), given.of(schema.names[many])
        return (
            f"{column_label(schema.names[many])} has {len(categories):,} categories in {n_rows:,} rows, which hides "
            f"the information in the other columns: {remedy.leave_out}, or {remedy.merge}"
        )
    if pruned.trace is not None and len(pruned.trace.node):
        return (
            f"pruning removed all splits, since the columns have too little information about {what}: "
            f"use {given.unpruned} to see the unpruned tree"
        )
    limits = {
        "min_gain": params.min_gain > 0,
        "significance": params.significance is not None,
        "min_weight_fraction_leaf": params.min_weight_fraction_leaf > 0,
    }
    named = [name for name, is_set in limits.items() if is_set]
    if named:
        return f"no split meets {' and '.join(named)}: relax these limits"
    return (
        f"no split improves the score, since the columns have too little information about {what}: "
        "add informative columns"
    )


def _what_all_rows_have(tree: TreeStructure) -> str | None:
    """The class or the number that all rows have, if it is one."""
    if isinstance(tree, RegressionTree):
        return f"the target {tree.prediction[0]:g}" if tree.error[0] == 0 else None
    assert isinstance(tree, Tree)
    classes = np.flatnonzero(tree.counts[0])
    if len(classes) > 1:
        return None
    return f"the class {short_repr(to_python(tree.schema.classes[classes[0]]))}"


def _largest(schema: Schema, n_rows: int, params: GrowthParams) -> int | None:
    """The column with the most categories, if they are very many and count as such."""
    if params.min_category_count > 1:
        return None
    sizes = [0 if a.ordered else len(a.categories or ()) for a in schema.attributes]
    largest = int(np.argmax(sizes))
    return largest if has_many(sizes[largest], n_rows) else None
