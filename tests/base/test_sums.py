# SPDX-License-Identifier: BSD-3-Clause
"""Sums that are rounded once, beside fractions; and linear algebra with one order."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fasttree.base import linear, sums

pytestmark = pytest.mark.numeric

NUMBERS = st.lists(st.floats(-1e290, 1e290), max_size=60)


@given(NUMBERS, st.randoms(use_true_random=False))
def test_a_sum_is_that_of_fractions_in_any_order(numbers: list[float], random: object) -> None:
    numbers = numbers + [-x for x in numbers[::2]]
    exact = float(sum(map(Fraction, numbers), Fraction(0)))
    assert sums.total(np.array(numbers)) == exact
    random.shuffle(numbers)  # type: ignore[attr-defined]
    assert sums.total(np.array(numbers)) == exact


def test_half_way_between_two_numbers_the_rest_decides() -> None:
    for rest in (2.0**-106, 2.0**-1000, -(2.0**-106), -(2.0**-1000), 0.0):
        for first in (1.0, 1 + 2.0**-52, -1.0):
            numbers = [first, 2.0**-53, rest]
            assert sums.total(np.array(numbers)) == float(sum(map(Fraction, numbers)))


def test_as_many_parts_as_there_can_be() -> None:
    # Single bits, as far apart as they must be not to join.
    numbers = np.ldexp(1.0, np.arange(1020, -1074, -2))
    random = np.random.default_rng(0)
    for _ in range(5):
        some = np.append(random.permutation(numbers), -numbers[:1])
        assert sums.total(some) == math.fsum(numbers[1:])
    small = np.ldexp(1 + random.random(3000), random.integers(-1074, 1000, 3000).astype(int))
    small *= random.choice([-1.0, 1.0], 3000)
    assert sums.total(small) == math.fsum(small)


def test_infinity_and_nan_are_not_lost() -> None:
    def found(*numbers: float) -> float:
        return sums.total(np.array(numbers))

    assert found(1.0, math.inf, 2.0, 3.0) == math.inf
    assert math.isnan(found(math.inf, 1.0, -math.inf))
    assert math.isnan(found(1.0, 2.0, math.nan))
    assert found(1e308, 1e308, 1e308) == math.inf


def test_axes() -> None:
    numbers = np.random.default_rng(1).random((4, 5, 3)) - 0.5
    for axis in (0, 1, 2, -1, (0, 1), (1, 2), (0, 2)):
        for keepdims in (False, True):
            ours = sums.sums(numbers, axis, keepdims)
            theirs = numbers.sum(axis=axis, keepdims=keepdims)
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-15)
    assert sums.sums(np.zeros((0, 3))).shape == (0,)
    assert sums.sums(np.zeros((3, 0))).tolist() == [0, 0, 0]
    assert sums.sums(np.eye(3, dtype=np.int64)).dtype == np.int64
    assert sums.mean(numbers, 1).shape == (4, 3)
    np.testing.assert_allclose(sums.deviation(numbers, 1, 0), numbers.std(axis=0, ddof=1))
    assert sums.deviation(numbers) == pytest.approx(numbers.std())


def test_segments() -> None:
    random = np.random.default_rng(2)
    values = random.random((50, 2)) - 0.5
    start = np.array([0, 1, 7, 30, 49])
    ends = [*start.tolist(), 50]
    exact = [[math.fsum(values[a:b, k]) for k in range(2)] for a, b in pairwise(ends)]
    assert sums.segment_sums(values, start).tolist() == exact
    assert sums.segment_sums(values[:, 1], start).tolist() == [pair[1] for pair in exact]
    whole = random.integers(0, 9, 50)
    assert sums.segment_sums(whole, start).tolist() == np.add.reduceat(whole, start).tolist()


def test_products() -> None:
    random = np.random.default_rng(3)
    x, y = random.random((2, 500)) - 0.5
    exact = sum((Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True)), Fraction(0))
    assert sums.exact_dot(x, y) == exact
    assert sums.dot(x, y) == pytest.approx(float(exact), rel=1e-14)
    order = random.permutation(500)
    assert sums.dot(x[order], y[order]) == sums.dot(x, y)


# -- linear algebra ----------------------------------------------------------------------------------------------------


def test_products_of_matrices() -> None:
    random = np.random.default_rng(4)
    a, b = random.random((7, 5)), random.random((5, 6))
    np.testing.assert_allclose(linear.product(a, b), a @ b)
    np.testing.assert_allclose(linear.product(a, b[:, 0]), a @ b[:, 0])
    matrix = np.where(random.random((200, 9)) < 0.6, 0.0, random.random((200, 9)))
    weight = random.random(200)
    found = linear.products_of_columns(matrix, weight)
    np.testing.assert_allclose(found, matrix.T @ (matrix * weight[:, np.newaxis]), atol=1e-14)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(linear.products_of_columns(matrix), matrix.T @ matrix, atol=1e-14)
    np.testing.assert_allclose(linear.sums_of_columns(matrix, weight), matrix.T @ weight)


def test_solutions() -> None:
    random = np.random.default_rng(5)
    for n in (1, 2, 20):
        root = random.random((n + 5, n)) - 0.5
        matrix, right = root.T @ root, random.random((n, 3))
        found = linear.solve(matrix, right)
        np.testing.assert_allclose(matrix @ found, right, atol=1e-10)
        np.testing.assert_array_equal(linear.solve(matrix, right[:, 1]), found[:, 1])


def test_columns_that_others_make_up_count_for_nothing() -> None:
    random = np.random.default_rng(6)
    root = random.random((30, 4))
    root = np.column_stack([root, root[:, 0] - 2 * root[:, 2], np.zeros(30), random.random(30)])
    right = root.T @ random.random(30)
    found = linear.solve(root.T @ root, right)
    assert found[[4, 5]].tolist() == [0, 0]
    np.testing.assert_allclose(root.T @ root @ found, right, atol=1e-9)
