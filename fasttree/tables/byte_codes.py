# SPDX-License-Identifier: BSD-3-Clause
"""A column of few distinct numbers, each of which has a code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class ByteCodedNumbers:
    """`distinct` in any order; codes[row] - 1 is an index into it, and 0 is missing."""

    codes: np.ndarray  # uint8
    distinct: np.ndarray  # float64

    def values(self) -> np.ndarray:
        """The number of each row, NaN where it is missing."""
        return np.asarray(np.append(np.nan, self.distinct)[self.codes])

    def take(self, rows: np.ndarray) -> ByteCodedNumbers:
        codes = self.codes[rows]
        kept = np.unique(codes[codes > 0])
        code_of = np.zeros(256, dtype=np.uint8)
        code_of[kept] = np.arange(1, len(kept) + 1)
        return ByteCodedNumbers(code_of[codes], self.distinct[kept - 1])
