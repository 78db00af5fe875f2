# SPDX-License-Identifier: BSD-3-Clause
"""Lists that stand one after another in one array."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fasttree.base.ragged import batches, begins, flat_indices, lengths, offsets, take_lists


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=6), st.data())
def test_lists_end_to_end(lists: list[list[int]], data: st.DataObject) -> None:
    n_items = np.array([len(one) for one in lists], dtype=np.int64)
    values = np.array([value for one in lists for value in one], dtype=np.int64)
    bounds = offsets(n_items)
    assert [values[a:b].tolist() for a, b in pairwise(bounds)] == lists
    assert begins(n_items).tolist() == bounds[:-1].tolist()
    assert lengths(bounds).tolist() == n_items.tolist()
    which = np.array(
        data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=5)) if lists else [],
        dtype=np.int64,
    )
    some, found = take_lists(bounds, values, which)
    assert [found[a:b].tolist() for a, b in pairwise(some)] == [lists[i] for i in which]
    assert flat_indices(bounds[which], n_items[which]).tolist() == [
        place for i in which for place in range(bounds[i], bounds[i + 1])
    ]


@given(st.lists(st.integers(1, 9), max_size=8), st.integers(1, 12))
def test_batches_of_lists(n_items: list[int], most: int) -> None:
    found = list(batches(np.array(n_items, dtype=np.int64), most))
    assert [n for batch in found for n in n_items[batch]] == n_items
    for batch, following in pairwise([*(n_items[batch] for batch in found), []]):
        assert sum(batch) <= most or len(batch) == 1
        assert not following or sum(batch) + following[0] > most
