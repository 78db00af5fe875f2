# SPDX-License-Identifier: BSD-3-Clause
"""Of the rules of each class the subset that tells in the fewest bits which training rows belong to the class.

A subset S of the rules of a class is told in

    L(S) = 1/2 sum over its rules of (sum over the rule's k conditions of their bits - log2 k!)
           + log2 C(n, f) + log2 C(N - n, m)

bits. The names count half: very many rules say nearly the same of the training rows, so that to name one exactly tells
more than is needed. N is the weight of all rows; n that of the rows that a rule of S covers, of which f, the false
positives, have another class; m is the weight of the rows of the class that no rule of S covers. The order in which the
k conditions of a rule are told says nothing, hence log2 k!. C is the binomial coefficient, by the gamma function:
weights need not be whole.
"""

from __future__ import annotations

import numpy as np

from fasttree.base.elementary import log, log2, log_gamma
from fasttree.base.ragged import lengths
from fasttree.base.sums import segment_sums, sums, total
from fasttree.rules.conditions import WORD, ConditionTable
from fasttree.rules.pruning import RowBits
from fasttree.stats.special import log2_choose, log_factorial

NAMING = 0.5  # what a bit of the names counts
MOST_EXHAUSTIVE = 10  # rules of a class: of so many every subset is tried
TIE_BITS = 1e-6  # lengths that differ by less are equal
MOST_FACTORIALS = 2**22  # that are kept, 32 MB
BLOCK_WORDS = 2**20  # of rules x rows that are worked on together


# -- what it takes to name a rule ------------------------------------------------------------------------------------


def rule_bits(
    table: ConditionTable, start: np.ndarray, condition: np.ndarray, rows: RowBits
) -> np.ndarray:
    """The bits that name each rule, as they count; a rule has at least one condition."""
    n_conditions = lengths(start)
    orders = log_factorial(n_conditions.astype(np.float64)) / log(2.0)
    return NAMING * (segment_sums(condition_bits(table, rows)[condition], start[:-1]) - orders)


def condition_bits(table: ConditionTable, rows: RowBits) -> np.ndarray:
    """The bits that name each condition: the attribute, and what is asked of it.

    A bound of a number is one of those between the distinct values of the training rows, from above or below. Of L
    categories, s are named by their number, 1 to L - 1, and then which; of ordered ones, a run from one to another.
    """
    bits = np.full(len(table), log2(float(len(table.schema.attributes))))
    n_codes = lengths(table.start).astype(np.float64)
    for attribute in np.unique(table.attribute).tolist():
        here = table.attribute == attribute
        attribute_schema = table.schema.attributes[attribute]
        if attribute_schema.categories is None:
            values = rows.read(attribute)
            n_cuts = len(np.unique(values[~np.isnan(values)])) - 1
            bits[here] += 1 + log2(float(max(n_cuts, 1)))
            continue
        n_categories = float(max(len(attribute_schema.categories), 1))
        if attribute_schema.ordered:
            bits[here] += log2(n_categories * (n_categories + 1) / 2)
        else:
            bits[here] += log2(max(n_categories - 1, 1.0))
            bits[here] += log2_choose(np.full(int(here.sum()), n_categories), n_codes[here])
    return bits


# -- which rules -----------------------------------------------------------------------------------------------------


def sift(
    bits: np.ndarray,
    label: np.ndarray,
    covered: np.ndarray,
    rows: RowBits,
    tie_order: tuple[int, ...] = (),
) -> np.ndarray:
    """The rules that are kept, by number: class by class, those of a class as they came.

    The class whose rules cover the least weight of other classes comes first; then the one that does so among the rows
    that are left, and so on. The first in `tie_order` of equals.
    """
    subsets = {}
    for c in tie_order or range(len(rows.class_start) - 1):
        own = np.flatnonzero(label == c)
        kept = own[shortest_subset(bits[own], covered[own], rows, c)]
        if len(kept):
            subsets[c] = kept
    order = [np.empty(0, dtype=np.int64)]
    union = {c: np.bitwise_or.reduce(covered[kept], axis=0) for c, kept in subsets.items()}
    left = rows.is_row
    while subsets:
        classes = list(subsets)
        counts = rows.counts(np.array([union[c] & left for c in classes]))
        counts[np.arange(len(classes)), classes] = 0.0
        first = classes[int(sums(counts).argmin())]
        order.append(subsets.pop(first))
        left = left & ~union[first]
    return np.concatenate(order)


def shortest_subset(bits: np.ndarray, covered: np.ndarray, rows: RowBits, c: int) -> np.ndarray:
    """A mask of the rules of class `c` that tell it in the fewest bits.

    Of a few rules it is the best of all subsets (of equals one of the fewest rules, of these the first in the order of
    the rules). Of more, rules are added and dropped one at a time, always the one that saves most, as long as that
    saves anything: once from none, once from all. The shorter of the two ends.
    """
    one = _Class(bits, covered, rows, c)
    if len(bits) <= MOST_EXHAUSTIVE:
        return one.best_of_all()
    from_none, length = one.improved(np.zeros(len(bits), dtype=bool))
    from_all, other = one.improved(np.ones(len(bits), dtype=bool))
    return from_all if other < length - TIE_BITS else from_none


