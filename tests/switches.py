# SPDX-License-Identifier: BSD-3-Clause
"""Where growth changes its ways: for tests that one way leads where another does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fasttree.growth import subtrees


@contextmanager
def small_up_to(n_rows: int, sorted_up_to: int = subtrees.MOST_SORTED) -> Iterator[None]:
    """Nodes of so many rows are small; 0: none is, and all grow level by level. Binned attributes of small nodes are
    counted, but for those of up to `sorted_up_to` rows."""
    most = subtrees.MOST_ROWS, subtrees.MOST_SORTED
    subtrees.MOST_ROWS, subtrees.MOST_SORTED = n_rows, sorted_up_to
    try:
        yield
    finally:
        subtrees.MOST_ROWS, subtrees.MOST_SORTED = most
