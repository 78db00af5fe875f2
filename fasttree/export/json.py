# SPDX-License-Identifier: BSD-3-Clause
"""A tree as JSON: complete, and the same on every run. docs/exports.md describes the members."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from fasttree.base.values import short_repr, to_python
from fasttree.trees.view import ALL_BRANCHES, Exportable, Surrogate, Test

VERSION = 1
MERGED_VERSION = (
    2  # of trees in which levels of few rows count as one, which readers of version 1 do not know
)
NUMBERS_VERSION = 3  # of regressors


def export(model: Exportable) -> str:
    """One object; its last member, "nodes", has a line for each node."""
    head = json.dumps(_head(model), indent=1, allow_nan=False)
    nodes = ",\n  ".join(json.dumps(node, allow_nan=False) for node in _nodes(model))
    return f'{head[:-2]},\n "nodes": [\n  {nodes}\n ]\n}}\n'


def _head(model: Exportable) -> dict[str, Any]:
    if model.predicts_numbers:
        return _head_of_numbers(model)
    schema = model.tree.schema
    priors = schema.priors
    weight = priors.class_weight
    return {
        "format": "fasttree tree",
        "version": MERGED_VERSION if model.merges else VERSION,
        "model": model.name,
        "averaged": model.averaged,
        "unknown": model.unknown,
        "allow_missing": model.allow_missing,
        "attributes": [_attribute(model, place) for place in range(len(model.attributes))],
        "named": schema.named,
        "classes": [_label(label) for label in model.classes],
        "class_dtype": schema.classes.dtype.str,
        "tie_order": list(model.tie_order),
        "class_weight": None if weight is None else weight.tolist(),
        "cost": None if priors.cost_matrix is None else priors.cost_matrix.tolist(),
    }


def _head_of_numbers(model: Exportable) -> dict[str, Any]:
    return {
        "format": "fasttree tree",
        "version": NUMBERS_VERSION,
        "model": model.name,
        "target": "number",
        "unknown": model.unknown,
        "allow_missing": model.allow_missing,
        "attributes": [_attribute(model, place) for place in range(len(model.attributes))],
        "named": model.tree.schema.named,
    }


def _attribute(model: Exportable, place: int) -> dict[str, Any]:
    attribute = model.attributes[place]
    if attribute.categories is None:
        entry = {"name": attribute.name, "type": "numeric"}
        return entry if attribute.time is None else {**entry, "time": attribute.time}
    levels = [_label(level) for level in model.levels(place)]
    of_levels: dict[str, Any] = {
        "name": attribute.name,
        "type": "categorical",
        "ordered": attribute.ordered,
        "levels": levels,
    }
    if attribute.others is not None:
        of_levels["others"] = [_label(to_python(level)) for level in attribute.others]
    return of_levels


def _nodes(model: Exportable) -> Iterator[dict[str, Any]]:
    tree, is_leaf = model.tree, model.tree.is_leaf()
    columns = (tree.depth, tree.parent, tree.weight, tree.multiplicity)
    for node, (depth, parent, weight, multiplicity) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        entry = {"id": node, "parent": None if parent < 0 else parent, "depth": depth}
        entry |= _answer(model, node) | {"weight": weight, "multiplicity": multiplicity}
        if not is_leaf[node]:
            test = model.test(node)
            entry |= _test(test)
            entry["gain"] = float(tree.gain[node])
            entry["heuristic"] = bool(tree.heuristic[node])
            if test.surrogates:
                first = int(tree.surrogate_start[node])
                entry["surrogates"] = [
                    _surrogate(model, surrogate, first + i)
                    for i, surrogate in enumerate(test.surrogates)
                ]
        elif tree.heuristic[node]:
            entry["heuristic"] = True
        yield entry


def _answer(model: Exportable, node: int) -> dict[str, Any]:
    """What is predicted at a node."""
    tree = model.tree
    if model.predicts_numbers:
        return {"prediction": float(tree.prediction[node]), "error": float(tree.error[node])}
    return {
        "class": int(model.decision[node]),
        "proba": tree.proba[node].tolist(),
        "counts": tree.counts[node].tolist(),
    }


def _test(test: Test) -> dict[str, Any]:
    missing = None if test.missing_branch == ALL_BRANCHES else test.missing_branch
    entry = {"attribute": test.attribute, **_asked(test)}
    if test.is_table:
        entry["default"] = test.default_branch
    return {
        **entry,
        "missing": missing,
        "missing_seen": test.missing_seen,
        "children": list(test.children),
    }


def _surrogate(model: Exportable, surrogate: Surrogate, place: int) -> dict[str, Any]:
    return {
        "attribute": surrogate.attribute,
        **_asked(surrogate),
        "low": surrogate.low,
        "agreement": _number(float(model.tree.surrogate_agreement[place])),
        "adjusted": _number(float(model.tree.surrogate_adjusted[place])),
    }


def _asked(test: Test | Surrogate) -> dict[str, Any]:
    if not test.branch_of:
        return {"threshold": _number(test.threshold)}
    return {
        "levels": [code - 1 for code in test.branch_of],
        "branches": list(test.branch_of.values()),
    }


def _number(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else str(value)


def _label(label: Any) -> Any:
    if isinstance(label, float) and not math.isfinite(label):
        return {"number": str(label)}
    if isinstance(label, (str, bool, int, float)):
        return label
    raise ValueError(
        f"JSON cannot represent the label {short_repr(label)} of type {type(label).__name__}: "
        'use text or numbers as labels, or export to "python"'
    )
