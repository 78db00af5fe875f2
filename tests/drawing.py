# SPDX-License-Identifier: BSD-3-Clause
"""Tables to draw from, and the draws in plain words: slow, with Python's own numbers."""

from __future__ import annotations

import numpy as np

from fasttree.encoding.row_hashes import value_hashes


def some_rows(n_rows: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 3)), rng.integers(0, 3, n_rows)


def few_kinds(n_rows: int = 3000, seed: int = 0) -> tuple[np.ndarray, np.ndarray, float]:
    """Rows of 20 kinds, each with its own share of a class, and the accuracy of who knows these shares."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 20, n_rows)
    X = ((rng.permutation(32)[kind][:, np.newaxis] >> np.arange(5)) & 1).astype(float)
    share = rng.uniform(0.05, 0.95, 20)
    y = (rng.random(n_rows) < share[kind]).astype(int)
    return X, y, float(np.maximum(share, 1 - share)[kind].mean())


def hashed(X: np.ndarray, seed: int = 0) -> np.ndarray:
    return value_hashes(X.T, len(X), seed)


def mixed(state: int) -> int:
    """One step of splitmix64."""
    state = (state + 0x9E3779B97F4A7C15) % 2**64
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    state = (state ^ state >> 27) * 0x94D049BB133111EB % 2**64
    return state ^ state >> 31


def slow_copies(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> list[tuple]:
    """What is drawn: class, weight, hash and row. Whole weights are written out as copies."""
    whole = bool((weights == np.floor(weights)).all())
    n_before: dict[tuple, int] = {}
    found = []
    hashes = hashed(X).tolist()
    for row in np.argsort(weights, kind="stable").tolist():
        for _ in range(int(weights[row]) if whole else int(weights[row] > 0)):
            kind = hashes[row], int(y[row])
            number = n_before.get(kind, 0)
            n_before[kind] = number + 1
            key = mixed(kind[0] ^ kind[1])
            key = mixed(key ^ number) if number else key
            found.append((kind[1], 1.0 if whole else weights[row], key, row))
    return found


def slow_deal(X: np.ndarray, y: np.ndarray, n_folds: int, weights: np.ndarray) -> np.ndarray:
    """The weight of each row in each fold, [row, fold]."""
    table = np.zeros((len(y), n_folds))
    copies = sorted(slow_copies(X, y, weights), key=lambda copy: (copy[0], -copy[1], copy[2]))
    for turn, (_, weight, _, row) in enumerate(copies):
        table[row, turn % n_folds] += weight
    return table


def slow_hold(X: np.ndarray, y: np.ndarray, share: float, weights: np.ndarray) -> np.ndarray:
    """The weight of each row that is held out."""
    held, reached = np.zeros(len(y)), {}
    for c, weight, _, row in sorted(slow_copies(X, y, weights), key=lambda one: (one[0], one[2])):
        reached[c] = reached.get(c, 0.0) + weight
        if reached[c] <= share * weights[y == c].sum() * (1 + 1e-12):
            held[row] += weight
    return held
