# SPDX-License-Identifier: BSD-3-Clause
"""Conditions of rules as arrays, and the rows that meet them as bits.

A row is a bit, 64 of them a word. What rows meet a condition is found once for each distinct condition, however many
rules share it; everything else about rules is then a matter of AND, OR and counting bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fasttree.base.ragged import lengths, take_lists
from fasttree.tables.schema import Schema
from fasttree.tables.training import MISSING_CODE, UNKNOWN_CODE, Table

WORD = 64
BLOCK_CELLS = 2**20  # truth values that are made at a time, before they are packed
BLOCK_WORDS = 2**14  # of rules x rows: they stay in the cache
UNKNOWN_LEVEL = -1.0  # among codes: a level that meets no condition

Reader = Callable[[int], np.ndarray]  # attribute -> its values in the order of the bits


@dataclass(frozen=True, slots=True, eq=False)
class Substitutes:
    """What decides for a row without the value: CART's surrogates.

    Such a row meets condition i if it meets all of its groups, ``group[group_start[i]:group_start[i + 1]]``, one for
    each test of the tree that the condition was merged from. Of a group's alternatives the first that has an answer for
    the row decides; if none has, `otherwise`.
    """

    group_start: np.ndarray  # int64, one more than conditions
    group: np.ndarray  # int64
    otherwise: np.ndarray  # bool, by group
    alternative_start: np.ndarray  # int64, one more than groups
    alternative: np.ndarray  # int64, number of a condition
    conditions: ConditionTable  # of the alternatives
    answers: ConditionTable  # the values for which each of these decides, one way or the other

    def take(self, which: np.ndarray) -> Substitutes:
        """What decides for some of the conditions, by number."""
        group_start, group = take_lists(self.group_start, self.group, which)
        groups, group = np.unique(group, return_inverse=True)
        alternative_start, alternative = take_lists(
            self.alternative_start, self.alternative, groups
        )
        alternatives, alternative = np.unique(alternative, return_inverse=True)
        return Substitutes(
            group_start,
            group,
            self.otherwise[groups],
            alternative_start,
            alternative,
            self.conditions.take(alternatives),
            self.answers.take(alternatives),
        )

    def decide(self, read: Reader, n_rows: int) -> np.ndarray:
        """The rows that each condition's groups let through: uint64 [condition, word]."""
        met = self.conditions.met(read, n_rows)
        answered = self.answers.met(read, n_rows)
        n_words = -(-n_rows // WORD)
        by_group = np.zeros((len(self.otherwise), n_words), dtype=np.uint64)
        by_group[self.otherwise] = ~np.uint64(0)
        # From the last alternative to the first: an earlier one overrules.
        first, last = self.alternative_start[:-1], self.alternative_start[1:]
        for back in range(1, int((last - first).max(initial=0)) + 1):
            groups = np.flatnonzero(last - back >= first)
            chosen = self.alternative[(last - back)[groups]]
            by_group[groups] = (by_group[groups] & ~answered[chosen]) | met[chosen]
        return covered_rows(by_group, self.group_start, self.group)


@dataclass(frozen=True, slots=True, eq=False)
class ConditionTable:
    """Conditions, each on one attribute.

    Numeric: ``low < x <= high``, as a rule with one bound only, so that pruning may drop either; low is NaN where there
    is none, for -inf is a number like others. Categorical: the code
    of the level (1 + its place) is one of ``codes[start[i]:start[i + 1]]``, ascending. A row without the value meets
    the condition if `missing` is set, unless there are `substitutes`.
    """

    schema: Schema
    attribute: np.ndarray  # int32
    low: np.ndarray  # float64
    high: np.ndarray  # float64
    start: np.ndarray  # int64
    codes: np.ndarray  # uint32
    missing: np.ndarray  # bool
    substitutes: Substitutes | None = None

    def __len__(self) -> int:
        return len(self.attribute)

    def met(self, read: Reader, n_rows: int) -> np.ndarray:
        """The rows that meet each condition: uint64 [condition, word]. Bits beyond the last row mean nothing."""
        n_words = -(-n_rows // WORD)
        bits = np.empty((len(self), n_words), dtype=np.uint64)
        for attribute in np.unique(self.attribute).tolist():
            which = np.flatnonzero(self.attribute == attribute)
            values = np.full(n_words * WORD, np.nan)
            values[:n_rows] = read(attribute)
            levels = self.schema.attributes[attribute].categories
            step = max(1, BLOCK_CELLS // max(len(values), 1 if levels is None else len(levels) + 2))
            for at in range(0, len(which), step):
                part = which[at : at + step]
                if levels is None:
                    truth = self._numeric(part, values)
                else:
                    truth = self._categorical(part, values, len(levels))
                bits[part] = np.packbits(truth, axis=1, bitorder="little").view(np.uint64)
        if self.substitutes is not None:
            self._substitute(bits, read, n_rows)
        return bits

    def _numeric(self, which: np.ndarray, values: np.ndarray) -> np.ndarray:
        low, high = self.low[which, np.newaxis], self.high[which, np.newaxis]
        truth = values <= high  # false for NaN
        bounded = np.flatnonzero(~np.isnan(low[:, 0]))
        truth[bounded] &= values > low[bounded]
        missing = np.isnan(values)
        if missing.any():
            truth[self.missing[which]] |= missing
        return truth

    def _categorical(self, which: np.ndarray, values: np.ndarray, n_categories: int) -> np.ndarray:
        # One column a code: missing first, a level that meets nothing last.
        allowed = np.zeros((len(which), n_categories + 2), dtype=bool)
        allowed[:, 0] = self.missing[which]
        start, codes = take_lists(self.start, self.codes, which)
        allowed[np.repeat(np.arange(len(which)), lengths(start)), codes] = True
        codes = np.nan_to_num(values, nan=0.0).astype(np.int64)
        codes[values == UNKNOWN_LEVEL] = n_categories + 1
        return np.take(allowed, codes, axis=1)

    def _substitute(self, bits: np.ndarray, read: Reader, n_rows: int) -> None:
        """Rows that lack the value meet a condition as its substitutes say."""
        assert self.substitutes is not None
        known = known_rows(len(self.schema.attributes), read, n_rows)
        some_lack_it = np.any(known != ~np.uint64(0), axis=1)
        which = np.flatnonzero(some_lack_it[self.attribute])
        if len(which):
            knows = known[self.attribute[which]]
            instead = self.substitutes.take(which).decide(read, n_rows)
            bits[which] = (bits[which] & knows) | (instead & ~knows)

    def take(self, which: np.ndarray) -> ConditionTable:
        """Some of the conditions, by number."""
        start, codes = take_lists(self.start, self.codes, which)
        return ConditionTable(
            self.schema,
            self.attribute[which],
            self.low[which],
            self.high[which],
            start,
            codes,
            self.missing[which],
            None if self.substitutes is None else self.substitutes.take(which),
        )


def known_rows(n_attributes: int, read: Reader, n_rows: int) -> np.ndarray:
    """The rows that have a value: uint64 [attribute, word]. Bits beyond the last row mean nothing."""
    n_words = -(-n_rows // WORD)
    known = np.ones((n_attributes, n_words * WORD), dtype=bool)
    for attribute in range(n_attributes):
        known[attribute, :n_rows] = ~np.isnan(read(attribute))
    return np.packbits(known, axis=1, bitorder="little").view(np.uint64)


def covered_rows(met: np.ndarray, start: np.ndarray, condition: np.ndarray) -> np.ndarray:
    """The rows that meet all the conditions of each rule: uint64 [rule, word]."""
    size = np.diff(start)
    covered = np.full((len(size), met.shape[1]), ~np.uint64(0))
    longest = np.argsort(-size, kind="stable")
    at_a_time = max(1, BLOCK_WORDS // max(1, met.shape[1]))
    for at in range(0, len(size), at_a_time):
        which = longest[at : at + at_a_time]
        block = covered[which]
        for place in range(size[which[0]]):
            # The rules that have so many conditions stand in front.
            n = np.count_nonzero(size[which] > place)
            block[:n] &= met[condition[start[which[:n]] + place]]
        covered[which] = block
    return covered


def reader(table: Table, unknown: str, start: int, stop: int) -> Reader:
    """The values of an attribute in some rows: numbers, or codes of levels (1 + place), NaN where missing.

    A level that was not seen at fit is missing, or with unknown="majority" meets no condition.
    """

    def read(attribute: int) -> np.ndarray:
        if table.matrix is not None:
            return table.matrix[start:stop, attribute].astype(np.float64)
        assert table.columns is not None
        column = table.columns[attribute]
        if column.codes is None:
            assert column.values is not None
            return column.values[start:stop].astype(np.float64)
        codes = column.codes[start:stop]
        values = codes.astype(np.float64)
        values[codes == MISSING_CODE] = np.nan
        values[codes == UNKNOWN_CODE] = UNKNOWN_LEVEL if unknown == "majority" else np.nan
        return values

    return read


def distinct(table: ConditionTable) -> tuple[ConditionTable, np.ndarray]:
    """The distinct conditions, and the number of each condition among them."""
    if table.substitutes is not None or not len(table):
        return table, np.arange(len(table))
    size = np.diff(table.start)
    mixed = np.zeros(len(table), dtype=np.uint64)  # a number for each set of levels
    listed = np.flatnonzero(size)
    if len(listed):
        mixed[listed] = np.add.reduceat(_mix(table.codes), table.start[:-1][listed])
    low = np.nan_to_num(table.low, nan=np.inf, posinf=np.inf, neginf=-np.inf)
    columns = (mixed, size, table.high, np.isnan(table.low), low, table.missing, table.attribute)
    order = np.lexsort(columns)
    new = np.zeros(len(table), dtype=bool)
    for column in columns:
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    new[0] = True
    first = order[new]
    number = np.empty(len(table), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    distinct = table.take(first)
    if not np.array_equal(distinct.take(number).codes, table.codes):  # two sets got one number
        return table, np.arange(len(table))
    return distinct, number


def _mix(codes: np.ndarray) -> np.ndarray:
    """A scrambled 64-bit number for each code."""
    mixed = codes.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
