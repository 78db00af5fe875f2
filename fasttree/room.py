# SPDX-License-Identifier: BSD-3-Clause
"""Memory for the columns of one table, in large pieces.

A system hands out a large piece in large pages, an order of magnitude faster than as many small ones. Columns that are
large by themselves need no such help, and are better given back one by one.
"""

from __future__ import annotations

import numpy as np

LARGE_BYTES = 2**22  # from which on numpy asks for large pages


class Room:
    """Rows to put columns into. Kinds of numbers are apart, since codes are given up earlier than values."""

    def __init__(self, n_columns: int, n_rows: int) -> None:
        self.n_columns = n_columns
        self.n_rows = n_rows
        self._free: dict[type[np.generic], list[np.ndarray]] = {}

    def numbers(self) -> np.ndarray:
        return self._row(np.float64)

    def codes(self) -> np.ndarray:
        return self._row(np.int32)

    def small_codes(self) -> np.ndarray:
        return self._row(np.uint8)

    def _row(self, kind: type[np.generic]) -> np.ndarray:
        n_bytes = np.dtype(kind).itemsize * self.n_rows
        if not n_bytes < LARGE_BYTES <= self.n_columns * n_bytes:
            return np.empty(self.n_rows, dtype=kind)
        free = self._free.setdefault(kind, [])
        try:
            return free.pop()
        except IndexError:  # threads that come together make a piece each
            rows = list(np.empty((-(-LARGE_BYTES // n_bytes), self.n_rows), dtype=kind))
            row = rows.pop()
            free += rows
            return row
