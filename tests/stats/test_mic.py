# SPDX-License-Identifier: BSD-3-Clause
"""The maximal information coefficient: published numbers, every grid one by one, and hostile columns."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fasttree.stats import measures
from fasttree.stats.mic import equal_parts, table_mic

pytestmark = pytest.mark.numeric

few = settings(max_examples=25, deadline=None)


def near(expected: Any, tolerance: float = 1e-10) -> Any:
    return pytest.approx(expected, rel=0, abs=tolerance)


def test_published_sine_with_and_without_noise() -> None:
    # The example that the authors of minepy print: c = 15, alpha = 0.6.
    x = np.linspace(0, 1, 1000)
    y = np.sin(10 * np.pi * x) + x
    assert measures.mic(x, y) == near(1.0)
    noise = np.random.RandomState(0).uniform(-1, 1, 1000)
    assert measures.mic(x, y + noise) == near(0.505716693417, 1e-12)


def test_worked_classes() -> None:
    temperature = [85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71]
    humidity = [85, 90, 86, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 91]
    play = list("NNYYYNYNYYYYYN")
    assert measures.class_mic(temperature, play) == near(0.11340086418110318)
    assert measures.class_mic(humidity, play) == near(0.1518355013623417)
    assert measures.class_mic([40, 48, 60, 72, 80, 90], list("NNYYYN")) == near(0.4591479170272448)


# --- every grid one by one ---


def information(columns: list[int], rows: list[int]) -> float:
    n = len(columns)
    a, b, both = Counter(columns), Counter(rows), Counter(zip(columns, rows, strict=True))
    return sum(m / n * math.log(n * m / (a[i] * b[j])) for (i, j), m in both.items())


def best_information(x: list[float], rows: list[int], cuts: list[float], n_columns: int) -> float:
    found = 0.0
    for chosen in combinations(cuts, min(n_columns - 1, len(cuts))):
        found = max(found, information([sum(v > c for c in chosen) for v in x], rows))
    return found


def parts_by_the_book(y: list[float], n_parts: int) -> list[int]:
    """Value after value: it joins the row that is being filled if that brings it nearer to its goal."""
    of_value: dict[float, int] = {}
    n, done, current, size, goal = len(y), 0, 1, 0, len(y) / n_parts
    for value in sorted(set(y)):
        more = y.count(value)
        if size and abs(size + more - goal) >= abs(size - goal):
            current, size = current + 1, 0
            goal = (n - done) / (n_parts - current + 1)
        of_value[value] = current - 1
        size, done = size + more, done + more
    return [of_value[value] for value in y]


def mic_by_the_book(x: list[float], y: list[float]) -> float:
    """All cuts of x between its values: with as few points as here no stretches need to be joined."""
    most, best = max(4.0, len(x) ** 0.6), 0.0
    for first, second in ((x, y), (y, x)):
        cuts = sorted(set(first))[:-1]
        for n_rows in range(2, int(most / 2) + 1):
            rows = parts_by_the_book(second, n_rows)
            for n_columns in range(2, int(most / n_rows) + 1):
                shown = best_information(first, rows, cuts, n_columns)
                best = max(best, shown / math.log(min(n_rows, n_columns)))
    return best


POINTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=24)


@few
@given(POINTS)
def test_two_columns_by_the_book(points: list[tuple[int, int]]) -> None:
    x, y = ([float(v) for v in column] for column in zip(*points, strict=True))
    assert measures.mic(x, y) == near(mic_by_the_book(x, y))


@few
@given(
    st.lists(st.tuples(st.integers(0, 8), st.sampled_from("abc")), min_size=1, max_size=40),
)
def test_classes_by_the_book(rows: list[tuple[int, str]]) -> None:
    x = [float(v) for v, _ in rows]
    labels = sorted({c for _, c in rows})
    classes = [labels.index(c) for _, c in rows]
    best = 0.0
    if len(labels) > 1:
        most = int(max(len(x) ** 0.6, 2 * len(labels)) / len(labels))
        for n in range(2, most + 1):
            shown = best_information(x, classes, sorted(set(x))[:-1], n)
            best = max(best, shown / math.log(min(n, len(labels))))
    assert measures.class_mic(x, [c for _, c in rows]) == near(best)


@few
@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), st.integers(1, 9))
def test_equal_parts_by_the_book(values: list[int], n_parts: int) -> None:
    counts = np.unique(values, return_counts=True)[1].astype(np.float64)
    by_value = dict(zip(sorted(set(values)), equal_parts(counts, n_parts).tolist(), strict=True))
    column = [float(v) for v in values]
    assert [by_value[v] for v in values] == parts_by_the_book(column, n_parts)


# --- laws ---


@few
@given(POINTS)
def test_order_direction_and_scale_are_nothing(points: list[tuple[int, int]]) -> None:
    x, y = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    found = measures.mic(x, y)
    assert 0 <= found <= 1
    assert measures.mic(y, x) == near(found)
    assert measures.mic(x[::-1], y[::-1]) == near(found)
    assert measures.mic(np.exp(x), y) == near(found)


def test_weights_count_like_copies() -> None:
    x, classes, weights = [1.0, 2, 3, 4, 5, 6], list("abbaab"), [3, 1, 2, 4, 1, 5]
    copies = np.repeat(x, weights), np.repeat(classes, weights)
    assert measures.class_mic(x, classes, weights=weights) == near(measures.class_mic(*copies))


def test_what_depends_and_what_does_not() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=2000)
    assert measures.mic(x, x) == near(1, 1e-6)
    assert measures.mic(x, np.abs(x)) > 0.98
    assert measures.mic(x, random.normal(size=2000)) < 0.15
    assert measures.class_mic(x, np.abs(x) > 0.5) == near(1 * entropy_of(np.abs(x) > 0.5))
    assert table_mic([[9, 0, 0], [0, 9, 0], [0, 0, 9]]) == near(1)
    assert table_mic([[4, 4], [2, 2], [0, 0]]) == near(0)
    assert table_mic([[4, 4]]) == 0


def entropy_of(flags: np.ndarray) -> float:
    return measures.entropy(measures.class_counts(flags))


def test_hostile_columns() -> None:
    assert measures.mic([1], [2]) == 0
    assert measures.mic([1, 1, 1], [1, 2, 3]) == 0
    assert measures.mic([1, 2, 3], [5, 5, 5]) == 0
    assert measures.mic([-math.inf, 0, math.inf, 1], [0, 1, 0, 1]) >= 0
    assert measures.class_mic([1, 2, 3], list("aaa")) == 0
    assert measures.class_mic([1, 1, 1], list("abc")) == 0
    assert measures.class_mic([1, 2], list("ab")) == near(1)
    random = np.random.default_rng(0)
    x = random.normal(size=20_000)
    assert 0 < measures.class_mic(x, random.integers(0, 5000, 20_000)) <= 1
    assert 0 < measures.class_mic(x, np.arange(20_000)) <= 1
    million = random.normal(size=1_000_000)
    assert measures.class_mic(million, million + random.normal(size=1_000_000) > 0) > 0.2
    assert 0 <= measures.mic(x[:3000], np.round(x[:3000])) <= 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: measures.mic([], []), r"x is empty"),
        (lambda: measures.mic([1], [1, 2]), r"x has 1 rows and y has 2"),
        (lambda: measures.mic([1, math.nan], [1, 2]), r"x\[1\] is NaN"),
        (lambda: measures.mic(["a"], [1]), r"x must be a column of numbers"),
        (lambda: measures.mic([1], [1], exponent=0), r"exponent must be .* got 0"),
        (lambda: measures.mic([1], [1], exponent=2), r"exponent must be .* got 2"),
        (lambda: measures.mic([1], [1], clumps=0), r"clumps must be .* got 0"),
        (lambda: measures.class_mic([1], [1, 2]), r"values has 1 rows and labels has 2"),
        (lambda: measures.class_mic([math.nan], [1]), r"values\[0\] is NaN"),
        (lambda: measures.class_mic([1], [1], exponent="x"), r"exponent must be"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
