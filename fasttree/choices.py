# SPDX-License-Identifier: BSD-3-Clause
"""What there was to choose between at the nodes of a tree.

The public place of what `fasttree.mml.options` holds; nothing in the package imports it.
"""

from __future__ import annotations

from fasttree.mml.options import (
    choices_of,
    choices_of_rows,
)

__all__ = [
    "choices_of",
    "choices_of_rows",
]


def __dir__() -> list[str]:
    return __all__
