# SPDX-License-Identifier: BSD-3-Clause
"""Release memory that was freed to the system: allocators keep it, and a large fit has no other use for it."""

from __future__ import annotations

import sys

from fasttree import _core

WORTH_BYTES = 2**23  # of what was freed; less than that is not worth the time


def release_freed(n_bytes: int) -> None:
    """To be called when a good part of `n_bytes` may have been freed in pieces."""
    if n_bytes < WORTH_BYTES:
        return
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:  # it has an allocator of its own
        arrow.default_memory_pool().release_unused()
    _core.trim_heap()
