# SPDX-License-Identifier: BSD-3-Clause
"""The trees of a study in its report: drawn, as rules with counts of both halves, and as text."""

from __future__ import annotations

import numpy as np

from fasttree.base.wording import plural
from fasttree.draw.svg import draw
from fasttree.studies.report.blocks import Block, Code, Folded, Picture, Section, Text
from fasttree.studies.report.words import Words
from fasttree.studies.results import GroupResult, ReadableTree, StudyResult, StudyRule
from fasttree.studies.tables import TextTable, interval_text, percent
from fasttree.trees.tree import LEAF, Tree

MOST_DRAWN = 45  # leaves
MOST_RULES = 40
OUTSIDE = "*"


def tree_section(result: StudyResult, group: GroupResult, tree: ReadableTree, name: str) -> Section:
    words = Words.of(result)
    depth = _levels_drawn(tree.tree)
    leaves = plural(tree.tree.n_leaves, "leaf", "leaves")
    caption = (
        f"{tree.method}, first split, {leaves}. Each box shows the {words.rows} of the training half that reach it, "
        f"and the proportion of {words.events} among them; the bar shows the same."
    )
    if depth is not None:
        caption += f" Only the first {plural(depth, 'level')} of {tree.tree.max_depth} are drawn."
    title = f"The {tree.method} tree, {group.name}"
    drawing = draw(
        tree.tree, max_depth=depth, title=title, target=words.target, name=name, standalone=False
    )
    picture: Block = Picture(title, (drawing,), caption, "tree", (Code(tree.text),))
    if depth is not None:
        picture = Folded(
            f"The first {plural(depth, 'level')} of {tree.tree.max_depth}, drawn", (picture,)
        )
    blocks: list[Block] = [picture, *_rules(words, group.name, tree)]
    if depth is not None:
        blocks.insert(0, Text(f"With {leaves}, the tree is too large to be drawn in full."))
    return Section(f"The {tree.method} tree", name, tuple(blocks))


def _levels_drawn(tree: Tree) -> int | None:
    """None: all; else as many levels as have no more ends than can be looked over."""
    if tree.n_leaves <= MOST_DRAWN:
        return None
    ends_by_depth = np.bincount(tree.depth)
    leaves = np.bincount(tree.depth[tree.attribute == LEAF], minlength=len(ends_by_depth))
    best = 1
    for depth in range(1, len(ends_by_depth)):
        if leaves[:depth].sum() + ends_by_depth[depth] <= MOST_DRAWN:
            best = depth
    return best


def _rules(words: Words, group: str, tree: ReadableTree) -> list[Block]:
    """The paths of the tree; of a large tree those that most rows take."""
    rules = list(enumerate(tree.rules, 1))
    note = (
        f"Proportions of {words.events}. Those of the training half are optimistic, since the tree was fitted to "
        "it; those "
        "of the test half have 95 % confidence limits (Wilson). Training rows with a missing value are counted "
        f"fractionally, test rows in the leaf with their largest part. {OUTSIDE}: the probability of the tree is "
        "outside the limits of the test half."
    )
    if len(rules) > MOST_RULES:
        rules = sorted(rules, key=lambda pair: -pair[1].train.rows)[:MOST_RULES]
        note = f"The {MOST_RULES} rules of {len(tree.rules)} with the most rows. {note}"
    header = (
        "Rule",
        "If",
        "Probability",
        "Training rows",
        "Proportion (optimistic)",
        "Test rows",
        "Proportion",
    )
    table = TextTable(
        f"The rules of {tree.method}, {group}",
        header,
        tuple(_rule(place, rule) for place, rule in rules),
        2,
        note,
    )
    if len(tree.rules) > MOST_RULES:
        return [Folded(f"The {MOST_RULES} most frequent rules of {tree.method}", (table,))]
    return [Text("Each path through the tree is a rule:"), table]


def _rule(place: int, rule: StudyRule) -> tuple[str, ...]:
    is_outside = rule.test.rows > 0 and not rule.test.low <= rule.probability <= rule.test.high
    return (
        str(place),
        " and ".join(rule.conditions) or "always",
        percent(rule.probability) + (OUTSIDE if is_outside else ""),
        f"{rule.train.rows:,.0f}",
        percent(rule.train.rate),
        f"{rule.test.rows:,.0f}",
        interval_text(rule.test) if rule.test.rows else "-",
    )
