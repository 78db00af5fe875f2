# SPDX-License-Identifier: BSD-3-Clause
"""Entropy cuts against the worked example and a slow, recursive version of the same definition."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fasttree.stats.measures import best_cut, candidate_cuts, discretise

pytestmark = pytest.mark.numeric

TEMPERATURE = [40.0, 48.0, 60.0, 72.0, 80.0, 90.0]
PLAY = ["No", "No", "Yes", "Yes", "Yes", "No"]

Rows = list[tuple[float, int]]


def entropy(rows: Rows) -> float:
    counts = Counter(label for _, label in rows)
    return -sum(n / len(rows) * math.log2(n / len(rows)) for n in counts.values())


def split(rows: Rows, threshold: float) -> tuple[Rows, Rows]:
    return [r for r in rows if r[0] <= threshold], [r for r in rows if r[0] > threshold]


def gain(rows: Rows, threshold: float) -> float:
    parts = split(rows, threshold)
    return entropy(rows) - sum(len(part) / len(rows) * entropy(part) for part in parts)


def best(rows: Rows) -> tuple[float, float] | None:
    values = sorted({value for value, _ in rows})
    found: tuple[float, float] | None = None
    for a, b in pairwise(values):
        threshold = a / 2 + b / 2
        if found is None or gain(rows, threshold) > found[1] + 1e-10:
            found = threshold, gain(rows, threshold)
    return found


def pays(rows: Rows, threshold: float) -> bool:
    n, parts = len(rows), split(rows, threshold)
    k, k1, k2 = (len({label for _, label in part}) for part in (rows, *parts))
    delta = math.log2(3**k - 2) - k * entropy(rows)
    delta += k1 * entropy(parts[0]) + k2 * entropy(parts[1])
    return gain(rows, threshold) > (math.log2(n - 1) + delta) / n


def cut_recursively(rows: Rows, mdl: bool) -> list[float]:
    found = best(rows)
    if found is None or found[1] <= 1e-10 or (mdl and not pays(rows, found[0])):
        return []
    left, right = split(rows, found[0])
    return [*cut_recursively(left, mdl), found[0], *cut_recursively(right, mdl)]


def test_the_six_temperatures() -> None:
    cuts = candidate_cuts(TEMPERATURE, PLAY)
    assert cuts.thresholds.tolist() == [44, 54, 66, 76, 85]
    expected = [
        0.19087450462110955,
        0.4591479170272448,
        0.08170416594551055,
        0,
        0.19087450462110955,
    ]
    assert cuts.gains == pytest.approx(expected, abs=1e-12)
    assert best_cut(TEMPERATURE, PLAY) == pytest.approx((54.0, 0.4591479170272448), abs=1e-12)
    nats = best_cut(TEMPERATURE, PLAY, base="e")
    assert nats == pytest.approx((54.0, 0.4591479170272448 * math.log(2)), abs=1e-12)


def test_order_of_the_rows_is_nothing() -> None:
    order = [3, 0, 5, 1, 4, 2]
    values, labels = np.array(TEMPERATURE)[order], np.array(PLAY)[order]
    shuffled = candidate_cuts(values, labels)
    assert shuffled.gains.tolist() == candidate_cuts(TEMPERATURE, PLAY).gains.tolist()


def test_among_equal_gains_the_smallest_threshold_wins() -> None:
    assert best_cut([1, 2, 3, 4], ["a", "b", "b", "a"]).threshold == 1.5


def test_stopping() -> None:
    assert discretise(TEMPERATURE, PLAY, mdl=False).tolist() == [54, 85]
    assert discretise(TEMPERATURE, PLAY, mdl=False, max_cuts=1).tolist() == [54]
    assert discretise(TEMPERATURE, PLAY, mdl=False, max_cuts=0).tolist() == []
    # The second cut gains H(3, 1) = 0.811 bits a row of its piece, the first only 0.459.
    assert discretise(TEMPERATURE, PLAY, mdl=False, min_gain=0.45).tolist() == [54, 85]
    assert discretise(TEMPERATURE, PLAY, mdl=False, min_gain=0.46).tolist() == []
    assert discretise(TEMPERATURE, PLAY).tolist() == []


def test_with_more_rows_the_same_cuts_pay_for_themselves() -> None:
    assert discretise(TEMPERATURE * 5, PLAY * 5).tolist() == [54, 85]
    assert discretise(TEMPERATURE, PLAY, weights=[5] * 6).tolist() == [54, 85]


def test_the_next_cut_is_the_one_that_saves_most() -> None:
    # A perfect cut in a piece of 20 rows comes before a perfect cut in a piece of 4.
    values = [*range(20), *range(100, 104)]
    labels = ["a"] * 10 + ["b"] * 10 + ["c"] * 2 + ["d"] * 2
    cuts = [discretise(values, labels, mdl=False, max_cuts=n).tolist() for n in (1, 2, 3)]
    assert cuts == [[9.5], [9.5, 59.5], [9.5, 59.5, 101.5]]


def test_pieces_by_searchsorted() -> None:
    thresholds = discretise(TEMPERATURE, PLAY, mdl=False)
    assert np.searchsorted(thresholds, [40, 54, 54.1, 85, 86]).tolist() == [0, 0, 1, 1, 2]


def test_rows_without_weight_are_not_there() -> None:
    cuts = candidate_cuts([1, 2, 3], [0, 1, 1], weights=[1, 0, 2])
    assert cuts.thresholds.tolist() == [2.0]
    assert best_cut([1, 2], [0, 1], weights=[0, 1]) is None
    assert discretise([1, 2], [0, 1], weights=[0, 0]).tolist() == []


def test_constant_single_and_infinite_values() -> None:
    assert best_cut([5, 5, 5], [0, 1, 0]) is None
    assert discretise([5], [0]).tolist() == []
    assert best_cut([-math.inf, 1, math.inf], [0, 1, 1]) == pytest.approx(
        (-math.inf, 0.9183), abs=1e-4
    )
    assert best_cut([1, math.inf], [0, 1]).threshold == 1
    assert best_cut([-math.inf, math.inf], [0, 1]).threshold == -math.inf


def test_a_threshold_always_separates_neighbours() -> None:
    above = np.nextafter(1.0, 2.0)
    assert best_cut([1.0, above], [0, 1]).threshold == 1.0
    assert best_cut([-1.7e308, 1.7e308], [0, 1]).threshold == 0.0
    assert best_cut([5e-324, 1e-323], [0, 1]).threshold == 5e-324


def test_very_many_classes() -> None:
    n = 700  # 3^700 is no float
    assert discretise(np.arange(n), np.arange(n), max_cuts=1).tolist() == [349.5]
    assert len(discretise(np.arange(n), np.arange(n), mdl=False)) == n - 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": [1, math.nan], "labels": [0, 1]}, r"values\[1\] is NaN: leave such rows out"),
        ({"values": [1, 2], "labels": [0]}, "values has 2 rows and labels has 1"),
        ({"values": ["a"], "labels": [0]}, "values must be a column of numbers"),
        ({"values": [1, 2], "labels": [0, None]}, "labels has a missing value .* row 1"),
        ({"values": [1, 2], "labels": [0, 1], "max_cuts": -1}, "max_cuts must be .* got -1"),
        ({"values": [1, 2], "labels": [0, 1], "min_gain": -0.1}, "min_gain must be .* got -0.1"),
        ({"values": [1, 2], "labels": [0, 1], "min_gain": math.nan}, "min_gain must be .* got nan"),
        (
            {"values": [1, 2], "labels": [0, 1], "weights": [1, -1]},
            r"weights\[1\] must be a finite number >= 0, got -1.0",
        ),
        ({"values": [], "labels": []}, "values is empty"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        discretise(**arguments)


ROWS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=1, max_size=30)


def columns(rows: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [value for value, _ in rows], [label for _, label in rows]


@settings(max_examples=60, deadline=None)
@given(ROWS, st.booleans())
def test_equal_to_the_recursive_definition(rows: list[tuple[int, int]], mdl: bool) -> None:
    plain = [(float(value), label) for value, label in rows]
    found = best_cut(*columns(rows))
    assert (found is None) == (best(plain) is None)
    if found is not None:
        assert found == pytest.approx(best(plain), abs=1e-9)
    assert discretise(*columns(rows), mdl=mdl).tolist() == cut_recursively(plain, mdl)


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_a_monotone_transform_cuts_the_same_rows(rows: list[tuple[int, int]]) -> None:
    values, labels = columns(rows)
    stretched = np.exp(np.array(values, dtype=float))
    pieces = np.searchsorted(discretise(values, labels, mdl=False), values)
    same = np.searchsorted(discretise(stretched, labels, mdl=False), stretched)
    assert pieces.tolist() == same.tolist()
