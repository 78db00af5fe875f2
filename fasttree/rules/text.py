# SPDX-License-Identifier: BSD-3-Clause
"""Rules as people read them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fasttree.base.quoting import readable_in_rule
from fasttree.base.text import exact_number, number_text, weight_text
from fasttree.draw.remarks import others_note

if TYPE_CHECKING:
    from fasttree.rules import Condition, Rule, RuleList, Substitute
    from fasttree.rules.held_out import HeldOut

WIDTH = 100
LISTED = 8  # levels that are printed one by one


def to_text(rules: RuleList, max_rules: int | None = None) -> str:
    """One rule per line, or several lines for a long rule; then the class of rows to which no rule applies."""
    shown = len(rules) if max_rules is None else min(max_rules, len(rules))
    width = len(str(shown))
    lines = []
    for i in range(shown):
        head = f"{i + 1:>{width}}. "
        lines += _wrapped(head, rules[i])
    if shown < len(rules):
        lines.append(f"... and {_plural(len(rules) - shown, 'more rule')}")
    lines.append(otherwise_text(rules))
    if rules.shares_rows:
        lines.append("A row with a missing value meets no condition on that attribute.")
    lines += others_notes(rules)
    if rules.held_out is not None:
        lines.append(f"All rules together: {held_out_text(rules.held_out.whole)}.")
    return "\n".join(lines)


def others_notes(rules: RuleList) -> list[str]:
    """What the levels of few rows are, of the attributes that the rules ask for."""
    asked = set(rules.conditions.attribute.tolist())
    if rules.conditions.substitutes is not None:
        asked |= set(rules.conditions.substitutes.conditions.attribute.tolist())
    attributes = [rules.schema.attributes[place] for place in sorted(asked)]
    is_unseen = rules.unknown == "missing"
    return [others_note(a, is_unseen) for a in attributes if a.others is not None]


def rule_text(rule: Rule) -> str:
    return f"IF {premise_text(rule)} THEN {readable_in_rule(rule.label)} ({evidence_text(rule)})"


def otherwise_text(rules: RuleList) -> str:
    rows = "no training rows"
    if rules.uncovered:
        rows = f"training rows without a rule: {weight_text(rules.uncovered)}"
    if rules.held_out is not None:
        rows += f"; {held_out_text(rules.held_out.default)}"
    return f"OTHERWISE {readable_in_rule(rules.default_class)} ({rows})"


def evidence_text(rule: Rule) -> str:
    """What the training rows say, which the rule was chosen for, and what others do, if there are some."""
    errors = rule.errors if rule.errors > 1e-9 * rule.support else 0.0
    text = f"training rows: {weight_text(rule.support)}, {_plural(errors, 'error')}, optimistic"
    return text if rule.held_out is None else f"{text}; {held_out_text(rule.held_out)}"


def held_out_text(found: HeldOut) -> str:
    if not found.rows:
        return "held-out rows: none"
    low, high = found.limits
    return (
        f"held-out rows: {weight_text(found.rows)}, {_plural(found.errors, 'error')}, "
        f"accuracy {found.accuracy:.2f}, 95 % limits {low:.2f} to {high:.2f}"
    )


def condition_text(condition: Condition) -> str:
    """The condition as people write it, long numbers with six digits; JSON and Python have them all. Names and levels
    that could be mistaken for something else are in quotes, on one line.

    It ends in `` or missing`` if training rows met it for want of a value, in `` (or missing)`` if only later rows
    may, and in `` (if missing: ...)`` where other attributes decide.
    """
    text = known_text(condition)
    if condition.substitutes:
        return f"{text} (if missing: {_instead(condition)})"
    if condition.is_missing or condition.is_unseen or not condition.missing:
        return text
    word = "unseen" if condition.refuses_missing else "missing"
    return f"{text} or {word}" if condition.missing_seen else f"{text} (or {word})"


def known_text(condition: Condition) -> str:
    """What a value must be that is known; only the value of `is missing` and `is unseen` is not."""
    name = readable_in_rule(condition.attribute)
    if condition.is_missing:
        return f"{name} is missing"
    if condition.is_unseen:
        return f"{name} is unseen"
    if condition.is_known:
        return f"{name} is known"
    if condition.levels is not None:
        return f"{name} {_levels_text(condition)}"
    write = exact_number if condition.exact else number_text
    low, high = (
        None if bound is None else write(bound, condition.time)
        for bound in (condition.low, condition.high)
    )
    if low is None:
        return f"{name} <= {high}"
    return f"{name} > {low}" if high is None else f"{low} < {name} <= {high}"


def _levels_text(condition: Condition) -> str:
    """Those that do, or those that do not where they are far fewer."""
    levels, excluded = condition.levels or (), condition.excluded
    if names_excluded(len(levels), len(excluded), condition.unseen):
        words = "!=" if len(excluded) == 1 else "not in"
        return f"{words} {_set_text(excluded, condition.exact)}"
    return f"{'=' if len(levels) == 1 else 'in'} {_set_text(levels, condition.exact)}"


def names_excluded(n_levels: int, n_excluded: int, unseen: str) -> bool:
    """Are the levels named that do not meet a condition? Not if others do not meet it either, which nobody knows."""
    return n_levels > LISTED // 2 and 2 * n_excluded < n_levels and unseen != "majority"


def _set_text(levels: tuple[object, ...], in_full: bool) -> str:
    if len(levels) == 1:
        return readable_in_rule(levels[0])
    shown = levels if in_full else levels[:LISTED]
    more = len(levels) - len(shown)
    return (
        f"{{{', '.join(map(readable_in_rule, shown))}{f', and {more} more' if more > 0 else ''}}}"
    )


def _instead(condition: Condition) -> str:
    """What decides where the value is missing: for each test the first surrogate, and whether there are more."""
    groups = (_chain(substitute, condition.exact) for substitute in condition.substitutes)
    texts = list(dict.fromkeys(groups))  # each once
    return " and ".join(f"({t})" if len(texts) > 1 and ", else " in t else t for t in texts)


def _chain(substitute: Substitute, in_full: bool) -> str:
    links = [substitute_text(condition, in_full) for condition in substitute.alternatives]
    if not in_full and len(links) > 1:
        return f"{links[0]}, else ..."
    if substitute.otherwise:
        links.append("yes")
    return ", else ".join(links)


def substitute_text(condition: Condition, in_full: bool = False) -> str:
    """A surrogate of a missing value. Which levels do is said of those that do: it knows not all of the others."""
    condition = replace(condition, exact=condition.exact or in_full)
    if condition.levels is None:
        return known_text(condition)
    name, sign = readable_in_rule(condition.attribute), "=" if len(condition.levels) == 1 else "in"
    return f"{name} {sign} {_set_text(condition.levels, condition.exact)}"


def premise_text(rule: Rule) -> str:
    """All the conditions, without the conclusion."""
    return " AND ".join(_conditions(rule)) or "anything"


def _conditions(rule: Rule) -> list[str]:
    return in_brackets([str(condition) for condition in rule.conditions])


def in_brackets(texts: list[str]) -> list[str]:
    """Conditions that are to be joined: in brackets where they hold an "or"."""
    several = len(texts) > 1
    return [
        f"({text})" if several and text.endswith((" or missing", " or unseen")) else text
        for text in texts
    ]


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
