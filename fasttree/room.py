# SPDX-License-Identifier: BSD-3-Clause
"""Memory for the columns of one table, in large pieces.

A system hands out a large piece in large pages, an order of magnitude faster than as many small ones. Columns that are
large by themselves need no such help, and are better given back one by one.
"""

from __future__ import annotations

import numpy as np

LARGE_BYTES = 2**22  # from which on numpy asks for large pages
PIECE_BYTES = 2**24  # both ends of a piece may lie in small ones


class Room:
    """Rows for one thread to put columns into. Numbers and codes are apart, since codes are given up earlier."""

    def __init__(self, n_columns: int, n_rows: int) -> None:
        self.n_columns = n_columns
        self.n_rows = n_rows
        self._numbers: list[np.ndarray] = []
        self._codes: list[np.ndarray] = []
        self._latest: np.ndarray | None = None

    def numbers(self) -> np.ndarray:
        return self._row(self._numbers, np.float64)

    def codes(self) -> np.ndarray:
        self._latest = self._row(self._codes, np.int32)
        return self._latest

    def take_back(self, codes: np.ndarray) -> None:
        """Nobody refers to these any more; they are used again if they are what `codes` gave last."""
        if codes is self._latest:
            self._codes.append(codes)
            self._latest = None

    def _row(self, free: list[np.ndarray], kind: type[np.generic]) -> np.ndarray:
        if not free:
            n_bytes = np.dtype(kind).itemsize * self.n_rows
            if not n_bytes < LARGE_BYTES <= self.n_columns * n_bytes:
                return np.empty(self.n_rows, dtype=kind)
            n = min(-(-PIECE_BYTES // n_bytes), self.n_columns)
            free += list(np.empty((n, self.n_rows), dtype=kind))
        return free.pop()
