# SPDX-License-Identifier: BSD-3-Clause
"""The table of sorting times has a row for each column of numbers, and what is timed is right."""

import numpy as np

from benchmarks import sorting


def test_a_row_for_each_column_and_type() -> None:
    head, _, *rows = sorting.lines((400,))
    assert len(rows) == 2 * len(list(sorting.columns(400)))
    assert {row.count("|") for row in rows} == {head.count("|")}


def test_what_is_timed_is_sorted_and_binned() -> None:
    for name, values in sorting.columns(3_000):
        column = sorting.Column(values)
        column.sort()
        rows = column.entries & np.uint64(2**32 - 1)
        np.testing.assert_array_equal(values[rows], np.sort(values), name)
        column.bin()
        assert (np.diff(column.codes[rows].astype(int)) >= 0).all(), name
