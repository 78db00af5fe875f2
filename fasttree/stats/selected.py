# SPDX-License-Identifier: BSD-3-Clause
"""How often chance alone finds a cut as good as the best of many: the distribution of a maximally selected chi-square.

Rows stand in the order of an attribute that has nothing to do with the class. How large is the largest chi-square of
"before the cut, behind it" by "this class, another", over all the cuts that were allowed?

With few rows the answer is exact: every order of the classes is equally probable, the number of rows of the class
before a cut is a path, and the probability that it never leaves the region where chi-square is small is added up row by
row (Koziol 1991 and Boulesteix 2006 count such paths). With more rows the cuts near both ends, where a class may be
rare, are still gone through exactly, and those between are taken for normal variables: the lesser of two bounds is
added. For few cuts that is P(the first passes) + sum P(a cut passes and its neighbour does not), the improved
inequality of Bonferroni of Worsley (1983) that Lausen, Sauerbrei and Schumacher (1994) use for trees; for dense ones
the limit of Miller and Siegmund (1982) and Lausen and Schumacher (1992), in which there is a cut everywhere. Beside the
exact probability the bound is 1 to 2 times as large; for a few cuts of 400 rows it may be less, by a tenth of it at
most, since counts jump where normal variables do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fasttree.base.elementary import erfc, exp, log
from fasttree.base.sums import sums, total
from fasttree.stats.special import log_factorial

MOST_ROWS = 400  # for which every cut is gone through exactly
# Between the ends so many rows of the rarer class, and of the others, are expected on both sides of a cut.
LEAST_EXPECTED = 30
CELLS = 2**18  # of paths that are followed together
_SLACK = 1e-9  # statistics that are closer are equal
_LEAST_B = 2.0  # from here on Miller and Siegmund's limit holds
_LONGEST_STEP = 16  # rows that are passed one by one
_Array = NDArray[np.float64]
_Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cuts:
    """The cuts of some rows in order, and the best of them.

    `positions`: how many rows stand before each cut, ascending, above 0 and below `n_rows`; `n_class`: how many rows
    are of the class.
    """

    n_rows: int
    n_class: int
    positions: _Integers
    statistic: float

    @property
    def rarer(self) -> int:
        """How many rows are of the class, or of the others, whichever are fewer."""
        return min(self.n_class, self.n_rows - self.n_class)


def cut_statistic(n_rows: float, n_class: float, position: float, n_before: float) -> float:
    """The chi-square of one cut: `n_before` of the `position` rows before it are of the class.

    >>> cut_statistic(14, 7, 7, 6) == 14 * (6 * 6 - 1 * 1) ** 2 / 7**4
    True
    """
    spread = position * (n_rows - position) * n_class * (n_rows - n_class)
    off = n_rows * n_before - position * n_class
    return n_rows * off * off / spread if spread else 0.0


def cuts_p_values(problems: list[Cuts]) -> _Array:
    """P(the largest chi-square over the cuts is at least the statistic) of each problem, of rows in random order; where
    they are more than `MOST_ROWS` a bound from above.

    Three of three "yes" at the beginning of six rows, as one of twenty orders has them, or at the end:

    >>> cuts_p_values([Cuts(6, 3, np.arange(1, 6), 6.0)]).round(6).tolist()
    [0.1]
    """
    p = np.ones(len(problems))
    few: list[int] = []
    for i, cuts in enumerate(problems):
        if cuts.rarer == 0 or cuts.statistic <= 0 or len(cuts.positions) == 0:
            continue
        if cuts.n_rows > MOST_ROWS:
            p[i] = _bound(cuts)
        else:
            few.append(i)
    few.sort(key=lambda i: -problems[i].n_rows)
    start = 0
    while start < len(few):
        n_rows = problems[few[start]].n_rows
        batch = few[start : start + max(1, CELLS // (n_rows * n_rows))]
        p[batch] = _exact([problems[i] for i in batch])
        start += len(batch)
    return np.minimum(p, 1.0)


def _limits(cuts: Cuts, positions: _Integers) -> _Array:
    """How far ``n_rows * before - position * rarer`` may be off at each cut before it is as extreme as the
    statistic."""
    n, a = cuts.n_rows, cuts.rarer
    spread = positions.astype(np.float64) * (n - positions) * (a * (n - a) / n)
    limits: _Array = np.sqrt(cuts.statistic * spread) * (1 - _SLACK)
    return limits


# -- few rows: all paths, row by row -------------------------------------------------------------------------------


def _exact(problems: list[Cuts]) -> _Array:
    """The exact probabilities of problems in descending order of their rows."""
    n = np.array([cuts.n_rows for cuts in problems])
    rarer = np.array([cuts.rarer for cuts in problems])
    limits = np.full((len(problems), int(n[0])), np.inf)
    for line, cuts in zip(limits, problems, strict=True):
        line[cuts.positions] = _limits(cuts, cuts.positions)
    before = np.arange(int(rarer.max()) + 1)
    alive = np.zeros((len(problems), len(before)))
    alive[:, 0] = 1.0
    left_region = np.zeros_like(alive)
    for row in range(1, int(n[0])):
        longer = slice(0, int(np.searchsorted(-n, -row, side="left")))  # problems with more rows
        n_left = (n[longer] - row + 1)[:, np.newaxis]
        of_class = np.maximum(rarer[longer, np.newaxis] - before, 0)
        stays = alive[longer] * ((n_left - of_class) / n_left)
        stays[:, 1:] += (alive[longer] * (of_class / n_left))[:, :-1]
        off = np.abs(n[longer, np.newaxis] * before - row * rarer[longer, np.newaxis])
        is_out = off >= limits[longer, row, np.newaxis]
        left_region[longer] += np.where(is_out, stays, 0.0)
        alive[longer] = np.where(is_out, 0.0, stays)
    return sums(left_region)


# -- many rows: the ends exactly, the middle by a bound ------------------------------------------------------------


def _bound(cuts: Cuts) -> float:
    n, a = cuts.n_rows, cuts.rarer
    n_end = min(-(-LEAST_EXPECTED * n // a), n // 2)
    positions = cuts.positions
    front = positions[positions <= n_end]
    back = (n - positions[positions >= n - n_end])[::-1]
    if 2 * n_end >= n:
        back = back[back < n - n_end]  # the middle once
    middle = positions[(positions > n_end) & (positions < n - n_end)]
    return _at_end(cuts, front) + _at_end(cuts, back) + _in_the_middle(cuts, middle)


def _at_end(cuts: Cuts, positions: _Integers) -> float:
    """P(one of the cuts in the first half passes), exactly.

    The number of rows of the class never falls. So where the limit above is the same for several cuts, the last of them
    tells, and of the limit below the first. Steps between cuts that tell are taken at once.
    """
    n, a = cuts.n_rows, cuts.rarer
    limits = _limits(cuts, positions)
    most = np.ceil((positions * a + limits) / n).astype(np.int64)  # from here on it is above
    least = np.floor((positions * a - limits) / n).astype(np.int64)  # up to here it is below
    possible = np.minimum(positions, a)
    above = (most <= possible) & np.append(np.diff(most) > 0, True)[: len(most)]
    below = (least >= 0) & np.insert(np.diff(least) > 0, 0, True)[: len(least)]
    telling = above | below
    positions, most, least = positions[telling], most[telling], least[telling]
    if len(positions) == 0:
        return 0.0
    before = np.arange(int(min(most.max(), a)) + 1)
    alive = np.zeros(len(before))
    alive[0] = 1.0
    passed, now = [], 0
    for position, high, low in zip(positions.tolist(), most.tolist(), least.tolist(), strict=True):
        alive, beyond = _after(alive, before, n - now, a, position - now)
        now = position
        is_out = (before >= high) | (before <= low)
        passed += [beyond, total(np.where(is_out, alive, 0.0))]
        alive = np.where(is_out, 0.0, alive)
    return total(np.array(passed))


def _after(
    alive: _Array, before: _Integers, n_left: int, n_class: int, n_rows: int
) -> tuple[_Array, float]:
    """The paths after so many rows of the `n_left`, and what went beyond the last number that is looked at."""
    left = np.maximum(n_class - before, 0).astype(np.float64)
    if n_rows <= _LONGEST_STEP:
        beyond = []
        for k in range(n_left, n_left - n_rows, -1):
            rises = alive * (left / k)
            alive = alive * ((k - left) / k)
            alive[1:] += rises[:-1]
            beyond.append(float(rises[-1]))
        return alive, total(np.array(beyond))
    # Hypergeometric steps from each number, of `left` in `n_left`, to each that is not smaller.
    step = (before - before[:, np.newaxis]).astype(np.float64)
    of_class, others = left[:, np.newaxis], n_left - left[:, np.newaxis]
    can = (step >= 0) & (step <= of_class) & (step <= n_rows) & (n_rows - step <= others)
    taken = np.where(can, step, 0.0)
    rest = np.where(can, n_rows - step, 0.0)
    logs = _log_ways(of_class, taken) + _log_ways(others, rest)
    logs -= _log_ways(np.array([float(n_left)]), np.array([float(n_rows)]))
    moved = alive[:, np.newaxis] * np.where(can, exp(np.where(can, logs, 0.0)), 0.0)
    after = sums(moved, 0)
    return after, max(0.0, total(alive) - total(after))


def _log_ways(n: _Array, k: _Array) -> _Array:
    """log C(n, k)."""
    ways: _Array = log_factorial(n) - log_factorial(k) - log_factorial(np.maximum(n - k, 0.0))
    return ways


def _in_the_middle(cuts: Cuts, positions: _Integers) -> float:
    """A bound for P(one of the cuts passes), for normal variables with the covariances of the cuts."""
    if len(positions) == 0:
        return 0.0
    n = cuts.n_rows
    # The variance of a random order is n / (n - 1) of chi-square's.
    b = math.sqrt(cuts.statistic * (n - 1) / n)
    single = erfc(b * math.sqrt(0.5))
    x = positions.astype(np.float64)
    t2 = np.maximum(1 - x[:-1] * (n - x[1:]) / ((n - x[:-1]) * x[1:]), 0.0)
    # P(|Z| > b and its neighbour is not, with the correlation r) = e^(-b^2/2) / pi times the integral of
    # exp(-b^2 tan(w/2)^2 / 2) over 0 < w < arccos r, less the part where the signs differ. With s = tan(w/2), where
    # dw < 2 ds, this is at most:
    s = np.sqrt(t2) / (1 + np.sqrt(1 - t2))
    steps = math.sqrt(2 / math.pi) / b * exp(-b * b / 2) * (1 - erfc(b * s * math.sqrt(0.5)))
    improved = single + total(np.minimum(steps, single))
    if b < _LEAST_B:
        return improved
    # Miller and Siegmund: of cuts everywhere between the first share of the rows and the last.
    first, last = float(x[0]), float(x[-1])
    odds = last * (n - first) / ((n - last) * first)
    density = exp(-b * b / 2) / math.sqrt(2 * math.pi)
    return min(improved, density * ((b - 1 / b) * log(odds) + 4 / b))
