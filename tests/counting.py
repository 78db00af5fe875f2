# SPDX-License-Identifier: BSD-3-Clause
"""How much work something is, counted: whether that grows with the square of a table does not depend on the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def calls(work: Callable[[], Any]) -> int:
    """Python's and C's functions that are called meanwhile, in this thread."""
    counted = 0

    def count(frame: Any, event: str, given: Any) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counted
