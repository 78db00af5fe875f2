# SPDX-License-Identifier: BSD-3-Clause
"""Rules as JSON."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from fasttree.scalars import plain

if TYPE_CHECKING:
    from fasttree.rules import Condition, Rule, RuleList


def to_json(rules: RuleList) -> str:
    """All that the rules say, numbers in full. Labels that JSON does not know are written as text."""
    document = {
        "classes": rules.classes,
        "attributes": list(rules.schema.names),
        "estimate": rules.estimate,
        "rules": [_rule(rule) for rule in rules],
        "otherwise": {"class": rules.default_class, "rows": rules.uncovered},
    }
    others = {a.name: a for a in rules.schema.attributes if a.others is not None}
    if others:
        document["others"] = {
            name: {
                "name": (a.categories or ())[-1],
                "levels": list(map(plain, a.others or ())),
                "unseen": rules.unknown == "missing",
            }
            for name, a in others.items()
        }
    if rules.class_weights is not None:
        document["class_weights"] = list(rules.class_weights.values())
    return json.dumps(document, indent=2, default=str, ensure_ascii=False, allow_nan=False)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "if": [_condition(condition) for condition in rule.conditions],
        "then": rule.label,
        "rows": rule.support,
        "errors": rule.errors,
        "counts": list(rule.counts.values()),
        "coverage": rule.coverage,
        "estimated_error": rule.estimated_error,
    }


def _condition(condition: Condition) -> dict[str, Any]:
    said: dict[str, Any] = {"attribute": condition.attribute}
    if condition.is_missing:
        return {**said, "is": "missing"}
    if condition.is_known:
        said["is"] = "known"
    else:
        said |= _values(condition)
    if condition.substitutes:
        said["if_missing"] = [
            {
                "first_that_answers": [_alternative(c) for c in substitute.alternatives],
                "otherwise": substitute.otherwise,
            }
            for substitute in condition.substitutes
        ]
    else:
        said["if_missing"] = condition.missing
    return said


def _values(condition: Condition) -> dict[str, Any]:
    """The values that meet a condition; times in microseconds."""
    if condition.levels is not None:
        return {"in": list(condition.levels)}
    bounds = {"above": condition.low, "at_most": condition.high}
    said = {side: _number(bound) for side, bound in bounds.items() if bound is not None}
    return said if condition.time is None else {**said, "time": condition.time}


def _number(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else str(value)


def _alternative(condition: Condition) -> dict[str, Any]:
    """It has no answer for levels that are in neither set."""
    said = {"attribute": condition.attribute} | _values(condition)
    if condition.levels is not None:
        said["not_in"] = list(condition.excluded)
    return said
