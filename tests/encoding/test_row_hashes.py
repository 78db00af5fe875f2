# SPDX-License-Identifier: BSD-3-Clause
"""Hashes of rows."""

from __future__ import annotations

import numpy as np
import pytest

from fasttree.encoding.row_hashes import value_hashes, with_classes

pytestmark = pytest.mark.numeric


def hashed(X: np.ndarray, seed: int = 0) -> np.ndarray:
    return value_hashes(X.T, len(X), seed)


def test_equal_rows_hash_alike() -> None:
    X = np.array([[0.0, np.nan, 1.0], [-0.0, -np.nan, 1.0], [0.0, np.nan, 2.0], [0.0, 1.0, np.nan]])
    y = np.array([0, 0, 0, 0])
    hashes = with_classes(hashed(X), y)
    assert hashes[0] == hashes[1]
    assert len(set(hashes.tolist())) == 3
    assert (hashed(X.astype(np.float32)) == hashed(X)).all()
    assert with_classes(hashed(X), np.array([1, 0, 0, 0]))[0] != hashes[0]
    assert (hashed(X, seed=1) != hashed(X)).all()
    codes = X[:, 2:3].copy()
    codes[np.isnan(codes)] = 3
    assert (hashed(codes.astype(np.uint8)) == hashed(codes.astype(np.uint32))).all()


def test_hashes_are_numbers_that_stay() -> None:
    X, y = np.array([[1.5, 2.0], [3.0, 4.0]]), np.array([0, 1])
    found = with_classes(hashed(X, 42), y)
    assert found.tolist() == [12499239610388322187, 15840103435784911419]

    def mixed(state: int) -> int:  # splitmix64, in plain integers
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        state = (state ^ state >> 27) * 0x94D049BB133111EB % 2**64
        return state ^ state >> 31

    bits = np.array([1.5, 2.0]).view(np.uint64).tolist()
    assert found[0] == mixed(mixed(mixed(42 ^ bits[0]) ^ bits[1]))
