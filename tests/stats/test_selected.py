# SPDX-License-Identifier: BSD-3-Clause
"""The largest chi-square over many cuts: beside all orders of the classes, and the bounds beside the exact numbers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from fasttree.stats import selected
from fasttree.stats.selected import Cuts, cut_statistic, cuts_p_values
from fasttree.stats.significance import chi_square, p_value

pytestmark = pytest.mark.numeric


def cuts_p_value(cuts: Cuts) -> float:
    return float(cuts_p_values([cuts])[0])


def largest(n: int, places: np.ndarray, is_class: np.ndarray) -> float:
    before = np.cumsum(is_class)
    n_class = int(before[-1])
    return max(cut_statistic(n, n_class, int(p), int(before[p - 1])) for p in places)


def counted(n: int, n_class: int, places: np.ndarray, statistic: float) -> float:
    """The share of all the orders of the classes that are as extreme."""
    extreme = []
    for rows in combinations(range(n), n_class):
        is_class = np.isin(np.arange(n), rows)
        extreme.append(largest(n, places, is_class) >= statistic * (1 - 1e-9))
    return float(np.mean(extreme))


def test_the_statistic_is_chi_square() -> None:
    assert cut_statistic(14, 9, 5, 2) == pytest.approx(chi_square([[2, 3], [7, 2]]).statistic)
    assert cut_statistic(5, 0, 2, 0) == 0


@pytest.mark.parametrize("seed", range(12))
def test_few_rows_beside_all_orders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problems, expected = [], []
    for _ in range(4):
        n = int(rng.integers(4, 11))
        n_class = int(rng.integers(1, n))
        # Some cuts only: rows of equal value stand together.
        places = np.sort(rng.choice(np.arange(1, n), int(rng.integers(1, n)), replace=False))
        statistic = largest(n, places, rng.permutation(n) < n_class)
        problems.append(Cuts(n, n_class, places, statistic))
        expected.append(1.0 if statistic == 0 else counted(n, n_class, places, statistic))
    assert cuts_p_values(problems) == pytest.approx(expected, rel=1e-12)
    assert [cuts_p_value(one) for one in problems] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("cell", [(7, 3), (9, 1), (4, 4)])
def test_a_single_cut_is_fishers_test(cell: tuple[int, int]) -> None:
    left, right = np.array(cell), np.array([12, 20]) - cell
    cuts = Cuts(32, 12, np.array([sum(cell)]), cut_statistic(32, 12, sum(cell), cell[0]))
    assert cuts_p_value(cuts) == pytest.approx(
        p_value([left, right], exact=True, statistic="chi_square")
    )


SHAPES = [(400, 200), (400, 120), (400, 40), (400, 8), (301, 60)]


@pytest.mark.parametrize(("n", "n_class"), SHAPES)
@pytest.mark.parametrize("every", [1, 7, 40])
def test_bounds_are_not_below_the_exact_probability(n: int, n_class: int, every: int) -> None:
    for statistic in (6.0, 9.0, 12.0, 16.0, 24.0):
        cuts = Cuts(n, n_class, np.arange(every, n, every), statistic)
        exact, bound = cuts_p_value(cuts), selected._bound(cuts)
        # Between the ends normal variables stand in for counts: for few cuts that is off by less than a tenth.
        assert 0.9 * exact <= bound
        assert every > 1 or exact * (1 - 1e-9) <= bound
        if exact < 0.1:
            assert bound < 2 * exact  # and they do not give much away


def test_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    for n_class in (600, 60, 12):
        cuts = Cuts(1200, n_class, np.arange(1, 1200), 14.0)
        bound = cuts_p_value(cuts)
        monkeypatch.setattr(selected, "MOST_ROWS", 2000)
        exact = cuts_p_value(cuts)
        monkeypatch.undo()
        assert exact <= bound < 1.4 * exact


def test_the_ends_of_many_rows_are_exact() -> None:
    # Without a middle there is nothing to bound: one cut, near the beginning, in one step and in many.
    for place in (5, 90):
        table = [[5, place - 5], [45, 950 - place + 5]]
        cuts = Cuts(1000, 50, np.array([place]), chi_square(table).statistic)
        expected = p_value(table, exact=True, statistic="chi_square")
        assert cuts_p_value(cuts) == pytest.approx(expected, rel=1e-6)


def test_nothing_to_choose_from() -> None:
    nothing = np.empty(0, dtype=np.int64)
    assert cuts_p_value(Cuts(10, 5, nothing, 3.0)) == 1
    assert cuts_p_value(Cuts(10, 0, np.arange(1, 10), 3.0)) == 1
    assert cuts_p_value(Cuts(10, 5, np.arange(1, 10), 0.0)) == 1
