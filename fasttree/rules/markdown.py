# SPDX-License-Identifier: BSD-3-Clause
"""Rules as a Markdown table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fasttree.base.quoting import readable_in_rule
from fasttree.base.text import weight_text
from fasttree.base.wording import plural
from fasttree.rules.text import condition_text, held_out_text, others_notes

if TYPE_CHECKING:
    from fasttree.rules import RuleList
    from fasttree.rules.held_out import HeldOut

_OWN_SIGNS = re.compile(r"[\\|*`~\[\]]|(?<!\w)_|_(?!\w)|<(?=[A-Za-z/!?])|&(?=#?\w+;)")


def to_markdown(rules: RuleList, max_rules: int | None = None) -> str:
    """One row per rule: its conditions, its class, the training rows that it covers and the errors among them; the same
    for held-out rows, if the rules were evaluated on some, with confidence limits of the accuracy."""
    shown = len(rules) if max_rules is None else min(max_rules, len(rules))
    seen = rules.held_out
    lines = [
        "| # | if | then | training rows | errors (optimistic) |",
        "|---:|---|---|---:|---:|",
    ]
    if seen is not None:
        lines[0] += " held-out rows | errors | accuracy | 95 % limits |"
        lines[1] += "---:|---:|---:|---:|"
    for i in range(shown):
        rule = rules[i]
        premise = " **and** ".join(_escaped(condition_text(c)) for c in rule.conditions)
        cells = [
            str(i + 1),
            premise or "anything",
            f"**{_escaped(readable_in_rule(rule.label))}**",
            weight_text(rule.support),
            weight_text(rule.errors),
            *([] if rule.held_out is None else _held_out(rule.held_out)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    rows = weight_text(rules.uncovered)
    cells = [] if seen is None else _held_out(seen.default)
    lines.append(
        f"| | otherwise | **{_escaped(readable_in_rule(rules.default_class))}** | {rows} | |"
        + "".join(f" {cell} |" for cell in cells)
    )
    notes = [
        "The first rule that applies decides. The rules were learned from the training rows, so their errors there are "
        "optimistic."
    ]
    if seen is not None:
        notes.append(f"All rules together: {held_out_text(seen.whole)}.")
    if shown < len(rules):
        notes.insert(
            0, f"{plural(len(rules) - shown, 'more rule is', 'more rules are')} not shown."
        )
    if rules.shares_rows:
        notes.append("A row with a missing value meets no condition on that attribute.")
    notes += map(_escaped, others_notes(rules))
    return "\n".join([*lines, "", " ".join(notes)])


def _held_out(found: HeldOut) -> list[str]:
    if not found.rows:
        return ["0", "0", "", ""]
    low, high = found.limits
    rows, errors = weight_text(found.rows), weight_text(found.errors)
    return [rows, errors, f"{found.accuracy:.2f}", f"{low:.2f} to {high:.2f}"]


def _escaped(text: str) -> str:
    """Signs that Markdown would take for its own; most underscores, < and & are left as they are."""
    return _OWN_SIGNS.sub(r"\\\g<0>", text)
