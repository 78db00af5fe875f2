# SPDX-License-Identifier: BSD-3-Clause
"""Rows in the order of their values: the radix sort of the core beside numpy's stable sort."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fasttree import _core

ULP = np.nextafter(1.0, 2.0) - 1.0


def ordered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Rows in order, their ranks, and how many values there are, as the core finds them."""
    n = len(values)
    keys = np.empty((1, n), dtype=np.uint64)
    _core.keys_of(values[:, np.newaxis], keys)
    entries, y = np.empty(n, dtype=np.uint64), np.zeros(n, dtype=np.uint32)
    scratch = np.empty(n, dtype=np.uint64)
    n_values, n_missing, low, high = _core.sorted_entries(keys[0], scratch, 32, y, entries)
    known = values[~np.isnan(values)]
    assert n_missing == n - len(known)
    if len(known):
        assert (low, high) == (known.min(), known.max())
    return entries & np.uint64(2**32 - 1), entries >> np.uint64(32), n_values


def check(values: np.ndarray) -> None:
    rows, ranks, n_values = ordered(values)
    is_missing = np.isnan(values)
    missing, known = np.flatnonzero(is_missing), np.flatnonzero(~is_missing)
    expected = known[np.argsort(values[known], kind="stable")]
    np.testing.assert_array_equal(rows, np.concatenate([missing, expected]))
    distinct, inverse = np.unique(values[expected], return_inverse=True)
    np.testing.assert_array_equal(ranks, np.concatenate([0 * missing, inverse + 1]))
    assert n_values == len(distinct)


def distributions(n: int, rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    normal = rng.normal(size=n)
    yield "normal", normal
    yield "float32", normal.astype(np.float32)
    yield "uniform", rng.random(n)
    yield "few values", rng.integers(0, 9, n).astype(float)
    yield "few broken values", rng.integers(0, 9, n) / 7
    yield "whole numbers", rng.integers(-(2**40), 2**40, n).astype(float)
    yield "one value", np.full(n, 0.1)
    yield "sorted", np.sort(normal)
    yield "reversed", np.sort(normal)[::-1]
    yield "zeros of both signs", np.where(rng.random(n) < 0.5, -0.0, 0.0)
    yield "an outlier", np.where(np.arange(n) == n // 2, 1e300, normal)
    yield "infinities", np.where(rng.random(n) < 0.1, np.copysign(np.inf, normal), normal)
    yield "half infinite range", np.where(np.arange(n) % 2, 1.7e308, -1.7e308) * rng.random(n)
    yield "denormal", rng.integers(-50, 5000, n) * 5e-324
    yield "far from zero", 1e9 + normal * 1e-3
    yield "one ulp apart", 1.0 + ULP * rng.integers(0, 400, n)
    # No sample sees the crowd, all of whose rows have one linear code.
    crowd = np.where(rng.random(n) < 0.05, 0.5 + 1e-13 * rng.integers(0, 99, n), rng.random(n))
    yield "a crowd", crowd
    yield (
        "crowds in crowds",
        np.where(
            rng.random(n) < 0.5,
            rng.random(n),
            0.3 + 1e-9 * np.where(rng.random(n) < 0.5, 0, normal),
        ),
    )
    yield "many scales", np.exp(30 * normal)
    # What is far below the steps of a linear code must not pass for its zero.
    tiny = np.where(
        rng.random(n) < 0.2, rng.integers(0, 2, n) * 5e-324, rng.integers(1, 2**30, n) * 2.0**10
    )
    yield "tiny beside whole numbers", tiny
    yield "a sentinel", np.where(rng.random(n) < 0.05, -999.0, 20 + 5 * rng.random(n))
    yield (
        "two sentinels",
        np.where(rng.random(n) < 0.06, np.copysign(1e300, normal), 1 + 1e-4 * rng.random(n)),
    )
    yield "holes", np.where(rng.random(n) < 0.3, np.nan, normal)
    yield "holes and infinities", np.where(rng.random(n) < 0.3, np.nan, np.sign(normal) * np.inf)
    yield "one number", np.where(np.arange(n) == n - 1, 2.0, np.nan)


@pytest.mark.parametrize("n", [1, 2, 19, 20, 21, 22, 300, 4096, 32_767, 32_768, 32_769, 200_000])
def test_equals_a_stable_sort(n: int) -> None:
    for name, values in distributions(n, np.random.default_rng(n)):
        try:
            check(values)
        except AssertionError as error:
            raise AssertionError(name) from error


@settings(max_examples=100)
@given(
    hnp.arrays(np.float64, st.integers(1, 400), elements=st.floats(width=64)),
    st.integers(1, 40),
)
def test_equals_a_stable_sort_on_any_numbers(values: np.ndarray, times: int) -> None:
    check(np.tile(values, times))


@settings(max_examples=100)
@given(st.integers(0, 2**32), st.integers(30, 3000), st.integers(0, 60), st.integers(0, 60))
def test_equals_a_stable_sort_on_any_bits(seed: int, n: int, low: int, high: int) -> None:
    """Numbers that differ in some of their bits only."""
    rng = np.random.default_rng(seed)
    mask = np.uint64((2**64 - 1) >> low) & np.uint64((2**64 - 1) << high & (2**64 - 1))
    bits = rng.integers(0, 2**64, n, dtype=np.uint64) & mask
    check((bits ^ rng.integers(0, 2**64, dtype=np.uint64) & ~mask).view(np.float64))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64])
