# SPDX-License-Identifier: BSD-3-Clause
"""Memory for the columns of one table, in one piece.

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
        pays = n_rows * 8 < LARGE_BYTES <= n_columns * n_rows * 8
        # What is not touched is not paid for. A column has codes twice: its own, and those of a fitted model.
        self._numbers = list(np.empty((n_columns if pays else 0, n_rows)))
        self._codes = list(np.empty((2 * n_columns if pays else 0, n_rows), dtype=np.int32))

    def numbers(self) -> np.ndarray:
        return self._numbers.pop() if self._numbers else np.empty(self.n_rows)

    def codes(self) -> np.ndarray:
        return self._codes.pop() if self._codes else np.empty(self.n_rows, dtype=np.int32)
