# SPDX-License-Identifier: BSD-3-Clause
"""The possible splits at the nodes of a tree.

The public names of `fasttree.mml.options`; nothing in the package imports this module.
"""

from __future__ import annotations

from fasttree.mml.options import choices_of, choices_of_rows

__all__ = ["choices_of", "choices_of_rows"]


def __dir__() -> list[str]:
    return __all__
