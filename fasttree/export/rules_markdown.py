# SPDX-License-Identifier: BSD-3-Clause
"""Rules as a Markdown table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fasttree.export.amounts import weight_text
from fasttree.export.names import readable_in_rule
from fasttree.export.rules_text import ESTIMATES, condition_text, others_notes

if TYPE_CHECKING:
    from fasttree.rules import RuleList

_OWN_SIGNS = re.compile(r"[\\|*`~\[\]]|(?<!\w)_|_(?!\w)|<(?=[A-Za-z/!?])|&(?=#?\w+;)")


def to_markdown(rules: RuleList, max_rules: int | None = None) -> str:
    """A row a rule: what must hold, the class, the training rows that it covers, the errors, the estimated accuracy."""
    shown = len(rules) if max_rules is None else min(max_rules, len(rules))
    lines = [
        "| # | if | then | rows | errors | estimated accuracy |",
        "|---:|---|---|---:|---:|---:|",
    ]
    for i in range(shown):
        rule = rules[i]
        premise = " **and** ".join(_escaped(condition_text(c)) for c in rule.conditions)
        cells = [
            str(i + 1),
            premise or "anything",
            f"**{_escaped(readable_in_rule(rule.label))}**",
            weight_text(rule.support),
            weight_text(rule.errors),
            f"{rule.estimated_accuracy:.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    rows = weight_text(rules.uncovered)
    lines.append(
        f"| | otherwise | **{_escaped(readable_in_rule(rules.default_class))}** | {rows} | | |"
    )
    notes = [f"The first rule that applies decides. Accuracy: {ESTIMATES[rules.estimate]}."]
    if shown < len(rules):
        notes.insert(0, f"{len(rules) - shown} more rules are not shown.")
    if rules.shares_rows:
        notes.append("A row without a value meets no condition on it.")
    notes += map(_escaped, others_notes(rules))
    return "\n".join([*lines, "", " ".join(notes)])


def _escaped(text: str) -> str:
    """Signs that Markdown would take for its own; most underscores, < and & are left as they are."""
    return _OWN_SIGNS.sub(r"\\\g<0>", text)
