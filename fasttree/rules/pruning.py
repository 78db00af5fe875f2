# SPDX-License-Identifier: BSD-3-Clause
"""Rule post-pruning: conditions are dropped one by one as long as a rule's estimated error allows it.

For each rule the error is estimated as it is and without each single condition. Both need only the rows that fail at
most one condition: a row that fails none is covered whatever is dropped, and one that fails one is covered without that
one. With rows as bits they are found for 64 rows at a time, and a single pass gives the counts for every drop at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fasttree.base.progress import step
from fasttree.base.ragged import begins, flat_indices
from fasttree.pruning import ErrorBased, added_errors
from fasttree.rules.conditions import WORD, ConditionTable, Reader

TIE = 1e-10
RULES_AT_A_TIME = 2**14  # words of rules x rows that are worked on together: they stay in the cache
MOST_WORDS = 2**25  # of conditions x rows that are held together, 256 MB

Estimate = Callable[[np.ndarray, np.ndarray], np.ndarray]  # weight, errors -> estimated error


@dataclass(frozen=True, slots=True, eq=False)
class RowBits:
    """Rows that rules are judged by. The rows of one word share their class and weight, so counting bits is enough."""

    read: Reader  # attribute -> values in the order of the bits
    n_places: int
    is_row: np.ndarray  # uint64 [word]: bits that stand for a row
    weight: np.ndarray  # float64 [word]; whole steps of `unit`, so that sums are exact
    unit: float
    class_start: np.ndarray  # int64, one more than classes: the words of each class

    def counts(self, covered: np.ndarray) -> np.ndarray:
        """The weight of the rows of each class, for each row of words: float64 [., class]."""
        n_classes = len(self.class_start) - 1
        counts = np.zeros((len(covered), n_classes))
        bits = np.bitwise_count(covered & self.is_row)
        for c in range(n_classes):
            here = slice(self.class_start[c], self.class_start[c + 1])
            counts[:, c] = bits[:, here] @ self.weight[here]
        return counts * self.unit


def evidence(
    read: Reader,
    classes: np.ndarray,
    n_classes: int,
    steps: np.ndarray | None = None,
    unit: float = 1.0,
) -> RowBits:
    """Put rows in words. `read` gives values in the order of `classes`; row r weighs ``steps[r] * unit``, else 1."""
    if steps is None:
        steps = np.ones(len(classes), dtype=np.int64)
    order = np.lexsort((steps, classes))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(classes[order]) != 0) | (np.diff(steps[order]) != 0)
    group = np.cumsum(new) - 1
    size = np.bincount(group)
    words = -(-size // WORD)
    first_word = begins(words)
    first_row = np.flatnonzero(new)
    bit = WORD * first_word[group] + np.arange(len(order)) - first_row[group]
    n_places = WORD * int(words.sum())
    source = np.full(n_places, -1)
    source[bit] = order
    is_row = source >= 0
    class_of_group = classes[order[first_row]]
    words_of_class = np.bincount(class_of_group, weights=words, minlength=n_classes)

    def read_in_order(attribute: int) -> np.ndarray:
        values = read(attribute)[source]
        values[~is_row] = np.nan
        return values

    return RowBits(
        read_in_order,
        n_places,
        np.packbits(is_row, bitorder="little").view(np.uint64),
        np.repeat(steps[order[first_row]], words).astype(np.float64),
        unit,
        np.append(0, np.cumsum(words_of_class)).astype(np.int64),
    )


def prune_rules(
    conditions: ConditionTable,
    start: np.ndarray,
    condition: np.ndarray,
    label: np.ndarray,
    rows: RowBits,
    estimate: Estimate,
    when: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Which conditions each rule keeps, a mask over `condition`, and its estimated error then."""
    kept = np.ones(len(condition), dtype=bool)
    error = np.empty(len(label))
    n_words = rows.n_places // WORD
    # Rules of one class together, for their own class is one run of words; the longest first.
    order = np.lexsort((-np.diff(start), label))
    n_done = 0
    for which in _parts(order, start, condition, max(1, MOST_WORDS // n_words)):
        step(f"pruning rules, {n_done:,} of {len(order):,} done")
        n_done += len(which)
        size = np.diff(start)[which]
        entries = flat_indices(start[which], size)
        used, number = np.unique(condition[entries], return_inverse=True)
        # A column more than there are conditions: the last is never failed, and fills up shorter rules.
        fails = np.zeros((len(used) + 1, n_words), dtype=np.uint64)
        np.bitwise_not(conditions.take(used).met(rows.read, rows.n_places), out=fails[:-1])
        fails[:-1] &= rows.is_row
        table = np.full((len(which), int(size.max(initial=0))), len(used))
        place = np.full(table.shape, -1)
        filled = np.arange(table.shape[1]) < size[:, np.newaxis]
        table[filled] = number
        place[filled] = entries
        for c in np.unique(label[which]).tolist():
            own = np.flatnonzero(label[which] == c)
            dropped, error[which[own]] = _prune_class(
                fails, table[own], place[own], c, rows, estimate, when
            )
            kept[dropped] = False
    return kept, error


def _parts(
    order: np.ndarray, start: np.ndarray, condition: np.ndarray, most: int
) -> list[np.ndarray]:
    """Runs of rules that have no more than so many distinct conditions, or few rules."""
    if len(np.unique(condition)) <= most:
        return [order]
    ends = np.cumsum(np.diff(start)[order])
    return np.split(order, np.flatnonzero(np.diff(ends // most)) + 1)


def _prune_class(
    fails: np.ndarray,
    table: np.ndarray,
    place: np.ndarray,
    label: int,
    rows: RowBits,
    estimate: Estimate,
    when: str,
) -> tuple[np.ndarray, np.ndarray]:
    """The places of the conditions that rules of one class drop, and the rules' estimated errors."""
    never = len(fails) - 1
    length = (table < never).sum(axis=1)
    error = np.empty(len(table))
    dropped = []
    at_a_time = max(1, RULES_AT_A_TIME // fails.shape[1])
    active = np.arange(len(table))
    while len(active):
        going_on = []
        for at in range(0, len(active), at_a_time):
            which = active[at : at + at_a_time]
            width = int(length[which].max())
            weight, wrong = _count_drops(fails, table[which, :width], label, rows)
            estimated = estimate(weight, wrong)
            now = estimated[:, 0]
            estimated = np.where(table[which, :width] < never, estimated[:, 1:], np.inf)
            error[which] = now
            if not width:
                continue
            least = estimated.min(axis=1, keepdims=True)
            best = width - 1 - np.argmax(estimated[:, ::-1] <= least + TIE, axis=1)
            i = np.arange(len(which))
            if when == "improves":
                drops = estimated[i, best] < now - TIE
            else:
                plain = wrong / np.maximum(weight, 1e-300)
                plain[weight == 0] = 1.0
                drops = (estimated[i, best] <= now + TIE) | (
                    plain[i, best + 1] <= plain[i, 0] + TIE
                )
                drops &= length[which] > 0
            which, best = which[drops], best[drops]
            dropped.append(place[which, best])
            # Later conditions move up, so that the table narrows as rules become shorter.
            for array, filler in ((table, never), (place, -1)):
                shifted = np.concatenate(
                    [array[which, 1:], np.full((len(which), 1), filler)], axis=1
                )
                stays = np.arange(array.shape[1]) < best[:, np.newaxis]
                array[which] = np.where(stays, array[which], shifted)
            length[which] -= 1
            going_on.append(which)
        active = np.concatenate([*going_on, np.empty(0, dtype=np.int64)])
        active = active[np.argsort(-length[active], kind="stable")]
    return np.concatenate(dropped) if dropped else np.empty(0, dtype=np.int64), error


def _count_drops(
    fails: np.ndarray, table: np.ndarray, label: int, rows: RowBits
) -> tuple[np.ndarray, np.ndarray]:
    """The weight that each rule covers and that of other classes: in column 0 as it is, then without each condition."""
    one = np.repeat(~rows.is_row[np.newaxis], len(table), axis=0)  # fails some condition
    two = one.copy()  # ... and another; bits that are no rows fail everything
    for i in range(table.shape[1]):
        failed = fails[table[:, i]]
        two |= one & failed
        one |= failed
    two = one & ~two  # exactly one
    weight = np.empty((len(table), table.shape[1] + 1))
    wrong = np.empty_like(weight)
    own = slice(rows.class_start[label], rows.class_start[label + 1])
    failed = ~one
    for i in range(table.shape[1] + 1):
        if i:
            failed = fails[table[:, i - 1]] & two
        bits = np.bitwise_count(failed)
        weight[:, i] = bits @ rows.weight
        wrong[:, i] = bits[:, own] @ rows.weight[own]
    weight[:, 1:] += weight[:, :1]
    wrong[:, 1:] += wrong[:, :1]
    return weight * rows.unit, (weight - wrong) * rows.unit


# -- estimates -----------------------------------------------------------------------------------------------------


def plain_error(weight: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """The share of errors; a rule that covers nothing is always wrong."""
    return np.where(weight > 0, errors / np.where(weight > 0, weight, 1.0), 1.0)


def pessimistic_error(confidence: float) -> Estimate:
    """The share of errors at the upper end of their confidence interval."""
    how = ErrorBased(confidence)

    def estimate(weight: np.ndarray, errors: np.ndarray) -> np.ndarray:
        return plain_error(weight, errors + added_errors(weight, errors, how))

    return estimate
