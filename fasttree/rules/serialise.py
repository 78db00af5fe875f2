# SPDX-License-Identifier: BSD-3-Clause
"""Lists of rules as arrays with names, and back; and what has to hold of a list that was not made here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fasttree.base.checks import UNKNOWN
from fasttree.base.errors import require, require_all
from fasttree.rules.conditions import ConditionTable, Substitutes
from fasttree.rules.rule_list import RuleList
from fasttree.tables.schema import Schema
from fasttree.trees.validate import check_codes, check_csr

_TABLE = ("attribute", "low", "high", "start", "codes", "missing")
_SUBSTITUTES = ("group_start", "group", "otherwise", "alternative_start", "alternative")
_RULES = (
    "start",
    "condition",
    "missing_seen",
    "label",
    "counts",
    "estimated_error",
    "default_counts",
)
TYPES = (
    dict.fromkeys(("start", "condition", "group_start", "group"), "i8")
    | dict.fromkeys(("alternative_start", "alternative"), "i8")
    | dict.fromkeys(("attribute", "label"), "i4")
    | {"codes": "u4"}
    | dict.fromkeys(("low", "high", "counts", "default_counts", "estimated_error"), "f8")
    | dict.fromkeys(("missing", "missing_seen", "otherwise"), "b1")
)


def arrays_of(rules: RuleList) -> dict[str, np.ndarray]:
    """All the arrays of a list of rules."""
    found = _named("", _RULES, rules) | _named("conditions/", _TABLE, rules.conditions)
    substitutes = rules.conditions.substitutes
    if substitutes is not None:
        found |= _named("substitutes/", _SUBSTITUTES, substitutes)
        found |= _named("substitutes/conditions/", _TABLE, substitutes.conditions)
        found |= _named("substitutes/answers/", _TABLE, substitutes.answers)
    return found


def _named(prefix: str, names: tuple[str, ...], source: Any) -> dict[str, np.ndarray]:
    return {
        prefix + name: np.asarray(getattr(source, name)).astype(
            TYPES[name], casting="same_kind", copy=False
        )
        for name in names
    }


def rules_from(arrays: Mapping[str, np.ndarray], schema: Schema, **others: Any) -> RuleList:
    """The list of rules that has these arrays, checked; `others` are its fields that are none."""

    def part(prefix: str, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: arrays[prefix + name] for name in names}

    substitutes = None
    if "substitutes/group" in arrays:
        substitutes = Substitutes(
            **part("substitutes/", _SUBSTITUTES),
            conditions=ConditionTable(schema, **part("substitutes/conditions/", _TABLE)),
            answers=ConditionTable(schema, **part("substitutes/answers/", _TABLE)),
        )
    table = ConditionTable(schema, **part("conditions/", _TABLE), substitutes=substitutes)
    rules = RuleList(conditions=table, **part("", _RULES), **others)
    check_rules(rules, schema)
    return rules


def names_of(has_substitutes: bool) -> list[str]:
    """The arrays that a list of rules is made of."""
    names = [*_RULES, *(f"conditions/{name}" for name in _TABLE)]
    if has_substitutes:
        names += [f"substitutes/{name}" for name in _SUBSTITUTES]
        for part in ("conditions", "answers"):
            names += [f"substitutes/{part}/{name}" for name in _TABLE]
    return names


# -- checks --------------------------------------------------------------------------------------------------------


def check_rules(rules: Any, schema: Schema) -> None:
    """Refuses a list of rules that is none over this schema."""
    require(isinstance(rules, RuleList), "its rules are not a list of rules")
    _check_table(rules.conditions, schema, "condition")
    n_conditions, n_classes = len(rules.conditions), len(schema.classes)
    require(_is_array(rules.label, "i", 1), "the labels of its rules are not a list")
    n_rules = len(rules.label)
    shapes = {
        "start": (n_rules + 1,),
        "missing_seen": (len(rules.condition),),
        "counts": (n_rules, n_classes),
        "estimated_error": (n_rules,),
        "default_counts": (n_classes,),
    }
    _check_arrays(rules, shapes, "its rules")
    check_csr(rules.start, len(rules.condition), "conditions of its rules")
    _check_numbers(rules.condition, n_conditions, "condition of a rule")
    _check_numbers(rules.label, n_classes, "label of a rule")
    require(
        type(rules.default) is int and 0 <= rules.default < n_classes,
        "the default class of its rules is not one of its classes",
    )
    ok = (np.isfinite(rules.counts) & (rules.counts >= 0)).all(axis=1)
    require_all(ok, "rule", "has class counts that are not finite numbers of at least 0")
    error = rules.estimated_error
    require_all((error >= 0) & (error <= 1), "rule", "has an error that is not between 0 and 1")
    rest = rules.default_counts
    require_all(
        np.isfinite(rest) & (rest >= 0), "class", "has an impossible count among its other rows"
    )
    require(0 <= rules.uncovered < np.inf, "the weight of rows without a rule is impossible")
    require(0 < rules.training_weight < np.inf, "the weight of its training rows is impossible")
    require(rules.unknown in UNKNOWN, "it does not specify how its rules treat unknown categories")
    for flag in (rules.shares_rows, rules.allow_missing):
        require(type(flag) is bool, "it does not specify how its rules treat missing values")


def _check_table(table: Any, schema: Schema, unit: str) -> None:
    require(isinstance(table, ConditionTable), f"the {unit}s of its rules are invalid")
    require(table.schema is schema or table.schema == schema, "its rules test other columns")
    require(_is_array(table.attribute, "i", 1), f"the {unit}s of its rules are invalid")
    n = len(table.attribute)
    shapes = {"low": (n,), "high": (n,), "missing": (n,), "start": (n + 1,)}
    _check_arrays(table, shapes, f"the {unit}s of its rules")
    require(
        _is_array(table.codes, "u", 1), f"the categories of the {unit}s of its rules are not a list"
    )
    _check_numbers(table.attribute, len(schema.attributes), f"attribute of a {unit}")
    check_csr(table.start, len(table.codes), f"levels of the {unit}s of its rules")
    n_levels = np.array([len(a.categories or ()) for a in schema.attributes], dtype=np.int64)
    check_codes(table.start, table.codes, n_levels[table.attribute], unit)
    require_all(~np.isnan(table.high), unit, "has no upper bound, not even infinity")
    if table.substitutes is not None:
        _check_substitutes(table.substitutes, n, schema)


def _check_arrays(source: Any, shapes: Mapping[str, tuple[int, ...]], what: str) -> None:
    for name, shape in shapes.items():
        array = getattr(source, name)
        require(
            _is_array(array, np.dtype(TYPES[name]).kind, len(shape)) and array.shape == shape,
            f"an array of {what} does not have the expected type and shape",
        )


def _check_substitutes(given: Any, n_conditions: int, schema: Schema) -> None:
    require(isinstance(given, Substitutes), "the surrogates of its conditions are invalid")
    for table in (given.conditions, given.answers):
        _check_table(table, schema, "substitute")
        require(table.substitutes is None, "a surrogate of its conditions has surrogates itself")
    require(
        len(given.conditions) == len(given.answers), "its surrogates do not have one answer each"
    )
    for name in _SUBSTITUTES:
        require(
            _is_array(getattr(given, name), np.dtype(TYPES[name]).kind, 1),
            "an array of its surrogates does not have the expected type",
        )
    n_groups = len(given.otherwise)
    require(
        len(given.group_start) == n_conditions + 1 and len(given.alternative_start) == n_groups + 1,
        "its surrogates do not match its conditions",
    )
    check_csr(given.group_start, len(given.group), "groups of its substitutes")
    check_csr(given.alternative_start, len(given.alternative), "alternatives of its substitutes")
    _check_numbers(given.group, n_groups, "group of a substitute")
    _check_numbers(given.alternative, len(given.conditions), "alternative of a substitute")


def _check_numbers(numbers: Any, n: int, what: str) -> None:
    require(_is_array(numbers, "i", 1), f"the {what} is not a number")
    require(
        bool(((numbers >= 0) & (numbers < n)).all()),
        f"the {what} is not one of the {n} existing ones",
    )


def _is_array(array: Any, kind: str, n_dimensions: int) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind == kind and array.ndim == n_dimensions
