# SPDX-License-Identifier: BSD-3-Clause
"""A part of the rows put aside, in which every class leaves some behind."""

from __future__ import annotations

import numpy as np

from fasttree.folds import row_hashes
from fasttree.frames import Table, Target


def held_out(table: Table, target: Target, fraction: float, seed: int) -> np.ndarray:
    """A mask of this share of each class, rounded down. Copies of a row stay together, and the order of the rows is
    nothing: who is drawn depends on the values of a row. No class is held out altogether."""
    if table.matrix is not None:
        columns = list(table.matrix.T)
    else:
        columns = [_values(c.values, c.codes) for c in table.columns or ()]
    hashes = row_hashes(columns, target.codes, seed)
    mask = np.zeros(table.n_rows, dtype=bool)
    for c in range(len(target.classes)):
        rows = np.flatnonzero(target.codes == c)
        in_order = np.sort(hashes[rows])
        # The rows before this one are drawn, so that it stays itself, and its copies with it.
        mask[rows] = hashes[rows] < in_order[int(fraction * len(rows))]
    return mask


def _values(values: np.ndarray | None, codes: np.ndarray | None) -> np.ndarray:
    column = values if codes is None else codes
    assert column is not None
    return column
