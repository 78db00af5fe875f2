# SPDX-License-Identifier: BSD-3-Clause
"""What makes a tree one, a node at a time, in plain Python: from the description of `Tree` and of the router.

It knows nothing of the checks of the library. `faults` says what is wrong with a tree that was let in.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

ARRAYS_BY_NODE = (
    "attribute",
    "threshold",
    "first_child",
    "n_children",
    "default_branch",
    "missing_branch",
    "missing_seen",
    "multiplicity",
    "heuristic",
    "gain",
    "depth",
    "parent",
)
OF_CLASSES = ("counts", "proba", "pred")
OF_NUMBERS = ("weighted_n_node_samples", "prediction", "error")


def faults(tree: Any) -> list[str]:
    """Everything that is wrong with the tree, up to the first thing that makes going on pointless."""
    found: list[str] = []
    for check in (_schema, _lengths, _family, _tests, _surrogates, _contents, _routes):
        found = list(check(tree))
        if found:
            return found
    return found


def _schema(tree: Any) -> Iterator[str]:
    schema = tree.schema
    if not schema.attributes:
        yield "no attributes"
    of_numbers = type(tree).__name__ == "RegressionTree"
    if (len(schema.classes) < 1) != of_numbers or schema.classes.ndim != 1:
        yield "no classes"
    names = [attribute.name for attribute in schema.attributes]
    if len(set(names)) != len(names) or not all(isinstance(name, str) for name in names):
        yield "names"
    for attribute in schema.attributes:
        levels = attribute.categories
        if levels is None:
            if attribute.ordered:
                yield f"{attribute.name!r} is ordered but numeric"
            if attribute.time not in (None, "datetime", "instant", "duration"):
                yield f"{attribute.name!r} has times of an unknown kind"
        elif attribute.time is not None:
            yield f"{attribute.name!r} has both levels and times"
        elif len(set(levels)) != len(levels) or any(
            level is None or level != level for level in levels
        ):
            yield f"levels of {attribute.name!r}"
    labels = schema.classes.tolist()
    if len(set(labels)) != len(labels) or any(label is None or label != label for label in labels):
        yield "classes"
    if schema.tie_order and sorted(schema.tie_order) != list(range(len(labels))):
        yield "order of classes"
    weight, cost = schema.priors.class_weight, schema.priors.cost_matrix
    if weight is not None and not (
        len(weight) == len(labels) and all(0 < w < math.inf for w in weight.tolist())
    ):
        yield "class weights"
    if cost is not None:
        rows = cost.tolist()
        if len(rows) != len(labels) or any(len(row) != len(labels) for row in rows):
            yield "shape of the costs"
        elif any(not 0 <= value < math.inf for row in rows for value in row):
            yield "costs"


def _lengths(tree: Any) -> Iterator[str]:
    n = tree.node_count
    if n < 1:
        yield "no node"
    n_classes = len(tree.schema.classes)
    for name in (*ARRAYS_BY_NODE, *(OF_CLASSES if n_classes else OF_NUMBERS)):
        if len(getattr(tree, name)) != n:
            yield f"length of {name}"
    for name in ("counts", "proba") if n_classes else ():
        if getattr(tree, name).shape != (n, n_classes):
            yield f"shape of {name}"
    n_surrogates = len(tree.surrogate_attribute)
    for name in ("threshold", "low", "agreement", "adjusted"):
        if len(getattr(tree, f"surrogate_{name}")) != n_surrogates:
            yield f"length of surrogate_{name}"
    for start, entries, length in (
        (tree.table_start, tree.table_codes, n),
        (tree.table_start, tree.table_branch, n),
        (tree.surrogate_start, tree.surrogate_attribute, n),
        (tree.surrogate_table_start, tree.surrogate_table_codes, n_surrogates),
        (tree.surrogate_table_start, tree.surrogate_table_branch, n_surrogates),
    ):
        bounds = start.tolist()
        if len(bounds) != length + 1 or bounds[0] != 0 or bounds[-1] != len(entries):
            yield "ends of slices"
        if any(later < earlier for earlier, later in itertools.pairwise(bounds)):
            yield "slices go backwards"


def _family(tree: Any) -> Iterator[str]:
    attribute, first, many = (
        tree.attribute.tolist(),
        tree.first_child.tolist(),
        tree.n_children.tolist(),
    )
    parent, depth = tree.parent.tolist(), tree.depth.tolist()
    if parent[0] != -1 or depth[0] != 0:
        yield "root"
    expected = 1
    for node, asked in enumerate(attribute):
        if asked == -1:
            if first[node] != -1 or many[node] != 0:
                yield f"leaf {node} has children"
            continue
        if asked < -1 or asked >= len(tree.schema.attributes):
            yield f"attribute of node {node}"
        if many[node] < 2 or first[node] != expected or first[node] <= node:
            yield f"children of node {node}"
            return
        expected += many[node]
        if expected > len(attribute):
            yield f"node {node} has children beyond the last node"
            return
        for child in range(first[node], first[node] + many[node]):
            if parent[child] != node or depth[child] != depth[node] + 1:
                yield f"parent or depth of node {child}"
    if expected != len(attribute):
        yield "nodes without a parent"


def _levels(tree: Any, attribute: int) -> int | None:
    levels = tree.schema.attributes[attribute].categories
    return None if levels is None else len(levels)


def _table(codes: list[int], branches: list[int], n_levels: int, n_children: int) -> Iterator[str]:
    if not codes:
        yield "is empty"
    if any(later <= earlier for earlier, later in itertools.pairwise(codes)):
        yield "does not ascend"
    if any(not 1 <= code <= n_levels for code in codes):
        yield "has a code of no level"
    if any(not 0 <= branch < n_children for branch in branches):
        yield "leads nowhere"


def _tests(tree: Any) -> Iterator[str]:
    for node, asked in enumerate(tree.attribute.tolist()):
        start, stop = tree.table_start[node], tree.table_start[node + 1]
        n_children = int(tree.n_children[node])
        threshold = float(tree.threshold[node])
        default, missing = int(tree.default_branch[node]), int(tree.missing_branch[node])
        if asked < 0:
            if start != stop or not math.isnan(threshold) or default != -1 or missing != -1:
                yield f"leaf {node} has a test"
            if tree.missing_seen[node] or tree.gain[node] != 0:
                yield f"leaf {node} has marks of a test"
            continue
        if not (0 if tree.missing_seen[node] else -1) <= missing < n_children:
            yield f"missing_branch of node {node}"
        n_levels = _levels(tree, asked)
        if n_levels is None:
            if start != stop or math.isnan(threshold) or n_children != 2 or default != -1:
                yield f"threshold of node {node}"
            continue
        if not math.isnan(threshold) or not 0 <= default < n_children:
            yield f"table of node {node}"
        codes, branches = (
            tree.table_codes[start:stop].tolist(),
            tree.table_branch[start:stop].tolist(),
        )
        yield from (
            f"table of node {node} {what}" for what in _table(codes, branches, n_levels, n_children)
        )


def _surrogates(tree: Any) -> Iterator[str]:
    for node in range(tree.node_count):
        for i in range(tree.surrogate_start[node], tree.surrogate_start[node + 1]):
            if tree.n_children[node] != 2:
                yield f"surrogate {i} has no two branches"
            asked = int(tree.surrogate_attribute[i])
            if not 0 <= asked < len(tree.schema.attributes):
                yield f"attribute of surrogate {i}"
                continue
            start, stop = tree.surrogate_table_start[i], tree.surrogate_table_start[i + 1]
            threshold, low = float(tree.surrogate_threshold[i]), int(tree.surrogate_low[i])
            n_levels = _levels(tree, asked)
            if low not in (0, 1):
                yield f"branch of surrogate {i}"
            if n_levels is None:
                if start != stop or math.isnan(threshold):
                    yield f"threshold of surrogate {i}"
                continue
            if not math.isnan(threshold):
                yield f"threshold of surrogate {i}"
            codes = tree.surrogate_table_codes[start:stop].tolist()
            branches = tree.surrogate_table_branch[start:stop].tolist()
            yield from (
                f"table of surrogate {i} {what}" for what in _table(codes, branches, n_levels, 2)
            )
    for name in ("surrogate_agreement", "surrogate_adjusted"):
        if any(not 0 <= value <= 1 for value in getattr(tree, name).tolist()):
            yield name


def _contents(tree: Any) -> Iterator[str]:
    for node in range(tree.node_count):
        if not 0 <= tree.gain[node] < math.inf or tree.multiplicity[node] < 1:
            yield f"gain or multiplicity of node {node}"
    yield from _contents_of_classes(tree) if len(tree.schema.classes) else _numbers(tree)


def _numbers(tree: Any) -> Iterator[str]:
    weights = tree.weighted_n_node_samples.tolist()
    if weights[0] <= 0 or any(not 0 <= weight < math.inf for weight in weights):
        yield "weights of nodes"
    for node in range(tree.node_count):
        if not math.isfinite(tree.prediction[node]) or not 0 <= tree.error[node] < math.inf:
            yield f"prediction or error of node {node}"
        if tree.attribute[node] < 0:
            continue
        if tree.missing_branch[node] < 0:
            yield f"node {node} shares rows out"
        below = range(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
        together = sum(weights[child] for child in below)
        if together <= 0 or abs(together - weights[node]) > 1e-5 * weights[0]:
            yield f"children of node {node} do not add up to it"


def _contents_of_classes(tree: Any) -> Iterator[str]:
    weight = tree.schema.priors.class_weight
    factors = [1.0] * len(tree.schema.classes) if weight is None else weight.tolist()
    weights = []
    for node in range(tree.node_count):
        counts, proba = tree.counts[node].tolist(), tree.proba[node].tolist()
        if any(not 0 <= count < math.inf for count in counts):
            yield f"counts of node {node}"
        weights.append(sum(count * factor for count, factor in zip(counts, factors, strict=True)))
        if any(not 0 <= share <= 1 + 1e-5 for share in proba) or abs(sum(proba) - 1) > 1e-5:
            yield f"shares of node {node}"
        if not 0 <= tree.pred[node] < len(counts):
            yield f"class of node {node}"
    if any(math.isinf(value) for value in weights) or weights[0] <= 0:
        yield "weights of nodes"
    for node in range(tree.node_count):
        # A row without the value is shared out by these weights: one must be above 0.
        below = range(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
        if tree.attribute[node] < 0:
            continue
        if sum(weights[child] for child in below) <= 0:
            yield f"no child of node {node} has weight"
        for number, count in enumerate(tree.counts[node].tolist()):
            together = sum(float(tree.counts[child][number]) for child in below)
            if abs(together - count) > 1e-5 * sum(tree.counts[0].tolist()):
                yield f"children of node {node} do not add up to it"


def _routes(tree: Any) -> Iterator[str]:
    """From each node to the root in as many steps as its depth says."""
    parent, depth = tree.parent.tolist(), tree.depth.tolist()
    for node in range(min(tree.node_count, 500)):
        at, steps = node, 0
        while at and steps <= depth[node]:
            at, steps = parent[at], steps + 1
        if at or steps != depth[node]:
            yield f"node {node} does not lead to the root"
