# SPDX-License-Identifier: BSD-3-Clause
"""The conditions of a table as people and programs read them, one at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fasttree.base.cached import cached_property
from fasttree.base.text import number_text
from fasttree.base.values import to_python
from fasttree.rules.conditions import ConditionTable, Substitutes, distinct
from fasttree.rules.rule import Condition, Others, Substitute
from fasttree.rules.text import LISTED, condition_text, names_excluded
from fasttree.tables.schema import AttributeSchema

CLOSE = 1e-4  # relative: numbers further apart than this differ in the digits that are printed


class ConditionReader:
    """Reads a table as rules do that say `unknown` of levels never seen, and whether values may be missing."""

    def __init__(self, table: ConditionTable, unknown: str, allow_missing: bool) -> None:
        self.table = table
        self.unknown = unknown
        self.allow_missing = allow_missing

    def read(self, i: int, missing_seen: bool) -> Condition:
        return self._read(i, missing_seen, bool(self._exact[i]))

    def _read(self, i: int, missing_seen: bool, exact: bool) -> Condition:
        attribute = self.table.schema.attributes[self.table.attribute[i]]
        is_categorical = attribute.categories is not None
        missing, substitutes = bool(self.table.missing[i]), self._substitutes(i)
        if any(not s.alternatives and not s.otherwise for s in substitutes):
            missing, substitutes = False, ()
        elif substitutes:
            substitutes = tuple(s for s in substitutes if s.alternatives)
            missing |= not substitutes
        if (
            not self.allow_missing
        ):  # but a level may count as missing, where it counts as no other one
            missing &= is_categorical and self.unknown == "missing" and attribute.others is None
        return replace(
            _condition(self.table, i, self.unknown),
            missing=missing,
            missing_seen=missing_seen,
            substitutes=substitutes,
            unseen=self.unknown if is_categorical else "missing",
            refuses_missing=not self.allow_missing,
            exact=exact,
        )

    def _substitutes(self, i: int) -> tuple[Substitute, ...]:
        given = self.table.substitutes
        if given is None:
            return ()
        groups = given.group[given.group_start[i] : given.group_start[i + 1]]
        return tuple(_substitute(given, int(group), self.unknown) for group in groups)

    @cached_property
    def _exact(self) -> np.ndarray:
        """Which conditions would look like others if their text were shortened."""
        exact = _has_close_bounds(self.table)
        looks: dict[object, dict[str, list[int]]] = {}  # as shortened: in full: which
        for i, shortened in _long_sets(self.table, self.unknown):
            in_full = _codes(self.table, i).tobytes().hex()
            looks.setdefault(shortened, {}).setdefault(in_full, []).append(i)
        for i, same in _with_equal_values(self.table):
            # What becomes of missing values, behind a test that is in place of theirs.
            test = replace(self._read(i, False, False), levels=None, low=0.0, high=None)
            in_full = condition_text(replace(test, exact=True))
            looks.setdefault((same, condition_text(test)), {}).setdefault(in_full, []).append(i)
        for alike in looks.values():
            if len(alike) > 1:
                exact[[i for which in alike.values() for i in which]] = True
        return exact


def _long_sets(table: ConditionTable, unknown: str) -> Iterator[tuple[int, object]]:
    """Conditions whose sets of levels are cut in texts, and what is left of these."""
    n_levels = np.array([len(a.categories or ()) for a in table.schema.attributes], dtype=np.int64)
    size, n_levels = np.diff(table.start), n_levels[table.attribute]
    for i in np.flatnonzero(np.maximum(size, n_levels - size) > LISTED).tolist():
        codes = _codes(table, i)
        excluded = n_levels[i] - size[i]
        names_others = names_excluded(int(size[i]), int(excluded), unknown)
        if names_others:
            codes = np.setdiff1d(np.arange(1, n_levels[i] + 1), codes, assume_unique=True)
        if len(codes) > LISTED:
            cut = tuple(codes[:LISTED].tolist())
            yield i, (int(table.attribute[i]), names_others, len(codes), cut)


def _with_equal_values(table: ConditionTable) -> Iterator[tuple[int, int]]:
    """Conditions that differ from others by their substitutes alone, and the number of what they have in common."""
    if table.substitutes is None:
        return
    never = np.zeros(len(table), dtype=bool)
    _, number = distinct(replace(table, substitutes=None, missing=never))
    for i in np.flatnonzero(np.bincount(number)[number] > 1).tolist():
        yield i, int(number[i])


def _has_close_bounds(table: ConditionTable) -> np.ndarray:
    """Which conditions have bounds that would be printed like another bound of the attribute."""
    found = np.zeros(len(table), dtype=bool)
    for place, attribute in enumerate(table.schema.attributes):
        which = np.flatnonzero(table.attribute == place)
        if attribute.categories is not None or not len(which):
            continue
        bounds = np.unique(np.concatenate([table.low[which], table.high[which]]))
        bounds = bounds[np.isfinite(bounds)]
        if not len(bounds):
            continue
        apart = np.maximum(np.abs(bounds[1:]), np.abs(bounds[:-1])) * CLOSE
        is_near = bounds[1:] - bounds[:-1] <= apart
        near = bounds[np.append(is_near, False) | np.append(False, is_near)].tolist()
        texts: dict[str, list[float]] = {}
        for bound in near:
            texts.setdefault(number_text(bound, attribute.time), []).append(bound)
        alike = [bound for same in texts.values() if len(same) > 1 for bound in same]
        found[which] = np.isin(table.low[which], alike) | np.isin(table.high[which], alike)
    return found


def _condition(table: ConditionTable, i: int, unknown: str) -> Condition:
    """What the known values must be."""
    attribute = table.schema.attributes[table.attribute[i]]
    if attribute.categories is None:
        low, high = float(table.low[i]), float(table.high[i])
        return Condition(
            attribute.name,
            None if math.isnan(low) else low,
            None if high == math.inf else high,
            time=attribute.time,
        )
    allowed = set(_codes(table, i).tolist())
    levels = [to_python(level) for level in attribute.categories]
    return Condition(
        attribute.name,
        levels=tuple(level for code, level in enumerate(levels, 1) if code in allowed),
        excluded=tuple(level for code, level in enumerate(levels, 1) if code not in allowed),
        others=_others(attribute, unknown),
    )


def _others(attribute: AttributeSchema, unknown: str) -> Others | None:
    if attribute.others is None:
        return None
    name = (attribute.categories or ())[-1]
    own, others = (tuple(map(to_python, part)) for part in (attribute.own_levels, attribute.others))
    return Others(name, own, others, unseen=unknown == "missing")


def _substitute(given: Substitutes, group: int, unknown: str) -> Substitute:
    conditions = []
    for at in range(given.alternative_start[group], given.alternative_start[group + 1]):
        number = int(given.alternative[at])
        condition = _condition(given.conditions, number, unknown)
        if condition.levels is not None:  # a level that the surrogate says nothing about is neither
            levels = given.conditions.schema.attributes[
                given.conditions.attribute[number]
            ].categories
            said = {
                to_python((levels or ())[code - 1])
                for code in _codes(given.answers, number).tolist()
            }
            excluded = tuple(level for level in condition.excluded if level in said)
            condition = replace(condition, excluded=excluded)
        conditions.append(condition)
    return Substitute(tuple(conditions), bool(given.otherwise[group]))


def _codes(table: ConditionTable, i: int) -> np.ndarray:
    return table.codes[table.start[i] : table.start[i + 1]]