class _Class:
    """The rules of one class, and the rows of each word: the weight of all, and of those of the class, in whole steps,
    so that sums are exact."""

    def __init__(self, bits: np.ndarray, covered: np.ndarray, rows: RowBits, c: int) -> None:
        self.bits = bits
        self.covered = covered & rows.is_row
        self.unit = rows.unit
        self.weight = np.zeros((len(rows.weight), 2))
        self.weight[:, 0] = rows.weight
        own = slice(rows.class_start[c], rows.class_start[c + 1])
        self.weight[own, 1] = rows.weight[own]
        self.words = np.arange(len(rows.weight))
        self.all = self._steps(rows.is_row, self.words)
        n = int(self.all[0])
        self.log2_factorials = None  # of whole weights, which are asked for again and again
        if self.unit == 1 and n <= MOST_FACTORIALS:
            self.log2_factorials = log_gamma(np.arange(1.0, n + 2)) / log(2.0)

    def _steps(self, bits: np.ndarray, words: np.ndarray) -> np.ndarray:
        """The weight of some words of rows, all and own."""
        return np.asarray(np.bitwise_count(bits) @ self.weight[words])

    def length(self, named: np.ndarray | float, steps: np.ndarray) -> np.ndarray:
        """L of subsets that take `named` bits to name and cover these steps of weight, [., all or own]."""
        rest = self.all - steps
        exceptions = self._log2_choose(steps) + self._log2_choose(rest)
        return np.asarray(exceptions + named)

    def _log2_choose(self, steps: np.ndarray) -> np.ndarray:
        n, k = steps[..., 0], steps[..., 1]
        table = self.log2_factorials
        if table is None:
            return log2_choose(n * self.unit, k * self.unit)
        n, k = n.astype(np.int64), k.astype(np.int64)
        return np.asarray(table[n] - (table[k] + table[n - k]))

    # -- all subsets -------------------------------------------------------------------------------------------------

    def best_of_all(self) -> np.ndarray:
        n = len(self.bits)
        steps, named = np.zeros((2**n, 2)), np.zeros(2**n)
        for i, own_bits in enumerate(self.bits[::-1].tolist()):  # the first rule is the highest bit
            named[2**i : 2 ** (i + 1)] = named[: 2**i] + own_bits
        at_a_time = max(1, BLOCK_WORDS >> n)
        for at in range(0, len(self.words), at_a_time):
            words = self.words[at : at + at_a_time]
            union = np.zeros((2**n, len(words)), dtype=np.uint64)
            for i, rule in enumerate(self.covered[::-1, words]):
                union[2**i : 2 ** (i + 1)] = union[: 2**i] | rule
            steps += self._steps(union, words)
        lengths = self.length(named, steps)
        subset = np.flatnonzero(lengths <= lengths.min() + TIE_BITS)
        best = subset[np.lexsort((-subset, np.bitwise_count(subset)))[0]]
        return np.asarray((best >> np.arange(n)[::-1]) % 2 == 1)

    # -- step by step ------------------------------------------------------------------------------------------------

    def improved(self, chosen: np.ndarray) -> tuple[np.ndarray, float]:
        """Where adding and dropping rules one at a time ends, and its length."""
        times = np.zeros((len(self.words), WORD), dtype=np.int32)  # that a row is covered
        for rule in np.flatnonzero(chosen).tolist():
            words, rows = self._rows(rule)
            times[words] += rows
        now = self._steps(_packed(times > 0), self.words)
        length = float(self.length(total(self.bits[chosen]), now))
        # Of each rule: what it covers that no chosen one does, and what one alone does.
        free, sole = (self._of_rules(times == n, self.words) for n in (0, 1))
        while True:
            sign = np.where(chosen, -1.0, 1.0)
            steps = now + np.where(chosen[:, np.newaxis], -sole, free)
            lengths = self.length(total(self.bits[chosen]) + sign * self.bits, steps)
            least = float(lengths.min())
            if least >= length - TIE_BITS:
                return chosen, length
            rule = int(np.argmax(lengths <= least + TIE_BITS))
            words, rows = self._rows(rule)
            before = times[words]
            if chosen[rule]:
                times[words] -= rows
                freed = self._of_rules(rows & (before == 1), words)
                free += freed
                sole += self._of_rules(rows & (before == 2), words) - freed
            else:
                times[words] += rows
                taken = self._of_rules(rows & (before == 0), words)
                free -= taken
                sole += taken - self._of_rules(rows & (before == 1), words)
            chosen[rule] = ~chosen[rule]
            now, length = steps[rule], float(lengths[rule])

    def _rows(self, rule: int) -> tuple[np.ndarray, np.ndarray]:
        """The words in which a rule covers rows, and which rows, [word, bit]."""
        words = np.flatnonzero(self.covered[rule])
        rows = np.unpackbits(self.covered[rule, words].view(np.uint8), bitorder="little")
        return words, rows.reshape(-1, WORD).astype(bool)

    def _of_rules(self, rows: np.ndarray, words: np.ndarray) -> np.ndarray:
        """The weight that each rule covers of some rows, [word, bit]: [rule, all or own]."""
        bits = _packed(rows)
        some = np.flatnonzero(bits)
        bits, words = bits[some], words[some]
        found = np.zeros((len(self.bits), 2))
        at_a_time = max(1, BLOCK_WORDS // max(1, len(words)))
        for at in range(0, len(self.bits) if len(words) else 0, at_a_time):
            part = slice(at, at + at_a_time)
            found[part] = self._steps(self.covered[part][:, words] & bits, words)
        return found


def _packed(rows: np.ndarray) -> np.ndarray:
    """Truth values [word, bit] as words."""
    return np.packbits(rows, axis=1, bitorder="little").view(np.uint64)[:, 0]
