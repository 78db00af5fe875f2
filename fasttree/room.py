# SPDX-License-Identifier: BSD-3-Clause
"""Memory for the columns of one table, in large pieces.

A system hands out a large piece in large pages, an order of magnitude faster than as many small ones. Columns that are
large by themselves need no such help, and are better given back one by one.
"""

from __future__ import annotations

import numpy as np

LARGE_BYTES = 2**22  # from which on numpy asks for large pages


class Room:
    """Rows to put columns into. Numbers and codes are apart, since codes are given up earlier."""

    def __init__(self, n_columns: int, n_rows: int) -> None:
        self.n_rows = n_rows
        n_bytes = 8 * n_rows
        pays = n_bytes < LARGE_BYTES <= n_columns * n_bytes
        self._at_once = -(-LARGE_BYTES // n_bytes) if pays else 1  # columns of numbers
        self._numbers: list[np.ndarray] = []
        self._codes: list[np.ndarray] = []

    def numbers(self) -> np.ndarray:
        return self._row(self._numbers, self._at_once, np.float64)

    def codes(self) -> np.ndarray:
        return self._row(self._codes, 2 * self._at_once, np.int32)

    def _row(self, free: list[np.ndarray], n: int, dtype: type[np.generic]) -> np.ndarray:
        if self._at_once == 1:
            return np.empty(self.n_rows, dtype=dtype)
        try:
            return free.pop()
        except IndexError:  # threads that come together make a piece each
            rows = list(np.empty((n, self.n_rows), dtype=dtype))
            row = rows.pop()
            free += rows
            return row
