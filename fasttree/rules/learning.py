# SPDX-License-Identifier: BSD-3-Clause
"""From the rules of a tree to a list of pruned, sorted rules that classify."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fasttree.base import sums
from fasttree.base.ragged import offsets, take_lists
from fasttree.rules.conditions import covered_rows, known_rows
from fasttree.rules.pruning import TIE, Estimate, RowBits, prune_rules
from fasttree.rules.rule_list import RuleList, laplace
from fasttree.rules.subsets import rule_bits, sift
from fasttree.tables.schema import Schema
from fasttree.trees.decide import majority_class

SUBSET = "subset"


def learn_rules(
    rules: RuleList,
    training: RowBits,
    judges: RowBits,
    estimate: Estimate,
    estimate_name: str,
    when: str,
    simplify: str | None = None,
) -> RuleList:
    """Prune the rules by what the `judges` say, and keep those that are of use, the most reliable first; or, if they
    are to be simplified to a "subset", the rules that tell each class in the fewest bits, class by class.

    Discarded are rules that became equal to an earlier one, that have no condition left, that cover no training row, or
    whose class is not the most frequent among the training rows that they cover.
    """
    kept, error = prune_rules(
        rules.conditions, rules.start, rules.condition, rules.label, judges, estimate, when
    )
    size = np.add.reduceat(np.append(kept, False).astype(np.int64), rules.start[:-1])
    size[np.diff(rules.start) == 0] = 0
    start = offsets(size)
    first = _first_of_equals(start, rules.condition[kept], rules.label)
    first = first[size[first] > 0]
    start, condition = take_lists(start, rules.condition[kept], first)
    label, error = rules.label[first], error[first]

    used, number = np.unique(condition, return_inverse=True)
    table = rules.conditions.take(used)
    met = table.met(training.read, training.n_places)
    covered = covered_rows(met, start, number)
    counts = training.counts(covered)
    total = training.counts(training.is_row[np.newaxis])[0]
    good = (_majority(counts, rules.schema) == label) & (sums.sums(counts) > 0)
    first = np.flatnonzero(good)
    weight = _rounded(sums.sums(counts[first]))
    first = first[np.lexsort((first, -weight, _rounded(error[first])))]
    if simplify == SUBSET and len(first):
        bits = rule_bits(table, *take_lists(start, number, first), training)
        first = first[sift(bits, label[first], covered[first], training, rules.schema.tie_order)]
    uncovered = ~np.bitwise_or.reduce(covered[first], axis=0) if len(first) else training.is_row
    rest = training.counts(uncovered[np.newaxis])[0]
    without_rule = sums.total(rest)
    if without_rule == 0:
        rest = total
    new_start, number = take_lists(start, number, first)
    lacking = _lacking(
        covered[first], new_start, table.attribute[number], len(rules.schema.attributes), training
    )
    return replace(
        rules,
        conditions=table,
        start=new_start,
        condition=number,
        missing_seen=lacking,
        label=label[first],
        counts=counts[first],
        estimated_error=error[first],
        estimate=estimate_name,
        default=int(_majority(rest[np.newaxis], rules.schema)[0]),
        default_counts=rest,
        uncovered=without_rule,
        training_weight=sums.total(total),
        shares_rows=False,
    )


def _lacking(
    covered: np.ndarray,
    start: np.ndarray,
    attribute: np.ndarray,
    n_attributes: int,
    training: RowBits,
) -> np.ndarray:
    """For each condition of each rule: do training rows that the rule covers lack the value?"""
    missing = known_rows(n_attributes, training.read, training.n_places)
    np.bitwise_not(missing, out=missing)
    missing &= training.is_row
    size = np.diff(start)
    lacking = np.zeros(len(attribute), dtype=bool)
    for asked in np.flatnonzero(missing.any(axis=1)).tolist():
        words = np.flatnonzero(missing[asked])
        places = np.flatnonzero(attribute == asked)
        rule = np.repeat(np.arange(len(size)), size)[places]
        rows = (covered[:, words] & missing[asked, words]).any(axis=1)
        lacking[places] = rows[rule]
    return lacking


def _first_of_equals(start: np.ndarray, condition: np.ndarray, label: np.ndarray) -> np.ndarray:
    """The rules without those that say the same as an earlier one."""
    size = np.diff(start)
    wide = np.full((len(size), int(size.max(initial=0)) + 1), -1, dtype=np.int64)
    filled = np.zeros(wide.shape, dtype=bool)
    filled[:, 1:] = np.arange(wide.shape[1] - 1) < size[:, np.newaxis]
    wide[filled] = condition
    wide.sort(axis=1)
    _, first = np.unique(np.column_stack([label, wide]), axis=0, return_index=True)
    return np.sort(first)


def _majority(counts: np.ndarray, schema: Schema) -> np.ndarray:
    """The most frequent class: that of the largest share that `predict_proba` gives."""
    return majority_class(laplace(counts), schema.tie_order)


def _rounded(values: np.ndarray) -> np.ndarray:
    """What differs by rounding only is equal."""
    return np.round(values / TIE)
