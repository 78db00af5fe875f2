# SPDX-License-Identifier: BSD-3-Clause
"""An estimator as notebooks show it: what was changed and, if it is fitted, what came of it. One piece of HTML."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

import numpy as np

from fasttree.base.values import to_python
from fasttree.draw.text import to_text
from fasttree.estimators.parameters import changed, shortened
from fasttree.trees.structure import TreeStructure

LINES = 30  # of a tree or a list of rules
LINE = 140  # characters
CLASSES = 6

# Colours come from the page: its own for text, and grey that is half transparent fits light and dark alike.
STYLE = """
.fasttree-box { display: inline-block; max-width: 100%; box-sizing: border-box; border: 1px solid rgba(128,128,128,.4);
  border-radius: 6px; font: 13px/1.5 system-ui, sans-serif; color: inherit; overflow: hidden; text-align: left }
.fasttree-box > div, .fasttree-box > details { padding: 6px 12px; border-top: 1px solid rgba(128,128,128,.25) }
.fasttree-box > div:first-of-type { border-top: 0; background: rgba(128,128,128,.12) }
.fasttree-box b { font-size: 14px; margin-right: 10px }
.fasttree-box i { font-style: normal; font-size: 11px; padding: 1px 7px; border-radius: 9px; color: inherit;
  border: 1px solid rgba(128,128,128,.5) }
.fasttree-box i.fitted { background: rgba(46,160,67,.3) }
.fasttree-box table { border-collapse: collapse; margin: 0; font-size: 13px; color: inherit; background: none }
.fasttree-box th, .fasttree-box td { text-align: left; vertical-align: top; padding: 0 14px 0 0; border: 0;
  color: inherit; background: none; font-weight: normal }
.fasttree-box th { opacity: .75; white-space: nowrap }
.fasttree-box td { font-family: ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere }
.fasttree-box summary { cursor: pointer; opacity: .75 }
.fasttree-box pre { margin: 4px 0; padding: 0; font: 12px/1.45 ui-monospace, monospace; color: inherit;
  background: none; border: 0; overflow-x: auto; white-space: pre }
.fasttree-box small { opacity: .75 }
"""


def to_html(estimator: Any) -> str:
    fitted = estimator.__sklearn_is_fitted__()
    state = '<i class="fitted">fitted</i>' if fitted else "<i>not fitted</i>"
    parts = [f"<div><b>{escape(type(estimator).__name__)}</b>{state}</div>", _parameters(estimator)]
    if fitted:
        parts += [_facts(estimator), _drawing(estimator)]
    return f'<div class="fasttree-box"><style>{STYLE}</style>{"".join(parts)}</div>'


def _parameters(estimator: Any) -> str:
    values = changed(estimator)
    if not values:
        return "<div><small>all parameters at their defaults</small></div>"
    return _table({escape(name): shortened(value) for name, value in values.items()})


def _facts(estimator: Any) -> str:
    tree = estimator.tree_
    facts = {"attributes": f"{estimator.n_features_in_:,}"}
    if hasattr(estimator, "classes_"):
        classes = estimator.classes_
        names = [str(to_python(label)) for label in classes[:CLASSES]]
        more = f", and {len(classes) - CLASSES:,} more" if len(classes) > CLASSES else ""
        facts["classes"] = _cut(", ".join(names)) + more
    facts |= {
        "weight of rows": f"{float(tree.weighted_n_node_samples[0]):,.10g}",
        "leaves": f"{tree.n_leaves:,}",
        "depth": f"{tree.max_depth:,}",
    }
    if hasattr(estimator, "rules_"):
        facts["rules"] = f"{len(estimator.rules_):,}"
    return _table(facts)


def _table(facts: dict[str, str]) -> str:
    rows = (f"<tr><th>{name}</th><td>{escape(fact)}</td></tr>" for name, fact in facts.items())
    return f"<div><table>{''.join(rows)}</table></div>"


def _drawing(estimator: Any) -> str:
    """The tree or the rules; of large ones, as much as fits."""
    if hasattr(estimator, "rules_"):
        title, whole = "rules", estimator.rules_.to_text(max_rules=LINES).split("\n")
        is_whole = len(estimator.rules_) <= LINES
    else:
        title = "tree"
        top = top_of(estimator.tree_)
        is_whole = top is estimator.tree_
        text = to_text(replace(estimator.exportable(), tree=top))
        whole = text.removeprefix(": ").split("\n")
    end = whole.index("") if "" in whole else len(whole)  # notes stand beneath
    is_whole &= end <= LINES
    lines = [_cut(line) for line in (*whole[: min(end, LINES)], *whole[end:])]
    notes = []
    if not is_whole:
        notes.append(
            f"Only the top of the {title} is shown; <code>to_text()</code> shows all of it."
        )
    if getattr(estimator, "averaged", None):
        notes.append("Probabilities are averages over the prunings of this tree.")
    below = f"<small>{' '.join(notes)}</small>" if notes else ""
    text = escape("\n".join(lines))
    return f"<details open><summary>{title}</summary><pre>{text}</pre>{below}</details>"


def top_of(tree: TreeStructure) -> TreeStructure:
    """The tree with as many splits from the root downwards as can be drawn; itself, if it is small."""
    splits = np.flatnonzero(~tree.is_leaf())
    n_drawn = max(1, int(np.searchsorted(np.cumsum(tree.n_children[splits]), LINES, side="right")))
    if n_drawn >= len(splits):
        return tree
    is_split = np.zeros(tree.node_count, dtype=bool)
    is_split[splits[:n_drawn]] = True
    return tree.subtree(is_split)


def _cut(line: str) -> str:
    return line if len(line) <= LINE else line[: LINE - 1] + "…"
