# SPDX-License-Identifier: BSD-3-Clause
"""Rules judged by rows that took no part in making them.

What a rule says of its training rows is optimistic, since it was chosen for them: no limits of confidence hold for
that. Rows that were held out have no such bias, so there are limits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fasttree.stats.curves import wilson_limits
from fasttree.tables.factors import places_among
from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.target import read_target

if TYPE_CHECKING:
    from fasttree.rules.rule_list import RuleList

CELLS_AT_A_TIME = 2**24  # rules x rows


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A number of held-out rows, and how many of them are misclassified."""

    rows: int
    errors: int

    @property
    def accuracy(self) -> float:
        """NaN if there are no rows."""
        return (self.rows - self.errors) / self.rows if self.rows else math.nan

    @property
    def limits(self) -> tuple[float, float]:
        """The 95 % confidence limits of the accuracy (Wilson); 0 and 1 if there are no rows."""
        if not self.rows:
            return 0.0, 1.0
        return wilson_limits(self.rows - self.errors, self.rows)


@dataclass(frozen=True, slots=True)
class HeldOutRows:
    """The evaluation of a list of rules on held-out rows."""

    rules: tuple[
        HeldOut, ...
    ]  # of the rows that each rule covers, also where an earlier one decides
    default: HeldOut  # of the rows that no rule covers
    whole: HeldOut  # of all rows, by the classes that the list gives them


def judge(rules: RuleList, X: Any, y: Any) -> HeldOutRows:
    """Count the rows of a table that each rule covers, and the errors among them; a class that training did not see is
    an error."""
    table = read_table_for_schema(X, rules.schema, rules.reader_name, rules.unknown)
    target = read_target(y, table.n_rows)
    actual = places_among(target.classes, rules.classes)[target.codes]
    n_rows = np.zeros(len(rules), dtype=np.int64)
    n_errors = n_rows.copy()
    step = max(1, CELLS_AT_A_TIME // max(1, len(rules)))
    for at in range(0, table.n_rows if len(rules) else 0, step):
        stop = min(at + step, table.n_rows)
        covered = rules.applies(table, at, stop).astype(bool)
        n_rows += covered.sum(axis=1)
        covered &= actual[at:stop] != rules.label[:, np.newaxis]
        n_errors += covered.sum(axis=1)
    decider = rules.match_table(table)
    wrong = np.append(rules.label, rules.default)[decider] != actual
    without = decider < 0
    return HeldOutRows(
        tuple(map(HeldOut, n_rows.tolist(), n_errors.tolist())),
        HeldOut(int(without.sum()), int((without & wrong).sum())),
        HeldOut(table.n_rows, int(wrong.sum())),
    )
