# SPDX-License-Identifier: BSD-3-Clause
"""Rules as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fasttree.export.amounts import number_text, weight_text
from fasttree.export.names import readable_in_rule
from fasttree.export.text import others_note

if TYPE_CHECKING:
    from fasttree.rules import Condition, Rule, RuleList

WIDTH = 100
LISTED = 8  # levels that are printed one by one
ESTIMATES = {
    "laplace": "Laplace's estimate on the training rows",
    "pessimistic": "pessimistic estimate on the training rows",
    "validation": "on the validation rows",
}


def to_text(rules: RuleList, max_rules: int | None = None) -> str:
    """One rule a line, over several lines where one is too short; the last line is for rows that no rule applies to."""
    shown = len(rules) if max_rules is None else min(max_rules, len(rules))
    width = len(str(shown))
    lines = []
    for i in range(shown):
        head = f"{i + 1:>{width}}. "
        lines += _wrapped(head, rules[i])
    if shown < len(rules):
        lines.append(f"... and {len(rules) - shown} more rules")
    lines.append(otherwise_text(rules))
    if rules.shares_rows:
        lines.append("A row without a value meets no condition on it.")
    return "\n".join([*lines, *others_notes(rules)])


def others_notes(rules: RuleList) -> list[str]:
    """What the levels of few rows are of the attributes that the rules ask for."""
    tables = [rules.conditions]
    if rules.conditions.substitutes is not None:
        tables.append(rules.conditions.substitutes.conditions)
    asked = {place for table in tables for place in table.attribute.tolist()}
    return [
        others_note(attribute, with_unseen=rules.unknown == "missing")
        for place, attribute in enumerate(rules.schema.attributes)
        if place in asked and attribute.others is not None
    ]


def rule_text(rule: Rule) -> str:
    return f"IF {premise_text(rule)} THEN {readable_in_rule(rule.label)} ({evidence_text(rule)})"


def otherwise_text(rules: RuleList) -> str:
    rows = f"{rows_text(rules.uncovered)} without a rule" if rules.uncovered else "no training rows"
    return f"OTHERWISE {readable_in_rule(rules.default_class)} ({rows})"


def evidence_text(rule: Rule) -> str:
    errors = rule.errors if rule.errors > 1e-9 * rule.support else 0.0
    return (
        f"{rows_text(rule.support)}, {_plural(errors, 'error')}, "
        f"estimated accuracy {rule.estimated_accuracy:.2f}"
    )


def rows_text(weight: float) -> str:
    return _plural(weight, "row")


def condition_text(condition: Condition) -> str:
    """The condition as people write it, long numbers with six digits; JSON and Python have them all. Names and levels
    that could be mistaken for something else are in quotes, on one line."""
    name = readable_in_rule(condition.attribute)
    low, high = (number_text(bound, condition.time) for bound in (condition.low, condition.high))
    if condition.is_missing:
        return f"{name} is missing"
    if condition.is_known:
        text = f"{name} is known"
    elif condition.levels is not None:
        text = f"{name} {_levels_text(condition.levels, condition.excluded)}"
    elif condition.low is None:
        text = f"{name} <= {high}"
    elif condition.high is None:
        text = f"{name} > {low}"
    else:
        text = f"{low} < {name} <= {high}"
    if not condition.missing_seen:
        return text
    instead = _instead(condition)
    return f"{text} (if missing: {instead})" if instead else f"{text} or missing"


def _levels_text(levels: tuple[object, ...], excluded: tuple[object, ...]) -> str:
    """Those that do, or those that do not where they are far fewer."""
    if len(levels) > LISTED // 2 and 2 * len(excluded) < len(levels):
        words = "!=" if len(excluded) == 1 else "not in"
        return f"{words} {_set_text(excluded)}"
    return f"{'=' if len(levels) == 1 else 'in'} {_set_text(levels)}"


def _set_text(levels: tuple[object, ...]) -> str:
    if len(levels) == 1:
        return readable_in_rule(levels[0])
    listed = ", ".join(map(readable_in_rule, levels[:LISTED]))
    more = len(levels) - LISTED
    return f"{{{listed}{f', and {more} more' if more > 0 else ''}}}"


def _instead(condition: Condition) -> str:
    """By what a missing value is replaced: the first surrogate of each test; there may be more."""
    tests = [s.alternatives[0] for s in condition.substitutes if s.alternatives]
    texts = dict.fromkeys(condition_text(test) for test in tests)  # each once
    return " and ".join(texts)


def premise_text(rule: Rule) -> str:
    """All the conditions, without the conclusion."""
    return " AND ".join(_conditions(rule)) or "anything"


def _conditions(rule: Rule) -> list[str]:
    """In brackets where they hold an "or"."""
    texts = [str(condition) for condition in rule.conditions]
    several = len(texts) > 1
    return [f"({text})" if several and text.endswith(" or missing") else text for text in texts]


def _wrapped(head: str, rule: Rule) -> list[str]:
    text = head + rule_text(rule)
    if len(text) <= WIDTH:
        return [text]
    indent = " " * len(head)
    lines = [f"{head}IF "]
    for i, condition in enumerate(_conditions(rule)):
        joined = condition if i == 0 else f" AND {condition}"
        if i and len(lines[-1]) + len(joined) > WIDTH:
            lines.append(f"{indent}   AND {condition}")
        else:
            lines[-1] += joined
    lines.append(f"{indent}THEN {readable_in_rule(rule.label)} ({evidence_text(rule)})")
    return lines


def _plural(count: float, noun: str) -> str:
    if count == 0:
        return f"no {noun}s"
    number = weight_text(count)
    return f"{number} {noun}" if number == "1" else f"{number} {noun}s"
