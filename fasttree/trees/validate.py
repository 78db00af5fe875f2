# SPDX-License-Identifier: BSD-3-Clause
"""Is this a tree? Everything that routing, pruning, printing and scoring take for granted, in a few passes of numpy.

A tree from a file or a pickle goes through here before anything else reads it: the compiled router follows its numbers
without looking.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fasttree.base.errors import require, require_all
from fasttree.base.sums import segment_sums, sums, total
from fasttree.tables.schema import Schema

MOST_NODES = 2**31 - 1
SUM_SLACK = 1e-6

# The arrays of a tree: element type, and what there is one of for each element.
NODE, NODE_END, TABLE, SURROGATE, SURROGATE_END, SURROGATE_TABLE = range(6)
STRUCTURE = {
    "attribute": ("i4", NODE),
    "threshold": ("f8", NODE),
    "first_child": ("i4", NODE),
    "n_children": ("i4", NODE),
    "table_start": ("i8", NODE_END),
    "table_codes": ("u4", TABLE),
    "table_branch": ("u4", TABLE),
    "default_branch": ("i4", NODE),
    "missing_branch": ("i4", NODE),
    "missing_seen": ("b1", NODE),
    "multiplicity": ("i4", NODE),
    "heuristic": ("b1", NODE),
    "gain": ("f8", NODE),
    "depth": ("i4", NODE),
    "parent": ("i4", NODE),
    "surrogate_start": ("i8", NODE_END),
    "surrogate_attribute": ("i4", SURROGATE),
    "surrogate_threshold": ("f8", SURROGATE),
    "surrogate_low": ("i4", SURROGATE),
    "surrogate_table_start": ("i8", SURROGATE_END),
    "surrogate_table_codes": ("u4", SURROGATE_TABLE),
    "surrogate_table_branch": ("u4", SURROGATE_TABLE),
    "surrogate_agreement": ("f8", SURROGATE),
    "surrogate_adjusted": ("f8", SURROGATE),
}
# What is predicted at the nodes.
OF_CLASSES = {"counts": ("f8", NODE), "proba": ("f8", NODE), "pred": ("i4", NODE)}
OF_NUMBERS = dict.fromkeys(("weighted_n_node_samples", "prediction", "error"), ("f8", NODE))
BY_CLASS = ("counts", "proba")


def arrays_of(schema: Schema) -> dict[str, tuple[str, int]]:
    """The arrays of a tree of classes, or of numbers, in the order of files and fingerprints."""
    place = list(STRUCTURE).index("gain")
    values = OF_NUMBERS if schema.predicts_numbers else OF_CLASSES
    items = list(STRUCTURE.items())
    return dict([*items[:place], *values.items(), *items[place:]])


def check_tree(schema: Schema, arrays: Mapping[str, np.ndarray]) -> None:
    """Refuses what is not a tree over a checked schema."""
    _check_shapes(arrays, arrays_of(schema), len(schema.classes))
    inner = np.flatnonzero(arrays["attribute"] >= 0)
    _check_family(arrays, inner)
    n_levels = np.array(
        [0 if a.categories is None else len(a.categories) for a in schema.attributes],
        dtype=np.int64,
    )
    is_categorical = np.array([a.is_categorical for a in schema.attributes], dtype=bool)
    require_all(
        arrays["attribute"] < len(n_levels), "node", "tests an attribute that does not exist"
    )
    _check_tests(arrays, inner, is_categorical, n_levels)
    _check_surrogates(arrays, is_categorical, n_levels)
    _check_gains(arrays, int(n_levels.max(initial=1)))
    if schema.predicts_numbers:
        _check_numbers(arrays, inner)
    else:
        _check_classes(arrays, inner, schema)


def check_csr(start: np.ndarray, n_entries: int, what: str) -> None:
    """``start[i]:start[i + 1]`` are slices that follow each other and are all there is."""
    require(
        len(start) > 0 and start[0] == 0 and start[-1] == n_entries,
        f"the offsets of the {what} do not begin and end with their entries",
    )
    require(
        bool((start[1:] >= start[:-1]).all()),
        f"the offsets of the {what} are not in ascending order",
    )


def check_codes(
    start: np.ndarray, codes: np.ndarray, n_levels: np.ndarray, unit: str
) -> np.ndarray:
    """Each slice of `codes` ascends, from 1 to its number of categories. Returns the slice of each code."""
    owner = np.repeat(np.arange(len(start) - 1), np.diff(start))
    codes = codes.astype(np.int64)
    in_range = (codes >= 1) & (codes <= n_levels[owner])
    if not in_range.all():
        require_all(
            ~np.isin(np.arange(len(start) - 1), owner[~in_range]),
            unit,
            "has a code that no category has",
        )
    same = owner[1:] == owner[:-1]
    ascending = ~same | (codes[1:] > codes[:-1])
    if not ascending.all():
        wrong = owner[1:][~ascending]
        require_all(
            ~np.isin(np.arange(len(start) - 1), wrong),
            unit,
            "has codes that are not in ascending order",
        )
    return owner


# -- the parts -----------------------------------------------------------------------------------------------------


def _check_shapes(
    arrays: Mapping[str, np.ndarray], wanted: Mapping[str, tuple[str, int]], n_classes: int
) -> None:
    require(arrays.keys() == wanted.keys(), "its tree does not have the arrays of a tree")
    n_nodes, n_surrogates = len(arrays["attribute"]), len(arrays["surrogate_attribute"])
    require(1 <= n_nodes <= MOST_NODES, f"its tree has {n_nodes} nodes, not 1 to {MOST_NODES}")
    lengths = {
        NODE: n_nodes,
        NODE_END: n_nodes + 1,
        TABLE: len(arrays["table_codes"]),
        SURROGATE: n_surrogates,
        SURROGATE_END: n_surrogates + 1,
        SURROGATE_TABLE: len(arrays["surrogate_table_codes"]),
    }
    for name, (dtype, of) in wanted.items():
        array = arrays[name]
        shape = (lengths[of], n_classes) if name in BY_CLASS else (lengths[of],)
        require(
            isinstance(array, np.ndarray)
            and array.dtype == np.dtype(dtype)
            and array.shape == shape,
            f"the array {name!r} of its tree is not of the type {dtype} and the shape {shape}",
        )


def _check_family(arrays: Mapping[str, np.ndarray], inner: np.ndarray) -> None:
    """Breadth-first: the children of the inner nodes, one node after the other, are all the nodes but the root."""
    n_nodes = len(arrays["attribute"])
    first_child, n_children = arrays["first_child"], arrays["n_children"].astype(np.int64)
    is_leaf = arrays["attribute"] < 0
    require_all(arrays["attribute"] >= -1, "node", "tests an attribute that does not exist")
    require_all(~is_leaf | (n_children == 0), "node", "is a leaf with children")
    require_all(~is_leaf | (first_child == -1), "node", "is a leaf with a first child")
    require_all(is_leaf | (n_children >= 2), "node", "has a test but fewer than two children")
    require(
        1 + int(n_children.sum()) == n_nodes,
        "its tree has nodes that are not the child of exactly one node",
    )
    follows = 1 + np.cumsum(n_children[inner]) - n_children[inner]
    in_order = np.ones(n_nodes, dtype=bool)
    in_order[inner] = (first_child[inner] == follows) & (follows > inner)
    require_all(in_order, "node", "has children that do not follow those of the node before it")
    parent = np.concatenate([[-1], np.repeat(inner, n_children[inner])])
    require_all(arrays["parent"] == parent, "node", "has the wrong parent")
    depth = arrays["depth"]
    require(depth[0] == 0, "the depth of its root is not 0")
    deeper = np.ones(n_nodes, dtype=bool)
    deeper[1:] = depth[1:] == depth[parent[1:]] + 1
    require_all(deeper, "node", "is not one level below its parent")


def _check_tests(
    arrays: Mapping[str, np.ndarray],
    inner: np.ndarray,
    is_categorical: np.ndarray,
    n_levels: np.ndarray,
) -> None:
    attribute, n_children = arrays["attribute"], arrays["n_children"]
    is_inner, by_table = np.zeros((2, len(attribute)), dtype=bool)
    is_inner[inner] = True
    by_table[inner] = is_categorical[attribute[inner]]
    start = arrays["table_start"]
    check_csr(start, len(arrays["table_codes"]), "tables")
    require_all(
        (np.diff(start) > 0) == by_table,
        "node",
        "has a table without testing a category, or tests a category without a table",
    )
    levels_of_node = np.zeros(len(attribute), dtype=np.int64)
    levels_of_node[inner] = n_levels[attribute[inner]]
    owner = check_codes(start, arrays["table_codes"], levels_of_node, "node")
    led_on = np.ones(len(attribute), dtype=bool)
    led_on[owner[arrays["table_branch"] >= n_children[owner]]] = False
    require_all(led_on, "node", "has a table that leads to a branch that does not exist")
    by_threshold = is_inner & ~by_table
    is_number = ~np.isnan(arrays["threshold"])
    require_all(
        is_number == by_threshold,
        "node",
        "has a threshold without testing a number, or tests a number without a threshold",
    )
    require_all(~by_threshold | (n_children == 2), "node", "has a threshold but not two children")
    default = arrays["default_branch"]
    fits = np.where(by_table, (default >= 0) & (default < n_children), default == -1)
    require_all(fits, "node", "has a branch for other values that does not exist")
    missing = arrays["missing_branch"]
    fits = (missing >= -1) & ((missing < n_children) | ~is_inner) & (is_inner | (missing == -1))
    require_all(fits, "node", "has a branch for missing values that does not exist")
    seen = arrays["missing_seen"]
    require_all(
        ~seen | (missing >= 0), "node", "has no branch for missing values, but had some in training"
    )
    require_all(is_inner | ~seen, "node", "is a leaf, but missing_seen is set")


def _check_surrogates(
    arrays: Mapping[str, np.ndarray], is_categorical: np.ndarray, n_levels: np.ndarray
) -> None:
    attribute, start = arrays["surrogate_attribute"], arrays["surrogate_start"]
    table_start = arrays["surrogate_table_start"]
    check_csr(start, len(attribute), "surrogates")
    check_csr(table_start, len(arrays["surrogate_table_codes"]), "tables of surrogates")
    has_two = (np.diff(start) == 0) | (arrays["n_children"] == 2)
    require_all(has_two, "node", "has surrogates but not two children")
    in_range = (attribute >= 0) & (attribute < len(n_levels))
    require_all(in_range, "surrogate", "tests an attribute that does not exist")
    by_table = is_categorical[attribute]
    require_all(
        (np.diff(table_start) > 0) == by_table,
        "surrogate",
        "has a table without testing a category, or tests a category without a table",
    )
    is_number = ~np.isnan(arrays["surrogate_threshold"])
    require_all(
        is_number != by_table,
        "surrogate",
        "has a threshold without testing a number, or tests a number without a threshold",
    )
    low = arrays["surrogate_low"]
    require_all((low == 0) | (low == 1), "surrogate", "leads to a branch that does not exist")
    check_codes(table_start, arrays["surrogate_table_codes"], n_levels[attribute], "surrogate")
    require_all(
        arrays["surrogate_table_branch"] < 2,
        "entry",
        "of the surrogate tables leads to a branch that does not exist",
    )
    for name in ("surrogate_agreement", "surrogate_adjusted"):
        require_all(
            (arrays[name] >= 0) & (arrays[name] <= 1),
            "surrogate",
            f"has a {name} that is not from 0 to 1",
        )


def _check_gains(arrays: Mapping[str, np.ndarray], most_levels: int) -> None:
    gain = arrays["gain"]
    require_all(
        np.isfinite(gain) & (gain >= 0), "node", "has a gain that is not a finite number >= 0"
    )
    is_leaf = arrays["attribute"] < 0
    require_all(~is_leaf | (gain == 0), "node", "is a leaf with a gain")
    many = arrays["multiplicity"]
    most = np.where(is_leaf, most_levels, 1)
    require_all((many >= 1) & (many <= most), "node", "represents an impossible number of leaves")


def _check_classes(arrays: Mapping[str, np.ndarray], inner: np.ndarray, schema: Schema) -> None:
    counts, proba = arrays["counts"], arrays["proba"]
    n_classes = counts.shape[1]
    ok = np.asarray((np.isfinite(counts) & (counts >= 0)).all(axis=1))
    require_all(ok, "node", "has class counts that are not finite numbers >= 0")
    ok = np.asarray(((proba >= 0) & (proba <= 1 + SUM_SLACK)).all(axis=1))
    require_all(ok, "node", "has class probabilities outside of 0 to 1")
    require_all(
        np.abs(sums(proba) - 1) <= SUM_SLACK, "node", "has class probabilities that do not sum to 1"
    )
    pred = arrays["pred"]
    require_all((pred >= 0) & (pred < n_classes), "node", "predicts a class that does not exist")
    if len(inner):
        kept = add_up(counts, inner, arrays["first_child"][inner])
        require_all(kept, "node", "has class counts that differ from the sum over its children")
    with np.errstate(over="ignore"):
        weight = sums(schema.priors.weighted(counts))
    require_all(np.isfinite(weight), "node", "has class weights whose sum overflows")
    _check_weights(arrays, inner, weight)


def _check_numbers(arrays: Mapping[str, np.ndarray], inner: np.ndarray) -> None:
    weight = arrays["weighted_n_node_samples"]
    ok = np.isfinite(weight) & (weight >= 0)
    require_all(ok, "node", "has a weight that is not a finite number >= 0")
    ok = np.isfinite(arrays["prediction"])
    require_all(ok, "node", "predicts a number that is not finite")
    error = arrays["error"]
    ok = np.isfinite(error) & (error >= 0)
    require_all(ok, "node", "has an error that is not a finite number >= 0")
    shares = ~(arrays["attribute"] < 0) & (arrays["missing_branch"] < 0)
    require_all(~shares, "node", "shares rows out, which trees of numbers do not")
    if len(inner):
        kept = add_up(weight[:, np.newaxis], inner, arrays["first_child"][inner])
        require_all(kept, "node", "has a weight that differs from the sum over its children")
    _check_weights(arrays, inner, weight)


def _check_weights(arrays: Mapping[str, np.ndarray], inner: np.ndarray, weight: np.ndarray) -> None:
    require(bool(weight[0] > 0), "the training rows of its tree have no weight")
    ok = np.ones(len(weight), dtype=bool)
    if len(inner):
        ok[inner] = segment_sums(weight[1:], arrays["first_child"][inner] - 1) > 0
    require_all(ok, "node", "has a test, but no training rows")


def add_up(counts: np.ndarray, inner: np.ndarray, first_child: np.ndarray) -> np.ndarray:
    """Does what is at a node go on to its children? Shares of rows add up but for rounding."""
    kept = np.ones(len(counts), dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.abs(segment_sums(counts[1:], first_child - 1) - counts[inner])
        kept[inner] = (off <= SUM_SLACK * total(counts[0])).all(axis=1)
    return kept
