# SPDX-License-Identifier: BSD-3-Clause
"""Rules as JSON."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from fasttree.base.values import to_python

if TYPE_CHECKING:
    from fasttree.rules import Condition, Rule, RuleList
    from fasttree.rules.held_out import HeldOut
    from fasttree.tables.schema import AttributeSchema


def to_json(rules: RuleList) -> str:
    """All that the rules say, numbers in full. Labels that JSON does not know are written as text."""
    document: dict[str, Any] = {
        "classes": rules.classes,
        "attributes": list(rules.schema.names),
        "levels": [_levels(attribute) for attribute in rules.schema.attributes],
        "unknown": rules.unknown,
        "allow_missing": rules.allow_missing,
        "estimate": rules.estimate,
        "rules": [_rule(rule) for rule in rules],
        "otherwise": {"class": rules.default_class, "rows": rules.uncovered},
    }
    if rules.held_out is not None:
        document["otherwise"]["held_out"] = _held_out(rules.held_out.default)
        document["held_out"] = _held_out(rules.held_out.whole)
    others = {a.name: a for a in rules.schema.attributes if a.others is not None}
    if others:
        document["others"] = {
            name: {
                "name": (a.categories or ())[-1],
                "levels": list(map(to_python, a.others or ())),
                "unseen": rules.unknown == "missing",
            }
            for name, a in others.items()
        }
    if rules.class_weights is not None:
        document["class_weights"] = list(rules.class_weights.values())
    return json.dumps(document, indent=2, default=str, ensure_ascii=False, allow_nan=False)


def _levels(attribute: AttributeSchema) -> list[Any] | None:
    return None if attribute.categories is None else list(map(to_python, attribute.categories))


def _rule(rule: Rule) -> dict[str, Any]:
    entry = {
        "if": [_condition(condition) for condition in rule.conditions],
        "then": rule.label,
        "rows": rule.support,
        "errors": rule.errors,
        "counts": list(rule.counts.values()),
        "coverage": rule.coverage,
        "estimated_error": rule.estimated_error,
    }
    return entry if rule.held_out is None else {**entry, "held_out": _held_out(rule.held_out)}


def _held_out(found: HeldOut) -> dict[str, Any]:
    """The accuracy on held-out rows with its limits of 95 %, null where there are no rows."""
    low, high = found.limits if found.rows else (None, None)
    return {
        "rows": found.rows,
        "errors": found.errors,
        "accuracy": found.accuracy if found.rows else None,
        "low": low,
        "high": high,
    }


def _condition(condition: Condition) -> dict[str, Any]:
    entry: dict[str, Any] = {"attribute": condition.attribute}
    if condition.is_missing:
        return {**entry, "is": "missing"}
    if condition.is_known:
        entry["is"] = "known"
    else:
        entry |= _values(condition)
    if condition.substitutes:
        entry["if_missing"] = [
            {
                "first_that_answers": [_alternative(c) for c in substitute.alternatives],
                "otherwise": substitute.otherwise,
            }
            for substitute in condition.substitutes
        ]
    else:
        entry["if_missing"] = condition.missing
    return entry


def _values(condition: Condition) -> dict[str, Any]:
    """The values that meet a condition; times in microseconds."""
    if condition.levels is not None:
        return {"in": list(condition.levels)}
    bounds = {"above": condition.low, "at_most": condition.high}
    entry = {side: _number(bound) for side, bound in bounds.items() if bound is not None}
    return entry if condition.time is None else {**entry, "time": condition.time}


def _number(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else str(value)


def _alternative(condition: Condition) -> dict[str, Any]:
    """An alternative to a missing value; it has no answer for levels that are in neither set."""
    entry = {"attribute": condition.attribute} | _values(condition)
    if condition.levels is not None:
        entry["not_in"] = list(condition.excluded)
    return entry