@pytest.mark.parametrize("n", [0, 1, 7, 3000])
def test_ranks_of_numbers(dtype: type, n: int) -> None:
    rng = np.random.default_rng(n)
    wide = rng.integers(0, 2**64, n, dtype=np.uint64)
    around = rng.choice(np.array([0, 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64), n)
    chosen = rng.choice(wide, n) if n else wide
    for bits in (wide, wide % 5, around, wide | np.uint64(2**64 - 2**20), chosen):
        values = np.ascontiguousarray(bits).view(dtype)
        codes, rows = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int64)
        n_values = _core.rank_numbers(values, codes, rows)
        known = values == values
        distinct, inverse = np.unique(values[known], return_inverse=True)
        assert n_values == len(distinct)
        np.testing.assert_array_equal(codes[known], inverse + 1)
        assert not codes[~known].any()
        np.testing.assert_array_equal(values[rows[:n_values]], distinct)
        first = [int(np.flatnonzero(values == value)[0]) for value in distinct[:50]]
        assert rows[: len(first)].tolist() == first


@pytest.mark.parametrize(
    ("n", "n_bins"), [(1, 2), (30, 7), (300, 255), (3000, 2), (3000, 255), (6000, 255)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_quantile_bins_equal_a_slow_rule(n_bins: int, weighted: bool, n: int) -> None:
    rng = np.random.default_rng(n_bins)
    for name, values in distributions(n, rng):
        n = len(values)
        keys = np.empty((1, n), dtype=np.uint64)
        _core.keys_of(values[:, np.newaxis], keys)
        weight = rng.integers(0, 9, n) if weighted else np.ones(n, dtype=np.int64)
        codes = np.empty(n, dtype=np.uint8)
        bin_min, bin_max = np.zeros(256), np.zeros(256)
        scratch, cells = np.empty((2, n), dtype=np.uint64), np.empty(n, dtype=np.uint16)
        last = _core.quantile_codes(
            keys[0], cells, *scratch, weight if weighted else None, n_bins, codes, bin_min, bin_max
        )
        distinct = np.unique(values[~np.isnan(values)])
        number = np.searchsorted(distinct, values[~np.isnan(values)])
        weights = np.bincount(number, weight[~np.isnan(values)], len(distinct)).astype(int).tolist()
        code, share, so_far, expected = 0, 1, 0, []
        for value, its_weight in zip(distinct.tolist(), weights, strict=True):
            ended = code == 0
            while share < n_bins and so_far * n_bins >= sum(weights) * share:
                share, ended = share + 1, True
            code += ended
            expected.append((value, code))
            so_far += its_weight
        assert last == code, name
        expected_codes = np.array([code for _, code in expected], dtype=int)
        np.testing.assert_array_equal(codes[~np.isnan(values)], expected_codes[number], name)
        assert not codes[np.isnan(values)].any(), name
        for its_code in range(1, last + 1):
            of_bin = [value for value, code in expected if code == its_code]
            assert (bin_min[its_code], bin_max[its_code]) == (of_bin[0], of_bin[-1]), name


def test_numbers_that_no_sample_sees_end_in_bounded_time() -> None:
    """Rows that are never sampled lie in ever smaller crowds: each code would tell few of them apart."""
    n = 300_000
    values, rows, scale, rounds = np.empty(n), np.arange(n), 1.0, 0
    while len(rows) > 2_000:
        size = len(rows)
        sampled = np.zeros(size, dtype=bool)
        sampled[np.arange(128) * (size // 128)] = True
        sampled[np.arange(1024) * (size // 1025)] = True
        values[rows[sampled]] = scale * (1 + np.arange(sampled.sum()) / 4096)
        rows, scale, rounds = rows[~sampled], scale * 1.7, rounds + 1
    values[rows] = scale * (1 + np.arange(len(rows)) / 4096)
    assert rounds > 100
    check(values)
    check(-values)
